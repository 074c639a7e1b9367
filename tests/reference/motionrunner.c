/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "motionrunner.h"

#include <string.h>

#include "cuda/core/histogram.h"

struct _MotionRunner {
  MotionConfig config;
  CvisContext *context;
  const MotionClip *clip;
  MotionEngine *engine;
  guint n_blocks;
  guint8 *frames;  /* contiguous; pinned for CUDA */
  guint8 *results; /* of all frames: vectors, then blocks */
  MotionJob *jobs;
  gdouble *ms; /* minimum for each frame */
};

static gpointer
new_memory (CvisContext *context, gsize size, GError **error)
{
  return context ? cvis_pinned_alloc (context, size, error) : g_malloc (size);
}

static void
free_memory (CvisContext *context, gpointer memory)
{
  if (context == NULL)
    g_free (memory);
  else if (memory)
    cvis_pinned_free (context, memory);
}

static void
set_up_jobs (MotionRunner *runner)
{
  const MotionClip *clip = runner->clip;
  gsize size = clip->stride * clip->height;
  gsize result = sizeof (CvisMotionVector) + sizeof (CvisMotionBlock);

  for (guint i = 0; i < clip->n; i++) {
    MotionJob *job = &runner->jobs[i];
    guint8 *results = runner->results + i * result * runner->n_blocks;

    memcpy (runner->frames + i * size, clip->luma[i], size);
    job->luma = runner->frames + i * size;
    job->stride = clip->stride;
    job->pinned = job->results_pinned = runner->context != NULL;
    job->fields[0].vectors = (CvisMotionVector *) results;
    job->fields[0].blocks =
        (CvisMotionBlock *) (results
                             + sizeof (CvisMotionVector) * runner->n_blocks);
  }
}

MotionRunner *
motion_runner_new (const MotionConfig *config, CvisContext *context,
    const MotionClip *clip, GError **error)
{
  MotionRunner *runner = g_new0 (MotionRunner, 1);
  gsize result = sizeof (CvisMotionVector) + sizeof (CvisMotionBlock);

  runner->config = *config;
  runner->context = context;
  runner->clip = clip;
  runner->n_blocks =
      motion_config_get_columns (config) * motion_config_get_rows (config);
  runner->jobs = g_new0 (MotionJob, clip->n);
  runner->ms = g_new (gdouble, clip->n);
  for (guint i = 0; i < clip->n; i++)
    runner->ms[i] = G_MAXDOUBLE;
  runner->engine = motion_engine_new (config, context, error);
  if (runner->engine
      && (runner->frames = new_memory (
              context, clip->stride * clip->height * clip->n, error))
      && (runner->results = new_memory (
              context, result * runner->n_blocks * clip->n, error))) {
    set_up_jobs (runner);
    return runner;
  }
  motion_runner_free (runner);
  return NULL;
}

void
motion_runner_free (MotionRunner *runner)
{
  motion_engine_free (runner->engine);
  free_memory (runner->context, runner->frames);
  free_memory (runner->context, runner->results);
  g_free (runner->jobs);
  g_free (runner->ms);
  g_free (runner);
}

gboolean
motion_runner_round (MotionRunner *runner, GError **error)
{
  for (guint i = 0; i < runner->clip->n; i++) {
    MotionJob *done;
    guint64 start = cvis_monotonic_ns ();
    gdouble ms;

    if (!motion_engine_submit (runner->engine, &runner->jobs[i], error)
        || !motion_engine_wait (runner->engine, &done, error))
      return FALSE;
    ms = (gdouble) (cvis_monotonic_ns () - start) * 1e-6;
    runner->ms[i] = MIN (runner->ms[i], ms);
  }
  motion_engine_end (runner->engine);
  return TRUE;
}

gdouble
motion_runner_get_ms (const MotionRunner *runner)
{
  gdouble sum = 0;

  for (guint i = 1; i < runner->clip->n; i++)
    sum += runner->ms[i];
  return sum / (runner->clip->n - 1);
}

gboolean
motion_runner_flow (
    MotionRunner *runner, guint times, gdouble *ms, GError **error)
{
  guint n = runner->clip->n, total = n * times, in_flight = 0;
  guint most = MIN (runner->config.depth_in_flight, n);
  guint64 start = cvis_monotonic_ns ();

  for (guint i = 0; i < total || in_flight > 0;) {
    MotionJob *done;

    if (i < total && in_flight < most) {
      if (!motion_engine_submit (runner->engine, &runner->jobs[i % n], error))
        return FALSE;
      i++;
      in_flight++;
      continue;
    }
    if (!motion_engine_wait (runner->engine, &done, error))
      return FALSE;
    in_flight--;
  }
  *ms = (gdouble) (cvis_monotonic_ns () - start) * 1e-6 / total;
  motion_engine_end (runner->engine);
  return TRUE;
}

const MotionField *
motion_runner_get_field (const MotionRunner *runner, guint frame)
{
  return &runner->jobs[frame].fields[0];
}

guint64
motion_runner_get_residue (const MotionRunner *runner)
{
  guint64 residue = 0;

  for (guint i = 1; i < runner->clip->n; i++)
    residue += motion_runner_get_field (runner, i)->summary.residue;
  return residue;
}

gboolean
motion_runner_equal (const MotionRunner *a, const MotionRunner *b, gchar **why)
{
  for (guint i = 1; i < a->clip->n; i++) {
    const MotionField *fa = motion_runner_get_field (a, i);
    const MotionField *fb = motion_runner_get_field (b, i);

    for (guint k = 0; k < a->n_blocks; k++) {
      const CvisMotionVector *va = &fa->vectors[k], *vb = &fb->vectors[k];
      const CvisMotionBlock *ba = &fa->blocks[k], *bb = &fb->blocks[k];

      if (memcmp (va, vb, sizeof *va) == 0 && memcmp (ba, bb, sizeof *ba) == 0)
        continue;
      *why = g_strdup_printf (
          "%s, frame %u, block %u: vector (%d,%d) and (%d,%d), sad %u and %u, "
          "second %u and %u",
          a->clip->name, i, k, va->x, va->y, vb->x, vb->y, ba->sad, bb->sad,
          ba->second, bb->second);
      return FALSE;
    }
  }
  return TRUE;
}
