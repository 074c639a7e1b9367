/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* rigs.bin and frames.bin of COLMAP 3.12 and later, or the same with .txt. They are
 * kept as bytes; only the poses of frames change, with those of their images.
 *
 *   rigs.bin    n (64 bits), then: id, number of sensors (32), and if there are some:
 *               type, id of the first (32), and for each other: type, id, whether it
 *               has a pose (8), pose (7 doubles)
 *   frames.bin  n, then: id, id of the rig (32), pose (7 doubles), number of images
 *               (32), and for each: type, id of the sensor (32), id of the image (64)
 *   rigs.txt    RIG_ID NUM_SENSORS ...
 *   frames.txt  FRAME_ID RIG_ID QW QX QY QZ TX TY TZ NUM_DATA_IDS (TYPE ID DATA_ID) ... */
#include <string.h>

#include "cuda/bundle/colmap/parts.h"
#include "cuda/bundle/formats/scanner.h"
#include "cuda/core/cancel.h"

#define POSE 7
#define CAMERA_SENSOR 0 /* type */

/* Where rigs and frames of both kinds of files are added */
typedef struct {
  BundleModel *model;
  const BundleModelFile *files;
  GHashTable *images;
  GError **error;
} Rigs;

static void
add_rig (Rigs *rigs, guint64 id, guint64 n_sensors)
{
  if (n_sensors > 1 && !rigs->model->rig)
    rigs->model->rig = g_strdup_printf ("rig %" G_GUINT64_FORMAT
                                        " has %" G_GUINT64_FORMAT " sensors",
        id, n_sensors);
}

static gboolean
add_frame_image (Rigs *rigs, gsize record, guint64 id, guint64 image_id,
    gsize pose, gsize size)
{
  const guint image = bundle_model_find_image (rigs->images, image_id);
  const BundleModelFrame frame = { pose, size, image };

  if (image == G_MAXUINT)
    return bundle_model_fault (rigs->files, rigs->model->binary,
        BUNDLE_MODEL_FRAMES, record, id, "DATA_ID", rigs->error,
        "%s has no image %" G_GUINT64_FORMAT,
        bundle_model_file_name (BUNDLE_MODEL_IMAGES, rigs->model->binary),
        image_id);
  g_array_append_val (rigs->model->frame_list, frame);
  return TRUE;
}

/* --- binary ------------------------------------------------------------------- */

/* Copies the next @n bytes to @to (nullable). Returns: FALSE where the file ends */
static gboolean
take_bytes (const BundleModelFile *file, gsize *at, gpointer to, gsize n)
{
  if (file->size - *at < n)
    return FALSE;
  if (to)
    memcpy (to, file->data + *at, n);
  *at += n;
  return TRUE;
}

static gboolean
take_integers (const BundleModelFile *file, gsize *at, guint32 *values, guint n)
{
  if (!take_bytes (file, at, values, n * sizeof *values))
    return FALSE;
  for (guint i = 0; i < n; i++)
    values[i] = GUINT32_FROM_LE (values[i]);
  return TRUE;
}

static gboolean
read_binary_rig (Rigs *rigs, gsize *at, guint32 *id)
{
  const BundleModelFile *file = &rigs->files[BUNDLE_MODEL_RIGS];
  guint32 head[2];
  guint8 has_pose;

  if (!take_integers (file, at, head, 2))
    return FALSE;
  *id = head[0];
  add_rig (rigs, head[0], head[1]);
  if (head[1] > 0 && !take_bytes (file, at, NULL, 8))
    return FALSE;
  for (guint32 i = 1; i < head[1]; i++)
    if (!take_bytes (file, at, NULL, 8) || !take_bytes (file, at, &has_pose, 1)
        || (has_pose && !take_bytes (file, at, NULL, POSE * sizeof (gdouble))))
      return FALSE;
  return TRUE;
}

static gboolean
read_binary_frame (
    Rigs *rigs, gsize record, gsize *at, guint32 *id, gboolean *ok)
{
  const BundleModelFile *file = &rigs->files[BUNDLE_MODEL_FRAMES];
  guint32 head[2], n, sensor[2];
  gsize pose;

  if (!take_integers (file, at, head, 2))
    return FALSE;
  *id = head[0];
  pose = *at;
  if (!take_bytes (file, at, NULL, POSE * sizeof (gdouble))
      || !take_integers (file, at, &n, 1))
    return FALSE;
  for (guint32 i = 0; i < n && *ok; i++) {
    guint64 data;

    if (!take_integers (file, at, sensor, 2)
        || !take_bytes (file, at, &data, sizeof data))
      return FALSE;
    if (sensor[0] == CAMERA_SENSOR)
      *ok = add_frame_image (rigs, record, *id, GUINT64_FROM_LE (data), pose,
          POSE * sizeof (gdouble));
  }
  return TRUE;
}

/* Each record takes bytes of the file, so its length limits the loop. */
static gboolean
read_binary_records (Rigs *rigs, guint file)
{
  const BundleModelFile *bytes = &rigs->files[file];
  gsize at = 0, record = 0;
  guint32 id = 0;
  guint64 n;
  gboolean ok = TRUE, complete = take_bytes (bytes, &at, &n, sizeof n);

  if (complete)
    for (n = GUINT64_FROM_LE (n); ok && complete && record < n; record++)
      complete = file == BUNDLE_MODEL_RIGS
                     ? read_binary_rig (rigs, &at, &id)
                     : read_binary_frame (rigs, record, &at, &id, &ok);
  if (!ok)
    return FALSE;
  if (!complete || at < bytes->size)
    return bundle_model_fault (rigs->files, TRUE, file,
        record > 0 ? record - 1 : 0, id, "end", rigs->error,
        complete ? "bytes follow the last record" : "the file ends in it");
  return TRUE;
}

