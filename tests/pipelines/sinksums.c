/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "sinksums.h"

void
sinks_wait_for_eos (GstElement *pipeline, const gchar *line)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message = gst_bus_timed_pop_filtered (
      bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  GError *error = NULL;
  gchar *debug = NULL;

  if (message == NULL)
    g_error ("%s: no end within a minute", line);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error (message, &error, &debug);
    g_error ("%s: %s (%s)", line, error->message, debug);
  }
  gst_message_unref (message);
  gst_object_unref (bus);
}

static void
add_to_sum (GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer sum)
{
  GstMapInfo map;

  g_assert_true (gst_buffer_map (buffer, &map, GST_MAP_READ));
  g_checksum_update (sum, map.data, (gssize) map.size);
  gst_buffer_unmap (buffer, &map);
}

GChecksum *
sinks_watch (GstElement *pipeline, const gchar *name, GCallback add)
{
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), name);
  GChecksum *sum = g_checksum_new (G_CHECKSUM_SHA256);

  g_signal_connect (
      sink, "handoff", add != NULL ? add : G_CALLBACK (add_to_sum), sum);
  gst_object_unref (sink);
  return sum;
}

gchar *
sinks_take_sum (GChecksum *sum)
{
  gchar *text = g_strdup (g_checksum_get_string (sum));

  g_checksum_free (sum);
  return text;
}
