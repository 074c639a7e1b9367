/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Colours laid over a video frame of any format of 8-bit samples, in place and
 * without a detour through another format: that detour takes tens of
 * milliseconds at 1920x1080. One thread at a time. */
#pragma once

#include <gst/video/video.h>

G_BEGIN_DECLS

#define GST_MOTION_BLEND_FORMATS                                               \
  "{ NV12, NV21, I420, YV12, Y42B, Y444, NV16, NV61, NV24, YUY2, UYVY, YVYU, " \
  "VYUY, AYUV, VUYA, v308, GBR, RGB, BGR, RGBx, BGRx, xRGB, xBGR, RGBA, "      \
  "BGRA, ARGB, ABGR, GRAY8 }"

/* A colour as the components of a format. */
typedef struct {
  guint8 component[3];
} GstMotionColor;

typedef struct {
  GstVideoInfo info;
  gdouble kr, kb; /* of YUV */
  gint offset[GST_VIDEO_MAX_COMPONENTS];
  gint scale[GST_VIDEO_MAX_COMPONENTS];
  guint16 *sums; /* a row of a mask, where components are subsampled */
  guint8 *row;
} GstMotionBlend;

/* @info: of a format of %GST_MOTION_BLEND_FORMATS */
void gst_motion_blend_init (GstMotionBlend *blend, const GstVideoInfo *info);
void gst_motion_blend_clear (GstMotionBlend *blend);

/* @rgb: 0xrrggbb */
GstMotionColor gst_motion_blend_color (
    const GstMotionBlend *blend, guint32 rgb);

/* Lays @color with @opacity, 0..1, over a rectangle, as far as it lies within
 * the frame. A sample of subsampled colour belongs to the rectangle that has
 * its left upper pixel. */
void gst_motion_blend_rectangle (GstMotionBlend *blend, GstVideoFrame *frame,
    const GstVideoRectangle *rectangle, GstMotionColor color, gdouble opacity);

/* Lays @color over @area, which lies within the frame, as dense as @mask says,
 * a raster of the frame's size: 0 not at all, 255 it replaces the picture. */
void gst_motion_blend_mask (GstMotionBlend *blend, GstVideoFrame *frame,
    const guint8 *mask, gsize stride, const GstVideoRectangle *area,
    GstMotionColor color);

G_END_DECLS
