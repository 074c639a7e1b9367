/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* COLMAP's model as one stream: cameras.txt, images.txt and points3D.txt
 * (colmap/texts.c) or the binary files in a tar archive, or the texts concatenated, each
 * with COLMAP's comment on its first line. Each image is a camera of the problem. The tracks of points3D.txt define
 * which features are observations. COLMAP's tools write features of deleted points,
 * glomap tracks of unnamed features. */
#include <string.h>
#include "cuda/bundle/colmap/archive.h"
#include "cuda/bundle/formats/codecs.h"
#include "cuda/bundle/pose.h"
#include "cuda/bundle/formats/tar.h"
#include "cuda/core/cancel.h"
#include "cuda/core/threadpool.h"

#define IMAGES_START "# Image list"
#define POINTS_START "# 3D point list"
#define GRAIN 4096   /* points converted by a thread at once */
#define LARGE 100000 /* observations worth threads */

enum { CAMERAS, IMAGES, POINTS, N_FILES };
static const gchar *const file_names[N_FILES] = { "cameras.txt", "images.txt",
  "points3D.txt" };

static gboolean
refuse_member (const BundleTar *tar, GError **error, const gchar *what)
{
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
      "tar header of %s at byte %" G_GSIZE_FORMAT ": %s", tar->name,
      (gsize) (tar->start - tar->data) - 512, what);
  return FALSE;
}

static gboolean
find_member (const BundleTar *tar, BundleScanner files[N_FILES], GError **error)
{
  if (!tar->name)
    return TRUE;
  if (tar->n > tar->size - (gsize) (tar->start - tar->data))
    return refuse_member (
        tar, error, "the archive ends before the end of this file");
  for (guint i = 0; i < N_FILES; i++) {
    if (strcmp (tar->name, file_names[i]) != 0)
      continue;
    if (files[i].start)
      return refuse_member (tar, error, "a second file of that name");
    files[i] =
        bundle_scan_new (files[i].name, tar->start, (gsize) tar->n, TRUE);
  }
  return TRUE;
}

/* Returns: FALSE with an error, or without one if it has a @binary model instead */
static gboolean
split_tar (const gchar *data, gsize size, BundleScanner files[N_FILES],
    gboolean *binary, GError **error)
{
  BundleTar tar = { .data = data, .size = size };
  GError *local = NULL;

  while (bundle_tar_next (&tar, &local)) {
    if (!find_member (&tar, files, &local))
      break;
    *binary |= tar.name && strcmp (tar.name, "cameras.bin") == 0;
  }
  bundle_tar_clear (&tar);
  if (local) {
    g_propagate_error (error, local);
    return FALSE;
  }
  for (guint i = 0; i < N_FILES; i++)
    if (!files[i].start) {
      if (!*binary)
        g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
            "The tar archive has no file %s", file_names[i]);
      return FALSE;
    }
  return TRUE;
}

/* --- the three texts ------------------------------------------------------------- */

/* Start of the line that begins with @words, after a byte order mark or not; %NULL */
static const gchar *
find_comment (const gchar *at, const gchar *end, const gchar *words)
{
  const gsize n = strlen (words);

  for (; at && (gsize) (end - at) >= n; at = at ? at + 1 : NULL) {
    const BundleScanner line =
        bundle_scan_new ("", at, (gsize) (end - at), TRUE);

    if ((gsize) (end - line.at) >= n && memcmp (line.at, words, n) == 0)
      return at;
    at = memchr (at, '\n', (gsize) (end - at));
  }
  return NULL;
}

static gboolean
split_texts (
    const gchar *data, gsize size, BundleScanner files[N_FILES], GError **error)
{
  const gchar *end = data + size;
  const gchar *images = find_comment (data, end, IMAGES_START);
  const gchar *points =
      images ? find_comment (images, end, POINTS_START) : NULL;

  if (!points) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
        "No line begins with \"%s\": cameras.txt, images.txt and points3D.txt "
        "are expected in this order, with their comments, or in a tar archive",
        images ? POINTS_START : IMAGES_START);
    return FALSE;
  }
  files[CAMERAS] = bundle_scan_new (
      files[CAMERAS].name, data, (gsize) (images - data), TRUE);
  files[IMAGES] = bundle_scan_new (
      files[IMAGES].name, images, (gsize) (points - images), TRUE);
  files[POINTS] = bundle_scan_new (
      files[POINTS].name, points, (gsize) (end - points), TRUE);
  return TRUE;
}

