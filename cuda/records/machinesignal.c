/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Conversion between the record of machine signals and bytes. */
#include "cuda/records/machinesignal.h"

#include <stddef.h>
#include <string.h>

#define CRC_OFFSET offsetof (CvisPbfSignal, crc32c)

G_STATIC_ASSERT (CRC_OFFSET == 60);

/* The record in the other byte order; unchanged on little-endian machines. */
static void
swap_to_le (CvisPbfSignal *s)
{
  s->magic = GUINT32_TO_LE (s->magic);
  s->size = GUINT16_TO_LE (s->size);
  s->version = GUINT16_TO_LE (s->version);
  s->frame_counter = GUINT32_TO_LE (s->frame_counter);
  s->flags = GUINT32_TO_LE (s->flags);
  s->x_um = GINT32_TO_LE (s->x_um);
  s->y_um = GINT32_TO_LE (s->y_um);
  s->layer = GUINT32_TO_LE (s->layer);
  s->vector_id = GUINT32_TO_LE (s->vector_id);
  s->t_ns = GUINT64_TO_LE (s->t_ns);
  s->width = GUINT16_TO_LE (s->width);
  s->height = GUINT16_TO_LE (s->height);
  s->power_mW = GUINT32_TO_LE (s->power_mW);
  s->speed_um_s = GUINT32_TO_LE (s->speed_um_s);
  s->user0 = GINT32_TO_LE (s->user0);
  s->user1 = GINT32_TO_LE (s->user1);
  s->crc32c = GUINT32_TO_LE (s->crc32c);
}

/* CRC of @signal's bytes as stored in a file. */
static guint32
signal_crc (const CvisPbfSignal *signal)
{
#if G_BYTE_ORDER == G_LITTLE_ENDIAN
  return pbf_crc32c (signal, CRC_OFFSET);
#else
  guint8 bytes[64];

  pbf_signal_write (signal, bytes);
  return pbf_crc32c (bytes, CRC_OFFSET);
#endif
}

gboolean
pbf_signal_is_intact (const CvisPbfSignal *signal)
{
  return signal->magic == CVIS_PBF_SIGNAL_MAGIC
         && signal->size == sizeof *signal
         && signal->version == CVIS_PBF_SIGNAL_VERSION
         && signal->crc32c == signal_crc (signal);
}

void
pbf_signal_seal (CvisPbfSignal *signal)
{
  signal->magic = CVIS_PBF_SIGNAL_MAGIC;
  signal->size = sizeof *signal;
  signal->version = CVIS_PBF_SIGNAL_VERSION;
  signal->crc32c = signal_crc (signal);
}

void
pbf_signal_write (const CvisPbfSignal *signal, guint8 bytes[64])
{
  CvisPbfSignal little = *signal;

  swap_to_le (&little);
  memcpy (bytes, &little, sizeof little);
}
