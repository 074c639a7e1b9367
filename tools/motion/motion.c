/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* `cudavision motion`: motion vectors of a video as tables, arrays or flow files, drawn
 * on the video, and a report. */
#include "config.h"

#include <errno.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <gst/cudavision/gstmotionmeta.h>
#include <math.h>
#include <string.h>

#include "tools/command.h"
#include "tools/inputs.h"
#include "tools/json.h"
#include "tools/output.h"
#include "tools/pipeline.h"
#include "tools/report.h"
#include "tools/video.h"
#include "motioncourse.h"

static struct {
  gchar *csv, *npy, *flo, *video;
  gchar *method, *subpel;
  gint block_size, range;
} options;

static const GOptionEntry entries[] = {
  { "csv", 'o', 0, G_OPTION_ARG_FILENAME, &options.csv,
      "Write all vectors as a table, a row for each block", "FILE.csv" },
  { "npy", 0, 0, G_OPTION_ARG_FILENAME, &options.npy,
      "Write all vectors as an array of NumPy: frames x rows x columns x (x, "
      "y) in "
      "pixels; the first frame has none",
      "FILE.npy" },
  { "flo", 0, 0, G_OPTION_ARG_FILENAME, &options.flo,
      "Write a Middlebury flow file for each frame into a folder", "FOLDER" },
  { "video", 0, 0, G_OPTION_ARG_FILENAME, &options.video,
      "Write the video with arrows: .webm, .mp4 or .avi", "FILE" },
  { "method", 0, 0, G_OPTION_ARG_STRING, &options.method,
      "Search: field (default: the motion of the scene), full (the smallest "
      "difference), step or zonal",
      "NAME" },
  { "block-size", 0, 0, G_OPTION_ARG_INT, &options.block_size,
      "Side of a block: 8, 16 (default), 32 or 64", "PIXELS" },
  { "search-range", 0, 0, G_OPTION_ARG_INT, &options.range,
      "Longest motion, 1 to 128; default: 64", "PIXELS" },
  { "subpel", 0, 0, G_OPTION_ARG_STRING, &options.subpel,
      "Precision: none, half or quarter (default)", "NAME" },
  { NULL },
};

/* Files of one output each; flo writes a folder. */
static gchar **const output_names[] = { &options.csv, &options.npy,
  &options.video };
enum { CSV, NPY, VIDEO };

typedef struct {
  const CommonOptions *common;
  const gchar *name;
  Output *outputs[G_N_ELEMENTS (output_names)];
  MotionCourse *course;
  GstStructure *stats;
  gchar *backend;
  GstSample *picture;
  gint64 start;
  gdouble seconds;
} Estimation;

/* --- pipeline -------------------------------------------------------------- */

static void
append_estimation (GString *launch, const CommonOptions *common)
{
  g_string_append (launch, "! videoconvert ! cudamotionest name=motion ");
  launch_set (
      launch, "method", options.method != NULL ? options.method : "field");
  launch_set_int (launch, "block-size", options.block_size);
  launch_set_int (launch, "search-range", options.range);
  launch_set (
      launch, "subpel", options.subpel != NULL ? options.subpel : "quarter");
  video_append_backend (launch, common);
}

static void
append_vectors (GString *launch, const Estimation *self, guint i,
    const gchar *format, gboolean temporary)
{
  g_string_append_printf (launch,
      "vectors. ! queue ! motionvectorenc format=%s ! filesink ", format);
  launch_set (launch, "location",
      temporary ? output_get_temporary_name (self->outputs[i])
                : *output_names[i]);
}

static void
append_flow_files (GString *launch)
{
  gchar *pattern = g_build_filename (options.flo, "%06d.flo", NULL);

  g_string_append (launch, "vectors. ! queue ! motionvectorenc format=flo ! "
                           "multifilesink ");
  launch_set (launch, "location", pattern);
  g_free (pattern);
}

