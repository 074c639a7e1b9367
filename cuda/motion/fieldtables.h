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
  { -33, -21, -10, -1, 3, 12, 0, -6, -1, 9, 22, 19, 23, 20, 30, 59 },
  /* ambiguity */
  { -50, -23, -11, -5, 0, 6, 15, 16, 24, 23, 17, 14, 17, 16, 32, 32 },
  /* cost */
  { 48, 54, 58, 40, 36, 36, 7, -12, -12, -9, -11, -2, -11, -40, -49, -10 },
  /* rough */
  { 31, 48, 48, 46, 40, 35, 34, 20, 10, -1, 0, 20, -22, -23, -63, -98 },
  /* support */
  { 9, 44, 45, 38, 30, 24, 16, 11, 23, 5, 8, 0, -19, -27, -42, -43 },
  /* distance */
  { 28, 36, 38, 48, 38, 19, 5, 1, 6, -3, -13, -14, -10, -22, -30, -5 },
  /* inside */
  { 1, 24, 27, 22, 38, 25, 2, -27, -1, 27, 16, 4, 12, -2, -11, -32 },
};
/* Confidence for sums of terms */
MOTION_FIELD_TABLE guint8 motion_field_confidences[128] = {
  0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 3, 3, 4, 4, 4, 5,
  6, 6, 9, 10, 11, 15, 15, 15, 15, 16, 17, 22, 22, 22, 24, 24,
  24, 28, 28, 32, 32, 32, 32, 36, 36, 36, 36, 39, 46, 46, 52, 52,
  52, 59, 59, 59, 62, 62, 66, 66, 66, 81, 87, 95, 111, 120, 120, 127,
  135, 135, 140, 140, 147, 164, 164, 176, 186, 200, 200, 212, 213, 213, 216, 223,
  225, 234, 234, 238, 240, 244, 244, 247, 247, 247, 248, 249, 250, 251, 252, 252,
  253, 253, 254, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
  255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
};
/* clang-format on */
