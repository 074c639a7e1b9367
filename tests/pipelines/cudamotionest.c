/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Vectors and residuals of frames in memory:CUDAMemory, and of frames in
 * system memory with backend=cuda, equal the CPU's, to the bit; a decoder's
 * frames stay on the device. Needs a GPU and, for memory:CUDAMemory, the
 * elements of nvcodec. */
#include <gst/video/video.h>
#include <string.h>
#include "cuda/core/device/device.h"
#include "sinksums.h"

#define SKIP 77
#define FRAMES 24

typedef struct {
  gchar *vectors, *residual; /* checksums */
  guint64 staged;
} Result;

/* Adds only the samples, because padding is undefined. */
static void
add_picture_to_sum (
    GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer sum)
{
  GstCaps *caps = gst_pad_get_current_caps (pad);
  GstVideoInfo info;
  GstVideoFrame frame;

  g_assert_true (gst_video_info_from_caps (&info, caps));
  g_assert_true (gst_video_frame_map (&frame, &info, buffer, GST_MAP_READ));
  for (gint y = 0; y < info.height; y++)
    g_checksum_update (sum,
        (const guchar *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0)
            + (gsize) y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0),
        info.width * GST_VIDEO_INFO_COMP_PSTRIDE (&info, 0));
  gst_video_frame_unmap (&frame);
  gst_caps_unref (caps);
}

/* Runs @source ! cudamotionest @settings; "active-backend" must be @backend
 * (1: cpu, 2: cuda). */
static Result
run (const gchar *source, const gchar *settings, gint backend)
{
  gchar *line = g_strdup_printf (
      "%s ! cudamotionest name=m block-size=16 search-range=16 "
      "message-interval=0 %s ! queue ! fakesink m.src_vectors ! queue ! "
      "fakesink name=vectors signal-handoffs=true m.src_residual ! queue ! "
      "fakesink name=residual signal-handoffs=true",
      source, settings);
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (line, &error), *element;
  GChecksum *vectors, *residual;
  GstStructure *stats = NULL;
  Result result = { NULL };
  guint64 frames = 0;
  gint active = 0;

  if (error != NULL)
    g_error ("%s: %s", line, error->message);
  element = gst_bin_get_by_name (GST_BIN (pipeline), "m");
  vectors = sinks_watch (pipeline, "vectors", NULL);
  residual =
      sinks_watch (pipeline, "residual", G_CALLBACK (add_picture_to_sum));
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  sinks_wait_for_eos (pipeline, line);
  g_object_get (element, "stats", &stats, "active-backend", &active, NULL);
  gst_structure_get (stats, "frames", G_TYPE_UINT64, &frames, "staged-frames",
      G_TYPE_UINT64, &result.staged, NULL);
  g_assert_cmpuint (frames, ==, FRAMES);
  g_assert_cmpint (active, ==, backend);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  result.vectors = sinks_take_sum (vectors);
  result.residual = sinks_take_sum (residual);
  gst_structure_free (stats);
  gst_object_unref (element);
  gst_object_unref (pipeline);
  g_free (line);
  return result;
}

static void
assert_same (const gchar *what, Result on_cpu, Result on_device)
{
  if (strcmp (on_cpu.vectors, on_device.vectors) != 0)
    g_error ("%s: the device's vectors differ from the CPU's", what);
  if (strcmp (on_cpu.residual, on_device.residual) != 0)
    g_error ("%s: the device's residuals differ from the CPU's", what);
  g_print ("%s: %d frames equal\n", what, FRAMES);
  g_free (on_cpu.vectors);
  g_free (on_cpu.residual);
  g_free (on_device.vectors);
  g_free (on_device.residual);
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

/* Moving frames: a zone plate with expanding rings. */
static gchar *
make_source (const gchar *format, const gchar *memory)
{
  return g_strdup_printf (
      "videotestsrc num-buffers=%d pattern=zone-plate kx2=20 ky2=20 kt=1 "
      "horizontal-speed=3 ! "
      "video/x-raw,format=%s,width=323,height=241,framerate=25/1 %s",
      FRAMES, format, memory);
}

/* Frames in the pinned memory of the pool that the element proposes. */
static void
test_system_memory (void)
{
  static const gchar *const settings[] = { "",
    "bidirectional=true references=2", "border=inside subpel=none",
    "search-size=100", "method=step subpel=none", "method=zonal subpel=none",
    "method=full subpel=none",
    "method=full bidirectional=true references=2 subpel=none",
    "method=full lambda=4", "method=full border=inside subpel=none",
    "search-size=100 method=zonal subpel=none" };
  gchar *source = make_source ("NV12", "");

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++) {
    gchar *cpu = g_strdup_printf ("backend=cpu %s", settings[i]);
    gchar *cuda = g_strdup_printf ("backend=cuda %s", settings[i]);
    Result on_device = run (source, cuda, 2);

    g_assert_cmpuint (on_device.staged, ==, 0);
    assert_same (*settings[i] != '\0' ? settings[i] : "defaults",
        run (source, cpu, 1), on_device);
    g_free (cpu);
    g_free (cuda);
  }
  g_free (source);
}

