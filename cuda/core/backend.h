/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Which backend computes: the CPU or a CUDA device. */
#pragma once

#include "cuda/core/device.h"

G_BEGIN_DECLS

/**
 * CvisBackend:
 * @CVIS_BACKEND_AUTO: CUDA where there is a usable device, else the CPU
 * @CVIS_BACKEND_CPU: the CPU
 * @CVIS_BACKEND_CUDA: CUDA, or an error where there is no usable device
 */
typedef enum {
  CVIS_BACKEND_AUTO,
  CVIS_BACKEND_CPU,
  CVIS_BACKEND_CUDA,
} CvisBackend;

/* Decides for @wanted on device @device_id (-1: any).
 * @active: (out): CVIS_BACKEND_CPU or CVIS_BACKEND_CUDA
 * @context: (out): a new reference to the context for CUDA, else %NULL
 * @why_not: (out) (nullable): where auto fell back to the CPU, why, in words;
 *   free with g_free(); else %NULL
 * Returns: FALSE with @error only for a backend that was asked for by name and
 * is not available. */
gboolean cvis_backend_choose (CvisBackend wanted, gint device_id,
    CvisBackend *active, CvisContext **context, gchar **why_not,
    GError **error);

/* Instruction sets of this processor that the CPU backends have paths for.
 * The environment variable CUDAVISION_CPU=generic|v3|v4 lowers the answer, for
 * tests and benchmarks. */
typedef enum {
  CVIS_CPU_GENERIC, /* what the compiler was told to build for */
  CVIS_CPU_V3,      /* x86-64-v3: AVX2, FMA, BMI2 */
  CVIS_CPU_V4,      /* x86-64-v4: AVX-512 F, BW, CD, DQ, VL */
} CvisCpuLevel;

CvisCpuLevel cvis_cpu_level (void);

G_END_DECLS
