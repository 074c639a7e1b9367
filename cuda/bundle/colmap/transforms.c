/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/bundle/colmap/transforms.h"

#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

#include "cuda/bundle/colmap/parts.h"
#include "cuda/bundle/colmap/priors.h"
#include "cuda/bundle/turn.h"
#include "cuda/bundle/pose.h"

/* Greatest RMS distance of aligned images, relative to their extent */
#define FITS 1e-2
/* Greatest distance of a point of the PLY, which has six decimals, relative to the extent */
#define SAME 1e-4
#define LARGEST 1e100

/**
 * BundleTransforms:
 * @is_new: the file does not exist yet
 * @root: the file
 * @image: of each frame: index into the model's images; G_MAXUINT: unknown
 * @world: from the model's world to that of the file
 */
struct _BundleTransforms {
  gboolean is_new;
  JsonNode *root;
  guint n_frames, *image;
  BundleAlignment world;
};

/* Rotation by 180 degrees about x: from y up and -z ahead to y down and z ahead */
static const gdouble flip[4] = { 0, 1, 0, 0 };

void
bundle_transforms_free (BundleTransforms *transforms)
{
  if (transforms == NULL)
    return;
  g_clear_pointer (&transforms->root, json_node_unref);
  g_free (transforms->image);
  g_free (transforms);
}

guint
bundle_transforms_count (const BundleTransforms *transforms, guint *n_known)
{
  *n_known = 0;
  for (guint i = 0; i < transforms->n_frames; i++)
    *n_known += transforms->image[i] != G_MAXUINT;
  return transforms->n_frames;
}

static JsonArray *
get_frames (const BundleTransforms *transforms)
{
  return json_object_get_array_member (
      json_node_get_object (transforms->root), "frames");
}

static JsonObject *
get_frame (const BundleTransforms *transforms, guint i)
{
  return json_array_get_object_element (get_frames (transforms), i);
}

/* --- reading ----------------------------------------------------------------------------- */

static gboolean reject_transforms (GError **error, const gchar *format, ...)
    G_GNUC_PRINTF (2, 3);

static gboolean
reject_transforms (GError **error, const gchar *format, ...)
{
  va_list args;
  gchar *text;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT, "%s", text);
  g_free (text);
  return FALSE;
}

/* Returns: (nullable): an object with a list of frames */
static JsonNode *
parse_transforms (const gchar *data, gsize size, GError **error)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  JsonNode *root, *frames = NULL;

  if (size > G_MAXSSIZE
      || !json_parser_load_from_data (parser, data, (gssize) size, error))
    return NULL;
  root = json_parser_get_root (parser);
  if (root && JSON_NODE_HOLDS_OBJECT (root))
    frames = json_object_get_member (json_node_get_object (root), "frames");
  if (frames && JSON_NODE_HOLDS_ARRAY (frames))
    return json_parser_steal_root (parser);
  reject_transforms (error, "it has no list \"frames\"");
  return NULL;
}

static gboolean
is_number (JsonNode *node)
{
  return JSON_NODE_HOLDS_VALUE (node)
         && (json_node_get_value_type (node) == G_TYPE_DOUBLE
             || json_node_get_value_type (node) == G_TYPE_INT64)
         && fabs (json_node_get_double (node)) <= LARGEST;
}

/* The first three rows of a matrix of 3 x 4 or 4 x 4 numbers */
static gboolean
get_matrix (JsonObject *object, const gchar *name, gdouble m[12])
{
  JsonNode *node = json_object_get_member (object, name);
  JsonArray *rows;

  if (!node || !JSON_NODE_HOLDS_ARRAY (node))
    return FALSE;
  rows = json_node_get_array (node);
  if (json_array_get_length (rows) < 3 || json_array_get_length (rows) > 4)
    return FALSE;
  for (guint i = 0; i < 3; i++) {
    JsonNode *row = json_array_get_element (rows, i);

    if (!JSON_NODE_HOLDS_ARRAY (row)
        || json_array_get_length (json_node_get_array (row)) != 4)
      return FALSE;
    for (guint k = 0; k < 4; k++) {
      JsonNode *number = json_array_get_element (json_node_get_array (row), k);

      if (!is_number (number))
        return FALSE;
      m[4 * i + k] = json_node_get_double (number);
    }
  }
  return TRUE;
}