static gchar *
make_motion_launch (const Estimation *self, gboolean temporary)
{
  const gboolean picture = temporary && self->common->report != NULL;
  GString *launch = g_string_new (NULL);

  video_append_source (launch, self->name, self->common);
  append_estimation (launch, self->common);
  if (options.video != NULL || picture)
    g_string_append (launch, "! tee name=frames ! queue ! fakesink ");
  else
    g_string_append (launch, "! fakesink ");
  if (temporary || options.csv != NULL || options.npy != NULL
      || options.flo != NULL)
    g_string_append (launch, "motion.src_vectors ! tee name=vectors ");
  if (temporary)
    g_string_append (launch,
        "vectors. ! queue ! fakesink name=course signal-handoffs=true ");
  if (options.csv != NULL)
    append_vectors (launch, self, CSV, "csv", temporary);
  if (options.npy != NULL)
    append_vectors (launch, self, NPY, "npy", temporary);
  if (options.flo != NULL)
    append_flow_files (launch);
  if (options.video != NULL) {
    g_string_append_printf (launch,
        "frames. ! queue ! videoconvert ! motionoverlay ! videoconvert ! %s ! "
        "filesink ",
        video_encoder (options.video));
    launch_set (launch, "location",
        temporary ? output_get_temporary_name (self->outputs[VIDEO])
                  : options.video);
  }
  if (picture)
    g_string_append (launch,
        "frames. ! queue ! videoconvert ! motionoverlay mode=field+arrows ! "
        "videoconvert ! videoscale ! video/x-raw,width=[16,1280],"
        "height=[16,1280] ! jpegenc ! fakesink name=picture");
  return g_string_free (launch, FALSE);
}

/* --- running --------------------------------------------------------------- */

static void
add_packet (GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer data)
{
  Estimation *self = data;
  GstMapInfo map;

  if (!gst_buffer_map (buffer, &map, GST_MAP_READ))
    return;
  if (gst_cvis_motion_packet_check (map.data, map.size, NULL))
    motion_course_add (self->course, (const CvisMotionPacket *) map.data);
  gst_buffer_unmap (buffer, &map);
}

static void
connect_course (GstElement *pipeline, gpointer data)
{
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "course");

  g_signal_connect (sink, "handoff", G_CALLBACK (add_packet), data);
  gst_object_unref (sink);
}

static void
take_motion_results (GstElement *pipeline, gpointer data)
{
  Estimation *self = data;
  GstElement *motion = gst_bin_get_by_name (GST_BIN (pipeline), "motion");

  g_object_get (motion, "stats", &self->stats, NULL);
  gst_object_unref (motion);
  self->backend = element_get_nick (pipeline, "motion", "active-backend");
  self->picture = element_get_sample (pipeline, "picture");
  self->seconds = (g_get_monotonic_time () - self->start) * 1e-6;
}

static gboolean
open_motion_outputs (Estimation *self, GError **error)
{
  if (options.flo != NULL && g_mkdir_with_parents (options.flo, 0777) != 0) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED,
        "cannot make the folder %s: %s", options.flo, g_strerror (errno));
    return FALSE;
  }
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
estimate_motion (Estimation *self, GError **error)
{
  gboolean ok = open_motion_outputs (self, error);

  if (ok) {
    gchar *launch = make_motion_launch (self, TRUE);

    self->start = g_get_monotonic_time ();
    ok = pipeline_run (&(PipelineRun){ .launch = launch,
                           .label = self->name,
                           .prepare = connect_course,
                           .finish = take_motion_results,
                           .data = self,
                           .progress = !self->common->quiet,
                           .frames = "motion",
                           .quiet = self->common->quiet },
        error);
    g_free (launch);
  }
  for (guint i = 0; i < G_N_ELEMENTS (output_names); i++)
    ok = output_close (self->outputs[i], ok, error);
  return ok;
}

/* --- results --------------------------------------------------------------- */

/* Whether the search method gives a confidence and a noise level */
static gboolean
is_rated (const Estimation *self)
{
  return structure_get_double (self->stats, "mean-confidence") >= 0;
}

