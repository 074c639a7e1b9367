/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Low-pass filters of lines of floats or doubles, for one instruction set. See
 * LwtCpuSmooths and cuda/lifting/smooth.h. Sums run in the order of the tables, so that all
 * instruction sets and devices give the same bits. */
#pragma once

#include "cuda/lifting/cpu/simd.h"

#define STRIP LWT_CPU_STRIP

/* --- weighted sums of rows ------------------------------------------------ */

static void
combine_rows (gconstpointer weights, guint n, gconstpointer from, gsize pitch,
    guint width, gpointer to)
{
  const T *w = weights, *rows = from;
  T *out = to;
  guint x = 0;

  for (; x + 4 * LANES <= width; x += 4 * LANES) {
    V a = V_SET (0), b = a, c = a, d = a;

    for (guint k = 0; k < n; k++) {
      const T *row = rows + k * pitch + x;
      const V weight = V_SET (w[k]);

      a = V_FMA (weight, V_LOAD (row), a);
      b = V_FMA (weight, V_LOAD (row + LANES), b);
      c = V_FMA (weight, V_LOAD (row + 2 * LANES), c);
      d = V_FMA (weight, V_LOAD (row + 3 * LANES), d);
    }
    V_STORE (out + x, a);
    V_STORE (out + x + LANES, b);
    V_STORE (out + x + 2 * LANES, c);
    V_STORE (out + x + 3 * LANES, d);
  }
  for (; x < width; x++) {
    T sum = 0;

    for (guint k = 0; k < n; k++)
      sum = ONE_FMA (w[k], rows[k * pitch + x], sum);
    out[x] = sum;
  }
}

/* --- along a row ---------------------------------------------------------- */

/* Parts of a sum: term k is added to part k mod LWT_SMOOTH_PERIOD; then the
 * parts are added as a tree. */
#define PARTS (LWT_SMOOTH_PERIOD / LANES)

LWT_ALWAYS T
add_parts (T part[LWT_SMOOTH_PERIOD])
{
  for (guint half = LWT_SMOOTH_PERIOD / 2; half > 0; half /= 2)
    for (guint i = 0; i < half; i++)
      part[i] += part[i + half];
  return part[0];
}

/* @count sums, 1 or 4, of @n products, a multiple of LWT_SMOOTH_PERIOD, of
 * weights with samples from x on, @stride samples apart. */
LWT_ALWAYS void
sum_products (const T *w, guint n, const T *x, gsize stride, guint count, T *to)
{
  T part[LWT_SMOOTH_PERIOD];
  V sums[4][PARTS];

  for (guint j = 0; j < count; j++)
    for (guint p = 0; p < PARTS; p++)
      sums[j][p] = V_SET (0);
  for (guint k = 0; k < n; k += LWT_SMOOTH_PERIOD)
    for (guint j = 0; j < count; j++)
      for (guint p = 0; p < PARTS; p++)
        sums[j][p] = V_FMA (V_LOAD (w + k + p * LANES),
            V_LOAD (x + j * stride + k + p * LANES), sums[j][p]);
  for (guint j = 0; j < count; j++) {
    for (guint p = 0; p < PARTS; p++)
      V_STORE (part + p * LANES, sums[j][p]);
    to[j] = add_parts (part);
  }
}

static void
narrow_row (
    const LwtCpuSmoothLine *l, gconstpointer padded, gpointer work, gpointer to)
{
  const LwtSmoothLine *line = l->line;
  const T *x = (const T *) padded + l->pad;
  const guint coarse = line->coarse, stride = line->stride;
  const gint middle = line->middle_reach;
  const T *first;
  T *a = (T *) work + middle;
  guint j = 0;

  if (stride == 1) {
    combine_rows (
        l->near, 2 * (guint) line->reach + 1, x - line->reach, 1, line->n, to);
    return;
  }
  first = x - line->margin * stride - line->reach;
  memset (work, 0, (coarse + 2 * (gsize) middle) * sizeof (T));
  for (; j + 4 <= coarse; j += 4)
    sum_products (
        l->near, l->n_near, first + (gsize) j * stride, stride, 4, a + j);
  for (; j < coarse; j++)
    sum_products (
        l->near, l->n_near, first + (gsize) j * stride, stride, 1, a + j);
  combine_rows (l->middle, 2 * (guint) middle + 1, a - middle, 1, coarse, to);
}

