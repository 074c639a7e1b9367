/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Models of COLMAP with rigs of several sensors: reading, faults, the adjustment, and files
 * that agree after it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/bundle/colmap/adjust.h"
#include "cuda/bundle/colmap/names.h"
#include "cuda/bundle/colmap/parts.h"
#include "cuda/bundle/colmap/priors.h"
#include "cuda/bundle/engine.h"
#include "cuda/bundle/pose.h"
#include "cuda/bundle/turn.h"
#include "lensscenes.h"

#define FRAMES 12
#define POINTS 300
#define IMAGE_ID(i) (10 + 3 * (i)) /* of a camera of the problem */
#define CAMERA_ID(i) (7 + (i))     /* of a lens */
#define RIG_ID 5

static const BundleModelSettings refine_all = { TRUE, FALSE, TRUE, TRUE, TRUE,
  .refine_sensors = TRUE };

/* --- files ------------------------------------------------------------------------ */

/* An integer of 32 bits, or a text and a blank */
static void
put_integer (GString *to, gboolean binary, guint32 value)
{
  const guint32 bytes = GUINT32_TO_LE (value);

  if (binary)
    g_string_append_len (to, (const gchar *) &bytes, sizeof bytes);
  else
    g_string_append_printf (to, "%u ", value);
}

static void
put_sensor (GString *to, gboolean binary, guint32 id)
{
  if (binary)
    put_integer (to, TRUE, 0);
  else
    g_string_append (to, "CAMERA ");
  put_integer (to, binary, id);
}

static void
put_pose (GString *to, gboolean binary, const gdouble q[4], const gdouble t[3])
{
  for (guint k = 0; k < 7; k++) {
    const gdouble value = k < 4 ? q[k] : t[k - 4];
    gchar text[G_ASCII_DTOSTR_BUF_SIZE];

    if (binary)
      g_string_append_len (to, (const gchar *) &value, sizeof value);
    else
      g_string_append_printf (
          to, "%s ", g_ascii_formatd (text, sizeof text, "%.17g", value));
  }
}

/* The number of records, or a comment */
static GString *
begin_file (gboolean binary, guint32 n)
{
  GString *to = g_string_new (binary ? NULL : "# comment\n");

  if (binary) {
    put_integer (to, TRUE, n);
    put_integer (to, TRUE, 0);
  }
  return to;
}

/* COLMAP's axes have y and z the other way around. */
static void
get_sensor (const BundleProblem *p, guint s, gdouble q[4], gdouble t[3])
{
  const gdouble *pose = p->sensors[s].pose;

  bundle_rotation_to_quaternion (pose, q);
  for (guint k = 2; k < 4; k++)
    q[k] = -q[k];
  for (guint k = 0; k < 3; k++)
    t[k] = k > 0 ? -pose[3 + k] : pose[3 + k];
}

static GString *
write_rigs (const BundleProblem *p, gboolean binary)
{
  GString *to = begin_file (binary, 1);

  put_integer (to, binary, RIG_ID);
  put_integer (to, binary, p->n_lenses);
  put_sensor (to, binary, CAMERA_ID (0));
  for (guint s = 1; s < p->n_lenses; s++) {
    gdouble q[4], t[3];

    put_sensor (to, binary, CAMERA_ID (s));
    g_string_append (to, binary ? "\1" : "1 ");
    get_sensor (p, s, q, t);
    put_pose (to, binary, q, t);
  }
  if (!binary)
    to->str[to->len - 1] = '\n';
  return to;
}

static GString *
write_frames (const BundleProblem *p, gboolean binary)
{
  GString *to = begin_file (binary, p->n_frames);

  for (guint f = 0; f < p->n_frames; f++) {
    gdouble q[4], t[3];
    guint32 images = 0;

    put_integer (to, binary, 100 + f);
    put_integer (to, binary, RIG_ID);
    bundle_pose_to_y_down (p->frames + 9 * (gsize) f, q, t);
    put_pose (to, binary, q, t);
    for (guint c = 0; c < p->n_cameras; c++)
      images += p->frame_of[c] == f;
    put_integer (to, binary, images);
    for (guint c = 0; c < p->n_cameras; c++)
      if (p->frame_of[c] == f) {
        put_sensor (to, binary, CAMERA_ID (p->lens_of[c]));
        put_integer (to, binary, IMAGE_ID (c));
        if (binary) /* 64 bits */
          put_integer (to, TRUE, 0);
      }
    if (!binary)
      to->str[to->len - 1] = '\n';
  }
  return to;
}