/* --- texts -------------------------------------------------------------------- */

static gboolean
read_text_rigs (Rigs *rigs)
{
  const BundleModelFile *file = &rigs->files[BUNDLE_MODEL_RIGS];
  BundleScanner s = bundle_scan_new ("rigs.txt ", file->data, file->size, TRUE);

  for (; bundle_scan_line (&s); bundle_scan_skip_line (&s)) {
    guint64 id, n;

    if (!bundle_scan_integer (&s, "RIG_ID", 0, G_MAXUINT32, &id, rigs->error)
        || !bundle_scan_integer (
            &s, "NUM_SENSORS", 0, G_MAXUINT32, &n, rigs->error))
      return FALSE;
    add_rig (rigs, id, n);
  }
  return TRUE;
}

static gboolean
read_text_frame (Rigs *rigs, BundleScanner *s, gsize record)
{
  GError **error = rigs->error;
  const gchar *start = rigs->files[BUNDLE_MODEL_FRAMES].data, *from;
  guint64 id, rig, n;
  gdouble pose[POSE];
  gsize at, size;

  if (!bundle_scan_integer (s, "FRAME_ID", 0, G_MAXUINT32, &id, error)
      || !bundle_scan_integer (s, "RIG_ID", 0, G_MAXUINT32, &rig, error))
    return FALSE;
  from = s->at;
  if (!bundle_scan_numbers (s, "RIG_FROM_WORLD", pose, POSE, error))
    return FALSE;
  at = (gsize) (from - start);
  size = (gsize) (s->at - from);
  if (!bundle_scan_integer (s, "NUM_DATA_IDS", 0, G_MAXUINT32, &n, error))
    return FALSE;
  for (guint64 i = 0; i < n; i++) {
    guint64 sensor, data;
    gchar *type;
    gboolean camera;

    if (!bundle_scan_word (s, "SENSOR_TYPE", &type, error))
      return FALSE;
    camera = strcmp (type, "CAMERA") == 0;
    g_free (type);
    if (!bundle_scan_integer (s, "SENSOR_ID", 0, G_MAXUINT32, &sensor, error)
        || !bundle_scan_integer (s, "DATA_ID", 0, G_MAXUINT64, &data, error)
        || (camera && !add_frame_image (rigs, record, id, data, at, size)))
      return FALSE;
  }
  return TRUE;
}

static gboolean
read_text_frames (Rigs *rigs)
{
  const BundleModelFile *file = &rigs->files[BUNDLE_MODEL_FRAMES];
  BundleScanner s =
      bundle_scan_new ("frames.txt ", file->data, file->size, TRUE);

  for (gsize i = 0; bundle_scan_line (&s); i++) {
    if (!read_text_frame (rigs, &s, i))
      return FALSE;
    bundle_scan_skip_line (&s);
  }
  return TRUE;
}

/* --- both --------------------------------------------------------------------- */

static gboolean
read_rig_files (Rigs *rigs)
{
  if (rigs->model->binary)
    return read_binary_records (rigs, BUNDLE_MODEL_RIGS)
           && read_binary_records (rigs, BUNDLE_MODEL_FRAMES);
  return read_text_rigs (rigs) && read_text_frames (rigs);
}

gboolean
bundle_model_parse_rigs (
    BundleModel *model, const BundleModelFile *files, GError **error)
{
  const BundleModelFile *r = &files[BUNDLE_MODEL_RIGS];
  const BundleModelFile *f = &files[BUNDLE_MODEL_FRAMES];
  Rigs rigs = { model, files, NULL, error };
  gboolean ok;

  if (!r->data && !f->data)
    return TRUE;
  if (!r->data || !f->data) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT, "%s exists without %s",
        bundle_model_file_name (
            r->data ? BUNDLE_MODEL_RIGS : BUNDLE_MODEL_FRAMES, model->binary),
        bundle_model_file_name (
            r->data ? BUNDLE_MODEL_FRAMES : BUNDLE_MODEL_RIGS, model->binary));
    return FALSE;
  }
  model->frame_list = g_array_new (FALSE, FALSE, sizeof (BundleModelFrame));
  rigs.images = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < model->n_images; i++)
    g_hash_table_insert (rigs.images, GSIZE_TO_POINTER (model->images[i].id),
        GSIZE_TO_POINTER (i + 1));
  ok = read_rig_files (&rigs);
  g_hash_table_unref (rigs.images);
  if (!ok)
    return FALSE;
  model->rigs = g_bytes_new (r->data, r->size);
  model->frames = g_bytes_new (f->data, f->size);
  return TRUE;
}

static void
write_pose (
    const BundleModel *model, const BundleModelImage *image, BundleText *to)
{
  for (guint i = 0; i < POSE; i++) {
    const gdouble value = i < 4 ? image->q[i] : image->t[i - 4];
    guint64 bits;

    memcpy (&bits, &value, sizeof bits);
    bits = GUINT64_TO_LE (bits);
    if (model->binary)
      bundle_text_bytes (to, &bits, sizeof bits);
    else
      bundle_model_text_number (to, value);
  }
}

void
bundle_model_format_frames (const BundleModel *model, BundleText *to)
{
  gsize size, at = 0;
  const gchar *data = g_bytes_get_data (model->frames, &size);

  for (guint i = 0; i < model->frame_list->len; i++) {
    const BundleModelFrame *frame =
        &g_array_index (model->frame_list, BundleModelFrame, i);
    const BundleModelImage *image = &model->images[frame->image];

    if (!image->moved || frame->pose < at)
      continue;
    bundle_text_bytes (to, data + at, frame->pose - at);
    write_pose (model, image, to);
    at = frame->pose + frame->size;
  }
  bundle_text_bytes (to, data + at, size - at);
}
