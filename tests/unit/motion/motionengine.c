/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The front end of the motion engine over the reference implementation as
 * its backend: the order of frames and references, ends of streams, what is
 * in flight, failures, two threads, arguments. */
#include <string.h>

#include "motionstream.h"

/* --- a backend that fails on demand --------------------------------------- */

/* Number of calls before one fails; -1: none */
static gint load_fails, search_fails, wait_fails;
static MotionBackendOps failing;

static gboolean
fails (gint *countdown, const gchar *what, GError **error)
{
  if (*countdown < 0 || (*countdown)-- > 0)
    return FALSE;
  g_set_error (
      error, CVIS_ERROR, CVIS_ERROR_CUDA, "%s failed as requested", what);
  return TRUE;
}

static gboolean
failing_load (
    MotionBackend *backend, guint picture, MotionJob *job, GError **error)
{
  return !fails (&load_fails, "load", error)
         && motion_backend_reference.load (backend, picture, job, error);
}

static gboolean
failing_search (
    MotionBackend *backend, guint slot, const MotionTask *task, GError **error)
{
  return !fails (&search_fails, "search", error)
         && motion_backend_reference.search (backend, slot, task, error);
}

static gboolean
failing_wait (MotionBackend *backend, guint slot, GError **error)
{
  gboolean ok = motion_backend_reference.wait (backend, slot, error);

  return !fails (&wait_fails, "wait", error) && ok;
}

static MotionEngine *
new_failing (const MotionConfig *config)
{
  GError *error = NULL;
  MotionEngine *engine;

  failing = motion_backend_reference;
  failing.load = failing_load;
  failing.search = failing_search;
  failing.wait = failing_wait;
  load_fails = search_fails = wait_fails = -1;
  engine = motion_engine_new_on (&failing, config, NULL, &error);
  g_assert_no_error (error);
  return engine;
}

/* --- helpers -------------------------------------------------------------- */

static MotionEngine *
new_engine (const MotionConfig *config)
{
  GError *error = NULL;
  MotionEngine *engine =
      motion_engine_new_on (&motion_backend_reference, config, NULL, &error);

  g_assert_no_error (error);
  return engine;
}

/* Settings with little computation. */
static void
small_config (MotionConfig *config)
{
  motion_config_init (config);
  config->width = 24;
  config->height = 17;
  config->block_size = 8;
  config->range = 2;
}

/* A stream of @n frames with a single end. */
static MotionStream *
new_stream (const MotionConfig *config, guint n)
{
  GRand *random = g_rand_new_with_seed (7);
  MotionStream *stream = motion_stream_new (random, config, n);

  g_rand_free (random);
  return stream;
}

static void
submit (MotionEngine *engine, MotionJob *job)
{
  GError *error = NULL;

  motion_engine_submit (engine, job, &error);
  g_assert_no_error (error);
}

/* Checks that the next frame is @job (or %NULL), with correct results. */
static void
expect (MotionEngine *engine, const MotionJob *job)
{
  GError *error = NULL;
  MotionJob *got;

  g_assert_true (motion_engine_wait (engine, &got, &error));
  g_assert_no_error (error);
  g_assert_true (got == job);
}

