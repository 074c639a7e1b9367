/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The full search. X. Q. Gao, C. J. Duanmu, C. R. Zou (IEEE Trans. Image
 * Processing 9, 2000): the differences of the sums over parts of the block are
 * less than its SAD, so most candidates are known to be worse than two that were
 * seen before without looking at them, the more the smaller the parts. A zonal
 * search has found these two.
 *
 * A thread block does a block of the grid. The coarsest sums and then the middle
 * ones are looked at for all candidates that are left; if they leave many, as
 * they do with noise and at scene cuts, every candidate is computed, and little
 * is lost. Else the finest sums are looked at, and the SADs of what these leave
 * are computed by a warp each, every one of which may lower the threshold. */
#include "motionbrute.cuh"

namespace {

#define FULL_WARPS MOTION_BRUTE_WARPS
#define FULL_THREADS MOTION_BRUTE_THREADS
/* candidates that coarse and middle sums may leave, in 16ths of all */
#define COARSE_SHARE 10
#define MIDDLE_SHARE 5

/* --- sums over parts -------------------------------------------------------- */

/* Parts of SIDE x SIDE samples, and the sums of the block's own in shared
 * memory, row by row. Of a partial block only whole parts count. */
template <int SIZE, int SIDE, bool MASKED> struct Parts {
  static constexpr int N = SIZE / SIDE;
  static constexpr int LEVEL = SIDE == 16 ? 2 : SIDE == 8 ? 1 : 0;

  const guint32 *own;
  const guint16 *reference; /* at the block's first sample */
  guint32 pitch;
  gint32 across, down;

  __device__ __forceinline__ void
  begin (const MotionDeviceTask *task, const MotionDeviceField *field,
      const MotionPlace &place, guint32 *memory)
  {
    gsize at = (gsize) place.y * task->layout.pitch + place.x;
    const guint16 *current = task->current.sums[LEVEL] + at;

    own = memory;
    reference = field->reference.sums[LEVEL] + at;
    pitch = task->layout.pitch;
    across = place.w / SIDE;
    down = place.h / SIDE;
    for (guint32 i = threadIdx.x; i < N * N; i += FULL_THREADS)
      memory[i] = current[(gsize) (i / N) * SIDE * pitch + i % N * SIDE];
  }

  /* What the SAD at (@x, @y) is not below. */
  __device__ __forceinline__ guint32
  bound (gint32 x, gint32 y) const
  {
    const guint16 *at = reference + (gssize) y * (gssize) pitch + x;
    guint32 sum = 0;

#pragma unroll
    for (gint32 j = 0; j < N; j++, at += SIDE * pitch) {
#pragma unroll
      for (gint32 i = 0; i < N; i++)
        if (!MASKED || (i < across && j < down))
          sum = motion_sad1 (at[i * SIDE], own[j * N + i], sum);
    }
    return sum;
  }
};

/* --- the candidates that are left ------------------------------------------- */

/* As bits, a word for 32 candidates of a row. Word (row, column) is the business
 * of warp (row + column) % FULL_WARPS: the candidates of one direction, where
 * most are left, are shared among the warps. */
struct Left {
  guint32 *bits;
  gint32 left, top, across, down;
  gint32 columns; /* words of a row */

  __device__ __forceinline__ short2
  vector (guint32 candidate) const
  {
    gint32 word = (gint32) (candidate / 32);

    return make_short2 (
        (gint16) (left + word % columns * 32 + (gint32) (candidate & 31)),
        (gint16) (top + word / columns));
  }
};

/* Calls @use (word) for the warp's words. */
template <class Use>
__device__ __forceinline__ void
for_words (const Left &left, const Use &use)
{
  gint32 warp = (gint32) threadIdx.x / 32;

  for (gint32 row = 0; row < left.down; row++)
    for (gint32 column = (warp - row) & (FULL_WARPS - 1); column < left.columns;
         column += FULL_WARPS)
      use (row, column);
}

/* What the thread block shares, beside the bits and the brute force's memory. */
template <int SIZE> struct Shared {
  MotionKey best, second;
  guint32 counts[2]; /* candidates that coarse and middle sums leave */
  guint32 fine_count;
  guint32 coarse[SIZE >= 16 ? SIZE * SIZE / 256 : 1];
  guint32 middle[SIZE >= 16 ? SIZE * SIZE / 64 : 4];
  guint32 fine[SIZE * SIZE / 16];
  guint32 queues[FULL_WARPS][64];
};

/* Collects candidates until there are 32, so that a warp's lanes all have one. */
struct Queue {
  guint32 *items;
  gint32 n;

