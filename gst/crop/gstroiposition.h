/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The position of a region of interest: from the machine's signals, from properties,
 * or from metas of an element upstream. */
#pragma once

#include <gst/cudavision/cudavision.h>
#include "cuda/crop/track.h"

G_BEGIN_DECLS

typedef enum {
  GST_ROI_POSITION_SIGNALS,
  GST_ROI_POSITION_PROPERTY,
  GST_ROI_POSITION_META,
} GstRoiPositionSource;

extern const GEnumValue gst_roi_position_source_values[];

/**
 * GstRoiPosition: one thread at a time
 * @track: the stream of signals
 * @known: whether @x_q8 and @y_q8 are set
 * @x_q8, @y_q8: the last position found, in 1/256 pixels of the original frame (from
 *   which crops upstream were cut)
 * @missing: frames whose source had no position
 */
typedef struct {
  PbfTrack *track;
  gboolean known;
  gint64 x_q8, y_q8;
  guint64 missing;
} GstRoiPosition;

/**
 * GstRoiPositionRequest: how to find the position in a frame
 * @source: source of the position
 * @x, @y: for PROPERTY, pixels; negative: the centre of the frame
 * @width, @height: size of the frame, pixels
 */
typedef struct {
  GstRoiPositionSource source;
  gdouble x, y;
  guint width, height;
} GstRoiPositionRequest;

/* @calibration: as pbf_calibration_parse() reads it
 * Returns: FALSE with CVIS_ERROR_INVALID if it is invalid */
gboolean gst_roi_position_start (GstRoiPosition *position,
    const gchar *calibration, guint signal_delay_us, GError **error);
void gst_roi_position_stop (GstRoiPosition *position);
/* Resets the state of the stream (flush, new stream), but not the counts. */
void gst_roi_position_reset (GstRoiPosition *position);
/* Records with a wrong magic, size, version or CRC so far. */
guint64 gst_roi_position_get_corrupt (const GstRoiPosition *position);

/* Finds the position in @buffer, in 1/256 of its pixels. If the source has none, it
 * is the last one, or the centre of the frame if there was none yet. META: the
 * centroid of the melt pool in the GstCvisPbfMeta; without a meta or a pool the centre of
 * the first GstVideoRegionOfInterestMeta. */
void gst_roi_position_find (GstRoiPosition *position, GstBuffer *buffer,
    const GstRoiPositionRequest *request, gint32 *x_q8, gint32 *y_q8);

G_END_DECLS
