/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* `cudavision bundle` from a folder with a model of COLMAP to another. */
#pragma once

#include "colmapoptions.h"
#include "command.h"

G_BEGIN_DECLS

/* Adjusts the model of the folder @input and writes it to the folder @output, which may
 * be the same, as binary files if @binary, otherwise in the kind of files that were
 * read. Prints the result. @common: for threads and output. An interruption writes the best
 * state so far. */
void bundle_model_adjust (const CommonOptions *common, const gchar *input,
    const gchar *output, gboolean binary, const BundleModelSettings *settings,
    const BundleConfig *config, GError **error);

G_END_DECLS
