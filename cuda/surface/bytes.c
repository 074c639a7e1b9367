/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/surface/bytes.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define MAX_TEXT 255

gboolean
surface_error (GError **error, const gchar *format, ...)
{
  va_list args;

  va_start (args, format);
  if (error)
    *error = g_error_new_valist (CVIS_ERROR, CVIS_ERROR_FORMAT, format, args);
  va_end (args);
  return FALSE;
}

SurfaceImage *
surface_image_new (guint width, guint height, GError **error)
{
  SurfaceImage *image;
  gdouble *z;

  if (!surface_check_size (width, height, NULL)) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
        "Unsupported size of %u x %u samples: 1 to 2^31 are supported", width,
        height);
    return NULL;
  }
  z = g_try_new (gdouble, (gsize) width * height);
  if (!z) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "Not enough memory for a surface of %u x %u samples", width, height);
    return NULL;
  }
  image = g_new0 (SurfaceImage, 1);
  image->width = width;
  image->height = height;
  image->z = z;
  return image;
}

void
surface_image_clear (SurfaceImage *image)
{
  g_free (image->z);
  g_free (image->title);
  g_free (image->date);
  g_free (image->note);
  *image = (SurfaceImage){ 0 };
}

void
surface_image_free (SurfaceImage *image)
{
  surface_image_clear (image);
  g_free (image);
}

void
surface_image_add_note (SurfaceImage *image, const gchar *format, ...)
{
  gchar *text, *clause, *old = image->note;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  clause = g_utf8_make_valid (text, -1); /* it may quote the file */
  g_free (text);
  image->note = old ? g_strconcat (old, "; ", clause, NULL) : g_strdup (clause);
  g_free (clause);
  g_free (old);
}

void
surface_image_copy_about (SurfaceImage *to, const SurfaceImage *from)
{
  to->dx = from->dx;
  to->dy = from->dy;
  to->title = g_strdup (from->title);
  to->date = g_strdup (from->date);
  to->note = g_strdup (from->note);
  to->no_z_unit = from->no_z_unit;
  to->no_xy_unit = from->no_xy_unit;
}

/* --- checks ---------------------------------------------------------------- */

/* One more than the limit; 0: none. No _Thread_local, in which the leak sanitizer may
 * die while a thread ends. */
static GPrivate limit_of_samples;

void
surface_file_limit_samples (guint64 most)
{
  g_private_set (
      &limit_of_samples, most < G_MAXSIZE ? GSIZE_TO_POINTER (most + 1) : NULL);
}

static guint64
get_most_samples (void)
{
  const gsize limit = GPOINTER_TO_SIZE (g_private_get (&limit_of_samples));

  return limit > 0 ? limit - 1 : G_MAXUINT64;
}

gboolean
surface_check_size (guint64 width, guint64 height, GError **error)
{
  if (width == 0 || height == 0)
    return surface_error (error,
        "has %" G_GUINT64_FORMAT " x %" G_GUINT64_FORMAT " samples: none",
        width, height);
  if (width > SURFACE_MAX_SAMPLES / height)
    return surface_error (error,
        "has %" G_GUINT64_FORMAT " x %" G_GUINT64_FORMAT
        " samples; at most 2^31 are read",
        width, height);
  if (width * height > get_most_samples ()) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "has %" G_GUINT64_FORMAT " x %" G_GUINT64_FORMAT
        " samples; at most %" G_GUINT64_FORMAT " are allowed (max-size)",
        width, height, get_most_samples ());
    return FALSE;
  }
  return TRUE;
}

gboolean
surface_check_spacing (const gchar *name, gdouble value, GError **error)
{
  if (isfinite (value) && value > 0)
    return TRUE;
  return surface_error (
      error, "%s is %g; a spacing above 0 is expected", name, value);
}

gboolean
surface_check_factor (const gchar *name, gdouble value, GError **error)
{
  if (isfinite (value) && value != 0)
    return TRUE;
  return surface_error (
      error, "%s is %g; a factor other than 0 is expected", name, value);
}

gboolean
surface_check_finite (const gchar *name, gdouble value, GError **error)
{
  if (isfinite (value))
    return TRUE;
  return surface_error (
      error, "%s is %g; a finite number is expected", name, value);
}

gboolean
surface_check_bytes (
    guint64 size, guint64 offset, guint64 needed, GError **error)
{
  if (offset <= size && needed <= size - offset)
    return TRUE;
  return surface_error (error,
      "is cut off: %" G_GUINT64_FORMAT " bytes from byte %" G_GUINT64_FORMAT
      " on are needed, and it has %" G_GUINT64_FORMAT " bytes",
      needed, offset, size);
}

