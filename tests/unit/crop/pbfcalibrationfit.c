/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Fitted calibrations against known ones: exact positions, noise, wrong positions up to 45 %;
 * sets that do not determine one are refused. */
#include "cuda/crop/calibrationfit.h"

#include <math.h>
#include <string.h>

#define N 2000

/* 180 um a pixel, turned and in perspective */
static const PbfCalibration truth = { { 0.0054, 0.0004, 3, -0.0005, 0.0056, 6,
    4e-7, -6e-7, 1 } };

static gdouble
draw_normal (GRand *rand)
{
  return sqrt (-2 * log (1 - g_rand_double (rand)))
         * cos (2 * G_PI * g_rand_double (rand));
}

/* @wrong: fraction of positions anywhere in a picture of 96 x 96 */
static PbfPositionPair *
make_pairs (guint n, gdouble noise, gdouble wrong, guint seed)
{
  PbfPositionPair *pairs = g_new0 (PbfPositionPair, n);
  GRand *rand = g_rand_new_with_seed (seed);

  for (guint i = 0; i < n; i++) {
    PbfPositionPair *pair = &pairs[i];

    pair->x_um = floor (g_rand_double_range (rand, 0, 16000));
    pair->y_um = floor (g_rand_double_range (rand, 0, 16000));
    g_assert_true (pbf_calibration_apply (
        &truth, pair->x_um, pair->y_um, &pair->x_px, &pair->y_px));
    pair->x_px += noise * draw_normal (rand);
    pair->y_px += noise * draw_normal (rand);
    if (g_rand_double (rand) < wrong) {
      pair->x_px = g_rand_double_range (rand, 0, 96);
      pair->y_px = g_rand_double_range (rand, 0, 96);
    }
  }
  g_rand_free (rand);
  return pairs;
}

/* The largest distance from the truth over the area of the positions, pixels */
static gdouble
distance_to_truth (const PbfCalibration *calibration)
{
  gdouble largest = 0;

  for (guint x = 0; x <= 16000; x += 1000)
    for (guint y = 0; y <= 16000; y += 1000) {
      gdouble u, v, s, t;

      g_assert_true (pbf_calibration_apply (&truth, x, y, &u, &v));
      g_assert_true (pbf_calibration_apply (calibration, x, y, &s, &t));
      largest = MAX (largest, hypot (u - s, v - t));
    }
  return largest;
}

static void
test_known (void)
{
  static const struct {
    gdouble noise, wrong, accuracy;
    guint n;
  } cases[] = { { 0, 0, 1e-9, N }, { 0, 0, 1e-9, 20 }, { 0.5, 0, 0.1, N },
    { 2, 0, 0.4, N }, { 0.5, 0.3, 0.15, N }, { 0.5, 0.45, 0.2, N },
    { 2, 0.3, 0.6, N } };

  for (guint c = 0; c < G_N_ELEMENTS (cases); c++)
    for (guint seed = 0; seed < 5; seed++) {
      PbfPositionPair *pairs =
          make_pairs (cases[c].n, cases[c].noise, cases[c].wrong, seed);
      gdouble *residuals = g_new (gdouble, cases[c].n);
      gdouble right = 1 - cases[c].wrong, distance;
      PbfCalibrationFit fit, again;
      GError *error = NULL;

      pbf_calibration_fit (pairs, cases[c].n, &fit, residuals, &error);
      g_assert_no_error (error);
      distance = distance_to_truth (&fit.calibration);
      g_test_message (
          "noise %g, %g wrong: used %u, limit %.2f, rms %.2f, corner "
          "error %.3f, distance %.3f",
          cases[c].noise, cases[c].wrong, fit.used, fit.limit_px, fit.rms_px,
          fit.corner_error_px, distance);
      g_assert_cmpfloat (distance, <, cases[c].accuracy);
      g_assert_cmpfloat (distance, <, 4 * fit.corner_error_px);
      g_assert_cmpfloat (fit.used, >, 0.93 * right * cases[c].n);
      g_assert_cmpfloat (fit.used, <, (right + 0.08) * cases[c].n + 1);
      g_assert_cmpfloat (fit.rms_px, <, 1.6 * cases[c].noise + 1e-6);
      for (guint i = 0; i < cases[c].n; i++)
        g_assert_true (isfinite (residuals[i]));
      /* the same again */
      g_assert_true (
          pbf_calibration_fit (pairs, cases[c].n, &again, residuals, NULL));
      g_assert_cmpmem (&fit, sizeof fit, &again, sizeof again);
      g_free (residuals);
      g_free (pairs);
    }
}

/* Positions behind the laser, in four directions; in one direction the lag is not told
 * from a shift. */
