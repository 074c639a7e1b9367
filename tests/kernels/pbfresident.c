/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The resident kernel against the plain C reference implementation, to the
 * bit: any number of blocks, batches of any size, launches that end in the
 * middle, a kernel that stalls, other users of the device in the process.
 * With --bench: latency and throughput. */
#include <stdio.h>
#include <string.h>

#include "cuda/core/histogram.h" /* cvis_monotonic_ns() */
#include "cuda/core/spin.h"
#include "harness.h"
#include "pbfstream.h"

#define DEPTH 3

static PbfEngine *
new_engine (Harness *h, const PbfConfig *config, PbfModel *model)
{
  GError *error = NULL;
  PbfEngine *engine =
      pbf_engine_new (config, model, harness_context (h), &error);

  if (engine == NULL) {
    harness_fail (h, "%s", error->message);
    g_clear_error (&error);
  }
  return engine;
}

/* The frames and records of a stream in pinned memory, word-aligned. */
typedef struct {
  const guint8 **frames;
  guint *strides;
  CvisPbfResult *results;
} Pinned;

/* To be called before the engine is made: compute-sanitizer may report reads of
 * memory that was allocated while the kernel runs. */
static Pinned
pin_stream (Harness *h, const PbfStream *stream, const PbfConfig *config)
{
  guint stride = (config->width + 3) & ~3u;
  gsize size = (gsize) stride * config->height;
  guint8 *pixels = harness_pinned (h, size * stream->n);
  Pinned pinned = { harness_host (h, stream->n * sizeof *pinned.frames),
    harness_host (h, stream->n * sizeof *pinned.strides),
    harness_pinned (h, stream->n * sizeof *pinned.results) };

  for (guint i = 0; i < stream->n; i++) {
    pinned.frames[i] = pixels + i * size;
    pinned.strides[i] = stride;
    for (guint y = 0; y < config->height; y++)
      memcpy (pixels + i * size + (gsize) y * stride,
          stream->frames[i] + (gsize) y * stream->strides[i], config->width);
  }
  return pinned;
}

/* Sets the frames and records of @batch, from frame @first on. */
static void
pinned_batch (const Pinned *pinned, guint first, PbfBatch *batch)
{
  batch->frames = pinned->frames + first;
  batch->strides = pinned->strides + first;
  batch->pinned = TRUE;
  batch->results = pinned->results + first;
  batch->results_pinned = TRUE;
}

/* Sends @stream through @engine in batches, DEPTH of them in flight, and
 * compares the records. @pinned: (nullable): @stream in pinned memory. */
static void
run_stream (Harness *h, PbfEngine *engine, PbfStream *stream,
    const PbfConfig *config, const Pinned *pinned)
{
  CvisPbfResult *results = pinned ? pinned->results : stream->results;
  PbfBatch batches[DEPTH], *done;
  GError *error = NULL;
  guint submitted = 0, in_flight = 0;
  gboolean ok = TRUE;

  memset (results, 0xa5, stream->n * sizeof (CvisPbfResult));
  for (guint waited = 0, k = 0; waited < stream->n && ok;) {
    if (submitted < stream->n && in_flight < DEPTH) {
      PbfBatch *batch = &batches[k++ % DEPTH];

      pbf_stream_batch (stream, submitted, config->max_batch, batch);
      if (pinned)
        pinned_batch (pinned, submitted, batch);
      ok = pbf_engine_submit (engine, batch, &error);
      submitted += batch->n;
      in_flight++;
    } else {
      ok = pbf_engine_wait (engine, &done, &error);
      if (done != NULL)
        waited += done->n;
      in_flight--;
    }
  }
  if (!ok) {
    harness_fail (h, "%s", error->message);
    g_clear_error (&error);
    return;
  }
  harness_equal (h, "records", HARNESS_U8, stream->expected, results,
      stream->n * sizeof (CvisPbfResult));
}

static void
resident_config (PbfRandom *random, guint round, PbfConfig *config)
{
  pbf_random_config (random, round, config);
  config->roi_size = CVIS_PBF_ROI_SIDE;
  config->spatter_scope = PBF_SPATTER_SCOPE_ROI;
  config->mode = PBF_MODE_PERSISTENT;
  config->depth = DEPTH;
}

