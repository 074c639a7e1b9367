/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Which of the CPU backend's tables to use, and pictures with their borders. */
#include "cuda/motion/backend.h"
#include "cuda/motion/cpu/cpu.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/core/memory.h"

/* Interpolation reaches 4 samples beyond a whole-pixel candidate. */
#define REACH 4
/* Elements behind a plane that vectors may read, their values unused */
#define TAIL 512
/* The largest |4 d - prior|, both of them up to 4 * (128 + 1) */
#define BITS_HALF 1040

const MotionCpuKernels *
motion_cpu_kernels (void)
{
  return CVIS_CPU_CHOOSE (motion_cpu);
}

/* Elements of a row: an odd number of cache lines of bytes, so that rows do not
 * fall upon each other in the cache. */
static gsize
row_stride (gsize n)
{
  return ((n + 63) / 64 | 1) * 64;
}

static void
init_levels (MotionCpuParams *params)
{
  static const MotionCpuLevel of_8[] = { { 8, 0, 0, 0 }, { 4, 0, 0, 0 } };
  static const MotionCpuLevel of_16[] = { { 16, 0, 0, 0 }, { 8, 0, 0, 0 },
    { 4, 0, 0, 0 } };
  static const MotionCpuLevel of_32[] = { { 32, 2, 3, 2 }, { 16, 0, 0, 0 },
    { 8, 0, 0, 0 } };
  static const MotionCpuLevel of_64[] = { { 64, 4, 6, 2 }, { 32, 2, 3, 0 },
    { 16, 2, 1, 2 } };
  guint size = params->config.block_size;
  const MotionCpuLevel *levels = size == 8    ? of_8
                                 : size == 16 ? of_16
                                 : size == 32 ? of_32
                                              : of_64;

  params->n_levels = size == 8 ? 2 : 3;
  memcpy (params->levels, levels, params->n_levels * sizeof *levels);
}

static void
init_bits (MotionCpuParams *params)
{
  params->bits_memory = g_new (guint16, 2 * BITS_HALF + 1);
  for (gint32 i = -BITS_HALF; i <= BITS_HALF; i++)
    params->bits_memory[i + BITS_HALF] =
        (guint16) (params->config.lambda * motion_bits (i));
  params->bits = params->bits_memory + BITS_HALF;
}

/* Tiles of about the same size, of at most @side pixels each way. */
static gint32
split (gint32 blocks, gint32 block, gint32 side, gint32 *in_tile)
{
  gint32 n = (blocks * block + side - 1) / side;

  *in_tile = (blocks + n - 1) / n;
  return (blocks + *in_tile - 1) / *in_tile;
}

/* Large tiles compute less twice; several for each thread balance the load. */
static void
init_tiles (MotionCpuParams *params, guint threads)
{
  gint32 block = (gint32) params->config.block_size;

  for (gint32 side = MOTION_CPU_TILE; side >= MOTION_CPU_TILE / 4; side /= 2) {
    params->tiles_across =
        split (params->columns, block, side, &params->tile_columns);
    params->tiles_down = split (params->rows, block, side, &params->tile_rows);
    if (threads == 1
        || (guint) (params->tiles_across * params->tiles_down) >= 4 * threads)
      return;
  }
}

void
motion_cpu_params_init (
    MotionCpuParams *params, const MotionConfig *config, guint threads)
{
  gint32 reach = (gint32) config->range + REACH;
  gint32 block = (gint32) config->block_size;
  gint32 width = (gint32) config->width, height = (gint32) config->height;

  memset (params, 0, sizeof *params);
  params->config = *config;
  if (config->method == MOTION_METHOD_FIELD)
    params->config.lambda = 0; /* the field's own smoothness instead */
  params->columns = (gint32) motion_config_get_columns (config);
  params->rows = (gint32) motion_config_get_rows (config);
  params->border = reach;
  params->margin = (reach + 63) / 64 * 64;
  params->stride = row_stride ((gsize) (params->margin + width + reach));
  params->n_lines = height + 2 * reach;
  params->has_sums = config->method == MOTION_METHOD_FULL;
  params->has_quarter = config->method == MOTION_METHOD_ZONAL;
  params->sums_stride = row_stride (MOTION_CPU_TILE + 2 * config->range + 64);
  params->quarter_range = MAX ((gint32) config->range / 4, 1);
  params->quarter_width = (width + 3) / 4;
  params->quarter_height = (height + 3) / 4;
  params->quarter_border = params->quarter_range + MAX (block / 4, 4);
  params->quarter_stride =
      row_stride ((gsize) (params->quarter_width + 2 * params->quarter_border));
  init_tiles (params, threads);
  init_levels (params);
  init_bits (params);
}

void
motion_cpu_params_clear (MotionCpuParams *params)
{
  g_free (params->bits_memory);
}

/* --- pictures ---------------------------------------------------------------- */

/* Zeroed memory for elements and what is read behind them. */
static gpointer
allocate (gpointer *memory, gsize elements, gsize size, GError **error)
{
  *memory = cvis_memory_new ((elements + TAIL) * size, TRUE, error);
  return *memory;
}

