/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Rows of a surface of floats or doubles, for one instruction set: loops
 * that the compiler vectorises. See LwtCpuFloats. */
#pragma once

#include "cuda/lifting/cpu/simd.h"

#if defined(LWT_F32)
typedef guint32 Bits;
#else
typedef guint64 Bits;
#endif

static gboolean
is_missing (const guint32 *missing, guint x)
{
  return missing[x / 32] >> x % 32 & 1;
}

/* --- in and out -------------------------------------------------------------------- */

static void
round_row (const gdouble *z, guint n, const gdouble *polynomial, gdouble v,
    gpointer to)
{
  T *row = to;

  if (polynomial)
    for (guint x = 0; x < n; x++)
      row[x] = (T) (z[x] - lwt_polynomial (polynomial, lwt_centred (x, n), v));
  else
    for (guint x = 0; x < n; x++)
      row[x] = (T) z[x];
}

static void
widen_row (gconstpointer from, guint n, gdouble *to)
{
  const T *row = from;

  for (guint x = 0; x < n; x++)
    to[x] = (gdouble) row[x];
}

static void
tail_row (gpointer to, guint n, const gdouble *polynomial, gdouble v)
{
  T *row = to;

  for (guint x = 0; x < n; x++)
    row[x] =
        (T) ((gdouble) row[x] + lwt_tail (polynomial, lwt_centred (x, n), v));
}

static void
blank_row (gpointer to, guint n, const guint32 *missing)
{
  T *row = to;

  for (guint i = 0; i < (n + 31) / 32; i++)
    for (guint32 word = missing[i]; word != 0; word &= word - 1)
      row[32 * i + (guint) __builtin_ctz (word)] = (T) NAN;
}

/* --- sums and differences --------------------------------------------------------------- */

static void
subtract_row (gconstpointer a, gconstpointer b, guint n, gpointer to)
{
  const T *l = a, *r = b;
  T *row = to;

  if (b == NULL)
    memmove (to, a, n * sizeof (T));
  else
    for (guint x = 0; x < n; x++)
      row[x] = l[x] - r[x];
}

static void
add_row (gconstpointer a, gconstpointer b, guint n, gpointer to)
{
  const T *l = a, *r = b;
  T *row = to;

  for (guint x = 0; x < n; x++)
    row[x] = l[x] + r[x];
}

static void
scale_row (gpointer to, guint n, gdouble scale)
{
  T *row = to;

  for (guint x = 0; x < n; x++)
    row[x] *= (T) scale;
}

/* --- coefficients ------------------------------------------------------------------- */

static void
shrink_row (gpointer to, guint n, LwtShrink shrink, gdouble threshold)
{
  const T t = (T) threshold;
  T *row = to;

  if (shrink == LWT_SHRINK_SOFT)
    for (guint x = 0; x < n; x++)
      row[x] = ONE_ABS (row[x]) > t
                   ? ONE_COPYSIGN (ONE_ABS (row[x]) - t, row[x])
                   : 0;
  else if (shrink == LWT_SHRINK_HARD)
    for (guint x = 0; x < n; x++)
      row[x] = ONE_ABS (row[x]) > t ? row[x] : 0;
  else
    for (guint x = 0; x < n; x++)
      row[x] = ONE_ABS (row[x]) > t ? row[x] - (t * t) / row[x] : 0;
}

LWT_ALWAYS Bits
get_magnitude (const T *sample)
{
  const T size = ONE_ABS (*sample);
  Bits bits;

  memcpy (&bits, &size, sizeof bits);
  return bits;
}

/* Samples that are looked at together: after the first digit few have the prefix. */
#define COUNTED 16

static void
count_row (
    gconstpointer from, guint n, guint shift, guint64 prefix, guint32 *counts)
{
  const T *row = from;

  if (shift + 16 == 8 * sizeof (T)) {
    for (guint x = 0; x < n; x++)
      counts[get_magnitude (row + x) >> shift]++;
    return;
  }
  for (guint x = 0; x < n; x += COUNTED) {
    const guint m = MIN (n - x, COUNTED);
    guint found = m < COUNTED;

    for (guint i = 0; i < COUNTED && m == COUNTED; i++)
      found |= get_magnitude (row + x + i) >> (shift + 16) == prefix;
    for (guint i = 0; i < m && found; i++) {
      const Bits bits = get_magnitude (row + x + i) >> shift;

      if (bits >> 16 == prefix)
        counts[bits & 0xffff]++;
    }
  }
}

#undef COUNTED

static gdouble
from_magnitude (guint64 magnitude)
{
  const Bits bits = (Bits) magnitude;
  T size;

  memcpy (&size, &bits, sizeof size);
  return (gdouble) size;
}

