/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The constants and formulas of the regularised field (method=field), inline for
 * host and device. docs/design/motion.md, Regularised field, has the
 * definitions. */
#pragma once

#include "cuda/motion/arithmetic.h"
#include "cuda/motion/fieldtables.h"

G_BEGIN_DECLS

/* Levels of the pyramid; level 0 is the frame. */
#define MOTION_FIELD_LEVELS 4
#define MOTION_FIELD_COARSEST (MOTION_FIELD_LEVELS - 1)
/* Side of a block on the levels above 0, in samples of the level */
#define MOTION_FIELD_COARSE_BLOCK 8
/* Side of the squares from which noise is estimated */
#define MOTION_FIELD_NOISE_BLOCK 16
#define MOTION_FIELD_NOISE_MAX 1023 /* 1/16 of an 8-bit level */
/* Largest difference within the rows or columns of a bar, 8-bit levels */
#define MOTION_FIELD_BAR 4

/* Passes: at the coarsest level, at the levels between, at level 0 with steps of
 * a pixel, for each halving of the step, and at boundaries. */
#define MOTION_FIELD_COARSEST_PASSES 4
#define MOTION_FIELD_COARSE_PASSES 3
#define MOTION_FIELD_WHOLE_PASSES 2
#define MOTION_FIELD_SUBPEL_PASSES 2
#define MOTION_FIELD_SIDE_PASSES 2

/* Largest distance between vectors that the smoothness term distinguishes, pixels
 * of the level */
#define MOTION_FIELD_REACH 8
/* Weight of the distance from the expected vector; a neighbour's is 1. */
#define MOTION_FIELD_EXPECTED 2
/* Weights of neighbours: that of a block without texture, and the most that
 * texture adds */
#define MOTION_FIELD_WEIGHT_MIN 2
#define MOTION_FIELD_WEIGHT_MAX 64
/* Sum of weights from which a cell's mean vector needs no other cells */
#define MOTION_FIELD_FULL_WEIGHT 128
/* Weight of the length of the vectors at the coarsest level, 1/64 */
#define MOTION_FIELD_SHORT 4
/* Spacing of the search for blocks that no neighbour's motion explains, pixels, and the
 * data cost from which a block searches: that of 8 levels */
#define MOTION_FIELD_OWN_STEP 4
#define MOTION_FIELD_OWN_COST 2048
/* The same of the last search, and the number of points of its raster from which it
 * descends */
#define MOTION_FIELD_LAST_STEP 8
#define MOTION_FIELD_LAST_COST 768
#define MOTION_FIELD_LAST_STARTS 16

/* A vector: on level 0 quarter pixels, else pixels of the level. */
typedef struct {
  gint32 x, y;
} MotionFieldVector;

/* Part of a frame between bars, samples of level 0; right and bottom excluded */
typedef struct {
  gint32 left, top, right, bottom;
} MotionFieldArea;

/* The samples of a block that are compared, at its level. */
typedef struct {
  gint32 x, y, w, h;
} MotionFieldWindow;

/* The numbers from which the confidence of a vector is looked up. Costs are data costs.
 * @excess: the least cost one pixel off the vector, minus that of the vector
 * @cost: of the vector
 * @rough: sum over the eight neighbours of the distance from the vector, quarter
 *   pixels, each at most 32; 32 for a missing one
 * @support: weights of the block and of the neighbours within a pixel
 * @distance: from the expected vector, quarter pixels, at most 32
 * @ambiguity: on level 2, the least cost 2 to 6 pixels off the level's vector, minus
 *   that of the vector
 * @inside: sixteenths of the block that lie in the reference
 * @noise: of the frame, 1/16 levels */
typedef struct {
  gint32 excess, cost, rough, support, distance, ambiguity, inside, noise;
} MotionFieldEvidence;

/* The level where ambiguity is measured, and how far */
#define MOTION_FIELD_AMBIGUITY_LEVEL 2
#define MOTION_FIELD_AMBIGUITY_NEAR 2
#define MOTION_FIELD_AMBIGUITY_FAR 6

