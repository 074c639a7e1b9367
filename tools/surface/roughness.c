/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* `cudavision roughness`: areal parameters of measured surfaces, their components as
 * files, a report. Options and command; roughnessrun.c measures, roughnessresults.c prints
 * and writes. */
#include "config.h"

#include <gio/gio.h>
#include <string.h>

#include "cuda/surface/file.h"
#include "cuda/wavelet/wavelet.h"
#include "tools/inputs.h"
#include "tools/length.h"
#include "tools/output.h"
#include "tools/pipeline.h"
#include "roughness.h"

static struct {
  gchar *lambda_s, *lambda_c, *lambda_f, *dx, *dy;
  gchar *form, *low_pass, *wavelet, *csv;
  gchar **write;
  gboolean unfiltered;
} options;

static const GOptionEntry entries[] = {
  { "lambda-c", 'c', 0, G_OPTION_ARG_STRING, &options.lambda_c,
      "Cut-off between roughness and waviness, 80um; default: the largest of "
      "..., 25, 80, 250 um, ... that is at most a fifth of the shorter side, "
      "and at least three samples",
      "LENGTH" },
  { "lambda-s", 0, 0, G_OPTION_ARG_STRING, &options.lambda_s,
      "Cut-off between noise and roughness; default: none", "LENGTH" },
  { "lambda-f", 0, 0, G_OPTION_ARG_STRING, &options.lambda_f,
      "Cut-off between waviness and form", "LENGTH" },
  { "form", 0, 0, G_OPTION_ARG_STRING, &options.form,
      "Form removed first: none, offset, level, plane (default) or poly2",
      "NAME" },
  { "filter", 0, 0, G_OPTION_ARG_STRING, &options.low_pass,
      "Filter: wavelet (default), wavelet-decimated, gaussian, robust-gaussian "
      "or spline",
      "NAME" },
  { "wavelet", 0, 0, G_OPTION_ARG_STRING, &options.wavelet,
      "Wavelet of the filter; default: 9/7", "NAME" },
  { "unfiltered", 0, 0, G_OPTION_ARG_NONE, &options.unfiltered,
      "Parameters of the surface as it was measured: no filter, no form "
      "removed",
      NULL },
  { "dx", 0, 0, G_OPTION_ARG_STRING, &options.dx,
      "Sample spacing along x of files that do not give it", "LENGTH" },
  { "dy", 0, 0, G_OPTION_ARG_STRING, &options.dy,
      "Sample spacing along y; default: as --dx", "LENGTH" },
  { "write", 'w', 0, G_OPTION_ARG_STRING_ARRAY, &options.write,
      "Write a component of one surface: noise, roughness, waviness or form; "
      "the format by the ending: x3p, sdf, sur, gsf, tiff, npy",
      "COMPONENT=FILE" },
  { "csv", 'o', 0, G_OPTION_ARG_FILENAME, &options.csv,
      "Write the parameters as a table; default for several files: standard "
      "output",
      "FILE.csv" },
  { NULL },
};

/* --- settings -------------------------------------------------------------- */

static gboolean
parse_lengths (RoughnessSettings *settings, GError **error)
{
  const struct {
    const gchar *text, *option;
    gdouble *to;
  } lengths[] = {
    { options.lambda_s, "--lambda-s", &settings->lambda_s },
    { options.lambda_c, "--lambda-c", &settings->lambda_c },
    { options.lambda_f, "--lambda-f", &settings->lambda_f },
    { options.dx, "--dx", &settings->dx },
    { options.dy, "--dy", &settings->dy },
  };

  for (guint i = 0; i < G_N_ELEMENTS (lengths); i++) {
    if (lengths[i].text == NULL)
      continue;
    if (!length_parse (
            lengths[i].text, lengths[i].option, lengths[i].to, error))
      return FALSE;
    if (*lengths[i].to <= 0) {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
          "%s %s is not above 0", lengths[i].option, lengths[i].text);
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean
check_order (const RoughnessSettings *s, GError **error)
{
  const gdouble upper = s->lambda_c > 0 ? s->lambda_c : s->lambda_f;

  if ((s->lambda_s > 0 && upper > 0 && s->lambda_s >= upper)
      || (s->lambda_c > 0 && s->lambda_f > 0 && s->lambda_c >= s->lambda_f)) {
    g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
        "the cut-offs have to increase: --lambda-s below --lambda-c below "
        "--lambda-f");
    return FALSE;
  }
  if (options.unfiltered
      && (s->lambda_s > 0 || s->lambda_c > 0 || s->lambda_f > 0)) {
    g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
        "--unfiltered and cut-offs exclude each other");
    return FALSE;
  }
  if (options.unfiltered && options.form != NULL) {
    g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
        "--unfiltered takes the surface as it was measured; leave out --form");
    return FALSE;
  }
  return TRUE;
}

