/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* X3P files as other programs write them: types of heights, masks, folders,
 * checksums, and messages about invalid or unsupported ones. */
#include "cuda/surface/file.h"

#include <glib/gstdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

/* Two by two points; NULL: as in the standard's examples */
typedef struct {
  const gchar *root, *feature, *x_axis, *z_axis, *dimensions, *link, *record4;
  const gchar *y_axis;
  const gchar *data;      /* instead of DataLink */
  gboolean row;           /* four by one points */
  const gchar *folder;    /* containing all files */
  gboolean windows;       /* names with backslashes */
  const gchar *points;    /* hexadecimal */
  const gchar *mask;      /* hexadecimal */
  const gchar *checksums; /* contents of md5checksum.hex */
} Case;

static const gchar int16_points[] = "0100feff03000400";

static GBytes *
from_hex (const gchar *hex)
{
  GByteArray *bytes = g_byte_array_new ();

  for (; *hex; hex += 2) {
    guint8 byte = (guint8) (g_ascii_xdigit_value (hex[0]) << 4
                            | g_ascii_xdigit_value (hex[1]));
    g_byte_array_append (bytes, &byte, 1);
  }
  return g_byte_array_free_to_bytes (bytes);
}

#define OR(text, otherwise) ((text) ? (text) : (otherwise))

static gchar *
make_xml (const Case *c)
{
  const gchar *root = OR (c->root, "p:ISO5436_2");

  return g_strdup_printf (
      "<?xml version=\"1.0\"?>\n<%s xmlns:p=\"x\"><Record1><FeatureType>%s"
      "</FeatureType><Axes><CX>%s</CX><CY>%s</CY><CZ>%s</CZ></Axes></"
      "Record1><Record2><Date>2024-02-29"
      "T12:34:56</Date><Comment> a &amp; b </Comment></Record2><Record3>%s"
      "%s%s%s%s</Record3>%s</%s>",
      root, OR (c->feature, "SUR"),
      OR (c->x_axis, "<AxisType>I</AxisType><Increment>1e-6</Increment>"),
      OR (c->y_axis, "<AxisType>I</AxisType><Increment>2e-6</Increment>"),
      OR (c->z_axis, "<AxisType>A</AxisType><DataType>I</DataType>"),
      OR (c->dimensions, "<MatrixDimension><SizeX>2</SizeX><SizeY>2</SizeY>"
                         "<SizeZ>1</SizeZ></MatrixDimension>"),
      c->data ? "" : "<DataLink>",
      c->data ? c->data
              : OR (c->link, "<PointDataLink>bindata/data.bin</PointDataLink>"),
      c->mask && !c->link ? "<ValidPointsLink>bindata/valid.bin"
                            "</ValidPointsLink>"
                          : "",
      c->data ? "" : "</DataLink>", OR (c->record4, ""), root);
}

static void
add_entry (
    zip_t *zip, const Case *c, const gchar *name, const void *data, gsize size)
{
  gchar *path = g_strconcat (OR (c->folder, ""), name, NULL);
  void *copy = size > 0 ? memcpy (malloc (size), data, size) : NULL;
  zip_source_t *source = zip_source_buffer (zip, copy, size, 1);

  if (c->windows)
    g_strdelimit (path, "/", '\\');
  g_assert_cmpint (zip_file_add (zip, path, source, 0), >=, 0);
  g_free (path);
}

static void
add_hex (zip_t *zip, const Case *c, const gchar *name, const gchar *hex)
{
  GBytes *bytes = from_hex (hex);
  gsize size;
  const void *data = g_bytes_get_data (bytes, &size);

  add_entry (zip, c, name, data, size);
  g_bytes_unref (bytes);
}

