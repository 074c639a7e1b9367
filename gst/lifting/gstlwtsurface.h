/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Input of cudalwtfilter, described by caps, GstCvisSurfaceMeta and properties, and the
 * engine's configuration for it. */
#pragma once

#include <gst/video/video.h>

#include "gst/cudavision/cudavision.h"
#include "gstlwtsettings.h"

G_BEGIN_DECLS

/* Wavelet in a meta whose description is too long for it */
#define GST_LWT_UNNAMED "custom"

/**
 * GstLwtLayout: the contents of caps
 * @video: grey pictures, described by @picture; else tensors, by @tensor
 * @sample: the type of its samples
 */
typedef struct {
  gboolean video;
  GstVideoInfo picture;
  GstCvisSurfaceInfo tensor;
  guint width, height;
  gint fps_n, fps_d;
  LwtSample sample;
  gsize size;
} GstLwtLayout;

/**
 * GstLwtSurface: the surfaces that an engine is made for
 * @sample: type of the input samples
 * @masked: a mask gives missing points: samples are converted to floats
 * @dx, @dy: metres; 0: not known
 * @z_scale: metres for a step of 1 in the samples
 * @z_offset: height of level 0 for the engine, metres
 * @whole: size of the surface: that of the input, except for bands
 * @cutoffs: see LwtConfig; of filters other than wavelet-decimated
 * @wavelet: wavelet of input bands; empty: that of the settings
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
  gdouble cutoffs[3][2];
  LwtBoundary boundary;
  LwtLayout layout;
} GstLwtSurface;

/* Returns: FALSE with an error of GST_STREAM_ERROR if @caps are not supported */
gboolean gst_lwt_layout_from_caps (
    GstLwtLayout *layout, const GstCaps *caps, GError **error);

/* @meta: (nullable): meta of the input
 * Returns: FALSE with CVIS_ERROR_INVALID if caps, meta and settings contradict each
 * other or are incomplete */
gboolean gst_lwt_surface_init (GstLwtSurface *surface,
    const GstLwtLayout *layout, const GstCvisSurfaceMeta *meta,
    const GstLwtSettings *settings, GError **error);
gboolean gst_lwt_surface_equal (const GstLwtSurface *a, const GstLwtSurface *b);

/* The text for lwt_wavelet_new(). */
const gchar *gst_lwt_surface_get_wavelet (
    const GstLwtSurface *surface, const GstLwtSettings *settings);
/* Default type of the arithmetic.
 * @other: (out): whether the other float type can be used too */
LwtType gst_lwt_surface_get_type (const GstLwtSurface *surface,
    const GstLwtSettings *settings, gboolean *other);
/* Whether samples are not converted to heights: integers stay integers. */
gboolean gst_lwt_settings_is_plain (const GstLwtSettings *settings);

/* Sets all of the configuration except components, parameters and frames in
 * flight. */
void gst_lwt_surface_configure (const GstLwtSurface *surface,
    const GstLwtSettings *settings, const LwtWavelet *wavelet, LwtType type,
    LwtConfig *config);

/* Effective cut-offs along @axis in metres; 0: not used, or not known. */
void gst_lwt_get_cutoffs (const LwtConfig *config, guint axis, gdouble spacing,
    gdouble *lambda_s, gdouble *lambda_c, gdouble *lambda_f);

G_END_DECLS
