/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Files of instruments that are only read: PLU, OPD and MetroPro, built
 * field by field, complete, truncated at every byte, and with invalid
 * fields. */
#include "cuda/surface/file.h"

#include <math.h>
#include <string.h>

/* --- bytes -------------------------------------------------------------------- */

static void
put (GByteArray *array, guint at, const void *bytes, gsize n)
{
  if (array->len < at + n) {
    const guint old = array->len;

    g_byte_array_set_size (array, (guint) (at + n));
    memset (array->data + old, 0, array->len - old);
  }
  memcpy (array->data + at, bytes, n);
}

static void
put_text (GByteArray *array, guint at, const gchar *text)
{
  put (array, at, text, strlen (text));
}

/* @size: bytes */
static void
put_number (GByteArray *array, guint at, gint64 value, guint size, gboolean big)
{
  const guint64 le = GUINT64_TO_LE ((guint64) value);
  const guint64 be = GUINT64_TO_BE ((guint64) value);

  put (array, at, big ? (const guint8 *) &be + 8 - size : (const guint8 *) &le,
      size);
}

static void
put_float (GByteArray *array, guint at, gfloat value, gboolean big)
{
  guint32 bits;

  memcpy (&bits, &value, sizeof (bits));
  put_number (array, at, bits, 4, big);
}

/* --- files -------------------------------------------------------------------- */

/* 3 x 2 points of topography, 0.5 um and 0.25 um apart; the second one is
 * missing */
static GByteArray *
make_plu (void)
{
  static const gfloat um[] = { 1, 1000001, -2, 3, 4, 5 };
  GByteArray *array = g_byte_array_new ();

  put_text (array, 0, "Thu Feb 29 12:34:56 2024");
  put_text (array, 132, "gear");
  put_float (array, 404, 0.5f, FALSE);
  put_float (array, 408, 0.25f, FALSE);
  put_number (array, 428, 3, 4, FALSE);
  put_number (array, 500, 2, 4, FALSE);
  put_number (array, 504, 3, 4, FALSE);
  for (guint i = 0; i < 6; i++)
    put_float (array, 508 + 4 * i, um[i], FALSE);
  return array;
}

static guint
add_entry (
    GByteArray *array, guint index, const gchar *name, guint type, guint size)
{
  const guint at = 2 + 24 * index;
  gchar padded[16] = { 0 };

  memcpy (padded, name, strlen (name));
  put (array, at, padded, sizeof (padded));
  put_number (array, at + 16, type, 2, FALSE);
  put_number (array, at + 18, size, 4, FALSE);
  put_number (array, at + 22, 0xffff, 2, FALSE);
  return at;
}

/* 3 x 2 points in columns from the bottom up, in units of 80 nm / 10; 2 um
 * apart along x and 3 um along y. Data with @bytes for each sample begin at
 * byte 254. */
static GByteArray *
make_opd (guint bytes)
{
  static const gint values[] = { 4, 1, 5, 2, 6, 3 };
  GByteArray *array = g_byte_array_new ();
  const guint n_array = 6 + 6 * bytes;
  guint at = 2 + 24 * 9;

  put (array, 0, "\1\0", 2);
  add_entry (array, 0, "Directory", 1, 24 * 9);
  add_entry (array, 1, "Mult", 6, 2);
  add_entry (array, 2, "Wavelength", 7, 4);
  add_entry (array, 3, "Pixel_size", 7, 4);
  add_entry (array, 4, "Aspect", 7, 4);
  add_entry (array, 5, "Title", 5, 4);
  add_entry (array, 6, "Date", 5, 10);
  add_entry (array, 7, "Time", 5, 8);
  add_entry (array, 8, "RAW_DATA", 3, n_array);
  put_number (array, at, 10, 2, FALSE);
  put_float (array, at + 2, 80, FALSE);
  put_float (array, at + 6, 2e-3f, FALSE);
  put_float (array, at + 10, 1.5f, FALSE);
  put_text (array, at + 14, "gear02/29/202412:34:56");
  at += 36;
  put_number (array, at, 3, 2, FALSE);
  put_number (array, at + 2, 2, 2, FALSE);
  put_number (array, at + 4, bytes, 2, FALSE);
  for (guint i = 0; i < 6; i++)
    if (bytes == 4)
      put_float (array, at + 6 + 4 * i,
          values[i] == 2 ? 1e38f : (gfloat) values[i], FALSE);
    else
      put_number (array, at + 6 + bytes * i,
          bytes == 2 && values[i] == 2 ? 32767 : values[i], bytes, FALSE);
  return array;
}

