/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The inner loops over the observations of a segment whose camera has a lens, compiled
 * for each instruction set (BUNDLE_CPU_LEVEL). The linearisation stores derivatives
 * (lenses.h); the other loops do not depend on the camera model.
 *
 * With A the derivatives by P, those by the step of the pose are -A [P]x and A, and
 * those by the point A R.
 *
 * With a sensor (R_s, t_s) in a rig, P = R_s Q + t_s and Q = R X + t, of the rig's pose.
 * The derivatives by the step of the sensor's pose are -A [P]x and A; the rows that are
 * stored are A R_s and Q, in place of A and P, so the other loops do not know it. */
#include "cuda/bundle/cpu/schur.h"
#include "cuda/bundle/cpu/segment.h"
#include "cuda/bundle/lens/observation.h"

/* Residuals and derivatives of each slot; @by: of all parameters */
typedef struct {
  Column x, y, square;
  Column a[6], q[3];
  Column by[2 * BUNDLE_LENS_COLUMNS];
} Seen;

/* @n: number of parameters; it, @model, @n_focal and @derive are constant after
 * inlining */
INLINE void
see_slots (BundleLensModel model, int n_focal, guint n, const gdouble *lens,
    const BundleConstants *c, const BundleSegment *s, const Column x,
    const Column y, const Column z, const gdouble *ox, const gdouble *oy,
    gboolean derive, Seen *seen)
{
  for (guint i = 0; i < s->n; i++) {
    BundleSight sight;

    bundle_sight (model, n_focal, lens, c, x[i], y[i], z[i], &sight);
    seen->x[i] = sight.x - ox[i];
    seen->y[i] = sight.y - oy[i];
    seen->square[i] = seen->x[i] * seen->x[i] + seen->y[i] * seen->y[i];
    if (derive) {
      for (guint e = 0; e < 6; e++)
        seen->a[e][i] = sight.a[e];
      for (guint e = 0; e < 3; e++)
        seen->q[e][i] = sight.q[e];
      for (guint e = 0; e < n; e++) {
        seen->by[e][i] = sight.by[0][e];
        seen->by[BUNDLE_LENS_COLUMNS + e][i] = sight.by[1][e];
      }
    }
  }
}

/* The columns of slot @i by the step of a pose, for a row @a of the derivatives by P:
 * -a [q]x = q x a, and a */
INLINE void
put_pose_columns (guint i, const gdouble a[3], const gdouble q[3], Column *to)
{
  to[0][i] = q[1] * a[2] - q[2] * a[1];
  to[1][i] = q[2] * a[0] - q[0] * a[2];
  to[2][i] = q[0] * a[1] - q[1] * a[0];
  to[3][i] = a[0];
  to[4][i] = a[1];
  to[5][i] = a[2];
}

/* The derivatives by the sensor's step behind those by the lens; then A R_s and Q */
static void
put_sensor_rows (const BundleSensor *sensor, const BundleSegment *s, Seen *seen)
{
  BundleConstants c;

  bundle_constants (sensor->pose, &c);
  for (guint row = 0; row < 2; row++) {
    Column *a = seen->a + 3 * row;
    Column *by = seen->by + row * BUNDLE_LENS_COLUMNS + BUNDLE_LENS_SIZE;

    for (guint i = 0; i < s->n; i++) {
      const gdouble at[3] = { a[0][i], a[1][i], a[2][i] };
      const gdouble q[3] = { seen->q[0][i], seen->q[1][i], seen->q[2][i] };

      put_pose_columns (i, at, q, by);
      for (guint k = 0; k < 3; k++)
        a[k][i] = at[0] * c.r[k] + at[1] * c.r[3 + k] + at[2] * c.r[6 + k];
    }
  }
  for (guint i = 0; i < s->n; i++) {
    const gdouble x = seen->q[0][i] - c.t[0], y = seen->q[1][i] - c.t[1];
    const gdouble z = seen->q[2][i] - c.t[2];

    for (guint k = 0; k < 3; k++)
      seen->q[k][i] = x * c.r[k] + y * c.r[3 + k] + z * c.r[6 + k];
  }
}

