/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* cudamotionest, its request pads: packets, prediction and residual, as streams
 * beside the video's. */
#include "gstmotionest-private.h"

#define PICTURE_CAPS GST_VIDEO_CAPS_MAKE ("{ GRAY8, GRAY16_LE }")

static GstStaticPadTemplate templates[GST_MOTION_SIDES] = {
  [GST_MOTION_SIDE_VECTORS] =
      GST_STATIC_PAD_TEMPLATE ("src_vectors", GST_PAD_SRC, GST_PAD_REQUEST,
          GST_STATIC_CAPS (GST_CVIS_MOTION_VECTORS_CAPS)),
  [GST_MOTION_SIDE_PREDICTION] = GST_STATIC_PAD_TEMPLATE ("src_prediction",
      GST_PAD_SRC, GST_PAD_REQUEST, GST_STATIC_CAPS (PICTURE_CAPS)),
  [GST_MOTION_SIDE_RESIDUAL] = GST_STATIC_PAD_TEMPLATE ("src_residual",
      GST_PAD_SRC, GST_PAD_REQUEST, GST_STATIC_CAPS (PICTURE_CAPS)),
};

/* --- their caps ------------------------------------------------------------ */

/* A picture has the times of the video, and its size but for search-size. */
static GstCaps *
picture_caps (GstCudaMotionEst *self)
{
  GstCaps *video = gst_pad_get_current_caps (self->filter.srcpad), *caps;
  const guint n = MAX (self->config.sampling, 1); /* 0: no engine yet */
  GstVideoInfo info, picture;

  if (video == NULL || !gst_video_info_from_caps (&info, video)) {
    gst_clear_caps (&video);
    return NULL;
  }
  gst_video_info_set_format (&picture,
      GST_VIDEO_INFO_COMP_DEPTH (&info, 0) > 8 ? GST_VIDEO_FORMAT_GRAY16_LE
                                               : GST_VIDEO_FORMAT_GRAY8,
      (guint) GST_VIDEO_INFO_WIDTH (&info) / n,
      (guint) GST_VIDEO_INFO_HEIGHT (&info) / n);
  GST_VIDEO_INFO_FPS_N (&picture) = GST_VIDEO_INFO_FPS_N (&info);
  GST_VIDEO_INFO_FPS_D (&picture) = GST_VIDEO_INFO_FPS_D (&info);
  GST_VIDEO_INFO_PAR_N (&picture) = GST_VIDEO_INFO_PAR_N (&info);
  GST_VIDEO_INFO_PAR_D (&picture) = GST_VIDEO_INFO_PAR_D (&info);
  caps = gst_video_info_to_caps (&picture);
  gst_caps_unref (video);
  return caps;
}

static GstFlowReturn
get_request_caps (
    GstCvisFilter *filter, guint kind, GstPad *pad, GstCaps **caps)
{
  *caps = kind == GST_MOTION_SIDE_VECTORS
              ? gst_caps_from_string (GST_CVIS_MOTION_VECTORS_CAPS)
              : picture_caps (GST_CUDA_MOTION_EST (filter));
  return *caps != NULL ? GST_FLOW_OK : GST_FLOW_NOT_LINKED;
}

void
gst_motion_sides_install (GstCvisFilterClass *klass)
{
  klass->get_request_caps = get_request_caps;
  gst_cvis_filter_class_add_request_pads (klass, templates, GST_MOTION_SIDES);
}
