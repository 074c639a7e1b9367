/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The formulas of bundle adjustment, inline for host and device. Formulas of
 * an observation have no branches except those of the loss, so that
 * compilers vectorise loops over observations. */
#pragma once

#include <float.h>
#include <math.h>

#include "cuda/bundle/engine.h"

G_BEGIN_DECLS

#ifdef __CUDACC__
#define BUNDLE_FN static __host__ __device__ __forceinline__
#else
#define BUNDLE_FN static inline __attribute__ ((always_inline))
#endif

/* --- a camera ---------------------------------------------------------------- */

/**
 * BundleConstants: constants of a camera in the formulas
 * @r: R(w), row by row
 * @t: translation
 */
typedef struct {
  gdouble r[9];
  gdouble t[3];
  gdouble focal, k1, k2;
} BundleConstants;

/* Polynomial c0 + c1 x + c2 x^2 ... by Horner's scheme */
BUNDLE_FN gdouble
bundle_series (gdouble x, gdouble c0, gdouble c1, gdouble c2, gdouble c3,
    gdouble c4, gdouble c5)
{
  return ((((c5 * x + c4) * x + c3) * x + c2) * x + c1) * x + c0;
}

/* sin(a) / a, (1 - cos(a)) / a^2 and (a - sin(a)) / a^3 for a = sqrt(@x), by
 * series where a is 0 or the last one would lose digits. */
BUNDLE_FN void
bundle_rotation_factors (
    gdouble x, gdouble *sinc, gdouble *cosc, gdouble *third)
{
  gdouble a, half;

  if (x < 0.25) {
    *sinc = bundle_series (
        x, 1, -1. / 6, 1. / 120, -1. / 5040, 1. / 362880, -1. / 39916800);
    *cosc = bundle_series (x, 1. / 2, -1. / 24, 1. / 720, -1. / 40320,
        1. / 3628800, -1. / 479001600);
    *third = bundle_series (x, 1. / 6, -1. / 120, 1. / 5040, -1. / 362880,
        1. / 39916800, -1. / 6227020800.);
    return;
  }
  a = sqrt (x);
  half = sin (0.5 * a);
  *sinc = sin (a) / a;
  *cosc = 2 * half * half / x;
  *third = (1 - *sinc) / x;
}

BUNDLE_FN void
bundle_constants (
    const gdouble camera[BUNDLE_CAMERA_SIZE], BundleConstants *constants)
{
  gdouble x = camera[0], y = camera[1], z = camera[2];
  gdouble sinc, cosc, third;

  bundle_rotation_factors (x * x + y * y + z * z, &sinc, &cosc, &third);
  /* R = I + sinc [w]x + cosc [w]x^2 */
  constants->r[0] = 1 - cosc * (y * y + z * z);
  constants->r[1] = cosc * x * y - sinc * z;
  constants->r[2] = cosc * x * z + sinc * y;
  constants->r[3] = cosc * x * y + sinc * z;
  constants->r[4] = 1 - cosc * (x * x + z * z);
  constants->r[5] = cosc * y * z - sinc * x;
  constants->r[6] = cosc * x * z - sinc * y;
  constants->r[7] = cosc * y * z + sinc * x;
  constants->r[8] = 1 - cosc * (x * x + y * y);
  for (int i = 0; i < 3; i++)
    constants->t[i] = camera[BUNDLE_CAMERA_TRANSLATION + i];
  constants->focal = camera[BUNDLE_CAMERA_FOCAL];
  constants->k1 = camera[BUNDLE_CAMERA_K1];
  constants->k2 = camera[BUNDLE_CAMERA_K2];
}

/* Where the camera of a sensor is whose rig is at @rig. @sensor: constants of its pose */
BUNDLE_FN void
bundle_place_sensor (const BundleConstants *sensor, const BundleConstants *rig,
    BundleConstants *c)
{
  *c = *sensor;
  for (int i = 0; i < 3; i++) {
    const gdouble x = sensor->r[3 * i], y = sensor->r[3 * i + 1];
    const gdouble z = sensor->r[3 * i + 2];

    for (int k = 0; k < 3; k++)
      c->r[3 * i + k] = x * rig->r[k] + y * rig->r[3 + k] + z * rig->r[6 + k];
    c->t[i] += x * rig->t[0] + y * rig->t[1] + z * rig->t[2];
  }
}

