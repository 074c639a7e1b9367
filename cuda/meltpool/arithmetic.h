/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Arithmetic of feature specification "pbf40-v1" for single values, inline
 * for the CPU and the GPU, with the same bits on both: integers where the
 * result is an integer, otherwise single IEEE 754 operations in a fixed
 * order. The compilers fuse none of them (cuda/meson.build); fused
 * operations are written as fmaf(). */
#pragma once

#include <math.h>
#include <string.h>
#include "cuda/records/pbfrecord.h"

#ifdef __CUDACC__
#define PBF_INLINE static __host__ __device__ __forceinline__
#else
#define PBF_INLINE static inline
#endif

/* Largest distance of a position from the ROI, in pixels. Beyond it no pixel
 * of the ROI lies in any disc (radii are at most 57), so clamping changes no
 * result. */
#define PBF_REACH_PX 64

/* Upper limit of the area and count of spatters in a whole frame: keeps the
 * exact variance over 1024 frames within 64 bits. */
#define PBF_AREA_MAX ((1 << 21) - 1)

/* Divisor of raw feature @index. */
PBF_INLINE gfloat
pbf_scale (guint index)
{
  return index == CVIS_PBF_MP_MEAN                               ? 256.0f
         : index == CVIS_PBF_MP_RATIO || index >= CVIS_PBF_HOG_0 ? 65536.0f
                                                                 : 1.0f;
}

/* Position relative to an ROI of @side pixels, Q8, clamped so that its
 * square fits 32 bits unsigned. */
PBF_INLINE gint32
pbf_clamp_reach (gint64 q8, gint32 side)
{
  const gint64 low = -PBF_REACH_PX * 256;
  const gint64 high = (side + PBF_REACH_PX) * 256;

  return (gint32) (q8 < low ? low : q8 > high ? high : q8);
}

/* Start of the ROI of @side pixels along one axis; @e_q8: expected position,
 * Q8; @size: of the frame, pixels. */
PBF_INLINE gint32
pbf_roi_start (gint32 e_q8, gint32 size, gint32 side, gint32 align)
{
  gint32 start = (e_q8 >> 8) - side / 2;

  if (start > size - side)
    start = size - side;
  if (start < 0)
    start = 0;
  return start - start % align;
}

/* Whether the ROI was moved to stay inside the frame. */
PBF_INLINE gboolean
pbf_roi_clamped (gint32 e_q8, gint32 size, gint32 side)
{
  gint32 start = (e_q8 >> 8) - side / 2;

  return start < 0 || start > size - side;
}

/* Score of a component as the melt pool of its frame: its area times the sum of its
 * pixels above the threshold, I - threshold + 1. The area counts twice, because a
 * spatter may be brighter than the pool but is smaller; the brightness counts
 * once, because a plume may be as large but is dimmer. Less than 2^64 for the
 * largest frame. */
PBF_INLINE guint64
pbf_pool_score (guint32 area, guint64 excess)
{
  return area * excess;
}

/* CvisPbfResult.position_confidence of the highest score @best > 0 and the next one. */
PBF_INLINE guint32
pbf_position_confidence (guint64 best, guint64 second)
{
  gdouble b = (gdouble) best, s = (gdouble) second;

  return (guint32) (65536.0 * (b / (b + s)));
}

/* The flag CVIS_PBF_RESULT_POSITION_UNSURE for these scores, or 0. */
PBF_INLINE guint32
pbf_position_flag (guint64 best, guint64 second)
{
  return second > best / 4 ? CVIS_PBF_RESULT_POSITION_UNSURE : 0;
}

/* Whether the melt pool's bounding box touches the edge of its ROI of @side
 * pixels. */
PBF_INLINE gboolean
pbf_box_at_edge (const CvisPbfResult *r, gint32 side)
{
  return r->bbox_x == r->roi_x || r->bbox_y == r->roi_y
         || r->bbox_x + r->bbox_width == r->roi_x + side
         || r->bbox_y + r->bbox_height == r->roi_y + side;
}

