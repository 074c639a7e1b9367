/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The passes of the regularised field on the CPU. docs/design/motion.md has the
 * definitions, tests/reference/motionfield.c the same without any trick. */
#include "cuda/motion/cpu/field.h"

#include <string.h>

#include "cuda/motion/cpu/search.h"

#define MAX_CANDIDATES 32
#define MAX_WIDE 8 /* vectors whose costs are computed at once */

typedef MotionFieldVector Vector;
typedef MotionFieldWindow Window;

static const gint8 neighbours[8][2] = { { -1, -1 }, { 0, -1 }, { 1, -1 },
  { -1, 0 }, { 1, 0 }, { -1, 1 }, { 0, 1 }, { 1, 1 } };

/* --- pictures ------------------------------------------------------------------ */

static void
field_reduce_rows (
    MotionCpuFieldPicture *picture, guint level, gint32 first, gint32 n)
{
  const MotionCpuPlane *below = &picture->levels[level - 1];
  const MotionCpuPlane *plane = &picture->levels[level];

  for (gint32 y = first; y < first + n; y++) {
    const guint8 *a = below->samples + below->stride * 2 * y;
    const guint8 *b = a + below->stride;
    guint8 *to = plane->samples + plane->stride * y;

    for (gint32 x = 0; x < plane->width; x++)
      to[x] = (guint8) ((a[2 * x] + a[2 * x + 1] + b[2 * x] + b[2 * x + 1] + 2)
                        >> 2);
    memset (to - plane->border, to[0], (gsize) plane->border);
    memset (to + plane->width, to[plane->width - 1], (gsize) plane->border);
  }
}

static inline guint8
field_clip (gint32 value)
{
  return (guint8) (value < 0 ? 0 : value > 255 ? 255 : value);
}

/* The six taps across for samples 0 to @n - 1. */
static void
field_tap_row (const guint8 *p, gint16 *to, gint32 n)
{
  for (gint32 x = 0; x < n; x++)
    to[x] = (gint16) (p[x - 2] + p[x + 3] - 5 * (p[x - 1] + p[x + 2])
                      + 20 * (p[x] + p[x + 1]));
}

static void
field_half_row (const guint8 *p, gssize stride, const gint16 *const *taps,
    guint8 *right, guint8 *down, guint8 *centre, gint32 n)
{
  const gint16 *t0 = taps[0], *t1 = taps[1], *t2 = taps[2], *t3 = taps[3];
  const gint16 *t4 = taps[4], *t5 = taps[5];

  for (gint32 x = 0; x < n; x++)
    right[x] = field_clip ((t2[x] + 16) >> 5);
  for (gint32 x = 0; x < n; x++)
    down[x] = field_clip ((gint16) (p[x - 2 * stride] + p[x + 3 * stride]
                                    - 5 * (p[x - stride] + p[x + 2 * stride])
                                    + 20 * (p[x] + p[x + stride]) + 16)
                          >> 5);
  for (gint32 x = 0; x < n; x++)
    centre[x] = field_clip (
        (t0[x] + t5[x] - 5 * (t1[x] + t4[x]) + 20 * (t2[x] + t3[x]) + 512)
        >> 10);
}

static void
field_halve_rows (MotionCpuFieldPicture *picture, gint32 first, gint32 n)
{
  const MotionCpuPlane *plane = &picture->levels[0];
  gint32 border = plane->border, width = plane->width + 2 * border;
  gssize stride = plane->stride;
  gint16 *memory = g_new (gint16, 6 * (gsize) width), *taps[6];

  for (gint32 i = 0; i < 6; i++)
    taps[i] = memory + (gsize) i * (gsize) width;
  for (gint32 k = -5; k < n; k++) {
    gssize at = stride * (first - border + k) - border;
    gint16 *free_row = taps[0];

    /* taps[5] becomes that of the row three below */
    memmove (taps, taps + 1, 5 * sizeof *taps);
    taps[5] = free_row;
    field_tap_row (plane->samples + at + 3 * stride, taps[5], width);
    if (k >= 0)
      field_half_row (plane->samples + at, stride, (const gint16 *const *) taps,
          picture->halves[1] + at, picture->halves[2] + at,
          picture->halves[3] + at, width);
  }
  g_free (memory);
}

static void
field_survey_row (const guint8 *p, gint32 width, guint8 *least, guint8 *most,
    guint8 *columns_least, guint8 *columns_most)
{
  guint8 low = 255, high = 0;

  for (gint32 x = 0; x < width; x++) {
    low = MIN (low, p[x]);
    high = MAX (high, p[x]);
  }
  for (gint32 x = 0; x < width; x++)
    columns_least[x] = MIN (columns_least[x], p[x]);
  for (gint32 x = 0; x < width; x++)
    columns_most[x] = MAX (columns_most[x], p[x]);
  *least = low;
  *most = high;
}

/* @p: the first sample of a square */
static gint32
field_measure_square (const guint8 *p, gssize stride)
{
  const gint32 size = MOTION_FIELD_NOISE_BLOCK;
  /* also of the first and the last column, which do not count */
  gint16 across[MOTION_FIELD_NOISE_BLOCK][MOTION_FIELD_NOISE_BLOCK];
  guint16 sums[MOTION_FIELD_NOISE_BLOCK] = { 0 };
  guint8 lows[MOTION_FIELD_NOISE_BLOCK], highs[MOTION_FIELD_NOISE_BLOCK];
  guint8 least = 255, most = 0;
  gint32 sum = 0;

  memset (lows, 255, sizeof lows);
  memset (highs, 0, sizeof highs);

  for (gint32 y = 0; y < size; y++) {
    const guint8 *row = p + stride * y;

    for (gint32 x = 0; x < size; x++) {
      lows[x] = MIN (lows[x], row[x]);
      highs[x] = MAX (highs[x], row[x]);
    }
    for (gint32 x = 0; x < size; x++)
      across[y][x] = (gint16) (row[x - 1] - 2 * row[x] + row[x + 1]);
  }
  for (gint32 x = 0; x < size; x++) {
    least = MIN (least, lows[x]);
    most = MAX (most, highs[x]);
  }
  if (least == 0 || most == 255 || least == most)
    return -1;
  for (gint32 y = 1; y < size - 1; y++) {
    for (gint32 x = 0; x < size; x++) {
      gint16 laplacian =
          (gint16) (across[y - 1][x] - 2 * across[y][x] + across[y + 1][x]);

      sums[x] = (guint16) (sums[x] + ABS (laplacian));
    }
  }
  for (gint32 x = 1; x < size - 1; x++)
    sum += sums[x];
  return motion_field_noise (sum);
}

static void
field_survey_strips (MotionCpuFieldPicture *picture, gint32 first, gint32 n)
{
  const MotionCpuPlane *plane = &picture->levels[0];
  const gint32 size = MOTION_CPU_STRIP;
  gint32 squares = plane->width / size;

  for (gint32 i = first; i < first + n; i++) {
    const guint8 *p = plane->samples + plane->stride * size * i;
    guint8 *least = picture->strip_least + (gsize) plane->width * (gsize) i;
    guint8 *most = picture->strip_most + (gsize) plane->width * (gsize) i;
    gint32 rows = MIN (size, plane->height - size * i);

    memset (least, 255, (gsize) plane->width);
    memset (most, 0, (gsize) plane->width);
    for (gint32 y = 0; y < rows; y++)
      field_survey_row (p + plane->stride * y, plane->width,
          &picture->row_least[size * i + y], &picture->row_most[size * i + y],
          least, most);
    for (gint32 x = 0; rows == size && x < squares; x++)
      picture->squares[squares * i + x] =
          field_measure_square (p + size * x, plane->stride);
  }
}