/* Cameras, images and points of the problem as a model without rigs */
static BundleModel *
make_plain (const BundleProblem *p, gboolean binary)
{
  BundleModel *m = g_new0 (BundleModel, 1);
  gsize n = 0;

  m->binary = binary;
  m->n_cameras = p->n_lenses;
  m->n_images = p->n_cameras;
  m->n_points = p->n_points;
  m->n_features = m->n_elements = p->n_observations;
  m->cameras = calloc (m->n_cameras, sizeof *m->cameras);
  m->images = calloc (m->n_images, sizeof *m->images);
  m->points = calloc (m->n_points, sizeof *m->points);
  m->features = calloc (m->n_features, sizeof *m->features);
  m->elements = calloc (m->n_elements, sizeof *m->elements);
  for (guint i = 0; i < m->n_cameras; i++) {
    m->cameras[i] =
        (BundleModelCamera){ CAMERA_ID (i), p->lenses[i].model, 1620, 1180 };
    memcpy (m->cameras[i].parameters, p->lenses[i].parameters,
        sizeof p->lenses[i].parameters);
  }
  for (guint i = 0; i < m->n_images; i++) {
    BundleModelImage *image = &m->images[i];

    image->id = IMAGE_ID (i);
    image->camera = p->lens_of[i];
    image->name = g_strdup_printf ("%u.jpg", i);
    bundle_pose_to_y_down (p->cameras + 9 * (gsize) i, image->q, image->t);
    image->first = n;
    for (gsize k = 0; k < p->n_observations; k++)
      if (p->camera_of[k] == i) {
        memcpy (m->features[n].at, p->observed + 2 * k, 2 * sizeof (gdouble));
        m->features[n++].point = p->point_of[k] + 1;
      }
    image->n = n - image->first;
  }
  n = 0;
  for (guint i = 0; i < m->n_points; i++) {
    m->points[i] = (BundleModelPoint){ .id = i + 1, .first = n };
    memcpy (m->points[i].x, p->points + 3 * (gsize) i, 3 * sizeof (gdouble));
    for (guint c = 0; c < m->n_images; c++)
      for (guint k = 0; k < m->images[c].n; k++)
        if (m->features[m->images[c].first + k].point == i + 1)
          m->elements[n++] = (BundleModelElement){ c, k };
    m->points[i].n = n - m->points[i].first;
  }
  return m;
}

static BundleModel *
parse_bytes (GBytes **bytes, gboolean binary, GError **error)
{
  BundleModelFile files[BUNDLE_MODEL_FILES];

  for (guint i = 0; i < BUNDLE_MODEL_FILES; i++)
    files[i].data = g_bytes_get_data (bytes[i], &files[i].size);
  return bundle_model_parse (files, binary, error);
}

static void
write_problem (const BundleProblem *p, gboolean binary, GBytes **files)
{
  g_autoptr (BundleModel) plain = make_plain (p, binary);

  g_assert_true (bundle_model_format (plain, binary, files, NULL));
  files[BUNDLE_MODEL_RIGS] = g_string_free_to_bytes (write_rigs (p, binary));
  files[BUNDLE_MODEL_FRAMES] =
      g_string_free_to_bytes (write_frames (p, binary));
}

static void
free_bytes (GBytes **files)
{
  for (guint i = 0; i < BUNDLE_MODEL_FILES; i++)
    g_bytes_unref (files[i]);
}

/* @n sensors; without noise. @gaps: images that frames lack, as in bundle_lens_rig() */
static BundleProblem *
make_truth (guint n, gboolean gaps)
{
  BundleLens lenses[4];

  for (guint i = 0; i < n; i++)
    lenses[i] = bundle_lens_example (BUNDLE_LENS_SIMPLE_RADIAL);
  return bundle_lens_rig (lenses, n, FRAMES, POINTS, gaps);
}

static BundleProblem *
make_start (const BundleProblem *truth, gdouble noise)
{
  BundleProblem *p = bundle_problem_copy (truth, NULL);

  bundle_lens_disturb (p);
  for (gsize i = 0; i < 2 * p->n_observations; i++)
    p->observed[i] += noise * sin (7. * (gdouble) i);
  return p;
}

