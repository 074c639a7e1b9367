/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/bundle/colmap/archive.h"

#include <string.h>

#include "cuda/bundle/formats/tar.h"

#define TAR_BLOCK 512
#define TAR_MAGIC 257
/* of a local header of zip, and where it has sizes */
#define ZIP_HEADER 30
#define ZIP_SIZE 18
#define ZIP_NAME 26
#define ZIP_EXTRA 28

guint
bundle_model_find_file (const gchar *name, gboolean *binary)
{
  guint i;

  for (*binary = FALSE; *binary <= TRUE; ++*binary)
    for (i = 0; i < BUNDLE_MODEL_FILES; i++)
      if (strcmp (name, bundle_model_file_name (i, *binary)) == 0)
        return i;
  return BUNDLE_MODEL_FILES;
}

gboolean
bundle_model_is_file_name (const gchar *name)
{
  const gchar *slash = strrchr (name, '/');
  gboolean binary;

  return bundle_model_find_file (slash ? slash + 1 : name, &binary)
         < BUNDLE_MODEL_FILES;
}

/* --- detection --------------------------------------------------------------------------- */

static gboolean
is_model_tar (const gchar *data, gsize size)
{
  BundleTar tar = { .data = data, .size = size };
  gboolean is = size >= TAR_BLOCK && memcmp (data + TAR_MAGIC, "ustar", 5) == 0;

  while (is && bundle_tar_next (&tar, NULL))
    if (tar.name) {
      is = bundle_model_is_file_name (tar.name);
      bundle_tar_clear (&tar);
      return is;
    }
  bundle_tar_clear (&tar);
  return FALSE;
}

static gsize
get_le (const gchar *data, guint n)
{
  gsize value = 0;

  while (n-- > 0)
    value = value << 8 | (guchar) data[n];
  return value;
}

/* Folders, which are empty, may precede the first file. */
static gboolean
is_model_zip (const gchar *data, gsize size)
{
  while (size >= ZIP_HEADER && memcmp (data, "PK\3\4", 4) == 0) {
    const gsize n = get_le (data + ZIP_NAME, 2);
    const gsize next = ZIP_HEADER + n + get_le (data + ZIP_EXTRA, 2);
    g_autofree gchar *name = NULL;

    if (n == 0 || ZIP_HEADER + n > size)
      return FALSE;
    name = g_strndup (data + ZIP_HEADER, n);
    if (!g_str_has_suffix (name, "/"))
      return bundle_model_is_file_name (name);
    if (get_le (data + ZIP_SIZE, 4) > 0 || next > size)
      return FALSE;
    data += next;
    size -= next;
  }
  return FALSE;
}

gboolean
bundle_model_is_archive (const gchar *data, gsize size)
{
  return is_model_tar (data, size) || is_model_zip (data, size);
}

/* --- reading ----------------------------------------------------------------------------- */

gboolean
bundle_model_add_member (BundleModelFile parts[2][BUNDLE_MODEL_FILES],
    const gchar *name, const gchar *data, gsize size, GError **error)
{
  gboolean binary;
  const guint i = bundle_model_find_file (name, &binary);

  if (i == BUNDLE_MODEL_FILES)
    return TRUE;
  if (parts[binary][i].data) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
        "the archive contains %s twice: it holds several models; unpack it, "
        "and name the folder of one",
        name);
    return FALSE;
  }
  parts[binary][i] = (BundleModelFile){ data, size };
  return TRUE;
}

BundleModel *
bundle_model_parse_members (
    const BundleModelFile parts[2][BUNDLE_MODEL_FILES], GError **error)
{
  const BundleModelFile *binary = parts[TRUE], *texts = parts[FALSE];
  const gboolean has_binary = binary[BUNDLE_MODEL_CAMERAS].data
                              && binary[BUNDLE_MODEL_IMAGES].data
                              && binary[BUNDLE_MODEL_POINTS].data;

  for (guint i = 0; !has_binary && i <= BUNDLE_MODEL_POINTS; i++)
    if (texts[i].data == NULL) {
      const gboolean other = binary[BUNDLE_MODEL_CAMERAS].data != NULL;

      g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
          "the archive does not contain %s",
          bundle_model_file_name (
              other && binary[i].data ? BUNDLE_MODEL_POINTS : i, other));
      return NULL;
    }
  return bundle_model_parse (has_binary ? binary : texts, has_binary, error);
}

BundleModel *
bundle_model_read_tar (const gchar *data, gsize size, GError **error)
{
  BundleModelFile parts[2][BUNDLE_MODEL_FILES] = { { { 0 } } };
  BundleTar tar = { .data = data, .size = size };
  GError *fault = NULL;

  while (!fault && bundle_tar_next (&tar, &fault)) {
    if (tar.name == NULL)
      continue;
    if (tar.n > (guint64) (data + size - tar.start))
      g_set_error (&fault, CVIS_ERROR, CVIS_ERROR_FORMAT,
          "the tar archive ends within %s", tar.name);
    else
      bundle_model_add_member (
          parts, tar.name, tar.start, (gsize) tar.n, &fault);
  }
  bundle_tar_clear (&tar);
  if (fault) {
    g_propagate_error (error, fault);
    return NULL;
  }
  return bundle_model_parse_members (
      (const BundleModelFile (*)[BUNDLE_MODEL_FILES]) parts, error);
}
