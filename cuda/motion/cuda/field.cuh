/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Shared by the kernels of the regularised field (method=field): a field's memory,
 * the samples of a block, its data costs, sums over the blocks of a launch. The
 * definitions are in docs/design/motion.md, the formulas in cuda/motion/field.h. */
#pragma once

#include "cuda/motion/cuda/warp.cuh"

#define FIELD_WARPS 4 /* of a thread block; each has a block of the grid */
#define FIELD_THREADS (32 * FIELD_WARPS)

/* --- a field --------------------------------------------------------------- */

/* The field that a thread block works on, number blockIdx.y of the frame's. */
struct FieldView {
  const MotionDeviceTask *task;
  const MotionDeviceField *field;

  __device__ __forceinline__ explicit FieldView (const MotionDeviceTask *t)
      : task (t), field (&t->fields[blockIdx.y])
  {
  }

  /* The field's own part of what @first, of the first field, points to. */
  template <typename T>
  __device__ __forceinline__ T *
  own (T *first) const
  {
    return (T *) ((guint8 *) first + blockIdx.y * task->memory.stride);
  }

  __device__ __forceinline__ MotionFieldState *
  state (void) const
  {
    return own (task->memory.state);
  }

  __device__ __forceinline__ const MotionFieldGrid *
  grid (guint level) const
  {
    return &task->memory.grids[level];
  }

  __device__ __forceinline__ gint32
  noise (void) const
  {
    return task->current.survey->noise;
  }

  __device__ __forceinline__ gint32
  pitch (guint level) const
  {
    return (gint32) (level == 0 ? task->layout.pitch
                                : task->layout.levels[level].pitch);
  }
};

__device__ __forceinline__ MotionFieldVector
field_vector (short2 v)
{
  return MotionFieldVector{ v.x, v.y };
}

__device__ __forceinline__ short2
field_short (MotionFieldVector v)
{
  return make_short2 ((gint16) v.x, (gint16) v.y);
}

/* Both components in a word, and back. */
__device__ __forceinline__ guint32
field_pack (MotionFieldVector v)
{
  return (guint32) (v.x & 0xffff) | (guint32) v.y << 16;
}

__device__ __forceinline__ MotionFieldVector
field_unpack (guint32 word)
{
  return MotionFieldVector{ (gint16) (word & 0xffff), (gint16) (word >> 16) };
}

/* Neighbour @k of eight, in raster order without the centre. */
__device__ __forceinline__ MotionFieldVector
field_neighbour (gint32 k)
{
  k += k >= 4;
  return MotionFieldVector{ k % 3 - 1, k / 3 - 1 };
}

/* The vector of the level above @dx, @dy blocks from the middle of a block.
 * @above: index of its final vectors */
__device__ __forceinline__ MotionFieldVector
field_inherited (const FieldView &view, guint level, guint above, gint32 column,
    gint32 row, gint32 dx, gint32 dy)
{
  const MotionFieldGrid *grid = view.grid (level + 1);
  gint32 size = motion_field_block (&view.task->config, level);
  gint32 unit = 2 * motion_field_unit (level);
  gint32 x = (column * size + size / 2 + dx * size) / 2;
  gint32 y = (row * size + size / 2 + dy * size) / 2;
  MotionFieldVector v;

  x = motion_clamp (x / MOTION_FIELD_COARSE_BLOCK, 0, grid->columns - 1);
  y = motion_clamp (y / MOTION_FIELD_COARSE_BLOCK, 0, grid->rows - 1);
  v = field_vector (view.own (grid->vectors[above])[y * grid->columns + x]);
  return MotionFieldVector{ v.x * unit, v.y * unit };
}

/* Vectors that a block may have at @level, in units of the level. */
__device__ __forceinline__ MotionRect
field_rect (const MotionConfig *config, guint level, gint32 column, gint32 row)
{
  gint32 size = motion_field_block (config, level);
  gint32 range = motion_field_range (config, level);
  gint32 x = column * size, y = row * size;
  MotionRect r;

  if (level > 0)
    return MotionRect{ -range, range, -range, range };
  r = motion_candidates (config, x, y, min (size, (gint32) config->width - x),
      min (size, (gint32) config->height - y));
  return MotionRect{ 4 * r.left, 4 * r.right, 4 * r.top, 4 * r.bottom };
}

