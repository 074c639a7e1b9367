/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A program that knows the installed headers and library only: attaches each
 * public meta to a buffer and reads it back. */
#include <gst/cudavision/cudavision.h>
#include <stdio.h>
#include <string.h>

static int
attach_all (GstBuffer *buffer)
{
  PbfSignal signal = { .magic = PBF_SIGNAL_MAGIC, .frame_counter = 42 };
  GstBuffer *records = gst_buffer_new_allocate (NULL, sizeof (PbfResult), NULL);
  GstMapInfo map;
  PbfResult *result;
  GstPbfMeta *meta;
  int ok;

  if (!gst_buffer_map (records, &map, GST_MAP_READWRITE))
    return 0;
  result = (PbfResult *) map.data;
  memset (result, 0, sizeof *result);
  result->raw[PBF_MP_AREA] = 123;
  meta = gst_buffer_add_pbf_meta (buffer, records, result, 1000);
  gst_buffer_unmap (records, &map);
  gst_buffer_unref (records);
  gst_buffer_add_pbf_signal_meta (buffer, &signal);
  gst_buffer_add_pbf_truth_meta (buffer)->n_spatters = 2;
  gst_buffer_add_frame_crop_meta (buffer)->x = -5;
  ok = gst_buffer_get_pbf_meta (buffer) == meta
       && meta->result->raw[PBF_MP_AREA] == 123 && meta->latency == 1000
       && gst_buffer_get_pbf_signal_meta (buffer)->signal.frame_counter == 42
       && gst_buffer_get_pbf_truth_meta (buffer)->n_spatters == 2
       && gst_buffer_get_frame_crop_meta (buffer)->x == -5;
  return ok;
}

int
main (int argc, char **argv)
{
  GstBuffer *buffer;
  int ok;

  gst_init (&argc, &argv);
  buffer = gst_buffer_new ();
  ok = attach_all (buffer);
  gst_buffer_unref (buffer);
  printf (
      "%s: %s\n", GST_PBF_RESULT_CAPS, ok ? "all metas" : "metas are wrong");
  return ok ? 0 : 1;
}
