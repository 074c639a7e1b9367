/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* COLMAP's binary files. All numbers are little-endian.
 *
 *   cameras.bin   n (64 bits), then: id (32), model (32), width, height (64),
 *                 parameters (double)
 *   images.bin    n, then: id, q (4 doubles), t (3), camera id (32), name with a
 *                 final zero, number of features (64), and for each: x, y, point (64)
 *   points3D.bin  n, then: id (64), x, y, z, red, green, blue (8), error (double),
 *                 length of the track (64), and for each: image id, feature (32) */
#include <stdlib.h>
#include <string.h>

#include "cuda/bundle/colmap/parts.h"
#include "cuda/bundle/formats/text.h"
#include "cuda/core/cancel.h"

#define CAMERA_BYTES 24 /* of the smallest records */
#define IMAGE_BYTES 73
#define FEATURE_BYTES 24
#define POINT_BYTES 51
#define ELEMENT_BYTES 8
#define AHEAD 2048  /* bytes fetched before they are read */
#define POINTS 4096 /* read by a thread at once */

/**
 * Bytes: a file being read
 * @record: number of the record, from 0; @id: its id
 */
typedef struct {
  const BundleModelFile *files;
  guint file;
  const gchar *at, *end;
  gsize record;
  guint64 id;
} Bytes;

static gboolean
reject_bytes (const Bytes *b, const gchar *field, GError **error)
{
  return bundle_model_fault (b->files, TRUE, b->file, b->record, b->id, field,
      error, "the file ends before it, at byte %" G_GSIZE_FORMAT,
      b->files[b->file].size);
}

static gboolean
require_bytes (const Bytes *b, gsize n, const gchar *field, GError **error)
{
  return (gsize) (b->end - b->at) >= n || reject_bytes (b, field, error);
}

static guint32
take_32 (Bytes *b)
{
  guint32 value;

  memcpy (&value, b->at, sizeof value);
  b->at += sizeof value;
  return GUINT32_FROM_LE (value);
}

static guint64
take_64 (Bytes *b)
{
  guint64 value;

  memcpy (&value, b->at, sizeof value);
  b->at += sizeof value;
  return GUINT64_FROM_LE (value);
}

static void
take_doubles (Bytes *b, gdouble *to, gsize n)
{
  for (gsize i = 0; i < n; i++) {
    const guint64 bits = take_64 (b);

    memcpy (&to[i], &bits, sizeof bits);
  }
}

/* Begins a file: its number of records, which fits into the file. */
static gboolean
begin_file (Bytes *b, const BundleModelFile *files, guint file, gsize record,
    gsize low, gsize *n, GError **error)
{
  const gchar *name = bundle_model_file_name (file, TRUE);
  guint64 count;

  *b = (Bytes){ files, file, files[file].data,
    files[file].data + files[file].size };
  if (files[file].size < sizeof count) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
        "%s has %" G_GSIZE_FORMAT " bytes, too few for the number of records",
        name, files[file].size);
    return FALSE;
  }
  count = take_64 (b);
  *n = (gsize) count;
  if (count >= low && count <= G_MAXINT32
      && count <= (gsize) (b->end - b->at) / record)
    return TRUE;
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
      count < low ? "%s has %" G_GUINT64_FORMAT " records"
                  : "%s: its header names %" G_GUINT64_FORMAT
                    " records, more than its %" G_GSIZE_FORMAT
                    " bytes can hold",
      name, count, files[file].size);
  return FALSE;
}

static gboolean
end_file (const Bytes *b, GError **error)
{
  if (b->at == b->end)
    return TRUE;
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
      "%s: %" G_GSIZE_FORMAT " bytes follow the last record",
      bundle_model_file_name (b->file, TRUE), (gsize) (b->end - b->at));
  return FALSE;
}

/* Number of a list's elements, which fit into the file */
static gboolean
take_count (Bytes *b, gsize size, const gchar *field, gsize *n, GError **error)
{
  guint64 count;

  if (!require_bytes (b, sizeof count, field, error))
    return FALSE;
  count = take_64 (b);
  *n = (gsize) count;
  if (count <= (gsize) (b->end - b->at) / size)
    return TRUE;
  return bundle_model_fault (b->files, TRUE, b->file, b->record, b->id, field,
      error,
      "%" G_GUINT64_FORMAT " are more than the rest of the file can hold",
      count);
}

