/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* `cudavision roughness`: what its files share. */
#pragma once

#include <gst/cudavision/gstsurfacemeta.h>

#include "tools/command.h"
#include "surfacereport.h"

G_BEGIN_DECLS

/**
 * RoughnessSettings: the options after parsing
 * @lambda_c: 0: chosen by the size of each surface
 * @wavelet, @csv: (nullable)
 * @write: (nullable): "COMPONENT=FILE"
 * @many: several files: only the parameters of the roughness
 */
typedef struct {
  const CommonOptions *common;
  gdouble lambda_s, lambda_c, lambda_f, dx, dy; /* metres; 0: not given */
  const gchar *form, *wavelet, *csv;
  const gchar *low_pass; /* property filter of cudalwtfilter */
  gchar **write;
  gboolean unfiltered;
  gboolean many;
} RoughnessSettings;

/**
 * Surface: a file and what was found
 * @known: components with parameters: 1 << CvisSurfacePart
 * @filter: (nullable): the message cudalwtfilter-filter
 * @rows: (nullable): text of surfaceparamenc, with a header row
 * @pictures: (nullable): for the report, last samples by name
 */
typedef struct {
  const gchar *name;
  const RoughnessSettings *settings;
  gdouble lambda_c;
  guint known;
  guint64 missing;
  CvisSurfaceParameters parameters[CVIS_SURFACE_N_PARTS];
  GstStructure *filter;
  gchar *backend;
  gchar *rows;
  SurfacePictures pictures;
  GPtrArray *outputs; /* of Output, of --write */
  GError *error;
} Surface;

/* The name before "=" of "roughness=FILE"; %NULL if that is no component */
const gchar *roughness_component_of_write (const gchar *word);

/* roughnessrun.c */

/* Checks the cut-offs that were given against the header of the file, and chooses lambda-c
 * if it was not. */
gboolean roughness_prepare_cutoffs (Surface *surface, GError **error);
/* The pipeline of one file as text. Free with g_free().
 * @rows: the sink of the table
 * @temporary: writes to the temporary names */
gchar *roughness_make_launch (const Surface *surface, const gchar *rows,
    gboolean header, gboolean temporary);
/* Measures all. Those that failed have an error afterwards.
 * @common: of all of them */
void roughness_measure (GPtrArray *surfaces, const CommonOptions *common);

/* roughnessresults.c */

/* Prints and writes what the options ask for. */
ExitStatus roughness_write_results (
    GPtrArray *surfaces, const RoughnessSettings *settings);

G_END_DECLS
