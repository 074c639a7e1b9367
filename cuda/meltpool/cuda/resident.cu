/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The resident kernel: P blocks of sixteen warps, each takes every P-th frame from the
 * ring. docs/design/realtime.md has the protocol and its memory ordering.
 *
 * A frame has four steps, with a barrier of the block between them:
 *
 *   1 warp 0 waits for the entry in the ring
 *   2 five warps read the ROI over the bus, an aligned vector of 16 bytes a thread, and
 *     shift it to words of four pixels; the others meanwhile prepare what needs no pixels:
 *     the record's head, the sectors, the disc, the rows of earlier frames in the window
 *   3 warp 0 labels the runs and measures the pool, warp 1 the polar sums, warp 2 the
 *     spatters, the others a word each of the gradients and of the pool's intensities
 *   4 variances, network, record
 */
#include "cuda/meltpool/cuda/fewruns.cuh"
#include "cuda/meltpool/cuda/resident.cuh"

/* Number of failed polls before a block sleeps between polls. */
#define BUSY_POLLS 64
#define THREADS 512 /* of a block; one for each neuron of the largest network */
#define WARPS (THREADS / 32)
#define READERS (SIDE * 4) /* threads that read the ROI */
#define GRADIENT_WARP 3    /* the first of the warps that share the gradients */
#define GRADIENT_WARPS (WARPS - GRADIENT_WARP)
#define PLACE_WARP 4 /* after its gradients */
#define ROW_WARP 8   /* first warp that reads earlier rows of the window */
#define ROW_WARPS 7
#define HEAD_WARP 15
#define LABEL_WARPS (GRADIENT_WARPS + 2) /* that meet after labelling */
#define OUTPUT_WORD (offsetof (CvisPbfResult, outputs) / 4)

/* Named barriers; 0 is that of __syncthreads(). */
enum {
  SHARES_KNOWN = 1,
  LABELLED,
  POOL_MEASURED,
  POOL_SUMMED,
  GRADIENTS_SUMMED,
  FEATURES_KNOWN,
  WINDOW_KNOWN,
  OUTPUTS_SUMMED
};

namespace {

/* Shared memory of a block. */
struct BlockMemory {
  alignas (16) gfloat x[CVIS_PBF_N_FEATURES];
  alignas (16) CvisPbfResult result;
  PbfRingFrame frame;
  guint32 roi[SIDE * PITCH];
  guint64 lit[SIDE]; /* pixels that reach the threshold */
  guint64 sectors[3][SIDE], disc[SIDE];
  FewRuns runs;
  guint32 gradients[GRADIENT_WARPS][10];
  guint32 pool_sums[GRADIENT_WARPS], pool_tops[GRADIENT_WARPS];
  /* sums over the window's earlier rows: [0] all, [1..] of each warp */
  gint64 s1[1 + ROW_WARPS][CVIS_PBF_N_SPATIAL],
      s2[1 + ROW_WARPS][CVIS_PBF_N_SPATIAL];
  gfloat mean[CVIS_PBF_N_FEATURES], inv_std[CVIS_PBF_N_FEATURES];
  gfloat hidden[PBF_MAX_HIDDEN], w2[CVIS_PBF_MAX_OUTPUTS * PBF_MAX_HIDDEN];
  gfloat out[CVIS_PBF_MAX_OUTPUTS];
  gdouble per_square; /* 1 / (window_n * window_n) */
  bool there, few, given_up, rows_known;
};

/* --- memory shared with the host and with other blocks ------------------- */

__device__ __forceinline__ guint64
load_from_host (const guint64 *at)
{
  guint64 v;

  asm volatile("ld.acquire.sys.global.u64 %0, [%1];"
               : "=l"(v)
               : "l"(at)
               : "memory");
  return v;
}

__device__ __forceinline__ uint4
load_pixels (const void *at)
{
  uint4 v;

  asm volatile("ld.relaxed.sys.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(at));
  return v;
}

__device__ __forceinline__ guint64
load_relayed (const guint64 *at)
{
  guint64 v;

  asm volatile("ld.acquire.gpu.global.u64 %0, [%1];"
               : "=l"(v)
               : "l"(at)
               : "memory");
  return v;
}

__device__ __forceinline__ PbfTagged
load_tagged (const PbfTagged *at)
{
  PbfTagged v;

  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(at));
  return v;
}

__device__ __forceinline__ void
store_tagged (PbfTagged *at, guint32 word, guint32 tag)
{
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(at),
               "l"((guint64) tag << 32 | word)
               : "memory");
}