/* @sensors: (nullable) */
INLINE void
see_segment (const BundleBackend *b, const BundleSegment *s,
    const gdouble *points, const BundleConstants *constants,
    const BundleLens *lenses, const BundleSensor *sensors, gboolean derive,
    Seen *seen)
{
  const BundleCpuLenses *l = b->lenses;
  const guint32 number = l->image[s->image].lens;
  const BundleLens *lens = &lenses[number];
  const BundleSensor *sensor = l->lens[number].placed ? &sensors[number] : NULL;
  BundleConstants c = constants[s->camera], own;
  const gdouble *ox = b->observed_x + s->first, *oy = b->observed_y + s->first;
  Column x, y, z;

  if (sensor) {
    bundle_constants (sensor->pose, &own);
    bundle_place_sensor (&own, &constants[s->camera], &c);
  }
  gather_points (b, s, points, x, y, z);
  switch (lens->model) {
#define MODEL(name, n_focal, n_extra)                                          \
  case BUNDLE_LENS_##name:                                                     \
    see_slots (BUNDLE_LENS_##name, n_focal, n_focal + 2 + n_extra,             \
        lens->parameters, &c, s, x, y, z, ox, oy, derive, seen);               \
    break;
    BUNDLE_LENS_MODELS (MODEL)
#undef MODEL
    case BUNDLE_N_LENS_MODELS:
      break;
  }
  if (sensor && derive)
    put_sensor_rows (sensor, s, seen);
}

/* --- stored derivatives -------------------------------------------------------------- */

/* @a: 6 rows; @q: 3; @by: 2 for each column, those of x first; rows are @stride apart */
typedef struct {
  gsize stride;
  const gdouble *a, *q, *by;
  guint n;
} Rows;

static gdouble *
find_rows (const BundleBackend *b, const BundleSegment *s, Rows *rows)
{
  const BundleCpuLenses *l = b->lenses;
  gdouble *first = l->rows + l->rows_of[s - b->segments];

  *rows = (Rows){ s->n, first, first + 6 * (gsize) s->n,
    first + 9 * (gsize) s->n, bundle_lenses_of_image (l, s->image)->n };
  return first;
}

/* The columns of the Jacobian: 6 of the pose and those of the lens, for x and then,
 * BUNDLE_LENS_UNKNOWNS later, for y */
typedef Column Columns[2 * BUNDLE_LENS_UNKNOWNS];

static void
get_columns (const BundleSegment *s, const Rows *r, Columns to)
{
  const gsize stride = r->stride;

  for (guint row = 0; row < 2; row++) {
    const gdouble *a = r->a + 3 * row * stride, *q = r->q;
    Column *j = to + row * BUNDLE_LENS_UNKNOWNS;

    for (guint i = 0; i < s->n; i++) {
      const gdouble ai[3] = { a[i], a[stride + i], a[2 * stride + i] };
      const gdouble qi[3] = { q[i], q[stride + i], q[2 * stride + i] };

      put_pose_columns (i, ai, qi, j);
    }
    for (guint e = 0; e < r->n; e++)
      for (guint i = 0; i < s->n; i++)
        j[BUNDLE_POSE + e][i] = r->by[(row * r->n + e) * stride + i];
  }
}

/* A^T y of a slot: its derivative by P */
#define BACK(r, i, yx, yy, e)                                                  \
  ((r)->a[(e) * (r)->stride + (i)] * (yx)                                      \
      + (r)->a[(3 + (e)) * (r)->stride + (i)] * (yy))

/* Jp of slot @i: A R */
INLINE void
get_point_rows (
    const Rows *r, const BundleConstants *c, guint i, gdouble j[2][3])
{
  for (guint row = 0; row < 2; row++)
    for (guint k = 0; k < 3; k++) {
      j[row][k] = 0;
      for (guint e = 0; e < 3; e++)
        j[row][k] += r->a[(3 * row + e) * r->stride + i] * c->r[3 * e + k];
    }
}

/* --- kernels ------------------------------------------------------------------------- */

/* V and gradient of the points, from the stored derivatives */
static void
put_point_sums (BundleBackend *b, const BundleSegment *s, const Rows *r,
    const gdouble *rx, const gdouble *ry)
{
  const BundleConstants c = b->constants[s->camera];
  gdouble *to = b->forward + s->first * 9;

  for (guint i = 0; i < s->n; i++) {
    gdouble j[2][3];

    get_point_rows (r, &c, i, j);
    for (guint k = 0, at = 0; k < 3; k++)
      for (guint l = k; l < 3; l++, at++)
        to[9 * i + at] = j[0][k] * j[0][l] + j[1][k] * j[1][l];
    for (guint k = 0; k < 3; k++)
      to[9 * i + 6 + k] = j[0][k] * rx[i] + j[1][k] * ry[i];
  }
}