static BundleModel *
read_problem (const BundleProblem *p, gboolean binary)
{
  GBytes *files[BUNDLE_MODEL_FILES];
  GError *error = NULL;
  BundleModel *m;

  write_problem (p, binary, files);
  m = parse_bytes (files, binary, &error);
  g_assert_no_error (error);
  free_bytes (files);
  return m;
}

static BundleModelPlace *
sensor_at (const BundleModel *m, guint i)
{
  return &g_array_index (m->sensor_list, BundleModelPlace, i);
}

static BundleModelPlace *
frame_at (const BundleModel *m, guint i)
{
  return &g_array_index (m->frame_list, BundleModelPlace, i);
}

/* --- reading ------------------------------------------------------------------------ */

static void
test_rig_files (void)
{
  g_autoptr (BundleProblem) truth = make_truth (3, TRUE);

  for (guint binary = 0; binary < 2; binary++) {
    GBytes *files[BUNDLE_MODEL_FILES], *again[BUNDLE_MODEL_FILES];
    g_autoptr (BundleModel) m = NULL;
    GError *error = NULL;
    gdouble q[4], t[3];

    write_problem (truth, binary, files);
    m = parse_bytes (files, binary, &error);
    g_assert_no_error (error);
    g_assert_cmpstr (m->rig, ==, "rig 5 has 3 sensors");
    g_assert_cmpuint (m->frame_list->len, ==, FRAMES);
    g_assert_cmpuint (m->sensor_list->len, ==, 2);
    g_assert_cmpuint (m->sensor_of[0], ==, BUNDLE_MODEL_REFERENCE);
    g_assert_cmpuint (m->sensor_of[2], ==, 1);
    g_assert_cmpuint (sensor_at (m, 1)->of, ==, 2);
    g_assert_cmpuint (sensor_at (m, 1)->reference, ==, 0);
    get_sensor (truth, 2, q, t);
    g_assert_cmpmem (sensor_at (m, 1)->q, sizeof q, q, sizeof q);
    g_assert_cmpmem (sensor_at (m, 1)->t, sizeof t, t, sizeof t);
    for (guint i = 0; i < m->n_images; i++) {
      const guint32 of = frame_at (m, m->frame_of[i])->of;

      g_assert_cmpuint (m->frame_of[i], ==, truth->frame_of[i]);
      g_assert_cmpint (of == i, ==, truth->lens_of[i] == 0);
      g_assert_false (m->images[i].moved);
    }
    /* nothing has changed */
    g_assert_true (bundle_model_format (m, binary, again, NULL));
    for (guint i = 0; i < BUNDLE_MODEL_FILES; i++)
      g_assert_true (g_bytes_equal (files[i], again[i]));
    free_bytes (files);
    free_bytes (again);
  }
}

/* The poses of frames and sensors count. */
static void
test_rig_images (void)
{
  g_autoptr (BundleProblem) truth = make_truth (2, FALSE);
  g_autoptr (BundleProblem) other = bundle_problem_copy (truth, NULL);
  GBytes *files[BUNDLE_MODEL_FILES], *of_other[BUNDLE_MODEL_FILES];
  g_autoptr (BundleModel) m = NULL, expected = read_problem (truth, TRUE);
  g_autoptr (BundleProblem) p = NULL;
  BundleModelMap map;

  write_problem (truth, TRUE, files);
  other->cameras[9 * 5 + 3] += 0.5;
  write_problem (other, TRUE, of_other);
  g_bytes_unref (files[BUNDLE_MODEL_IMAGES]);
  files[BUNDLE_MODEL_IMAGES] = g_bytes_ref (of_other[BUNDLE_MODEL_IMAGES]);
  m = parse_bytes (files, TRUE, NULL);
  p = bundle_model_problem (m, &refine_all, &map, NULL);
  bundle_model_map_clear (&map);
  g_assert_cmpfloat (bundle_lens_cost (p), <, 1e-12);
  for (guint i = 0; i < m->n_images; i++) {
    g_assert_cmpint (m->images[i].moved, ==, i == 5);
    for (guint k = 0; k < 3; k++)
      g_assert_cmpfloat (
          fabs (m->images[i].t[k] - expected->images[i].t[k]), <, 1e-14);
  }
  free_bytes (files);
  free_bytes (of_other);
}

