/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* All levels of a small picture in one launch, any wavelet, type and boundary. One
 * thread block keeps the picture in shared memory and lifts it in place: samples of
 * a level are as far apart as it says, so its low band is the next level's picture
 * where it lies.
 *
 * A line's pairs lie in lanes of a warp, one in each, and a step takes its
 * neighbours from them by shuffles. Which lane has a neighbour, wherever beyond
 * the edge that is, stands in a table, made for each length that lines have while
 * the kernel before is still running. So a step is a few instructions, whatever
 * the boundary, and only axes wait for each other.
 *
 * Few warps have anything to do, so what counts is the length of a chain of
 * instructions. All offsets are therefore computed on the host, and are in
 * shared memory when they are needed. */
#include "cuda/lifting/cuda/copy.cuh"
#include "cuda/lifting/cuda/launch.cuh"
#include "cuda/lifting/cuda/shape.cuh"
#include "cuda/lifting/cuda/steps.cuh"

#include <string.h>

namespace {

/* Sides of a picture, so that a line has a pair a lane; levels it may have, each
 * halving an axis; threads of the block at least, who prepare what it needs, and at
 * most, more of whom would be in each other's way */
#define SMALL_SIDE 64
#define SMALL_LEVELS 12
#define SMALL_LEAST_THREADS 256
#define SMALL_THREADS 512

/* Weights, and how far neighbours are from the pair they change, at most: wavelets
 * by name have up to 40, and 14 */
#define SMALL_TAPS 128
#define SMALL_REACH 48

/* An axis of a level: lines, which a warp has 32 >> bits of.
 * @bits: a line has 1 << bits lanes
 * @lines of them, @next samples apart
 * @distance: of samples of a line; @counts: of them even, odd
 * @table: where the lane of neighbour 0 is in its table
 * @level: which it is the last axis of, -1: of none */
struct alignas (16) SmallAxis {
  gint bits;
  gint lines, next;
  gint distance;
  gint counts[2];
  gint table;
  gint level;
};

/* Rows of samples, and of what they are outside shared memory: the picture, the low
 * band, the high bands of a level.
 * @size: samples along each axis, @distance apart
 * @bits: lanes of the pairs of a row
 * @split: of high bands: 1, if they split that axis
 * @pitch, @step: bytes from row to row, from the first of a pair to that of the next
 *   one; where rows are split, of every second one, the others being @top further;
 *   @second: from the first of a pair to the other one */
struct alignas (16) SmallRows {
  gint size[2], distance[2];
  gint bits;
  gint split[2];
  gsize pitch, step;
  gsize top, second;
};

/* The transforms in their order: @n axes. */
struct alignas (16) SmallPlan {
  SmallAxis axes[2 * SMALL_LEVELS + 1];
  SmallRows picture, low, high[SMALL_LEVELS];
};

/* @n axes, @n_levels
 * @lengths: of lines, that tables are made for, @n_tables of them; @reach: to each
 *   side
 * @shift: of low and high entries; @shifted: whether any is
 * @all: there are high bands, in @bands */
template <class Steps> struct SmallTask {
  Steps steps;
  LwtBoundary boundary;
  gint n, n_levels;
  gint n_tables, reach;
  gint lengths[SMALL_LEVELS];
  gint shift[2];
  bool shifted;
  bool all;
  guint8 *picture, *low, *bands;
  SmallPlan plan;
};

/* --- tables ----------------------------------------------------------------------- */

/* A table has rows: of even neighbours, then of odd ones, the lane of each from pair
 * -reach on, -1: it is +0; if entries are shifted, likewise which low entry an even
 * sample is, and which high one an odd sample is. */
__host__ __device__ __forceinline__ gint
table_pitch (gint reach)
{
  return SMALL_SIDE / 2 + 2 * reach;
}

__host__ __device__ __forceinline__ gint
table_rows (bool shifted)
{
  return shifted ? 4 : 2;
}

/* Bytes of all of them */
__host__ __device__ __forceinline__ gint
tables_size (gint n, gint reach, bool shifted)
{
  return (n * table_rows (shifted) * table_pitch (reach) + 15) / 16 * 16;
}

static_assert (sizeof (SmallPlan)
                       + SMALL_LEVELS * 4 * (SMALL_SIDE / 2 + 2 * SMALL_REACH)
                       + (SMALL_SIDE | 1) * SMALL_SIDE * sizeof (gdouble)
                   <= 48 * 1024,
    "more than a kernel has unasked");

/* Value at @k of a row; @odd: which of its kind. */
template <class Steps>
__device__ __forceinline__ gint
look_up (const SmallTask<Steps> &task, bool entries, gint odd, gint k, gint n)
{
  const gint count = lwt_count (n, odd);

  return entries
             ? lwt_entry (max (min (k, count - 1), 0), task.shift[odd], count)
             : lwt_neighbour (task.boundary, k, odd, n);
}

/* All tables, a warp a row. */
template <class Steps>
__device__ __forceinline__ void
make_tables (const SmallTask<Steps> &task, gint8 *tables)
{
  const gint pitch = table_pitch (task.reach);
  const gint rows = table_rows (task.shifted);

  for (gint row = threadIdx.x / 32; row < task.n_tables * rows;
       row += blockDim.x / 32)
    for (gint i = threadIdx.x % 32; i < pitch; i += 32)
      tables[row * pitch + i] = (gint8) look_up (task, row % rows >= 2, row & 1,
          i - task.reach, task.lengths[row / rows]);
}

/* Neighbour of a pair: of the lanes of a line, which are @width, each has its own
 * in @x. */
template <typename T>
__device__ __forceinline__ T
get_neighbour (T x, gint lane, gint width)
{
  const T value = __shfl_sync (LWT_LANES_ALL, x, lane, width);

  return lane < 0 ? T (0) : value;
}

/* --- steps -------------------------------------------------------------------------
 * @x: the pair that the lane has; @lanes: its place in a table's first row; @pitch:
 * to the next row; @width: lanes of a line */

/* Those of a structure, in the order they are run in */
template <class Shape, bool INVERSE> struct ShapeSteps {
  using Sample = float;
  using Order = LwtOrder<Shape, INVERSE>;

  float taps[LWT_MAX_SHAPE_TAPS];
  float scale[2];

  template <int I>
  __device__ __forceinline__ void
  step (float x[2], const gint8 *lanes, gint pitch, gint width) const
  {
    constexpr int odd = Order::odd (I), first = Order::first (I);

#pragma unroll
    for (gint i = 0; i < Order::taps (I); i++) {
      /* an odd sample has the even one of its pair */
      const float value = odd && first + i == 0
                              ? x[0]
                              : get_neighbour (x[1 - odd],
                                  lanes[(1 - odd) * pitch + first + i], width);

      x[odd] = fmaf (taps[Order::tap (I) + i], value, x[odd]);
    }
  }

  /* (nvcc 11.2 takes no pragma in a branch that is left out) */
  template <int I = 0>
  __device__ __forceinline__ void
  lift (float x[2], const gint8 *lanes, gint pitch, gint width) const
  {
    if constexpr (I < Order::n) {
      step<I> (x, lanes, pitch, width);
      lift<I + 1> (x, lanes, pitch, width);
    }
  }
};

/* A weight of a step.
 * @at: its neighbour in a table, from the lane's place on
 * @odd: whether odd samples are changed
 * @first, @last: of its step; @shift: of integers */
typedef struct {
  gint16 at;
  guint8 odd : 1, first : 1, last : 1;
  guint8 shift;
} SmallTap;

/* Adds a neighbour @value to a sample; @sum: of the step's so far. */
template <bool INVERSE, typename T>
__device__ __forceinline__ T
add_neighbour (T x, T value, T weight, const SmallTap &, guint32 *)
{
  return lwt_fma (weight, value, x);
}

/* integers are changed by the whole sum */
template <bool INVERSE>
__device__ __forceinline__ gint32
add_neighbour (
    gint32 x, gint32 value, gint32 weight, const SmallTap &tap, guint32 *sum)
{
  guint32 change;

  if (tap.first)
    *sum = tap.shift > 0 ? 1u << (tap.shift - 1) : 0;
  *sum += (guint32) weight * (guint32) value;
  if (!tap.last)
    return x;
  change = (guint32) ((gint32) *sum >> tap.shift);
  return (gint32) (INVERSE ? (guint32) x - change : (guint32) x + change);
}

/* Any: weights in the order they are run in, with their signs */
template <typename T, bool INVERSE> struct AnySteps {
  using Sample = T;

  gint n;
  SmallTap taps[SMALL_TAPS];
  T weights[SMALL_TAPS];
  T scale[2];

  __device__ __forceinline__ void
  lift (T x[2], const gint8 *lanes, gint, gint width) const
  {
    guint32 sum = 0;

#pragma unroll 4
    for (gint i = 0; i < n; i++) {
      const SmallTap tap = taps[i];
      const T value =
          get_neighbour (tap.odd ? x[0] : x[1], lanes[tap.at], width);
      const T to = add_neighbour<INVERSE> (
          tap.odd ? x[1] : x[0], value, weights[i], tap, &sum);

      x[0] = tap.odd ? x[0] : to;
      x[1] = tap.odd ? to : x[1];
    }
  }
};

/* --- lines ------------------------------------------------------------------------- */

/* Splits all lines of an axis, or joins them; back without high bands odd samples
 * are +0. Entries lie where samples do, the low ones where even samples are. */
template <bool INVERSE, class Steps, typename T>
__device__ __forceinline__ void
lift_axis (const SmallTask<Steps> &task, const SmallAxis &axis,
    const gint8 *tables, T *samples)
{
  const gint width = 1 << axis.bits, k = threadIdx.x & (width - 1);
  const gint pitch = table_pitch (task.reach);
  const gint8 *const lanes = tables + axis.table + k;
  gint line = (gint) threadIdx.x >> axis.bits;

  /* as long as the warp has one */
  for (gint first = (gint) (threadIdx.x & ~31u) >> axis.bits;
       first < axis.lines; first += (gint) blockDim.x >> axis.bits) {
    T *const at = samples + line * axis.next;
    T x[2] = { 0, 0 }, *from[2], *to[2];
    bool has[2];

#pragma unroll
    for (gint odd = 0; odd < 2; odd++) {
      T *const sample = at + (2 * k + odd) * axis.distance;
      T *entry = sample;

      if (task.shifted)
        entry = at + (2 * lanes[(2 + odd) * pitch] + odd) * axis.distance;
      from[odd] = INVERSE ? entry : sample;
      to[odd] = INVERSE ? sample : entry;
      has[odd] = line < axis.lines && k < axis.counts[odd];
      if (has[odd])
        x[odd] = *from[odd];
    }
    if (INVERSE) {
      x[0] = lwt_scaled (x[0], task.steps.scale[0]);
      x[1] = task.all ? lwt_scaled (x[1], task.steps.scale[1]) : T (0);
    }
    task.steps.lift (x, lanes, pitch, width);
    __syncwarp ();
#pragma unroll
    for (gint odd = 0; odd < 2; odd++)
      if (has[odd])
        *to[odd] =
            INVERSE ? x[odd] : lwt_scaled (x[odd], task.steps.scale[odd]);
    line += (gint) blockDim.x >> axis.bits;
  }
}

/* --- in and out --------------------------------------------------------------------- */

/* Runs f (sample, where it is in @data) for all of @rows, of high bands only those
 * that are in them. @thread: its number */
template <bool HIGH, typename T, typename F>
__device__ __forceinline__ void
each_sample (const SmallRows &rows, guint8 *data, T *samples, gint thread, F f)
{
  const gint k = thread & ((1 << rows.bits) - 1);
  const bool has[2] = { 2 * k < rows.size[0], 2 * k + 1 < rows.size[0] };

  for (gint y = thread >> rows.bits; y < rows.size[1];
       y += (gint) blockDim.x >> rows.bits) {
    const bool below = HIGH && (y & rows.split[1]);
    T *const at = samples + y * rows.distance[1] + 2 * k * rows.distance[0];
    guint8 *const to = data + (HIGH ? y >> rows.split[1] : y) * rows.pitch
                       + k * rows.step + (below ? rows.top : 0);

    if (has[0] && (!HIGH || below))
      f (at, (T *) to);
    if (has[1] && (!HIGH || below || rows.split[0]))
      f (at + rows.distance[0], (T *) (to + rows.second));
  }
}

/* The thread's number counted from the last warp on: that warp has no lines of the
 * next axis, which the first ones begin with meanwhile. */
__device__ __forceinline__ gint
number_from_last_warp (void)
{
  return (gint) (threadIdx.x ^ (blockDim.x - 32));
}

/* The parts of shared memory */
template <typename T> struct SmallShared {
  SmallPlan *plan;
  gint8 *tables;
  T *samples;

  template <class Steps>
  __device__ __forceinline__ explicit SmallShared (const SmallTask<Steps> &task)
  {
    plan = (SmallPlan *) LWT_SHARED;
    tables = (gint8 *) (plan + 1);
    samples =
        (T *) (tables + tables_size (task.n_tables, task.reach, task.shifted));
  }

  /* The plan and all tables; they are there after the next barrier. */
  template <class Steps>
  __device__ __forceinline__ void
  prepare (const SmallTask<Steps> &task) const
  {
    for (gint i = threadIdx.x; i < (gint) (sizeof *plan / sizeof (gint));
         i += blockDim.x)
      ((gint *) plan)[i] = ((const gint *) &task.plan)[i];
    make_tables (task, tables);
  }
};

struct CopyIn {
  template <typename T>
  __device__ __forceinline__ void
  operator() (T *sample, const T *from) const
  {
    lwt_copy_ahead<sizeof (T)> (sample, from);
  }
};

struct CopyOut {
  template <typename T>
  __device__ __forceinline__ void
  operator() (const T *sample, T *to) const
  {
    *to = *sample;
  }
};

template <class Steps>
__global__ void
__launch_bounds__ (SMALL_THREADS)
    small_forward_kernel (LWT_PARAMETER (SmallTask<Steps>, task))
{
  using T = typename Steps::Sample;
  const SmallShared<T> shared (task);
  SmallAxis axis;

  shared.prepare (task);
  lwt_wait_for_previous ();
  each_sample<false> (
      task.plan.picture, task.picture, shared.samples, threadIdx.x, CopyIn ());
  lwt_copies_end ();
  lwt_copies_wait<0> ();
  __syncthreads ();
  axis = shared.plan->axes[0];
  for (gint i = 0; i < task.n; i++) {
    const gint level = axis.level;

    lift_axis<false> (task, axis, shared.tables, shared.samples);
    axis = shared.plan->axes[i + 1];
    __syncthreads ();
    if (task.all && level >= 0)
      each_sample<true> (shared.plan->high[level], task.bands, shared.samples,
          number_from_last_warp (), CopyOut ());
  }
  each_sample<false> (
      shared.plan->low, task.low, shared.samples, threadIdx.x, CopyOut ());
}

template <class Steps>
__global__ void
__launch_bounds__ (SMALL_THREADS)
    small_inverse_kernel (LWT_PARAMETER (SmallTask<Steps>, task))
{
  using T = typename Steps::Sample;
  const SmallShared<T> shared (task);
  SmallAxis axis;

  shared.prepare (task);
  lwt_wait_for_previous ();
  each_sample<false> (
      task.plan.low, task.low, shared.samples, threadIdx.x, CopyIn ());
  for (gint i = 0; i < task.n_levels && task.all; i++)
    each_sample<true> (task.plan.high[i], task.bands, shared.samples,
        (gint) threadIdx.x, CopyIn ());
  lwt_copies_end ();
  lwt_copies_wait<0> ();
  __syncthreads ();
  axis = shared.plan->axes[0];
  for (gint i = 0; i < task.n; i++) {
    lift_axis<true> (task, axis, shared.tables, shared.samples);
    axis = shared.plan->axes[i + 1];
    __syncthreads ();
  }
  each_sample<false> (shared.plan->picture, task.picture, shared.samples,
      threadIdx.x, CopyOut ());
}

/* --- filling in --------------------------------------------------------------------- */

/* Least number of bits that 0 .. n - 1 fit into */
gint
bits_of (guint n)
{
  return n > 1 ? (gint) g_bit_storage (n - 1) : 0;
}

/* How far a step's neighbours are from the pair it changes */
gint
get_reach (const LwtWavelet *wavelet)
{
  gint reach = 0;

  for (guint i = 0; i < wavelet->n_steps; i++) {
    const LwtStep *step = &wavelet->steps[i];

    reach = MAX (reach, -step->first);
    reach = MAX (reach, step->first + (gint) step->n - 1);
  }
  return reach;
}

/* Samples from row to row in shared memory: odd, so that a column lies in all of
 * its banks */
gint
get_pitch (guint width)
{
  return (gint) (width | 1);
}

template <class Shape, bool INVERSE>
void
set_steps (
    ShapeSteps<Shape, INVERSE> *steps, const LwtTransform *transform, gint)
{
  lwt_set_weights (steps->taps, steps->scale, &transform->wavelet, INVERSE);
}

/* @pitch: of tables */
template <typename T, bool INVERSE>
void
set_steps (
    AnySteps<T, INVERSE> *steps, const LwtTransform *transform, gint pitch)
{
  const LwtWavelet *wavelet = &transform->wavelet;
  const bool negates = INVERSE && transform->type != LWT_TYPE_I32;
  const gdouble scale[2] = { wavelet->scale_low, wavelet->scale_high };

  for (guint i = 0; i < wavelet->n_steps; i++) {
    const LwtStep *step =
        &wavelet->steps[INVERSE ? wavelet->n_steps - 1 - i : i];
    const bool odd = step->kind == LWT_STEP_PREDICT;

    for (guint k = 0; k < step->n; k++) {
      const T weight = lwt_get_tap (step, k, T (0));
      SmallTap *tap = &steps->taps[steps->n];

      tap->at = (gint16) (step->first + (gint) k + (odd ? 0 : pitch));
      tap->odd = odd;
      tap->first = k == 0;
      tap->last = k + 1 == step->n;
      tap->shift = (guint8) step->shift;
      steps->weights[steps->n++] = negates ? -weight : weight;
    }
  }
  for (gint i = 0; i < 2; i++)
    steps->scale[i] = (T) (INVERSE ? 1.0 / scale[i] : scale[i]);
}

/* The number of the table of lines of @n. */
template <class Steps>
gint
find_table (SmallTask<Steps> *task, gint n)
{
  gint i = 0;

  while (i < task->n_tables && task->lengths[i] != n)
    i++;
  if (i == task->n_tables)
    task->lengths[task->n_tables++] = n;
  return i;
}

/* A picture as it lies in shared memory when levels before it are done. */
typedef struct {
  gint size[2], distance[2];
} SmallPicture;

/* Axis @which of a picture. Without high bands only low columns go on. */
template <class Steps>
void
set_axis (SmallTask<Steps> *task, SmallAxis *axis, const SmallPicture *picture,
    gint which, bool skips)
{
  const gint n = picture->size[which];

  axis->table = task->reach
                + find_table (task, n) * table_rows (task->shifted)
                      * table_pitch (task->reach);
  axis->distance = picture->distance[which];
  for (gint odd = 0; odd < 2; odd++)
    axis->counts[odd] = lwt_count (n, odd);
  axis->lines = picture->size[1 - which];
  axis->next = picture->distance[1 - which];
  if (skips) {
    axis->lines = lwt_count (axis->lines, 0);
    axis->next *= 2;
  }
  axis->bits = bits_of ((guint) axis->counts[0]);
}

/* The axes of level @i; back they are run the other way round. */
template <class Steps>
void
set_axes (SmallTask<Steps> *task, gint i, const LwtLevelTask *level,
    const SmallPicture *picture, bool inverse)
{
  const bool split[2] = { level->x != FALSE, level->y != FALSE };
  const gint n = split[0] + split[1], end = task->n - n;

  for (gint k = 0, done = 0; k < 2; k++) {
    SmallAxis *axis;

    if (!split[k])
      continue;
    axis = &task->plan.axes[inverse ? end + n - 1 - done : end + done];
    done++;
    set_axis (task, axis, picture, k, k == 1 && split[0] && !task->all);
    axis->level = done == n ? i : -1;
  }
}

/* Rows of a picture, or of a band, outside shared memory */
void
set_rows (SmallRows *rows, const SmallPicture *picture, gsize pitch, gsize step)
{
  for (gint k = 0; k < 2; k++) {
    rows->size[k] = picture->size[k];
    rows->distance[k] = picture->distance[k];
  }
  rows->bits = bits_of ((guint) lwt_count (picture->size[0], 0));
  rows->pitch = pitch;
  rows->step = 2 * step;
  rows->second = step;
}

/* Rows of a level's high bands, which are among @bands. */
void
set_high (SmallRows *rows, const SmallPicture *picture,
    const LwtLevelTask *level, const guint8 *bands, gsize size)
{
  const LwtBand *const band =
      &level->bands[level->y != FALSE][level->x != FALSE];

  set_rows (rows, picture, band->pitch, band->step * size);
  if (level->x) {
    rows->split[0] = 1;
    rows->step = band->step * size;
    rows->second = (gsize) ((const guint8 *) level->bands[0][1].data - bands);
  }
  if (level->y) {
    rows->split[1] = 1;
    rows->top = (gsize) ((const guint8 *) level->bands[1][0].data - bands);
  }
}

/* Makes the picture what is left of it after a level. */
void
halve (SmallPicture *picture, const LwtLevelTask *level)
{
  const bool split[2] = { level->x != FALSE, level->y != FALSE };

  for (gint k = 0; k < 2; k++) {
    picture->size[k] = (picture->size[k] + split[k]) >> split[k];
    picture->distance[k] <<= split[k];
  }
}

template <class Steps>
void
set_plan (SmallTask<Steps> *task, const LwtSmallWork *work, bool inverse)
{
  const gsize size = sizeof (typename Steps::Sample);
  const LwtLevelTask *first = &work->levels[0];
  const LwtBand *low = &work->levels[work->n - 1].bands[0][0];
  SmallPicture pictures[SMALL_LEVELS + 1] = {
    { { (gint) first->width, (gint) first->height },
        { 1, get_pitch (first->width) } },
  };

  for (guint i = 0; i < work->n; i++) {
    pictures[i + 1] = pictures[i];
    halve (&pictures[i + 1], &work->levels[i]);
    if (task->all)
      set_high (&task->plan.high[i], &pictures[i], &work->levels[i],
          task->bands, size);
  }
  for (guint i = 0; i < work->n; i++) {
    const guint level = inverse ? work->n - 1 - i : i;

    task->n +=
        (work->levels[level].x != FALSE) + (work->levels[level].y != FALSE);
    set_axes (
        task, (gint) level, &work->levels[level], &pictures[level], inverse);
  }
  set_rows (&task->plan.picture, &pictures[0], first->picture.stride, size);
  set_rows (&task->plan.low, &pictures[work->n], low->pitch, low->step * size);
}

/* A power of two of threads: those that lift the first level, and as many that copy
 * its bands meanwhile */
guint
get_threads (const SmallRows *picture)
{
  const guint pairs = (guint) picture->size[1] << picture->bits;

  return CLAMP (1u << bits_of (2 * pairs), SMALL_LEAST_THREADS, SMALL_THREADS);
}

template <class Steps>
gboolean
launch (void (*kernel) (SmallTask<Steps>), const char *name, bool inverse,
    const LwtTransform *transform, const LwtSmallWork *work,
    cudaStream_t stream, GError **error)
{
  const LwtLevelTask *first = &work->levels[0];
  SmallTask<Steps> task;
  gsize shared;

  memset ((void *) &task, 0, sizeof task);
  task.boundary = transform->boundary;
  task.reach = get_reach (&transform->wavelet);
  if (transform->boundary == LWT_BOUNDARY_PERIODIC) {
    task.shift[0] = transform->wavelet.shift_low;
    task.shift[1] = transform->wavelet.shift_high;
    task.shifted = task.shift[0] != 0 || task.shift[1] != 0;
  }
  task.all = work->all;
  task.n_levels = (gint) work->n;
  task.picture = (guint8 *) first->picture.data;
  task.low = (guint8 *) work->levels[work->n - 1].bands[0][0].data;
  task.bands = (guint8 *) work->bands.data;
  set_steps (&task.steps, transform, table_pitch (task.reach));
  set_plan (&task, work, inverse);
  shared = sizeof (SmallPlan)
           + (gsize) tables_size (task.n_tables, task.reach, task.shifted)
           + (gsize) get_pitch (first->width) * first->height
                 * sizeof (typename Steps::Sample);
  return lwt_launch (kernel, name, dim3 (1), get_threads (&task.plan.picture),
      shared, stream, task, error);
}

template <class Steps>
gboolean
forward_by (const LwtTransform *transform, const LwtSmallWork *work,
    cudaStream_t stream, GError **error)
{
  return launch<Steps> (small_forward_kernel<Steps>, "the small_forward_kernel",
      false, transform, work, stream, error);
}

template <class Steps>
gboolean
inverse_by (const LwtTransform *transform, const LwtSmallWork *work,
    cudaStream_t stream, GError **error)
{
  return launch<Steps> (small_inverse_kernel<Steps>, "the small_inverse_kernel",
      true, transform, work, stream, error);
}

template <class Shape>
gboolean
forward_shape (const LwtTransform *transform, const LwtSmallWork *work,
    cudaStream_t stream, GError **error)
{
  return forward_by<ShapeSteps<Shape, false>> (transform, work, stream, error);
}

template <class Shape>
gboolean
inverse_shape (const LwtTransform *transform, const LwtSmallWork *work,
    cudaStream_t stream, GError **error)
{
  return inverse_by<ShapeSteps<Shape, true>> (transform, work, stream, error);
}

template <typename T>
gboolean
forward_any (const LwtTransform *transform, const LwtSmallWork *work,
    cudaStream_t stream, GError **error)
{
  return forward_by<AnySteps<T, false>> (transform, work, stream, error);
}

template <typename T>
gboolean
inverse_any (const LwtTransform *transform, const LwtSmallWork *work,
    cudaStream_t stream, GError **error)
{
  return inverse_by<AnySteps<T, true>> (transform, work, stream, error);
}

} // namespace

gboolean
lwt_small_fits (const LwtTransform *transform, guint width, guint height)
{
  const LwtWavelet *wavelet = &transform->wavelet;

  return width <= SMALL_SIDE && height <= SMALL_SIDE
         && get_reach (wavelet) <= SMALL_REACH
         && lwt_count_taps (wavelet) <= SMALL_TAPS;
}

gboolean
lwt_small_forward (const LwtTransform *transform, const LwtSmallWork *work,
    cudaStream_t stream, GError **error)
{
  if (transform->kernels > 0)
    return LWT_BY_SHAPE (
        transform->kernels, forward_shape, transform, work, stream, error);
  return LWT_BY_TYPE (
      transform->type, forward_any, transform, work, stream, error);
}

gboolean
lwt_small_inverse (const LwtTransform *transform, const LwtSmallWork *work,
    cudaStream_t stream, GError **error)
{
  if (transform->kernels > 0)
    return LWT_BY_SHAPE (
        transform->kernels, inverse_shape, transform, work, stream, error);
  return LWT_BY_TYPE (
      transform->type, inverse_any, transform, work, stream, error);
}
