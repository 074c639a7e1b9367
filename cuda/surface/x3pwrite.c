/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Writes X3P files: main.xml, the heights, the MD5 checksum of main.xml, in
 * a zip archive.
 *
 * Threads compress the heights in chunks. A chunk refers to no byte of
 * another one and ends at a byte boundary (zlib's full flush), so the
 * concatenated chunks form one deflate stream, and the reader can unpack
 * them in threads, too. The MD5 checksum is computed in parallel. */
#include "cuda/surface/x3p.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

#define POINTS "bindata/data.bin"
#define CHECKSUMS "md5checksum.hex"
#define CHUNK_SIZE (512 << 10)
#define CHUNK_ROOM (CHUNK_SIZE + CHUNK_SIZE / 8) /* for incompressible chunks */
#define BATCH 16                                 /* chunks in memory */
#define MAX_FIELD 65531                          /* bytes of an extra field */
#define ZIP64_SIZE 0xf0000000 /* largest size of heights without ZIP64 */

typedef struct {
  z_stream deflate;
  guint8 *bytes;
  gsize size;
  guint64 at; /* in the file */
  guint32 crc;
} Chunk;

/**
 * Writing:
 * @samples: @n of them, of @size bytes, written with @to_size bytes each
 * @fd: -1: the file goes to @out
 * @end: bytes of the file so far
 * @first: first chunk of the current batch
 * @crc, @sizes: of the chunks before it
 * @number: (atomic): errno of the first failure, or 0
 */
typedef struct {
  const SurfaceKernels *kernels;
  SurfaceLayout layout;
  const guint8 *samples;
  gsize n, size, to_size;
  guint level;
  int fd;
  SurfaceOut *out;
  guint64 end;
  Chunk chunks[BATCH];
  gsize first, n_chunks;
  GChecksum *md5;
  guint32 crc;
  GArray *sizes;
  gint number;
} Writing;

/* --- bytes -------------------------------------------------------------------- */

/* Appends room for @n bytes. Returns: their position */
static guint64
add_room (Writing *writing, gsize n)
{
  const guint64 at = writing->end;

  if (writing->fd < 0 && !surface_out_add (writing->out, n, NULL))
    g_atomic_int_set (&writing->number, ENOMEM);
  writing->end += n;
  return at;
}

static void
put_bytes (Writing *writing, guint64 at, const void *bytes, gsize n)
{
  gint number = 0;

  if (n == 0 || g_atomic_int_get (&writing->number) != 0)
    return;
  if (writing->fd >= 0)
    number = surface_pwrite (writing->fd, bytes, n, at);
  else if (n > 0) /* bytes may be NULL otherwise */
    memcpy (writing->out->data + at, bytes, n);
  if (number != 0)
    g_atomic_int_set (&writing->number, number);
}

/* --- the heights -------------------------------------------------------------- */

static gsize
convert_samples (Writing *writing, gsize first, gsize n, void *to)
{
  const guint8 *from = writing->samples + first * writing->size;

  if (writing->to_size == sizeof (gfloat))
    writing->kernels->to_f32 (&writing->layout, from, n, 0, to);
  else
    writing->kernels->to_f64 (&writing->layout, from, n, 0, to);
  return n * writing->to_size;
}

/* @begin, @end: (out): samples of the chunk @index */
static void
find_samples (Writing *writing, gsize index, gsize *begin, gsize *end)
{
  const gsize n = CHUNK_SIZE / writing->to_size;

  *begin = MIN (index * n, writing->n);
  *end = MIN (*begin + n, writing->n);
}

static void
deflate_block (Chunk *chunk, void *block, gsize size, int flush)
{
  chunk->deflate.next_in = block;
  chunk->deflate.avail_in = (uInt) size;
  deflate (&chunk->deflate, flush);
  g_assert (chunk->deflate.avail_in == 0 && chunk->deflate.avail_out > 0);
}

/* Writes the chunk's data of the last batch, and compresses new data into
 * it. */
static void
fill_chunk (Writing *writing, gsize index)
{
  Chunk *chunk = &writing->chunks[index % BATCH];
  gdouble block[SURFACE_BLOCK];
  gsize begin, end;

  put_bytes (writing, chunk->at, chunk->bytes, chunk->size);
  find_samples (writing, index, &begin, &end);
  chunk->size = 0;
  chunk->crc = 0;
  if (writing->level > 0) {
    deflateReset (&chunk->deflate);
    chunk->deflate.next_out = chunk->bytes;
    chunk->deflate.avail_out = CHUNK_ROOM;
  }
  for (gsize n; begin < end; begin += n) {
    gsize size;

    n = MIN (end - begin, SURFACE_BLOCK);
    size = convert_samples (writing, begin, n, block);
    chunk->crc = (guint32) crc32_z (chunk->crc, (guint8 *) block, size);
    if (writing->level > 0)
      deflate_block (chunk, block, size,
          begin + n < end    ? Z_NO_FLUSH
          : end < writing->n ? Z_FULL_FLUSH
                             : Z_FINISH);
    else
      memcpy (chunk->bytes + chunk->size, block, size);
    chunk->size += size;
  }
  if (writing->level > 0)
    chunk->size = chunk->deflate.total_out;
}

static void
hash_chunk (Writing *writing, gsize index)
{
  gdouble block[SURFACE_BLOCK];
  gsize begin, end;

  find_samples (writing, index, &begin, &end);
  for (gsize n; begin < end; begin += n) {
    n = MIN (end - begin, SURFACE_BLOCK);
    g_checksum_update (writing->md5, (const guchar *) block,
        (gssize) convert_samples (writing, begin, n, block));
  }
}

/* Item 0: the checksum of a batch; then its chunks */
static void
run_items (guint first, guint count, gpointer user_data)
{
  Writing *writing = user_data;
  const gsize n = MIN (writing->n_chunks - writing->first, BATCH);

  for (guint i = first; i < first + count; i++)
    if (i > 0)
      fill_chunk (writing, writing->first + i - 1);
    else
      for (gsize k = 0; k < n; k++)
        hash_chunk (writing, writing->first + k);
}

static void
finish_batch (Writing *writing, gsize count)
{
  for (gsize i = 0; i < count; i++) {
    Chunk *chunk = &writing->chunks[i];
    const guint32 size = (guint32) chunk->size;
    gsize begin, end;

    find_samples (writing, writing->first + i, &begin, &end);
    writing->crc = (guint32) crc32_combine (
        writing->crc, chunk->crc, (z_off_t) ((end - begin) * writing->to_size));
    chunk->at = add_room (writing, chunk->size);
    g_array_append_val (writing->sizes, size);
  }
}

static gboolean
start_chunks (Writing *writing)
{
  /* digits of measured heights are noise: a search for repetitions takes
   * long and saves little */
  const int strategy =
      writing->level == 1 ? Z_HUFFMAN_ONLY : Z_DEFAULT_STRATEGY;
  gboolean ok = TRUE;

  for (guint i = 0; i < MIN (writing->n_chunks, BATCH); i++) {
    Chunk *chunk = &writing->chunks[i];

    chunk->bytes = g_try_malloc (CHUNK_ROOM);
    ok = ok && chunk->bytes
         && deflateInit2 (&chunk->deflate, (int) writing->level, Z_DEFLATED,
                -MAX_WBITS, MAX_MEM_LEVEL, strategy)
                == Z_OK;
  }
  return ok;
}

static void
write_points (Writing *writing, CvisPool *pool)
{
  if (!start_chunks (writing))
    writing->number = ENOMEM;
  for (; writing->first < writing->n_chunks && writing->number == 0;
       writing->first += BATCH) {
    const gsize count = MIN (writing->n_chunks - writing->first, BATCH);

    cvis_pool_run (pool, (guint) count + 1, 1, run_items, writing);
    finish_batch (writing, count);
  }
  for (guint i = 0; i < BATCH; i++) {
    Chunk *chunk = &writing->chunks[i];

    put_bytes (writing, chunk->at, chunk->bytes, chunk->size);
    deflateEnd (&chunk->deflate);
    g_free (chunk->bytes);
  }
}

/* --- the archive -------------------------------------------------------------- */

/* @field: (nullable): extra field in the directory */
typedef struct {
  const gchar *name;
  guint64 at, size, packed;
  guint32 crc;
  gboolean deflated;
  GByteArray *field;
} Entry;

static void
add_16 (GByteArray *to, guint value)
{
  const guint16 v = GUINT16_TO_LE ((guint16) value);

  g_byte_array_append (to, (const guint8 *) &v, sizeof (v));
}

static void
add_32 (GByteArray *to, guint64 value)
{
  const guint32 v = GUINT32_TO_LE ((guint32) MIN (value, G_MAXUINT32));

  g_byte_array_append (to, (const guint8 *) &v, sizeof (v));
}

static void
add_64 (GByteArray *to, guint64 value)
{
  const guint64 v = GUINT64_TO_LE (value);

  g_byte_array_append (to, (const guint8 *) &v, sizeof (v));
}

/* The header of an entry, or its record in the directory */
static void
add_header (GByteArray *to, const Entry *e, gboolean directory, gboolean zip64)
{
  const guint version = zip64 ? 45 : 20;
  const guint extra = (zip64 ? 4 + (directory ? 24 : 16) : 0)
                      + (directory && e->field ? e->field->len : 0);

  add_32 (to, directory ? 0x02014b50 : 0x04034b50);
  if (directory)
    add_16 (to, version);
  add_16 (to, version);
  add_16 (to, 0);
  add_16 (to, e->deflated ? 8 : 0);
  add_16 (to, 0); /* fixed time stamp, for reproducible files */
  add_16 (to, 0x21);
  add_32 (to, e->crc);
  add_32 (to, zip64 ? G_MAXUINT32 : e->packed);
  add_32 (to, zip64 ? G_MAXUINT32 : e->size);
  add_16 (to, (guint) strlen (e->name));
  add_16 (to, extra);
  if (directory) {
    add_16 (to, 0);
    add_16 (to, 0);
    add_16 (to, 0);
    add_32 (to, 0);
    add_32 (to, zip64 ? G_MAXUINT32 : e->at);
  }
  g_byte_array_append (to, (const guint8 *) e->name, (guint) strlen (e->name));
  if (zip64) {
    add_16 (to, 1);
    add_16 (to, directory ? 24 : 16);
    add_64 (to, e->size);
    add_64 (to, e->packed);
    if (directory)
      add_64 (to, e->at);
  }
  if (directory && e->field)
    g_byte_array_append (to, e->field->data, e->field->len);
}

/* @at: position of the directory, whose @size bytes are in @to */
static void
add_end (GByteArray *to, guint64 at, guint n_entries, gboolean zip64)
{
  const guint64 size = to->len;

  if (zip64) {
    add_32 (to, 0x06064b50);
    add_64 (to, 44);
    add_16 (to, 45);
    add_16 (to, 45);
    add_32 (to, 0);
    add_32 (to, 0);
    add_64 (to, n_entries);
    add_64 (to, n_entries);
    add_64 (to, size);
    add_64 (to, at);
    add_32 (to, 0x07064b50);
    add_32 (to, 0);
    add_64 (to, at + size);
    add_32 (to, 1);
  }
  add_32 (to, 0x06054b50);
  add_16 (to, 0);
  add_16 (to, 0);
  add_16 (to, n_entries);
  add_16 (to, n_entries);
  add_32 (to, size);
  add_32 (to, zip64 ? G_MAXUINT32 : at);
  add_16 (to, 0);
}

static GByteArray *
make_field (const Writing *writing)
{
  const guint size = 4 + 4 * writing->sizes->len;
  GByteArray *field = g_byte_array_new ();

  if (writing->level == 0 || size > MAX_FIELD)
    return field;
  add_16 (field, X3P_CHUNKS_FIELD);
  add_16 (field, size);
  add_32 (field, CHUNK_SIZE);
  for (guint i = 0; i < writing->sizes->len; i++)
    add_32 (field, g_array_index (writing->sizes, guint32, i));
  return field;
}

/* --- main.xml ----------------------------------------------------------------- */

/* @md5: of the heights */
static gchar *
make_xml (const SurfaceImage *about, const Writing *writing, const gchar *md5)
{
  gchar dx[G_ASCII_DTOSTR_BUF_SIZE], dy[G_ASCII_DTOSTR_BUF_SIZE];

  return g_markup_printf_escaped (
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
      "      <CZ><AxisType>A</AxisType><DataType>%s</DataType></CZ>\n"
      "    </Axes>\n"
      "  </Record1>\n"
      "  <Record2>\n"
      "    <Date>%s</Date>\n"
      "    <Instrument><Manufacturer>not available</Manufacturer>"
      "<Model>not available</Model><Serial>not available</Serial>"
      "<Version>not available</Version></Instrument>\n"
      "    <CalibrationDate>" X3P_NO_DATE "</CalibrationDate>\n"
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
      g_ascii_dtostr (dx, sizeof (dx), about->dx),
      g_ascii_dtostr (dy, sizeof (dy), about->dy),
      writing->to_size == sizeof (gfloat) ? "F" : "D",
      about->date ? about->date : X3P_NO_DATE, about->title ? about->title : "",
      about->width, about->height, md5);
}

/* --- files -------------------------------------------------------------------- */

/* An uncompressed file of the archive. Header and bytes have the length of
 * @text, and are written again when the contents are known. */
static void
put_text (Writing *writing, Entry *entry, const gchar *text, gboolean zip64)
{
  GByteArray *bytes = g_byte_array_new ();

  entry->size = entry->packed = strlen (text);
  entry->crc = (guint32) crc32_z (0, (const guint8 *) text, entry->size);
  add_header (bytes, entry, FALSE, zip64);
  g_byte_array_append (bytes, (const guint8 *) text, (guint) entry->size);
  if (entry->at == writing->end)
    add_room (writing, bytes->len);
  put_bytes (writing, entry->at, bytes->data, bytes->len);
  g_byte_array_unref (bytes);
}

static void
write_archive (Writing *writing, const SurfaceImage *about, CvisPool *pool)
{
  const gboolean zip64 = writing->n * writing->to_size > ZIP64_SIZE;
  Entry entries[] = { { .name = "main.xml" },
    { .name = POINTS,
        .size = writing->n * writing->to_size,
        .deflated = writing->level > 0 },
    { .name = CHECKSUMS } };
  GByteArray *bytes = g_byte_array_new ();
  gchar *xml, *md5, *text;

  /* placeholder for the checksum, which is not known yet */
  xml = make_xml (about, writing, "00000000000000000000000000000000");
  put_text (writing, &entries[0], xml, zip64);
  g_free (xml);

  entries[1].at = writing->end;
  add_header (bytes, &entries[1], FALSE, zip64);
  add_room (writing, bytes->len);
  entries[1].packed = writing->end;
  write_points (writing, pool);
  entries[1].packed = writing->end - entries[1].packed;
  entries[1].crc = writing->crc;
  g_byte_array_set_size (bytes, 0);
  add_header (bytes, &entries[1], FALSE, zip64);
  put_bytes (writing, entries[1].at, bytes->data, bytes->len);

  xml = make_xml (about, writing, g_checksum_get_string (writing->md5));
  put_text (writing, &entries[0], xml, zip64);
  md5 = g_compute_checksum_for_string (G_CHECKSUM_MD5, xml, -1);
  text = g_strdup_printf ("%s *main.xml\n", md5);
  entries[2].at = writing->end;
  put_text (writing, &entries[2], text, zip64);

  g_byte_array_set_size (bytes, 0);
  entries[1].field = make_field (writing);
  for (guint i = 0; i < G_N_ELEMENTS (entries); i++)
    add_header (bytes, &entries[i], TRUE, zip64);
  add_end (bytes, writing->end, G_N_ELEMENTS (entries), zip64);
  put_bytes (writing, add_room (writing, bytes->len), bytes->data, bytes->len);
  g_byte_array_unref (entries[1].field);
  g_byte_array_unref (bytes);
  g_free (text);
  g_free (md5);
  g_free (xml);
}

/* Returns: errno of the first failure, or 0 */
static gint
write_file (Writing *writing, const SurfaceImage *about, SurfaceStream stream,
    gdouble scale, gdouble offset, CvisPool *pool)
{
  static const SurfaceSample types[] = { SURFACE_SAMPLE_F32, SURFACE_SAMPLE_F64,
    SURFACE_SAMPLE_I32 };
  /* the sum of a sample and an offset needs more digits */
  const gboolean single =
      stream == SURFACE_STREAM_F32 && scale == 1.0 && offset == 0.0;

  writing->kernels = surface_kernels ();
  surface_layout_init (&writing->layout, 0, types[stream], scale);
  writing->layout.offset = offset;
  writing->layout.big = G_BYTE_ORDER == G_BIG_ENDIAN;
  writing->n = (gsize) about->width * about->height;
  writing->size = surface_sample_size (types[stream]);
  writing->to_size = single ? sizeof (gfloat) : sizeof (gdouble);
  writing->n_chunks =
      (writing->n * writing->to_size + CHUNK_SIZE - 1) / CHUNK_SIZE;
  writing->md5 = g_checksum_new (G_CHECKSUM_MD5);
  writing->sizes = g_array_new (FALSE, FALSE, sizeof (guint32));
  write_archive (writing, about, pool);
  g_array_unref (writing->sizes);
  g_checksum_free (writing->md5);
  return writing->number;
}

gboolean
surface_file_save_x3p (int fd, const SurfaceImage *about, SurfaceStream stream,
    gdouble scale, gdouble offset, const void *samples, guint level,
    CvisPool *pool, GError **error)
{
  Writing writing = { .fd = fd, .samples = samples, .level = level };
  gint number;

  if (!surface_check_known_spacing ("X3P", about, error))
    return FALSE;
  number = write_file (&writing, about, stream, scale, offset, pool);
  if (number == 0)
    return TRUE;
  g_set_error_literal (error, G_FILE_ERROR,
      (gint) g_file_error_from_errno (number), g_strerror (number));
  return FALSE;
}

gboolean
surface_write_x3p (const SurfaceImage *image, SurfaceOut *out, GError **error)
{
  Writing writing = { .fd = -1,
    .out = out,
    .samples = (guint8 *) image->z,
    .level = SURFACE_X3P_LEVEL };
  CvisPool *pool = cvis_pool_new (1);
  const gint number =
      write_file (&writing, image, SURFACE_STREAM_F64, 1, 0, pool);

  cvis_pool_free (pool);
  if (number == 0)
    return TRUE;
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
      "of %u x %u points needs more memory than available", image->width,
      image->height);
  return FALSE;
}
