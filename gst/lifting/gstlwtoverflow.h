/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Heights that are too large for the type of the arithmetic. */
#pragma once

#include "gstlwtframe.h"

G_BEGIN_DECLS

/**
 * gst_lwt_frame_find_overflow:
 * @frame: a frame whose job is done, and not unmapped yet
 * @config: configuration of the engine
 * @part: (out): the first component with an overflow
 *
 * Looks for samples of components that are not finite where the surface is. An
 * overflow in a level spreads over all samples, so that up to 64 x 64 samples of
 * each component, or of its last low band, are tested.
 *
 * Returns: whether there are any. FALSE for integers, and for `inverse`, whose
 *   coefficients need not be finite
 */
gboolean gst_lwt_frame_find_overflow (
    const GstLwtFrame *frame, const LwtConfig *config, CvisSurfacePart *part);

G_END_DECLS
