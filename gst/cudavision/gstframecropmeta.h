/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "cudavision-prelude.h"

G_BEGIN_DECLS

#define GST_CVIS_FRAME_CROP_META_API_TYPE                                      \
  (gst_cvis_frame_crop_meta_api_get_type ())
#define GST_CVIS_FRAME_CROP_META_INFO (gst_cvis_frame_crop_meta_get_info ())

typedef struct _GstCvisFrameCropMeta GstCvisFrameCropMeta;

/**
 * GstCvisFrameCropMeta:
 * @meta: parent
 * @x: left column of the crop in the original frame, pixels
 * @y: top row of the crop in the original frame, pixels
 * @frame_width: width of the original frame, pixels
 * @frame_height: height of the original frame, pixels
 * @center_x: requested position of the crop's centre in the original frame,
 *   pixels (pixel centres at +0.5); the edge of the frame or the alignment may have
 *   moved the crop
 * @center_y: requested y of the crop's centre, as @center_x
 *
 * Position of a cropped buffer in its original frame: point (u, v) of the buffer is
 * (x + u, y + v) of that frame. If a crop is cropped again, the original frame is
 * the first one. Tagged video, size and orientation; lost when the buffer is scaled.
 */
struct _GstCvisFrameCropMeta {
  GstMeta meta;

  gint x;
  gint y;
  guint frame_width;
  guint frame_height;
  gdouble center_x;
  gdouble center_y;
};

GST_CUDAVISION_API
GType gst_cvis_frame_crop_meta_api_get_type (void);

GST_CUDAVISION_API
const GstMetaInfo *gst_cvis_frame_crop_meta_get_info (void);

/**
 * gst_cvis_buffer_add_frame_crop_meta:
 * @buffer: a writable buffer
 *
 * Adds a meta of zeros to @buffer, to be filled in.
 *
 * Returns: (transfer none) (nullable): the meta; %NULL if it cannot be added
 */
GST_CUDAVISION_API
GstCvisFrameCropMeta *gst_cvis_buffer_add_frame_crop_meta (GstBuffer *buffer);

/**
 * gst_cvis_buffer_get_frame_crop_meta:
 * @buffer: a buffer
 *
 * Returns: (transfer none) (nullable): the meta of @buffer, valid as long as the
 *   buffer has it; %NULL if there is none
 */
GST_CUDAVISION_API
GstCvisFrameCropMeta *gst_cvis_buffer_get_frame_crop_meta (GstBuffer *buffer);

G_END_DECLS
