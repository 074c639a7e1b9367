/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* X3P, ISO 25178-72 (ISO 5436-2): a zip with main.xml, which describes a matrix
 * of points, the points' heights as binary data, and, where heights cannot say
 * that they are missing, a bit for each point, lowest bit first, 1 where there is
 * one. Metres. MD5 checksums guard all three; one that is there has to be right.
 *
 * Spacing along x and y is even (axes of type I); z is absolute, of the types I
 * (int16), L (int32), F and D (float32 and float64), little-endian, times its
 * axis' Increment plus its Offset. */
#include "cuda/surface/bytes.h"

#include <math.h>
#include <string.h>
#include <zip.h>

#define MAX_XML (4 << 20)
#define MAX_LINK 1024
#define MAX_DEPTH 16
#define EPOCH "1970-01-01T00:00:00"
#define POINTS "bindata/data.bin"
#define CHECKSUMS "md5checksum.hex"

/* --- main.xml ---------------------------------------------------------------- */

/* Texts of elements by their path below the root, without namespaces */
typedef struct {
  GPtrArray *path;
  guint beyond; /* elements that are too deep */
  GHashTable *texts;
  gchar *root;
} Document;

static const gchar *
local_name (const gchar *name)
{
  const gchar *colon = strrchr (name, ':');

  return colon ? colon + 1 : name;
}

static void
start_element (GMarkupParseContext *context, const gchar *name,
    const gchar **names, const gchar **values, gpointer user, GError **error)
{
  Document *document = user;

  name = local_name (name);
  if (!document->root)
    document->root = g_strndup (name, 64);
  else if (document->path->len < MAX_DEPTH)
    g_ptr_array_add (document->path, g_strndup (name, 64));
  else
    document->beyond++;
}

static void
end_element (GMarkupParseContext *context, const gchar *name, gpointer user,
    GError **error)
{
  Document *document = user;

  if (document->beyond)
    document->beyond--;
  else if (document->path->len)
    g_ptr_array_set_size (document->path, document->path->len - 1);
}

/* The first of several elements of one path counts. */
static void
take_text (GMarkupParseContext *context, const gchar *text, gsize size,
    gpointer user, GError **error)
{
  Document *document = user;
  GString *path;
  gchar *copy;

  if (document->beyond || !document->path->len)
    return;
  copy = g_strstrip (g_strndup (text, size));
  if (*copy == 0) {
    g_free (copy);
    return;
  }
  path = g_string_new (document->path->pdata[0]);
  for (guint i = 1; i < document->path->len; i++)
    g_string_append_printf (
        path, "/%s", (const gchar *) document->path->pdata[i]);
  if (g_hash_table_contains (document->texts, path->str)) {
    g_string_free (path, TRUE);
    g_free (copy);
  } else {
    g_hash_table_insert (document->texts, g_string_free (path, FALSE), copy);
  }
}

static void
document_clear (Document *document)
{
  g_clear_pointer (&document->path, g_ptr_array_unref);
  g_clear_pointer (&document->texts, g_hash_table_unref);
  g_clear_pointer (&document->root, g_free);
}

static gboolean
document_parse (
    Document *document, const guint8 *xml, gsize size, GError **error)
{
  static const GMarkupParser parser = { .start_element = start_element,
    .end_element = end_element,
    .text = take_text };
  GMarkupParseContext *context;
  GError *problem = NULL;
  gboolean ok;

  if (size >= 3 && !memcmp (xml, "\xef\xbb\xbf", 3)) {
    xml += 3;
    size -= 3;
  }
  *document = (Document){ g_ptr_array_new_with_free_func (g_free), 0,
    g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free), NULL };
  context = g_markup_parse_context_new (
      &parser, G_MARKUP_TREAT_CDATA_AS_TEXT, document, NULL);
  ok = g_markup_parse_context_parse (
           context, (const gchar *) xml, size, &problem)
       && g_markup_parse_context_end_parse (context, &problem);
  g_markup_parse_context_free (context);
  if (!ok)
    surface_error (
        error, "has a main.xml that is no XML: %s", problem->message);
  else if (g_strcmp0 (document->root, "ISO5436_2")
           && g_strcmp0 (document->root, "ISO5436"))
    ok = surface_error (error,
        "has a main.xml of the element \"%s\"; ISO5436_2 is expected",
        document->root ? document->root : "");
  g_clear_error (&problem);
  return ok;
}

