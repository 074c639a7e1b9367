/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The inner loops of the CPU backend in four forms: AVX-512, AVX2, SSE2 and
 * plain C. All give the same bits. Included once for each instruction set.
 *
 * The frame's block lies in rows of @cstride = block size bytes, aligned to 64
 * bytes, so that several rows of a narrow block fill a vector. */
#pragma once

#include <string.h>

#include "cuda/motion/cpu/cpu.h"

#if defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define MOTION_SIMD_512 1
#endif
#if defined(__AVX2__)
#define MOTION_SIMD_256 1
#endif
#if defined(__SSE2__)
#define MOTION_SIMD_128 1
#include <immintrin.h>
#endif

/* --- SAD of one candidate ------------------------------------------------------ */

#if defined(MOTION_SIMD_128)
static inline guint32
motion_total_128 (__m128i v)
{
  return (guint32) _mm_cvtsi128_si32 (v)
         + (guint32) _mm_cvtsi128_si32 (_mm_unpackhi_epi64 (v, v));
}

static inline __m128i
motion_load_128 (const guint8 *p)
{
  return _mm_loadu_si128 ((const __m128i *) p);
}

/* Two rows of 8 samples. */
static inline __m128i
motion_load_8x2 (const guint8 *p, gsize stride)
{
  guint64 first, second;

  memcpy (&first, p, 8);
  memcpy (&second, p + stride, 8);
  return _mm_set_epi64x ((gint64) second, (gint64) first);
}
#endif

#if defined(MOTION_SIMD_256)
static inline guint32
motion_total_256 (__m256i v)
{
  return motion_total_128 (_mm_add_epi64 (
      _mm256_castsi256_si128 (v), _mm256_extracti128_si256 (v, 1)));
}

static inline __m256i
motion_load_256 (const guint8 *p)
{
  return _mm256_loadu_si256 ((const __m256i *) p);
}

/* Two rows of 16 samples. */
static inline __m256i
motion_load_16x2 (const guint8 *p, gsize stride)
{
  return _mm256_inserti128_si256 (_mm256_castsi128_si256 (motion_load_128 (p)),
      motion_load_128 (p + stride), 1);
}
#endif

static inline guint32
motion_sad_plain (const guint8 *c, gsize cstride, const guint8 *r, gsize stride,
    gint32 w, gint32 h)
{
  guint32 sum = 0;

  for (gint32 y = 0; y < h; y++, c += cstride, r += stride)
    for (gint32 x = 0; x < w; x++)
      sum += (guint32) (c[x] > r[x] ? c[x] - r[x] : r[x] - c[x]);
  return sum;
}

/* @h even */
static inline guint32
motion_sad_8 (
    const guint8 *c, gsize cstride, const guint8 *r, gsize stride, gint32 h)
{
#if defined(MOTION_SIMD_128)
  __m128i sum = _mm_setzero_si128 ();

  for (gint32 y = 0; y < h; y += 2, c += 2 * cstride, r += 2 * stride)
    sum = _mm_add_epi32 (sum, _mm_sad_epu8 (motion_load_8x2 (c, cstride),
                                  motion_load_8x2 (r, stride)));
  return motion_total_128 (sum);
#else
  return motion_sad_plain (c, cstride, r, stride, 8, h);
#endif
}

/* @h even */
static inline guint32
motion_sad_16 (
    const guint8 *c, gsize cstride, const guint8 *r, gsize stride, gint32 h)
{
#if defined(MOTION_SIMD_256)
  __m256i sum = _mm256_setzero_si256 ();

  for (gint32 y = 0; y < h; y += 2, c += 2 * cstride, r += 2 * stride)
    sum = _mm256_add_epi32 (sum, _mm256_sad_epu8 (motion_load_16x2 (c, cstride),
                                     motion_load_16x2 (r, stride)));
  return motion_total_256 (sum);
#elif defined(MOTION_SIMD_128)
  __m128i sum = _mm_setzero_si128 ();

  for (gint32 y = 0; y < h; y++, c += cstride, r += stride)
    sum = _mm_add_epi32 (
        sum, _mm_sad_epu8 (motion_load_128 (c), motion_load_128 (r)));
  return motion_total_128 (sum);
#else
  return motion_sad_plain (c, cstride, r, stride, 16, h);
#endif
}

