/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Pipelines as text: written once, printed by --show, run by the subcommands. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Appends `NAME=VALUE`, quoted for gst-launch-1.0 if that is needed, and a blank. */
void launch_set (GString *launch, const gchar *name, const gchar *value);
/* Appends location=@name for elements that take a pattern with %d: each % is doubled. */
void launch_set_location (GString *launch, const gchar *name);
void launch_set_double (GString *launch, const gchar *name, gdouble value);
void launch_set_int (GString *launch, const gchar *name, gint64 value);

/* "gst-launch-1.0 ..." as a line for a shell. Free with g_free(). */
gchar *launch_to_shell (const gchar *launch);
/* Prints that line on standard output, and frees @launch. */
void launch_print (gchar *launch);

/**
 * PipelineRun:
 * @launch: the pipeline in the syntax of gst-launch-1.0
 * @label: (nullable): before warnings and progress, such as the name of a file
 * @message: (nullable): called for each element message
 * @prepare: (nullable): called once before the pipeline starts
 * @finish: (nullable): called at the end of the stream, before elements stop
 * @preroll: end with @finish as soon as the first buffers have reached the sinks
 * @stop_at_interrupt: end the stream properly on Ctrl-C, as live input is complete
 *   at any time; else Ctrl-C is an error
 * @progress: show a bar on standard error if that is a terminal
 * @frames: (nullable): name of the element that receives the frames. The bar counts
 *   them, and a file without one is an error.
 * @measure: (nullable): gives fraction and number of @unit done instead
 */
typedef struct {
  const gchar *launch;
  const gchar *label;
  void (*message) (const GstStructure *structure, gpointer data);
  void (*prepare) (GstElement *pipeline, gpointer data);
  void (*finish) (GstElement *pipeline, gpointer data);
  gpointer data;
  gboolean preroll;
  gboolean stop_at_interrupt;
  gboolean progress;
  const gchar *frames;
  gdouble (*measure) (gpointer data, guint64 *done);
  const gchar *unit;
  gboolean quiet;
} PipelineRun;

/* Runs to the end of the stream, or to the first buffers. Any thread. Warnings of elements go to standard
 * error unless @quiet.
 * Returns: FALSE with the text of the first error, or G_IO_ERROR_CANCELLED after
 *   Ctrl-C */
gboolean pipeline_run (const PipelineRun *run, GError **error);

/* Ctrl-C sets a flag, which ends every pipeline_run(). A second later, or at the second
 * Ctrl-C, the process ends. */
void interrupt_install (void);
/* From now on the process ends at the second Ctrl-C only: results will be written. */
void interrupt_wait (void);
gboolean interrupted (void);
/* The flag, for cuda/core/cancel.h. */
const gint *interrupt_get_flag (void);

/* For finish(): the last sample of the sink @name (nullable), its bytes as text
 * (nullable), and the nick of an enumeration. */
GstSample *element_get_sample (GstElement *pipeline, const gchar *name);
gchar *element_get_text (GstElement *pipeline, const gchar *name);
gchar *element_get_nick (
    GstElement *pipeline, const gchar *name, const gchar *property);

/* A number of @structure (nullable), of any integer type; 0 without it. */
guint64 structure_get_count (const GstStructure *structure, const gchar *name);
/* NaN without it */
gdouble structure_get_double (const GstStructure *structure, const gchar *name);

/* The Debian package of a missing decoder or demuxer; @detail: the installer detail of
 * gstreamer-pbutils */
const gchar *package_of_detail (const gchar *detail);

/* "the GStreamer element x264enc is missing; install the package ...". Free with
 * g_free(). */
gchar *describe_missing_element (const gchar *factory);

G_END_DECLS
