/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Checks of references and values that binary and text models share, after the files were
 * read. */
#include "cuda/bundle/colmap/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/bundle/colmap/parts.h"
#include "cuda/bundle/formats/scanner.h"
#include "cuda/core/cancel.h"
#include "cuda/core/memory.h"
#include "cuda/core/threadpool.h"

#define LARGEST 1e100 /* as in texts: its square is finite */

void
bundle_model_free (BundleModel *model)
{
  if (model == NULL)
    return;
  for (guint i = 0; model->images && i < model->n_images; i++)
    g_free (model->images[i].name);
  free (model->cameras);
  free (model->images);
  free (model->features);
  free (model->points);
  free (model->elements);
  for (guint i = 0; i < G_N_ELEMENTS (model->comments); i++)
    g_free (model->comments[i]);
  g_clear_pointer (&model->rigs, g_bytes_unref);
  g_clear_pointer (&model->frames, g_bytes_unref);
  g_clear_pointer (&model->frame_list, g_array_unref);
  g_clear_pointer (&model->sensor_list, g_array_unref);
  free (model->frame_of);
  free (model->sensor_of);
  g_clear_pointer (&model->priors, g_array_unref);
  g_free (model->rig);
  g_free (model);
}

gpointer
bundle_model_allocate (gsize n, gsize size, gboolean clear)
{
  return n < G_MAXSSIZE / size
             ? cvis_memory_new (MAX (n, 1) * size, clear, NULL)
             : NULL;
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

#define POINTS 4096   /* checked by a thread at once */
#define LARGE 1000000 /* bytes worth threads */
#define ID_BITS                                                                \
  32 /* for each point: ids are seldom much larger than their number */

/**
 * Check:
 * @table: index + 1 of the image with each id, up to @n_table; @images: of larger ids
 * @taken, @ids: a bit for each feature of a track, and for each id of a point
 * @bad_image, @bad_point: the first one with a fault, found by all threads
 * @taken_twice: a feature is in two tracks
 * @doubtful_ids: ids of points are equal, or too large for @ids
 */
typedef struct {
  BundleModel *model;
  const BundleModelFile *files;
  GError **error;
  guint32 *table;
  gsize n_table;
  GHashTable *images;
  guint *taken, *ids;
  GMutex mutex; /* of the rest, and of n_lost and n_unnamed of the model */
  gsize bad_image, bad_point;
  gboolean taken_twice, doubtful_ids;
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
  for (gsize k = 0; i == check->bad_image && k < image->n; k++)
    if (!are_numbers (check->model->features[image->first + k].at, 2))
      return FAULT (check, BUNDLE_MODEL_IMAGES, i, image->id, "POINTS2D",
          "feature %" G_GSIZE_FORMAT " is not at a finite position up to 1e100",
          k);
  return TRUE;
}

static gboolean
check_images (const Check *check, GHashTable *cameras)
{
  for (guint i = 0; i < check->model->n_images && !cvis_cancelled_at (i); i++) {
    const guint32 id = check->model->images[i].id;

    if (!add_id (check->images, id, i))
      return FAULT (
          check, BUNDLE_MODEL_IMAGES, i, id, "IMAGE_ID", "duplicate id %u", id);
    if (id < check->n_table)
      check->table[id] = i + 1;
    if (!check_image (check, i, cameras))
      return FALSE;
  }
  return TRUE;
}

/* Counts features that name a point, and finds an image with a position that is no
 * number. */
static void
scan_features (guint first, guint count, gpointer data)
{
  Check *check = data;
  gsize n_named = 0, bad = G_MAXSIZE;

  for (guint i = first; i < first + count; i++) {
    const BundleModelImage *image = &check->model->images[i];
    const BundleModelFeature *features = check->model->features + image->first;
    gboolean good = TRUE;

    for (gsize k = 0; k < image->n; k++) {
      good &= are_numbers (features[k].at, 2);
      n_named += features[k].point != BUNDLE_MODEL_NO_POINT;
    }
    if (!good)
      bad = MIN (bad, i);
  }
  g_mutex_lock (&check->mutex);
  check->model->n_lost += n_named;
  check->bad_image = MIN (check->bad_image, bad);
  g_mutex_unlock (&check->mutex);
}

/* Index of the image with this id; G_MAXUINT: none */
static guint
find_image (const Check *check, guint32 id)
{
  return id < check->n_table ? check->table[id] - 1
                             : bundle_model_find_image (check->images, id);
}

/* The point that the element's feature names; NULL without such a feature.
 * @image: (out): index */
static const guint64 *
find_named_point (
    const Check *check, const BundleModelElement *element, guint *image)
{
  const BundleModel *model = check->model;

  *image = find_image (check, element->image);
  return *image != G_MAXUINT && element->feature < model->images[*image].n
             ? &model->features[model->images[*image].first + element->feature]
                    .point
             : NULL;
}

#define SIZE_BITS(n) ((n) / 32 + 1)

/* Sets the bit. Returns: whether it was set */
static gboolean
set_bit (guint *bits, gsize i)
{
  const guint bit = 1u << i % 32;

  return (g_atomic_int_or (&bits[i / 32], bit) & bit) != 0;
}

/* Replaces ids of images by indices in the track, unless it has a fault.
 * @taken_twice: (out): set if a feature is in two tracks */
static gboolean
resolve_track (Check *check, const BundleModelPoint *point, gsize *n_unnamed,
    gboolean *taken_twice)
{
  const BundleModel *model = check->model;
  BundleModelElement *track = model->elements + point->first;
  guint image;

  for (gsize k = 0; k < point->n; k++) {
    const guint64 *named = find_named_point (check, &track[k], &image);

    if (!named || (*named != point->id && *named != BUNDLE_MODEL_NO_POINT)) {
      while (k-- > 0)
        track[k].image = model->images[track[k].image].id;
      return FALSE;
    }
    track[k].image = image;
    *n_unnamed += *named != point->id;
    *taken_twice |=
        set_bit (check->taken, model->images[image].first + track[k].feature);
  }
  return TRUE;
}

static void
scan_tracks (guint first, guint count, gpointer data)
{
  Check *check = data;
  BundleModel *model = check->model;
  const gsize end = MIN ((gsize) (first + count) * POINTS, model->n_points);
  gsize bad = G_MAXSIZE, n_elements = 0, n_unnamed = 0;
  gboolean taken_twice = FALSE, doubtful = FALSE;

  for (gsize i = (gsize) first * POINTS; i < end && bad == G_MAXSIZE; i++) {
    const BundleModelPoint *point = &model->points[i];

    doubtful |= point->id >= ID_BITS * (guint64) model->n_points
                || set_bit (check->ids, point->id);
    if (!are_numbers (point->x, 3)
        || !resolve_track (check, point, &n_unnamed, &taken_twice))
      bad = i;
    else
      n_elements += point->n;
  }
  g_mutex_lock (&check->mutex);
  check->bad_point = MIN (check->bad_point, bad);
  check->taken_twice |= taken_twice;
  check->doubtful_ids |= doubtful || bad != G_MAXSIZE;
  model->n_unnamed += n_unnamed;
  model->n_lost -= n_elements - n_unnamed;
  g_mutex_unlock (&check->mutex);
}

/* @image: index */
static gboolean
reject_second_track (const Check *check, gsize i, guint image, guint feature)
{
  return FAULT (check, BUNDLE_MODEL_POINTS, i, check->model->points[i].id,
      "POINT2D_IDX of a track",
      "feature %u of image %u occurs in a second track", feature,
      check->model->images[image].id);
}

/* The fault of an element that scan_tracks() left as it is */
static gboolean
check_element (const Check *check, gsize i, const BundleModelElement *element)
{
  const BundleModel *model = check->model;
  const guint64 id = model->points[i].id;
  guint image;
  const guint64 *named = find_named_point (check, element, &image);
  const gchar *name =
      bundle_model_file_name (BUNDLE_MODEL_IMAGES, model->binary);

  if (image == G_MAXUINT)
    return FAULT (check, BUNDLE_MODEL_POINTS, i, id, "IMAGE_ID of a track",
        "%s has no image %u", name, element->image);
  if (named == NULL)
    return FAULT (check, BUNDLE_MODEL_POINTS, i, id, "POINT2D_IDX of a track",
        "image %u has %" G_GSIZE_FORMAT " features, not %u",
        model->images[image].id, model->images[image].n, element->feature);
  if (set_bit (check->taken, model->images[image].first + element->feature))
    return reject_second_track (check, i, image, element->feature);
  if (*named != id && *named != BUNDLE_MODEL_NO_POINT)
    return FAULT (check, BUNDLE_MODEL_POINTS, i, id, "POINT2D_IDX of a track",
        "%s names another point, %" G_GUINT64_FORMAT
        ", for feature %u of image %u",
        name, *named, element->feature, model->images[image].id);
  return TRUE;
}

static gint
compare_ids (gconstpointer a, gconstpointer b)
{
  const guint64 *x = a, *y = b;

  return x[0] != y[0] ? (x[0] < y[0] ? -1 : 1) : x[1] < y[1] ? -1 : 1;
}

static gboolean
check_point_ids (const Check *check)
{
  const BundleModel *model = check->model;
  guint64 (*ids)[2] = NULL;
  GError **error = check->error;
  gboolean ok = TRUE;

  if (!BUNDLE_MODEL_NEW (&ids, model->n_points, "ids of points"))
    return FALSE;
  for (gsize i = 0; i < model->n_points; i++) {
    ids[i][0] = model->points[i].id;
    ids[i][1] = i;
  }
  qsort (ids, model->n_points, sizeof *ids, compare_ids);
  for (gsize i = 1; ok && i < model->n_points; i++)
    if (ids[i - 1][0] == ids[i][0])
      ok = FAULT (check, BUNDLE_MODEL_POINTS, (gsize) ids[i][1], ids[i][0],
          "POINT3D_ID", "duplicate id %" G_GUINT64_FORMAT, ids[i][0]);
  free (ids);
  return ok;
}

/* Takes the features of a point's track. */
static gboolean
take_features (const Check *check, gsize i)
{
  const BundleModel *model = check->model;
  const BundleModelPoint *point = &model->points[i];

  for (gsize k = 0; k < point->n; k++) {
    const BundleModelElement *element = &model->elements[point->first + k];

    if (set_bit (check->taken,
            model->images[element->image].first + element->feature))
      return reject_second_track (check, i, element->image, element->feature);
  }
  return TRUE;
}

/* The first fault, if scan_tracks() found any */
static gboolean
check_tracks (const Check *check)
{
  BundleModel *model = check->model;
  const gsize end = MIN (check->bad_point, model->n_points);

  memset (check->taken, 0, SIZE_BITS (model->n_features) * sizeof (guint));
  for (gsize i = 0; i < end && !cvis_cancelled_at (i); i++)
    if (!take_features (check, i))
      return FALSE;
  if (end < model->n_points && !cvis_cancelled ()) {
    const BundleModelPoint *point = &model->points[end];

    if (!are_numbers (point->x, 3))
      return FAULT (check, BUNDLE_MODEL_POINTS, end, point->id, "X Y Z",
          "a number is not finite or above 1e100");
    for (gsize k = 0; k < point->n; k++)
      if (!check_element (check, end, &model->elements[point->first + k]))
        return FALSE;
  }
  return TRUE;
}

/* A table of images by ids, which are seldom much larger than their number */
static gboolean
make_table (Check *check, GError **error)
{
  const BundleModel *model = check->model;
  gsize largest = 0;

  for (guint i = 0; i < model->n_images; i++)
    largest = MAX (largest, model->images[i].id);
  if (largest <= 16 * (gsize) model->n_images)
    check->n_table = largest + 1;
  return BUNDLE_MODEL_NEW (&check->table, check->n_table, "ids of images");
}

static gboolean
check_contents (Check *check, CvisPool *pool, GHashTable *cameras)
{
  const BundleModel *model = check->model;

  if (!check_cameras (check, cameras))
    return FALSE;
  cvis_pool_run (pool, model->n_images, 4, scan_features, check);
  if (!check_images (check, cameras))
    return FALSE;
  cvis_pool_run (pool, (guint) ((model->n_points + POINTS - 1) / POINTS), 1,
      scan_tracks, check);
  return (!check->doubtful_ids || check_point_ids (check))
         && ((!check->taken_twice && check->bad_point == G_MAXSIZE)
             || check_tracks (check));
}

/* Checks the model and replaces ids by indices. */
static gboolean
check_model (BundleModel *model, CvisPool *pool, const BundleModelFile *files,
    GError **error)
{
  Check check = { .model = model,
    .files = files,
    .error = error,
    .bad_image = G_MAXSIZE,
    .bad_point = G_MAXSIZE };
  GHashTable *cameras = g_hash_table_new (NULL, NULL);
  gboolean ok;

  check.images = g_hash_table_new (NULL, NULL);
  g_mutex_init (&check.mutex);
  ok = make_table (&check, error)
       && BUNDLE_MODEL_NEW (
           &check.taken, SIZE_BITS (model->n_features), "features")
       && BUNDLE_MODEL_NEW (
           &check.ids, SIZE_BITS (ID_BITS * model->n_points), "ids of points")
       && check_contents (&check, pool, cameras)
       && bundle_model_parse_rigs (model, files, error);
  g_mutex_clear (&check.mutex);
  g_hash_table_unref (cameras);
  g_hash_table_unref (check.images);
  free (check.table);
  free (check.taken);
  free (check.ids);
  return ok;
}

/* --- reading ------------------------------------------------------ */

BundleModel *
bundle_model_parse (const BundleModelFile files[BUNDLE_MODEL_FILES],
    gboolean binary, GError **error)
{
  BundleModel *model = g_new0 (BundleModel, 1);
  CvisPool *pool = cvis_pool_new (
      files[BUNDLE_MODEL_IMAGES].size + files[BUNDLE_MODEL_POINTS].size < LARGE
          ? 1
          : 0);
  gboolean ok;

  model->binary = binary;
  ok = (binary ? bundle_model_parse_binary : bundle_model_parse_texts) (
           model, pool, files, error)
       && check_model (model, pool, files, error);
  cvis_pool_free (pool);
  if (ok && !cvis_cancelled ())
    return model;
  bundle_model_free (model);
  if (cvis_cancelled ())
    cvis_refuse_cancelled (error);
  return NULL;
}
