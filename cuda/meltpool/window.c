/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/meltpool/window.h"

#include "cuda/core/threadpool.h"
#include "cuda/meltpool/cpu/cpu.h"

struct _PbfWindow {
  PbfParams params;
  PbfModel *model;
  CvisPool *pool;
  PbfHistory history;
  PbfRows rows;     /* at the beginning or end of the batch */
  guint64 position; /* of the next batch */
};

PbfWindow *
pbf_window_new (const PbfConfig *config, PbfModel *model)
{
  PbfWindow *window = g_new0 (PbfWindow, 1);

  pbf_params_init (&window->params, config);
  window->model = model ? pbf_model_ref (model) : NULL;
  window->pool = cvis_pool_new (config->threads);
  pbf_history_init (&window->history, config->window);
  window->rows.params = &window->params;
  window->rows.history = &window->history;
  window->rows.frames = g_new (gint32, config->max_batch);
  window->rows.starts = g_new (gint32, config->max_batch);
  return window;
}

void
pbf_window_free (PbfWindow *window)
{
  if (window == NULL)
    return;
  cvis_pool_free (window->pool);
  pbf_history_clear (&window->history);
  g_free (window->rows.frames);
  g_free (window->rows.starts);
  if (window->model)
    pbf_model_unref (window->model);
  g_free (window);
}

static void
apply_rows (guint first, guint count, gpointer user_data)
{
  PbfWindow *window = user_data;
  PbfSums sums;

  pbf_rows_compute (&window->rows, window->model, (gint32) first,
      (gint32) (first + count), &sums);
}

static gboolean
enters (const CvisPbfResult *result)
{
  return !(result->flags & (CVIS_PBF_RESULT_EMPTY | CVIS_PBF_RESULT_EXCLUDED));
}

/* Number of frames at the beginning of the batch that hold @rows rows, at most all. */
static guint
find_head (const PbfBatch *batch, gint32 rows)
{
  guint i = 0;

  for (; i < batch->n && rows > 0; i++)
    rows -= enters (&batch->results[i]);
  return i;
}

/* The first of the frames at the end of the batch that hold @rows rows. */
static guint
find_tail (const PbfBatch *batch, gint32 rows)
{
  guint i = batch->n;

  for (; i > 0 && rows > 0; i--)
    rows -= enters (&batch->results[i - 1]);
  return i;
}

/* Frames of the stream before frame @i, including lost ones; only gaps need them. */
static guint64
find_position (const PbfWindow *window, const PbfBatch *batch, guint i)
{
  guint64 position = window->position;

  if (window->params.window_reset != PBF_WINDOW_RESET_GAP)
    return 0;
  for (guint k = 0; k < i; k++)
    position += 1 + batch->infos[k].lost_before;
  return position;
}

/* Computes the rows at the beginning whose windows reach into the history. */
static void
complete_head (PbfWindow *window)
{
  PbfRows *rows = &window->rows;
  gint32 n = 0;

  for (; n < rows->n && rows->starts[n] < 0; n++)
    rows->results[rows->frames[n]].flags &= ~CVIS_PBF_RESULT_WARMUP;
  if (n > 0)
    cvis_pool_run (window->pool, (guint) n, pbf_rows_grain (&window->params),
        apply_rows, window);
}

/* Keeps the last rows, which windows of the next batch include. */
static void
keep_tail (PbfWindow *window)
{
  const PbfRows *rows = &window->rows;
  PbfSums sums = { 0 };

  if (rows->n == 0)
    return;
  sums.low = rows->starts[rows->n - 1];
  for (gint32 r = sums.low; r < rows->n; r++) {
    const gint32 *raw = pbf_rows_raw (rows, r);

    for (guint f = 0; f < CVIS_PBF_N_SPATIAL; f++) {
      sums.s1[f] += raw[f];
      sums.s2[f] += (gint64) raw[f] * raw[f];
    }
  }
  pbf_rows_keep (rows, &sums, &window->history);
}

void
pbf_window_apply (PbfWindow *window, PbfBatch *batch)
{
  const gint32 reach = MAX (window->params.window - 1, 1);
  const guint head = find_head (batch, reach);
  const guint tail = find_tail (batch, reach);
  PbfRows *rows = &window->rows;

  rows->results = batch->results;
  pbf_rows_find (rows, batch->infos, head, find_position (window, batch, 0));
  complete_head (window);
  if (rows->n == reach) {
    /* the rows of the tail suffice, and no window reaches further back */
    pbf_history_reset (&window->history);
    rows->results = batch->results + tail;
    pbf_rows_find (rows, batch->infos + tail, batch->n - tail,
        find_position (window, batch, tail));
  }
  keep_tail (window);
  window->position = find_position (window, batch, batch->n);
}

void
pbf_window_reset (PbfWindow *window)
{
  window->position = 0;
  pbf_history_reset (&window->history);
}
