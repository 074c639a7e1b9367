/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Runs CUDA kernels on the CPU: the threads of a block are contexts of one
 * thread that switch at __syncthreads(). Supports only the parts of CUDA
 * that the tested kernels use. Shared memory is filled with NaN before each
 * block. */
#pragma once

#include <alloca.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define __device__
#define __host__
#define __forceinline__ inline

struct EmulatedIndex {
  unsigned x, y, z;
};

static EmulatedIndex threadIdx, blockIdx;

namespace emulation {

#define EMULATED_STACK (256 * 1024)

static ucontext_t scheduler;
static ucontext_t *threads;
static bool *done;
static unsigned current;
static void (*body) (void *);
static void *body_data;

static inline void
run_thread (void)
{
  body (body_data);
  done[current] = true;
  swapcontext (&threads[current], &scheduler);
}

static inline void
run_block (unsigned block, unsigned n, char *stacks)
{
  unsigned left = n;

  blockIdx.x = block;
  for (unsigned i = 0; i < n; i++) {
    getcontext (&threads[i]);
    threads[i].uc_stack.ss_sp = stacks + (size_t) i * EMULATED_STACK;
    threads[i].uc_stack.ss_size = EMULATED_STACK;
    threads[i].uc_link = &scheduler;
    makecontext (&threads[i], run_thread, 0);
    done[i] = false;
  }
  while (left > 0) {
    left = 0;
    for (current = 0; current < n; current++)
      if (!done[current]) {
        threadIdx.x = current;
        swapcontext (&scheduler, &threads[current]);
        left += !done[current];
      }
  }
}

/* Launches @blocks blocks of @n threads with @shared bytes at @memory. */
static inline void
launch (unsigned blocks, unsigned n, void *memory, size_t shared,
    void (*kernel) (void *), void *data)
{
  char *stacks = (char *) malloc ((size_t) n * EMULATED_STACK);

  threads = (ucontext_t *) malloc (n * sizeof *threads);
  done = (bool *) malloc (n * sizeof *done);
  body = kernel;
  body_data = data;
  for (unsigned i = 0; i < blocks; i++) {
    memset (memory, 0xff, shared);
    run_block (i, n, stacks);
  }
  free (stacks);
  free (threads);
  free (done);
}

} // namespace emulation

static inline void
__syncthreads (void)
{
  const unsigned thread = emulation::current;

  swapcontext (&emulation::threads[thread], &emulation::scheduler);
  threadIdx.x = thread;
}

static inline int
min (int a, int b)
{
  return a < b ? a : b;
}

static inline int
max (int a, int b)
{
  return a > b ? a : b;
}

/* @value of the lane @by behind, where the warp has one: all lanes are here. */
template <typename T>
static inline T
__shfl_down_sync (unsigned mask, T value, int by)
{
  static T values[1024];
  const unsigned thread = threadIdx.x, from = thread + (unsigned) by;

  values[thread] = value;
  __syncthreads ();
  if (from / 32 == thread / 32)
    value = values[from];
  __syncthreads ();
  return value;
}

template <typename T>
static inline T
__shfl_up_sync (unsigned mask, T value, int by)
{
  return __shfl_down_sync (mask, value, -by);
}