/* The samples of a block that are compared; x and y from the block's first sample. */
__device__ __forceinline__ MotionFieldWindow
field_window (const FieldView &view, guint level, gint32 column, gint32 row)
{
  gint32 size = motion_field_block (&view.task->config, level);
  MotionFieldWindow win = motion_field_window (
      &view.task->config, &view.state ()->area, level, column, row);

  win.x -= column * size;
  win.y -= row * size;
  return win;
}

/* The part of @win that @v moves into the reference; all of it, if that is less than
 * half. */
__device__ __forceinline__ MotionFieldWindow
field_inside (const MotionConfig *config, guint level, gint32 column,
    gint32 row, MotionFieldWindow win, MotionFieldVector v)
{
  const gint32 size = motion_field_block (config, level);
  MotionFieldWindow part;

  win.x += column * size;
  win.y += row * size;
  part = motion_field_inside (config, level, win, v);
  part.x -= column * size;
  part.y -= row * size;
  return part;
}

/* The bytes of a row's word at byte @at that lie in @win. */
__device__ __forceinline__ guint32
field_mask (const MotionFieldWindow &win, gint32 at)
{
  return motion_mask (win.x + win.w, at) & ~motion_mask (win.x, at);
}

/* --- data costs above level 0 -------------------------------------------------- */

/* The bytes of the two words of row @y of a block that lie in a window. */
struct FieldMasks {
  guint32 masks[2];
  gint32 top, bottom;

  __device__ __forceinline__ explicit FieldMasks (const MotionFieldWindow &win)
      : masks{ field_mask (win, 0), field_mask (win, 4) }, top (win.y),
        bottom (win.y + win.h)
  {
  }

  __device__ __forceinline__ guint32
  at (gint32 y, gint32 i) const
  {
    return y >= top && y < bottom ? masks[i] : 0;
  }
};

/* A block of a level above 0. All lanes of a warp hold the same block, and each
 * computes the cost of another vector. */
struct FieldBlock {
  const MotionConfig *config;
  guint level;
  gint32 column, row;
  guint32 words[2 * MOTION_FIELD_COARSE_BLOCK];
  MotionFieldWindow win;
  guint32 sum;             /* of the samples in it */
  const guint8 *reference; /* at the block */
  gint32 pitch;

  __device__ __forceinline__
  FieldBlock (const FieldView &view, guint level_, gint32 column_, gint32 row_)
      : config (&view.task->config), level (level_), column (column_),
        row (row_), win (field_window (view, level_, column_, row_)), sum (0),
        pitch (view.pitch (level_))
  {
    const FieldMasks masks (win);
    const gsize at = (gsize) (row * MOTION_FIELD_COARSE_BLOCK) * (gsize) pitch
                     + (gsize) (column * MOTION_FIELD_COARSE_BLOCK);

    reference = view.field->reference.levels[level] + at;
#pragma unroll
    for (gint32 y = 0; y < MOTION_FIELD_COARSE_BLOCK; y++) {
      const uint2 two =
          *(const uint2 *) (view.task->current.levels[level] + at + y * pitch);

      words[2 * y] = two.x & masks.at (y, 0);
      words[2 * y + 1] = two.y & masks.at (y, 1);
      sum = __dp4a (words[2 * y], 0x01010101u, sum);
      sum = __dp4a (words[2 * y + 1], 0x01010101u, sum);
    }
  }

