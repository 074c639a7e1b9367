/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* cudalwtfilter with kernels compiled at run time: its messages name the
 * kernels in use, and every frame before and after the change to the
 * compiled ones has the bits of the CPU backend. Needs a GPU. */
#include <gst/gst.h>
#include <glib/gstdio.h>
#include <string.h>
#include "cuda/core/device/device.h"
#include "cuda/core/jit/nvrtc.h"

#define SKIP 77
/* frames after the last message */
#define MORE 24

typedef struct {
  GMutex lock;
  GCond changed;
  GBytes *expected; /* (nullable): the first frame of all pipelines */
  guint frames;
} Output;

static void
compare_frame (GstElement *sink, GstBuffer *buffer, GstPad *pad, Output *output)
{
  GstMapInfo map;

  g_assert_true (gst_buffer_map (buffer, &map, GST_MAP_READ));
  g_mutex_lock (&output->lock);
  if (output->expected == NULL)
    output->expected = g_bytes_new (map.data, map.size);
  g_assert_cmpmem (map.data, map.size,
      g_bytes_get_data (output->expected, NULL),
      g_bytes_get_size (output->expected));
  output->frames++;
  g_cond_broadcast (&output->changed);
  g_mutex_unlock (&output->lock);
  gst_buffer_unmap (buffer, &map);
}

/* Returns: the number of frames so far */
static guint
wait_for_frames (Output *output, guint n, const gchar *line)
{
  const gint64 end = g_get_monotonic_time () + 60 * G_TIME_SPAN_SECOND;
  guint frames;

  g_mutex_lock (&output->lock);
  while (output->frames < n)
    if (!g_cond_wait_until (&output->changed, &output->lock, end))
      g_error ("%s: %u frames within a minute", line, output->frames);
  frames = output->frames;
  g_mutex_unlock (&output->lock);
  return frames;
}

/* Text of the next message of kernels. */
static gchar *
wait_for_message (GstBus *bus, const gchar *line)
{
  while (TRUE) {
    GstMessage *message = gst_bus_timed_pop_filtered (
        bus, 60 * GST_SECOND, GST_MESSAGE_ELEMENT | GST_MESSAGE_ERROR);
    const GstStructure *structure;
    gchar *text = NULL;

    if (message == NULL)
      g_error ("%s: no message about kernels within a minute", line);
    if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
      g_error ("%s: error", line);
    structure = gst_message_get_structure (message);
    if (gst_structure_has_name (structure, "cudalwtfilter-kernels"))
      text = g_strdup (gst_structure_get_string (structure, "kernels"));
    gst_message_unref (message);
    if (text != NULL)
      return text;
  }
}

/* Runs the filter on equal frames until MORE of them have left after the
 * message with @last (%NULL: no message). @first: (nullable): begin of the
 * first message */
static void
run_until (const gchar *caps, const gchar *settings, const gchar *first,
    const gchar *last, Output *output)
{
  gchar *line = g_strdup_printf (
      "videotestsrc pattern=zone-plate kx2=20 ky2=20 ! video/x-raw,format=%s,"
      "width=256,height=192,framerate=25/1 ! "
      "cudalwtfilter filter=wavelet-decimated %s ! fakesink "
      "name=output signal-handoffs=true",
      caps, settings);
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (line, &error), *sink;
  GstBus *bus;
  gchar *text = NULL;
  guint frames;

  if (error != NULL)
    g_error ("%s: %s", line, error->message);
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "output");
  g_signal_connect (sink, "handoff", G_CALLBACK (compare_frame), output);
  bus = gst_element_get_bus (pipeline);
  output->frames = 0;
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  if (first != NULL) {
    text = wait_for_message (bus, line);
    g_assert_true (g_str_has_prefix (text, first));
  }
  while (last != NULL && (text == NULL || strstr (text, last) == NULL)) {
    g_free (text);
    text = wait_for_message (bus, line);
  }
  frames = wait_for_frames (output, 1, line);
  wait_for_frames (output, frames + MORE, line);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  g_print ("%s %s: %s after %u frames\n", caps, settings,
      text != NULL ? text : "no message", frames);
  g_free (text);
  gst_object_unref (bus);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  g_free (line);
}

static gchar *
get_cache (void)
{
  return g_build_filename (g_get_user_cache_dir (), "gst-cudavision", NULL);
}

/* Cuts each file of the cache in half, or deletes it. Returns: their number */
static guint
damage_cache (gboolean delete)
{
  gchar *folder = get_cache ();
  GDir *dir = g_dir_open (folder, 0, NULL);
  const gchar *name;
  guint n = 0;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL) {
    gchar *path = g_build_filename (folder, name, NULL), *text;
    gsize size;

    if (delete)
      g_assert_cmpint (g_remove (path), ==, 0);
    else {
      g_assert_true (g_file_get_contents (path, &text, &size, NULL));
      g_assert_true (
          g_file_set_contents (path, text, (gssize) (size / 2), NULL));
      g_free (text);
    }
    n++;
    g_free (path);
  }
  g_clear_pointer (&dir, g_dir_close);
  g_free (folder);
  return n;
}

/* @settings have kernels compiled at run time. */
static void
test_compiled (const gchar *caps, const gchar *settings)
{
  gchar *cpu = g_strconcat ("backend=cpu ", settings, NULL);
  gchar *cuda = g_strconcat ("backend=cuda ", settings, NULL);
  Output output = { .expected = NULL };

  run_until (caps, cpu, NULL, NULL, &output);
  run_until (caps, cuda, "NVRTC", ", compiled in ", &output);
  run_until (caps, cuda, "NVRTC", ", cached", &output);
  g_assert_cmpuint (damage_cache (FALSE), ==, 1);
  run_until (caps, cuda, "NVRTC", ", compiled in ", &output);
  g_setenv ("CUDAVISION_JIT", "off", TRUE);
  run_until (caps, cuda, "precompiled kernels", NULL, &output);
  g_unsetenv ("CUDAVISION_JIT");
  g_assert_cmpuint (damage_cache (TRUE), ==, 1);
  g_bytes_unref (output.expected);
  g_free (cpu);
  g_free (cuda);
}

static void
test_precompiled (void)
{
  Output output = { .expected = NULL };

  run_until ("GRAY8", "backend=cpu wavelet=9/7", NULL, NULL, &output);
  run_until ("GRAY8", "backend=cuda wavelet=9/7", "precompiled kernels", NULL,
      &output);
  g_bytes_unref (output.expected);
}

int
main (int argc, char **argv)
{
  gchar *home = g_dir_make_tmp ("lwtkernels-XXXXXX", NULL), *folder;
  GError *error = NULL;

  g_assert_nonnull (home);
  g_setenv ("XDG_CACHE_HOME", home, TRUE);
  gst_init (&argc, &argv);
  folder = get_cache ();
  if (cvis_device_count (&error) == 0 || cvis_nvrtc_name (&error) == NULL) {
    g_print ("skipped: %s\n", error->message);
    g_error_free (error);
  } else {
    test_precompiled ();
    test_compiled ("GRAY8", "wavelet=sym6");
    test_compiled ("GRAY8", "operation=denoise dx=1e-6 wavelet=sym5");
    g_rmdir (folder);
    error = NULL;
  }
  g_rmdir (home);
  g_free (folder);
  g_free (home);
  return error == NULL ? 0 : SKIP;
}
