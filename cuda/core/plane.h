/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Planes of pictures and surfaces, and their sums: the smallest computations with both
 * backends, from which new elements begin (docs/tutorials/new-element.md). */
#pragma once

#include "cuda/core/device/stage.h"

G_BEGIN_DECLS

/**
 * CvisPlane: unsigned samples of 1 or 2 bytes (little endian), or floats of 4 or 8
 * @data: in system memory, or on the device of a stage; samples are aligned
 * @stride: bytes from a row to the next, at least @width samples
 * @sample_size: bytes of a sample
 * @shift: right shift of each sample of 2 bytes, for formats that keep their bits high,
 *   such as P010
 */
typedef struct {
  gconstpointer data;
  gsize stride;
  guint width, height;
  guint sample_size, shift;
} CvisPlane;

/* The sum of all samples, of 1 or 2 bytes.
 * @stage: (nullable): where @plane is; %NULL: in system memory
 * Returns: FALSE with CVIS_ERROR_CUDA or CVIS_ERROR_MEMORY */
gboolean cvis_plane_sum (
    const CvisPlane *plane, CvisStage *stage, guint64 *sum, GError **error);

/* The number of missing points: floats that are not a number.
 * @stage, Returns: as above */
gboolean cvis_plane_count_missing (
    const CvisPlane *plane, CvisStage *stage, guint64 *n, GError **error);

/* The same on the device; use those above. */
gboolean cvis_plane_sum_cuda (
    const CvisPlane *plane, CvisStage *stage, guint64 *sum, GError **error);
gboolean cvis_plane_count_missing_cuda (
    const CvisPlane *plane, CvisStage *stage, guint64 *n, GError **error);

G_END_DECLS
