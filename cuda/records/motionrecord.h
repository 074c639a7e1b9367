/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Motion of a frame: a vector and measures for each block, a summary, and
 * the packet that carries them over a pad or into a file. Public: installed
 * with the library of metas. All structs have natural alignment and no
 * padding.
 *
 * A field is a raster of blocks, columns = ceil (width / block_size) by rows
 * = ceil (height / block_size); the blocks of the last column and row may be
 * smaller. Frames, vectors and blocks refer to luma. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/**
 * CvisMotionVector:
 * @x: quarter pixels, to the right: position of the block in the reference
 *   frame relative to its own
 * @y: quarter pixels, downwards
 * @cost: J = SAD + lambda * bits, in units of the samples' full depth
 *
 * 8 bytes, the layout of hardware encoders.
 */
typedef struct {
  gint16 x, y;
  guint32 cost;
} CvisMotionVector;

typedef enum {
  /* smaller than block_size, at the right or lower edge */
  CVIS_MOTION_BLOCK_PARTIAL = 1 << 0,
  /* the zero vector, with a mean difference of at most one level of 256; with
   * CVIS_MOTION_BLOCK_RATED, at most a quarter pixel each way, with at most that and
   * 1.5 times the frame's noise */
  CVIS_MOTION_BLOCK_STATIC = 1 << 1,
  /* the block's own mean predicts it better than the vector */
  CVIS_MOTION_BLOCK_INTRA_LIKE = 1 << 2,
  /* flat or unchanged, as in a bar or a logo, or beside such a block: not
   * counted in the summary */
  CVIS_MOTION_BLOCK_CONSTANT = 1 << 3,
  /* bits 24 to 31 of the flags hold the vector's confidence */
  CVIS_MOTION_BLOCK_RATED = 1 << 4,
} CvisMotionBlockFlags;

/* Position of the confidence in the flags of a block, bits */
#define CVIS_MOTION_BLOCK_CONFIDENCE_SHIFT 24

/**
 * CvisMotionBlock:
 * @sad: sum of absolute differences at the vector
 * @zero_sad: the same at the zero vector
 * @second: cost of the second best whole-pixel vector that the method
 *   visited; G_MAXUINT32 if it visited only one. Close to the best cost: the
 *   vector is ambiguous
 * @intra: sum of |sample - mean|, the mean rounded to an integer
 * @sse: sum of squared differences at the vector
 * @flags: of CvisMotionBlockFlags; with CVIS_MOTION_BLOCK_RATED, bits 24 to 31 are the
 *   probability that the vector is within a pixel of the motion, in 1/256
 *   (cvis_motion_block_get_confidence()); otherwise these bits are 0
 *
 * 24 bytes; sums over the block's samples in full depth.
 */
typedef struct {
  guint32 sad;
  guint32 zero_sad;
  guint32 second;
  guint32 intra;
  guint32 sse;
  guint32 flags;
} CvisMotionBlock;

#ifndef __GI_SCANNER__
/* The confidence of a block's vector: 0 to 255, the probability that it is within a
 * pixel of the motion, in 1/256; -1 if the search method gives none. */
static inline gint
cvis_motion_block_get_confidence (const CvisMotionBlock *block)
{
  return block->flags & CVIS_MOTION_BLOCK_RATED
             ? (gint) (block->flags >> CVIS_MOTION_BLOCK_CONFIDENCE_SHIFT)
             : -1;
}
#endif

#define CVIS_MOTION_HISTOGRAM_BINS 12

/**
 * CvisMotionSummary:
 * @residue: sum of the used blocks' sad; used: without the flag
 *   CVIS_MOTION_BLOCK_CONSTANT
 * @zero_residue: sum of the used blocks' zero_sad
 * @intra: sum of the used blocks' intra
 * @sse: sum of the used blocks' sse
 * @static_blocks: used blocks with the flag CVIS_MOTION_BLOCK_STATIC
 * @intra_blocks: used blocks with the flag CVIS_MOTION_BLOCK_INTRA_LIKE
 * @histogram: used blocks by the larger of |x| and |y| in quarter pixels: zero;
 *   1; 2 to 3; 4 to 7; ... ; 1024 and more
 * @psnr: of the motion-compensated prediction, dB; infinite if it is exact
 * @scene_score: sum over the used blocks of min (sad, intra), divided by the sum
 *   of intra: 0 for a frame that motion explains, 1 for one that it does
 *   not; 0 if intra is 0
 * @global_x: motion of the frame's centre, pixels, to the right
 * @global_y: the same, downwards
 * @global_zoom: size of the reference's content divided by this frame's; 1:
 *   no zoom
 * @global_rotation: radians, from the x axis towards the y axis
 * @global_share: share of the used blocks that agree with the global motion, 0..1
 *
 * Summary of a field.
 */
