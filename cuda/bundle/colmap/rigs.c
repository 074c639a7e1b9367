/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* rigs.bin and frames.bin of COLMAP 3.12 and later, or the same with .txt. They are
 * kept as bytes; only poses change.
 *
 *   rigs.bin    n (64 bits), then: id, number of sensors (32), and if there are some:
 *               type, id of the first (32), and for each other: type, id, whether it
 *               has a pose (8), pose (7 doubles)
 *   frames.bin  n, then: id, id of the rig (32), pose (7 doubles), number of images
 *               (32), and for each: type, id of the sensor (32), id of the image (64)
 *   rigs.txt    RIG_ID NUM_SENSORS REF_SENSOR_TYPE REF_SENSOR_ID
 *               (SENSOR_TYPE SENSOR_ID HAS_POSE [QW QX QY QZ TX TY TZ]) ...
 *   frames.txt  FRAME_ID RIG_ID QW QX QY QZ TX TY TZ NUM_DATA_IDS (TYPE ID DATA_ID) ... */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/bundle/colmap/parts.h"
#include "cuda/bundle/formats/scanner.h"
#include "cuda/bundle/turn.h"
#include "cuda/core/cancel.h"

#define POSE 7
/* Poses that differ by more are not the same. */
#define NEAR 1e-6
#define CAMERA_SENSOR 0 /* type */

/**
 * Rigs: where rigs and frames of both kinds of files are added
 * @images, @cameras: index + 1 of each id
 * @rig_of: of each camera the id of its rig + 1; 0: none
 * @record, @id: of the rig or frame that is read; @rig: of the frame's; @n: number of the
 *   rig's sensors; @reference: index of its reference, as in BundleModelPlace
 */
typedef struct {
  BundleModel *model;
  const BundleModelFile *files;
  GHashTable *images, *cameras;
  guint64 *rig_of;
  gsize record;
  guint64 id, rig, n;
  guint32 reference;
  GError **error;
} Rigs;

#define RIG_FAULT(rigs, file, field, ...)                                      \
  bundle_model_fault ((rigs)->files, (rigs)->model->binary, file,              \
      (rigs)->record, (rigs)->id, field, (rigs)->error, __VA_ARGS__)

static BundleModelPlace
make_place (gsize at, gsize size, const gdouble pose[POSE])
{
  BundleModelPlace place = { at, size, .of = G_MAXUINT32 };

  memcpy (place.q, pose, sizeof place.q);
  memcpy (place.t, pose + 4, sizeof place.t);
  return place;
}

gboolean
bundle_model_is_place (const BundleModelPlace *place)
{
  gdouble sum = 0;

  for (guint i = 0; i < 4; i++)
    sum += place->q[i] * place->q[i];
  for (guint i = 0; i < 3; i++)
    if (!isfinite (place->t[i]))
      return FALSE;
  return sum > 0 && isfinite (sum);
}

/* A camera of the rig. @place: (nullable): its pose, if it is not the @reference */
static gboolean
add_sensor (Rigs *rigs, guint64 id, gboolean reference, BundleModelPlace *place)
{
  BundleModel *model = rigs->model;
  const guint found = GPOINTER_TO_UINT (
      g_hash_table_lookup (rigs->cameras, GSIZE_TO_POINTER (id)));
  const guint camera = found - 1;

  if (found == 0) /* and no image is of it */
    return TRUE;
  if (rigs->rig_of[camera] != 0
      && (!reference || model->sensor_of[camera] != BUNDLE_MODEL_REFERENCE))
    return RIG_FAULT (rigs, BUNDLE_MODEL_RIGS, "SENSOR_ID",
        "camera %" G_GUINT64_FORMAT " is a sensor of rig %" G_GUINT64_FORMAT
        " already",
        id, rigs->rig_of[camera] - 1);
  rigs->rig_of[camera] = rigs->id + 1;
  if (reference) {
    rigs->reference = camera;
    return TRUE;
  }
  if (!model->rig)
    model->rig = g_strdup_printf ("rig %" G_GUINT64_FORMAT
                                  " has %" G_GUINT64_FORMAT " sensors",
        rigs->id, rigs->n);
  model->sensor_of[camera] =
      place ? model->sensor_list->len : BUNDLE_MODEL_NO_POSE;
  if (place && !bundle_model_is_place (place))
    return RIG_FAULT (rigs, BUNDLE_MODEL_RIGS, "SENSOR_FROM_RIG",
        "the pose of camera %" G_GUINT64_FORMAT " is not a pose", id);
  if (place) {
    place->of = camera;
    place->reference = rigs->reference;
    g_array_append_vals (model->sensor_list, place, 1);
  }
  return TRUE;
}

