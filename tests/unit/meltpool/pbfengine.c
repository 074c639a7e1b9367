/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The CPU backend against its plain C reference implementation, to the bit:
 * random frames of every kind, sizes, strides, settings, instruction sets,
 * threads, batch sizes. */
#include <math.h>
#include <string.h>

#include "cuda/camera/sim.h"
#include "cuda/meltpool/backend.h"
#include "cuda/meltpool/cpu/cpu.h"
#include "pbfframes.h"
#include "cuda/meltpool/arithmetic.h"
#include "pbfstream.h"

/* Runs @stream through a new engine in batches and compares. */
static void
run_stream (PbfStream *stream, const PbfConfig *config, PbfModel *model,
    guint batch_size)
{
  PbfConfig c = *config;
  PbfEngine *engine;
  GError *error = NULL;

  c.max_batch = MAX (batch_size, 1);
  engine = pbf_engine_new (&c, model, NULL, &error);
  g_assert_no_error (error);
  pbf_stream_poison (stream);
  for (guint i = 0; i < stream->n; i += batch_size) {
    PbfBatch batch, *done;

    pbf_stream_batch (stream, i, batch_size, &batch);
    g_assert_true (pbf_engine_submit (engine, &batch, &error));
    g_assert_true (pbf_engine_wait (engine, &done, &error));
    g_assert_no_error (error);
    g_assert_true (done == &batch);
  }
  pbf_stream_compare (stream, stream->n);
  pbf_engine_free (engine);
}

static void
test_against_reference (void)
{
  static const guint batch_sizes[] = { 1, 2, 7, 31, 32, 1000 };
  PbfRandom random = { (guint64) g_test_rand_int () };

  for (guint round = 0; round < 14; round++) {
    PbfConfig config;
    PbfModel *model = round % 3 == 2 ? NULL
                                     : pbf_random_model (&random,
                                         1 + pbf_random_below (&random, 300),
                                         1 + pbf_random_below (&random, 8));
    PbfStream *stream;

    pbf_random_config (&random, round, &config);
    config.threads = 1 + round % 3;
    stream = pbf_stream_new (&random, &config, model, 150);
    for (guint k = 0; k < G_N_ELEMENTS (batch_sizes); k++)
      run_stream (stream, &config, model, batch_sizes[k]);
    pbf_stream_free (stream);
    if (model)
      pbf_model_unref (model);
  }
}

/* One instruction set of the CPU backend, step by step, all frames in one
 * batch. */
static void
run_table (const PbfCpuKernels *table, PbfStream *stream,
    const PbfConfig *config, PbfModel *model)
{
  PbfCpuScratch *scratch = pbf_cpu_scratch_new ();
  PbfParams params;
  PbfHistory history;
  PbfRows rows = { .params = &params,
    .history = &history,
    .results = stream->results,
    .frames = g_new (gint32, stream->n),
    .starts = g_new (gint32, stream->n) };
  PbfSums sums;

  pbf_params_init (&params, config);
  pbf_history_init (&history, config->window);
  pbf_stream_poison (stream);
  for (guint i = 0; i < stream->n; i++)
    table->spatial (&params, scratch, stream->frames[i], stream->strides[i],
        &stream->infos[i], &stream->results[i]);
  pbf_rows_find (&rows, stream->infos, stream->n, 0);
  pbf_rows_sum (&rows, 0, &sums);
  table->temporal (&rows, 0, rows.n, &sums);
  for (gint32 r = 0; r < rows.n; r++)
    table->network (&params, model, &stream->results[rows.frames[r]]);
  pbf_stream_compare (stream, stream->n);
  pbf_history_clear (&history);
  g_free (rows.frames);
  g_free (rows.starts);
  pbf_cpu_scratch_free (scratch);
}