/* Change of light from the frame to its reference: a sample c of 1/16 levels becomes
 * c + offset + (gain * (c - 2048) >> 16). */
typedef struct {
  gint64 offset, gain;
} MotionFieldLight;

/* Sums over blocks: count, c, c * c, d, c * d; c: mean in the frame - 2048, d: mean
 * in the reference minus that in the frame, 1/16 levels */
typedef struct {
  gint64 n, c, cc, d, cd;
} MotionFieldLightSums;

/* Samples across or down at @level. */
MOTION_FN gint32
motion_field_size (guint32 size, guint level)
{
  return (gint32) ((size + (1u << level) - 1) >> level);
}

MOTION_FN gint32
motion_field_block (const MotionConfig *config, guint level)
{
  return level == 0 ? (gint32) config->block_size : MOTION_FIELD_COARSE_BLOCK;
}

/* Number of blocks across or down at @level. */
MOTION_FN gint32
motion_field_blocks (const MotionConfig *config, guint32 size, guint level)
{
  gint32 block = motion_field_block (config, level);

  return (motion_field_size (size, level) + block - 1) / block;
}

/* Largest component of a vector at @level > 0. */
MOTION_FN gint32
motion_field_range (const MotionConfig *config, guint level)
{
  return ((gint32) config->range + (1 << level) - 1) >> level;
}

/* Units of a vector in a pixel of @level. */
MOTION_FN gint32
motion_field_unit (guint level)
{
  return level == 0 ? 4 : 1;
}

/* The samples of a block: without those beyond the frame's edge; of a block that the
 * edge of @area crosses, only those on the side where at least half of it lies. */
MOTION_FN MotionFieldWindow
motion_field_window (const MotionConfig *config, const MotionFieldArea *area,
    guint level, gint32 column, gint32 row)
{
  gint32 size = motion_field_block (config, level), round = (1 << level) - 1;
  gint32 left = column * size, right = left + size;
  gint32 top = row * size, bottom = top + size;
  gint32 width = motion_field_size (config->width, level);
  gint32 height = motion_field_size (config->height, level);
  gint32 area_left = (area->left + round) >> level;
  gint32 area_top = (area->top + round) >> level;
  gint32 area_right = area->right >> level;
  gint32 area_bottom = area->bottom >> level;
  MotionFieldWindow all, part;

  right = right < width ? right : width;
  bottom = bottom < height ? bottom : height;
  all = (MotionFieldWindow){ left, top, right - left, bottom - top };
  part.x = left > area_left ? left : area_left;
  part.y = top > area_top ? top : area_top;
  part.w = (right < area_right ? right : area_right) - part.x;
  part.h = (bottom < area_bottom ? bottom : area_bottom) - part.y;
  if (part.w <= 0 || part.h <= 0)
    return all;
  if (2 * part.w * part.h >= all.w * all.h)
    return part;
  if (part.y > top)
    all.h = part.y - top;
  else if (part.y + part.h < bottom) {
    all.y = part.y + part.h;
    all.h = bottom - all.y;
  } else if (part.x > left)
    all.w = part.x - left;
  else {
    all.x = part.x + part.w;
    all.w = right - all.x;
  }
  return all;
}

/* The samples of @win that @v moves into the reference; all, if that is less than
 * half of them. */
MOTION_FN MotionFieldWindow
motion_field_inside (const MotionConfig *config, guint level,
    MotionFieldWindow win, MotionFieldVector v)
{
  gint32 shift = level == 0 ? 2 : 0, rest = level == 0 ? 3 : 0;
  gint32 left = -(v.x >> shift), top = -(v.y >> shift);
  gint32 right =
      motion_field_size (config->width, level) - ((v.x + rest) >> shift);
  gint32 bottom =
      motion_field_size (config->height, level) - ((v.y + rest) >> shift);
  MotionFieldWindow part;

  part.x = left > win.x ? left : win.x;
  part.y = top > win.y ? top : win.y;
  part.w = (right < win.x + win.w ? right : win.x + win.w) - part.x;
  part.h = (bottom < win.y + win.h ? bottom : win.y + win.h) - part.y;
  return part.w > 0 && part.h > 0 && 2 * part.w * part.h >= win.w * win.h ? part
                                                                          : win;
}

