/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Crops in memory:CUDAMemory equal those in system memory, byte by byte,
 * while the position moves; a decoder's frames stay on the device through
 * the crop. Needs a GPU and the elements of nvcodec. */
#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <stdlib.h>
#include <string.h>
#include "cuda/core/device/device.h"
#include "sinksums.h"

#define SKIP 77
#define FRAMES 40

/* Drives @property from @first to @last within a second. */
static void
move (GstElement *element, const gchar *property, gdouble first, gdouble last)
{
  GstControlSource *source = gst_interpolation_control_source_new ();
  GstTimedValueControlSource *values = GST_TIMED_VALUE_CONTROL_SOURCE (source);

  g_object_set (source, "mode", GST_INTERPOLATION_MODE_LINEAR, NULL);
  gst_timed_value_control_source_set (values, 0, first);
  gst_timed_value_control_source_set (values, GST_SECOND, last);
  gst_object_add_control_binding (
      GST_OBJECT (element), gst_direct_control_binding_new_absolute (
                                GST_OBJECT (element), property, source));
  gst_object_unref (source);
}

/* Adds only the visible pixels, because padding is undefined. */
static void
add_to_sum (GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer sum)
{
  GstCaps *caps = gst_pad_get_current_caps (pad);
  GstVideoFrame frame;
  GstVideoInfo info;

  g_assert_true (gst_video_info_from_caps (&info, caps));
  g_assert_true (gst_video_frame_map (&frame, &info, buffer, GST_MAP_READ));
  for (guint p = 0; p < GST_VIDEO_FRAME_N_PLANES (&frame); p++) {
    gint component[GST_VIDEO_MAX_COMPONENTS];
    const guint8 *row = GST_VIDEO_FRAME_PLANE_DATA (&frame, p);

    gst_video_format_info_component (info.finfo, p, component);
    for (gint y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT (&frame, component[0]);
         y++) {
      g_checksum_update (sum, row,
          GST_VIDEO_FRAME_COMP_WIDTH (&frame, component[0])
              * GST_VIDEO_FRAME_COMP_PSTRIDE (&frame, component[0]));
      row += GST_VIDEO_FRAME_PLANE_STRIDE (&frame, p);
    }
  }
  gst_video_frame_unmap (&frame);
  gst_caps_unref (caps);
}

/* Runs @source ! cudaroicrop ! @end. Returns: checksum of the output;
 * "active-backend" must be @backend (1: cpu, 2: cuda) */
static gchar *
run (const gchar *source, const gchar *end, gint backend)
{
  gchar *line = g_strdup_printf (
      "%s ! cudaroicrop name=crop position-source=property width=97 height=75 "
      "! %s ! fakesink name=sink signal-handoffs=true",
      source, end);
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (line, &error), *crop;
  GstStructure *stats = NULL;
  guint64 frames = 0;
  GChecksum *sum;
  gint active = 0;

  if (error != NULL)
    g_error ("%s: %s", line, error->message);
  crop = gst_bin_get_by_name (GST_BIN (pipeline), "crop");
  move (crop, "x", 0.0, 360.0);
  move (crop, "y", 260.0, 30.0);
  sum = sinks_watch (pipeline, "sink", G_CALLBACK (add_to_sum));

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  sinks_wait_for_eos (pipeline, line);
  g_object_get (crop, "stats", &stats, "active-backend", &active, NULL);
  gst_structure_get_uint64 (stats, "frames", &frames);
  g_assert_cmpuint (frames, ==, FRAMES);
  g_assert_cmpint (active, ==, backend);
  gst_element_set_state (pipeline, GST_STATE_NULL);

  gst_structure_free (stats);
  gst_object_unref (crop);
  gst_object_unref (pipeline);
  g_free (line);
  return sinks_take_sum (sum);
}

static gboolean
have (const gchar *element)
{
  GstElementFactory *factory = gst_element_factory_find (element);

  if (factory == NULL)
    return FALSE;
  gst_object_unref (factory);
  return TRUE;
}

static void
assert_same (const gchar *what, gchar *on_cpu, gchar *on_device)
{
  if (strcmp (on_cpu, on_device) != 0)
    g_error ("%s: the device's crops differ from the CPU's", what);
  g_print ("%s: %d crops equal\n", what, FRAMES);
  g_free (on_cpu);
  g_free (on_device);
}

static void
test_format (const gchar *format)
{
  gchar *source = g_strdup_printf (
      "videotestsrc num-buffers=%d pattern=smpte ! "
      "video/x-raw,format=%s,width=322,height=242,framerate=%d/1",
      FRAMES, format, FRAMES);
  gchar *uploaded = g_strdup_printf (
      "%s ! cudaupload ! video/x-raw(memory:CUDAMemory)", source);

  assert_same (format, run (source, "identity", 1),
      run (uploaded, "cudadownload ! video/x-raw", 2));
  g_free (source);
  g_free (uploaded);
}

static void
test_decoder (void)
{
  const gchar *encoder = have ("x264enc")     ? "x264enc"
                         : have ("nvh264enc") ? "nvh264enc"
                                              : NULL;
  gchar *source, *system, *device;

  if (!have ("nvh264dec") || !have ("h264parse") || encoder == NULL) {
    g_print ("decoder: skipped, needs nvh264dec, h264parse and x264enc or "
             "nvh264enc\n");
    return;
  }
  source = g_strdup_printf (
      "videotestsrc num-buffers=%d ! "
      "video/x-raw,format=NV12,width=322,height=242,framerate=%d/1 ! %s ! "
      "h264parse ! nvh264dec",
      FRAMES, FRAMES, encoder);
  system = g_strconcat (source, " ! video/x-raw", NULL);
  device = g_strconcat (source, " ! video/x-raw(memory:CUDAMemory)", NULL);
  assert_same ("decoder", run (system, "identity", 1),
      run (device, "cudadownload ! video/x-raw", 2));
  g_free (source);
  g_free (system);
  g_free (device);
}

/* backend=cuda refuses frames in system memory, with a message. */
static void
test_system_memory_refused (void)
{
  GstElement *pipeline = gst_parse_launch (
      "videotestsrc ! video/x-raw,format=NV12 ! cudaroicrop backend=cuda ! "
      "fakesink",
      NULL);
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;
  GError *error = NULL;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message =
      gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND, GST_MESSAGE_ERROR);
  g_assert_nonnull (message);
  gst_message_parse_error (message, &error, NULL);
  if (strstr (error->message, "Cannot crop frames in system memory") == NULL)
    g_error ("another error than expected: %s", error->message);
  g_error_free (error);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}

int
main (int argc, char **argv)
{
  static const gchar *const formats[] = { "NV12", "I420", "P010_10LE", "RGBA",
    "BGRx" };
  GError *error = NULL;
  guint i;

  gst_init (&argc, &argv);
  if (cvis_device_count (&error) == 0) {
    g_print ("skipped: %s\n", error->message);
    g_error_free (error);
    return SKIP;
  }
  test_system_memory_refused ();
  if (!have ("cudaupload") || !have ("cudadownload")) {
    g_print ("skipped: no cudaupload and cudadownload (nvcodec)\n");
    return SKIP;
  }
  for (i = 0; i < G_N_ELEMENTS (formats); i++)
    test_format (formats[i]);
  test_decoder ();
  return 0;
}
