/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* X3P, ISO 25178-72 (ISO 5436-2): a zip archive with main.xml, which
 * describes a matrix of points, the heights as binary data and, if the
 * heights' type has no value for missing points, one bit for each point,
 * lowest bit first, 1 for valid points. Metres. MD5 checksums protect all
 * three: those of heights and bits have to match if they are present; for
 * main.xml, which people edit, a mismatch is only a warning.
 *
 * z, and x and y of points with explicit positions (axes of type A), are
 * samples of the types I (int16), L (int32), F and D (float32 and float64),
 * little-endian, or numbers in main.xml (DataList): metres are the sample
 * times its axis' Increment plus its Offset. Points with positions are
 * supported if these form a grid. */
#include "cuda/surface/x3p.h"

#include <math.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>
#include <zlib.h>
#if HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif

#define MAX_XML (64 << 20)
#define MAX_LINK 1024
#define MAX_DEPTH 16

/* --- main.xml ---------------------------------------------------------------- */

/* Numbers of a point in main.xml; @n 0: the point is missing */
typedef struct {
  guint n;
  gdouble values[3];
} Datum;

/* Texts of elements by path below the root, without namespaces, and the
 * points of a DataList */
typedef struct {
  GPtrArray *path;
  guint beyond; /* elements that are nested too deeply */
  GHashTable *texts;
  gchar *root;
  Datum *data;
  gsize n_data, room;
} Document;

static const gchar *
local_name (const gchar *name)
{
  const gchar *colon = strrchr (name, ':');

  return colon ? colon + 1 : name;
}

static gboolean
is_datum (const Document *document)
{
  gpointer *path = document->path->pdata;

  return document->path->len == 3 && !strcmp (path[2], "Datum")
         && !strcmp (path[1], "DataList") && !strcmp (path[0], "Record3");
}

static void
add_datum (Document *document, GError **error)
{
  const gsize room = MAX (1024, 2 * document->room);
  Datum *data = document->data;

  if (document->n_data == document->room) {
    data = g_try_realloc (data, room * sizeof (Datum));
    if (!data) {
      g_set_error_literal (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
          "Not enough memory for the points of main.xml");
      return;
    }
    document->data = data;
    document->room = room;
  }
  data[document->n_data++].n = 0;
}

