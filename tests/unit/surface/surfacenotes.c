/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* What readers note as skipped or guessed, values of missing points, units and
 * spacing in files other than texts, and what writers lose. */
#include "cuda/surface/file.h"

#include <math.h>
#include <string.h>
#include <zip.h>

static SurfaceImage *
read_array (const GByteArray *array)
{
  GBytes *bytes = g_bytes_new (array->data, array->len);
  GError *error = NULL;
  SurfaceImage *image = surface_file_read (bytes, &error);

  g_assert_no_error (error);
  g_bytes_unref (bytes);
  return image;
}

/* @words: (nullable): part of the note; %NULL: there is none */
static void
check_note (const SurfaceImage *image, const gchar *words)
{
  if (!words)
    g_assert_cmpstr (image->note, ==, NULL);
  else if (!image->note || !strstr (image->note, words))
    g_error ("\"%s\" lacks \"%s\"", image->note, words);
}

/* --- TIFF ---------------------------------------------------------------------- */

typedef struct {
  guint bits, format;
  const gchar *nodata, *description, *metadata;
  guint pages;
} Tiff;

static void
add (GByteArray *array, const void *bytes, gsize n)
{
  g_byte_array_append (array, bytes, (guint) n);
}

static void
add_number (GByteArray *array, guint64 value, guint size)
{
  value = GUINT64_TO_LE (value);
  add (array, &value, size);
}

static void
add_tag (GByteArray *array, guint tag, guint type, guint n, guint value)
{
  add_number (array, tag, 2);
  add_number (array, type, 2);
  add_number (array, n, 4);
  add_number (array, value, 4);
}

/* Returns: byte position of the text, or 0 */
static guint
add_string (GByteArray *array, const gchar *text)
{
  const guint at = array->len;

  if (!text)
    return 0;
  add (array, text, strlen (text) + 1);
  while (array->len % 2 || array->len < at + 6)
    add_number (array, 0, 1);
  return at;
}

static void
add_text_tag (GByteArray *array, guint tag, const gchar *text, guint at)
{
  if (text)
    add_tag (array, tag, 2, (guint) MAX (strlen (text) + 1, 6), at);
}

/* 3 x 2 points @values; each page has the same */
static GByteArray *
make_tiff (const Tiff *t, const guint64 values[6])
{
  GByteArray *array = g_byte_array_new ();
  guint data, nodata, text, metadata, link = 4;
  guint32 here;

  add (array, "II*\0\0\0\0\0", 8);
  nodata = add_string (array, t->nodata);
  text = add_string (array, t->description);
  metadata = add_string (array, t->metadata);
  data = array->len;
  for (guint i = 0; i < 6; i++)
    add_number (array, values[i], t->bits / 8);
  for (guint page = 0; page < MAX (t->pages, 1); page++) {
    here = GUINT32_TO_LE (array->len);
    memcpy (array->data + link, &here, 4);
    add_number (array,
        10 + (t->nodata != NULL) + (t->description != NULL)
            + (t->metadata != NULL),
        2);
    add_tag (array, 256, 3, 1, 3);
    add_tag (array, 257, 3, 1, 2);
    add_tag (array, 258, 3, 1, t->bits);
    add_tag (array, 259, 3, 1, 1);
    add_tag (array, 262, 3, 1, 1);
    add_text_tag (array, 270, t->description, text);
    add_tag (array, 273, 4, 1, data);
    add_tag (array, 277, 3, 1, 1);
    add_tag (array, 278, 3, 1, 2);
    add_tag (array, 279, 4, 1, 6 * t->bits / 8);
    add_tag (array, 339, 3, 1, t->format);
    add_text_tag (array, 42112, t->metadata, metadata);
    add_text_tag (array, 42113, t->nodata, nodata);
    link = array->len;
    add_number (array, 0, 4);
  }
  return array;
}

static SurfaceImage *
read_tiff (const Tiff *t, const guint64 values[6])
{
  GByteArray *array = make_tiff (t, values);
  SurfaceImage *image = read_array (array);

  g_byte_array_unref (array);
  return image;
}

static guint64
bits_of (gfloat value)
{
  guint32 bits;

  memcpy (&bits, &value, 4);
  return bits;
}

