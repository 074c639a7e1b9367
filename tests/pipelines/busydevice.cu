/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A kernel that occupies the whole device. */
#include <cuda_runtime.h>
#include <glib.h>

static __device__ guint64
now_ns (void)
{
  guint64 t;

  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
}

static __global__ void __launch_bounds__ (1024) wait_kernel (guint64 ns)
{
  guint64 end = now_ns () + ns;

  while (now_ns () < end)
    ;
}

/* Enough blocks for all multiprocessors, each for @ns from its start; returns at once. */
extern "C" gboolean
busy_device_start (guint64 ns)
{
  int device, processors;
  cudaStream_t stream;

  if (cudaGetDevice (&device) != cudaSuccess
      || cudaDeviceGetAttribute (
             &processors, cudaDevAttrMultiProcessorCount, device)
             != cudaSuccess
      || cudaStreamCreateWithFlags (&stream, cudaStreamNonBlocking)
             != cudaSuccess)
    return FALSE;
  wait_kernel<<<2 * processors, 1024, 0, stream>>> (ns);
  return cudaGetLastError () == cudaSuccess;
}
