/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/bundle/colmap/adjust.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/bundle/engine.h"
#include "cuda/bundle/pose.h"
#include "cuda/core/memory.h"

#define MIN_TRACK 2
#define POSE (BUNDLE_CAMERA_ALL & ~BUNDLE_CAMERA_INTRINSICS)
/* A principal point further outside of the picture, in sizes of the picture, is a
 * mistake. */
#define OUTSIDE 10

void
bundle_model_map_clear (BundleModelMap *map)
{
  free (map->image_of);
  free (map->point_of);
  *map = (BundleModelMap){ 0 };
}

/* --- observations behind their cameras ------------------------------------------------ */

/* The depth of @x in front of the camera: the third row of R and t */
static gdouble
measure_depth (const BundleModelImage *image, const gdouble x[3])
{
  const gdouble *q = image->q;
  const gdouble square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
  const gdouble r0 = 2 * (q[1] * q[3] - q[0] * q[2]) / square;
  const gdouble r1 = 2 * (q[2] * q[3] + q[0] * q[1]) / square;
  const gdouble r2 = 1 - 2 * (q[1] * q[1] + q[2] * q[2]) / square;

  return r0 * x[0] + r1 * x[1] + r2 * x[2] + image->t[2];
}

static void
forget_feature (BundleModel *model, const BundleModelElement *element)
{
  model->features[model->images[element->image].first + element->feature]
      .point = BUNDLE_MODEL_NO_POINT;
}

/* Deletes observations behind their cameras from the track of @point.
 * Returns: their number */
static gsize
shorten_track (BundleModel *model, BundleModelPoint *point)
{
  BundleModelElement *track = model->elements + point->first;
  gsize n = 0, deleted;

  for (gsize i = 0; i < point->n; i++)
    if (measure_depth (&model->images[track[i].image], point->x) < DBL_EPSILON)
      forget_feature (model, &track[i]);
    else
      track[n++] = track[i];
  deleted = point->n - n;
  point->n = n;
  return deleted;
}

static void
delete_behind (BundleModel *model, BundleModelMap *map)
{
  gsize kept = 0;

  for (gsize i = 0; i < model->n_points; i++) {
    BundleModelPoint *point = &model->points[i];
    const gsize n_behind = shorten_track (model, point);

    map->n_behind += n_behind;
    if (n_behind > 0 && point->n < MIN_TRACK) {
      for (gsize k = 0; k < point->n; k++)
        forget_feature (model, &model->elements[point->first + k]);
      map->n_deleted++;
    } else
      model->points[kept++] = *point;
  }
  model->n_points = kept;
}

/* --- the problem ------------------------------------------------------------------------ */

static gboolean
refuse_model_camera (const BundleModel *model, guint i, const gchar *field,
    gdouble value, const gchar *what, GError **error)
{
  return cvis_refuse (error, "%s record %u (CAMERA_ID %u), %s: %g %s",
      bundle_model_file_name (BUNDLE_MODEL_CAMERAS, model->binary), i + 1,
      model->cameras[i].id, field, value, what);
}

static gboolean
check_model_camera (const BundleModel *model, guint i, GError **error)
{
  const BundleModelCamera *camera = &model->cameras[i];
  const guint n_focal = bundle_lens_info[camera->model].n_focal;
  const gdouble size[2] = { (gdouble) camera->width, (gdouble) camera->height };

  for (guint k = 0; k < n_focal; k++)
    if (!(camera->parameters[k] > 0))
      return refuse_model_camera (model, i, "focal length",
          camera->parameters[k], "is not above 0", error);
  for (guint k = 0; k < 2; k++)
    if (fabs (camera->parameters[n_focal + k]) > OUTSIDE * size[k])
      return refuse_model_camera (model, i, "principal point",
          camera->parameters[n_focal + k], "is far outside the picture", error);
  return TRUE;
}

/* Bits of the parameters that stay constant */
static guint16
mask_lens (BundleLensModel model, const BundleModelSettings *settings)
{
  const guint n_focal = bundle_lens_info[model].n_focal;
  guint16 mask = 0;

  for (guint k = 0; k < bundle_lens_size (model); k++) {
    const gboolean refine = k < n_focal       ? settings->refine_focal
                            : k < n_focal + 2 ? settings->refine_centre
                                              : settings->refine_extra;

    if (!refine)
      mask = (guint16) (mask | 1 << k);
  }
  return mask;
}