/* Only samples equal to the value of tag 42113 are missing. */
static void
test_tiff_nodata_is_missing (void)
{
  const guint64 floats[] = { bits_of (1), bits_of (-9999), bits_of (-10000),
    bits_of (-9998), bits_of (0), bits_of (0.1f) };
  static const guint64 shorts[] = { 0, 1, 65535, 3, 4, 0 };
  static const guint64 halves[] = { 0x3c00, 0xf0e2, 0, 0, 0, 0 };
  SurfaceImage *image = read_tiff (&(Tiff){ 32, 3, .nodata = "-9999" }, floats);

  g_assert_true (isnan (image->z[1]));
  g_assert_cmpfloat (image->z[2], ==, -10000);
  g_assert_cmpfloat (image->z[3], ==, -9998);
  surface_image_free (image);

  image = read_tiff (&(Tiff){ 32, 3, .nodata = " 0.1\n" }, floats);
  g_assert_true (isnan (image->z[5]) && !isnan (image->z[1]));
  surface_image_free (image);

  image = read_tiff (&(Tiff){ 16, 1, .nodata = "0" }, shorts);
  g_assert_true (isnan (image->z[0]) && isnan (image->z[5]));
  g_assert_cmpfloat (image->z[2], ==, 65535);
  surface_image_free (image);

  image = read_tiff (&(Tiff){ 16, 3, .nodata = "-9999" }, halves);
  g_assert_true (isnan (image->z[1]) && image->z[0] == 1);
  surface_image_free (image);

  image = read_tiff (&(Tiff){ 16, 1, .nodata = "none" }, shorts);
  g_assert_cmpfloat (image->z[0], ==, 0);
  surface_image_free (image);
}

