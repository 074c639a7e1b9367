/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Reads samples from files: the header first, then blocks of samples by
 * several threads, directly to their destination. Samples are processed
 * twice, for the mean and for the output, but read from the file once if the
 * destination has room for them. */
#include "cuda/surface/heights.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD_SIZE (64 << 10) /* longer than any header in practice */

struct _SurfaceReader {
  SurfaceSource file;
  guint8 *whole;       /* (nullable): the whole file, if it was needed */
  SurfaceImage *image; /* (nullable): if the format has its own reader */
  SurfaceImage about;  /* otherwise */
  SurfaceLayout layout;
  SurfaceSource samples;
  SurfacePacked *packed; /* (nullable): source of the samples */
  const SurfaceFormat *format;
  gboolean header_only;
};

/* --- opening ------------------------------------------------------------------ */

static gboolean
check_kind (SurfaceSource *file, GError **error)
{
  struct stat about;

  if (fstat (file->fd, &about) != 0)
    return surface_refuse_errno (error);
  if (S_ISDIR (about.st_mode)) {
    errno = EISDIR;
    return surface_refuse_errno (error);
  }
  if (!S_ISREG (about.st_mode)) {
    g_set_error_literal (error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
        "Not a regular file. Use surfacedec for other sources");
    return FALSE;
  }
  file->size = (guint64) about.st_size;
  return TRUE;
}

/* Returns: FALSE with CVIS_ERROR_MEMORY or G_FILE_ERROR */
static gboolean
load_whole (SurfaceReader *reader, GError **error)
{
  if (reader->file.data)
    return TRUE;
  reader->whole = g_try_malloc (MAX (reader->file.size, 1));
  if (!reader->whole) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "Not enough memory for a file of %" G_GUINT64_FORMAT " bytes",
        reader->file.size);
    return FALSE;
  }
  if (!surface_source_read (
          &reader->file, 0, reader->file.size, reader->whole, error))
    return FALSE;
  reader->file.data = reader->whole;
  return TRUE;
}

/* Through the format's own reader */
static gboolean
read_image (SurfaceReader *reader, const SurfaceFormat *format, GError **error)
{
  GError *problem = NULL;

  if (format->read_text) {
    reader->image = format->read_text (&reader->file, &problem);
  } else {
    if (!load_whole (reader, error))
      return FALSE;
    reader->image =
        format->read (reader->file.data, reader->file.size, &problem);
  }
  if (!reader->image) {
    surface_format_refuse (format, problem, error);
    return FALSE;
  }
  surface_layout_init (&reader->layout, 0, SURFACE_SAMPLE_F64, 1);
  reader->layout.big = G_BYTE_ORDER == G_BIG_ENDIAN;
  reader->samples = (SurfaceSource){ .data = (const guint8 *) reader->image->z,
    .size = sizeof (gdouble) * reader->image->width * reader->image->height };
  return TRUE;
}

static gboolean
describe_file (SurfaceReader *reader, const SurfaceFormat *format,
    const guint8 *head, gsize n_head, GError **error)
{
  surface_image_clear (&reader->about);
  reader->layout = (SurfaceLayout){ 0 };
  return !format->describe
         || format->describe (&reader->file, head, n_head, &reader->about,
             &reader->layout, error);
}

static gboolean
read_first_bytes (SurfaceReader *reader, const guint8 *head, gsize n_head,
    const SurfaceFormat *format, GError **error)
{
  GError *problem = NULL;
  gboolean ok;

  if (format->open) {
    reader->packed =
        format->open (&reader->file, &reader->about, &reader->layout, &problem);
    if (!reader->packed)
      surface_format_refuse (format, problem, error);
    return reader->packed != NULL;
  }
  ok = describe_file (reader, format, head, n_head, &problem);

  /* the fault may be a longer header */
  if (!ok && n_head < reader->file.size && problem->code != CVIS_ERROR_MEMORY) {
    g_clear_error (&problem);
    if (!load_whole (reader, error))
      return FALSE;
    ok = describe_file (
        reader, format, reader->file.data, reader->file.size, &problem);
  }
  if (!ok) {
    surface_format_refuse (format, problem, error);
    return FALSE;
  }
  reader->samples = reader->file;
  if (reader->layout.plain || (reader->header_only && reader->about.width > 0))
    return TRUE;
  return read_image (reader, format, error);
}

