/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/bundle/formats.h"

#include <string.h>
#include "cuda/bundle/cloud.h"
#include "cuda/bundle/codecs.h"
#include "cuda/core/cancel.h"

#define BUNDLER_START "# Bundle file v0.3"
#define NVM_START "NVM_V3"
#define COLMAP_START "# Camera list"
/* layout of a tar header: its size, offsets of its fields */
#define TAR_BLOCK ((gsize) 512)
#define TAR_SIZE 124
#define TAR_TYPE 156
#define TAR_MAGIC 257

static gboolean
begins_with (const gchar *data, gsize size, const gchar *words)
{
  const gsize n = strlen (words);

  return size >= n && memcmp (data, words, n) == 0;
}

/* Parses up to @n integers from @at on, on one line. Returns: their number */
static guint
scan_integers (const gchar **at, const gchar *end, guint n)
{
  guint found = 0;

  while (found < n) {
    const gchar *digits;

    while (*at < end && (**at == ' ' || **at == '\t' || **at == '\r'))
      ++*at;
    digits = *at;
    while (*at < end && g_ascii_isdigit (**at))
      ++*at;
    if (*at == digits || *at == end || !strchr (" \t\r\n", **at) || !**at)
      break;
    found++;
  }
  return found;
}

/* Whether the text has a line of three integers, then one of two integers
 * and two numbers, as far as @data reaches */
static gboolean
is_bal (const gchar *data, gsize size)
{
  const gchar *at = data, *end = data + size;

  while (at < end && g_ascii_isspace (*at))
    at++;
  if (scan_integers (&at, end, 3) < 3)
    return FALSE;
  while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
    at++;
  if (at == end || *at != '\n')
    return FALSE;
  at++;
  if (scan_integers (&at, end, 2) < 2)
    return FALSE;
  while (at < end && (*at == ' ' || *at == '\t'))
    at++;
  return at < end && strchr ("+-.0123456789", *at) && *at;
}

static gboolean
is_colmap_name (const gchar *header)
{
  static const gchar *const names[] = { "cameras.txt", "images.txt",
    "points3D.txt", "frames.txt", "rigs.txt", "project.ini" };
  gchar *name = g_strndup (header, 100), *base = g_path_get_basename (name);
  gboolean is = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    is |= strcmp (base, names[i]) == 0;
  g_free (name);
  g_free (base);
  return is;
}

/* Detects a format by the first file of a tar archive. Folders and pax
 * headers (from bsdtar and Python) may precede it; an archive with only
 * these in @data may be a reconstruction. */
static gboolean
is_colmap_tar (const gchar *data, gsize size)
{
  gboolean is = FALSE;

  while (size >= TAR_BLOCK && memcmp (data + TAR_MAGIC, "ustar", 5) == 0) {
    const gchar *header = data;
    const gsize blocks =
        1
        + (g_ascii_strtoull (header + TAR_SIZE, NULL, 8) + TAR_BLOCK - 1)
              / TAR_BLOCK;

    if (!header[TAR_TYPE] || !strchr ("5xg", header[TAR_TYPE]))
      return is_colmap_name (header);
    is = TRUE;
    data += TAR_BLOCK * MIN (blocks, size / TAR_BLOCK);
    size -= TAR_BLOCK * MIN (blocks, size / TAR_BLOCK);
  }
  return is;
}

gboolean
bundle_format_detect (const gchar *data, gsize size, BundleFormat *format)
{
  if (begins_with (data, size, BUNDLER_START))
    *format = BUNDLE_FORMAT_BUNDLER;
  else if (begins_with (data, size, NVM_START)
           && (size == strlen (NVM_START)
               || g_ascii_isspace (data[strlen (NVM_START)])))
    *format = BUNDLE_FORMAT_NVM;
  else if (begins_with (data, size, COLMAP_START) || is_colmap_tar (data, size))
    *format = BUNDLE_FORMAT_COLMAP;
  else if (is_bal (data, size))
    *format = BUNDLE_FORMAT_BAL;
  else
    return FALSE;
  return TRUE;
}

static const gchar *const format_names[] = { "BAL", "Bundler", "NVM", "COLMAP",
  "PLY", "transforms.json", "TUM" };

