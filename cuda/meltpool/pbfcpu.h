/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The CPU backend's three steps, compiled once for each instruction set. */
#pragma once

#include "pbfparams.h"

G_BEGIN_DECLS

#define PBF_ROI_PITCH 64 /* bytes from row to row of the padded copy */
#define PBF_ROI_MAX_RUNS (PBF_ROI_SIDE * PBF_ROI_SIDE / 2)

/* What one thread needs for a frame. */
typedef struct {
  /* the ROI with a border of one pixel, replicated: pixel (x, y) is at
   * [y + 1][16 + x] */
  guint8 roi[PBF_ROI_SIDE + 2][PBF_ROI_PITCH] __attribute__ ((aligned (64)));
  /* gradients, a pair of 16 bits a pixel: |gy| below, gx above, signs such
   * that the pair points into the upper half plane */
  gint32 gradient[PBF_ROI_SIDE * PBF_ROI_SIDE] __attribute__ ((aligned (64)));
  guint64 mask[PBF_ROI_SIDE]; /* bit x: pixel (x, y) reaches the threshold */
  guint64 pool[PBF_ROI_SIDE]; /* and belongs to the melt pool */
  /* for whole frames and for noise: runs of foreground pixels */
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
} PbfComponent;

/* The last rows of the window and their sums. */
typedef struct {
  PbfRow *rows; /* a ring of `length` rows */
  guint length, n, next;
  gint64 s1[PBF_N_SPATIAL], s2[PBF_N_SPATIAL];
  gboolean started;
  PbfRow last;
} PbfWindow;

typedef struct {
  const gchar *name;
  /* All of @result but the window's and the network's part. Sets EXCLUDED or
   * EMPTY in its flags where the frame does not enter the window. */
  void (*spatial) (const PbfParams *params, PbfCpuScratch *scratch,
      const guint8 *frame, guint stride, const PbfFrameInfo *info,
      PbfResult *result);
  /* Enters @result into the window: its variances. */
  void (*temporal) (const PbfParams *params, PbfWindow *window,
      guint64 position, PbfResult *result);
  /* The network's outputs from the 40 features. */
  void (*network) (
      const PbfParams *params, const PbfModel *model, PbfResult *result);
} PbfCpuKernels;

extern const PbfCpuKernels pbf_cpu_generic;
extern const PbfCpuKernels pbf_cpu_v3;
extern const PbfCpuKernels pbf_cpu_v4;

/* Those for this processor (cvis_cpu_level()). */
const PbfCpuKernels *pbf_cpu_kernels (void);

PbfCpuScratch *pbf_cpu_scratch_new (const PbfConfig *config);
void pbf_cpu_scratch_free (PbfCpuScratch *scratch);

void pbf_window_init (PbfWindow *window, guint length);
void pbf_window_clear (PbfWindow *window);
void pbf_window_reset (PbfWindow *window);

G_END_DECLS