  __device__ __forceinline__ void
  push (guint32 bits, guint32 word)
  {
    guint32 lane = motion_lane ();

    __syncwarp ();
    if (bits >> lane & 1)
      items[n + __popc (bits & ((1u << lane) - 1))] = word * 32 + lane;
    n += __popc (bits);
    __syncwarp ();
  }

  /* Up to 32; lanes from *@count on get any. */
  __device__ __forceinline__ guint32
  pop (gint32 *count)
  {
    *count = min (n, 32);
    n -= *count;
    return items[n + min ((gint32) motion_lane (), *count - 1)];
  }
};

template <int SIZE, bool MASKED> struct Elimination {
  static constexpr int COARSE = SIZE >= 16 ? 16 : 8;

  const MotionDeviceTask *task;
  const MotionDeviceField *field;
  const MotionPlace *place;
  Shared<SIZE> *shared;
  Left left;
  short2 prior;
  guint32 threshold; /* a candidate that costs more is out */
  Parts<SIZE, COARSE, MASKED> coarse;
  Parts<SIZE, COARSE / 2, MASKED> middle;
  Parts<SIZE, 4, MASKED> fine;

  __device__ __forceinline__ void
  begin (const MotionDeviceTask *t, const MotionDeviceField *f,
      const MotionPlace *p, Shared<SIZE> *s, guint32 *bits)
  {
    const MotionRect r = p->rect;

    task = t;
    field = f;
    place = p;
    shared = s;
    left.bits = bits;
    left.left = r.left;
    left.top = r.top;
    left.across = r.right - r.left + 1;
    left.down = r.bottom - r.top + 1;
    left.columns = (left.across + 31) / 32;
    prior = motion_prior (f, p->number);
    threshold = min (f->seeds[p->number].second, MOTION_COST_LIMIT);
    coarse.begin (t, f, *p, s->coarse);
    middle.begin (t, f, *p, s->middle);
    fine.begin (t, f, *p, s->fine);
    if (threadIdx.x == 0) {
      s->best = s->second = MOTION_NO_KEY;
      s->counts[0] = s->counts[1] = s->fine_count = 0;
    }
    __syncthreads ();
  }

  __device__ __forceinline__ guint32
  rate (short2 d) const
  {
    return motion_rate (task->config.lambda, d.x, d.y, prior);
  }

  __device__ __forceinline__ guint32
  n_candidates () const
  {
    return (guint32) (left.across * left.down);
  }

  /* Adds the warp's count. Returns: the thread block's. */
  __device__ __forceinline__ guint32
  count (guint32 n, guint32 *into)
  {
    if (motion_lane () == 0)
      atomicAdd (into, n);
    __syncthreads ();
    return *into;
  }

  /* Sets the bits of all candidates that the coarse sums leave.
   * Returns: how many these are. */
  __device__ __forceinline__ guint32
  look_coarse ()
  {
    guint32 n = 0;

    for_words (left, [&] (gint32 row, gint32 column) {
      gint32 x = 32 * column + (gint32) motion_lane ();
      short2 d = make_short2 ((gint16) (left.left + min (x, left.across - 1)),
          (gint16) (left.top + row));
      bool in = coarse.bound (d.x, d.y) + rate (d) <= threshold;
      guint32 bits = __ballot_sync (MOTION_ALL_LANES, in && x < left.across);

      if (motion_lane () == 0)
        left.bits[row * left.columns + column] = bits;
      n += (guint32) __popc (bits);
    });
    return count (n, &shared->counts[0]);
  }

  /* Calls @use (candidate, count) for the warp's candidates, 32 at a time. */
  template <class Use>
  __device__ __forceinline__ void
  for_left (const Use &use)
  {
    Queue queue = { shared->queues[threadIdx.x / 32], 0 };
    gint32 n;

    for_words (left, [&] (gint32 row, gint32 column) {
      guint32 word = (guint32) (row * left.columns + column);

      queue.push (left.bits[word], word);
      if (queue.n >= 32) {
        guint32 candidate = queue.pop (&n);

        use (candidate, n);
      }
    });
    if (queue.n > 0) {
      guint32 candidate = queue.pop (&n);

      use (candidate, n);
    }
  }

  /* Clears the bits of candidates that the middle sums rule out.
   * Returns: how many are left. */
  __device__ __forceinline__ guint32
  look_middle ()
  {
    guint32 n = 0;

    for_left ([&] (guint32 candidate, gint32 used) {
      short2 d = left.vector (candidate);
      bool mine = (gint32) motion_lane () < used;
      bool in = middle.bound (d.x, d.y) + rate (d) <= threshold;

      if (mine && !in)
        atomicAnd (&left.bits[candidate / 32], ~(1u << (candidate & 31)));
      n += (guint32) __popc (__ballot_sync (MOTION_ALL_LANES, mine && in));
    });
    return count (n, &shared->counts[1]);
  }

  /* A SAD has been computed: the lanes that are 0 keep the two best, all of the
   * warp lower their threshold. */
  __device__ __forceinline__ void
  take (guint32 cost, short2 d)
  {
    MotionKey second = MOTION_NO_KEY;

    if (cost > threshold)
      return;
    if (motion_lane () == 0) {
      MotionKey key = motion_candidate_key (task->config.tie, cost, d.x, d.y);
      MotionKey before = atomicMin (&shared->best, key);

      /* whichever of the two is not the best may be the second */
      before = max (before, key);
      second = min (atomicMin (&shared->second, before), before);
    }
    second = __shfl_sync (MOTION_ALL_LANES, second, 0);
    threshold = min (threshold, motion_candidate_cost (second));
  }

  /* Computes what the finest sums leave. */
  __device__ __forceinline__ void
  look_fine ()
  {
    MotionLanes<SIZE, MASKED || SIZE == 8> lanes;
    const guint8 *reference = field->reference.search
                              + (gsize) place->y * task->layout.pitch
                              + place->x;
    guint32 n = 0;

    lanes.load (task->current.search, task->layout.pitch, *place);
    for_left ([&] (guint32 candidate, gint32 used) {
      short2 own = left.vector (candidate);
      guint32 own_rate = rate (own);
      guint32 least =
          (gint32) motion_lane () < used
              ? own_rate + (SIZE >= 16 ? fine.bound (own.x, own.y) : 0)
              : MOTION_NONE;
      guint32 todo = __ballot_sync (MOTION_ALL_LANES, least <= threshold);

      while (todo != 0) {
        gint32 from = __ffs ((gint32) todo) - 1;
        short2 d = make_short2 (
            (gint16) __shfl_sync (MOTION_ALL_LANES, (gint32) own.x, from),
            (gint16) __shfl_sync (MOTION_ALL_LANES, (gint32) own.y, from));
        guint32 bits = __shfl_sync (MOTION_ALL_LANES, own_rate, from);

        take (motion_warp_sum (lanes.share (
                  reference + (gssize) d.y * (gssize) task->layout.pitch + d.x))
                  + bits,
            d);
        n++;
        todo &= todo - 1;
        todo &= __ballot_sync (MOTION_ALL_LANES, least <= threshold);
      }
    });
    count (n, &shared->fine_count);
  }
};

template <int SIZE, bool MASKED>
__device__ __forceinline__ void
search_brute (const MotionDeviceTask *task, const MotionDeviceField *field,
    const MotionPlace *place, guint32 *memory, guint32 rows)
{
  MotionBrute<SIZE, MASKED> brute;

  brute.begin (task, field, place, memory);
  brute.run ((gint32) rows);
  brute.store (field->found);
}

/* For benches: what was left of a block. */
template <int SIZE>
__device__ __forceinline__ void
report (const MotionDeviceTask *task, const Shared<SIZE> *shared, guint32 all,
    bool brute)
{
  if (task->counters == NULL || threadIdx.x != 0)
    return;
  atomicAdd (&task->counters[MOTION_COUNT_CANDIDATES], all);
  atomicAdd (&task->counters[MOTION_COUNT_COARSE], shared->counts[0]);
  atomicAdd (&task->counters[MOTION_COUNT_MIDDLE], shared->counts[1]);
  atomicAdd (&task->counters[MOTION_COUNT_FINE], shared->fine_count);
  atomicAdd (&task->counters[MOTION_COUNT_BRUTE], brute);
}

template <int SIZE, bool MASKED>
__device__ __forceinline__ void
search (const MotionDeviceTask *task, const MotionDeviceField *field,
    const MotionPlace *place, guint32 *memory, guint32 rows,
    Shared<SIZE> *shared)
{
  Elimination<SIZE, MASKED> e;
  bool brute;

  e.begin (task, field, place, shared, memory);
  brute = e.look_coarse () > e.n_candidates () / 16 * COARSE_SHARE
          || e.look_middle () > e.n_candidates () / 16 * MIDDLE_SHARE;
  if (!brute) {
    e.look_fine ();
    if (threadIdx.x == 0)
      motion_store_pair (MotionPair{ shared->best, shared->second },
          &field->found[place->number]);
  }
  report (task, shared, e.n_candidates (), brute);
  if (brute) {
    __syncthreads (); /* the bits have been read */
    search_brute<SIZE, MASKED> (task, field, place, memory, rows);
  }
}

template <int SIZE, bool BRUTE>
__global__ void
__launch_bounds__ (FULL_THREADS, 4)
    full_kernel (MOTION_PARAMETER (MotionDeviceTask, task), guint32 rows)
{
  extern __shared__ uint4 dynamic[];
  guint32 *memory = (guint32 *) dynamic;
  const MotionDeviceField *field = &task.fields[blockIdx.y];
  const MotionPlace place = motion_place (&task, blockIdx.x);
  bool whole = place.w == SIZE && place.h == SIZE;

  if (BRUTE) {
    if (whole)
      search_brute<SIZE, false> (&task, field, &place, memory, rows);
    else
      search_brute<SIZE, true> (&task, field, &place, memory, rows);
  } else {
    __shared__ Shared<SIZE> shared;

    if (whole)
      search<SIZE, false> (&task, field, &place, memory, rows, &shared);
    else
      search<SIZE, true> (&task, field, &place, memory, rows, &shared);
  }
}

typedef void (*FullKernel) (const MotionDeviceTask, guint32);

template <bool BRUTE>
FullKernel
kernel_of (guint block_size)
{
  return block_size == 8    ? full_kernel<8, BRUTE>
         : block_size == 16 ? full_kernel<16, BRUTE>
         : block_size == 32 ? full_kernel<32, BRUTE>
                            : full_kernel<64, BRUTE>;
}

FullKernel
choose_kernel (const MotionConfig *config)
{
  return config->method == MOTION_METHOD_FULL_BRUTE
             ? kernel_of<true> (config->block_size)
             : kernel_of<false> (config->block_size);
}

/* Words of shared memory for a tile of @rows; the brute force's, and the bits of
 * the elimination, which lie in the same place. */
gsize
tile_bytes (const MotionConfig *config, guint rows)
{
  gsize words = config->block_size / 4, side = 2 * config->range + 1;
  gsize brute =
      words * config->block_size
      + (MOTION_BRUTE_ACROSS / 4 + words - 1) * (rows + config->block_size - 1);

  return 4 * MAX (brute, side * ((side + 31) / 32));
}

} // namespace

