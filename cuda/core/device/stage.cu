/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/core/device/stage.h"

#include "cuda/core/device/arena.cuh"

#define ALIGN(size) (((size) + 255) & ~(gsize) 255)

struct _CvisStage {
  CvisContext *context;
  cudaStream_t stream;
  CvisArena fixed, frame; /* frame: grows to the largest upload */
  guint8 *upload;
  gsize upload_size;
  guint64 *sums, *results; /* on the device, in pinned memory */
  guint n_sums;
};

static gboolean
init_stage (CvisStage *stage, GError **error)
{
  return CVIS_CUDA (cudaStreamCreate (&stage->stream), error)
         && cvis_arena_take (
             &stage->fixed, &stage->sums, CVIS_STAGE_MAX_SUMS, "sums", error)
         && cvis_arena_pin (&stage->fixed, &stage->results, CVIS_STAGE_MAX_SUMS,
             "sums", error);
}

CvisStage *
cvis_stage_new (CvisContext *context, GError **error)
{
  CvisStage *stage = g_new0 (CvisStage, 1);

  stage->context = cvis_context_ref (context);
  if (cvis_in_context (
          context, error, [&] { return init_stage (stage, error); }))
    return stage;
  cvis_stage_free (stage);
  return NULL;
}

void
cvis_stage_free (CvisStage *stage)
{
  if (stage == NULL)
    return;
  cvis_in_context (stage->context, NULL, [&] {
    if (stage->stream != NULL) {
      cudaStreamSynchronize (stage->stream);
      cudaStreamDestroy (stage->stream);
    }
    cvis_arena_clear (&stage->frame);
    cvis_arena_clear (&stage->fixed);
    return TRUE;
  });
  cvis_context_unref (stage->context);
  g_free (stage);
}

CvisContext *
cvis_stage_get_context (CvisStage *stage)
{
  return stage->context;
}

gpointer
cvis_stage_get_stream (CvisStage *stage)
{
  return stage->stream;
}

/* Makes room for @size bytes. */
static gboolean
grow_upload (CvisStage *stage, gsize size, GError **error)
{
  if (size <= stage->upload_size)
    return TRUE;
  if (!CVIS_CUDA (cudaStreamSynchronize (stage->stream), error))
    return FALSE;
  cvis_arena_clear (&stage->frame);
  stage->upload_size = 0;
  if (!cvis_arena_take (&stage->frame, &stage->upload, size, "a frame", error))
    return FALSE;
  stage->upload_size = size;
  return TRUE;
}

gboolean
cvis_stage_upload (CvisStage *stage, guint n, const gconstpointer *pieces,
    const gsize *sizes, gpointer *addresses, GError **error)
{
  gsize size = 0, at = 0;

  for (guint i = 0; i < n; i++)
    size += ALIGN (sizes[i]);
  return cvis_in_context (stage->context, error, [&] {
    gboolean ok = grow_upload (stage, size, error);

    for (guint i = 0; ok && i < n; i++) {
      addresses[i] = stage->upload + at;
      at += ALIGN (sizes[i]);
      ok = CVIS_CUDA (cudaMemcpyAsync (addresses[i], pieces[i], sizes[i],
                          cudaMemcpyHostToDevice, stage->stream),
          error);
    }
    return ok;
  });
}

guint64 *
cvis_stage_begin (CvisStage *stage, guint n_sums, GError **error)
{
  g_return_val_if_fail (n_sums <= CVIS_STAGE_MAX_SUMS, NULL);

  stage->n_sums = n_sums;
  return cvis_in_context (stage->context, error,
             [&] {
               return CVIS_CUDA (cudaMemsetAsync (stage->sums, 0,
                                     n_sums * sizeof (guint64), stage->stream),
                   error);
             })
             ? stage->sums
             : NULL;
}

const guint64 *
cvis_stage_end (CvisStage *stage, GError **error)
{
  return cvis_in_context (stage->context, error,
             [&] {
               return CVIS_CUDA (cudaMemcpyAsync (stage->results, stage->sums,
                                     stage->n_sums * sizeof (guint64),
                                     cudaMemcpyDeviceToHost, stage->stream),
                          error)
                      && CVIS_CUDA (
                          cudaStreamSynchronize (stage->stream), error);
             })
             ? stage->results
             : NULL;
}
