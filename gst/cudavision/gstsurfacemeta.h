/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <gst/gst.h>

#include "cudavision-prelude.h"
#include "surfacerecord.h"

G_BEGIN_DECLS

/* Caps of surfaces: one static tensor, dimensions "WIDTH:HEIGHT:1:1" or
 * "WIDTH:HEIGHT", rows without padding; samples in metres, NaN for missing points.
 * The optional fields surface-dx and surface-dy are the spacing of samples in
 * metres. int32 is for coefficients of reversible wavelets. */
#define GST_CVIS_SURFACE_CAPS                                                  \
  "other/tensors, format = (string) static, num_tensors = (int) 1, "           \
  "types = (string) { float32, float64, int32 }, "                             \
  "framerate = (fraction) [ 0/1, max ]"

typedef enum {
  GST_CVIS_SURFACE_TYPE_FLOAT32,
  GST_CVIS_SURFACE_TYPE_FLOAT64,
  GST_CVIS_SURFACE_TYPE_INT32,
} GstCvisSurfaceType;

/**
 * GstCvisSurfaceInfo:
 * @dx, @dy: spacing of samples in metres; 0: not in the caps
 */
typedef struct {
  guint width, height;
  GstCvisSurfaceType type;
  gint fps_n, fps_d;
  gdouble dx, dy;
} GstCvisSurfaceInfo;

/**
 * gst_cvis_surface_info_from_caps:
 * @info: (out caller-allocates): the contents of @caps
 * @caps: fixed caps
 * @error: which field is wrong, and how
 *
 * Returns: (skip): whether @caps are those of a surface; else @error is of
 *   #GST_STREAM_ERROR
 */
GST_CUDAVISION_API
gboolean gst_cvis_surface_info_from_caps (
    GstCvisSurfaceInfo *info, const GstCaps *caps, GError **error);

/**
 * gst_cvis_surface_info_to_caps:
 * @info: a valid info
 *
 * Returns: (transfer full): fixed caps
 */
GST_CUDAVISION_API
GstCaps *gst_cvis_surface_info_to_caps (const GstCvisSurfaceInfo *info);

/**
 * gst_cvis_surface_info_get_size:
 * @info: a valid info
 *
 * Returns: size of a surface in bytes
 */
GST_CUDAVISION_API
gsize gst_cvis_surface_info_get_size (const GstCvisSurfaceInfo *info);

#define GST_CVIS_SURFACE_META_API_TYPE (gst_cvis_surface_meta_api_get_type ())
#define GST_CVIS_SURFACE_META_INFO (gst_cvis_surface_meta_get_info ())

typedef struct _GstCvisSurfaceMeta GstCvisSurfaceMeta;

/**
 * GstCvisSurfaceMeta:
 * @part: the component that the surface is
 * @dx, @dy: spacing of samples, metres
 * @z_scale, @offset: height in metres = sample * z_scale + offset; z_scale is 1
 *   for floats. A height that was subtracted before the conversion to float32 is
 *   in @offset
 * @polynomial: the polynomial that an F-operation removed, see LwtJob; 0 without one
 * @missing: number of missing points
 * @mask: (nullable): width * height bytes, 0 for missing points: for grey samples,
 *   which have no NaN, and for the surface that BANDS were computed from. %NULL: no
 *   point is missing, or missing points are NaN
 * @wavelet: name of the wavelet, or of a filter without one (gaussian, robust-gaussian,
 *   spline); empty before any filter
 * @boundary: nick of the boundary; empty before any filter and after one of any cut-off
 * @levels: levels of the form, or of BANDS; [0] along x
 * @lambda_s, @lambda_c, @lambda_f: effective cut-offs in metres, [0] along x; 0:
 *   not used
 * @width, @height: size of the surface; for BANDS that of the surface that they
 *   were computed from (padding makes them larger)
 * @interleaved: layout of BANDS: interleaved, else mallat
 * @has_parameters: whether @parameters is set
 */
struct _GstCvisSurfaceMeta {
  GstMeta meta;

  CvisSurfacePart part;
  gdouble dx;
  gdouble dy;
  gdouble z_scale;
  gdouble offset;
  gdouble polynomial[6];
  guint64 missing;
  GstBuffer *mask;
  gchar wavelet[64];
  gchar boundary[16];
  guint levels[2];
  gdouble lambda_s[2];
  gdouble lambda_c[2];
  gdouble lambda_f[2];
  guint width;
  guint height;
  gboolean interleaved;
  gboolean has_parameters;
  CvisSurfaceParameters parameters;
};

GST_CUDAVISION_API
GType gst_cvis_surface_meta_api_get_type (void);

GST_CUDAVISION_API
const GstMetaInfo *gst_cvis_surface_meta_get_info (void);

/**
 * gst_cvis_buffer_add_surface_meta:
 * @buffer: a writable buffer
 *
 * Adds an empty meta: z_scale is 1, all else 0.
 *
 * Returns: (transfer none) (nullable): the meta; %NULL if it cannot be added
 */
GST_CUDAVISION_API
GstCvisSurfaceMeta *gst_cvis_buffer_add_surface_meta (GstBuffer *buffer);

/**
 * gst_cvis_buffer_get_surface_meta:
 * @buffer: a buffer
 *
 * Returns: (transfer none) (nullable): the first such meta of @buffer, which
 *   describes its samples, valid as long as the buffer has it; %NULL if there is
 *   none
 */
GST_CUDAVISION_API
GstCvisSurfaceMeta *gst_cvis_buffer_get_surface_meta (GstBuffer *buffer);

/**
 * gst_cvis_surface_meta_get_wavelet:
 * @meta: a meta
 *
 * Returns: (transfer none): the wavelet; empty before any filter
 */
GST_CUDAVISION_API
const gchar *gst_cvis_surface_meta_get_wavelet (const GstCvisSurfaceMeta *meta);

/**
 * gst_cvis_surface_meta_get_boundary:
 * @meta: a meta
 *
 * Returns: (transfer none): the nick of the boundary; empty before any filter
 */
GST_CUDAVISION_API
const gchar *gst_cvis_surface_meta_get_boundary (
    const GstCvisSurfaceMeta *meta);

/**
 * gst_cvis_surface_part_name:
 * @part: a part
 *
 * Returns: (transfer none): "measured", "noise", "roughness", "waviness", "form"
 *   or "bands"
 */
GST_CUDAVISION_API
const gchar *gst_cvis_surface_part_name (CvisSurfacePart part);

G_END_DECLS
