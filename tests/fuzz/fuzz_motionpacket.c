/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Packets of motion vectors: the bytes unchanged, and again with a corrected
 * header, which a fuzzer does not find by chance. All data of accepted
 * packets is read. */
#include "fuzz.h"

#include <gst/cudavision/gstmotionmeta.h>
#include <math.h>
#include <string.h>

static volatile guint32 sink; /* keeps reads from being removed */

static void
read_field (const CvisMotionPacket *packet, guint index)
{
  const CvisMotionVector *vectors;
  const CvisMotionBlock *blocks;
  const CvisMotionPacketField *field =
      gst_cvis_motion_packet_get_field (packet, index, &vectors, &blocks);
  const CvisMotionSummary *summary = &field->summary;
  gsize n = (gsize) packet->columns * packet->rows;

  g_assert (field->distance != 0 && ABS (field->distance) <= 4);
  g_assert (isfinite (summary->scene_score) && isfinite (summary->global_x));
  g_assert (!isnan (summary->psnr));
  g_assert (summary->static_blocks <= n && summary->intra_blocks <= n);
  for (gsize i = 0; i < n; i++)
    sink += vectors[i].cost + blocks[i].flags;
  g_assert (
      (const guint8 *) (blocks + n) <= (const guint8 *) packet + packet->size);
}

static void
check (gconstpointer bytes, gsize size)
{
  const CvisMotionPacket *packet = bytes;
  GError *error = NULL;

  if (!gst_cvis_motion_packet_check (bytes, size, &error)) {
    g_assert (
        g_error_matches (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE));
    g_error_free (error);
    return;
  }
  g_assert (error == NULL && packet->size == size);
  g_assert (size
            == gst_cvis_motion_packet_get_size (
                packet->columns, packet->rows, packet->n_fields));
  for (guint i = 0; i < packet->n_fields; i++)
    read_field (packet, i);
}

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  check (bytes, size);
  if (size >= sizeof (CvisMotionPacket)) {
    CvisMotionPacket *packet = g_memdup2 (bytes, size);

    memcpy (packet->magic, CVIS_MOTION_PACKET_MAGIC, sizeof (packet->magic));
    packet->version = CVIS_MOTION_PACKET_VERSION;
    packet->size = size;
    check (packet, size);
    g_free (packet);
  }
  return 0;
}
