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

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  gint fd = memfd_create ("recording", MFD_CLOEXEC);
  GError *error = NULL;
  PbfRecording *recording;
  PbfRecordingHead head;
  PbfPacket packet;
  PbfPiece piece = PBF_PIECE_ERROR, before;
  gsize pieces = 0;

  g_assert (fd >= 0 && write (fd, bytes, size) == (gssize) size);
  recording = pbf_recording_new (fd, &error);
  g_assert ((recording == NULL) == (error != NULL));
  while (recording != NULL && piece != PBF_PIECE_END) {
    before = piece;
    piece = pbf_recording_next (recording, &head, &packet, &error);
    g_assert (piece != PBF_PIECE_ERROR);
    g_assert ((piece == PBF_PIECE_DAMAGE) == (error != NULL));
    g_assert (piece != PBF_PIECE_DAMAGE || before != PBF_PIECE_DAMAGE);
    if (piece == PBF_PIECE_FRAME)
      g_assert (touch_packet (&packet, &head) < 1000);
    g_clear_error (&error);
    g_assert (++pieces <= size + 1);
  }
  g_clear_error (&error);
  pbf_recording_free (recording);
  close (fd);
  return 0;
}
