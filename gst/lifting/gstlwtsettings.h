/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The properties of cudalwtfilter that set what is computed. */
#pragma once

#include "gst/common/filter/gstcvisfilter.h"
#include "cuda/lifting/engine.h"

G_BEGIN_DECLS

/* Output of the source pad: AUTO, 1 + CvisSurfacePart, or NONE: the input */
typedef enum {
  GST_LWT_OUTPUT_AUTO,
  GST_LWT_OUTPUT_MEASURED = 1 + CVIS_SURFACE_PART_MEASURED,
  GST_LWT_OUTPUT_NOISE = 1 + CVIS_SURFACE_PART_NOISE,
  GST_LWT_OUTPUT_ROUGHNESS = 1 + CVIS_SURFACE_PART_ROUGHNESS,
  GST_LWT_OUTPUT_WAVINESS = 1 + CVIS_SURFACE_PART_WAVINESS,
  GST_LWT_OUTPUT_FORM = 1 + CVIS_SURFACE_PART_FORM,
  GST_LWT_OUTPUT_BANDS = 1 + CVIS_SURFACE_PART_BANDS,
  GST_LWT_OUTPUT_NONE = 1 + CVIS_SURFACE_N_PARTS,
} GstLwtOutput;

typedef enum {
  GST_LWT_PRECISION_AUTO,
  GST_LWT_PRECISION_FLOAT32,
  GST_LWT_PRECISION_FLOAT64,
} GstLwtPrecision;

/* Levels of a component, along both axes and along each; -1: not set */
typedef struct {
  gint both, x, y;
} GstLwtLevels;

/**
 * GstLwtSettings: see the properties of these names. Strings are owned.
 * @lambda_s, @lambda_c, @lambda_f: metres; 0: not set, the levels count
 * @dx, @dy: metres; 0: not set
 */
typedef struct {
  LwtOperation operation;
  GstLwtOutput output;
  LwtFilter filter;
  guint filter_order;
  gdouble tension;
  gchar *wavelet;
  GstLwtLevels levels, roughness_levels, noise_levels;
  gdouble lambda_s, lambda_c, lambda_f;
  LwtBoundary boundary;
  LwtLayout layout;
  LwtFOperation f_operation;
  gdouble dx, dy, z_scale, z_offset;
  gboolean reversible;
  GstLwtPrecision precision;
  gdouble threshold, threshold_scale;
  LwtShrink shrink;
  guint spins;
  gboolean parameters;
  gdouble sa_lower_limit, sa_upper_limit;
  guint64 message_interval;
  guint threads, frames_in_flight;
  guint64 cuda_memory_limit; /* bytes; 0: all free memory */
  guint64 split_samples;     /* 0: LWT_SPLIT_SAMPLES */
} GstLwtSettings;

void gst_lwt_settings_init (GstLwtSettings *settings);
void gst_lwt_settings_copy (GstLwtSettings *to, const GstLwtSettings *from);
void gst_lwt_settings_clear (GstLwtSettings *settings);

/* Installs the properties for the struct at @offset of the element. */
void gst_lwt_settings_install (GstCvisFilterClass *klass, gsize offset);

/* The component that the source pad gives; for NONE, that whose Sa has limits. */
CvisSurfacePart gst_lwt_settings_get_part (const GstLwtSettings *settings);
/* Whether the operation is a filter other than wavelet-decimated. */
gboolean gst_lwt_settings_is_smoothing (const GstLwtSettings *settings);
/* The nick of a value. */
const gchar *gst_lwt_operation_name (LwtOperation operation);
const gchar *gst_lwt_filter_name (LwtFilter filter);
const gchar *gst_lwt_boundary_name (LwtBoundary boundary);
/* Returns: FALSE if @name is no boundary */
gboolean gst_lwt_boundary_from_name (const gchar *name, LwtBoundary *boundary);

G_END_DECLS
