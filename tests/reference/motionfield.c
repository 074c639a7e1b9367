/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The plain C reference implementation of the regularised field: the section of
 * docs/design/motion.md sentence by sentence. */
#include "cuda/motion/field.h"

#include <string.h>

#include "motionsamples.h"

#define MAX_CANDIDATES 40

typedef MotionFieldVector Vector;
typedef MotionFieldWindow Window;

static const gint8 neighbours[8][2] = { { -1, -1 }, { 0, -1 }, { 1, -1 },
  { -1, 0 }, { 1, 0 }, { -1, 1 }, { 0, 1 }, { 1, 1 } };

/* Blocks of a level and their vectors. */
typedef struct {
  gint32 columns, rows, n;
  Vector *vectors;
} Grid;

typedef struct {
  const MotionConfig *config;
  MotionPicture *current[MOTION_FIELD_LEVELS]; /* [0]: after the light */
  MotionPicture *reference[MOTION_FIELD_LEVELS];
  gint32 noise;
  MotionFieldArea area;
  Grid grids[MOTION_FIELD_LEVELS];
  MotionFieldEvidence *evidence; /* of the blocks of level 0 */
} Field;

/* --- pictures ---------------------------------------------------------------- */

static MotionPicture *
new_picture (guint width, guint height)
{
  MotionPicture *p = g_new0 (MotionPicture, 1);

  p->width = width;
  p->height = height;
  p->depth = 8;
  p->search = g_new (guint16, width * height);
  return p;
}

static MotionPicture *
copy_picture (const MotionPicture *from)
{
  MotionPicture *p = new_picture (from->width, from->height);

  memcpy (p->search, from->search, p->width * p->height * sizeof *p->search);
  return p;
}

/* The mean of each 2 x 2 samples. */
static MotionPicture *
reduce_picture (const MotionPicture *from)
{
  MotionPicture *p =
      new_picture ((from->width + 1) / 2, (from->height + 1) / 2);
  Plane plane = search_plane (from);

  for (gint32 y = 0; y < (gint32) p->height; y++)
    for (gint32 x = 0; x < (gint32) p->width; x++)
      p->search[y * (gint32) p->width + x] =
          (guint16) ((sample (&plane, 2 * x, 2 * y)
                         + sample (&plane, 2 * x + 1, 2 * y)
                         + sample (&plane, 2 * x, 2 * y + 1)
                         + sample (&plane, 2 * x + 1, 2 * y + 1) + 2)
                     >> 2);
  return p;
}

/* --- noise ------------------------------------------------------------------- */

/* Returns: FALSE if the square does not count */
static gboolean
measure_square (const Plane *p, gint32 left, gint32 top, gint32 *noise)
{
  const gint32 size = MOTION_FIELD_NOISE_BLOCK;
  gint32 least = 255, most = 0, sum = 0;

  for (gint32 y = top; y < top + size; y++) {
    for (gint32 x = left; x < left + size; x++) {
      least = MIN (least, sample (p, x, y));
      most = MAX (most, sample (p, x, y));
    }
  }
  for (gint32 y = top + 1; y < top + size - 1; y++) {
    for (gint32 x = left + 1; x < left + size - 1; x++) {
      gint32 across[3];

      for (gint32 j = -1; j <= 1; j++)
        across[j + 1] = sample (p, x - 1, y + j) - 2 * sample (p, x, y + j)
                        + sample (p, x + 1, y + j);
      sum += ABS (across[0] - 2 * across[1] + across[2]);
    }
  }
  *noise = motion_field_noise (sum);
  return least > 0 && most < 255 && least < most;
}

gint32
motion_reference_noise (const MotionPicture *picture)
{
  const gint32 size = MOTION_FIELD_NOISE_BLOCK;
  Plane p = search_plane (picture);
  guint counts[MOTION_FIELD_NOISE_MAX + 1] = { 0 }, n = 0, below = 0;
  gint32 noise;

  for (gint32 y = 0; y + size <= p.height; y += size) {
    for (gint32 x = 0; x + size <= p.width; x += size) {
      if (measure_square (&p, x, y, &noise)) {
        counts[noise]++;
        n++;
      }
    }
  }
  if (n == 0)
    return 0;
  for (noise = 0;; noise++) {
    below += counts[noise];
    if (below > n / 10)
      return noise;
  }
}

/* --- bars -------------------------------------------------------------------- */

/* Whether the row (or column) @line is flat and the same in both frames. */
static gboolean
is_bar (const Field *f, gboolean column, gint32 line)
{
  const MotionPicture *pictures[] = { f->current[0], f->reference[0] };
  gint32 least = 255, most = 0;

  for (guint i = 0; i < 2; i++) {
    Plane p = search_plane (pictures[i]);
    gint32 n = column ? p.height : p.width;

    for (gint32 k = 0; k < n; k++) {
      gint32 value = column ? sample (&p, line, k) : sample (&p, k, line);

      least = MIN (least, value);
      most = MAX (most, value);
    }
  }
  return most - least <= MOTION_FIELD_BAR;
}

