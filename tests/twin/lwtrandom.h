/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Settings of the lifting engine and surfaces at random, the awkward ones among
 * them. */
#pragma once

#include "cuda/lifting/backend.h"

G_BEGIN_DECLS

/* @round: in turns all operations, and in their turns types and boundaries.
 * @max_side: of the surface. config->wavelet is to be freed with
 * lwt_wavelet_free(). */
void lwt_random_config (
    GRand *random, guint round, guint max_side, LwtConfig *config);

/* One in three that denoise stores integers. */
void lwt_random_store (GRand *random, LwtConfig *config);

/* What an engine of @config takes in, @width x @height samples: heights that
 * mean something, noise, zeros of both signs; in one of two surfaces of floats
 * points are missing: a few, many, or all. */
void lwt_random_surface (
    GRand *random, const LwtConfig *config, gpointer samples, gsize stride);
void lwt_random_size (const LwtConfig *config, guint *width, guint *height);

G_END_DECLS
