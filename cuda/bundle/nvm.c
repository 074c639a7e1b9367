/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* VisualSFM's NVM_V3:
 *
 *   NVM_V3 [FixedK FX CX FY CY [R]]
 *   CAMERAS
 *   NAME F QW QX QY QZ CX CY CZ R 0                       for each camera
 *   POINTS
 *   X Y Z RED GREEN BLUE N (CAMERA FEATURE X Y) * N       for each point
 *
 * Cameras look along +z with y down; (CX, CY, CZ) is their position. Image
 * positions are relative to the centre of the picture. The distortion R
 * undistorts: with n = m / F of a measured m, p = n (1 + R |n|^2), while
 * this library's model distorts: n = p (1 + k1 |p|^2 + k2 |p|^4). Inverting
 * the series gives k1 = -R and k2 = 3 R^2; the next term, -12 R^3 |p|^6, is
 * lost. Only k1 is written.
 *
 * Further models in the file are not read. In names, a quote represents a
 * blank. */
#include <math.h>
#include <string.h>
#include "cuda/bundle/codecs.h"
#include "cuda/bundle/pose.h"
#include "cuda/core/cancel.h"

#define CAMERA_BYTES 22 /* smallest size of a camera as text */
#define POINT_BYTES 14

static gboolean
read_camera (BundleScanner *s, BundleProblem *problem, guint i, GError **error)
{
  gdouble *camera = problem->cameras + (gsize) i * BUNDLE_CAMERA_SIZE;
  gdouble q[4], centre[3], t[3], r[9], w[3], distortion[2];
  const gchar *at;

  if (!bundle_scan_word (s, "name", &problem->views[i].name, error))
    return FALSE;
  g_strdelimit (problem->views[i].name, "\"", ' ');
  if (!bundle_scan_number (
          s, "focal length", &camera[BUNDLE_CAMERA_FOCAL], error))
    return FALSE;
  bundle_scan_more (s);
  at = s->at;
  if (!bundle_scan_numbers (s, "quaternion", q, 4, error)
      || !bundle_scan_numbers (s, "camera centre", centre, 3, error)
      || !bundle_scan_numbers (s, "distortion and 0", distortion, 2, error))
    return FALSE;
  if (!bundle_rotation_from_quaternion (q, w))
    return bundle_scan_fault (s, at, "quaternion", error, "it is 0");
  bundle_rotation_to_matrix (w, r);
  for (guint k = 0; k < 3; k++)
    t[k] = -(r[3 * k] * centre[0] + r[3 * k + 1] * centre[1]
             + r[3 * k + 2] * centre[2]);
  bundle_pose_from_y_down (q, t, camera);
  camera[BUNDLE_CAMERA_K1] = -distortion[0];
  camera[BUNDLE_CAMERA_K2] = 3 * distortion[0] * distortion[0];
  return TRUE;
}

static gboolean
read_point (BundleScanner *s, BundleTracks *tracks, guint i, GError **error)
{
  BundleProblem *problem = tracks->problem;
  gdouble colour[3], at[2];
  guint64 n, camera, feature;

  if (!bundle_scan_numbers (
          s, "point", problem->points + 3 * (gsize) i, 3, error)
      || !bundle_scan_numbers (s, "colour", colour, 3, error)
      || !bundle_scan_integer (
          s, "number of measurements", 0, problem->n_cameras, &n, error))
    return FALSE;
  for (guint k = 0; k < 3; k++)
    problem->colours[3 * (gsize) i + k] =
        (guint8) rint (CLAMP (colour[k], 0, 255));
  while (n--) {
    const gchar *start;

    bundle_scan_more (s);
    start = s->at;
    if (!bundle_scan_integer (s, "camera of a measurement", 0,
            problem->n_cameras - 1, &camera, error)
        || !bundle_scan_integer (
            s, "feature of a measurement", 0, G_MAXUINT32, &feature, error)
        || !bundle_scan_numbers (s, "measurement", at, 2, error))
      return FALSE;
    if (bundle_tracks_repeated (tracks, (guint) camera, i))
      return bundle_scan_fault (s, start, "camera of a measurement", error,
          "camera %u sees point %u a second time", (guint) camera, i);
    if (!bundle_tracks_add (tracks, (guint) camera, i, at[0], -at[1], error))
      return FALSE;
  }
  return TRUE;
}

/* Parses the rest of the first line. @fixed: whether the intrinsics are
 * fixed */
static gboolean
read_header (BundleScanner *s, gboolean *fixed, GError **error)
{
  gboolean ok;
  gdouble k[4];
  gchar *word;

  s->at += strlen ("NVM_V3");
  s->by_line = TRUE;
  *fixed = bundle_scan_more (s);
  if (*fixed) {
    const gchar *at = s->at;

    if (!bundle_scan_word (s, "first line", &word, error))
      return FALSE;
    ok = strcmp (word, "FixedK") == 0;
    g_free (word);
    if (!ok)
      return bundle_scan_fault (
          s, at, "first line", error, "FixedK or nothing must follow NVM_V3");
    if (!bundle_scan_numbers (s, "FixedK", k, 4, error))
      return FALSE;
    if (!(fabs (k[0] - k[2]) <= 1e-6 * fabs (k[0])))
      return bundle_scan_fault (s, at, "FixedK", error,
          "focal lengths in x and y differ, which the camera model does not "
          "have");
  }
  bundle_scan_skip_line (s);
  s->by_line = FALSE;
  return TRUE;
}