static void
find_area (Field *f)
{
  gint32 w = (gint32) f->config->width, h = (gint32) f->config->height;
  MotionFieldArea a = { 0, 0, w, h };

  while (a.top < h / 2 && is_bar (f, FALSE, a.top))
    a.top++;
  while (a.bottom > h / 2 && is_bar (f, FALSE, a.bottom - 1))
    a.bottom--;
  while (a.left < w / 2 && is_bar (f, TRUE, a.left))
    a.left++;
  while (a.right > w / 2 && is_bar (f, TRUE, a.right - 1))
    a.right--;
  if (a.left >= w / 2 || a.top >= h / 2)
    a = (MotionFieldArea){ 0, 0, w, h };
  f->area = a;
}

/* --- the data cost -------------------------------------------------------------- */

static Window
get_window (const Field *f, guint level, gint32 column, gint32 row)
{
  return motion_field_window (f->config, &f->area, level, column, row);
}

/* In 1/256 levels for a whole block: on level 0 the mean difference; above, the
 * mean difference without the difference of the means, and a cost of the latter, of
 * the samples that lie in the reference. */
static gint32
data_cost (const Field *f, guint level, Window win, Vector v)
{
  Plane current = search_plane (f->current[level]);
  Plane reference = search_plane (f->reference[level]);
  Window part =
      level > 0 ? motion_field_inside (f->config, level, win, v) : win;
  gint32 size = motion_field_block (f->config, level), mean = 0, sum = 0;

  if (level > 0) {
    for (gint32 y = part.y; y < part.y + part.h; y++)
      for (gint32 x = part.x; x < part.x + part.w; x++)
        sum += sample (&current, x, y) - sample (&reference, x + v.x, y + v.y);
    mean = motion_field_mean (sum, part.w * part.h);
    sum = 0;
  }
  for (gint32 y = part.y; y < part.y + part.h; y++) {
    for (gint32 x = part.x; x < part.x + part.w; x++) {
      gint32 own = clip (&current, sample (&current, x, y) - mean);

      sum += ABS (own
                  - (level > 0 ? sample (&reference, x + v.x, y + v.y)
                               : sample_between (
                                   &reference, 4 * x + v.x, 4 * y + v.y)));
    }
  }
  return (sum * 256 / (size * size) + motion_field_mean_cost (mean))
         * (win.w * win.h) / (part.w * part.h);
}

/* The same on level 0. */
static gint32
data_cost_inside (const Field *f, Window win, Vector v)
{
  Window part = motion_field_inside (f->config, 0, win, v);

  return (gint32) ((gint64) data_cost (f, 0, part, v) * (win.w * win.h)
                   / (part.w * part.h));
}

/* --- smoothness ---------------------------------------------------------------- */

/* Eight times the weighted mean distance of @v from the neighbours' vectors.
 * @weights: (nullable): all equal */
static gint32
smoothness (const Grid *grid, const Vector *vectors, const gint32 *weights,
    gint32 column, gint32 row, Vector v, gint32 most)
{
  gint32 sum = 0, total = 0;

  for (guint k = 0; k < 8; k++) {
    gint32 x = column + neighbours[k][0], y = row + neighbours[k][1];
    gint32 i = y * grid->columns + x, weight;

    if (x < 0 || y < 0 || x >= grid->columns || y >= grid->rows)
      continue;
    weight = weights ? MOTION_FIELD_WEIGHT_MIN + weights[i] : 1;
    sum += weight * motion_field_distance (v, vectors[i], most);
    total += weight;
  }
  return total > 0 ? sum * 8 / total : 0;
}

/* --- the coarsest level ----------------------------------------------------------- */

static gint32
length2 (Vector v)
{
  return v.x * v.x + v.y * v.y;
}

/* Whether a candidate is better: less cost, or equal cost and shorter; the first in
 * raster order of (y, x) if equal. */
static gboolean
is_better (gint64 cost, Vector v, gint64 best_cost, Vector best)
{
  return cost < best_cost
         || (cost == best_cost && length2 (v) < length2 (best));
}

