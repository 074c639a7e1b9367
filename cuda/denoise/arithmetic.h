/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The constants and formulas of the denoiser, inline for host and device.
 * docs/design/denoise.md has the definitions. Floating point is IEEE single precision in
 * the order that is written here, without contraction, so that all backends have the
 * same bits; sums whose order is not defined are integers. */
#pragma once

#include <math.h>

#include "cuda/denoise/engine.h"
#include "cuda/denoise/weights.h"
#include "cuda/motion/engine.h"

G_BEGIN_DECLS

#ifdef __CUDACC__
#define DENOISE_FN static __host__ __device__ __forceinline__
#else
#define DENOISE_FN static inline
#endif
/* One that reads denoise_weights, which is in the memory of the device there */
#ifdef __CUDACC__
#define DENOISE_TABLE_FN static __device__ __forceinline__
#else
#define DENOISE_TABLE_FN static inline
#endif

/* Samples are computed with 10 bits. */
#define DENOISE_BITS 10
#define DENOISE_MAX_SAMPLE 1023
/* Side of a cell and of a block, which is two by two cells and overlaps its neighbours
 * by one cell, samples of component 0 */
#define DENOISE_CELL 8
#define DENOISE_BLOCK 16
/* Samples around each plane that repeat its edge; blocks are compared at most REACH
 * samples beyond the edge */
#define DENOISE_BORDER 32
#define DENOISE_REACH 24
/* Side of the transforms of the spatial filter */
#define DENOISE_PATCH 8
/* Rows of samples from one row of transforms to the next */
#define DENOISE_STEP 4
/* Patches of a group; how far from the first one the others lie, each way */
#define DENOISE_GROUP 8
#define DENOISE_SEARCH 3
/* Side of the squares from which noise is estimated; noise is in 1/16 levels of 8 bits */
#define DENOISE_SQUARE 16
#define DENOISE_NOISE_MAX 1023
/* Frames that are compared with a frame */
#define DENOISE_MAX_REFERENCES (2 * DENOISE_MAX_RADIUS)

/* Size and grid of a component.
 * @width, @height: samples
 * @cell_x, @cell_y: log2 of the sides of a cell */
typedef struct {
  gint32 width, height;
  gint32 cell_x, cell_y;
  gint32 sub_x, sub_y;
} DenoiseShape;

/* Cells across and down: the frame and at least two, so that each component has room
 * for a patch. */
DENOISE_FN gint32
denoise_cells (guint32 size)
{
  gint32 n = ((gint32) size + DENOISE_CELL - 1) / DENOISE_CELL;

  return n < 2 ? 2 : n;
}

DENOISE_FN DenoiseShape
denoise_shape (const DenoiseConfig *config, guint component)
{
  const gint32 sub_x = component > 0 ? (gint32) config->sub_x : 0;
  const gint32 sub_y = component > 0 ? (gint32) config->sub_y : 0;
  DenoiseShape s;

  s.width = ((gint32) config->width + sub_x) >> sub_x;
  s.height = ((gint32) config->height + sub_y) >> sub_y;
  s.cell_x = 3 - sub_x;
  s.cell_y = 3 - sub_y;
  s.sub_x = sub_x;
  s.sub_y = sub_y;
  return s;
}

DENOISE_FN gint32
denoise_clamp (gint32 value, gint32 low, gint32 high)
{
  return value < low ? low : value > high ? high : value;
}

/* --- samples ------------------------------------------------------------------- */

/* The sample of 10 bits of one of @depth bits. */
DENOISE_FN gint32
denoise_from_sample (guint32 sample, gint32 depth)
{
  return depth == 8    ? (gint32) sample << 2
         : depth == 10 ? (gint32) (sample & DENOISE_MAX_SAMPLE)
                       : (gint32) sample >> 6;
}

/* Share of the change of a frame that is applied, 1/256: for an encoder half, except in
 * frames that it refers to most */
static inline gint32
denoise_removed (const DenoiseConfig *config, const DenoiseJob *job)
{
  gdouble kept = config->keep_grain;

  if (config->preset == DENOISE_PRESET_ENCODER && !job->starts_scene
      && !job->key_frame)
    kept = 0.5 + kept / 2;
  return (gint32) (256.0 * (1.0 - kept) + 0.5);
}

