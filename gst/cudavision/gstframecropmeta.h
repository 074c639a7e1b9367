/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "cudavision-prelude.h"

G_BEGIN_DECLS

#define GST_FRAME_CROP_META_API_TYPE (gst_frame_crop_meta_api_get_type ())
#define GST_FRAME_CROP_META_INFO (gst_frame_crop_meta_get_info ())

typedef struct _GstFrameCropMeta GstFrameCropMeta;

/**
 * GstFrameCropMeta:
 * @meta: parent
 * @x: left column of the crop in the frame it was cut from, pixels
 * @y: top row
 * @frame_width: size of the frame it was cut from, pixels
 * @frame_height: likewise
 * @center_x: the position asked for, pixels of the frame it was cut from
 *   (pixel centres at +0.5); the crop is round it unless the frame's edge or
 *   the alignment moved it
 * @center_y: likewise
 *
 * Where a buffer's pixels lie in the frame that it was cropped from: a point
 * (u, v) of the buffer is (x + u, y + v) of that frame. Crops of crops add up:
 * it always refers to the first frame. Tagged video, size and orientation;
 * lost when the buffer is scaled.
 */
struct _GstFrameCropMeta {
  GstMeta meta;

  gint x;
  gint y;
  guint frame_width;
  guint frame_height;
  gdouble center_x;
  gdouble center_y;
};

GST_CUDAVISION_API
GType gst_frame_crop_meta_api_get_type (void);

GST_CUDAVISION_API
const GstMetaInfo *gst_frame_crop_meta_get_info (void);

/**
 * gst_buffer_add_frame_crop_meta:
 * @buffer: a writable buffer
 *
 * Adds a meta of zeros to @buffer, to be filled in.
 *
 * Returns: (transfer none) (nullable): the meta; %NULL if it cannot be added
 */
GST_CUDAVISION_API
GstFrameCropMeta *gst_buffer_add_frame_crop_meta (GstBuffer *buffer);

/**
 * gst_buffer_get_frame_crop_meta:
 * @buffer: a buffer
 *
 * Returns: (transfer none) (nullable): the meta of @buffer, valid as long as the
 *   buffer has it; %NULL if there is none
 */
GST_CUDAVISION_API
GstFrameCropMeta *gst_buffer_get_frame_crop_meta (GstBuffer *buffer);

G_END_DECLS
