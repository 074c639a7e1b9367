/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* After the search: between the pixels, the measures of the blocks, prediction
 * and residual. */
#include "motionsample.cuh"

namespace {

#define FINISH_WARPS 8
#define FINISH_THREADS (32 * FINISH_WARPS)

/* A plane of the reference and of the frame, both at a block's first sample. */
template <typename Sample> struct Planes {
  const Sample *current, *reference;
  gint32 pitch;
};

template <typename Sample>
__device__ __forceinline__ const Sample *plane_of (
    const MotionDevicePicture *picture);

template <>
__device__ __forceinline__ const guint8 *
plane_of<guint8> (const MotionDevicePicture *picture)
{
  return picture->search;
}

template <>
__device__ __forceinline__ const guint16 *
plane_of<guint16> (const MotionDevicePicture *picture)
{
  return picture->full;
}

template <typename Sample>
__device__ __forceinline__ Planes<Sample>
planes_at (const MotionDeviceTask *task, const MotionDevicePicture *reference,
    const MotionPlace &place)
{
  gsize at = (gsize) place.y * task->layout.pitch + place.x;
  Planes<Sample> planes = { plane_of<Sample> (&task->current) + at,
    plane_of<Sample> (reference) + at, (gint32) task->layout.pitch };

  return planes;
}

/* Sums over the thread block; every thread has them on return. */
template <int N>
__device__ __forceinline__ void
sum_up (guint32 (&sums)[N])
{
  __shared__ guint32 shared[FINISH_WARPS][N];

  __syncthreads (); /* those of the call before have been read */
#pragma unroll
  for (gint32 i = 0; i < N; i++) {
    guint32 sum = motion_warp_sum (sums[i]);

    if (motion_lane () == 0)
      shared[threadIdx.x / 32][i] = sum;
  }
  __syncthreads ();
#pragma unroll
  for (gint32 i = 0; i < N; i++) {
    sums[i] = 0;
    for (gint32 w = 0; w < FINISH_WARPS; w++)
      sums[i] += shared[w][i];
  }
}

/* Loop over the samples of a block. */
#define FOR_SAMPLES(x, y, place)                                               \
  for (gint32 i_ = (gint32) threadIdx.x, x, y;                                 \
       x = i_ & (SIZE - 1), y = i_ / SIZE, i_ < SIZE * SIZE;                   \
       i_ += FINISH_THREADS)                                                   \
    if (x < (place).w && y < (place).h)

/* Neighbour @k of eight, in raster order, without the middle. */
__device__ __forceinline__ short2
neighbour (gint32 k)
{
  k += k >= 4;
  return make_short2 ((gint16) (k % 3 - 1), (gint16) (k / 3 - 1));
}

/* The thread's share of the SAD of the block at @x, @y quarter pixels. */
template <int SIZE, typename Sample>
__device__ __forceinline__ guint32
sad_share (const MotionPlace &place, const Planes<Sample> &planes, gint32 qx,
    gint32 qy)
{
  const Sample *reference =
      planes.reference + (gssize) (qy >> 2) * planes.pitch + (qx >> 2);
  guint32 sum = 0;

  FOR_SAMPLES (x, y, place)
  {
    gint32 at = y * planes.pitch + x;

    sum += (guint32) abs (
        (gint32) planes.current[at]
        - motion_between (reference + at, planes.pitch, qx & 3, qy & 3));
  }
  return sum;
}

/* Moves @v (quarter pixels) to the best of the eight neighbours at @spacing if
 * its cost is below @cost. */
template <int SIZE>
__device__ __forceinline__ void
refine (const MotionPlace &place, const Planes<guint8> &planes, guint32 lambda,
    short2 prior, gint32 spacing, short2 *v, guint32 *cost)
{
  const short2 centre = *v;

  for (gint32 k = 0; k < 8; k++) {
    short2 d = neighbour (k);
    gint32 qx = centre.x + d.x * spacing, qy = centre.y + d.y * spacing;
    guint32 sum[1];

    if (qx < 4 * place.rect.left || qx > 4 * place.rect.right
        || qy < 4 * place.rect.top || qy > 4 * place.rect.bottom)
      continue;
    sum[0] = sad_share<SIZE> (place, planes, qx, qy);
    sum_up (sum);
    if (lambda != 0)
      sum[0] +=
          lambda
          * (motion_code_bits (qx - prior.x) + motion_code_bits (qy - prior.y));
    if (sum[0] < *cost) {
      *cost = sum[0];
      *v = make_short2 ((gint16) qx, (gint16) qy);
    }
  }
}

/* The figures of a block but its flags; in all threads. */
template <int SIZE, typename Sample>
__device__ __forceinline__ MotionBlock
measure (const MotionPlace &place, const Planes<Sample> &planes, short2 v)
{
  const Sample *reference =
      planes.reference + (gssize) (v.y >> 2) * planes.pitch + (v.x >> 2);
  guint32 area = (guint32) (place.w * place.h), sums[4] = { 0, 0, 0, 0 };
  guint32 deviation[1] = { 0 };
  gint32 mean;

  FOR_SAMPLES (x, y, place)
  {
    gint32 at = y * planes.pitch + x, sample = planes.current[at];
    gint32 off =
        sample
        - motion_between (reference + at, planes.pitch, v.x & 3, v.y & 3);

    sums[0] += (guint32) abs (off);
    sums[1] += (guint32) (off * off);
    sums[2] += (guint32) abs (sample - (gint32) planes.reference[at]);
    sums[3] += (guint32) sample;
  }
  sum_up (sums);
  mean = (gint32) ((sums[3] + area / 2) / area);
  FOR_SAMPLES (x, y, place)
  deviation[0] +=
      (guint32) abs ((gint32) planes.current[y * planes.pitch + x] - mean);
  sum_up (deviation);
  return MotionBlock{ sums[0], sums[2], MOTION_NONE, deviation[0], sums[1], 0 };
}

/* The cost of the second best, in full depth. */
template <int SIZE>
__device__ __forceinline__ guint32
second_cost (const MotionPlace &, const Planes<guint8> &,
    const MotionFound &found, guint32, short2)
{
  return found.second;
}

template <int SIZE>
__device__ __forceinline__ guint32
second_cost (const MotionPlace &place, const Planes<guint16> &planes,
    const MotionFound &found, guint32 lambda, short2 prior)
{
  guint32 sum[1];

  if (found.second == MOTION_NONE)
    return MOTION_NONE;
  sum[0] =
      sad_share<SIZE> (place, planes, 4 * found.second_x, 4 * found.second_y);
  sum_up (sum);
  return sum[0]
         + 4 * motion_rate (lambda, found.second_x, found.second_y, prior);
}

template <int SIZE, typename Sample>
__global__ void
__launch_bounds__ (FINISH_THREADS)
    finish_kernel (MOTION_PARAMETER (MotionDeviceTask, task))
{
  const MotionDeviceField *field = &task.fields[blockIdx.y];
  const MotionPlace place = motion_place (&task, blockIdx.x);
  const Planes<Sample> planes =
      planes_at<Sample> (&task, &field->reference, place);
  const guint32 lambda = task.config.lambda;
  const short2 prior = motion_prior (field, place.number);
  const MotionFound found = field->found[place.number];
  short2 v = make_short2 ((gint16) (4 * found.x), (gint16) (4 * found.y));
  guint32 cost = found.cost;
  MotionVector vector;
  MotionBlock block;

  if (task.config.subpel != MOTION_SUBPEL_NONE)
    refine<SIZE> (place, planes_at<guint8> (&task, &field->reference, place),
        lambda, prior, 2, &v, &cost);
  if (task.config.subpel == MOTION_SUBPEL_QUARTER)
    refine<SIZE> (place, planes_at<guint8> (&task, &field->reference, place),
        lambda, prior, 1, &v, &cost);
  block = measure<SIZE> (place, planes, v);
  block.second = second_cost<SIZE> (place, planes, found, lambda, prior);
  if (threadIdx.x != 0)
    return;
  vector.x = v.x;
  vector.y = v.y;
  vector.cost = block.sad
                + (lambda << (task.config.depth - 8))
                      * (motion_code_bits (v.x - prior.x)
                          + motion_code_bits (v.y - prior.y));
  block.flags = motion_block_flags (
      &task.config, (guint32) place.w, (guint32) place.h, &vector, &block);
  field->vectors[place.number] = vector;
  field->kept[place.number] = vector;
  field->blocks[place.number] = block;
}

/* The field that predicts block @number best, the first among equals. */
__device__ __forceinline__ const MotionDeviceField *
best_field (const MotionDeviceTask *task, guint32 number)
{
  const MotionDeviceField *best = &task->fields[0];

  for (guint32 i = 1; i < task->n_fields; i++)
    if (task->fields[i].vectors[number].cost < best->vectors[number].cost)
      best = &task->fields[i];
  return best;
}

/* Stores @value in a plane that leaves: 10 bits in the upper ones of 16. */
template <typename Sample>
__device__ __forceinline__ void
store (guint8 *plane, guint32 pitch, gint32 x, gint32 y, gint32 value)
{
  Sample *row = (Sample *) (plane + (gsize) y * pitch);

  row[x] = (Sample) (value << (sizeof (Sample) == 1 ? 0 : 6));
}

template <int SIZE, typename Sample>
__global__ void
__launch_bounds__ (FINISH_THREADS)
    predict_kernel (MOTION_PARAMETER (MotionDeviceTask, task))
{
  const MotionPlace place = motion_place (&task, blockIdx.x);
  const gint32 middle = sizeof (Sample) == 1 ? 128 : 512;
  const MotionDeviceField *field = best_field (&task, place.number);
  const bool any = task.n_fields > 0;
  const Planes<Sample> planes =
      planes_at<Sample> (&task, any ? &field->reference : &task.current, place);
  short2 v = make_short2 (0, 0);
  const Sample *reference;

  if (any)
    v = make_short2 (
        field->vectors[place.number].x, field->vectors[place.number].y);
  reference =
      planes.reference + (gssize) (v.y >> 2) * planes.pitch + (v.x >> 2);
  FOR_SAMPLES (x, y, place)
  {
    gint32 at = y * planes.pitch + x;
    gint32 predicted =
        any ? motion_between (reference + at, planes.pitch, v.x & 3, v.y & 3)
            : middle;

    if (task.prediction != NULL)
      store<Sample> (task.prediction, task.layout.staged_pitch, place.x + x,
          place.y + y, predicted);
    if (task.residual != NULL)
      store<Sample> (task.residual, task.layout.staged_pitch, place.x + x,
          place.y + y,
          motion_clamp (
              middle + planes.current[at] - predicted, 0, 2 * middle - 1));
  }
}

#define FINISH_8(SIZE) finish_kernel<SIZE, guint8>
#define FINISH_10(SIZE) finish_kernel<SIZE, guint16>
#define PREDICT_8(SIZE) predict_kernel<SIZE, guint8>
#define PREDICT_10(SIZE) predict_kernel<SIZE, guint16>

} // namespace

cudaError_t
motion_launch_finish (const MotionDeviceTask *task, cudaStream_t stream)
{
  dim3 grid (task->n_blocks, task->n_fields);

  if (task->config.depth == 8)
    MOTION_LAUNCH_SIZE (FINISH_8, grid, FINISH_THREADS, stream, *task);
  else
    MOTION_LAUNCH_SIZE (FINISH_10, grid, FINISH_THREADS, stream, *task);
  return cudaGetLastError ();
}

cudaError_t
motion_launch_predict (const MotionDeviceTask *task, cudaStream_t stream)
{
  guint n = task->n_blocks;

  if (task->config.depth == 8)
    MOTION_LAUNCH_SIZE (PREDICT_8, n, FINISH_THREADS, stream, *task);
  else
    MOTION_LAUNCH_SIZE (PREDICT_10, n, FINISH_THREADS, stream, *task);
  return cudaGetLastError ();
}
