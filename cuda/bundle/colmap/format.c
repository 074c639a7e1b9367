/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Files of a model as bytes, in chunks of records: all threads format some chunks while
 * the caller gets the ones before. The memory of chunks is used again, because new pages
 * take longer than formatting. Called by folder.c. */
#include "cuda/bundle/colmap/parts.h"
#include "cuda/core/cancel.h"

#define POINTS 8192 /* of a chunk */
#define IMAGES 1024
#define FEATURES 20000 /* about, of a chunk of images */
#define CHUNKS 2       /* of a thread at once */

typedef struct {
  gsize first, end; /* records */
  BundleText text;
} Chunk;

/* @chunks: being formatted */
typedef struct {
  const BundleModel *model;
  gboolean binary;
  guint file;
  Chunk *chunks;
  CvisPool *pool;
  gint done; /* atomic */
} Formatting;

gboolean
bundle_model_has_file (const BundleModel *model, guint file)
{
  return file <= BUNDLE_MODEL_POINTS
         || (file == BUNDLE_MODEL_RIGS ? model->rigs : model->frames) != NULL;
}

static gsize
count_records (const BundleModel *model, guint file)
{
  return file == BUNDLE_MODEL_CAMERAS  ? model->n_cameras
         : file == BUNDLE_MODEL_IMAGES ? model->n_images
         : file == BUNDLE_MODEL_POINTS ? model->n_points
                                       : 0;
}

/* End of the chunk that begins with record @first */
static gsize
end_chunk (const BundleModel *model, guint file, gsize first)
{
  const gsize n = count_records (model, file);
  gsize end = first, n_features = 0;

  if (file != BUNDLE_MODEL_IMAGES)
    return MIN (first + POINTS, n);
  for (; end < MIN (first + IMAGES, n) && n_features < FEATURES; end++)
    n_features += model->images[end].n;
  return end;
}

static void
format_chunks (guint first, guint count, guint thread, gpointer data)
{
  const Formatting *f = data;

  for (guint i = first; i < first + count; i++) {
    Chunk *chunk = &f->chunks[i];

    chunk->text.n = 0;
    if (f->file > BUNDLE_MODEL_POINTS)
      bundle_model_format_rigs (f->model, f->file, &chunk->text);
    else
      (f->binary ? bundle_model_format_binary : bundle_model_format_texts) (
          f->model, f->file, chunk->first, chunk->end, &chunk->text);
  }
}

static void
end_round (gpointer data)
{
  Formatting *f = data;

  cvis_pool_finish (f->pool, &f->done);
}

static gboolean
hand_over_chunks (const Chunk *chunks, guint n, BundleModelSink sink,
    gpointer user_data, GError **error)
{
  for (guint i = 0; i < n; i++) {
    const BundleText *text = &chunks[i].text;

    if (text->failed)
      return bundle_model_reject_memory ("bytes of a file", text->n, error);
    if (!sink (text->data, text->n, user_data, error))
      return FALSE;
  }
  return !cvis_cancelled () || cvis_refuse_cancelled (error);
}

gboolean
bundle_model_format_file (const BundleModel *model, gboolean binary, guint file,
    CvisPool *pool, BundleModelSink sink, gpointer user_data, GError **error)
{
  const guint round = CHUNKS * cvis_pool_get_threads (pool);
  Formatting f = { model, binary, file, g_new0 (Chunk, round), pool };
  Chunk *formatted = g_new0 (Chunk, round);
  gsize next = 0;
  guint n, n_formatted = 0;
  gboolean ok, more = TRUE;

  do {
    for (n = 0; n < round && more; n++) {
      f.chunks[n].first = next;
      f.chunks[n].end = next = end_chunk (model, file, next);
      more = next < count_records (model, file);
    }
    f.done = FALSE;
    if (n > 0)
      cvis_pool_start (pool, 0, n, 1, format_chunks, end_round, &f);
    ok = hand_over_chunks (formatted, n_formatted, sink, user_data, error);
    if (n > 0)
      cvis_pool_wait (pool, &f.done);
    {
      Chunk *chunks = f.chunks;

      f.chunks = formatted;
      formatted = chunks;
      n_formatted = n;
    }
  } while (ok && n > 0);
  for (guint i = 0; i < round; i++) {
    g_free (f.chunks[i].text.data);
    g_free (formatted[i].text.data);
  }
  g_free (f.chunks);
  g_free (formatted);
  return ok;
}

gboolean
bundle_model_check_rigs (
    const BundleModel *model, gboolean binary, GError **error)
{
  return !model->rigs || binary == model->binary
         || cvis_refuse (error,
             "rigs and frames are written only as they were read, as %s",
             model->binary ? "binary files" : "texts");
}

CvisPool *
bundle_model_new_pool (const BundleModel *model)
{
  return cvis_pool_new (model->n_features < 100000 ? 1 : 0);
}

static gboolean
append_bytes (gconstpointer bytes, gsize n, gpointer data, GError **error)
{
  bundle_text_bytes (data, bytes, n);
  return TRUE;
}

gboolean
bundle_model_format (const BundleModel *model, gboolean binary,
    GBytes *files[BUNDLE_MODEL_FILES], GError **error)
{
  CvisPool *pool = bundle_model_new_pool (model);
  gboolean ok = bundle_model_check_rigs (model, binary, error);

  for (guint i = 0; i < BUNDLE_MODEL_FILES; i++) {
    BundleText text = { 0 };

    files[i] = NULL;
    if (!ok || !bundle_model_has_file (model, i))
      continue;
    ok = bundle_model_format_file (
        model, binary, i, pool, append_bytes, &text, error);
    if (ok)
      ok = (files[i] = bundle_text_finish (&text, error)) != NULL;
    else
      g_free (text.data);
  }
  for (guint i = 0; !ok && i < BUNDLE_MODEL_FILES; i++)
    g_clear_pointer (&files[i], g_bytes_unref);
  cvis_pool_free (pool);
  return ok;
}
