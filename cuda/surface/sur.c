/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Digital Surf's SUR: a header of 512 bytes, little-endian, a comment and a
 * private zone, then integers of 16 or 32 bits: height = integer * Z step +
 * Z offset. DSCOMPRESSED: the integers as zlib streams after a table of
 * their sizes. Integers outside Zmin to Zmax are special points: missing.
 * Inversion specifies how the points were mirrored before writing; this
 * reader undoes it, like Gwyddion's. */
#include "cuda/surface/bytes.h"

#include <gio/gio.h>
#include <math.h>
#include <string.h>

#define HEADER_SIZE 512
#define MAX_STREAMS 65536
#define FULL_SCALE (1 << 30)
#define UNIT 1e-3 /* values are written in millimetres */

enum {
  AT_FORMAT = 12,
  AT_OBJECTS = 14,
  AT_VERSION = 16,
  AT_TYPE = 18,
  AT_NAME = 20,
  AT_OPERATOR = 50,
  AT_POINT_SIZE = 80,
  AT_SPECIAL = 86,
  AT_ABSOLUTE = 88,
  AT_DEPTH = 94, /* samples of each point in a map of spectra */
  AT_BITS = 98,
  AT_Z_MIN = 100,
  AT_Z_MAX = 104,
  AT_WIDTH = 108,
  AT_HEIGHT = 112,
  AT_TOTAL = 116,
  AT_STEPS = 120, /* along x, y, z: floats */
  AT_NAMES = 132, /* 16 bytes each, like the units */
  AT_STEP_UNITS = 180,
  AT_LENGTH_UNITS = 228,
  AT_RATIOS = 276,
  AT_INVERSION = 290,
  AT_DATE = 306, /* second, minute, hour, day, month, year */
  AT_COMMENT_SIZE = 334,
  AT_PRIVATE_SIZE = 336,
  AT_Z_OFFSET = 474,
};

/* Object types; files with several objects, such as an RGB image, begin with
 * one of them. */
enum {
  TYPE_PROFILE = 1,
  TYPE_SURFACE = 2,
  TYPE_INTENSITY_IMAGE = 10,
  TYPE_RGB_IMAGE = 12,   /* red, then green and blue */
  TYPE_RGB_SURFACE = 13, /* heights, then colours */
  TYPE_RGB_INTENSITY_SURFACE = 16,
  TYPE_SPECTRUM = 20,
  TYPE_SPECTRA = 21, /* one spectrum for each point */
};

/* Values of Inversion; other values mean none */
enum {
  INVERSION_NONE,
  INVERSION_Z,
  INVERSION_Z_COLUMNS, /* also reverses the order of columns */
  INVERSION_Z_ROWS,
};

typedef struct {
  gboolean compressed;
  guint inversion;
  SurfaceSample type;
  guint object;
  guint width, height, depth; /* depth: samples of each point */
  gdouble dx, dy, dz, z_offset;
  gboolean no_z_unit;
  gboolean special;
  gdouble z_min, z_max;
  gsize offset; /* byte position of the points */
} Header;

/* --- the header -------------------------------------------------------------- */

static gdouble
get_unit (const guint8 *at)
{
  gchar text[17] = { 0 };

  memcpy (text, at, 16);
  return surface_unit (g_strstrip (text));
}

static gboolean
is_arbitrary_unit (const guint8 *at)
{
  gchar text[17] = { 0 };

  memcpy (text, at, 16);
  g_strstrip (text);
  return *text == 0 || !g_ascii_strcasecmp (text, "a.u.")
         || !g_ascii_strcasecmp (text, "a. u.")
         || !g_ascii_strcasecmp (text, "au");
}

/* Whether values and steps may have other units than lengths */
static gboolean
is_picture (guint object)
{
  return object == TYPE_INTENSITY_IMAGE || object == TYPE_RGB_IMAGE
         || object == TYPE_SPECTRUM || object == TYPE_SPECTRA;
}

/* Without a unit of length, values are used as they are and the spacing is
 * unknown. @i: 0 x, 1 y, 2 z */
