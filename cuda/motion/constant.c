/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/motion/constant.h"

#include <string.h>

/* Levels of 256 a sample: largest difference of an unchanged block, and
 * deviation of a flat one. Noise of sigma 3 has a mean difference from frame
 * to frame of 3.4 and a mean deviation of 2.4. */
#define UNCHANGED 5
#define FLAT 3

/* The noise of a frame is the residue that one in QUANTILE blocks does not
 * exceed. */
#define QUANTILE 10

/* Frames over which the activity is averaged, and the least activity of a
 * block that belongs to the moving picture. */
#define MEMORY 16
#define ACTIVE 0.25

struct _MotionConstant {
  MotionConfig config;
  guint columns, n;
  guint frames;   /* that changed, at most MEMORY */
  guint32 *intra; /* of the frame before; zero: there is none */
  gdouble noise;  /* mean residue of a sample, levels; negative: unknown */
  guint32 *level; /* one level in each sample of a block */
  gdouble *residues;
  guint16 *bins;     /* of the residues */
  gdouble *activity; /* share of the last frames that changed the block */
  /* of the current frame */
  guint8 *live; /* changed */
  guint8 *flat; /* in both frames, and unchanged */
  guint8 *used, *inner;
};

/* Of block @i */
static guint
get_samples (const MotionConfig *config, guint i)
{
  guint columns = motion_config_get_columns (config);
  guint size = config->block_size;

  return MIN (size, config->width - i % columns * size)
         * MIN (size, config->height - i / columns * size);
}

MotionConstant *
motion_constant_new (const MotionConfig *config, GError **error)
{
  MotionConstant *constant = g_new0 (MotionConstant, 1);

  constant->config = *config;
  constant->columns = motion_config_get_columns (config);
  constant->n = constant->columns * motion_config_get_rows (config);
  constant->intra = g_try_new0 (guint32, constant->n);
  constant->level = g_try_new0 (guint32, constant->n);
  constant->residues = g_try_new0 (gdouble, constant->n);
  constant->bins = g_try_new0 (guint16, constant->n);
  constant->activity = g_try_new0 (gdouble, constant->n);
  constant->live = g_try_new0 (guint8, constant->n);
  constant->flat = g_try_new0 (guint8, constant->n);
  constant->used = g_try_new0 (guint8, constant->n);
  constant->inner = g_try_new0 (guint8, constant->n);
  if (!constant->intra || !constant->level || !constant->residues
      || !constant->bins || !constant->activity || !constant->live
      || !constant->flat || !constant->used || !constant->inner) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "cannot allocate memory for %u blocks", constant->n);
    motion_constant_free (constant);
    return NULL;
  }
  for (guint i = 0; i < constant->n; i++)
    constant->level[i] = get_samples (config, i) << (config->depth - 8);
  motion_constant_restart (constant);
  return constant;
}

void
motion_constant_free (MotionConstant *constant)
{
  if (constant == NULL)
    return;
  g_free (constant->intra);
  g_free (constant->level);
  g_free (constant->residues);
  g_free (constant->bins);
  g_free (constant->activity);
  g_free (constant->live);
  g_free (constant->flat);
  g_free (constant->used);
  g_free (constant->inner);
  g_free (constant);
}

void
motion_constant_restart (MotionConstant *constant)
{
  constant->frames = 0;
  constant->noise = -1.0;
  memset (constant->intra, 0, constant->n * sizeof *constant->intra);
  for (guint i = 0; i < constant->n; i++)
    constant->activity[i] = 0.0;
}

/* --- what a frame shows ------------------------------------------------------ */

/* The value that @rank of the @n values are before, in ascending order; changes their
 * order. */
static gdouble
select_rank (gdouble *values, guint n, guint rank)
{
  guint first = 0, last = n - 1;

  while (first < last) {
    const gdouble middle = values[first + (last - first) / 2];
    guint i = first, j = last;

    while (TRUE) {
      gdouble value;

      while (values[i] < middle)
        i++;
      while (values[j] > middle)
        j--;
      if (i >= j)
        break;
      value = values[i];
      values[i++] = values[j];
      values[j--] = value;
    }
    if (rank <= j)
      last = j;
    else
      first = j + 1;
  }
  return values[rank];
}

/* Residues are sorted into bins of an eighth of a level, of 0 to 255 levels. */
#define BINS 2048

static gdouble
get_residue (const MotionConstant *c, const MotionField *field, guint i)
{
  return (gdouble) field->blocks[i].sad / (gdouble) c->level[i];
}