/* Weight of the smoothness at @level, in 1/256 levels a pixel.
 * @noise: of the frame, 1/16 levels */
MOTION_FN gint32
motion_field_lambda (const MotionConfig *config, guint level, gint32 noise)
{
  if (level == 0)
    return 64 * noise / (gint32) config->block_size + 20;
  return 2 * (noise >> level) + 30;
}

MOTION_FN gint32
motion_field_distance (MotionFieldVector a, MotionFieldVector b, gint32 most)
{
  gint32 x = a.x > b.x ? a.x - b.x : b.x - a.x;
  gint32 y = a.y > b.y ? a.y - b.y : b.y - a.y;

  return x + y < most ? x + y : most;
}

/* Whether the field begins with the zero vector, though another has the least cost: in a
 * frame without texture all costs are nearly equal.
 * @zero, @least: data costs of zero and of the best vector, summed over @n blocks */
MOTION_FN gboolean
motion_field_keeps_zero (gint64 zero, gint64 least, gint32 n)
{
  return zero - least <= least / 8 + 16 * (gint64) n;
}

/* Weight of a block in its neighbours' smoothness.
 * @excess: the least increase of its data cost one pixel off its vector */
MOTION_FN gint32
motion_field_weight (guint level, gint32 noise, gint32 excess)
{
  gint32 at_level = level == 0 ? noise : (noise >> level) * 2 + 3;
  gint32 threshold = 4 * at_level + 8;
  gint32 weight = (excess - threshold) * 64 / threshold;

  return excess <= threshold                ? 0
         : weight < MOTION_FIELD_WEIGHT_MAX ? weight
                                            : MOTION_FIELD_WEIGHT_MAX;
}

/* Least mean gain in data cost for which blocks take the frame's median vector */
#define MOTION_FIELD_SETTLE 16
/* Distance from which vectors count as different then, quarter pixels, and least number
 * of blocks that are alike */
#define MOTION_FIELD_SETTLE_DISTANCE 8
#define MOTION_FIELD_SETTLE_BLOCKS 4

/* Whether a block takes the median vector.
 * @own: gain of the block; @sum: of it and its neighbours with like vectors, @n blocks */
MOTION_FN gboolean
motion_field_settles (gint32 own, gint32 sum, gint32 n)
{
  return own > -MOTION_FIELD_SETTLE && n >= MOTION_FIELD_SETTLE_BLOCKS
         && sum > MOTION_FIELD_SETTLE * n;
}

/* At boundaries differences count up to this many levels, so that a few samples of the
 * other side, or hidden ones, do not decide: 8 levels and twice the noise. */
MOTION_FN gint32
motion_field_cut (gint32 noise)
{
  gint32 cut = 8 + noise / 8;

  return cut < 255 ? cut : 255;
}

/* How much more data cost a change may make there, 1/256 levels */
#define MOTION_FIELD_SIDE_SLACK 512

/* Cost of a change to the other side of a boundary: 1/32 level and an eighth of the
 * noise. */
MOTION_FN gint32
motion_field_change_cost (gint32 noise)
{
  return 64 + 16 * noise;
}

/* Data cost from which a block of @samples searches on its own: that of twice the noise
 * more than @cost.
 * @full: samples of a whole block */
MOTION_FN gint32
motion_field_unexplained (
    gint32 cost, gint32 noise, gint32 samples, gint32 full)
{
  return cost * samples / full + 32 * noise;
}

/* The data cost below which a block takes the vector of the last search; at most 0: none.
 * A sharp minimum is motion, even where a strip that the reference hides costs much.
 * @cost: of the block's vector; @excess: the least increase one pixel off it */