gboolean
surface_check_known_spacing (
    const gchar *title, const SurfaceImage *image, GError **error)
{
  if (isfinite (image->dx) && image->dx > 0 && isfinite (image->dy)
      && image->dy > 0)
    return TRUE;
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
      "%s needs the spacing of samples, which is not known (dx %g, dy %g "
      "metres; the properties dx and dy of surfacesrc set it)",
      title, image->dx, image->dy);
  return FALSE;
}

gboolean
surface_tiff_holds_spacing (const SurfaceImage *image)
{
  return image->dx > 1e-11 && image->dx < 1e3 && image->dy > 1e-11
         && image->dy < 1e3;
}

/* --- samples --------------------------------------------------------------- */

gsize
surface_sample_size (SurfaceSample type)
{
  static const guint8 sizes[] = { 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 2 };

  return sizes[type];
}

static guint16
get_16 (const guint8 *at, gboolean big)
{
  guint16 v;

  memcpy (&v, at, sizeof (v));
  return big ? GUINT16_FROM_BE (v) : GUINT16_FROM_LE (v);
}

static guint32
get_32 (const guint8 *at, gboolean big)
{
  guint32 v;

  memcpy (&v, at, sizeof (v));
  return big ? GUINT32_FROM_BE (v) : GUINT32_FROM_LE (v);
}

static guint64
get_64 (const guint8 *at, gboolean big)
{
  guint64 v;

  memcpy (&v, at, sizeof (v));
  return big ? GUINT64_FROM_BE (v) : GUINT64_FROM_LE (v);
}

static gdouble
as_float (guint32 bits)
{
  gfloat v;

  memcpy (&v, &bits, sizeof (v));
  return v;
}

static gdouble
as_double (guint64 bits)
{
  gdouble v;

  memcpy (&v, &bits, sizeof (v));
  return v;
}

void
surface_samples_read (
    const guint8 *bytes, SurfaceSample type, gboolean big, gsize n, gdouble *z)
{
#define READ(size, expression)                                                 \
  for (gsize i = 0; i < n; i++, bytes += size)                                 \
    z[i] = expression;                                                         \
  break

  switch (type) {
    case SURFACE_SAMPLE_U8:
      READ (1, *bytes);
    case SURFACE_SAMPLE_I8:
      READ (1, (gint8) *bytes);
    case SURFACE_SAMPLE_U16:
      READ (2, get_16 (bytes, big));
    case SURFACE_SAMPLE_I16:
      READ (2, (gint16) get_16 (bytes, big));
    case SURFACE_SAMPLE_U32:
      READ (4, get_32 (bytes, big));
    case SURFACE_SAMPLE_I32:
      READ (4, (gint32) get_32 (bytes, big));
    case SURFACE_SAMPLE_U64:
      READ (8, get_64 (bytes, big));
    case SURFACE_SAMPLE_I64:
      READ (8, (gint64) get_64 (bytes, big));
    case SURFACE_SAMPLE_F32:
      READ (4, as_float (get_32 (bytes, big)));
    case SURFACE_SAMPLE_F64:
      READ (8, as_double (get_64 (bytes, big)));
    case SURFACE_SAMPLE_F16:
      READ (2, surface_half (get_16 (bytes, big)));
  }
#undef READ
}

void
surface_image_scale (SurfaceImage *image, gdouble scale, gdouble offset)
{
  gsize n = (gsize) image->width * image->height;

  for (gsize i = 0; i < n; i++) {
    gdouble z = image->z[i] * scale + offset;
    image->z[i] = isfinite (z) ? z : NAN;
  }
}

guint16
surface_get_u16 (const guint8 *at)
{
  return get_16 (at, FALSE);
}

guint32
surface_get_u32 (const guint8 *at)
{
  return get_32 (at, FALSE);
}

gdouble
surface_get_f32 (const guint8 *at)
{
  return as_float (get_32 (at, FALSE));
}

gdouble
surface_get_f64 (const guint8 *at)
{
  return as_double (get_64 (at, FALSE));
}

void
surface_put_u16 (guint8 *at, guint value)
{
  guint16 v = GUINT16_TO_LE ((guint16) value);

  memcpy (at, &v, sizeof (v));
}

void
surface_put_u32 (guint8 *at, guint32 value)
{
  guint32 v = GUINT32_TO_LE (value);

  memcpy (at, &v, sizeof (v));
}

