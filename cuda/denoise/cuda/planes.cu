/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Planes of samples: a frame comes in and goes out, its edge is repeated, samples between
 * the pixels, the noise of squares. */
#include "cuda/denoise/cuda/passes.cuh"

namespace {

#define THREADS 128

__device__ __forceinline__ guint32
get_input (
    const DenoisePlane *plane, gint32 depth, gint32 shift, gint32 x, gint32 y)
{
  const guint8 *row = plane->data + (gsize) y * plane->stride;

  return depth == 8 ? row[(gsize) x * plane->step]
                    : (guint32) ((const guint16 *) row)[(gsize) x * plane->step]
                          >> shift;
}

/* A sample of a row of the plane with its border, of row blockIdx.y */
__global__ void
__launch_bounds__ (THREADS) load_kernel (MOTION_PARAMETER (DenoiseLoad, p))
{
  const gint32 x =
      (gint32) (blockIdx.x * THREADS + threadIdx.x) - DENOISE_BORDER;
  const gint32 y = (gint32) blockIdx.y - DENOISE_BORDER;

  if (x < p.plane.stride - DENOISE_BORDER)
    p.plane.samples[y * p.plane.stride + x] = (guint16) denoise_from_sample (
        get_input (&p.in, p.depth, p.shift, denoise_clamp (x, 0, p.width - 1),
            denoise_clamp (y, 0, p.height - 1)),
        p.depth);
}

__global__ void
__launch_bounds__ (THREADS) keep_kernel (const DenoiseDevicePlane from,
    const DenoiseDevicePlane to, gint32 width, gint32 height)
{
  const gint32 x =
      (gint32) (blockIdx.x * THREADS + threadIdx.x) - DENOISE_BORDER;
  const gint32 y = (gint32) blockIdx.y - DENOISE_BORDER;

  if (x < to.stride - DENOISE_BORDER)
    to.samples[y * to.stride + x] =
        from.samples[denoise_clamp (y, 0, height - 1) * from.stride
                     + denoise_clamp (x, 0, width - 1)];
}

/* --- samples between the pixels ------------------------------------------------ */

__device__ __forceinline__ gint32
filter_across (const guint16 *p)
{
  return denoise_between (p[-2], p[-1], p[0], p[1], p[2], p[3]);
}

/* The planes half a pixel right and down; rows from -REACH - 4 on */
__global__ void
__launch_bounds__ (THREADS)
    halves_kernel (const DenoiseDevicePlane plane, gint32 right)
{
  const gint32 x =
      (gint32) (blockIdx.x * THREADS + threadIdx.x) - DENOISE_REACH - 4;
  const gint32 y = (gint32) blockIdx.y - DENOISE_REACH - 4, s = plane.stride;
  guint16 *p = plane.samples + y * s + x;

  if (x >= right)
    return;
  p[plane.apart] = (guint16) filter_across (p);
  p[2 * plane.apart] = (guint16) denoise_between (
      p[-2 * s], p[-s], p[0], p[s], p[2 * s], p[3 * s]);
}

/* The plane of both, from that half a pixel down */
__global__ void
__launch_bounds__ (THREADS)
    both_kernel (const DenoiseDevicePlane plane, gint32 right)
{
  const gint32 left = -DENOISE_REACH - 4;
  const gint32 x = (gint32) (blockIdx.x * THREADS + threadIdx.x) + left;
  const gint32 y = (gint32) blockIdx.y + left;
  guint16 *p = plane.samples + y * plane.stride + x;

  if (x < right)
    p[3 * plane.apart] = x - 2 >= left && x + 3 < right
                             ? (guint16) filter_across (p + 2 * plane.apart)
                             : p[2 * plane.apart];
}

cudaError_t
launch_halves (const DenoiseDevicePlane *plane, gint32 width, gint32 height,
    cudaStream_t stream)
{
  const gint32 right = width + DENOISE_REACH + 4;
  const dim3 grid (denoise_grid (width + 2 * (DENOISE_REACH + 4), THREADS),
      (guint) height + 2 * (DENOISE_REACH + 4));

  MOTION_START (halves_kernel, grid, THREADS, stream, *plane, right);
  MOTION_START (both_kernel, grid, THREADS, stream, *plane, right);
  return cudaGetLastError ();
}

/* --- half the size ---------------------------------------------------------------- */

__global__ void
__launch_bounds__ (THREADS) half_kernel (MOTION_PARAMETER (DenoiseLoad, p))
{
  const gint32 x = (gint32) (blockIdx.x * THREADS + threadIdx.x);
  const gint32 y = (gint32) blockIdx.y, s = p.plane.stride;
  const guint16 *q = p.plane.samples + 2 * y * s + 2 * x;

  if (x < p.half_width)
    p.half[(gsize) y * p.half_width + x] =
        (guint8) min ((q[0] + q[1] + q[s] + q[s + 1] + 8) >> 4, 255);
}

/* --- noise ------------------------------------------------------------------------- */

/* A warp measures a square. */
__global__ void
__launch_bounds__ (THREADS)
    squares_kernel (MOTION_PARAMETER (DenoiseLoad, p), gint32 across, gint32 n)
{
  const gint32 square = (gint32) (blockIdx.x * THREADS + threadIdx.x) / 32;
  const gint32 lane = (gint32) motion_lane (), s = p.plane.stride;
  const gint32 white = p.depth == 8 ? 1020 : DENOISE_MAX_SAMPLE;
  const guint16 *first;
  guint32 least = DENOISE_MAX_SAMPLE, most = 0;
  gint32 sum = 0;

  if (square >= n)
    return;
  first = p.plane.samples + square / across * DENOISE_SQUARE * s
          + square % across * DENOISE_SQUARE;
  for (gint32 i = lane; i < DENOISE_SQUARE * DENOISE_SQUARE; i += 32) {
    const gint32 x = i % DENOISE_SQUARE, y = i / DENOISE_SQUARE;
    const guint16 *q = first + y * s + x;

    least = min (least, (guint32) q[0]);
    most = max (most, (guint32) q[0]);
    if (x > 0 && y > 0 && x < DENOISE_SQUARE - 1 && y < DENOISE_SQUARE - 1) {
      const gint32 d = q[-s - 1] - 2 * q[-s] + q[-s + 1] - 2 * q[-1] + 4 * q[0]
                       - 2 * q[1] + q[s - 1] - 2 * q[s] + q[s + 1];

      sum += d < 0 ? -d : d;
    }
  }
  least = motion_warp_min (least);
  most = ~motion_warp_min (~most);
  sum = (gint32) motion_warp_sum ((guint32) sum);
  if (lane == 0) {
    const bool counts = least < most && least > 0 && (gint32) most < white;

    if (counts)
      atomicAdd (&p.counts[denoise_noise_of_square (sum)], 1u);
    if (p.counted != NULL)
      p.counted[square] = counts;
  }
}

/* --- a frame leaves ------------------------------------------------------------------- */

__global__ void
__launch_bounds__ (THREADS) store_kernel (MOTION_PARAMETER (DenoiseStore, p))
{
  const gint32 x = (gint32) (blockIdx.x * THREADS + threadIdx.x);
  const gint32 y = (gint32) blockIdx.y;
  guint8 *row = p.out.data + (gsize) y * p.out.stride;
  guint32 sample;

  if (x >= p.width)
    return;
  sample = get_input (&p.in, p.depth, p.shift, x, y);
  if (p.from.samples != NULL)
    sample = denoise_to_sample (
        sample, p.from.samples[y * p.from.stride + x], p.depth, p.removed);
  if (p.depth == 8)
    row[(gsize) x * p.out.step] = (guint8) sample;
  else
    ((guint16 *) row)[(gsize) x * p.out.step] = (guint16) (sample << p.shift);
}

} // namespace