#define NEW_ARRAY(to, n)                                                       \
  ((*(to) = cvis_memory_new (                                                  \
        MAX ((gsize) (n), 1) * sizeof **(to), TRUE, error))                    \
      != NULL)

/* @number: of each image: that of its camera in the problem, or G_MAXUINT32 */
static void
fill_cameras (const BundleModel *model, const BundleModelSettings *settings,
    const guint32 *number, BundleProblem *problem)
{
  for (guint i = 0; i < model->n_cameras; i++) {
    BundleLens *lens = &problem->lenses[i];

    lens->model = model->cameras[i].model;
    lens->constant = (1 << BUNDLE_LENS_SIZE) - 1; /* until it has an image */
    memcpy (lens->parameters, model->cameras[i].parameters,
        sizeof lens->parameters);
  }
  for (guint i = 0; i < model->n_images; i++) {
    const BundleModelImage *image = &model->images[i];

    if (number[i] == G_MAXUINT32)
      continue;
    bundle_pose_from_y_down (image->q, image->t,
        problem->cameras + BUNDLE_CAMERA_SIZE * (gsize) number[i]);
    problem->lens_of[number[i]] = image->camera;
    problem->lenses[image->camera].constant =
        mask_lens (model->cameras[image->camera].model, settings)
        | model->cameras[image->camera].constant;
    problem->camera_constant[number[i]] =
        image->constant
        | (!settings->refine_poses     ? POSE
            : settings->keep_rotations ? 7 << BUNDLE_CAMERA_ROTATION
                                       : 0);
  }
}

static void
fill_points (const BundleModel *model, const BundleModelSettings *settings,
    const guint32 *number, const BundleModelMap *map, BundleProblem *problem)
{
  gsize n = 0;

  for (guint p = 0; p < problem->n_points; p++) {
    const BundleModelPoint *point = &model->points[map->point_of[p]];

    memcpy (problem->points + 3 * (gsize) p, point->x, sizeof point->x);
    problem->point_constant[p] = !settings->refine_points || point->constant;
    for (gsize k = 0; k < point->n; k++, n++) {
      const BundleModelElement *element = &model->elements[point->first + k];
      const BundleModelImage *image = &model->images[element->image];

      problem->camera_of[n] = number[element->image];
      problem->point_of[n] = p;
      memcpy (problem->observed + 2 * n,
          model->features[image->first + element->feature].at,
          2 * sizeof (gdouble));
    }
  }
}

/* Numbers the points and images that have observations.
 * @number: n_images, G_MAXUINT32 */
static void
number_model (const BundleModel *model, guint min_track, BundleModelMap *map,
    guint32 *number, guint32 counts[2], gsize *n_observations)
{
  counts[0] = counts[1] = 0;
  *n_observations = 0;
  for (gsize i = 0; i < model->n_points; i++) {
    const BundleModelPoint *point = &model->points[i];

    if (point->n < MAX (min_track, MIN_TRACK)) {
      map->n_short++;
      continue;
    }
    map->point_of[counts[1]++] = (guint32) i;
    *n_observations += point->n;
    for (gsize k = 0; k < point->n; k++)
      number[model->elements[point->first + k].image] = 0;
  }
  for (guint i = 0; i < model->n_images; i++)
    if (number[i] != G_MAXUINT32) {
      map->image_of[counts[0]] = i;
      number[i] = counts[0]++;
    }
  map->n_idle = model->n_images - counts[0];
}

/* The priors of images that have a number */
static gboolean
fill_priors (const BundleModel *model, const guint32 *number,
    BundleProblem *problem, GError **error)
{
  const guint n = model->priors ? model->priors->len : 0;

  if (n > 0 && !NEW_ARRAY (&problem->priors, n))
    return FALSE;
  for (guint i = 0; i < n; i++) {
    const BundleModelPrior *prior =
        &g_array_index (model->priors, BundleModelPrior, i);
    BundlePrior *to = &problem->priors[problem->n_priors];

    if (number[prior->image] == G_MAXUINT32)
      continue;
    to->camera = number[prior->image];
    memcpy (to->position, prior->position, sizeof to->position);
    memcpy (to->information, prior->information, sizeof to->information);
    problem->n_priors++;
  }
  return TRUE;
}

