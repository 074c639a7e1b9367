/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Writes a network of zeros with two outputs as safetensors.
 * @metadata: members of "__metadata__"
 * Returns: (transfer full): name of the file, which the caller deletes */
gchar *model_file_new (const gchar *metadata);

/* The same with all weights of both layers @weight. */
gchar *model_file_new_weighted (const gchar *metadata, gfloat weight);

G_END_DECLS
