/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Checks of references and values that binary and text models share, after the files were
 * read. */
#include "cuda/bundle/colmap/model.h"

#include <math.h>
#include <stdlib.h>

#include "cuda/bundle/colmap/parts.h"
#include "cuda/bundle/formats/scanner.h"
#include "cuda/core/cancel.h"

#define LARGEST 1e100 /* as in texts: its square is finite */

void
bundle_model_free (BundleModel *model)
{
  if (model == NULL)
    return;
  for (guint i = 0; model->images && i < model->n_images; i++)
    g_free (model->images[i].name);
  g_free (model->cameras);
  g_free (model->images);
  g_free (model->features);
  g_free (model->points);
  g_free (model->elements);
  for (guint i = 0; i < G_N_ELEMENTS (model->comments); i++)
    g_free (model->comments[i]);
  g_clear_pointer (&model->rigs, g_bytes_unref);
  g_clear_pointer (&model->frames, g_bytes_unref);
  g_clear_pointer (&model->frame_list, g_array_unref);
  g_clear_pointer (&model->priors, g_array_unref);
  g_free (model->rig);
  g_free (model);
}

gboolean
bundle_model_reject_memory (const gchar *what, gsize n, GError **error)
{
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
      "Not enough memory for %" G_GSIZE_FORMAT " %s", n, what);
  return FALSE;
}

guint
bundle_model_find_image (const GHashTable *images, guint64 id)
{
  return GPOINTER_TO_UINT (
             g_hash_table_lookup ((GHashTable *) images, GSIZE_TO_POINTER (id)))
         - 1;
}

/* --- errors ------------------------------------------------------------------ */

/* Start of a record: images.txt has two lines for each */
static const gchar *
find_record (BundleScanner *s, guint file, gsize record)
{
  for (gsize i = 0; bundle_scan_line (s) && i < record; i++) {
    bundle_scan_skip_line (s);
    if (file == BUNDLE_MODEL_IMAGES)
      bundle_scan_skip_line (s);
  }
  return s->at;
}

gboolean
bundle_model_fault (const BundleModelFile *files, gboolean binary, guint file,
    gsize record, guint64 id, const gchar *field, GError **error,
    const gchar *format, ...)
{
  static const gchar *const ids[] = { "CAMERA_ID", "IMAGE_ID", "POINT3D_ID",
    "RIG_ID", "FRAME_ID" };
  g_autofree gchar *text = NULL, *name = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  if (binary) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
        "%s record %" G_GSIZE_FORMAT " (%s %" G_GUINT64_FORMAT "), %s: %s",
        bundle_model_file_name (file, TRUE), record + 1, ids[file], id, field,
        text);
  } else {
    BundleScanner s;

    name = g_strconcat (bundle_model_file_name (file, FALSE), " ", NULL);
    s = bundle_scan_new (name, files[file].data, files[file].size, TRUE);
    bundle_scan_fault (
        &s, find_record (&s, file, record), field, error, "%s", text);
  }
  return FALSE;
}

/* --- checks ------------------------------------------------------------------ */

typedef struct {
  BundleModel *model;
  const BundleModelFile *files;
  GError **error;
} Check;

#define FAULT(check, file, record, id, field, ...)                             \
  bundle_model_fault ((check)->files, (check)->model->binary, file, record,    \
      id, field, (check)->error, __VA_ARGS__)

/* Returns: FALSE if the id is known already; otherwise it gets number @n */
static gboolean
add_id (GHashTable *ids, guint64 id, gsize n)
{
  return g_hash_table_insert (
      ids, GSIZE_TO_POINTER (id), GSIZE_TO_POINTER (n + 1));
}

static gboolean
are_numbers (const gdouble *values, guint n)
{
  for (guint i = 0; i < n; i++)
    if (!(fabs (values[i]) <= LARGEST))
      return FALSE;
  return TRUE;
}

static gboolean
check_camera (const Check *check, gsize i)
{
  const BundleModelCamera *camera = &check->model->cameras[i];

  if (camera->width < 1 || camera->width > G_MAXINT32 || camera->height < 1
      || camera->height > G_MAXINT32)
    return FAULT (check, BUNDLE_MODEL_CAMERAS, i, camera->id, "WIDTH HEIGHT",
        "%" G_GUINT64_FORMAT " x %" G_GUINT64_FORMAT
        " is outside 1..2147483647",
        camera->width, camera->height);
  if (!are_numbers (camera->parameters, bundle_lens_size (camera->model)))
    return FAULT (check, BUNDLE_MODEL_CAMERAS, i, camera->id, "PARAMS",
        "a parameter is not a finite number up to 1e100");
  return TRUE;
}

