/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* `cudavision monitor`: features of melt-pool frames from recordings, HDF5 files, a
 * camera, pictures or video. */
#include "config.h"

#include <gio/gio.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cuda/meltpool/baseline.h"
#include "tools/command.h"
#include "tools/inputs.h"
#include "tools/json.h"
#include "tools/output.h"
#include "tools/pipeline.h"
#include "tools/plot.h"
#include "tools/report.h"
#include "tools/video.h"
#include "layersummary.h"

static struct {
  gchar *csv, *jsonl, *video, *saved_model, *model, *machine, *position;
  gint threshold, learn_baseline;
  gchar *framerate;
} options;

static const GOptionEntry entries[] = {
  { "csv", 'o', 0, G_OPTION_ARG_FILENAME, &options.csv,
      "Write the features as a table, a row for each frame", "FILE.csv" },
  { "jsonl", 0, 0, G_OPTION_ARG_FILENAME, &options.jsonl,
      "Write features, spatters and outputs as JSON lines", "FILE.jsonl" },
  { "video", 0, 0, G_OPTION_ARG_FILENAME, &options.video,
      "Write frames and results as video: .webm, .mp4 or .avi", "FILE" },
  { "model", 'm', 0, G_OPTION_ARG_FILENAME, &options.model,
      "Network whose outputs are computed", "FILE.safetensors" },
  { "learn-baseline", 0, 0, G_OPTION_ARG_INT, &options.learn_baseline,
      "Learn the machine's baseline from the first N nominal frames, 2000 or "
      "more",
      "N" },
  { "machine", 0, 0, G_OPTION_ARG_STRING, &options.machine,
      "Identity of the machine, stored with a baseline and checked later",
      "NAME" },
  { "save-model", 0, 0, G_OPTION_ARG_FILENAME, &options.saved_model,
      "Write the network with the learned baseline", "FILE.safetensors" },
  { "threshold", 0, 0, G_OPTION_ARG_INT, &options.threshold,
      "Lowest grey value of the foreground, 1 to 255; default: 100", "LEVEL" },
  { "position", 0, 0, G_OPTION_ARG_STRING, &options.position,
      "Source of the pool's position: signals (default), brightest, "
      "brightest-pixel, centroid or fixed",
      "NAME" },
  { "framerate", 0, 0, G_OPTION_ARG_STRING, &options.framerate,
      "Frames per second of pictures; default: 20000/1", "N/D" },
  { NULL },
};

/**
 * Monitoring:
 * @live: the input is a camera; Ctrl-C ends the stream properly
 * @outputs: in the order csv, jsonl, video, saved model; %NULL: not written
 * @names: of the network's outputs; %NULL: no network
 */
typedef struct {
  const CommonOptions *common;
  const gchar *name;
  gboolean live;
  Output *outputs[4];
  GPtrArray *names;
  LayerSummary *summary;
  GstStructure *stats;
  gchar *backend;
  GstSample *picture;
  gint64 start;
  gdouble seconds;
} Monitoring;

static gchar **const output_names[] = { &options.csv, &options.jsonl,
  &options.video, &options.saved_model };

/* --- pipeline -------------------------------------------------------------- */

static void
append_udp (GString *launch, const gchar *address)
{
  const gchar *colon = strrchr (address, ':');
  gchar *host = g_strndup (
      address, colon != NULL ? (gsize) (colon - address) : strlen (address));

  g_string_append (launch, "pbfudpsrc ");
  if (host[0] != '\0')
    launch_set (launch, "address", host);
  if (colon != NULL)
    launch_set (launch, "port", colon + 1);
  g_free (host);
}

static gboolean
is_pattern (const gchar *name)
{
  return strchr (name, '%') != NULL;
}

/* "frames/00007.png" of "frames/%05d.png"; NULL if the pattern has anything but one %d
 * after its "%". multifilesrc would print from it without a check. */
