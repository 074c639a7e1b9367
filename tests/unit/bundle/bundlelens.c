/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The camera models and their derivatives against independent formulas in complex
 * numbers: the imaginary part of f(x + i h) / h is the derivative, without
 * cancellation. */
#include <complex.h>
#include <float.h>
#include <string.h>

#include "cuda/bundle/lens/observation.h"

#define STEP 1e-30
#define TOLERANCE 1e-10 /* relative to the largest number of a row */

typedef double complex Complex;

/* --- formulas from COLMAP's documentation ------------------------------------------ */

static void
fisheye (Complex *u, Complex *v)
{
  const Complex r = csqrt (*u * *u + *v * *v), theta = catan (r);

  *u *= theta / r;
  *v *= theta / r;
}

static void
distort (BundleLensModel model, const Complex *k, Complex *u, Complex *v)
{
  Complex x, y, s, uv, d = 0, r;

  if (model == BUNDLE_LENS_OPENCV_FISHEYE
      || model >= BUNDLE_LENS_SIMPLE_RADIAL_FISHEYE)
    fisheye (u, v);
  x = *u;
  y = *v;
  s = x * x + y * y;
  uv = x * y;
  switch (model) {
    case BUNDLE_LENS_SIMPLE_RADIAL:
    case BUNDLE_LENS_SIMPLE_RADIAL_FISHEYE:
      d = k[0] * s;
      break;
    case BUNDLE_LENS_RADIAL:
    case BUNDLE_LENS_RADIAL_FISHEYE:
    case BUNDLE_LENS_OPENCV:
      d = k[0] * s + k[1] * s * s;
      break;
    case BUNDLE_LENS_OPENCV_FISHEYE:
      d = k[0] * s + k[1] * s * s + k[2] * s * s * s + k[3] * s * s * s * s;
      break;
    case BUNDLE_LENS_FULL_OPENCV:
      d = (1 + k[0] * s + k[1] * s * s + k[4] * s * s * s)
              / (1 + k[5] * s + k[6] * s * s + k[7] * s * s * s)
          - 1;
      break;
    case BUNDLE_LENS_FOV:
      r = csqrt (s);
      d = catan (2 * r * ctan (k[0] / 2)) / (r * k[0]) - 1;
      break;
    case BUNDLE_LENS_THIN_PRISM_FISHEYE:
      d = k[0] * s + k[1] * s * s + k[4] * s * s * s + k[5] * s * s * s * s;
      break;
    default:
      break;
  }
  *u = x + x * d;
  *v = y + y * d;
  if (model == BUNDLE_LENS_OPENCV || model == BUNDLE_LENS_FULL_OPENCV
      || model == BUNDLE_LENS_THIN_PRISM_FISHEYE) {
    *u += 2 * k[2] * uv + k[3] * (s + 2 * x * x);
    *v += 2 * k[3] * uv + k[2] * (s + 2 * y * y);
  }
  if (model == BUNDLE_LENS_THIN_PRISM_FISHEYE) {
    *u += k[6] * s;
    *v += k[7] * s;
  }
}

/* @at: P in the frame of BAL, then the parameters */
static void
project (BundleLensModel model, const Complex *at, Complex image[2])
{
  const guint n = bundle_lens_info[model].n_focal;
  const Complex *k = at + 3;
  Complex u = at[0] / -at[2], v = -at[1] / -at[2];

  distort (model, k + n + 2, &u, &v);
  image[0] = k[0] * u + k[n];
  image[1] = k[n - 1] * v + k[n + 1];
}

/* --- comparison --------------------------------------------------------------------- */

static void
check_lens (BundleLensModel model, const gdouble *lens, const gdouble p[3])
{
  const BundleConstants c = { .r = { 1, 0, 0, 0, 1, 0, 0, 0, 1 },
    .t = { p[0], p[1], p[2] } };
  const guint n = 3 + bundle_lens_size (model);
  gdouble by[2][3 + BUNDLE_LENS_SIZE];
  BundleSight sight;

  bundle_sight (
      model, (int) bundle_lens_info[model].n_focal, lens, &c, 0, 0, 0, &sight);
  for (guint row = 0; row < 2; row++) {
    memcpy (by[row], sight.a + 3 * row, 3 * sizeof (gdouble));
    memcpy (by[row] + 3, sight.by[row], sizeof sight.by[row]);
  }
  for (guint row = 0; row < 2; row++) {
    gdouble true_by[3 + BUNDLE_LENS_SIZE], largest = 1;

    for (guint i = 0; i < n; i++) {
      Complex at[3 + BUNDLE_LENS_SIZE], image[2];

      for (guint k = 0; k < n; k++)
        at[k] = k < 3 ? p[k] : lens[k - 3];
      at[i] += STEP * I;
      project (model, at, image);
      true_by[i] = cimag (image[row]) / STEP;
      largest = MAX (largest, fabs (true_by[i]));
      g_assert_cmpfloat_with_epsilon (row ? sight.y : sight.x,
          creal (image[row]), TOLERANCE * (1 + fabs (creal (image[row]))));
    }
    for (guint i = 0; i < n; i++)
      if (!(fabs (by[row][i] - true_by[i]) <= TOLERANCE * largest))
        g_error ("%s at %g %g %g: row %u by %u is %.17g, must be %.17g",
            bundle_lens_info[model].name, p[0], p[1], p[2], row, i, by[row][i],
            true_by[i]);
  }
}

