/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The denoising engine: frames of video in, the same frames with less noise out, on the
 * CPU, with the same bits for any number of threads and any instruction set.
 *
 * A frame is averaged with its neighbours in time along the motion of the regularised
 * field (cuda/motion), as far as its blocks are found there; then a spatial filter
 * removes what noise is left: shrinkage of overlapping 8x8 cosine transforms, then
 * the collaborative Wiener filter of K. Dabov, A. Foi, V. Katkovnik, K. Egiazarian
 * (IEEE Trans. Image Processing 16, 2007) with that as its pilot. The definitions are in
 * docs/design/denoise.md. */
#pragma once

#include "cuda/core/backend.h"

G_BEGIN_DECLS

#define DENOISE_MAX_RADIUS 6
#define DENOISE_MAX_DEPTH 2 /* frames in flight, without those that wait */

typedef enum {
  DENOISE_MODE_BOTH,     /* temporal, then spatial */
  DENOISE_MODE_TEMPORAL, /* neighbours within the radius */
  DENOISE_MODE_SPATIAL,  /* each frame alone */
  DENOISE_MODE_RECURSIVE, /* temporal, with the denoised frame before; then spatial */
} DenoiseMode;

typedef enum {
  DENOISE_PRESET_NONE,
  /* temporal, half of the noise stays, except in the first frame of a scene */
  DENOISE_PRESET_ENCODER,
} DenoisePreset;

/**
 * DenoiseConfig: set up with denoise_config_init(), then changed
 * @width, @height: of the first component, pixels, 1..16384
 * @depth: bits of a sample, 8, 10 or 16
 * @n_components: 1 or 3
 * @sub_x, @sub_y: log2 of the subsampling of components 1 and 2, 0 or 1
 * @strength: factor of the noise that is assumed, 0..8
 * @sigma: standard deviation of the noise, levels of 8 bits, up to 64; 0 or less:
 *   estimated
 * @keep_grain: share of what would be removed that stays, 0..1
 * @luma_only: components 1 and 2 are copied
 * @radius: frames before and after a frame, 1..DENOISE_MAX_RADIUS
 * @threads: of the CPU backend; 0: one per processor
 * @depth_in_flight: frames that may be submitted and not waited for, 1..
 *   DENOISE_MAX_DEPTH, without those that wait for later frames
 */
typedef struct {
  guint width, height;
  guint depth;
  guint n_components;
  guint sub_x, sub_y;
  DenoiseMode mode;
  DenoisePreset preset;
  gdouble strength, sigma, keep_grain;
  gboolean luma_only;
  guint radius;
  guint threads;
  guint depth_in_flight;
} DenoiseConfig;

void denoise_config_init (DenoiseConfig *config);
/* Returns: FALSE with CVIS_ERROR_INVALID naming the first field out of range. */
gboolean denoise_config_check (const DenoiseConfig *config, GError **error);
/* Frames before and after a frame that its result depends on. */
guint denoise_config_get_before (const DenoiseConfig *config);
guint denoise_config_get_after (const DenoiseConfig *config);

/* A component of a frame.
 * @data: first sample; one byte each with a depth of 8, else two, little endian
 * @stride: bytes from row to row
 * @step: samples from one sample to the next in a row, 1 or 2 (NV12) */
typedef struct {
  guint8 *data;
  gsize stride;
  guint step;
} DenoisePlane;

/**
 * DenoiseJob: a frame. It belongs to the engine from denoise_engine_submit() until
 * denoise_engine_wait() returns it, and so does the memory it points to
 * @in, @out: components, of the size in the configuration; no two overlap
 * @shift: the value is the sample shifted right by this many bits (P010: 6)
 * @on_device: the components are device pointers (CUDA only). They are read after the
 *   work on the CUDA stream @stream (a CUstream; %NULL: the legacy default stream)
 * @sigma: (out): noise of each component that was assumed, levels of 8 bits, before
 *   @strength
 * @starts_scene: (out): no frame before it was used, as it shows something else
 */
typedef struct {
  DenoisePlane in[3], out[3];
  guint shift;
  gboolean on_device;
  gpointer stream;
  gdouble sigma[3];
  gboolean starts_scene;
} DenoiseJob;

typedef struct _DenoiseEngine DenoiseEngine;

/* Allocates all memory. @context: %NULL: the CPU; there is no other backend.
 * Returns: %NULL with CVIS_ERROR_INVALID or _MEMORY */
DenoiseEngine *denoise_engine_new (
    const DenoiseConfig *config, CvisContext *context, GError **error);
/* Waits for frames in flight and frees the engine. */
void denoise_engine_free (DenoiseEngine *engine);
/* Frames in flight at most, with those that wait for later frames. */
guint denoise_engine_get_depth (const DenoiseEngine *engine);

/* Submits the next frame. More frames than allowed in flight are an error. On FALSE the
 * caller keeps the frame and the stream continues without it. submit and end may run in
 * one thread while wait runs in another. */
gboolean denoise_engine_submit (
    DenoiseEngine *engine, DenoiseJob *job, GError **error);
/* Completes the oldest frame in flight and returns it in @job: %NULL if there is none or
 * it waits for later frames. On FALSE the frame is returned too, without a result. */
gboolean denoise_engine_wait (
    DenoiseEngine *engine, DenoiseJob **job, GError **error);
/* Ends the stream: frames in flight do not wait for later frames, and the next frame
 * submitted is the first of a new stream. */
void denoise_engine_end (DenoiseEngine *engine);

G_END_DECLS