/* Finds scale, rotation and translation of a matrix. Returns: FALSE if it is none */
static gboolean
take_apart (const gdouble m[12], BundleAlignment *to)
{
  gdouble r[9], w[3], determinant;

  determinant = m[0] * (m[5] * m[10] - m[6] * m[9])
                - m[1] * (m[4] * m[10] - m[6] * m[8])
                + m[2] * (m[4] * m[9] - m[5] * m[8]);
  to->scale = cbrt (determinant);
  if (!(to->scale > 1e-30) || !(to->scale < 1e30))
    return FALSE;
  for (guint i = 0; i < 9; i++)
    r[i] = m[4 * (i / 3) + i % 3] / to->scale;
  if (!bundle_rotation_from_matrix (r, w))
    return FALSE;
  bundle_rotation_to_quaternion (w, to->q);
  for (guint i = 0; i < 3; i++)
    to->t[i] = m[4 * i + 3];
  return TRUE;
}

/* The pose of frame @i: camera to world */
static gboolean
get_pose (const BundleTransforms *transforms, guint i, BundleAlignment *pose)
{
  JsonNode *frame = json_array_get_element (get_frames (transforms), i);
  gdouble m[12];

  return JSON_NODE_HOLDS_OBJECT (frame)
         && get_matrix (json_node_get_object (frame), "transform_matrix", m)
         && take_apart (m, pose) && fabs (pose->scale - 1) < 1e-3;
}

static gboolean
reject_matrix (guint frame, GError **error)
{
  return reject_transforms (error,
      "the transform_matrix of frame %u is no rotation and translation", frame);
}

/* The image whose name @path ends with, after a / or from its start */
static guint
find_by_name (GHashTable *names, const gchar *path)
{
  for (const gchar *at = path; at; at = strchr (at, '/')) {
    gpointer found;

    at += *at == '/';
    found = g_hash_table_lookup (names, at);
    if (found)
      return GPOINTER_TO_UINT (found) - 1;
  }
  return G_MAXUINT;
}

static guint
find_by_id (const BundleModel *model, JsonObject *frame)
{
  JsonNode *node = json_object_get_member (frame, "colmap_im_id");
  gint64 id = -1;

  if (node && JSON_NODE_HOLDS_VALUE (node)
      && json_node_get_value_type (node) == G_TYPE_INT64)
    id = json_node_get_int (node);
  for (guint i = 0; id >= 0 && i < model->n_images; i++)
    if (model->images[i].id == id)
      return i;
  return G_MAXUINT;
}

static const gchar *
get_member_text (JsonObject *object, const gchar *name)
{
  JsonNode *node = json_object_get_member (object, name);

  return node && JSON_NODE_HOLDS_VALUE (node)
                 && json_node_get_value_type (node) == G_TYPE_STRING
             ? json_node_get_string (node)
             : NULL;
}

static gboolean
find_images (
    BundleTransforms *transforms, const BundleModel *model, GError **error)
{
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  g_autofree guint8 *taken = g_new0 (guint8, model->n_images + 1);
  guint n_known;

  for (guint i = 0; i < model->n_images; i++)
    g_hash_table_insert (
        names, model->images[i].name, GUINT_TO_POINTER (i + 1));
  for (guint i = 0; i < transforms->n_frames; i++) {
    JsonNode *node = json_array_get_element (get_frames (transforms), i);
    BundleAlignment pose;
    const gchar *path;
    guint image;

    if (!JSON_NODE_HOLDS_OBJECT (node)
        || !(path = get_member_text (json_node_get_object (node), "file_path")))
      return reject_transforms (error, "frame %u has no file_path", i);
    if (!get_pose (transforms, i, &pose))
      return reject_matrix (i, error);
    image = find_by_name (names, path);
    if (image == G_MAXUINT)
      image = find_by_id (model, get_frame (transforms, i));
    transforms->image[i] = image;
    if (image == G_MAXUINT)
      continue;
    if (taken[image])
      return reject_transforms (
          error, "two frames are of image %u", model->images[image].id);
    taken[image] = TRUE;
  }
  bundle_transforms_count (transforms, &n_known);
  return n_known > 0
         || reject_transforms (error,
             "none of the %u frames is of an image of the model",
             transforms->n_frames);
}

