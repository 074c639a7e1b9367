/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The inner loops over the observations of a segment, compiled for each
 * instruction set (BUNDLE_CPU_LEVEL). Loops over slots have no dependencies,
 * so the compiler vectorises them; sums have BUNDLE_LANES lanes. */
#include "cuda/bundle/cpu/segment.h"

/* Derivatives of a segment: 18 of the camera, 6 of the point */
typedef gdouble Jacobian[24][BUNDLE_SEGMENT] __attribute__ ((aligned (64)));

/* --- one observation after the other --------------------------------------------- */

static void
derive (const BundleBackend *b, const BundleSegment *s,
    const BundleConstants *constants, Column x, Column y, Column z,
    const gdouble *weight, Jacobian jac)
{
  const BundleConstants c = *constants;

  for (guint i = 0; i < s->n; i++) {
    BundleImage image = bundle_image (&c, x[i], y[i], z[i]);
    gdouble jc[18], jp[6];

    bundle_derivatives (&c, &image, jc, jp);
    for (guint e = 0; e < 18; e++)
      jac[e][i] = jc[e] * weight[i];
    for (guint e = 0; e < 6; e++)
      jac[18 + e][i] = jp[e] * weight[i];
  }
}

/* Derivatives of the linearisation, recomputed. */
static void
get_jacobian (const BundleBackend *b, const BundleSegment *s, Jacobian jac)
{
  Column x, y, z;

  gather_points (b, s, b->points, x, y, z);
  derive (b, s, &b->constants[s->camera], x, y, z, b->weight + s->first, jac);
}

/* Unweighted residuals and their squares. */
static void
get_residuals (const BundleBackend *b, const BundleSegment *s,
    const BundleConstants *constants, Column x, Column y, Column z, Column rx,
    Column ry, Column square)
{
  const BundleConstants c = *constants;
  const gdouble *ox = b->observed_x + s->first, *oy = b->observed_y + s->first;

  for (guint i = 0; i < s->n; i++) {
    BundleImage image = bundle_image (&c, x[i], y[i], z[i]);

    bundle_residual (&c, &image, ox[i], oy[i], &rx[i], &ry[i]);
    square[i] = rx[i] * rx[i] + ry[i] * ry[i];
  }
}

/* --- sums ------------------------------------------------------------------------- */

/* Upper triangle of the sum of a_i^T b_j over two rows of 9. */
static void
sum_triangle (guint n, const Column *a0, const Column *a1, const Column *b0,
    const Column *b1, gdouble *triangle)
{
  for (guint i = 0, at = 0; i < 9; i++)
    for (guint j = i; j < 9; j += 3) {
      /* up to three columns at a time, loaded once for each row of the
       * matrix */
      V8 sum[3] = { { 0 }, { 0 }, { 0 } };
      guint columns = MIN (3, 9 - j);

      for (guint o = 0; o < n; o += BUNDLE_LANES) {
        V8 r0 = load (a0[i] + o), r1 = load (a1[i] + o);

        for (guint k = 0; k < 3; k++) {
          guint column = MIN (j + k, 8);

          sum[k] += r0 * load (b0[column] + o) + r1 * load (b1[column] + o);
        }
      }
      for (guint k = 0; k < columns; k++)
        triangle[at++] = sum_lanes (sum[k]);
    }
}

/* Sums of the 9 columns of two rows, weighted by @rx and @ry. */
static void
sum_rows (guint n, const Column *j0, const Column *j1, const gdouble *rx,
    const gdouble *ry, gdouble to[9])
{
  for (guint e = 0; e < 9; e++) {
    V8 sum = { 0 };

    for (guint o = 0; o < n; o += BUNDLE_LANES)
      sum +=
          load (j0[e] + o) * load (rx + o) + load (j1[e] + o) * load (ry + o);
    to[e] = sum_lanes (sum);
  }
}

/* --- kernels ---------------------------------------------------------------------- */

