/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Finds the cells of a surface that have noise; called before the noise is
 * estimated. */
#include <string.h>

#include "cuda/lifting/cpu/cpu.h"
#include "cuda/lifting/noise.h"

typedef struct {
  LwtCpuSurface *surface;
  const LwtJob *job;
  const LwtFinestAxis *axes;
  guint8 *cells;
} Work;

static gboolean
is_missing (const guint32 *missing, guint x)
{
  return missing[x / 32] >> x % 32 & 1;
}

/* State of a cell after the samples @from to @to - 1 of one more row. @first:
 * its first sample that is not missing */
static guint8
look_at_cell (guint8 cell, const gdouble *z, const guint32 *missing, guint from,
    guint to, gdouble *first)
{
  for (guint x = from; x < to && cell != LWT_CELL_NOISE; x++) {
    if (is_missing (missing, x))
      continue;
    if (cell == LWT_CELL_MISSING) {
      *first = z[x];
      cell = LWT_CELL_CONSTANT;
    } else if (z[x] != *first) {
      cell = LWT_CELL_NOISE;
    }
  }
  return cell;
}

/* Rows of cells. Rows of samples are not read once all cells have noise. */
static void
do_cells (guint first, guint count, LwtCpuScratch *scratch, gpointer user_data)
{
  const Work *work = user_data;
  LwtCpuSurface *surface = work->surface;
  const LwtConfig *config = &surface->plan->config;
  const LwtFinestAxis *ax = &work->axes[0], *ay = &work->axes[1];
  gdouble *z = scratch->wide[0], *firsts = scratch->wide[1];

  for (guint row = first; row < first + count; row++) {
    const guint end = MIN ((row + 1) << ay->shift, ay->size);
    guint8 *cells = work->cells + (gsize) row * ax->cells;
    guint open = ax->cells;

    memset (cells, LWT_CELL_MISSING, ax->cells);
    for (guint y = row << ay->shift; y < end && open > 0; y++) {
      guint32 *missing = surface->missing + y * surface->words;

      surface->threads->kernels->sums->read_row (
          (const guint8 *) work->job->data + y * work->job->stride, ax->size,
          config->sample, 1.0, 0.0, z, missing);
      open = 0;
      for (guint i = 0; i < ax->cells; i++) {
        cells[i] = look_at_cell (cells[i], z, missing, i << ax->shift,
            MIN ((i + 1) << ax->shift, ax->size), &firsts[i]);
        open += cells[i] != LWT_CELL_NOISE;
      }
    }
  }
}

/* Whether one of the 8 neighbours of cell (@x, @y) has noise. */
static gboolean
is_beside (const guint8 *cells, gint width, gint height, gint x, gint y)
{
  for (gint j = MAX (y - 1, 0); j <= MIN (y + 1, height - 1); j++)
    for (gint i = MAX (x - 1, 0); i <= MIN (x + 1, width - 1); i++)
      if (cells[(gsize) j * (gsize) width + (gsize) i] == LWT_CELL_NOISE)
        return TRUE;
  return FALSE;
}

guint64
lwt_cpu_find_cells (LwtCpuSurface *surface, const LwtJob *job,
    const LwtFinestAxis axes[2], guint8 *cells)
{
  const gsize n = lwt_finest_count_cells (axes);
  Work work = { surface, job, axes, cells };
  LwtCellCounts counts = { 0, 0 };

  lwt_cpu_rows_run (surface->threads, axes[1].cells,
      surface->plan->config.width << axes[1].shift, do_cells, &work);
  for (gsize i = 0; i < n; i++) {
    const guint x = (guint) (i % axes[0].cells);
    const guint y = (guint) (i / axes[0].cells);
    const guint area = lwt_finest_cell_area (axes, x, y);

    if (cells[i] == LWT_CELL_CONSTANT
        && is_beside (cells, (gint) axes[0].cells, (gint) axes[1].cells,
            (gint) x, (gint) y))
      cells[i] = LWT_CELL_BESIDE;
    counts.noise += cells[i] == LWT_CELL_NOISE ? area : 0;
    counts.beside += cells[i] == LWT_CELL_BESIDE ? area : 0;
  }
  for (gsize i = 0; i < n; i++)
    cells[i] = lwt_cell_is_used (cells[i], counts) ? LWT_CELL_NOISE
                                                   : LWT_CELL_CONSTANT;
  return lwt_cell_count_used (counts);
}
