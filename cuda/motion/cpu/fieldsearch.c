/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The regularised field on the CPU: memory, the order of the passes, and the steps
 * between them that one thread computes. No step's result depends on the number of
 * threads. */
#include <stdlib.h>
#include <string.h>

#include "cuda/core/backend.h"
#include "cuda/core/memory.h"
#include "cuda/motion/cpu/field.h"

/* Samples behind a plane that vectors may read, their values unused */
#define TAIL 64
/* Rows of samples or blocks that a thread computes at once */
#define SAMPLE_GRAIN 32
#define BLOCK_GRAIN 1

const MotionCpuFieldKernels *
motion_cpu_field_kernels (void)
{
  return CVIS_CPU_CHOOSE (motion_cpu_field);
}

/* --- pictures ------------------------------------------------------------------ */

static gboolean
allocate_level (const MotionConfig *config, MotionCpuFieldPicture *picture,
    guint level, GError **error)
{
  MotionCpuPlane *plane = &picture->levels[level];
  gsize rows;

  plane->width = motion_field_size (config->width, level);
  plane->height = motion_field_size (config->height, level);
  /* costs are computed from whole blocks, also of blocks beyond the edge */
  plane->border =
      motion_field_range (config, level) + 2 + MOTION_FIELD_COARSE_BLOCK;
  plane->stride = (plane->width + 2 * plane->border + 63) / 64 * 64;
  rows = (gsize) (plane->height + 2 * plane->border);
  picture->memory[level] =
      cvis_memory_new (rows * (gsize) plane->stride + TAIL, TRUE, error);
  if (picture->memory[level] == NULL)
    return FALSE;
  plane->samples = (guint8 *) picture->memory[level]
                   + plane->stride * plane->border + plane->border;
  return TRUE;
}

gboolean
motion_cpu_field_picture_init (const MotionConfig *config,
    MotionCpuFieldPicture *picture, guint8 *luma, gsize stride,
    gsize plane_size, gsize origin, GError **error)
{
  gsize width = config->width, height = config->height;
  gsize strips = (height + MOTION_CPU_STRIP - 1) / MOTION_CPU_STRIP;

  memset (picture, 0, sizeof *picture);
  picture->levels[0] = (MotionCpuPlane){ luma, (gssize) stride, (gint32) width,
    (gint32) height, (gint32) config->range + 1 };
  picture->halves[0] = luma;
  for (guint i = 1; i < MOTION_FIELD_LEVELS; i++)
    if (!allocate_level (config, picture, i, error))
      return FALSE;
  for (guint i = 0; i < 3; i++) {
    gpointer memory = cvis_memory_new (plane_size, TRUE, error);

    if (memory == NULL)
      return FALSE;
    picture->memory[MOTION_FIELD_LEVELS + i] = memory;
    picture->halves[1 + i] = (guint8 *) memory + origin;
  }
  picture->row_least = g_malloc (height);
  picture->row_most = g_malloc (height);
  picture->column_least = g_malloc (width);
  picture->column_most = g_malloc (width);
  picture->strip_least = g_malloc (strips * width);
  picture->strip_most = g_malloc (strips * width);
  picture->squares = g_new (gint32, strips * (width / MOTION_CPU_STRIP + 1));
  return TRUE;
}

void
motion_cpu_field_picture_clear (MotionCpuFieldPicture *picture)
{
  for (guint i = 0; i < G_N_ELEMENTS (picture->memory); i++)
    free (picture->memory[i]);
  g_free (picture->row_least);
  g_free (picture->row_most);
  g_free (picture->column_least);
  g_free (picture->column_most);
  g_free (picture->strip_least);
  g_free (picture->strip_most);
  g_free (picture->squares);
}

/* --- preparing pictures ---------------------------------------------------------- */

typedef struct {
  MotionCpuFieldPicture *picture;
  guint level;
} Preparation;

static void
do_reduce (guint first, guint count, gpointer user_data)
{
  Preparation *p = user_data;

  motion_cpu_field_kernels ()->reduce (
      p->picture, p->level, (gint32) first, (gint32) count);
}

static void
do_halves (guint first, guint count, gpointer user_data)
{
  Preparation *p = user_data;

  motion_cpu_field_kernels ()->halves (
      p->picture, (gint32) first, (gint32) count);
}