static void
search_coarsest (Field *f)
{
  const guint level = MOTION_FIELD_COARSEST;
  const Grid *grid = &f->grids[level];
  gint32 range = motion_field_range (f->config, level), side = 2 * range + 1;
  gint32 lambda = motion_field_lambda (f->config, level, f->noise);
  gint32 *costs = g_new (gint32, (gsize) grid->n * (gsize) (side * side));
  Vector *last = g_new (Vector, (gsize) grid->n), dominant = { 0, 0 };
  gint64 least = G_MAXINT64, standing = 0;

  for (gint32 i = 0; i < grid->n; i++) {
    Window win = get_window (f, level, i % grid->columns, i / grid->columns);

    for (gint32 k = 0; k < side * side; k++)
      costs[i * side * side + k] = data_cost (
          f, level, win, (Vector){ k % side - range, k / side - range });
  }
  for (gint32 k = 0; k < side * side; k++) {
    Vector v = { k % side - range, k / side - range };
    gint64 sum = 0;

    for (gint32 i = 0; i < grid->n; i++)
      sum += costs[i * side * side + k];
    if (v.x == 0 && v.y == 0)
      standing = sum;
    if (is_better (sum, v, least, dominant)) {
      least = sum;
      dominant = v;
    }
  }
  if (motion_field_keeps_zero (standing, least, grid->n))
    dominant = (Vector){ 0, 0 };
  for (gint32 i = 0; i < grid->n; i++)
    grid->vectors[i] = dominant;
  for (guint pass = 0; pass < MOTION_FIELD_COARSEST_PASSES; pass++) {
    memcpy (last, grid->vectors, (gsize) grid->n * sizeof *last);
    for (gint32 i = 0; i < grid->n; i++) {
      least = G_MAXINT64;
      for (gint32 k = 0; k < side * side; k++) {
        Vector v = { k % side - range, k / side - range };
        gint64 cost =
            8 * costs[i * side * side + k]
            + lambda
                  * (smoothness (grid, last, NULL, i % grid->columns,
                         i / grid->columns, v, MOTION_FIELD_REACH)
                      + MOTION_FIELD_EXPECTED
                            * motion_field_distance (
                                v, dominant, MOTION_FIELD_REACH))
            + lambda * MOTION_FIELD_SHORT * (ABS (v.x) + ABS (v.y)) / 64;

        if (is_better (cost, v, least, grid->vectors[i])) {
          least = cost;
          grid->vectors[i] = v;
        }
      }
    }
  }
  g_free (costs);
  g_free (last);
}

/* --- the expected vectors ----------------------------------------------------------- */

/* Weights and weighted vectors, summed over squares of blocks. */
typedef struct {
  gint64 weight, x, y;
} Cell;

typedef struct {
  gint32 columns, rows;
  Cell *cells;
  Vector *means; /* 1/16 units */
} Layer;

static Vector
interpolate (const Layer *above, gint32 x, gint32 y)
{
  gint32 x0 = x / 2, y0 = y / 2;
  gint32 x1 = motion_clamp (x & 1 ? x0 + 1 : x0 - 1, 0, above->columns - 1);
  gint32 y1 = motion_clamp (y & 1 ? y0 + 1 : y0 - 1, 0, above->rows - 1);
  const Vector *m = above->means;
  Vector a = m[y0 * above->columns + x0], b = m[y0 * above->columns + x1];
  Vector c = m[y1 * above->columns + x0], d = m[y1 * above->columns + x1];

  return (Vector){ (9 * a.x + 3 * b.x + 3 * c.x + d.x) >> 4,
    (9 * a.y + 3 * b.y + 3 * c.y + d.y) >> 4 };
}

/* @above: (nullable): the layer of larger squares */
static void
fill_layer (Layer *layer, const Layer *above)
{
  const gint64 full = MOTION_FIELD_FULL_WEIGHT;

  layer->means = g_new (Vector, (gsize) (layer->columns * layer->rows));
  for (gint32 i = 0; i < layer->columns * layer->rows; i++) {
    const Cell *cell = &layer->cells[i];
    Vector from = { 0, 0 };

    if (above)
      from = interpolate (above, i % layer->columns, i / layer->columns);
    if (cell->weight >= full)
      layer->means[i] = (Vector){ (gint32) (16 * cell->x / cell->weight),
        (gint32) (16 * cell->y / cell->weight) };
    else
      layer->means[i] = (Vector){
        (gint32) ((16 * cell->x + (full - cell->weight) * from.x) / full),
        (gint32) ((16 * cell->y + (full - cell->weight) * from.y) / full)
      };
  }
}

/* From the vectors of blocks with weight. */
static void
expect_vectors (const Grid *grid, const Vector *vectors, const gint32 *weights,
    Vector *expected)
{
  Layer layers[16] = { { grid->columns, grid->rows, NULL, NULL } };
  gint n = 1;

  layers[0].cells = g_new (Cell, (gsize) grid->n);
  for (gint32 i = 0; i < grid->n; i++)
    layers[0].cells[i] = (Cell){ weights[i], (gint64) weights[i] * vectors[i].x,
      (gint64) weights[i] * vectors[i].y };
  for (; layers[n - 1].columns > 1 || layers[n - 1].rows > 1; n++) {
    const Layer *below = &layers[n - 1];
    Layer *layer = &layers[n];

    layer->columns = (below->columns + 1) / 2;
    layer->rows = (below->rows + 1) / 2;
    layer->cells = g_new0 (Cell, (gsize) (layer->columns * layer->rows));
    for (gint32 i = 0; i < below->columns * below->rows; i++) {
      Cell *cell = &layer->cells[i / below->columns / 2 * layer->columns
                                 + i % below->columns / 2];

      cell->weight += below->cells[i].weight;
      cell->x += below->cells[i].x;
      cell->y += below->cells[i].y;
    }
  }
  for (gint i = n - 1; i >= 0; i--)
    fill_layer (&layers[i], i < n - 1 ? &layers[i + 1] : NULL);
  for (gint32 i = 0; i < grid->n; i++)
    expected[i] = (Vector){ (layers[0].means[i].x + 8) >> 4,
      (layers[0].means[i].y + 8) >> 4 };
  for (gint i = 0; i < n; i++) {
    g_free (layers[i].cells);
    g_free (layers[i].means);
  }
}

