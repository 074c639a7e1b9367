/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "motionpackets.h"

#include <math.h>
#include <string.h>

MotionPacketField *
motion_packet_field (MotionPacket *packet, guint index)
{
  return (MotionPacketField *) gst_motion_packet_get_field (
      packet, index, NULL, NULL);
}

MotionVector *
motion_packet_vectors (MotionPacket *packet, guint index)
{
  const MotionVector *vectors;

  gst_motion_packet_get_field (packet, index, &vectors, NULL);
  return (MotionVector *) vectors;
}

MotionBlock *
motion_packet_blocks (MotionPacket *packet, guint index)
{
  const MotionBlock *blocks;

  gst_motion_packet_get_field (packet, index, NULL, &blocks);
  return (MotionBlock *) blocks;
}

static void
fill_field (MotionPacket *packet, guint index)
{
  MotionPacketField *field = motion_packet_field (packet, index);
  MotionVector *vectors = motion_packet_vectors (packet, index);
  MotionBlock *blocks = motion_packet_blocks (packet, index);
  guint n = packet->columns * packet->rows;

  field->distance = (gint) (index / 2 + 1) * (index % 2 ? 1 : -1);
  field->reference_time = field->distance * 40 * GST_MSECOND;
  field->summary.histogram[0] = n;
  field->summary.static_blocks = (n + 2) / 3;
  field->summary.psnr = INFINITY;
  field->summary.global_zoom = 1;
  for (guint i = 0; i < n; i++) {
    guint right = (i % packet->columns + 1) * packet->block_size;
    guint bottom = (i / packet->columns + 1) * packet->block_size;

    vectors[i].x = (gint16) (4 * i + index);
    vectors[i].y = (gint16) -i;
    vectors[i].cost = 1000 * i;
    blocks[i] = (MotionBlock){ 10 * i + index, 20 * i, 30 * i, 40 * i, 50 * i,
      (i % 3 ? 0 : MOTION_BLOCK_STATIC)
          | (right > packet->width || bottom > packet->height
                  ? MOTION_BLOCK_PARTIAL
                  : 0) };
  }
}

MotionPacket *
motion_packet_new (guint width, guint height, guint block_size, guint n_fields)
{
  guint columns = (width + block_size - 1) / block_size;
  guint rows = (height + block_size - 1) / block_size;
  gsize size = gst_motion_packet_get_size (columns, rows, n_fields);
  MotionPacket *packet = g_malloc0 (size);

  memcpy (packet->magic, MOTION_PACKET_MAGIC, sizeof (packet->magic));
  packet->version = MOTION_PACKET_VERSION;
  packet->size = size;
  packet->pts = GST_CLOCK_TIME_NONE;
  packet->width = width;
  packet->height = height;
  packet->depth = 8;
  packet->block_size = block_size;
  packet->columns = columns;
  packet->rows = rows;
  packet->n_fields = n_fields;
  for (guint i = 0; i < n_fields; i++)
    fill_field (packet, i);
  return packet;
}

GstBuffer *
motion_packet_buffer (const MotionPacket *packet)
{
  return gst_buffer_new_memdup (packet, packet->size);
}
