/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Scenes as a time line. Called by scenes.c. */
#include "scenetimeline.h"

#include "tools/plot.h"
#include "tools/video.h"

/* A page with more pictures would be too large; the table has all scenes. */
#define MAX_THUMBNAILS 60

SceneTimeline *
scene_timeline_parse (const gchar *csv)
{
  SceneTimeline *timeline = g_new0 (SceneTimeline, 1);
  gchar **lines = g_strsplit (csv != NULL ? csv : "", "\n", -1);

  timeline->scenes = g_new0 (TimelineScene, g_strv_length (lines) + 1);
  for (guint i = 1; lines[0] != NULL && lines[i] != NULL; i++) {
    gchar **fields = g_strsplit (lines[i], ",", -1);

    if (g_strv_length (fields) == 5) {
      timeline->scenes[timeline->n++] = (TimelineScene){
        g_ascii_strtoull (fields[1], NULL, 10),
        g_ascii_strtoull (fields[2], NULL, 10),
        g_ascii_strtod (fields[3], NULL),
        g_ascii_strtod (fields[4], NULL),
      };
      timeline->frames = timeline->scenes[timeline->n - 1].end;
    }
    g_strfreev (fields);
  }
  g_strfreev (lines);
  return timeline;
}

void
scene_timeline_free (SceneTimeline *timeline)
{
  g_free (timeline->scenes);
  g_free (timeline);
}

/* Length of the scene that is shown at each moment, as steps */
static void
add_lengths (const SceneTimeline *timeline, Report *report)
{
  gdouble *x = g_new (gdouble, 2 * timeline->n),
          *y = g_new (gdouble, 2 * timeline->n);
  GString *svg = g_string_new (NULL);
  const Plot plot = { .label = "Length of the scenes over time",
    .x_label = "time, s",
    .y_label = "length of the scene, s" };

  for (guint i = 0; i < timeline->n; i++) {
    const TimelineScene *scene = &timeline->scenes[i];

    x[2 * i] = scene->start;
    x[2 * i + 1] = scene->stop;
    y[2 * i] = y[2 * i + 1] = scene->stop - scene->start;
  }
  plot_lines (svg, &plot, &(PlotSeries){ NULL, x, y, 2 * timeline->n }, 1);
  report_add_plot (report, svg->str,
      "Length of the scenes over time. Each step is a scene.");
  g_string_free (svg, TRUE);
  g_free (x);
  g_free (y);
}

static void
add_thumbnails (
    const SceneTimeline *timeline, const gchar *video, Report *report)
{
  const guint n = MIN (timeline->n, MAX_THUMBNAILS);

  report_begin_pictures (report);
  for (guint i = 0; i < n && !interrupted (); i++) {
    const TimelineScene *scene = &timeline->scenes[i];
    gchar *start = video_format_time (scene->start * 1e9);
    gchar *caption = g_strdup_printf (
        "Scene %u at %s, frame %" G_GUINT64_FORMAT, i + 1, start, scene->first);
    GstSample *picture =
        video_take_picture (video, scene->start * 1e9, 320, NULL);

    report_add_picture (report, picture, caption);
    if (picture != NULL)
      gst_sample_unref (picture);
    g_free (start);
    g_free (caption);
  }
  report_end_pictures (report);
  if (n < timeline->n)
    report_add_paragraph (
        report, "The first %u of %u scenes have a picture.", n, timeline->n);
}

void
scene_timeline_report (
    const SceneTimeline *timeline, const gchar *video, Report *report)
{
  static const gchar *const head[] = { "scene", "first frame", "frames",
    "start", "length, s", NULL };

  add_lengths (timeline, report);
  add_thumbnails (timeline, video, report);
  report_begin_table (report, head);
  for (guint i = 0; i < timeline->n; i++) {
    const TimelineScene *scene = &timeline->scenes[i];
    gchar *cells[] = { g_strdup_printf ("%u", i + 1),
      g_strdup_printf ("%" G_GUINT64_FORMAT, scene->first),
      g_strdup_printf ("%" G_GUINT64_FORMAT, scene->end - scene->first),
      video_format_time (scene->start * 1e9),
      g_strdup_printf ("%.3f", scene->stop - scene->start), NULL };

    report_add_row (report, (const gchar *const *) cells);
    for (guint j = 0; cells[j] != NULL; j++)
      g_free (cells[j]);
  }
  report_end_table (report);
}