static const gchar *
get_text (Document *document, const gchar *path)
{
  return g_hash_table_lookup (document->texts, path);
}

static gboolean
get_number (
    Document *document, const gchar *path, gdouble *value, GError **error)
{
  const gchar *text = get_text (document, path);

  if (!text || surface_number (text, value))
    return TRUE;
  return surface_error (error,
      "has \"%.40s\" for %s in main.xml; a number is expected", text, path);
}

static gboolean
get_count (
    Document *document, const gchar *path, guint64 *value, GError **error)
{
  const gchar *text = get_text (document, path);

  if (text
      && g_ascii_string_to_unsigned (text, 10, 0, G_MAXUINT32, value, NULL))
    return TRUE;
  return surface_error (error,
      "has %s%.40s%s for %s in main.xml; a number of "
      "points is expected",
      text ? "\"" : "", text ? text : "nothing", text ? "\"" : "", path);
}

/* --- what main.xml says ------------------------------------------------------- */

typedef struct {
  guint64 width, height;
  gdouble dx, dy, scale, offset;
  SurfaceSample type;
} Matrix;

static gboolean
read_spacing (
    Document *document, const gchar *axis, gdouble *spacing, GError **error)
{
  gchar *type = g_strdup_printf ("Record1/Axes/%s/AxisType", axis);
  gchar *increment = g_strdup_printf ("Record1/Axes/%s/Increment", axis);
  const gchar *text = get_text (document, type);
  gboolean ok;

  *spacing = NAN;
  if (text && !strcmp (text, "A"))
    ok = surface_error (error,
        "has positions of its points along %s (AxisType A); only even spacing "
        "(I) is read",
        axis);
  else
    ok = get_number (document, increment, spacing, error)
         && surface_check_spacing (increment, *spacing, error);
  g_free (type);
  g_free (increment);
  return ok;
}

static gboolean
read_heights_type (Document *document, Matrix *matrix, GError **error)
{
  static const struct {
    const gchar *name;
    SurfaceSample type;
  } types[] = {
    { "I", SURFACE_SAMPLE_I16 },
    { "L", SURFACE_SAMPLE_I32 },
    { "F", SURFACE_SAMPLE_F32 },
    { "D", SURFACE_SAMPLE_F64 },
  };
  const gchar *text = get_text (document, "Record1/Axes/CZ/DataType");

  for (guint i = 0; text && i < G_N_ELEMENTS (types); i++)
    if (!strcmp (text, types[i].name)) {
      matrix->type = types[i].type;
      return TRUE;
    }
  return surface_error (error,
      "has heights of the type \"%.20s\" (Record1/Axes/CZ/DataType); I, L, F "
      "and D are possible",
      text ? text : "");
}

static gboolean
read_axes (Document *document, Matrix *matrix, GError **error)
{
  const gchar *feature = get_text (document, "Record1/FeatureType");

  if (!feature || (strcmp (feature, "SUR") && strcmp (feature, "PRF")))
    return surface_error (error,
        "holds a feature of the type \"%.20s\"; surfaces (SUR) and profiles "
        "(PRF) are read",
        feature ? feature : "");
  matrix->scale = 1;
  return read_spacing (document, "CX", &matrix->dx, error)
         && read_spacing (document, "CY", &matrix->dy, error)
         && read_heights_type (document, matrix, error)
         && get_number (
             document, "Record1/Axes/CZ/Increment", &matrix->scale, error)
         && surface_check_factor ("CZ/Increment", matrix->scale, error)
         && get_number (
             document, "Record1/Axes/CZ/Offset", &matrix->offset, error)
         && surface_check_finite ("CZ/Offset", matrix->offset, error);
}

