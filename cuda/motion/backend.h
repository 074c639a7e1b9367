/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The interface of the motion engine's backends. Private to the library.
 *
 * The engine keeps the order of the stream: which pictures there are, which is
 * searched in which, what is in flight. A backend keeps pictures (numbered
 * places for prepared frames) and does searches. */
#pragma once

#include "cuda/motion/engine.h"

G_BEGIN_DECLS

/* Places for pictures and slots for frames in flight that @config needs. */
guint motion_config_get_n_pictures (const MotionConfig *config);
guint motion_config_get_n_slots (const MotionConfig *config);

typedef struct _MotionBackend MotionBackend;

/**
 * MotionTask: the searches of a frame
 * @job: where its results go; n_fields and the distances are set. None: the
 *   prediction is 128 (512) everywhere
 * @picture: the place of the frame
 * @reference: the place of each field's reference
 * @prior: whether the field of the same number of the frame before, which the
 *   backend keeps, has the same distance; else the prior vectors are zero
 */
typedef struct {
  MotionJob *job;
  guint picture;
  guint reference[MOTION_MAX_FIELDS];
  gboolean prior[MOTION_MAX_FIELDS];
} MotionTask;

typedef struct {
  const gchar *name;
  MotionBackend *(*create) (
      const MotionConfig *config, CvisContext *context, GError **error);
  void (*destroy) (MotionBackend *backend);
  /* Takes the luma of @job over into @picture, which nothing in flight uses. */
  gboolean (*load) (
      MotionBackend *backend, guint picture, MotionJob *job, GError **error);
  /* Starts on @task in @slot, free until wait() of it; tasks come in the order
   * of the stream and are waited for in that order. Called by the thread that
   * calls load(). @task stays where it is until wait() has returned. After
   * FALSE the slot is not waited for. */
  gboolean (*search) (MotionBackend *backend, guint slot,
      const MotionTask *task, GError **error);
  /* The vectors, blocks, prediction and residual are there on return; not the
   * summaries, which the engine makes. */
  gboolean (*wait) (MotionBackend *backend, guint slot, GError **error);
} MotionBackendOps;

extern const MotionBackendOps motion_backend_cpu;
extern const MotionBackendOps
    motion_backend_cuda; /* only where CUDA is built */

/* motion_engine_new() on a given backend, for tests. */
MotionEngine *motion_engine_new_on (const MotionBackendOps *ops,
    const MotionConfig *config, CvisContext *context, GError **error);

G_END_DECLS
