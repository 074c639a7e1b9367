/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Full search: every candidate, or all but those that the sums of squares show
 * to be neither best nor second best. */
#include "cuda/motion/cpu/search.h"

/* Built for counting, not for use: blocks, candidates, those left after each
 * level. */
#ifdef MOTION_CPU_COUNT
extern guint64 motion_cpu_counts[2 + MOTION_CPU_LEVELS];
#define COUNT(i, n) motion_cpu_counts[i] += (guint64) (n)
#else
#define COUNT(i, n)
#endif

/* Cost and order of a candidate in one number: the smaller is the better. */
#define ORDER_BITS 34
#define NO_KEY G_MAXUINT64
/* A mean difference with which it pays to look for a better beginning */
#define POOR 4
/* Rows that are computed without elimination after one in which it left most */
#define VAIN_ROWS 7
/* Rows that go through the elimination together */
#define NEAR_ROWS 2 /* above and below the best, before all others */
#define MOST_ROWS 32
#define MOST_GROUPS 16 /* in a row; 2 * 128 / MOTION_GROUP + 1 suffice */

/* MOTION_GROUP candidates side by side: those @which are not yet ruled out.
 * @place: row * MOST_GROUPS + number in the row */
typedef struct {
  guint32 place, which;
} Group;

/* Rows from @y on. @limits: the largest SAD + bits of x that matters in each */
typedef struct {
  gint32 y;
  guint32 limits[MOST_ROWS];
  Group groups[MOST_ROWS * MOST_GROUPS];
} Rows;

typedef struct {
  MotionCpuSearch *s;
  guint64 best, second;  /* keys */
  gboolean shortest;     /* of equal cost, the shortest goes first */
  gboolean lambda;       /* vectors have a price */
  const guint16 *bits_x; /* from the leftmost candidate on, zeros behind */
  MotionCpuBound bounds[MOTION_CPU_LEVELS];
  guint n_bounds;
  gint32 rows; /* that go through the elimination together next */
} Full;

/* --- candidates' order --------------------------------------------------------- */

static inline guint64
tie_order_of (const Full *f, gint32 x, gint32 y)
{
  guint64 raster = (guint64) ((y + 128) << 9 | (x + 128));

  if (!f->shortest)
    return raster;
  return (guint64) (x * x + y * y) << 18 | raster;
}

static inline MotionPoint
tie_point_of (guint64 key)
{
  return (MotionPoint){ (gint32) (key & 511) - 128,
    (gint32) (key >> 9 & 511) - 128 };
}

/* Any order of calls, any number of times for a candidate. */
static inline void
offer_cost (Full *f, gint32 x, gint32 y, guint32 cost)
{
  guint64 key = (guint64) cost << ORDER_BITS | tie_order_of (f, x, y);

  if (key < f->best) {
    f->second = f->best;
    f->best = key;
  } else if (key < f->second && key != f->best) {
    f->second = key;
  }
}

static inline void
offer_computed_cost (Full *f, gint32 x, gint32 y)
{
  offer_cost (f, x, y, motion_search_cost (f->s, x, y));
}

/* The largest cost with which one of the candidates (@x..@last, @y) matters;
 * -1 if none does. */
static inline gint64
candidate_limit (const Full *f, gint32 x, gint32 last, gint32 y)
{
  guint64 first;

  if (f->second == NO_KEY)
    return G_MAXINT32;
  first = tie_order_of (f, f->shortest ? motion_clamp (0, x, last) : x, y);
  return (gint64) (f->second >> ORDER_BITS)
         - (first > (f->second & ((G_GUINT64_CONSTANT (1) << ORDER_BITS) - 1)));
}

/* The first @n candidates of a group. */
static inline guint32
row_first (gint32 n)
{
  return n < MOTION_GROUP ? (1u << n) - 1 : G_MAXUINT32;
}

/* --- computing candidates ------------------------------------------------------ */

static inline void
compute_few (Full *f, gint32 x, gint32 y, guint64 which)
{
  for (; which; which &= which - 1)
    offer_computed_cost (f, x + __builtin_ctzll (which), y);
}

/* @limit: of their SAD + bits of x */
static void
compute_many (Full *f, gint32 x, gint32 y, guint64 which, guint32 limit)
{
  const MotionCpuSearch *s = f->s;
  gsize stride = s->params->stride;
  guint32 *sads = s->scratch->sads;
  const guint16 *bits = f->bits_x + (x - s->rect.left);

  motion_sads (s->block, s->block_stride, s->at + (gssize) stride * y + x,
      stride, s->w, s->h, which, sads);
  for (guint64 m = which & motion_at_most (sads, bits, limit); m; m &= m - 1) {
    gint32 i = __builtin_ctzll (m);

    offer_cost (f, x + i, y, sads[i] + motion_search_bits (s, x + i, y));
  }
}

