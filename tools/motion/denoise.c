/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* `cudavision denoise`: writes a video without its noise, and a report with pictures before
 * and after. Its options are the properties of cudadenoise. */
#include "config.h"

#include <gio/gio.h>
#include <gst/video/video.h>
#include <math.h>
#include <string.h>

#include "tools/command.h"
#include "tools/inputs.h"
#include "tools/json.h"
#include "tools/output.h"
#include "tools/pipeline.h"
#include "tools/report.h"
#include "tools/video.h"

/* Longest side of a picture of the report */
#define SIDE 1280
/* Contrast of the picture of what was removed */
#define GAIN 4

/* A property of the element as an option; @flag: a boolean that is off by default */
typedef struct {
  GParamSpec *spec;
  gchar *value;
  gboolean flag;
} Setting;

/**
 * Denoising:
 * @settings: of Setting
 * @before, @after, @removed: (nullable): pictures of the frame in the middle
 * @deviation: of the luma of what was removed from that frame, levels; NaN without it
 */
typedef struct {
  const CommonOptions *common;
  const gchar *name;
  gchar *output_name;
  Output *output;
  GArray *settings;
  GstStructure *stats;
  gchar *backend;
  gint64 start;
  guint64 middle; /* time of the pictures, ns */
  gdouble seconds;
  GstSample *before, *after, *removed;
  gdouble deviation;
} Denoising;

/* --- options ---------------------------------------------------------------- */

static gboolean
is_setting (const GParamSpec *spec)
{
  /* shared options, or about the machine instead of the picture */
  static const gchar *const others[] = { "name", "parent", "qos", "backend",
    "cuda-device-id", "cuda-device-ids", "threads", "balance",
    "frames-in-flight", NULL };

  return spec->flags & G_PARAM_WRITABLE
         && !g_strv_contains (others, spec->name);
}

/* Settings for the element's properties; none without the element, which is an error
 * later. */
static GArray *
make_settings (void)
{
  GArray *settings = g_array_new (FALSE, TRUE, sizeof (Setting));
  GstElement *element = gst_element_factory_make ("cudadenoise", NULL);
  GParamSpec **specs;
  guint n;

  if (element == NULL)
    return settings;
  specs = g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);
  for (guint i = 0; i < n; i++)
    if (is_setting (specs[i]))
      g_array_append_val (
          settings, ((Setting){ g_param_spec_ref (specs[i]), NULL, FALSE }));
  g_free (specs);
  gst_object_unref (element);
  return settings;
}

static void
free_settings (GArray *settings)
{
  for (guint i = 0; i < settings->len; i++) {
    Setting *setting = &g_array_index (settings, Setting, i);

    g_param_spec_unref (setting->spec);
    g_free (setting->value);
  }
  g_array_unref (settings);
}

static GOptionEntry *
make_entries (Denoising *self)
{
  GOptionEntry *entries = g_new0 (GOptionEntry, self->settings->len + 2);

  entries[0] = (GOptionEntry){ "output", 'o', 0, G_OPTION_ARG_FILENAME,
    &self->output_name,
    "File to write: .mkv (FFV1, lossless), .mp4 (H.264), .webm or .avi",
    "FILE" };
  for (guint i = 0; i < self->settings->len; i++) {
    Setting *setting = &g_array_index (self->settings, Setting, i);
    const gboolean off = setting->spec->value_type == G_TYPE_BOOLEAN
                         && !g_value_get_boolean (
                             g_param_spec_get_default_value (setting->spec));

    entries[i + 1] = (GOptionEntry){ setting->spec->name, 0, 0,
      off ? G_OPTION_ARG_NONE : G_OPTION_ARG_STRING,
      off ? (gpointer) &setting->flag : (gpointer) &setting->value,
      g_param_spec_get_blurb (setting->spec), off ? NULL : "VALUE" };
  }
  return entries;
}

