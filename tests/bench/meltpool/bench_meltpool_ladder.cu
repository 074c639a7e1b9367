/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The optimisation steps of the paper (see cuda/meltpool/engine.h) for one
 * frame at a time on a GPU, reimplemented one by one, with the engine as the
 * last step: the effect of each step on the GPU in use. Then 1 to 64 frames
 * in parallel. 96x96 frames in pinned memory, 40x40 ROI, window 20,
 * network 40-164-2; a frame's time runs from the frame in host memory to its
 * record in host memory. All records are compared with those of the CPU
 * backend.
 *
 * The paper's steps as interpreted here, one warp for each task of a frame:
 *
 *   initial kernels       a kernel for each of the seven tasks; the whole frame is
 *                         copied, and the host decides after the first kernel
 *                         whether to continue
 *   pruning               only the ROI crosses the bus, read by the kernels
 *   fusion                three kernels: class and position, features, window and
 *                         network
 *   unconditional launch  the kernels decide instead of the host
 *   grid-wide barrier     one cooperative kernel, a block for each group of features
 *   persistent kernel     the engine with mode=persistent
 *
 *   bench_meltpool_ladder [frames] */
#include <cooperative_groups.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "benchring.h"
#include "cuda/core/device/cuda.cuh"
#include "cuda/core/histogram.h"
#include "cuda/core/memory.h"
#include "cuda/meltpool/cuda/network.cuh"
#include "cuda/meltpool/cuda/spatial.cuh"
#include "pbfframes.h"

