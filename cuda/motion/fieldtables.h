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
  { -40, -29, -17, -2, 8, 1, -2, -8, -5, 5, 14, 7, 34, 45, 50, 83 },
  /* ambiguity */
  { -48, -23, -8, -1, 4, 9, 17, 18, 21, 23, 23, 19, 9, 28, 20, 34 },
  /* cost */
  { 51, 71, 54, 41, 36, 29, -1, -19, -20, -18, -9, -23, -17, -8, -24, 4 },
  /* rough */
  { 30, 44, 47, 47, 41, 38, 34, 28, 16, -1, 2, 23, -20, -17, -65, -100 },
  /* support */
  { 11, 53, 59, 49, 39, 34, 20, 14, 14, -9, -8, -11, -16, -20, -34, -50 },
  /* distance */
  { 32, 45, 34, 41, 28, 14, -3, -10, -5, 16, -4, -8, -9, 1, -20, -5 },
  /* inside */
  { 1, 31, 30, 32, 31, 31, 19, -13, 3, 9, 14, -1, 1, 1, -11, -31 },
};
/* Confidence for sums of terms */
MOTION_FIELD_TABLE guint8 motion_field_confidences[128] = {
  0, 0, 0, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3,
  3, 3, 5, 7, 7, 9, 9, 9, 18, 18, 18, 18, 18, 18, 22, 22,
  22, 26, 31, 32, 34, 34, 34, 38, 39, 39, 39, 41, 47, 48, 49, 49,
  49, 49, 55, 56, 60, 60, 60, 60, 60, 67, 85, 94, 104, 114, 116, 126,
  126, 135, 135, 139, 146, 153, 166, 181, 181, 189, 197, 208, 209, 215, 221, 227,
  228, 231, 232, 235, 235, 240, 241, 245, 246, 247, 248, 248, 248, 251, 251, 251,
  251, 251, 251, 252, 252, 253, 253, 253, 253, 254, 254, 254, 255, 255, 255, 255,
  255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
};
/* clang-format on */
