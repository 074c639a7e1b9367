/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <math.h>
#include <string.h>
#include "cuda/bundle/formats/codecs.h"
#include "cuda/core/cancel.h"

#define FIRST_OBSERVATIONS 1024

static gboolean
reject_memory (GError **error)
{
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
      "Not enough memory for a problem of this size");
  return FALSE;
}

gboolean
bundle_tracks_init (BundleTracks *tracks, guint64 n_cameras, guint64 n_points,
    gboolean views, gboolean colours, GError **error)
{
  BundleProblem *problem;

  *tracks = (BundleTracks){ 0 };
  /* room for one observation until their number is known */
  problem = bundle_problem_new ((guint) n_cameras, (guint) n_points, 1, error);
  if (!problem)
    return FALSE;
  tracks->problem = problem;
  if (views)
    problem->views = g_try_new0 (BundleView, n_cameras);
  if (colours)
    problem->colours = g_try_malloc0_n (n_points, 3);
  if ((!views || problem->views) && (!colours || problem->colours))
    return TRUE;
  bundle_tracks_clear (tracks);
  return reject_memory (error);
}

void
bundle_tracks_clear (BundleTracks *tracks)
{
  if (tracks->problem)
    bundle_problem_free (tracks->problem);
  g_free (tracks->camera_of);
  g_free (tracks->point_of);
  g_free (tracks->observed);
  *tracks = (BundleTracks){ 0 };
}

static gboolean
grow_tracks (BundleTracks *tracks)
{
  const gsize n = MAX (2 * tracks->allocated, FIRST_OBSERVATIONS);
  gpointer grown;

  grown = g_try_realloc_n (tracks->camera_of, n, sizeof (guint32));
  if (!grown)
    return FALSE;
  tracks->camera_of = grown;
  grown = g_try_realloc_n (tracks->point_of, n, sizeof (guint32));
  if (!grown)
    return FALSE;
  tracks->point_of = grown;
  grown = g_try_realloc_n (tracks->observed, n, 2 * sizeof (gdouble));
  if (!grown)
    return FALSE;
  tracks->observed = grown;
  tracks->allocated = n;
  return TRUE;
}

gboolean
bundle_tracks_add (BundleTracks *tracks, guint camera, guint point, gdouble x,
    gdouble y, GError **error)
{
  if (tracks->n == tracks->allocated && !grow_tracks (tracks))
    return reject_memory (error);
  tracks->camera_of[tracks->n] = camera;
  tracks->point_of[tracks->n] = point;
  tracks->observed[2 * tracks->n] = x;
  tracks->observed[2 * tracks->n + 1] = y;
  tracks->n++;
  return TRUE;
}

BundleProblem *
bundle_tracks_finish (
    BundleTracks *tracks, const BundleScanner *s, GError **error)
{
  BundleProblem *from = tracks->problem, *problem = NULL;

  if (tracks->n == 0)
    bundle_scan_fault (s, s->end, "observations", error, "the file has none");
  else if (tracks->n > G_MAXUINT32)
    bundle_scan_fault (s, s->end, "observations", error,
        "the file has more than %u", G_MAXUINT32);
  else
    problem = bundle_problem_new_unset (
        from->n_cameras, from->n_points, tracks->n, error);
  if (problem) {
    memcpy (problem->cameras, from->cameras,
        sizeof (gdouble) * BUNDLE_CAMERA_SIZE * from->n_cameras);
    memcpy (
        problem->points, from->points, sizeof (gdouble) * 3 * from->n_points);
    memcpy (problem->camera_of, tracks->camera_of, 4 * tracks->n);
    memcpy (problem->point_of, tracks->point_of, 4 * tracks->n);
    memcpy (problem->observed, tracks->observed, 16 * tracks->n);
    problem->camera_constant = g_steal_pointer (&from->camera_constant);
    problem->colours = g_steal_pointer (&from->colours);
    problem->views = g_steal_pointer (&from->views);
    problem->n_lenses = from->n_lenses;
    problem->lenses = g_steal_pointer (&from->lenses);
    problem->lens_of = g_steal_pointer (&from->lens_of);
    problem->notes = g_steal_pointer (&from->notes);
  }
  bundle_tracks_clear (tracks);
  return problem;
}

void
bundle_add_note (BundleProblem *problem, const gchar *format, ...)
{
  g_autofree gchar *notes = problem->notes, *note = NULL;
  va_list args;

  va_start (args, format);
  note = g_strdup_vprintf (format, args);
  va_end (args);
  problem->notes =
      g_strconcat (notes ? notes : "", notes ? " " : "", note, NULL);
}

gboolean
bundle_order (const BundleProblem *problem, const guint32 *of, guint n_of,
    gsize **first, guint32 **order, GError **error)
{
  gsize *starts = g_try_new0 (gsize, (gsize) n_of + 1);

  *first = starts;
  *order = g_try_new (guint32, problem->n_observations);
  if (!starts || !*order) {
    g_clear_pointer (first, g_free);
    g_clear_pointer (order, g_free);
    return reject_memory (error);
  }
  for (gsize i = 0; i < problem->n_observations && !cvis_cancelled_at (i); i++)
    starts[of[i] + 1]++;
  for (guint p = 0; p < n_of; p++)
    starts[p + 1] += starts[p];
  for (gsize i = 0; i < problem->n_observations && !cvis_cancelled_at (i); i++)
    (*order)[starts[of[i]]++] = (guint32) i;
  if (cvis_cancelled ()) {
    g_clear_pointer (first, g_free);
    g_clear_pointer (order, g_free);
    return cvis_refuse_cancelled (error);
  }
  /* each start has moved to the next one's position */
  memmove (starts + 1, starts, sizeof (gsize) * n_of);
  starts[0] = 0;
  return TRUE;
}

gchar *
bundle_view_name (const BundleProblem *problem, guint i)
{
  if (problem->views && problem->views[i].name)
    return g_strdup (problem->views[i].name);
  return g_strdup_printf ("%08u.jpg", i);
}

/* Even width and height that contain the observations */
BundlePicture *
bundle_pictures (const BundleProblem *problem, GError **error)
{
  BundlePicture *pictures = g_try_new0 (BundlePicture, problem->n_cameras);

  if (!pictures) {
    reject_memory (error);
    return NULL;
  }
  for (gsize i = 0; i < problem->n_observations && !cvis_cancelled_at (i);
       i++) {
    BundlePicture *picture = &pictures[problem->camera_of[i]];

    for (guint k = 0; k < 2; k++)
      picture->centre[k] =
          MAX (picture->centre[k], ceil (fabs (problem->observed[2 * i + k])));
  }
  for (guint i = 0; i < problem->n_cameras; i++) {
    const BundleView *view = problem->views ? &problem->views[i] : NULL;
    BundlePicture *picture = &pictures[i];

    for (guint k = 0; k < 2; k++)
      picture->centre[k] = CLAMP (picture->centre[k], 1, 1e9);
    picture->width = 2 * (guint) picture->centre[0];
    picture->height = 2 * (guint) picture->centre[1];
    if (!view || !view->width || !view->height)
      continue;
    picture->width = view->width;
    picture->height = view->height;
    picture->centre[0] = view->centre[0] ? view->centre[0] : view->width / 2.0;
    picture->centre[1] = view->centre[1] ? view->centre[1] : view->height / 2.0;
  }
  return pictures;
}
