/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/motion/regions.h"

#include <math.h>

#include "cuda/motion/summary.h"

/* Regions kept before the largest are selected: a frame of noise has
 * thousands. */
#define MOST_FOUND (16 * MOTION_MAX_REGIONS)

struct _MotionRegionFinder {
  MotionConfig config;
  guint columns, rows;
  gboolean *moving; /* of each block, until it is assigned to a region */
  guint *stack;
  GArray *found; /* of MotionRegion, in blocks */
  guint dropped; /* from the list, which was full */
};

MotionRegionFinder *
motion_region_finder_new (const MotionConfig *config, GError **error)
{
  MotionRegionFinder *finder = g_new0 (MotionRegionFinder, 1);
  gsize n;

  finder->config = *config;
  finder->columns = motion_config_get_columns (config);
  finder->rows = motion_config_get_rows (config);
  n = (gsize) finder->columns * finder->rows;
  finder->moving = g_try_new0 (gboolean, n);
  finder->stack = g_try_new0 (guint, n);
  finder->found = g_array_new (FALSE, FALSE, sizeof (MotionRegion));
  if (finder->moving == NULL || finder->stack == NULL) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "cannot allocate memory for regions of %" G_GSIZE_FORMAT " blocks", n);
    motion_region_finder_free (finder);
    return NULL;
  }
  return finder;
}

void
motion_region_finder_free (MotionRegionFinder *finder)
{
  if (finder == NULL)
    return;
  g_array_unref (finder->found);
  g_free (finder->stack);
  g_free (finder->moving);
  g_free (finder);
}

/* --- which blocks move ------------------------------------------------------ */

/* The global motion at p, relative to the frame's centre, is ((a x - b y) +
 * x0, (b x + a y) + y0). */
typedef struct {
  gdouble a, b, x0, y0;
} Global;

/* Whether the vector is reliable; in a flat block it is arbitrary. */
static gboolean
is_certain (const CvisMotionVector *vector, const CvisMotionBlock *block,
    guint32 one_level)
{
  gint confidence = cvis_motion_block_get_confidence (block);

  if (confidence >= 0)
    return !(block->flags & CVIS_MOTION_BLOCK_CONSTANT)
           && confidence >= MOTION_CONFIDENT;
  if (block->flags
      & (CVIS_MOTION_BLOCK_INTRA_LIKE | CVIS_MOTION_BLOCK_CONSTANT))
    return FALSE;
  if (vector->x == 0 && vector->y == 0)
    return block->intra > one_level;
  return block->zero_sad - block->sad > one_level;
}

static gboolean
is_moving (const MotionRegionFinder *finder, const MotionField *field,
    const Global *global, gdouble min_motion, guint column, guint row)
{
  const MotionConfig *config = &finder->config;
  gsize i = row * finder->columns + column;
  const CvisMotionVector *vector = &field->vectors[i];
  guint size = config->block_size;
  guint w = MIN (size, config->width - column * size);
  guint h = MIN (size, config->height - row * size);
  gdouble x = column * size + w / 2.0 - config->width / 2.0;
  gdouble y = row * size + h / 2.0 - config->height / 2.0;
  gdouble dx, dy;

  if (!is_certain (vector, &field->blocks[i], (w * h) << (config->depth - 8)))
    return FALSE;
  dx = vector->x / 4.0 - (global->a * x - global->b * y + global->x0);
  dy = vector->y / 4.0 - (global->b * x + global->a * y + global->y0);
  return dx * dx + dy * dy >= min_motion * min_motion;
}

static void
mark_moving (
    MotionRegionFinder *finder, const MotionField *field, gdouble min_motion)
{
  const CvisMotionSummary *summary = &field->summary;
  Global global = {
    .a = summary->global_zoom * cos (summary->global_rotation) - 1.0,
    .b = summary->global_zoom * sin (summary->global_rotation),
    .x0 = summary->global_x,
    .y0 = summary->global_y,
  };

  for (guint row = 0; row < finder->rows; row++)
    for (guint column = 0; column < finder->columns; column++)
      finder->moving[row * finder->columns + column] =
          is_moving (finder, field, &global, min_motion, column, row);
}

/* --- from blocks to regions -------------------------------------------------- */

