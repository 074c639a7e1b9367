/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Kernels of the lifting engine beside the transforms, ordered on a stream.
 * Nothing here allocates or synchronises; the formulas are those of cuda/lifting/arithmetic.h.
 *
 * Surfaces in the sense of a job have their points one after the other in rows of
 * any stride; pictures are what is transformed, padded surfaces. A missing point
 * in a picture is a NaN of its own, which no arithmetic makes, until it is
 * filled. */
#pragma once

#include "cuda/lifting/cuda/transform.cuh"
#include "cuda/lifting/arithmetic.h"

G_BEGIN_DECLS

/* Findings about a job on the device, zero before. */
typedef struct {
  guint64 missing;
  guint32 not_finite; /* lwt_launch_check() met such a sample */
  gdouble polynomial[LWT_TERMS];
  gdouble threshold;
  LwtHeights heights[SURFACE_N_PARTS];
  LwtShape shapes[SURFACE_N_PARTS];
} LwtFindings;

/* u and v of every column and row; m of a row without missing points */
typedef struct {
  const gdouble *u, *v;
  const gdouble *full;
} LwtTables;

/**
 * LwtSurfaceTask: a job's samples
 * @from, @stride, @step: device memory; samples from column to column, at least
 *   1, of lwt_launch_load() alone
 * @fit: (nullable) of lwt_launch_load(): P's coefficients, on the device
 * @to: where sample (0, 0) goes
 * @missing: (nullable): as in LwtPartsTask; with it, missing points are counted
 *   in @findings
 * @rows: of lwt_launch_fit(): 8 * height
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

/* P's coefficients to findings->polynomial. */
cudaError_t lwt_launch_fit (const LwtSurfaceTask *task, cudaStream_t stream);
/* The samples to a picture. */
cudaError_t lwt_launch_load (const LwtSurfaceTask *task, cudaStream_t stream);

/* Fills the border round the surface of @width x @height in the middle of
 * @picture, boundary pad-symmetric or pad-smooth. */
cudaError_t lwt_launch_pad (LwtType type, LwtBoundary boundary,
    LwtPicture picture, guint width, guint height, const guint pad[2],
    cudaStream_t stream);

/* Sets findings->not_finite if one of @width x @height samples, each @step_x
 * samples and @step_y rows from the next, is not finite. */
cudaError_t lwt_launch_check (LwtType type, LwtPicture picture, guint step_x,
    guint step_y, guint width, guint height, LwtFindings *findings,
    cudaStream_t stream);

/* --- missing points --------------------------------------------------------- */

/* Bytes of the pyramid of a surface. */
gsize lwt_pyramid_get_size (LwtType type, guint width, guint height);
/* Fills the missing points of @surface, whose bits are @missing. */
cudaError_t lwt_launch_fill (LwtType type, LwtPicture surface,
    const guint32 *missing, guint width, guint height, void *pyramid,
    cudaStream_t stream);

/* --- denoise ------------------------------------------------------------------ */

/* Work memory of lwt_launch_select(): bytes, zero before the first time. */
gsize lwt_select_get_size (void);

/* Begins the search for the entry (n-1)/2 of the sorted magnitudes of n samples:
 * pass after pass, 0 .. lwt_select_get_passes() - 1, all samples are counted,
 * in one piece or several, then lwt_launch_pick() narrows down. */
guint lwt_select_get_passes (LwtType type);
cudaError_t lwt_launch_count (LwtType type, LwtPicture samples, guint width,
    guint height, guint pass, void *select, cudaStream_t stream);
/* After the last pass: threshold = magnitude / 0.6745 * @factor. */
cudaError_t lwt_launch_pick (LwtType type, guint pass, guint64 n,
    gdouble factor, void *select, LwtFindings *findings, cudaStream_t stream);

/* Shrinks all of @bands, in Mallat's layout, but the low band by @threshold; 0:
 * by findings->threshold. */
cudaError_t lwt_launch_shrink (LwtType type, LwtShrink shrink, LwtPicture bands,
    guint width, guint height, guint low_width, guint low_height,
    gdouble threshold, const LwtFindings *findings, cudaStream_t stream);

/* to (i, j) = from ((i + sx) mod width, (j + sy) mod height) */
cudaError_t lwt_launch_rotate (LwtType type, LwtPicture from, LwtPicture to,
    guint width, guint height, guint sx, guint sy, cudaStream_t stream);
/* Adds @spin, turned back, to @sum, which it then scales by @scale (1: left as it
 * is). */
cudaError_t lwt_launch_add (LwtType type, LwtPicture spin, LwtPicture sum,
    guint width, guint height, guint sx, guint sy, gdouble scale,
    cudaStream_t stream);

/**
 * LwtDenoisedTask: what denoise gives
 * @x, @y: pictures, before and after
 * @pad, @width, @height, @missing, @polynomial: as in LwtPartsTask
 * @noise, @measured: %NULL data: not wanted
 * @store_bytes: of @measured's integers, 1 or 2; 0: it is of @type
 * @store_step, @store_factor, @store_max, @store_shift: see lwt_store_factor()
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
 * LwtMeasureTask: surfaces whose parameters are wanted
 * @part: which results of @findings are theirs
 * @missing: (nullable): as in LwtPartsTask
 * @finite: points that are not finite are missing
 * @rows: 6 * n * height
 */
typedef struct {
  LwtType type;
  guint n;
  LwtPicture surface[SURFACE_N_PARTS];
  SurfacePart part[SURFACE_N_PARTS];
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
