/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The Schur complement of cameras with lenses as a sparse matrix, which takes less time
 * than products with all observations where tracks are short and lenses are few.
 * Private. */
#pragma once

#include "cuda/bundle/cpu/lenses.h"

G_BEGIN_DECLS

/* Sets *@schur, or leaves it %NULL where products with the observations are better.
 * Returns: FALSE with CVIS_ERROR_MEMORY or _CANCELLED */
gboolean bundle_schur_new (
    BundleBackend *b, BundleCpuSchur **schur, GError **error);
void bundle_schur_free (BundleCpuSchur *schur);
/* Computes the matrix for the linearisation and the damping. */
void bundle_schur_update (BundleBackend *b, BundleCpuSchur *schur);
/* out = S in */
void bundle_schur_multiply (BundleBackend *b, BundleCpuSchur *schur);

G_END_DECLS
