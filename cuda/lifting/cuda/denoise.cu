/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Denoise: the cells that have noise, the universal threshold, shrinking of
 * coefficients, cycle spinning and the output.
 * The threshold is an exact order statistic. Magnitudes sort like their bit
 * patterns. Each pass histograms the next 11 bits, from the top, of the
 * samples whose higher bits match the prefix found so far. The counts are
 * integers, so their order does not matter. */
#include "cuda/lifting/cuda/sample.cuh"
#include "cuda/lifting/cuda/engine.cuh"

namespace {

const guint BITS = 11;
const guint BINS = 1u << BITS;
const guint COUNT_BLOCKS = 1024;
const guint COUNT_THREADS = 256;

/* @prefix: the bits known so far; @rank: rank of the wanted entry among the
 *   samples with this prefix */
struct Select {
  guint64 prefix, rank;
  unsigned long long bins[BINS];
};

__device__ __forceinline__ guint64
bits_of (gfloat w)
{
  return __float_as_uint (w) & 0x7fffffffu;
}

__device__ __forceinline__ guint64
bits_of (gdouble w)
{
  return (guint64) __double_as_longlong (w) & 0x7fffffffffffffffull;
}

/* --- cells --------------------------------------------------------------- */

/* A thread a cell: MISSING, CONSTANT or NOISE, in the order of rows. Most
 * cells end at their second sample. @S: type of the samples as received */
template <typename S>
__global__ void
cells_kernel (
    LwtSurfaceTask t, LwtFinestAxis ax, LwtFinestAxis ay, guint8 *cells)
{
  lwt_each_sample (ax.cells, ay.cells, [&] (guint cx, guint cy) {
    const guint x_end = MIN ((cx + 1) << ax.shift, ax.size);
    const guint y_end = MIN ((cy + 1) << ay.shift, ay.size);
    guint8 cell = LWT_CELL_MISSING;
    S first = 0;

    for (guint y = cy << ay.shift; y < y_end; y++)
      for (guint x = cx << ax.shift; x < x_end && cell != LWT_CELL_NOISE; x++) {
        const S z = lwt_row<S> (t.from, t.stride, y)[(gsize) x * t.step];

        if (!lwt_is_finite (z))
          continue;
        if (cell == LWT_CELL_MISSING) {
          first = z;
          cell = LWT_CELL_CONSTANT;
        } else if (z != first) {
          cell = LWT_CELL_NOISE;
        }
      }
    cells[(gsize) cy * ax.cells + cx] = cell;
  });
}

/* Adds the counts of a warp to @total: one atomic for 32 cells. */
__device__ __forceinline__ void
add_count (unsigned long long count, unsigned long long *total)
{
  const guint thread = threadIdx.y * blockDim.x + threadIdx.x;

  for (int distance = 16; distance > 0; distance /= 2)
    count += __shfl_xor_sync (LWT_ALL_LANES, count, distance);
  if (thread % 32 == 0 && count > 0)
    atomicAdd (total, count);
}

/* A thread a cell: CONSTANT next to NOISE becomes BESIDE; counts the samples of
 * both. A neighbour that changes meanwhile does not have NOISE before or after. */
__global__ void
beside_kernel (
    LwtFinestAxis ax, LwtFinestAxis ay, guint8 *cells, LwtFindings *findings)
{
  unsigned long long noise = 0, constant = 0;

  lwt_each_sample (ax.cells, ay.cells, [&] (guint cx, guint cy) {
    const LwtFinestAxis axes[2] = { ax, ay };
    guint8 *cell = &cells[(gsize) cy * ax.cells + cx];
    bool beside = false;

    if (*cell == LWT_CELL_NOISE)
      noise += lwt_finest_cell_area (axes, cx, cy);
    if (*cell != LWT_CELL_CONSTANT)
      return;
    for (guint y = MAX (cy, 1) - 1; y <= MIN (cy + 1, ay.cells - 1); y++)
      for (guint x = MAX (cx, 1) - 1; x <= MIN (cx + 1, ax.cells - 1); x++)
        beside |= cells[(gsize) y * ax.cells + x] == LWT_CELL_NOISE;
    if (!beside)
      return;
    *cell = LWT_CELL_BESIDE;
    constant += lwt_finest_cell_area (axes, cx, cy);
  });
  add_count (noise, (unsigned long long *) &findings->cells.noise);
  add_count (constant, (unsigned long long *) &findings->cells.beside);
}

template <typename S>
cudaError_t
launch_cells (const LwtSurfaceTask &t, const LwtFinestAxis axes[2],
    guint8 *cells, cudaStream_t stream)
{
  const dim3 grid = lwt_grid (axes[0].cells, axes[1].cells);

  cells_kernel<S><<<grid, lwt_block, 0, stream>>> (t, axes[0], axes[1], cells);
  beside_kernel<<<grid, lwt_block, 0, stream>>> (
      axes[0], axes[1], cells, t.findings);
  return cudaGetLastError ();
}

/* --- the threshold ------------------------------------------------------- */

/* Entry (@x, row @y of the task) is counted if its cell is used. */
__device__ __forceinline__ bool
is_used (const LwtCountTask &t, gint cell_x, guint y, LwtCellCounts counts)
{
  const gint cell_y = lwt_finest_cell (&t.axes[1], t.first + y);

  return cell_x >= 0 && cell_y >= 0
         && lwt_cell_is_used (
             t.cells[(gsize) cell_y * t.axes[0].cells + cell_x], counts);
}

template <typename T>
__global__ void
__launch_bounds__ (COUNT_THREADS)
    count_kernel (LwtCountTask t, guint shift, guint pass, Select *select)
{
  __shared__ guint32 bins[BINS];
  const guint64 prefix = pass > 0 ? select->prefix : 0;
  const LwtCellCounts counts = t.findings->cells;
  const guint width = t.axes[0].n, columns = (width + 31) / 32;
  const guint warp = threadIdx.x / 32, warps = COUNT_THREADS / 32;

  for (guint i = threadIdx.x; i < BINS; i += COUNT_THREADS)
    bins[i] = 0;
  __syncthreads ();
  /* A warp covers 32 columns and 8 rows at a time. */
  for (guint64 i = (guint64) blockIdx.x * warps + warp;
       i < (guint64) columns * ((t.n + 7) / 8);
       i += (guint64) gridDim.x * warps) {
    const guint x = (guint) (i % columns) * 32 + threadIdx.x % 32;
    const guint y = (guint) (i / columns) * 8;
    const gint cell_x = lwt_finest_cell (&t.axes[0], MIN (x, width - 1));

#pragma unroll
    for (guint k = 0; k < 8; k++)
      if (x < width && y + k < t.n && is_used (t, cell_x, y + k, counts)) {
        const guint64 key =
            bits_of (lwt_row<T> (t.samples.data, t.samples.stride, y + k)[x]);

        if (pass == 0 || key >> (shift + BITS) == prefix)
          atomicAdd (&bins[key >> shift & (BINS - 1)], 1u);
      }
  }
  __syncthreads ();
  for (guint i = threadIdx.x; i < BINS; i += COUNT_THREADS)
    if (bins[i] > 0)
      atomicAdd (&select->bins[i], (unsigned long long) bins[i]);
}

/* One warp: finds the bin that holds the entry and clears the bins for the
 * next pass. The first pass counts all entries, and so sets the rank; the last one has the
 * median, and with it sigma, median / 0.6745, the estimate of the noise. */
template <typename T>
__global__ void
pick_kernel (guint pass, guint passes, gdouble scale, Select *select,
    LwtFindings *findings)
{
  __shared__ unsigned long long bins[BINS];
  const guint lane = threadIdx.x, own = BINS / 32;
  const guint64 prefix = pass == 0 ? 0 : select->prefix;
  guint64 rank = select->rank;
  guint64 n = 0, below, all;

#pragma unroll 16
  for (guint i = lane; i < BINS; i += 32) {
    bins[i] = select->bins[i];
    select->bins[i] = 0;
  }
  __syncwarp ();
  for (guint i = 0; i < own; i++)
    n += bins[lane * own + i];
  below = n; /* inclusive prefix sum over the lanes, made exclusive below */
  for (guint distance = 1; distance < 32; distance *= 2) {
    const guint64 other = __shfl_up_sync (LWT_ALL_LANES, below, distance);

    below += lane >= distance ? other : 0;
  }
  all = __shfl_sync (LWT_ALL_LANES, below, 31);
  if (pass == 0) /* of no entries, all bins are empty and the rank is unused */
    rank = (MAX (all, 1) - 1) / 2;
  below -= n;
  if (rank >= below && rank - below < n) {
    guint bin = lane * own;

    for (; rank - below >= bins[bin]; bin++)
      below += bins[bin];
    select->prefix = prefix << BITS | bin;
    select->rank = rank - below;
    if (pass + 1 == passes)
      findings->threshold =
          (gdouble) lwt_from_bits<T> (
              (guint32) (prefix << BITS | bin), prefix << BITS | bin)
          / 0.6745
          * lwt_universal_factor (lwt_cell_count_used (findings->cells), scale);
  }
}

/* --- coefficients ------------------------------------------------------------------ */

template <typename T>
__device__ __forceinline__ T
shrink (LwtShrink how, T w, T t)
{
  const T size = w < 0 ? -w : w;

  if (!(size > t))
    return 0;
  switch (how) {
    case LWT_SHRINK_SOFT:
      return copysign (size - t, w);
    case LWT_SHRINK_HARD:
      return w;
    default:
      return w - (t * t) / w;
  }
}

template <typename T>
__global__ void
shrink_kernel (LwtPicture bands, LwtShrink how, guint width, guint height,
    guint low_width, guint low_height, gdouble threshold,
    const LwtFindings *findings)
{
  const T t = (T) (threshold > 0.0 ? threshold : findings->threshold);

  lwt_each_sample (width, height, [&] (guint x, guint y) {
    T *row = lwt_row<T> (bands.data, bands.stride, y);

    if (x >= low_width || y >= low_height)
      row[x] = shrink (how, row[x], t);
  });
}

/* --- spins ---------------------------------------------------------------------------- */

/* @k modulo @n, for @k < 2 @n or a little more. */
__device__ __forceinline__ guint
wrap (guint k, guint n)
{
  while (k >= n)
    k -= n;
  return k;
}

template <typename T>
__global__ void
rotate_kernel (LwtPicture from, LwtPicture to, guint width, guint height,
    guint sx, guint sy)
{
  lwt_each_sample (width, height, [&] (guint x, guint y) {
    lwt_row<T> (to.data, to.stride, y)[x] = lwt_row<T> (
        from.data, from.stride, wrap (y + sy, height))[wrap (x + sx, width)];
  });
}

/* Thread (x, y) of the rotated picture; its sample came from (x + sx, y +
 * sy). */
template <typename T>
__global__ void
add_kernel (LwtPicture spin, LwtPicture sum, guint width, guint height,
    guint sx, guint sy, T scale)
{
  lwt_each_sample (width, height, [&] (guint x, guint y) {
    T *to = &lwt_row<T> (
        sum.data, sum.stride, wrap (y + sy, height))[wrap (x + sx, width)];

    *to = (*to + lwt_row<T> (spin.data, spin.stride, y)[x]) * scale;
  });
}

/* --- output -------------------------------------------------------------- */

template <typename T>
__device__ __forceinline__ void
store_level (const LwtDenoisedTask &t, guint x, guint y, T z)
{
  const T max = (T) t.store_max;
  T level = z * (T) t.store_factor;
  guint stored;

  level = level > (T) 0 ? level : (T) 0;
  level = level < max ? level : max;
  stored = (guint) (level + (T) 0.5) << t.store_shift;
  if (t.store_bytes == 1)
    lwt_row<guint8> (t.measured.data, t.measured.stride, y)[x * t.store_step] =
        (guint8) stored;
  else
    lwt_row<guint16> (t.measured.data, t.measured.stride, y)[x * t.store_step] =
        (guint16) stored;
}

template <typename T>
__global__ void
denoised_kernel (LwtDenoisedTask t)
{
  lwt_each_sample (t.width, t.height, [&] (guint x, guint y) {
    const bool gone = t.missing != NULL
                      && lwt_is_missing (t.missing, lwt_words (t.width), x, y);
    const T before =
        lwt_row<T> (t.x.data, t.x.stride, y + t.pad[1])[x + t.pad[0]];
    T after = lwt_row<T> (t.y.data, t.y.stride, y + t.pad[1])[x + t.pad[0]];

    if (t.noise.data != NULL)
      lwt_row<T> (t.noise.data, t.noise.stride, y)[x] =
          gone ? lwt_nan<T> () : before - after;
    if (t.polynomial != NULL)
      after = (T) ((gdouble) after
                   + lwt_tail (t.polynomial, t.tables.u[x], t.tables.v[y]));
    if (t.store_bytes > 0)
      store_level (t, x, y, after);
    else if (t.measured.data != NULL)
      lwt_row<T> (t.measured.data, t.measured.stride, y)[x] =
          gone ? lwt_nan<T> () : after;
  });
}

} // namespace

