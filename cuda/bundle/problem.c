/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/bundle/problem.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/bundle/arithmetic.h"
#include "cuda/bundle/pose.h"
#include "cuda/core/memory.h"

/* @n elements of @size, zeroed if @clear */
static gboolean
allocate_array (
    gpointer array, gsize n, gsize size, gboolean clear, GError **error)
{
  gpointer *to = array;

  if (n > G_MAXSIZE / 2 / size)
    return cvis_refuse (error,
        "%" G_GSIZE_FORMAT " elements do not fit into memory: reduce the "
        "problem",
        n);
  *to = cvis_memory_new (MAX (n, 1) * size, clear, error);
  return *to != NULL;
}

static BundleProblem *
new_problem (guint n_cameras, guint n_points, gsize n_observations,
    gboolean clear, GError **error)
{
  BundleProblem *p;

  if (!cvis_check_range ("number of cameras", n_cameras, 1, G_MAXINT32, error)
      || !cvis_check_range ("number of points", n_points, 1, G_MAXINT32, error)
      || !cvis_check_range ("number of observations", (gdouble) n_observations,
          1, G_MAXUINT32, error))
    return NULL;
  p = g_new0 (BundleProblem, 1);
  p->n_cameras = n_cameras;
  p->n_points = n_points;
  p->n_observations = n_observations;
  if (allocate_array (&p->cameras, (gsize) n_cameras * BUNDLE_CAMERA_SIZE,
          sizeof *p->cameras, clear, error)
      && allocate_array (
          &p->points, (gsize) n_points * 3, sizeof *p->points, clear, error)
      && allocate_array (
          &p->camera_of, n_observations, sizeof *p->camera_of, clear, error)
      && allocate_array (
          &p->point_of, n_observations, sizeof *p->point_of, clear, error)
      && allocate_array (
          &p->observed, n_observations * 2, sizeof *p->observed, clear, error))
    return p;
  bundle_problem_free (p);
  return NULL;
}

BundleProblem *
bundle_problem_new (
    guint n_cameras, guint n_points, gsize n_observations, GError **error)
{
  return new_problem (n_cameras, n_points, n_observations, TRUE, error);
}

BundleProblem *
bundle_problem_new_unset (
    guint n_cameras, guint n_points, gsize n_observations, GError **error)
{
  return new_problem (n_cameras, n_points, n_observations, FALSE, error);
}

void
bundle_problem_free (BundleProblem *problem)
{
  if (problem == NULL)
    return;
  free (problem->cameras);
  free (problem->points);
  free (problem->camera_of);
  free (problem->point_of);
  free (problem->observed);
  free (problem->camera_constant);
  free (problem->point_constant);
  free (problem->lenses);
  free (problem->lens_of);
  free (problem->priors);
  free (problem->frames);
  free (problem->frame_of);
  free (problem->frame_constant);
  free (problem->sensors);
  free (problem->colours);
  for (guint i = 0; problem->views && i < problem->n_cameras; i++)
    g_free (problem->views[i].name);
  free (problem->views);
  g_free (problem->notes);
  g_free (problem);
}

static gboolean
copy_array (
    gpointer array, gconstpointer from, gsize n, gsize size, GError **error)
{
  gpointer *to = array;

  if (from == NULL)
    return TRUE;
  if (*to == NULL && !allocate_array (array, n, size, FALSE, error))
    return FALSE;
  memcpy (*to, from, n * size);
  return TRUE;
}