/* Every instruction set of this processor. */
static void
run_all_tables (PbfStream *stream, const PbfConfig *config, PbfModel *model)
{
  run_table (&pbf_cpu_generic, stream, config, model);
#if defined(__x86_64__)
  if (cvis_cpu_level () >= CVIS_CPU_V3)
    run_table (&pbf_cpu_v3, stream, config, model);
  if (cvis_cpu_level () >= CVIS_CPU_V4)
    run_table (&pbf_cpu_v4, stream, config, model);
#endif
}

static void
test_instruction_sets (void)
{
  PbfRandom random = { (guint64) g_test_rand_int () };

  for (guint round = 0; round < 8; round++) {
    PbfConfig config;
    PbfModel *model = pbf_random_model (&random, 164, 2);
    PbfStream *stream;

    pbf_random_config (&random, round, &config);
    stream = pbf_stream_new (&random, &config, model, 150);
    run_all_tables (stream, &config, model);
    pbf_stream_free (stream);
    pbf_model_unref (model);
  }
}

/* Every region size, with all instruction sets of this processor. */
static void
test_roi_sizes (void)
{
  PbfRandom random = { (guint64) g_test_rand_int () };
  PbfModel *model = pbf_random_model (&random, 32, 2);

  for (guint size = PBF_MIN_ROI; size <= PBF_MAX_ROI; size += 8) {
    PbfConfig config;
    PbfStream *stream;

    pbf_random_config (&random, size, &config);
    config.roi_size = size;
    config.width = size + pbf_random_below (&random, 60);
    config.height = size + pbf_random_below (&random, 60);
    stream = pbf_stream_new (&random, &config, model, 60);
    run_all_tables (stream, &config, model);
    pbf_stream_free (stream);
  }
  pbf_model_unref (model);
}

/* --- the brightest spot --------------------------------------------------- */

#define SPOT_SIDE 96

static void
fill_box (guint8 *frame, guint x, guint y, guint width, guint height, guint8 v)
{
  for (guint k = 0; k < height; k++)
    memset (frame + (gsize) (y + k) * SPOT_SIDE + x, v, width);
}

/* Expected position of the melt pool of @frame in whole pixels. Returns: the
 * record */
static CvisPbfResult
locate (const guint8 *frame, PbfPosition position, gint *x, gint *y)
{
  const guint8 *frames[] = { frame };
  guint strides[] = { SPOT_SIDE };
  PbfFrameInfo info = { .position = position, .entry = PBF_ENTER };
  CvisPbfResult result;
  PbfBatch batch = { .n = 1,
    .frames = frames,
    .strides = strides,
    .infos = &info,
    .results = &result },
           *done;
  PbfConfig config;
  PbfEngine *engine;

  pbf_config_init (&config);
  engine = pbf_engine_new (&config, NULL, NULL, NULL);
  g_assert_true (pbf_engine_submit (engine, &batch, NULL));
  g_assert_true (pbf_engine_wait (engine, &done, NULL));
  pbf_engine_free (engine);
  *x = (result.e_x_q8 - 128) / 256;
  *y = (result.e_y_q8 - 128) / 256;
  return result;
}

#define ASSERT_LOCATED(position, want_x, want_y)                               \
  locate (frame, position, &x, &y);                                            \
  g_assert_cmpint (x, ==, want_x);                                             \
  g_assert_cmpint (y, ==, want_y)

