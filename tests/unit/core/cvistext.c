/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Numbers as text, compared with the C library. */
#include "cuda/core/decimal.h"
#include "cuda/core/text.h"

#include <math.h>
#include <string.h>

static void
test_integers (void)
{
  static const gint64 cases[] = { 0, 1, 9, 10, 99, 100, 101, 12345, 999999,
    1000000, G_MAXINT32, (gint64) G_MAXINT32 + 1, G_MAXINT64, -1, -10, -101,
    G_MININT32, G_MININT64 };
  GRand *rand = g_rand_new_with_seed (7);
  gchar text[CVIS_TEXT_MAX + 1], expected[32];
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases) + 100000; i++) {
    guint64 value =
        i < G_N_ELEMENTS (cases)
            ? (guint64) cases[i]
            : ((guint64) g_rand_int (rand) << 32 | g_rand_int (rand))
                  >> g_rand_int_range (rand, 0, 64);

    *cvis_text_int (text, (gint64) value) = '\0';
    g_snprintf (
        expected, sizeof (expected), "%" G_GINT64_FORMAT, (gint64) value);
    g_assert_cmpstr (text, ==, expected);
    *cvis_text_uint (text, value) = '\0';
    g_snprintf (expected, sizeof (expected), "%" G_GUINT64_FORMAT, value);
    g_assert_cmpstr (text, ==, expected);
  }
  g_rand_free (rand);
}

static void
check_number (const gchar *text)
{
  const gdouble expected = g_ascii_strtod (text, NULL);
  const gsize n = strlen (text);
  gchar room[128];
  gdouble value = 99;

  g_assert_cmpuint (n, <, sizeof (room) / 2);
  g_assert_true (cvis_decimal_read (text, text + n, '.', &value) == text + n);
  if (memcmp (&value, &expected, sizeof (value)) != 0)
    g_error ("%s is read as %.17g, not %.17g", text, value, expected);

  /* followed by more text, another code path is used */
  memset (room, ' ', sizeof (room));
  memcpy (room, text, n);
  value = 99;
  g_assert_true (
      cvis_decimal_read (room, room + sizeof (room), '.', &value) == room + n);
  if (memcmp (&value, &expected, sizeof (value)) != 0)
    g_error ("%s in a text is read as %.17g, not %.17g", text, value, expected);
}

/* Signs, points, exponents, and text that is not a number */
static void
test_number_syntax (void)
{
  static const gchar *const numbers[] = { "0", "-0", "+7", "7.", ".5", "-.5e1",
    "1e5", "1E+05", "1e-05", "0.1", "1e400", "-1e400", "1e-400", "5e-324",
    "2.2250738585072011e-308", "1.7976931348623157e308", "0e99999999999",
    "00000000000000000000000000001", "0.00000000000000000000000000000001",
    "123456789012345678901234567890", "1234567890123456789.5",
    "10000000000000000000000000000000000000000000000000", "inf", "-inf",
    "1e99999999999999999999" };
  static const struct {
    const gchar *text;
    guint read;
    gdouble value;
  } parts[] = {
    { "1.5x", 3, 1.5 },
    { "1.5e", 3, 1.5 },
    { "1.5e+", 3, 1.5 },
    { "2 3", 1, 2 },
    { "1.2.3", 3, 1.2 },
    { "0x10", 1, 0 },
    { "1,5", 1, 1 },
  };
  static const gchar *const none[] = { "", "-", ".", "-.", "e5", "x", " 1",
    "+e5", "BAD" };
  gdouble value;

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    check_number (numbers[i]);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++) {
    const gchar *text = parts[i].text;

    g_assert_true (cvis_decimal_read (text, text + strlen (text), '.', &value)
                   == text + parts[i].read);
    g_assert_cmpfloat (value, ==, parts[i].value);
  }
  for (guint i = 0; i < G_N_ELEMENTS (none); i++)
    g_assert_true (
        cvis_decimal_read (none[i], none[i] + strlen (none[i]), '.', &value)
        == none[i]);
}

static void
test_number_point (void)
{
  const gchar *text = "1234567890123456789012,75;";
  gdouble value;

  g_assert_true (cvis_decimal_read (text, text + 26, ',', &value) == text + 25);
  g_assert_cmpfloat (value, ==, 1234567890123456789012.75);
}

