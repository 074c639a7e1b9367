/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* CUDA devices, contexts and pinned memory. Without CUDA in the build,
 * or without a driver on the machine, these functions fail with
 * CVIS_ERROR_NO_DEVICE. No CUDA call is made before a function here is called.
 *
 * A CvisContext is a CUDA context for calls: the device's primary context,
 * or one owned by other code (a GstCudaContext). cudaSetDevice() is never
 * used, because it silently replaces a context that the caller has pushed.
 * Instead cvis_context_push() and cvis_context_pop() bracket CUDA calls and
 * restore the thread's state. */
#pragma once

#include <glib.h>
#include "cuda/core/error.h"
#include "cuda/core/fleet/balancer.h"
#include "cuda/core/fleet/deviceuse.h"

G_BEGIN_DECLS

typedef struct _CvisContext CvisContext;

/**
 * CvisDeviceInfo:
 * @name: reported by the driver
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

/* Number of CUDA devices; 0 with @error (CVIS_ERROR_NO_DEVICE, with CUDA's
 * text) if there is none. */
gint cvis_device_count (GError **error);

/* Returns: FALSE with CVIS_ERROR_NO_DEVICE or _CUDA */
gboolean cvis_device_info (
    gint device_id, CvisDeviceInfo *info, GError **error);

/* Reads the use of a device without a context on it.
 * Returns: FALSE with CVIS_ERROR_NO_DEVICE if there is no such device or no NVML */
gboolean cvis_device_use (gint device_id, CvisDeviceUse *use, GError **error);

/* The traits that a balancer compares. Returns: FALSE if the driver has none */
gboolean cvis_device_traits (gint device_id, CvisDeviceTraits *traits);

/* Whether this build has code for the device of @context: compiled for it, or PTX that
 * the driver can translate. */
gboolean cvis_context_check_code (CvisContext *context, GError **error);

/* CUDA versions (1000 * major + 10 * minor) of the driver and of the runtime that is
 * linked; 0 if there is none. */
void cvis_cuda_versions (gint *driver, gint *runtime);

/* The primary context of @device_id. -1: of the usable device with most free memory,
 * then least use (cuda/core/fleet/deviceuse.h); without NVML the first usable device.
 * Returns: a new reference, or %NULL with CVIS_ERROR_NO_DEVICE or _CUDA. */
CvisContext *cvis_context_new (gint device_id, GError **error);

/* Wraps a context owned by other code: @cu_context is a CUcontext that
 * outlives the returned reference; @owner (nullable) is a GObject kept alive
 * with it by the two functions. */
CvisContext *cvis_context_new_wrapped (gpointer cu_context, gint device_id,
    gpointer owner, GDestroyNotify release_owner, GError **error);

CvisContext *cvis_context_ref (CvisContext *context);
void cvis_context_unref (CvisContext *context);
gint cvis_context_get_device_id (CvisContext *context);
/* The CUcontext of @context. */
gpointer cvis_context_get_handle (CvisContext *context);

/* Makes @context current to this thread until the matching pop. Nestable. */
gboolean cvis_context_push (CvisContext *context, GError **error);
void cvis_context_pop (CvisContext *context);

/* Pinned host memory, 256-byte aligned and readable by the device at the
 * same address. Not zeroed. Thread-safe. Free with cvis_pinned_free().
 * Returns: %NULL with CVIS_ERROR_MEMORY or _CUDA */
gpointer cvis_pinned_alloc (CvisContext *context, gsize size, GError **error);
void cvis_pinned_free (CvisContext *context, gpointer memory);

/* Device memory of @context, 256-byte aligned. Not zeroed. Thread-safe. Free with
 * cvis_device_free(). Returns: %NULL with CVIS_ERROR_MEMORY or _CUDA */
gpointer cvis_device_alloc (CvisContext *context, gsize size, GError **error);
void cvis_device_free (CvisContext *context, gpointer memory);

/**
 * CvisDeviceRows: rows in the memory of a context
 * @context: (nullable): %NULL: host memory
 * @stride: bytes from row to row
 */
typedef struct {
  CvisContext *context;
  gpointer data;
  gsize stride;
} CvisDeviceRows;

/* Copies @n rows of @bytes each from the memory of a context to that of the same or
 * another one, which may be of another device (peer copy), or from or to the host. Waits
 * for the work on @stream, a CUstream of @from's context, or of @to's if @from is on the
 * host (%NULL: its legacy default stream), and for the copy. */
gboolean cvis_device_copy_rows (const CvisDeviceRows *to,
    const CvisDeviceRows *from, gsize bytes, gsize n, gpointer stream,
    GError **error);

G_END_DECLS