static gboolean
parse_form (RoughnessSettings *settings, GError **error)
{
  static const gchar *const forms[] = { "none", "offset", "level", "plane",
    "poly2", NULL };

  settings->form = options.form != NULL ? options.form
                   : options.unfiltered ? "none"
                                        : "plane";
  if (g_strv_contains (forms, settings->form))
    return TRUE;
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
      "--form %s is none of none, offset, level, plane and poly2",
      settings->form);
  return FALSE;
}

static gboolean
parse_low_pass (RoughnessSettings *settings, GError **error)
{
  static const gchar *const names[] = { "wavelet", "wavelet-decimated",
    "gaussian", "robust-gaussian", "spline", NULL };

  settings->low_pass = options.unfiltered         ? "wavelet-decimated"
                       : options.low_pass != NULL ? options.low_pass
                                                  : "wavelet";
  if (!g_strv_contains (names, settings->low_pass)) {
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
        "--filter %s is none of wavelet, wavelet-decimated, gaussian, "
        "robust-gaussian and spline",
        settings->low_pass);
    return FALSE;
  }
  if (options.unfiltered && options.low_pass != NULL) {
    g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
        "--unfiltered and --filter exclude each other");
    return FALSE;
  }
  return TRUE;
}

static gboolean
check_wavelet (GError **error)
{
  GError *problem = NULL;
  LwtWavelet *wavelet;

  if (options.wavelet == NULL)
    return TRUE;
  wavelet = lwt_wavelet_new (options.wavelet, &problem);
  if (wavelet != NULL) {
    lwt_wavelet_free (wavelet);
    return TRUE;
  }
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "--wavelet: %s",
      problem->message);
  g_error_free (problem);
  return FALSE;
}


const gchar *
roughness_component_of_write (const gchar *word)
{
  static const gchar *const components[] = { "noise", "roughness", "waviness",
    "form" };

  for (guint i = 0; i < G_N_ELEMENTS (components); i++)
    if (g_str_has_prefix (word, components[i])
        && word[strlen (components[i])] == '='
        && word[strlen (components[i]) + 1] != '\0')
      return components[i];
  return NULL;
}

static gboolean
check_writes (gboolean many, GError **error)
{
  for (guint i = 0; options.write != NULL && options.write[i] != NULL; i++) {
    if (roughness_component_of_write (options.write[i]) == NULL) {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
          "--write %s: write COMPONENT=FILE with noise, roughness, waviness or "
          "form",
          options.write[i]);
      return FALSE;
    }
    if (!surface_file_writable (
            surface_file_format_of_name (options.write[i]))) {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
          "--write %s: the ending is none of .x3p, .sdf, .sur, .gsf, .tiff and "
          ".npy",
          options.write[i]);
      return FALSE;
    }
    if (many || options.unfiltered) {
      g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
          many ? "--write takes one input file"
               : "--write and --unfiltered exclude each other");
      return FALSE;
    }
  }
  return TRUE;
}

/* --- command --------------------------------------------------------------- */

static Surface *
surface_new (const gchar *name, const RoughnessSettings *settings)
{
  Surface *surface = g_new0 (Surface, 1);

  surface->name = name;
  surface->settings = settings;
  return surface;
}

static void
surface_free (gpointer data)
{
  Surface *surface = data;

  if (surface->filter != NULL)
    gst_structure_free (surface->filter);
  if (surface->outputs != NULL)
    g_ptr_array_unref (surface->outputs);
  surface_pictures_clear (&surface->pictures);
  g_free (surface->backend);
  g_free (surface->rows);
  g_clear_error (&surface->error);
  g_free (surface);
}

/* Most errors name the file themselves. */
static void
print_failure (const Surface *surface)
{
  if (strstr (surface->error->message, surface->name) != NULL)
    print_error ("roughness", "%s", surface->error->message);
  else
    print_error ("roughness", "%s: %s", surface->name, surface->error->message);
}

