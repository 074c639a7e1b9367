/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* motion-watch: an example of an application that reads motion. It runs a
 * pipeline, reads the GstCvisMotionVectorMeta of each frame in a pad probe,
 * prints the motion of the camera and of the trusted vectors once a second of
 * the stream, and reports scene cuts, duplicates and, with a limit, frames with
 * fast motion. A vector is trusted if its confidence reaches a limit.
 *
 *   motion-watch --max-motion=20
 *   motion-watch "v4l2src ! videoconvert ! cudamotionest ! fakesink name=sink"
 *   motion-watch --min-confidence=0.9 "filesrc location=clip.mp4 ! decodebin ! videoconvert !
 *       cudamotionest ! fakesink name=sink"
 *
 * It only uses the installed headers and library:
 *   cc motion-watch.c -lm \
 *       $(pkg-config --cflags --libs gstreamer-cudavision-1.0) */
#include <gst/cudavision/cudavision.h>
#include <math.h>

#define DEFAULT_PIPELINE                                                       \
  "videotestsrc pattern=ball num-buffers=300 ! "                               \
  "video/x-raw,format=I420,width=320,height=240,framerate=30/1 ! "             \
  "cudamotionest ! fakesink name=sink"

typedef struct {
  gdouble max_motion;     /* pixels from frame to frame; INFINITY: no limit */
  gdouble min_confidence; /* 0..1, of a trusted vector */

  /* of the current second; the probe runs in one thread */
  GstClockTime start;
  guint64 frames, duplicates;
  guint64 blocks, trusted;
  gdouble length; /* sum over the trusted vectors, pixels */
  gdouble x, y, still, noise, score;

  /* of the stream */
  guint64 all_frames, without_motion;
  guint cuts, warnings;
} Watch;

static void
report (Watch *watch, GstClockTime until)
{
  gdouble n = (gdouble) watch->frames;

  if (watch->frames == 0)
    return;
  g_print ("%" GST_TIME_FORMAT "  %" G_GUINT64_FORMAT
           " frames, %" G_GUINT64_FORMAT " duplicates, camera %+.2f %+.2f px a "
           "frame, %.0f %% of vectors trusted, their mean length %.2f px, "
           "%.0f %% still, noise %.1f, scene %.2f\n",
      GST_TIME_ARGS (until), watch->frames, watch->duplicates, watch->x / n,
      watch->y / n,
      100 * (gdouble) watch->trusted / (gdouble) MAX (watch->blocks, 1),
      watch->length / (gdouble) MAX (watch->trusted, 1), 100 * watch->still / n,
      watch->noise / n, watch->score / n);
  watch->frames = watch->duplicates = watch->blocks = watch->trusted = 0;
  watch->length = 0;
  watch->x = watch->y = watch->still = watch->noise = watch->score = 0;
}

/* Vectors without a confidence, of other methods than field, are trusted if they explain
 * the block. */
static gboolean
is_trusted (const Watch *watch, const CvisMotionBlock *block)
{
  gint confidence = cvis_motion_block_get_confidence (block);

  return confidence >= 0 ? confidence >= 256 * watch->min_confidence
                         : !(block->flags & CVIS_MOTION_BLOCK_INTRA_LIKE);
}

/* Adds up the trusted vectors. Returns: the largest length, pixels */
static gdouble
add_vectors (Watch *watch, const GstCvisMotionVectorMeta *meta)
{
  gdouble most = 0, x, y;

  for (guint row = 0; row < meta->packet->rows; row++) {
    for (guint column = 0; column < meta->packet->columns; column++) {
      const CvisMotionBlock *block = gst_cvis_motion_vector_meta_get_block (
          meta, column, row, NULL, &x, &y);

      watch->blocks++;
      if (!is_trusted (watch, block))
        continue;
      watch->trusted++;
      watch->length += hypot (x, y);
      most = MAX (most, hypot (x, y));
    }
  }
  return most;
}

static void
tell_events (
    Watch *watch, const GstCvisMotionVectorMeta *meta, GstClockTime time)
{
  gdouble motion = add_vectors (watch, meta);

  if (meta->packet->flags & CVIS_MOTION_FRAME_SCENE_CUT) {
    g_print ("SCENE CUT at frame %" G_GUINT64_FORMAT ", %" GST_TIME_FORMAT
             ", score %.2f\n",
        meta->packet->frame, GST_TIME_ARGS (time),
        meta->field->summary.scene_score);
    watch->cuts++;
  } else if (motion > watch->max_motion) {
    g_print ("WARNING frame %" G_GUINT64_FORMAT ": %.1f px is above %.1f\n",
        meta->packet->frame, motion, watch->max_motion);
    watch->warnings++;
  }
}

static void
look_at (Watch *watch, GstBuffer *buffer)
{
  const GstCvisMotionVectorMeta *meta =
      gst_cvis_buffer_get_motion_vector_meta (buffer, -1);
  GstClockTime time = GST_BUFFER_PTS (buffer);
  const CvisMotionSummary *summary;

  watch->all_frames++;
  if (meta == NULL) { /* the first frame */
    watch->without_motion++;
    return;
  }
  if (!GST_CLOCK_TIME_IS_VALID (watch->start))
    watch->start = time;
  if (GST_CLOCK_TIME_IS_VALID (time) && time >= watch->start + GST_SECOND) {
    report (watch, time);
    watch->start = time;
  }
  tell_events (watch, meta, time);
  summary = &meta->field->summary;
  watch->frames++;
  watch->duplicates += (meta->packet->flags & CVIS_MOTION_FRAME_DUPLICATE) != 0;
  /* a vector points to the origin of the content */
  watch->x -= summary->global_x;
  watch->y -= summary->global_y;
  watch->still += (gdouble) summary->static_blocks
                  / ((gdouble) meta->packet->columns * meta->packet->rows);
  watch->noise += MAX (cvis_motion_packet_get_noise (meta->packet), 0);
  watch->score += summary->scene_score;
}

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

/* Runs until the end of the stream. Returns: FALSE after an error */
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
           " without motion, %u scene cuts, %u warnings\n",
      watch->all_frames, watch->without_motion, watch->cuts, watch->warnings);
  gst_object_unref (pad);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  return ok ? 0 : 1;
}

int
main (int argc, char **argv)
{
  Watch watch = {
    .max_motion = INFINITY, .min_confidence = 0.5, .start = GST_CLOCK_TIME_NONE
  };
  gchar **rest = NULL;
  GError *error = NULL;
  const GOptionEntry entries[] = {
    { "max-motion", 0, 0, G_OPTION_ARG_DOUBLE, &watch.max_motion,
        "Warn of frames in which a trusted block moves farther", "PIXELS" },
    { "min-confidence", 0, 0, G_OPTION_ARG_DOUBLE, &watch.min_confidence,
        "Probability from which a vector is trusted, 0 to 1; default: 0.5",
        "SHARE" },
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