/* The step of the camera of a sensor by that of its rig: @by, 6 x 6, row by row. With the
 * sensor's (R, t) a step (w, v) of the rig is the step (R w, R v + t x R w) of the camera
 * (bundle_move_camera()). */
BUNDLE_FN void
bundle_sensor_step (const BundleConstants *sensor, gdouble by[36])
{
  const gdouble *r = sensor->r, *t = sensor->t;

  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;

    for (int c = 0; c < 3; c++) {
      by[6 * i + c] = by[6 * (3 + i) + 3 + c] = r[3 * i + c];
      by[6 * i + 3 + c] = 0;
      by[6 * (3 + i) + c] = t[j] * r[3 * k + c] - t[k] * r[3 * j + c];
    }
  }
}

/* The left Jacobian of the rotation, row by row: R(w + dw) = exp([L dw]x) R(w) */
BUNDLE_FN void
bundle_left_jacobian (const gdouble w[3], gdouble l[9])
{
  gdouble x = w[0], y = w[1], z = w[2];
  gdouble sinc, cosc, third;

  bundle_rotation_factors (x * x + y * y + z * z, &sinc, &cosc, &third);
  /* I + cosc [w]x + third [w]x^2 */
  l[0] = 1 - third * (y * y + z * z);
  l[1] = third * x * y - cosc * z;
  l[2] = third * x * z + cosc * y;
  l[3] = third * x * y + cosc * z;
  l[4] = 1 - third * (x * x + z * z);
  l[5] = third * y * z - cosc * x;
  l[6] = third * x * z - cosc * y;
  l[7] = third * y * z + cosc * x;
  l[8] = 1 - third * (x * x + y * y);
}

/* The quaternion of the rotation @w: cosine and sine times axis of half the
 * angle */
