/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Global motion of the frame from the blocks' vectors: a similarity
 *   v (p) = (zoom R (rotation) - 1) p + (x, y), p relative to the frame's centre,
 * fitted by least squares to the blocks that agree with it, starting from
 * the most frequent vector. */
#include <math.h>

#include "cuda/motion/constant.h"
#include "cuda/motion/summary.h"

/* Components are clamped to this range, whole pixels, for the histogram;
 * searches find at most half of it. */
#define REACH 256

/* Distance from the model, in pixels, up to which a block agrees. The first
 * tolerances are wide, because zoom and rotation are not known yet. The last
 * one defines global_share. */
static const gdouble tolerances[] = { 8.0, 4.0, 2.0, 1.0, 1.0 };

/* v = (a x - b y + tx, b x + a y + ty) */
typedef struct {
  gdouble a, b, tx, ty;
} Model;

/* A block that is used: its middle relative to the frame's, and its vector, in pixels and
 * in quarter pixels */
typedef struct {
  gdouble x, y, vx, vy;
  CvisMotionVector vector;
} Point;

/* @x: middles of the columns, relative to the frame's */
typedef struct {
  const MotionConfig *config;
  const MotionField *field;
  guint columns, rows;
  gdouble *x;
  Point *points;
  guint n;
} Blocks;

/* A mean deviation below this, in 1/256 of the range, is flat: its vector is
 * arbitrary. */
#define TEXTURE 2

/* Blocks whose vector says nothing about the frame's motion */
#define UNUSABLE (CVIS_MOTION_BLOCK_INTRA_LIKE | CVIS_MOTION_BLOCK_CONSTANT)

/* @texture: blocks with a smaller mean deviation (intra), or unconfident ones, are not
 *   used; 0: all are */
static gboolean
is_used (const Blocks *blocks, guint i, guint samples, guint texture)
{
  const CvisMotionBlock *block = &blocks->field->blocks[i];
  gint confidence = cvis_motion_block_get_confidence (block);

  if (confidence >= 0 && texture > 0)
    return !(block->flags & CVIS_MOTION_BLOCK_CONSTANT)
           && confidence >= MOTION_CONFIDENT;
  return !(block->flags & UNUSABLE)
         && block->intra >= (texture * samples) << (blocks->config->depth - 8);
}

/* Samples of a row or column of blocks. */
static guint
get_side (guint size, guint whole, guint i)
{
  return MIN (size, whole - i * size);
}

/* Middle of a row or column of blocks, relative to the frame's, pixels */
static gdouble
get_middle (guint size, guint whole, guint i)
{
  return i * size + get_side (size, whole, i) / 2.0 - whole / 2.0;
}

static Point
make_point (const Blocks *blocks, guint i, gdouble x, gdouble y)
{
  const CvisMotionVector v = blocks->field->vectors[i];

  return (
      Point){ .x = x, .y = y, .vx = v.x / 4.0, .vy = v.y / 4.0, .vector = v };
}

static void
list_points (Blocks *blocks, guint texture)
{
  const MotionConfig *config = blocks->config;
  const guint size = config->block_size;
  guint i = 0, n = 0;

  for (guint row = 0; row < blocks->rows; row++) {
    const guint height = get_side (size, config->height, row);
    const gdouble y = get_middle (size, config->height, row);

    for (guint column = 0; column < blocks->columns; column++, i++)
      if (is_used (blocks, i, get_side (size, config->width, column) * height,
              texture))
        blocks->points[n++] = make_point (blocks, i, blocks->x[column], y);
  }
  blocks->n = n;
}

static gboolean
agrees_with_model (const Model *m, gdouble tolerance, const Point *p)
{
  gdouble dx = m->a * p->x - m->b * p->y + m->tx - p->vx;
  gdouble dy = m->b * p->x + m->a * p->y + m->ty - p->vy;

  return dx * dx + dy * dy <= tolerance * tolerance;
}

/* --- initial model ------------------------------------------------------- */

/* The range that all vectors lie in, whole pixels, at most REACH: a table for any
 * vector has a megabyte, which would leave no cache to a decoder beside. */
static gint
find_reach (const Blocks *blocks)
{
  gint reach = 0;

  for (guint i = 0; i < blocks->n; i++) {
    const CvisMotionVector *v = &blocks->points[i].vector;

    reach = MAX (reach, MAX (ABS (v->x), ABS (v->y)));
  }
  return MIN ((reach + 2) >> 2, REACH);
}

/* Histogram entry of a vector; never at the edge of the table. */
static guint
get_bin (const CvisMotionVector *v, gint reach)
{
  gint x = CLAMP ((v->x + 2) >> 2, -reach, reach) + reach + 1;
  gint y = CLAMP ((v->y + 2) >> 2, -reach, reach) + reach + 1;

  return (guint) (y * (2 * reach + 3) + x);
}

