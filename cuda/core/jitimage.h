/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A kernel's machine code, from the cache or compiled in a thread of its own. No
 * device is needed; cuda/core/jit.h loads what comes out. */
#pragma once

#include "cuda/core/nvrtc.h"

G_BEGIN_DECLS

/**
 * CvisJitState:
 * @CVIS_JIT_COMPILING: the thread has not ended yet
 * @CVIS_JIT_READY: the kernels can be used
 * @CVIS_JIT_FAILED: there will be none
 */
typedef enum {
  CVIS_JIT_COMPILING,
  CVIS_JIT_READY,
  CVIS_JIT_FAILED,
} CvisJitState;

typedef struct _CvisJitImage CvisJitImage;

/* Starts the thread. At most two threads of a process compile at once, others
 * wait; what is in the cache comes at once.
 * @source: copied
 * @compute_capability: of the device, 10 * major + minor
 * @driver_version: of cudaDriverGetVersion(); belongs to the key only */
CvisJitImage *cvis_jit_image_new (
    const CvisJitSource *source, gint compute_capability, gint driver_version);

/* How far it is. Never waits. Any thread may ask. */
CvisJitState cvis_jit_image_poll (CvisJitImage *image);

/* Waits until it is ready or has failed.
 * Returns: (transfer none): lives as long as @image; %NULL with an error of
 *   cvis_nvrtc_target() or cvis_nvrtc_compile() */
GBytes *cvis_jit_image_wait (CvisJitImage *image, GError **error);

/* "NVRTC 13.0, compiled in 1.4 s", "NVRTC 13.0, cached", why it failed, or that
 * it is compiled. Valid until the next call or cvis_jit_image_free(). */
const gchar *cvis_jit_image_describe (CvisJitImage *image);

/* Removes it from the cache: the driver does not load it. */
void cvis_jit_image_reject (CvisJitImage *image);

/* Does not wait for the thread, which puts what it compiles into the cache and
 * then frees the rest. */
void cvis_jit_image_free (CvisJitImage *image);

G_END_DECLS