__device__ __forceinline__ void
store_to_host (PbfTagged *at, guint32 word, guint32 tag)
{
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(at),
               "l"((guint64) tag << 32 | word)
               : "memory");
}

/* Stores two words of a record. */
__device__ __forceinline__ void
store_pair_to_host (PbfTagged *at, guint64 words, guint32 tag)
{
  guint64 high = (guint64) tag << 32;

  asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};" ::"l"(at),
               "l"(high | (guint32) words), "l"(high | words >> 32)
               : "memory");
}

__device__ __forceinline__ guint64
now_ns (void)
{
  guint64 t;

  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
}

__device__ __forceinline__ void
wait_for_warps (guint barrier, guint warps)
{
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(32 * warps) : "memory");
}

__device__ __forceinline__ void
tell_warps (guint barrier, guint warps)
{
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(32 * warps) : "memory");
}

/* --- frames from the ring ------------------------------------------------------------ */

/* Whether frame @q was computed by an earlier launch although a frame before
 * it was not. */
__device__ __forceinline__ bool
was_finished (const PbfResident &r, guint32 q, guint32 first)
{
  return q - first < r.places
         && __ldcg (&r.finished[q & (r.places - 1)]) == q + 1;
}

/* By one warp: waits for the entry of frame @q; each lane gets one word.
 * Returns: FALSE if the kernel has to end */
__device__ bool
wait_for_entry (const PbfResident &r, guint32 q, guint64 end_ns, guint32 *word)
{
  guint lane = pbf_lane ();
  gsize at = (gsize) (q & (r.places - 1)) * PBF_ENTRY_STRIDE + lane;
#ifdef CVIS_TEST_HOOKS
  const bool held = r.stall_at != 0 && q >= r.stall_at;
#else
  const bool held = false;
#endif

#pragma unroll 1
  for (guint polls = 1;; polls++) {
    PbfTagged v = 0;

    if (lane < PBF_ENTRY_WORDS)
      v = r.relayed ? load_relayed (&r.relayed[at])
                    : load_from_host (&r.entries[at]);
    else if (lane == PBF_ENTRY_WORDS)
      v = r.relayed ? load_relayed (r.relayed_head) : load_from_host (r.head);
    *word = (guint32) v;
    bool missing = lane < PBF_ENTRY_WORDS && ((v >> 32) != q + 1 || held);
    bool stop = lane == PBF_ENTRY_WORDS
                && (r.relayed ? v == r.launch : (v & PBF_HEAD_STOP) != 0);

    if (__any_sync (PBF_ALL_LANES, stop))
      return false;
    if (!__any_sync (PBF_ALL_LANES, missing))
      return true;
    if (__any_sync (PBF_ALL_LANES, polls % 16 == 0 && now_ns () >= end_ns))
      return false;
    if (polls > BUSY_POLLS && r.idle_sleep_ns > 0)
      __nanosleep (r.idle_sleep_ns);
  }
}

/* By the last block: copies entries to device memory, where the other blocks
 * poll for them. So one lane polls the host's memory, however many blocks
 * there are. */
__device__ void
relay_entries (const PbfResident &r, guint32 first, guint64 end_ns)
{
  __shared__ guint64 head;
  guint lane = pbf_lane ();
  guint32 q = first;
  bool over = false;

  for (guint polls = 1; !over; polls++) {
    if (threadIdx.x == 0)
      head = load_from_host (r.head);
    __syncthreads ();
    guint64 seen = head;
    guint32 ready = (guint32) seen - q;

    over = (seen & PBF_HEAD_STOP) != 0;
    if (ready > 0)
      polls = 0;
    if (!over)
      for (guint32 i = threadIdx.x / 32; i < ready; i += WARPS) {
        gsize at = (gsize) ((q + i) & (r.places - 1)) * PBF_ENTRY_STRIDE + lane;

        if (lane < PBF_ENTRY_WORDS) {
          guint32 word = (guint32) load_from_host (&r.entries[at]);

          /* orders the pixels before the entry */
          __threadfence ();
          store_tagged (&r.relayed[at], word, q + i + 1);
        }
      }
    q += ready;
    over |= polls % 16 == 15 && now_ns () >= end_ns;
    if (polls > BUSY_POLLS && r.idle_sleep_ns > 0)
      __nanosleep (r.idle_sleep_ns);
    over = __syncthreads_or (over);
  }
  if (threadIdx.x == 0)
    store_tagged (
        r.relayed_head, (guint32) r.launch, (guint32) (r.launch >> 32));
}

