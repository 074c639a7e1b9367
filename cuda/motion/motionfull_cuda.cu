/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The full search. X. Q. Gao, C. J. Duanmu, C. R. Zou (IEEE Trans. Image
 * Processing 9, 2000): the differences of the sums over parts of the block are
 * less than its SAD, so most candidates are known to be worse than two that were
 * seen before without looking at them, the more the smaller the parts.
 *
 * A thread block does a block of the grid. A few SADs round the pyramid's and
 * the prior field's vectors give the threshold. Then the candidates, 8192 at a
 * time: the coarsest sums are looked at for all of them, the middle ones for
 * what is left; if they leave many, as they do with noise and at scene cuts,
 * the block is left to the brute force, which follows in a launch of its own. A
 * warp each looks at the finest sums and computes the SADs of what these leave,
 * every one of which may lower the threshold. */
#include "motiontop.cuh"

namespace {

#define FULL_WARPS 8
#define FULL_THREADS (32 * FULL_WARPS)
#define FULL_GROUPS 8    /* of four candidates beside each other, of a thread */
#define FULL_COARSE 2048 /* candidates of a chunk that coarse sums may leave */
#define FULL_MIDDLE 256  /* that middle sums may leave */
#define FULL_ROUNDS 3    /* in which the seeds go on, a pixel at a time */

/* What the thread block shares. */
template <int SIZE> struct Shared {
  MotionKey best, second;
  MotionKey keys[2][FULL_WARPS];
  guint32 coarse_left, middle_left;                 /* of a chunk */
  guint32 counts[MOTION_N_COUNTERS];                /* for benches */
  uint4 middle[SIZE >= 32 ? SIZE * SIZE / 256 : 1]; /* the block's sums */
  guint16 numbers[FULL_COARSE]; /* of candidates that coarse sums leave */
  short2 vectors[FULL_MIDDLE];  /* that middle sums leave */
};

template <int SIZE> struct Elimination {
  static constexpr int COARSE = SIZE >= 16 ? 16 : 8; /* samples of a part */
  static constexpr int MIDDLE = COARSE / 2;
  static constexpr int FINE = 4;
  static constexpr int N_COARSE = SIZE / COARSE; /* parts of a row */
  static constexpr int N_MIDDLE = SIZE / MIDDLE;
  static constexpr int N_FINE = SIZE / FINE;
  /* a lane has a fine part of a row, and of each FINE_STEP-th after it */
  static constexpr int FINE_STEP = 32 / N_FINE;
  static constexpr int FINE_PARTS = (N_FINE * N_FINE + 31) / 32;

  const MotionDeviceTask *task;
  const MotionDeviceField *field;
  MotionPlace place;
  Shared<SIZE> *shared;
  short2 prior;
  gsize at; /* of the block's first sample in the planes */
  guint32 pitch;
  guint32 parity;
  MotionPair seeds;
  guint32 threshold; /* a candidate that costs more is out */
  MotionLanes<SIZE, true> lanes;
  guint32 fine[FINE_PARTS]; /* the lane's sums of the block */
  gint32 fine_down;         /* how many of these there are */
  guint32 fine_at;          /* where the first is in the block */

  /* groups of four candidates, the first of a row at a multiple of four */
  gint32 first_x, groups_across, down;

  __device__ __forceinline__ guint32
  rate (gint32 x, gint32 y) const
  {
    return motion_rate (task->config.lambda, x, y, prior);
  }

  __device__ __forceinline__ void
  begin (const MotionDeviceTask *t, const MotionDeviceField *f, guint32 number,
      Shared<SIZE> *s)
  {
    const guint16 *sums;

    task = t;
    field = f;
    place = motion_place (t, number);
    shared = s;
    prior = motion_prior (f, number);
    pitch = t->layout.pitch;
    at = (gsize) place.y * pitch + place.x;
    parity = 0;
    first_x = place.rect.left & ~3;
    groups_across = (place.rect.right - first_x) / 4 + 1;
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
  sad (gint32 x, gint32 y) const
  {
    return motion_warp_sum (lanes.share (
        field->reference.search + at + (gssize) y * (gssize) pitch + x));
  }

  /* The warps compute a candidate each. */
  __device__ __forceinline__ void
  visit (gint32 x, gint32 y, bool valid)
  {
    MotionKey key = MOTION_NO_KEY;

    if (valid && motion_contains (&place.rect, x, y))
      key = motion_candidate_key (
          task->config.tie, sad (x, y) + rate (x, y), x, y);
    parity ^= 1;
    if (motion_lane () == 0)
      shared->keys[parity][threadIdx.x / 32] = key;
    __syncthreads ();
    /* the two least of these and of the two before, each counted once */
    key = motion_lane () < FULL_WARPS ? shared->keys[parity][motion_lane ()]
                                      : seeds.second;
    key = motion_lane () == FULL_WARPS ? seeds.best : key;
    seeds.best = motion_warp_key (key);
    seeds.second = motion_warp_key (key == seeds.best ? MOTION_NO_KEY : key);
  }

  /* Zero, the pyramid's vector, those that the block and its neighbours had. */
  __device__ __forceinline__ void
  visit_starts ()
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
      const MotionVector v = field->prior[i == 3   ? n - 1
                                          : i == 4 ? n + 1
                                          : i == 5 ? n - task->columns
                                          : i == 6 ? n + task->columns
                                                   : n];

      x = motion_clamp (motion_whole (v.x), place.rect.left, place.rect.right);
      y = motion_clamp (motion_whole (v.y), place.rect.top, place.rect.bottom);
    }
    visit (x, y, valid);
  }

