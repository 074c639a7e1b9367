/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The denoising engine: frames of video in, the same frames with less noise out, on the
 * CPU, on a CUDA device or on several, with the same bits.
 *
 * A frame is averaged with its neighbours in time along the motion of the regularised
 * field (cuda/motion), as far as its blocks are found there; then a spatial filter
 * removes what noise is left: shrinkage of overlapping 8x8 cosine transforms, then
 * the collaborative Wiener filter of K. Dabov, A. Foi, V. Katkovnik, K. Egiazarian
 * (IEEE Trans. Image Processing 16, 2007) with that as its pilot. The definitions are in
 * docs/design/denoise.md. */
#pragma once

#include "cuda/core/backend.h"
#include "cuda/core/fleet/devices.h"

G_BEGIN_DECLS

#define DENOISE_MAX_RADIUS 6
#define DENOISE_MAX_DEPTH 2 /* frames in flight, without those that wait */
#define DENOISE_MAX_CHUNK 128

typedef enum {
  DENOISE_MODE_BOTH,     /* temporal, then spatial */
  DENOISE_MODE_TEMPORAL, /* neighbours within the radius */
  DENOISE_MODE_SPATIAL,  /* each frame alone */
  DENOISE_MODE_RECURSIVE, /* temporal, with the denoised frame before; then spatial */
} DenoiseMode;

typedef enum {
  DENOISE_PRESET_NONE,
  /* temporal, noise of at least 2 levels is assumed (unless @sigma tells it), half of it
   * stays, except in the first frame of a scene */
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
 * @chunk: largest number of consecutive frames between two calls of
 *   denoise_engine_load(), for fleets (cuda/denoise/fleet.h), up to DENOISE_MAX_CHUNK; 0:
 *   the engine gets all frames. Not with DENOISE_MODE_RECURSIVE
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
  guint chunk;
} DenoiseConfig;

void denoise_config_init (DenoiseConfig *config);
/* Returns: FALSE with CVIS_ERROR_INVALID naming the first field out of range. */
gboolean denoise_config_check (const DenoiseConfig *config, GError **error);
/* Frames before and after a frame that its result depends on. */
guint denoise_config_get_before (const DenoiseConfig *config);
guint denoise_config_get_after (const DenoiseConfig *config);
/* Consecutive frames that a device of several denoises. @live: with a short delay instead
 * of the full rate */
guint denoise_config_get_chunk (const DenoiseConfig *config, gboolean live);

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
 * @on_device: the components are device pointers. They are read after the work on the
 *   CUDA stream @stream (a CUstream; %NULL: the legacy default stream)
 * @context: (nullable): with @on_device, the context of the components and of @stream;
 *   %NULL: the engine's. From and to another context, also of another device, the frame is
 *   copied; an engine on the CPU or over several devices needs it
 * @release: (nullable): an engine over several devices may read @in after the frame was
 *   returned: called with @input when it does not any more, by the thread that waits or
 *   frees the engine
 * @key_frame: the encoder will make a key frame of it: preset=encoder removes all noise
 * @sigma: (out): noise of each component that was assumed, levels of 8 bits, before
 *   @strength
 * @starts_scene: (out): no frame before it was used, as it shows something else
 */
typedef struct {
  DenoisePlane in[3], out[3];
  guint shift;
  gboolean on_device;
  gpointer stream;
  CvisContext *context;
  void (*release) (gpointer input);
  gpointer input;
  gboolean key_frame;
  gdouble sigma[3];
  gboolean starts_scene;
} DenoiseJob;

typedef struct _DenoiseEngine DenoiseEngine;

/* Allocates all memory. @context: (nullable): the CUDA context to compute in; %NULL: the
 * CPU. Returns: %NULL with CVIS_ERROR_INVALID, _MEMORY or _CUDA */
DenoiseEngine *denoise_engine_new (
    const DenoiseConfig *config, CvisContext *context, GError **error);
/* The same over several devices, with the bits of one: each denoises chunks of
 * @config->chunk frames, 0: denoise_config_get_chunk(). depth_in_flight is that of each
 * device */
DenoiseEngine *denoise_engine_new_over (const DenoiseConfig *config,
    const CvisDevices *devices, const CvisFleetOwner *owner, GError **error);
/* Returns: (nullable): the fleet of an engine over several devices */
CvisFleet *denoise_engine_get_fleet (DenoiseEngine *engine);
/* Waits for frames in flight and frees the engine. */
void denoise_engine_free (DenoiseEngine *engine);
/* Frames in flight at most, with those that wait for later frames. */
guint denoise_engine_get_depth (const DenoiseEngine *engine);

/* Submits the next frame. More frames than allowed in flight are an error. On FALSE the
 * caller keeps the frame and the stream continues without it. submit and end may run in
 * one thread while wait runs in another. */
gboolean denoise_engine_submit (
    DenoiseEngine *engine, DenoiseJob *job, GError **error);
/* Stores the next frame as a neighbour and does not denoise it; with chunks. The frames
 * before a chunk, as many as denoise_config_get_before() unless the stream begins there,
 * are loaded after denoise_engine_end(), then at most `chunk` frames are submitted and
 * those after the chunk loaded. The frame is read until the frames of that chunk have been
 * waited for. At most two chunks may have frames in flight. For the thread that submits. */
gboolean denoise_engine_load (
    DenoiseEngine *engine, DenoiseJob *job, GError **error);
/* Completes the oldest frame in flight and returns it in @job: %NULL if there is none or
 * it waits for later frames. On FALSE the frame is returned too, without a result. */
gboolean denoise_engine_wait (
    DenoiseEngine *engine, DenoiseJob **job, GError **error);
/* Ends the stream: frames in flight do not wait for later frames, and the next frame
 * submitted is the first of a new stream. */
void denoise_engine_end (DenoiseEngine *engine);

G_END_DECLS
