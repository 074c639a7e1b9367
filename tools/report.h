/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A self-contained HTML page: pictures, plots, tables, settings. One look for all
 * subcommands; light and dark; prints on A4. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct _Report Report;

/* @title: "Roughness of part.x3p" */
Report *report_new (const gchar *title);
void report_free (Report *report);

void report_add_heading (Report *report, const gchar *text);
void report_add_paragraph (Report *report, const gchar *format, ...)
    G_GNUC_PRINTF (2, 3);
/* @caption: says what the picture shows, with units
 * @image: a buffer with a PNG or JPEG file; %NULL adds nothing */
void report_add_picture (
    Report *report, GstSample *image, const gchar *caption);
/* Pictures between these two stand side by side where there is room. */
void report_begin_pictures (Report *report);
void report_end_pictures (Report *report);
/* Appends the SVG of plot.h with a caption. */
void report_add_plot (Report *report, const gchar *svg, const gchar *caption);

/* A table: the first row is the head. Cells are text. */
void report_begin_table (Report *report, const gchar *const *head);
void report_add_row (Report *report, const gchar *const *cells);
void report_end_table (Report *report);

/* A row of the table of settings, which ends the page. */
void report_add_setting (Report *report, const gchar *name, const gchar *format,
    ...) G_GNUC_PRINTF (3, 4);
/* Adds name, size and SHA-256 of an input file to the settings. */
void report_add_input (Report *report, const gchar *name);

/* Writes the page. @inputs: not overwritten */
gboolean report_write (Report *report, const gchar *name,
    const gchar *const *inputs, GError **error);

G_END_DECLS
