/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The resident kernel of cudapbfmonitor stalls: another kernel occupies the device for
 * 1.5 s. The element warns, computes the rest in batches, and its records are those of the
 * CPU, all of them. Needs a GPU. */
#include <dlfcn.h>
#include <string.h>
#include "cuda/core/device/device.h"
#include "sinksums.h"

#define SKIP 77
#define FRAMES 200000
#define BUSY_NS G_GUINT64_CONSTANT (1500000000)

gboolean busy_device_start (guint64 ns); /* busydevice.cu */

/* The CUDA context that @element computes in. */
static CvisContext *
context_of (GstElement *element)
{
  GList *contexts = gst_element_get_contexts (element);
  CvisContext *context = NULL;

  for (GList *l = contexts; l != NULL && context == NULL; l = l->next) {
    const GstStructure *s = gst_context_get_structure (l->data);
    const GValue *value = gst_structure_get_value (s, "gst.cuda.context");
    void *library = dlopen ("libgstcuda-1.0.so.0", RTLD_LAZY | RTLD_NOLOAD);
    gpointer (*get_handle) (gpointer) =
        library ? dlsym (library, "gst_cuda_context_get_handle") : NULL;
    gint device = 0;

    if (value == NULL || get_handle == NULL)
      continue;
    gst_structure_get_int (s, "cuda-device-id", &device);
    context = cvis_context_new_wrapped (
        get_handle (g_value_get_object (value)), device, NULL, NULL, NULL);
  }
  g_list_free_full (contexts, (GDestroyNotify) gst_context_unref);
  return context ? context : cvis_context_new (0, NULL);
}

/* With the first records: the kernel runs. */
static void
occupy_device (GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer data)
{
  GstElement *monitor = data;
  CvisContext *context;

  g_signal_handlers_disconnect_by_data (sink, monitor);
  context = context_of (monitor);
  g_assert_true (cvis_context_push (context, NULL));
  g_assert_true (busy_device_start (BUSY_NS));
  cvis_context_pop (context);
  cvis_context_unref (context);
}

static GstBusSyncReply
count_warnings (GstBus *bus, GstMessage *message, gpointer warnings)
{
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING) {
    GError *error;

    gst_message_parse_warning (message, &error, NULL);
    if (strstr (error->message, "stalled") != NULL)
      g_atomic_int_inc ((gint *) warnings);
    g_error_free (error);
  }
  return GST_BUS_PASS;
}

/* Returns: the sum of all records. */
static gchar *
run (const gchar *settings, gboolean stall)
{
  gchar *line =
      g_strdup_printf ("pbftestsrc num-buffers=%d regime=mixed seed=3 ! "
                       "cudapbfmonitor name=m %s ! fakesink m.src_result ! "
                       "fakesink name=records signal-handoffs=true async=false",
          FRAMES, settings);
  GstElement *pipeline = gst_parse_launch (line, NULL);
  GstElement *monitor = gst_bin_get_by_name (GST_BIN (pipeline), "m");
  GstBus *bus = gst_element_get_bus (pipeline);
  GChecksum *sum = sinks_watch (pipeline, "records", NULL);
  GstStructure *stats;
  gint warnings = 0;

  if (stall) {
    GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "records");

    g_signal_connect (sink, "handoff", G_CALLBACK (occupy_device), monitor);
    gst_object_unref (sink);
  }
  gst_bus_set_sync_handler (bus, count_warnings, &warnings, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  sinks_wait_for_eos (pipeline, line);
  g_assert_cmpint (g_atomic_int_get (&warnings), ==, stall ? 1 : 0);
  g_object_get (monitor, "stats", &stats, NULL);
  g_assert_cmpstr (
      gst_structure_get_string (stats, "mode"), ==, stall ? "batch" : "cpu");
  gst_structure_free (stats);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (monitor);
  gst_object_unref (pipeline);
  g_free (line);
  return sinks_take_sum (sum);
}

int
main (int argc, char **argv)
{
  GError *error = NULL;
  gchar *cpu, *cuda;

  gst_init (&argc, &argv);
  if (cvis_device_count (&error) == 0) {
    g_print ("skipped: %s\n", error->message);
    g_error_free (error);
    return SKIP;
  }
  cpu = run ("backend=cpu", FALSE);
  for (guint blocks = 1; blocks <= 8; blocks *= 8) {
    gchar *settings = g_strdup_printf (
        "backend=cuda mode=persistent parallel-frames=%u batch-size=16",
        blocks);

    cuda = run (settings, TRUE);
    g_assert_cmpstr (cuda, ==, cpu);
    g_free (cuda);
    g_free (settings);
  }
  g_free (cpu);
  return 0;
}
