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
 * @frame: whose job is done, and not unmapped yet
 * @config: of the engine
 *
 * Coefficients of floats have no NaN for points that were filled, so frame->mask
 * becomes a mask of the surface where BANDS leave; `inverse` makes the points
 * of the mask that came NaN again, and its parameters are of the others.
 * Nothing happens to integers.
 *
 * Returns: FALSE with CVIS_ERROR_MEMORY
 */
gboolean gst_lwt_frame_carry_missing (
    GstLwtFrame *frame, const LwtConfig *config, GError **error);

G_END_DECLS