BUNDLE_FN void
bundle_quaternion (const gdouble w[3], gdouble q[4])
{
  gdouble quarter = 0.25 * (w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
  gdouble sinc, cosc, third;

  bundle_rotation_factors (quarter, &sinc, &cosc, &third);
  q[0] = 1 - cosc * quarter;
  for (int i = 0; i < 3; i++)
    q[1 + i] = 0.5 * sinc * w[i];
}

/* A camera after a step. The step's first three elements turn the camera
 * about its position, in its own axes, and the next three move it along
 * them: P becomes exp([step]x) P + (step[3], step[4], step[5]). So a step
 * does not depend on origin and axes of the scene. A rotation of 0 keeps the
 * bits of w. */
BUNDLE_FN void
bundle_move_camera (
    const gdouble camera[9], const gdouble step[9], gdouble moved[9])
{
  const gdouble *t = camera + BUNDLE_CAMERA_TRANSLATION;
  gdouble x = step[0], y = step[1], z = step[2], square = x * x + y * y + z * z;
  gdouble sinc, cosc, third, turn[4], old[4], q[4], c[3], length, factor;

  for (int i = 0; i < 9; i++)
    moved[i] = i < BUNDLE_CAMERA_TRANSLATION ? camera[i] : camera[i] + step[i];
  if (!(square > 0))
    return;
  bundle_rotation_factors (square, &sinc, &cosc, &third);
  c[0] = y * t[2] - z * t[1];
  c[1] = z * t[0] - x * t[2];
  c[2] = x * t[1] - y * t[0];
  moved[3] += sinc * c[0] + cosc * (y * c[2] - z * c[1]);
  moved[4] += sinc * c[1] + cosc * (z * c[0] - x * c[2]);
  moved[5] += sinc * c[2] + cosc * (x * c[1] - y * c[0]);
  bundle_quaternion (step, turn);
  bundle_quaternion (camera, old);
  q[0] =
      turn[0] * old[0] - turn[1] * old[1] - turn[2] * old[2] - turn[3] * old[3];
  q[1] =
      turn[0] * old[1] + turn[1] * old[0] + turn[2] * old[3] - turn[3] * old[2];
  q[2] =
      turn[0] * old[2] + turn[2] * old[0] + turn[3] * old[1] - turn[1] * old[3];
  q[3] =
      turn[0] * old[3] + turn[3] * old[0] + turn[1] * old[2] - turn[2] * old[1];
  length = sqrt (q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  /* an angle of at most pi: q and -q are the same rotation */
  if (length > 0)
    factor = q[0] < 0 ? -2 * atan2 (length, -q[0]) / length
                      : 2 * atan2 (length, q[0]) / length;
  else
    factor = 2;
  for (int i = 0; i < 3; i++)
    moved[i] = factor * q[1 + i];
}

/* Adds the squares of a camera's step and of the camera to @squares[0] and [1], in
 * units that do not depend on those of picture and scene: focal lengths count as
 * relative changes, and rotations only in the step. @n: number of parameters */
BUNDLE_FN void
bundle_add_squares (
    const gdouble camera[9], const gdouble step[9], int n, gdouble squares[2])
{
  for (int i = 0; i < n; i++) {
    gdouble unit = i == BUNDLE_CAMERA_FOCAL ? fabs (camera[i]) : 1;

    if (unit > 0) {
      squares[0] += step[i] / unit * (step[i] / unit);
      if (i >= BUNDLE_CAMERA_TRANSLATION)
        squares[1] += camera[i] / unit * (camera[i] / unit);
    }
  }
}

/* --- an observation ----------------------------------------------------------- */

/**
 * BundleImage: a point as seen by a camera
 * @q: P = R X + t, the point in the camera's frame
 * @p: -(P.x, P.y) / P.z
 * @inverse: -1 / P.z
 * @n: |p|^2
 * @d: 1 + k1 n + k2 n^2
 */
typedef struct {
  gdouble q[3];
  gdouble p[2];
  gdouble inverse;
  gdouble n, d;
} BundleImage;

BUNDLE_FN BundleImage
bundle_image (const BundleConstants *c, gdouble x, gdouble y, gdouble z)
{
  BundleImage image;

  image.q[0] = c->r[0] * x + c->r[1] * y + c->r[2] * z + c->t[0];
  image.q[1] = c->r[3] * x + c->r[4] * y + c->r[5] * z + c->t[1];
  image.q[2] = c->r[6] * x + c->r[7] * y + c->r[8] * z + c->t[2];
  image.inverse = -1 / image.q[2];
  image.p[0] = image.q[0] * image.inverse;
  image.p[1] = image.q[1] * image.inverse;
  image.n = image.p[0] * image.p[0] + image.p[1] * image.p[1];
  image.d = 1 + image.n * (c->k1 + image.n * c->k2);
  return image;
}

/* The residual f d p - @observed, pixels */
BUNDLE_FN void
bundle_residual (const BundleConstants *c, const BundleImage *image,
    gdouble observed_x, gdouble observed_y, gdouble *rx, gdouble *ry)
{
  gdouble fd = c->focal * image->d;

  *rx = fd * image->p[0] - observed_x;
  *ry = fd * image->p[1] - observed_y;
}

/* B = d(f d p) / dp, symmetric */
BUNDLE_FN void
bundle_distortion (const BundleConstants *c, const BundleImage *image,
    gdouble *xx, gdouble *xy, gdouble *yy)
{
  gdouble fd = c->focal * image->d;
  gdouble g = 2 * c->focal * (c->k1 + 2 * c->k2 * image->n);

  *xx = fd + g * image->p[0] * image->p[0];
  *xy = g * image->p[0] * image->p[1];
  *yy = fd + g * image->p[1] * image->p[1];
}

/* All 24 derivatives. @jc: 2 rows of 9, by the step of bundle_move_camera();
 * @jp: 2 rows of 3, by the point */
BUNDLE_FN void
bundle_derivatives (const BundleConstants *c, const BundleImage *image,
    gdouble jc[18], gdouble jp[6])
{
  gdouble xx, xy, yy;
  gdouble a[6]; /* by P: B (-1 / P.z) [I | p] */
  gdouble fn = c->focal * image->n;

  bundle_distortion (c, image, &xx, &xy, &yy);
  a[0] = xx * image->inverse;
  a[1] = xy * image->inverse;
  a[2] = a[0] * image->p[0] + a[1] * image->p[1];
  a[3] = a[1];
  a[4] = yy * image->inverse;
  a[5] = a[3] * image->p[0] + a[4] * image->p[1];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < 2; i++) {
    gdouble ax = a[3 * i], ay = a[3 * i + 1], az = a[3 * i + 2];

    /* -a [q]x = q x a, as a row */
    jc[9 * i + 0] = image->q[1] * az - image->q[2] * ay;
    jc[9 * i + 1] = image->q[2] * ax - image->q[0] * az;
    jc[9 * i + 2] = image->q[0] * ay - image->q[1] * ax;
    jc[9 * i + 3] = ax;
    jc[9 * i + 4] = ay;
    jc[9 * i + 5] = az;
    jc[9 * i + 6] = image->d * image->p[i];
    jc[9 * i + 7] = fn * image->p[i];
    jc[9 * i + 8] = fn * image->n * image->p[i];
    jp[3 * i + 0] = ax * c->r[0] + ay * c->r[3] + az * c->r[6];
    jp[3 * i + 1] = ax * c->r[1] + ay * c->r[4] + az * c->r[7];
    jp[3 * i + 2] = ax * c->r[2] + ay * c->r[5] + az * c->r[8];
  }
}

/* Jc v without forming Jc. @v: the camera's part of a vector */
BUNDLE_FN void
bundle_forward (const BundleConstants *c, const BundleImage *image,
    const gdouble v[9], gdouble *yx, gdouble *yy)
{
  const gdouble *q = image->q, *p = image->p;
  gdouble px = v[1] * q[2] - v[2] * q[1] + v[3];
  gdouble py = v[2] * q[0] - v[0] * q[2] + v[4];
  gdouble pz = v[0] * q[1] - v[1] * q[0] + v[5];
  gdouble ux = (px + p[0] * pz) * image->inverse;
  gdouble uy = (py + p[1] * pz) * image->inverse;
  gdouble s = image->d * v[6] + c->focal * image->n * (v[7] + image->n * v[8]);
  gdouble bxx, bxy, byy;

  bundle_distortion (c, image, &bxx, &bxy, &byy);
  *yx = bxx * ux + bxy * uy + s * p[0];
  *yy = bxy * ux + byy * uy + s * p[1];
}

/* Jp v without forming Jp. @v: the point's part of a vector */
BUNDLE_FN void
bundle_forward_point (const BundleConstants *c, const BundleImage *image,
    gdouble vx, gdouble vy, gdouble vz, gdouble *yx, gdouble *yy)
{
  gdouble px = c->r[0] * vx + c->r[1] * vy + c->r[2] * vz;
  gdouble py = c->r[3] * vx + c->r[4] * vy + c->r[5] * vz;
  gdouble pz = c->r[6] * vx + c->r[7] * vy + c->r[8] * vz;
  gdouble ux = (px + image->p[0] * pz) * image->inverse;
  gdouble uy = (py + image->p[1] * pz) * image->inverse;
  gdouble bxx, bxy, byy;

  bundle_distortion (c, image, &bxx, &bxy, &byy);
  *yx = bxx * ux + bxy * uy;
  *yy = bxy * ux + byy * uy;
}

/* Jc^T y without forming Jc. */
BUNDLE_FN void
bundle_backward (const BundleConstants *c, const BundleImage *image, gdouble yx,
    gdouble yy, gdouble w[9])
{
  const gdouble *q = image->q, *p = image->p;
  gdouble bxx, bxy, byy, ax, ay, az, s;

  bundle_distortion (c, image, &bxx, &bxy, &byy);
  ax = (bxx * yx + bxy * yy) * image->inverse;
  ay = (bxy * yx + byy * yy) * image->inverse;
  az = p[0] * ax + p[1] * ay;
  s = p[0] * yx + p[1] * yy;
  w[0] = q[1] * az - q[2] * ay;
  w[1] = q[2] * ax - q[0] * az;
  w[2] = q[0] * ay - q[1] * ax;
  w[3] = ax;
  w[4] = ay;
  w[5] = az;
  w[6] = image->d * s;
  w[7] = c->focal * image->n * s;
  w[8] = image->n * w[7];
}

/* Jp^T y without forming Jp. */
BUNDLE_FN void
bundle_backward_point (const BundleConstants *c, const BundleImage *image,
    gdouble yx, gdouble yy, gdouble w[3])
{
  gdouble bxx, bxy, byy, ax, ay, az;

  bundle_distortion (c, image, &bxx, &bxy, &byy);
  ax = (bxx * yx + bxy * yy) * image->inverse;
  ay = (bxy * yx + byy * yy) * image->inverse;
  az = image->p[0] * ax + image->p[1] * ay;
  w[0] = c->r[0] * ax + c->r[3] * ay + c->r[6] * az;
  w[1] = c->r[1] * ax + c->r[4] * ay + c->r[7] * az;
  w[2] = c->r[2] * ax + c->r[5] * ay + c->r[8] * az;
}

/* --- robust losses ------------------------------------------------------------- */

/* rho(s) of a squared residual @s, and sqrt(rho'(s)), the factor of residual
 * and derivatives. The second-order correction of B. Triggs et al., Bundle
 * Adjustment: A Modern Synthesis (Ceres's Corrector), is left out, because
 * rho'' is nowhere positive. */
BUNDLE_FN gdouble
bundle_loss (BundleLoss loss, gdouble scale, gdouble s, gdouble *weight)
{
  gdouble b = scale * scale, r, v;

  switch (loss) {
    case BUNDLE_LOSS_HUBER:
      r = sqrt (s);
      *weight = s > b ? sqrt (scale / r) : 1;
      return s > b ? 2 * scale * r - b : s;
    case BUNDLE_LOSS_CAUCHY:
      v = 1 + s / b;
      *weight = 1 / sqrt (v);
      return b * log (v);
    case BUNDLE_LOSS_TUKEY:
      v = s > b ? 0 : 1 - s / b;
      *weight = v;
      return b / 3 * (1 - v * v * v);
    case BUNDLE_LOSS_SOFT_L1:
      v = sqrt (1 + s / b);
      *weight = 1 / sqrt (v);
      return 2 * s / (1 + v); /* 2 b (v - 1), without its cancellation */
    default:
      *weight = 1;
      return s;
  }
}

/* --- damping and small matrices ------------------------------------------------ */

/* Levenberg-Marquardt's addition to a diagonal element. @square: the
 * element, a sum of squared derivatives; @scale: of its column, frozen at
 * the start */
BUNDLE_FN gdouble
bundle_damping (gdouble square, gdouble scale, gdouble radius)
{
  gdouble d = square * scale * scale;

  d = d < 1e-6 ? 1e-6 : d > 1e32 ? 1e32 : d;
  return d / (scale * scale * radius);
}

/* Mean diagonal element of a point's block, stored like bundle_invert_3()'s. The
 * three unknowns of a point have this damping, which does not depend on the axes of
 * the scene. */
BUNDLE_FN gdouble
bundle_mean_square (const gdouble v[6])
{
  return (v[0] + v[3] + v[5]) / 3;
}

/* 1 / (1 + |column|) */
BUNDLE_FN gdouble
bundle_column_scale (gdouble square)
{
  return 1 / (1 + sqrt (square));
}

/* A pivot of a Cholesky factorisation below this share of its diagonal
 * element is rounding noise: its row is left out, as for a constant unknown. */
#define BUNDLE_PIVOT 1e-13

/* Inverse of a symmetric positive definite 3 x 3 matrix, stored as the
 * elements 00, 01, 02, 11, 12, 22 */
BUNDLE_FN void
bundle_invert_3 (const gdouble a[6], gdouble inverse[6])
{
  /* a = L D L^T, i.: the elements of the inverse of L */
  gdouble d0 = a[0] > 0 ? 1 / a[0] : 0;
  gdouble l10 = a[1] * d0, l20 = a[2] * d0;
  gdouble p1 = a[3] - l10 * a[1];
  gdouble d1 = p1 > BUNDLE_PIVOT * a[3] ? 1 / p1 : 0;
  gdouble e = a[4] - l10 * a[2];
  gdouble l21 = e * d1;
  gdouble p2 = a[5] - l20 * a[2] - l21 * e;
  gdouble d2 = p2 > BUNDLE_PIVOT * a[5] ? 1 / p2 : 0;
  gdouble i10 = -l10, i21 = -l21, i20 = l10 * l21 - l20;

  inverse[0] = d0 + i10 * i10 * d1 + i20 * i20 * d2;
  inverse[1] = i10 * d1 + i20 * i21 * d2;
  inverse[2] = i20 * d2;
  inverse[3] = d1 + i21 * i21 * d2;
  inverse[4] = i21 * d2;
  inverse[5] = d2;
}

/* Inverts a symmetric positive definite matrix of @n rows of @stride in place, both
 * triangles. Rows whose pivot is rounding noise are left out.
 *
 * a = L D L^T in the lower triangle; the inverse of L replaces L, D^-1 the
 * diagonal. Then a^-1 = L^-T D^-1 L^-1. */
BUNDLE_FN void
bundle_invert (gdouble *a, guint n, guint stride)
{
#define A(i, j) a[(gsize) (i) *stride + (j)]
  for (guint j = 0; j < n; j++) {
    gdouble diagonal = A (j, j), pivot = diagonal;

    for (guint k = 0; k < j; k++)
      pivot -= A (j, k) * A (j, k) * A (k, k);
    for (guint i = j + 1; i < n; i++) {
      gdouble sum = A (i, j);

      for (guint k = 0; k < j; k++)
        sum -= A (i, k) * A (j, k) * A (k, k);
      A (i, j) = sum;
    }
    pivot = pivot > BUNDLE_PIVOT * diagonal ? pivot : 0;
    for (guint i = j + 1; i < n; i++)
      A (i, j) = pivot > 0 ? A (i, j) / pivot : 0;
    /* keeps D while rows below need it */
    A (j, j) = pivot;
  }
  /* L^-1 */
  for (guint j = 0; j < n; j++)
    for (guint i = j + 1; i < n; i++) {
      gdouble sum = -A (i, j);

      for (guint k = j + 1; k < i; k++)
        sum -= A (i, k) * A (k, j);
      A (i, j) = sum;
    }
  for (guint j = 0; j < n; j++)
    A (j, j) = A (j, j) > 0 ? 1 / A (j, j) : 0;
  /* row i of the product needs only rows i.. of the factors */
  for (guint i = 0; i < n; i++)
    for (guint j = i; j < n; j++) {
      gdouble sum = (i == j ? 1 : A (j, i)) * A (j, j);

      for (guint k = j + 1; k < n; k++)
        sum += A (k, i) * A (k, j) * A (k, k);
      A (i, j) = sum;
    }
  for (guint i = 0; i < n; i++)
    for (guint j = 0; j < i; j++)
      A (i, j) = A (j, i);
#undef A
}

BUNDLE_FN void
bundle_multiply_3 (
    const gdouble a[6], gdouble x, gdouble y, gdouble z, gdouble b[3])
{
  b[0] = a[0] * x + a[1] * y + a[2] * z;
  b[1] = a[1] * x + a[3] * y + a[4] * z;
  b[2] = a[2] * x + a[4] * y + a[5] * z;
}

G_END_DECLS
