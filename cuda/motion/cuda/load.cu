/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Converts a frame as received to a picture: its planes with borders, and
 * the plane reduced by four. */
#include "cuda/motion/cuda/warp.cuh"

namespace {

#define LOAD_THREADS 128

/* @pieces: threads for the picture's plane; @quarter_pieces: additional
 *   threads for the reduced plane */
struct LoadParameters {
  MotionLayout layout;
  MotionDevicePicture picture;
  const guint8 *staged;
  gint32 width, height;
  guint32 shift, pieces, quarter_pieces;
};

/* Row of the frame for row @y of the picture. */
template <typename Sample>
__device__ __forceinline__ const Sample *
staged_row (const LoadParameters *p, gint32 y)
{
  return (const Sample *) (p->staged
                           + (gsize) motion_clamp (y, 0, p->height - 1)
                                 * p->layout.staged_pitch);
}

/* Sample of a row at @x, clamped. */
__device__ __forceinline__ guint32
staged_sample (const LoadParameters *p, const guint8 *row, gint32 x)
{
  return row[motion_clamp (x, 0, p->width - 1)];
}

__device__ __forceinline__ guint32
staged_sample (const LoadParameters *p, const guint16 *row, gint32 x)
{
  return row[motion_clamp (x, 0, p->width - 1)] >> p->shift & 1023;
}

/* Upper 8 bits of four samples of a row from @x on. */
template <typename Sample>
__device__ __forceinline__ guint32
staged_word (const LoadParameters *p, const Sample *row, gint32 x)
{
  guint32 word = 0;

#pragma unroll
  for (gint32 i = 0; i < 4; i++)
    word |= staged_sample (p, row, x + i) >> (sizeof (Sample) == 1 ? 0 : 2)
                                                 << (8 * i);
  return word;
}

/* Upper 8 bits of 16 samples; @x is a multiple of 16 bytes. */
template <typename Sample>
__device__ __forceinline__ uint4
staged_words (const LoadParameters *p, const Sample *row, gint32 x)
{
  if (sizeof (Sample) == 1 && x >= 0 && x + 15 < p->width)
    return *(const uint4 *) (row + x);
  return make_uint4 (staged_word (p, row, x), staged_word (p, row, x + 4),
      staged_word (p, row, x + 8), staged_word (p, row, x + 12));
}

/* 16 bytes of the picture's plane, number @n. */
__device__ __forceinline__ void
load_plane_piece (const LoadParameters *p, const guint8 *, guint32 n)
{
  const guint32 across = p->layout.pitch / 16;
  const gint32 x = (gint32) (16 * (n % across)) - (gint32) p->layout.left;
  const gint32 y = (gint32) (n / across) - (gint32) p->layout.top;

  *(uint4 *) (p->picture.search + (gssize) y * p->layout.pitch + x) =
      staged_words (p, staged_row<guint8> (p, y), x);
}

/* With a depth of 10: the samples, and their upper 8 bits. */
__device__ __forceinline__ void
load_plane_piece (const LoadParameters *p, const guint16 *, guint32 n)
{
  const guint32 across = p->layout.pitch / 4;
  const gint32 x = (gint32) (4 * (n % across)) - (gint32) p->layout.left;
  const gint32 y = (gint32) (n / across) - (gint32) p->layout.top;
  const gssize at = (gssize) y * p->layout.pitch + x;
  const guint16 *row = staged_row<guint16> (p, y);

  *(uint2 *) (p->picture.full + at) = make_uint2 (
      staged_sample (p, row, x) | staged_sample (p, row, x + 1) << 16,
      staged_sample (p, row, x + 2) | staged_sample (p, row, x + 3) << 16);
  *(guint32 *) (p->picture.search + at) = staged_word (p, row, x);
}

/* Four samples of the reduced plane, number @n. Reads the frame, because the
 * picture's plane may not be written yet. */
template <typename Sample>
__device__ __forceinline__ void
load_quarter_piece (const LoadParameters *p, guint32 n)
{
  const guint32 ones = 0x01010101u, across = p->layout.quarter_pitch / 4;
  const gint32 right = (gint32) p->layout.quarter_width - 1;
  const gint32 x =
      (gint32) (4 * (n % across)) - (gint32) p->layout.quarter_left;
  const gint32 y = (gint32) (n / across) - (gint32) p->layout.quarter_top;
  const gint32 from =
      4 * motion_clamp (y, 0, (gint32) p->layout.quarter_height - 1);
  guint32 sums[4] = { 8, 8, 8, 8 };

#pragma unroll
  for (gint32 i = 0; i < 4; i++) {
    const Sample *row = staged_row<Sample> (p, from + i);
    uint4 words;

    if (x >= 0 && x + 3 <= right)
      words = staged_words (p, row, 4 * x);
    else
      words = make_uint4 (staged_word (p, row, 4 * motion_clamp (x, 0, right)),
          staged_word (p, row, 4 * motion_clamp (x + 1, 0, right)),
          staged_word (p, row, 4 * motion_clamp (x + 2, 0, right)),
          staged_word (p, row, 4 * motion_clamp (x + 3, 0, right)));
    sums[0] = __dp4a (words.x, ones, sums[0]);
    sums[1] = __dp4a (words.y, ones, sums[1]);
    sums[2] = __dp4a (words.z, ones, sums[2]);
    sums[3] = __dp4a (words.w, ones, sums[3]);
  }
  *(guint32 *) (p->picture.quarter + (gssize) y * p->layout.quarter_pitch + x) =
      sums[0] >> 4 | sums[1] >> 4 << 8 | sums[2] >> 4 << 16
      | sums[3] >> 4 << 24;
}

/* One sample of a row for each thread */
template <typename Sample>
__global__ void
__launch_bounds__ (LOAD_THREADS)
    sample_kernel (const guint8 *luma, gsize stride, guint32 sampling,
        guint32 width, guint8 *staged, guint32 pitch)
{
  const guint32 x = blockIdx.x * LOAD_THREADS + threadIdx.x, y = blockIdx.y;
  const Sample *from = (const Sample *) (luma + (gsize) y * sampling * stride);

  if (x < width)
    ((Sample *) (staged + (gsize) y * pitch))[x] = from[(gsize) x * sampling];
}

template <typename Sample>
__global__ void
__launch_bounds__ (LOAD_THREADS)
    load_kernel (MOTION_PARAMETER (LoadParameters, p))
{
  const guint32 n = blockIdx.x * LOAD_THREADS + threadIdx.x;

  if (n < p.pieces)
    load_plane_piece (&p, (const Sample *) NULL, n);
  else if (n - p.pieces < p.quarter_pieces)
    load_quarter_piece<Sample> (&p, n - p.pieces);
}

} // namespace