static void
check_rig_fault (GBytes **files, gboolean binary, const gchar *words)
{
  GError *error = NULL;

  g_assert_null (parse_bytes (files, binary, &error));
  if (!strstr (error->message, words))
    g_error ("\"%s\" is not in \"%s\"", words, error->message);
  g_error_free (error);
}

/* Replaces @from in a text. */
static void
check_changed_text (
    guint file, const gchar *from, const gchar *to, const gchar *words)
{
  g_autoptr (BundleProblem) truth = make_truth (2, FALSE);
  GBytes *files[BUNDLE_MODEL_FILES];
  g_autoptr (GString) text = NULL;
  const gchar *at;

  write_problem (truth, FALSE, files);
  text = g_string_new_len (g_bytes_get_data (files[file], NULL),
      (gssize) g_bytes_get_size (files[file]));
  at = strstr (text->str, from);
  g_assert_nonnull (at);
  g_string_erase (text, at - text->str, (gssize) strlen (from));
  g_string_insert (text, at - text->str, to);
  g_bytes_unref (files[file]);
  files[file] = g_bytes_new (text->str, text->len);
  check_rig_fault (files, FALSE, words);
  free_bytes (files);
}

static void
test_rig_faults (void)
{
  g_autoptr (BundleProblem) truth = make_truth (2, FALSE);
  GBytes *files[BUNDLE_MODEL_FILES];

  check_changed_text (BUNDLE_MODEL_RIGS, "# comment\n",
      "4 2 CAMERA 99 CAMERA 8 1 1 0 0 0 0 0 0\n",
      "rigs.txt line 2, SENSOR_ID: camera 8 is a sensor of rig 4 already");
  check_changed_text (BUNDLE_MODEL_RIGS, "# comment\n", "4 1 CAMERA 8\n",
      "camera 8 is a sensor of rig 4 already");
  check_changed_text (
      BUNDLE_MODEL_RIGS, "CAMERA 8 1 ", "CAMERA 8 2 ", "HAS_POSE");
  check_changed_text (
      BUNDLE_MODEL_RIGS, "CAMERA 8 1 ", "CAMERA 8 1 x", "SENSOR_FROM_RIG");
  check_changed_text (BUNDLE_MODEL_RIGS, "5 2 ", "6 2 ",
      "camera 8, which is not a sensor of rig 5");
  check_changed_text (BUNDLE_MODEL_FRAMES, "CAMERA 8 10 ", "CAMERA 8 13 ",
      "image 13 is in a frame already");
  check_changed_text (BUNDLE_MODEL_FRAMES, "CAMERA 8 10 ", "CAMERA 8 11 ",
      "images.txt has no image 11");
  /* a rotation of length 0 */
  write_problem (truth, TRUE, files);
  for (guint file = BUNDLE_MODEL_RIGS; file <= BUNDLE_MODEL_FRAMES; file++) {
    GBytes *start = files[file];
    const gsize size = g_bytes_get_size (start);
    gchar *bytes = g_memdup2 (g_bytes_get_data (start, NULL), size);

    memset (bytes + (file == BUNDLE_MODEL_RIGS ? 8 + 16 + 9 : 8 + 8), 0, 32);
    files[file] = g_bytes_new_take (bytes, size);
    check_rig_fault (files, TRUE,
        file == BUNDLE_MODEL_RIGS
            ? "rigs.bin record 1 (RIG_ID 5), SENSOR_FROM_RIG: the pose of "
              "camera 8 is not a pose"
            : "frames.bin record 1 (FRAME_ID 100), RIG_FROM_WORLD: it is not "
              "a pose");
    g_bytes_unref (files[file]);
    files[file] = start;
  }
  free_bytes (files);
}

/* Images that have no pose by their rig */
static void
test_rig_refused_images (void)
{
  g_autoptr (BundleProblem) truth = make_truth (2, FALSE);
  g_autoptr (BundleModel) m = read_problem (truth, TRUE);
  const guint32 sensor = m->sensor_of[1];

  for (guint i = 0; i < 2; i++) {
    GError *error = NULL;
    BundleModelMap map;
    guint32 image = 0;

    while (truth->lens_of[image] != 1)
      image++;
    m->sensor_of[1] = i == 0 ? BUNDLE_MODEL_NO_POSE : sensor;
    m->frame_of[image] = BUNDLE_MODEL_NO_FRAME;
    g_assert_null (bundle_model_problem (m, &refine_all, &map, &error));
    g_assert_nonnull (strstr (error->message,
        i == 0 ? "a sensor without a pose" : "it is in no frame"));
    g_error_free (error);
  }
}

