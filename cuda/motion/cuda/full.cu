/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Full search with multilevel successive elimination (X. Q. Gao, C. J.
 * Duanmu, C. R. Zou, IEEE Trans. Image Processing 9, 2000): the absolute
 * differences between the sums of parts of the block are a lower bound of
 * its SAD. So most candidates are rejected without computing their SAD,
 * because two better ones are known; smaller parts give a tighter bound.
 *
 * A thread block processes one block of the grid after the other. A few SADs
 * around the vectors of the pyramid and the prior field give the threshold.
 * Then 16384 candidates at a time are tested: all of them against the
 * coarsest sums, the remaining ones against the middle sums. If many remain,
 * as with noise and at scene cuts, the block is given up. Otherwise each
 * warp tests candidates against the finest sums and computes the remaining
 * SADs, and each SAD may lower the threshold.
 *
 * Blocks that are given up are queued in parts for brute force. Thread
 * blocks prefer such parts to elimination, so that one kind of work waits
 * for memory while the other computes. */
#include "cuda/motion/cuda/brute.cuh"

namespace {

#define FULL_WARPS BRUTE_WARPS
#define FULL_THREADS BRUTE_THREADS
#define FULL_GROUPS 8    /* of four candidates beside each other, in a mask */
#define FULL_CHUNK 16    /* groups of a thread at a time */
#define FULL_COARSE 4096 /* candidates left by coarse sums, at most */
#define FULL_MIDDLE 512  /* candidates left by middle sums, at most */
#define FULL_ROUNDS 3    /* refinements of the seeds, 1 pixel apart */
#define FULL_SLOW 128    /* middle sums tested that make a block slow */
#define FULL_NAP 200     /* ns between polls of the queue */
#define FULL_WAITING 4   /* thread blocks that wait for an undecided block */
/* absolute differences of all candidates for each thread block that the
 * device holds; below this, brute force finishes first */
#define FULL_LEAST 6e6

/* Shared memory of a thread block. */
template <int SIZE> struct FullShared {
  MotionKey best, second;
  MotionKey keys[2][FULL_WARPS];
  guint32 coarse_left, middle_left;                 /* candidates of a chunk */
  guint32 counts[MOTION_N_COUNTERS];                /* for benchmarks */
  uint4 middle[SIZE >= 32 ? SIZE * SIZE / 256 : 1]; /* sums of the block */
  guint16 numbers[FULL_COARSE]; /* candidates left by coarse sums */
  short2 vectors[FULL_MIDDLE];  /* left by middle sums */
};

template <int SIZE> struct Elimination {
  static constexpr int COARSE = SIZE >= 16 ? 16 : 8; /* side of a part */
  static constexpr int MIDDLE = COARSE / 2;
  static constexpr int FINE = 4;
  static constexpr int N_COARSE = SIZE / COARSE; /* parts in a row */
  static constexpr int N_MIDDLE = SIZE / MIDDLE;
  static constexpr int N_FINE = SIZE / FINE;
  /* a lane has one fine part of a row, and of every FINE_STEP-th row after
   * it */
  static constexpr int FINE_STEP = 32 / N_FINE;
  static constexpr int FINE_PARTS = (N_FINE * N_FINE + 31) / 32;

  const MotionDeviceTask *task;
  const MotionDeviceField *field;
  MotionPlace place;
  FullShared<SIZE> *shared;
  short2 prior;
  gsize at; /* offset of the block's first sample in the planes */
  guint32 pitch;
  guint32 parity;
  MotionPair seeds;
  guint32 threshold; /* candidates with a higher cost are rejected */
  guint32 effort;    /* candidates left by coarse sums */
  MotionLanes<SIZE, true> lanes;
  guint32 fine[FINE_PARTS]; /* the lane's sums of the block */
  gint32 fine_down;         /* number of these */
  guint32 fine_at;          /* position of the first one in the block */

  /* groups of four candidates, the first of a row at a multiple of four;
   * rows that the threads handle at once */
  gint32 first_x, groups_across, rows_at_once, down;

  __device__ __forceinline__ guint32
  vector_rate (gint32 x, gint32 y) const
  {
    return motion_rate (task->config.lambda, x, y, prior);
  }

  __device__ __forceinline__ void
  begin (const MotionDeviceTask *t, const MotionDeviceField *f, guint32 number,
      FullShared<SIZE> *s)
  {
    const guint16 *sums;

    task = t;
    field = f;
    place = motion_place (t, number);
    shared = s;
    prior = motion_prior (t, f, number);
    pitch = t->layout.pitch;
    at = (gsize) place.y * pitch + place.x;
    parity = effort = 0;
    first_x = place.rect.left & ~3;
    groups_across = (place.rect.right - first_x) / 4 + 1;
    rows_at_once = FULL_THREADS / groups_across;
    down = place.rect.bottom - place.rect.top + 1;
    lanes.load (t->current.search, pitch, place);
    sums = t->current.sums[SIZE >= 16] + at;
    if (threadIdx.x < N_MIDDLE * N_MIDDLE)
      ((guint32 *) s->middle)[threadIdx.x] =
          sums[(gsize) (threadIdx.x / N_MIDDLE) * MIDDLE * pitch
               + threadIdx.x % N_MIDDLE * MIDDLE];
    if (threadIdx.x < MOTION_N_COUNTERS)
      s->counts[threadIdx.x] = 0;
    if (threadIdx.x == 0)
      s->best = s->second = MOTION_NO_KEY;
    if (SIZE >= 16)
      load_fine ();
  }

  /* --- seeds --------------------------------------------------------------- */

  __device__ __forceinline__ guint32
  candidate_sad (gint32 x, gint32 y) const
  {
    return motion_warp_sum (lanes.share (
        field->reference.search + at + (gssize) y * (gssize) pitch + x));
  }

  /* Each warp computes one candidate. */
  __device__ __forceinline__ void
  visit_seeds (gint32 x, gint32 y, bool valid)
  {
    MotionKey key = MOTION_NO_KEY;

    if (valid && motion_contains (&place.rect, x, y))
      key = motion_candidate_key (
          task->config.tie, candidate_sad (x, y) + vector_rate (x, y), x, y);
    parity ^= 1;
    if (motion_lane () == 0)
      shared->keys[parity][threadIdx.x / 32] = key;
    __syncthreads ();
    /* the two smallest of these and of the two before, each counted once */
    key = motion_lane () < FULL_WARPS ? shared->keys[parity][motion_lane ()]
                                      : seeds.second;
    key = motion_lane () == FULL_WARPS ? seeds.best : key;
    seeds.best = motion_warp_key (key);
    seeds.second = motion_warp_key (key == seeds.best ? MOTION_NO_KEY : key);
  }

  /* Zero, the pyramid's vector, and the prior vectors of the block and its
   * neighbours. */
  __device__ __forceinline__ void
  visit_start_seeds ()
  {
    guint32 i = threadIdx.x / 32, n = place.number, column = n % task->columns;
    gint32 x = 0, y = 0;
    bool valid = i < 2
                 || (field->prior != NULL && i < 7 && (i != 3 || column > 0)
                     && (i != 4 || column + 1 < task->columns)
                     && (i != 5 || n >= task->columns)
                     && (i != 6 || n + task->columns < task->n_blocks));

    if (i == 1) {
      x = field->predicted[n].x;
      y = field->predicted[n].y;
    } else if (i > 1 && valid) {
      const CvisMotionVector v = field->prior[i == 3   ? n - 1
                                              : i == 4 ? n + 1
                                              : i == 5 ? n - task->columns
                                              : i == 6 ? n + task->columns
                                                       : n];

      x = motion_clamp (motion_whole (v.x), place.rect.left, place.rect.right);
      y = motion_clamp (motion_whole (v.y), place.rect.top, place.rect.bottom);
    }
    visit_seeds (x, y, valid);
  }

  /* The eight candidates around the best. Returns: whether one of them is
   * better */
  __device__ __forceinline__ bool
  visit_ring_seeds (gint32 spacing)
  {
    const MotionKey before = seeds.best;
    const short2 centre = motion_candidate_vector (before);
    gint32 i = (gint32) threadIdx.x / 32;

    i += i >= 4;
    visit_seeds (centre.x + (i % 3 - 1) * spacing,
        centre.y + (i / 3 - 1) * spacing, true);
    return seeds.best != before;
  }

  /* Sets the threshold to the second best of a few candidates. */
  __device__ __forceinline__ void
  find_threshold ()
  {
    bool better = true;

    seeds.clear ();
    visit_start_seeds ();
#pragma unroll 1
    for (gint32 round = -1; round < FULL_ROUNDS && better; round++) {
      better = visit_ring_seeds (round < 0 ? 2 : 1);
      better = better || round < 0;
    }
    threshold = min (motion_candidate_cost (seeds.second), MOTION_COST_LIMIT);
  }

  /* --- the coarse sums of all candidates ----------------------------------- */

  /* Sums of a group's candidates, two in a word, for each part of the block;
   * @from: first candidate's first part. */
  template <bool WHOLE>
  __device__ __forceinline__ void
  load_coarse (const guint16 *from, uint2 (&group)[N_COARSE * N_COARSE]) const
  {
#pragma unroll
    for (int i = 0; i < N_COARSE * N_COARSE; i++)
      group[i] = WHOLE
                         || (i % N_COARSE < place.w / COARSE
                             && i / N_COARSE < place.h / COARSE)
                     ? *(const uint2 *) (from + i / N_COARSE * COARSE * pitch
                                         + i % N_COARSE * COARSE)
                     : make_uint2 (0, 0);
  }

  /* Appends the bits of a group's four candidates at (@x, @y) to @mask, the
   * first candidate's bit highest. */
  template <bool WHOLE, bool PRICED>
  __device__ __forceinline__ guint32
  bound_coarse (guint32 mask, const uint2 (&group)[N_COARSE * N_COARSE],
      const guint32 (&own)[N_COARSE * N_COARSE], gint32 x, gint32 y) const
  {
    guint32 sums[4];

    /* negative as long as the threshold is not exceeded */
#pragma unroll
    for (int k = 0; k < 4; k++)
      sums[k] = ~threshold + (PRICED ? vector_rate (x + k, y) : 0);
#pragma unroll
    for (int i = 0; i < N_COARSE * N_COARSE; i++)
      if (WHOLE
          || (i % N_COARSE < place.w / COARSE
              && i / N_COARSE < place.h / COARSE)) {
        sums[0] = motion_sad1 (group[i].x & 0xffff, own[i], sums[0]);
        sums[1] = motion_sad1 (group[i].x >> 16, own[i], sums[1]);
        sums[2] = motion_sad1 (group[i].y & 0xffff, own[i], sums[2]);
        sums[3] = motion_sad1 (group[i].y >> 16, own[i], sums[3]);
      }
#pragma unroll
    for (int k = 0; k < 4; k++)
      mask = __funnelshift_l (sums[k], mask, 1);
    return mask;
  }

  /* Which candidates of the thread's groups remain, from row @row in steps
   * of rows_at_once: one bit each, the first candidate's bit highest.
   * @whole: the block is complete */
  template <bool WHOLE, bool PRICED>
  __device__ __forceinline__ guint32
  test_coarse_sums (gint32 row) const
  {
    const gint32 thread = (gint32) threadIdx.x;
    const gint32 x = thread % groups_across, y = row + thread / groups_across;
    /* groups inside the window; an even number is tested */
    const gint32 there = max (0, (down - y + rows_at_once - 1) / rows_at_once);
    const gint32 n =
        thread < rows_at_once * groups_across ? min (there, FULL_GROUPS) : 0;
    const guint16 *current = task->current.sums[SIZE >= 16 ? 2 : 1] + at;
    const guint16 *from = field->reference.sums[SIZE >= 16 ? 2 : 1] + at
                          + (gssize) (place.rect.top + y) * (gssize) pitch
                          + first_x + 4 * x;
    const guint32 step = (guint32) rows_at_once * pitch;
    guint32 own[N_COARSE * N_COARSE], mask = 0;

#pragma unroll
    for (int i = 0; i < N_COARSE * N_COARSE; i++)
      own[i] = current[i / N_COARSE * COARSE * pitch + i % N_COARSE * COARSE];
#pragma unroll 1
    for (gint32 s = 0; s < n; s += 2) {
      uint2 group[2][N_COARSE * N_COARSE];

      load_coarse<WHOLE> (from, group[0]);
      load_coarse<WHOLE> (s + 1 < n ? from + step : from, group[1]);
      from += 2 * step;
#pragma unroll
      for (gint32 i = 0; i < 2; i++)
        mask = bound_coarse<WHOLE, PRICED> (mask, group[i], own,
            first_x + 4 * x, place.rect.top + y + (s + i) * rows_at_once);
    }
    if (n < FULL_GROUPS) {
      /* moves the first group's bits to the top and drops groups outside the
       * window */
      mask <<= 4 * (FULL_GROUPS - (n + 1) / 2 * 2) & 31;
      mask &= n > 0 ? 0xffffffffu << (32 - 4 * n) : 0;
    }
    if (x == 0)
      mask &= 0x11111111u * (15u >> (place.rect.left - first_x));
    if (x == groups_across - 1)
      mask &=
          0x11111111u * (15u & 15u << (3 - ((place.rect.right - first_x) & 3)));
    return mask;
  }

  /* Lists the remaining candidates, as far as there is room: index of the
   * group in the chunk times four plus position in the group. @first: number
   * of the thread's groups before the mask's */
  __device__ __forceinline__ void
  list_coarse (guint32 mask, guint32 first)
  {
    const guint32 step = 4 * (guint32) (rows_at_once * groups_across);
    guint32 lane = motion_lane (), own = (guint32) __popc (mask), sum = own;
    guint32 to = 0;

#pragma unroll
    for (guint32 d = 1; d < 32; d *= 2) {
      guint32 other = __shfl_up_sync (MOTION_ALL_LANES, sum, d);

      sum += lane >= d ? other : 0;
    }
    if (lane == 31)
      to = atomicAdd (&shared->coarse_left, sum);
    to = __shfl_sync (MOTION_ALL_LANES, to, 31) + sum - own;
    for (; mask != 0 && to < FULL_COARSE; to++) {
      guint32 i = (guint32) __clz ((gint32) mask);

      shared->numbers[to] =
          (guint16) (4 * threadIdx.x + (first + i / 4) * step + i % 4);
      mask ^= 0x80000000u >> i;
    }
  }

  /* --- the middle sums of what is left ------------------------------------- */

  template <bool WHOLE>
  __device__ __forceinline__ guint32
  middle_bound (short2 d) const
  {
    const gint32 across = place.w / MIDDLE, rows = place.h / MIDDLE;
    const guint16 *from = field->reference.sums[SIZE >= 16] + at
                          + (gssize) d.y * (gssize) pitch + d.x;
    guint32 sum = 0;

#pragma unroll
    for (int n = 0; n < N_MIDDLE * N_MIDDLE; n += 4) {
      const uint4 four = shared->middle[n / 4];
      const guint32 own[4] = { four.x, four.y, four.z, four.w };

#pragma unroll
      for (int k = 0; k < 4; k++) {
        int i = (n + k) % N_MIDDLE, j = (n + k) / N_MIDDLE;

        if (WHOLE || (i < across && j < rows))
          sum = motion_sad1 (
              from[(guint32) (j * MIDDLE) * pitch + i * MIDDLE], own[k], sum);
      }
    }
    return sum;
  }

  template <bool WHOLE>
  __device__ __forceinline__ void
  test_middle_sums (gint32 row, guint32 n)
  {
    for (guint32 first = 0; first < n; first += FULL_THREADS) {
      guint32 i = first + threadIdx.x;
      guint32 number = shared->numbers[min (i, n - 1)];
      guint32 y = number / 4 / (guint32) groups_across;
      guint32 x = number - 4 * y * (guint32) groups_across;
      short2 d = make_short2 ((gint16) (first_x + (gint32) x),
          (gint16) (place.rect.top + row + (gint32) y));
      bool in =
          i < n
          && middle_bound<WHOLE> (d) + vector_rate (d.x, d.y) <= threshold;
      guint32 bits = __ballot_sync (MOTION_ALL_LANES, in), to = 0;

      if (motion_lane () == 0 && bits != 0)
        to = atomicAdd (&shared->middle_left, (guint32) __popc (bits));
      to = __shfl_sync (MOTION_ALL_LANES, to, 0)
           + (guint32) __popc (bits & ((1u << motion_lane ()) - 1));
      if (in && to < FULL_MIDDLE)
        shared->vectors[to] = d;
    }
  }

  /* --- the finest sums, and SADs ----------------------------------------- */

  __device__ __forceinline__ void
  load_fine ()
  {
    const gint32 column = (gint32) motion_lane () % N_FINE;
    const gint32 row = (gint32) motion_lane () / N_FINE;
    const guint16 *from;

    fine_at = (guint32) (row * FINE) * pitch + (guint32) (column * FINE);
    fine_down = column < place.w / FINE
                    ? (place.h / FINE - row + FINE_STEP - 1) / FINE_STEP
                    : 0;
    from = task->current.sums[0] + at + fine_at;
#pragma unroll
    for (gint32 i = 0; i < FINE_PARTS; i++)
      fine[i] =
          i < fine_down ? from[(guint32) (i * FINE_STEP * FINE) * pitch] : 0;
  }

  __device__ __forceinline__ guint32
  fine_share (short2 d) const
  {
    const guint16 *from = field->reference.sums[0] + at + fine_at
                          + (gssize) d.y * (gssize) pitch + d.x;
    guint32 sum = 0;

#pragma unroll
    for (gint32 i = 0; i < FINE_PARTS; i++)
      if (i < fine_down)
        sum = motion_sad1 (
            from[(guint32) (i * FINE_STEP * FINE) * pitch], fine[i], sum);
    return sum;
  }

  /* Lowers the threshold to the cost of the second best after a SAD. */
  __device__ __forceinline__ void
  keep_candidate (guint32 cost, short2 d)
  {
    MotionKey second = MOTION_NO_KEY;

    if (cost > threshold)
      return;
    if (motion_lane () == 0)
      second = motion_take_key (&shared->best, &shared->second,
          motion_candidate_key (task->config.tie, cost, d.x, d.y));
    second = __shfl_sync (MOTION_ALL_LANES, second, 0);
    threshold = min (threshold, motion_candidate_cost (second));
  }

  /* Four candidates at a time, to keep loads in flight. */
  __device__ __forceinline__ void
  test_fine_sums (guint32 n)
  {
    guint32 computed = 0;

    for (guint32 first = threadIdx.x / 32; first < n; first += 4 * FULL_WARPS) {
      short2 d[4];
      guint32 least[4];

#pragma unroll
      for (guint32 k = 0; k < 4; k++) {
        d[k] = shared->vectors[min (first + k * FULL_WARPS, n - 1)];
        least[k] = SIZE >= 16 ? fine_share (d[k]) : 0;
      }
#pragma unroll
      for (guint32 k = 0; k < 4; k++)
        least[k] = (SIZE >= 16 ? motion_warp_sum (least[k]) : 0)
                   + vector_rate (d[k].x, d[k].y);
#pragma unroll 1
      for (guint32 k = 0; k < 4; k++)
        if (first + k * FULL_WARPS < n) {
          short2 v = d[0];
          guint32 bound = least[0];

#pragma unroll
          for (guint32 i = 1; i < 4; i++)
            if (k == i) {
              v = d[i];
              bound = least[i];
            }
          if (bound <= threshold) {
            keep_candidate (
                candidate_sad (v.x, v.y) + vector_rate (v.x, v.y), v);
            computed++;
          }
        }
    }
    if (motion_lane () == 0 && task->counters != NULL)
      atomicAdd (&shared->counts[MOTION_COUNT_FINE], computed);
  }

  /* --- one block --------------------------------------------------------- */

  /* Counts for benchmarks. */
  __device__ __forceinline__ void
  count_candidates (MotionCounter counter, guint32 n)
  {
    if (task->counters != NULL && threadIdx.x == 0)
      shared->counts[counter] += n;
  }

  __device__ __forceinline__ void
  store_counts ()
  {
    if (task->counters == NULL)
      return;
    __syncthreads ();
    if (threadIdx.x < MOTION_N_COUNTERS)
      atomicAdd (&task->counters[threadIdx.x],
          (unsigned long long) shared->counts[threadIdx.x]);
  }

  /* Candidates from row @row on. Returns: false if too many remain */
  template <bool WHOLE>
  __device__ __forceinline__ bool
  eliminate_rows (gint32 row)
  {
    guint32 left;

    if (threadIdx.x == 0)
      shared->coarse_left = shared->middle_left = 0;
    __syncthreads ();
    threshold = min (threshold, motion_candidate_cost (shared->second));
#pragma unroll 1
    for (gint32 first = 0; first < FULL_CHUNK; first += FULL_GROUPS) {
      const gint32 y = row + first * rows_at_once;

      list_coarse (task->config.lambda == 0 ? test_coarse_sums<WHOLE, false> (y)
                                            : test_coarse_sums<WHOLE, true> (y),
          (guint32) first);
    }
    __syncthreads ();
    left = shared->coarse_left;
    count_candidates (MOTION_COUNT_COARSE, left);
    effort += left;
    if (left > FULL_COARSE)
      return false;
    test_middle_sums<WHOLE> (row, left);
    __syncthreads ();
    left = shared->middle_left;
    count_candidates (MOTION_COUNT_MIDDLE, left);
    if (left > FULL_MIDDLE)
      return false;
    test_fine_sums (left);
    __syncthreads ();
    return true;
  }

  /* Returns: false if brute force is faster for the block */
  __device__ __forceinline__ bool
  eliminate_all ()
  {
    const bool whole = place.w == SIZE && place.h == SIZE;
    bool done = true;

    find_threshold ();
    count_candidates (MOTION_COUNT_CANDIDATES,
        (guint32) ((place.rect.right - place.rect.left + 1) * down));
#pragma unroll 1
    for (gint32 row = 0; row < down && done; row += rows_at_once * FULL_CHUNK)
      done = whole ? eliminate_rows<true> (row) : eliminate_rows<false> (row);
    count_candidates (MOTION_COUNT_BRUTE, !done);
    store_counts ();
    return done;
  }
};

/* --- scheduling ---------------------------------------------------------- */

/* One thread: records that block @number was eliminated or queued. The next
 * search does slow blocks first, since they are likely to be slow again and
 * must not start last. */
__device__ __forceinline__ void
full_order_block (const MotionDeviceTask *task, guint32 number, bool slow)
{
  MotionFullProgress *progress = task->progress;
  guint32 i = slow ? atomicAdd (&progress->slow, 1u)
                   : task->n_blocks * task->n_fields - 1
                         - atomicAdd (&progress->quick, 1u);

  task->full_blocks[i].order[progress->parity ^ 1] = number;
}

/* The next work of a thread block, shared by its threads. The first thread
 * decides, and takes only work that it does at once. */
struct FullWork {
  guint32 number; /* block among those of all fields; MOTION_NONE: none left */
  bool whole;     /* brute force on a part; otherwise elimination */
  BrutePart part;
  guint32 ticket; /* number of the part reserved, or MOTION_NONE */
  guint32 rank;   /* among the waiting ones; MOTION_NONE: not waiting */

