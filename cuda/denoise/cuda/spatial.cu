/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The spatial filters: shrinkage of cosine transforms, a thread for each patch; the
 * collaborative Wiener filter, a warp for each group. A thread block sums the samples of
 * its patches in shared memory and adds them to those of the plane; the weight of a patch
 * is added at its first sample only, and summed over the patches that cover a sample when
 * the quotient is made. */
#include "cuda/denoise/cuda/passes.cuh"

namespace {

#define N DENOISE_PATCH

/* Noise that is left in the cell of a patch's middle */
__device__ __forceinline__ gfloat
get_deviation (const DenoiseDeviceSpatial *s, gint32 x, gint32 y)
{
  const gint32 column = min ((x + N / 2) >> s->cell_x, s->cells_across - 1);
  const gint32 row = min ((y + N / 2) >> s->cell_y, s->cells_down - 1);

  return denoise_deviation (s->noise,
      s->left != NULL ? s->left[row * s->cells_across + column] : 256);
}

/* Copies samples of @plane from (@x, @y) on to shared memory; the edge is repeated. */
template <int WIDTH, int HEIGHT, int THREADS>
__device__ __forceinline__ void
copy_tile (const DenoiseDeviceSpatial *s, const DenoiseDevicePlane *plane,
    gint32 x, gint32 y, guint16 *tile)
{
  for (gint32 i = (gint32) threadIdx.x; i < WIDTH * HEIGHT; i += THREADS)
    tile[i] = plane->samples[denoise_clamp (y + i / WIDTH, 0, s->height - 1)
                                 * plane->stride
                             + denoise_clamp (x + i % WIDTH, 0, s->width - 1)];
}

/* Adds the sums of a tile at (@x, @y) to those of the plane. */
template <int WIDTH, int HEIGHT, int THREADS>
__device__ __forceinline__ void
add_tile (const DenoiseDeviceSpatial *s, const gint32 *tile, gint32 x, gint32 y)
{
  for (gint32 i = (gint32) threadIdx.x; i < WIDTH * HEIGHT; i += THREADS) {
    const gint32 to_x = x + i % WIDTH, to_y = y + i / WIDTH;

    if (tile[i] != 0 && to_x >= 0 && to_y >= 0 && to_x < s->width
        && to_y < s->height)
      atomicAdd (&s->sums[to_y * s->stride + to_x], tile[i]);
  }
}

/* --- shrinkage of cosine transforms ---------------------------------------------- */

/* A thread block has patches at 32 columns and 4 rows, a warp has those of a row. */
#define SHRINK_COLUMNS 32
#define SHRINK_ROWS 4
#define SHRINK_THREADS (SHRINK_COLUMNS * SHRINK_ROWS)
#define SHRINK_WIDTH (SHRINK_COLUMNS + N - 1)
#define SHRINK_HEIGHT ((SHRINK_ROWS - 1) * DENOISE_STEP + N)

/* Transforms @v, shrinks it and transforms it back. Returns: its weight */
__device__ __forceinline__ gint32
shrink_patch (gfloat v[N][N], gfloat threshold)
{
  gint32 kept = 0;

#pragma unroll
  for (gint32 x = 0; x < N; x++) {
    gfloat column[N];

#pragma unroll
    for (gint32 i = 0; i < N; i++)
      column[i] = v[i][x];
    DENOISE_DCT (gfloat, column);
#pragma unroll
    for (gint32 i = 0; i < N; i++)
      v[i][x] = column[i];
  }
#pragma unroll
  for (gint32 i = 0; i < N; i++) {
    DENOISE_DCT (gfloat, v[i]);
#pragma unroll
    for (gint32 k = 0; k < N; k++)
      if (i > 0 || k > 0) {
        const bool keep = v[i][k] >= threshold || -v[i][k] >= threshold;

        v[i][k] = keep ? v[i][k] : 0.0f;
        kept += keep;
      }
    DENOISE_IDCT (gfloat, v[i]);
  }
#pragma unroll
  for (gint32 x = 0; x < N; x++) {
    gfloat column[N];

#pragma unroll
    for (gint32 i = 0; i < N; i++)
      column[i] = v[i][x];
    DENOISE_IDCT (gfloat, column);
#pragma unroll
    for (gint32 i = 0; i < N; i++)
      v[i][x] = column[i];
  }
  return (gint32) ((gfloat) DENOISE_DCT_WEIGHT / (gfloat) (kept + 1) + 0.5f);
}

__global__ void
__launch_bounds__ (SHRINK_THREADS)
    shrink_kernel (MOTION_PARAMETER (DenoiseDeviceSpatial, p))
{
  __shared__ guint16 samples[SHRINK_WIDTH * SHRINK_HEIGHT];
  __shared__ gint32 sums[SHRINK_WIDTH * SHRINK_HEIGHT];
  const gint32 first_x = (gint32) blockIdx.x * SHRINK_COLUMNS;
  const gint32 first_row = (gint32) blockIdx.y * SHRINK_ROWS;
  /* the last row of patches lies at the edge */
  const gint32 first_y = min (first_row * DENOISE_STEP, p.height - N);
  const gint32 x = (gint32) threadIdx.x % SHRINK_COLUMNS;
  const gint32 row = first_row + (gint32) threadIdx.x / SHRINK_COLUMNS;
  const gint32 y = min (row * DENOISE_STEP, p.height - N) - first_y;
  const bool exists = first_x + x <= p.width - N
                      && row < denoise_patches (p.height, DENOISE_STEP);

  for (gint32 i = (gint32) threadIdx.x; i < SHRINK_WIDTH * SHRINK_HEIGHT;
       i += SHRINK_THREADS)
    sums[i] = 0;
  copy_tile<SHRINK_WIDTH, SHRINK_HEIGHT, SHRINK_THREADS> (
      &p, &p.from, first_x, first_y, samples);
  __syncthreads ();
  if (exists) {
    gfloat v[N][N], scale;
    gint32 weight;

#pragma unroll
    for (gint32 i = 0; i < N; i++)
#pragma unroll
      for (gint32 k = 0; k < N; k++)
        v[i][k] = (gfloat) samples[(y + i) * SHRINK_WIDTH + x + k];
    weight = shrink_patch (
        v, get_deviation (&p, first_x + x, first_y + y) * DENOISE_SHRINK);
    p.weights[(first_y + y) * p.stride + first_x + x] = weight;
    scale = (gfloat) (weight << DENOISE_DCT_BITS);
#pragma unroll
    for (gint32 i = 0; i < N; i++)
#pragma unroll
      for (gint32 k = 0; k < N; k++)
        atomicAdd (&sums[(y + i) * SHRINK_WIDTH + x + k],
            denoise_round (v[i][k] * scale));
  }
  __syncthreads ();
  add_tile<SHRINK_WIDTH, SHRINK_HEIGHT, SHRINK_THREADS> (
      &p, sums, first_x, first_y);
}

/* --- the collaborative Wiener filter ------------------------------------------------ */

/* A thread block has 16 x 2 groups; eight warps filter one after the other. */
#define GROUP_WARPS 8
#define GROUP_THREADS (32 * GROUP_WARPS)
#define GROUP_COLUMNS 16
#define GROUP_ROWS 2
#define SIDE (2 * DENOISE_SEARCH + 1)
#define GROUP_WIDTH                                                            \
  ((GROUP_COLUMNS - 1) * DENOISE_STEP + N + 2 * DENOISE_SEARCH)
#define GROUP_HEIGHT ((GROUP_ROWS - 1) * DENOISE_STEP + N + 2 * DENOISE_SEARCH)
/* Floats from row to row and from patch to patch of a group in shared memory */
#define ROW (N + 1)
#define PATCH (N * ROW)

/* A group: lane l has patch l / 4 of it, and of that columns 2 (l % 4) and the next one,
 * or rows of coefficients. @x, @y: of the lane's patch in the tile */
struct Group {
  const guint16 *samples, *pilot; /* of the tile */
  gfloat *memory;                 /* of the warp, DENOISE_GROUP * PATCH */
  gint32 x, y;

