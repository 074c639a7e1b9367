/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstbundlefile.h"

#include "cuda/core/memory.h"

#define FIRST_SIZE (1 << 20)

gboolean
gst_bundle_file_append (
    GstBundleFile *file, GstElement *element, GstBuffer *buffer)
{
  const gsize n = gst_buffer_get_size (buffer);

  if (file->allocated - file->size < n) {
    const gsize size = MAX (file->size + n, 2 * file->allocated + FIRST_SIZE);
    gchar *data = g_try_realloc (file->data, size);

    if (data == NULL) {
      GST_ELEMENT_ERROR (element, RESOURCE, NO_SPACE_LEFT,
          ("No memory for a file of more than %" G_GSIZE_FORMAT
           " bytes. Use a smaller file.",
              file->size),
          (NULL));
      return FALSE;
    }
    file->data = data;
    file->allocated = size;
  }
  gst_buffer_extract (buffer, 0, file->data + file->size, n);
  file->size += n;
  return TRUE;
}

void
gst_bundle_file_reserve (GstBundleFile *file, guint64 size)
{
  if (file->data != NULL || size > G_MAXSIZE)
    return;
  file->data = cvis_memory_new ((gsize) size, FALSE, NULL);
  file->allocated = file->data ? (gsize) size : 0;
}

void
gst_bundle_file_clear (GstBundleFile *file)
{
  g_free (file->data);
  *file = (GstBundleFile){ 0 };
}
