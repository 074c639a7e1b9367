/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The CPU backend's passes over time, compiled once for each instruction set: samples
 * between the pixels, blocks in other frames, and the mean along the motion. */
#include "cuda/denoise/cpu/cpu.h"

/* --- samples between the pixels ------------------------------------------------ */

static void
make_halves (const DenoiseCpuPlane *plane, gint32 width, gint32 first, gint32 n)
{
  const gssize s = plane->stride;
  const gint32 left = -DENOISE_REACH - 4, right = width + DENOISE_REACH + 4;
  gint16 *row = g_new (gint16, (gsize) (right - left));

  for (gint32 i = 0; i < n; i++) {
    const gssize at = (first + i + left) * s;
    const guint16 *p = plane->samples[0] + at;
    guint16 *across = plane->samples[1] + at, *down = plane->samples[2] + at;
    guint16 *both = plane->samples[3] + at;

    for (gint32 x = left; x < right; x++)
      across[x] = (guint16) denoise_between (
          p[x - 2], p[x - 1], p[x], p[x + 1], p[x + 2], p[x + 3]);
    for (gint32 x = left; x < right; x++)
      down[x] = (guint16) denoise_between (
          p[x - 2 * s], p[x - s], p[x], p[x + s], p[x + 2 * s], p[x + 3 * s]);
    /* the samples below and half a pixel right, of the columns of down; its own
     * border repeats the edge */
    for (gint32 x = left; x < right; x++)
      row[x - left] = (gint16) down[denoise_clamp (x, left, right - 1)];
    for (gint32 x = left; x < right; x++) {
      const gint16 *r = row - left;
      const gint32 last = right - 1;

      both[x] = x - 2 >= left && x + 3 <= last ? (guint16) denoise_between (
                    r[x - 2], r[x - 1], r[x], r[x + 1], r[x + 2], r[x + 3])
                                               : down[x];
    }
  }
  g_free (row);
}

/* --- blocks in other frames ------------------------------------------------------ */

/* Samples of a component of the reference at a vector, for the sample (@x, @y). */
typedef struct {
  const guint16 *first, *second;
} Position;

static inline Position
find_position (
    const DenoiseCpuPlane *plane, gint32 x, gint32 y, gint32 vx, gint32 vy)
{
  const DenoisePhase p = denoise_phase (vx, vy);
  const gssize at = (y + (vy >> 2)) * plane->stride + x + (vx >> 2);

  return (Position){ plane->samples[p.first] + at + p.first_y * plane->stride
                         + p.first_x,
    plane->samples[p.second] + at + p.second_y * plane->stride + p.second_x };
}

/* The sum of squared differences of w x h samples. */
static inline guint32
sum_squares (const guint16 *current, gssize current_stride, Position p,
    gssize stride, gint32 w, gint32 h)
{
  gint32 sum = 0;

  for (gint32 y = 0; y < h; y++) {
    for (gint32 x = 0; x < w; x++) {
      const guint16 mean = (guint16) ((p.first[x] + p.second[x] + 1) >> 1);
      const gint16 d = (gint16) (current[x] - mean);

      sum += (gint32) d * d;
    }
    current += current_stride;
    p.first += stride;
    p.second += stride;
  }
  return (guint32) sum;
}

/* The search of a block.
 * @x, @y: first sample
 * @best_x, @best_y, @cost: so far */
typedef struct {
  const DenoiseCpuSearch *search;
  gint32 x, y;
  gint32 best_x, best_y;
  gint64 cost;
  guint32 ssd;
} Block;

/* Takes the vector if it is better by more than chance; a position between the pixels
 * has less noise, which must not make it better. */
static inline void
try_vector (Block *b, gint32 vx, gint32 vy, gint64 chance)
{
  const DenoiseCpuSearch *s = b->search;
  const gssize stride = s->current->stride;
  guint32 ssd;
  gint64 cost;

  vx = denoise_limit (vx, b->x, s->shapes->width);
  vy = denoise_limit (vy, b->y, s->shapes->height);
  ssd = sum_squares (s->current->samples[0] + b->y * stride + b->x, stride,
      find_position (s->reference, b->x, b->y, vx, vy), s->reference->stride,
      DENOISE_BLOCK, DENOISE_BLOCK);
  cost = (gint64) ssd
         + (gint64) s->noise * s->noise * (64 - denoise_gain (vx, vy)) / 4;
  if (cost + chance >= b->cost)
    return;
  b->cost = cost;
  b->ssd = ssd;
  b->best_x = vx;
  b->best_y = vy;
}

