/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Chains of levels: tiles of each level, and the memory that each level
 * reads and writes. */
#include <stdlib.h>
#include <string.h>

#include "cuda/lifting/cpu/cpu.h"

/* Bytes of a tile's ring of rows: larger than the L1 cache, because longer
 * rows are fetched faster */
#define RING_BYTES (64 << 10)
/* Pairs of columns of a tile, a multiple of the widest vector; narrower
 * tiles recompute too much */
#define MIN_COLUMNS 128
/* A level with fewer samples is one tile. */
#define SMALL_LEVEL (64 * 64)
/* Tiles for each thread, for an even load */
#define TILES_A_THREAD 4
/* Larger results are written with non-temporal stores. */
#define COLD_BYTES (4 << 20)

struct _LwtCpuTransform {
  LwtCpuLift lift;
  LwtLayout layout;
  LwtType type;
  gsize size; /* of an element */
  gboolean low_only;
  guint n; /* levels that split an axis */
  LwtCpuPass passes[LWT_MAX_CHAIN];
  guint splits[LWT_MAX_CHAIN][2]; /* of each axis by earlier levels */
  guint width, height;            /* of the picture */
  LwtCpuPlane low[2];             /* of even and of odd levels */
};

/* --- tiles ----------------------------------------------------------------------- */

static LwtCpuPiece *
cut (const LwtCpuLift *lift, guint n, gboolean split, gboolean high,
    guint length, guint *n_pieces)
{
  const guint pairs = split ? (n + 1) / 2 : n;
  LwtCpuPiece *pieces;

  *n_pieces = (pairs + length - 1) / length;
  pieces = g_new (LwtCpuPiece, *n_pieces);
  for (guint i = 0; i < *n_pieces; i++)
    lwt_cpu_piece_init (&pieces[i], lift, (gint) n, split, (gint) (i * length),
        (gint) MIN ((i + 1) * length, pairs), TRUE, high);
  return pieces;
}

static LwtCpuColumns *
cut_columns (const LwtCpuLift *lift, guint n, gboolean split, gboolean high,
    guint length, guint *n_columns)
{
  const guint pairs = split ? (n + 1) / 2 : n;
  LwtCpuColumns *columns;

  *n_columns = (pairs + length - 1) / length;
  columns = g_new (LwtCpuColumns, *n_columns);
  for (guint i = 0; i < *n_columns; i++)
    lwt_cpu_columns_init (&columns[i], lift, (gint) n, split,
        (gint) (i * length), (gint) MIN ((i + 1) * length, pairs), high);
  return columns;
}

/* Length of each of @n parts of @pairs, in whole vectors. */
static guint
divide (guint pairs, guint n)
{
  return ((pairs + n - 1) / n + 15) / 16 * 16;
}

/* Columns of a tile, so that @rows pairs of rows stay in the cache. */
static guint
choose_columns (guint pairs, guint rows, gsize size)
{
  const gsize fit = RING_BYTES / (4 * size * rows);
  const guint most = (guint) MAX (fit, MIN_COLUMNS);

  return divide (pairs, (pairs + most - 1) / most);
}

/* Rows of a tile: enough tiles for all threads, but little recomputed. */
static guint
choose_rows (guint pairs, guint twice, guint columns, guint threads)
{
  guint n = (TILES_A_THREAD * threads + columns - 1) / columns;

  n = MIN (n, pairs / MAX (8 * twice, 16));
  return threads == 1 || n < 2 ? pairs : divide (pairs, n);
}

static guint
count_twice (const LwtCpuPiece *piece)
{
  return (guint) (piece->last - piece->first - (piece->end - piece->begin));
}

static void
init_pass (LwtCpuPass *pass, const LwtCpuLift *lift, const LwtLevel *level,
    gboolean low_only, gsize size, guint threads)
{
  const gboolean high = !low_only || lift->inverse;
  const guint across = level->x ? (level->width + 1) / 2 : level->width;
  const guint down = level->y ? (level->height + 1) / 2 : level->height;
  const gboolean small = level->width * (gsize) level->height <= SMALL_LEVEL;
  LwtCpuPiece middle;
  guint rows;

  pass->lift = lift;
  pass->level = *level;
  pass->low_only = low_only;
  lwt_cpu_piece_init (&middle, lift, (gint) level->height, level->y,
      (gint) (down / 2), (gint) (down / 2 + 1), TRUE, high);
  pass->columns = cut_columns (lift, level->width, level->x, high,
      small ? across : choose_columns (across, middle.rows, size),
      &pass->n_columns);
  rows = small ? down
               : choose_rows (
                   down, count_twice (&middle), pass->n_columns, threads);
  pass->rows = cut (lift, level->height, level->y, high, rows, &pass->n_rows);
  lwt_cpu_piece_clear (&middle);
}

