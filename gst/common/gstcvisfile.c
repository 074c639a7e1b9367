/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstcvisfile.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

gint
gst_cvis_file_open_for_reading (const gchar *path, GError **error)
{
  /* the open of a pipe would wait for its writer */
  gint fd = g_open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
  struct stat about;
  const gchar *fault = NULL;

  if (fd < 0 || fstat (fd, &about) != 0)
    fault = g_strerror (errno);
  else if (S_ISDIR (about.st_mode))
    fault = "It is a directory";
  else if (!S_ISREG (about.st_mode))
    fault = "It is not a regular file";
  if (fault == NULL)
    return fd;
  g_set_error_literal (error, G_FILE_ERROR, G_FILE_ERROR_FAILED, fault);
  if (fd >= 0)
    close (fd);
  return -1;
}

static gboolean
has_location (GstElement *element, const struct stat *file)
{
  GParamSpec *spec =
      g_object_class_find_property (G_OBJECT_GET_CLASS (element), "location");
  gchar *location = NULL;
  struct stat about;
  gboolean same;

  if (spec == NULL || spec->value_type != G_TYPE_STRING
      || !(spec->flags & G_PARAM_READABLE))
    return FALSE;
  g_object_get (element, "location", &location, NULL);
  if (location != NULL && g_str_has_prefix (location, "file:")) {
    gchar *path = g_filename_from_uri (location, NULL, NULL);

    g_free (location);
    location = path;
  }
  same = location != NULL && stat (location, &about) == 0
         && about.st_dev == file->st_dev && about.st_ino == file->st_ino;
  g_free (location);
  return same;
}

GstElement *
gst_cvis_file_find_other_user (GstElement *element, gint fd)
{
  GstObject *top = gst_object_ref (GST_OBJECT_CAST (element)), *parent;
  GstElement *found = NULL;
  GValue item = G_VALUE_INIT;
  GstIteratorResult result = GST_ITERATOR_OK;
  struct stat file;

  while ((parent = gst_object_get_parent (top)) != NULL) {
    gst_object_unref (top);
    top = parent;
  }
  if (GST_IS_BIN (top) && fstat (fd, &file) == 0 && S_ISREG (file.st_mode)) {
    GstIterator *all = gst_bin_iterate_recurse (GST_BIN_CAST (top));

    while (found == NULL && result != GST_ITERATOR_DONE
           && result != GST_ITERATOR_ERROR) {
      result = gst_iterator_next (all, &item);
      if (result == GST_ITERATOR_RESYNC) {
        gst_iterator_resync (all);
      } else if (result == GST_ITERATOR_OK) {
        GstElement *other = g_value_get_object (&item);

        if (other != element && has_location (other, &file))
          found = gst_object_ref (other);
        g_value_reset (&item);
      }
    }
    g_value_unset (&item);
    gst_iterator_free (all);
  }
  gst_object_unref (top);
  return found;
}
