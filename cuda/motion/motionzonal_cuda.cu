/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The zonal search, one launch a frame: predictors, diamonds, raster, star. */
#include "motionrounds.cuh"

namespace {

#define RASTER 5

/* Where the search begins: the vectors of the frame before, zero, what the
 * pyramid says. */
struct Starts {
  const MotionDeviceField *field;
  guint32 columns, n_blocks;

  static constexpr gint32 N = 7;

  /* A lane's point. A lane whose point one before it has says that it is not
   * valid, and so it is not visited again. */
  __device__ __forceinline__ short2
  point (const MotionPlace &place, bool *valid) const
  {
    guint32 lane = motion_lane (), n = place.number, column = n % columns;
    bool prior =
        field->prior != NULL && lane != 1 && lane < 6
        && (lane != 2 || column > 0) && (lane != 3 || column + 1 < columns)
        && (lane != 4 || n >= columns) && (lane != 5 || n + columns < n_blocks);
    short2 d = make_short2 (0, 0);
    guint32 same;

    if (lane == 6)
      d = field->predicted[n];
    if (prior) {
      const MotionVector v = field->prior[lane == 2   ? n - 1
                                          : lane == 3 ? n + 1
                                          : lane == 4 ? n - columns
                                          : lane == 5 ? n + columns
                                                      : n];

      d.x = (gint16) motion_clamp (
          motion_whole (v.x), place.rect.left, place.rect.right);
      d.y = (gint16) motion_clamp (
          motion_whole (v.y), place.rect.top, place.rect.bottom);
    }
    *valid = prior || lane == 1 || lane == 6;
    same = __match_any_sync (MOTION_ALL_LANES,
        *valid ? (guint32) (guint16) d.x | (guint32) (guint16) d.y << 16
               : 0x7fff0000u + lane);
    *valid = *valid && (same & ((1u << lane) - 1)) == 0;
    return d;
  }
};

/* Of the points of a small diamond, in the order of visits: across, down, both
 * in halves of the distance; the point's number. */
__constant__ const gint8 small_diamond[8][3] = { { 0, -2, 2 }, { -1, -1, 1 },
  { 1, -1, 3 }, { -2, 0, 4 }, { 2, 0, 5 }, { -1, 1, 6 }, { 1, 1, 8 },
  { 0, 2, 7 } };

/* By point number less 1: across and down of two neighbours. */
__constant__ const gint8 two_points[8][2][2] = { { { -1, 0 }, { 0, -1 } },
  { { -1, -1 }, { 1, -1 } }, { { 0, -1 }, { 1, 0 } }, { { -1, 1 }, { -1, -1 } },
  { { 1, -1 }, { 1, 1 } }, { { -1, 0 }, { 0, 1 } }, { { -1, 1 }, { 1, 1 } },
  { { 1, 0 }, { 0, 1 } } };

__device__ __forceinline__ short2
moved (short2 from, gint32 x, gint32 y)
{
  return make_short2 ((gint16) (from.x + x), (gint16) (from.y + y));
}

struct Diamond {
  short2 centre;
  gint32 distance;

  __device__ __forceinline__ guint32
  n () const
  {
    return distance == 1 ? 4 : distance <= 8 ? 8 : 16;
  }

  /* Where point @i stands in small_diamond; a distance of 1 has the four on the
   * axes only. */
  __device__ __forceinline__ const gint8 *
  small (guint32 i) const
  {
    return small_diamond[distance > 1 ? i : i == 0 ? 0 : i < 3 ? i + 2 : 7];
  }

  __device__ __forceinline__ short2
  large (guint32 i) const
  {
    gint32 q = (gint32) (i / 4) * distance / 4, rest = distance - q;

    if (i < 4)
      return moved (centre,
          i == 1   ? -distance
          : i == 2 ? distance
                   : 0,
          i == 0   ? -distance
          : i == 3 ? distance
                   : 0);
    return moved (centre, i & 1 ? q : -q, i & 2 ? rest : -rest);
  }

  __device__ __forceinline__ short2
  operator() (guint32 i) const
  {
    const gint8 *point;

    if (distance > 8)
      return large (i);
    point = small (i);
    return moved (centre, point[0] * distance / 2, point[1] * distance / 2);
  }
};

/* Of the raster; from number @first on. */
struct Raster {
  gint32 range, across, first;