/* The block's rows lie one after the other, from an address that 64 divides. */
static inline guint32
motion_sad_16_packed (const guint8 *c, const guint8 *r, gsize stride, gint32 h)
{
#if defined(MOTION_SIMD_256)
  __m256i s0 = _mm256_setzero_si256 (), s1 = s0;

  if (h != 16)
    return motion_sad_16 (c, 16, r, stride, h);
#pragma GCC unroll 4
  for (gint i = 0; i < 4; i++, c += 64, r += 4 * stride) {
    s0 = _mm256_add_epi32 (s0,
        _mm256_sad_epu8 (motion_load_256 (c), motion_load_16x2 (r, stride)));
    s1 = _mm256_add_epi32 (s1, _mm256_sad_epu8 (motion_load_256 (c + 32),
                                   motion_load_16x2 (r + 2 * stride, stride)));
  }
  return motion_total_256 (_mm256_add_epi32 (s0, s1));
#else
  return motion_sad_16 (c, 16, r, stride, h);
#endif
}

/* @h even */
static inline guint32
motion_sad_32 (
    const guint8 *c, gsize cstride, const guint8 *r, gsize stride, gint32 h)
{
#if defined(MOTION_SIMD_512)
  __m512i sum = _mm512_setzero_si512 ();

#pragma GCC unroll 4
  for (gint32 y = 0; y < h; y += 2, c += 2 * cstride, r += 2 * stride) {
    __m512i a =
        _mm512_inserti64x4 (_mm512_castsi256_si512 (motion_load_256 (c)),
            motion_load_256 (c + cstride), 1);
    __m512i b =
        _mm512_inserti64x4 (_mm512_castsi256_si512 (motion_load_256 (r)),
            motion_load_256 (r + stride), 1);

    sum = _mm512_add_epi32 (sum, _mm512_sad_epu8 (a, b));
  }
  return motion_total_256 (_mm256_add_epi32 (
      _mm512_castsi512_si256 (sum), _mm512_extracti64x4_epi64 (sum, 1)));
#elif defined(MOTION_SIMD_256)
  __m256i s0 = _mm256_setzero_si256 (), s1 = s0;

  for (gint32 y = 0; y < h; y += 2, c += 2 * cstride, r += 2 * stride) {
    s0 = _mm256_add_epi32 (
        s0, _mm256_sad_epu8 (motion_load_256 (c), motion_load_256 (r)));
    s1 = _mm256_add_epi32 (s1, _mm256_sad_epu8 (motion_load_256 (c + cstride),
                                   motion_load_256 (r + stride)));
  }
  return motion_total_256 (_mm256_add_epi32 (s0, s1));
#else
  return motion_sad_16 (c, cstride, r, stride, h)
         + motion_sad_16 (c + 16, cstride, r + 16, stride, h);
#endif
}

/* The block's rows lie one after the other, from an address that 64 divides. */
static inline guint32
motion_sad_32_packed (const guint8 *c, const guint8 *r, gsize stride, gint32 h)
{
#if defined(MOTION_SIMD_512)
  __m512i sum = _mm512_setzero_si512 ();

  if (h != 32)
    return motion_sad_32 (c, 32, r, stride, h);
#pragma GCC unroll 16
  for (gint i = 0; i < 16; i++, c += 64, r += 2 * stride)
    sum = _mm512_add_epi32 (sum,
        _mm512_sad_epu8 (_mm512_load_si512 (c),
            _mm512_inserti64x4 (_mm512_castsi256_si512 (motion_load_256 (r)),
                motion_load_256 (r + stride), 1)));
  return motion_total_256 (_mm256_add_epi32 (
      _mm512_castsi512_si256 (sum), _mm512_extracti64x4_epi64 (sum, 1)));
#else
  return motion_sad_32 (c, 32, r, stride, h);
#endif
}

static inline guint32
motion_sad_64 (
    const guint8 *c, gsize cstride, const guint8 *r, gsize stride, gint32 h)
{
#if defined(MOTION_SIMD_512)
  __m512i sum = _mm512_setzero_si512 ();

  for (gint32 y = 0; y < h; y++, c += cstride, r += stride)
    sum = _mm512_add_epi32 (
        sum, _mm512_sad_epu8 (_mm512_loadu_si512 (c), _mm512_loadu_si512 (r)));
  return motion_total_256 (_mm256_add_epi32 (
      _mm512_castsi512_si256 (sum), _mm512_extracti64x4_epi64 (sum, 1)));
#else
  return motion_sad_32 (c, cstride, r, stride, h)
         + motion_sad_32 (c + 32, cstride, r + 32, stride, h);
#endif
}

