/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Blends colours over a video frame of any 8-bit format, in place: conversion to
 * another format and back takes tens of milliseconds at 1920x1080. One thread at a
 * time. */
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

/* Blends @color with @opacity, 0..1, over the part of a rectangle that lies in the
 * frame. A sample of subsampled colour belongs to the rectangle that has its
 * upper left pixel. */
void gst_motion_blend_rectangle (GstMotionBlend *blend, GstVideoFrame *frame,
    const GstVideoRectangle *rectangle, GstMotionColor color, gdouble opacity);

/* Blends @color over @area, which lies in the frame, with the opacities of @mask, a
 * raster of the frame's size: 0 transparent, 255 opaque. */
void gst_motion_blend_mask (GstMotionBlend *blend, GstVideoFrame *frame,
    const guint8 *mask, gsize stride, const GstVideoRectangle *area,
    GstMotionColor color);

G_END_DECLS
