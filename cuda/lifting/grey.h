/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Surfaces as grey pictures, which have no NaN: a mask says which points are
 * there. */
#pragma once

#include "cuda/lifting/engine.h"

G_BEGIN_DECLS

/**
 * LwtGrey: grey = round ((z - zero) / scale + middle), within 0..max
 * @bits: 8 or 16 a sample
 * @zero, @scale: metres; @scale is not 0
 * @middle: grey of @zero
 */
typedef struct {
  guint bits;
  gdouble zero, scale, middle;
} LwtGrey;

/**
 * lwt_grey_from_heights:
 * @heights, @stride: rows of @width samples of @type, @stride bytes apart
 * @to, @to_stride: rows of grey samples; missing points are 0
 * @mask: (nullable): @width * @height bytes: 0 where a point is missing, else
 *   255
 */
void lwt_grey_from_heights (const LwtGrey *grey, gconstpointer heights,
    gsize stride, LwtType type, guint width, guint height, gpointer to,
    gsize to_stride, guint8 *mask);

/* The floats that hold all of @sample, and NaN: F32 or, of I32 and F64, F64. */
LwtSample lwt_sample_with_mask (LwtSample sample);

/**
 * lwt_samples_copy:
 * @data, @stride: rows of @width samples, wherever they lie
 * @masked: make them lwt_sample_with_mask(); else they stay as they are
 * @mask: (nullable): if @masked, @width * @height bytes: points where it is 0
 *   become NaN
 * @to: rows without gaps between
 */
void lwt_samples_copy (gconstpointer data, gsize stride, LwtSample sample,
    guint width, guint height, gboolean masked, const guint8 *mask,
    gpointer to);

G_END_DECLS