extern "C" gsize
lwt_select_get_size (void)
{
  return sizeof (Select);
}

extern "C" guint
lwt_select_get_passes (LwtType type)
{
  return type == LWT_TYPE_F64 ? 6 : 3;
}

extern "C" cudaError_t
lwt_launch_cells (const LwtSurfaceTask *task, const LwtFinestAxis axes[2],
    guint8 *cells, cudaStream_t stream)
{
  return LWT_BY_SAMPLE (task->sample, launch_cells, *task, axes, cells, stream);
}

extern "C" cudaError_t
lwt_launch_count (
    const LwtCountTask *task, guint pass, void *select, cudaStream_t stream)
{
  /* bits below those of the pass */
  const guint shift = (lwt_select_get_passes (task->type) - 1 - pass) * BITS;
  const guint64 pieces =
      (guint64) ((task->axes[0].n + 31) / 32) * ((task->n + 7) / 8);
  const guint blocks = (guint) MIN (
      (pieces + COUNT_THREADS / 32 - 1) / (COUNT_THREADS / 32), COUNT_BLOCKS);

  return LWT_LAUNCH (task->type, count_kernel, blocks, COUNT_THREADS, stream,
      *task, shift, pass, (Select *) select);
}

extern "C" cudaError_t
lwt_launch_pick (LwtType type, guint pass, gdouble scale, void *select,
    LwtFindings *findings, cudaStream_t stream)
{
  return LWT_LAUNCH (type, pick_kernel, 1, 32, stream, pass,
      lwt_select_get_passes (type), scale, (Select *) select, findings);
}

