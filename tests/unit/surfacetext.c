/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Numbers of text files against strtod, texts in windows. */
#include "cuda/surface/decimal.h"
#include "cuda/surface/file.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

/* --- numbers ------------------------------------------------------------------ */

static void
check_number (const gchar *text)
{
  const gdouble expected = g_ascii_strtod (text, NULL);
  const gsize n = strlen (text);
  gdouble value = 99;

  g_assert_true (
      surface_decimal_read (text, text + n, '.', &value) == text + n);
  if (memcmp (&value, &expected, sizeof (value)) != 0)
    g_error ("%s is read as %.17g, not %.17g", text, value, expected);
}

/* Signs, points, exponents, and what is no number */
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

    g_assert_true (
        surface_decimal_read (text, text + strlen (text), '.', &value)
        == text + parts[i].read);
    g_assert_cmpfloat (value, ==, parts[i].value);
  }
  for (guint i = 0; i < G_N_ELEMENTS (none); i++)
    g_assert_true (
        surface_decimal_read (none[i], none[i] + strlen (none[i]), '.', &value)
        == none[i]);
}

static void
test_number_point (void)
{
  const gchar *text = "1234567890123456789012,75;";
  gdouble value;

  g_assert_true (
      surface_decimal_read (text, text + 26, ',', &value) == text + 25);
  g_assert_cmpfloat (value, ==, 1234567890123456789012.75);
}

/* Of all lengths and sizes; what lies in the middle between two doubles, and
 * beside it; what doubles are written as */
static void
test_number_values (void)
{
  GRand *rand = g_rand_new_with_seed (17);

  for (guint i = 0; i < 300000; i++) {
    const guint n_digits = (guint) g_rand_int_range (rand, 1, 22);
    gchar text[64], digits[24];
    guint64 bits;
    gdouble z;

    for (guint k = 0; k < n_digits; k++)
      digits[k] = (gchar) ('0' + g_rand_int_range (rand, 0, 10));
    digits[n_digits] = 0;
    g_snprintf (text, sizeof (text), "-%c.%se%d", digits[0], digits,
        g_rand_int_range (rand, -70, 70));
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

/* --- windows ------------------------------------------------------------------ */

static gchar *
write_temporary (const gchar *text, gsize size)
{
  gchar *name = g_build_filename (g_get_tmp_dir (), "surface-XXXXXX", NULL);
  int fd = g_mkstemp (name);

  g_assert_cmpint (fd, >=, 0);
  close (fd);
  g_assert_true (g_file_set_contents (name, text, (gssize) size, NULL));
  return name;
}

static void
check_same (const SurfaceImage *a, const SurfaceImage *b)
{
  g_assert_cmpuint (a->width, ==, b->width);
  g_assert_cmpuint (a->height, ==, b->height);
  g_assert_cmpmem (a->z, sizeof (gdouble) * a->width * a->height, b->z,
      sizeof (gdouble) * b->width * b->height);
}

/* A text of several windows, from a file and from memory */
static void
test_long_text (void)
{
  SurfaceImage *image = surface_image_new (331, 512, NULL), *loaded, *read;
  GError *error = NULL;
  GBytes *bytes;
  gchar *name;

  image->dx = image->dy = 1e-6;
  for (guint i = 0; i < 331 * 512; i++)
    image->z[i] = i % 7 == 3 ? NAN : 0.0763 + 1e-6 * sin (i * 0.7);
  bytes = surface_file_write (image, SURFACE_FILE_SDF, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_bytes_get_size (bytes), >, 2 << 20);
  name = write_temporary (
      g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  loaded = surface_file_load (name, &error);
  g_assert_no_error (error);
  read = surface_file_read (bytes, &error);
  g_assert_no_error (error);
  check_same (loaded, image);
  check_same (read, image);
  surface_image_free (loaded);
  surface_image_free (read);
  surface_image_free (image);
  g_bytes_unref (bytes);
  g_unlink (name);
  g_free (name);
}

/* A word that does not end is not gathered. */
static void
test_long_word (void)
{
  GString *text =
      g_string_new ("aISO-1.0\nNumPoints = 2000\nNumProfiles = 900\n"
                    "Xscale = 1\nYscale = 1\nZscale = 1\n*\n");
  GError *error = NULL;
  gchar *name;

  for (guint i = 0; i < 4000000; i++)
    g_string_append_c (text, '1');
  name = write_temporary (text->str, text->len);
  g_assert_null (surface_file_load (name, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT);
  g_assert_nonnull (strstr (error->message, "word of more than 1048576 bytes"));
  g_clear_error (&error);
  g_unlink (name);
  g_free (name);
  g_string_free (text, TRUE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/surfacetext/number-syntax", test_number_syntax);
  g_test_add_func ("/surfacetext/number-point", test_number_point);
  g_test_add_func ("/surfacetext/number-values", test_number_values);
  g_test_add_func ("/surfacetext/long-text", test_long_text);
  g_test_add_func ("/surfacetext/long-word", test_long_word);
  return g_test_run ();
}
