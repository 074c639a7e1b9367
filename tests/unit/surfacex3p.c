/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* X3P files that others make: types of heights, masks, folders, checksums, and
 * what is said of those that are broken or not read. */
#include "cuda/surface/file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

/* Two by two points; NULL: as in the standard's examples */
typedef struct {
  const gchar *root, *feature, *x_axis, *z_axis, *dimensions, *link, *record4;
  const gchar *folder;    /* that all lies in */
  const gchar *points;    /* hexadecimal */
  const gchar *mask;      /* hexadecimal */
  const gchar *checksums; /* what md5checksum.hex holds */
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
      "</FeatureType><Axes><CX>%s</CX><CY><AxisType>I</AxisType><Increment>2e-6"
      "</Increment></CY><CZ>%s</CZ></Axes></Record1><Record2><Date>2024-02-29"
      "T12:34:56</Date><Comment> a &amp; b </Comment></Record2><Record3>%s"
      "<DataLink>%s%s</DataLink></Record3>%s</%s>",
      root, OR (c->feature, "SUR"),
      OR (c->x_axis, "<AxisType>I</AxisType><Increment>1e-6</Increment>"),
      OR (c->z_axis, "<AxisType>A</AxisType><DataType>I</DataType>"),
      OR (c->dimensions, "<MatrixDimension><SizeX>2</SizeX><SizeY>2</SizeY>"
                         "<SizeZ>1</SizeZ></MatrixDimension>"),
      OR (c->link, "<PointDataLink>bindata/data.bin</PointDataLink>"),
      c->mask && !c->link ? "<ValidPointsLink>bindata/valid.bin"
                            "</ValidPointsLink>"
                          : "",
      OR (c->record4, ""), root);
}

static void
add_entry (
    zip_t *zip, const Case *c, const gchar *name, const void *data, gsize size)
{
  gchar *path = g_strconcat (OR (c->folder, ""), name, NULL);
  void *copy = size > 0 ? memcpy (malloc (size), data, size) : NULL;
  zip_source_t *source = zip_source_buffer (zip, copy, size, 1);

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
  g_assert_cmpuint (image->width, ==, 2);
  g_assert_cmpuint (image->height, ==, 2);
  g_assert_cmpfloat (image->dx, ==, 1e-6);
  g_assert_cmpfloat (image->dy, ==, 2e-6);
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
    /* a list of checksums that is not there, or empty */
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

static void
test_refused (void)
{
  static const struct {
    Case file;
    const gchar *words;
  } cases[] = {
    { { .root = "Other" }, "element \"Other\"" },
    { { .feature = "PCL" }, "type \"PCL\"" },
    { { .x_axis = "<AxisType>A</AxisType>" }, "AxisType A" },
    { { .x_axis = "<AxisType>I</AxisType>" }, "CX/Increment is nan" },
    { { .x_axis = "<Increment>-1e-6</Increment>" }, "CX/Increment is -1e-06" },
    { { .x_axis = "<Increment>mm</Increment>" }, "has \"mm\" for" },
    { { .z_axis = Z_AXIS ("X", "") }, "heights of the type \"X\"" },
    { { .z_axis = Z_AXIS ("I", "<Increment>0</Increment>") },
        "CZ/Increment is 0" },
    { { .z_axis = Z_AXIS ("I", "<Offset>inf</Offset>") }, "CZ/Offset is inf" },
    { { .z_axis = Z_AXIS ("D", "") },
        "8 bytes of bindata/data.bin; its 2 x 2 points need 32" },
    { { .points = "01000200030004000500" },
        "10 bytes of bindata/data.bin; at most 8" },
    { { .dimensions = "<ListDimension>4</ListDimension>" }, "list of points" },
    { { .dimensions = "<MatrixDimension/>" },
        "nothing for Record3/MatrixDimension/SizeX" },
    { { .dimensions =
              "<MatrixDimension><SizeX>2</SizeX><SizeY>2</SizeY><SizeZ>3"
              "</SizeZ></MatrixDimension>" },
        "3 layers" },
    { { .dimensions = "<MatrixDimension><SizeX>99999</SizeX><SizeY>99999"
                      "</SizeY><SizeZ>1</SizeZ></MatrixDimension>" },
        "99999 x 99999 samples; at most" },
    { { .link = " " }, "no binary heights" },
    { { .link = "<PointDataLink>../x</PointDataLink>" }, "has no ../x" },
    { { .link = "<PointDataLink>bindata/data.bin</PointDataLink>"
                "<MD5ChecksumPointData>00000000000000000000000000000000"
                "</MD5ChecksumPointData>" },
        "bindata/data.bin of the MD5 checksum 106c7b42" },
    { { .mask = "" }, "0 bytes of bindata/valid.bin for 4 points" },
    { { .mask = "0f",
          .link = "<PointDataLink>bindata/data.bin</PointDataLink>"
                  "<ValidPointsLink>bindata/valid.bin</ValidPointsLink>"
                  "<MD5ChecksumValidPoints>x</MD5ChecksumValidPoints>" },
        "bindata/valid.bin of the MD5 checksum" },
    { { .record4 = "<Record4><ChecksumFile>md5checksum.hex</ChecksumFile>"
                   "</Record4>",
          .checksums = "d41d8cd98f00b204e9800998ecf8427e *main.xml" },
        "main.xml of the MD5 checksum" },
    { { .record4 = "<" }, "main.xml that is no XML" },
    { { .record4 = "\xff" }, "main.xml that is no XML" },
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

/* A zip that says that it unpacks to far more than it can */
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
  g_test_add_func ("/surfacex3p/refused", test_refused);
  g_test_add_func ("/surfacex3p/bomb", test_bomb);
  return g_test_run ();
}