static void
grow_rectangle (MotionRegion *region, guint column, guint row)
{
  guint right = MAX (region->x + region->width, column + 1);
  guint bottom = MAX (region->y + region->height, row + 1);

  region->x = MIN (region->x, column);
  region->y = MIN (region->y, row);
  region->width = right - region->x;
  region->height = bottom - region->y;
  region->blocks++;
}

/* Collects the block and all connected moving blocks into one region. */
static MotionRegion
flood_region (MotionRegionFinder *finder, guint column, guint row)
{
  MotionRegion region = { .x = column, .y = row };
  guint depth = 0;

  finder->stack[depth++] = row * finder->columns + column;
  finder->moving[row * finder->columns + column] = FALSE;
  while (depth > 0) {
    guint i = finder->stack[--depth];
    guint x = i % finder->columns, y = i / finder->columns;

    grow_rectangle (&region, x, y);
    for (guint ny = y > 0 ? y - 1 : 0; ny <= MIN (y + 1, finder->rows - 1);
         ny++)
      for (guint nx = x > 0 ? x - 1 : 0; nx <= MIN (x + 1, finder->columns - 1);
           nx++) {
        guint n = ny * finder->columns + nx;

        if (!finder->moving[n])
          continue;
        finder->moving[n] = FALSE;
        finder->stack[depth++] = n;
      }
  }
  return region;
}

static gboolean
regions_overlap (const MotionRegion *a, const MotionRegion *b)
{
  return a->x < b->x + b->width && b->x < a->x + a->width
         && a->y < b->y + b->height && b->y < a->y + a->height;
}

static void
join_regions (MotionRegion *into, const MotionRegion *other)
{
  guint blocks = into->blocks + other->blocks;

  grow_rectangle (into, other->x, other->y);
  grow_rectangle (
      into, other->x + other->width - 1, other->y + other->height - 1);
  into->blocks = blocks;
}

static gint
compare_regions (gconstpointer a, gconstpointer b)
{
  const MotionRegion *p = a, *q = b;

  if (p->blocks != q->blocks)
    return p->blocks > q->blocks ? -1 : 1;
  if (p->y != q->y)
    return p->y < q->y ? -1 : 1;
  return p->x < q->x ? -1 : p->x > q->x;
}

/* Adds @region to the list; joined rectangles are tested for overlap again. */
static void
add_region (MotionRegionFinder *finder, MotionRegion region)
{
  GArray *found = finder->found;
  guint i = 0;

  while (i < found->len) {
    const MotionRegion *other = &g_array_index (found, MotionRegion, i);

    if (regions_overlap (&region, other)) {
      join_regions (&region, other);
      g_array_remove_index_fast (found, i);
      i = 0;
    } else {
      i++;
    }
  }
  if (found->len == MOST_FOUND) {
    g_array_sort (found, compare_regions);
    g_array_set_size (found, MOST_FOUND / 2);
    finder->dropped += MOST_FOUND / 2;
  }
  g_array_append_val (found, region);
}

static MotionRegion
region_in_pixels (const MotionConfig *config, const MotionRegion *region)
{
  guint size = config->block_size;
  MotionRegion pixels = { region->x * size, region->y * size,
    region->width * size, region->height * size, region->blocks };

  pixels.width = MIN (pixels.width, config->width - pixels.x);
  pixels.height = MIN (pixels.height, config->height - pixels.y);
  return pixels;
}

guint
motion_find_regions (MotionRegionFinder *finder, const MotionField *field,
    gdouble min_motion, MotionRegion *regions, guint *left_out)
{
  GArray *found = finder->found;
  guint n;

  mark_moving (finder, field, min_motion);
  g_array_set_size (found, 0);
  finder->dropped = 0;
  for (guint row = 0; row < finder->rows; row++)
    for (guint column = 0; column < finder->columns; column++)
      if (finder->moving[row * finder->columns + column])
        add_region (finder, flood_region (finder, column, row));
  g_array_sort (found, compare_regions);
  n = MIN (found->len, MOTION_MAX_REGIONS);
  if (left_out != NULL)
    *left_out = found->len - n + finder->dropped;
  for (guint i = 0; i < n; i++)
    regions[i] = region_in_pixels (
        &finder->config, &g_array_index (found, MotionRegion, i));
  return n;
}
