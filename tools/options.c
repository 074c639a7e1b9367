/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Options of all subcommands: parsing, help, and errors that suggest the nearest
 * valid name. Called by each subcommand first. */
#include "command.h"

#include <glib/gprintf.h>
#include <string.h>

#include "pipeline.h"

static void
print_message (const gchar *command, const gchar *format, va_list arguments)
{
  gchar *text = g_strdup_vprintf (format, arguments);

  if (command != NULL)
    g_printerr ("cudavision %s: %s\n", command, text);
  else
    g_printerr ("cudavision: %s\n", text);
  g_free (text);
}

void
print_error (const gchar *command, const gchar *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  print_message (command, format, arguments);
  va_end (arguments);
}

ExitStatus
usage_error (const gchar *command, const gchar *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  print_message (command, format, arguments);
  va_end (arguments);
  return EXIT_STATUS_USAGE;
}

ExitStatus
command_end (const gchar *command, GError *error)
{
  ExitStatus status = EXIT_STATUS_FAILED;

  if (error == NULL)
    return EXIT_STATUS_OK;
  if (interrupted ())
    status = EXIT_STATUS_INTERRUPTED;
  else
    print_error (command, "%s", error->message);
  if (error->domain == G_OPTION_ERROR)
    status = EXIT_STATUS_USAGE;
  g_error_free (error);
  return status;
}

/* Levenshtein distance of two short words */
static guint
edit_distance (const gchar *a, const gchar *b)
{
  gsize n = strlen (b);
  guint *row = g_new (guint, n + 1), distance;

  for (gsize j = 0; j <= n; j++)
    row[j] = j;
  for (gsize i = 1; a[i - 1] != '\0'; i++) {
    guint diagonal = row[0];

    row[0] = i;
    for (gsize j = 1; j <= n; j++) {
      guint above = row[j];

      row[j] =
          MIN (MIN (above, row[j - 1]) + 1, diagonal + (a[i - 1] != b[j - 1]));
      diagonal = above;
    }
  }
  distance = row[n];
  g_free (row);
  return distance;
}

const gchar *
nearest_name (const gchar *word, const gchar *const *names)
{
  const gchar *nearest = NULL;
  guint least = 1 + MAX (1, strlen (word) / 3);

  for (; *names != NULL; names++) {
    guint distance = edit_distance (word, *names);

    if (distance < least) {
      least = distance;
      nearest = *names;
    }
  }
  return nearest;
}

/* --- parsing --------------------------------------------------------------- */

static void
add_names (GPtrArray *names, const GOptionEntry *entries)
{
  for (; entries->long_name != NULL; entries++)
    if (entries->long_name[0] != '\0')
      g_ptr_array_add (names, (gpointer) entries->long_name);
}

/* The unknown option in @argv as far as its "=", for the suggestion */
static gchar *
find_unknown_option (gchar **argv, const GPtrArray *names)
{
  for (guint i = 1; argv[i] != NULL && strcmp (argv[i], "--") != 0; i++) {
    gchar *word;
    gboolean known = FALSE;

    if (!g_str_has_prefix (argv[i], "--"))
      continue;
    word = g_strndup (argv[i] + 2, strcspn (argv[i] + 2, "="));
    for (guint j = 0; j + 1 < names->len && !known; j++)
      known = strcmp (word, names->pdata[j]) == 0;
    if (!known)
      return word;
    g_free (word);
  }
  return NULL;
}

static void
print_option_error (
    const Command *command, const GError *error, gchar **argv, GPtrArray *names)
{
  gchar *unknown = NULL;
  const gchar *nearest = NULL;

  g_ptr_array_add (names, (gpointer) "help");
  g_ptr_array_add (names, NULL);
  if (g_error_matches (error, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION))
    unknown = find_unknown_option (argv, names);
  if (unknown != NULL)
    nearest = nearest_name (unknown, (const gchar *const *) names->pdata);
  if (nearest != NULL)
    print_error (command->name, "unknown option --%s; did you mean --%s?",
        unknown, nearest);
  else
    print_error (command->name, "%s; see cudavision %s --help", error->message,
        command->name);
  g_free (unknown);
}

/* Checks values that GOption does not. */
static gboolean
check_common (
    const Command *command, OptionGroups groups, const CommonOptions *common)
{
  static const gchar *const backends[] = { "auto", "cpu", "cuda", NULL };
  const guint inputs =
      common->inputs != NULL ? g_strv_length (common->inputs) : 0;

  if (groups & (OPTIONS_INPUT | OPTIONS_INPUTS) && inputs == 0) {
    print_error (
        command->name, "no input; see cudavision %s --help", command->name);
    return FALSE;
  }
  if (groups & OPTIONS_INPUT && inputs > 1) {
    print_error (command->name,
        "takes one input at a time: unexpected argument %s", common->inputs[1]);
    return FALSE;
  }

  if (common->backend != NULL && !g_strv_contains (backends, common->backend)) {
    print_error (command->name, "--backend %s is none of auto, cpu and cuda",
        common->backend);
    return FALSE;
  }
  if (common->threads < 0 || common->threads > 1024) {
    print_error (
        command->name, "--threads %d is not in 0 to 1024", common->threads);
    return FALSE;
  }
  if (common->device < -1) {
    print_error (
        command->name, "--cuda-device-id %d is below -1", common->device);
    return FALSE;
  }
  return TRUE;
}

