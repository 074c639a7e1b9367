/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The parts of a picture that only method=field has: the levels of the pyramid, the
 * planes of half pixels, the largest and least sample of each row and column, and
 * the noise. */
#include "cuda/motion/cuda/field.cuh"

namespace {

#define SURVEY_SIDE 64 /* of the tile of a thread block, samples */
#define SURVEY_THREADS 256
#define HALVES_THREADS 128
#define HALVES_ROWS 8 /* of a thread */

struct FieldPictureParameters {
  MotionLayout layout;
  MotionDevicePicture picture;
  gint32 width, height;
};

/* A tile of level 0 with the levels above it. Beyond the picture's edge level 0
 * repeats the edge. */
struct SurveyTile {
  guint8 samples[SURVEY_SIDE][SURVEY_SIDE + 4];
  guint8 level1[SURVEY_SIDE / 2][SURVEY_SIDE / 2];
  guint8 level2[SURVEY_SIDE / 4][SURVEY_SIDE / 4];
  guint32 most[SURVEY_SIDE], low[SURVEY_SIDE]; /* of the columns */
};

/* Sample (@x, @y) of a level from the level below, within a tile. @right, @bottom: the
 * last samples of the level below */
template <int PITCH>
__device__ __forceinline__ guint8
survey_mean (
    const guint8 *below, gint32 x, gint32 y, gint32 right, gint32 bottom)
{
  gint32 x1 = min (2 * x + 1, right), y1 = min (2 * y + 1, bottom);

  return (guint8) ((below[2 * y * PITCH + 2 * x] + below[2 * y * PITCH + x1]
                       + below[y1 * PITCH + 2 * x] + below[y1 * PITCH + x1] + 2)
                   >> 2);
}

/* The part of level @level above a tile at (@left, @top) of level 0. @below: the part of
 * the level below, rows of PITCH samples; @own: of this one, nullable */
template <int PITCH>
__device__ __forceinline__ void
survey_reduce (const FieldPictureParameters *p, guint level, gint32 left,
    gint32 top, const guint8 *below, guint8 *own)
{
  const gint32 width = motion_field_size ((guint32) p->width, level);
  const gint32 height = motion_field_size ((guint32) p->height, level);
  const gint32 pitch = (gint32) p->layout.levels[level].pitch;
  const gint32 side = SURVEY_SIDE >> level;

  left >>= level;
  top >>= level;
  for (gint32 i = (gint32) threadIdx.x; i < side * side; i += SURVEY_THREADS) {
    gint32 x = i % side, y = i / side;
    gint32 right = motion_field_size ((guint32) p->width, level - 1) - 1;
    gint32 bottom = motion_field_size ((guint32) p->height, level - 1) - 1;
    guint8 mean;

    if (left + x >= width || top + y >= height)
      continue;
    mean = survey_mean<PITCH> (below, x, y, right - 2 * left, bottom - 2 * top);
    p->picture.levels[level][(gssize) (top + y) * pitch + left + x] = mean;
    if (own != NULL)
      own[i] = mean;
  }
}

/* Loads the tile, four samples a thread. */
__device__ __forceinline__ void
survey_load (
    const FieldPictureParameters *p, gint32 left, gint32 top, SurveyTile *tile)
{
  for (gint32 i = (gint32) threadIdx.x; i < SURVEY_SIDE * SURVEY_SIDE / 4;
       i += SURVEY_THREADS) {
    gint32 x = i % (SURVEY_SIDE / 4) * 4, y = i / (SURVEY_SIDE / 4);
    const guint8 *row =
        p->picture.search
        + (gssize) min (top + y, p->height - 1) * (gint32) p->layout.pitch;
    guint32 word = 0;

    if (left + x + 3 < p->width)
      word = *(const guint32 *) (row + left + x);
    else
      for (gint32 k = 0; k < 4; k++)
        word |= (guint32) row[min (left + x + k, p->width - 1)] << 8 * k;
    *(guint32 *) &tile->samples[y][x] = word;
  }
}

/* Rows: four lanes each, which have 16 samples. */
__device__ __forceinline__ void
survey_rows (
    const FieldPictureParameters *p, gint32 top, const SurveyTile *tile)
{
  const gint32 y = (gint32) threadIdx.x / 4;
  guint32 most = 0, low = 0;

  for (gint32 x = (gint32) threadIdx.x % 4 * 16, i = 0; i < 16; i++) {
    most = max (most, (guint32) tile->samples[y][x + i]);
    low = max (low, 255u - tile->samples[y][x + i]);
  }
  for (gint32 d = 1; d < 4; d *= 2) {
    most = max (most, __shfl_xor_sync (MOTION_ALL_LANES, most, d));
    low = max (low, __shfl_xor_sync (MOTION_ALL_LANES, low, d));
  }
  if (threadIdx.x % 4 == 0 && top + y < p->height) {
    atomicMax (&p->picture.lines[2 * (top + y)], most);
    atomicMax (&p->picture.lines[2 * (top + y) + 1], low);
  }
}

/* Columns and noise: 16 lanes have the columns of a square of 16 x 16. */
__device__ __forceinline__ void
survey_squares (
    const FieldPictureParameters *p, gint32 left, gint32 top, SurveyTile *tile)
{
  const gint32 size = MOTION_FIELD_NOISE_BLOCK;
  const gint32 square = (gint32) threadIdx.x / size;
  const gint32 column = (gint32) threadIdx.x % size;
  const gint32 x = square % (SURVEY_SIDE / size) * size + column;
  const gint32 y = square / (SURVEY_SIDE / size) * size;
  guint32 most = 0, low = 0, sum = 0;
  gint32 before = 0, middle = 0;

  for (gint32 j = 0; j < size; j++) {
    const guint8 *at = &tile->samples[y + j][x];
    gint32 across = 0;

    most = max (most, (guint32) *at);
    low = max (low, 255u - *at);
    if (column > 0 && column < size - 1)
      across = at[-1] - 2 * at[0] + at[1];
    if (j > 1)
      sum += (guint32) abs (before - 2 * middle + across);
    before = middle;
    middle = across;
  }
  atomicMax (&tile->most[x], most);
  atomicMax (&tile->low[x], low);
  for (gint32 d = 1; d < size; d *= 2) {
    most = max (most, __shfl_xor_sync (MOTION_ALL_LANES, most, d));
    low = max (low, __shfl_xor_sync (MOTION_ALL_LANES, low, d));
    sum += __shfl_xor_sync (MOTION_ALL_LANES, sum, d);
  }
  if (column == 0 && left + x + size <= p->width && top + y + size <= p->height
      && low < 255 && most < 255 && most + low > 255)
    atomicAdd (
        &p->picture.survey->counts[motion_field_noise ((gint32) sum)], 1u);
}

/* One tile. The last thread block finds the noise. */
__global__ void
__launch_bounds__ (SURVEY_THREADS)
    field_survey_kernel (MOTION_PARAMETER (FieldPictureParameters, p))
{
  __shared__ SurveyTile tile;
  const gint32 across = (p.width + SURVEY_SIDE - 1) / SURVEY_SIDE;
  const gint32 left = (gint32) blockIdx.x % across * SURVEY_SIDE;
  const gint32 top = (gint32) blockIdx.x / across * SURVEY_SIDE;
  guint32 *columns = p.picture.lines + 2 * (gsize) p.height;

  if (threadIdx.x < SURVEY_SIDE)
    tile.most[threadIdx.x] = tile.low[threadIdx.x] = 0;
  survey_load (&p, left, top, &tile);
  __syncthreads ();
  survey_rows (&p, top, &tile);
  survey_squares (&p, left, top, &tile);
  survey_reduce<SURVEY_SIDE + 4> (
      &p, 1, left, top, tile.samples[0], tile.level1[0]);
  __syncthreads ();
  if (threadIdx.x < SURVEY_SIDE && left + (gint32) threadIdx.x < p.width) {
    atomicMax (&columns[2 * (left + threadIdx.x)], tile.most[threadIdx.x]);
    atomicMax (&columns[2 * (left + threadIdx.x) + 1], tile.low[threadIdx.x]);
  }
  survey_reduce<SURVEY_SIDE / 2> (
      &p, 2, left, top, tile.level1[0], tile.level2[0]);
  __syncthreads ();
  survey_reduce<SURVEY_SIDE / 4> (&p, 3, left, top, tile.level2[0], NULL);
  if (field_is_last (&p.picture.survey->ended) && threadIdx.x < 32) {
    gint32 noise = field_find_rank (
        p.picture.survey->counts, MOTION_FIELD_NOISE_MAX + 1, 10);

    if (threadIdx.x == 0)
      p.picture.survey->noise = noise;
  }
}

/* The six taps across for the four samples from byte 4 of three words on. */
__device__ __forceinline__ void
halves_taps (const guint32 (&words)[3], gint32 (&taps)[4])
{
  gint32 bytes[9];

#pragma unroll
  for (gint32 i = 0; i < 9; i++)
    bytes[i] = (gint32) (words[(i + 2) / 4] >> (i + 2) % 4 * 8 & 255);
#pragma unroll
  for (gint32 i = 0; i < 4; i++)
    taps[i] = motion_tap6 (bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3],
        bytes[i + 4], bytes[i + 5]);
}

