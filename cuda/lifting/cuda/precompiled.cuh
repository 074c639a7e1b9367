/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The tile kernels that are compiled with the project: written by precompile.c. */
#pragma once

#include "cuda/lifting/cuda/tileconstants.h"

/* A kernel, LwtTileKernel, and the constants that it was compiled with; float */
typedef struct {
  int kernel;
  const LwtTilePlan *plan;
  const void *function;
} LwtPrecompiled;

/* Ends with a plan of NULL. */
extern "C" const LwtPrecompiled lwt_precompiled[];
