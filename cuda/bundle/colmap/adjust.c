/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/bundle/colmap/adjust.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/bundle/colmap/parts.h"
#include "cuda/bundle/engine.h"
#include "cuda/bundle/pose.h"
#include "cuda/bundle/turn.h"
#include "cuda/core/cancel.h"
#include "cuda/core/memory.h"
#include "cuda/core/threadpool.h"

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
  free (map->frame_at);
  *map = (BundleModelMap){ 0 };
}

/* --- observations behind their cameras ------------------------------------------------ */

#define POINTS 4096  /* of a part */
#define LARGE 100000 /* elements worth threads */

/**
 * Part: POINTS points of the model
 * @n, @first: those that stay, and the first of them afterwards
 * @n_used, @n_observations: for the problem, and @first_used, @first_observation
 */
typedef struct {
  gsize n, first, n_used, first_used, n_observations, first_observation;
  gsize n_behind, n_deleted;
} Part;

/**
 * Making: a problem, being made
 * @depths: the third row of R and t of each image
 * @number: of each image: that of its camera in the problem, or G_MAXUINT32
 */
typedef struct {
  BundleModel *model;
  const BundleModelSettings *settings;
  gdouble (*depths)[4];
  guint32 *number;
  Part *parts;
  guint n_parts;
  BundleModelMap *map;
  BundleProblem *problem;
} Making;

static void
find_depth (const BundleModelImage *image, gdouble depth[4])
{
  const gdouble *q = image->q;
  const gdouble square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];

  depth[0] = 2 * (q[1] * q[3] - q[0] * q[2]) / square;
  depth[1] = 2 * (q[2] * q[3] + q[0] * q[1]) / square;
  depth[2] = 1 - 2 * (q[1] * q[1] + q[2] * q[2]) / square;
  depth[3] = image->t[2];
}

/* Deletes observations behind their cameras from the track of @point.
 * Returns: their number */
static gsize
shorten_track (const Making *making, BundleModelPoint *point)
{
  BundleModel *model = making->model;
  BundleModelElement *track = model->elements + point->first;
  const gdouble *x = point->x;
  gsize n = 0, deleted;

  for (gsize i = 0; i < point->n; i++) {
    const gdouble *d = making->depths[track[i].image];

    if (d[0] * x[0] + d[1] * x[1] + d[2] * x[2] + d[3] < DBL_EPSILON)
      bundle_model_feature_of (model, &track[i])->point = BUNDLE_MODEL_NO_POINT;
    else
      track[n++] = track[i];
  }
  deleted = point->n - n;
  point->n = n;
  return deleted;
}

static gboolean
is_used_point (const Making *making, const BundleModelPoint *point)
{
  return point->n >= MAX (making->settings->min_track, MIN_TRACK);
}

/* Marks the images of the point, whose cameras get numbers. */
static void
use_point (const Making *making, const BundleModelPoint *point, Part *part)
{
  part->n_used++;
  part->n_observations += point->n;
  for (gsize k = 0; k < point->n; k++) {
    guint32 *number =
        &making->number[making->model->elements[point->first + k].image];

    if (g_atomic_int_get (number) != 0)
      g_atomic_int_set (number, 0);
  }
}

/* Deletes observations behind their cameras, and counts the points and observations of
 * the problem. */
static void
scan_points (guint first, guint count, gpointer data)
{
  const Making *making = data;
  BundleModel *model = making->model;

  for (gsize p = first; p < (gsize) first + count; p++) {
    Part *part = &making->parts[p];
    BundleModelPoint *points = model->points + p * POINTS;

    for (gsize i = 0; i < MIN (POINTS, model->n_points - p * POINTS); i++) {
      BundleModelPoint *point = &points[i];
      const gsize n_behind =
          making->settings->keep_behind ? 0 : shorten_track (making, point);

      part->n_behind += n_behind;
      if (n_behind > 0 && point->n < MIN_TRACK) {
        for (gsize k = 0; k < point->n; k++)
          bundle_model_feature_of (model, &model->elements[point->first + k])
              ->point = BUNDLE_MODEL_NO_POINT;
        part->n_deleted++;
        continue;
      }
      if (is_used_point (making, point))
        use_point (making, point, part);
      points[part->n++] = *point;
    }
  }
}