/* --- the ROI --------------------------------------------------------------------------- */

/* By thread t of the first READERS: reads the aligned vector t % 4 of row
 * t / 4, shifts it to words of the ROI, and finds the pixels that reach the
 * threshold. Vectors without a pixel of the ROI are skipped. */
__device__ __forceinline__ void
read_roi (const PbfParams &p, BlockMemory &s)
{
  guint y = threadIdx.x / 4, c = threadIdx.x % 4;
  gsize start = (gsize) s.frame.roi + (gsize) y * s.frame.stride;
  gsize at = (start & ~(gsize) 15) + 16 * c;
  gint first = 4 * c - (gint) (start & 15) / 4; /* word of the ROI */
  uint4 v = at < start + SIDE ? load_pixels ((const void *) at)
                              : make_uint4 (0, 0, 0, 0);
  guint32 words[5] = { v.x, v.y, v.z, v.w,
    __shfl_down_sync (PBF_ALL_LANES, v.x, 1) };
  guint32 bits = 0;

#pragma unroll
  for (gint k = 0; k < 4; k++) {
    guint32 word = __funnelshift_r (words[k], words[k + 1], start % 4 * 8);

    bits |= pbf_reaches (word, (guint32) p.threshold * 0x01010101u) << 4 * k;
    if ((guint) (first + k) < WORDS)
      s.roi[y * PITCH + first + k] = word;
  }
  guint64 row = first < 0 ? bits >> -4 * first : (guint64) bits << 4 * first;
  row |= __shfl_xor_sync (PBF_ALL_LANES, row, 1);
  row |= __shfl_xor_sync (PBF_ALL_LANES, row, 2);
  if (c == 0)
    s.lit[y] = row & ((1ull << SIDE) - 1);
}

/* --- work that needs no pixels ------------------------------------------- */

__device__ void
begin_record (const PbfRingFrame &f, guint outputs, CvisPbfResult *result)
{
  guint lane = pbf_lane ();

  for (guint k = lane; k < PBF_RECORD_WORDS; k += 32)
    ((guint32 *) result)[k] = 0;
  __syncwarp ();
  if (lane == 0) {
    result->magic = CVIS_PBF_RESULT_MAGIC;
    result->size = sizeof (CvisPbfResult);
    result->version = CVIS_PBF_RESULT_VERSION;
    result->timestamp_ns = f.info.timestamp_ns;
    result->frame_index = f.info.frame_index;
    result->frame_counter = f.info.frame_counter;
    result->flags = f.info.flags;
    result->layer = f.info.layer;
    result->vector_id = f.info.vector_id;
    result->x_um = f.info.x_um;
    result->y_um = f.info.y_um;
    result->signal_flags = f.info.signal_flags;
    result->window_n = f.window_n;
    result->n_outputs = outputs;
    if (f.info.entry != PBF_EMPTY) {
      result->e_x_q8 = f.info.e_x_q8;
      result->e_y_q8 = f.info.e_y_q8;
      result->roi_x = f.roi_x;
      result->roi_y = f.roi_y;
      result->roi_size = SIDE;
      result->position_confidence = f.confidence;
    }
  }
}

/* Masks of the sectors and the disc in row @y. */
__device__ __forceinline__ void
prepare_row (const PbfParams &p, BlockMemory &s, gint y, gint32 ex, gint32 ey)
{
  pbf_polar_row (y, ex, ey, p.inner2, p.outer2, &s.sectors[0][y],
      &s.sectors[1][y], &s.sectors[2][y]);
  s.disc[y] = pbf_disc_row (y, ex, ey, p.radius2);
}

/* By one of ROW_WARPS warps: sums its share of the rows before @row in a
 * window of @n rows. Returns: whether all of them are known */
__device__ __noinline__ bool
add_rows (const PbfResident &r, BlockMemory &s, guint32 row, guint32 n)
{
  guint lane = pbf_lane (), share = threadIdx.x / 32 - ROW_WARP;
  guint f = min (lane, CVIS_PBF_N_SPATIAL - 1u);
  gint64 s1 = 0, s2 = 0;
  bool all = true;

#pragma unroll 1
  for (guint32 k = 1 + share; k < n; k += 4 * ROW_WARPS) {
    PbfTagged v[4];

#pragma unroll
    for (guint i = 0; i < 4; i++) {
      guint32 back = min (k + i * ROW_WARPS, n - 1);
      v[i] = load_tagged (&r.rows[(row - back) & (r.n_rows - 1)][f]);
    }
#pragma unroll
    for (guint i = 0; i < 4; i++) {
      guint32 back = k + i * ROW_WARPS;
      gint32 value = back < n ? (gint32) v[i] : 0;

      all &= back >= n || (guint32) (v[i] >> 32) == row - back + 1;
      s1 += value;
      s2 += (gint64) value * value;
    }
  }
  if (lane < CVIS_PBF_N_SPATIAL) {
    s.s1[1 + share][lane] = s1;
    s.s2[1 + share][lane] = s2;
  }
  return __all_sync (PBF_ALL_LANES, all);
}