static gboolean
read_step (
    const guint8 *data, Header *header, guint i, gdouble *step, GError **error)
{
  static const gchar *const names[] = { "X step", "Y step", "Z step" };
  const guint8 *unit = data + AT_STEP_UNITS + 16 * i;
  gdouble metres = get_unit (unit);

  if (metres == 0
      && (is_arbitrary_unit (unit) || is_picture (header->object))) {
    *step = 0;
    if (i < 2)
      return TRUE;
    header->no_z_unit = TRUE;
    metres = 1;
  }
  if (metres == 0) {
    gchar *shown = surface_text (unit, 16);

    surface_error (error, "has its %s in \"%s\", which is no unit of length",
        names[i], shown ? shown : "");
    g_free (shown);
    return FALSE;
  }
  *step = surface_get_f32 (data + AT_STEPS + 4 * i) * metres;
  if (i == 1 && header->height == 1 && *step == 0) /* a profile */
    return TRUE;
  return i < 2 ? surface_check_spacing (names[i], *step, error)
               : surface_check_factor (names[i], *step, error);
}

/* Without a unit of its own, the offset has the unit of the step. */
static gboolean
read_z_offset (const guint8 *data, gdouble *offset, GError **error)
{
  gdouble unit = get_unit (data + AT_LENGTH_UNITS + 32);

  if (unit == 0)
    unit = get_unit (data + AT_STEP_UNITS + 32);
  if (unit == 0)
    unit = 1;
  *offset = surface_get_f32 (data + AT_Z_OFFSET) * unit;
  return surface_check_finite ("Z offset", *offset, error);
}

static gboolean
read_kind (const guint8 *data, Header *header, GError **error)
{
  guint format = surface_get_u16 (data + AT_FORMAT);
  guint bits = surface_get_u16 (data + AT_BITS);

  header->compressed = data[1] == 'S';
  if (format != 0)
    return surface_error (error, "is of the format %u; 0 (PC) is read", format);
  header->object = surface_get_u16 (data + AT_TYPE);
  if (header->object != TYPE_PROFILE && header->object != TYPE_SURFACE
      && header->object != TYPE_RGB_SURFACE
      && header->object != TYPE_RGB_INTENSITY_SURFACE
      && !is_picture (header->object))
    return surface_error (error,
        "holds an object of the type %u (byte %d); 1, 2, 10, 12, 13, 16, 20 "
        "and 21 are read",
        header->object, AT_TYPE);
  if (bits != 16 && bits != 32)
    return surface_error (
        error, "has points of %u bits; 16 and 32 are possible", bits);
  header->type = bits == 16 ? SURFACE_SAMPLE_I16 : SURFACE_SAMPLE_I32;
  return TRUE;
}

static gboolean
read_sur_header (const guint8 *data, gsize size, Header *header, GError **error)
{
  if (!surface_check_bytes (size, 0, HEADER_SIZE, error)
      || !read_kind (data, header, error))
    return FALSE;
  header->width = surface_get_u32 (data + AT_WIDTH);
  header->height = surface_get_u32 (data + AT_HEIGHT);
  header->depth = 1;
  if (header->object == TYPE_SPECTRA)
    header->depth = MAX (surface_get_u32 (data + AT_DEPTH), 1);
  header->special = surface_get_u16 (data + AT_SPECIAL) != 0;
  header->inversion = surface_get_u16 (data + AT_INVERSION);
  if (header->inversion > INVERSION_Z_ROWS)
    header->inversion = INVERSION_NONE;
  header->z_min = (gint32) surface_get_u32 (data + AT_Z_MIN);
  header->z_max = (gint32) surface_get_u32 (data + AT_Z_MAX);
  header->offset = (gsize) HEADER_SIZE
                   + surface_get_u16 (data + AT_COMMENT_SIZE)
                   + surface_get_u16 (data + AT_PRIVATE_SIZE);
  return surface_check_size (header->width, header->height, error)
         && surface_check_size (
             (guint64) header->width * header->height, header->depth, error)
         && read_step (data, header, 0, &header->dx, error)
         && read_step (data, header, 1, &header->dy, error)
         && read_step (data, header, 2, &header->dz, error)
         && read_z_offset (data, &header->z_offset, error);
}

/* --- points ------------------------------------------------------------------ */