/* Numbers what the parts contain. */
static void
add_points (Making *making)
{
  BundleModel *model = making->model;
  Part sum = { 0 };

  for (guint p = 0; p < making->n_parts; p++) {
    Part *part = &making->parts[p];

    part->first = sum.n;
    part->first_used = sum.n_used;
    part->first_observation = sum.n_observations;
    if (part->first < p * (gsize) POINTS)
      memmove (model->points + part->first, model->points + p * (gsize) POINTS,
          part->n * sizeof *model->points);
    sum.n += part->n;
    sum.n_used += part->n_used;
    sum.n_observations += part->n_observations;
    sum.n_behind += part->n_behind;
    sum.n_deleted += part->n_deleted;
  }
  model->n_points = sum.n;
  making->map->n_behind = sum.n_behind;
  making->map->n_deleted = sum.n_deleted;
  making->map->n_short = sum.n - sum.n_used;
  making->parts[making->n_parts] = (Part){ .first_used = sum.n_used,
    .first_observation = sum.n_observations };
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

/* Bits of the pose that stay constant */
static guint16
mask_pose (const BundleModelImage *image, const BundleModelSettings *settings)
{
  return image->constant
         | (!settings->refine_poses     ? POSE
             : settings->keep_rotations ? 7 << BUNDLE_CAMERA_ROTATION
                                        : 0);
}

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
        | (model->cameras[image->camera].constant & ~BUNDLE_MODEL_SENSOR_POSE);
    problem->camera_constant[number[i]] = mask_pose (image, settings);
  }
}

/* --- rigs ------------------------------------------------------------------------------- */

static const BundleModelPlace *
find_sensor (const BundleModel *model, guint camera)
{
  const guint32 i = model->sensor_of[camera];

  return i == BUNDLE_MODEL_REFERENCE || i == BUNDLE_MODEL_NO_POSE
             ? NULL
             : &g_array_index (model->sensor_list, BundleModelPlace, i);
}

/* In the axes of problem.h on both sides: those of COLMAP are turned by half a turn about
 * x, which negates y and z of axis and translation. */
static void
turn_sensor (const gdouble q[4], const gdouble t[3], gdouble *pose)
{
  const gdouble up[4] = { q[0], q[1], -q[2], -q[3] };

  bundle_rotation_from_quaternion (up, pose + BUNDLE_CAMERA_ROTATION);
  for (guint k = 0; k < 3; k++)
    pose[BUNDLE_CAMERA_TRANSLATION + k] = k > 0 ? -t[k] : t[k];
}

static void
turn_sensor_back (const gdouble *pose, gdouble q[4], gdouble t[3])
{
  gdouble up[4];

  bundle_rotation_to_quaternion (pose + BUNDLE_CAMERA_ROTATION, up);
  for (guint k = 0; k < 4; k++)
    q[k] = (up[0] < 0) != (k > 1) ? -up[k] : up[k];
  for (guint k = 0; k < 3; k++)
    t[k] = k > 0 ? -pose[BUNDLE_CAMERA_TRANSLATION + k]
                 : pose[BUNDLE_CAMERA_TRANSLATION + k];
}

/* @used: of each camera, whether an image of it is in the problem */
static void
fill_sensors (const BundleModel *model, const BundleModelSettings *settings,
    const gboolean *used, BundleProblem *problem)
{
  for (guint i = 0; i < model->n_cameras; i++) {
    const BundleModelPlace *place = find_sensor (model, i);
    BundleSensor *sensor = &problem->sensors[i];

    sensor->constant =
        !place || !used[i] || !settings->refine_sensors
        || place->reference == G_MAXUINT32 || !used[place->reference]
        || (model->cameras[i].constant & BUNDLE_MODEL_SENSOR_POSE);
    if (place)
      turn_sensor (place->q, place->t, sensor->pose);
  }
}

static gboolean
check_rig_image (const BundleModel *model, guint i, GError **error)
{
  const BundleModelImage *image = &model->images[i];
  const guint32 sensor = model->sensor_of[image->camera];

  if (sensor == BUNDLE_MODEL_REFERENCE
      || (sensor != BUNDLE_MODEL_NO_POSE
          && model->frame_of[i] != BUNDLE_MODEL_NO_FRAME))
    return TRUE;
  return cvis_refuse (error, "%s record %u (IMAGE_ID %u): %s",
      bundle_model_file_name (BUNDLE_MODEL_IMAGES, model->binary), i + 1,
      image->id,
      sensor == BUNDLE_MODEL_NO_POSE
          ? "its camera is a sensor without a pose in its rig"
          : "its camera is a sensor of a rig, but it is in no frame");
}

/* Numbers the frames of the problem's cameras. @frame: of each of the model's frames:
 * its number, G_MAXUINT32 before */
static void
number_frames (const BundleModel *model, const BundleModelMap *map,
    guint32 *frame, BundleProblem *problem)
{
  for (guint c = 0; c < problem->n_cameras; c++) {
    const guint32 at = model->frame_of[map->image_of[c]];
    guint32 number = problem->n_frames;

    if (at != BUNDLE_MODEL_NO_FRAME && frame[at] != G_MAXUINT32)
      number = frame[at];
    else
      map->frame_at[problem->n_frames++] = at;
    if (at != BUNDLE_MODEL_NO_FRAME)
      frame[at] = number;
    problem->frame_of[c] = number;
  }
}

