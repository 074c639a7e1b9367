/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The step search: every round of every block on the device, in one launch. */
#include "motionrounds.cuh"

namespace {

/* SIDE x SIDE points round @centre, @spacing apart, by number; from number
 * @first on. */
template <int SIDE> struct Grid {
  short2 centre;
  gint32 spacing, first;

  __device__ __forceinline__ short2
  operator() (gint32 i) const
  {
    gint32 x = (first + i) % SIDE - SIDE / 2, y = (first + i) / SIDE - SIDE / 2;

    return make_short2 (
        (gint16) (centre.x + x * spacing), (gint16) (centre.y + y * spacing));
  }
};

/* A round line by line: as many lines at once as one exchange of sums has room
 * for. ALIGNED: the centre's x is a multiple of four */
template <int SIDE, int SPACING, bool ALIGNED, class Search>
__device__ __forceinline__ void
visit_lines (Search *s)
{
  constexpr gint32 EACH = (SIDE + Search::SLOTS - 1) / Search::SLOTS;
  constexpr gint32 ROOM = 16 / SIDE, LINES = EACH < ROOM ? EACH : ROOM;
  constexpr gint32 PHASE = ALIGNED ? -(SIDE / 2) * SPACING & 3 : -1;
  const Grid<SIDE> grid = { s->found.best, SPACING, 0 };
  const short2 begin = grid (0), end = grid (SIDE * SIDE - 1);
  const bool plain = s->is_plain (begin.x, begin.y, end.x, end.y);
  MotionRoundPair pair;

  pair.clear ();
#pragma unroll 1
  for (gint32 turn = 0; turn < SIDE; turn += Search::SLOTS * LINES) {
    gint32 j = turn + s->slot * LINES;
    short2 first = grid (j * SIDE);

    s->template collect<LINES, SIDE, SPACING, PHASE> (first.x, first.y,
        (SIDE - j) * SIDE, plain, (guint32) (j * SIDE), &pair);
  }
  s->found.take (s->gather (pair), grid);
}

/* --- a column of points a lane ---------------------------------------------- */

#define COLUMN_ROWS 36 /* words from column to column of the block */

/* Whole blocks of 32 with the window of a range of 64: a lane has the points of
 * one dx, half the warp the even columns of words and half the odd ones, so that
 * no sums are exchanged but those of the halves, and a word of the window, once
 * read, serves all points that need it. The window's pitch is known when
 * compiled: no address is computed. */
template <int SIDE, class Search> struct Columns {
  static constexpr gint32 PITCH = (64 + 4 * 32 + 64) / 4 | 1;
  static constexpr gint32 WORDS = 8;

  Search *s;
  const guint32 *block; /* its words, column by column */
  gint32 dx, half;      /* the lane's */

  /* @memory: of the warp */
  __device__ __forceinline__
  Columns (Search *search, guint32 *memory)
      : s (search), block (memory),
        dx (min ((gint32) motion_lane () % 16, SIDE - 1)),
        half ((gint32) motion_lane () / 16)
  {
#pragma unroll
    for (gint32 k = 0; k < WORDS; k++)
      memory[k * COLUMN_ROWS + s->row] = s->words[k];
    __syncwarp ();
  }

  /* Four rows of the block in one of its columns. */
  __device__ __forceinline__ void
  load_rows (gint32 column, gint32 row, guint32 (&rows)[4]) const
  {
    const uint4 four = *(const uint4 *) (block + column * COLUMN_ROWS + row);

    rows[0] = four.x;
    rows[1] = four.y;
    rows[2] = four.z;
    rows[3] = four.w;
  }

  /* The word of the window that holds the first sample of the upper point. */
  __device__ __forceinline__ const guint32 *
  first_word (gint32 x, gint32 y) const
  {
    return (
        const guint32 *) ((const guint8 *) (s->window + (y - s->row) * PITCH)
                          + (x & ~3));
  }

  /* Points eight apart, the first at a multiple of four: rows that are equal
   * modulo 8 belong to the same rows of the block, one further up for each
   * point. */
  __device__ __forceinline__ void
  sum_up_8 (short2 first, guint32 (&sums)[SIDE]) const
  {
    const guint32 *from = first_word (first.x + 8 * dx, first.y) + half;

#pragma unroll 1
    for (gint32 turn = 0; turn < WORDS; turn++) {
      const gint32 column = turn / 2 * 2, top = turn % 2 * 4;
      const guint32 *at = from + top * PITCH + column;
      guint32 own[4][4];

#pragma unroll
      for (gint32 i = 0; i < 4; i++)
        load_rows (column + half, top + 8 * i, own[i]);
#pragma unroll
      for (gint32 row = 0; row < 4; row++) {
        guint32 words[SIDE + 3];

#pragma unroll
        for (gint32 m = 0; m < SIDE + 3; m++)
          words[m] = at[(row + 8 * m) * PITCH];
#pragma unroll
        for (gint32 i = 0; i < 4; i++)
#pragma unroll
          for (gint32 y = 0; y < SIDE; y++)
            sums[y] = motion_sad4 (words[y + i], own[i][row], sums[y]);
      }
    }
  }

  /* Points beside and below each other: down the rows with as many of them in
   * registers as there are points. */
  __device__ __forceinline__ void
  sum_up_1 (short2 first, guint32 (&sums)[SIDE]) const
  {
    const gint32 x = first.x + dx;
    const guint32 *from = first_word (x, first.y) + half;
    const guint32 shift = 8 * (guint32) x; /* the lower five bits count */

#pragma unroll 1
    for (gint32 column = half; column < WORDS; column += 2, from += 2) {
      guint32 ring[SIDE], own[4];

#pragma unroll
      for (gint32 row = 0; row < SIDE - 1; row++)
        ring[row] =
            __funnelshift_r (from[row * PITCH], from[row * PITCH + 1], shift);
#pragma unroll
      for (gint32 row = 0; row < 32; row++) {
        const gint32 last = (row + SIDE - 1) * PITCH;

        if (row % 4 == 0)
          load_rows (column, row, own);
        ring[(row + SIDE - 1) % SIDE] =
            __funnelshift_r (from[last], from[last + 1], shift);
#pragma unroll
        for (gint32 y = 0; y < SIDE; y++)
          sums[y] = motion_sad4 (ring[(row + y) % SIDE], own[row % 4], sums[y]);
      }
    }
  }

  /* Whether a round round the best can go by columns: all points are candidates
   * at no price. */
  __device__ __forceinline__ bool
  can_visit (gint32 spacing) const
  {
    const short2 c = s->found.best;
    const gint32 reach = SIDE / 2 * spacing;

    return (spacing == 1 || (spacing == 8 && c.x % 4 == 0)) && s->pitch == PITCH
           && !s->cut && s->place.h == 32
           && s->is_plain (c.x - reach, c.y - reach, c.x + reach, c.y + reach);
  }

  __device__ __forceinline__ void
  visit (gint32 spacing)
  {
    const Grid<SIDE> grid = { s->found.best, spacing, 0 };
    guint32 sums[SIDE] = {};
    MotionRoundPair pair;

    if (spacing == 1)
      sum_up_1 (grid (0), sums);
    else
      sum_up_8 (grid (0), sums);
    pair.clear ();
#pragma unroll
    for (gint32 y = 0; y < SIDE; y++) {
      guint32 sum = sums[y] + __shfl_xor_sync (MOTION_ALL_LANES, sums[y], 16);

      /* not the best itself */
      if (y != SIDE / 2 || dx != SIDE / 2)
        pair.add (sum << MOTION_POINT_BITS | (guint32) (y * SIDE + dx));
    }
    s->found.take (s->gather (pair), grid);
  }
};

/* A round of any spacing, point by point. */
template <int SIDE, class Search>
__device__ __forceinline__ void
visit_points (Search *s, gint32 spacing)
{
  Grid<SIDE> grid = { s->found.best, spacing, 0 };
  MotionRoundPair pair;

  pair.clear ();
#pragma unroll 1
  for (; grid.first < SIDE * SIDE; grid.first += MOTION_BATCH) {
    gint32 n = min (SIDE * SIDE - grid.first, MOTION_BATCH);
    gint32 lane = (gint32) motion_lane ();
    guint32 value = s->template batch<8> (grid (lane), lane < n, n);

    if (value != MOTION_NONE)
      pair.add (value << MOTION_POINT_BITS | (guint32) (grid.first + lane));
  }
  grid.first = 0;
  s->found.take (motion_round_pair (pair), grid);
}

/* The eight points round the best: one turn of a warp, whatever the spacing. */
template <class Search>
__device__ __forceinline__ void
visit_ring (Search *s, gint32 spacing)
{
  const Grid<3> grid = { s->found.best, spacing, 0 };
  gint32 lane = (gint32) motion_lane ();
  short2 d = grid (lane < 4 ? lane : lane + 1);

  s->visit (
      d, s->template batch<(Search::SLOTS > 1 ? 4 : 8)> (d, lane < 8, 8), 0, 8);
}

/* The rounds of a range of 64, and most of others, go line by line. A centre is
 * a multiple of the spacing of the round before. */
template <int SIDE, class Search>
__device__ __forceinline__ void
visit_grid (Search *s, gint32 spacing)
{
  if (SIDE == 3)
    visit_ring (s, spacing);
  else if (SIDE == 7 && spacing == 16)
    visit_lines<SIDE, 16, true> (s);
  else if (SIDE > 7 && spacing == 8)
    visit_lines<SIDE, 8, true> (s);
  else if (SIDE == 7 && spacing == 4)
    visit_lines<SIDE, 4, true> (s);
  else if (spacing == 1 && s->found.best.x % 4 == 0)
    visit_lines<SIDE, 1, true> (s);
  else
    visit_points<SIDE> (s, spacing);
}

/* Whether rounds of SIDE go by columns where they can. */
template <class Tile, int SIDE> struct HasColumns {
  static constexpr bool value =
      Tile::IN_SHARED && Tile::HEIGHT == 2 * 32 && SIDE == 15;
};

template <class Tile, int SIDE> struct StepShared {
  typename Tile::Search::Shared search;
  uint4 columns[Tile::Tiling::BLOCKS]
               [HasColumns<Tile, SIDE>::value ? 8 * COLUMN_ROWS / 4 : 1];
};

/* All rounds of a block. @memory: its columns */
template <class Tile, int SIDE>
__device__ __forceinline__ void
visit_rounds (
    const MotionDeviceTask *task, typename Tile::Search *s, guint32 *memory)
{
  const MotionGranularity granularity = task->config.granularity;

  s->visit_zero ();
  if constexpr (HasColumns<Tile, SIDE>::value) {
    Columns<SIDE, typename Tile::Search> columns (s, memory);

#pragma unroll 1
    for (gint32 spacing = motion_step_first (granularity, task->config.range);
         spacing > 0; spacing = motion_step_next (granularity, spacing))
      if (columns.can_visit (spacing))
        columns.visit (spacing);
      else
        visit_grid<SIDE> (s, spacing);
  } else {
#pragma unroll 1
    for (gint32 spacing = motion_step_first (granularity, task->config.range);
         spacing > 0; spacing = motion_step_next (granularity, spacing))
      visit_grid<SIDE> (s, spacing);
  }
}

template <class Tile, int SIDE>
__global__ void
__launch_bounds__ (Tile::Tiling::THREADS, 2)
    step_kernel (MOTION_PARAMETER (MotionDeviceTask, task))
{
  __shared__ StepShared<Tile, SIDE> shared;
  Tile tile;
  typename Tile::Search s;

  tile.begin (&task, &shared.search);
  tile.stage ();
  if (tile.has (tile.own ())) {
    tile.begin_search (tile.own (), &s);
    s.mask_words ();
  }
  tile.wait ();
  if (!tile.has (tile.own ()))
    return;
  visit_rounds<Tile, SIDE> (&task, &s, (guint32 *) shared.columns[tile.own ()]);
  s.store (tile.field->found);
}

template <int SIZE, int SIDE>
cudaError_t
launch_grid (const MotionDeviceTask *task, cudaStream_t stream)
{
  typedef MotionTileSearch<SIZE, true> Staged;
  typedef MotionTileSearch<SIZE, false> Direct;

  return motion_launch_tiles<Staged, StepShared<Staged, SIDE>> (
      step_kernel<Staged, SIDE>, step_kernel<Direct, SIDE>, task, NULL, stream);
}

template <int SIZE>
cudaError_t
launch (const MotionDeviceTask *task, cudaStream_t stream)
{
  switch (task->config.granularity) {
    case MOTION_GRANULARITY_1:
      return launch_grid<SIZE, 3> (task, stream);
    case MOTION_GRANULARITY_2:
      return launch_grid<SIZE, 7> (task, stream);
    case MOTION_GRANULARITY_PAPER_13:
      return launch_grid<SIZE, 13> (task, stream);
    default:
      return launch_grid<SIZE, 15> (task, stream);
  }
}

} // namespace

cudaError_t
motion_launch_step (const MotionDeviceTask *task, cudaStream_t stream)
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
