/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A level of the regularised field below the coarsest: inherited vectors, passes,
 * weights, the median vector, and the search of blocks that no neighbour explains. A warp has a block. */
#include "cuda/motion/cuda/field.cuh"

/* the weights are computed before the second pass, which is not that of the queue */
G_STATIC_ASSERT (MOTION_FIELD_WHOLE_PASSES > 1);
G_STATIC_ASSERT (MOTION_FIELD_SIDE_PASSES > 0);

namespace {

#define INHERIT_THREADS 256
#define ALONE_WARPS 8 /* as many as a block has neighbours */
#define ALONE_THREADS (32 * ALONE_WARPS)
#define ALONE_BLOCKS                                                           \
  1056 /* thread blocks of a launch at most: 8 on 132 processors */

/* A pass. @from, @to: index of the vectors that it reads and writes; @before: of those
 * that the pass before read
 * @repeated: the pass before had the same step, weights and expected vectors
 * @queues: level 0: blocks that are unexplained are queued; a pass that is not at
 *   boundaries also writes the vectors to @before */
struct FieldPass {
  guint level, above;
  gint32 number, step;
  guint before, from, to;
  gboolean weighted, repeated, queues;
};

/* --- inherited vectors ------------------------------------------------------------ */

/* The median of each component becomes the candidate of all blocks: a thread has the
 * vector of a block, if @exists. Called by all threads. */
__device__ __forceinline__ void
inherit_find_median (MotionFieldState *state, bool exists, MotionFieldVector v)
{
  __shared__ guint32 counts[2 * MOTION_FIELD_BINS];
  const gint32 middle = MOTION_FIELD_BINS / 2, bins = 2 * MOTION_FIELD_BINS;

  for (gint32 k = (gint32) threadIdx.x; k < bins; k += INHERIT_THREADS)
    counts[k] = 0;
  __syncthreads ();
  if (exists) {
    atomicAdd (&counts[v.x + middle], 1u);
    atomicAdd (&counts[MOTION_FIELD_BINS + v.y + middle], 1u);
  }
  __syncthreads ();
  for (gint32 k = (gint32) threadIdx.x; k < bins; k += INHERIT_THREADS)
    if (counts[k] > 0)
      atomicAdd (&state->counts[0][0] + k, counts[k]);
  if (!field_is_last (&state->ended))
    return;
  if (threadIdx.x < 64) {
    const guint32 which = threadIdx.x / 32;
    const gint32 median =
        field_find_rank (state->counts[which], MOTION_FIELD_BINS, 2) - middle;

    if (motion_lane () == 0)
      *(which == 0 ? &state->dominant.x : &state->dominant.y) = median;
  }
  __syncthreads ();
  for (gint32 k = (gint32) threadIdx.x; k < bins; k += INHERIT_THREADS)
    (&state->counts[0][0])[k] = 0;
}

/* The vectors from the level above: a thread a block. */
__global__ void
__launch_bounds__ (INHERIT_THREADS) field_inherit_kernel (
    MOTION_PARAMETER (MotionDeviceTask, task), guint level, guint above)
{
  const FieldView view (&task);
  const MotionFieldGrid *grid = view.grid (level);
  const gint32 i = (gint32) (blockIdx.x * INHERIT_THREADS + threadIdx.x);
  MotionFieldVector v = { 0, 0 };

  if (i < grid->n) {
    const gint32 column = i % grid->columns, row = i / grid->columns;
    const MotionRect rect = field_rect (&task.config, level, column, row);

    v = field_inherited (view, level, above, column, row, 0, 0);
    v.x = motion_clamp (v.x, rect.left, rect.right);
    v.y = motion_clamp (v.y, rect.top, rect.bottom);
    view.own (grid->vectors[0])[i] = view.own (grid->inherited)[i] =
        field_short (v);
  }
  inherit_find_median (view.state (), i < grid->n, v);
}

/* --- total costs -------------------------------------------------------------------- */

/* The neighbourhood of a block in a pass: lanes 1 to 8 have the neighbours. */
struct FieldNear {
  gint32 i, column, row;
  guint32 vector; /* of the lane's neighbour, packed; lane 0: the block's own */
  gint32 weight;  /* of the neighbour; 0: there is none */
  gint32 total;   /* of the weights */
  MotionFieldVector expected;

  __device__ __forceinline__
  FieldNear (const FieldView &view, const FieldPass &pass, gint32 number)
  {
    const MotionFieldGrid *grid = view.grid (pass.level);
    const gint32 lane = (gint32) motion_lane ();
    gint32 x, y, j;

    i = number;
    column = x = i % grid->columns;
    row = y = i / grid->columns;
    weight = 0;
    vector = 0;
    if (lane > 0) {
      const MotionFieldVector d = field_neighbour (min (lane, 8) - 1);

      x += d.x;
      y += d.y;
    }
    j = y * grid->columns + x;
    if (lane <= 8 && x >= 0 && y >= 0 && x < grid->columns && y < grid->rows) {
      vector =
          field_pack (field_vector (view.own (grid->vectors[pass.from])[j]));
      if (lane > 0)
        weight = pass.weighted
                     ? MOTION_FIELD_WEIGHT_MIN + view.own (grid->weights)[j]
                     : 1;
    }
    total = (gint32) motion_warp_sum ((guint32) weight);
    expected = field_vector (
        view.own (pass.weighted ? grid->expected : grid->inherited)[i]);
  }

