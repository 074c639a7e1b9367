/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The lifting engine: separates surfaces into noise, roughness, waviness and
 * form, or computes coefficients, on the CPU or on a CUDA device, with the
 * same bits.
 *
 * Definitions: docs/design/lifting.md. Sources: cuda/wavelet/wavelet.h. */
#pragma once

#include "cuda/core/backend.h"
#include "cuda/core/fleet/devices.h"
#include "cuda/records/surfacerecord.h"
#include "cuda/wavelet/boundary.h"
#include "cuda/wavelet/wavelet.h"

G_BEGIN_DECLS

typedef enum {
  LWT_OPERATION_FILTER,  /* components, with BANDS also coefficients */
  LWT_OPERATION_FORWARD, /* surface to coefficients */
  LWT_OPERATION_INVERSE, /* coefficients to surface */
  LWT_OPERATION_DENOISE, /* surface with small coefficients shrunk; noise */
} LwtOperation;

typedef enum {
  LWT_LAYOUT_MALLAT,      /* the low band in the upper left quarter */
  LWT_LAYOUT_INTERLEAVED, /* each coefficient at the position of its sample */
} LwtLayout;

/* Type of the arithmetic and of the output */
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

/* Form that is subtracted before the transform, fitted by least squares in
 * FP64 over the points that are not missing */
typedef enum {
  LWT_F_NONE,
  LWT_F_OFFSET, /* the mean */
  LWT_F_LEVEL,  /* the tilt; the mean stays */
  LWT_F_PLANE,  /* mean and tilt */
  LWT_F_POLY2,  /* 1, x, y, x^2, xy, y^2 */
} LwtFOperation;

/* Low-pass filter between components, see docs/design/filters.md */
typedef enum {
  LWT_FILTER_WAVELET,           /* undecimated, any cut-off */
  LWT_FILTER_WAVELET_DECIMATED, /* levels; the only one with BANDS */
  LWT_FILTER_GAUSSIAN,
  LWT_FILTER_ROBUST_GAUSSIAN,
  LWT_FILTER_SPLINE,
} LwtFilter;

/* Rule that shrinks a coefficient w with a threshold t */
typedef enum {
  LWT_SHRINK_SOFT,    /* w - sign (w) t if |w| > t, else 0 */
  LWT_SHRINK_HARD,    /* w if |w| > t, else 0 */
  LWT_SHRINK_GARROTE, /* w - t^2 / w if |w| > t, else 0 */
} LwtShrink;

/* Smallest surface that is cut over several devices because of its size: 8192 x 8192.
 * An estimate: it was not measured on several devices. */
#define LWT_SPLIT_SAMPLES (G_GUINT64_CONSTANT (1) << 26)

/* Set of components: bits 1 << CvisSurfacePart */
typedef guint32 LwtParts;

/**
 * LwtConfig: set up with lwt_config_init(), then changed
 * @width, @height: of the surface, samples, 1..LWT_MAX_SIDE. This includes
 *   `inverse`, whose input has the size of lwt_config_get_bands_size()
 * @wavelet: (transfer none): copied by the engine
 * @filter: of the operation `filter`; the others use WAVELET_DECIMATED. A filter
 *   other than WAVELET_DECIMATED uses @cutoffs, not levels and boundary: points
 *   beyond the edges are missing points
 * @cutoffs: [0] noise, [1] roughness, [2] form; [][0] along x: wavelengths in
 *   samples whose amplitude is halved, 2 to the longer side; 0: not smoothed
 *   along this axis. Each at least the one before
 * @order: of GAUSSIAN: 0: weights renormalised at edges and missing points; 2:
 *   weights that keep slope and curvature there
 * @tension: of SPLINE, 0..1: 0 is the cubic spline
 * @levels: [0] along x, [1] along y, 0..16: up to the form; in other
 *   operations all levels
 * @levels_roughness: levels from roughness to waviness; each at most @levels
 * @levels_noise: levels from noise to roughness (0: no noise); each at most
 *   @levels_roughness
 * @z_scale, @z_offset: z = sample * z_scale + z_offset in metres, in FP64
 * @dx, @dy: spacing of samples in metres, above 0; both 0: unknown, and Sdr
 *   and Sdq are not computed, but 0
 * @shrink, @threshold, @spins: for `denoise`: threshold in metres; 0: sigma
 *   sqrt (2 ln N), sigma = median |w| / 0.6745 of the finest diagonal band,
 *   times @threshold_scale, without constant and missing parts; spins: number of grid shifts averaged, 1..16
 * @store_bits, @store_shift: for `denoise` of U8 and U16: MEASURED has the
 *   type of the samples, round (z / (z_scale 2^store_shift)) clamped to
 *   0..2^store_bits - 1, times 2^store_shift. 0 bits: the type of the
 *   arithmetic
 * @parts: wanted components: of NOISE, ROUGHNESS, WAVINESS, FORM, BANDS
 *   (filter); BANDS (forward); MEASURED (inverse); MEASURED, NOISE (denoise)
 * @parameters: components whose CvisSurfaceParameters are wanted; not BANDS
 * @threads: of the CPU backend; 0: one per processor
 * @depth_in_flight: jobs that may be submitted and not waited for, 1..8
 * @device_memory: bytes of device memory that may be used, 0: all free
 *   memory; larger surfaces are computed in row blocks, with the same bits
 * @split_samples: over several devices: surfaces of at least so many samples are cut into
 *   row blocks that the devices share; 0: LWT_SPLIT_SAMPLES
 */
