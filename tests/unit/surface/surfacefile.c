/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Files of surfaces: round trips, hand-made files of every variant, messages
 * about invalid files. */
#include "cuda/surface/bytes.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "cuda/core/backend.h"
#include "cuda/surface/heights.h"
#include "cuda/surface/palette.h"

static const SurfaceFileFormat written[] = { SURFACE_FILE_X3P, SURFACE_FILE_SDF,
  SURFACE_FILE_SDF_BINARY, SURFACE_FILE_SUR, SURFACE_FILE_GSF,
  SURFACE_FILE_TIFF, SURFACE_FILE_NPY };

/* --- pictures ----------------------------------------------------------------- */

/* Waves of 1 um at a height of 76 mm; with @holes every 7th point is missing */
static SurfaceImage *
make_image (guint width, guint height, gboolean holes)
{
  SurfaceImage *image = surface_image_new (width, height, NULL);

  image->dx = 0.1276e-6;
  image->dy = 0.3146e-6;
  image->title = g_strdup ("Gl\303\244tte <1> & \"2\"");
  image->date = g_strdup ("2024-02-29T12:34:00");
  for (guint i = 0; i < width * height; i++)
    image->z[i] = holes && i % 7 == 3 ? NAN : 0.0763 + 1e-6 * sin (i * 0.7);
  return image;
}

static gboolean
holds_spacing (SurfaceFileFormat format)
{
  return format != SURFACE_FILE_NPY;
}

static gboolean
holds_title (SurfaceFileFormat format)
{
  return format == SURFACE_FILE_X3P || format == SURFACE_FILE_SUR
         || format == SURFACE_FILE_GSF || format == SURFACE_FILE_TIFF;
}

static gboolean
holds_date (SurfaceFileFormat format)
{
  return format != SURFACE_FILE_GSF && format != SURFACE_FILE_NPY;
}

/* Largest error of a height in a format */
static gdouble
tolerance (SurfaceFileFormat format)
{
  if (format == SURFACE_FILE_GSF)
    return 0.0763 * 0x1p-24;
  /* range of 2 um and the rounding of the offset, over 2^31 steps */
  return format == SURFACE_FILE_SUR ? 1e-14 : 0;
}

static void
check_same (
    const SurfaceImage *a, const SurfaceImage *b, SurfaceFileFormat format)
{
  g_assert_cmpuint (a->width, ==, b->width);
  g_assert_cmpuint (a->height, ==, b->height);
  if (holds_spacing (format)) {
    g_assert_cmpfloat_with_epsilon (a->dx, b->dx, a->dx * 1e-7);
    g_assert_cmpfloat_with_epsilon (a->dy, b->dy, a->dy * 1e-7);
  } else {
    g_assert_cmpfloat (b->dx, ==, 0);
    g_assert_cmpfloat (b->dy, ==, 0);
  }
  g_assert_cmpstr (b->title, ==, holds_title (format) ? a->title : NULL);
  g_assert_cmpstr (b->date, ==, holds_date (format) ? a->date : NULL);
  for (gsize i = 0; i < (gsize) a->width * a->height; i++)
    if (isnan (a->z[i]))
      g_assert_true (isnan (b->z[i]));
    else
      g_assert_cmpfloat (fabs (a->z[i] - b->z[i]), <=, tolerance (format));
}

static void
check_round_trip (const SurfaceImage *image, SurfaceFileFormat format)
{
  GError *error = NULL;
  GBytes *bytes = surface_file_write (image, format, &error);
  SurfaceImage *back;

  g_assert_no_error (error);
  g_assert_cmpint (surface_file_detect (g_bytes_get_data (bytes, NULL),
                       g_bytes_get_size (bytes)),
      ==, format);
  back = surface_file_read (bytes, &error);
  g_assert_no_error (error);
  check_same (image, back, format);
  surface_image_free (back);
  g_bytes_unref (bytes);
}

static void
test_round_trips (void)
{
  static const guint sizes[][2] = { { 1, 1 }, { 3, 2 }, { 1, 9 }, { 17, 1 },
    { 65, 33 }, { 301, 127 } };

  for (guint f = 0; f < G_N_ELEMENTS (written); f++)
    for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
      for (guint holes = 0; holes < 2; holes++) {
        SurfaceImage *image = make_image (sizes[i][0], sizes[i][1], holes);

        if (surface_file_supported (written[f]))
          check_round_trip (image, written[f]);
        surface_image_free (image);
      }
}

/* Flat, without any valid point, very large, without title and date */
static void
test_odd_heights (void)
{
  static const gdouble heights[][2] = { { 0, 0 }, { 0.0763, 0.0763 },
    { NAN, NAN }, { -1e-12, 1e-12 }, { -1, 1 }, { INFINITY, 0 } };

  for (guint f = 0; f < G_N_ELEMENTS (written); f++)
    for (guint i = 0; i < G_N_ELEMENTS (heights); i++) {
      SurfaceImage *image = make_image (2, 2, FALSE);
      SurfaceImage *back;
      GBytes *bytes;

      g_clear_pointer (&image->title, g_free);
      g_clear_pointer (&image->date, g_free);
      for (guint k = 0; k < 4; k++)
        image->z[k] = heights[i][k % 2];
      bytes = surface_file_write (image, written[f], NULL);
      g_assert_true (bytes || !surface_file_supported (written[f]));
      back = bytes ? surface_file_read (bytes, NULL) : NULL;
      for (guint k = 0; back && k < 4; k++)
        if (isfinite (image->z[k]))
          g_assert_cmpfloat (
              fabs (back->z[k] - image->z[k]), <=, fabs (image->z[k]) * 1e-7);
        else
          g_assert_true (isnan (back->z[k]));
      g_assert_true (!back || (!back->title && !back->date));
      g_clear_pointer (&back, surface_image_free);
      g_clear_pointer (&bytes, g_bytes_unref);
      surface_image_free (image);
    }
}

/* The same picture always gives the same file. */
static void
test_repeatable (void)
{
  SurfaceImage *image = make_image (31, 17, TRUE);

  for (guint f = 0; f < G_N_ELEMENTS (written); f++) {
    GBytes *a, *b;

    if (!surface_file_supported (written[f]))
      continue;
    a = surface_file_write (image, written[f], NULL);
    b = surface_file_write (image, written[f], NULL);
    g_assert_true (g_bytes_equal (a, b));
    g_bytes_unref (a);
    g_bytes_unref (b);
  }
  surface_image_free (image);
}

/* A reader's text continues "The ... file"; errors about memory are complete
 * sentences. */
