/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Kernels of the lifting engine other than the transforms, ordered on a
 * stream. No function here allocates or synchronises. The formulas are in
 * cuda/lifting/arithmetic.h.
 * A job's surface has contiguous points in rows of any stride. A picture is
 * what is transformed: the surface, padded if the boundary asks for it.
 * Until it is filled, a missing point of a picture is a NaN with a bit
 * pattern that no arithmetic produces. */
#pragma once

#include "cuda/lifting/cuda/transform.cuh"
#include "cuda/lifting/arithmetic.h"
#include "cuda/lifting/noise.h"

G_BEGIN_DECLS

/* Results about a job, in device memory; zero before the first kernel. */
typedef struct {
  guint64 missing;
  guint32 not_finite; /* lwt_launch_check() found a sample that is not finite */
  gdouble polynomial[LWT_TERMS];
  LwtCellCounts cells;
  gdouble threshold;
  LwtHeights heights[CVIS_SURFACE_N_PARTS];
  LwtShape shapes[CVIS_SURFACE_N_PARTS];
} LwtFindings;

/* u of every column, v of every row; @full: the moments m of a row without
 * missing points */
typedef struct {
  const gdouble *u, *v;
  const gdouble *full;
} LwtTables;

/**
 * LwtSurfaceTask: a job's samples
 * @from, @stride, @step: samples in device memory; stride in bytes, step in
 *   samples from column to column, >= 1, used by lwt_launch_load() only
 * @fit: (nullable): P's coefficients in device memory, for lwt_launch_load()
 * @to: destination of sample (0, 0)
 * @missing: (nullable): as in LwtPartsTask; if set, missing points are
 *   counted in @findings
 * @rows: work memory of lwt_launch_fit(): 8 * height doubles
 */
typedef struct {
  LwtSample sample;
  LwtType type;
  const void *from;
  gsize stride;
  guint step;
  guint width, height;
  gdouble z_scale, z_offset;
  LwtFOperation operation;
  LwtTables tables;
  const gdouble *fit;
  LwtPicture to;
  guint32 *missing;
  gdouble *rows;
  LwtFindings *findings;
} LwtSurfaceTask;

/* Fits P; writes its coefficients to findings->polynomial. */
cudaError_t lwt_launch_fit (const LwtSurfaceTask *task, cudaStream_t stream);
/* Converts the samples to a picture, minus P. */
cudaError_t lwt_launch_load (const LwtSurfaceTask *task, cudaStream_t stream);

/* Fills the border of pad[0] columns and pad[1] rows around the surface of
 * @width x @height in the middle of @picture, for the boundaries
 * pad-symmetric and pad-smooth. */
cudaError_t lwt_launch_pad (LwtType type, LwtBoundary boundary,
    LwtPicture picture, guint width, guint height, const guint pad[2],
    cudaStream_t stream);

/* Sets findings->not_finite if one of @width x @height samples is not
 * finite. Samples are @step_x samples and @step_y rows apart. */
cudaError_t lwt_launch_check (LwtType type, LwtPicture picture, guint step_x,
    guint step_y, guint width, guint height, LwtFindings *findings,
    cudaStream_t stream);

/* --- missing points --------------------------------------------------------- */

/* Bytes of the pyramid for a surface. */
gsize lwt_pyramid_get_size (LwtType type, guint width, guint height);
/* Fills the missing points of @surface; @missing has a bit for each point. */
cudaError_t lwt_launch_fill (LwtType type, LwtPicture surface,
    const guint32 *missing, guint width, guint height, void *pyramid,
    cudaStream_t stream);

/* --- denoise ------------------------------------------------------------------ */

/* Bytes of work memory of lwt_launch_count() and
 * lwt_launch_pick(); zero it before the first use. */
gsize lwt_select_get_size (void);

/* Finds the states of a surface's cells, see LwtCell; counts them in
 * findings->cells, which are 0 before. @cells: lwt_finest_count_cells() */
