/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/surface/palette.h"

#include <math.h>
#include <string.h>

#define PASTE_(a, b) a##_##b
#define PASTE(a, b) PASTE_ (a, b)

#if defined(__AVX512F__)
#define WIDTH 16
#elif defined(__AVX2__)
#define WIDTH 8
#else
#define WIDTH 4
#endif
#define CHUNK 32 /* heights that are looked at again if one is to be kept */

typedef gfloat Lanes __attribute__ ((vector_size (WIDTH * sizeof (gfloat))));
typedef gint32 Masks __attribute__ ((vector_size (WIDTH * sizeof (gint32))));

/* Branches would be guessed wrong. */
static void
keep_heights (
    const gfloat *z, const gfloat ranges[2][2], guint range, SurfaceSpan *span)
{
  const gfloat first = ranges[range][0], last = ranges[range][1];
  gfloat kept[CHUNK + 1];
  gsize n = 0;

  for (guint i = 0; i < CHUNK; i++) {
    kept[n] = z[i];
    n += (z[i] >= first) & (z[i] < last);
  }
  if (span->n_kept[range] + n <= span->room)
    memcpy (span->kept[range] + span->n_kept[range], kept, n * sizeof (*kept));
  span->n_kept[range] += n;
}

/* Sums of the lanes */
typedef struct {
  Lanes min, max;
  Masks count, below[2];
} Sums;

static inline gboolean
is_any (Masks masks)
{
  gint64 words[sizeof (masks) / sizeof (gint64)], any = 0;

  memcpy (words, &masks, sizeof (masks));
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    any |= words[i];
  return any != 0;
}

static inline void
span_chunk (
    const gfloat *z, const gfloat ranges[2][2], Sums *sums, SurfaceSpan *span)
{
  Masks within[2] = { { 0 }, { 0 } };

  for (guint i = 0; i < CHUNK; i += WIDTH) {
    Masks finite, lower, higher;
    Lanes v;

    memcpy (&v, z + i, sizeof (v));
    finite = (Masks) ((Lanes) ((Masks) v & G_MAXINT32) <= G_MAXFLOAT);
    lower = (Masks) (v < sums->min) & finite;
    higher = (Masks) (v > sums->max) & finite;
    sums->min = (Lanes) (((Masks) v & lower) | ((Masks) sums->min & ~lower));
    sums->max = (Lanes) (((Masks) v & higher) | ((Masks) sums->max & ~higher));
    sums->count -= finite;
    for (guint r = 0; r < 2; r++) {
      const Masks lies_below = (Masks) (v < ranges[r][0]);

      sums->below[r] -= lies_below & finite;
      within[r] |= (Masks) (v < ranges[r][1]) & ~lies_below;
    }
  }
  for (guint r = 0; r < 2; r++)
    if (is_any (within[r]))
      keep_heights (z, ranges, r, span);
}

/* @n: so few that no lane counts beyond 31 bits */
static void
palette_span (
    const gfloat *z, gsize n, const gfloat ranges[2][2], SurfaceSpan *span)
{
  Sums sums = { .min = (Lanes){ 0 } + INFINITY,
    .max = (Lanes){ 0 } - INFINITY };
  gfloat rest[CHUNK];
  gsize done = 0;

  for (; done + CHUNK <= n; done += CHUNK)
    span_chunk (z + done, ranges, &sums, span);
  for (gsize i = 0; i < CHUNK; i++)
    rest[i] = done + i < n ? z[done + i] : NAN;
  span_chunk (rest, ranges, &sums, span);
  for (guint k = 0; k < WIDTH; k++) {
    span->min = MIN (span->min, sums.min[k]);
    span->max = MAX (span->max, sums.max[k]);
    span->count += (gsize) sums.count[k];
    for (guint r = 0; r < 2; r++)
      span->below[r] += (gsize) sums.below[r][k];
  }
}

static void
palette_number (const gfloat *restrict z, gsize n, gdouble from, gdouble scale,
    gdouble first, guint16 *restrict number)
{
  for (gsize i = 0; i < n; i++) {
    const gdouble at = (z[i] - from) * scale + first;
    const gdouble held = at > SURFACE_N_COLOURS - 1.0 ? SURFACE_N_COLOURS - 1.0
                         : at < 0.0                   ? 0.0
                                                      : at;
    const gint32 whole = (gint32) held;

    number[i] =
        (guint16) (fabsf (z[i]) <= G_MAXFLOAT ? whole : SURFACE_N_COLOURS);
  }
}

const SurfacePalette PASTE (
    surface_palette, SURFACE_LEVEL) = { palette_span, palette_number };