/* Checks that the next frame is @job, and that it failed with @words. */
static void
expect_failure (MotionEngine *engine, const MotionJob *job, const gchar *words)
{
  GError *error = NULL;
  MotionJob *got;

  g_assert_false (motion_engine_wait (engine, &got, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_CUDA);
  g_assert_nonnull (strstr (error->message, words));
  g_assert_true (got == job);
  g_error_free (error);
}

static void
expect_refusal (MotionEngine *engine, MotionJob *job, const gchar *words)
{
  GError *error = NULL;

  g_assert_false (motion_engine_submit (engine, job, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
  if (strstr (error->message, words) == NULL)
    g_error ("\"%s\" does not say \"%s\"", error->message, words);
  g_error_free (error);
}

static void
expect_distances (const MotionJob *job, const gint *distances, guint n)
{
  g_assert_cmpuint (job->n_fields, ==, n);
  for (guint i = 0; i < n; i++)
    g_assert_cmpint (job->fields[i].distance, ==, distances[i]);
}

/* --- tests ---------------------------------------------------------------- */

/* Random settings, ends of streams, minimum and maximum number of frames in
 * flight. */
static void
test_streams (void)
{
  GRand *random = g_rand_new_with_seed ((guint32) g_test_rand_int ());

  for (guint round = 0; round < 40; round++) {
    MotionConfig config;
    MotionStream *stream;
    MotionEngine *engine;

    motion_random_config (random, round, &config);
    config.range = MIN (config.range, 6);
    stream = motion_stream_new (random, &config, 9);
    engine = new_engine (&config);
    motion_stream_run (stream, engine, random);
    motion_stream_run (stream, engine, NULL);
    motion_engine_free (engine);
    motion_stream_free (stream);
  }
  g_rand_free (random);
}

static void
test_bidirectional_order (void)
{
  MotionConfig config;
  MotionStream *stream;
  MotionEngine *engine;
  MotionJob *jobs;

  small_config (&config);
  config.references = 2;
  config.bidirectional = TRUE;
  stream = new_stream (&config, 5);
  jobs = stream->jobs;
  engine = new_engine (&config);
  submit (engine, &jobs[0]);
  submit (engine, &jobs[1]);
  expect (engine, NULL);
  submit (engine, &jobs[2]);
  expect (engine, &jobs[0]);
  expect_distances (&jobs[0], (gint[]){ 1, 2 }, 2);
  g_assert_cmphex (jobs[0].flags & CVIS_MOTION_FRAME_FIRST, !=, 0);
  expect (engine, NULL);
  submit (engine, &jobs[3]);
  submit (engine, &jobs[4]);
  expect (engine, &jobs[1]);
  expect_distances (&jobs[1], (gint[]){ -1, 1, 2 }, 3);
  g_assert_cmphex (jobs[1].flags & CVIS_MOTION_FRAME_FIRST, ==, 0);
  expect (engine, &jobs[2]);
  expect_distances (&jobs[2], (gint[]){ -1, 1, -2, 2 }, 4);
  expect (engine, NULL);
  motion_engine_end (engine);
  expect (engine, &jobs[3]);
  expect_distances (&jobs[3], (gint[]){ -1, 1, -2 }, 3);
  expect (engine, &jobs[4]);
  expect_distances (&jobs[4], (gint[]){ -1, -2 }, 2);
  expect (engine, NULL);

  /* a stream of one frame */
  submit (engine, &jobs[0]);
  motion_engine_end (engine);
  motion_engine_end (engine);
  expect (engine, &jobs[0]);
  expect_distances (&jobs[0], NULL, 0);
  g_assert_cmphex (jobs[0].flags, ==, CVIS_MOTION_FRAME_FIRST);

  /* freed while frames wait for future ones */
  submit (engine, &jobs[0]);
  submit (engine, &jobs[1]);
  submit (engine, &jobs[2]);
  motion_engine_free (engine);
  motion_stream_free (stream);
}

static void
test_duplicates (void)
{
  MotionConfig config;
  MotionStream *stream;
  MotionEngine *engine;
  MotionJob again;

  small_config (&config);
  stream = new_stream (&config, 2);
  engine = new_engine (&config);
  again = stream->jobs[1];
  again.luma = stream->jobs[0].luma;
  again.stride = stream->jobs[0].stride;
  submit (engine, &stream->jobs[0]);
  expect (engine, &stream->jobs[0]);
  submit (engine, &again);
  expect (engine, &again);
  g_assert_cmphex (again.flags, ==, CVIS_MOTION_FRAME_DUPLICATE);
  motion_engine_end (engine);
  submit (engine, &again);
  expect (engine, &again);
  g_assert_cmphex (again.flags, ==, CVIS_MOTION_FRAME_FIRST);
  motion_engine_free (engine);
  motion_stream_free (stream);
}

static void
test_full (void)
{
  MotionConfig config;
  MotionStream *stream;
  MotionEngine *engine;

  small_config (&config);
  config.depth_in_flight = 2;
  for (guint ahead = 0; ahead <= 3; ahead++) {
    guint most = 2 + ahead;

    config.bidirectional = ahead > 0;
    config.references = MAX (ahead, 1);
    stream = new_stream (&config, 8);
    engine = new_engine (&config);
    for (guint i = 0; i < most; i++)
      submit (engine, &stream->jobs[i]);
    expect_refusal (engine, &stream->jobs[most], "frames are in flight");
    expect (engine, &stream->jobs[0]);
    submit (engine, &stream->jobs[most]);
    expect_refusal (engine, &stream->jobs[most + 1], "frames are in flight");
    motion_engine_end (engine);
    for (guint i = 1; i <= most; i++)
      expect (engine, &stream->jobs[i]);
    expect (engine, NULL);
    motion_engine_free (engine);
    motion_stream_free (stream);
  }
}

/* A refused frame leaves no trace. */
static void
test_load_fails (void)
{
  MotionConfig config;
  MotionStream *stream;
  MotionEngine *engine;
  GError *error = NULL;

  small_config (&config);
  stream = new_stream (&config, 3);
  engine = new_failing (&config);
  submit (engine, &stream->jobs[0]);
  load_fails = 0;
  g_assert_false (motion_engine_submit (engine, &stream->jobs[1], &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_CUDA);
  g_error_free (error);
  submit (engine, &stream->jobs[2]);
  expect (engine, &stream->jobs[0]);
  expect (engine, &stream->jobs[2]);
  expect_distances (&stream->jobs[2], (gint[]){ -1 }, 1);
  motion_engine_end (engine);
  motion_stream_run (stream, engine, NULL);
  motion_engine_free (engine);
  motion_stream_free (stream);
}

/* A failed search is reported by the wait for its frame, wherever it was
 * started; neighbouring frames succeed. */
static void
test_search_fails (void)
{
  MotionConfig config;
  MotionStream *stream;
  MotionEngine *engine;

  small_config (&config);
  config.depth_in_flight = 4;
  for (guint round = 0; round < 8; round++) {
    gint which = (gint) round % 4;

    config.bidirectional = round >= 4;
    stream = new_stream (&config, 4);
    engine = new_failing (&config);
    search_fails = which;
    for (guint i = 0; i < 4; i++)
      submit (engine, &stream->jobs[i]);
    motion_engine_end (engine);
    for (gint i = 0; i < 4; i++) {
      if (i == which)
        expect_failure (engine, &stream->jobs[i], "search failed as requested");
      else
        expect (engine, &stream->jobs[i]);
    }
    expect (engine, NULL);
    motion_stream_run (stream, engine, NULL);
    /* freed without reporting the failure */
    search_fails = 0;
    submit (engine, &stream->jobs[0]);
    motion_engine_end (engine);
    motion_engine_free (engine);
    motion_stream_free (stream);
  }
}

static void
test_wait_fails (void)
{
  MotionConfig config;
  MotionStream *stream;
  MotionEngine *engine;

  small_config (&config);
  config.depth_in_flight = 3;
  stream = new_stream (&config, 3);
  engine = new_failing (&config);
  wait_fails = 1;
  for (guint i = 0; i < 3; i++)
    submit (engine, &stream->jobs[i]);
  expect (engine, &stream->jobs[0]);
  expect_failure (engine, &stream->jobs[1], "wait failed as requested");
  expect (engine, &stream->jobs[2]);
  motion_engine_free (engine);
  motion_stream_free (stream);
}

/* --- two threads ---------------------------------------------------------- */

typedef struct {
  MotionEngine *engine;
  MotionStream *stream;
  GAsyncQueue *room; /* one item for each frame that may be submitted */
} Threads;

static gpointer
submit_all (gpointer data)
{
  Threads *t = data;

  for (guint i = 0; i < t->stream->n; i++) {
    g_async_queue_pop (t->room);
    submit (t->engine, &t->stream->jobs[i]);
  }
  motion_engine_end (t->engine);
  return NULL;
}

static void
test_two_threads (void)
{
  for (guint round = 0; round < 4; round++) {
    MotionConfig config;
    Threads t;
    GThread *thread;

    small_config (&config);
    config.width = config.height = 8;
    config.bidirectional = round % 2;
    config.references = 1 + round / 2;
    t.stream = new_stream (&config, 500);
    t.engine = new_engine (&config);
    t.room = g_async_queue_new ();
    for (guint i = 0; i < motion_config_get_n_slots (&config); i++)
      g_async_queue_push (t.room, &t);
    thread = g_thread_new ("submit", submit_all, &t);
    for (guint i = 0; i < t.stream->n;) {
      MotionJob *job;

      g_assert_true (motion_engine_wait (t.engine, &job, NULL));
      if (job == NULL) {
        g_thread_yield ();
        continue;
      }
      g_assert_true (job == &t.stream->jobs[i++]);
      g_async_queue_push (t.room, &t);
    }
    g_thread_join (thread);
    expect (t.engine, NULL);
    g_async_queue_unref (t.room);
    motion_engine_free (t.engine);
    motion_stream_free (t.stream);
  }
}

/* --- arguments ------------------------------------------------------------ */

static void
test_jobs (void)
{
  for (guint depth = 8; depth <= 10; depth += 2) {
    guint bytes = depth / 8 + (depth > 8);
    MotionConfig config;
    MotionStream *stream;
    MotionEngine *engine;
    MotionJob good, bad;

    small_config (&config);
    config.depth = depth;
    config.references = 2;
    stream = new_stream (&config, 1);
    engine = new_engine (&config);
    good = stream->jobs[0];
    good.prediction = good.residual = NULL;
    good.prediction_stride = good.residual_stride = 0;
#define REFUSE(member, value, words)                                           \
  bad = good;                                                                  \
  bad.member = value;                                                          \
  expect_refusal (engine, &bad, words)
    REFUSE (luma, NULL, "luma plane is NULL");
    REFUSE (stride, 24 * bytes - bytes, "stride of the luma plane");
    REFUSE (shift, depth == 8 ? 1 : 7, "shifted by");
    REFUSE (on_device, TRUE, "on a device");
    REFUSE (fields[0].vectors, NULL, "field 0 has no memory for its vectors");
    REFUSE (fields[1].blocks, NULL, "field 1 has no memory for its blocks");
    REFUSE (prediction, (guint8 *) good.luma, "stride of the prediction");
    REFUSE (residual, (guint8 *) good.luma, "stride of the residual");
    if (depth > 8) {
      REFUSE (stride, 24 * bytes + 1, "odd");
      REFUSE (luma, good.luma + 1, "odd");
    }
#undef REFUSE
    submit (engine, &good);
    expect (engine, &good);
    motion_engine_free (engine);
    motion_stream_free (stream);
  }
}

static void
refuse (const MotionConfig *config, const gchar *words)
{
  GError *error = NULL;

  g_assert_null (
      motion_engine_new_on (&motion_backend_reference, config, NULL, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
  if (strstr (error->message, words) == NULL)
    g_error ("\"%s\" does not say \"%s\"", error->message, words);
  g_error_free (error);
}

static void
test_settings (void)
{
  MotionConfig good, bad;

  small_config (&good);
  g_assert_true (motion_config_check (&good, NULL));
#define REFUSE(field, value, words)                                            \
  bad = good;                                                                  \
  bad.field = value;                                                           \
  refuse (&bad, words)
  REFUSE (width, 0, "width is 0");
  REFUSE (height, 16385, "height is 16385");
  REFUSE (depth, 9, "depth is 9");
  REFUSE (method, 5, "method");
  REFUSE (granularity, 4, "granularity");
  REFUSE (block_size, 24, "block-size is 24");
  REFUSE (range, 0, "search-range is 0");
  REFUSE (range, 129, "search-range is 129");
  REFUSE (window, 2, "window");
  REFUSE (border, 2, "border");
  REFUSE (tie, 2, "tie");
  REFUSE (lambda, 256, "lambda is 256");
  REFUSE (subpel, 3, "subpel");
  REFUSE (references, 0, "references is 0");
  REFUSE (references, 5, "references is 5");
  REFUSE (depth_in_flight, 0, "in flight is 0");
  REFUSE (depth_in_flight, 33, "in flight is 33");
#undef REFUSE
  g_assert_cmpuint (motion_config_get_columns (&good), ==, 3);
  g_assert_cmpuint (motion_config_get_rows (&good), ==, 3);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/motionengine/settings", test_settings);
  g_test_add_func ("/motionengine/jobs", test_jobs);
  g_test_add_func ("/motionengine/streams", test_streams);
  g_test_add_func (
      "/motionengine/bidirectional-order", test_bidirectional_order);
  g_test_add_func ("/motionengine/duplicates", test_duplicates);
  g_test_add_func ("/motionengine/full", test_full);
  g_test_add_func ("/motionengine/load-fails", test_load_fails);
  g_test_add_func ("/motionengine/search-fails", test_search_fails);
  g_test_add_func ("/motionengine/wait-fails", test_wait_fails);
  g_test_add_func ("/motionengine/two-threads", test_two_threads);
  return g_test_run ();
}
