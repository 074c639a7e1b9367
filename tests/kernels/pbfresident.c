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

#include "cuda/core/histogram.h"
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

/* The frames of @stream in page-locked memory, word-aligned. */
static const guint8 **
pin_frames (Harness *h, const PbfStream *stream, const PbfConfig *config)
{
  gsize size = (gsize) ((config->width + 3) & ~3u) * config->height;
  guint8 *pixels = harness_pinned (h, size * stream->n);
  const guint8 **frames = harness_host (h, stream->n * sizeof *frames);

  for (guint i = 0; i < stream->n; i++) {
    frames[i] = pixels + i * size;
    for (guint y = 0; y < config->height; y++)
      memcpy (pixels + i * size + (gsize) y * ((config->width + 3) & ~3u),
          stream->frames[i] + (gsize) y * stream->strides[i], config->width);
  }
  return frames;
}

/* Sends @stream through @engine in batches, DEPTH of them in flight, and
 * compares the records. */
static void
run_stream (Harness *h, PbfEngine *engine, PbfStream *stream,
    const PbfConfig *config, gboolean pinned)
{
  const guint8 **frames = pinned ? pin_frames (h, stream, config) : NULL;
  PbfResult *results = harness_pinned (h, (stream->n + 1) * sizeof (PbfResult));
  guint *strides = harness_host (h, stream->n * sizeof *strides);
  PbfBatch batches[DEPTH], *done;
  GError *error = NULL;
  guint submitted = 0, in_flight = 0;
  gboolean ok = TRUE;

  memset (results, 0xa5, stream->n * sizeof (PbfResult));
  for (guint i = 0; i < stream->n; i++)
    strides[i] = (config->width + 3) & ~3u;
  for (guint waited = 0, k = 0; waited < stream->n && ok;) {
    if (submitted < stream->n && in_flight < DEPTH) {
      PbfBatch *batch = &batches[k++ % DEPTH];

      pbf_stream_batch (stream, submitted, config->max_batch, batch);
      if (pinned) {
        batch->frames = frames + submitted;
        batch->strides = strides + submitted;
        batch->pinned = TRUE;
        batch->results = results + submitted;
        batch->results_pinned = TRUE;
      }
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
  harness_equal (h, "records", HARNESS_U8, stream->expected,
      pinned ? results : stream->results, stream->n * sizeof (PbfResult));
}

static void
resident_config (PbfRandom *random, guint round, PbfConfig *config)
{
  pbf_random_config (random, round, config);
  config->roi_size = PBF_ROI_SIDE;
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

      config.parallel_frames = blocks[k];
      config.max_batch = batches[(round + k) % G_N_ELEMENTS (batches)];
      config.lifetime_ms = lifetimes[(round + k / 2) % 2];
      config.idle_sleep_ns = k % 2 * 1000;
      harness_case (h,
          "round %u: %ux%u, window %u, %u blocks, batches of %u, life of %u ms",
          round, config.width, config.height, config.window,
          config.parallel_frames, config.max_batch, config.lifetime_ms);
      engine = new_engine (h, &config, model);
      if (engine == NULL)
        break;
      run_stream (h, engine, stream, &config, k % 2);
      /* a new stream in the same ring */
      pbf_engine_reset (engine);
      pbf_stream_poison (stream);
      run_stream (h, engine, stream, &config, !(k % 2));
      if (pbf_engine_has_fallen_back (engine))
        harness_fail (h, "fell back to batches");
      pbf_engine_free (engine);
    }
    pbf_stream_free (stream);
    if (model)
      pbf_model_unref (model);
  }
}

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

    resident_config (&random, round, &config);
    config.stall_at = 50 + pbf_random_below (&random, 200);
    config.parallel_frames = 1 + pbf_random_below (&random, 64);
    config.max_batch = 1 + pbf_random_below (&random, 100);
    harness_case (h, "stall at frame %u, %u blocks, batches of %u",
        config.stall_at, config.parallel_frames, config.max_batch);
    stream = pbf_stream_new (&random, &config, NULL, 400);
    engine = new_engine (h, &config, NULL);
    if (engine != NULL) {
      run_stream (h, engine, stream, &config, round % 2);
      if (!pbf_engine_has_fallen_back (engine))
        harness_fail (h, "did not fall back");
      pbf_engine_free (engine);
    }
    pbf_stream_free (stream);
  }
}

/* Another engine is created, used and freed while the kernel runs. */
static void
check_company (Harness *h)
{
  PbfRandom random = { harness_random (h) };
  PbfConfig config, other;
  PbfStream *stream;
  PbfEngine *engine;

  resident_config (&random, 0, &config);
  config.max_batch = 16;
  other = config;
  other.mode = PBF_MODE_BATCH;
  stream = pbf_stream_new (&random, &config, NULL, 200);
  harness_case (h, "a batch engine beside the resident kernel");
  engine = new_engine (h, &config, NULL);
  for (guint k = 0; k < 3 && engine != NULL; k++) {
    PbfEngine *second;

    run_stream (h, engine, stream, &config, TRUE);
    second = new_engine (h, &other, NULL);
    if (second != NULL)
      run_stream (h, second, stream, &other, TRUE);
    pbf_engine_free (second);
    pbf_engine_reset (engine);
  }
  if (engine != NULL && pbf_engine_has_fallen_back (engine))
    harness_fail (h, "fell back to batches");
  pbf_engine_free (engine);
  pbf_stream_free (stream);
}

