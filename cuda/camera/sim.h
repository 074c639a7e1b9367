/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A synthetic laser powder-bed-fusion printer under a high-speed camera: grey
 * frames, the machine signals that go with them, and what they really show.
 *
 * The laser scans hatch lines back and forth at 1 m/s, 200 um a pixel (which is
 * PBF_CALIBRATION_DEFAULT), a layer along x, the next along y. A melt pool is a
 * saturated core with a dim tail opposite to the motion; spatters leave it and
 * cool while they fly; sensor noise of 8..20 lies on top. About 10 % of the
 * time the laser is off between two lines.
 *
 * Every frame is a function of the configuration and its number alone, in
 * arithmetic that is exact or rounded as IEEE 754 says: the same bytes on every
 * machine, in any order of frames. */
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
#define PBF_SIM_MIXED_FRAMES 3000  /* frames in a row of one regime */
#define PBF_SIM_DRIFT_FRAMES 20000 /* until drift is at its full size */

/**
 * PbfSimRegime:
 * @PBF_SIM_NOMINAL: a steady pool, a spatter now and then
 * @PBF_SIM_KEYHOLE: small, narrow, bright, unsteady; more ejecta
 * @PBF_SIM_LACK_OF_FUSION: large, dim, ragged; at times below the threshold
 * @PBF_SIM_SPATTER: a nominal pool that throws many spatters
 * @PBF_SIM_DRIFT: nominal at first; grows larger, brighter and off its place
 *   over PBF_SIM_DRIFT_FRAMES frames, then stays so
 * @PBF_SIM_MIXED: the five above one after the other, PBF_SIM_MIXED_FRAMES frames
 *   each
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
 * @fps_n, @fps_d: frames a second, above 0 and up to 1000000; both terms up to
 *   2147483647
 * @seed: of everything random
 * @regime: what the process does
 */
typedef struct {
  guint width, height;
  guint fps_n, fps_d;
  guint64 seed;
  PbfSimRegime regime;
} PbfSimConfig;

/**
 * PbfSimTruth: what a frame shows, before noise; "area" counts pixels that reach
 * 100 over the mean background
 * @regime: that the frame was made in, never MIXED
 * @laser_on: the frame shows a pool
 * @pool_x, @pool_y: where the laser spot really is, pixels, centres at +0.5
 *   (the signals tell where it was sent: jitter and drift lie between)
 * @pool_area: pixels of the pool within the frame
 * @n_spatters: spatters of at least one pixel within the frame
 * @spatter_x, @spatter_y, @spatter_area: their centres and areas; those of the
 *   first PBF_SIM_MAX_SPATTERS (there are never more than 25)
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

/* The time of frame @frame: floor (@frame * fps_d / fps_n) in nanoseconds, as
 * gst_util_uint64_scale() gives it. */
guint64 pbf_sim_time (const PbfSim *sim, guint64 frame);

/**
 * pbf_sim_render:
 * @frame: number of the frame, from 0
 * @pixels: (out): top left pixel; of each row, width bytes are written
 * @stride: bytes from row to row, >= width
 * @signal: (out): the frame's record, sealed; its counter is @frame
 * @truth: (out): entries of spatters beyond n_spatters are not written
 *
 * May be called from several threads at once.
 */
void pbf_sim_render (const PbfSim *sim, guint64 frame, guint8 *pixels,
    gsize stride, PbfSignal *signal, PbfSimTruth *truth);

G_END_DECLS
