/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Video files as input. Called by the files of motion/, by bundle.c and monitor.c. */
#include "video.h"

void
video_append_source (
    GString *launch, const gchar *name, const CommonOptions *common)
{
  g_string_append (launch, "filesrc ");
  launch_set (launch, "location", name);
  /* sound is not decoded */
  g_string_append (
      launch, "! decodebin expose-all-streams=false caps=video/x-raw(ANY) ");
  if (common != NULL && g_strcmp0 (common->backend, "cpu") == 0)
    g_string_append (launch, "! video/x-raw ");
}

void
video_append_backend (GString *launch, const CommonOptions *common)
{
  if (common->backend != NULL)
    launch_set (launch, "backend", common->backend);
  if (common->device >= 0)
    launch_set_int (launch, "cuda-device-id", common->device);
  if (common->devices != NULL)
    launch_set (launch, "cuda-device-ids", common->devices);
  if (common->threads > 0)
    launch_set_int (launch, "threads", common->threads);
}

/* Decodes @name to the frame at @time and on through @rest, which ends with a
 * fakesink. */
static GstSample *
take_sample (const gchar *name, guint64 time, const gchar *rest)
{
  GString *launch = g_string_new (NULL);
  GstElement *pipeline, *sink;
  GstSample *sample = NULL;

  if (interrupted ()) {
    g_string_free (launch, TRUE);
    return NULL;
  }
  video_append_source (launch, name, NULL);
  g_string_append (launch, rest);
  pipeline = gst_parse_launch_full (
      launch->str, NULL, GST_PARSE_FLAG_FATAL_ERRORS, NULL);
  g_string_free (launch, TRUE);
  if (pipeline == NULL)
    return NULL;
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "picture");
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  if (gst_element_get_state (pipeline, NULL, NULL, 20 * GST_SECOND)
      == GST_STATE_CHANGE_SUCCESS) {
    if (time > 0
        && gst_element_seek_simple (pipeline, GST_FORMAT_TIME,
            GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE, time))
      gst_element_get_state (pipeline, NULL, NULL, 20 * GST_SECOND);
    g_object_get (sink, "last-sample", &sample, NULL);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  return sample;
}

GstSample *
video_take_picture (
    const gchar *name, guint64 time, guint side, const gchar *filter)
{
  gchar *rest = g_strdup_printf (
      "%s%s! videoconvert ! videoscale ! "
      "video/x-raw,width=[16,%u],height=[16,%u],"
      "pixel-aspect-ratio=1/1 ! jpegenc quality=80 ! fakesink name=picture",
      filter != NULL ? "! videoconvert ! " : "", filter != NULL ? filter : "",
      side, side);
  GstSample *sample = take_sample (name, time, rest);

  g_free (rest);
  return sample;
}

GstSample *
video_take_luma (const gchar *name, guint64 *time)
{
  GstSample *sample = take_sample (name, *time,
      "! videoconvert ! video/x-raw,format=GRAY8 ! fakesink name=picture");
  guint64 found;

  if (sample == NULL)
    return NULL;
  found = gst_segment_to_stream_time (gst_sample_get_segment (sample),
      GST_FORMAT_TIME, GST_BUFFER_PTS (gst_sample_get_buffer (sample)));
  if (GST_CLOCK_TIME_IS_VALID (found))
    *time = found;
  return sample;
}

const gchar *
video_encoder (const gchar *name)
{
  static const struct {
    const gchar *ending, *encoder;
  } encoders[] = {
    { ".webm", "vp8enc deadline=1 ! webmmux" },
    { ".mp4", "x264enc ! mp4mux" },
    { ".avi", "jpegenc ! avimux" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (encoders); i++)
    if (g_str_has_suffix (name, encoders[i].ending))
      return encoders[i].encoder;
  return NULL;
}

gchar *
video_format_time (guint64 ns)
{
  const guint64 ms = (ns + 500000) / 1000000;

  return g_strdup_printf ("%u:%02u:%02u.%03u", (guint) (ms / 3600000),
      (guint) (ms / 60000 % 60), (guint) (ms / 1000 % 60), (guint) (ms % 1000));
}