namespace {

const guint RING = 256, WINDOW = 20;

/* Data passed between the tasks, in device memory. */
struct State {
  PbfDeviceFrame frame;
  guint entry, n;
  gint pool_number;
  guint32 roi[SIDE * PITCH];
  Rows pool[32];
  PbfDeviceScratch scratch;
  alignas (16) CvisPbfResult result;
  guint32 rows_in_window, oldest;
  gint32 rows[WINDOW][CVIS_PBF_N_SPATIAL];
  gint64 s1[CVIS_PBF_N_SPATIAL], s2[CVIS_PBF_N_SPATIAL];
  alignas (16) gfloat x[CVIS_PBF_N_FEATURES][PBF_NETWORK_ROWS];
};

struct Settings {
  PbfParams params;
  PbfDeviceModel model;
};

/* --- the tasks, each by one warp ------------------------------------------ */

__device__ void
find_roi (const Settings &c, State &s)
{
  guint entry = pbf_begin_frame (c.params, s.frame, SIDE, &s.result);

  if (pbf_lane () == 0)
    s.entry = entry;
}

__device__ gint32
position_in_roi (gint32 e_q8, gint32 start)
{
  return pbf_clamp_reach ((gint64) e_q8 - 256 * start, SIDE);
}

__device__ void
segment (const Settings &c, State &s)
{
  guint lane = pbf_lane ();
  guint32 threshold = (guint32) c.params.threshold * 0x01010101u;
  gint32 ex = position_in_roi (s.result.e_x_q8, s.result.roi_x);
  gint32 ey = position_in_roi (s.result.e_y_q8, s.result.roi_y);
  gint pool_number;
  Rows mask, pool;

  load_roi (s.frame, s.result.roi_x, s.result.roi_y, s.roi, lane, 32);
  __syncwarp ();
  mask.low = threshold_row (s.roi + lane * PITCH, threshold);
  mask.high =
      lane < 8 ? threshold_row (s.roi + (32 + lane) * PITCH, threshold) : 0;
  guint n = label_by_runs (c.params, mask, ex, ey, s.scratch.components,
      s.scratch.parents, &pool_number, &pool);
  s.pool[lane] = pool;
  if (lane == 0) {
    s.n = n;
    s.pool_number = pool_number;
  }
}

__device__ void
measure_shapes (const Settings &c, State &s)
{
  measure_pool (s.roi, s.pool[pbf_lane ()], &s.result);
  __syncwarp ();
  measure_spatters (
      c.params, s.scratch.components, s.n, s.pool_number, &s.result);
}

__device__ void
measure_zones (const Settings &c, State &s)
{
  measure_polar (c.params, s.roi,
      position_in_roi (s.result.e_x_q8, s.result.roi_x),
      position_in_roi (s.result.e_y_q8, s.result.roi_y), &s.result);
}

__device__ void
enter_window (const Settings &c, State &s)
{
  guint f = pbf_lane ();
  bool full = s.rows_in_window == WINDOW;
  guint32 n = s.rows_in_window + !full, oldest = s.oldest;

  if (f < CVIS_PBF_N_SPATIAL) {
    gint64 v = s.result.raw[f], gone = full ? s.rows[oldest][f] : 0;
    gint64 s1 = s.s1[f] + v - gone, s2 = s.s2[f] + v * v - gone * gone;
    gint64 numerator = n * s2 - s1 * s1;

    s.rows[full ? oldest : n - 1][f] = (gint32) v;
    s.s1[f] = s1;
    s.s2[f] = s2;
    s.result.features[f] = (gfloat) v / pbf_scale (f);
    s.result.var_num[f] = numerator;
    s.result.features[CVIS_PBF_N_SPATIAL + f] =
        pbf_variance (numerator, n, pbf_scale (f));
    for (guint q = 0; q < PBF_NETWORK_ROWS; q++) {
      s.x[f][q] = s.result.features[f];
      s.x[CVIS_PBF_N_SPATIAL + f][q] =
          s.result.features[CVIS_PBF_N_SPATIAL + f];
    }
  }
  __syncwarp ();
  if (f == 0) {
    s.rows_in_window = n;
    s.oldest = full ? (oldest + 1) % WINDOW : 0;
    s.result.window_n = n;
    if (n < WINDOW)
      s.result.flags |= CVIS_PBF_RESULT_WARMUP;
  }
  __syncwarp ();
}

__device__ void
judge (const Settings &c, State &s)
{
  const gint32 first = 0;

  pbf_run_network (c.params, c.model, &s.result, &first, 0, 1, s.x);
}

/* --- the kernels ---------------------------------------------------------- */

typedef void (*Task) (const Settings &, State &);

template <Task... TASKS>
__global__ void
task_kernel (const __grid_constant__ Settings c, State *s)
{
  ((TASKS (c, *s), __syncwarp ()), ...);
}

template <Task... TASKS>
__global__ void
task_kernel_if_entered (const __grid_constant__ Settings c, State *s)
{
  if (s->entry != PBF_EMPTY)
    ((TASKS (c, *s), __syncwarp ()), ...);
}

__device__ void
measure_gradients (const Settings &, State &s)
{
  measure_hog (s.roi, &s.result);
}

/* Block 0 prepares, three blocks measure, block 0 continues. */
__global__ void
barrier_kernel (const __grid_constant__ Settings c, State *state)
{
  cooperative_groups::grid_group grid = cooperative_groups::this_grid ();
  State &s = *state;

  if (blockIdx.x == 0) {
    find_roi (c, s);
    __syncwarp ();
    if (s.entry != PBF_EMPTY)
      segment (c, s);
  }
  grid.sync ();
  if (s.entry == PBF_EMPTY)
    return;
  if (blockIdx.x == 0)
    measure_shapes (c, s);
  else if (blockIdx.x == 1)
    measure_zones (c, s);
  else
    measure_gradients (c, s);
  grid.sync ();
  if (blockIdx.x == 0) {
    enter_window (c, s);
    judge (c, s);
  }
}

/* --- steps --------------------------------------------------------------- */

enum Rung { INITIAL, PRUNED, FUSED, UNCONDITIONAL, BARRIER, N_RUNGS };

const char *const rung_names[] = { "initial kernels", "pruning", "fusion",
  "unconditional launch", "grid-wide barrier" };

struct Bench {
  CvisContext *context;
  PbfModel *model;
  BenchRing *ring; /* frames in pinned memory */
  CvisPbfResult *expected, *results;
  Settings settings;
  State *state;
  PbfDeviceFrame *frame; /* pinned */
  guint *entry;          /* pinned */
  guint8 *pixels;        /* device */
  cudaStream_t stream;
};

void
check (gboolean ok, GError **error)
{
  if (ok)
    return;
  fprintf (stderr, "%s\n", *error ? (*error)->message : "failed");
  exit (*error && (*error)->code == CVIS_ERROR_NO_DEVICE ? 77 : 1);
}

void
check_cuda (cudaError_t code)
{
  if (code == cudaSuccess)
    return;
  fprintf (stderr, "%s\n", cudaGetErrorString (code));
  exit (1);
}

/* The host decides whether to continue, in the steps where it does. */
bool
is_entered (const Bench &b)
{
  check_cuda (cudaMemcpyAsync (b.entry, &b.state->entry, sizeof *b.entry,
      cudaMemcpyDeviceToHost, b.stream));
  check_cuda (cudaStreamSynchronize (b.stream));
  return *b.entry != PBF_EMPTY;
}

void
run_frame (Bench &b, Rung rung, guint i, CvisPbfResult *result)
{
  const BenchRing *ring = b.ring;
  const Settings &c = b.settings;
  State *s = b.state;
  gsize bytes = (gsize) ring->strides[i] * c.params.height;
  cudaStream_t stream = b.stream;

  b.frame->info = ring->infos[i];
  b.frame->position = i;
  b.frame->frame = rung == INITIAL ? b.pixels : ring->frames[i];
  b.frame->stride = ring->strides[i];
  if (rung == INITIAL)
    check_cuda (cudaMemcpyAsync (
        b.pixels, ring->frames[i], bytes, cudaMemcpyHostToDevice, stream));
  check_cuda (cudaMemcpyAsync (
      &s->frame, b.frame, sizeof *b.frame, cudaMemcpyHostToDevice, stream));
  if (rung == BARRIER) {
    void *args[] = { (void *) &c, (void *) &s };

    check_cuda (cudaLaunchCooperativeKernel (
        (const void *) barrier_kernel, 3, 32, args, 0, stream));
  } else if (rung == UNCONDITIONAL) {
    task_kernel<find_roi><<<1, 32, 0, stream>>> (c, s);
    task_kernel_if_entered<segment, measure_shapes, measure_zones,
        measure_gradients><<<1, 32, 0, stream>>> (c, s);
    task_kernel_if_entered<enter_window, judge><<<1, 32, 0, stream>>> (c, s);
  } else {
    task_kernel<find_roi><<<1, 32, 0, stream>>> (c, s);
    if (is_entered (b) && rung == FUSED) {
      task_kernel<segment, measure_shapes, measure_zones, measure_gradients>
          <<<1, 32, 0, stream>>> (c, s);
      task_kernel<enter_window, judge><<<1, 32, 0, stream>>> (c, s);
    } else if (*b.entry != PBF_EMPTY) {
      task_kernel<segment><<<1, 32, 0, stream>>> (c, s);
      task_kernel<measure_shapes><<<1, 32, 0, stream>>> (c, s);
      task_kernel<measure_zones><<<1, 32, 0, stream>>> (c, s);
      task_kernel<measure_gradients><<<1, 32, 0, stream>>> (c, s);
      task_kernel<enter_window><<<1, 32, 0, stream>>> (c, s);
      task_kernel<judge><<<1, 32, 0, stream>>> (c, s);
    }
  }
  check_cuda (cudaMemcpyAsync (
      result, &s->result, sizeof *result, cudaMemcpyDeviceToHost, stream));
  check_cuda (cudaStreamSynchronize (stream));
  check_cuda (cudaGetLastError ());
}

void
print_times (const char *name, guint parallel, const CvisHistogram *latency,
    guint64 frames, guint64 ns)
{
  printf ("%-22s %3u %9.1f %9.1f %9.1f %12.0f\n", name, parallel,
      cvis_histogram_percentile (latency, 0.5) / 1e3,
      cvis_histogram_percentile (latency, 0.99) / 1e3,
      cvis_histogram_percentile (latency, 0.999) / 1e3, frames * 1e9 / ns);
}

void
compare (const Bench &b, const char *name)
{
  for (guint i = 0; i < RING; i++)
    if (memcmp (&b.results[i], &b.expected[i], sizeof *b.results) != 0) {
      fprintf (stderr, "%s: the record of frame %u differs\n", name, i);
      exit (1);
    }
}

void
climb (Bench &b, Rung rung, guint frames)
{
  CvisHistogram latency;
  guint64 begin;

  cvis_histogram_clear (&latency);
  check_cuda (cudaMemset (b.state, 0, sizeof *b.state));
  for (guint i = 0; i < RING; i++)
    run_frame (b, rung, i, &b.results[i]);
  compare (b, rung_names[rung]);
  begin = cvis_monotonic_ns ();
  for (guint i = 0; i < frames; i++) {
    guint64 start = cvis_monotonic_ns ();

    run_frame (b, rung, i % RING, &b.results[i % RING]);
    cvis_histogram_add (&latency, cvis_monotonic_ns () - start, 1);
  }
  print_times (
      rung_names[rung], 1, &latency, frames, cvis_monotonic_ns () - begin);
}

/* The engine with @n frames at a time; without @context on the CPU. */
void
run_engine (Bench &b, const char *name, CvisContext *context, PbfMode mode,
    guint n, guint frames)
{
  PbfConfig config;
  PbfEngine *engine;
  CvisHistogram latency;
  GError *error = NULL;
  guint64 begin = 0;

  pbf_config_init (&config);
  config.mode = mode;
  config.max_batch = n;
  config.parallel_frames = n;
  config.spin_us = 100000;
  config.idle_sleep_ns = 0;
  engine = pbf_engine_new (&config, b.model, context, &error);
  check (engine != NULL, &error);
  cvis_histogram_clear (&latency);
  frames = (frames + RING - 1) / RING * RING;
  for (guint i = 0; i < RING + frames; i += n) {
    guint at = i % RING;
    PbfBatch batch = {}, *done;
    guint64 start = cvis_monotonic_ns ();

    if (i == RING) {
      compare (b, name);
      begin = start;
    }
    batch.n = n;
    batch.frames = b.ring->frames + at;
    batch.strides = b.ring->strides + at;
    batch.infos = b.ring->infos + at;
    batch.pinned = batch.results_pinned = TRUE;
    batch.results = b.results + at;
    check (pbf_engine_submit (engine, &batch, &error), &error);
    check (pbf_engine_wait (engine, &done, &error), &error);
    if (i >= RING)
      cvis_histogram_add (&latency, cvis_monotonic_ns () - start, 1);
  }
  print_times (name, n, &latency, frames, cvis_monotonic_ns () - begin);
  pbf_engine_free (engine);
}

/* Expected records: the CPU's. */
void
compute_expected (Bench &b)
{
  PbfConfig config;
  PbfBatch batch = {}, *done;
  GError *error = NULL;
  PbfEngine *engine;

  pbf_config_init (&config);
  config.max_batch = RING;
  engine = pbf_engine_new (&config, b.model, NULL, &error);
  check (engine != NULL, &error);
  batch.n = RING;
  batch.frames = b.ring->frames;
  batch.strides = b.ring->strides;
  batch.infos = b.ring->infos;
  batch.results = b.expected;
  check (pbf_engine_submit (engine, &batch, &error), &error);
  check (pbf_engine_wait (engine, &done, &error), &error);
  pbf_engine_free (engine);
  pbf_params_init (&b.settings.params, &config);
}

template <typename T>
void
take_pinned (const Bench &b, T **to, gsize n)
{
  GError *error = NULL;

  *to = (T *) cvis_pinned_alloc (b.context, n * sizeof (T), &error);
  check (*to != NULL, &error);
}

void
init_bench (Bench &b, CvisArena *arena)
{
  PbfRandom random = { 2 };
  GError *error = NULL;
  guint8 *pixels;
  gsize size;

  b.context = cvis_context_new (0, &error);
  check (b.context != NULL, &error);
  check (cvis_context_push (b.context, &error), &error);
  b.model = pbf_random_model (&random, 164, 2);
  b.ring = bench_ring_new (RING);
  size = (gsize) b.ring->strides[0] * 96;
  take_pinned (b, &pixels, RING * size);
  for (guint i = 0; i < RING; i++) {
    memcpy (pixels + i * size, b.ring->frames[i], size);
    b.ring->frames[i] = pixels + i * size;
  }
  b.expected = g_new0 (CvisPbfResult, RING);
  take_pinned (b, &b.results, RING);
  take_pinned (b, &b.frame, 1);
  take_pinned (b, &b.entry, 1);
  compute_expected (b);
  check (pbf_device_model_init (&b.settings.model, arena, b.model, &error),
      &error);
  check_cuda (cudaMalloc ((void **) &b.state, sizeof *b.state));
  check_cuda (cudaMalloc ((void **) &b.pixels, size));
  check_cuda (cudaStreamCreateWithFlags (&b.stream, cudaStreamNonBlocking));
}

} // namespace

