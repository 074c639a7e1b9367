/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Heights that are too large for the type computed in. */
#pragma once

#include "gstlwtframe.h"

G_BEGIN_DECLS

/**
 * gst_lwt_frame_find_overflow:
 * @frame: whose job is done, and not unmapped yet
 * @config: of the engine
 * @part: (out): the first part that is concerned
 *
 * Looks for samples of parts that are not finite where the surface is. An
 * overflow in a level spreads over all of its waves, so that up to 64 x 64
 * samples of each part, or of its last low band, are enough, whatever its size.
 *
 * Returns: whether there are any. Never with integers, nor with `inverse`,
 *   whose coefficients need not be finite
 */
gboolean gst_lwt_frame_find_overflow (
    const GstLwtFrame *frame, const LwtConfig *config, SurfacePart *part);

G_END_DECLS