  /* The eight candidates round the best. Returns: whether one is better. */
  __device__ __forceinline__ bool
  visit_round (gint32 spacing)
  {
    const MotionKey before = seeds.best;
    const short2 centre = motion_candidate_vector (before);
    gint32 i = (gint32) threadIdx.x / 32;

    i += i >= 4;
    visit (centre.x + (i % 3 - 1) * spacing, centre.y + (i / 3 - 1) * spacing,
        true);
    return seeds.best != before;
  }

  /* The threshold from the second best of a few. */
  __device__ __forceinline__ void
  seed ()
  {
    bool better = true;

    seeds.clear ();
    visit_starts ();
#pragma unroll 1
    for (gint32 round = -1; round < FULL_ROUNDS && better; round++) {
      better = visit_round (round < 0 ? 2 : 1);
      better = better || round < 0;
    }
    threshold = min (motion_candidate_cost (seeds.second), MOTION_COST_LIMIT);
  }

  /* --- the coarse sums of all candidates ----------------------------------- */

  /* Of the thread's groups of four candidates, from group @group on and each
   * FULL_THREADS after the one before: which of them are left. A bit each, the
   * first candidate's the highest. @whole: no part is left out */
  template <bool WHOLE>
  __device__ __forceinline__ guint32
  look_coarse (gint32 group) const
  {
    const gint32 parts_across = place.w / COARSE, parts_down = place.h / COARSE;
    const gint32 step_y = FULL_THREADS / groups_across;
    const gint32 step_x = FULL_THREADS - step_y * groups_across;
    const guint32 first = 15u >> (place.rect.left - first_x);
    const guint32 last = 15u & 15u << (3 - ((place.rect.right - first_x) & 3));
    const guint16 *current = task->current.sums[SIZE >= 16 ? 2 : 1] + at;
    const guint16 *reference = field->reference.sums[SIZE >= 16 ? 2 : 1] + at
                               + (gssize) place.rect.top * (gssize) pitch
                               + first_x;
    gint32 y = group / groups_across, x = group - y * groups_across;
    guint32 own[N_COARSE * N_COARSE], mask = 0;

#pragma unroll
    for (int i = 0; i < N_COARSE * N_COARSE; i++)
      own[i] = current[i / N_COARSE * COARSE * pitch + i % N_COARSE * COARSE];
#pragma unroll 2
    for (int s = 0; s < FULL_GROUPS; s++) {
      const guint16 *from =
          reference + (guint32) min (y, down - 1) * pitch + 4 * x;
      guint32 sums[4], bits = 0;

      /* below zero as long as the threshold is not passed */
#pragma unroll
      for (int k = 0; k < 4; k++)
        sums[k] = ~threshold;
      if (task->config.lambda != 0)
#pragma unroll
        for (int k = 0; k < 4; k++)
          sums[k] += rate (first_x + 4 * x + k, place.rect.top + y);
#pragma unroll
      for (int i = 0; i < N_COARSE * N_COARSE; i++)
        if (WHOLE
            || (i % N_COARSE < parts_across && i / N_COARSE < parts_down)) {
          uint2 v = *(const uint2 *) (from + i / N_COARSE * COARSE * pitch
                                      + i % N_COARSE * COARSE);

          sums[0] = motion_sad1 (v.x & 0xffff, own[i], sums[0]);
          sums[1] = motion_sad1 (v.x >> 16, own[i], sums[1]);
          sums[2] = motion_sad1 (v.y & 0xffff, own[i], sums[2]);
          sums[3] = motion_sad1 (v.y >> 16, own[i], sums[3]);
        }
#pragma unroll
      for (int k = 0; k < 4; k++)
        bits = bits << 1 | sums[k] >> 31;
      bits &= y < down ? 15u : 0;
      bits &= x == 0 ? first : 15u;
      bits &= x == groups_across - 1 ? last : 15u;
      mask = mask << 4 | bits;
      x += step_x;
      y += step_y;
      if (x >= groups_across) {
        x -= groups_across;
        y++;
      }
    }
    return mask;
  }

