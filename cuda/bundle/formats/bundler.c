/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Bundler's .out, version 0.3, with the same axes and camera model as this
 * library:
 *
 *   # Bundle file v0.3
 *   CAMERAS POINTS
 *   F K1 K2, R (3 rows), t                       for each camera
 *   X Y Z, RED GREEN BLUE, N CAMERA KEY X Y ...  for each point
 *
 * A camera that is not in the reconstruction is all zeros. It is kept, so
 * that camera numbers still identify pictures, and constant. */
#include <string.h>
#include "cuda/bundle/formats/codecs.h"
#include "cuda/bundle/pose.h"
#include "cuda/core/cancel.h"

#define CAMERA_BYTES 30 /* smallest size of a camera as text */
#define POINT_BYTES 14

static gboolean
read_camera (BundleScanner *s, BundleProblem *problem, guint i, GError **error)
{
  gdouble *camera = problem->cameras + (gsize) i * BUNDLE_CAMERA_SIZE;
  const gchar *at;
  gdouble r[9];
  gboolean unused;

  if (!bundle_scan_numbers (
          s, "focal length, k1, k2", camera + BUNDLE_CAMERA_FOCAL, 3, error))
    return FALSE;
  bundle_scan_more (s);
  at = s->at;
  if (!bundle_scan_numbers (s, "rotation", r, 9, error)
      || !bundle_scan_numbers (
          s, "translation", camera + BUNDLE_CAMERA_TRANSLATION, 3, error))
    return FALSE;
  unused = camera[BUNDLE_CAMERA_FOCAL] == 0;
  for (guint k = 0; k < 9; k++)
    unused &= r[k] == 0;
  if (unused) {
    problem->camera_constant[i] = BUNDLE_CAMERA_ALL;
    return TRUE;
  }
  if (!bundle_rotation_from_matrix (r, camera + BUNDLE_CAMERA_ROTATION))
    return bundle_scan_fault (s, at, "rotation", error,
        "the matrix of camera %u is not a rotation", i);
  return TRUE;
}

