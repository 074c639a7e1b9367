/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The searches that go in rounds: the points of a round are computed at once
 * and then taken in the order in which the definition visits them.
 *
 * A thread block does a tile of neighbouring blocks of the grid, which share
 * the window of the reference round them in shared memory; where the device has
 * too little of that, they read the plane itself. A block has a warp or a few,
 * all with the same state of the search. A lane has a row of the block, in
 * registers, and sums up the differences of many points in its row of the
 * window; the lanes' sums are then exchanged so that each lane has the costs of
 * its own points. Rows of the window are an odd number of words apart, so the
 * lanes read from different banks. */
#pragma once

#include "motionwarp.cuh"

#define MOTION_ROUND_THREADS 256

/* A candidate, by cost and then by what decides among equals. */
typedef unsigned long long MotionKey;
#define MOTION_NO_KEY (~0ull)

/* The two least keys of those seen. */
template <typename Key> struct MotionLeast {
  Key best, second;

  __device__ __forceinline__ void
  clear ()
  {
    best = second = (Key) ~(Key) 0;
  }

  __device__ __forceinline__ void
  add (Key key)
  {
    second = min (second, max (best, key));
    best = min (best, key);
  }
};

typedef MotionLeast<MotionKey> MotionPair;

/* Points of a round: cost << MOTION_POINT_BITS | number. A cost has 21 bits. */
typedef MotionLeast<guint32> MotionRoundPair;
#define MOTION_POINT_BITS 11
#define MOTION_ROUND_POINTS (1 << MOTION_POINT_BITS)

/* Blocks of a tile, warps of a block. */
template <int SIZE> struct MotionTiling {
  static constexpr gint32 ACROSS = SIZE == 64 ? 1 : SIZE == 32 ? 2 : 4;
  static constexpr gint32 DOWN = SIZE == 64 ? 1 : 2;
  static constexpr gint32 BLOCKS = ACROSS * DOWN;
  static constexpr gint32 WARPS = MOTION_ROUND_THREADS / 32 / BLOCKS;
};

/* words before and after the window that points beyond it may read */
#define MOTION_WINDOW_BEFORE 16
#define MOTION_WINDOW_AFTER 64

/* The window of a tile: from `range` rows above it and `lead` samples left of
 * it on. */
struct MotionWindowSize {
  gint32 lead, words, rows, pitch;

  template <int SIZE>
  static __host__ __device__ __forceinline__ MotionWindowSize
  make (guint32 range)
  {
    MotionWindowSize size;

    size.lead = (gint32) (range + 3) / 4 * 4;
    size.words =
        (size.lead + (MotionTiling<SIZE>::ACROSS - 1) * SIZE + (gint32) range)
            / 4
        + SIZE / 4 + 1;
    size.rows = MotionTiling<SIZE>::DOWN * SIZE + 2 * (gint32) range;
    size.pitch = size.words | 1;
    return size;
  }

  __host__ __device__ __forceinline__ guint32
  bytes () const
  {
    return 4
           * (guint32) (MOTION_WINDOW_BEFORE + rows * pitch
                        + MOTION_WINDOW_AFTER);
  }
};

#define MOTION_ROUND_COSTS 80 /* of points that are computed before a visit */

/* What a thread block shares, beside the window. */
template <int SIZE> struct MotionShared {
  guint32 costs[2][MotionTiling<SIZE>::BLOCKS][MOTION_ROUND_COSTS];
  guint32 current[SIZE == 64 ? 64 * 17 : 1];
};

