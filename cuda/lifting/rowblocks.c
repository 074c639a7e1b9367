/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/lifting/rowblocks.h"

static guint
count_splits (const LwtChain *chain)
{
  guint n = 0;

  for (guint i = 0; i < chain->n; i++)
    n += chain->levels[i].y ? 1 : 0;
  return n;
}

static gboolean
is_periodic (const LwtRowBlocks *blocks)
{
  return blocks->plan->config.boundary == LWT_BOUNDARY_PERIODIC;
}

/* Largest distance, to either side, from a sample to one that it depends on:
 * near an edge, mirrored neighbours extend a step's reach to the other side. */
static guint
get_reach (const LwtWavelet *wavelet)
{
  guint reach = 0;

  for (guint i = 0; i < wavelet->n_steps; i++) {
    const LwtStep *step = &wavelet->steps[i];
    const gint apart = step->kind == LWT_STEP_PREDICT ? -1 : 1;
    const gint first = 2 * step->first + apart;
    const gint last = 2 * (step->first + (gint) step->n - 1) + apart;

    reach += (guint) MAX (ABS (first), ABS (last));
  }
  return reach;
}

gboolean
lwt_row_blocks_init (LwtRowBlocks *blocks, const LwtPlan *plan, GError **error)
{
  const LwtWavelet *wavelet = &plan->wavelet;
  const LwtOperation operation = plan->config.operation;
  const guint splits = count_splits (&plan->bands);
  guint64 reach =
      get_reach (wavelet)
      + 2 * (guint64) MAX (ABS (wavelet->shift_low), ABS (wavelet->shift_high));

  *blocks = (LwtRowBlocks){ .plan = plan, .grid = 1u << splits };
  /* reach 2^0 + reach 2^1 + .., doubled for the inverse */
  reach *= blocks->grid - 1;
  if (operation == LWT_OPERATION_FILTER || operation == LWT_OPERATION_DENOISE)
    reach *= 2;
  reach = (reach + blocks->grid - 1) / blocks->grid * blocks->grid;
  blocks->halo = (guint) CLAMP (reach, blocks->grid, LWT_MAX_SIDE);
  if (!is_periodic (blocks)
      || (plan->height % blocks->grid == 0 && blocks->halo <= plan->height))
    return TRUE;
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
      "with the boundary periodic a surface of %u rows that exceeds "
      "the device memory needs a number of rows that is a "
      "multiple of "
      "%u and at least %u. Use the boundary symmetric, or backend=cpu",
      plan->height, blocks->grid, blocks->halo);
  return FALSE;
}

void
lwt_row_blocks_cut (LwtRowBlocks *blocks, guint rows)
{
  blocks->rows = rows;
  blocks->height = 0;
  blocks->n = (blocks->plan->height - 1) / rows + 1;
}

static guint
round_up (guint64 value, guint grid)
{
  return (guint) ((value + grid - 1) / grid * grid);
}

/* The last picture ends with the whole one and begins at a multiple of the grid, so that
 * the height of all has the remainder of the whole's. */
gboolean
lwt_row_blocks_cut_even (LwtRowBlocks *blocks, guint n)
{
  const guint whole = blocks->plan->height, grid = blocks->grid;
  const guint rest = whole % grid, halos = 2 * blocks->halo + rest;
  guint64 height;

  if (n == 0 || n > whole)
    return FALSE;
  if (is_periodic (blocks)) {
    lwt_row_blocks_cut (blocks, round_up ((whole + n - 1) / n, grid));
    blocks->height = blocks->rows + halos;
    return blocks->height < whole;
  }
  height = (whole + (guint64) (n - 1) * halos + n - 1) / n;
  height = round_up (MAX (height, halos + grid) - rest, grid) + rest;
  if (height >= whole)
    return FALSE;
  blocks->height = (guint) height;
  blocks->rows = blocks->height - halos;
  /* without the first and the last one */
  blocks->n = 2
              + (MAX (whole + halos, 2 * blocks->height) - 2 * blocks->height
                    + blocks->rows - 1)
                    / blocks->rows;
  return TRUE;
}

guint
lwt_row_blocks_get_height (const LwtRowBlocks *blocks)
{
  guint height = blocks->height;

  for (guint i = 0; i < blocks->n && blocks->height == 0; i++) {
    LwtRowBlock block;

    lwt_row_blocks_get (blocks, i, &block);
    height = MAX (height, block.height);
  }
  return height;
}