static gboolean
read_matrix (Document *document, Matrix *matrix, GError **error)
{
  guint64 layers = 0;

  if (get_text (document, "Record3/ListDimension"))
    return surface_error (
        error, "holds a list of points; a matrix of them is read");
  if (!get_count (
          document, "Record3/MatrixDimension/SizeX", &matrix->width, error)
      || !get_count (
          document, "Record3/MatrixDimension/SizeY", &matrix->height, error)
      || !get_count (document, "Record3/MatrixDimension/SizeZ", &layers, error))
    return FALSE;
  if (layers != 1)
    return surface_error (
        error, "has %" G_GUINT64_FORMAT " layers (SizeZ); one is read", layers);
  if (!get_text (document, "Record3/DataLink/PointDataLink"))
    return surface_error (error, "has no binary heights (PointDataLink); those "
                                 "in main.xml itself are not read");
  return surface_check_size (matrix->width, matrix->height, error)
         && read_axes (document, matrix, error);
}

/* --- the zip ------------------------------------------------------------------ */

/* @prefix: of the folder that main.xml lies in; empty or with a slash */
typedef struct {
  zip_t *zip;
  gchar *prefix;
} Archive;

static zip_t *
open_zip (const guint8 *data, gsize size, GError **error)
{
  zip_error_t problem;
  zip_source_t *source;
  zip_t *zip = NULL;

  zip_error_init (&problem);
  source = zip_source_buffer_create (data, size, 0, &problem);
  if (source) {
    zip = zip_open_from_source (source, ZIP_RDONLY, &problem);
    if (!zip)
      zip_source_free (source);
  }
  if (!zip)
    surface_error (
        error, "is no zip archive: %s", zip_error_strerror (&problem));
  zip_error_fini (&problem);
  return zip;
}

/* Some programs pack the folder instead of what lies in it. */
static gboolean
find_main (Archive *archive, GError **error)
{
  zip_int64_t n = zip_get_num_entries (archive->zip, 0);

  for (zip_int64_t i = 0; i < n; i++) {
    const gchar *name = zip_get_name (archive->zip, i, 0);

    if (name && !g_str_has_prefix (name, "__MACOSX/")
        && (!strcmp (name, "main.xml") || g_str_has_suffix (name, "/main.xml"))
        && strlen (name) < MAX_LINK) {
      archive->prefix = g_strndup (name, strlen (name) - strlen ("main.xml"));
      return TRUE;
    }
  }
  return surface_error (error, "is a zip archive without a main.xml");
}

static gboolean
check_entry (
    const zip_stat_t *st, const gchar *link, guint64 most, GError **error)
{
  const zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;

  if ((st->valid & needed) != needed)
    return surface_error (
        error, "does not say the size of %s, which lies in it", link);
  if (st->size > most)
    return surface_error (error,
        "has %" G_GUINT64_FORMAT " bytes of %s; at most %" G_GUINT64_FORMAT
        " are expected",
        (guint64) st->size, link, most);
  if (st->size / SURFACE_MAX_RATIO > st->comp_size)
    return surface_error (error,
        "has %" G_GUINT64_FORMAT " bytes of %s in %" G_GUINT64_FORMAT
        ", which no compression makes",
        (guint64) st->size, link, (guint64) st->comp_size);
  return TRUE;
}

/* @link: as main.xml has it
 * Returns: (transfer full): its @size bytes and a NUL; %NULL with @error */
static guint8 *
read_entry (Archive *archive, const gchar *link, guint64 most, gsize *size,
    GError **error)
{
  gchar *name =
      g_strdelimit (g_strconcat (archive->prefix, link, NULL), "\\", '/');
  zip_file_t *file = NULL;
  guint8 *bytes = NULL;
  zip_stat_t st;

  if (zip_stat (archive->zip, name, 0, &st) != 0) {
    surface_error (error, "has no %.80s, which it speaks of", link);
  } else if (check_entry (&st, link, most, error)) {
    file = zip_fopen_index (archive->zip, st.index, 0);
    bytes = file ? g_try_malloc (st.size + 1) : NULL;
    if (!file)
      surface_error (error, "has a %s that cannot be opened: %s", link,
          zip_strerror (archive->zip));
    else if (!bytes)
      g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
          "has %" G_GUINT64_FORMAT " bytes of %s, more than there is memory "
          "for",
          (guint64) st.size, link);
  }
  if (bytes && zip_fread (file, bytes, st.size) != (zip_int64_t) st.size) {
    surface_error (error, "has a %s that cannot be unpacked: %s", link,
        zip_file_strerror (file));
    g_clear_pointer (&bytes, g_free);
  }
  if (file)
    zip_fclose (file);
  g_free (name);
  if (bytes) {
    *size = st.size;
    bytes[*size] = 0;
  }
  return bytes;
}