/* Repeats add_rows() until all rows are known. Returns: FALSE if the kernel
 * has to end */
__device__ bool
wait_for_rows (const PbfResident &r, BlockMemory &s, guint32 row, guint32 n,
    guint64 end_ns)
{
  for (guint tries = 1; !add_rows (r, s, row, n); tries++)
    if (tries % 64 == 0
        && __any_sync (PBF_ALL_LANES,
            now_ns () >= end_ns
                || (load_from_host (r.head) & PBF_HEAD_STOP) != 0))
      return false;
  return true;
}

/* By one warp: adds the shares. */
__device__ void
sum_shares (BlockMemory &s)
{
  guint lane = pbf_lane ();
  gint64 s1 = 0, s2 = 0;

  if (lane >= CVIS_PBF_N_SPATIAL)
    return;
#pragma unroll
  for (guint k = 1; k <= ROW_WARPS; k++) {
    s1 += s.s1[k][lane];
    s2 += s.s2[k][lane];
  }
  s.s1[0][lane] = s1;
  s.s2[0][lane] = s2;
}

/* --- features -------------------------------------------------------------------------- */

/* By one warp: each lane with @active stores its feature @f with value @v
 * and, if the frame enters the window, its row and variance. Called again
 * with the same value once the earlier rows are known. */
__device__ __noinline__ void
enter_feature (
    const PbfResident &r, BlockMemory &s, guint f, gint32 v, bool active)
{
  gint64 n = s.frame.window_n;
  guint32 row = s.frame.row;

  if (!active)
    return;
  /* scales are powers of two, so that products equal quotients */
  gfloat unit = 1.0f / pbf_scale (f), feature = (gfloat) v * unit;

  s.result.raw[f] = v;
  s.result.features[f] = feature;
  if (n == 0)
    return;
  store_tagged (&r.rows[row & (r.n_rows - 1)][f], (guint32) v, row + 1);
  if (!s.rows_known)
    return;
  gint64 s1 = s.s1[0][f] + v, s2 = s.s2[0][f] + (gint64) v * v;
  gint64 numerator = n * s2 - s1 * s1;
  gfloat variance = pbf_variance_times (numerator, n, s.per_square, unit);

  s.result.var_num[f] = numerator;
  s.result.features[CVIS_PBF_N_SPATIAL + f] = variance;
  s.x[f] = (feature - s.mean[f]) * s.inv_std[f];
  s.x[CVIS_PBF_N_SPATIAL + f] = (variance - s.mean[CVIS_PBF_N_SPATIAL + f])
                                * s.inv_std[CVIS_PBF_N_SPATIAL + f];
}

/* By one warp: sums of sector @sector below and above the expected position. */
__device__ __noinline__ void
sum_sector (
    BlockMemory &s, guint sector, gint32 ey, guint32 *lower, guint32 *upper)
{
  guint32 below = 0, above = 0;

#pragma unroll 1
  for (gint y = pbf_lane (); y < SIDE; y += 32) {
    guint32 sum = sum_row (s.roi + y * PITCH, s.sectors[sector][y]);
    gint32 dy = 256 * y + 128 - ey;

    if (sector == 0 ? dy >= 0 : dy > 0)
      below += sum;
    else
      above += sum;
  }
  *lower = pbf_warp_sum (below);
  *upper = pbf_warp_sum (above);
}

/* By one warp: the polar features. */
__device__ void
measure_sectors (const PbfResident &r, BlockMemory &s, gint32 ey)
{
  guint lane = pbf_lane ();
  guint32 mine = 0;

#pragma unroll 1
  for (guint sector = 0; sector < 3; sector++) {
    guint32 lower, upper;

    sum_sector (s, sector, ey, &lower, &upper);
    mine = lane == sector ? lower : lane == 5 - sector ? upper : mine;
  }
  enter_feature (r, s, CVIS_PBF_POLAR_0 + lane, mine, lane < 6);
}