static gchar *
make_picture_name (const gchar *pattern, guint number)
{
  const gchar *percent = strchr (pattern, '%');
  const gsize digits = strspn (percent + 1, "0123456789");
  const gint width = (gint) g_ascii_strtoull (percent + 1, NULL, 10);

  if (digits > 2 || percent[digits + 1] != 'd'
      || strchr (percent + 1, '%') != NULL)
    return NULL;
  return g_strdup_printf (percent[1] == '0' ? "%.*s%0*u%s" : "%.*s%*u%s",
      (gint) (percent - pattern), pattern, width, number, percent + digits + 2);
}

static void
append_pictures (GString *launch, const gchar *pattern)
{
  gchar *caps = g_strdup_printf ("image/png,framerate=%s",
      options.framerate != NULL ? options.framerate : "20000/1");

  g_string_append (launch, "multifilesrc ");
  launch_set (launch, "location", pattern);
  launch_set (launch, "caps", caps);
  g_string_append (
      launch, "! pngdec ! videoconvert ! video/x-raw,format=GRAY8 ");
  g_free (caps);
}

static void
append_source (GString *launch, const gchar *name)
{
  const InputKind kind = input_kind (name);

  if (g_str_has_prefix (name, "udp://")) {
    append_udp (launch, name + strlen ("udp://"));
  } else if (is_pattern (name)) {
    append_pictures (launch, name);
  } else if (kind == INPUT_RECORDING) {
    g_string_append (launch, "pbffilesrc ");
    launch_set (launch, "location", name);
  } else if (kind == INPUT_HDF5) {
    g_string_append (launch, "pbfhdf5src ");
    launch_set (launch, "location", name);
  } else {
    video_append_source (launch, name, NULL);
    g_string_append (launch, "! videoconvert ! video/x-raw,format=GRAY8 ");
  }
}

static const gchar *
choose_name (const Monitoring *self, guint i, gboolean temporary)
{
  return temporary ? output_get_temporary_name (self->outputs[i])
                   : *output_names[i];
}

static void
append_monitor (GString *launch, const Monitoring *self, gboolean temporary)
{
  g_string_append (launch, "! queue ! cudapbfmonitor name=monitor ");
  if (options.model != NULL)
    launch_set (launch, "model-location", options.model);
  if (options.machine != NULL)
    launch_set (launch, "machine", options.machine);
  if (options.learn_baseline > 0) {
    launch_set_int (launch, "learn-baseline", options.learn_baseline);
    launch_set (launch, "baseline-location", choose_name (self, 3, temporary));
  }
  if (options.threshold != 100)
    launch_set_int (launch, "threshold", options.threshold);
  if (options.position != NULL)
    launch_set (launch, "position-source", options.position);
  video_append_backend (launch, self->common);
}

static void
append_text (GString *launch, const Monitoring *self, guint i,
    const gchar *format, gboolean temporary)
{
  g_string_append_printf (
      launch, "records. ! queue ! pbfresultenc format=%s ! filesink ", format);
  launch_set (launch, "location", choose_name (self, i, temporary));
}

static gchar *
make_monitor_launch (const Monitoring *self, gboolean temporary)
{
  const gboolean picture = temporary && self->common->report != NULL;
  GString *launch = g_string_new (NULL);

  append_source (launch, self->name);
  append_monitor (launch, self, temporary);
  if (options.video != NULL || picture)
    g_string_append (launch, "! tee name=frames ! queue ! fakesink ");
  else
    g_string_append (launch, "! fakesink ");
  if (temporary || options.csv != NULL || options.jsonl != NULL)
    g_string_append (launch, "monitor.src_result ! tee name=records ");
  if (temporary)
    g_string_append (launch,
        "records. ! queue ! fakesink name=summary signal-handoffs=true ");
  if (options.csv != NULL)
    append_text (launch, self, 0, "csv", temporary);
  if (options.jsonl != NULL)
    append_text (launch, self, 1, "jsonl", temporary);
  if (options.video != NULL) {
    g_string_append_printf (launch,
        "frames. ! queue ! pbfoverlay ! videoconvert ! %s ! filesink ",
        video_encoder (options.video));
    launch_set (launch, "location", choose_name (self, 2, temporary));
  }
  if (picture)
    g_string_append (launch,
        "frames. ! queue ! pbfoverlay fps=4/1 ! videoconvert "
        "! pngenc ! fakesink name=picture");
  return g_string_free (launch, FALSE);
}

