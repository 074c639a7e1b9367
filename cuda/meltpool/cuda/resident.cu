/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The resident kernel: P blocks of one warp. Each takes every P-th frame from the ring,
 * waits for its turn at the temporal window, and writes the record to the host's memory. docs/design/realtime.md has the protocol and its memory ordering. */
#include "cuda/meltpool/cuda/network.cuh"
#include "cuda/meltpool/cuda/resident.cuh"
#include "cuda/meltpool/cuda/spatial.cuh"

/* Polls in vain before a block sleeps between two. */
#define BUSY_POLLS 64

namespace {

__device__ __forceinline__ guint32
load_from_host (const guint32 *at)
{
  guint32 v;

  asm volatile("ld.acquire.sys.global.u32 %0, [%1];"
               : "=r"(v)
               : "l"(at)
               : "memory");
  return v;
}

__device__ __forceinline__ void
store_to_host (guint32 *at, guint32 v)
{
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(at), "r"(v)
               : "memory");
}

__device__ __forceinline__ guint32
load_turn (const guint32 *at)
{
  guint32 v;

  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
               : "=r"(v)
               : "l"(at)
               : "memory");
  return v;
}

__device__ __forceinline__ void
store_turn (guint32 *at, guint32 v)
{
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(at), "r"(v)
               : "memory");
}

__device__ __forceinline__ guint64
now_ns (void)
{
  guint64 t;

  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
}

/* Is it over for the kernel? */
__device__ bool
is_over (const PbfResident &r, guint64 end_ns)
{
  return load_from_host (r.stop) != 0 || now_ns () >= end_ns;
}

/* By the warp: waits for frame @q in its place. FALSE when the kernel has to end. */
__device__ bool
wait_for_frame (const PbfResident &r, guint32 q, guint64 end_ns)
{
  const guint32 *sequence = &r.entries[q & (r.places - 1)].sequence;
  bool there = false;

  if (pbf_lane () == 0) {
    for (guint polls = 1;; polls++) {
      there = load_from_host (sequence) == q + 1
              && (r.stall_at == 0 || q < r.stall_at);
      if (there || (polls % 16 == 0 && is_over (r, end_ns)))
        break;
      if (polls > BUSY_POLLS && r.idle_sleep_ns > 0)
        __nanosleep (r.idle_sleep_ns);
    }
  }
  there = __shfl_sync (PBF_ALL_LANES, there, 0);
  __syncwarp ();
  return there;
}

/* By the warp: waits for the turn of frame @q at the window. */
__device__ bool
wait_for_turn (const PbfResident &r, guint32 q, guint64 end_ns)
{
  bool turn = false;

  if (pbf_lane () == 0) {
    for (guint polls = 1;; polls++) {
      turn = load_turn (&r.window->committed) == q;
      if (turn || (polls % 256 == 0 && is_over (r, end_ns)))
        break;
    }
  }
  turn = __shfl_sync (PBF_ALL_LANES, turn, 0);
  __syncwarp ();
  return turn;
}

/* Lane f moves the exact sums of feature f on by the frame of @result, which enters the
 * window. Loads bypass the L1 cache, since other blocks write these values. Leaves the 40
 * features in column 0 of @x. */
