/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <string.h>

#include "motionreference.h"

struct _MotionBackend {
  MotionConfig config;
  MotionPicture **pictures;
  const MotionTask **tasks; /* of the slots */
  CvisMotionVector *prior[CVIS_MOTION_MAX_FIELDS];
};

static MotionBackend *
reference_create (
    const MotionConfig *config, CvisContext *context, GError **error)
{
  MotionBackend *backend = g_new0 (MotionBackend, 1);
  guint n =
      motion_config_get_columns (config) * motion_config_get_rows (config);

  backend->config = *config;
  backend->pictures =
      g_new0 (MotionPicture *, motion_config_get_n_pictures (config));
  backend->tasks =
      g_new0 (const MotionTask *, motion_config_get_n_slots (config));
  for (guint i = 0; i < CVIS_MOTION_MAX_FIELDS; i++)
    backend->prior[i] = g_new0 (CvisMotionVector, n);
  return backend;
}

static void
reference_destroy (MotionBackend *backend)
{
  for (guint i = 0; i < motion_config_get_n_pictures (&backend->config); i++)
    motion_picture_free (backend->pictures[i]);
  for (guint i = 0; i < CVIS_MOTION_MAX_FIELDS; i++)
    g_free (backend->prior[i]);
  g_free (backend->pictures);
  g_free (backend->tasks);
  g_free (backend);
}

static gboolean
reference_load (
    MotionBackend *backend, guint picture, MotionJob *job, GError **error)
{
  motion_picture_free (backend->pictures[picture]);
  backend->pictures[picture] = motion_picture_new (&backend->config, job);
  return TRUE;
}

static gboolean
reference_search (
    MotionBackend *backend, guint slot, const MotionTask *task, GError **error)
{
  g_assert_null (backend->tasks[slot]);
  backend->tasks[slot] = task;
  return TRUE;
}

static void
predict (MotionBackend *backend, const MotionTask *task)
{
  const MotionConfig *config = &backend->config;
  const MotionPicture *references[CVIS_MOTION_MAX_FIELDS];
  gsize n = (gsize) config->width * config->height;
  guint16 *prediction = g_new (guint16, n), *residual = g_new (guint16, n);
  MotionJob *job = task->job;

  for (guint i = 0; i < job->n_fields; i++)
    references[i] = backend->pictures[task->reference[i]];
  motion_reference_predict (config, backend->pictures[task->picture],
      references, job->fields, job->n_fields, prediction, residual);
  motion_reference_store (
      config, prediction, job->prediction, job->prediction_stride);
  motion_reference_store (
      config, residual, job->residual, job->residual_stride);
  g_free (prediction);
  g_free (residual);
}

static gboolean
reference_wait (MotionBackend *backend, guint slot, GError **error)
{
  const MotionConfig *config = &backend->config;
  const MotionTask *task = backend->tasks[slot];
  guint n =
      motion_config_get_columns (config) * motion_config_get_rows (config);

  g_assert_nonnull (task);
  backend->tasks[slot] = NULL;
  for (guint i = 0; i < task->job->n_fields; i++) {
    MotionField *field = &task->job->fields[i];

    motion_reference_search (config, backend->pictures[task->picture],
        backend->pictures[task->reference[i]],
        task->prior[i] ? backend->prior[i] : NULL, field->vectors,
        field->blocks);
    memcpy (backend->prior[i], field->vectors, n * sizeof (CvisMotionVector));
  }
  if (config->method == MOTION_METHOD_FIELD && task->job->n_fields > 0)
    task->job->flags |= motion_field_frame_flags (
        motion_reference_noise (backend->pictures[task->picture]));
  if (task->job->prediction || task->job->residual)
    predict (backend, task);
  return TRUE;
}

const MotionBackendOps motion_backend_reference = {
  .name = "reference",
  .create = reference_create,
  .destroy = reference_destroy,
  .load = reference_load,
  .search = reference_search,
  .wait = reference_wait,
};
