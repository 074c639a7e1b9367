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

#include "cuda/bundle/colmap/number.h"
#include "cuda/bundle/colmap/parts.h"
#include "cuda/bundle/formats/scanner.h"
#include "cuda/core/cancel.h"
#include "cuda/core/threadpool.h"

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

/* Words of the rest of the line, eight bytes at a time */
static gsize
count_words (BundleScanner *s)
{
  const guint64 ones = G_GUINT64_CONSTANT (0x0101010101010101);
  const guint64 top = 0x80 * ones;
  const gchar *at = s->at;
  guint64 before = 0; /* whether the byte before is part of a word */
  gsize n = 0;

  bundle_scan_skip_line (s);
  while (at < s->at) {
    guint64 bytes = 0, inside;

    memcpy (&bytes, at, MIN ((gsize) (s->at - at), sizeof bytes));
    bytes = GUINT64_FROM_LE (bytes);
    /* the top bit of each byte above ' ' */
    inside = (((bytes & ~top) + 0x5f * ones) | bytes) & top;
    n += ((inside & ~(inside << 8 | before)) >> 7) * ones >> 56;
    before = inside >> 56;
    at += sizeof bytes;
  }
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

/* --- parts of a text -------------------------------------------------------------
 *
 * A thread finds where the records of parts begin; then all threads count the features
 * or elements of tracks in the parts, and read them. */

#define IMAGES 16 /* records of a part */
#define POINTS 8192
#define LARGE (4 << 20) /* bytes worth threads */

/**
 * Part:
 * @s: at its first record
 * @first, @n: its records
 * @at: the next feature or element; before, their number
 * @blank: a line of features ends with a blank
 */
typedef struct {
  BundleScanner s;
  gsize first, n, at;
  gboolean blank;
  GError *error;
} Part;

/**
 * Parse:
 * @lines: of a record; @words: of an item on the last one
 * @read: reads record i
 */
typedef struct {
  BundleModel *model;
  guint lines, words;
  gboolean (*read) (Part *part, BundleModel *model, gsize i, GError **error);
  GArray *parts;
} Parse;

/* @size: records of a part; @n: (out): all records */
static void
find_parts (Parse *parse, BundleScanner s, gsize size, gsize *n)
{
  parse->parts = g_array_new (FALSE, FALSE, sizeof (Part));
  for (*n = 0; bundle_scan_line (&s); ++*n) {
    if (*n % size == 0) {
      const Part part = { .s = s, .first = *n };

      g_array_append_val (parse->parts, part);
    }
    g_array_index (parse->parts, Part, parse->parts->len - 1).n++;
    for (guint k = 0; k < parse->lines; k++)
      bundle_scan_skip_line (&s);
  }
}

static void
count_part_items (guint first, guint count, gpointer data)
{
  const Parse *parse = data;

  for (guint i = first; i < first + count; i++) {
    Part *part = &g_array_index (parse->parts, Part, i);
    BundleScanner s = part->s;

    for (gsize k = 0; k < part->n && bundle_scan_line (&s); k++) {
      if (parse->lines > 1)
        bundle_scan_skip_line (&s);
      part->at += (count_words (&s) + parse->words - 1) / parse->words;
    }
  }
}

/* Returns: FALSE with CVIS_ERROR_CANCELLED: the counts are incomplete */
static gboolean
count_items (CvisPool *pool, Parse *parse, gsize *n, GError **error)
{
  cvis_pool_run (pool, parse->parts->len, 1, count_part_items, parse);
  *n = 0;
  for (guint i = 0; i < parse->parts->len; i++) {
    Part *part = &g_array_index (parse->parts, Part, i);
    const gsize items = part->at;

    part->at = *n;
    *n += items;
  }
  return !cvis_cancelled () || cvis_refuse_cancelled (error);
}

static void
read_part_records (guint first, guint count, gpointer data)
{
  const Parse *parse = data;

  for (guint i = first; i < first + count; i++) {
    Part *part = &g_array_index (parse->parts, Part, i);

    for (gsize k = 0; k < part->n && bundle_scan_line (&part->s); k++)
      if (!parse->read (part, parse->model, part->first + k, &part->error))
        break;
  }
}

/* Returns: FALSE with the error of the first record that has one */
static gboolean
read_parts (CvisPool *pool, Parse *parse, GError **error)
{
  gboolean ok = TRUE;

  cvis_pool_run (pool, parse->parts->len, 1, read_part_records, parse);
  for (guint i = 0; i < parse->parts->len; i++) {
    Part *part = &g_array_index (parse->parts, Part, i);

    parse->model->blank |= part->blank;
    if (part->error && ok) {
      g_propagate_error (error, part->error);
      ok = FALSE;
    } else {
      g_clear_error (&part->error);
    }
  }
  return ok;
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
read_text_image (Part *part, BundleModel *model, gsize i, GError **error)
{
  BundleScanner *s = &part->s;
  BundleModelImage *image = &model->images[i];

  if (!scan_id (s, "IMAGE_ID", &image->id, error)
      || !bundle_scan_numbers (s, "QW QX QY QZ", image->q, 4, error)
      || !bundle_scan_numbers (s, "TX TY TZ", image->t, 3, error)
      || !scan_id (s, "CAMERA_ID", &image->camera, error)
      || !bundle_scan_rest (s, "NAME", &image->name, error))
    return FALSE;
  bundle_scan_skip_line (s);
  image->first = part->at;
  while (bundle_scan_more (s))
    if (!read_text_feature (s, &model->features[part->at++], error))
      return FALSE;
  image->n = part->at - image->first;
  part->blank |= image->n > 0 && s->at[-1] == ' ';
  bundle_scan_skip_line (s);
  return TRUE;
}

static gboolean
read_text_images (CvisPool *pool, BundleModel *model,
    const BundleModelFile *files, GError **error)
{
  BundleScanner s =
      begin_text (model, files, BUNDLE_MODEL_IMAGES, "images.txt ");
  Parse parse = {
    .model = model, .lines = 2, .words = 3, .read = read_text_image
  };
  gsize n_images;
  gboolean ok;

  find_parts (&parse, s, IMAGES, &n_images);
  ok = check_count (&s, "images", n_images, error)
       && BUNDLE_MODEL_NEW (&model->images, n_images, "images")
       && count_items (pool, &parse, &model->n_features, error)
       && BUNDLE_MODEL_NEW (&model->features, model->n_features, "features");
  if (ok) {
    model->n_images = (guint) n_images;
    ok = read_parts (pool, &parse, error);
  }
  g_array_unref (parse.parts);
  return ok;
}

/* --- points3D.txt ---------------------------------------------------------------- */

static gboolean
read_text_point (Part *part, BundleModel *model, gsize i, GError **error)
{
  BundleScanner *s = &part->s;
  BundleModelPoint *point = &model->points[i];

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
  point->first = part->at;
  while (bundle_scan_more (s)) {
    BundleModelElement *element = &model->elements[part->at++];

    if (!scan_id (s, "IMAGE_ID of a track", &element->image, error)
        || !scan_id (s, "POINT2D_IDX of a track", &element->feature, error))
      return FALSE;
  }
  point->n = part->at - point->first;
  bundle_scan_skip_line (s);
  return TRUE;
}

static gboolean
read_text_points (CvisPool *pool, BundleModel *model,
    const BundleModelFile *files, GError **error)
{
  BundleScanner s =
      begin_text (model, files, BUNDLE_MODEL_POINTS, "points3D.txt ");
  Parse parse = {
    .model = model, .lines = 1, .words = 2, .read = read_text_point
  };
  gboolean ok;

  find_parts (&parse, s, POINTS, &model->n_points);
  ok = (model->n_points <= G_MAXINT32
           || check_count (&s, "points", model->n_points, error))
       && BUNDLE_MODEL_NEW (&model->points, model->n_points, "points")
       && count_items (pool, &parse, &model->n_elements, error)
       && BUNDLE_MODEL_NEW (
           &model->elements, model->n_elements, "elements of tracks")
       && read_parts (pool, &parse, error);
  g_array_unref (parse.parts);
  return ok;
}

gboolean
bundle_model_parse_texts (
    BundleModel *model, const BundleModelFile *files, GError **error)
{
  CvisPool *pool = cvis_pool_new (
      files[BUNDLE_MODEL_IMAGES].size + files[BUNDLE_MODEL_POINTS].size < LARGE
          ? 1
          : 0);
  const gboolean ok = read_text_cameras (model, files, error)
                      && read_text_images (pool, model, files, error)
                      && read_text_points (pool, model, files, error);

  cvis_pool_free (pool);
  return ok;
}

/* --- writing ---------------------------------------------------------------------- */

/* @before: a character, or 0 */
static void
write_number (BundleText *to, gchar before, gdouble value)
{
  gchar *at = bundle_text_reserve (to, 1 + BUNDLE_MODEL_NUMBER_MAX);

  if (!at)
    return;
  if (before)
    *at++ = before;
  to->n = (gsize) (bundle_model_write_number (at, value) - to->data);
}

void
bundle_model_text_number (BundleText *to, gdouble value)
{
  write_number (to, ' ', value);
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

    write_number (to, k > 0 ? ' ' : 0, feature->at[0]);
    bundle_model_text_number (to, feature->at[1]);
    if (feature->point == BUNDLE_MODEL_NO_POINT)
      bundle_text_string (to, " -1");
    else
      bundle_text_integer (to, ' ', feature->point);
  }
  bundle_text_string (to, model->blank && image->n > 0 ? " \n" : "\n");
}

/* Chunks of records are formatted by all threads and then joined. */
typedef struct {
  const BundleModel *model;
  BundleText *chunks;
} Formatting;

static void
format_images (guint first, guint count, gpointer data)
{
  const Formatting *all = data;
  const BundleModel *model = all->model;

  for (guint chunk = first; chunk < first + count; chunk++) {
    BundleText *to = &all->chunks[chunk];

    for (guint i = chunk * IMAGES;
         i < MIN ((chunk + 1) * IMAGES, model->n_images); i++) {
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
}

static void
format_points (guint first, guint count, gpointer data)
{
  const Formatting *all = data;
  const BundleModel *model = all->model;

  for (guint chunk = first; chunk < first + count; chunk++) {
    BundleText *to = &all->chunks[chunk];
    const gsize end = MIN ((gsize) (chunk + 1) * POINTS, model->n_points);

    for (gsize i = (gsize) chunk * POINTS; i < end; i++) {
      const BundleModelPoint *point = &model->points[i];

      bundle_text_integer (to, 0, point->id);
      write_numbers (to, point->x, 3);
      for (guint k = 0; k < 3; k++)
        bundle_text_integer (to, ' ', point->colour[k]);
      write_number (to, ' ', point->error);
      for (gsize k = 0; k < point->n; k++) {
        const BundleModelElement *element = &model->elements[point->first + k];

        bundle_text_integer (to, ' ', model->images[element->image].id);
        bundle_text_integer (to, ' ', element->feature);
      }
      bundle_text_string (to, "\n");
    }
  }
}

/* Appends the @n chunks, which are freed. */
static void
join_chunks (BundleText *to, BundleText *chunks, guint n)
{
  gsize size = 0;

  for (guint i = 0; i < n; i++) {
    size += chunks[i].n;
    to->failed |= chunks[i].failed;
  }
  bundle_text_reserve (to, size);
  for (guint i = 0; i < n; i++) {
    bundle_text_bytes (to, chunks[i].data, chunks[i].n);
    g_free (chunks[i].data);
  }
}

static void
format_records (CvisPool *pool, const BundleModel *model, gsize n, guint size,
    CvisPoolFunc format, BundleText *to)
{
  const guint n_chunks = (guint) ((n + size - 1) / size);
  Formatting all = { model, g_new0 (BundleText, n_chunks) };

  cvis_pool_run (pool, n_chunks, 1, format, &all);
  join_chunks (to, all.chunks, n_chunks);
  g_free (all.chunks);
}

void
bundle_model_format_texts (const BundleModel *model, BundleText *to)
{
  CvisPool *pool;

  for (guint i = 0; i <= BUNDLE_MODEL_POINTS; i++)
    if (model->comments[i])
      bundle_text_string (&to[i], model->comments[i]);
  write_text_cameras (model, &to[BUNDLE_MODEL_CAMERAS]);
  pool = cvis_pool_new (model->n_features < 100000 ? 1 : 0);
  format_records (pool, model, model->n_images, IMAGES, format_images,
      &to[BUNDLE_MODEL_IMAGES]);
  format_records (pool, model, model->n_points, POINTS, format_points,
      &to[BUNDLE_MODEL_POINTS]);
  cvis_pool_free (pool);
}
