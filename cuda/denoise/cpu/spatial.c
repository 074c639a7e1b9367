/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The CPU backend's spatial filters, compiled once for each instruction set: shrinkage of
 * cosine transforms, whose vectors have a transform in each lane, and the collaborative
 * Wiener filter, whose vectors have a row of a patch. */
#include <string.h>

#include "cuda/denoise/cpu/cpu.h"

#define LANES 8
#define N DENOISE_PATCH

typedef gfloat Floats __attribute__ ((vector_size (LANES * sizeof (gfloat))));
typedef gint32 Ints __attribute__ ((vector_size (LANES * sizeof (gint32))));
typedef guint16 Samples
    __attribute__ ((vector_size (LANES * sizeof (guint16))));

static inline Floats
load_samples (const guint16 *p)
{
  Samples s;

  memcpy (&s, p, sizeof s);
  return __builtin_convertvector(s, Floats);
}

/* denoise_round() of each lane */
static inline Ints
round_lanes (Floats v)
{
  return __builtin_convertvector(v + 1048576.5f, Ints) - 1048576;
}

static inline void
add_lanes (gint32 *at, Ints v)
{
  Ints sum;

  memcpy (&sum, at, sizeof sum);
  sum += v;
  memcpy (at, &sum, sizeof sum);
}

/* Noise that is left in the cell of a patch's middle. */
static inline gfloat
get_deviation (const DenoiseCpuSpatial *s, gint32 x, gint32 y)
{
  const gint32 column = MIN ((x + N / 2) >> s->cell_x, s->cells_across - 1);
  const gint32 row = MIN ((y + N / 2) >> s->cell_y, s->cells_down - 1);

  return denoise_deviation (s->noise,
      s->left != NULL ? s->left[row * s->cells_across + column] : 256);
}

/* --- shrinkage of cosine transforms ------------------------------------------------ */

/* Transforms of the patches that begin at (@x, @y) and the samples right of it. */
static inline void
transform_patches (
    const DenoiseCpuSpatial *s, gint32 x, gint32 y, Floats c[N][N])
{
  const guint16 *from = s->from.samples[0] + y * s->from.stride + x;
  gfloat columns[N][2 * LANES];

  for (gint32 half = 0; half < 2; half++) {
    Floats v[N];

    for (gint32 i = 0; i < N; i++)
      v[i] = load_samples (from + i * s->from.stride + half * LANES);
    DENOISE_DCT (Floats, v);
    for (gint32 i = 0; i < N; i++)
      memcpy (&columns[i][half * LANES], &v[i], sizeof v[i]);
  }
  for (gint32 i = 0; i < N; i++) {
    Floats v[N];

    for (gint32 k = 0; k < N; k++)
      memcpy (&v[k], &columns[i][k], sizeof v[k]);
    DENOISE_DCT (Floats, v);
    for (gint32 k = 0; k < N; k++)
      c[i][k] = v[k];
  }
}

/* Sets coefficients below the threshold to 0. Returns: the patches' weights */
static inline Ints
shrink_coefficients (Floats c[N][N], Floats threshold)
{
  Ints kept = { 0 };

  for (gint32 i = 0; i < N; i++)
    for (gint32 k = 0; k < N; k++)
      if (i > 0 || k > 0) {
        const Ints keep = (c[i][k] >= threshold) | (-c[i][k] >= threshold);

        c[i][k] = (Floats) ((Ints) c[i][k] & keep);
        kept -= keep;
      }
  return __builtin_convertvector(
      (gfloat) DENOISE_DCT_WEIGHT / __builtin_convertvector(kept + 1, Floats)
          + 0.5f,
      Ints);
}

