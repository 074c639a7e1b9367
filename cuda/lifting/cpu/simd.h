/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Vectors of T for AVX-512, AVX2 and single elements. Included once for each
 * type and instruction set, with LWT_F32, LWT_F64 or LWT_I32 defined.
 *
 * V_FMA (c, x, sum) is fma (c, x, sum), rounded once, everywhere. */
#pragma once

#include <math.h>
#include <string.h>

#include "cuda/lifting/cpu/cpu.h"

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#endif

#define LWT_CPU_EXPAND2(name, type, level) lwt_cpu_##name##_##type##_##level
#define LWT_CPU_EXPAND(name, type, level) LWT_CPU_EXPAND2 (name, type, level)
/* lwt_cpu_name_f32_v3, .. */
#define LWT_CPU(name) LWT_CPU_EXPAND (name, LWT_CPU_TYPE, LWT_CPU_LEVEL)

#define LWT_ALWAYS static inline __attribute__ ((always_inline))

#if defined(LWT_F32)
#define LWT_CPU_TYPE f32
#define WEIGHTS c_f32
#define SCALE scale_f32
typedef gfloat T;
#elif defined(LWT_F64)
#define LWT_CPU_TYPE f64
#define WEIGHTS c_f64
#define SCALE scale_f64
typedef gdouble T;
#else
#define LWT_CPU_TYPE i32
#define WEIGHTS c_i32
typedef gint32 T;
#endif

/* --- AVX-512 ------------------------------------------------------------------ */

#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512DQ__)
#if defined(LWT_F32)
#define LANES 16
typedef __m512 V;
#define V_LOAD(p) _mm512_loadu_ps (p)
#define V_STORE(p, v) _mm512_storeu_ps ((p), (v))
#define V_STREAM(p, v) _mm512_stream_ps ((p), (v))
#define V_STORE_PART(p, v, n)                                                  \
  _mm512_mask_storeu_ps ((p), (__mmask16) ((1u << (n)) - 1), (v))
#define V_SET(x) _mm512_set1_ps (x)
#define V_ADD(a, b) _mm512_add_ps ((a), (b))
#define V_SUB(a, b) _mm512_sub_ps ((a), (b))
#define V_MUL(a, b) _mm512_mul_ps ((a), (b))
#define V_FMA(c, x, sum) _mm512_fmadd_ps ((c), (x), (sum))
#define V_IS_NAN(v) (_mm512_cmp_ps_mask ((v), (v), _CMP_UNORD_Q) != 0)
#elif defined(LWT_F64)
#define LANES 8
typedef __m512d V;
#define V_LOAD(p) _mm512_loadu_pd (p)
#define V_STORE(p, v) _mm512_storeu_pd ((p), (v))
#define V_STREAM(p, v) _mm512_stream_pd ((p), (v))
#define V_STORE_PART(p, v, n)                                                  \
  _mm512_mask_storeu_pd ((p), (__mmask8) ((1u << (n)) - 1), (v))
#define V_SET(x) _mm512_set1_pd (x)
#define V_ADD(a, b) _mm512_add_pd ((a), (b))
#define V_SUB(a, b) _mm512_sub_pd ((a), (b))
#define V_MUL(a, b) _mm512_mul_pd ((a), (b))
#define V_FMA(c, x, sum) _mm512_fmadd_pd ((c), (x), (sum))
#define V_IS_NAN(v) (_mm512_cmp_pd_mask ((v), (v), _CMP_UNORD_Q) != 0)
#else
#define LANES 16
typedef __m512i V;
#define V_LOAD(p) _mm512_loadu_si512 (p)
#define V_STORE(p, v) _mm512_storeu_si512 ((p), (v))
#define V_STREAM(p, v) _mm512_stream_si512 ((gpointer) (p), (v))
#define V_STORE_PART(p, v, n)                                                  \
  _mm512_mask_storeu_epi32 ((p), (__mmask16) ((1u << (n)) - 1), (v))
#define V_SET(x) _mm512_set1_epi32 (x)
#define V_ADD(a, b) _mm512_add_epi32 ((a), (b))
#define V_SUB(a, b) _mm512_sub_epi32 ((a), (b))
#define V_MUL(a, b) _mm512_mullo_epi32 ((a), (b))
#define V_FMA(c, x, sum) _mm512_add_epi32 (_mm512_mullo_epi32 ((c), (x)), (sum))
#define V_SHIFT(v, n) _mm512_sra_epi32 ((v), _mm_cvtsi32_si128 ((gint) (n)))
#endif

