/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The tile kernels compiled with the project; precompile.c writes the table. */
#pragma once

#include "cuda/lifting/cuda/tileconstants.h"

/* A kernel for float32 (LwtTileKernel) and the constants that it was
 * compiled with */
typedef struct {
  int kernel;
  const LwtTilePlan *plan;
  const void *function;
} LwtPrecompiled;

/* Table of kernels; the last entry has plan NULL. */
extern "C" const LwtPrecompiled lwt_precompiled[];
