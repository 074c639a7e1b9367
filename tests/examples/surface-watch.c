/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* surface-watch: an example of an application that reads surfaces. It runs a
 * pipeline, prints Sa and Sq of each surface from the parameters in its
 * GstCvisSurfaceMeta (in a pad probe), and cudalwtfilter's messages about limits
 * (from the bus).
 *
 *   surface-watch
 *   surface-watch "surfacesrc location=part-%03d.x3p ! cudalwtfilter
 *       lambda-c=80e-6 parameters=true sa-upper-limit=2e-7 ! fakesink name=sink"
 *
 * It only uses the installed headers and library:
 *   cc surface-watch.c \
 *       $(pkg-config --cflags --libs gstreamer-cudavision-1.0) */
#include <gst/cudavision/cudavision.h>

#define DEFAULT_PIPELINE                                                       \
  "surfacetestsrc num-buffers=30 event-period=10 ! "                           \
  "cudalwtfilter lambda-c=80e-6 lambda-f=320e-6 parameters=true "              \
  "sa-upper-limit=2e-7 ! fakesink name=sink"

typedef struct {
  guint64 surfaces, without_parameters; /* used by the streaming thread */
  guint warnings;
} Watch;

static GstPadProbeReturn
on_surface (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Watch *watch = user_data;
  GstCvisSurfaceMeta *meta =
      gst_cvis_buffer_get_surface_meta (gst_pad_probe_info_get_buffer (info));

  watch->surfaces++;
  if (meta == NULL || !meta->has_parameters) {
    watch->without_parameters++;
    return GST_PAD_PROBE_OK;
  }
  g_print ("%s: Sa %.1f nm, Sq %.1f nm, lambda-c %.1f um, %" G_GUINT64_FORMAT
           " points missing\n",
      gst_cvis_surface_part_name (meta->part), meta->parameters.sa * 1e9,
      meta->parameters.sq * 1e9, meta->lambda_c[0] * 1e6, meta->missing);
  return GST_PAD_PROBE_OK;
}

/* A surface beyond its limits. */
static void
on_limit (Watch *watch, const GstStructure *limit)
{
  guint64 frame = 0;
  gdouble sa = 0;

  gst_structure_get_uint64 (limit, "frame", &frame);
  gst_structure_get_double (limit, "sa", &sa);
  g_print ("WARNING surface %" G_GUINT64_FORMAT ": Sa is %.1f nm\n", frame,
      sa * 1e9);
  watch->warnings++;
}

/* Runs until the end of the stream. Returns: FALSE after an error. */
static gboolean
run (Watch *watch, GstElement *pipeline)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  gboolean ok = TRUE, ended = FALSE;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while (!ended) {
    GstMessage *message = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE,
        GST_MESSAGE_ERROR | GST_MESSAGE_EOS | GST_MESSAGE_ELEMENT);
    GError *error = NULL;

    if (gst_message_has_name (message, "cudalwtfilter-limit")) {
      on_limit (watch, gst_message_get_structure (message));
    } else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
      gst_message_parse_error (message, &error, NULL);
      g_printerr ("%s: %s\n", GST_MESSAGE_SRC_NAME (message), error->message);
      g_error_free (error);
      ok = FALSE;
    }
    ended = GST_MESSAGE_TYPE (message) != GST_MESSAGE_ELEMENT;
    gst_message_unref (message);
  }
  gst_object_unref (bus);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return ok;
}

int
main (int argc, char **argv)
{
  Watch watch = { 0 };
  GError *error = NULL;
  GstElement *pipeline, *sink;
  GstPad *pad;
  gboolean ok;

  gst_init (&argc, &argv);
  pipeline = gst_parse_launch (argc > 1 ? argv[1] : DEFAULT_PIPELINE, &error);
  if (pipeline == NULL || error != NULL) {
    g_printerr ("%s\n", error->message);
    g_error_free (error);
    g_clear_object (&pipeline);
    return 2;
  }
  sink = GST_IS_BIN (pipeline)
             ? gst_bin_get_by_name (GST_BIN (pipeline), "sink")
             : NULL;
  pad = sink ? gst_element_get_static_pad (sink, "sink") : NULL;
  if (pad == NULL) {
    g_printerr ("the pipeline needs an element \"name=sink\" at its end\n");
    g_clear_object (&sink);
    gst_object_unref (pipeline);
    return 2;
  }
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, on_surface, &watch, NULL);
  ok = run (&watch, pipeline);
  g_print ("%" G_GUINT64_FORMAT " surfaces, %" G_GUINT64_FORMAT
           " without parameters, %u warnings\n",
      watch.surfaces, watch.without_parameters, watch.warnings);
  gst_object_unref (pad);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  return ok ? 0 : 1;
}