/* --- reading ---------------------------------------------------------------------- */

/**
 * Reading: a model during its conversion
 * @files: the texts, for errors; @binary: there are none
 */
typedef struct {
  BundleModelFile files[BUNDLE_MODEL_FILES];
  gboolean binary;
  BundleModel *model;
  BundleProblem *problem;
} Reading;

static gboolean
refuse_camera (const Reading *r, guint i, const gchar *field, GError **error,
    const gchar *what)
{
  return bundle_model_fault (r->files, r->binary, BUNDLE_MODEL_CAMERAS, i,
      r->model->cameras[i].id, field, error, "%s", what);
}

/* Sets focal length, k1 and k2 of a camera of BAL, which has no others. */
static gboolean
convert_lens (const Reading *r, guint i, gdouble bal[3], GError **error)
{
  const BundleModelCamera *camera = &r->model->cameras[i];
  const gdouble *extra =
      camera->parameters + bundle_lens_info[camera->model].n_focal + 2;
  guint n = bundle_lens_info[camera->model].n_extra;

  if (camera->model > BUNDLE_LENS_OPENCV)
    return refuse_camera (r, i, "MODEL", error,
        "it must be SIMPLE_PINHOLE, PINHOLE, SIMPLE_RADIAL, RADIAL or OPENCV "
        "without tangential distortion; cudavision bundle MODEL_IN MODEL_OUT "
        "adjusts the others");
  if (bundle_lens_info[camera->model].n_focal == 2
      && camera->parameters[0] != camera->parameters[1])
    return refuse_camera (r, i, "focal length", error,
        "focal lengths in x and y differ, which the camera model does not "
        "have");
  if (camera->model == BUNDLE_LENS_OPENCV) {
    n = 2;
    if (extra[2] != 0 || extra[3] != 0)
      return refuse_camera (
          r, i, "distortion", error, "tangential distortion must be 0");
  }
  bal[0] = camera->parameters[0];
  for (guint k = 0; k < 2; k++)
    bal[1 + k] = k < n ? extra[k] : 0;
  return TRUE;
}

static gboolean
convert_images (Reading *r, GError **error)
{
  const BundleModel *model = r->model;
  BundleProblem *problem = r->problem;

  for (guint i = 0; i < model->n_images; i++) {
    BundleModelImage *image = &model->images[i];
    const BundleModelCamera *camera = &model->cameras[image->camera];
    gdouble *to = problem->cameras + (gsize) i * BUNDLE_CAMERA_SIZE;
    BundleView *view = &problem->views[i];

    bundle_pose_from_y_down (image->q, image->t, to);
    if (!convert_lens (r, image->camera, to + BUNDLE_CAMERA_FOCAL, error))
      return FALSE;
    view->width = (guint) camera->width;
    view->height = (guint) camera->height;
    memcpy (view->centre,
        camera->parameters + bundle_lens_info[camera->model].n_focal,
        sizeof (view->centre));
    view->name = g_steal_pointer (&image->name);
  }
  return TRUE;
}

/* Observations have the order of the elements. */
static void
convert_points (guint first, guint count, gpointer data)
{
  const Reading *r = data;
  const BundleModel *model = r->model;
  BundleProblem *problem = r->problem;

  for (guint i = first; i < first + count; i++) {
    const BundleModelPoint *point = &model->points[i];

    memcpy (problem->points + 3 * (gsize) i, point->x, sizeof (point->x));
    memcpy (problem->colours + 3 * (gsize) i, point->colour,
        sizeof (point->colour));
    for (gsize k = point->first; k < point->first + point->n; k++) {
      const BundleModelElement *element = &model->elements[k];
      const gdouble *at = bundle_model_feature_of (model, element)->at;
      const gdouble *centre = problem->views[element->image].centre;

      problem->camera_of[k] = element->image;
      problem->point_of[k] = i;
      problem->observed[2 * k] = at[0] - centre[0];
      problem->observed[2 * k + 1] = centre[1] - at[1];
    }
  }
}

