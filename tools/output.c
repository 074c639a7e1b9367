/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Temporary names, renaming, and the check that no input is overwritten. Called by
 * the subcommands that write files. */
#include "output.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/**
 * Output:
 * @temporary: @name itself for devices and pipes, which are written in place
 */
struct _Output {
  gchar *name, *temporary;
  gboolean in_place;
};

/* Temporary files to delete if a signal ends the process */
static gchar *volatile pending[16];

static void
replace_pending (gchar *from, gchar *to)
{
  for (guint i = 0; i < G_N_ELEMENTS (pending); i++)
    if (pending[i] == from) {
      pending[i] = to;
      return;
    }
}

void
output_delete_pending (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (pending); i++)
    if (pending[i] != NULL)
      unlink (pending[i]);
}

/* ".cudavision-PID-": what a temporary name has before the last part of the name */
static gchar *
make_prefix (void)
{
  return g_strdup_printf (".cudavision-%d-", (gint) getpid ());
}

gchar *
output_restore_names (const gchar *text)
{
  gchar *prefix = make_prefix ();
  gchar **parts = g_strsplit (text, prefix, -1);
  gchar *restored = g_strjoinv ("", parts);

  g_strfreev (parts);
  g_free (prefix);
  return restored;
}

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

/* /dev/stdout is a link, perhaps to a file that the shell has opened. */
static gboolean
is_special (const gchar *name)
{
  struct stat info;

  if (stat (name, &info) != 0 || S_ISDIR (info.st_mode))
    return FALSE;
  return !S_ISREG (info.st_mode)
         || (g_str_has_prefix (name, "/dev/")
             && g_file_test (name, G_FILE_TEST_IS_SYMLINK));
}

/* Whether @name is @input, or a file of the folder @input */
static gboolean
is_input (const gchar *name, const gchar *input)
{
  gchar *folder = g_path_get_dirname (name);
  gboolean same = is_same_file (name, input)
                  || (g_file_test (name, G_FILE_TEST_EXISTS)
                      && is_same_file (folder, input));

  g_free (folder);
  return same;
}

static gboolean
check_target (const gchar *name, const gchar *const *inputs, GError **error)
{
  gchar *folder = g_path_get_dirname (name);
  gboolean ok = TRUE;

  for (; inputs != NULL && *inputs != NULL && ok; inputs++)
    if (is_input (name, *inputs)) {
      g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_EXIST,
          "%s is an input, and is not overwritten", name);
      ok = FALSE;
    }
  if (ok && name[0] == '\0')
    ok = set_system_error ("a file without a name", ENOENT, error);
  if (ok && g_file_test (name, G_FILE_TEST_IS_DIR))
    ok = set_system_error (name, EISDIR, error);
  if (ok && access (is_special (name) ? name : folder, W_OK) != 0)
    ok = set_system_error (name, errno, error);
  g_free (folder);
  return ok;
}

static gboolean
is_same_name (const gchar *a, const gchar *b)
{
  gchar *first = g_canonicalize_filename (a, NULL);
  gchar *second = g_canonicalize_filename (b, NULL);
  gboolean same = strcmp (first, second) == 0 && !is_special (a);

  g_free (first);
  g_free (second);
  return same;
}

gboolean
output_check (const gchar *const *names, guint n, const gchar *const *inputs,
    GError **error)
{
  for (guint i = 0; i < n; i++) {
    if (names[i] == NULL)
      continue;
    if (!check_target (names[i], inputs, error))
      return FALSE;
    for (guint j = 0; j < i; j++)
      if (names[j] != NULL && is_same_name (names[i], names[j])) {
        g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
            "%s would be written twice", names[i]);
        return FALSE;
      }
  }
  return TRUE;
}

Output *
output_new (const gchar *name, const gchar *const *inputs, GError **error)
{
  Output *output;
  gchar *folder, *base, *prefix;

  if (!check_target (name, inputs, error))
    return NULL;
  output = g_new (Output, 1);
  output->name = g_strdup (name);
  output->in_place = is_special (name);
  if (output->in_place) {
    output->temporary = g_strdup (name);
    return output;
  }
  folder = g_path_get_dirname (name);
  base = g_path_get_basename (name);
  prefix = make_prefix ();
  /* keeps the ending, by which surfacesink chooses the format */
  output->temporary = g_strdup_printf ("%s/%s%s", folder, prefix, base);
  replace_pending (NULL, output->temporary);
  g_free (folder);
  g_free (base);
  g_free (prefix);
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
  replace_pending (output->temporary, NULL);
  g_free (output->name);
  g_free (output->temporary);
  g_free (output);
}

gboolean
output_commit (Output *output, GError **error)
{
  gboolean ok =
      output->in_place || g_rename (output->temporary, output->name) == 0;

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
  if (!output->in_place)
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
    GError **error)
{
  Output *output = output_new (name, inputs, error);
  FILE *file;
  gboolean ok;

  if (output == NULL)
    return FALSE;
  file = fopen (output->temporary, "wb");
  ok = file != NULL && fputs (text, file) >= 0;
  if (file != NULL && fclose (file) != 0)
    ok = FALSE;
  if (!ok)
    set_system_error (name, errno, error);
  return output_close (output, ok, error);
}
