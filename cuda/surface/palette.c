/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/surface/palette.h"

#include <math.h>
#include <string.h>
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#define PASTE_(a, b) a##_##b
#define PASTE(a, b) PASTE_ (a, b)

#if defined(__AVX512F__)
#define WIDTH 16
#elif defined(__AVX2__)
#define WIDTH 8
#else
#define WIDTH 4
#endif
#define CHUNK 32 /* heights checked again if one is to be kept */

/* Prefetch distance: hardware prefetchers stop at the end of a page. Has no
 * effect after the last height. */
#define AHEAD 4096 /* bytes */

static inline void
fetch_chunk_ahead (const gfloat *z)
{
  for (guint i = 0; i < CHUNK * sizeof (*z); i += 64)
    __builtin_prefetch ((const guint8 *) z + AHEAD + i);
}

typedef gfloat Lanes __attribute__ ((vector_size (WIDTH * sizeof (gfloat))));
typedef gint32 Masks __attribute__ ((vector_size (WIDTH * sizeof (gint32))));

/* Sums of the lanes */
typedef struct {
  Lanes min, max;
  Masks count, below[2];
} Sums;

#if defined(__AVX512F__)
/* Counts of @finite heights below and within the range */
static inline void
span_range (__m512 v, __mmask16 finite, const gfloat ranges[2][2], guint range,
    SurfaceSpan *span)
{
  const __mmask16 below = _mm512_mask_cmp_ps_mask (
      finite, v, _mm512_set1_ps (ranges[range][0]), _CMP_LT_OQ);
  const __mmask16 within = _mm512_mask_cmp_ps_mask (finite, v,
                               _mm512_set1_ps (ranges[range][1]), _CMP_LT_OQ)
                           & (__mmask16) ~below;
  const guint n = (guint) __builtin_popcount (within);

  if (span->n_kept[range] + n <= span->room)
    _mm512_mask_storeu_ps (span->kept[range] + span->n_kept[range],
        (__mmask16) ((1u << n) - 1), _mm512_maskz_compress_ps (within, v));
  span->n_kept[range] += n;
  span->below[range] += (gsize) __builtin_popcount (below);
}

/* Optimised for heights between the two ranges. */
static inline void
span_chunk (
    const gfloat *z, const gfloat ranges[2][2], Sums *sums, SurfaceSpan *span)
{
  for (guint i = 0; i < CHUNK; i += WIDTH) {
    const __m512 v = _mm512_loadu_ps (z + i);
    const __mmask16 between = _mm512_mask_cmp_ps_mask (
        _mm512_cmp_ps_mask (v, _mm512_set1_ps (ranges[0][1]), _CMP_GE_OQ), v,
        _mm512_set1_ps (ranges[1][0]), _CMP_LT_OQ);
    const __mmask16 finite = _mm512_cmp_ps_mask (
        _mm512_abs_ps (v), _mm512_set1_ps (G_MAXFLOAT), _CMP_LE_OQ);

    sums->min = _mm512_mask_min_ps (sums->min, finite, sums->min, v);
    sums->max = _mm512_mask_max_ps (sums->max, finite, sums->max, v);
    if (between == 0xffff) {
      span->count += WIDTH;
      span->below[1] += WIDTH;
      continue;
    }
    span->count += (gsize) __builtin_popcount (finite);
    span_range (v, finite, ranges, 0, span);
    span_range (v, finite, ranges, 1, span);
  }
}
#else
/* Without branches, which would be mispredicted. */
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
#endif

/* @n: so small that no lane counts beyond 31 bits */
static void
palette_span (
    const gfloat *z, gsize n, const gfloat ranges[2][2], SurfaceSpan *to)
{
  /* counted in a copy: other threads write to the cache lines of @to */
  SurfaceSpan counted = *to, *span = &counted;
  Sums sums = { .min = (Lanes){ 0 } + INFINITY,
    .max = (Lanes){ 0 } - INFINITY };
  gfloat rest[CHUNK];
  gsize done = 0;

  for (; done + CHUNK <= n; done += CHUNK) {
    fetch_chunk_ahead (z + done);
    span_chunk (z + done, ranges, &sums, span);
  }
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
  *to = counted;
}

static inline guint16
number_exactly (gfloat z, gdouble from, gdouble scale, gdouble first)
{
  const gdouble at = (z - from) * scale + first;
  const gdouble held = at > SURFACE_N_COLOURS - 1.0 ? SURFACE_N_COLOURS - 1.0
                       : at < 0.0                   ? 0.0
                                                    : at;

  return fabsf (z) <= G_MAXFLOAT ? (guint16) held : SURFACE_N_COLOURS;
}

/* Bound on the error of FP32 values before rounding down: they are below 512
 * and the result of four roundings. */
#define UNSURE 0x1p-12f
/* limits that round down to the first and to the last colour */
#define LOWEST -0.5f
#define HIGHEST (SURFACE_N_COLOURS - 0.5f)

