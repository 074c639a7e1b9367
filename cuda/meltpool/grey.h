/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Converts grey pictures with more than 8 bits a sample to 8 bits. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/**
 * PbfGreyLayout: format of the samples in a row
 * @PBF_GREY_16_LE: words of 16 bits, little-endian
 * @PBF_GREY_16_BE: the same, big-endian
 * @PBF_GREY_10_LE32: little-endian words of 32 bits with three samples of 10
 *   bits, the first in the lowest bits
 */
typedef enum {
  PBF_GREY_16_LE,
  PBF_GREY_16_BE,
  PBF_GREY_10_LE32,
} PbfGreyLayout;

/* Bytes of a row of @width samples. */
gsize pbf_grey_row_bytes (PbfGreyLayout layout, guint width);

/**
 * pbf_grey_to_8:
 * @from: first row, any alignment; rows are @from_stride bytes apart
 * @to: (out): @height rows of @width bytes, one after the other
 * @shift: 0..15
 *
 * A sample becomes MIN (sample >> @shift, 255).
 */
void pbf_grey_to_8 (PbfGreyLayout layout, guint shift, const guint8 *from,
    gsize from_stride, guint width, guint height, guint8 *to);

G_END_DECLS