static void
test_lag (void)
{
  for (guint one = 0; one < 2; one++)
    for (guint seed = 0; seed < 5; seed++) {
      PbfPositionPair *pairs = make_pairs (N, 0.5, 0.3, seed);
      GRand *rand = g_rand_new_with_seed (seed + 9);
      gdouble residuals[N];
      PbfCalibrationFit fit;

      for (guint i = 0; i < N; i++) {
        const gdouble angle =
            one ? 0.4 : 0.4 + G_PI / 2 * g_rand_int_range (rand, 0, 4);

        pairs[i].x_direction = cos (angle);
        pairs[i].y_direction = sin (angle);
        pairs[i].x_um += 540 * cos (angle);
        pairs[i].y_um += 540 * sin (angle);
      }
      g_assert_true (pbf_calibration_fit (pairs, N, &fit, residuals, NULL));
      g_test_message ("lag %.1f, rms %.2f, used %u, distance %.3f", fit.lag_um,
          fit.rms_px, fit.used, distance_to_truth (&fit.calibration));
      g_assert_cmpint (fit.lag_known, ==, !one);
      g_assert_cmpfloat (fit.rms_px, <, 0.8);
      if (one) {
        g_assert_cmpfloat (fit.lag_um, ==, 0);
        g_assert_cmpfloat (distance_to_truth (&fit.calibration), >, 2);
      } else {
        g_assert_cmpfloat (fabs (fit.lag_um - 540), <, 20);
        g_assert_cmpfloat (distance_to_truth (&fit.calibration), <, 0.2);
      }
      g_rand_free (rand);
      g_free (pairs);
    }
}

static void
test_format (void)
{
  PbfPositionPair *pairs = make_pairs (N, 1, 0, 7);
  gdouble residuals[N];
  PbfCalibrationFit fit;
  PbfCalibration back;
  gchar *text;

  g_assert_true (pbf_calibration_fit (pairs, N, &fit, residuals, NULL));
  text = pbf_calibration_format (&fit.calibration);
  g_assert_true (pbf_calibration_parse (text, &back, NULL));
  g_assert_cmpmem (back.h, sizeof back.h, fit.calibration.h, sizeof back.h);
  g_free (text);
  pbf_calibration_parse (PBF_CALIBRATION_DEFAULT, &back, NULL);
  text = pbf_calibration_format (&back);
  g_assert_cmpstr (text, ==, PBF_CALIBRATION_DEFAULT);
  g_free (text);
  g_free (pairs);
}

static void
refuse_pairs (PbfPositionPair *pairs, guint n, const gchar *says)
{
  gdouble *residuals = g_new (gdouble, MAX (n, 1));
  GError *error = NULL;
  PbfCalibrationFit fit;

  g_assert_false (pbf_calibration_fit (pairs, n, &fit, residuals, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
  if (strstr (error->message, says) == NULL)
    g_error ("\"%s\" lacks \"%s\"", error->message, says);
  g_clear_error (&error);
  g_free (residuals);
  g_free (pairs);
}

/* Moves the plate positions of all pairs but the first @free_ones to a line, which is
 * thicker than exact by @thickness pixels. */
static PbfPositionPair *
make_line (guint free_ones, gdouble thickness, gdouble noise, gboolean diagonal)
{
  PbfPositionPair *pairs = make_pairs (N, 0, 0, 3);
  GRand *rand = g_rand_new_with_seed (4);

  for (guint i = 0; i < N; i++) {
    PbfPositionPair *pair = &pairs[i];

    if (i >= free_ones)
      pair->y_um = (diagonal ? pair->x_um / 2 : 8000)
                   + 180 * thickness * draw_normal (rand);
    g_assert_true (pbf_calibration_apply (
        &truth, pair->x_um, pair->y_um, &pair->x_px, &pair->y_px));
    pair->x_px += noise * draw_normal (rand);
    pair->y_px += noise * draw_normal (rand);
  }
  g_rand_free (rand);
  return pairs;
}

static void
test_refused (void)
{
  PbfPositionPair *pairs;

  refuse_pairs (make_pairs (1, 0, 0, 1), 0, "0 positions are too few");
  refuse_pairs (make_pairs (19, 0, 0, 1), 19, "19 positions are too few");
  for (guint diagonal = 0; diagonal < 2; diagonal++) {
    refuse_pairs (make_line (0, 0, 0, diagonal), N, "do not determine");
    refuse_pairs (make_line (0, 0, 1, diagonal), N, "do not determine");
    refuse_pairs (make_line (0, 0.5, 0.5, diagonal), N, "do not determine");
    refuse_pairs (make_line (1, 0, 0.5, diagonal), N, "do not determine");
  }
  pairs = make_pairs (N, 0, 0, 1);
  for (guint i = 1; i < N; i++)
    pairs[i] = pairs[0];
  refuse_pairs (pairs, N, "do not determine");
  /* three places only */
  pairs = make_pairs (N, 0, 0, 1);
  for (guint i = 3; i < N; i++)
    pairs[i] = pairs[i % 3];
  refuse_pairs (pairs, N, "do not determine");
  /* positions that have nothing to do with each other */
  refuse_pairs (make_pairs (20000, 0, 1, 1), 20000, "do not belong together");
  refuse_pairs (make_pairs (24, 0, 0.25, 1), 24, "24 positions agree with one");
  pairs = make_pairs (N, 0, 0, 1);
  pairs[3].y_px = NAN;
  refuse_pairs (pairs, N, "position 4 of 2000 is not finite");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pbfcalibrationfit/known", test_known);
  g_test_add_func ("/pbfcalibrationfit/lag", test_lag);
  g_test_add_func ("/pbfcalibrationfit/format", test_format);
  g_test_add_func ("/pbfcalibrationfit/refused", test_refused);
  return g_test_run ();
}