/* LANES elements out of two adjacent vectors, starting at the second
 * element, and at the last element of the first vector */
LWT_ALWAYS V
v_next (V a, V b)
{
#if defined(LWT_F64)
  return _mm512_castsi512_pd (_mm512_alignr_epi64 (
      _mm512_castpd_si512 (b), _mm512_castpd_si512 (a), 1));
#elif defined(LWT_F32)
  return _mm512_castsi512_ps (_mm512_alignr_epi32 (
      _mm512_castps_si512 (b), _mm512_castps_si512 (a), 1));
#else
  return _mm512_alignr_epi32 (b, a, 1);
#endif
}

LWT_ALWAYS V
v_last (V a, V b)
{
#if defined(LWT_F64)
  return _mm512_castsi512_pd (_mm512_alignr_epi64 (
      _mm512_castpd_si512 (b), _mm512_castpd_si512 (a), 7));
#elif defined(LWT_F32)
  return _mm512_castsi512_ps (_mm512_alignr_epi32 (
      _mm512_castps_si512 (b), _mm512_castps_si512 (a), 15));
#else
  return _mm512_alignr_epi32 (b, a, 15);
#endif
}

/* Deinterleaves two vectors into even and odd elements, and the reverse */
LWT_ALWAYS void
v_split (V a, V b, V *even, V *odd)
{
#if defined(LWT_F64)
  const __m512i evens = _mm512_setr_epi64 (0, 2, 4, 6, 8, 10, 12, 14);
  const __m512i odds = _mm512_setr_epi64 (1, 3, 5, 7, 9, 11, 13, 15);

  *even = _mm512_permutex2var_pd (a, evens, b);
  *odd = _mm512_permutex2var_pd (a, odds, b);
#else
  const __m512i evens = _mm512_setr_epi32 (
      0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i odds = _mm512_setr_epi32 (
      1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);

#if defined(LWT_F32)
  *even = _mm512_permutex2var_ps (a, evens, b);
  *odd = _mm512_permutex2var_ps (a, odds, b);
#else
  *even = _mm512_permutex2var_epi32 (a, evens, b);
  *odd = _mm512_permutex2var_epi32 (a, odds, b);
#endif
#endif
}

LWT_ALWAYS void
v_join (V even, V odd, V *a, V *b)
{
#if defined(LWT_F64)
  const __m512i front = _mm512_setr_epi64 (0, 8, 1, 9, 2, 10, 3, 11);
  const __m512i back = _mm512_setr_epi64 (4, 12, 5, 13, 6, 14, 7, 15);

  *a = _mm512_permutex2var_pd (even, front, odd);
  *b = _mm512_permutex2var_pd (even, back, odd);
#else
  const __m512i front = _mm512_setr_epi32 (
      0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const __m512i back = _mm512_setr_epi32 (
      8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);

#if defined(LWT_F32)
  *a = _mm512_permutex2var_ps (even, front, odd);
  *b = _mm512_permutex2var_ps (even, back, odd);
#else
  *a = _mm512_permutex2var_epi32 (even, front, odd);
  *b = _mm512_permutex2var_epi32 (even, back, odd);
#endif
#endif
}

/* --- AVX2 ------------------------------------------------------------------------ */

#elif defined(__AVX2__) && defined(__FMA__)
#if defined(LWT_F32)
#define LANES 8
typedef __m256 V;
#define V_LOAD(p) _mm256_loadu_ps (p)
#define V_STORE(p, v) _mm256_storeu_ps ((p), (v))
#define V_STREAM(p, v) _mm256_stream_ps ((p), (v))
#define V_SET(x) _mm256_set1_ps (x)
#define V_ADD(a, b) _mm256_add_ps ((a), (b))
#define V_SUB(a, b) _mm256_sub_ps ((a), (b))
#define V_MUL(a, b) _mm256_mul_ps ((a), (b))
#define V_FMA(c, x, sum) _mm256_fmadd_ps ((c), (x), (sum))
#define V_IS_NAN(v)                                                            \
  (_mm256_movemask_ps (_mm256_cmp_ps ((v), (v), _CMP_UNORD_Q)) != 0)
#elif defined(LWT_F64)
#define LANES 4
typedef __m256d V;
#define V_LOAD(p) _mm256_loadu_pd (p)
#define V_STORE(p, v) _mm256_storeu_pd ((p), (v))
#define V_STREAM(p, v) _mm256_stream_pd ((p), (v))
#define V_SET(x) _mm256_set1_pd (x)
#define V_ADD(a, b) _mm256_add_pd ((a), (b))
#define V_SUB(a, b) _mm256_sub_pd ((a), (b))
#define V_MUL(a, b) _mm256_mul_pd ((a), (b))
#define V_FMA(c, x, sum) _mm256_fmadd_pd ((c), (x), (sum))
#define V_IS_NAN(v)                                                            \
  (_mm256_movemask_pd (_mm256_cmp_pd ((v), (v), _CMP_UNORD_Q)) != 0)
#else
#define LANES 8
typedef __m256i V;
#define V_LOAD(p) _mm256_loadu_si256 ((const __m256i *) (gconstpointer) (p))
#define V_STORE(p, v) _mm256_storeu_si256 ((__m256i *) (gpointer) (p), (v))
#define V_STREAM(p, v) _mm256_stream_si256 ((__m256i *) (gpointer) (p), (v))
#define V_SET(x) _mm256_set1_epi32 (x)
#define V_ADD(a, b) _mm256_add_epi32 ((a), (b))
#define V_SUB(a, b) _mm256_sub_epi32 ((a), (b))
#define V_MUL(a, b) _mm256_mullo_epi32 ((a), (b))
#define V_FMA(c, x, sum) _mm256_add_epi32 (_mm256_mullo_epi32 ((c), (x)), (sum))
#define V_SHIFT(v, n) _mm256_sra_epi32 ((v), _mm_cvtsi32_si128 ((gint) (n)))
#endif

LWT_ALWAYS void
v_split (V a, V b, V *even, V *odd)
{
#if defined(LWT_F64)
  *even = _mm256_permute4x64_pd (_mm256_unpacklo_pd (a, b), 0xd8);
  *odd = _mm256_permute4x64_pd (_mm256_unpackhi_pd (a, b), 0xd8);
#else
#if defined(LWT_F32)
  const __m256 x = a, y = b;
#else
  const __m256 x = _mm256_castsi256_ps (a), y = _mm256_castsi256_ps (b);
#endif
  const __m256i e = _mm256_permute4x64_epi64 (
      _mm256_castps_si256 (_mm256_shuffle_ps (x, y, 0x88)), 0xd8);
  const __m256i o = _mm256_permute4x64_epi64 (
      _mm256_castps_si256 (_mm256_shuffle_ps (x, y, 0xdd)), 0xd8);

#if defined(LWT_F32)
  *even = _mm256_castsi256_ps (e);
  *odd = _mm256_castsi256_ps (o);
#else
  *even = e;
  *odd = o;
#endif
#endif
}

LWT_ALWAYS void
v_join (V even, V odd, V *a, V *b)
{
#if defined(LWT_F64)
  const __m256d low = _mm256_unpacklo_pd (even, odd);
  const __m256d high = _mm256_unpackhi_pd (even, odd);

  *a = _mm256_permute2f128_pd (low, high, 0x20);
  *b = _mm256_permute2f128_pd (low, high, 0x31);
#elif defined(LWT_F32)
  const __m256 low = _mm256_unpacklo_ps (even, odd);
  const __m256 high = _mm256_unpackhi_ps (even, odd);

  *a = _mm256_permute2f128_ps (low, high, 0x20);
  *b = _mm256_permute2f128_ps (low, high, 0x31);
#else
  const __m256i low = _mm256_unpacklo_epi32 (even, odd);
  const __m256i high = _mm256_unpackhi_epi32 (even, odd);

  *a = _mm256_permute2x128_si256 (low, high, 0x20);
  *b = _mm256_permute2x128_si256 (low, high, 0x31);
#endif
}

/* The upper half of a and the lower half of b */
#if defined(LWT_F32)
#define V_HALVES(a, b)                                                         \
  _mm256_castps_si256 (_mm256_permute2f128_ps ((a), (b), 0x21))
#define V_TO_INT(v) _mm256_castps_si256 (v)
#define V_FROM_INT(v) _mm256_castsi256_ps (v)
#elif defined(LWT_F64)
#define V_HALVES(a, b)                                                         \
  _mm256_castpd_si256 (_mm256_permute2f128_pd ((a), (b), 0x21))
#define V_TO_INT(v) _mm256_castpd_si256 (v)
#define V_FROM_INT(v) _mm256_castsi256_pd (v)
#else
#define V_HALVES(a, b) _mm256_permute2x128_si256 ((a), (b), 0x21)
#define V_TO_INT(v) (v)
#define V_FROM_INT(v) (v)
#endif

LWT_ALWAYS V
v_next (V a, V b)
{
  return V_FROM_INT (
      _mm256_alignr_epi8 (V_HALVES (a, b), V_TO_INT (a), sizeof (T)));
}

LWT_ALWAYS V
v_last (V a, V b)
{
  return V_FROM_INT (
      _mm256_alignr_epi8 (V_TO_INT (b), V_HALVES (a, b), 16 - sizeof (T)));
}

#define V_STORE_PART(p, v, n) v_store_part ((p), (v), (n))

LWT_ALWAYS void
v_store_part (T *p, V v, gsize n)
{
  T all[LANES];

  V_STORE (all, v);
  memcpy (p, all, n * sizeof (T));
}

/* --- single elements ------------------------------------------------------------- */

#else
#define LANES 1
typedef T V;
#define V_LOAD(p) (*(p))
#define V_STORE(p, v) (*(p) = (v))
#define V_STREAM(p, v) (*(p) = (v))
#define V_STORE_PART(p, v, n) ((void) (n), (void) (v))
#define V_SET(x) ((T) (x))
#if defined(LWT_I32)
#define V_ADD(a, b) ((T) ((guint32) (a) + (guint32) (b)))
#define V_SUB(a, b) ((T) ((guint32) (a) - (guint32) (b)))
#define V_MUL(a, b) ((T) ((guint32) (a) * (guint32) (b)))
#define V_FMA(c, x, sum) V_ADD (V_MUL (c, x), sum)
#define V_SHIFT(v, n) ((v) >> (n))
#else
#define V_IS_NAN(v) ((v) != (v))
#define V_ADD(a, b) ((a) + (b))
#define V_SUB(a, b) ((a) - (b))
#define V_MUL(a, b) ((a) * (b))
#if defined(LWT_F32)
#define V_FMA(c, x, sum) fmaf ((c), (x), (sum))
#else
#define V_FMA(c, x, sum) fma ((c), (x), (sum))
#endif
#endif

LWT_ALWAYS V
v_next (V a, V b)
{
  return b;
}

LWT_ALWAYS V
v_last (V a, V b)
{
  return a;
}

LWT_ALWAYS void
v_split (V a, V b, V *even, V *odd)
{
  *even = a;
  *odd = b;
}

LWT_ALWAYS void
v_join (V even, V odd, V *a, V *b)
{
  *a = even;
  *b = odd;
}
#endif

#if defined(LWT_I32)
#define V_IS_NAN(v) FALSE
#endif

/* Prefetches into the L2 cache. */
#define PREFETCH(p) __builtin_prefetch ((p), 0, 2)

/* Fence after non-temporal stores. */
#if LANES > 1
#define FENCE() _mm_sfence ()
#else
#define FENCE()
#endif

/* --- single elements, on any processor ----------------------------------- */

#if defined(LWT_F32)
#define ONE_FMA(c, x, sum) fmaf ((c), (x), (sum))
#define ONE_SCALE(x, scale) ((scale) ? (x) * *(scale) : (x))
#define ONE_ABS(x) fabsf (x)
#define ONE_COPYSIGN(x, y) copysignf ((x), (y))
#elif defined(LWT_F64)
#define ONE_FMA(c, x, sum) fma ((c), (x), (sum))
#define ONE_SCALE(x, scale) ((scale) ? (x) * *(scale) : (x))
#define ONE_ABS(x) fabs (x)
#define ONE_COPYSIGN(x, y) copysign ((x), (y))
#else
#define ONE_FMA(c, x, sum)                                                     \
  ((T) ((guint32) (c) * (guint32) (x) + (guint32) (sum)))
#define ONE_SCALE(x, scale) (x)
#endif
