/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* `cudavision devices`: GPUs, processor and versions, for bug reports. */
#include "config.h"

#include <gst/gst.h>

#include "command.h"
#include "cuda/core/backend.h"
#include "json.h"

#ifdef HAVE_CUDA
static const gboolean built_with_cuda = TRUE;
#else
static const gboolean built_with_cuda = FALSE;
#endif

static const gchar *
cpu_level_name (void)
{
  switch (cvis_cpu_level ()) {
    case CVIS_CPU_V4:
      return "x86-64-v4 (AVX-512)";
    case CVIS_CPU_V3:
      return "x86-64-v3 (AVX2)";
    default:
      return "generic";
  }
}

/* Whether a context can be made on the device: the driver fits and is not in a mode
 * that forbids it. */
static gchar *
find_fault (gint device)
{
  GError *error = NULL;
  CvisContext *context = cvis_context_new (device, &error);
  gchar *fault = NULL;

  if (context == NULL) {
    fault = g_strdup (error->message);
    g_error_free (error);
  } else {
    cvis_context_unref (context);
  }
  return fault;
}

static void
print_device (gint device, JsonBuilder *json)
{
  CvisDeviceInfo info = { { 0 } };
  GError *error = NULL;
  gchar *fault = NULL;

  if (!cvis_device_info (device, &info, &error)) {
    fault = g_strdup (error->message);
    g_clear_error (&error);
  } else {
    fault = find_fault (device);
  }
  if (json != NULL) {
    json_builder_begin_object (json);
    json_add_int (json, "id", device);
    json_add_string (json, "name", info.name);
    json_add_double (
        json, "compute-capability", info.compute_capability / 10.0);
    json_add_int (json, "multiprocessors", info.multiprocessors);
    json_add_int (json, "memory-bytes", (gint64) info.memory);
    json_builder_set_member_name (json, "usable");
    json_builder_add_boolean_value (json, fault == NULL);
    json_add_string (json, "reason", fault);
    json_builder_end_object (json);
  } else {
    g_print ("GPU %-8d %s, compute capability %d.%d, %d multiprocessors, "
             "%.1f GiB: %s%s\n",
        device, info.name, info.compute_capability / 10,
        info.compute_capability % 10, info.multiprocessors,
        info.memory / (gdouble) (1 << 30),
        fault == NULL ? "usable" : "not usable: ", fault == NULL ? "" : fault);
  }
  g_free (fault);
}

static void
print_json (gint count, const gchar *why_none, const gchar *gstreamer)
{
  JsonBuilder *json = json_builder_new ();

  json_builder_begin_object (json);
  json_add_string (json, "version", PACKAGE_VERSION);
  json_builder_set_member_name (json, "gpus");
  json_builder_begin_array (json);
  for (gint i = 0; i < count; i++)
    print_device (i, json);
  json_builder_end_array (json);
  if (count == 0)
    json_add_string (json, "no-gpu-reason", why_none);
  json_add_int (json, "cpu-threads", g_get_num_processors ());
  json_add_string (json, "cpu-level", cpu_level_name ());
  json_builder_set_member_name (json, "built-with-cuda");
  json_builder_add_boolean_value (json, built_with_cuda);
  json_add_string (json, "gstreamer", gstreamer);
  json_builder_end_object (json);
  json_print (json);
}

static ExitStatus
run_devices (gint argc, gchar **argv)
{
  CommonOptions common;
  ExitStatus status;
  GError *error = NULL;
  const gchar *why_none = "the driver reports none";
  gchar *gstreamer;
  gint count;

  if (!options_parse (
          &command_devices, NULL, OPTIONS_PLAIN, argc, argv, &common, &status))
    return status;
  if (common.inputs[0] != NULL) {
    status = usage_error (
        "devices", "takes no argument, %s is one too many", common.inputs[0]);
    options_clear (&common);
    return status;
  }
  count = cvis_device_count (&error);
  if (error != NULL)
    why_none = error->message;
  gstreamer = gst_version_string ();
  if (common.json) {
    print_json (count, why_none, gstreamer);
  } else if (!common.quiet) {
    for (gint i = 0; i < count; i++)
      print_device (i, NULL);
    if (count == 0)
      g_print ("GPU          none: %s\n", why_none);
    g_print ("CPU          %u threads, %s\n", g_get_num_processors (),
        cpu_level_name ());
    g_print ("cudavision   %s, built %s CUDA\n", PACKAGE_VERSION,
        built_with_cuda ? "with" : "without");
    g_print ("GStreamer    %s\n", gstreamer);
    g_print ("GLib         %u.%u.%u\n", glib_major_version, glib_minor_version,
        glib_micro_version);
  }
  g_free (gstreamer);
  g_clear_error (&error);
  options_clear (&common);
  return EXIT_STATUS_OK;
}

const Command command_devices = {
  .name = "devices",
  .arguments = "- GPUs, processor and versions",
  .summary = "GPUs, processor and versions, for a bug report",
  .examples = "Examples:\n"
              "  cudavision devices\n"
              "  cudavision devices --json",
  .run = run_devices,
};