  /* Makes a list of the candidates that are left, as far as there is room:
   * their groups in the chunk times four and where they are in them. */
  __device__ __forceinline__ void
  list_coarse (guint32 mask)
  {
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
          (guint16) ((threadIdx.x + i / 4 * FULL_THREADS) * 4 + i % 4);
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
  look_middle (gint32 group, guint32 n)
  {
    for (guint32 first = 0; first < n; first += FULL_THREADS) {
      guint32 i = first + threadIdx.x;
      guint32 number = 4 * (guint32) group + shared->numbers[min (i, n - 1)];
      guint32 y = number / 4 / (guint32) groups_across;
      guint32 x = number - 4 * y * (guint32) groups_across;
      short2 d = make_short2 ((gint16) (first_x + (gint32) x),
          (gint16) (place.rect.top + (gint32) y));
      bool in = i < n && middle_bound<WHOLE> (d) + rate (d.x, d.y) <= threshold;
      guint32 bits = __ballot_sync (MOTION_ALL_LANES, in), to = 0;

      if (motion_lane () == 0 && bits != 0)
        to = atomicAdd (&shared->middle_left, (guint32) __popc (bits));
      to = __shfl_sync (MOTION_ALL_LANES, to, 0)
           + (guint32) __popc (bits & ((1u << motion_lane ()) - 1));
      if (in && to < FULL_MIDDLE)
        shared->vectors[to] = d;
    }
  }

  /* --- the finest, and SADs ------------------------------------------------ */

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

  /* A SAD has been computed: the threshold is the second best's at most. */
  __device__ __forceinline__ void
  take (guint32 cost, short2 d)
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

  /* Four candidates at a time, so that loads are in flight. */
  __device__ __forceinline__ void
  look_fine (guint32 n)
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
                   + rate (d[k].x, d[k].y);
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
            take (sad (v.x, v.y) + rate (v.x, v.y), v);
            computed++;
          }
        }
    }
    if (motion_lane () == 0 && task->counters != NULL)
      atomicAdd (&shared->counts[MOTION_COUNT_FINE], computed);
  }

  /* --- all of it ------------------------------------------------------------ */

  /* Counts for benches. */
  __device__ __forceinline__ void
  count (MotionCounter counter, guint32 n)
  {
    if (task->counters != NULL && threadIdx.x == 0)
      shared->counts[counter] += n;
  }

  __device__ __forceinline__ void
  report ()
  {
    if (task->counters == NULL)
      return;
    __syncthreads ();
    if (threadIdx.x < MOTION_N_COUNTERS)
      atomicAdd (&task->counters[threadIdx.x],
          (unsigned long long) shared->counts[threadIdx.x]);
  }

  /* Candidates from @group on. Returns: false if too many are left. */
  template <bool WHOLE>
  __device__ __forceinline__ bool
  look (gint32 group)
  {
    guint32 left;

    if (threadIdx.x == 0)
      shared->coarse_left = shared->middle_left = 0;
    __syncthreads ();
    threshold = min (threshold, motion_candidate_cost (shared->second));
    list_coarse (look_coarse<WHOLE> (group + (gint32) threadIdx.x));
    __syncthreads ();
    left = shared->coarse_left;
    count (MOTION_COUNT_COARSE, left);
    if (left > FULL_COARSE)
      return false;
    look_middle<WHOLE> (group, left);
    __syncthreads ();
    left = shared->middle_left;
    count (MOTION_COUNT_MIDDLE, left);
    if (left > FULL_MIDDLE)
      return false;
    look_fine (left);
    __syncthreads ();
    return true;
  }

  /* Returns: false if the block is better computed whole. */
  __device__ __forceinline__ bool
  run ()
  {
    const bool whole = place.w == SIZE && place.h == SIZE;
    const gint32 groups = groups_across * down;
    bool done = true;

    seed ();
    count (MOTION_COUNT_CANDIDATES,
        (guint32) ((place.rect.right - place.rect.left + 1) * down));
#pragma unroll 1
    for (gint32 group = 0; group < groups && done;
         group += FULL_THREADS * FULL_GROUPS)
      done = whole ? look<true> (group) : look<false> (group);
    count (MOTION_COUNT_BRUTE, !done);
    report ();
    return done;
  }
};

