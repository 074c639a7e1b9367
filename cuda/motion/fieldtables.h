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
  { -37, -23, -10, 10, 25, 17, 38, 29, 22, 19, 17, 17, 16, 21, 32, 48 },
  /* ambiguity */
  { -46, -26, -11, -1, 8, 11, 23, 32, 37, 42, 42, 45, 44, 33, 9, 0 },
  /* cost */
  { 10, 27, 52, 41, 41, 48, 33, 16, 10, 11, 5, -2, 2, -26, -16, -12 },
  /* rough */
  { 51, 65, 60, 55, 50, 42, 31, 22, 10, -10, -3, 35, -11, -3, -50, -104 },
  /* support */
  { -32, 5, 9, 8, 4, -2, -1, 2, 2, 6, 11, 19, 20, 31, 58, 98 },
  /* distance */
  { 66, 60, 58, 44, 38, 20, 5, -2, -1, 0, -4, -11, -8, -5, -8, -13 },
  /* inside */
  { 7, 34, 35, 31, 36, 39, 22, -14, 1, 10, 10, 10, 10, 11, 4, -5 },
};
/* Confidence for sums of terms */
MOTION_FIELD_TABLE guint8 motion_field_confidences[128] = {
  0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
  1, 1, 2, 2, 4, 4, 4, 4, 7, 8, 8, 8, 11, 11, 11, 12,
  12, 18, 18, 18, 18, 18, 18, 20, 20, 20, 20, 20, 21, 21, 21, 27,
  28, 31, 34, 34, 37, 37, 41, 57, 57, 61, 80, 80, 97, 97, 126, 126,
  126, 126, 152, 166, 167, 174, 174, 183, 187, 187, 195, 200, 204, 204, 214, 223,
  223, 228, 228, 229, 233, 234, 237, 238, 239, 243, 243, 244, 247, 247, 248, 248,
  250, 250, 252, 252, 253, 253, 253, 254, 254, 254, 255, 255, 255, 255, 255, 255,
  255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
};
/* clang-format on */
