/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The sums for elimination: of 4x4, 8x8 and 16x16 samples at every position
 * of a picture.
 *
 * A lane has four columns, two 16-bit sums in a word, and goes down the
 * rows: four sums of 4 samples give one of 4x4, four of these one of 8x8,
 * four of these one of 16x16. Neighbours to the right come from other lanes,
 * those above from registers. */
#include "cuda/motion/cuda/warp.cuh"

namespace {

#define SUMS_WARPS 4
#define SUMS_LANES 28 /* lanes with all right neighbours in the warp */
#define SUMS_ROWS 17  /* rows of a warp; 15 more make a multiple of eight */

struct SumsParameters {
  MotionLayout layout;
  const guint8 *search;
  guint16 *sums[3];
};

/* Sums of four columns: the first two, the last two. */
struct Four {
  guint32 low, high;

  __device__ __forceinline__ Four
  operator+ (const Four &other) const
  {
    return Four{ low + other.low, high + other.high };
  }

  __device__ __forceinline__ Four
  operator- (const Four &other) const
  {
    return Four{ low - other.low, high - other.high };
  }

  /* the sums of the lane @words further right */
  __device__ __forceinline__ Four
  sums_from_right (guint32 words) const
  {
    return Four{ __shfl_down_sync (MOTION_ALL_LANES, low, words),
      __shfl_down_sync (MOTION_ALL_LANES, high, words) };
  }

  __device__ __forceinline__ void
  sums_store (guint16 *to) const
  {
    *(uint2 *) to = make_uint2 (low, high);
  }
};

/* Sums of four samples that begin in @word. */
__device__ __forceinline__ Four
row_of_4 (guint32 word)
{
  guint32 next = __shfl_down_sync (MOTION_ALL_LANES, word, 1), sums[4];

#pragma unroll
  for (guint32 i = 0; i < 4; i++)
    sums[i] = __dp4a (__funnelshift_r (word, next, 8 * i), 0x01010101u, 0u);
  return Four{ sums[1] * 65536 + sums[0], sums[3] * 65536 + sums[2] };
}

/* The last 19 samples of a row and the last 15 rows of the plane have no
 * sums. Row r completes the sums of 4x4 that begin three rows above, of 8x8
 * seven, of 16x16 fifteen rows above. */
__global__ void __launch_bounds__ (32 * SUMS_WARPS)
    sums_kernel (MOTION_PARAMETER (SumsParameters, p))
{
  const guint32 warp = blockIdx.x * SUMS_WARPS + threadIdx.x / 32;
  const guint32 column = 4 * (warp * SUMS_LANES + motion_lane ());
  const guint32 first = blockIdx.y * SUMS_ROWS, pitch = p.layout.pitch;
  const guint32 rows = min (SUMS_ROWS, p.layout.rows - 15 - first);
  const bool stores = motion_lane () < SUMS_LANES && column + 19 < pitch;
  gssize at = ((gssize) first - (gssize) p.layout.top) * pitch
              + (gssize) min (column, pitch - 4) - (gssize) p.layout.left;
  Four rows_of_4[4] = {}, rows_of_8[4] = {}, rows_of_16[8] = {};
  Four sums4 = {};

  for (guint32 row = 0; row < rows + 15; row += 8) {
    guint32 words[8];

#pragma unroll
    for (guint32 i = 0; i < 8; i++)
      words[i] =
          *(const guint32 *) (p.search + at
                              + (gsize) min (i, rows + 14 - row) * pitch);
#pragma unroll
    for (guint32 i = 0; i < 8; i++, at += pitch) {
      const Four new4 = row_of_4 (words[i]);
      Four new8, new16, sums8, sums16;
      const guint32 r = row + i;

      sums4 = sums4 + new4 - rows_of_4[i % 4];
      new8 = sums4 + sums4.sums_from_right (1);
      sums8 = rows_of_8[i % 4] + new8;
      new16 = sums8 + sums8.sums_from_right (2);
      sums16 = rows_of_16[i] + new16;
      rows_of_4[i % 4] = new4;
      rows_of_8[i % 4] = new8;
      rows_of_16[i] = new16;
      if (stores && r >= 3 && r < rows + 3)
        sums4.sums_store (p.sums[0] + at - 3 * (gssize) pitch);
      if (stores && r >= 7 && r < rows + 7)
        sums8.sums_store (p.sums[1] + at - 7 * (gssize) pitch);
      if (stores && r >= 15 && r < rows + 15)
        sums16.sums_store (p.sums[2] + at - 15 * (gssize) pitch);
    }
  }
}

guint
sums_pieces (guint n, guint size)
{
  return (n + size - 1) / size;
}

} // namespace

cudaError_t
motion_launch_sums (const MotionLayout *layout,
    const MotionDevicePicture *picture, cudaStream_t stream)
{
  SumsParameters p = { *layout, picture->search,
    { picture->sums[0], picture->sums[1], picture->sums[2] } };
  dim3 grid (sums_pieces (layout->pitch / 4, SUMS_LANES * SUMS_WARPS),
      sums_pieces (layout->rows - 15, SUMS_ROWS));

  sums_kernel<<<grid, 32 * SUMS_WARPS, 0, stream>>> (p);
  return cudaGetLastError ();
}