typedef struct {
  guint width, height;
  LwtOperation operation;
  LwtSample sample;
  LwtType type;
  const LwtWavelet *wavelet;
  LwtBoundary boundary;
  LwtLayout layout;
  LwtFilter filter;
  gdouble cutoffs[3][2];
  guint order;
  gdouble tension;
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
  guint64 split_samples;
} LwtConfig;

void lwt_config_init (LwtConfig *config);
/* Returns: FALSE with CVIS_ERROR_INVALID naming the first field that is out
 * of range or contradicts another. */
gboolean lwt_config_check (const LwtConfig *config, GError **error);
/* Whether the CUDA backend has @filter, with the bits of the CPU; @order: see LwtConfig.
 * All others are computed on the CPU. */
gboolean lwt_filter_has_cuda (LwtFilter filter, guint order);
/* Size of BANDS: that of the surface, or with a padded boundary of the
 * padded one. */
void lwt_config_get_bands_size (
    const LwtConfig *config, guint *width, guint *height);
/* Bytes of an input sample, and of a sample of @type. */
gsize lwt_sample_get_size (LwtSample sample);
gsize lwt_type_get_size (LwtType type);
/* Bytes of a sample of a component of the output. */
gsize lwt_config_get_part_size (const LwtConfig *config, CvisSurfacePart part);

/* Number of levels whose cut-off is nearest to @lambda metres for samples
 * @spacing metres apart: round (log2 (lambda / (2 spacing))),
 * 0..LWT_MAX_LEVELS. */
guint lwt_levels_for_cutoff (gdouble lambda, gdouble spacing);
/* Wavelength in metres whose amplitude @levels halve: 2^(levels + 1)
 * spacing. Exact to 1 % for db4, 9/7 and longer filters; for haar 13 % less. */
gdouble lwt_cutoff_of_levels (guint levels, gdouble spacing);

/**
 * LwtRect: a rectangle that the engine's picture and a larger one have in common
 * @own, @own_column: its first row and column in the engine's picture
 * @whole, @column: in the larger picture
 * @n, @width: its rows and columns
 */
typedef struct {
  guint own, whole, n;
  guint column, width;
  guint own_column;
} LwtRect;

/**
 * LwtPlane: memory for a component, of the config's @type or store_bits;
 * %NULL data: not wanted this time
 * @stride: bytes from row to row, a multiple of the sample's size
 * @pinned: in memory of cvis_pinned_alloc()
 * @on_device: a device pointer (CUDA only)
 * @step: for integers stored on the device: samples from column to column; 0
 *   means 1
 * @n_runs, @runs: for row blocks (CUDA only): the plane is a larger picture's and only
 *   these rectangles are written; no runs: the whole component
 */
typedef struct {
  gpointer data;
  gsize stride;
  gboolean pinned;
  gboolean on_device;
  guint step;
  guint n_runs;
  const LwtRect *runs;
} LwtPlane;