static gboolean
open_surface (SurfaceReader *reader, GError **error)
{
  gsize n = MIN (reader->file.size, HEAD_SIZE);
  guint8 *own = reader->file.data ? NULL : g_malloc (MAX (n, 1));
  const guint8 *head = own ? own : reader->file.data;
  const SurfaceFormat *format;
  gboolean ok = !own || surface_source_read (&reader->file, 0, n, own, error);

  if (ok && !own)
    n = reader->file.size;
  ok = ok && surface_file_check_start (head, n, error);
  format = surface_format_of (surface_file_detect (head, n));
  reader->format = format;
  ok = ok && read_first_bytes (reader, head, n, format, error);
  g_free (own);
  return ok;
}

/* Takes @reader. Returns: %NULL with @error */
static SurfaceReader *
finish_opening (SurfaceReader *reader, GError **error)
{
  if (open_surface (reader, error))
    return reader;
  surface_reader_free (reader);
  return NULL;
}

SurfaceReader *
surface_reader_new (GBytes *bytes, GError **error)
{
  SurfaceReader *reader = g_new0 (SurfaceReader, 1);
  gsize size;

  /* an empty one has no data */
  reader->file.data = g_bytes_get_data (bytes, &size);
  reader->file.data = reader->file.data ? reader->file.data : (guint8 *) "";
  reader->file.size = size;
  reader->file.fd = -1;
  return finish_opening (reader, error);
}

