/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The two records of melt-pool monitoring, as stored in memory and files and
 * sent over the network: the machine's signals of one frame (PbfSignal, 64
 * bytes) and the results computed from it (PbfResult, 896 bytes). Both are
 * little-endian, without padding, and have magic, size and version. This
 * header needs only GLib's integer types.
 *
 * Feature specification "pbf40-v1". Coordinates are pixels of the analysed
 * frame, x to the right, y down, pixel centres at +0.5; "Q8" means fixed
 * point with 8 fractional bits, "Q16" with 16. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define PBF_FEATURE_SPEC "pbf40-v1"
#define PBF_ROI_SIDE 40     /* default size of the region of interest, pixels */
#define PBF_N_SPATIAL 20    /* spatial features */
#define PBF_N_FEATURES 40   /* and their variances over the window */
#define PBF_MAX_OUTPUTS 8   /* of the network */
#define PBF_MAX_SPATTERS 16 /* listed in a record; all are counted */

/* --- PbfSignal ------------------------------------------------------------ */

#define PBF_SIGNAL_MAGIC 0x31464250u /* "PBF1" in memory */
#define PBF_SIGNAL_VERSION 1

/**
 * PbfSignalFlags:
 * @PBF_SIGNAL_LASER_ON: the laser emits
 * @PBF_SIGNAL_LAYER_START: first frame of a layer
 * @PBF_SIGNAL_VECTOR_START: first frame of a scan vector (hatch line)
 * @PBF_SIGNAL_POSITION_VALID: x_um and y_um hold
 * @PBF_SIGNAL_TEST: made by a simulator or a test
 */
typedef enum {
  PBF_SIGNAL_LASER_ON = 1 << 0,
  PBF_SIGNAL_LAYER_START = 1 << 1,
  PBF_SIGNAL_VECTOR_START = 1 << 2,
  PBF_SIGNAL_POSITION_VALID = 1 << 3,
  PBF_SIGNAL_TEST = 1 << 4,
} PbfSignalFlags;

/**
 * PbfSignal:
 * @magic: %PBF_SIGNAL_MAGIC
 * @size: 64
 * @version: %PBF_SIGNAL_VERSION
 * @frame_counter: counts the camera's frames, wraps at 2^32
 * @flags: #PbfSignalFlags
 * @x_um: x of the laser on the build plate, micrometres
 * @y_um: y of the laser on the build plate, micrometres
 * @layer: number of the layer
 * @vector_id: number of the scan vector within the layer
 * @t_ns: the machine's time of exposure, nanoseconds
 * @width: frame width, pixels
 * @height: frame height, pixels
 * @power_mW: laser power, milliwatts
 * @speed_um_s: scan speed, micrometres a second
 * @user0: free for the application
 * @user1: free for the application
 * @crc32c: CRC-32C (Castagnoli) of the 60 bytes before it
 */
typedef struct {
  guint32 magic;
  guint16 size;
  guint16 version;
  guint32 frame_counter;
  guint32 flags;
  gint32 x_um;
  gint32 y_um;
  guint32 layer;
  guint32 vector_id;
  guint64 t_ns;
  guint16 width;
  guint16 height;
  guint32 power_mW;
  guint32 speed_um_s;
  gint32 user0;
  gint32 user1;
  guint32 crc32c;
} PbfSignal;

#ifndef __GI_SCANNER__
G_STATIC_ASSERT (sizeof (PbfSignal) == 64);
#endif

/* --- PbfResult ------------------------------------------------------------ */

#define PBF_RESULT_MAGIC 0x31524250u /* "PBR1" in memory */
#define PBF_RESULT_VERSION 1

