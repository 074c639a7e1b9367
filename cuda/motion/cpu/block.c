/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Blocks from their samples to their results, and the table of what is compiled
 * for an instruction set. */
#include "cuda/motion/cpu/search.h"

/* --- the block ------------------------------------------------------------------- */

/* Rows of @w bytes, one after the other. */
static inline void
copy_rows (guint8 *to, gsize to_stride, const guint8 *from, gssize stride,
    gsize w, gint32 h)
{
  for (gint32 y = 0; y < h; y++, to += to_stride, from += stride)
    memcpy (to, from, w);
}

/* The upper 8 bits, packed; the usual widths without a call for each row. */
static void
copy_block (const MotionCpuSearch *s)
{
  gssize stride = (gssize) s->params->stride;
  const guint8 *from = s->current->luma + stride * s->y + s->x;
  guint8 *to = s->scratch->block;

  if (s->w == 16)
    copy_rows (to, s->block_stride, from, stride, 16, s->h);
  else if (s->w == 32)
    copy_rows (to, s->block_stride, from, stride, 32, s->h);
  else
    copy_rows (to, s->block_stride, from, stride, (gsize) s->w, s->h);
}

/* The same in full depth, as numbers of 16 bits. */
static void
widen_block (const MotionCpuSearch *s)
{
  gssize stride = (gssize) s->params->stride;
  gssize from = stride * s->y + s->x;

  for (gint32 y = 0; y < s->h; y++, from += stride) {
    guint16 *deep = s->scratch->block_deep + MOTION_CPU_MAX_BLOCK * y;

    if (s->current->deep)
      memcpy (deep, s->current->deep + from, (gsize) s->w * sizeof *deep);
    else
      for (gint32 x = 0; x < s->w; x++)
        deep[x] = s->current->luma[from + x];
  }
}

/* Everything about the block but its field. */
static void
set_block (MotionCpuSearch *s, gint32 column, gint32 row)
{
  const MotionConfig *config = &s->params->config;
  gint32 size = (gint32) config->block_size;

  s->column = column;
  s->row = row;
  s->x = size * column;
  s->y = size * row;
  s->w = MIN (size, (gint32) config->width - s->x);
  s->h = MIN (size, (gint32) config->height - s->y);
  s->rect = motion_candidates (config, s->x, s->y, s->w, s->h);
  copy_block (s);
  if (s->wide)
    widen_block (s);
}

static gsize
index_of (const MotionCpuSearch *s)
{
  return (gsize) s->row * (gsize) s->params->columns + (gsize) s->column;
}

static void
set_field (MotionCpuSearch *s, const MotionCpuFrame *frame, guint i)
{
  s->reference = frame->references[i];
  s->at = s->reference->luma + (gssize) s->params->stride * s->y + s->x;
  s->vectors = frame->job->fields[i].vectors;
  s->priors = frame->priors[i];
  s->found = frame->found[i];
  s->confidences = frame->confidences[i];
  s->prior = s->priors ? s->priors[index_of (s)] : (CvisMotionVector){ 0 };
  s->n_visited = 0;
}

/* --- measures in full depth -------------------------------------------------------- */

static gint32
mean_of_block (guint32 sum, gint32 n)
{
  return ((gint32) sum + n / 2) / n;
}

/* From the upper 8 bits, which are all there are. */
static guint32
measure_intra_8 (const MotionCpuSearch *s)
{
  static const guint8 zeros[MOTION_CPU_MAX_BLOCK];
  guint8 means[MOTION_CPU_MAX_BLOCK];
  guint32 sum = motion_sad (zeros, 0, s->block, s->block_stride, s->w, s->h);

  memset (means, mean_of_block (sum, s->w * s->h), sizeof means);
  return motion_sad (means, 0, s->block, s->block_stride, s->w, s->h);
}

static guint32
measure_intra (const MotionCpuSearch *s)
{
  const guint16 *deep = s->scratch->block_deep;
  guint32 sum = 0, intra = 0;
  gint32 mean;

  if (s->current->deep == NULL)
    return measure_intra_8 (s);
  for (gint32 y = 0; y < s->h; y++)
    for (gint32 x = 0; x < s->w; x++)
      sum += deep[MOTION_CPU_MAX_BLOCK * y + x];
  mean = mean_of_block (sum, s->w * s->h);
  for (gint32 y = 0; y < s->h; y++)
    for (gint32 x = 0; x < s->w; x++)
      intra += (guint32) ABS (deep[MOTION_CPU_MAX_BLOCK * y + x] - mean);
  return intra;
}

/* SAD of the block at a whole-pixel vector. */
static guint32
measure_sad (const MotionCpuSearch *s, gint32 x, gint32 y)
{
  const guint16 *own = s->scratch->block_deep, *other;
  gssize stride = (gssize) s->params->stride;
  guint32 sum = 0;

  if (s->reference->deep == NULL)
    return motion_sad (s->block, s->block_stride, s->at + stride * y + x,
        (gsize) stride, s->w, s->h);
  other = s->reference->deep + stride * (s->y + y) + s->x + x;
  for (gint32 j = 0; j < s->h; j++) {
    for (gint32 i = 0; i < s->w; i++)
      sum += (guint32) ABS (own[i] - other[i]);
    own += MOTION_CPU_MAX_BLOCK;
    other += stride;
  }
  return sum;
}

