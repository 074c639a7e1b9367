/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The interface of the motion engine's backends. Private to the library.
 *
 * The engine keeps the order of the stream: which pictures exist, which
 * reference each search uses, and what is in flight. A backend stores
 * prepared frames as pictures in numbered places, and searches. */
#pragma once

#include "cuda/motion/engine.h"

G_BEGIN_DECLS

/* Number of pictures, and of slots for frames in flight, that @config needs. */
guint motion_config_get_n_pictures (const MotionConfig *config);
guint motion_config_get_n_slots (const MotionConfig *config);

typedef struct _MotionBackend MotionBackend;

/**
 * MotionTask: the searches of a frame
 * @job: receives the results; n_fields and the distances are set. Without
 *   fields the prediction is 128 (depth 8) or 512 everywhere
 * @picture: place of the frame
 * @reference: place of each field's reference
 * @prior: whether the field with the same index of the frame before, which
 *   the backend keeps, has the same distance; otherwise the prior vectors
 *   are zero
 */
typedef struct {
  MotionJob *job;
  guint picture;
  guint reference[CVIS_MOTION_MAX_FIELDS];
  gboolean prior[CVIS_MOTION_MAX_FIELDS];
} MotionTask;

typedef struct {
  const gchar *name;
  MotionBackend *(*create) (
      const MotionConfig *config, CvisContext *context, GError **error);
  void (*destroy) (MotionBackend *backend);
  /* Copies the luma of @job to @picture, which nothing in flight uses. */
  gboolean (*load) (
      MotionBackend *backend, guint picture, MotionJob *job, GError **error);
  /* Starts @task in @slot, which is free. Tasks are started and waited for
   * in the order of the stream, by the thread that calls load(). @task stays
   * in place until wait() has returned. After FALSE the slot is not waited
   * for. */
  gboolean (*search) (MotionBackend *backend, guint slot,
      const MotionTask *task, GError **error);
  /* On return vectors, blocks, prediction and residual are complete. The
   * engine computes the summaries. */
  gboolean (*wait) (MotionBackend *backend, guint slot, GError **error);
} MotionBackendOps;

extern const MotionBackendOps motion_backend_cpu;
extern const MotionBackendOps
    motion_backend_cuda; /* only where CUDA is built */

/* motion_engine_new() on a given backend, for tests. */
MotionEngine *motion_engine_new_on (const MotionBackendOps *ops,
    const MotionConfig *config, CvisContext *context, GError **error);

/* The first sample of the frame for row @y of the picture; the next is
 * @config->sampling samples further. */
static inline const guint8 *
motion_job_get_row (const MotionConfig *config, const MotionJob *job, guint y)
{
  const gsize middle = config->sampling / 2;

  return job->luma + ((gsize) y * config->sampling + middle) * job->stride
         + middle * (config->depth > 8 ? 2 : 1);
}

/* Rows of the frame, and bytes of a row, up to the last sample that is searched */
static inline gsize
motion_config_get_source_rows (const MotionConfig *config)
{
  return (gsize) (config->height - 1) * config->sampling + config->sampling / 2
         + 1;
}

static inline gsize
motion_config_get_source_bytes (const MotionConfig *config)
{
  return ((gsize) (config->width - 1) * config->sampling + config->sampling / 2
             + 1)
         * (config->depth > 8 ? 2 : 1);
}

/* Copies the source rows of @job, which is on a device, to @to. */
static inline gboolean
motion_job_copy_rows (const MotionConfig *config, const MotionJob *job,
    const CvisDeviceRows *to, GError **error)
{
  const CvisDeviceRows from = { job->context, (gpointer) job->luma,
    job->stride };

  return cvis_device_copy_rows (to, &from,
      motion_config_get_source_bytes (config),
      motion_config_get_source_rows (config), job->stream, error);
}

G_END_DECLS
