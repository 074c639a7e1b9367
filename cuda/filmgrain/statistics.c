/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Grain of frames: finds the flattest blocks and sums up their grain. Called by
 * filmgrainenc. */
#include "cuda/filmgrain/statistics.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK 32 /* of the luma */

typedef struct {
  guint x, y;     /* luma samples */
  guint point;    /* level of its luma */
  guint64 energy; /* of its gradient */
} Block;

struct _FilmGrain {
  FilmGrainFormat format;
  gint16 *luma;     /* of the denoised frame */
  gint16 *grain[3]; /* source minus denoised */
  Block *blocks;
  guint n_blocks;
  FilmGrainSums sums[3];
};

static guint
plane_width (const FilmGrainFormat *format, guint plane)
{
  const guint sub = plane > 0 ? format->sub_x : 0;

  return (format->width + (1u << sub) - 1) >> sub;
}

static guint
plane_height (const FilmGrainFormat *format, guint plane)
{
  const guint sub = plane > 0 ? format->sub_y : 0;

  return (format->height + (1u << sub) - 1) >> sub;
}

FilmGrain *
film_grain_new (const FilmGrainFormat *format)
{
  FilmGrain *grain = g_new0 (FilmGrain, 1);

  grain->format = *format;
  grain->luma = g_new (gint16, (gsize) format->width * format->height);
  for (guint i = 0; i < format->planes; i++)
    grain->grain[i] = g_new (
        gint16, (gsize) plane_width (format, i) * plane_height (format, i));
  grain->n_blocks = (format->width / BLOCK) * (format->height / BLOCK);
  grain->blocks = g_new (Block, grain->n_blocks);
  return grain;
}

void
film_grain_free (FilmGrain *grain)
{
  if (grain == NULL)
    return;
  g_free (grain->luma);
  for (guint i = 0; i < 3; i++)
    g_free (grain->grain[i]);
  g_free (grain->blocks);
  g_free (grain);
}

/* --- samples ---------------------------------------------------------------- */

static void
load_row (const FilmGrainFormat *format, const FilmGrainPlane *plane, guint y,
    gint16 *to, guint n)
{
  const guint8 *from = plane->data + (gssize) y * plane->stride;

  if (format->depth == 8)
    for (guint x = 0; x < n; x++)
      to[x] = from[(gsize) x * plane->step];
  else
    for (guint x = 0; x < n; x++) {
      const guint8 *word = from + (gsize) x * plane->step;

      to[x] = (gint16) ((word[0] | word[1] << 8) >> format->shift);
    }
}

static void
load_grain (FilmGrain *grain, const FilmGrainPlane *source,
    const FilmGrainPlane *denoised)
{
  const FilmGrainFormat *format = &grain->format;
  gint16 *row = g_new (gint16, format->width);

  for (guint i = 0; i < format->planes; i++) {
    const guint width = plane_width (format, i);

    for (guint y = 0; y < plane_height (format, i); y++) {
      gint16 *to = grain->grain[i] + (gsize) y * width;

      load_row (format, &source[i], y, to, width);
      load_row (format, &denoised[i], y, row, width);
      if (i == 0)
        memcpy (grain->luma + (gsize) y * width, row, width * sizeof *row);
      for (guint x = 0; x < width; x++)
        to[x] -= row[x];
    }
  }
  g_free (row);
}

/* --- flat blocks ------------------------------------------------------------ */

/* Index of the point of the scaling function for an 8-bit level */
static guint
point_of_level (guint level)
{
  return level * FILM_GRAIN_POINTS / 256;
}

static void
measure_block (const FilmGrain *grain, Block *block)
{
  const guint width = grain->format.width;
  const gint16 *first = grain->luma + (gsize) block->y * width + block->x;
  guint64 sum = 0, energy = 0;

  for (guint y = 0; y < BLOCK; y++) {
    const gint16 *row = first + (gsize) y * width;
    guint32 levels = 0, squares = 0;

    for (guint x = 0; x < BLOCK; x++)
      levels += (guint32) row[x];
    for (guint x = 0; x + 1 < BLOCK; x++) {
      const gint32 d = row[x + 1] - row[x];

      squares += (guint32) (d * d);
    }
    for (guint x = 0; x < BLOCK && y + 1 < BLOCK; x++) {
      const gint32 d = row[x + width] - row[x];

      squares += (guint32) (d * d);
    }
    sum += levels;
    energy += squares;
  }
  block->point = point_of_level (
      (guint) (sum / (BLOCK * BLOCK)) >> (grain->format.depth - 8));
  block->energy = energy;
}

static gint
compare_blocks (gconstpointer a, gconstpointer b)
{
  const Block *first = a, *second = b;

  if (first->energy != second->energy)
    return first->energy < second->energy ? -1 : 1;
  if (first->y != second->y)
    return first->y < second->y ? -1 : 1;
  return first->x < second->x ? -1 : first->x > second->x;
}

/* Sorts the blocks by their energy. */
static void
rank_blocks (FilmGrain *grain)
{
  const guint columns = grain->format.width / BLOCK;

  for (guint i = 0; i < grain->n_blocks; i++) {
    grain->blocks[i] =
        (Block){ .x = i % columns * BLOCK, .y = i / columns * BLOCK };
    measure_block (grain, &grain->blocks[i]);
  }
  qsort (grain->blocks, grain->n_blocks, sizeof *grain->blocks, compare_blocks);
}

/* --- sums ------------------------------------------------------------------- */

