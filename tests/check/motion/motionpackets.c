/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "motionpackets.h"

#include <math.h>
#include <string.h>

CvisMotionPacketField *
motion_packet_field (CvisMotionPacket *packet, guint index)
{
  return (CvisMotionPacketField *) gst_cvis_motion_packet_get_field (
      packet, index, NULL, NULL);
}

CvisMotionVector *
motion_packet_vectors (CvisMotionPacket *packet, guint index)
{
  const CvisMotionVector *vectors;

  gst_cvis_motion_packet_get_field (packet, index, &vectors, NULL);
  return (CvisMotionVector *) vectors;
}

CvisMotionBlock *
motion_packet_blocks (CvisMotionPacket *packet, guint index)
{
  const CvisMotionBlock *blocks;

  gst_cvis_motion_packet_get_field (packet, index, NULL, &blocks);
  return (CvisMotionBlock *) blocks;
}

static void
fill_field (CvisMotionPacket *packet, guint index)
{
  CvisMotionPacketField *field = motion_packet_field (packet, index);
  CvisMotionVector *vectors = motion_packet_vectors (packet, index);
  CvisMotionBlock *blocks = motion_packet_blocks (packet, index);
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
    blocks[i] =
        (CvisMotionBlock){ 10 * i + index, 20 * i, 30 * i, 40 * i, 50 * i,
          (i % 3 ? 0 : CVIS_MOTION_BLOCK_STATIC)
              | (right > packet->width || bottom > packet->height
                      ? CVIS_MOTION_BLOCK_PARTIAL
                      : 0) };
  }
}

CvisMotionPacket *
motion_packet_new (guint width, guint height, guint block_size, guint n_fields)
{
  guint columns = (width + block_size - 1) / block_size;
  guint rows = (height + block_size - 1) / block_size;
  gsize size = gst_cvis_motion_packet_get_size (columns, rows, n_fields);
  CvisMotionPacket *packet = g_malloc0 (size);

  memcpy (packet->magic, CVIS_MOTION_PACKET_MAGIC, sizeof (packet->magic));
  packet->version = CVIS_MOTION_PACKET_VERSION;
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
motion_packet_buffer (const CvisMotionPacket *packet)
{
  return gst_buffer_new_memdup (packet, packet->size);
}
