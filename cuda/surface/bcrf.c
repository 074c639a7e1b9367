/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* BCRF and BCR-STM of Image Metrology: headersize characters (two bytes each
 * in the unicode variants) of fields and % comments, then float32 or int16,
 * in units of bit2nm nanometres, or of bit2nm zunit if zunit is given. */
#include "cuda/surface/bytes.h"

#include <math.h>
#include <string.h>

#define MIN_HEADER 256
#define MAX_HEADER 65536

typedef struct {
  gsize size;    /* bytes before the samples */
  guint skip;    /* bytes of the byte order mark */
  gboolean wide; /* UTF-16 */
  SurfaceSample type;
  gboolean big;
  guint width, height;
  gdouble dx, dy, scale;
  gdouble missing;
} Header;

/* --- the header's text ------------------------------------------------------ */

/* Up to @n characters as Latin 1, which is enough for names and numbers */
static gchar *
get_text (const guint8 *data, gsize size, const Header *header, gsize n)
{
  gsize width = header->wide ? 2 : 1;
  gchar *text;

  n = MIN (n, (size - header->skip) / width);
  text = g_malloc (n + 1);
  for (gsize i = 0; i < n; i++) {
    const guint8 *at = data + header->skip + i * width;
    text[i] = header->wide && at[1] ? '?' : at[0];
  }
  text[n] = 0;
  return text;
}

static void
read_bcrf_lines (SurfaceFields *fields, gchar *text)
{
  gchar **lines = g_strsplit_set (text, "\r\n", -1);

  for (guint i = 0; lines[i]; i++)
    if (lines[i][0] != '%')
      surface_fields_add_line (fields, lines[i], strlen (lines[i]));
  g_strfreev (lines);
}

static gboolean
read_header_size (
    const guint8 *data, gsize size, Header *header, GError **error)
{
  SurfaceFields *fields = surface_fields_new ();
  gchar *text = get_text (data, size, header, MAX_HEADER);
  guint characters = 0;
  gboolean ok;

  read_bcrf_lines (fields, text);
  ok = surface_fields_get_count (fields, "headersize", &characters, error);
  if (ok && (characters < MIN_HEADER || characters > MAX_HEADER))
    ok = surface_error (error,
        "has a header of %u characters (headersize); %u to %u are read",
        characters, MIN_HEADER, MAX_HEADER);
  header->size = (gsize) characters * (header->wide ? 2 : 1);
  g_free (text);
  surface_fields_free (fields);
  return ok && surface_check_bytes (size, 0, header->size, error);
}

/* --- fields ------------------------------------------------------------------ */

static gboolean
read_bcrf_type (SurfaceFields *fields, Header *header, GError **error)
{
  const gchar *format = surface_fields_get (fields, "fileformat");
  gdouble intel = 1;

  if (format && g_str_has_prefix (format, "bcrf"))
    header->type = SURFACE_SAMPLE_F32;
  else if (format && g_str_has_prefix (format, "bcrstm"))
    header->type = SURFACE_SAMPLE_I16;
  else
    return surface_error (error,
        "is of the fileformat \"%.20s\"; bcrf and bcrstm are read",
        format ? format : "");
  header->missing = header->type == SURFACE_SAMPLE_F32 ? 3.402823e38 : 32767;
  if (!surface_fields_get_number (fields, "intelmode", TRUE, &intel, error))
    return FALSE;
  header->big = intel == 0;
  return TRUE;
}

static gboolean
read_bcrf_axis (SurfaceFields *fields, const gchar *length,
    const gchar *unit_name, guint n, gdouble *spacing, GError **error)
{
  gdouble real = 0, unit;

  if (!surface_fields_get_number (fields, length, FALSE, &real, error)
      || !surface_check_spacing (length, real, error)
      || !surface_fields_get_unit (fields, unit_name, 1e-9, &unit, error))
    return FALSE;
  *spacing = real / n * unit;
  return surface_check_spacing (length, *spacing, error);
}

/* "voidpixels" is the value of missing points, or their number: then they have
 * the value that the format defines. */
static void
set_missing (Header *header, gdouble voids)
{
  const gdouble n = (gdouble) header->width * header->height;
  const gboolean number = voids >= 0 && voids <= n && voids == rint (voids)
                          && voids != header->missing;

  if (!number)
    header->missing = voids;
}

static gboolean
read_heights_scale (SurfaceFields *fields, Header *header, GError **error)
{
  gdouble scale = 1, unit, voids = header->missing;

  if (!surface_fields_get_number (
          fields, "bit2nm", header->type == SURFACE_SAMPLE_F32, &scale, error)
      || !surface_check_factor ("bit2nm", scale, error)
      || !surface_fields_get_unit (fields, "zunit", 1e-9, &unit, error)
      || !surface_fields_get_number (fields, "voidpixels", TRUE, &voids, error))
    return FALSE;
  set_missing (header, voids);
  header->scale = scale * unit;
  return TRUE;
}

static gboolean
read_bcrf_header (
    const guint8 *data, gsize size, Header *header, GError **error)
{
  SurfaceFields *fields = surface_fields_new ();
  gchar *text;
  gboolean ok;

  if (!read_header_size (data, size, header, error)) {
    surface_fields_free (fields);
    return FALSE;
  }
  text = get_text (data, size, header, header->size / (header->wide ? 2 : 1));
  read_bcrf_lines (fields, text);
  g_free (text);
  ok = read_bcrf_type (fields, header, error)
       && surface_fields_get_count (fields, "xpixels", &header->width, error)
       && surface_fields_get_count (fields, "ypixels", &header->height, error)
       && surface_check_size (header->width, header->height, error)
       && read_bcrf_axis (
           fields, "xlength", "xunit", header->width, &header->dx, error)
       && read_bcrf_axis (
           fields, "ylength", "yunit", header->height, &header->dy, error)
       && read_heights_scale (fields, header, error);
  surface_fields_free (fields);
  return ok;
}

/* --- the file ---------------------------------------------------------------- */

/* Floats >= the value of void pixels are missing: the header rounds that
 * value. */
static void
drop_missing (SurfaceImage *image, const Header *header)
{
  gsize n = (gsize) image->width * image->height;
  gboolean above = header->type == SURFACE_SAMPLE_F32 && header->missing > 1e30;

  for (gsize i = 0; i < n; i++)
    if (above ? image->z[i] >= header->missing * (1 - 1e-6)
              : image->z[i] == header->missing)
      image->z[i] = NAN;
}

SurfaceImage *
surface_read_bcrf (const guint8 *data, gsize size, GError **error)
{
  SurfaceImage *image;
  SurfaceLayout layout;
  Header header = { 0 };
  gsize n;

  header.skip = data[0] == 0xff ? 2 : 0;
  header.wide = data[header.skip + 1] == 0;
  if (!read_bcrf_header (data, size, &header, error))
    return NULL;
  n = (gsize) header.width * header.height;
  if (!surface_check_bytes (
          size, header.size, n * surface_sample_size (header.type), error))
    return NULL;
  image = surface_image_new (header.width, header.height, error);
  if (!image)
    return NULL;
  image->dx = header.dx;
  image->dy = header.dy;
  surface_layout_init (&layout, header.size, header.type, 1);
  surface_layout_note_rest (&layout, image, size);
  surface_samples_read (
      data + header.size, header.type, header.big, n, image->z);
  drop_missing (image, &header);
  surface_image_scale (image, header.scale, 0);
  return image;
}