static void
do_survey (guint first, guint count, gpointer user_data)
{
  Preparation *p = user_data;

  motion_cpu_field_kernels ()->survey (
      p->picture, (gint32) first, (gint32) count);
}

/* Rows above and below a plane become copies of its first and last row. */
static void
repeat_rows (const MotionCpuPlane *plane)
{
  guint8 *first = plane->samples - plane->border;
  guint8 *last = first + plane->stride * (plane->height - 1);
  gsize n = (gsize) (plane->width + 2 * plane->border);

  for (gint32 i = 1; i <= plane->border; i++) {
    memcpy (first - plane->stride * i, first, n);
    memcpy (last + plane->stride * i, last, n);
  }
}

static void
merge_strips (MotionCpuFieldPicture *picture)
{
  gint32 width = picture->levels[0].width;
  gint32 strips =
      (picture->levels[0].height + MOTION_CPU_STRIP - 1) / MOTION_CPU_STRIP;

  memset (picture->column_least, 255, (gsize) width);
  memset (picture->column_most, 0, (gsize) width);
  for (gint32 i = 0; i < strips; i++) {
    const guint8 *least = picture->strip_least + (gsize) width * (gsize) i;
    const guint8 *most = picture->strip_most + (gsize) width * (gsize) i;

    for (gint32 x = 0; x < width; x++) {
      picture->column_least[x] = MIN (picture->column_least[x], least[x]);
      picture->column_most[x] = MAX (picture->column_most[x], most[x]);
    }
  }
}

