/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* GstCvisSurfaceMeta as bytes, version 0 of the serialization of GStreamer 1.24 and
 * later: the fields below one after the other, numbers in little-endian order, then
 * the bytes of the mask, if there is one. Not installed. */
#pragma once

#include "gstsurfacemeta.h"

#include <math.h>
#include <string.h>

/* @size: of one number: 1, 4 or 8 bytes */
typedef struct {
  gsize offset, size, count;
} SurfaceMetaField;

#define FIELD(name, size, count)                                               \
  {                                                                            \
    G_STRUCT_OFFSET (GstCvisSurfaceMeta, name), size, count                    \
  }

static const SurfaceMetaField surface_meta_fields[] = {
  FIELD (part, 4, 1),
  FIELD (dx, 8, 1),
  FIELD (dy, 8, 1),
  FIELD (z_scale, 8, 1),
  FIELD (offset, 8, 1),
  FIELD (polynomial, 8, 6),
  FIELD (missing, 8, 1),
  FIELD (wavelet, 1, 64),
  FIELD (boundary, 1, 16),
  FIELD (levels, 4, 2),
  FIELD (lambda_s, 8, 2),
  FIELD (lambda_c, 8, 2),
  FIELD (lambda_f, 8, 2),
  FIELD (width, 4, 1),
  FIELD (height, 4, 1),
  FIELD (interleaved, 4, 1),
  FIELD (has_parameters, 4, 1),
  FIELD (parameters.n, 8, 1),
  FIELD (parameters.mean, 8, 1),
  FIELD (parameters.sa, 8, 1),
  FIELD (parameters.sq, 8, 1),
  FIELD (parameters.sp, 8, 1),
  FIELD (parameters.sv, 8, 1),
  FIELD (parameters.sz, 8, 1),
  FIELD (parameters.ssk, 8, 1),
  FIELD (parameters.sku, 8, 1),
  FIELD (parameters.sdr, 8, 1),
  FIELD (parameters.sdq, 8, 1),
};

#undef FIELD

/* Bytes without the mask: the sum of the table */
#define SURFACE_META_BYTES 332

/* Copies a number, with its bytes reversed on big-endian machines. */
static inline void
surface_meta_copy_number (guint8 *to, const guint8 *from, gsize size)
{
  for (gsize i = 0; i < size; i++)
    to[i] = from[G_BYTE_ORDER == G_LITTLE_ENDIAN ? i : size - 1 - i];
}

static inline void
surface_meta_pack (const GstCvisSurfaceMeta *meta, guint8 *bytes)
{
  for (guint f = 0; f < G_N_ELEMENTS (surface_meta_fields); f++) {
    const SurfaceMetaField *field = &surface_meta_fields[f];
    const guint8 *from = (const guint8 *) meta + field->offset;

    for (gsize i = 0; i < field->count; i++, bytes += field->size)
      surface_meta_copy_number (bytes, from + i * field->size, field->size);
  }
}

/* Sets all fields of @meta from untrusted @bytes, except the mask, which follows
 * after %SURFACE_META_BYTES.
 * Returns: FALSE, with @meta in any state, if they are invalid */
static inline gboolean
surface_meta_unpack (GstCvisSurfaceMeta *meta, const guint8 *bytes, gsize size)
{
  if (size < SURFACE_META_BYTES)
    return FALSE;
  for (guint f = 0; f < G_N_ELEMENTS (surface_meta_fields); f++) {
    const SurfaceMetaField *field = &surface_meta_fields[f];
    guint8 *to = (guint8 *) meta + field->offset;

    for (gsize i = 0; i < field->count; i++, bytes += field->size)
      surface_meta_copy_number (to + i * field->size, bytes, field->size);
  }
  meta->interleaved = meta->interleaved != 0;
  meta->has_parameters = meta->has_parameters != 0;
  return (guint) meta->part < CVIS_SURFACE_N_PARTS
         && meta->wavelet[sizeof (meta->wavelet) - 1] == '\0'
         && meta->boundary[sizeof (meta->boundary) - 1] == '\0'
         && isfinite (meta->z_scale) && isfinite (meta->offset)
         && isfinite (meta->dx) && meta->dx >= 0.0 && isfinite (meta->dy)
         && meta->dy >= 0.0;
}