/* Encoder and muxer for the ending of @name */
static const gchar *
find_encoder (const gchar *name)
{
  if (g_str_has_suffix (name, ".mkv"))
    return "avenc_ffv1 ! matroskamux";
  if (g_str_has_suffix (name, ".mp4"))
    return "x264enc pass=qual quantizer=18 ! mp4mux";
  return video_encoder (name);
}

static gboolean
check_setting (const Setting *setting, GError **error)
{
  GValue value = G_VALUE_INIT;
  gboolean ok;

  if (setting->value == NULL)
    return TRUE;
  g_value_init (&value, setting->spec->value_type);
  ok = gst_value_deserialize_with_pspec (&value, setting->value, setting->spec)
       && !g_param_value_validate (setting->spec, &value);
  g_value_unset (&value);
  if (!ok)
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
        "--%s %s is not a valid value; see gst-inspect-1.0 cudadenoise",
        setting->spec->name, setting->value);
  return ok;
}

static gboolean
check_denoise_options (const Denoising *self, GError **error)
{
  for (guint i = 0; i < self->settings->len; i++)
    if (!check_setting (&g_array_index (self->settings, Setting, i), error))
      return FALSE;
  if (self->output_name == NULL)
    g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
        "no output; add -o FILE");
  else if (find_encoder (self->output_name) == NULL)
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
        "the ending of %s is none of .mkv, .mp4, .webm and .avi",
        self->output_name);
  else
    return TRUE;
  return FALSE;
}

/* --- pipeline --------------------------------------------------------------- */

static gchar *
make_denoise_launch (const Denoising *self, gboolean temporary)
{
  GString *launch = g_string_new (NULL);

  video_append_source (launch, self->name, self->common);
  g_string_append (launch, "! videoconvert ! cudadenoise name=denoise ");
  for (guint i = 0; i < self->settings->len; i++) {
    const Setting *setting = &g_array_index (self->settings, Setting, i);

    if (setting->flag || setting->value != NULL)
      launch_set (
          launch, setting->spec->name, setting->flag ? "true" : setting->value);
  }
  video_append_backend (launch, self->common);
  g_string_append_printf (launch, "! videoconvert ! %s ! filesink ",
      find_encoder (self->output_name));
  launch_set (launch, "location",
      temporary ? output_get_temporary_name (self->output) : self->output_name);
  return g_string_free (launch, FALSE);
}

static void
take_denoise_results (GstElement *pipeline, gpointer data)
{
  Denoising *self = data;
  GstElement *denoise = gst_bin_get_by_name (GST_BIN (pipeline), "denoise");
  gint64 end;

  g_object_get (denoise, "stats", &self->stats, NULL);
  gst_object_unref (denoise);
  self->backend = element_get_nick (pipeline, "denoise", "active-backend");
  self->seconds = (g_get_monotonic_time () - self->start) * 1e-6;
  /* y4mdec of GStreamer 1.22 seeks to the wrong byte */
  if (!g_str_has_suffix (self->name, ".y4m")
      && gst_element_query_position (pipeline, GST_FORMAT_TIME, &end)
      && end > 0)
    self->middle = (guint64) end / 2;
}

static gboolean
denoise_video (Denoising *self, GError **error)
{
  gchar *launch;
  gboolean ok;

  self->output = output_new (
      self->output_name, (const gchar *const *) self->common->inputs, error);
  if (self->output == NULL)
    return FALSE;
  launch = make_denoise_launch (self, TRUE);
  self->start = g_get_monotonic_time ();
  ok = pipeline_run (&(PipelineRun){ .launch = launch,
                         .label = self->name,
                         .finish = take_denoise_results,
                         .data = self,
                         .progress = !self->common->quiet,
                         .frames = "denoise",
                         .quiet = self->common->quiet },
      error);
  g_free (launch);
  return output_close (self->output, ok, error);
}

/* --- pictures --------------------------------------------------------------- */

/* 128 + GAIN * (@before - @after) of the luma. Returns: (transfer full) (nullable):
 * %NULL if the frames differ in size */
