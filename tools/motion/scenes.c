/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* `cudavision scenes`: the scenes of a video as a table, for encoders, as a page of
 * thumbnails. Searches motion in a part of the pixels. */
#include "config.h"

#include <gio/gio.h>
#include <gst/video/video.h>

#include "tools/command.h"
#include "tools/inputs.h"
#include "tools/json.h"
#include "tools/output.h"
#include "tools/pipeline.h"
#include "tools/report.h"
#include "tools/video.h"
#include "scenetimeline.h"

static struct {
  gchar *csv, *json, *qpfile, *svt, *zones, *transitions, *chapters;
  gdouble threshold;
  gint side;
} options;

static const GOptionEntry entries[] = {
  { "csv", 'o', 0, G_OPTION_ARG_FILENAME, &options.csv,
      "Write the list as a table", "FILE.csv" },
  { "scenes-json", 0, 0, G_OPTION_ARG_FILENAME, &options.json,
      "Write scenes.json of Av1an", "FILE.json" },
  { "qpfile", 0, 0, G_OPTION_ARG_FILENAME, &options.qpfile,
      "Write key frames for --qpfile of x264 and x265", "FILE" },
  { "svt-key-frames", 0, 0, G_OPTION_ARG_FILENAME, &options.svt,
      "Write key frames for force-key-frames of SVT-AV1", "FILE" },
  { "zones", 0, 0, G_OPTION_ARG_FILENAME, &options.zones,
      "Write a zone for each scene for --zones of x264 and x265", "FILE" },
  { "transitions", 0, 0, G_OPTION_ARG_FILENAME, &options.transitions,
      "Write dissolves and fades as a table", "FILE.csv" },
  { "chapters", 0, 0, G_OPTION_ARG_FILENAME, &options.chapters,
      "Write chapters as FFmpeg metadata", "FILE" },
  { "threshold", 0, 0, G_OPTION_ARG_DOUBLE, &options.threshold,
      "Score from which a frame is the first of a scene, 0 to 1; default: 0.5",
      "SCORE" },
  { "side", 0, 0, G_OPTION_ARG_INT, &options.side,
      "Longest side of the searched picture in pixels; default: 320",
      "PIXELS" },
  { NULL },
};

/* Files that can be written, by the format of motionvectorenc */
static const struct {
  gchar **name;
  const gchar *format;
} files[] = {
  { &options.csv, "scenes-csv" },
  { &options.json, "scenes-json" },
  { &options.qpfile, "qpfile" },
  { &options.svt, "svt-key-frames" },
  { &options.zones, "zones" },
  { &options.transitions, "transitions-csv" },
  { &options.chapters, "chapters" },
};

/**
 * Search:
 * @outputs: (nullable) of files[]
 * @csv: (nullable): the table
 * @frames: of the stream
 */
typedef struct {
  const CommonOptions *common;
  const gchar *name;
  Output *outputs[G_N_ELEMENTS (files)];
  gchar *csv;
  gchar *backend;
  gint64 start;
  gdouble seconds;
} Search;

/* --- pipeline -------------------------------------------------------------- */

static gboolean
writes_files (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    if (*files[i].name != NULL)
      return TRUE;
  return FALSE;
}

/* The search samples the pictures, in CUDA memory too, without a copy of them. The table
 * is made always; the other lists only for their files.
 * @temporary: writes to the temporary names */
static gchar *
make_scenes_launch (const Search *search, gboolean temporary)
{
  GString *launch = g_string_new (NULL);

  video_append_source (launch, search->name, search->common);
  g_string_append_printf (launch,
      "! videoconvert ! cudamotionest name=motion search-size=%d "
      "method=zonal block-size=32 search-range=32 subpel=none ",
      options.side);
  if (options.threshold != 0.5)
    launch_set_double (launch, "scene-threshold", options.threshold);
  if (search->common->threads == 0) /* the others decode */
    launch_set_int (launch, "threads", 1);
  video_append_backend (launch, search->common);
  g_string_append (launch, "! fakesink");
  if (temporary || writes_files ())
    g_string_append (launch, " motion.src_vectors ! tee name=vectors");
  if (temporary)
    g_string_append (launch, " vectors. ! queue ! motionvectorenc "
                             "format=scenes-csv ! fakesink name=list");
  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    if (*files[i].name == NULL)
      continue;
    g_string_append_printf (launch,
        " vectors. ! queue ! motionvectorenc format=%s ! filesink ",
        files[i].format);
    launch_set (launch, "location",
        temporary ? output_get_temporary_name (search->outputs[i])
                  : *files[i].name);
  }
  return g_string_free (launch, FALSE);
}

static void
take_scenes_results (GstElement *pipeline, gpointer data)
{
  Search *search = data;

  search->csv = element_get_text (pipeline, "list");
  search->backend = element_get_nick (pipeline, "motion", "active-backend");
  search->seconds = (g_get_monotonic_time () - search->start) * 1e-6;
}

static gboolean
search_scenes (Search *search, GError **error)
{
  gchar *launch = make_scenes_launch (search, TRUE);
  gboolean ok;

  search->start = g_get_monotonic_time ();
  ok = pipeline_run (&(PipelineRun){ .launch = launch,
                         .label = search->name,
                         .finish = take_scenes_results,
                         .data = search,
                         .progress = !search->common->quiet,
                         .frames = "motion",
                         .quiet = search->common->quiet },
      error);
  g_free (launch);
  return ok;
}

/* --- results --------------------------------------------------------------- */