template <int SIZE, bool MASKED, bool STAGED> struct MotionSearch {
  typedef MotionTiling<SIZE> Tiling;
  static constexpr gint32 WARPS = Tiling::WARPS;
  static constexpr gint32 ROWS = SIZE < 32 ? SIZE : 32; /* lanes of a point */
  static constexpr gint32 GROUPS = 32 / ROWS;           /* points at once */
  static constexpr gint32 WORDS = ROWS / 4;
  static constexpr gint32 PARTS = SIZE / ROWS; /* each way; of 32 x 32 */

  MotionPlace place;
  MotionShared<SIZE> *shared;
  const guint32 *window; /* the lane's first row where the vector is zero */
  gint32 pitch;          /* words */
  guint32 words[WORDS];  /* of the block; not with parts */
  guint32 lambda;
  short2 prior;
  gint32 row, group, warp, block; /* of the lane, in the block, in the tile */
  guint32 parity;

  short2 best, second;
  guint32 best_cost, second_cost;

  /* The bytes of the lane's word @k that count, of the part. */
  __device__ __forceinline__ guint32
  mask (gint32 k, gint32 part) const
  {
    gint32 y = row + part / PARTS * 32, x = 4 * k + part % PARTS * 32;

    return y < place.h ? motion_mask (place.w, x) : 0;
  }

  __device__ __forceinline__ void
  load_block (const guint8 *plane, guint32 bytes)
  {
    const guint32 *from =
        (const guint32 *) (plane + (gsize) place.y * bytes + place.x);

    if (PARTS > 1) {
      for (gint32 i = (gint32) threadIdx.x; i < SIZE * SIZE / 4;
           i += 32 * WARPS)
        shared->current[i / 16 * 17 + i % 16] =
            from[(gsize) (i / 16) * (bytes / 4) + i % 16];
      barrier ();
    } else {
#pragma unroll
      for (gint32 k = 0; k < WORDS; k++) {
        words[k] = from[(gsize) row * (bytes / 4) + k];
        if (MASKED)
          words[k] &= mask (k, 0);
      }
    }
  }

  /* @origin: the tile's first sample in the window */
  __device__ __forceinline__ void
  begin (const MotionDeviceTask *task, const MotionDeviceField *field,
      const MotionPlace &at, gint32 number, const guint32 *origin,
      gint32 window_pitch, MotionShared<SIZE> *memory)
  {
    place = at;
    shared = memory;
    block = number;
    warp = (gint32) threadIdx.x / 32 % WARPS;
    row = (gint32) motion_lane () % ROWS;
    group = (gint32) motion_lane () / ROWS;
    pitch = window_pitch;
    window = origin + (block / Tiling::ACROSS * SIZE + row) * pitch
             + block % Tiling::ACROSS * (SIZE / 4);
    lambda = task->config.lambda;
    prior = motion_prior (field, place.number);
    parity = 0;
    best = second = make_short2 (0, 0);
    best_cost = second_cost = MOTION_NONE;
    load_block (task->current.search, task->layout.pitch);
  }

  /* All threads of the block. */
  __device__ __forceinline__ void
  barrier ()
  {
    motion_barrier<32 * WARPS> (block);
  }

  /* Adds to HALF of the first 2 HALF values, the upper or the lower, those of
   * the lane @distance away, which keeps the others. */
  template <int HALF, int N>
  __device__ __forceinline__ void
  halve (guint32 (&v)[N], bool upper, int distance) const
  {
#pragma unroll
    for (gint32 i = 0; i < HALF; i++) {
      guint32 keep = upper ? v[i + HALF] : v[i];
      guint32 give = upper ? v[i] : v[i + HALF];

      v[i] = keep + __shfl_xor_sync (MOTION_ALL_LANES, give, distance);
    }
  }

  /* Sums up @v over the lanes of a point. On return v[0], or with more values
   * than lanes the first N / ROWS, are the sums of the lane's own: those of
   * number own() and on. */
  template <int N, int LANES = ROWS, int LEFT = N>
  __device__ __forceinline__ void
  exchange (guint32 (&v)[N]) const
  {
    if constexpr (LANES > 1 && LEFT == 1) {
      v[0] += __shfl_xor_sync (MOTION_ALL_LANES, v[0], LANES / 2);
      exchange<N, LANES / 2, 1> (v);
    } else if constexpr (LANES > 1) {
      halve<LEFT / 2> (v, (row & LANES / 2) != 0, LANES / 2);
      exchange<N, LANES / 2, LEFT / 2> (v);
    }
  }

  template <int N>
  __device__ __forceinline__ gint32
  own () const
  {
    return N >= ROWS ? row * (N / ROWS) : row / (ROWS / N);
  }

  /* Whether the lane is the one, of several with the same sum, that counts. */
  template <int N>
  __device__ __forceinline__ bool
  counts () const
  {
    return N >= ROWS || row % (ROWS / N) == 0;
  }

  /* Adds the lane's differences at POINTS points to @sums: the first at
   * (@x, @y), the others SPACING apart to its right. Each word of the row is
   * read once, shifted as often as points need it and compared with the words
   * of the block. */
  template <int POINTS, int SPACING, int N>
  __device__ __forceinline__ void
  row_of_points (gint32 x, gint32 y, guint32 (&sums)[N]) const
  {
    const guint32 *first = window + y * pitch + (x >> 2);
    guint32 shift = 8 * ((guint32) x & 3);

#pragma unroll 1
    for (gint32 part = 0; part < PARTS * PARTS; part++) {
      const guint32 *from =
          first + part / PARTS * 32 * pitch + part % PARTS * 8;
      guint32 own_words[WORDS], before = from[0], here, next;

      part_words (part, own_words);
      next = from[1];
      here = __funnelshift_r (before, next, shift);
      before = next;
#pragma unroll
      for (gint32 j = 0; j < (POINTS - 1) * SPACING / 4 + WORDS; j++) {
        guint32 word = from[j + 2];
        guint32 after = __funnelshift_r (before, word, shift);

#pragma unroll
        for (gint32 p = 0; p < POINTS; p++) {
          const gint32 k = j - p * SPACING / 4, bytes = p * SPACING % 4;

          if (k >= 0 && k < WORDS) {
            guint32 v =
                bytes > 0 ? __funnelshift_r (here, after, 8 * bytes) : here;

            sums[p] = motion_sad4 (
                MASKED ? v & mask (k, part) : v, own_words[k], sums[p]);
          }
        }
        before = word;
        here = after;
      }
    }
  }

  __device__ __forceinline__ void
  part_words (gint32 part, guint32 (&own_words)[WORDS]) const
  {
#pragma unroll
    for (gint32 k = 0; k < WORDS; k++)
      if (PARTS > 1) {
        own_words[k] = shared->current[(row + part / PARTS * 32) * 17
                                       + part % PARTS * 8 + k];
        if (MASKED)
          own_words[k] &= mask (k, part);
      } else {
        own_words[k] = words[k];
      }
  }

  /* The cost of a point of which the SAD is known; none where the point is no
   * candidate or the best already. */
  __device__ __forceinline__ guint32
  cost (guint32 sad, short2 d, bool valid) const
  {
    if (!valid || !motion_contains (&place.rect, d.x, d.y)
        || (best_cost != MOTION_NONE && d.x == best.x && d.y == best.y))
      return MOTION_NONE;
    return sad + motion_rate (lambda, d.x, d.y, prior);
  }

  /* Costs of the points 0..@n-1 to shared memory, for visit(). @points(i,
   * &valid) says where point i is and whether it is visited at all. N: points
   * that a lane sums up at a time. */
  template <int N, class Points>
  __device__ __forceinline__ void
  compute (gint32 n, const Points &points)
  {
    const gint32 slots = WARPS * GROUPS;
    gint32 turns = (n + slots * N - 1) / (slots * N);
    gint32 each = (n + slots * turns - 1) / (slots * turns);
    guint32 *costs = shared->costs[parity ^= 1][block];

#pragma unroll 1
    for (gint32 turn = 0; turn < turns; turn++)
      compute_points<N> (((turn * WARPS + warp) * GROUPS + group) * each, each,
          n, points, costs);
    barrier ();
  }

  template <int N, class Points>
  __device__ __forceinline__ void
  compute_points (gint32 first, gint32 each, gint32 n, const Points &points,
      guint32 *costs) const
  {
    constexpr gint32 OWN = N > ROWS ? N / ROWS : 1;
    guint32 sums[N];
    short2 vectors[OWN];
    bool valid[OWN];

#pragma unroll
    for (gint32 k = 0; k < OWN; k++) {
      gint32 i = own<N> () + k;

      valid[k] = i < each && first + i < n;
      vectors[k] = points (valid[k] ? first + i : 0, &valid[k]);
      valid[k] =
          valid[k] && motion_contains (&place.rect, vectors[k].x, vectors[k].y);
      if (!valid[k])
        vectors[k] = make_short2 (0, 0);
    }
#pragma unroll
    for (gint32 i = 0; i < N; i++) {
      sums[i] = 0;
      if (i < each) {
        const short2 v = vectors[i % OWN];
        gint32 owner = N >= ROWS ? i / OWN : i * (ROWS / N);
        gint32 d = __shfl_sync (MOTION_ALL_LANES,
            (gint32) ((guint32) (guint16) v.x | (guint32) (guint16) v.y << 16),
            group * ROWS + owner);
        guint32 one[1] = { 0 };

        row_of_points<1, 4> ((gint16) (d & 0xffff), d >> 16, one);
        sums[i] = one[0];
      }
    }
    exchange (sums);
#pragma unroll
    for (gint32 k = 0; k < OWN; k++)
      if (counts<N> () && own<N> () + k < each && first + own<N> () + k < n)
        costs[first + own<N> () + k] = cost (sums[k], vectors[k], valid[k]);
  }

  /* Visits the points @first..@first+@n-1, at most 32, of those that compute()
   * was called for.
   * Returns: the number of the one that became the best, from @first on; -1 if
   * none did. */
  template <class Points>
  __device__ __forceinline__ gint32
  visit (gint32 first, gint32 n, const Points &points)
  {
    gint32 lane = (gint32) motion_lane ();
    guint32 value =
        lane < n ? shared->costs[parity][block][first + lane] : MOTION_NONE;
    guint32 key = value == MOTION_NONE
                      ? MOTION_NONE
                      : value << MOTION_POINT_BITS | (guint32) (first + lane);
    MotionRoundPair pair;
    gint32 found;

    pair.best = motion_warp_min (key);
    pair.second = motion_warp_min (key == pair.best ? MOTION_NONE : key);
    found = take (pair, points);
    return found < 0 ? -1 : found - first;
  }

  /* Adds the lane's points of a row of POINTS to @pair, all SPACING apart; the
   * row is that of number @first in the round. */
  template <int POINTS, int SPACING>
  __device__ __forceinline__ void
  collect_row (gint32 x, gint32 y, bool valid, guint32 first, gint32 n,
      MotionRoundPair *pair) const
  {
    constexpr gint32 N = POINTS > 8 ? 16 : POINTS > 4 ? 8 : 4;
    constexpr gint32 OWN = N > ROWS ? N / ROWS : 1;
    guint32 sums[N];

    valid = valid && y >= place.rect.top && y <= place.rect.bottom;
#pragma unroll
    for (gint32 i = 0; i < N; i++)
      sums[i] = 0;
    row_of_points<POINTS, SPACING> (x, valid ? y : 0, sums);
    exchange (sums);
#pragma unroll
    for (gint32 k = 0; k < OWN; k++) {
      gint32 i = own<N> () + k;
      short2 d = make_short2 ((gint16) (x + i * SPACING), (gint16) y);
      guint32 value = cost (sums[k], d, valid && i < n && counts<N> ());

      if (value != MOTION_NONE)
        pair->add (value << MOTION_POINT_BITS | (first + (guint32) i));
    }
  }

  /* The two least of the block's lanes, in all of them. */
  __device__ __forceinline__ MotionRoundPair
  gather (MotionRoundPair pair)
  {
    guint32 *least = shared->costs[parity ^= 1][block];
    guint32 best_key = motion_warp_min (pair.best);
    guint32 second_key =
        motion_warp_min (pair.best == best_key ? pair.second : pair.best);

    pair.best = best_key;
    pair.second = second_key;
    if (WARPS == 1)
      return pair;
    if (motion_lane () == 0) {
      least[2 * warp] = best_key;
      least[2 * warp + 1] = second_key;
    }
    barrier ();
    pair.clear ();
#pragma unroll
    for (gint32 i = 0; i < 2 * WARPS; i++)
      pair.add (least[i]);
    return pair;
  }

  /* Visits the two best of a round; the others change nothing. */
  template <class Points>
  __device__ __forceinline__ gint32
  take (const MotionRoundPair &pair, const Points &points)
  {
    const gint32 numbers = MOTION_ROUND_POINTS - 1;
    gint32 first = (gint32) pair.best & numbers;
    gint32 next = (gint32) pair.second & numbers;
    guint32 one =
        pair.best == MOTION_NONE ? MOTION_NONE : pair.best >> MOTION_POINT_BITS;
    guint32 two = pair.second == MOTION_NONE ? MOTION_NONE
                                             : pair.second >> MOTION_POINT_BITS;
    bool valid = true;

    if (one < best_cost) {
      if (two < best_cost) {
        second = points (next, &valid);
        second_cost = two;
      } else {
        second = best;
        second_cost = best_cost;
      }
      best = points (first, &valid);
      best_cost = one;
      return first;
    }
    if (one < second_cost) {
      second = points (first, &valid);
      second_cost = one;
    }
    return -1;
  }

  __device__ __forceinline__ void
  store (MotionFound *found) const
  {
    MotionFound f = { best.x, best.y, second.x, second.y, best_cost,
      second_cost };

    if (warp == 0 && motion_lane () == 0)
      found[place.number] = f;
  }
};