static void
field_light_rows (
    MotionCpuField *field, const guint8 *table, gint32 first, gint32 n)
{
  const MotionCpuPlane *plane = &field->current->levels[0];

  for (gint32 y = first; y < first + n; y++)
    for (gint32 x = 0; x < plane->width; x++)
      field->lit_memory[(gssize) plane->width * y + x] =
          table[plane->samples[plane->stride * y + x]];
}

/* --- the data cost ------------------------------------------------------------- */

/* Sum of |c - mean of a and b, rounded up|. */
static inline guint32
field_sad_plain (const guint8 *c, gssize cstride, const guint8 *a,
    const guint8 *b, gssize stride, gint32 w, gint32 h)
{
  guint32 sum = 0;

  for (gint32 y = 0; y < h; y++, c += cstride, a += stride, b += stride)
    for (gint32 x = 0; x < w; x++)
      sum += (guint32) ABS (c[x] - ((a[x] + b[x] + 1) >> 1));
  return sum;
}

#if defined(MOTION_SIMD_128)
/* @w: a multiple of 16 */
static inline guint32
field_sad_16 (const guint8 *c, gssize cstride, const guint8 *a, const guint8 *b,
    gssize stride, gint32 w, gint32 h)
{
  __m128i sum = _mm_setzero_si128 ();

  for (gint32 y = 0; y < h; y++, c += cstride, a += stride, b += stride)
    for (gint32 x = 0; x < w; x += 16)
      sum = _mm_add_epi32 (sum,
          _mm_sad_epu8 (motion_load_128 (c + x),
              _mm_avg_epu8 (motion_load_128 (a + x), motion_load_128 (b + x))));
  return motion_total_128 (sum);
}
#endif

#if defined(MOTION_SIMD_256)
/* 16 x 16 samples, two rows at a time. */
static inline guint32
field_sad_16x16 (const guint8 *c, gssize cstride, const guint8 *a,
    const guint8 *b, gssize stride)
{
  __m256i sum = _mm256_setzero_si256 ();

#pragma GCC unroll 8
  for (gint i = 0; i < 8; i++) {
    __m256i mean = _mm256_avg_epu8 (motion_load_16x2 (a, (gsize) stride),
        motion_load_16x2 (b, (gsize) stride));

    sum = _mm256_add_epi32 (
        sum, _mm256_sad_epu8 (motion_load_16x2 (c, (gsize) cstride), mean));
    c += 2 * cstride;
    a += 2 * stride;
    b += 2 * stride;
  }
  return motion_total_256 (sum);
}
#endif

static inline guint32
field_sad (const guint8 *c, gssize cstride, const guint8 *a, const guint8 *b,
    gssize stride, gint32 w, gint32 h)
{
#if defined(MOTION_SIMD_256)
  if (w == 16 && h == 16)
    return field_sad_16x16 (c, cstride, a, b, stride);
#endif
#if defined(MOTION_SIMD_128)
  if (w == 16)
    return field_sad_16 (c, cstride, a, b, stride, 16, h);
  if (w % 16 == 0)
    return field_sad_16 (c, cstride, a, b, stride, w, h);
#endif
  return field_sad_plain (c, cstride, a, b, stride, w, h);
}

/* The two samples whose mean lies (@qx, @qy) quarters from a pixel: the half plane of
 * each, and whether it is the next one to the right or below. H.264, 8.4.2.2.1. */
static const guint8 pairs[4][4][2][3] = {
  { { { 0, 0, 0 }, { 0, 0, 0 } }, { { 0, 0, 0 }, { 1, 0, 0 } },
      { { 1, 0, 0 }, { 1, 0, 0 } }, { { 1, 0, 0 }, { 0, 1, 0 } } },
  { { { 0, 0, 0 }, { 2, 0, 0 } }, { { 1, 0, 0 }, { 2, 0, 0 } },
      { { 1, 0, 0 }, { 3, 0, 0 } }, { { 1, 0, 0 }, { 2, 1, 0 } } },
  { { { 2, 0, 0 }, { 2, 0, 0 } }, { { 2, 0, 0 }, { 3, 0, 0 } },
      { { 3, 0, 0 }, { 3, 0, 0 } }, { { 3, 0, 0 }, { 2, 1, 0 } } },
  { { { 2, 0, 0 }, { 0, 0, 1 } }, { { 2, 0, 0 }, { 1, 0, 1 } },
      { { 3, 0, 0 }, { 1, 0, 1 } }, { { 2, 1, 0 }, { 1, 0, 1 } } },
};

/* The first sample of the block, and the two whose mean lies at a vector from it. */
typedef struct {
  const guint8 *c, *a, *b;
} Compared;

static inline Compared
field_find_samples (const MotionCpuField *f, Window win, Vector v)
{
  const MotionCpuFieldPicture *reference = f->reference;
  gssize stride = reference->levels[0].stride;
  const guint8 (*pair)[3] = pairs[v.y & 3][v.x & 3];
  gssize at = stride * (win.y + (v.y >> 2)) + win.x + (v.x >> 2);

  return (Compared){
    f->lit + f->lit_stride * win.y + win.x,
    reference->halves[pair[0][0]] + at + pair[0][1] + stride * pair[0][2],
    reference->halves[pair[1][0]] + at + pair[1][1] + stride * pair[1][2],
  };
}

static inline gint32
field_cost_0 (const MotionCpuField *f, Window win, Vector v)
{
  Compared p = field_find_samples (f, win, v);
  gint32 size = (gint32) f->config->block_size;
  guint32 sum = field_sad (p.c, f->lit_stride, p.a, p.b,
      f->reference->levels[0].stride, win.w, win.h);

  return (gint32) (sum * 256 / (guint32) (size * size));
}

/* With differences of at most @most levels. */
static gint32
field_cut_cost (const MotionCpuField *f, Window win, Vector v, gint32 most)
{
  Compared p = field_find_samples (f, win, v);
  gssize stride = f->reference->levels[0].stride;
  gint32 size = (gint32) f->config->block_size, sum = 0;

  for (gint32 y = 0; y < win.h; y++) {
    for (gint32 x = 0; x < win.w; x++)
      sum += MIN (ABS (p.c[x] - ((p.a[x] + p.b[x] + 1) >> 1)), most);
    p.c += f->lit_stride;
    p.a += stride;
    p.b += stride;
  }
  return sum * 256 / (size * size);
}

#if !defined(MOTION_SIMD_128)
/* Without the difference of the means. @n: samples */
static inline gint32
field_cost_plain (const guint8 *c, gssize cstride, const guint8 *r,
    gssize rstride, gint32 w, gint32 h, gint32 *mean)
{
  gint32 sum = 0;

  for (gint32 y = 0; y < h; y++)
    for (gint32 x = 0; x < w; x++)
      sum += c[cstride * y + x] - r[rstride * y + x];
  *mean = motion_field_mean (sum, w * h);
  sum = 0;
  for (gint32 y = 0; y < h; y++)
    for (gint32 x = 0; x < w; x++)
      sum += ABS (field_clip (c[cstride * y + x] - *mean) - r[rstride * y + x]);
  return sum;
}

#else
/* Without the difference of the means, of 8 x 8 samples. @part: (nullable): those that
 * count, from 0 to 7 */