/* The residue that @rank of the blocks' residues are before, in ascending order */
static gdouble
select_residue (MotionConstant *c, const MotionField *field, guint rank)
{
  guint32 counts[BINS] = { 0 };
  guint bin = 0, before = 0, n = 0;
  guint16 *bins = c->bins;

  for (guint i = 0; i < c->n; i++) {
    bins[i] = (guint16) MIN ((guint) (8 * get_residue (c, field, i)), BINS - 1);
    counts[bins[i]]++;
  }
  while (before + counts[bin] <= rank)
    before += counts[bin++];
  for (guint i = 0; i < c->n; i++)
    if (bins[i] == bin)
      c->residues[n++] = get_residue (c, field, i);
  return select_rank (c->residues, n, rank - before);
}

/* The residue of a cut is not noise, so that the noise may only double from
 * frame to frame. Repeated frames do not show it. */
static void
measure_noise (MotionConstant *c, const MotionField *field)
{
  guint64 change = 0;
  gdouble noise;

  for (guint i = 0; i < c->n; i++)
    change += field->blocks[i].zero_sad;
  if (change == 0)
    return;
  noise = select_residue (c, field, (c->n - 1) / QUANTILE);
  c->noise = c->noise < 0 ? noise : MIN (noise, 2 * c->noise + 0.1);
}

/* Largest mean difference of an unchanged block, levels. */
static gdouble
get_largest_noise (const MotionConstant *c)
{
  return MIN (1 + 1.5 * MAX (c->noise, 0), UNCHANGED);
}

static void
classify_blocks (MotionConstant *c, const MotionField *field)
{
  const guint32 *levels = c->level;
  const guint32 *before = c->intra; /* zero before the second frame */
  guint8 *live = c->live, *flat = c->flat;
  gdouble most;

  measure_noise (c, field);
  most = get_largest_noise (c);
  for (guint i = 0; i < c->n; i++) {
    const CvisMotionBlock block = field->blocks[i];
    const gint64 level = levels[i];
    const gint64 zero_sad = block.zero_sad;
    /* unchanged: the difference is small, and motion explains none of it */
    const gboolean changed = ((gdouble) zero_sad > most * (gdouble) level)
                             | (zero_sad > 2 * (gint64) block.sad + level);

    live[i] = (guint8) changed;
    flat[i] = !changed & (MAX (block.intra, before[i]) <= FLAT * level);
  }
}


static guint
count_blocks (const guint8 *marks, guint n)
{
  guint count = 0;

  for (guint i = 0; i < n; i++)
    count += marks[i];
  return count;
}

static void
remember_frame (MotionConstant *c, const MotionField *field)
{
  const guint8 *live = c->live;
  gdouble *activity = c->activity;
  gdouble frames;

  for (guint i = 0; i < c->n; i++)
    c->intra[i] = field->blocks[i].intra;
  if (count_blocks (live, c->n) == 0)
    return; /* repeated */
  c->frames = MIN (c->frames + 1, MEMORY);
  frames = c->frames;
  for (guint i = 0; i < c->n; i++)
    activity[i] += (live[i] - activity[i]) / frames;
}

/* --- which blocks are used --------------------------------------------------- */

/* Uses the blocks that change or have been changing. */
static void
use_changing (MotionConstant *c)
{
  const guint8 *live = c->live;
  const gdouble *activity = c->activity;
  guint8 *used = c->used;

  for (guint i = 0; i < c->n; i++)
    used[i] = live[i] | (activity[i] >= ACTIVE);
}

/* Whether hardly anything else has texture: a logo, a ticker, bars. */
static gboolean
is_most_of_texture (const MotionConstant *c)
{
  const guint8 *used = c->used, *flat = c->flat;
  guint textured = 0;

  for (guint i = 0; i < c->n; i++)
    textured += used[i] | !flat[i];
  return 4 * count_blocks (c->used, c->n) >= 3 * textured;
}

/* Whether the used blocks are a moving picture within a still one: a fifth of
 * the frame, four fifths of a rectangle, which touches at most two of the
 * frame's edges. With three it may be a moving object before a still camera. */
