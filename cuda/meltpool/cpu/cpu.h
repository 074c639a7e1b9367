/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The three steps of the CPU backend and the rows of pbf_grey_to_8(),
 * compiled once for each instruction set. */
#pragma once

#include "cuda/meltpool/grey.h"
#include "cuda/meltpool/params.h"

G_BEGIN_DECLS

#define PBF_ROI_PITCH 64 /* bytes from row to row of the padded copy */
#define PBF_ROI_MAX_RUNS (CVIS_PBF_ROI_SIDE * CVIS_PBF_ROI_SIDE / 2)

/* Work memory of a thread for one frame. */
typedef struct {
  /* the ROI with a border of one pixel, replicated: pixel (x, y) is at
   * [y + 1][16 + x] */
  guint8 roi[CVIS_PBF_ROI_SIDE + 2][PBF_ROI_PITCH]
      __attribute__ ((aligned (64)));
  /* gradients as pairs of 16 bits for each pixel: |gy| in the low half, gx
   * in the high half, with the sign that turns the pair to the upper half
   * plane */
  gint32 gradient[CVIS_PBF_ROI_SIDE * CVIS_PBF_ROI_SIDE]
      __attribute__ ((aligned (64)));
  guint64
      mask[CVIS_PBF_ROI_SIDE]; /* bit x: pixel (x, y) reaches the threshold */
  guint64 pool[CVIS_PBF_ROI_SIDE]; /* the pixel also belongs to the melt pool */
  gint32 pool_x,
      pool_y; /* the pool's first pixel in the frame, if there is one */
  /* for whole frames, ROIs of other sizes and many runs: runs of foreground
   * pixels */
  gsize max_runs; /* capacity of the arrays, which grow */
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
  guint64 excess; /* locate_brightest(): sum of I - threshold + 1 */
} PbfComponent;

/* The window between two batches: the rows that windows of the next batch
 * include, and their sums. */
typedef struct {
  gint32 n;                           /* at most the window's length - 1 */
  gint32 (*rows)[CVIS_PBF_N_SPATIAL]; /* oldest first */
  gint64 s1[CVIS_PBF_N_SPATIAL], s2[CVIS_PBF_N_SPATIAL];
  gboolean started;
  PbfRow last;
} PbfHistory;

/* The frames of a batch that enter the window, in order. */
typedef struct {
  const PbfParams *params;
  const PbfHistory *history;
  CvisPbfResult *results;
  gint32 n;
  gint32 *frames; /* index in the batch of each row's frame */
  gint32 *starts; /* first row of its window; negative: in the history */
  PbfRow last;
} PbfRows;

/* Sums of the rows low..(some row). */
typedef struct {
  gint32 low;
  gint64 s1[CVIS_PBF_N_SPATIAL], s2[CVIS_PBF_N_SPATIAL];
} PbfSums;

typedef struct {
  const gchar *name;
  /* All of @result except the fields of the window and the network. Sets the
   * flag EXCLUDED or EMPTY if the frame does not enter the window. */
  void (*spatial) (const PbfParams *params, PbfCpuScratch *scratch,
      const guint8 *frame, guint stride, const PbfFrameInfo *info,
      CvisPbfResult *result);
  /* Variances of rows first..end-1. @sums: (inout): sums of the rows from
   * the start of row @first's window, or earlier, to the row before @first;
   * on return up to the last row. */
  void (*temporal) (
      const PbfRows *rows, gint32 first, gint32 end, PbfSums *sums);
  /* Outputs of the network from the 40 features. */
  void (*network) (
      const PbfParams *params, const PbfModel *model, CvisPbfResult *result);
  /* One row of pbf_grey_to_8(). */
  void (*grey_row) (PbfGreyLayout layout, guint shift, const guint8 *from,
      gsize width, guint8 *to);
} PbfCpuKernels;

extern const PbfCpuKernels pbf_cpu_generic;
extern const PbfCpuKernels pbf_cpu_v3;
extern const PbfCpuKernels pbf_cpu_v4;

/* The functions for this processor (cvis_cpu_level()). */
const PbfCpuKernels *pbf_cpu_kernels (void);

PbfCpuScratch *pbf_cpu_scratch_new (void);
void pbf_cpu_scratch_free (PbfCpuScratch *scratch);

void pbf_history_init (PbfHistory *history, guint window);
void pbf_history_clear (PbfHistory *history);
void pbf_history_reset (PbfHistory *history);

/* Lists the frames of a batch that enter the window (@rows->n, frames and
 * starts, which have room for all) and flags those at which the window
 * restarts. @position: frames of the stream before the batch. */
void pbf_rows_find (
    PbfRows *rows, const PbfFrameInfo *infos, guint n, guint64 position);
/* Initial sums for row @first. */
void pbf_rows_sum (const PbfRows *rows, gint32 first, PbfSums *sums);
/* Variances and outputs of rows first..end-1; %NULL @model: no outputs. @sums: (out):
 * after the last row */
void pbf_rows_compute (const PbfRows *rows, const PbfModel *model, gint32 first,
    gint32 end, PbfSums *sums);
/* Rows that a thread takes at once. It starts by summing the window before them, so they
 * are at least as many. */
guint pbf_rows_grain (const PbfParams *params);
/* Updates @history after the batch; @sums: after the last row. */
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
