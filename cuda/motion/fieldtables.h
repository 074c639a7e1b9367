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
  { -35, -23, -11, 2, 14, 9, 3, -7, 1, 17, 14, 16, 28, 34, 51, 55 },
  /* ambiguity */
  { -46, -20, -10, -2, 4, 10, 17, 20, 21, 19, 21, 18, 15, 24, 37, 40 },
  /* cost */
  { 55, 79, 74, 46, 46, 40, 4, -7, -10, -31, -20, -12, -39, -27, -23, -8 },
  /* rough */
  { 31, 42, 49, 48, 41, 39, 37, 34, 17, 1, 3, 20, -11, -15, -67, -100 },
  /* support */
  { 1, 48, 54, 45, 39, 35, 26, 10, 18, 3, 4, -5, -20, -23, -30, -38 },
  /* distance */
  { 21, 35, 34, 42, 36, 24, 15, 6, 2, 9, 9, 6, -11, -22, -30, -7 },
  /* inside */
  { 18, 36, 37, 40, 41, 38, 5, -28, 2, 9, 9, 1, 4, -2, -6, -37 },
};
/* Confidence for sums of terms */
MOTION_FIELD_TABLE guint8 motion_field_confidences[128] = {
  0, 0, 0, 0, 0, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2,
  2, 2, 2, 2, 5, 5, 10, 10, 12, 15, 15, 15, 15, 18, 18, 20,
  29, 29, 29, 29, 33, 33, 35, 39, 42, 43, 46, 47, 47, 50, 50, 50,
  50, 50, 50, 50, 55, 55, 55, 72, 73, 73, 95, 110, 110, 124, 125, 125,
  125, 128, 133, 137, 146, 159, 168, 171, 182, 184, 189, 194, 204, 209, 212, 216,
  227, 231, 235, 235, 238, 241, 241, 242, 245, 248, 249, 249, 250, 250, 252, 253,
  253, 253, 253, 253, 253, 253, 253, 253, 254, 254, 254, 255, 255, 255, 255, 255,
  255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
};
/* clang-format on */