__device__ void
move_window_on (const PbfParams &p, const PbfResident &r,
    const PbfDeviceFrame &f, PbfResult *result, gfloat (*x)[PBF_NETWORK_ROWS])
{
  PbfResidentWindow *w = r.window;
  guint lane = pbf_lane ();
  guint32 n = __ldcg (&w->n), first = __ldcg (&w->first);
  PbfRow last, row;
  bool full;

  last.layer = __ldcg (&w->layer);
  last.vector_id = __ldcg (&w->vector_id);
  last.position = __ldcg (&w->position);
  row.layer = f.info.layer;
  row.vector_id = f.info.vector_id;
  row.position = f.position;
  bool restart = __ldcg (&w->started) && pbf_window_restarts (&p, &last, &row);
  if (restart)
    n = 0;
  full = n == (guint32) p.window;
  __syncwarp ();
  if (lane < PBF_N_SPATIAL) {
    gint64 s1 = restart ? 0 : __ldcg (&w->s1[lane]);
    gint64 s2 = restart ? 0 : __ldcg (&w->s2[lane]);
    gint64 v = result->raw[lane], count = n + !full;

    if (full) {
      gint64 oldest = __ldcg (&r.rows[first][lane]);
      s1 -= oldest;
      s2 -= oldest * oldest;
    }
    s1 += v;
    s2 += v * v;
    __stcg (&r.rows[(first + n) % p.window][lane], (gint32) v);
    __stcg (&w->s1[lane], s1);
    __stcg (&w->s2[lane], s2);
    gint64 numerator = count * s2 - s1 * s1;
    gfloat variance = pbf_variance (numerator, count, pbf_scale (lane));

    result->var_num[lane] = numerator;
    result->features[PBF_N_SPATIAL + lane] = variance;
    *(float4 *) x[lane] = make_float4 (result->features[lane], 0, 0, 0);
    *(float4 *) x[PBF_N_SPATIAL + lane] = make_float4 (variance, 0, 0, 0);
  }
  if (lane == 0) {
    if (full)
      first = (first + 1) % p.window;
    else
      n++;
    __stcg (&w->n, n);
    __stcg (&w->first, first);
    __stcg (&w->started, 1u);
    __stcg (&w->layer, row.layer);
    __stcg (&w->vector_id, row.vector_id);
    __stcg (&w->position, row.position);
    result->window_n = n;
    if (restart)
      result->flags |= PBF_RESULT_WINDOW_RESET;
    if (n < (guint32) p.window)
      result->flags |= PBF_RESULT_WARMUP;
  }
}

/* All that the lanes have written comes before the turn of the next frame. */
__device__ void
pass_turn_on (const PbfResident &r, guint32 q)
{
  __threadfence ();
  __syncwarp ();
  if (pbf_lane () == 0)
    store_turn (&r.window->committed, q + 1);
}

__device__ void
write_record (
    const PbfResident &r, guint32 q, PbfResult *to, const PbfResult *result)
{
  __syncwarp ();
  for (guint k = pbf_lane (); k < sizeof (PbfResult) / 16; k += 32)
    ((uint4 *) to)[k] = ((const uint4 *) result)[k];
  __threadfence_system ();
  __syncwarp ();
  if (pbf_lane () == 0)
    store_to_host (&r.done[q & (r.places - 1)], q + 1);
}

__global__ void __launch_bounds__ (32) resident_kernel (const PbfParams p,
    const PbfDeviceModel model, const PbfResident r, guint32 first)
{
  __shared__ Shared shared;
  __shared__ alignas (16) PbfRingEntry entry;
  __shared__ alignas (16) gfloat x[PBF_N_FEATURES][PBF_NETWORK_ROWS];
  guint64 end_ns = now_ns () + r.lifetime_ns;
  gint32 only_row = 0;

  for (guint32 q = first + blockIdx.x;; q += gridDim.x) {
    if (!wait_for_frame (r, q, end_ns))
      return;
    ((guint32 *) &entry)[pbf_lane ()] = ((
        const volatile guint32 *) &r.entries[q & (r.places - 1)])[pbf_lane ()];
    __syncwarp ();

    guint entered = pbf_begin_frame (p, entry.frame, SIDE, &shared.result);
    if (entered != PBF_EMPTY)
      measure_roi (p, entry.frame, shared, r.scratch + blockIdx.x, NULL);
    __syncwarp ();

    if (!wait_for_turn (r, q, end_ns))
      return;
    if (entered == PBF_ENTER)
      move_window_on (p, r, entry.frame, &shared.result, x);
    pass_turn_on (r, q);
    if (entered == PBF_ENTER && model.outputs > 0)
      pbf_run_network (p, model, &shared.result, &only_row, 0, 1, x);
    write_record (r, q, entry.result, &shared.result);
    __syncwarp ();
  }
}

} // namespace

cudaError_t
pbf_launch_resident (const PbfParams *params, const PbfDeviceModel *model,
    const PbfResident *resident, guint32 first, guint blocks,
    cudaStream_t stream)
{
  PbfDeviceModel none = { 0, 0, NULL, NULL, NULL, NULL, NULL, NULL };

  resident_kernel<<<blocks, 32, 0, stream>>> (
      *params, model ? *model : none, *resident, first);
  return cudaGetLastError ();
}