/**
 * PbfResultFlags:
 * @PBF_RESULT_EMPTY: no melt pool to be expected (laser off, or without
 *   signals no pixel reaches the threshold); the frame is not in the window
 * @PBF_RESULT_WARMUP: fewer frames in the window than its length
 * @PBF_RESULT_NO_POOL: laser on, yet no pixel of the ROI reaches the threshold;
 *   entered into the window with zeros
 * @PBF_RESULT_NO_SIGNAL: no machine signals came with the frame
 * @PBF_RESULT_SIGNAL_CORRUPT: the record's magic, size, version or CRC is
 *   wrong; it was not used
 * @PBF_RESULT_LOST_BEFORE: the frame counter skipped numbers before this frame
 * @PBF_RESULT_LATE: the frame counter jumped back; not entered into the window
 * @PBF_RESULT_REPEATED: the frame counter stood still; not entered
 * @PBF_RESULT_WINDOW_RESET: the temporal window restarted with this frame
 * @PBF_RESULT_POSITION_FALLBACK: the wanted position source had none for this
 *   frame; the brightest spot was taken
 * @PBF_RESULT_SPATTERS_CUT: more than 16 spatters: the largest are listed
 * @PBF_RESULT_EXCLUDED: features were computed but the frame did not enter the
 *   window (late, repeated, or empty and analysed all the same)
 * @PBF_RESULT_ROI_CLAMPED: the ROI would have left the frame and was moved in
 * @PBF_RESULT_GAP: the flow was marked discontinuous before this frame
 * @PBF_RESULT_POOL_AT_EDGE: the melt pool touches the edge of the ROI, which may
 *   have cut it
 * @PBF_RESULT_POSITION_UNSURE: the expected position is that of the likeliest
 *   melt pool of the frame, but another component is nearly as likely: its score
 *   exceeds a quarter of the chosen one's (see @position_confidence)
 */
typedef enum {
  PBF_RESULT_EMPTY = 1 << 0,
  PBF_RESULT_WARMUP = 1 << 1,
  PBF_RESULT_NO_POOL = 1 << 2,
  PBF_RESULT_NO_SIGNAL = 1 << 3,
  PBF_RESULT_SIGNAL_CORRUPT = 1 << 4,
  PBF_RESULT_LOST_BEFORE = 1 << 5,
  PBF_RESULT_LATE = 1 << 6,
  PBF_RESULT_REPEATED = 1 << 7,
  PBF_RESULT_WINDOW_RESET = 1 << 8,
  PBF_RESULT_POSITION_FALLBACK = 1 << 9,
  PBF_RESULT_SPATTERS_CUT = 1 << 10,
  PBF_RESULT_EXCLUDED = 1 << 11,
  PBF_RESULT_ROI_CLAMPED = 1 << 12,
  PBF_RESULT_GAP = 1 << 13,
  PBF_RESULT_POOL_AT_EDGE = 1 << 14,
  PBF_RESULT_POSITION_UNSURE = 1 << 15,
} PbfResultFlags;

/* Index of a spatial feature in PbfResult.raw and .features. Its variance is
 * at index + PBF_N_SPATIAL of .features and at the same index of .var_num. */
typedef enum {
  PBF_MP_AREA = 0,
  PBF_SPATTER_AREA = 1,
  PBF_SPATTER_COUNT = 2,
  PBF_MP_RATIO = 3, /* Q16 */
  PBF_MP_MEAN = 4,  /* Q8 */
  PBF_POLAR_0 = 5,  /* to 10: sectors of 60 degrees */
  PBF_HOG_0 = 11,   /* to 19: bins of 20 degrees, Q16 */
} PbfFeature;

/**
 * PbfSpatter:
 * @x_q8: x of the centroid in the frame, Q8 pixels
 * @y_q8: y of the centroid in the frame, Q8 pixels
 * @area: pixels
 * @angle_deg: direction from the expected pool position, 0 <= angle < 360,
 *   x right, y down
 * @distance_px: distance from the expected pool position
 */
typedef struct {
  gint32 x_q8;
  gint32 y_q8;
  guint32 area;
  gfloat angle_deg;
  gfloat distance_px;
} PbfSpatter;