/* A tenth of the squares have less noise. */
static gint32
find_noise (const MotionCpuFieldPicture *picture)
{
  gint32 across = picture->levels[0].width / MOTION_FIELD_NOISE_BLOCK;
  gint32 down = picture->levels[0].height / MOTION_FIELD_NOISE_BLOCK;
  gint32 counts[MOTION_FIELD_NOISE_MAX + 1] = { 0 }, n = 0, below = 0, noise;

  for (gint32 i = 0; i < across * down; i++) {
    if (picture->squares[i] >= 0) {
      counts[picture->squares[i]]++;
      n++;
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

void
motion_cpu_field_picture_prepare (
    MotionCpuFieldPicture *picture, CvisPool *pool)
{
  const MotionCpuPlane *plane = &picture->levels[0];
  Preparation p = { .picture = picture };

  cvis_pool_run (pool,
      (guint) ((plane->height + MOTION_CPU_STRIP - 1) / MOTION_CPU_STRIP), 1,
      do_survey, &p);
  merge_strips (picture);
  picture->noise = find_noise (picture);
  for (p.level = 1; p.level < MOTION_FIELD_LEVELS; p.level++) {
    cvis_pool_run (pool, (guint) picture->levels[p.level].height, SAMPLE_GRAIN,
        do_reduce, &p);
    repeat_rows (&picture->levels[p.level]);
  }
  cvis_pool_run (pool, (guint) (plane->height + 2 * plane->border),
      SAMPLE_GRAIN, do_halves, &p);
}

/* --- memory of the search -------------------------------------------------------- */

void
motion_cpu_field_free (MotionCpuField *field)
{
  if (field == NULL)
    return;
  for (guint i = 0; i < MOTION_FIELD_LEVELS; i++) {
    MotionCpuGrid *grid = &field->grids[i];

    g_free (grid->vectors);
    g_free (grid->from);
    g_free (grid->inherited);
    g_free (grid->expected);
    g_free (grid->weights);
    g_free (grid->changed);
    g_free (grid->changed_before);
  }
  g_free (field->ambiguities);
  g_free (field->gains);
  g_free (field->evidence);
  g_free (field->known);
  free (field->costs);
  free (field->lit_memory);
  g_free (field);
}

MotionCpuField *
motion_cpu_field_new (const MotionConfig *config, GError **error)
{
  MotionCpuField *field = g_new0 (MotionCpuField, 1);
  gsize side =
      (gsize) (2 * motion_field_range (config, MOTION_FIELD_COARSEST) + 1);

  field->config = config;
  for (guint i = 0; i < MOTION_FIELD_LEVELS; i++) {
    MotionCpuGrid *grid = &field->grids[i];
    gsize n;

    grid->columns = motion_field_blocks (config, config->width, i);
    grid->rows = motion_field_blocks (config, config->height, i);
    grid->n = grid->columns * grid->rows;
    n = (gsize) grid->n;
    grid->vectors = g_new (MotionFieldVector, n);
    grid->from = g_new (MotionFieldVector, n);
    grid->inherited = g_new (MotionFieldVector, n);
    grid->expected = g_new (MotionFieldVector, n);
    grid->weights = g_new (gint32, n);
    grid->changed = g_new0 (guint8, n);
    grid->changed_before = g_new0 (guint8, n);
  }
  field->ambiguities =
      g_new (gint32, (gsize) field->grids[MOTION_FIELD_AMBIGUITY_LEVEL].n);
  field->gains = g_new (gint32, (gsize) field->grids[0].n);
  field->evidence = g_new (MotionFieldEvidence, (gsize) field->grids[0].n);
  field->known = g_new (
      MotionCpuKnown, (gsize) MAX (field->grids[0].n, field->grids[1].n));
  field->costs = cvis_memory_new ((gsize) field->grids[MOTION_FIELD_COARSEST].n
                                      * side * side * sizeof *field->costs,
      FALSE, error);
  if (field->costs)
    field->lit_memory = cvis_memory_new (
        (gsize) config->width * config->height + TAIL, FALSE, error);
  if (field->lit_memory == NULL) {
    motion_cpu_field_free (field);
    return NULL;
  }
  return field;
}

/* --- bars -------------------------------------------------------------------------- */

/* Whether a row or column of both pictures is flat and the same. */
static gboolean
is_bar (const guint8 *least, const guint8 *most, const guint8 *other_least,
    const guint8 *other_most, gint32 i)
{
  return MAX (most[i], other_most[i]) - MIN (least[i], other_least[i])
         <= MOTION_FIELD_BAR;
}

static gint32
count_bars (const guint8 *least, const guint8 *most, const guint8 *other_least,
    const guint8 *other_most, gint32 n, gint32 *end)
{
  gint32 first = 0;

  while (first < n / 2 && is_bar (least, most, other_least, other_most, first))
    first++;
  *end = n;
  while (
      *end > n / 2 && is_bar (least, most, other_least, other_most, *end - 1))
    --*end;
  return first;
}

static void
find_area (MotionCpuField *f)
{
  const MotionCpuFieldPicture *c = f->current, *r = f->reference;
  gint32 w = c->levels[0].width, h = c->levels[0].height;
  MotionFieldArea *a = &f->area;

  a->top = count_bars (
      c->row_least, c->row_most, r->row_least, r->row_most, h, &a->bottom);
  a->left = count_bars (c->column_least, c->column_most, r->column_least,
      r->column_most, w, &a->right);
  if (a->left >= w / 2 || a->top >= h / 2)
    *a = (MotionFieldArea){ 0, 0, w, h };
}

/* --- the expected vectors ------------------------------------------------------------ */

/* Squares of blocks of one size. */
typedef struct {
  gint32 columns, rows;
  MotionFieldCell *cells;
} Layer;

/* @above: (nullable): the layer of larger squares */
static void
find_means (Layer *layer, const Layer *above)
{
  for (gint32 i = 0; i < layer->columns * layer->rows; i++) {
    MotionFieldCell *cell = &layer->cells[i];
    MotionFieldVector from = { 0, 0 };

    if (above && cell->weight < MOTION_FIELD_FULL_WEIGHT)
      from = motion_field_cell_between (above->cells, above->columns,
          above->rows, i % layer->columns, i / layer->columns);
    cell->mean = motion_field_cell_mean (cell, from);
  }
}

static void
add_cells (const Layer *below, Layer *layer)
{
  for (gint32 y = 0; y < below->rows; y++) {
    for (gint32 x = 0; x < below->columns; x++) {
      const MotionFieldCell *from = &below->cells[y * below->columns + x];
      MotionFieldCell *to = &layer->cells[y / 2 * layer->columns + x / 2];

      to->weight += from->weight;
      to->x += from->x;
      to->y += from->y;
    }
  }
}

static void
expect_vectors (MotionCpuGrid *grid)
{
  Layer layers[16] = { { grid->columns, grid->rows, NULL } };
  gint n = 1;

  layers[0].cells = g_new (MotionFieldCell, (gsize) grid->n);
  for (gint32 i = 0; i < grid->n; i++)
    layers[0].cells[i] = (MotionFieldCell){ .weight = grid->weights[i],
      .x = (gint64) grid->weights[i] * grid->from[i].x,
      .y = (gint64) grid->weights[i] * grid->from[i].y };
  for (; layers[n - 1].columns > 1 || layers[n - 1].rows > 1; n++) {
    layers[n].columns = (layers[n - 1].columns + 1) / 2;
    layers[n].rows = (layers[n - 1].rows + 1) / 2;
    layers[n].cells =
        g_new0 (MotionFieldCell, (gsize) (layers[n].columns * layers[n].rows));
    add_cells (&layers[n - 1], &layers[n]);
  }
  for (gint i = n - 1; i >= 0; i--)
    find_means (&layers[i], i < n - 1 ? &layers[i + 1] : NULL);
  for (gint32 i = 0; i < grid->n; i++)
    grid->expected[i] =
        (MotionFieldVector){ (layers[0].cells[i].mean.x + 8) >> 4,
          (layers[0].cells[i].mean.y + 8) >> 4 };
  for (gint i = 0; i < n; i++)
    g_free (layers[i].cells);
}

/* --- light -------------------------------------------------------------------------- */

typedef struct {
  gint32 current, difference; /* 1/16 levels; the former less 2048 */
} Means;

/* Returns: FALSE if the block does not count: beyond the reference, or clipped */
static gboolean
get_means (const MotionCpuField *f, gint32 i, Means *means)
{
  const MotionCpuGrid *grid = &f->grids[1];
  const MotionCpuPlane *c = &f->current->levels[1];
  const MotionCpuPlane *r = &f->reference->levels[1];
  MotionFieldWindow win = motion_field_window (
      f->config, &f->area, 1, i % grid->columns, i / grid->columns);
  gint32 x = win.x + grid->vectors[i].x, y = win.y + grid->vectors[i].y;
  gint32 own = 0, other = 0;

  if (x < 0 || y < 0 || x + win.w > c->width || y + win.h > c->height)
    return FALSE;
  for (gint32 j = 0; j < win.h; j++) {
    const guint8 *p = c->samples + c->stride * (win.y + j) + win.x;
    const guint8 *q = r->samples + r->stride * (y + j) + x;

    for (gint32 k = 0; k < win.w; k++) {
      if (p[k] == 0 || p[k] == 255 || q[k] == 0 || q[k] == 255)
        return FALSE;
      own += p[k];
      other += q[k];
    }
  }
  own = own * 16 / (win.w * win.h);
  other = other * 16 / (win.w * win.h);
  *means = (Means){ own - 2048, other - own };
  return TRUE;
}

static MotionFieldLight
find_light (const MotionCpuField *f)
{
  MotionFieldLight light = { 0, 0 };
  Means *means = g_new (Means, (gsize) f->grids[1].n);
  gint32 n = 0;

  for (gint32 i = 0; i < f->grids[1].n; i++)
    n += get_means (f, i, &means[n]);
  for (guint k = 0; k < MOTION_FIELD_LIGHT_ITERATIONS; k++) {
    MotionFieldLightSums s = { 0 };

    for (gint32 i = 0; i < n; i++) {
      gint64 c = means[i].current, d = means[i].difference;
      gint64 off = d - motion_field_light_at (&light, c);

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
  g_free (means);
  return light;
}

/* --- the passes ------------------------------------------------------------------------ */

typedef void (*Rows) (MotionCpuField *field, gint32 first, gint32 n);

typedef struct {
  MotionCpuField *field;
  Rows rows;
  const guint8 *table;
} Work;

static void
do_rows (guint first, guint count, gpointer user_data)
{
  Work *work = user_data;

  work->rows (work->field, (gint32) first, (gint32) count);
}

static void
do_light (guint first, guint count, gpointer user_data)
{
  Work *work = user_data;

  motion_cpu_field_kernels ()->light (
      work->field, work->table, (gint32) first, (gint32) count);
}

static void
run_rows (MotionCpuField *f, CvisPool *pool, Rows rows)
{
  Work work = { .field = f, .rows = rows };

  cvis_pool_run (
      pool, (guint) f->grids[f->level].rows, BLOCK_GRAIN, do_rows, &work);
}

/* Makes the samples of level 0 of the frame as light as the reference's. */
static void
match_light (MotionCpuField *f, CvisPool *pool)
{
  const MotionCpuPlane *plane = &f->current->levels[0];
  MotionFieldLight light = find_light (f);
  guint8 table[256];
  Work work = { .field = f, .table = table };

  f->lit = plane->samples;
  f->lit_stride = plane->stride;
  if (!motion_field_light_changes (&light))
    return;
  for (gint32 i = 0; i < 256; i++)
    table[i] = (guint8) motion_field_light_sample (&light, i);
  cvis_pool_run (pool, (guint) plane->height, SAMPLE_GRAIN, do_light, &work);
  f->lit = f->lit_memory;
  f->lit_stride = plane->width;
}

static void
make_pass (MotionCpuField *f, CvisPool *pool, Rows rows, gint32 step)
{
  MotionCpuGrid *grid = &f->grids[f->level];
  MotionFieldVector *last = grid->from;
  guint8 *changed = grid->changed_before;

  grid->from = grid->vectors;
  grid->vectors = last;
  grid->changed_before = grid->changed;
  grid->changed = changed;
  f->repeated = f->pass > 1 && step == f->step;
  f->step = step;
  if (f->pass == 1 && f->level < MOTION_FIELD_COARSEST) {
    run_rows (f, pool, motion_cpu_field_kernels ()->weigh);
    expect_vectors (grid);
    f->weighted = TRUE;
  }
  run_rows (f, pool, rows);
  f->pass++;
}

static gint
compare_short (const MotionFieldVector *a, gint32 ax, gint32 ay)
{
  return a->x * a->x + a->y * a->y - ax * ax - ay * ay;
}

/* The vector of least cost for all blocks together, or zero if that is as good. */
static MotionFieldVector
find_cheapest (const MotionCpuField *f)
{
  gint32 range = motion_field_range (f->config, MOTION_FIELD_COARSEST);
  gsize side = (gsize) (2 * range + 1), n = side * side;
  guint64 *sums = g_new0 (guint64, n), least = G_MAXUINT64;
  MotionFieldVector best = { 0, 0 };

  for (gsize i = 0; i < (gsize) f->grids[MOTION_FIELD_COARSEST].n; i++)
    for (gsize k = 0; k < n; k++)
      sums[k] += f->costs[i * n + k];
  for (gsize k = 0; k < n; k++) {
    gint32 x = (gint32) (k % side) - range, y = (gint32) (k / side) - range;

    if (sums[k] < least
        || (sums[k] == least && compare_short (&best, x, y) > 0)) {
      least = sums[k];
      best = (MotionFieldVector){ x, y };
    }
  }
  if (motion_field_keeps_zero ((gint64) sums[n / 2], (gint64) least,
          f->grids[MOTION_FIELD_COARSEST].n))
    best = (MotionFieldVector){ 0, 0 };
  g_free (sums);
  return best;
}

static void
search_coarsest (MotionCpuField *f, CvisPool *pool)
{
  MotionCpuGrid *grid = &f->grids[MOTION_FIELD_COARSEST];
  f->level = MOTION_FIELD_COARSEST;
  f->pass = 0;
  run_rows (f, pool, motion_cpu_field_kernels ()->costs);
  f->dominant = find_cheapest (f);
  for (gint32 i = 0; i < grid->n; i++)
    grid->vectors[i] = f->dominant;
  for (guint i = 0; i < MOTION_FIELD_COARSEST_PASSES; i++)
    make_pass (f, pool, motion_cpu_field_kernels ()->coarsest, 0);
}

/* The median of a component, from a histogram. */
static gint32
find_median (const gint32 *components, gint32 n)
{
  gint32 counts[2 * 4 * 129 + 1] = { 0 }, below = 0;
  const gint32 middle = 4 * 129;

  for (gint32 i = 0; i < n; i++)
    counts[components[2 * i] + middle]++;
  for (gint32 value = -middle;; value++) {
    below += counts[value + middle];
    if (below > n / 2)
      return value;
  }
}

static void
find_dominant (MotionCpuField *f)
{
  const MotionCpuGrid *grid = &f->grids[f->level];

  f->dominant.x = find_median (&grid->vectors[0].x, grid->n);
  f->dominant.y = find_median (&grid->vectors[0].y, grid->n);
}

/* Vectors of the level above. */
static void
inherit (MotionCpuField *f)
{
  const MotionConfig *config = f->config;
  MotionCpuGrid *grid = &f->grids[f->level], *above = &f->grids[f->level + 1];
  gint32 size = motion_field_block (config, f->level);
  gint32 unit = 2 * motion_field_unit (f->level);
  gint32 range = motion_field_range (config, f->level);

  for (gint32 i = 0; i < grid->n; i++) {
    gint32 x = i % grid->columns * size, y = i / grid->columns * size;
    gint32 column = MIN (
        (x + size / 2) / 2 / MOTION_FIELD_COARSE_BLOCK, above->columns - 1);
    gint32 row =
        MIN ((y + size / 2) / 2 / MOTION_FIELD_COARSE_BLOCK, above->rows - 1);
    MotionFieldVector v = above->vectors[row * above->columns + column];
    MotionRect r = { -range, range, -range, range };
    gint32 scale = 1;

    if (f->level == 0) {
      scale = 4;
      r = motion_candidates (config, x, y,
          MIN (size, (gint32) config->width - x),
          MIN (size, (gint32) config->height - y));
    }
    v.x = motion_clamp (v.x * unit, scale * r.left, scale * r.right);
    v.y = motion_clamp (v.y * unit, scale * r.top, scale * r.bottom);
    grid->inherited[i] = grid->vectors[i] = v;
  }
  find_dominant (f);
}

static void
forget_costs (MotionCpuField *f)
{
  for (gint32 i = 0; i < f->grids[f->level].n; i++)
    for (gint k = 0; k < MOTION_CPU_KNOWN; k++)
      f->known[i].keys[k] = MOTION_CPU_NO_KEY;
}

/* Blocks with like vectors take the median, if it has less data cost for them. */
static void
settle_blocks (MotionCpuField *f, CvisPool *pool)
{
  MotionCpuGrid *grid = &f->grids[0];
  MotionFieldVector *last = grid->from;

  find_dominant (f);
  grid->from = grid->vectors;
  grid->vectors = last;
  run_rows (f, pool, motion_cpu_field_kernels ()->gains);
  run_rows (f, pool, motion_cpu_field_kernels ()->settle);
}

static void
search_level (MotionCpuField *f, CvisPool *pool, guint level)
{
  const MotionCpuFieldKernels *kernels = motion_cpu_field_kernels ();
  MotionSubpel subpel = f->config->subpel;
  guint n = level > 0 ? MOTION_FIELD_COARSE_PASSES : MOTION_FIELD_WHOLE_PASSES;

  f->level = level;
  f->pass = 0;
  f->weighted = FALSE;
  inherit (f);
  forget_costs (f);
  for (guint i = 0; i < n; i++) {
    make_pass (f, pool, kernels->all, motion_field_unit (level));
    if (level == 0 && i == 0)
      settle_blocks (f, pool);
  }
  if (level == MOTION_FIELD_AMBIGUITY_LEVEL)
    run_rows (f, pool, kernels->ambiguity);
  if (level > 0)
    return;
  make_pass (f, pool, kernels->alone, 0);
  for (guint i = 0; i < MOTION_FIELD_SUBPEL_PASSES && subpel; i++)
    make_pass (f, pool, kernels->all, 2);
  for (guint i = 0;
       i < MOTION_FIELD_SUBPEL_PASSES && subpel == MOTION_SUBPEL_QUARTER; i++)
    make_pass (f, pool, kernels->all, 1);
  for (guint i = 0; i < MOTION_FIELD_SIDE_PASSES; i++)
    make_pass (f, pool, kernels->sides, 0);
  make_pass (f, pool, kernels->last, 0);
  run_rows (f, pool, kernels->evidence);
}

void
motion_cpu_field_search (MotionCpuField *field,
    const MotionCpuFieldPicture *current,
    const MotionCpuFieldPicture *reference, CvisPool *pool)
{
  field->current = current;
  field->reference = reference;
  find_area (field);
  search_coarsest (field, pool);
  for (guint level = MOTION_FIELD_COARSEST; level-- > 0;) {
    if (level == 0)
      match_light (field, pool);
    search_level (field, pool, level);
  }
}