static gdouble
linearize_segment (BundleBackend *b, const BundleSegment *s, gdouble *partial)
{
  const BundleConstants *c = &b->constants[s->camera];
  gdouble *weight = b->weight + s->first;
  gdouble *rx = b->residual_x + s->first, *ry = b->residual_y + s->first;
  gdouble *to = b->forward + s->first * 9;
  Column x, y, z, square, fx, fy;
  Jacobian jac;
  gdouble cost;

  gather_points (b, s, b->points, x, y, z);
  get_residuals (b, s, c, x, y, z, fx, fy, square);
  get_weights (b, s, square, weight);
  cost = sum_column (square, s->n);
  for (guint i = 0; i < s->n; i++) {
    rx[i] = fx[i] * weight[i];
    ry[i] = fy[i] * weight[i];
  }
  derive (b, s, c, x, y, z, weight, jac);
  sum_rows (s->n, (const Column *) jac, (const Column *) jac + 9, rx, ry,
      partial + BUNDLE_TRIANGLE);
  for (guint i = 0; i < s->n; i++)
    for (guint k = 0; k < 3; k++)
      to[9 * i + 6 + k] = jac[18 + k][i] * rx[i] + jac[21 + k][i] * ry[i];
  if (b->derivatives)
    for (guint i = 0; i < s->n_real; i++)
      for (guint e = 0; e < 24; e++)
        b->derivatives[24 * (gsize) b->derivative_of[s->first + i] + e] =
            jac[e][i];
  sum_triangle (s->n, (const Column *) jac, (const Column *) jac + 9,
      (const Column *) jac, (const Column *) jac + 9, partial);
  for (guint i = 0; i < s->n; i++)
    for (guint k = 0, at = 0; k < 3; k++)
      for (guint l = k; l < 3; l++, at++)
        to[9 * i + at] =
            jac[18 + k][i] * jac[18 + l][i] + jac[21 + k][i] * jac[21 + l][i];
  return 0.5 * cost;
}

static gdouble
cost_segment (BundleBackend *b, const BundleSegment *s)
{
  Column x, y, z, rx, ry, square, weight;

  gather_points (b, s, b->eval_points, x, y, z);
  get_residuals (b, s, &b->eval_constants[s->camera], x, y, z, rx, ry, square);
  get_weights (b, s, square, weight);
  return 0.5 * sum_column (square, s->n);
}

static void
forward_segment (BundleBackend *b, const BundleSegment *s, const gdouble v[9])
{
  const BundleConstants c = b->constants[s->camera];
  const gdouble *weight = b->weight + s->first;
  Column x, y, z;

  gather_points (b, s, b->points, x, y, z);
  for (guint i = 0; i < s->n; i++) {
    BundleImage image = bundle_image (&c, x[i], y[i], z[i]);
    gdouble yx, yy, w[3], square = weight[i] * weight[i];

    bundle_forward (&c, &image, v, &yx, &yy);
    bundle_backward_point (&c, &image, yx * square, yy * square, w);
    x[i] = w[0];
    y[i] = w[1];
    z[i] = w[2];
  }
  put_forward (b, s, x, y, z);
}

static void
backward_segment (BundleBackend *b, const BundleSegment *s, gdouble partial[9])
{
  const BundleConstants c = b->constants[s->camera];
  const gdouble *weight = b->weight + s->first;
  Column x, y, z, ux, uy, uz, w[9];

  gather_points (b, s, b->points, x, y, z);
  gather_points (b, s, b->point, ux, uy, uz);
  for (guint i = 0; i < s->n; i++) {
    BundleImage image = bundle_image (&c, x[i], y[i], z[i]);
    gdouble yx, yy, t[9], square = weight[i] * weight[i];

    bundle_forward_point (&c, &image, ux[i], uy[i], uz[i], &yx, &yy);
    bundle_backward (&c, &image, yx * square, yy * square, t);
    for (guint e = 0; e < 9; e++)
      w[e][i] = t[e];
  }
  for (guint e = 0; e < 9; e++)
    partial[e] = sum_column (w[e], s->n);
}