static inline gint32
field_cost_8 (const guint8 *c, gssize cstride, const guint8 *r, gssize rstride,
    const Window *part, gint32 *mean)
{
  const __m128i zero = _mm_setzero_si128 ();
  __m128i own[4], other[4], mask[4], sum = zero, less, more;
  guint64 columns =
      part ? ~(guint64) 0 >> (64 - 8 * part->w) << 8 * part->x : 0;

  for (gint i = 0; i < 4; i++) {
    own[i] = motion_load_8x2 (c + 2 * i * cstride, (gsize) cstride);
    other[i] = motion_load_8x2 (r + 2 * i * rstride, (gsize) rstride);
    if (part) {
      gint top = part->y, bottom = part->y + part->h;

      mask[i] = _mm_set_epi64x (
          2 * i + 1 >= top && 2 * i + 1 < bottom ? (gint64) columns : 0,
          2 * i >= top && 2 * i < bottom ? (gint64) columns : 0);
      own[i] = _mm_and_si128 (own[i], mask[i]);
      other[i] = _mm_and_si128 (other[i], mask[i]);
    }
    sum = _mm_add_epi32 (sum, _mm_sub_epi32 (_mm_sad_epu8 (own[i], zero),
                                  _mm_sad_epu8 (other[i], zero)));
  }
  *mean = motion_field_mean (
      (gint32) motion_total_128 (sum), part ? part->w * part->h : 64);
  less = _mm_set1_epi8 ((gchar) MAX (*mean, 0));
  more = _mm_set1_epi8 ((gchar) MAX (-*mean, 0));
  sum = zero;
  for (gint i = 0; i < 4; i++) {
    __m128i moved = _mm_adds_epu8 (_mm_subs_epu8 (own[i], less), more);

    if (part)
      moved = _mm_and_si128 (moved, mask[i]);
    sum = _mm_add_epi32 (sum, _mm_sad_epu8 (moved, other[i]));
  }
  return (gint32) motion_total_128 (sum);
}
#endif

#if defined(MOTION_SIMD_512)
#define FIELD_WIDE 8
#define WIDE(name) _mm512_##name
#define WIDE_SET(v) _mm512_set1_epi64 (v)
#define WIDE_LOAD(p) _mm512_loadu_si512 (p)
#define WIDE_QUAD(p) _mm512_broadcast_i32x4 (motion_load_128 (p))
typedef __m512i Wide;
#elif defined(MOTION_SIMD_256)
#define FIELD_WIDE 4
#define WIDE(name) _mm256_##name
#define WIDE_SET(v) _mm256_set1_epi64x (v)
#define WIDE_LOAD(p) _mm256_loadu_si256 ((const __m256i *) (p))
#define WIDE_QUAD(p) _mm256_broadcastsi128_si256 (motion_load_128 (p))
typedef __m256i Wide;
#endif

#if defined(FIELD_WIDE)
/* Data costs of a whole block for FIELD_WIDE vectors, each a sample further to the
 * right, which do not leave the reference: one in each 64 bits. */
static inline void
field_costs_wide (const guint8 *c, gssize cstride, const guint8 *r,
    gssize rstride, gint32 *costs)
{
  static const guint8 places[64] = { 0, 1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6,
    7, 8, 2, 3, 4, 5, 6, 7, 8, 9, 3, 4, 5, 6, 7, 8, 9, 10, 4, 5, 6, 7, 8, 9, 10,
    11, 5, 6, 7, 8, 9, 10, 11, 12, 6, 7, 8, 9, 10, 11, 12, 13, 7, 8, 9, 10, 11,
    12, 13, 14 };
  static const guint8 first[64] = { [8] = 8,
    8,
    8,
    8,
    8,
    8,
    8,
    8,
    [24] = 8,
    8,
    8,
    8,
    8,
    8,
    8,
    8,
    [40] = 8,
    8,
    8,
    8,
    8,
    8,
    8,
    8,
    [56] = 8,
    8,
    8,
    8,
    8,
    8,
    8,
    8 };
  const Wide zero = WIDE_SET (0), place = WIDE_LOAD (places);
  Wide own[8], other[8], difference = zero, sum = zero, less, more;
  gint64 sums[FIELD_WIDE], means[FIELD_WIDE];

#pragma GCC unroll 8
  for (gint i = 0; i < 8; i++, c += cstride, r += rstride) {
    gint64 row;

    memcpy (&row, c, 8);
    own[i] = WIDE_SET (row);
    other[i] = WIDE (shuffle_epi8) (WIDE_QUAD (r), place);
    difference = WIDE (add_epi32) (
        difference, WIDE (sub_epi32) (WIDE (sad_epu8) (own[i], zero),
                        WIDE (sad_epu8) (other[i], zero)));
  }
  /* the rounded mean as motion_field_mean() has it, then in all eight bytes */
  less = WIDE (max_epi32) (difference, zero);
  more = WIDE (max_epi32) (WIDE (sub_epi32) (zero, difference), zero);
  less = WIDE (srli_epi32) (WIDE (add_epi32) (less, WIDE_SET (32)), 6);
  more = WIDE (srli_epi32) (WIDE (add_epi32) (more, WIDE_SET (32)), 6);
  difference = WIDE (add_epi32) (less, more);
  memcpy (means, &difference, sizeof means);
  less = WIDE (shuffle_epi8) (less, WIDE_LOAD (first));
  more = WIDE (shuffle_epi8) (more, WIDE_LOAD (first));
#pragma GCC unroll 8
  for (gint i = 0; i < 8; i++)
    sum = WIDE (add_epi32) (
        sum, WIDE (sad_epu8) (
                 WIDE (adds_epu8) (WIDE (subs_epu8) (own[i], less), more),
                 other[i]));
  memcpy (sums, &sum, sizeof sums);
  for (gint i = 0; i < FIELD_WIDE; i++)
    costs[i] =
        (gint32) sums[i] * 4 + motion_field_mean_cost ((gint32) means[i]);
}
#endif

static inline gint32
field_cost_above (const MotionCpuField *f, guint level, Window win, Vector v)
{
  const MotionCpuPlane *current = &f->current->levels[level];
  const MotionCpuPlane *reference = &f->reference->levels[level];
  const guint8 *c = current->samples + current->stride * win.y + win.x;
  const guint8 *r =
      reference->samples + reference->stride * (win.y + v.y) + win.x + v.x;
  const gint32 size = MOTION_FIELD_COARSE_BLOCK;
  gint32 n = win.w * win.h, mean, sum;
  gboolean inside = win.x + v.x >= 0 && win.y + v.y >= 0
                    && win.x + win.w + v.x <= reference->width
                    && win.y + win.h + v.y <= reference->height;
  Window part;

#if defined(MOTION_SIMD_128)
  if (inside && n == 64) {
    sum = field_cost_8 (c, current->stride, r, reference->stride, NULL, &mean);
    return sum * 256 / (size * size) + motion_field_mean_cost (mean);
  }
#endif
  part = inside ? win : motion_field_inside (f->config, level, win, v);
  part.x -= win.x;
  part.y -= win.y;
#if defined(MOTION_SIMD_128)
  sum = field_cost_8 (c, current->stride, r, reference->stride, &part, &mean);
#else
  sum = field_cost_plain (c + current->stride * part.y + part.x,
      current->stride, r + reference->stride * part.y + part.x,
      reference->stride, part.w, part.h, &mean);
#endif
  return (sum * 256 / (size * size) + motion_field_mean_cost (mean)) * n
         / (part.w * part.h);
}

static inline gint32
field_cost (const MotionCpuField *f, guint level, Window win, Vector v)
{
  return level == 0 ? field_cost_0 (f, win, v)
                    : field_cost_above (f, level, win, v);
}

/* Data costs of the vectors (@left to @right, @y) above level 0.
 * @costs: (out): with room for MAX_WIDE more */
