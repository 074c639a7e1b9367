/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A progress bar on standard error, if that is a terminal. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/**
 * Progress:
 * @label: (nullable): what is worked on, such as the name of a file
 * @unit: of the rate: "frames"
 * @start, @last: monotonic us
 */
typedef struct {
  const gchar *label, *unit;
  gint64 start, last;
  gboolean shown;
} Progress;

void progress_start (Progress *progress, const gchar *label, const gchar *unit);
/* Whether to show the bar now: on a terminal, after half a second, ten times a second. */
gboolean progress_is_due (const Progress *progress);
/* @fraction: below 0: not known
 * @done: number of @unit */
void progress_show (Progress *progress, gdouble fraction, guint64 done);
void progress_clear (Progress *progress);

G_END_DECLS
