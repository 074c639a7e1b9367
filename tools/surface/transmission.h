/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Plot of a surface filter's transmission for a report. Called by roughnessresults.c. */
#pragma once

#include <gst/gst.h>

#include "tools/report.h"

G_BEGIN_DECLS

/* @filter: (nullable): the message cudalwtfilter-filter; @name: of the filter */
void transmission_report (
    const GstStructure *filter, const gchar *name, Report *report);

G_END_DECLS
