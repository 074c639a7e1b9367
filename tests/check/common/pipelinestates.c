/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "pipelinestates.h"

#include <gst/gst.h>

static void
up_and_down (GstElement *pipeline, guint round)
{
  GstStateChangeReturn ret = gst_element_set_state (
      pipeline, round % 2 ? GST_STATE_PLAYING : GST_STATE_PAUSED);

  g_assert_cmpint (ret, !=, GST_STATE_CHANGE_FAILURE);
  if (round % 3 == 0) {
    ret = gst_element_get_state (pipeline, NULL, NULL, 20 * GST_SECOND);
    g_assert_cmpint (ret, ==, GST_STATE_CHANGE_SUCCESS);
  }
  ret = gst_element_set_state (
      pipeline, round % 5 ? GST_STATE_READY : GST_STATE_NULL);
  g_assert_cmpint (ret, ==, GST_STATE_CHANGE_SUCCESS);
}

void
pipeline_states (const gchar *line)
{
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (line, &error);

  g_assert_no_error (error);
  for (guint round = 0; round < 50; round++)
    up_and_down (pipeline, round);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}