/* The largest SAD + bits of x with which a candidate of row @y matters; below
 * zero if none does. */
static inline gint64
row_limit (const Full *f, gint32 y)
{
  MotionRect r = f->s->rect;

  return candidate_limit (f, r.left, r.right, y)
         - f->s->params->bits[4 * y - f->s->prior.y];
}

/* --- everything ------------------------------------------------------------------ */

static void
scan_whole_row (Full *f, gint32 y)
{
  MotionRect r = f->s->rect;

  for (gint32 x = r.left; x <= r.right; x += 64) {
    gint64 limit = candidate_limit (f, x, MIN (x + 63, r.right), y)
                   - f->s->params->bits[4 * y - f->s->prior.y];
    gint32 n = MIN (r.right - x + 1, 64);

    compute_many (f, x, y, G_MAXUINT64 >> (64 - n), (guint32) MAX (limit, 0));
  }
}

static void
scan_all (Full *f)
{
  for (gint32 y = f->s->rect.top; y <= f->s->rect.bottom; y++)
    scan_whole_row (f, y);
}

/* --- with elimination ------------------------------------------------------------
 *
 * Some rows at a time go through level after level. A level leaves a mask of each
 * group; empty ones drop out of the list without a branch, which the
 * processor could not foresee. */

/* Those of row @y that the first level, of one sum and without bits, leaves.
 * Returns: how many groups. */
static inline guint
list_within (const Full *f, gint32 y, guint32 limit, guint32 place, Group *to)
{
  MotionRect r = f->s->rect;
  const MotionCpuBound *bound = &f->bounds[0];
  const guint16 *at =
      bound->sums + (gssize) f->s->params->sums_stride * y + r.left;
  MotionCpuBand band = motion_band (bound, limit);
  guint n = 0;

  for (gint32 left = r.right - r.left + 1; left > 0; left -= MOTION_GROUP) {
    guint32 which = motion_within (&band, at, row_first (left));

    to[n].place = place++;
    to[n].which = which;
    n += which != 0;
    at += MOTION_GROUP;
    COUNT (2, __builtin_popcount (which));
  }
  return n;
}

static inline guint
list_all (const Full *f, guint32 place, Group *to)
{
  MotionRect r = f->s->rect;
  guint n = 0;

  for (gint32 left = r.right - r.left + 1; left > 0; left -= MOTION_GROUP)
    to[n++] = (Group){ place++, row_first (left) };
  return n;
}

/* Tests the groups against level @i, of @n sums. Returns: how many are left. */
static inline __attribute__ ((always_inline)) guint
eliminate_list_n (const Full *f, guint i, guint n, Rows *rows, guint n_groups)
{
  const MotionCpuBound *bound = &f->bounds[i];
  gssize stride = (gssize) f->s->params->sums_stride;
  const guint16 *bits = f->lambda ? f->bits_x : NULL;
  const guint16 *at = bound->sums + stride * rows->y + f->s->rect.left;
  Group *groups = rows->groups;
  guint left = 0;

  for (guint k = 0; k < n_groups; k++) {
    guint32 place = groups[k].place, which = groups[k].which;
    guint32 row = place / MOST_GROUPS, x = place % MOST_GROUPS * MOTION_GROUP;

    which = motion_survivors (bound, n, at + stride * row + x,
        bits ? bits + x : NULL, rows->limits[row], which);
    groups[left].place = place;
    groups[left].which = which;
    left += which != 0;
    COUNT (2 + i, __builtin_popcount (which));
  }
  return left;
}

static guint
eliminate_list (const Full *f, guint i, Rows *rows, guint n_groups)
{
  switch (f->bounds[i].n) {
    case 1:
      return eliminate_list_n (f, i, 1, rows, n_groups);
    case 4:
      return eliminate_list_n (f, i, 4, rows, n_groups);
    case 16:
      return eliminate_list_n (f, i, 16, rows, n_groups);
    default:
      return eliminate_list_n (f, i, f->bounds[i].n, rows, n_groups);
  }
}

/* Tests a group against the last level once more, now that the limit of its row
 * is @limit. Returns: the candidates that are left. */
static guint32
eliminate_again (const Full *f, gint32 x, gint32 y, guint32 which, gint64 limit)
{
  const guint16 *bits = f->lambda ? f->bits_x + (x - f->s->rect.left) : NULL;
  gssize place = (gssize) f->s->params->sums_stride * y + x;
  const MotionCpuBound *bound;

  if (limit < 0)
    return 0;
  if (f->n_bounds == 0)
    return which;
  bound = &f->bounds[f->n_bounds - 1];
  return motion_survivors (
      bound, bound->n, bound->sums + place, bits, (guint32) limit, which);
}

