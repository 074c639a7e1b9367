/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* COLMAP's text model, three files:
 *
 *   cameras.txt   CAMERA_ID MODEL WIDTH HEIGHT PARAMETERS
 *   images.txt    IMAGE_ID QW QX QY QZ TX TY TZ CAMERA_ID NAME
 *                 (X Y POINT3D_ID) ...         a line that may be empty
 *   points3D.txt  POINT3D_ID X Y Z R G B ERROR (IMAGE_ID POINT2D_IDX) ...
 *
 * in a tar archive, or concatenated, each with COLMAP's
 * comment on its first line. Cameras look along +z with y down; positions
 * are in pixels from the upper left corner. Each image is a camera of the
 * problem. The tracks of points3D.txt define which features are
 * observations; images.txt must not name other points for these. COLMAP's
 * tools write features of deleted points, glomap tracks of unnamed features. */
#include <string.h>
#include "cuda/bundle/formats/codecs.h"
#include "cuda/bundle/pose.h"
#include "cuda/bundle/formats/tar.h"
#include "cuda/core/cancel.h"

#define IMAGES_START "# Image list"
#define POINTS_START "# 3D point list"
#define TAKEN G_MAXUINT64

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

static gboolean
split_tar (
    const gchar *data, gsize size, BundleScanner files[N_FILES], GError **error)
{
  BundleTar tar = { .data = data, .size = size };
  GError *local = NULL;
  gboolean binary = FALSE;

  while (bundle_tar_next (&tar, &local)) {
    if (!find_member (&tar, files, &local))
      break;
    binary |= tar.name && strcmp (tar.name, "cameras.bin") == 0;
  }
  bundle_tar_clear (&tar);
  if (local) {
    g_propagate_error (error, local);
    return FALSE;
  }
  for (guint i = 0; i < N_FILES; i++)
    if (!files[i].start) {
      g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
          "The tar archive has no file %s%s", file_names[i],
          binary ? ", but a binary model: convert it with colmap "
                   "model_converter --output_type TXT"
                 : "");
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

typedef struct {
  gdouble intrinsics[3]; /* focal length, k1, k2 */
  gdouble centre[2];
  guint width, height;
} Camera;

/* @point: its POINT3D_ID plus one; 0: none; TAKEN: found in a track */
typedef struct {
  gdouble at[2];
  guint64 point;
} Feature;

/**
 * Model: a model during reading
 * @camera_of_id, @image_of_id: numbers from 1 for each id
 * @first: n_images + 1: index of each image's first feature
 * @n_unnamed: features in tracks whose images name no point for them
 */
typedef struct {
  BundleScanner files[N_FILES];
  GArray *cameras;
  GHashTable *camera_of_id, *image_of_id, *point_ids;
  BundleTracks tracks;
  gsize n_images, n_points, n_features;
  Feature *features;
  gsize *first;
  gsize n_unnamed;
} Model;

/* Meaning of each parameter: 'f', 'F' (has to equal f), 'x', 'y', '1', '2',
 * '0' (has to be 0) */
static const struct {
  const gchar *name, *parameters;
} camera_models[] = {
  { "SIMPLE_PINHOLE", "fxy" },
  { "PINHOLE", "fFxy" },
  { "SIMPLE_RADIAL", "fxy1" },
  { "RADIAL", "fxy12" },
  { "OPENCV", "fFxy1200" },
};

static gboolean
read_parameter (
    BundleScanner *s, gchar parameter, Camera *camera, GError **error)
{
  static const gchar names[] = "f12xy";
  const gchar *place = strchr (names, parameter);
  const gchar *field = parameter == 'f' || parameter == 'F' ? "focal length"
                       : parameter == 'x' || parameter == 'y'
                           ? "principal point"
                           : "distortion";
  const gchar *at;
  gdouble value;

  bundle_scan_more (s);
  at = s->at;
  if (!bundle_scan_number (s, field, &value, error))
    return FALSE;
  if (parameter == 'F' && value != camera->intrinsics[0])
    return bundle_scan_fault (s, at, field, error,
        "focal lengths in x and y differ, which the camera model does not "
        "have");
  if (parameter == '0' && value != 0)
    return bundle_scan_fault (
        s, at, field, error, "tangential distortion must be 0");
  if (place && place - names < 3)
    camera->intrinsics[place - names] = value;
  else if (place)
    camera->centre[place - names - 3] = value;
  return TRUE;
}

static gboolean
read_model (BundleScanner *s, Camera *camera, guint *model, GError **error)
{
  const gchar *at;
  gchar *name;
  guint64 size[2];

  bundle_scan_more (s);
  at = s->at;
  if (!bundle_scan_word (s, "MODEL", &name, error))
    return FALSE;
  for (*model = 0; *model < G_N_ELEMENTS (camera_models); ++*model)
    if (strcmp (name, camera_models[*model].name) == 0)
      break;
  g_free (name);
  if (*model == G_N_ELEMENTS (camera_models))
    return bundle_scan_fault (s, at, "MODEL", error,
        "it must be SIMPLE_PINHOLE, PINHOLE, SIMPLE_RADIAL, RADIAL or OPENCV "
        "without tangential distortion");
  if (!bundle_scan_integer (s, "WIDTH", 1, G_MAXINT32, &size[0], error)
      || !bundle_scan_integer (s, "HEIGHT", 1, G_MAXINT32, &size[1], error))
    return FALSE;
  camera->width = (guint) size[0];
  camera->height = (guint) size[1];
  return TRUE;
}

static gboolean
end_line (BundleScanner *s, GError **error)
{
  if (bundle_scan_more (s))
    return bundle_scan_fault (
        s, s->at, "end of the line", error, "text follows");
  bundle_scan_skip_line (s);
  return TRUE;
}

/* Adds an id, which gets number @n + 1, to @ids, if it is new */
static gboolean
read_new_id (BundleScanner *s, const gchar *field, GHashTable *ids, gsize n,
    guint64 *id, GError **error)
{
  const gchar *at = s->at;

  if (!bundle_scan_integer (s, field, 0, G_MAXINT64, id, error))
    return FALSE;
  if (!g_hash_table_insert (
          ids, GSIZE_TO_POINTER (*id), GSIZE_TO_POINTER (n + 1)))
    return bundle_scan_fault (
        s, at, field, error, "duplicate id %" G_GUINT64_FORMAT, *id);
  return TRUE;
}

static gboolean
read_cameras (Model *m, GError **error)
{
  BundleScanner *s = &m->files[CAMERAS];

  while (bundle_scan_line (s)) {
    Camera camera = { 0 };
    guint64 id;
    guint model;

    if (!read_new_id (
            s, "CAMERA_ID", m->camera_of_id, m->cameras->len, &id, error)
        || !read_model (s, &camera, &model, error))
      return FALSE;
    for (const gchar *p = camera_models[model].parameters; *p; p++)
      if (!read_parameter (s, *p, &camera, error))
        return FALSE;
    if (!end_line (s, error))
      return FALSE;
    g_array_append_val (m->cameras, camera);
  }
  return TRUE;
}

/* Counts lines and features before memory is allocated for them. */
static gboolean
count_lines (Model *m, GError **error)
{
  BundleScanner s = m->files[IMAGES];

  while (bundle_scan_line (&s)) {
    gsize n = 0;

    m->n_images++;
    bundle_scan_skip_line (&s);
    for (; bundle_scan_more (&s); n++)
      while (s.at < s.end && (guchar) *s.at > ' ')
        s.at++;
    m->n_features += n / 3;
    bundle_scan_skip_line (&s);
  }
  if (m->n_images < 1 || m->n_images > G_MAXINT32)
    return bundle_scan_fault (&s, s.end, "images", error,
        "%" G_GSIZE_FORMAT " is outside 1..2147483647", m->n_images);
  for (s = m->files[POINTS]; bundle_scan_line (&s); bundle_scan_skip_line (&s))
    m->n_points++;
  if (m->n_points < 1 || m->n_points > G_MAXINT32)
    return bundle_scan_fault (&s, s.end, "points", error,
        "%" G_GSIZE_FORMAT " is outside 1..2147483647", m->n_points);
  return TRUE;
}

static gboolean
read_features (Model *m, const Camera *camera, gsize *n, GError **error)
{
  BundleScanner *s = &m->files[IMAGES];

  for (; bundle_scan_more (s); ++*n) {
    Feature *feature = &m->features[*n];
    gdouble at[2];
    guint64 id;

    if (!bundle_scan_numbers (s, "POINTS2D", at, 2, error))
      return FALSE;
    feature->at[0] = at[0] - camera->centre[0];
    feature->at[1] = camera->centre[1] - at[1];
    if (!bundle_scan_more (s) || s->end - s->at < 2
        || memcmp (s->at, "-1", 2) != 0) {
      if (!bundle_scan_integer (s, "POINT3D_ID", 0, G_MAXUINT64, &id, error))
        return FALSE;
      if (id < G_MAXINT64)
        feature->point = id + 1;
      else if (id < G_MAXUINT64)
        return bundle_scan_fault (s, s->at, "POINT3D_ID", error,
            "it is larger than 9223372036854775806");
    } else {
      s->at += 2;
      if (s->at < s->end && (guchar) *s->at > ' ')
        return bundle_scan_fault (
            s, s->at, "POINT3D_ID", error, "it must be an integer >= -1");
    }
  }
  bundle_scan_skip_line (s);
  return TRUE;
}

static gboolean
read_image (Model *m, guint i, gsize *n, GError **error)
{
  BundleScanner *s = &m->files[IMAGES];
  BundleProblem *problem = m->tracks.problem;
  gdouble *to = problem->cameras + (gsize) i * BUNDLE_CAMERA_SIZE;
  const Camera *camera;
  const gchar *at;
  gdouble q[4], t[3];
  guint64 id;
  gsize number;

  if (!read_new_id (s, "IMAGE_ID", m->image_of_id, i, &id, error)
      || !bundle_scan_numbers (s, "QW QX QY QZ", q, 4, error)
      || !bundle_scan_numbers (s, "TX TY TZ", t, 3, error))
    return FALSE;
  bundle_scan_more (s);
  at = s->at;
  if (!bundle_pose_from_y_down (q, t, to))
    return bundle_scan_fault (s, at, "QW QX QY QZ", error, "they are 0");
  if (!bundle_scan_integer (s, "CAMERA_ID", 0, G_MAXINT64, &id, error))
    return FALSE;
  number = GPOINTER_TO_SIZE (
      g_hash_table_lookup (m->camera_of_id, GSIZE_TO_POINTER (id)));
  if (!number)
    return bundle_scan_fault (s, at, "CAMERA_ID", error,
        "cameras.txt has no camera %" G_GUINT64_FORMAT, id);
  camera = &g_array_index (m->cameras, Camera, number - 1);
  memcpy (to + BUNDLE_CAMERA_FOCAL, camera->intrinsics,
      sizeof (camera->intrinsics));
  problem->views[i].width = camera->width;
  problem->views[i].height = camera->height;
  memcpy (problem->views[i].centre, camera->centre, sizeof (camera->centre));
  if (!bundle_scan_rest (s, "NAME", &problem->views[i].name, error))
    return FALSE;
  bundle_scan_skip_line (s);
  return read_features (m, camera, n, error);
}

static gboolean
read_images (Model *m, GError **error)
{
  BundleScanner *s = &m->files[IMAGES];
  gsize n = 0;
  guint i = 0;

  for (; bundle_scan_line (s); i++) {
    m->first[i] = n;
    if (!read_image (m, i, &n, error))
      return FALSE;
  }
  m->first[i] = n;
  return TRUE;
}

static gboolean
read_track (Model *m, guint point, guint64 id, GError **error)
{
  BundleScanner *s = &m->files[POINTS];

  while (bundle_scan_more (s)) {
    const gchar *at = s->at;
    guint64 image_id, index;
    Feature *feature;
    gsize image;

    if (!bundle_scan_integer (
            s, "IMAGE_ID of a track", 0, G_MAXINT64, &image_id, error))
      return FALSE;
    image = GPOINTER_TO_SIZE (
        g_hash_table_lookup (m->image_of_id, GSIZE_TO_POINTER (image_id)));
    if (!image--)
      return bundle_scan_fault (s, at, "IMAGE_ID of a track", error,
          "images.txt has no image %" G_GUINT64_FORMAT, image_id);
    bundle_scan_more (s);
    at = s->at;
    if (!bundle_scan_integer (
            s, "POINT2D_IDX of a track", 0, G_MAXUINT32, &index, error))
      return FALSE;
    if (index >= m->first[image + 1] - m->first[image])
      return bundle_scan_fault (s, at, "POINT2D_IDX of a track", error,
          "image %" G_GUINT64_FORMAT " has %" G_GSIZE_FORMAT " features",
          image_id, m->first[image + 1] - m->first[image]);
    feature = &m->features[m->first[image] + index];
    m->n_unnamed += feature->point == 0;
    if (feature->point != 0 && feature->point != id + 1)
      return bundle_scan_fault (s, at, "POINT2D_IDX of a track", error,
          feature->point == TAKEN
              ? "feature %" G_GUINT64_FORMAT " of image %" G_GUINT64_FORMAT
                " occurs in a second track"
              : "images.txt names another point for feature %" G_GUINT64_FORMAT
                " of image %" G_GUINT64_FORMAT,
          index, image_id);
    feature->point = TAKEN;
    if (!bundle_tracks_add (&m->tracks, (guint) image, point, feature->at[0],
            feature->at[1], error))
      return FALSE;
  }
  bundle_scan_skip_line (s);
  return TRUE;
}

static gboolean
read_colmap_points (Model *m, GError **error)
{
  BundleScanner *s = &m->files[POINTS];
  BundleProblem *problem = m->tracks.problem;
  gsize n_lost = 0;

  for (guint i = 0; bundle_scan_line (s); i++) {
    guint64 id, colour;
    gdouble ignored;

    if (!read_new_id (s, "POINT3D_ID", m->point_ids, i, &id, error)
        || !bundle_scan_numbers (
            s, "X Y Z", problem->points + 3 * (gsize) i, 3, error))
      return FALSE;
    for (guint k = 0; k < 3; k++) {
      if (!bundle_scan_integer (s, "R G B", 0, 255, &colour, error))
        return FALSE;
      problem->colours[3 * (gsize) i + k] = (guint8) colour;
    }
    if (!bundle_scan_number (s, "ERROR", &ignored, error)
        || !read_track (m, i, id, error))
      return FALSE;
  }
  for (gsize i = 0; i < m->n_features; i++)
    n_lost += m->features[i].point != 0 && m->features[i].point != TAKEN;
  if (n_lost)
    bundle_add_note (problem,
        "%" G_GSIZE_FORMAT " features of images.txt name points whose tracks "
        "in points3D.txt do not contain them. They were left out.",
        n_lost);
  if (m->n_unnamed)
    bundle_add_note (problem,
        "The tracks of points3D.txt contain %" G_GSIZE_FORMAT " features for "
        "which images.txt names no point. They were used.",
        m->n_unnamed);
  return TRUE;
}

static gboolean
read_files (Model *m, GError **error)
{
  if (!read_cameras (m, error) || !count_lines (m, error)
      || !bundle_tracks_init (
          &m->tracks, m->n_images, m->n_points, TRUE, TRUE, error))
    return FALSE;
  m->features = g_try_new0 (Feature, m->n_features + 1);
  m->first = g_try_new0 (gsize, m->n_images + 1);
  if (m->features && m->first)
    return read_images (m, error) && read_colmap_points (m, error);
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
      "Not enough memory for %" G_GSIZE_FORMAT " features", m->n_features);
  return FALSE;
}

