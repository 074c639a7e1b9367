/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* cudadenoise in whole pipelines: frames in pinned memory, in memory:CUDAMemory, also of
 * another device, and behind a decoder give the bits of the CPU on one GPU and on several.
 * Needs a GPU. */
#include <gst/gst.h>
#include "cuda/core/device/device.h"
#include "sinksums.h"

#define SKIP 77
#define FRAMES 12

static gboolean
have (const gchar *name)
{
  GstElementFactory *factory = gst_element_factory_find (name);

  if (factory != NULL)
    gst_object_unref (factory);
  return factory != NULL;
}

/* Checksum of the output of @source ! cudadenoise @settings ! @sink. */
static gchar *
denoise (
    const gchar *source, const gchar *settings, const gchar *sink, gint backend)
{
  gchar *line = g_strdup_printf ("%s ! cudadenoise name=f "
                                 "%s %s ! fakesink name=output "
                                 "signal-handoffs=true",
      source, settings, sink);
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (line, &error), *element;
  GChecksum *sum;
  gint active = 0;

  if (error != NULL)
    g_error ("%s: %s", line, error->message);
  element = gst_bin_get_by_name (GST_BIN (pipeline), "f");
  sum = sinks_watch (pipeline, "output", NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  sinks_wait_for_eos (pipeline, line);
  g_object_get (element, "active-backend", &active, NULL);
  g_assert_cmpint (active, ==, backend);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (element);
  gst_object_unref (pipeline);
  g_free (line);
  return sinks_take_sum (sum);
}

static gboolean
can_upload (const gchar *format)
{
  GstElementFactory *factory = gst_element_factory_find ("cudaupload");
  GstCaps *caps = gst_caps_new_simple (
      "video/x-raw", "format", G_TYPE_STRING, format, NULL);
  gboolean can = FALSE;

  gst_caps_set_features_simple (
      caps, gst_caps_features_new ("memory:CUDAMemory", NULL));
  if (factory != NULL)
    can = gst_element_factory_can_src_any_caps (factory, caps);
  gst_clear_object (&factory);
  gst_caps_unref (caps);
  return can;
}

/* System memory on the CPU and on the device (with a width that leaves no
 * padding, which would be undefined), and, for formats that support it,
 * memory:CUDAMemory in and out, give equal bits. */
static void
compare_video (const gchar *format, const gchar *settings, gboolean on_device)
{
  gchar *source = g_strdup_printf (
      "videotestsrc num-buffers=%d pattern=snow ! video/x-raw,format=%s,"
      "width=320,height=182,framerate=25/1",
      FRAMES, format);
  gchar *cpu = g_strdup_printf ("backend=cpu %s", settings);
  gchar *cuda = g_strdup_printf ("backend=cuda %s", settings);
  gchar *expected = denoise (source, cpu, "", 1);
  gchar *got = denoise (source, cuda, "", 2);

  g_assert_cmpstr (expected, ==, got);
  g_free (got);
  if (on_device) {
    gchar *uploaded = g_strdup_printf (
        "%s ! cudaupload ! video/x-raw(memory:CUDAMemory)", source);

    got = denoise (uploaded, settings,
        "! video/x-raw(memory:CUDAMemory) ! cudadownload ! video/x-raw", 2);
    g_assert_cmpstr (expected, ==, got);
    g_free (got);
    g_free (uploaded);
  }
  g_print ("%s %s%s: equal\n", format, settings,
      on_device ? ", memory:CUDAMemory too" : "");
  g_free (expected);
  g_free (source);
  g_free (cpu);
  g_free (cuda);
}

static void
test_video (void)
{
  static const gchar *const formats[] = { "NV12", "I420", "Y42B", "Y444",
    "P010_10LE", "I420_10LE", "GRAY8", "GRAY16_LE" };
  static const gchar *const settings[] = { "", "mode=recursive luma-only=true",
    "mode=spatial", "preset=encoder radius=1", "mode=wavelets",
    "mode=wavelets chroma=true",
    "mode=wavelets chroma=true spins=1 wavelet=db4 frames-in-flight=4" };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    for (guint k = 0; k < G_N_ELEMENTS (settings); k++)
      compare_video (formats[i], settings[k],
          !g_str_has_prefix (formats[i], "GRAY") && can_upload (formats[i]));
}

/* Frames in system memory, and in the memory of device 0, are denoised on others too; also
 * if one, or each, is lost in the middle, for which the build needs test-hooks. */
static void
test_other_devices (void)
{
  static const struct {
    const gchar *devices, *settings, *faults;
  } cases[] = {
    { "cuda-device-ids=all", "", "" },
    { "cuda-device-ids=all", "radius=1 preset=encoder", "" },
    { "cuda-device-ids=all", "mode=temporal luma-only=true radius=3", "" },
    { "cuda-device-ids=all", "mode=spatial", "" },
    { "cuda-device-ids=all balance=equal", "radius=1", "1:4" },
    { "cuda-device-ids=0,1 balance=equal", "radius=1", "0:5,1:4" },
    { "cuda-device-ids=1", "", "" },
    { "cuda-device-id=1", "mode=recursive", "" },
    { "cuda-device-ids=all", "mode=wavelets", "" },
    { "cuda-device-ids=all", "mode=wavelets chroma=true spins=1", "" },
    { "cuda-device-id=1", "mode=wavelets chroma=true", "" },
    { "cuda-device-ids=all balance=equal", "mode=wavelets", "1:4" },
  };
  const gchar *video =
      "videotestsrc num-buffers=100 pattern=zone-plate kx2=20 ky2=20 kt=1 ! "
      "video/x-raw,format=NV12,width=320,height=182,framerate=25/1";
  gchar *uploaded;

  if (cvis_device_count (NULL) < 2 || !have ("cudaupload")) {
    g_print ("other devices: skipped, needs two and cudaupload\n");
    return;
  }
  uploaded = g_strdup_printf (
      "%s ! cudaupload cuda-device-id=0 ! video/x-raw(memory:CUDAMemory)",
      video);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gchar *settings =
        g_strdup_printf ("%s %s sigma=8", cases[i].devices, cases[i].settings);
    gchar *cpu = g_strdup_printf ("backend=cpu %s sigma=8", cases[i].settings);
    gchar *expected = denoise (video, cpu, "", 1), *got;

    g_setenv ("CUDAVISION_FAULTS", cases[i].faults, TRUE);
    got = denoise (video, settings, "", 2);
    g_assert_cmpstr (expected, ==, got);
    g_free (got);
    got = denoise (uploaded, settings,
        "! video/x-raw(memory:CUDAMemory) ! cudadownload ! video/x-raw", 2);
    g_assert_cmpstr (expected, ==, got);
    g_unsetenv ("CUDAVISION_FAULTS");
    g_print ("%s%s%s: equal\n", settings, *cases[i].faults ? ", lost " : "",
        cases[i].faults);
    g_free (got);
    g_free (expected);
    g_free (cpu);
    g_free (settings);
  }
  g_free (uploaded);
}

