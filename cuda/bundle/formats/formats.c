/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/bundle/formats/formats.h"

#include <math.h>
#include <string.h>
#include "cuda/bundle/formats/cloud.h"
#include "cuda/bundle/formats/codecs.h"
#include "cuda/bundle/formats/tar.h"
#include "cuda/core/cancel.h"

#define BUNDLER_START "# Bundle file v0.3"
#define NVM_START "NVM_V3"
#define COLMAP_START "# Camera list"
#define TAR_BLOCK 512
#define TAR_MAGIC 257
#define DETECTED 8 /* observations of BAL */
/* Skips a byte order mark. @size: that of the rest. Returns: its start */
static const gchar *
skip_mark (const gchar *data, gsize *size)
{
  const BundleScanner s = bundle_scan_new ("", data, *size, TRUE);

  *size = (gsize) (s.end - s.start);
  return s.start;
}

static gboolean
begins_with (const gchar *data, gsize size, const gchar *words)
{
  const gsize n = strlen (words);

  return size >= n && memcmp (data, words, n) == 0;
}

/* Moves behind blanks, but not to the next line */
static void
skip_spaces (const gchar **at, const gchar *end)
{
  while (*at < end && (**at == ' ' || **at == '\t' || **at == '\r'))
    ++*at;
}

/* Parses up to @n integers from @at on, on one line. Returns: their number */
static guint
scan_integers (const gchar **at, const gchar *end, guint64 *values, guint n)
{
  guint found = 0;

  while (found < n) {
    const gchar *digits;

    skip_spaces (at, end);
    digits = *at;
    for (values[found] = 0; *at < end && g_ascii_isdigit (**at); ++*at)
      values[found] =
          MIN (values[found] * 10 + (guint64) (**at - '0'), G_MAXUINT32);
    if (*at == digits || *at == end || !strchr (" \t\r\n", **at) || !**at)
      break;
    found++;
  }
  return found;
}

/* Whether the text has a line of three integers, then one of two integers
 * and two numbers, as far as @data reaches
 * @n: (out): the three
 * @first: (out): start of the first observation */
static gboolean
is_bal (const gchar *data, gsize size, guint64 n[3], const gchar **first)
{
  const gchar *at = data, *end = data + size;
  guint64 indices[2];

  while (at < end && g_ascii_isspace (*at))
    at++;
  if (scan_integers (&at, end, n, 3) < 3)
    return FALSE;
  skip_spaces (&at, end);
  if (at == end || *at != '\n')
    return FALSE;
  *first = ++at;
  if (scan_integers (&at, end, indices, 2) < 2)
    return FALSE;
  skip_spaces (&at, end);
  return at < end && strchr ("+-.0123456789", *at) && *at;
}

gboolean
bundle_format_is_certain (const gchar *data, gsize size, BundleFormat format)
{
  const gchar *at, *end = data + size;
  guint64 n[3];

  data = skip_mark (data, &size);
  if (format != BUNDLE_FORMAT_BAL)
    return TRUE;
  if (!is_bal (data, size, n, &at))
    return FALSE;
  for (guint i = 0; i < 4 * MIN (DETECTED, n[2]); i++) {
    const gchar *start, *stop;
    gdouble value;

    while (at < end && g_ascii_isspace (*at))
      at++;
    start = at;
    while (at < end && !g_ascii_isspace (*at))
      at++;
    if (at == end)
      break;
    stop = cvis_decimal_read (start, at, '.', &value);
    if (stop != at || !isfinite (value)
        || (i % 4 < 2
            && (!g_ascii_isdigit (*start) || value != floor (value)
                || value >= (gdouble) n[i % 4])))
      return FALSE;
  }
  return TRUE;
}