static void
test_brightest (void)
{
  guint8 frame[SPOT_SIDE * SPOT_SIDE] = { 0 };
  gint x, y;

  /* nothing: the first pixel */
  ASSERT_LOCATED (PBF_POSITION_BRIGHTEST, 0, 0);
  ASSERT_LOCATED (PBF_POSITION_BRIGHTEST_PIXEL, 0, 0);
  /* a saturated spatter of 9 pixels above a melt pool of 300, 100 of them
   * saturated */
  fill_box (frame, 10, 5, 3, 3, 255);
  fill_box (frame, 40, 50, 20, 15, 150);
  fill_box (frame, 45, 52, 10, 10, 255);
  ASSERT_LOCATED (PBF_POSITION_BRIGHTEST, 46, 53);
  ASSERT_LOCATED (PBF_POSITION_BRIGHTEST_PIXEL, 11, 6);
  /* a plume as large as the pool, but dimmer, does not count */
  fill_box (frame, 60, 70, 20, 15, 110);
  ASSERT_LOCATED (PBF_POSITION_BRIGHTEST, 46, 53);
  /* of equal components the first one */
  memset (frame, 0, sizeof frame);
  fill_box (frame, 70, 80, 4, 4, 255);
  fill_box (frame, 20, 30, 4, 4, 255);
  ASSERT_LOCATED (PBF_POSITION_BRIGHTEST, 21, 31);
  /* no pixel reaches the threshold: the first pixel with the largest sum */
  memset (frame, 0, sizeof frame);
  fill_box (frame, 60, 10, 3, 3, 50);
  fill_box (frame, 20, 30, 5, 5, 50);
  ASSERT_LOCATED (PBF_POSITION_BRIGHTEST, 61, 11);
  ASSERT_LOCATED (PBF_POSITION_BRIGHTEST_PIXEL, 61, 11);
}

/* The pool is found although a spatter is brighter, and the record says how sure
 * that is. */
static void
test_unsaturated_pool (void)
{
  guint8 frame[SPOT_SIDE * SPOT_SIDE] = { 0 };
  CvisPbfResult result;
  gint x, y;

  /* alone: sure */
  fill_box (frame, 40, 50, 12, 9, 150);
  fill_box (frame, 44, 53, 4, 3, 190);
  result = locate (frame, PBF_POSITION_BRIGHTEST, &x, &y);
  g_assert_cmpint (x, ==, 45);
  g_assert_cmpint (y, ==, 54);
  g_assert_cmpuint (result.position_confidence, ==, 65536);
  g_assert_cmpuint (result.flags & CVIS_PBF_RESULT_POSITION_UNSURE, ==, 0);
  /* beside a saturated spatter of 9 pixels: 108 * (108 * 51 + 12 * 40) against 9 *
   * 9 * 156 */
  fill_box (frame, 10, 5, 3, 3, 255);
  result = locate (frame, PBF_POSITION_BRIGHTEST, &x, &y);
  g_assert_cmpint (x, ==, 45);
  g_assert_cmpint (y, ==, 54);
  g_assert_cmpuint (result.position_confidence, ==,
      (guint) (65536.0 * (646704.0 / (646704.0 + 12636.0))));
  g_assert_cmpuint (result.flags & CVIS_PBF_RESULT_POSITION_UNSURE, ==, 0);
  locate (frame, PBF_POSITION_BRIGHTEST_PIXEL, &x, &y);
  g_assert_cmpint (x, ==, 11);
  g_assert_cmpint (y, ==, 6);
  /* two pools, as of two lasers: unsure */
  fill_box (frame, 70, 20, 12, 9, 150);
  result = locate (frame, PBF_POSITION_BRIGHTEST, &x, &y);
  g_assert_cmpint (x, ==, 45);
  g_assert_cmpuint (result.flags & CVIS_PBF_RESULT_POSITION_UNSURE, !=, 0);
  g_assert_cmpuint (result.position_confidence, >, 32768);
  g_assert_cmpuint (result.position_confidence, <, 65536 * 4 / 5);
  /* other sources do not compare components */
  result = locate (frame, PBF_POSITION_CENTROID, &x, &y);
  g_assert_cmpuint (result.position_confidence, ==, 0);
  /* no component */
  memset (frame, 20, sizeof frame);
  result = locate (frame, PBF_POSITION_BRIGHTEST, &x, &y);
  g_assert_cmpuint (result.position_confidence, ==, 0);
  g_assert_cmpuint (result.flags & CVIS_PBF_RESULT_POSITION_UNSURE, ==, 0);
}