extern "C" cudaError_t
lwt_launch_shrink (LwtType type, LwtShrink shrink, LwtPicture bands,
    guint width, guint height, guint low_width, guint low_height,
    gdouble threshold, const LwtFindings *findings, cudaStream_t stream)
{
  return LWT_LAUNCH (type, shrink_kernel, lwt_grid (width, height), lwt_block,
      stream, bands, shrink, width, height, low_width, low_height, threshold,
      findings);
}

extern "C" cudaError_t
lwt_launch_rotate (LwtType type, LwtPicture from, LwtPicture to, guint width,
    guint height, guint sx, guint sy, cudaStream_t stream)
{
  return LWT_LAUNCH (type, rotate_kernel, lwt_grid (width, height), lwt_block,
      stream, from, to, width, height, sx, sy);
}

extern "C" cudaError_t
lwt_launch_add (LwtType type, LwtPicture spin, LwtPicture sum, guint width,
    guint height, guint sx, guint sy, gdouble scale, cudaStream_t stream)
{
  return LWT_LAUNCH (type, add_kernel, lwt_grid (width, height), lwt_block,
      stream, spin, sum, width, height, sx, sy, scale);
}

extern "C" cudaError_t
lwt_launch_denoised (const LwtDenoisedTask *task, cudaStream_t stream)
{
  return LWT_LAUNCH (task->type, denoised_kernel,
      lwt_grid (task->width, task->height), lwt_block, stream, *task);
}
