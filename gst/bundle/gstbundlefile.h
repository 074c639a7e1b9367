/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Collects the buffers of a file in one piece of memory, and source pads of elements
 * that do so. */
#pragma once

#include <gst/gst.h>
#include "cuda/bundle/formats/formats.h"

G_BEGIN_DECLS

#define GST_BUNDLE_FILE_START 4096 /* bytes that identify the format */

typedef struct {
  gchar *data;
  gsize size, allocated;
} GstBundleFile;

/* Memory for a file whose @size is known, in large pages: new small ones would take
 * longer than reading. An empty @file that grows all the same is moved. */
void gst_bundle_file_reserve (GstBundleFile *file, guint64 size);
/* Returns: FALSE after posting an error of @element */
gboolean gst_bundle_file_append (
    GstBundleFile *file, GstElement *element, GstBuffer *buffer);
void gst_bundle_file_clear (GstBundleFile *file);

/* Folder of the file that upstream of @pad reads. @is_part: (out): whether the file is
 * part of a COLMAP model. Returns: (nullable): %NULL: the stream is no file. g_free() */
gchar *gst_bundle_file_find_folder (GstPad *pad, gboolean *is_part);

/* Whether @data begins like a PLY */
gboolean gst_bundle_is_ply (const gchar *data, gsize size);
/* Posts what the reader of @problem skipped, guessed or replaced as a warning. */
void gst_bundle_warn_of_notes (
    GstElement *element, const BundleProblem *problem);
/* Posts what @format loses of @problem as a warning; for before it is written. */
void gst_bundle_warn_of_losses (GstElement *element,
    const BundleProblem *problem, BundleFormat format, guint threads);

/* Returns: (transfer floating): a source pad for a task: it cannot seek, and has no
 * positions and durations, as those of the file are not those of its stream */
GstPad *gst_bundle_file_new_src_pad (GstStaticPadTemplate *template);

G_END_DECLS