/* --- missing points ------------------------------------------------------------------ */

/* Adding -0 changes no number. */
static T
take (const T *row, const guint32 *missing, guint x, guint *n)
{
  const gboolean is = row != NULL && !is_missing (missing, x);

  *n += is;
  return is ? row[x] : (T) -0.0;
}

static void
mean_row (const gconstpointer rows[2], const guint32 *const missing[2], guint n,
    gpointer to, guint32 *to_missing)
{
  const guint parents = (n + 1) / 2;

  memset (to_missing, 0, (parents + 31) / 32 * sizeof *to_missing);
  for (guint x = 0; x < parents; x++) {
    const gboolean both = 2 * x + 1 < n;
    guint there = 0;
    T sum = take (rows[0], missing[0], 2 * x, &there);

    if (both)
      sum += take (rows[0], missing[0], 2 * x + 1, &there);
    sum += take (rows[1], missing[1], 2 * x, &there);
    if (both)
      sum += take (rows[1], missing[1], 2 * x + 1, &there);
    ((T *) to)[x] = there > 0 ? sum / (T) there : 0;
    to_missing[x / 32] |= (guint32) (there == 0) << x % 32;
  }
}

static void
fill_row (gpointer to, guint n, const guint32 *missing, gconstpointer own,
    gconstpointer other)
{
  const gint parents = (gint) (n + 1) / 2;
  const T *p = own, *q = other;
  T *row = to;

  for (guint i = 0; i < (n + 31) / 32; i++)
    for (guint32 word = missing[i]; word != 0; word &= word - 1) {
      const gint x = (gint) (32 * i) + __builtin_ctz (word);
      const gint px = x / 2;
      const gint qx = CLAMP (x % 2 ? px + 1 : px - 1, 0, parents - 1);

      row[x] = ONE_FMA ((T) 0.0625, q[qx],
          ONE_FMA ((T) 0.1875, q[px],
              ONE_FMA ((T) 0.1875, p[qx], (T) 0.5625 * p[px])));
    }
}

/* --- beyond the edge ------------------------------------------------------------------- */

static void
pad_row (gconstpointer from, guint n, guint pad, gboolean smooth, gpointer to)
{
  const gint count = (gint) n, p = (gint) pad;
  const T *row = from;
  T *all = to;

  memmove (all + p, row, n * sizeof (T));
  row = all + p;
  for (gint i = 1; i <= p; i++) {
    const gint end = count - 1;

    if (smooth && n > 1) {
      all[p - i] = ONE_FMA ((T) -i, row[1] - row[0], row[0]);
      all[p + end + i] = ONE_FMA ((T) i, row[end] - row[end - 1], row[end]);
    } else {
      all[p - i] = row[lwt_pad_index (-i, count)];
      all[p + end + i] = row[lwt_pad_index (end + i, count)];
    }
  }
}

static void
extend_row (gconstpointer edge, gconstpointer plus, gconstpointer minus,
    guint n, gint i, gpointer to)
{
  const T *e = edge, *p = plus, *m = minus;
  T *row = to;

  for (guint x = 0; x < n; x++)
    row[x] = ONE_FMA ((T) i, p[x] - m[x], e[x]);
}

/* --- stored integers ----------------------------------------------------- */

LWT_ALWAYS guint
store_level (T z, T factor, T max)
{
  T level = z * factor;

  level = level > (T) 0 ? level : (T) 0;
  level = level < max ? level : max;
  return (guint) (gint) (level + (T) 0.5);
}

static void
store_row (gconstpointer from, guint n, gdouble factor, guint max, guint shift,
    gboolean wide, gpointer to)
{
  const T *row = from;
  guint8 *narrow_to = to;
  guint16 *wide_to = to;

  if (wide)
    for (guint x = 0; x < n; x++)
      wide_to[x] =
          (guint16) (store_level (row[x], (T) factor, (T) max) << shift);
  else
    for (guint x = 0; x < n; x++)
      narrow_to[x] =
          (guint8) (store_level (row[x], (T) factor, (T) max) << shift);
}

const LwtCpuFloats LWT_CPU (floats) = {
  .round_row = round_row,
  .widen_row = widen_row,
  .tail_row = tail_row,
  .blank_row = blank_row,
  .subtract_row = subtract_row,
  .store_row = store_row,
  .add_row = add_row,
  .scale_row = scale_row,
  .shrink_row = shrink_row,
  .count_row = count_row,
  .from_magnitude = from_magnitude,
  .mean_row = mean_row,
  .fill_row = fill_row,
  .pad_row = pad_row,
  .extend_row = extend_row,
};