  __device__ __forceinline__ gfloat *
  at (gint32 row, gint32 column) const
  {
    return memory + (motion_lane () >> 2) * PATCH + row * ROW + column;
  }

  __device__ __forceinline__ gint32
  pair (void) const
  {
    return 2 * (gint32) (motion_lane () & 3);
  }

  /* The Hadamard transform over the patches, which are in lanes apart by four */
  static __device__ __forceinline__ void
  hadamard (gfloat c[2][N])
  {
#pragma unroll
    for (gint32 apart = 4; apart < 32; apart *= 2)
#pragma unroll
      for (gint32 i = 0; i < 2 * N; i++) {
        const gfloat own = c[i / N][i % N];
        const gfloat other = __shfl_xor_sync (MOTION_ALL_LANES, own, apart);

        c[i / N][i % N] =
            (gint32) motion_lane () & apart ? other - own : own + other;
      }
  }

  /* Two rows of coefficients of the lane's patch in @plane */
  __device__ __forceinline__ void
  transform (const guint16 *plane, gfloat c[2][N]) const
  {
#pragma unroll
    for (gint32 h = 0; h < 2; h++) {
      gfloat column[N];

#pragma unroll
      for (gint32 i = 0; i < N; i++)
        column[i] = (gfloat) plane[(y + i) * GROUP_WIDTH + x + pair () + h];
      DENOISE_DCT (gfloat, column);
#pragma unroll
      for (gint32 i = 0; i < N; i++)
        *at (i, pair () + h) = column[i];
    }
    __syncwarp ();
#pragma unroll
    for (gint32 h = 0; h < 2; h++) {
#pragma unroll
      for (gint32 i = 0; i < N; i++)
        c[h][i] = *at (pair () + h, i);
      DENOISE_DCT (gfloat, c[h]);
    }
    __syncwarp ();
    hadamard (c);
  }

