/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Files named on the command line. Called by the subcommands that read files. */
#include "inputs.h"

#include <errno.h>
#include <gio/gio.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "cuda/bundle/formats.h"
#include "cuda/surface/file.h"

#define START_SIZE 4096

/* --- kinds ----------------------------------------------------------------- */

static gsize
read_start (const gchar *name, guint8 *start)
{
  FILE *file = fopen (name, "rb");
  gsize size;

  if (file == NULL)
    return 0;
  size = fread (start, 1, START_SIZE, file);
  fclose (file);
  return size;
}

static gboolean
has_bytes (const guint8 *start, gsize size, gsize at, const gchar *text)
{
  return size >= at + strlen (text)
         && memcmp (start + at, text, strlen (text)) == 0;
}

static gboolean
is_video (const guint8 *start, gsize size)
{
  return has_bytes (start, size, 4, "ftyp")
         || has_bytes (start, size, 0, "\032\105\337\243") /* Matroska, WebM */
         || has_bytes (start, size, 0, "YUV4MPEG2")
         || (has_bytes (start, size, 0, "RIFF")
             && has_bytes (start, size, 8, "AVI "))
         || has_bytes (start, size, 0, "OggS")
         || has_bytes (start, size, 0, "FLV")
         || (size > 188 && start[0] == 0x47 && start[188] == 0x47);
}

InputKind
input_kind (const gchar *name)
{
  guint8 start[START_SIZE];
  const gsize size = read_start (name, start);
  SurfaceFileFormat surface;
  BundleFormat bundle;

  if (size == 0)
    return INPUT_UNKNOWN;
  if (has_bytes (start, size, 0, "PBF"))
    return INPUT_RECORDING;
  if (is_video (start, size))
    return INPUT_VIDEO;
  surface = surface_file_detect (start, MIN (size, SURFACE_FILE_START));
  if (surface != SURFACE_FILE_UNKNOWN && surface != SURFACE_FILE_TEXT)
    return INPUT_SURFACE;
  if (bundle_format_detect ((const gchar *) start, size, &bundle))
    return INPUT_RECONSTRUCTION;
  return surface == SURFACE_FILE_TEXT ? INPUT_SURFACE : INPUT_UNKNOWN;
}

gboolean
input_check (const gchar *name, InputKind kind, GError **error)
{
  static const gchar *const wanted[] = { [INPUT_SURFACE] = "a surface",
    [INPUT_VIDEO] = "a video",
    [INPUT_RECONSTRUCTION] = "a reconstruction",
    [INPUT_RECORDING] = "a recording" };
  gchar *other;

  if (!g_file_test (name, G_FILE_TEST_EXISTS)) {
    g_set_error (
        error, G_FILE_ERROR, G_FILE_ERROR_NOENT, "%s: no such file", name);
    return FALSE;
  }
  other = input_describe_other (name, kind);
  if (other == NULL)
    return TRUE;
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
      "%s is %s, not %s; see cudavision info", name, other, wanted[kind]);
  g_free (other);
  return FALSE;
}

gchar *
input_describe_other (const gchar *name, InputKind kind)
{
  static const gchar *const names[] = { [INPUT_SURFACE] = "a surface",
    [INPUT_VIDEO] = "a video",
    [INPUT_RECONSTRUCTION] = "a reconstruction",
    [INPUT_RECORDING] = "a recording of melt-pool frames" };
  InputKind found = input_kind (name);

  if (found == INPUT_UNKNOWN || found == kind)
    return NULL;
  return g_strdup (names[found]);
}

/* --- lists ----------------------------------------------------------------- */

/* Numbers in names count as numbers. */
static gint
compare_names (gconstpointer a, gconstpointer b)
{
  gchar *first =
      g_utf8_collate_key_for_filename (*(const gchar *const *) a, -1);
  gchar *second =
      g_utf8_collate_key_for_filename (*(const gchar *const *) b, -1);
  gint order = strcmp (first, second);

  g_free (first);
  g_free (second);
  return order;
}

static gboolean
has_ending_of (const gchar *name, InputKind kind)
{
  return kind != INPUT_SURFACE
         || surface_file_format_of_name (name) != SURFACE_FILE_UNKNOWN;
}

static gboolean
add_folder (
    GPtrArray *names, const gchar *folder, InputKind kind, GError **error)
{
  GDir *dir = g_dir_open (folder, 0, error);
  GPtrArray *found;
  const gchar *entry;
  gboolean any;

  if (dir == NULL)
    return FALSE;
  found = g_ptr_array_new ();
  while ((entry = g_dir_read_name (dir)) != NULL) {
    gchar *name = g_build_filename (folder, entry, NULL);

    if (entry[0] != '.' && has_ending_of (name, kind)
        && g_file_test (name, G_FILE_TEST_IS_REGULAR))
      g_ptr_array_add (found, name);
    else
      g_free (name);
  }
  g_dir_close (dir);
  g_ptr_array_sort (found, compare_names);
  any = found->len > 0;
  if (!any)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
        "the folder %s contains no file that can be read here", folder);
  g_ptr_array_extend_and_steal (names, found);
  return any;
}

static gboolean
add_pattern (GPtrArray *names, const gchar *pattern, GError **error)
{
  glob_t found;

  if (glob (pattern, 0, NULL, &found) != 0) {
    g_set_error (
        error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "no such file: %s", pattern);
    return FALSE;
  }
  for (gsize i = 0; i < found.gl_pathc; i++)
    g_ptr_array_add (names, g_strdup (found.gl_pathv[i]));
  globfree (&found);
  return TRUE;
}

GPtrArray *
inputs_expand (gchar **inputs, InputKind kind, GError **error)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  gboolean ok = TRUE;

  if (inputs[0] == NULL) {
    g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
        "no input file; see --help");
    ok = FALSE;
  }
  for (; *inputs != NULL && ok; inputs++) {
    if (g_file_test (*inputs, G_FILE_TEST_IS_DIR))
      ok = add_folder (names, *inputs, kind, error);
    else if (g_file_test (*inputs, G_FILE_TEST_EXISTS)
             || strpbrk (*inputs, "*?[") == NULL)
      g_ptr_array_add (names, g_strdup (*inputs));
    else
      ok = add_pattern (names, *inputs, error);
  }
  if (!ok)
    g_clear_pointer (&names, g_ptr_array_unref);
  return names;
}