/* Returns: whether a value is so near to the next colour that it may be
 * wrong */
static inline gboolean
number_chunk (const gfloat *restrict z, gfloat from, gfloat scale, gfloat first,
    guint16 *restrict number)
{
#if defined(__AVX512F__)
  __mmask16 unsure = 0;

  for (guint i = 0; i < CHUNK; i += WIDTH) {
    const __m512 v = _mm512_loadu_ps (z + i);
    const __m512 moved = _mm512_sub_ps (v, _mm512_set1_ps (from));
    const __m512 at = _mm512_add_ps (
        _mm512_mul_ps (moved, _mm512_set1_ps (scale)), _mm512_set1_ps (first));
    /* the lowest if @at is NaN */
    const __m512 held = _mm512_min_ps (
        _mm512_max_ps (at, _mm512_set1_ps (LOWEST)), _mm512_set1_ps (HIGHEST));
    const __m512 rest = _mm512_sub_ps (
        held, _mm512_roundscale_ps (
                  held, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    const __mmask16 finite = _mm512_cmp_ps_mask (
        _mm512_abs_ps (v), _mm512_set1_ps (G_MAXFLOAT), _CMP_LE_OQ);

    unsure |= _mm512_cmp_ps_mask (
        _mm512_abs_ps (rest), _mm512_set1_ps (UNSURE), _CMP_LT_OQ);
    _mm256_storeu_si256 ((__m256i *) (number + i),
        _mm512_cvtepi32_epi16 (_mm512_mask_cvttps_epi32 (
            _mm512_set1_epi32 (SURFACE_N_COLOURS), finite, held)));
  }
  return unsure != 0;
#else
  gint32 unsure = 0;

  for (guint i = 0; i < CHUNK; i++) {
    const gfloat at = (z[i] - from) * scale + first;
    const gfloat least = at > LOWEST ? at : LOWEST; /* also if @at is NaN */
    const gfloat held = least < HIGHEST ? least : HIGHEST;
    const gfloat whole = (held + 0x1.8p23f) - 0x1.8p23f;

    unsure |= fabsf (held - whole) < UNSURE;
    number[i] = (guint16) (fabsf (z[i]) <= G_MAXFLOAT ? (gint32) held
                                                      : SURFACE_N_COLOURS);
  }
  return unsure;
#endif
}

/* In FP32, and again in FP64 if rounding may have changed the number */
static void
palette_number (const gfloat *restrict z, gsize n, gdouble from, gdouble scale,
    gdouble first, guint16 *restrict number)
{
  const gfloat near_from = (gfloat) from;
  const gdouble moved = first + (near_from - from) * scale;
  const gboolean is_easy = fabs (from) < 1e37 && fabs (moved) < 512.0
                           && scale < 1e37 && scale > 1e-34;

  for (gsize done = 0; done < n; done += CHUNK) {
    const gsize m = MIN (n - done, CHUNK);

    fetch_chunk_ahead (z + done);
    if (is_easy && m == CHUNK
        && !number_chunk (
            z + done, near_from, (gfloat) scale, (gfloat) moved, number + done))
      continue;
    for (gsize i = done; i < done + m; i++)
      number[i] = number_exactly (z[i], from, scale, first);
  }
}

/* A pixel of three bytes is stored as four; the next pixel overwrites the
 * last byte. */
static void
palette_put (const guint16 *number, gsize n, const guint32 *bytes, guint step,
    guint8 *to)
{
  gsize i = 0;

  if (step == 4) {
    for (; i < n; i++)
      memcpy (to + 4 * i, &bytes[number[i]], 4);
    return;
  }
#if defined(__AVX512F__)
  const __m512i join_bytes = _mm512_broadcast_i32x4 (
      _mm_setr_epi8 (0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
  const __m512i join_words =
      _mm512_setr_epi32 (0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 3, 7, 11, 15);

  for (; i + WIDTH <= n; i += WIDTH) {
    const __m512i numbers = _mm512_cvtepu16_epi32 (
        _mm256_loadu_si256 ((const __m256i *) (number + i)));
    const __m512i pixels = _mm512_i32gather_epi32 (numbers, bytes, 4);

    __builtin_prefetch (to + 3 * i + AHEAD, 1);
    _mm512_mask_storeu_epi32 (to + 3 * i, 0xfff,
        _mm512_permutexvar_epi32 (
            join_words, _mm512_shuffle_epi8 (pixels, join_bytes)));
  }
#endif
  for (; i + 1 < n; i++)
    memcpy (to + 3 * i, &bytes[number[i]], 4);
  if (i < n)
    memcpy (to + 3 * i, &bytes[number[i]], 3);
}

const SurfacePalette PASTE (surface_palette, SURFACE_LEVEL) = { palette_span,
  palette_number, palette_put };