BundleProblem *
bundle_colmap_read (const gchar *data, gsize size, GError **error)
{
  Model m = { .files = { { "cameras.txt ", .by_line = TRUE },
                  { "images.txt ", .by_line = TRUE },
                  { "points3D.txt ", .by_line = TRUE } } };
  BundleProblem *problem = NULL;

  if (!(*data == '#' ? split_texts : split_tar) (data, size, m.files, error))
    return NULL;
  m.cameras = g_array_new (FALSE, FALSE, sizeof (Camera));
  m.camera_of_id = g_hash_table_new (NULL, NULL);
  m.image_of_id = g_hash_table_new (NULL, NULL);
  m.point_ids = g_hash_table_new (NULL, NULL);
  if (read_files (&m, error))
    problem = bundle_tracks_finish (&m.tracks, &m.files[POINTS], error);
  bundle_tracks_clear (&m.tracks);
  g_array_unref (m.cameras);
  g_hash_table_unref (m.camera_of_id);
  g_hash_table_unref (m.image_of_id);
  g_hash_table_unref (m.point_ids);
  g_free (m.features);
  g_free (m.first);
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

static void
write_cameras (BundleText *text, const BundleProblem *problem,
    const BundlePicture *pictures, guint n)
{
  bundle_text_string (text, "# Camera list with one line of data per camera:\n"
                            "#   CAMERA_ID, MODEL, WIDTH, HEIGHT, PARAMS[]\n");
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
    write_image (text, problem, i, shared ? 1 : i + 1);
    for (gsize k = first[i]; k < first[i + 1]; k++) {
      const gdouble *at = problem->observed + 2 * (gsize) order[k];

      indices[order[k]] = (guint32) (k - first[i]);
      bundle_text_number (
          text, k > first[i] ? ' ' : 0, at[0] + pictures[i].centre[0]);
      bundle_text_number (text, ' ', pictures[i].centre[1] - at[1]);
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