static void
widen_smooth_row (
    const LwtCpuSmoothLine *l, gconstpointer row, gpointer work, gpointer to)
{
  const LwtSmoothLine *line = l->line;
  const guint n = line->n, stride = line->stride, period = line->period;
  const T *coarse = row, *far = l->far;
  T *repeated = work, *out = to;

  if (stride == 1) {
    memcpy (to, row, n * sizeof (T));
    return;
  }
  for (guint j = 0; j < line->coarse; j++)
    for (guint p = 0; p < stride; p++)
      repeated[j * stride + p] = coarse[j];
  /* rows of work memory are longer than n by more than a vector */
  for (guint i = 0; i < n; i += LANES) {
    V sum = V_SET (0);

    for (guint t = 0; t <= 2 * line->margin; t++)
      sum = V_FMA (V_LOAD (far + t * period + i % period),
          V_LOAD (repeated + i + t * stride), sum);
    V_STORE (out + i, sum);
  }
}

/* --- rows of a surface ---------------------------------------------------- */

static void
weigh_row (gconstpointer from, gconstpointer weights, const guint32 *missing,
    guint n, gpointer to, gpointer to_weights)
{
  const T *x = from, *w = weights;
  T *product = to, *weight = to_weights;

  for (guint i = 0; i < n && w != NULL; i++)
    weight[i] = w[i];
  for (guint i = 0; i < n && w == NULL; i++)
    weight[i] = (T) (1 - (missing[i / 32] >> i % 32 & 1));
  for (guint i = 0; i < n; i++)
    product[i] = weight[i] * x[i];
}

static void
normalise_row (gpointer row, guint n, gconstpointer inverse, gdouble factor)
{
  const T *scale = inverse, all = (T) factor;
  T *x = row;

  for (guint i = 0; i < n; i++)
    x[i] = x[i] * scale[i] * all;
}

static void
divide_row (gpointer row, guint n, gconstpointer by)
{
  const T *weight = by;
  T *x = row;

  for (guint i = 0; i < n; i++)
    x[i] = weight[i] > 0 ? x[i] / weight[i] : 0;
}

static void
settle_row (gpointer row, guint n, gconstpointer by, gconstpointer own)
{
  const T *weight = by, *x = own;
  T *low = row;

  for (guint i = 0; i < n; i++) {
    const T rest = (T) LWT_SMOOTH_LEAST_WEIGHT - weight[i];
    const T add = rest > 0 ? rest : 0;

    low[i] = ONE_FMA (add, x[i], low[i]) / (weight[i] + add);
  }
}

/* --- the robust filter ---------------------------------------------------- */

static void
deviate_row (gconstpointer from, gconstpointer smooth, const guint32 *missing,
    guint n, gpointer to)
{
  const T *x = from, *s = smooth;
  T *row = to;

  for (guint i = 0; i < n; i++)
    row[i] = ONE_ABS (x[i] - s[i]);
  for (guint i = 0; i < n && missing != NULL; i++)
    if (missing[i / 32] >> i % 32 & 1)
      row[i] = (T) INFINITY;
}

/* Tukey's biweight of distances. */
static void
judge_row (gpointer row, guint n, gdouble scale)
{
  const T by = (T) (1.0 / scale);
  T *x = row;

  for (guint i = 0; i < n; i++) {
    const T u = x[i] * by, v = (T) 1 - u * u;

    x[i] = u < 1 ? v * v : 0;
  }
}

/* --- strips: STRIP lines side by side ------------------------------------- */

static void
gather_strip (gconstpointer from, gsize along, gsize across, guint n,
    guint lanes, gpointer to)
{
  const T *x = from;
  T *strip = to;

  for (guint i = 0; i < n; i++)
    for (guint l = 0; l < STRIP; l++)
      strip[i * STRIP + l] = l < lanes ? x[i * along + l * across] : 0;
}