  /* Adds the patch of coefficients @c to @sums. */
  __device__ __forceinline__ void
  add (gfloat c[2][N], gfloat scale, gint32 *sums) const
  {
    hadamard (c);
#pragma unroll
    for (gint32 h = 0; h < 2; h++) {
      DENOISE_IDCT (gfloat, c[h]);
#pragma unroll
      for (gint32 i = 0; i < N; i++)
        *at (pair () + h, i) = c[h][i];
    }
    __syncwarp ();
#pragma unroll
    for (gint32 h = 0; h < 2; h++) {
      gfloat column[N];

#pragma unroll
      for (gint32 i = 0; i < N; i++)
        column[i] = *at (i, pair () + h);
      DENOISE_IDCT (gfloat, column);
#pragma unroll
      for (gint32 i = 0; i < N; i++)
        atomicAdd (&sums[(y + i) * GROUP_WIDTH + x + pair () + h],
            denoise_round (column[i] * scale));
    }
    __syncwarp ();
  }
};

/* Squared difference of two patches of @pilot */
__device__ __forceinline__ guint32
compare_patches (const guint16 *a, const guint16 *b)
{
  gint32 sum = 0;

#pragma unroll
  for (gint32 y = 0; y < N; y++)
#pragma unroll
    for (gint32 x = 0; x < N; x++) {
      const gint32 d = a[y * GROUP_WIDTH + x] - b[y * GROUP_WIDTH + x];

      sum += d * d;
    }
  return (guint32) sum;
}

/* The place of the lane's patch: of those of least difference, in the order of
 * denoise/cpu/spatial.c. A key is the difference, then the place in raster order.
 * @x, @y: of the first patch; @in_x, @in_y: in the tile
 * Returns: the place, SIDE * row + column, from -SEARCH each way */
__device__ __forceinline__ gint32
find_patch (const DenoiseDeviceSpatial *s, const guint16 *pilot, gint32 x,
    gint32 y, gint32 in_x, gint32 in_y)
{
  const gint32 middle = DENOISE_SEARCH * SIDE + DENOISE_SEARCH;
  const guint16 *own = pilot + in_y * GROUP_WIDTH + in_x;
  const guint32 wanted = motion_lane () >> 2;
  guint32 keys[2], first = MOTION_NONE, n = 1;
  gint32 mine = middle;

#pragma unroll
  for (gint32 h = 0; h < 2; h++) {
    const gint32 place = (gint32) motion_lane () + 32 * h;
    const gint32 dx = place % SIDE - DENOISE_SEARCH;
    const gint32 dy = place / SIDE - DENOISE_SEARCH;

    keys[h] = MOTION_NONE;
    if (place < SIDE * SIDE && place != middle && x + dx >= 0 && y + dy >= 0
        && x + dx <= s->width - N && y + dy <= s->height - N)
      keys[h] = compare_patches (own, own + dy * GROUP_WIDTH + dx) << 6 | place;
  }
  for (guint32 k = 1; k < DENOISE_GROUP; k++) {
    const guint32 least = motion_warp_min (min (keys[0], keys[1]));

    if (least == MOTION_NONE)
      break;
    n++;
    if (k == wanted)
      first = least;
    keys[0] = keys[0] == least ? MOTION_NONE : keys[0];
    keys[1] = keys[1] == least ? MOTION_NONE : keys[1];
  }
  if (first != MOTION_NONE)
    mine = (gint32) (first & 63);
  /* too few: they repeat */
  return __shfl_sync (MOTION_ALL_LANES, mine, (gint32) (wanted % n * 4));
}

__global__ void
__launch_bounds__ (GROUP_THREADS)
    group_kernel (MOTION_PARAMETER (DenoiseDeviceSpatial, p))
{
  __shared__ guint16 samples[GROUP_WIDTH * GROUP_HEIGHT];
  __shared__ guint16 pilot[GROUP_WIDTH * GROUP_HEIGHT];
  __shared__ gint32 sums[GROUP_WIDTH * GROUP_HEIGHT];
  __shared__ gfloat memory[GROUP_WARPS][DENOISE_GROUP * PATCH];
  const gint32 across = denoise_patches (p.width, DENOISE_STEP);
  const gint32 down = denoise_patches (p.height, DENOISE_STEP);
  const gint32 first_column = (gint32) blockIdx.x * GROUP_COLUMNS;
  const gint32 first_row = (gint32) blockIdx.y * GROUP_ROWS;
  /* the last groups lie at the edge */
  const gint32 left =
      min (first_column * DENOISE_STEP, p.width - N) - DENOISE_SEARCH;
  const gint32 top =
      min (first_row * DENOISE_STEP, p.height - N) - DENOISE_SEARCH;

  for (gint32 i = (gint32) threadIdx.x; i < GROUP_WIDTH * GROUP_HEIGHT;
       i += GROUP_THREADS)
    sums[i] = 0;
  copy_tile<GROUP_WIDTH, GROUP_HEIGHT, GROUP_THREADS> (
      &p, &p.from, left, top, samples);
  copy_tile<GROUP_WIDTH, GROUP_HEIGHT, GROUP_THREADS> (
      &p, &p.pilot, left, top, pilot);
  __syncthreads ();
  for (gint32 i = (gint32) threadIdx.x / 32; i < GROUP_COLUMNS * GROUP_ROWS;
       i += GROUP_WARPS) {
    const gint32 column = first_column + i % GROUP_COLUMNS;
    const gint32 row = first_row + i / GROUP_COLUMNS;
    const gint32 x = min (column * DENOISE_STEP, p.width - N);
    const gint32 y = min (row * DENOISE_STEP, p.height - N);
    gfloat c[2][N], power[2][N], variance, deviation;
    gint32 place, total = 0, weight;

    if (column >= across || row >= down)
      continue;
    place = find_patch (&p, pilot, x, y, x - left, y - top);
    const Group group = { samples, pilot, memory[threadIdx.x / 32],
      x - left + place % SIDE - DENOISE_SEARCH,
      y - top + place / SIDE - DENOISE_SEARCH };

    group.transform (samples, c);
    group.transform (pilot, power);
    deviation = get_deviation (&p, x, y);
    variance = 8.0f * (deviation * deviation) + 0.01f;
#pragma unroll
    for (gint32 k = 0; k < 2 * N; k++) {
      const gfloat square = power[k / N][k % N] * power[k / N][k % N];
      const gfloat factor = square / (square + variance);

      c[k / N][k % N] *= factor;
      total += (gint32) (factor * factor * 64.0f + 0.5f);
    }
    weight = DENOISE_GROUP_WEIGHT
             / ((gint32) motion_warp_sum ((guint32) total) + 64);
    if (group.pair () == 0)
      atomicAdd (
          &p.weights[(top + group.y) * p.stride + left + group.x], weight);
    group.add (c, (gfloat) (weight << DENOISE_GROUP_BITS) * 0.125f, sums);
  }
  __syncthreads ();
  add_tile<GROUP_WIDTH, GROUP_HEIGHT, GROUP_THREADS> (&p, sums, left, top);
}

/* --- quotients ---------------------------------------------------------------------- */

/* A thread block makes 32 x 8 samples. */
#define QUOTIENT_WIDTH 32
#define QUOTIENT_HEIGHT 8
#define QUOTIENT_THREADS (QUOTIENT_WIDTH * QUOTIENT_HEIGHT)
#define WEIGHTS_WIDTH (QUOTIENT_WIDTH + N - 1)
#define WEIGHTS_HEIGHT (QUOTIENT_HEIGHT + N - 1)

__global__ void
__launch_bounds__ (QUOTIENT_THREADS)
    quotient_kernel (MOTION_PARAMETER (DenoiseDeviceSpatial, p),
        const DenoiseDevicePlane into, gint32 bits)
{
  __shared__ gint32 weights[WEIGHTS_HEIGHT][WEIGHTS_WIDTH];
  __shared__ gint32 rows[WEIGHTS_HEIGHT][QUOTIENT_WIDTH];
  const gint32 left = (gint32) blockIdx.x * QUOTIENT_WIDTH;
  const gint32 top = (gint32) blockIdx.y * QUOTIENT_HEIGHT;
  const gint32 x = (gint32) threadIdx.x % QUOTIENT_WIDTH;
  const gint32 y = (gint32) threadIdx.x / QUOTIENT_WIDTH;
  gint32 weight = 0;

  for (gint32 i = (gint32) threadIdx.x; i < WEIGHTS_HEIGHT * WEIGHTS_WIDTH;
       i += QUOTIENT_THREADS) {
    const gint32 from_x = left + i % WEIGHTS_WIDTH - (N - 1);
    const gint32 from_y = top + i / WEIGHTS_WIDTH - (N - 1);

    weights[i / WEIGHTS_WIDTH][i % WEIGHTS_WIDTH] =
        from_x >= 0 && from_y >= 0 && from_x <= p.width - N
                && from_y <= p.height - N
            ? p.weights[from_y * p.stride + from_x]
            : 0;
  }
  __syncthreads ();
  for (gint32 i = (gint32) threadIdx.x; i < WEIGHTS_HEIGHT * QUOTIENT_WIDTH;
       i += QUOTIENT_THREADS) {
    gint32 sum = 0;

#pragma unroll
    for (gint32 k = 0; k < N; k++)
      sum += weights[i / QUOTIENT_WIDTH][i % QUOTIENT_WIDTH + k];
    rows[i / QUOTIENT_WIDTH][i % QUOTIENT_WIDTH] = sum;
  }
  __syncthreads ();
#pragma unroll
  for (gint32 k = 0; k < N; k++)
    weight += rows[y + k][x];
  if (left + x < p.width && top + y < p.height)
    into.samples[(top + y) * into.stride + left + x] =
        (guint16) denoise_quotient (
            p.sums[(top + y) * p.stride + left + x], weight, bits);
}

cudaError_t
clear_sums (const DenoiseDeviceSpatial *s, cudaStream_t stream)
{
  const gsize size = (gsize) s->stride * (gsize) s->height * sizeof (gint32);
  const cudaError_t code = cudaMemsetAsync (s->sums, 0, size, stream);

  return code == cudaSuccess ? cudaMemsetAsync (s->weights, 0, size, stream)
                             : code;
}

cudaError_t
launch_quotient (const DenoiseDeviceSpatial *s, const DenoiseDevicePlane *into,
    gint32 bits, cudaStream_t stream)
{
  const dim3 grid (denoise_grid (s->width, QUOTIENT_WIDTH),
      denoise_grid (s->height, QUOTIENT_HEIGHT));

  MOTION_START (
      quotient_kernel, grid, QUOTIENT_THREADS, stream, *s, *into, bits);
  return cudaGetLastError ();
}

} // namespace