static SurfaceReader *
open_file (const gchar *name, gboolean header_only, GError **error)
{
  SurfaceReader *reader = g_new0 (SurfaceReader, 1);

  reader->header_only = header_only;
  /* without O_NONBLOCK, opening a pipe without a writer would block */
  reader->file.fd = g_open (name, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
  if (reader->file.fd < 0)
    surface_refuse_errno (error);
  if (reader->file.fd >= 0 && check_kind (&reader->file, error))
    return finish_opening (reader, error);
  surface_reader_free (reader);
  return NULL;
}

SurfaceReader *
surface_reader_open (const gchar *name, GError **error)
{
  return open_file (name, FALSE, error);
}

SurfaceReader *
surface_reader_open_header (const gchar *name, GError **error)
{
  return open_file (name, TRUE, error);
}

void
surface_reader_free (SurfaceReader *reader)
{
  if (reader->packed)
    reader->packed->free (reader->packed);
  if (reader->file.fd >= 0)
    close (reader->file.fd);
  g_clear_pointer (&reader->image, surface_image_free);
  surface_image_clear (&reader->about);
  g_free (reader->whole);
  g_free (reader);
}

const SurfaceImage *
surface_reader_get_about (const SurfaceReader *reader)
{
  return reader->image ? reader->image : &reader->about;
}

void
surface_reader_set_unit (SurfaceReader *reader, gdouble metres)
{
  SurfaceImage *about = reader->image ? reader->image : &reader->about;

  if (about->no_z_unit) {
    reader->layout.scale *= metres;
    reader->layout.offset *= metres;
  }
  if (about->no_xy_unit) {
    about->dx *= metres;
    about->dy *= metres;
  }
}

const gchar *
surface_reader_get_warning (const SurfaceReader *reader)
{
  return reader->packed ? reader->packed->warning : NULL;
}

/* --- samples ------------------------------------------------------------------ */

/* Shared by threads that read samples. @sums: of the blocks */
typedef struct {
  const SurfaceReader *reader;
  const SurfaceKernels *kernels;
  gsize n;             /* samples */
  gsize size, to_size; /* bytes of a sample in the file, and in the output */
  guint8 *to;
  gboolean keeps; /* samples are read to the destination and converted there */
  gboolean read;  /* they have been, for the mean */
  gdouble first, offset;
  SurfaceSum *sums;

  GMutex lock;
  GError *error; /* the first one */
} Reading;

typedef struct {
  gsize n;
  guint8 bytes[SURFACE_BLOCK * sizeof (gdouble)];
} Block;

/* Returns: FALSE after an error */
static gboolean
read_range (Reading *reading, gsize first, gsize n, guint8 *to)
{
  const guint64 at = reading->reader->layout.at + first * reading->size;
  GError *error = NULL;

  if (surface_source_read (
          &reading->reader->samples, at, n * reading->size, to, &error))
    return TRUE;
  g_mutex_lock (&reading->lock);
  if (reading->error)
    g_error_free (error);
  else
    reading->error = error;
  g_mutex_unlock (&reading->lock);
  return FALSE;
}

/* Reads blocks to the destination, if that is where get_block() expects them. */
static gboolean
keep_blocks (Reading *reading, guint first, guint count)
{
  const gsize from = (gsize) first * SURFACE_BLOCK;
  const gsize n = MIN (reading->n - from, (gsize) count * SURFACE_BLOCK);

  return !reading->keeps
         || read_range (reading, from, n, reading->to + from * reading->size);
}

/* Address of a block's samples, copied if necessary. Returns: %NULL after an
 * error */
static const guint8 *
get_block (Reading *reading, guint index, Block *block)
{
  const SurfaceReader *reader = reading->reader;
  const gsize first = (gsize) index * SURFACE_BLOCK, at = first * reading->size;

  block->n = MIN (reading->n - first, SURFACE_BLOCK);
  if (reading->keeps)
    return reading->to + at;
  if (reader->samples.data)
    return reader->samples.data + reader->layout.at + at;
  return read_range (reading, first, block->n, block->bytes) ? block->bytes
                                                             : NULL;
}

static void
sum_blocks (guint first, guint count, gpointer user_data)
{
  Reading *reading = user_data;
  Block block;

  if (!keep_blocks (reading, first, count))
    return;
  for (guint i = first; i < first + count; i++) {
    const guint8 *raw = get_block (reading, i, &block);

    if (raw)
      reading->sums[i] = reading->kernels->sum (
          &reading->reader->layout, raw, block.n, reading->first);
  }
}

static void
convert_blocks (guint first, guint count, gpointer user_data)
{
  Reading *reading = user_data;
  Block block;

  if (!reading->read && !keep_blocks (reading, first, count))
    return;
  for (guint i = first; i < first + count; i++) {
    const guint8 *raw = get_block (reading, i, &block);
    const gsize at = (gsize) i * SURFACE_BLOCK * reading->to_size;

    if (!raw)
      continue;
    reading->sums[i].there =
        reading->to_size == sizeof (gfloat)
            ? reading->kernels->to_f32 (&reading->reader->layout, raw, block.n,
                reading->offset, reading->to + at)
            : reading->kernels->to_f64 (&reading->reader->layout, raw, block.n,
                reading->offset, reading->to + at);
  }
}

/* The first valid height. Returns: FALSE if there is none */
static gboolean
find_first (Reading *reading, guint blocks)
{
  Block block;
  gdouble z[64];

  for (guint i = 0; i < blocks; i++) {
    const guint8 *raw =
        keep_blocks (reading, i, 1) ? get_block (reading, i, &block) : NULL;

    for (gsize k = 0; raw && k < block.n; k += G_N_ELEMENTS (z)) {
      const gsize n = MIN (block.n - k, G_N_ELEMENTS (z));

      if (reading->kernels->to_f64 (
              &reading->reader->layout, raw + k * reading->size, n, 0, z)
          == 0)
        continue;
      for (gsize j = 0; j < n; j++)
        if (!isnan (z[j])) {
          reading->first = z[j];
          return TRUE;
        }
    }
  }
  return FALSE;
}

/* Mean of the differences from the first height, which keeps precision */
static gdouble
find_mean (Reading *reading, CvisPool *pool, guint blocks, guint grain)
{
  gdouble sum = 0;
  gsize there = 0;

  if (!find_first (reading, blocks))
    return 0;
  cvis_pool_run (pool, blocks, grain, sum_blocks, reading);
  for (guint i = 0; i < blocks; i++) {
    sum += reading->sums[i].sum;
    there += reading->sums[i].there;
  }
  return there ? reading->first + sum / (gdouble) there : 0;
}

/* blocks that a thread takes at a time */
#define GRAIN 16

/* Reads to @to; samples as large as the output are converted in place. @own:
 * (out) (nullable): otherwise their memory */
static gboolean
unpack_samples (SurfaceReader *reader, CvisPool *pool, gsize n, gsize to_size,
    gpointer to, guint8 **own, GError **error)
{
  const gsize size = n * surface_sample_size (reader->layout.type);
  GError *problem = NULL;

  *own = NULL;
  if (!reader->packed)
    return TRUE;
  if (size != n * to_size) {
    to = *own = g_try_malloc (size);
    if (!to) {
      g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
          "Not enough memory for %" G_GSIZE_FORMAT " bytes of heights", size);
      return FALSE;
    }
  }
  reader->samples = (SurfaceSource){ .data = to, .fd = -1, .size = size };
  if (reader->packed->unpack (reader->packed, pool, to, &problem))
    return TRUE;
  surface_format_refuse (reader->format, problem, error);
  g_clear_pointer (own, g_free);
  return FALSE;
}