/* By warp 0, for more runs than FewRuns holds: components and melt pool. */
__device__ __noinline__ void
label_many_runs (const PbfParams &p, BlockMemory &s, const Rows &mask,
    gint32 ex, gint32 ey, PbfDeviceScratch *scratch)
{
  gint pool_number;
  Rows pool;
  guint n = label_by_runs (p, mask, ex, ey, scratch->components,
      scratch->parents, &pool_number, &pool);

  measure_pool (s.roi, pool, &s.result);
  __syncwarp ();
  measure_spatters (p, scratch->components, n, pool_number, &s.result);
  __syncwarp ();
}

/* By warp 0: components and the shape of the melt pool. */
__device__ void
label_roi (const PbfParams &p, const PbfResident &r, BlockMemory &s, gint32 ex,
    gint32 ey)
{
  guint lane = pbf_lane ();
  Rows mask;

  mask.low = s.lit[lane];
  mask.high = lane < SIDE - 32 ? s.lit[32 + lane] : 0;
  guint32 counts = count_runs (mask.low) | count_runs (mask.high) << 16;
  guint32 before = pbf_warp_sum_before (counts);
  guint32 all = __shfl_sync (PBF_ALL_LANES, before + counts, 31);
  guint32 n = (all & 0xffff) + (all >> 16);

  if (n > FEW_RUNS) {
    label_many_runs (p, s, mask, ex, ey, r.scratch + blockIdx.x);
    if (lane == 0)
      s.few = false;
    tell_warps (LABELLED, LABEL_WARPS);
    tell_warps (POOL_MEASURED, 2);
    enter_feature (r, s, lane, lane < CVIS_PBF_POLAR_0 ? s.result.raw[lane] : 0,
        lane < CVIS_PBF_POLAR_0);
    return;
  }
  label_few_runs (s.runs, mask, before & 0xffff,
      (all & 0xffff) + (before >> 16), n, min (max (ex >> 8, 0), SIDE - 1),
      min (max (ey >> 8, 0), SIDE - 1), p.connectivity, s.disc);
  if (lane == 0)
    s.few = true;
  tell_warps (LABELLED, LABEL_WARPS);
  PbfMoments m = measure_few_runs (s.runs);
  if (lane == 0 && m.n == 0)
    atomicOr (&s.result.flags, (guint32) CVIS_PBF_RESULT_NO_POOL);
  tell_warps (POOL_MEASURED, 2);
  gint32 ratio = pbf_ratio_q16 (&m);
  enter_feature (r, s, lane == 0 ? CVIS_PBF_MP_AREA : CVIS_PBF_MP_RATIO,
      lane == 0 ? m.n : ratio, lane < 2);
}

/* By warp 1: polar sums and intensities of the melt pool. */
__device__ void
measure_intensities (const PbfResident &r, BlockMemory &s, gint32 ey)
{
  guint lane = pbf_lane ();

  measure_sectors (r, s, ey);
  wait_for_warps (POOL_SUMMED, GRADIENT_WARPS + 1);
  if (!s.few)
    return;
  guint32 sums = lane < GRADIENT_WARPS ? s.pool_sums[lane] : 0;
  guint32 top = lane < GRADIENT_WARPS ? s.pool_tops[lane] : 0;
  gint32 mean = pbf_mean_q8 (
      pbf_warp_sum (sums & 0xffff), pbf_warp_sum (sums >> 16 & 0xff));

  enter_feature (r, s, CVIS_PBF_MP_MEAN, mean, lane == 0);
  top = pbf_warp_max (top);
  sums = pbf_warp_sum (sums >> 24);
  if (lane == 0) {
    s.result.max_intensity = (guint16) top;
    s.result.saturated = (guint16) sums;
  }
}

/* By each of the gradient warps: its share of the melt pool's intensities. */
__device__ __forceinline__ void
share_intensities (BlockMemory &s)
{
  guint i = threadIdx.x - 32 * GRADIENT_WARP;
  guint32 sums, top;

  wait_for_warps (LABELLED, LABEL_WARPS);
  if (s.few) {
    sums = sum_pool_pixels (s.runs, s.roi, i, i < SIDE * WORDS, &top);
    if (pbf_lane () == 0) {
      s.pool_sums[i / 32] = sums;
      s.pool_tops[i / 32] = top;
    }
  }
  tell_warps (POOL_SUMMED, GRADIENT_WARPS + 1);
}

/* Ends a warp's share of the features. A warp without neurons does not wait,
 * and goes on with work that the network does not need. */
