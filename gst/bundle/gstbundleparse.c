/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/**
 * SECTION:element-bundleparse
 * @title: bundleparse
 * @short_description: reconstructions after decodebin
 *
 * Passes a reconstruction on unchanged, with the caps of a raw stream, which decodebin
 * exposes. decodebin plugs it for the formats that bundleview reads.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 filesrc location=problem.txt ! decodebin ! bundleview ! videoconvert ! autovideosink
 * ]|
 *
 * Since: 0.2
 */
#include "gstbundleparse.h"

#include "gst/common/gstcvisquery.h"
#include "gstbundletypes.h"

struct _GstBundleParse {
  GstBaseTransform parent;
};

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_BUNDLE_VIEW_CAPS));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_BUNDLE_RAW_CAPS));

G_DEFINE_FINAL_TYPE (GstBundleParse, gst_bundle_parse, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE (
    bundleparse, "bundleparse", GST_RANK_PRIMARY, GST_TYPE_BUNDLE_PARSE);

static GstCaps *
gst_bundle_parse_transform_caps (GstBaseTransform *base,
    GstPadDirection direction, GstCaps *caps, GstCaps *filter)
{
  return gst_cvis_caps_filter (
      gst_static_pad_template_get_caps (
          direction == GST_PAD_SINK ? &src_template : &sink_template),
      filter);
}

static void
gst_bundle_parse_class_init (GstBundleParseClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Reconstruction parser",
      "Codec/Parser", "Lets decodebin expose reconstructions",
      "the gst-cudavision authors");
  GST_BASE_TRANSFORM_CLASS (klass)->transform_caps =
      gst_bundle_parse_transform_caps;
}

/* Without a transform function the base class passes buffers on. */
static void
gst_bundle_parse_init (GstBundleParse *self)
{
}