/* Rows to copy unchanged within the device's memory. */
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
 * lwt_engine_wait() returns it, and so does the memory it points to
 * @data, @stride, @pinned, @on_device: the samples. A NaN or infinite sample
 *   is a missing point: filled for the transform, NaN in all components
 *   except BANDS
 * @stream: with @on_device: a CUstream whose work is waited for; %NULL: the
 *   legacy default stream. Components on the device are complete when
 *   lwt_engine_wait() has returned. Samples and components may be in the memory of
 *   another device than the engine's, and are copied; then %NULL: complete when submitted
 * @step: for integers @on_device: samples from column to column; 0 means 1
 * @n_runs, @runs: for row blocks (CUDA only): the samples are a larger picture's, and
 *   these rectangles of it are the input; no runs: all of it
 * @n_copies, @copies: additional copies (CUDA only), ordered after @stream;
 *   complete when lwt_engine_wait() has returned
 * @parts: by CvisSurfacePart
 * @measured: set of components whose parameters are wanted although they
 *   have no plane. They are neither copied nor stored
 * @missing: (out): number of missing points
 * @offset: (out): metres subtracted that are in no component: z = offset +
 *   the sum of the components. 0 except for F-operations that subtract the
 *   mean
 * @polynomial: (out): polynomial subtracted by the F-operation, in metres:
 *   [0] + [1] u + [2] v + [3] u^2 + [4] u v + [5] v^2, u = (2 x + 1 - width)
 *   / width, v = (2 y + 1 - height) / height. [0] is @offset; the rest is in
 *   the form (denoise: in MEASURED)
 * @threshold: (out): used by `denoise`, metres
 * @parameters: (out): by CvisSurfacePart, for components of config->parameters
 *   that have a plane or are in @measured; otherwise zeros
 */
typedef struct {
  gconstpointer data;
  gsize stride;
  gboolean pinned;
  gboolean on_device;
  gpointer stream;
  guint step;
  guint n_runs;
  const LwtRect *runs;
  guint n_copies;
  LwtCopy copies[LWT_MAX_COPIES];
  LwtPlane parts[CVIS_SURFACE_N_PARTS];
  LwtParts measured;
  guint64 missing;
  gdouble offset;
  gdouble polynomial[6];
  gdouble threshold;
  CvisSurfaceParameters parameters[CVIS_SURFACE_N_PARTS];
} LwtJob;

typedef struct _LwtEngine LwtEngine;

/* Allocates all memory. @context: (nullable): the CUDA context to compute
 * in; %NULL: the CPU. Returns: %NULL with CVIS_ERROR_INVALID, _MEMORY or
 * _CUDA */
LwtEngine *lwt_engine_new (
    const LwtConfig *config, CvisContext *context, GError **error);
/* The same over several devices: surfaces go to devices that have room, and come back in
 * order, with the bits of one device. A device that fails is lost; the others compute its
 * surfaces. @config: depth_in_flight is that of each device.
 *
 * A surface of at least split_samples, or that does not fit into device_memory, is cut
 * into row blocks that the devices share, if row blocks can give the same bits
 * (docs/design/scaling.md); depth_in_flight is then also that of surfaces. In this case
 * samples on a device are complete when submitted (stream is not used); missing points, F-operations, padding, conversions and parameters are
 * computed on the host and need samples and components in host memory. */
LwtEngine *lwt_engine_new_over (const LwtConfig *config,
    const CvisDevices *devices, const CvisFleetOwner *owner, GError **error);
/* Waits for surfaces in flight and frees the engine. */
void lwt_engine_free (LwtEngine *engine);
/* Surfaces in flight at most. */
guint lwt_engine_get_depth (LwtEngine *engine);
/* Returns: (nullable): the fleet of an engine over several devices */
CvisFleet *lwt_engine_get_fleet (LwtEngine *engine);
/* Row blocks into which each surface is cut over several devices; 1: it is not cut. */
guint lwt_engine_count_blocks (LwtEngine *engine);

/* Reports the error of @job that lwt_engine_submit() would; for any thread. */
gboolean lwt_engine_check (
    LwtEngine *engine, const LwtJob *job, GError **error);

/* Submits the next surface. CUDA starts at once, the CPU computes in
 * lwt_engine_wait(). More surfaces than allowed in flight are an error. On
 * FALSE the caller keeps the surface. submit may run in one thread while
 * wait runs in another. */
gboolean lwt_engine_submit (LwtEngine *engine, LwtJob *job, GError **error);

/* Completes the oldest surface in flight and returns it in @job: %NULL if
 * there is none. On FALSE it is returned too, but its components are not
 * valid. */
gboolean lwt_engine_wait (LwtEngine *engine, LwtJob **job, GError **error);

/* Describes the transform kernels for the next surface on CUDA, for
 * messages: compiled at run time ("NVRTC 13.0, cached"), or the reason for
 * the precompiled ones. For the thread that submits.
 * Returns: (nullable): text valid until the next call with @engine; %NULL if
 * there is only one kind of kernels */
const gchar *lwt_engine_describe (LwtEngine *engine);

G_END_DECLS
