/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A synthetic laser powder-bed-fusion printer under a high-speed camera:
 * grey frames, their machine signals, and the ground truth.
 *
 * The laser scans hatch lines back and forth at 1 m/s, 200 um a pixel (which
 * is PBF_CALIBRATION_DEFAULT), one layer along x, the next along y. A melt
 * pool is a saturated core with a dim tail opposite to the motion; spatters
 * leave it and cool as they fly; sensor noise of 8..20 is added. For about
 * 10 % of the time the laser is off between two lines. PbfSimMachine has what
 * differs from machine to machine and from day to day.
 *
 * Every frame is a function of the configuration and the frame number only,
 * in exact or IEEE 754 arithmetic: the same bytes on every machine, in any
 * order of frames. */
#pragma once

#include "cuda/core/error.h"
#include "cuda/records/pbfrecord.h"

G_BEGIN_DECLS

#define PBF_SIM_MIN_SIDE 40
#define PBF_SIM_MAX_SIDE 4096
#define PBF_SIM_MAX_FPS 1000000
#define PBF_SIM_MAX_SPATTERS 32
#define PBF_SIM_UM_PER_PIXEL 200
#define PBF_SIM_LINES_PER_LAYER 24
#define PBF_SIM_MIXED_FRAMES 3000  /* consecutive frames of one regime */
#define PBF_SIM_DRIFT_FRAMES 20000 /* until drift has its full size */
#define PBF_SIM_BLOCK_LINES 6      /* lines of one regime in a build */
#define PBF_SIM_BUILD_PERIOD 8     /* layers; the last two of them drift */

/**
 * PbfSimRegime:
 * @PBF_SIM_NOMINAL: a steady melt pool, few spatters
 * @PBF_SIM_KEYHOLE: small, narrow, bright, unsteady; more spatters
 * @PBF_SIM_LACK_OF_FUSION: large, dim, ragged; sometimes below the threshold
 * @PBF_SIM_SPATTER: a nominal melt pool with many spatters
 * @PBF_SIM_DRIFT: nominal at first; becomes larger, brighter and displaced
 *   over PBF_SIM_DRIFT_FRAMES frames, then stays so
 * @PBF_SIM_MIXED: the five above in turn, PBF_SIM_MIXED_FRAMES frames each
 * @PBF_SIM_BUILD: a build with defects at random places, constant along a line. The
 *   first two layers are nominal. From then on each block of PBF_SIM_BLOCK_LINES lines
 *   is nominal with a probability of 1/2, else keyhole, lack of fusion or spatter, with
 *   1/4 to all of the severity. In the last two layers of PBF_SIM_BUILD_PERIOD the
 *   process drifts instead, from line to line.
 */
typedef enum {
  PBF_SIM_NOMINAL,
  PBF_SIM_KEYHOLE,
  PBF_SIM_LACK_OF_FUSION,
  PBF_SIM_SPATTER,
  PBF_SIM_DRIFT,
  PBF_SIM_MIXED,
  PBF_SIM_BUILD,
} PbfSimRegime;

/**
 * PbfSimMachine: what differs between machines and days, rounded to 1/256; set up with
 * pbf_sim_machine_init() to values that change nothing
 * @gain: factor of the light, 0.25..4
 * @noise: standard deviation of Gaussian noise in addition to the sensor's,
 *   grey levels, 0..32
 * @blur: standard deviation of the optics' blur, pixels, 0..8
 * @background: added to all pixels, grey levels, -8..64
 * @full_scale: grey level at which the sensor saturates, 110..255
 * @pool_size: factor of the pool's length and width, 0.25..4
 * @elongation: factor of the pool's length alone, 0.25..4
 * @scan_speed: m/s, 0.1..10
 * @spatter_rate: factor of the number of spatters, 0..8; there is at most one in 50 us
 * @offset_x, @offset_y: from the position of the signals to the pool, pixels,
 *   -16..16
 * @severity: of the defect of the regime, 0..1: 0 looks nominal
 */
typedef struct {
  gdouble gain, noise, blur, background, full_scale;
  gdouble pool_size, elongation, scan_speed, spatter_rate;
  gdouble offset_x, offset_y;
  gdouble severity;
} PbfSimMachine;

void pbf_sim_machine_init (PbfSimMachine *machine);

/**
 * PbfSimConfig:
 * @width, @height: of the frames, 40..4096 pixels
 * @fps_n, @fps_d: frames a second, above 0 and up to 1000000; both terms up
 *   to 2147483647
 * @seed: of all random numbers
 * @regime: behaviour of the process
 * @machine: (nullable): read by pbf_sim_new() only; %NULL: the initial values
 */
typedef struct {
  guint width, height;
  guint fps_n, fps_d;
  guint64 seed;
  PbfSimRegime regime;
  const PbfSimMachine *machine;
} PbfSimConfig;

/**
 * PbfSimTruth: ground truth of a frame, before noise; "area" counts pixels
 * of at least 100 above the mean background
 * @regime: of this frame, never MIXED or BUILD
 * @laser_on: the frame shows a melt pool
 * @pool_x, @pool_y: true position of the laser spot, pixels, centres at +0.5
 *   (the signals have the commanded position; jitter and drift are the
 *   difference)
 * @pool_area: pixels of the melt pool within the frame
 * @n_spatters: spatters of at least one pixel within the frame
 * @spatter_x, @spatter_y, @spatter_area: centres and areas of the first
 *   PBF_SIM_MAX_SPATTERS (there are never more than 25)
 * @severity: of the defect at this frame, 0..1; 0 if the regime is nominal
 * @drift: size of the drift, 0..1: its progress times the severity; 0 in other regimes
 */
typedef struct {
  PbfSimRegime regime;
  gboolean laser_on;
  gfloat pool_x, pool_y;
  guint pool_area;
  guint n_spatters;
  gfloat spatter_x[PBF_SIM_MAX_SPATTERS];
  gfloat spatter_y[PBF_SIM_MAX_SPATTERS];
  guint16 spatter_area[PBF_SIM_MAX_SPATTERS];
  gfloat severity, drift;
} PbfSimTruth;

typedef struct _PbfSim PbfSim;

/* Returns: %NULL with CVIS_ERROR_INVALID naming the first field out of range. */
PbfSim *pbf_sim_new (const PbfSimConfig *config, GError **error);
void pbf_sim_free (PbfSim *sim);

/* Time of frame @frame: floor (@frame * fps_d / fps_n) in nanoseconds, like
 * gst_util_uint64_scale(). */
guint64 pbf_sim_time (const PbfSim *sim, guint64 frame);

/**
 * pbf_sim_render:
 * @frame: number of the frame, from 0
 * @pixels: (out): top left pixel; width bytes of each row are written
 * @stride: bytes from row to row, >= width
 * @signal: (out): the frame's record, sealed; its counter is @frame
 * @truth: (out): spatter entries beyond n_spatters are not written
 *
 * May be called from several threads at once.
 */
void pbf_sim_render (const PbfSim *sim, guint64 frame, guint8 *pixels,
    gsize stride, CvisPbfSignal *signal, PbfSimTruth *truth);

G_END_DECLS
