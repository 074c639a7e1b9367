/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Kernels compiled at run time for the device in use, with constants known
 * only then. NVRTC (cuda/core/jit/nvrtc.h) compiles in a background thread, and
 * the result is stored in the user's cache folder (cuda/core/jit/jitcache.h). In
 * a build without CUDA the state is CVIS_JIT_FAILED.
 *
 * One thread at a time uses a CvisJit; several may exist and compile at
 * once.
 *
 *   jit = cvis_jit_new (context, "smooth.cu", text, headers, n, options);
 *   ...
 *   for each picture, with the context pushed:
 *     if (function == NULL && cvis_jit_poll (jit) == CVIS_JIT_READY)
 *       function = cvis_jit_get_function (jit, "smooth", &error);
 *     if (function != NULL)
 *       cvis_jit_launch (function, grid, block, 0, stream, FALSE, parameters,
 *           &error);
 *     else
 *       smooth_generic <<<...>>> (...);
 *
 * The source may include only @headers. A header that nvcc compiles too must
 * not include GLib or CUDA's own headers if __CUDACC_RTC__ is defined.
 * Kernels are declared `extern "C" __global__`. scripts/embed turns files
 * into these texts. */
#pragma once

#include "cuda/core/device/device.h"
#include "cuda/core/jit/jitimage.h"

G_BEGIN_DECLS

typedef struct _CvisJit CvisJit;

/* Starts to compile, or to read the cache, and returns at once.
 * @context: kept alive until cvis_jit_free()
 * @name: of the source, for messages
 * @source, @headers, @n_headers, @options: as in CvisJitSource; copied
 * Returns: never %NULL; errors are reported as CVIS_JIT_FAILED */
CvisJit *cvis_jit_new (CvisContext *context, const gchar *name,
    const gchar *source, const CvisJitHeader *headers, guint n_headers,
    const gchar *const *options);

/* The current state. Takes less than a microsecond, except the first time
 * that the kernel is ready: then it loads the module (about 100 us). The
 * caller has pushed the context. */
CvisJitState cvis_jit_poll (CvisJit *jit);

/* Waits until the kernel is ready or has failed. The caller has pushed the
 * context.
 * Returns: FALSE with CVIS_ERROR_INVALID for a wrong source and
 * CVIS_ERROR_CUDA otherwise: no NVRTC, an unknown architecture, a module
 * that the driver rejects */
gboolean cvis_jit_wait (CvisJit *jit, GError **error);

/* @symbol: the kernel's name. The caller has pushed the context.
 * Returns: a CUfunction that lives as long as @jit; %NULL with
 * CVIS_ERROR_CUDA if @jit is not ready or has no such kernel */
gpointer cvis_jit_get_function (
    CvisJit *jit, const gchar *symbol, GError **error);

/* Launches a kernel. The caller has pushed the context.
 * @function: from cvis_jit_get_function() of any CvisJit
 * @shared: bytes of dynamic shared memory; more than 48 KiB are allowed
 * @stream: a CUstream or cudaStream_t
 * @programmatic: programmatic dependent launch: the kernel may start before
 *   the one before it on @stream has ended, and executes griddepcontrol.wait
 *   before it accesses memory. Ignored below compute capability 9.0 and by
 *   drivers before CUDA 11.8
 * @parameters: addresses of the kernel's parameters, in order */
gboolean cvis_jit_launch (gpointer function, const guint grid[3],
    const guint block[3], gsize shared, gpointer stream, gboolean programmatic,
    gpointer *parameters, GError **error);

/* Description for messages: as cvis_jit_image_describe(). Valid until the next
 * call with @jit. */
const gchar *cvis_jit_describe (CvisJit *jit);

/* Unloads the module; nothing that uses it may be in flight. A running
 * compilation is not waited for; it ends in its thread and fills the cache.
 * Needs no context pushed. @jit: (nullable) */
void cvis_jit_free (CvisJit *jit);

G_END_DECLS
