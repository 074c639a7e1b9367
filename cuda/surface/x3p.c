/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* X3P, ISO 25178-72 (ISO 5436-2): a zip with main.xml, which describes a matrix
 * of points, the points' heights as binary data, and, where heights cannot say
 * that they are missing, a bit for each point, lowest bit first, 1 where there is
 * one. Metres. MD5 checksums guard all three: those of heights and bits have to be
 * right if they are there; that of main.xml, which people edit, is only warned of.
 *
 * Spacing along x and y is even (axes of type I); z is absolute, of the types I
 * (int16), L (int32), F and D (float32 and float64), little-endian, times its
 * axis' Increment plus its Offset. */
#include "cuda/surface/x3p.h"

#include <math.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>
#include <zlib.h>
#if HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif

#define MAX_XML (4 << 20)
#define MAX_LINK 1024
#define MAX_DEPTH 16

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
  if (!zip && zip_error_code_zip (&problem) == ZIP_ER_NOZIP)
    surface_error (error, "has no zip directory at its end: it may be cut off. "
                          "Copy it again");
  else if (!zip)
    surface_error (error, "has a zip directory that cannot be read: %s",
        zip_error_strerror (&problem));
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
  const zip_uint64_t needed =
      ZIP_STAT_INDEX | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;

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

/* @link: as main.xml has it */
static gboolean
find_entry (Archive *archive, const gchar *link, guint64 most, zip_stat_t *st,
    GError **error)
{
  gchar *name =
      g_strdelimit (g_strconcat (archive->prefix, link, NULL), "\\", '/');
  const gboolean there = zip_stat (archive->zip, name, 0, st) == 0;

  g_free (name);
  if (!there)
    return surface_error (error, "has no %.80s, which it speaks of", link);
  return check_entry (st, link, most, error);
}

/* @size: all of its bytes, or, with ZIP_FL_COMPRESSED, those in the archive */
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
refuse_memory (guint64 size, const gchar *link, GError **error)
{
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
      "There is no memory for %" G_GUINT64_FORMAT " bytes of %s", size, link);
  return FALSE;
}

/* Returns: (transfer full): its @size bytes and a NUL; %NULL with @error */
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
    refuse_memory (st.size, link, error);
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

/* @expected: hexadecimal digits, followed by anything but letters and digits */
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
             "has a %s of the MD5 checksum %s, and says that it is \"%.32s\"",
             link, md5, expected);
}

/* Of main.xml, in the file that Record4 names, if it is there.
 * Returns: (nullable) (transfer full): what is wrong */
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
} X3p;

/**
 * Unpacking: of heights that are one deflate stream in chunks
 * @starts: of the chunks among the packed bytes, and the end of the last one
 * @chunk: bytes of heights in each, but the last one
 * @done: (atomic): of each chunk
 * @hashed: chunks whose checksums were added, by who holds @lock
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
/* libdeflate wants a stream that ends: a chunk is followed by an empty block.
 * @last: it ends. @room: for the packed bytes and that block */
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
#define WHOLE_STREAMS FALSE /* libzip can do as well */
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

/* Checksums of chunks in their order, unless another thread is at it */
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

/* Those that the archive lists, else a single one */
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
    return refuse_memory (st->comp_size, link, error);
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

/* As they are in the file, all of them */
static gboolean
unpack_points (X3p *x3p, CvisPool *pool, guint8 *to, GError **error)
{
  Document *document = &x3p->document;
  const gchar *link = get_text (document, "Record3/DataLink/PointDataLink");
  const Matrix *matrix = &x3p->matrix;
  const guint64 size =
      matrix->width * matrix->height * surface_sample_size (matrix->type);
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

/* Points without a bit are missing. */
static gboolean
apply_mask (X3p *x3p, gdouble *z, GError **error)
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
      z[i] = NAN;
  g_free (bits);
  return ok;
}

/* Heights with a mask, in metres */
static gboolean
unpack_masked (X3p *x3p, CvisPool *pool, gdouble *z, GError **error)
{
  const Matrix *matrix = &x3p->matrix;
  const gsize n = matrix->width * matrix->height;
  guint8 *points = g_try_malloc (n * surface_sample_size (matrix->type));
  SurfaceLayout layout;
  gboolean ok;

  if (!points)
    return refuse_memory (
        n * surface_sample_size (matrix->type), "heights", error);
  ok = unpack_points (x3p, pool, points, error);
  if (ok) {
    surface_layout_init (&layout, 0, matrix->type, matrix->scale);
    layout.offset = matrix->offset;
    surface_kernels ()->to_f64 (&layout, points, n, 0, z);
    ok = apply_mask (x3p, z, error);
  }
  g_free (points);
  return ok;
}

static gboolean
has_mask (X3p *x3p)
{
  return get_text (&x3p->document, "Record3/DataLink/ValidPointsLink") != NULL;
}

static gboolean
x3p_unpack (SurfacePacked *packed, CvisPool *pool, guint8 *to, GError **error)
{
  X3p *x3p = (X3p *) packed;

  return has_mask (x3p) ? unpack_masked (x3p, pool, (gdouble *) to, error)
                        : unpack_points (x3p, pool, to, error);
}

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
  return ok && read_matrix (&x3p->document, &x3p->matrix, error);
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
  about->dx = x3p->matrix.dx;
  about->dy = x3p->matrix.dy;
  about->title = clean_text (&x3p->document, "Record2/Comment");
  about->date = clean_text (&x3p->document, "Record2/Date");
  if (!g_strcmp0 (about->date, X3P_NO_DATE))
    g_clear_pointer (&about->date, g_free);
  if (has_mask (x3p)) {
    surface_layout_init (layout, 0, SURFACE_SAMPLE_F64, 1);
    layout->big = G_BYTE_ORDER == G_BIG_ENDIAN;
  } else {
    surface_layout_init (layout, 0, x3p->matrix.type, x3p->matrix.scale);
    layout->offset = x3p->matrix.offset;
  }
  return &x3p->parent;
}