/* Simulated melt pools at 60 % of their brightness, each with a saturated spatter of
 * 4 x 4 pixels 30 pixels off: the position is the pool's in every frame, in batches of
 * any size. */
static void
test_simulated_unsaturated_pool (void)
{
  enum { N = 100 };
  PbfSimConfig scene = { SPOT_SIDE, SPOT_SIDE, 20000, 1, 7, PBF_SIM_NOMINAL };
  PbfSim *sim = pbf_sim_new (&scene, NULL);
  guint8 (*pixels)[SPOT_SIDE * SPOT_SIDE] = g_malloc (N * sizeof *pixels);
  const guint8 *frames[N];
  guint strides[N];
  PbfFrameInfo infos[N] = { 0 };
  CvisPbfResult single[N], together[N];
  PbfSimTruth truth[N];
  PbfConfig config;
  PbfEngine *engine;

  pbf_config_init (&config);
  config.max_batch = N;
  for (guint n = 0, number = 0; n < N; number++) {
    CvisPbfSignal signal;
    gint x, y;

    pbf_sim_render (sim, number, pixels[n], SPOT_SIDE, &signal, &truth[n]);
    if (!truth[n].laser_on || truth[n].n_spatters > 0)
      continue;
    for (guint i = 0; i < sizeof *pixels; i++)
      pixels[n][i] = (guint8) (pixels[n][i] * 3 / 5);
    x = (gint) truth[n].pool_x + (truth[n].pool_x < 48 ? 30 : -30);
    y = CLAMP ((gint) truth[n].pool_y, 0, SPOT_SIDE - 4);
    fill_box (pixels[n], x, y, 4, 4, 255);
    frames[n] = pixels[n];
    strides[n] = SPOT_SIDE;
    infos[n].frame_index = n;
    infos[n].position = PBF_POSITION_BRIGHTEST;
    infos[n++].entry = PBF_ENTER;
  }
  for (guint size = 1; size <= N; size *= N) {
    CvisPbfResult *results = size == 1 ? single : together;

    engine = pbf_engine_new (&config, NULL, NULL, NULL);
    for (guint i = 0; i < N; i += size) {
      PbfBatch batch = { .n = size,
        .frames = frames + i,
        .strides = strides + i,
        .infos = infos + i,
        .results = results + i },
               *done;

      g_assert_true (pbf_engine_submit (engine, &batch, NULL));
      g_assert_true (pbf_engine_wait (engine, &done, NULL));
    }
    pbf_engine_free (engine);
  }
  g_assert_cmpmem (single, sizeof single, together, sizeof together);
  for (guint i = 0; i < N; i++) {
    g_assert_cmpfloat (
        fabs (single[i].e_x_q8 / 256.0 - truth[i].pool_x), <, 10.0);
    g_assert_cmpfloat (
        fabs (single[i].e_y_q8 / 256.0 - truth[i].pool_y), <, 10.0);
    g_assert_cmpuint (single[i].position_confidence, >, 32768);
  }
  g_free (pixels);
  pbf_sim_free (sim);
}

/* Batches in flight return in order; one too many is refused; a reset clears
 * the window. */