/* --- the world --------------------------------------------------------------------------- */

static void
apply (const BundleAlignment *world, const gdouble x[3], gdouble to[3])
{
  bundle_turn_vector (world->q, x, to);
  for (guint k = 0; k < 3; k++)
    to[k] = world->scale * to[k] + world->t[k];
}

/* Aligns the model to the frames. */
static gboolean
align_world (
    BundleTransforms *transforms, const BundleModel *model, GError **error)
{
  g_autofree gdouble *from = g_new (gdouble, 3 * (gsize) transforms->n_frames);
  g_autofree gdouble *to = g_new (gdouble, 3 * (gsize) transforms->n_frames);
  gdouble moved[3], distances = 0, extent = 0;
  guint n = 0;

  for (guint i = 0; i < transforms->n_frames; i++) {
    BundleAlignment pose;

    if (transforms->image[i] == G_MAXUINT || !get_pose (transforms, i, &pose))
      continue;
    bundle_model_image_position (
        &model->images[transforms->image[i]], from + 3 * n);
    memcpy (to + 3 * n++, pose.t, sizeof pose.t);
  }
  if (!bundle_align_positions (from, to, n, &transforms->world, error)) {
    g_prefix_error (error, "it has no applied_transform, and ");
    return FALSE;
  }
  for (guint i = 0; i < n; i++) {
    apply (&transforms->world, from + 3 * i, moved);
    for (guint k = 0; k < 3; k++) {
      distances += (moved[k] - to[3 * i + k]) * (moved[k] - to[3 * i + k]);
      extent += (to[3 * i + k] - to[k]) * (to[3 * i + k] - to[k]);
    }
  }
  return distances <= FITS * FITS * extent
         || cvis_refuse (error,
             "it has no applied_transform, and its positions are not those of "
             "the model: they differ by %.2g of their extent",
             sqrt (distances / extent));
}

static gboolean
find_world (
    BundleTransforms *transforms, const BundleModel *model, GError **error)
{
  JsonObject *root = json_node_get_object (transforms->root);
  JsonNode *scale = json_object_get_member (root, "applied_scale");
  gdouble m[12], factor;

  if (!json_object_has_member (root, "applied_transform"))
    return align_world (transforms, model, error);
  if (!get_matrix (root, "applied_transform", m)
      || !take_apart (m, &transforms->world))
    return reject_transforms (error,
        "applied_transform is no rotation with a scale and a translation");
  if (scale == NULL)
    return TRUE;
  factor = is_number (scale) ? json_node_get_double (scale) : 0;
  if (!(factor > 0))
    return reject_transforms (error, "applied_scale is no number above 0");
  transforms->world.scale *= factor;
  for (guint k = 0; k < 3; k++)
    transforms->world.t[k] *= factor;
  return TRUE;
}

/* --- a new file -------------------------------------------------------------------------- */

static JsonArray *
make_matrix (const gdouble m[12])
{
  JsonArray *rows = json_array_new ();

  for (guint i = 0; i < 4; i++) {
    JsonArray *row = json_array_new ();

    for (guint k = 0; k < 4; k++)
      json_array_add_double_element (row, i < 3 ? m[4 * i + k] : k == 3);
    json_array_add_array_element (rows, row);
  }
  return rows;
}

static void
make_frames (BundleTransforms *transforms, const BundleModel *model)
{
  JsonObject *root = json_object_new ();
  JsonArray *frames = json_array_new ();

  for (guint i = 0; i < model->n_images; i++) {
    JsonObject *frame = json_object_new ();
    g_autofree gchar *name = g_utf8_make_valid (model->images[i].name, -1);

    json_object_set_string_member (frame, "file_path", name);
    json_object_set_int_member (frame, "colmap_im_id", model->images[i].id);
    json_array_add_object_element (frames, frame);
    transforms->image[i] = i;
  }
  json_object_set_array_member (root, "frames", frames);
  transforms->root = json_node_init_object (json_node_alloc (), root);
  json_object_unref (root);
}

