/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* COLMAP's texts:
 *
 *   cameras.txt   CAMERA_ID MODEL WIDTH HEIGHT PARAMETERS
 *   images.txt    IMAGE_ID QW QX QY QZ TX TY TZ CAMERA_ID NAME
 *                 (X Y POINT3D_ID) ...         a line that may be empty
 *   points3D.txt  POINT3D_ID X Y Z R G B ERROR (IMAGE_ID POINT2D_IDX) ...
 *
 * Lines that begin with # are comments. */
#include <math.h>
#include <string.h>

#include "cuda/bundle/colmap/parts.h"
#include "cuda/bundle/formats/scanner.h"
#include "cuda/core/cancel.h"

/* A scanner at the first record; the comments before it are kept. */
static BundleScanner
begin_text (BundleModel *model, const BundleModelFile *files, guint file,
    const gchar *name)
{
  BundleScanner s =
      bundle_scan_new (name, files[file].data, files[file].size, TRUE);

  if (!bundle_scan_line (&s))
    s.at = s.end;
  while (s.at < s.end && s.at > s.start && s.at[-1] != '\n')
    s.at--;
  if (s.at > s.start && !memchr (s.start, 0, (gsize) (s.at - s.start)))
    model->comments[file] = g_strndup (s.start, (gsize) (s.at - s.start));
  return s;
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

static gsize
count_words (BundleScanner *s)
{
  gsize n = 0;

  for (; bundle_scan_more (s); n++)
    while (s->at < s->end && (guchar) *s->at > ' ')
      s->at++;
  bundle_scan_skip_line (s);
  return n;
}

static gboolean
check_count (const BundleScanner *s, const gchar *what, gsize n, GError **error)
{
  if (n >= 1 && n <= G_MAXINT32)
    return TRUE;
  return bundle_scan_fault (s, s->end, what, error,
      "%" G_GSIZE_FORMAT " is outside 1..2147483647", n);
}

static gboolean
scan_id (BundleScanner *s, const gchar *field, guint32 *id, GError **error)
{
  guint64 value;

  if (!bundle_scan_integer (s, field, 0, G_MAXUINT32, &value, error))
    return FALSE;
  *id = (guint32) value;
  return TRUE;
}

/* --- cameras.txt ---------------------------------------------------------------- */

static gboolean
read_lens_model (BundleScanner *s, BundleLensModel *model, GError **error)
{
  const gchar *at;
  gchar *name;
  gboolean found;

  bundle_scan_more (s);
  at = s->at;
  if (!bundle_scan_word (s, "MODEL", &name, error))
    return FALSE;
  found = bundle_lens_find (name, model);
  if (!found)
    bundle_scan_fault (s, at, "MODEL", error,
        "camera model %s is not supported; it must be one of COLMAP 3.8, "
        "SIMPLE_PINHOLE to THIN_PRISM_FISHEYE",
        name);
  g_free (name);
  return found;
}

static gboolean
read_text_camera (BundleScanner *s, BundleModelCamera *camera, GError **error)
{
  static const gchar *const fields[] = { "focal length", "principal point",
    "distortion" };

  if (!scan_id (s, "CAMERA_ID", &camera->id, error)
      || !read_lens_model (s, &camera->model, error)
      || !bundle_scan_integer (s, "WIDTH", 1, G_MAXINT32, &camera->width, error)
      || !bundle_scan_integer (
          s, "HEIGHT", 1, G_MAXINT32, &camera->height, error))
    return FALSE;
  for (guint i = 0; i < bundle_lens_size (camera->model); i++) {
    const guint n_focal = bundle_lens_info[camera->model].n_focal;
    const guint field = i < n_focal ? 0 : i < n_focal + 2 ? 1 : 2;

    if (!bundle_scan_number (s, fields[field], &camera->parameters[i], error))
      return FALSE;
  }
  return end_line (s, error);
}

static gboolean
read_text_cameras (
    BundleModel *model, const BundleModelFile *files, GError **error)
{
  BundleScanner s =
      begin_text (model, files, BUNDLE_MODEL_CAMERAS, "cameras.txt ");
  BundleScanner count = s;
  gsize n = 0;

  for (; bundle_scan_line (&count); bundle_scan_skip_line (&count))
    n++;
  if (n > G_MAXINT32)
    return check_count (&s, "cameras", n, error);
  if (!BUNDLE_MODEL_NEW (&model->cameras, n, "cameras"))
    return FALSE;
  for (; bundle_scan_line (&s); model->n_cameras++)
    if (!read_text_camera (&s, &model->cameras[model->n_cameras], error))
      return FALSE;
  return TRUE;
}

/* --- images.txt ------------------------------------------------------------------ */

static gboolean
read_text_feature (
    BundleScanner *s, BundleModelFeature *feature, GError **error)
{
  feature->point = BUNDLE_MODEL_NO_POINT;
  if (!bundle_scan_numbers (s, "POINTS2D", feature->at, 2, error))
    return FALSE;
  if (!bundle_scan_more (s) || *s->at != '-')
    return bundle_scan_integer (
        s, "POINT3D_ID", 0, G_MAXUINT64, &feature->point, error);
  if (s->end - s->at < 2 || s->at[1] != '1'
      || (s->end - s->at > 2 && (guchar) s->at[2] > ' '))
    return bundle_scan_fault (
        s, s->at, "POINT3D_ID", error, "it must be an integer >= -1");
  s->at += 2;
  return TRUE;
}

static gboolean
read_text_image (BundleScanner *s, BundleModel *model, BundleModelImage *image,
    GError **error)
{
  if (!scan_id (s, "IMAGE_ID", &image->id, error)
      || !bundle_scan_numbers (s, "QW QX QY QZ", image->q, 4, error)
      || !bundle_scan_numbers (s, "TX TY TZ", image->t, 3, error)
      || !scan_id (s, "CAMERA_ID", &image->camera, error)
      || !bundle_scan_rest (s, "NAME", &image->name, error))
    return FALSE;
  bundle_scan_skip_line (s);
  image->first = model->n_features;
  while (bundle_scan_more (s))
    if (!read_text_feature (s, &model->features[model->n_features++], error))
      return FALSE;
  image->n = model->n_features - image->first;
  model->blank |= image->n > 0 && s->at[-1] == ' ';
  bundle_scan_skip_line (s);
  return TRUE;
}

static gboolean
read_text_images (
    BundleModel *model, const BundleModelFile *files, GError **error)
{
  BundleScanner s =
      begin_text (model, files, BUNDLE_MODEL_IMAGES, "images.txt ");
  BundleScanner count = s;
  gsize n_images = 0, n_features = 0;

  for (; bundle_scan_line (&count); n_images++) {
    bundle_scan_skip_line (&count);
    n_features += (count_words (&count) + 2) / 3;
  }
  if (!check_count (&count, "images", n_images, error)
      || !BUNDLE_MODEL_NEW (&model->images, n_images, "images")
      || !BUNDLE_MODEL_NEW (&model->features, n_features, "features"))
    return FALSE;
  while (bundle_scan_line (&s))
    if (!read_text_image (&s, model, &model->images[model->n_images++], error))
      return FALSE;
  return TRUE;
}

/* --- points3D.txt ---------------------------------------------------------------- */

static gboolean
read_text_point (BundleScanner *s, BundleModel *model, BundleModelPoint *point,
    GError **error)
{
  if (!bundle_scan_integer (
          s, "POINT3D_ID", 0, G_MAXUINT64 - 1, &point->id, error)
      || !bundle_scan_numbers (s, "X Y Z", point->x, 3, error))
    return FALSE;
  for (guint k = 0; k < 3; k++) {
    guint64 colour;

    if (!bundle_scan_integer (s, "R G B", 0, 255, &colour, error))
      return FALSE;
    point->colour[k] = (guint8) colour;
  }
  if (!bundle_scan_number (s, "ERROR", &point->error, error))
    return FALSE;
  point->first = model->n_elements;
  while (bundle_scan_more (s)) {
    BundleModelElement *element = &model->elements[model->n_elements++];

    if (!scan_id (s, "IMAGE_ID of a track", &element->image, error)
        || !scan_id (s, "POINT2D_IDX of a track", &element->feature, error))
      return FALSE;
  }
  point->n = model->n_elements - point->first;
  bundle_scan_skip_line (s);
  return TRUE;
}

static gboolean
read_text_points (
    BundleModel *model, const BundleModelFile *files, GError **error)
{
  BundleScanner s =
      begin_text (model, files, BUNDLE_MODEL_POINTS, "points3D.txt ");
  BundleScanner count = s;
  gsize n_points = 0, n_elements = 0;

  for (; bundle_scan_line (&count); n_points++)
    n_elements += (count_words (&count) + 1) / 2;
  if (n_points > G_MAXINT32)
    return check_count (&count, "points", n_points, error);
  if (!BUNDLE_MODEL_NEW (&model->points, n_points, "points")
      || !BUNDLE_MODEL_NEW (&model->elements, n_elements, "elements of tracks"))
    return FALSE;
  while (bundle_scan_line (&s))
    if (!read_text_point (&s, model, &model->points[model->n_points++], error))
      return FALSE;
  return TRUE;
}

gboolean
bundle_model_parse_texts (
    BundleModel *model, const BundleModelFile *files, GError **error)
{
  return read_text_cameras (model, files, error)
         && read_text_images (model, files, error)
         && read_text_points (model, files, error);
}

/* --- writing ---------------------------------------------------------------------- */

void
bundle_model_text_number (BundleText *to, gdouble value)
{
  gchar number[G_ASCII_DTOSTR_BUF_SIZE];

  bundle_text_string (to, " ");
  bundle_text_string (
      to, g_ascii_formatd (number, sizeof number, "%.17g", value));
}

static void
write_numbers (BundleText *to, const gdouble *values, guint n)
{
  for (guint i = 0; i < n; i++)
    bundle_model_text_number (to, values[i]);
}

static void
write_text_cameras (const BundleModel *model, BundleText *to)
{
  for (guint i = 0; i < model->n_cameras; i++) {
    const BundleModelCamera *camera = &model->cameras[i];

    bundle_text_integer (to, 0, camera->id);
    bundle_text_string (to, " ");
    bundle_text_string (to, bundle_lens_info[camera->model].name);
    bundle_text_integer (to, ' ', camera->width);
    bundle_text_integer (to, ' ', camera->height);
    write_numbers (to, camera->parameters, bundle_lens_size (camera->model));
    bundle_text_string (to, "\n");
  }
}

static void
write_text_features (
    const BundleModel *model, const BundleModelImage *image, BundleText *to)
{
  for (gsize k = 0; k < image->n; k++) {
    const BundleModelFeature *feature = &model->features[image->first + k];
    gchar x[G_ASCII_DTOSTR_BUF_SIZE];

    bundle_text_string (to, k > 0 ? " " : "");
    bundle_text_string (
        to, g_ascii_formatd (x, sizeof x, "%.17g", feature->at[0]));
    bundle_model_text_number (to, feature->at[1]);
    if (feature->point == BUNDLE_MODEL_NO_POINT)
      bundle_text_string (to, " -1");
    else
      bundle_text_integer (to, ' ', feature->point);
  }
  bundle_text_string (to, model->blank && image->n > 0 ? " \n" : "\n");
}

static void
write_text_images (const BundleModel *model, BundleText *to)
{
  for (guint i = 0; i < model->n_images && !cvis_cancelled (); i++) {
    const BundleModelImage *image = &model->images[i];

    bundle_text_integer (to, 0, image->id);
    write_numbers (to, image->q, 4);
    write_numbers (to, image->t, 3);
    bundle_text_integer (to, ' ', model->cameras[image->camera].id);
    bundle_text_string (to, " ");
    bundle_text_string (to, image->name);
    bundle_text_string (to, "\n");
    write_text_features (model, image, to);
  }
}

static void
write_text_points (const BundleModel *model, BundleText *to)
{
  for (gsize i = 0; i < model->n_points && !cvis_cancelled_at (i); i++) {
    const BundleModelPoint *point = &model->points[i];

    bundle_text_integer (to, 0, point->id);
    write_numbers (to, point->x, 3);
    for (guint k = 0; k < 3; k++)
      bundle_text_integer (to, ' ', point->colour[k]);
    bundle_model_text_number (to, point->error);
    for (gsize k = 0; k < point->n; k++) {
      const BundleModelElement *element = &model->elements[point->first + k];

      bundle_text_integer (to, ' ', model->images[element->image].id);
      bundle_text_integer (to, ' ', element->feature);
    }
    bundle_text_string (to, "\n");
  }
}

void
bundle_model_format_texts (const BundleModel *model, BundleText *to)
{
  for (guint i = 0; i <= BUNDLE_MODEL_POINTS; i++)
    if (model->comments[i])
      bundle_text_string (&to[i], model->comments[i]);
  write_text_cameras (model, &to[BUNDLE_MODEL_CAMERAS]);
  write_text_images (model, &to[BUNDLE_MODEL_IMAGES]);
  write_text_points (model, &to[BUNDLE_MODEL_POINTS]);
}