static void
print_summary (const Estimation *self)
{
  g_print ("%s: %" G_GUINT64_FORMAT " frames, %" G_GUINT64_FORMAT
           " scene cuts, %" G_GUINT64_FORMAT " repeated frames\n\n",
      self->name, structure_get_count (self->stats, "frames"),
      structure_get_count (self->stats, "scene-cuts"),
      structure_get_count (self->stats, "duplicates"));
  g_print ("mean length of the vectors    %8.2f pixels\n",
      motion_course_get_mean (self->course));
  g_print ("still blocks                  %8.1f %%\n",
      100 * structure_get_double (self->stats, "static-share"));
  g_print ("global motion                 %8.2f pixels a frame\n",
      structure_get_double (self->stats, "mean-global-motion"));
  g_print ("PSNR of the prediction        %8.2f dB\n",
      structure_get_double (self->stats, "psnr"));
  if (is_rated (self)) {
    g_print ("confidence of the vectors     %8.1f %%\n",
        100 * structure_get_double (self->stats, "mean-confidence"));
    g_print ("noise of the frames           %8.2f levels\n",
        structure_get_double (self->stats, "noise"));
  }
  g_print ("\n%.2f s, %.1f frames/s, %s\n", self->seconds,
      structure_get_count (self->stats, "frames") / MAX (self->seconds, 1e-6),
      self->backend);
}

static void
print_motion_json (const Estimation *self)
{
  JsonBuilder *json = json_builder_new ();

  json_builder_begin_object (json);
  json_add_string (json, "version", PACKAGE_VERSION);
  json_add_string (json, "file", self->name);
  json_add_int (json, "frames", structure_get_count (self->stats, "frames"));
  json_add_int (
      json, "scene-cuts", structure_get_count (self->stats, "scene-cuts"));
  json_add_int (
      json, "duplicates", structure_get_count (self->stats, "duplicates"));
  json_add_double (
      json, "mean-length-px", motion_course_get_mean (self->course));
  json_add_double (
      json, "static-share", structure_get_double (self->stats, "static-share"));
  json_add_double (json, "mean-global-motion-px",
      structure_get_double (self->stats, "mean-global-motion"));
  json_add_double (json, "psnr-db", structure_get_double (self->stats, "psnr"));
  if (is_rated (self)) {
    json_add_double (json, "mean-confidence",
        structure_get_double (self->stats, "mean-confidence"));
    json_add_double (
        json, "noise-levels", structure_get_double (self->stats, "noise"));
  }
  json_add_double (json, "seconds", self->seconds);
  json_add_string (json, "backend", self->backend);
  json_builder_end_object (json);
  json_print (json);
}

static void
add_summary (const Estimation *self, Report *report)
{
  static const gchar *const head[] = { "", "value", NULL };
  const struct {
    const gchar *name, *unit;
    gdouble value;
  } rows[] = {
    { "mean length of the vectors", "pixels",
        motion_course_get_mean (self->course) },
    { "still blocks", "%",
        100 * structure_get_double (self->stats, "static-share") },
    { "global motion", "pixels a frame",
        structure_get_double (self->stats, "mean-global-motion") },
    { "PSNR of the prediction", "dB",
        structure_get_double (self->stats, "psnr") },
    { "scene cuts", "", structure_get_count (self->stats, "scene-cuts") },
    { "confidence of the vectors", "%",
        100 * structure_get_double (self->stats, "mean-confidence") },
    { "noise of the frames", "levels",
        structure_get_double (self->stats, "noise") },
  };
  const guint n_rows = G_N_ELEMENTS (rows) - (is_rated (self) ? 0 : 2);

  report_begin_table (report, head);
  for (guint i = 0; i < n_rows; i++) {
    gchar *value = g_strdup_printf ("%.4g %s", rows[i].value, rows[i].unit);

    report_add_row (
        report, (const gchar *const[]){ rows[i].name, value, NULL });
    g_free (value);
  }
  report_end_table (report);
}