/* Jc^T E Jc with E = Jp V^-1 Jp^T, 2 x 2 */
static void
schur_segment (
    BundleBackend *b, const BundleSegment *s, gdouble partial[BUNDLE_TRIANGLE])
{
  Jacobian jac, product;

  get_jacobian (b, s, jac);
  for (guint i = 0; i < s->n; i++) {
    const gdouble *inverse =
        b->inverse_v + 6 * (gsize) b->slot_point[s->first + i];
    gdouble x[3], y[3], xx, xy, yy;

    bundle_multiply_3 (inverse, jac[18][i], jac[19][i], jac[20][i], x);
    bundle_multiply_3 (inverse, jac[21][i], jac[22][i], jac[23][i], y);
    xx = jac[18][i] * x[0] + jac[19][i] * x[1] + jac[20][i] * x[2];
    xy = jac[21][i] * x[0] + jac[22][i] * x[1] + jac[23][i] * x[2];
    yy = jac[21][i] * y[0] + jac[22][i] * y[1] + jac[23][i] * y[2];
    for (guint e = 0; e < 9; e++) {
      product[e][i] = xx * jac[e][i] + xy * jac[9 + e][i];
      product[9 + e][i] = xy * jac[e][i] + yy * jac[9 + e][i];
    }
  }
  sum_triangle (s->n, (const Column *) jac, (const Column *) jac + 9,
      (const Column *) product, (const Column *) product + 9, partial);
}

static gdouble
model_segment (BundleBackend *b, const BundleSegment *s, const gdouble v[9])
{
  const gdouble *rx = b->residual_x + s->first, *ry = b->residual_y + s->first;
  Jacobian jac;
  Column x, y, z;

  get_jacobian (b, s, jac);
  gather_points (b, s, b->point, x, y, z);
  for (guint i = 0; i < s->n; i++) {
    gdouble yx = jac[18][i] * x[i] + jac[19][i] * y[i] + jac[20][i] * z[i];
    gdouble yy = jac[21][i] * x[i] + jac[22][i] * y[i] + jac[23][i] * z[i];

    for (guint e = 0; e < 9; e++) {
      yx += jac[e][i] * v[e];
      yy += jac[9 + e][i] * v[e];
    }
    x[i] = -yx * (rx[i] + 0.5 * yx) - yy * (ry[i] + 0.5 * yy);
  }
  return sum_column (x, s->n);
}

/* --- dense matrices of the direct solver ------------------------------------------ */

/* @columns is constant after inlining. */
INLINE void
add_columns (gdouble *restrict to, gsize stride, const gdouble *restrict a,
    guint a_apart, guint rows, const gdouble *restrict b, guint b_apart,
    guint columns)
{
  for (guint i = 0; i < rows; i++)
    for (guint j = 0; j < columns; j++)
      to[i * stride + j] += a[i] * b[j] + a[a_apart + i] * b[b_apart + j];
}

static void
add_products (gdouble *restrict to, gsize stride, const gdouble *restrict a,
    guint a_apart, guint rows, const gdouble *restrict b, guint b_apart,
    guint columns)
{
  if (columns == 3)
    add_columns (to, stride, a, a_apart, rows, b, b_apart, 3);
  else if (columns == 6)
    add_columns (to, stride, a, a_apart, rows, b, b_apart, 6);
  else if (columns == 9)
    add_columns (to, stride, a, a_apart, rows, b, b_apart, 9);
  else
    add_columns (to, stride, a, a_apart, rows, b, b_apart, columns);
}

static void
factorise (gdouble *a, gsize stride, guint n, const gdouble *diagonal,
    gdouble *inverse)
{
  for (guint r = 0; r < n; r++) {
    gdouble *restrict row = a + r * stride;
    gdouble pivot = row[r];
    gboolean keeps = pivot > BUNDLE_PIVOT * diagonal[r] && isfinite (pivot);

    inverse[r] = keeps ? 1 / sqrt (pivot) : 0;
    for (guint c = r + 1; c < n; c++)
      row[c] = keeps ? row[c] * inverse[r] : 0;
    for (guint q = r + 1; q < n; q++) {
      gdouble *restrict to = a + q * stride;
      gdouble factor = row[q];

      for (guint c = q; c < n; c++)
        to[c] -= factor * row[c];
    }
  }
}

/* A vector register: each column of a matrix is computed on its own, so the width
 * does not change the bits. */
#if defined(__AVX512F__)
#define WIDE 8
#elif defined(__AVX__)
#define WIDE 4
#else
#define WIDE 2
#endif
typedef gdouble Wide
    __attribute__ ((vector_size (WIDE * 8), aligned (8), may_alias));

INLINE Wide
load_wide (const gdouble *from)
{
  return *(const Wide *) from;
}