MOTION_FN gint32
motion_field_last_limit (gint32 cost, gint32 excess)
{
  gint32 gain = cost / 16 > 2 * excess ? cost / 16 : 2 * excess;

  return 4 * excess < cost ? cost - gain : 0;
}

/* The mean difference of a block, rounded, from the sum over @n samples. */
MOTION_FN gint32
motion_field_mean (gint32 sum, gint32 n)
{
  return sum >= 0 ? (sum + n / 2) / n : -((-sum + n / 2) / n);
}

/* Cost of a mean difference of @mean levels. */
MOTION_FN gint32
motion_field_mean_cost (gint32 mean)
{
  return mean == 0 ? 0 : 256;
}

/* Weights and weighted vectors, summed over a square of blocks, and the mean vector
 * in 1/16 units. */
typedef struct {
  gint64 weight, x, y;
  MotionFieldVector mean;
} MotionFieldCell;

/* The mean of a cell; up to the full weight it is @from, 1/16 units. */
MOTION_FN MotionFieldVector
motion_field_cell_mean (const MotionFieldCell *cell, MotionFieldVector from)
{
  gint64 rest = MOTION_FIELD_FULL_WEIGHT - cell->weight, total;

  rest = rest > 0 ? rest : 0;
  total = cell->weight + rest;
  return (MotionFieldVector){ (gint32) ((16 * cell->x + rest * from.x) / total),
    (gint32) ((16 * cell->y + rest * from.y) / total) };
}

/* Means of the larger cells at the place of cell (@x, @y); there are @columns x
 * @rows of the larger ones. */
MOTION_FN MotionFieldVector
motion_field_cell_between (const MotionFieldCell *larger, gint32 columns,
    gint32 rows, gint32 x, gint32 y)
{
  gint32 x0 = x / 2, y0 = y / 2;
  gint32 x1 = motion_clamp (x & 1 ? x0 + 1 : x0 - 1, 0, columns - 1);
  gint32 y1 = motion_clamp (y & 1 ? y0 + 1 : y0 - 1, 0, rows - 1);
  MotionFieldVector a = larger[y0 * columns + x0].mean;
  MotionFieldVector b = larger[y0 * columns + x1].mean;
  MotionFieldVector c = larger[y1 * columns + x0].mean;
  MotionFieldVector d = larger[y1 * columns + x1].mean;

  return (MotionFieldVector){ (9 * a.x + 3 * b.x + 3 * c.x + d.x) >> 4,
    (9 * a.y + 3 * b.y + 3 * c.y + d.y) >> 4 };
}

/* Noise in 1/16 levels from the sum of the Laplacian's magnitudes at the 14 x 14
 * inner samples of a square: sum / 196 / (6 sqrt (2 / pi)). */
MOTION_FN gint32
motion_field_noise (gint32 sum)
{
  gint32 noise = (sum * 16 + 469) / 938;

  return noise < MOTION_FIELD_NOISE_MAX ? noise : MOTION_FIELD_NOISE_MAX;
}

/* --- confidence -------------------------------------------------------------- */

/* Sums of terms from -SPAN to SPAN - 1 have entries of their own in the last table,
 * 2^SHIFT sums each. */
#define MOTION_FIELD_TERM_SPAN 256
#define MOTION_FIELD_TERM_SHIFT 2

/* The probability that a vector is within a pixel of the motion, in 1/256. (In CUDA
 * code the tables are on the device only.) */