/* --- a transform -------------------------------------------------------------------- */

static gboolean
make_low (LwtCpuTransform *transform, GError **error)
{
  gsize bytes[2] = { 0, 0 };

  for (guint i = 0; i + 1 < transform->n; i++) {
    const LwtLevel *level = &transform->passes[i].level;
    LwtCpuPlane *low = &transform->low[i % 2];
    const gsize stride = (level->low_width * transform->size + 63) / 64 * 64;

    low->stride = MAX (low->stride, stride);
    low->step = 1;
    bytes[i % 2] = MAX (bytes[i % 2], low->stride * level->low_height);
  }
  for (guint i = 0; i < 2; i++)
    if (bytes[i] > 0
        && !(transform->low[i].data = cvis_memory_new (bytes[i], FALSE, error)))
      return FALSE;
  return TRUE;
}

LwtCpuTransform *
lwt_cpu_transform_new (const LwtWavelet *wavelet, LwtType type,
    LwtBoundary boundary, gboolean inverse, gboolean low_only, LwtLayout layout,
    const LwtChain *chain, guint first, guint n, guint width, guint height,
    guint threads, GError **error)
{
  LwtCpuTransform *transform = g_new0 (LwtCpuTransform, 1);
  guint splits[2] = { 0, 0 };

  lwt_cpu_lift_init (&transform->lift, wavelet, boundary, inverse);
  if (type == LWT_TYPE_I32)
    transform->lift.stages = 0; /* floats only */
  transform->layout = layout;
  transform->type = type;
  transform->size = lwt_type_get_size (type);
  transform->low_only = low_only;
  transform->width = width;
  transform->height = height;
  for (guint i = first; i < first + n; i++) {
    const LwtLevel *level = &chain->levels[i];

    if (i == first) {
      transform->width = level->width;
      transform->height = level->height;
    }
    if (!level->x && !level->y)
      continue;
    memcpy (transform->splits[transform->n], splits, sizeof splits);
    init_pass (&transform->passes[transform->n++], &transform->lift, level,
        low_only, transform->size, threads);
    splits[0] += level->x;
    splits[1] += level->y;
  }
  if (!make_low (transform, error)) {
    lwt_cpu_transform_free (transform);
    return NULL;
  }
  return transform;
}

static void
clear_pass (LwtCpuPass *pass)
{
  for (guint i = 0; i < pass->n_columns; i++)
    lwt_cpu_columns_clear (&pass->columns[i]);
  for (guint i = 0; i < pass->n_rows; i++)
    lwt_cpu_piece_clear (&pass->rows[i]);
  g_free (pass->columns);
  g_free (pass->rows);
}

void
lwt_cpu_transform_free (LwtCpuTransform *transform)
{
  if (transform == NULL)
    return;
  for (guint i = 0; i < transform->n; i++)
    clear_pass (&transform->passes[i]);
  free (transform->low[0].data);
  free (transform->low[1].data);
  g_free (transform);
}

/* --- what threads work in ------------------------------------------------------------- */

void
lwt_cpu_transform_get_scratch (
    const LwtCpuTransform *transform, gsize *pitch, gsize *rows)
{
  for (guint i = 0; i < transform->n; i++) {
    const LwtCpuPass *pass = &transform->passes[i];

    for (guint j = 0; j < pass->n_columns; j++) {
      const LwtCpuPiece *piece = &pass->columns[j].all;
      const gsize n = (gsize) (piece->last - piece->first) + 2 * LWT_CPU_ALIGN;

      *pitch = MAX (*pitch, 2 * n * transform->size);
    }
    for (guint j = 0; j < pass->n_rows; j++)
      *rows = MAX (*rows, 2 * pass->rows[j].rows);
  }
}