cudaError_t lwt_launch_cells (const LwtSurfaceTask *task,
    const LwtFinestAxis axes[2], guint8 *cells, cudaStream_t stream);

/**
 * LwtCountTask: rows of the finest band to count
 * @samples: of entry (0, @first); rows of axes[0].n entries
 * @first, @n: rows of the band
 * @cells, @findings: of lwt_launch_cells()
 */
typedef struct {
  LwtType type;
  LwtPicture samples;
  guint first, n;
  LwtFinestAxis axes[2];
  const guint8 *cells;
  const LwtFindings *findings;
} LwtCountTask;

/* Searches for entry (n-1)/2 of the sorted magnitudes of the n entries that
 * are in used cells. In each pass, 0 .. lwt_select_get_passes() - 1,
 * lwt_launch_count() counts all entries, in one or several calls; then
 * lwt_launch_pick() narrows the search. */
guint lwt_select_get_passes (LwtType type);
cudaError_t lwt_launch_count (
    const LwtCountTask *task, guint pass, void *select, cudaStream_t stream);
/* The last pass writes findings->threshold = magnitude / 0.6745 *
 * lwt_universal_factor() of the samples in used cells and @scale, unless n
 * is 0. */
cudaError_t lwt_launch_pick (LwtType type, guint pass, gdouble scale,
    void *select, LwtFindings *findings, cudaStream_t stream);

/* Shrinks all of @bands, in Mallat's layout, except the low band, by
 * @threshold, or if it is 0, by findings->threshold. */
cudaError_t lwt_launch_shrink (LwtType type, LwtShrink shrink, LwtPicture bands,
    guint width, guint height, guint low_width, guint low_height,
    gdouble threshold, const LwtFindings *findings, cudaStream_t stream);

/* to (i, j) = from ((i + sx) mod width, (j + sy) mod height). */
cudaError_t lwt_launch_rotate (LwtType type, LwtPicture from, LwtPicture to,
    guint width, guint height, guint sx, guint sy, cudaStream_t stream);
/* Adds @spin, rotated back, to @sum and multiplies the sum by @scale (1: not
 * scaled). */
cudaError_t lwt_launch_add (LwtType type, LwtPicture spin, LwtPicture sum,
    guint width, guint height, guint sx, guint sy, gdouble scale,
    cudaStream_t stream);

/**
 * LwtDenoisedTask: output of denoise
 * @x, @y: pictures before and after
 * @pad, @width, @height, @missing, @polynomial: as in LwtPartsTask
 * @noise, @measured: %NULL data: not wanted
 * @store_bytes: bytes of each integer in @measured, 1 or 2; 0: @measured has
 *   @type
 * @store_step, @store_factor, @store_max, @store_shift: see
 *   lwt_store_factor()
 */
typedef struct {
  LwtType type;
  LwtPicture x, y;
  guint pad[2];
  guint width, height;
  const guint32 *missing;
  const gdouble *polynomial;
  LwtTables tables;
  LwtPicture noise, measured;
  guint store_bytes, store_step, store_max, store_shift;
  gdouble store_factor;
} LwtDenoisedTask;

cudaError_t lwt_launch_denoised (
    const LwtDenoisedTask *task, cudaStream_t stream);

/* --- parameters ---------------------------------------------------------------- */

/**
 * LwtMeasureTask: surfaces to compute areal parameters of
 * @part: entries of @findings to write
 * @missing: (nullable): as in LwtPartsTask
 * @finite: points that are not finite count as missing
 * @rows: work memory: 6 * n * height doubles
 */
typedef struct {
  LwtType type;
  guint n;
  LwtPicture surface[CVIS_SURFACE_N_PARTS];
  CvisSurfacePart part[CVIS_SURFACE_N_PARTS];
  guint width, height;
  gdouble dx, dy;
  const guint32 *missing;
  gboolean finite;
  gdouble *rows;
  LwtFindings *findings;
} LwtMeasureTask;

cudaError_t lwt_launch_measure (
    const LwtMeasureTask *task, cudaStream_t stream);

G_END_DECLS