/* HALVES_ROWS rows of four samples of the planes of half pixels, from the sixth row of
 * each before down: sums across of six rows are in registers. */
__device__ __forceinline__ void
halves_strip (const FieldPictureParameters *p, gssize at, gint32 rows)
{
  const gssize pitch = (gssize) p->layout.pitch;
  const guint8 *from = p->picture.search + at - 2 * pitch;
  gint32 taps[6][4];
  guint32 own[6];

#pragma unroll
  for (gint32 k = 0; k < HALVES_ROWS + 5; k++, from += pitch) {
    const guint32 *row = (const guint32 *) from;
    const guint32 words[3] = { row[-1], row[0], row[1] };
    guint32 right = 0, down = 0, centre = 0;
    gssize to = at + (k - 5) * pitch;

    if (k >= rows + 5)
      return;
    halves_taps (words, taps[k % 6]);
    own[k % 6] = words[1];
    if (k < 5)
      continue;
#pragma unroll
    for (gint32 i = 0; i < 4; i++) {
      gint32 sums[6], samples[6];

#pragma unroll
      for (gint32 j = 0; j < 6; j++) {
        sums[j] = taps[(k + 1 + j) % 6][i];
        samples[j] = (gint32) (own[(k + 1 + j) % 6] >> 8 * i & 255);
      }
      right |= (guint32) motion_clamp ((sums[2] + 16) >> 5, 0, 255) << 8 * i;
      down |= (guint32) motion_clamp (
                  (motion_tap6 (samples[0], samples[1], samples[2], samples[3],
                       samples[4], samples[5])
                      + 16)
                      >> 5,
                  0, 255)
              << 8 * i;
      centre |= (guint32) motion_clamp ((motion_tap6 (sums[0], sums[1], sums[2],
                                             sums[3], sums[4], sums[5])
                                            + 512)
                                            >> 10,
                    0, 255)
                << 8 * i;
    }
    *(guint32 *) (p->picture.halves[0] + to) = right;
    *(guint32 *) (p->picture.halves[1] + to) = down;
    *(guint32 *) (p->picture.halves[2] + to) = centre;
  }
}

