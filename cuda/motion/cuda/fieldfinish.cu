/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* After the passes of the regularised field: the evidence for each vector, its
 * confidence, and with a depth of 8 the measures of the block (finish.cu has those with
 * a depth of 10). */
#include "cuda/motion/cuda/field.cuh"

namespace {

/* The least cost round the vector of a block of the level, minus that of the vector: a
 * warp a block, a lane every 32nd vector. */
__global__ void
__launch_bounds__ (FIELD_THREADS) field_ambiguity_kernel (
    MOTION_PARAMETER (MotionDeviceTask, task), guint vectors)
{
  const guint level = MOTION_FIELD_AMBIGUITY_LEVEL;
  const gint32 far = MOTION_FIELD_AMBIGUITY_FAR, side = 2 * far + 1;
  const gint32 range = motion_field_range (&task.config, level);
  const FieldView view (&task);
  const MotionFieldGrid *grid = view.grid (level);
  const gint32 i = (gint32) (blockIdx.x * FIELD_WARPS + threadIdx.x / 32);
  gint32 least = 65536;

  if (i >= grid->n)
    return;
  const FieldBlock block (view, level, i % grid->columns, i / grid->columns);
  const MotionFieldVector v =
      field_vector (view.own (grid->vectors[vectors])[i]);

  for (gint32 k = (gint32) motion_lane (); k < side * side; k += 32) {
    const gint32 dx = k % side - far, dy = k / side - far;

    if (max (abs (dx), abs (dy)) >= MOTION_FIELD_AMBIGUITY_NEAR
        && abs (v.x + dx) <= range && abs (v.y + dy) <= range)
      least = min (least, block.cost (MotionFieldVector{ v.x + dx, v.y + dy }));
  }
  least = (gint32) motion_warp_min ((guint32) least);
  if (motion_lane () == 0)
    view.own (task.memory.ambiguities)[i] = least - block.cost (v);
}

__device__ __forceinline__ gint32
evidence_ambiguity (const FieldView &view, gint32 x, gint32 y)
{
  const MotionFieldGrid *grid = view.grid (MOTION_FIELD_AMBIGUITY_LEVEL);
  const gint32 side = MOTION_FIELD_COARSE_BLOCK << MOTION_FIELD_AMBIGUITY_LEVEL;

  return view.own (
      view.task->memory
          .ambiguities)[min (y / side, grid->rows - 1) * grid->columns
                        + min (x / side, grid->columns - 1)];
}

/* Sixteenths of a block that lie in the reference. */
__device__ __forceinline__ gint32
evidence_inside (
    const MotionConfig *config, const MotionPlace &place, MotionFieldVector v)
{
  const gint32 across =
      min (place.x + place.w, (gint32) config->width - (v.x >> 2))
      - max (place.x, -(v.x >> 2));
  const gint32 down =
      min (place.y + place.h, (gint32) config->height - (v.y >> 2))
      - max (place.y, -(v.y >> 2));

  return 16 * max (across, 0) * max (down, 0) / (place.w * place.h);
}

/* The evidence from the neighbours, in all lanes: lanes 0 to 7 have one each. */
__device__ __forceinline__ void
evidence_neighbours (const FieldView &view, const short2 *vectors,
    gint32 column, gint32 row, MotionFieldVector v, MotionFieldEvidence *e)
{
  const MotionFieldGrid *grid = view.grid (0);
  const MotionFieldVector d = field_neighbour ((gint32) motion_lane () & 7);
  const gint32 x = column + d.x, y = row + d.y, j = y * grid->columns + x;
  gint32 distance = 32, weight = 0;

  if (x >= 0 && y >= 0 && x < grid->columns && y < grid->rows) {
    distance = motion_field_distance (v, field_vector (vectors[j]), 32);
    weight = distance <= 4 ? view.own (grid->weights)[j] : 0;
  }
  if (motion_lane () >= 8)
    distance = weight = 0;
  e->rough = (gint32) motion_warp_sum ((guint32) distance);
  e->support += (gint32) motion_warp_sum ((guint32) weight);
}

/* The evidence for the vector of a block. @lanes: its samples as they are compared */
template <int SIZE>
__device__ __forceinline__ MotionFieldEvidence
evidence_find (const FieldView &view, const FieldLanes<SIZE> &lanes,
    const short2 *vectors, const MotionPlace &place, gint32 i)
{
  const MotionFieldGrid *grid = view.grid (0);
  const MotionDevicePicture *reference = &view.field->reference;
  const MotionFieldVector v = field_vector (vectors[i]);
  gint32 least = G_MAXINT32;
  MotionFieldEvidence e;

  e.cost = lanes.cost (reference, v);
  for (gint32 k = 0; k < 8; k++) {
    const MotionFieldVector d = field_neighbour (k);

    least = min (least, lanes.cost (reference,
                            MotionFieldVector{ v.x + 4 * d.x, v.y + 4 * d.y }));
  }
  e.excess = least - e.cost;
  e.support = view.own (grid->weights)[i];
  evidence_neighbours (
      view, vectors, i % grid->columns, i / grid->columns, v, &e);
  e.distance = motion_field_distance (
      v, field_vector (view.own (grid->expected)[i]), 32);
  e.ambiguity =
      evidence_ambiguity (view, place.x + SIZE / 2, place.y + SIZE / 2);
  e.inside = evidence_inside (&view.task->config, place, v);
  e.noise = view.noise ();
  return e;
}

/* Measures of a block without its flags, in all lanes. @lanes: all its samples */
template <int SIZE>
__device__ __forceinline__ CvisMotionBlock
evidence_measure (const FieldView &view, const FieldLanes<SIZE> &lanes,
    const MotionPlace &place, MotionFieldVector v)
{
  const guint32 ones = 0x01010101u, area = (guint32) (place.w * place.h);
  const MotionDevicePicture *reference = &view.field->reference;
  const guint8 *zero = reference->search + lanes.at + lanes.offset, *a, *b;
  guint32 sad = 0, sse = 0, zero_sad = 0, sum = 0, intra = 0, mean;

  lanes.find_pair (reference, v, &a, &b);
#pragma unroll
  for (int i = 0; i < FieldLanes<SIZE>::ROWS; i++) {
    const guint32 off =
        __vabsdiffu4 (lanes.words[i], lanes.mean_word (a, b, i));
    const guint8 *there = zero + i * FieldLanes<SIZE>::STEP * lanes.pitch;

    sad = __dp4a (off, ones, sad);
    sse = __dp4a (off, off, sse);
    sum = __dp4a (lanes.words[i], ones, sum);
    zero_sad = motion_sad4 (
        lanes.masked (*(const guint32 *) there, i), lanes.words[i], zero_sad);
  }
  mean = (motion_warp_sum (sum) + area / 2) / area * ones;
#pragma unroll
  for (int i = 0; i < FieldLanes<SIZE>::ROWS; i++)
    intra = motion_sad4 (lanes.words[i], lanes.masked (mean, i), intra);
  return CvisMotionBlock{ motion_warp_sum (sad), motion_warp_sum (zero_sad),
    MOTION_NONE, motion_warp_sum (intra), motion_warp_sum (sse), 0 };
}

/* A warp a block. */
template <int SIZE>
__global__ void
__launch_bounds__ (FIELD_THREADS)
    field_finish_kernel (MOTION_PARAMETER (MotionDeviceTask, task), guint index)
{
  const FieldView view (&task);
  const gint32 i = (gint32) (blockIdx.x * FIELD_WARPS + threadIdx.x / 32);

  if (i >= (gint32) task.n_blocks)
    return;
  const gint32 columns = (gint32) task.columns;
  const short2 *vectors = view.own (view.grid (0)->vectors[index]);
  const MotionFieldVector v = field_vector (vectors[i]);
  const MotionPlace place = motion_place (&task, (guint32) i);
  FieldLanes<SIZE> lanes (view, i % columns, i / columns), lit = lanes;
  CvisMotionVector vector;
  CvisMotionBlock block;
  guint32 confidence;

  lit.light (view.state ());
  lit.set_window (field_window (view, 0, i % columns, i / columns));
  const MotionFieldEvidence evidence =
      evidence_find<SIZE> (view, lit, vectors, place, i);

  confidence = motion_field_confidence (&evidence);
  if (task.config.depth > 8) {
    if (motion_lane () == 0)
      view.field->found[i] = MotionFound{ (gint16) v.x, (gint16) v.y, 0, 0,
        confidence, MOTION_NONE };
    return;
  }
  lanes.set_window (MotionFieldWindow{ 0, 0, place.w, place.h });
  block = evidence_measure<SIZE> (view, lanes, place, v);
  vector.x = (gint16) v.x;
  vector.y = (gint16) v.y;
  vector.cost = block.sad;
  block.flags = motion_field_flags (&task.config, (guint32) place.w,
      (guint32) place.h, &vector, &block, confidence, view.noise ());
  if (motion_lane () == 0) {
    view.field->vectors[i] = vector;
    view.field->blocks[i] = block;
  }
}

#define FIELD_FINISH(SIZE) field_finish_kernel<SIZE>

} // namespace

cudaError_t
motion_launch_field_ambiguity (
    const MotionDeviceTask *task, guint vectors, cudaStream_t stream)
{
  const guint n = (guint) task->memory.grids[MOTION_FIELD_AMBIGUITY_LEVEL].n;
  const dim3 grid ((n + FIELD_WARPS - 1) / FIELD_WARPS, task->n_fields);

  MOTION_START (
      field_ambiguity_kernel, grid, FIELD_THREADS, stream, *task, vectors);
  return cudaGetLastError ();
}

cudaError_t
motion_launch_field_finish (
    const MotionDeviceTask *task, guint vectors, cudaStream_t stream)
{
  const dim3 grid (
      (task->n_blocks + FIELD_WARPS - 1) / FIELD_WARPS, task->n_fields);

  MOTION_LAUNCH_SIZE (
      FIELD_FINISH, grid, FIELD_THREADS, stream, *task, vectors);
  if (task->config.depth > 8)
    return motion_launch_finish (task, stream);
  return cudaGetLastError ();
}