/* Gradient and squares of the columns */
static void
sum_linear (const BundleSegment *s, const Rows *r, const gdouble *rx,
    const gdouble *ry, gdouble *partial)
{
  Columns j;

  get_columns (s, r, j);
  for (guint e = 0; e < 2 * BUNDLE_STEP; e++)
    partial[e] = 0;
  for (guint e = 0; e < BUNDLE_POSE + r->n; e++) {
    const guint to = e < BUNDLE_POSE ? e : 9 + e - BUNDLE_POSE;
    V8 gradient = { 0 }, square = { 0 };

    for (guint o = 0; o < s->n; o += BUNDLE_LANES) {
      const V8 jx = load (j[e] + o);
      const V8 jy = load (j[BUNDLE_LENS_UNKNOWNS + e] + o);

      gradient += jx * load (rx + o) + jy * load (ry + o);
      square += jx * jx + jy * jy;
    }
    partial[BUNDLE_LENS_GRADIENT + to] = sum_lanes (gradient);
    partial[BUNDLE_LENS_SQUARES + to] = sum_lanes (square);
  }
}

static gdouble
linearize_lens (BundleBackend *b, const BundleSegment *s, gdouble *partial)
{
  const BundleCpuLens *lens = bundle_lenses_of_image (b->lenses, s->image);
  gdouble *weight = b->weight + s->first;
  gdouble *rx = b->residual_x + s->first, *ry = b->residual_y + s->first;
  Rows rows;
  gdouble *to = find_rows (b, s, &rows), cost;
  Seen seen;

  see_segment (b, s, b->points, b->constants, b->lenses->now,
      b->lenses->sensors, TRUE, &seen);
  get_weights (b, s, seen.square, weight);
  cost = sum_column (seen.square, s->n);
  for (guint i = 0; i < s->n; i++) {
    rx[i] = seen.x[i] * weight[i];
    ry[i] = seen.y[i] * weight[i];
  }
  for (guint e = 0; e < 6; e++, to += s->n)
    for (guint i = 0; i < s->n; i++)
      to[i] = seen.a[e][i] * weight[i];
  for (guint e = 0; e < 3; e++, to += s->n)
    for (guint i = 0; i < s->n; i++)
      to[i] = seen.q[e][i];
  for (guint e = 0; e < 2 * lens->n; e++, to += s->n) {
    const guint column =
        e < lens->n ? lens->parameter[e]
                    : BUNDLE_LENS_COLUMNS + lens->parameter[e - lens->n];

    for (guint i = 0; i < s->n; i++)
      to[i] = seen.by[column][i] * weight[i];
  }
  sum_linear (s, &rows, rx, ry, partial);
  put_point_sums (b, s, &rows, rx, ry);
  return 0.5 * cost;
}

static gdouble
cost_lens (BundleBackend *b, const BundleSegment *s)
{
  Column weight;
  Seen seen;

  see_segment (b, s, b->eval_points, b->eval_constants, b->lenses->eval,
      b->lenses->eval_sensors, FALSE, &seen);
  get_weights (b, s, seen.square, weight);
  return 0.5 * sum_column (seen.square, s->n);
}

/* Jc v of each slot */
INLINE void
multiply_columns (const BundleSegment *s, const Rows *r, const gdouble *v,
    Column yx, Column yy)
{
  const gsize stride = r->stride;
  const gdouble *a = r->a, *q = r->q;

  for (guint i = 0; i < s->n; i++) {
    const gdouble x = q[i], y = q[stride + i], z = q[2 * stride + i];
    const gdouble px = v[1] * z - v[2] * y + v[3];
    const gdouble py = v[2] * x - v[0] * z + v[4];
    const gdouble pz = v[0] * y - v[1] * x + v[5];

    yx[i] = a[i] * px + a[stride + i] * py + a[2 * stride + i] * pz;
    yy[i] = a[3 * stride + i] * px + a[4 * stride + i] * py
            + a[5 * stride + i] * pz;
  }
  for (guint e = 0; e < r->n; e++) {
    const gdouble *bx = r->by + e * stride, *by = r->by + (r->n + e) * stride;

    for (guint i = 0; i < s->n; i++) {
      yx[i] += bx[i] * v[9 + e];
      yy[i] += by[i] * v[9 + e];
    }
  }
}