static inline void
field_cost_row (const MotionCpuField *f, guint level, Window win, gint32 left,
    gint32 right, gint32 y, gint32 *costs)
{
  gint32 x = left;

#if defined(FIELD_WIDE)
  const MotionCpuPlane *current = &f->current->levels[level];
  const MotionCpuPlane *reference = &f->reference->levels[level];
  const guint8 *c = current->samples + current->stride * win.y + win.x;
  const guint8 *r =
      reference->samples + reference->stride * (win.y + y) + win.x;
  gint32 last = MIN (right, reference->width - 8 - win.x);

  if (win.w == 8 && win.h == 8 && win.y + y >= 0
      && win.y + y + 8 <= reference->height) {
    for (; x < -win.x && x <= right; x++)
      costs[x - left] = field_cost_above (f, level, win, (Vector){ x, y });
    for (; x <= last; x += FIELD_WIDE)
      field_costs_wide (
          c, current->stride, r + x, reference->stride, costs + x - left);
    x = MIN (x, MAX (last + 1, left));
  }
#endif
  for (; x <= right; x++)
    costs[x - left] = field_cost_above (f, level, win, (Vector){ x, y });
}

static Window
field_window (const MotionCpuField *f, gint32 column, gint32 row)
{
  return motion_field_window (f->config, &f->area, f->level, column, row);
}

/* --- known costs --------------------------------------------------------------- */

/* Both components of a vector in a word. */
static inline guint32
field_key (Vector v)
{
  return (guint32) (v.x & 0xffff) | (guint32) v.y << 16;
}

/* Where the cost of a vector is kept: vectors of a neighbourhood lie in different places
 * if they differ by multiples of the pass's step. */
static inline guint32
field_slot (guint32 key, guint shift)
{
  G_STATIC_ASSERT (MOTION_CPU_KNOWN == 32);
  return (key >> shift & 7) | (key >> (13 + shift) & 24);
}

/* The base-2 logarithm of the step: 1, 2 or 4. */
static inline guint
field_shift (const MotionCpuField *f)
{
  return (guint) f->step >> 1;
}

/* The data cost of block @i of @level. */
static inline gint32
field_known_cost (
    const MotionCpuField *f, guint level, gint32 i, Window win, Vector v)
{
  MotionCpuKnown *known = &f->known[i];
  guint32 key = field_key (v), slot = field_slot (key, field_shift (f));

  if (known->keys[slot] != key) {
    known->keys[slot] = key;
    known->costs[slot] = field_cost (f, level, win, v);
  }
  return known->costs[slot];
}

/* Costs of MAX_CANDIDATES vectors; -1: not known. */
static inline void
field_look_up (const MotionCpuKnown *known, const guint32 *keys, guint shift,
    gint32 *costs)
{
#if defined(MOTION_SIMD_512)
  __m512i keys0 = _mm512_loadu_si512 (known->keys);
  __m512i keys1 = _mm512_loadu_si512 (known->keys + 16);
  __m512i costs0 = _mm512_loadu_si512 (known->costs);
  __m512i costs1 = _mm512_loadu_si512 (known->costs + 16);

  for (gint i = 0; i < MAX_CANDIDATES; i += 16) {
    __m512i key = _mm512_loadu_si512 (keys + i);
    __m512i slot =
        _mm512_or_si512 (_mm512_and_si512 (_mm512_srli_epi32 (key, shift),
                             _mm512_set1_epi32 (7)),
            _mm512_and_si512 (
                _mm512_srli_epi32 (key, 13 + shift), _mm512_set1_epi32 (24)));
    __mmask16 found = _mm512_cmpeq_epi32_mask (
        key, _mm512_permutex2var_epi32 (keys0, slot, keys1));

    _mm512_storeu_si512 (
        costs + i, _mm512_mask_mov_epi32 (_mm512_set1_epi32 (-1), found,
                       _mm512_permutex2var_epi32 (costs0, slot, costs1)));
  }
#else
  for (gint i = 0; i < MAX_CANDIDATES; i++) {
    guint32 slot = field_slot (keys[i], shift);

    costs[i] = known->keys[slot] == keys[i] ? known->costs[slot] : -1;
  }
#endif
}

/* --- the coarsest level --------------------------------------------------------- */

static void
field_coarsest_costs (MotionCpuField *f, gint32 first, gint32 n)
{
  const MotionCpuGrid *grid = &f->grids[MOTION_FIELD_COARSEST];
  gint32 range = motion_field_range (f->config, MOTION_FIELD_COARSEST);
  gsize side = (gsize) (2 * range + 1);

  for (gint32 i = first * grid->columns; i < (first + n) * grid->columns; i++) {
    Window win = field_window (f, i % grid->columns, i / grid->columns);
    guint16 *costs = f->costs + (gsize) i * side * side;

    for (gint32 y = -range; y <= range; y++, costs += side) {
      gint32 row[2 * 16 + 1 + MAX_WIDE];

      field_cost_row (f, MOTION_FIELD_COARSEST, win, -range, range, y, row);
      for (gsize k = 0; k < side; k++)
        costs[k] = (guint16) row[k];
    }
  }
}

/* Distances of the vectors (-@range .. @range, @y) from the neighbours' vectors, each
 * at most MOTION_FIELD_REACH, summed. Some numbers behind them are overwritten. */
static void
field_add_distances (
    const Vector *near, gint32 n_near, gint32 range, gint32 y, gint32 *sums)
{
  gint32 n = (2 * range + 16) & ~15; /* whole vector registers */

  memset (sums, 0, (gsize) n * sizeof *sums);
  for (gint32 k = 0; k < n_near; k++) {
    gint32 dy = ABS (y - near[k].y), x = near[k].x + range;

    for (gint32 i = 0; i < n; i++)
      sums[i] += MIN (ABS (i - x) + dy, MOTION_FIELD_REACH);
  }
}

static Vector
field_choose_coarsest (const MotionCpuField *f, gint32 column, gint32 row)
{
  const MotionCpuGrid *grid = &f->grids[MOTION_FIELD_COARSEST];
  gint32 range = motion_field_range (f->config, MOTION_FIELD_COARSEST);
  gint32 lambda =
      motion_field_lambda (f->config, MOTION_FIELD_COARSEST, f->current->noise);
  gsize side = (gsize) (2 * range + 1);
  const guint16 *costs =
      f->costs + (gsize) (row * grid->columns + column) * side * side;
  gint32 sums[48], n_near = 0, least = G_MAXINT32, least_length = 0;
  Vector near[8], best = { 0, 0 };
  gfloat total;

  for (gint k = 0; k < 8; k++) {
    gint32 x = column + neighbours[k][0], y = row + neighbours[k][1];

    if (x >= 0 && y >= 0 && x < grid->columns && y < grid->rows)
      near[n_near++] = grid->from[y * grid->columns + x];
  }
  total = (gfloat) MAX (n_near, 1);
  for (gint32 y = -range; y <= range; y++, costs += side) {
    field_add_distances (near, n_near, range, y, sums);
    for (gint32 x = -range; x <= range; x++) {
      gint32 far = ABS (x - f->dominant.x) + ABS (y - f->dominant.y);
      gint32 rough = (gint32) ((gfloat) (sums[x + range] * 8) / total)
                     + MOTION_FIELD_EXPECTED * MIN (far, MOTION_FIELD_REACH);

      sums[x + range] =
          8 * costs[x + range] + lambda * rough
          + lambda * MOTION_FIELD_SHORT * (ABS (x) + ABS (y)) / 64;
    }
    for (gint32 x = -range; x <= range; x++) {
      gint32 cost = sums[x + range], length = x * x + y * y;

      if (cost > least)
        continue;
      if (cost < least || length < least_length) {
        least = cost;
        least_length = length;
        best = (Vector){ x, y };
      }
    }
  }
  return best;
}