/* The field's block at sample (@x, @y) */
static inline gint32
find_field_block (const DenoiseCpuSearch *s, gint32 x, gint32 y)
{
  return denoise_clamp (y >> 4, 0, s->rows - 1) * s->columns
         + denoise_clamp (x >> 4, 0, s->columns - 1);
}

static inline const CvisMotionVector *
get_vector (const DenoiseCpuSearch *s, gint32 x, gint32 y)
{
  return &s->vectors[find_field_block (s, x, y)];
}

static inline void
try_candidates (Block *b, gint32 index, gint64 chance)
{
  const DenoiseCpuSearch *s = b->search;
  const gint32 x = b->x + DENOISE_CELL, y = b->y + DENOISE_CELL;

  if (s->from != NULL) {
    const DenoiseMatch *m = &s->from[index];
    const CvisMotionVector *v =
        get_vector (s, x + (m->x >> 2), y + (m->y >> 2));

    try_vector (b, m->x + 2 * v->x, m->y + 2 * v->y, 0);
    try_vector (b, 2 * m->x, 2 * m->y, chance);
  } else {
    for (gint32 i = 0; i < 4; i++) {
      const CvisMotionVector *v =
          get_vector (s, x + (i & 1 ? 4 : -4), y + (i & 2 ? 4 : -4));

      if (i == 0 || 2 * v->x != b->best_x || 2 * v->y != b->best_y)
        try_vector (b, 2 * v->x, 2 * v->y, i == 0 ? 0 : chance);
    }
  }
  if (b->best_x != 0 || b->best_y != 0)
    try_vector (b, 0, 0, chance);
}

/* The greatest of the field's four blocks round the middle, and not more than that of
 * the match that the search started from */
static inline gint32
find_confidence (const Block *b, gint32 index)
{
  const DenoiseCpuSearch *s = b->search;
  const DenoiseMatch *from = s->from != NULL ? &s->from[index] : NULL;
  const gint32 mx = from != NULL ? from->x : 0, my = from != NULL ? from->y : 0;
  gint32 best = 0;

  for (gint32 i = 0; i < 4; i++) {
    const gint32 at =
        find_field_block (s, b->x + DENOISE_CELL + (mx >> 2) + (i & 1 ? 4 : -4),
            b->y + DENOISE_CELL + (my >> 2) + (i & 2 ? 4 : -4));
    const CvisMotionVector *v = &s->vectors[at];

    best =
        MAX (best, denoise_support (s->blocks[at].flags,
                       mx + 2 * v->x - b->best_x, my + 2 * v->y - b->best_y));
  }
  return from != NULL ? MIN (best, from->confidence) : best;
}

static void
store_match (const Block *b, gint32 index)
{
  const DenoiseCpuSearch *s = b->search;
  const gssize stride = s->current->stride;
  DenoiseMatch *m = &s->into[index];

  *m = (DenoiseMatch){ .x = (gint16) b->best_x,
    .y = (gint16) b->best_y,
    .confidence = find_confidence (b, index) };
  for (gint32 i = 0; i < 4; i++) {
    const gint32 x = b->x + (i & 1) * DENOISE_CELL;
    const gint32 y = b->y + (i >> 1) * DENOISE_CELL;

    m->cells[i] = sum_squares (s->current->samples[0] + y * stride + x, stride,
        find_position (s->reference, x, y, m->x, m->y), s->reference->stride,
        DENOISE_CELL, DENOISE_CELL);
  }
  for (gint32 c = 1; c < s->n_components; c++) {
    const DenoiseShape *shape = &s->shapes[c];
    const DenoiseCpuPlane *plane = &s->current[c];
    const gint32 x = b->x >> shape->sub_x, y = b->y >> shape->sub_y;

    m->chroma[c - 1] =
        sum_squares (plane->samples[0] + y * plane->stride + x, plane->stride,
            find_position (&s->reference[c], x, y,
                denoise_subsample (m->x, shape->sub_x),
                denoise_subsample (m->y, shape->sub_y)),
            s->reference[c].stride, DENOISE_BLOCK >> shape->sub_x,
            DENOISE_BLOCK >> shape->sub_y);
  }
}