  __device__ __forceinline__ void
  clear ()
  {
    ticket = rank = MOTION_NONE;
  }

  /* Number of queued blocks that are cut in two: as many as leave each
   * thread block at most one part. A short queue finishes sooner this way, a
   * long one does not. */
  static __device__ __forceinline__ guint32
  halved_blocks ()
  {
    return gridDim.x / (2 * BRUTE_COLUMNS);
  }

  /* Position in the queue and part that the ticket stands for. */
  __device__ __forceinline__ guint32
  read_ticket ()
  {
    const bool half = ticket < 2 * BRUTE_COLUMNS * halved_blocks ();

    part.column = (gint32) (ticket % BRUTE_COLUMNS);
    part.cut_bits = half;
    part.cut = half ? (gint32) (ticket / BRUTE_COLUMNS % 2) : 0;
    return half ? ticket / (2 * BRUTE_COLUMNS)
                : ticket / BRUTE_COLUMNS - halved_blocks ();
  }

  /* Takes a part if one is queued. If another thread block was faster, the
   * ticket reserves a part that may be queued later. */
  __device__ __forceinline__ bool
  take_part (const MotionDeviceTask *task, guint32 all)
  {
    MotionFullProgress *progress = task->progress;
    guint32 n = *(volatile guint32 *) &progress->queued, i;

    n = BRUTE_COLUMNS * (n + min (n, halved_blocks ()));
    if (ticket == MOTION_NONE && *(volatile guint32 *) &progress->taken < n)
      ticket = atomicAdd (&progress->taken, 1u);
    if (ticket == MOTION_NONE)
      return false;
    i = read_ticket ();
    number = i < all ? *(volatile guint32 *) &task->full_blocks[i].queued
                     : MOTION_NONE;
    whole = number != MOTION_NONE;
    if (whole)
      ticket = MOTION_NONE;
    return whole;
  }