BundleTransforms *
bundle_transforms_new (
    const BundleModel *model, const gchar *data, gsize size, GError **error)
{
  BundleTransforms *transforms = g_new0 (BundleTransforms, 1);
  gboolean ok = FALSE;

  transforms->world = (BundleAlignment){ { 1 }, { 0 }, 1 };
  if (data == NULL) {
    transforms->is_new = TRUE;
    transforms->n_frames = model->n_images;
    transforms->image = g_new (guint, model->n_images + 1);
    make_frames (transforms, model);
    return transforms;
  }
  transforms->root = parse_transforms (data, size, error);
  if (transforms->root) {
    transforms->n_frames = json_array_get_length (get_frames (transforms));
    transforms->image = g_new (guint, transforms->n_frames + 1);
    ok = find_images (transforms, model, error)
         && find_world (transforms, model, error);
  }
  if (ok)
    return transforms;
  bundle_transforms_free (transforms);
  return NULL;
}

/* --- poses ------------------------------------------------------------------------------- */

void
bundle_transforms_take_poses (
    const BundleTransforms *transforms, BundleModel *model)
{
  const BundleAlignment *world = &transforms->world;
  g_autofree guint8 *taken = g_new0 (guint8, model->n_images + 1);
  gdouble inverse[4];

  bundle_turn_invert (world->q, inverse);
  for (guint i = 0; i < transforms->n_frames; i++) {
    BundleModelImage *image;
    BundleAlignment pose;
    gdouble q[4], turned[4], moved[3], position[3];

    if (transforms->image[i] == G_MAXUINT || !get_pose (transforms, i, &pose))
      continue;
    image = &model->images[transforms->image[i]];
    bundle_turn_multiply (inverse, pose.q, turned);
    bundle_turn_multiply (turned, flip, q);
    for (guint k = 0; k < 3; k++)
      moved[k] = (pose.t[k] - world->t[k]) / world->scale;
    bundle_turn_vector (inverse, moved, position);
    bundle_turn_invert (q, image->q);
    bundle_turn_normalise (image->q);
    bundle_turn_vector (image->q, position, image->t);
    for (guint k = 0; k < 3; k++)
      image->t[k] = -image->t[k];
    image->moved = taken[transforms->image[i]] = TRUE;
  }
  bundle_model_move_frames (model, taken);
}

static void
set_pose (const BundleTransforms *transforms, const BundleModelImage *image,
    JsonObject *frame)
{
  gdouble inverse[4], turned[4], q[4], position[3], m[12], moved[3];

  bundle_turn_invert (image->q, inverse);
  bundle_turn_multiply (transforms->world.q, inverse, turned);
  bundle_turn_multiply (turned, flip, q);
  bundle_model_image_position (image, position);
  apply (&transforms->world, position, moved);
  for (guint k = 0; k < 3; k++) {
    gdouble axis[3] = { k == 0, k == 1, k == 2 }, column[3];

    bundle_turn_vector (q, axis, column);
    for (guint i = 0; i < 3; i++)
      m[4 * i + k] = column[i];
    m[4 * k + 3] = moved[k];
  }
  json_object_set_array_member (frame, "transform_matrix", make_matrix (m));
}

/* --- intrinsics -------------------------------------------------------------------------- */

/* Names of the parameters behind the principal point; %NULL: the file has no names */
static const gchar *const extras[BUNDLE_N_LENS_MODELS] = {
  [BUNDLE_LENS_SIMPLE_PINHOLE] = "",
  [BUNDLE_LENS_PINHOLE] = "",
  [BUNDLE_LENS_SIMPLE_RADIAL] = "k1",
  [BUNDLE_LENS_RADIAL] = "k1k2",
  [BUNDLE_LENS_OPENCV] = "k1k2p1p2",
  [BUNDLE_LENS_OPENCV_FISHEYE] = "k1k2k3k4",
  [BUNDLE_LENS_SIMPLE_RADIAL_FISHEYE] = "k1",
  [BUNDLE_LENS_RADIAL_FISHEYE] = "k1k2",
};

