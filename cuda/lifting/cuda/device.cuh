/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Shared by the device code of the lifting transforms: levels, work memory,
 * and neighbours within a segment of a line. */
#pragma once

#include "cuda/core/device/cuda.cuh"
#include "cuda/lifting/arithmetic.h"
#include "cuda/lifting/cuda/transform.cuh"

/* A kernel parameter that is read in place, without a local copy. */
#if CUDART_VERSION >= 11070
#define LWT_PARAMETER(type, name) const __grid_constant__ type name
#else
#define LWT_PARAMETER(type, name) const type name
#endif

/* Weights passed to the generic kernels as parameters; longer lists lie in
 * work memory. */
#define LWT_PARAMETER_TAPS 384

/* Row alignment in work memory, in bytes. */
#define LWT_ROW_ALIGN 128

/* A sub-band. @pitch: bytes from row to row; @step: samples from column to
 * column. %NULL data: not wanted as output, +0 as input. */
typedef struct {
  void *data;
  gsize pitch;
  gsize step;
} LwtBand;

/* A level: @picture is split into @bands, [high along y][high along x], or
 * made of them. Along an axis that is not split only index 0 exists. */
typedef struct {
  gboolean x, y;
  guint width, height;
  LwtPicture picture;
  LwtBand bands[2][2];
} LwtLevelTask;

/* Work memory of the generic kernels.
 * @taps: all weights, if there are more than LWT_PARAMETER_TAPS
 * @temp: a picture
 * @scratch: a second picture for wavelets whose reach exceeds shared memory,
 *   else NULL */
typedef struct {
  const void *taps;
  LwtPicture temp;
  void *scratch;
} LwtGenericWork;

/* --- cuda/lifting/cuda/generic.cu: any wavelet, type, boundary ---------------------------- */

/* Bytes of weights in work memory; 0: the weights are passed as parameters. */
gsize lwt_generic_get_taps_size (const LwtTransform *transform);
gboolean lwt_generic_put_taps (const LwtTransform *transform, void *taps,
    cudaStream_t stream, GError **error);
/* Whether the generic kernels need @scratch. */
gboolean lwt_generic_reaches_far (const LwtTransform *transform);
/* Bytes of @scratch for a picture. */
gsize lwt_generic_get_scratch_size (
    const LwtTransform *transform, guint width, guint height);

gboolean lwt_generic_run (const LwtTransform *transform,
    const LwtLevelTask *task, gboolean inverse, const LwtGenericWork *work,
    cudaStream_t stream, GError **error);
/* Computes the components; @low are as large as the picture. */
gboolean lwt_generic_parts (const LwtTransform *transform,
    const LwtPartsTask *task, const LwtPicture low[3], cudaStream_t stream,
    GError **error);

/* --- cuda/lifting/cuda/tile.cu: kernels compiled at run time for a wavelet, type and
 * boundary; levels of both axes ------------------------------------------------------- */

/* @context: (nullable): where kernels are compiled; %NULL: only precompiled
 *   kernels */
LwtTiles *lwt_tiles_new (const LwtTransform *transform, CvisContext *context);
void lwt_tiles_free (LwtTiles *tiles);
gboolean lwt_tiles_wait (LwtTiles *tiles, GError **error);
const gchar *lwt_tiles_describe (LwtTiles *tiles);
/* Polls the compilation and loads finished kernels. @tiles: (nullable) */
gboolean lwt_tiles_are_ready (LwtTiles *tiles);
/* Whether a kernel exists for the level; if so, lwt_tiles_are_ready() may be
 * called. */
gboolean lwt_tiles_fit (
    const LwtTiles *tiles, const LwtLevelTask *level, gboolean inverse);
/* The same for two levels in one launch: levels[0], and levels[1], which splits its low
 * band. */
gboolean lwt_tiles_fit_two_levels (
    const LwtTiles *tiles, const LwtLevelTask *levels, gboolean inverse);
gboolean lwt_tiles_run_two_levels (const LwtTiles *tiles,
    const LwtLevelTask *levels, gboolean inverse, cudaStream_t stream,
    GError **error);
/* How many levels the kernel for components expands itself, levels[0] and levels[1]; 0:
 * none fits. For two no low band may be the input of levels[1]. */
guint lwt_tiles_fit_parts (const LwtTiles *tiles, const LwtLevelTask *levels,
    const LwtPartsTask *parts);
gboolean lwt_tiles_run_parts (const LwtTiles *tiles, const LwtLevelTask *level,
    const LwtPartsTask *parts, cudaStream_t stream, GError **error);
/* High bands of %NULL data are not wanted, or +0. */
gboolean lwt_tiles_run (const LwtTiles *tiles, const LwtLevelTask *level,
    gboolean inverse, cudaStream_t stream, GError **error);

/* --- cuda/lifting/cuda/interleave.cu ---------------------------------------------------- */

/* Copies the rows of @interleaved that the first of @n levels does not make high
 * along y out of @mallat, or back. */
gboolean lwt_interleave (LwtType type, const LwtLevel *const *levels, guint n,
    LwtPicture mallat, LwtPicture interleaved, gboolean inverse,
    cudaStream_t stream, GError **error);

/* Multiprocessors of the device, or 1 if the query fails. */
gint lwt_get_multiprocessors (void);

/* --- helpers ------------------------------------------------------------- */

/* @k modulo @n, 0..n-1 */
static inline __host__ __device__ gint
lwt_modulo (gint k, gint n)
{
  k %= n;
  return k < 0 ? k + n : k;
}

/* lwt_neighbour() for a segment of a line in memory that also holds its
 * neighbours, including those across the ends of a periodic line. Only
 * neighbours that have no sample of their own there are mapped to another
 * position. */
static inline __host__ __device__ gint
lwt_piece_neighbour (LwtBoundary boundary, gint j, gint odd, gint n)
{
  const gint period = (n + 1) / 2;

  if (boundary != LWT_BOUNDARY_PERIODIC)
    return lwt_neighbour (boundary, j, odd, n);
  return (n & 1) && odd && lwt_modulo (j, period) == period - 1 ? j - 1 : j;
}

/* Number of samples of kind @odd in a line of @n. */
static inline __host__ __device__ gint
lwt_count (gint n, gint odd)
{
  return (n + 1 - odd) / 2;
}

/* Index in its band of sample @k of a kind; @shift is small. */
static inline __host__ __device__ gint
lwt_entry (gint k, gint shift, gint count)
{
  k -= shift;
  while (k < 0)
    k += count;
  while (k >= count)
    k -= count;
  return k;
}

static inline __host__ __device__ gsize
lwt_row_pitch (guint width, gsize size)
{
  return (width * size + LWT_ROW_ALIGN - 1) / LWT_ROW_ALIGN * LWT_ROW_ALIGN;
}

/* Calls RUN with the C type of the samples. */
#define LWT_BY_TYPE(lwt_type, RUN, ...)                                        \
  ((lwt_type) == LWT_TYPE_F32      ? RUN<float> (__VA_ARGS__)                  \
      : (lwt_type) == LWT_TYPE_F64 ? RUN<double> (__VA_ARGS__)                 \
                                   : RUN<gint32> (__VA_ARGS__))