/* @expected: (nullable): hexadecimal digits, followed by anything but letters and
 * digits */
static gboolean
check_md5 (const gchar *expected, const guint8 *bytes, gsize size,
    const gchar *link, GError **error)
{
  gchar *md5;
  gboolean ok;

  if (!expected)
    return TRUE;
  md5 = g_compute_checksum_for_data (G_CHECKSUM_MD5, bytes, size);
  ok = !g_ascii_strncasecmp (expected, md5, 32)
       && !g_ascii_isalnum (expected[32]);
  if (!ok)
    surface_error (error,
        "has a %s of the MD5 checksum %s, and says that it is \"%.32s\"", link,
        md5, expected);
  g_free (md5);
  return ok;
}

/* --- reading ------------------------------------------------------------------- */

/* Of main.xml, in the file that Record4 names, if it is there */
static gboolean
check_main (Archive *archive, Document *document, const guint8 *xml, gsize size,
    GError **error)
{
  const gchar *link = get_text (document, "Record4/ChecksumFile");
  guint8 *bytes = NULL;
  gchar *expected;
  gsize n;
  gboolean ok;

  if (link)
    bytes = read_entry (archive, link, MAX_LINK, &n, NULL);
  if (!bytes)
    return TRUE;
  expected = g_strstrip ((gchar *) bytes);
  ok = *expected == 0 || check_md5 (expected, xml, size, "main.xml", error);
  g_free (bytes);
  return ok;
}

/* Points without a bit are missing. */
static gboolean
read_mask (
    Archive *archive, Document *document, SurfaceImage *image, GError **error)
{
  const gchar *link = get_text (document, "Record3/DataLink/ValidPointsLink");
  gsize n = (gsize) image->width * image->height, size;
  guint8 *bits;

  if (!link)
    return TRUE;
  bits = read_entry (archive, link, (n + 7) / 8, &size, error);
  if (!bits)
    return FALSE;
  if (size < (n + 7) / 8
      || !check_md5 (
          get_text (document, "Record3/DataLink/MD5ChecksumValidPoints"), bits,
          size, link, error)) {
    if (size < (n + 7) / 8)
      surface_error (error,
          "has %" G_GSIZE_FORMAT " bytes of %s for %" G_GSIZE_FORMAT " points",
          size, link, n);
    g_free (bits);
    return FALSE;
  }
  for (gsize i = 0; i < n; i++)
    if (!(bits[i / 8] >> i % 8 & 1))
      image->z[i] = NAN;
  g_free (bits);
  return TRUE;
}

static guint8 *
read_points (
    Archive *archive, Document *document, const Matrix *matrix, GError **error)
{
  const gchar *link = get_text (document, "Record3/DataLink/PointDataLink");
  guint64 needed =
      matrix->width * matrix->height * surface_sample_size (matrix->type);
  gsize size;
  guint8 *points = read_entry (archive, link, needed, &size, error);

  if (points && size < needed) {
    surface_error (error,
        "has %" G_GSIZE_FORMAT " bytes of %s; its %" G_GUINT64_FORMAT
        " x %" G_GUINT64_FORMAT " points need %" G_GUINT64_FORMAT,
        size, link, matrix->width, matrix->height, needed);
    g_clear_pointer (&points, g_free);
  }
  if (points
      && !check_md5 (
          get_text (document, "Record3/DataLink/MD5ChecksumPointData"), points,
          size, link, error))
    g_clear_pointer (&points, g_free);
  return points;
}