static gboolean
is_fisheye (BundleLensModel model)
{
  return model == BUNDLE_LENS_OPENCV_FISHEYE
         || model == BUNDLE_LENS_SIMPLE_RADIAL_FISHEYE
         || model == BUNDLE_LENS_RADIAL_FISHEYE;
}

static gboolean
check_picture_size (
    JsonObject *object, const gchar *name, guint64 size, GError **error)
{
  JsonNode *node = json_object_get_member (object, name);

  if (!node
      || (is_number (node) && json_node_get_double (node) == (gdouble) size))
    return TRUE;
  return cvis_refuse (error,
      "\"%s\" is not that of the camera, %" G_GUINT64_FORMAT
      ": the pictures were resized",
      name, size);
}

/* Sets the number if it is there already, or if it has to be. */
static void
set_number (JsonObject *object, const gchar *name, gdouble value, gboolean add)
{
  if (add || json_object_has_member (object, name))
    json_object_set_double_member (object, name, value);
}

/* @add: to a new file */
static gboolean
set_intrinsics (JsonObject *object, const BundleModelCamera *camera,
    gboolean add, GError **error)
{
  static const gchar *const names[] = { "k1", "k2", "k3", "k4", "p1", "p2" };
  const gchar *own = extras[camera->model];
  const gdouble *p = camera->parameters;
  const guint n = bundle_lens_info[camera->model].n_focal;
  const gdouble width = (gdouble) camera->width;
  const gdouble height = (gdouble) camera->height;

  if (own == NULL)
    return cvis_refuse (error,
        "it cannot hold camera %u: %s has no names there", camera->id,
        bundle_lens_info[camera->model].name);
  if (!check_picture_size (object, "w", camera->width, error)
      || !check_picture_size (object, "h", camera->height, error))
    return FALSE;
  if (add) {
    json_object_set_int_member (object, "w", (gint64) camera->width);
    json_object_set_int_member (object, "h", (gint64) camera->height);
  }
  set_number (object, "fl_x", p[0], TRUE);
  set_number (object, "fl_y", p[n - 1], TRUE);
  set_number (object, "cx", p[n], TRUE);
  set_number (object, "cy", p[n + 1], TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    const gchar *at = strstr (own, names[i]);
    const gdouble value = at ? p[n + 2 + (gsize) (at - own) / 2] : 0;

    set_number (
        object, names[i], value, at != NULL || (add && i != 2 && i != 3));
  }
  set_number (object, "camera_angle_x", 2 * atan (width / (2 * p[0])), FALSE);
  set_number (
      object, "camera_angle_y", 2 * atan (height / (2 * p[n - 1])), FALSE);
  if (add || json_object_has_member (object, "camera_model"))
    json_object_set_string_member (object, "camera_model",
        is_fisheye (camera->model) ? "OPENCV_FISHEYE" : "OPENCV");
  if (json_object_has_member (object, "is_fisheye"))
    json_object_set_boolean_member (
        object, "is_fisheye", is_fisheye (camera->model));
  return TRUE;
}

/* The camera of all known frames; G_MAXUINT: they have several */
static guint
find_only_camera (const BundleTransforms *transforms, const BundleModel *model)
{
  guint found = G_MAXUINT;

  for (guint i = 0; i < transforms->n_frames; i++)
    if (transforms->image[i] != G_MAXUINT) {
      const guint camera = model->images[transforms->image[i]].camera;

      if (found != G_MAXUINT && found != camera)
        return G_MAXUINT;
      found = camera;
    }
  return found;
}

gchar *
bundle_transforms_format (
    BundleTransforms *transforms, const BundleModel *model, GError **error)
{
  JsonObject *root = json_node_get_object (transforms->root);
  const guint only = find_only_camera (transforms, model);
  const gboolean is_new = transforms->is_new;
  const gboolean shared =
      json_object_has_member (root, "fl_x") || (is_new && only != G_MAXUINT);

  if (shared && only == G_MAXUINT) {
    cvis_refuse (error, "it has one camera for all frames, the model several");
    return NULL;
  }
  if (shared && !set_intrinsics (root, &model->cameras[only], is_new, error))
    return NULL;
  for (guint i = 0; i < transforms->n_frames; i++) {
    JsonObject *frame = get_frame (transforms, i);
    const BundleModelImage *image;

    if (transforms->image[i] == G_MAXUINT)
      continue;
    image = &model->images[transforms->image[i]];
    if ((is_new ? !shared : json_object_has_member (frame, "fl_x"))
        && !set_intrinsics (
            frame, &model->cameras[image->camera], is_new, error))
      return NULL;
    set_pose (transforms, image, frame);
  }
  return json_to_string (transforms->root, TRUE);
}

