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
#include <sys/stat.h>
#include <unistd.h>

#include "cuda/bundle/formats/formats.h"
#include "cuda/surface/file.h"

#define START_SIZE 4096
#define HDF5_SIGNATURE "\211HDF\r\n\032\n"
#define HDF5_USER_BLOCK 512 /* of MATLAB */

/* --- kinds ----------------------------------------------------------------- */

/* A pipe is not opened, which would wait for its writer. */
static gsize
read_start (const gchar *name, guint8 *start)
{
  FILE *file =
      g_file_test (name, G_FILE_TEST_IS_REGULAR) ? fopen (name, "rb") : NULL;
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
  if (has_bytes (start, size, 0, HDF5_SIGNATURE)
      || has_bytes (start, size, HDF5_USER_BLOCK, HDF5_SIGNATURE))
    return INPUT_HDF5;
  if (is_video (start, size))
    return INPUT_VIDEO;
  surface = surface_file_detect (start, MIN (size, SURFACE_FILE_START));
  if (surface != SURFACE_FILE_UNKNOWN && surface != SURFACE_FILE_TEXT)
    return INPUT_SURFACE;
  if (bundle_format_detect ((const gchar *) start, size, &bundle))
    return INPUT_RECONSTRUCTION;
  return surface == SURFACE_FILE_TEXT ? INPUT_SURFACE : INPUT_UNKNOWN;
}

/* What is wrong with the file itself; NULL: it can be read, and is not empty */
static const gchar *
find_fault (const gchar *name, InputKind kind)
{
  struct stat info;

  if (stat (name, &info) != 0)
    return errno == ENOENT ? "no such file" : g_strerror (errno);
  if (S_ISDIR (info.st_mode)) /* inputs_expand() has kept it */
    return kind == INPUT_SURFACE || kind == INPUT_UNKNOWN
               ? "the folder contains no file that can be read here"
               : "a folder, not a file";
  if (!S_ISREG (info.st_mode))
    return "a pipe or a device; save its data as a file first";
  if (access (name, R_OK) != 0)
    return g_strerror (errno);
  return info.st_size == 0 ? "the file is empty" : NULL;
}

/* "a video", if the file is of a known kind other than @kind; else NULL */
static const gchar *
describe_other (const gchar *name, InputKind kind)
{
  static const gchar *const names[] = { [INPUT_SURFACE] = "a surface",
    [INPUT_VIDEO] = "a video",
    [INPUT_RECONSTRUCTION] = "a reconstruction",
    [INPUT_RECORDING] = "a recording of melt-pool frames",
    [INPUT_HDF5] = "an HDF5 file" };
  InputKind found = input_kind (name);

  return found == kind || kind == INPUT_UNKNOWN ? NULL : names[found];
}

gboolean
input_check (const gchar *name, InputKind kind, GError **error)
{
  static const gchar *const wanted[] = { [INPUT_SURFACE] = "a surface",
    [INPUT_VIDEO] = "a video",
    [INPUT_RECONSTRUCTION] = "a reconstruction",
    [INPUT_RECORDING] = "a recording",
    [INPUT_HDF5] = "an HDF5 file" };
  const gchar *fault = find_fault (name, kind);
  const gchar *other;

  if (fault != NULL) {
    g_set_error (
        error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "%s: %s", name, fault);
    return FALSE;
  }
  other = describe_other (name, kind);
  if (other == NULL)
    return TRUE;
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
      "%s is %s, not %s; see `cudavision info`", name, other, wanted[kind]);
  return FALSE;
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

static void
add_folder (GPtrArray *names, const gchar *folder, InputKind kind)
{
  GDir *dir = g_dir_open (folder, 0, NULL);
  GPtrArray *found = g_ptr_array_new ();
  const gchar *entry;

  while (dir != NULL && (entry = g_dir_read_name (dir)) != NULL) {
    gchar *name = g_build_filename (folder, entry, NULL);

    if (entry[0] != '.' && has_ending_of (name, kind)
        && g_file_test (name, G_FILE_TEST_IS_REGULAR))
      g_ptr_array_add (found, name);
    else
      g_free (name);
  }
  g_clear_pointer (&dir, g_dir_close);
  g_ptr_array_sort (found, compare_names);
  g_ptr_array_extend_and_steal (names, found);
}

static void
add_pattern (GPtrArray *names, const gchar *pattern)
{
  glob_t found;

  if (glob (pattern, 0, NULL, &found) != 0)
    return;
  for (gsize i = 0; i < found.gl_pathc; i++)
    g_ptr_array_add (names, g_strdup (found.gl_pathv[i]));
  globfree (&found);
}

void
inputs_expand (gchar ***inputs, InputKind kind)
{
  GPtrArray *names = g_ptr_array_new ();

  for (gchar **input = *inputs; *input != NULL; input++) {
    const guint before = names->len;

    if (g_file_test (*input, G_FILE_TEST_IS_DIR))
      add_folder (names, *input, kind);
    else if (!g_file_test (*input, G_FILE_TEST_EXISTS))
      add_pattern (names, *input);
    if (names->len == before)
      g_ptr_array_add (names, g_strdup (*input));
  }
  g_ptr_array_add (names, NULL);
  g_strfreev (*inputs);
  *inputs = (gchar **) g_ptr_array_free (names, FALSE);
}