gboolean
options_parse (const Command *command, const GOptionEntry *own,
    OptionGroups groups, gint argc, gchar **argv, CommonOptions *common,
    ExitStatus *status)
{
  const GOptionEntry compute[] = {
    { "backend", 0, 0, G_OPTION_ARG_STRING, &common->backend,
        "Where to compute: auto (default; of roughness cpu), cpu or cuda",
        "NAME" },
    { "cuda-device-id", 0, 0, G_OPTION_ARG_INT, &common->device,
        "Number of the GPU; -1 (default): any", "N" },
    { "threads", 0, 0, G_OPTION_ARG_INT, &common->threads,
        "Threads of the CPU; 0 (default): one per processor", "N" },
    { "show", 0, 0, G_OPTION_ARG_NONE, &common->show,
        "Print the gst-launch-1.0 pipeline that writes the same files, and end",
        NULL },
    { NULL },
  };
  const GOptionEntry devices[] = {
    { "cuda-device-ids", 0, 0, G_OPTION_ARG_STRING, &common->devices,
        "Numbers of the GPUs that share the work, such as 0,1,3, or all",
        "LIST" },
    { NULL },
  };
  const GOptionEntry report[] = {
    { "report", 0, 0, G_OPTION_ARG_FILENAME, &common->report,
        "Write a page with pictures, plots and tables", "FILE.html" },
    { NULL },
  };
  const GOptionEntry always[] = {
    { "json", 0, 0, G_OPTION_ARG_NONE, &common->json, "Print one JSON object",
        NULL },
    { "quiet", 'q', 0, G_OPTION_ARG_NONE, &common->quiet, "Print errors only",
        NULL },
    { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &common->inputs,
        NULL, NULL },
    { NULL },
  };
  GOptionContext *context = g_option_context_new (command->arguments);
  GPtrArray *names = g_ptr_array_new ();
  gchar **original = g_strdupv (argv), **rest = g_strdupv (argv);
  gchar *program = g_strconcat ("cudavision ", command->name, NULL);
  GError *error = NULL;
  gboolean help = FALSE;
  gboolean ok;

  *common = (CommonOptions){ .device = -1 };
  *status = EXIT_STATUS_USAGE;
  if (own != NULL) {
    g_option_context_add_main_entries (context, own, NULL);
    add_names (names, own);
  }
  if (groups & OPTIONS_COMPUTE) {
    g_option_context_add_main_entries (context, compute, NULL);
    add_names (names, compute);
  }
  if (groups & OPTIONS_DEVICES) {
    g_option_context_add_main_entries (context, devices, NULL);
    add_names (names, devices);
  }
  if (groups & OPTIONS_REPORT) {
    g_option_context_add_main_entries (context, report, NULL);
    add_names (names, report);
  }
  g_option_context_add_main_entries (context, always, NULL);
  add_names (names, always);
  g_option_context_set_summary (context, command->examples);
  g_option_context_set_help_enabled (context, FALSE);
  for (gint i = 1; i < argc && strcmp (argv[i], "--") != 0; i++)
    help |= strcmp (argv[i], "--help") == 0 || strcmp (argv[i], "-h") == 0;

  g_set_prgname (program);
  if (help) {
    gchar *text = g_option_context_get_help (context, TRUE, NULL);

    g_print ("%s", text);
    g_free (text);
    *status = EXIT_STATUS_OK;
    ok = FALSE;
  } else {
    ok = g_option_context_parse_strv (context, &rest, &error);
    if (!ok)
      print_option_error (command, error, original, names);
    else
      ok = check_common (command, groups, common);
  }
  if (ok && common->inputs == NULL)
    common->inputs = g_new0 (gchar *, 1);
  g_clear_error (&error);
  g_free (program);
  g_strfreev (original);
  g_strfreev (rest);
  g_ptr_array_unref (names);
  g_option_context_free (context);
  if (ok)
    *status = EXIT_STATUS_OK;
  else
    options_clear (common);
  return ok;
}

void
options_clear (CommonOptions *common)
{
  g_strfreev (common->inputs);
  g_free (common->report);
  g_free (common->backend);
  g_free (common->devices);
  *common = (CommonOptions){ 0 };
}
