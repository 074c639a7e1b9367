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
 * 10 % of the time the laser is off between two lines.
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

/**
 * PbfSimRegime:
 * @PBF_SIM_NOMINAL: a steady melt pool, few spatters
 * @PBF_SIM_KEYHOLE: small, narrow, bright, unsteady; more spatters
 * @PBF_SIM_LACK_OF_FUSION: large, dim, ragged; sometimes below the threshold
 * @PBF_SIM_SPATTER: a nominal melt pool with many spatters
 * @PBF_SIM_DRIFT: nominal at first; becomes larger, brighter and displaced
 *   over PBF_SIM_DRIFT_FRAMES frames, then stays so
 * @PBF_SIM_MIXED: the five above in turn, PBF_SIM_MIXED_FRAMES frames each
 */
typedef enum {
  PBF_SIM_NOMINAL,
  PBF_SIM_KEYHOLE,
  PBF_SIM_LACK_OF_FUSION,
  PBF_SIM_SPATTER,
  PBF_SIM_DRIFT,
  PBF_SIM_MIXED,
} PbfSimRegime;

/**
 * PbfSimConfig:
 * @width, @height: of the frames, 40..4096 pixels
 * @fps_n, @fps_d: frames a second, above 0 and up to 1000000; both terms up
 *   to 2147483647
 * @seed: of all random numbers
 * @regime: behaviour of the process
 */
typedef struct {
  guint width, height;
  guint fps_n, fps_d;
  guint64 seed;
  PbfSimRegime regime;
} PbfSimConfig;

/**
 * PbfSimTruth: ground truth of a frame, before noise; "area" counts pixels
 * of at least 100 above the mean background
 * @regime: of this frame, never MIXED
 * @laser_on: the frame shows a melt pool
 * @pool_x, @pool_y: true position of the laser spot, pixels, centres at +0.5
 *   (the signals have the commanded position; jitter and drift are the
 *   difference)
 * @pool_area: pixels of the melt pool within the frame
 * @n_spatters: spatters of at least one pixel within the frame
 * @spatter_x, @spatter_y, @spatter_area: centres and areas of the first
 *   PBF_SIM_MAX_SPATTERS (there are never more than 25)
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