/* --- reading ------------------------------------------------------------------ */

static gboolean
read_binary_camera (Bytes *b, BundleModelCamera *camera, GError **error)
{
  guint32 model;

  b->id = 0;
  if (!require_bytes (b, CAMERA_BYTES, "CAMERA_ID", error))
    return FALSE;
  b->id = camera->id = take_32 (b);
  model = take_32 (b);
  camera->width = take_64 (b);
  camera->height = take_64 (b);
  if (model >= BUNDLE_N_LENS_MODELS) {
    const gchar *name = bundle_lens_name_later (model);

    return bundle_model_fault (b->files, TRUE, b->file, b->record, b->id,
        "MODEL", error, "camera model %d%s%s is not supported", (gint) model,
        name ? ", " : "", name ? name : "");
  }
  camera->model = (BundleLensModel) model;
  if (!require_bytes (b, bundle_lens_size (camera->model) * 8, "PARAMS", error))
    return FALSE;
  take_doubles (b, camera->parameters, bundle_lens_size (camera->model));
  return TRUE;
}

static gboolean
read_binary_cameras (
    BundleModel *model, const BundleModelFile *files, GError **error)
{
  Bytes b;
  gsize n;

  if (!begin_file (&b, files, BUNDLE_MODEL_CAMERAS, CAMERA_BYTES, 1, &n, error)
      || !BUNDLE_MODEL_NEW (&model->cameras, n, "cameras"))
    return FALSE;
  model->n_cameras = (guint) n;
  for (; b.record < n; b.record++)
    if (!read_binary_camera (&b, &model->cameras[b.record], error))
      return FALSE;
  return end_file (&b, error);
}

static gboolean
read_name (Bytes *b, BundleModelImage *image, GError **error)
{
  const gchar *end = memchr (b->at, 0, (gsize) (b->end - b->at));

  if (end == NULL)
    return reject_bytes (b, "NAME", error);
  if (memchr (b->at, '\n', (gsize) (end - b->at)))
    return bundle_model_fault (b->files, TRUE, b->file, b->record, b->id,
        "NAME", error, "it contains a line break");
  image->name = g_strndup (b->at, (gsize) (end - b->at));
  b->at = end + 1;
  return TRUE;
}

G_STATIC_ASSERT (sizeof (BundleModelFeature) == FEATURE_BYTES);

/* Between a file and memory, which have the same layout; numbers of 64 bits */
static void
copy_features (gpointer to, gconstpointer from, gsize bytes)
{
  memcpy (to, from, bytes);
#if G_BYTE_ORDER == G_BIG_ENDIAN
  for (gsize i = 0; i < bytes; i += 8) {
    guint64 value;

    memcpy (&value, (guint8 *) to + i, sizeof value);
    value = GUINT64_FROM_LE (value);
    memcpy ((guint8 *) to + i, &value, sizeof value);
  }
#endif
}

/* An image without its features */
static gboolean
read_binary_image (
    Bytes *b, BundleModel *model, BundleModelImage *image, GError **error)
{
  b->id = 0;
  if (!require_bytes (b, IMAGE_BYTES, "IMAGE_ID", error))
    return FALSE;
  b->id = image->id = take_32 (b);
  take_doubles (b, image->q, 4);
  take_doubles (b, image->t, 3);
  image->camera = take_32 (b);
  if (!read_name (b, image, error)
      || !take_count (b, FEATURE_BYTES, "POINTS2D", &image->n, error))
    return FALSE;
  image->first = model->n_features;
  model->n_features += image->n;
  return TRUE;
}

/**
 * Reading: one thread follows the lengths of the records, and others copy what these
 * contain.
 * @points: at the first record
 * @features: those of each image in the file
 * @parts: each POINTS points in the file; @first: number of the first element
 */
typedef struct {
  BundleModel *model;
  Bytes points;
  const gchar **features;
  struct {
    const gchar *at;
    gsize first;
  } * parts;
  GError *error;
} Reading;