/* --- running --------------------------------------------------------------- */

/* Reads the names of the outputs from the caps of the records. */
static void
find_names (Monitoring *self, GstPad *pad)
{
  GstCaps *caps = gst_pad_get_current_caps (pad);
  const GValue *names = gst_structure_get_value (
      gst_caps_get_structure (caps, 0), "output-names");

  self->names = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; names != NULL && i < gst_value_array_get_size (names); i++)
    g_ptr_array_add (
        self->names, g_value_dup_string (gst_value_array_get_value (names, i)));
  gst_caps_unref (caps);
}

static void
add_records (GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer data)
{
  Monitoring *self = data;
  GstMapInfo map;
  CvisPbfResult result;

  if (self->names == NULL)
    find_names (self, pad);
  if (!gst_buffer_map (buffer, &map, GST_MAP_READ))
    return;
  for (gsize at = 0; at + sizeof result <= map.size; at += sizeof result) {
    memcpy (&result, map.data + at, sizeof result);
    layer_summary_add (self->summary, &result);
  }
  gst_buffer_unmap (buffer, &map);
}

static void
connect_summary (GstElement *pipeline, gpointer data)
{
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "summary");

  g_signal_connect (sink, "handoff", G_CALLBACK (add_records), data);
  gst_object_unref (sink);
}

/* The status line of a camera, about once a second */
static void
show_status (const GstStructure *s, gpointer data)
{
  const Monitoring *self = data;

  if (!self->live || self->common->quiet || self->common->json
      || !gst_structure_has_name (s, "cudapbfmonitor-stats"))
    return;
  g_printerr ("%s%.0f frames/s, %" G_GUINT64_FORMAT
              " frames lost, latency 50 %%: %.0f us, 99 %%: %.0f us%s",
      isatty (STDERR_FILENO) ? "\r\033[K" : "",
      structure_get_double (s, "frames-per-second"),
      structure_get_count (s, "lost"),
      structure_get_count (s, "latency-p50") / 1e3,
      structure_get_count (s, "latency-p99") / 1e3,
      isatty (STDERR_FILENO) ? "" : "\n");
}

static void
take_monitor_results (GstElement *pipeline, gpointer data)
{
  Monitoring *self = data;
  GstElement *monitor = gst_bin_get_by_name (GST_BIN (pipeline), "monitor");

  g_object_get (monitor, "stats", &self->stats, NULL);
  gst_object_unref (monitor);
  self->backend = element_get_nick (pipeline, "monitor", "active-backend");
  self->picture = element_get_sample (pipeline, "picture");
  self->seconds = (g_get_monotonic_time () - self->start) * 1e-6;
}

static gboolean
open_monitor_outputs (Monitoring *self, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (output_names); i++) {
    if (*output_names[i] == NULL)
      continue;
    self->outputs[i] = output_new (
        *output_names[i], (const gchar *const *) self->common->inputs, error);
    if (self->outputs[i] == NULL)
      return FALSE;
  }
  return TRUE;
}

static gboolean
monitor_frames (Monitoring *self, GError **error)
{
  gboolean ok = open_monitor_outputs (self, error);

  if (ok) {
    gchar *launch = make_monitor_launch (self, TRUE);

    self->start = g_get_monotonic_time ();
    ok = pipeline_run (&(PipelineRun){ .launch = launch,
                           .label = self->name,
                           .message = show_status,
                           .prepare = connect_summary,
                           .finish = take_monitor_results,
                           .data = self,
                           .stop_at_interrupt = self->live,
                           .progress = !self->live && !self->common->quiet,
                           .frames = "monitor",
                           .quiet = self->common->quiet },
        error);
    if (self->live && isatty (STDERR_FILENO) && !self->common->quiet)
      g_printerr ("\n");
    g_free (launch);
  }
  for (guint i = 0; i < G_N_ELEMENTS (output_names); i++)
    ok = output_close (self->outputs[i], ok, error);
  return ok;
}