cudaError_t
motion_launch_sample (const MotionConfig *config, const MotionLayout *layout,
    const guint8 *luma, gsize stride, guint8 *staged, cudaStream_t stream)
{
  const dim3 blocks (
      (config->width + LOAD_THREADS - 1) / LOAD_THREADS, config->height);

  if (config->depth == 8)
    MOTION_START (sample_kernel<guint8>, blocks, LOAD_THREADS, stream, luma,
        stride, config->sampling, config->width, staged, layout->staged_pitch);
  else
    MOTION_START (sample_kernel<guint16>, blocks, LOAD_THREADS, stream, luma,
        stride, config->sampling, config->width, staged, layout->staged_pitch);
  return cudaGetLastError ();
}

cudaError_t
motion_launch_load (const MotionConfig *config, const MotionLayout *layout,
    const guint8 *staged, guint shift, const MotionDevicePicture *picture,
    cudaStream_t stream)
{
  const guint32 pieces =
      layout->pitch / (config->depth == 8 ? 16 : 4) * layout->rows;
  const guint32 quarter_pieces =
      picture->quarter != NULL
          ? layout->quarter_pitch / 4 * layout->quarter_rows
          : 0;
  const guint32 blocks =
      (pieces + quarter_pieces + LOAD_THREADS - 1) / LOAD_THREADS;
  const LoadParameters p = { *layout, *picture, staged, (gint32) config->width,
    (gint32) config->height, shift, pieces, quarter_pieces };

  if (config->depth == 8)
    MOTION_START (load_kernel<guint8>, blocks, LOAD_THREADS, stream, p);
  else
    MOTION_START (load_kernel<guint16>, blocks, LOAD_THREADS, stream, p);
  if (picture->sums[0] != NULL)
    return motion_launch_sums (layout, picture, stream);
  if (picture->survey != NULL)
    return motion_launch_field_picture (config, layout, picture, stream);
  return cudaGetLastError ();
}