cudaError_t
motion_prepare_full (const MotionConfig *config, MotionTile *tile)
{
  FullKernel kernel = choose_kernel (config);
  cudaFuncAttributes attributes;
  int device = 0, most = 0;
  cudaError_t code = cudaGetDevice (&device);

  if (code == cudaSuccess)
    code = cudaDeviceGetAttribute (
        &most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (code == cudaSuccess)
    code = cudaFuncGetAttributes (&attributes, (const void *) kernel);
  if (code != cudaSuccess)
    return code;
  /* no more rows than there are candidates, in whole groups */
  tile->rows = MIN (128, (2 * config->range + 1 + MOTION_BRUTE_DOWN - 1)
                             & ~(MOTION_BRUTE_DOWN - 1));
  while (tile->rows > MOTION_BRUTE_DOWN
         && tile_bytes (config, tile->rows) + attributes.sharedSizeBytes
                > (gsize) most)
    tile->rows -= MOTION_BRUTE_DOWN;
  tile->bytes = (guint32) tile_bytes (config, tile->rows);
  return cudaFuncSetAttribute ((const void *) kernel,
      cudaFuncAttributeMaxDynamicSharedMemorySize, (int) tile->bytes);
}

cudaError_t
motion_launch_full (
    const MotionDeviceTask *task, const MotionTile *tile, cudaStream_t stream)
{
  dim3 grid (task->n_blocks, task->n_fields);

  choose_kernel (&task->config)<<<grid, FULL_THREADS, tile->bytes, stream>>> (
      *task, tile->rows);
  return cudaGetLastError ();
}