BundleProblem *
bundle_problem_copy (const BundleProblem *problem, GError **error)
{
  gsize cameras = problem->n_cameras, points = problem->n_points;
  gsize n = problem->n_observations;
  BundleProblem *p = bundle_problem_new_unset (
      problem->n_cameras, problem->n_points, n, error);

  if (p == NULL)
    return NULL;
  if (!copy_array (&p->cameras, problem->cameras, cameras * BUNDLE_CAMERA_SIZE,
          sizeof *p->cameras, error)
      || !copy_array (
          &p->points, problem->points, points * 3, sizeof *p->points, error)
      || !copy_array (
          &p->camera_of, problem->camera_of, n, sizeof *p->camera_of, error)
      || !copy_array (
          &p->point_of, problem->point_of, n, sizeof *p->point_of, error)
      || !copy_array (
          &p->observed, problem->observed, n * 2, sizeof *p->observed, error)
      || !copy_array (&p->camera_constant, problem->camera_constant, cameras,
          sizeof *p->camera_constant, error)
      || !copy_array (&p->point_constant, problem->point_constant, points,
          sizeof *p->point_constant, error)
      || !copy_array (&p->lenses, problem->lenses, problem->n_lenses,
          sizeof *p->lenses, error)
      || !copy_array (
          &p->lens_of, problem->lens_of, cameras, sizeof *p->lens_of, error)
      || !copy_array (&p->priors, problem->priors, problem->n_priors,
          sizeof *p->priors, error)
      || !copy_array (&p->frames, problem->frames,
          (gsize) problem->n_frames * BUNDLE_CAMERA_SIZE, sizeof *p->frames,
          error)
      || !copy_array (
          &p->frame_of, problem->frame_of, cameras, sizeof *p->frame_of, error)
      || !copy_array (&p->frame_constant, problem->frame_constant,
          problem->n_frames, sizeof *p->frame_constant, error)
      || !copy_array (&p->sensors, problem->sensors, problem->n_lenses,
          sizeof *p->sensors, error)
      || !copy_array (
          &p->colours, problem->colours, points * 3, sizeof *p->colours, error)
      || !copy_array (
          &p->views, problem->views, cameras, sizeof *p->views, error)) {
    bundle_problem_free (p);
    return NULL;
  }
  p->n_lenses = problem->n_lenses;
  p->n_priors = problem->n_priors;
  p->n_frames = problem->n_frames;
  for (guint i = 0; p->views && i < p->n_cameras; i++)
    p->views[i].name = g_strdup (problem->views[i].name);
  p->notes = g_strdup (problem->notes);
  return p;
}

/* Index of the first of @n numbers that is not finite; @n: none */
static gsize
find_not_finite (const gdouble *values, gsize n)
{
  gsize i = 0;

  while (i < n && isfinite (values[i]))
    i++;
  return i;
}

static gboolean
check_finite (const gchar *what, const gdouble *values, gsize n, guint size,
    GError **error)
{
  gsize i = find_not_finite (values, n * size);

  if (i == n * size)
    return TRUE;
  return cvis_refuse (error,
      "number %u of %s %" G_GSIZE_FORMAT " is %s, must be finite",
      (guint) (i % size), what, i / size,
      isnan (values[i]) ? "not a number" : "infinite");
}

static gboolean
check_indices (const gchar *what, const guint32 *indices, gsize n, guint limit,
    GError **error)
{
  for (gsize i = 0; i < n; i++)
    if (indices[i] >= limit)
      return cvis_refuse (error,
          "observation %" G_GSIZE_FORMAT " is of %s %u, must be 0 to %u", i,
          what, indices[i], limit - 1);
  return TRUE;
}

static gboolean
check_lenses (const BundleProblem *problem, GError **error)
{
  for (guint i = 0; i < problem->n_cameras && problem->lenses; i++)
    if (problem->lens_of[i] >= problem->n_lenses)
      return cvis_refuse (error, "camera %u has lens %u, must be 0 to %u", i,
          problem->lens_of[i], problem->n_lenses - 1);
  for (guint i = 0; i < problem->n_lenses; i++) {
    const BundleLens *lens = &problem->lenses[i];

    if ((guint) lens->model >= BUNDLE_N_LENS_MODELS)
      return cvis_refuse (
          error, "lens %u has the unknown model %d", i, (gint) lens->model);
    for (guint k = 0; k < bundle_lens_size (lens->model); k++)
      if (!isfinite (lens->parameters[k]))
        return cvis_refuse (error, "number %u of lens %u is not finite", k, i);
  }
  return TRUE;
}

static gboolean
check_priors (const BundleProblem *problem, GError **error)
{
  if (problem->priors && !problem->lenses)
    return cvis_refuse (error, "priors of positions need cameras with lenses");
  for (guint i = 0; i < problem->n_priors; i++) {
    const BundlePrior *prior = &problem->priors[i];

    if (prior->camera >= problem->n_cameras)
      return cvis_refuse (error, "prior %u is of camera %u, must be 0 to %u", i,
          prior->camera, problem->n_cameras - 1);
    if (find_not_finite (prior->position, 3) < 3
        || find_not_finite (prior->information, 6) < 6)
      return cvis_refuse (error, "a number of prior %u is not finite", i);
  }
  return TRUE;
}