/**
 * PbfResult:
 * @magic: %PBF_RESULT_MAGIC
 * @size: 896
 * @version: %PBF_RESULT_VERSION
 * @timestamp_ns: the buffer's presentation time; all ones if it had none
 * @frame_index: running number of the frame since the stream started
 * @frame_counter: of the signals; without them the low bits of @frame_index
 * @flags: #PbfResultFlags
 * @layer: of the signals, else 0
 * @vector_id: of the signals, else 0
 * @x_um: of the signals, else 0
 * @y_um: of the signals, else 0
 * @roi_x: left column of the ROI in the frame
 * @roi_y: top row of the ROI in the frame
 * @e_x_q8: x of the expected pool position in the frame, Q8 pixels
 * @e_y_q8: y of the expected pool position in the frame, Q8 pixels
 * @raw: the spatial features as integers, in the scale of #PbfFeature
 * @var_num: n * S2 - S1 * S1 of the raw values over the window: the population
 *   variance times n * n and the square of the feature's scale, exactly
 * @features: the 40 features in their natural units: raw / scale, then
 *   var_num / n^2 / scale^2
 * @window_n: rows in the window, this frame included; 0 if not entered
 * @n_outputs: of the network; 0 without a network or for frames not entered
 * @outputs: of the network, after its output activation; the rest 0
 * @centroid_x_q8: x of the melt pool's centroid in the frame, Q8 pixels; 0
 *   without a pool
 * @centroid_y_q8: y of the melt pool's centroid, Q8 pixels; 0 without a pool
 * @orientation_deg: of the melt pool's long axis, -90 < angle <= 90, x right,
 *   y down
 * @bbox_x: of the melt pool in the frame: left column
 * @bbox_y: top row
 * @bbox_width: columns; 0 without a pool
 * @bbox_height: rows
 * @max_intensity: largest value of a pool pixel
 * @saturated: pool pixels of value 255
 * @n_spatters: spatters described in @spatters, the largest first (equal ones
 *   in raster order of their first pixels)
 * @signal_flags: #PbfSignalFlags of the frame; 0 without signals
 * @spatters: the spatters
 * @roi_size: columns and rows of the ROI; 0 in records of older versions and of
 *   frames that were not analysed
 * @position_confidence: of an expected position that was chosen among the
 *   components of the frame: the chosen one's share in the sum of the two
 *   highest scores, Q16: 65536 means no other component, 32768 an equal one. 0
 *   if the position has another source, if no pixel reaches the threshold, and
 *   in records of older versions
 * @reserved: zero
 *
 * Empty frames carry zeros from @raw on.
 */
typedef struct {
  guint32 magic;
  guint16 size;
  guint16 version;
  guint64 timestamp_ns;
  guint64 frame_index;
  guint32 frame_counter;
  guint32 flags;
  guint32 layer;
  guint32 vector_id;
  gint32 x_um;
  gint32 y_um;
  gint32 roi_x;
  gint32 roi_y;
  gint32 e_x_q8;
  gint32 e_y_q8;
  gint32 raw[PBF_N_SPATIAL];
  gint64 var_num[PBF_N_SPATIAL];
  gfloat features[PBF_N_FEATURES];
  guint32 window_n;
  guint32 n_outputs;
  gfloat outputs[PBF_MAX_OUTPUTS];
  gint32 centroid_x_q8;
  gint32 centroid_y_q8;
  gfloat orientation_deg;
  guint16 bbox_x;
  guint16 bbox_y;
  guint16 bbox_width;
  guint16 bbox_height;
  guint16 max_intensity;
  guint16 saturated;
  guint32 n_spatters;
  guint32 signal_flags;
  PbfSpatter spatters[PBF_MAX_SPATTERS];
  guint32 roi_size;
  guint32 position_confidence;
  guint32 reserved[8];
} PbfResult;

#ifndef __GI_SCANNER__
G_STATIC_ASSERT (sizeof (PbfResult) == 896);
#endif

G_END_DECLS
