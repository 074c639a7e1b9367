/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Shared by the files of the lifting transforms on the device: a level as they
 * see it, work memory, neighbours in a piece of a line. */
#pragma once

#include "cuda/core/cuda.cuh"
#include "cuda/lifting/arithmetic.h"
#include "cuda/lifting/cuda/transform.cuh"

/* A kernel's parameter that is read where it lies. */
#if CUDART_VERSION >= 11070
#define LWT_PARAMETER(type, name) const __grid_constant__ type name
#else
#define LWT_PARAMETER(type, name) const type name
#endif

/* Weights that go to the generic kernels as parameters; more go by work memory. */
#define LWT_PARAMETER_TAPS 384

/* Rows of what lies in work memory begin at multiples of so many bytes. */
#define LWT_ROW_ALIGN 128

/* A band. @pitch: bytes from row to row; @step: samples from column to column.
 * %NULL data: not wanted, or +0. */
typedef struct {
  void *data;
  gsize pitch;
  gsize step;
} LwtBand;

/* A level: @picture is split into @bands, [high along y][high along x], or made
 * of them. An axis that is not split has only the bands of index 0. */
typedef struct {
  gboolean x, y;
  guint width, height;
  LwtPicture picture;
  LwtBand bands[2][2];
} LwtLevelTask;

/* Work memory of the generic kernels.
 * @taps: all weights, where they are more than LWT_PARAMETER_TAPS
 * @temp: a picture
 * @scratch: another one, of wavelets whose steps reach too far for shared
 *   memory; else NULL */
typedef struct {
  const void *taps;
  LwtPicture temp;
  void *scratch;
} LwtGenericWork;

/* --- cuda/lifting/cuda/generic.cu: any wavelet, type, boundary ---------------------------- */

/* Bytes of weights in work memory, 0: they go as parameters. */
gsize lwt_generic_get_taps_size (const LwtTransform *transform);
gboolean lwt_generic_put_taps (const LwtTransform *transform, void *taps,
    cudaStream_t stream, GError **error);
/* Whether @scratch is needed. */
gboolean lwt_generic_reaches_far (const LwtTransform *transform);
/* Bytes of it for a picture. */
gsize lwt_generic_get_scratch_size (
    const LwtTransform *transform, guint width, guint height);

gboolean lwt_generic_forward (const LwtTransform *transform,
    const LwtLevelTask *task, const LwtGenericWork *work, cudaStream_t stream,
    GError **error);
gboolean lwt_generic_inverse (const LwtTransform *transform,
    const LwtLevelTask *task, const LwtGenericWork *work, cudaStream_t stream,
    GError **error);
/* The components; @low is as large as the picture. */
gboolean lwt_generic_parts (const LwtTransform *transform,
    const LwtPartsTask *task, const LwtPicture low[3], cudaStream_t stream,
    GError **error);

/* --- cuda/lifting/cuda/tile.cu: kernels compiled at run time for a wavelet, type and
 * boundary; levels of both axes ------------------------------------------------------- */

/* @context: (nullable): where kernels are compiled; %NULL: precompiled ones alone */
LwtTiles *lwt_tiles_new (const LwtTransform *transform, CvisContext *context);
void lwt_tiles_free (LwtTiles *tiles);
gboolean lwt_tiles_wait (LwtTiles *tiles, GError **error);
const gchar *lwt_tiles_describe (LwtTiles *tiles);
/* @tiles: (nullable) */
gboolean lwt_tiles_are_ready (LwtTiles *tiles);
/* Whether there is a kernel for a level, and are_ready() may be asked */
gboolean lwt_tiles_fit (
    const LwtTiles *tiles, const LwtLevelTask *level, gboolean inverse);
/* The components of @level's picture, at least one low band to be expanded */
gboolean lwt_tiles_fit_parts (const LwtTiles *tiles, const LwtLevelTask *level);
gboolean lwt_tiles_run_parts (const LwtTiles *tiles, const LwtLevelTask *level,
    const LwtPartsTask *parts, cudaStream_t stream, GError **error);
/* High bands of %NULL data are not wanted, or +0. */
gboolean lwt_tiles_run (const LwtTiles *tiles, const LwtLevelTask *level,
    gboolean inverse, cudaStream_t stream, GError **error);

/* Multiprocessors of the device, 1 if that cannot be found out. */
gint lwt_get_multiprocessors (void);

/* --- small things ---------------------------------------------------------------- */

/* @k modulo @n, 0..n-1 */
static inline __host__ __device__ gint
lwt_modulo (gint k, gint n)
{
  k %= n;
  return k < 0 ? k + n : k;
}

/* lwt_neighbour() in a piece of a line that holds its neighbours too, the other
 * end of a periodic one among them: only what no sample of the piece is, is
 * looked for elsewhere. */
static inline __host__ __device__ gint
lwt_piece_neighbour (LwtBoundary boundary, gint j, gint odd, gint n)
{
  const gint period = (n + 1) / 2;

  if (boundary != LWT_BOUNDARY_PERIODIC)
    return lwt_neighbour (boundary, j, odd, n);
  return (n & 1) && odd && lwt_modulo (j, period) == period - 1 ? j - 1 : j;
}

/* Samples of one kind in a line of @n. */
static inline __host__ __device__ gint
lwt_count (gint n, gint odd)
{
  return (n + 1 - odd) / 2;
}

/* Which entry of its band sample @k of a kind is; shifts are small. */
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

/* Position of band [@y][@x] of a level among all bands in a layout.
 * @before: how often each axis was split before; @split: whether it is now
 * @low: samples of the low band along each */
static inline __host__ __device__ LwtBand
lwt_place_band (LwtPicture bands, LwtLayout layout, gsize size,
    const guint before[2], const bool split[2], const guint low[2], gint x,
    gint y)
{
  const bool interleaved = layout == LWT_LAYOUT_INTERLEAVED;
  const gsize step_x = interleaved ? (gsize) 1 << before[0] : 1;
  const gsize step_y = interleaved ? (gsize) 1 << before[1] : 1;
  const gsize left = !x ? 0 : interleaved ? step_x : low[0];
  const gsize top = !y ? 0 : interleaved ? step_y : low[1];
  LwtBand band;

  band.data = (guint8 *) bands.data + top * bands.stride + left * size;
  band.step = interleaved && split[0] ? 2 * step_x : step_x;
  band.pitch = bands.stride * (interleaved && split[1] ? 2 * step_y : step_y);
  return band;
}

/* Position of a band's sample in row @y. */
template <typename T>
static inline __host__ __device__ T *
lwt_band_at (const LwtBand &band, gsize x, gsize y)
{
  return (T *) ((guint8 *) band.data + y * band.pitch) + x * band.step;
}

/* Calls RUN with the type of the samples. */
#define LWT_BY_TYPE(lwt_type, RUN, ...)                                        \
  ((lwt_type) == LWT_TYPE_F32      ? RUN<float> (__VA_ARGS__)                  \
      : (lwt_type) == LWT_TYPE_F64 ? RUN<double> (__VA_ARGS__)                 \
                                   : RUN<gint32> (__VA_ARGS__))