/* Inflates a stream of exactly @n_to bytes, including its checksum */
static gboolean
inflate_stream (
    const guint8 *from, gsize n_from, guint8 *to, gsize n_to, GError **error)
{
  GZlibDecompressor *inflater =
      g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_ZLIB);
  GConverterResult result = G_CONVERTER_CONVERTED;
  GError *problem = NULL;
  gboolean too_long = FALSE;

  while (result == G_CONVERTER_CONVERTED && !too_long) {
    gsize read = 0, written = 0;
    guint8 beyond; /* detects a stream that is too long */

    result = g_converter_convert (G_CONVERTER (inflater), from, n_from,
        n_to ? to : &beyond, n_to ? n_to : 1, G_CONVERTER_INPUT_AT_END, &read,
        &written, &problem);
    too_long = written > n_to;
    from += read;
    n_from -= read;
    to += MIN (written, n_to);
    n_to -= MIN (written, n_to);
  }
  g_object_unref (inflater);
  if (result == G_CONVERTER_FINISHED && n_to == 0 && !too_long)
    return TRUE;
  surface_error (error, "has a stream of points that is broken: %s",
      problem    ? problem->message
      : too_long ? "it is too long"
                 : "it is too short");
  g_clear_error (&problem);
  return FALSE;
}

/* Bytes of all points */
static gsize
get_bytes (const Header *header)
{
  return (gsize) header->width * header->height * header->depth
         * surface_sample_size (header->type);
}

/* Parses the table: each stream's bytes before and after compression */
static gboolean
check_streams (const guint8 *data, gsize size, const Header *header,
    guint *n_streams, GError **error)
{
  gsize needed = get_bytes (header);
  guint64 raw = 0, packed = 0;
  const guint8 *table;

  if (!surface_check_bytes (size, header->offset, 4, error))
    return FALSE;
  *n_streams = surface_get_u32 (data + header->offset);
  if (*n_streams > MAX_STREAMS)
    return surface_error (error,
        "has %u compressed streams; at most %u are read", *n_streams,
        MAX_STREAMS);
  if (!surface_check_bytes (
          size, header->offset + 4, 8 * (guint64) *n_streams, error))
    return FALSE;
  table = data + header->offset + 4;
  for (guint i = 0; i < *n_streams; i++) {
    guint64 r = surface_get_u32 (table + 8 * i);
    guint64 p = surface_get_u32 (table + 8 * i + 4);

    if (r > p * SURFACE_MAX_RATIO)
      return surface_error (error,
          "has a stream of %" G_GUINT64_FORMAT " bytes for %" G_GUINT64_FORMAT
          " bytes of points, which no compression makes",
          p, r);
    raw += r;
    packed += p;
  }
  if (raw != needed)
    return surface_error (error,
        "has %" G_GUINT64_FORMAT " bytes of points, and its header speaks of "
        "%" G_GSIZE_FORMAT,
        raw, needed);
  return surface_check_bytes (
      size, header->offset + 4 + 8 * (guint64) *n_streams, packed, error);
}

/* Returns: (transfer full): %NULL with @error */
static guint8 *
inflate_points (
    const guint8 *data, gsize size, const Header *header, GError **error)
{
  const guint8 *table = data + header->offset + 4, *from;
  guint8 *points, *to;
  guint n;

  if (!check_streams (data, size, header, &n, error))
    return NULL;
  points = to = g_try_malloc (get_bytes (header));
  if (!points) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "Not enough memory for a surface of %u x %u points", header->width,
        header->height);
    return NULL;
  }
  from = table + 8 * (gsize) n;
  for (guint i = 0; i < n; i++) {
    gsize raw = surface_get_u32 (table + 8 * i);
    gsize packed = surface_get_u32 (table + 8 * i + 4);

    if (!inflate_stream (from, packed, to, raw, error)) {
      g_free (points);
      return NULL;
    }
    from += packed;
    to += raw;
  }
  return points;
}

static gchar *
read_sur_date (const guint8 *data)
{
  guint v[6];

  for (guint i = 0; i < 6; i++)
    v[i] = surface_get_u16 (data + AT_DATE + 2 * i);
  return surface_date (v[5], v[4], v[3], v[2], v[1], v[0]);
}

/* Only the first object is read. */
static void
note_skipped (const guint8 *data, const Header *header, SurfaceImage *about)
{
  const guint objects = surface_get_u16 (data + AT_OBJECTS);

  if (objects > 1)
    surface_image_add_note (about, "only the first of its %u objects is read%s",
        objects, header->object == TYPE_RGB_IMAGE ? ", the red one" : "");
  if (header->depth > 1)
    surface_image_add_note (about,
        "heights are the means of its spectra, of %u samples each",
        header->depth);
}