gboolean
motion_cpu_picture_init (
    const MotionCpuParams *params, MotionCpuPicture *picture, GError **error)
{
  gsize elements = params->stride * (gsize) params->n_lines;
  gsize origin =
      params->stride * (gsize) params->border + (gsize) params->margin;
  gsize quarter_rows =
      (gsize) (params->quarter_height + 2 * params->quarter_border);
  gpointer p;

  memset (picture, 0, sizeof *picture);
  if (!(p = allocate (&picture->memory[0], elements, 1, error)))
    return FALSE;
  picture->luma = (guint8 *) p + origin;
  if (params->config.depth > 8) {
    if (!(p = allocate (&picture->memory[1], elements, 2, error)))
      return FALSE;
    picture->deep = (guint16 *) p + origin;
  }
  if (params->has_quarter) {
    if (!(p = allocate (&picture->memory[2],
              params->quarter_stride * quarter_rows, 1, error)))
      return FALSE;
    picture->quarter =
        (guint8 *) p
        + (params->quarter_stride + 1) * (gsize) params->quarter_border;
  }
  if (params->config.method == MOTION_METHOD_FIELD) {
    picture->field = g_new0 (MotionCpuFieldPicture, 1);
    return motion_cpu_field_picture_init (&params->config, picture->field,
        picture->luma, params->stride, elements + TAIL, origin, error);
  }
  return TRUE;
}

void
motion_cpu_picture_clear (MotionCpuPicture *picture)
{
  for (guint i = 0; i < G_N_ELEMENTS (picture->memory); i++)
    free (picture->memory[i]);
  if (picture->field)
    motion_cpu_field_picture_clear (picture->field);
  g_free (picture->field);
}

static void
load_row_8 (const MotionCpuParams *params, MotionCpuPicture *picture,
    const guint8 *from, gint32 y)
{
  gint32 width = (gint32) params->config.width;
  guint8 *to = picture->luma + (gssize) params->stride * y;

  if (params->config.sampling == 1)
    memcpy (to, from, (gsize) width);
  else
    for (gint32 x = 0; x < width; x++)
      to[x] = from[(gsize) x * params->config.sampling];
  memset (to - params->margin, to[0], (gsize) params->margin);
  memset (to + width, to[width - 1], (gsize) params->border);
}

static void
load_row_16 (const MotionCpuParams *params, MotionCpuPicture *picture,
    const guint8 *from, guint shift, gint32 y)
{
  gint32 width = (gint32) params->config.width;
  const guint16 *samples = (gconstpointer) from;
  guint16 *deep = picture->deep + (gssize) params->stride * y;
  guint8 *luma = picture->luma + (gssize) params->stride * y;

  for (gint32 x = 0; x < width; x++)
    deep[x] = (guint16) ((GUINT16_FROM_LE (
                              samples[(gsize) x * params->config.sampling])
                             >> shift)
                         & 1023);
  for (gint32 x = -params->margin; x < 0; x++)
    deep[x] = deep[0];
  for (gint32 x = width; x < width + params->border; x++)
    deep[x] = deep[width - 1];
  for (gint32 x = -params->margin; x < width + params->border; x++)
    luma[x] = (guint8) (deep[x] >> 2);
}

/* Row @to becomes a copy of row @from, borders and all. */
static void
copy_plane_row (const MotionCpuParams *params, MotionCpuPicture *picture,
    gint32 from, gint32 to)
{
  gssize stride = (gssize) params->stride;
  gsize n =
      (gsize) (params->margin + (gint32) params->config.width + params->border);

  memcpy (picture->luma + stride * to - params->margin,
      picture->luma + stride * from - params->margin, n);
  if (picture->deep)
    memcpy (picture->deep + stride * to - params->margin,
        picture->deep + stride * from - params->margin, 2 * n);
}

void
motion_cpu_picture_load (const MotionCpuParams *params,
    MotionCpuPicture *picture, const MotionJob *job)
{
  gint32 height = (gint32) params->config.height;

  for (gint32 y = 0; y < height; y++) {
    const guint8 *row = motion_job_get_row (&params->config, job, (guint) y);

    if (params->config.depth > 8)
      load_row_16 (params, picture, row, job->shift, y);
    else
      load_row_8 (params, picture, row, y);
  }
  for (gint32 i = 1; i <= params->border; i++) {
    copy_plane_row (params, picture, 0, -i);
    copy_plane_row (params, picture, height - 1, height - 1 + i);
  }
  picture->prepared = FALSE;
}

/* --- what a thread works in -------------------------------------------------- */

MotionCpuScratch *
motion_cpu_scratch_new (const MotionCpuParams *params, GError **error)
{
  gsize lines = MOTION_CPU_TILE + 2 * params->config.range;
  gsize plane = params->sums_stride * lines + TAIL;
  MotionCpuScratch *scratch = NULL;
  guint16 *sums;

  if (posix_memalign ((void **) &scratch, 64, sizeof *scratch) != 0)
    g_error ("out of memory");
  memset (scratch, 0, sizeof *scratch);
  if (!params->has_sums)
    return scratch;
  sums = allocate (&scratch->sums_memory, params->n_levels * plane, 2, error);
  if (sums == NULL) {
    motion_cpu_scratch_free (scratch);
    return NULL;
  }
  for (guint i = 0; i < params->n_levels; i++)
    scratch->sums[i] = sums + plane * i;
  return scratch;
}

void
motion_cpu_scratch_free (MotionCpuScratch *scratch)
{
  if (scratch == NULL)
    return;
  free (scratch->sums_memory);
  free (scratch);
}