static GstSample *
subtract_frames (Denoising *self, GstSample *before, GstSample *after)
{
  GstSample *samples[] = { before, after }, *result;
  GstVideoFrame frames[2], out;
  GstVideoInfo infos[2];
  GstBuffer *buffer;
  gdouble sum = 0, squares = 0, n;

  for (guint i = 0; i < 2; i++)
    if (!gst_video_info_from_caps (&infos[i], gst_sample_get_caps (samples[i])))
      return NULL;
  if (infos[0].width != infos[1].width || infos[0].height != infos[1].height)
    return NULL;
  buffer = gst_buffer_new_allocate (NULL, infos[0].size, NULL);
  for (guint i = 0; i < 2; i++)
    gst_video_frame_map (&frames[i], &infos[i],
        gst_sample_get_buffer (samples[i]), GST_MAP_READ);
  gst_video_frame_map (&out, &infos[0], buffer, GST_MAP_WRITE);
  for (gint y = 0; y < infos[0].height; y++) {
    const guint8 *rows[2];
    guint8 *to = (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&out, 0)
                 + y * GST_VIDEO_FRAME_PLANE_STRIDE (&out, 0);

    for (guint i = 0; i < 2; i++)
      rows[i] = (const guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frames[i], 0)
                + y * GST_VIDEO_FRAME_PLANE_STRIDE (&frames[i], 0);
    for (gint x = 0; x < infos[0].width; x++) {
      const gint d = rows[0][x] - rows[1][x];

      to[x] = (guint8) CLAMP (128 + GAIN * d, 0, 255);
      sum += d;
      squares += d * d;
    }
  }
  n = (gdouble) infos[0].width * infos[0].height;
  self->deviation = sqrt (MAX (0, squares / n - sum / n * (sum / n)));
  gst_video_frame_unmap (&out);
  for (guint i = 0; i < 2; i++)
    gst_video_frame_unmap (&frames[i]);
  result = gst_sample_new (buffer, gst_sample_get_caps (before), NULL, NULL);
  gst_buffer_unref (buffer);
  return result;
}

/* Pictures of the frame in the middle, or of the first one if the source cannot seek */
static void
take_pictures (Denoising *self)
{
  GstSample *before = video_take_luma (self->name, &self->middle);
  GstSample *after = video_take_luma (self->output_name, &self->middle);

  self->before = video_take_picture (self->name, self->middle, SIDE, NULL);
  self->after =
      video_take_picture (self->output_name, self->middle, SIDE, NULL);
  if (before != NULL && after != NULL) {
    GstSample *removed = subtract_frames (self, before, after);
    GstCaps *caps = gst_caps_new_empty_simple ("image/jpeg");

    if (removed != NULL) {
      self->removed =
          gst_video_convert_sample (removed, caps, 20 * GST_SECOND, NULL);
      gst_sample_unref (removed);
    }
    gst_caps_unref (caps);
  }
  g_clear_pointer (&before, gst_sample_unref);
  g_clear_pointer (&after, gst_sample_unref);
}

/* --- results ---------------------------------------------------------------- */

static guint64
get_frame_count (const Denoising *self)
{
  return structure_get_count (self->stats, "frames");
}

