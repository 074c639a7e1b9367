/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Machine signals: the bytes as a record, and then as a stream through the
 * tracker. Byte 0 configures the tracker; of each 66 bytes after it the
 * first says how the record in the other 65 is treated (the last byte is
 * ignored, or is the crop's offset). */
#include "fuzz.h"
#include "cuda/camera/packet.h"
#include "cuda/crop/track.h"

#include <string.h>

#define CHUNK 66

static void
check_record (const uint8_t *bytes)
{
  CvisPbfSignal signal;
  guint8 back[64];

  pbf_packet_read_signal (bytes, &signal);
  pbf_signal_write (&signal, back);
  g_assert (memcmp (bytes, back, 64) == 0);
  if (pbf_signal_is_intact (&signal)) {
    pbf_signal_seal (&signal);
    pbf_signal_write (&signal, back);
    g_assert (memcmp (bytes, back, 64) == 0);
  }
}

static PbfTrackConfig
config_from (uint8_t byte)
{
  static const gchar *const calibrations[] = { PBF_CALIBRATION_DEFAULT,
    "1,0,0,0,1,0,-0.001,0.001,1" };
  static const guint delays[] = { 0, 1, 120, 1000000 };
  PbfTrackConfig config = {
    .source = byte & 3,
    .fixed_x = 1e9,
    .fixed_y = -1e300,
    .signal_delay_us = delays[byte >> 2 & 3],
    .empty_frames = (byte >> 4 & 3) % 3,
  };

  g_assert (pbf_calibration_parse (
      calibrations[byte >> 6 & 1], &config.calibration, NULL));
  return config;
}

/* What the engine relies on. */
static void
check_info (const PbfFrameInfo *info)
{
  const guint32 flags = info->flags;

  g_assert (info->entry <= PBF_EXCLUDE);
  g_assert (info->position <= PBF_POSITION_CENTROID);
  g_assert (ABS (info->e_x_q8) <= 1 << 22 && ABS (info->e_y_q8) <= 1 << 22);
  g_assert (!(flags & CVIS_PBF_RESULT_LOST_BEFORE) == !info->lost_before);
  g_assert (
      !(flags & CVIS_PBF_RESULT_EXCLUDED) == (info->entry != PBF_EXCLUDE));
  g_assert (info->entry != PBF_EMPTY || flags & CVIS_PBF_RESULT_EMPTY);
  if (flags & (CVIS_PBF_RESULT_NO_SIGNAL | CVIS_PBF_RESULT_SIGNAL_CORRUPT))
    g_assert (info->entry == PBF_ENTER_IF_LIT && !info->signal_flags
              && !info->lost_before);
  if (flags & (CVIS_PBF_RESULT_LATE | CVIS_PBF_RESULT_REPEATED))
    g_assert (info->entry != PBF_ENTER);
}

static void
track (PbfTrack *tracker, const uint8_t *chunk)
{
  CvisPbfSignal signal;
  PbfFrameInfo info;
  guint repeat = 1 + (chunk[0] & 0x20 ? 33 : 0);

  memcpy (&signal, chunk + 1, sizeof signal);
  if (chunk[0] & 0x40)
    pbf_track_reset (tracker);
  for (guint i = 0; i < repeat; i++) {
    if (chunk[0] & 3) /* otherwise corrupt */
      pbf_signal_seal (&signal);
    pbf_track_frame (tracker, (chunk[0] & 7) == 7 ? NULL : &signal, i,
        (gint8) chunk[65] * 1000, (gint8) chunk[65], &info);
    check_info (&info);
    signal.frame_counter += chunk[0] >> 3 & 3;
    signal.t_ns += 50000;
  }
}

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  PbfTrackConfig config;
  PbfTrack *tracker;
  const PbfTrackCounts *counts;

  if (size >= 64)
    check_record (bytes);
  if (size < 1 + CHUNK)
    return 0;
  config = config_from (bytes[0]);
  tracker = pbf_track_new (&config);
  for (size_t at = 1; at + CHUNK <= size; at += CHUNK)
    track (tracker, bytes + at);
  counts = pbf_track_get_counts (tracker);
  g_assert (counts->frames >= counts->no_signal + counts->corrupt + counts->late
                                  + counts->repeated);
  pbf_track_free (tracker);
  return 0;
}
