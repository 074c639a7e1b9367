/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* CUDA devices and contexts, pinned memory. Without CUDA in the build, or
 * without a driver on the machine, the same functions report no
 * device; nothing here makes a CUDA call before it is asked to.
 *
 * A CvisContext is a CUDA context that calls can be made in: the device's
 * primary context, or one that belongs to somebody else (a GstCudaContext).
 * It is never made current by cudaSetDevice(), which would silently replace a
 * context that the caller pushed: cvis_context_push() and cvis_context_pop()
 * bracket CUDA calls instead and leave the thread as they found it. */
#pragma once

#include <glib.h>
#include "cuda/core/error.h"

G_BEGIN_DECLS

typedef struct _CvisContext CvisContext;

/**
 * CvisDeviceInfo:
 * @name: as the driver names it
 * @compute_capability: 10 * major + minor
 * @multiprocessors: number of multiprocessors
 * @memory: bytes of device memory
 */
typedef struct {
  gchar name[128];
  gint compute_capability;
  gint multiprocessors;
  guint64 memory;
} CvisDeviceInfo;

/* Number of CUDA devices; 0 with @error set (CVIS_ERROR_NO_DEVICE, in CUDA's
 * own words) where there is none. */
gint cvis_device_count (GError **error);

gboolean cvis_device_info (
    gint device_id, CvisDeviceInfo *info, GError **error);

/* The primary context of @device_id (-1: the first device).
 * Returns: a new reference, or %NULL with CVIS_ERROR_NO_DEVICE or _CUDA. */
CvisContext *cvis_context_new (gint device_id, GError **error);

/* A context of somebody else's: @cu_context is a CUcontext that outlives the
 * returned reference; @owner, when not %NULL, is a GObject kept alive with it
 * through the two functions. */
CvisContext *cvis_context_new_wrapped (gpointer cu_context, gint device_id,
    gpointer owner, GDestroyNotify release_owner, GError **error);

CvisContext *cvis_context_ref (CvisContext *context);
void cvis_context_unref (CvisContext *context);
gint cvis_context_get_device_id (CvisContext *context);
/* The CUcontext behind it. */
gpointer cvis_context_get_handle (CvisContext *context);

/* Makes @context current to this thread until the matching pop. Nestable. */
gboolean cvis_context_push (CvisContext *context, GError **error);
void cvis_context_pop (CvisContext *context);

/* Page-locked host memory, 256-byte aligned and readable by the device at the
 * same address. Not zeroed. Thread-safe. */
gpointer cvis_pinned_alloc (CvisContext *context, gsize size, GError **error);
void cvis_pinned_free (CvisContext *context, gpointer memory);

G_END_DECLS