void
surface_put_f32 (guint8 *at, gfloat value)
{
  guint32 bits;

  memcpy (&bits, &value, sizeof (bits));
  surface_put_u32 (at, bits);
}

void
surface_put_f64 (guint8 *at, gdouble value)
{
  guint64 bits;

  memcpy (&bits, &value, sizeof (bits));
  bits = GUINT64_TO_LE (bits);
  memcpy (at, &bits, sizeof (bits));
}

/* --- output -------------------------------------------------------------- */

guint8 *
surface_out_add (SurfaceOut *out, gsize n, GError **error)
{
  guint8 *at;

  if (n > out->room - out->size) {
    gsize room = MAX (out->size + n, out->room + out->room / 2);
    guint8 *data = n <= G_MAXSIZE / 4 ? g_try_realloc (out->data, room) : NULL;

    if (!data) {
      g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
          "of %" G_GSIZE_FORMAT " bytes is more than there is memory for",
          room);
      return NULL;
    }
    out->data = data;
    out->room = room;
  }
  at = out->data + out->size;
  out->size += n;
  return at;
}

gboolean
surface_out_add_text (SurfaceOut *out, const gchar *text, GError **error)
{
  gsize n = strlen (text);
  guint8 *to = surface_out_add (out, n, error);

  if (to && n > 0)
    memcpy (to, text, n);
  return to != NULL;
}

gboolean
surface_out_add_samples (SurfaceOut *out, const SurfaceImage *image,
    SurfaceSample type, GError **error)
{
  gsize n = (gsize) image->width * image->height;
  gsize size = surface_sample_size (type);
  guint8 *to = surface_out_add (out, n * size, error);

  for (gsize i = 0; to && i < n; i++)
    if (type == SURFACE_SAMPLE_F32)
      surface_put_f32 (to + i * size, (gfloat) image->z[i]);
    else
      surface_put_f64 (to + i * size, image->z[i]);
  return to != NULL;
}

gint
surface_pwrite (int fd, const void *bytes, gsize n, guint64 at)
{
  for (gsize done = 0; done < n;) {
    gssize wrote = pwrite (
        fd, (const guint8 *) bytes + done, n - done, (off_t) (at + done));

    if (wrote < 0 && errno != EINTR)
      return errno;
    done += wrote > 0 ? (gsize) wrote : 0;
  }
  return 0;
}

/* --- text ------------------------------------------------------------------ */

gboolean
surface_number (const gchar *text, gdouble *value)
{
  gchar *end;

  while (g_ascii_isspace (*text))
    text++;
  *value = g_ascii_strtod (text, &end);
  if (end == text)
    return FALSE;
  while (g_ascii_isspace (*end))
    end++;
  return *end == 0;
}

gchar *
surface_text (const guint8 *bytes, gsize size)
{
  const guint8 *nul = size ? memchr (bytes, 0, size) : NULL;
  gchar *text, *cut;

  if (nul)
    size = nul - bytes;
  text = g_utf8_make_valid ((const gchar *) bytes, MIN (size, 4 * MAX_TEXT));
  for (gchar *c = text; *c; c++)
    if (g_ascii_iscntrl (*c))
      *c = ' ';
  if (g_utf8_strlen (text, -1) > MAX_TEXT)
    *g_utf8_offset_to_pointer (text, MAX_TEXT) = 0;
  cut = g_strdup (g_strstrip (text));
  g_free (text);
  if (*cut == 0)
    g_clear_pointer (&cut, g_free);
  return cut;
}

gchar *
surface_text_latin1 (const guint8 *bytes, gsize size)
{
  const gsize n = strnlen ((const gchar *) bytes, MIN (size, 4 * MAX_TEXT));
  gchar *utf8 = g_convert ((const gchar *) bytes, (gssize) n, "UTF-8",
      "ISO-8859-1", NULL, NULL, NULL);
  gchar *text =
      utf8 ? surface_text ((const guint8 *) utf8, strlen (utf8)) : NULL;

  g_free (utf8);
  return text;
}