static void
scatter_strip (gconstpointer from, gsize along, gsize across, guint n,
    guint lanes, gpointer to)
{
  const T *strip = from;
  T *x = to;

  for (guint i = 0; i < n; i++)
    for (guint l = 0; l < lanes; l++)
      x[i * along + l * across] = strip[i * STRIP + l];
}

/* sum = x / 2 + the weighted pairs of neighbours, for all lanes */
LWT_ALWAYS void
sum_pairs (const LwtCpuSmoothLine *l, const T *strip, gint64 i, guint level,
    T sum[STRIP])
{
  const gint64 n = l->line->n;
  V sums[PARTS];

  for (guint p = 0; p < PARTS; p++)
    sums[p] = V_MUL (V_SET ((T) 0.5), V_LOAD (strip + i * STRIP + p * LANES));
  for (guint k = 0; k < l->line->n_taps; k++) {
    const gint64 d = (gint64) (2 * k + 1) << level;
    const T *low = strip + lwt_smooth_mirror (i - d, n) * STRIP;
    const T *high = strip + lwt_smooth_mirror (i + d, n) * STRIP;
    const V tap = V_SET (((const T *) l->tap)[k]);

    for (guint p = 0; p < PARTS; p++)
      sums[p] = V_FMA (tap,
          V_ADD (V_LOAD (low + p * LANES), V_LOAD (high + p * LANES)), sums[p]);
  }
  for (guint p = 0; p < PARTS; p++)
    V_STORE (sum + p * LANES, sums[p]);
}

static T *
run_cascade (const LwtCpuSmoothLine *l, T *a, T *b)
{
  const LwtSmoothLine *line = l->line;

  for (guint level = 0; level < line->levels; level++) {
    const gboolean last = level + 1 == line->levels;
    const T blend = (T) line->blend;
    T *other = a;

    for (guint i = 0; i < line->n; i++) {
      const T *own = a + (gsize) i * STRIP;
      T *out = b + (gsize) i * STRIP;

      sum_pairs (l, a, i, level, out);
      for (guint c = 0; c < STRIP && last; c++)
        out[c] = ONE_FMA (blend, own[c] - out[c], out[c]);
    }
    a = b;
    b = other;
  }
  return a;
}

/* Mirrors @reach samples at each end of a row of @n. */
LWT_ALWAYS void
mirror_ends (T *row, guint n, guint reach)
{
  T *last = row + n - 1;

  /* samples farther away than the other end are mirrored there first */
  for (gsize k = 1; k <= reach; k++) {
    row[-(gssize) k] = row[k];
    last[k] = last[-(gssize) k];
  }
}

static gpointer
cascade_row (const LwtCpuSmoothLine *l, gpointer padded, gpointer work)
{
  const LwtSmoothLine *line = l->line;
  const guint n = line->n;
  const T *taps = l->tap;
  T *a = (T *) padded + l->pad, *b = (T *) work + l->pad;

  for (guint level = 0; level < line->levels; level++) {
    const gboolean last = level + 1 == line->levels;
    const V blend = V_SET ((T) line->blend);
    T *other = a;

    mirror_ends (a, n, (2 * line->n_taps - 1) << level);
    /* rows are longer than n by more than a vector */
    for (guint i = 0; i < n; i += LANES) {
      const V own = V_LOAD (a + i);
      V sum = V_MUL (V_SET ((T) 0.5), own);

      for (guint k = 0; k < line->n_taps; k++) {
        const gsize d = (gsize) (2 * k + 1) << level;

        sum = V_FMA (V_SET (taps[k]),
            V_ADD (V_LOAD (a + i - d), V_LOAD (a + i + d)), sum);
      }
      if (last)
        sum = V_FMA (blend, V_SUB (own, sum), sum);
      V_STORE (b + i, sum);
    }
    a = b;
    b = other;
  }
  return a;
}