static gboolean
is_colmap_name (const gchar *name)
{
  static const gchar *const names[] = { "cameras.txt", "images.txt",
    "points3D.txt", "frames.txt", "rigs.txt", "project.ini", "cameras.bin",
    "images.bin", "points3D.bin", "frames.bin", "rigs.bin" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (strcmp (name, names[i]) == 0)
      return TRUE;
  return FALSE;
}

/* Detects a format by the first file of a tar archive. Folders may precede it; an
 * archive with only these in @data may be a reconstruction, and so may a damaged
 * one. */
static gboolean
is_colmap_tar (const gchar *data, gsize size)
{
  BundleTar tar = { .data = data, .size = size };
  gboolean is = size >= TAR_BLOCK && memcmp (data + TAR_MAGIC, "ustar", 5) == 0;

  while (is && bundle_tar_next (&tar, NULL))
    if (tar.name) {
      is = is_colmap_name (tar.name);
      break;
    }
  bundle_tar_clear (&tar);
  return is;
}

gboolean
bundle_format_detect (const gchar *data, gsize size, BundleFormat *format)
{
  const gchar *first;
  guint64 n[3];

  data = skip_mark (data, &size);
  if (begins_with (data, size, BUNDLER_START))
    *format = BUNDLE_FORMAT_BUNDLER;
  else if (begins_with (data, size, NVM_START)
           && (size == strlen (NVM_START)
               || g_ascii_isspace (data[strlen (NVM_START)])))
    *format = BUNDLE_FORMAT_NVM;
  else if (begins_with (data, size, COLMAP_START) || is_colmap_tar (data, size))
    *format = BUNDLE_FORMAT_COLMAP;
  else if (is_bal (data, size, n, &first))
    *format = BUNDLE_FORMAT_BAL;
  else
    return FALSE;
  return TRUE;
}

/* A member of the file's object, as far as @data reaches */
static gboolean
has_key (const gchar *data, gsize size, const gchar *key)
{
  return g_strstr_len (data, (gssize) size, key) != NULL;
}

gboolean
bundle_format_is_transforms (const gchar *data, gsize size)
{
  data = skip_mark (data, &size);
  while (size > 0 && g_ascii_isspace (*data)) {
    data++;
    size--;
  }
  return size > 0 && *data == '{'
         && (has_key (data, size, "\"frames\"")
             || has_key (data, size, "\"fl_x\"")
             || has_key (data, size, "\"camera_angle_x\""));
}

const gchar *
bundle_format_hint (const gchar *data, gsize size)
{
  static const struct {
    const gchar *start;
    gsize n;
    const gchar *hint;
  } others[] = {
    { "\x1f\x8b", 2,
        "it is compressed with gzip: unpack it with gunzip or tar xzf" },
    { "BZh", 3, "it is compressed with bzip2: put bz2dec before this element" },
    { "\xfd\x37zXZ", 5,
        "it is compressed with xz: unpack it with unxz or tar xJf" },
    { "\x28\xb5\x2f\xfd", 4,
        "it is compressed with zstd: unpack it with unzstd" },
    { "PK\3\4", 4,
        "it is a zip archive: unpack it, and pack the three texts of a COLMAP "
        "model with tar" },
    { "7z\xbc\xaf\x27\x1c", 6, "it is a 7z archive: unpack it" },
    { "\xff\xfe", 2, "it is UTF-16 text: save it as UTF-8" },
    { "\xfe\xff", 2, "it is UTF-16 text: save it as UTF-8" },
    { "# Bundle file", 13, "of Bundler's files only v0.3 is supported" },
    { "NVM_V", 5, "of NVM files only NVM_V3 is supported" },
    { "ply", 3, "a PLY has no observations to adjust" },
    { "# Image list", 12,
        "it is COLMAP's images.txt alone: the reader needs cameras.txt, "
        "images.txt and points3D.txt in a tar archive" },
    { "# 3D point list", 15,
        "it is COLMAP's points3D.txt alone: the reader needs cameras.txt, "
        "images.txt and points3D.txt in a tar archive" },
  };

  if (bundle_format_is_transforms (data, size))
    return "it is a transforms.json, which contains no observations: adjust "
           "its "
           "COLMAP model by cudavision bundle MODEL_IN MODEL_OUT --transforms "
           "FILE";
  data = skip_mark (data, &size);
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (size >= others[i].n && memcmp (data, others[i].start, others[i].n) == 0)
      return others[i].hint;
  if (size >= TAR_BLOCK && memcmp (data + TAR_MAGIC, "ustar", 5) == 0)
    return "the first file of the tar archive is not part of a COLMAP model: "
           "pack "
           "cameras.txt, images.txt and points3D.txt";
  return "it begins like none of BAL, Bundler v0.3, NVM_V3, COLMAP text (a tar "
         "archive, or with comments) and PLY";
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

  data = skip_mark (data, &size);
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

/* Formats other than BAL compute with the numbers, so their readers limit them. */
#define LARGEST 1e99

static gboolean
check_numbers (const gchar *what, const gdouble *values, gsize n, guint size,
    BundleFormat format, GError **error)
{
  for (gsize i = 0; i < n * size && !cvis_cancelled_at (i); i++)
    if (!(fabs (values[i]) <= LARGEST))
      return cvis_refuse (error,
          "%s %" G_GSIZE_FORMAT " has the number %g; %s files hold up to %g",
          what, i / size, values[i], format_names[format], LARGEST);
  return TRUE;
}

static gboolean
check_problem (
    const BundleProblem *problem, BundleFormat format, GError **error)
{
  return check_numbers ("camera", problem->cameras, problem->n_cameras,
             BUNDLE_CAMERA_SIZE, format, error)
         && check_numbers (
             "point", problem->points, problem->n_points, 3, format, error)
         && check_numbers ("observation", problem->observed,
             problem->n_observations, 2, format, error);
}

static gboolean
check_lenses (const BundleProblem *problem, BundleFormat format, GError **error)
{
  const gboolean held = format == BUNDLE_FORMAT_COLMAP
                        && problem->frames == NULL && problem->n_priors == 0;

  return problem->lenses == NULL || held
         || cvis_refuse (error, "%s files do not hold camera models of COLMAP",
             format_names[format]);
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

  if (!check_lenses (problem, format, error))
    return FALSE;
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

  if (!check_lenses (problem, format, error))
    return NULL;
  if (format == BUNDLE_FORMAT_BUNDLER || format == BUNDLE_FORMAT_NVM
      || format == BUNDLE_FORMAT_COLMAP) {
    if (check_problem (problem, format, error))
      all = write_format (problem, format, errors, error);
  } else if (format != BUNDLE_FORMAT_BAL)
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