/* An image of the last frame */
static gboolean
add_frame_image (Rigs *rigs, guint64 image_id)
{
  BundleModel *model = rigs->model;
  const guint image = bundle_model_find_image (rigs->images, image_id);
  const guint32 frame = model->frame_list->len - 1;
  BundleModelPlace *place =
      &g_array_index (model->frame_list, BundleModelPlace, frame);
  guint camera;

  if (image == G_MAXUINT)
    return RIG_FAULT (rigs, BUNDLE_MODEL_FRAMES, "DATA_ID",
        "%s has no image %" G_GUINT64_FORMAT,
        bundle_model_file_name (BUNDLE_MODEL_IMAGES, model->binary), image_id);
  if (model->frame_of[image] != BUNDLE_MODEL_NO_FRAME)
    return RIG_FAULT (rigs, BUNDLE_MODEL_FRAMES, "DATA_ID",
        "image %" G_GUINT64_FORMAT " is in a frame already", image_id);
  model->frame_of[image] = frame;
  camera = model->images[image].camera;
  if (model->sensor_of[camera] == BUNDLE_MODEL_REFERENCE)
    place->of = image;
  else if (rigs->rig_of[camera] != rigs->rig + 1)
    return RIG_FAULT (rigs, BUNDLE_MODEL_FRAMES, "DATA_ID",
        "image %" G_GUINT64_FORMAT " is of camera %u, which is not a sensor "
        "of rig %" G_GUINT64_FORMAT,
        image_id, model->cameras[camera].id, rigs->rig);
  return !model->rig || bundle_model_is_place (place)
         || RIG_FAULT (
             rigs, BUNDLE_MODEL_FRAMES, "RIG_FROM_WORLD", "it is not a pose");
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
take_pose_bytes (
    const BundleModelFile *file, gsize *at, BundleModelPlace *place)
{
  const gsize start = *at;
  gdouble pose[POSE];

  for (guint i = 0; i < POSE; i++) {
    guint64 bits;

    if (!take_bytes (file, at, &bits, sizeof bits))
      return FALSE;
    bits = GUINT64_FROM_LE (bits);
    memcpy (&pose[i], &bits, sizeof bits);
  }
  *place = make_place (start, *at - start, pose);
  return TRUE;
}

static gboolean
read_binary_rig (Rigs *rigs, gsize *at, gboolean *ok)
{
  const BundleModelFile *file = &rigs->files[BUNDLE_MODEL_RIGS];
  guint32 head[2], sensor[2];

  if (!take_integers (file, at, head, 2))
    return FALSE;
  rigs->id = head[0];
  rigs->n = head[1];
  rigs->reference = G_MAXUINT32;
  for (guint32 i = 0; i < head[1] && *ok; i++) {
    BundleModelPlace place;
    guint8 has_pose = 0;

    if (!take_integers (file, at, sensor, 2)
        || (i > 0 && !take_bytes (file, at, &has_pose, 1))
        || (has_pose && !take_pose_bytes (file, at, &place)))
      return FALSE;
    if (sensor[0] == CAMERA_SENSOR)
      *ok = add_sensor (rigs, sensor[1], i == 0, has_pose ? &place : NULL);
  }
  return TRUE;
}

static gboolean
read_binary_frame (Rigs *rigs, gsize *at, gboolean *ok)
{
  const BundleModelFile *file = &rigs->files[BUNDLE_MODEL_FRAMES];
  guint32 head[2], n, sensor[2];
  BundleModelPlace place;

  if (!take_integers (file, at, head, 2))
    return FALSE;
  rigs->id = head[0];
  rigs->rig = head[1];
  if (!take_pose_bytes (file, at, &place) || !take_integers (file, at, &n, 1))
    return FALSE;
  g_array_append_val (rigs->model->frame_list, place);
  for (guint32 i = 0; i < n && *ok; i++) {
    guint64 data;

    if (!take_integers (file, at, sensor, 2)
        || !take_bytes (file, at, &data, sizeof data))
      return FALSE;
    if (sensor[0] == CAMERA_SENSOR)
      *ok = add_frame_image (rigs, GUINT64_FROM_LE (data));
  }
  return TRUE;
}

/* Each record takes bytes of the file, so its length limits the loop. */
static gboolean
read_binary_records (Rigs *rigs, guint file)
{
  const BundleModelFile *bytes = &rigs->files[file];
  gsize at = 0;
  guint64 n;
  gboolean ok = TRUE, complete = take_bytes (bytes, &at, &n, sizeof n);

  rigs->id = 0;
  rigs->record = 0;
  if (complete)
    for (n = GUINT64_FROM_LE (n); ok && complete && rigs->record < n;
         rigs->record += ok)
      complete = file == BUNDLE_MODEL_RIGS ? read_binary_rig (rigs, &at, &ok)
                                           : read_binary_frame (rigs, &at, &ok);
  if (!ok)
    return FALSE;
  rigs->record -= rigs->record > 0;
  if (!complete || at < bytes->size)
    return RIG_FAULT (rigs, file, "end",
        complete ? "bytes follow the last record" : "the file ends in it");
  return TRUE;
}

/* --- texts -------------------------------------------------------------------- */

/* Type and id. @camera: (out): the sensor is one */
static gboolean
scan_sensor (BundleScanner *s, gboolean *camera, guint64 *id, GError **error)
{
  gchar *type;

  if (!bundle_scan_word (s, "SENSOR_TYPE", &type, error))
    return FALSE;
  *camera = strcmp (type, "CAMERA") == 0;
  g_free (type);
  return bundle_scan_integer (s, "SENSOR_ID", 0, G_MAXUINT32, id, error);
}

static gboolean
scan_place (Rigs *rigs, BundleScanner *s, guint file, const gchar *field,
    BundleModelPlace *place)
{
  const gchar *from = s->at;
  gdouble pose[POSE];

  if (!bundle_scan_numbers (s, field, pose, POSE, rigs->error))
    return FALSE;
  *place = make_place (
      (gsize) (from - rigs->files[file].data), (gsize) (s->at - from), pose);
  return TRUE;
}

static gboolean
read_text_rig (Rigs *rigs, BundleScanner *s)
{
  GError **error = rigs->error;

  if (!bundle_scan_integer (s, "RIG_ID", 0, G_MAXUINT32, &rigs->id, error)
      || !bundle_scan_integer (
          s, "NUM_SENSORS", 0, G_MAXUINT32, &rigs->n, error))
    return FALSE;
  rigs->reference = G_MAXUINT32;
  for (guint64 i = 0; i < rigs->n; i++) {
    guint64 id, has_pose = 0;
    BundleModelPlace place;
    gboolean camera;

    if (!scan_sensor (s, &camera, &id, error)
        || (i > 0
            && !bundle_scan_integer (s, "HAS_POSE", 0, 1, &has_pose, error))
        || (has_pose
            && !scan_place (
                rigs, s, BUNDLE_MODEL_RIGS, "SENSOR_FROM_RIG", &place))
        || (camera && !add_sensor (rigs, id, i == 0, has_pose ? &place : NULL)))
      return FALSE;
  }
  return TRUE;
}

static gboolean
read_text_frame (Rigs *rigs, BundleScanner *s)
{
  GError **error = rigs->error;
  BundleModelPlace place;
  guint64 n;

  if (!bundle_scan_integer (s, "FRAME_ID", 0, G_MAXUINT32, &rigs->id, error)
      || !bundle_scan_integer (s, "RIG_ID", 0, G_MAXUINT32, &rigs->rig, error)
      || !scan_place (rigs, s, BUNDLE_MODEL_FRAMES, "RIG_FROM_WORLD", &place)
      || !bundle_scan_integer (s, "NUM_DATA_IDS", 0, G_MAXUINT32, &n, error))
    return FALSE;
  g_array_append_val (rigs->model->frame_list, place);
  for (guint64 i = 0; i < n; i++) {
    guint64 sensor, data;
    gboolean camera;

    if (!scan_sensor (s, &camera, &sensor, error)
        || !bundle_scan_integer (s, "DATA_ID", 0, G_MAXUINT64, &data, error)
        || (camera && !add_frame_image (rigs, data)))
      return FALSE;
  }
  return TRUE;
}

static gboolean
read_text_records (Rigs *rigs, guint file)
{
  g_autofree gchar *name =
      g_strconcat (bundle_model_file_name (file, FALSE), " ", NULL);
  BundleScanner s = bundle_scan_new (
      name, rigs->files[file].data, rigs->files[file].size, TRUE);

  for (rigs->record = 0; bundle_scan_line (&s); rigs->record++) {
    if (!(file == BUNDLE_MODEL_RIGS ? read_text_rig (rigs, &s)
                                    : read_text_frame (rigs, &s)))
      return FALSE;
    bundle_scan_skip_line (&s);
  }
  return TRUE;
}

/* --- both --------------------------------------------------------------------- */

static gboolean
read_rig_file (Rigs *rigs, guint file)
{
  return rigs->model->binary ? read_binary_records (rigs, file)
                             : read_text_records (rigs, file);
}

gboolean
bundle_model_parse_rigs (
    BundleModel *model, const BundleModelFile *files, GError **error)
{
  const BundleModelFile *r = &files[BUNDLE_MODEL_RIGS];
  const BundleModelFile *f = &files[BUNDLE_MODEL_FRAMES];
  Rigs rigs = { model, files, .error = error };
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
  if (!BUNDLE_MODEL_NEW (&model->frame_of, model->n_images, "images")
      || !BUNDLE_MODEL_NEW (&model->sensor_of, model->n_cameras, "cameras")
      || !BUNDLE_MODEL_NEW (&rigs.rig_of, model->n_cameras, "cameras"))
    return FALSE;
  memset (model->frame_of, 0xff, model->n_images * sizeof *model->frame_of);
  memset (model->sensor_of, 0xff, model->n_cameras * sizeof *model->sensor_of);
  model->frame_list = g_array_new (FALSE, FALSE, sizeof (BundleModelPlace));
  model->sensor_list = g_array_new (FALSE, FALSE, sizeof (BundleModelPlace));
  rigs.images = g_hash_table_new (NULL, NULL);
  rigs.cameras = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < model->n_images; i++)
    g_hash_table_insert (rigs.images, GSIZE_TO_POINTER (model->images[i].id),
        GSIZE_TO_POINTER (i + 1));
  for (guint i = 0; i < model->n_cameras; i++)
    g_hash_table_insert (rigs.cameras, GSIZE_TO_POINTER (model->cameras[i].id),
        GSIZE_TO_POINTER (i + 1));
  ok = read_rig_file (&rigs, BUNDLE_MODEL_RIGS)
       && read_rig_file (&rigs, BUNDLE_MODEL_FRAMES);
  g_hash_table_unref (rigs.images);
  g_hash_table_unref (rigs.cameras);
  free (rigs.rig_of);
  if (!ok)
    return FALSE;
  model->rigs = g_bytes_new (r->data, r->size);
  model->frames = g_bytes_new (f->data, f->size);
  return TRUE;
}

