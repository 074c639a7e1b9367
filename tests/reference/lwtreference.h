/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The lifting engine in plain C: docs/design/lifting.md, word by word, a sample
 * at a time. The tests compare the backends with it. */
#pragma once

#include "cuda/lifting/backend.h"

G_BEGIN_DECLS

/* The engine's operations. */
extern const LwtBackendOps lwt_backend_reference;

/* Transforms of pictures of float, double or gint32 without gaps between rows;
 * padded boundaries are symmetric here. */
void lwt_reference_forward (const LwtWavelet *wavelet, LwtBoundary boundary,
    LwtType type, const LwtChain *chain, LwtLayout layout,
    gconstpointer picture, gpointer bands);
void lwt_reference_inverse (const LwtWavelet *wavelet, LwtBoundary boundary,
    LwtType type, const LwtChain *chain, LwtLayout layout, gconstpointer bands,
    gpointer picture);
/* Only the low band of levels @first .. @first + @n - 1 of @chain. */
void lwt_reference_reduce (const LwtWavelet *wavelet, LwtBoundary boundary,
    LwtType type, const LwtChain *chain, guint first, guint n,
    gconstpointer picture, gpointer low);
/* Low-only synthesis from it. */
void lwt_reference_expand (const LwtWavelet *wavelet, LwtBoundary boundary,
    LwtType type, const LwtChain *chain, guint first, guint n,
    gconstpointer low, gpointer picture);

G_END_DECLS