static void
test_refusals (void)
{
  static const struct {
    CvisError code;
    const gchar *words, *expected;
  } cases[] = {
    { CVIS_ERROR_FORMAT, "is\ncut off", "The X3P file is cut off" },
    { CVIS_ERROR_MEMORY, "Not enough memory", "Not enough memory" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GError *error = NULL;

    surface_format_refuse (surface_format_of (SURFACE_FILE_X3P),
        g_error_new_literal (CVIS_ERROR, cases[i].code, cases[i].words),
        &error);
    g_assert_error (error, CVIS_ERROR, (gint) cases[i].code);
    g_assert_cmpstr (error->message, ==, cases[i].expected);
    g_error_free (error);
  }
}

static void
test_names (void)
{
  static const struct {
    const gchar *name;
    SurfaceFileFormat format;
  } cases[] = {
    { "a.x3p", SURFACE_FILE_X3P },
    { "/dir.sur/a%05d.SDF", SURFACE_FILE_SDF },
    { "a.sur", SURFACE_FILE_SUR },
    { "a.b.gsf", SURFACE_FILE_GSF },
    { "a.tif", SURFACE_FILE_TIFF },
    { "a.tiff", SURFACE_FILE_TIFF },
    { "a.npy", SURFACE_FILE_NPY },
    { "a.al3d", SURFACE_FILE_AL3D },
    { "a.bcrf", SURFACE_FILE_BCRF },
    { "a.sur/b", SURFACE_FILE_UNKNOWN },
    { "sur", SURFACE_FILE_UNKNOWN },
    { "a.", SURFACE_FILE_UNKNOWN },
    { "", SURFACE_FILE_UNKNOWN },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_cmpint (
        surface_file_format_of_name (cases[i].name), ==, cases[i].format);
  g_assert_cmpstr (
      surface_file_format_name (SURFACE_FILE_SDF_BINARY), ==, "sdf-binary");
  g_assert_cmpstr (
      surface_file_format_name (SURFACE_FILE_UNKNOWN), ==, "unknown");
  g_assert_false (surface_file_supported (SURFACE_FILE_UNKNOWN));
  g_assert_true (surface_file_supported (SURFACE_FILE_AL3D));
}

/* --- hand-made files ----------------------------------------------------- */

static SurfaceImage *
read_array (GByteArray *array, GError **error)
{
  GBytes *bytes = g_bytes_new (array->data, array->len);
  SurfaceImage *image = surface_file_read (bytes, error);

  g_bytes_unref (bytes);
  return image;
}

static void
add (GByteArray *array, const void *bytes, gsize n)
{
  g_byte_array_append (array, bytes, n);
}

static void
add_text (GByteArray *array, const gchar *text)
{
  add (array, text, strlen (text));
}

/* @n little-endian samples of @size bytes, given as bit patterns */
static void
add_samples (GByteArray *array, const gint64 *values, guint n, guint size)
{
  for (guint i = 0; i < n; i++) {
    guint64 v = GUINT64_TO_LE ((guint64) values[i]);
    add (array, &v, size);
  }
}

static void
check_row (
    GByteArray *array, const gdouble *expected, guint width, guint height)
{
  GError *error = NULL;
  SurfaceImage *image = read_array (array, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (image->width, ==, width);
  g_assert_cmpuint (image->height, ==, height);
  for (guint i = 0; i < width * height; i++)
    if (isnan (expected[i]))
      g_assert_true (isnan (image->z[i]));
    else
      g_assert_cmpfloat (
          fabs (image->z[i] - expected[i]), <=, fabs (expected[i]) * 1e-12);
  surface_image_free (image);
}

static void
check_refused (GBytes *bytes, const gchar *words)
{
  GError *error = NULL;
  SurfaceImage *image = surface_file_read (bytes, &error);

  g_assert_null (image);
  g_assert_nonnull (error);
  if (!strstr (error->message, words))
    g_error ("\"%s\" lacks \"%s\"", error->message, words);
  g_assert_cmpint (error->domain, ==, CVIS_ERROR);
  g_error_free (error);
}

static void
add_double (GByteArray *array, gdouble value)
{
  add (array, &value, sizeof (value)); /* these tests assume little-endian */
}

static GByteArray *
start_sdf (const gchar *magic, guint8 type)
{
  GByteArray *array = g_byte_array_new ();
  guint16 counts[] = { 2, 2 };
  guint32 wide[] = { 2, 2 };
  guint8 flags[] = { 0, type, 0 };

  add_text (array, magic);
  add_text (array, "someone   290220241234290220241234");
  if (magic[5] == '2')
    add (array, wide, sizeof (wide));
  else
    add (array, counts, sizeof (counts));
  add_double (array, 1e-6);
  add_double (array, 2e-6);
  add_double (array, 1e-9);
  add_double (array, -1);
  add (array, flags, 3);
  return array;
}

/* Every type; the values of missing points in ISO and in BCR. */
static void
test_sdf_types (void)
{
  static const struct {
    const gchar *magic;
    guint8 type, size;
    gint64 values[4];
    gdouble nm[4];
  } cases[] = {
    { "bBCR-1.0", 0, 1, { 0, 1, 200, 255 }, { 0, 1, 200, 255 } },
    { "bBCR-1.0", 1, 2, { 0, 1, 60000, 65535 }, { 0, 1, 60000, NAN } },
    { "bBCR-1.0", 2, 4, { 0, 1, 4e9, G_MAXUINT32 }, { 0, 1, 4e9, NAN } },
    { "bISO-2.0", 4, 1, { -128, -1, 1, 127 }, { -128, -1, 1, 127 } },
    { "bISO-1.0", 5, 2, { -32768, -1, 1, 32767 }, { NAN, -1, 1, 32767 } },
    { "bBCR-1.0", 5, 2, { -32768, -1, 1, 32767 }, { NAN, -1, 1, NAN } },
    { "bISO-1.0", 6, 4, { G_MININT32, -1, 1, G_MAXINT32 },
        { NAN, -1, 1, G_MAXINT32 } },
    { "bBCR-1.0", 6, 4, { G_MININT32, -1, 1, G_MAXINT32 },
        { NAN, -1, 1, NAN } },
    /* 1.5, -2, FLT_MAX, NaN */
    { "bISO-1.0", 3, 4, { 0x3fc00000, 0xc0000000, 0x7f7fffff, 0x7fc00000 },
        { 1.5, -2, NAN, NAN } },
    /* 1.5, -2, -DBL_MAX, infinity */
    { "bISO-2.0", 7, 8,
        { 0x3ff8000000000000, (gint64) 0xc000000000000000,
            (gint64) 0xffefffffffffffff, 0x7ff0000000000000 },
        { 1.5, -2, NAN, NAN } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GByteArray *array = start_sdf (cases[i].magic, cases[i].type);
    gdouble metres[4];

    for (guint k = 0; k < 4; k++)
      metres[k] = cases[i].nm[k] * 1e-9;
    add_samples (array, cases[i].values, 4, cases[i].size);
    check_row (array, metres, 2, 2);
    g_byte_array_unref (array);
  }
}

static void
test_sdf_text (void)
{
  static const gdouble expected[] = { 1e-6, NAN, -2.5e-6, 3e-6, 0, 1e-3 };
  static const gchar *const texts[] = {
    "aBCR-1.0\nManufacID = a = b\nCreateDate=290220241234\nnumpoints = 3\n"
    "NumProfiles = 2\nXscale = 1e-6\nYscale=2e-6\nZscale = 1.0E-6\n"
    "DataType = 5\n*\n1 BAD -2.5\n3 0\n1000\n*\nPart = wheel\n*\n",
    "aISO-1.0\r\n\r\nNumPoints   = 3\r\nNumProfiles = 2\r\nXscale = 1e-6\r\n"
    "Yscale = 2e-6\r\nZscale = 1e-6\r\nCompression = 0\r\n* \r\n"
    "1\tbad\r\n-2.5 3 0 1000\r\n",
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    GByteArray *array = g_byte_array_new ();

    add_text (array, texts[i]);
    check_row (array, expected, 3, 2);
    g_byte_array_unref (array);
  }
}

/* A profile needs no Yscale. */
static void
test_sdf_profile (void)
{
  GByteArray *array = g_byte_array_new ();
  SurfaceImage *image;

  add_text (array, "aISO-1.0\nNumPoints = 2\nNumProfiles = 1\nXscale = 1e-6\n"
                   "Yscale = 0\nZscale = 1\n*\n1 2\n*\n");
  image = read_array (array, NULL);
  g_assert_nonnull (image);
  g_assert_cmpfloat (image->dy, ==, 0);
  surface_image_free (image);
  g_byte_array_unref (array);
}

static void
put_16 (GByteArray *array, guint at, guint value)
{
  guint16 v = GUINT16_TO_LE ((guint16) value);

  memcpy (array->data + at, &v, 2);
}

static void
put_32 (GByteArray *array, guint at, guint32 value)
{
  guint32 v = GUINT32_TO_LE (value);

  memcpy (array->data + at, &v, 4);
}

static void
put_float (GByteArray *array, guint at, gfloat value)
{
  memcpy (array->data + at, &value, 4);
}

/* 3 x 1 points of 16 bits, 2 mm and 3 um apart, Z step 0.5 nm, Z offset 1
 * um; special points; a comment of 5 bytes and a private zone of 3 */
static GByteArray *
start_sur (const gchar *magic)
{
  GByteArray *array = g_byte_array_new ();

  g_byte_array_set_size (array, 512);
  memset (array->data, 0, 512);
  memcpy (array->data, magic, 12);
  put_16 (array, 18, 2);
  put_16 (array, 86, 1);
  put_16 (array, 98, 16);
  put_32 (array, 100, (guint32) -100);
  put_32 (array, 104, 100);
  put_32 (array, 108, 3);
  put_32 (array, 112, 1);
  put_float (array, 120, 2);
  put_float (array, 124, 3);
  put_float (array, 128, 0.5);
  memcpy (array->data + 180, "mm              ", 16);
  memcpy (array->data + 196, "\265m              ", 16);
  memcpy (array->data + 212, "nm", 2);
  memcpy (array->data + 260, "um", 2);
  put_float (array, 474, 1);
  put_16 (array, 334, 5);
  put_16 (array, 336, 3);
  add_text (array, "commetpri");
  g_byte_array_set_size (array, 520);
  return array;
}

static const gdouble sur_heights[] = { 0.95e-6, NAN, 1.05e-6 };

static void
test_sur (void)
{
  static const gint64 points[] = { -100, -102, 100 };
  GByteArray *array = start_sur ("DIGITAL SURF");
  SurfaceImage *image;

  add_samples (array, points, 3, 2);
  check_row (array, sur_heights, 3, 1);
  image = read_array (array, NULL);
  g_assert_cmpfloat_with_epsilon (image->dx, 2e-3, 1e-12);
  g_assert_cmpfloat_with_epsilon (image->dy, 3e-6, 1e-15);
  g_assert_null (image->date);
  surface_image_free (image);
  g_byte_array_unref (array);
}

/* Images and spectra, in units other than lengths; the mean of several
 * samples */
static void
test_sur_objects (void)
{
  static const gint64 points[] = { -100, -102, 100, 4, 7, 11 };
  static const gdouble plain[] = { -49, NAN, 51 }, means[] = { -49, 27, 5.5 };
  static const struct {
    guint type;
    gboolean length; /* requires lengths or a.u. */
  } cases[] = { { 1, TRUE }, { 2, TRUE }, { 10, FALSE }, { 12, FALSE },
    { 13, TRUE }, { 16, TRUE }, { 20, FALSE }, { 21, FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint arbitrary = 0; arbitrary < 2; arbitrary++) {
      GByteArray *array = start_sur ("DIGITAL SURF");
      SurfaceImage *image;

      put_16 (array, 18, cases[i].type);
      put_32 (array, 94, cases[i].type == 21 ? 2 : 99);
      for (guint k = 0; k < 2; k++)
        memcpy (array->data + 180 + 32 * k, arbitrary ? "a.u." : "eV  ", 4);
      memset (array->data + 260, 0, 16);
      add_samples (array, points, 6, 2);
      if (cases[i].length && !arbitrary) {
        GBytes *bytes = g_byte_array_free_to_bytes (array);

        check_refused (bytes, "X step in \"eV\", which is no unit of length");
        g_bytes_unref (bytes);
        continue;
      }
      check_row (array, cases[i].type == 21 ? means : plain, 3, 1);
      image = read_array (array, NULL);
      g_assert_cmpfloat (image->dx, ==, 0);
      g_assert_cmpfloat_with_epsilon (image->dy, 3e-6, 1e-15);
      surface_image_free (image);
      g_byte_array_unref (array);
    }
}

/* Z offset: 0 unless heights are far from 0 */
static void
test_sur_offset (void)
{
  static const gdouble heights[][2] = { { 1e-6, 3e-6 }, { -1e-3, 1e-6 },
    { 62e-6, 63e-6 }, { 65e-6, 66e-6 }, { 0.0763, 0.0764 } };

  for (guint i = 0; i < G_N_ELEMENTS (heights); i++) {
    SurfaceImage *image = surface_image_new (2, 1, NULL), *back;
    GBytes *bytes;
    gfloat offset;

    image->dx = image->dy = 1e-6;
    memcpy (image->z, heights[i], sizeof (heights[i]));
    bytes = surface_file_write (image, SURFACE_FILE_SUR, NULL);
    memcpy (&offset, (const guint8 *) g_bytes_get_data (bytes, NULL) + 474, 4);
    g_assert_true ((offset == 0) == (i < 3));
    back = surface_file_read (bytes, NULL);
    for (guint k = 0; k < 2; k++)
      g_assert_cmpfloat (fabs (back->z[k] - heights[i][k]), <=,
          (heights[i][1] - heights[i][0]) * 0x1p-24);
    surface_image_free (back);
    surface_image_free (image);
    g_bytes_unref (bytes);
  }
}

static guint
add_deflated (GByteArray *array, const void *bytes, gsize n)
{
  GZlibCompressor *deflater =
      g_zlib_compressor_new (G_ZLIB_COMPRESSOR_FORMAT_ZLIB, 6);
  guint8 packed[256];
  gsize read, wrote;

  g_assert_cmpint (
      g_converter_convert (G_CONVERTER (deflater), bytes, n, packed,
          sizeof (packed), G_CONVERTER_INPUT_AT_END, &read, &wrote, NULL),
      ==, G_CONVERTER_FINISHED);
  g_object_unref (deflater);
  add (array, packed, wrote);
  return wrote;
}

/* Inversion mirrors heights about their mean and reverses columns or rows. */
static void
test_sur_inversion (void)
{
  static const gint64 points[] = { 1, 2, 3, -100, 6, -102 };
  /* um; the mean of the valid points is -17.6 */
  static const gdouble um[][6] = {
    { 1, 2, 3, -100, 6, NAN }, { -36.2, -37.2, -38.2, 64.8, -41.2, NAN },
    { -38.2, -37.2, -36.2, NAN, -41.2, 64.8 },
    { 64.8, -41.2, NAN, -36.2, -37.2, -38.2 },
    { 1, 2, 3, -100, 6, NAN }, /* an unknown value */
  };

  for (guint inversion = 0; inversion < G_N_ELEMENTS (um); inversion++)
    for (guint compressed = 0; compressed < 2; compressed++) {
      GByteArray *array =
          start_sur (compressed ? "DSCOMPRESSED" : "DIGITAL SURF");
      gdouble metres[6];

      put_32 (array, 112, 2);
      put_float (array, 128, 1000);
      put_float (array, 474, 0);
      put_16 (array, 290, inversion);
      if (compressed) {
        GByteArray *raw = g_byte_array_new ();
        guint8 table[12] = { 1, 0, 0, 0, 12 };

        add (array, table, sizeof (table));
        add_samples (raw, points, 6, 2);
        put_32 (array, 528, add_deflated (array, raw->data, raw->len));
        g_byte_array_unref (raw);
      } else {
        add_samples (array, points, 6, 2);
      }
      for (guint i = 0; i < 6; i++)
        metres[i] = um[inversion][i] * 1e-6;
      check_row (array, metres, 3, 2);
      g_byte_array_unref (array);
    }
}

/* Two streams, split in the middle of a point */
static void
test_sur_compressed (void)
{
  static const gint16 points[] = { -100, -102, 100 };
  GByteArray *array = start_sur ("DSCOMPRESSED");
  const guint8 *raw = (const guint8 *) points;
  guint8 table[20] = { 0 };
  SurfaceImage *image;
  GError *error = NULL;

  add (array, table, sizeof (table));
  put_32 (array, 520, 2);
  put_32 (array, 524, 3);
  put_32 (array, 532, 3);
  put_32 (array, 528, add_deflated (array, raw, 3));
  put_32 (array, 536, add_deflated (array, raw + 3, 3));
  check_row (array, sur_heights, 3, 1);
  array->data[545] ^= 0xff;
  image = read_array (array, &error);
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT);
  g_assert_nonnull (strstr (error->message, "stream of points that is broken"));
  g_assert_null (image);
  g_clear_error (&error);
  g_byte_array_unref (array);
}

static GByteArray *
make_npy (guint8 version, const gchar *header)
{
  GByteArray *array = g_byte_array_new ();
  guint8 start[12] = "\x93NUMPY";

  start[6] = version;
  start[8] = strlen (header);
  add (array, start, version == 1 ? 10 : 12);
  add_text (array, header);
  return array;
}

static void
test_npy (void)
{
  static const gdouble expected[] = { 1, 2, 3, 4, 5, 6 };
  static const gint64 rows[] = { 1, 2, 3, 4, 5, 6 };
  static const gint64 columns[] = { 1, 4, 2, 5, 3, 6 };
  static const gint64 halves[] = { 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500,
    0x4600 };
  static const gint64 big[] = { 0x100, 0x200, 0x300, 0x400, 0x500, 0x600 };
  static const struct {
    guint8 version;
    const gchar *header;
    const gint64 *values;
    guint size, height;
  } cases[] = {
    { 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }\n", rows,
        1, 2 },
    { 2, "{'shape':(2,3),'fortran_order':False,'descr':'<i2'}", rows, 2, 2 },
    { 3, "{'descr': '<u4', 'fortran_order': True, 'shape': (2, 3), }", columns,
        4, 2 },
    { 1, "{'descr': '>i2', 'fortran_order': False, 'shape': (2, 3), }", big, 2,
        2 },
    { 1, "{'descr': '<i8', 'fortran_order': False, 'shape': (6,), }", rows, 8,
        1 },
    { 1, "{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3), }", halves,
        2, 2 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GByteArray *array = make_npy (cases[i].version, cases[i].header);

    add_samples (array, cases[i].values, 6, cases[i].size);
    check_row (array, expected, 6 / cases[i].height, cases[i].height);
    g_byte_array_unref (array);
  }
}

/* All 65536 half floats, in rows and in columns, in both byte orders */
static void
test_halves (void)
{
  static const gchar *const headers[] = {
    "{'descr': '<f2', 'fortran_order': False, 'shape': (1, 65536), }",
    "{'descr': '>f2', 'fortran_order': False, 'shape': (1, 65536), }",
    "{'descr': '<f2', 'fortran_order': True, 'shape': (65536, 1), }",
  };

  for (guint i = 0; i < G_N_ELEMENTS (headers); i++) {
    GByteArray *array = make_npy (1, headers[i]);
    SurfaceImage *image;

    for (guint bits = 0; bits < 65536; bits++) {
      const guint8 bytes[] = { (guint8) bits, (guint8) (bits >> 8) };

      add (array, &bytes[i == 1], 1);
      add (array, &bytes[i != 1], 1);
    }
    image = read_array (array, NULL);
    for (gint bits = 0; bits < 65536; bits++) {
      const gint exponent = bits >> 10 & 31, digits = bits & 1023;
      const gdouble z = exponent > 0 ? ldexp (1024 + digits, exponent - 25)
                                     : ldexp (digits, -24);

      if (exponent == 31)
        g_assert_true (isnan (image->z[bits]));
      else
        g_assert_cmpfloat (image->z[bits], ==, bits >> 15 ? -z : z);
    }
    surface_image_free (image);
    g_byte_array_unref (array);
  }
}

/* --- TIFF ---------------------------------------------------------------------- */

/* @type: 2 text, 3 u16, 4 u32, 5 rational; @value: or its position */
static void
add_field (GByteArray *array, guint tag, guint type, guint n, guint32 value)
{
  const guint at = array->len;

  g_byte_array_set_size (array, at + 12);
  put_16 (array, at, tag);
  put_16 (array, at + 2, type);
  put_32 (array, at + 4, n);
  put_32 (array, at + 8, value);
}

/* 3 x 2 samples of @bits; @format: 1 unsigned, 2 signed, 3 float; resolution
 * 20000 and 10000 of @unit; @text: (nullable) */
static GByteArray *
make_tiff (guint bits, guint format, const gint64 *values, guint unit,
    const gchar *text)
{
  const guint n_text = text ? (guint) strlen (text) + 1 : 0;
  GByteArray *array = g_byte_array_new ();
  const gint64 resolutions[] = { 20000, 1, 10000, 1 };
  guint data;

  add (array, "II*\0\0\0\0\0", 8);
  add_samples (array, resolutions, 4, 4);
  if (text)
    add (array, text, n_text);
  data = array->len;
  add_samples (array, values, 6, bits / 8);
  g_byte_array_set_size (array, (array->len + 1) / 2 * 2);
  put_32 (array, 4, array->len);
  add (array, text ? "\15\0" : "\14\0", 2);
  add_field (array, 256, 3, 1, 3);
  add_field (array, 257, 3, 1, 2);
  add_field (array, 258, 3, 1, bits);
  add_field (array, 259, 3, 1, 1);
  add_field (array, 262, 3, 1, 1);
  if (text)
    add_field (array, 270, 2, n_text, 24);
  add_field (array, 273, 4, 1, data);
  add_field (array, 277, 3, 1, 1);
  add_field (array, 279, 4, 1, 6 * bits / 8);
  add_field (array, 282, 5, 1, 8);
  add_field (array, 283, 5, 1, 16);
  add_field (array, 296, 3, 1, unit);
  add_field (array, 339, 3, 1, format);
  add (array, "\0\0\0\0", 4);
  return array;
}

static void
test_tiff_samples (void)
{
  static const struct {
    guint bits, format;
    gint64 values[6];
    gdouble heights[6];
  } cases[] = {
    { 8, 1, { 0, 1, 2, 127, 128, 255 }, { 0, 1, 2, 127, 128, 255 } },
    { 8, 2, { 0, 1, 2, 127, -128, -1 }, { 0, 1, 2, 127, -128, -1 } },
    { 16, 1, { 0, 1, 2, 3, 32768, 65535 }, { 0, 1, 2, 3, 32768, 65535 } },
    { 16, 2, { 0, 1, 2, 3, -32768, -1 }, { 0, 1, 2, 3, -32768, -1 } },
    { 32, 1, { 0, 1, 2, 3, 4, 0xffffffff }, { 0, 1, 2, 3, 4, 4294967295. } },
    { 32, 2, { 0, 1, 2, 3, 4, -5 }, { 0, 1, 2, 3, 4, -5 } },
    /* 1, -2, the largest, the smallest, infinity, NaN */
    { 16, 3, { 0x3c00, 0xc000, 0x7bff, 0x8001, 0x7c00, 0x7e01 },
        { 1, -2, 65504, -0x1p-24, NAN, NAN } },
  };

  if (!surface_file_supported (SURFACE_FILE_TIFF))
    return;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GByteArray *array =
        make_tiff (cases[i].bits, cases[i].format, cases[i].values, 1, NULL);

    check_row (array, cases[i].heights, 3, 2);
    g_byte_array_unref (array);
  }
}

/* Inches, centimetres, no unit, only ImageJ's unit */
static void
test_tiff_spacing (void)
{
  static const gint64 values[6] = { 0 };
  static const struct {
    guint unit;
    const gchar *text;
    gdouble dx, dy;
  } cases[] = {
    { 2, NULL, 0.0254 / 20000, 0.0254 / 10000 },
    { 3, NULL, 0.5e-6, 1e-6 },
    { 1, NULL, 0, 0 },
    { 1, "ImageJ=1.53\nunit=mm\n", 0.05e-6, 0.1e-6 },
    { 1, "ImageJ=1.53\nunit=micron\n", 0.05e-9, 0.1e-9 },
    { 1, "ImageJ=1.53\nunit=pixel\n", 0, 0 },
    { 1, "unit=mm\n", 0, 0 },
  };

  if (!surface_file_supported (SURFACE_FILE_TIFF))
    return;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GByteArray *array = make_tiff (8, 1, values, cases[i].unit, cases[i].text);
    GError *error = NULL;
    SurfaceImage *image = read_array (array, &error);

    g_assert_no_error (error);
    g_assert_cmpfloat (fabs (image->dx - cases[i].dx), <=, 1e-6 * cases[i].dx);
    g_assert_cmpfloat (fabs (image->dy - cases[i].dy), <=, 1e-6 * cases[i].dy);
    surface_image_free (image);
    g_byte_array_unref (array);
  }
}

static void
check_refused_tiff (GByteArray *array, const gchar *words)
{
  GBytes *bytes = g_byte_array_free_to_bytes (array);

  check_refused (bytes, words);
  g_bytes_unref (bytes);
}

static void
test_tiff_refused (void)
{
  static const gint64 values[6] = { 0 };
  GByteArray *array;
  guint fields;

  if (!surface_file_supported (SURFACE_FILE_TIFF))
    return;
  check_refused_tiff (make_tiff (64, 1, values, 1, NULL),
      "samples of 64 bits that are integers");
  check_refused_tiff (make_tiff (16, 4, values, 1, NULL),
      "samples of 16 bits that are no numbers");
  /* the fields begin after 24 bytes, the samples and a count */
  fields = 24 + 6 + 2;
  array = make_tiff (8, 1, values, 1, NULL);
  put_16 (array, fields + 6 * 12 + 8, 3);
  check_refused_tiff (array, "has 3 samples a point");
  /* colours instead of the resolution's unit */
  array = make_tiff (8, 1, values, 1, NULL);
  put_16 (array, fields + 4 * 12 + 8, 3);
  put_16 (array, fields + 10 * 12, 320);
  put_32 (array, fields + 10 * 12 + 4, 3 * 256);
  put_32 (array, fields + 10 * 12 + 8, array->len);
  g_byte_array_set_size (array, array->len + 3 * 256 * 2);
  check_refused_tiff (array, "colours of a palette");
}

static void
add_tag (GByteArray *array, const gchar *name, const gchar *value)
{
  gchar tag[52] = { 0 };

  memcpy (tag, name, strlen (name));
  memcpy (tag + 20, value, strlen (value));
  memcpy (tag + 50, "\r\n", 2);
  add (array, tag, sizeof (tag));
}

/* Rows of three floats are padded to 16 bytes; the last one need not be. */
static void
test_al3d (void)
{
  static const gdouble expected[] = { 1, 2, NAN, 4, 5, 6 };
  static const gfloat heights[] = { 1, 2, 3e15f, 99, 4, 5, 6 };
  GByteArray *array = g_byte_array_new ();

  add (array, "AliconaImaging\0\r\n", 17);
  add_tag (array, "Version", "1");
  add_tag (array, "TagCount", "6");
  add_tag (array, "Cols", "3");
  add_tag (array, "Rows", "2");
  add_tag (array, "PixelSizeXMeter", "1e-6");
  add_tag (array, "PixelSizeYMeter", "2e-6");
  add_tag (array, "InvalidPixelValue", "3.000000e+15");
  add_tag (array, "DepthImageOffset", "433");
  add (array, heights, sizeof (heights));
  check_row (array, expected, 3, 2);
  g_byte_array_unref (array);
}

static GByteArray *
make_bcrf (gboolean wide, const gchar *mark, const gchar *fields)
{
  GByteArray *array = g_byte_array_new ();
  gchar text[300];

  memset (text, ' ', sizeof (text));
  memcpy (text, fields, strlen (fields));
  add_text (array, mark);
  for (guint i = 0; i < sizeof (text); i++) {
    add (array, &text[i], 1);
    if (wide)
      add (array, "", 1);
  }
  g_byte_array_set_size (array, wide ? 600 : 300);
  return array;
}

#define BCR_FIELDS                                                             \
  "headersize = 300\n%% a = comment\nxpixels = 3\nypixels = 1\n"               \
  "xlength = 3\nylength = 2\nxunit = um\n"

static void
test_bcrf (void)
{
  static const gdouble metres[] = { 1e-6, NAN, -2e-6 };
  static const gfloat heights[] = { 1, 3.402823e38f, -2 };
  static const guint8 big[] = { 0, 10, 0x7f, 0xff, 0xff, 0xec };
  static const gdouble steps[] = { 1e-9, NAN, -2e-9 };

  for (guint i = 0; i < 3; i++) {
    GByteArray *array = make_bcrf (i > 0, i == 2 ? "\xff\xfe" : "",
        i ? "fileformat = bcrf_unicode\n" BCR_FIELDS
            "zunit = um\nvoidpixels = 3.402823E+38\n"
          : "fileformat = bcrf\n" BCR_FIELDS
            "bit2nm = 1000\nvoidpixels = 3.402823466E+38\n");

    add (array, heights, sizeof (heights));
    check_row (array, metres, 3, 1);
    g_byte_array_unref (array);
  }
  for (guint i = 0; i < 1; i++) {
    GByteArray *array = make_bcrf (FALSE, "",
        "fileformat = bcrstm\nintelmode = 0\nbit2nm = 0.1\n" BCR_FIELDS);

    add (array, big, sizeof (big));
    check_row (array, steps, 3, 1);
    g_byte_array_unref (array);
  }
}

static void
test_gsf (void)
{
  static const gdouble expected[] = { 1e-9, NAN };
  static const gfloat heights[] = { 1, NAN };
  GByteArray *array = g_byte_array_new ();
  SurfaceImage *image;

  add_text (array, "Gwyddion Simple Field 1.0\nXRes=2\nYRes = 1\n"
                   "ZUnits = nm\nTitle = a=b\n");
  while (array->len % 4 != 3)
    add_text (array, "\n");
  add (array, "", 1);
  add (array, heights, sizeof (heights));
  check_row (array, expected, 2, 1);
  image = read_array (array, NULL);
  g_assert_cmpstr (image->title, ==, "a=b");
  g_assert_cmpfloat (image->dx, ==, 0);
  surface_image_free (image);
  g_byte_array_unref (array);
}

/* --- invalid files ------------------------------------------------------- */

/* The end of a TIFF may be its title. */
static void
check_refused_or_whole (GBytes *bytes, const SurfaceImage *expected)
{
  GError *error = NULL;
  SurfaceImage *image = surface_file_read (bytes, &error);

  g_assert_true ((image == NULL) == (error != NULL));
  if (image)
    for (guint i = 0; i < image->width * image->height; i++)
      g_assert_true (image->z[i] == expected->z[i]
                     || (isnan (image->z[i]) && isnan (expected->z[i])));
  g_clear_pointer (&image, surface_image_free);
  g_clear_error (&error);
}

/* Any truncated file is refused without a crash. */
static void
test_cut_off (void)
{
  SurfaceImage *image = make_image (9, 5, TRUE);

  for (guint f = 0; f < G_N_ELEMENTS (written); f++) {
    GBytes *bytes = surface_file_write (image, written[f], NULL);
    gsize size = bytes ? g_bytes_get_size (bytes) : 0;

    /* a text needs no trailer */
    if (written[f] == SURFACE_FILE_SDF)
      size -= 2;
    for (gsize n = 0; n < size; n++) {
      GBytes *part = g_bytes_new (g_bytes_get_data (bytes, NULL), n);
      if (written[f] == SURFACE_FILE_TIFF)
        check_refused_or_whole (part, image);
      else
        check_refused (part, "");
      g_bytes_unref (part);
    }
    g_clear_pointer (&bytes, g_bytes_unref);
  }
  surface_image_free (image);
}

static void
test_refused_text (void)
{
#define SDF "aISO-1.0\nNumPoints = 2\nNumProfiles = 2\nXscale = 1\nYscale = 1\n"
#define GSF "Gwyddion Simple Field 1.0\nXRes = 2\nYRes = 1\n"
  static const struct {
    const gchar *text, *words;
  } cases[] = {
    { "", "The file is empty" },
    { "hello", "Unknown file format: of this text, line 1 (\"hello\")" },
    { "aISO-1.0", "The SDF file has no line \"*\"" },
    { "aISO-1.0\nNumPoints\n*\n", "no field in line 2" },
    { "aISO-1.0\n*\n", "has no NumPoints" },
    { "aISO-1.0\nNumPoints = -3\n*\n", "NumPoints is \"-3\"" },
    { "aISO-1.0\nNumPoints = 2147483648\nNumProfiles = 2\nXscale = 1\n"
      "Yscale = 1\nZscale = 1\n*\n",
        "2147483648 x 2 samples; at most 2^31" },
    { SDF "*\n", "has no Zscale" },
    { SDF "Zscale = 1x\n*\n", "Zscale is \"1x\"" },
    { SDF "Zscale = 0\n*\n", "Zscale is 0" },
    { SDF "Zscale = nan\n*\n", "Zscale is nan" },
    { SDF "Zscale = 1\nYscale = -1\n*\n", "Yscale is -1" },
    { SDF "Zscale = 1\nXscale = 1e999\n*\n", "Xscale is inf" },
    { SDF "Zscale = 1\nDataType = 8\n*\n", "DataType 8" },
    { SDF "Zscale = 1\nCompression = 1\n*\n", "is compressed" },
    { SDF "Zscale = 1\n*\n1 2 3", "7 bytes from byte" },
    { SDF "Zscale = 1\n*\n1 2 3\n*  ", "ends after 3 heights" },
    { SDF "Zscale = 1\n*\n1 2x 3 4 ", "\"2x\" for the height of point 2 in "
                                      "profile 1" },
    { SDF "Zscale = 1\n*\n1 2 3 BADLY ", "point 2 in profile 2" },
    { GSF, "has no NUL" },
    { "fileformat = bcrf\n", "has no headersize" },
    { "fileformat = bcrf\nheadersize = 3\n", "header of 3 characters" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GBytes *bytes = g_bytes_new (cases[i].text, strlen (cases[i].text));
    check_refused (bytes, cases[i].words);
    g_bytes_unref (bytes);
  }
}

static void
check_refused_array (GByteArray *array, const gchar *words)
{
  GBytes *bytes = g_byte_array_free_to_bytes (array);

  check_refused (bytes, words);
  g_bytes_unref (bytes);
}

static void
test_refused_binary (void)
{
  static const struct {
    guint at, size;
    guint32 value;
    const gchar *words;
  } sur[] = {
    { 12, 2, 257, "format 257" },
    { 18, 2, 5, "object of the type 5" },
    { 98, 2, 8, "points of 8 bits" },
    { 108, 4, 0, "0 x 1 samples: none" },
    { 108, 4, 0xffffffff, "6 bytes from byte" },
    { 120, 4, 0, "X step is 0" },
    { 124, 4, 0xbf800000, "Y step is -" },
    { 128, 4, 0x7fc00000, "Z step is nan" },
    { 212, 4, 0x00000056, "Z step in \"V\"" },
    { 474, 4, 0x7f800000, "Z offset is inf" },
    { 336, 2, 65535, "is cut off" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (sur); i++) {
    GByteArray *array = start_sur ("DIGITAL SURF");

    g_byte_array_set_size (array, 526);
    if (sur[i].size == 2)
      put_16 (array, sur[i].at, sur[i].value);
    else
      put_32 (array, sur[i].at, sur[i].value);
    check_refused_array (array, i == 4 ? "samples; at most" : sur[i].words);
  }
}

static void
test_refused_npy (void)
{
  static const struct {
    guint8 version;
    const gchar *header, *words;
  } cases[] = {
    { 4, "{'descr': '<f8'}", "version 4" },
    { 1, "{'descr': '<f8'}", "fortran_order" },
    { 1, "{'fortran_order': False, 'shape': (2,2)}", "descr" },
    { 1, "{'descr': '<c16', 'fortran_order': False, 'shape': (1,)}",
        "type \"<c16\"" },
    { 1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}",
        "descr" },
    { 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1,2,3)}",
        "shape other than (rows, columns)" },
    { 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,2)}",
        "shape other" },
    { 1, "{'descr': '<f8', 'fortran_order': False, 'shape': ()}",
        "single number" },
    { 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 3)}", "none" },
    { 1,
        "{'descr': '<f8', 'fortran_order': False, 'shape': "
        "(99999999999999999999, 3)}",
        "at most 2^31" },
    { 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (60000, 30000)}",
        "is cut off" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check_refused_array (
        make_npy (cases[i].version, cases[i].header), cases[i].words);
}

