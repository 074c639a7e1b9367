/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The cache of compiled kernels: one file each in the folder
 * $XDG_CACHE_HOME/gst-cudavision, named after its key. A file begins with
 * its key and a checksum of the rest, so truncated, damaged or foreign files
 * count as absent. Files are written under a temporary name and renamed, so
 * several processes may share the folder; if it cannot be written or is
 * full, nothing is stored. When a file is added, files unused for 180 days,
 * and the oldest beyond 256 MiB, are removed. The environment variable
 * CUDAVISION_JIT_CACHE=off turns the cache off. All functions may be called
 * from any thread. */
#pragma once

#include "cuda/core/jit/nvrtc.h"

G_BEGIN_DECLS

/* SHA-256, in hexadecimal, of everything that a compiled kernel depends on.
 * @compiler: from cvis_nvrtc_name()
 * @target: from cvis_nvrtc_target()
 * @driver_version: from cudaDriverGetVersion() */
gchar *cvis_jit_cache_key (const CvisJitSource *source, const gchar *compiler,
    const gchar *target, gint driver_version);

/* Path of the file for @key, which need not exist. */
gchar *cvis_jit_cache_path (const gchar *key);

/* Returns: (transfer full) (nullable): what was stored under @key */
GBytes *cvis_jit_cache_load (const gchar *key);
/* Returns: FALSE with an error of G_FILE_ERROR if nothing was stored */
gboolean cvis_jit_cache_store (const gchar *key, GBytes *image, GError **error);
/* Removes @key, whose image the driver rejects. */
void cvis_jit_cache_remove (const gchar *key);

/* Removes the files unused for @seconds, then the oldest until at most
 * @bytes are left. */
void cvis_jit_cache_prune (gint64 seconds, guint64 bytes);

G_END_DECLS
