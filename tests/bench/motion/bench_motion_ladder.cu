/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The optimisation steps of the paper (see cuda/motion/engine.h) for a full
 * search on a GPU, reimplemented one by one, with the motion engine as the
 * last steps: the effect of each step on the GPU in use. Blocks of 32, range
 * 64 half-open, candidates entirely inside the reference; frame 1 of a clip
 * is searched in frame 0. A frame's time runs from the frame in host memory
 * to the vectors in host memory; the first steps take minutes for each frame
 * and are measured on a few blocks.
 *
 * The predictions were written before the first measurement, for an H200:
 * nanoseconds for each candidate, microseconds for each block and
 * milliseconds for each frame. The vectors and SADs of every step are
 * compared with the CPU backend's.
 *
 *   bench_motion_ladder [CLIP.y4m]     default: $CUDAVISION_CLIPS/dog1080.y4m */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/core/device/cuda.cuh"
#include "cuda/core/histogram.h"
#include "cuda/motion/arithmetic.h"
#include "motionrunner.h"
#include "motionscalar.h"

namespace {

const int SIZE = 32, RANGE = 64, SIDE = 2 * RANGE;
const int STREAMS = 8;

/* A block and its allowed vectors. */
struct Block {
  int x, y, w, h;
  MotionRect rect;
};

struct Plane {
  const guint8 *luma;
  int width;
};

struct Best {
  guint32 sad;
  gint16 x, y; /* quarter pixels */
};

__host__ __device__ Block
get_block (const MotionConfig &config, int index)
{
  int columns = ((int) config.width + SIZE - 1) / SIZE;
  Block b;

  b.x = index % columns * SIZE;
  b.y = index / columns * SIZE;
  b.w = min (SIZE, (int) config.width - b.x);
  b.h = min (SIZE, (int) config.height - b.y);
  b.rect = motion_candidates (&config, b.x, b.y, b.w, b.h);
  return b;
}

__host__ __device__ bool
has (const MotionRect &rect, int dx, int dy)
{
  return dx >= rect.left && dx <= rect.right && dy >= rect.top
         && dy <= rect.bottom;
}

/* --- kernels -------------------------------------------------------------- */

__device__ unsigned
warp_sum (unsigned v)
{
  for (int k = 16; k > 0; k >>= 1)
    v += __shfl_xor_sync (~0u, v, k);
  return v;
}

/* Sum over the 1024 threads of a CUDA block; in all of its first warp. */
__device__ unsigned
block_sum (unsigned v)
{
  __shared__ unsigned part[32];

  v = warp_sum (v);
  if (threadIdx.x == 0)
    part[threadIdx.y] = v;
  __syncthreads ();
  return threadIdx.y == 0 ? warp_sum (part[threadIdx.x]) : 0;
}

__device__ unsigned
difference (Plane current, Plane reference, const Block &b, int i, int j,
    int dx, int dy)
{
  if (i >= b.w || j >= b.h)
    return 0;
  return (unsigned) abs (
      (int) current.luma[(b.y + j) * current.width + b.x + i]
      - (int) reference.luma[(b.y + j + dy) * reference.width + b.x + i + dx]);
}

/* One candidate: two blocks of 32x32 copied from the host; one thread for
 * each sample. */
__global__ void
sad_of_two (const guint8 *current, const guint8 *reference, int w, int h,
    bool valid, guint32 *sad)
{
  Block b = { 0, 0, w, h, { 0, 0, 0, 0 } };
  Plane c = { current, SIZE }, r = { reference, SIZE };
  unsigned sum =
      block_sum (difference (c, r, b, threadIdx.x, threadIdx.y, 0, 0));

  if (threadIdx.x == 0 && threadIdx.y == 0)
    *sad = valid ? sum : G_MAXUINT32;
}

/* One candidate of frames in device memory. */
__global__ void
sad_of_one (
    Plane current, Plane reference, Block b, int dx, int dy, guint32 *sad)
{
  bool valid = has (b.rect, dx, dy);
  unsigned sum = block_sum (valid ? difference (current, reference, b,
                                threadIdx.x, threadIdx.y, dx, dy)
                                  : 0);

  if (threadIdx.x == 0 && threadIdx.y == 0)
    *sad = valid ? sum : G_MAXUINT32;
}

/* All candidates of a block: a thread block each, one thread for each
 * sample. */
__global__ void
sads_of_block (Plane current, Plane reference, Block b, guint32 *sads)
{
  int dx = b.rect.left + (int) blockIdx.x, dy = b.rect.top + (int) blockIdx.y;
  unsigned sum = block_sum (
      difference (current, reference, b, threadIdx.x, threadIdx.y, dx, dy));

  if (threadIdx.x == 0 && threadIdx.y == 0)
    sads[blockIdx.y * gridDim.x + blockIdx.x] = sum;
}

/* Key of SAD and position in raster order: the smallest is the best. */
__device__ void
offer (unsigned long long *key, unsigned sad, int dx, int dy)
{
  unsigned place = (unsigned) ((dy + RANGE) * SIDE + dx + RANGE);

  atomicMin (key, (unsigned long long) sad << 32 | place);
}

/* All candidates of all blocks. */
__global__ void
best_of_frame (Plane current, Plane reference, MotionConfig config,
    unsigned long long *keys)
{
  Block b = get_block (config, (int) blockIdx.z);
  int dx = (int) blockIdx.x - RANGE, dy = (int) blockIdx.y - RANGE;
  unsigned sum;

  if (!has (b.rect, dx, dy))
    return;
  sum = block_sum (
      difference (current, reference, b, threadIdx.x, threadIdx.y, dx, dy));
  if (threadIdx.x == 0 && threadIdx.y == 0)
    offer (&keys[blockIdx.z], sum, dx, dy);
}

/* The same with one warp for each candidate: x is the column, z one of 8
 * candidates of the thread block, the rows are a loop. */
__global__ void
best_of_frame_z (Plane current, Plane reference, MotionConfig config,
    unsigned long long *keys)
{
  Block b = get_block (config, (int) blockIdx.z);
  int dx = (int) (blockIdx.x * blockDim.z + threadIdx.z) - RANGE;
  int dy = (int) blockIdx.y - RANGE;
  unsigned sum = 0;

  if (!has (b.rect, dx, dy))
    return;
  for (int j = 0; j < b.h; j++)
    sum += difference (current, reference, b, threadIdx.x, j, dx, dy);
  sum = warp_sum (sum);
  if (threadIdx.x == 0)
    offer (&keys[blockIdx.z], sum, dx, dy);
}

/* --- state of the steps -------------------------------------------------- */

struct Ladder {
  MotionConfig config;
  const MotionClip *clip;
  guint n_blocks;
  gsize frame_size;
  guint8 *current, *reference;     /* on the device */
  guint8 *two;                     /* device: two blocks */
  guint32 *sads;                   /* device: of STREAMS blocks */
  unsigned long long *keys;        /* device: of all blocks */
  guint8 *pinned;                  /* the frame */
  unsigned long long *pinned_keys; /* results */
  guint32 *host_sads;              /* pageable: of STREAMS blocks */
  unsigned long long *host_keys;   /* pageable */
  cudaStream_t streams[STREAMS];
  Best *best;
};

Plane
current_plane (const Ladder *l)
{
  return { l->current, (int) l->config.width };
}

Plane
reference_plane (const Ladder *l)
{
  return { l->reference, (int) l->config.width };
}

void
consider (Best *best, guint32 sad, int dx, int dy)
{
  if (sad < best->sad)
    *best = { sad, (gint16) (4 * dx), (gint16) (4 * dy) };
}

gboolean
upload (Ladder *l, const guint8 *from, GError **error)
{
  return CVIS_CUDA (cudaMemcpyAsync (l->current, from, l->frame_size,
                        cudaMemcpyHostToDevice, l->streams[0]),
             error)
         && CVIS_CUDA (cudaStreamSynchronize (l->streams[0]), error);
}

/* --- the steps: each finds l->best of block @index ------------------------ */

/* The samples of a block of 32x32 at (@x, @y), clamped at the edges. */
void
cut (const Ladder *l, guint frame, int x, int y, guint8 *to)
{
  int width = (int) l->config.width, height = (int) l->config.height;

  for (int j = 0; j < SIZE; j++) {
    const guint8 *row = l->clip->luma[frame]
                        + (gsize) motion_clamp (y + j, 0, height - 1) * width;

    for (int i = 0; i < SIZE; i++)
      to[j * SIZE + i] = row[motion_clamp (x + i, 0, width - 1)];
  }
}

gboolean
fetch_sad (Ladder *l, guint32 *sad, GError **error)
{
  return CVIS_CUDA (cudaMemcpyAsync (sad, l->sads, sizeof *sad,
                        cudaMemcpyDeviceToHost, l->streams[0]),
             error)
         && CVIS_CUDA (cudaStreamSynchronize (l->streams[0]), error);
}

/* The GPU computes each sum; the host sends both blocks for it. */
gboolean
step_sad (Ladder *l, guint index, GError **error)
{
  Block b = get_block (l->config, (int) index);
  guint8 two[2 * SIZE * SIZE];
  guint32 sad;

  cut (l, 1, b.x, b.y, two);
  for (int dy = -RANGE; dy < RANGE; dy++)
    for (int dx = -RANGE; dx < RANGE; dx++) {
      cut (l, 0, b.x + dx, b.y + dy, two + SIZE * SIZE);
      if (!CVIS_CUDA (cudaMemcpyAsync (l->two, two, sizeof two,
                          cudaMemcpyHostToDevice, l->streams[0]),
              error))
        return FALSE;
      sad_of_two<<<1, dim3 (32, 32), 0, l->streams[0]>>> (l->two,
          l->two + SIZE * SIZE, b.w, b.h, has (b.rect, dx, dy), l->sads);
      if (!CVIS_LAUNCHED ("sad_of_two", error) || !fetch_sad (l, &sad, error))
        return FALSE;
      consider (&l->best[index], sad, dx, dy);
    }
  return TRUE;
}

gboolean
one_by_one (Ladder *l, guint index, gboolean valid_only, GError **error)
{
  Block b = get_block (l->config, (int) index);
  guint32 sad;

  for (int dy = -RANGE; dy < RANGE; dy++)
    for (int dx = -RANGE; dx < RANGE; dx++) {
      if (valid_only && !has (b.rect, dx, dy))
        continue;
      sad_of_one<<<1, dim3 (32, 32), 0, l->streams[0]>>> (
          current_plane (l), reference_plane (l), b, dx, dy, l->sads);
      if (!CVIS_LAUNCHED ("sad_of_one", error) || !fetch_sad (l, &sad, error))
        return FALSE;
      consider (&l->best[index], sad, dx, dy);
    }
  return TRUE;
}

gboolean
step_transfer (Ladder *l, guint index, GError **error)
{
  return one_by_one (l, index, FALSE, error);
}

gboolean
step_borders (Ladder *l, guint index, GError **error)
{
  return one_by_one (l, index, TRUE, error);
}

gboolean
launch_block (Ladder *l, guint index, guint stream, GError **error)
{
  Block b = get_block (l->config, (int) index);
  dim3 grid ((unsigned) (b.rect.right - b.rect.left + 1),
      (unsigned) (b.rect.bottom - b.rect.top + 1));

  sads_of_block<<<grid, dim3 (32, 32), 0, l->streams[stream]>>> (
      current_plane (l), reference_plane (l), b,
      l->sads + (gsize) stream * SIDE * SIDE);
  return CVIS_LAUNCHED ("sads_of_block", error);
}

/* Copies the SADs of a block back and finds the minimum. */
gboolean
finish_block (Ladder *l, guint index, guint stream, GError **error)
{
  Block b = get_block (l->config, (int) index);
  gsize place = (gsize) stream * SIDE * SIDE;
  gsize n = (gsize) (b.rect.right - b.rect.left + 1)
            * (gsize) (b.rect.bottom - b.rect.top + 1);
  const guint32 *sad = l->host_sads + place;

  if (!CVIS_CUDA (
          cudaMemcpyAsync (l->host_sads + place, l->sads + place,
              n * sizeof *sad, cudaMemcpyDeviceToHost, l->streams[stream]),
          error)
      || !CVIS_CUDA (cudaStreamSynchronize (l->streams[stream]), error))
    return FALSE;
  for (int dy = b.rect.top; dy <= b.rect.bottom; dy++)
    for (int dx = b.rect.left; dx <= b.rect.right; dx++)
      consider (&l->best[index], *sad++, dx, dy);
  return TRUE;
}

gboolean
step_parallel (Ladder *l, guint index, GError **error)
{
  return launch_block (l, index, 0, error) && finish_block (l, index, 0, error);
}

/* Called for each block; every STREAMS of them run concurrently. */
gboolean
step_streams (Ladder *l, guint index, GError **error)
{
  guint stream = index % STREAMS, first = index - stream;

  if (!launch_block (l, index, stream, error))
    return FALSE;
  if (stream < STREAMS - 1 && index < l->n_blocks - 1)
    return TRUE;
  for (guint i = first; i <= index; i++)
    if (!finish_block (l, i, i - first, error))
      return FALSE;
  return TRUE;
}

/* --- steps that search a whole frame ------------------------------------- */

gboolean
prepare_keys (Ladder *l, GError **error)
{
  return CVIS_CUDA (cudaMemsetAsync (l->keys, 0xff,
                        l->n_blocks * sizeof *l->keys, l->streams[0]),
      error);
}

/* Copies the keys back to @host and reads them. */
gboolean
fetch_keys (Ladder *l, unsigned long long *host, GError **error)
{
  if (!CVIS_CUDA (cudaMemcpyAsync (host, l->keys, l->n_blocks * sizeof *host,
                      cudaMemcpyDeviceToHost, l->streams[0]),
          error)
      || !CVIS_CUDA (cudaStreamSynchronize (l->streams[0]), error))
    return FALSE;
  for (guint i = 0; i < l->n_blocks; i++) {
    int place = (int) (host[i] & G_MAXUINT32);

    l->best[i] = { (guint32) (host[i] >> 32),
      (gint16) (4 * (place % SIDE - RANGE)),
      (gint16) (4 * (place / SIDE - RANGE)) };
  }
  return TRUE;
}

gboolean
launch_frame (Ladder *l, GError **error)
{
  best_of_frame<<<dim3 (SIDE, SIDE, l->n_blocks), dim3 (32, 32), 0,
      l->streams[0]>>> (
      current_plane (l), reference_plane (l), l->config, l->keys);
  return CVIS_LAUNCHED ("best_of_frame", error);
}

gboolean
step_all (Ladder *l, guint, GError **error)
{
  return upload (l, l->clip->luma[1], error) && prepare_keys (l, error)
         && launch_frame (l, error) && fetch_keys (l, l->host_keys, error);
}

gboolean
step_pinned (Ladder *l, guint, GError **error)
{
  return upload (l, l->pinned, error) && prepare_keys (l, error)
         && launch_frame (l, error) && fetch_keys (l, l->pinned_keys, error);
}

gboolean
step_z (Ladder *l, guint, GError **error)
{
  if (!upload (l, l->pinned, error) || !prepare_keys (l, error))
    return FALSE;
  best_of_frame_z<<<dim3 (SIDE / 8, SIDE, l->n_blocks), dim3 (32, 1, 8), 0,
      l->streams[0]>>> (
      current_plane (l), reference_plane (l), l->config, l->keys);
  return CVIS_LAUNCHED ("best_of_frame_z", error)
         && fetch_keys (l, l->pinned_keys, error);
}

/* --- the ladder ----------------------------------------------------------- */

/**
 * Step:
 * @run: searches a block, or with @whole the frame
 * @sampled: number of blocks measured, spread over the frame; 0: all
 * @all: candidates outside the frame cost as much as the others
 * @candidate_ns, @block_us, @frame_ms: the prediction
 */
struct Step {
  const char *name;
  gboolean (*run) (Ladder *l, guint index, GError **error);
  gboolean whole;
  guint sampled;
  gboolean all;
  gdouble candidate_ns, block_us, frame_ms;
};

const Step steps[] = {
  /* 2 KB up 6 us, launch and kernel 6, 4 bytes back and waiting 12,
   * extracting the block 1 */
  { "a kernel sums one SAD, both blocks sent each time", step_sad, FALSE, 4,
      TRUE, 25000, 0, 0 },
  /* without the 6 us and the 1 us; the frame is sent once */
  { "less transfer: frames stay on the device", step_transfer, FALSE, 4, TRUE,
      18000, 0, 0.4 },
  /* the same for each candidate, but only for those inside */
  { "borders: no launch for candidates outside", step_borders, FALSE, 4, FALSE,
      18000, 0, 0.4 },
  /* two CUDA blocks of 1024 threads on 132 multiprocessors, 1.2 us each: 4.5
   * ns; launch 6, 64 KB back 20, the least of them 8 */
  { "parallel: a launch does all candidates of a block", step_parallel, FALSE,
      0, FALSE, 4.5, 34, 0.4 },
  /* copies to pageable memory and the host's part overlap with the kernels */
  { "streams: eight blocks side by side", step_streams, FALSE, 0, FALSE, 4.5, 3,
      0.4 },
  /* only the kernel */
  { "all on the GPU: one launch, the least found there", step_all, TRUE, 0,
      FALSE, 4.5, 0, 0.45 },
  /* 2 MB at 55 GB/s instead of staged copies */
  { "pinned memory", step_pinned, TRUE, 0, FALSE, 4.5, 0, 0.06 },
  /* 64 loads for each candidate at one of 32 lanes a clock and
   * multiprocessor: 64 / (132 * 1.75 GHz) */
  { "threads in z: a warp a candidate, no barrier", step_z, TRUE, 0, FALSE,
      0.28, 0, 0.06 },
};

/* Engine configurations to compare with: the same frames, vectors and
 * copies. */
struct Ours {
  const char *name;
  MotionMethod method;
  MotionGranularity granularity;
  gdouble frame_ms; /* the prediction, one frame in flight */
};

const Ours ours[] = {
  /* target of its kernel, plus copies 0.05 and launches 0.03 */
  { "ours, every candidate", MOTION_METHOD_FULL_BRUTE, MOTION_GRANULARITY_1,
      0.70 },
  { "ours, pruned: the same vectors", MOTION_METHOD_FULL, MOTION_GRANULARITY_1,
      0.23 },
  { "ours, step search 15x15", MOTION_METHOD_STEP, MOTION_GRANULARITY_3, 0.11 },
  { "ours, zonal search", MOTION_METHOD_ZONAL, MOTION_GRANULARITY_1, 0.11 },
};

guint64
count_candidates (const Ladder *l, guint first, guint step, gboolean all)
{
  guint64 n = 0;

  for (guint i = first; i < l->n_blocks; i += step) {
    MotionRect r = get_block (l->config, (int) i).rect;

    n += all ? (guint64) SIDE * SIDE
             : (guint64) ((r.right - r.left + 1) * (r.bottom - r.top + 1));
  }
  return n;
}

/* One pass over every @every-th block from @first. */
gboolean
run_step (Ladder *l, const Step *step, guint first, guint every, gdouble *ms,
    GError **error)
{
  guint64 start;

  for (guint i = 0; i < l->n_blocks; i++)
    l->best[i] = { G_MAXUINT32, 0, 0 };
  start = cvis_monotonic_ns ();
  if (step->whole) {
    if (!step->run (l, 0, error))
      return FALSE;
  } else {
    for (guint i = first; i < l->n_blocks; i += every)
      if (!step->run (l, i, error))
        return FALSE;
  }
  *ms = (gdouble) (cvis_monotonic_ns () - start) * 1e-6;
  return TRUE;
}

gboolean
check_step (const Ladder *l, const Step *step, guint first, guint every,
    const MotionField *field)
{
  for (guint i = first; i < l->n_blocks; i += every) {
    const Best *b = &l->best[i];

    if (b->sad == field->blocks[i].sad && b->x == field->vectors[i].x
        && b->y == field->vectors[i].y)
      continue;
    printf ("WRONG: %s, block %u: (%d,%d) sad %u, must be (%d,%d) sad %u\n",
        step->name, i, b->x, b->y, b->sad, field->vectors[i].x,
        field->vectors[i].y, field->blocks[i].sad);
    return FALSE;
  }
  return TRUE;
}

int
by_value (const void *a, const void *b)
{
  gdouble d = *(const gdouble *) a - *(const gdouble *) b;

  return d < 0 ? -1 : d > 0;
}

/* Four significant digits, no exponents. */
void
print_number (gdouble value)
{
  printf (" | %.*f",
      value >= 100  ? 0
      : value >= 10 ? 1
      : value >= 1  ? 2
                    : 3,
      value);
}

void
print_row (const char *name, gdouble predicted, gdouble ms, gdouble before,
    gdouble scalar, const char *note)
{
  printf ("| %s", name);
  if (predicted > 0)
    print_number (predicted);
  else
    printf (" | -");
  print_number (ms);
  print_number (before / ms);
  print_number (scalar / ms);
  printf (" | %s |\n", note);
  fflush (stdout);
}

/* Measures @step; the median of 5, or a single run if blocks are sampled.
 * @ms: (inout): of the step before, then of this one */
gboolean
climb (Ladder *l, const Step *step, const MotionField *field, gdouble scalar,
    gdouble *ms, GError **error)
{
  guint every = step->sampled ? l->n_blocks / step->sampled : 1;
  guint first = step->sampled ? every / 2 : 0;
  guint rounds = step->sampled ? 1 : 5;
  gdouble all = (gdouble) count_candidates (l, 0, 1, step->all);
  gdouble share = all / (gdouble) count_candidates (l, first, every, step->all);
  gdouble predicted = all * step->candidate_ns * 1e-6
                      + l->n_blocks * step->block_us * 1e-3 + step->frame_ms;
  gdouble times[5], sent = 0;
  gchar note[80] = "";
  guint64 start;

  for (guint r = 0; r < rounds + 1; r++) /* the first run warms up */
    if (!run_step (l, step, first, every, &times[r ? r - 1 : 0], error)
        || !check_step (l, step, first, every, field))
      return FALSE;
  qsort (times, rounds, sizeof *times, by_value);
  if (!step->whole && step->run != step_sad) {
    start = cvis_monotonic_ns ();
    if (!upload (l, l->clip->luma[1], error))
      return FALSE;
    sent = (gdouble) (cvis_monotonic_ns () - start) * 1e-6;
  }
  if (step->sampled)
    g_snprintf (note, sizeof note, "measured on %u of %u blocks",
        (l->n_blocks - first + every - 1) / every, l->n_blocks);
  times[rounds / 2] = times[rounds / 2] * share + sent;
  print_row (step->name, predicted, times[rounds / 2], *ms, scalar, note);
  *ms = times[rounds / 2];
  return TRUE;
}

/* --- CPU and engine ------------------------------------------------------- */

void
set_config (MotionConfig *config, const MotionClip *clip, MotionMethod method,
    MotionGranularity granularity, guint in_flight)
{
  motion_config_init (config);
  config->width = clip->width;
  config->height = clip->height;
  config->block_size = SIZE;
  config->range = RANGE;
  config->window = MOTION_WINDOW_HALF_OPEN;
  config->border = MOTION_BORDER_INSIDE;
  config->tie = MOTION_TIE_RASTER;
  config->method = method;
  config->granularity = granularity;
  config->depth_in_flight = in_flight;
}

/* A runner that has gone through the clip @rounds times. */
MotionRunner *
run_engine (const MotionConfig *config, CvisContext *context,
    const MotionClip *clip, guint rounds, GError **error)
{
  MotionRunner *runner = motion_runner_new (config, context, clip, error);

  for (guint r = 0; runner && r < rounds; r++)
    if (!motion_runner_round (runner, error))
      g_clear_pointer (&runner, motion_runner_free);
  return runner;
}

gdouble
time_scalar (const MotionClip *clip)
{
  MotionConfig config;
  guint64 start;
  CvisMotionVector *vectors;

  set_config (&config, clip, MOTION_METHOD_FULL_BRUTE, MOTION_GRANULARITY_1, 1);
  vectors = g_new (CvisMotionVector,
      motion_config_get_columns (&config) * motion_config_get_rows (&config));
  start = cvis_monotonic_ns ();
  motion_scalar_full (&config, clip->luma[1], clip->luma[0], vectors);
  g_free (vectors);
  return (gdouble) (cvis_monotonic_ns () - start) * 1e-6;
}

/* @expected: from the CPU, with the same method */
gboolean
climb_ours (const Ours *step, CvisContext *context, const MotionClip *clip,
    gdouble scalar, gdouble *before, GError **error)
{
  MotionConfig config;
  MotionRunner *expected, *runner;
  gdouble ms, flow;
  gchar *why, note[80];
  gboolean ok = FALSE;

  set_config (&config, clip, step->method, step->granularity, 4);
  expected = run_engine (&config, NULL, clip, 1, error);
  runner = run_engine (&config, context, clip, 30, error);
  if (expected && runner) {
    /* compared before the continuous stream, in which frames have other
     * prior vectors */
    ok = motion_runner_equal (expected, runner, &why);
    if (!ok) {
      printf ("WRONG: %s: %s\n", step->name, why);
      g_free (why);
    }
    ms = motion_runner_get_ms (runner);
    if (!motion_runner_flow (runner, 100, &flow, error)) {
      motion_runner_free (expected);
      motion_runner_free (runner);
      return FALSE;
    }
    g_snprintf (note, sizeof note, "%.3f ms a frame with 4 in flight", flow);
    print_row (step->name, step->frame_ms, ms, *before, scalar, note);
    *before = ms;
  }
  g_clear_pointer (&expected, motion_runner_free);
  g_clear_pointer (&runner, motion_runner_free);
  return ok;
}

gboolean
climb_cpu (const char *name, MotionMethod method, guint threads,
    const MotionClip *clip, gdouble scalar, GError **error)
{
  MotionConfig config;
  MotionRunner *runner;
  gdouble ms;

  set_config (&config, clip, method, MOTION_GRANULARITY_1, 1);
  config.threads = threads;
  runner = run_engine (&config, NULL, clip, 3, error);
  if (runner == NULL)
    return FALSE;
  ms = motion_runner_get_ms (runner);
  print_row (name, 0, ms, scalar, scalar, "");
  motion_runner_free (runner);
  return TRUE;
}

/* --- setting up ----------------------------------------------------------- */

gboolean
allocate (Ladder *l, CvisContext *context, GError **error)
{
  gsize n = l->n_blocks * sizeof *l->keys;

  if (!CVIS_CUDA (cudaMalloc (&l->current, l->frame_size), error)
      || !CVIS_CUDA (cudaMalloc (&l->reference, l->frame_size), error)
      || !CVIS_CUDA (cudaMalloc (&l->two, 2 * SIZE * SIZE), error)
      || !CVIS_CUDA (
          cudaMalloc (&l->sads, sizeof *l->sads * STREAMS * SIDE * SIDE), error)
      || !CVIS_CUDA (cudaMalloc (&l->keys, n), error))
    return FALSE;
  for (int i = 0; i < STREAMS; i++)
    if (!CVIS_CUDA (
            cudaStreamCreateWithFlags (&l->streams[i], cudaStreamNonBlocking),
            error))
      return FALSE;
  l->pinned = (guint8 *) cvis_pinned_alloc (context, l->frame_size, error);
  l->pinned_keys = (unsigned long long *) cvis_pinned_alloc (context, n, error);
  if (l->pinned == NULL || l->pinned_keys == NULL)
    return FALSE;
  l->host_sads = g_new (guint32, (gsize) STREAMS * SIDE * SIDE);
  l->host_keys = g_new (unsigned long long, l->n_blocks);
  l->best = g_new (Best, l->n_blocks);
  memcpy (l->pinned, l->clip->luma[1], l->frame_size);
  return CVIS_CUDA (cudaMemcpyAsync (l->reference, l->clip->luma[0],
                        l->frame_size, cudaMemcpyHostToDevice, l->streams[0]),
             error)
         && upload (l, l->clip->luma[1], error);
}

void
release (Ladder *l, CvisContext *context)
{
  cudaFree (l->current);
  cudaFree (l->reference);
  cudaFree (l->two);
  cudaFree (l->sads);
  cudaFree (l->keys);
  for (int i = 0; i < STREAMS; i++)
    if (l->streams[i])
      cudaStreamDestroy (l->streams[i]);
  if (l->pinned)
    cvis_pinned_free (context, l->pinned);
  if (l->pinned_keys)
    cvis_pinned_free (context, l->pinned_keys);
  g_free (l->host_sads);
  g_free (l->host_keys);
  g_free (l->best);
}

/* Runs the paper's steps; @field has the expected vectors. */
gboolean
climb_theirs (CvisContext *context, const MotionClip *clip,
    const MotionField *field, gdouble scalar, gdouble *ms, GError **error)
{
  Ladder l = {};
  gboolean ok;

  if (!cvis_context_push (context, error))
    return FALSE;
  set_config (
      &l.config, clip, MOTION_METHOD_FULL_BRUTE, MOTION_GRANULARITY_1, 1);
  l.clip = clip;
  l.n_blocks = motion_config_get_columns (&l.config)
               * motion_config_get_rows (&l.config);
  l.frame_size = (gsize) clip->width * clip->height;
  ok = allocate (&l, context, error);
  for (guint i = 0; ok && i < G_N_ELEMENTS (steps); i++)
    ok = climb (&l, &steps[i], field, scalar, ms, error);
  release (&l, context);
  cvis_context_pop (context);
  return ok;
}

gboolean
climb_all (CvisContext *context, const MotionClip *clip, GError **error)
{
  MotionConfig config;
  MotionRunner *exact;
  gdouble scalar, ms;
  gboolean ok;

  set_config (&config, clip, MOTION_METHOD_FULL_BRUTE, MOTION_GRANULARITY_1, 1);
  exact = run_engine (&config, NULL, clip, 1, error);
  if (exact == NULL)
    return FALSE;
  printf ("%s, %ux%u, blocks of 32, range 64, candidates inside\n\n| step | "
          "predicted, ms a frame | measured | times the step before | times "
          "scalar | |\n|---|---|---|---|---|---|\n",
      clip->name, clip->width, clip->height);
  ms = scalar = time_scalar (clip);
  print_row ("CPU, plain C, -O2 without vectors, 1 thread", 0, scalar, scalar,
      scalar, "");
  ok = climb_cpu ("CPU, SIMD, every candidate, 1 thread",
           MOTION_METHOD_FULL_BRUTE, 1, clip, scalar, error)
       && climb_cpu ("CPU, SIMD, pruned, all threads", MOTION_METHOD_FULL, 0,
           clip, scalar, error)
       && climb_theirs (context, clip, motion_runner_get_field (exact, 1),
           scalar, &ms, error);
  for (guint i = 0; ok && i < G_N_ELEMENTS (ours); i++)
    ok = climb_ours (&ours[i], context, clip, scalar, &ms, error);
  motion_runner_free (exact);
  return ok;
}

/* The requested clip, or the one with 1080 rows. */
MotionClip *
load (const gchar *path, GError **error)
{
  const gchar *folder = g_getenv ("CUDAVISION_CLIPS");
  gchar *found =
      path ? g_strdup (path)
           : g_build_filename (folder ? folder : "clips", "dog1080.y4m", NULL);
  MotionClip *clip = motion_clip_load (found, 5, error);

  if (clip && (clip->n < 2 || clip->depth != 8)) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
        "%s: two frames of 8 bits are needed", found);
    g_clear_pointer (&clip, motion_clip_free);
  }
  g_free (found);
  return clip;
}

} // namespace

int
main (int argc, char **argv)
{
  GError *error = NULL;
  CvisContext *context = cvis_context_new (-1, &error);
  MotionClip *clip;
  gboolean ok;

  if (context == NULL) {
    printf ("skipped: %s\n", error->message);
    g_error_free (error);
    return 77;
  }
  clip = load (argc > 1 ? argv[1] : NULL, &error);
  ok = clip && climb_all (context, clip, &error);
  if (error) {
    fprintf (stderr, "bench_motion_ladder: %s\n", error->message);
    g_error_free (error);
  }
  if (clip)
    motion_clip_free (clip);
  cvis_context_unref (context);
  return ok ? 0 : 1;
}
