/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A step of cameras with lenses by a sparse Cholesky factorisation of the Schur
 * complement (schur.h). Private. */
#pragma once

#include "cuda/bundle/cpu/schur.h"

G_BEGIN_DECLS

/* Orders the cameras. Sets *@factor, or leaves it %NULL where conjugate gradients are
 * better. Returns: FALSE with CVIS_ERROR_MEMORY or _CANCELLED */
gboolean bundle_factor_new (
    BundleBackend *b, BundleCpuFactor **factor, GError **error);
void bundle_factor_free (BundleCpuFactor *factor);
/* x = S^-1 b, after bundle_schur_update() */
void bundle_factor_solve (BundleBackend *b, BundleCpuFactor *factor);

G_END_DECLS
