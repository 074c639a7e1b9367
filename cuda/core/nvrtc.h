/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* NVRTC, the run-time compiler of CUDA's toolkit, loaded with dlopen() when it is
 * first needed: nothing links it, and a machine without it loses only what is
 * compiled at run time. No GPU is needed to compile. All functions may be called
 * from any thread.
 *
 * The library is what the environment variable CUDAVISION_NVRTC names, else
 * libnvrtc.so, .so.13, .so.12 or .so.11.2 on the linker's path, in
 * $CUDA_PATH/lib64 or in /usr/local/cuda/lib64. */
#pragma once

#include <glib.h>
#include "cuda/core/error.h"

G_BEGIN_DECLS

/**
 * CvisJitHeader:
 * @name: what stands between the quotes of an `#include`
 * @text: the text of that file
 */
typedef struct {
  const gchar *name;
  const gchar *text;
} CvisJitHeader;

/**
 * CvisJitSource: a translation unit of CUDA C++
 * @name: file name in the compiler's messages
 * @text: the source
 * @headers, @n_headers: the files that it may include; no others are found
 * @options: (nullable): options of NVRTC, %NULL-terminated, for example
 *   "-DTAPS=8". `--std=c++17 --fmad=false` and the architecture are always given:
 *   kernels compiled by nvcc and at run time give the same bits.
 */
typedef struct {
  const gchar *name;
  const gchar *text;
  const CvisJitHeader *headers;
  guint n_headers;
  const gchar *const *options;
} CvisJitSource;

/* "NVRTC 13.0".
 * Returns: %NULL with CVIS_ERROR_CUDA where NVRTC is not found */
const gchar *cvis_nvrtc_name (GError **error);

/* The target to compile for: "sm_90" for machine code of that device or, where
 * the compiler is older than the device, "compute_90" for PTX of the newest
 * architecture before it, which the driver translates.
 * @compute_capability: of the device, 10 * major + minor
 * @target: (out): at least 32 bytes
 * Returns: FALSE with CVIS_ERROR_CUDA where there is no NVRTC, or none that
 *   knows a device as old as this one */
gboolean cvis_nvrtc_target (
    gint compute_capability, gchar *target, GError **error);

/* Compiles. Takes seconds; ends early with an error when the process exits.
 * @target: of cvis_nvrtc_target()
 * Returns: (transfer full): a cubin or the text of PTX, for cuModuleLoadData();
 *   %NULL with CVIS_ERROR_INVALID and the first errors of NVRTC's log where the
 *   source or an option is wrong, with CVIS_ERROR_CUDA for other failures */
GBytes *cvis_nvrtc_compile (
    const CvisJitSource *source, const gchar *target, GError **error);

G_END_DECLS