/* --- a tile ------------------------------------------------------------------ */

/* Copies the window to shared memory, a warp a row at a time. */
template <int SIZE>
static __device__ __forceinline__ void
motion_stage (const guint8 *from, guint32 bytes, const MotionWindowSize &size,
    gint32 words, gint32 rows, guint32 *window)
{
  for (gint32 y = (gint32) threadIdx.x / 32; y < rows;
       y += MOTION_ROUND_THREADS / 32) {
    const guint32 *row = (const guint32 *) (from + (gsize) y * bytes);

    for (gint32 x = (gint32) motion_lane (); x < words; x += 32)
      motion_copy_word (window + y * size.pitch + x, row + x);
  }
  motion_copy_wait ();
}

/* Runs Search<SIZE, MASKED, STAGED> (parameters) on the blocks of the thread
 * block's tile. */
template <int SIZE, bool STAGED, class Search>
static __device__ __forceinline__ void
motion_search_tile (const MotionDeviceTask &task, const Search &search)
{
  typedef MotionTiling<SIZE> Tiling;
  extern __shared__ guint32 motion_window[];
  __shared__ MotionShared<SIZE> shared;
  const MotionDeviceField *field = &task.fields[blockIdx.z];
  gint32 columns = (gint32) task.columns;
  gint32 rows = (gint32) task.n_blocks / columns;
  gint32 column = (gint32) blockIdx.x * Tiling::ACROSS;
  gint32 row = (gint32) blockIdx.y * Tiling::DOWN;
  gint32 block = (gint32) threadIdx.x / (32 * Tiling::WARPS);
  gint32 my_column = column + block % Tiling::ACROSS;
  gint32 my_row = row + block / Tiling::ACROSS;
  gint32 range = (gint32) task.config.range;
  MotionWindowSize size = MotionWindowSize::make<SIZE> (task.config.range);
  const guint8 *plane;
  const guint32 *origin;
  MotionPlace place;

  plane = field->reference.search + (gsize) row * SIZE * task.layout.pitch
          + column * SIZE;
  if (STAGED) {
    /* what blocks beyond the grid would need may not be there */
    gint32 no_columns = max (column + Tiling::ACROSS - columns, 0);
    gint32 no_rows = max (row + Tiling::DOWN - rows, 0);

    motion_stage<SIZE> (
        plane - (gssize) range * (gssize) task.layout.pitch - size.lead,
        task.layout.pitch, size, size.words - no_columns * (SIZE / 4),
        size.rows - no_rows * SIZE, motion_window + MOTION_WINDOW_BEFORE);
    __syncthreads ();
    origin = motion_window + MOTION_WINDOW_BEFORE + range * size.pitch
             + size.lead / 4;
  } else {
    origin = (const guint32 *) plane;
    size.pitch = (gint32) task.layout.pitch / 4;
  }
  if (my_column >= columns || my_row >= rows)
    return;
  place = motion_place (&task, (guint32) (my_row * columns + my_column));
  if (place.w == SIZE && place.h == SIZE) {
    MotionSearch<SIZE, false, STAGED> s;

    s.begin (&task, field, place, block, origin, size.pitch, &shared);
    search (&s, &task, field);
  } else {
    MotionSearch<SIZE, true, STAGED> s;

    s.begin (&task, field, place, block, origin, size.pitch, &shared);
    search (&s, &task, field);
  }
}