gboolean
bundle_model_image_in_rig (
    const BundleModel *model, guint i, gdouble q[4], gdouble t[3])
{
  const BundleModelImage *image = &model->images[i];
  const BundleModelPlace *frame, *sensor;

  if (!model->frame_of || model->frame_of[i] == BUNDLE_MODEL_NO_FRAME
      || model->sensor_of[image->camera] == BUNDLE_MODEL_NO_POSE)
    return FALSE;
  frame =
      &g_array_index (model->frame_list, BundleModelPlace, model->frame_of[i]);
  memcpy (q, frame->q, sizeof frame->q);
  memcpy (t, frame->t, sizeof frame->t);
  if (model->sensor_of[image->camera] != BUNDLE_MODEL_REFERENCE) {
    sensor = &g_array_index (
        model->sensor_list, BundleModelPlace, model->sensor_of[image->camera]);
    bundle_turn_multiply (sensor->q, frame->q, q);
    bundle_turn_vector (sensor->q, frame->t, t);
    for (guint k = 0; k < 3; k++)
      t[k] += sensor->t[k];
  }
  bundle_turn_normalise (q);
  return TRUE;
}

/* --- poses of images ------------------------------------------------------------ */

/* Whether both poses are the same but for rounding */
static gboolean
are_near (const BundleModelImage *image, const gdouble q[4], const gdouble t[3])
{
  gdouble unit[4], size = 0, distance = 0;

  memcpy (unit, image->q, sizeof unit);
  bundle_turn_normalise (unit);
  for (guint i = 0; i < 3; i++) {
    size += fabs (t[i]);
    distance += fabs (t[i] - image->t[i]);
  }
  for (guint i = 0; i < 4; i++)
    if (!(fabs (unit[i] - q[i]) < NEAR || fabs (unit[i] + q[i]) < NEAR))
      return FALSE;
  return distance <= NEAR * size;
}