/* Sector 0..5 of 60 degrees of the direction (@dx, @dy), x right, y down;
 * |dx|, |dy| < 26,000 in any one unit. tan 60 degrees is irrational, so no
 * integers lie on a border but dy = 0. */
PBF_INLINE gint
pbf_sector (gint32 dx, gint32 dy)
{
  gboolean steep = dy * dy > 3 * dx * dx;

  if (dy > 0)
    return steep ? 1 : dx > 0 ? 0 : 2;
  if (dy < 0)
    return steep ? 4 : dx < 0 ? 3 : 5;
  return dx < 0 ? 3 : 0;
}

/* tan of 20, 40, 60 and 80 degrees as p / q, convergents of the continued
 * fractions with q > 255. No fraction of two numbers up to 255 lies between
 * a convergent and the true tangent, so comparisons are exact for gradients. */
#define PBF_TAN20_P 99
#define PBF_TAN20_Q 272
#define PBF_TAN40_P 485
#define PBF_TAN40_Q 578
#define PBF_TAN60_P 989
#define PBF_TAN60_Q 571
#define PBF_TAN80_P 1639
#define PBF_TAN80_Q 289

/* Bin 0..8 of 20 degrees of the gradient's unsigned direction; |g| <= 255. */
PBF_INLINE gint
pbf_hog_bin (gint32 gx, gint32 gy)
{
  gint32 ax = gx < 0 ? -gx : gx, ay = gy < 0 ? -gy : gy;
  gint fold = (ay * PBF_TAN20_Q >= ax * PBF_TAN20_P)
              + (ay * PBF_TAN40_Q >= ax * PBF_TAN40_P)
              + (ay * PBF_TAN60_Q >= ax * PBF_TAN60_P)
              + (ay * PBF_TAN80_Q >= ax * PBF_TAN80_P);

  return gx * gy < 0 ? 8 - fold : fold;
}

/* Length of the gradient, Q16: the float square root, rounded once more to an
 * integer (to nearest, even). */
PBF_INLINE gint32
pbf_gradient_q16 (gint32 gx, gint32 gy)
{
  gfloat q16 = sqrtf ((gfloat) (gx * gx + gy * gy)) * 65536.0f;

#ifdef __CUDA_ARCH__
  return __float2int_rn (q16);
#else
  return (gint32) lrintf (q16);
#endif
}

/* Sums for the nine bins from sums over the gradients whose angle, folded
 * into 0..90 degrees, is at least 20 j degrees (@all), and over those of
 * them that point left (@left). */
PBF_INLINE void
pbf_hog_unfold (const gint64 all[5], const gint64 left[5], gint64 sums[9])
{
  for (gint k = 0; k < 4; k++) {
    sums[k] = (all[k] - left[k]) - (all[k + 1] - left[k + 1]);
    sums[8 - k] = left[k] - left[k + 1];
  }
  sums[4] = all[4];
}

/* Normalises nine sums of gradient lengths (Q16) by the root of the sum of
 * their squares + 1; Q16. */
PBF_INLINE gdouble
pbf_hog_norm (const gint64 sums[9])
{
  gdouble total = 0.0;

  for (gint k = 0; k < 9; k++) {
    gdouble h = (gdouble) sums[k] / 65536.0;
    total = total + h * h;
  }
  return sqrt (total + 1.0);
}

PBF_INLINE gint32
pbf_hog_share (gint64 sum, gdouble norm)
{
  return (gint32) ((gdouble) sum / norm + 0.5);
}

PBF_INLINE void
pbf_hog_normalise (const gint64 sums[9], gint32 out[9])
{
  gdouble norm = pbf_hog_norm (sums);

  for (gint k = 0; k < 9; k++)
    out[k] = pbf_hog_share (sums[k], norm);
}

/* Sums over the pixels of the melt pool, coordinates within the ROI. */
typedef struct {
  gint32 n, sx, sy, sxx, syy, sxy;
} PbfMoments;

/* 12 n^2 times the central second moments, with 1/12 added on the diagonal;
 * exact. */
