/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Inner loops of the CPU backend on rows of the padded ROI (pixel x of a row
 * is byte 16 + x of 64) in three forms: AVX-512, AVX2 and plain C, with the
 * same bits. Included by cuda/meltpool/cpu/kernels.c, once for each
 * instruction set. */
#pragma once

#include "cuda/meltpool/bits.h"
#include "cuda/meltpool/cpu/cpu.h"

#if defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define PBF_SIMD_512 1
#define PBF_SIMD_256 1
#include <immintrin.h>
#elif defined(__AVX2__) && defined(__FMA__)
#define PBF_SIMD_256 1
#include <immintrin.h>
#endif

#define PBF_ROI_LEFT 16 /* byte of column 0 in a row */

/* --- rows of bytes ---------------------------------------------------------- */

/* Bit x: pixel x >= threshold. Bits beyond the ROI are undefined. */
static inline guint64
pbf_simd_reaches (const guint8 *row, guint8 threshold)
{
#if defined(PBF_SIMD_512)
  __m512i v = _mm512_load_si512 (row);

  return _mm512_cmpge_epu8_mask (v, _mm512_set1_epi8 ((gchar) threshold))
         >> PBF_ROI_LEFT;
#elif defined(PBF_SIMD_256)
  __m256i t = _mm256_set1_epi8 ((gchar) threshold);
  __m256i a = _mm256_load_si256 ((const __m256i *) row);
  __m256i b = _mm256_load_si256 ((const __m256i *) (row + 32));
  guint32 low =
      _mm256_movemask_epi8 (_mm256_cmpeq_epi8 (_mm256_max_epu8 (a, t), a));
  guint32 high =
      _mm256_movemask_epi8 (_mm256_cmpeq_epi8 (_mm256_max_epu8 (b, t), b));

  return ((guint64) high << 16) | (low >> 16);
#else
  guint64 bits = 0;

  for (gint x = 0; x < CVIS_PBF_ROI_SIDE; x++)
    bits |= (guint64) (row[PBF_ROI_LEFT + x] >= threshold) << x;
  return bits;
#endif
}

/* Copies the 40 pixels at @from to @row, with a border of one pixel on each
 * side. Returns: bit x: pixel x >= threshold */
static inline guint64
pbf_simd_take_row (const guint8 *from, guint8 *row, guint8 threshold)
{
#if defined(PBF_SIMD_512)
  /* masked bytes are not accessed, so nothing outside is read */
  __m512i v = _mm512_maskz_loadu_epi8 (
      PBF_ROI_BITS << PBF_ROI_LEFT, from - PBF_ROI_LEFT);

  v = _mm512_mask_set1_epi8 (
      v, G_GUINT64_CONSTANT (1) << (PBF_ROI_LEFT - 1), (gchar) from[0]);
  v = _mm512_mask_set1_epi8 (v,
      G_GUINT64_CONSTANT (1) << (PBF_ROI_LEFT + CVIS_PBF_ROI_SIDE),
      (gchar) from[CVIS_PBF_ROI_SIDE - 1]);
  _mm512_store_si512 (row, v);
  return (_mm512_cmpge_epu8_mask (v, _mm512_set1_epi8 ((gchar) threshold))
             >> PBF_ROI_LEFT)
         & PBF_ROI_BITS;
#else
  memcpy (row + PBF_ROI_LEFT, from, CVIS_PBF_ROI_SIDE);
  row[PBF_ROI_LEFT - 1] = from[0];
  row[PBF_ROI_LEFT + CVIS_PBF_ROI_SIDE] = from[CVIS_PBF_ROI_SIDE - 1];
#if defined(PBF_SIMD_256)
  {
    __m256i t = _mm256_set1_epi8 ((gchar) threshold);
    __m256i a = _mm256_loadu_si256 ((const __m256i *) from);
    __m128i b = _mm_loadl_epi64 ((const __m128i *) (from + 32));
    guint32 low =
        _mm256_movemask_epi8 (_mm256_cmpeq_epi8 (_mm256_max_epu8 (a, t), a));
    guint32 high = _mm_movemask_epi8 (
        _mm_cmpeq_epi8 (_mm_max_epu8 (b, _mm256_castsi256_si128 (t)), b));

    return ((guint64) (high & 255) << 32) | low;
  }
#else
  return pbf_simd_reaches (row, threshold) & PBF_ROI_BITS;
#endif
#endif
}

