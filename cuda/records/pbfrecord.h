/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The two records of melt-pool monitoring, as stored in memory and files and
 * sent over the network: the machine's signals of one frame (CvisPbfSignal, 64
 * bytes) and the results computed from it (CvisPbfResult, 896 bytes). Both are
 * little-endian, without padding, and have magic, size and version. This
 * header needs only GLib's integer types.
 *
 * Feature specification "pbf40-v1". Coordinates are pixels of the analysed
 * frame, x to the right, y down, pixel centres at +0.5; "Q8" means fixed
 * point with 8 fractional bits, "Q16" with 16. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define CVIS_PBF_FEATURE_SPEC "pbf40-v1"
#define CVIS_PBF_ROI_SIDE                                                      \
  40 /* default size of the region of interest, pixels */
#define CVIS_PBF_N_SPATIAL 20    /* spatial features */
#define CVIS_PBF_N_FEATURES 40   /* and their variances over the window */
#define CVIS_PBF_MAX_OUTPUTS 8   /* of the network */
#define CVIS_PBF_MAX_SPATTERS 16 /* listed in a record; all are counted */

/* --- CvisPbfSignal ------------------------------------------------------------ */

#define CVIS_PBF_SIGNAL_MAGIC 0x31464250u /* "PBF1" in memory */
#define CVIS_PBF_SIGNAL_VERSION 1

/**
 * CvisPbfSignalFlags:
 * @CVIS_PBF_SIGNAL_LASER_ON: the laser emits
 * @CVIS_PBF_SIGNAL_LAYER_START: first frame of a layer
 * @CVIS_PBF_SIGNAL_VECTOR_START: first frame of a scan vector (hatch line)
 * @CVIS_PBF_SIGNAL_POSITION_VALID: x_um and y_um are valid
 * @CVIS_PBF_SIGNAL_TEST: made by a simulator or a test
 */
typedef enum {
  CVIS_PBF_SIGNAL_LASER_ON = 1 << 0,
  CVIS_PBF_SIGNAL_LAYER_START = 1 << 1,
  CVIS_PBF_SIGNAL_VECTOR_START = 1 << 2,
  CVIS_PBF_SIGNAL_POSITION_VALID = 1 << 3,
  CVIS_PBF_SIGNAL_TEST = 1 << 4,
} CvisPbfSignalFlags;

/**
 * CvisPbfSignal:
 * @magic: %CVIS_PBF_SIGNAL_MAGIC
 * @size: 64
 * @version: %CVIS_PBF_SIGNAL_VERSION
 * @frame_counter: counts the camera's frames, wraps at 2^32
 * @flags: #CvisPbfSignalFlags
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
} CvisPbfSignal;

#ifndef __GI_SCANNER__
G_STATIC_ASSERT (sizeof (CvisPbfSignal) == 64);
#endif

/* --- CvisPbfResult ------------------------------------------------------------ */

#define CVIS_PBF_RESULT_MAGIC 0x31524250u /* "PBR1" in memory */
#define CVIS_PBF_RESULT_VERSION 1

/**
 * CvisPbfResultFlags:
 * @CVIS_PBF_RESULT_EMPTY: no melt pool to be expected (laser off, or without
 *   signals no pixel reaches the threshold); the frame is not in the window
 * @CVIS_PBF_RESULT_WARMUP: fewer frames in the window than its length
 * @CVIS_PBF_RESULT_NO_POOL: laser on, yet no pixel of the ROI reaches the threshold;
 *   entered into the window with zeros
 * @CVIS_PBF_RESULT_NO_SIGNAL: no machine signals came with the frame
 * @CVIS_PBF_RESULT_SIGNAL_CORRUPT: the record's magic, size, version or CRC is
 *   wrong; it was not used
 * @CVIS_PBF_RESULT_LOST_BEFORE: the frame counter skipped numbers before this frame
 * @CVIS_PBF_RESULT_LATE: the frame counter jumped back; not entered into the window
 * @CVIS_PBF_RESULT_REPEATED: the frame counter stood still; not entered
 * @CVIS_PBF_RESULT_WINDOW_RESET: the temporal window restarted with this frame
 * @CVIS_PBF_RESULT_POSITION_FALLBACK: the configured source had no position for this
 *   frame; the brightest spot was used
 * @CVIS_PBF_RESULT_SPATTERS_CUT: more than 16 spatters: the largest are listed
 * @CVIS_PBF_RESULT_EXCLUDED: features were computed but the frame did not enter the
 *   window (late, repeated, or empty and analysed all the same)
 * @CVIS_PBF_RESULT_ROI_CLAMPED: the ROI would have left the frame and was moved in
 * @CVIS_PBF_RESULT_GAP: the flow was marked discontinuous before this frame
 * @CVIS_PBF_RESULT_POOL_AT_EDGE: the melt pool touches the edge of the ROI, which may
 *   have cut it
 * @CVIS_PBF_RESULT_POSITION_UNSURE: the expected position is that of the component with
 *   the highest score, but another one scores nearly as high: its score
 *   exceeds a quarter of the chosen one's (see @position_confidence)
 */