/* --- points ------------------------------------------------------------------------------ */

/* Reads the PLY that @root names. Returns: (nullable): without an error: it names none */
static BundleCloud *
read_points (
    JsonObject *root, const gchar *folder, gchar **name, GError **error)
{
  const gchar *path = get_member_text (root, "ply_file_path");
  g_autofree gchar *text = NULL;
  BundleCloud *cloud = NULL;
  gsize size;

  *name = NULL;
  if (path == NULL)
    return NULL;
  if (g_path_is_absolute (path) || strstr (path, "..")) {
    reject_transforms (
        error, "ply_file_path \"%s\" is not below the folder", path);
    return NULL;
  }
  *name = g_build_filename (folder, path, NULL);
  if (!g_file_get_contents (*name, &text, &size, error))
    return NULL;
  cloud = bundle_cloud_read (text, size, error);
  if (cloud == NULL)
    g_prefix_error (error, "%s: ", path);
  return cloud;
}

/* Whether the vertices are the points of the model */
static gboolean
has_points (const BundleTransforms *transforms, const BundleModel *model,
    const BundleCloud *cloud)
{
  gfloat low[3], high[3];
  gdouble extent = 0;

  if (cloud->n_vertices != model->n_points)
    return FALSE;
  bundle_cloud_box (cloud->positions, cloud->n_vertices, 0.9, low, high);
  for (guint k = 0; k < 3; k++)
    extent = MAX (extent, high[k] - low[k]);
  for (gsize i = 0; i < model->n_points; i++) {
    gdouble moved[3];

    apply (&transforms->world, model->points[i].x, moved);
    for (guint k = 0; k < 3; k++) {
      const gdouble at = cloud->positions[3 * i + k];

      if (!(fabs (at - moved[k]) <= SAME * MAX (extent, fabs (at))))
        return FALSE;
    }
  }
  return TRUE;
}

gchar *
bundle_transforms_find_points (const BundleTransforms *transforms,
    const BundleModel *model, const gchar *folder, GError **error)
{
  g_autofree gchar *name = NULL;
  GError *fault = NULL;
  BundleCloud *cloud = read_points (
      json_node_get_object (transforms->root), folder, &name, &fault);
  const gboolean same = cloud && has_points (transforms, model, cloud);

  if (cloud)
    bundle_cloud_free (cloud);
  if (fault)
    g_propagate_error (error, fault);
  else if (cloud && !same)
    cvis_refuse (error, "the points of %s are not those of the model", name);
  return same ? g_steal_pointer (&name) : NULL;
}

gchar *
bundle_transforms_format_points (
    const BundleTransforms *transforms, const BundleModel *model)
{
  GString *text = g_string_new ("ply\nformat ascii 1.0\n");

  g_string_append_printf (
      text, "element vertex %" G_GSIZE_FORMAT "\n", model->n_points);
  g_string_append (text, "property float x\nproperty float y\n"
                         "property float z\nproperty uint8 red\n"
                         "property uint8 green\nproperty uint8 blue\n"
                         "end_header\n");
  for (gsize i = 0; i < model->n_points; i++) {
    const BundleModelPoint *point = &model->points[i];
    gdouble moved[3];

    apply (&transforms->world, point->x, moved);
    for (guint k = 0; k < 3; k++) {
      gchar number[G_ASCII_DTOSTR_BUF_SIZE];

      g_ascii_formatd (number, sizeof number, "%.9g", (gfloat) moved[k]);
      g_string_append (text, number);
      g_string_append_c (text, ' ');
    }
    g_string_append_printf (text, "%u %u %u\n", point->colour[0],
        point->colour[1], point->colour[2]);
  }
  return g_string_free (text, FALSE);
}

