/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Recordings: frames and their machine signals in one file.
 *
 * A recording is heads and packets one after the other. A packet is one of
 * packet.h with a whole frame in it. A head, little-endian, begins the file and
 * comes again where size or framerate change:
 *
 *   offset  type
 *        0  u32  magic "PBFR"
 *        4  u16  version, 1
 *        6  u16  size, 32
 *        8  u32  width of the frames that follow, pixels
 *       12  u32  height
 *       16  u32  framerate, numerator; 0: variable
 *       20  u32  framerate, denominator
 *       24  u32  reserved, 0
 *       28  u32  CRC-32C of the 28 bytes before it
 *
 * Each piece tells its size and has a CRC, so that a file whose writer was
 * killed is readable up to its last piece, and one that is damaged is readable
 * before and behind the damage. */
#pragma once

#include "cuda/camera/packet.h"

G_BEGIN_DECLS

#define PBF_RECORDING_MAGIC 0x52464250u /* "PBFR" */
#define PBF_RECORDING_VERSION 1
#define PBF_RECORDING_HEAD 32

typedef struct {
  guint32 width, height;
  guint32 fps_n, fps_d;
} PbfRecordingHead;

void pbf_recording_write_head (
    const PbfRecordingHead *head, guint8 bytes[PBF_RECORDING_HEAD]);

typedef enum {
  PBF_PIECE_HEAD,
  PBF_PIECE_FRAME,
  PBF_PIECE_DAMAGE, /* some bytes are unreadable; what follows is not */
  PBF_PIECE_END,
  PBF_PIECE_ERROR, /* the file cannot be read on */
} PbfPiece;

typedef struct _PbfRecording PbfRecording;

/* @fd: of a file that can be read at any position; it stays the caller's.
 * Returns: %NULL with CVIS_ERROR_FORMAT or a GFileError: the file does not begin
 * with a head */
PbfRecording *pbf_recording_new (gint fd, GError **error);
void pbf_recording_free (PbfRecording *recording);

/* The next piece; the first one is a head. @packet of a frame is of the size of
 * the last head and points to memory that holds until the next call. With
 * PBF_PIECE_DAMAGE and PBF_PIECE_ERROR @error names what is wrong, and at which
 * byte. */
PbfPiece pbf_recording_next (PbfRecording *recording, PbfRecordingHead *head,
    PbfPacket *packet, GError **error);

G_END_DECLS
