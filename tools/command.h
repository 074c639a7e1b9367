/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The subcommands of the program `cudavision`, and the options that they share.
 * cudavision.c dispatches; each subcommand is a file of its own, in the folder of its plugin. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  EXIT_STATUS_OK = 0,
  EXIT_STATUS_FAILED = 1,
  EXIT_STATUS_USAGE = 2,
  EXIT_STATUS_INTERRUPTED = 130,
} ExitStatus;

/**
 * Command:
 * @arguments: for the first line of the help, "FILE..."
 * @summary: one line for `cudavision --help`
 * @examples: the beginning of its own help: two lines that can be pasted
 * @run: @argv[0] is the name of the subcommand
 */
typedef struct {
  const gchar *name;
  const gchar *arguments;
  const gchar *summary;
  const gchar *examples;
  ExitStatus (*run) (gint argc, gchar **argv);
} Command;

extern const Command command_roughness;
extern const Command command_motion;
extern const Command command_scenes;
extern const Command command_denoise;
extern const Command command_bundle;
extern const Command command_monitor;
extern const Command command_calibrate;
extern const Command command_train;
extern const Command command_devices;
extern const Command command_info;

/**
 * CommonOptions:
 * @inputs: (array zero-terminated=1): the arguments that are no options
 * @show: print the pipelines instead of running them
 * @json: one JSON object on standard output
 * @quiet: print nothing but errors
 * @report: (nullable): HTML file to write
 * @backend: (nullable): "auto", "cpu" or "cuda"
 * @device: number of the GPU; -1: any
 * @devices: (nullable): numbers of several GPUs, or "all"
 * @threads: of the CPU; 0: one per processor
 */
typedef struct {
  gchar **inputs;
  gboolean show, json, quiet;
  gchar *report;
  gchar *backend;
  gint device;
  gchar *devices;
  gint threads;
} CommonOptions;

/* Which of the shared options a subcommand has. */
typedef enum {
  OPTIONS_PLAIN = 0,
  OPTIONS_COMPUTE = 1 << 0, /* --backend, --cuda-device-id, --threads, --show */
  OPTIONS_REPORT = 1 << 1,  /* --report */
  OPTIONS_INPUT = 1 << 2,   /* exactly one input */
  OPTIONS_INPUTS = 1 << 3,  /* at least one */
  OPTIONS_DEVICES = 1 << 4, /* --cuda-device-ids */
} OptionGroups;

/* Parses @argv with the options @own (ended by an empty entry) and the shared ones.
 * Prints help or an error itself.
 * Returns: FALSE with @status if the program ends now */
gboolean options_parse (const Command *command, const GOptionEntry *own,
    OptionGroups groups, gint argc, gchar **argv, CommonOptions *common,
    ExitStatus *status);
void options_clear (CommonOptions *common);

/* Prints "cudavision COMMAND: TEXT" on standard error. */
void print_error (const gchar *command, const gchar *format, ...)
    G_GNUC_PRINTF (2, 3);
/* The same for a wrong option; returns EXIT_STATUS_USAGE. */
ExitStatus usage_error (const gchar *command, const gchar *format, ...)
    G_GNUC_PRINTF (2, 3);

/* Prints @error (nullable), unless it comes from Ctrl-C, and frees it.
 * Returns: the exit status */
ExitStatus command_end (const gchar *command, GError *error);

/* The name in @names (ended by %NULL) that is most like @word; %NULL if none is
 * near. */
const gchar *nearest_name (const gchar *word, const gchar *const *names);

G_END_DECLS