  __device__ __forceinline__ gint32
  cost (MotionFieldVector v) const
  {
    const gint32 size = MOTION_FIELD_COARSE_BLOCK;
    const MotionFieldWindow part =
        field_inside (config, level, column, row, win, v);
    const FieldMasks masks (part);
    const gint32 n = win.w * win.h, inside = part.w * part.h;
    const guint8 *first = reference + v.y * pitch + v.x;
    const guint32 shift = 8 * (guint32) ((guintptr) first & 3);
    guint32 others[2 * MOTION_FIELD_COARSE_BLOCK], own = sum, other = 0;
    guint32 sad = 0, less, more;
    gint32 mean;

    if (inside < n) {
      own = 0;
#pragma unroll
      for (gint32 i = 0; i < 2 * size; i++)
        own = __dp4a (words[i] & masks.at (i / 2, i % 2), 0x01010101u, own);
    }
    first = (const guint8 *) ((guintptr) first & ~(guintptr) 3);
#pragma unroll
    for (gint32 y = 0; y < size; y++) {
      const guint32 *from = (const guint32 *) (first + y * pitch);
      guint32 middle = from[1];

      others[2 * y] =
          __funnelshift_r (from[0], middle, shift) & masks.at (y, 0);
      others[2 * y + 1] =
          __funnelshift_r (middle, from[2], shift) & masks.at (y, 1);
      other = __dp4a (others[2 * y], 0x01010101u, other);
      other = __dp4a (others[2 * y + 1], 0x01010101u, other);
    }
    mean = motion_field_mean ((gint32) (own - other), inside);
    less = (guint32) max (mean, 0) * 0x01010101u;
    more = (guint32) max (-mean, 0) * 0x01010101u;
#pragma unroll
    for (gint32 i = 0; i < 2 * size; i++)
      sad = motion_sad4 (__vaddus4 (__vsubus4 (words[i], less), more)
                             & masks.at (i / 2, i % 2),
          others[i], sad);
    return ((gint32) (sad * 256 / (guint32) (size * size))
               + motion_field_mean_cost (mean))
           * n / inside;
  }
};

/* --- data costs at level 0 ------------------------------------------------------- */

/* A block of level 0 in the registers of a warp: lane l has word l % WORDS of the rows
 * l / WORDS, + STEP, + 2 STEP, ... All lanes compute the cost of one vector. */
template <int SIZE> struct FieldLanes {
  static constexpr int WORDS = SIZE / 4;
  static constexpr int STEP = 32 / WORDS;
  static constexpr int ROWS = SIZE <= STEP ? 1 : SIZE / STEP;

  guint32 words[ROWS];
  guint32 mask;            /* of the column */
  gint32 row, top, bottom; /* the lane's first row; those that are compared */
  gint32 offset;           /* of the lane's first word from the block's first */
  gint32 pitch;
  gsize at; /* of the block in a plane */

  __device__ __forceinline__ guint32
  masked (guint32 word, int i) const
  {
    gint32 y = row + i * STEP;

    return y >= top && y < bottom ? word & mask : 0;
  }

  __device__ __forceinline__ void
  set_window (const MotionFieldWindow &win)
  {
    mask = field_mask (win, 4 * (gint32) (motion_lane () % WORDS));
    top = win.y;
    bottom = win.y + win.h;
    for (int i = 0; i < ROWS; i++)
      words[i] = masked (words[i], i);
  }

  __device__ __forceinline__
  FieldLanes (const FieldView &view, gint32 column, gint32 row_of_grid)
  {
    gint32 x = 4 * (gint32) (motion_lane () % WORDS);

    row = (gint32) motion_lane () / WORDS;
    pitch = view.pitch (0);
    offset = min (row, SIZE - 1) * pitch + x;
    at = (gsize) (row_of_grid * SIZE) * (gsize) pitch + (gsize) (column * SIZE);
    for (int i = 0; i < ROWS; i++)
      words[i] = *(const guint32 *) (view.task->current.search + at + offset
                                     + i * STEP * pitch);
  }

  /* Changes the samples to what they are compared as. */
  __device__ __forceinline__ void
  light (const MotionFieldState *state)
  {
    if (!state->lit)
      return;
    for (int i = 0; i < ROWS; i++)
      words[i] = (guint32) state->light[words[i] & 255]
                 | (guint32) state->light[words[i] >> 8 & 255] << 8
                 | (guint32) state->light[words[i] >> 16 & 255] << 16
                 | (guint32) state->light[words[i] >> 24] << 24;
  }

  /* The first of the two samples whose mean lies at a vector from the block's first
   * sample, at the lane's first word; twice the same between no two. H.264,
   * 8.4.2.2.1. */
  __device__ __forceinline__ void
  find_pair (const MotionDevicePicture *reference, MotionFieldVector v,
      const guint8 **a, const guint8 **b) const
  {
    const gint32 qx = v.x & 3, qy = v.y & 3, right = qx == 3;
    const gint32 below = qy == 3 ? pitch : 0;
    const gssize first =
        (gssize) at + (gssize) (v.y >> 2) * pitch + (v.x >> 2) + offset;
    const guint8 *whole = reference->search + first;
    const guint8 *across = reference->halves[0] + first;
    const guint8 *down = reference->halves[1] + first;

    *b = qx == 0 && qy == 0   ? whole
         : qy == 0            ? across
         : qx == 0            ? down
         : qx == 2 || qy == 2 ? reference->halves[2] + first
                              : down + right;
    *a = (qx & 1) == 0 && (qy & 1) == 0 ? *b
         : qy == 0                      ? whole + right
         : qx == 0                      ? whole + below
         : qy == 2                      ? down + right
                                        : across + below;
  }

  /* Word @i of the lane of the pair's means. */
  __device__ __forceinline__ guint32
  mean_word (const guint8 *a, const guint8 *b, int i) const
  {
    guint32 u = motion_word (a + i * STEP * pitch), w;

    if (a == b)
      return masked (u, i);
    w = motion_word (b + i * STEP * pitch);
    return masked ((u | w) - ((u ^ w) >> 1 & 0x7f7f7f7fu), i);
  }

  /* In all lanes. */
  __device__ __forceinline__ gint32
  cost (const MotionDevicePicture *reference, MotionFieldVector v) const
  {
    const guint8 *a, *b;
    guint32 sum = 0;

    find_pair (reference, v, &a, &b);
#pragma unroll
    for (int i = 0; i < ROWS; i++)
      sum = motion_sad4 (mean_word (a, b, i), words[i], sum);
    return (gint32) (motion_warp_sum (sum) * 256 / (SIZE * SIZE));
  }

  /* The same with differences of at most @most levels. */
  __device__ __forceinline__ gint32
  cut_cost (const MotionDevicePicture *reference, MotionFieldVector v,
      guint32 most) const
  {
    const guint8 *a, *b;
    guint32 sum = 0;

    find_pair (reference, v, &a, &b);
#pragma unroll
    for (int i = 0; i < ROWS; i++)
      sum = motion_sad4 (__vminu4 (__vabsdiffu4 (mean_word (a, b, i), words[i]),
                             most * 0x01010101u),
          0, sum);
    return (gint32) (motion_warp_sum (sum) * 256 / (SIZE * SIZE));
  }
};