/* Less than 8 columns, @h even: whole words are read, but only their first @w
 * bytes count. */
static inline guint32
motion_sad_narrow (const guint8 *c, gsize cstride, const guint8 *r,
    gsize stride, gint32 w, gint32 h)
{
#if defined(MOTION_SIMD_128)
  __m128i mask =
      _mm_set1_epi64x ((gint64) ((G_GUINT64_CONSTANT (1) << 8 * w) - 1));
  __m128i sum = _mm_setzero_si128 ();

  for (gint32 y = 0; y < h; y += 2, c += 2 * cstride, r += 2 * stride)
    sum = _mm_add_epi32 (
        sum, _mm_sad_epu8 (_mm_and_si128 (motion_load_8x2 (c, cstride), mask),
                 _mm_and_si128 (motion_load_8x2 (r, stride), mask)));
  return motion_total_128 (sum);
#else
  return motion_sad_plain (c, cstride, r, stride, w, h);
#endif
}

/* Any block of the grid, partial ones too. */
static inline guint32
motion_sad (const guint8 *c, gsize cstride, const guint8 *r, gsize stride,
    gint32 w, gint32 h)
{
  gint32 even = h & ~1;
  guint32 sum = 0;

  if (h > even)
    sum = motion_sad_plain (c + cstride * (gsize) even, cstride,
        r + stride * (gsize) even, stride, w, 1);
  if (w == 32 && cstride == 32)
    return sum + motion_sad_32_packed (c, r, stride, even);
  if (w == 16 && cstride == 16)
    return sum + motion_sad_16_packed (c, r, stride, even);
  if (w & 64)
    return sum + motion_sad_64 (c, cstride, r, stride, even);
  if (w & 32) {
    sum += motion_sad_32 (c, cstride, r, stride, even);
    c += 32;
    r += 32;
  }
  if (w & 16) {
    sum += motion_sad_16 (c, cstride, r, stride, even);
    c += 16;
    r += 16;
  }
  if (w & 8) {
    sum += motion_sad_8 (c, cstride, r, stride, even);
    c += 8;
    r += 8;
  }
  if (w & 7)
    sum += motion_sad_narrow (c, cstride, r, stride, w & 7, even);
  return sum;
}

/* Sum over a square of @size samples each way. */
static inline guint32
motion_sum (const guint8 *p, gsize stride, gint32 size)
{
  static const guint8 zeros[16];

  if (size == 8)
    return motion_sad_8 (zeros, 0, p, stride, 8);
  if (size == 16)
    return motion_sad_16 (zeros, 0, p, stride, 16);
  return motion_sad_narrow (zeros, 0, p, stride, size, size);
}

/* --- SADs of 64 candidates side by side ---------------------------------------- */

#if defined(MOTION_SIMD_512)
/* _mm512_dbsad_epu8() of four samples of the block, all over one operand, and a
 * row of the reference gives, in each of the four parts of 16 bytes, the eight
 * sums of absolute differences at offsets 0 to 7 from its first (FIRST) or
 * second (NEXT) four bytes. */
#define MOTION_DBSAD_FIRST 0x94
#define MOTION_DBSAD_NEXT 0xe9

static inline __m512i
motion_broadcast_4 (const guint8 *p)
{
  gint32 word;

  memcpy (&word, p, 4);
  return _mm512_set1_epi32 (word);
}

