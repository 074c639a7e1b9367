/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/core/plane.h"

#include <math.h>

/* Of at most 65536 samples, so that 32 bits are enough */
static guint32
sum_u8 (const guint8 *row, guint n)
{
  guint32 sum = 0;

  for (guint x = 0; x < n; x++)
    sum += row[x];
  return sum;
}

static guint32
sum_u16 (const guint16 *row, guint n, guint shift)
{
  guint32 sum = 0;

  for (guint x = 0; x < n; x++)
    sum += (guint32) (GUINT16_FROM_LE (row[x]) >> shift);
  return sum;
}

static guint64
sum_row (const CvisPlane *plane, guint y)
{
  const guint8 *row = (const guint8 *) plane->data + y * plane->stride;
  guint64 sum = 0;

  for (guint x = 0; x < plane->width; x += 65536) {
    const guint n = MIN (plane->width - x, 65536);

    sum += plane->sample_size == 1
               ? sum_u8 (row + x, n)
               : sum_u16 ((const guint16 *) row + x, n, plane->shift);
  }
  return sum;
}

gboolean
cvis_plane_sum (
    const CvisPlane *plane, CvisStage *stage, guint64 *sum, GError **error)
{
  if (stage != NULL)
    return cvis_plane_sum_cuda (plane, stage, sum, error);
  *sum = 0;
  for (guint y = 0; y < plane->height; y++)
    *sum += sum_row (plane, y);
  return TRUE;
}

static guint
count_row (const CvisPlane *plane, guint y)
{
  const guint8 *row = (const guint8 *) plane->data + y * plane->stride;
  guint n = 0;

  if (plane->sample_size == 4)
    for (guint x = 0; x < plane->width; x++)
      n += isnan (((const gfloat *) (gconstpointer) row)[x]) != 0;
  else
    for (guint x = 0; x < plane->width; x++)
      n += isnan (((const gdouble *) (gconstpointer) row)[x]) != 0;
  return n;
}

gboolean
cvis_plane_count_missing (
    const CvisPlane *plane, CvisStage *stage, guint64 *n, GError **error)
{
  *n = 0;
  if (plane->sample_size < 4)
    return TRUE;
  if (stage != NULL)
    return cvis_plane_count_missing_cuda (plane, stage, n, error);
  for (guint y = 0; y < plane->height; y++)
    *n += count_row (plane, y);
  return TRUE;
}