static gboolean
check_frames (const BundleProblem *problem, GError **error)
{
  if (problem->frames == NULL)
    return TRUE;
  if (problem->lenses == NULL)
    return cvis_refuse (error, "rigs need cameras with lenses");
  for (guint i = 0; i < problem->n_cameras; i++)
    if (problem->frame_of[i] >= problem->n_frames)
      return cvis_refuse (error, "camera %u has frame %u, must be 0 to %u", i,
          problem->frame_of[i], problem->n_frames - 1);
  for (guint i = 0; i < problem->n_lenses; i++)
    if (find_not_finite (problem->sensors[i].pose, BUNDLE_CAMERA_SIZE)
        < BUNDLE_CAMERA_SIZE)
      return cvis_refuse (
          error, "a number of the pose of sensor %u is not finite", i);
  return check_finite (
      "frame", problem->frames, problem->n_frames, BUNDLE_CAMERA_SIZE, error);
}

gboolean
bundle_problem_check_state (const BundleProblem *problem, GError **error)
{
  return check_lenses (problem, error) && check_priors (problem, error)
         && check_frames (problem, error)
         && check_finite ("camera", problem->cameras, problem->n_cameras,
             BUNDLE_CAMERA_SIZE, error)
         && check_finite (
             "point", problem->points, problem->n_points, 3, error);
}

gboolean
bundle_problem_check (const BundleProblem *problem, GError **error)
{
  gsize n = problem->n_observations;

  return check_indices (
             "camera", problem->camera_of, n, problem->n_cameras, error)
         && check_indices (
             "point", problem->point_of, n, problem->n_points, error)
         && bundle_problem_check_state (problem, error)
         && check_finite ("observation", problem->observed, n, 2, error);
}

void
bundle_problem_place_cameras (BundleProblem *problem)
{
  for (gsize i = 0; i < problem->n_cameras; i++)
    bundle_pose_multiply (problem->sensors[problem->lens_of[i]].pose,
        problem->frames + BUNDLE_CAMERA_SIZE * (gsize) problem->frame_of[i],
        problem->cameras + BUNDLE_CAMERA_SIZE * i);
}

/* The first lens of the group that lens @i is in. @root: of each lens one before it, or
 * itself */
static guint32
find_root (guint32 *root, guint32 i)
{
  while (root[i] != i)
    i = root[i] = root[root[i]];
  return i;
}

guint
bundle_problem_group_lenses (const BundleProblem *problem, guint32 *group)
{
  g_autofree guint32 *root = g_new (guint32, problem->n_lenses);
  g_autofree guint32 *lens_of = g_new (guint32, problem->n_frames + 1);
  guint n = 0;

  for (guint32 i = 0; i < problem->n_lenses; i++)
    root[i] = i;
  memset (lens_of, 0xff, problem->n_frames * sizeof *lens_of);
  for (guint32 i = 0; problem->frames && i < problem->n_cameras; i++) {
    guint32 *of_frame = &lens_of[problem->frame_of[i]];
    guint32 one = find_root (root, problem->lens_of[i]);

    if (*of_frame != G_MAXUINT32) {
      const guint32 other = find_root (root, *of_frame);

      root[MAX (one, other)] = MIN (one, other);
    }
    *of_frame = problem->lens_of[i];
  }
  for (guint32 i = 0; i < problem->n_lenses; i++) {
    const guint32 first = find_root (root, i);

    group[i] = first == i ? n++ : group[first];
  }
  return n;
}

void
bundle_project (const gdouble camera[BUNDLE_CAMERA_SIZE],
    const gdouble point[3], gdouble image[2])
{
  BundleConstants constants;
  BundleImage at;

  bundle_constants (camera, &constants);
  at = bundle_image (&constants, point[0], point[1], point[2]);
  bundle_residual (&constants, &at, 0, 0, &image[0], &image[1]);
}