cudaError_t
denoise_launch_load (const DenoiseLoad *load, cudaStream_t stream)
{
  const dim3 grid (denoise_grid (load->plane.stride, THREADS),
      (guint) load->height + 2 * DENOISE_BORDER);
  const gint32 across = load->width / DENOISE_SQUARE;
  const gint32 n = across * (load->height / DENOISE_SQUARE);

  MOTION_START (load_kernel, grid, THREADS, stream, *load);
  if (load->half != NULL) {
    const dim3 half (
        denoise_grid (load->half_width, THREADS), (guint) load->half_height);

    MOTION_START (half_kernel, half, THREADS, stream, *load);
  }
  if (n > 0)
    MOTION_START (squares_kernel, denoise_grid (32 * (gint64) n, THREADS),
        THREADS, stream, *load, across, n);
  return load->halves
             ? launch_halves (&load->plane, load->width, load->height, stream)
             : cudaGetLastError ();
}

cudaError_t
denoise_launch_keep (const DenoiseDevicePlane *from,
    const DenoiseDevicePlane *to, gint32 width, gint32 height,
    cudaStream_t stream)
{
  const dim3 grid (
      denoise_grid (to->stride, THREADS), (guint) height + 2 * DENOISE_BORDER);

  MOTION_START (keep_kernel, grid, THREADS, stream, *from, *to, width, height);
  return launch_halves (to, width, height, stream);
}

cudaError_t
denoise_launch_store (const DenoiseStore *store, cudaStream_t stream)
{
  const dim3 grid (denoise_grid (store->width, THREADS), (guint) store->height);

  MOTION_START (store_kernel, grid, THREADS, stream, *store);
  return cudaGetLastError ();
}