static void
add_strengths (FilmGrain *grain, guint plane, guint x0, guint y0, guint width,
    guint height)
{
  const FilmGrainFormat *format = &grain->format;
  const guint sub_x = plane > 0 ? format->sub_x : 0;
  const guint sub_y = plane > 0 ? format->sub_y : 0;
  FilmGrainSums *sums = &grain->sums[plane];

  for (guint y = y0; y < y0 + height; y++) {
    const gint16 *row =
        grain->grain[plane] + (gsize) y * plane_width (format, plane);
    const gint16 *luma = grain->luma + (gsize) (y << sub_y) * format->width;

    for (guint x = x0; x < x0 + width; x++) {
      const guint level = (guint) luma[x << sub_x] >> (format->depth - 8);
      const guint point = point_of_level (level);

      sums->samples[point]++;
      sums->level[point] += level;
      sums->grain[point] += row[x];
      sums->squares[point] += (gint32) row[x] * row[x];
    }
  }
}

/* Products of the samples of a block at each distance, both inside */
static void
add_products (FilmGrainSums *sums, const gint16 *first, guint stride,
    guint width, guint height)
{
  for (guint dy = 0; dy < FILM_GRAIN_ROWS; dy++)
    for (gint dx = dy == 0 ? 0 : -FILM_GRAIN_REACH; dx <= FILM_GRAIN_REACH;
         dx++) {
      const guint begin = dx < 0 ? (guint) -dx : 0;
      const guint end = dx > 0 ? width - (guint) dx : width;
      gint64 sum = 0;

      for (guint y = 0; y + dy < height; y++) {
        const gint16 *row = first + (gsize) y * stride;
        const gint16 *other = row + (gsize) dy * stride + dx;
        gint32 products = 0;

        for (guint x = begin; x < end; x++)
          products += (gint32) row[x] * other[x];
        sum += products;
      }
      sums->products[dy][dx + FILM_GRAIN_REACH] += sum;
      sums->pairs[dy][dx + FILM_GRAIN_REACH] += (height - dy) * (end - begin);
    }
}

/* Sum of the luma's grain at a sample of chroma */
static gint32
sum_luma (const FilmGrain *grain, guint x, guint y)
{
  const FilmGrainFormat *format = &grain->format;
  const gint16 *luma = grain->grain[0]
                       + (gsize) (y << format->sub_y) * format->width
                       + (x << format->sub_x);
  gint32 sum = 0;

  for (guint j = 0; j <= format->sub_y; j++)
    for (guint i = 0; i <= format->sub_x; i++)
      sum += luma[j * format->width + i];
  return sum;
}

/* Products of the luma with the chroma's neighbours, all inside the block */
static void
add_luma_products (FilmGrain *grain, guint plane, guint x0, guint y0,
    guint width, guint height)
{
  const guint stride = plane_width (&grain->format, plane);
  FilmGrainSums *sums = &grain->sums[plane];

  for (guint y = y0 + FILM_GRAIN_LAG; y < y0 + height; y++)
    for (guint x = x0 + FILM_GRAIN_LAG; x + FILM_GRAIN_LAG < x0 + width; x++) {
      const gint16 *at = grain->grain[plane] + (gsize) y * stride + x;
      const gint32 luma = sum_luma (grain, x, y);

      for (guint i = 0; i <= FILM_GRAIN_NEIGHBOURS; i++) {
        const gssize offset = (gssize) film_grain_row (i) * (gssize) stride
                              + film_grain_column (i);

        sums->luma_products[i] += (gint64) luma * at[offset];
        sums->luma_pairs[i]++;
      }
      sums->luma_squares += (gint64) luma * luma;
    }
}

static void
add_block (FilmGrain *grain, const Block *block)
{
  for (guint i = 0; i < grain->format.planes; i++) {
    const guint sub_x = i > 0 ? grain->format.sub_x : 0;
    const guint sub_y = i > 0 ? grain->format.sub_y : 0;
    const guint stride = plane_width (&grain->format, i);
    const guint x = block->x >> sub_x, y = block->y >> sub_y;
    const guint width = BLOCK >> sub_x, height = BLOCK >> sub_y;

    add_strengths (grain, i, x, y, width, height);
    add_products (&grain->sums[i], grain->grain[i] + (gsize) y * stride + x,
        stride, width, height);
    if (i > 0)
      add_luma_products (grain, i, x, y, width, height);
  }
}

/* Uses the flattest quarter of the blocks of each level, so that dark and bright parts
 * count, except blocks with far more texture than the flattest quarter of all. */
void
film_grain_add (FilmGrain *grain, const FilmGrainPlane source[3],
    const FilmGrainPlane denoised[3])
{
  guint blocks[FILM_GRAIN_POINTS] = { 0 }, used[FILM_GRAIN_POINTS] = { 0 };
  guint64 limit;

  load_grain (grain, source, denoised);
  if (grain->n_blocks == 0)
    return;
  rank_blocks (grain);
  limit = 4 * grain->blocks[grain->n_blocks / 4].energy;
  for (guint i = 0; i < grain->n_blocks; i++)
    blocks[grain->blocks[i].point]++;
  for (guint i = 0; i < grain->n_blocks; i++) {
    const Block *block = &grain->blocks[i];

    if (block->energy <= limit
        && 4 * used[block->point] < blocks[block->point]) {
      used[block->point]++;
      add_block (grain, block);
    }
  }
}

void
film_grain_take (FilmGrain *grain, FilmGrainParameters *into)
{
  film_grain_solve (&grain->format, grain->sums, into);
  memset (grain->sums, 0, sizeof grain->sums);
}
