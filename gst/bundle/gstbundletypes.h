/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Media types of reconstructions and their typefinders. */
#pragma once

#include <gst/gst.h>
#include "cuda/bundle/formats/formats.h"

G_BEGIN_DECLS

/* Formats that are read */
#define GST_BUNDLE_READ_CAPS                                                   \
  "application/x-bal; application/x-bundler; application/x-nvm; "              \
  "application/x-colmap"
#define GST_BUNDLE_PLY_CAPS "application/x-ply"
#define GST_BUNDLE_TRANSFORMS_CAPS "application/x-nerfstudio-transforms"
/* Formats that are shown */
#define GST_BUNDLE_VIEW_CAPS                                                   \
  GST_BUNDLE_READ_CAPS "; " GST_BUNDLE_PLY_CAPS ";"                            \
                       " " GST_BUNDLE_TRANSFORMS_CAPS
/* Any of these after decodebin, which exposes raw types */
#define GST_BUNDLE_RAW_CAPS "text/x-raw(cudavision:Reconstruction)"
#define GST_BUNDLE_WRITTEN_CAPS                                                \
  GST_BUNDLE_VIEW_CAPS "; application/x-tum-trajectory"

/* Type name of the enumeration of BundleFormat, for settings */
#define GST_BUNDLE_FORMAT_NAME "GstBundleFormat"
extern const GEnumValue gst_bundle_format_values[];

/* Returns: (transfer full): caps of files of @format */
GstCaps *gst_bundle_format_caps (BundleFormat format);

/* Registers typefinders for the formats that are shown. */
gboolean gst_bundle_types_register (GstPlugin *plugin);

G_END_DECLS