void
bundle_model_correct_images (BundleModel *model)
{
  for (guint i = 0; i < model->n_images; i++) {
    BundleModelImage *image = &model->images[i];
    gdouble q[4], t[3];

    if (!bundle_model_image_in_rig (model, i, q, t) || are_near (image, q, t))
      continue;
    memcpy (image->q, q, sizeof q);
    memcpy (image->t, t, sizeof t);
    image->moved = TRUE;
  }
}

/* The pose of the frame of image @i, as the image's is with that of its sensor */
static void
take_image_pose (BundleModel *model, guint i)
{
  const BundleModelImage *image = &model->images[i];
  const guint32 number = model->sensor_of[image->camera];
  BundleModelPlace *frame =
      &g_array_index (model->frame_list, BundleModelPlace, model->frame_of[i]);

  memcpy (frame->q, image->q, sizeof frame->q);
  memcpy (frame->t, image->t, sizeof frame->t);
  if (number != BUNDLE_MODEL_REFERENCE) {
    const BundleModelPlace *sensor =
        &g_array_index (model->sensor_list, BundleModelPlace, number);
    gdouble inverse[4], t[3];

    bundle_turn_invert (sensor->q, inverse);
    bundle_turn_multiply (inverse, image->q, frame->q);
    for (guint k = 0; k < 3; k++)
      t[k] = image->t[k] - sensor->t[k];
    bundle_turn_vector (inverse, t, frame->t);
  }
  bundle_turn_normalise (frame->q);
  frame->moved = TRUE;
}

