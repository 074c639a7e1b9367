/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Machine code of kernels, from the cache or compiled in a thread of its
 * own. Needs no device; cuda/core/jit/jit.h loads the result. */
#pragma once

#include "cuda/core/jit/nvrtc.h"

G_BEGIN_DECLS

/**
 * CvisJitState:
 * @CVIS_JIT_COMPILING: the thread has not ended yet
 * @CVIS_JIT_READY: the kernels can be used
 * @CVIS_JIT_FAILED: the kernels are not available
 */
typedef enum {
  CVIS_JIT_COMPILING,
  CVIS_JIT_READY,
  CVIS_JIT_FAILED,
} CvisJitState;

typedef struct _CvisJitImage CvisJitImage;

/* Starts the thread. At most two threads of a process compile at once,
 * others wait; cached kernels need not wait.
 * @source: copied
 * @compute_capability: of the device, 10 * major + minor
 * @driver_version: from cudaDriverGetVersion(); only part of the key */
CvisJitImage *cvis_jit_image_new (
    const CvisJitSource *source, gint compute_capability, gint driver_version);

/* The current state. Never waits. May be called from any thread. */
CvisJitState cvis_jit_image_poll (CvisJitImage *image);

/* Waits until the image is ready or has failed. Returns: (transfer none):
 * lives as long as @image; %NULL with an error of cvis_nvrtc_target() or
 * cvis_nvrtc_compile() */
GBytes *cvis_jit_image_wait (CvisJitImage *image, GError **error);

/* Description for messages: "NVRTC 13.0, compiled in 1.4 s", "NVRTC 13.0,
 * cached", the cause of a failure, or that it is being compiled. Valid until
 * the next call or cvis_jit_image_free(). */
const gchar *cvis_jit_image_describe (CvisJitImage *image);

/* Removes the image from the cache, because the driver rejects it. */
void cvis_jit_image_reject (CvisJitImage *image);

/* Does not wait for the thread, which stores its result in the cache and
 * then frees the rest; but if it is loading NVRTC, some 100 ms once in a process, it
 * waits for that, as the process may exit now (cuda/core/jit/nvrtc.c). */
void cvis_jit_image_free (CvisJitImage *image);

G_END_DECLS
