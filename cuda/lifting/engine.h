/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The lifting engine: surfaces in; their noise, roughness, waviness, form or
 * coefficients out, on the CPU or on a CUDA device, to the same bits.
 *
 * What is computed is defined in docs/design/lifting.md; sources are named in
 * cuda/wavelet/wavelet.h. */
#pragma once

#include "cuda/core/backend.h"
#include "cuda/records/surfacerecord.h"
#include "cuda/wavelet/boundary.h"
#include "cuda/wavelet/wavelet.h"

G_BEGIN_DECLS

typedef enum {
  LWT_OPERATION_FILTER,  /* noise + roughness + waviness + form; bands */
  LWT_OPERATION_FORWARD, /* bands */
  LWT_OPERATION_INVERSE, /* bands in, the surface out */
  LWT_OPERATION_DENOISE, /* the surface with small coefficients shrunk; noise */
} LwtOperation;

typedef enum {
  LWT_LAYOUT_MALLAT, /* the low band in the upper left quarter, and so on */
  LWT_LAYOUT_INTERLEAVED, /* each coefficient where its sample was */
} LwtLayout;

/* In what is computed, and what comes out */
typedef enum {
  LWT_TYPE_F32,
  LWT_TYPE_F64,
  LWT_TYPE_I32, /* forward and inverse of reversible wavelets */
} LwtType;

/* Type of input samples */
typedef enum {
  LWT_SAMPLE_F32,
  LWT_SAMPLE_F64,
  LWT_SAMPLE_I32,
  LWT_SAMPLE_U8,
  LWT_SAMPLE_U16, /* little endian */
} LwtSample;

/* Form subtracted before the transform, fitted by least squares in FP64 over the
 * points that are there */
typedef enum {
  LWT_F_NONE,
  LWT_F_OFFSET, /* the mean */
  LWT_F_LEVEL,  /* the tilt; the mean stays */
  LWT_F_PLANE,  /* mean and tilt */
  LWT_F_POLY2,  /* 1, x, y, x^2, xy, y^2 */
} LwtFOperation;

/* Rule that shrinks a coefficient w at a threshold t */
typedef enum {
  LWT_SHRINK_SOFT,    /* w - sign (w) t beyond t, else 0 */
  LWT_SHRINK_HARD,    /* w beyond t, else 0 */
  LWT_SHRINK_GARROTE, /* w - t^2 / w beyond t, else 0 */
} LwtShrink;

/* Set of parts: 1 << SurfacePart */
typedef guint32 LwtParts;

/**
 * LwtConfig: set up with lwt_config_init(), then changed
 * @width, @height: of the surface, 1..LWT_MAX_SIDE; with `inverse` too, where
 *   what comes in is of lwt_config_get_bands_size()
 * @wavelet: (transfer none): copied by the engine
 * @levels: [0] along x, [1] along y, 0..16: of the form; of all coefficients in
 *   the other operations
 * @levels_roughness: where roughness ends and waviness begins; each at most
 *   @levels
 * @levels_noise: where noise ends and roughness begins (0: there is no noise);
 *   each at most @levels_roughness
 * @z_scale, @z_offset: z = sample * z_scale + z_offset in metres, in FP64
 * @dx, @dy: spacing of samples in metres, above 0
 * @shrink, @threshold, @spins: of `denoise`: threshold in metres, 0: sigma
 *   sqrt (2 ln N), sigma = median |w| / 0.6745 of the finest diagonal band,
 *   times @threshold_scale; spins: shifts of the grid averaged, 1..16
 * @store_bits, @store_shift: of `denoise` of U8 and U16: MEASURED leaves in the
 *   type of the samples, as round (z / (z_scale 2^store_shift)) limited to 0..
 *   2^store_bits - 1, times 2^store_shift. 0 bits: as the type computed in
 * @parts: what is wanted of NOISE, ROUGHNESS, WAVINESS, FORM, BANDS (filter);
 *   BANDS (forward); MEASURED (inverse); MEASURED, NOISE (denoise)
 * @parameters: components whose SurfaceParameters are wanted; not BANDS
 * @threads: of the CPU backend; 0: one per processor
 * @depth_in_flight: jobs that may be submitted and not waited for, 1..8
 * @device_memory: bytes of the device that may be used, 0: what is free;
 *   larger surfaces are done in row blocks, to the same bits
 */
typedef struct {
  guint width, height;
  LwtOperation operation;
  LwtSample sample;
  LwtType type;
  const LwtWavelet *wavelet;
  LwtBoundary boundary;
  LwtLayout layout;
  guint levels[2];
  guint levels_roughness[2];
  guint levels_noise[2];
  LwtFOperation f_operation;
  gdouble z_scale, z_offset;
  gdouble dx, dy;
  LwtShrink shrink;
  gdouble threshold, threshold_scale;
  guint spins;
  guint store_bits, store_shift;
  LwtParts parts;
  LwtParts parameters;
  guint threads;
  guint depth_in_flight;
  guint64 device_memory;
} LwtConfig;

void lwt_config_init (LwtConfig *config);
/* Returns: FALSE with CVIS_ERROR_INVALID naming the first field that is out of
 * range or does not go with another. */
