/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The melt-pool engine: frames in, CvisPbfResult records out (feature
 * specification "pbf40-v1"), on the CPU or on a CUDA device, with the same
 * bits.
 *
 * Source: M. Nourazar, B. G. Booth, B. Goossens, A GPU Optimization Workflow
 * for Real-time Execution of Ultra-high Frame Rate Computer Vision
 * Applications, J. Real-Time Image Processing 2023, section 3.
 * docs/design/meltpool.md has the definitions, with those that the paper
 * does not give. */
#pragma once

#include "cuda/core/backend.h"
#include "cuda/core/fleet/devices.h"
#include "cuda/meltpool/model.h"
#include "cuda/records/pbfrecord.h"
#include "cuda/crop/track.h"

G_BEGIN_DECLS

/* Limits of PbfConfig.roi_size, pixels. */
#define PBF_MIN_ROI 32
#define PBF_MAX_ROI 128

typedef enum {
  PBF_SPATTER_SCOPE_ROI,   /* spatters are searched in the ROI */
  PBF_SPATTER_SCOPE_FRAME, /* in the whole frame: components without a pixel
                            * of the ROI's melt pool */
} PbfSpatterScope;

typedef enum {
  PBF_WINDOW_RESET_NONE,
  PBF_WINDOW_RESET_GAP,    /* after more than max_gap empty or lost frames */
  PBF_WINDOW_RESET_VECTOR, /* at each new scan vector or layer */
  PBF_WINDOW_RESET_LAYER,  /* at each new layer */
} PbfWindowReset;

typedef enum {
  PBF_LABELLING_AUTO,  /* chosen by the number of runs in the ROI */
  PBF_LABELLING_FLOOD, /* bit-parallel flood fill */
  PBF_LABELLING_RUNS,  /* runs and union-find */
} PbfLabelling;

/* How a batch reaches the device; no effect on the CPU backend. */
typedef enum {
  PBF_TRANSFER_AUTO, /* whichever moves fewer bytes */
  PBF_TRANSFER_COPY, /* whole frames by copy engine */
  PBF_TRANSFER_MAP,  /* kernels read the ROI from pinned memory */
} PbfTransfer;

/* How a CUDA device computes. */
typedef enum {
  PBF_MODE_AUTO,  /* PBF_MODE_PERSISTENT for batches of up to PBF_FEW_FRAMES
                  * frames if the resident kernel supports the settings,
                  * otherwise PBF_MODE_BATCH */
  PBF_MODE_BATCH, /* kernels launched for each batch */
  PBF_MODE_GRAPH, /* as BATCH, full batches as a CUDA graph */
  PBF_MODE_PERSISTENT, /* one resident kernel takes frames from a ring; for
                        * regions of 40 x 40 pixels, PBF_SPATTER_SCOPE_ROI
                        * and frames in host memory */
} PbfMode;

#define PBF_FEW_FRAMES 4

/**
 * PbfConfig: set up with pbf_config_init(), then changed
 * @width, @height: of the frames, pixels, roi_size..16384
 * @threshold: 1..255; a pixel is foreground if it is >= threshold
 * @connectivity: 4 or 8
 * @search_radius: of the disc around the expected position, 0..40 pixels
 * @roi_size: side of the ROI, a multiple of 8 pixels, 32..128; 40 is the
 *   paper's and the fastest
 * @roi_align: the ROI's left column is a multiple of it: 1, 2, 4, 8, 16, 32
 * @min_spatter_area: 1..65535 pixels
 * @polar_inner, @polar_outer: 0 <= inner <= outer <= 57 pixels
 * @analyse_empty: features of empty frames are computed too; these records
 *   have the flags EMPTY and EXCLUDED and do not enter the window
 *   (PBF_EMPTY_FRAMES_ANALYSE)
 * @window: length of the temporal window, 1..1024 frames
 * @max_gap: for PBF_WINDOW_RESET_GAP, 0..1000000 frames
 * @mode: of the CUDA backend, see pbf_config_mode()
 * @parallel_frames: blocks of the resident kernel, 1..64; fewer are launched on
 *   a device that cannot run so many at once
 * @idle_sleep_ns: sleep of the idle resident kernel between two polls, ns
 * @spin_us: time that pbf_engine_wait() polls for results of the resident
 *   kernel before it sleeps between polls, microseconds
 * @lifetime_ms: of a launch of the resident kernel, 1..1000
 * @stall_at: with the build's option test-hooks: the resident kernel takes no frame
 *   from this number on; 0: no limit
 * @threads: of the CPU backend, including the waiting one; 0: one per
 *   processor
 * @max_batch: largest number of frames in a batch, 1..65536
 * @depth: batches in flight, 2..16
 * @independent: each batch begins with an empty window, so that batches can be computed
 *   on several devices; PbfWindow (cuda/meltpool/window.h) completes them. Never
 *   PBF_MODE_PERSISTENT
 */