static void
test_tiff_pixel_sizes_of_ome (void)
{
  static const guint64 values[6] = { 0 };
  static const struct {
    const gchar *text;
    gdouble dx, dy;
  } cases[] = {
    { "<?xml version=\"1.0\"?><OME xmlns=\"x\"><Image><Pixels SizeX=\"3\" "
      "PhysicalSizeX=\"0.5\" PhysicalSizeY=\"0.25\"/></Image></OME>",
        0.5e-6, 0.25e-6 },
    { "<o:OME xmlns:o=\"x\"><o:Image><o:Pixels PhysicalSizeX=\"500\" "
      "PhysicalSizeXUnit=\"nm\" PhysicalSizeY=\"1e-3\" "
      "PhysicalSizeYUnit=\"mm\"></o:Pixels></o:Image></o:OME>",
        0.5e-6, 1e-6 },
    { "<OME><Image><Pixels PhysicalSizeX=\"2\" PhysicalSizeXUnit=\"\302\265m\" "
      "PhysicalSizeY=\"2\"/></Image></OME>",
        2e-6, 2e-6 },
    { "<OME><Pixels PhysicalSizeX=\"2\" PhysicalSizeXUnit=\"pixel\" "
      "PhysicalSizeY=\"2\"/></OME>",
        0, 0 },
    { "<OME><Pixels PhysicalSizeX=\"-1\" PhysicalSizeY=\"2\"/></OME>", 0, 0 },
    { "<OME><Pixels Phys", 0, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    SurfaceImage *image =
        read_tiff (&(Tiff){ 8, 1, .description = cases[i].text }, values);

    g_assert_cmpfloat_with_epsilon (image->dx, cases[i].dx, 1e-18);
    g_assert_cmpfloat_with_epsilon (image->dy, cases[i].dy, 1e-18);
    g_assert_cmpstr (image->title, ==, NULL);
    surface_image_free (image);
  }
}

static void
test_tiff_notes_other_pictures (void)
{
  static const guint64 values[6] = { 1 };
  SurfaceImage *image = read_tiff (&(Tiff){ 8, 1, .pages = 3 }, values);

  check_note (image, "only the first of its 3 pictures is read");
  g_assert_true (image->no_z_unit);
  surface_image_free (image);
  image = read_tiff (
      &(Tiff){ 8, 1, .pages = 3, .nodata = "7" }, values); /* not plain */
  check_note (image, "only the first of its 3 pictures is read");
  surface_image_free (image);
  image = read_tiff (
      &(Tiff){ 8, 1, .description = "ImageJ=1.53\nimages=12\n" }, values);
  check_note (image, "only the first of its 12 pictures");
  surface_image_free (image);
  image = read_tiff (&(Tiff){ 8, 1 }, values);
  check_note (image, NULL);
  surface_image_free (image);
}

static void
test_tiff_unit_of_gdal (void)
{
  static const guint64 values[6] = { 5 };
  SurfaceImage *image = read_tiff (
      &(Tiff){ 8, 1,
          .metadata = "<GDALMetadata><Item name=\"UNITTYPE\" sample=\"0\" "
                      "role=\"unittype\">um</Item></GDALMetadata>" },
      values);

  g_assert_false (image->no_z_unit);
  g_assert_cmpfloat (image->z[0], ==, 5 * 1e-6);
  surface_image_free (image);
}

/* --- units and bytes after the heights ------------------------------------------------ */

static SurfaceImage *
read_gsf (const gchar *fields, guint rest)
{
  GByteArray *array = g_byte_array_new ();
  SurfaceImage *image;

  add (array, "Gwyddion Simple Field 1.0\n", 26);
  add (array, fields, strlen (fields));
  do
    add_number (array, 0, 1);
  while (array->len % 4);
  add_number (array, bits_of (3), 4);
  add_number (array, bits_of (4), 4);
  for (guint i = 0; i < rest; i++)
    add_number (array, 1, 1);
  image = read_array (array);
  g_byte_array_unref (array);
  return image;
}

static void
test_gsf_without_units_is_guessed (void)
{
  SurfaceImage *image =
      read_gsf ("XRes=2\nYRes=1\nXReal=2e-6\nYReal=1e-6\n", 0);

  g_assert_true (image->no_z_unit && image->no_xy_unit);
  check_note (image, NULL);
  surface_image_free (image);
  image = read_gsf ("XRes=2\nYRes=1\nXReal=2\nYReal=1\nXYUnits=um\n"
                    "ZUnits=nm\n",
      5);
  g_assert_true (!image->no_z_unit && !image->no_xy_unit);
  check_note (image, "the last 5 bytes of the file");
  surface_image_free (image);
}

static void
test_unit_is_applied (void)
{
  static const gchar text[] = "0 0 1\n2 0 2\n0 3 3\n2 3 4\n0 6 5\n2 6 6\n";
  GBytes *bytes = g_bytes_new_static (text, strlen (text));
  SurfaceReader *reader = surface_reader_new (bytes, NULL);
  CvisPool *pool = cvis_pool_new (1);
  gdouble z[6], offset;
  guint64 missing;

  surface_reader_set_unit (reader, 1e-6);
  g_assert_cmpfloat (surface_reader_get_about (reader)->dx, ==, 2e-6);
  g_assert_cmpfloat (surface_reader_get_about (reader)->dy, ==, 3e-6);
  g_assert_true (surface_reader_read (
      reader, pool, FALSE, TRUE, z, &offset, &missing, NULL));
  for (guint i = 0; i < 6; i++)
    g_assert_cmpfloat (z[i], ==, (i + 1) * 1e-6);
  cvis_pool_free (pool);
  surface_reader_free (reader);
  g_bytes_unref (bytes);
}

/* --- BCRF: "voidpixels" is a value, or a number of points ------------------------------ */

static void
check_bcrf (const gchar *fields, const void *heights, gsize n, guint missing)
{
  GByteArray *array = g_byte_array_new ();
  SurfaceImage *image;
  guint found = 0;

  add (array, fields, strlen (fields));
  while (array->len < 300)
    add (array, " ", 1);
  add (array, heights, n);
  image = read_array (array);
  for (guint i = 0; i < 4; i++)
    found += isnan (image->z[i]) != 0;
  g_assert_cmpuint (found, ==, missing);
  surface_image_free (image);
  g_byte_array_unref (array);
}

#define BCRF                                                                   \
  "headersize = 300\nxpixels = 2\nypixels = 2\nxlength = 3\nylength = 2\n"     \
  "bit2nm = 1\n"

static void
test_bcrf_counts_voids (void)
{
  static const gfloat floats[] = { 1, 2, 3.402823e38f, 0 };
  static const guint8 shorts[] = { 1, 0, 2, 0, 0xff, 0x7f, 0, 0 };

  check_bcrf ("fileformat = bcrf\n" BCRF "voidpixels = 1\n", floats, 16, 1);
  check_bcrf ("fileformat = bcrf\n" BCRF "voidpixels = 0\n", floats, 16, 1);
  check_bcrf (
      "fileformat = bcrf\n" BCRF "voidpixels = 3.402823E+38\n", floats, 16, 1);
  check_bcrf ("fileformat = bcrstm\n" BCRF "voidpixels = 1\n", shorts, 8, 1);
  check_bcrf (
      "fileformat = bcrstm\n" BCRF "voidpixels = 32767\n", shorts, 8, 1);
}

/* --- SUR -------------------------------------------------------------------------------- */

static void
test_sur_notes_other_objects (void)
{
  SurfaceImage *image = surface_image_new (3, 2, NULL), *back;
  GByteArray *array;
  GBytes *bytes;

  image->dx = image->dy = 1e-6;
  for (guint i = 0; i < 6; i++)
    image->z[i] = i * 1e-9;
  bytes = surface_file_write (image, SURFACE_FILE_SUR, NULL);
  array = g_bytes_unref_to_array (bytes);
  array->data[14] = 2;
  back = read_array (array);
  check_note (back, "only the first of its 2 objects is read");
  g_assert_false (back->no_z_unit);
  surface_image_free (back);

  /* a picture in percent, whose heights have no unit */
  array->data[14] = 1;
  array->data[18] = 10;
  memcpy (array->data + 180 + 32, "%               ", 16);
  back = read_array (array);
  check_note (back, NULL);
  g_assert_true (back->no_z_unit);
  surface_image_free (back);
  surface_image_free (image);
  g_byte_array_unref (array);
}

/* --- NPZ ---------------------------------------------------------------------------------- */

static GByteArray *
make_npz (guint arrays, const void *npy, gsize n)
{
  zip_source_t *archive = zip_source_buffer_create (NULL, 0, 0, NULL);
  zip_t *zip = zip_open_from_source (archive, ZIP_TRUNCATE, NULL);
  GByteArray *array = g_byte_array_new ();
  zip_stat_t st;

  zip_source_keep (archive);
  for (guint i = 0; i < arrays; i++) {
    gchar *name = g_strdup_printf ("arr_%u.npy", i);

    zip_file_add (zip, name, zip_source_buffer (zip, npy, n, 0), 0);
    g_free (name);
  }
  g_assert_cmpint (zip_close (zip), ==, 0);
  zip_source_stat (archive, &st);
  g_byte_array_set_size (array, (guint) st.size);
  zip_source_open (archive);
  zip_source_read (archive, array->data, st.size);
  zip_source_close (archive);
  zip_source_free (archive);
  return array;
}

static void
test_npz_reads_first_array (void)
{
  SurfaceImage *image = surface_image_new (3, 2, NULL), *back;
  GError *error = NULL;
  GByteArray *array;
  GBytes *bytes;
  gsize n;

  for (guint i = 0; i < 6; i++)
    image->z[i] = i == 4 ? NAN : i;
  bytes = surface_file_write (image, SURFACE_FILE_NPY, NULL);
  for (guint arrays = 1; arrays < 3; arrays++) {
    const void *npy = g_bytes_get_data (bytes, &n);

    array = make_npz (arrays, npy, n);
    g_assert_cmpint (
        surface_file_detect (array->data, array->len), ==, SURFACE_FILE_NPZ);
    back = read_array (array);
    g_assert_cmpuint (back->width, ==, 3);
    g_assert_cmpfloat (back->z[5], ==, 5);
    g_assert_true (isnan (back->z[4]) && back->no_z_unit);
    check_note (
        back, arrays == 2 ? "only arr_0.npy of its 2 arrays is read" : NULL);
    surface_image_free (back);
    g_byte_array_unref (array);
  }
  g_bytes_unref (bytes);

  /* errors name the NPZ */
  array = make_npz (1, "text", 4);
  bytes = g_byte_array_free_to_bytes (array);
  g_assert_null (surface_file_read (bytes, &error));
  g_assert_cmpstr (
      error->message, ==, "The NPZ file has a arr_0.npy that is no NPY");
  g_clear_error (&error);
  g_bytes_unref (bytes);
  surface_image_free (image);
}

/* --- pairs of formats ------------------------------------------------------------------------ */

static SurfaceImage *
make_image (gdouble offset)
{
  SurfaceImage *image = surface_image_new (9, 5, NULL);

  image->dx = 0.1276e-6;
  image->dy = 0.3146e-6;
  for (guint i = 0; i < 45; i++)
    image->z[i] = i % 7 == 3 ? NAN : offset + 1e-6 * sin (i * 0.7);
  return image;
}

/* Heights, spacing and missing points are kept, or the loss is named. */
static void
check_pair (SurfaceFileFormat from, SurfaceFileFormat to, gdouble offset)
{
  SurfaceImage *image = make_image (offset), *first, *second;
  GBytes *bytes = surface_file_write (image, from, NULL);
  gchar *loss;

  first = surface_file_read (bytes, NULL);
  g_assert_nonnull (first);
  g_bytes_unref (bytes);
  first->dx = first->dx > 0 ? first->dx : image->dx; /* as by the property */
  first->dy = first->dy > 0 ? first->dy : image->dy;
  bytes = surface_file_write (first, to, NULL);
  second = surface_file_read (bytes, NULL);
  g_assert_nonnull (second);
  g_bytes_unref (bytes);
  loss = surface_file_find_loss (first, to);
  for (guint i = 0; i < 45; i++) {
    g_assert_true (isnan (first->z[i]) == isnan (second->z[i]));
    if (!isnan (first->z[i]) && !(loss && to == SURFACE_FILE_GSF))
      g_assert_cmpfloat_with_epsilon (first->z[i], second->z[i], 2e-13);
  }
  if (!(loss && to == SURFACE_FILE_NPY)) {
    g_assert_cmpfloat_with_epsilon (first->dx, second->dx, 1e-7 * first->dx);
    g_assert_cmpfloat_with_epsilon (first->dy, second->dy, 1e-7 * first->dy);
  }
  g_assert_true ((loss != NULL)
                 == (to == SURFACE_FILE_NPY
                     || (to == SURFACE_FILE_GSF && offset != 0
                         && from != SURFACE_FILE_GSF)));
  g_free (loss);
  surface_image_free (first);
  surface_image_free (second);
  surface_image_free (image);
}

static void
test_pairs_keep_or_name_losses (void)
{
  static const SurfaceFileFormat formats[] = { SURFACE_FILE_X3P,
    SURFACE_FILE_SDF, SURFACE_FILE_SDF_BINARY, SURFACE_FILE_SUR,
    SURFACE_FILE_GSF, SURFACE_FILE_TIFF, SURFACE_FILE_NPY };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    for (guint k = 0; k < G_N_ELEMENTS (formats); k++)
      if (surface_file_supported (formats[i])
          && surface_file_supported (formats[k])) {
        check_pair (formats[i], formats[k], 0);
        check_pair (formats[i], formats[k], 0.0763);
      }
}

static void
test_losses_are_named (void)
{
  SurfaceImage *image = make_image (0.0763);
  gchar *loss = surface_file_find_loss (image, SURFACE_FILE_NPY);

  g_assert_nonnull (strstr (loss, "loses 1.276e-07 x 3.146e-07 m"));
  g_free (loss);
  loss = surface_file_find_loss (image, SURFACE_FILE_GSF);
  g_assert_nonnull (strstr (loss, "rounded by up to 3."));
  g_free (loss);
  image->dx = 1e-15;
  loss = surface_file_find_loss (image, SURFACE_FILE_TIFF);
  g_assert_nonnull (strstr (loss, "TIFF cannot hold this spacing"));
  g_free (loss);
  surface_image_free (image);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  if (surface_file_supported (SURFACE_FILE_TIFF)) {
    g_test_add_func (
        "/surfacenotes/tiff-nodata-is-missing", test_tiff_nodata_is_missing);
    g_test_add_func (
        "/surfacenotes/tiff-pixel-sizes-of-ome", test_tiff_pixel_sizes_of_ome);
    g_test_add_func ("/surfacenotes/tiff-notes-other-pictures",
        test_tiff_notes_other_pictures);
    g_test_add_func ("/surfacenotes/tiff-unit-of-gdal", test_tiff_unit_of_gdal);
  }
  g_test_add_func ("/surfacenotes/gsf-without-units-is-guessed",
      test_gsf_without_units_is_guessed);
  g_test_add_func ("/surfacenotes/unit-is-applied", test_unit_is_applied);
  g_test_add_func ("/surfacenotes/bcrf-counts-voids", test_bcrf_counts_voids);
  g_test_add_func (
      "/surfacenotes/sur-notes-other-objects", test_sur_notes_other_objects);
  g_test_add_func (
      "/surfacenotes/npz-reads-first-array", test_npz_reads_first_array);
  g_test_add_func ("/surfacenotes/pairs-keep-or-name-losses",
      test_pairs_keep_or_name_losses);
  g_test_add_func ("/surfacenotes/losses-are-named", test_losses_are_named);
  return g_test_run ();
}