/* The border of a level: word @n of its plane, unless it lies in the picture. */
__device__ __forceinline__ void
halves_border (const FieldPictureParameters *p, guint level, guint32 n)
{
  const MotionPlaneLayout *plane = &p->layout.levels[level];
  const gint32 width = motion_field_size ((guint32) p->width, level);
  const gint32 height = motion_field_size ((guint32) p->height, level);
  const gint32 x = (gint32) (n % (plane->pitch / 4) * 4 - plane->left);
  const gint32 y = (gint32) (n / (plane->pitch / 4)) - (gint32) plane->top;
  const guint8 *row =
      p->picture.levels[level]
      + (gssize) motion_clamp (y, 0, height - 1) * (gint32) plane->pitch;
  guint8 *to = p->picture.levels[level] + (gssize) y * (gint32) plane->pitch;

  if (y >= 0 && y < height && x >= 0 && x + 3 < width)
    return;
  for (gint32 i = 0; i < 4; i++)
    if (y < 0 || y >= height || x + i < 0 || x + i >= width)
      to[x + i] = row[motion_clamp (x + i, 0, width - 1)];
}

/* blockIdx.y 0: the planes of half pixels; 1 to 3: the borders of the levels */
__global__ void
__launch_bounds__ (HALVES_THREADS)
    field_halves_kernel (MOTION_PARAMETER (FieldPictureParameters, p))
{
  guint32 n = blockIdx.x * HALVES_THREADS + threadIdx.x, level = blockIdx.y;

  if (level == 0) {
    /* without the first and last word of a row, and the rows that the taps need */
    const guint32 across = p.layout.pitch / 4 - 2;
    const gint32 row = (gint32) (n / across) * HALVES_ROWS + 2;
    const gint32 left = (gint32) p.layout.left, top = (gint32) p.layout.top;
    const gint32 rows = min (HALVES_ROWS, (gint32) p.layout.rows - 3 - row);

    if (rows > 0)
      halves_strip (&p,
          (gssize) (row - top) * (gint32) p.layout.pitch
              + (gint32) (4 * (n % across + 1)) - left,
          rows);
    return;
  }
  if (n < p.layout.levels[level].pitch / 4 * p.layout.levels[level].rows)
    halves_border (&p, level, n);
}

} // namespace

cudaError_t
motion_launch_field_picture (const MotionConfig *config,
    const MotionLayout *layout, const MotionDevicePicture *picture,
    cudaStream_t stream)
{
  const FieldPictureParameters p = { *layout, *picture, (gint32) config->width,
    (gint32) config->height };
  const guint tiles = (config->width + SURVEY_SIDE - 1) / SURVEY_SIDE
                      * ((config->height + SURVEY_SIDE - 1) / SURVEY_SIDE);
  const guint strips = (layout->pitch / 4 - 2)
                       * ((layout->rows + HALVES_ROWS - 1) / HALVES_ROWS);
  const guint border = layout->levels[1].pitch / 4 * layout->levels[1].rows;
  const dim3 halves (
      (MAX (strips, border) + HALVES_THREADS - 1) / HALVES_THREADS,
      MOTION_FIELD_LEVELS);
  cudaError_t code = cudaMemsetAsync (picture->survey, 0,
      sizeof *picture->survey
          + 2 * (gsize) (config->width + config->height) * sizeof (guint32),
      stream);

  if (code != cudaSuccess)
    return code;
  MOTION_START (field_survey_kernel, tiles, SURVEY_THREADS, stream, p);
  MOTION_START (field_halves_kernel, halves, HALVES_THREADS, stream, p);
  return cudaGetLastError ();
}
