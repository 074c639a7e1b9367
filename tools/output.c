/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Temporary names, renaming, and the check that no input is overwritten. Called by
 * the subcommands that write files. */
#include "output.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct _Output {
  gchar *name, *temporary;
};

static gboolean
is_same_file (const gchar *a, const gchar *b)
{
  struct stat first, second;

  return stat (a, &first) == 0 && stat (b, &second) == 0
         && first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

static gboolean
set_system_error (const gchar *name, int number, GError **error)
{
  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (number),
      "cannot write %s: %s", name, g_strerror (number));
  return FALSE;
}

static gboolean
check_target (const gchar *name, const gchar *const *inputs, GError **error)
{
  gchar *folder = g_path_get_dirname (name);
  gboolean ok = TRUE;

  for (; inputs != NULL && *inputs != NULL && ok; inputs++)
    if (is_same_file (name, *inputs)) {
      g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_EXIST,
          "%s is the input, and is not overwritten", name);
      ok = FALSE;
    }
  if (ok && g_file_test (name, G_FILE_TEST_IS_DIR))
    ok = set_system_error (name, EISDIR, error);
  if (ok && access (folder, W_OK) != 0)
    ok = set_system_error (name, errno, error);
  g_free (folder);
  return ok;
}

Output *
output_new (const gchar *name, const gchar *const *inputs, GError **error)
{
  Output *output;
  gchar *folder, *base;

  if (!check_target (name, inputs, error))
    return NULL;
  output = g_new (Output, 1);
  folder = g_path_get_dirname (name);
  base = g_path_get_basename (name);
  output->name = g_strdup (name);
  /* keeps the ending, by which surfacesink chooses the format */
  output->temporary =
      g_strdup_printf ("%s/.cudavision-%d-%s", folder, (gint) getpid (), base);
  g_free (folder);
  g_free (base);
  return output;
}

const gchar *
output_get_name (const Output *output)
{
  return output->name;
}

const gchar *
output_get_temporary_name (const Output *output)
{
  return output->temporary;
}

static void
free_output (Output *output)
{
  g_free (output->name);
  g_free (output->temporary);
  g_free (output);
}

gboolean
output_commit (Output *output, GError **error)
{
  gboolean ok = g_rename (output->temporary, output->name) == 0;

  if (!ok) {
    set_system_error (output->name, errno, error);
    g_unlink (output->temporary);
  }
  free_output (output);
  return ok;
}

void
output_discard (Output *output)
{
  g_unlink (output->temporary);
  free_output (output);
}

gboolean
output_close (Output *output, gboolean ok, GError **error)
{
  if (output == NULL)
    return ok;
  if (ok)
    return output_commit (output, error);
  output_discard (output);
  return FALSE;
}

gboolean
output_write (const gchar *name, const gchar *const *inputs, const gchar *text,
    gssize size, GError **error)
{
  Output *output = output_new (name, inputs, error);

  if (output == NULL)
    return FALSE;
  if (!g_file_set_contents (output->temporary, text, size, error)) {
    output_discard (output);
    return FALSE;
  }
  return output_commit (output, error);
}
