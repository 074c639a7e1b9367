/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* exp (-2 x) in 1/256, x in 1/32: the weight of a reference whose mean squared
 * difference is (1 + x) times what noise alone makes. */
#pragma once

#include <glib.h>

#define DENOISE_WEIGHTS 96

#ifdef __CUDACC__
static __device__ const guint16
#else
static const guint16
#endif
    denoise_weights[DENOISE_WEIGHTS] = { 256, 240, 226, 212, 199, 187, 176, 165,
      155, 146, 137, 129, 121, 114, 107, 100, 94, 88, 83, 78, 73, 69, 65, 61,
      57, 54, 50, 47, 44, 42, 39, 37, 35, 33, 31, 29, 27, 25, 24, 22, 21, 20,
      19, 17, 16, 15, 14, 14, 13, 12, 11, 11, 10, 9, 9, 8, 8, 7, 7, 6, 6, 6, 5,
      5, 5, 4, 4, 4, 4, 3, 3, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1,
      1, 1, 1, 1, 1, 1, 1, 1 };