static gboolean
is_picture_in_picture (const MotionConstant *c)
{
  guint left = G_MAXUINT, right = 0, top = G_MAXUINT, bottom = 0;
  guint count = count_blocks (c->used, c->n), edges;

  if (5 * count < c->n)
    return FALSE;
  for (guint y = 0; y < c->n / c->columns; y++) {
    const guint8 *used = c->used + (gsize) y * c->columns;
    guint first = 0, last = c->columns - 1;

    while (first < last && !used[first])
      first++;
    if (!used[first])
      continue;
    while (!used[last])
      last--;
    left = MIN (left, first);
    right = MAX (right, last);
    top = MIN (top, y);
    bottom = y;
  }
  edges = (left == 0) + (right == c->columns - 1) + (top == 0)
          + (bottom == c->n / c->columns - 1);
  return edges <= 2 && 5 * count >= 4 * (right - left + 1) * (bottom - top + 1);
}

static gboolean
is_flat_row (const MotionConstant *c, guint row)
{
  for (guint x = 0; x < c->columns; x++)
    if (!c->flat[row * c->columns + x])
      return FALSE;
  return TRUE;
}

static gboolean
is_flat_column (const MotionConstant *c, guint column)
{
  for (guint i = column; i < c->n; i += c->columns)
    if (!c->flat[i])
      return FALSE;
  return TRUE;
}

/* Uses the rectangle between flat rows and columns at the frame's edges.
 * Returns: FALSE if there are none, or nothing else */
static gboolean
use_between_bars (MotionConstant *c)
{
  guint left = 0, right = c->columns, top = 0, bottom = c->n / c->columns;

  while (top < bottom && is_flat_row (c, top))
    top++;
  if (top == bottom)
    return FALSE;
  while (is_flat_row (c, bottom - 1))
    bottom--;
  while (is_flat_column (c, left))
    left++;
  while (is_flat_column (c, right - 1))
    right--;
  memset (c->used, 0, c->n);
  for (guint y = top; y < bottom; y++)
    memset (c->used + (gsize) y * c->columns + left, 1, right - left);
  return (right - left) * (bottom - top) < c->n;
}

/* Marks the blocks of a row whose neighbours in this and the adjacent rows are used. */
static void
mark_inner (MotionConstant *c, guint y)
{
  const guint last = c->columns - 1, rows = c->n / c->columns;
  const guint8 *row = c->used + (gsize) y * c->columns;
  const guint8 *above = y > 0 ? row - c->columns : row;
  const guint8 *below = y + 1 < rows ? row + c->columns : row;
  guint8 *inner = c->inner + (gsize) y * c->columns;
  guint8 left, here = above[0] & row[0] & below[0];

  left = here;
  for (guint x = 0; x <= last; x++) {
    const guint next = MIN (x + 1, last);
    const guint8 right = above[next] & row[next] & below[next];

    inner[x] = left & here & right;
    left = here;
    here = right;
  }
}

/* Leaves out the blocks beside constant ones too, since the edge of the
 * constant part may cross them, unless less than a quarter would be left. */
static void
leave_out_edges (MotionConstant *c)
{
  guint count = count_blocks (c->used, c->n);

  for (guint y = 0; y < c->n / c->columns; y++)
    mark_inner (c, y);
  if (4 * count_blocks (c->inner, c->n) >= count)
    memcpy (c->used, c->inner, c->n);
}

void
motion_constant_mark (MotionConstant *c, MotionField *fields, guint n_fields)
{
  if (n_fields == 0)
    return;
  classify_blocks (c, &fields[0]);
  use_changing (c);
  if (is_most_of_texture (c) || is_picture_in_picture (c)
      || use_between_bars (c)) {
    leave_out_edges (c);
    for (guint k = 0; count_blocks (c->used, c->n) > 0 && k < n_fields; k++)
      for (guint i = 0; i < c->n; i++)
        if (!c->used[i])
          fields[k].blocks[i].flags |= CVIS_MOTION_BLOCK_CONSTANT;
  }
  if (fields[0].distance == -1)
    remember_frame (c, &fields[0]);
}

guint
motion_count_used (
    const MotionConfig *config, const MotionField *field, guint64 *samples)
{
  const CvisMotionBlock *block = field->blocks;
  const guint size = config->block_size;
  const guint last = motion_config_get_columns (config) - 1;
  guint blocks = 0;

  *samples = 0;
  for (guint y = 0; y < config->height; y += size) {
    const guint height = MIN (size, config->height - y);
    guint whole = 0, narrow;

    for (guint x = 0; x < last; x++, block++)
      whole += !(block->flags & CVIS_MOTION_BLOCK_CONSTANT);
    narrow = !((block++)->flags & CVIS_MOTION_BLOCK_CONSTANT);
    blocks += whole + narrow;
    *samples +=
        (whole * size + narrow * (config->width - last * size)) * height;
  }
  return blocks;
}