__device__ __forceinline__ void
end_features (bool wait, bool rows_known)
{
  if (wait) {
    wait_for_warps (FEATURES_KNOWN, WARPS);
  } else {
    tell_warps (FEATURES_KNOWN, WARPS);
    if (!rows_known)
      tell_warps (WINDOW_KNOWN, WARPS);
  }
}

/* By warp 2: spatters. */
__device__ void
measure_spatters_by_warp (const PbfParams &p, const PbfResident &r,
    BlockMemory &s, bool neurons, bool rows_known)
{
  guint lane = pbf_lane ();
  guint32 keys[2], area, count;

  wait_for_warps (LABELLED, LABEL_WARPS);
  if (s.few) {
    if (!s.runs.summed)
      add_runs_but_pool (s.runs, s.runs.pool, NULL);
    count_few_spatters (p, s.runs, keys, &area, &count);
    enter_feature (r, s,
        lane == 0 ? CVIS_PBF_SPATTER_AREA : CVIS_PBF_SPATTER_COUNT,
        lane == 0 ? area : count, lane < 2);
  }
  if (!neurons)
    end_features (false, rows_known);
  if (s.few)
    list_few_spatters (s.runs, keys, count, &s.result);
  if (neurons)
    end_features (true, rows_known);
}

/* By PLACE_WARP: position of the melt pool. */
__device__ void
place_pool_by_warp (BlockMemory &s, bool neurons, bool rows_known)
{
  if (!neurons)
    end_features (false, rows_known);
  wait_for_warps (POOL_MEASURED, 2);
  if (s.few && s.runs.pool >= 0 && pbf_lane () == 0)
    place_pool (s.runs, &s.result);
  __syncwarp ();
  if (neurons)
    end_features (true, rows_known);
}

/* By the gradient warps. */
__device__ void
measure_gradients (const PbfResident &r, BlockMemory &s)
{
  guint warp = threadIdx.x / 32 - GRADIENT_WARP, lane = pbf_lane ();
  guint32 all[5] = { 0, 0, 0, 0, 0 }, left[5] = { 0, 0, 0, 0, 0 };

  /* one word for each thread: the sums of a warp fit 32 bits */
  G_STATIC_ASSERT (32 * GRADIENT_WARPS >= SIDE * WORDS);
  add_gradients (
      s.roi, threadIdx.x - 32 * GRADIENT_WARP, 32 * GRADIENT_WARPS, all, left);
  __syncwarp ();
#pragma unroll
  for (gint k = 0; k < 5; k++) {
    guint32 a = pbf_warp_sum (all[k]), l = pbf_warp_sum (left[k]);

    if (lane == 0) {
      s.gradients[warp][k] = a;
      s.gradients[warp][5 + k] = l;
    }
  }
  if (warp != 0) {
    tell_warps (GRADIENTS_SUMMED, GRADIENT_WARPS);
    share_intensities (s);
    return;
  }
  wait_for_warps (GRADIENTS_SUMMED, GRADIENT_WARPS);

  gint64 mine = 0, a[5], l[5], bins[9], bin = 0;
  if (lane < 10)
    for (guint k = 0; k < GRADIENT_WARPS; k++)
      mine += s.gradients[k][lane];
#pragma unroll
  for (gint k = 0; k < 5; k++) {
    a[k] = __shfl_sync (PBF_ALL_LANES, mine, k);
    l[k] = __shfl_sync (PBF_ALL_LANES, mine, 5 + k);
  }
  pbf_hog_unfold (a, l, bins);
#pragma unroll
  for (gint k = 0; k < 9; k++)
    bin = lane == (guint) k ? bins[k] : bin;
  gint32 share = pbf_hog_share (bin, pbf_hog_norm (bins));
  enter_feature (r, s, CVIS_PBF_HOG_0 + lane, share, lane < 9);
  share_intensities (s);
}

/* --- the network and the record --------------------------------------------------------- */

/* By one warp: output @k before its activation, in lane 0, summed in the
 * order of pbf_run_network(). */
__device__ __forceinline__ gfloat
sum_output (
    const BlockMemory &s, const PbfDeviceModel &model, guint k, gfloat bias)
{
  gfloat sum = 0.0f;

#pragma unroll 2
  for (guint j = pbf_lane (); j < model.hidden_padded; j += 32)
    sum = fmaf (s.w2[k * model.hidden_padded + j], s.hidden[j], sum);
#pragma unroll
  for (int half = 16; half > 0; half /= 2)
    sum = sum + __shfl_down_sync (PBF_ALL_LANES, sum, half);
  return bias + sum;
}

