/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The settings of cudabundleadjust. */
#pragma once

#include "cuda/bundle/engine.h"
#include "gst/common/gstcvissettings.h"

G_BEGIN_DECLS

/**
 * GstBundleSettings:
 * @output_format: a BundleFormat
 * @constants: name of the file of constants; "": none
 * @covariance: whether to compute covariances for stats
 */
typedef struct {
  BundleConfig config;
  gint output_format;
  gchar *constants;
  gboolean covariance;
} GstBundleSettings;

/* Sets the defaults; @constants is allocated. */
void gst_bundle_settings_init (GstBundleSettings *settings);
/* gst_cvis_settings_bind() for the struct at @offset of the element */
void gst_bundle_settings_bind (
    GObjectClass *klass, guint first_id, gsize offset);

G_END_DECLS
