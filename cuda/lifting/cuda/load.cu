/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Converts samples to pictures: subtracts P, marks and counts missing
 * points, fills the border of a padded picture.
 * Bound by memory bandwidth. The lanes of a warp read 32 adjacent columns,
 * so that a ballot gives one word of missing bits; four such groups are
 * loaded at once. */
#include "cuda/lifting/cuda/sample.cuh"
#include "cuda/lifting/cuda/engine.cuh"

namespace {

const guint GROUPS = 4;   /* of 32 columns, for each warp */
const guint WARPS = 8;    /* of a block */
const guint STRETCH = 32; /* rows of a block */

/* P in registers: the coefficients, and u of this lane's columns. */
struct Polynomial {
  gdouble p[LWT_TERMS];
  gdouble u[GROUPS];
};

/* Converts a sample to x; missing points become the missing-point NaN. */
template <typename S, typename T, bool FIT>
__device__ __forceinline__ T
load_sample (const LwtSurfaceTask &t, S sample, const Polynomial &fit,
    guint group, gdouble v)
{
  if constexpr (lwt_is_integer<T>) {
    return (T) sample;
  } else {
    gdouble z = (gdouble) sample * t.z_scale + t.z_offset;

    if (FIT)
      z -= lwt_polynomial (fit.p, fit.u[group], v);
    return lwt_is_finite (sample) ? (T) z : lwt_gone<T> ();
  }
}

/* Loads samples of row @y; columns past the end give 0. */
template <typename S>
__device__ __forceinline__ void
fetch (const LwtSurfaceTask &t, guint first, guint y, S samples[GROUPS])
{
  const S *from = lwt_row<S> (t.from, t.stride, y);

#pragma unroll
  for (guint i = 0; i < GROUPS; i++)
    samples[i] =
        first + 32 * i < t.width ? from[(first + 32 * i) * t.step] : (S) 0;
}

/* Rows are pipelined: the next row is loaded while the current one is
 * converted. */
template <typename S, typename T, bool FIT>
__global__ void __launch_bounds__ (32 * WARPS, 4) load_kernel (LwtSurfaceTask t)
{
  const guint lane = threadIdx.x;
  const guint first = blockIdx.x * (32 * GROUPS) + lane;
  const guint last = MIN (t.height, (blockIdx.y + 1) * STRETCH);
  const guint words = lwt_words (t.width);
  guint y = blockIdx.y * STRETCH + threadIdx.y;
  S next[GROUPS];
  Polynomial fit;
  guint gone = 0;

  if (y < last)
    fetch (t, first, y, next);
  if (FIT) {
    for (guint i = 0; i < LWT_TERMS; i++)
      fit.p[i] = t.fit[i];
#pragma unroll
    for (guint i = 0; i < GROUPS; i++)
      fit.u[i] = first + 32 * i < t.width ? t.tables.u[first + 32 * i] : 0.0;
  }
  for (; y < last; y += WARPS) {
    T *to = lwt_row<T> (t.to.data, t.to.stride, y);
    const gdouble v = FIT ? t.tables.v[y] : 0.0;
    S samples[GROUPS];

#pragma unroll
    for (guint i = 0; i < GROUPS; i++)
      samples[i] = next[i];
    if (y + WARPS < last)
      fetch (t, first, y + WARPS, next);
#pragma unroll
    for (guint i = 0; i < GROUPS; i++) {
      const guint x = first + 32 * i;
      const guint32 missing =
          __ballot_sync (LWT_ALL_LANES, !lwt_is_finite (samples[i]));

      if (x < t.width)
        to[x] = load_sample<S, T, FIT> (t, samples[i], fit, i, v);
      if (lane == 0 && t.missing != NULL && x < t.width)
        t.missing[(gsize) y * words + x / 32] = missing;
      gone += __popc (missing);
    }
  }
  if (lane == 0 && gone > 0 && t.missing != NULL)
    atomicAdd (
        (unsigned long long *) &t.findings->missing, (unsigned long long) gone);
}

template <typename S>
void
launch_load (const LwtSurfaceTask *t, cudaStream_t stream)
{
  const dim3 block (32, WARPS);
  const dim3 grid ((t->width + 32 * GROUPS - 1) / (32 * GROUPS),
      (t->height + STRETCH - 1) / STRETCH);
  const bool fit = t->fit != NULL;
  const auto kernel =
      t->type == LWT_TYPE_F32
          ? (fit ? load_kernel<S, gfloat, true> : load_kernel<S, gfloat, false>)
      : t->type == LWT_TYPE_F64 ? (fit ? load_kernel<S, gdouble, true>
                                       : load_kernel<S, gdouble, false>)
                                : load_kernel<S, gint32, false>;

  kernel<<<grid, block, 0, stream>>> (*t);
}

/* --- border of a padded picture ------------------------------------------
 * First both ends of the rows, then the columns of the extended rows. A
 * thread writes one sample of one edge. */

/* Sample @i, outside the line of @n samples that begins at @line, @step
 * bytes apart. */
template <typename T>
__device__ __forceinline__ T
beyond (LwtBoundary boundary, const guint8 *line, gsize step, gint i, gint n)
{
  if constexpr (!lwt_is_integer<T>)
    if (boundary != LWT_BOUNDARY_PAD_SYMMETRIC && n > 1) {
      const gint end = i < 0 ? 0 : n - 1, inner = i < 0 ? 1 : n - 2;
      const T edge = *(const T *) (line + (gsize) end * step);
      const T next = *(const T *) (line + (gsize) inner * step);

      return lwt_fma ((T) (i - end), i < 0 ? next - edge : edge - next, edge);
    }
  return *(const T *) (line + (gsize) lwt_pad_index (i, n) * step);
}

struct PadTask {
  LwtBoundary boundary;
  guint8 *surface; /* sample (0, 0) */
  gsize stride;
  guint width, height;
  guint pad[2];
};

/* Threads along x: the border samples of both ends of a row. */
template <typename T>
__global__ void
pad_rows_kernel (PadTask t)
{
  const guint side = blockIdx.x * blockDim.x + threadIdx.x;
  const guint y = blockIdx.y * blockDim.y + threadIdx.y;
  guint8 *line = t.surface + (gsize) y * t.stride;
  gint x;

  if (side >= 2 * t.pad[0] || y >= t.height)
    return;
  x = side < t.pad[0] ? (gint) side - (gint) t.pad[0]
                      : (gint) (side - t.pad[0] + t.width);
  ((T *) line)[x] = beyond<T> (t.boundary, line, sizeof (T), x, (gint) t.width);
}

/* Threads along x: all columns; along y: the border samples of both ends. */
template <typename T>
__global__ void
pad_columns_kernel (PadTask t)
{
  const guint column = blockIdx.x * blockDim.x + threadIdx.x;
  const guint side = blockIdx.y * blockDim.y + threadIdx.y;
  guint8 *line;
  gint y;

  if (column >= t.width + 2 * t.pad[0] || side >= 2 * t.pad[1])
    return;
  line = (guint8 *) ((T *) t.surface + ((gint) column - (gint) t.pad[0]));
  y = side < t.pad[1] ? (gint) side - (gint) t.pad[1]
                      : (gint) (side - t.pad[1] + t.height);
  *(T *) (line + (gssize) y * (gssize) t.stride) =
      beyond<T> (t.boundary, line, t.stride, y, (gint) t.height);
}

template <typename T>
void
launch_pad (const PadTask &t, cudaStream_t stream)
{
  const dim3 block (32, 8);

  if (t.pad[0] > 0)
    pad_rows_kernel<T><<<dim3 ((2 * t.pad[0] + 31) / 32, (t.height + 7) / 8),
        block, 0, stream>>> (t);
  if (t.pad[1] > 0)
    pad_columns_kernel<T>
        <<<dim3 ((t.width + 2 * t.pad[0] + 31) / 32, (2 * t.pad[1] + 7) / 8),
            block, 0, stream>>> (t);
}

/* --- search for samples that are not finite ------------------------------ */

template <typename T>
__global__ void
check_kernel (LwtPicture picture, guint step_x, guint step_y, guint width,
    guint height, LwtFindings *findings)
{
  lwt_each_sample (width, height, [&] (guint x, guint y) {
    if (!lwt_is_finite (lwt_row<T> (
            picture.data, picture.stride, y * step_y)[(gsize) x * step_x]))
      findings->not_finite = 1;
  });
}

} // namespace

