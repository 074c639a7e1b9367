/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Results of a motion engine, for comparison by other programs.
 *
 *   motion-dump backend=reference|cpu width=W height=H [setting=number]... <luma
 *
 * backend=reference is the plain C code of tests/reference. Reads frames of
 * W x H samples without gaps, one byte each or with a depth of 10 two bytes,
 * little endian. Writes for each frame n_fields and flags (guint32), for
 * each field distance and 0 (gint32), CvisMotionSummary, vectors and blocks, and
 * with planes=1 prediction and residual. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/motion/summary.h"
#include "motionreference.h"

typedef struct {
  MotionConfig config;
  guint bidirectional, planes;
  const gchar *backend;
  MotionSceneDetector detector;
} Options;

static void
parse (Options *options, const gchar *argument)
{
  MotionConfig *c = &options->config;
  guint method = c->method, granularity = c->granularity, window = c->window;
  guint border = c->border, tie = c->tie, subpel = c->subpel;
  const struct {
    const gchar *name;
    guint *value;
  } settings[] = {
    { "width", &c->width },
    { "height", &c->height },
    { "depth", &c->depth },
    { "method", &method },
    { "granularity", &granularity },
    { "block-size", &c->block_size },
    { "range", &c->range },
    { "window", &window },
    { "border", &border },
    { "tie", &tie },
    { "lambda", &c->lambda },
    { "subpel", &subpel },
    { "references", &c->references },
    { "bidirectional", &options->bidirectional },
    { "planes", &options->planes },
    { "threads", &c->threads },
  };
  const gchar *value = strchr (argument, '=');

  if (g_str_has_prefix (argument, "backend=")) {
    options->backend = value + 1;
    return;
  }
  for (guint i = 0; value && i < G_N_ELEMENTS (settings); i++) {
    if (strlen (settings[i].name) != (gsize) (value - argument)
        || !g_str_has_prefix (argument, settings[i].name))
      continue;
    *settings[i].value = (guint) atoi (value + 1);
    c->method = method;
    c->granularity = granularity;
    c->window = window;
    c->border = border;
    c->tie = tie;
    c->subpel = subpel;
    c->bidirectional = options->bidirectional != 0;
    return;
  }
  g_printerr ("motion-dump: unknown argument %s\n", argument);
  exit (2);
}

static void
check (gboolean ok, GError **error)
{
  if (ok)
    return;
  g_printerr ("motion-dump: %s\n", (*error)->message);
  exit (1);
}

static MotionEngine *
new_engine (const Options *options)
{
  GError *error = NULL;
  MotionEngine *engine;

  if (strcmp (options->backend, "reference") == 0)
    engine = motion_engine_new_on (
        &motion_backend_reference, &options->config, NULL, &error);
  else
    engine = motion_engine_new (&options->config, NULL, &error);
  check (engine != NULL, &error);
  return engine;
}

static MotionJob *
new_job (const Options *options)
{
  const MotionConfig *c = &options->config;
  gsize stride = c->width * (c->depth > 8 ? 2 : 1);
  guint n = motion_config_get_columns (c) * motion_config_get_rows (c);
  MotionJob *job = g_new0 (MotionJob, 1);

  job->luma = g_malloc (stride * c->height);
  job->stride = job->prediction_stride = job->residual_stride = stride;
  if (options->planes) {
    job->prediction = g_malloc (stride * c->height);
    job->residual = g_malloc (stride * c->height);
  }
  for (guint i = 0; i < motion_config_get_n_fields (c); i++) {
    job->fields[i].vectors = g_new (CvisMotionVector, n);
    job->fields[i].blocks = g_new (CvisMotionBlock, n);
  }
  return job;
}

static void
free_job (MotionJob *job)
{
  g_free ((gpointer) job->luma);
  g_free (job->prediction);
  g_free (job->residual);
  for (guint i = 0; i < CVIS_MOTION_MAX_FIELDS; i++) {
    g_free (job->fields[i].vectors);
    g_free (job->fields[i].blocks);
  }
  g_free (job);
}

static void
put (gconstpointer data, gsize size, gsize n)
{
  if (fwrite (data, size, n, stdout) != n)
    exit (1);
}

static guint32
get_flags (Options *options, const MotionJob *job)
{
  const MotionField *backward = NULL;
  guint32 flags = job->flags;

  if (job->n_fields > 0 && job->fields[0].distance == -1)
    backward = &job->fields[0];
  if (motion_scene_detect (&options->detector, &options->config, backward))
    flags |= CVIS_MOTION_FRAME_SCENE_CUT;
  return flags;
}

static void
dump (Options *options, const MotionJob *job)
{
  const MotionConfig *c = &options->config;
  guint n = motion_config_get_columns (c) * motion_config_get_rows (c);
  guint32 head[] = { job->n_fields, get_flags (options, job) };

  put (head, sizeof head, 1);
  for (guint i = 0; i < job->n_fields; i++) {
    gint32 distance[] = { job->fields[i].distance, 0 };

    put (distance, sizeof distance, 1);
    put (&job->fields[i].summary, sizeof (CvisMotionSummary), 1);
    put (job->fields[i].vectors, sizeof (CvisMotionVector), n);
    put (job->fields[i].blocks, sizeof (CvisMotionBlock), n);
  }
  if (options->planes) {
    put (job->prediction, job->stride, c->height);
    put (job->residual, job->stride, c->height);
  }
}

/* Writes the frames that are ready. */
static void
drain (Options *options, MotionEngine *engine)
{
  GError *error = NULL;
  MotionJob *job;

  do {
    check (motion_engine_wait (engine, &job, &error), &error);
    if (job) {
      dump (options, job);
      free_job (job);
    }
  } while (job);
}

int
main (int argc, char **argv)
{
  Options options = {
    .backend = "reference",
    .detector.threshold = MOTION_SCENE_THRESHOLD,
  };
  GError *error = NULL;
  MotionEngine *engine;
  MotionJob *job;

  motion_config_init (&options.config);
  for (gint i = 1; i < argc; i++)
    parse (&options, argv[i]);
  engine = new_engine (&options);
  job = new_job (&options);
  while (fread ((gpointer) job->luma, job->stride, options.config.height, stdin)
         == options.config.height) {
    check (motion_engine_submit (engine, job, &error), &error);
    drain (&options, engine);
    job = new_job (&options);
  }
  free_job (job);
  motion_engine_end (engine);
  drain (&options, engine);
  motion_engine_free (engine);
  return 0;
}
