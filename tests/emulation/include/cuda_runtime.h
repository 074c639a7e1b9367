/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* In place of CUDA's header where kernels of the motion search are run on the CPU
 * (emulate.h): vector types, functions of a thread, the calls of the launches. */
#pragma once

#include "tests/emulation/emulate.h"

#define __CUDA_ARCH__ 900
#define MOTION_EMULATED
#define MOTION_START(kernel, grid, threads, stream, ...)                       \
  emulation::start (grid, threads, [&] { kernel (__VA_ARGS__); })

typedef int cudaError_t;
typedef void *cudaStream_t;
typedef void *cudaEvent_t;
#define cudaSuccess 0

static inline cudaError_t
cudaGetLastError (void)
{
  return cudaSuccess;
}

static inline cudaError_t
cudaMemsetAsync (void *to, int value, size_t size, cudaStream_t stream)
{
  memset (to, value, size);
  return cudaSuccess;
}

/* --- the runtime: everything is done at once ---------------------------------------- */

#define cudaErrorMemoryAllocation 2
#define cudaStreamLegacy ((cudaStream_t) 1)
typedef int cudaDeviceAttr;
typedef enum {
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
} cudaMemcpyKind;

static inline const char *
cudaGetErrorName (cudaError_t code)
{
  return "error";
}

static inline const char *
cudaGetErrorString (cudaError_t code)
{
  return "error";
}

static inline cudaError_t
cudaGetDevice (int *device)
{
  *device = 0;
  return cudaSuccess;
}

static inline cudaError_t
cudaDeviceGetAttribute (int *value, cudaDeviceAttr attribute, int device)
{
  *value = 0;
  return cudaSuccess;
}

static inline cudaError_t
cudaMemcpyAsync (void *to, const void *from, size_t size, cudaMemcpyKind kind,
    cudaStream_t stream)
{
  memcpy (to, from, size);
  return cudaSuccess;
}

static inline cudaError_t
cudaMemcpy2DAsync (void *to, size_t to_stride, const void *from,
    size_t from_stride, size_t bytes, size_t rows, cudaMemcpyKind kind,
    cudaStream_t stream)
{
  for (size_t y = 0; y < rows; y++)
    memcpy ((char *) to + y * to_stride, (const char *) from + y * from_stride,
        bytes);
  return cudaSuccess;
}

static inline cudaError_t
cudaEventRecord (cudaEvent_t event, cudaStream_t stream)
{
  return cudaSuccess;
}

static inline cudaError_t
cudaEventSynchronize (cudaEvent_t event)
{
  return cudaSuccess;
}

static inline cudaError_t
cudaStreamSynchronize (cudaStream_t stream)
{
  return cudaSuccess;
}

static inline cudaError_t
cudaStreamWaitEvent (cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
  return cudaSuccess;
}

/* --- vector types ------------------------------------------------------------------ */

struct short2 {
  short x, y;
};
struct int2 {
  int x, y;
};
struct uint2 {
  unsigned x, y;
};
struct double2 {
  double x, y;
};
struct uint4 {
  unsigned x, y, z, w;
};

static inline short2
make_short2 (short x, short y)
{
  return short2{ x, y };
}

static inline int2
make_int2 (int x, int y)
{
  return int2{ x, y };
}

static inline uint2
make_uint2 (unsigned x, unsigned y)
{
  return uint2{ x, y };
}

static inline uint4
make_uint4 (unsigned x, unsigned y, unsigned z, unsigned w)
{
  return uint4{ x, y, z, w };
}

/* --- bytes of a word ------------------------------------------------------------------ */

template <typename Function>
static inline unsigned
emulate_bytes (unsigned a, unsigned b, Function function)
{
  unsigned result = 0;

  for (int i = 0; i < 32; i += 8)
    result |= (unsigned) function ((int) (a >> i & 255), (int) (b >> i & 255))
              << i;
  return result;
}

static inline unsigned
__vabsdiffu4 (unsigned a, unsigned b)
{
  return emulate_bytes (a, b, [] (int x, int y) { return abs (x - y); });
}

static inline unsigned
__vminu4 (unsigned a, unsigned b)
{
  return emulate_bytes (a, b, [] (int x, int y) { return min (x, y); });
}

static inline unsigned
__vaddus4 (unsigned a, unsigned b)
{
  return emulate_bytes (a, b, [] (int x, int y) { return min (x + y, 255); });
}

static inline unsigned
__vsubus4 (unsigned a, unsigned b)
{
  return emulate_bytes (a, b, [] (int x, int y) { return max (x - y, 0); });
}

static inline unsigned
__dp4a (unsigned a, unsigned b, unsigned sum)
{
  for (int i = 0; i < 32; i += 8)
    sum += (a >> i & 255) * (b >> i & 255);
  return sum;
}

static inline unsigned
__vsadu4 (unsigned a, unsigned b)
{
  return __dp4a (__vabsdiffu4 (a, b), 0x01010101u, 0);
}

static inline unsigned
__usad (unsigned a, unsigned b, unsigned sum)
{
  return sum + (a > b ? a - b : b - a);
}

static inline unsigned
__funnelshift_r (unsigned low, unsigned high, unsigned shift)
{
  return (unsigned) (((uint64_t) high << 32 | low) >> (shift & 31));
}

static inline int
__ffs (int value)
{
  return __builtin_ffs (value);
}

static inline int
__popc (unsigned value)
{
  return __builtin_popcount (value);
}

static inline int
__clz (int value)
{
  return value == 0 ? 32 : __builtin_clz ((unsigned) value);
}

/* --- memory ----------------------------------------------------------------------------- */

template <typename T>
static inline T
__ldcg (const T *at)
{
  return *at;
}

template <typename T>
static inline T
atomicAdd (T *at, T value)
{
  T before = *at;

  *at = before + value;
  return before;
}

template <typename T>
static inline T
atomicMin (T *at, T value)
{
  T before = *at;

  *at = before < value ? before : value;
  return before;
}

template <typename T>
static inline T
atomicMax (T *at, T value)
{
  T before = *at;

  *at = before > value ? before : value;
  return before;
}

static inline unsigned
atomicInc (unsigned *at, unsigned limit)
{
  unsigned before = *at;

  *at = before >= limit ? 0 : before + 1;
  return before;
}

static inline void
__threadfence (void)
{
}

/* Not called by the emulated kernels. */
void __nanosleep (unsigned ns);
size_t __cvta_generic_to_shared (const void *at);