extern "C" cudaError_t
lwt_launch_load (const LwtSurfaceTask *task, cudaStream_t stream)
{
  LWT_BY_SAMPLE (task->sample, launch_load, task, stream);
  return cudaGetLastError ();
}

extern "C" cudaError_t
lwt_launch_pad (LwtType type, LwtBoundary boundary, LwtPicture picture,
    guint width, guint height, const guint pad[2], cudaStream_t stream)
{
  const PadTask task = { boundary,
    (guint8 *) picture.data + pad[1] * picture.stride
        + pad[0] * lwt_type_get_size (type),
    picture.stride, width, height, { pad[0], pad[1] } };

  if (type == LWT_TYPE_F32)
    launch_pad<gfloat> (task, stream);
  else if (type == LWT_TYPE_F64)
    launch_pad<gdouble> (task, stream);
  else
    launch_pad<gint32> (task, stream);
  return cudaGetLastError ();
}

extern "C" cudaError_t
lwt_launch_check (LwtType type, LwtPicture picture, guint step_x, guint step_y,
    guint width, guint height, LwtFindings *findings, cudaStream_t stream)
{
  const dim3 block (32, 8);
  const dim3 grid ((width + 31) / 32, MIN ((height + 7) / 8, 1024u));

  return LWT_LAUNCH (type, check_kernel, grid, block, stream, picture, step_x,
      step_y, width, height, findings);
}