/* A block of lwt_row_blocks_cut_even() if the boundary is not periodic */
static void
get_even (const LwtRowBlocks *blocks, guint i, LwtRowBlock *block)
{
  const guint whole = blocks->plan->height;
  const gboolean last = i + 1 == blocks->n;

  block->first =
      i == 0 ? 0 : blocks->rows + blocks->halo + (i - 1) * blocks->rows;
  block->n =
      (last ? whole : blocks->halo + (i + 1) * blocks->rows) - block->first;
  block->top = i == 0 ? 0 : (gint) (block->first - blocks->halo);
  if (last)
    block->top = (gint) (whole - blocks->height);
  block->height = blocks->height;
}

void
lwt_row_blocks_get (const LwtRowBlocks *blocks, guint i, LwtRowBlock *block)
{
  const gint height = (gint) blocks->plan->height, halo = (gint) blocks->halo;
  gint bottom;

  if (blocks->height > 0 && !is_periodic (blocks)) {
    get_even (blocks, i, block);
    return;
  }

  block->first = i * blocks->rows;
  block->n = MIN (blocks->rows, blocks->plan->height - block->first);
  block->top = (gint) block->first - halo;
  bottom = (gint) (block->first + block->n) + halo;
  if (!is_periodic (blocks)) {
    block->top = MAX (block->top, 0);
    bottom = MIN (bottom, height);
  }
  block->height = (guint) (bottom - block->top);
  if (blocks->height > 0)
    block->height = blocks->height;
}

void
lwt_row_blocks_chain (const LwtChain *whole, guint height, LwtChain *chain)
{
  *chain = *whole;
  for (guint i = 0; i < chain->n; i++) {
    chain->levels[i].height = height;
    if (chain->levels[i].y)
      height = (height + 1) / 2;
    chain->levels[i].low_height = height;
  }
}

/* Rows of a block that are entries of a band, low or high, after @splits:
 * rows @own.. of the band in the block's picture equal rows @place.. in the
 * whole, @n of them, @width columns from @column on. */
typedef struct {
  guint splits;
  guint own, own_n, place, n;
  guint column, width;
} Region;

static guint
add_runs (const LwtRowBlocks *blocks, const LwtRowBlock *block, gboolean all,
    const Region *region, LwtRect *runs)
{
  const gint origin = block->top / (1 << region->splits);
  const gint turn = (gint) region->n;
  gint from = origin, to = origin + (gint) region->own_n;
  guint n = 0;

  if (!all) {
    from = (gint) (block->first >> region->splits);
    to = block->first + block->n == blocks->plan->height
             ? turn
             : (gint) ((block->first + block->n) >> region->splits);
  }
  while (from < to && region->width > 0) {
    const gint in = ((from % turn) + turn) % turn;
    const gint some = MIN (to - from, turn - in);

    runs[n++] = (LwtRect){ region->own + (guint) (from - origin),
      region->place + (guint) in, (guint) some, region->column, region->width,
      region->column };
    from += some;
  }
  return n;
}

guint
lwt_row_blocks_get_runs (const LwtRowBlocks *blocks, const LwtRowBlock *block,
    gboolean mallat, gboolean all, LwtRect runs[LWT_MAX_RUNS])
{
  const LwtChain *chain = &blocks->plan->bands;
  Region low = { .own_n = block->height,
    .n = blocks->plan->height,
    .width = blocks->plan->width };
  guint n = 0;

  for (guint i = 0; i < chain->n && mallat; i++) {
    const LwtLevel *level = &chain->levels[i];
    Region high = low;

    if (level->y) {
      low.splits++;
      low.own_n = (low.own_n + 1) / 2;
      low.n = level->low_height;
      high.splits++;
      high.own = low.own_n;
      high.own_n -= low.own_n;
      high.place = low.n;
      high.n -= low.n;
      n += add_runs (blocks, block, all, &high, runs + n);
    }
    /* beside the low band along x, its rows are not split again */
    high = low;
    high.column = level->low_width;
    high.width -= level->low_width;
    n += add_runs (blocks, block, all, &high, runs + n);
    low.width = level->low_width;
  }
  return n + add_runs (blocks, block, all, &low, runs + n);
}

LwtRect
lwt_row_blocks_get_cropped (
    const LwtRowBlocks *blocks, const LwtRowBlock *block)
{
  const LwtPlan *plan = blocks->plan;
  const guint pad = plan->pad[1], end = pad + plan->config.height;
  const guint first = MAX (block->first, pad);
  const guint last = MIN (block->first + block->n, end);

  if (first >= last)
    return (LwtRect){ 0 };
  return (LwtRect){ (guint) ((gint) first - block->top), first - pad,
    last - first, 0, plan->config.width, plan->pad[0] };
}
