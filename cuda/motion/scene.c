/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Detects the first frames of scenes; docs/design/motion.md, Scenes. */
#include <math.h>
#include <string.h>

#include "cuda/motion/constant.h"
#include "cuda/motion/summary.h"

/* A frame with a mean deviation from its blocks' means below this, in 1/256
 * of the range, has no content: black, white, a caption fading in. */
#define FLAT 1.0

/* The same frame with noise: below this mean deviation (noise of sigma 3.7), and
 * the deviation is about the same everywhere, its logarithm to this much. */
#define NOISE 3.0
#define EVEN 0.15

#define CELLS (MOTION_SCENE_CELLS * MOTION_SCENE_CELLS)

/* --- texture map of a frame ---------------------------------------------- */

/* Cell of the map for block @i, of @blocks across or down */
static guint
get_cell (guint i, guint blocks)
{
  return blocks > MOTION_SCENE_CELLS ? i * MOTION_SCENE_CELLS / blocks : i;
}

/* First block after cell @cell, of @blocks across or down */
static guint
get_cell_end (guint cell, guint blocks)
{
  return blocks > MOTION_SCENE_CELLS
             ? ((cell + 1) * blocks + MOTION_SCENE_CELLS - 1)
                   / MOTION_SCENE_CELLS
             : cell + 1;
}

/* Logarithm of the mean deviation in each cell: a change of the light adds
 * the same value to all cells. @used: whether all blocks of the cell are used,
 * since a constant one is the same in both frames; if no cell is whole, whether
 * any is */
static void
map_texture (const MotionConfig *config, const MotionField *field,
    gdouble map[CELLS], gboolean used[CELLS])
{
  guint columns = motion_config_get_columns (config);
  guint rows = motion_config_get_rows (config);
  guint size = config->block_size;
  gdouble level = 1 << (config->depth - 8);
  gdouble samples[CELLS] = { 0 };
  guint in_use[CELLS] = { 0 }, blocks[CELLS] = { 0 }, whole = 0;

  memset (map, 0, sizeof samples);
  for (guint row = 0; row < rows; row++) {
    const CvisMotionBlock *block = &field->blocks[row * columns];
    guint cell = get_cell (row, rows) * MOTION_SCENE_CELLS;
    guint height = MIN (size, config->height - row * size);

    for (guint first = 0, end; first < columns; first = end, cell++) {
      guint64 intra = 0;

      end = get_cell_end (cell % MOTION_SCENE_CELLS, columns);
      for (guint column = first; column < end; column++, block++) {
        intra += block->intra;
        in_use[cell] += !(block->flags & CVIS_MOTION_BLOCK_CONSTANT);
      }
      map[cell] += (gdouble) intra / level;
      samples[cell] +=
          (MIN (end * size, config->width) - first * size) * height;
      blocks[cell] += end - first;
    }
  }
  for (guint i = 0; i < CELLS; i++) {
    if (samples[i] > 0)
      map[i] = log2 (map[i] / samples[i] + 1.0);
    whole += blocks[i] > 0 && in_use[i] == blocks[i];
  }
  for (guint i = 0; i < CELLS; i++)
    used[i] = in_use[i] > 0 && (whole == 0 || in_use[i] == blocks[i]);
}

/* Whether the deviation is the same in all used cells, as in noise. */
static gboolean
is_even (const gdouble *map, const gboolean *used)
{
  gdouble n = 0, sum = 0, squares = 0;

  for (guint i = 0; i < CELLS; i++)
    if (used[i]) {
      n++;
      sum += map[i];
      squares += map[i] * map[i];
    }
  return n > 1 && squares / n - sum / n * (sum / n) < EVEN * EVEN;
}

/* Ranks of the used cells of @map, times two; equal cells share the mean of
 * their ranks. */
static void
rank_cells (const gdouble *map, const gboolean *used, gdouble *ranks)
{
  gdouble values[CELLS];
  guint n = 0;

  for (guint i = 0; i < CELLS; i++)
    if (used[i])
      values[n++] = map[i];
  for (guint i = 0; i < CELLS; i++) {
    gint64 rank =
        0; /* as wide as the values: the compiler vectorises the loop */

    for (guint k = 0; used[i] && k < n; k++)
      rank += (values[k] < map[i]) + (values[k] <= map[i]);
    ranks[i] = rank;
  }
}

/* Correlation of two maps in the used cells; 0 if one of them is constant. */
static gdouble
correlate (const gdouble *a, const gdouble *b, const gboolean *used)
{
  gdouble n = 0, sum_a = 0, sum_b = 0;
  gdouble aa = 0, ab = 0, bb = 0;

  for (guint i = 0; i < CELLS; i++)
    if (used[i]) {
      sum_a += a[i];
      sum_b += b[i];
      n++;
    }
  for (guint i = 0; i < CELLS; i++)
    if (used[i]) {
      gdouble da = a[i] - sum_a / n;
      gdouble db = b[i] - sum_b / n;

      aa += da * da;
      ab += da * db;
      bb += db * db;
    }
  return aa > 0 && bb > 0 ? ab / sqrt (aa * bb) : 0.0;
}