static void
check_resident (Harness *h)
{
  static const guint blocks[] = { 1, 2, 7, 64 };
  static const guint batches[] = { 1, 7, 64 };
  static const guint lifetimes[] = { 1, 100 };

  for (guint round = 0; round < 8; round++) {
    PbfRandom random = { harness_random (h) };
    PbfConfig config;
    PbfModel *model = round % 3 == 2 ? NULL
                                     : pbf_random_model (&random,
                                         1 + pbf_random_below (&random, 512),
                                         1 + pbf_random_below (&random, 8));
    PbfStream *stream;

    resident_config (&random, round, &config);
    stream = pbf_stream_new (&random, &config, model, 400);
    for (guint k = 0; k < G_N_ELEMENTS (blocks); k++) {
      PbfEngine *engine;
      Pinned pinned;

      config.parallel_frames = blocks[k];
      config.max_batch = batches[(round + k) % G_N_ELEMENTS (batches)];
      config.lifetime_ms = lifetimes[(round + k / 2) % 2];
      config.idle_sleep_ns = k % 2 * 1000;
      harness_case (h,
          "round %u: %ux%u, window %u, %u blocks, batches of %u, life of %u ms",
          round, config.width, config.height, config.window,
          config.parallel_frames, config.max_batch, config.lifetime_ms);
      pinned = pin_stream (h, stream, &config);
      engine = new_engine (h, &config, model);
      if (engine == NULL)
        break;
      run_stream (h, engine, stream, &config, k % 2 ? &pinned : NULL);
      /* a new stream in the same ring */
      pbf_engine_reset (engine);
      run_stream (h, engine, stream, &config, k % 2 ? NULL : &pinned);
      if (pbf_engine_has_fallen_back (engine))
        harness_fail (h, "fell back to batches");
      pbf_engine_free (engine);
    }
    pbf_stream_free (stream);
    if (model)
      pbf_model_unref (model);
  }
}

#ifdef CVIS_TEST_HOOKS
/* The kernel stops taking frames: the rest is computed in batches, with the
 * same window. */
static void
check_stall (Harness *h)
{
  for (guint round = 4; round < 8; round++) {
    PbfRandom random = { harness_random (h) };
    PbfConfig config;
    PbfStream *stream;
    PbfEngine *engine;
    Pinned pinned;

    resident_config (&random, round, &config);
    config.stall_at = 50 + pbf_random_below (&random, 200);
    config.parallel_frames = 1 + pbf_random_below (&random, 64);
    config.max_batch = 1 + pbf_random_below (&random, 100);
    harness_case (h, "stall at frame %u, %u blocks, batches of %u",
        config.stall_at, config.parallel_frames, config.max_batch);
    stream = pbf_stream_new (&random, &config, NULL, 400);
    pinned = pin_stream (h, stream, &config);
    engine = new_engine (h, &config, NULL);
    if (engine != NULL) {
      run_stream (h, engine, stream, &config, round % 2 ? &pinned : NULL);
      if (!pbf_engine_has_fallen_back (engine))
        harness_fail (h, "did not fall back");
      pbf_engine_free (engine);
    }
    pbf_stream_free (stream);
  }
}
#endif

/* Another engine is created, used and freed while the kernel runs. */
static void
check_company (Harness *h)
{
  PbfRandom random = { harness_random (h) };
  PbfConfig config, other;
  PbfStream *stream;
  PbfEngine *engine;
  Pinned pinned;

  resident_config (&random, 0, &config);
  config.max_batch = 16;
  other = config;
  other.mode = PBF_MODE_BATCH;
  stream = pbf_stream_new (&random, &config, NULL, 200);
  harness_case (h, "a batch engine beside the resident kernel");
  pinned = pin_stream (h, stream, &config);
  engine = new_engine (h, &config, NULL);
  for (guint k = 0; k < 3 && engine != NULL; k++) {
    PbfEngine *second;

    run_stream (h, engine, stream, &config, &pinned);
    second = new_engine (h, &other, NULL);
    if (second != NULL)
      run_stream (h, second, stream, &other, &pinned);
    pbf_engine_free (second);
    pbf_engine_reset (engine);
  }
  if (engine != NULL && pbf_engine_has_fallen_back (engine))
    harness_fail (h, "fell back to batches");
  pbf_engine_free (engine);
  pbf_stream_free (stream);
}

