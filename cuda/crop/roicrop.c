/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Start of a crop, its bytes, and the CPU's copy. */
#include "cuda/crop/roicrop.h"

#include <math.h>
#include <string.h>

gint32
cvis_crop_q8 (gdouble px)
{
  gdouble q8 = floor (px * 256.0 + 0.5);

  if (isnan (q8))
    return 0;
  return (gint32) CLAMP (q8, (gdouble) G_MININT32, (gdouble) G_MAXINT32);
}

guint
cvis_crop_start (
    gint32 position_q8, guint size, guint frame, guint align, gboolean *clamped)
{
  /* an arithmetic shift is floor() for negative positions too */
  gint64 wanted = (gint64) (position_q8 >> 8) - size / 2;
  gint64 start = CLAMP (wanted, 0, (gint64) frame - size);

  g_return_val_if_fail (size >= 1 && size <= frame && align >= 1, 0);

  if (clamped)
    *clamped = start != wanted;
  return (guint) start - (guint) start % align;
}

void
cvis_crop_layout_steps (
    const CvisCropLayout *layout, guint *step_x, guint *step_y)
{
  guint p, x_shift = 0, y_shift = 0;

  for (p = 0; p < layout->n_planes; p++) {
    x_shift = MAX (x_shift, layout->x_shift[p]);
    y_shift = MAX (y_shift, layout->y_shift[p]);
  }
  *step_x = 1u << x_shift;
  *step_y = 1u << y_shift;
}

static guint
samples (guint pixels, guint shift)
{
  return (pixels + (1u << shift) - 1) >> shift;
}

void
cvis_crop_plane_init (CvisCropPlane *crop, const CvisCropLayout *layout,
    guint plane, const CvisCropRect *rect, gconstpointer src, gssize src_stride,
    gpointer dst, gssize dst_stride)
{
  guint x_shift = layout->x_shift[plane], y_shift = layout->y_shift[plane];
  guint bytes = layout->sample_bytes[plane];

  crop->src = (const guint8 *) src + (gssize) (rect->y >> y_shift) * src_stride
              + (gsize) (rect->x >> x_shift) * bytes;
  crop->src_stride = src_stride;
  crop->dst = dst;
  crop->dst_stride = dst_stride;
  crop->row_bytes = samples (rect->width, x_shift) * bytes;
  crop->rows = samples (rect->height, y_shift);
}

gboolean
cvis_crop_plane_fits (
    const CvisCropPlane *crop, gconstpointer memory, gsize size)
{
  gssize first = crop->src - (const guint8 *) memory;
  gssize last = first + (gssize) (crop->rows - 1) * crop->src_stride;

  return MIN (first, last) >= 0
         && (gsize) MAX (first, last) + crop->row_bytes <= size;
}

/* --- the CPU --------------------------------------------------------------- */

static gpointer
cpu_open (CvisContext *context, GError **error)
{
  return NULL;
}

static void
cpu_close (gpointer state)
{
}

static gboolean
cpu_copy (gpointer state, const CvisCropPlane *planes, guint n, gpointer stream,
    GError **error)
{
  guint p, row;

  for (p = 0; p < n; p++) {
    const CvisCropPlane *plane = &planes[p];
    const guint8 *src = plane->src;
    guint8 *dst = plane->dst;

    for (row = 0; row < plane->rows; row++) {
      memcpy (dst, src, plane->row_bytes);
      src += plane->src_stride;
      dst += plane->dst_stride;
    }
  }
  return TRUE;
}

static gboolean
roicrop_cpu_wait (gpointer state, gpointer stream, GError **error)
{
  return TRUE;
}

const CvisCropBackend cvis_crop_backend_cpu = {
  "cpu",
  cpu_open,
  cpu_close,
  cpu_copy,
  roicrop_cpu_wait,
};

/* --- both backends ------------------------------------------------------- */

struct _CvisCrop {
  const CvisCropBackend *backend;
  gpointer state;
};

CvisCrop *
cvis_crop_new (CvisContext *context, GError **error)
{
  const CvisCropBackend *backend = &cvis_crop_backend_cpu;
  GError *failure = NULL;
  CvisCrop *crop;
  gpointer state;

#ifdef HAVE_CUDA
  if (context != NULL)
    backend = &cvis_crop_backend_cuda;
#else
  g_return_val_if_fail (context == NULL, NULL);
#endif
  state = backend->open (context, &failure);
  if (failure != NULL) {
    g_propagate_error (error, failure);
    return NULL;
  }
  crop = g_new0 (CvisCrop, 1);
  crop->backend = backend;
  crop->state = state;
  return crop;
}

void
cvis_crop_free (CvisCrop *crop)
{
  if (crop == NULL)
    return;
  crop->backend->close (crop->state);
  g_free (crop);
}

gboolean
cvis_crop_copy (CvisCrop *crop, const CvisCropPlane *planes, guint n,
    gpointer stream, GError **error)
{
  return crop->backend->copy (crop->state, planes, n, stream, error);
}

gboolean
cvis_crop_wait (CvisCrop *crop, gpointer stream, GError **error)
{
  return crop->backend->wait (crop->state, stream, error);
}
