/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstsurfacetypes.h"

#include <string.h>
#include "cuda/surface/bytes.h"

#define START_SIZE 40 /* bytes that identify all formats except X3P */
#define XML_SIZE 4096 /* holds the root element of main.xml */
#define MAX_ENTRIES 16
#define MAX_DIGITS 20

/* --- media types ------------------------------------------------------------- */

static gboolean
contains (const guint8 *data, guint size, const gchar *word)
{
  gsize n = strlen (word);

  for (guint i = 0; i + n <= size; i++)
    if (!memcmp (data + i, word, n))
      return TRUE;
  return FALSE;
}

/* Checks the beginning of main.xml at @at, as far as the bytes reach. */
static gboolean
is_x3p_xml (GstTypeFind *find, guint64 at, gboolean deflated)
{
  for (guint size = XML_SIZE; size > 0; size /= 2) {
    const guint8 *data = gst_type_find_peek (find, (gint64) at, size);

    if (data != NULL)
      return surface_file_is_x3p_xml (data, size, deflated);
  }
  return FALSE;
}

/* Whether a zip has the main.xml of an X3P. If main.xml is too far from the
 * beginning, the names of the files before it decide. */
static gboolean
is_x3p (GstTypeFind *find)
{
  gboolean named = FALSE;
  guint64 at = 0;

  for (guint i = 0; i < MAX_ENTRIES; i++) {
    const guint8 *header = gst_type_find_peek (find, (gint64) at, 30);
    guint64 packed;
    guint n, size;

    if (header == NULL || memcmp (header, "PK\3\4", 4) != 0)
      break;
    packed = surface_get_u32 (header + 18);
    n = surface_get_u16 (header + 26);
    size = 30 + n + surface_get_u16 (header + 28);
    header = gst_type_find_peek (find, (gint64) at, size);
    if (header == NULL)
      break;
    at += size;
    if (n >= 8 && memcmp (header + 30 + n - 8, "main.xml", 8) == 0)
      return is_x3p_xml (find, at, surface_get_u16 (header + 8) == 8);
    named |= contains (header + 30, n, "bindata/")
             || contains (header + 30, n, "bindata\\")
             || contains (header + 30, n, "md5checksum.hex");
    /* the size may follow the file's bytes, or be in another field */
    if ((header[6] & 8 && packed == 0) || packed == G_MAXUINT32)
      break;
    at += packed;
  }
  return named;
}

static void
find_type (GstTypeFind *find, gpointer user_data)
{
  SurfaceFileFormat format = GPOINTER_TO_INT (user_data), found;
  const guint8 *data = gst_type_find_peek (find, 0, START_SIZE);
  gchar *type;

  if (data == NULL)
    return;
  found = surface_file_detect (data, START_SIZE);
  if (found == SURFACE_FILE_SDF_BINARY)
    found = SURFACE_FILE_SDF;
  if (found != format || (found == SURFACE_FILE_X3P && !is_x3p (find)))
    return;
  type = g_strdup_printf (
      "application/x-surface-%s", surface_file_format_name (format));
  /* the typefinder of zip suggests less */
  gst_type_find_suggest_empty_simple (find,
      found == SURFACE_FILE_X3P ? GST_TYPE_FIND_NEARLY_CERTAIN
                                : GST_TYPE_FIND_MAXIMUM,
      type);
  g_free (type);
}

gboolean
gst_surface_types_register (GstPlugin *plugin)
{
  static const struct {
    SurfaceFileFormat format;
    const gchar *endings;
  } types[] = {
    { SURFACE_FILE_X3P, "x3p" },
    { SURFACE_FILE_SDF, "sdf" },
    { SURFACE_FILE_SUR, "sur" },
    { SURFACE_FILE_GSF, "gsf" },
    { SURFACE_FILE_NPY, "npy" },
    { SURFACE_FILE_AL3D, "al3d" },
    { SURFACE_FILE_BCRF, "bcrf,bcr" },
    { SURFACE_FILE_PLU, "plu" },
    { SURFACE_FILE_OPD, "opd" },
    { SURFACE_FILE_METROPRO, NULL },
  };
  gboolean ok = TRUE;

  for (guint i = 0; i < G_N_ELEMENTS (types); i++) {
    gchar *type = g_strdup_printf (
        "application/x-surface-%s", surface_file_format_name (types[i].format));
    GstCaps *caps = gst_caps_new_empty_simple (type);

    ok &= gst_type_find_register (plugin, type, GST_RANK_SECONDARY, find_type,
        types[i].endings, caps, GINT_TO_POINTER (types[i].format), NULL);
    gst_caps_unref (caps);
    g_free (type);
  }
  return ok;
}

