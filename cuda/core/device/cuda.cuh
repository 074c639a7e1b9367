/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Shared by all .cu files: converts CUDA's return codes to GErrors, looks up
 * functions of the driver. */
#pragma once

#include <cuda_runtime.h>
#include "cuda/core/device/device.h"

/* Sets @error from @code: "WHAT: cudaErrorName (CUDA's text)". Returns:
 * FALSE on an error */
static inline gboolean
cvis_cuda_check (cudaError_t code, const char *what, GError **error)
{
  if (code == cudaSuccess)
    return TRUE;
  g_set_error (error, CVIS_ERROR,
      code == cudaErrorMemoryAllocation ? CVIS_ERROR_MEMORY : CVIS_ERROR_CUDA,
      "%s: %s (%s)", what, cudaGetErrorName (code), cudaGetErrorString (code));
  return FALSE;
}

/* Evaluates to FALSE, with @error set, if a CUDA call failed. */
#define CVIS_CUDA(call, error) cvis_cuda_check ((call), #call, (error))

/* The same for the preceding kernel launch. */
#define CVIS_LAUNCHED(name, error)                                             \
  cvis_cuda_check (cudaGetLastError (), "launch of " name, (error))

/* A function of the driver API by its name in libcuda; NULL without a driver
 * or if the driver lacks it. */
void *cvis_cuda_driver_entry (const char *name);