/* By the first CVIS_PBF_MAX_OUTPUTS warps, one for each output. */
__device__ __forceinline__ void
write_output (BlockMemory &s, const PbfParams &p, const PbfDeviceModel &model,
    gfloat bias, PbfTagged *record, guint32 tag)
{
  guint k = threadIdx.x / 32;
  gfloat out[CVIS_PBF_MAX_OUTPUTS] = { 0.0f };

  if (k < model.outputs)
    out[0] = sum_output (s, model, k, bias);
  if (p.activation >= PBF_ACTIVATION_SOFTMAX) {
    if (pbf_lane () == 0)
      s.out[k] = out[0];
    wait_for_warps (OUTPUTS_SUMMED, CVIS_PBF_MAX_OUTPUTS);
    if (pbf_lane () == 0 && k < model.outputs) {
      for (guint i = 0; i < model.outputs; i++)
        out[i] = s.out[i];
      pbf_activate (out, model.outputs, p.activation);
      out[0] = out[k];
    }
  } else if (pbf_lane () == 0 && k < model.outputs) {
    pbf_activate (out, 1, p.activation);
  }
  if (pbf_lane () == 0)
    store_to_host (record + OUTPUT_WORD + k, __float_as_uint (out[0]), tag);
}

/* By the last four warps: writes the record, without the outputs if other
 * warps write them. */
__device__ __forceinline__ void
write_record (
    const BlockMemory &s, PbfTagged *record, guint32 tag, bool with_outputs)
{
  guint i = threadIdx.x - (THREADS - 128);

  G_STATIC_ASSERT (PBF_RECORD_WORDS / 2 <= 128 && OUTPUT_WORD % 2 == 0);
  if (threadIdx.x >= THREADS - 128 && i < PBF_RECORD_WORDS / 2
      && (with_outputs || i < OUTPUT_WORD / 2
          || i >= (OUTPUT_WORD + CVIS_PBF_MAX_OUTPUTS) / 2))
    store_pair_to_host (record + 2 * i, ((const guint64 *) &s.result)[i], tag);
}

