/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Gwyddion Simple Field 1.0: a signature line, fields as text, one to four
 * NULs up to a multiple of four bytes, float32 little-endian. */
#include "cuda/surface/bytes.h"

#include <math.h>
#include <string.h>

#define FIRST_LINE "Gwyddion Simple Field 1.0\n"

typedef struct {
  guint width, height;
  gdouble dx, dy;
  gdouble z_unit;
  gboolean no_z_unit, no_xy_unit;
} Header;

/* --- reading ---------------------------------------------------------------- */

static gboolean
read_gsf_lines (
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
read_gsf_axis (SurfaceFields *fields, const gchar *name, guint n, gdouble unit,
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
has_value (SurfaceFields *fields, const gchar *name)
{
  const gchar *text = surface_fields_get (fields, name);

  return text && *text != 0;
}

static gboolean
read_fields (SurfaceFields *fields, Header *header, GError **error)
{
  gdouble unit;

  header->no_z_unit = !has_value (fields, "ZUnits");
  header->no_xy_unit =
      !has_value (fields, "XYUnits")
      && (has_value (fields, "XReal") || has_value (fields, "YReal"));
  return surface_fields_get_count (fields, "XRes", &header->width, error)
         && surface_fields_get_count (fields, "YRes", &header->height, error)
         && surface_check_size (header->width, header->height, error)
         && surface_fields_get_unit (fields, "XYUnits", 1.0, &unit, error)
         && surface_fields_get_unit (
             fields, "ZUnits", 1.0, &header->z_unit, error)
         && read_gsf_axis (
             fields, "XReal", header->width, unit, &header->dx, error)
         && read_gsf_axis (
             fields, "YReal", header->height, unit, &header->dy, error);
}

gboolean
surface_describe_gsf (const SurfaceSource *source, const guint8 *head,
    gsize n_head, SurfaceImage *about, SurfaceLayout *layout, GError **error)
{
  gsize start = strlen (FIRST_LINE);
  const guint8 *end = memchr (head, 0, n_head);
  SurfaceFields *fields;
  Header header = { 0 };
  const gchar *title;
  gboolean ok;

  if (!end)
    return surface_error (error, "has no NUL that ends its header");
  fields = surface_fields_new ();
  ok = read_gsf_lines (
           fields, (const gchar *) head + start, end - head - start, error)
       && read_fields (fields, &header, error);
  title = surface_fields_get (fields, "Title");
  if (ok && title)
    about->title = surface_text ((const guint8 *) title, strlen (title));
  surface_fields_free (fields);
  about->width = header.width;
  about->height = header.height;
  about->dx = header.dx;
  about->dy = header.dy;
  about->no_z_unit = header.no_z_unit;
  about->no_xy_unit = header.no_xy_unit;
  surface_layout_init (layout, ((gsize) (end - head) / 4 + 1) * 4,
      SURFACE_SAMPLE_F32, header.z_unit);
  if (ok)
    surface_layout_note_rest (layout, about, source->size);
  return ok && surface_layout_check (layout, about, source->size, error);
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