/* Jp u of each slot, for a step @ux, @uy, @uz of its point */
INLINE void
multiply_point (const BundleSegment *s, const Rows *r, const BundleConstants *c,
    const Column ux, const Column uy, const Column uz, Column yx, Column yy)
{
  const gsize stride = r->stride;
  const gdouble *a = r->a;

  for (guint i = 0; i < s->n; i++) {
    const gdouble px = c->r[0] * ux[i] + c->r[1] * uy[i] + c->r[2] * uz[i];
    const gdouble py = c->r[3] * ux[i] + c->r[4] * uy[i] + c->r[5] * uz[i];
    const gdouble pz = c->r[6] * ux[i] + c->r[7] * uy[i] + c->r[8] * uz[i];

    yx[i] = a[i] * px + a[stride + i] * py + a[2 * stride + i] * pz;
    yy[i] = a[3 * stride + i] * px + a[4 * stride + i] * py
            + a[5 * stride + i] * pz;
  }
}

static void
forward_lens (BundleBackend *b, const BundleSegment *s, const gdouble *v)
{
  const BundleConstants c = b->constants[s->camera];
  Column yx, yy, x, y, z;
  Rows r;

  find_rows (b, s, &r);
  multiply_columns (s, &r, v, yx, yy);
  for (guint i = 0; i < s->n; i++) {
    const gdouble ax = BACK (&r, i, yx[i], yy[i], 0);
    const gdouble ay = BACK (&r, i, yx[i], yy[i], 1);
    const gdouble az = BACK (&r, i, yx[i], yy[i], 2);

    x[i] = c.r[0] * ax + c.r[3] * ay + c.r[6] * az;
    y[i] = c.r[1] * ax + c.r[4] * ay + c.r[7] * az;
    z[i] = c.r[2] * ax + c.r[5] * ay + c.r[8] * az;
  }
  put_forward (b, s, x, y, z);
}

/* partial = Jc^T (Jp point - Jc in) */
static void
backward_lens (BundleBackend *b, const BundleSegment *s, gdouble *partial)
{
  const BundleConstants c = b->constants[s->camera];
  Column yx, yy, ux, uy, uz, w[BUNDLE_POSE];
  gdouble v[BUNDLE_STEP];
  Rows r;

  find_rows (b, s, &r);
  bundle_lenses_expand (b, b->in, s, v);
  gather_points (b, s, b->point, ux, uy, uz);
  multiply_point (s, &r, &c, ux, uy, uz, w[0], w[1]);
  multiply_columns (s, &r, v, yx, yy);
  for (guint i = 0; i < s->n; i++) {
    yx[i] = w[0][i] - yx[i];
    yy[i] = w[1][i] - yy[i];
  }
  for (guint i = 0; i < s->n; i++) {
    const gdouble a[3] = { BACK (&r, i, yx[i], yy[i], 0),
      BACK (&r, i, yx[i], yy[i], 1), BACK (&r, i, yx[i], yy[i], 2) };
    const gdouble q[3] = { r.q[i], r.q[r.stride + i], r.q[2 * r.stride + i] };

    put_pose_columns (i, a, q, w);
  }
  for (guint e = 0; e < BUNDLE_STEP; e++)
    partial[e] = e < BUNDLE_POSE ? sum_column (w[e], s->n) : 0;
  for (guint e = 0; e < r.n; e++) {
    const gdouble *bx = r.by + e * r.stride, *by = r.by + (r.n + e) * r.stride;
    V8 sum = { 0 };

    for (guint o = 0; o < s->n; o += BUNDLE_LANES)
      sum += load (bx + o) * load (yx + o) + load (by + o) * load (yy + o);
    partial[9 + e] = sum_lanes (sum);
  }
}

/* I - Jp V^-1 Jp^T of each slot, 2 x 2; I if the triangle is of U alone */
static void
get_projections (const BundleBackend *b, const BundleSegment *s, const Rows *r,
    Column xx, Column xy, Column yy)
{
  const BundleConstants c = b->constants[s->camera];

  for (guint i = 0; i < s->n; i++) {
    const gdouble *inverse =
        b->inverse_v + 6 * (gsize) b->slot_point[s->first + i];
    gdouble j[2][3], x[3], y[3];

    xx[i] = yy[i] = 1;
    xy[i] = 0;
    if (b->lenses->alone)
      continue;
    get_point_rows (r, &c, i, j);
    bundle_multiply_3 (inverse, j[0][0], j[0][1], j[0][2], x);
    bundle_multiply_3 (inverse, j[1][0], j[1][1], j[1][2], y);
    xx[i] -= j[0][0] * x[0] + j[0][1] * x[1] + j[0][2] * x[2];
    xy[i] -= j[1][0] * x[0] + j[1][1] * x[1] + j[1][2] * x[2];
    yy[i] -= j[1][0] * y[0] + j[1][1] * y[1] + j[1][2] * y[2];
  }
}