typedef struct {
  guint64 residue;
  guint64 zero_residue;
  guint64 intra;
  guint64 sse;
  guint32 static_blocks;
  guint32 intra_blocks;
  guint32 histogram[CVIS_MOTION_HISTOGRAM_BINS];
  gdouble psnr;
  gdouble scene_score;
  gdouble global_x;
  gdouble global_y;
  gdouble global_zoom;
  gdouble global_rotation;
  gdouble global_share;
} CvisMotionSummary;

typedef enum {
  /* first of a stream: no frame before it */
  CVIS_MOTION_FRAME_FIRST = 1 << 0,
  /* the same samples as the frame before */
  CVIS_MOTION_FRAME_DUPLICATE = 1 << 1,
  /* the first frame of another scene */
  CVIS_MOTION_FRAME_SCENE_CUT = 1 << 2,
  /* bits 16 to 31 of the flags hold the noise level */
  CVIS_MOTION_FRAME_NOISE = 1 << 3,
} CvisMotionFrameFlags;

/* Position of the noise level in the flags of a packet, bits */
#define CVIS_MOTION_FRAME_NOISE_SHIFT 16

/* --- the packet of a frame --------------------------------------------------
 * CvisMotionPacket, then for each field CvisMotionPacketField, columns * rows
 * CvisMotionVector and columns * rows CvisMotionBlock. Little endian. */

#define CVIS_MOTION_PACKET_MAGIC "MOTV"
#define CVIS_MOTION_PACKET_VERSION 2
#define CVIS_MOTION_MAX_FIELDS 8

/**
 * CvisMotionPacket:
 * @magic: CVIS_MOTION_PACKET_MAGIC
 * @version: CVIS_MOTION_PACKET_VERSION; 1, with the same layout, in packets of
 *   release 0.1.0: without CVIS_MOTION_BLOCK_CONSTANT, so that summaries count all
 *   blocks
 * @size: bytes of the whole packet
 * @frame: number of the frame in its stream, from 0
 * @pts: of the frame, ns; G_MAXUINT64 if it has none
 * @width: of the frame, pixels
 * @height: of the frame, pixels
 * @depth: bits of a sample
 * @block_size: width and height of a block, pixels
 * @columns: of the grid
 * @rows: of the grid
 * @flags: of CvisMotionFrameFlags; with CVIS_MOTION_FRAME_NOISE, bits 16 to 31 are the
 *   standard deviation of the noise in 1/16 levels of 8 bits
 *   (cvis_motion_packet_get_noise()); otherwise these bits are 0
 * @n_fields: 0..CVIS_MOTION_MAX_FIELDS
 *
 * Header of a packet, 64 bytes.
 */
typedef struct {
  gchar magic[4];
  guint32 version;
  guint64 size;
  guint64 frame;
  guint64 pts;
  guint32 width, height;
  guint32 depth;
  guint32 block_size;
  guint32 columns, rows;
  guint32 flags;
  guint32 n_fields;
} CvisMotionPacket;

#ifndef __GI_SCANNER__
/* Standard deviation of the frame's noise in levels of 8 bits; negative if the search
 * method does not estimate it. */
static inline gdouble
cvis_motion_packet_get_noise (const CvisMotionPacket *packet)
{
  return packet->flags & CVIS_MOTION_FRAME_NOISE
             ? (packet->flags >> CVIS_MOTION_FRAME_NOISE_SHIFT) / 16.0
             : -1.0;
}
#endif

/**
 * CvisMotionPacketField:
 * @distance: frames from the searched frame to the reference: -1: the frame
 *   before
 * @reserved: 0
 * @reference_time: the reference's pts minus the frame's, ns; G_MININT64 if
 *   one of them has none
 * @summary: of the field
 *
 * Header of a field: its reference and its summary.
 */
typedef struct {
  gint32 distance;
  guint32 reserved;
  gint64 reference_time;
  CvisMotionSummary summary;
} CvisMotionPacketField;

#ifndef __GI_SCANNER__
G_STATIC_ASSERT (sizeof (CvisMotionVector) == 8);
G_STATIC_ASSERT (sizeof (CvisMotionBlock) == 24);
G_STATIC_ASSERT (sizeof (CvisMotionPacket) == 64);
G_STATIC_ASSERT (sizeof (CvisMotionSummary) == 144);
G_STATIC_ASSERT (sizeof (CvisMotionPacketField) == 160);
#endif

G_END_DECLS
