/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Bytes of a file, and where in them the samples are. */
#include "cuda/surface/heights.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

gboolean
surface_refuse_errno (GError **error)
{
  const int number = errno;

  g_set_error_literal (error, G_FILE_ERROR,
      (gint) g_file_error_from_errno (number), g_strerror (number));
  return FALSE;
}

gboolean
surface_source_read (
    const SurfaceSource *source, guint64 at, gsize n, void *to, GError **error)
{
  guint8 *bytes = to;

  if (!surface_check_bytes (source->size, at, n, error))
    return FALSE;
  if (source->data) {
    memcpy (to, source->data + at, n);
    return TRUE;
  }
  for (gsize done = 0; done < n;) {
    gssize got =
        pread (source->fd, bytes + done, n - done, (off_t) (at + done));

    if (got < 0 && errno != EINTR)
      return surface_refuse_errno (error);
    if (got == 0) /* the file has become shorter */
      return surface_check_bytes (at + done, at, n, error);
    done += got > 0 ? (gsize) got : 0;
  }
  return TRUE;
}

void
surface_layout_init (
    SurfaceLayout *layout, guint64 at, SurfaceSample type, gdouble scale)
{
  *layout = (SurfaceLayout){ .plain = TRUE,
    .at = at,
    .type = type,
    .scale = scale,
    .low = -INFINITY,
    .high = INFINITY };
}

gboolean
surface_layout_check (const SurfaceLayout *layout, const SurfaceImage *about,
    guint64 size, GError **error)
{
  return surface_check_bytes (size, layout->at,
      (guint64) about->width * about->height
          * surface_sample_size (layout->type),
      error);
}

void
surface_layout_note_rest (
    const SurfaceLayout *layout, SurfaceImage *about, guint64 size)
{
  const guint64 end = layout->at
                      + (guint64) about->width * about->height
                            * surface_sample_size (layout->type);

  if (end < size)
    surface_image_add_note (about,
        "the last %" G_GUINT64_FORMAT
        " bytes of the file, after its heights, are not read",
        size - end);
}

SurfaceImage *
surface_layout_read (const SurfaceLayout *layout, const SurfaceImage *about,
    const guint8 *points, GError **error)
{
  SurfaceImage *image = surface_image_new (about->width, about->height, error);

  if (!image)
    return NULL;
  surface_image_copy_about (image, about);
  surface_kernels ()->to_f64 (
      layout, points, (gsize) image->width * image->height, 0, image->z);
  return image;
}
