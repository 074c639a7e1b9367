/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Input of cudalwtfilter: from caps, a buffer's GstSurfaceMeta and the
 * properties; and what the engine is told of it. */
#pragma once

#include <gst/video/video.h>

#include "gst/cudavision/cudavision.h"
#include "gstlwtsettings.h"

G_BEGIN_DECLS

/* Instead of a description that does not fit into a meta */
#define GST_LWT_UNNAMED "custom"

/**
 * GstLwtLayout: what caps say
 * @video: grey pictures, of @picture; else tensors, of @tensor
 * @colour: video in colour, whose luma is described; only of `denoise`
 * @on_device: in memory:CUDAMemory
 * @sample: the type of its samples
 */
typedef struct {
  gboolean video, colour, on_device;
  GstVideoInfo picture;
  GstSurfaceInfo tensor;
  guint width, height;
  gint fps_n, fps_d;
  LwtSample sample;
  gsize size;
} GstLwtLayout;

/**
 * GstLwtSurface: what an engine is made for
 * @sample: type as it comes
 * @masked: points are missing by a mask: samples become floats
 * @dx, @dy: metres; 0: not known
 * @z_scale: of the samples, metres
 * @z_offset: of the level 0, for the engine
 * @whole: size of the surface: what comes in, but for bands
 * @wavelet: of bands that come in; empty: that of the settings
 */
typedef struct {
  guint width, height;
  LwtSample sample;
  gboolean masked;
  gdouble dx, dy;
  gdouble z_scale, z_offset;
  guint whole[2];
  gchar wavelet[64];
  guint levels[2], levels_roughness[2], levels_noise[2];
  LwtBoundary boundary;
  LwtLayout layout;
} GstLwtSurface;

/* @denoise: video in colour is let in
 * Returns: FALSE with an error of GST_STREAM_ERROR that says what is wrong. */
gboolean gst_lwt_layout_from_caps (GstLwtLayout *layout, const GstCaps *caps,
    gboolean denoise, GError **error);

/* @meta: (nullable)
 * Returns: FALSE with CVIS_ERROR_INVALID if the three contradict each other, or
 * do not say enough. */
gboolean gst_lwt_surface_init (GstLwtSurface *surface,
    const GstLwtLayout *layout, const GstSurfaceMeta *meta,
    const GstLwtSettings *settings, GError **error);
gboolean gst_lwt_surface_equal (const GstLwtSurface *a, const GstLwtSurface *b);

/* The argument of lwt_wavelet_new(). */
const gchar *gst_lwt_surface_get_wavelet (
    const GstLwtSurface *surface, const GstLwtSettings *settings);
/* Default type of the arithmetic.
 * @other: (out): whether the other float type does as well */
LwtType gst_lwt_surface_get_type (const GstLwtSurface *surface,
    const GstLwtSettings *settings, gboolean *other);
/* Heights are not computed with: integers stay what they are. */
gboolean gst_lwt_settings_is_plain (const GstLwtSettings *settings);

/* All but parts, parameters and what is in flight. */
void gst_lwt_surface_configure (const GstLwtSurface *surface,
    const GstLwtSettings *settings, const LwtWavelet *wavelet, LwtType type,
    LwtConfig *config);

/* Effective cut-offs along @axis in metres; 0: not used, or not known. */
void gst_lwt_get_cutoffs (const LwtConfig *config, guint axis, gdouble spacing,
    gdouble *lambda_s, gdouble *lambda_c, gdouble *lambda_f);

G_END_DECLS