/* --- benchmarks ---------------------------------------------------------- */

/* 512 frames with a melt pool and some spatters. @entry: class of all frames. */
static PbfStream *
bench_stream (const PbfConfig *config, PbfEntry entry)
{
  PbfRandom random = { 1 };
  PbfStream *stream = pbf_stream_new (&random, config, NULL, 512);

  for (guint i = 0; i < stream->n; i++) {
    PbfFrameInfo *info = &stream->infos[i];

    pbf_frame_fill (&random, 7, (guint8 *) stream->frames[i], config->width,
        config->height, stream->strides[i]);
    info->position = PBF_POSITION_GIVEN;
    info->entry = entry;
    info->e_x_q8 = (gint32) config->width * 128;
    info->e_y_q8 = (gint32) config->height * 128;
  }
  return stream;
}

static gint
compare_times (gconstpointer a, gconstpointer b)
{
  guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;

  return (x > y) - (x < y);
}

/* One batch at a time, host to host; the first fifth is not counted. */
static void
time_batches (Harness *h, PbfConfig *config, PbfModel *model, guint n_frames,
    PbfEntry entry)
{
  PbfStream *stream = bench_stream (config, entry);
  Pinned pinned = pin_stream (h, stream, config);
  PbfEngine *engine = new_engine (h, config, model);
  guint n_batches = n_frames / config->max_batch, n = 0;
  guint32 *times = g_new (guint32, n_batches);
  guint64 begun = 0;

  for (guint k = 0; engine != NULL && k < n_batches; k++) {
    guint64 start = cvis_monotonic_ns ();
    guint at = k * config->max_batch % stream->n;
    PbfBatch batch, *done;
    GError *error = NULL;

    if (k == n_batches / 5)
      begun = start;
    pbf_stream_batch (stream, at, config->max_batch, &batch);
    pinned_batch (&pinned, at, &batch);
    if (!pbf_engine_submit (engine, &batch, &error)
        || !pbf_engine_wait (engine, &done, &error)) {
      harness_fail (h, "%s", error->message);
      g_clear_error (&error);
      break;
    }
    if (begun != 0)
      times[n++] = (guint32) (cvis_monotonic_ns () - start);
  }
  if (n > 0) {
    gdouble seconds = (cvis_monotonic_ns () - begun) / 1e9;

    qsort (times, n, sizeof *times, compare_times);
    printf ("  %-10s %2u blocks, batches of %4u: p50 %7.2f p90 %7.2f p99 %7.2f "
            "p99.9 %7.2f max %7.1f us; %9.0f frames/s%s\n",
        config->mode == PBF_MODE_PERSISTENT ? "persistent"
        : config->mode == PBF_MODE_GRAPH    ? "graph"
                                            : "batch",
        config->parallel_frames, config->max_batch, times[n / 2] / 1e3,
        times[n * 9 / 10] / 1e3, times[n * 99 / 100] / 1e3,
        times[n * (guint64) 999 / 1000] / 1e3, times[n - 1] / 1e3,
        n * (gdouble) config->max_batch / seconds,
        pbf_engine_has_fallen_back (engine) ? ", fell back" : "");
  }
  pbf_engine_free (engine);
  pbf_stream_free (stream);
  g_free (times);
}

/* Batches in flight, submitted by one thread and waited for by another. */
typedef struct {
  PbfEngine *engine;
  guint n_batches;
  gint in_flight; /* atomic */
} Flow;

