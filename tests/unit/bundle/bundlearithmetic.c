/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Projection and derivatives of bundle adjustment, compared with automatic
 * differentiation by dual numbers of an independent implementation of the
 * camera model, with Rodrigues' formula. */
#include "cuda/bundle/arithmetic.h"

#include <string.h>

#define N 12 /* unknowns: 9 of the camera, 3 of the point */

typedef struct {
  gdouble v, d[N];
} Dual;

static Dual
constant (gdouble v)
{
  return (Dual){ .v = v };
}

static Dual
unknown (gdouble v, guint i)
{
  Dual a = constant (v);

  a.d[i] = 1;
  return a;
}

/* f(a), where @derivative is f'(a) */
static Dual
chain (Dual a, gdouble value, gdouble derivative)
{
  a.v = value;
  for (guint i = 0; i < N; i++)
    a.d[i] *= derivative;
  return a;
}

static Dual
add (Dual a, Dual b)
{
  a.v += b.v;
  for (guint i = 0; i < N; i++)
    a.d[i] += b.d[i];
  return a;
}

static Dual
mul (Dual a, Dual b)
{
  for (guint i = 0; i < N; i++)
    a.d[i] = a.d[i] * b.v + a.v * b.d[i];
  a.v *= b.v;
  return a;
}

static Dual
divide (Dual a, Dual b)
{
  return mul (a, chain (b, 1 / b.v, -1 / (b.v * b.v)));
}

static Dual
negate (Dual a)
{
  return chain (a, -a.v, -1);
}

static void
cross (const Dual a[3], const Dual b[3], Dual c[3])
{
  for (guint i = 0; i < 3; i++) {
    guint j = (i + 1) % 3, k = (i + 2) % 3;

    c[i] = add (mul (a[j], b[k]), negate (mul (a[k], b[j])));
  }
}

static Dual
dot (const Dual a[3], const Dual b[3])
{
  return add (add (mul (a[0], b[0]), mul (a[1], b[1])), mul (a[2], b[2]));
}

/* X cos a + (u x X) sin a + u (u . X) (1 - cos a); to first order at a = 0 */
static void
rotate (const Dual w[3], const Dual x[3], Dual q[3])
{
  Dual square = dot (w, w), angle, u[3], c[3], along;

  if (square.v == 0) {
    cross (w, x, c);
    for (guint i = 0; i < 3; i++)
      q[i] = add (x[i], c[i]);
    return;
  }
  angle = chain (square, sqrt (square.v), 0.5 / sqrt (square.v));
  for (guint i = 0; i < 3; i++)
    u[i] = divide (w[i], angle);
  cross (u, x, c);
  along = mul (
      dot (u, x), chain (angle, 2 * pow (sin (angle.v / 2), 2), sin (angle.v)));
  for (guint i = 0; i < 3; i++)
    q[i] = add (add (mul (x[i], chain (angle, cos (angle.v), -sin (angle.v))),
                    mul (c[i], chain (angle, sin (angle.v), cos (angle.v)))),
        mul (u[i], along));
}

/* The unknowns are those of a step from @camera: its first six elements are 0. */
static void
project (const gdouble camera[9], const gdouble point[3], Dual image[2])
{
  Dual c[9], x[3], step[6], q[3], moved[3], p[2], n, d;

  for (guint i = 0; i < 9; i++)
    c[i] = i < 6 ? constant (camera[i]) : unknown (camera[i], i);
  for (guint i = 0; i < 6; i++)
    step[i] = unknown (0, i);
  for (guint i = 0; i < 3; i++)
    x[i] = unknown (point[i], 9 + i);
  rotate (c, x, moved);
  for (guint i = 0; i < 3; i++)
    moved[i] = add (moved[i], c[3 + i]);
  rotate (step, moved, q);
  for (guint i = 0; i < 3; i++)
    q[i] = add (q[i], step[3 + i]);
  for (guint i = 0; i < 2; i++)
    p[i] = negate (divide (q[i], q[2]));
  n = add (mul (p[0], p[0]), mul (p[1], p[1]));
  d = add (constant (1), mul (n, add (c[7], mul (n, c[8]))));
  for (guint i = 0; i < 2; i++)
    image[i] = mul (mul (c[6], d), p[i]);
}