/* --- sums over many blocks ---------------------------------------------------------- */

/* One warp: the least value that more than a part of all counted ones, 1 of @divisor,
 * do not exceed; 0 without any. @counts: of the values 0 to @n - 1 */
__device__ __forceinline__ gint32
field_find_rank (const guint32 *counts, gint32 n, guint32 divisor)
{
  const gint32 part = (n + 31) / 32, first = (gint32) motion_lane () * part;
  const gint32 end = min (first + part, n);
  guint32 own = 0, below, lanes, rank;
  gint32 value = 0;

  for (gint32 i = first; i < end; i++)
    own += __ldcg (&counts[i]);
  below = own;
  for (gint32 d = 1; d < 32; d *= 2) {
    guint32 other = __shfl_up_sync (MOTION_ALL_LANES, below, d);

    below += (gint32) motion_lane () >= d ? other : 0;
  }
  rank = __shfl_sync (MOTION_ALL_LANES, below, 31) / divisor;
  lanes = __ballot_sync (MOTION_ALL_LANES, below > rank);
  if (lanes == 0)
    return 0;
  if ((gint32) motion_lane () == __ffs ((gint32) lanes) - 1) {
    below -= own;
    for (value = first;; value++) {
      below += __ldcg (&counts[value]);
      if (below > rank)
        break;
    }
  }
  return __shfl_sync (MOTION_ALL_LANES, value, __ffs ((gint32) lanes) - 1);
}

/* Whether the thread block is the field's last one to call this, in all threads. It
 * sees the writes of the others. */
__device__ __forceinline__ bool
field_is_last (guint32 *ended)
{
  __shared__ bool last;

  __syncthreads ();
  if (threadIdx.x == 0)
    last = motion_is_last (ended, gridDim.x);
  __syncthreads ();
  if (last)
    __threadfence ();
  return last;
}