/* Upper triangle of Jc^T (I - Jp V^-1 Jp^T) Jc */
static void
sum_triangle_of (const BundleBackend *b, const BundleSegment *s, const Rows *r,
    Columns j, gdouble *partial)
{
  Column xx, xy, yy, px, py;
  guint at = 0;

  get_projections (b, s, r, xx, xy, yy);
  for (guint i = 0; i < BUNDLE_POSE + r->n; i++) {
    const gdouble *jx = j[i], *jy = j[BUNDLE_LENS_UNKNOWNS + i];

    for (guint k = 0; k < s->n; k++) {
      px[k] = xx[k] * jx[k] + xy[k] * jy[k];
      py[k] = xy[k] * jx[k] + yy[k] * jy[k];
    }
    for (guint c = i; c < BUNDLE_POSE + r->n; c++, at++) {
      V8 sum = { 0 };

      for (guint o = 0; o < s->n; o += BUNDLE_LANES)
        sum += load (px + o) * load (j[c] + o)
               + load (py + o) * load (j[BUNDLE_LENS_UNKNOWNS + c] + o);
      partial[at] = sum_lanes (sum);
    }
  }
}

static void
schur_lens (BundleBackend *b, const BundleSegment *s, gdouble *partial)
{
  Columns j;
  Rows r;

  find_rows (b, s, &r);
  get_columns (s, &r, j);
  sum_triangle_of (b, s, &r, j, partial);
}

static void
products_lens (const BundleBackend *b, const BundleSegment *s,
    BundleCpuSchur *schur, gdouble *partial)
{
  const BundleConstants c = b->constants[s->camera];
  const gboolean own =
      schur->place[b->lenses->image[s->image].lens] == BUNDLE_SCHUR_NONE;
  Columns j;
  guint in_block;
  Rows r;

  find_rows (b, s, &r);
  get_columns (s, &r, j);
  sum_triangle_of (b, s, &r, j, partial);
  in_block = BUNDLE_POSE + (own ? r.n : 0);
  for (guint i = 0; i < s->n; i++) {
    gdouble *of_pose = schur->w + (s->first + i) * 3 * schur->d;
    gdouble *to = schur->of_slot + (s->first + i) * schur->lens_w;
    gdouble p[2][3];

    get_point_rows (&r, &c, i, p);
    for (guint k = 0; k < 3; k++) {
      guint e = 0;

      for (; e < in_block; e++)
        *of_pose++ =
            j[e][i] * p[0][k] + j[BUNDLE_LENS_UNKNOWNS + e][i] * p[1][k];
      for (guint zero = e; zero < schur->d; zero++)
        *of_pose++ = 0;
      for (; e < BUNDLE_POSE + r.n; e++)
        *to++ = j[e][i] * p[0][k] + j[BUNDLE_LENS_UNKNOWNS + e][i] * p[1][k];
    }
  }
}

static gdouble
model_lens (BundleBackend *b, const BundleSegment *s, const gdouble *v)
{
  const gdouble *rx = b->residual_x + s->first, *ry = b->residual_y + s->first;
  const BundleConstants c = b->constants[s->camera];
  Column yx, yy, zx, zy, ux, uy, uz;
  Rows r;

  find_rows (b, s, &r);
  gather_points (b, s, b->point, ux, uy, uz);
  multiply_point (s, &r, &c, ux, uy, uz, zx, zy);
  multiply_columns (s, &r, v, yx, yy);
  for (guint i = 0; i < s->n; i++) {
    const gdouble x = yx[i] + zx[i], y = yy[i] + zy[i];

    yx[i] = -x * (rx[i] + 0.5 * x) - y * (ry[i] + 0.5 * y);
  }
  return sum_column (yx, s->n);
}

#define TABLE_(level) bundle_lens_##level
#define TABLE(level) TABLE_ (level)

const BundleCpuKernels TABLE (BUNDLE_CPU_LEVEL) = {
  .linearize = linearize_lens,
  .cost = cost_lens,
  .forward = forward_lens,
  .backward = backward_lens,
  .schur = schur_lens,
  .model = model_lens,
  .products = products_lens,
};
