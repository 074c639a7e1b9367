/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* From evidence to confidence (motion_field_confidence()). Written by
 * tests/bench/motion/motion_confidence.py --fit: do not edit. */
#pragma once

#include <glib.h>

#define MOTION_FIELD_KINDS 7

#ifdef __CUDACC__
#define MOTION_FIELD_TABLE static __device__ const
#else
#define MOTION_FIELD_TABLE static const
#endif

/* clang-format off */
/* Lower limits of the bins of each kind of evidence, from the second bin on */
MOTION_FIELD_TABLE gint16 motion_field_limits[MOTION_FIELD_KINDS][15] = {
  /* excess */
  { 1, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024 },
  /* ambiguity */
  { 1, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024 },
  /* cost */
  { 8, 16, 24, 28, 32, 36, 40, 48, 64, 96, 128, 192, 256, 384, 512 },
  /* rough */
  { 1, 3, 5, 8, 12, 16, 24, 32, 48, 64, 96, 128, 160, 192, 224 },
  /* support */
  { 1, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 320, 384, 448 },
  /* distance */
  { 1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 28, 31, 32 },
  /* inside */
  { 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 },
};
/* Terms of the bins, 1/32 in the logarithm of the odds */
MOTION_FIELD_TABLE gint8 motion_field_terms[MOTION_FIELD_KINDS][16] = {
  /* excess */
  { -34, -22, -11, -2, 2, 11, 0, -7, -2, 10, 23, 19, 24, 21, 29, 59 },
  /* ambiguity */
  { -51, -24, -11, -6, 0, 6, 14, 15, 24, 23, 17, 15, 18, 16, 32, 32 },
  /* cost */
  { 47, 53, 58, 40, 36, 35, 7, -12, -12, -7, -10, -2, -15, -44, -51, -1 },
  /* rough */
  { 33, 49, 49, 47, 41, 37, 35, 20, 9, 0, 1, 21, -18, -23, -64, -117 },
  /* support */
  { 10, 45, 45, 38, 31, 24, 16, 11, 24, 4, 9, -1, -20, -28, -43, -44 },
  /* distance */
  { 28, 36, 38, 48, 38, 19, 4, 1, 6, -3, -13, -14, -10, -22, -30, -5 },
  /* inside */
  { -8, 16, 25, 23, 38, 27, 6, -26, -1, 29, 18, 5, 12, -2, -10, -31 },
};
/* Confidence for sums of terms */
MOTION_FIELD_TABLE guint8 motion_field_confidences[128] = {
  0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3,
  3, 6, 6, 7, 7, 7, 9, 9, 9, 11, 11, 12, 16, 16, 16, 18,
  18, 25, 28, 28, 28, 28, 31, 34, 36, 36, 36, 36, 46, 46, 50, 51,
  51, 59, 59, 59, 63, 64, 64, 64, 64, 80, 87, 94, 110, 119, 119, 129,
  136, 136, 138, 139, 147, 163, 167, 175, 183, 198, 201, 210, 210, 214, 217, 219,
  223, 232, 234, 236, 240, 243, 243, 246, 246, 247, 247, 250, 250, 250, 251, 253,
  253, 253, 253, 254, 254, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
  255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
};
/* clang-format on */