cudaError_t
denoise_launch_shrink (const DenoiseDeviceSpatial *spatial,
    const DenoiseDevicePlane *into, cudaStream_t stream)
{
  const dim3 grid (denoise_grid (spatial->width - N + 1, SHRINK_COLUMNS),
      denoise_grid (
          denoise_patches (spatial->height, DENOISE_STEP), SHRINK_ROWS));
  const cudaError_t code = clear_sums (spatial, stream);

  if (code != cudaSuccess)
    return code;
  MOTION_START (shrink_kernel, grid, SHRINK_THREADS, stream, *spatial);
  return launch_quotient (spatial, into, DENOISE_DCT_BITS, stream);
}

cudaError_t
denoise_launch_group (const DenoiseDeviceSpatial *spatial,
    const DenoiseDevicePlane *into, cudaStream_t stream)
{
  const dim3 grid (denoise_grid (denoise_patches (spatial->width, DENOISE_STEP),
                       GROUP_COLUMNS),
      denoise_grid (
          denoise_patches (spatial->height, DENOISE_STEP), GROUP_ROWS));
  const cudaError_t code = clear_sums (spatial, stream);

  if (code != cudaSuccess)
    return code;
  MOTION_START (group_kernel, grid, GROUP_THREADS, stream, *spatial);
  return launch_quotient (spatial, into, DENOISE_GROUP_BITS, stream);
}