static BundleProblem *
make_problem (const BundleModel *model, const BundleModelSettings *settings,
    BundleModelMap *map, guint32 *number, GError **error)
{
  BundleProblem *problem;
  gsize n_observations;
  guint32 counts[2];

  number_model (
      model, settings->min_track, map, number, counts, &n_observations);
  if (n_observations == 0) {
    cvis_refuse (error,
        "no point of the model has %d observations in front of its cameras",
        MIN_TRACK);
    return NULL;
  }
  problem = bundle_problem_new (counts[0], counts[1], n_observations, error);
  if (problem == NULL)
    return NULL;
  problem->n_lenses = model->n_cameras;
  if (!NEW_ARRAY (&problem->lenses, model->n_cameras)
      || !NEW_ARRAY (&problem->lens_of, counts[0])
      || !NEW_ARRAY (&problem->camera_constant, counts[0])
      || !NEW_ARRAY (&problem->point_constant, counts[1])
      || !fill_priors (model, number, problem, error)) {
    bundle_problem_free (problem);
    return NULL;
  }
  fill_cameras (model, settings, number, problem);
  fill_points (model, settings, number, map, problem);
  if (!settings->free_gauge && !problem->priors
      && !memchr (problem->point_constant, TRUE, counts[1]))
    bundle_model_gauge_init (
        &map->gauge, model, map->image_of, counts[0], problem->camera_constant);
  return problem;
}

BundleProblem *
bundle_model_problem (BundleModel *model, const BundleModelSettings *settings,
    BundleModelMap *map, GError **error)
{
  BundleProblem *problem = NULL;
  guint32 *number = NULL;

  *map = (BundleModelMap){ 0 };
  if (model->rig && settings->refine_poses) {
    cvis_refuse (error,
        "%s, whose poses are tied to each other: this is not supported; keep "
        "the poses constant, or use images without rigs",
        model->rig);
    return NULL;
  }
  for (guint i = 0; i < model->n_cameras; i++)
    if (!check_model_camera (model, i, error))
      return NULL;
  if (!settings->keep_behind)
    delete_behind (model, map);
  if (NEW_ARRAY (&map->image_of, model->n_images)
      && NEW_ARRAY (&map->point_of, model->n_points)
      && NEW_ARRAY (&number, model->n_images)) {
    memset (number, 0xff, model->n_images * sizeof *number);
    problem = make_problem (model, settings, map, number, error);
  }
  free (number);
  if (problem == NULL)
    bundle_model_map_clear (map);
  return problem;
}

/* --- the result --------------------------------------------------------------------------- */

/* Returns: whether @from differs from @to, which it replaces */
static gboolean
take_numbers (gdouble *to, const gdouble *from, guint n)
{
  if (memcmp (to, from, n * sizeof *to) == 0)
    return FALSE;
  memcpy (to, from, n * sizeof *to);
  return TRUE;
}

/* The pose keeps its numbers unless the camera differs from what they became. */
static gboolean
take_pose (BundleModelImage *image, const gdouble *camera)
{
  gdouble start[BUNDLE_CAMERA_SIZE];

  bundle_pose_from_y_down (image->q, image->t, start);
  if (memcmp (start, camera, BUNDLE_CAMERA_FOCAL * sizeof *start) == 0)
    return FALSE;
  bundle_pose_to_y_down (camera, image->q, image->t);
  return image->moved = TRUE;
}

void
bundle_model_update (BundleModel *model, const BundleProblem *problem,
    const BundleModelMap *map, guint threads)
{
  gboolean changed = FALSE;
  gdouble *errors;

  for (guint i = 0; i < problem->n_lenses; i++)
    changed |= take_numbers (model->cameras[i].parameters,
        problem->lenses[i].parameters, BUNDLE_LENS_SIZE);
  for (gsize i = 0; i < problem->n_cameras; i++)
    changed |= take_pose (&model->images[map->image_of[i]],
        problem->cameras + BUNDLE_CAMERA_SIZE * i);
  for (gsize i = 0; i < problem->n_points; i++)
    changed |= take_numbers (
        model->points[map->point_of[i]].x, problem->points + 3 * i, 3);
  if (!changed)
    return;
  errors = g_new (gdouble, problem->n_points);
  bundle_reprojection_errors (problem, threads, NULL, errors);
  for (gsize i = 0; i < problem->n_points; i++)
    model->points[map->point_of[i]].error = errors[i];
  g_free (errors);
  bundle_model_gauge_apply (&map->gauge, model, map->image_of,
      problem->n_cameras, map->point_of, problem->n_points);
}
