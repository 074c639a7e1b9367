/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* SDF, ISO 25178-71, and its predecessor BCR, as text and binary: a header,
 * heights in units of Zscale metres profile by profile, a trailer that is
 * ignored. The first profile is the top row, as in other programs. */
#include <float.h>
#include <math.h>
#include <string.h>
#include "cuda/core/decimal.h"
#include "cuda/surface/words.h"

#define MAX_TEXT_HEADER (1 << 20)
#define MAX_SIDE 65535
#define EPOCH "010119700000"

typedef struct {
  guint width, height;
  gdouble dx, dy, z_scale;
  SurfaceSample type;
  gchar *date;
} Header;

/* --- the header -------------------------------------------------------------- */

static gboolean
set_type (Header *header, gdouble code, GError **error)
{
  static const SurfaceSample types[] = { SURFACE_SAMPLE_U8, SURFACE_SAMPLE_U16,
    SURFACE_SAMPLE_U32, SURFACE_SAMPLE_F32, SURFACE_SAMPLE_I8,
    SURFACE_SAMPLE_I16, SURFACE_SAMPLE_I32, SURFACE_SAMPLE_F64 };

  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (code == i) {
      header->type = types[i];
      return TRUE;
    }
  return surface_error (
      error, "has the DataType %g; 0 to 7 are possible", code);
}

/* "DDMMYYYYhhmm" */
static gchar *
parse_date (const gchar *text)
{
  guint parts[5], n = 0;

  for (const gchar *c = text; n < 12 && g_ascii_isdigit (*c); c++)
    n++;
  if (n < 12)
    return NULL;
  for (guint i = 0; i < 5; i++) {
    guint digits = i == 2 ? 4 : 2;

    for (parts[i] = 0; digits; digits--)
      parts[i] = 10 * parts[i] + (*text++ - '0');
  }
  return surface_date (parts[2], parts[1], parts[0], parts[3], parts[4], 0);
}

static gboolean
check_header (const Header *header, gdouble compression, GError **error)
{
  if (compression != 0)
    return surface_error (error,
        "is compressed (Compression %g), which is not read", compression);
  return surface_check_size (header->width, header->height, error)
         && surface_check_spacing ("Xscale", header->dx, error)
         /* a single profile has none */
         && ((header->height == 1 && header->dy == 0)
             || surface_check_spacing ("Yscale", header->dy, error))
         && surface_check_factor ("Zscale", header->z_scale, error);
}

static SurfaceImage *
make_image (Header *header, GError **error)
{
  SurfaceImage *image =
      surface_image_new (header->width, header->height, error);

  if (!image)
    return NULL;
  image->dx = header->dx;
  image->dy = header->dy;
  image->date = g_steal_pointer (&header->date);
  return image;
}

/* --- text -------------------------------------------------------------------- */

/* Parses fields up to the line "*". Returns: start of the heights; %NULL
 * without that line */
static const gchar *
read_sdf_lines (SurfaceFields *fields, const gchar *text, GError **error)
{
  text = strchr (text, '\n');
  for (guint line = 2; text; line++) {
    gsize n = strcspn (++text, "\r\n");

    if (*text == '*')
      return text + n;
    if (n > 0 && !surface_fields_add_line (fields, text, n)) {
      surface_error (error, "has no field in line %u", line);
      return NULL;
    }
    text = strchr (text + n, '\n');
  }
  surface_error (error, "has no line \"*\" that ends its header");
  return NULL;
}

static gboolean
read_text_header (SurfaceFields *fields, Header *header, GError **error)
{
  gdouble compression = 0, type = 7;
  const gchar *date;

  if (!surface_fields_get_count (fields, "NumPoints", &header->width, error)
      || !surface_fields_get_count (
          fields, "NumProfiles", &header->height, error)
      || !surface_fields_get_number (
          fields, "Xscale", FALSE, &header->dx, error)
      || !surface_fields_get_number (
          fields, "Yscale", FALSE, &header->dy, error)
      || !surface_fields_get_number (
          fields, "Zscale", FALSE, &header->z_scale, error)
      || !surface_fields_get_number (
          fields, "Compression", TRUE, &compression, error)
      || !surface_fields_get_number (fields, "DataType", TRUE, &type, error)
      || !set_type (header, type, error)
      || !check_header (header, compression, error))
    return FALSE;
  date = surface_fields_get (fields, "CreateDate");
  header->date = date ? parse_date (date) : NULL;
  return TRUE;
}

/* A number at the very end of a file may have lost digits. */
static gboolean
ends_word (gchar c)
{
  return c == '*' || g_ascii_isspace (c);
}

