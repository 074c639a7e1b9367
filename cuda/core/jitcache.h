/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The cache of compiled kernels: a file for each in the folder
 * $XDG_CACHE_HOME/gst-cudavision, named after its key. A file begins with its key
 * and the checksum of what follows, so that one that is truncated, damaged or of
 * another format counts as absent. Files are written beside their place and
 * renamed, so that several processes may use the folder at once; a folder that
 * cannot be written, or is full, means that nothing is kept. Files that have not
 * been used for 180 days, and the oldest beyond 256 MiB, are removed when one is
 * added. CUDAVISION_JIT_CACHE=off in the environment turns the cache off. All
 * functions may be called from any thread. */
#pragma once

#include "cuda/core/nvrtc.h"

G_BEGIN_DECLS

/* SHA-256, in hexadecimal, of all that a compiled kernel depends on.
 * @compiler: of cvis_nvrtc_name()
 * @target: of cvis_nvrtc_target()
 * @driver_version: of cudaDriverGetVersion() */
gchar *cvis_jit_cache_key (const CvisJitSource *source, const gchar *compiler,
    const gchar *target, gint driver_version);

/* The file of @key, whether there is one or not. */
gchar *cvis_jit_cache_path (const gchar *key);

/* Returns: (transfer full) (nullable): what was stored under @key */
GBytes *cvis_jit_cache_load (const gchar *key);
/* Returns: FALSE with an error of G_FILE_ERROR if nothing was stored */
gboolean cvis_jit_cache_store (const gchar *key, GBytes *image, GError **error);
/* Removes @key, whose stored image the driver rejects. */
void cvis_jit_cache_remove (const gchar *key);

/* Removes the files that have not been used for @seconds, then the oldest until
 * no more than @bytes are left. */
void cvis_jit_cache_prune (gint64 seconds, guint64 bytes);

G_END_DECLS