static void
field_coarsest_rows (MotionCpuField *f, gint32 first, gint32 n)
{
  MotionCpuGrid *grid = &f->grids[MOTION_FIELD_COARSEST];

  for (gint32 row = first; row < first + n; row++)
    for (gint32 column = 0; column < grid->columns; column++)
      grid->vectors[row * grid->columns + column] =
          field_choose_coarsest (f, column, row);
}

/* --- a block and its candidates --------------------------------------------------- */

/* @near: vectors of the neighbours, @weight: their weights, 0 for a missing one
 * @x, @y: of the candidates */
typedef struct {
  const MotionCpuField *field;
  guint level;
  gint32 column, row, i;
  Window win;
  MotionRect rect;
  Vector own, expected;
  gint16 near_x[8], near_y[8], weight[8];
  gint32 total, lambda, most;
  gint16 x[MAX_CANDIDATES], y[MAX_CANDIDATES];
  gint n;
} Block;

static MotionRect
field_rect (const MotionCpuField *f, guint level, gint32 column, gint32 row)
{
  const MotionConfig *config = f->config;
  gint32 range = motion_field_range (config, level);
  gint32 size = (gint32) config->block_size;
  gint32 x = column * size, y = row * size;
  MotionRect r = { -range, range, -range, range };

  if (level > 0)
    return r;
  r = motion_candidates (config, x, y, MIN (size, (gint32) config->width - x),
      MIN (size, (gint32) config->height - y));
  return (MotionRect){ 4 * r.left, 4 * r.right, 4 * r.top, 4 * r.bottom };
}

static void
field_set_block (Block *b, const MotionCpuField *f, gint32 column, gint32 row)
{
  const MotionCpuGrid *grid = &f->grids[f->level];

  b->field = f;
  b->level = f->level;
  b->column = column;
  b->row = row;
  b->i = row * grid->columns + column;
  b->win = field_window (f, column, row);
  b->rect = field_rect (f, f->level, column, row);
  b->own = grid->from[b->i];
  b->expected = f->weighted ? grid->expected[b->i] : grid->inherited[b->i];
  b->lambda = motion_field_lambda (f->config, f->level, f->current->noise);
  b->most = MOTION_FIELD_REACH * motion_field_unit (f->level);
  b->total = 0;
  b->n = 0;
  for (gint k = 0; k < 8; k++) {
    gint32 x = column + neighbours[k][0], y = row + neighbours[k][1];
    gint32 i = y * grid->columns + x;

    b->near_x[k] = b->near_y[k] = b->weight[k] = 0;
    if (x < 0 || y < 0 || x >= grid->columns || y >= grid->rows)
      continue;
    b->near_x[k] = (gint16) grid->from[i].x;
    b->near_y[k] = (gint16) grid->from[i].y;
    b->weight[k] =
        (gint16) (f->weighted ? MOTION_FIELD_WEIGHT_MIN + grid->weights[i] : 1);
    b->total += b->weight[k];
  }
}

/* R + 2 D of the candidates. The sum of eight distances of at most 32 with weights of at
 * most 66 fits in 16 bits. The quotient of two numbers below 2^24 as floats, cut off, is
 * the integer quotient. */
static inline void
field_find_rough (const Block *b, gint32 *rough)
{
  gint16 sums[MAX_CANDIDATES] = { 0 }, expected[MAX_CANDIDATES];
  gint16 most = (gint16) b->most;
  gfloat total = (gfloat) MAX (b->total, 1);

  for (gint k = 0; k < 8; k++) {
    gint16 x = b->near_x[k], y = b->near_y[k], weight = b->weight[k];

    for (gint i = 0; i < MAX_CANDIDATES; i++) {
      gint16 dx = (gint16) (b->x[i] - x), dy = (gint16) (b->y[i] - y);
      gint16 d = (gint16) (ABS (dx) + ABS (dy));

      sums[i] = (gint16) (sums[i] + weight * MIN (d, most));
    }
  }
  for (gint i = 0; i < MAX_CANDIDATES; i++) {
    gint16 dx = (gint16) (b->x[i] - b->expected.x);
    gint16 dy = (gint16) (b->y[i] - b->expected.y);
    gint16 d = (gint16) (ABS (dx) + ABS (dy));

    expected[i] = MIN (d, most);
  }
  for (gint i = 0; i < MAX_CANDIDATES; i++)
    rough[i] = (gint32) ((gfloat) (sums[i] * 8) / total)
               + MOTION_FIELD_EXPECTED * expected[i];
}

static inline void
field_list (Block *b, Vector v)
{
  b->x[b->n] = (gint16) v.x;
  b->y[b->n++] = (gint16) v.y;
}

static Vector
field_inherited (const MotionCpuField *f, guint level, gint32 column,
    gint32 row, gint32 dx, gint32 dy)
{
  const MotionCpuGrid *above = &f->grids[level + 1];
  gint32 size = motion_field_block (f->config, level);
  gint32 unit = 2 * motion_field_unit (level);
  gint32 x = (column * size + size / 2 + dx * size) / 2;
  gint32 y = (row * size + size / 2 + dy * size) / 2;
  Vector v;

  x = motion_clamp (x / MOTION_FIELD_COARSE_BLOCK, 0, above->columns - 1);
  y = motion_clamp (y / MOTION_FIELD_COARSE_BLOCK, 0, above->rows - 1);
  v = above->vectors[y * above->columns + x];
  return (Vector){ v.x * unit, v.y * unit };
}

static void
field_list_all (Block *b)
{
  const MotionCpuField *f = b->field;
  const MotionCpuGrid *grid = &f->grids[b->level];

  field_list (b, b->own);
  for (gint k = 0; k < 8; k++)
    if (b->weight[k] > 0)
      field_list (b, (Vector){ b->near_x[k], b->near_y[k] });
  field_list (b, (Vector){ 0, 0 });
  field_list (b, f->dominant);
  field_list (b, grid->inherited[b->i]);
  if (f->weighted)
    field_list (b, b->expected);
  for (gint k = 0; k < 8 && f->pass == 0; k++)
    field_list (b, field_inherited (f, b->level, b->column, b->row,
                       neighbours[k][0], neighbours[k][1]));
  for (gint k = 0; k < 8; k++)
    field_list (b, (Vector){ b->own.x + neighbours[k][0] * f->step,
                       b->own.y + neighbours[k][1] * f->step });
}

/* Bit i is set if @a[i] is less than @limit. */
static inline guint32
field_find_less (const gint32 *a, gint32 limit)
{
  guint32 found = 0;

#if defined(MOTION_SIMD_512)
  __m512i most = _mm512_set1_epi32 (limit);

  for (gint i = 0; i < 2; i++)
    found |= (guint32) _mm512_cmplt_epi32_mask (
                 _mm512_loadu_si512 (a + 16 * i), most)
             << 16 * i;
#elif defined(MOTION_SIMD_256)
  __m256i most = _mm256_set1_epi32 (limit);

  for (gint i = 0; i < 4; i++)
    found |=
        (guint32) _mm256_movemask_ps (_mm256_castsi256_ps (_mm256_cmpgt_epi32 (
            most, motion_load_256 ((const guint8 *) (a + 8 * i)))))
        << 8 * i;
#else
  for (gint i = 0; i < MAX_CANDIDATES; i++)
    found |= (guint32) (a[i] < limit) << i;
#endif
  return found;
}