static void
add_notes (const BundleModel *model, BundleProblem *problem)
{
  if (model->n_lost)
    bundle_add_note (problem,
        "%" G_GSIZE_FORMAT " features of images.txt name points whose tracks "
        "in points3D.txt do not contain them. They were left out.",
        model->n_lost);
  if (model->n_unnamed)
    bundle_add_note (problem,
        "The tracks of points3D.txt contain %" G_GSIZE_FORMAT " features for "
        "which images.txt names no point. They were used.",
        model->n_unnamed);
}

static gboolean
check_sizes (const BundleModel *model, const BundleScanner *s, GError **error)
{
  if (model->n_points < 1)
    return bundle_scan_fault (
        s, s->end, "points", error, "0 is outside 1..2147483647");
  if (model->n_elements < 1)
    return bundle_scan_fault (
        s, s->end, "observations", error, "the file has none");
  return model->n_elements <= G_MAXUINT32
         || bundle_scan_fault (s, s->end, "observations", error,
             "the file has more than %u", G_MAXUINT32);
}

static BundleProblem *
convert_model (Reading *r, const BundleScanner *points, GError **error)
{
  const BundleModel *model = r->model;
  BundleProblem *problem;
  CvisPool *pool;

  for (guint i = 0; i < model->n_cameras; i++) {
    gdouble ignored[3];

    if (!convert_lens (r, i, ignored, error))
      return NULL;
  }
  if (!check_sizes (model, points, error))
    return NULL;
  r->problem = problem = bundle_problem_new_unset (
      model->n_images, (guint) model->n_points, model->n_elements, error);
  if (problem == NULL)
    return NULL;
  problem->views = g_try_new0 (BundleView, model->n_images);
  problem->colours = g_try_malloc_n (model->n_points, 3);
  if (!problem->views || !problem->colours) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "Not enough memory for a problem of this size");
  } else if (convert_images (r, error)) {
    pool = cvis_pool_new (model->n_elements < LARGE ? 1 : 0);
    cvis_pool_run (pool, (guint) model->n_points, GRAIN, convert_points, r);
    cvis_pool_free (pool);
    add_notes (model, problem);
    if (!cvis_cancelled ())
      return problem;
    cvis_refuse_cancelled (error);
  }
  bundle_problem_free (problem);
  return NULL;
}

BundleProblem *
bundle_colmap_convert (BundleModel *model, GError **error)
{
  const BundleScanner points = { "points3D.bin ", "", "", "", TRUE };
  Reading r = { .binary = TRUE, .model = model };

  return convert_model (&r, &points, error);
}

static BundleProblem *
read_binary_tar (const gchar *data, gsize size, GError **error)
{
  g_autoptr (BundleModel) model = bundle_model_read_tar (data, size, error);

  return model ? bundle_colmap_convert (model, error) : NULL;
}

BundleProblem *
bundle_colmap_read (const gchar *data, gsize size, GError **error)
{
  BundleScanner files[N_FILES] = { { "cameras.txt ", .by_line = TRUE },
    { "images.txt ", .by_line = TRUE }, { "points3D.txt ", .by_line = TRUE } };
  Reading r = { 0 };
  BundleProblem *problem = NULL;
  gboolean binary = FALSE;

  if (!(*data == '#' ? split_texts (data, size, files, error)
                     : split_tar (data, size, files, &binary, error)))
    return binary && !(error && *error) ? read_binary_tar (data, size, error)
                                        : NULL;
  for (guint i = 0; i < N_FILES; i++)
    r.files[i] = (BundleModelFile){ files[i].start,
      (gsize) (files[i].end - files[i].start) };
  r.model = bundle_model_parse (r.files, FALSE, error);
  if (r.model)
    problem = convert_model (&r, &files[POINTS], error);
  bundle_model_free (r.model);
  return problem;
}

/* --- writing ---------------------------------------------------------------------- */

static gboolean
same_camera (const BundleProblem *problem, guint i)
{
  const BundleView *views = problem->views;

  return memcmp (problem->cameras + BUNDLE_CAMERA_FOCAL,
             problem->cameras + (gsize) i * BUNDLE_CAMERA_SIZE
                 + BUNDLE_CAMERA_FOCAL,
             3 * sizeof (gdouble))
             == 0
         && (!views
             || (views[0].width == views[i].width
                 && views[0].height == views[i].height
                 && views[0].centre[0] == views[i].centre[0]
                 && views[0].centre[1] == views[i].centre[1]));
}

/* Whether all pictures have the same camera; if so, all get the largest
 * size. */