static void
add_entries (zip_t *zip, const Case *c)
{
  gchar *xml = make_xml (c);

  add_hex (zip, c, "bindata/data.bin", OR (c->points, int16_points));
  add_entry (zip, c, "main.xml", xml, strlen (xml));
  if (c->mask)
    add_hex (zip, c, "bindata/valid.bin", c->mask);
  if (c->checksums)
    add_entry (zip, c, "md5checksum.hex", c->checksums, strlen (c->checksums));
  g_free (xml);
}

static GBytes *
make_file (const Case *c)
{
  zip_source_t *archive = zip_source_buffer_create (NULL, 0, 0, NULL);
  zip_t *zip = zip_open_from_source (archive, ZIP_TRUNCATE, NULL);
  zip_stat_t st;
  guint8 *data;

  zip_source_keep (archive);
  add_entries (zip, c);
  g_assert_cmpint (zip_close (zip), ==, 0);
  zip_source_stat (archive, &st);
  data = g_malloc (st.size);
  zip_source_open (archive);
  g_assert_cmpint (
      zip_source_read (archive, data, st.size), ==, (zip_int64_t) st.size);
  zip_source_close (archive);
  zip_source_free (archive);
  return g_bytes_new_take (data, st.size);
}

static void
check_heights (const Case *c, const gdouble expected[4])
{
  GError *error = NULL;
  GBytes *bytes = make_file (c);
  SurfaceImage *image = surface_file_read (bytes, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (image->width, ==, c->row ? 4 : 2);
  g_assert_cmpuint (image->height, ==, c->row ? 1 : 2);
  g_assert_cmpfloat (fabs (image->dx - 1e-6), <, 1e-15);
  g_assert_cmpfloat (fabs (image->dy - (c->row ? 1e-6 : 2e-6)), <, 1e-15);
  g_assert_cmpstr (image->title, ==, "a & b");
  g_assert_cmpstr (image->date, ==, "2024-02-29T12:34:56");
  for (guint i = 0; i < 4; i++)
    if (isnan (expected[i]))
      g_assert_true (isnan (image->z[i]));
    else
      g_assert_cmpfloat (
          fabs (image->z[i] - expected[i]), <=, fabs (expected[i]) * 1e-12);
  surface_image_free (image);
  g_bytes_unref (bytes);
}

#define Z_AXIS(type, rest)                                                     \
  "<AxisType>A</AxisType><DataType>" type "</DataType>" rest

#define LIST(a, b, c, d)                                                       \
  "<DataList><Datum>" a "</Datum><!-- a comment --><Datum>" b "</Datum>\n"     \
  "<Datum>" c "</Datum><Datum>" d "</Datum></DataList>"

static void
test_types (void)
{
  static const struct {
    Case file;
    gdouble heights[4];
  } cases[] = {
    { { .feature = "SUR" }, { 1, -2, 3, 4 } },
    { { .z_axis = Z_AXIS ("I", "<Increment>1e-9</Increment><Offset>1e-3"
                               "</Offset>") },
        { 1e-3 + 1e-9, 1e-3 - 2e-9, 1e-3 + 3e-9, 1e-3 + 4e-9 } },
    { { .z_axis = Z_AXIS ("L", "<Increment>1</Increment><Offset/>"),
          .points = "01000000feffffff0000008000000100" },
        { 1, -2, -2147483648.0, 65536 } },
    { { .z_axis = Z_AXIS ("F", ""),
          .points = "0000803f0000c07f000080bf0000807f" },
        { 1, NAN, -1, NAN } },
    { { .z_axis = Z_AXIS ("D", ""),
          .points = "000000000000f03f000000000000f87f"
                    "000000000000f0bf0000000000000040" },
        { 1, NAN, -1, 2 } },
    { { .mask = "0d" }, { 1, NAN, 3, 4 } },
    { { .root = "ISO5436", .feature = "PRF", .folder = "some land/" },
        { 1, -2, 3, 4 } },
    { { .link = "<PointDataLink>bindata\\data.bin</PointDataLink>"
                "<MD5ChecksumPointData>106C7B42A9E83B8C4B58AB38169FD36F"
                "</MD5ChecksumPointData>" },
        { 1, -2, 3, 4 } },
    /* Windows' names in the archive */
    { { .windows = TRUE, .mask = "0d" }, { 1, NAN, 3, 4 } },
    { { .windows = TRUE, .folder = "some land/" }, { 1, -2, 3, 4 } },
    /* coordinates that fall: they rise to the right and down */
    { { .x_axis = "<AxisType>I</AxisType><Increment>-1e-6</Increment>" },
        { -2, 1, 4, 3 } },
    { { .y_axis = "<AxisType>I</AxisType><Increment>-2e-6</Increment>",
          .mask = "0d" },
        { 3, 4, 1, NAN } },
    { { .x_axis = "<AxisType>I</AxisType><Increment>-1e-6</Increment>",
          .y_axis = "<AxisType>I</AxisType><Increment>-2e-6</Increment>",
          .data = LIST (";;1", ";;-2", ";;3", "") },
        { NAN, 3, -2, 1 } },
    /* a list of checksums that is missing, or empty */
    { { .record4 = "<Record4><ChecksumFile>md5checksum.hex</ChecksumFile>"
                   "</Record4>" },
        { 1, -2, 3, 4 } },
    { { .record4 = "<Record4><ChecksumFile>md5checksum.hex</ChecksumFile>"
                   "</Record4>",
          .checksums = " \n" },
        { 1, -2, 3, 4 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check_heights (&cases[i].file, cases[i].heights);
}

/* Points with explicit positions */
#define CLOUD                                                                  \
  .feature = "PCL", .dimensions = "<ListDimension>4</ListDimension>",          \
  .x_axis = Z_AXIS ("D", ""), .y_axis = Z_AXIS ("D", ""),                      \
  .z_axis = Z_AXIS ("D", "")
/* int16, in steps of 1 um and 2 um */
#define STEPS(n)                                                               \
  Z_AXIS ("I", "<Increment>" n "e-6</Increment><Offset>1</Offset>")

/* Heights in main.xml, and lists of points: the layouts of the standard's samples */
static void
test_lists (void)
{
  static const struct {
    Case file;
    gdouble heights[4];
  } cases[] = {
    { { .z_axis = Z_AXIS ("D", ""), .data = LIST ("1e0", "", "-3.", " 4 ") },
        { 1, NAN, -3, 4 } },
    { { .z_axis = Z_AXIS ("I", "<Increment>1e-3</Increment><Offset>-0.5"
                               "</Offset>"),
          .data = LIST ("986", "", "-57", "284") },
        { 0.486, NAN, -0.557, -0.216 } },
    /* indices of axes with even spacing */
    { { .data = LIST ("0;0;1", "1;0;-2", "0;1;3", "1;1;4") }, { 1, -2, 3, 4 } },
    { { .data = LIST (";;1", ";;-2", ";;3", "") }, { 1, -2, 3, NAN } },
    /* even spacing along x, positions along y */
    { { .y_axis = STEPS ("2"), .data = LIST ("1;1", "1;-2", "2;3", "") },
        { 1, -2, 3, NAN } },
    /* a cloud, in no order */
    { { CLOUD, .data = LIST ("1e-6;2e-6;4", "0;0;1", "0;2e-6;3", "") },
        { 1, NAN, 3, 4 } },
    { { CLOUD, .points = "00000000000000000000000000000000000000000000f03f"
                         "8dedb5a0f7c6b03e000000000000000000000000000000c0"
                         "00000000000000008dedb5a0f7c6c03e0000000000000840"
                         "8dedb5a0f7c6b03e8dedb5a0f7c6c03e000000000000f87f" },
        { 1, -2, 3, NAN } },
    { { .feature = "PCL",
          .dimensions = "<ListDimension>4</ListDimension>",
          .x_axis = STEPS ("1"),
          .y_axis = STEPS ("2"),
          .mask = "0d",
          .points = "050005000100010001000900060005000300"
                    "050006000400" },
        { 1, 3, 4, NAN } },
    /* profiles */
    { { .feature = "PRF",
          .row = TRUE,
          .y_axis = "<AxisType>I</AxisType>",
          .dimensions = "<ListDimension>4</ListDimension>" },
        { 1, -2, 3, 4 } },
    { { .feature = "PRF",
          .row = TRUE,
          .y_axis = "<AxisType>I</AxisType>",
          .x_axis = STEPS ("1"),
          .dimensions = "<ListDimension>4</ListDimension>",
          .data = LIST ("3;1", "4;-2", "5;3", "6;4") },
        { 1, -2, 3, 4 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check_heights (&cases[i].file, cases[i].heights);
}

static void
test_refused (void)
{
  static const struct {
    Case file;
    const gchar *words;
  } cases[] = {
    { { .root = "Other" }, "element \"Other\"" },
    { { .feature = "XYZ" }, "type \"XYZ\"" },
    { { .x_axis = "<AxisType>A</AxisType>" }, "type \"\" (Record1/Axes/CX" },
    { { .x_axis = "<AxisType>I</AxisType>" }, "CX/Increment is nan" },
    { { .x_axis = "<Increment>0</Increment>" }, "CX/Increment is 0" },
    { { .x_axis = "<Increment>mm</Increment>" }, "has \"mm\" for" },
    { { .z_axis = Z_AXIS ("X", "") },
        "samples of the type \"X\" (Record1/Axes/CZ" },
    { { .z_axis = Z_AXIS ("I", "<Increment>0</Increment>") },
        "CZ/Increment is 0" },
    { { .z_axis = Z_AXIS ("I", "<Offset>inf</Offset>") }, "CZ/Offset is inf" },
    { { .z_axis = Z_AXIS ("D", "") },
        "8 bytes of bindata/data.bin; its 2 x 2 points need 32" },
    { { .points = "01000200030004000500" },
        "10 bytes of bindata/data.bin; at most 8" },
    { { .dimensions = "<ListDimension>4</ListDimension>" },
        "without positions, which only a profile" },
    { { .dimensions = "<ListDimension>-4</ListDimension>" },
        "has \"-4\" for Record3/ListDimension" },
    { { .data = LIST ("1", "2", "3", "x") }, "has \"x\" for point 3 (Datum)" },
    { { .data = LIST ("1", "2", "3", "4;") }, "has 2 numbers for point 3" },
    { { .data = LIST ("1", "2", "3", "1;2;3;4") }, "has \"1;2;3;4\" for" },
    { { .data = LIST ("1", "2", "3", "4</Datum><Datum>5") },
        "has 5 points in main.xml (DataList); 4 are" },
    { { CLOUD, .data = LIST ("0;0;1", "1;0;1", "0;1;1", "1.4;1;1") },
        "4 points x, y, z that form no regular grid" },
    { { CLOUD, .data = LIST ("0;0;1", "1;0;1", "0;1;1", "0;1;2") },
        "two points at x 0, y 1" },
    { { CLOUD, .data = LIST ("0;0;1", "1;1;1", "2;2;1", "1e5;1e5;2") },
        "4 points x, y, z that form no regular grid" },
    { { CLOUD, .data = LIST ("", "", "", "") }, "has no valid point" },
    { { CLOUD, .points = "00" }, "1 bytes of bindata/data.bin; its 4 x 1" },
    { { .dimensions = "<MatrixDimension/>" },
        "nothing for Record3/MatrixDimension/SizeX" },
    { { .dimensions =
              "<MatrixDimension><SizeX>2</SizeX><SizeY>2</SizeY><SizeZ>3"
              "</SizeZ></MatrixDimension>" },
        "3 layers" },
    { { .dimensions = "<MatrixDimension><SizeX>99999</SizeX><SizeY>99999"
                      "</SizeY><SizeZ>1</SizeZ></MatrixDimension>" },
        "99999 x 99999 samples; at most" },
    { { .link = " " }, "has no heights: neither PointDataLink nor DataList" },
    { { .link = "<PointDataLink>../x</PointDataLink>" }, "has no ../x" },
    { { .link = "<PointDataLink>bindata/data.bin</PointDataLink>"
                "<MD5ChecksumPointData>00000000000000000000000000000000"
                "</MD5ChecksumPointData>" },
        "bindata/data.bin with the MD5 checksum 106c7b42" },
    { { .mask = "" }, "0 bytes of bindata/valid.bin for 4 points" },
    { { .mask = "0f",
          .link = "<PointDataLink>bindata/data.bin</PointDataLink>"
                  "<ValidPointsLink>bindata/valid.bin</ValidPointsLink>"
                  "<MD5ChecksumValidPoints>x</MD5ChecksumValidPoints>" },
        "bindata/valid.bin with the MD5 checksum" },
    { { .record4 = "<" }, "main.xml that is not valid XML" },
    { { .record4 = "\xff" }, "main.xml that is not valid XML" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GError *error = NULL;
    GBytes *bytes = make_file (&cases[i].file);

    g_assert_null (surface_file_read (bytes, &error));
    g_assert_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT);
    if (!strstr (error->message, cases[i].words))
      g_error ("%u: \"%s\" lacks \"%s\"", i, error->message, cases[i].words);
    g_assert_true (g_utf8_validate (error->message, -1, NULL));
    g_error_free (error);
    g_bytes_unref (bytes);
  }
}

/* Truncated files, in memory and on disk */
static void
test_cut (void)
{
  static const Case file = { 0 };
  GBytes *bytes = make_file (&file);
  gsize size = g_bytes_get_size (bytes);
  GError *error = NULL;
  gchar *name;
  int fd = g_file_open_tmp (NULL, &name, NULL);

  g_assert_cmpint (fd, >=, 0);
  close (fd);
  for (gsize n = 4; n < size; n += n < size - 40 ? size / 5 : 7) {
    GBytes *cut = g_bytes_new_from_bytes (bytes, 0, n);

    g_assert_null (surface_file_read (cut, &error));
    g_assert_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT);
    g_assert_nonnull (strstr (error->message, "it may be cut off"));
    g_clear_error (&error);
    g_assert_true (
        g_file_set_contents (name, g_bytes_get_data (cut, NULL), n, NULL));
    g_assert_null (surface_file_load (name, &error));
    g_assert_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT);
    g_assert_nonnull (strstr (error->message, "it may be cut off"));
    g_clear_error (&error);
    g_bytes_unref (cut);
  }
  g_unlink (name);
  g_free (name);
  g_bytes_unref (bytes);
}

/* A main.xml that was edited is read, with a warning. */
static void
test_warning (void)
{
  static const struct {
    const gchar *checksums, *words;
  } cases[] = {
    { "d41d8cd98f00b204e9800998ecf8427e *main.xml", "says \"d41d8cd98f" },
    { "\xff", "md5checksum.hex says \"" },
    { "", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const Case file = { .record4 = "<Record4><ChecksumFile>md5checksum.hex"
                                   "</ChecksumFile></Record4>",
      .checksums = cases[i].checksums };
    GBytes *bytes = make_file (&file);
    SurfaceReader *reader = surface_reader_new (bytes, NULL);
    const gchar *warning;

    g_assert_nonnull (reader);
    warning = surface_reader_get_warning (reader);
    g_assert_true (!warning == !cases[i].words);
    if (warning) {
      g_assert_nonnull (strstr (warning, cases[i].words));
      g_assert_true (g_utf8_validate (warning, -1, NULL));
    }
    surface_reader_free (reader);
    check_heights (&file, (gdouble[4]){ 1, -2, 3, 4 });
    g_bytes_unref (bytes);
  }
}

/* --- files of many chunks ----------------------------------------------------- */

#define SIDES 1100, 1000 /* more chunks than are kept in memory */

/* Smooth heights, some of them missing */
static gfloat *
make_samples (const SurfaceImage *about)
{
  const gsize n = (gsize) about->width * about->height;
  gfloat *samples = g_new (gfloat, n);

  for (gsize i = 0; i < n; i++)
    samples[i] =
        i % 1000 < 100 ? NAN : (gfloat) (1e-6 * sin ((gdouble) i * 1e-3));
  return samples;
}

static GBytes *
save_samples (const SurfaceImage *about, const gfloat *samples, gdouble offset,
    guint level, guint threads)
{
  CvisPool *pool = cvis_pool_new (threads);
  GError *error = NULL;
  gchar *name, *data;
  int fd = g_file_open_tmp (NULL, &name, NULL);
  gsize size;

  g_assert_cmpint (fd, >=, 0);
  surface_file_save_x3p (
      fd, about, SURFACE_STREAM_F32, 1, offset, samples, level, pool, &error);
  g_assert_no_error (error);
  close (fd);
  g_assert_true (g_file_get_contents (name, &data, &size, NULL));
  g_unlink (name);
  g_free (name);
  cvis_pool_free (pool);
  return g_bytes_new_take (data, size);
}

static void
check_samples (GBytes *bytes, const gfloat *expected, gdouble offset,
    guint threads, gboolean twice)
{
  CvisPool *pool = cvis_pool_new (threads);
  SurfaceReader *reader = surface_reader_new (bytes, NULL);
  const SurfaceImage *about = surface_reader_get_about (reader);
  const gsize n = (gsize) about->width * about->height;
  gdouble *z = g_new (gdouble, n), removed;
  GError *error = NULL;
  guint64 missing;

  g_assert_null (surface_reader_get_warning (reader));
  /* a reader can read several times, to samples of either size */
  surface_reader_read (
      reader, pool, TRUE, !twice, z, &removed, &missing, &error);
  g_assert_no_error (error);
  surface_reader_read (
      reader, pool, FALSE, twice, z, &removed, &missing, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (missing, ==, n / 10);
  for (gsize i = 0; i < n; i++) {
    const gdouble height = expected[i] + offset;
    const gdouble got = twice ? z[i] : ((gfloat *) z)[i];

    if (isnan (height))
      g_assert_true (isnan (got));
    else
      g_assert_cmpfloat (got, ==, twice ? height : (gfloat) height);
  }
  g_free (z);
  surface_reader_free (reader);
  cvis_pool_free (pool);
}

/* Read by another program: libzip unpacks the heights and checks their CRC. */
static void
check_archive (GBytes *bytes, gsize expected)
{
  gsize size, n;
  const void *data = g_bytes_get_data (bytes, &size);
  zip_source_t *source = zip_source_buffer_create (data, size, 0, NULL);
  zip_t *zip = zip_open_from_source (source, ZIP_RDONLY | ZIP_CHECKCONS, NULL);
  guint8 *points = g_malloc (expected + 1);
  gchar xml[4096], *md5;
  zip_file_t *file;

  g_assert_nonnull (zip);
  file = zip_fopen (zip, "bindata/data.bin", 0);
  g_assert_cmpint (
      zip_fread (file, points, expected + 1), ==, (zip_int64_t) expected);
  g_assert_cmpint (zip_fclose (file), ==, 0);
  file = zip_fopen (zip, "main.xml", 0);
  n = zip_fread (file, xml, sizeof (xml) - 1);
  xml[n] = 0;
  zip_fclose (file);
  md5 = g_compute_checksum_for_data (G_CHECKSUM_MD5, points, expected);
  g_assert_nonnull (strstr (xml, md5));
  g_assert_nonnull (strstr (xml, expected == 4 * 1100 * 1000
                                     ? "<DataType>F</DataType></CZ>"
                                     : "<DataType>D</DataType></CZ>"));
  g_free (md5);
  g_free (points);
  zip_discard (zip);
}

static void
test_chunks (void)
{
  const SurfaceImage about = { SIDES, 1e-6, 1e-6 };
  gfloat *samples = make_samples (&about);

  for (guint level = 0; level <= 2; level++) {
    const gdouble offset = level % 2 * 0.076;
    GBytes *bytes = save_samples (&about, samples, offset, level, 3);
    GBytes *alone = save_samples (&about, samples, offset, level, 1);

    g_assert_true (g_bytes_equal (bytes, alone));
    check_archive (bytes, (offset == 0 ? 4 : 8) * 1100 * 1000);
    check_samples (bytes, samples, offset, 1, TRUE);
    check_samples (bytes, samples, offset, 3, FALSE);
    g_bytes_unref (alone);
    g_bytes_unref (bytes);
  }
  g_free (samples);
}

/* Wrong compressed bytes, chunk lengths and CRC */
static void
test_damaged (void)
{
  const SurfaceImage about = { SIDES, 1e-6, 1e-6 };
  gfloat *samples = make_samples (&about);
  GBytes *bytes = save_samples (&about, samples, 0, 1, 2);
  CvisPool *pool = cvis_pool_new (3);
  const guint8 *data;
  gsize size, list, line = 0;

  data = g_bytes_get_data (bytes, &size);
  /* the directory record of the heights, and in it the list of chunks */
  for (gsize i = size - 1; line == 0; i--)
    if (!memcmp (data + i, "bindata/data.bin", 16))
      line = i - 46;
  list = line + 46 + 16 + 4;
  for (guint i = 0; i < 6; i++) {
    const gsize places[] = { size / 2, size / 3, line + 16, list + 5, list,
      list + 3 };
    guint8 *broken = g_memdup2 (data, size);
    GBytes *copy = g_bytes_new_take (broken, size);
    SurfaceReader *reader;
    GError *error = NULL;
    guint64 missing;
    gdouble offset;

    broken[places[i]] ^= 0x10;
    reader = surface_reader_new (copy, &error);
    g_assert_no_error (error);
    if (surface_reader_read (
            reader, pool, TRUE, FALSE, samples, &offset, &missing, &error)) {
      g_assert_cmpuint (i, >=, 3); /* not a list: unpacked by one thread */
    } else {
      g_assert_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT);
      g_assert_nonnull (strstr (
          error->message, "The X3P file has a bindata/data.bin that cannot"));
      g_error_free (error);
    }
    surface_reader_free (reader);
    g_bytes_unref (copy);
  }
  cvis_pool_free (pool);
  g_bytes_unref (bytes);
  g_free (samples);
}

/* A zip with a false uncompressed size */
static void
test_bomb (void)
{
  static const Case file = { 0 };
  GBytes *bytes = make_file (&file);
  gsize size;
  guint8 *data = g_bytes_unref_to_data (bytes, &size);
  GError *error = NULL;

  /* sizes of all entries, in the central directory */
  for (gsize i = 0; i + 30 < size; i++)
    if (!memcmp (data + i, "PK\1\2", 4))
      memset (data + i + 24, 0x7f, 4);
  bytes = g_bytes_new_take (data, size);
  g_assert_null (surface_file_read (bytes, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT);
  g_error_free (error);
  g_bytes_unref (bytes);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/surfacex3p/types", test_types);
  g_test_add_func ("/surfacex3p/lists", test_lists);
  g_test_add_func ("/surfacex3p/refused", test_refused);
  g_test_add_func ("/surfacex3p/cut", test_cut);
  g_test_add_func ("/surfacex3p/warning", test_warning);
  g_test_add_func ("/surfacex3p/chunks", test_chunks);
  g_test_add_func ("/surfacex3p/damaged", test_damaged);
  g_test_add_func ("/surfacex3p/bomb", test_bomb);
  return g_test_run ();
}