static inline guint32
sse_of_row (const guint8 *own, const guint8 *other, gint32 n)
{
  guint32 sse = 0;

  for (gint32 i = 0; i < n; i++) {
    gint32 d = own[i] - other[i];

    sse += (guint32) (d * d);
  }
  return sse;
}

/* Of the prediction @other of an 8-bit frame. Pieces of constant width, as the
 * compiler vectorises those. */
static guint32
measure_sse (const MotionCpuSearch *s, const guint8 *other, gsize stride)
{
  const guint8 *own = s->block;
  guint32 sse = 0;

  for (gint32 j = 0; j < s->h; j++) {
    gint32 i = 0;

    for (; i + 16 <= s->w; i += 16)
      sse += sse_of_row (own + i, other + i, 16);
    sse += sse_of_row (own + i, other + i, s->w - i);
    own += s->block_stride;
    other += stride;
  }
  return sse;
}

/* Of the prediction in the scratch memory. */
static void
measure_prediction (const MotionCpuSearch *s, CvisMotionBlock *block)
{
  const guint16 *own = s->scratch->block_deep;
  const guint16 *other = s->scratch->prediction;
  guint32 sad = 0, sse = 0;

  for (gint32 y = 0; y < s->h; y++) {
    for (gint32 x = 0; x < s->w; x++) {
      gint32 d = own[x] - other[x];

      sad += (guint32) ABS (d);
      sse += (guint32) (d * d);
    }
    own += MOTION_CPU_MAX_BLOCK;
    other += MOTION_CPU_MAX_BLOCK;
  }
  block->sad = sad;
  block->sse = sse;
}

/* J in full depth of a vector, quarter pixels. */
static guint32
full_cost (const MotionCpuSearch *s, guint32 sad, gint32 x, gint32 y)
{
  guint32 bits = (guint32) s->params->bits[x - s->prior.x]
                 + s->params->bits[y - s->prior.y];

  return sad + (bits << (s->params->config.depth - 8));
}

/* All measures but intra. @predicted: the prediction is wanted in the scratch
 * memory */
static void
measure_block (MotionCpuSearch *s, gboolean predicted, CvisMotionVector *vector,
    CvisMotionBlock *block)
{
  if (predicted || s->current->deep) {
    MOTION_CPU (predict) (s, vector, s->scratch->prediction);
    measure_prediction (s, block);
  } else {
    gsize stride;
    const guint8 *other = MOTION_CPU (predict_8) (s, vector, &stride);

    block->sad =
        motion_sad (s->block, s->block_stride, other, stride, s->w, s->h);
    block->sse = measure_sse (s, other, stride);
  }
  vector->cost = full_cost (s, block->sad, vector->x, vector->y);
  block->zero_sad = measure_sad (s, 0, 0);
  block->second = G_MAXUINT32;
  if (s->n_visited > 1)
    block->second = full_cost (s, measure_sad (s, s->second.x, s->second.y),
        4 * s->second.x, 4 * s->second.y);
  if (s->found)
    block->flags = motion_field_flags (&s->params->config, (guint32) s->w,
        (guint32) s->h, vector, block, s->confidences[index_of (s)],
        s->current->field->noise);
  else
    block->flags = motion_block_flags (
        &s->params->config, (guint32) s->w, (guint32) s->h, vector, block);
}

/* --- planes ---------------------------------------------------------------------- */

static inline void
store_plane_sample (
    const MotionConfig *config, guint8 *row, gint32 x, gint32 value)
{
  if (config->depth == 8)
    row[x] = (guint8) value;
  else
    ((guint16 *) (gpointer) row)[x] = GUINT16_TO_LE ((guint16) (value << 6));
}

/* The prediction and what it leaves, into the frame's planes. */
static void
store_planes (const MotionCpuSearch *s, const MotionJob *job)
{
  const MotionConfig *config = &s->params->config;
  gint32 middle = 1 << (config->depth - 1), top = 2 * middle - 1;
  gsize offset = (gsize) s->x * (config->depth > 8 ? 2 : 1);

  for (gint32 y = 0; y < s->h; y++) {
    const guint16 *own = s->scratch->block_deep + MOTION_CPU_MAX_BLOCK * y;
    const guint16 *other = s->scratch->prediction + MOTION_CPU_MAX_BLOCK * y;
    gsize line = (gsize) (s->y + y);

    for (gint32 x = 0; job->prediction && x < s->w; x++)
      store_plane_sample (config,
          job->prediction + line * job->prediction_stride + offset, x,
          other[x]);
    for (gint32 x = 0; job->residual && x < s->w; x++)
      store_plane_sample (config,
          job->residual + line * job->residual_stride + offset, x,
          motion_clamp (middle + own[x] - other[x], 0, top));
  }
}