/* Solves L D L' s = x in place, in FP64. */
LWT_ALWAYS void
solve_strip (guint n, gdouble *x, const gdouble *pivot, const gdouble *lower,
    const gdouble *lower2, gsize pitch, gsize step)
{
  for (guint i = 1; i < n; i++)
    for (guint c = 0; c < STRIP; c++) {
      const gsize at = i * pitch + c * step;
      gdouble *own = x + (gsize) i * STRIP + c;

      *own = fma (-lower[at], own[-STRIP], *own);
      if (i > 1)
        *own = fma (-lower2[at], own[-2 * STRIP], *own);
    }
  for (guint i = n; i-- > 0;)
    for (guint c = 0; c < STRIP; c++) {
      const gsize at = i * pitch + c * step;
      gdouble *own = x + (gsize) i * STRIP + c;

      *own *= pivot[at];
      if (i + 1 < n)
        *own = fma (-lower[at + pitch], own[STRIP], *own);
      if (i + 2 < n)
        *own = fma (-lower2[at + 2 * pitch], own[2 * STRIP], *own);
    }
}

/* Factorises (M + tension D1' D1 + bending D2' D2), M the weights. A line of too few
 * points for its curve has pivots of 0, which become 1: its points are restored by the
 * caller. */
static void
factorise_strip (const LwtSmoothLine *line, const T *weight, gdouble *pivot,
    gdouble *lower, gdouble *lower2)
{
  const guint n = line->n;
  gdouble d1[STRIP] = { 0 }, d2[STRIP] = { 0 };

  for (guint i = 0; i < n; i++) {
    const gboolean left = i + 2 < n, middle = i > 0 && i + 1 < n, right = i > 1;
    const gdouble own = line->tension * ((i > 0) + (i + 1 < n))
                        + line->bending * (left + 4 * middle + right);
    const gdouble next =
        i > 0 ? -line->tension - 2.0 * line->bending * ((i + 1 < n) + (i > 1))
              : 0.0;

    for (guint c = 0; c < STRIP; c++) {
      const gsize at = (gsize) i * STRIP + c;
      gdouble d;

      lower2[at] = i > 1 ? line->bending / d2[c] : 0.0;
      lower[at] =
          i > 0
              ? (next - (i > 1 ? lower2[at] * d2[c] * lower[at - STRIP] : 0.0))
                    / d1[c]
              : 0.0;
      d = weight[at] + own - lower[at] * lower[at] * d1[c]
          - lower2[at] * lower2[at] * d2[c];
      if (!(d > 1e-13 * (own + 1.0)))
        d = 1.0;
      pivot[at] = 1.0 / d;
      d2[c] = d1[c];
      d1[c] = d;
    }
  }
}

/* A curve through fewer points than it has degrees of freedom is those points. */
static void
count_points (const T *weight, guint n, guint points[STRIP])
{
  for (guint c = 0; c < STRIP; c++)
    points[c] = 0;
  for (guint i = 0; i < n; i++)
    for (guint c = 0; c < STRIP; c++)
      points[c] += weight[(gsize) i * STRIP + c] != 0;
}

static T *
run_spline (const LwtCpuSmoothLine *l, T *a, const T *weight, gdouble *work)
{
  const LwtSmoothLine *line = l->line;
  const gsize n = line->n, size = n * STRIP;
  guint points[STRIP];

  for (gsize i = 0; i < size; i++)
    work[i] = a[i];
  if (weight == NULL) {
    solve_strip (
        line->n, work, line->pivot, line->lower[0], line->lower[1], 1, 0);
  } else {
    factorise_strip (
        line, weight, work + size, work + 2 * size, work + 3 * size);
    solve_strip (
        line->n, work, work + size, work + 2 * size, work + 3 * size, STRIP, 1);
    count_points (weight, line->n, points);
  }
  for (gsize i = 0; i < n; i++)
    for (guint c = 0; c < STRIP; c++) {
      const gsize at = i * STRIP + c;

      if (weight == NULL || (points[c] > 2 && weight[at] != 0))
        a[at] = (T) work[at];
    }
  return a;
}

/* --- Gaussian of order 2 -------------------------------------------------- */