/* --- passes ------------------------------------------------------------------------- */

/* A level while it is searched.
 * @from: vectors of the last pass
 * @inherited: from the level above
 * @weights, @expected: %NULL before the second pass */
typedef struct {
  const Field *field;
  guint level;
  Grid *grid;
  Vector *from, *inherited, *expected;
  gint32 *weights;
  Vector dominant;
} Level;

static MotionRect
get_rect (const Level *l, gint32 column, gint32 row)
{
  const MotionConfig *config = l->field->config;
  gint32 range = motion_field_range (config, l->level);
  gint32 size = (gint32) config->block_size;
  gint32 x = column * size, y = row * size;
  MotionRect r = { -range, range, -range, range };

  if (l->level > 0)
    return r;
  r = motion_candidates (config, x, y, MIN (size, (gint32) config->width - x),
      MIN (size, (gint32) config->height - y));
  return (MotionRect){ 4 * r.left, 4 * r.right, 4 * r.top, 4 * r.bottom };
}

static gboolean
is_in_rect (const MotionRect *r, Vector v)
{
  return v.x >= r->left && v.x <= r->right && v.y >= r->top && v.y <= r->bottom;
}

/* The vector of the level above where @dx, @dy blocks from the block's middle lie. */
static Vector
get_inherited (const Level *l, gint32 column, gint32 row, gint32 dx, gint32 dy)
{
  const Grid *above = &l->field->grids[l->level + 1];
  gint32 size = motion_field_block (l->field->config, l->level);
  gint32 unit = 2 * motion_field_unit (l->level);
  gint32 x = (column * size + size / 2 + dx * size) / 2;
  gint32 y = (row * size + size / 2 + dy * size) / 2;
  Vector v;

  x = motion_clamp (x / MOTION_FIELD_COARSE_BLOCK, 0, above->columns - 1);
  y = motion_clamp (y / MOTION_FIELD_COARSE_BLOCK, 0, above->rows - 1);
  v = above->vectors[y * above->columns + x];
  return (Vector){ v.x * unit, v.y * unit };
}

static gint
compare_numbers (gconstpointer a, gconstpointer b)
{
  return *(const gint32 *) a - *(const gint32 *) b;
}

/* The median of each component. */
static Vector
find_dominant (const Vector *vectors, gsize n)
{
  gint32 *x = g_new (gint32, n), *y = g_new (gint32, n);
  Vector median;

  for (gsize i = 0; i < n; i++) {
    x[i] = vectors[i].x;
    y[i] = vectors[i].y;
  }
  qsort (x, n, sizeof *x, compare_numbers);
  qsort (y, n, sizeof *y, compare_numbers);
  median = (Vector){ x[n / 2], y[n / 2] };
  g_free (x);
  g_free (y);
  return median;
}

/* R + 2 D */
static gint32
get_rough (const Level *l, gint32 column, gint32 row, Vector v)
{
  gint32 most = MOTION_FIELD_REACH * motion_field_unit (l->level);
  gint32 i = row * l->grid->columns + column;

  return smoothness (l->grid, l->from, l->weights, column, row, v, most)
         + MOTION_FIELD_EXPECTED
               * motion_field_distance (
                   v, l->expected ? l->expected[i] : l->inherited[i], most);
}

static gint64
total_cost (const Level *l, gint32 column, gint32 row, gint32 data,
    gint32 lambda, Vector v)
{
  if (data == 0 && v.x == 0 && v.y == 0)
    return 0;
  return 8 * data
         + lambda * get_rough (l, column, row, v)
               / motion_field_unit (l->level);
}

static guint
list_candidates (const Level *l, gint32 column, gint32 row, guint pass,
    gint32 step, Vector *list)
{
  gint32 columns = l->grid->columns, rows = l->grid->rows;
  gint32 i = row * columns + column;
  Vector own = l->from[i];
  guint n = 0;

  list[n++] = own;
  for (guint k = 0; k < 8; k++) {
    gint32 x = column + neighbours[k][0], y = row + neighbours[k][1];

    if (x >= 0 && y >= 0 && x < columns && y < rows)
      list[n++] = l->from[y * columns + x];
  }
  list[n++] = (Vector){ 0, 0 };
  list[n++] = l->dominant;
  list[n++] = l->inherited[i];
  if (l->expected)
    list[n++] = l->expected[i];
  for (guint k = 0; k < 8 && pass == 0; k++)
    list[n++] =
        get_inherited (l, column, row, neighbours[k][0], neighbours[k][1]);
  for (guint k = 0; k < 8; k++)
    list[n++] = (Vector){ own.x + neighbours[k][0] * step,
      own.y + neighbours[k][1] * step };
  return n;
}