/* --- the cloud --------------------------------------------------------------------------- */

/* A positive number of the frame, or else of the file; 0: there is none */
static gdouble
get_size (JsonObject *frame, JsonObject *root, const gchar *name)
{
  JsonNode *node = json_object_get_member (frame, name);

  if (node == NULL)
    node = json_object_get_member (root, name);
  return node && is_number (node) ? CLAMP (json_node_get_double (node), 0, 1e9)
                                  : 0;
}

static void
set_view (
    JsonObject *frame, JsonObject *root, gdouble *camera, BundleView *view)
{
  const gdouble angle = get_size (frame, root, "camera_angle_x");
  gdouble width = get_size (frame, root, "w"), height;
  gdouble focal = get_size (frame, root, "fl_x");

  width = width >= 1 ? width : 1000;
  height = get_size (frame, root, "h");
  height = height >= 1 ? height : width;
  if (!(focal > 0))
    focal = angle > 0 && angle < G_PI ? width / 2 / tan (angle / 2) : width;
  camera[BUNDLE_CAMERA_FOCAL] = focal;
  view->width = (guint) width;
  view->height = (guint) height;
}

static gboolean
set_cameras (
    const BundleTransforms *transforms, BundleProblem *problem, GError **error)
{
  JsonObject *root = json_node_get_object (transforms->root);

  for (guint i = 0; i < problem->n_cameras; i++) {
    gdouble *camera = problem->cameras + BUNDLE_CAMERA_SIZE * (gsize) i;
    BundleAlignment pose;
    gdouble q[4], turned[3];

    if (!get_pose (transforms, i, &pose))
      return reject_matrix (i, error);
    bundle_turn_invert (pose.q, q);
    bundle_rotation_from_quaternion (q, camera + BUNDLE_CAMERA_ROTATION);
    bundle_turn_vector (q, pose.t, turned);
    for (guint k = 0; k < 3; k++)
      camera[BUNDLE_CAMERA_TRANSLATION + k] = -turned[k];
    set_view (get_frame (transforms, i), root, camera, &problem->views[i]);
  }
  return TRUE;
}

static gboolean
set_points (BundleProblem *problem, const BundleCloud *points, GError **error)
{
  const gsize n = problem->n_points = points ? points->n_vertices : 0;

  problem->views = calloc (problem->n_cameras, sizeof *problem->views);
  problem->colours = malloc (3 * n + 1);
  if (!problem->views || !problem->colours) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "Not enough memory for %" G_GSIZE_FORMAT " points", n);
    return FALSE;
  }
  for (gsize i = 0; i < 3 * n; i++)
    problem->points[i] = points->positions[i];
  if (n > 0)
    memcpy (problem->colours, points->colours, 3 * n);
  return TRUE;
}

BundleCloud *
bundle_transforms_cloud (const gchar *data, gsize size, const gchar *folder,
    gchar **note, GError **error)
{
  BundleTransforms transforms = { .root =
                                      parse_transforms (data, size, error) };
  g_autoptr (BundleCloud) points = NULL;
  g_autoptr (BundleProblem) problem = NULL;
  g_autoptr (GError) fault = NULL;
  g_autofree gchar *name = NULL;
  BundleCloud *cloud = NULL;
  guint n;

  *note = NULL;
  if (transforms.root == NULL)
    return NULL;
  n = json_array_get_length (get_frames (&transforms));
  if (folder)
    points = read_points (
        json_node_get_object (transforms.root), folder, &name, &fault);
  if (fault)
    *note = g_strdup_printf ("the points are not shown: %s", fault->message);
  if (n == 0)
    reject_transforms (error, "it has no frames");
  else /* bundle_cloud_new() needs no observations, but there is no problem without */
    problem = bundle_problem_new (
        n, points ? MAX (points->n_vertices, 1) : 1, 1, error);
  if (problem && set_points (problem, points, error)
      && set_cameras (&transforms, problem, error))
    cloud = bundle_cloud_new (problem, NULL, error);
  json_node_unref (transforms.root);
  return cloud;
}
