/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The list of scenes that motionvectorenc wrote, and its page of thumbnails. */
#pragma once

#include "tools/report.h"

G_BEGIN_DECLS

/**
 * TimelineScene:
 * @first, @end: frames, end exclusive
 * @start, @stop: seconds; 0 if unknown
 */
typedef struct {
  guint64 first, end;
  gdouble start, stop;
} TimelineScene;

typedef struct {
  TimelineScene *scenes;
  guint n;
  guint64 frames;
} SceneTimeline;

/* @csv: (nullable): text of motionvectorenc format=scenes-csv */
SceneTimeline *scene_timeline_parse (const gchar *csv);
void scene_timeline_free (SceneTimeline *timeline);

/* Adds the time line and a thumbnail of each scene of @video. */
void scene_timeline_report (
    const SceneTimeline *timeline, const gchar *video, Report *report);

G_END_DECLS
