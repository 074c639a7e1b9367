/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Tracks the stream of machine signals: lost, late, repeated and delayed
 * records. */
#pragma once

#include "cuda/records/machinesignal.h"
#include "cuda/crop/calibration.h"

G_BEGIN_DECLS

/* --- information about a frame ------------------------------------------- */

typedef enum {
  PBF_POSITION_GIVEN,     /* e_x_q8, e_y_q8 are valid */
  PBF_POSITION_BRIGHTEST, /* maximum of the 3x3 box sum in the component with the
                           * highest pbf_pool_score(), the first in raster order;
                           * without a component as PBF_POSITION_BRIGHTEST_PIXEL */
  PBF_POSITION_CENTROID,  /* centroid of the pixels that reach the threshold */
  PBF_POSITION_BRIGHTEST_PIXEL, /* maximum of the 3x3 box sum, the first in raster
                                 * order */
} PbfPosition;

typedef enum {
  PBF_ENTER,        /* a valid frame; enters the window */
  PBF_ENTER_IF_LIT, /* enters if a pixel of the frame reaches the threshold;
                     * otherwise the frame is empty */
  PBF_EMPTY,        /* empty: nothing is computed */
  PBF_EXCLUDE,      /* features are computed, the window stays unchanged */
} PbfEntry;

/**
 * PbfFrameInfo: everything about a frame except its pixels
 * @frame_index, @timestamp_ns, @frame_counter, @flags, @layer, @vector_id,
 *   @x_um, @y_um, @signal_flags: copied to the result
 * @e_x_q8, @e_y_q8: expected position for PBF_POSITION_GIVEN, Q8 pixels
 * @position: a #PbfPosition
 * @entry: a #PbfEntry
 * @lost_before: frames missing before this one; they count for gaps
 */
typedef struct {
  guint64 timestamp_ns;
  guint64 frame_index;
  guint32 frame_counter;
  guint32 flags;
  guint32 layer;
  guint32 vector_id;
  gint32 x_um;
  gint32 y_um;
  gint32 e_x_q8;
  gint32 e_y_q8;
  guint32 position;
  guint32 entry;
  guint32 lost_before;
  guint32 signal_flags;
} PbfFrameInfo;

G_STATIC_ASSERT (sizeof (PbfFrameInfo) == 64);

/* --- the stream of signals ------------------------------------------------ */

typedef enum {
  PBF_POSITION_SOURCE_SIGNALS,
  PBF_POSITION_SOURCE_BRIGHTEST,
  PBF_POSITION_SOURCE_CENTROID,
  PBF_POSITION_SOURCE_FIXED,
  PBF_POSITION_SOURCE_BRIGHTEST_PIXEL,
} PbfPositionSource;

typedef enum {
  PBF_EMPTY_FRAMES_FLAG,    /* a record with the flag EMPTY, no features */
  PBF_EMPTY_FRAMES_DROP,    /* the same; the caller drops the frame */
  PBF_EMPTY_FRAMES_ANALYSE, /* features; the window stays unchanged */
} PbfEmptyFrames;

/**
 * PbfTrackConfig:
 * @source: of the expected position. SIGNALS falls back to BRIGHTEST, with a
 *   flag, for frames without a usable record or position
 * @fixed_x, @fixed_y: position for FIXED, pixels
 * @calibration: from micrometres on the plate to pixels of the full frame
 * @signal_delay_us: delay of a frame behind its signals, 0..1000000
 *   microseconds (a frame at time t uses the record of t - delay; the
 *   position is interpolated between the two nearest records)
 * @empty_frames: handling of frames with the laser off
 */
typedef struct {
  PbfPositionSource source;
  gdouble fixed_x, fixed_y;
  PbfCalibration calibration;
  guint signal_delay_us;
  PbfEmptyFrames empty_frames;
} PbfTrackConfig;

/**
 * PbfTrackCounts: number of frames, by condition
 */
typedef struct {
  guint64 frames;
  guint64 no_signal;
  guint64 corrupt;
  guint64 lost; /* skipped counter values */
  guint64 late;
  guint64 repeated;
  guint64 laser_off;
} PbfTrackCounts;

typedef struct _PbfTrack PbfTrack;

PbfTrack *pbf_track_new (const PbfTrackConfig *config);
void pbf_track_free (PbfTrack *track);
/* Forgets the stream (flush, new stream); counts are kept. */
void pbf_track_reset (PbfTrack *track);
const PbfTrackCounts *pbf_track_get_counts (PbfTrack *track);

/**
 * pbf_track_frame:
 * @signal: (nullable): the record received with the frame
 * @timestamp_ns: presentation time of the frame, all ones if none
 * @offset_x, @offset_y: position of the frame's top left pixel in the full
 *   frame of the calibration (the offset of a crop), pixels
 * @info: (out): information for the engine
 */
void pbf_track_frame (PbfTrack *track, const CvisPbfSignal *signal,
    guint64 timestamp_ns, gint offset_x, gint offset_y, PbfFrameInfo *info);

G_END_DECLS
