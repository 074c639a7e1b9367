/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The properties of cudamotionest. */
#pragma once

#include "gst/common/filter/gstcvisfilter.h"
#include "cuda/motion/engine.h"

G_BEGIN_DECLS

/**
 * GstMotionRoi: the encoders that regions of interest are for
 * @GST_MOTION_ROI_NONE: no regions of interest
 * @GST_MOTION_ROI_MSDK: encoders of the Intel Media SDK
 * @GST_MOTION_ROI_VAAPI: encoders of gstreamer-vaapi
 */
typedef enum {
  GST_MOTION_ROI_NONE,
  GST_MOTION_ROI_MSDK,
  GST_MOTION_ROI_VAAPI,
} GstMotionRoi;

/**
 * GstMotionSettings:
 * @config: settings of the engine, without width, height and depth
 * @scene_threshold: least scene score of a cut; 0: no detection
 * @force_key_units: request a key frame at the first frame of a scene
 * @roi: kind of regions of interest
 * @roi_delta_qp: their quantiser offset
 * @roi_min_motion: least difference from the global motion, pixels
 * @message_interval: ns between element messages; 0: none
 * @interval: every n-th frame is searched
 * @search_size: longest side of the searched picture; 0: that of the frame
 */
typedef struct {
  MotionConfig config;
  gdouble scene_threshold;
  gboolean force_key_units;
  GstMotionRoi roi;
  gint roi_delta_qp;
  gdouble roi_min_motion;
  guint64 message_interval;
  guint interval, search_size;
} GstMotionSettings;

void gst_motion_settings_init (GstMotionSettings *settings);

/* Installs the properties for the struct at @offset of the element. */
void gst_motion_settings_install (GstCvisFilterClass *klass, gsize offset);

G_END_DECLS
