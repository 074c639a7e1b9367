/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* From a frame as it came in to a picture: its planes with borders, the plane
 * reduced by four. */
#include "motionwarp.cuh"

namespace {

#define LOAD_THREADS 128

struct LoadParameters {
  MotionLayout layout;
  MotionDevicePicture picture;
  const guint8 *staged;
  gint32 width, height;
  guint32 shift;
};

/* The row of the frame that is row @y of the picture. */
template <typename Sample>
__device__ __forceinline__ const Sample *
staged_row (const LoadParameters *p, gint32 y)
{
  return (const Sample *) (p->staged
                           + (gsize) motion_clamp (y, 0, p->height - 1)
                                 * p->layout.staged_pitch);
}

/* Four samples of a row from @x on, coordinates clamped. */
__device__ __forceinline__ guint32
staged_word (const LoadParameters *p, const guint8 *row, gint32 x)
{
  guint32 word = 0;

  for (gint32 i = 0; i < 4; i++)
    word |= (guint32) row[motion_clamp (x + i, 0, p->width - 1)] << (8 * i);
  return word;
}

/* A thread makes 16 samples of a row. */
__global__ void
__launch_bounds__ (LOAD_THREADS)
    load_kernel (MOTION_PARAMETER (LoadParameters, p))
{
  guint32 first = 16 * (blockIdx.x * LOAD_THREADS + threadIdx.x);
  gint32 x = (gint32) first - (gint32) p.layout.left;
  gint32 y = (gint32) blockIdx.y - (gint32) p.layout.top;
  const guint8 *row = staged_row<guint8> (&p, y);
  uint4 words;

  if (first >= p.layout.pitch)
    return;
  if (x >= 0 && x + 15 < p.width)
    words = *(const uint4 *) (row + x);
  else
    words = make_uint4 (staged_word (&p, row, x), staged_word (&p, row, x + 4),
        staged_word (&p, row, x + 8), staged_word (&p, row, x + 12));
  *(uint4 *) (p.picture.search + (gssize) y * p.layout.pitch + x) = words;
}

/* A thread makes four samples of a row, of 10 bits and of their upper 8. */
__global__ void
__launch_bounds__ (LOAD_THREADS)
    load_deep_kernel (MOTION_PARAMETER (LoadParameters, p))
{
  guint32 word = blockIdx.x * LOAD_THREADS + threadIdx.x;
  gint32 x = 4 * (gint32) word - (gint32) p.layout.left;
  gint32 y = (gint32) blockIdx.y - (gint32) p.layout.top;
  gssize at = (gssize) y * p.layout.pitch + x;
  const guint16 *row = staged_row<guint16> (&p, y);
  guint32 v[4], packed = 0;

  if (4 * word >= p.layout.pitch)
    return;
  for (gint32 i = 0; i < 4; i++) {
    v[i] = row[motion_clamp (x + i, 0, p.width - 1)] >> p.shift & 1023;
    packed |= v[i] >> 2 << (8 * i);
  }
  *(uint2 *) (p.picture.full + at) =
      make_uint2 (v[0] | v[1] << 16, v[2] | v[3] << 16);
  *(guint32 *) (p.picture.search + at) = packed;
}

/* A thread makes one sample. */
__global__ void
__launch_bounds__ (LOAD_THREADS)
    quarter_kernel (MOTION_PARAMETER (LoadParameters, p))
{
  guint32 column = blockIdx.x * LOAD_THREADS + threadIdx.x, sum = 8;
  gint32 x = (gint32) column - (gint32) p.layout.quarter_left;
  gint32 y = (gint32) blockIdx.y - (gint32) p.layout.quarter_top;
  const guint8 *from =
      p.picture.search
      + 4 * (gsize) motion_clamp (y, 0, (gint32) p.layout.quarter_height - 1)
            * p.layout.pitch
      + 4 * motion_clamp (x, 0, (gint32) p.layout.quarter_width - 1);

  if (column >= p.layout.quarter_pitch)
    return;
  for (guint32 i = 0; i < 4; i++, from += p.layout.pitch)
    sum = __dp4a (*(const guint32 *) from, 0x01010101u, sum);
  p.picture.quarter[(gssize) y * p.layout.quarter_pitch + x] =
      (guint8) (sum >> 4);
}

guint
pieces (guint n, guint size)
{
  return (n + size - 1) / size;
}

} // namespace

cudaError_t
motion_launch_load (const MotionConfig *config, const MotionLayout *layout,
    const guint8 *staged, guint shift, const MotionDevicePicture *picture,
    cudaStream_t stream)
{
  LoadParameters p = { *layout, *picture, staged, (gint32) config->width,
    (gint32) config->height, shift };
  guint each = config->depth == 8 ? 16 : 4;
  dim3 whole (pieces (layout->pitch / each, LOAD_THREADS), layout->rows);
  dim3 quarter (
      pieces (layout->quarter_pitch, LOAD_THREADS), layout->quarter_rows);

  if (config->depth == 8)
    load_kernel<<<whole, LOAD_THREADS, 0, stream>>> (p);
  else
    load_deep_kernel<<<whole, LOAD_THREADS, 0, stream>>> (p);
  if (picture->quarter != NULL)
    quarter_kernel<<<quarter, LOAD_THREADS, 0, stream>>> (p);
  if (picture->sums[0] != NULL)
    return motion_launch_sums (layout, picture, stream);
  return cudaGetLastError ();
}
