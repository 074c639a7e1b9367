/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstcvisnocaps.h"

#include <gst/base/gsttypefindhelper.h>

/* Decoders and demuxers, and their packages in Debian and Ubuntu */
static const struct {
  const gchar *type, *element, *package;
} decoders[] = {
  { "image/png", "pngdec", "gstreamer1.0-plugins-good" },
  { "image/jpeg", "jpegdec", "gstreamer1.0-plugins-good" },
  { "image/tiff", "avdec_tiff", "gstreamer1.0-libav" },
  { "image/bmp", "avdec_bmp", "gstreamer1.0-libav" },
  { "image/webp", "webpdec", "gstreamer1.0-plugins-bad" },
  { "video/quicktime", "qtdemux", "gstreamer1.0-plugins-good" },
  { "video/x-matroska", "matroskademux", "gstreamer1.0-plugins-good" },
  { "video/webm", "matroskademux", "gstreamer1.0-plugins-good" },
  { "video/x-msvideo", "avidemux", "gstreamer1.0-plugins-good" },
  { "video/mpegts", "tsdemux", "gstreamer1.0-plugins-bad" },
  { "video/mpeg", "avdec_mpeg2video", "gstreamer1.0-libav" },
  { "video/x-h264", "avdec_h264", "gstreamer1.0-libav" },
  { "video/x-h265", "avdec_h265", "gstreamer1.0-libav" },
  { "application/x-yuv4mpeg", "y4mdec", "gstreamer1.0-plugins-bad" },
  { "application/ogg", "oggdemux", "gstreamer1.0-plugins-base" },
};

/* The type of @buffer's bytes; %NULL if it is unknown, or text, whose format is
 * not found this way. */
static GstCaps *
find_type (GstElement *element, GstBuffer *buffer)
{
  GstTypeFindProbability probability = GST_TYPE_FIND_NONE;
  GstCaps *caps = NULL;

  if (gst_buffer_get_size (buffer) > 0)
    caps = gst_type_find_helper_for_buffer (
        GST_OBJECT (element), buffer, &probability);
  if (caps != NULL
      && (probability < GST_TYPE_FIND_POSSIBLE
          || g_str_has_prefix (
              gst_structure_get_name (gst_caps_get_structure (caps, 0)),
              "text/")))
    gst_clear_caps (&caps);
  return caps;
}

/* The installed element of the highest rank that decodes @caps, %NULL if there is
 * none. */
static GstElementFactory *
find_decoder (const GstCaps *caps)
{
  GList *all = gst_element_factory_list_get_elements (
      GST_ELEMENT_FACTORY_TYPE_DECODER | GST_ELEMENT_FACTORY_TYPE_DEMUXER,
      GST_RANK_MARGINAL);
  GList *fit = gst_element_factory_list_filter (all, caps, GST_PAD_SINK, FALSE);
  GstElementFactory *first = NULL;

  fit = g_list_sort (fit, gst_plugin_feature_rank_compare_func);
  if (fit != NULL)
    first = gst_object_ref (fit->data);
  gst_plugin_feature_list_free (fit);
  gst_plugin_feature_list_free (all);
  return first;
}

/* Returns: (transfer full): advice for a stream of the media type @type. */
static gchar *
advise (const gchar *type, GstElementFactory *decoder)
{
  const gchar *convert =
      g_str_has_prefix (type, "image/") || g_str_has_prefix (type, "video/")
          ? " ! videoconvert"
          : "";

  if (decoder != NULL)
    return g_strdup_printf ("Put \"decodebin%s\", which uses %s, before the "
                            "element",
        convert, GST_OBJECT_NAME (decoder));
  for (guint i = 0; i < G_N_ELEMENTS (decoders); i++)
    if (g_str_equal (type, decoders[i].type))
      return g_strdup_printf ("No installed element decodes this: install %s "
                              "(package %s), and put \"decodebin%s\" before "
                              "the element",
          decoders[i].element, decoders[i].package, convert);
  return g_strdup_printf ("No installed element decodes this: install one, and "
                          "put \"decodebin%s\" before the element",
      convert);
}

void
gst_cvis_post_no_caps (GstElement *element, GstBuffer *buffer)
{
  GstCaps *caps = find_type (element, buffer);
  GstElementFactory *decoder;
  const gchar *type;
  gchar *advice;

  if (caps == NULL) {
    GST_ELEMENT_ERROR (element, STREAM, FORMAT,
        ("Cannot process a buffer: it came without caps. Put a capsfilter "
         "before the element."),
        (NULL));
    return;
  }
  type = gst_structure_get_name (gst_caps_get_structure (caps, 0));
  decoder = find_decoder (caps);
  advice = advise (type, decoder);
  GST_ELEMENT_ERROR (element, STREAM, FORMAT,
      ("Cannot process a buffer: it came without caps, and its bytes are %s. "
       "%s.",
          type, advice),
      ("found: %" GST_PTR_FORMAT, caps));
  g_free (advice);
  gst_clear_object (&decoder);
  gst_caps_unref (caps);
}