#ifdef __CUDACC__
static __device__ __forceinline__ guint32
#else
static inline guint32
#endif
motion_field_confidence (const MotionFieldEvidence *e)
{
  gint32 excess = e->excess > 0 ? e->excess : 0;
  gint32 ambiguity = e->ambiguity > 0 ? e->ambiguity : 0;
  /* in the order of the tables; costs in 1/32 of what noise alone makes */
  const gint32 numbers[MOTION_FIELD_KINDS] = {
    excess * 32 / (4 * e->noise + 8),
    ambiguity * 32 / (2 * e->noise + 24),
    e->cost * 32 / (18 * e->noise + 64),
    e->rough,
    e->support,
    e->distance,
    e->inside,
  };
  gint32 sum = 0;

  for (gint32 k = 0; k < MOTION_FIELD_KINDS; k++) {
    gint32 bin = 0;

    while (bin < 15 && numbers[k] >= motion_field_limits[k][bin])
      bin++;
    sum += motion_field_terms[k][bin];
  }
  sum = motion_clamp (sum, -MOTION_FIELD_TERM_SPAN, MOTION_FIELD_TERM_SPAN - 1);
  return motion_field_confidences[(sum + MOTION_FIELD_TERM_SPAN)
                                  >> MOTION_FIELD_TERM_SHIFT];
}

/* Flags of a block of w x h samples with a confidence. @noise: 1/16 levels */
MOTION_FN guint32
motion_field_flags (const MotionConfig *config, guint32 w, guint32 h,
    const CvisMotionVector *vector, const CvisMotionBlock *block,
    guint32 confidence, gint32 noise)
{
  guint32 flags = motion_block_flags (config, w, h, vector, block);
  guint32 still = w * h * (32 + 3 * (guint32) noise) / 32;

  flags &= ~(guint32) CVIS_MOTION_BLOCK_STATIC;
  if (vector->x >= -1 && vector->x <= 1 && vector->y >= -1 && vector->y <= 1
      && block->sad <= still << (config->depth - 8))
    flags |= CVIS_MOTION_BLOCK_STATIC;
  return flags | CVIS_MOTION_BLOCK_RATED
         | confidence << CVIS_MOTION_BLOCK_CONFIDENCE_SHIFT;
}

/* Flags of a frame for its noise, 1/16 levels. */
MOTION_FN guint32
motion_field_frame_flags (gint32 noise)
{
  return CVIS_MOTION_FRAME_NOISE
         | (guint32) noise << CVIS_MOTION_FRAME_NOISE_SHIFT;
}

/* --- light ------------------------------------------------------------------- */

/* How far from the light of the previous iteration a block may be to count,
 * 1/16 levels. */
#define MOTION_FIELD_LIGHT_ITERATIONS 5
MOTION_FN gint32
motion_field_light_limit (guint iteration)
{
  return iteration == 0   ? 4096
         : iteration == 1 ? 256
         : iteration == 2 ? 128
                          : 64;
}

/* Difference that @light expects for a mean of @c - 2048. */
MOTION_FN gint64
motion_field_light_at (const MotionFieldLight *light, gint64 c)
{
  return light->offset + ((light->gain * c) >> 16);
}

/* The line of least squares; with fewer than 8 blocks @light stays, with less
 * than half a level of contrast it has no gain. */
MOTION_FN void
motion_field_light_fit (MotionFieldLight *light, const MotionFieldLightSums *s)
{
  gint64 c, d, variance, covariance;

  if (s->n < 8)
    return;
  c = s->c * 16 / s->n;
  d = s->d * 16 / s->n;
  variance = s->cc * 256 / s->n - c * c;
  covariance = s->cd * 256 / s->n - c * d;
  light->gain = variance < 64 * 256 ? 0 : covariance * 65536 / variance;
  light->offset = (d - ((light->gain * c) >> 16)) / 16;
}

/* The sample of 8 bits that @sample is compared as. */
MOTION_FN gint32
motion_field_light_sample (const MotionFieldLight *light, gint32 sample)
{
  gint64 d = motion_field_light_at (light, 16 * sample - 2048);

  return motion_clamp (sample + (gint32) ((d + 8) >> 4), 0, 255);
}

/* Whether @light changes any sample by more than three quarters of a level;
 * otherwise it is left out. */
MOTION_FN gboolean
motion_field_light_changes (const MotionFieldLight *light)
{
  gint64 dark = motion_field_light_at (light, -2048);
  gint64 bright = motion_field_light_at (light, 16 * 255 - 2048);

  return dark > 12 || dark < -12 || bright > 12 || bright < -12;
}

G_END_DECLS
