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
#include <stdlib.h>
#include <string.h>

#include "cuda/bundle/colmap/number.h"
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

/* Words that begin in eight bytes. @before: whether the byte before is part of one */
static inline guint
count_in_eight (guint64 bytes, guint64 *before)
{
  const guint64 ones = G_GUINT64_CONSTANT (0x0101010101010101);
  const guint64 top = 0x80 * ones;
  /* the top bit of each byte above ' ' */
  const guint64 inside = (((bytes & ~top) + 0x5f * ones) | bytes) & top;
  const guint64 begin = inside & ~(inside << 8 | *before);

  *before = inside >> 56;
  return (guint) ((begin >> 7) * ones >> 56);
}

/* Words of a line */
static gsize
count_words (const gchar *at, const gchar *end)
{
  guint64 bytes, before = 0;
  gsize n = 0;

  for (; end - at >= 8; at += 8) {
    memcpy (&bytes, at, 8);
    n += count_in_eight (GUINT64_FROM_LE (bytes), &before);
  }
  bytes = 0;
  memcpy (&bytes, at, (gsize) (end - at));
  return n + count_in_eight (GUINT64_FROM_LE (bytes), &before);
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
 * All threads count the records, and the features or elements of tracks, in parts of
 * the text. Whether a line begins a record of two lines depends on all lines before, so
 * both are assumed, and a thread then follows which one holds. Then all threads read
 * the records that begin in their parts. */

#define PART (1 << 20) /* bytes */

/**
 * Counts: of the lines that begin in a part
 * @within: the next line is the second one of a record
 * @before: items before the first record; they belong to a record of an earlier part
 */
typedef struct {
  gboolean within;
  gsize records, before, items;
} Counts;

/**
 * Part:
 * @s: at its first line, then its first record
 * @counts: if this line begins a record, and if it is the second one
 * @first, @n: its records
 * @at, @end: its features or elements
 * @blank: a line of features ends with a blank
 */
typedef struct {
  BundleScanner s;
  Counts counts[2];
  gsize first, n, at, end;
  gboolean blank;
  GError *error;
} Part;

/**
 * Parse:
 * @s: at the first record
 * @lines: of a record; the last one has @head words and then items of @words
 * @read: reads record i
 */
typedef struct {
  BundleModel *model;
  BundleScanner s;
  guint lines, head, words;
  gboolean (*read) (Part *part, BundleModel *model, gsize i, GError **error);
  Part *parts;
  guint n_parts;
} Parse;

static void
count_line (const Parse *parse, gboolean empty, gsize items, Counts *counts)
{
  if (!counts->within && empty)
    return;
  counts->records += !counts->within;
  counts->within = !counts->within && parse->lines > 1;
  if (!counts->within)
    *(counts->records ? &counts->items : &counts->before) += items;
}

static void
count_part (const Parse *parse, Part *part, const gchar *end)
{
  BundleScanner s = part->s;

  while (s.at < end) {
    const gchar *line = s.at;
    gboolean empty;
    gsize n;

    bundle_scan_skip_line (&s);
    n = count_words (line, s.at);
    while (line < s.at && *line >= 0 && *line <= ' ')
      line++;
    empty = line == s.at || *line == '#';
    n = (MAX (n, parse->head) - parse->head + parse->words - 1) / parse->words;
    for (guint i = 0; i < parse->lines; i++)
      count_line (parse, empty, n, &part->counts[i]);
  }
}

static void
count_parts (guint first, guint count, gpointer data)
{
  const Parse *parse = data;

  for (guint i = first; i < first + count; i++) {
    Part *part = &parse->parts[i];
    const gchar *start = parse->s.at + i * (gsize) PART;
    const gchar *end = start + MIN (PART, parse->s.end - start);

    part->s = parse->s;
    part->counts[1].within = TRUE;
    if (i > 0 && start[-1] != '\n') {
      start = memchr (start, '\n', (gsize) (end - start));
      start = start ? start + 1 : end;
    }
    part->s.at = start;
    count_part (parse, part, end);
  }
}

/* @n_records, @n_items: (out) */
static gboolean
find_parts (CvisPool *pool, Parse *parse, gsize *n_records, gsize *n_items,
    GError **error)
{
  gboolean within = FALSE;
  Part none, *last = &none; /* part with a record */

  *n_records = *n_items = 0;
  parse->n_parts =
      (guint) (((gsize) (parse->s.end - parse->s.at) + PART - 1) / PART);
  if (!BUNDLE_MODEL_NEW (&parse->parts, parse->n_parts, "parts of a text"))
    return FALSE;
  cvis_pool_run (pool, parse->n_parts, 1, count_parts, parse);
  for (guint i = 0; i < parse->n_parts; i++) {
    Part *part = &parse->parts[i];
    const Counts *counts = &part->counts[within];

    if (within)
      bundle_scan_skip_line (&part->s);
    *n_items += counts->before;
    if (counts->records > 0) {
      last->end = part->at = *n_items;
      last = part;
    }
    part->first = *n_records;
    part->n = counts->records;
    *n_records += counts->records;
    *n_items += counts->items;
    within = counts->within;
  }
  last->end = *n_items;
  return !cvis_cancelled () || cvis_refuse_cancelled (error);
}

static void
read_part_records (guint first, guint count, gpointer data)
{
  const Parse *parse = data;

  for (guint i = first; i < first + count; i++) {
    Part *part = &parse->parts[i];

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

  cvis_pool_run (pool, parse->n_parts, 1, read_part_records, parse);
  for (guint i = 0; i < parse->n_parts; i++) {
    Part *part = &parse->parts[i];

    parse->model->blank |= part->blank;
    if (part->error && ok) {
      g_propagate_error (error, part->error);
      ok = FALSE;
    } else {
      g_clear_error (&part->error);
    }
  }
  return ok && (!cvis_cancelled () || cvis_refuse_cancelled (error));
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
  while (bundle_scan_more (s) && part->at < part->end)
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
  Parse parse = { .model = model,
    .s = begin_text (model, files, BUNDLE_MODEL_IMAGES, "images.txt "),
    .lines = 2,
    .words = 3,
    .read = read_text_image };
  gsize n;
  gboolean ok;

  ok = find_parts (pool, &parse, &n, &model->n_features, error)
       && check_count (&parse.s, "images", n, error)
       && BUNDLE_MODEL_NEW (&model->images, n, "images")
       && BUNDLE_MODEL_NEW_UNSET (
           &model->features, model->n_features, "features");
  if (ok) {
    model->n_images = (guint) n;
    ok = read_parts (pool, &parse, error);
  }
  free (parse.parts);
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
  point->constant = FALSE;
  if (!bundle_scan_number (s, "ERROR", &point->error, error))
    return FALSE;
  point->first = part->at;
  while (bundle_scan_more (s) && part->at < part->end) {
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
  Parse parse = { .model = model,
    .s = begin_text (model, files, BUNDLE_MODEL_POINTS, "points3D.txt "),
    .lines = 1,
    .head = 8,
    .words = 2,
    .read = read_text_point };
  gboolean ok;

  ok = find_parts (pool, &parse, &model->n_points, &model->n_elements, error)
       && (model->n_points <= G_MAXINT32
           || check_count (&parse.s, "points", model->n_points, error))
       && BUNDLE_MODEL_NEW_UNSET (&model->points, model->n_points, "points")
       && BUNDLE_MODEL_NEW_UNSET (
           &model->elements, model->n_elements, "elements of tracks")
       && read_parts (pool, &parse, error);
  free (parse.parts);
  return ok;
}

gboolean
bundle_model_parse_texts (BundleModel *model, CvisPool *pool,
    const BundleModelFile *files, GError **error)
{
  return read_text_cameras (model, files, error)
         && read_text_images (pool, model, files, error)
         && read_text_points (pool, model, files, error);
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
write_text_camera (const BundleModelCamera *camera, BundleText *to)
{
  bundle_text_integer (to, 0, camera->id);
  bundle_text_string (to, " ");
  bundle_text_string (to, bundle_lens_info[camera->model].name);
  bundle_text_integer (to, ' ', camera->width);
  bundle_text_integer (to, ' ', camera->height);
  write_numbers (to, camera->parameters, bundle_lens_size (camera->model));
  bundle_text_string (to, "\n");
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

static void
write_text_image (
    const BundleModel *model, const BundleModelImage *image, BundleText *to)
{
  bundle_text_integer (to, 0, image->id);
  write_numbers (to, image->q, 4);
  write_numbers (to, image->t, 3);
  bundle_text_integer (to, ' ', model->cameras[image->camera].id);
  bundle_text_string (to, " ");
  bundle_text_string (to, image->name);
  bundle_text_string (to, "\n");
  write_text_features (model, image, to);
}

static void
write_text_point (
    const BundleModel *model, const BundleModelPoint *point, BundleText *to)
{
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

void
bundle_model_format_texts (const BundleModel *model, guint file, gsize first,
    gsize end, BundleText *to)
{
  if (first == 0 && model->comments[file])
    bundle_text_string (to, model->comments[file]);
  for (gsize i = first; i < end; i++)
    if (file == BUNDLE_MODEL_CAMERAS)
      write_text_camera (&model->cameras[i], to);
    else if (file == BUNDLE_MODEL_IMAGES)
      write_text_image (model, &model->images[i], to);
    else
      write_text_point (model, &model->points[i], to);
}