static gboolean
read_binary_images (Reading *r, const BundleModelFile *files, GError **error)
{
  BundleModel *model = r->model;
  Bytes b;
  gsize n;

  if (!begin_file (&b, files, BUNDLE_MODEL_IMAGES, IMAGE_BYTES, 1, &n, error)
      || !BUNDLE_MODEL_NEW (&model->images, n, "images")
      || !BUNDLE_MODEL_NEW (&r->features, n, "images"))
    return FALSE;
  model->n_images = (guint) n;
  for (; b.record < n && !cvis_cancelled_at (b.record); b.record++) {
    BundleModelImage *image = &model->images[b.record];

    if (!read_binary_image (&b, model, image, error))
      return FALSE;
    r->features[b.record] = b.at;
    b.at += image->n * FEATURE_BYTES;
  }
  return cvis_cancelled () || end_file (&b, error);
}

/* Finds the parts, and counts the elements. */
static gboolean
find_binary_points (Reading *r, GError **error)
{
  BundleModel *model = r->model;
  Bytes b = r->points;
  gsize n;

  for (; b.record < model->n_points && !cvis_cancelled_at (b.record);
       b.record++) {
    if (b.record % POINTS == 0) {
      r->parts[b.record / POINTS].at = b.at;
      r->parts[b.record / POINTS].first = model->n_elements;
    }
    /* processors do not do this across pages */
    __builtin_prefetch (b.at + AHEAD);
    __builtin_prefetch (b.at + AHEAD + 64);
    b.id = 0;
    if (!require_bytes (&b, POINT_BYTES - 8, "POINT3D_ID", error))
      return FALSE;
    b.id = take_64 (&b);
    b.at += POINT_BYTES - 16;
    if (!take_count (&b, ELEMENT_BYTES, "TRACK", &n, error))
      return FALSE;
    b.at += n * ELEMENT_BYTES;
    model->n_elements += n;
  }
  r->parts[(model->n_points + POINTS - 1) / POINTS].first = model->n_elements;
  return cvis_cancelled () || end_file (&b, error);
}

/* Item 0 finds the points, as the images' features are copied. */
static void
copy_image_features (guint first, guint count, gpointer data)
{
  Reading *r = data;

  for (guint i = first; i < first + count; i++)
    if (i == 0) {
      find_binary_points (r, &r->error);
    } else {
      const BundleModelImage *image = &r->model->images[i - 1];

      copy_features (r->model->features + image->first, r->features[i - 1],
          image->n * FEATURE_BYTES);
    }
}

static void
read_binary_points (guint first, guint count, gpointer data)
{
  const Reading *r = data;
  BundleModel *model = r->model;
  Bytes b = { .at = r->parts[first].at };
  gsize element = r->parts[first].first;
  const gsize end = r->parts[first + count].first;

  for (gsize i = (gsize) first * POINTS;
       i < MIN ((gsize) (first + count) * POINTS, model->n_points); i++) {
    BundleModelPoint *point = &model->points[i];

    point->id = take_64 (&b);
    take_doubles (&b, point->x, 3);
    memcpy (point->colour, b.at, sizeof point->colour);
    b.at += sizeof point->colour;
    point->constant = FALSE;
    take_doubles (&b, &point->error, 1);
    point->first = element;
    point->n = take_64 (&b);
    point->n = MIN (point->n, end - element); /* the file may have changed */
    for (gsize k = 0; k < point->n; k++, element++) {
      model->elements[element].image = take_32 (&b);
      model->elements[element].feature = take_32 (&b);
    }
  }
}

static gboolean
read_binary (
    Reading *r, CvisPool *pool, const BundleModelFile *files, GError **error)
{
  BundleModel *model = r->model;
  guint n_parts;

  if (!read_binary_cameras (model, files, error)
      || !read_binary_images (r, files, error)
      || !begin_file (&r->points, files, BUNDLE_MODEL_POINTS, POINT_BYTES, 0,
          &model->n_points, error))
    return FALSE;
  n_parts = (guint) ((model->n_points + POINTS - 1) / POINTS);
  if (!BUNDLE_MODEL_NEW_UNSET (&model->features, model->n_features, "features")
      || !BUNDLE_MODEL_NEW (&r->parts, n_parts + 1, "points"))
    return FALSE;
  cvis_pool_run (pool, 1 + model->n_images, 1, copy_image_features, r);
  if (r->error) {
    g_propagate_error (error, r->error);
    return FALSE;
  }
  if (!BUNDLE_MODEL_NEW_UNSET (&model->points, model->n_points, "points")
      || !BUNDLE_MODEL_NEW_UNSET (
          &model->elements, model->n_elements, "elements of tracks"))
    return FALSE;
  cvis_pool_run (pool, n_parts, 1, read_binary_points, r);
  return !cvis_cancelled () || cvis_refuse_cancelled (error);
}