static Vector
choose (const Level *l, gint32 column, gint32 row, guint pass, gint32 step)
{
  const Field *f = l->field;
  Window win = get_window (f, l->level, column, row);
  MotionRect rect = get_rect (l, column, row);
  gint32 lambda = motion_field_lambda (f->config, l->level, f->noise);
  Vector list[MAX_CANDIDATES], best = l->from[row * l->grid->columns + column];
  guint n = list_candidates (l, column, row, pass, step, list);
  gint64 least = G_MAXINT64;

  for (guint k = 0; k < n; k++) {
    gint64 cost;

    if (!is_in_rect (&rect, list[k]))
      continue;
    cost = total_cost (
        l, column, row, data_cost (f, l->level, win, list[k]), lambda, list[k]);
    if (cost < least) {
      least = cost;
      best = list[k];
    }
  }
  return best;
}

/* --- weights ------------------------------------------------------------------ */

static void
weigh_blocks (Level *l)
{
  const Field *f = l->field;
  gint32 unit = motion_field_unit (l->level);

  l->weights = g_new (gint32, l->grid->n);
  l->expected = g_new (Vector, l->grid->n);
  for (gint32 i = 0; i < l->grid->n; i++) {
    Window win =
        get_window (f, l->level, i % l->grid->columns, i / l->grid->columns);
    Vector v = l->from[i];
    gint32 least = G_MAXINT32;

    for (guint k = 0; k < 8; k++) {
      Vector next = { v.x + neighbours[k][0] * unit,
        v.y + neighbours[k][1] * unit };

      least = MIN (least, data_cost (f, l->level, win, next));
    }
    l->weights[i] = motion_field_weight (
        l->level, f->noise, least - data_cost (f, l->level, win, v));
  }
  expect_vectors (l->grid, l->from, l->weights, l->expected);
}

/* --- the frame's median vector ---------------------------------------------------- */

static gboolean
is_like (Vector a, Vector b)
{
  return motion_field_distance (a, b, G_MAXINT32)
         <= MOTION_FIELD_SETTLE_DISTANCE;
}

/* Blocks with like vectors take the median, if it has less data cost for them. */
static void
settle_blocks (Level *l)
{
  const Field *f = l->field;
  Grid *grid = l->grid;
  gint32 *gains = g_new0 (gint32, grid->n);

  memcpy (l->from, grid->vectors, (gsize) grid->n * sizeof *l->from);
  l->dominant = find_dominant (l->from, (gsize) grid->n);
  for (gint32 i = 0; i < grid->n; i++) {
    gint32 column = i % grid->columns, row = i / grid->columns;
    Window win = get_window (f, 0, column, row);
    MotionRect rect = get_rect (l, column, row);

    if (is_in_rect (&rect, l->dominant) && !is_like (l->from[i], l->dominant))
      gains[i] = data_cost (f, 0, win, l->from[i])
                 - data_cost (f, 0, win, l->dominant);
  }
  for (gint32 i = 0; i < grid->n; i++) {
    gint32 column = i % grid->columns, row = i / grid->columns;
    gint32 sum = gains[i], n = 1;
    MotionRect rect = get_rect (l, column, row);

    if (is_like (l->from[i], l->dominant))
      continue;
    for (guint k = 0; k < 8; k++) {
      gint32 x = column + neighbours[k][0], y = row + neighbours[k][1];
      gint32 j = y * grid->columns + x;

      if (x < 0 || y < 0 || x >= grid->columns || y >= grid->rows
          || !is_like (l->from[i], l->from[j]))
        continue;
      sum += gains[j];
      n++;
    }
    if (is_in_rect (&rect, l->dominant)
        && motion_field_settles (gains[i], sum, n))
      grid->vectors[i] = l->dominant;
  }
  g_free (gains);
}

/* --- blocks that search on their own -------------------------------------------- */

/* Compares @v with the best vector so far. */
static void
try_vector (const Field *f, Window win, MotionRect rect, Vector v, Vector *best,
    gint32 *least)
{
  gint32 cost;

  if (!is_in_rect (&rect, v))
    return;
  cost = data_cost (f, 0, win, v);
  if (cost < *least) {
    *least = cost;
    *best = v;
  }
}

/* The eight neighbours @step quarter pixels away. */
static void
try_around (const Field *f, Window win, MotionRect rect, gint32 step,
    Vector *best, gint32 *least)
{
  Vector centre = *best;

  for (guint k = 0; k < 8; k++)
    try_vector (f, win, rect,
        (Vector){ centre.x + step * neighbours[k][0],
            centre.y + step * neighbours[k][1] },
        best, least);
}

/* The vector of least data cost: of a raster over the range, then of the eight
 * neighbours at half the spacing, down to one pixel. */
static Vector
search_alone (const Field *f, Window win, MotionRect rect)
{
  gint32 spacing = MOTION_FIELD_OWN_STEP, range = (gint32) f->config->range;
  gint32 least = G_MAXINT32;
  Vector best = { 0, 0 };

  for (gint32 y = -range; y <= range; y += spacing)
    for (gint32 x = -range; x <= range; x += spacing)
      try_vector (f, win, rect, (Vector){ 4 * x, 4 * y }, &best, &least);
  if (least == G_MAXINT32)
    least = data_cost (f, 0, win, best);
  for (spacing /= 2; spacing > 0; spacing /= 2)
    try_around (f, win, rect, 4 * spacing, &best, &least);
  return best;
}