  __device__ __forceinline__ MotionFieldVector
  own (void) const
  {
    return field_unpack (__shfl_sync (MOTION_ALL_LANES, vector, 0));
  }

  /* The distances of the lane's @v, in all lanes at once. */
  __device__ __forceinline__ gint32
  rough (guint level, MotionFieldVector v) const
  {
    const gint32 most = MOTION_FIELD_REACH * motion_field_unit (level);
    gint32 sum = 0;

#pragma unroll
    for (gint32 k = 1; k <= 8; k++)
      sum +=
          __shfl_sync (MOTION_ALL_LANES, weight, k)
          * motion_field_distance (v,
              field_unpack (__shfl_sync (MOTION_ALL_LANES, vector, k)), most);
    return (total > 0 ? sum * 8 / total : 0)
           + MOTION_FIELD_EXPECTED * motion_field_distance (v, expected, most);
  }

  /* The lane's candidate. Lane 0: the block's vector; 1 to 8: the neighbours'; 9: zero;
   * 10: the median; 11: inherited; 12: expected; 13 to 20: from the level above; 21 to
   * 28: a step away. Returns: whether the lane has one that no lane before has */
  __device__ __forceinline__ bool
  list (
      const FieldView &view, const FieldPass &pass, MotionFieldVector *v) const
  {
    const gint32 lane = (gint32) motion_lane ();
    const MotionRect rect =
        field_rect (&view.task->config, pass.level, column, row);
    const MotionFieldVector centre = own ();
    bool exists = lane <= 28;

    *v = field_unpack (vector);
    if (lane >= 1 && lane <= 8) {
      exists = weight > 0;
    } else if (lane == 9) {
      *v = MotionFieldVector{ 0, 0 };
    } else if (lane == 10) {
      *v = view.state ()->dominant;
    } else if (lane == 11) {
      *v = field_vector (view.own (view.grid (pass.level)->inherited)[i]);
    } else if (lane == 12) {
      *v = expected;
    } else if (lane >= 13 && lane <= 20) {
      const MotionFieldVector d = field_neighbour (lane - 13);

      exists = pass.number == 0;
      if (exists)
        *v = field_inherited (
            view, pass.level, pass.above, column, row, d.x, d.y);
    } else if (lane >= 21) {
      const MotionFieldVector d = field_neighbour (min (lane, 28) - 21);

      *v = MotionFieldVector{ centre.x + d.x * pass.step,
        centre.y + d.y * pass.step };
    }
    exists = exists && v->x >= rect.left && v->x <= rect.right
             && v->y >= rect.top && v->y <= rect.bottom;
    /* no vector has this word */
    return (motion_warp_match (
                exists ? field_pack (*v) : 0x80000000u | (guint32) lane)
               & ((1u << lane) - 1))
               == 0
           && exists;
  }
};

__device__ __forceinline__ bool
field_is_zero (MotionFieldVector v)
{
  return v.x == 0 && v.y == 0;
}

/* Whether the pass before changed the block or a neighbour. If not, a repeated pass
 * changes nothing. */
__device__ __forceinline__ bool
field_has_changed (
    const FieldView &view, const FieldPass &pass, const FieldNear &near)
{
  const MotionFieldGrid *grid = view.grid (pass.level);
  const gint32 lane = (gint32) motion_lane ();
  gint32 j = near.i;
  bool changed = false;

  if (lane > 0) {
    const MotionFieldVector d = field_neighbour (min (lane, 8) - 1);

    j += d.y * grid->columns + d.x;
  }
  if (lane == 0 || near.weight > 0)
    changed =
        near.vector
        != field_pack (field_vector (view.own (grid->vectors[pass.before])[j]));
  return __any_sync (MOTION_ALL_LANES, changed);
}

/* --- passes -------------------------------------------------------------------------- */

/* A pass above level 0: a lane computes its candidate's cost. */
__global__ void
__launch_bounds__ (FIELD_THREADS)
    field_pass_above_kernel (MOTION_PARAMETER (MotionDeviceTask, task),
        MOTION_PARAMETER (FieldPass, pass))
{
  const FieldView view (&task);
  const MotionFieldGrid *grid = view.grid (pass.level);
  const gint32 i = (gint32) (blockIdx.x * FIELD_WARPS + threadIdx.x / 32);
  guint32 key = MOTION_NONE;

  if (i >= grid->n)
    return;
  const FieldNear near (view, pass, i);
  MotionFieldVector v = near.own ();

  if (!pass.repeated || field_has_changed (view, pass, near)) {
    const FieldBlock block (view, pass.level, near.column, near.row);
    MotionFieldVector candidate;
    const bool exists = near.list (view, pass, &candidate);
    const gint32 rough =
        motion_field_lambda (&task.config, pass.level, view.noise ())
        * near.rough (pass.level, candidate) / motion_field_unit (pass.level);

    if (exists) {
      const gint32 data = block.cost (candidate);
      const bool exact = data == 0 && field_is_zero (candidate);

      key = (guint32) (exact ? 0 : 8 * data + rough) << 5 | motion_lane ();
    }
    key = motion_warp_min (key);
    v = field_unpack (
        __shfl_sync (MOTION_ALL_LANES, field_pack (candidate), key & 31));
  }
  if (motion_lane () == 0)
    view.own (grid->vectors[pass.to])[i] = field_short (v);
}

/* The cost of the part of the block that lies in the reference, if that is half of it;
 * as if the rest cost as much. */
template <int SIZE>
__device__ __forceinline__ gint32
pass_cost_inside (const FieldView &view, const FieldLanes<SIZE> &lanes,
    const FieldNear &near, const MotionFieldWindow &win, MotionFieldVector v)
{
  const MotionFieldWindow inside =
      field_inside (&view.task->config, 0, near.column, near.row, win, v);
  FieldLanes<SIZE> part = lanes;

  part.set_window (inside);
  return (gint32) ((gint64) part.cost (&view.field->reference, v)
                   * (win.w * win.h) / (inside.w * inside.h));
}

/* The candidate of least cost at level 0, the first of equals: all lanes compute one
 * after the other, in order. One whose distances alone (@rough) cost as much as the best
 * so far is left out; only the zero vector may still win, if it is exact. */
template <int SIZE>
__device__ __forceinline__ MotionFieldVector
pass_compare (const FieldView &view, const FieldLanes<SIZE> &lanes,
    MotionFieldVector own, MotionFieldVector candidate, bool exists,
    gint32 rough)
{
  guint32 left = __ballot_sync (MOTION_ALL_LANES, exists);
  gint32 least = G_MAXINT32;
  MotionFieldVector best = own;

  while (left != 0) {
    const gint32 k = __ffs ((gint32) left) - 1;
    const MotionFieldVector v = field_unpack (
        __shfl_sync (MOTION_ALL_LANES, field_pack (candidate), k));
    gint32 cost = __shfl_sync (MOTION_ALL_LANES, rough, k), data;

    left &= left - 1;
    if (cost >= least && !field_is_zero (v))
      continue;
    data = lanes.cost (&view.field->reference, v);
    cost = data == 0 && field_is_zero (v) ? 0 : 8 * data + cost;
    if (cost < least) {
      least = cost;
      best = v;
    }
  }
  return best;
}

/* A pass at level 0. */
template <int SIZE>
__device__ __forceinline__ MotionFieldVector
pass_choose (const FieldView &view, const FieldPass &pass,
    const FieldNear &near, const FieldLanes<SIZE> &lanes)
{
  MotionFieldVector candidate;
  const bool exists = near.list (view, pass, &candidate);
  const gint32 rough =
      motion_field_lambda (&view.task->config, 0, view.noise ())
      * near.rough (0, candidate) / motion_field_unit (0);

  return pass_compare<SIZE> (
      view, lanes, near.own (), candidate, exists, rough);
}

template <int SIZE>
__global__ void
__launch_bounds__ (FIELD_THREADS)
    field_pass_kernel (MOTION_PARAMETER (MotionDeviceTask, task),
        MOTION_PARAMETER (FieldPass, pass))
{
  const FieldView view (&task);
  const MotionFieldGrid *grid = view.grid (0);
  const gint32 i = (gint32) (blockIdx.x * FIELD_WARPS + threadIdx.x / 32);

  if (i >= grid->n)
    return;
  const FieldNear near (view, pass, i);
  MotionFieldVector v = near.own ();

  if (!pass.repeated || field_has_changed (view, pass, near)) {
    const MotionFieldWindow win = field_window (view, 0, near.column, near.row);
    FieldLanes<SIZE> lanes (view, near.column, near.row);

    lanes.light (view.state ());
    lanes.set_window (win);
    v = pass_choose<SIZE> (view, pass, near, lanes);
    if (pass.queues) {
      const gint32 cost = pass_cost_inside<SIZE> (view, lanes, near, win, v);

      if (motion_lane () == 0) {
        view.own (grid->vectors[pass.before])[i] = field_short (v);
        if (cost > motion_field_unexplained (MOTION_FIELD_OWN_COST,
                view.noise (), win.w * win.h, SIZE * SIZE))
          view.own (task.memory.queue)[atomicAdd (&view.state ()->queued, 1u)] =
              (guint32) i;
      }
    }
  }
  if (motion_lane () == 0)
    view.own (grid->vectors[pass.to])[i] = field_short (v);
}

/* --- the frame's median vector --------------------------------------------------------- */

/* The median of vectors[@from]: a thread a block. */
__global__ void
__launch_bounds__ (INHERIT_THREADS)
    field_median_kernel (MOTION_PARAMETER (MotionDeviceTask, task), guint from)
{
  const FieldView view (&task);
  const MotionFieldGrid *grid = view.grid (0);
  const gint32 i = (gint32) (blockIdx.x * INHERIT_THREADS + threadIdx.x);
  MotionFieldVector v = { 0, 0 };

  if (i < grid->n)
    v = field_vector (view.own (grid->vectors[from])[i]);
  inherit_find_median (view.state (), i < grid->n, v);
}

__device__ __forceinline__ bool
settle_is_near (MotionFieldVector a, MotionFieldVector b)
{
  return motion_field_distance (a, b, G_MAXINT32)
         <= MOTION_FIELD_SETTLE_DISTANCE;
}

__device__ __forceinline__ bool
settle_is_allowed (const FieldView &view, gint32 column, gint32 row)
{
  const MotionFieldVector v = view.state ()->dominant;
  const MotionRect rect = field_rect (&view.task->config, 0, column, row);

  return motion_contains (&rect, v.x, v.y);
}

/* How much less the median vector costs each block: a warp a block. */
template <int SIZE>
__global__ void
__launch_bounds__ (FIELD_THREADS)
    field_gain_kernel (MOTION_PARAMETER (MotionDeviceTask, task), guint from)
{
  const FieldView view (&task);
  const MotionFieldGrid *grid = view.grid (0);
  const gint32 i = (gint32) (blockIdx.x * FIELD_WARPS + threadIdx.x / 32);
  gint32 gain = 0;

  if (i >= grid->n)
    return;
  const gint32 column = i % grid->columns, row = i / grid->columns;
  const MotionFieldVector v = field_vector (view.own (grid->vectors[from])[i]);
  const MotionFieldVector median = view.state ()->dominant;

  if (!settle_is_near (v, median) && settle_is_allowed (view, column, row)) {
    FieldLanes<SIZE> lanes (view, column, row);

    lanes.light (view.state ());
    lanes.set_window (field_window (view, 0, column, row));
    gain = lanes.cost (&view.field->reference, v)
           - lanes.cost (&view.field->reference, median);
  }
  if (motion_lane () == 0)
    view.own (task.memory.gains)[i] = gain;
}

/* Blocks with like vectors take the median, if it has less data cost for them: a thread
 * a block. */
__global__ void
__launch_bounds__ (INHERIT_THREADS) field_settle_kernel (
    MOTION_PARAMETER (MotionDeviceTask, task), guint from, guint to)
{
  const FieldView view (&task);
  const MotionFieldGrid *grid = view.grid (0);
  const gint32 i = (gint32) (blockIdx.x * INHERIT_THREADS + threadIdx.x);
  const gint32 *gains = view.own (task.memory.gains);
  const short2 *vectors = view.own (grid->vectors[from]);
  const gint32 column = i % grid->columns, row = i / grid->columns;
  const MotionFieldVector median = view.state ()->dominant;
  gint32 sum, alike = 1;
  MotionFieldVector v;

  if (i >= grid->n)
    return;
  v = field_vector (vectors[i]);
  sum = gains[i];
  for (gint32 k = 0; k < 8; k++) {
    const MotionFieldVector d = field_neighbour (k);
    const gint32 x = column + d.x, y = row + d.y, j = y * grid->columns + x;

    if (x < 0 || y < 0 || x >= grid->columns || y >= grid->rows
        || !settle_is_near (v, field_vector (vectors[j])))
      continue;
    sum += gains[j];
    alike++;
  }
  if (!settle_is_near (v, median) && motion_field_settles (gains[i], sum, alike)
      && settle_is_allowed (view, column, row))
    v = median;
  view.own (grid->vectors[to])[i] = field_short (v);
}

/* --- weights -------------------------------------------------------------------------- */

/* A lane computes the cost of a vector: lanes 0 to 7 a pixel off, lane 8 the block's. */
__global__ void
__launch_bounds__ (FIELD_THREADS) field_weigh_above_kernel (
    MOTION_PARAMETER (MotionDeviceTask, task), guint level, guint from)
{
  const FieldView view (&task);
  const MotionFieldGrid *grid = view.grid (level);
  const gint32 i = (gint32) (blockIdx.x * FIELD_WARPS + threadIdx.x / 32);
  const gint32 lane = (gint32) motion_lane ();
  gint32 cost = G_MAXINT32, least;

  if (i >= grid->n)
    return;
  if (lane <= 8) {
    const FieldBlock block (view, level, i % grid->columns, i / grid->columns);
    MotionFieldVector v = field_vector (view.own (grid->vectors[from])[i]);

    if (lane < 8) {
      v.x += field_neighbour (lane).x * motion_field_unit (level);
      v.y += field_neighbour (lane).y * motion_field_unit (level);
    }
    cost = block.cost (v);
  }
  least = (gint32) motion_warp_min ((guint32) (lane < 8 ? cost : G_MAXINT32));
  if (lane == 8)
    view.own (grid->weights)[i] =
        motion_field_weight (level, view.noise (), least - cost);
}

template <int SIZE>
__global__ void
__launch_bounds__ (FIELD_THREADS)
    field_weigh_kernel (MOTION_PARAMETER (MotionDeviceTask, task), guint from)
{
  const FieldView view (&task);
  const MotionFieldGrid *grid = view.grid (0);
  const gint32 i = (gint32) (blockIdx.x * FIELD_WARPS + threadIdx.x / 32);
  gint32 least = G_MAXINT32;

  if (i >= grid->n)
    return;
  const gint32 column = i % grid->columns, row = i / grid->columns;
  const MotionFieldVector v = field_vector (view.own (grid->vectors[from])[i]);
  FieldLanes<SIZE> lanes (view, column, row);

  lanes.light (view.state ());
  lanes.set_window (field_window (view, 0, column, row));
  for (gint32 k = 0; k < 8; k++) {
    const MotionFieldVector d = field_neighbour (k);

    least =
        min (least, lanes.cost (&view.field->reference,
                        MotionFieldVector{ v.x + d.x * motion_field_unit (0),
                            v.y + d.y * motion_field_unit (0) }));
  }
  least -= lanes.cost (&view.field->reference, v);
  if (motion_lane () == 0)
    view.own (grid->weights)[i] = motion_field_weight (0, view.noise (), least);
}

/* --- blocks that search on their own ----------------------------------------------- */

/* The least key of all warps, which have @key in all lanes. */
__device__ __forceinline__ guint32
alone_least_key (guint32 key)
{
  __shared__ guint32 keys[ALONE_WARPS];

  __syncthreads ();
  keys[threadIdx.x / 32] = key;
  __syncthreads ();
  for (gint32 w = 0; w < ALONE_WARPS; w++)
    key = min (key, keys[w]);
  return key;
}

/* Moves to the neighbour @step quarter pixels away of least data cost, if that is less:
 * each warp computes one. */
template <int SIZE>
__device__ __forceinline__ void
alone_refine (const FieldView &view, const FieldLanes<SIZE> &lanes,
    const MotionRect &rect, gint32 step, MotionFieldVector *best, gint32 *least)
{
  const gint32 warp = (gint32) threadIdx.x / 32;
  MotionFieldVector d = field_neighbour (warp);
  const MotionFieldVector v = { best->x + step * d.x, best->y + step * d.y };
  guint32 key = MOTION_NONE;

  if (motion_contains (&rect, v.x, v.y))
    key =
        (guint32) lanes.cost (&view.field->reference, v) << 3 | (guint32) warp;
  key = alone_least_key (key);
  if ((gint32) (key >> 3) >= *least)
    return;
  d = field_neighbour ((gint32) (key & 7));
  *least = (gint32) (key >> 3);
  *best = MotionFieldVector{ best->x + step * d.x, best->y + step * d.y };
}

/* The vector of least data cost, the first among equals: of a raster, then of the eight
 * neighbours at half the spacing, down to a pixel. */
template <int SIZE>
__device__ __forceinline__ MotionFieldVector
alone_search (const FieldView &view, const FieldLanes<SIZE> &lanes,
    const MotionRect &rect)
{
  const MotionDevicePicture *reference = &view.field->reference;
  const gint32 warp = (gint32) threadIdx.x / 32;
  const gint32 range = (gint32) view.task->config.range;
  const gint32 side = 2 * range / MOTION_FIELD_OWN_STEP + 1;
  const gint32 spacing = MOTION_FIELD_OWN_STEP;
  gint32 least;
  guint32 key = MOTION_NONE;
  MotionFieldVector best = { 0, 0 };

  /* a key: the cost, at most 65280, and the number of the vector, below 65 x 65 */
  for (gint32 n = warp; n < side * side; n += ALONE_WARPS) {
    const MotionFieldVector v = { 4 * (n % side * spacing - range),
      4 * (n / side * spacing - range) };

    if (motion_contains (&rect, v.x, v.y))
      key = min (key, (guint32) lanes.cost (reference, v) << 13 | (guint32) n);
  }
  key = alone_least_key (key);
  least = (gint32) (key >> 13);
  if (key == MOTION_NONE)
    least = lanes.cost (reference, best);
  else
    best = MotionFieldVector{
      4 * ((gint32) (key & 0x1fff) % side * spacing - range),
      4 * ((gint32) (key & 0x1fff) / side * spacing - range)
    };
  for (gint32 step = 4 * spacing / 2; step >= 4; step /= 2)
    alone_refine<SIZE> (view, lanes, rect, step, &best, &least);
  return best;
}

/* Total cost of @v with twice the weight of the distances. */
template <int SIZE>
__device__ __forceinline__ gint32
alone_cost (const FieldView &view, const FieldNear &near,
    const FieldLanes<SIZE> &lanes, MotionFieldVector v)
{
  const gint32 data = lanes.cost (&view.field->reference, v);
  const gint32 lambda =
      2 * motion_field_lambda (&view.task->config, 0, view.noise ());

  return data == 0 && field_is_zero (v)
             ? 0
             : 8 * data + lambda * near.rough (0, v) / motion_field_unit (0);
}

/* A thread block takes blocks from the queue; its warps share the vectors of one. All
 * blocks of vectors[@pass.to] have the vectors of @pass.from already. */
template <int SIZE>
__global__ void
__launch_bounds__ (ALONE_THREADS)
    field_alone_kernel (MOTION_PARAMETER (MotionDeviceTask, task),
        MOTION_PARAMETER (FieldPass, pass))
{
  const FieldView view (&task);
  const guint32 n = view.state ()->queued;

  for (guint32 k = blockIdx.x; k < n; k += gridDim.x) {
    const gint32 i = (gint32) view.own (task.memory.queue)[k];
    const FieldNear near (view, pass, i);
    const MotionFieldVector own = near.own ();
    FieldLanes<SIZE> lanes (view, near.column, near.row);
    MotionFieldVector other;

    lanes.light (view.state ());
    lanes.set_window (field_window (view, 0, near.column, near.row));
    other = alone_search<SIZE> (
        view, lanes, field_rect (&task.config, 0, near.column, near.row));
    if (alone_cost<SIZE> (view, near, lanes, other)
            < alone_cost<SIZE> (view, near, lanes, own)
        && threadIdx.x == 0)
      view.own (view.grid (0)->vectors[pass.to])[i] = field_short (other);
  }
}

/* --- boundaries --------------------------------------------------------------------- */

/* Queues the block @i for the last search, if its data cost is not explained. */
template <int SIZE>
__device__ __forceinline__ void
sides_queue (
    const FieldView &view, const FieldNear &near, gint32 i, MotionFieldVector v)
{
  const MotionFieldWindow win = field_window (view, 0, near.column, near.row);
  FieldLanes<SIZE> lanes (view, near.column, near.row);
  gint32 cost;

  lanes.light (view.state ());
  lanes.set_window (win);
  cost = pass_cost_inside<SIZE> (view, lanes, near, win, v);
  if (motion_lane () == 0
      && cost > motion_field_unexplained (
             MOTION_FIELD_LAST_COST, view.noise (), win.w * win.h, SIZE * SIZE))
    view.own (
        view.task->memory.queue)[atomicAdd (&view.state ()->remaining, 1u)] =
        (guint32) i;
}

/* Lanes 1 to 8 have the vectors of neighbours that are not like the block's. */
template <int SIZE>
__global__ void
__launch_bounds__ (FIELD_THREADS)
    field_sides_kernel (MOTION_PARAMETER (MotionDeviceTask, task),
        MOTION_PARAMETER (FieldPass, pass))
{
  const FieldView view (&task);
  const MotionFieldGrid *grid = view.grid (0);
  const gint32 i = (gint32) (blockIdx.x * FIELD_WARPS + threadIdx.x / 32);

  if (i >= grid->n)
    return;
  const FieldNear near (view, pass, i);
  const MotionRect rect = field_rect (&task.config, 0, near.column, near.row);
  const MotionFieldVector own = near.own ();
  const MotionFieldVector candidate = field_unpack (near.vector);
  const bool other = near.weight > 0 && !settle_is_near (candidate, own)
                     && motion_contains (&rect, candidate.x, candidate.y);
  guint32 left = __ballot_sync (MOTION_ALL_LANES, other);
  MotionFieldVector best = own;

  if (left != 0) {
    const MotionDevicePicture *reference = &view.field->reference;
    const guint32 most = (guint32) motion_field_cut (view.noise ());
    FieldLanes<SIZE> lanes (view, near.column, near.row);
    gint32 least, limit;

    lanes.light (view.state ());
    lanes.set_window (field_window (view, 0, near.column, near.row));
    limit = lanes.cost (reference, own) + MOTION_FIELD_SIDE_SLACK;
    least = 8 * lanes.cut_cost (reference, own, most);
    for (; left != 0; left &= left - 1) {
      const MotionFieldVector v = field_unpack (__shfl_sync (
          MOTION_ALL_LANES, near.vector, __ffs ((gint32) left) - 1));
      const gint32 cost = 8 * lanes.cut_cost (reference, v, most)
                          + motion_field_change_cost (view.noise ());

      if (cost < least && lanes.cost (reference, v) <= limit) {
        least = cost;
        best = v;
      }
    }
  }
  if (pass.queues)
    sides_queue<SIZE> (view, near, i, best);
  if (motion_lane () == 0)
    view.own (grid->vectors[pass.to])[i] = field_short (best);
}

/* --- the last search ---------------------------------------------------------------- */

/* A descent of a warp from the best point of the raster of those whose number has the
 * remainder @start. Returns: the least data cost; G_MAXINT32: no point is allowed */
template <int SIZE>
__device__ __forceinline__ gint32
last_descend (const FieldView &view, const FieldLanes<SIZE> &lanes,
    const MotionRect &rect, gint32 start, MotionFieldVector *best)
{
  const MotionDevicePicture *reference = &view.field->reference;
  const gint32 range = (gint32) view.task->config.range;
  const gint32 spacing = MOTION_FIELD_LAST_STEP;
  const gint32 side = 2 * range / spacing + 1;
  gint32 least = G_MAXINT32;

  for (gint32 n = start; n < side * side; n += MOTION_FIELD_LAST_STARTS) {
    const MotionFieldVector v = { 4 * (n % side * spacing - range),
      4 * (n / side * spacing - range) };
    gint32 cost;

    if (!motion_contains (&rect, v.x, v.y))
      continue;
    cost = lanes.cost (reference, v);
    if (cost < least) {
      least = cost;
      *best = v;
    }
  }
  for (gint32 step = 4 * spacing / 2; step >= 4 && least != G_MAXINT32;
       step /= 2) {
    const MotionFieldVector centre = *best;

    for (gint32 k = 0; k < 8; k++) {
      MotionFieldVector v = field_neighbour (k);
      gint32 cost;

      v = MotionFieldVector{ centre.x + step * v.x, centre.y + step * v.y };
      if (!motion_contains (&rect, v.x, v.y))
        continue;
      cost = lanes.cost (reference, v);
      if (cost < least) {
        least = cost;
        *best = v;
      }
    }
  }
  return least;
}

/* The vector of least data cost that the descents find, the first among equals; each warp
 * makes every ALONE_WARPS-th. @least: (out): its cost; G_MAXINT32: no point is allowed */
template <int SIZE>
__device__ __forceinline__ MotionFieldVector
last_search (const FieldView &view, const FieldLanes<SIZE> &lanes,
    const MotionRect &rect, gint32 *least)
{
  __shared__ guint32 vectors[MOTION_FIELD_LAST_STARTS];
  const MotionSubpel subpel = view.task->config.subpel;
  guint32 key = MOTION_NONE;
  MotionFieldVector best = { 0, 0 };

  for (gint32 k = (gint32) threadIdx.x / 32; k < MOTION_FIELD_LAST_STARTS;
       k += ALONE_WARPS) {
    MotionFieldVector v = { 0, 0 };
    const gint32 cost = last_descend<SIZE> (view, lanes, rect, k, &v);

    vectors[k] = field_pack (v);
    if (cost != G_MAXINT32)
      key = min (key, (guint32) cost * MOTION_FIELD_LAST_STARTS + (guint32) k);
  }
  key = alone_least_key (key);
  *least = G_MAXINT32;
  if (key == MOTION_NONE)
    return best;
  best = field_unpack (vectors[key % MOTION_FIELD_LAST_STARTS]);
  *least = (gint32) (key / MOTION_FIELD_LAST_STARTS);
  if (subpel != MOTION_SUBPEL_NONE)
    alone_refine<SIZE> (view, lanes, rect, 2, &best, least);
  if (subpel == MOTION_SUBPEL_QUARTER)
    alone_refine<SIZE> (view, lanes, rect, 1, &best, least);
  return best;
}

/* A thread block takes blocks from the queue; its warps share the vectors of one. The
 * search reads no neighbours, so it changes vectors[@pass.from]. */
template <int SIZE>
__global__ void
__launch_bounds__ (ALONE_THREADS)
    field_last_kernel (MOTION_PARAMETER (MotionDeviceTask, task),
        MOTION_PARAMETER (FieldPass, pass))
{
  const FieldView view (&task);
  const MotionDevicePicture *reference = &view.field->reference;
  const MotionFieldGrid *grid = view.grid (0);
  short2 *vectors = view.own (grid->vectors[pass.from]);
  const guint32 n = view.state ()->remaining;

  for (guint32 k = blockIdx.x; k < n; k += gridDim.x) {
    const gint32 i = (gint32) view.own (task.memory.queue)[k];
    const gint32 column = i % grid->columns, row = i / grid->columns;
    const MotionFieldVector own = field_vector (vectors[i]);
    const MotionFieldVector d = field_neighbour ((gint32) threadIdx.x / 32);
    FieldLanes<SIZE> lanes (view, column, row);
    MotionFieldVector other;
    gint32 cost, limit, least;

    lanes.light (view.state ());
    lanes.set_window (field_window (view, 0, column, row));
    cost = lanes.cost (reference, own);
    limit = (gint32) alone_least_key ((guint32) lanes.cost (
        reference, MotionFieldVector{ own.x + 4 * d.x, own.y + 4 * d.y }));
    limit = motion_field_last_limit (cost, limit - cost);
    if (limit <= 0)
      continue;
    other = last_search<SIZE> (
        view, lanes, field_rect (&task.config, 0, column, row), &least);
    if (least < limit && threadIdx.x == 0)
      vectors[i] = field_short (other);
  }
}

/* --- launches -------------------------------------------------------------------------- */

#define FIELD_PASS(SIZE) field_pass_kernel<SIZE>
#define FIELD_GAIN(SIZE) field_gain_kernel<SIZE>
#define FIELD_ALONE(SIZE) field_alone_kernel<SIZE>
#define FIELD_WEIGH(SIZE) field_weigh_kernel<SIZE>
#define FIELD_SIDES(SIZE) field_sides_kernel<SIZE>
#define FIELD_LAST(SIZE) field_last_kernel<SIZE>

/* Launches a pass and makes @pass the next one. */
void
field_start_pass (const MotionDeviceTask *task, FieldPass *pass, gint32 step,
    cudaStream_t stream)
{
  const guint n = (guint) task->memory.grids[pass->level].n;
  const dim3 grid ((n + FIELD_WARPS - 1) / FIELD_WARPS, task->n_fields);

  pass->repeated = pass->number > 1 && step == pass->step && !pass->queues;
  pass->step = step;
  pass->before = (pass->from + 2) % 3;
  pass->to = (pass->from + 1) % 3;
  if (pass->level == 0)
    MOTION_LAUNCH_SIZE (FIELD_PASS, grid, FIELD_THREADS, stream, *task, *pass);
  else
    MOTION_START (
        field_pass_above_kernel, grid, FIELD_THREADS, stream, *task, *pass);
  pass->number++;
  pass->from = pass->to;
}

/* The weights and expected vectors that the passes from now on use. */
cudaError_t
field_start_weights (
    const MotionDeviceTask *task, FieldPass *pass, cudaStream_t stream)
{
  const guint n = (guint) task->memory.grids[pass->level].n;
  const dim3 grid ((n + FIELD_WARPS - 1) / FIELD_WARPS, task->n_fields);

  if (pass->level == 0)
    MOTION_LAUNCH_SIZE (
        FIELD_WEIGH, grid, FIELD_THREADS, stream, *task, pass->from);
  else
    MOTION_START (field_weigh_above_kernel, grid, FIELD_THREADS, stream, *task,
        pass->level, pass->from);
  pass->weighted = TRUE;
  return motion_launch_field_expected (task, pass->level, pass->from, stream);
}

/* Between two passes of level 0. */
void
field_start_settling (
    const MotionDeviceTask *task, FieldPass *pass, cudaStream_t stream)
{
  const guint n = task->n_blocks, to = (pass->from + 1) % 3;
  const dim3 grid ((n + FIELD_WARPS - 1) / FIELD_WARPS, task->n_fields);
  const dim3 all ((n + INHERIT_THREADS - 1) / INHERIT_THREADS, task->n_fields);

  MOTION_START (
      field_median_kernel, all, INHERIT_THREADS, stream, *task, pass->from);
  MOTION_LAUNCH_SIZE (
      FIELD_GAIN, grid, FIELD_THREADS, stream, *task, pass->from);
  MOTION_START (
      field_settle_kernel, all, INHERIT_THREADS, stream, *task, pass->from, to);
  pass->from = to;
}

/* The search of unexplained blocks, which the pass before has queued. */
void
field_start_alone (
    const MotionDeviceTask *task, FieldPass *pass, cudaStream_t stream)
{
  const dim3 grid (MIN (task->n_blocks, (guint) ALONE_BLOCKS), task->n_fields);

  pass->queues = FALSE;
  pass->to = pass->before;
  MOTION_LAUNCH_SIZE (FIELD_ALONE, grid, ALONE_THREADS, stream, *task, *pass);
  pass->number++;
  pass->from = pass->to;
  pass->step = 0;
}

/* The last search, for which the pass before has queued blocks. */
void
field_start_last (
    const MotionDeviceTask *task, const FieldPass *pass, cudaStream_t stream)
{
  const dim3 grid (MIN (task->n_blocks, (guint) ALONE_BLOCKS), task->n_fields);

  MOTION_LAUNCH_SIZE (FIELD_LAST, grid, ALONE_THREADS, stream, *task, *pass);
}

/* A pass at boundaries. */
void
field_start_sides (
    const MotionDeviceTask *task, FieldPass *pass, cudaStream_t stream)
{
  const dim3 grid (
      (task->n_blocks + FIELD_WARPS - 1) / FIELD_WARPS, task->n_fields);

  pass->to = (pass->from + 1) % 3;
  MOTION_LAUNCH_SIZE (FIELD_SIDES, grid, FIELD_THREADS, stream, *task, *pass);
  pass->from = pass->to;
}

} // namespace

