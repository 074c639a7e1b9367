/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "colmapoptions.h"

#include <string.h>

#include "tools/command.h"

/* COLMAP has 0, which rounding errors never reach. */
#define LEAST_TOLERANCE 1e-10

/* POSES: a switch of those of frames and sensors */
typedef enum { IGNORED, PATH, PROJECT, COUNT, NUMBER, SWITCH, POSES } Kind;

#define SETTING(name) G_STRUCT_OFFSET (ColmapOptions, settings.name)
#define CONFIG(name) G_STRUCT_OFFSET (ColmapOptions, config.name)

/* Of 3.8, and what later versions call them. @at: offset in ColmapOptions */
static const struct {
  const gchar *name;
  Kind kind;
  gsize at;
} known[] = {
  { "input_path", PATH, G_STRUCT_OFFSET (ColmapOptions, input) },
  { "output_path", PATH, G_STRUCT_OFFSET (ColmapOptions, output) },
  { "project_path", PROJECT, 0 },
  { "database_path", PATH, G_STRUCT_OFFSET (ColmapOptions, database) },
  { "BundleAdjustment.max_num_iterations", COUNT, CONFIG (max_iterations) },
  { "BundleAdjustment.max_linear_solver_iterations", COUNT,
      CONFIG (max_pcg_iterations) },
  { "BundleAdjustment.function_tolerance", NUMBER,
      CONFIG (function_tolerance) },
  { "BundleAdjustment.gradient_tolerance", NUMBER,
      CONFIG (gradient_tolerance) },
  { "BundleAdjustment.parameter_tolerance", NUMBER,
      CONFIG (parameter_tolerance) },
  { "BundleAdjustment.refine_focal_length", SWITCH, SETTING (refine_focal) },
  { "BundleAdjustment.refine_principal_point", SWITCH,
      SETTING (refine_centre) },
  { "BundleAdjustment.refine_extra_params", SWITCH, SETTING (refine_extra) },
  { "BundleAdjustment.refine_extrinsics", POSES, 0 },
  { "BundleAdjustment.refine_rig_from_world", SWITCH, SETTING (refine_poses) },
  { "BundleAdjustment.refine_points3D", SWITCH, SETTING (refine_points) },
  { "BundleAdjustment.constant_rig_from_world_rotation", SWITCH,
      SETTING (keep_rotations) },
  { "BundleAdjustment.min_track_length", COUNT, SETTING (min_track) },
  { "BundleAdjustment.refine_sensor_from_rig", SWITCH,
      SETTING (refine_sensors) },
  { "BundleAdjustment.backend", IGNORED, 0 },
  { "BundleAdjustment.use_gpu", IGNORED, 0 },
  { "BundleAdjustment.gpu_index", IGNORED, 0 },
  { "BundleAdjustment.min_num_images_gpu_solver", IGNORED, 0 },
  { "BundleAdjustment.min_num_residuals_for_cpu_multi_threading", IGNORED, 0 },
  { "BundleAdjustment.max_num_images_direct_dense_cpu_solver", IGNORED, 0 },
  { "BundleAdjustment.max_num_images_direct_sparse_cpu_solver", IGNORED, 0 },
  { "BundleAdjustment.max_num_images_direct_dense_gpu_solver", IGNORED, 0 },
  { "BundleAdjustment.max_num_images_direct_sparse_gpu_solver", IGNORED, 0 },
  { "BundleAdjustment.auto_select_solver_type", IGNORED, 0 },
  { "BundleAdjustmentCaspar.solver_iter_max", IGNORED, 0 },
  { "BundleAdjustmentCaspar.pcg_iter_max", IGNORED, 0 },
  { "BundleAdjustmentCaspar.diag_init", IGNORED, 0 },
  { "BundleAdjustmentCaspar.diag_min", IGNORED, 0 },
  { "BundleAdjustmentCaspar.diag_scaling_up", IGNORED, 0 },
  { "BundleAdjustmentCaspar.diag_scaling_down", IGNORED, 0 },
  { "BundleAdjustmentCaspar.diag_exit_value", IGNORED, 0 },
  { "BundleAdjustmentCaspar.score_exit_value", IGNORED, 0 },
  { "BundleAdjustmentCaspar.pcg_rel_error_exit", IGNORED, 0 },
  { "BundleAdjustmentCaspar.pcg_rel_score_exit", IGNORED, 0 },
  { "BundleAdjustmentCaspar.pcg_rel_decrease_min", IGNORED, 0 },
  { "BundleAdjustmentCaspar.solver_rel_decrease_min", IGNORED, 0 },
  { "BundleAdjustmentCaspar.gpu_index", IGNORED, 0 },
  { "random_seed", IGNORED, 0 },
  { "default_random_seed", IGNORED, 0 },
  { "log_to_stderr", IGNORED, 0 },
  { "log_target", IGNORED, 0 },
  { "log_level", IGNORED, 0 },
  { "log_severity", IGNORED, 0 },
  { "log_color", IGNORED, 0 },
};