static Vector
choose_alone (const Level *l, gint32 column, gint32 row)
{
  const Field *f = l->field;
  Window win = get_window (f, 0, column, row);
  MotionRect rect = get_rect (l, column, row);
  gint32 size = (gint32) f->config->block_size;
  Vector own = l->from[row * l->grid->columns + column], other;
  gint32 lambda = 2 * motion_field_lambda (f->config, 0, f->noise);

  if (data_cost_inside (f, win, own) <= motion_field_unexplained (
          MOTION_FIELD_OWN_COST, f->noise, win.w * win.h, size * size))
    return own;
  other = search_alone (f, win, rect);
  return total_cost (
             l, column, row, data_cost (f, 0, win, other), lambda, other)
                 < total_cost (
                     l, column, row, data_cost (f, 0, win, own), lambda, own)
             ? other
             : own;
}

/* --- boundaries ------------------------------------------------------------------- */

/* The data cost on level 0 with differences of at most @most levels. */
static gint32
cut_cost (const Field *f, Window win, Vector v, gint32 most)
{
  Plane current = search_plane (f->current[0]);
  Plane reference = search_plane (f->reference[0]);
  gint32 size = (gint32) f->config->block_size, sum = 0;

  for (gint32 y = win.y; y < win.y + win.h; y++)
    for (gint32 x = win.x; x < win.x + win.w; x++)
      sum += MIN (ABS (sample (&current, x, y)
                       - sample_between (&reference, 4 * x + v.x, 4 * y + v.y)),
          most);
  return sum * 256 / (size * size);
}

static Vector
choose_side (const Level *l, gint32 column, gint32 row)
{
  const Field *f = l->field;
  Window win = get_window (f, 0, column, row);
  MotionRect rect = get_rect (l, column, row);
  Vector own = l->from[row * l->grid->columns + column], best = own;
  gint32 most = motion_field_cut (f->noise);
  gint32 limit = data_cost (f, 0, win, own) + MOTION_FIELD_SIDE_SLACK;
  gint32 least = 8 * cut_cost (f, win, own, most);

  for (guint k = 0; k < 8; k++) {
    gint32 x = column + neighbours[k][0], y = row + neighbours[k][1], cost;
    Vector v;

    if (x < 0 || y < 0 || x >= l->grid->columns || y >= l->grid->rows)
      continue;
    v = l->from[y * l->grid->columns + x];
    if (is_like (v, own) || !is_in_rect (&rect, v)
        || data_cost (f, 0, win, v) > limit)
      continue;
    cost = 8 * cut_cost (f, win, v, most) + motion_field_change_cost (f->noise);
    if (cost < least) {
      least = cost;
      best = v;
    }
  }
  return best;
}

/* --- the last search -------------------------------------------------------------- */

/* A descent from the best point of the raster of those whose number has the remainder
 * @start. */
static Vector
descend_from (
    const Field *f, Window win, MotionRect rect, guint start, gint32 *least)
{
  gint32 range = (gint32) f->config->range;
  guint n = 0;
  Vector best = { 0, 0 };

  *least = G_MAXINT32;
  for (gint32 y = -range; y <= range; y += MOTION_FIELD_LAST_STEP)
    for (gint32 x = -range; x <= range; x += MOTION_FIELD_LAST_STEP, n++)
      if (n % MOTION_FIELD_LAST_STARTS == start)
        try_vector (f, win, rect, (Vector){ 4 * x, 4 * y }, &best, least);
  if (*least != G_MAXINT32)
    for (gint32 step = 4 * MOTION_FIELD_LAST_STEP / 2; step >= 4; step /= 2)
      try_around (f, win, rect, step, &best, least);
  return best;
}

static Vector
choose_last (const Level *l, gint32 column, gint32 row)
{
  const Field *f = l->field;
  Window win = get_window (f, 0, column, row);
  MotionRect rect = get_rect (l, column, row);
  gint32 size = (gint32) f->config->block_size;
  Vector own = l->from[row * l->grid->columns + column], best = own;
  gint32 cost = data_cost (f, 0, win, own), around = G_MAXINT32, limit;
  gint32 least = G_MAXINT32;

  if (data_cost_inside (f, win, own) <= motion_field_unexplained (
          MOTION_FIELD_LAST_COST, f->noise, win.w * win.h, size * size))
    return own;
  for (guint k = 0; k < 8; k++)
    around = MIN (around, data_cost (f, 0, win,
                              (Vector){ own.x + 4 * neighbours[k][0],
                                  own.y + 4 * neighbours[k][1] }));
  limit = motion_field_last_limit (cost, around - cost);
  if (limit <= 0)
    return own;
  for (guint k = 0; k < MOTION_FIELD_LAST_STARTS; k++) {
    gint32 other;
    Vector v = descend_from (f, win, rect, k, &other);

    if (other < least) {
      least = other;
      best = v;
    }
  }
  if (least == G_MAXINT32)
    return own;
  if (f->config->subpel != MOTION_SUBPEL_NONE)
    try_around (f, win, rect, 2, &best, &least);
  if (f->config->subpel == MOTION_SUBPEL_QUARTER)
    try_around (f, win, rect, 1, &best, &least);
  return least < limit ? best : own;
}