/* --- results --------------------------------------------------------------- */

/* Frames of output @i over all layers */
typedef struct {
  guint64 frames, votes;
  gdouble probability; /* mean; NaN: not known */
} ClassTotal;

static ClassTotal
total_class (const Monitoring *self, guint i)
{
  ClassTotal total = { 0 };

  for (guint k = 0; k < self->summary->layers->len; k++) {
    const Layer *layer = &g_array_index (self->summary->layers, Layer, k);

    total.frames += layer->classes[i];
    total.votes += layer->votes[i];
    total.probability += layer->probabilities[i];
  }
  total.probability =
      total.probability > 0 ? total.probability / total.frames : NAN;
  return total;
}

static gchar *
format_probability (gdouble probability)
{
  return isnan (probability) ? g_strdup ("-")
                             : g_strdup_printf ("%.3f", probability);
}

/* A single output is no class. */
static guint
count_classes (const Monitoring *self)
{
  return self->names != NULL && self->names->len >= 2 ? self->names->len : 0;
}

static void
print_classes (const Monitoring *self)
{
  const guint n = count_classes (self);

  if (n > 0)
    g_print ("\n%-24s %9s %16s %14s\n", "class", "frames", "mean probability",
        "frames by vote");
  for (guint i = 0; i < n; i++) {
    const ClassTotal total = total_class (self, i);
    gchar *probability = format_probability (total.probability);

    g_print ("%-24s %9" G_GUINT64_FORMAT " %16s %14" G_GUINT64_FORMAT "\n",
        (const gchar *) g_ptr_array_index (self->names, i), total.frames,
        probability, total.votes);
    g_free (probability);
  }
}

static void
add_classes (const Monitoring *self, Report *report)
{
  const gchar *head[2 + CVIS_PBF_MAX_OUTPUTS] = { "layer" };
  const guint n = count_classes (self);
  const GArray *layers = self->summary->layers;

  if (n == 0)
    return;
  report_add_heading (report, "Classes by the network");
  report_begin_table (report, (const gchar *const[]){ "class", "frames",
                                  "mean probability", "frames by vote", NULL });
  for (guint i = 0; i < n; i++) {
    const ClassTotal total = total_class (self, i);
    gchar *cells[] = { g_strdup (g_ptr_array_index (self->names, i)),
      g_strdup_printf ("%" G_GUINT64_FORMAT, total.frames),
      format_probability (total.probability),
      g_strdup_printf ("%" G_GUINT64_FORMAT, total.votes), NULL };

    report_add_row (report, (const gchar *const *) cells);
    for (guint c = 0; cells[c] != NULL; c++)
      g_free (cells[c]);
  }
  report_end_table (report);
  report_add_paragraph (report, "Frames of each class, by layer:");
  for (guint i = 0; i < n; i++)
    head[1 + i] = g_ptr_array_index (self->names, i);
  report_begin_table (report, head);
  for (guint k = 0; k < layers->len; k++) {
    const Layer *layer = &g_array_index (layers, Layer, k);
    gchar *cells[2 + CVIS_PBF_MAX_OUTPUTS] = { g_strdup_printf (
        "%u", layer->number) };

    for (guint i = 0; i < n; i++)
      cells[1 + i] = g_strdup_printf ("%" G_GUINT64_FORMAT, layer->classes[i]);
    report_add_row (report, (const gchar *const *) cells);
    for (guint c = 0; cells[c] != NULL; c++)
      g_free (cells[c]);
  }
  report_end_table (report);
}

static void
add_json_classes (const Monitoring *self, JsonBuilder *json)
{
  json_builder_set_member_name (json, "classes");
  json_builder_begin_array (json);
  for (guint i = 0; i < count_classes (self); i++) {
    const ClassTotal total = total_class (self, i);

    json_builder_begin_object (json);
    json_add_string (json, "class", g_ptr_array_index (self->names, i));
    json_add_int (json, "frames", total.frames);
    json_add_double (json, "mean-probability", total.probability);
    json_add_int (json, "frames-by-vote", total.votes);
    json_builder_end_object (json);
  }
  json_builder_end_array (json);
}