/* The prediction of a block without a field: the middle of the range. */
static void
predict_block_middle (MotionCpuSearch *s)
{
  guint16 middle = (guint16) (1 << (s->params->config.depth - 1));

  for (gint32 i = 0; i < MOTION_CPU_MAX_BLOCK * MOTION_CPU_MAX_BLOCK; i++)
    s->scratch->prediction[i] = middle;
}

/* --- everything for a block ---------------------------------------------------------- */

/* The vector that the passes over the field have found. */
static void
take_found_vector (MotionCpuSearch *s, CvisMotionVector *vector)
{
  MotionFieldVector v = s->found[index_of (s)];

  *vector = (CvisMotionVector){ (gint16) v.x, (gint16) v.y, 0 };
}

static void
find_block_vector (MotionCpuSearch *s, CvisMotionVector *vector)
{
  switch (s->params->config.method) {
    case MOTION_METHOD_FULL:
      MOTION_CPU (full) (s);
      break;
    case MOTION_METHOD_FULL_BRUTE:
      MOTION_CPU (full_brute) (s);
      break;
    case MOTION_METHOD_STEP:
      MOTION_CPU (step) (s);
      break;
    case MOTION_METHOD_ZONAL:
      MOTION_CPU (zonal) (s);
      break;
    case MOTION_METHOD_FIELD:
      take_found_vector (s, vector);
      return;
  }
  *vector = (CvisMotionVector){ (gint16) (4 * s->best.x),
    (gint16) (4 * s->best.y), s->best_cost };
  if (s->params->config.subpel != MOTION_SUBPEL_NONE)
    MOTION_CPU (subpel) (s, vector);
}

/* The best vector of the fields before, for the block's prediction. */
static guint32
cheapest_before (const MotionCpuSearch *s, const MotionJob *job, guint field)
{
  guint32 cheapest = G_MAXUINT32;

  for (guint i = 0; i < field; i++)
    cheapest = MIN (cheapest, job->fields[i].vectors[index_of (s)].cost);
  return cheapest;
}

static void
search_block (MotionCpuSearch *s, const MotionCpuFrame *frame, guint i)
{
  const MotionJob *job = frame->job;
  CvisMotionVector *vector = &job->fields[i].vectors[index_of (s)];
  CvisMotionBlock *block = &job->fields[i].blocks[index_of (s)];

  gboolean planes = job->prediction || job->residual;

  set_field (s, frame, i);
  block->intra =
      i > 0 ? job->fields[0].blocks[index_of (s)].intra : measure_intra (s);
  find_block_vector (s, vector);
  measure_block (s, planes, vector, block);
  if (planes && (i == 0 || vector->cost < cheapest_before (s, job, i)))
    store_planes (s, job);
}

/* The blocks of a tile, columns @left.. and rows @top.. */
static void
search_tile (MotionCpuSearch *s, const MotionCpuFrame *frame, gint32 left,
    gint32 right, gint32 top, gint32 bottom)
{
  const MotionCpuParams *params = s->params;
  gint32 size = (gint32) params->config.block_size;
  guint n = frame->job->n_fields;

  s->tile_x = size * left;
  s->tile_y = size * top;
  for (guint i = 0; i < MAX (n, 1); i++) {
    if (n > 0 && params->has_sums)
      MOTION_CPU (sums)
    (params, s->scratch, frame->references[i], s->tile_x, s->tile_y,
        MIN (size * right, (gint32) params->config.width) - s->tile_x,
        MIN (size * bottom, (gint32) params->config.height) - s->tile_y);
    for (gint32 row = top; row < bottom; row++) {
      for (gint32 column = left; column < right; column++) {
        set_block (s, column, row);
        if (n > 0) {
          search_block (s, frame, i);
        } else {
          predict_block_middle (s);
          store_planes (s, frame->job);
        }
      }
    }
  }
}

static void
search_tile_number (const MotionCpuParams *params, MotionCpuScratch *scratch,
    const MotionCpuFrame *frame, gint32 tile)
{
  gint32 left = tile % params->tiles_across * params->tile_columns;
  gint32 top = tile / params->tiles_across * params->tile_rows;
  MotionCpuSearch s = {
    .params = params,
    .scratch = scratch,
    .current = frame->current,
    .block = scratch->block,
    .block_stride = params->config.block_size,
    .wide =
        frame->current->deep || frame->job->prediction || frame->job->residual,
  };

  search_tile (&s, frame, left,
      MIN (left + params->tile_columns, params->columns), top,
      MIN (top + params->tile_rows, params->rows));
}

const MotionCpuKernels MOTION_CPU_EXPAND_TABLE (MOTION_CPU_LEVEL) = {
  G_STRINGIFY (MOTION_CPU_LEVEL),
  MOTION_CPU (quarter),
  search_tile_number,
};