/* --- adjusting ------------------------------------------------------------------------ */

typedef struct {
  gdouble cost;
  BundleModelMap map;
} Adjusted;

static Adjusted
adjust_rigs (BundleModel *m, const BundleModelSettings *settings)
{
  Adjusted done;
  BundleSummary summary;
  BundleConfig config;
  GError *error = NULL;
  BundleProblem *p = bundle_model_problem (m, settings, &done.map, &error);

  g_assert_no_error (error);
  bundle_config_init (&config);
  config.max_iterations = 100;
  config.function_tolerance = 1e-12;
  g_assert_true (bundle_solve (p, &config, NULL, NULL, NULL, &summary, &error));
  bundle_model_update (m, p, &done.map, 1);
  done.cost = summary.final_cost;
  bundle_summary_clear (&summary);
  bundle_problem_free (p);
  return done;
}

/* The poses of images are those of frames and sensors, in the files as well.
 * Returns: the model in the files */
static BundleModel *
check_poses (const BundleModel *m)
{
  GBytes *files[BUNDLE_MODEL_FILES];
  BundleModel *read;

  g_assert_true (bundle_model_format (m, m->binary, files, NULL));
  read = parse_bytes (files, m->binary, NULL);
  free_bytes (files);
  for (guint i = 0; i < read->n_images; i++) {
    const BundleModelImage *image = &read->images[i];
    gdouble q[4], t[3];

    g_assert_false (image->moved);
    g_assert_true (bundle_model_image_in_rig (read, i, q, t));
    for (guint k = 0; k < 4; k++)
      g_assert_cmpfloat (fabs (image->q[k] - q[k]), <, 1e-14);
    for (guint k = 0; k < 3; k++)
      g_assert_cmpfloat (fabs (image->t[k] - t[k]), <, 1e-13);
  }
  return read;
}

/* The cost is also that of the solver, so the move to COLMAP's coordinate frame keeps it. */
static void
check_agreement (const BundleModel *m, gdouble cost)
{
  g_autoptr (BundleModel) read = check_poses (m);
  g_autoptr (BundleProblem) p = NULL;
  BundleModelMap map;

  p = bundle_model_problem (
      read, &(BundleModelSettings){ .keep_behind = TRUE }, &map, NULL);
  g_assert_null (p->frames);
  g_assert_cmpfloat (
      fabs (bundle_lens_cost (p) - cost), <, 1e-9 * cost + 1e-15);
  bundle_model_map_clear (&map);
}

static void
test_rig_adjust (void)
{
  g_autoptr (BundleProblem) truth = make_truth (3, TRUE);
  g_autoptr (BundleProblem) start = make_start (truth, 0.3);

  for (guint binary = 0; binary < 2; binary++) {
    g_autoptr (BundleModel) m = read_problem (start, binary);
    g_autoptr (BundleModel) old = read_problem (start, binary);
    Adjusted done = adjust_rigs (m, &refine_all);
    const guint32 *held = done.map.gauge.image;
    const guint axis = done.map.gauge.axis;

    g_assert_true (done.map.gauge.held);
    g_assert_false (done.map.gauge.keep_scale);
    g_assert_cmpuint (truth->lens_of[held[0]], ==, 0); /* the reference */
    g_assert_cmpuint (truth->lens_of[held[1]], ==, 0);
    g_assert_cmpuint (truth->frame_of[held[0]], !=, truth->frame_of[held[1]]);
    g_assert_cmpmem (m->images[held[0]].q, 32, old->images[held[0]].q, 32);
    g_assert_cmpmem (m->images[held[0]].t, 24, old->images[held[0]].t, 24);
    g_assert_cmpfloat (
        fabs (m->images[held[1]].t[axis] - old->images[held[1]].t[axis]), <,
        1e-12);
    check_agreement (m, done.cost);
    for (guint s = 1; s < 3; s++) { /* noise of 0.3 pixels */
      gdouble q[4], t[3], dot = 0;

      get_sensor (truth, s, q, t);
      for (guint k = 0; k < 4; k++)
        dot += q[k] * sensor_at (m, s - 1)->q[k];
      g_assert_cmpfloat (2 * acos (fmin (fabs (dot), 1)), <, 1e-3);
    }
    bundle_model_map_clear (&done.map);
  }
}