static gchar *
clean_text (Document *document, const gchar *path)
{
  const gchar *text = get_text (document, path);

  return text ? surface_text ((const guint8 *) text, strlen (text)) : NULL;
}

static SurfaceImage *
read_image (Archive *archive, Document *document, GError **error)
{
  SurfaceImage *image;
  Matrix matrix = { 0 };
  guint8 *points;

  if (!read_matrix (document, &matrix, error))
    return NULL;
  points = read_points (archive, document, &matrix, error);
  if (!points)
    return NULL;
  image = surface_image_new (matrix.width, matrix.height, error);
  if (image) {
    image->dx = matrix.dx;
    image->dy = matrix.dy;
    image->title = clean_text (document, "Record2/Comment");
    image->date = clean_text (document, "Record2/Date");
    if (!g_strcmp0 (image->date, EPOCH))
      g_clear_pointer (&image->date, g_free);
    surface_samples_read (points, matrix.type, FALSE,
        (gsize) matrix.width * matrix.height, image->z);
    surface_image_scale (image, matrix.scale, matrix.offset);
    if (!read_mask (archive, document, image, error))
      g_clear_pointer (&image, surface_image_free);
  }
  g_free (points);
  return image;
}

SurfaceImage *
surface_read_x3p (const guint8 *data, gsize size, GError **error)
{
  Archive archive = { open_zip (data, size, error), NULL };
  SurfaceImage *image = NULL;
  Document document = { 0 };
  guint8 *xml = NULL;
  gsize n;

  if (!archive.zip)
    return NULL;
  if (find_main (&archive, error))
    xml = read_entry (&archive, "main.xml", MAX_XML, &n, error);
  if (xml && document_parse (&document, xml, n, error)
      && check_main (&archive, &document, xml, n, error))
    image = read_image (&archive, &document, error);
  document_clear (&document);
  g_free (xml);
  g_free (archive.prefix);
  zip_discard (archive.zip);
  return image;
}

/* --- writing ------------------------------------------------------------------- */

static gchar *
make_xml (const SurfaceImage *image, const guint8 *points, gsize size)
{
  gchar dx[G_ASCII_DTOSTR_BUF_SIZE], dy[G_ASCII_DTOSTR_BUF_SIZE];
  gchar *md5 = g_compute_checksum_for_data (G_CHECKSUM_MD5, points, size);
  gchar *xml = g_markup_printf_escaped (
      "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n"
      "<p:ISO5436_2 xmlns:p=\"http://www.opengps.eu/2008/ISO5436_2\" "
      "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
      "xsi:schemaLocation=\"http://www.opengps.eu/2008/ISO5436_2 "
      "http://www.opengps.eu/2008/ISO5436_2/ISO5436_2.xsd\">\n"
      "  <Record1>\n"
      "    <Revision>ISO5436 - 2000</Revision>\n"
      "    <FeatureType>SUR</FeatureType>\n"
      "    <Axes>\n"
      "      <CX><AxisType>I</AxisType><DataType>D</DataType>"
      "<Increment>%s</Increment><Offset>0</Offset></CX>\n"
      "      <CY><AxisType>I</AxisType><DataType>D</DataType>"
      "<Increment>%s</Increment><Offset>0</Offset></CY>\n"
      "      <CZ><AxisType>A</AxisType><DataType>D</DataType></CZ>\n"
      "    </Axes>\n"
      "  </Record1>\n"
      "  <Record2>\n"
      "    <Date>%s</Date>\n"
      "    <Instrument><Manufacturer>not available</Manufacturer>"
      "<Model>not available</Model><Serial>not available</Serial>"
      "<Version>not available</Version></Instrument>\n"
      "    <CalibrationDate>" EPOCH "</CalibrationDate>\n"
      "    <ProbingSystem><Type>Software</Type>"
      "<Identification>gst-cudavision</Identification></ProbingSystem>\n"
      "    <Comment>%s</Comment>\n"
      "  </Record2>\n"
      "  <Record3>\n"
      "    <MatrixDimension><SizeX>%u</SizeX><SizeY>%u</SizeY>"
      "<SizeZ>1</SizeZ></MatrixDimension>\n"
      "    <DataLink><PointDataLink>" POINTS "</PointDataLink>"
      "<MD5ChecksumPointData>%s</MD5ChecksumPointData></DataLink>\n"
      "  </Record3>\n"
      "  <Record4><ChecksumFile>" CHECKSUMS "</ChecksumFile></Record4>\n"
      "</p:ISO5436_2>\n",
      g_ascii_dtostr (dx, sizeof (dx), image->dx),
      g_ascii_dtostr (dy, sizeof (dy), image->dy),
      image->date ? image->date : EPOCH, image->title ? image->title : "",
      image->width, image->height, md5);

  g_free (md5);
  return xml;
}

