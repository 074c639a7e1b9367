/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The camera link: grey frames with their machine signals as datagrams, and the
 * other way round. The same packet, with a whole frame in it, is the unit of
 * recordings.
 *
 * A packet, little-endian, at any alignment:
 *
 *   offset  type
 *        0  u32  magic "PBFP"
 *        4  u16  version, 1
 *        6  u16  flags; 1: a record of 64 bytes follows the header (only in the
 *                fragment at offset 0)
 *        8  u32  size of the packet in bytes, with header and CRC
 *       12  u32  frame_counter: one more for each frame sent, wraps at 2^32
 *       16  u16  width of the frame, pixels, 1 to 4096
 *       18  u16  height
 *       20  u32  offset of this fragment in the frame's pixels, bytes: a
 *                multiple of fragment_size
 *       24  u32  fragment_size: bytes of each fragment of the frame but the
 *                last; at least 256 unless the frame is one fragment
 *       28  u32  stream: another value whenever the counter starts again
 *       32  u64  t_ns: the sender's time of the frame, ns; all ones: none
 *       40  u32  duration_ns of the frame; 0: unknown
 *       44  u32  reserved, 0
 *       48       the record (CvisPbfSignal), if flags say so
 *                the fragment's pixels: rows of width bytes without gaps
 *      end  u32  CRC-32C of all bytes before it
 *
 * A CRC detects damage, not forgery: anybody who can send to the port can send
 * frames. */
#pragma once

#include "cuda/records/machinesignal.h"

G_BEGIN_DECLS

#define PBF_PACKET_MAGIC 0x50464250u /* "PBFP" */
#define PBF_PACKET_VERSION 1
#define PBF_PACKET_HEADER 48
#define PBF_PACKET_SIGNAL 64
/* bytes of a packet that are not pixels, at most */
#define PBF_PACKET_OVERHEAD (PBF_PACKET_HEADER + PBF_PACKET_SIGNAL + 4)
#define PBF_PACKET_MIN_FRAGMENT 256
#define PBF_PACKET_MAX_SIDE 4096
#define PBF_PACKET_NO_TIME G_MAXUINT64

/**
 * PbfPacket:
 * @signal: (nullable): 64 bytes as they came; of the fragment at offset 0
 * @pixels: of the fragment, in the bytes that were parsed
 * Others: as above
 */
typedef struct {
  guint32 frame_counter;
  guint32 stream;
  guint32 width, height;
  guint32 offset;
  guint32 fragment_size;
  guint32 duration_ns;
  guint64 t_ns;
  const guint8 *signal;
  const guint8 *pixels;
} PbfPacket;

typedef enum {
  PBF_PACKET_OK,
  PBF_PACKET_RUBBISH, /* not a packet, or contradictory fields */
  PBF_PACKET_CORRUPT, /* the CRC does not match */
} PbfPacketFault;

/* Parses @bytes, which must be exactly one packet. @packet points into them
 * and is changed only on success. */
PbfPacketFault pbf_packet_parse (
    const guint8 *bytes, gsize size, PbfPacket *packet);

/* Reads a record's fields unchecked; they may be corrupt. */
void pbf_packet_read_signal (const guint8 bytes[64], CvisPbfSignal *signal);

/* Bytes of pixels in the fragment. */
guint32 pbf_packet_fragment_bytes (const PbfPacket *packet);
/* Bytes of the whole packet. */
gsize pbf_packet_bytes (const PbfPacket *packet);
/* Writes pbf_packet_bytes() bytes: header, @packet->signal if set, the
 * fragment of the frame whose top left pixel is at @frame and whose rows are
 * @stride bytes apart, CRC. */
void pbf_packet_write (
    const PbfPacket *packet, const guint8 *frame, gsize stride, guint8 *bytes);

/* Copies the fragment's pixels to their positions in a frame with rows
 * @stride bytes apart. */
void pbf_packet_read_pixels (
    const PbfPacket *packet, guint8 *frame, gsize stride);

/* A fragment size that gives about equal fragments of at most @most bytes. */
guint32 pbf_packet_split (guint width, guint height, guint most);

/* --- assembly of frames -------------------------------------------------- */

/**
 * PbfFrameHead: a complete frame
 * @number: frames of the stream before it, including lost ones
 * @lost_before: frames lost directly before it
 * @signal: (nullable): 64 bytes as received
 */
typedef struct {
  guint64 number;
  guint32 frame_counter;
  guint32 lost_before;
  guint32 duration_ns;
  guint64 t_ns;
  const guint8 *signal;
} PbfFrameHead;

/**
 * PbfFrameFuncs: destination of frames
 * @open: a frame starts: returns memory for @height rows of @width bytes,
 *   and sets @frame and the distance @stride of rows in bytes. NULL: no
 *   memory
 * @done: @frame is complete. Frames arrive in order, each one once
 * @drop: @frame will not be completed
 */
typedef struct {
  guint8 *(*open) (gpointer user, gpointer *frame, gsize *stride);
  void (*done) (gpointer user, gpointer frame, const PbfFrameHead *head);
  void (*drop) (gpointer user, gpointer frame);
} PbfFrameFuncs;

/**
 * PbfLinkCounts:
 * @frames: complete frames
 * @lost: frames whose counter was skipped, including @incomplete ones
 * @packets, @bytes: received in all
 * @duplicate: packets received before
 * @late: packets of frames already given up as lost, or of the previous
 *   stream
 * @crc_errors, @rubbish: packets, see #PbfPacketFault
 * @restarts: restarts of the counter
 */
typedef struct {
  guint64 frames, lost, incomplete;
  guint64 packets, bytes;
  guint64 duplicate, late, crc_errors, rubbish;
  guint64 restarts;
} PbfLinkCounts;

typedef enum {
  PBF_ADD_OK,       /* also counts duplicate, late or rubbish */
  PBF_ADD_NEW_SIZE, /* another frame size: not added, see below */
  PBF_ADD_NO_MEMORY,
} PbfAdd;

typedef struct _PbfAssembler PbfAssembler;

/* @window: frames, 1 to 1024. A frame that is not complete when a packet of
 *   the @window-th frame after it arrives is lost. Memory is limited to this
 *   number of frames. */
PbfAssembler *pbf_assembler_new (
    guint window, const PbfFrameFuncs *funcs, gpointer user);
void pbf_assembler_free (PbfAssembler *assembler);

/* Counts and parses a datagram. Returns: FALSE if it is not a valid packet */
gboolean pbf_assembler_parse (PbfAssembler *assembler, const guint8 *bytes,
    gsize size, PbfPacket *packet);
/* Adds the packet to its frame. With PBF_ADD_NEW_SIZE (also for the first
 * packet of all) nothing is changed: the caller calls
 * pbf_assembler_set_size() and adds it again. */
PbfAdd pbf_assembler_add (PbfAssembler *assembler, const PbfPacket *packet);
/* Hands out complete frames, gives up the others, and sets the frame size. */
void pbf_assembler_set_size (
    PbfAssembler *assembler, guint width, guint height);
/* Call after a silence: hands out complete frames and gives up the others. A
 * counter that is lower after the silence has restarted. */
void pbf_assembler_pause (PbfAssembler *assembler);

const PbfLinkCounts *pbf_assembler_get_counts (const PbfAssembler *assembler);

G_END_DECLS