PBF_INLINE void
pbf_central (const PbfMoments *m, gdouble *a, gdouble *b, gdouble *c)
{
  gint64 n = m->n;

  *a = (gdouble) (12 * (n * m->sxx - (gint64) m->sx * m->sx) + n * n);
  *b = (gdouble) (12 * (n * m->syy - (gint64) m->sy * m->sy) + n * n);
  *c = (gdouble) (12 * (n * m->sxy - (gint64) m->sx * m->sy));
}

/* sqrt (l2 / l1) of the pool's second moments, Q16; 0 without a pool. */
PBF_INLINE gint32
pbf_ratio_q16 (const PbfMoments *m)
{
  gdouble a, b, c, d, small_one;

  if (m->n == 0)
    return 0;
  pbf_central (m, &a, &b, &c);
  d = sqrt ((a - b) * (a - b) + 4.0 * (c * c));
  small_one = a + b - d;
  if (small_one < 0.0)
    small_one = 0.0;
  return (gint32) (sqrt (small_one / (a + b + d)) * 65536.0 + 0.5);
}

/* sum / n in Q8, rounded to nearest; 0 for n = 0 */
PBF_INLINE gint32
pbf_mean_q8 (guint32 sum, guint32 n)
{
  return n ? (gint32) ((sum * 256u + n / 2) / n) : 0;
}

/* Centroid of pixels with column sum @sum, relative to column @first, at
 * pixel centres, Q8. */
PBF_INLINE gint32
pbf_centroid_q8 (guint64 sum, guint64 n, gint32 first)
{
  return n ? (gint32) ((sum * 256u + n / 2) / n) + 128 + 256 * first : 0;
}

/* Direction of (x, y) in degrees, -180 < angle <= 180; 0 for (0, 0). Within
 * 0.001 degrees: an odd polynomial for the arc tangent on 0..1. */
PBF_INLINE gfloat
pbf_atan2_deg (gfloat y, gfloat x)
{
  gfloat ax = fabsf (x), ay = fabsf (y);
  gfloat big = ax > ay ? ax : ay, little = ax > ay ? ay : ax;
  gfloat t, s, r;

  if (big == 0.0f)
    return 0.0f;
  t = little / big;
  s = t * t;
  r = fmaf (s, -0.01172120f, 0.05265332f);
  r = fmaf (s, r, -0.11643287f);
  r = fmaf (s, r, 0.19354346f);
  r = fmaf (s, r, -0.33262347f);
  r = fmaf (s, r, 0.99997726f);
  r = r * t * 57.29577951f;
  if (ay > ax)
    r = 90.0f - r;
  if (x < 0.0f)
    r = 180.0f - r;
  return y < 0.0f ? -r : r;
}

/* Direction of the pool's long axis in degrees, -90 < angle <= 90. */
PBF_INLINE gfloat
pbf_orientation_deg (const PbfMoments *m)
{
  gdouble a, b, c;

  if (m->n == 0)
    return 0.0f;
  pbf_central (m, &a, &b, &c);
  return 0.5f * pbf_atan2_deg ((gfloat) (2.0 * c), (gfloat) (a - b));
}

/* Describes a spatter of @area pixels relative to the expected position
 * (@ex, @ey), Q8. */
PBF_INLINE void
pbf_place_spatter (CvisPbfSpatter *spatter, guint32 area, gint32 x_q8,
    gint32 y_q8, gint32 ex, gint32 ey)
{
  gint64 dx = (gint64) x_q8 - ex, dy = (gint64) y_q8 - ey;
  gfloat angle = pbf_atan2_deg ((gfloat) dy, (gfloat) dx);

  spatter->x_q8 = x_q8;
  spatter->y_q8 = y_q8;
  spatter->area = area;
  spatter->angle_deg = angle < 0.0f ? angle + 360.0f : angle;
  spatter->distance_px =
      (gfloat) (sqrt ((gdouble) (dx * dx + dy * dy)) / 256.0);
}

