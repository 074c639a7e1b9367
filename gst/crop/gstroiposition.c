/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstroiposition.h"

#include <gst/video/video.h>
#include <string.h>
#include "cuda/crop/roicrop.h"

const GEnumValue gst_roi_position_source_values[] = {
  { GST_ROI_POSITION_SIGNALS,
      "The machine's signals (GstCvisPbfSignalMeta) through the calibration",
      "signals" },
  { GST_ROI_POSITION_PROPERTY, "The properties x and y", "property" },
  { GST_ROI_POSITION_META,
      "The melt pool's centroid (GstCvisPbfMeta), else the first "
      "GstVideoRegionOfInterestMeta",
      "meta" },
  { 0, NULL, NULL },
};

gboolean
gst_roi_position_start (GstRoiPosition *position, const gchar *calibration,
    guint signal_delay_us, GError **error)
{
  PbfTrackConfig config = {
    .source = PBF_POSITION_SOURCE_SIGNALS,
    .signal_delay_us = signal_delay_us,
  };

  if (!pbf_calibration_parse (calibration, &config.calibration, error))
    return FALSE;
  memset (position, 0, sizeof *position);
  position->track = pbf_track_new (&config);
  return TRUE;
}

void
gst_roi_position_stop (GstRoiPosition *position)
{
  g_clear_pointer (&position->track, pbf_track_free);
}

void
gst_roi_position_reset (GstRoiPosition *position)
{
  position->known = FALSE;
  if (position->track)
    pbf_track_reset (position->track);
}

guint64
gst_roi_position_get_corrupt (const GstRoiPosition *position)
{
  return position->track ? pbf_track_get_counts (position->track)->corrupt : 0;
}

/* Takes the position from the same track as the engine does, so that the crop is
 * exactly the engine's region of interest. */
static gboolean
find_in_signals (GstRoiPosition *position, GstBuffer *buffer, gint offset_x,
    gint offset_y, gint32 *x_q8, gint32 *y_q8)
{
  GstCvisPbfSignalMeta *meta = gst_cvis_buffer_get_pbf_signal_meta (buffer);
  PbfFrameInfo info;

  pbf_track_frame (position->track, meta ? &meta->signal : NULL,
      GST_BUFFER_PTS (buffer), offset_x, offset_y, &info);
  *x_q8 = info.e_x_q8;
  *y_q8 = info.e_y_q8;
  return info.position == PBF_POSITION_GIVEN;
}

static gboolean
find_in_metas (GstBuffer *buffer, gint32 *x_q8, gint32 *y_q8)
{
  GstCvisPbfMeta *pool = gst_cvis_buffer_get_pbf_meta (buffer);
  GstVideoRegionOfInterestMeta *roi;
  gdouble x, y;

  if (pool != NULL && pool->result->bbox_width > 0) {
    x = pool->result->centroid_x_q8 / 256.0 * pool->scale_x + pool->offset_x;
    y = pool->result->centroid_y_q8 / 256.0 * pool->scale_y + pool->offset_y;
  } else {
    roi = gst_buffer_get_video_region_of_interest_meta (buffer);
    if (roi == NULL)
      return FALSE;
    x = roi->x + roi->w / 2.0;
    y = roi->y + roi->h / 2.0;
  }
  *x_q8 = cvis_crop_q8 (x);
  *y_q8 = cvis_crop_q8 (y);
  return TRUE;
}

static gint32
clamp_q8 (gint64 q8)
{
  return (gint32) CLAMP (q8, G_MININT32, G_MAXINT32);
}

void
gst_roi_position_find (GstRoiPosition *position, GstBuffer *buffer,
    const GstRoiPositionRequest *request, gint32 *x_q8, gint32 *y_q8)
{
  GstCvisFrameCropMeta *crop = gst_cvis_buffer_get_frame_crop_meta (buffer);
  gint offset_x = crop ? crop->x : 0, offset_y = crop ? crop->y : 0;
  gboolean found = TRUE;

  *x_q8 = cvis_crop_q8 (request->width / 2.0);
  *y_q8 = cvis_crop_q8 (request->height / 2.0);
  switch (request->source) {
    case GST_ROI_POSITION_PROPERTY:
      if (request->x >= 0.0)
        *x_q8 = cvis_crop_q8 (request->x);
      if (request->y >= 0.0)
        *y_q8 = cvis_crop_q8 (request->y);
      break;
    case GST_ROI_POSITION_SIGNALS: {
      gint32 x, y;

      found = find_in_signals (position, buffer, offset_x, offset_y, &x, &y);
      if (found) {
        *x_q8 = x;
        *y_q8 = y;
      }
      break;
    }
    case GST_ROI_POSITION_META:
      found = find_in_metas (buffer, x_q8, y_q8);
      break;
  }

  if (found) {
    position->known = TRUE;
    position->x_q8 = *x_q8 + (gint64) offset_x * 256;
    position->y_q8 = *y_q8 + (gint64) offset_y * 256;
    return;
  }
  position->missing++;
  if (position->known) {
    *x_q8 = clamp_q8 (position->x_q8 - (gint64) offset_x * 256);
    *y_q8 = clamp_q8 (position->y_q8 - (gint64) offset_y * 256);
  }
}
