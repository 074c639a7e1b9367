/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The position that a region of interest follows: from the machine's signals,
 * given, or found by somebody upstream. */
#pragma once

#include <gst/cudavision/cudavision.h>
#include "cuda/meltpool/track.h"

G_BEGIN_DECLS

typedef enum {
  GST_ROI_POSITION_SIGNALS,
  GST_ROI_POSITION_PROPERTY,
  GST_ROI_POSITION_META,
} GstRoiPositionSource;

#define GST_TYPE_ROI_POSITION_SOURCE (gst_roi_position_source_get_type ())
GType gst_roi_position_source_get_type (void);

/**
 * GstRoiPosition: one thread at a time
 * @track: the stream of signals
 * @known: @x_q8 and @y_q8 hold
 * @x_q8, @y_q8: the last position found, Q8 pixels of the first frame (the one
 *   that crops upstream were cut from)
 * @missing: frames whose source had no position
 */
typedef struct {
  PbfTrack *track;
  gboolean known;
  gint64 x_q8, y_q8;
  guint64 missing;
} GstRoiPosition;

/**
 * GstRoiPositionRequest: what is asked of one frame
 * @source: where the position comes from
 * @x, @y: for PROPERTY, pixels; negative: the middle of the frame
 * @width, @height: of the frame, pixels
 */
typedef struct {
  GstRoiPositionSource source;
  gdouble x, y;
  guint width, height;
} GstRoiPositionRequest;

/* @calibration: as pbf_calibration_parse() reads it
 * Returns: FALSE with CVIS_ERROR_INVALID saying what is wrong with it. */
gboolean gst_roi_position_start (GstRoiPosition *position,
    const gchar *calibration, guint signal_delay_us, GError **error);
void gst_roi_position_stop (GstRoiPosition *position);
/* Forgets the stream (flush, new stream); counts stay. */
void gst_roi_position_reset (GstRoiPosition *position);
/* Records with a wrong magic, size, version or CRC so far. */
guint64 gst_roi_position_get_corrupt (const GstRoiPosition *position);

/* Finds the position of @buffer in its own pixels, Q8. If the source has
 * none, it is the last one, or the middle of the frame when there was none yet.
 * META: the centroid of the melt pool in the GstPbfMeta; without a meta or a
 * pool the middle of the first GstVideoRegionOfInterestMeta. */
void gst_roi_position_find (GstRoiPosition *position, GstBuffer *buffer,
    const GstRoiPositionRequest *request, gint32 *x_q8, gint32 *y_q8);

G_END_DECLS
