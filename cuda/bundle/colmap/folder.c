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

#include "cuda/bundle/colmap/model.h"

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

static gboolean
write_all (gint file, GBytes *bytes)
{
  gsize n;
  const gchar *data = g_bytes_get_data (bytes, &n);

  while (n > 0) {
    const gssize written = write (file, data, MIN (n, (gsize) 1 << 30));

    if (written < 0 && errno != EINTR)
      return FALSE;
    if (written > 0) {
      data += written;
      n -= (gsize) written;
    }
  }
  return fsync (file) == 0;
}

/* Writes a file under a temporary name with the permissions of a new file. */
static gboolean
write_temporary (const gchar *name, GBytes *bytes, GError **error)
{
  gint file;
  gboolean ok;

  do
    file = g_open (name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  while (file < 0 && errno == EINTR); /* Ctrl-C */
  if (file < 0)
    return reject_file ("create", name, error);
  ok = write_all (file, bytes) || reject_file ("write", name, error);
  return (close (file) == 0 || (ok && reject_file ("write", name, error)))
         && ok;
}

gboolean
bundle_model_check_folder (const BundleModel *model, gboolean binary,
    const gchar *folder, GError **error)
{
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
  GBytes *files[BUNDLE_MODEL_FILES] = { NULL };
  gchar *names[BUNDLE_MODEL_FILES] = { NULL },
        *parts[BUNDLE_MODEL_FILES] = { NULL };
  gboolean ok;

  if (!bundle_model_check_folder (model, binary, folder, error)
      || !bundle_model_format (model, binary, files, error))
    return FALSE;
  ok = g_mkdir_with_parents (folder, 0777) == 0
       || reject_file ("create", folder, error);
  for (guint i = 0; i < BUNDLE_MODEL_FILES && ok; i++)
    if (files[i]) {
      names[i] =
          g_build_filename (folder, bundle_model_file_name (i, binary), NULL);
      parts[i] = g_strconcat (names[i], ".part", NULL);
      ok = write_temporary (parts[i], files[i], error);
    }
  for (guint i = 0; i < BUNDLE_MODEL_FILES; i++) {
    if (ok && parts[i] && g_rename (parts[i], names[i]) < 0)
      ok = reject_file ("rename", parts[i], error);
    if (!ok && parts[i])
      g_unlink (parts[i]);
    g_clear_pointer (&files[i], g_bytes_unref);
    g_free (names[i]);
    g_free (parts[i]);
  }
  return ok;
}
