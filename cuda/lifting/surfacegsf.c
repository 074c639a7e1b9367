/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Gwyddion Simple Field 1.0: a line that says so, fields as text, one to four
 * NULs up to a multiple of four bytes, float32 little-endian. */
#include "surfacebytes.h"

#include <math.h>
#include <string.h>

#define FIRST_LINE "Gwyddion Simple Field 1.0\n"

typedef struct {
  guint width, height;
  gdouble dx, dy;
  gdouble z_unit;
} Header;

/* --- reading ---------------------------------------------------------------- */

static gboolean
read_lines (
    SurfaceFields *fields, const gchar *text, gsize size, GError **error)
{
  for (guint line = 2; size > 0; line++) {
    const gchar *end = memchr (text, '\n', size);
    gsize n = end ? (gsize) (end - text) : size;

    if (n > 0 && !surface_fields_add_line (fields, text, n))
      return surface_error (error, "has no field in line %u", line);
    n += end != NULL;
    text += n;
    size -= n;
  }
  return TRUE;
}

static gboolean
read_axis (SurfaceFields *fields, const gchar *name, guint n, gdouble unit,
    gdouble *spacing, GError **error)
{
  gdouble real = 0;

  if (!surface_fields_get (fields, name))
    return TRUE;
  if (!surface_fields_get_number (fields, name, FALSE, &real, error)
      || !surface_check_spacing (name, real, error))
    return FALSE;
  *spacing = real * unit / n;
  return surface_check_spacing (name, *spacing, error);
}

static gboolean
read_fields (SurfaceFields *fields, Header *header, GError **error)
{
  gdouble unit;

  return surface_fields_get_count (fields, "XRes", &header->width, error)
         && surface_fields_get_count (fields, "YRes", &header->height, error)
         && surface_check_size (header->width, header->height, error)
         && surface_fields_get_unit (fields, "XYUnits", 1.0, &unit, error)
         && surface_fields_get_unit (
             fields, "ZUnits", 1.0, &header->z_unit, error)
         && read_axis (fields, "XReal", header->width, unit, &header->dx, error)
         && read_axis (
             fields, "YReal", header->height, unit, &header->dy, error);
}

static SurfaceImage *
read_samples (const guint8 *data, gsize size, gsize offset,
    const Header *header, GError **error)
{
  gsize n = (gsize) header->width * header->height;
  SurfaceImage *image;

  if (!surface_check_bytes (size, offset, 4 * n, error))
    return NULL;
  image = surface_image_new (header->width, header->height, error);
  if (!image)
    return NULL;
  image->dx = header->dx;
  image->dy = header->dy;
  surface_samples_read (data + offset, SURFACE_SAMPLE_F32, FALSE, n, image->z);
  surface_image_scale (image, header->z_unit, 0);
  return image;
}

SurfaceImage *
surface_read_gsf (const guint8 *data, gsize size, GError **error)
{
  gsize start = strlen (FIRST_LINE);
  const guint8 *end = memchr (data, 0, size);
  SurfaceFields *fields = surface_fields_new ();
  SurfaceImage *image = NULL;
  Header header = { 0 };

  if (!end)
    surface_error (error, "has no NUL that ends its header");
  else if (read_lines (
               fields, (const gchar *) data + start, end - data - start, error)
           && read_fields (fields, &header, error))
    image = read_samples (
        data, size, ((gsize) (end - data) / 4 + 1) * 4, &header, error);
  if (image) {
    const gchar *title = surface_fields_get (fields, "Title");

    if (title)
      image->title = surface_text ((const guint8 *) title, strlen (title));
  }
  surface_fields_free (fields);
  return image;
}

/* --- writing ---------------------------------------------------------------- */

gboolean
surface_write_gsf (const SurfaceImage *image, SurfaceOut *out, GError **error)
{
  gchar x[G_ASCII_DTOSTR_BUF_SIZE], y[G_ASCII_DTOSTR_BUF_SIZE];
  gchar *title = image->title ? surface_text (
                     (const guint8 *) image->title, strlen (image->title))
                              : NULL;
  gchar *header = g_strdup_printf (FIRST_LINE
      "XRes = %u\nYRes = %u\nXReal = %s\nYReal = %s\n"
      "XYUnits = m\nZUnits = m\n%s%s%s",
      image->width, image->height,
      g_ascii_dtostr (x, sizeof (x), image->dx * image->width),
      g_ascii_dtostr (y, sizeof (y), image->dy * image->height),
      title ? "Title = " : "", title ? title : "", title ? "\n" : "");
  gsize length = strlen (header);
  gsize padded = (length / 4 + 1) * 4;
  guint8 *to = surface_out_add (out, padded, error);

  if (to) {
    memset (to, 0, padded);
    memcpy (to, header, length);
  }
  g_free (header);
  g_free (title);
  return to && surface_out_add_samples (out, image, SURFACE_SAMPLE_F32, error);
}