static gboolean
read_bundler_point (
    BundleScanner *s, BundleTracks *tracks, guint i, GError **error)
{
  BundleProblem *problem = tracks->problem;
  guint64 colour, n, camera, key;
  gdouble at[2];

  if (!bundle_scan_numbers (
          s, "point", problem->points + 3 * (gsize) i, 3, error))
    return FALSE;
  for (guint k = 0; k < 3; k++) {
    if (!bundle_scan_integer (s, "colour", 0, 255, &colour, error))
      return FALSE;
    problem->colours[3 * (gsize) i + k] = (guint8) colour;
  }
  if (!bundle_scan_integer (s, "number of views", 0, G_MAXUINT32, &n, error))
    return FALSE;
  while (n--) {
    if (!bundle_scan_integer (
            s, "camera of a view", 0, problem->n_cameras - 1, &camera, error)
        || !bundle_scan_integer (
            s, "key of a view", 0, G_MAXUINT32, &key, error)
        || !bundle_scan_numbers (s, "position in a view", at, 2, error)
        || !bundle_tracks_add (tracks, (guint) camera, i, at[0], at[1], error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
read_body (BundleScanner *s, BundleTracks *tracks, GError **error)
{
  BundleProblem *problem = tracks->problem;
  gboolean constant = FALSE;

  problem->camera_constant = g_try_new0 (guint16, problem->n_cameras);
  if (!problem->camera_constant) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "Not enough memory for %u cameras", problem->n_cameras);
    return FALSE;
  }
  for (guint i = 0; i < problem->n_cameras; i++)
    if (!read_camera (s, problem, i, error))
      return FALSE;
  for (guint i = 0; i < problem->n_cameras; i++)
    constant |= problem->camera_constant[i] != 0;
  if (!constant)
    g_clear_pointer (&problem->camera_constant, g_free);
  for (guint i = 0; i < problem->n_points; i++)
    if (!read_bundler_point (s, tracks, i, error))
      return FALSE;
  if (bundle_scan_more (s))
    return bundle_scan_fault (
        s, s->at, "end", error, "text follows the last point");
  return TRUE;
}

BundleProblem *
bundle_bundler_read (const gchar *data, gsize size, GError **error)
{
  BundleScanner s = bundle_scan_new ("", data, size, FALSE);
  BundleTracks tracks;
  guint64 n_cameras, n_points;

  bundle_scan_skip_line (&s);
  if (!bundle_scan_integer (&s, "number of cameras", 1,
          MIN (G_MAXINT32, size / CAMERA_BYTES + 1), &n_cameras, error)
      || !bundle_scan_integer (&s, "number of points", 1,
          MIN (G_MAXINT32, size / POINT_BYTES + 1), &n_points, error)
      || !bundle_tracks_init (&tracks, n_cameras, n_points, FALSE, TRUE, error))
    return NULL;
  if (read_body (&s, &tracks, error))
    return bundle_tracks_finish (&tracks, &s, error);
  bundle_tracks_clear (&tracks);
  return NULL;
}

/* --- writing -------------------------------------------------------------------- */

void
bundle_bundler_hold (const gdouble *camera, gdouble *held)
{
  gdouble r[9];

  memcpy (held, camera, BUNDLE_CAMERA_SIZE * sizeof (gdouble));
  bundle_rotation_to_matrix (camera + BUNDLE_CAMERA_ROTATION, r);
  bundle_rotation_from_matrix (r, held + BUNDLE_CAMERA_ROTATION);
}

static void
write_camera (BundleText *text, const gdouble *camera)
{
  gdouble r[9] = { 0 };

  if (camera[BUNDLE_CAMERA_FOCAL] != 0)
    bundle_rotation_to_matrix (camera + BUNDLE_CAMERA_ROTATION, r);
  bundle_text_number (text, '\n', camera[BUNDLE_CAMERA_FOCAL]);
  bundle_text_numbers (text, ' ', camera + BUNDLE_CAMERA_K1, 2);
  for (guint i = 0; i < 9; i++)
    bundle_text_number (text, i % 3 ? ' ' : '\n', r[i]);
  for (guint i = 0; i < 3; i++)
    bundle_text_number (
        text, i ? ' ' : '\n', camera[BUNDLE_CAMERA_TRANSLATION + i]);
}

GBytes *
bundle_bundler_write (const BundleProblem *problem, GError **error)
{
  static const guint8 grey[3] = { 128, 128, 128 };
  BundleText text = { 0 };
  guint32 *order, *keys;
  gsize *first;

  if (!bundle_order (
          problem, problem->point_of, problem->n_points, &first, &order, error))
    return NULL;
  keys = g_new0 (guint32, problem->n_cameras);
  bundle_text_string (&text, "# Bundle file v0.3");
  bundle_text_integer (&text, '\n', problem->n_cameras);
  bundle_text_integer (&text, ' ', problem->n_points);
  for (guint i = 0; i < problem->n_cameras; i++)
    write_camera (&text, problem->cameras + (gsize) i * BUNDLE_CAMERA_SIZE);
  for (guint p = 0; p < problem->n_points && !cvis_cancelled_at (p); p++) {
    const guint8 *colour =
        problem->colours ? problem->colours + 3 * (gsize) p : grey;

    for (guint i = 0; i < 3; i++)
      bundle_text_number (
          &text, i ? ' ' : '\n', problem->points[3 * (gsize) p + i]);
    for (guint i = 0; i < 3; i++)
      bundle_text_integer (&text, i ? ' ' : '\n', colour[i]);
    bundle_text_integer (&text, '\n', first[p + 1] - first[p]);
    for (gsize k = first[p]; k < first[p + 1]; k++) {
      const guint camera = problem->camera_of[order[k]];

      bundle_text_integer (&text, ' ', camera);
      bundle_text_integer (&text, ' ', keys[camera]++);
      bundle_text_numbers (
          &text, ' ', problem->observed + 2 * (gsize) order[k], 2);
    }
  }
  bundle_text_string (&text, "\n");
  g_free (first);
  g_free (order);
  g_free (keys);
  return bundle_text_finish (&text, error);
}