  /* Takes a block for elimination if one is left. */
  __device__ __forceinline__ bool
  take_block (const MotionDeviceTask *task, guint32 all)
  {
    MotionFullProgress *progress = task->progress;
    guint32 i;

    if (rank != MOTION_NONE) /* none was left before */
      return false;
    i = atomicAdd (&progress->begun, 1u);
    if (i >= all)
      return false;
    number = progress->ordered == all
                 ? task->full_blocks[i].order[progress->parity]
                 : i;
    return true;
  }

  /* Whether enough other thread blocks wait for the @undecided blocks: those
   * and the eliminating ones compute the blocks that are given up. This one
   * ends and leaves its room to the next search. */
  __device__ __forceinline__ bool
  can_leave (const MotionDeviceTask *task, guint32 undecided)
  {
    if (rank == MOTION_NONE)
      rank = atomicAdd (&task->progress->waiting, 1u);
    return undecided == 0
           || (ticket == MOTION_NONE && rank / FULL_WAITING >= undecided);
  }

  /* Takes the next work. Without any, waits until work appears or others
   * suffice for it. */
  __device__ __forceinline__ void
  take_work (const MotionDeviceTask *task)
  {
    const guint32 all = task->n_blocks * task->n_fields;
    guint32 undecided = MOTION_NONE; /* before the queue was looked at */

    whole = false;
    while (!take_part (task, all) && !take_block (task, all)) {
      if (can_leave (task, undecided)) {
        number = MOTION_NONE;
        return;
      }
      undecided = all - *(volatile guint32 *) &task->progress->done;
      __threadfence (); /* then check the queue once more */
      if (undecided > 0)
        motion_nap (FULL_NAP);
    }
  }
};

/* The last thread block to end resets the state for the next search. @n: a
 * word of shared memory */
__device__ __forceinline__ void
full_end_block (const MotionDeviceTask *task, guint32 *n)
{
  MotionFullProgress *progress = task->progress;

  if (threadIdx.x == 0) {
    *n = 0;
    if (motion_is_last (&progress->ended, gridDim.x)) {
      *n = *(volatile guint32 *) &progress->queued;
      progress->begun = progress->done = progress->queued = progress->taken = 0;
      progress->waiting = progress->slow = progress->quick = 0;
      progress->ordered = task->n_blocks * task->n_fields;
      progress->parity ^= 1;
    }
  }
  __syncthreads ();
  for (guint32 i = threadIdx.x; i < *n; i += FULL_THREADS)
    task->full_blocks[i].queued = MOTION_NONE;
}

template <int SIZE>
__device__ __forceinline__ void
full_eliminate_block (
    const MotionDeviceTask *task, guint32 number, FullShared<SIZE> *shared)
{
  guint32 i = number;
  const MotionDeviceField *field = &task->fields[motion_field_of (task, &i)];
  const bool alike = task->full_blocks[number].alike == 1;
  Elimination<SIZE> e;
  bool done = false;

  if (!alike) {
    e.begin (task, field, i, shared);
    done = e.eliminate_all ();
  }
  /* two threads, because each waits for the result of an atomic addition */
  if (threadIdx.x == 32)
    full_order_block (task, number, !alike && (!done || e.effort > FULL_SLOW));
  if (threadIdx.x != 0)
    return;
  if (done) {
    motion_store_pair (
        MotionPair{ shared->best, shared->second }, &field->found[i]);
    atomicAdd (&task->progress->done, 1u);
  } else if (!alike) {
    motion_queue (task, number);
  }
}

template <int SIZE>
__device__ __forceinline__ void
full_compute_part (const MotionDeviceTask *task, guint32 number,
    const BrutePart &part, guint32 rows, uint4 *memory, MotionPair *pairs)
{
  guint32 i = number;
  const MotionDeviceField *field = &task->fields[motion_field_of (task, &i)];
  Brute<SIZE> brute;

  brute.begin (task, field, i, (guint32 *) memory);
  brute.compute_part ((gint32) rows, part);
  brute.store_best (&task->full_blocks[number], pairs,
      (guint32) BRUTE_COLUMNS << part.cut_bits, field->found);
}

/* @rows: of a tile of candidates, for brute force */
template <int SIZE>
__global__ void
__launch_bounds__ (FULL_THREADS, SIZE == 64 ? 2 : 4)
    full_kernel (MOTION_PARAMETER (MotionDeviceTask, task), guint32 rows)
{
  extern __shared__ uint4 dynamic[];
  __shared__ MotionPair pairs[BRUTE_WARPS];
  __shared__ FullWork work;

  if (threadIdx.x == 0)
    work.clear ();
  for (;;) {
    if (threadIdx.x == 0)
      work.take_work (&task);
    __syncthreads ();
    const guint32 number = work.number;

    if (number == MOTION_NONE)
      break;
    if (work.whole)
      full_compute_part<SIZE> (&task, number, work.part, rows, dynamic, pairs);
    else
      full_eliminate_block (&task, number, (FullShared<SIZE> *) dynamic);
    __syncthreads (); /* the shared memory and the work have been read */
  }
  full_end_block (&task, &work.rank);
}

typedef void (*FullKernel) (const MotionDeviceTask, guint32);

FullKernel
full_choose_kernel (const MotionConfig *config)
{
  return config->block_size == 8    ? full_kernel<8>
         : config->block_size == 16 ? full_kernel<16>
         : config->block_size == 32 ? full_kernel<32>
                                    : full_kernel<64>;
}

gsize
full_shared_bytes (const MotionConfig *config)
{
  return config->block_size == 8    ? sizeof (FullShared<8>)
         : config->block_size == 16 ? sizeof (FullShared<16>)
         : config->block_size == 32 ? sizeof (FullShared<32>)
                                    : sizeof (FullShared<64>);
}

} // namespace