static gboolean
check_cameras (const Check *check, GHashTable *cameras)
{
  for (guint i = 0; i < check->model->n_cameras; i++) {
    const guint32 id = check->model->cameras[i].id;

    if (!add_id (cameras, id, i))
      return FAULT (check, BUNDLE_MODEL_CAMERAS, i, id, "CAMERA_ID",
          "duplicate id %u", id);
    if (!check_camera (check, i))
      return FALSE;
  }
  return TRUE;
}

static gboolean
check_image (const Check *check, guint i, GHashTable *cameras)
{
  BundleModelImage *image = &check->model->images[i];
  const guint camera = bundle_model_find_image (cameras, image->camera);
  const gchar *name =
      bundle_model_file_name (BUNDLE_MODEL_CAMERAS, check->model->binary);

  if (camera == G_MAXUINT)
    return FAULT (check, BUNDLE_MODEL_IMAGES, i, image->id, "CAMERA_ID",
        "%s has no camera %u", name, image->camera);
  image->camera = camera;
  if (!are_numbers (image->q, 4) || !are_numbers (image->t, 3))
    return FAULT (check, BUNDLE_MODEL_IMAGES, i, image->id, "pose",
        "a number is not finite or above 1e100");
  if (image->q[0] == 0 && image->q[1] == 0 && image->q[2] == 0
      && image->q[3] == 0)
    return FAULT (
        check, BUNDLE_MODEL_IMAGES, i, image->id, "QW QX QY QZ", "they are 0");
  for (gsize k = 0; k < image->n; k++)
    if (!are_numbers (check->model->features[image->first + k].at, 2))
      return FAULT (check, BUNDLE_MODEL_IMAGES, i, image->id, "POINTS2D",
          "feature %" G_GSIZE_FORMAT " is not at a finite position up to 1e100",
          k);
  return TRUE;
}

static gboolean
check_images (const Check *check, GHashTable *cameras, GHashTable *images)
{
  for (guint i = 0; i < check->model->n_images && !cvis_cancelled_at (i); i++) {
    const guint32 id = check->model->images[i].id;

    if (!add_id (images, id, i))
      return FAULT (
          check, BUNDLE_MODEL_IMAGES, i, id, "IMAGE_ID", "duplicate id %u", id);
    if (!check_image (check, i, cameras))
      return FALSE;
  }
  return TRUE;
}

static gboolean
check_element (const Check *check, gsize i, BundleModelElement *element,
    const GHashTable *images, guint8 *taken)
{
  BundleModel *model = check->model;
  const guint64 id = model->points[i].id;
  const guint index = bundle_model_find_image (images, element->image);
  const gchar *name =
      bundle_model_file_name (BUNDLE_MODEL_IMAGES, model->binary);
  const BundleModelImage *image;
  gsize at;
  guint64 point;

  if (index == G_MAXUINT)
    return FAULT (check, BUNDLE_MODEL_POINTS, i, id, "IMAGE_ID of a track",
        "%s has no image %u", name, element->image);
  image = &model->images[index];
  element->image = index;
  if (element->feature >= image->n)
    return FAULT (check, BUNDLE_MODEL_POINTS, i, id, "POINT2D_IDX of a track",
        "image %u has %" G_GSIZE_FORMAT " features, not %u", image->id,
        image->n, element->feature);
  at = image->first + element->feature;
  point = model->features[at].point;
  if (taken[at])
    return FAULT (check, BUNDLE_MODEL_POINTS, i, id, "POINT2D_IDX of a track",
        "feature %u of image %u occurs in a second track", element->feature,
        image->id);
  if (point != id && point != BUNDLE_MODEL_NO_POINT)
    return FAULT (check, BUNDLE_MODEL_POINTS, i, id, "POINT2D_IDX of a track",
        "%s names another point, %" G_GUINT64_FORMAT
        ", for feature %u of image %u",
        name, point, element->feature, image->id);
  model->n_unnamed += point != id;
  taken[at] = TRUE;
  return TRUE;
}

static gint
compare_ids (gconstpointer a, gconstpointer b)
{
  const guint64 *x = a, *y = b;

  return x[0] != y[0] ? (x[0] < y[0] ? -1 : 1) : x[1] < y[1] ? -1 : 1;
}