/* All lengths and magnitudes; midpoints between two doubles and their
 * neighbours; the text of doubles */
static void
test_number_values (void)
{
  GRand *rand = g_rand_new_with_seed (17);

  for (guint i = 0; i < 80000; i++) {
    const guint n_digits = (guint) g_rand_int_range (rand, 1, 22);
    gchar text[64], digits[24];
    guint64 bits;
    guint point;
    gdouble z;

    for (guint k = 0; k < n_digits; k++)
      digits[k] = (gchar) ('0' + g_rand_int_range (rand, 0, 10));
    digits[n_digits] = 0;
    g_snprintf (text, sizeof (text), i % 2 ? "-%c.%se%d" : "%c.%se%+03d",
        digits[0], digits, g_rand_int_range (rand, -70, 70));
    check_number (text);
    point = (guint) g_rand_int_range (rand, 0, (gint) n_digits + 1);
    g_snprintf (
        text, sizeof (text), "%.*s.%s", (gint) point, digits, digits + point);
    check_number (text);

    bits = ((guint64) g_rand_int (rand) << 32 | g_rand_int (rand)) >> 11;
    bits |= (guint64) 1 << 53;
    bits = (bits | 1) << g_rand_int_range (rand, 0, 10);
    g_snprintf (text, sizeof (text), "%" G_GUINT64_FORMAT,
        bits + (guint64) g_rand_int_range (rand, -1, 2));
    check_number (text);

    z = ldexp (g_rand_double (rand) - 0.5, g_rand_int_range (rand, -40, 10));
    check_number (g_ascii_dtostr (text, sizeof (text), z));
  }
  g_rand_free (rand);
}

/* Written numbers have the same bits when parsed, here and by strtod. */
static void
check_written (gdouble value)
{
  gchar text[CVIS_DECIMAL_MAX + 1];
  gchar *end = cvis_decimal_write (text, value);
  gdouble read;

  g_assert_true (end - text <= CVIS_DECIMAL_MAX);
  *end = 0;
  g_assert_true (cvis_decimal_read (text, end, '.', &read) == end);
  if (memcmp (&read, &value, sizeof (value)) != 0)
    g_error ("%.17g is written as %s", value, text);
  check_number (text);
}

static void
test_number_written (void)
{
  static const gdouble cases[] = { 0, -0.0, 1, -1, 0.1, 1e10, 899999.99999999,
    900000, 1e15, 1e16, 1e17, 1e22, 1e23, 9.9999999999999995e22, 5e-324,
    2.2250738585072011e-308, 1.7976931348623157e308, 1e-10, 1e-11, 0.3, 1e37,
    1e38, 1e39, 1e-37, 1e-38, 1e-39, 1e54, 1e55, 1e69, 1e70, 1e71, 1e-69, 1e-70,
    9007199254740992, 18014398509481984 };
  static const struct {
    gdouble value;
    const gchar *text;
  } texts[] = { { -385.99, "-385.99" }, { 492.12, "492.12" }, { 16, "16" },
    { 120000, "120000" }, { -0.0000000001, "-0.0000000001" },
    { 11.022501903417394, "1.1022501903417394e+01" } };
  GRand *rand = g_rand_new_with_seed (18);
  gchar text[CVIS_DECIMAL_MAX + 1];

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    *cvis_decimal_write (text, texts[i].value) = 0;
    g_assert_cmpstr (text, ==, texts[i].text);
  }
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check_written (cases[i]);
  for (guint i = 0; i < 200000; i++) {
    const guint64 bits = (guint64) g_rand_int (rand) << 32 | g_rand_int (rand);
    gdouble value;

    memcpy (&value, &bits, sizeof (value));
    if (isfinite (value))
      check_written (value);
    value = ldexp ((gdouble) (bits | (guint64) 1 << 63),
        g_rand_int_range (rand, -300, 200));
    check_written (value);
    check_written (ldexp (1, g_rand_int_range (rand, -300, 300)));
    check_written (g_rand_int_range (rand, 0, 100000000) / 1e4);
  }
  g_rand_free (rand);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/text/integers", test_integers);
  g_test_add_func ("/text/number-syntax", test_number_syntax);
  g_test_add_func ("/text/number-point", test_number_point);
  g_test_add_func ("/text/number-values", test_number_values);
  g_test_add_func ("/text/number-written", test_number_written);
  return g_test_run ();
}