/* Adds the 16-bit sums to the 32-bit ones of the same candidates. */
static inline void
motion_flush (guint32 *sads, __m512i even, __m512i odd)
{
  const __m512i low = _mm512_setr_epi64 (0, 1, 8, 9, 2, 3, 10, 11);
  const __m512i high = _mm512_setr_epi64 (4, 5, 12, 13, 6, 7, 14, 15);
  __m512i a = _mm512_permutex2var_epi64 (even, low, odd);
  __m512i b = _mm512_permutex2var_epi64 (even, high, odd);
  __m512i *to = (__m512i *) (gpointer) sads;

  to[0] = _mm512_add_epi32 (
      to[0], _mm512_cvtepu16_epi32 (_mm512_castsi512_si256 (a)));
  to[1] = _mm512_add_epi32 (
      to[1], _mm512_cvtepu16_epi32 (_mm512_extracti64x4_epi64 (a, 1)));
  to[2] = _mm512_add_epi32 (
      to[2], _mm512_cvtepu16_epi32 (_mm512_castsi512_si256 (b)));
  to[3] = _mm512_add_epi32 (
      to[3], _mm512_cvtepu16_epi32 (_mm512_extracti64x4_epi64 (b, 1)));
}

/* @rows rows, at most 256 / @w, so that 16 bits suffice. */
static inline __attribute__ ((always_inline)) void
motion_sads_strip (const guint8 *c, gsize cstride, const guint8 *r,
    gsize stride, gint32 w, gint32 rows, guint32 *sads)
{
  __m512i even = _mm512_setzero_si512 (), odd = even;

  for (gint32 y = 0; y < rows; y++, c += cstride, r += stride) {
    __m512i here = _mm512_loadu_si512 (r);
    gint32 x = 0;

    for (; x + 8 <= w; x += 8) {
      __m512i next = _mm512_loadu_si512 (r + x + 8);
      __m512i a = motion_broadcast_4 (c + x);
      __m512i b = motion_broadcast_4 (c + x + 4);

      even = _mm512_add_epi16 (
          even, _mm512_dbsad_epu8 (a, here, MOTION_DBSAD_FIRST));
      odd = _mm512_add_epi16 (
          odd, _mm512_dbsad_epu8 (a, next, MOTION_DBSAD_FIRST));
      even = _mm512_add_epi16 (
          even, _mm512_dbsad_epu8 (b, here, MOTION_DBSAD_NEXT));
      odd = _mm512_add_epi16 (
          odd, _mm512_dbsad_epu8 (b, next, MOTION_DBSAD_NEXT));
      here = next;
    }
    if (x < w) {
      __m512i next = _mm512_loadu_si512 (r + x + 8);
      __m512i a = motion_broadcast_4 (c + x);

      even = _mm512_add_epi16 (
          even, _mm512_dbsad_epu8 (a, here, MOTION_DBSAD_FIRST));
      odd = _mm512_add_epi16 (
          odd, _mm512_dbsad_epu8 (a, next, MOTION_DBSAD_FIRST));
    }
  }
  motion_flush (sads, even, odd);
}

static inline __attribute__ ((always_inline)) void
motion_sads_strips (const guint8 *c, gsize cstride, const guint8 *r,
    gsize stride, gint32 w, gint32 h, guint32 *sads)
{
  gint32 strip = 256 / w;

  memset (sads, 0, 64 * sizeof *sads);
  for (gint32 y = 0; y < h; y += strip)
    motion_sads_strip (c + cstride * (gsize) y, cstride, r + stride * (gsize) y,
        stride, w, MIN (strip, h - y), sads);
}
#endif

/* --- SADs of 4 candidates side by side ------------------------------------------- */

#if defined(MOTION_SIMD_256)
typedef __m256i MotionBytes;
#define BYTES_ADD(a, b) _mm256_add_epi32 (a, b)
#define BYTES_SAD(a, b) _mm256_sad_epu8 (a, b)

/* Of sums in the lower halves of 64 bits: their four totals. */
static inline __m128i
motion_total_4 (const MotionBytes sums[4])
{
  __m256i a = _mm256_or_si256 (sums[0], _mm256_slli_epi64 (sums[1], 32));
  __m256i b = _mm256_or_si256 (sums[2], _mm256_slli_epi64 (sums[3], 32));
  __m256i t = _mm256_add_epi32 (
      _mm256_unpacklo_epi64 (a, b), _mm256_unpackhi_epi64 (a, b));

  return _mm_add_epi32 (
      _mm256_castsi256_si128 (t), _mm256_extracti128_si256 (t, 1));
}

