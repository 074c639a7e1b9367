/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Detects the first frames of scenes; docs/design/motion.md, Scenes. */
#include <math.h>
#include <string.h>

#include "cuda/motion/summary.h"

/* A frame with a mean deviation from its blocks' means below this, in 1/256
 * of the range, has no content: black, white, a caption fading in. */
#define FLAT 1.0

/* --- texture map of a frame ---------------------------------------------- */

/* Cell of the map for block @i, of @n blocks across or down. */
static guint
get_cell (guint i, guint blocks)
{
  return blocks > MOTION_SCENE_CELLS ? i * MOTION_SCENE_CELLS / blocks : i;
}

/* Logarithm of the mean deviation in each cell: a change of the light adds
 * the same value to all cells. */
static void
map_texture (const MotionConfig *config, const MotionField *field,
    gdouble map[MOTION_SCENE_CELLS][MOTION_SCENE_CELLS])
{
  guint columns = motion_config_get_columns (config);
  guint rows = motion_config_get_rows (config);
  guint size = config->block_size;
  gdouble level = 1 << (config->depth - 8);
  gdouble samples[MOTION_SCENE_CELLS][MOTION_SCENE_CELLS] = { { 0 } };

  memset (map, 0, MOTION_SCENE_CELLS * sizeof map[0]);
  for (guint i = 0; i < columns * rows; i++) {
    guint column = i % columns, row = i / columns;
    guint x = get_cell (column, columns), y = get_cell (row, rows);
    guint w = MIN (size, config->width - column * size);
    guint h = MIN (size, config->height - row * size);

    map[y][x] += field->blocks[i].intra / level;
    samples[y][x] += w * h;
  }
  for (guint y = 0; y < MOTION_SCENE_CELLS; y++)
    for (guint x = 0; x < MOTION_SCENE_CELLS; x++)
      if (samples[y][x] > 0)
        map[y][x] = log2 (map[y][x] / samples[y][x] + 1.0);
}

/* Correlation of two maps in their first @columns x @rows cells; 0 if one of
 * them is constant. */
static gdouble
correlate (const gdouble a[MOTION_SCENE_CELLS][MOTION_SCENE_CELLS],
    const gdouble b[MOTION_SCENE_CELLS][MOTION_SCENE_CELLS], guint columns,
    guint rows)
{
  gdouble n = columns * rows, sum_a = 0, sum_b = 0;
  gdouble aa = 0, ab = 0, bb = 0;

  for (guint i = 0; i < columns * rows; i++) {
    sum_a += a[i / columns][i % columns];
    sum_b += b[i / columns][i % columns];
  }
  for (guint i = 0; i < columns * rows; i++) {
    gdouble da = a[i / columns][i % columns] - sum_a / n;
    gdouble db = b[i / columns][i % columns] - sum_b / n;

    aa += da * da;
    ab += da * db;
    bb += db * db;
  }
  return aa > 0 && bb > 0 ? ab / sqrt (aa * bb) : 0.0;
}

/* --- the detector ------------------------------------------------------------- */

/* Novelty: share of the frame that motion does not explain and whose texture
 * differs from the last frame with content. */
static gdouble
get_novelty (MotionSceneDetector *detector, const MotionConfig *config,
    const MotionField *field)
{
  guint columns = MIN (motion_config_get_columns (config), MOTION_SCENE_CELLS);
  guint rows = MIN (motion_config_get_rows (config), MOTION_SCENE_CELLS);
  gdouble samples = (gdouble) config->width * config->height;
  gdouble level = 1 << (config->depth - 8);
  gdouble map[MOTION_SCENE_CELLS][MOTION_SCENE_CELLS];
  gdouble likeness = 0.0;

  if (field->summary.intra < FLAT * level * samples)
    return 0.0;
  map_texture (config, field, map);
  if (detector->has_texture)
    likeness = MAX (0.0, correlate (map, detector->texture, columns, rows));
  memcpy (detector->texture, map, sizeof map);
  detector->has_texture = TRUE;
  return field->summary.scene_score * (1.0 - likeness * likeness);
}

gboolean
motion_scene_detect (MotionSceneDetector *detector, const MotionConfig *config,
    const MotionField *backward)
{
  gdouble threshold = detector->threshold;
  gdouble previous = detector->previous, novelty;
  gboolean stands_out = detector->frames > 0;

  if (backward == NULL) {
    *detector = (MotionSceneDetector){ .threshold = threshold };
    return FALSE;
  }
  novelty = get_novelty (detector, config, backward);
  stands_out &= novelty - previous >= threshold / 2;
  detector->previous = novelty;
  detector->frames++;
  return threshold > 0 && novelty >= threshold && stands_out;
}