/* @at: of the word that is not a height; it ends before @end */
static gboolean
refuse_height (
    const gchar *at, const gchar *end, gsize index, guint width, GError **error)
{
  gsize n = 0;
  gchar *shown;

  while (n < 40 && at + n < end && !ends_word (at[n]))
    n++;
  if (at + n == end || *at == '*')
    return surface_error (error,
        "ends after %" G_GSIZE_FORMAT " heights; its header specifies more",
        index);
  shown = surface_text ((const guint8 *) at, n);
  surface_error (error,
      "has \"%s\" for the height of point %u in profile %u; a number or BAD is "
      "expected",
      shown ? shown : "", (guint) (index % width) + 1,
      (guint) (index / width) + 1);
  g_free (shown);
  return FALSE;
}

static gboolean
skip_to_word (SurfaceWords *words, GError **error)
{
  do
    while (words->at < words->end)
      if (g_ascii_isspace (*words->at))
        words->at++;
      else
        return TRUE;
  while (surface_words_more (words, error));
  return FALSE;
}

static gboolean
read_text_heights (SurfaceImage *image, SurfaceWords *words, GError **error)
{
  gsize n = (gsize) image->width * image->height;

  for (gsize i = 0; i < n; i++) {
    GError *problem = NULL;
    const gchar *word;

    if (!skip_to_word (words, &problem)) {
      if (!problem)
        return refuse_height (words->at, words->end, i, image->width, error);
      g_propagate_error (error, problem);
      return FALSE;
    }
    word = words->at;
    if (words->end - word >= 3 && !g_ascii_strncasecmp (word, "BAD", 3)) {
      image->z[i] = NAN;
      words->at += 3;
    } else {
      words->at = cvis_decimal_read (word, words->end, '.', &image->z[i]);
    }
    if (words->at == word || words->at == words->end || !ends_word (*words->at))
      return refuse_height (word, words->end, i, image->width, error);
  }
  return TRUE;
}

/* Parses the fields; finds the start of the heights */
static gboolean
read_text_start (
    const SurfaceSource *source, Header *header, gsize *start, GError **error)
{
  const gsize n = (gsize) MIN (source->size, MAX_TEXT_HEADER);
  SurfaceFields *fields = surface_fields_new ();
  gchar *text = g_malloc0 (n + 1);
  const gchar *heights = NULL;

  if (surface_source_read (source, 0, n, text, error))
    heights = read_sdf_lines (fields, text, error);
  *start = heights ? (gsize) (heights - text) : 0;
  heights =
      heights && read_text_header (fields, header, error) ? heights : NULL;
  g_free (text);
  surface_fields_free (fields);
  return heights != NULL;
}

/* A text */
SurfaceImage *
surface_read_sdf (const SurfaceSource *source, GError **error)
{
  SurfaceImage *image = NULL;
  Header header = { 0 };
  SurfaceWords words;
  gsize start;

  /* a height and its separator are two bytes at least */
  if (read_text_start (source, &header, &start, error)
      && surface_check_bytes (source->size, start,
          2 * ((guint64) header.width * header.height) - 1, error))
    image = make_image (&header, error);
  if (image) {
    surface_words_init (&words, source, start);
    if (read_text_heights (image, &words, error))
      surface_image_scale (image, header.z_scale, 0);
    else
      g_clear_pointer (&image, surface_image_free);
    surface_words_clear (&words);
  }
  g_free (header.date);
  return image;
}

/* --- binary ------------------------------------------------------------------ */

/* Returns: byte position of the heights; 0: the file is too short */
static gsize
read_binary_header (
    const guint8 *data, gsize size, Header *header, GError **error)
{
  gboolean wide = data[5] == '2'; /* ISO-2.0 has 32-bit counts */
  const guint8 *at = data + 42;

  if (!surface_check_bytes (size, 0, wide ? 85 : 81, error))
    return 0;
  header->date = parse_date ((const gchar *) data + 18);
  header->width = wide ? surface_get_u32 (at) : surface_get_u16 (at);
  header->height = wide ? surface_get_u32 (at + 4) : surface_get_u16 (at + 2);
  at += wide ? 8 : 4;
  header->dx = surface_get_f64 (at);
  header->dy = surface_get_f64 (at + 8);
  header->z_scale = surface_get_f64 (at + 16);
  if (!set_type (header, at[33], error)
      || !check_header (header, at[32], error))
    return 0;
  return at + 35 - data;
}

/* ISO marks missing points by the smallest value of a type, BCR by the
 * largest, and some programs by the smallest there too. */