static void
assert_near (gdouble a, gdouble b, gdouble scale)
{
  if (fabs (a - b) > 1e-11 * scale)
    g_error ("%.17g, expected %.17g within %g", a, b, 1e-11 * scale);
}

/* All functions of an observation, for one camera and point. */
static void
check_observation (const gdouble camera[9], const gdouble point[3])
{
  BundleConstants constants;
  BundleImage image;
  Dual expected[2];
  gdouble jc[18], jp[6], at[2], r[2], largest = 0;
  gdouble v[9], y[2], w[9];

  project (camera, point, expected);
  bundle_constants (camera, &constants);
  image = bundle_image (&constants, point[0], point[1], point[2]);
  bundle_residual (&constants, &image, 3, -4, &r[0], &r[1]);
  bundle_derivatives (&constants, &image, jc, jp);
  bundle_project (camera, point, at);
  for (guint i = 0; i < 2; i++)
    for (guint j = 0; j < N; j++)
      largest = MAX (largest, fabs (expected[i].d[j]));
  for (guint i = 0; i < 2; i++) {
    assert_near (at[i], expected[i].v, fabs (expected[i].v) + largest);
    assert_near (r[i], at[i] - (i ? -4 : 3), fabs (at[i]) + 4);
  }
  for (guint i = 0; i < 2; i++)
    for (guint j = 0; j < N; j++)
      assert_near (
          j < 9 ? jc[9 * i + j] : jp[3 * i + j - 9], expected[i].d[j], largest);

  /* products without forming the matrices */
  for (guint i = 0; i < 9; i++)
    v[i] = g_test_rand_double_range (-1, 1);
  bundle_forward (&constants, &image, v, &y[0], &y[1]);
  for (guint i = 0; i < 2; i++) {
    gdouble sum = 0;

    for (guint j = 0; j < 9; j++)
      sum += jc[9 * i + j] * v[j];
    assert_near (y[i], sum, 9 * largest);
  }
  bundle_forward_point (&constants, &image, v[0], v[1], v[2], &y[0], &y[1]);
  for (guint i = 0; i < 2; i++)
    assert_near (y[i],
        jp[3 * i] * v[0] + jp[3 * i + 1] * v[1] + jp[3 * i + 2] * v[2],
        9 * largest);
  bundle_backward (&constants, &image, v[0], v[1], w);
  for (guint j = 0; j < 9; j++)
    assert_near (w[j], jc[j] * v[0] + jc[9 + j] * v[1], 2 * largest);
  bundle_backward_point (&constants, &image, v[0], v[1], w);
  for (guint j = 0; j < 3; j++)
    assert_near (w[j], jp[j] * v[0] + jp[3 + j] * v[1], 2 * largest);
}

static void
make_camera (gdouble angle, gboolean negative, gdouble camera[9])
{
  gdouble axis[3], length = 0;

  for (guint i = 0; i < 3; i++) {
    axis[i] = g_test_rand_double_range (-1, 1);
    length += axis[i] * axis[i];
  }
  for (guint i = 0; i < 3; i++) {
    camera[i] = axis[i] * angle / sqrt (length);
    camera[3 + i] = g_test_rand_double_range (-1, 1);
  }
  camera[6] = g_test_rand_double_range (300, 900) * (negative ? -1 : 1);
  camera[7] = g_test_rand_double_range (-0.3, 0.3);
  camera[8] = g_test_rand_double_range (-0.1, 0.1);
}

static void
test_derivatives (void)
{
  static const gdouble angles[] = { 0, 1e-300, 1e-150, 1e-12, 1e-8, 1e-5, 1e-3,
    0.1, 0.4999, 0.5, 0.5001, 1, 2, 3, G_PI - 1e-3, G_PI - 1e-8, G_PI,
    G_PI + 1e-8, G_PI + 1e-3, 4, 2 * G_PI - 1e-6, 2 * G_PI, 7, 20 };
  guint n_behind = 0;

  for (guint i = 0; i < 200 * G_N_ELEMENTS (angles); i++) {
    gdouble camera[9], point[3], depth;
    BundleConstants constants;

    make_camera (angles[i % G_N_ELEMENTS (angles)], i % 3 == 0, camera);
    bundle_constants (camera, &constants);
    do {
      for (guint j = 0; j < 3; j++)
        point[j] = g_test_rand_double_range (-5, 5);
      depth = constants.r[6] * point[0] + constants.r[7] * point[1]
              + constants.r[8] * point[2] + camera[5];
    } while (fabs (depth) < 0.5);
    n_behind += depth > 0;
    check_observation (camera, point);
  }
  g_assert_cmpuint (n_behind, >, 1000);
}