/* 32 samples of a row, or 16 of two. */
static inline __attribute__ ((always_inline)) MotionBytes
motion_load_bytes (const guint8 *p, gsize stride, gint32 w)
{
  if (w == 16)
    return _mm256_inserti128_si256 (
        _mm256_castsi128_si256 (motion_load_128 (p)),
        motion_load_128 (p + stride), 1);
  return motion_load_256 (p);
}

#define MOTION_BYTES 32
#elif defined(MOTION_SIMD_128)
typedef __m128i MotionBytes;
#define BYTES_ADD(a, b) _mm_add_epi32 (a, b)
#define BYTES_SAD(a, b) _mm_sad_epu8 (a, b)

static inline __m128i
motion_total_4 (const MotionBytes sums[4])
{
  __m128i a = _mm_or_si128 (sums[0], _mm_slli_epi64 (sums[1], 32));
  __m128i b = _mm_or_si128 (sums[2], _mm_slli_epi64 (sums[3], 32));

  return _mm_add_epi32 (_mm_unpacklo_epi64 (a, b), _mm_unpackhi_epi64 (a, b));
}

static inline MotionBytes
motion_load_bytes (const guint8 *p, gsize stride, gint32 w)
{
  return motion_load_128 (p);
}

#define MOTION_BYTES 16
#endif

#if defined(MOTION_BYTES)
/* Whether motion_sads_4() does blocks of that size. */
static inline gboolean
motion_fits_4 (gint32 w, gint32 h)
{
  return (w == 16 && h % 2 == 0) || w == 32 || w == 64;
}

static inline __attribute__ ((always_inline)) void
motion_sads_4_of (const guint8 *c, gsize cstride, const guint8 *r, gsize stride,
    gint32 w, gint32 h, guint32 *sads)
{
  gint32 rows = w < MOTION_BYTES ? 2 : 1; /* that a vector holds */
  MotionBytes sums[4] = { { 0 } };

  for (gint32 y = 0; y < h; y += rows) {
    for (gint32 x = 0; x < w; x += MOTION_BYTES) {
      MotionBytes own = motion_load_bytes (c + x, cstride, w);

      for (gint i = 0; i < 4; i++)
        sums[i] = BYTES_ADD (
            sums[i], BYTES_SAD (own, motion_load_bytes (r + x + i, stride, w)));
    }
    c += cstride * (gsize) rows;
    r += stride * (gsize) rows;
  }
  _mm_storeu_si128 ((__m128i *) (gpointer) sads, motion_total_4 (sums));
}

static inline void
motion_sads_4 (const guint8 *c, gsize cstride, const guint8 *r, gsize stride,
    gint32 w, gint32 h, guint32 *sads)
{
  if (w == 16)
    motion_sads_4_of (c, cstride, r, stride, 16, h, sads);
  else if (w == 32)
    motion_sads_4_of (c, cstride, r, stride, 32, h, sads);
  else
    motion_sads_4_of (c, cstride, r, stride, 64, h, sads);
}
#endif

#if defined(MOTION_BYTES)
#if defined(MOTION_SIMD_256)
#define BYTES_LOAD(p) motion_load_256 (p)
#define BYTES_SET_8(v) _mm256_set1_epi64x ((gint64) (v))
#define BYTES_AND(a, b) _mm256_and_si256 (a, b)
#define BYTES_PAIR(a, b) _mm256_or_si256 (a, _mm256_slli_epi64 (b, 32))
#define BYTES_LOW(a, b) _mm256_unpacklo_epi64 (a, b)
#define BYTES_HIGH(a, b) _mm256_unpackhi_epi64 (a, b)
#else
#define BYTES_LOAD(p) motion_load_128 (p)
#define BYTES_SET_8(v) _mm_set1_epi64x ((gint64) (v))
#define BYTES_AND(a, b) _mm_and_si128 (a, b)
#define BYTES_PAIR(a, b) _mm_or_si128 (a, _mm_slli_epi64 (b, 32))
#define BYTES_LOW(a, b) _mm_unpacklo_epi64 (a, b)
#define BYTES_HIGH(a, b) _mm_unpackhi_epi64 (a, b)
#endif

/* Parts of 16 bytes of the eight vectors @sums. Vector i has in its number k of
 * 8 bytes the SAD of candidate 8 k + i. */
