/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Cropping by cudaroicrop does not change the results of cudapbfmonitor,
 * except that coordinates differ by the crop's offset. */
#include <gst/cudavision/cudavision.h>
#include <gst/gst.h>
#include <string.h>
#include "sinksums.h"

#define FRAMES 3000

static void
take_records (
    GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer records)
{
  GstMapInfo map;

  g_assert_true (gst_buffer_map (buffer, &map, GST_MAP_READ));
  g_assert_true (map.size % sizeof (CvisPbfResult) == 0);
  g_array_append_vals (records, map.data, map.size / sizeof (CvisPbfResult));
  gst_buffer_unmap (buffer, &map);
}

/* The records of pbftestsrc ! @crop cudapbfmonitor with @settings. */
static GArray *
run (const gchar *regime, const gchar *crop, const gchar *settings)
{
  gchar *line = g_strdup_printf (
      "pbftestsrc num-buffers=%d seed=11 regime=%s frames-per-list=64 ! %s "
      "cudapbfmonitor name=m backend=cpu %s ! fakesink sync=false async=false  "
      "m.src_result ! fakesink name=sink sync=false async=false "
      "signal-handoffs=true",
      FRAMES, regime, crop, settings);
  GArray *records = g_array_new (FALSE, FALSE, sizeof (CvisPbfResult));
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (line, &error), *sink;

  if (error != NULL)
    g_error ("%s: %s", line, error->message);
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_signal_connect (sink, "handoff", G_CALLBACK (take_records), records);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  sinks_wait_for_eos (pipeline, line);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  g_free (line);
  return records;
}

/* Converts the record of a crop to the coordinates of the whole frame. An
 * aligned crop is not centred on the position, so the monitor reports that
 * the crop's edge limits its region: the one flag that differs. */
static CvisPbfResult
moved (const CvisPbfResult *crop, const CvisPbfResult *whole)
{
  gint x = whole->roi_x - crop->roi_x, y = whole->roi_y - crop->roi_y;
  CvisPbfResult r = *crop;
  guint i;

  r.flags &= ~CVIS_PBF_RESULT_ROI_CLAMPED;
  r.flags |= whole->flags & CVIS_PBF_RESULT_ROI_CLAMPED;
  r.roi_x += x;
  r.roi_y += y;
  r.e_x_q8 += x * 256;
  r.e_y_q8 += y * 256;
  if (r.bbox_width > 0) {
    r.centroid_x_q8 += x * 256;
    r.centroid_y_q8 += y * 256;
    r.bbox_x += x;
    r.bbox_y += y;
  }
  for (i = 0; i < r.n_spatters; i++) {
    r.spatters[i].x_q8 += x * 256;
    r.spatters[i].y_q8 += y * 256;
  }
  return r;
}

static void
compare (const gchar *regime, const gchar *crop, const gchar *settings)
{
  GArray *whole = run (regime, "", settings);
  GArray *cropped = run (regime, crop, settings);
  guint i, lit = 0;

  g_assert_cmpuint (whole->len, ==, FRAMES);
  g_assert_cmpuint (cropped->len, ==, FRAMES);
  for (i = 0; i < FRAMES; i++) {
    const CvisPbfResult *w = &g_array_index (whole, CvisPbfResult, i);
    const CvisPbfResult *c = &g_array_index (cropped, CvisPbfResult, i);
    CvisPbfResult m;

    g_assert_cmpuint (
        w->flags & CVIS_PBF_RESULT_EMPTY, ==, c->flags & CVIS_PBF_RESULT_EMPTY);
    if (w->flags & CVIS_PBF_RESULT_EMPTY)
      continue;
    m = moved (c, w);
    if (memcmp (w, &m, sizeof m) != 0)
      g_error ("%s, frame %u: the crop's record differs", regime, i);
    lit++;
  }
  g_print ("%s: %u frames equal\n", regime, lit);
  g_assert_cmpuint (lit, >, FRAMES / 2);
  g_array_unref (whole);
  g_array_unref (cropped);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  compare ("mixed", "cudaroicrop !", "");
  compare ("spatter", "cudaroicrop roi-align=16 !", "roi-align=16");
  compare ("drift", "cudaroicrop signal-delay=100 !", "signal-delay=100");
  compare ("nominal", "cudaroicrop zero-copy=true !", "");
  return 0;
}
