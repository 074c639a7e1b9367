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
/* Returns: FALSE if @bytes are no valid head */
gboolean pbf_recording_read_head (
    const guint8 bytes[PBF_RECORDING_HEAD], PbfRecordingHead *head);

typedef enum {
  PBF_PIECE_HEAD,
  PBF_PIECE_FRAME,
  PBF_PIECE_DAMAGE, /* some bytes are unreadable; reading can continue */
  PBF_PIECE_MORE,   /* of a stream: more bytes are needed */
  PBF_PIECE_END,
  PBF_PIECE_ERROR, /* the recording cannot be read further */
} PbfPiece;

/**
 * PbfRecordingFrame: a frame's place in the recording
 * @number: frames before it, damaged ones included
 * @t_ns, @duration_ns: as in #PbfPacket
 */
typedef struct {
  guint64 number;
  guint64 t_ns;
  guint32 duration_ns;
} PbfRecordingFrame;

/**
 * PbfRecordingDamage: what was skipped so far
 * @frames: by the numbers of the frames before and after each place
 */
typedef struct {
  guint64 places, frames, bytes;
} PbfRecordingDamage;

typedef enum {
  PBF_SEEK_NUMBER,
  PBF_SEEK_TIME,
} PbfSeek;

typedef struct _PbfRecording PbfRecording;

/* @fd: of a seekable file; the caller keeps it. Returns: %NULL with
 *   CVIS_ERROR_FORMAT or a GFileError if the file does not begin with a head */
PbfRecording *pbf_recording_new (gint fd, GError **error);
/* A recording whose bytes arrive in order by pbf_recording_push(). */
PbfRecording *pbf_recording_new_stream (void);
void pbf_recording_free (PbfRecording *recording);

/* For streams: adds bytes, which are copied; no bytes follow. */
void pbf_recording_push (
    PbfRecording *recording, const guint8 *bytes, gsize size);
void pbf_recording_finish (PbfRecording *recording);

/* Reads the next piece; the first one is a head. A frame's @packet has the
 * size of the last head, and its memory is valid until the next call of any
 * function. With PBF_PIECE_DAMAGE and PBF_PIECE_ERROR @error names the fault
 * and its byte position. */
PbfPiece pbf_recording_next (PbfRecording *recording, PbfRecordingHead *head,
    PbfPacket *packet, GError **error);

/* Number of the last frame of pbf_recording_next(). */
guint64 pbf_recording_get_number (const PbfRecording *recording);
const PbfRecordingDamage *pbf_recording_get_damage (
    const PbfRecording *recording);

/* For files: makes a frame the next piece. By number it is the first frame whose
 * number is at least @value, by time the last one that begins at @value or before
 * (times rise), else the first one.
 * @frame: (out) (nullable): that frame, or the last one
 * Returns: FALSE at the end of the file */
gboolean pbf_recording_seek (PbfRecording *recording, PbfSeek unit,
    guint64 value, PbfRecordingFrame *frame);

/* For files, before the first pbf_recording_next(): the first and the last frame.
 * Returns: FALSE if there is none, or only a long search would tell */
gboolean pbf_recording_find_span (
    PbfRecording *recording, PbfRecordingFrame *first, PbfRecordingFrame *last);

G_END_DECLS