/* The output for the input @sample: @value is the denoised sample of 10 bits, @removed
 * the share of the difference that is applied, 1/256. Halves are rounded to the input, so
 * that both signs are treated alike. */
DENOISE_FN guint32
denoise_to_sample (guint32 sample, gint32 value, gint32 depth, gint32 removed)
{
  const gint32 in =
      (gint32) (depth == 10 ? sample & DENOISE_MAX_SAMPLE : sample);
  const gint32 d = value - denoise_from_sample (sample, depth);
  const gint32 shift = depth == 8 ? 10 : depth == 10 ? 8 : 2;
  const gint32 size =
      ((d < 0 ? -d : d) * removed + (1 << (shift - 1)) - 1) >> shift;

  return (guint32) denoise_clamp (d < 0 ? in - size : in + size, 0,
      depth == 8    ? 255
      : depth == 10 ? DENOISE_MAX_SAMPLE
                    : 65535);
}

/* The filter of H.264, 8.4.2.2.1, for the sample between @c and @d. */
DENOISE_FN gint32
denoise_between (gint32 a, gint32 b, gint32 c, gint32 d, gint32 e, gint32 f)
{
  return denoise_clamp ((a - 5 * b + 20 * c + 20 * d - 5 * e + f + 16) >> 5, 0,
      DENOISE_MAX_SAMPLE);
}

/* A sample at a quarter position is the mean of two samples of the planes at the pixels
 * (0), half a pixel right (1), half a pixel down (2) and both (3). */
typedef struct {
  gint32 first, first_x, first_y, second, second_x, second_y;
} DenoisePhase;

DENOISE_FN DenoisePhase
denoise_phase (gint32 x, gint32 y)
{
  const gint32 qx = x & 3, qy = y & 3;
  DenoisePhase p = { 0, 0, 0, 0, 0, 0 };

  if (((qx | qy) & 1) == 0) {
    p.first = p.second = (qx >> 1) + qy;
  } else if ((qx & 1) && (qy & 1)) { /* half right and half down */
    p.first = 1;
    p.first_y = qy == 3;
    p.second = 2;
    p.second_x = qx == 3;
  } else if (qx & 1) {
    p.first = qy;
    p.first_x = qx == 3;
    p.second = qy + 1;
  } else {
    p.first = qx >> 1;
    p.first_y = qy == 3;
    p.second = (qx >> 1) + 2;
  }
  return p;
}

/* Variance of white noise after this interpolation, 1/64 */
DENOISE_FN gint32
denoise_gain (gint32 x, gint32 y)
{
  const gint32 odd = (x & 1) + (y & 1), half = (x >> 1 & 1) + (y >> 1 & 1);

  return odd == 2                ? 39
         : odd == 0              ? (half == 0   ? 64
                                    : half == 1 ? 53
                                                : 44)
         : ((x & 1 ? y : x) & 2) ? 41
                                 : 49;
}

/* --- noise --------------------------------------------------------------------- */

/* Noise from the sum of the magnitudes of [1 -2 1] x [1 -2 1] at the 14 x 14 inner
 * samples of a square: sum / 196 / (6 sqrt (2 / pi)) */
DENOISE_FN gint32
denoise_noise_of_square (gint32 sum)
{
  const gint32 noise = (sum * 4 + 469) / 938;

  return noise < DENOISE_NOISE_MAX ? noise : DENOISE_NOISE_MAX;
}

/* Noise from the sum of squared differences of @n samples from those at a position with
 * @gain */
DENOISE_FN gint32
denoise_noise_of_match (guint32 ssd, gint32 n, gint32 gain)
{
  const gfloat variance =
      (gfloat) ssd * 16.0f * 64.0f / (gfloat) (n * (64 + gain));
  gint32 noise = 0;

  /* the integer square root */
  for (gint32 bit = 512; bit > 0; bit >>= 1)
    if ((gfloat) ((noise + bit) * (noise + bit)) <= variance)
      noise += bit;
  return noise;
}

/* The least noise that more than a share of @n squares do not exceed, times a factor
 * for the bias of a quantile: 1/50 and 74/64 (@fine), or 1/10 and 72/64. */