/* Sum of all terms t, in four parts that are added at the end. */
LWT_ALWAYS void
sum_moments (const LwtSmoothLine *line, const T *a, guint i, T *out)
{
  const gint n = (gint) line->n, at = (gint) i, reach = line->reach;
  const gdouble b0 = line->moment[0][i], b1 = line->moment[1][i];
  const gdouble b2 = line->moment[2][i];
  T part[4][STRIP] = { { 0 } };

  for (gint t = MAX (-reach, -at); t <= MIN (reach, n - 1 - at); t++) {
    const T w = (T) (line->near[reach + t] * (b0 + t * (b1 + t * b2)));
    const T *x = a + (gsize) (at + t) * STRIP;
    T *sum = part[(t + reach) & 3];

    for (guint c = 0; c < STRIP; c++)
      sum[c] = ONE_FMA (w, x[c], sum[c]);
  }
  for (guint c = 0; c < STRIP; c++)
    out[c] = (part[0][c] + part[1][c]) + (part[2][c] + part[3][c]);
}

/* The same with the moments of the points of each line, in FP64. */
static void
fit_strip (
    const LwtCpuSmoothLine *l, const T *a, const T *weight, guint i, T *out)
{
  const LwtSmoothLine *line = l->line;
  const gint n = (gint) line->n, at = (gint) i, reach = line->reach;
  gdouble m[5][STRIP] = { { 0 } }, z[3][STRIP] = { { 0 } };

  for (gint t = MAX (-reach, -at); t <= MIN (reach, n - 1 - at); t++) {
    const gdouble u = t * line->unit, w = line->near[reach + t];
    const gdouble w1 = w * u, w2 = w1 * u, w3 = w2 * u, w4 = w3 * u;
    const gsize from = (gsize) (at + t) * STRIP;

    for (guint c = 0; c < STRIP; c++) {
      const gdouble one = weight[from + c], x = a[from + c];

      m[0][c] = fma (w, one, m[0][c]);
      m[1][c] = fma (w1, one, m[1][c]);
      m[2][c] = fma (w2, one, m[2][c]);
      m[3][c] = fma (w3, one, m[3][c]);
      m[4][c] = fma (w4, one, m[4][c]);
      z[0][c] = fma (w, x, z[0][c]);
      z[1][c] = fma (w1, x, z[1][c]);
      z[2][c] = fma (w2, x, z[2][c]);
    }
  }
  for (guint c = 0; c < STRIP; c++) {
    const gdouble moments[5] = { m[0][c], m[1][c], m[2][c], m[3][c], m[4][c] };
    gdouble b[3];

    if (weight[(gsize) i * STRIP + c] == 0) {
      out[c] = 0;
      continue;
    }
    lwt_smooth_fit (moments, line->variance, b);
    out[c] = (T) (b[0] * z[0][c] + b[1] * z[1][c] + b[2] * z[2][c]);
  }
}

static T *
run_moments (const LwtCpuSmoothLine *l, const T *a, const T *weight, T *b)
{
  const guint n = l->line->n;

  for (guint i = 0; i < n; i++)
    if (weight == NULL)
      sum_moments (l->line, a, i, b + (gsize) i * STRIP);
    else
      fit_strip (l, a, weight, i, b + (gsize) i * STRIP);
  return b;
}

static gpointer
smooth_strip (const LwtCpuSmoothLine *l, LwtFilter filter, gpointer strip,
    gconstpointer weight, gpointer work)
{
  if (filter == LWT_FILTER_WAVELET)
    return run_cascade (l, strip, work);
  if (filter == LWT_FILTER_SPLINE)
    return run_spline (l, strip, weight, work);
  return run_moments (l, strip, weight, work);
}

const LwtCpuSmooths LWT_CPU (smooths) = {
  .combine_rows = combine_rows,
  .narrow_row = narrow_row,
  .widen_row = widen_smooth_row,
  .cascade_row = cascade_row,
  .weigh_row = weigh_row,
  .normalise_row = normalise_row,
  .divide_row = divide_row,
  .settle_row = settle_row,
  .deviate_row = deviate_row,
  .judge_row = judge_row,
  .gather_strip = gather_strip,
  .scatter_strip = scatter_strip,
  .smooth_strip = smooth_strip,
};

#undef STRIP
#undef PARTS