/* Prints what failed. Returns: the exit status */
static ExitStatus
print_failures (GPtrArray *surfaces)
{
  ExitStatus status = EXIT_STATUS_OK;
  guint failed = 0;

  for (guint i = 0; i < surfaces->len; i++) {
    const Surface *surface = surfaces->pdata[i];

    if (surface->error == NULL)
      continue;
    failed++;
    if (g_error_matches (surface->error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
      continue;
    status = EXIT_STATUS_FAILED;
    print_failure (surface);
  }
  if (failed > 0 && surfaces->len > 1)
    print_error ("roughness",
        interrupted () ? "interrupted: %u of %u files were not measured"
                       : "%u of %u files failed",
        failed, surfaces->len);
  return interrupted () ? EXIT_STATUS_INTERRUPTED : status;
}

static void
show_pipelines (GPtrArray *surfaces, const RoughnessSettings *settings)
{
  for (guint i = 0; i < surfaces->len; i++) {
    Surface *surface = surfaces->pdata[i];
    GString *rows = g_string_new ("fakesink");
    gchar *launch, *line;

    if (!roughness_prepare_cutoffs (surface, &surface->error)) {
      print_failure (surface);
      continue;
    }
    if (surfaces->len > 1 || settings->csv != NULL) {
      g_string_assign (rows, "filesink ");
      if (i > 0)
        g_string_append (rows, "append=true ");
      launch_set (rows, "location",
          settings->csv != NULL ? settings->csv : "roughness.csv");
    }
    launch = roughness_make_launch (surface, rows->str, i == 0, FALSE);
    line = launch_to_shell (launch);
    g_print ("%s\n", line);
    g_free (line);
    g_free (launch);
    g_string_free (rows, TRUE);
  }
}

static ExitStatus
measure_all (GPtrArray *surfaces, const RoughnessSettings *settings)
{
  ExitStatus written = EXIT_STATUS_OK, failed;

  roughness_measure (surfaces, settings->common);
  if (surfaces->len > 1 || ((Surface *) surfaces->pdata[0])->error == NULL)
    written = roughness_write_results (surfaces, settings);
  failed = print_failures (surfaces);
  return failed != EXIT_STATUS_OK ? failed : written;
}

static gboolean
check_outputs (const CommonOptions *common, GError **error)
{
  GPtrArray *names = g_ptr_array_new ();
  gboolean ok;

  g_ptr_array_add (names, common->report);
  g_ptr_array_add (names, options.csv);
  for (guint i = 0; options.write != NULL && options.write[i] != NULL; i++)
    g_ptr_array_add (names,
        options.write[i]
            + strlen (roughness_component_of_write (options.write[i])) + 1);
  ok = output_check ((const gchar *const *) names->pdata, names->len,
      (const gchar *const *) common->inputs, error);
  g_ptr_array_unref (names);
  return ok;
}

static ExitStatus
run_roughness (gint argc, gchar **argv)
{
  CommonOptions common;
  RoughnessSettings settings = { .common = &common };
  GPtrArray *surfaces;
  ExitStatus status;
  GError *error = NULL;

  if (!options_parse (&command_roughness, entries,
          OPTIONS_COMPUTE | OPTIONS_DEVICES | OPTIONS_REPORT | OPTIONS_INPUTS,
          argc, argv, &common, &status))
    return status;
  inputs_expand (&common.inputs, INPUT_SURFACE);
  if (!parse_lengths (&settings, &error) || !check_order (&settings, &error)
      || !parse_form (&settings, &error) || !parse_low_pass (&settings, &error)
      || !check_wavelet (&error)
      || !check_writes (common.inputs[1] != NULL, &error)
      || !(common.show || check_outputs (&common, &error))) {
    status = error->domain == G_OPTION_ERROR ? EXIT_STATUS_USAGE
                                             : EXIT_STATUS_FAILED;
    print_error ("roughness", "%s", error->message);
    g_error_free (error);
    options_clear (&common);
    return status;
  }
  settings.wavelet = options.wavelet;
  settings.csv = options.csv;
  settings.write = options.write;
  settings.unfiltered = options.unfiltered;
  settings.many = common.inputs[1] != NULL;
  surfaces = g_ptr_array_new_with_free_func (surface_free);
  for (gchar **name = common.inputs; *name != NULL; name++)
    g_ptr_array_add (surfaces, surface_new (*name, &settings));
  if (common.show) {
    show_pipelines (surfaces, &settings);
    status = print_failures (surfaces);
  } else {
    status = measure_all (surfaces, &settings);
  }
  g_ptr_array_unref (surfaces);
  options_clear (&common);
  return status;
}

const Command command_roughness = {
  .name = "roughness",
  .arguments = "FILE... - areal parameters of measured surfaces",
  .summary = "roughness, waviness and form of measured surfaces",
  .examples =
      "Examples:\n"
      "  cudavision roughness part.x3p --lambda-c 80um --report part.html\n"
      "  cudavision roughness folder/ > parameters.csv",
  .run = run_roughness,
};
