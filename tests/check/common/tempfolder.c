/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "tempfolder.h"

#include <glib/gstdio.h>

gchar *
temp_folder_new (void)
{
  gchar *folder = g_dir_make_tmp ("check-XXXXXX", NULL);

  g_assert_nonnull (folder);
  return folder;
}

void
temp_folder_free (gchar *folder)
{
  GDir *dir = g_dir_open (folder, 0, NULL);
  const gchar *name;

  while ((name = g_dir_read_name (dir))) {
    gchar *path = g_build_filename (folder, name, NULL);
    g_unlink (path);
    g_free (path);
  }
  g_dir_close (dir);
  g_rmdir (folder);
  g_free (folder);
}
