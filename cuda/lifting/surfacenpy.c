/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* NumPy's NPY, versions 1 to 3: "\x93NUMPY", version, length of the header, the
 * header (a Python dictionary), samples. Heights in metres; no spacing. */
#include "surfacebytes.h"

#include <math.h>
#include <string.h>

#define ALIGNMENT 64

/* The header's dictionary, as far as it is of use */
typedef struct {
  SurfaceSample type;
  gboolean big;
  gboolean fortran;
  guint width, height;
} Header;

/* --- the dictionary --------------------------------------------------------- */

static const gchar *
skip_blanks (const gchar *at)
{
  while (g_ascii_isspace (*at))
    at++;
  return at;
}

/* What follows "'name':". Returns: %NULL without */
static const gchar *
find_value (const gchar *header, const gchar *name)
{
  gchar *quoted = g_strdup_printf ("'%s'", name);
  const gchar *at = strstr (header, quoted);

  if (at)
    at = skip_blanks (at + strlen (quoted));
  g_free (quoted);
  return at && *at == ':' ? skip_blanks (at + 1) : NULL;
}

/* "<f8" and the like */
static gboolean
parse_type (const gchar *text, Header *header, GError **error)
{
  static const struct {
    const gchar *name;
    SurfaceSample type;
  } types[] = {
    { "u1", SURFACE_SAMPLE_U8 },
    { "i1", SURFACE_SAMPLE_I8 },
    { "u2", SURFACE_SAMPLE_U16 },
    { "i2", SURFACE_SAMPLE_I16 },
    { "u4", SURFACE_SAMPLE_U32 },
    { "i4", SURFACE_SAMPLE_I32 },
    { "u8", SURFACE_SAMPLE_U64 },
    { "i8", SURFACE_SAMPLE_I64 },
    { "f4", SURFACE_SAMPLE_F32 },
    { "f8", SURFACE_SAMPLE_F64 },
  };
  const gchar *end = text && *text == '\'' ? strchr (text + 1, '\'') : NULL;
  gchar *shown;

  if (!end)
    return surface_error (error, "has no sample type (descr) that is known");
  if (end == text + 4 && strchr ("<>|=", text[1]))
    for (guint i = 0; i < G_N_ELEMENTS (types); i++)
      if (!strncmp (text + 2, types[i].name, 2)) {
        header->type = types[i].type;
        header->big =
            text[1] == '>' || (text[1] == '=' && G_BYTE_ORDER == G_BIG_ENDIAN);
        return TRUE;
      }
  shown = surface_text ((const guint8 *) text + 1, MIN (end - text - 1, 40));
  surface_error (error,
      "has samples of the type \"%s\"; integers of 8 to 64 bits and floats of "
      "32 and 64 bits are read",
      shown ? shown : "");
  g_free (shown);
  return FALSE;
}

/* "(height, width)" or "(width,)" */
static gboolean
parse_shape (const gchar *text, Header *header, GError **error)
{
  guint64 sides[2] = { 0 };
  guint n = 0;

  if (!text || *text++ != '(')
    return surface_error (error, "has no shape");
  for (;; n++) {
    gchar *end;

    text = skip_blanks (text);
    if (*text == ')')
      break;
    if (n == 2 || !g_ascii_isdigit (*text))
      return surface_error (error,
          "has a shape other than (rows, columns), the only one that is read");
    sides[n] = g_ascii_strtoull (text, &end, 10);
    text = skip_blanks (end);
    if (*text == ',')
      text++;
    else if (*text != ')')
      return surface_error (error, "has a shape that cannot be understood");
  }
  if (n == 0)
    return surface_error (error, "holds a single number, not a surface");
  if (n == 1) {
    sides[1] = sides[0];
    sides[0] = 1;
  }
  if (!surface_check_size (sides[1], sides[0], error))
    return FALSE;
  header->height = sides[0];
  header->width = sides[1];
  return TRUE;
}

static gboolean
parse_header (const gchar *text, Header *header, GError **error)
{
  const gchar *order = find_value (text, "fortran_order");

  if (!order || (strncmp (order, "True", 4) && strncmp (order, "False", 5)))
    return surface_error (error, "does not say its order (fortran_order)");
  header->fortran = *order == 'T';
  return parse_type (find_value (text, "descr"), header, error)
         && parse_shape (find_value (text, "shape"), header, error);
}

/* --- reading ---------------------------------------------------------------- */

/* Where the samples begin */
static gboolean
read_header (const guint8 *data, gsize size, Header *header, gsize *samples,
    GError **error)
{
  gsize start = 10, length;
  gboolean ok;
  gchar *text;

  if (!surface_check_bytes (size, 0, 12, error))
    return FALSE;
  length = surface_get_u16 (data + 8);
  if (data[6] == 2 || data[6] == 3) {
    start = 12;
    length = surface_get_u32 (data + 8);
  } else if (data[6] != 1) {
    return surface_error (
        error, "is of version %u; 1 to 3 are read", (guint) data[6]);
  }
  if (!surface_check_bytes (size, start, length, error))
    return FALSE;
  text = g_strndup ((const gchar *) data + start, length);
  ok = parse_header (text, header, error);
  g_free (text);
  *samples = start + length;
  return ok;
}

/* Columns to rows */
static gboolean
transpose (SurfaceImage *image, GError **error)
{
  SurfaceImage *other = surface_image_new (image->width, image->height, error);
  gdouble *z;

  if (!other)
    return FALSE;
  for (guint y = 0; y < image->height; y++)
    for (guint x = 0; x < image->width; x++)
      other->z[(gsize) y * image->width + x] =
          image->z[(gsize) x * image->height + y];
  z = image->z;
  image->z = other->z;
  other->z = z;
  surface_image_free (other);
  return TRUE;
}

SurfaceImage *
surface_read_npy (const guint8 *data, gsize size, GError **error)
{
  SurfaceImage *image;
  Header header = { 0 };
  gsize samples = 0;

  if (!read_header (data, size, &header, &samples, error)
      || !surface_check_bytes (size, samples,
          surface_sample_size (header.type) * header.width * header.height,
          error))
    return NULL;
  image = surface_image_new (header.width, header.height, error);
  if (!image)
    return NULL;
  surface_samples_read (data + samples, header.type, header.big,
      (gsize) header.width * header.height, image->z);
  surface_image_scale (image, 1, 0);
  if (header.fortran && !transpose (image, error))
    g_clear_pointer (&image, surface_image_free);
  return image;
}

/* --- writing ---------------------------------------------------------------- */

gboolean
surface_write_npy (const SurfaceImage *image, SurfaceOut *out, GError **error)
{
  gchar *header = g_strdup_printf (
      "{'descr': '<f8', 'fortran_order': False, 'shape': (%u, %u), }",
      image->height, image->width);
  gsize length = strlen (header);
  gsize padded = (10 + length + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  guint8 *to = surface_out_add (out, padded, error);

  if (to) {
    memcpy (to, "\x93NUMPY\1\0", 8);
    surface_put_u16 (to + 8, padded - 10);
    memset (to + 10, ' ', padded - 10);
    memcpy (to + 10, header, length);
    to[padded - 1] = '\n';
  }
  g_free (header);
  return to && surface_out_add_samples (out, image, SURFACE_SAMPLE_F64, error);
}