gboolean lwt_config_check (const LwtConfig *config, GError **error);
/* Size of BANDS: that of the surface, but with a padded boundary. */
void lwt_config_get_bands_size (
    const LwtConfig *config, guint *width, guint *height);
/* Bytes of a sample that comes in, and of one of the parts. */
gsize lwt_sample_get_size (LwtSample sample);
gsize lwt_type_get_size (LwtType type);
/* Bytes of a sample of a part that leaves. */
gsize lwt_config_get_part_size (const LwtConfig *config, SurfacePart part);

/* Levels whose cut-off is next to @lambda metres with samples @spacing metres
 * apart: round (log2 (lambda / (2 spacing))), 0..LWT_MAX_LEVELS. */
guint lwt_levels_for_cutoff (gdouble lambda, gdouble spacing);
/* The wavelength whose amplitude @levels halve: 2^(levels + 1)
 * spacing. For db4, 9/7 and longer filters within 1 %, for haar 13 % less. */
gdouble lwt_cutoff_of_levels (guint levels, gdouble spacing);

/**
 * LwtPlane: where a part goes; of @type, or as config->store_bits says; %NULL
 *   data: not wanted this time
 * @stride: bytes from row to row, a multiple of the sample's size
 * @pinned: lies in memory of cvis_pinned_alloc()
 * @on_device: a device pointer (CUDA only)
 * @step: of samples on the device, stored as integers: samples from column to
 *   column; 0 is 1
 */
typedef struct {
  gpointer data;
  gsize stride;
  gboolean pinned;
  gboolean on_device;
  guint step;
} LwtPlane;

/* Rows that are copied from one place on the device to another as they are. */
typedef struct {
  gconstpointer from;
  gpointer to;
  gsize from_stride, to_stride;
  gsize bytes; /* of a row */
  guint n;
} LwtCopy;

#define LWT_MAX_COPIES 2

/**
 * LwtJob: a surface. Belongs to the engine from lwt_engine_submit() until
 *   lwt_engine_wait() returns it, as does the memory behind it
 * @data, @stride, @pinned, @on_device: the samples. NaN: the point is missing
 *   (infinite ones too): filled in for the transform, NaN in all parts that
 *   come out but BANDS
 * @stream: of @on_device: a CUstream whose work is waited for; %NULL: the legacy
 *   default stream. Parts on the device are complete when wait has returned
 * @step: of integers @on_device: samples from column to column; 0 is 1
 * @n_copies, @copies: done beside it (CUDA only), complete when wait has returned;
 *   ordered as the samples are
 * @parts: by SurfacePart
 * @measured: set of parts: their parameters are wanted although they go nowhere
 *   (their plane has no data). Nothing of them is copied or stored
 * @missing: (out): points that are missing
 * @offset: (out): metres that were taken off and are in no part:
 *   z = offset + the sum of the parts. 0 but for the F-operations that take the
 *   mean off
 * @polynomial: (out): what the F-operation took off, in metres: [0] + [1] u +
 *   [2] v + [3] u^2 + [4] u v + [5] v^2, u = (2 x + 1 - width) / width, v =
 *   (2 y + 1 - height) / height. [0] is @offset; the rest is in the form
 *   (denoise: in MEASURED)
 * @threshold: (out): that of `denoise`
 * @parameters: (out): by SurfacePart, of those that config->parameters names and
 *   that have a plane or are in @measured; else zeros
 */
typedef struct {
  gconstpointer data;
  gsize stride;
  gboolean pinned;
  gboolean on_device;
  gpointer stream;
  guint step;
  guint n_copies;
  LwtCopy copies[LWT_MAX_COPIES];
  LwtPlane parts[SURFACE_N_PARTS];
  LwtParts measured;
  guint64 missing;
  gdouble offset;
  gdouble polynomial[6];
  gdouble threshold;
  SurfaceParameters parameters[SURFACE_N_PARTS];
} LwtJob;

typedef struct _LwtEngine LwtEngine;

/* @context: (nullable): the CUDA context to compute in; %NULL for the CPU. All
 * memory is allocated here. */
LwtEngine *lwt_engine_new (
    const LwtConfig *config, CvisContext *context, GError **error);
/* Waits for what is in flight. */
void lwt_engine_free (LwtEngine *engine);

/* Hands the next surface over; CUDA starts on it, the CPU computes in
 * lwt_engine_wait(). Submitting more than are allowed in flight is an error. On
 * FALSE it stays the caller's. submit may run in one thread while wait runs in
 * another. */
gboolean lwt_engine_submit (LwtEngine *engine, LwtJob *job, GError **error);

/* Completes the surface that was submitted first and is still in flight, and
 * returns it in @job: %NULL if there is none. On FALSE it is returned too, its
 * parts are not valid. */
gboolean lwt_engine_wait (LwtEngine *engine, LwtJob **job, GError **error);

/* Which transform kernels the next surface will get on CUDA, for messages: those
 * compiled at run time ("NVRTC 13.0, cached"), or why the precompiled ones. For
 * the thread that submits.
 * Returns: (nullable): text that is valid until the next call with @engine; %NULL
 *   if there is no choice */
const gchar *lwt_engine_describe (LwtEngine *engine);

G_END_DECLS
