/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "motionclips.h"

#include <stdlib.h>
#include <string.h>

/* Reads the size of a frame, and of its data after the luma, from the
 * header's tags. */
static gboolean
read_header (const gchar *header, MotionClip *clip, gsize *chroma)
{
  gchar **tags = g_strsplit (header, " ", 0);
  const gchar *kind = "420";

  for (guint i = 1; tags[0] && tags[i]; i++) {
    if (tags[i][0] == 'W')
      clip->width = (guint) strtoul (tags[i] + 1, NULL, 10);
    else if (tags[i][0] == 'H')
      clip->height = (guint) strtoul (tags[i] + 1, NULL, 10);
    else if (tags[i][0] == 'C')
      kind = tags[i] + 1;
  }
  clip->depth = g_str_has_suffix (kind, "p10") ? 10 : 8;
  clip->stride = (gsize) clip->width * (clip->depth > 8 ? 2 : 1);
  *chroma = g_str_has_prefix (kind, "mono")
                ? 0
                : (gsize) ((clip->width + 1) / 2) * ((clip->height + 1) / 2) * 2
                      * (clip->depth > 8 ? 2 : 1);
  if (!g_str_has_prefix (kind, "420") && *chroma)
    clip->width = 0;
  g_strfreev (tags);
  return clip->width > 0 && clip->height > 0 && clip->width <= 16384
         && clip->height <= 16384;
}

static gboolean
read_frames (MotionClip *clip, const gchar *at, const gchar *end,
    guint max_frames, gsize chroma, GError **error)
{
  gsize size = clip->stride * clip->height;

  clip->luma = g_new0 (guint8 *, max_frames);
  while (clip->n < max_frames && at < end) {
    const gchar *line = memchr (at, '\n', (gsize) (end - at));

    if (!g_str_has_prefix (at, "FRAME") || !line
        || (gsize) (end - line - 1) < size + chroma) {
      g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
          "%s: frame %u is truncated", clip->name, clip->n);
      return FALSE;
    }
    clip->luma[clip->n] = g_malloc (size);
    memcpy (clip->luma[clip->n++], line + 1, size);
    at = line + 1 + size + chroma;
  }
  return TRUE;
}

MotionClip *
motion_clip_load (const gchar *path, guint max_frames, GError **error)
{
  MotionClip *clip;
  gchar *data, *line;
  gsize size, chroma;
  gboolean ok = FALSE;

  if (!g_file_get_contents (path, &data, &size, error))
    return NULL;
  clip = g_new0 (MotionClip, 1);
  clip->name = g_path_get_basename (path);
  if (g_str_has_suffix (clip->name, ".y4m"))
    clip->name[strlen (clip->name) - 4] = '\0';
  line = memchr (data, '\n', size);
  if (line)
    *line = '\0';
  if (!line || !g_str_has_prefix (data, "YUV4MPEG2 ")
      || !read_header (data, clip, &chroma))
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
        "%s: not a y4m file of 4:2:0 or grey video", path);
  else
    ok = read_frames (clip, line + 1, data + size, max_frames, chroma, error);
  g_free (data);
  if (!ok)
    g_clear_pointer (&clip, motion_clip_free);
  return clip;
}

void
motion_clip_free (MotionClip *clip)
{
  for (guint i = 0; i < clip->n; i++)
    g_free (clip->luma[i]);
  g_free (clip->luma);
  g_free (clip->name);
  g_free (clip);
}

static gint
by_name (gconstpointer a, gconstpointer b)
{
  return g_strcmp0 (*(gchar *const *) a, *(gchar *const *) b);
}

gchar **
motion_clips_list (void)
{
  const gchar *folder = g_getenv ("CUDAVISION_CLIPS");
  GDir *dir = folder ? g_dir_open (folder, 0, NULL) : NULL;
  GPtrArray *paths = g_ptr_array_new ();
  const gchar *name;

  while (dir && (name = g_dir_read_name (dir)))
    if (name[0] != '.' && g_str_has_suffix (name, ".y4m"))
      g_ptr_array_add (paths, g_build_filename (folder, name, NULL));
  g_clear_pointer (&dir, g_dir_close);
  g_ptr_array_sort (paths, by_name);
  g_ptr_array_add (paths, NULL);
  return (gchar **) g_ptr_array_free (paths, FALSE);
}
