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
 * Some programs write positions from the upper left corner of the picture. None is
 * negative then, and their residuals give the principal point.
 *
 * Further models in the file are not read. In names, a quote represents a
 * blank. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cuda/bundle/formats/codecs.h"
#include "cuda/bundle/pose.h"
#include "cuda/core/cancel.h"

#define CAMERA_BYTES 22 /* smallest size of a camera as text */
#define POINT_BYTES 14
#define CAMERA_NUMBERS 10 /* after the name */
#define LEAST_PIXELS 16   /* measurements that show that none is negative */

/* A camera as the file has it */
typedef struct {
  gdouble focal, q[4], centre[3], distortion;
} NvmCamera;

static NvmCamera
encode_camera (const gdouble *camera)
{
  NvmCamera nvm = { .focal = camera[BUNDLE_CAMERA_FOCAL],
    .distortion = -camera[BUNDLE_CAMERA_K1] };
  gdouble t[3];

  bundle_pose_to_y_down (camera, nvm.q, t);
  bundle_pose_centre (camera, nvm.centre);
  return nvm;
}

/* Returns: FALSE if the quaternion is 0 */
static gboolean
decode_camera (const NvmCamera *nvm, gdouble *camera)
{
  gdouble r[9], w[3], t[3];

  if (!bundle_rotation_from_quaternion (nvm->q, w))
    return FALSE;
  bundle_rotation_to_matrix (w, r);
  for (guint k = 0; k < 3; k++)
    t[k] = -(r[3 * k] * nvm->centre[0] + r[3 * k + 1] * nvm->centre[1]
             + r[3 * k + 2] * nvm->centre[2]);
  bundle_pose_from_y_down (nvm->q, t, camera);
  camera[BUNDLE_CAMERA_FOCAL] = nvm->focal;
  camera[BUNDLE_CAMERA_K1] = -nvm->distortion;
  camera[BUNDLE_CAMERA_K2] = 3 * nvm->distortion * nvm->distortion;
  return TRUE;
}

void
bundle_nvm_hold (const gdouble *camera, gdouble *held)
{
  const NvmCamera nvm = encode_camera (camera);

  decode_camera (&nvm, held);
}

/* Length of the name at s->at: all of the line but its last CAMERA_NUMBERS fields; 0:
 * there are too few */
static gsize
measure_name (const BundleScanner *s)
{
  const gchar *end = memchr (s->at, '\n', (gsize) (s->end - s->at));
  guint fields = 0;

  if (!end)
    end = s->end;
  while (end > s->at && fields <= CAMERA_NUMBERS) {
    while (end > s->at && g_ascii_isspace (end[-1]))
      end--;
    if (fields++ == CAMERA_NUMBERS)
      return (gsize) (end - s->at);
    while (end > s->at && !g_ascii_isspace (end[-1]))
      end--;
  }
  return 0;
}

static gboolean
read_name (BundleScanner *s, gchar **name, GError **error)
{
  BundleScanner of_name = *s;
  const gsize n = measure_name (s);

  if (n == 0)
    return bundle_scan_fault (s, s->at, "camera", error,
        "the line must have a name and %u numbers", CAMERA_NUMBERS);
  of_name.end = s->at + n;
  if (!bundle_scan_rest (&of_name, "name", name, error))
    return FALSE;
  s->at += n;
  g_strdelimit (*name, "\"", ' ');
  return TRUE;
}

/* Moves to the start of the next camera's line */
static gboolean
find_camera (BundleScanner *s)
{
  s->by_line = FALSE;
  bundle_scan_more (s);
  s->by_line = TRUE;
  return s->at < s->end;
}