/* Computes what is left. Returns: how many candidates. */
static gint32
compute_survivors (Full *f, const Rows *rows, guint n_groups)
{
  const Group *groups = rows->groups;
  gint32 computed = 0;

  for (guint k = 0; k < n_groups; k++) {
    guint32 place = groups[k].place, row = place / MOST_GROUPS;
    gint32 y = rows->y + (gint32) row;
    gint32 x = f->s->rect.left + (gint32) (place % MOST_GROUPS * MOTION_GROUP);
    gint64 limit = row_limit (f, y);
    guint64 which = groups[k].which;
    gint32 n;

    if (limit < rows->limits[row])
      which = eliminate_again (f, x, y, (guint32) which, limit);
    n = __builtin_popcountll (which);
    if (n >= MOTION_SADS_PAYS / 2 && k + 1 < n_groups
        && groups[k + 1].place == place + 1) {
      which |= (guint64) groups[++k].which << MOTION_GROUP;
      n = __builtin_popcountll (which);
    }
    if (n < MOTION_SADS_PAYS)
      compute_few (f, x, y, which);
    else
      compute_many (f, x, y, which, (guint32) limit);
    computed += n;
  }
  return computed;
}

/* @n rows from @y on. Returns: how many candidates were computed. */
static gint32
scan_rows (Full *f, gint32 y, gint32 n)
{
  gboolean first_is_one = f->n_bounds > 0 && f->bounds[0].n == 1 && !f->lambda;
  guint n_groups = 0;
  Rows rows;

  rows.y = y;
  for (gint32 i = 0; i < n; i++) {
    gint64 limit = row_limit (f, y + i);

    if (limit < 0)
      continue;
    rows.limits[i] = (guint32) limit;
    COUNT (1, f->s->rect.right - f->s->rect.left + 1);
    if (first_is_one)
      n_groups += list_within (f, y + i, rows.limits[i],
          (guint32) i * MOST_GROUPS, rows.groups + n_groups);
    else
      n_groups +=
          list_all (f, (guint32) i * MOST_GROUPS, rows.groups + n_groups);
  }
  for (guint i = first_is_one; i < f->n_bounds; i++)
    n_groups = eliminate_list (f, i, &rows, n_groups);
  return compute_survivors (f, &rows, n_groups);
}

/* Rows @y..@last. If elimination rules next to nothing out, the next few rows
 * do without. */
static void
scan_some (Full *f, gint32 y, gint32 last)
{
  gint32 width = f->s->rect.right - f->s->rect.left + 1;

  while (y <= last) {
    gint32 n = MIN (f->rows, last - y + 1), computed = scan_rows (f, y, n);

    y += n;
    f->rows = MIN (2 * f->rows, MOST_ROWS);
    if (4 * computed <= 3 * width * n)
      continue;
    f->rows = 1;
    for (n = MIN (VAIN_ROWS, last - y + 1); n > 0; n--)
      scan_whole_row (f, y++);
  }
}

/* All rows; those round the best first, since what is found there rules out
 * more of the others. */
static void
scan_from_best (Full *f)
{
  MotionRect r = f->s->rect;
  gint32 near = tie_point_of (f->best).y;
  gint32 from = MAX (near - NEAR_ROWS, r.top);
  gint32 to = MIN (near + NEAR_ROWS, r.bottom);

  scan_some (f, from, to);
  scan_some (f, r.top, from - 1);
  scan_some (f, to + 1, r.bottom);
}

/* --- where to begin ------------------------------------------------------------ */

/* Downhill by the four neighbours. */
static void
descend_from_best (Full *f)
{
  static const gint8 dx[4] = { 0, -1, 1, 0 }, dy[4] = { -1, 0, 0, 1 };
  guint64 from;

  do {
    MotionPoint c = tie_point_of (f->best);

    from = f->best;
    for (guint i = 0; i < 4; i++)
      if (motion_search_allows (f->s, c.x + dx[i], c.y + dy[i]))
        offer_computed_cost (f, c.x + dx[i], c.y + dy[i]);
  } while (f->best != from);
}

static void
offer_point (Full *f, MotionPoint p)
{
  offer_computed_cost (f, p.x, p.y);
}

/* A coarse grid, for blocks that nothing near fits. */
static void
offer_grid (Full *f)
{
  MotionRect r = f->s->rect;
  gint32 spacing = MAX ((gint32) f->s->params->config.range / 4, 1);

  for (gint32 y = r.top + spacing / 2; y <= r.bottom; y += spacing)
    for (gint32 x = r.left + spacing / 2; x <= r.right; x += spacing)
      offer_computed_cost (f, x, y);
}

