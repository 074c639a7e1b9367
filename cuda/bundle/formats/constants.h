/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Parameters that an adjustment keeps constant, as lines of text:
 *
 *   camera NUMBER PARAMETERS   all, rotation, translation, pose, intrinsics,
 *                              focal, k1, k2: one or several
 *   point NUMBER
 *   # comment
 *
 * Numbers start at 0. */
#pragma once

#include "cuda/bundle/problem.h"

G_BEGIN_DECLS

/* Adds the constants in @data to those of @problem.
 * Returns: FALSE with CVIS_ERROR_FORMAT that names line and field, or
 *   CVIS_ERROR_MEMORY */
gboolean bundle_constants_read (
    BundleProblem *problem, const gchar *data, gsize size, GError **error);

G_END_DECLS
