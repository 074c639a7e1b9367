/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A program that only uses the installed headers and library: attaches each
 * public meta to a buffer and reads it back. */
#include <gst/cudavision/cudavision.h>
#include <stdio.h>
#include <string.h>

static int
attach_all (GstBuffer *buffer)
{
  CvisPbfSignal signal = { .magic = CVIS_PBF_SIGNAL_MAGIC,
    .frame_counter = 42 };
  GstBuffer *records =
      gst_buffer_new_allocate (NULL, sizeof (CvisPbfResult), NULL);
  GstMapInfo map;
  CvisPbfResult *result;
  GstCvisPbfMeta *meta;
  GBytes *bytes;
  int ok;

  if (!gst_buffer_map (records, &map, GST_MAP_READWRITE))
    return 0;
  result = (CvisPbfResult *) map.data;
  memset (result, 0, sizeof *result);
  result->raw[CVIS_PBF_MP_AREA] = 123;
  meta = gst_cvis_buffer_add_pbf_meta (buffer, records, result, 1000);
  gst_buffer_unmap (records, &map);
  gst_buffer_unref (records);
  gst_cvis_buffer_add_pbf_signal_meta (buffer, &signal);
  gst_cvis_buffer_add_pbf_truth_meta (buffer)->n_spatters = 2;
  gst_cvis_buffer_add_frame_crop_meta (buffer)->x = -5;
  ok = gst_cvis_buffer_get_pbf_meta (buffer) == meta
       && meta->result->raw[CVIS_PBF_MP_AREA] == 123 && meta->latency == 1000
       && gst_cvis_buffer_get_pbf_signal_meta (buffer)->signal.frame_counter
              == 42
       && gst_cvis_buffer_get_pbf_truth_meta (buffer)->n_spatters == 2
       && gst_cvis_buffer_get_frame_crop_meta (buffer)->x == -5;
  bytes = gst_cvis_pbf_meta_get_result_bytes (meta);
  ok = ok && g_bytes_get_data (bytes, NULL) == meta->result
       && g_bytes_get_size (bytes) == sizeof (CvisPbfResult);
  g_bytes_unref (bytes);
  return ok;
}

/* a frame of one block at rest */
static int
attach_motion (GstBuffer *buffer)
{
  const gsize size = gst_cvis_motion_packet_get_size (1, 1, 1);
  CvisMotionPacket *packet = g_malloc0 (size);
  CvisMotionPacketField *field;
  GstBuffer *bytes;
  int ok;

  memcpy (packet->magic, CVIS_MOTION_PACKET_MAGIC, sizeof packet->magic);
  packet->version = CVIS_MOTION_PACKET_VERSION;
  packet->size = size;
  packet->width = packet->height = packet->block_size = 16;
  packet->depth = 8;
  packet->columns = packet->rows = packet->n_fields = 1;
  field = (CvisMotionPacketField *) gst_cvis_motion_packet_get_field (
      packet, 0, NULL, NULL);
  field->distance = -1;
  field->summary.histogram[0] = 1;
  bytes = gst_buffer_new_wrapped (packet, size);
  ok = gst_cvis_buffer_add_motion_vector_metas (buffer, bytes) == 1
       && gst_cvis_buffer_get_motion_vector_meta (buffer, -1)->packet == packet;
  gst_buffer_unref (bytes);
  return ok;
}

int
main (int argc, char **argv)
{
  GstBuffer *buffer;
  int ok;

  gst_init (&argc, &argv);
  buffer = gst_buffer_new ();
  ok = attach_all (buffer) && attach_motion (buffer);
  gst_buffer_unref (buffer);
  printf ("%s: %s\n", GST_CVIS_PBF_RESULT_CAPS,
      ok ? "all metas" : "metas are wrong");
  return ok ? 0 : 1;
}