/* The same from sums over its pixels relative to (@first_x, @first_y) of the
 * frame. */
PBF_INLINE void
pbf_describe_spatter (CvisPbfSpatter *spatter, guint32 area, guint64 sx,
    guint64 sy, gint32 first_x, gint32 first_y, gint32 ex, gint32 ey)
{
  pbf_place_spatter (spatter, area, pbf_centroid_q8 (sx, area, first_x),
      pbf_centroid_q8 (sy, area, first_y), ex, ey);
}

/* Population variance from its exact numerator n * S2 - S1 * S1. */
PBF_INLINE gfloat
pbf_variance (gint64 numerator, gint64 n, gdouble scale)
{
  return (gfloat) ((gdouble) numerator / ((gdouble) (n * n) * (scale * scale)));
}

/* pbf_variance() without a division: @per_square is 1.0 / (n * n), @unit the
 * reciprocal of the scale. The remainder of the product corrects it to the
 * rounded quotient (Markstein, "Computation of elementary functions on the IBM
 * RISC System/6000 processor", 1990); as n * n has at most 21 bits, no quotient
 * is so close to the middle of two doubles that the correction could miss. */
PBF_INLINE gfloat
pbf_variance_times (
    gint64 numerator, gint64 n, gdouble per_square, gdouble unit)
{
  gdouble about = (gdouble) numerator * per_square;
  gdouble rest = fma (-about, (gdouble) (n * n), (gdouble) numerator);

  return (gfloat) (fma (rest, per_square, about) * (unit * unit));
}

/* e^x to about 2 ulp: the same bits everywhere, unlike expf(). */
PBF_INLINE gfloat
pbf_exp (gfloat x)
{
  gfloat k, r, p;
  guint32 bits;
  gfloat scale;

  x = x < -87.0f ? -87.0f : x > 88.0f ? 88.0f : x;
  k = rintf (x * 1.44269504f);
  r = fmaf (k, -0.693359375f, x);
  r = fmaf (k, 2.12194440e-4f, r);
  p = fmaf (r, 1.9875691500e-4f, 1.3981999507e-3f);
  p = fmaf (r, p, 8.3334519073e-3f);
  p = fmaf (r, p, 4.1665795894e-2f);
  p = fmaf (r, p, 1.6666665459e-1f);
  p = fmaf (r, p, 5.0000001201e-1f);
  p = fmaf (r * r, p, r) + 1.0f;
  bits = (guint32) ((gint32) k + 127) << 23;
  memcpy (&scale, &bits, sizeof scale);
  return p * scale;
}

/* Replaces any NaN (weights may overflow) by one bit pattern, because the
 * patterns of different processors differ. */
PBF_INLINE gfloat
pbf_one_nan (gfloat x)
{
  const guint32 bits = 0x7fc00000;

  if (x != x)
    memcpy (&x, &bits, sizeof x);
  return x;
}

/* The network's output activation, in place (PbfActivation): 0 none, 1 sigmoid,
 * 2 softmax, 4 softmax without the last output, which is its part of the softmax over
 * all of them. */
PBF_INLINE void
pbf_activate (gfloat *out, guint n, gint activation)
{
  gfloat top = out[0], sum = 0.0f;
  if (activation == 1) {
    for (guint k = 0; k < n; k++)
      out[k] = 1.0f / (1.0f + pbf_exp (-out[k]));
  } else if (activation == 2 || activation == 4) {
    guint classes = activation == 4 ? n - 1 : n;

    for (guint k = 1; k < classes; k++)
      top = out[k] > top ? out[k] : top;
    for (guint k = 0; k < n; k++)
      out[k] = pbf_exp (out[k] - top);
    for (guint k = 0; k < classes; k++)
      sum = sum + out[k];
    if (classes < n)
      out[classes] = out[classes] / (sum + out[classes]);
    for (guint k = 0; k < classes; k++)
      out[k] = out[k] / sum;
  }
  for (guint k = 0; k < n; k++)
    out[k] = pbf_one_nan (out[k]);
}