static void
test_in_flight (void)
{
  PbfRandom random = { 5 };
  PbfConfig config;
  PbfEngine *engine;
  PbfStream *stream;
  PbfBatch batches[4], *done;
  GError *error = NULL;

  pbf_config_init (&config);
  stream = pbf_stream_new (&random, &config, NULL, 400);
  engine = pbf_engine_new (&config, NULL, NULL, &error);
  g_assert_no_error (error);
  for (guint b = 0; b < 4; b++)
    pbf_stream_batch (stream, 100 * b, 100, &batches[b]);
  for (guint b = 0; b < 3; b++)
    g_assert_true (pbf_engine_submit (engine, &batches[b], &error));
  g_assert_false (pbf_engine_submit (engine, &batches[3], &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
  g_clear_error (&error);
  for (guint b = 0; b < 3; b++) {
    g_assert_true (pbf_engine_wait (engine, &done, &error));
    g_assert_true (done == &batches[b]);
  }
  g_assert_true (pbf_engine_wait (engine, &done, &error));
  g_assert_null (done);
  pbf_stream_compare (stream, 300);

  pbf_engine_reset (engine);
  g_assert_true (pbf_engine_submit (engine, &batches[0], &error));
  g_assert_true (pbf_engine_wait (engine, &done, &error));
  pbf_stream_compare (stream, 100);

  batches[0].n = config.max_batch + 1;
  g_assert_false (pbf_engine_submit (engine, &batches[0], &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
  g_clear_error (&error);
  pbf_engine_free (engine);
  pbf_stream_free (stream);
}

/* --- submitted in one thread, waited for in another ----------------------- */

typedef struct {
  PbfEngine *engine;
  guint n;                        /* batches */
  GAsyncQueue *spare, *submitted; /* of PbfBatch */
} Line;

static gpointer
wait_for_batches (gpointer data)
{
  Line *line = data;

  for (guint b = 0; b < line->n; b++) {
    gpointer expected = g_async_queue_pop (line->submitted);
    PbfBatch *done;

    g_assert_true (pbf_engine_wait (line->engine, &done, NULL));
    g_assert_true (done == expected);
    g_async_queue_push (line->spare, done);
  }
  return NULL;
}

/* Batches of changing sizes, including some too small to be shared. */
static void
run_line (Line *line, PbfRandom *random, PbfStream *stream, guint max_batch)
{
  guint sizes[400], first = 0;
  GThread *thread;

  for (line->n = 0; first < stream->n; first += sizes[line->n++])
    sizes[line->n] = 1 + pbf_random_below (random, MIN (max_batch, 400));
  thread = g_thread_new ("wait", wait_for_batches, line);
  first = 0;
  for (guint b = 0; b < line->n; first += sizes[b++]) {
    PbfBatch *batch = g_async_queue_pop (line->spare);

    pbf_stream_batch (stream, first, sizes[b], batch);
    g_assert_true (pbf_engine_submit (line->engine, batch, NULL));
    g_async_queue_push (line->submitted, batch);
  }
  g_thread_join (thread);
  pbf_stream_compare (stream, stream->n);
}

static void
test_two_threads (void)
{
  static const guint max_batches[] = { 1, 9, 60, 150 };
  PbfRandom random = { (guint64) g_test_rand_int () };

  for (guint round = 0; round < 12; round++) {
    PbfBatch batches[16];
    PbfConfig config;
    PbfModel *model = pbf_random_model (&random, 32, 2);
    PbfStream *stream;
    Line line = { .spare = g_async_queue_new (),
      .submitted = g_async_queue_new () };

    pbf_random_config (&random, round, &config);
    config.threads = 1 + round % 4;
    config.depth = 2 + pbf_random_below (&random, 15);
    config.max_batch = max_batches[round % G_N_ELEMENTS (max_batches)];
    stream = pbf_stream_new (&random, &config, model, 200);
    line.engine = pbf_engine_new (&config, model, NULL, NULL);
    for (guint k = 0; k < config.depth; k++)
      g_async_queue_push (line.spare, &batches[k]);
    for (guint again = 0; again < 3; again++) {
      pbf_stream_poison (stream);
      run_line (&line, &random, stream, config.max_batch);
      pbf_engine_reset (line.engine);
    }
    pbf_engine_free (line.engine);
    g_async_queue_unref (line.spare);
    g_async_queue_unref (line.submitted);
    pbf_stream_free (stream);
    pbf_model_unref (model);
  }
}

static void
refuse (const PbfConfig *config, const gchar *words)
{
  GError *error = NULL;

  g_assert_null (pbf_engine_new (config, NULL, NULL, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
  if (strstr (error->message, words) == NULL)
    g_error ("\"%s\" does not name \"%s\"", error->message, words);
  g_error_free (error);
}

static void
test_settings (void)
{
  PbfConfig good, bad;

  pbf_config_init (&good);
  g_assert_true (pbf_config_check (&good, NULL));
#define REFUSE(field, value, words)                                            \
  bad = good;                                                                  \
  bad.field = value;                                                           \
  refuse (&bad, words)
  REFUSE (width, 39, "width is 39");
  REFUSE (height, 20000, "height");
  REFUSE (threshold, 0, "threshold");
  REFUSE (threshold, 256, "threshold");
  REFUSE (connectivity, 6, "connectivity is 6");
  REFUSE (search_radius, -1.0, "search radius");
  REFUSE (search_radius, NAN, "search radius");
  REFUSE (roi_align, 3, "alignment is 3");
  REFUSE (roi_size, 24, "region of interest is 24");
  REFUSE (roi_size, 33, "region of interest is 33");
  REFUSE (roi_size, 136, "region of interest is 136");
  REFUSE (roi_size, 128, "width is 96, must be 128");
  REFUSE (min_spatter_area, 0, "spatter area");
  REFUSE (polar_outer, 58.0, "outer");
  REFUSE (polar_inner, 21.0, "inner");
  REFUSE (window, 0, "window");
  REFUSE (window, 1025, "window");
  REFUSE (max_batch, 0, "batch");
  REFUSE (depth, 1, "flight");
#undef REFUSE
  g_assert_cmpstr (pbf_feature_name (0), ==, "mp_area");
  g_assert_cmpstr (pbf_feature_name (39), ==, "var_hog_8");
}

/* The integer limits of the HOG's bins and of the sectors match the true
 * tangents for every possible gradient of 8-bit pixels; the polynomials have
 * the stated accuracy. */
static void
test_formulas (void)
{
  for (gint gx = -255; gx <= 255; gx++) {
    for (gint gy = -255; gy <= 255; gy++) {
      gdouble angle = atan2 (gy, gx) * 180.0 / G_PI;
      gint bin = (gint) floor ((angle < 0 ? angle + 180.0 : angle) / 20.0);
      gint sector = (gint) floor ((angle < 0 ? angle + 360.0 : angle) / 60.0);

      g_assert_cmpfloat_with_epsilon (
          pbf_gradient_q16 (gx, gy) / 65536.0, hypot (gx, gy), 2e-5);
      if (gx == 0 && gy == 0)
        continue;
      /* 180 degrees equals 0 */
      g_assert_cmpint (pbf_hog_bin (gx, gy), ==, bin == 9 ? 0 : bin);
      g_assert_cmpint (pbf_sector (gx, gy), ==, sector);
      g_assert_cmpfloat_with_epsilon (pbf_atan2_deg (gy, gx), angle, 1e-3);
    }
  }
  for (gdouble x = -86.0; x < 88.0; x += 0.0137)
    g_assert_cmpfloat_with_epsilon (
        pbf_exp ((gfloat) x) / exp ((gfloat) x), 1.0, 3e-7);
}

/* The product with the reciprocal gives the same bits as the division. */
static void
test_variance (void)
{
  static const gfloat scales[] = { 1.0f, 256.0f, 65536.0f };

  for (gint64 n = 1; n <= 1024; n++) {
    gdouble per_square = 1.0 / (gdouble) (n * n);

    for (guint k = 0; k < 300; k++) {
      guint64 bits = (guint64) (guint32) g_test_rand_int () << 32
                     | (guint32) g_test_rand_int ();
      gint64 numerator = (gint64) (bits >> (1 + k % 63));
      gfloat scale = scales[k % 3];

      if (k % 5 == 0)
        numerator -= numerator % (n * n);
      g_assert_cmpfloat (
          pbf_variance_times (numerator, n, per_square, 1.0f / scale), ==,
          pbf_variance (numerator, n, scale));
    }
  }
}

/* Weights that overflow give the same bit pattern on all processors. */
static void
test_not_a_number (void)
{
  for (gint activation = 0; activation <= PBF_ACTIVATION_SOFTMAX_UNKNOWN;
       activation++) {
    gfloat out[] = { -NAN, NAN, (gfloat) (INFINITY - INFINITY) };
    guint32 bits[G_N_ELEMENTS (out)];

    pbf_activate (out, G_N_ELEMENTS (out), activation);
    memcpy (bits, out, sizeof bits);
    for (guint k = 0; k < G_N_ELEMENTS (out); k++)
      g_assert_cmphex (bits[k], ==, 0x7fc00000);
  }
}

/* Softmax over the classes, and the last one's part of all. */
static void
test_unknown_activation (void)
{
  gfloat out[] = { 1, 2, -3, 1.5f }, all[4];

  memcpy (all, out, sizeof all);
  pbf_activate (all, 4, PBF_ACTIVATION_SOFTMAX);
  pbf_activate (out, 4, PBF_ACTIVATION_SOFTMAX_UNKNOWN);
  g_assert_cmpfloat (fabsf (out[3] - all[3]), <, 1e-6f);
  for (guint k = 0; k < 3; k++)
    g_assert_cmpfloat (fabsf (out[k] - all[k] / (1 - all[3])), <, 1e-6f);
  out[0] = out[1] = -200;
  out[2] = 300;
  pbf_activate (out, 3, PBF_ACTIVATION_SOFTMAX_UNKNOWN);
  g_assert_cmpfloat (out[0], ==, 0.5f);
  g_assert_cmpfloat (out[2], ==, 1);
}

/* 20,000 frames/s and an unknown rate get 8 blocks; never fewer for a higher rate. */
static void
test_parallel_frames (void)
{
  guint least = 1;

  g_assert_cmpuint (pbf_choose_parallel_frames (0), ==, 8);
  g_assert_cmpuint (pbf_choose_parallel_frames (1000), ==, 1);
  g_assert_cmpuint (pbf_choose_parallel_frames (20000), ==, 8);
  g_assert_cmpuint (pbf_choose_parallel_frames (300000), ==, 8);
  g_assert_cmpuint (pbf_choose_parallel_frames (400000), ==, 16);
  g_assert_cmpuint (pbf_choose_parallel_frames (700000), ==, 32);
  for (gdouble rate = 1; rate < 1e9; rate *= 1.5) {
    const guint blocks = pbf_choose_parallel_frames (rate);

    g_assert_cmpuint (blocks, >=, least);
    g_assert_cmpuint (blocks, <=, 64);
    least = blocks;
  }
  g_assert_cmpuint (least, ==, 64);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pbfengine/formulas", test_formulas);
  g_test_add_func ("/pbfengine/variance", test_variance);
  g_test_add_func ("/pbfengine/not-a-number", test_not_a_number);
  g_test_add_func ("/pbfengine/unknown-activation", test_unknown_activation);
  g_test_add_func ("/pbfengine/settings", test_settings);
  g_test_add_func ("/pbfengine/parallel-frames", test_parallel_frames);
  g_test_add_func ("/pbfengine/instruction-sets", test_instruction_sets);
  g_test_add_func ("/pbfengine/roi-sizes", test_roi_sizes);
  g_test_add_func ("/pbfengine/brightest", test_brightest);
  g_test_add_func ("/pbfengine/unsaturated-pool", test_unsaturated_pool);
  g_test_add_func (
      "/pbfengine/simulated-unsaturated-pool", test_simulated_unsaturated_pool);
  g_test_add_func ("/pbfengine/against-reference", test_against_reference);
  g_test_add_func ("/pbfengine/in-flight", test_in_flight);
  g_test_add_func ("/pbfengine/two-threads", test_two_threads);
  return g_test_run ();
}
