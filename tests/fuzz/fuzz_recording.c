/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A recording: the bytes as a file. */
#define _GNU_SOURCE /* memfd_create */
#include "fuzz.h"
#include "cuda/camera/recording.h"

#include <sys/mman.h>
#include <unistd.h>

/* Reads both ends of the pixels, for memory checkers. */
static guint
touch_packet (const PbfPacket *packet, const PbfRecordingHead *head)
{
  guint32 n = head->width * head->height;

  g_assert (packet->width == head->width && packet->height == head->height);
  g_assert (packet->offset == 0 && packet->fragment_size == n);
  return packet->pixels[0] + packet->pixels[n - 1]
         + (packet->signal != NULL ? packet->signal[63] : 0);
}

/* Reads the bytes as a stream in steps of @step. Returns: a hash of the pieces */
static guint
read_stream (const uint8_t *bytes, size_t size, size_t step)
{
  PbfRecording *recording = pbf_recording_new_stream ();
  PbfPiece piece = PBF_PIECE_MORE;
  PbfRecordingHead head;
  PbfPacket packet;
  guint hash = 0;
  size_t at = 0;

  while (piece != PBF_PIECE_END && piece != PBF_PIECE_ERROR) {
    piece = pbf_recording_next (recording, &head, &packet, NULL);
    if (piece == PBF_PIECE_MORE && at == size) {
      pbf_recording_finish (recording);
    } else if (piece == PBF_PIECE_MORE) {
      size_t n = MIN (step, size - at);

      pbf_recording_push (recording, bytes + at, n);
      at += n;
    } else {
      hash = 31 * hash + (guint) piece;
      if (piece == PBF_PIECE_FRAME)
        hash = 31 * hash + touch_packet (&packet, &head);
    }
  }
  pbf_recording_free (recording);
  return hash;
}

/* Seeks to a frame, whose number must be @number or, if that is damaged, later. */
static void
seek (PbfRecording *recording, guint64 number)
{
  PbfRecordingHead head;
  PbfRecordingFrame frame;
  PbfPacket packet;

  if (!pbf_recording_seek (recording, PBF_SEEK_NUMBER, number, &frame))
    return;
  g_assert (
      pbf_recording_next (recording, &head, &packet, NULL) == PBF_PIECE_FRAME);
  g_assert (pbf_recording_get_number (recording) == frame.number);
  g_assert (frame.number >= number);
  touch_packet (&packet, &head);
  pbf_recording_seek (recording, PBF_SEEK_TIME, packet.t_ns, &frame);
}

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  gint fd = memfd_create ("recording", MFD_CLOEXEC);
  GError *error = NULL;
  PbfRecording *recording;
  PbfRecordingHead head;
  PbfPacket packet;
  PbfPiece piece = PBF_PIECE_ERROR, before;
  PbfRecordingFrame first, last;
  gsize pieces = 0;
  guint hash = 0;

  g_assert (fd >= 0 && write (fd, bytes, size) == (gssize) size);
  recording = pbf_recording_new (fd, &error);
  g_assert ((recording == NULL) == (error != NULL));
  if (recording != NULL)
    pbf_recording_find_span (recording, &first, &last);
  while (recording != NULL && piece != PBF_PIECE_END) {
    before = piece;
    piece = pbf_recording_next (recording, &head, &packet, &error);
    g_assert (piece != PBF_PIECE_ERROR);
    g_assert ((piece == PBF_PIECE_DAMAGE) == (error != NULL));
    g_assert (piece != PBF_PIECE_DAMAGE || before != PBF_PIECE_DAMAGE);
    hash = 31 * hash + (guint) piece;
    if (piece == PBF_PIECE_FRAME)
      hash = 31 * hash + touch_packet (&packet, &head);
    g_clear_error (&error);
    g_assert (++pieces <= size + 1);
  }
  if (recording != NULL) {
    g_assert (read_stream (bytes, size, size % 97 + 1) == hash);
    seek (recording, 0);
    seek (recording, 2);
  }
  g_clear_error (&error);
  pbf_recording_free (recording);
  close (fd);
  return 0;
}
