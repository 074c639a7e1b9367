/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The program `cudavision`: finds the subcommand and runs it. */
#include "config.h"

#include <gst/gst.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "pipeline.h"

static const Command *const commands[] = {
  &command_roughness,
  &command_motion,
  &command_scenes,
  &command_denoise,
  &command_bundle,
  &command_monitor,
  &command_calibrate,
  &command_train,
  &command_devices,
  &command_info,
};

static void
print_help (void)
{
  g_print ("Usage: cudavision SUBCOMMAND INPUT... [options]\n\n");
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    g_print ("  %-10s %s\n", commands[i]->name, commands[i]->summary);
  g_print ("\ncudavision SUBCOMMAND --help lists the options of a subcommand.\n"
           "--show prints the GStreamer pipeline that does the same.\n"
           "--version prints the version.\n");
}

static ExitStatus
reject_command (const gchar *word)
{
  const gchar *names[G_N_ELEMENTS (commands) + 1] = { NULL };
  const gchar *nearest;

  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    names[i] = commands[i]->name;
  nearest = nearest_name (word, names);
  if (nearest != NULL)
    return usage_error (
        NULL, "unknown subcommand %s; did you mean %s?", word, nearest);
  return usage_error (
      NULL, "unknown subcommand %s; see cudavision --help", word);
}

/* Returns: @status, or that of failure if standard output has lost something */
static ExitStatus
check_printed (ExitStatus status)
{
  if ((fflush (stdout) == 0 && !ferror (stdout)) || interrupted ())
    return status;
  print_error (NULL, "cannot write to standard output");
  return status != EXIT_STATUS_OK ? status : EXIT_STATUS_FAILED;
}

int
main (int argc, char **argv)
{
  const Command *command = NULL;

  setlocale (LC_CTYPE, "");
  if (argc < 2) {
    print_help ();
    return EXIT_STATUS_USAGE;
  }
  if (strcmp (argv[1], "--help") == 0 || strcmp (argv[1], "-h") == 0) {
    print_help ();
    return EXIT_STATUS_OK;
  }
  if (strcmp (argv[1], "--version") == 0) {
    g_print ("cudavision %s\n", PACKAGE_VERSION);
    return EXIT_STATUS_OK;
  }
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    if (strcmp (argv[1], commands[i]->name) == 0)
      command = commands[i];
  if (command == NULL)
    return reject_command (argv[1]);
  gst_init (NULL, NULL);
  interrupt_install ();
  return check_printed (command->run (argc - 1, argv + 1));
}