/* Two pictures of the intensity of 2 x 1, then 3 x 2 phases; 4 um apart */
static GByteArray *
make_metropro (guint format)
{
  static const gint phases[] = { 1, G_MAXINT32, -2, 3, 4, 5 };
  const guint size = format == 3 ? 4096 : 834;
  GByteArray *array = g_byte_array_new ();

  put_number (array, 0, 0x881b036e + format, 4, TRUE);
  put_number (array, 4, format, 2, TRUE);
  put_number (array, 6, size, 4, TRUE);
  put_number (array, 52, 2, 2, TRUE);
  put_number (array, 54, 1, 2, TRUE);
  put_number (array, 56, 2, 2, TRUE);
  put_number (array, 68, 3, 2, TRUE);
  put_number (array, 70, 2, 2, TRUE);
  put_number (array, 76, 1709210096, 4, TRUE);
  put_text (array, 80, "gear");
  put_float (array, 164, 0.5f, TRUE);
  put_float (array, 168, 512e-9f, TRUE);
  put_float (array, 176, 2, TRUE);
  put_float (array, 184, 4e-6f, TRUE);
  put_number (array, 218, 1, 2, TRUE);
  for (guint i = 0; i < 6; i++)
    put_number (array, size + 8 + 4 * i, phases[i], 4, TRUE);
  return array;
}

/* --- reading ------------------------------------------------------------------ */

static SurfaceImage *
read_array (GByteArray *array, GError **error)
{
  GBytes *bytes = g_bytes_new (array->data, array->len);
  SurfaceImage *image = surface_file_read (bytes, error);

  g_bytes_unref (bytes);
  return image;
}

/* Takes @array. Expects 3 x 2 points: 1, missing, -2 or 3, .., in units of
 * @unit */
static void
check_file (GByteArray *array, SurfaceFileFormat format,
    const gdouble expected[6], gdouble unit, gdouble dx, gdouble dy)
{
  GError *error = NULL;
  SurfaceImage *image = read_array (array, &error);

  g_assert_no_error (error);
  g_assert_cmpint (surface_file_detect (array->data, array->len), ==, format);
  g_assert_cmpuint (image->width, ==, 3);
  g_assert_cmpuint (image->height, ==, 2);
  g_assert_cmpfloat (fabs (image->dx - dx), <=, dx * 1e-6);
  g_assert_cmpfloat (fabs (image->dy - dy), <=, dy * 1e-6);
  g_assert_cmpstr (image->title, ==, "gear");
  g_assert_cmpstr (image->date, ==, "2024-02-29T12:34:56");
  for (guint i = 0; i < 6; i++)
    if (isnan (expected[i]))
      g_assert_true (isnan (image->z[i]));
    else
      g_assert_cmpfloat_with_epsilon (
          image->z[i], expected[i] * unit, fabs (expected[i] * unit) * 1e-6);
  surface_image_free (image);
  g_byte_array_unref (array);
}

/* Takes @array. */
static void
check_refused (GByteArray *array, const gchar *words)
{
  GError *error = NULL;

  g_assert_null (read_array (array, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT);
  if (!strstr (error->message, words))
    g_error ("\"%s\" lacks \"%s\"", error->message, words);
  g_error_free (error);
  g_byte_array_unref (array);
}

/* Every truncation is refused. Takes @array. */
static void
check_cut_off (GByteArray *array)
{
  for (guint n = array->len - 1; n > 0; n--) {
    g_byte_array_set_size (array, n);
    check_refused (g_byte_array_ref (array), "");
  }
  g_byte_array_unref (array);
}

static const gdouble with_hole[] = { 1, NAN, -2, 3, 4, 5 };

static void
test_plu (void)
{
  static const struct {
    guint at;
    guint32 value;
    const gchar *words;
  } cases[] = {
    { 428, 6, "type 6 (byte 428)" },
    { 404, 0, "along x (byte 404) is 0" },
    { 408, 0x7fc00000, "along y (byte 408) is nan" },
    { 500, 0, "3 x 0 samples: none" },
    { 504, 0xffffffff, "at most 2^31" },
    { 504, 4, "is cut off: 32 bytes from byte 508" },
  };
  GByteArray *array;

  check_file (make_plu (), SURFACE_FILE_PLU, with_hole, 1e-6, 0.5e-6, 0.25e-6);
  check_cut_off (make_plu ());
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    array = make_plu ();
    put_number (array, cases[i].at, cases[i].value, 4, FALSE);
    check_refused (array, cases[i].words);
  }
  /* text that begins almost like a date */
  array = make_plu ();
  put_text (array, 4, "Fob");
  check_refused (array, "Unknown file format");
}

