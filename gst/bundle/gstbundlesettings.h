/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The settings of cudabundleadjust. */
#pragma once

#include "cuda/bundle/engine.h"
#include "gst/common/gstcvsettings.h"

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
/* Installs the properties as @first_id, ... */
void gst_bundle_settings_install (GObjectClass *klass, guint first_id);
const GstCvSetting *gst_bundle_setting (guint i);

G_END_DECLS