#if defined(PBF_SIMD_256) && !defined(PBF_SIMD_512)
/* Expands 32 bits to 32 bytes of 0 or 255. */
static inline __m256i
pbf_simd_bytes (guint32 bits)
{
  const __m256i spread = _mm256_setr_epi64x (
      0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
  const __m256i bit = _mm256_set1_epi64x ((gint64) 0x8040201008040201);
  __m256i v = _mm256_shuffle_epi8 (_mm256_set1_epi32 ((gint) bits), spread);

  return _mm256_cmpeq_epi8 (_mm256_and_si256 (v, bit), bit);
}
#endif

/* A sum of pixels over several rows, kept in a vector until it is complete. */
#if defined(PBF_SIMD_512)
typedef __m512i PbfSimdSum;
#define PBF_SIMD_SUM_ZERO _mm512_setzero_si512 ()
#elif defined(PBF_SIMD_256)
typedef __m256i PbfSimdSum;
#define PBF_SIMD_SUM_ZERO _mm256_setzero_si256 ()
#else
typedef gint32 PbfSimdSum;
#define PBF_SIMD_SUM_ZERO 0
#endif

/* Adds the pixels of a row whose bits are set. */
static inline PbfSimdSum
pbf_simd_add (PbfSimdSum sum, const guint8 *row, guint64 bits)
{
#if defined(PBF_SIMD_512)
  __m512i v =
      _mm512_maskz_mov_epi8 (bits << PBF_ROI_LEFT, _mm512_load_si512 (row));

  return _mm512_add_epi64 (sum, _mm512_sad_epu8 (v, _mm512_setzero_si512 ()));
#elif defined(PBF_SIMD_256)
  __m256i zero = _mm256_setzero_si256 ();
  __m256i a = _mm256_and_si256 (_mm256_load_si256 ((const __m256i *) row),
      pbf_simd_bytes ((guint32) (bits << PBF_ROI_LEFT)));
  __m256i b =
      _mm256_and_si256 (_mm256_load_si256 ((const __m256i *) (row + 32)),
          pbf_simd_bytes ((guint32) (bits >> (32 - PBF_ROI_LEFT))));

  return _mm256_add_epi64 (sum,
      _mm256_add_epi64 (_mm256_sad_epu8 (a, zero), _mm256_sad_epu8 (b, zero)));
#else
  while (bits) {
    gint first = __builtin_ctzll (bits);
    gint n = __builtin_ctzll (~(bits >> first));

    for (gint x = first; x < first + n; x++)
      sum += row[PBF_ROI_LEFT + x];
    bits &= ~(((G_GUINT64_CONSTANT (1) << n) - 1) << first);
  }
  return sum;
#endif
}

static inline gint32
pbf_simd_sum_total (PbfSimdSum sum)
{
#if defined(PBF_SIMD_512)
  return (gint32) _mm512_reduce_add_epi64 (sum);
#elif defined(PBF_SIMD_256)
  __m128i t = _mm_add_epi64 (
      _mm256_castsi256_si128 (sum), _mm256_extracti128_si256 (sum, 1));

  return _mm_cvtsi128_si32 (t) + _mm_extract_epi32 (t, 2);
#else
  return sum;
#endif
}

/* Maximum of the pixels whose bits are set, and the number of those with
 * value 255. */
static inline void
pbf_simd_extremes (
    const guint8 *row, guint64 bits, guint32 *top, guint32 *saturated)
{
  guint32 largest = *top;

  *saturated += __builtin_popcountll (pbf_simd_reaches (row, 255) & bits);
  while (bits) {
    gint first = __builtin_ctzll (bits);
    gint n = __builtin_ctzll (~(bits >> first));

    for (gint x = first; x < first + n && largest < 255; x++)
      largest = MAX (largest, row[PBF_ROI_LEFT + x]);
    bits &= ~(((G_GUINT64_CONSTANT (1) << n) - 1) << first);
  }
  *top = largest;
}

/* --- gradients --------------------------------------------------------------- */

/* A pair of 16 bits: |gy| in the low half, gx in the high half, negated if
 * gy is negative, so that the pair points to the upper half plane; gx >= 0
 * if gy = 0. */
static inline gint32
pbf_gradient_pair (gint gx, gint gy)
{
  if (gy < 0 || (gy == 0 && gx < 0)) {
    gx = -gx;
    gy = -gy;
  }
  return (gint32) ((guint32) gx << 16) | gy;
}

/* Computes such a pair for each pixel of the padded ROI, in any order. */
static inline void
pbf_simd_gradients (const guint8 roi[][PBF_ROI_PITCH], gint32 *pairs)
{
  for (gint y = 1; y <= CVIS_PBF_ROI_SIDE; y++) {
#if defined(PBF_SIMD_256)
    const guint8 *row = roi[y] + PBF_ROI_LEFT;

#define LOAD16(at)                                                             \
  _mm256_cvtepu8_epi16 (_mm_loadu_si128 ((const __m128i *) (at)))
#define LOAD8(at) _mm_cvtepu8_epi16 (_mm_loadl_epi64 ((const __m128i *) (at)))
    for (gint x = 0; x < 32; x += 16) {
      __m256i zero = _mm256_setzero_si256 ();
      __m256i gx =
          _mm256_sub_epi16 (LOAD16 (row + x + 1), LOAD16 (row + x - 1));
      __m256i gy = _mm256_sub_epi16 (
          LOAD16 (row + x + PBF_ROI_PITCH), LOAD16 (row + x - PBF_ROI_PITCH));
      __m256i sign = _mm256_or_si256 (
          gy, _mm256_and_si256 (_mm256_cmpeq_epi16 (gy, zero), gx));

      gx = _mm256_sign_epi16 (gx, sign);
      gy = _mm256_abs_epi16 (gy);
      _mm256_storeu_si256 (
          (__m256i *) (pairs + x), _mm256_unpacklo_epi16 (gy, gx));
      _mm256_storeu_si256 (
          (__m256i *) (pairs + x + 8), _mm256_unpackhi_epi16 (gy, gx));
    }
    {
      __m128i gx = _mm_sub_epi16 (LOAD8 (row + 33), LOAD8 (row + 31));
      __m128i gy = _mm_sub_epi16 (
          LOAD8 (row + 32 + PBF_ROI_PITCH), LOAD8 (row + 32 - PBF_ROI_PITCH));
      __m128i sign = _mm_or_si128 (
          gy, _mm_and_si128 (_mm_cmpeq_epi16 (gy, _mm_setzero_si128 ()), gx));

      gx = _mm_sign_epi16 (gx, sign);
      gy = _mm_abs_epi16 (gy);
      _mm_storeu_si128 ((__m128i *) (pairs + 32), _mm_unpacklo_epi16 (gy, gx));
      _mm_storeu_si128 ((__m128i *) (pairs + 36), _mm_unpackhi_epi16 (gy, gx));
    }
#undef LOAD16
#undef LOAD8
#else
    for (gint x = 0; x < CVIS_PBF_ROI_SIDE; x++) {
      const guint8 *at = roi[y] + PBF_ROI_LEFT + x;

      pairs[x] = pbf_gradient_pair (
          at[1] - at[-1], at[PBF_ROI_PITCH] - at[-PBF_ROI_PITCH]);
    }
#endif
    pairs += CVIS_PBF_ROI_SIDE;
  }
}

/* --- histogram of oriented gradients ------------------------------------------ */

/* The products of a pair (gy, |gx|) with this, summed, are >= 0 from the
 * angle on. */
#define PBF_TAN_PAIR(degrees)                                                  \
  ((gint32) ((guint32) -PBF_TAN##degrees##_P << 16) | PBF_TAN##degrees##_Q)

/* Rounds to the nearest integer, ties to even, like lrintf(). */
#if defined(__GNUC__) && !defined(__clang__)
#define pbf_simd_round(x) __builtin_irintf (x) /* is vectorised */
#else
#define pbf_simd_round(x) ((gint32) lrintf (x))
#endif

/* Adds @n pairs, at most PBF_MAX_ROI, to these sums, in two branch-free
 * loops that are vectorised everywhere. 128 lengths of at most 361 * 65536
 * fit 32 bits; products of a gradient and a convergent's term are exact
 * floats. */
static inline void
pbf_hog_row (const gint32 *pairs, gint n, gint64 all[5], gint64 left[5])
{
  guint32 length[PBF_MAX_ROI], to_left[PBF_MAX_ROI];
  gfloat ax[PBF_MAX_ROI], ay[PBF_MAX_ROI];
  guint32 a0 = 0, a1 = 0, a2 = 0, a3 = 0, a4 = 0;
  guint32 l0 = 0, l1 = 0, l2 = 0, l3 = 0, l4 = 0;

  for (gint x = 0; x < n; x++) {
    gfloat gx = (gfloat) (pairs[x] >> 16), gy = (gfloat) (pairs[x] & 0xffff);

    ax[x] = fabsf (gx);
    ay[x] = gy;
    length[x] = (guint32) pbf_simd_round (sqrtf (gx * gx + gy * gy) * 65536.0f);
    to_left[x] = length[x] & (guint32) (pairs[x] >> 31);
  }
#define PBF_FROM(degrees)                                                      \
  (guint32)                                                                    \
      - (ax[x] * (gfloat) PBF_TAN##degrees##_P                                 \
          <= ay[x] * (gfloat) PBF_TAN##degrees##_Q)
  for (gint x = 0; x < n; x++) {
    guint32 m1 = PBF_FROM (20), m2 = PBF_FROM (40);
    guint32 m3 = PBF_FROM (60), m4 = PBF_FROM (80);

    a0 += length[x];
    l0 += to_left[x];
    a1 += length[x] & m1;
    l1 += to_left[x] & m1;
    a2 += length[x] & m2;
    l2 += to_left[x] & m2;
    a3 += length[x] & m3;
    l3 += to_left[x] & m3;
    a4 += length[x] & m4;
    l4 += to_left[x] & m4;
  }
#undef PBF_FROM
  all[0] += a0, all[1] += a1, all[2] += a2, all[3] += a3, all[4] += a4;
  left[0] += l0, left[1] += l1, left[2] += l2, left[3] += l3, left[4] += l4;
}

#if defined(PBF_SIMD_512)
static inline gint64
pbf_simd_total (__m512i v)
{
  return _mm512_reduce_add_epi64 (
      _mm512_add_epi64 (_mm512_cvtepu32_epi64 (_mm512_castsi512_si256 (v)),
          _mm512_cvtepu32_epi64 (_mm512_extracti64x4_epi64 (v, 1))));
}

/* 100 lengths of at most 361 * 65536 a lane fit its 32 bits. */
static inline void
pbf_simd_hog (const gint32 *pairs, gint64 sums[9])
{
  const __m512i tan20 = _mm512_set1_epi32 (PBF_TAN_PAIR (20));
  const __m512i tan40 = _mm512_set1_epi32 (PBF_TAN_PAIR (40));
  const __m512i tan60 = _mm512_set1_epi32 (PBF_TAN_PAIR (60));
  const __m512i tan80 = _mm512_set1_epi32 (PBF_TAN_PAIR (80));
  const __m512 scale = _mm512_set1_ps (65536.0f);
  const __m512i zero = _mm512_setzero_si512 ();
  __m512i a0 = zero, a1 = zero, a2 = zero, a3 = zero, a4 = zero;
  __m512i l0 = zero, l1 = zero, l2 = zero, l3 = zero, l4 = zero;

  for (gint i = 0; i < CVIS_PBF_ROI_SIDE * CVIS_PBF_ROI_SIDE; i += 16) {
    __m512i v = _mm512_load_si512 (pairs + i);
    __mmask16 left = _mm512_movepi32_mask (v), m1, m2, m3, m4;
    __m512i length = _mm512_cvtps_epi32 (_mm512_mul_ps (
        _mm512_sqrt_ps (_mm512_cvtepi32_ps (_mm512_madd_epi16 (v, v))), scale));

    v = _mm512_abs_epi16 (v);
    m1 = _mm512_cmpge_epi32_mask (_mm512_madd_epi16 (v, tan20), zero);
    m2 = _mm512_cmpge_epi32_mask (_mm512_madd_epi16 (v, tan40), zero);
    m3 = _mm512_cmpge_epi32_mask (_mm512_madd_epi16 (v, tan60), zero);
    m4 = _mm512_cmpge_epi32_mask (_mm512_madd_epi16 (v, tan80), zero);
    a0 = _mm512_add_epi32 (a0, length);
    a1 = _mm512_mask_add_epi32 (a1, m1, a1, length);
    a2 = _mm512_mask_add_epi32 (a2, m2, a2, length);
    a3 = _mm512_mask_add_epi32 (a3, m3, a3, length);
    a4 = _mm512_mask_add_epi32 (a4, m4, a4, length);
    l0 = _mm512_mask_add_epi32 (l0, left, l0, length);
    l1 = _mm512_mask_add_epi32 (l1, m1 & left, l1, length);
    l2 = _mm512_mask_add_epi32 (l2, m2 & left, l2, length);
    l3 = _mm512_mask_add_epi32 (l3, m3 & left, l3, length);
    l4 = _mm512_mask_add_epi32 (l4, m4 & left, l4, length);
  }
  {
    gint64 all[5] = { pbf_simd_total (a0), pbf_simd_total (a1),
      pbf_simd_total (a2), pbf_simd_total (a3), pbf_simd_total (a4) };
    gint64 to_left[5] = { pbf_simd_total (l0), pbf_simd_total (l1),
      pbf_simd_total (l2), pbf_simd_total (l3), pbf_simd_total (l4) };

    pbf_hog_unfold (all, to_left, sums);
  }
}
#elif defined(PBF_SIMD_256)
static inline gint64
pbf_simd_total (__m256i v)
{
  __m256i s =
      _mm256_add_epi64 (_mm256_cvtepu32_epi64 (_mm256_castsi256_si128 (v)),
          _mm256_cvtepu32_epi64 (_mm256_extracti128_si256 (v, 1)));
  __m128i t = _mm_add_epi64 (
      _mm256_castsi256_si128 (s), _mm256_extracti128_si256 (s, 1));

  return _mm_cvtsi128_si64 (t) + _mm_extract_epi64 (t, 1);
}

/* Half of the pixels at a time: 100 lengths of at most 361 * 65536 a lane fit
 * its 32 bits. */
static inline void
pbf_simd_hog (const gint32 *pairs, gint64 sums[9])
{
  const __m256i tan_pairs[4] = { _mm256_set1_epi32 (PBF_TAN_PAIR (20)),
    _mm256_set1_epi32 (PBF_TAN_PAIR (40)),
    _mm256_set1_epi32 (PBF_TAN_PAIR (60)),
    _mm256_set1_epi32 (PBF_TAN_PAIR (80)) };
  const __m256 scale = _mm256_set1_ps (65536.0f);
  const __m256i none = _mm256_set1_epi32 (-1);
  gint64 all[5] = { 0 }, to_left[5] = { 0 };

  for (gint half = 0; half < 2; half++) {
    __m256i a[5], l[5];

    for (gint k = 0; k < 5; k++)
      a[k] = l[k] = _mm256_setzero_si256 ();
    for (gint i = 0; i < CVIS_PBF_ROI_SIDE * CVIS_PBF_ROI_SIDE / 2; i += 8) {
      __m256i v = _mm256_load_si256 ((const __m256i *) (pairs + i));
      __m256i length = _mm256_cvtps_epi32 (_mm256_mul_ps (
          _mm256_sqrt_ps (_mm256_cvtepi32_ps (_mm256_madd_epi16 (v, v))),
          scale));
      __m256i left = _mm256_and_si256 (length, _mm256_srai_epi32 (v, 31));

      v = _mm256_abs_epi16 (v);
      a[0] = _mm256_add_epi32 (a[0], length);
      l[0] = _mm256_add_epi32 (l[0], left);
      for (gint k = 0; k < 4; k++) {
        __m256i m =
            _mm256_cmpgt_epi32 (_mm256_madd_epi16 (v, tan_pairs[k]), none);
        a[k + 1] = _mm256_add_epi32 (a[k + 1], _mm256_and_si256 (m, length));
        l[k + 1] = _mm256_add_epi32 (l[k + 1], _mm256_and_si256 (m, left));
      }
    }
    for (gint k = 0; k < 5; k++) {
      all[k] += pbf_simd_total (a[k]);
      to_left[k] += pbf_simd_total (l[k]);
    }
    pairs += CVIS_PBF_ROI_SIDE * CVIS_PBF_ROI_SIDE / 2;
  }
  pbf_hog_unfold (all, to_left, sums);
}
#else
/* A row at a time. */
static inline void
pbf_simd_hog (const gint32 *pairs, gint64 sums[9])
{
  gint64 all[5] = { 0 }, left[5] = { 0 };

  for (gint y = 0; y < CVIS_PBF_ROI_SIDE; y++, pairs += CVIS_PBF_ROI_SIDE)
    pbf_hog_row (pairs, CVIS_PBF_ROI_SIDE, all, left);
  pbf_hog_unfold (all, left, sums);
}
#endif

/* --- the network ----------------------------------------------------------------- */

#if defined(PBF_SIMD_512)
typedef __m512 PbfSimdFloats;
#define PBF_SIMD_FLOATS 16
#define pbf_simd_load _mm512_loadu_ps
#define pbf_simd_store _mm512_storeu_ps
#define pbf_simd_set1 _mm512_set1_ps
#define pbf_simd_fma _mm512_fmadd_ps
#define pbf_simd_max _mm512_max_ps
#elif defined(PBF_SIMD_256)
typedef __m256 PbfSimdFloats;
#define PBF_SIMD_FLOATS 8
#define pbf_simd_load _mm256_loadu_ps
#define pbf_simd_store _mm256_storeu_ps
#define pbf_simd_set1 _mm256_set1_ps
#define pbf_simd_fma _mm256_fmadd_ps
#define pbf_simd_max _mm256_max_ps
#endif

#if defined(PBF_SIMD_256)
/* @vectors: (constant) number of vectors of hidden units. */
static inline __attribute__ ((always_inline)) void
pbf_simd_hidden_block (const gfloat *w1t, const gfloat *b1, const gfloat *x,
    gfloat *hidden, guint pitch, guint vectors)
{
  PbfSimdFloats h[8];

  for (guint v = 0; v < vectors; v++)
    h[v] = pbf_simd_load (b1 + v * PBF_SIMD_FLOATS);
  for (guint i = 0; i < CVIS_PBF_N_FEATURES; i++) {
    PbfSimdFloats xi = pbf_simd_set1 (x[i]);

    for (guint v = 0; v < vectors; v++)
      h[v] = pbf_simd_fma (
          pbf_simd_load (w1t + (gsize) i * pitch + v * PBF_SIMD_FLOATS), xi,
          h[v]);
  }
  for (guint v = 0; v < vectors; v++)
    pbf_simd_store (hidden + v * PBF_SIMD_FLOATS,
        pbf_simd_max (h[v], pbf_simd_set1 (0.0f)));
}
#endif

/* Computes @n hidden units (a multiple of 32), after the ReLU. */
static inline void
pbf_simd_hidden (const gfloat *w1t, const gfloat *b1, const gfloat *x,
    gfloat *hidden, guint n)
{
#if defined(PBF_SIMD_256)
  guint j = 0;

  for (; j + 64 <= n && PBF_SIMD_FLOATS == 8; j += 64)
    pbf_simd_hidden_block (w1t + j, b1 + j, x, hidden + j, n, 8);
  for (; j + 96 <= n && PBF_SIMD_FLOATS == 16; j += 96)
    pbf_simd_hidden_block (w1t + j, b1 + j, x, hidden + j, n, 6);
  for (; j < n; j += 32)
    pbf_simd_hidden_block (
        w1t + j, b1 + j, x, hidden + j, n, 32 / PBF_SIMD_FLOATS);
#else
  memcpy (hidden, b1, n * sizeof *hidden);
  for (guint i = 0; i < CVIS_PBF_N_FEATURES; i++)
    for (guint j = 0; j < n; j++)
      hidden[j] = fmaf (w1t[(gsize) i * n + j], x[i], hidden[j]);
  for (guint j = 0; j < n; j++)
    hidden[j] = hidden[j] > 0.0f ? hidden[j] : 0.0f;
#endif
}

/* Sum of the products of @n numbers (a multiple of 32) in 32 partial sums. */
static inline gfloat
pbf_simd_dot (const gfloat *w, const gfloat *hidden, guint n)
{
  gfloat part[32];

#if defined(PBF_SIMD_256)
  PbfSimdFloats sum[32 / PBF_SIMD_FLOATS];

  for (guint v = 0; v < 32 / PBF_SIMD_FLOATS; v++)
    sum[v] = pbf_simd_set1 (0.0f);
  for (guint j = 0; j < n; j += 32)
    for (guint v = 0; v < 32 / PBF_SIMD_FLOATS; v++)
      sum[v] = pbf_simd_fma (pbf_simd_load (w + j + v * PBF_SIMD_FLOATS),
          pbf_simd_load (hidden + j + v * PBF_SIMD_FLOATS), sum[v]);
  for (guint v = 0; v < 32 / PBF_SIMD_FLOATS; v++)
    pbf_simd_store (part + v * PBF_SIMD_FLOATS, sum[v]);
#else
  memset (part, 0, sizeof part);
  for (guint j = 0; j < n; j++)
    part[j % 32] = fmaf (w[j], hidden[j], part[j % 32]);
#endif
  for (guint half = 16; half > 0; half /= 2)
    for (guint l = 0; l < half; l++)
      part[l] = part[l] + part[l + half];
  return part[0];
}
