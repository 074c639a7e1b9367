/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Runs CUDA kernels on the CPU: the threads of a block are contexts of one
 * thread that switch at barriers and at the functions of a warp. Supports only the
 * parts of CUDA that the tested kernels use. Dynamic shared memory is filled with NaN
 * before each block; static shared memory keeps what the block before left. */
#pragma once

#include <alloca.h>
#include <math.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define __device__
#define __host__
#define __global__
#define __shared__ static
#define __forceinline__ inline
#define __launch_bounds__(...)

struct dim3 {
  unsigned x, y, z;

  dim3 (unsigned columns = 1, unsigned rows = 1, unsigned layers = 1)
      : x (columns), y (rows), z (layers)
  {
  }
};

static dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace emulation {

#define EMULATED_STACK (256 * 1024)
#define EMULATED_THREADS 1024

/* Where threads wait for each other. */
struct Barrier {
  unsigned expected, arrived, generation;
};

/* @values: for the other lanes of the warp, in turn */
struct Thread {
  ucontext_t start;
  jmp_buf jump;
  bool started, done;
  unsigned turn;
  char values[2][16];
};

static jmp_buf scheduler;
static ucontext_t entry;
static Thread *threads;
static Barrier block, warps[EMULATED_THREADS / 32];
static unsigned current;
static void (*body) (void *);
static void *body_data;
static char *stacks; /* of EMULATED_THREADS */

static inline void
release (Barrier *barrier)
{
  if (barrier->arrived < barrier->expected)
    return;
  barrier->arrived = 0;
  barrier->generation++;
}

/* Lets the other threads run. (A jump back is faster than swapcontext().) */
static inline void
yield (void)
{
  if (_setjmp (threads[current].jump) == 0)
    _longjmp (scheduler, 1);
}

static inline void
wait (Barrier *barrier)
{
  const unsigned generation = barrier->generation;

  barrier->arrived++;
  release (barrier);
  while (*(volatile unsigned *) &barrier->generation == generation)
    yield ();
}

static inline void
run_thread (void)
{
  body (body_data);
  threads[current].done = true;
  block.expected--;
  release (&block);
  warps[current / 32].expected--;
  release (&warps[current / 32]);
  _longjmp (scheduler, 1);
}

/* Continues thread @current until it waits or ends. */
static __attribute__ ((noinline)) void
resume (void)
{
  Thread *thread = &threads[current];

  threadIdx.x = current;
  if (_setjmp (scheduler) != 0)
    return;
  if (thread->started)
    _longjmp (thread->jump, 1);
  thread->started = true;
  setcontext (&thread->start);
}

static inline void
run_block (unsigned n)
{
  static volatile unsigned next;

  memset (warps, 0, sizeof warps);
  block = Barrier{ n, 0, 0 };
  for (unsigned i = 0; i < n; i++) {
    Thread *thread = &threads[i];

    getcontext (&thread->start);
    thread->start.uc_stack.ss_sp = stacks + (size_t) i * EMULATED_STACK;
    thread->start.uc_stack.ss_size = EMULATED_STACK;
    thread->start.uc_link = &entry;
    makecontext (&thread->start, run_thread, 0);
    thread->started = thread->done = false;
    thread->turn = 0;
    warps[i / 32].expected++;
  }
  while (block.expected > 0)
    for (next = 0; next < n; next = next + 1) {
      current = next;
      if (!threads[current].done)
        resume ();
    }
}

/* Launches @grid blocks of @n threads with @shared bytes at @memory. */
static inline void
launch (dim3 grid, unsigned n, void *memory, size_t shared,
    void (*kernel) (void *), void *data)
{
  /* mapped, not allocated: most of a stack is never touched */
  if (stacks == NULL)
    stacks = (char *) mmap (NULL, EMULATED_THREADS * (size_t) EMULATED_STACK,
        PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
        0);
  threads = (Thread *) calloc (n, sizeof *threads);
  body = kernel;
  body_data = data;
  gridDim = grid;
  blockDim = dim3 (n);
  for (unsigned i = 0; i < grid.x * grid.y; i++) {
    if (shared > 0)
      memset (memory, 0xff, shared);
    blockIdx = dim3 (i % grid.x, i / grid.x);
    run_block (n);
  }
  free (threads);
}

/* Launches a kernel that is a call of @work. */
template <typename Work>
static inline void
start (dim3 grid, unsigned n, Work work, void *memory = NULL, size_t shared = 0)
{
  launch (
      grid, n, memory, shared, [] (void *data) { (*(Work *) data) (); }, &work);
}

/* Gives @value to the other lanes. Returns: a function that tells that of a lane */
template <typename T> struct Lanes {
  unsigned first, turn;

  explicit Lanes (T value)
  {
    Thread *own = &threads[current];

    static_assert (sizeof (T) <= sizeof own->values[0], "too large");
    first = current / 32 * 32;
    turn = own->turn;
    own->turn ^= 1;
    memcpy (own->values[turn], &value, sizeof value);
    wait (&warps[current / 32]);
  }

  T
  operator[] (unsigned lane) const
  {
    T value;

    memcpy (&value, threads[first + lane].values[turn], sizeof value);
    return value;
  }
};

} // namespace emulation

