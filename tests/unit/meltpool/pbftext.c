/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Numbers as text, compared with the C library: the text parses to the same
 * bits, and no shorter decimal would. */
#include "cuda/meltpool/text.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gfloat
from_bits (guint32 bits)
{
  gfloat value;

  memcpy (&value, &bits, sizeof (value));
  return value;
}

static guint32
to_bits (gfloat value)
{
  guint32 bits;

  memcpy (&bits, &value, sizeof (bits));
  return bits;
}

static const gchar *
text_of_float (gfloat value)
{
  static gchar text[PBF_TEXT_MAX + 2];
  gchar *end;

  memset (text, '#', sizeof (text));
  end = pbf_text_float (text, value);
  g_assert_cmpint (end - text, <=, PBF_TEXT_MAX);
  g_assert_cmpint (*end, ==, '#');
  *end = '\0';
  return text;
}

static guint
significant_digits (const gchar *text)
{
  guint n = 0, trailing = 0;

  for (; *text != '\0' && *text != 'e'; text++) {
    if (!g_ascii_isdigit (*text) || (n == 0 && *text == '0'))
      continue;
    n++;
    trailing = *text == '0' ? trailing + 1 : 0;
  }
  return n - trailing;
}

static void
assert_round_trip (gfloat value)
{
  const gchar *text = text_of_float (value);
  gfloat back = strtof (text, NULL);

  if (to_bits (back) != to_bits (value))
    g_error ("%08x (%.9g) was written as %s", to_bits (value), value, text);
}

/* The C library's shortest text: the fewest digits of %e that parse to the
 * same bits. */
static void
assert_shortest (gfloat value)
{
  const gchar *text = text_of_float (value);
  gchar other[64];
  guint n;

  for (n = 0; n < 9; n++) {
    g_snprintf (other, sizeof (other), "%.*e", n, value);
    if (strtof (other, NULL) == value)
      break;
  }
  if (significant_digits (text) > n + 1)
    g_error (
        "%08x was written as %s, %s would do", to_bits (value), text, other);
  /* equal length, then equal distance */
  if (significant_digits (text) == n + 1
      && fabs (strtod (text, NULL) - (gdouble) value)
             > fabs (strtod (other, NULL) - (gdouble) value))
    g_error (
        "%08x was written as %s, %s is closer", to_bits (value), text, other);
}

static void
test_float_random (void)
{
  GRand *rand = g_rand_new_with_seed (42);
  guint i;

  for (i = 0; i < 2000000; i++) {
    gfloat value = from_bits (g_rand_int (rand));

    if (!isnan (value))
      assert_round_trip (value);
  }
  for (i = 0; i < 100000; i++) {
    gfloat value = from_bits (g_rand_int (rand));

    if (isfinite (value) && value != 0)
      assert_shortest (value);
  }
  g_rand_free (rand);
}

static void
test_float_edges (void)
{
  guint e, m;

  /* every power of two and its neighbours, where rounding intervals are
   * asymmetric */
  for (e = 0; e < 0xff; e++) {
    for (m = 0; m < 64; m++) {
      guint32 above = e << 23 | m;

      assert_round_trip (from_bits (above));
      assert_round_trip (from_bits (above | 1u << 31));
      if (above != 0) {
        assert_shortest (from_bits (above));
        assert_round_trip (from_bits (above - 1));
      }
    }
  }
  /* Q16 and Q8 fractions, the form of the features */
  for (m = 0; m <= 65536; m++) {
    assert_round_trip (m / 65536.0f);
    assert_round_trip (m / 256.0f);
  }
}

static void
test_float_words (void)
{
  static const struct {
    gfloat value;
    const gchar *text;
  } cases[] = {
    { 0.0f, "0" },
    { -0.0f, "-0" },
    { 1.0f, "1" },
    { -7.0f, "-7" },
    { 0.1f, "0.1" },
    { 0.3f, "0.3" },
    { 1.5f, "1.5" },
    { 16777216.0f, "16777216" },
    { 123456.789f, "123456.79" },
    { 1e-5f, "0.00001" },
    { 9e-6f, "9e-6" },
    { 1e20f, "100000000000000000000" },
    { 1e21f, "1e21" },
    { 3.4028235e38f, "3.4028235e38" },
    { -1e-45f, "-1e-45" },
    { 1.17549435e-38f, "1.1754944e-38" },
    { INFINITY, "inf" },
    { -INFINITY, "-inf" },
    { NAN, "nan" },
    { -NAN, "nan" },
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_cmpstr (text_of_float (cases[i].value), ==, cases[i].text);
}

static void
test_q8 (void)
{
  static const struct {
    gint32 value;
    const gchar *text;
  } cases[] = {
    { 0, "0" },
    { 256, "1" },
    { 128, "0.5" },
    { 1, "0.00390625" },
    { -1, "-0.00390625" },
    { -384, "-1.5" },
    { 12345, "48.22265625" },
    { G_MAXINT32, "8388607.99609375" },
    { G_MININT32, "-8388608" },
  };
  gchar text[PBF_TEXT_MAX + 1];
  guint i;
  gint32 v;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    *pbf_text_q8 (text, cases[i].value) = '\0';
    g_assert_cmpstr (text, ==, cases[i].text);
  }
  for (v = -70000; v < 70000; v++) {
    *pbf_text_q8 (text, v) = '\0';
    g_assert_true (g_ascii_strtod (text, NULL) * 256.0 == v);
  }
}

/* The locale's decimal comma must not reach a table. */
static void
test_locale (void)
{
  gchar *before = g_strdup (setlocale (LC_NUMERIC, NULL));

  if (setlocale (LC_NUMERIC, "de_DE.UTF-8") == NULL
      && setlocale (LC_NUMERIC, "fr_FR.UTF-8") == NULL) {
    g_test_skip ("no locale with a decimal comma is installed");
  } else {
    g_assert_cmpstr (text_of_float (0.5f), ==, "0.5");
  }
  setlocale (LC_NUMERIC, before);
  g_free (before);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pbftext/float/random", test_float_random);
  g_test_add_func ("/pbftext/float/edges", test_float_edges);
  g_test_add_func ("/pbftext/float/words", test_float_words);
  g_test_add_func ("/pbftext/q8", test_q8);
  g_test_add_func ("/pbftext/locale", test_locale);
  return g_test_run ();
}