/* Reads the camera on the line at s->at. */
static gboolean
read_camera (BundleScanner *s, BundleProblem *problem, guint i, GError **error)
{
  gdouble zero;
  NvmCamera nvm;
  const gchar *at;

  if (!read_name (s, &problem->views[i].name, error)
      || !bundle_scan_number (s, "focal length", &nvm.focal, error))
    return FALSE;
  bundle_scan_more (s);
  at = s->at;
  if (!bundle_scan_numbers (s, "quaternion", nvm.q, 4, error)
      || !bundle_scan_numbers (s, "camera centre", nvm.centre, 3, error)
      || !bundle_scan_number (s, "distortion", &nvm.distortion, error)
      || !bundle_scan_number (s, "0", &zero, error))
    return FALSE;
  if (!decode_camera (&nvm, problem->cameras + (gsize) i * BUNDLE_CAMERA_SIZE))
    return bundle_scan_fault (s, at, "quaternion", error, "it is 0");
  bundle_scan_skip_line (s);
  return TRUE;
}

static gboolean
read_nvm_point (BundleScanner *s, BundleTracks *tracks, guint i, GError **error)
{
  BundleProblem *problem = tracks->problem;
  gdouble colour[3], at[2];
  guint64 n, camera, feature;

  if (!bundle_scan_numbers (
          s, "point", problem->points + 3 * (gsize) i, 3, error)
      || !bundle_scan_numbers (s, "colour", colour, 3, error)
      || !bundle_scan_integer (
          s, "number of measurements", 0, G_MAXUINT32, &n, error))
    return FALSE;
  for (guint k = 0; k < 3; k++)
    problem->colours[3 * (gsize) i + k] =
        (guint8) rint (CLAMP (colour[k], 0, 255));
  while (n--) {
    if (!bundle_scan_integer (s, "camera of a measurement", 0,
            problem->n_cameras - 1, &camera, error)
        || !bundle_scan_integer (
            s, "feature of a measurement", 0, G_MAXUINT32, &feature, error)
        || !bundle_scan_numbers (s, "measurement", at, 2, error)
        || !bundle_tracks_add (tracks, (guint) camera, i, at[0], -at[1], error))
      return FALSE;
  }
  return TRUE;
}

/**
 * Header: the first line
 * @fixed: whether the intrinsics are fixed
 * @centre: their principal point, pixels from the upper left corner
 */
typedef struct {
  gboolean fixed;
  gdouble centre[2];
} Header;

static gboolean
read_nvm_header (BundleScanner *s, Header *header, GError **error)
{
  gboolean ok;
  gdouble k[4];
  gchar *word;

  s->at += strlen ("NVM_V3");
  header->fixed = bundle_scan_more (s);
  if (header->fixed) {
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
    header->centre[0] = k[1];
    header->centre[1] = k[3];
  }
  bundle_scan_skip_line (s);
  return TRUE;
}

/* --- absolute pixels --------------------------------------------------------------- */

static gint
compare_nvm_numbers (gconstpointer a, gconstpointer b)
{
  const gdouble x = *(const gdouble *) a, y = *(const gdouble *) b;

  return (x > y) - (x < y);
}

/* Whether the residuals of all measurements along axis @k agree on a principal point,
 * whose coordinate @centre is at least a quarter of the largest measurement;
 * 0: whether they are measured from it, as they should be
 * @residuals: room for all */
static gboolean
find_centre (
    const BundleTracks *tracks, guint k, gdouble *residuals, gdouble *centre)
{
  const BundleProblem *problem = tracks->problem;
  const gsize n = tracks->n;
  gdouble largest = 0, median, spread;

  for (gsize i = 0; i < n; i++) {
    gdouble image[2];

    bundle_project (
        problem->cameras + (gsize) tracks->camera_of[i] * BUNDLE_CAMERA_SIZE,
        problem->points + 3 * (gsize) tracks->point_of[i], image);
    residuals[i] =
        fabs (tracks->observed[2 * i + k]) - (k ? -image[k] : image[k]);
    if (!isfinite (residuals[i]))
      residuals[i] = 0;
    largest = MAX (largest, fabs (tracks->observed[2 * i + k]));
  }
  qsort (residuals, n, sizeof (gdouble), compare_nvm_numbers);
  median = residuals[n / 2];
  spread = residuals[n - 1 - n / 4] - residuals[n / 4];
  *centre = fabs (median) < largest / 20 ? 0 : rint (median);
  return *centre == 0
         || (*centre > largest / 4 && *centre < largest
             && spread < *centre / 10);
}

