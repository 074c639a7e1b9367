/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* NumPy's NPZ: a zip archive of NPY files. The first one is read. */
#include "cuda/surface/bytes.h"

#include <string.h>
#include <zip.h>

/* Returns: (transfer full): %NULL with @error */
static guint8 *
unpack_array (zip_t *zip, const zip_stat_t *st, GError **error)
{
  guint8 *bytes = NULL;
  zip_file_t *file;

  if (st->size / SURFACE_MAX_RATIO > st->comp_size)
    surface_error (error,
        "has %" G_GUINT64_FORMAT " bytes of %.80s in %" G_GUINT64_FORMAT
        ", which no compression makes",
        (guint64) st->size, st->name, (guint64) st->comp_size);
  else if (!(bytes = g_try_malloc (MAX (st->size, 1))))
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "Not enough memory for %" G_GUINT64_FORMAT " bytes of %.80s",
        (guint64) st->size, st->name);
  if (!bytes)
    return NULL;
  file = zip_fopen_index (zip, st->index, 0);
  if (!file || zip_fread (file, bytes, st->size) != (zip_int64_t) st->size) {
    surface_error (error, "has a %.80s that cannot be unpacked: %s", st->name,
        file ? zip_file_strerror (file) : zip_strerror (zip));
    g_clear_pointer (&bytes, g_free);
  }
  if (file)
    zip_fclose (file);
  return bytes;
}

static SurfaceImage *
read_first (zip_t *zip, GError **error)
{
  const zip_int64_t n = zip_get_num_entries (zip, 0);
  SurfaceImage *image = NULL;
  guint8 *bytes = NULL;
  zip_stat_t st;

  if (n < 1 || zip_stat_index (zip, 0, 0, &st) != 0
      || !(st.valid & ZIP_STAT_SIZE) || !(st.valid & ZIP_STAT_COMP_SIZE)) {
    surface_error (error, "has a zip directory that cannot be read");
    return NULL;
  }
  bytes = unpack_array (zip, &st, error);
  if (bytes && (st.size < 10 || memcmp (bytes, "\x93NUMPY", 6) != 0))
    surface_error (error, "has a %.80s that is no NPY", st.name);
  else if (bytes)
    image = surface_read_npy (bytes, st.size, error);
  g_free (bytes);
  if (image && n > 1)
    surface_image_add_note (image,
        "only %.80s of its %" G_GUINT64_FORMAT " arrays is read", st.name,
        (guint64) n);
  return image;
}

SurfaceImage *
surface_read_npz (const guint8 *data, gsize size, GError **error)
{
  zip_source_t *bytes = zip_source_buffer_create (data, size, 0, NULL);
  SurfaceImage *image = NULL;
  zip_t *zip = bytes ? zip_open_from_source (bytes, ZIP_RDONLY, NULL) : NULL;

  if (zip) {
    image = read_first (zip, error);
    zip_discard (zip);
  } else {
    surface_error (error, "has no zip directory at its end: it may be cut off. "
                          "Copy it again");
    if (bytes)
      zip_source_free (bytes);
  }
  return image;
}
