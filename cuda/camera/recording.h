/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Recordings: frames and their machine signals in one file.
 *
 * A recording is a sequence of heads and packets. A packet is one of
 * packet.h with a whole frame. A head, little-endian, starts the file and is
 * repeated when size or framerate change:
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
 * Each piece has its size and a CRC, so a file whose writer was killed is
 * readable up to its last piece, and a damaged file is readable before and
 * after the damage. */
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
  PBF_PIECE_DAMAGE, /* some bytes are unreadable; reading can continue */
  PBF_PIECE_END,
  PBF_PIECE_ERROR, /* the file cannot be read further */
} PbfPiece;

typedef struct _PbfRecording PbfRecording;

/* @fd: of a seekable file; the caller keeps it. Returns: %NULL with
 *   CVIS_ERROR_FORMAT or a GFileError if the file does not begin with a head */
PbfRecording *pbf_recording_new (gint fd, GError **error);
void pbf_recording_free (PbfRecording *recording);

/* Reads the next piece; the first one is a head. A frame's @packet has the
 * size of the last head, and its memory is valid until the next call. With
 * PBF_PIECE_DAMAGE and PBF_PIECE_ERROR @error names the fault and its byte
 * position. */
PbfPiece pbf_recording_next (PbfRecording *recording, PbfRecordingHead *head,
    PbfPacket *packet, GError **error);

G_END_DECLS
