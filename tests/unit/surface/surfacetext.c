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
    { "\357\273\2771 N/A\n-2.5 3\n0 1000\n", 1, 0, 0, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check_case (&cases[i]);
}

/* Complete, by columns, from right to left, from the top down, with gaps,
 * with rounded coordinates */
static void
test_points (void)
{
  static const Case cases[] = {
    { "0 0 1\n2 0 nan\n0 3 -2.5\n2 3 3\n0 6 0\n2 6 1000\n", 1, 2, 3, NULL },
    { "0,0,1\n0,3,-2.5\n0,6,0\n2,0,\n2,3,3\n2,6,1000\n", 1, 2, 3, NULL },
    { "5;9;1\n3;9;BAD\n5;6;-2,5\n3;6;3\n5;3;0\n3;3;1000\n", 1, 2, 3, NULL },
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
    { "0 0 1\n1 0 1\n2.5 0 1\n0 1 1\n", "4 points x, y, z form no regular" },
    { "0 0 1\n1 1 1\n2 2 1\n3 4 1\n", "form no regular grid" },
    { "0 0 1\n1e-300 1 1\n1e300 2 1\n3 4 1\n", "form no regular grid" },
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
    "1\n2\n3\n", "# 1 2\n", "a b\nc d\n1 2\n", "1 2\n\1", "<x>1 2</x>\n",
    "nan nan\n", "2024-02-29 12:34\n" };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    g_assert_cmpint (
        surface_file_detect ((const guint8 *) texts[i], strlen (texts[i])), ==,
        SURFACE_FILE_UNKNOWN);
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
  return g_test_run ();
}