gboolean
bundle_model_parse_binary (BundleModel *model, CvisPool *pool,
    const BundleModelFile *files, GError **error)
{
  Reading r = { .model = model };
  const gboolean ok = read_binary (&r, pool, files, error);

  free (r.features);
  free (r.parts);
  return ok;
}

/* --- writing ------------------------------------------------------------------ */

static gchar *
store_32 (gchar *to, guint32 value)
{
  value = GUINT32_TO_LE (value);
  memcpy (to, &value, sizeof value);
  return to + sizeof value;
}

static gchar *
store_64 (gchar *to, guint64 value)
{
  value = GUINT64_TO_LE (value);
  memcpy (to, &value, sizeof value);
  return to + sizeof value;
}

static gchar *
store_doubles (gchar *to, const gdouble *values, guint n)
{
  for (guint i = 0; i < n; i++) {
    guint64 bits;

    memcpy (&bits, &values[i], sizeof bits);
    to = store_64 (to, bits);
  }
  return to;
}

static void
write_binary_camera (const BundleModelCamera *camera, BundleText *to)
{
  gchar *at =
      bundle_text_reserve (to, CAMERA_BYTES + sizeof camera->parameters);

  if (at == NULL)
    return;
  at = store_32 (at, camera->id);
  at = store_32 (at, camera->model);
  at = store_64 (at, camera->width);
  at = store_64 (at, camera->height);
  at = store_doubles (at, camera->parameters, bundle_lens_size (camera->model));
  to->n = (gsize) (at - to->data);
}

static void
write_binary_image (
    const BundleModel *model, const BundleModelImage *image, BundleText *to)
{
  const gsize n_name = strlen (image->name), bytes = image->n * FEATURE_BYTES;
  gchar *at = bundle_text_reserve (to, IMAGE_BYTES + n_name + bytes);

  if (at == NULL)
    return;
  at = store_32 (at, image->id);
  at = store_doubles (at, image->q, 4);
  at = store_doubles (at, image->t, 3);
  at = store_32 (at, model->cameras[image->camera].id);
  memcpy (at, image->name, n_name + 1);
  at = store_64 (at + n_name + 1, image->n);
  copy_features (at, model->features + image->first, bytes);
  to->n = (gsize) (at + bytes - to->data);
}

static void
write_binary_point (
    const BundleModel *model, const BundleModelPoint *point, BundleText *to)
{
  gchar *at = bundle_text_reserve (to, POINT_BYTES + point->n * ELEMENT_BYTES);

  if (at == NULL)
    return;
  at = store_64 (at, point->id);
  at = store_doubles (at, point->x, 3);
  memcpy (at, point->colour, sizeof point->colour);
  at = store_doubles (at + sizeof point->colour, &point->error, 1);
  at = store_64 (at, point->n);
  for (gsize k = 0; k < point->n; k++) {
    const BundleModelElement *element = &model->elements[point->first + k];

    at = store_32 (at, model->images[element->image].id);
    at = store_32 (at, element->feature);
  }
  to->n = (gsize) (at - to->data);
}

void
bundle_model_format_binary (const BundleModel *model, guint file, gsize first,
    gsize end, BundleText *to)
{
  const guint64 n =
      GUINT64_TO_LE (file == BUNDLE_MODEL_CAMERAS  ? model->n_cameras
                     : file == BUNDLE_MODEL_IMAGES ? model->n_images
                                                   : model->n_points);

  if (first == 0)
    bundle_text_bytes (to, &n, sizeof n);
  for (gsize i = first; i < end; i++)
    if (file == BUNDLE_MODEL_CAMERAS)
      write_binary_camera (&model->cameras[i], to);
    else if (file == BUNDLE_MODEL_IMAGES)
      write_binary_image (model, &model->images[i], to);
    else
      write_binary_point (model, &model->points[i], to);
}
