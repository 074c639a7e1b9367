/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Fills missing points from a pyramid of means: up level by level, then
 * down. A missing sample of a level has the same NaN as in the surface. One
 * block computes all levels of at most TAIL samples. */
#include "cuda/lifting/cuda/sample.cuh"
#include "cuda/lifting/cuda/engine.cuh"

namespace {

const guint MAX_LEVELS = 21; /* for a surface of 2^20 x 2^20 */
const guint PULL_ROWS = 4;

/* A level; @stride in samples. */
template <typename T> struct Level {
  T *data;
  gsize stride;
  guint width, height;

  __device__ __forceinline__ T &
  at (guint x, guint y) const
  {
    return data[y * stride + x];
  }
};

/* Level 0 is the surface, the last one a single sample. */
template <typename T> struct Pyramid {
  guint n;
  Level<T> levels[MAX_LEVELS];
};

/* Returns: samples of all levels except the surface */
template <typename T>
gsize
cut (Pyramid<T> *pyramid, LwtPicture surface, guint width, guint height,
    void *memory)
{
  gsize used = 0;

  pyramid->n = 1;
  pyramid->levels[0] = { (T *) surface.data, surface.stride / sizeof (T), width,
    height };
  do {
    width = (width + 1) / 2;
    height = (height + 1) / 2;
    pyramid->levels[pyramid->n++] = { (T *) memory + used, width, width,
      height };
    used += (gsize) width * height;
  } while (width > 1 || height > 1);
  return used;
}

/* --- up -------------------------------------------------------------------------- */

template <typename T>
__device__ __forceinline__ void
push (const Level<T> &from, const Level<T> &to, guint x, guint y)
{
  T sum = 0;
  guint n = 0;

#pragma unroll
  for (guint i = 0; i < 4; i++) {
    const guint cx = 2 * x + i % 2, cy = 2 * y + i / 2;

    if (cx < from.width && cy < from.height) {
      const T child = from.at (cx, cy);

      if (!lwt_is_gone (child)) {
        sum = n == 0 ? child : sum + child;
        n++;
      }
    }
  }
  if (n > 0)
    to.at (x, y) = sum / (T) n;
  else /* without any point the surface is 0 */
    to.at (x, y) = to.width + to.height == 2 ? (T) 0 : lwt_gone<T> ();
}

template <typename T>
__global__ void
push_kernel (Level<T> from, Level<T> to)
{
  lwt_each_sample (
      to.width, to.height, [&] (guint x, guint y) { push (from, to, x, y); });
}

/* --- down ------------------------------------------------------------------------- */

template <typename T>
__device__ __forceinline__ T
pull (const Level<T> &parents, guint x, guint y)
{
  const gint px = (gint) (x / 2), py = (gint) (y / 2);
  const gint qx = CLAMP (x % 2 ? px + 1 : px - 1, 0, (gint) parents.width - 1);
  const gint qy = CLAMP (y % 2 ? py + 1 : py - 1, 0, (gint) parents.height - 1);
  T value = (T) 0.5625 * parents.at (px, py);

  value = lwt_fma ((T) 0.1875, parents.at (qx, py), value);
  value = lwt_fma ((T) 0.1875, parents.at (px, qy), value);
  return lwt_fma ((T) 0.0625, parents.at (qx, qy), value);
}

template <typename T>
__global__ void
pull_kernel (Level<T> parents, Level<T> children)
{
  lwt_each_sample (children.width, children.height, [&] (guint x, guint y) {
    if (lwt_is_gone (children.at (x, y)))
      children.at (x, y) = pull (parents, x, y);
  });
}

/* The surface itself: a warp reads the words of missing bits of PULL_ROWS
 * rows and reads samples only where a bit is set. Blocks of 32 threads along
 * x. */
template <typename T>
__global__ void
pull_surface_kernel (Level<T> parents, Level<T> surface, const guint32 *missing)
{
  const guint words = lwt_words (surface.width);
  const guint x = MIN (blockIdx.x * 32 + threadIdx.x, surface.width - 1);

  for (guint y = (blockIdx.y * blockDim.y + threadIdx.y) * PULL_ROWS;
       y < surface.height; y += gridDim.y * blockDim.y * PULL_ROWS) {
    guint32 bits[PULL_ROWS], any = 0;
    T values[PULL_ROWS];

#pragma unroll
    for (guint i = 0; i < PULL_ROWS; i++) {
      bits[i] = y + i < surface.height
                    ? missing[(gsize) (y + i) * words + blockIdx.x]
                    : 0;
      any |= bits[i];
    }
    if (any == 0)
      continue;
#pragma unroll
    for (guint i = 0; i < PULL_ROWS; i++)
      values[i] = pull (parents, x, MIN (y + i, surface.height - 1));
#pragma unroll
    for (guint i = 0; i < PULL_ROWS; i++)
      if (bits[i] >> threadIdx.x & 1)
        surface.at (x, y + i) = values[i];
  }
}

/* --- all ------------------------------------------------------------------------------ */

template <typename T>
cudaError_t
launch_fill (LwtPicture surface, const guint32 *missing, guint width,
    guint height, void *memory, cudaStream_t stream)
{
  Pyramid<T> p;

  cut (&p, surface, width, height, memory);
  for (guint i = 1; i < p.n; i++)
    push_kernel<T><<<lwt_grid (p.levels[i].width, p.levels[i].height),
        lwt_block, 0, stream>>> (p.levels[i - 1], p.levels[i]);
  for (guint i = p.n - 1; i-- > 1;)
    pull_kernel<T><<<lwt_grid (p.levels[i].width, p.levels[i].height),
        lwt_block, 0, stream>>> (p.levels[i + 1], p.levels[i]);
  pull_surface_kernel<T>
      <<<lwt_grid (width, (height + PULL_ROWS - 1) / PULL_ROWS), lwt_block, 0,
          stream>>> (p.levels[1], p.levels[0], missing);
  return cudaGetLastError ();
}

} // namespace

extern "C" gsize
lwt_pyramid_get_size (LwtType type, guint width, guint height)
{
  Pyramid<gdouble> p;

  return lwt_type_get_size (type)
         * MAX (cut (&p, LwtPicture{ NULL, 0 }, width, height, NULL), 1);
}

extern "C" cudaError_t
lwt_launch_fill (LwtType type, LwtPicture surface, const guint32 *missing,
    guint width, guint height, void *pyramid, cudaStream_t stream)
{
  return type == LWT_TYPE_F64 ? launch_fill<gdouble> (
             surface, missing, width, height, pyramid, stream)
                              : launch_fill<gfloat> (surface, missing, width,
                                  height, pyramid, stream);
}
