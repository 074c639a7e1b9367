/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The homography: parsing and application. */
#include "cuda/crop/calibration.h"

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

/* A regular matrix stays regular in other units. */
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
test_default_text (void)
{
  const PbfCalibration expected = { { 0.005, 0, 0, 0, 0.005, 0, 0, 0, 1 } };
  PbfCalibration c;

  g_assert_true (pbf_calibration_parse (PBF_CALIBRATION_DEFAULT, &c, NULL));
  g_assert_cmpmem (&c, sizeof c, &expected, sizeof expected);
}

/* In a locale with a decimal comma; skipped if none is installed. */
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

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pbfcalibration/parse", test_parse);
  g_test_add_func ("/pbfcalibration/refused", test_refused);
  g_test_add_func ("/pbfcalibration/units", test_units);
  g_test_add_func ("/pbfcalibration/default-text", test_default_text);
  g_test_add_func ("/pbfcalibration/locale", test_locale);
  g_test_add_func ("/pbfcalibration/infinity", test_infinity);
  return g_test_run ();
}