typedef struct {
  guint width, height;
  guint threshold;
  guint connectivity;
  gdouble search_radius;
  guint roi_size;
  guint roi_align;
  PbfSpatterScope spatter_scope;
  guint min_spatter_area;
  gdouble polar_inner, polar_outer;
  gboolean analyse_empty;
  guint window;
  PbfWindowReset window_reset;
  guint max_gap;
  PbfActivation activation;
  PbfLabelling labelling;
  PbfTransfer transfer;
  PbfMode mode;
  guint parallel_frames;
  guint idle_sleep_ns;
  guint spin_us;
  guint lifetime_ms;
#ifdef CVIS_TEST_HOOKS
  guint stall_at;
#endif
  guint threads;
  guint max_batch;
  guint depth;
  gboolean independent;
} PbfConfig;

void pbf_config_init (PbfConfig *config);
/* Returns: FALSE with CVIS_ERROR_INVALID naming the first field out of range. */
gboolean pbf_config_check (const PbfConfig *config, GError **error);

/* The mode of a CUDA engine with the valid @config: never PBF_MODE_AUTO, and
 * PBF_MODE_PERSISTENT only if the resident kernel supports the settings. */
PbfMode pbf_config_mode (const PbfConfig *config);

/* Blocks of the resident kernel for frames at @rate a second; 0: at an unknown rate.
 * The fewest that keep the latency low and have twice the rate's capacity; see
 * docs/design/realtime.md. */
guint pbf_choose_parallel_frames (gdouble rate);

/* Names of the 40 features, in order. */
const gchar *pbf_feature_name (guint index);
/* Divisor of raw that gives the feature: 1, 256 or 65536 (index 0..19). */
guint pbf_feature_scale (guint index);

/**
 * PbfBatch: belongs to the caller from pbf_engine_wait() to
 * pbf_engine_submit(), to the engine in between, and so do its arrays
 * @n: frames, 1..max_batch
 * @frames: top left pixel of each frame
 * @strides: bytes from row to row of each frame, >= width
 * @pinned: all frames are in memory of cvis_pinned_alloc(): copied directly,
 *   otherwise through pinned memory
 * @on_device: frames are device pointers; addresses and strides are
 *   multiples of 4 (CUDA only)
 * @infos: of each frame
 * @results: (out): receives the records; with CUDA fastest in pinned
 *   memory, with @results_pinned set
 * @results_pinned: @results is in memory of cvis_pinned_alloc()
 */
typedef struct {
  guint n;
  const guint8 **frames;
  const guint *strides;
  gboolean pinned;
  gboolean on_device;
  const PbfFrameInfo *infos;
  CvisPbfResult *results;
  gboolean results_pinned;
} PbfBatch;

typedef struct _PbfEngine PbfEngine;

/**
 * pbf_engine_new:
 * @config: copied
 * @model: (nullable): the network; referenced
 * @context: (nullable): the CUDA context to compute in; %NULL for the CPU
 *
 * All memory is allocated here.
 */
PbfEngine *pbf_engine_new (const PbfConfig *config, PbfModel *model,
    CvisContext *context, GError **error);
/* The same over several devices, with the bits of one: devices compute batches, and the
 * thread that waits completes the first frames of each, whose window reaches into the
 * batch before. @config: depth is that of each device */
PbfEngine *pbf_engine_new_over (const PbfConfig *config, PbfModel *model,
    const CvisDevices *devices, const CvisFleetOwner *owner, GError **error);
/* Batches in flight at most. */
guint pbf_engine_get_depth (PbfEngine *engine);
/* Returns: (nullable): the fleet of an engine over several devices */
CvisFleet *pbf_engine_get_fleet (PbfEngine *engine);
/* Waits for batches in flight and frees the engine. */
void pbf_engine_free (PbfEngine *engine);

/* Reports the error of @batch that pbf_engine_submit() would; for any thread. */
gboolean pbf_engine_check (
    PbfEngine *engine, const PbfBatch *batch, GError **error);

/* Submits @batch. CUDA starts on it at once, and so do the CPU's threads
 * except one, which is the thread of pbf_engine_wait(). At most `depth`
 * batches may be in flight; one more is an error. submit may run in one
 * thread while wait runs in another. */
gboolean pbf_engine_submit (PbfEngine *engine, PbfBatch *batch, GError **error);

/* Completes the oldest batch in flight and returns it in @batch (%NULL if
 * there is none). On FALSE the batch is returned too, but its results are
 * not valid. */
gboolean pbf_engine_wait (PbfEngine *engine, PbfBatch **batch, GError **error);

/* Whether the resident kernel stalled and batch kernels have replaced it. */
gboolean pbf_engine_has_fallen_back (PbfEngine *engine);

/* Forgets the temporal window, for a new stream. No batch may be in flight. */
void pbf_engine_reset (PbfEngine *engine);

G_END_DECLS