/* Whether libgstcuda supports such memory for the format. */
static gboolean
can_upload (const gchar *format)
{
  GstElementFactory *factory = gst_element_factory_find ("cudaupload");
  GstCaps *caps = gst_caps_new_simple (
      "video/x-raw", "format", G_TYPE_STRING, format, NULL);
  gboolean can;

  gst_caps_set_features_simple (
      caps, gst_caps_features_new ("memory:CUDAMemory", NULL));
  can = gst_element_factory_can_src_any_caps (factory, caps);
  gst_caps_unref (caps);
  gst_object_unref (factory);
  return can;
}

static void
test_format (const gchar *format)
{
  gchar *system = make_source (format, "");
  gchar *device =
      make_source (format, "! cudaupload ! video/x-raw(memory:CUDAMemory)");
  gchar *what = g_strdup_printf ("memory:CUDAMemory %s", format);

  assert_same (
      what, run (system, "backend=cpu", 1), run (device, "backend=auto", 2));
  assert_same (what, run (system, "backend=cpu search-size=100", 1),
      run (device, "backend=auto search-size=100", 2));
  g_free (what);
  g_free (system);
  g_free (device);
}

/* Frames in the memory of device 0 are searched on others too. */
static void
test_other_devices (void)
{
  static const gchar *const devices[] = { "cuda-device-ids=all",
    "cuda-device-ids=all bidirectional=true references=2",
    "cuda-device-ids=all method=full search-size=100", "cuda-device-ids=1",
    "cuda-device-id=1", "cuda-device-id=1 search-size=100" };
  gchar *system, *device;

  if (cvis_device_count (NULL) < 2) {
    g_print ("other devices: skipped, needs two\n");
    return;
  }
  system = make_source ("NV12", "");
  device = make_source (
      "NV12", "! cudaupload cuda-device-id=0 ! video/x-raw(memory:CUDAMemory)");
  for (guint i = 0; i < G_N_ELEMENTS (devices); i++) {
    const gchar *space = strchr (devices[i], ' ');
    gchar *cpu = g_strconcat ("backend=cpu", space, NULL);

    assert_same (devices[i], run (system, cpu, 1), run (device, devices[i], 2));
    g_free (cpu);
  }
  g_free (system);
  g_free (device);
}

static void
test_decoder (void)
{
  const gchar *encoder = have ("x264enc")     ? "x264enc"
                         : have ("nvh264enc") ? "nvh264enc"
                                              : NULL;
  gchar *source, *decoded, *system, *device;

  if (!have ("nvh264dec") || !have ("h264parse") || encoder == NULL) {
    g_print ("decoder: skipped, needs nvh264dec, h264parse and x264enc or "
             "nvh264enc\n");
    return;
  }
  source = g_strdup_printf (
      "videotestsrc num-buffers=%d pattern=ball ! "
      "video/x-raw,format=NV12,width=322,height=242,framerate=25/1",
      FRAMES);
  decoded =
      g_strdup_printf ("%s ! %s ! h264parse ! nvh264dec", source, encoder);
  system = g_strconcat (decoded, " ! video/x-raw", NULL);
  device = g_strconcat (decoded, " ! video/x-raw(memory:CUDAMemory)", NULL);
  for (guint i = 0; i < 2; i++) {
    const gchar *settings = i == 0 ? "" : " bidirectional=true references=4";
    gchar *cpu = g_strconcat ("backend=cpu", settings, NULL);
    gchar *cuda = g_strconcat ("backend=cuda", settings, NULL);

    assert_same (i == 0 ? "decoder" : "decoder, eight references",
        run (system, cpu, 1), run (device, cuda, 2));
    g_free (cpu);
    g_free (cuda);
  }
  g_free (source);
  g_free (decoded);
  g_free (system);
  g_free (device);
}

int
main (int argc, char **argv)
{
  static const gchar *const formats[] = { "NV12", "I420", "Y42B", "Y444",
    "P010_10LE", "I420_10LE" };
  GError *error = NULL;

  gst_init (&argc, &argv);
  if (cvis_device_count (&error) == 0) {
    g_print ("skipped: %s\n", error->message);
    g_error_free (error);
    return SKIP;
  }
  test_system_memory ();
  if (!have ("cudaupload")) {
    g_print ("memory:CUDAMemory: skipped, needs cudaupload (nvcodec)\n");
    return 0;
  }
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    if (can_upload (formats[i]))
      test_format (formats[i]);
    else
      g_print ("memory:CUDAMemory %s: skipped, not supported by cudaupload\n",
          formats[i]);
  }
  test_other_devices ();
  test_decoder ();
  return 0;
}
