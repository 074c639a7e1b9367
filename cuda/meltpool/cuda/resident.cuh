/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The ring between the host and the resident kernel; docs/design/realtime.md has the
 * protocol. */
#pragma once

#include "cuda/meltpool/cuda/engine.cuh"

/* A place of the ring, written by the host. */
typedef struct {
  PbfDeviceFrame frame; /* pixels in page-locked or device memory */
  PbfResult *result;    /* page-locked, at a multiple of 16 */
  guint32 sequence;     /* of the frame, plus 1, by a release store */
  guint32 padding[7];
} PbfRingEntry;

G_STATIC_ASSERT (sizeof (PbfRingEntry) == 128);

/* The temporal window, in device memory. */
typedef struct {
  guint32 committed; /* frames that have had their turn */
  guint32 started;
  guint32 n, first; /* rows that count; the oldest one's place */
  guint32 layer, vector_id;
  guint64 position;
  gint64 s1[PBF_N_SPATIAL], s2[PBF_N_SPATIAL];
} PbfResidentWindow;

typedef struct {
  const PbfRingEntry *entries;
  guint32 *done; /* of each place: sequence + 1 of the frame computed last */
  const guint32 *stop; /* the kernel ends when it is not 0 */
  guint32 places;      /* of the ring; a power of two */
  PbfResidentWindow *window;
  gint32 (*rows)[PBF_N_SPATIAL]; /* of the window, a ring of its length */
  PbfDeviceScratch *scratch;     /* one a block */
  guint64 lifetime_ns;
  guint32 idle_sleep_ns;
  guint32 stall_at; /* for tests: take no frame from this one on; 0: no limit */
} PbfResident;

/* @blocks that begin at frame @first. */
cudaError_t pbf_launch_resident (const PbfParams *params,
    const PbfDeviceModel *model, const PbfResident *resident, guint32 first,
    guint blocks, cudaStream_t stream);