/* Level 9, libzip's own, takes many times as long for the noise that most of a
 * surface's digits are, and saves little. */
#define DEFLATE_LEVEL 1

/* Always of the same time, so that the same picture gives the same file. */
static gboolean
add_entry (zip_t *zip, const gchar *name, const void *bytes, gsize size)
{
  zip_source_t *source = zip_source_buffer (zip, bytes, size, 0);
  zip_int64_t index;

  if (!source)
    return FALSE;
  index = zip_file_add (zip, name, source, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    zip_source_free (source);
    return FALSE;
  }
  return zip_set_file_compression (
             zip, (zip_uint64_t) index, ZIP_CM_DEFLATE, DEFLATE_LEVEL)
             == 0
         && zip_file_set_dostime (zip, (zip_uint64_t) index, 0, 0x21, 0) == 0;
}

/* Writes what @archive holds by now; @archive keeps the source. */
static gboolean
pack (zip_source_t *archive, const gchar *xml, const SurfaceOut *points,
    zip_error_t *problem)
{
  gchar *md5 = g_compute_checksum_for_string (G_CHECKSUM_MD5, xml, -1);
  gchar *checksums = g_strdup_printf ("%s *main.xml\n", md5);
  zip_t *zip = zip_open_from_source (archive, ZIP_TRUNCATE, problem);
  gboolean ok = zip != NULL;

  if (zip) {
    zip_source_keep (archive);
    ok = add_entry (zip, "main.xml", xml, strlen (xml))
         && add_entry (zip, POINTS, points->data, points->size)
         && add_entry (zip, CHECKSUMS, checksums, strlen (checksums))
         && zip_close (zip) == 0;
    if (!ok) {
      zip_error_t *words = zip_get_error (zip);

      zip_error_set (
          problem, zip_error_code_zip (words), zip_error_code_system (words));
      zip_discard (zip);
    }
  }
  g_free (checksums);
  g_free (md5);
  return ok;
}

static gboolean
copy_out (zip_source_t *archive, SurfaceOut *out, GError **error)
{
  zip_stat_t st;
  guint8 *to;
  gboolean ok;

  if (zip_source_stat (archive, &st) != 0 || zip_source_open (archive) != 0)
    return FALSE;
  to = surface_out_add (out, st.size, error);
  ok = to && zip_source_read (archive, to, st.size) == (zip_int64_t) st.size;
  zip_source_close (archive);
  return ok;
}

gboolean
surface_write_x3p (const SurfaceImage *image, SurfaceOut *out, GError **error)
{
  SurfaceOut points = { 0 };
  GError *problem = NULL;
  zip_source_t *archive;
  zip_error_t words;
  gchar *xml;
  gboolean ok;

  if (!surface_out_add_samples (&points, image, SURFACE_SAMPLE_F64, error))
    return FALSE;
  zip_error_init (&words);
  xml = make_xml (image, points.data, points.size);
  archive = zip_source_buffer_create (NULL, 0, 0, &words);
  ok = archive && pack (archive, xml, &points, &words)
       && copy_out (archive, out, &problem);
  if (!ok && problem)
    g_propagate_error (error, g_steal_pointer (&problem));
  else if (!ok)
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY, "cannot be packed: %s",
        zip_error_strerror (&words));
  if (archive)
    zip_source_free (archive);
  zip_error_fini (&words);
  g_free (xml);
  g_free (points.data);
  return ok;
}