DENOISE_FN gint32
denoise_noise_of_counts (const guint32 *counts, gboolean fine)
{
  guint32 n = 0, below = 0;
  gint32 noise = 0;

  for (gint32 i = 0; i <= DENOISE_NOISE_MAX; i++)
    n += counts[i];
  if (n == 0)
    return 0;
  while ((below += counts[noise]) <= n / (fine ? 50 : 10))
    noise++;
  noise = (noise * (fine ? 74 : 72) + 32) >> 6;
  return noise < DENOISE_NOISE_MAX ? noise : DENOISE_NOISE_MAX;
}

/* --- motion -------------------------------------------------------------------- */

/* A block of a frame in another frame.
 * @x, @y: where, quarter samples of component 0
 * @cells: sums of squared differences of component 0 over the block's cells
 * @chroma: of components 1 and 2 over the block
 * @confidence: that it shows the same, 1/256, by the vectors of the field */
typedef struct {
  gint16 x, y;
  guint32 cells[4];
  guint32 chroma[2];
  gint32 confidence;
} DenoiseMatch;

/* A component of a vector for the block whose first sample is at @from: not further
 * than REACH beyond the edges. */
DENOISE_FN gint32
denoise_limit (gint32 v, gint32 from, gint32 size)
{
  return denoise_clamp (v, 4 * (-DENOISE_REACH - from),
      4 * (size + DENOISE_REACH - DENOISE_BLOCK - from));
}

/* Confidence that the block @flags of a field gives to a match: its own if its vector
 * leads at most a pixel away, @x and @y quarter samples, else 0. */
DENOISE_FN gint32
denoise_support (guint32 flags, gint32 x, gint32 y)
{
  return x >= -4 && x <= 4 && y >= -4 && y <= 4
             ? (gint32) (flags >> CVIS_MOTION_BLOCK_CONFIDENCE_SHIFT)
             : 0;
}

/* The component of a vector in quarter samples of another component. */
DENOISE_FN gint32
denoise_subsample (gint32 v, gint32 sub)
{
  return (v + sub) >> sub;
}

/* Squared difference of a sample that noise alone makes, 1/16, from a sample with
 * variance @share / 64 of it. @noise: 1/16 levels; its square is the variance of 10-bit
 * samples in 1/16 */
DENOISE_FN guint32
denoise_expect (gint32 noise, gint32 share)
{
  return (guint32) (noise * noise * (64 + share)) >> 6;
}

/* The one of @cells cells in which a place @at samples from the start lies after a move by
 * @v quarter samples */
DENOISE_FN gint32
denoise_cell_at (gint32 at, gint32 v, gint32 cells)
{
  return denoise_clamp ((at + (v >> 2)) >> 3, 0, cells - 1);
}

/* Mean squared difference, 1/16, from which a block is no match: one and a half times
 * what noise makes, and 24 levels of 10 bits squared. @left: variance of the reference's
 * noise, 1/256 */
DENOISE_FN guint32
denoise_no_match (gint32 noise, gint32 left)
{
  return denoise_expect (noise, left >> 2) * 3 / 2 + 576 * 16;
}

/* Whether a frame shows another scene. @bad: blocks of @n that are no match */
DENOISE_FN gboolean
denoise_is_cut (guint32 n, guint32 bad)
{
  return n > 0 && 2 * bad > n;
}

/* Where the motion is smooth, vectors of the blocks round a cell differ by at most so much,
 * quarter samples. */
#define DENOISE_STEADY 4

/* Whether two blocks have nearly the same vector. */
DENOISE_FN gboolean
denoise_is_steady (const DenoiseMatch *a, const DenoiseMatch *b)
{
  const gint32 x = a->x - b->x, y = a->y - b->y;

  return x >= -DENOISE_STEADY && x <= DENOISE_STEADY && y >= -DENOISE_STEADY
         && y <= DENOISE_STEADY;
}

/* Whether the noise that is assumed depends on the motion. */
DENOISE_FN gboolean
denoise_knows_steady (const gint32 noise[3], const gint32 steady_noise[3])
{
  return noise[0] != steady_noise[0] || noise[1] != steady_noise[1]
         || noise[2] != steady_noise[2];
}

/* Place of the block @i of the 4 x 4 round a cell at @at, one of @cells; the four in the
 * middle cover it. */