static gboolean
fill_rigs (const BundleModel *model, const BundleModelSettings *settings,
    BundleModelMap *map, BundleProblem *problem, GError **error)
{
  g_autofree gboolean *used = g_new0 (gboolean, model->n_cameras);
  g_autofree guint32 *frame = NULL;
  const guint n = problem->n_cameras;

  for (guint c = 0; c < n; c++) {
    if (!check_rig_image (model, map->image_of[c], error))
      return FALSE;
    used[model->images[map->image_of[c]].camera] = TRUE;
  }
  if (!NEW_ARRAY (&problem->frames, (gsize) n * BUNDLE_CAMERA_SIZE)
      || !NEW_ARRAY (&problem->frame_of, n)
      || !NEW_ARRAY (&problem->frame_constant, n)
      || !NEW_ARRAY (&problem->sensors, model->n_cameras)
      || !NEW_ARRAY (&map->frame_at, n))
    return FALSE;
  frame = g_new (guint32, model->frame_list->len + 1);
  memset (frame, 0xff, model->frame_list->len * sizeof *frame);
  number_frames (model, map, frame, problem);
  for (guint c = 0; c < n; c++) {
    const BundleModelImage *image = &model->images[map->image_of[c]];
    const guint32 number = problem->frame_of[c], at = map->frame_at[number];
    const BundleModelPlace *place =
        at == BUNDLE_MODEL_NO_FRAME
            ? NULL
            : &g_array_index (model->frame_list, BundleModelPlace, at);

    problem->frame_constant[number] |= mask_pose (image, settings);
    bundle_pose_from_y_down (place ? place->q : image->q,
        place ? place->t : image->t,
        problem->frames + BUNDLE_CAMERA_SIZE * (gsize) number);
  }
  fill_sensors (model, settings, used, problem);
  bundle_problem_place_cameras (problem);
  return TRUE;
}

static void
fill_points (guint first, guint count, gpointer data)
{
  const Making *making = data;
  const BundleModel *model = making->model;
  BundleProblem *problem = making->problem;

  for (guint i = first; i < first + count; i++) {
    const Part *part = &making->parts[i];
    gsize p = part->first_used, n = part->first_observation;

    for (gsize j = part->first; j < part->first + part->n; j++) {
      const BundleModelPoint *point = &model->points[j];

      if (!is_used_point (making, point))
        continue;
      making->map->point_of[p] = (guint32) j;
      memcpy (problem->points + 3 * p, point->x, sizeof point->x);
      problem->point_constant[p] =
          !making->settings->refine_points || point->constant;
      for (gsize k = 0; k < point->n; k++, n++) {
        const BundleModelElement *element = &model->elements[point->first + k];

        problem->camera_of[n] = making->number[element->image];
        problem->point_of[n] = (guint32) p;
        memcpy (problem->observed + 2 * n,
            bundle_model_feature_of (model, element)->at, 2 * sizeof (gdouble));
      }
      p++;
    }
  }
}