gboolean
surface_describe_sur (const SurfaceSource *source, const guint8 *head,
    gsize n_head, SurfaceImage *about, SurfaceLayout *layout, GError **error)
{
  Header header = { 0 };

  if (!read_sur_header (head, n_head, &header, error))
    return FALSE;
  about->width = header.width;
  about->height = header.height;
  about->dx = header.dx;
  about->dy = header.dy;
  about->title = surface_text_latin1 (head + AT_NAME, 30);
  about->date = read_sur_date (head);
  about->no_z_unit = header.no_z_unit;
  note_skipped (head, &header, about);
  surface_layout_init (layout, header.offset, header.type, header.dz);
  layout->offset = header.z_offset;
  if (header.special) {
    layout->low = header.z_min - 1;
    layout->high = header.z_max + 1;
  }
  layout->plain = !header.compressed && header.inversion == INVERSION_NONE
                  && header.depth == 1;
  return header.compressed
         || surface_check_bytes (
             source->size, layout->at, get_bytes (&header), error);
}

static void
reverse_samples (gdouble *z, gsize n)
{
  for (gsize i = 0; i < n / 2; i++) {
    const gdouble kept = z[i];

    z[i] = z[n - 1 - i];
    z[n - 1 - i] = kept;
  }
}

/* Mirrors heights about their mean, like Gwyddion: the mean is unchanged. */
static void
undo_inversion (SurfaceImage *image, guint inversion)
{
  const gsize n = (gsize) image->width * image->height;
  gdouble sum = 0, mean;
  gsize there = 0;

  for (gsize i = 0; i < n; i++)
    if (!isnan (image->z[i])) {
      sum += image->z[i];
      there++;
    }
  mean = there ? sum / (gdouble) there : 0;
  for (gsize i = 0; i < n; i++)
    image->z[i] = mean - (image->z[i] - mean);
  if (inversion == INVERSION_Z_ROWS)
    reverse_samples (image->z, n);
  if (inversion != INVERSION_Z)
    for (guint y = 0; y < image->height; y++)
      reverse_samples (image->z + (gsize) y * image->width, image->width);
}

/* Replaces the samples of each point by their mean, in place */
static void
average_samples (SurfaceImage *image, guint depth)
{
  const gsize n = (gsize) image->width / depth * image->height;

  for (gsize i = 0; i < n; i++) {
    gdouble sum = 0;
    guint there = 0;

    for (guint k = 0; k < depth; k++) {
      const gdouble z = image->z[i * depth + k];

      if (!isnan (z)) {
        sum += z;
        there++;
      }
    }
    image->z[i] = there ? sum / there : NAN;
  }
  image->width /= depth;
}

/* @about: its width becomes that of all samples */
static SurfaceImage *
read_samples (const guint8 *data, gsize size, const Header *header,
    SurfaceImage *about, const SurfaceLayout *layout, GError **error)
{
  guint8 *inflated =
      header->compressed ? inflate_points (data, size, header, error) : NULL;
  SurfaceImage *image = NULL;

  about->width *= header->depth;
  if (inflated || !header->compressed)
    image = surface_layout_read (
        layout, about, inflated ? inflated : data + layout->at, error);
  g_free (inflated);
  return image;
}

/* Reads a compressed or inverted file, or spectra */
SurfaceImage *
surface_read_sur (const guint8 *data, gsize size, GError **error)
{
  const SurfaceSource source = { .data = data, .size = size };
  SurfaceImage about = { 0 }, *image = NULL;
  Header header = { 0 };
  SurfaceLayout layout;

  if (read_sur_header (data, size, &header, error)
      && surface_describe_sur (&source, data, size, &about, &layout, error))
    image = read_samples (data, size, &header, &about, &layout, error);
  if (image && header.depth > 1)
    average_samples (image, header.depth);
  if (image && header.inversion != INVERSION_NONE)
    undo_inversion (image, header.inversion);
  surface_image_clear (&about);
  return image;
}

/* --- writing ----------------------------------------------------------------- */

/* Conversion of heights to integers of up to +-2^30 */
typedef struct {
  gfloat step, offset; /* UNIT */
  gint32 min, max;
  gboolean missing; /* some points are not finite */
} Quantiser;

static gint32
quantise (const Quantiser *q, gdouble z)
{
  return (gint32) floor ((z / UNIT - q->offset) / q->step + 0.5);
}

