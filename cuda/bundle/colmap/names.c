/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/bundle/colmap/names.h"

#include <stdlib.h>
#include <string.h>

struct _BundleModelNames {
  GHashTable *names, *ids; /* to index + 1 */
};

BundleModelNames *
bundle_model_names_new (const BundleModel *model)
{
  BundleModelNames *names = g_new (BundleModelNames, 1);

  names->names = g_hash_table_new (g_str_hash, g_str_equal);
  names->ids = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < model->n_images; i++) {
    g_hash_table_insert (
        names->names, model->images[i].name, GUINT_TO_POINTER (i + 1));
    g_hash_table_insert (names->ids, GUINT_TO_POINTER (model->images[i].id),
        GUINT_TO_POINTER (i + 1));
  }
  return names;
}

void
bundle_model_names_free (BundleModelNames *names)
{
  g_hash_table_unref (names->names);
  g_hash_table_unref (names->ids);
  g_free (names);
}

/* A word, or text in quotes */
static gboolean
scan_name (BundleScanner *s, gchar **name, GError **error)
{
  const gchar *end;

  if (!bundle_scan_more (s) || *s->at != '"')
    return bundle_scan_word (s, "name of an image", name, error);
  for (end = s->at + 1; end < s->end && *end != '"' && *end != '\n'; end++)
    ;
  if (end == s->end || *end != '"')
    return bundle_scan_fault (
        s, s->at, "name of an image", error, "its second quote is missing");
  *name = g_strndup (s->at + 1, (gsize) (end - s->at - 1));
  s->at = end + 1;
  return TRUE;
}

gboolean
bundle_model_names_scan (const BundleModelNames *names, BundleScanner *s,
    guint *image, GError **error)
{
  const gchar *at;
  g_autofree gchar *name = NULL, *valid = NULL;
  guint64 id;
  gpointer found;

  bundle_scan_more (s);
  at = s->at;
  if (!scan_name (s, &name, error))
    return FALSE;
  found = g_hash_table_lookup (names->names, name);
  if (!found
      && g_ascii_string_to_unsigned (name, 10, 0, G_MAXUINT32, &id, NULL))
    found = g_hash_table_lookup (names->ids, GUINT_TO_POINTER ((guint) id));
  *image = GPOINTER_TO_UINT (found) - 1;
  if (found)
    return TRUE;
  valid = g_utf8_make_valid (name, -1);
  return bundle_scan_fault (s, at, "name of an image", error,
      "the model has no image with name or id %s", valid);
}

/* --- constants ------------------------------------------------------------------------- */

static gboolean
scan_image_parts (BundleScanner *s, BundleModelImage *image, GError **error)
{
  static const BundleScanBits known[] = { { "pose", 0x3f },
    { "rotation", 0x07 }, { "position", 0x38 } };

  return bundle_scan_bits (s, "parameters", known, G_N_ELEMENTS (known),
      "pose, rotation or position", &image->constant, error);
}

static gboolean
scan_camera_parts (BundleScanner *s, BundleModelCamera *camera, GError **error)
{
  const guint n_focal = bundle_lens_info[camera->model].n_focal;
  const guint16 all = (guint16) ((1u << bundle_lens_size (camera->model)) - 1);
  const guint16 focal = (guint16) ((1u << n_focal) - 1);
  const guint16 centre = (guint16) (3u << n_focal);
  const BundleScanBits known[] = { { "all", all }, { "focal", focal },
    { "centre", centre }, { "extra", (guint16) (all & ~(focal | centre)) },
    { "pose", BUNDLE_MODEL_SENSOR_POSE } };

  return bundle_scan_bits (s, "parameters", known, G_N_ELEMENTS (known),
      "all, focal, centre, extra or pose", &camera->constant, error);
}

static gboolean
scan_camera (BundleScanner *s, BundleModel *model, GError **error)
{
  const gchar *at;
  guint64 id;
  guint i = 0;

  bundle_scan_more (s);
  at = s->at;
  if (!bundle_scan_integer (s, "CAMERA_ID", 0, G_MAXUINT32, &id, error))
    return FALSE;
  while (i < model->n_cameras && model->cameras[i].id != id)
    i++;
  if (i == model->n_cameras)
    return bundle_scan_fault (s, at, "CAMERA_ID", error,
        "the model has no camera %" G_GUINT64_FORMAT, id);
  return scan_camera_parts (s, &model->cameras[i], error);
}

typedef struct {
  guint64 id;
  gsize index;
} PointId;

static gint
compare_point_ids (gconstpointer a, gconstpointer b)
{
  const PointId *x = a, *y = b;

  return x->id < y->id ? -1 : x->id > y->id;
}

/* @ids: (inout): sorted, made for the first point */
static gboolean
scan_point (BundleScanner *s, BundleModel *model, PointId **ids, GError **error)
{
  const gchar *at;
  const PointId *found;
  PointId wanted;

  if (*ids == NULL) {
    *ids = g_try_new (PointId, model->n_points + 1);
    if (*ids == NULL) {
      g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
          "Not enough memory for %" G_GSIZE_FORMAT " ids", model->n_points);
      return FALSE;
    }
    for (gsize i = 0; i < model->n_points; i++)
      (*ids)[i] = (PointId){ model->points[i].id, i };
    qsort (*ids, model->n_points, sizeof **ids, compare_point_ids);
  }
  bundle_scan_more (s);
  at = s->at;
  if (!bundle_scan_integer (s, "POINT3D_ID", 0, G_MAXUINT64, &wanted.id, error))
    return FALSE;
  found =
      bsearch (&wanted, *ids, model->n_points, sizeof **ids, compare_point_ids);
  if (!found)
    return bundle_scan_fault (s, at, "POINT3D_ID", error,
        "the model has no point %" G_GUINT64_FORMAT, wanted.id);
  model->points[found->index].constant = TRUE;
  if (bundle_scan_more (s))
    return bundle_scan_fault (
        s, s->at, "end of the line", error, "text follows");
  return TRUE;
}

static gboolean
scan_constant (BundleScanner *s, BundleModel *model,
    const BundleModelNames *names, PointId **ids, GError **error)
{
  g_autofree gchar *kind = NULL;
  const gchar *at = s->at;
  guint image;

  if (!bundle_scan_word (s, "start", &kind, error))
    return FALSE;
  if (strcmp (kind, "image") == 0)
    return bundle_model_names_scan (names, s, &image, error)
           && scan_image_parts (s, &model->images[image], error);
  if (strcmp (kind, "camera") == 0)
    return scan_camera (s, model, error);
  if (strcmp (kind, "point") == 0)
    return scan_point (s, model, ids, error);
  return bundle_scan_fault (
      s, at, "start", error, "it must be image, camera or point");
}

gboolean
bundle_model_read_constants (
    BundleModel *model, const gchar *data, gsize size, GError **error)
{
  BundleScanner s = bundle_scan_new ("", data, size, TRUE);
  BundleModelNames *names = bundle_model_names_new (model);
  PointId *ids = NULL;
  gboolean ok = TRUE;

  for (; ok && bundle_scan_line (&s); bundle_scan_skip_line (&s))
    ok = scan_constant (&s, model, names, &ids, error);
  bundle_model_names_free (names);
  g_free (ids);
  return ok;
}
