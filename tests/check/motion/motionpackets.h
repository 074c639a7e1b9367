/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Packets of motion vectors for tests. */
#pragma once

#include <gst/cudavision/gstmotionmeta.h>

G_BEGIN_DECLS

/* A valid packet of @n_fields fields with distances -1, +1, -2, +2, ...,
 * which tests may modify. Block i of field f has the vector (4i + f, -i),
 * the cost 1000i and the measures 10i + f, 20i, 30i, 40i, 50i; it is static
 * if i is a multiple of three, and partial where it is at the edge. Free
 * with g_free(). */
CvisMotionPacket *motion_packet_new (
    guint width, guint height, guint block_size, guint n_fields);

/* Writable contents of field @index of @packet. */
CvisMotionPacketField *motion_packet_field (
    CvisMotionPacket *packet, guint index);
CvisMotionVector *motion_packet_vectors (CvisMotionPacket *packet, guint index);
CvisMotionBlock *motion_packet_blocks (CvisMotionPacket *packet, guint index);

/* A buffer with a copy of the packet. */
GstBuffer *motion_packet_buffer (const CvisMotionPacket *packet);

G_END_DECLS
