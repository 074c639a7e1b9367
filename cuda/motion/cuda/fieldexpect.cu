/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Steps of the regularised field that combine all blocks of a level: the expected
 * vectors, and the change of light. */
#include "cuda/motion/cuda/field.cuh"

namespace {

#define EXPECT_THREADS 1024
#define MEANS_THREADS 128

/* --- expected vectors -------------------------------------------------------------- */

/* Squares of one size; those of layer 0 are the blocks. */
struct ExpectLayer {
  gint32 columns, rows;
  MotionFieldCell *cells; /* of layers above 0 */

  __device__ __forceinline__ void
  enlarge (void)
  {
    cells += columns * rows;
    columns = (columns + 1) / 2;
    rows = (rows + 1) / 2;
  }
};

/* Layer @number > 0 of a level. */
__device__ __forceinline__ ExpectLayer
expect_layer (const FieldView &view, const MotionFieldGrid *grid, gint32 number)
{
  ExpectLayer layer = { (grid->columns + 1) / 2, (grid->rows + 1) / 2,
    view.own (view.task->memory.cells) };

  while (--number > 0)
    layer.enlarge ();
  return layer;
}

/* Weight and weighted vector of a block. */
__device__ __forceinline__ MotionFieldCell
expect_block (
    const FieldView &view, const MotionFieldGrid *grid, guint from, gint32 i)
{
  const MotionFieldVector v = field_vector (view.own (grid->vectors[from])[i]);
  const gint64 weight = view.own (grid->weights)[i];

  return MotionFieldCell{ weight, weight * v.x, weight * v.y, { 0, 0 } };
}

__device__ __forceinline__ void
expect_add (MotionFieldCell *sum, const MotionFieldCell &cell)
{
  sum->weight += cell.weight;
  sum->x += cell.x;
  sum->y += cell.y;
}

/* Sums of all layers from layer 1 up, then their means from the largest square down:
 * one thread block a field. */
__global__ void
__launch_bounds__ (EXPECT_THREADS) field_cells_kernel (
    MOTION_PARAMETER (MotionDeviceTask, task), guint level, guint from)
{
  const FieldView view (&task);
  const MotionFieldGrid *grid = view.grid (level);
  ExpectLayer below = { grid->columns, grid->rows, NULL };
  gint32 n = 0;

  for (; below.columns > 1 || below.rows > 1; n++) {
    const ExpectLayer layer = expect_layer (view, grid, n + 1);

    for (gint32 i = (gint32) threadIdx.x; i < layer.columns * layer.rows;
         i += EXPECT_THREADS) {
      const gint32 left = i % layer.columns * 2, top = i / layer.columns * 2;
      MotionFieldCell sum = { 0, 0, 0, { 0, 0 } };

      for (gint32 y = top; y < min (top + 2, below.rows); y++)
        for (gint32 x = left; x < min (left + 2, below.columns); x++)
          expect_add (&sum,
              n == 0 ? expect_block (view, grid, from, y * below.columns + x)
                     : below.cells[y * below.columns + x]);
      layer.cells[i] = sum;
    }
    below = layer;
    __syncthreads ();
  }
  for (gint32 k = n; k > 0; k--) {
    const ExpectLayer layer = expect_layer (view, grid, k);
    const ExpectLayer above = expect_layer (view, grid, k + 1);

    for (gint32 i = (gint32) threadIdx.x; i < layer.columns * layer.rows;
         i += EXPECT_THREADS) {
      MotionFieldCell *cell = &layer.cells[i];
      MotionFieldVector larger = { 0, 0 };

      if (k < n && cell->weight < MOTION_FIELD_FULL_WEIGHT)
        larger = motion_field_cell_between (above.cells, above.columns,
            above.rows, i % layer.columns, i / layer.columns);
      cell->mean = motion_field_cell_mean (cell, larger);
    }
    __syncthreads ();
  }
}

/* The expected vectors: a thread a block. */
__global__ void
__launch_bounds__ (MEANS_THREADS) field_expect_kernel (
    MOTION_PARAMETER (MotionDeviceTask, task), guint level, guint from)
{
  const FieldView view (&task);
  const MotionFieldGrid *grid = view.grid (level);
  const gint32 i = (gint32) (blockIdx.x * MEANS_THREADS + threadIdx.x);
  const ExpectLayer above = expect_layer (view, grid, 1);
  MotionFieldVector larger = { 0, 0 }, mean;
  MotionFieldCell cell;

  if (i >= grid->n)
    return;
  cell = expect_block (view, grid, from, i);
  if (grid->n > 1 && cell.weight < MOTION_FIELD_FULL_WEIGHT)
    larger = motion_field_cell_between (above.cells, above.columns, above.rows,
        i % grid->columns, i / grid->columns);
  mean = motion_field_cell_mean (&cell, larger);
  view.own (grid->expected)[i] =
      field_short (MotionFieldVector{ (mean.x + 8) >> 4, (mean.y + 8) >> 4 });
}

/* --- light --------------------------------------------------------------------------- */

/* Means of the blocks of level 1, 1/16 levels: x that in the frame less 2048, y that in
 * the reference minus that in the frame; x is G_MININT32 if a block does not count:
 * beyond the reference, or clipped. A thread a block. */
__global__ void
__launch_bounds__ (MEANS_THREADS) field_means_kernel (
    MOTION_PARAMETER (MotionDeviceTask, task), guint vectors)
{
  const FieldView view (&task);
  const MotionFieldGrid *grid = view.grid (1);
  const gint32 i = (gint32) (blockIdx.x * MEANS_THREADS + threadIdx.x);
  const gint32 width = motion_field_size (task.config.width, 1);
  const gint32 height = motion_field_size (task.config.height, 1);
  const gint32 pitch = view.pitch (1);
  MotionFieldWindow win;
  gint32 x, y, own = 0, other = 0;
  bool counts;
  int2 *to;

  if (i >= grid->n)
    return;
  win = motion_field_window (&task.config, &view.state ()->area, 1,
      i % grid->columns, i / grid->columns);
  x = win.x + view.own (grid->vectors[vectors])[i].x;
  y = win.y + view.own (grid->vectors[vectors])[i].y;
  counts = x >= 0 && y >= 0 && x + win.w <= width && y + win.h <= height;
  for (gint32 j = 0; j < win.h && counts; j++) {
    const guint8 *p =
        task.current.levels[1] + (gssize) (win.y + j) * pitch + win.x;
    const guint8 *q =
        view.field->reference.levels[1] + (gssize) (y + j) * pitch + x;

    for (gint32 k = 0; k < win.w; k++) {
      /* 0 and 255 are those that wrap */
      counts &= (guint8) (p[k] + 1) > 1 && (guint8) (q[k] + 1) > 1;
      own += p[k];
      other += q[k];
    }
  }
  own = own * 16 / (win.w * win.h);
  other = other * 16 / (win.w * win.h);
  to = &view.own (task.memory.means)[i];
  *to =
      counts ? make_int2 (own - 2048, other - own) : make_int2 (G_MININT32, 0);
}

/* Adds the sums of a warp's lanes to @total. */
__device__ __forceinline__ void
light_add (gint64 sum, gint64 *total)
{
  for (gint32 d = 16; d > 0; d /= 2)
    sum += __shfl_down_sync (MOTION_ALL_LANES, sum, d);
  if (motion_lane () == 0)
    atomicAdd ((unsigned long long *) total, (unsigned long long) sum);
}

/* The line of light: one thread block a field. */
__global__ void
__launch_bounds__ (EXPECT_THREADS)
    field_light_kernel (MOTION_PARAMETER (MotionDeviceTask, task))
{
  __shared__ MotionFieldLightSums total;
  __shared__ MotionFieldLight light;
  const FieldView view (&task);
  const int2 *means = view.own (task.memory.means);
  MotionFieldState *state = view.state ();

  if (threadIdx.x == 0) {
    light = MotionFieldLight{ 0, 0 };
    total = MotionFieldLightSums{ 0, 0, 0, 0, 0 };
  }
  __syncthreads ();
  for (guint k = 0; k < MOTION_FIELD_LIGHT_ITERATIONS; k++) {
    MotionFieldLightSums s = { 0, 0, 0, 0, 0 };

    for (gint32 i = (gint32) threadIdx.x; i < view.grid (1)->n;
         i += EXPECT_THREADS) {
      const gint64 c = means[i].x, d = means[i].y;
      const gint64 off = d - motion_field_light_at (&light, c);

      if (means[i].x == G_MININT32 || off > motion_field_light_limit (k)
          || off < -motion_field_light_limit (k))
        continue;
      s.n++;
      s.c += c;
      s.cc += c * c;
      s.d += d;
      s.cd += c * d;
    }
    light_add (s.n, &total.n);
    light_add (s.c, &total.c);
    light_add (s.cc, &total.cc);
    light_add (s.d, &total.d);
    light_add (s.cd, &total.cd);
    __syncthreads ();
    if (threadIdx.x == 0) {
      motion_field_light_fit (&light, &total);
      total = MotionFieldLightSums{ 0, 0, 0, 0, 0 };
    }
    __syncthreads ();
  }
  if (!motion_field_light_changes (&light))
    return;
  if (threadIdx.x == 0)
    state->lit = TRUE;
  if (threadIdx.x < 256)
    state->light[threadIdx.x] =
        (guint8) motion_field_light_sample (&light, (gint32) threadIdx.x);
}

} // namespace

cudaError_t
motion_launch_field_expected (
    const MotionDeviceTask *task, guint level, guint from, cudaStream_t stream)
{
  const guint n = (guint) task->memory.grids[level].n;
  const dim3 one (1, task->n_fields);
  const dim3 all ((n + MEANS_THREADS - 1) / MEANS_THREADS, task->n_fields);

  MOTION_START (
      field_cells_kernel, one, EXPECT_THREADS, stream, *task, level, from);
  MOTION_START (
      field_expect_kernel, all, MEANS_THREADS, stream, *task, level, from);
  return cudaGetLastError ();
}

cudaError_t
motion_launch_field_light (
    const MotionDeviceTask *task, guint vectors, cudaStream_t stream)
{
  const guint n = (guint) task->memory.grids[1].n;
  const dim3 one (1, task->n_fields);
  const dim3 all ((n + MEANS_THREADS - 1) / MEANS_THREADS, task->n_fields);

  MOTION_START (field_means_kernel, all, MEANS_THREADS, stream, *task, vectors);
  MOTION_START (field_light_kernel, one, EXPECT_THREADS, stream, *task);
  return cudaGetLastError ();
}