/* --- names ---------------------------------------------------------------------- */

static gboolean
is_uri (const gchar *location)
{
  gchar *scheme = g_uri_parse_scheme (location);
  const gboolean uri = scheme != NULL
                       && (g_str_has_prefix (location + strlen (scheme), "://")
                           || g_ascii_strncasecmp (location, "file:/", 6) == 0);

  g_free (scheme);
  return uri;
}

/* Returns: (transfer full): %NULL with @error */
static gchar *
path_of_uri (const gchar *uri, GError **error)
{
  GError *problem = NULL;
  gchar *path = g_filename_from_uri (uri, NULL, &problem);

  /* "%05d" of a pattern is read as a control character */
  for (gchar *c = path; c != NULL && *c != 0; c++)
    if (g_ascii_iscntrl (*c)) {
      g_clear_pointer (&path, g_free);
      break;
    }
  if (path == NULL)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "the location \"%s\" names no file: %s. Use a path, a pattern of paths "
        "or a file:// URI of one file",
        uri,
        problem != NULL ? problem->message
                        : "the URI holds a control character");
  g_clear_error (&problem);
  return path;
}

/* Parses the conversion at @at, after the %: digits, then d, u or i.
 * Returns: the text after it; %NULL if it is invalid */
static const gchar *
skip_conversion (const gchar *at)
{
  guint digits = 0;

  while (g_ascii_isdigit (*at) && digits < MAX_DIGITS) {
    at++;
    digits++;
  }
  return *at == 'd' || *at == 'u' || *at == 'i' ? at + 1 : NULL;
}

static gboolean
check_pattern (const gchar *location, gboolean *pattern, GError **error)
{
  *pattern = FALSE;
  for (const gchar *at = strchr (location, '%'); at; at = strchr (at, '%')) {
    const gchar *end = at[1] == '%' ? at + 2 : skip_conversion (at + 1);

    if (end == NULL || (at[1] != '%' && *pattern)) {
      g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
          "the location \"%s\" is neither a name nor a pattern: of %% it may "
          "have one %%d, such as %%05d, and %%%% for the sign itself",
          location);
      return FALSE;
    }
    *pattern |= at[1] != '%';
    at = end;
  }
  return TRUE;
}

gchar *
gst_surface_location_parse (
    const gchar *location, gboolean *pattern, GError **error)
{
  gchar *path, *escaped, **parts;

  if (!is_uri (location))
    return check_pattern (location, pattern, error) ? g_strdup (location)
                                                    : NULL;
  *pattern = FALSE;
  path = path_of_uri (location, error);
  if (path == NULL)
    return NULL;
  parts = g_strsplit (path, "%", -1);
  escaped = g_strjoinv ("%%", parts);
  g_strfreev (parts);
  g_free (path);
  return escaped;
}

gchar *
gst_surface_location_at (const gchar *location, guint index)
{
  GString *name = g_string_new (NULL);

  while (*location) {
    if (*location != '%') {
      g_string_append_c (name, *location++);
    } else if (location[1] == '%') {
      g_string_append_c (name, '%');
      location += 2;
    } else {
      guint width =
          (guint) MIN (g_ascii_strtoull (location + 1, NULL, 10), MAX_DIGITS);

      g_string_append_printf (
          name, location[1] == '0' ? "%0*u" : "%*u", (gint) width, index);
      location = skip_conversion (location + 1);
    }
  }
  return g_string_free (name, FALSE);
}
