/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <gst/video/video.h>

#include "cudavision-prelude.h"
#include "motionrecord.h"

G_BEGIN_DECLS

/* Caps of packed motion vectors: a buffer holds one CvisMotionPacket. */
#define GST_CVIS_MOTION_VECTORS_MEDIA_TYPE "application/x-motion-vectors"
#define GST_CVIS_MOTION_VECTORS_CAPS                                           \
  GST_CVIS_MOTION_VECTORS_MEDIA_TYPE ", version = (int) 1"

#define GST_CVIS_MOTION_VECTOR_META_API_TYPE                                   \
  (gst_cvis_motion_vector_meta_api_get_type ())
#define GST_CVIS_MOTION_VECTOR_META_INFO                                       \
  (gst_cvis_motion_vector_meta_get_info ())

typedef struct _GstCvisMotionVectorMeta GstCvisMotionVectorMeta;

/**
 * GstCvisMotionVectorMeta:
 * @meta: parent
 * @packet: header of the packet with this field: grid, sizes, flags
 * @field: distance and time of the reference, summary of the motion
 * @vectors: packet->rows rows of packet->columns vectors
 * @blocks: measures of the blocks, in the same order
 * @buffer: the buffer with the packet, referenced; the pointers are valid as long
 *   as the meta exists
 * @offset_x, @offset_y, @scale_x, @scale_y: a point (x, y) of the analysed
 *   frame is (x * scale_x + offset_x, y * scale_y + offset_y) of this buffer:
 *   0 and 1 until the picture is scaled
 *
 * The motion of a frame against one reference frame. A frame has one such meta for
 * each reference, and none without a reference. Tagged video, size and
 * orientation; kept by copies, and by scaling that keeps the displayed shape of the
 * picture.
 */
struct _GstCvisMotionVectorMeta {
  GstMeta meta;

  const CvisMotionPacket *packet;
  const CvisMotionPacketField *field;
  const CvisMotionVector *vectors;
  const CvisMotionBlock *blocks;
  GstBuffer *buffer;
  gdouble offset_x;
  gdouble offset_y;
  gdouble scale_x;
  gdouble scale_y;
};

GST_CUDAVISION_API
GType gst_cvis_motion_vector_meta_api_get_type (void);

GST_CUDAVISION_API
const GstMetaInfo *gst_cvis_motion_vector_meta_get_info (void);

/**
 * gst_cvis_motion_packet_check:
 * @data: (array length=size) (element-type guint8): bytes from outside, at an
 *   address that is a multiple of 8
 * @size: number of bytes
 * @error: what is wrong
 *
 * Checks the header, and the header and summary of each field; vectors and blocks
 * may have any values.
 *
 * Returns: (skip): whether @data is one complete, valid packet; else @error is
 *   %GST_STREAM_ERROR_DECODE
 */
GST_CUDAVISION_API
gboolean gst_cvis_motion_packet_check (
    gconstpointer data, gsize size, GError **error);

/**
 * gst_cvis_motion_packet_get_field: (skip)
 * @packet: a packet that was checked
 * @index: index of the field, below packet->n_fields
 * @vectors: (out) (optional): the field's vectors
 * @blocks: (out) (optional): the field's blocks
 *
 * Returns: (transfer none): the field
 */
GST_CUDAVISION_API
const CvisMotionPacketField *gst_cvis_motion_packet_get_field (
    const CvisMotionPacket *packet, guint index,
    const CvisMotionVector **vectors, const CvisMotionBlock **blocks);

/**
 * gst_cvis_motion_packet_get_size:
 * @columns: columns of blocks
 * @rows: rows of blocks
 * @n_fields: number of fields
 *
 * Returns: the size of such a packet in bytes
 */
GST_CUDAVISION_API
gsize gst_cvis_motion_packet_get_size (
    guint columns, guint rows, guint n_fields);

/**
 * gst_cvis_buffer_add_motion_vector_metas:
 * @buffer: (transfer none): a writable frame
 * @packet: (transfer none): a buffer with a packet, in one memory whose address
 *   stays the same when it is not mapped, such as system memory
 *
 * Adds a meta for each field of @packet.
 *
 * Returns: the number of metas added; 0 also if @packet is not a valid packet
 */
GST_CUDAVISION_API
guint gst_cvis_buffer_add_motion_vector_metas (
    GstBuffer *buffer, GstBuffer *packet);

/**
 * gst_cvis_buffer_get_motion_vector_meta:
 * @buffer: a buffer
 * @distance: distance of the reference in frames; -1: the previous frame
 *
 * Returns: (transfer none) (nullable): the meta for that reference, valid as
 *   long as the buffer has it; %NULL if there is none
 */
GST_CUDAVISION_API
GstCvisMotionVectorMeta *gst_cvis_buffer_get_motion_vector_meta (
    GstBuffer *buffer, gint distance);

/**
 * gst_cvis_motion_vector_meta_get_block:
 * @meta: a meta
 * @column: column of the block
 * @row: row of the block
 * @rect: (out caller-allocates) (optional): the block in pixels of this buffer, rounded
 * @x: (out) (optional): x of the vector in pixels of this buffer
 * @y: (out) (optional): y of the vector in pixels of this buffer
 *
 * Returns: (transfer none) (nullable): the block's measures; %NULL outside the
 *   grid
 */
GST_CUDAVISION_API
const CvisMotionBlock *gst_cvis_motion_vector_meta_get_block (
    const GstCvisMotionVectorMeta *meta, guint column, guint row,
    GstVideoRectangle *rect, gdouble *x, gdouble *y);

/**
 * gst_cvis_motion_vector_meta_get_vector_bytes:
 * @meta: a meta
 *
 * The vectors for programs that cannot read a #CvisMotionVector in place. The bytes
 * stay valid when the buffer is freed.
 *
 * Returns: (transfer full): the bytes of rows * columns #CvisMotionVector, not copied
 */
GST_CUDAVISION_API
GBytes *gst_cvis_motion_vector_meta_get_vector_bytes (
    const GstCvisMotionVectorMeta *meta);

/**
 * gst_cvis_motion_vector_meta_get_block_bytes:
 * @meta: a meta
 *
 * Like gst_cvis_motion_vector_meta_get_vector_bytes(), for the measures of the blocks.
 *
 * Returns: (transfer full): the bytes of rows * columns #CvisMotionBlock, not copied
 */
GST_CUDAVISION_API
GBytes *gst_cvis_motion_vector_meta_get_block_bytes (
    const GstCvisMotionVectorMeta *meta);

G_END_DECLS