/* @side: of the table */
static guint
count_near (const guint32 *table, guint side, guint bin)
{
  guint sum = 0;

  for (guint row = bin - side; row <= bin + side; row += side)
    sum += table[row - 1] + table[row] + table[row + 1];
  return sum;
}

/* The vector with the most blocks within a pixel each way; of equals the
 * first in raster order of the blocks. Returns: FALSE if no block is used */
static gboolean
find_mode (const Blocks *blocks, Model *model)
{
  const gint reach = find_reach (blocks);
  const guint side = (guint) (2 * reach + 3);
  guint32 *table = g_new0 (guint32, side * side);
  guint most = 0;

  for (guint i = 0; i < blocks->n; i++)
    table[get_bin (&blocks->points[i].vector, reach)]++;
  for (guint i = 0; i < blocks->n; i++) {
    const Point *p = &blocks->points[i];
    guint count = count_near (table, side, get_bin (&p->vector, reach));

    if (count > most) {
      most = count;
      *model = (Model){ .tx = p->vx, .ty = p->vy };
    }
  }
  g_free (table);
  return most > 0;
}

/* --- least squares ----------------------------------------------------------- */

typedef struct {
  guint n;
  gdouble x, y, vx, vy; /* sums */
  gdouble pp;           /* of |p|^2 */
  gdouble dot, cross;   /* of p . v and p x v */
} Sums;

static void
add_point (const Point *p, Sums *s)
{
  s->n++;
  s->x += p->x;
  s->y += p->y;
  s->vx += p->vx;
  s->vy += p->vy;
  s->pp += p->x * p->x + p->y * p->y;
  s->dot += p->x * p->vx + p->y * p->vy;
  s->cross += p->x * p->vy - p->y * p->vx;
}

/* Blocks needed, at different positions, to fit zoom and rotation. */
#define FEWEST 4

static Model
solve_least_squares (const Blocks *blocks, const Sums *s)
{
  gdouble size = blocks->config->block_size;
  gdouble spread = s->pp - (s->x * s->x + s->y * s->y) / s->n;
  Model m = { 0 };

  if (s->n >= FEWEST && spread >= s->n * size * size) {
    m.a = (s->dot - (s->x * s->vx + s->y * s->vy) / s->n) / spread;
    m.b = (s->cross - (s->x * s->vy - s->y * s->vx) / s->n) / spread;
  }
  m.tx = (s->vx - m.a * s->x + m.b * s->y) / s->n;
  m.ty = (s->vy - m.b * s->x - m.a * s->y) / s->n;
  return m;
}

static void
fit_model (const Blocks *blocks, Model *model)
{
  for (guint k = 0; k < G_N_ELEMENTS (tolerances); k++) {
    Sums sums = { 0 };

    for (guint i = 0; i < blocks->n; i++)
      if (agrees_with_model (model, tolerances[k], &blocks->points[i]))
        add_point (&blocks->points[i], &sums);
    if (sums.n == 0)
      return;
    *model = solve_least_squares (blocks, &sums);
  }
}

/* Number of blocks, also flat and unconfident ones, that move as the model. */
static guint
count_agreeing (const Blocks *blocks, const Model *model)
{
  const gdouble tolerance = tolerances[G_N_ELEMENTS (tolerances) - 1];
  const CvisMotionBlock *block = blocks->field->blocks;
  guint count = 0, i = 0;

  for (guint row = 0; row < blocks->rows; row++) {
    const gdouble y =
        get_middle (blocks->config->block_size, blocks->config->height, row);

    for (guint column = 0; column < blocks->columns; column++, i++) {
      const Point point = make_point (blocks, i, blocks->x[column], y);

      count += (guint) (agrees_with_model (model, tolerance, &point)
                        & !(block[i].flags & UNUSABLE));
    }
  }
  return count;
}

void
motion_find_global (const MotionConfig *config, const MotionField *field,
    CvisMotionSummary *into)
{
  Blocks blocks = {
    .config = config,
    .field = field,
    .columns = motion_config_get_columns (config),
    .rows = motion_config_get_rows (config),
  };
  Model model = { 0 };
  guint used;
  guint64 samples;

  blocks.points = g_new (Point, blocks.columns * blocks.rows);
  blocks.x = g_new (gdouble, blocks.columns);
  for (guint i = 0; i < blocks.columns; i++)
    blocks.x[i] = get_middle (config->block_size, config->width, i);
  list_points (&blocks, TEXTURE);
  if (!find_mode (&blocks, &model)) {
    list_points (&blocks, 0); /* the whole frame is flat: use all blocks */
    find_mode (&blocks, &model);
  }
  fit_model (&blocks, &model);
  into->global_x = model.tx;
  into->global_y = model.ty;
  into->global_zoom = hypot (1.0 + model.a, model.b);
  into->global_rotation = atan2 (model.b, 1.0 + model.a);
  used = motion_count_used (config, field, &samples);
  into->global_share =
      used > 0 ? (gdouble) count_agreeing (&blocks, &model) / used : 0.0;
  g_free (blocks.points);
  g_free (blocks.x);
}