static gboolean
share_camera (const BundleProblem *problem, BundlePicture *pictures)
{
  for (guint i = 1; i < problem->n_cameras; i++)
    if (!same_camera (problem, i))
      return FALSE;
  for (guint i = 1; i < problem->n_cameras; i++) {
    pictures[0].width = MAX (pictures[0].width, pictures[i].width);
    pictures[0].height = MAX (pictures[0].height, pictures[i].height);
    for (guint k = 0; k < 2; k++)
      pictures[0].centre[k] =
          MAX (pictures[0].centre[k], pictures[i].centre[k]);
  }
  for (guint i = 1; i < problem->n_cameras; i++)
    pictures[i] = pictures[0];
  return TRUE;
}

/* Sizes are those of an image of each, or twice the principal point */
static void
write_lenses (BundleText *text, const BundleProblem *problem)
{
  guint32 *image_of = g_new0 (guint32, problem->n_lenses);

  for (guint i = problem->n_cameras; i-- > 0;)
    image_of[problem->lens_of[i]] = i;
  for (guint i = 0; i < problem->n_lenses; i++) {
    const BundleLens *lens = &problem->lenses[i];
    const BundleView *view =
        problem->views ? &problem->views[image_of[i]] : NULL;
    const gdouble *centre =
        lens->parameters + bundle_lens_info[lens->model].n_focal;

    bundle_text_integer (text, 0, i + 1);
    bundle_text_string (text, " ");
    bundle_text_string (text, bundle_lens_info[lens->model].name);
    for (guint k = 0; k < 2; k++) {
      const guint size = !view ? 0 : k == 0 ? view->width : view->height;

      bundle_text_integer (
          text, ' ', size > 0 ? size : (guint) MAX (1, 2 * centre[k]));
    }
    bundle_text_numbers (
        text, ' ', lens->parameters, bundle_lens_size (lens->model));
    bundle_text_string (text, "\n");
  }
  g_free (image_of);
}

/* @n: without lenses */
static void
write_cameras (BundleText *text, const BundleProblem *problem,
    const BundlePicture *pictures, guint n)
{
  bundle_text_string (text, "# Camera list with one line of data per camera:\n"
                            "#   CAMERA_ID, MODEL, WIDTH, HEIGHT, PARAMS[]\n");
  if (problem->lenses) {
    write_lenses (text, problem);
    return;
  }
  for (guint i = 0; i < n; i++) {
    const gdouble *camera = problem->cameras + (gsize) i * BUNDLE_CAMERA_SIZE;

    bundle_text_integer (text, 0, i + 1);
    bundle_text_string (text, " RADIAL");
    bundle_text_integer (text, ' ', pictures[i].width);
    bundle_text_integer (text, ' ', pictures[i].height);
    bundle_text_number (text, ' ', camera[BUNDLE_CAMERA_FOCAL]);
    bundle_text_numbers (text, ' ', pictures[i].centre, 2);
    bundle_text_numbers (text, ' ', camera + BUNDLE_CAMERA_K1, 2);
    bundle_text_string (text, "\n");
  }
}

static void
write_image (
    BundleText *text, const BundleProblem *problem, guint i, guint camera)
{
  gdouble q[4], t[3];
  gchar *name = bundle_view_name (problem, i);

  bundle_pose_to_y_down (
      problem->cameras + (gsize) i * BUNDLE_CAMERA_SIZE, q, t);
  bundle_text_integer (text, 0, i + 1);
  bundle_text_numbers (text, ' ', q, 4);
  bundle_text_numbers (text, ' ', t, 3);
  bundle_text_integer (text, ' ', camera);
  bundle_text_string (text, " ");
  bundle_text_string (text, name);
  bundle_text_string (text, "\n");
  g_free (name);
}

void
bundle_colmap_hold (const gdouble *camera, gdouble *held)
{
  gdouble q[4], t[3];

  memcpy (held, camera, BUNDLE_CAMERA_SIZE * sizeof (gdouble));
  bundle_pose_to_y_down (camera, q, t);
  bundle_pose_from_y_down (q, t, held);
}