static void
print_layers (const Monitoring *self)
{
  const GArray *layers = self->summary->layers;

  g_print ("layer   frames  laser on  pool px  pool mean  spatters  no pool\n");
  for (guint i = 0; i < layers->len; i++) {
    const Layer *layer = &g_array_index (layers, Layer, i);
    const gdouble n = MAX (layer->lit, 1);

    g_print ("%5u %8" G_GUINT64_FORMAT " %9" G_GUINT64_FORMAT
             " %8.1f %10.1f %9.2f %8" G_GUINT64_FORMAT "\n",
        layer->number, layer->frames, layer->lit, layer->sums[0] / n,
        layer->sums[1] / n, layer->sums[3] / n, layer->no_pool);
  }
  print_classes (self);
  g_print ("\n%" G_GUINT64_FORMAT " frames in %.2f s, %.0f frames/s, %s\n",
      self->summary->frames, self->seconds,
      self->summary->frames / MAX (self->seconds, 1e-6), self->backend);
}

static void
print_monitor_json (const Monitoring *self)
{
  JsonBuilder *json = json_builder_new ();
  const GArray *layers = self->summary->layers;

  json_builder_begin_object (json);
  json_add_string (json, "version", PACKAGE_VERSION);
  json_add_string (json, "input", self->name);
  json_add_int (json, "frames", self->summary->frames);
  json_add_double (json, "seconds", self->seconds);
  json_add_string (json, "backend", self->backend);
  json_add_int (json, "lost", structure_get_count (self->stats, "lost"));
  json_builder_set_member_name (json, "layers");
  json_builder_begin_array (json);
  for (guint i = 0; i < layers->len; i++) {
    const Layer *layer = &g_array_index (layers, Layer, i);

    json_builder_begin_object (json);
    json_add_int (json, "layer", layer->number);
    json_add_int (json, "frames", layer->frames);
    json_add_int (json, "laser-on", layer->lit);
    json_add_int (json, "no-pool", layer->no_pool);
    json_add_double (json, "mp-area", layer->sums[0] / MAX (layer->lit, 1));
    json_add_double (json, "mp-mean", layer->sums[1] / MAX (layer->lit, 1));
    json_add_double (json, "mp-ratio", layer->sums[2] / MAX (layer->lit, 1));
    json_add_double (
        json, "spatter-count", layer->sums[3] / MAX (layer->lit, 1));
    json_add_double (
        json, "spatter-area", layer->sums[4] / MAX (layer->lit, 1));
    json_builder_end_object (json);
  }
  json_builder_end_array (json);
  add_json_classes (self, json);
  json_builder_end_object (json);
  json_print (json);
}

static void
add_courses (const Monitoring *self, Report *report)
{
  for (guint i = 0; i < LAYER_N_FEATURES; i++) {
    const gchar *feature = layer_feature_names[i];
    gdouble *x, *y;
    const gsize n = layer_summary_get_course (self->summary, i, &x, &y);
    GString *svg = g_string_new (NULL);
    gchar *caption = g_strdup_printf ("%c%s: frames with the laser on",
        g_ascii_toupper (feature[0]), feature + 1);

    plot_lines (svg,
        &(Plot){ .label = caption, .x_label = "frame", .y_label = feature },
        &(PlotSeries){ NULL, x, y, n }, 1);
    report_add_plot (report, svg->str, caption);
    g_string_free (svg, TRUE);
    g_free (caption);
    g_free (x);
    g_free (y);
  }
}