  __device__ __forceinline__ short2
  operator() (gint32 i) const
  {
    return make_short2 ((gint16) ((first + i) % across * RASTER - range),
        (gint16) ((first + i) / across * RASTER - range));
  }
};

/* Diamonds round one centre that are computed together: of the distances
 * @first, 2 @first, ... */
struct Diamonds {
  short2 centre;
  gint32 first;

  __device__ __forceinline__ short2
  operator() (guint32 i) const
  {
    Diamond diamond = { centre, first };

    while (i >= diamond.n ()) {
      i -= diamond.n ();
      diamond.distance *= 2;
    }
    return diamond (i);
  }
};

/* What became the best, and how long ago. */
struct State {
  gint32 number, distance, rounds;
};

/* Diamond @diamond, whose points the lanes from @first on have. */
template <class Search>
__device__ __forceinline__ void
visit_diamond (Search *s, State *state, const Diamond &diamond, short2 d,
    guint32 cost, gint32 first)
{
  gint32 i = s->visit (d, cost, first, (gint32) diamond.n ());

  state->rounds++;
  if (i < 0)
    return;
  state->rounds = 0;
  state->number = 0;
  state->distance = diamond.distance;
  if (diamond.distance <= 8) {
    const gint8 *point = diamond.small ((guint32) (i - first));

    state->number = point[2];
    if (point[0] != 0 && point[1] != 0)
      state->distance = diamond.distance / 2;
  }
}

/* As all diamonds have one centre, some are computed together, whether the
 * search ends before the last of them or not: 1 to 4, 8 and 16, 32 and 64, 128. */
template <class Search>
__device__ __forceinline__ void
visit_diamonds (Search *s, State *state, gint32 range, gint32 patience)
{
  Diamonds all = { s->found.best, 1 };

#pragma unroll 1
  while (all.first <= range) {
    gint32 most = all.first == 1 ? 4 : 2 * all.first;
    gint32 last = min (most, range), n = 0;
    guint32 cost;
    short2 d;

    for (gint32 distance = all.first; distance <= last; distance *= 2)
      n += (gint32) Diamond{ all.centre, distance }.n ();
    d = all (motion_lane ());
    if (Search::WARPS == 1 && n == Search::NEAR)
      cost = s->near_batch (all.centre, d, (gint32) motion_lane () < n);
    else
      cost = s->template batch<8> (d, (gint32) motion_lane () < n, n);
    n = 0;
#pragma unroll 1
    for (gint32 distance = all.first; distance <= last; distance *= 2) {
      Diamond diamond = { all.centre, distance };

      visit_diamond (s, state, diamond, d, cost, n);
      if (state->rounds >= patience)
        return;
      n += (gint32) diamond.n ();
    }
    all.first = 2 * most;
  }
}

template <class Search>
__device__ __forceinline__ void
visit_two (Search *s, State *state)
{
  const gint8 *point = two_points[state->number - 1][motion_lane () & 1];
  short2 d = moved (s->found.best, point[0], point[1]);
  guint32 cost = s->template batch<4> (d, motion_lane () < 2, 2);

  if (s->visit (d, cost, 0, 2) >= 0) {
    state->rounds = 0;
    state->number = 0;
    state->distance = 2;
  }
}

/* Diamonds round the best, and what follows on a best next to it. */
template <class Search>
__device__ __forceinline__ void
visit_zones (Search *s, State *state, gint32 range, gint32 patience)
{
  visit_diamonds (s, state, range, patience);
  if (state->distance != 1)
    return;
  state->distance = 0;
  if (state->number != 0)
    visit_two (s, state);
}

/* --- the raster --------------------------------------------------------------
 *
 * All warps of a tile do the rasters of its blocks, one after the other. Few
 * blocks want one, and those are neighbours as a rule: what a tile cannot begin
 * at once goes to a queue, from which thread blocks take whose own tiles are
 * done. Whoever comes first computes it. */

#define RASTER_POINTS 13 /* of a row that are summed up together */
#define RASTER_NAP 100   /* ns between looks at what others do */

/* Where a block's raster is computed. */
typedef enum { RASTER_NONE, RASTER_HERE, RASTER_ELSEWHERE } RasterPlace;

/* Also of the tile's blocks where their rasters are computed, their best, and
 * the least that each warp found; what the first thread tells the others. */
template <int SIZE> struct ZonalShared {
  typedef MotionTiling<SIZE> Tiling;
  static constexpr gint32 WARPS = Tiling::THREADS / 32;

  MotionShared<SIZE> search;
  RasterPlace raster[Tiling::BLOCKS];
  short2 best[Tiling::BLOCKS];
  MotionRoundPair least[Tiling::BLOCKS][WARPS];
  guint32 told;
};

/* Whether rasters go to the queue: a tile may have more than one, and all points
 * are computed in one go. */
template <class Tile>
__device__ __forceinline__ bool
has_queue (const MotionDeviceTask *task)
{
  const gint32 across = 2 * (gint32) task->config.range / RASTER + 1;

  return Tile::Tiling::BLOCKS > 1 && across * across <= MOTION_ROUND_POINTS;
}

/* The least of @n points of the raster, from @part.first on, whole rows, that
 * the warp, of WARPS, has a share of. */
template <int WARPS, class Search>
__device__ __forceinline__ MotionRoundPair
raster_share (const Search &s, const Raster &part, gint32 n)
{
  gint32 pieces = (part.across + RASTER_POINTS - 1) / RASTER_POINTS;
  gint32 last = (part.across - 1) * RASTER - part.range;
  bool plain = s.is_plain (-part.range, -part.range, last, last);
  gint32 all = n / part.across * pieces;
  gint32 own = (gint32) (threadIdx.x / 32) * Search::GROUPS
               + (gint32) motion_lane () / Search::ROWS;
  MotionRoundPair pair;

  pair.clear ();
#pragma unroll 1
  for (gint32 turn = 0; turn < all; turn += WARPS * Search::GROUPS) {
    gint32 row = (turn + own) / pieces;
    gint32 column = (turn + own) % pieces * RASTER_POINTS;
    gint32 i = row * part.across + column;
    short2 d = part (i);

    s.template collect<1, RASTER_POINTS, RASTER, -1> (d.x, d.y,
        turn + own < all ? min (part.across - column, RASTER_POINTS) : 0, plain,
        (guint32) i, &pair);
  }
  return motion_round_pair (pair);
}

/* The raster from number @part.first on, @n points, of block @i of the tile; all
 * threads. */
template <class Tile, class Shared>
__device__ __forceinline__ void
compute_raster (const Tile &tile, Shared *shared, gint32 i, const Raster &part,
    gint32 n, short2 best)
{
  typename Tile::Search s;
  MotionRoundPair least;

  tile.begin_search (i, &s);
  if (Tile::Search::PARTS > 1)
    __syncthreads ();
  s.found.best = best;
  least = raster_share<Shared::WARPS> (s, part, n);
  if (motion_lane () == 0)
    shared->least[i][threadIdx.x / 32] = least;
}

template <int WARPS>
__device__ __forceinline__ MotionRoundPair
least_of (const MotionRoundPair (&least)[WARPS])
{
  MotionRoundPair pair;

  pair.clear ();
  for (gint32 i = 0; i < WARPS; i++)
    pair.add (least[i]);
  return pair;
}

/* In one thread: queues the rasters of a tile but the first, the last before the
 * others as the tile does them from the first on, and says that the tile has. */
template <class Tile, class Shared>
__device__ __forceinline__ void
queue_rasters (const Tile &tile, const Shared *shared)
{
  const MotionDeviceTask *task = tile.task;
  MotionRasterTurns *turns = task->raster_turns;
  guint32 n = 0, at;

  for (gint32 i = 0; i < Tile::Tiling::BLOCKS; i++)
    n += shared->raster[i] != RASTER_NONE;
  if (n > 1) {
    at = atomicAdd (&turns->queued, n - 1);
    for (gint32 i = Tile::Tiling::BLOCKS - 1; n > 1; i--)
      if (shared->raster[i] != RASTER_NONE) {
        guint32 number = tile.number_of (i);

        task->rasters[number].x = shared->best[i].x;
        task->rasters[number].y = shared->best[i].y;
        __threadfence ();
        *(volatile guint32 *) &task->rasters[at++].queued = number + 1;
        n--;
      }
    __threadfence ();
  }
  atomicAdd (&turns->passed, 1u);
}

/* In one thread: whether it is the first to take the raster of a queued block. */
__device__ __forceinline__ bool
claim_raster (const MotionDeviceTask *task, guint32 number)
{
  return atomicExch (&task->rasters[number].claimed, 1u) == 0;
}

/* The rasters of the tile, as far as others do not; all threads. @queued: all
 * but the first are in the queue */
template <class Tile, class Shared>
__device__ __forceinline__ void
compute_rasters (
    const Tile &tile, Shared *shared, const Raster &part, gint32 n, bool queued)
{
  bool first = true;

#pragma unroll 1
  for (gint32 i = 0; i < Tile::Tiling::BLOCKS; i++) {
    if (shared->raster[i] == RASTER_NONE)
      continue;
    if (!first && queued
        && !__syncthreads_or (
            threadIdx.x == 0 && claim_raster (tile.task, tile.number_of (i)))) {
      if (threadIdx.x == 0)
        shared->raster[i] = RASTER_ELSEWHERE;
      continue;
    }
    first = false;
    compute_raster (tile, shared, i, part, n, shared->best[i]);
  }
}

/* What another thread block has found; waits for it. */
__device__ __forceinline__ MotionRoundPair
await_raster (MotionRaster *raster)
{
  while (*(volatile guint32 *) &raster->done == 0)
    motion_nap (RASTER_NAP);
  __threadfence ();
  return MotionRoundPair{ *(volatile guint32 *) &raster->best,
    *(volatile guint32 *) &raster->second };
}

/* Visits what was found. */
__device__ __forceinline__ void
visit_raster (MotionState *found, State *state, const MotionRoundPair &pair,
    const Raster &part)
{
  if (found->take (pair, part) >= 0) {
    state->rounds = 0;
    state->number = 0;
  }
}

/* Of the blocks of the tile whose first search ended far away; all threads. */
template <class Tile, class Shared>
__device__ __forceinline__ void
search_raster (
    const Tile &tile, typename Tile::Search *s, State *state, Shared *shared)
{
  const gint32 range = (gint32) tile.task->config.range, own = tile.own ();
  const gint32 across = 2 * range / RASTER + 1, all = across * across;
  const gint32 most = MOTION_ROUND_POINTS / across * across;
  const bool wanted = state->distance >= RASTER;
  const bool queued = has_queue<Tile> (tile.task);
  Raster part = { range, across, 0 };
  MotionState found = s->found;

  if (threadIdx.x % (32 * Tile::Tiling::WARPS) == 0) {
    shared->raster[own] = wanted ? RASTER_HERE : RASTER_NONE;
    shared->best[own] = found.best;
  }
  if (!__syncthreads_or (wanted)) {
    if (queued && threadIdx.x == 0)
      atomicAdd (&tile.task->raster_turns->passed, 1u);
    return;
  }
  if (queued && threadIdx.x == 0)
    queue_rasters (tile, shared);
  if (wanted)
    state->distance = RASTER;
  for (; part.first < all; part.first += most) {
    compute_rasters (tile, shared, part, min (all - part.first, most), queued);
    __syncthreads ();
    if (wanted)
      visit_raster (&found, state,
          shared->raster[own] == RASTER_HERE
              ? least_of (shared->least[own])
              : await_raster (&tile.task->rasters[tile.number_of (own)]),
          part);
    __syncthreads ();
  }
  /* not kept in registers meanwhile */
  if (wanted)
    tile.begin_search (own, s);
  s->found = found;
}

/* --- rasters of other tiles --------------------------------------------------- */

/* In one thread: a block whose raster is to be computed; MOTION_NONE if no tile
 * will queue one, or if there are tiles that wait for this one to end. */
__device__ __forceinline__ guint32
take_raster (const MotionDeviceTask *task, guint32 tiles)
{
  const guint32 all = task->n_blocks * task->n_fields;
  MotionRasterTurns *turns = task->raster_turns;
  guint32 place = atomicAdd (&turns->taken, 1u);

  for (;;) {
    const bool complete = *(volatile guint32 *) &turns->passed == tiles
                          || *(volatile guint32 *) &turns->begun < tiles;
    guint32 number = 0;

    __threadfence (); /* what is queued has been by now */
    if (place < all)
      number = *(volatile guint32 *) &task->rasters[place].queued;
    if (number != 0) {
      __threadfence ();
      if (claim_raster (task, number - 1))
        return number - 1;
      place = atomicAdd (&turns->taken, 1u);
    } else if (complete) {
      return MOTION_NONE; /* whose it is does it if it comes later */
    } else {
      motion_nap (RASTER_NAP);
    }
  }
}

/* The last thread block to end leaves all as the next search needs it. */
template <class Shared>
__device__ __forceinline__ void
clear_rasters (const MotionDeviceTask *task, Shared *shared, guint32 tiles)
{
  MotionRasterTurns *turns = task->raster_turns;

  if (threadIdx.x == 0) {
    shared->told = 0;
    if (motion_is_last (&turns->ended, tiles)) {
      shared->told = *(volatile guint32 *) &turns->queued;
      turns->begun = turns->passed = turns->queued = turns->taken = 0;
    }
  }
  __syncthreads ();
  for (guint32 i = threadIdx.x; i < shared->told; i += blockDim.x) {
    MotionRaster *raster =
        &task->rasters[*(volatile guint32 *) &task->rasters[i].queued - 1];

    raster->claimed = raster->done = 0;
    task->rasters[i].queued = 0;
  }
}

/* Once the tile is done: rasters from the queue as long as there may be any; all
 * threads. */
template <class Tile, class Shared>
__device__ __forceinline__ void
help_others (const MotionDeviceTask *task, Shared *shared)
{
  const gint32 range = (gint32) task->config.range;
  const gint32 across = 2 * range / RASTER + 1;
  const Raster raster = { range, across, 0 };
  const guint32 tiles = gridDim.x * gridDim.y * gridDim.z;

  for (;;) {
    Tile tile;
    guint32 number;
    gint32 i;

    if (threadIdx.x == 0)
      shared->told = take_raster (task, tiles);
    __syncthreads ();
    number = shared->told;
    if (number == MOTION_NONE)
      break;
    i = tile.begin_block (task, &shared->search, number);
    tile.wait ();
    compute_raster (tile, shared, i, raster, across * across,
        make_short2 (task->rasters[number].x, task->rasters[number].y));
    __syncthreads ();
    if (threadIdx.x == 0) {
      MotionRoundPair pair = least_of (shared->least[i]);

      task->rasters[number].best = pair.best;
      task->rasters[number].second = pair.second;
      __threadfence ();
      *(volatile guint32 *) &task->rasters[number].done = 1;
    }
  }
  __syncthreads (); /* what was told has been read */
  clear_rasters (task, shared, tiles);
}

/* --- the kernel ---------------------------------------------------------------- */

template <int SIZE, bool STAGED>
__global__ void
__launch_bounds__ (MotionTiling<SIZE>::THREADS, 2)
    zonal_kernel (MOTION_PARAMETER (MotionDeviceTask, task))
{
  __shared__ ZonalShared<SIZE> shared;
  gint32 range = (gint32) task.config.range;
  typedef MotionTileSearch<SIZE, STAGED> Tile;
  const bool queue = has_queue<Tile> (&task);
  Tile tile;
  MotionSearch<SIZE> s;
  State state = { 0, 0, 0 };
  short2 start = { 0, 0 }; /* the lane's */
  bool exists, valid = false;

  s.found.clear ();
  if (queue && threadIdx.x == 0)
    atomicAdd (&task.raster_turns->begun, 1u);
  tile.begin (&task, &shared.search);
  exists = tile.has (tile.own ());
  if (exists) {
    Starts starts = { tile.field, task.columns, task.n_blocks };

    tile.begin_search (tile.own (), &s);
    start = starts.point (s.place, &valid);
  }
  tile.wait ();
  if (exists)
    s.visit (
        start, s.template batch<8> (start, valid, Starts::N), 0, Starts::N);
    /* the first search and then the star refinement */
#pragma unroll 1
  for (gint32 patience = 3;; patience = 2) {
    if (exists)
      visit_zones (&s, &state, range, patience);
    if (patience == 3)
      search_raster (tile, &s, &state, &shared);
    if (state.distance == 0)
      break;
    state.distance = 0;
    state.number = 0;
  }
  if (exists)
    s.store (tile.field->found);
  if (queue)
    help_others<Tile> (&task, &shared);
}

template <int SIZE>
cudaError_t
launch (const MotionDeviceTask *task, cudaStream_t stream)
{
  return motion_launch_tiles<MotionTileSearch<SIZE, true>, ZonalShared<SIZE>> (
      zonal_kernel<SIZE, true>, zonal_kernel<SIZE, false>, task, stream);
}

} // namespace

cudaError_t
motion_clear_zonal (MotionRaster *rasters, MotionRasterTurns *turns, gsize n,
    cudaStream_t stream)
{
  cudaError_t code = cudaMemsetAsync (rasters, 0, n * sizeof *rasters, stream);

  return code == cudaSuccess ? cudaMemsetAsync (turns, 0, sizeof *turns, stream)
                             : code;
}

cudaError_t
motion_launch_zonal (const MotionDeviceTask *task, cudaStream_t stream)
{
  switch (task->config.block_size) {
    case 8:
      return launch<8> (task, stream);
    case 16:
      return launch<16> (task, stream);
    case 32:
      return launch<32> (task, stream);
    default:
      return launch<64> (task, stream);
  }
}