void
colmap_options_init (ColmapOptions *options)
{
  *options = (ColmapOptions){
    .settings = { .refine_focal = TRUE,
        .refine_extra = TRUE,
        .refine_poses = TRUE,
        .refine_sensors = TRUE,
        .refine_points = TRUE },
    .ignored = g_ptr_array_new_with_free_func (g_free),
  };
  bundle_config_init (&options->config);
  options->config.max_iterations = 100;
  options->config.function_tolerance = 0;
  options->config.gradient_tolerance = 1e-4;
  options->config.parameter_tolerance = 0;
}

void
colmap_options_clear (ColmapOptions *options)
{
  g_free (options->input);
  g_free (options->output);
  g_free (options->database);
  g_ptr_array_unref (options->ignored);
}

/* Index of the option, with the name of a group of version 4 as well; -1: unknown */
static gint
find_option (const gchar *name)
{
  static const gchar ceres[] = "BundleAdjustmentCeres.";
  gchar *plain = g_str_has_prefix (name, ceres) ? g_strconcat (
                     "BundleAdjustment.", name + strlen (ceres), NULL)
                                                : g_strdup (name);
  gint found = -1;

  for (guint i = 0; i < G_N_ELEMENTS (known) && found < 0; i++)
    if (strcmp (plain, known[i].name) == 0)
      found = (gint) i;
  g_free (plain);
  return found;
}

static gboolean
reject_value (
    const gchar *name, const gchar *value, const gchar *must, GError **error)
{
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
      "--%s %s: it must be %s", name, value, must);
  return FALSE;
}

static gboolean
parse_switch (
    const gchar *name, const gchar *value, gboolean *to, GError **error)
{
  static const gchar *const words[] = { "0", "1", "false", "true", "no", "yes",
    "off", "on" };

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (g_ascii_strcasecmp (value, words[i]) == 0) {
      *to = i % 2;
      return TRUE;
    }
  return reject_value (name, value, "0 or 1", error);
}

static gboolean
set_option (ColmapOptions *options, guint i, const gchar *value, GError **error)
{
  gpointer to = (guint8 *) options + known[i].at;
  guint64 count;
  gchar *end;

  switch (known[i].kind) {
    case PATH:
      g_free (*(gchar **) to);
      *(gchar **) to = g_strdup (value);
      return TRUE;
    case COUNT:
      if (!g_ascii_string_to_unsigned (value, 10, 0, 10000, &count, NULL))
        return reject_value (
            known[i].name, value, "an integer of 0 to 10000", error);
      *(guint *) to = (guint) count;
      return TRUE;
    case NUMBER:
      *(gdouble *) to = g_ascii_strtod (value, &end);
      return (end != value && *end == '\0' && *(gdouble *) to >= 0)
             || reject_value (
                 known[i].name, value, "a number of at least 0", error);
    case SWITCH:
      return parse_switch (known[i].name, value, to, error);
    case POSES:
      if (!parse_switch (
              known[i].name, value, &options->settings.refine_poses, error))
        return FALSE;
      options->settings.refine_sensors = options->settings.refine_poses;
      return TRUE;
    case IGNORED:
      g_ptr_array_add (options->ignored, g_strdup (known[i].name));
      return TRUE;
    case PROJECT:
      break;
  }
  return TRUE;
}

/* --- project files ------------------------------------------------------------------ */

/* A line of a project file: [section], key=value or a comment. Files that COLMAP writes
 * have the options of all its commands, so others than those of bundle adjustment are
 * skipped. */