/* @indices: n_observations: index of each among its image's features */
static gboolean
write_images (BundleText *text, const BundleProblem *problem,
    const BundlePicture *pictures, gboolean shared, guint32 *indices,
    GError **error)
{
  guint32 *order;
  gsize *first;

  if (!bundle_order (problem, problem->camera_of, problem->n_cameras, &first,
          &order, error))
    return FALSE;
  bundle_text_string (text,
      IMAGES_START " with two lines of data per image:\n"
                   "#   IMAGE_ID, QW, QX, QY, QZ, TX, TY, TZ, CAMERA_ID, NAME\n"
                   "#   POINTS2D[] as (X, Y, POINT3D_ID)\n");
  for (guint i = 0; i < problem->n_cameras && !cvis_cancelled (); i++) {
    write_image (text, problem, i,
        problem->lenses ? problem->lens_of[i] + 1
        : shared        ? 1
                        : i + 1);
    for (gsize k = first[i]; k < first[i + 1]; k++) {
      const gdouble *at = problem->observed + 2 * (gsize) order[k];

      indices[order[k]] = (guint32) (k - first[i]);
      bundle_text_number (text, k > first[i] ? ' ' : 0,
          problem->lenses ? at[0] : at[0] + pictures[i].centre[0]);
      bundle_text_number (
          text, ' ', problem->lenses ? at[1] : pictures[i].centre[1] - at[1]);
      bundle_text_integer (
          text, ' ', (guint64) problem->point_of[order[k]] + 1);
    }
    bundle_text_string (text, "\n");
  }
  g_free (first);
  g_free (order);
  return TRUE;
}

static gboolean
write_points (BundleText *text, const BundleProblem *problem,
    const gdouble *errors, const guint32 *indices, GError **error)
{
  static const guint8 grey[3] = { 128, 128, 128 };
  guint32 *order;
  gsize *first;

  if (!bundle_order (
          problem, problem->point_of, problem->n_points, &first, &order, error))
    return FALSE;
  bundle_text_string (text, POINTS_START
      " with one line of data per point:\n"
      "#   POINT3D_ID, X, Y, Z, R, G, B, ERROR, TRACK[] as (IMAGE_ID, "
      "POINT2D_IDX)\n");
  for (guint p = 0; p < problem->n_points && !cvis_cancelled_at (p); p++) {
    const guint8 *colour =
        problem->colours ? problem->colours + 3 * (gsize) p : grey;

    bundle_text_integer (text, 0, (guint64) p + 1);
    bundle_text_numbers (text, ' ', problem->points + 3 * (gsize) p, 3);
    for (guint k = 0; k < 3; k++)
      bundle_text_integer (text, ' ', colour[k]);
    bundle_text_number (text, ' ', errors ? errors[p] : -1);
    for (gsize k = first[p]; k < first[p + 1]; k++) {
      bundle_text_integer (
          text, ' ', (guint64) problem->camera_of[order[k]] + 1);
      bundle_text_integer (text, ' ', indices[order[k]]);
    }
    bundle_text_string (text, "\n");
  }
  g_free (first);
  g_free (order);
  return TRUE;
}

static gboolean
write_texts (BundleText texts[N_FILES], const BundleProblem *problem,
    const gdouble *errors, GError **error)
{
  BundlePicture *pictures = bundle_pictures (problem, error);
  guint32 *indices = g_try_new (guint32, problem->n_observations);
  gboolean ok = pictures && indices, shared;

  if (ok) {
    shared = share_camera (problem, pictures);
    write_cameras (
        &texts[CAMERAS], problem, pictures, shared ? 1 : problem->n_cameras);
    ok =
        write_images (&texts[IMAGES], problem, pictures, shared, indices, error)
        && write_points (&texts[POINTS], problem, errors, indices, error);
  } else if (pictures) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "Not enough memory for %" G_GSIZE_FORMAT " observations",
        problem->n_observations);
  }
  g_free (pictures);
  g_free (indices);
  return ok;
}

GBytes *
bundle_colmap_write (
    const BundleProblem *problem, const gdouble *errors, GError **error)
{
  BundleText texts[N_FILES] = { 0 }, tar = { 0 };
  gboolean ok = write_texts (texts, problem, errors, error);

  for (guint i = 0; i < N_FILES; i++) {
    tar.failed |= texts[i].failed;
    ok = ok && bundle_tar_write (&tar, file_names[i], &texts[i], error);
    g_free (texts[i].data);
  }
  bundle_tar_finish (&tar);
  if (ok)
    return bundle_text_finish (&tar, error);
  g_free (tar.data);
  return NULL;
}