typedef enum {
  CVIS_PBF_RESULT_EMPTY = 1 << 0,
  CVIS_PBF_RESULT_WARMUP = 1 << 1,
  CVIS_PBF_RESULT_NO_POOL = 1 << 2,
  CVIS_PBF_RESULT_NO_SIGNAL = 1 << 3,
  CVIS_PBF_RESULT_SIGNAL_CORRUPT = 1 << 4,
  CVIS_PBF_RESULT_LOST_BEFORE = 1 << 5,
  CVIS_PBF_RESULT_LATE = 1 << 6,
  CVIS_PBF_RESULT_REPEATED = 1 << 7,
  CVIS_PBF_RESULT_WINDOW_RESET = 1 << 8,
  CVIS_PBF_RESULT_POSITION_FALLBACK = 1 << 9,
  CVIS_PBF_RESULT_SPATTERS_CUT = 1 << 10,
  CVIS_PBF_RESULT_EXCLUDED = 1 << 11,
  CVIS_PBF_RESULT_ROI_CLAMPED = 1 << 12,
  CVIS_PBF_RESULT_GAP = 1 << 13,
  CVIS_PBF_RESULT_POOL_AT_EDGE = 1 << 14,
  CVIS_PBF_RESULT_POSITION_UNSURE = 1 << 15,
} CvisPbfResultFlags;

/* Index of a spatial feature in CvisPbfResult.raw and .features. Its variance is
 * at index + CVIS_PBF_N_SPATIAL of .features and at the same index of .var_num. */
typedef enum {
  CVIS_PBF_MP_AREA = 0,
  CVIS_PBF_SPATTER_AREA = 1,
  CVIS_PBF_SPATTER_COUNT = 2,
  CVIS_PBF_MP_RATIO = 3, /* Q16 */
  CVIS_PBF_MP_MEAN = 4,  /* Q8 */
  CVIS_PBF_POLAR_0 = 5,  /* to 10: sectors of 60 degrees */
  CVIS_PBF_HOG_0 = 11,   /* to 19: bins of 20 degrees, Q16 */
} CvisPbfFeature;

/**
 * CvisPbfSpatter:
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
} CvisPbfSpatter;

/**
 * CvisPbfResult:
 * @magic: %CVIS_PBF_RESULT_MAGIC
 * @size: 896
 * @version: %CVIS_PBF_RESULT_VERSION
 * @timestamp_ns: the buffer's presentation time; all ones if it had none
 * @frame_index: running number of the frame since the stream started
 * @frame_counter: of the signals; without them the low bits of @frame_index
 * @flags: #CvisPbfResultFlags
 * @layer: of the signals, else 0
 * @vector_id: of the signals, else 0
 * @x_um: of the signals, else 0
 * @y_um: of the signals, else 0
 * @roi_x: left column of the ROI in the frame
 * @roi_y: top row of the ROI in the frame
 * @e_x_q8: x of the expected pool position in the frame, Q8 pixels
 * @e_y_q8: y of the expected pool position in the frame, Q8 pixels
 * @raw: the spatial features as integers, in the scale of #CvisPbfFeature
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
 * @signal_flags: #CvisPbfSignalFlags of the frame; 0 without signals
 * @spatters: the spatters
 * @roi_size: columns and rows of the ROI; 0 in records of older versions and of
 *   frames that were not analysed
 * @position_confidence: of an expected position that was chosen among the
 *   components of the frame: the chosen one's share in the sum of the two
 *   highest scores, Q16: 65536 means no other component, 32768 an equal one. 0
 *   if the position has another source, if no pixel reaches the threshold, and
 *   in records of older versions
 * @class_index: the class: the number of the largest output, of equals the first; with
 *   an output of unknown frames that one if it reaches 0.5, else the largest of the
 *   others. Valid if @vote_n > 0
 * @class_probability: its value, if the output activation makes probabilities
 *   (sigmoid, softmax); else 0
 * @vote_n: frames that vote: the last frames with a class, this one included. 0 if
 *   this frame has no class: fewer than two outputs, or one that is NaN
 * @vote_class: the class of most of them, of equals the first output
 * @vote_count: how many of them have it
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
  gint32 raw[CVIS_PBF_N_SPATIAL];
  gint64 var_num[CVIS_PBF_N_SPATIAL];
  gfloat features[CVIS_PBF_N_FEATURES];
  guint32 window_n;
  guint32 n_outputs;
  gfloat outputs[CVIS_PBF_MAX_OUTPUTS];
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
  CvisPbfSpatter spatters[CVIS_PBF_MAX_SPATTERS];
  guint32 roi_size;
  guint32 position_confidence;
  guint32 class_index;
  gfloat class_probability;
  guint32 vote_n;
  guint32 vote_class;
  guint32 vote_count;
  guint32 reserved[3];
} CvisPbfResult;

#ifndef __GI_SCANNER__
G_STATIC_ASSERT (sizeof (CvisPbfResult) == 896);
#endif

G_END_DECLS
