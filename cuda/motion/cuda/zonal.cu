/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The zonal search (test zonal search of the HEVC and VVC reference encoders):
 * predictors, diamonds, raster and star refinement, one launch a frame.
 * docs/design/motion.md defines the order of visits. */
#include "cuda/motion/cuda/tile.cuh"

namespace {

/* --- points -------------------------------------------------------------------- */

/* A point of a diamond: its position in steps from the centre, its number,
 * and whether a best there counts with half the diamond's distance. */
struct ZonalPoint {
  gint8 x, y, number, half;
};

#define ZONAL_POINTS 28

/* In the order of visits: the diamond of 1; those of 2 to 8, in steps of
 * half the distance; those of 16 and more, in steps of a quarter. */
__device__ const ZonalPoint zonal_points[ZONAL_POINTS] = { { 0, -1, 2, 0 },
  { -1, 0, 4, 0 }, { 1, 0, 5, 0 }, { 0, 1, 7, 0 }, //
  { 0, -2, 2, 0 }, { -1, -1, 1, 1 }, { 1, -1, 3, 1 }, { -2, 0, 4, 0 },
  { 2, 0, 5, 0 }, { -1, 1, 6, 1 }, { 1, 1, 8, 1 }, { 0, 2, 7, 0 }, //
  { 0, -4, 0, 0 }, { -4, 0, 0, 0 }, { 4, 0, 0, 0 }, { 0, 4, 0, 0 },
  { -1, -3, 0, 0 }, { 1, -3, 0, 0 }, { -1, 3, 0, 0 }, { 1, 3, 0, 0 },
  { -2, -2, 0, 0 }, { 2, -2, 0, 0 }, { -2, 2, 0, 0 }, { 2, 2, 0, 0 },
  { -3, -1, 0, 0 }, { 3, -1, 0, 0 }, { -3, 1, 0, 0 }, { 3, 1, 0, 0 } };

/* The two neighbours to test, by the number (1 to 8) of the best point. */
__device__ const gint8 zonal_two_points[8][2][2] = { { { -1, 0 }, { 0, -1 } },
  { { -1, -1 }, { 1, -1 } }, { { 0, -1 }, { 1, 0 } }, { { -1, 1 }, { -1, -1 } },
  { { 1, -1 }, { 1, 1 } }, { { -1, 0 }, { 0, 1 } }, { { -1, 1 }, { 1, 1 } },
  { { 1, 0 }, { 0, 1 } } };

/* Diamonds around one centre are computed in groups of up to 32 points, one
 * for each lane: those of 1, 2 and 4; of 8 and 16; of 32 and 64; of 128. If
 * the search ends within a group, the rest of the group is not visited. */
#define ZONAL_GROUP_DIAMONDS 3 /* at most */

/* The binary logarithm of a group's first distance. */
__device__ __forceinline__ gint32
zonal_group_first (gint32 group)
{
  return group == 0 ? 0 : 2 * group + 1;
}

/* The diamond of the group that a lane's point belongs to; @index: its
 * position in the order of visits */
__device__ __forceinline__ gint32
zonal_lane_diamond (gint32 group, gint32 lane, gint32 *index)
{
  const gint32 second = group == 0 ? 4 : group == 1 ? 8 : 16;
  const gint32 third = group == 0 ? 12 : 32;
  const gint32 diamond = (lane >= second) + (lane >= third);

  *index = lane - (diamond == 2 ? third : diamond == 1 ? second : 0);
  return diamond;
}

/* The points of a diamond, by the binary logarithm of its distance: their
 * number, the first of them in the table, the logarithm of a step. */
__device__ __forceinline__ gint32
zonal_diamond_points (gint32 log)
{
  return log == 0 ? 4 : log <= 3 ? 8 : 16;
}

__device__ __forceinline__ gint32
zonal_diamond_entry (gint32 log)
{
  return log == 0 ? 0 : log <= 3 ? 4 : 12;
}

__device__ __forceinline__ gint32
zonal_step_log (gint32 log)
{
  return log == 0 ? 0 : log <= 3 ? log - 1 : log - 2;
}

/* --- the state of a block's search ----------------------------------------------- */

typedef enum {
  ZONAL_START,
  ZONAL_DIAMONDS,
  ZONAL_TWO_POINTS,
  ZONAL_RASTER,
  ZONAL_DONE,
} ZonalStage;

#define ZONAL_RASTER_SPACING 5
#define ZONAL_STARTS 7
#define ZONAL_FIRST_PATIENCE 3 /* diamonds in a row without improvement */
#define ZONAL_STAR_PATIENCE 2

struct ZonalState {
  ZonalStage stage; /* what is visited next */
  gint32 patience;
  short2 centre;   /* of the diamonds */
  gint32 group;    /* of diamonds: the next one */
  gint32 number;   /* pointNr of the definition */
  gint32 distance; /* bestDist */
  gint32 rounds;   /* bestRound */
};

/* Continues with diamonds around the best. */
__device__ __forceinline__ void
zonal_begin_diamonds (ZonalState *state, short2 best, gint32 patience)
{
  state->stage = ZONAL_DIAMONDS;
  state->patience = patience;
  state->centre = best;
  state->group = 0;
}

/* Continues with a star refinement if the last iteration improved. */
__device__ __forceinline__ void
zonal_begin_star (ZonalState *state, short2 best)
{
  if (state->distance == 0) {
    state->stage = ZONAL_DONE;
    return;
  }
  state->distance = state->number = 0;
  zonal_begin_diamonds (state, best, ZONAL_STAR_PATIENCE);
}

/* Chooses the stage after the diamonds and the two points. */
__device__ __forceinline__ void
zonal_end_diamonds (ZonalState *state, short2 best)
{
  if (state->distance == 1) {
    state->distance = 0;
    state->stage = ZONAL_TWO_POINTS;
  } else if (state->patience == ZONAL_FIRST_PATIENCE
             && state->distance >= ZONAL_RASTER_SPACING) {
    state->distance = ZONAL_RASTER_SPACING;
    state->stage = ZONAL_RASTER;
  } else {
    zonal_begin_star (state, best);
  }
}

/* --- shared memory ------------------------------------------------------------------ */

#define ZONAL_LANE_POINTS 8 /* computed at once by UNIT lanes */
#define ZONAL_MAX_PIECES (MOTION_TILE_WARPS * 32 / ZONAL_LANE_POINTS)
/* points of a raster computed at once: all rows for a range of 64 */
#define ZONAL_RASTER_DOWN 26
#define ZONAL_RASTER_ACROSS 32

/* Shared memory besides the window and the samples.
 * @points: the table above
 * @n_pieces, @rasters: pieces to compute; one bit for each unit whose block
 *   needs its raster; for this iteration, and zero for the next
 * @pieces: unit << 8 | piece of its points, 32 / UNIT * 8 points each
 * @at: each unit's points, in samples from the zero vector, one for each
 *   lane
 * @sads: their SADs
 * @best: of a block that needs its raster
 * @shares: each warp's part of the SADs of a raster's points, row by row
 * @pairs: each warp's two best points of a raster */
struct ZonalShared {
  ZonalPoint points[ZONAL_POINTS];
  guint32 n_pieces[2], rasters[2];
  guint32 pieces[ZONAL_MAX_PIECES];
  alignas (16) gint32 at[MOTION_TILE_WARPS][32];
  guint32 sads[MOTION_TILE_WARPS][32];
  short2 best[MOTION_TILE_WARPS];
  guint32 shares[MOTION_TILE_WARPS][ZONAL_RASTER_DOWN * ZONAL_RASTER_ACROSS];
  MotionPointPair pairs[MOTION_TILE_WARPS];
};

/* --- the start --------------------------------------------------------------------- */

/* The lane's starting point, in the order of visits: the prior vectors of
 * the block (lane 0), zero, those of the left, right, upper and lower
 * neighbour, the pyramid's. Returns: whether it exists and no lane before
 * has the same */
__device__ __forceinline__ bool
zonal_start_point (const MotionDeviceTask *task, const MotionDeviceField *field,
    const MotionPlace &place, short2 *point)
{
  const guint32 lane = motion_lane (), n = place.number;
  const guint32 columns = task->columns, column = n % columns;
  const bool prior =
      field->prior != NULL
      && (lane == 0 || (lane == 2 && column > 0)
          || (lane == 3 && column + 1 < columns) || (lane == 4 && n >= columns)
          || (lane == 5 && n + columns < task->n_blocks));
  const bool valid = prior || lane == 1 || lane == 6;
  guint32 bits, same;

  *point = make_short2 (0, 0);
  if (lane == 6)
    *point = field->predicted[n];
  if (prior) {
    const CvisMotionVector *v = &field->prior[lane == 2   ? n - 1
                                              : lane == 3 ? n + 1
                                              : lane == 4 ? n - columns
                                              : lane == 5 ? n + columns
                                                          : n];

    point->x = (gint16) motion_clamp (
        motion_whole (v->x), place.rect.left, place.rect.right);
    point->y = (gint16) motion_clamp (
        motion_whole (v->y), place.rect.top, place.rect.bottom);
  }
  /* lanes without a point get a vector that no lane can have */
  bits = valid
             ? (guint32) (guint16) point->x | (guint32) (guint16) point->y << 16
             : 0x80008000u;
  same = __match_any_sync (MOTION_ALL_LANES, bits);
  return valid && (same & ((1u << lane) - 1)) == 0;
}

/* --- the raster ---------------------------------------------------------------------- */

/* The raster of a block, computed by all warps and visited by those of the
 * block (@search, @state) while the others go on. Lane l has the points of
 * column l, warp w every eighth slice of each unit (motion_column_sads());
 * then warp w adds the warps' sums of every eighth row. All threads call it.
 * @first: the block's first unit; @own: whether the warp belongs to the
 * block */
template <class Tile>
__device__ __forceinline__ void
zonal_raster (const Tile &tile, const typename Tile::Samples *samples,
    ZonalShared *shared, gint32 first, bool own, MotionBlockSearch *search,
    ZonalState *state)
{
  constexpr gint32 SPACING = ZONAL_RASTER_SPACING;
  constexpr gint32 N_UNITS = Tile::UNITS_PER_BLOCK;
  const gint32 lane = (gint32) motion_lane (), warp = (gint32) threadIdx.x / 32;
  const gint32 range = (gint32) tile.task->config.range;
  const gint32 all = 2 * range / SPACING + 1; /* points in a row; rows */
  MotionBlockSearch costs;                    /* of the block's points */

  costs.begin (tile.task, tile.field, tile.block_place (first));
  costs.best = shared->best[first];
#pragma unroll 1
  for (gint32 row = 0; row < all; row += ZONAL_RASTER_DOWN) {
    const gint32 down = min (all - row, ZONAL_RASTER_DOWN);
    const gint32 top = row * SPACING - range;
    MotionPointPair pair;
    gint32 best, second;

    pair.clear ();
#pragma unroll 1
    for (gint32 column = 0; column < all; column += ZONAL_RASTER_ACROSS) {
      const gint32 across = min (all - column, ZONAL_RASTER_ACROSS);
      const gint32 left = column * SPACING - range;
      const gint32 x = left + min (lane, across - 1) * SPACING;
      guint32 sums[ZONAL_RASTER_DOWN] = {};

#pragma unroll 1
      for (gint32 i = 0; i < N_UNITS; i++) {
        const gint32 unit = first + (i & 1) + (i & 2) * 2;

        motion_column_sads<Tile::UNIT, SPACING, ZONAL_RASTER_DOWN, false> (
            samples->words[unit], tile.unit_width (unit),
            tile.unit_height (unit),
            tile.unit_window (unit) + top * tile.pitch + (x >> 2), tile.pitch,
            8 * (guint32) x, warp, MOTION_TILE_WARPS, down, sums);
      }
      if (column > 0)
        __syncthreads ();
#pragma unroll
      for (gint32 j = 0; j < ZONAL_RASTER_DOWN; j++)
        shared->shares[warp][j * ZONAL_RASTER_ACROSS + lane] = sums[j];
      __syncthreads ();
#pragma unroll 1
      for (gint32 j = warp; j < down; j += MOTION_TILE_WARPS) {
        guint32 sad = 0;

#pragma unroll
        for (gint32 k = 0; k < MOTION_TILE_WARPS; k++)
          sad += shared->shares[k][j * ZONAL_RASTER_ACROSS + lane];
        if (lane < across)
          pair.add (motion_point_key (costs.cost_of (sad, x, top + j * SPACING),
              j * all + column + lane));
      }
    }
    pair = motion_warp_point_pair (pair);
    if (lane == 0)
      shared->pairs[warp] = pair;
    __syncthreads ();
    if (own) {
      pair.clear ();
      if (lane < MOTION_TILE_WARPS)
        pair = shared->pairs[lane];
      pair = motion_warp_point_pair (pair);
      best = motion_point_number (pair.best);
      second = motion_point_number (pair.second);
      if (search->visit_pair (pair,
              make_short2 ((gint16) (best % all * SPACING - range),
                  (gint16) (best / all * SPACING + top)),
              make_short2 ((gint16) (second % all * SPACING - range),
                  (gint16) (second / all * SPACING + top))))
        state->rounds = state->number = 0;
    }
  }
  if (own)
    zonal_begin_star (state, search->best);
}

/* --- the kernel ------------------------------------------------------------------------ */

/* The zonal searches of a tile of blocks.
 *
 * Input: a tile's window and samples (tile.cuh), the vectors of the prior
 * field and the pyramid. Output: task.fields[].found and, if no later kernel
 * changes the vectors, .kept.
 *
 * After the first diamonds only few blocks of a tile continue, one long
 * after the others. So all warps share the work, iteration by iteration:
 * each block lists its points, all warps take pieces of eight points, then
 * each block visits its points in order. Rasters are computed by all warps
 * together. */
template <int SIZE, bool STAGED>
__global__ void
__launch_bounds__ (MOTION_TILE_THREADS, 2)
    zonal_kernel (MOTION_PARAMETER (MotionDeviceTask, task))
{
  typedef MotionSearchTile<SIZE, STAGED> Tile;
  constexpr gint32 UNIT = Tile::UNIT;
  constexpr gint32 PIECE = 32 / UNIT * ZONAL_LANE_POINTS; /* points */
  __shared__ typename Tile::Samples samples;
  __shared__ ZonalShared shared;
  const Tile tile (&task);
  const gint32 unit = (gint32) threadIdx.x / 32;
  const gint32 first = Tile::first_unit (unit); /* of the block */
  const gint32 lane = (gint32) motion_lane (), row = lane % UNIT;
  const gint32 last_log = 31 - __clz ((gint32) task.config.range);
  const bool exists = tile.has_block (unit);
  ZonalState state = { exists ? ZONAL_START : ZONAL_DONE };
  MotionBlockSearch search;
  short2 start = make_short2 (0, 0);
  bool has_start = false;

  tile.load_samples (&samples);
  tile.stage_window ();
  if (threadIdx.x < ZONAL_POINTS)
    shared.points[threadIdx.x] = zonal_points[threadIdx.x];
  if (threadIdx.x < 2)
    shared.n_pieces[threadIdx.x] = shared.rasters[threadIdx.x] = 0;
  motion_await_kernels (); /* its vectors are read now */
  if (exists) {
    search.begin (&task, tile.field, tile.block_place (unit));
    has_start = zonal_start_point (&task, tile.field, search.place, &start);
  }
  motion_copy_wait ();
  __syncthreads ();

#pragma unroll 1
  for (guint32 parity = 0;; parity ^= 1) {
    const ZonalStage stage = state.stage;
    const gint32 first_log = zonal_group_first (state.group);
    gint32 diamond = 0, index = 0, n_points = 0, number;
    short2 d = start; /* point of the lane */
    bool valid = false;
    guint32 n, key;

    /* 1. points that the block needs */
    if (stage == ZONAL_START) {
      n_points = ZONAL_STARTS;
      valid = has_start;
    } else if (stage == ZONAL_DIAMONDS) {
      const gint32 log =
          first_log
          + (diamond = zonal_lane_diamond (state.group, lane, &index));

      if (log <= last_log && index < zonal_diamond_points (log)) {
        const ZonalPoint p = shared.points[zonal_diamond_entry (log) + index];

        d = motion_moved (state.centre, p.x * (1 << zonal_step_log (log)),
            p.y * (1 << zonal_step_log (log)));
        valid = true;
      }
      n_points = 32 - __clz ((gint32) __ballot_sync (MOTION_ALL_LANES, valid));
    } else if (stage == ZONAL_TWO_POINTS) {
      n_points = 2;
      if (lane < n_points) {
        const gint8 *p = zonal_two_points[state.number - 1][lane];

        d = motion_moved (search.best, p[0], p[1]);
        valid = true;
      }
    }
    valid = valid && motion_contains (&search.place.rect, d.x, d.y);
    shared.at[unit][lane] = valid ? tile.window_offset (d) : 0;

    /* 2. its pieces in the tile's list */
    n = (guint32) (n_points + PIECE - 1) / PIECE;
    index = 0;
    if (lane == 0 && n > 0)
      index = (gint32) atomicAdd (&shared.n_pieces[parity], n);
    index = __shfl_sync (MOTION_ALL_LANES, index, 0);
    if (lane < (gint32) n)
      shared.pieces[index + lane] = (guint32) unit << 8 | (guint32) lane;
    if (stage == ZONAL_RASTER && unit == first && lane == 0) {
      shared.best[unit] = search.best;
      atomicOr (&shared.rasters[parity], 1u << unit);
    }
    __syncthreads ();
    n = shared.n_pieces[parity];
    if (n == 0 && shared.rasters[parity] == 0)
      break;
    if (threadIdx.x == 0)
      shared.n_pieces[parity ^ 1] = shared.rasters[parity ^ 1] = 0;

      /* 3. SADs: a warp takes every eighth piece, all warps share each
       * raster */
#pragma unroll 1
    for (guint32 k = threadIdx.x / 32; k < n; k += MOTION_TILE_WARPS) {
      const gint32 of = (gint32) (shared.pieces[k] >> 8);
      const gint32 piece = (gint32) (shared.pieces[k] & 255) * PIECE;
      const int4 *four = (const int4 *) &shared
                             .at[of][piece + lane / UNIT * ZONAL_LANE_POINTS];
      const gint32 at[ZONAL_LANE_POINTS] = { four[0].x, four[0].y, four[0].z,
        four[0].w, four[1].x, four[1].y, four[1].z, four[1].w };
      guint32 words[UNIT / 4], sad;

#pragma unroll
      for (gint32 i = 0; i < UNIT / 4; i++)
        words[i] = samples.words[of][row * Tile::PITCH + i];
      sad = motion_point_sads<UNIT, ZONAL_LANE_POINTS> (words,
          tile.unit_width (of), row < tile.unit_height (of),
          tile.unit_window (of) + row * tile.pitch, at);
      if (lane % (UNIT / ZONAL_LANE_POINTS) == 0)
        shared.sads[of][piece + lane / (UNIT / ZONAL_LANE_POINTS)] = sad;
    }
#pragma unroll 1
    for (guint32 left = shared.rasters[parity]; left != 0; left &= left - 1) {
      const gint32 of = __ffs ((gint32) left) - 1;

      zonal_raster (tile, &samples, &shared, of, of == first, &search, &state);
    }
    __syncthreads ();

    /* 4. visits in order */
    key = shared.sads[first][lane];
    if (SIZE == 64)
      key += shared.sads[first + 1][lane] + shared.sads[first + 4][lane]
             + shared.sads[first + 5][lane];
    key = valid ? motion_point_key (search.cost_of (key, d.x, d.y), lane)
                : MOTION_NONE;
    if (stage == ZONAL_START || stage == ZONAL_TWO_POINTS) {
      const MotionPointPair pair =
          motion_warp_point_pair (MotionPointPair{ key, MOTION_NONE });
      const bool better = search.visit_pair (pair,
          motion_shuffle_vector (d, motion_point_number (pair.best)),
          motion_shuffle_vector (d, motion_point_number (pair.second)));

      if (stage == ZONAL_START) {
        zonal_begin_diamonds (&state, search.best, ZONAL_FIRST_PATIENCE);
      } else {
        if (better) {
          state.number = state.rounds = 0;
          state.distance = 2;
        }
        zonal_end_diamonds (&state, search.best);
      }
    } else if (stage == ZONAL_DIAMONDS) {
      MotionPointPair pairs[ZONAL_GROUP_DIAMONDS];
      bool over = false;

#pragma unroll
      for (gint32 k = 0; k < ZONAL_GROUP_DIAMONDS; k++)
        pairs[k] = motion_warp_point_pair (
            MotionPointPair{ diamond == k ? key : MOTION_NONE, MOTION_NONE });
#pragma unroll
      for (gint32 k = 0; k < ZONAL_GROUP_DIAMONDS; k++) {
        const gint32 log = first_log + k;

        if (over || log > last_log
            || log >= zonal_group_first (state.group + 1))
          break;
        number = motion_point_number (pairs[k].best) % 32;
        state.rounds++;
        if (search.visit_pair (pairs[k], motion_shuffle_vector (d, number),
                motion_shuffle_vector (
                    d, motion_point_number (pairs[k].second)))) {
          zonal_lane_diamond (state.group, number, &index);
          const ZonalPoint p = shared.points[zonal_diamond_entry (log) + index];

          state.number = p.number;
          state.distance = 1 << (log - p.half);
          state.rounds = 0;
        }
        over = state.rounds >= state.patience;
      }
      state.group++;
      if (over || zonal_group_first (state.group) > last_log)
        zonal_end_diamonds (&state, search.best);
    }
  }

  if (exists && unit == first && lane == 0) {
    search.store_found (tile.field->found);
    if (motion_keeps_early (&task.config))
      tile.field->kept[search.place.number] =
          CvisMotionVector{ (gint16) (4 * search.best.x),
            (gint16) (4 * search.best.y), search.best_cost };
  }
}

template <int SIZE>
cudaError_t
zonal_launch_size (
    const MotionDeviceTask *task, cudaEvent_t kept_there, cudaStream_t stream)
{
  typedef MotionSearchTile<SIZE, true> Tile;

  return motion_launch_tiles (zonal_kernel<SIZE, true>,
      zonal_kernel<SIZE, false>, Tile::UNIT,
      sizeof (typename Tile::Samples) + sizeof (ZonalShared), task, kept_there,
      stream);
}

} // namespace

cudaError_t
motion_launch_zonal (
    const MotionDeviceTask *task, cudaEvent_t kept_there, cudaStream_t stream)
{
  switch (task->config.block_size) {
    case 8:
      return zonal_launch_size<8> (task, kept_there, stream);
    case 16:
      return zonal_launch_size<16> (task, kept_there, stream);
    case 32:
      return zonal_launch_size<32> (task, kept_there, stream);
    default:
      return zonal_launch_size<64> (task, kept_there, stream);
  }
}