gboolean
surface_reader_read (SurfaceReader *reader, CvisPool *pool,
    gboolean remove_offset, gboolean twice, gpointer to, gdouble *offset,
    guint64 *missing, GError **error)
{
  const SurfaceImage *about = surface_reader_get_about (reader);
  Reading reading = { .reader = reader,
    .kernels = surface_kernels (),
    .n = (gsize) about->width * about->height,
    .size = surface_sample_size (reader->layout.type),
    .to_size = twice ? sizeof (gdouble) : sizeof (gfloat),
    .to = to };
  const guint blocks =
      (guint) ((reading.n + SURFACE_BLOCK - 1) / SURFACE_BLOCK);
  gsize there = 0;
  guint8 *own;

  if (!unpack_samples (
          reader, pool, reading.n, reading.to_size, to, &own, error))
    return FALSE;
  g_mutex_init (&reading.lock);
  reading.sums = g_new0 (SurfaceSum, blocks);
  reading.keeps = reading.size == reading.to_size && !reader->samples.data;
  reading.read = remove_offset;
  if (remove_offset)
    reading.offset = find_mean (&reading, pool, blocks, GRAIN);
  if (!reading.error)
    cvis_pool_run (pool, blocks, GRAIN, convert_blocks, &reading);
  for (guint i = 0; i < blocks; i++)
    there += reading.sums[i].there;
  *offset = reading.offset;
  *missing = reading.n - there;
  g_free (own);
  g_free (reading.sums);
  g_mutex_clear (&reading.lock);
  if (!reading.error)
    return TRUE;
  if (reading.error->domain == CVIS_ERROR)
    g_prefix_error (&reading.error, "The file ");
  g_propagate_error (error, reading.error);
  return FALSE;
}

/* --- images ------------------------------------------------------------------- */

/* Takes @reader. */
static SurfaceImage *
to_image (SurfaceReader *reader, GError **error)
{
  const SurfaceImage *about = surface_reader_get_about (reader);
  SurfaceImage *image = g_steal_pointer (&reader->image);
  CvisPool *pool;
  guint64 missing;
  gdouble offset;

  if (!image) {
    image = surface_image_new (about->width, about->height, error);
    if (image) {
      surface_image_copy_about (image, about);
      pool = cvis_pool_new (1);
      if (!surface_reader_read (
              reader, pool, FALSE, TRUE, image->z, &offset, &missing, error))
        g_clear_pointer (&image, surface_image_free);
      cvis_pool_free (pool);
    }
  }
  surface_reader_free (reader);
  return image;
}

SurfaceImage *
surface_file_read (GBytes *bytes, GError **error)
{
  SurfaceReader *reader = surface_reader_new (bytes, error);

  return reader ? to_image (reader, error) : NULL;
}

SurfaceImage *
surface_file_load (const gchar *name, GError **error)
{
  SurfaceReader *reader = surface_reader_open (name, error);

  return reader ? to_image (reader, error) : NULL;
}