static void
test_refused_write (void)
{
  SurfaceImage *image = make_image (3, 2, FALSE), *wide;
  GError *error = NULL;

  g_assert_null (surface_file_write (image, SURFACE_FILE_AL3D, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, "al3d cannot be written"));
  g_clear_error (&error);
  image->dx = 0;
  for (guint f = 0; f < G_N_ELEMENTS (written); f++) {
    GBytes *bytes;

    if (!surface_file_supported (written[f]))
      continue;
    bytes = surface_file_write (image, written[f], &error);
    g_assert_true (
        (bytes == NULL)
        == (holds_spacing (written[f]) && written[f] != SURFACE_FILE_TIFF));
    if (!bytes)
      g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
    g_clear_error (&error);
    g_clear_pointer (&bytes, g_bytes_unref);
  }
  surface_image_free (image);

  wide = make_image (65536, 1, FALSE);
  g_assert_null (surface_file_write (wide, SURFACE_FILE_SDF_BINARY, &error));
  g_assert_nonnull (strstr (error->message, "65535 x 65535"));
  g_clear_error (&error);
  surface_image_free (wide);

  g_assert_null (surface_image_new (0, 5, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
  g_clear_error (&error);
  g_assert_null (surface_image_new (65536, 32769, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
  g_clear_error (&error);
}

/* A file read in blocks by several threads, minus its mean, equals the file
 * read at once; the mean agrees with long double except for the last digits. */
static void
check_reader (const SurfaceImage *image, SurfaceFileFormat format)
{
  const gsize n = 300 * 211;
  SurfaceImage *back;
  gchar *name = g_build_filename (g_get_tmp_dir (), "surface-XXXXXX", NULL);
  int fd = g_mkstemp (name);
  gfloat *samples = g_new (gfloat, n);
  long double sum = 0;
  gdouble offset, first_offset = 0;
  guint64 missing, n_missing = 0;
  GBytes *bytes;

  g_assert_cmpint (fd, >=, 0);
  bytes = surface_file_write (image, format, NULL);
  g_assert_true (g_file_set_contents (name, g_bytes_get_data (bytes, NULL),
      (gssize) g_bytes_get_size (bytes), NULL));
  back = surface_file_read (bytes, NULL);
  for (gsize i = 0; i < n; i++) {
    g_assert_true (isnan (back->z[i]) == isnan (image->z[i]));
    n_missing += isnan (back->z[i]);
    sum += isnan (back->z[i]) ? 0 : back->z[i];
  }
  for (guint threads = 1; threads <= 3; threads++) {
    SurfaceReader *reader = surface_reader_open (name, NULL);
    CvisPool *pool = cvis_pool_new (threads);

    g_assert_cmpuint (surface_reader_get_about (reader)->width, ==, 300);
    g_assert_true (surface_reader_read (
        reader, pool, TRUE, FALSE, samples, &offset, &missing, NULL));
    g_assert_cmpuint (missing, ==, n_missing);
    g_assert_cmpfloat_with_epsilon (
        offset, (gdouble) (sum / (long double) (n - missing)), 1e-16);
    if (threads > 1)
      g_assert_cmpfloat (offset, ==, first_offset);
    first_offset = offset;
    for (gsize i = 0; i < n; i++)
      if (isnan (back->z[i]))
        g_assert_true (isnan (samples[i]));
      else
        g_assert_cmpfloat (samples[i], ==, (gfloat) (back->z[i] - offset));
    surface_reader_free (reader);
    cvis_pool_free (pool);
  }
  close (fd);
  g_unlink (name);
  g_bytes_unref (bytes);
  surface_image_free (back);
  g_free (samples);
  g_free (name);
}

/* With many missing points, and with few: most chunks are complete then. */
static void
test_reader (void)
{
  for (guint few = 0; few < 2; few++) {
    SurfaceImage *image = make_image (300, 211, !few);

    if (few)
      image->z[5] = image->z[20000] = NAN;
    check_reader (image, SURFACE_FILE_SDF_BINARY); /* float64 */
    check_reader (image, SURFACE_FILE_GSF);        /* float32 */
    surface_image_free (image);
  }
}

/* The header alone describes the file as the whole file does. */
static void
check_header (const SurfaceImage *image, SurfaceFileFormat format)
{
  gchar *name = g_build_filename (g_get_tmp_dir (), "surface-XXXXXX", NULL);
  int fd = g_mkstemp (name);
  GBytes *bytes = surface_file_write (image, format, NULL);
  SurfaceReader *whole, *header;
  const SurfaceImage *about, *wanted;

  g_assert_cmpint (fd, >=, 0);
  g_assert_true (g_file_set_contents (name, g_bytes_get_data (bytes, NULL),
      (gssize) g_bytes_get_size (bytes), NULL));
  whole = surface_reader_open (name, NULL);
  header = surface_reader_open_header (name, NULL);
  wanted = surface_reader_get_about (whole);
  about = surface_reader_get_about (header);
  g_assert_cmpuint (about->width, ==, wanted->width);
  g_assert_cmpuint (about->height, ==, wanted->height);
  g_assert_cmpfloat (about->dx, ==, wanted->dx);
  g_assert_cmpfloat (about->dy, ==, wanted->dy);
  surface_reader_free (whole);
  surface_reader_free (header);
  close (fd);
  g_unlink (name);
  g_bytes_unref (bytes);
  g_free (name);
}

static void
test_header (void)
{
  SurfaceImage *image = make_image (30, 21, FALSE);

  for (guint i = SURFACE_FILE_X3P; i <= SURFACE_FILE_NPZ; i++)
    if (surface_file_writable (i) && surface_file_supported (i))
      check_header (image, i);
  surface_image_free (image);
}

/* $CUDAVISION_CPU limits both tables of functions. */
static void
test_dispatch (void)
{
  const SurfaceKernels *kernels = &surface_kernels_generic;
  const SurfacePalette *palette = &surface_palette_generic;

#if defined(__x86_64__)
  if (cvis_cpu_level () == CVIS_CPU_V3) {
    kernels = &surface_kernels_v3;
    palette = &surface_palette_v3;
  } else if (cvis_cpu_level () == CVIS_CPU_V4) {
    kernels = &surface_kernels_v4;
    palette = &surface_palette_v4;
  }
#endif
  if (g_strcmp0 (g_getenv ("CUDAVISION_CPU"), "generic") == 0)
    g_assert_cmpint (cvis_cpu_level (), ==, CVIS_CPU_GENERIC);
  g_assert_true (surface_kernels () == kernels);
  g_assert_true (surface_palette () == palette);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/surfacefile/dispatch", test_dispatch);
  g_test_add_func ("/surfacefile/round-trips", test_round_trips);
  g_test_add_func ("/surfacefile/odd-heights", test_odd_heights);
  g_test_add_func ("/surfacefile/repeatable", test_repeatable);
  g_test_add_func ("/surfacefile/refusals", test_refusals);
  g_test_add_func ("/surfacefile/names", test_names);
  g_test_add_func ("/surfacefile/sdf-types", test_sdf_types);
  g_test_add_func ("/surfacefile/sdf-text", test_sdf_text);
  g_test_add_func ("/surfacefile/sdf-profile", test_sdf_profile);
  g_test_add_func ("/surfacefile/sur", test_sur);
  g_test_add_func ("/surfacefile/sur-compressed", test_sur_compressed);
  g_test_add_func ("/surfacefile/sur-inversion", test_sur_inversion);
  g_test_add_func ("/surfacefile/sur-objects", test_sur_objects);
  g_test_add_func ("/surfacefile/sur-offset", test_sur_offset);
  g_test_add_func ("/surfacefile/npy", test_npy);
  g_test_add_func ("/surfacefile/halves", test_halves);
  g_test_add_func ("/surfacefile/tiff-samples", test_tiff_samples);
  g_test_add_func ("/surfacefile/tiff-spacing", test_tiff_spacing);
  g_test_add_func ("/surfacefile/tiff-refused", test_tiff_refused);
  g_test_add_func ("/surfacefile/al3d", test_al3d);
  g_test_add_func ("/surfacefile/bcrf", test_bcrf);
  g_test_add_func ("/surfacefile/gsf", test_gsf);
  g_test_add_func ("/surfacefile/cut-off", test_cut_off);
  g_test_add_func ("/surfacefile/refused-text", test_refused_text);
  g_test_add_func ("/surfacefile/refused-binary", test_refused_binary);
  g_test_add_func ("/surfacefile/refused-npy", test_refused_npy);
  g_test_add_func ("/surfacefile/refused-write", test_refused_write);
  g_test_add_func ("/surfacefile/reader", test_reader);
  g_test_add_func ("/surfacefile/header", test_header);
  return g_test_run ();
}