static void
test_opd (void)
{
  static const gdouble whole[] = { 1, 2, 3, 4, 5, 6 };
  static const gdouble hole[] = { 1, NAN, 3, 4, 5, 6 };
  static const struct {
    guint at, size;
    guint32 value;
    const gchar *words;
  } cases[] = {
    { 20, 4, 3, "directory of 3 bytes (byte 20)" },
    { 20, 4, 0x7fffffff, "is cut off" },
    { 44, 4, 0xffffff, "has a block \"Mult\" and is cut off" },
    { 194, 1, 'X', "no block of heights" },
    { 254, 2, 0, "0 x 2 samples: none" },
    { 254, 2, 4, "is cut off: 16 bytes from byte 6 on" },
    { 258, 2, 3, "samples of 3 bytes (byte 258)" },
    { 218, 2, 0, "Mult is 0" },
    { 220, 4, 0, "Wavelength / Mult is 0" },
    { 224, 4, 0, "Pixel_size is 0" },
    { 228, 4, 0, "Pixel_size * Aspect is 0" },
    { 74, 1, 'X', "Pixel_size is nan" },
  };

  check_file (make_opd (1), SURFACE_FILE_OPD, whole, 8e-9, 2e-6, 3e-6);
  check_file (make_opd (2), SURFACE_FILE_OPD, hole, 8e-9, 2e-6, 3e-6);
  check_file (make_opd (4), SURFACE_FILE_OPD, hole, 8e-9, 2e-6, 3e-6);
  check_cut_off (make_opd (2));
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GByteArray *array = make_opd (2);

    put_number (array, cases[i].at, cases[i].value, cases[i].size, FALSE);
    check_refused (array, cases[i].words);
  }
}

static void
test_metropro (void)
{
  static const gdouble turned[] = { -1, NAN, 2, -3, -4, -5 };
  static const gdouble steps[] = { 512e-9 / 4096, 512e-9 / 32768,
    512e-9 / 131072 };
  static const struct {
    guint at, size;
    guint32 value;
    const gchar *words;
  } cases[] = {
    { 6, 4, 833, "header of 833 bytes (byte 6)" },
    { 6, 4, 0xffffffff, "is cut off" },
    { 52, 2, 0xffff, "is cut off" },
    { 68, 2, 0, "0 x 2 samples: none" },
    { 68, 2, 4, "is cut off: 32 bytes from byte 842" },
    { 164, 4, 0, "WavelengthIn (bytes 164, 176 and 168) is 0" },
    { 168, 4, 0x7fc00000, "is nan" },
    { 184, 4, 0xbf800000, "CameraRes (byte 184) is -1" },
    { 218, 2, 3, "PhaseRes 3 (byte 218)" },
  };
  GByteArray *array;

  for (guint format = 1; format <= 3; format++)
    check_file (make_metropro (format), SURFACE_FILE_METROPRO, with_hole,
        steps[1], 4e-6, 4e-6);
  for (guint i = 0; i < 3; i++) {
    array = make_metropro (1);
    put_number (array, 218, i, 2, TRUE);
    put_number (array, 232, 1, 2, TRUE);
    put_float (array, 184, 0, TRUE);
    check_file (array, SURFACE_FILE_METROPRO, turned, steps[i], 0, 0);
  }
  check_cut_off (make_metropro (1));
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    array = make_metropro (2);
    put_number (array, cases[i].at, cases[i].value, cases[i].size, TRUE);
    check_refused (array, cases[i].words);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/surfaceinstruments/plu", test_plu);
  g_test_add_func ("/surfaceinstruments/opd", test_opd);
  g_test_add_func ("/surfaceinstruments/metropro", test_metropro);
  return g_test_run ();
}