static void
subtract_centre (
    BundleTracks *tracks, const gdouble centre[2], gboolean estimated)
{
  for (gsize i = 0; i < tracks->n; i++) {
    tracks->observed[2 * i] -= centre[0];
    tracks->observed[2 * i + 1] += centre[1];
  }
  tracks->problem->notes = g_strdup_printf (
      "The measurements of the NVM file are pixels from the upper left corner "
      "of the pictures, not from their centres. The principal point (%g, %g), "
      "%s, was subtracted from all %" G_GSIZE_FORMAT ".",
      centre[0], centre[1],
      estimated ? "estimated from the projections of the points"
                : "which the first line gives",
      tracks->n);
}

/* @at: the first point, for errors */
static gboolean
centre_measurements (BundleTracks *tracks, const Header *header,
    const BundleScanner *s, const gchar *at, GError **error)
{
  const gboolean given = header->centre[0] > 0 && header->centre[1] > 0;
  gdouble *residuals, centre[2];
  gboolean found;

  for (gsize i = 0; i < tracks->n; i++)
    if (tracks->observed[2 * i] < 0 || tracks->observed[2 * i + 1] > 0)
      return TRUE;
  if (tracks->n < LEAST_PIXELS || cvis_cancelled ())
    return TRUE;
  residuals = g_try_new (gdouble, tracks->n);
  if (!residuals)
    return cvis_refuse (error,
        "Not enough memory for %" G_GSIZE_FORMAT " measurements", tracks->n);
  found = find_centre (tracks, 0, residuals, &centre[0])
          && find_centre (tracks, 1, residuals, &centre[1]);
  g_free (residuals);
  if (found && centre[0] == 0 && centre[1] == 0)
    return TRUE;
  if (!found || centre[0] == 0 || centre[1] == 0)
    return bundle_scan_fault (s, at, "measurement", error,
        "none of the %" G_GSIZE_FORMAT " in the file is negative, so they are "
        "pixels from the upper left corner, and the projections of the points "
        "do not agree on one principal point: write them relative to the "
        "centre of each picture",
        tracks->n);
  if (given)
    memcpy (centre, header->centre, sizeof (centre));
  subtract_centre (tracks, centre, !given);
  return TRUE;
}

/* --- the model ---------------------------------------------------------------------- */

/* Largest difference, pixels, between the two models of distortion at the
 * measurements of the file */
static gdouble
measure_series (const BundleTracks *tracks)
{
  gdouble largest = 0;

  for (gsize i = 0; i < tracks->n; i++) {
    const gdouble *camera = tracks->problem->cameras
                            + (gsize) tracks->camera_of[i] * BUNDLE_CAMERA_SIZE;
    const gdouble f = camera[BUNDLE_CAMERA_FOCAL];
    const gdouble n =
        hypot (tracks->observed[2 * i], tracks->observed[2 * i + 1]) / f;
    const gdouble p = n * (1 - camera[BUNDLE_CAMERA_K1] * n * n);
    const gdouble image = p
                          * (1
                              + p * p
                                    * (camera[BUNDLE_CAMERA_K1]
                                        + p * p * camera[BUNDLE_CAMERA_K2]));

    if (fabs (f * (image - n)) > largest)
      largest = fabs (f * (image - n));
  }
  return largest;
}

static gboolean
fix_intrinsics (BundleProblem *problem, GError **error)
{
  problem->camera_constant = malloc (problem->n_cameras * sizeof (guint16));
  for (guint i = 0; problem->camera_constant && i < problem->n_cameras; i++)
    problem->camera_constant[i] = BUNDLE_CAMERA_INTRINSICS;
  return problem->camera_constant != NULL
         || cvis_refuse (
             error, "Not enough memory for %u cameras", problem->n_cameras);
}

