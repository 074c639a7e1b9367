/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_PBF_PARSE (gst_pbf_parse_get_type ())
G_DECLARE_FINAL_TYPE (GstPbfParse, gst_pbf_parse, GST, PBF_PARSE, GstElement)

GST_ELEMENT_REGISTER_DECLARE (pbfparse);

/* Registers the typefinder of recordings. */
gboolean gst_pbf_parse_register_type (GstPlugin *plugin);

G_END_DECLS