static BundleProblem *
read_format (const gchar *data, gsize size, BundleFormat format, guint threads,
    GError **error)
{
  switch (format) {
    case BUNDLE_FORMAT_BAL:
      return bundle_bal_read (data, size, threads, error);
    case BUNDLE_FORMAT_BUNDLER:
      return bundle_bundler_read (data, size, error);
    case BUNDLE_FORMAT_NVM:
      return bundle_nvm_read (data, size, error);
    case BUNDLE_FORMAT_COLMAP:
      return bundle_colmap_read (data, size, error);
    default:
      cvis_refuse (error, "%s is only written", format_names[format]);
      return NULL;
  }
}

BundleProblem *
bundle_read (const gchar *data, gsize size, BundleFormat format, guint threads,
    GError **error)
{
  BundleFormat found;
  BundleProblem *problem;

  if (size == 0) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT, "The file is empty");
    return NULL;
  }
  /* only BAL has no signature */
  if (format == BUNDLE_FORMAT_BUNDLER || format == BUNDLE_FORMAT_NVM
      || format == BUNDLE_FORMAT_COLMAP) {
    if (!bundle_format_detect (data, size, &found) || found != format) {
      g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
          "line 1, start: it is not that of a %s file", format_names[format]);
      return NULL;
    }
  }
  problem = read_format (data, size, format, threads, error);
  if (cvis_cancelled ()) {
    g_clear_pointer (&problem, bundle_problem_free);
    cvis_refuse_cancelled (error);
  } else if (!problem)
    g_prefix_error (error, "%s file: ", format_names[format]);
  return problem;
}

static GBytes *
write_ply (const BundleProblem *problem, const gdouble *errors, GError **error)
{
  g_autoptr (BundleCloud) cloud = bundle_cloud_new (problem, errors, error);

  return cloud ? bundle_cloud_write (cloud, error) : NULL;
}

static GBytes *
write_format (const BundleProblem *problem, BundleFormat format,
    const gdouble *errors, GError **error)
{
  switch (format) {
    case BUNDLE_FORMAT_BAL:
      break;
    case BUNDLE_FORMAT_BUNDLER:
      return bundle_bundler_write (problem, error);
    case BUNDLE_FORMAT_NVM:
      return bundle_nvm_write (problem, error);
    case BUNDLE_FORMAT_COLMAP:
      return bundle_colmap_write (problem, errors, error);
    case BUNDLE_FORMAT_PLY:
      return write_ply (problem, errors, error);
    case BUNDLE_FORMAT_TRANSFORMS:
      return bundle_transforms_write (problem, error);
    case BUNDLE_FORMAT_TUM:
      return bundle_tum_write (problem, error);
  }
  cvis_refuse (error, "There is no format %d", format);
  return NULL;
}

gboolean
bundle_write_parts (const BundleProblem *problem, BundleFormat format,
    const gdouble *errors, guint threads, BundleSink sink, gpointer user_data,
    GError **error)
{
  GBytes *all;

  if (format == BUNDLE_FORMAT_BAL)
    return bundle_bal_write (problem, threads, sink, user_data, error);
  all = bundle_write (problem, format, errors, threads, error);
  return all && (sink (all, user_data) || cvis_refuse_cancelled (error));
}

static gboolean
append_part (GBytes *part, gpointer user_data)
{
  BundleText *text = user_data;
  gsize n;
  gconstpointer bytes = g_bytes_get_data (part, &n);

  bundle_text_bytes (text, bytes, n);
  g_bytes_unref (part);
  return TRUE;
}

GBytes *
bundle_write (const BundleProblem *problem, BundleFormat format,
    const gdouble *errors, guint threads, GError **error)
{
  BundleText text = { 0 };
  GBytes *all = NULL;

  if (format != BUNDLE_FORMAT_BAL)
    all = write_format (problem, format, errors, error);
  else if (bundle_bal_write (problem, threads, append_part, &text, error))
    all = bundle_text_finish (&text, error);
  g_free (text.data);
  if (!cvis_cancelled ())
    return all;
  g_clear_pointer (&all, g_bytes_unref);
  cvis_refuse_cancelled (error);
  return NULL;
}