/* Reads the points, and what follows from them. */
static gboolean
read_nvm_points (BundleScanner *s, BundleTracks *tracks, const Header *header,
    GError **error)
{
  BundleProblem *problem = tracks->problem;
  const gchar *at;
  guint64 following;
  gdouble lost;

  bundle_scan_more (s);
  at = s->at;
  for (guint i = 0; i < problem->n_points; i++)
    if (!read_nvm_point (s, tracks, i, error))
      return FALSE;
  if (!centre_measurements (tracks, header, s, at, error))
    return FALSE;
  lost = measure_series (tracks);
  if (lost > 0.1)
    bundle_add_note (problem,
        "The radial distortion of the NVM file is replaced by a series, which "
        "differs from it by up to %.2g pixels.",
        lost);
  if (bundle_scan_integer (
          s, "further model", 1, G_MAXUINT32, &following, NULL))
    bundle_add_note (problem,
        "Only the first model of the NVM file was read; another "
        "one follows.");
  return !header->fixed || fix_intrinsics (problem, error);
}

/* The number of points follows the cameras, so these are passed twice. */
static gboolean
find_points (BundleScanner s, guint64 n_cameras, guint64 *n, GError **error)
{
  for (guint64 i = 0; i < n_cameras; i++) {
    if (!find_camera (&s))
      return bundle_scan_fault (&s, s.at, "camera", error,
          "the text ends before camera %" G_GUINT64_FORMAT
          " of %" G_GUINT64_FORMAT,
          i, n_cameras);
    if (measure_name (&s) == 0)
      return bundle_scan_fault (&s, s.at, "camera", error,
          "the line must have a name and %u numbers", CAMERA_NUMBERS);
    bundle_scan_skip_line (&s);
  }
  s.by_line = FALSE;
  return bundle_scan_integer (&s, "number of points", 1,
      MIN (G_MAXINT32, (guint64) (s.end - s.start) / POINT_BYTES + 1), n,
      error);
}

BundleProblem *
bundle_nvm_read (const gchar *data, gsize size, GError **error)
{
  BundleScanner s = bundle_scan_new ("", data, size, TRUE);
  Header header = { 0 };
  BundleTracks tracks;
  guint64 n_cameras, n_points;
  gboolean ok = TRUE;

  if (!read_nvm_header (&s, &header, error))
    return NULL;
  s.by_line = FALSE;
  if (!bundle_scan_integer (&s, "number of cameras", 1,
          MIN (G_MAXINT32, size / CAMERA_BYTES + 1), &n_cameras, error))
    return NULL;
  s.by_line = TRUE;
  if (!find_points (s, n_cameras, &n_points, error)
      || !bundle_tracks_init (&tracks, n_cameras, n_points, TRUE, TRUE, error))
    return NULL;
  for (guint i = 0; ok && i < n_cameras; i++)
    ok = find_camera (&s) && read_camera (&s, tracks.problem, i, error);
  s.by_line = FALSE;
  if (ok
      && bundle_scan_integer (
          &s, "number of points", n_points, n_points, &n_points, error)
      && read_nvm_points (&s, &tracks, &header, error))
    return bundle_tracks_finish (&tracks, &s, error);
  bundle_tracks_clear (&tracks);
  return NULL;
}

/* --- writing -------------------------------------------------------------------- */

static void
write_camera (BundleText *text, const BundleProblem *problem, guint i)
{
  const NvmCamera nvm =
      encode_camera (problem->cameras + (gsize) i * BUNDLE_CAMERA_SIZE);
  gchar *name = bundle_view_name (problem, i);

  for (gchar *c = name; *c; c++)
    if ((guchar) *c <= ' ')
      *c = '"';
  bundle_text_string (text, name);
  bundle_text_number (text, ' ', nvm.focal);
  bundle_text_numbers (text, ' ', nvm.q, 4);
  bundle_text_numbers (text, ' ', nvm.centre, 3);
  bundle_text_number (text, ' ', nvm.distortion);
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