/* @staged, @direct: the kernel that has the window in shared memory, and the
 * one for devices that have too little; @rest: parameters after the task */
template <int SIZE, class Kernel, class... Rest>
static cudaError_t
motion_launch_tiles (Kernel *staged, Kernel *direct,
    const MotionDeviceTask *task, cudaStream_t stream, Rest... rest)
{
  typedef MotionTiling<SIZE> Tiling;
  guint rows = task->n_blocks / task->columns;
  dim3 grid ((task->columns + Tiling::ACROSS - 1) / Tiling::ACROSS,
      (rows + Tiling::DOWN - 1) / Tiling::DOWN, task->n_fields);
  Kernel *kernel = staged;
  guint32 bytes = MotionWindowSize::make<SIZE> (task->config.range).bytes ();
  int device, limit;
  cudaError_t code;

  if ((code = cudaGetDevice (&device)) != cudaSuccess
      || (code = cudaDeviceGetAttribute (
              &limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device))
             != cudaSuccess)
    return code;
  if (bytes + sizeof (MotionShared<SIZE>) > (guint32) limit) {
    kernel = direct;
    bytes = 0;
  } else if ((code = cudaFuncSetAttribute ((const void *) kernel,
                  cudaFuncAttributeMaxDynamicSharedMemorySize, (int) bytes))
             != cudaSuccess) {
    return code;
  }
  kernel<<<grid, MOTION_ROUND_THREADS, bytes, stream>>> (*task, rest...);
  return cudaGetLastError ();
}
