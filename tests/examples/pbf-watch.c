/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* pbf-watch: an example of an application that reads results. It runs a
 * pipeline, reads the GstCvisPbfMeta of each frame in a pad probe, prints a
 * summary once a second of the stream and warns when the melt pool leaves
 * given limits.
 *
 *   pbf-watch --max-area=150
 *   pbf-watch "multifilesrc location=%04d.png ! pngdec ! videoconvert !
 *       cudapbfmonitor ! fakesink name=sink"
 *
 * It only uses the installed headers and library:
 *   cc pbf-watch.c $(pkg-config --cflags --libs gstreamer-cudavision-1.0) */
#include <gst/cudavision/cudavision.h>
#include <math.h>

#define DEFAULT_PIPELINE                                                       \
  "pbftestsrc regime=mixed num-buffers=40000 ! cudapbfmonitor ! "              \
  "fakesink name=sink"

typedef struct {
  /* limits of the mean over a second; NAN: none */
  gdouble min_area, max_area, max_spatters;

  /* of the current second; the probe runs in one thread */
  GstClockTime start;
  guint64 frames, empty, without_result;
  gdouble area, spatters, output;
  guint warnings;
  guint64 all_frames;
} Watch;

static void
warn_above (Watch *watch, const gchar *what, gdouble value, gdouble limit)
{
  if (value > limit) {
    g_print ("WARNING %s %.1f is above %.1f\n", what, value, limit);
    watch->warnings++;
  }
}

static void
report (Watch *watch, GstClockTime until)
{
  guint64 lit = watch->frames - watch->empty;
  gdouble area = lit ? watch->area / (gdouble) lit : 0;
  gdouble spatters = lit ? watch->spatters / (gdouble) lit : 0;

  if (watch->frames == 0)
    return;
  g_print ("%" GST_TIME_FORMAT "  %" G_GUINT64_FORMAT
           " frames, %" G_GUINT64_FORMAT " empty, area %.1f px, "
           "%.2f spatters, first output %.3f\n",
      GST_TIME_ARGS (until), watch->frames, watch->empty, area, spatters,
      lit ? watch->output / (gdouble) lit : 0);
  if (lit > 0) {
    warn_above (watch, "mean pool area", area, watch->max_area);
    warn_above (
        watch, "mean number of spatters", spatters, watch->max_spatters);
    if (area < watch->min_area) {
      g_print (
          "WARNING mean pool area %.1f is below %.1f\n", area, watch->min_area);
      watch->warnings++;
    }
  }
  watch->frames = watch->empty = 0;
  watch->area = watch->spatters = watch->output = 0;
}

static void
look_at (Watch *watch, GstBuffer *buffer)
{
  GstCvisPbfMeta *meta = gst_cvis_buffer_get_pbf_meta (buffer);
  GstClockTime time = GST_BUFFER_PTS (buffer);

  if (meta == NULL) {
    watch->without_result++;
    return;
  }
  if (!GST_CLOCK_TIME_IS_VALID (watch->start))
    watch->start = time;
  if (GST_CLOCK_TIME_IS_VALID (time) && time >= watch->start + GST_SECOND) {
    report (watch, time);
    watch->start = time;
  }
  watch->all_frames++;
  watch->frames++;
  if (meta->result->flags & CVIS_PBF_RESULT_EMPTY) {
    watch->empty++;
    return;
  }
  watch->area += meta->result->features[CVIS_PBF_MP_AREA];
  watch->spatters += meta->result->features[CVIS_PBF_SPATTER_COUNT];
  watch->output += meta->result->outputs[0];
}

/* buffers come one by one or, at high rates, in lists */
static GstPadProbeReturn
on_data (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER_LIST) {
    GstBufferList *list = gst_pad_probe_info_get_buffer_list (info);
    for (guint i = 0; i < gst_buffer_list_length (list); i++)
      look_at (user_data, gst_buffer_list_get (list, i));
  } else {
    look_at (user_data, gst_pad_probe_info_get_buffer (info));
  }
  return GST_PAD_PROBE_OK;
}

/* Runs until the end of the stream. Returns: FALSE after an error. */
static gboolean
run (GstElement *pipeline)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;
  gboolean ok;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (
      bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  ok = GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS;
  if (!ok) {
    GError *error = NULL;
    gst_message_parse_error (message, &error, NULL);
    g_printerr ("%s: %s\n", GST_MESSAGE_SRC_NAME (message), error->message);
    g_error_free (error);
  }
  gst_message_unref (message);
  gst_object_unref (bus);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return ok;
}

static int
watch_pipeline (Watch *watch, const gchar *description)
{
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (description, &error);
  GstElement *sink;
  GstPad *pad;
  gboolean ok;

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
  gst_pad_add_probe (pad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST, on_data,
      watch, NULL);
  ok = run (pipeline);
  report (watch, watch->start);
  g_print ("%" G_GUINT64_FORMAT " frames, %" G_GUINT64_FORMAT
           " without a result, %u warnings\n",
      watch->all_frames, watch->without_result, watch->warnings);
  gst_object_unref (pad);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  return ok ? 0 : 1;
}

int
main (int argc, char **argv)
{
  Watch watch = { NAN, NAN, NAN, GST_CLOCK_TIME_NONE };
  gchar **rest = NULL;
  GError *error = NULL;
  const GOptionEntry entries[] = {
    { "min-area", 0, 0, G_OPTION_ARG_DOUBLE, &watch.min_area,
        "Warn when the mean area of the pool is below", "PIXELS" },
    { "max-area", 0, 0, G_OPTION_ARG_DOUBLE, &watch.max_area,
        "Warn when it is above", "PIXELS" },
    { "max-spatters", 0, 0, G_OPTION_ARG_DOUBLE, &watch.max_spatters,
        "Warn when the mean number of spatters is above", "N" },
    { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_STRING_ARRAY, &rest, NULL,
        "[PIPELINE with an element name=sink at its end]" },
    { NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL },
  };
  GOptionContext *options = g_option_context_new (NULL);
  int status = 2;

  g_option_context_add_main_entries (options, entries, NULL);
  g_option_context_add_group (options, gst_init_get_option_group ());
  if (!g_option_context_parse (options, &argc, &argv, &error)) {
    g_printerr ("%s\n", error->message);
    g_error_free (error);
  } else {
    gchar *description = rest ? g_strjoinv (" ", rest) : NULL;
    status =
        watch_pipeline (&watch, description ? description : DEFAULT_PIPELINE);
    g_free (description);
  }
  g_strfreev (rest);
  g_option_context_free (options);
  return status;
}