cudaError_t
motion_prepare_full (const MotionConfig *config, MotionTile *tile)
{
  return config->method == MOTION_METHOD_FULL
             ? motion_prepare_tile ((const void *) full_choose_kernel (config),
                 full_shared_bytes (config), config, tile)
             : motion_prepare_brute (config, tile);
}

cudaError_t
motion_clear_full (MotionFullBlock *full_blocks, MotionFullProgress *progress,
    gsize n, cudaStream_t stream)
{
  cudaError_t code =
      cudaMemsetAsync (full_blocks, 0xff, n * sizeof *full_blocks, stream);

  return code == cudaSuccess
             ? cudaMemsetAsync (progress, 0, sizeof *progress, stream)
             : code;
}

gboolean
motion_can_eliminate (const MotionConfig *config, const MotionTile *tile)
{
  gdouble side = 2.0 * config->range;
  gdouble samples = (gdouble) config->width * config->height
                    * motion_config_get_n_fields (config);

  return samples * side * side > FULL_LEAST * tile->resident;
}

cudaError_t
motion_launch_full (
    const MotionDeviceTask *task, const MotionTile *tile, cudaStream_t stream)
{
  guint32 all = task->n_blocks * task->n_fields;

  if (task->config.method != MOTION_METHOD_FULL)
    return motion_launch_brute (task, tile, stream);
  full_choose_kernel (
      &task->config)<<<MIN (tile->resident, 2 * BRUTE_COLUMNS * all),
      FULL_THREADS, tile->bytes, stream>>> (*task, tile->rows);
  return cudaGetLastError ();
}
