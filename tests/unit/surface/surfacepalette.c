/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The loops of each instruction set, compared with plain C. */
#include "cuda/surface/palette.h"

#include <math.h>
#include <string.h>

#include "cuda/core/backend.h"

#define N 1000 /* not a multiple of any vector */

static gsize
get_levels (const SurfacePalette *levels[3])
{
  gsize n = 0;

  levels[n++] = &surface_palette_generic;
#if defined(__x86_64__)
  if (cvis_cpu_level () >= CVIS_CPU_V3)
    levels[n++] = &surface_palette_v3;
  if (cvis_cpu_level () >= CVIS_CPU_V4)
    levels[n++] = &surface_palette_v4;
#endif
  return n;
}

/* Heights from @low to @high and beyond, some of them missing */
static void
fill_heights (GRand *random, gdouble low, gdouble high, gfloat *z)
{
  static const gfloat odd[] = { NAN, -INFINITY, INFINITY, -G_MAXFLOAT,
    G_MAXFLOAT, 0.0f, -0.0f, 0x1p-149f };
  const gdouble wide = (high - low) * 0.1;

  for (guint i = 0; i < N; i++)
    z[i] = g_rand_int_range (random, 0, 20) == 0
               ? odd[g_rand_int_range (random, 0, G_N_ELEMENTS (odd))]
               : (gfloat) g_rand_double_range (random, low - wide, high + wide);
}

static guint16
plain_number (gfloat z, gdouble from, gdouble scale, gdouble first)
{
  if (!isfinite (z))
    return SURFACE_N_COLOURS;
  return (guint16) CLAMP (
      ((gdouble) z - from) * scale + first, 0.0, SURFACE_N_COLOURS - 1.0);
}

/* Some heights are as near to the boundary of two colours as FP32 allows,
 * but so few that their neighbours are not. */
static void
test_number (void)
{
  static const gdouble ranges[][2] = { { -1e-6, 1e-6 }, { 0.0, 1.0 },
    { 0.0761, 0.0761001 }, { 1e-30, 3e-30 }, { 1e-40, 3e-40 }, { -3e38, 3e38 },
    { -1e300, 1e300 }, { 1e6, 1e6 + 1.0 } };
  GRand *random = g_rand_new_with_seed (1);
  const SurfacePalette *levels[3];
  const gsize n_levels = get_levels (levels);
  guint16 numbers[N];
  gfloat z[N];

  for (guint r = 0; r < 100 * G_N_ELEMENTS (ranges); r++) {
    const gdouble from = ranges[r / 100][0], to = ranges[r / 100][1];
    const gdouble scale = r % 100 == 99 ? 0.0 : 255.0 / (to - from);
    const gdouble first = r % 100 == 99 ? 128.0 : 0.5;

    fill_heights (random, MAX (from, -1e38), MIN (to, 1e38), z);
    for (guint i = 0; i < N; i += 61) {
      const guint border = (guint) g_rand_int_range (random, 0, 257);

      z[i] = (gfloat) (from + (border - 0.5) * (to - from) / 255.0);
      for (gint step = g_rand_int_range (random, -2, 3); step != 0;
           step += step < 0 ? 1 : -1)
        z[i] = nextafterf (z[i], step < 0 ? -INFINITY : INFINITY);
    }
    for (guint k = 0; k < n_levels; k++) {
      levels[k]->number (z, N, from, scale, first, numbers);
      for (guint i = 0; i < N; i++)
        g_assert_cmpuint (
            numbers[i], ==, plain_number (z[i], from, scale, first));
    }
  }
  g_rand_free (random);
}

static void
check_span (const SurfaceSpan *span, const gfloat *z, const gfloat ranges[2][2])
{
  gfloat min = INFINITY, max = -INFINITY;
  gsize count = 0;

  for (guint i = 0; i < N; i++)
    if (isfinite (z[i])) {
      min = MIN (min, z[i]);
      max = MAX (max, z[i]);
      count++;
    }
  g_assert_true (span->min == min && span->max == max);
  g_assert_cmpuint (span->count, ==, count);
  for (guint r = 0; r < 2; r++) {
    gsize below = 0, kept = 0;

    for (guint i = 0; i < N; i++) {
      below += isfinite (z[i]) && z[i] < ranges[r][0];
      if (!isfinite (z[i]) || z[i] < ranges[r][0] || z[i] >= ranges[r][1])
        continue;
      if (span->n_kept[r] <= span->room)
        g_assert_true (kept < span->room && span->kept[r][kept] == z[i]);
      kept++;
    }
    g_assert_cmpuint (span->n_kept[r], ==, kept);
    g_assert_cmpuint (span->below[r], ==, below);
  }
}

/* Disjoint, nested, reversed and empty ranges */
static void
test_span (void)
{
  static const gfloat ranges[][2][2] = { { { -0.9f, -0.8f }, { 0.8f, 0.9f } },
    { { -0.9f, 0.9f }, { -0.1f, 0.1f } }, { { 0.5f, 0.9f }, { -0.9f, -0.5f } },
    { { INFINITY, INFINITY }, { 0.9f, 1.0f } },
    { { -1.0f, -0.9f }, { INFINITY, INFINITY } },
    { { INFINITY, INFINITY }, { INFINITY, INFINITY } } };
  GRand *random = g_rand_new_with_seed (2);
  const SurfacePalette *levels[3];
  const gsize n_levels = get_levels (levels);
  gfloat z[N], kept[2][N];

  for (guint i = 0; i < 20 * G_N_ELEMENTS (ranges); i++) {
    fill_heights (random, -1.0, 1.0, z);
    if (i % 20 == 19)
      for (guint j = 0; j < N; j++)
        z[j] = NAN;
    for (guint k = 0; k < n_levels; k++) {
      SurfaceSpan span = { .min = INFINITY,
        .max = -INFINITY,
        .kept = { kept[0], kept[1] },
        .room = i % 3 == 0 ? 20 : N };

      levels[k]->span (z, N, ranges[i / 20], &span);
      check_span (&span, z, ranges[i / 20]);
    }
  }
  g_rand_free (random);
}

/* Exactly the bytes of the pixels are written. */
static void
test_put (void)
{
  const SurfacePalette *levels[3];
  const gsize n_levels = get_levels (levels);
  guint32 bytes[SURFACE_N_COLOURS + 1];
  guint8 pixels[4 * 100 + 1];
  guint16 numbers[100];

  for (guint i = 0; i < G_N_ELEMENTS (bytes); i++)
    bytes[i] = 0x01020408 * (i + 1);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    numbers[i] = (guint16) (i * 41 % G_N_ELEMENTS (bytes));
  for (guint k = 0; k < n_levels; k++)
    for (guint step = 3; step <= 4; step++)
      for (guint n = 0; n <= G_N_ELEMENTS (numbers); n++) {
        memset (pixels, 0xa5, sizeof (pixels));
        levels[k]->put (numbers, n, bytes, step, pixels);
        for (guint i = 0; i < n; i++)
          g_assert_cmpmem (pixels + i * step, step, &bytes[numbers[i]], step);
        g_assert_cmpuint (pixels[n * step], ==, 0xa5);
      }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/palette/number", test_number);
  g_test_add_func ("/palette/span", test_span);
  g_test_add_func ("/palette/put", test_put);
  return g_test_run ();
}