static void
add_layers (const Monitoring *self, Report *report)
{
  const gchar *head[4 + LAYER_N_FEATURES] = { "layer", "frames", "laser on" };
  const GArray *layers = self->summary->layers;

  memcpy (head + 3, layer_feature_names, sizeof layer_feature_names);
  report_begin_table (report, head);
  for (guint i = 0; i < layers->len; i++) {
    const Layer *layer = &g_array_index (layers, Layer, i);
    gchar *cells[4 + LAYER_N_FEATURES] = { g_strdup_printf (
                                               "%u", layer->number),
      g_strdup_printf ("%" G_GUINT64_FORMAT, layer->frames),
      g_strdup_printf ("%" G_GUINT64_FORMAT, layer->lit) };

    for (guint f = 0; f < LAYER_N_FEATURES; f++)
      cells[3 + f] =
          g_strdup_printf ("%.2f", layer->sums[f] / MAX (layer->lit, 1));
    report_add_row (report, (const gchar *const *) cells);
    for (guint f = 0; cells[f] != NULL; f++)
      g_free (cells[f]);
  }
  report_end_table (report);
}

static void
write_monitor_report (const Monitoring *self, GError **error)
{
  gchar *title = g_strdup_printf ("Melt pool: %s", self->name);
  Report *report = report_new (title);

  report_add_paragraph (report,
      "%" G_GUINT64_FORMAT " frames, %" G_GUINT64_FORMAT
      " of them lost before the analysis. Analysed in %.2f s. Features are "
      "means "
      "over the frames with the laser on.",
      self->summary->frames, structure_get_count (self->stats, "lost"),
      self->seconds);
  add_layers (self, report);
  add_classes (self, report);
  report_add_picture (report, self->picture,
      "One of the frames: melt pool in green, spatters in cyan, expected "
      "position "
      "as "
      "a red cross");
  add_courses (self, report);
  report_add_input (report, self->name);
  report_add_setting (report, "threshold", "%d", options.threshold);
  report_add_setting (report, "position source", "%s",
      options.position != NULL ? options.position : "signals");
  report_add_setting (
      report, "network", "%s", options.model != NULL ? options.model : "none");
  if (options.machine != NULL)
    report_add_setting (report, "machine", "%s", options.machine);
  if (options.learn_baseline > 0)
    report_add_setting (
        report, "baseline", "%d frames", options.learn_baseline);
  report_add_setting (report, "backend", "%s", self->backend);
  report_write (report, self->common->report,
      (const gchar *const *) self->common->inputs, error);
  report_free (report);
  g_free (title);
}

/* --- command --------------------------------------------------------------- */

/* Checks what the pipeline would take as it is. */
static gboolean
check_names (const gchar *input, GError **error)
{
  const gchar *port = strrchr (input, ':');
  gint n, d;
  gchar rest;

  if (g_str_has_prefix (input, "udp://") && port > input + strlen ("udp:")
      && !g_ascii_string_to_unsigned (port + 1, 10, 1, 65535, NULL, NULL)) {
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
        "%s: the port is not in 1 to 65535", input);
    return FALSE;
  }
  if (is_pattern (input)) {
    gchar *first = make_picture_name (input, 0);

    g_free (first);
    if (first == NULL) {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
          "%s: a pattern has one %%d, such as frames/%%05d.png", input);
      return FALSE;
    }
  }
  if (options.framerate != NULL
      && (sscanf (options.framerate, "%d/%d%c", &n, &d, &rest) != 2 || n < 1
          || d < 1)) {
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
        "--framerate %s is not N/D, such as 20000/1", options.framerate);
    return FALSE;
  }
  return TRUE;
}