/* "x;y;z", without the numbers of axes whose positions follow from the order */
static void
take_datum (Document *document, const gchar *text, GError **error)
{
  Datum *datum = &document->data[document->n_data - 1];
  const gchar *at = text;
  gchar *end;

  for (;; at = end + 1) {
    gdouble value = g_ascii_strtod (at, &end);

    while (g_ascii_isspace (*end))
      end++;
    if (datum->n == 3 || (*end != ';' && *end != 0))
      break;
    datum->values[datum->n++] = end == at ? NAN : value;
    if (*end == 0)
      return;
  }
  surface_error (error,
      "has \"%.40s\" for point %" G_GSIZE_FORMAT " (Datum) in main.xml; up to "
      "three numbers with semicolons between them are expected",
      text, document->n_data - 1);
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
  if (!document->beyond && is_datum (document))
    add_datum (document, error);
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

/* Of several elements with the same path the first one counts. */
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
  if (*copy != 0 && is_datum (document))
    take_datum (document, copy, error);
  if (*copy == 0 || is_datum (document)) {
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
  g_clear_pointer (&document->data, g_free);
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
  document->path = g_ptr_array_new_with_free_func (g_free);
  document->texts =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  context = g_markup_parse_context_new (
      &parser, G_MARKUP_TREAT_CDATA_AS_TEXT, document, NULL);
  ok = g_markup_parse_context_parse (
           context, (const gchar *) xml, size, &problem)
       && g_markup_parse_context_end_parse (context, &problem);
  g_markup_parse_context_free (context);
  if (!ok && problem->domain == CVIS_ERROR)
    g_propagate_error (error, g_steal_pointer (&problem));
  else if (!ok)
    surface_error (
        error, "has a main.xml that is not valid XML: %s", problem->message);
  else if (g_strcmp0 (document->root, "ISO5436_2")
           && g_strcmp0 (document->root, "ISO5436"))
    ok = surface_error (error,
        "has a main.xml with the root element \"%s\"; ISO5436_2 is expected",
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
get_x3p_count (
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

/* --- axes and sizes ------------------------------------------------------------ */

/* @listed: every point has a sample; otherwise positions are the index times
 *   @increment */
typedef struct {
  gboolean listed;
  SurfaceSample type;
  gdouble increment, offset;
} Axis;

/**
 * Matrix:
 * @list: points in no order
 * @mirror: x or y falls along the rows or columns
 * @positions: x or y are listed
 * @width, @height: for a list: number of points, 1
 * @point_size: bytes of a point
 */
typedef struct {
  gboolean list, positions, mirror[2];
  guint64 width, height;
  Axis axes[3];
  gsize point_size;
} Matrix;

static gboolean
read_x3p_type (
    Document *document, const gchar *name, Axis *axis, GError **error)
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
  gchar *path = g_strdup_printf ("Record1/Axes/%s/DataType", name);
  const gchar *text = get_text (document, path);
  gboolean found = FALSE;

  for (guint i = 0; text && i < G_N_ELEMENTS (types); i++)
    if (!strcmp (text, types[i].name)) {
      axis->type = types[i].type;
      found = TRUE;
    }
  if (!found)
    surface_error (error,
        "has samples of the type \"%.20s\" (%s); I, L, F and D are possible",
        text ? text : "", path);
  g_free (path);
  return found;
}

static gboolean
read_x3p_axis (Document *document, guint index, Matrix *matrix, GError **error)
{
  static const gchar *const names[] = { "CX", "CY", "CZ" };
  const gchar *name = names[index];
  Axis *axis = &matrix->axes[index];
  gchar *type = g_strdup_printf ("Record1/Axes/%s/AxisType", name);
  gchar *increment = g_strdup_printf ("Record1/Axes/%s/Increment", name);
  gchar *offset = g_strdup_printf ("Record1/Axes/%s/Offset", name);
  gboolean ok;

  axis->listed = index == 2 || !g_strcmp0 (get_text (document, type), "A");
  axis->increment = axis->listed ? 1 : NAN;
  ok = get_number (document, increment, &axis->increment, error)
       && get_number (document, offset, &axis->offset, error);
  if (ok && axis->listed)
    ok = surface_check_factor (increment, axis->increment, error)
         && surface_check_finite (offset, axis->offset, error)
         && read_x3p_type (document, name, axis, error);
  else if (ok && !(matrix->list && index == 1)) { /* a profile has one row */
    matrix->mirror[index] = axis->increment < 0;
    ok = surface_check_spacing (increment, fabs (axis->increment), error);
  }
  if (ok && axis->listed) {
    matrix->point_size += surface_sample_size (axis->type);
    matrix->positions |= index < 2;
  }
  g_free (type);
  g_free (increment);
  g_free (offset);
  return ok;
}

static gboolean
read_sizes (Document *document, Matrix *matrix, GError **error)
{
  guint64 layers = 0;

  matrix->list = get_text (document, "Record3/ListDimension") != NULL;
  matrix->height = 1;
  if (matrix->list)
    return get_x3p_count (
        document, "Record3/ListDimension", &matrix->width, error);
  if (!get_x3p_count (
          document, "Record3/MatrixDimension/SizeX", &matrix->width, error)
      || !get_x3p_count (
          document, "Record3/MatrixDimension/SizeY", &matrix->height, error)
      || !get_x3p_count (
          document, "Record3/MatrixDimension/SizeZ", &layers, error))
    return FALSE;
  if (layers != 1)
    return surface_error (
        error, "has %" G_GUINT64_FORMAT " layers (SizeZ); one is read", layers);
  return TRUE;
}

static gboolean
read_matrix (Document *document, Matrix *matrix, GError **error)
{
  const gchar *feature = get_text (document, "Record1/FeatureType");

  if (!read_sizes (document, matrix, error)
      || !surface_check_size (matrix->width, matrix->height, error))
    return FALSE;
  if (!feature
      || (strcmp (feature, "SUR") && strcmp (feature, "PRF")
          && strcmp (feature, "PCL")))
    return surface_error (error,
        "holds a feature of the type \"%.20s\"; surfaces (SUR), profiles (PRF) "
        "and point clouds (PCL) are read",
        feature ? feature : "");
  if (!document->data && !get_text (document, "Record3/DataLink/PointDataLink"))
    return surface_error (
        error, "has no heights: neither PointDataLink nor DataList");
  for (guint i = 0; i < 3; i++)
    if (!read_x3p_axis (document, i, matrix, error))
      return FALSE;
  return TRUE;
}

/* --- the zip ------------------------------------------------------------------ */

/* @prefix: folder that contains main.xml; empty or with a slash */
typedef struct {
  zip_t *zip;
  gchar *prefix;
} Archive;

static zip_t *
open_zip (const SurfaceSource *source, GError **error)
{
  zip_source_t *bytes;
  zip_error_t problem;
  zip_t *zip = NULL;
  gint code, fd;

  zip_error_init (&problem);
  if (source->data) {
    bytes = zip_source_buffer_create (source->data, source->size, 0, &problem);
    zip = bytes ? zip_open_from_source (bytes, ZIP_RDONLY, &problem) : NULL;
    if (bytes && !zip)
      zip_source_free (bytes);
  } else {
    fd = dup (source->fd);
    code = ZIP_ER_OPEN;
    zip = fd >= 0 ? zip_fdopen (fd, 0, &code) : NULL;
    if (fd >= 0 && !zip)
      close (fd);
    zip_error_init_with_code (&problem, code);
  }
  if (!zip
      && (zip_error_code_zip (&problem) == ZIP_ER_NOZIP
#ifdef ZIP_ER_TRUNCATED_ZIP
          || zip_error_code_zip (&problem) == ZIP_ER_TRUNCATED_ZIP
#endif
          ))
    surface_error (error, "has no zip directory at its end: it may be cut off. "
                          "Copy it again");
  else if (!zip)
    surface_error (error, "has a zip directory that cannot be read: %s",
        zip_error_strerror (&problem));
  zip_error_fini (&problem);
  return zip;
}

/* Name of a file in the archive, with slashes: Windows' programs may write
 * backslashes. Returns: (nullable) (transfer full) */
static gchar *
get_name (Archive *archive, zip_int64_t index)
{
  const gchar *name = zip_get_name (archive->zip, index, 0);

  return name && strlen (name) < MAX_LINK
             ? g_strdelimit (g_strdup (name), "\\", '/')
             : NULL;
}

/* Some programs archive the folder instead of its contents. */
static gboolean
find_main (Archive *archive, GError **error)
{
  zip_int64_t n = zip_get_num_entries (archive->zip, 0);

  for (zip_int64_t i = 0; i < n && !archive->prefix; i++) {
    gchar *name = get_name (archive, i);

    if (name && !g_str_has_prefix (name, "__MACOSX/")
        && (!strcmp (name, "main.xml") || g_str_has_suffix (name, "/main.xml")))
      archive->prefix = g_strndup (name, strlen (name) - strlen ("main.xml"));
    g_free (name);
  }
  return archive->prefix
         || surface_error (error, "is a zip archive without a main.xml");
}

static gboolean
check_entry (
    const zip_stat_t *st, const gchar *link, guint64 most, GError **error)
{
  const zip_uint64_t needed =
      ZIP_STAT_INDEX | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;

  if ((st->valid & needed) != needed)
    return surface_error (error, "does not specify the size of %s", link);
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

/* @name: with slashes. Returns: index in the archive; -1: none */
static zip_int64_t
find_name (Archive *archive, const gchar *name)
{
  zip_int64_t n = zip_get_num_entries (archive->zip, 0);
  zip_int64_t found = zip_name_locate (archive->zip, name, 0);

  for (zip_int64_t i = 0; i < n && found < 0; i++) {
    gchar *other = get_name (archive, i);

    if (other && !strcmp (other, name))
      found = i;
    g_free (other);
  }
  return found;
}

/* @link: as written in main.xml */
static gboolean
find_entry (Archive *archive, const gchar *link, guint64 most, zip_stat_t *st,
    GError **error)
{
  gchar *name =
      g_strdelimit (g_strconcat (archive->prefix, link, NULL), "\\", '/');
  const zip_int64_t index = find_name (archive, name);
  const gboolean there =
      index >= 0
      && zip_stat_index (archive->zip, (zip_uint64_t) index, 0, st) == 0;

  g_free (name);
  if (!there)
    return surface_error (
        error, "has no %.80s, although main.xml names it", link);
  return check_entry (st, link, most, error);
}

/* @size: all of its bytes, or, with ZIP_FL_COMPRESSED, the compressed bytes */
static gboolean
unpack_entry (Archive *archive, const zip_stat_t *st, const gchar *link,
    zip_flags_t flags, guint8 *to, guint64 size, GError **error)
{
  zip_file_t *file = zip_fopen_index (archive->zip, st->index, flags);
  gboolean ok = TRUE;

  if (!file)
    return surface_error (error, "has a %s that cannot be opened: %s", link,
        zip_strerror (archive->zip));
  if (zip_fread (file, to, size) != (zip_int64_t) size)
    ok = surface_error (error, "has a %s that cannot be unpacked: %s", link,
        zip_file_strerror (file));
  zip_fclose (file);
  return ok;
}

static gboolean
reject_x3p_memory (guint64 size, const gchar *link, GError **error)
{
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
      "Not enough memory for %" G_GUINT64_FORMAT " bytes of %s", size, link);
  return FALSE;
}

/* Returns: (transfer full): @size bytes and a NUL; %NULL with @error */
static guint8 *
read_entry (Archive *archive, const gchar *link, guint64 most, gsize *size,
    GError **error)
{
  guint8 *bytes;
  zip_stat_t st;

  if (!find_entry (archive, link, most, &st, error))
    return NULL;
  bytes = g_try_malloc (st.size + 1);
  if (!bytes) {
    reject_x3p_memory (st.size, link, error);
    return NULL;
  }
  if (!unpack_entry (archive, &st, link, 0, bytes, st.size, error)) {
    g_free (bytes);
    return NULL;
  }
  *size = st.size;
  bytes[*size] = 0;
  return bytes;
}

/* --- checksums ---------------------------------------------------------------- */

/* @expected: hexadecimal digits, followed by anything except letters and
 *   digits */
static gboolean
is_md5 (const gchar *expected, const gchar *md5)
{
  return !g_ascii_strncasecmp (expected, md5, 32)
         && !g_ascii_isalnum (expected[32]);
}

/* @expected: (nullable) */
static gboolean
check_md5 (
    const gchar *expected, const gchar *md5, const gchar *link, GError **error)
{
  return !expected || is_md5 (expected, md5)
         || surface_error (error,
             "has a %s with the MD5 checksum %s instead of \"%.32s\". Copy the "
             "file again",
             link, md5, expected);
}

/* Checks main.xml against the file that Record4 names, if present. Returns:
 * (nullable) (transfer full): the warning */
static gchar *
check_main (Archive *archive, Document *document, const guint8 *xml, gsize size)
{
  const gchar *link = get_text (document, "Record4/ChecksumFile");
  guint8 *bytes = NULL;
  gchar *expected, *md5, *text, *words = NULL;
  gsize n;

  if (link)
    bytes = read_entry (archive, link, MAX_LINK, &n, NULL);
  if (!bytes)
    return NULL;
  expected = g_strstrip ((gchar *) bytes);
  md5 = g_compute_checksum_for_data (G_CHECKSUM_MD5, xml, size);
  if (*expected != 0 && !is_md5 (expected, md5)) {
    text = g_strdup_printf (
        "The X3P file's main.xml has the MD5 checksum %s, and %.40s says "
        "\"%.32s\": it was changed after the file was written",
        md5, link, expected);
    words = surface_text ((guint8 *) text, strlen (text));
    g_free (text);
  }
  g_free (md5);
  g_free (bytes);
  return words;
}

/* --- heights ------------------------------------------------------------------ */

typedef struct {
  SurfacePacked parent;
  Archive archive;
  Document document;
  Matrix matrix;
  SurfaceImage *image; /* (nullable): points that had to be read at once */
} X3p;

/**
 * Unpacking: heights in one deflate stream of chunks
 * @starts: of the chunks among the packed bytes, and the end of the last one
 * @chunk: bytes of heights in each chunk except the last
 * @done: (atomic): of each chunk
 * @hashed: chunks whose checksums were added, protected by @lock
 */
typedef struct {
  guint8 *packed;
  guint64 *starts;
  guint n;
  guint8 *to;
  gsize size, chunk;
  gint *done;
  gint failed;
  GMutex lock;
  guint hashed;
  GChecksum *md5;
  uLong crc;
} Unpacking;

#if HAVE_LIBDEFLATE
#define WHOLE_STREAMS TRUE
/* libdeflate needs a complete stream: an empty final block is appended to
 * the chunk. @last: it has one. @room: for the packed bytes and that block */
static gboolean
inflate_chunk (const guint8 *from, gsize n, gboolean last, guint8 *room,
    guint8 *to, gsize size)
{
  struct libdeflate_decompressor *d = libdeflate_alloc_decompressor ();
  gboolean ok;

  if (!last) {
    memcpy (room, from, n);
    memcpy (room + n, "\3", 2);
    from = room;
    n += 2;
  }
  ok = d
       && libdeflate_deflate_decompress (d, from, n, to, size, NULL)
              == LIBDEFLATE_SUCCESS;
  libdeflate_free_decompressor (d);
  return ok;
}
#else
#define WHOLE_STREAMS FALSE /* libzip is as fast */
static gboolean
inflate_chunk (const guint8 *from, gsize n, gboolean last, guint8 *room,
    guint8 *to, gsize size)
{
  z_stream z = { .next_in = (Bytef *) from,
    .avail_in = (uInt) n,
    .next_out = to,
    .avail_out = (uInt) size };

  if (inflateInit2 (&z, -MAX_WBITS) != Z_OK)
    return FALSE;
  inflate (&z, Z_SYNC_FLUSH);
  inflateEnd (&z);
  return z.avail_out == 0;
}
#endif

static gsize
chunk_size (const Unpacking *unpacking, guint index)
{
  return MIN (unpacking->size - index * unpacking->chunk, unpacking->chunk);
}

/* Adds the checksums of chunks in order, unless another thread is doing so */
static void
hash_chunks (Unpacking *u)
{
  if (!g_mutex_trylock (&u->lock))
    return;
  for (; u->hashed < u->n && g_atomic_int_get (&u->done[u->hashed]);
       u->hashed++) {
    const guint8 *chunk = u->to + u->hashed * u->chunk;
    const gsize size = chunk_size (u, u->hashed);

    u->crc = crc32_z (u->crc, chunk, size);
    g_checksum_update (u->md5, chunk, (gssize) size);
  }
  g_mutex_unlock (&u->lock);
}

static void
unpack_chunks (guint first, guint count, gpointer user_data)
{
  Unpacking *u = user_data;
  guint8 *room = NULL;
  gsize most = 0;

  for (guint i = first; i < first + count; i++)
    if (i + 1 < u->n)
      most = MAX (most, u->starts[i + 1] - u->starts[i]);
  if (WHOLE_STREAMS && most > 0)
    room = g_malloc (most + 2);
  for (guint i = first; i < first + count; i++) {
    if (inflate_chunk (u->packed + u->starts[i],
            u->starts[i + 1] - u->starts[i], i + 1 == u->n, room,
            u->to + i * u->chunk, chunk_size (u, i)))
      g_atomic_int_set (&u->done[i], TRUE);
    else
      g_atomic_int_set (&u->failed, TRUE);
    hash_chunks (u);
  }
  g_free (room);
}

/* The chunks listed in the archive, otherwise a single one */
static gboolean
find_chunks (Archive *archive, const zip_stat_t *st, Unpacking *u)
{
  zip_uint16_t size = 0;
  const zip_uint8_t *field = zip_file_extra_field_get_by_id (
      archive->zip, st->index, X3P_CHUNKS_FIELD, 0, &size, ZIP_FL_CENTRAL);
  guint n = field && size >= 8 ? size / 4 - 1 : 0;

  u->chunk = n > 0 ? surface_get_u32 (field) : 0;
  if (u->chunk == 0 || (st->size + u->chunk - 1) / u->chunk != n)
    n = 0;
  u->n = MAX (n, 1);
  u->starts = g_new0 (guint64, u->n + 1);
  for (guint i = 0; i < n; i++)
    u->starts[i + 1] = u->starts[i] + surface_get_u32 (field + 4 + 4 * i);
  if (n == 0)
    u->chunk = st->size;
  if (n == 0 || u->starts[n] > st->comp_size) {
    u->n = 1;
    u->chunk = st->size;
    u->starts[1] = st->comp_size;
  }
  return u->n > 1 || WHOLE_STREAMS;
}

/* @to: all bytes of the heights. Returns: FALSE with @error */
static gboolean
unpack_stream (Archive *archive, const zip_stat_t *st, const gchar *link,
    Unpacking *u, CvisPool *pool, GError **error)
{
  gboolean ok;

  u->packed = g_try_malloc (st->comp_size);
  if (!u->packed)
    return reject_x3p_memory (st->comp_size, link, error);
  ok = unpack_entry (
      archive, st, link, ZIP_FL_COMPRESSED, u->packed, st->comp_size, error);
  if (ok) {
    u->done = g_new0 (gint, u->n);
    g_mutex_init (&u->lock);
    cvis_pool_run (pool, u->n, 4, unpack_chunks, u);
    hash_chunks (u);
    g_mutex_clear (&u->lock);
    g_free (u->done);
    if (u->failed || ((st->valid & ZIP_STAT_CRC) && u->crc != st->crc))
      ok = surface_error (error,
          "has a %s that cannot be unpacked: %s. Copy the file again", link,
          u->failed ? "its compressed bytes are damaged"
                    : "its checksum (CRC-32) is wrong");
  }
  g_free (u->packed);
  return ok;
}

/* Reads all heights unconverted */
static gboolean
unpack_points (X3p *x3p, CvisPool *pool, guint8 *to, GError **error)
{
  Document *document = &x3p->document;
  const gchar *link = get_text (document, "Record3/DataLink/PointDataLink");
  const Matrix *matrix = &x3p->matrix;
  const guint64 size = matrix->width * matrix->height * matrix->point_size;
  Unpacking u = { .to = to, .size = size };
  zip_stat_t st;
  gboolean ok;

  if (!find_entry (&x3p->archive, link, size, &st, error))
    return FALSE;
  if (st.size < size)
    return surface_error (error,
        "has %" G_GUINT64_FORMAT " bytes of %s; its %" G_GUINT64_FORMAT
        " x %" G_GUINT64_FORMAT " points need %" G_GUINT64_FORMAT,
        (guint64) st.size, link, matrix->width, matrix->height, size);
  u.md5 = g_checksum_new (G_CHECKSUM_MD5);
  if ((st.valid & ZIP_STAT_COMP_METHOD) && st.comp_method == ZIP_CM_DEFLATE
      && st.encryption_method == ZIP_EM_NONE
      && find_chunks (&x3p->archive, &st, &u)) {
    ok = unpack_stream (&x3p->archive, &st, link, &u, pool, error);
  } else {
    ok = unpack_entry (&x3p->archive, &st, link, 0, to, size, error);
    if (ok)
      g_checksum_update (u.md5, to, (gssize) size);
  }
  ok = ok
       && check_md5 (
           get_text (document, "Record3/DataLink/MD5ChecksumPointData"),
           g_checksum_get_string (u.md5), link, error);
  g_checksum_free (u.md5);
  g_free (u.starts);
  return ok;
}

/* Marks points without a bit as missing. @z: of the first one. @stride:
 * numbers from one to the next */
static gboolean
apply_mask (X3p *x3p, gdouble *z, gsize stride, GError **error)
{
  const gchar *link =
      get_text (&x3p->document, "Record3/DataLink/ValidPointsLink");
  gsize n = x3p->matrix.width * x3p->matrix.height, size = 0;
  guint8 *bits = read_entry (&x3p->archive, link, (n + 7) / 8, &size, error);
  gboolean ok = bits != NULL;
  gchar *md5;

  if (ok && size < (n + 7) / 8)
    ok = surface_error (error,
        "has %" G_GSIZE_FORMAT " bytes of %s for %" G_GSIZE_FORMAT " points",
        size, link, n);
  if (ok) {
    md5 = g_compute_checksum_for_data (G_CHECKSUM_MD5, bits, size);
    ok = check_md5 (
        get_text (&x3p->document, "Record3/DataLink/MD5ChecksumValidPoints"),
        md5, link, error);
    g_free (md5);
  }
  for (gsize i = 0; ok && i < n; i++)
    if (!(bits[i / 8] >> i % 8 & 1))
      z[i * stride] = NAN;
  g_free (bits);
  return ok;
}

/* All points of the heights' file; the caller frees them */
static guint8 *
load_points (X3p *x3p, CvisPool *pool, GError **error)
{
  const Matrix *matrix = &x3p->matrix;
  const guint64 size = matrix->width * matrix->height * matrix->point_size;
  guint8 *points = g_try_malloc (size);

  if (!points)
    reject_x3p_memory (size, "heights", error);
  else if (!unpack_points (x3p, pool, points, error))
    g_clear_pointer (&points, g_free);
  return points;
}

static void
init_layout (const X3p *x3p, SurfaceLayout *layout)
{
  const Axis *z = &x3p->matrix.axes[2];

  surface_layout_init (layout, 0, z->type, z->increment);
  layout->offset = z->offset;
}

static gboolean
has_mask (X3p *x3p)
{
  return get_text (&x3p->document, "Record3/DataLink/ValidPointsLink") != NULL;
}

/* Whether heights have to be changed after unpacking */
static gboolean
needs_work (X3p *x3p)
{
  return has_mask (x3p) || x3p->matrix.mirror[0] || x3p->matrix.mirror[1];
}

static void
swap_heights (gdouble *a, gdouble *b)
{
  const gdouble kept = *a;

  *a = *b;
  *b = kept;
}

/* Coordinates rise to the right and down. */
static void
mirror_heights (const Matrix *matrix, gdouble *z)
{
  const gsize width = matrix->width, height = matrix->height;

  for (gsize y = 0; matrix->mirror[0] && y < height; y++)
    for (gsize x = 0; x < width / 2; x++)
      swap_heights (&z[y * width + x], &z[y * width + width - 1 - x]);
  for (gsize y = 0; matrix->mirror[1] && y < height / 2; y++)
    for (gsize x = 0; x < width; x++)
      swap_heights (&z[y * width + x], &z[(height - 1 - y) * width + x]);
}

/* Heights in metres, with the mask applied, mirrored */
static gboolean
unpack_worked (X3p *x3p, CvisPool *pool, gdouble *z, GError **error)
{
  guint8 *points = load_points (x3p, pool, error);
  SurfaceLayout layout;

  if (!points)
    return FALSE;
  init_layout (x3p, &layout);
  surface_kernels ()->to_f64 (
      &layout, points, x3p->matrix.width * x3p->matrix.height, 0, z);
  g_free (points);
  if (has_mask (x3p) && !apply_mask (x3p, z, 1, error))
    return FALSE;
  mirror_heights (&x3p->matrix, z);
  return TRUE;
}

static gboolean
x3p_unpack (SurfacePacked *packed, CvisPool *pool, guint8 *to, GError **error)
{
  X3p *x3p = (X3p *) packed;

  if (!x3p->image)
    return needs_work (x3p) ? unpack_worked (x3p, pool, (gdouble *) to, error)
                            : unpack_points (x3p, pool, to, error);
  memcpy (to, x3p->image->z,
      (gsize) x3p->image->width * x3p->image->height * sizeof (gdouble));
  return TRUE;
}

/* --- points with positions, or in main.xml --------------------------------------- */

/* Sample of a point on an axis, in metres */
static gdouble
metres (const Axis *axis, gdouble value)
{
  return value * axis->increment + axis->offset;
}

/* @x, @y: as they follow from the order. Values of axes that are not listed
 *   may be present as indices. */
static gboolean
read_datum (X3p *x3p, gsize i, SurfacePoint *point, GError **error)
{
  const Datum *datum = &x3p->document.data[i];
  Matrix *matrix = &x3p->matrix;
  gdouble *to[] = { &point->x, &point->y, &point->z };
  guint expected = 0, next = 0;

  for (guint k = 0; k < 3; k++)
    expected += matrix->axes[k].listed;
  if (datum->n != 0 && datum->n != expected && datum->n != 3)
    return surface_error (error,
        "has %u numbers for point %" G_GSIZE_FORMAT " (Datum) in main.xml; %u "
        "are expected",
        datum->n, i, expected);
  for (guint k = 0; k < 3 && datum->n > 0; k++)
    if (matrix->axes[k].listed || datum->n == 3) {
      const gdouble value = datum->values[next++];

      if (matrix->axes[k].listed || !isnan (value))
        *to[k] = metres (&matrix->axes[k], value);
      matrix->positions |= k < 2 && !isnan (value);
    }
  return TRUE;
}

static gboolean
read_data_list (X3p *x3p, SurfacePoint *points, gsize n, GError **error)
{
  if (x3p->document.n_data != n)
    return surface_error (error,
        "has %" G_GSIZE_FORMAT
        " points in main.xml (DataList); %" G_GSIZE_FORMAT " are expected",
        x3p->document.n_data, n);
  for (gsize i = 0; i < n; i++)
    if (!read_datum (x3p, i, &points[i], error))
      return FALSE;
  return TRUE;
}

static gboolean
read_data_link (X3p *x3p, SurfacePoint *points, gsize n, GError **error)
{
  CvisPool *pool = cvis_pool_new (1);
  guint8 *bytes = load_points (x3p, pool, error), *from = bytes;

  for (gsize i = 0; bytes && i < n; i++) {
    gdouble *to[] = { &points[i].x, &points[i].y, &points[i].z };

    for (guint k = 0; k < 3; k++) {
      const Axis *axis = &x3p->matrix.axes[k];

      if (!axis->listed)
        continue;
      surface_samples_read (from, axis->type, FALSE, 1, to[k]);
      *to[k] = metres (axis, *to[k]);
      from += surface_sample_size (axis->type);
    }
  }
  g_free (bytes);
  cvis_pool_free (pool);
  return bytes
         && (!has_mask (x3p)
             || apply_mask (x3p, &points->z,
                 sizeof (SurfacePoint) / sizeof (gdouble), error));
}

/* Points whose positions follow from their order */
static SurfaceImage *
order_points (X3p *x3p, const SurfacePoint *points, gsize n, GError **error)
{
  const Matrix *matrix = &x3p->matrix;
  SurfaceImage *image;

  if (matrix->list
      && g_strcmp0 (get_text (&x3p->document, "Record1/FeatureType"), "PRF")) {
    surface_error (error, "holds a list of points without positions, which "
                          "only a profile (PRF) can be");
    return NULL;
  }
  image =
      surface_image_new ((guint) matrix->width, (guint) matrix->height, error);
  for (gsize i = 0; image && i < n; i++)
    image->z[i] = isfinite (points[i].z) ? points[i].z : NAN;
  if (image) {
    const gdouble dy = fabs (matrix->axes[1].increment);

    mirror_heights (matrix, image->z);
    image->dx = image->dy = fabs (matrix->axes[0].increment);
    if (dy > 0 && isfinite (dy))
      image->dy = dy;
  }
  return image;
}

static gboolean
read_listed (X3p *x3p, GError **error)
{
  const Matrix *matrix = &x3p->matrix;
  const gsize n = matrix->width * matrix->height;
  SurfacePoint *points = g_try_new (SurfacePoint, n);
  gsize there = 0;

  if (!points)
    return reject_x3p_memory (n * sizeof (SurfacePoint), "heights", error);
  for (gsize i = 0; i < n; i++)
    points[i] = (SurfacePoint){ .x = (gdouble) (i % matrix->width)
                                     * matrix->axes[0].increment,
      .y = matrix->list
               ? 0
               : (gdouble) (i / matrix->width) * matrix->axes[1].increment,
      .z = NAN };
  if (x3p->document.data ? read_data_list (x3p, points, n, error)
                         : read_data_link (x3p, points, n, error)) {
    if (matrix->positions) {
      for (gsize i = 0; i < n; i++)
        if (isfinite (points[i].x) && isfinite (points[i].y)
            && isfinite (points[i].z))
          points[there++] = points[i];
      x3p->image = surface_grid_new (points, there, error);
    } else {
      x3p->image = order_points (x3p, points, n, error);
    }
  }
  g_free (points);
  return x3p->image != NULL;
}

/* --- typefind -------------------------------------------------------------------- */

gboolean
surface_file_is_x3p_xml (const guint8 *data, gsize size, gboolean deflated)
{
  guint8 text[4096];
  z_stream z = { .next_in = (Bytef *) data,
    .avail_in = (uInt) size,
    .next_out = text,
    .avail_out = sizeof (text) };

  if (deflated) {
    if (inflateInit2 (&z, -MAX_WBITS) != Z_OK)
      return FALSE;
    inflate (&z, Z_SYNC_FLUSH);
    inflateEnd (&z);
    data = text;
    size = z.total_out;
  }
  return g_strstr_len ((const gchar *) data, (gssize) size, "<ISO5436") != NULL
         || g_strstr_len ((const gchar *) data, (gssize) size, ":ISO5436")
                != NULL;
}

/* --- files -------------------------------------------------------------------- */

static void
x3p_free (SurfacePacked *packed)
{
  X3p *x3p = (X3p *) packed;

  document_clear (&x3p->document);
  g_clear_pointer (&x3p->image, surface_image_free);
  g_free (x3p->archive.prefix);
  if (x3p->archive.zip)
    zip_discard (x3p->archive.zip);
  g_free (packed->warning);
  g_free (x3p);
}

static gchar *
clean_text (Document *document, const gchar *path)
{
  const gchar *text = get_text (document, path);

  return text ? surface_text ((const guint8 *) text, strlen (text)) : NULL;
}

static gboolean
read_main (X3p *x3p, GError **error)
{
  guint8 *xml;
  gboolean ok;
  gsize n;

  if (!find_main (&x3p->archive, error))
    return FALSE;
  xml = read_entry (&x3p->archive, "main.xml", MAX_XML, &n, error);
  if (!xml)
    return FALSE;
  ok = document_parse (&x3p->document, xml, n, error);
  if (ok)
    x3p->parent.warning = check_main (&x3p->archive, &x3p->document, xml, n);
  g_free (xml);
  return ok && read_matrix (&x3p->document, &x3p->matrix, error)
         && ((!x3p->document.data && !x3p->matrix.list
                 && !x3p->matrix.positions)
             || read_listed (x3p, error));
}

/* The axes may be turned in space by a matrix, which is not applied. */
static void
note_rotation (Document *document, SurfaceImage *about)
{
  for (guint i = 0; i < 9; i++) {
    gchar *path =
        g_strdup_printf ("Record1/Axes/Rotation/r%u%u", i / 3 + 1, i % 3 + 1);
    const gchar *text = get_text (document, path);
    gdouble value;
    const gboolean turned = text && surface_number (text, &value)
                            && fabs (value - (i % 4 == 0)) > 1e-9;

    g_free (path);
    if (turned) {
      surface_image_add_note (about,
          "the rotation of its axes (Record1/Axes/Rotation) is not applied");
      return;
    }
  }
}

SurfacePacked *
surface_open_x3p (const SurfaceSource *source, SurfaceImage *about,
    SurfaceLayout *layout, GError **error)
{
  X3p *x3p = g_new0 (X3p, 1);

  x3p->parent.unpack = x3p_unpack;
  x3p->parent.free = x3p_free;
  x3p->archive.zip = open_zip (source, error);
  if (!x3p->archive.zip || !read_main (x3p, error)) {
    x3p_free (&x3p->parent);
    return NULL;
  }
  about->width = (guint) x3p->matrix.width;
  about->height = (guint) x3p->matrix.height;
  about->dx = fabs (x3p->matrix.axes[0].increment);
  about->dy = fabs (x3p->matrix.axes[1].increment);
  if (x3p->image) {
    about->width = x3p->image->width;
    about->height = x3p->image->height;
    about->dx = x3p->image->dx;
    about->dy = x3p->image->dy;
    about->note = g_strdup (x3p->image->note);
  }
  note_rotation (&x3p->document, about);
  about->title = clean_text (&x3p->document, "Record2/Comment");
  about->date = clean_text (&x3p->document, "Record2/Date");
  if (!g_strcmp0 (about->date, X3P_NO_DATE))
    g_clear_pointer (&about->date, g_free);
  init_layout (x3p, layout);
  if (x3p->image || needs_work (x3p)) {
    surface_layout_init (layout, 0, SURFACE_SAMPLE_F64, 1);
    layout->big = G_BYTE_ORDER == G_BIG_ENDIAN;
  }
  return &x3p->parent;
}
