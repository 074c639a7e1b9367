/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/surface/file.h"

#include <math.h>
#include <string.h>
#include "cuda/surface/bytes.h"

#if HAVE_X3P
#define X3P NULL, NULL, NULL, surface_write_x3p, TRUE, NULL, surface_open_x3p
#define NPZ NULL, surface_read_npz, NULL, NULL, FALSE, NULL
#else
#define X3P NULL, NULL, NULL, NULL, TRUE, "libzip and zlib"
#define NPZ NULL, NULL, NULL, NULL, FALSE, "libzip and zlib"
#endif
#if HAVE_TIFF
#define TIFF                                                                   \
  surface_describe_tiff, surface_read_tiff, NULL, surface_write_tiff, FALSE,   \
      NULL
#else
#define TIFF NULL, NULL, NULL, NULL, FALSE, "libtiff"
#endif

static const SurfaceFormat formats[] = {
  [SURFACE_FILE_X3P] = { "x3p", "X3P", "x3p", X3P },
  [SURFACE_FILE_SDF] = { "sdf", "SDF", "sdf", surface_describe_sdf, NULL,
      surface_read_sdf, surface_write_sdf, TRUE, NULL },
  [SURFACE_FILE_SDF_BINARY] = { "sdf-binary", "SDF", NULL, surface_describe_sdf,
      NULL, NULL, surface_write_sdf_binary, TRUE, NULL },
  [SURFACE_FILE_SUR] = { "sur", "SUR", "sur", surface_describe_sur,
      surface_read_sur, NULL, surface_write_sur, TRUE, NULL },
  [SURFACE_FILE_GSF] = { "gsf", "GSF", "gsf", surface_describe_gsf, NULL, NULL,
      surface_write_gsf, TRUE, NULL },
  [SURFACE_FILE_TIFF] = { "tiff", "TIFF", "tiff", TIFF },
  [SURFACE_FILE_NPY] = { "npy", "NPY", "npy", surface_describe_npy,
      surface_read_npy, NULL, surface_write_npy, FALSE, NULL },
  [SURFACE_FILE_AL3D] = { "al3d", "AL3D", "al3d", NULL, surface_read_al3d, NULL,
      NULL, TRUE, NULL },
  [SURFACE_FILE_BCRF] = { "bcrf", "BCRF", "bcrf", NULL, surface_read_bcrf, NULL,
      NULL, TRUE, NULL },
  [SURFACE_FILE_PLU] = { "plu", "PLU", "plu", surface_describe_plu, NULL, NULL,
      NULL, TRUE, NULL },
  [SURFACE_FILE_OPD] = { "opd", "OPD", "opd", NULL, surface_read_opd, NULL,
      NULL, TRUE, NULL },
  [SURFACE_FILE_METROPRO] = { "metropro", "MetroPro", "dat",
      surface_describe_metropro, NULL, NULL, NULL, TRUE, NULL },
  [SURFACE_FILE_TEXT] = { "text", "text", "txt", NULL, NULL, surface_read_text,
      NULL, TRUE, NULL },
  [SURFACE_FILE_NPZ] = { "npz", "NPZ", "npz", NPZ },
};

const SurfaceFormat *
surface_format_of (SurfaceFileFormat format)
{
  return (guint) format < G_N_ELEMENTS (formats) && formats[format].name
             ? &formats[format]
             : NULL;
}

/* --- formats --------------------------------------------------------------- */

const gchar *
surface_file_format_name (SurfaceFileFormat format)
{
  const SurfaceFormat *f = surface_format_of (format);

  return f ? f->name : "unknown";
}

SurfaceFileFormat
surface_file_format_of_name (const gchar *name)
{
  static const struct {
    const gchar *ending;
    SurfaceFileFormat format;
  } others[] = { { "tif", SURFACE_FILE_TIFF }, { "csv", SURFACE_FILE_TEXT },
    { "xyz", SURFACE_FILE_TEXT }, { "asc", SURFACE_FILE_TEXT },
    { "bcr", SURFACE_FILE_BCRF } };
  const gchar *dot = strrchr (name, '.');

  if (!dot || strchr (dot, G_DIR_SEPARATOR))
    return SURFACE_FILE_UNKNOWN;
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (formats[i].ending && !g_ascii_strcasecmp (dot + 1, formats[i].ending))
      return i;
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (!g_ascii_strcasecmp (dot + 1, others[i].ending))
      return others[i].format;
  return SURFACE_FILE_UNKNOWN;
}