static void
write_denoise_report (Denoising *self, GError **error)
{
  gchar *title = g_strdup_printf ("Noise of %s", self->name);
  gchar *time, *caption;
  Report *report = report_new (title);

  take_pictures (self);
  time = video_format_time (self->middle);
  caption = g_strdup_printf ("The source at %s", time);
  report_add_paragraph (report,
      "%" G_GUINT64_FORMAT
      " frames in %.2f s: %.1f frames/s, decoding and encoding included.",
      get_frame_count (self), self->seconds,
      get_frame_count (self) / MAX (self->seconds, 1e-6));
  report_add_picture (report, self->before, caption);
  g_free (caption);
  caption = g_strdup_printf ("The same frame of %s", self->output_name);
  report_add_picture (report, self->after, caption);
  g_free (caption);
  caption = g_strdup_printf (
      "The luma of the first minus that of the second, %d times as strong; its "
      "standard deviation is %.2f levels. Edges and texture in it are detail "
      "that was lost.",
      GAIN, self->deviation);
  report_add_picture (report, self->removed, caption);
  report_add_input (report, self->name);
  report_add_setting (report, "output", "%s", self->output_name);
  for (guint i = 0; i < self->settings->len; i++) {
    const Setting *setting = &g_array_index (self->settings, Setting, i);

    if (setting->flag || setting->value != NULL)
      report_add_setting (report, setting->spec->name, "%s",
          setting->flag ? "true" : setting->value);
  }
  report_add_setting (report, "backend", "%s", self->backend);
  report_write (report, self->common->report,
      (const gchar *const *) self->common->inputs, error);
  report_free (report);
  g_free (caption);
  g_free (time);
  g_free (title);
}

static void
print_denoise_results (const Denoising *self)
{
  JsonBuilder *json;

  if (!self->common->json) {
    g_print ("%s: %" G_GUINT64_FORMAT
             " frames to %s, %.2f s, %.1f frames/s, %s\n",
        self->name, get_frame_count (self), self->output_name, self->seconds,
        get_frame_count (self) / MAX (self->seconds, 1e-6), self->backend);
    return;
  }
  json = json_builder_new ();
  json_builder_begin_object (json);
  json_add_string (json, "version", PACKAGE_VERSION);
  json_add_string (json, "file", self->name);
  json_add_string (json, "output", self->output_name);
  json_add_int (json, "frames", get_frame_count (self));
  json_add_double (json, "seconds", self->seconds);
  json_add_string (json, "backend", self->backend);
  json_builder_end_object (json);
  json_print (json);
}

/* --- command ---------------------------------------------------------------- */

static void
run_denoising (Denoising *self, GError **error)
{
  const gchar *const names[] = { self->common->report, self->output_name };

  if (!input_check (self->name, INPUT_VIDEO, error)
      || !output_check (names, G_N_ELEMENTS (names),
          (const gchar *const *) self->common->inputs, error)
      || !denoise_video (self, error))
    return;
  if (self->common->report != NULL)
    write_denoise_report (self, error);
  if (self->common->json || !self->common->quiet)
    print_denoise_results (self);
}

static ExitStatus
run_denoise (gint argc, gchar **argv)
{
  CommonOptions common;
  Denoising self = { .common = &common, .deviation = NAN };
  GOptionEntry *entries;
  ExitStatus status;
  GError *error = NULL;
  gboolean ok;

  self.settings = make_settings ();
  entries = make_entries (&self);
  ok = options_parse (&command_denoise, entries,
      OPTIONS_COMPUTE | OPTIONS_DEVICES | OPTIONS_REPORT | OPTIONS_INPUT, argc,
      argv, &common, &status);
  if (ok) {
    self.name = common.inputs[0];
    if (check_denoise_options (&self, &error)) {
      if (common.show)
        launch_print (make_denoise_launch (&self, FALSE));
      else
        run_denoising (&self, &error);
    }
    status = command_end ("denoise", error);
    options_clear (&common);
  }
  g_clear_pointer (&self.stats, gst_structure_free);
  g_clear_pointer (&self.before, gst_sample_unref);
  g_clear_pointer (&self.after, gst_sample_unref);
  g_clear_pointer (&self.removed, gst_sample_unref);
  g_free (self.backend);
  g_free (self.output_name);
  g_free (entries);
  free_settings (self.settings);
  return status;
}

const Command command_denoise = {
  .name = "denoise",
  .arguments = "VIDEO - a video without its noise",
  .summary = "a video without its noise, pictures before and after",
  .examples = "Examples:\n"
              "  cudavision denoise clip.mp4 -o clean.mkv --report noise.html\n"
              "  cudavision denoise clip.mp4 -o clean.mp4",
  .run = run_denoise,
};
