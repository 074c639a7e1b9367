/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* HDF5 files in the layout of the data set RAISE-LPBF (C. Blanc, A. Ahar, K.
 * De Grave, Additive Manufacturing Letters 7, 2023, 100161), by libhdf5:
 *
 *   /object/layer/frame            uint8, N x height x width
 *   /object/layer/scan_line_index  integers, N: scan line of each frame
 *   /object/layer/laser_params     S x 2: scan speed in mm/s and laser power in W
 *                                  of each scan line; optional
 *
 * Files of one object have the layers at the root. One thread at a time may
 * use a reader; a lock serialises the calls of libhdf5. */
#pragma once

#include "cuda/core/error.h"
#include "cuda/records/pbfrecord.h"

G_BEGIN_DECLS

#define PBF_RAISE_MAX_SIDE 4096

typedef struct _PbfRaise PbfRaise;

/**
 * PbfRaiseFrame:
 * @pixels: rows of @width bytes without gaps; valid until the next call
 * @signal: not sealed; t_ns is 0
 */
typedef struct {
  guint width, height;
  const guint8 *pixels;
  CvisPbfSignal signal;
} PbfRaiseFrame;

/* @group: object, layer or "object/layer" to read; empty: all, in the natural order
 *   of their names: 2 before 10. Soft links within the file are followed.
 * Returns: %NULL with CVIS_ERROR_FORMAT (no such file, or another layout) or
 * CVIS_ERROR_INVALID (no such group) */
PbfRaise *pbf_raise_new (const gchar *path, const gchar *group, GError **error);
void pbf_raise_free (PbfRaise *raise);

/* Returns: FALSE at the end, or with @error if the file is damaged */
gboolean pbf_raise_next (PbfRaise *raise, PbfRaiseFrame *frame, GError **error);

/* @n: (out): frames of all layers. Returns: FALSE with @error if a layer has
 * another layout */
gboolean pbf_raise_count (PbfRaise *raise, guint64 *n, GError **error);
/* Makes @frame (0..) the next one; at or beyond the end there is none. Its record
 * is the one that it has without a seek. Returns: FALSE with @error */
gboolean pbf_raise_seek (PbfRaise *raise, guint64 frame, GError **error);

/* Counts of the links and groups that were left out since the file was opened; with
 * @at_end, of values of the frames that have been read.
 * Returns: (nullable): one line, to free; %NULL: nothing. The counts start again */
gchar *pbf_raise_take_warning (PbfRaise *raise, gboolean at_end);

G_END_DECLS