template <int SIZE>
__global__ void
__launch_bounds__ (FULL_THREADS, SIZE == 64 ? 2 : 4)
    full_kernel (MOTION_PARAMETER (MotionDeviceTask, task))
{
  __shared__ Shared<SIZE> shared;
  const MotionDeviceField *field = &task.fields[blockIdx.y];
  Elimination<SIZE> e;
  bool done;

  e.begin (&task, field, blockIdx.x, &shared);
  done = e.run ();
  if (threadIdx.x != 0)
    return;
  if (done) {
    motion_store_pair (
        MotionPair{ shared.best, shared.second }, &field->found[blockIdx.x]);
  } else {
    guint32 *last = &task.wholes[task.n_blocks * task.n_fields].parts;

    task.wholes[atomicAdd (last, 1u) + 1].queued =
        blockIdx.y * task.n_blocks + blockIdx.x;
  }
}

#define FULL(SIZE) full_kernel<SIZE>

} // namespace

cudaError_t
motion_launch_full (
    const MotionDeviceTask *task, const MotionTile *tile, cudaStream_t stream)
{
  dim3 grid (task->n_blocks, task->n_fields);
  gboolean queued = task->config.method == MOTION_METHOD_FULL;
  gsize wholes = (gsize) task->n_blocks * task->n_fields + 1;
  cudaError_t code = cudaMemsetAsync (
      task->wholes, 0xff, wholes * sizeof *task->wholes, stream);

  if (code == cudaSuccess && queued) {
    MOTION_LAUNCH_SIZE (FULL, grid, FULL_THREADS, stream, *task);
    code = cudaGetLastError ();
  }
  return code == cudaSuccess ? motion_launch_brute (task, tile, queued, stream)
                             : code;
}
