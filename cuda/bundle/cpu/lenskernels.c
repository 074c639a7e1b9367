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

#include <string.h>

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

/* The rows of a segment (lenses.h). @n: columns of its lens */
typedef struct {
  const gdouble *first;
  guint n;
} Rows;

/* Those of eight slots. @by: BUNDLE_LANES apart, those of x first */
typedef struct {
  V8 a[6], q[3];
  const gdouble *by;
} Eight;

static gdouble *
find_rows (const BundleBackend *b, const BundleSegment *s, Rows *rows)
{
  const BundleCpuLenses *l = b->lenses;
  gdouble *first = l->rows + l->rows_of[s - b->segments];

  *rows = (Rows){ first, bundle_lenses_of_image (l, s->image)->n };
  return first;
}

/* @o: the first of the slots */
INLINE void
load_eight (const Rows *r, guint o, Eight *to)
{
  const gdouble *from = r->first + (gsize) o * BUNDLE_LENS_ROWS (r->n);

  for (guint e = 0; e < 6; e++)
    to->a[e] = load (from + BUNDLE_LANES * e);
  for (guint e = 0; e < 3; e++)
    to->q[e] = load (from + BUNDLE_LANES * (6 + e));
  to->by = from + BUNDLE_LANES * 9;
}

INLINE V8
load_by (const Rows *r, const Eight *eight, guint row, guint column)
{
  return load (eight->by + BUNDLE_LANES * (row * r->n + column));
}

/* The columns by the step of a pose, for a row @a of the derivatives by P */
INLINE void
get_pose_columns (const V8 a[3], const V8 q[3], V8 to[BUNDLE_POSE])
{
  to[0] = q[1] * a[2] - q[2] * a[1];
  to[1] = q[2] * a[0] - q[0] * a[2];
  to[2] = q[0] * a[1] - q[1] * a[0];
  to[3] = a[0];
  to[4] = a[1];
  to[5] = a[2];
}

/* Jp: A R */
INLINE void
get_point_rows (const Eight *eight, const BundleConstants *c, V8 j[2][3])
{
  for (guint row = 0; row < 2; row++)
    for (guint k = 0; k < 3; k++)
      j[row][k] = eight->a[3 * row] * c->r[k]
                  + eight->a[3 * row + 1] * c->r[3 + k]
                  + eight->a[3 * row + 2] * c->r[6 + k];
}

/* A^T y: derivative by P */
INLINE void
multiply_back (const Eight *eight, V8 yx, V8 yy, V8 to[3])
{
  for (guint e = 0; e < 3; e++)
    to[e] = eight->a[e] * yx + eight->a[3 + e] * yy;
}

/* The columns of the Jacobian, 6 of the pose and @n of the lens, for x and y */
INLINE void
get_columns (const Rows *r, const Eight *eight, guint n, V8 *jx, V8 *jy)
{
  get_pose_columns (eight->a, eight->q, jx);
  get_pose_columns (eight->a + 3, eight->q, jy);
  for (guint e = 0; e < n; e++) {
    jx[BUNDLE_POSE + e] = load_by (r, eight, 0, e);
    jy[BUNDLE_POSE + e] = load_by (r, eight, 1, e);
  }
}

/* --- kernels ------------------------------------------------------------------------- */

/* Stores @n numbers of each of eight slots, @apart. */
INLINE void
put_eight (const V8 *from, guint n, gdouble *to, guint apart)
{
  for (guint i = 0; i < BUNDLE_LANES; i++)
    for (guint e = 0; e < n; e++)
      to[apart * i + e] = from[e][i];
}

/* V and gradient of the points */
INLINE void
put_point_sums (
    const Eight *eight, const BundleConstants *c, V8 rx, V8 ry, gdouble *to)
{
  V8 j[2][3], sums[9];

  get_point_rows (eight, c, j);
  for (guint k = 0, at = 0; k < 3; k++)
    for (guint l = k; l < 3; l++, at++)
      sums[at] = j[0][k] * j[0][l] + j[1][k] * j[1][l];
  for (guint k = 0; k < 3; k++)
    sums[6 + k] = j[0][k] * rx + j[1][k] * ry;
  put_eight (sums, 9, to, 9);
}

/* Sums of gradient and squares of a column */
typedef struct {
  V8 gradient, square;
} Linear;