void
bundle_model_move_frames (BundleModel *model, const guint8 *chosen)
{
  g_autofree guint32 *best = NULL; /* of each frame: an image */

  if (model->rig == NULL)
    return;
  best = g_new (guint32, model->frame_list->len + 1);
  memset (best, 0xff, model->frame_list->len * sizeof *best);
  for (guint i = 0; i < model->n_images; i++) {
    const guint32 frame = model->frame_of[i];
    const guint32 sensor = model->sensor_of[model->images[i].camera];

    if (chosen[i] && frame != BUNDLE_MODEL_NO_FRAME
        && sensor != BUNDLE_MODEL_NO_POSE
        && (best[frame] == G_MAXUINT32 || sensor == BUNDLE_MODEL_REFERENCE))
      best[frame] = i;
  }
  for (guint f = 0; f < model->frame_list->len; f++)
    if (best[f] != G_MAXUINT32)
      take_image_pose (model, best[f]);
  bundle_model_correct_images (model);
}

/* --- writing ------------------------------------------------------------------- */

static void
write_pose (const BundleModel *model, const gdouble q[4], const gdouble t[3],
    BundleText *to)
{
  for (guint i = 0; i < POSE; i++) {
    const gdouble value = i < 4 ? q[i] : t[i - 4];
    guint64 bits;

    memcpy (&bits, &value, sizeof bits);
    bits = GUINT64_TO_LE (bits);
    if (model->binary)
      bundle_text_bytes (to, &bits, sizeof bits);
    else
      bundle_model_text_number (to, value);
  }
}

/* The bytes of the file, with the places that have moved, in their order. Frames have the
 * poses of their images. */
void
bundle_model_format_rigs (const BundleModel *model, guint file, BundleText *to)
{
  const gboolean frames = file == BUNDLE_MODEL_FRAMES;
  const GArray *places = frames ? model->frame_list : model->sensor_list;
  gsize size, at = 0;
  const gchar *data =
      g_bytes_get_data (frames ? model->frames : model->rigs, &size);

  for (guint i = 0; i < places->len; i++) {
    const BundleModelPlace *place =
        &g_array_index (places, BundleModelPlace, i);
    const BundleModelImage *image =
        frames && place->of != G_MAXUINT32 ? &model->images[place->of] : NULL;

    if (image ? !image->moved : !place->moved)
      continue;
    bundle_text_bytes (to, data + at, place->at - at);
    write_pose (
        model, image ? image->q : place->q, image ? image->t : place->t, to);
    at = place->at + place->size;
  }
  bundle_text_bytes (to, data + at, size - at);
}