static void
search_blocks (const DenoiseCpuSearch *s, gint32 first, gint32 n)
{
  const gint64 chance = (gint64) s->noise * s->noise * 3 / 2 + 256;
  const guint32 enough = (guint32) (s->noise * s->noise) * 28;

  for (gint32 row = first; row < first + n; row++)
    for (gint32 column = 0; column < s->blocks_across; column++) {
      const gint32 index = row * s->blocks_across + column;
      Block b = { .search = s,
        .x = (column - 1) * DENOISE_CELL,
        .y = (row - 1) * DENOISE_CELL,
        .cost = G_MAXINT64 / 2 };

      try_candidates (&b, index, chance);
      for (gint32 step = 2; step > 0 && b.ssd > enough; step--) {
        const gint32 x = b.best_x, y = b.best_y;

        for (gint32 i = 0; i < 9; i++)
          if (i != 4)
            try_vector (
                &b, x + (i % 3 - 1) * step, y + (i / 3 - 1) * step, chance);
      }
      store_match (&b, index);
    }
}

/* --- the mean along the motion ----------------------------------------------------- */

/* A block that covers a cell, for one reference */
typedef struct {
  Position position;
  gint32 part;
} Covering;

/* Weight of a reference for cell @cell of its block @m, 1/256. @noise: of each component */
static gint32
weigh_reference (const DenoiseCpuMean *mean, const gint32 *noise,
    const DenoiseMatch *m, gint32 cell, gint32 var)
{
  const gint32 gain = denoise_gain (m->x & 3, m->y & 3) * var >> 8;
  const guint32 expected = denoise_expect (noise[0], gain);
  const guint32 sum = m->cells[0] + m->cells[1] + m->cells[2] + m->cells[3];
  const guint32 block = denoise_ratio (sum, 8, expected, 0);
  const guint32 own =
      denoise_ratio (m->cells[cell], 6, expected, DENOISE_SLACK);
  gint32 w = denoise_weight_of_ratio (
      denoise_ratio_of_match (MAX (block, own), m->confidence));

  /* the same noise too, as in a repeated frame: nothing to gain */
  if ((mean->component == 0 ? sum : m->chroma[mean->component - 1]) == 0)
    return 0;
  if (mean->component > 0) {
    const DenoiseShape *shape = &mean->shapes[mean->component];
    const guint c = mean->component;
    const gint32 chroma_gain =
        denoise_gain (denoise_subsample (m->x, shape->sub_x) & 3,
            denoise_subsample (m->y, shape->sub_y) & 3)
            * var
        >> 8;

    w = w
            * denoise_weight_of_ratio (denoise_ratio (m->chroma[c - 1],
                8 - shape->sub_x - shape->sub_y,
                denoise_expect (noise[c], chroma_gain), DENOISE_SLACK))
        >> 8;
  }
  return w;
}

/* Variance of the noise of reference @r around block (@x, @y) at match @m, 1/256. */
static gint32
get_left (const DenoiseCpuMean *mean, const DenoiseCpuReference *r, gint32 x,
    gint32 y, const DenoiseMatch *m)
{
  const guint16 *left = r->left[mean->component];
  const gint32 column = denoise_cell_at (x * 8 + 4, m->x, mean->cells_across);
  const gint32 row = denoise_cell_at (y * 8 + 4, m->y, mean->cells_down);

  return left != NULL ? left[row * mean->cells_across + column] : 256;
}

/* Whether the motion round a cell is smooth: the 4 x 4 blocks round it have nearly the same
 * vector. */
static gboolean
is_steady (const DenoiseCpuMean *mean, const DenoiseMatch *matches,
    gint32 column, gint32 row)
{
  const gint32 across = mean->cells_across + 1;
  const DenoiseMatch *own = &matches[row * across + column];

  for (gint32 i = 0; i < 16; i++) {
    const gint32 x = denoise_round_cell (column, i & 3, mean->cells_across);
    const gint32 y = denoise_round_cell (row, i >> 2, mean->cells_down);

    if (!denoise_is_steady (own, &matches[y * across + x]))
      return FALSE;
  }
  return TRUE;
}

/* Adds the mean over the references of one block to the cell at (@x, @y) samples. */
static inline void
add_block (const guint16 *current, gssize current_stride,
    const Covering *coverings, guint n, gssize stride, gint32 *sums, gint32 w,
    gint32 h, const gint32 *across, const gint32 *down)
{
  gint32 total[64];

  for (gint32 y = 0; y < h; y++)
    for (gint32 x = 0; x < w; x++)
      total[y * w + x] = DENOISE_PARTS * current[y * current_stride + x];
  for (guint k = 0; k < n; k++) {
    const gint32 part = coverings[k].part;
    const guint16 *a = coverings[k].position.first;
    const guint16 *b = coverings[k].position.second;

    if (part == 0)
      continue;
    for (gint32 y = 0; y < h; y++)
      for (gint32 x = 0; x < w; x++)
        total[y * w + x] +=
            part
            * (((a[y * stride + x] + b[y * stride + x] + 1) >> 1)
                - current[y * current_stride + x]);
  }
  for (gint32 y = 0; y < h; y++)
    for (gint32 x = 0; x < w; x++)
      sums[y * w + x] += across[x] * down[y] * total[y * w + x];
}