static gboolean
read_project_line (
    ColmapOptions *options, gchar *line, gchar **section, GError **error)
{
  gchar *value, *name;
  gboolean ok = TRUE;
  gint i;

  g_strstrip (line);
  if (*line == '[' && strchr (line, ']')) {
    *strchr (line, ']') = '\0';
    g_free (*section);
    *section = g_strdup (line + 1);
    return TRUE;
  }
  value = strchr (line, '=');
  if (*line == '#' || *line == '\0')
    return TRUE;
  if (value == NULL) {
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
        "\"%s\" is neither [section] nor key=value", line);
    return FALSE;
  }
  *value++ = '\0';
  g_strchomp (line);
  g_strchug (value);
  name = *section ? g_strconcat (*section, ".", line, NULL) : g_strdup (line);
  i = find_option (name);
  /* COLMAP's adjustment reads no database, but its files name one */
  if (i >= 0 && known[i].kind != PROJECT && known[i].kind != IGNORED
      && strcmp (name, "database_path") != 0)
    ok = set_option (options, (guint) i, value, error);
  else if (i < 0 && g_str_has_prefix (name, "BundleAdjustment.")) {
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION,
        "unknown option %s", name);
    ok = FALSE;
  }
  g_free (name);
  return ok;
}

static gboolean
read_project (ColmapOptions *options, const gchar *path, GError **error)
{
  gchar *text, *section = NULL, **lines;
  gboolean ok = TRUE;

  if (!g_file_get_contents (path, &text, NULL, error))
    return FALSE;
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] && ok; i++) {
    ok = read_project_line (options, lines[i], &section, error);
    if (!ok)
      g_prefix_error (error, "%s line %u: ", path, i + 1);
  }
  g_strfreev (lines);
  g_free (section);
  g_free (text);
  return ok;
}

/* --- the command line --------------------------------------------------------------- */

/* Whether @word looks like an option of COLMAP, whose names have an underscore or a
 * group. @name: (out): without dashes and value */
static gboolean
is_colmap_option (const gchar *word, gchar **name)
{
  if (!g_str_has_prefix (word, "--"))
    return FALSE;
  *name = g_strndup (word + 2, strcspn (word + 2, "="));
  if (strpbrk (*name, "_."))
    return TRUE;
  g_free (*name);
  return FALSE;
}

static gboolean
reject_unknown (const gchar *name, GError **error)
{
  const gchar *names[G_N_ELEMENTS (known) + 1] = { NULL }, *nearest;

  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    names[i] = known[i].name;
  nearest = nearest_name (name, names);
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION,
      nearest ? "unknown option --%s; did you mean --%s?"
              : "unknown option --%s",
      name, nearest);
  return FALSE;
}

/* Takes the options of @argv. @project: of this kind, or of all others
 * Returns: FALSE with @error */
static gboolean
take_options (
    ColmapOptions *options, gchar **argv, gboolean project, GError **error)
{
  for (guint i = 1; argv[i] && strcmp (argv[i], "--") != 0; i++) {
    gchar *name;
    const gchar *value = strchr (argv[i], '=');
    gboolean ok;
    gint found;

    if (!is_colmap_option (argv[i], &name))
      continue;
    found = find_option (name);
    ok = found >= 0 || reject_unknown (name, error);
    if (ok && !value && !argv[i + 1])
      ok = reject_value (name, "", "followed by a value", error);
    if (ok && !value)
      value = argv[++i];
    else if (ok)
      value++;
    if (ok && (known[found].kind == PROJECT) == project)
      ok = project ? read_project (options, value, error)
                   : set_option (options, (guint) found, value, error);
    g_free (name);
    if (!ok)
      return FALSE;
  }
  return TRUE;
}

/* Removes the options from @argv, which take_options() has accepted. */
static void
remove_options (ColmapOptions *options, gint *argc, gchar **argv)
{
  gint n = 1, i = 1;

  for (; i < *argc && strcmp (argv[i], "--") != 0; i++) {
    gchar *name;

    if (!is_colmap_option (argv[i], &name)) {
      argv[n++] = argv[i];
      continue;
    }
    options->used = TRUE;
    i += strchr (argv[i], '=') == NULL;
    g_free (name);
  }
  while (i < *argc)
    argv[n++] = argv[i++];
  argv[n] = NULL;
  *argc = n;
}

gboolean
colmap_options_take (
    ColmapOptions *options, gint *argc, gchar **argv, GError **error)
{
  if (!take_options (options, argv, TRUE, error)
      || !take_options (options, argv, FALSE, error))
    return FALSE;
  remove_options (options, argc, argv);
  options->config.function_tolerance =
      MAX (options->config.function_tolerance, LEAST_TOLERANCE);
  options->config.max_pcg_iterations =
      MAX (options->config.max_pcg_iterations, 1);
  return TRUE;
}
