/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* `cudavision devices`: GPUs, processor and versions, for bug reports. */
#include "config.h"

#include <gst/gst.h>
#include <string.h>
#include <sys/utsname.h>

#include "command.h"
#include "cuda/core/backend.h"
#include "json.h"

/* One of each of the files that packages install */
static const gchar *const plugins[] = { "cudavisionmeltpool",
  "cudavisionmotion", "cudavisionsurface", "cudavisionbundle",
  "cudavisionhdf5" };

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

/* Whether a context can be made on the device (the driver fits, and is not in a mode
 * that forbids it), and has kernels. */
static gchar *
find_fault (gint device)
{
  GError *error = NULL;
  CvisContext *context = cvis_context_new (device, &error);
  gchar *fault = NULL;

  if (context != NULL) {
    cvis_context_check_code (context, &error);
    cvis_context_unref (context);
  }
  if (error != NULL) {
    fault = g_strdup (error->message);
    g_error_free (error);
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
    g_print ("GPU %-15d%s, compute capability %d.%d, %d multiprocessors, "
             "%.1f GiB: %s%s\n",
        device, info.name, info.compute_capability / 10,
        info.compute_capability % 10, info.multiprocessors,
        info.memory / (gdouble) (1 << 30),
        fault == NULL ? "usable" : "not usable: ", fault == NULL ? "" : fault);
  }
  g_free (fault);
}

/* The value of a line "KEY   SEPARATOR VALUE" of a system file; "unknown" if there is
 * none. Free with g_free(). */
static gchar *
find_line (const gchar *file, const gchar *key, gchar separator)
{
  gchar *text = NULL, *found = NULL;
  gchar **lines;

  g_file_get_contents (file, &text, NULL, NULL);
  lines = g_strsplit (text != NULL ? text : "", "\n", -1);
  for (gchar **line = lines; *line != NULL && found == NULL; line++) {
    const gchar *value = strchr (*line, separator);

    if (g_str_has_prefix (*line, key) && value != NULL)
      found = g_strdup (value + 1);
  }
  g_strfreev (lines);
  g_free (text);
  return found != NULL ? g_strstrip (g_strdelimit (found, "\"", ' '))
                       : g_strdup ("unknown");
}

/* "13.0", or "none" for 0 */
static gchar *
format_version (gint version)
{
  return version > 0
             ? g_strdup_printf ("%d.%d", version / 1000, version % 1000 / 10)
             : g_strdup ("none");
}

static gchar *
describe_cuda (void)
{
  gint driver, runtime;
  gchar *of_driver, *of_runtime, *text;

  if (CUDA_ARCHS[0] == '\0')
    return g_strdup ("not in this build");
  cvis_cuda_versions (&driver, &runtime);
  of_driver = format_version (driver);
  of_runtime = format_version (runtime);
  text = g_strdup_printf (
      "runtime %s, driver %s, code for %s", of_runtime, of_driver, CUDA_ARCHS);
  g_free (of_driver);
  g_free (of_runtime);
  return text;
}

static gchar *
describe_cpu (void)
{
  gchar *model = find_line ("/proc/cpuinfo", "model name", ':');
  gchar *text = g_strdup_printf (
      "%s, %u threads, %s", model, g_get_num_processors (), cpu_level_name ());

  g_free (model);
  return text;
}

static gchar *
describe_system (void)
{
  gchar *name = find_line ("/etc/os-release", "PRETTY_NAME", '=');
  struct utsname kernel;
  gchar *text;

  uname (&kernel);
  text = g_strdup_printf (
      "%s, %s %s, %s", name, kernel.sysname, kernel.release, kernel.machine);
  g_free (name);
  return text;
}

static gchar *
describe_plugin (const gchar *name)
{
  GstPlugin *plugin = gst_registry_find_plugin (gst_registry_get (), name);
  gchar *text;

  if (plugin == NULL)
    return g_strdup ("not found");
  text = g_strdup_printf ("%s, %s", gst_plugin_get_version (plugin),
      gst_plugin_get_filename (plugin));
  gst_object_unref (plugin);
  return text;
}

/* One line "TITLE TEXT", or the member @key of @json; frees @text. */
static void
add_fact (JsonBuilder *json, const gchar *key, const gchar *title, gchar *text)
{
  if (json != NULL)
    json_add_string (json, key, text);
  else
    g_print ("%-19s%s\n", title, text);
  g_free (text);
}

static void
describe_machine (JsonBuilder *json)
{
  GError *error = NULL;
  const gint count = cvis_device_count (&error);

  if (json != NULL) {
    json_builder_set_member_name (json, "gpus");
    json_builder_begin_array (json);
  }
  for (gint i = 0; i < count; i++)
    print_device (i, json);
  if (json != NULL)
    json_builder_end_array (json);
  if (count == 0)
    add_fact (json, "no-gpu-reason", "GPU",
        g_strdup_printf ("%s%s", json != NULL ? "" : "none: ",
            error != NULL ? error->message : "the driver reports none"));
  g_clear_error (&error);
  if (json != NULL) {
    json_add_int (json, "cpu-threads", g_get_num_processors ());
    json_add_string (json, "cpu-level", cpu_level_name ());
  }
  add_fact (json, "cuda", "CUDA", describe_cuda ());
  add_fact (json, "cpu", "CPU", describe_cpu ());
  add_fact (json, "system", "System", describe_system ());
  add_fact (json, "version", "cudavision", g_strdup (PACKAGE_VERSION));
  for (guint i = 0; i < G_N_ELEMENTS (plugins); i++)
    add_fact (json, plugins[i], plugins[i], describe_plugin (plugins[i]));
  add_fact (json, "gstreamer", "GStreamer", gst_version_string ());
  add_fact (json, "glib", "GLib",
      g_strdup_printf ("%u.%u.%u", glib_major_version, glib_minor_version,
          glib_micro_version));
  add_fact (json, "libraries", "Libraries", g_strdup (LIBRARIES));
}

static ExitStatus
run_devices (gint argc, gchar **argv)
{
  CommonOptions common;
  ExitStatus status;

  if (!options_parse (
          &command_devices, NULL, OPTIONS_PLAIN, argc, argv, &common, &status))
    return status;
  if (common.inputs[0] != NULL) {
    status = usage_error ("devices",
        "takes no argument: unexpected argument %s", common.inputs[0]);
  } else if (common.json) {
    JsonBuilder *json = json_builder_new ();

    json_builder_begin_object (json);
    describe_machine (json);
    json_builder_end_object (json);
    json_print (json);
  } else if (!common.quiet) {
    describe_machine (NULL);
  }
  options_clear (&common);
  return status;
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