DENOISE_FN gint32
denoise_round_cell (gint32 at, gint32 i, gint32 cells)
{
  return denoise_clamp (at + i - 1, 0, cells);
}

/* --- weights of references ------------------------------------------------------ */

/* The @ratio of a block with confidence @confidence: what is above 1 counts three quarters
 * if the motion is certain, up to one and a half if it is not. */
DENOISE_FN guint32
denoise_ratio_of_match (guint32 ratio, gint32 confidence)
{
  return ratio <= 32
             ? ratio
             : 32 + ((ratio - 32) * 3 * (guint32) (512 - confidence) >> 10);
}

/* Weight of a reference, 1/256, from its mean squared difference, ratio to the expected
 * one in 1/32. */
DENOISE_TABLE_FN gint32
denoise_weight_of_ratio (guint32 ratio)
{
  return ratio <= 32                     ? 256
         : ratio - 32 >= DENOISE_WEIGHTS ? 0
                                         : denoise_weights[ratio - 32];
}

/* Ratio of the sum @ssd of @n = 2^shift samples to the expected one, 1/32; @slack: so much
 * above 1 is a matter of chance */
DENOISE_FN guint32
denoise_ratio (guint32 ssd, gint32 shift, guint32 expected, guint32 slack)
{
  const guint32 mean = (guint32) (((guint64) ssd << 4) >> shift);
  const guint32 ratio = expected == 0           ? (mean == 0 ? 0 : 0xffff)
                        : mean / 256 > expected ? 0xffff
                                                : mean * 32u / expected;

  return ratio <= 32 + slack ? (ratio < 32 ? ratio : 32) : ratio - slack;
}

/* Chance in the mean of a cell or of a block of a subsampled component, 1/32 */
#define DENOISE_SLACK 6
/* Weights are shared out in this many parts; the frame itself has at least one share. */
#define DENOISE_PARTS 256

/* Part of a reference of weight @w, among weights that sum up to @sum with that of the
 * frame. */
DENOISE_FN gint32
denoise_part (gint32 w, gint32 sum)
{
  return (DENOISE_PARTS * w + sum / 2) / sum;
}

/* Weight of the block that ends with the cell at sample @i of the cell; the block that
 * begins with it has 16 less this. */
DENOISE_FN gint32
denoise_window (gint32 i, gint32 sub)
{
  return 16 - ((2 * i + 1) << sub);
}

/* --- spatial filter ------------------------------------------------------------- */

/* Thresholds, multiples of sigma; weights of patches and bits after the point of sums */
#define DENOISE_SHRINK 2.6f
#define DENOISE_DCT_WEIGHT 256
#define DENOISE_DCT_BITS 4
#define DENOISE_GROUP_WEIGHT 65536
#define DENOISE_GROUP_BITS 2

/* Deviation of the noise that is left, in 10-bit samples. @noise: 1/16 levels, already
 * times the strength; @left: its variance that is left, 1/256 */
DENOISE_FN gfloat
denoise_deviation (gfloat noise, gint32 left)
{
  return noise * 0.25f
         * sqrtf ((gfloat) (left + (left * (256 - left) >> 10)) * 0.00390625f);
}

/* Patches across or down, @step apart, the last one at the edge */
DENOISE_FN gint32
denoise_patches (gint32 size, gint32 step)
{
  return (size - DENOISE_PATCH + step - 1) / step + 1;
}

/* Value for the sums from a sample times its weight: rounded; at least -2^20. */
DENOISE_FN gint32
denoise_round (gfloat value)
{
  return (gint32) (value + 1048576.5f) - 1048576;
}

/* The sample from the sums of weighted values and of weights. */
DENOISE_FN gint32
denoise_quotient (gint32 sum, gint32 weight, gint32 bits)
{
  const gfloat value = (gfloat) sum / (gfloat) (weight * (1 << bits));
  const gint32 sample = denoise_round (value);

  return denoise_clamp (sample, 0, DENOISE_MAX_SAMPLE);
}

