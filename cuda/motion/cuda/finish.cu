/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* After the search: subpixel refinement, measures of the blocks, prediction
 * and residual. */
#include "cuda/motion/cuda/sample.cuh"
#include "cuda/motion/field.h"

namespace {

#define FINISH_WARPS 8
#define FINISH_THREADS (32 * FINISH_WARPS)

/* Stores the result of a block, with its flags. */
__device__ __forceinline__ void
finish_store_block (const MotionDeviceTask *task,
    const MotionDeviceField *field, const MotionPlace &place, short2 v,
    short2 prior, CvisMotionBlock *block)
{
  CvisMotionVector vector;

  vector.x = v.x;
  vector.y = v.y;
  vector.cost = block->sad
                + (task->config.lambda << (task->config.depth - 8))
                      * (motion_code_bits (v.x - prior.x)
                          + motion_code_bits (v.y - prior.y));
  block->flags = motion_block_flags (
      &task->config, (guint32) place.w, (guint32) place.h, &vector, block);
  if (task->config.method == MOTION_METHOD_FIELD)
    block->flags = motion_field_flags (&task->config, (guint32) place.w,
        (guint32) place.h, &vector, block, field->found[place.number].cost,
        task->current.survey->noise);
  field->vectors[place.number] = vector;
  if (!motion_keeps_early (&task->config))
    field->kept[place.number] = vector;
  field->blocks[place.number] = *block;
}

/* Planes of the reference and of the frame, at a block's first sample. */
template <typename Sample> struct Planes {
  const Sample *current, *reference;
  gint32 pitch;
};

template <typename Sample>
__device__ __forceinline__ const Sample *finish_plane_of (
    const MotionDevicePicture *picture);

template <>
__device__ __forceinline__ const guint8 *
finish_plane_of<guint8> (const MotionDevicePicture *picture)
{
  return picture->search;
}

template <>
__device__ __forceinline__ const guint16 *
finish_plane_of<guint16> (const MotionDevicePicture *picture)
{
  return picture->full;
}

template <typename Sample>
__device__ __forceinline__ Planes<Sample>
finish_planes_at (const MotionDeviceTask *task,
    const MotionDevicePicture *reference, const MotionPlace &place)
{
  gsize at = (gsize) place.y * task->layout.pitch + place.x;
  Planes<Sample> planes = { finish_plane_of<Sample> (&task->current) + at,
    finish_plane_of<Sample> (reference) + at, (gint32) task->layout.pitch };

  return planes;
}

/* Sums over the thread block; all threads get the sums. */
template <int N>
__device__ __forceinline__ void
finish_sum_threads (guint32 (&sums)[N])
{
  __shared__ guint32 shared[FINISH_WARPS][N];

  __syncthreads (); /* protects the sums of the previous call */
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

/* Neighbour @k of eight, in raster order without the centre. */
__device__ __forceinline__ short2
finish_neighbour (gint32 k)
{
  k += k >= 4;
  return make_short2 ((gint16) (k % 3 - 1), (gint16) (k / 3 - 1));
}

/* Interpolated neighbourhood of a block in the reference: whole samples, the
 * half samples between two vertically and horizontally, and those between
 * four, from one row and column before the block to one after it. All
 * quarter samples are means of two of these. */
template <int SIZE> struct Halves {
  static constexpr gint32 PITCH = SIZE + 12;
  static constexpr gint32 ROWS = SIZE + 7;
  enum { WHOLE, ACROSS, DOWN, MIDDLE, N };

  /* sample (0, 0) is at row 3, column 4 */
  guint32 planes[N][ROWS * PITCH / 4 + 1];
  gint16 taps[ROWS][SIZE + 2]; /* horizontal, unrounded; from column -1 */

  __device__ __forceinline__ guint8 *
  sample_at (gint32 plane, gint32 x, gint32 y)
  {
    return (guint8 *) planes[plane] + (y + 3) * PITCH + x + 4;
  }

  /* @reference: at the best whole-pixel vector */
  __device__ __forceinline__ void
  make_planes (const guint8 *reference, gint32 pitch)
  {
    for (gint32 i = (gint32) threadIdx.x; i < ROWS * (PITCH / 4);
         i += FINISH_THREADS)
      planes[WHOLE][i] =
          motion_word (reference + (gssize) (i / (PITCH / 4) - 3) * pitch
                       + (i % (PITCH / 4) * 4 - 4));
    __syncthreads ();
    for (gint32 i = (gint32) threadIdx.x; i < ROWS * (SIZE + 2);
         i += FINISH_THREADS) {
      gint32 x = i % (SIZE + 2) - 1, y = i / (SIZE + 2) - 3;
      gint32 sum = motion_taps (sample_at (WHOLE, x, y), 1);

      taps[y + 3][x + 1] = (gint16) sum;
      *sample_at (ACROSS, x, y) =
          (guint8) motion_clamp ((sum + 16) >> 5, 0, 255);
      if (y >= -1 && y <= SIZE)
        *sample_at (DOWN, x, y) =
            (guint8) motion_half (sample_at (WHOLE, x, y), PITCH);
    }
    __syncthreads ();
    for (gint32 i = (gint32) threadIdx.x; i < (SIZE + 2) * (SIZE + 2);
         i += FINISH_THREADS) {
      gint32 x = i % (SIZE + 2) - 1, y = i / (SIZE + 2) - 1;
      gint32 sum = motion_taps (&taps[y + 3][x + 1], SIZE + 2);

      *sample_at (MIDDLE, x, y) =
          (guint8) motion_clamp ((sum + 512) >> 10, 0, 255);
    }
    __syncthreads ();
  }

  /* Positions of the two samples whose mean is the sample @qx, @qy quarter
   * pixels, -3..3, from the first of the block; twice the same for a half
   * sample. */
  __device__ __forceinline__ void
  sample_pair (gint32 qx, gint32 qy, const guint8 **a, const guint8 **b)
  {
    gint32 x = qx >> 2, y = qy >> 2, right = (qx & 3) == 3;
    gint32 below = (qy & 3) == 3;

    qx &= 3;
    qy &= 3;
    *b = qx == 0 && qy == 0   ? sample_at (WHOLE, x, y)
         : qy == 0            ? sample_at (ACROSS, x, y)
         : qx == 0            ? sample_at (DOWN, x, y)
         : qx == 2 || qy == 2 ? sample_at (MIDDLE, x, y)
                              : sample_at (DOWN, x + right, y);
    *a = (qx & 1) == 0 && (qy & 1) == 0 ? *b
         : qy == 0                      ? sample_at (WHOLE, x + right, y)
         : qx == 0                      ? sample_at (WHOLE, x, y + below)
         : qy == 2                      ? sample_at (DOWN, x + right, y)
                                        : sample_at (ACROSS, x, y + below);
  }

  /* Four samples by sample_pair(). */
  static __device__ __forceinline__ guint32
  mean_word (const guint8 *a, const guint8 *b, gint32 x, gint32 y)
  {
    guint32 u = motion_word (a + y * PITCH + x);
    guint32 v = motion_word (b + y * PITCH + x);

    return (u | v) - ((u ^ v) >> 1 & 0x7f7f7f7fu);
  }
};

/* The thread's part of the SAD of the block at @x, @y quarter pixels. */
template <int SIZE, typename Sample>
__device__ __forceinline__ guint32
finish_sad_share (const MotionPlace &place, const Planes<Sample> &planes,
    gint32 qx, gint32 qy)
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

/* Moves @v (quarter pixels) to the best of its eight neighbours at @spacing
 * if the cost is below @cost. @whole: the best whole-pixel vector, in
 * quarters */
template <int SIZE>
__device__ __forceinline__ void
finish_refine_once (const MotionPlace &place, const Planes<guint8> &planes,
    Halves<SIZE> *halves, short2 whole, guint32 lambda, short2 prior,
    gint32 spacing, short2 *v, guint32 *cost)
{
  const short2 centre = *v;
  const guint8 *a[8], *b[8];
  guint32 sums[8];

#pragma unroll
  for (gint32 k = 0; k < 8; k++) {
    short2 d = finish_neighbour (k);

    halves->sample_pair (centre.x + d.x * spacing - whole.x,
        centre.y + d.y * spacing - whole.y, &a[k], &b[k]);
    sums[k] = 0;
  }
  for (gint32 i = (gint32) threadIdx.x; i < SIZE * SIZE / 4;
       i += FINISH_THREADS) {
    gint32 x = i % (SIZE / 4) * 4, y = i / (SIZE / 4);
    guint32 mask = y < place.h ? motion_mask (place.w, x) : 0;
    guint32 own =
        *(const guint32 *) (planes.current + (gssize) y * planes.pitch + x);

#pragma unroll
    for (gint32 k = 0; k < 8; k++)
      sums[k] = motion_sad4 (Halves<SIZE>::mean_word (a[k], b[k], x, y) & mask,
          own & mask, sums[k]);
  }
  finish_sum_threads (sums);
#pragma unroll
  for (gint32 k = 0; k < 8; k++) {
    short2 d = finish_neighbour (k);
    gint32 qx = centre.x + d.x * spacing, qy = centre.y + d.y * spacing;

    if (lambda != 0)
      sums[k] +=
          lambda
          * (motion_code_bits (qx - prior.x) + motion_code_bits (qy - prior.y));
    if (qx >= 4 * place.rect.left && qx <= 4 * place.rect.right
        && qy >= 4 * place.rect.top && qy <= 4 * place.rect.bottom
        && sums[k] < *cost) {
      *cost = sums[k];
      *v = make_short2 ((gint16) qx, (gint16) qy);
    }
  }
}

/* Half-pixel, then quarter-pixel refinement. */
template <int SIZE>
__device__ __forceinline__ void
finish_refine_found (const MotionDeviceTask *task,
    const MotionDeviceField *field, const MotionPlace &place, short2 prior,
    Halves<SIZE> *halves, short2 *v, guint32 *cost)
{
  const Planes<guint8> planes =
      finish_planes_at<guint8> (task, &field->reference, place);
  const short2 whole = *v;

  halves->make_planes (planes.reference + (gssize) (whole.y >> 2) * planes.pitch
                           + (whole.x >> 2),
      planes.pitch);
  finish_refine_once<SIZE> (
      place, planes, halves, whole, task->config.lambda, prior, 2, v, cost);
  if (task->config.subpel == MOTION_SUBPEL_QUARTER)
    finish_refine_once<SIZE> (
        place, planes, halves, whole, task->config.lambda, prior, 1, v, cost);
}

/* Measures of a block without its flags, in all threads. @halves:
 * (nullable): made around @whole, for 8-bit samples */
template <int SIZE, typename Sample>
__device__ __forceinline__ CvisMotionBlock
finish_measure_samples (const MotionPlace &place, const Planes<Sample> &planes,
    short2 v, Halves<SIZE> *halves, short2 whole)
{
  const Sample *reference =
      planes.reference + (gssize) (v.y >> 2) * planes.pitch + (v.x >> 2);
  guint32 area = (guint32) (place.w * place.h), sums[4] = { 0, 0, 0, 0 };
  guint32 deviation[1] = { 0 };
  const guint8 *a = NULL, *b = NULL;
  gint32 mean;

  if (halves != NULL)
    halves->sample_pair (v.x - whole.x, v.y - whole.y, &a, &b);
  FOR_SAMPLES (x, y, place)
  {
    gint32 at = y * planes.pitch + x, sample = planes.current[at];
    gint32 from = y * Halves<SIZE>::PITCH + x;
    gint32 predicted = a != NULL ? (a[from] + b[from] + 1) >> 1
                                 : motion_between (reference + at, planes.pitch,
                                     v.x & 3, v.y & 3);
    gint32 off = sample - predicted;

    sums[0] += (guint32) abs (off);
    sums[1] += (guint32) (off * off);
    sums[2] += (guint32) abs (sample - (gint32) planes.reference[at]);
    sums[3] += (guint32) sample;
  }
  finish_sum_threads (sums);
  mean = (gint32) ((sums[3] + area / 2) / area);
  FOR_SAMPLES (x, y, place)
  deviation[0] +=
      (guint32) abs ((gint32) planes.current[y * planes.pitch + x] - mean);
  finish_sum_threads (deviation);
  return CvisMotionBlock{ sums[0], sums[2], MOTION_NONE, deviation[0], sums[1],
    0 };
}

/* Cost of the second best vector, in full depth. */
template <int SIZE>
__device__ __forceinline__ guint32
finish_second_cost (const MotionPlace &, const Planes<guint8> &,
    const MotionFound &found, guint32, short2)
{
  return found.second;
}

template <int SIZE>
__device__ __forceinline__ guint32
finish_second_cost (const MotionPlace &place, const Planes<guint16> &planes,
    const MotionFound &found, guint32 lambda, short2 prior)
{
  guint32 sum[1];

  if (found.second == MOTION_NONE)
    return MOTION_NONE;
  sum[0] = finish_sad_share<SIZE> (
      place, planes, 4 * found.second_x, 4 * found.second_y);
  finish_sum_threads (sum);
  return sum[0]
         + 4 * motion_rate (lambda, found.second_x, found.second_y, prior);
}

template <int SIZE, typename Sample, bool SUBPEL>
__global__ void
__launch_bounds__ (FINISH_THREADS)
    finish_kernel (MOTION_PARAMETER (MotionDeviceTask, task))
{
  const MotionDeviceField *field = &task.fields[blockIdx.y];
  const MotionPlace place = motion_place (&task, blockIdx.x);
  const Planes<Sample> planes =
      finish_planes_at<Sample> (&task, &field->reference, place);
  const guint32 lambda = task.config.lambda;
  const short2 prior = motion_prior (&task, field, place.number);
  const MotionFound found = field->found[place.number];
  const gint32 units = task.config.method == MOTION_METHOD_FIELD ? 1 : 4;
  short2 v =
      make_short2 ((gint16) (units * found.x), (gint16) (units * found.y));
  const short2 whole = v;
  Halves<SIZE> *halves = NULL; /* of 8-bit samples */
  CvisMotionBlock block;

  if constexpr (SUBPEL) {
    __shared__ Halves<SIZE> room;
    guint32 cost = found.cost;

    finish_refine_found<SIZE> (&task, field, place, prior, &room, &v, &cost);
    if (sizeof (Sample) == 1)
      halves = &room;
  }
  block = finish_measure_samples<SIZE> (place, planes, v, halves, whole);
  block.second = finish_second_cost<SIZE> (place, planes, found, lambda, prior);
  if (threadIdx.x == 0)
    finish_store_block (&task, field, place, v, prior, &block);
}

/* A lane's part of the measures of a block at whole pixels. */
struct Measures {
  guint32 sad, sse, zero_sad, sum;
};

/* @at: the block's position in the reference; @zero: the same for the zero
 *   vector */
template <int SIZE>
__device__ __forceinline__ Measures
finish_measure_words (
    const MotionLanes<SIZE, true> &lanes, const guint8 *at, const guint8 *zero)
{
  const guint32 ones = 0x01010101u;
  Measures m = { 0, 0, 0, 0 };

#pragma unroll
  for (int i = 0; i < MotionLanes<SIZE, true>::ROWS; i++) {
    guint32 offset = lanes.offset + i * lanes.row_pitch;
    guint32 off = __vabsdiffu4 (
        lanes.words[i], lanes.masked (motion_word (at + offset), i));

    m.sad = __dp4a (off, ones, m.sad);
    m.sse = __dp4a (off, off, m.sse);
    m.sum = __dp4a (lanes.words[i], ones, m.sum);
    m.zero_sad =
        motion_sad4 (lanes.masked (*(const guint32 *) (zero + offset), i),
            lanes.words[i], m.zero_sad);
  }
  return m;
}

/* One warp a block: 8 bits, whole pixels. */
template <int SIZE>
__global__ void
__launch_bounds__ (FINISH_THREADS)
    whole_kernel (MOTION_PARAMETER (MotionDeviceTask, task))
{
  const MotionDeviceField *field = &task.fields[blockIdx.y];
  guint32 number = blockIdx.x * FINISH_WARPS + threadIdx.x / 32;
  MotionLanes<SIZE, true> lanes;
  MotionPlace place;
  MotionFound found;
  CvisMotionBlock block;
  Measures m;
  const guint8 *zero;
  guint32 area, mean, intra = 0;

  if (number >= task.n_blocks)
    return;
  place = motion_place (&task, number);
  found = field->found[number];
  lanes.load (task.current.search, task.layout.pitch, place);
  zero =
      field->reference.search + (gsize) place.y * task.layout.pitch + place.x;
  m = finish_measure_words (lanes,
      zero + (gssize) found.y * (gssize) task.layout.pitch + found.x, zero);
  area = (guint32) (place.w * place.h);
  mean = (motion_warp_sum (m.sum) + area / 2) / area * 0x01010101u;
#pragma unroll
  for (int i = 0; i < MotionLanes<SIZE, true>::ROWS; i++)
    intra = motion_sad4 (lanes.words[i], lanes.masked (mean, i), intra);
  block =
      CvisMotionBlock{ motion_warp_sum (m.sad), motion_warp_sum (m.zero_sad),
        found.second, motion_warp_sum (intra), motion_warp_sum (m.sse), 0 };
  if (motion_lane () == 0)
    finish_store_block (&task, field, place,
        make_short2 ((gint16) (4 * found.x), (gint16) (4 * found.y)),
        motion_prior (&task, field, number), &block);
}

/* The field with the least cost for block @number, the first among equals. */
__device__ __forceinline__ const MotionDeviceField *
predict_best_field (const MotionDeviceTask *task, guint32 number)
{
  const MotionDeviceField *best = &task->fields[0];

  for (guint32 i = 1; i < task->n_fields; i++)
    if (task->fields[i].vectors[number].cost < best->vectors[number].cost)
      best = &task->fields[i];
  return best;
}

/* Stores @value in an output plane: 10-bit values in the upper bits of 16. */
template <typename Sample>
__device__ __forceinline__ void
predict_store_sample (
    guint8 *plane, guint32 pitch, gint32 x, gint32 y, gint32 value)
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
  const MotionDeviceField *field = predict_best_field (&task, place.number);
  const bool any = task.n_fields > 0;
  const Planes<Sample> planes = finish_planes_at<Sample> (
      &task, any ? &field->reference : &task.current, place);
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
      predict_store_sample<Sample> (task.prediction, task.layout.staged_pitch,
          place.x + x, place.y + y, predicted);
    if (task.residual != NULL)
      predict_store_sample<Sample> (task.residual, task.layout.staged_pitch,
          place.x + x, place.y + y,
          motion_clamp (
              middle + planes.current[at] - predicted, 0, 2 * middle - 1));
  }
}