/* The mean of a cell of w x h samples. */
static inline void
mean_of_cell (
    const DenoiseCpuMean *mean, gint32 column, gint32 row, gint32 w, gint32 h)
{
  const DenoiseShape *shape = &mean->shapes[mean->component];
  const DenoiseCpuPlane *current = &mean->current[mean->component];
  const gint32 x0 = column * w, y0 = row * h;
  const guint16 *from = current->samples[0] + y0 * current->stride + x0;
  const gint32 first = row * (mean->cells_across + 1) + column;
  const gint32 *noises[DENOISE_MAX_REFERENCES];
  gint32 sums[64] = { 0 }, left = 0;

  for (guint k = 0; k < mean->n_references; k++)
    noises[k] =
        denoise_knows_steady (mean->noise, mean->steady_noise)
                && is_steady (mean, mean->references[k].matches, column, row)
            ? mean->steady_noise
            : mean->noise;

  for (gint32 i = 0; i < 4; i++) {
    /* the block that begins at (column - 1 + (i & 1), ..) has the cell as its last one
     * or its first one */
    const gint32 index = first + (i >> 1) * (mean->cells_across + 1) + (i & 1);
    gint32 weights[DENOISE_MAX_REFERENCES], vars[DENOISE_MAX_REFERENCES];
    gint32 sum = 256, own = DENOISE_PARTS, across[8], down[8], variance = 0;
    Covering coverings[DENOISE_MAX_REFERENCES];
    gssize stride = current->stride;

    for (guint k = 0; k < mean->n_references; k++) {
      const DenoiseCpuReference *r = &mean->references[k];
      const DenoiseMatch *m = &r->matches[index];

      vars[k] = get_left (mean, r, column, row, m);
      weights[k] = weigh_reference (mean, noises[k], m, 3 - i, vars[k]) * 256
                   / MAX (vars[k], 16);
      sum += weights[k];
      stride = r->planes[mean->component].stride;
      coverings[k].position = find_position (&r->planes[mean->component], x0,
          y0, denoise_subsample (m->x, shape->sub_x),
          denoise_subsample (m->y, shape->sub_y));
    }
    for (guint k = 0; k < mean->n_references; k++) {
      coverings[k].part = denoise_part (weights[k], sum);
      own -= coverings[k].part;
      variance += coverings[k].part * coverings[k].part * vars[k] >> 8;
    }
    left += (variance + own * own) >> 8;
    for (gint32 x = 0; x < w; x++)
      across[x] = i & 1 ? 16 - denoise_window (x, shape->sub_x)
                        : denoise_window (x, shape->sub_x);
    for (gint32 y = 0; y < h; y++)
      down[y] = i & 2 ? 16 - denoise_window (y, shape->sub_y)
                      : denoise_window (y, shape->sub_y);
    add_block (from, current->stride, coverings, mean->n_references, stride,
        sums, w, h, across, down);
  }
  mean->left[row * mean->cells_across + column] = (guint16) ((left + 2) >> 2);
  for (gint32 y = 0; y < h; y++)
    for (gint32 x = 0; x < w; x++)
      mean->into.samples[0][(y0 + y) * mean->into.stride + x0 + x] =
          (guint16) ((sums[y * w + x] + 32768) >> 16);
}

static void
mean_over_time (const DenoiseCpuMean *mean, gint32 first, gint32 n)
{
  const DenoiseShape *shape = &mean->shapes[mean->component];
  const gint32 w = 1 << shape->cell_x, h = 1 << shape->cell_y;

  for (gint32 row = first; row < first + n; row++)
    for (gint32 column = 0; column < mean->cells_across; column++)
      if (w == 8 && h == 8)
        mean_of_cell (mean, column, row, 8, 8);
      else if (w == 4 && h == 4)
        mean_of_cell (mean, column, row, 4, 4);
      else
        mean_of_cell (mean, column, row, w, h);
}

const DenoiseCpuKernels DENOISE_CPU_NAME (
    denoise_cpu_kernels, DENOISE_CPU_LEVEL) = { make_halves, search_blocks,
  mean_over_time, DENOISE_CPU_NAME (denoise_cpu_shrink, DENOISE_CPU_LEVEL),
  DENOISE_CPU_NAME (denoise_cpu_group, DENOISE_CPU_LEVEL) };