/* Constant poses keep the bytes of their files. A constant sensor determines the scale. */
static void
test_rig_constant_parts (void)
{
  static const gchar list[] = "camera 8 pose\nimage 0.jpg pose\n";
  g_autoptr (BundleProblem) truth = make_truth (3, FALSE);
  g_autoptr (BundleProblem) start = make_start (truth, 0.3);

  for (guint i = 0; i < 4; i++) {
    g_autoptr (BundleModel) m = read_problem (start, TRUE);
    g_autoptr (BundleModel) old = read_problem (start, TRUE);
    const guint32 frame = m->frame_of[0];
    BundleModelSettings settings = refine_all;
    GBytes *files[BUNDLE_MODEL_FILES];
    Adjusted done;

    settings.refine_sensors = i != 1;
    settings.refine_poses = i != 2;
    settings.keep_rotations = i == 3;
    if (i == 0)
      g_assert_true (
          bundle_model_read_constants (m, list, strlen (list), NULL));
    done = adjust_rigs (m, &settings);
    check_agreement (m, done.cost);
    g_assert_true (bundle_model_format (m, TRUE, files, NULL));
    g_assert_cmpint (
        g_bytes_equal (files[BUNDLE_MODEL_RIGS], old->rigs), ==, i == 1);
    g_assert_cmpint (
        g_bytes_equal (files[BUNDLE_MODEL_FRAMES], old->frames), ==, i == 2);
    g_assert_cmpint (done.map.gauge.keep_scale, ==, i < 2);
    g_assert_cmpint (done.map.gauge.held, ==, i != 2);
    if (i == 0) {
      g_assert_cmpmem (sensor_at (m, 0)->q, 32, sensor_at (old, 0)->q, 32);
      g_assert_cmpmem (sensor_at (m, 0)->t, 24, sensor_at (old, 0)->t, 24);
      g_assert_cmpint (
          memcmp (sensor_at (m, 1)->q, sensor_at (old, 1)->q, 32), !=, 0);
      g_assert_cmpmem (
          frame_at (m, frame)->q, 32, frame_at (old, frame)->q, 32);
      g_assert_cmpmem (
          frame_at (m, frame)->t, 24, frame_at (old, frame)->t, 24);
    }
    free_bytes (files);
    bundle_model_map_clear (&done.map);
  }
}

/* Sensors whose reference has no observation are constant, as in COLMAP. An image without
 * observations follows its frame. */
static void
test_rig_without_reference (void)
{
  g_autoptr (BundleProblem) truth = make_truth (3, FALSE);
  g_autoptr (BundleProblem) start = make_start (truth, 0.3);
  g_autoptr (BundleModel) m = NULL;
  Adjusted done;
  gsize kept = 0;
  guint n_idle = 0;

  for (gsize i = 0; i < start->n_observations; i++) {
    if (truth->lens_of[start->camera_of[i]] == 0)
      continue;
    start->camera_of[kept] = start->camera_of[i];
    start->point_of[kept] = start->point_of[i];
    memcpy (start->observed + 2 * kept++, start->observed + 2 * i,
        2 * sizeof (gdouble));
  }
  start->n_observations = kept;
  m = read_problem (start, TRUE);
  done = adjust_rigs (m, &refine_all);
  for (guint i = 0; i < 2; i++)
    g_assert_false (sensor_at (m, i)->moved);
  for (guint i = 0; i < m->n_images; i++)
    n_idle += m->images[i].n == 0 && m->images[i].moved;
  g_assert_cmpuint (n_idle, ==, FRAMES - 1); /* the first frame is held */
  check_agreement (m, done.cost);
  bundle_model_map_clear (&done.map);
}

/* Priors of images by all sensors, of a turned, moved and larger scene: the whole model is
 * aligned to them, with the sensors, and the adjustment keeps that. */
