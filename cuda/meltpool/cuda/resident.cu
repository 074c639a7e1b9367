/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The resident kernel: P blocks of eight warps. Each takes every P-th frame from the ring,
 * waits for its turn at the temporal window, and writes the record to the host's memory. docs/design/realtime.md has the protocol and its memory ordering. */
#include "cuda/meltpool/cuda/resident.cuh"
#include "cuda/meltpool/cuda/spatial.cuh"

/* Polls in vain before a block sleeps between two. */
#define BUSY_POLLS 64
#define THREADS 256 /* of a block */

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
 * window. Loads bypass the L1 cache, since other blocks write these values. @x: the 40
 * features. */
__device__ void
move_window_on (const PbfParams &p, const PbfResident &r,
    const PbfDeviceFrame &f, PbfResult *result, gfloat *x)
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
    x[lane] = result->features[lane];
    x[PBF_N_SPATIAL + lane] = variance;
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

/* By the block: the spatial features. Warp 0 finds pool and spatters, warp 1 the polar
 * sums, the others share the gradients. */
__device__ void
measure_by_block (const PbfParams &p, const PbfResident &r,
    const PbfDeviceFrame &f, Shared &shared, unsigned long long (*sums)[5])
{
  PbfResult *result = &shared.result;
  guint warp = threadIdx.x / 32, lane = pbf_lane ();
  gint32 ex =
      pbf_clamp_reach ((gint64) result->e_x_q8 - 256 * result->roi_x, SIDE);
  gint32 ey =
      pbf_clamp_reach ((gint64) result->e_y_q8 - 256 * result->roi_y, SIDE);

  load_roi (f, result->roi_x, result->roi_y, shared.roi, threadIdx.x, THREADS);
  if (threadIdx.x < 10)
    sums[threadIdx.x / 5][threadIdx.x % 5] = 0;
  __syncthreads ();
  if (warp == 0) {
    measure_components (p, shared, ex, ey, r.scratch + blockIdx.x, NULL);
  } else if (warp == 1) {
    measure_polar (p, shared.roi, ex, ey, result);
  } else {
    guint32 all[5] = { 0, 0, 0, 0, 0 }, left[5] = { 0, 0, 0, 0, 0 };

    add_gradients (shared.roi, threadIdx.x - 64, THREADS - 64, all, left);
    __syncwarp ();
#pragma unroll
    for (gint k = 0; k < 5; k++) {
      guint64 a = pbf_warp_sum_wide (all[k]), l = pbf_warp_sum_wide (left[k]);

      if (lane == 0) {
        atomicAdd (&sums[0][k], (unsigned long long) a);
        atomicAdd (&sums[1][k], (unsigned long long) l);
      }
    }
  }
  __syncthreads ();
  if (warp == 0) {
    gint64 all[5], left[5], bins[9];
    gint32 normalised[9];

    for (gint k = 0; k < 5; k++) {
      all[k] = sums[0][k];
      left[k] = sums[1][k];
    }
    pbf_hog_unfold (all, left, bins);
    pbf_hog_normalise (bins, normalised);
#pragma unroll
    for (gint k = 0; k < 9; k++)
      if (lane == (guint) k)
        result->raw[PBF_HOG_0 + k] = normalised[k];
    __syncwarp ();
    if (lane < PBF_N_SPATIAL)
      result->features[lane] = (gfloat) result->raw[lane] / pbf_scale (lane);
    __syncwarp ();
  }
}

/* By the block: the network for the features @x, in the order of sums of
 * pbf_run_network(). */
__device__ void
run_network_by_block (const PbfParams &p, const PbfDeviceModel &model,
    gfloat *x, gfloat *hidden, gfloat *out, PbfResult *result)
{
  guint warp = threadIdx.x / 32, lane = pbf_lane (), t = threadIdx.x;
  guint padded = model.hidden_padded;

  if (t < PBF_N_FEATURES)
    x[t] = (x[t] - __ldg (&model.mean[t])) * __ldg (&model.inv_std[t]);
  __syncthreads ();
  for (guint j = t; j < padded; j += THREADS) {
    gfloat h = __ldg (&model.b1[j]);

#pragma unroll
    for (guint i = 0; i < PBF_N_FEATURES; i++)
      h = fmaf (__ldg (&model.w1t[i * padded + j]), x[i], h);
    hidden[j] = h > 0.0f ? h : 0.0f;
  }
  __syncthreads ();
  if (warp < model.outputs) {
    gfloat sum = 0.0f;

    for (guint j = lane; j < padded; j += 32)
      sum = fmaf (__ldg (&model.w2[warp * padded + j]), hidden[j], sum);
    for (int half = 16; half > 0; half /= 2)
      sum = sum + __shfl_down_sync (PBF_ALL_LANES, sum, half);
    if (lane == 0)
      out[warp] = __ldg (&model.b2[warp]) + sum;
  }
  __syncthreads ();
  if (t == 0) {
    pbf_activate (out, model.outputs, p.activation);
    for (guint k = 0; k < model.outputs; k++)
      result->outputs[k] = out[k];
    result->n_outputs = model.outputs;
  }
}

__global__ void
__launch_bounds__ (THREADS) resident_kernel (const PbfParams p,
    const PbfDeviceModel model, const PbfResident r, guint32 first)
{
  __shared__ Shared shared;
  __shared__ alignas (16) PbfRingEntry entry;
  __shared__ gfloat x[PBF_N_FEATURES], hidden[PBF_MAX_HIDDEN];
  __shared__ gfloat out[PBF_MAX_OUTPUTS];
  __shared__ unsigned long long sums[2][5];
  __shared__ guint entered;
  __shared__ bool there, turn;
  guint64 end_ns = now_ns () + r.lifetime_ns;
  bool first_warp = threadIdx.x < 32;

  for (guint32 q = first + blockIdx.x;; q += gridDim.x) {
    if (first_warp) {
      bool found = wait_for_frame (r, q, end_ns);

      if (found) {
        ((guint32 *) &entry)[pbf_lane ()] =
            ((const volatile guint32 *) &r
                    .entries[q & (r.places - 1)])[pbf_lane ()];
        __syncwarp ();
        guint decided = pbf_begin_frame (p, entry.frame, SIDE, &shared.result);
        if (pbf_lane () == 0)
          entered = decided;
      }
      if (pbf_lane () == 0)
        there = found;
    }
    __syncthreads ();
    if (!there)
      return;
    if (entered != PBF_EMPTY)
      measure_by_block (p, r, entry.frame, shared, sums);
    if (first_warp) {
      bool mine = wait_for_turn (r, q, end_ns);

      if (mine) {
        if (entered == PBF_ENTER)
          move_window_on (p, r, entry.frame, &shared.result, x);
        pass_turn_on (r, q);
      }
      if (pbf_lane () == 0)
        turn = mine;
    }
    __syncthreads ();
    if (!turn)
      return;
    if (entered == PBF_ENTER && model.outputs > 0)
      run_network_by_block (p, model, x, hidden, out, &shared.result);
    if (first_warp)
      write_record (r, q, entry.result, &shared.result);
    __syncthreads ();
  }
}

} // namespace

cudaError_t
pbf_launch_resident (const PbfParams *params, const PbfDeviceModel *model,
    const PbfResident *resident, guint32 first, guint blocks,
    cudaStream_t stream)
{
  PbfDeviceModel none = { 0, 0, NULL, NULL, NULL, NULL, NULL, NULL };

  resident_kernel<<<blocks, THREADS, 0, stream>>> (
      *params, model ? *model : none, *resident, first);
  return cudaGetLastError ();
}