static void
set_missing (SurfaceLayout *layout, gboolean bcr)
{
  switch (layout->type) {
    case SURFACE_SAMPLE_U16:
      layout->high = G_MAXUINT16;
      break;
    case SURFACE_SAMPLE_U32:
      layout->high = G_MAXUINT32;
      break;
    case SURFACE_SAMPLE_I16:
      layout->low = G_MININT16;
      if (bcr)
        layout->high = G_MAXINT16;
      break;
    case SURFACE_SAMPLE_I32:
      layout->low = G_MININT32;
      if (bcr)
        layout->high = G_MAXINT32;
      break;
    case SURFACE_SAMPLE_F32:
      layout->low = -(gdouble) FLT_MAX;
      layout->high = FLT_MAX;
      break;
    case SURFACE_SAMPLE_F64:
      layout->low = -DBL_MAX;
      layout->high = DBL_MAX;
      break;
    default:
      break;
  }
}

gboolean
surface_describe_sdf (const SurfaceSource *source, const guint8 *head,
    gsize n_head, SurfaceImage *about, SurfaceLayout *layout, GError **error)
{
  const gboolean binary = head[0] == 'b';
  Header header = { 0 };
  gsize at;

  if (binary)
    at = read_binary_header (head, n_head, &header, error);
  else if (!read_text_start (source, &header, &at, error))
    at = 0;
  about->width = header.width;
  about->height = header.height;
  about->dx = header.dx;
  about->dy = header.dy;
  about->date = header.date;
  if (!binary)
    return at != 0;
  surface_layout_init (layout, at, header.type, header.z_scale);
  set_missing (layout, head[1] == 'B');
  return at != 0 && surface_layout_check (layout, about, source->size, error);
}

/* --- writing ----------------------------------------------------------------- */

static gboolean
check_sides (const SurfaceImage *image, GError **error)
{
  if (image->width <= MAX_SIDE && image->height <= MAX_SIDE)
    return TRUE;
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
      "has at most %d x %d samples, not %u x %u", MAX_SIDE, MAX_SIDE,
      image->width, image->height);
  return FALSE;
}

static void
format_date (const SurfaceImage *image, gchar date[13])
{
  gint year, month, day, hour, minute, second;

  if (surface_date_parts (image, &year, &month, &day, &hour, &minute, &second))
    g_snprintf (
        date, 13, "%02d%02d%04d%02d%02d", day, month, year, hour, minute);
  else
    g_strlcpy (date, EPOCH, 13);
}

static gboolean
write_text_heights (const SurfaceImage *image, SurfaceOut *out, GError **error)
{
  gsize n = (gsize) image->width * image->height;

  for (gsize i = 0; i < n; i++) {
    gchar text[G_ASCII_DTOSTR_BUF_SIZE + 1];

    if (isfinite (image->z[i]))
      g_ascii_dtostr (text, sizeof (text) - 1, image->z[i]);
    else
      g_strlcpy (text, "BAD", sizeof (text));
    strcat (text, (i + 1) % image->width ? " " : "\n");
    if (!surface_out_add_text (out, text, error))
      return FALSE;
  }
  return surface_out_add_text (out, "*\n", error);
}

gboolean
surface_write_sdf (const SurfaceImage *image, SurfaceOut *out, GError **error)
{
  gchar dx[G_ASCII_DTOSTR_BUF_SIZE], dy[G_ASCII_DTOSTR_BUF_SIZE];
  gchar date[13], *header;
  gboolean ok;

  if (!check_sides (image, error))
    return FALSE;
  format_date (image, date);
  header = g_strdup_printf ("aISO-1.0\n"
                            "ManufacID   = cudavision\n"
                            "CreateDate  = %s\nModDate     = %s\n"
                            "NumPoints   = %u\nNumProfiles = %u\n"
                            "Xscale      = %s\nYscale      = %s\n"
                            "Zscale      = 1\nZresolution = -1\n"
                            "Compression = 0\nDataType    = 7\n"
                            "CheckType   = 0\n*\n",
      date, date, image->width, image->height,
      g_ascii_dtostr (dx, sizeof (dx), image->dx),
      g_ascii_dtostr (dy, sizeof (dy), image->dy));
  ok = surface_out_add_text (out, header, error);
  g_free (header);
  return ok && write_text_heights (image, out, error);
}

gboolean
surface_write_sdf_binary (
    const SurfaceImage *image, SurfaceOut *out, GError **error)
{
  gchar date[13];
  guint8 *to;

  if (!check_sides (image, error))
    return FALSE;
  to = surface_out_add (out, 81, error);
  if (!to)
    return FALSE;
  format_date (image, date);
  memcpy (to, "bISO-1.0cudavision", 18);
  memcpy (to + 18, date, 12);
  memcpy (to + 30, date, 12);
  surface_put_u16 (to + 42, image->width);
  surface_put_u16 (to + 44, image->height);
  surface_put_f64 (to + 46, image->dx);
  surface_put_f64 (to + 54, image->dy);
  surface_put_f64 (to + 62, 1);
  surface_put_f64 (to + 70, -1);
  to[78] = 0;
  to[79] = 7;
  to[80] = 0;
  return surface_out_add_samples (out, image, SURFACE_SAMPLE_F64, error);
}
