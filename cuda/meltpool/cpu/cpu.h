/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The CPU backend's three steps and the rows of pbf_grey_to_8(), compiled once for
 * each instruction set. */
#pragma once

#include "cuda/meltpool/grey.h"
#include "cuda/meltpool/params.h"

G_BEGIN_DECLS

#define PBF_ROI_PITCH 64 /* bytes from row to row of the padded copy */
#define PBF_ROI_MAX_RUNS (PBF_ROI_SIDE * PBF_ROI_SIDE / 2)

/* Work memory of a thread for a frame. */
typedef struct {
  /* the ROI with a border of one pixel, replicated: pixel (x, y) is at
   * [y + 1][16 + x] */
  guint8 roi[PBF_ROI_SIDE + 2][PBF_ROI_PITCH] __attribute__ ((aligned (64)));
  /* gradients, a pair of 16 bits a pixel: |gy| below, gx above, signs such
   * that the pair points into the upper half plane */
  gint32 gradient[PBF_ROI_SIDE * PBF_ROI_SIDE] __attribute__ ((aligned (64)));
  guint64 mask[PBF_ROI_SIDE]; /* bit x: pixel (x, y) reaches the threshold */
  guint64 pool[PBF_ROI_SIDE]; /* and belongs to the melt pool */
  gint32 pool_x,
      pool_y; /* the pool's first pixel in the frame, if there is one */
  /* for whole frames, ROIs of other sizes and noise: runs of foreground pixels */
  gsize max_runs; /* room in the arrays, which grow */
  struct _PbfRun *runs;
  guint32 *parents;
  struct _PbfComponent *components;
} PbfCpuScratch;

typedef struct _PbfRun {
  guint16 y, first, last; /* columns first..last */
} PbfRun;

typedef struct _PbfComponent {
  guint32 area, overlap;
  guint64 sx, sy;
  gboolean pool;
  gint32 x, y; /* locate_brightest(): its first pixel of the largest sum */
} PbfComponent;

/* The window between two batches: the rows that the next one's windows reach
 * back to, and their sums. */
typedef struct {
  gint32 n;                      /* at most the window's length - 1 */
  gint32 (*rows)[PBF_N_SPATIAL]; /* oldest first */
  gint64 s1[PBF_N_SPATIAL], s2[PBF_N_SPATIAL];
  gboolean started;
  PbfRow last;
} PbfHistory;

/* The frames of a batch that enter the window, in order. */
typedef struct {
  const PbfParams *params;
  const PbfHistory *history;
  PbfResult *results;
  gint32 n;
  gint32 *frames; /* of each row: its frame in the batch */
  gint32 *starts; /* and where its window starts; below 0 in the history */
  PbfRow last;
} PbfRows;

/* Sums of the rows low..(some row). */
typedef struct {
  gint32 low;
  gint64 s1[PBF_N_SPATIAL], s2[PBF_N_SPATIAL];
} PbfSums;

typedef struct {
  const gchar *name;
  /* All of @result but the window's and the network's part. Sets EXCLUDED or
   * EMPTY in its flags where the frame does not enter the window. */
  void (*spatial) (const PbfParams *params, PbfCpuScratch *scratch,
      const guint8 *frame, guint stride, const PbfFrameInfo *info,
      PbfResult *result);
  /* The variances of rows first..end-1. @sums: (inout): of the rows from the
   * first one's start, or an earlier one, to the one before @first; then to
   * the last. */
  void (*temporal) (
      const PbfRows *rows, gint32 first, gint32 end, PbfSums *sums);
  /* The network's outputs from the 40 features. */
  void (*network) (
      const PbfParams *params, const PbfModel *model, PbfResult *result);
  /* One row of pbf_grey_to_8(). */
  void (*grey_row) (PbfGreyLayout layout, guint shift, const guint8 *from,
      gsize width, guint8 *to);
} PbfCpuKernels;

extern const PbfCpuKernels pbf_cpu_generic;
extern const PbfCpuKernels pbf_cpu_v3;
extern const PbfCpuKernels pbf_cpu_v4;

/* Those for this processor (cvis_cpu_level()). */
const PbfCpuKernels *pbf_cpu_kernels (void);

PbfCpuScratch *pbf_cpu_scratch_new (void);
void pbf_cpu_scratch_free (PbfCpuScratch *scratch);

void pbf_history_init (PbfHistory *history, guint window);
void pbf_history_clear (PbfHistory *history);
void pbf_history_reset (PbfHistory *history);

/* Puts the frames of a batch that enter the window in a row (@rows->n, frames
 * and starts, which have room for all) and flags those with which the window
 * restarts. @position: frames of the stream before the batch. */
void pbf_rows_find (
    PbfRows *rows, const PbfFrameInfo *infos, guint n, guint64 position);
/* Sums to start with at row @first. */
void pbf_rows_sum (const PbfRows *rows, gint32 first, PbfSums *sums);
/* After the batch: @history, that of @rows, is brought up to date; @sums as
 * after the last row. */
void pbf_rows_keep (
    const PbfRows *rows, const PbfSums *sums, PbfHistory *history);

/* The raw features of row @r. */
static inline const gint32 *
pbf_rows_raw (const PbfRows *rows, gint32 r)
{
  return r >= 0 ? rows->results[rows->frames[r]].raw
                : rows->history->rows[rows->history->n + r];
}

G_END_DECLS
