/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "cuda/bundle/colmap/archive.h"
#include "cuda/bundle/pose.h"
#include "cuda/bundle/problem.h"
#include "cuda/core/cancel.h"

/* --- zip --------------------------------------------------------------------------------- */

#ifdef HAVE_ZIP

#include <zip.h>

#define PART (1 << 24) /* bytes between looks at the flag of cancellation */
/* Deflate cannot compress by more than 1032; other methods are not usual. */
#define GREATEST_RATIO 1100

static gboolean
refuse_member (zip_t *zip, zip_file_t *file, const gchar *name, GError **error)
{
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
      "cannot unpack %s of the zip archive: %s", name,
      file ? zip_file_strerror (file) : zip_strerror (zip));
  return FALSE;
}

/* Unpacks a member. @data: (out): g_free() */
static gboolean
unpack_member (zip_t *zip, const zip_stat_t *st, gchar **data, GError **error)
{
  zip_file_t *file;
  gsize done = 0;

  if (st->size / GREATEST_RATIO > st->comp_size || st->size >= G_MAXSSIZE
      || (*data = g_try_malloc (st->size + 1)) == NULL) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "%s of the zip archive has %" G_GUINT64_FORMAT
        " bytes: more than its %" G_GUINT64_FORMAT
        " packed ones can be, or than memory holds",
        st->name, (guint64) st->size, (guint64) st->comp_size);
    return FALSE;
  }
  file = zip_fopen_index (zip, st->index, 0);
  while (file && done < st->size && !cvis_cancelled ()) {
    const zip_int64_t n =
        zip_fread (file, *data + done, MIN (st->size - done, PART));

    if (n <= 0)
      break;
    done += (gsize) n;
  }
  if (done < st->size)
    refuse_member (zip, file, st->name, error);
  if (file)
    zip_fclose (file);
  return done == st->size;
}

static BundleModel *
read_members (zip_t *zip, GError **error)
{
  BundleModelFile parts[2][BUNDLE_MODEL_FILES] = { { { 0 } } };
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func (g_free);
  const zip_int64_t n = zip_get_num_entries (zip, 0);
  gboolean ok = TRUE;

  for (zip_int64_t i = 0; ok && i < n; i++) {
    zip_stat_t st;
    g_autofree gchar *name = NULL;
    gchar *data = NULL;

    if (zip_stat_index (zip, (zip_uint64_t) i, 0, &st) != 0
        || !(st.valid & ZIP_STAT_NAME) || !(st.valid & ZIP_STAT_SIZE)
        || !(st.valid & ZIP_STAT_COMP_SIZE)
        || !bundle_model_is_file_name (st.name))
      continue;
    name = g_path_get_basename (st.name);
    ok = unpack_member (zip, &st, &data, error);
    if (data)
      g_ptr_array_add (all, data);
    ok = ok && bundle_model_add_member (parts, name, data, st.size, error);
  }
  return ok ? bundle_model_parse_members (
             (const BundleModelFile (*)[BUNDLE_MODEL_FILES]) parts, error)
            : NULL;
}

static BundleModel *
read_zip (const gchar *data, gsize size, GError **error)
{
  zip_source_t *bytes = zip_source_buffer_create (data, size, 0, NULL);
  zip_t *zip = bytes ? zip_open_from_source (bytes, ZIP_RDONLY, NULL) : NULL;
  BundleModel *model = NULL;

  if (zip) {
    model = read_members (zip, error);
    zip_discard (zip);
    return model;
  }
  if (bytes)
    zip_source_free (bytes);
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
      "the zip archive is damaged: its list of files is not at its end");
  return NULL;
}

#else

static BundleModel *
read_zip (const gchar *data, gsize size, GError **error)
{
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
      "this build cannot read zip archives, because it has no libzip: unpack "
      "it");
  return NULL;
}

#endif

BundleModel *
bundle_model_read_archive (const gchar *data, gsize size, GError **error)
{
  return size >= 2 && memcmp (data, "PK", 2) == 0
             ? read_zip (data, size, error)
             : bundle_model_read_tar (data, size, error);
}

BundleModel *
bundle_model_open (const gchar *name, GError **error)
{
  GMappedFile *file;
  BundleModel *model = NULL;

  if (g_file_test (name, G_FILE_TEST_IS_REGULAR)
      && bundle_model_is_file_name (name)) {
    g_autofree gchar *folder = g_path_get_dirname (name);

    return bundle_model_read (folder, error);
  }
  if (!g_file_test (name, G_FILE_TEST_IS_REGULAR))
    return bundle_model_read (name, error);
  file = g_mapped_file_new (name, FALSE, error);
  if (file == NULL)
    return NULL;
  if (bundle_model_is_archive (
          g_mapped_file_get_contents (file), g_mapped_file_get_length (file)))
    model = bundle_model_read_archive (g_mapped_file_get_contents (file),
        g_mapped_file_get_length (file), error);
  else
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
        "it is neither a folder nor a tar or zip archive of a COLMAP model");
  g_mapped_file_unref (file);
  return model;
}

/* --- the cloud ---------------------------------------------------------------------------- */

BundleCloud *
bundle_model_cloud (const BundleModel *model, GError **error)
{
  g_autoptr (BundleProblem) problem = NULL;

  if (model->n_images == 0 || model->n_points == 0
      || model->n_points > G_MAXINT32) {
    cvis_refuse (error,
        "the model has %u images and %" G_GSIZE_FORMAT
        " points, too few or too many for a picture",
        model->n_images, model->n_points);
    return NULL;
  }
  /* bundle_cloud_new() needs no observations, but there is no problem without */
  problem =
      bundle_problem_new (model->n_images, (guint) model->n_points, 1, error);
  if (problem == NULL)
    return NULL;
  problem->colours = malloc (3 * model->n_points);
  problem->views = calloc (model->n_images, sizeof *problem->views);
  if (!problem->colours || !problem->views) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "Not enough memory for %" G_GSIZE_FORMAT " points", model->n_points);
    return NULL;
  }
  for (guint i = 0; i < model->n_images; i++) {
    const BundleModelImage *image = &model->images[i];
    const BundleModelCamera *camera = &model->cameras[image->camera];
    gdouble *to = problem->cameras + BUNDLE_CAMERA_SIZE * (gsize) i;

    bundle_pose_from_y_down (image->q, image->t, to);
    to[BUNDLE_CAMERA_FOCAL] = camera->parameters[0];
    problem->views[i].width = (guint) camera->width;
    problem->views[i].height = (guint) camera->height;
  }
  for (gsize i = 0; i < model->n_points; i++) {
    memcpy (
        problem->points + 3 * i, model->points[i].x, sizeof model->points[i].x);
    memcpy (problem->colours + 3 * i, model->points[i].colour, 3);
  }
  return bundle_cloud_new (problem, NULL, error);
}
