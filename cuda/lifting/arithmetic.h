/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The formulas of docs/design/lifting.md, shared by host and device. Private
 * to the library and its tests. */
#pragma once

#include <glib.h>
#include <math.h>
#include <string.h>

#include "cuda/lifting/engine.h"
#include "cuda/lifting/polynomial.h"

/* --- beyond the edge ---------------------------------------------------------- */

/* Sample for index @i, which may be outside 0..@n-1, of a line of @n that is
 * padded by half-sample symmetry. */
LWT_INLINE gint
lwt_pad_index (gint i, gint n)
{
  i %= 2 * n;
  if (i < 0)
    i += 2 * n;
  return i < n ? i : 2 * n - 1 - i;
}

/* --- sums ----------------------------------------------------------------
 * 32 lanes sum a row: lane l adds the columns l, l + 32, .. The sums of the
 * rows are added in the same way. */
#define LWT_LANES 32

/* Adds the lanes as a tree; the result is sum[0]. */
LWT_INLINE gdouble
lwt_sum_lanes (gdouble sum[LWT_LANES])
{
  for (gint half = LWT_LANES / 2; half > 0; half /= 2)
    for (gint lane = 0; lane < half; lane++)
      sum[lane] += sum[lane + half];
  return sum[0];
}

/* --- the F-operation ------------------------------------------------------------ */

/* Sums over a row for the fit: m[k] of u^k over the points that are not
 * missing, t[k] of z u^k. Powers: u2 = u * u, u3 = u2 * u, u4 = u2 * u2;
 * products z * u, z * u2. */
typedef struct {
  gdouble m[5];
  gdouble t[3];
} LwtRowMoments;

/* Sums over the rows: M[a][b] of m[a] w, T[a][b] of t[a] w, with w = 1, v, v
 * * v, (v * v) * v, (v * v) * (v * v) for b = 0..4; a + b <= 4 for M, <= 2
 * for T. */
typedef struct {
  gdouble m[5][5];
  gdouble t[3][3];
} LwtMoments;

/* P by least squares: the factorisation L D L^T of the normal equations, in
 * the order of the terms. A term whose pivot falls below 1e-12 of its
 * diagonal element, because earlier terms explain it (one column, few
 * points), gets the coefficient 0. */
LWT_INLINE void
lwt_fit (
    const LwtMoments *moments, LwtFOperation operation, gdouble p[LWT_TERMS])
{
  const gint a[LWT_TERMS] = { 0, 1, 0, 2, 1, 0 };
  const gint b[LWT_TERMS] = { 0, 0, 1, 0, 1, 2 };
  const gint n = operation == LWT_F_NONE     ? 0
                 : operation == LWT_F_OFFSET ? 1
                 : operation == LWT_F_POLY2  ? 6
                                             : 3;
  gdouble l[LWT_TERMS][LWT_TERMS], d[LWT_TERMS];

  for (gint i = 0; i < LWT_TERMS; i++)
    p[i] = 0.0;
  for (gint i = 0; i < n; i++) {
    gdouble pivot = moments->m[2 * a[i]][2 * b[i]];
    const gdouble whole = pivot;

    for (gint j = 0; j < i; j++) {
      gdouble sum = moments->m[a[i] + a[j]][b[i] + b[j]];

      for (gint k = 0; k < j; k++)
        sum -= l[i][k] * l[j][k] * d[k];
      l[i][j] = d[j] > 0.0 ? sum / d[j] : 0.0;
      pivot -= l[i][j] * l[i][j] * d[j];
    }
    d[i] = pivot > 1e-12 * whole ? pivot : 0.0;
    p[i] = moments->t[a[i]][b[i]];
    for (gint j = 0; j < i; j++)
      p[i] -= l[i][j] * p[j];
  }
  for (gint i = 0; i < n; i++)
    p[i] = d[i] > 0.0 ? p[i] / d[i] : 0.0;
  for (gint i = n - 1; i >= 0; i--)
    for (gint j = i + 1; j < n; j++)
      if (d[i] > 0.0)
        p[i] -= l[j][i] * p[j];
  if (operation == LWT_F_LEVEL)
    p[0] = 0.0;
}

/* The polynomial P at (u, v). */
LWT_INLINE gdouble
lwt_polynomial (const gdouble p[LWT_TERMS], gdouble u, gdouble v)
{
  return p[0] + lwt_tail (p, u, v);
}

/* --- parameters ------------------------------------------------------------------ */

/* Pass one: sums over the points of a row, then of a picture. */
typedef struct {
  guint64 n;
  gdouble sum;
  gdouble min, max;
} LwtHeights;

/* Pass two, h = z - mean: sums of |h|, h * h, (h * h) * h, (h * h) * (h *
 * h); over the cells with four valid corners (two in a row, two in the
 * next): their number and the sums of lwt_cell(). */
typedef struct {
  gdouble h1, h2, h3, h4;
  guint64 cells;
  gdouble gradient, area;
} LwtShape;

