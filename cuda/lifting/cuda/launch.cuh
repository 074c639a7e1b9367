/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Launches of a transform's kernels with programmatic dependent launch: from
 * compute capability 9.0 on, thread blocks of the next kernel start while
 * the last blocks of the kernel before it run, and wait in
 * lwt_wait_for_previous() before they touch its output. */
#pragma once

#include "cuda/core/device/cuda.cuh"

/* A kernel's dynamic shared memory. */
extern __shared__ float4 lwt_shared[];
#define LWT_SHARED lwt_shared

/* Every kernel calls this before it reads or writes global memory. On return
 * all earlier work on the stream is complete. */
static __device__ __forceinline__ void
lwt_wait_for_previous (void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;\n\t"
               "griddepcontrol.wait;" ::
                   : "memory");
#endif
}

#if CUDART_VERSION >= 11080
/* Whether the device supports programmatic dependent launch. */
static inline gboolean
lwt_can_overlap (void)
{
  int device = 0, major = 0;

  return cudaGetDevice (&device) == cudaSuccess
         && cudaDeviceGetAttribute (
                &major, cudaDevAttrComputeCapabilityMajor, device)
                == cudaSuccess
         && major >= 9;
}
#endif

/* Launches @kernel; errors call it @name. */
static inline gboolean
lwt_launch_kernel (const void *kernel, const char *name, dim3 grid,
    guint threads, gsize shared, cudaStream_t stream, void **arguments,
    GError **error)
{
  cudaError_t code;
  gchar *what;

#if CUDART_VERSION >= 11080
  cudaLaunchAttribute attribute = {};
  cudaLaunchConfig_t config = {};

  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  config.gridDim = grid;
  config.blockDim = dim3 (threads);
  config.dynamicSmemBytes = shared;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = lwt_can_overlap () ? 1 : 0;
  code = cudaLaunchKernelExC (&config, kernel, arguments);
#else
  code = cudaLaunchKernel (
      kernel, grid, dim3 (threads), arguments, shared, stream);
#endif
  if (code == cudaSuccess)
    return TRUE;
  what = g_strdup_printf ("launch of %s", name);
  cvis_cuda_check (code, what, error);
  g_free (what);
  return FALSE;
}

/* Launches @kernel, which has one parameter. */
template <typename Task>
static inline gboolean
lwt_launch (void (*kernel) (Task), const char *name, dim3 grid, guint threads,
    gsize shared, cudaStream_t stream, const Task &task, GError **error)
{
  void *arguments[] = { (void *) &task };

  return lwt_launch_kernel ((const void *) kernel, name, grid, threads, shared,
      stream, arguments, error);
}
