/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Zygo MetroPro DAT, as described in the MetroPro Reference Guide (0347): a
 * header of 834 or 4096 bytes, big-endian, intensity pictures of 16 bits,
 * then phases of 32 bits: height = phase * IntfScaleFactor * ObliquityFactor
 * * WavelengthIn / resolution. */
#include "cuda/surface/bytes.h"

#include <math.h>

#define LEAST_HEADER 834
#define MISSING 2147483640.

enum {
  AT_HEADER_SIZE = 6,
  AT_INTENSITY_WIDTH = 52,
  AT_INTENSITY_HEIGHT = 54,
  AT_INTENSITY_COUNT = 56,
  AT_WIDTH = 68,
  AT_HEIGHT = 70,
  AT_TIME = 76,
  AT_COMMENT = 80,
  AT_SCALE = 164,
  AT_WAVELENGTH = 168,
  AT_OBLIQUITY = 176,
  AT_LATERAL = 184,
  AT_PHASE_RESOLUTION = 218,
  AT_SIGN = 232,
};

static gdouble
get_field (const guint8 *header, guint at, SurfaceSample type)
{
  gdouble value;

  surface_samples_read (header + at, type, TRUE, 1, &value);
  return value;
}

/* Metres of one step of the phase */
static gboolean
read_scale (const guint8 *header, gdouble *scale, GError **error)
{
  static const gdouble resolutions[] = { 4096, 32768, 131072 };
  const gdouble phase =
      get_field (header, AT_PHASE_RESOLUTION, SURFACE_SAMPLE_I16);

  if (!(phase >= 0 && phase < G_N_ELEMENTS (resolutions)))
    return surface_error (error,
        "has the PhaseRes %g (byte %d); 0, 1 and 2 are possible", phase,
        AT_PHASE_RESOLUTION);
  *scale = get_field (header, AT_SCALE, SURFACE_SAMPLE_F32)
           * get_field (header, AT_OBLIQUITY, SURFACE_SAMPLE_F32)
           * get_field (header, AT_WAVELENGTH, SURFACE_SAMPLE_F32)
           / resolutions[(guint) phase];
  if (get_field (header, AT_SIGN, SURFACE_SAMPLE_I16) != 0)
    *scale = -*scale;
  return surface_check_factor ("IntfScaleFactor * ObliquityFactor * "
                               "WavelengthIn (bytes 164, 176 and 168)",
      *scale, error);
}

/* Byte position of the phases */
static guint64
find_phases (const guint8 *header)
{
  return (guint64) get_field (header, AT_HEADER_SIZE, SURFACE_SAMPLE_U32)
         + (guint64) (2
                      * get_field (
                          header, AT_INTENSITY_WIDTH, SURFACE_SAMPLE_U16)
                      * get_field (
                          header, AT_INTENSITY_HEIGHT, SURFACE_SAMPLE_U16)
                      * get_field (
                          header, AT_INTENSITY_COUNT, SURFACE_SAMPLE_U16));
}

static gchar *
read_metropro_date (const guint8 *header)
{
  const gdouble seconds = get_field (header, AT_TIME, SURFACE_SAMPLE_I32);
  GDateTime *time =
      seconds > 0 ? g_date_time_new_from_unix_utc ((gint64) seconds) : NULL;
  gchar *date = time ? g_date_time_format (time, "%Y-%m-%dT%H:%M:%S") : NULL;

  g_clear_pointer (&time, g_date_time_unref);
  return date;
}

gboolean
surface_describe_metropro (const SurfaceSource *source, const guint8 *head,
    gsize n_head, SurfaceImage *about, SurfaceLayout *layout, GError **error)
{
  gdouble header_size, pictures, scale = 1;

  if (!surface_check_bytes (n_head, 0, LEAST_HEADER, error))
    return FALSE;
  header_size = get_field (head, AT_HEADER_SIZE, SURFACE_SAMPLE_U32);
  if (header_size < LEAST_HEADER)
    return surface_error (error,
        "has a header of %g bytes (byte %d); %d at least are possible",
        header_size, AT_HEADER_SIZE, LEAST_HEADER);
  about->width = (guint) get_field (head, AT_WIDTH, SURFACE_SAMPLE_U16);
  about->height = (guint) get_field (head, AT_HEIGHT, SURFACE_SAMPLE_U16);
  about->dx = get_field (head, AT_LATERAL, SURFACE_SAMPLE_F32);
  if (!surface_check_size (about->width, about->height, error)
      || !read_scale (head, &scale, error)
      || (about->dx != 0 /* not calibrated */
          && !surface_check_spacing ("CameraRes (byte 184)", about->dx, error)))
    return FALSE;
  about->dy = about->dx;
  about->title = surface_text_latin1 (head + AT_COMMENT, 82);
  about->date = read_metropro_date (head);
  surface_layout_init (layout, find_phases (head), SURFACE_SAMPLE_I32, scale);
  layout->big = TRUE;
  layout->high = MISSING;
  pictures = get_field (head, AT_INTENSITY_COUNT, SURFACE_SAMPLE_U16);
  if (pictures > 0)
    surface_image_add_note (
        about, "its intensity pictures (%g) are not read", pictures);
  surface_layout_note_rest (layout, about, source->size);
  return surface_layout_check (layout, about, source->size, error);
}