/* Bit i is set if @a[i] is @value. */
static inline guint32
field_find_equal (const guint32 *a, guint32 value)
{
  guint32 found = 0;

#if defined(MOTION_SIMD_512)
  __m512i wanted = _mm512_set1_epi32 ((gint32) value);

  for (gint i = 0; i < 2; i++)
    found |= (guint32) _mm512_cmpeq_epi32_mask (
                 _mm512_loadu_si512 (a + 16 * i), wanted)
             << 16 * i;
#elif defined(MOTION_SIMD_256)
  __m256i wanted = _mm256_set1_epi32 ((gint32) value);

  for (gint i = 0; i < 4; i++)
    found |=
        (guint32) _mm256_movemask_ps (_mm256_castsi256_ps (_mm256_cmpeq_epi32 (
            wanted, motion_load_256 ((const guint8 *) (a + 8 * i)))))
        << 8 * i;
#else
  for (gint i = 0; i < MAX_CANDIDATES; i++)
    found |= (guint32) (a[i] == value) << i;
#endif
  return found;
}

/* Total costs have the number of the candidate in the lower five bits, so that the least
 * is the first of equals. Known data costs are compared at once. Of the other
 * candidates, those are left out whose distances alone cost as much as the best so far;
 * only the zero vector may still win, if it is exact. */
static inline __attribute__ ((always_inline)) Vector
field_choose (Block *b, guint level)
{
  MotionCpuKnown *known = &b->field->known[b->i];
  const guint shift = field_shift (b->field);
  gint32 least = G_MAXINT32, data[MAX_CANDIDATES];
  gint32 roughs[MAX_CANDIDATES], bounds[MAX_CANDIDATES];
  gint32 totals[MAX_CANDIDATES];
  guint32 keys[MAX_CANDIDATES], left;
  const MotionRect rect = b->rect;
  const gint n = b->n;

  field_find_rough (b, roughs);
  for (gint i = 0; i < MAX_CANDIDATES; i++)
    keys[i] = (guint16) b->x[i] | (guint32) (guint16) b->y[i] << 16;
  field_look_up (known, keys, shift, data);
  for (gint i = 0; i < MAX_CANDIDATES; i++) {
    gint32 x = b->x[i], y = b->y[i];
    gint32 rough = b->lambda * roughs[i] / motion_field_unit (level) * 32 + i;
    gint32 bound = keys[i] == 0 ? i : rough;

    bound = x < rect.left ? G_MAXINT32 : bound;
    bound = x > rect.right ? G_MAXINT32 : bound;
    bound = y < rect.top ? G_MAXINT32 : bound;
    bound = y > rect.bottom ? G_MAXINT32 : bound;
    bound = i < n ? bound : G_MAXINT32;
    roughs[i] = rough;
    bounds[i] = bound;
  }
  for (gint i = 0; i < MAX_CANDIDATES; i++) {
    gint32 total = data[i] == 0 ? bounds[i] : data[i] * 256 + roughs[i];

    total = bounds[i] == G_MAXINT32 ? G_MAXINT32 : total;
    totals[i] = data[i] < 0 ? G_MAXINT32 : total;
  }
  for (gint i = 0; i < MAX_CANDIDATES; i++)
    bounds[i] = data[i] < 0 ? bounds[i] : G_MAXINT32;
  for (gint i = 0; i < MAX_CANDIDATES; i++)
    least = MIN (least, totals[i]);
  left = field_find_less (bounds, least);
  while (left) {
    gint k = __builtin_ctz (left);
    guint32 slot = field_slot (keys[k], shift);
    gint32 cost =
        field_cost (b->field, level, b->win, (Vector){ b->x[k], b->y[k] });
    gint32 total = cost == 0 ? bounds[k] : cost * 256 + roughs[k];

    known->keys[slot] = keys[k];
    known->costs[slot] = cost;
    left &= ~field_find_equal (keys, keys[k]);
    if (total < least) {
      least = total;
      left &= field_find_less (bounds, least);
    }
  }
  return least == G_MAXINT32 ? b->own
                             : (Vector){ b->x[least & 31], b->y[least & 31] };
}

/* Whether the last pass changed the block or a neighbour. If not, a repeated pass
 * changes nothing. */
static gboolean
field_has_changed (const MotionCpuGrid *grid, gint32 column, gint32 row)
{
  gint32 left = MAX (column - 1, 0),
         right = MIN (column + 1, grid->columns - 1);
  gint32 top = MAX (row - 1, 0), bottom = MIN (row + 1, grid->rows - 1);
  guint8 changed = 0;

  for (gint32 y = top; y <= bottom; y++)
    for (gint32 x = left; x <= right; x++)
      changed |= grid->changed_before[y * grid->columns + x];
  return changed;
}

static void
field_all_rows (MotionCpuField *f, gint32 first, gint32 n)
{
  MotionCpuGrid *grid = &f->grids[f->level];
  Block b = { 0 };

  for (gint32 row = first; row < first + n; row++) {
    for (gint32 column = 0; column < grid->columns; column++) {
      gint32 i = row * grid->columns + column;
      Vector v;

      if (f->repeated && !field_has_changed (grid, column, row)) {
        grid->vectors[i] = grid->from[i];
        grid->changed[i] = FALSE;
        continue;
      }
      field_set_block (&b, f, column, row);
      field_list_all (&b);
      v = f->level == 0 ? field_choose (&b, 0) : field_choose (&b, f->level);
      grid->vectors[i] = v;
      grid->changed[i] = v.x != b.own.x || v.y != b.own.y;
    }
  }
}

/* --- weights ---------------------------------------------------------------------- */

static void
field_weigh_rows (MotionCpuField *f, gint32 first, gint32 n)
{
  MotionCpuGrid *grid = &f->grids[f->level];
  gint32 unit = motion_field_unit (f->level);

  for (gint32 row = first; row < first + n; row++) {
    for (gint32 column = 0; column < grid->columns; column++) {
      gint32 i = row * grid->columns + column, least = G_MAXINT32;
      Window win = field_window (f, column, row);
      Vector v = grid->from[i];

      for (gint k = 0; k < 8; k++) {
        gint32 cost = field_known_cost (f, f->level, i, win,
            (Vector){
                v.x + neighbours[k][0] * unit, v.y + neighbours[k][1] * unit });

        least = MIN (least, cost);
      }
      grid->weights[i] = motion_field_weight (f->level, f->current->noise,
          least - field_known_cost (f, f->level, i, win, v));
    }
  }
}

/* --- the frame's median vector ---------------------------------------------------- */

static gboolean
field_may_settle (const MotionCpuField *f, gint32 column, gint32 row)
{
  MotionRect r = field_rect (f, 0, column, row);

  return f->dominant.x >= r.left && f->dominant.x <= r.right
         && f->dominant.y >= r.top && f->dominant.y <= r.bottom;
}

static gboolean
field_is_near (Vector a, Vector b)
{
  return ABS (a.x - b.x) + ABS (a.y - b.y) <= MOTION_FIELD_SETTLE_DISTANCE;
}

/* How much less the median vector costs each block. */
static void
field_gain_rows (MotionCpuField *f, gint32 first, gint32 n)
{
  const MotionCpuGrid *grid = &f->grids[0];

  for (gint32 row = first; row < first + n; row++) {
    for (gint32 column = 0; column < grid->columns; column++) {
      gint32 i = row * grid->columns + column;
      Window win = field_window (f, column, row);

      f->gains[i] = 0;
      if (!field_is_near (grid->from[i], f->dominant)
          && field_may_settle (f, column, row))
        f->gains[i] = field_known_cost (f, 0, i, win, grid->from[i])
                      - field_known_cost (f, 0, i, win, f->dominant);
    }
  }
}