SurfaceFileFormat
surface_file_detect (const guint8 *data, gsize size)
{
  static const struct {
    const gchar *bytes;
    guint n;
    SurfaceFileFormat format;
  } starts[] = {
    { "PK\3\4", 4, SURFACE_FILE_X3P },
    { "aISO-1.0", 8, SURFACE_FILE_SDF },
    { "aISO-2.0", 8, SURFACE_FILE_SDF },
    { "aBCR-1.0", 8, SURFACE_FILE_SDF },
    { "bISO-1.0", 8, SURFACE_FILE_SDF_BINARY },
    { "bISO-2.0", 8, SURFACE_FILE_SDF_BINARY },
    { "bBCR-1.0", 8, SURFACE_FILE_SDF_BINARY },
    { "DIGITAL SURF", 12, SURFACE_FILE_SUR },
    { "DSCOMPRESSED", 12, SURFACE_FILE_SUR },
    { "Gwyddion Simple Field 1.0\n", 26, SURFACE_FILE_GSF },
    { "II*\0", 4, SURFACE_FILE_TIFF },
    { "MM\0*", 4, SURFACE_FILE_TIFF },
    { "II+\0", 4, SURFACE_FILE_TIFF },
    { "MM\0+", 4, SURFACE_FILE_TIFF },
    { "\x93NUMPY", 6, SURFACE_FILE_NPY },
    { "AliconaImaging\0\r\n", 17, SURFACE_FILE_AL3D },
    { "fileformat = bcr", 16, SURFACE_FILE_BCRF },
    { "f\0i\0l\0e\0f\0o\0r\0m\0a\0t\0 \0=\0 \0b\0c\0r\0", 32,
        SURFACE_FILE_BCRF },
    { "\xff\xfe"
      "f\0i\0l\0e\0f\0o\0r\0m\0a\0t\0 \0=\0 \0b\0c\0r\0",
        34, SURFACE_FILE_BCRF },
    { "\1\0Directory", 11, SURFACE_FILE_OPD },
    { "\x88\x1b\3\x6f", 4, SURFACE_FILE_METROPRO },
    { "\x88\x1b\3\x70", 4, SURFACE_FILE_METROPRO },
    { "\x88\x1b\3\x71", 4, SURFACE_FILE_METROPRO },
  };

  if (surface_detect_npz (data, size))
    return SURFACE_FILE_NPZ;
  for (guint i = 0; i < G_N_ELEMENTS (starts); i++)
    if (size >= starts[i].n && !memcmp (data, starts[i].bytes, starts[i].n))
      return starts[i].format;
  if (surface_detect_plu (data, size))
    return SURFACE_FILE_PLU;
  return surface_detect_text (data, size) ? SURFACE_FILE_TEXT
                                          : SURFACE_FILE_UNKNOWN;
}

gboolean
surface_file_writable (SurfaceFileFormat format)
{
  const SurfaceFormat *f = surface_format_of (format);

  return f && (f->write || f->needs);
}

gboolean
surface_file_supported (SurfaceFileFormat format)
{
  const SurfaceFormat *f = surface_format_of (format);

  return f && !f->needs;
}

/* --- whole files ----------------------------------------------------------- */

static gboolean
refuse_unbuilt (const SurfaceFormat *f, GError **error)
{
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
      "%s files need %s, which this build does not have", f->title, f->needs);
  return FALSE;
}

#if !HAVE_X3P
gboolean
surface_file_is_x3p_xml (const guint8 *data, gsize size, gboolean deflated)
{
  return FALSE;
}

gboolean
surface_file_save_x3p (int fd, const SurfaceImage *about, SurfaceStream stream,
    gdouble scale, gdouble offset, const void *samples, guint level,
    CvisPool *pool, GError **error)
{
  return refuse_unbuilt (surface_format_of (SURFACE_FILE_X3P), error);
}
#endif