/* @n vectors of columns, up to 4; constant after inlining */
INLINE void
substitute_columns (const gdouble *a, gsize stride, guint depth,
    const gdouble *inverse, gdouble *to, gsize to_stride, guint n)
{
  for (guint r = 0; r < depth; r++) {
    gdouble *row = to + r * to_stride;
    Wide s0 = load_wide (row), s1 = s0, s2 = s0, s3 = s0;

    if (n > 1) {
      s1 = load_wide (row + WIDE);
      s2 = load_wide (row + 2 * WIDE);
      s3 = load_wide (row + 3 * WIDE);
    }
    for (guint q = 0; q < r; q++) {
      const gdouble *above = to + q * to_stride;
      gdouble factor = a[q * stride + r];

      s0 -= factor * load_wide (above);
      if (n > 1) {
        s1 -= factor * load_wide (above + WIDE);
        s2 -= factor * load_wide (above + 2 * WIDE);
        s3 -= factor * load_wide (above + 3 * WIDE);
      }
    }
    *(Wide *) row = s0 * inverse[r];
    if (n > 1) {
      *(Wide *) (row + WIDE) = s1 * inverse[r];
      *(Wide *) (row + 2 * WIDE) = s2 * inverse[r];
      *(Wide *) (row + 3 * WIDE) = s3 * inverse[r];
    }
  }
}

static void
substitute (const gdouble *a, gsize stride, guint depth, const gdouble *inverse,
    gdouble *to, gsize to_stride, guint columns)
{
  guint c = 0;

  for (; c + 4 * WIDE <= columns; c += 4 * WIDE)
    substitute_columns (a, stride, depth, inverse, to + c, to_stride, 4);
  for (; c < columns; c += WIDE)
    substitute_columns (a, stride, depth, inverse, to + c, to_stride, 1);
}

/* Subtracts up to @n elements of @sum from the places of a row. */
INLINE void
subtract_wide (gdouble *row, const guint32 *place, guint n, Wide sum)
{
  if (n >= WIDE && place[WIDE - 1] - place[0] == WIDE - 1)
    *(Wide *) (row + place[0]) = load_wide (row + place[0]) - sum;
  else
    for (guint k = 0; k < n && k < WIDE; k++)
      row[place[k]] -= sum[k];
}

static void
subtract_products (gdouble *to, gsize stride, const guint32 *place,
    const gdouble *y, gsize y_stride, guint depth, guint first, guint end,
    guint columns)
{
  for (guint i = first; i < end; i += 4)
    for (guint j = i; j < columns; j += 2 * WIDE) {
      const gdouble *a = y + i, *b = y + j;
      Wide s00 = { 0 }, s10 = { 0 }, s20 = { 0 }, s30 = { 0 };
      Wide s01 = { 0 }, s11 = { 0 }, s21 = { 0 }, s31 = { 0 };
      guint n = columns - j, m = n > WIDE ? n - WIDE : 0;

      for (guint k = 0; k < depth; k++, a += y_stride, b += y_stride) {
        Wide b0 = load_wide (b), b1 = load_wide (b + WIDE);

        s00 += a[0] * b0;
        s01 += a[0] * b1;
        s10 += a[1] * b0;
        s11 += a[1] * b1;
        s20 += a[2] * b0;
        s21 += a[2] * b1;
        s30 += a[3] * b0;
        s31 += a[3] * b1;
      }
#define ROW(r)                                                                 \
  if (i + r < end) {                                                           \
    gdouble *row = to + place[i + r] * stride;                                 \
    subtract_wide (row, place + j, n, s##r##0);                                \
    subtract_wide (row, place + j + WIDE, m, s##r##1);                         \
  }
      ROW (0)
      ROW (1)
      ROW (2)
      ROW (3)
#undef ROW
    }
}

static gdouble
dot (const gdouble *a, const gdouble *x, guint n)
{
  V8 sum = { 0 };

  for (guint i = 0; i < n; i += BUNDLE_LANES)
    sum += load (a + i) * load (x + i);
  return sum_lanes (sum);
}

#define JOIN(a, b) a##b
#define TABLE(level) JOIN (bundle_cpu_, level)

const BundleCpuKernels TABLE (BUNDLE_CPU_LEVEL) = {
  .linearize = linearize_segment,
  .cost = cost_segment,
  .forward = forward_segment,
  .backward = backward_segment,
  .schur = schur_segment,
  .model = model_segment,
  .add_products = add_products,
  .factorise = factorise,
  .substitute = substitute,
  .subtract_products = subtract_products,
  .dot = dot,
};
