/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstbundlefile.h"

#include <string.h>
#include "cuda/bundle/colmap/archive.h"
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

gchar *
gst_bundle_file_find_folder (GstPad *pad, gboolean *is_part)
{
  g_autoptr (GstQuery) query = gst_query_new_uri ();
  g_autofree gchar *uri = NULL, *name = NULL;

  if (gst_pad_peer_query (pad, query))
    gst_query_parse_uri (query, &uri);
  if (uri)
    name = g_filename_from_uri (uri, NULL, NULL);
  *is_part = name && bundle_model_is_file_name (name);
  return name ? g_path_get_dirname (name) : NULL;
}

gboolean
gst_bundle_is_ply (const gchar *data, gsize size)
{
  if (size >= 3 && memcmp (data, "\xef\xbb\xbf", 3) == 0) {
    data += 3;
    size -= 3;
  }
  return size >= 4 && memcmp (data, "ply", 3) == 0 && (guchar) data[3] <= ' ';
}

void
gst_bundle_warn_of_notes (GstElement *element, const BundleProblem *problem)
{
  if (problem->notes != NULL)
    GST_ELEMENT_WARNING (
        element, STREAM, DECODE, ("%s", problem->notes), (NULL));
}

void
gst_bundle_warn_of_losses (GstElement *element, const BundleProblem *problem,
    BundleFormat format, guint threads)
{
  g_autofree gchar *losses = bundle_format_losses (problem, format, threads);

  if (losses != NULL)
    GST_ELEMENT_WARNING (element, STREAM, ENCODE, ("%s", losses), (NULL));
}

static gboolean
refuse_seek (GstPad *pad, GstObject *parent, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) != GST_EVENT_SEEK)
    return gst_pad_event_default (pad, parent, event);
  gst_event_unref (event);
  return FALSE;
}

static gboolean
refuse_position (GstPad *pad, GstObject *parent, GstQuery *query)
{
  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_POSITION:
    case GST_QUERY_DURATION:
    case GST_QUERY_SEEKING:
    case GST_QUERY_SEGMENT:
      return FALSE;
    default:
      return gst_pad_query_default (pad, parent, query);
  }
}

static gboolean
stop_task (GstPad *pad, GstObject *parent, GstPadMode mode, gboolean active)
{
  if (mode != GST_PAD_MODE_PUSH)
    return FALSE;
  return active || gst_pad_stop_task (pad);
}

GstPad *
gst_bundle_file_new_src_pad (GstStaticPadTemplate *template)
{
  GstPad *pad =
      gst_pad_new_from_static_template (template, template->name_template);

  gst_pad_set_event_function (pad, refuse_seek);
  gst_pad_set_query_function (pad, refuse_position);
  gst_pad_set_activatemode_function (pad, stop_task);
  gst_pad_use_fixed_caps (pad);
  return pad;
}
