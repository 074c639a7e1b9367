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
  PbfRows rows; /* of the batch */
  PbfSums last_sums;
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
  const gint32 end = (gint32) (first + count);
  PbfSums sums;

  pbf_rows_compute (&window->rows, window->model, (gint32) first, end, &sums);
  if (end == window->rows.n)
    window->last_sums = sums;
}

void
pbf_window_apply (PbfWindow *window, PbfBatch *batch)
{
  PbfRows *rows = &window->rows;

  rows->results = batch->results;
  pbf_rows_find (rows, batch->infos, batch->n, window->position);
  for (guint i = 0; i < batch->n; i++)
    window->position += 1 + batch->infos[i].lost_before;
  if (rows->n > 0)
    cvis_pool_run (window->pool, (guint) rows->n,
        pbf_rows_grain (&window->params), apply_rows, window);
  pbf_rows_keep (rows, &window->last_sums, &window->history);
}

void
pbf_window_reset (PbfWindow *window)
{
  window->position = 0;
  pbf_history_reset (&window->history);
}
