/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* NVRTC, the run-time compiler of the CUDA toolkit, loaded with dlopen() on
 * first use. Nothing is linked to it; without it only run-time compilation
 * is missing. Compiling needs no GPU. All functions may be called from any
 * thread.
 *
 * The library is the one named by the environment variable CUDAVISION_NVRTC,
 * otherwise libnvrtc.so, .so.13, .so.12 or .so.11.2 on the linker's path, in
 * $CUDA_PATH/lib64 or in /usr/local/cuda/lib64. */
#pragma once

#include <glib.h>
#include "cuda/core/error.h"

G_BEGIN_DECLS

/**
 * CvisJitHeader:
 * @name: as quoted in an `#include`
 * @text: contents of the file
 */
typedef struct {
  const gchar *name;
  const gchar *text;
} CvisJitHeader;

/**
 * CvisJitSource: a translation unit of CUDA C++
 * @name: file name in the compiler's messages
 * @text: the source
 * @headers, @n_headers: the only files that it may include
 * @options: (nullable): NVRTC options, %NULL-terminated, for example
 *   "-DTAPS=8". `--std=c++17 --fmad=false` and the architecture are always
 *   added: kernels compiled by nvcc and at run time give the same bits
 */
typedef struct {
  const gchar *name;
  const gchar *text;
  const CvisJitHeader *headers;
  guint n_headers;
  const gchar *const *options;
} CvisJitSource;

/* "NVRTC 13.0". Returns: %NULL with CVIS_ERROR_CUDA if NVRTC is not found */
const gchar *cvis_nvrtc_name (GError **error);

/* The compilation target: "sm_90" for machine code of that device or, if the
 * compiler is older than the device, "compute_90" for PTX of its newest
 * architecture, which the driver translates.
 * @compute_capability: of the device, 10 * major + minor
 * @target: (out): at least 32 bytes
 * Returns: FALSE with CVIS_ERROR_CUDA without NVRTC, or if NVRTC does not
 * support such an old device */
gboolean cvis_nvrtc_target (
    gint compute_capability, gchar *target, GError **error);

/* Compiles. Takes seconds; ends early with an error if the process exits.
 * @target: from cvis_nvrtc_target()
 * Returns: (transfer full): a cubin or PTX text for cuModuleLoadData();
 * %NULL with CVIS_ERROR_INVALID and the first errors of NVRTC's log for a
 * wrong source or option, with CVIS_ERROR_CUDA for other failures */
GBytes *cvis_nvrtc_compile (
    const CvisJitSource *source, const gchar *target, GError **error);

/* Whether exit() has been called: a thread that is inside NVRTC does not return then. */
gboolean cvis_nvrtc_is_exiting (void);

G_END_DECLS
