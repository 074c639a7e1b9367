/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Text files of surfaces read in windows. */
#include "cuda/surface/file.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

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

/* An endless word is refused instead of being collected. */
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

/* --- matrices and points ---------------------------------------------------------- */

static SurfaceImage *
read_string (const gchar *text, GError **error)
{
  GBytes *bytes = g_bytes_new (text, strlen (text));
  SurfaceImage *image = surface_file_read (bytes, error);

  g_assert_cmpint (surface_file_detect ((const guint8 *) text, strlen (text)),
      ==, SURFACE_FILE_TEXT);
  g_bytes_unref (bytes);
  return image;
}

/* All with the same six heights, the second one missing: 1, -, -2.5, 3, 0,
 * 1000 in units of @unit */
typedef struct {
  const gchar *text;
  gdouble unit, dx, dy;
  const gchar *title;
} Case;

static void
check_case (const Case *c)
{
  static const gdouble expected[] = { 1, NAN, -2.5, 3, 0, 1000 };
  GError *error = NULL;
  SurfaceImage *image = read_string (c->text, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (image->width, ==, 2);
  g_assert_cmpuint (image->height, ==, 3);
  g_assert_cmpfloat (fabs (image->dx - c->dx), <=, 1e-12 * c->dx);
  g_assert_cmpfloat (fabs (image->dy - c->dy), <=, 1e-12 * c->dy);
  g_assert_cmpstr (image->title, ==, c->title);
  for (guint i = 0; i < 6; i++)
    if (isnan (expected[i]))
      g_assert_true (isnan (image->z[i]));
    else
      g_assert_cmpfloat (fabs (image->z[i] - expected[i] * c->unit), <=,
          1e-12 * fabs (expected[i] * c->unit));
  surface_image_free (image);
}

static void
test_matrix (void)
{
  static const Case cases[] = {
    { "1 nan\n-2.5 3\n0 1000\n", 1, 0, 0, NULL },
    { "  1\t BAD \r\n\r\n-2.5 3\r\n  0 1e3", 1, 0, 0, NULL },
    { "# of a gear\n1, \n-2.5,3\n# between\n0,1000,\n", 1, 0, 0, NULL },
    { "left;right\n1;\n-2,5;3\n0;1000\n", 1, 0, 0, NULL },
    { "1\t---\n-2,5\t3\n0\t1000\t\n", 1, 0, 0, NULL },
    { "# Channel: Gear \n# Width: 4 \302\265m\n# Height: 9 \302\265m\n"
      "# Value units: nm\n1\t***\n-2.5\t3\n0\t1000\n",
        1e-9, 2e-6, 3e-6, "Gear" },
    /* Gwyddion in German and Czech */
    { "# Kanal: Rad\n# Breite: 4 \302\265m\n# H\303\266he: 9 \302\265m\n"
      "# Einheiten: nm\n1\t***\n-2.5\t3\n0\t1000\n",
        1e-9, 2e-6, 3e-6, "Rad" },
    { "# \305\240\303\255\305\231ka: 4 mm\n# V\303\275\305\241ka: 9 mm\n"
      "# Jednotky hodnot: um\n1\t***\n-2.5\t3\n0\t1000\n",
        1e-6, 2e-3, 3e-3, NULL },
    { "\357\273\2771 N/A\n-2.5 3\n0 1000\n", 1, 0, 0, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check_case (&cases[i]);
}

/* Complete, by columns, with falling coordinates, in no order, with gaps, with
 * rounded coordinates: the first sample has the smallest x and y */
static void
test_points (void)
{
  static const Case cases[] = {
    { "0 0 1\n2 0 nan\n0 3 -2.5\n2 3 3\n0 6 0\n2 6 1000\n", 1, 2, 3, NULL },
    { "0,0,1\n0,3,-2.5\n0,6,0\n2,0,\n2,3,3\n2,6,1000\n", 1, 2, 3, NULL },
    { "5;9;1000\n3;9;0\n5;6;3\n3;6;-2,5\n5;3;BAD\n3;3;1\n", 1, 2, 3, NULL },
    { "2 0 nan\n0 0 1\n2 3 3\n0 3 -2.5\n2 6 1000\n0 6 0\n", 1, 2, 3, NULL },
    { "2 3 3\n0 6 0\n0 0 1\n2 6 1000\n2 0 nan\n0 3 -2.5\n", 1, 2, 3, NULL },
    { "2 3 3\n0 6 0\n0 0 1\n2 6 1000\n0 3 -2.5\n", 1, 2, 3, NULL },
    { "0 0 1\n0 3 -2.5\n2 3 3\n0 6 0\n2 6 1000\n", 1, 2, 3, NULL },
    { "x [um],y [mm],z (nm)\n0,0,1\n1.99,0,nan\n0.01,3,-2.5\n2,3,3\n"
      "0,6,0\n2,6,1000\n",
        1e-9, 2e-6, 3e-3, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check_case (&cases[i]);
}

/* Three lines of three numbers that form no grid may be a matrix. */
static void
test_three_columns (void)
{
  SurfaceImage *image = read_string ("1 2 3\n4 5 6\n", NULL);

  g_assert_nonnull (image);
  g_assert_cmpuint (image->width, ==, 3);
  g_assert_cmpuint (image->height, ==, 2);
  g_assert_cmpfloat (image->z[5], ==, 6);
  surface_image_free (image);
}

static void
test_refused_text (void)
{
  static const gchar *const cases[][2] = {
    { "1 2\n3 4 5\n", "3 numbers in line 2 of numbers (up to byte 10); the "
                      "first has 2" },
    { "1,2\n3\n", "1 numbers in line 2" },
    { "1 2\n3 4\n5 6x\n", "\"6x\" for cell 2 of line 3 of numbers (byte 10)" },
    { "1;2\n3;4,5,6\n", "\"4,5,6\" for cell 2 of line 2" },
    { "a [V] b [V] c [V]\n1 2 3\n", "heading with the unit \"V\"" },
    { "# Value units: V\n1 2\n", "\"V\" for value units" },
    { "# Width: -1 m\n1 2\n", "width is -1" },
    { "0 0 1\nnan 0 1\n2 0 1\n3 0 1\n", "no x or y in line 2" },
    { "0 0 1\n1 0 1\n2.5 0 1\n0 1 1\n",
        "4 points x, y, z that form no regular" },
    { "0 0 1\n1 1 1\n2 2 1\n3 4 1\n", "form no regular grid" },
    { "0 0 1\n1e-300 1 1\n1e300 2.5 1\n3 4 1\n", "form no regular grid" },
    { "0 0 1\n1 0 1\n0 1 1\n1 1 1\n1 1 2\n", "two points at x 1, y 1" },
    { "0 1\n1 2\n2 3\n4.5 4\n", "first step is 1 and the last 2.5" },
    { "Wyko ASCII Data File Format 0\t0\t1\nX Size\t2\n",
        "no block of heights" },
    { "Wyko ASCII Data File Format 0\t1\t1\nX Size\t2\nY Size\t1\n"
      "Pixel_size\t7\t4\t1\nRAW_DATA\t3\t8\t\n1\n",
        "is cut off" },
    { "Wyko ASCII Data File Format 0\t1\t1\nX Size\t2\nY Size\t1\n"
      "Pixel_size\t7\t4\t1\nRAW_DATA\t3\t8\t\n1000\n",
        "ends after 1 of 2 columns" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GError *error = NULL;

    g_assert_null (read_string (cases[i][0], &error));
    g_assert_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT);
    if (!strstr (error->message, cases[i][1]))
      g_error ("\"%s\" lacks \"%s\"", error->message, cases[i][1]);
    g_error_free (error);
  }
}

/* Other texts are not recognised. */
static void
test_other_text (void)
{
  static const gchar *const texts[] = { "hello", "12 monkeys\nare here\n",
    "1\n2\n3\n", "# 1 2\n", "1 2\n\1", "<x>1 2</x>\n", "nan nan\n",
    "2024-02-29 12:34\n" };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    g_assert_cmpint (
        surface_file_detect ((const guint8 *) texts[i], strlen (texts[i])), ==,
        SURFACE_FILE_UNKNOWN);
}

/* A unit belongs to its column, not to the column of the same order. */
static void
test_units_of_columns (void)
{
  SurfaceImage *image =
      read_string ("x [um];y;z [nm]\n0;0;1\n1;0;2\n0;2;3\n1;2;4\n", NULL);

  g_assert_cmpfloat_with_epsilon (image->dx, 1e-6, 1e-15);
  g_assert_cmpfloat (image->dy, ==, 2);
  g_assert_cmpfloat_with_epsilon (image->z[3], 4e-9, 1e-18);
  g_assert_false (image->no_z_unit);
  surface_image_free (image);
}

/* Headings of a matrix, of Esri's grids; UTF-16 in both orders */
static void
test_headings (void)
{
  static const Case cases[] = {
    { "Gear 7\nmeasured in March\nWidth: 4 um\nHeight: 9 um\n"
      "Value units: nm\n\n1 BAD\n-2.5 3\n0 1000\n",
        1e-9, 2e-6, 3e-6, NULL },
    { "ncols 2\nnrows 3\nxllcorner 0\nyllcorner 0\ncellsize 2.5\n"
      "NODATA_value -9999\n1 -9999\n-2.5 3\n0 1000\n",
        1, 2.5, 2.5, NULL },
    { "Width: 2\na [V]\nleft;right\n1;\n-2,5;3\n0;1000\n", 1, 0, 0, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check_case (&cases[i]);
}

static SurfaceImage *
read_utf16 (const gchar *text, const gchar *encoding, gsize cut, GError **error)
{
  GByteArray *array = g_byte_array_new ();
  const gboolean big = g_str_has_suffix (encoding, "BE");
  SurfaceImage *image;
  GBytes *bytes;
  gchar *wide;
  gsize n;

  g_byte_array_append (
      array, (const guint8 *) (big ? "\376\377" : "\377\376"), 2);
  wide = g_convert (text, -1, encoding, "UTF-8", NULL, &n, NULL);
  g_byte_array_append (array, (const guint8 *) wide, (guint) (n - cut));
  g_free (wide);
  bytes = g_byte_array_free_to_bytes (array);
  image = surface_file_read (bytes, error);
  g_bytes_unref (bytes);
  return image;
}

static void
test_utf16 (void)
{
  static const gchar *const encodings[] = { "UTF-16LE", "UTF-16BE" };
  GError *error = NULL;
  SurfaceImage *image;

  for (guint i = 0; i < 2; i++) {
    image = read_utf16 ("x [\302\265m]\ty\tz [nm]\r\n1\t2\t3\t4\t5\t6\t7\r\n"
                        "1\t2\t3\t4\t5\t6\t8\r\n",
        encodings[i], 0, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (image->width, ==, 7);
    g_assert_cmpuint (image->height, ==, 2);
    surface_image_free (image);
    g_assert_null (read_utf16 ("1 2\n3 4\n5 6\n", encodings[i], 1, &error));
    g_assert_nonnull (
        strstr (error->message, "incomplete character at byte 24"));
    g_clear_error (&error);
  }
}

/* The examples of a profile in any order, with units, and of rows of two */
static void
test_profile (void)
{
  static const gchar *const texts[] = {
    "x [um]; z [nm]\n0;1\n0.5;2\n1;3\n1.5;4\n",
    "x [um]; z [nm]\n1,5;4\n1;3\n0,5;2\n0;1\n",
    "x [um]; z [nm]\n0.5;2\n1.5;4\n1;3\n0;1\n"
  };
  SurfaceImage *image;

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    image = read_string (texts[i], NULL);
    g_assert_cmpuint (image->width, ==, 4);
    g_assert_cmpuint (image->height, ==, 1);
    g_assert_cmpfloat_with_epsilon (image->dx, 0.5e-6, 1e-15);
    for (guint k = 0; k < 4; k++)
      g_assert_cmpfloat_with_epsilon (image->z[k], (k + 1) * 1e-9, 1e-18);
    g_assert_false (image->no_z_unit || image->no_xy_unit);
    g_assert_nonnull (strstr (image->note, "4 lines of two columns"));
    surface_image_free (image);
  }
  image = read_string ("0 1\n0.5 nan\n1.5 2\n2 7\n2.5 9\n", NULL);
  g_assert_cmpuint (image->width, ==, 6);
  g_assert_true (image->no_z_unit && image->no_xy_unit);
  g_assert_true (isnan (image->z[1]) && isnan (image->z[2]));
  g_assert_cmpfloat (image->z[3], ==, 2);
  surface_image_free (image);
  image = read_string ("3 1\n5 2\n4 3\n4.5 9\n7 8\n", NULL);
  g_assert_cmpuint (image->width, ==, 2);
  g_assert_cmpuint (image->height, ==, 5);
  g_assert_cmpstr (image->note, ==, NULL);
  surface_image_free (image);
}

/* Points of a grid of 12 x 9, @turn radians about the origin, in steps of @step,
 * with positions off by up to @jitter steps, backwards if @back */
static SurfaceImage *
read_grid (gdouble turn, gdouble jitter, gboolean back, GError **error)
{
  GString *text = g_string_new (NULL);
  GRand *random = g_rand_new_with_seed (5);
  SurfaceImage *image;

  for (guint n = 0; n < 108; n++) {
    const guint i = back ? 107 - n : n;
    const gdouble x = i % 12 + g_rand_double_range (random, -jitter, jitter);
    const gdouble y = i / 12 + g_rand_double_range (random, -jitter, jitter);
    gchar words[3][G_ASCII_DTOSTR_BUF_SIZE];

    g_ascii_formatd (words[0], sizeof (words[0]), "%.9g",
        1e-6 * (cos (turn) * x - sin (turn) * y));
    g_ascii_formatd (words[1], sizeof (words[1]), "%.9g",
        1e-6 * (sin (turn) * x + cos (turn) * y));
    g_string_append_printf (text, "%s %s %ue-9\n", words[0], words[1], i);
  }
  image = read_string (text->str, error);
  g_string_free (text, TRUE);
  g_rand_free (random);
  return image;
}

static void
check_grid (gdouble turn, gdouble jitter, const gchar *note)
{
  for (guint back = 0; back < 2; back++) {
    GError *error = NULL;
    SurfaceImage *image = read_grid (turn, jitter, back, &error);

    g_assert_no_error (error);
    g_assert_cmpuint (image->width, ==, 12);
    g_assert_cmpuint (image->height, ==, 9);
    g_assert_cmpfloat_with_epsilon (image->dx, 1e-6, 0.02e-6);
    for (guint i = 0; i < 108; i++)
      g_assert_cmpfloat_with_epsilon (image->z[i], i * 1e-9, 1e-18);
    if (!note)
      g_assert_cmpstr (image->note, ==, NULL);
    else
      g_assert_nonnull (strstr (image->note, note));
    surface_image_free (image);
  }
}

static void
test_jitter_and_tilt (void)
{
  GError *error = NULL;

  check_grid (0, 2e-4, NULL);
  check_grid (0, 0.04, "of the spacing beside the places of their grid");
  check_grid (1e-4, 0, NULL);
  check_grid (0.01, 0, "of the spacing beside the places of their grid");
  g_assert_null (read_grid (0.1, 0, FALSE, &error));
  g_assert_nonnull (strstr (error->message, "is turned by 5.73 degrees"));
  g_clear_error (&error);
  g_assert_null (read_grid (-0.6, 0, TRUE, &error));
  g_assert_nonnull (strstr (error->message, "is turned by -34.4 degrees"));
  g_clear_error (&error);
}

/* Colours and the like after x, y and z */
static void
test_wide_points (void)
{
  GString *text;
  SurfaceImage *image = read_string (
      "1 0 4 255 0 0\n0 0 3 255 0 0\n1 2 6 0 0 0\n0 2 5 0 0 0\n", NULL);

  g_assert_cmpuint (image->width, ==, 2);
  g_assert_cmpuint (image->height, ==, 2);
  for (guint i = 0; i < 4; i++)
    g_assert_cmpfloat (image->z[i], ==, i + 3);
  g_assert_nonnull (strstr (image->note, "lines of 6 columns"));
  g_assert_nonnull (strstr (image->note, "last 3 columns are not read"));
  surface_image_free (image);
  /* positions of points that miss a place, as a matrix: named */
  text = g_string_new (NULL);
  for (guint i = 0; i < 63; i++)
    g_string_append_printf (text, "%u %u 5 0 0 0\n", i % 8, i / 8);
  image = read_string (text->str, NULL);
  g_assert_cmpuint (image->width, ==, 6);
  g_assert_nonnull (
      strstr (image->note, "63 lines of 6 columns, which are no"));
  surface_image_free (image);
  g_string_free (text, TRUE);
  image = read_string ("1 2 3 4\n5 6 7 8\n9 10 11 12\n13 14 15 16\n", NULL);
  g_assert_cmpuint (image->width, ==, 4);
  g_assert_cmpstr (image->note, ==, NULL);
  surface_image_free (image);
}

/* Columns from the bottom up; heights in wavelengths / Mult or nanometres */
static void
test_wyko (void)
{
  static const gdouble expected[] = { 2, 4, 6, 1, NAN, 5 };

  for (guint real = 0; real < 2; real++) {
    gchar *text = g_strdup_printf (
        "Wyko ASCII Data File Format 0\t%u\t1\r\nX Size\t3\r\nY Size\t2\r\n"
        "Block Name\tType\tLength\tValue\r\nWavelength\t7\t4\t80\r\n"
        "Intensity\t3\t24\t\r\n9\t9\r\n9\t9\r\n9\t9\r\n"
        "Aspect\t7\t4\t1.5\r\nMult\t6\t2\t10\r\nTitle\t5\t5\tgear\r\n"
        "Pixel_size\t7\t4\t0.002\r\nRAW_DATA\t3\t24\t\r\n1\t2\r\nBad\t4\r\n"
        "5\t6\r\n%s",
        real, real ? "Image\t3\t6\r\n1\t1\r\n" : "");
    GError *error = NULL;
    SurfaceImage *image = read_string (text, &error);

    g_assert_no_error (error);
    g_assert_cmpuint (image->width, ==, 3);
    g_assert_cmpuint (image->height, ==, 2);
    g_assert_cmpfloat_with_epsilon (image->dx, 2e-6, 1e-15);
    g_assert_cmpfloat_with_epsilon (image->dy, 3e-6, 1e-15);
    g_assert_cmpstr (image->title, ==, "gear");
    g_assert_false (image->no_z_unit);
    for (guint i = 0; i < 6; i++)
      if (isnan (expected[i]))
        g_assert_true (isnan (image->z[i]));
      else
        g_assert_cmpfloat_with_epsilon (
            image->z[i], expected[i] * (real ? 1e-9 : 8e-9), 1e-18);
    if (real)
      g_assert_nonnull (strstr (image->note, "blocks after its heights"));
    else
      g_assert_cmpstr (image->note, ==, NULL);
    surface_image_free (image);
    g_free (text);
  }
}

/* Errors about unknown texts name the line. */
static void
test_explained (void)
{
  static const gchar *const cases[][2] = {
    { "# of a gear\n\nhello there\n", "line 3 (\"hello there\")" },
    { "1\n2\n", "line 1 (\"1\") is a single number" },
    { "\0", "The file is empty" },
    { "\1\2", "Unknown file format" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GBytes *bytes = g_bytes_new_static (cases[i][0], strlen (cases[i][0]));
    GError *error = NULL;

    g_assert_null (surface_file_read (bytes, &error));
    if (!strstr (error->message, cases[i][1]))
      g_error ("\"%s\" lacks \"%s\"", error->message, cases[i][1]);
    g_error_free (error);
    g_bytes_unref (bytes);
  }
}

/* A row longer than any window */
static void
test_long_row (void)
{
  GString *text = g_string_new (NULL);
  GError *error = NULL;
  SurfaceImage *image;
  gchar *name;

  for (guint i = 0; i < 600000; i++)
    g_string_append_printf (text, "%u%c", i, i % 300000 == 299999 ? '\n' : ',');
  name = write_temporary (text->str, text->len);
  image = surface_file_load (name, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (image->width, ==, 300000);
  g_assert_cmpuint (image->height, ==, 2);
  for (guint i = 0; i < 600000; i++)
    g_assert_cmpfloat (image->z[i], ==, i);
  surface_image_free (image);
  g_unlink (name);
  g_free (name);
  g_string_free (text, TRUE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/surfacetext/long-text", test_long_text);
  g_test_add_func ("/surfacetext/long-word", test_long_word);
  g_test_add_func ("/surfacetext/matrix", test_matrix);
  g_test_add_func ("/surfacetext/points", test_points);
  g_test_add_func ("/surfacetext/three-columns", test_three_columns);
  g_test_add_func ("/surfacetext/refused", test_refused_text);
  g_test_add_func ("/surfacetext/other", test_other_text);
  g_test_add_func ("/surfacetext/long-row", test_long_row);
  g_test_add_func ("/surfacetext/headings", test_headings);
  g_test_add_func ("/surfacetext/units-of-columns", test_units_of_columns);
  g_test_add_func ("/surfacetext/utf16", test_utf16);
  g_test_add_func ("/surfacetext/two-columns-are-a-profile", test_profile);
  g_test_add_func ("/surfacetext/jitter-and-tilt", test_jitter_and_tilt);
  g_test_add_func ("/surfacetext/points-with-colours", test_wide_points);
  g_test_add_func ("/surfacetext/wyko", test_wyko);
  g_test_add_func ("/surfacetext/unknown-text-names-line", test_explained);
  return g_test_run ();
}
