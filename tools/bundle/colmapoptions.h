/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The options of `colmap bundle_adjuster`, on the command line and in project files. */
#pragma once

#include "cuda/bundle/colmap/adjust.h"
#include "cuda/bundle/engine.h"

G_BEGIN_DECLS

/**
 * ColmapOptions: colmap_options_init(), then colmap_options_take()
 * @used: there was one of COLMAP's options
 * @input, @output: (nullable): --input_path and --output_path
 * @database: (nullable): --database_path, for priors; not that of a project file
 * @settings, @config: COLMAP's defaults where the options set nothing
 * @ignored: (element-type utf8): options without a meaning here
 */
typedef struct {
  gboolean used;
  gchar *input, *output, *database;
  BundleModelSettings settings;
  BundleConfig config;
  GPtrArray *ignored;
} ColmapOptions;

void colmap_options_init (ColmapOptions *options);
void colmap_options_clear (ColmapOptions *options);
/* Removes COLMAP's options from @argv, those of --project_path first.
 * Returns: FALSE with G_OPTION_ERROR or an error of reading the project file */
gboolean colmap_options_take (
    ColmapOptions *options, gint *argc, gchar **argv, GError **error);

G_END_DECLS
