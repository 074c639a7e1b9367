/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Missing points across a transform into coefficients and back. */
#pragma once

#include "gstlwtframe.h"

G_BEGIN_DECLS

/**
 * gst_lwt_frame_carry_missing:
 * @frame: a frame whose job is done, and not unmapped yet
 * @config: configuration of the engine
 *
 * Missing points are filled before the transform, so that coefficients of floats
 * have no NaN. For BANDS frame->mask becomes the mask of the surface; `inverse` sets
 * the points of the input's mask to NaN again, and computes parameters of the other
 * points. Integers do not change.
 *
 * Returns: FALSE with CVIS_ERROR_MEMORY
 */
gboolean gst_lwt_frame_carry_missing (
    GstLwtFrame *frame, const LwtConfig *config, GError **error);

G_END_DECLS