/* A good candidate to begin with rules most others out. Blocks of the tile that
 * are done may be looked at: they decide what is computed, not what is found. */
static void
find_seeds (Full *f)
{
  MotionCpuSearch *s = f->s;
  MotionPoint p;

  offer_computed_cost (f, 0, 0);
  if (motion_search_prior (s, s->column, s->row, &p))
    offer_point (f, p);
  if (s->x > s->tile_x)
    offer_point (f, motion_search_from (s, s->vectors, s->column - 1, s->row));
  if (s->y > s->tile_y)
    offer_point (f, motion_search_from (s, s->vectors, s->column, s->row - 1));
  descend_from_best (f);
  if ((f->best >> ORDER_BITS) > (guint64) (POOR * s->w * s->h)) {
    offer_grid (f);
    descend_from_best (f);
  }
}

/* --- the method ---------------------------------------------------------------- */

/* The block's own sums on level @i; those of the next finer one are there. */
static void
sum_own (Full *f, guint i, guint16 own[MOTION_CPU_LEVELS][8][8])
{
  const MotionCpuSearch *s = f->s;
  const MotionCpuLevel *level = &s->params->levels[i];
  gint32 size = (gint32) level->size;

  for (gint32 y = 0; size * (y + 1) <= s->h; y++) {
    for (gint32 x = 0; size * (x + 1) <= s->w; x++) {
      const guint8 *at =
          s->block + s->block_stride * (gsize) (size * y) + size * x;
      guint16 (*finer)[8] = own[i + 1];
      guint32 sum = 0;

      if (i + 1 < s->params->n_levels)
        sum = (finer[2 * y][2 * x] >> level->shift)
              + (finer[2 * y][2 * x + 1] >> level->shift)
              + (finer[2 * y + 1][2 * x] >> level->shift)
              + (finer[2 * y + 1][2 * x + 1] >> level->shift);
      else
        sum = motion_sum (at, s->block_stride, size) >> level->shift;
      own[i][y][x] = (guint16) sum;
    }
  }
}

/* The squares of each level that lie in the block. */
static void
init_bounds (Full *f)
{
  const MotionCpuSearch *s = f->s;
  const MotionCpuParams *params = s->params;
  gssize stride = (gssize) params->sums_stride;
  gint32 range = (gint32) params->config.range;
  gssize place = stride * (s->y - s->tile_y + range) + s->x - s->tile_x + range;
  guint16 own[MOTION_CPU_LEVELS][8][8];

  for (guint i = params->n_levels; i-- > 0;)
    sum_own (f, i, own);
  for (guint i = 0; i < params->n_levels; i++) {
    const MotionCpuLevel *level = &params->levels[i];
    MotionCpuBound *b = &f->bounds[f->n_bounds];
    gint32 size = (gint32) level->size;

    b->n = 0;
    b->unit = level->unit;
    b->slack = level->slack;
    b->sums = s->scratch->sums[i] + place;
    for (gint32 y = 0; size * (y + 1) <= s->h; y++) {
      for (gint32 x = 0; size * (x + 1) <= s->w; x++) {
        b->offsets[b->n] = (stride * y + x) * size;
        b->own[b->n++] = WORDS_SET (own[i][y][x]);
      }
    }
    f->n_bounds += b->n > 0;
  }
}

static void
full_init_block (Full *f, MotionCpuSearch *s)
{
  guint16 *bits = s->scratch->bits_x;

  f->s = s;
  f->best = f->second = NO_KEY;
  f->shortest = s->params->config.tie == MOTION_TIE_SHORT;
  f->lambda = s->params->config.lambda > 0;
  f->n_bounds = 0;
  f->rows = MOST_ROWS;
  f->bits_x = bits;
  for (gint32 x = s->rect.left; f->lambda && x <= s->rect.right; x++)
    *bits++ = s->params->bits[4 * x - s->prior.x];
}

static void
full_store_best (const Full *f)
{
  MotionCpuSearch *s = f->s;

  s->n_visited = f->second == NO_KEY ? 1 : 2;
  s->best = tie_point_of (f->best);
  s->best_cost = (guint32) (f->best >> ORDER_BITS);
  s->second = tie_point_of (f->second);
  s->second_cost = (guint32) (f->second >> ORDER_BITS);
}

void
MOTION_CPU (full_brute) (MotionCpuSearch *s)
{
  Full f;

  full_init_block (&f, s);
  scan_all (&f);
  full_store_best (&f);
}

void
MOTION_CPU (full) (MotionCpuSearch *s)
{
  Full f;

  full_init_block (&f, s);
  COUNT (0, 1);
  init_bounds (&f);
  find_seeds (&f);
  scan_from_best (&f);
  full_store_best (&f);
}