static inline void
motion_store_sads (const MotionBytes sums[8], guint32 *sads)
{
  for (gint i = 0; i < 8; i += 4) {
    MotionBytes first = BYTES_PAIR (sums[i], sums[i + 1]);
    MotionBytes next = BYTES_PAIR (sums[i + 2], sums[i + 3]);
    MotionBytes parts[2] = { BYTES_LOW (first, next),
      BYTES_HIGH (first, next) };

    for (gint k = 0; k < MOTION_BYTES / 8; k++)
      memcpy (
          sads + 8 * k + i, (const guint8 *) &parts[k % 2] + k / 2 * 16, 16);
  }
}

/* Of MOTION_BYTES candidates side by side, blocks of 4 or 8 columns: a vector of
 * the reference has the row of each eighth of them. */
static inline __attribute__ ((always_inline)) void
motion_sads_narrow_of (const guint8 *c, gsize cstride, const guint8 *r,
    gsize stride, gint32 w, gint32 h, guint32 *sads)
{
  const MotionBytes mask = BYTES_SET_8 (G_MAXUINT64 >> (64 - 8 * w));
  MotionBytes sums[8] = { { 0 } };

  for (gint32 y = 0; y < h; y++, c += cstride, r += stride) {
    guint64 row = 0;
    MotionBytes own;

    memcpy (&row, c, (gsize) w);
    own = BYTES_SET_8 (row);
    for (gint i = 0; i < 8; i++) {
      MotionBytes other = BYTES_LOAD (r + i);

      if (w < 8)
        other = BYTES_AND (other, mask);
      sums[i] = BYTES_ADD (sums[i], BYTES_SAD (own, other));
    }
  }
  motion_store_sads (sums, sads);
}

static inline void
motion_sads_narrow (const guint8 *c, gsize cstride, const guint8 *r,
    gsize stride, gint32 w, gint32 h, guint32 *sads)
{
  if (w == 8)
    motion_sads_narrow_of (c, cstride, r, stride, 8, h, sads);
  else
    motion_sads_narrow_of (c, cstride, r, stride, 4, h, sads);
}
#endif

/* Candidates of 64 from which on motion_sads() is quicker than one after the
 * other. */
#if defined(MOTION_SIMD_512)
#define MOTION_SADS_PAYS 16
#else
#define MOTION_SADS_PAYS 32
#endif

/* SADs of the candidates at @r, @r + 1, ... whose bits in @which are set; the
 * others' are left undefined. May read 136 bytes behind the block's rows. */
static inline void
motion_sads (const guint8 *c, gsize cstride, const guint8 *r, gsize stride,
    gint32 w, gint32 h, guint64 which, guint32 *sads)
{
#if defined(MOTION_SIMD_512)
  if (w % 4 == 0 && __builtin_popcountll (which) >= MOTION_SADS_PAYS) {
    if (w == 32)
      motion_sads_strips (c, cstride, r, stride, 32, h, sads);
    else if (w == 16)
      motion_sads_strips (c, cstride, r, stride, 16, h, sads);
    else
      motion_sads_strips (c, cstride, r, stride, w, h, sads);
    return;
  }
#endif
#if defined(MOTION_BYTES)
  if (motion_fits_4 (w, h)) {
    for (gint i = 0; i < 64; i += 4)
      if (which >> i & 15)
        motion_sads_4 (c, cstride, r + i, stride, w, h, sads + i);
    return;
  }
  if (w == 8 || w == 4) {
    const guint64 all = G_MAXUINT64 >> (64 - MOTION_BYTES);

    for (gint i = 0; i < 64; i += MOTION_BYTES) {
      if (__builtin_popcountll (which >> i & all) < MOTION_BYTES / 4)
        continue;
      motion_sads_narrow (c, cstride, r + i, stride, w, h, sads + i);
      which &= ~(all << i);
    }
  }
#endif
  for (; which; which &= which - 1) {
    gint i = __builtin_ctzll (which);

    sads[i] = motion_sad (c, cstride, r + i, stride, w, h);
  }
}

