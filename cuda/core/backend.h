/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Choice of the backend: the CPU or a CUDA device. */
#pragma once

#include "cuda/core/device/device.h"

G_BEGIN_DECLS

/**
 * CvisBackend:
 * @CVIS_BACKEND_AUTO: CUDA if there is a usable device, otherwise the CPU
 * @CVIS_BACKEND_CPU: the CPU
 * @CVIS_BACKEND_CUDA: CUDA, or an error if there is no usable device
 */
typedef enum {
  CVIS_BACKEND_AUTO,
  CVIS_BACKEND_CPU,
  CVIS_BACKEND_CUDA,
} CvisBackend;

/* Chooses for @wanted on device @device_id (-1: any).
 * @active: (out): CVIS_BACKEND_CPU or CVIS_BACKEND_CUDA
 * @context: (out): for CUDA a new reference to the context, otherwise %NULL
 * @why_not: (out) (nullable): the reason if auto fell back to the CPU, free
 *   with g_free(); otherwise %NULL
 * Returns: FALSE with @error only if a backend was requested by name and is
 * not available */
gboolean cvis_backend_choose (CvisBackend wanted, gint device_id,
    CvisBackend *active, CvisContext **context, gchar **why_not,
    GError **error);

/* Instruction sets of this processor with code of their own in the CPU
 * backends. The environment variable CUDAVISION_CPU=generic|v3|v4 lowers the
 * level, for tests and benchmarks. */
typedef enum {
  CVIS_CPU_GENERIC, /* the compiler's default */
  CVIS_CPU_V3,      /* x86-64-v3: AVX2, FMA, BMI2 */
  CVIS_CPU_V4,      /* x86-64-v4: AVX-512 F, BW, CD, DQ, VL */
} CvisCpuLevel;

CvisCpuLevel cvis_cpu_level (void);

/* The best of the tables TABLE_v4, TABLE_v3 and TABLE_generic that the processor can
 * run. */
#if defined(__x86_64__)
#define CVIS_CPU_CHOOSE(table)                                                 \
  (cvis_cpu_level () == CVIS_CPU_V4      ? &table##_v4                         \
      : cvis_cpu_level () == CVIS_CPU_V3 ? &table##_v3                         \
                                         : &table##_generic)
#else
#define CVIS_CPU_CHOOSE(table) (&table##_generic)
#endif

G_END_DECLS