/* Subtracts the mean of each row of used cells, then of each column. */
static void
centre_lines (const gdouble *map, const gboolean *used, gdouble *centred)
{
  memcpy (centred, map, CELLS * sizeof *map);
  for (guint pass = 0; pass < 2; pass++)
    for (guint line = 0; line < MOTION_SCENE_CELLS; line++) {
      guint step = pass == 0 ? 1 : MOTION_SCENE_CELLS;
      guint first = pass == 0 ? line * MOTION_SCENE_CELLS : line;
      gdouble sum = 0, n = 0;

      for (guint k = 0; k < MOTION_SCENE_CELLS; k++)
        if (used[first + k * step]) {
          sum += centred[first + k * step];
          n++;
        }
      for (guint k = 0; k < MOTION_SCENE_CELLS; k++)
        if (used[first + k * step])
          centred[first + k * step] -= sum / n;
    }
}

/* Likeness of two maps, 0..1: their correlation, at most 1.25 times that of
 * the ranks. Without this limit a few cells decide that the edge of a thin bar
 * or of a logo crosses: they are rough in every scene. @boxed: the frame has
 * constant parts, whose edges may cross a whole row or column of cells: at most
 * 1.25 times the correlation without the lines' means, too. */
static gdouble
compare_maps (
    const gdouble *a, const gdouble *b, const gboolean *used, gboolean boxed)
{
  gdouble ranks_a[CELLS], ranks_b[CELLS];
  gdouble values = correlate (a, b, used);

  rank_cells (a, used, ranks_a);
  rank_cells (b, used, ranks_b);
  values = MIN (values, 1.25 * correlate (ranks_a, ranks_b, used));
  if (boxed) {
    centre_lines (a, used, ranks_a);
    centre_lines (b, used, ranks_b);
    values = MIN (values, 1.25 * correlate (ranks_a, ranks_b, used));
  }
  return MAX (0.0, values);
}

/* Scene score in the used cells of the frame before; remembers those of this
 * one. */
static gdouble
exchange_scores (MotionSceneDetector *detector, const MotionConfig *config,
    const MotionField *field, const gboolean *used)
{
  guint columns = motion_config_get_columns (config);
  guint rows = motion_config_get_rows (config);
  gdouble unexplained = 0, intra = 0;

  for (guint i = 0; i < CELLS; i++) {
    unexplained += used[i] ? detector->unexplained[i] : 0;
    intra += used[i] ? detector->intra[i] : 0;
    detector->unexplained[i] = detector->intra[i] = 0;
  }
  for (guint row = 0; row < rows; row++) {
    const CvisMotionBlock *block = &field->blocks[row * columns];
    guint cell = get_cell (row, rows) * MOTION_SCENE_CELLS;

    for (guint first = 0, end; first < columns; first = end, cell++) {
      guint64 own_unexplained = 0, own_intra = 0;

      end = get_cell_end (cell % MOTION_SCENE_CELLS, columns);
      for (guint column = first; column < end; column++, block++) {
        own_unexplained += MIN (block->sad, block->intra);
        own_intra += block->intra;
      }
      detector->unexplained[cell] += (gdouble) own_unexplained;
      detector->intra[cell] += (gdouble) own_intra;
    }
  }
  return intra > 0 ? unexplained / intra : 0.0;
}

/* --- the detector ------------------------------------------------------------- */

/* Novelty: share of the frame that motion does not explain and whose texture
 * differs from the last frame with content. */
static gdouble
get_novelty (MotionSceneDetector *detector, const MotionConfig *config,
    const MotionField *field)
{
  gdouble level = 1 << (config->depth - 8);
  gdouble map[CELLS];
  gboolean used[CELLS];
  gdouble likeness = 0.0, novel, before, deviation;
  gboolean boxed;
  guint64 samples;

  boxed =
      motion_count_used (config, field, &samples)
      < motion_config_get_columns (config) * motion_config_get_rows (config);
  deviation = (gdouble) field->summary.intra / (level * (gdouble) samples);
  map_texture (config, field, map, used);
  if (deviation < FLAT || (deviation < NOISE && is_even (map, used)))
    return 0.0;
  if (detector->has_texture)
    likeness = compare_maps (map, detector->texture, used, boxed);
  memcpy (detector->texture, map, sizeof map);
  detector->has_texture = TRUE;
  novel = 1.0 - likeness * likeness;
  before = exchange_scores (detector, config, field, used);
  /* other blocks are used than in the frame before: compare the same ones */
  if (memcmp (used, detector->used, sizeof used) != 0)
    detector->previous = MAX (detector->previous, before * novel);
  memcpy (detector->used, used, sizeof used);
  return field->summary.scene_score * novel;
}

gboolean
motion_scene_detect (MotionSceneDetector *detector, const MotionConfig *config,
    const MotionField *backward)
{
  gdouble threshold = detector->threshold;
  gdouble novelty;
  gboolean stands_out = detector->frames > 0;

  if (backward == NULL) {
    *detector = (MotionSceneDetector){ .threshold = threshold };
    return FALSE;
  }
  novelty = get_novelty (detector, config, backward);
  stands_out &= novelty - detector->previous >= threshold / 2;
  detector->previous = novelty;
  detector->frames++;
  return threshold > 0 && novelty >= threshold && stands_out;
}