#define FINISH_8(SIZE) whole_kernel<SIZE>
#define FINISH_10(SIZE) finish_kernel<SIZE, guint16, false>
#define FINISH_8_SUBPEL(SIZE) finish_kernel<SIZE, guint8, true>
#define FINISH_10_SUBPEL(SIZE) finish_kernel<SIZE, guint16, true>
#define PREDICT_8(SIZE) predict_kernel<SIZE, guint8>
#define PREDICT_10(SIZE) predict_kernel<SIZE, guint16>

} // namespace

cudaError_t
motion_launch_finish (const MotionDeviceTask *task, cudaStream_t stream)
{
  dim3 grid (task->n_blocks, task->n_fields);
  dim3 warps (
      (task->n_blocks + FINISH_WARPS - 1) / FINISH_WARPS, task->n_fields);
  /* the vectors of method=field are not refined */
  const bool refines = task->config.subpel != MOTION_SUBPEL_NONE
                       && task->config.method != MOTION_METHOD_FIELD;

  if (refines && task->config.depth == 8)
    MOTION_LAUNCH_SIZE (FINISH_8_SUBPEL, grid, FINISH_THREADS, stream, *task);
  else if (refines)
    MOTION_LAUNCH_SIZE (FINISH_10_SUBPEL, grid, FINISH_THREADS, stream, *task);
  else if (task->config.depth == 8)
    MOTION_LAUNCH_SIZE (FINISH_8, warps, FINISH_THREADS, stream, *task);
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