/* Bit i: @sads[i] + @bits[i] <= @limit. All 64 of both can be read. */
static inline guint64
motion_at_most (const guint32 *sads, const guint16 *bits, guint32 limit)
{
  guint64 mask = 0;
#if defined(MOTION_SIMD_512)
  for (gint i = 0; i < 64; i += 16) {
    __m512i sum = _mm512_add_epi32 (_mm512_load_si512 (sads + i),
        _mm512_cvtepu16_epi32 (
            _mm256_loadu_si256 ((const __m256i *) (gconstpointer) (bits + i))));

    mask |= (guint64) _mm512_cmple_epu32_mask (
                sum, _mm512_set1_epi32 ((gint) limit))
            << i;
  }
#else
  for (gint i = 0; i < 64; i++)
    mask |= (guint64) (sads[i] + bits[i] <= limit) << i;
#endif
  return mask;
}

/* --- bounds of candidates side by side --------------------------------------
 *
 * WORDS_NEAR (a, b) is |a - b|, or less where that is above 32,768: a bound all
 * the same. */

#if defined(MOTION_SIMD_512)
typedef __m512i MotionWords;
#define MOTION_WORDS 32
#define WORDS_LOAD(p) _mm512_loadu_si512 (p)
#define WORDS_STORE(p, a) _mm512_storeu_si512 (p, a)
#define WORDS_ADD(a, b) _mm512_add_epi16 (a, b)
#define WORDS_SET(v) _mm512_set1_epi16 ((gint16) (v))
#define WORDS_SUBS(a, b) _mm512_subs_epu16 (a, b)
#define WORDS_ADDS(a, b) _mm512_adds_epu16 (a, b)
#define WORDS_SHIFT(a, n) _mm512_srl_epi16 (a, _mm_cvtsi32_si128 (n))
#define WORDS_SUB(a, b) _mm512_sub_epi16 (a, b)
#define WORDS_NEAR(a, b) _mm512_abs_epi16 (_mm512_sub_epi16 (a, b))
#define WORDS_LE(a, b) ((guint64) _mm512_cmple_epu16_mask (a, b))
#elif defined(MOTION_SIMD_256)
typedef __m256i MotionWords;
#define MOTION_WORDS 16
#define WORDS_LOAD(p) _mm256_loadu_si256 ((const __m256i *) (gconstpointer) (p))
#define WORDS_STORE(p, a) _mm256_storeu_si256 ((__m256i *) (gpointer) (p), a)
#define WORDS_ADD(a, b) _mm256_add_epi16 (a, b)
#define WORDS_SET(v) _mm256_set1_epi16 ((gint16) (v))
#define WORDS_SUBS(a, b) _mm256_subs_epu16 (a, b)
#define WORDS_ADDS(a, b) _mm256_adds_epu16 (a, b)
#define WORDS_SHIFT(a, n) _mm256_srl_epi16 (a, _mm_cvtsi32_si128 (n))
#define WORDS_SUB(a, b) _mm256_sub_epi16 (a, b)
#define WORDS_NEAR(a, b) _mm256_abs_epi16 (_mm256_sub_epi16 (a, b))
#define WORDS_LE(a, b) motion_words_le (a, b)

static inline guint64
motion_words_le (MotionWords a, MotionWords b)
{
  __m256i zero = _mm256_setzero_si256 ();
  __m256i le = _mm256_cmpeq_epi16 (_mm256_subs_epu16 (a, b), zero);

  return (guint32) _mm_movemask_epi8 (_mm_packs_epi16 (
      _mm256_castsi256_si128 (le), _mm256_extracti128_si256 (le, 1)));
}
#elif defined(MOTION_SIMD_128)
typedef __m128i MotionWords;
#define MOTION_WORDS 8
#define WORDS_LOAD(p) _mm_loadu_si128 ((const __m128i *) (gconstpointer) (p))
#define WORDS_STORE(p, a) _mm_storeu_si128 ((__m128i *) (gpointer) (p), a)
#define WORDS_ADD(a, b) _mm_add_epi16 (a, b)
#define WORDS_SET(v) _mm_set1_epi16 ((gint16) (v))
#define WORDS_SUBS(a, b) _mm_subs_epu16 (a, b)
#define WORDS_ADDS(a, b) _mm_adds_epu16 (a, b)
#define WORDS_SHIFT(a, n) _mm_srl_epi16 (a, _mm_cvtsi32_si128 (n))
#define WORDS_SUB(a, b) _mm_sub_epi16 (a, b)
#define WORDS_NEAR(a, b)                                                       \
  _mm_or_si128 (_mm_subs_epu16 (a, b), _mm_subs_epu16 (b, a))
