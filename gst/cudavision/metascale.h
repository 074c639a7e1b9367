/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Private: how a transform of a picture changes positions in it. */
#pragma once

#include <gst/video/video.h>

/* The scale factors of a copy or a scaled copy. FALSE for other transforms, and if
 * the scaled picture has another shape: videoscale then adds borders or distorts the
 * picture (add-borders), and the transform does not say which. */
static inline gboolean
gst_meta_scale_factors (
    GQuark type, gconstpointer data, gdouble *scale_x, gdouble *scale_y)
{
  const GstVideoMetaTransform *scale = data;
  const GstVideoInfo *in, *out;
  gdouble shape, border;

  *scale_x = *scale_y = 1.0;
  if (!GST_VIDEO_META_TRANSFORM_IS_SCALE (type))
    return GST_META_TRANSFORM_IS_COPY (type);
  in = scale->in_info;
  out = scale->out_info;
  *scale_x = (gdouble) GST_VIDEO_INFO_WIDTH (out) / GST_VIDEO_INFO_WIDTH (in);
  *scale_y = (gdouble) GST_VIDEO_INFO_HEIGHT (out) / GST_VIDEO_INFO_HEIGHT (in);
  shape = *scale_x / *scale_y * GST_VIDEO_INFO_PAR_N (out)
          * GST_VIDEO_INFO_PAR_D (in) / GST_VIDEO_INFO_PAR_D (out)
          / GST_VIDEO_INFO_PAR_N (in);
  border = shape > 1 ? GST_VIDEO_INFO_WIDTH (out) * (1 - 1 / shape)
                     : GST_VIDEO_INFO_HEIGHT (out) * (1 - shape);
  return border < 2; /* pixels, as sizes are rounded */
}