/* A step turns and moves the camera in its own axes: P becomes exp([step]x) P and
 * the move. A step of L dw gives w + dw, to first order. */
static void
test_steps (void)
{
  static const gdouble angles[] = { 0, 1e-12, 1e-3, 0.5, 2, G_PI - 1e-9, G_PI,
    G_PI + 1e-3, 6, 7 };
  static const gdouble turns[] = { 0, 1e-170, 1e-9, 1e-3, 0.7, 3 };

  for (guint i = 0; i < 40 * G_N_ELEMENTS (angles) * G_N_ELEMENTS (turns);
       i++) {
    gdouble camera[9], step[9], moved[9], bent[9], point[3], l[9], length = 0;
    Dual w[3], x[3], p[3], q[3], turn[3];

    make_camera (angles[i % G_N_ELEMENTS (angles)], FALSE, camera);
    make_camera (
        turns[i / G_N_ELEMENTS (angles) % G_N_ELEMENTS (turns)], FALSE, step);
    bundle_move_camera (camera, step, moved);
    for (guint k = 0; k < 3; k++) {
      point[k] = g_test_rand_double_range (-5, 5);
      w[k] = constant (camera[k]);
      turn[k] = constant (step[k]);
      x[k] = constant (point[k]);
      length += moved[k] * moved[k];
    }
    rotate (w, x, p);
    for (guint k = 0; k < 3; k++)
      p[k].v += camera[3 + k];
    rotate (turn, p, q);
    for (guint k = 0; k < 3; k++)
      w[k] = constant (moved[k]);
    rotate (w, x, p);
    for (guint k = 0; k < 3; k++)
      assert_near (p[k].v + moved[3 + k], q[k].v + step[3 + k], 20);
    for (guint k = 6; k < 9; k++)
      g_assert_cmpfloat (moved[k], ==, camera[k] + step[k]);
    if (fabs (turn[0].v) < 1e-100) /* its square is 0 */
      g_assert_cmpmem (moved, 24, camera, 24);
    else
      g_assert_cmpfloat (sqrt (length), <, G_PI + 1e-9);

    bundle_left_jacobian (camera, l);
    for (guint k = 0; k < 3; k++)
      w[k] = constant (camera[k] + 1e-5 * step[3 + k]);
    rotate (w, x, q);
    memset (step, 0, 3 * sizeof *step);
    for (guint k = 0; k < 9; k++)
      step[k / 3] += l[k] * (w[k % 3].v - camera[k % 3]);
    memset (step + 3, 0, 6 * sizeof *step);
    bundle_move_camera (camera, step, bent);
    for (guint k = 0; k < 3; k++)
      w[k] = constant (bent[k]);
    rotate (w, x, p);
    for (guint k = 0; k < 3; k++)
      g_assert_cmpfloat (fabs (p[k].v - q[k].v), <, 1e-8);
  }
}

/* R is a rotation: R^T R = I and det R = 1 */
static void
test_rotation (void)
{
  for (guint i = 0; i < 1000; i++) {
    gdouble camera[9];
    BundleConstants c;

    make_camera (g_test_rand_double_range (0, 7), FALSE, camera);
    bundle_constants (camera, &c);
    for (guint a = 0; a < 3; a++)
      for (guint b = 0; b < 3; b++)
        assert_near (
            c.r[a] * c.r[b] + c.r[3 + a] * c.r[3 + b] + c.r[6 + a] * c.r[6 + b],
            a == b, 1);
    assert_near (c.r[0] * (c.r[4] * c.r[8] - c.r[5] * c.r[7])
                     - c.r[1] * (c.r[3] * c.r[8] - c.r[5] * c.r[6])
                     + c.r[2] * (c.r[3] * c.r[7] - c.r[4] * c.r[6]),
        1, 1);
  }
}