/* The orthonormal cosine transform of v[0] to v[7], of scalars or of vectors */
#define DENOISE_C1 0.49039264f
#define DENOISE_C2 0.46193977f
#define DENOISE_C3 0.41573481f
#define DENOISE_C4 0.35355339f
#define DENOISE_C5 0.27778512f
#define DENOISE_C6 0.19134172f
#define DENOISE_C7 0.09754516f

#define DENOISE_DCT(type, v)                                                   \
  do {                                                                         \
    const type p0 = v[0] + v[7], p1 = v[1] + v[6], p2 = v[2] + v[5],           \
               p3 = v[3] + v[4], m0 = v[0] - v[7], m1 = v[1] - v[6],           \
               m2 = v[2] - v[5], m3 = v[3] - v[4];                             \
    const type e0 = p0 + p3, e1 = p1 + p2, e2 = p0 - p3, e3 = p1 - p2;         \
                                                                               \
    v[0] = (e0 + e1) * DENOISE_C4;                                             \
    v[4] = (e0 - e1) * DENOISE_C4;                                             \
    v[2] = e2 * DENOISE_C2 + e3 * DENOISE_C6;                                  \
    v[6] = e2 * DENOISE_C6 - e3 * DENOISE_C2;                                  \
    v[1] = (m0 * DENOISE_C1 + m1 * DENOISE_C3)                                 \
           + (m2 * DENOISE_C5 + m3 * DENOISE_C7);                              \
    v[3] = (m0 * DENOISE_C3 - m1 * DENOISE_C7)                                 \
           - (m2 * DENOISE_C1 + m3 * DENOISE_C5);                              \
    v[5] = (m0 * DENOISE_C5 - m1 * DENOISE_C1)                                 \
           + (m2 * DENOISE_C7 + m3 * DENOISE_C3);                              \
    v[7] = (m0 * DENOISE_C7 - m1 * DENOISE_C5)                                 \
           + (m2 * DENOISE_C3 - m3 * DENOISE_C1);                              \
  } while (0)

/* Its inverse */
#define DENOISE_IDCT(type, v)                                                  \
  do {                                                                         \
    const type e0 = (v[0] + v[4]) * DENOISE_C4,                                \
               e1 = (v[0] - v[4]) * DENOISE_C4,                                \
               e2 = v[2] * DENOISE_C2 + v[6] * DENOISE_C6,                     \
               e3 = v[2] * DENOISE_C6 - v[6] * DENOISE_C2;                     \
    const type p0 = e0 + e2, p3 = e0 - e2, p1 = e1 + e3, p2 = e1 - e3;         \
    const type m0 = (v[1] * DENOISE_C1 + v[3] * DENOISE_C3)                    \
                    + (v[5] * DENOISE_C5 + v[7] * DENOISE_C7),                 \
               m1 = (v[1] * DENOISE_C3 - v[3] * DENOISE_C7)                    \
                    - (v[5] * DENOISE_C1 + v[7] * DENOISE_C5),                 \
               m2 = (v[1] * DENOISE_C5 - v[3] * DENOISE_C1)                    \
                    + (v[5] * DENOISE_C7 + v[7] * DENOISE_C3),                 \
               m3 = (v[1] * DENOISE_C7 - v[3] * DENOISE_C5)                    \
                    + (v[5] * DENOISE_C3 - v[7] * DENOISE_C1);                 \
                                                                               \
    v[0] = p0 + m0;                                                            \
    v[7] = p0 - m0;                                                            \
    v[1] = p1 + m1;                                                            \
    v[6] = p1 - m1;                                                            \
    v[2] = p2 + m2;                                                            \
    v[5] = p2 - m2;                                                            \
    v[3] = p3 + m3;                                                            \
    v[4] = p3 - m3;                                                            \
  } while (0)

/* The Hadamard transform of v[0] to v[7], not scaled; it is its own inverse, times 8. */
#define DENOISE_HADAMARD(type, v)                                              \
  do {                                                                         \
    for (gint32 apart = 1; apart < 8; apart *= 2)                              \
      for (gint32 at = 0; at < 8; at++)                                        \
        if ((at & apart) == 0) {                                               \
          const type sum = v[at] + v[at + apart],                              \
                     difference = v[at] - v[at + apart];                       \
                                                                               \
          v[at] = sum;                                                         \
          v[at + apart] = difference;                                          \
        }                                                                      \
  } while (0)

G_END_DECLS
