/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The camera link: the bytes as one packet, and then as a stream of packets.
 * Byte 0 is the reorder window; each packet after it is preceded by two
 * bytes: its size, and how it is treated (corrected CRC, a silence before
 * it, no memory). */
#include "fuzz.h"
#include "cuda/camera/packet.h"

#include <string.h>

#define MAX_OPEN 1024

typedef struct {
  guint8 *pixels;
  gsize size;
  guint open;
  gboolean full;
  gboolean some;
  guint64 number;
} Frames;

static guint8 *
open_frame (gpointer user, gpointer *frame, gsize *stride)
{
  Frames *frames = user;

  if (frames->full)
    return NULL;
  g_assert (++frames->open <= MAX_OPEN);
  *frame = frames->pixels;
  *stride = PBF_PACKET_MAX_SIDE;
  return frames->pixels;
}

static void
frame_done (gpointer user, gpointer frame, const PbfFrameHead *head)
{
  Frames *frames = user;

  g_assert (frame == frames->pixels && frames->open > 0);
  frames->open--;
  g_assert (!frames->some || head->number > frames->number);
  g_assert (head->lost_before <= head->number);
  frames->some = TRUE;
  frames->number = head->number;
}

static void
drop_frame (gpointer user, gpointer frame)
{
  Frames *frames = user;

  g_assert (frame == frames->pixels && frames->open > 0);
  frames->open--;
}

static void
mend (guint8 *bytes, gsize size)
{
  static const guint8 head[] = { 'P', 'B', 'F', 'P', PBF_PACKET_VERSION, 0 };
  guint32 word;

  if (size < PBF_PACKET_HEADER + 4)
    return;
  memcpy (bytes, head, sizeof head);
  bytes[6] &= 1;
  bytes[7] = 0;
  word = GUINT32_TO_LE ((guint32) size);
  memcpy (bytes + 8, &word, 4);
  memset (bytes + 44, 0, 4);
  word = GUINT32_TO_LE (pbf_crc32c (bytes, size - 4));
  memcpy (bytes + size - 4, &word, 4);
}

static void
check_packet (const guint8 *bytes, gsize size, const guint8 *frame)
{
  PbfPacket packet;
  guint8 *back;

  if (pbf_packet_parse (bytes, size, &packet) != PBF_PACKET_OK)
    return;
  g_assert (pbf_packet_bytes (&packet) == size);
  back = g_malloc (size);
  pbf_packet_write (&packet, frame, packet.width, back);
  g_assert (memcmp (back, bytes, PBF_PACKET_HEADER) == 0);
  g_free (back);
}

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  static const PbfFrameFuncs funcs = { open_frame, frame_done, drop_frame };
  static guint8 *pixels;
  Frames frames = { 0 };
  PbfAssembler *assembler;
  const PbfLinkCounts *counts;

  if (pixels == NULL)
    pixels = g_malloc0 ((gsize) PBF_PACKET_MAX_SIDE * PBF_PACKET_MAX_SIDE);
  check_packet (bytes, size, pixels);
  if (size < 1)
    return 0;
  frames.pixels = pixels;
  assembler = pbf_assembler_new (bytes[0] & 31, &funcs, &frames);
  for (size_t at = 1; at + 2 < size;) {
    gsize n = MIN ((gsize) bytes[at] * 2, size - at - 2);
    guint8 what = bytes[at + 1], *copy = g_memdup2 (bytes + at + 2, n);
    PbfPacket packet;

    if (what & 1)
      mend (copy, n);
    if ((what & 14) == 14)
      pbf_assembler_pause (assembler);
    frames.full = (what & 48) == 48;
    if (pbf_assembler_parse (assembler, copy, n, &packet)
        && pbf_assembler_add (assembler, &packet) == PBF_ADD_NEW_SIZE) {
      pbf_assembler_set_size (assembler, packet.width, packet.height);
      g_assert (pbf_assembler_add (assembler, &packet) != PBF_ADD_NEW_SIZE);
    }
    g_free (copy);
    at += 2 + n;
  }
  counts = pbf_assembler_get_counts (assembler);
  g_assert (counts->lost >= counts->incomplete);
  g_assert (counts->packets >= counts->rubbish + counts->crc_errors
                                   + counts->late + counts->duplicate);
  pbf_assembler_free (assembler);
  g_assert (frames.open == 0);
  return 0;
}