/* Half of the squared slope of an edge. @by: 1 / length */
LWT_INLINE gfloat
lwt_half_square (gdouble from, gdouble to, gfloat by)
{
  const gfloat slope = (gfloat) (to - from) * by;

  return 0.5f * slope * slope;
}

/* Half of 1 + sqrt (1 + 2 @half), @half from 0 on, to a relative error of
 * 1e-6: an estimate of the reciprocal root from the exponent (relative error
 * 0.034), then two steps of Newton's method, whose constants balance the error
 * (9e-4, 8e-7). A square root takes as much time on processors, and more on
 * devices. */
LWT_INLINE gfloat
lwt_half_root (gfloat half)
{
  const gfloat w = half + 0.5f;
  guint32 bits;
  gfloat y, wy;

  memcpy (&bits, &w, sizeof bits);
  bits = 0x5ef76400 - (bits >> 1);
  memcpy (&y, &bits, sizeof y);
  y *= 1.50089f - w * y * y;
  wy = w * y;
  return 0.5f + wy * (1.5000006f - wy * y);
}

/* Means over the triangles of a cell split along both diagonals, with g the
 * squared gradient of a triangle. *@gradient: of g. Returns: of sqrt (1 + g)
 * - 1, the average of both splits as in ISO 25178-2:2021, D.3, Formula (D.15),
 * computed as g / (sqrt (1 + g) + 1) without cancellation for small g. Each
 * triangle has one edge along x and one along y; @x0, @x1, @y0, @y1: their
 * lwt_half_square(). The relative error is at most 1e-6 for slopes up to 1e19. */
LWT_INLINE gfloat
lwt_cell (gfloat x0, gfloat x1, gfloat y0, gfloat y1, gfloat *gradient)
{
  /* halves of g and of sqrt (1 + g) + 1 */
  const gfloat g00 = x0 + y0, g10 = x0 + y1;
  const gfloat g01 = x1 + y0, g11 = x1 + y1;
  const gfloat r00 = lwt_half_root (g00), r10 = lwt_half_root (g10);
  const gfloat r01 = lwt_half_root (g01), r11 = lwt_half_root (g11);
  const gfloat one = 1.0f / (r00 * r11), other = 1.0f / (r10 * r01);

  *gradient = g00 + g11;
  return 0.25f
         * ((g00 * (r11 * one) + g11 * (r00 * one))
             + (g10 * (r01 * other) + g01 * (r10 * other)));
}

LWT_INLINE void
lwt_parameters (const LwtHeights *heights, const LwtShape *shape,
    CvisSurfaceParameters *parameters)
{
  const gdouble n = (gdouble) heights->n;
  CvisSurfaceParameters result = { 0 };

  result.n = heights->n;
  if (heights->n > 0) {
    result.mean = heights->sum / n;
    result.sa = shape->h1 / n;
    result.sq = sqrt (shape->h2 / n);
    /* + 0.0 makes a zero maximum positive */
    result.sp = (heights->max - result.mean) + 0.0;
    result.sv = result.mean - heights->min;
    result.sz = result.sp + result.sv;
    if (result.sq > 0.0) {
      const gdouble square = shape->h2 / n;

      result.ssk = (shape->h3 / n) / (square * result.sq);
      result.sku = (shape->h4 / n) / (square * square);
    }
  }
  if (shape->cells > 0) {
    result.sdr = shape->area / (gdouble) shape->cells;
    result.sdq = sqrt (shape->gradient / (gdouble) shape->cells);
  }
  *parameters = result;
}

/* --- denoise --------------------------------------------------------------------- */

/* ln (@n), @n above 0, to an ulp or two, in arithmetic that is the same on
 * host and device: n = 2^e m, ln m = 2 artanh ((m - 1) / (m + 1)). */
LWT_INLINE gdouble
lwt_log (guint64 n)
{
  gdouble m = (gdouble) n, sum = 0.0, s, s2;
  gint e = 0;

  for (; m > 1.4142135623730951; m *= 0.5)
    e++;
  s = (m - 1.0) / (m + 1.0);
  s2 = s * s;
  for (gint k = 25; k > 0; k -= 2)
    sum = sum * s2 + 1.0 / k;
  return e * 0.6931471805599453 + 2.0 * s * sum;
}

/* The automatic threshold of @n samples as a multiple of sigma. */
LWT_INLINE gdouble
lwt_universal_factor (guint64 n, gdouble scale)
{
  return sqrt (2.0 * lwt_log (MAX (n, 1))) * scale;
}

/* --- stored integers -----------------------------------------------------
 * level = (T) z * (T) factor, clamped to 0..max (NaN: 0), + (T) 0.5,
 * truncated, times 2^store_shift. */
LWT_INLINE gdouble
lwt_store_factor (const LwtConfig *config)
{
  return 1.0 / (config->z_scale * (gdouble) (1u << config->store_shift));
}

LWT_INLINE guint
lwt_store_max (const LwtConfig *config)
{
  return (1u << config->store_bits) - 1;
}