/* --- benchmarks ---------------------------------------------------------- */

/* One batch at a time, host to host: frames with a melt pool and some
 * spatters. */
static void
time_batches (Harness *h, PbfConfig *config, PbfModel *model, guint n_frames,
    PbfEntry entry)
{
  PbfRandom random = { 1 };
  PbfStream *stream = pbf_stream_new (&random, config, NULL, 512);
  PbfResult *results = harness_pinned (h, 512 * sizeof (PbfResult));
  const guint8 **frames;
  PbfEngine *engine = new_engine (h, config, model);
  CvisHistogram latency;
  guint64 start, begun = 0;

  for (guint i = 0; i < 512; i++) {
    PbfFrameInfo *info = &stream->infos[i];

    pbf_frame_fill (&random, 7, (guint8 *) stream->frames[i], config->width,
        config->height, stream->strides[i]);
    info->position = PBF_POSITION_GIVEN;
    info->entry = entry;
    info->e_x_q8 = (gint32) config->width * 128;
    info->e_y_q8 = (gint32) config->height * 128;
  }
  frames = pin_frames (h, stream, config);
  cvis_histogram_clear (&latency);
  for (guint i = 0; engine != NULL && i < n_frames; i += config->max_batch) {
    PbfBatch batch, *done;
    GError *error = NULL;

    guint at = i % 512;

    if (i == n_frames / 5 / config->max_batch * config->max_batch)
      begun = cvis_monotonic_ns ();
    pbf_stream_batch (stream, at, config->max_batch, &batch);
    batch.frames = frames + at;
    batch.pinned = TRUE;
    batch.results = results + at;
    batch.results_pinned = TRUE;
    start = cvis_monotonic_ns ();
    if (!pbf_engine_submit (engine, &batch, &error)
        || !pbf_engine_wait (engine, &done, &error)) {
      harness_fail (h, "%s", error->message);
      g_clear_error (&error);
      break;
    }
    if (begun != 0)
      cvis_histogram_add (&latency, cvis_monotonic_ns () - start, 1);
  }
  if (latency.count > 0)
    printf ("  %-10s %2u blocks, batches of %4u: p50 %7.1f p90 %7.1f p99 %7.1f "
            "p99.9 %7.1f max %7.1f us; %9.0f frames/s%s\n",
        config->mode == PBF_MODE_PERSISTENT ? "persistent"
        : config->mode == PBF_MODE_GRAPH    ? "graph"
                                            : "batch",
        config->parallel_frames, config->max_batch,
        cvis_histogram_percentile (&latency, 0.5) / 1e3,
        cvis_histogram_percentile (&latency, 0.9) / 1e3,
        cvis_histogram_percentile (&latency, 0.99) / 1e3,
        cvis_histogram_percentile (&latency, 0.999) / 1e3, latency.max / 1e3,
        latency.count * (gdouble) config->max_batch * 1e9
            / (cvis_monotonic_ns () - begun),
        pbf_engine_has_fallen_back (engine) ? ", fell back" : "");
  pbf_engine_free (engine);
  pbf_stream_free (stream);
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
  PbfRandom random = { 1 };
  PbfStream *stream = pbf_stream_new (&random, config, NULL, 512);
  PbfResult *results = harness_pinned (h, 512 * sizeof (PbfResult));
  Flow flow = { new_engine (h, config, model), n_frames / config->max_batch,
    0 };
  PbfBatch batches[16];
  const guint8 **frames;
  guint64 start;
  GThread *waiter;
  GError *error = NULL;

  for (guint i = 0; i < stream->n; i++) {
    PbfFrameInfo *info = &stream->infos[i];

    pbf_frame_fill (&random, 7, (guint8 *) stream->frames[i], config->width,
        config->height, stream->strides[i]);
    info->position = PBF_POSITION_GIVEN;
    info->entry = PBF_ENTER;
    info->e_x_q8 = (gint32) config->width * 128;
    info->e_y_q8 = (gint32) config->height * 128;
  }
  frames = pin_frames (h, stream, config);
  start = cvis_monotonic_ns ();
  waiter = g_thread_new ("wait", wait_for_batches, &flow);
  for (guint k = 0; k < flow.n_batches; k++) {
    PbfBatch *batch = &batches[k % config->depth];
    guint at = k * config->max_batch % stream->n;

    while (g_atomic_int_get (&flow.in_flight) >= (gint) config->depth)
      cvis_cpu_pause ();
    pbf_stream_batch (stream, at, config->max_batch, batch);
    batch->frames = frames + at;
    batch->pinned = TRUE;
    batch->results = results + at;
    batch->results_pinned = TRUE;
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
  for (guint n = 16; n <= 64; n *= 2) {
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
    { "pbfresident-stall", check_stall, NULL },
    { "pbfresident-company", check_company, NULL },
    { NULL, NULL, NULL },
  };

  return harness_main (argc, argv, tests);
}
