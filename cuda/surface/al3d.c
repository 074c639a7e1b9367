/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Alicona AL3D: a signature of 17 bytes, tags of 52 bytes (20 for a name, 30
 * for a value as text, CR LF), the first Version and the second TagCount,
 * and at DepthImageOffset rows of float32 little-endian metres, each padded
 * to a multiple of eight bytes. */
#include "cuda/surface/bytes.h"

#include <math.h>
#include <string.h>

#define MAGIC_SIZE 17
#define TAG_SIZE 52
#define NAME_SIZE 20
#define VALUE_SIZE 30
#define MAX_TAGS 10000

typedef struct {
  guint width, height;
  gdouble dx, dy;
  gdouble offset;  /* byte position of the heights */
  gdouble invalid; /* value of missing points; NaN: none */
} Header;

static gboolean
read_tag (SurfaceFields *fields, const guint8 *data, gsize size, guint index,
    GError **error)
{
  gsize at = MAGIC_SIZE + (gsize) index * TAG_SIZE;
  gchar line[NAME_SIZE + VALUE_SIZE + 2] = { 0 };
  gsize name;

  if (!surface_check_bytes (size, at, TAG_SIZE, error))
    return FALSE;
  data += at;
  if (data[TAG_SIZE - 2] != '\r' || data[TAG_SIZE - 1] != '\n')
    return surface_error (
        error, "has no end of line where its tag %u ends", index + 1);
  name = strnlen ((const gchar *) data, NAME_SIZE);
  memcpy (line, data, name);
  line[name] = '=';
  memcpy (line + name + 1, data + NAME_SIZE, VALUE_SIZE);
  surface_fields_add_line (fields, line, strlen (line));
  return TRUE;
}

static gboolean
read_tags (
    SurfaceFields *fields, const guint8 *data, gsize size, GError **error)
{
  gdouble count = 0;

  for (guint i = 0; i < 2; i++)
    if (!read_tag (fields, data, size, i, error))
      return FALSE;
  if (!surface_fields_get_number (fields, "TagCount", FALSE, &count, error))
    return FALSE;
  if (!(count >= 0 && count <= MAX_TAGS))
    return surface_error (
        error, "has %g tags; at most %u are read", count, MAX_TAGS);
  for (guint i = 0; i < (guint) count; i++)
    if (!read_tag (fields, data, size, i + 2, error))
      return FALSE;
  return TRUE;
}

static gboolean
read_al3d_header (SurfaceFields *fields, Header *header, GError **error)
{
  return surface_fields_get_count (fields, "Cols", &header->width, error)
         && surface_fields_get_count (fields, "Rows", &header->height, error)
         && surface_check_size (header->width, header->height, error)
         && surface_fields_get_number (
             fields, "PixelSizeXMeter", FALSE, &header->dx, error)
         && surface_check_spacing ("PixelSizeXMeter", header->dx, error)
         && surface_fields_get_number (
             fields, "PixelSizeYMeter", FALSE, &header->dy, error)
         && surface_check_spacing ("PixelSizeYMeter", header->dy, error)
         && surface_fields_get_number (
             fields, "DepthImageOffset", FALSE, &header->offset, error)
         && surface_fields_get_number (
             fields, "InvalidPixelValue", TRUE, &header->invalid, error);
}

static gboolean
check_header (const Header *header, gsize size, GError **error)
{
  gsize stride = ((gsize) header->width * 4 + 7) / 8 * 8;

  if (header->offset == 0)
    return surface_error (error, "holds no heights (DepthImageOffset is 0)");
  if (!(header->offset >= MAGIC_SIZE && header->offset <= (gdouble) size))
    return surface_error (error,
        "has its heights at byte %g (DepthImageOffset), and %" G_GSIZE_FORMAT
        " bytes",
        header->offset, size);
  return surface_check_bytes (size, (gsize) header->offset,
      stride * (header->height - 1) + (gsize) header->width * 4, error);
}

static SurfaceImage *
read_heights (const guint8 *data, const Header *header, GError **error)
{
  gsize stride = ((gsize) header->width * 4 + 7) / 8 * 8;
  gdouble invalid = (gfloat) header->invalid;
  SurfaceImage *image =
      surface_image_new (header->width, header->height, error);

  if (!image)
    return NULL;
  image->dx = header->dx;
  image->dy = header->dy;
  for (guint y = 0; y < image->height; y++) {
    gdouble *row = image->z + (gsize) y * image->width;

    surface_samples_read (data + (gsize) header->offset + y * stride,
        SURFACE_SAMPLE_F32, FALSE, image->width, row);
    for (guint x = 0; x < image->width; x++)
      if (row[x] == invalid)
        row[x] = NAN;
  }
  surface_image_scale (image, 1, 0);
  return image;
}

static gboolean
has_texture (SurfaceFields *fields)
{
  const gchar *text = surface_fields_get (fields, "TextureImageOffset");
  gdouble offset;

  return text && surface_number (text, &offset) && offset > 0;
}

SurfaceImage *
surface_read_al3d (const guint8 *data, gsize size, GError **error)
{
  SurfaceFields *fields = surface_fields_new ();
  SurfaceImage *image = NULL;
  Header header = { .invalid = NAN };

  if (read_tags (fields, data, size, error)
      && read_al3d_header (fields, &header, error)
      && check_header (&header, size, error))
    image = read_heights (data, &header, error);
  if (image && has_texture (fields))
    surface_image_add_note (image, "its texture picture is not read");
  surface_fields_free (fields);
  return image;
}