static gboolean
make_quantiser (const SurfaceImage *image, Quantiser *q, GError **error)
{
  gsize n = (gsize) image->width * image->height;
  gdouble low = INFINITY, high = -INFINITY, half;

  *q = (Quantiser){ .step = 1e-9f };
  for (gsize i = 0; i < n; i++) {
    gdouble z = image->z[i];

    q->missing |= !isfinite (z);
    if (isfinite (z)) {
      low = MIN (low, z / UNIT);
      high = MAX (high, z / UNIT);
    }
  }
  if (low > high)
    return TRUE;
  /* programs that ignore the offset read the same heights; 25 bits of the
   * range remain */
  if (MAX (fabs (low), fabs (high)) > 64 * (high - low))
    q->offset = (gfloat) (low / 2 + high / 2);
  half = MAX (high - q->offset, q->offset - low);
  if (half > 0)
    q->step = MAX ((gfloat) (half / FULL_SCALE), 1e-37f);
  if (!isfinite (half) || !isfinite (q->offset) || !isfinite (q->step)) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
        "cannot hold heights from %g to %g metres", low * UNIT, high * UNIT);
    return FALSE;
  }
  q->min = quantise (q, low * UNIT);
  q->max = quantise (q, high * UNIT);
  return TRUE;
}

static void
put_text (guint8 *to, gsize size, const gchar *text)
{
  gchar *latin = text ? g_convert_with_fallback (
                     text, -1, "ISO-8859-1", "UTF-8", "?", NULL, NULL, NULL)
                      : NULL;

  memset (to, ' ', size);
  if (latin)
    memcpy (to, latin, MIN (size, strlen (latin)));
  g_free (latin);
}

static void
put_date (guint8 *to, const SurfaceImage *image)
{
  gint year, month, day, hour, minute, second;

  if (!surface_date_parts (image, &year, &month, &day, &hour, &minute, &second))
    return;
  surface_put_u16 (to, second);
  surface_put_u16 (to + 2, minute);
  surface_put_u16 (to + 4, hour);
  surface_put_u16 (to + 6, day);
  surface_put_u16 (to + 8, month);
  surface_put_u16 (to + 10, year);
}

static void
put_axes (guint8 *to, const SurfaceImage *image, const Quantiser *q)
{
  static const gchar *const names[] = { "X", "Y", "Z" };
  const gfloat steps[] = { (gfloat) (image->dx / UNIT),
    (gfloat) (image->dy / UNIT), q->step };

  for (guint i = 0; i < 3; i++) {
    surface_put_f32 (to + AT_STEPS + 4 * i, steps[i]);
    put_text (to + AT_NAMES + 16 * i, 16, names[i]);
    put_text (to + AT_STEP_UNITS + 16 * i, 16, "mm");
    put_text (to + AT_LENGTH_UNITS + 16 * i, 16, "mm");
    surface_put_f32 (to + AT_RATIOS + 4 * i, 1);
  }
}

static void
put_header (guint8 *to, const SurfaceImage *image, const Quantiser *q)
{
  memset (to, 0, HEADER_SIZE);
  memcpy (to, "DIGITAL SURF", 12);
  surface_put_u16 (to + AT_OBJECTS, 1);
  surface_put_u16 (to + AT_VERSION, 1);
  surface_put_u16 (to + AT_TYPE, 2);
  put_text (to + AT_NAME, 30, image->title);
  put_text (to + AT_OPERATOR, 30, NULL);
  surface_put_u16 (to + AT_POINT_SIZE, 1);
  surface_put_u16 (to + AT_SPECIAL, q->missing);
  surface_put_u16 (to + AT_ABSOLUTE, 1);
  surface_put_u16 (to + AT_BITS, 32);
  surface_put_u32 (to + AT_Z_MIN, (guint32) q->min);
  surface_put_u32 (to + AT_Z_MAX, (guint32) q->max);
  surface_put_u32 (to + AT_WIDTH, image->width);
  surface_put_u32 (to + AT_HEIGHT, image->height);
  surface_put_u32 (to + AT_TOTAL, image->width * image->height);
  put_axes (to, image, q);
  put_date (to + AT_DATE, image);
  surface_put_f32 (to + AT_Z_OFFSET, q->offset);
}

gboolean
surface_write_sur (const SurfaceImage *image, SurfaceOut *out, GError **error)
{
  gsize n = (gsize) image->width * image->height;
  Quantiser q;
  guint8 *to;

  if (!make_quantiser (image, &q, error))
    return FALSE;
  to = surface_out_add (out, HEADER_SIZE + 4 * n, error);
  if (!to)
    return FALSE;
  put_header (to, image, &q);
  to += HEADER_SIZE;
  for (gsize i = 0; i < n; i++, to += 4)
    surface_put_u32 (to, isfinite (image->z[i])
                             ? (guint32) quantise (&q, image->z[i])
                             : (guint32) q.min - 2);
  return TRUE;
}
