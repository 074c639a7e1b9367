/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Files by their names. */
#include "surfacefile.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* an open file, and how much of it was read */
typedef struct {
  int fd;
  gsize size;
  guint8 *data;
  gsize done;
} File;

static gboolean
refuse_errno (GError **error)
{
  const int number = errno;

  g_set_error_literal (error, G_FILE_ERROR,
      (gint) g_file_error_from_errno (number), g_strerror (number));
  return FALSE;
}

static gboolean
check_kind (File *file, GError **error)
{
  struct stat about;

  if (fstat (file->fd, &about) != 0)
    return refuse_errno (error);
  if (S_ISDIR (about.st_mode)) {
    errno = EISDIR;
    return refuse_errno (error);
  }
  if (!S_ISREG (about.st_mode)) {
    g_set_error_literal (error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
        "Not a regular file (surfacedec takes what comes from elsewhere)");
    return FALSE;
  }
  file->size = (gsize) about.st_size;
  return TRUE;
}

/* Up to @end bytes from the beginning, or as many as there still are */
static gboolean
read_up_to (File *file, gsize end, GError **error)
{
  while (file->done < end) {
    gssize n = read (file->fd, file->data + file->done, end - file->done);

    if (n < 0 && errno != EINTR)
      return refuse_errno (error);
    if (n == 0)
      file->size = end = file->done;
    else if (n > 0)
      file->done += (gsize) n;
  }
  return TRUE;
}

/* Has room for @size bytes. */
static gboolean
make_room (File *file, gsize size, GError **error)
{
  guint8 *data = g_try_realloc (file->data, MAX (size, 1));

  if (data == NULL) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "There is no memory for a file of %" G_GSIZE_FORMAT " bytes", size);
    return FALSE;
  }
  file->data = data;
  return TRUE;
}

/* Of what is no surface only the first bytes. */
static gboolean
read_file (File *file, GError **error)
{
  const gsize start = MIN (file->size, SURFACE_FILE_START);

  return make_room (file, start, error) && read_up_to (file, start, error)
         && surface_file_check_start (file->data, file->done, error)
         && make_room (file, file->size, error)
         && read_up_to (file, file->size, error);
}

SurfaceImage *
surface_file_load (const gchar *name, GError **error)
{
  /* a pipe to which nobody writes would be waited for */
  File file = { .fd = g_open (name, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0) };
  SurfaceImage *image = NULL;

  if (file.fd < 0) {
    refuse_errno (error);
    return NULL;
  }
  if (check_kind (&file, error) && read_file (&file, error)) {
    GBytes *bytes = g_bytes_new_static (file.data, file.size);

    image = surface_file_read (bytes, error);
    g_bytes_unref (bytes);
  }
  g_free (file.data);
  close (file.fd);
  return image;
}
