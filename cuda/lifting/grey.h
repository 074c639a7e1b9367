/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Surfaces as grey pictures. Grey has no NaN, so a mask marks the missing
 * points. */
#pragma once

#include "cuda/lifting/engine.h"

G_BEGIN_DECLS

/**
 * LwtGrey: grey = round ((z - zero) / scale + middle), clamped to 0..max
 * @bits: 8 or 16 bits a sample
 * @zero, @scale: metres; @scale is not 0
 * @middle: grey value of @zero
 */
typedef struct {
  guint bits;
  gdouble zero, scale, middle;
} LwtGrey;

/**
 * lwt_grey_from_heights:
 * @heights, @stride: rows of @width samples of @type, @stride bytes apart
 * @to, @to_stride: rows of grey samples, @to_stride bytes apart; missing
 *   points are 0
 * @mask: (nullable): @width * @height bytes: 0 for missing points, otherwise
 *   255
 *
 * Returns: number of points, other than missing ones, whose level was clamped
 */
guint64 lwt_grey_from_heights (const LwtGrey *grey, gconstpointer heights,
    gsize stride, LwtType type, guint width, guint height, gpointer to,
    gsize to_stride, guint8 *mask);

/* The float type that holds all values of @sample, and NaN: F32, or for I32
 * and F64 F64. */
LwtSample lwt_sample_with_mask (LwtSample sample);

/**
 * lwt_samples_copy:
 * @data, @stride: rows of @width samples, at any alignment
 * @masked: convert to lwt_sample_with_mask(); otherwise copy unchanged
 * @mask: (nullable): if @masked, @width * @height bytes: points with 0
 *   become NaN
 * @to: rows without gaps
 */
void lwt_samples_copy (gconstpointer data, gsize stride, LwtSample sample,
    guint width, guint height, gboolean masked, const guint8 *mask,
    gpointer to);

G_END_DECLS
