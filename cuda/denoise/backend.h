/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The interface of the denoising engine's backends. Private to the library.
 *
 * The engine keeps the order of the stream: which frames exist, which of them a result
 * may use, and what is in flight. A backend stores frames as pictures in numbered
 * places, and filters. */
#pragma once

#include "cuda/denoise/engine.h"
#include "cuda/motion/engine.h"

G_BEGIN_DECLS

typedef struct _DenoiseBackend DenoiseBackend;

/**
 * DenoiseTask: a frame to denoise
 * @number: of the frame, since the engine was made; its place is the number modulo
 *   denoise_config_get_n_pictures()
 * @before, @after: frames of its stream before and after it that may be used
 * @first: the first frame of its stream, or of its chunk, whose motion is searched
 */
typedef struct {
  DenoiseJob *job;
  guint64 number;
  guint before, after;
  guint64 first;
} DenoiseTask;

/* Pictures that are kept, for the frames in flight and those before them. */
guint denoise_config_get_n_pictures (const DenoiseConfig *config);
/* Frames in flight at most. */
guint denoise_config_get_n_slots (const DenoiseConfig *config);
/* The noise that the filters assume, 1/16 levels, for an estimate or sigma of @noise. */
gint32 denoise_config_scale_noise (const DenoiseConfig *config, gint32 noise);
/* The same for the mean over time where denoise_is_steady(). */
gint32 denoise_config_scale_steady_noise (
    const DenoiseConfig *config, gint32 noise);
/* The search for the motion, of component 0 at half the size. */
void denoise_config_get_motion (
    const DenoiseConfig *config, MotionConfig *motion);

typedef struct {
  const gchar *name;
  DenoiseBackend *(*create) (
      const DenoiseConfig *config, CvisContext *context, GError **error);
  void (*destroy) (DenoiseBackend *backend);
  /* Copies the frame of @job, number @number, to its place, which nothing in flight uses. */
  gboolean (*load) (
      DenoiseBackend *backend, guint64 number, DenoiseJob *job, GError **error);
  /* Passes frame @number, which was loaded, on to the motion search; in order.
   * @as_reference: only as a neighbour of others, at the end of those that a chunk loads */
  gboolean (*follow) (DenoiseBackend *backend, guint64 number,
      gboolean as_reference, GError **error);
  /* No frame follows in this stream. */
  void (*end) (DenoiseBackend *backend);
  /* Starts @task in @slot, which is free; in the order of the stream, by the thread that
   * calls load(). @task stays in place until wait() has returned. */
  gboolean (*filter) (DenoiseBackend *backend, guint slot,
      const DenoiseTask *task, GError **error);
  /* On return the results are complete. */
  gboolean (*wait) (DenoiseBackend *backend, guint slot, GError **error);
} DenoiseBackendOps;

extern const DenoiseBackendOps denoise_backend_cpu;
extern const DenoiseBackendOps
    denoise_backend_cuda; /* only where CUDA is built */

/* denoise_engine_new() on a given backend, for tests. */
DenoiseEngine *denoise_engine_new_on (const DenoiseBackendOps *ops,
    const DenoiseConfig *config, CvisContext *context, GError **error);

G_END_DECLS
