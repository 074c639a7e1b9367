/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/lifting/grey.h"

#include <math.h>
#include <string.h>

/* --- heights to grey --------------------------------------------------------- */

/* NaN fails the first comparison and becomes 0. */
static inline gdouble
clamp_level (gdouble level, gdouble max)
{
  return !(level > 0.0) ? 0.0 : level > max ? max : level;
}

/* Returns: number of samples outside 0..@max */
#define DEFINE_ROW(name, T, G, max)                                            \
  static guint name (const LwtGrey *grey, const void *restrict from, guint n,  \
      void *restrict to)                                                       \
  {                                                                            \
    const T *z = from;                                                         \
    const gdouble zero = grey->zero, factor = 1.0 / grey->scale;               \
    const gdouble middle = grey->middle;                                       \
    guint clipped = 0;                                                         \
    G *levels = to;                                                            \
                                                                               \
    for (guint x = 0; x < n; x++) {                                            \
      const gdouble level = (z[x] - zero) * factor + middle + 0.5;             \
                                                                               \
      clipped += level < 0.0 || level >= max + 1.0;                            \
      levels[x] = (G) (gint) clamp_level (level, max);                         \
    }                                                                          \
    return clipped;                                                            \
  }

DEFINE_ROW (row_f32_8, gfloat, guint8, 255.0)
DEFINE_ROW (row_f64_8, gdouble, guint8, 255.0)
DEFINE_ROW (row_i32_8, gint32, guint8, 255.0)
DEFINE_ROW (row_f32_16, gfloat, guint16, 65535.0)
DEFINE_ROW (row_f64_16, gdouble, guint16, 65535.0)
DEFINE_ROW (row_i32_16, gint32, guint16, 65535.0)

typedef guint (*RowFunc) (
    const LwtGrey *grey, const void *restrict from, guint n, void *restrict to);

static void
mask_row (LwtType type, gconstpointer from, guint n, guint8 *mask)
{
  const gfloat *f32 = from;
  const gdouble *f64 = from;

  switch (type) {
    case LWT_TYPE_F32:
      for (guint x = 0; x < n; x++)
        mask[x] = f32[x] == f32[x] ? 255 : 0;
      break;
    case LWT_TYPE_F64:
      for (guint x = 0; x < n; x++)
        mask[x] = f64[x] == f64[x] ? 255 : 0;
      break;
    default:
      memset (mask, 255, n);
      break;
  }
}

guint64
lwt_grey_from_heights (const LwtGrey *grey, gconstpointer heights, gsize stride,
    LwtType type, guint width, guint height, gpointer to, gsize to_stride,
    guint8 *mask)
{
  static const RowFunc rows[][2] = {
    [LWT_TYPE_F32] = { row_f32_8, row_f32_16 },
    [LWT_TYPE_F64] = { row_f64_8, row_f64_16 },
    [LWT_TYPE_I32] = { row_i32_8, row_i32_16 },
  };
  const RowFunc row = rows[type][grey->bits == 16];
  guint64 clipped = 0;

  for (guint y = 0; y < height; y++) {
    const guint8 *from = (const guint8 *) heights + y * stride;

    clipped += row (grey, from, width, (guint8 *) to + y * to_stride);
    if (mask != NULL)
      mask_row (type, from, width, mask + (gsize) y * width);
  }
  return clipped;
}

/* --- samples with a mask -------------------------------------------------------- */

LwtSample
lwt_sample_with_mask (LwtSample sample)
{
  return sample == LWT_SAMPLE_F64 || sample == LWT_SAMPLE_I32 ? LWT_SAMPLE_F64
                                                              : LWT_SAMPLE_F32;
}

/* The source may have any alignment. */
#define DEFINE_MASKED_ROW(name, S, T)                                          \
  static void name (const guint8 *restrict from, const guint8 *restrict mask,  \
      guint n, void *restrict to)                                              \
  {                                                                            \
    T *z = to;                                                                 \
                                                                               \
    for (guint x = 0; x < n; x++) {                                            \
      S sample;                                                                \
                                                                               \
      memcpy (&sample, from + x * sizeof (S), sizeof (S));                     \
      z[x] = mask == NULL || mask[x] != 0 ? (T) sample : (T) NAN;              \
    }                                                                          \
  }

DEFINE_MASKED_ROW (masked_f32, gfloat, gfloat)
DEFINE_MASKED_ROW (masked_f64, gdouble, gdouble)
DEFINE_MASKED_ROW (masked_i32, gint32, gdouble)
DEFINE_MASKED_ROW (masked_u8, guint8, gfloat)
DEFINE_MASKED_ROW (masked_u16, guint16, gfloat)

typedef void (*MaskedRowFunc) (const guint8 *restrict from,
    const guint8 *restrict mask, guint n, void *restrict to);

void
lwt_samples_copy (gconstpointer data, gsize stride, LwtSample sample,
    guint width, guint height, gboolean masked, const guint8 *mask, gpointer to)
{
  static const MaskedRowFunc rows[] = {
    [LWT_SAMPLE_F32] = masked_f32,
    [LWT_SAMPLE_F64] = masked_f64,
    [LWT_SAMPLE_I32] = masked_i32,
    [LWT_SAMPLE_U8] = masked_u8,
    [LWT_SAMPLE_U16] = masked_u16,
  };
  const gsize row =
      width
      * lwt_sample_get_size (masked ? lwt_sample_with_mask (sample) : sample);

  for (guint y = 0; y < height; y++) {
    const guint8 *from = (const guint8 *) data + y * stride;
    guint8 *z = (guint8 *) to + y * row;

    if (masked)
      rows[sample](from, mask ? mask + (gsize) y * width : NULL, width, z);
    else
      memcpy (z, from, row);
  }
}