static void
field_settle_rows (MotionCpuField *f, gint32 first, gint32 n)
{
  MotionCpuGrid *grid = &f->grids[0];

  for (gint32 row = first; row < first + n; row++) {
    for (gint32 column = 0; column < grid->columns; column++) {
      gint32 i = row * grid->columns + column, sum = f->gains[i], alike = 1;

      grid->vectors[i] = grid->from[i];
      if (field_is_near (grid->from[i], f->dominant))
        continue;
      for (gint k = 0; k < 8; k++) {
        gint32 x = column + neighbours[k][0], y = row + neighbours[k][1];
        gint32 j = y * grid->columns + x;

        if (x < 0 || y < 0 || x >= grid->columns || y >= grid->rows
            || !field_is_near (grid->from[i], grid->from[j]))
          continue;
        sum += f->gains[j];
        alike++;
      }
      if (motion_field_settles (f->gains[i], sum, alike)
          && field_may_settle (f, column, row))
        grid->vectors[i] = f->dominant;
    }
  }
}

/* --- blocks that search on their own ----------------------------------------------- */

static gint32
field_cost_inside (const MotionCpuField *f, Window win, Vector v)
{
  Window part = motion_field_inside (f->config, 0, win, v);

  return (gint32) ((gint64) field_cost_0 (f, part, v) * (win.w * win.h)
                   / (part.w * part.h));
}

static inline void
field_try (const Block *b, Vector v, Vector *best, gint32 *least)
{
  gint32 cost;

  if (v.x < b->rect.left || v.x > b->rect.right || v.y < b->rect.top
      || v.y > b->rect.bottom)
    return;
  cost = field_cost_0 (b->field, b->win, v);
  if (cost < *least) {
    *least = cost;
    *best = v;
  }
}

/* The eight neighbours @step quarter pixels away. */
static inline void
field_try_around (const Block *b, gint32 step, Vector *best, gint32 *least)
{
  Vector centre = *best;

  for (gint k = 0; k < 8; k++)
    field_try (b,
        (Vector){ centre.x + step * neighbours[k][0],
            centre.y + step * neighbours[k][1] },
        best, least);
}

static Vector
field_search_alone (const Block *b)
{
  gint32 range = (gint32) b->field->config->range;
  gint32 spacing = MOTION_FIELD_OWN_STEP, least = G_MAXINT32;
  Vector best = { 0, 0 };

  for (gint32 y = -range; y <= range; y += spacing)
    for (gint32 x = -range; x <= range; x += spacing)
      field_try (b, (Vector){ 4 * x, 4 * y }, &best, &least);
  if (least == G_MAXINT32)
    least = field_cost_0 (b->field, b->win, best);
  for (spacing /= 2; spacing > 0; spacing /= 2)
    field_try_around (b, 4 * spacing, &best, &least);
  return best;
}

/* Total costs of both candidates, in @costs. */
static void
field_compare_alone (const Block *b, gint32 *costs)
{
  gint32 roughs[MAX_CANDIDATES];

  field_find_rough (b, roughs);
  for (gint k = 0; k < 2; k++) {
    Vector v = { b->x[k], b->y[k] };
    gint32 data = field_cost_0 (b->field, b->win, v);

    costs[k] =
        data == 0 && v.x == 0 && v.y == 0
            ? 0
            : 8 * data + 2 * b->lambda * roughs[k] / motion_field_unit (0);
  }
}

static void
field_alone_rows (MotionCpuField *f, gint32 first, gint32 n)
{
  MotionCpuGrid *grid = &f->grids[0];
  gint32 size = (gint32) f->config->block_size;
  Block b = { 0 };

  for (gint32 row = first; row < first + n; row++) {
    for (gint32 column = 0; column < grid->columns; column++) {
      gint32 i = row * grid->columns + column;
      Window win = field_window (f, column, row);
      gint32 costs[2];
      Vector other;

      grid->vectors[i] = grid->from[i];
      if (field_cost_inside (f, win, grid->from[i])
          <= motion_field_unexplained (MOTION_FIELD_OWN_COST, f->current->noise,
              win.w * win.h, size * size))
        continue;
      field_set_block (&b, f, column, row);
      other = field_search_alone (&b);
      b.x[0] = b.own.x;
      b.y[0] = b.own.y;
      b.x[1] = other.x;
      b.y[1] = other.y;
      field_compare_alone (&b, costs);
      if (costs[1] < costs[0])
        grid->vectors[i] = other;
    }
  }
}

/* --- boundaries --------------------------------------------------------------------- */

/* Lists the block's vector and those of its neighbours that are not like it. */
static void
field_list_sides (Block *b)
{
  field_list (b, b->own);
  for (gint k = 0; k < 8; k++) {
    Vector v = { b->near_x[k], b->near_y[k] };

    if (b->weight[k] > 0 && !field_is_near (v, b->own) && v.x >= b->rect.left
        && v.x <= b->rect.right && v.y >= b->rect.top && v.y <= b->rect.bottom)
      field_list (b, v);
  }
}

static Vector
field_choose_side (const Block *b)
{
  const MotionCpuField *f = b->field;
  gint32 most = motion_field_cut (f->current->noise);
  gint32 limit =
      field_known_cost (f, 0, b->i, b->win, b->own) + MOTION_FIELD_SIDE_SLACK;
  gint32 least = 8 * field_cut_cost (f, b->win, b->own, most);
  Vector best = b->own;

  for (gint k = 1; k < b->n; k++) {
    Vector v = { b->x[k], b->y[k] };
    gint32 cost;

    if (field_known_cost (f, 0, b->i, b->win, v) > limit)
      continue;
    cost = 8 * field_cut_cost (f, b->win, v, most)
           + motion_field_change_cost (f->current->noise);
    if (cost < least) {
      least = cost;
      best = v;
    }
  }
  return best;
}

static void
field_side_rows (MotionCpuField *f, gint32 first, gint32 n)
{
  MotionCpuGrid *grid = &f->grids[0];
  Block b = { 0 };

  for (gint32 row = first; row < first + n; row++) {
    for (gint32 column = 0; column < grid->columns; column++) {
      field_set_block (&b, f, column, row);
      field_list_sides (&b);
      grid->vectors[b.i] = b.n > 1 ? field_choose_side (&b) : b.own;
    }
  }
}

/* --- the last search ---------------------------------------------------------------- */

/* The least increase of the data cost one pixel off the block's vector. */
static gint32
field_measure_excess (const Block *b, gint32 cost)
{
  gint32 least = G_MAXINT32;

  for (gint k = 0; k < 8; k++) {
    Vector v = { b->own.x + 4 * neighbours[k][0],
      b->own.y + 4 * neighbours[k][1] };

    least = MIN (least, field_cost_0 (b->field, b->win, v));
  }
  return least - cost;
}

/* The vector of least data cost that descents from points of a raster find: each begins at
 * the best of every MOTION_FIELD_LAST_STARTS-th point.
 * @least: (out): its cost; G_MAXINT32: no point is allowed */
