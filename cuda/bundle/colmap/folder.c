/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Models as folders. */
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "cuda/bundle/colmap/parts.h"

const gchar *
bundle_model_file_name (guint file, gboolean binary)
{
  static const gchar *const names[2][BUNDLE_MODEL_FILES] = {
    { "cameras.txt", "images.txt", "points3D.txt", "rigs.txt", "frames.txt" },
    { "cameras.bin", "images.bin", "points3D.bin", "rigs.bin", "frames.bin" },
  };

  return names[binary ? 1 : 0][file];
}

static gboolean
has_file (const gchar *folder, guint file, gboolean binary)
{
  g_autofree gchar *name =
      g_build_filename (folder, bundle_model_file_name (file, binary), NULL);

  return g_file_test (name, G_FILE_TEST_EXISTS);
}

gboolean
bundle_model_is_folder (const gchar *folder)
{
  return has_file (folder, BUNDLE_MODEL_CAMERAS, TRUE)
         || has_file (folder, BUNDLE_MODEL_CAMERAS, FALSE);
}

/* --- reading ------------------------------------------------------------------ */

static gboolean
map_files (const gchar *folder, gboolean binary,
    GMappedFile *maps[BUNDLE_MODEL_FILES],
    BundleModelFile files[BUNDLE_MODEL_FILES], GError **error)
{
  for (guint i = 0; i < BUNDLE_MODEL_FILES; i++) {
    g_autofree gchar *name =
        g_build_filename (folder, bundle_model_file_name (i, binary), NULL);

    if (i > BUNDLE_MODEL_POINTS && !g_file_test (name, G_FILE_TEST_EXISTS))
      continue;
    maps[i] = g_mapped_file_new (name, FALSE, error);
    if (maps[i] == NULL)
      return FALSE;
    files[i].data = g_mapped_file_get_contents (maps[i]);
    files[i].size = g_mapped_file_get_length (maps[i]);
    if (files[i].data == NULL)
      files[i].data = ""; /* an empty file */
  }
  return TRUE;
}

BundleModel *
bundle_model_read (const gchar *folder, GError **error)
{
  GMappedFile *maps[BUNDLE_MODEL_FILES] = { NULL };
  BundleModelFile files[BUNDLE_MODEL_FILES] = { 0 };
  BundleModel *model = NULL;
  const gboolean binary = has_file (folder, BUNDLE_MODEL_CAMERAS, TRUE)
                          && has_file (folder, BUNDLE_MODEL_IMAGES, TRUE)
                          && has_file (folder, BUNDLE_MODEL_POINTS, TRUE);

  if (!binary && has_file (folder, BUNDLE_MODEL_CAMERAS, TRUE)
      && !has_file (folder, BUNDLE_MODEL_CAMERAS, FALSE)) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
        "%s has no %s beside cameras.bin", folder,
        has_file (folder, BUNDLE_MODEL_IMAGES, TRUE) ? "points3D.bin"
                                                     : "images.bin");
    return NULL;
  }
  if (map_files (folder, binary, maps, files, error))
    model = bundle_model_parse (files, binary, error);
  for (guint i = 0; i < BUNDLE_MODEL_FILES; i++)
    g_clear_pointer (&maps[i], g_mapped_file_unref);
  return model;
}

/* --- writing ------------------------------------------------------------------ */

static gboolean
reject_file (const gchar *what, const gchar *name, GError **error)
{
  const gint number = errno;

  g_set_error (error, G_FILE_ERROR, (gint) g_file_error_from_errno (number),
      "Cannot %s %s: %s", what, name, g_strerror (number));
  return FALSE;
}

/* A file being written */
typedef struct {
  const gchar *name;
  gint file;
} Output;

static gboolean
write_model_bytes (gconstpointer bytes, gsize n, gpointer data, GError **error)
{
  const Output *output = data;

  while (n > 0) {
    const gssize written =
        write (output->file, bytes, MIN (n, (gsize) 1 << 30));

    if (written < 0 && errno != EINTR)
      return reject_file ("write", output->name, error);
    if (written > 0) {
      bytes = (const gchar *) bytes + written;
      n -= (gsize) written;
    }
  }
  return TRUE;
}

/* Writes file @i under a temporary name with the permissions of a new file. */
static gboolean
write_temporary (const BundleModel *model, gboolean binary, guint i,
    CvisPool *pool, const gchar *name, GError **error)
{
  Output output = { name };
  gboolean ok;

  do
    output.file = g_open (name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  while (output.file < 0 && errno == EINTR); /* Ctrl-C */
  if (output.file < 0)
    return reject_file ("create", name, error);
  ok = bundle_model_format_file (
           model, binary, i, pool, write_model_bytes, &output, error)
       && (fsync (output.file) == 0 || reject_file ("write", name, error));
  return (close (output.file) == 0
             || (ok && reject_file ("write", name, error)))
         && ok;
}

gboolean
bundle_model_check_folder (const BundleModel *model, gboolean binary,
    const gchar *folder, GError **error)
{
  if (!bundle_model_check_rigs (model, binary, error))
    return FALSE;
  for (guint i = BUNDLE_MODEL_RIGS; i < BUNDLE_MODEL_FILES; i++)
    if (!model->rigs && has_file (folder, i, binary))
      return cvis_refuse (error,
          "%s contains %s, which does not belong to the new model: delete it, "
          "or write to another folder",
          folder, bundle_model_file_name (i, binary));
  return TRUE;
}

gboolean
bundle_model_write (const BundleModel *model, gboolean binary,
    const gchar *folder, GError **error)
{
  gchar *names[BUNDLE_MODEL_FILES] = { NULL },
        *parts[BUNDLE_MODEL_FILES] = { NULL };
  CvisPool *pool;
  gboolean ok;

  if (!bundle_model_check_folder (model, binary, folder, error))
    return FALSE;
  pool = bundle_model_new_pool (model);
  ok = g_mkdir_with_parents (folder, 0777) == 0
       || reject_file ("create", folder, error);
  for (guint i = 0; i < BUNDLE_MODEL_FILES && ok; i++)
    if (bundle_model_has_file (model, i)) {
      names[i] =
          g_build_filename (folder, bundle_model_file_name (i, binary), NULL);
      parts[i] = g_strconcat (names[i], ".part", NULL);
      ok = write_temporary (model, binary, i, pool, parts[i], error);
    }
  for (guint i = 0; i < BUNDLE_MODEL_FILES; i++) {
    if (ok && parts[i] && g_rename (parts[i], names[i]) < 0)
      ok = reject_file ("rename", parts[i], error);
    if (!ok && parts[i])
      g_unlink (parts[i]);
    g_free (names[i]);
    g_free (parts[i]);
  }
  cvis_pool_free (pool);
  return ok;
}