#define WORDS_LE(a, b) motion_words_le (a, b)

static inline guint64
motion_words_le (MotionWords a, MotionWords b)
{
  __m128i zero = _mm_setzero_si128 ();
  __m128i le = _mm_cmpeq_epi16 (_mm_subs_epu16 (a, b), zero);

  return (guint32) _mm_movemask_epi8 (_mm_packs_epi16 (le, zero));
}
#else
/* one lane */
typedef guint32 MotionWords;
#define MOTION_WORDS 1
#define WORDS_LOAD(p) ((guint32) * (p))
#define WORDS_STORE(p, a) (*(p) = (guint16) (a))
#define WORDS_ADD(a, b) (((a) + (b)) & 65535)
#define WORDS_SET(v) ((guint32) (v) &65535)
#define WORDS_SUBS(a, b) ((a) > (b) ? (a) - (b) : 0)
#define WORDS_ADDS(a, b) MIN ((a) + (b), 65535)
#define WORDS_SHIFT(a, n) ((a) >> (n))
#define WORDS_SUB(a, b) (((a) - (b)) & 65535)
#define WORDS_NEAR(a, b) ((a) > (b) ? (a) - (b) : (b) - (a))
#define WORDS_LE(a, b) ((guint64) ((a) <= (b)))
#endif

/* Candidates side by side that are compared at once */
#define MOTION_GROUP 32

/* A level of the elimination for one block: the sums of its @n squares, and
 * where a candidate's lie from its first sample on. */
typedef struct {
  const guint16 *sums; /* of the reference, at the block's place */
  guint n;
  guint unit, slack;
  gssize offsets[MOTION_CPU_MAX_SUMS];
  MotionWords own[MOTION_CPU_MAX_SUMS]; /* each in all of a vector */
} MotionCpuBound;

/* A bound by one sum, set up for a row of candidates without bits. */
typedef struct {
  MotionWords low, width; /* a sum that rules nothing out: low..low + width */
} MotionCpuBand;

static inline MotionCpuBand
motion_band (const MotionCpuBound *bound, guint32 limit)
{
  guint32 half = (limit >> bound->unit) + bound->slack;

  /* what lies much further away may seem to be near, not the other way round */
  return (MotionCpuBand){ WORDS_SUB (bound->own[0], WORDS_SET (half)),
    WORDS_SET (half > 32767 ? 65535 : 2 * half) };
}

/* Of the candidates @which at @at, @at + 1, ... those within @band. */
static inline guint32
motion_within (const MotionCpuBand *band, const guint16 *at, guint32 which)
{
  guint64 left = 0;

  for (gint i = 0; i < MOTION_GROUP; i += MOTION_WORDS)
    left |= WORDS_LE (WORDS_SUB (WORDS_LOAD (at + i), band->low), band->width)
            << i;
  return (guint32) left & which;
}

/* Of the candidates @which at @at, @at + 1, ... those whose @bound, of @n
 * sums, does not show that SAD + bits > @limit. @bits: %NULL: none */
static inline __attribute__ ((always_inline)) guint32
motion_survivors (const MotionCpuBound *bound, guint n, const guint16 *at,
    const guint16 *bits, guint32 limit, guint32 which)
{
  guint32 scaled = MIN (limit >> bound->unit, 65535); /* sums stop there */
  MotionWords slack = WORDS_SET (bound->slack);
  guint64 left = 0;

  for (gint i = 0; i < MOTION_GROUP; i += MOTION_WORDS) {
    MotionWords sum = WORDS_SET (0);
    MotionWords most = WORDS_SET (scaled);

    for (guint k = 0; k < n; k++) {
      MotionWords other = WORDS_LOAD (at + bound->offsets[k] + i);
      MotionWords far = WORDS_NEAR (other, bound->own[k]);

      sum = WORDS_ADDS (sum, bound->slack ? WORDS_SUBS (far, slack) : far);
    }
    /* rounded so that no candidate within the limit is ruled out */
    if (bits && scaled < 65535)
      most = WORDS_SUBS (
          most, WORDS_SHIFT (WORDS_LOAD (bits + i), (gint) bound->unit));
    left |= WORDS_LE (sum, most) << i;
  }
  return (guint32) left & which;
}
