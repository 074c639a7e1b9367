/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstcvisvideo.h"

#include <string.h>

#include "gst/common/filter/gstcvisfilter-private.h"
#include "gst/common/gstcvismessage.h"
#include "gst/common/gstcvisquery.h"

GST_DEBUG_CATEGORY_EXTERN (gst_cvis_filter_debug);
#define GST_CAT_DEFAULT gst_cvis_filter_debug

/* --- templates --------------------------------------------------------------- */

static void
append_formats (GstCaps *caps, const GstCvisVideoKind *kind, gboolean on_device)
{
  gchar **groups =
      g_strsplit (on_device ? kind->cuda_formats : kind->formats, ";", -1);

  for (guint i = 0; groups[i] != NULL; i++) {
    gchar *text = g_strdup_printf (
        "video/x-raw%s, format = (string) { %s }, width = (int) [ 1, %d ], "
        "height = (int) [ 1, %d ]",
        on_device ? "(" GST_CVIS_CUDA_MEMORY_FEATURE ")" : "", groups[i],
        kind->max_side, kind->max_side);

    gst_caps_append (caps, gst_caps_from_string (text));
    g_free (text);
  }
  g_strfreev (groups);
}

void
gst_cvis_filter_class_add_video_pads (
    GstCvisFilterClass *klass, const GstCvisVideoKind *kind, gboolean preferred)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  const gboolean cuda = gst_cvis_cuda_available (NULL);
  GstCaps *caps = gst_caps_new_empty ();

  if (cuda && preferred)
    append_formats (caps, kind, TRUE);
  append_formats (caps, kind, FALSE);
  if (cuda && !preferred)
    append_formats (caps, kind, TRUE);
  gst_element_class_add_pad_template (element_class,
      gst_pad_template_new ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_element_class_add_pad_template (element_class,
      gst_pad_template_new ("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  gst_caps_unref (caps);
}

/* --- caps -------------------------------------------------------------------- */

gboolean
gst_cvis_caps_on_device (const GstCaps *caps)
{
  const GstCapsFeatures *features = gst_caps_get_features (caps, 0);

  return gst_caps_features_get_size (features) == 1
         && gst_caps_features_contains (features, GST_CVIS_CUDA_MEMORY_FEATURE);
}

static CvisBackend
get_wanted_backend (GstCvisFilter *filter)
{
  CvisBackend wanted;

  GST_OBJECT_LOCK (filter);
  wanted = filter->backend.wanted;
  GST_OBJECT_UNLOCK (filter);
  return wanted;
}

/* Posts an error if the memory of @caps is not supported. */
static gboolean
check_video_memory (GstCvisFilter *filter, const GstCaps *caps)
{
  const gchar *name = gst_cvis_element_name (GST_ELEMENT (filter));
  const gchar *why_not = "";
  const gboolean cuda = gst_cvis_cuda_available (&why_not);
  const gboolean on_device = gst_cvis_caps_on_device (caps);

  if (!(cuda && on_device)
      && !gst_caps_features_is_equal (gst_caps_get_features (caps, 0),
          GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY)) {
    GST_ELEMENT_ERROR (filter, STREAM, WRONG_TYPE,
        ("Unsupported caps: frames are accepted in system memory%s only. Put "
         "cudadownload before %s.",
            cuda ? " or in " GST_CVIS_CUDA_MEMORY_FEATURE : "", name),
        ("caps: %" GST_PTR_FORMAT " %s", caps, cuda ? "" : why_not));
    return FALSE;
  }
  if (on_device && get_wanted_backend (filter) == CVIS_BACKEND_CPU) {
    GST_ELEMENT_ERROR (filter, STREAM, WRONG_TYPE,
        ("Cannot process frames in " GST_CVIS_CUDA_MEMORY_FEATURE
         " with backend=cpu. Put cudadownload before %s, or use backend=auto.",
            name),
        ("backend=cpu"));
    return FALSE;
  }
  return TRUE;
}

/* Whether @format is in the list @formats. */
static gboolean
is_listed (const gchar *formats, const gchar *format)
{
  gchar **names = g_strsplit_set (formats, ",; ", -1);
  const gboolean listed =
      g_strv_contains ((const gchar *const *) names, format);

  g_strfreev (names);
  return listed;
}

/* Posts an error if the format of @caps is none of @kind. */
static gboolean
check_video_format (
    GstCvisFilter *filter, const GstCvisVideoKind *kind, const GstCaps *caps)
{
  const GstStructure *s = gst_caps_get_structure (caps, 0);
  const gchar *format = gst_structure_get_string (s, "format");
  const gchar *formats =
      gst_cvis_caps_on_device (caps) ? kind->cuda_formats : kind->formats;
  gchar *text;

  if (gst_structure_has_name (s, "video/x-raw") && format != NULL
      && is_listed (formats, format))
    return TRUE;
  text = g_strdelimit (g_strdup (formats), ";", ',');
  GST_ELEMENT_ERROR (filter, STREAM, WRONG_TYPE,
      ("Unsupported caps: format %s is none of %s. Put videoconvert before %s.",
          format != NULL ? format : "(none)", text,
          gst_cvis_element_name (GST_ELEMENT (filter))),
      ("caps: %" GST_PTR_FORMAT, caps));
  g_free (text);
  return FALSE;
}

gboolean
gst_cvis_filter_parse_video (GstCvisFilter *filter,
    const GstCvisVideoKind *kind, const GstCaps *caps, GstVideoInfo *info)
{
  gint width, height;

  if (!check_video_memory (filter, caps)
      || !check_video_format (filter, kind, caps))
    return FALSE;
  if (!gst_video_info_from_caps (info, caps)) {
    GST_ELEMENT_ERROR (filter, STREAM, FORMAT,
        ("Unsupported caps: not raw video. Put a decoder before %s.",
            gst_cvis_element_name (GST_ELEMENT (filter))),
        ("caps: %" GST_PTR_FORMAT, caps));
    return FALSE;
  }
  width = GST_VIDEO_INFO_WIDTH (info);
  height = GST_VIDEO_INFO_HEIGHT (info);
  if (MIN (width, height) >= 1 && MAX (width, height) <= kind->max_side)
    return TRUE;
  GST_ELEMENT_ERROR (filter, STREAM, FORMAT,
      ("Unsupported frame size: %dx%d is not in 1x1 to %dx%d. Crop or scale "
       "the "
       "frames.",
          width, height, kind->max_side, kind->max_side),
      ("caps: %" GST_PTR_FORMAT, caps));
  return FALSE;
}

/* --- the backend ------------------------------------------------------------- */

CvisContext *
gst_cvis_filter_follow_video (GstCvisFilter *filter, GstBuffer *buffer,
    gboolean any_device, GError **error)
{
  return gst_cvis_cuda_follow (filter->cuda, buffer,
      any_device ? -1 : gst_cvis_filter_get_device_id (filter), error);
}

gboolean
gst_cvis_filter_open_other_device (
    GstCvisFilter *filter, CvisContext *frames, CvisContext **other)
{
  const gint device_id = gst_cvis_filter_get_device_id (filter);
  GError *error = NULL;

  *other = NULL;
  if (device_id < 0 || device_id == cvis_context_get_device_id (frames))
    return TRUE;
  *other = cvis_context_new (device_id, &error);
  if (*other == NULL) {
    GST_ELEMENT_ERROR (filter, RESOURCE, NOT_FOUND,
        ("Cannot compute on another device than the frames': %s. Set "
         "cuda-device-id to a device of this machine, or to -1.",
            error->message),
        ("frames on device %d, cuda-device-id=%d",
            cvis_context_get_device_id (frames), device_id));
    g_error_free (error);
  }
  return *other != NULL;
}

gboolean
gst_cvis_filter_use_memory (GstCvisFilter *filter, gboolean on_device)
{
  if (on_device && !gst_cvis_filter_start_devices (filter))
    return FALSE;
  GST_OBJECT_LOCK (filter);
  filter->backend.active = on_device || filter->context != NULL
                               ? CVIS_BACKEND_CUDA
                               : CVIS_BACKEND_CPU;
  GST_OBJECT_UNLOCK (filter);
  return !on_device
         || gst_cvis_cuda_start (filter->cuda, GST_ELEMENT (filter),
             gst_cvis_filter_get_device_id (filter));
}

/* --- memory ------------------------------------------------------------------ */

gboolean
gst_cvis_filter_propose_video (GstCvisFilter *filter, GstQuery *query)
{
  const guint held = gst_cvis_latency_get_frames (&filter->latency) + 1;
  GstVideoInfo info;
  gboolean need_pool;
  GstCaps *caps;

  gst_query_parse_allocation (query, &caps, &need_pool);
  if (caps == NULL || !gst_video_info_from_caps (&info, caps))
    return FALSE;
  if (filter->context != NULL && need_pool && !gst_cvis_caps_on_device (caps))
    gst_cvis_query_propose_pool (query, filter->context, caps,
        GST_VIDEO_INFO_SIZE (&info), held,
        gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL));
  else
    gst_cvis_query_hold_frames (query, GST_VIDEO_INFO_SIZE (&info), held);
  return TRUE;
}