static void
print_table (const SceneTimeline *timeline, const Search *search)
{
  g_print ("scene  first frame  frames  start        length\n");
  for (guint i = 0; i < timeline->n; i++) {
    const TimelineScene *scene = &timeline->scenes[i];
    gchar *start = video_format_time (scene->start * 1e9);

    g_print ("%5u  %11" G_GUINT64_FORMAT "  %6" G_GUINT64_FORMAT
             "  %s  %.3f s\n",
        i + 1, scene->first, scene->end - scene->first, start,
        scene->stop - scene->start);
    g_free (start);
  }
  g_print ("\n%u scenes in %" G_GUINT64_FORMAT
           " frames, %.2f s, %.0f frames/s, %s\n",
      timeline->n, timeline->frames, search->seconds,
      timeline->frames / MAX (search->seconds, 1e-6), search->backend);
}

static void
print_scenes_json (const SceneTimeline *timeline, const Search *search)
{
  JsonBuilder *json = json_builder_new ();

  json_builder_begin_object (json);
  json_add_string (json, "version", PACKAGE_VERSION);
  json_add_string (json, "file", search->name);
  json_add_int (json, "frames", timeline->frames);
  json_add_double (json, "seconds", search->seconds);
  json_add_string (json, "backend", search->backend);
  json_builder_set_member_name (json, "scenes");
  json_builder_begin_array (json);
  for (guint i = 0; i < timeline->n; i++) {
    json_builder_begin_object (json);
    json_add_int (json, "start-frame", timeline->scenes[i].first);
    json_add_int (json, "end-frame", timeline->scenes[i].end);
    json_add_double (json, "start-s", timeline->scenes[i].start);
    json_add_double (json, "end-s", timeline->scenes[i].stop);
    json_builder_end_object (json);
  }
  json_builder_end_array (json);
  json_builder_end_object (json);
  json_print (json);
}

static void
write_scenes_report (
    const SceneTimeline *timeline, const Search *search, GError **error)
{
  gchar *title = g_strdup_printf ("Scenes of %s", search->name);
  Report *report = report_new (title);

  report_add_paragraph (report,
      "%u scenes in %" G_GUINT64_FORMAT " frames. Searched in %.2f s: %.0f "
      "frames/s, decoding included.",
      timeline->n, timeline->frames, search->seconds,
      timeline->frames / MAX (search->seconds, 1e-6));
  scene_timeline_report (timeline, search->name, report);
  report_add_input (report, search->name);
  report_add_setting (report, "threshold", "%g", options.threshold);
  report_add_setting (report, "longest side of the searched picture",
      "%d pixels", options.side);
  report_add_setting (report, "backend", "%s", search->backend);
  report_write (report, search->common->report,
      (const gchar *const *) search->common->inputs, error);
  report_free (report);
  g_free (title);
}

/* --- command --------------------------------------------------------------- */

static gboolean
check_scenes_options (GError **error)
{
  if (!(options.threshold > 0 && options.threshold <= 1)) {
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
        "--threshold %g is not above 0 and at most 1", options.threshold);
    return FALSE;
  }
  if (options.side < 64 || options.side > 16384) {
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
        "--side %d is not in 64 to 16384", options.side);
    return FALSE;
  }
  return TRUE;
}

static gboolean
open_scenes_outputs (Search *search, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    if (*files[i].name == NULL)
      continue;
    search->outputs[i] = output_new (
        *files[i].name, (const gchar *const *) search->common->inputs, error);
    if (search->outputs[i] == NULL)
      return FALSE;
  }
  return TRUE;
}

static gboolean
close_outputs (Search *search, gboolean ok, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    ok = output_close (search->outputs[i], ok, error);
  return ok;
}

static void
run_search (Search *search, GError **error)
{
  const gchar *names[G_N_ELEMENTS (files) + 1] = { search->common->report };
  SceneTimeline *timeline;
  gboolean ok;

  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    names[i + 1] = *files[i].name;
  if (!input_check (search->name, INPUT_VIDEO, error)
      || !output_check (names, G_N_ELEMENTS (names),
          (const gchar *const *) search->common->inputs, error))
    return;
  ok = open_scenes_outputs (search, error) && search_scenes (search, error);
  if (!close_outputs (search, ok, error))
    return;
  timeline = scene_timeline_parse (search->csv);
  if (search->common->report != NULL)
    write_scenes_report (timeline, search, error);
  if (search->common->json)
    print_scenes_json (timeline, search);
  else if (!search->common->quiet)
    print_table (timeline, search);
  scene_timeline_free (timeline);
}

static ExitStatus
run_scenes (gint argc, gchar **argv)
{
  CommonOptions common;
  Search search = { &common };
  ExitStatus status;
  GError *error = NULL;

  options.threshold = 0.5;
  options.side = 320;
  if (!options_parse (&command_scenes, entries,
          OPTIONS_COMPUTE | OPTIONS_REPORT | OPTIONS_INPUT, argc, argv, &common,
          &status))
    return status;
  search.name = common.inputs[0];
  if (check_scenes_options (&error)) {
    if (common.show)
      launch_print (make_scenes_launch (&search, FALSE));
    else
      run_search (&search, &error);
  }
  status = command_end ("scenes", error);
  g_free (search.csv);
  g_free (search.backend);
  options_clear (&common);
  return status;
}

const Command command_scenes = {
  .name = "scenes",
  .arguments = "VIDEO - the scenes of a video",
  .summary = "scenes of a video: list, key frames for encoders, chapters",
  .examples = "Examples:\n"
              "  cudavision scenes film.mkv --report scenes.html\n"
              "  cudavision scenes film.mkv --qpfile keys.txt --scenes-json "
              "scenes.json",
  .run = run_scenes,
};