/* --- a level ------------------------------------------------------------------------- */

/* A band of a level in the picture of all bands. */
static LwtCpuPlane
place_band (const LwtCpuTransform *transform, guint i, const LwtCpuPlane *all,
    gboolean high_y, gboolean high_x)
{
  const LwtLevel *level = &transform->passes[i].level;
  const gboolean high[2] = { high_x, high_y };
  const gboolean does[2] = { level->x, level->y };
  const guint low[2] = { level->low_width, level->low_height };
  LwtCpuPlane band = *all;
  gsize first[2], step[2];

  for (guint axis = 0; axis < 2; axis++) {
    const guint depth = transform->splits[i][axis] + (does[axis] ? 1 : 0);

    if (transform->layout == LWT_LAYOUT_MALLAT) {
      step[axis] = 1;
      first[axis] = high[axis] ? low[axis] : 0;
    } else {
      step[axis] = (gsize) 1 << depth;
      first[axis] = high[axis] ? (gsize) 1 << (depth - 1) : 0;
    }
  }
  band.data = (guint8 *) all->data + first[1] * all->stride
              + first[0] * transform->size;
  band.stride = all->stride * step[1];
  band.step = step[0];
  return band;
}

typedef struct {
  const LwtCpuTask *task;
  LwtCpuTileFunc func;
} Tiles;

static void
do_tiles (guint first, guint count, LwtCpuScratch *scratch, gpointer user_data)
{
  const Tiles *tiles = user_data;
  const LwtCpuPass *pass = tiles->task->pass;

  for (guint i = first; i < first + count; i++)
    tiles->func (
        tiles->task, scratch, i % pass->n_columns, i / pass->n_columns);
}

/* @whole: the picture; @bands: all bands, or with low_only the last low band */
static void
run_level (const LwtCpuTransform *transform, LwtCpuThreads *threads, guint i,
    const LwtCpuPlane *whole, const LwtCpuPlane *bands, gint *strange)
{
  const LwtCpuPass *pass = &transform->passes[i];
  const LwtCpuLifter *lifter = threads->kernels->lifters[transform->type];
  const gboolean last = i + 1 == transform->n;
  LwtCpuTask task = { .pass = pass };
  Tiles tiles = { &task,
    transform->lift.inverse ? lifter->inverse : lifter->forward };

  task.whole = i == 0 ? *whole : transform->low[(i - 1) % 2];
  task.strange = i == 0 ? strange : NULL;
  if (!transform->low_only)
    for (guint b = 1; b < 4; b++)
      if ((pass->level.x || b % 2 == 0) && (pass->level.y || b / 2 == 0))
        task.band[b / 2][b % 2] =
            place_band (transform, i, bands, b / 2, b % 2);
  if (!last)
    task.band[0][0] = transform->low[i % 2];
  else if (transform->low_only)
    task.band[0][0] = *bands;
  else
    task.band[0][0] = place_band (transform, i, bands, FALSE, FALSE);
  lwt_cpu_threads_run (
      threads, pass->n_columns * pass->n_rows, 1, do_tiles, &tiles);
}

/* --- a chain -------------------------------------------------------------------------- */

static void
copy (const LwtCpuTransform *transform, const LwtCpuPlane *from,
    const LwtCpuPlane *to)
{
  for (guint y = 0; y < transform->height; y++)
    memcpy ((guint8 *) to->data + y * to->stride,
        (const guint8 *) from->data + y * from->stride,
        transform->width * transform->size);
}

void
lwt_cpu_transform_run (const LwtCpuTransform *transform, LwtCpuThreads *threads,
    const LwtCpuPlane *from, const LwtCpuPlane *to, gint *strange)
{
  const gboolean inverse = transform->lift.inverse;
  LwtCpuPlane target = *to;

  if (transform->n == 0) {
    copy (transform, from, to);
    if (strange)
      *strange = TRUE; /* not checked */
    return;
  }
  target.cold = transform->width * (gsize) transform->height * transform->size
                > COLD_BYTES;
  for (guint i = 0; i < transform->n; i++)
    if (inverse)
      run_level (transform, threads, transform->n - 1 - i, &target, from, NULL);
    else
      run_level (transform, threads, i, from, &target, strange);
}