static void
shrink_patches (const DenoiseCpuSpatial *s, gint32 y)
{
  const gint32 patches = s->width - N + 1;

  for (gint32 x = 0; x < patches; x += LANES) {
    Floats c[N][N], threshold = { 0 }, scale;
    Ints weight, exists = { 0 };

    for (gint32 l = 0; l < LANES; l++) {
      threshold[l] =
          get_deviation (s, MIN (x + l, patches - 1), y) * DENOISE_SHRINK;
      exists[l] = x + l < patches ? -1 : 0;
    }
    transform_patches (s, x, y, c);
    weight = shrink_coefficients (c, threshold) & exists;
    for (gint32 i = 0; i < N; i++)
      DENOISE_IDCT (Floats, c[i]);
    scale = __builtin_convertvector(weight << DENOISE_DCT_BITS, Floats);
    for (gint32 k = 0; k < N; k++) {
      Floats v[N];

      for (gint32 i = 0; i < N; i++)
        v[i] = c[i][k];
      DENOISE_IDCT (Floats, v);
      for (gint32 i = 0; i < N; i++) {
        const gssize at = (y + i) * s->stride + x + k;

        add_lanes (s->sums + at, round_lanes (v[i] * scale));
        add_lanes (s->weights + at, weight);
      }
    }
  }
}

void
DENOISE_CPU_NAME (denoise_cpu_shrink, DENOISE_CPU_LEVEL) (
    const DenoiseCpuSpatial *spatial, gint32 first, gint32 n)
{
  for (gint32 row = first; row < first + n; row++)
    shrink_patches (spatial, MIN (row * DENOISE_STEP, spatial->height - N));
}

/* --- the collaborative Wiener filter ------------------------------------------------ */

typedef struct {
  gint32 x, y;
} Patch;

static inline guint32
compare_patches (const guint16 *a, const guint16 *b, gssize stride)
{
  gint32 sum = 0;

  for (gint32 y = 0; y < N; y++, a += stride, b += stride)
    for (gint32 x = 0; x < N; x++) {
      const gint16 d = (gint16) (a[x] - b[x]);

      sum += (gint32) d * d;
    }
  return (guint32) sum;
}

/* The patches of least difference in the pilot, the first of equals in raster order
 * after the patch itself. With too few patches they repeat. */
static void
find_group (const DenoiseCpuSpatial *s, gint32 x, gint32 y,
    Patch patches[DENOISE_GROUP])
{
  const gssize stride = s->pilot.stride;
  const guint16 *own = s->pilot.samples[0] + y * stride + x;
  const gint32 left = MAX (x - DENOISE_SEARCH, 0);
  const gint32 right = MIN (x + DENOISE_SEARCH, s->width - N);
  const gint32 top = MAX (y - DENOISE_SEARCH, 0);
  const gint32 bottom = MIN (y + DENOISE_SEARCH, s->height - N);
  guint32 least[DENOISE_GROUP];
  gint32 n = 1;

  least[0] = 0;
  patches[0] = (Patch){ x, y };
  for (gint32 py = top; py <= bottom; py++)
    for (gint32 px = left; px <= right; px++) {
      guint32 sum;
      gint32 i;

      if (px == x && py == y)
        continue;
      sum =
          compare_patches (own, s->pilot.samples[0] + py * stride + px, stride);
      if (n == DENOISE_GROUP && sum >= least[n - 1])
        continue;
      for (i = n < DENOISE_GROUP ? n++ : n - 1; i > 1 && least[i - 1] > sum;
           i--) {
        least[i] = least[i - 1];
        patches[i] = patches[i - 1];
      }
      least[i] = sum;
      patches[i] = (Patch){ px, py };
    }
  for (gint32 i = n; i < DENOISE_GROUP; i++)
    patches[i] = patches[i - n];
}

#define SHUFFLE(a, b, ...) __builtin_shufflevector (a, b, __VA_ARGS__)

