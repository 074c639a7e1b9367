/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <gst/video/video.h>

#include "cudavision-prelude.h"
#include "motionrecord.h"

G_BEGIN_DECLS

/* Caps of packed motion vectors: a buffer holds one MotionPacket. */
#define GST_MOTION_VECTORS_MEDIA_TYPE "application/x-motion-vectors"
#define GST_MOTION_VECTORS_CAPS                                                \
  GST_MOTION_VECTORS_MEDIA_TYPE ", version = (int) 1"

#define GST_MOTION_VECTOR_META_API_TYPE (gst_motion_vector_meta_api_get_type ())
#define GST_MOTION_VECTOR_META_INFO (gst_motion_vector_meta_get_info ())

typedef struct _GstMotionVectorMeta GstMotionVectorMeta;

/**
 * GstMotionVectorMeta:
 * @meta: parent
 * @packet: head of the packet the field lies in: grid, sizes, flags
 * @field: distance of the reference, its time, the summary
 * @vectors: raster of packet->columns * packet->rows
 * @blocks: likewise
 * @buffer: that holds the packet, referenced; pointers are valid as long as the
 *   meta lives
 * @offset_x, @offset_y, @scale_x, @scale_y: a point (x, y) of the analysed
 *   frame is (x * scale_x + offset_x, y * scale_y + offset_y) of this buffer:
 *   0 and 1 until something scales the picture
 *
 * The motion of a frame against one reference frame. A frame has one such meta
 * for each reference; none if it had nothing to be compared with. Tagged
 * video, size and orientation; follows copies, and scaling that keeps the
 * displayed shape of the picture.
 */
struct _GstMotionVectorMeta {
  GstMeta meta;

  const MotionPacket *packet;
  const MotionPacketField *field;
  const MotionVector *vectors;
  const MotionBlock *blocks;
  GstBuffer *buffer;
  gdouble offset_x;
  gdouble offset_y;
  gdouble scale_x;
  gdouble scale_y;
};

GST_CUDAVISION_API
GType gst_motion_vector_meta_api_get_type (void);

GST_CUDAVISION_API
const GstMetaInfo *gst_motion_vector_meta_get_info (void);

/**
 * gst_motion_packet_check:
 * @data: (array length=size) (element-type guint8): bytes from outside, at a
 *   multiple of eight
 * @size: how many
 * @error: what is wrong
 *
 * Looks at the head, and at each field's head and summary; vectors and blocks
 * may hold any numbers.
 *
 * Returns: (skip): whether @data is one whole packet that can be read; else @error is
 *   of %GST_STREAM_ERROR_DECODE
 */
GST_CUDAVISION_API
gboolean gst_motion_packet_check (
    gconstpointer data, gsize size, GError **error);

/**
 * gst_motion_packet_get_field: (skip)
 * @packet: a packet that was checked
 * @index: of the field
 * @vectors: (out) (optional): the field's vectors
 * @blocks: (out) (optional): the field's blocks
 *
 * Returns: (transfer none): the field
 */
GST_CUDAVISION_API
const MotionPacketField *gst_motion_packet_get_field (
    const MotionPacket *packet, guint index, const MotionVector **vectors,
    const MotionBlock **blocks);

/**
 * gst_motion_packet_get_size:
 * @columns: of the grid
 * @rows: of the grid
 * @n_fields: of the packet
 *
 * Returns: bytes of such a packet
 */
GST_CUDAVISION_API
gsize gst_motion_packet_get_size (guint columns, guint rows, guint n_fields);

/**
 * gst_buffer_add_motion_vector_metas:
 * @buffer: (transfer none): a writable frame
 * @packet: (transfer none): a buffer that holds a packet, in one memory that
 *   stays where it is when it is not mapped, as that of the system does
 *
 * Adds a meta for each field of @packet.
 *
 * Returns: how many; 0 also if @packet is none
 */
GST_CUDAVISION_API
guint gst_buffer_add_motion_vector_metas (GstBuffer *buffer, GstBuffer *packet);

/**
 * gst_buffer_get_motion_vector_meta:
 * @buffer: a buffer
 * @distance: of the reference, in frames; -1: the frame before
 *
 * Returns: (transfer none) (nullable): the meta for that reference, valid as
 *   long as the buffer has it; %NULL if there is none
 */
GST_CUDAVISION_API
GstMotionVectorMeta *gst_buffer_get_motion_vector_meta (
    GstBuffer *buffer, gint distance);

/**
 * gst_motion_vector_meta_get_block:
 * @meta: a meta
 * @column: of the block
 * @row: of the block
 * @rect: (out caller-allocates) (optional): the block in pixels of this buffer, rounded
 * @x: (out) (optional): the vector's x in pixels of this buffer
 * @y: (out) (optional): its y
 *
 * Returns: (transfer none) (nullable): the block's measures; %NULL beyond the
 *   grid
 */
GST_CUDAVISION_API
const MotionBlock *gst_motion_vector_meta_get_block (
    const GstMotionVectorMeta *meta, guint column, guint row,
    GstVideoRectangle *rect, gdouble *x, gdouble *y);

/**
 * gst_motion_vector_meta_get_vector_bytes:
 * @meta: a meta
 *
 * The vectors for programs that cannot read a #MotionVector in place. The bytes
 * stay valid when the buffer is gone.
 *
 * Returns: (transfer full): the bytes of rows * columns #MotionVector, not copied
 */
GST_CUDAVISION_API
GBytes *gst_motion_vector_meta_get_vector_bytes (
    const GstMotionVectorMeta *meta);

/**
 * gst_motion_vector_meta_get_block_bytes:
 * @meta: a meta
 *
 * As gst_motion_vector_meta_get_vector_bytes(), of the blocks' measures.
 *
 * Returns: (transfer full): the bytes of rows * columns #MotionBlock, not copied
 */
GST_CUDAVISION_API
GBytes *gst_motion_vector_meta_get_block_bytes (
    const GstMotionVectorMeta *meta);

G_END_DECLS