static Vector
field_search_last (const Block *b, gint32 *least)
{
  const MotionConfig *config = b->field->config;
  gint32 range = (gint32) config->range, n = 0;
  gint32 costs[MOTION_FIELD_LAST_STARTS];
  Vector starts[MOTION_FIELD_LAST_STARTS], best = b->own;

  for (gint k = 0; k < MOTION_FIELD_LAST_STARTS; k++)
    costs[k] = G_MAXINT32;
  for (gint32 y = -range; y <= range; y += MOTION_FIELD_LAST_STEP) {
    for (gint32 x = -range; x <= range; x += MOTION_FIELD_LAST_STEP, n++) {
      gint k = n % MOTION_FIELD_LAST_STARTS;

      field_try (b, (Vector){ 4 * x, 4 * y }, &starts[k], &costs[k]);
    }
  }
  *least = G_MAXINT32;
  for (gint k = 0; k < MOTION_FIELD_LAST_STARTS; k++) {
    if (costs[k] == G_MAXINT32)
      continue;
    for (gint32 step = 4 * MOTION_FIELD_LAST_STEP / 2; step >= 4; step /= 2)
      field_try_around (b, step, &starts[k], &costs[k]);
    if (costs[k] < *least) {
      *least = costs[k];
      best = starts[k];
    }
  }
  if (*least == G_MAXINT32)
    return best;
  if (config->subpel != MOTION_SUBPEL_NONE)
    field_try_around (b, 2, &best, least);
  if (config->subpel == MOTION_SUBPEL_QUARTER)
    field_try_around (b, 1, &best, least);
  return best;
}

static void
field_last_rows (MotionCpuField *f, gint32 first, gint32 n)
{
  MotionCpuGrid *grid = &f->grids[0];
  gint32 size = (gint32) f->config->block_size;
  Block b = { 0 };

  for (gint32 row = first; row < first + n; row++) {
    for (gint32 column = 0; column < grid->columns; column++) {
      gint32 i = row * grid->columns + column, cost, limit, least;
      Window win = field_window (f, column, row);
      Vector other;

      grid->vectors[i] = grid->from[i];
      if (field_cost_inside (f, win, grid->from[i])
          <= motion_field_unexplained (MOTION_FIELD_LAST_COST,
              f->current->noise, win.w * win.h, size * size))
        continue;
      field_set_block (&b, f, column, row);
      cost = field_cost_0 (f, win, b.own);
      limit = motion_field_last_limit (cost, field_measure_excess (&b, cost));
      if (limit <= 0)
        continue;
      other = field_search_last (&b, &least);
      if (least < limit)
        grid->vectors[i] = other;
    }
  }
}

/* --- evidence ----------------------------------------------------------------------- */

/* The least cost round the vector of a block, minus that of the vector. */
static gint32
field_measure_ambiguity (const MotionCpuField *f, Window win, Vector v)
{
  const guint level = MOTION_FIELD_AMBIGUITY_LEVEL;
  const gint32 far = MOTION_FIELD_AMBIGUITY_FAR;
  const gint32 near = MOTION_FIELD_AMBIGUITY_NEAR;
  gint32 range = motion_field_range (f->config, level), least = 65536;
  gint32 left = MAX (v.x - far, -range), right = MIN (v.x + far, range);
  gint32 top = MAX (v.y - far, -range), bottom = MIN (v.y + far, range);

  for (gint32 y = top; y <= bottom; y++) {
    gint32 costs[2 * MOTION_FIELD_AMBIGUITY_FAR + 1 + MAX_WIDE];

    field_cost_row (f, level, win, left, right, y, costs);
    for (gint32 x = left; x <= right; x++)
      if (ABS (x - v.x) >= near || ABS (y - v.y) >= near)
        least = MIN (least, costs[x - left]);
  }
  return least - field_cost_above (f, level, win, v);
}

static void
field_ambiguity_rows (MotionCpuField *f, gint32 first, gint32 n)
{
  const MotionCpuGrid *grid = &f->grids[MOTION_FIELD_AMBIGUITY_LEVEL];

  for (gint32 i = first * grid->columns; i < (first + n) * grid->columns; i++)
    f->ambiguities[i] = field_measure_ambiguity (f,
        field_window (f, i % grid->columns, i / grid->columns),
        grid->vectors[i]);
}

static gint32
field_ambiguity_at (const MotionCpuField *f, gint32 x, gint32 y)
{
  const MotionCpuGrid *grid = &f->grids[MOTION_FIELD_AMBIGUITY_LEVEL];
  gint32 column =
      (x >> MOTION_FIELD_AMBIGUITY_LEVEL) / MOTION_FIELD_COARSE_BLOCK;
  gint32 row = (y >> MOTION_FIELD_AMBIGUITY_LEVEL) / MOTION_FIELD_COARSE_BLOCK;

  return f->ambiguities[MIN (row, grid->rows - 1) * grid->columns
                        + MIN (column, grid->columns - 1)];
}

static gint32
field_measure_inside (const MotionConfig *config, Vector v, gint32 left,
    gint32 top, gint32 right, gint32 bottom)
{
  gint32 across = MIN (right, (gint32) config->width - (v.x >> 2))
                  - MAX (left, -(v.x >> 2));
  gint32 down = MIN (bottom, (gint32) config->height - (v.y >> 2))
                - MAX (top, -(v.y >> 2));

  return 16 * MAX (across, 0) * MAX (down, 0)
         / ((right - left) * (bottom - top));
}

static MotionFieldEvidence
field_find_evidence (const MotionCpuField *f, gint32 column, gint32 row)
{
  const MotionCpuGrid *grid = &f->grids[0];
  const MotionConfig *config = f->config;
  gint32 size = (gint32) config->block_size, i = row * grid->columns + column;
  gint32 left = column * size, top = row * size, least = G_MAXINT32;
  Window win = field_window (f, column, row);
  Vector v = grid->vectors[i];
  MotionFieldEvidence e = {
    .cost = field_cost_0 (f, win, v),
    .support = grid->weights[i],
    .distance = motion_field_distance (v, grid->expected[i], 32),
    .ambiguity = field_ambiguity_at (f, left + size / 2, top + size / 2),
    .inside = field_measure_inside (config, v, left, top,
        MIN (left + size, (gint32) config->width),
        MIN (top + size, (gint32) config->height)),
    .noise = f->current->noise,
  };

  for (gint k = 0; k < 8; k++) {
    gint32 dx = neighbours[k][0], dy = neighbours[k][1], distance = 32;
    gint32 x = column + dx, y = row + dy, j = y * grid->columns + x;
    gint32 cost = field_cost_0 (f, win, (Vector){ v.x + 4 * dx, v.y + 4 * dy });

    least = MIN (least, cost);
    if (x >= 0 && y >= 0 && x < grid->columns && y < grid->rows) {
      distance = motion_field_distance (v, grid->vectors[j], 32);
      if (distance <= 4)
        e.support += grid->weights[j];
    }
    e.rough += distance;
  }
  e.excess = least - e.cost;
  return e;
}

static void
field_evidence_rows (MotionCpuField *f, gint32 first, gint32 n)
{
  const MotionCpuGrid *grid = &f->grids[0];

  for (gint32 row = first; row < first + n; row++)
    for (gint32 column = 0; column < grid->columns; column++)
      f->evidence[row * grid->columns + column] =
          field_find_evidence (f, column, row);
}

#define FIELD_PASTE_TABLE(level) motion_cpu_field_##level
#define FIELD_EXPAND_TABLE(level) FIELD_PASTE_TABLE (level)

const MotionCpuFieldKernels FIELD_EXPAND_TABLE (MOTION_CPU_LEVEL) = {
  .reduce = field_reduce_rows,
  .halves = field_halve_rows,
  .survey = field_survey_strips,
  .light = field_light_rows,
  .costs = field_coarsest_costs,
  .coarsest = field_coarsest_rows,
  .weigh = field_weigh_rows,
  .all = field_all_rows,
  .gains = field_gain_rows,
  .settle = field_settle_rows,
  .alone = field_alone_rows,
  .sides = field_side_rows,
  .last = field_last_rows,
  .ambiguity = field_ambiguity_rows,
  .evidence = field_evidence_rows,
};