static void
write_motion_report (const Estimation *self, GError **error)
{
  gchar *title = g_strdup_printf ("Motion of %s", self->name);
  Report *report = report_new (title);

  report_add_paragraph (report,
      "%" G_GUINT64_FORMAT
      " frames in %.2f s: %.1f frames/s, decoding included.",
      structure_get_count (self->stats, "frames"), self->seconds,
      structure_get_count (self->stats, "frames") / MAX (self->seconds, 1e-6));
  add_summary (self, report);
  report_add_picture (report, self->picture,
      "The last frame: the hue is the direction of motion, the opacity its "
      "length");
  motion_course_report (self->course, report);
  report_add_input (report, self->name);
  report_add_setting (report, "method", "%s",
      options.method != NULL ? options.method : "field");
  report_add_setting (report, "block size", "%d pixels", options.block_size);
  report_add_setting (report, "search range", "%d pixels", options.range);
  report_add_setting (report, "precision", "%s",
      options.subpel != NULL ? options.subpel : "quarter");
  report_add_setting (report, "backend", "%s", self->backend);
  report_write (report, self->common->report,
      (const gchar *const *) self->common->inputs, error);
  report_free (report);
  g_free (title);
}

/* --- command --------------------------------------------------------------- */

static gboolean
check_motion_options (GError **error)
{
  static const gchar *const methods[] = { "field", "full", "step", "zonal",
    NULL };
  static const gchar *const precisions[] = { "none", "half", "quarter", NULL };
  gchar *fault = NULL;

  if (options.method != NULL && !g_strv_contains (methods, options.method))
    fault = g_strdup_printf (
        "--method %s is none of field, full, step and zonal", options.method);
  else if (options.subpel != NULL
           && !g_strv_contains (precisions, options.subpel))
    fault = g_strdup_printf (
        "--subpel %s is none of none, half and quarter", options.subpel);
  else if (options.block_size != 8 && options.block_size != 16
           && options.block_size != 32 && options.block_size != 64)
    fault = g_strdup_printf (
        "--block-size %d is none of 8, 16, 32 and 64", options.block_size);
  else if (options.range < 1 || options.range > 128)
    fault =
        g_strdup_printf ("--search-range %d is not in 1 to 128", options.range);
  else if (options.video != NULL && video_encoder (options.video) == NULL)
    fault = g_strdup_printf (
        "the ending of %s is none of .webm, .mp4 and .avi", options.video);
  if (fault == NULL)
    return TRUE;
  g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, fault);
  g_free (fault);
  return FALSE;
}

static void
run_estimation (Estimation *self, GError **error)
{
  const gchar *const names[] = { self->common->report, options.csv, options.npy,
    options.video };

  if (!input_check (self->name, INPUT_VIDEO, error)
      || !output_check (names, G_N_ELEMENTS (names),
          (const gchar *const *) self->common->inputs, error)
      || !estimate_motion (self, error))
    return;
  if (self->common->report != NULL)
    write_motion_report (self, error);
  if (self->common->json)
    print_motion_json (self);
  else if (!self->common->quiet)
    print_summary (self);
}

static ExitStatus
run_motion (gint argc, gchar **argv)
{
  CommonOptions common;
  Estimation self = { &common };
  ExitStatus status;
  GError *error = NULL;

  options.block_size = 16;
  options.range = 64;
  if (!options_parse (&command_motion, entries,
          OPTIONS_COMPUTE | OPTIONS_DEVICES | OPTIONS_REPORT | OPTIONS_INPUT,
          argc, argv, &common, &status))
    return status;
  self.name = common.inputs[0];
  self.course = motion_course_new ();
  if (check_motion_options (&error)) {
    if (common.show)
      launch_print (make_motion_launch (&self, FALSE));
    else
      run_estimation (&self, &error);
  }
  status = command_end ("motion", error);
  motion_course_free (self.course);
  g_clear_pointer (&self.stats, gst_structure_free);
  g_clear_pointer (&self.picture, gst_sample_unref);
  g_free (self.backend);
  options_clear (&common);
  return status;
}

const Command command_motion = {
  .name = "motion",
  .arguments = "VIDEO - motion vectors of a video",
  .summary = "motion vectors of a video: table, array, flow files, arrows",
  .examples =
      "Examples:\n"
      "  cudavision motion clip.mp4 --report motion.html\n"
      "  cudavision motion clip.mp4 --npy vectors.npy --video arrows.webm",
  .run = run_motion,
};