__global__ void
__launch_bounds__ (THREADS, 1)
    resident_kernel (const __grid_constant__ PbfParams p,
        const __grid_constant__ PbfDeviceModel model,
        const __grid_constant__ PbfResident r, guint32 first)
{
  __shared__ BlockMemory s;
  guint t = threadIdx.x, warp = t / 32, lane = t & 31;
  guint blocks = r.relayed ? gridDim.x - 1 : gridDim.x;
  guint64 end_ns = now_ns () + r.lifetime_ns;
  /* the thread's neuron, with its weights in registers while the kernel
   * lives; the first warps get the last neurons */
  guint neuron = (t + THREADS - 32 * (PLACE_WARP + 1)) % THREADS;
  bool neurons = neuron - lane < model.hidden_padded;
  gfloat weights[CVIS_PBF_N_FEATURES], bias = 0.0f, out_bias = 0.0f;

  if (blockIdx.x == blocks) {
    relay_entries (r, first, end_ns);
    return;
  }
#pragma unroll
  for (guint i = 0; i < CVIS_PBF_N_FEATURES; i++)
    weights[i] = neuron < model.hidden_padded
                     ? model.w1t[i * model.hidden_padded + neuron]
                     : 0.0f;
  if (neuron < model.hidden_padded)
    bias = model.b1[neuron];
  for (guint i = t; i < model.outputs * model.hidden_padded; i += THREADS)
    s.w2[i] = model.w2[i];
  if (warp < model.outputs)
    out_bias = model.b2[warp];
  if (t < CVIS_PBF_N_FEATURES) {
    s.mean[t] = model.outputs > 0 ? model.mean[t] : 0.0f;
    s.inv_std[t] = model.outputs > 0 ? model.inv_std[t] : 0.0f;
  }

  for (guint32 q = first + blockIdx.x;; q += blocks) {
    PbfTagged *record =
        r.records + (gsize) (q & (r.places - 1)) * PBF_RECORD_WORDS;

    if (was_finished (r, q, first))
      continue;
    if (warp == 0) {
      guint32 word;
      bool there = wait_for_entry (r, q, end_ns, &word);

      if (lane < PBF_ENTRY_WORDS)
        ((guint32 *) &s.frame)[lane] = word;
      if (lane == 0) {
        s.there = there;
        s.given_up = false;
        s.rows_known = true;
      }
    }
    __syncthreads ();
    if (!s.there)
      return;

    bool analysed = s.frame.info.entry != PBF_EMPTY;
    bool enters = s.frame.info.entry == PBF_ENTER;
    bool judged = enters && model.outputs > 0;
    guint32 row = s.frame.row, n = s.frame.window_n;

    if (warp == HEAD_WARP) {
      begin_record (s.frame, judged ? model.outputs : 0, &s.result);
      if (enters) {
        wait_for_warps (SHARES_KNOWN, ROW_WARPS + 1);
        sum_shares (s);
        if (lane == 0)
          s.per_square = 1.0 / ((gdouble) n * n);
      }
    }
    if (analysed) {
      gint32 ex = pbf_clamp_reach (
          (gint64) s.frame.info.e_x_q8 - 256 * s.frame.roi_x, SIDE);
      gint32 ey = pbf_clamp_reach (
          (gint64) s.frame.info.e_y_q8 - 256 * s.frame.roi_y, SIDE);
      bool share_known = true;

      if (t < READERS) {
        read_roi (p, s);
      } else if (t >= 192 && t < 192 + FEW_RUNS) {
        clear_runs (s.runs, t - 192);
        if (t < 192 + SIDE)
          prepare_row (p, s, t - 192, ex, ey);
      } else if (enters && warp >= ROW_WARP && warp < ROW_WARP + ROW_WARPS) {
        share_known = add_rows (r, s, row, n);
        if (!share_known)
          s.rows_known = false;
        tell_warps (SHARES_KNOWN, ROW_WARPS + 1);
      }
      __syncthreads ();
      bool rows_known = !enters || s.rows_known;

      if (warp == 0)
        label_roi (p, r, s, ex, ey);
      else if (warp == 1)
        measure_intensities (r, s, ey);
      else if (warp == 2)
        measure_spatters_by_warp (p, r, s, neurons, rows_known);
      else
        measure_gradients (r, s);
      if (!share_known && !wait_for_rows (r, s, row, n, end_ns))
        s.given_up = true;
      if (warp == PLACE_WARP)
        place_pool_by_warp (s, neurons, rows_known);
      else if (warp != 2)
        end_features (true, rows_known);
      if (!rows_known && (neurons || (warp != 2 && warp != PLACE_WARP))) {
        if (warp == 0) {
          sum_shares (s);
          s.rows_known = true;
          __syncwarp ();
          enter_feature (r, s, lane,
              lane < CVIS_PBF_N_SPATIAL ? s.result.raw[lane] : 0,
              lane < CVIS_PBF_N_SPATIAL);
        }
        wait_for_warps (WINDOW_KNOWN, WARPS);
      }
      if (judged && neurons) {
        gfloat h = bias;

#pragma unroll
        for (guint i = 0; i < CVIS_PBF_N_FEATURES; i += 4) {
          float4 x = *(const float4 *) &s.x[i];

          h = fmaf (weights[i], x.x, h);
          h = fmaf (weights[i + 1], x.y, h);
          h = fmaf (weights[i + 2], x.z, h);
          h = fmaf (weights[i + 3], x.w, h);
        }
        s.hidden[neuron] = h > 0.0f ? h : 0.0f;
      }
    }
    __syncthreads ();
    if (s.given_up)
      return;
    if (judged && warp < CVIS_PBF_MAX_OUTPUTS)
      write_output (s, p, model, out_bias, record, q + 1);
    write_record (s, record, q + 1, !judged);
    __syncthreads ();
    if (t == 0)
      __stcg (&r.finished[q & (r.places - 1)], q + 1);
  }
}

} // namespace

cudaError_t
pbf_resident_fit (guint *blocks)
{
  int processors = 0, each = 0;
  cudaError_t code =
      cvis_cuda_get_attribute (cudaDevAttrMultiProcessorCount, &processors);

  if (code == cudaSuccess)
    code = cudaOccupancyMaxActiveBlocksPerMultiprocessor (
        &each, resident_kernel, THREADS, 0);
  *blocks = processors * each;
  return code;
}

cudaError_t
pbf_launch_resident (const PbfParams *params, const PbfDeviceModel *model,
    const PbfResident *resident, guint32 first, guint blocks,
    cudaStream_t stream)
{
  PbfDeviceModel none = { 0, 0, NULL, NULL, NULL, NULL, NULL, NULL };

  resident_kernel<<<blocks + (resident->relayed ? 1 : 0), THREADS, 0,
      stream>>> (*params, model ? *model : none, *resident, first);
  return cudaGetLastError ();
}
