/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The search for one block in one reference, as the methods of the CPU backend
 * share it. Compiled for each instruction set; MOTION_CPU_LEVEL is its name. */
#pragma once

#include "cuda/motion/cpu/simd.h"

G_BEGIN_DECLS

#define MOTION_CPU_PASTE(name, level) motion_cpu_##name##_##level
#define MOTION_CPU_EXPAND(name, level) MOTION_CPU_PASTE (name, level)
#define MOTION_CPU(name) MOTION_CPU_EXPAND (name, MOTION_CPU_LEVEL)
#define MOTION_CPU_PASTE_TABLE(level) motion_cpu_##level
#define MOTION_CPU_EXPAND_TABLE(level) MOTION_CPU_PASTE_TABLE (level)

/* Vectors here are whole pixels unless said otherwise. */
typedef struct {
  gint32 x, y;
} MotionPoint;

/**
 * MotionCpuSearch:
 * @x, @y, @w, @h: the block
 * @block, @block_stride: its upper 8 bits, packed
 * @at: the sample of the reference at the block's place
 * @prior: its prior vector, quarter pixels; zero if it has none
 * @priors: the prior field; %NULL if there is none
 * @best, @second: what was found; costs of 8-bit samples
 * @n_visited: candidates visited, at most 2: with 1 only @best is valid,
 *   with 2 also @second
 */
typedef struct {
  const MotionCpuParams *params;
  MotionCpuScratch *scratch;
  const MotionCpuPicture *current, *reference;
  gint32 column, row;
  gint32 x, y, w, h;
  const guint8 *block;
  gsize block_stride;
  gboolean wide; /* the block is wanted as 16-bit numbers, too */
  const guint8 *at;
  MotionRect rect;
  gint32 tile_x, tile_y;           /* pixels */
  const CvisMotionVector *vectors; /* this field's; blocks left and above in the
                                * tile are done */
  CvisMotionVector prior;
  const CvisMotionVector *priors;
  const MotionFieldVector *found; /* this field's, with method=field */
  const guint8 *confidences;
  MotionPoint best, second;
  guint32 best_cost, second_cost;
  guint n_visited;
} MotionCpuSearch;

static inline guint32
motion_search_bits (const MotionCpuSearch *s, gint32 x, gint32 y)
{
  const guint16 *bits = s->params->bits;

  return (guint32) bits[4 * x - s->prior.x] + bits[4 * y - s->prior.y];
}

static inline gboolean
motion_search_allows (const MotionCpuSearch *s, gint32 x, gint32 y)
{
  return x >= s->rect.left && x <= s->rect.right && y >= s->rect.top
         && y <= s->rect.bottom;
}

/* J of a candidate. */
static inline guint32
motion_search_cost (const MotionCpuSearch *s, gint32 x, gint32 y)
{
  gsize stride = s->params->stride;

  return motion_sad (s->block, s->block_stride, s->at + (gssize) stride * y + x,
             stride, s->w, s->h)
         + motion_search_bits (s, x, y);
}

/* Takes a visited candidate over. Returns: whether it is the best now. */
static inline gboolean
motion_search_take (MotionCpuSearch *s, gint32 x, gint32 y, guint32 cost)
{
  if (s->n_visited == 0 || cost < s->best_cost) {
    s->second = s->best;
    s->second_cost = s->best_cost;
    s->best = (MotionPoint){ x, y };
    s->best_cost = cost;
    s->n_visited = MIN (s->n_visited + 1, 2);
    return TRUE;
  }
  if (s->n_visited == 1 || cost < s->second_cost) {
    s->second = (MotionPoint){ x, y };
    s->second_cost = cost;
    s->n_visited = 2;
  }
  return FALSE;
}

/* Visits a candidate in the method's order; nothing happens for what is none.
 * Returns: whether it is the best now and was not before. */
static inline gboolean
motion_search_visit (MotionCpuSearch *s, gint32 x, gint32 y)
{
  if (!motion_search_allows (s, x, y)
      || (s->n_visited > 0 && x == s->best.x && y == s->best.y))
    return FALSE;
  return motion_search_take (s, x, y, motion_search_cost (s, x, y));
}

/* The candidate next to (@x, @y). */
static inline MotionPoint
motion_search_clamp (const MotionCpuSearch *s, gint32 x, gint32 y)
{
  return (MotionPoint){ motion_clamp (x, s->rect.left, s->rect.right),
    motion_clamp (y, s->rect.top, s->rect.bottom) };
}

/* A block's vector in @field as a candidate. */
static inline MotionPoint
motion_search_from (const MotionCpuSearch *s, const CvisMotionVector *field,
    gint32 column, gint32 row)
{
  const CvisMotionVector *v =
      &field[(gsize) row * (gsize) s->params->columns + (gsize) column];

  return motion_search_clamp (s, motion_whole (v->x), motion_whole (v->y));
}

/* Likewise in the prior field. Returns: FALSE if there is none. */
static inline gboolean
motion_search_prior (
    const MotionCpuSearch *s, gint32 column, gint32 row, MotionPoint *point)
{
  if (s->priors == NULL || column < 0 || row < 0 || column >= s->params->columns
      || row >= s->params->rows)
    return FALSE;
  *point = motion_search_from (s, s->priors, column, row);
  return TRUE;
}

/* The methods, from a search in which all but the results is set. */
void MOTION_CPU (full) (MotionCpuSearch *s);
void MOTION_CPU (full_brute) (MotionCpuSearch *s);
void MOTION_CPU (step) (MotionCpuSearch *s);
void MOTION_CPU (zonal) (MotionCpuSearch *s);

/* Goes on from the best whole-pixel vector to @vector; its cost is that of
 * 8-bit samples. */
void MOTION_CPU (subpel) (MotionCpuSearch *s, CvisMotionVector *vector);

/* The samples that @vector predicts, of a depth of 8. A vector between the pixels
 * is one that subpel visited for this block.
 * @stride: (out): of the rows */
const guint8 *MOTION_CPU (predict_8) (
    MotionCpuSearch *s, const CvisMotionVector *vector, gsize *stride);
/* Likewise in full depth, in rows of MOTION_CPU_MAX_BLOCK. */
void MOTION_CPU (predict) (
    MotionCpuSearch *s, const CvisMotionVector *vector, guint16 *to);

/* Makes the sums of @reference round the tile of @w x @h pixels at (@x, @y). */
void MOTION_CPU (sums) (const MotionCpuParams *params,
    MotionCpuScratch *scratch, const MotionCpuPicture *reference, gint32 x,
    gint32 y, gint32 w, gint32 h);
/* See MotionCpuKernels. */
void MOTION_CPU (quarter) (const MotionCpuParams *params,
    MotionCpuPicture *picture, gint32 first, gint32 n);

G_END_DECLS