/* Gradient and squares of the columns to @partial; sums of the points */
static void
sum_linear (
    BundleBackend *b, const BundleSegment *s, const Rows *r, gdouble *partial)
{
  const BundleConstants c = b->constants[s->camera];
  Linear sums[BUNDLE_LENS_UNKNOWNS] = { 0 };

  for (guint o = 0; o < s->n; o += BUNDLE_LANES) {
    const V8 rx = load (b->residual_x + s->first + o);
    const V8 ry = load (b->residual_y + s->first + o);
    V8 jx[BUNDLE_LENS_UNKNOWNS], jy[BUNDLE_LENS_UNKNOWNS];
    Eight eight;

    load_eight (r, o, &eight);
    get_columns (r, &eight, r->n, jx, jy);
    for (guint e = 0; e < BUNDLE_POSE + r->n; e++) {
      sums[e].gradient += jx[e] * rx + jy[e] * ry;
      sums[e].square += jx[e] * jx[e] + jy[e] * jy[e];
    }
    put_point_sums (&eight, &c, rx, ry, b->forward + 9 * (s->first + o));
  }
  for (guint e = 0; e < 2 * BUNDLE_STEP; e++)
    partial[e] = 0;
  for (guint e = 0; e < BUNDLE_POSE + r->n; e++) {
    const guint to = e < BUNDLE_POSE ? e : 9 + e - BUNDLE_POSE;

    partial[BUNDLE_LENS_GRADIENT + to] = sum_lanes (sums[e].gradient);
    partial[BUNDLE_LENS_SQUARES + to] = sum_lanes (sums[e].square);
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
  for (guint o = 0; o < s->n; o += BUNDLE_LANES) {
    const V8 w = load (weight + o);

    *(V8 *) (rx + o) = load (seen.x + o) * w;
    *(V8 *) (ry + o) = load (seen.y + o) * w;
    for (guint e = 0; e < 6; e++, to += BUNDLE_LANES)
      *(V8 *) to = load (seen.a[e] + o) * w;
    for (guint e = 0; e < 3; e++, to += BUNDLE_LANES)
      *(V8 *) to = load (seen.q[e] + o);
    for (guint row = 0; row < 2; row++)
      for (guint e = 0; e < lens->n; e++, to += BUNDLE_LANES)
        *(V8 *) to =
            load (seen.by[row * BUNDLE_LENS_COLUMNS + lens->parameter[e]] + o)
            * w;
  }
  sum_linear (b, s, &rows, partial);
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

/* y = Jc v */
INLINE void
multiply_columns (const Rows *r, const Eight *eight, const gdouble *v, V8 y[2])
{
  const V8 *q = eight->q;
  const V8 px = v[1] * q[2] - v[2] * q[1] + v[3];
  const V8 py = v[2] * q[0] - v[0] * q[2] + v[4];
  const V8 pz = v[0] * q[1] - v[1] * q[0] + v[5];

  for (guint row = 0; row < 2; row++) {
    const V8 *a = eight->a + 3 * row;

    y[row] = a[0] * px + a[1] * py + a[2] * pz;
    for (guint e = 0; e < r->n; e++)
      y[row] += load_by (r, eight, row, e) * v[9 + e];
  }
}

/* y = Jp u, for the steps @u of the points */
INLINE void
multiply_point (
    const Eight *eight, const BundleConstants *c, const V8 u[3], V8 y[2])
{
  const V8 px = c->r[0] * u[0] + c->r[1] * u[1] + c->r[2] * u[2];
  const V8 py = c->r[3] * u[0] + c->r[4] * u[1] + c->r[5] * u[2];
  const V8 pz = c->r[6] * u[0] + c->r[7] * u[1] + c->r[8] * u[2];

  for (guint row = 0; row < 2; row++)
    y[row] = eight->a[3 * row] * px + eight->a[3 * row + 1] * py
             + eight->a[3 * row + 2] * pz;
}

/* The steps of the points of eight slots from @slot on */
INLINE void
gather_eight (const BundleBackend *b, gsize slot, V8 u[3])
{
  const guint32 *slot_point = b->slot_point + slot;
  gdouble room[3][BUNDLE_LANES] __attribute__ ((aligned (64)));

  for (guint i = 0; i < BUNDLE_LANES; i++)
    for (guint k = 0; k < 3; k++)
      room[k][i] = b->point[BUNDLE_POINT * (gsize) slot_point[i] + k];
  for (guint k = 0; k < 3; k++)
    u[k] = load (room[k]);
}

static void
forward_lens (BundleBackend *b, const BundleSegment *s, const gdouble *v)
{
  const BundleConstants c = b->constants[s->camera];
  Rows r;

  find_rows (b, s, &r);
  for (guint o = 0; o < s->n; o += BUNDLE_LANES) {
    V8 y[2], p[3], x[BUNDLE_POINT] = { 0 };
    Eight eight;

    load_eight (&r, o, &eight);
    multiply_columns (&r, &eight, v, y);
    multiply_back (&eight, y[0], y[1], p);
    for (guint k = 0; k < 3; k++)
      x[k] = c.r[k] * p[0] + c.r[3 + k] * p[1] + c.r[6 + k] * p[2];
    put_eight (x, BUNDLE_POINT, b->forward + BUNDLE_POINT * (s->first + o),
        BUNDLE_POINT);
  }
}

/* partial = Jc^T (Jp point - Jc in) */
static void
backward_lens (BundleBackend *b, const BundleSegment *s, gdouble *partial)
{
  const BundleConstants c = b->constants[s->camera];
  V8 sums[BUNDLE_LENS_UNKNOWNS] = { 0 };
  gdouble v[BUNDLE_STEP];
  Rows r;

  find_rows (b, s, &r);
  bundle_lenses_expand (b, b->in, s, v);
  for (guint o = 0; o < s->n; o += BUNDLE_LANES) {
    V8 u[3], y[2], w[2], a[3], columns[BUNDLE_POSE];
    Eight eight;

    load_eight (&r, o, &eight);
    gather_eight (b, s->first + o, u);
    multiply_point (&eight, &c, u, w);
    multiply_columns (&r, &eight, v, y);
    w[0] -= y[0];
    w[1] -= y[1];
    multiply_back (&eight, w[0], w[1], a);
    get_pose_columns (a, eight.q, columns);
    for (guint e = 0; e < BUNDLE_POSE; e++)
      sums[e] += columns[e];
    for (guint e = 0; e < r.n; e++)
      sums[BUNDLE_POSE + e] +=
          load_by (&r, &eight, 0, e) * w[0] + load_by (&r, &eight, 1, e) * w[1];
  }
  for (guint e = 0; e < BUNDLE_STEP; e++)
    partial[e] = e < BUNDLE_POSE ? sum_lanes (sums[e]) : 0;
  for (guint e = 0; e < r.n; e++)
    partial[9 + e] = sum_lanes (sums[BUNDLE_POSE + e]);
}

/* I - Jp V^-1 Jp^T of eight slots from @slot on, 2 x 2 */
INLINE void
get_projections (const BundleBackend *b, gsize slot, const Eight *eight,
    const BundleConstants *c, V8 to[3])
{
  gdouble room[3][BUNDLE_LANES] __attribute__ ((aligned (64)));
  V8 j[2][3];

  get_point_rows (eight, c, j);
  for (guint i = 0; i < BUNDLE_LANES; i++) {
    const gdouble *inverse = b->inverse_v + 6 * (gsize) b->slot_point[slot + i];
    const gdouble jx[3] = { j[0][0][i], j[0][1][i], j[0][2][i] };
    const gdouble jy[3] = { j[1][0][i], j[1][1][i], j[1][2][i] };
    gdouble x[3], y[3];

    bundle_multiply_3 (inverse, jx[0], jx[1], jx[2], x);
    bundle_multiply_3 (inverse, jy[0], jy[1], jy[2], y);
    room[0][i] = 1 - (jx[0] * x[0] + jx[1] * x[1] + jx[2] * x[2]);
    room[1][i] = -(jy[0] * x[0] + jy[1] * x[1] + jy[2] * x[2]);
    room[2][i] = 1 - (jy[0] * y[0] + jy[1] * y[1] + jy[2] * y[2]);
  }
  for (guint k = 0; k < 3; k++)
    to[k] = load (room[k]);
}

/* Upper triangle of Jc^T (I - Jp V^-1 Jp^T) Jc, or Jc^T Jc if it is of U alone */
static void
sum_triangle_of (const BundleBackend *b, const BundleSegment *s, const Rows *r,
    gdouble *partial)
{
  const BundleConstants c = b->constants[s->camera];
  const guint size = BUNDLE_POSE + r->n, n_sums = size * (size + 1) / 2;
  V8 sums[BUNDLE_LENS_SUMS];

  memset (sums, 0, n_sums * sizeof *sums);
  for (guint o = 0; o < s->n; o += BUNDLE_LANES) {
    V8 jx[BUNDLE_LENS_UNKNOWNS], jy[BUNDLE_LENS_UNKNOWNS], projection[3];
    V8 *sum = sums;
    Eight eight;

    load_eight (r, o, &eight);
    get_columns (r, &eight, r->n, jx, jy);
    if (!b->lenses->alone)
      get_projections (b, s->first + o, &eight, &c, projection);
    for (guint i = 0; i < size; i++) {
      V8 x = jx[i], y = jy[i];

      if (!b->lenses->alone) {
        x = projection[0] * jx[i] + projection[1] * jy[i];
        y = projection[1] * jx[i] + projection[2] * jy[i];
      }
      for (guint k = i; k < size; k++)
        *sum++ += x * jx[k] + y * jy[k];
    }
  }
  for (guint i = 0; i < n_sums; i++)
    partial[i] = sum_lanes (sums[i]);
}

static void
schur_lens (BundleBackend *b, const BundleSegment *s, gdouble *partial)
{
  Rows r;

  find_rows (b, s, &r);
  sum_triangle_of (b, s, &r, partial);
}

/* The numbers of eight slots for bundle_schur_width (@d), with @n columns of the lens, then
 * zeros; @d is mostly constant after inlining */
INLINE void
put_products (const Rows *r, const Eight *eight, const BundleConstants *c,
    guint n, guint d, gdouble *to)
{
  const guint columns = d - BUNDLE_POSE;
  V8 p[2][3], w[12 + 3 * BUNDLE_LENS_COLUMNS];

  get_point_rows (eight, c, p);
  for (guint i = 0; i < 3; i++)
    w[i] = eight->q[i];
  for (guint k = 0; k < 3; k++) {
    for (guint i = 0; i < 3; i++)
      w[3 + 3 * k + i] = eight->a[i] * p[0][k] + eight->a[3 + i] * p[1][k];
    for (guint e = 0; e < columns; e++)
      w[12 + columns * k + e] = (V8){ 0 };
    for (guint e = 0; e < n; e++)
      w[12 + columns * k + e] = load_by (r, eight, 0, e) * p[0][k]
                                + load_by (r, eight, 1, e) * p[1][k];
  }
  put_eight (w, bundle_schur_width (d), to, bundle_schur_width (d));
}

static void
products_lens (const BundleBackend *b, const BundleSegment *s,
    BundleCpuSchur *schur, gdouble *partial)
{
  const BundleConstants c = b->constants[s->camera];
  const guint d = schur->d;
  guint n;
  Rows r;

  find_rows (b, s, &r);
  sum_triangle_of (b, s, &r, partial);
  n = schur->place[b->lenses->image[s->image].lens] == BUNDLE_SCHUR_NONE ? r.n
                                                                         : 0;
  for (guint o = 0; o < s->n; o += BUNDLE_LANES) {
    gdouble *to = b->forward + bundle_schur_width (d) * (s->first + o);
    Eight eight;

    load_eight (&r, o, &eight);
    if (d == BUNDLE_POSE)
      put_products (&r, &eight, &c, 0, BUNDLE_POSE, to);
    else
      put_products (&r, &eight, &c, n, d, to);
  }
}

/* Jp^T Jlens of eight slots, @n columns from @first on; @n is mostly constant after
 * inlining */
INLINE void
put_lens_products (const Rows *r, const Eight *eight, const BundleConstants *c,
    guint first, guint n, gdouble *to, guint apart)
{
  V8 p[2][3], w[3 * BUNDLE_LENS_COLUMNS];

  get_point_rows (eight, c, p);
  for (guint e = 0; e < n; e++) {
    const V8 jx = load_by (r, eight, 0, first + e);
    const V8 jy = load_by (r, eight, 1, first + e);

    for (guint k = 0; k < 3; k++)
      w[n * k + e] = jx * p[0][k] + jy * p[1][k];
  }
  put_eight (w, 3 * n, to, apart);
}

static void
lens_products (
    const BundleBackend *b, const BundleSegment *s, BundleCpuSchur *schur)
{
  const BundleConstants c = b->constants[s->camera];
  const guint first = schur->pass_first, apart = 3 * schur->pass;
  Rows r;

  find_rows (b, s, &r);
  if (schur->place[b->lenses->image[s->image].lens] == BUNDLE_SCHUR_NONE
      || r.n <= first)
    return;
  for (guint o = 0; o < s->n; o += BUNDLE_LANES) {
    const guint n = MIN (schur->pass, r.n - first);
    gdouble *to = b->forward + (gsize) apart * (s->first + o);
    Eight eight;

    load_eight (&r, o, &eight);
    switch (apart == 3 * n ? n : 0) {
#define CASE(n)                                                                \
  case n:                                                                      \
    put_lens_products (&r, &eight, &c, first, n, to, 3 * n);                   \
    break
      CASE (2);
      CASE (3);
      CASE (4);
      CASE (5);
      CASE (6);
#undef CASE
      default:
        put_lens_products (&r, &eight, &c, first, n, to, apart);
    }
  }
}

static gdouble
model_lens (BundleBackend *b, const BundleSegment *s, const gdouble *v)
{
  const BundleConstants c = b->constants[s->camera];
  V8 sum = { 0 };
  Rows r;

  find_rows (b, s, &r);
  for (guint o = 0; o < s->n; o += BUNDLE_LANES) {
    const V8 rx = load (b->residual_x + s->first + o);
    const V8 ry = load (b->residual_y + s->first + o);
    V8 u[3], y[2], z[2];
    Eight eight;

    load_eight (&r, o, &eight);
    gather_eight (b, s->first + o, u);
    multiply_point (&eight, &c, u, z);
    multiply_columns (&r, &eight, v, y);
    y[0] += z[0];
    y[1] += z[1];
    sum += -y[0] * (rx + 0.5 * y[0]) - y[1] * (ry + 0.5 * y[1]);
  }
  return sum_lanes (sum);
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
  .lens_products = lens_products,
};
