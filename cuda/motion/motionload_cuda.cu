/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* From a frame as it came in to a picture: its planes with borders, the plane
 * reduced by four, the sums that the elimination goes by. */
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

/* Sample (@x, @y), coordinates clamped. */
template <typename Sample>
__device__ __forceinline__ guint32
staged_sample (const LoadParameters *p, gint32 x, gint32 y)
{
  const guint8 *row =
      p->staged
      + (gsize) motion_clamp (y, 0, p->height - 1) * p->layout.staged_pitch;
  guint32 v = ((const Sample *) row)[motion_clamp (x, 0, p->width - 1)];

  return sizeof (Sample) == 1 ? v : v >> p->shift & 1023;
}

/* A thread makes four samples of a row. */
template <typename Sample>
__global__ void
__launch_bounds__ (LOAD_THREADS)
    load_kernel (MOTION_PARAMETER (LoadParameters, p))
{
  guint32 word = blockIdx.x * LOAD_THREADS + threadIdx.x;
  gint32 x = 4 * (gint32) word - (gint32) p.layout.left;
  gint32 y = (gint32) blockIdx.y - (gint32) p.layout.top;
  gssize at = (gssize) y * p.layout.pitch + x;
  guint32 v[4], packed = 0;

  if (4 * word >= p.layout.pitch)
    return;
  if (sizeof (Sample) == 1 && x >= 0 && x + 3 < p.width && y >= 0
      && y < p.height) {
    packed =
        *(const guint32 *) (p.staged + (gsize) y * p.layout.staged_pitch + x);
  } else {
    for (gint32 i = 0; i < 4; i++) {
      v[i] = staged_sample<Sample> (&p, x + i, y);
      packed |= (sizeof (Sample) == 1 ? v[i] : v[i] >> 2) << (8 * i);
    }
    if (sizeof (Sample) == 2)
      *(uint2 *) (p.picture.full + at) =
          make_uint2 (v[0] | v[1] << 16, v[2] | v[3] << 16);
  }
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

#define SUM_ROWS 48 /* that a thread makes */

/* A thread makes the sums from SUM_ROWS samples of a column on: those of rows
 * of 16, 8 and 4 samples are made once and added up as the rows go by. The last
 * 19 samples of a row and the last 15 rows of the plane have none. */
__global__ void
__launch_bounds__ (LOAD_THREADS)
    sums_kernel (MOTION_PARAMETER (LoadParameters, p))
{
  guint32 column = blockIdx.x * LOAD_THREADS + threadIdx.x;
  guint32 first = blockIdx.y * SUM_ROWS;
  guint32 last = min (first + SUM_ROWS, p.layout.rows - 15);
  gssize at = ((gssize) first - (gssize) p.layout.top) * p.layout.pitch
              + (gssize) column - (gssize) p.layout.left;
  guint32 sum4 = 0, sum8 = 0, sum16 = 0;
  /* by row modulo 16: the sum of 4 samples from bit 0 on, of 8 from 10, of 16
   * less that of 8 from 21 */
  guint32 ring[16];

  if (column + 19 >= p.layout.pitch)
    return;
#pragma unroll
  for (guint32 i = 0; i < 16; i++)
    ring[i] = 0;
  for (guint32 row = first; row < last + 15; row += 16) {
#pragma unroll
    for (guint32 i = 0; i < 16; i++) {
      if (row + i < last + 15) {
        const guint8 *bytes = p.picture.search + at;
        guint32 a = __dp4a (motion_word (bytes), 0x01010101u, 0u);
        guint32 b = __dp4a (motion_word (bytes + 4), 0x01010101u, a);
        guint32 c = __dp4a (motion_word (bytes + 8), 0x01010101u, 0u);
        guint32 d = __dp4a (motion_word (bytes + 12), 0x01010101u, c);
        guint32 gone4 = ring[(i + 12) & 15], gone8 = ring[(i + 8) & 15];
        guint32 gone16 = ring[i];
        gssize pitch = (gssize) p.layout.pitch;

        sum4 += a - (gone4 & 1023);
        sum8 += b - (gone8 >> 10 & 2047);
        sum16 += b + d - (gone16 >> 10 & 2047) - (gone16 >> 21);
        ring[i] = a | b << 10 | d << 21;
        /* the sums that end with this row */
        if (row + i >= first + 3 && row + i - 3 < last)
          p.picture.sums[0][at - 3 * pitch] = (guint16) sum4;
        if (row + i >= first + 7 && row + i - 7 < last)
          p.picture.sums[1][at - 7 * pitch] = (guint16) sum8;
        if (row + i >= first + 15)
          p.picture.sums[2][at - 15 * pitch] = (guint16) sum16;
        at += pitch;
      }
    }
  }
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
  dim3 whole (pieces (layout->pitch / 4, LOAD_THREADS), layout->rows);
  dim3 quarter (
      pieces (layout->quarter_pitch, LOAD_THREADS), layout->quarter_rows);
  dim3 sums (pieces (layout->pitch, LOAD_THREADS),
      pieces (layout->rows - 15, SUM_ROWS));

  if (config->depth == 8)
    load_kernel<guint8><<<whole, LOAD_THREADS, 0, stream>>> (p);
  else
    load_kernel<guint16><<<whole, LOAD_THREADS, 0, stream>>> (p);
  if (picture->quarter != NULL)
    quarter_kernel<<<quarter, LOAD_THREADS, 0, stream>>> (p);
  if (picture->sums[0] != NULL)
    sums_kernel<<<sums, LOAD_THREADS, 0, stream>>> (p);
  return cudaGetLastError ();
}