static void
test_rig_priors (void)
{
  static const gdouble turn[4] = { 0.8, 0.2, -0.4, 0.4 }, by[3] = { 10, -5, 3 };
  const gdouble scale = 2.5;
  g_autoptr (BundleProblem) truth = make_truth (3, TRUE);
  g_autoptr (BundleProblem) start = make_start (truth, 0);

  for (guint all = 0; all < 2; all++) {
    g_autoptr (BundleModel) m = read_problem (start, TRUE);
    BundleModelSettings settings = refine_all;
    Adjusted done;

    settings.refine_poses = settings.refine_sensors = all;
    for (guint i = 0; i < m->n_images; i += 2) {
      gdouble centre[3], turned[3];

      bundle_pose_centre (truth->cameras + 9 * (gsize) i, centre);
      bundle_turn_vector (turn, centre, turned);
      for (guint k = 0; k < 3; k++)
        turned[k] = scale * turned[k] + by[k];
      g_assert_true (bundle_model_add_prior (m, i, turned, NULL, 0.01, NULL));
    }
    g_assert_true (bundle_model_align (m, NULL));
    g_assert_cmpfloat (bundle_model_prior_rms (m), <, 0.2);
    done = adjust_rigs (m, &settings);
    g_assert_false (done.map.gauge.held);
    if (all) {
      g_assert_cmpfloat (done.cost, <, 1e-9);
      g_assert_cmpfloat (bundle_model_prior_rms (m), <, 1e-6);
      for (guint s = 1; s < 3; s++) {
        gdouble q[4], t[3];

        get_sensor (truth, s, q, t);
        for (guint k = 0; k < 3; k++)
          g_assert_cmpfloat (
              fabs (sensor_at (m, s - 1)->t[k] - scale * t[k]), <, 1e-5);
      }
    }
    g_array_set_size (m->priors, 0);
    bundle_model_map_clear (&done.map);
    done = adjust_rigs (m, &(BundleModelSettings){ .keep_behind = TRUE });
    check_agreement (m, done.cost);
    bundle_model_map_clear (&done.map);
  }
}

static gboolean
has_reference (const BundleProblem *p, guint camera)
{
  for (guint i = 0; i < p->n_cameras; i++)
    if (p->frame_of[i] == p->frame_of[camera] && p->lens_of[i] == 0)
      return TRUE;
  return FALSE;
}

/* Frames get the poses of their images by the reference, and those without one that of
 * another image; the other images follow. */
static void
test_rig_poses (void)
{
  g_autoptr (BundleProblem) truth = make_truth (3, TRUE);
  g_autoptr (BundleProblem) start = bundle_problem_copy (truth, NULL);
  g_autoptr (BundleModel) expected = read_problem (truth, TRUE);
  g_autoptr (BundleModel) m = NULL;
  g_autofree guint8 *chosen = g_new0 (guint8, truth->n_cameras);

  for (guint i = 0; i < truth->n_frames; i++)
    start->frames[9 * (gsize) i + i % 6] += 0.1;
  bundle_problem_place_cameras (start);
  m = read_problem (start, TRUE);
  for (guint i = 0; i < m->n_images; i++) {
    const gboolean reference = truth->lens_of[i] == 0;

    memcpy (m->images[i].q, expected->images[i].q, 32);
    memcpy (m->images[i].t, expected->images[i].t, 24);
    m->images[i].moved = TRUE;
    m->images[i].t[0] += reference || !has_reference (truth, i) ? 0 : 0.5;
    chosen[i] = truth->frame_of[i] != 1;
  }
  bundle_model_move_frames (m, chosen);
  for (guint i = 0; i < m->n_images; i++)
    for (guint k = 0; k < 3; k++) {
      const gdouble off = m->images[i].t[k] - expected->images[i].t[k];

      if (chosen[i])
        g_assert_cmpfloat (fabs (off), <, 1e-12);
    }
  for (guint i = 0; i < m->frame_list->len; i++)
    g_assert_cmpint (frame_at (m, i)->moved, ==, i != 1);
  bundle_model_free (check_poses (m));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/bundlemodelrigs/files", test_rig_files);
  g_test_add_func ("/bundlemodelrigs/images", test_rig_images);
  g_test_add_func ("/bundlemodelrigs/faults", test_rig_faults);
  g_test_add_func ("/bundlemodelrigs/refused-images", test_rig_refused_images);
  g_test_add_func ("/bundlemodelrigs/adjust", test_rig_adjust);
  g_test_add_func ("/bundlemodelrigs/constants", test_rig_constant_parts);
  g_test_add_func (
      "/bundlemodelrigs/without-reference", test_rig_without_reference);
  g_test_add_func ("/bundlemodelrigs/priors", test_rig_priors);
  g_test_add_func ("/bundlemodelrigs/poses", test_rig_poses);
  return g_test_run ();
}
