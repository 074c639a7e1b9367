/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The grey formats that the melt-pool elements accept. Samples of more than 8 bits
 * are shifted to 8. */
#pragma once

#include <gst/video/video.h>

#include "cuda/meltpool/grey.h"

G_BEGIN_DECLS

/* GRAY8 first, which needs no conversion. */
#if GST_CHECK_VERSION(1, 26, 0)
#define GST_PBF_GREY_FORMATS                                                   \
  "{ GRAY8, GRAY16_LE, GRAY16_BE, GRAY10_LE32, GRAY10_LE16 }"
#else
#define GST_PBF_GREY_FORMATS "{ GRAY8, GRAY16_LE, GRAY16_BE, GRAY10_LE32 }"
#endif

#define GST_PBF_SHIFT_AUTO -1
#define GST_PBF_MAX_SHIFT 8
#define GST_PBF_SHIFT_BLURB                                                    \
  "Right shift that makes 8 bits of samples with more, bits; what exceeds "    \
  "255 "                                                                       \
  "becomes 255; -1: the format's depth less 8"

/**
 * GstPbfGrey: how to read frames
 * @wide: samples have more than 8 bits; @layout and @shift describe them
 */
typedef struct {
  gboolean wide;
  PbfGreyLayout layout;
  guint shift;
} GstPbfGrey;

/* @shift: the property's value.
 * Returns: FALSE if @info has none of GST_PBF_GREY_FORMATS. */
gboolean gst_pbf_grey_init (
    GstPbfGrey *grey, const GstVideoInfo *info, gint shift);

/* Bytes of a row of @width samples. */
gsize gst_pbf_grey_row_bytes (const GstPbfGrey *grey, guint width);

G_END_DECLS