static inline void
transpose_patch (Floats v[N])
{
  Floats a[N], b[N];

  for (gint32 i = 0; i < N; i += 2) {
    a[i] = SHUFFLE (v[i], v[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
    a[i + 1] = SHUFFLE (v[i], v[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  }
  for (gint32 i = 0; i < N; i++)
    if ((i & 2) == 0) {
      b[i] = SHUFFLE (a[i], a[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
      b[i + 2] = SHUFFLE (a[i], a[i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
  for (gint32 i = 0; i < N / 2; i++) {
    v[i] = SHUFFLE (b[i], b[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    v[i + 4] = SHUFFLE (b[i], b[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

/* The cosine transforms of the group's patches, with rows and columns exchanged; at each
 * coefficient the Hadamard transform over the patches. */
static inline void
transform_group (const DenoiseCpuPlane *plane,
    const Patch patches[DENOISE_GROUP], Floats c[N][DENOISE_GROUP])
{
  for (gint32 k = 0; k < DENOISE_GROUP; k++) {
    const guint16 *from =
        plane->samples[0] + patches[k].y * plane->stride + patches[k].x;
    Floats v[N];

    for (gint32 i = 0; i < N; i++)
      v[i] = load_samples (from + i * plane->stride);
    DENOISE_DCT (Floats, v);
    transpose_patch (v);
    DENOISE_DCT (Floats, v);
    for (gint32 i = 0; i < N; i++)
      c[i][k] = v[i];
  }
  for (gint32 i = 0; i < N; i++)
    DENOISE_HADAMARD (Floats, c[i]);
}

/* Multiplies by the Wiener factors of the pilot's coefficients. Returns: the sum of
 * their squares, 1/64 */
static inline gint32
shrink_group (Floats c[N][DENOISE_GROUP], Floats pilot[N][DENOISE_GROUP],
    gfloat deviation)
{
  const gfloat variance = 8.0f * (deviation * deviation) + 0.01f;
  Ints sum = { 0 };
  gint32 total = 0;

  for (gint32 i = 0; i < N; i++)
    for (gint32 k = 0; k < DENOISE_GROUP; k++) {
      const Floats power = pilot[i][k] * pilot[i][k];
      const Floats factor = power / (power + variance);

      c[i][k] *= factor;
      sum += __builtin_convertvector(factor * factor * 64.0f + 0.5f, Ints);
    }
  for (gint32 l = 0; l < LANES; l++)
    total += sum[l];
  return total;
}

static void
filter_group (const DenoiseCpuSpatial *s, gint32 x, gint32 y)
{
  Patch patches[DENOISE_GROUP];
  Floats c[N][DENOISE_GROUP], pilot[N][DENOISE_GROUP];
  gint32 weight;

  find_group (s, x, y, patches);
  transform_group (&s->from, patches, c);
  transform_group (&s->pilot, patches, pilot);
  weight = DENOISE_GROUP_WEIGHT
           / (shrink_group (c, pilot, get_deviation (s, x, y)) + 64);
  for (gint32 i = 0; i < N; i++)
    DENOISE_HADAMARD (Floats, c[i]);
  for (gint32 k = 0; k < DENOISE_GROUP; k++) {
    const gssize at = patches[k].y * s->stride + patches[k].x;
    const gfloat scale = (gfloat) (weight << DENOISE_GROUP_BITS) * 0.125f;
    Floats v[N];

    for (gint32 i = 0; i < N; i++)
      v[i] = c[i][k];
    DENOISE_IDCT (Floats, v);
    transpose_patch (v);
    DENOISE_IDCT (Floats, v);
    for (gint32 i = 0; i < N; i++) {
      add_lanes (s->sums + at + i * s->stride, round_lanes (v[i] * scale));
      add_lanes (s->weights + at + i * s->stride, (Ints){ 0 } + weight);
    }
  }
}

void
DENOISE_CPU_NAME (denoise_cpu_group, DENOISE_CPU_LEVEL) (
    const DenoiseCpuSpatial *spatial, gint32 first, gint32 n)
{
  const gint32 across = denoise_patches (spatial->width, DENOISE_STEP);

  for (gint32 row = first; row < first + n; row++)
    for (gint32 column = 0; column < across; column++)
      filter_group (spatial, MIN (column * DENOISE_STEP, spatial->width - N),
          MIN (row * DENOISE_STEP, spatial->height - N));
}
