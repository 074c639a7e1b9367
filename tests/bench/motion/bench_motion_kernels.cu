/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Device time of the motion kernels, in microseconds. First for pairs of
 * frames that each wait for the one before: medians over the pairs, between
 * events, of each kernel and of all of them ("all"; of the regularised field "pyramid"
 * is all above level 0, "search" level 0), with the time that the
 * four-differences instruction alone would take for every candidate, at the
 * rate measured in the same run. Then for pairs that overlap as in the
 * engine, which prepares pictures during a search and starts a search before
 * the last one ends where possible: the time of a graph of them, all
 * kernels, divided by the number of pairs ("in a stream"); the clip repeated
 * as separate streams, or forwards and backwards as one continuous stream
 * ("continuous"). For the elimination also the share of candidates left by
 * each level of sums.
 *
 *   bench_motion_kernels [CLIP.y4m ...]     default: those in $CUDAVISION_CLIPS
 *
 * Two synthetic clips of 1920x1080 and 3840x2160 are included: a moving
 * scene, and noise, the worst case. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/core/device/cuda.cuh"
#include "motionclips.h"
#include "cuda/motion/cuda/engine.cuh"
#include "cuda/motion/cuda/warp.cuh"

namespace {

#define MAX_FRAMES 34
#define PICTURES 4      /* in memory at a time */
#define STREAM_PAIRS 24 /* in a graph, at least */
#define LONG_PAIRS 96   /* in a continuous stream */
#define STREAM_ROUNDS 9
enum { LOAD, PYRAMID, SEARCH, FINISH, ALL, N_TIMES };

const char *const time_names[N_TIMES] = { "load", "pyramid", "search", "finish",
  "all" };

void
must (cudaError_t code, const char *what)
{
  if (code == cudaSuccess)
    return;
  fprintf (stderr, "%s: %s (%s)\n", what, cudaGetErrorName (code),
      cudaGetErrorString (code));
  exit (1);
}
#define MUST(call) must ((call), #call)

/* --- the instruction's rate ----------------------------------------------- */

__global__ void
rate_kernel (guint32 *out, guint32 a, guint32 b, guint32 n)
{
  guint32 sums[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };

  a += threadIdx.x;
  for (guint32 i = 0; i < n; i++)
#pragma unroll
    for (guint32 k = 0; k < 64; k++)
      sums[k % 8] = motion_sad4 (k & 1 ? a : b, sums[(k + 3) % 8], sums[k % 8]);
  for (guint32 k = 1; k < 8; k++)
    sums[0] += sums[k];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sums[0];
}

/* Instructions (of threads) a second. */
double
measure_rate (void)
{
  const guint32 threads = 1024, n = 1000;
  int device, processors;
  cudaEvent_t start, stop;
  guint32 *out;
  float ms = 0;

  MUST (cudaGetDevice (&device));
  MUST (cudaDeviceGetAttribute (
      &processors, cudaDevAttrMultiProcessorCount, device));
  MUST (cudaEventCreate (&start));
  MUST (cudaEventCreate (&stop));
  MUST (cudaMalloc ((void **) &out, 2 * processors * threads * sizeof *out));
  for (guint i = 0; i < 4; i++) {
    MUST (cudaEventRecord (start, 0));
    rate_kernel<<<2 * processors, threads>>> (out, 7, 13, n);
    MUST (cudaEventRecord (stop, 0));
    MUST (cudaEventSynchronize (stop));
    MUST (cudaEventElapsedTime (&ms, start, stop));
  }
  MUST (cudaFree (out));
  MUST (cudaEventDestroy (start));
  MUST (cudaEventDestroy (stop));
  return 2.0 * processors * threads * n * 64 / (ms * 1e-3);
}

/* --- frames --------------------------------------------------------------- */

guint32
hash (guint32 x)
{
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

/* A smooth texture that moves 7 and 3 pixels a frame with a little noise; or
 * only noise. */
MotionClip *
make_clip (const char *name, guint width, guint height, bool noise)
{
  MotionClip *clip = g_new0 (MotionClip, 1);

  clip->name = g_strdup (name);
  clip->width = width;
  clip->height = height;
  clip->depth = 8;
  clip->stride = width;
  clip->n = 6;
  clip->luma = g_new0 (guint8 *, clip->n);
  for (guint i = 0; i < clip->n; i++) {
    guint8 *p = clip->luma[i] = (guint8 *) g_malloc ((gsize) width * height);

    for (guint y = 0; y < height; y++)
      for (guint x = 0; x < width; x++) {
        guint u = x + 7 * i, v = y + 3 * i;
        guint grain = hash (x + y * 16384 + i * 0x1000003u) & 255;
        double wave =
            sin (u * 0.11) * cos (v * 0.07) + sin (u * 0.013 + v * 0.019);

        *p++ = (guint8) (noise ? grain
                               : 110 + 40 * wave
                                     + (hash (u / 3 + v / 3 * 8192) & 31)
                                     + (grain & 3));
      }
  }
  return clip;
}

/* --- a run ---------------------------------------------------------------- */

/* Two searches with memory of their own. */
typedef struct {
  MotionConfig config;
  MotionDeviceTask tasks[2];
  MotionTile tile;
  MotionDevicePicture pictures[PICTURES];
  guint8 *memory[PICTURES];
  guint8 *staged;    /* all frames */
  gsize staged_size; /* of each */
  gpointer results[2], fields[2];
  unsigned long long *counters;
  cudaStream_t up, ahead, streams[2];
  short2 *predicted[PICTURES]; /* in a stream */
  cudaEvent_t events[N_TIMES];
  GArray *times[N_TIMES];
} Run;

template <typename T>
T *
carve (guint8 *memory, gsize *at, gsize n)
{
  T *piece = (T *) (memory + *at);

  *at += (n * sizeof (T) + 255) & ~(gsize) 255;
  return piece;
}

/* Like the engine: small pictures without elimination. */
void
choose_full (Run *r)
{
  MUST (motion_prepare_full (&r->config, &r->tile));
  if (r->config.method == MOTION_METHOD_FULL_BRUTE
      || motion_can_eliminate (&r->config, &r->tile))
    return;
  r->config.method = MOTION_METHOD_FULL_BRUTE;
  MUST (motion_prepare_full (&r->config, &r->tile));
}

void
init_task (Run *r, guint which)
{
  MotionDeviceTask *t = &r->tasks[which];
  MotionDeviceField *f = &t->fields[0];
  guint8 *memory;
  gsize at = 0, n, size;

  memset (t, 0, sizeof *t);
  t->config = r->config;
  motion_layout_init (&t->layout, &r->config);
  t->columns = motion_config_get_columns (&r->config);
  t->n_blocks = t->columns * motion_config_get_rows (&r->config);
  t->n_fields = 1;
  n = t->n_blocks;
  MUST (cudaMalloc (&r->results[which], n * 200 + 11 * 256));
  memory = (guint8 *) r->results[which];
  f->predicted = carve<short2> (memory, &at, n);
  t->full_blocks = carve<MotionFullBlock> (memory, &at, n);
  t->progress = carve<MotionFullProgress> (memory, &at, 1);
  f->found = carve<MotionFound> (memory, &at, n);
  f->vectors = carve<CvisMotionVector> (memory, &at, n);
  f->blocks = carve<CvisMotionBlock> (memory, &at, n);
  f->kept = carve<CvisMotionVector> (memory, &at, n);
  MUST (motion_clear_full (t->full_blocks, t->progress, n, r->up));
  MUST (cudaMemsetAsync (f->kept, 0, n * sizeof *f->kept, r->up));
  if (r->config.method != MOTION_METHOD_FIELD)
    return;
  size = motion_field_memory_cut (&r->config, NULL, NULL);
  MUST (cudaMalloc (&r->fields[which], size));
  motion_field_memory_cut (&r->config, (guint8 *) r->fields[which], &t->memory);
  MUST (cudaMemsetAsync (r->fields[which], 0, size, r->up));
}

void
run_init (Run *r, const MotionClip *clip)
{
  const MotionLayout *layout = &r->tasks[0].layout;
  const guint n = MIN (clip->n, MAX_FRAMES);
  gsize size;

  if (r->config.method <= MOTION_METHOD_FULL_BRUTE)
    choose_full (r);
  MUST (cudaStreamCreateWithFlags (&r->up, cudaStreamNonBlocking));
  MUST (cudaStreamCreateWithFlags (&r->ahead, cudaStreamNonBlocking));
  for (guint i = 0; i < 2; i++) {
    MUST (cudaStreamCreateWithFlags (&r->streams[i], cudaStreamNonBlocking));
    init_task (r, i);
  }
  size = motion_picture_cut (&r->config, layout, NULL, NULL);
  for (guint i = 0; i < PICTURES; i++) {
    MUST (cudaMalloc ((void **) &r->memory[i], size));
    motion_picture_cut (&r->config, layout, r->memory[i], &r->pictures[i]);
    MUST (cudaMalloc ((void **) &r->predicted[i],
        r->tasks[0].n_blocks * sizeof *r->predicted[i]));
  }
  r->staged_size = (gsize) layout->staged_pitch * r->config.height;
  MUST (cudaMalloc ((void **) &r->staged, n * r->staged_size));
  for (guint i = 0; i < n; i++)
    MUST (cudaMemcpy2D (r->staged + i * r->staged_size, layout->staged_pitch,
        clip->luma[i], clip->stride, clip->stride, clip->height,
        cudaMemcpyHostToDevice));
  MUST (cudaMalloc (
      (void **) &r->counters, MOTION_N_COUNTERS * sizeof *r->counters));
  MUST (cudaMemset (r->counters, 0, MOTION_N_COUNTERS * sizeof *r->counters));
  for (guint i = 0; i < N_TIMES; i++) {
    MUST (cudaEventCreate (&r->events[i]));
    r->times[i] = g_array_new (FALSE, FALSE, sizeof (float));
  }
  MUST (cudaDeviceSynchronize ());
}

void
run_clear (Run *r)
{
  for (guint i = 0; i < PICTURES; i++) {
    cudaFree (r->memory[i]);
    cudaFree (r->predicted[i]);
  }
  for (guint i = 0; i < 2; i++) {
    cudaFree (r->results[i]);
    cudaFree (r->fields[i]);
    cudaStreamDestroy (r->streams[i]);
  }
  cudaFree (r->staged);
  cudaFree (r->counters);
  cudaStreamDestroy (r->up);
  cudaStreamDestroy (r->ahead);
  for (guint i = 0; i < N_TIMES; i++) {
    cudaEventDestroy (r->events[i]);
    g_array_unref (r->times[i]);
  }
}

/* --- figures -------------------------------------------------------------- */

int
compare (const void *a, const void *b)
{
  float x = *(const float *) a, y = *(const float *) b;

  return (x > y) - (x < y);
}

float
at_rank (GArray *times, double rank)
{
  g_array_sort (times, compare);
  return g_array_index (times, float, (guint) (rank * (times->len - 1)));
}

/* --- pairs one after the other ------------------------------------------- */

/* The parts of a search, each after its event. */
void
launch_search (Run *r, const MotionDeviceTask *t)
{
  const MotionMethod method = r->config.method;
  const bool field = method == MOTION_METHOD_FIELD;
  guint vectors = 0;

  if (field)
    MUST (motion_launch_field_above (t, &vectors, r->up));
  if (method == MOTION_METHOD_FULL || method == MOTION_METHOD_ZONAL)
    MUST (motion_launch_pyramid (t, r->up));
  MUST (cudaEventRecord (r->events[SEARCH], r->up));
  MUST (method == MOTION_METHOD_STEP    ? motion_launch_step (t, r->up)
        : method == MOTION_METHOD_ZONAL ? motion_launch_zonal (t, NULL, r->up)
        : field ? motion_launch_field_level (t, 0, vectors, &vectors, r->up)
                : motion_launch_full (t, &r->tile, r->up));
  MUST (cudaEventRecord (r->events[FINISH], r->up));
  MUST (field ? motion_launch_field_finish (t, vectors, r->up)
              : motion_launch_finish (t, r->up));
}

void
launch (Run *r, const MotionDeviceTask *t, guint frame)
{
  MUST (cudaEventRecord (r->events[LOAD], r->up));
  MUST (motion_launch_load (&r->config, &t->layout,
      r->staged + frame * r->staged_size, 0, &t->current, r->up));
  MUST (cudaEventRecord (r->events[PYRAMID], r->up));
  if (frame > 0)
    launch_search (r, t);
  MUST (cudaEventRecord (r->events[ALL], r->up));
  MUST (cudaStreamSynchronize (r->up));
}

/* Frame @frame searched in the one before. */
void
run_frame (Run *r, guint frame, guint turn)
{
  MotionDeviceTask t = r->tasks[0];
  float ms;

  t.current = r->pictures[frame & 1];
  t.fields[0].reference = r->pictures[~frame & 1];
  t.fields[0].prior = frame > 1 ? r->tasks[~frame & 1].fields[0].kept : NULL;
  t.fields[0].kept = r->tasks[frame & 1].fields[0].kept;
  t.counters = turn == 0 ? r->counters : NULL;
  launch (r, &t, frame);
  if (frame == 0 || turn == 0) /* the first round warms up */
    return;
  for (guint i = 0; i < N_TIMES; i++) {
    guint from = i == ALL ? LOAD : i, to = i == ALL ? ALL : i + 1;

    MUST (cudaEventElapsedTime (&ms, r->events[from], r->events[to]));
    ms *= 1e3f;
    g_array_append_val (r->times[i], ms);
  }
}

/* --- pairs in a stream ---------------------------------------------------- */

/* Events: picture prepared, pyramid's vectors computed, search's vectors
 * computed, search complete. */
typedef struct {
  cudaEvent_t made[PICTURES], predicted[PICTURES], kept[PICTURES],
      done[PICTURES];
} Marks;

/* Picture number @k, frame @frame of the clip, @age of the stream, in the
 * order of the engine. */
void
launch_in_stream (Run *r, const Marks *marks, guint k, guint frame, guint age)
{
  const MotionDeviceTask *own = &r->tasks[k & 1], *other = &r->tasks[~k & 1];
  const guint place = k % PICTURES, before = (k + PICTURES - 1) % PICTURES;
  cudaStream_t stream = r->streams[k & 1];
  MotionDeviceTask t = *own;

  /* waits for the searches of the frame that used this memory, and of the
   * next one */
  for (guint i = 0; k >= PICTURES && i < 2; i++)
    MUST (cudaStreamWaitEvent (r->up, marks->done[(k + i) % PICTURES], 0));
  MUST (motion_launch_load (&r->config, &t.layout,
      r->staged + frame * r->staged_size, 0, &r->pictures[place], r->up));
  MUST (cudaEventRecord (marks->made[place], r->up));
  t.current = r->pictures[place];
  t.fields[0].reference = r->pictures[before];
  t.fields[0].predicted = r->predicted[place];
  t.fields[0].prior = !motion_config_needs_prior (&r->config)
                          ? own->fields[0].kept
                      : age > 1 ? other->fields[0].kept
                                : NULL;
  if (age > 0 && motion_predicts_ahead (&r->config)) {
    MUST (cudaStreamWaitEvent (r->ahead, marks->made[place], 0));
    MUST (motion_launch_pyramid (&t, r->ahead));
    MUST (cudaEventRecord (marks->predicted[place], r->ahead));
    MUST (cudaStreamWaitEvent (stream, marks->predicted[place], 0));
  } else {
    MUST (cudaStreamWaitEvent (stream, marks->made[place], 0));
  }
  if (age > 0)
    MUST (motion_launch_search (
        &t, &r->tile, marks->kept[before], marks->kept[place], stream));
  else
    MUST (cudaEventRecord (marks->kept[place], stream));
  MUST (cudaEventRecord (marks->done[place], stream));
}

/* The clip repeated as separate streams. Returns: number of pairs */
guint
launch_again (Run *r, const Marks *marks, guint n)
{
  guint k = 0, pairs = 0;

  while (pairs < STREAM_PAIRS || k < PICTURES) {
    for (guint i = 0; i < n; i++, k++)
      launch_in_stream (r, marks, k, i, i);
    pairs += n - 1;
  }
  return pairs;
}

/* The clip forwards and backwards, as one stream. Returns: number of pairs */
guint
launch_on (Run *r, const Marks *marks, guint n)
{
  const guint period = 2 * (n - 1);

  for (guint k = 0; k <= LONG_PAIRS; k++)
    launch_in_stream (r, marks, k, MIN (k % period, period - k % period), k);
  return LONG_PAIRS;
}

/* Returns: number of pairs */
guint
capture (Run *r, guint n, bool on, cudaGraph_t *graph)
{
  guint pairs;
  Marks marks;

  for (guint i = 0; i < PICTURES; i++) {
    MUST (cudaEventCreateWithFlags (&marks.made[i], cudaEventDisableTiming));
    MUST (
        cudaEventCreateWithFlags (&marks.predicted[i], cudaEventDisableTiming));
    MUST (cudaEventCreateWithFlags (&marks.kept[i], cudaEventDisableTiming));
    MUST (cudaEventCreateWithFlags (&marks.done[i], cudaEventDisableTiming));
  }
  MUST (cudaStreamBeginCapture (r->up, cudaStreamCaptureModeThreadLocal));
  pairs = on ? launch_on (r, &marks, n) : launch_again (r, &marks, n);
  for (guint i = 0; i < PICTURES; i++)
    MUST (cudaStreamWaitEvent (r->up, marks.done[i], 0));
  MUST (cudaStreamEndCapture (r->up, graph));
  for (guint i = 0; i < PICTURES; i++) {
    MUST (cudaEventDestroy (marks.made[i]));
    MUST (cudaEventDestroy (marks.predicted[i]));
    MUST (cudaEventDestroy (marks.kept[i]));
    MUST (cudaEventDestroy (marks.done[i]));
  }
  return pairs;
}

/* Microseconds for each pair, median of the rounds. */
double
measure_stream (Run *r, guint n, bool on)
{
  cudaEvent_t start = r->events[LOAD], stop = r->events[ALL];
  GArray *times = g_array_new (FALSE, FALSE, sizeof (float));
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  guint pairs = capture (r, n, on, &graph);
  double median;

  MUST (cudaGraphInstantiate (&exec, graph, NULL, NULL, 0));
  for (guint i = 0; i < STREAM_ROUNDS + 2; i++) { /* two warm-up rounds */
    float ms;

    MUST (cudaEventRecord (start, r->up));
    MUST (cudaGraphLaunch (exec, r->up));
    MUST (cudaEventRecord (stop, r->up));
    MUST (cudaEventSynchronize (stop));
    MUST (cudaEventElapsedTime (&ms, start, stop));
    if (i >= 2)
      g_array_append_val (times, ms);
  }
  MUST (cudaGraphExecDestroy (exec));
  MUST (cudaGraphDestroy (graph));
  median = at_rank (times, 0.5) * 1e3 / pairs;
  g_array_unref (times);
  return median;
}

void
print_counters (Run *r)
{
  unsigned long long c[MOTION_N_COUNTERS];
  double all;

  MUST (cudaMemcpy (c, r->counters, sizeof c, cudaMemcpyDeviceToHost));
  all = c[MOTION_COUNT_CANDIDATES] / 100.0;
  if (all > 0)
    printf ("  left: coarse %.1f %%, middle %.2f %%, computed %.3f %%;",
        c[MOTION_COUNT_COARSE] / all, c[MOTION_COUNT_MIDDLE] / all,
        c[MOTION_COUNT_FINE] / all);
  if (r->config.method == MOTION_METHOD_FULL)
    printf (" blocks computed whole: %llu", c[MOTION_COUNT_BRUTE]);
  printf ("\n");
}

void
bench (const MotionClip *clip, double rate, MotionMethod method,
    MotionGranularity granularity, MotionSubpel subpel, const char *label)
{
  Run r = {};
  guint side, n;
  double limit;

  motion_config_init (&r.config);
  r.config.width = clip->width;
  r.config.height = clip->height;
  r.config.depth = clip->depth;
  r.config.method = method;
  r.config.granularity = granularity;
  r.config.subpel = subpel;
  if (method == MOTION_METHOD_FIELD)
    r.config.block_size = 16;
  r.config.tie = MOTION_TIE_RASTER; /* as in the paper */
  side = 2 * r.config.range;
  limit = (double) clip->width * clip->height / 4 * side * side / rate * 1e6;
  n = MIN (clip->n, MAX_FRAMES);
  run_init (&r, clip);
  for (guint turn = 0; turn < 3; turn++)
    for (guint i = 0; i < n; i++)
      run_frame (&r, i, turn);
  printf ("%-14s %4ux%-4u %-12s", clip->name, clip->width, clip->height,
      r.config.method == method ? label : "full (brute)");
  for (guint i = 0; i < N_TIMES; i++)
    printf (" %s %.1f", time_names[i], at_rank (r.times[i], 0.5));
  printf (" (worst %.1f), in a stream %.1f us, continuous %.1f us;",
      at_rank (r.times[ALL], 1), measure_stream (&r, n, false),
      measure_stream (&r, n, true));
  if (method <= MOTION_METHOD_FULL_BRUTE)
    printf (" all candidates at the limit %.0f us: search %.2f times that",
        limit, at_rank (r.times[SEARCH], 0.5) / limit);
  print_counters (&r);
  fflush (stdout);
  run_clear (&r);
}

void
bench_clip (const MotionClip *clip, double rate)
{
  bench (clip, rate, MOTION_METHOD_FULL_BRUTE, MOTION_GRANULARITY_3,
      MOTION_SUBPEL_NONE, "full-brute");
  bench (clip, rate, MOTION_METHOD_FULL, MOTION_GRANULARITY_3,
      MOTION_SUBPEL_NONE, "full");
  bench (clip, rate, MOTION_METHOD_STEP, MOTION_GRANULARITY_1,
      MOTION_SUBPEL_NONE, "step 3x3");
  bench (clip, rate, MOTION_METHOD_STEP, MOTION_GRANULARITY_2,
      MOTION_SUBPEL_NONE, "step 7x7");
  bench (clip, rate, MOTION_METHOD_STEP, MOTION_GRANULARITY_3,
      MOTION_SUBPEL_NONE, "step 15x15");
  bench (clip, rate, MOTION_METHOD_ZONAL, MOTION_GRANULARITY_3,
      MOTION_SUBPEL_NONE, "zonal");
  bench (clip, rate, MOTION_METHOD_ZONAL, MOTION_GRANULARITY_3,
      MOTION_SUBPEL_QUARTER, "zonal 1/4");
  bench (clip, rate, MOTION_METHOD_FIELD, MOTION_GRANULARITY_3,
      MOTION_SUBPEL_NONE, "field 16");
  bench (clip, rate, MOTION_METHOD_FIELD, MOTION_GRANULARITY_3,
      MOTION_SUBPEL_QUARTER, "field 16 1/4");
}

void
bench_file (const char *path, double rate)
{
  GError *error = NULL;
  MotionClip *clip = motion_clip_load (path, MAX_FRAMES, &error);

  if (clip == NULL) {
    fprintf (stderr, "%s\n", error->message);
    exit (1);
  }
  bench_clip (clip, rate);
  motion_clip_free (clip);
}

void
bench_made (double rate)
{
  static const guint sizes[][2] = { { 1920, 1080 }, { 3840, 2160 } };

  for (guint i = 0; i < 2; i++)
    for (guint noise = 0; noise < 2; noise++) {
      MotionClip *clip = make_clip (
          noise ? "noise" : "moving", sizes[i][0], sizes[i][1], noise != 0);

      bench_clip (clip, rate);
      motion_clip_free (clip);
    }
}

} // namespace

int
main (int argc, char **argv)
{
  cudaDeviceProp device;
  GError *error = NULL;
  gchar **clips;
  double rate;

  if (cvis_device_count (&error) < 1) {
    printf ("skipped: %s\n", error->message);
    g_error_free (error);
    return 77;
  }
  MUST (cudaGetDeviceProperties (&device, 0));
  clips = motion_clips_list ();
  rate = measure_rate ();
  printf ("%s, %d multiprocessors; four differences and sum: %.2f T "
          "instructions/s\n",
      device.name, device.multiProcessorCount, rate / 1e12);
  bench_made (rate);
  for (int i = 1; i < argc; i++)
    bench_file (argv[i], rate);
  for (gchar **clip = clips; argc < 2 && *clip; clip++)
    bench_file (*clip, rate);
  g_strfreev (clips);
  return 0;
}
