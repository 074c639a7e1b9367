/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The homography as text, applied, and fitted to points. */
#include "pbfcalibration.h"

#include <locale.h>
#include <math.h>
#include <string.h>

static void
test_parse (void)
{
  static const gchar *const same[] = {
    "0.005,0,0,0,0.005,0,0,0,1",
    " 5e-3 0 0\n0 .005 0\t0 0 1 ",
    "0.005, 0, 0; 0, 0.005, 0 ; 0 , 0, 1\n",
  };

  for (guint i = 0; i < G_N_ELEMENTS (same); i++) {
    PbfCalibration c;
    GError *error = NULL;
    gdouble x, y;

    g_assert_true (pbf_calibration_parse (same[i], &c, &error));
    g_assert_no_error (error);
    g_assert_true (pbf_calibration_apply (&c, 1000, -400, &x, &y));
    g_assert_cmpfloat (x, ==, 5);
    g_assert_cmpfloat (y, ==, -2);
  }
}

static void
test_refused (void)
{
  static const struct {
    const gchar *text, *names;
  } cases[] = {
    { NULL, "0 numbers instead of 9" },
    { "", "0 numbers instead of 9" },
    { "1,0,0,0,1,0,0,0", "8 numbers instead of 9" },
    { "1,0,0,0,1,0,0,0,1,0", "more than 9" },
    { "1,0,0,0,1,0,0,0,1,", "last separator" },
    { "1,0,,0,1,0,0,0,1", "character 5 (number 3 of 9)" },
    { "1,0,0,0,one,0,0,0,1", "(number 5 of 9): \"one" },
    { "1,0,0,0,1x,0,0,0,1", "(number 5 of 9): \"1x" },
    { "1;0;0;0;nan;0;0;0;1", "number 5 of 9, \"nan\", is not finite" },
    { "1,0,0,0,1,0,0,0,-inf", "number 9 of 9, \"-inf\", is not finite" },
    { "1,0,0,0,1,1e999,0,0,1", "number 6 of 9, \"1e999\", is not finite" },
    { "0,0,0,0,0,0,0,0,0", "singular" },
    { "1,0,0,0,1,0,0,0,0", "singular" },
    { "1,2,3,4,5,6,7,8,9", "singular" },
    { "1e-3,2e-3,3,4,8,6,7,14,9", "singular" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    PbfCalibration c = { { 42 } };
    GError *error = NULL;

    g_assert_false (pbf_calibration_parse (cases[i].text, &c, &error));
    g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
    if (!strstr (error->message, cases[i].names))
      g_error ("\"%s\" does not say \"%s\"", error->message, cases[i].names);
    g_assert_cmpfloat (c.h[0], ==, 42);
    g_clear_error (&error);
  }
}

/* What is regular stays so in other units. */
static void
test_units (void)
{
  for (gint um = -9; um <= 9; um += 3)
    for (gint px = -9; px <= 9; px += 3) {
      gchar text[128], n[3][G_ASCII_DTOSTR_BUF_SIZE];
      PbfCalibration c;
      GError *error = NULL;

      g_ascii_dtostr (n[0], sizeof n[0], 3 * pow (10, px - um));
      g_ascii_dtostr (n[1], sizeof n[1], 7 * pow (10, px));
      g_ascii_dtostr (n[2], sizeof n[2], 1e-4 * pow (10, -um));
      g_snprintf (text, sizeof text, "%s 0 %s 0 %s %s %s 0 1", n[0], n[1], n[0],
          n[1], n[2]);
      pbf_calibration_parse (text, &c, &error);
      g_assert_no_error (error);
    }
}

static void
test_format (void)
{
  for (guint round = 0; round < 1000; round++) {
    PbfCalibration c, back;
    GError *error = NULL;
    gchar *text;

    for (guint i = 0; i < 9; i++)
      c.h[i] = g_test_rand_double_range (-1, 1)
               * pow (10, g_test_rand_int_range (-5, 5));
    text = pbf_calibration_format (&c);
    if (!pbf_calibration_parse (text, &back, &error)) {
      /* numbers of so many sizes now and then make a singular matrix */
      g_assert_nonnull (strstr (error->message, "singular"));
      g_error_free (error);
      g_free (text);
      continue;
    }
    g_assert_cmpmem (&c, sizeof c, &back, sizeof back);
    g_free (text);
  }
}

static void
test_default_text (void)
{
  PbfCalibration c;
  gchar *text;

  g_assert_true (pbf_calibration_parse (PBF_CALIBRATION_DEFAULT, &c, NULL));
  text = pbf_calibration_format (&c);
  g_assert_cmpstr (text, ==, PBF_CALIBRATION_DEFAULT);
  g_free (text);
}

/* In a locale whose decimal sign is the comma; skipped where there is none. */
static void
test_locale (void)
{
  if (!setlocale (LC_NUMERIC, "de_DE.UTF-8")
      && !setlocale (LC_NUMERIC, "fr_FR.UTF-8")) {
    g_test_skip ("no locale with a decimal comma is installed");
    return;
  }
  test_parse ();
  test_default_text ();
  setlocale (LC_NUMERIC, "C");
}

static void
test_infinity (void)
{
  PbfCalibration c = { { 1, 0, 0, 0, 1, 0, -0.5, 0, 1 } };
  gdouble x = 7, y = 8;

  g_assert_false (pbf_calibration_apply (&c, 2, 1, &x, &y));
  g_assert_false (pbf_calibration_apply (&c, NAN, 1, &x, &y));
  g_assert_cmpfloat (x, ==, 7);
  g_assert_true (pbf_calibration_apply (&c, 1, 1, &x, &y));
  g_assert_cmpfloat (x, ==, 2);
}

/* --- fit -------------------------------------------------------------------- */

#define N_POINTS 200

typedef struct {
  PbfCalibration truth;
  GRand *rand;
  gdouble um[N_POINTS][2], px[N_POINTS][2];
} Scene;

static gdouble
noise (Scene *scene, gdouble sigma)
{
  gdouble u = g_rand_double_range (scene->rand, 1e-12, 1);
  gdouble v = g_rand_double (scene->rand);

  return sigma * sqrt (-2 * log (u)) * cos (2 * G_PI * v);
}

static gboolean
is_outlier (guint i, guint percent)
{
  return i % 100 * 37 % 100 < percent;
}

/* A camera looking at a plate of 250 mm at an angle: 200 um a pixel, turned,
 * sheared, and with as much perspective as a tilt of some degrees gives. */
static void
scene_init (Scene *scene, guint32 seed, gdouble sigma, guint outliers_percent)
{
  GRand *rand = scene->rand = g_rand_new_with_seed (seed);
  gdouble angle = g_rand_double_range (rand, -G_PI, G_PI);
  gdouble scale = g_rand_double_range (rand, 0.002, 0.02);
  gdouble *h = scene->truth.h;

  h[0] = scale * cos (angle);
  h[1] = -scale * sin (angle) * g_rand_double_range (rand, 0.8, 1.2);
  h[2] = g_rand_double_range (rand, -500, 500);
  h[3] = scale * sin (angle);
  h[4] = scale * cos (angle);
  h[5] = g_rand_double_range (rand, -500, 500);
  h[6] = g_rand_double_range (rand, -1e-6, 1e-6);
  h[7] = g_rand_double_range (rand, -1e-6, 1e-6);
  h[8] = 1;
  for (guint i = 0; i < N_POINTS; i++) {
    scene->um[i][0] = g_rand_double_range (rand, 0, 250000);
    scene->um[i][1] = g_rand_double_range (rand, 0, 250000);
    g_assert_true (pbf_calibration_apply (&scene->truth, scene->um[i][0],
        scene->um[i][1], &scene->px[i][0], &scene->px[i][1]));
    for (guint k = 0; k < 2; k++)
      scene->px[i][k] += is_outlier (i, outliers_percent)
                             ? g_rand_double_range (rand, 100, 2000)
                             : noise (scene, sigma);
  }
}

static void
scene_clear (Scene *scene)
{
  g_rand_free (scene->rand);
}

/* Largest distance between what two homographies map points of the plate to. */
static gdouble
distance (const PbfCalibration *a, const PbfCalibration *b)
{
  gdouble largest = 0;

  for (gdouble x = 0; x <= 250000; x += 25000)
    for (gdouble y = 0; y <= 250000; y += 25000) {
      gdouble p[2], q[2];
      g_assert_true (pbf_calibration_apply (a, x, y, p, p + 1));
      g_assert_true (pbf_calibration_apply (b, x, y, q, q + 1));
      largest = MAX (largest, hypot (p[0] - q[0], p[1] - q[1]));
    }
  return largest;
}

static void
fit_scene (Scene *scene, guint n, gdouble tolerance, guint inliers,
    gdouble residual_most, gdouble distance_most)
{
  PbfCalibration c, back;
  GError *error = NULL;
  gdouble residual;
  guint found;
  gchar *text;

  pbf_calibration_fit (
      scene->um, scene->px, n, tolerance, &c, &residual, &found, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (found, ==, inliers);
  g_assert_cmpfloat (residual, <=, residual_most);
  g_assert_cmpfloat (distance (&c, &scene->truth), <=, distance_most);
  text = pbf_calibration_format (&c);
  g_assert_true (pbf_calibration_parse (text, &back, &error));
  g_assert_no_error (error);
  g_free (text);
}

static void
test_fit_exact (void)
{
  for (guint32 seed = 0; seed < 50; seed++) {
    Scene scene;

    scene_init (&scene, seed, 0, 0);
    fit_scene (&scene, N_POINTS, 1, N_POINTS, 1e-7, 1e-6);
    scene_clear (&scene);
  }
}

static void
test_fit_four (void)
{
  Scene scene;
  static const gdouble corners[4][2] = { { 0, 0 }, { 250000, 0 },
    { 250000, 250000 }, { 0, 250000 } };

  for (guint32 seed = 0; seed < 50; seed++) {
    scene_init (&scene, seed, 0, 0);
    for (guint i = 0; i < 4; i++) {
      memcpy (scene.um[i], corners[i], sizeof corners[i]);
      g_assert_true (pbf_calibration_apply (&scene.truth, corners[i][0],
          corners[i][1], &scene.px[i][0], &scene.px[i][1]));
    }
    fit_scene (&scene, 4, 0.1, 4, 1e-7, 1e-6);
    scene_clear (&scene);
  }
}

/* Residuals as large as the noise; at the corners of the plate the fit is
 * better than one point's noise. */
static void
test_fit_noise (void)
{
  for (guint32 seed = 0; seed < 50; seed++) {
    Scene scene;

    scene_init (&scene, seed, 0.3, 0);
    fit_scene (&scene, N_POINTS, 3, N_POINTS, 0.3 * G_SQRT2 * 1.15, 0.6);
    scene_clear (&scene);
  }
}

static void
test_fit_outliers (void)
{
  for (guint32 seed = 0; seed < 50; seed++) {
    Scene scene;

    scene_init (&scene, seed, 0.3, 30);
    fit_scene (
        &scene, N_POINTS, 3, N_POINTS * 70 / 100, 0.3 * G_SQRT2 * 1.15, 0.7);
    scene_clear (&scene);
  }
}

/* One absurd pair must not spoil the scaling of the others. */
static void
test_fit_absurd_pair (void)
{
  Scene scene;

  scene_init (&scene, 3, 0.1, 0);
  scene.px[17][0] = 1e12;
  scene.um[90][1] = -1e15;
  fit_scene (&scene, N_POINTS, 1, N_POINTS - 2, 0.2, 0.3);
  scene_clear (&scene);
}

static void
test_fit_repeatable (void)
{
  PbfCalibration a, b;
  Scene scene;

  scene_init (&scene, 5, 0.5, 30);
  g_assert_true (pbf_calibration_fit (
      scene.um, scene.px, N_POINTS, 3, &a, NULL, NULL, NULL));
  g_assert_true (pbf_calibration_fit (
      scene.um, scene.px, N_POINTS, 3, &b, NULL, NULL, NULL));
  g_assert_cmpmem (&a, sizeof a, &b, sizeof b);
  scene_clear (&scene);
}

static void
check_fit_refused (Scene *scene, guint n, gdouble tolerance, const gchar *says)
{
  PbfCalibration c = { { 42 } };
  GError *error = NULL;

  g_assert_false (pbf_calibration_fit (
      scene->um, scene->px, n, tolerance, &c, NULL, NULL, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
  if (!strstr (error->message, says))
    g_error ("\"%s\" does not say \"%s\"", error->message, says);
  g_assert_cmpfloat (c.h[0], ==, 42);
  g_clear_error (&error);
}

static void
test_fit_refused (void)
{
  Scene scene;

  scene_init (&scene, 1, 0.1, 0);
  check_fit_refused (&scene, 3, 1, "3 pairs of points, at least 4");
  check_fit_refused (&scene, N_POINTS, 0, "tolerance is 0 px");
  check_fit_refused (&scene, N_POINTS, NAN, "tolerance is nan px");
  scene.px[7][1] = NAN;
  check_fit_refused (&scene, N_POINTS, 1, "pair 7 is not finite");
  scene_clear (&scene);

  /* no relation at all */
  scene_init (&scene, 1, 0.1, 100);
  check_fit_refused (&scene, N_POINTS, 1, "of 200 pairs agree within");
  scene_clear (&scene);
}

static void
test_fit_degenerate (void)
{
  Scene scene;

  scene_init (&scene, 1, 0.1, 0); /* one hatch line */
  for (guint i = 0; i < N_POINTS; i++)
    scene.um[i][1] = 2 * scene.um[i][0];
  check_fit_refused (&scene, N_POINTS, 1, "lie on one line");
  scene_clear (&scene);

  scene_init (&scene, 1, 0.1, 0); /* and in the frame */
  for (guint i = 0; i < N_POINTS; i++)
    scene.px[i][1] = 40;
  check_fit_refused (&scene, N_POINTS, 1, "lie on one line");
  scene_clear (&scene);

  scene_init (&scene, 1, 0, 0); /* all but one */
  for (guint i = 1; i < N_POINTS; i++)
    scene.um[i][0] = 5;
  check_fit_refused (&scene, N_POINTS, 1, "line");
  scene_clear (&scene);

  scene_init (&scene, 1, 0, 0); /* the laser stood still */
  for (guint i = 1; i < N_POINTS; i++)
    memcpy (scene.um[i], scene.um[0], sizeof scene.um[0]);
  check_fit_refused (
      &scene, N_POINTS, 1, "most points on the plate are the same");
  scene_clear (&scene);

  scene_init (&scene, 1, 0, 0); /* nothing to be seen */
  for (guint i = 1; i < N_POINTS; i++)
    memcpy (scene.px[i], scene.px[0], sizeof scene.px[0]);
  check_fit_refused (
      &scene, N_POINTS, 1, "most points in the frame are the same");
  scene_clear (&scene);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pbfcalibration/parse", test_parse);
  g_test_add_func ("/pbfcalibration/refused", test_refused);
  g_test_add_func ("/pbfcalibration/units", test_units);
  g_test_add_func ("/pbfcalibration/format", test_format);
  g_test_add_func ("/pbfcalibration/default-text", test_default_text);
  g_test_add_func ("/pbfcalibration/locale", test_locale);
  g_test_add_func ("/pbfcalibration/infinity", test_infinity);
  g_test_add_func ("/pbfcalibration/fit-exact", test_fit_exact);
  g_test_add_func ("/pbfcalibration/fit-four", test_fit_four);
  g_test_add_func ("/pbfcalibration/fit-noise", test_fit_noise);
  g_test_add_func ("/pbfcalibration/fit-outliers", test_fit_outliers);
  g_test_add_func ("/pbfcalibration/fit-absurd-pair", test_fit_absurd_pair);
  g_test_add_func ("/pbfcalibration/fit-repeatable", test_fit_repeatable);
  g_test_add_func ("/pbfcalibration/fit-refused", test_fit_refused);
  g_test_add_func ("/pbfcalibration/fit-degenerate", test_fit_degenerate);
  return g_test_run ();
}
