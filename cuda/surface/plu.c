/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Sensofar PLU, also written by Leica's instruments: a header of 500 bytes
 * that begins with a date as text, then, little-endian, numbers of rows and
 * columns, and rows of float32 in micrometres. */
#include "cuda/surface/bytes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DATE_SIZE 24 /* "Mon Apr 19 11:40:13 2021" */
#define UNIT 1e-6
#define MISSING 1000001

enum {
  AT_COMMENT = 132,
  AT_SPACING = 404, /* along x, along y: floats */
  AT_TYPE = 428,
  AT_HEIGHT = 500,
  AT_WIDTH = 504,
  AT_SAMPLES = 508,
};

/* Types of measurement; 2, 4 and 6 are several profiles, coordinates and
 * custom ones */
enum {
  TYPE_IMAGE = 0,
  TYPE_PROFILE = 1,
  TYPE_TOPOGRAPHY = 3,
  TYPE_THICKNESS = 5
};

/* @parts: (out): year, month, day, hour, minute, second */
static gboolean
parse_date (const guint8 *data, gsize size, guint parts[6])
{
  static const gchar days[] = "Mon Tue Wed Thu Fri Sat Sun";
  static const gchar months[] =
      "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec";
  gchar text[DATE_SIZE + 1], day[4], month[4];
  const gchar *found;

  if (size <= DATE_SIZE || data[DATE_SIZE] != 0)
    return FALSE;
  memcpy (text, data, sizeof (text));
  if (sscanf (text, "%3s %3s %2u %2u:%2u:%2u %4u", day, month, &parts[2],
          &parts[3], &parts[4], &parts[5], &parts[0])
          != 7
      || strlen (day) != 3 || strlen (month) != 3 || !strstr (days, day))
    return FALSE;
  found = strstr (months, month);
  parts[1] = found ? (guint) (found - months) / 4 + 1 : 0;
  return found != NULL;
}

gboolean
surface_detect_plu (const guint8 *data, gsize size)
{
  guint parts[6];

  return parse_date (data, size, parts);
}

static gboolean
read_spacing (const guint8 *data, guint axis, gdouble *spacing, GError **error)
{
  static const gchar *const names[] = { "spacing along x (byte 404)",
    "spacing along y (byte 408)" };

  *spacing = fabs (surface_get_f32 (data + AT_SPACING + 4 * axis)) * UNIT;
  return surface_check_spacing (names[axis], *spacing, error);
}

gboolean
surface_describe_plu (const SurfaceSource *source, const guint8 *head,
    gsize n_head, SurfaceImage *about, SurfaceLayout *layout, GError **error)
{
  guint type, parts[6];

  if (!surface_check_bytes (n_head, 0, AT_SAMPLES, error))
    return FALSE;
  type = surface_get_u32 (head + AT_TYPE);
  if (type != TYPE_IMAGE && type != TYPE_PROFILE && type != TYPE_TOPOGRAPHY
      && type != TYPE_THICKNESS)
    return surface_error (error,
        "holds a measurement of the type %u (byte %d); 0, 1, 3 and 5 are read",
        type, AT_TYPE);
  about->height = surface_get_u32 (head + AT_HEIGHT);
  about->width = surface_get_u32 (head + AT_WIDTH);
  if (!surface_check_size (about->width, about->height, error)
      || !read_spacing (head, 0, &about->dx, error)
      || !((about->height == 1 && type == TYPE_PROFILE)
           || read_spacing (head, 1, &about->dy, error)))
    return FALSE;
  about->title = surface_text_latin1 (head + AT_COMMENT, 256);
  if (parse_date (head, n_head, parts))
    about->date = surface_date (
        parts[0], parts[1], parts[2], parts[3], parts[4], parts[5]);
  surface_layout_init (layout, AT_SAMPLES, SURFACE_SAMPLE_F32, UNIT);
  layout->high = MISSING;
  surface_layout_note_rest (layout, about, source->size);
  return surface_layout_check (layout, about, source->size, error);
}
