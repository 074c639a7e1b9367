/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The names of the network's outputs as they travel with a stream: an array of strings,
 * "output-names", in the caps of records and in a sticky event with the frames. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Name of the structure of the sticky event that cudapbfmonitor pushes after a segment */
#define GST_PBF_NAMES_EVENT "cudapbfmonitor-output-names"

/* Sets "output-names" of @structure to the first @n of @names. */
void gst_pbf_names_set (GstStructure *structure, gchar **names, guint n);
/* Returns: (transfer full) (nullable): "output-names" of @structure, ended by %NULL;
 * %NULL if they are missing or no strings */
gchar **gst_pbf_names_get (const GstStructure *structure);

G_END_DECLS