cudaError_t
motion_launch_field_level (const MotionDeviceTask *task, guint level,
    guint above, guint *result, cudaStream_t stream)
{
  const guint n = (guint) task->memory.grids[level].n;
  const dim3 all ((n + INHERIT_THREADS - 1) / INHERIT_THREADS, task->n_fields);
  const MotionSubpel subpel = task->config.subpel;
  const gint32 passes =
      level > 0 ? MOTION_FIELD_COARSE_PASSES : MOTION_FIELD_WHOLE_PASSES;
  FieldPass pass = {};
  cudaError_t code = cudaSuccess;

  pass.level = level;
  pass.above = above;
  MOTION_START (
      field_inherit_kernel, all, INHERIT_THREADS, stream, *task, level, above);
  for (gint32 i = 0; i < passes && code == cudaSuccess; i++) {
    if (i == 1)
      code = field_start_weights (task, &pass, stream);
    pass.queues = level == 0 && i == passes - 1;
    field_start_pass (task, &pass, motion_field_unit (level), stream);
    if (level == 0 && i == 0)
      field_start_settling (task, &pass, stream);
  }
  if (level == 0)
    field_start_alone (task, &pass, stream);
  for (gint32 i = 0; i < MOTION_FIELD_SUBPEL_PASSES && level == 0
                     && subpel != MOTION_SUBPEL_NONE;
       i++)
    field_start_pass (task, &pass, 2, stream);
  for (gint32 i = 0; i < MOTION_FIELD_SUBPEL_PASSES && level == 0
                     && subpel == MOTION_SUBPEL_QUARTER;
       i++)
    field_start_pass (task, &pass, 1, stream);
  for (gint32 i = 0; i < MOTION_FIELD_SIDE_PASSES && level == 0; i++) {
    pass.queues = i == MOTION_FIELD_SIDE_PASSES - 1;
    field_start_sides (task, &pass, stream);
  }
  if (level == 0)
    field_start_last (task, &pass, stream);
  *result = pass.from;
  return code == cudaSuccess ? cudaGetLastError () : code;
}