void
surface_format_refuse (
    const SurfaceFormat *format, GError *problem, GError **error)
{
  gchar *text = g_utf8_make_valid (problem->message, -1);

  for (gchar *c = text; *c; c++)
    if (g_ascii_iscntrl (*c))
      *c = ' ';
  /* callers end the sentence, but libraries do so too */
  g_strchomp (text);
  for (gsize n = strlen (text); n > 0 && text[n - 1] == '.'; n--)
    text[n - 1] = 0;
  /* other errors are faults of the file */
  if (g_error_matches (problem, CVIS_ERROR, CVIS_ERROR_MEMORY))
    g_set_error_literal (error, problem->domain, problem->code, text);
  else
    g_set_error (error, problem->domain, problem->code, "The %s file %s",
        format->title, text);
  g_free (text);
  g_error_free (problem);
}

static gboolean
refuse_unknown (const guint8 *data, gsize size, GError **error)
{
  gchar *words = surface_text_explain (data, size);
  gchar *reason = words ? g_utf8_make_valid (words, -1) : NULL;

  g_free (words);
  if (size == 0)
    surface_error (error, "The file is empty");
  else if (reason)
    surface_error (error, "Unknown file format: of this text, %s", reason);
  else
    surface_error (error,
        "Unknown file format. Supported are X3P, SDF, SUR, GSF, TIFF, NPY, "
        "NPZ, AL3D, BCRF, PLU, OPD, MetroPro and text of numbers");
  g_free (reason);
  return FALSE;
}

gboolean
surface_file_check_start (const guint8 *data, gsize size, GError **error)
{
  const SurfaceFormat *f = surface_format_of (surface_file_detect (data, size));

  if (!f)
    return refuse_unknown (data, size, error);
  return !f->needs || refuse_unbuilt (f, error);
}

/* Largest error of the heights as float32, if it is above 1e-7 of their range */
static gdouble
find_rounding (const SurfaceImage *image)
{
  gdouble low = INFINITY, high = -INFINITY, most = 0;

  for (gsize i = 0; i < (gsize) image->width * image->height; i++) {
    const gdouble z = image->z[i];

    if (!isfinite (z))
      continue;
    low = MIN (low, z);
    high = MAX (high, z);
    most = MAX (most, fabs ((gfloat) z - z));
  }
  return most > 1e-7 * (high - low) ? most : 0;
}

gchar *
surface_file_find_loss (const SurfaceImage *image, SurfaceFileFormat format)
{
  const SurfaceFormat *f = surface_format_of (format);
  gdouble rounding;

  if (format == SURFACE_FILE_NPY && (image->dx > 0 || image->dy > 0))
    return g_strdup_printf (
        "NPY holds no spacing: the file loses %g x %g m, which the properties "
        "dx and dy of surfacesrc can restore",
        image->dx, image->dy);
  if (format == SURFACE_FILE_TIFF && (image->dx > 0 || image->dy > 0)
      && !surface_tiff_holds_spacing (image))
    return g_strdup_printf ("TIFF cannot hold this spacing: the file loses "
                            "%g x %g m",
        image->dx, image->dy);
  if (format == SURFACE_FILE_GSF && (rounding = find_rounding (image)) > 0)
    return g_strdup_printf (
        "%s holds float32: heights are rounded by up to %.2g m", f->title,
        rounding);
  return NULL;
}

GBytes *
surface_file_write (
    const SurfaceImage *image, SurfaceFileFormat format, GError **error)
{
  const SurfaceFormat *f = surface_format_of (format);
  SurfaceOut out = { 0 };

  if (!surface_file_writable (format)) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
        "Files of the format %s cannot be written",
        surface_file_format_name (format));
    return NULL;
  }
  if (!f->write) {
    refuse_unbuilt (f, error);
    return NULL;
  }
  if (f->holds_spacing && !surface_check_known_spacing (f->title, image, error))
    return NULL;
  if (f->write (image, &out, error))
    return g_bytes_new_take (out.data, out.size);
  g_prefix_error (error, "A %s file ", f->title);
  g_free (out.data);
  return NULL;
}