static gpointer
wait_for_batches (gpointer data)
{
  Flow *flow = data;
  PbfBatch *done;
  gboolean ok = TRUE;

  for (guint k = 0; k < flow->n_batches && ok; k++) {
    while (g_atomic_int_get (&flow->in_flight) == 0)
      cvis_cpu_pause ();
    ok = pbf_engine_wait (flow->engine, &done, NULL);
    g_atomic_int_add (&flow->in_flight, -1);
  }
  return GINT_TO_POINTER (ok);
}

/* Frames a second with several batches in flight. */
static void
time_flow (Harness *h, PbfConfig *config, PbfModel *model, guint n_frames)
{
  PbfStream *stream = bench_stream (config, PBF_ENTER);
  Pinned pinned = pin_stream (h, stream, config);
  Flow flow = { new_engine (h, config, model), n_frames / config->max_batch,
    0 };
  PbfBatch batches[16];
  guint64 start;
  GThread *waiter;
  GError *error = NULL;

  start = cvis_monotonic_ns ();
  waiter = g_thread_new ("wait", wait_for_batches, &flow);
  for (guint k = 0; k < flow.n_batches; k++) {
    PbfBatch *batch = &batches[k % config->depth];
    guint at = k * config->max_batch % stream->n;

    while (g_atomic_int_get (&flow.in_flight) >= (gint) config->depth)
      cvis_cpu_pause ();
    pbf_stream_batch (stream, at, config->max_batch, batch);
    pinned_batch (&pinned, at, batch);
    if (!pbf_engine_submit (flow.engine, batch, &error)) {
      harness_fail (h, "%s", error->message);
      g_clear_error (&error);
    }
    g_atomic_int_inc (&flow.in_flight);
  }
  if (!GPOINTER_TO_INT (g_thread_join (waiter)))
    harness_fail (h, "a batch failed");
  printf ("  %2u blocks, %u batches of %4u in flight: %9.0f frames/s%s\n",
      config->parallel_frames, config->depth, config->max_batch,
      flow.n_batches * (gdouble) config->max_batch * 1e9
          / (cvis_monotonic_ns () - start),
      pbf_engine_has_fallen_back (flow.engine) ? ", fell back" : "");
  pbf_engine_free (flow.engine);
  pbf_stream_free (stream);
}

static void
bench_resident (Harness *h)
{
  PbfRandom random = { 2 };
  PbfModel *model = pbf_random_model (&random, 164, 2);
  PbfConfig config;

  harness_case (h, "one batch at a time, 96x96, network 40-164-2");
  pbf_config_init (&config);
  config.max_batch = 1;
  time_batches (h, &config, model, 5000, PBF_ENTER);
  config.mode = PBF_MODE_GRAPH;
  time_batches (h, &config, model, 5000, PBF_ENTER);
  config.mode = PBF_MODE_PERSISTENT;
  config.spin_us = 10000;
  config.idle_sleep_ns = 0;
  config.parallel_frames = 1;
  printf ("  ring alone (empty frames), without and with the network\n");
  time_batches (h, &config, model, 20000, PBF_EMPTY);
  time_batches (h, &config, NULL, 20000, PBF_ENTER);
  time_batches (h, &config, model, 100000, PBF_ENTER);
  config.idle_sleep_ns = 500;
  time_batches (h, &config, model, 50000, PBF_ENTER);
  for (guint n = 2; n <= 64; n *= 2) {
    config.parallel_frames = n;
    config.max_batch = n;
    time_batches (h, &config, model, 50000, PBF_ENTER);
  }
  config.max_batch = 512;
  time_batches (h, &config, model, 100000, PBF_ENTER);
  config.depth = 4;
  config.max_batch = 256;
  for (guint n = 64; n >= 16; n /= 2) {
    config.parallel_frames = n;
    time_flow (h, &config, model, 1000000);
  }
  pbf_model_unref (model);
}

int
main (int argc, char **argv)
{
  static const HarnessTest tests[] = {
    { "pbfresident", check_resident, bench_resident },
#ifdef CVIS_TEST_HOOKS
    { "pbfresident-stall", check_stall, NULL },
#endif
    { "pbfresident-company", check_company, NULL },
    { NULL, NULL, NULL },
  };

  return harness_main (argc, argv, tests);
}