/* --- evidence --------------------------------------------------------------------- */

/* The least cost round the vector of the block of level 2, minus that of the vector. */
static gint32
get_ambiguity (const Field *f, gint32 x, gint32 y)
{
  const guint level = MOTION_FIELD_AMBIGUITY_LEVEL;
  const gint32 far = MOTION_FIELD_AMBIGUITY_FAR;
  const Grid *grid = &f->grids[level];
  gint32 column =
      MIN ((x >> level) / MOTION_FIELD_COARSE_BLOCK, grid->columns - 1);
  gint32 row = MIN ((y >> level) / MOTION_FIELD_COARSE_BLOCK, grid->rows - 1);
  Window win = get_window (f, level, column, row);
  Vector v = grid->vectors[row * grid->columns + column];
  gint32 range = motion_field_range (f->config, level), least = 65536;

  for (gint32 dy = -far; dy <= far; dy++) {
    for (gint32 dx = -far; dx <= far; dx++) {
      Vector other = { v.x + dx, v.y + dy };

      if (MAX (ABS (dx), ABS (dy)) < MOTION_FIELD_AMBIGUITY_NEAR
          || ABS (other.x) > range || ABS (other.y) > range)
        continue;
      least = MIN (least, data_cost (f, level, win, other));
    }
  }
  return least - data_cost (f, level, win, v);
}

static MotionFieldEvidence
get_evidence (const Level *l, gint32 column, gint32 row)
{
  const Field *f = l->field;
  const Grid *grid = l->grid;
  gint32 size = (gint32) f->config->block_size,
         i = row * grid->columns + column;
  gint32 left = column * size, top = row * size, least = G_MAXINT32;
  gint32 right = MIN (left + size, (gint32) f->config->width);
  gint32 bottom = MIN (top + size, (gint32) f->config->height);
  Window win = get_window (f, 0, column, row);
  Vector v = grid->vectors[i];
  gint32 across, down;
  MotionFieldEvidence e = {
    .cost = data_cost (f, 0, win, v),
    .support = l->weights[i],
    .distance = motion_field_distance (v, l->expected[i], 32),
    .ambiguity = get_ambiguity (f, left + size / 2, top + size / 2),
    .noise = f->noise,
  };

  for (guint k = 0; k < 8; k++) {
    gint32 x = column + neighbours[k][0], y = row + neighbours[k][1];
    gint32 j = y * grid->columns + x, distance;
    Vector other = { v.x + 4 * neighbours[k][0], v.y + 4 * neighbours[k][1] };

    least = MIN (least, data_cost (f, 0, win, other));
    if (x < 0 || y < 0 || x >= grid->columns || y >= grid->rows) {
      e.rough += 32;
      continue;
    }
    distance = motion_field_distance (v, grid->vectors[j], 32);
    e.rough += distance;
    if (distance <= 4)
      e.support += l->weights[j];
  }
  e.excess = least - e.cost;
  across = MIN (right, (gint32) f->config->width - (v.x >> 2))
           - MAX (left, -(v.x >> 2));
  down = MIN (bottom, (gint32) f->config->height - (v.y >> 2))
         - MAX (top, -(v.y >> 2));
  e.inside =
      16 * MAX (across, 0) * MAX (down, 0) / ((right - left) * (bottom - top));
  return e;
}

/* --- a level --------------------------------------------------------------------- */

typedef enum { PASS_ALL, PASS_ALONE, PASS_SIDES, PASS_LAST } PassKind;

static void
make_pass (Level *l, PassKind kind, guint pass, gint32 step)
{
  Grid *grid = l->grid;

  memcpy (l->from, grid->vectors, (gsize) grid->n * sizeof *l->from);
  if (pass == 1)
    weigh_blocks (l);
  for (gint32 i = 0; i < grid->n; i++) {
    gint32 column = i % grid->columns, row = i / grid->columns;

    grid->vectors[i] = kind == PASS_ALONE   ? choose_alone (l, column, row)
                       : kind == PASS_SIDES ? choose_side (l, column, row)
                       : kind == PASS_LAST
                           ? choose_last (l, column, row)
                           : choose (l, column, row, pass, step);
  }
}