/* A decoder's frames stay on the device. */
static void
test_decoder (void)
{
  const gchar *decoded =
      "videotestsrc num-buffers=12 pattern=ball ! video/x-raw,format=NV12,"
      "width=320,height=242,framerate=25/1 ! x264enc ! h264parse ! nvh264dec";
  gchar *system, *device, *expected, *got;

  if (!have ("nvh264dec") || !have ("h264parse") || !have ("x264enc")) {
    g_print ("decoder: skipped, needs nvh264dec, h264parse and x264enc\n");
    return;
  }
  system = g_strconcat (decoded, " ! video/x-raw", NULL);
  device = g_strconcat (decoded, " ! video/x-raw(memory:CUDAMemory)", NULL);
  expected = denoise (system, "backend=cpu", "", 1);
  got = denoise (device, "",
      "! video/x-raw(memory:CUDAMemory) ! cudadownload ! video/x-raw", 2);
  g_assert_cmpstr (expected, ==, got);
  g_print ("decoder: equal\n");
  g_free (system);
  g_free (device);
  g_free (expected);
  g_free (got);
}

int
main (int argc, char **argv)
{
  GError *error = NULL;

  gst_init (&argc, &argv);
  if (cvis_device_count (&error) == 0) {
    g_print ("skipped: %s\n", error->message);
    g_error_free (error);
    return SKIP;
  }
  test_video ();
  test_other_devices ();
  test_decoder ();
  return 0;
}