gdouble
surface_unit (const gchar *unit)
{
  static const struct {
    const gchar *name;
    gdouble metres;
  } units[] = {
    { "m", 1 },
    { "cm", 1e-2 },
    { "mm", 1e-3 },
    { "um", 1e-6 },
    { "\xc2\xb5m", 1e-6 }, /* micro sign, U+00B5 */
    { "\xce\xbcm", 1e-6 }, /* Greek mu, U+03BC */
    { "\xb5m", 1e-6 },     /* micro sign in Latin 1 */
    { "nm", 1e-9 },
    { "pm", 1e-12 },
    { "\xc3\x85", 1e-10 },
    { "\xc5", 1e-10 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (units); i++)
    if (strcmp (unit, units[i].name) == 0)
      return units[i].metres;
  return 0;
}

gchar *
surface_date (
    guint year, guint month, guint day, guint hour, guint minute, guint second)
{
  if (year < 1 || year > 9999 || month < 1 || month > 12 || day < 1
      || !g_date_valid_dmy (day, month, year) || hour > 23 || minute > 59
      || second > 59)
    return NULL;
  /* a placeholder for an unknown date */
  if (year == 1970 && month == 1 && day == 1 && hour + minute + second == 0)
    return NULL;
  return g_strdup_printf (
      "%04u-%02u-%02uT%02u:%02u:%02u", year, month, day, hour, minute, second);
}

gboolean
surface_date_parts (const SurfaceImage *image, gint *year, gint *month,
    gint *day, gint *hour, gint *minute, gint *second)
{
  GTimeZone *utc;
  GDateTime *date;

  if (!image->date)
    return FALSE;
  utc = g_time_zone_new_utc ();
  date = g_date_time_new_from_iso8601 (image->date, utc);
  g_time_zone_unref (utc);
  if (!date)
    return FALSE;
  g_date_time_get_ymd (date, year, month, day);
  *hour = g_date_time_get_hour (date);
  *minute = g_date_time_get_minute (date);
  *second = g_date_time_get_second (date);
  g_date_time_unref (date);
  return TRUE;
}

/* --- fields ---------------------------------------------------------------- */

struct _SurfaceFields {
  GHashTable *values;
};

SurfaceFields *
surface_fields_new (void)
{
  SurfaceFields *fields = g_new (SurfaceFields, 1);

  fields->values =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  return fields;
}

void
surface_fields_free (SurfaceFields *fields)
{
  g_hash_table_unref (fields->values);
  g_free (fields);
}

gboolean
surface_fields_add_line (SurfaceFields *fields, const gchar *line, gsize size)
{
  const gchar *equals = memchr (line, '=', size);
  gchar *name, *value;

  if (!equals || memchr (line, 0, size))
    return FALSE;
  name = g_ascii_strdown (line, equals - line);
  value = g_strndup (equals + 1, line + size - equals - 1);
  g_strstrip (name);
  g_strstrip (value);
  g_hash_table_replace (fields->values, name, value);
  return TRUE;
}

const gchar *
surface_fields_get (SurfaceFields *fields, const gchar *name)
{
  gchar *lower = g_ascii_strdown (name, -1);
  const gchar *value = g_hash_table_lookup (fields->values, lower);

  g_free (lower);
  return value;
}

static gboolean
reject_header_field (
    const gchar *name, const gchar *text, const gchar *expected, GError **error)
{
  gchar *shown = surface_text ((const guint8 *) text, strlen (text));

  surface_error (error, "%s is \"%.40s\"; %s is expected", name,
      shown ? shown : "", expected);
  g_free (shown);
  return FALSE;
}

gboolean
surface_fields_get_number (SurfaceFields *fields, const gchar *name,
    gboolean optional, gdouble *value, GError **error)
{
  const gchar *text = surface_fields_get (fields, name);

  if (!text && optional)
    return TRUE;
  if (!text)
    return surface_error (error, "has no %s", name);
  if (!surface_number (text, value))
    return reject_header_field (name, text, "a number", error);
  return TRUE;
}

gboolean
surface_fields_get_count (
    SurfaceFields *fields, const gchar *name, guint *value, GError **error)
{
  const gchar *text = surface_fields_get (fields, name);
  guint64 count;

  if (!text)
    return surface_error (error, "has no %s", name);
  if (!g_ascii_string_to_unsigned (
          text, 10, 1, SURFACE_MAX_SAMPLES, &count, NULL))
    return reject_header_field (name, text, "a number from 1 to 2^31", error);
  *value = count;
  return TRUE;
}

gboolean
surface_fields_get_unit (SurfaceFields *fields, const gchar *name,
    gdouble otherwise, gdouble *unit, GError **error)
{
  const gchar *text = surface_fields_get (fields, name);

  *unit = text && *text ? surface_unit (text) : otherwise;
  if (*unit == 0)
    return reject_header_field (name, text, "a unit of length", error);
  return TRUE;
}
