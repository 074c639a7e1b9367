/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Motion over time. Called by motion.c. */
#include "motioncourse.h"

#include <gst/cudavision/gstmotionmeta.h>
#include <math.h>

#include "tools/plot.h"

#define BINS 64 /* of one pixel; the last one has the longer vectors too */

struct _MotionCourse {
  GArray *frames, *means; /* of gdouble */
  gdouble counts[BINS];
  gdouble sum;
  guint64 n;
};

MotionCourse *
motion_course_new (void)
{
  MotionCourse *course = g_new0 (MotionCourse, 1);

  course->frames = g_array_new (FALSE, FALSE, sizeof (gdouble));
  course->means = g_array_new (FALSE, FALSE, sizeof (gdouble));
  return course;
}

void
motion_course_free (MotionCourse *course)
{
  g_array_unref (course->frames);
  g_array_unref (course->means);
  g_free (course);
}

void
motion_course_add (MotionCourse *course, const CvisMotionPacket *packet)
{
  const guint n = packet->columns * packet->rows;
  const CvisMotionVector *vectors;
  const CvisMotionBlock *blocks;
  const gdouble frame = packet->frame;
  gdouble sum = 0;

  if (packet->n_fields == 0)
    return;
  gst_cvis_motion_packet_get_field (packet, 0, &vectors, &blocks);
  for (guint i = 0; i < n; i++) {
    const gdouble length = hypot (vectors[i].x, vectors[i].y) / 4;

    sum += length;
    course->counts[MIN ((guint) length, BINS - 1)]++;
  }
  course->sum += sum;
  course->n += n;
  sum /= n;
  g_array_append_val (course->frames, frame);
  g_array_append_val (course->means, sum);
}

gdouble
motion_course_get_mean (const MotionCourse *course)
{
  return course->n > 0 ? course->sum / course->n : NAN;
}

void
motion_course_report (const MotionCourse *course, Report *report)
{
  GString *svg = g_string_new (NULL);
  gdouble shares[BINS];
  guint bins = 1;

  plot_lines (svg,
      &(Plot){ .label = "Mean length of the vectors of each frame",
          .x_label = "frame",
          .y_label = "mean length, pixels" },
      &(PlotSeries){ NULL, (const gdouble *) course->frames->data,
          (const gdouble *) course->means->data, course->frames->len },
      1);
  report_add_plot (
      report, svg->str, "Mean length of the vectors of each frame");
  for (guint i = 0; i < BINS; i++) {
    shares[i] = 100 * course->counts[i] / MAX (course->n, 1);
    if (course->counts[i] > 0)
      bins = i + 1;
  }
  g_string_truncate (svg, 0);
  plot_bars (svg,
      &(Plot){ .label = "Histogram of the lengths of the vectors",
          .x_label = "length, pixels",
          .y_label = "share of the blocks, %" },
      0, 1, shares, bins);
  report_add_plot (report, svg->str, "Histogram of the lengths of the vectors");
  g_string_free (svg, TRUE);
}
