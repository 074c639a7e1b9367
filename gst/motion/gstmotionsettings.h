/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The properties of cudamotionest and what they mean to the engine. */
#pragma once

#include "gst/common/gstcvfilter.h"
#include "cuda/motion/engine.h"

G_BEGIN_DECLS

/**
 * GstMotionRoi: whose regions of interest a frame gets
 * @GST_MOTION_ROI_NONE: nobody's
 * @GST_MOTION_ROI_MSDK: those of the Intel Media SDK's encoders
 * @GST_MOTION_ROI_VAAPI: those of gstreamer-vaapi's encoders
 */
typedef enum {
  GST_MOTION_ROI_NONE,
  GST_MOTION_ROI_MSDK,
  GST_MOTION_ROI_VAAPI,
} GstMotionRoi;

/**
 * GstMotionSettings:
 * @config: of the engine; width, height and depth are not settings
 * @scene_threshold: of the scene score, 0: no scene cuts are looked for
 * @force_key_units: an event before the first frame of a scene
 * @roi: regions of interest round what moves
 * @roi_delta_qp: what they ask of the encoder
 * @roi_min_motion: pixels from the global motion
 * @message_interval: ns between element messages, 0: none
 * @interval: each frame of so many is searched
 */
typedef struct {
  MotionConfig config;
  gdouble scene_threshold;
  gboolean force_key_units;
  GstMotionRoi roi;
  gint roi_delta_qp;
  gdouble roi_min_motion;
  guint64 message_interval;
  guint interval;
} GstMotionSettings;

void gst_motion_settings_init (GstMotionSettings *settings);

/* Installs the properties, of the struct at @offset of the element. */
void gst_motion_settings_install (GstCvFilterClass *klass, gsize offset);

G_END_DECLS
