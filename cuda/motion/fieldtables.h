/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* From evidence to confidence (motion_field_confidence()). Written by
 * tests/bench/motion_confidence.py --fit: do not edit. */
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
  { -37, -24, -10, 7, 15, 12, 40, 34, 32, 21, 19, 13, 17, 23, 35, 51 },
  /* ambiguity */
  { -50, -24, -11, 0, 9, 14, 20, 27, 33, 39, 46, 47, 43, 33, 16, 6 },
  /* cost */
  { 23, 43, 63, 34, 45, 52, 38, 6, 2, 1, -3, 2, -6, 4, -22, -33 },
  /* rough */
  { 55, 60, 55, 51, 47, 44, 39, 30, 18, -2, 1, 37, -12, 3, -61, -116 },
  /* support */
  { -39, 5, 9, 7, 8, 3, 0, -1, -1, 1, 6, 13, 22, 37, 69, 106 },
  /* distance */
  { 49, 41, 43, 49, 38, 26, 8, 6, 1, 6, -8, -3, 1, -7, -13, 11 },
  /* inside */
  { 18, 40, 31, 29, 35, 29, 10, -14, -1, 17, 18, 13, 13, 11, 5, -8 },
};
/* Confidence for sums of terms */
MOTION_FIELD_TABLE guint8 motion_field_confidences[128] = {
  0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1,
  2, 2, 3, 3, 3, 3, 4, 4, 8, 8, 9, 12, 16, 16, 16, 17,
  17, 17, 17, 17, 17, 21, 21, 21, 29, 29, 29, 29, 31, 31, 31, 31,
  31, 40, 40, 40, 40, 55, 63, 69, 74, 87, 88, 92, 106, 115, 126, 127,
  132, 135, 144, 146, 155, 166, 172, 177, 185, 200, 211, 213, 213, 217, 221, 227,
  230, 232, 235, 236, 239, 242, 242, 244, 246, 247, 248, 249, 250, 250, 251, 251,
  252, 252, 253, 253, 253, 254, 254, 254, 254, 255, 255, 255, 255, 255, 255, 255,
  255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
};
/* clang-format on */