static void
search_level (Field *f, guint level)
{
  Grid *grid = &f->grids[level];
  Level l = { .field = f, .level = level, .grid = grid };
  MotionSubpel subpel = f->config->subpel;
  guint pass = 0,
        n = level > 0 ? MOTION_FIELD_COARSE_PASSES : MOTION_FIELD_WHOLE_PASSES;

  l.from = g_new (Vector, (gsize) grid->n);
  l.inherited = g_new (Vector, (gsize) grid->n);
  for (gint32 i = 0; i < grid->n; i++) {
    gint32 column = i % grid->columns, row = i / grid->columns;
    MotionRect r = get_rect (&l, column, row);
    Vector v = get_inherited (&l, column, row, 0, 0);

    l.inherited[i] = grid->vectors[i] =
        (Vector){ motion_clamp (v.x, r.left, r.right),
          motion_clamp (v.y, r.top, r.bottom) };
  }
  l.dominant = find_dominant (grid->vectors, (gsize) grid->n);
  while (pass < n) {
    make_pass (&l, PASS_ALL, pass++, motion_field_unit (level));
    if (level == 0 && pass == 1)
      settle_blocks (&l);
  }
  if (level == 0) {
    make_pass (&l, PASS_ALONE, pass++, 0);
    for (guint i = 0; i < MOTION_FIELD_SUBPEL_PASSES && subpel; i++)
      make_pass (&l, PASS_ALL, pass++, 2);
    for (guint i = 0;
         i < MOTION_FIELD_SUBPEL_PASSES && subpel == MOTION_SUBPEL_QUARTER; i++)
      make_pass (&l, PASS_ALL, pass++, 1);
    for (guint i = 0; i < MOTION_FIELD_SIDE_PASSES; i++)
      make_pass (&l, PASS_SIDES, pass++, 0);
    make_pass (&l, PASS_LAST, pass++, 0);
    for (gint32 i = 0; i < grid->n; i++)
      f->evidence[i] = get_evidence (&l, i % grid->columns, i / grid->columns);
  }
  g_free (l.from);
  g_free (l.inherited);
  g_free (l.weights);
  g_free (l.expected);
}

/* --- light -------------------------------------------------------------------------- */

/* The means of a block of level 1 in both frames, 1/16 levels. Returns: FALSE if it
 * does not count: beyond the reference, or clipped */
static gboolean
get_means (const Field *f, gint32 i, gint64 *current, gint64 *reference)
{
  const Grid *grid = &f->grids[1];
  Plane c = search_plane (f->current[1]), r = search_plane (f->reference[1]);
  Window win = get_window (f, 1, i % grid->columns, i / grid->columns);
  Vector v = grid->vectors[i];
  gint64 sums[2] = { 0, 0 };

  if (win.x + v.x < 0 || win.y + v.y < 0 || win.x + win.w + v.x > c.width
      || win.y + win.h + v.y > c.height)
    return FALSE;
  for (gint32 y = win.y; y < win.y + win.h; y++) {
    for (gint32 x = win.x; x < win.x + win.w; x++) {
      gint32 a = sample (&c, x, y), b = sample (&r, x + v.x, y + v.y);

      if (a == 0 || a == 255 || b == 0 || b == 255)
        return FALSE;
      sums[0] += a;
      sums[1] += b;
    }
  }
  *current = sums[0] * 16 / (win.w * win.h);
  *reference = sums[1] * 16 / (win.w * win.h);
  return TRUE;
}

/* Makes the samples of level 0 of the frame as light as the reference's. */
static void
match_light (Field *f)
{
  MotionPicture *p = f->current[0];
  MotionFieldLight light = { 0, 0 };

  for (guint k = 0; k < MOTION_FIELD_LIGHT_ITERATIONS; k++) {
    MotionFieldLightSums s = { 0 };

    for (gint32 i = 0; i < f->grids[1].n; i++) {
      gint64 c, d, off;

      if (!get_means (f, i, &c, &d))
        continue;
      d -= c;
      c -= 2048;
      off = d - motion_field_light_at (&light, c);
      if (ABS (off) > motion_field_light_limit (k))
        continue;
      s.n++;
      s.c += c;
      s.cc += c * c;
      s.d += d;
      s.cd += c * d;
    }
    motion_field_light_fit (&light, &s);
  }
  if (motion_field_light_changes (&light))
    for (guint i = 0; i < p->width * p->height; i++)
      p->search[i] = (guint16) motion_field_light_sample (&light, p->search[i]);
}

/* --- the field ---------------------------------------------------------------------- */

void
motion_reference_field (const MotionConfig *config,
    const MotionPicture *current, const MotionPicture *reference,
    MotionFieldVector *vectors, MotionFieldEvidence *evidence)
{
  Field f = { .config = config,
    .noise = motion_reference_noise (current),
    .evidence = evidence };

  f.current[0] = copy_picture (current);
  f.reference[0] = copy_picture (reference);
  for (guint i = 0; i < MOTION_FIELD_LEVELS; i++) {
    Grid *grid = &f.grids[i];

    if (i > 0) {
      f.current[i] = reduce_picture (f.current[i - 1]);
      f.reference[i] = reduce_picture (f.reference[i - 1]);
    }
    grid->columns = motion_field_blocks (config, config->width, i);
    grid->rows = motion_field_blocks (config, config->height, i);
    grid->n = grid->columns * grid->rows;
    grid->vectors = g_new (Vector, (gsize) grid->n);
  }
  find_area (&f);
  search_coarsest (&f);
  for (guint level = MOTION_FIELD_COARSEST; level-- > 0;) {
    if (level == 0)
      match_light (&f);
    search_level (&f, level);
  }
  memcpy (vectors, f.grids[0].vectors, (gsize) f.grids[0].n * sizeof *vectors);
  for (guint i = 0; i < MOTION_FIELD_LEVELS; i++) {
    motion_picture_free (f.current[i]);
    motion_picture_free (f.reference[i]);
    g_free (f.grids[i].vectors);
  }
}