/* Sorts the ids of points only if they are not in order. */
static gboolean
check_point_ids (const Check *check)
{
  const BundleModel *model = check->model;
  gsize i = 1;
  guint64 (*ids)[2] = NULL;
  GError **error = check->error;
  gboolean ok = TRUE;

  while (i < model->n_points && model->points[i - 1].id < model->points[i].id)
    i++;
  if (i >= model->n_points)
    return TRUE;
  if (!BUNDLE_MODEL_NEW (&ids, model->n_points, "ids of points"))
    return FALSE;
  for (i = 0; i < model->n_points; i++) {
    ids[i][0] = model->points[i].id;
    ids[i][1] = i;
  }
  qsort (ids, model->n_points, sizeof *ids, compare_ids);
  for (i = 1; ok && i < model->n_points; i++)
    if (ids[i - 1][0] == ids[i][0])
      ok = FAULT (check, BUNDLE_MODEL_POINTS, (gsize) ids[i][1], ids[i][0],
          "POINT3D_ID", "duplicate id %" G_GUINT64_FORMAT, ids[i][0]);
  g_free (ids);
  return ok;
}

static gboolean
check_points (const Check *check, const GHashTable *images, guint8 *taken)
{
  BundleModel *model = check->model;

  if (!check_point_ids (check))
    return FALSE;
  for (gsize i = 0; i < model->n_points && !cvis_cancelled_at (i); i++) {
    const BundleModelPoint *point = &model->points[i];

    if (!are_numbers (point->x, 3))
      return FAULT (check, BUNDLE_MODEL_POINTS, i, point->id, "X Y Z",
          "a number is not finite or above 1e100");
    for (gsize k = 0; k < point->n; k++)
      if (!check_element (
              check, i, &model->elements[point->first + k], images, taken))
        return FALSE;
  }
  for (gsize i = 0; i < model->n_features; i++)
    model->n_lost +=
        !taken[i] && model->features[i].point != BUNDLE_MODEL_NO_POINT;
  return TRUE;
}

/* Checks the model and replaces ids by indices. */
static gboolean
check_model (BundleModel *model, const BundleModelFile *files, GError **error)
{
  const Check check = { model, files, error };
  GHashTable *cameras = g_hash_table_new (NULL, NULL);
  GHashTable *images = g_hash_table_new (NULL, NULL);
  guint8 *taken = NULL;
  const gboolean ok =
      check_cameras (&check, cameras) && check_images (&check, cameras, images)
      && BUNDLE_MODEL_NEW (&taken, model->n_features, "features")
      && check_points (&check, images, taken)
      && bundle_model_parse_rigs (model, files, error);

  g_hash_table_unref (cameras);
  g_hash_table_unref (images);
  g_free (taken);
  return ok;
}

/* --- reading and writing ------------------------------------------------------ */

BundleModel *
bundle_model_parse (const BundleModelFile files[BUNDLE_MODEL_FILES],
    gboolean binary, GError **error)
{
  BundleModel *model = g_new0 (BundleModel, 1);
  gboolean ok;

  model->binary = binary;
  ok = (binary ? bundle_model_parse_binary : bundle_model_parse_texts) (
           model, files, error)
       && check_model (model, files, error);
  if (ok && !cvis_cancelled ())
    return model;
  bundle_model_free (model);
  if (cvis_cancelled ())
    cvis_refuse_cancelled (error);
  return NULL;
}

gboolean
bundle_model_format (const BundleModel *model, gboolean binary,
    GBytes *files[BUNDLE_MODEL_FILES], GError **error)
{
  BundleText texts[BUNDLE_MODEL_FILES] = { 0 };
  gboolean ok = TRUE;

  if (model->rigs && binary != model->binary)
    return cvis_refuse (error,
        "rigs and frames are written only as they were read, as %s",
        model->binary ? "binary files" : "texts");
  (binary ? bundle_model_format_binary : bundle_model_format_texts) (
      model, texts);
  for (guint i = 0; i < BUNDLE_MODEL_FILES; i++)
    files[i] = NULL;
  if (model->frames)
    bundle_model_format_frames (model, &texts[BUNDLE_MODEL_FRAMES]);
  for (guint i = 0; i < BUNDLE_MODEL_FILES && ok; i++)
    if (i == BUNDLE_MODEL_RIGS)
      files[i] = model->rigs ? g_bytes_ref (model->rigs) : NULL;
    else if (i != BUNDLE_MODEL_FRAMES || model->frames)
      ok = (files[i] = bundle_text_finish (&texts[i], error)) != NULL;
  if (ok && cvis_cancelled ())
    ok = cvis_refuse_cancelled (error);
  if (!ok)
    for (guint i = 0; i < BUNDLE_MODEL_FILES; i++) {
      g_clear_pointer (&files[i], g_bytes_unref);
      g_free (texts[i].data);
    }
  return ok;
}
