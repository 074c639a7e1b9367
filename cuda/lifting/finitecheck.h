/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Whether a low band tells that a sample was not finite. */
#pragma once

#include "cuda/lifting/backend.h"

G_BEGIN_DECLS

/* Lifting steps add weighed neighbours: what is not finite stays so and spreads.
 * Returns: whether, in a line of @n samples split @levels times, every sample
 * spreads to the low band, so that a low band of finite values proves that all
 * samples are finite. (Not the other way round: sums may overflow.) Padded
 * boundaries are symmetric here. */
gboolean lwt_low_band_sees_all (
    const LwtWavelet *wavelet, LwtBoundary boundary, guint n, guint levels);

G_END_DECLS