/* Near the axis, at the limits of the series, wide angles, behind the camera */
static const gdouble points[][3] = { { 1e-9, -2e-9, -1 }, { 1e-4, 2e-5, -1 },
  { 0.1, 0.05, -1 }, { 0.12, 0.12, -1 }, { 0.1225, 0.1225, -1 },
  { 0.3, -0.7, -2 }, { -1.5, 0.8, -1.1 }, { 4, 3, -1 }, { 30, -7, -1 },
  { 0.3, 0.2, 1.5 }, { 1e3, 2e3, -4e3 }, { 1e-3, 2e-3, -4e-3 } };

static void
test_derivatives (void)
{
  static const gdouble weak[BUNDLE_LENS_EXTRA] = { 0.03, -0.01, 1e-3, -2e-3,
    4e-3, 0.02, -0.01, 3e-3 };

  for (guint m = 0; m < BUNDLE_N_LENS_MODELS; m++)
    for (guint strength = 0; strength < 3; strength++) {
      const guint n = bundle_lens_info[m].n_focal;
      gdouble lens[BUNDLE_LENS_SIZE + 2] = { 500, 490, 320, 240 };

      lens[n] = 320;
      lens[n + 1] = 240;
      for (guint i = 0; i < bundle_lens_info[m].n_extra; i++)
        lens[n + 2 + i] = weak[i] * (strength == 2 ? 20 : strength);
      if (m == BUNDLE_LENS_FOV) /* 0 is tested below */
        lens[n + 2] = strength == 0 ? 1e-3 : strength == 1 ? 0.0999 : 1.2;
      for (guint i = 0; i < G_N_ELEMENTS (points); i++)
        check_lens ((BundleLensModel) m, lens, points[i]);
    }
}

/* On the axis and for a field of view of 0 the distortions are the identity. */
static void
test_limits (void)
{
  for (guint m = 0; m < BUNDLE_N_LENS_MODELS; m++) {
    BundleLens lens = { (BundleLensModel) m, 0, { 500, 500, 0, 0 } };
    const guint n = bundle_lens_info[m].n_focal;
    gdouble image[2];

    lens.parameters[n] = 320;
    lens.parameters[n + 1] = 240;
    bundle_lens_image (&lens, (const gdouble[3]){ 0, 0, -2 }, image);
    g_assert_cmpfloat (image[0], ==, 320);
    g_assert_cmpfloat (image[1], ==, 240);
    bundle_lens_image (&lens, (const gdouble[3]){ 0.02, 0.04, -2 }, image);
    g_assert_cmpfloat_with_epsilon (image[0], 325, 1e-2);
    g_assert_cmpfloat_with_epsilon (image[1], 230, 1e-2);
  }
}

static void
test_names (void)
{
  BundleLensModel model;

  for (guint m = 0; m < BUNDLE_N_LENS_MODELS; m++) {
    g_assert_true (bundle_lens_find (bundle_lens_info[m].name, &model));
    g_assert_cmpuint (model, ==, m);
    g_assert_null (bundle_lens_name_later (m));
    g_assert_cmpuint (bundle_lens_size (model), <=, BUNDLE_LENS_SIZE);
  }
  g_assert_false (bundle_lens_find ("EUCM", &model));
  g_assert_cmpstr (bundle_lens_name_later (16), ==, "EUCM");
  g_assert_null (bundle_lens_name_later (18));
}

/* From the series to far outside the picture, with the limits of each part */
static void
test_atan (void)
{
  for (gdouble r = 1e-3; r < 1e9; r *= 1.0001)
    g_assert_cmpfloat (
        fabs (bundle_atan (r) - atan (r)), <=, 2 * DBL_EPSILON * atan (r));
  g_assert_cmpfloat (bundle_atan (0), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/bundlelens/atan", test_atan);
  g_test_add_func ("/bundlelens/derivatives", test_derivatives);
  g_test_add_func ("/bundlelens/limits", test_limits);
  g_test_add_func ("/bundlelens/names", test_names);
  return g_test_run ();
}