static gboolean
check_monitor_options (const CommonOptions *common, GError **error)
{
  static const gchar *const positions[] = { "signals", "brightest",
    "brightest-pixel", "centroid", "fixed", NULL };

  if (!check_names (common->inputs[0], error))
    return FALSE;
  if (options.threshold < 1 || options.threshold > 255) {
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
        "--threshold %d is not in 1 to 255", options.threshold);
    return FALSE;
  }
  if (options.learn_baseline != 0
      && (options.learn_baseline < PBF_BASELINE_MIN_FRAMES
          || options.learn_baseline > PBF_BASELINE_MAX_FRAMES)) {
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
        "--learn-baseline %d is not in %d to %d; use one nominal layer",
        options.learn_baseline, PBF_BASELINE_MIN_FRAMES,
        PBF_BASELINE_MAX_FRAMES);
    return FALSE;
  }
  if (options.learn_baseline != 0
      && (options.model == NULL || options.machine == NULL
          || options.saved_model == NULL)) {
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
        "--learn-baseline needs --model, --machine and --save-model");
    return FALSE;
  }
  if (options.learn_baseline == 0 && options.saved_model != NULL) {
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
        "--save-model needs --learn-baseline");
    return FALSE;
  }
  if (options.position != NULL
      && !g_strv_contains (positions, options.position)) {
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
        "--position %s is none of signals, brightest, brightest-pixel, "
        "centroid "
        "and fixed",
        options.position);
    return FALSE;
  }
  if (options.video != NULL && video_encoder (options.video) == NULL) {
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
        "the ending of %s is none of .webm, .mp4 and .avi", options.video);
    return FALSE;
  }
  return TRUE;
}

static gboolean
check_input (const Monitoring *self, GError **error)
{
  InputKind kind;

  if (self->live)
    return TRUE;
  if (is_pattern (self->name)) {
    gchar *first = make_picture_name (self->name, 0);
    gboolean ok = input_check (first, INPUT_UNKNOWN, error);

    g_free (first);
    return ok;
  }
  kind = input_kind (self->name);
  return input_check (self->name,
      kind == INPUT_VIDEO || kind == INPUT_HDF5 ? kind : INPUT_RECORDING,
      error);
}

static void
run_monitoring (Monitoring *self, GError **error)
{
  const gchar *const names[] = { self->common->report, options.csv,
    options.jsonl, options.video, options.saved_model };
  const gchar *const inputs[] = { self->name, options.model, NULL };

  if (!check_input (self, error)
      || !output_check (names, G_N_ELEMENTS (names), inputs, error)
      || !monitor_frames (self, error))
    return;
  if (self->common->report != NULL)
    write_monitor_report (self, error);
  if (self->common->json)
    print_monitor_json (self);
  else if (!self->common->quiet)
    print_layers (self);
}

static ExitStatus
run_monitor (gint argc, gchar **argv)
{
  CommonOptions common;
  Monitoring self = { &common };
  ExitStatus status;
  GError *error = NULL;

  options.threshold = 100;
  if (!options_parse (&command_monitor, entries,
          OPTIONS_COMPUTE | OPTIONS_DEVICES | OPTIONS_REPORT | OPTIONS_INPUT,
          argc, argv, &common, &status))
    return status;
  self.name = common.inputs[0];
  self.live = g_str_has_prefix (self.name, "udp://");
  self.summary = layer_summary_new ();
  if (check_monitor_options (&common, &error)) {
    if (common.show)
      launch_print (make_monitor_launch (&self, FALSE));
    else
      run_monitoring (&self, &error);
  }
  status = command_end ("monitor", error);
  layer_summary_free (self.summary);
  g_clear_pointer (&self.names, g_ptr_array_unref);
  g_clear_pointer (&self.stats, gst_structure_free);
  g_clear_pointer (&self.picture, gst_sample_unref);
  g_free (self.backend);
  options_clear (&common);
  return status;
}

const Command command_monitor = {
  .name = "monitor",
  .arguments = "INPUT - features of melt-pool frames",
  .summary = "melt-pool features of a recording, HDF5 file, camera or video",
  .examples =
      "Examples:\n"
      "  cudavision monitor layer.pbf -o features.csv --report layer.html\n"
      "  cudavision monitor udp://0.0.0.0:5500 --jsonl results.jsonl\n"
      "  cudavision monitor nominal.pbf -m network.safetensors --machine M1 "
      "\\\n"
      "      --learn-baseline 8000 --save-model m1.safetensors\n\n"
      "INPUT is a recording (.pbf), an HDF5 file, "
      "udp://ADDRESS:PORT, "
      "a pattern\nof PNG files (frames/%05d.png) or a video.",
  .run = run_monitor,
};