int
main (int argc, char **argv)
{
  guint frames = argc > 1 ? (guint) atoi (argv[1]) : 20000;
  CvisArena arena = {};
  Bench b = {};

  init_bench (b, &arena);
  printf ("%-22s %3s %9s %9s %9s %12s\n", "step", "at once", "p50, us",
      "p99, us", "p99.9, us", "frames/s");
  for (guint rung = 0; rung < N_RUNGS; rung++)
    climb (b, (Rung) rung, frames / 4);
  run_engine (
      b, "persistent kernel", b.context, PBF_MODE_PERSISTENT, 1, 2 * frames);
  run_engine (b, "engine, batch", b.context, PBF_MODE_BATCH, 1, frames / 4);
  run_engine (b, "engine, graph", b.context, PBF_MODE_GRAPH, 1, frames / 4);
  run_engine (b, "CPU, 1 thread", NULL, PBF_MODE_BATCH, 1, 2 * frames);
  for (guint n = 2; n <= 64; n *= 2)
    run_engine (
        b, "persistent kernel", b.context, PBF_MODE_PERSISTENT, n, 2 * frames);
  for (guint n = 2; n <= 64; n *= 2)
    run_engine (b, "engine, batch", b.context, PBF_MODE_BATCH, n, frames);
  for (guint n = 2; n <= 64; n *= 2)
    run_engine (b, "CPU, 1 thread", NULL, PBF_MODE_BATCH, n, 2 * frames);
  return 0;
}