/* The square of the weight is the derivative; rho is about s near 0 and
 * never larger. */
static void
test_losses (void)
{
  static const BundleLoss losses[] = { BUNDLE_LOSS_NONE, BUNDLE_LOSS_HUBER,
    BUNDLE_LOSS_CAUCHY, BUNDLE_LOSS_TUKEY, BUNDLE_LOSS_SOFT_L1 };

  for (guint i = 0; i < G_N_ELEMENTS (losses); i++)
    for (gdouble scale = 0.5; scale < 10; scale *= 3)
      for (gdouble s = 1e-6; s < 1e3; s *= 1.7) {
        gdouble weight, other, h = 1e-5 * s;
        gdouble rho = bundle_loss (losses[i], scale, s, &weight);
        gdouble slope = (bundle_loss (losses[i], scale, s + h, &other)
                            - bundle_loss (losses[i], scale, s - h, &other))
                        / (2 * h);

        /* the slope is continuous, but has a corner at s = scale^2 */
        g_assert_cmpfloat (fabs (slope - weight * weight), <,
            2e-5 + 1e-15 * scale * scale / h);
        g_assert_cmpfloat (rho, <=, s * (1 + 1e-12));
        if (s < 1e-4 * scale * scale)
          g_assert_cmpfloat (rho, >, s * (1 - 1e-4));
      }
}

static void
test_inverse (void)
{
  for (guint i = 0; i < 1000; i++) {
    gdouble j[12], a[6] = { 0 }, inverse[6], b[3];
    guint rows = i % 2 ? 4 : 1 + i % 3; /* fewer than 3: singular */

    for (guint k = 0; k < G_N_ELEMENTS (j); k++)
      j[k] = g_test_rand_double_range (-1, 1);
    for (guint k = 0; k < rows; k++) {
      const gdouble *row = j + 3 * k;
      const gdouble square[6] = { row[0] * row[0], row[0] * row[1],
        row[0] * row[2], row[1] * row[1], row[1] * row[2], row[2] * row[2] };

      for (guint e = 0; e < 6; e++)
        a[e] += square[e];
    }
    bundle_invert_3 (a, inverse);
    for (guint e = 0; e < 6; e++)
      g_assert_true (isfinite (inverse[e]));
    /* A A' A = A */
    for (guint column = 0; column < 3 && rows == 4; column++) {
      const gdouble *full[3] = { (gdouble[]){ a[0], a[1], a[2] },
        (gdouble[]){ a[1], a[3], a[4] }, (gdouble[]){ a[2], a[4], a[5] } };
      const gdouble *c = full[column];
      gdouble size = 0;

      bundle_multiply_3 (inverse, c[0], c[1], c[2], b);
      for (guint k = 0; k < 3; k++)
        size = MAX (size, fabs (b[k]));
      bundle_multiply_3 (a, b[0], b[1], b[2], b);
      for (guint k = 0; k < 3; k++)
        g_assert_cmpfloat (fabs (b[k] - c[k]), <, 1e-6 * (size + 1));
    }
  }
}

static void
test_damping (void)
{
  gdouble scale = bundle_column_scale (9);

  g_assert_cmpfloat (scale, ==, 0.25);
  g_assert_cmpfloat (bundle_damping (9, scale, 1e4), ==, 9 / 1e4);
  g_assert_cmpfloat (bundle_damping (0, 1, 4), ==, 1e-6 / 4);
  g_assert_cmpfloat (bundle_damping (1e40, 1, 1), ==, 1e32);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/bundle/arithmetic/derivatives", test_derivatives);
  g_test_add_func ("/bundle/arithmetic/rotation", test_rotation);
  g_test_add_func ("/bundle/arithmetic/steps", test_steps);
  g_test_add_func ("/bundle/arithmetic/losses", test_losses);
  g_test_add_func ("/bundle/arithmetic/inverse", test_inverse);
  g_test_add_func ("/bundle/arithmetic/damping", test_damping);
  return g_test_run ();
}