static inline void
__syncthreads (void)
{
  emulation::wait (&emulation::block);
}

/* --- warps: all lanes call these ------------------------------------------------- */

static inline void
__syncwarp (void)
{
  emulation::wait (&emulation::warps[emulation::current / 32]);
}

template <typename T>
static inline T
__shfl_sync (unsigned mask, T value, int lane)
{
  return emulation::Lanes<T> (value)[lane & 31];
}

template <typename T>
static inline T
__shfl_xor_sync (unsigned mask, T value, int by)
{
  return emulation::Lanes<T> (value)[(threadIdx.x & 31) ^ by];
}

template <typename T>
static inline T
__shfl_down_sync (unsigned mask, T value, int by)
{
  const emulation::Lanes<T> lanes (value);
  const unsigned from = (threadIdx.x & 31) + (unsigned) by;

  return from < 32 ? lanes[from] : value;
}

template <typename T>
static inline T
__shfl_up_sync (unsigned mask, T value, int by)
{
  return __shfl_down_sync (mask, value, -by);
}

static inline unsigned
__ballot_sync (unsigned mask, bool value)
{
  const emulation::Lanes<bool> lanes (value);
  unsigned all = 0;

  for (unsigned i = 0; i < 32; i++)
    all |= (unsigned) lanes[i] << i;
  return all;
}

static inline bool
__any_sync (unsigned mask, bool value)
{
  return __ballot_sync (mask, value) != 0;
}

static inline unsigned
__match_any_sync (unsigned mask, unsigned value)
{
  const emulation::Lanes<unsigned> lanes (value);
  unsigned equal = 0;

  for (unsigned i = 0; i < 32; i++)
    equal |= (unsigned) (lanes[i] == value) << i;
  return equal;
}

static inline unsigned
__reduce_add_sync (unsigned mask, unsigned value)
{
  const emulation::Lanes<unsigned> lanes (value);
  unsigned sum = 0;

  for (unsigned i = 0; i < 32; i++)
    sum += lanes[i];
  return sum;
}

static inline unsigned
__reduce_min_sync (unsigned mask, unsigned value)
{
  const emulation::Lanes<unsigned> lanes (value);
  unsigned least = value;

  for (unsigned i = 0; i < 32; i++)
    least = lanes[i] < least ? lanes[i] : least;
  return least;
}

/* --- arithmetic -------------------------------------------------------------------- */

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

static inline unsigned
min (unsigned a, unsigned b)
{
  return a < b ? a : b;
}

static inline unsigned
max (unsigned a, unsigned b)
{
  return a > b ? a : b;
}
