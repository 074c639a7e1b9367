/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Random settings and surfaces for the lifting engine, including awkward
 * ones. */
#pragma once

#include "cuda/lifting/backend.h"

G_BEGIN_DECLS

/* @round: cycles through all operations, and within them through types and
 *   boundaries. @max_side: of the surface. Free config->wavelet with
 *   lwt_wavelet_free(). */
void lwt_random_config (
    GRand *random, guint round, guint max_side, LwtConfig *config);

/* Makes one of three denoise configurations store integers. */
void lwt_random_store (GRand *random, LwtConfig *config);

/* Random input for an engine of @config, @width x @height samples: realistic
 * heights, noise, zeros of both signs; in every second surface of floats a
 * few, many or all points are missing. */
void lwt_random_surface (
    GRand *random, const LwtConfig *config, gpointer samples, gsize stride);
void lwt_random_size (const LwtConfig *config, guint *width, guint *height);

G_END_DECLS
