/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Whether a low band shows that a sample was not finite. */
#pragma once

#include "cuda/lifting/backend.h"

G_BEGIN_DECLS

/* Lifting steps add weighted neighbours, so a value that is not finite stays
 * so and spreads.
 * Returns: whether, in a line of @n samples split @levels times, every
 * sample reaches the low band, so that a finite low band proves that all
 * samples are finite. (The converse does not hold: sums may overflow.)
 * Padded boundaries are symmetric here. */
gboolean lwt_low_band_sees_all (
    const LwtWavelet *wavelet, LwtBoundary boundary, guint n, guint levels);

G_END_DECLS