static gboolean
read_body (
    BundleScanner *s, BundleTracks *tracks, gboolean fixed, GError **error)
{
  BundleProblem *problem = tracks->problem;

  for (guint i = 0; i < problem->n_points; i++)
    if (!read_point (s, tracks, i, error))
      return FALSE;
  if (!fixed)
    return TRUE;
  problem->camera_constant = g_try_new (guint16, problem->n_cameras);
  for (guint i = 0; problem->camera_constant && i < problem->n_cameras; i++)
    problem->camera_constant[i] = BUNDLE_CAMERA_INTRINSICS;
  return problem->camera_constant != NULL
         || cvis_refuse (
             error, "Not enough memory for %u cameras", problem->n_cameras);
}

/* The number of points follows the cameras, so these are scanned twice. */
static gboolean
find_points (BundleScanner s, guint64 n_cameras, guint64 *n, GError **error)
{
  for (guint64 i = 0; i < n_cameras; i++) {
    for (guint k = 0; k < 11; k++) {
      if (!bundle_scan_more (&s))
        return bundle_scan_fault (&s, s.at, "camera", error,
            "the text ends within camera %" G_GUINT64_FORMAT
            " of %" G_GUINT64_FORMAT,
            i, n_cameras);
      while (s.at < s.end && !g_ascii_isspace (*s.at))
        s.at++;
    }
  }
  return bundle_scan_integer (&s, "number of points", 1,
      MIN (G_MAXINT32, (guint64) (s.end - s.start) / POINT_BYTES + 1), n,
      error);
}

BundleProblem *
bundle_nvm_read (const gchar *data, gsize size, GError **error)
{
  BundleScanner s = { "", data, data, data + size, FALSE };
  BundleTracks tracks;
  guint64 n_cameras, n_points;
  gboolean fixed, ok = TRUE;

  if (!read_header (&s, &fixed, error)
      || !bundle_scan_integer (&s, "number of cameras", 1,
          MIN (G_MAXINT32, size / CAMERA_BYTES + 1), &n_cameras, error)
      || !find_points (s, n_cameras, &n_points, error)
      || !bundle_tracks_init (&tracks, n_cameras, n_points, TRUE, TRUE, error))
    return NULL;
  for (guint i = 0; ok && i < n_cameras; i++)
    ok = read_camera (&s, tracks.problem, i, error);
  if (ok
      && bundle_scan_integer (
          &s, "number of points", n_points, n_points, &n_points, error)
      && read_body (&s, &tracks, fixed, error))
    return bundle_tracks_finish (&tracks, &s, error);
  bundle_tracks_clear (&tracks);
  return NULL;
}

/* --- writing -------------------------------------------------------------------- */

static void
write_camera (BundleText *text, const BundleProblem *problem, guint i)
{
  const gdouble *camera = problem->cameras + (gsize) i * BUNDLE_CAMERA_SIZE;
  gchar *name = bundle_view_name (problem, i);
  gdouble q[4], t[3], centre[3];

  for (gchar *c = name; *c; c++)
    if ((guchar) *c <= ' ')
      *c = '"';
  bundle_pose_to_y_down (camera, q, t);
  bundle_pose_centre (camera, centre);
  bundle_text_string (text, name);
  bundle_text_number (text, ' ', camera[BUNDLE_CAMERA_FOCAL]);
  bundle_text_numbers (text, ' ', q, 4);
  bundle_text_numbers (text, ' ', centre, 3);
  bundle_text_number (text, ' ', -camera[BUNDLE_CAMERA_K1]);
  bundle_text_string (text, " 0\n");
  g_free (name);
}

GBytes *
bundle_nvm_write (const BundleProblem *problem, GError **error)
{
  static const guint8 grey[3] = { 128, 128, 128 };
  BundleText text = { 0 };
  guint32 *order, *features;
  gsize *first;

  if (!bundle_order (
          problem, problem->point_of, problem->n_points, &first, &order, error))
    return NULL;
  features = g_new0 (guint32, problem->n_cameras);
  bundle_text_string (&text, "NVM_V3\n");
  bundle_text_integer (&text, '\n', problem->n_cameras);
  bundle_text_string (&text, "\n");
  for (guint i = 0; i < problem->n_cameras; i++)
    write_camera (&text, problem, i);
  bundle_text_integer (&text, '\n', problem->n_points);
  for (guint p = 0; p < problem->n_points && !cvis_cancelled_at (p); p++) {
    const guint8 *colour =
        problem->colours ? problem->colours + 3 * (gsize) p : grey;

    for (guint i = 0; i < 3; i++)
      bundle_text_number (
          &text, i ? ' ' : '\n', problem->points[3 * (gsize) p + i]);
    for (guint i = 0; i < 3; i++)
      bundle_text_integer (&text, ' ', colour[i]);
    bundle_text_integer (&text, ' ', first[p + 1] - first[p]);
    for (gsize k = first[p]; k < first[p + 1]; k++) {
      const guint camera = problem->camera_of[order[k]];
      const gdouble *at = problem->observed + 2 * (gsize) order[k];

      bundle_text_integer (&text, ' ', camera);
      bundle_text_integer (&text, ' ', features[camera]++);
      bundle_text_number (&text, ' ', at[0]);
      bundle_text_number (&text, ' ', -at[1]);
    }
  }
  bundle_text_string (&text, "\n\n0\n");
  g_free (first);
  g_free (order);
  g_free (features);
  return bundle_text_finish (&text, error);
}
