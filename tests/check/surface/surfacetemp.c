/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "surfacetemp.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#if HAVE_X3P
#include <zip.h>
#endif

gchar *
surface_temp_path (const gchar *folder, const gchar *name)
{
  return g_build_filename (folder, name, NULL);
}

guint
surface_temp_count (const gchar *folder)
{
  GDir *dir = g_dir_open (folder, 0, NULL);
  guint n = 0;

  while (g_dir_read_name (dir))
    n++;
  g_dir_close (dir);
  return n;
}

gdouble
surface_temp_height (guint seed, guint i)
{
  return i % 11 == 5 ? NAN : 0.0763 + 1e-6 * sin (i * 0.7 + seed);
}

void
surface_temp_write (const gchar *folder, const gchar *name, guint width,
    guint height, guint seed)
{
  SurfaceImage *image = surface_image_new (width, height, NULL);
  gchar *path = surface_temp_path (folder, name);
  GError *error = NULL;
  GBytes *bytes;

  image->dx = 1e-6;
  image->dy = 2e-6;
  image->title = g_strdup_printf ("surface %u", seed);
  image->date = g_strdup ("2024-02-29T12:34:56");
  for (guint i = 0; i < width * height; i++)
    image->z[i] = surface_temp_height (seed, i);
  bytes =
      surface_file_write (image, surface_file_format_of_name (name), &error);
  g_assert_no_error (error);
  g_assert_true (g_file_set_contents (
      path, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), NULL));
  g_bytes_unref (bytes);
  g_free (path);
  surface_image_free (image);
}

#if HAVE_X3P
void
surface_temp_break_checksum (const gchar *folder, const gchar *name)
{
  static const gchar other[] = "d41d8cd98f00b204e9800998ecf8427e *main.xml\n";
  gchar *path = surface_temp_path (folder, name);
  zip_t *zip = zip_open (path, 0, NULL);

  g_assert_nonnull (zip);
  g_assert_cmpint (
      zip_file_add (zip, "md5checksum.hex",
          zip_source_buffer (zip, other, strlen (other), 0), ZIP_FL_OVERWRITE),
      >=, 0);
  g_assert_cmpint (zip_close (zip), ==, 0);
  g_free (path);
}
#endif

SurfaceImage *
surface_temp_read (const gchar *folder, const gchar *name)
{
  gchar *path = surface_temp_path (folder, name);
  GError *error = NULL;
  SurfaceImage *image = surface_file_load (path, &error);

  g_assert_no_error (error);
  g_free (path);
  return image;
}

gdouble
surface_temp_difference (const SurfaceImage *image, guint seed)
{
  gdouble worst = 0;

  for (guint i = 0; i < image->width * image->height; i++) {
    gdouble expected = surface_temp_height (seed, i);

    if (isnan (expected) != isnan (image->z[i]))
      return INFINITY;
    if (!isnan (expected))
      worst = MAX (worst, fabs (image->z[i] - expected));
  }
  return worst;
}

static gboolean
has_words (GstMessage *message, const gchar *words)
{
  GError *warning = NULL;
  gboolean has;

  gst_message_parse_warning (message, &warning, NULL);
  has = strstr (warning->message, words) != NULL;
  g_error_free (warning);
  return has;
}

/* @warnings: (inout): number of those with @words. Returns: (transfer full): the
 * first error's text */
static gchar *
run_line (
    const gchar *folder, const gchar *line, const gchar *words, guint *warnings)
{
  gchar **parts = g_strsplit (line, "%s", -1);
  gchar *whole = g_strjoinv (folder, parts), *text = NULL;
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (whole, &error);
  GstMessage *message;
  GstBus *bus;

  g_assert_no_error (error);
  bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while ((message = gst_bus_timed_pop_filtered (bus, 20 * GST_SECOND,
              GST_MESSAGE_ERROR | GST_MESSAGE_EOS | GST_MESSAGE_WARNING))
         && GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING) {
    *warnings += has_words (message, words);
    gst_message_unref (message);
  }
  g_assert_nonnull (message);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error (message, &error, NULL);
    text = g_strdup (error->message);
    g_error_free (error);
  }
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  g_free (whole);
  g_strfreev (parts);
  return text;
}

gchar *
surface_temp_run (const gchar *folder, const gchar *line)
{
  guint warnings = 0;

  return run_line (folder, line, "", &warnings);
}

guint
surface_temp_count_warnings (
    const gchar *folder, const gchar *line, const gchar *words)
{
  guint warnings = 0;
  gchar *text = run_line (folder, line, words, &warnings);

  g_assert_cmpstr (text, ==, NULL);
  return warnings;
}

void
surface_temp_run_ok (const gchar *folder, const gchar *line)
{
  gchar *text = surface_temp_run (folder, line);

  g_assert_cmpstr (text, ==, NULL);
}

void
surface_temp_run_error (
    const gchar *folder, const gchar *line, const gchar *words)
{
  gchar *text = surface_temp_run (folder, line);

  if (!text || !strstr (text, words))
    g_error ("%s: \"%s\" lacks \"%s\"", line, text ? text : "no error", words);
  g_free (text);
}