/* Numbers the images that have observations. Returns: how many */
static guint32
number_images (const Making *making)
{
  const BundleModel *model = making->model;
  guint32 n = 0;

  for (guint i = 0; i < model->n_images; i++)
    if (making->number[i] != G_MAXUINT32) {
      making->map->image_of[n] = i;
      making->number[i] = n++;
    }
  making->map->n_idle = model->n_images - n;
  return n;
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

static gboolean
make_problem (Making *making, CvisPool *pool, GError **error)
{
  const BundleModel *model = making->model;
  const BundleModelSettings *settings = making->settings;
  const Part *sum = &making->parts[making->n_parts];
  BundleModelMap *map = making->map;
  BundleProblem *problem;
  guint32 n;

  for (guint i = 0; i < model->n_images; i++)
    find_depth (&model->images[i], making->depths[i]);
  cvis_pool_run (pool, making->n_parts, 1, scan_points, making);
  if (cvis_cancelled ())
    return cvis_refuse_cancelled (error);
  add_points (making);
  n = number_images (making);
  if (sum->first_observation == 0)
    return cvis_refuse (error,
        "no point of the model has %d observations in front of its cameras",
        MIN_TRACK);
  making->problem = problem = bundle_problem_new_unset (
      n, (guint) sum->first_used, sum->first_observation, error);
  if (problem == NULL)
    return FALSE;
  problem->n_lenses = model->n_cameras;
  if (!NEW_ARRAY (&problem->lenses, model->n_cameras)
      || !NEW_ARRAY (&problem->lens_of, n)
      || !NEW_ARRAY (&problem->camera_constant, n)
      || !NEW_ARRAY (&problem->point_constant, sum->first_used)
      || !fill_priors (model, making->number, problem, error))
    return FALSE;
  memset (problem->cameras, 0, BUNDLE_CAMERA_SIZE * n * sizeof (gdouble));
  fill_cameras (model, settings, making->number, problem);
  cvis_pool_run (pool, making->n_parts, 1, fill_points, making);
  if (cvis_cancelled ())
    return cvis_refuse_cancelled (error);
  if (model->rig && (settings->refine_poses || settings->refine_sensors)
      && !fill_rigs (model, settings, map, problem, error))
    return FALSE;
  if (!settings->free_gauge && !problem->priors
      && !memchr (problem->point_constant, TRUE, problem->n_points))
    bundle_model_gauge_init (&map->gauge, model, problem, map->image_of);
  return TRUE;
}

BundleProblem *
bundle_model_problem (BundleModel *model, const BundleModelSettings *settings,
    BundleModelMap *map, GError **error)
{
  Making making = { .model = model,
    .settings = settings,
    .map = map,
    .n_parts = (guint) ((model->n_points + POINTS - 1) / POINTS) };
  gboolean ok = FALSE;

  *map = (BundleModelMap){ 0 };
  for (guint i = 0; i < model->n_cameras; i++)
    if (!check_model_camera (model, i, error))
      return NULL;
  if (model->rig)
    bundle_model_correct_images (model);
  if (NEW_ARRAY (&map->image_of, model->n_images)
      && NEW_ARRAY (&map->point_of, model->n_points)
      && NEW_ARRAY (&making.number, model->n_images)
      && NEW_ARRAY (&making.depths, model->n_images)
      && NEW_ARRAY (&making.parts, making.n_parts + 1)) {
    CvisPool *pool = cvis_pool_new (model->n_elements < LARGE ? 1 : 0);

    memset (making.number, 0xff, model->n_images * sizeof *making.number);
    ok = make_problem (&making, pool, error);
    cvis_pool_free (pool);
  }
  free (making.number);
  free (making.depths);
  free (making.parts);
  if (ok)
    return making.problem;
  bundle_problem_free (making.problem);
  bundle_model_map_clear (map);
  return NULL;
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

/* Poses of frames and sensors, as take_pose() */
static gboolean
take_rigs (
    BundleModel *model, const BundleProblem *problem, const BundleModelMap *map)
{
  gboolean changed = FALSE;

  for (guint i = 0; i < problem->n_frames; i++) {
    BundleModelPlace *place;
    const gdouble *pose = problem->frames + BUNDLE_CAMERA_SIZE * (gsize) i;
    gdouble start[BUNDLE_CAMERA_SIZE];

    if (map->frame_at[i] == BUNDLE_MODEL_NO_FRAME)
      continue;
    place =
        &g_array_index (model->frame_list, BundleModelPlace, map->frame_at[i]);
    bundle_pose_from_y_down (place->q, place->t, start);
    if (memcmp (start, pose, BUNDLE_CAMERA_FOCAL * sizeof *start) == 0)
      continue;
    bundle_pose_to_y_down (pose, place->q, place->t);
    changed = place->moved = TRUE;
  }
  for (guint i = 0; i < model->sensor_list->len; i++) {
    BundleModelPlace *place =
        &g_array_index (model->sensor_list, BundleModelPlace, i);
    const gdouble *pose = problem->sensors[place->of].pose;
    gdouble start[BUNDLE_CAMERA_SIZE];

    turn_sensor (place->q, place->t, start);
    if (memcmp (start, pose, BUNDLE_CAMERA_FOCAL * sizeof *start) == 0)
      continue;
    turn_sensor_back (pose, place->q, place->t);
    changed = place->moved = TRUE;
  }
  return changed;
}

/* The poses of all images whose frames or sensors have moved */
static void
place_images (BundleModel *model)
{
  for (guint i = 0; i < model->n_images; i++) {
    BundleModelImage *image = &model->images[i];
    const BundleModelPlace *sensor = find_sensor (model, image->camera);
    gdouble q[4], t[3];

    if (!bundle_model_image_in_rig (model, i, q, t)
        || !((sensor && sensor->moved)
             || g_array_index (
                 model->frame_list, BundleModelPlace, model->frame_of[i])
                    .moved))
      continue;
    memcpy (image->q, q, sizeof q);
    memcpy (image->t, t, sizeof t);
    image->moved = TRUE;
  }
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
  if (problem->frames)
    changed |= take_rigs (model, problem, map);
  for (gsize i = 0; i < problem->n_cameras; i++)
    if (!problem->frames
        || map->frame_at[problem->frame_of[i]] == BUNDLE_MODEL_NO_FRAME)
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
  bundle_model_gauge_apply (
      &map->gauge, model, problem, map->image_of, map->point_of);
  if (problem->frames)
    place_images (model);
}
