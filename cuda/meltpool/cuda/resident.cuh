/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The ring between the host and the resident kernel; docs/design/realtime.md has the
 * protocol. */
#pragma once

#include "cuda/meltpool/cuda/engine.cuh"

/* A frame in the ring, as the kernel reads it. */
typedef struct {
  PbfFrameInfo
      info; /* with the flags that need no pixels; PBF_ENTER, PBF_EXCLUDE or
                      * PBF_EMPTY (no ROI, nothing to compute) */
  const guint8 *roi; /* top left pixel, in pinned memory */
  guint32 stride;
  guint16 roi_x, roi_y;
  guint32 row; /* of the frame in the ring of rows, if it enters the window */
  guint32 window_n;   /* rows in the window, including this one */
  guint32 confidence; /* CvisPbfResult.position_confidence */
  guint32 padding;
} PbfRingFrame;

/* Entries and records are transferred as words with a tag, the frame's
 * sequence number plus 1. A reader that sees the tag in all words has all
 * words, in whatever order they arrived. */
typedef guint64 PbfTagged; /* word in the low half, tag in the high one */

/* Flag in @head: the kernel has to end. */
#define PBF_HEAD_STOP (G_GUINT64_CONSTANT (1) << 32)

#define PBF_ENTRY_WORDS (sizeof (PbfRingFrame) / 4)
#define PBF_ENTRY_STRIDE 32 /* words from entry to entry */
#define PBF_RECORD_WORDS (sizeof (CvisPbfResult) / 4)

G_STATIC_ASSERT (PBF_ENTRY_WORDS == 24);
G_STATIC_ASSERT (PBF_RECORD_WORDS % 4 == 0);

typedef struct {
  const PbfTagged *entries; /* in the host's memory, as are the next two */
  PbfTagged *records;
  const guint64
      *head; /* sequence of the next frame (low half), PBF_HEAD_STOP */
  PbfTagged *
      relayed; /* in device memory: the entries, copied by the last block; NULL:
                        * each block looks into the host's memory */
  guint64 *relayed_head; /* device; the launch whose relay has ended */
  guint64 launch;        /* number of the launch, from 1 */
  guint32 places;        /* places in the ring; a power of two */
  guint32 *
      finished; /* device; of each place: sequence + 1 of the frame computed last */
  PbfTagged (
      *rows)[CVIS_PBF_N_SPATIAL]; /* device; of the window; tag: row + 1 */
  guint32 n_rows;                 /* rows in the ring of rows; a power of two */
  PbfDeviceScratch *scratch;      /* one for each block */
  guint64 lifetime_ns;
  guint32 idle_sleep_ns;
#ifdef CVIS_TEST_HOOKS
  guint32 stall_at; /* take no frame from this one on; 0: no limit */
#endif
} PbfResident;

/* Blocks of the kernel that the device of the current context runs at once. */
cudaError_t pbf_resident_fit (guint *blocks);

/* Launches @blocks blocks that begin at frame @first, and one more that
 * relays entries if @resident has memory for them. */
cudaError_t pbf_launch_resident (const PbfParams *params,
    const PbfDeviceModel *model, const PbfResident *resident, guint32 first,
    guint blocks, cudaStream_t stream);
