/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Lifting for any wavelet, type, boundary and size: rows, then columns, each in
 * one pass over memory. A thread block takes a piece of some lines with its
 * neighbours into shared memory, runs all steps there and writes what it is
 * there for. Steps that reach too far for that run on whole lines in work
 * memory, with the same code. */
#include "lwtdevice_cuda.cuh"
#include "lwtlaunch_cuda.cuh"
#include "lwtsteps_cuda.cuh"

#include <string.h>

namespace {

#define GENERIC_THREADS 256
#define GENERIC_SHARED (48 * 1024)
#define ROW_LINES 4   /* rows of a thread block */
#define ROW_PAIRS 256 /* pairs of samples of a row, or fewer */
#define COLUMN_BYTES 128
#define COLUMN_PAIRS 32

/* Lines along an axis. Those from @split on are of the other half of bands.
 * @start of a piece may lie before the line (periodic). */
template <typename T> struct LinesTask {
  LwtSteps<T> steps;
  LwtBoundary boundary;
  gint n;     /* samples of a line */
  gint lines; /* how many */
  gint split;
  gint pairs; /* a thread block's */
  gint halo;  /* pairs it knows beyond them, on either side */
  gint block_lines;
  gint shift[2];
  LwtPicture picture;
  LwtBand bands[2][2]; /* [half][kind] */
  T *scratch;          /* of whole lines; NULL: shared memory */
};

/* --- a thread block's piece -------------------------------------------------------- */

template <typename T, bool COLUMNS> struct Piece {
  T *samples; /* [kind][..]: entry-major for columns */
  gint start, pairs;
  gint lines, line0; /* that there are, the first */
  gint pitch;        /* lines there is room for, a power of two */
  bool whole;

  __device__ __forceinline__ T &
  at (gint kind, gint line, gint i) const
  {
    return samples[COLUMNS ? (kind * pairs + i) * pitch + line
                           : (line * 2 + kind) * pairs + i];
  }

  /* Runs f (line, entry) for entries @from .. @to - 1 of all lines. */
  template <typename F>
  __device__ __forceinline__ void
  each (gint from, gint to, F f) const
  {
    const gint side = GENERIC_THREADS / pitch; /* threads of a line */
    const gint line = COLUMNS ? threadIdx.x % pitch : threadIdx.x / side;
    const gint first = COLUMNS ? threadIdx.x / pitch : threadIdx.x % side;

    if (line < lines)
      for (gint entry = from + first; entry < to; entry += side)
        f (line, entry);
  }
};

template <typename T, bool COLUMNS>
__device__ Piece<T, COLUMNS>
piece_of_block (const LinesTask<T> &task, T *shared)
{
  Piece<T, COLUMNS> piece;
  const gint period = lwt_count (task.n, 0);
  const gint from = blockIdx.y * task.pairs;
  gint end = from + task.pairs + task.halo;

  piece.whole = task.pairs >= period;
  piece.start = from - task.halo;
  if (piece.whole || task.boundary != LWT_BOUNDARY_PERIODIC) {
    piece.start = max (piece.start, 0);
    end = min (end, period);
  }
  piece.pairs = end - piece.start;
  piece.pitch = task.block_lines;
  piece.line0 = blockIdx.x * task.block_lines;
  piece.lines = min (task.block_lines, task.lines - piece.line0);
  piece.samples =
      task.scratch ? task.scratch + (gsize) piece.line0 * 2 * period : shared;
  return piece;
}

/* The step's neighbour @j of the kind @odd, or +0. */
template <typename T, bool COLUMNS>
__device__ __forceinline__ T
neighbour (const LinesTask<T> &task, const Piece<T, COLUMNS> &piece, gint line,
    gint j, gint odd)
{
  j = piece.whole ? lwt_neighbour (task.boundary, j, odd, task.n)
                  : lwt_near_neighbour (task.boundary, j, odd, task.n);
  if (j < 0 && (piece.whole || task.boundary != LWT_BOUNDARY_PERIODIC))
    return 0;
  /* beyond the piece: what is computed of it is used nowhere */
  return piece.at (odd, line, min (max (j - piece.start, 0), piece.pairs - 1));
}

template <bool INVERSE, typename T, bool COLUMNS>
__device__ void
run_steps (
    const LinesTask<T> &task, const Piece<T, COLUMNS> &piece, const T *taps)
{
  for (gint i = 0; i < task.steps.n; i++) {
    const LwtStepHead head =
        task.steps.heads[INVERSE ? task.steps.n - 1 - i : i];
    const gint odd = head.kind == LWT_STEP_PREDICT;

    piece.each (0, piece.pairs, [&] (gint line, gint entry) {
      T &x = piece.at (odd, line, entry);

      x = lwt_lift<INVERSE> (x, head, taps + head.tap, [&] (gint tap) {
        return neighbour (
            task, piece, line, piece.start + entry + head.first + tap, 1 - odd);
      });
    });
    __syncthreads ();
  }
}

/* --- kernels ------------------------------------------------------------------------ */

/* Sample @position of line @line of the picture. */
template <typename T, bool COLUMNS>
__device__ __forceinline__ T *
sample_at (const LinesTask<T> &task, gint line, gint position)
{
  const gsize x = COLUMNS ? line : position, y = COLUMNS ? position : line;

  return (T *) ((guint8 *) task.picture.data + y * task.picture.stride) + x;
}

/* Where the entry of sample @k of @kind lies; NULL: nowhere. */
template <typename T, bool COLUMNS>
__device__ __forceinline__ T *
entry_at (const LinesTask<T> &task, gint line, gint kind, gint k)
{
  const gint half = line >= task.split;
  const LwtBand &band = task.bands[half][kind];
  const gsize l = line - (half ? task.split : 0);
  const gsize e = lwt_entry (k, task.shift[kind], lwt_count (task.n, kind));

  if (band.data == NULL)
    return NULL;
  return COLUMNS ? lwt_band_at<T> (band, l, e) : lwt_band_at<T> (band, e, l);
}

template <typename T, bool COLUMNS>
__global__ void
__launch_bounds__ (GENERIC_THREADS)
    forward_kernel (LWT_PARAMETER (LinesTask<T>, task))
{
  T *taps = (T *) LWT_SHARED;
  T *shared = lwt_take_taps (task.steps, taps);
  const Piece<T, COLUMNS> piece = piece_of_block<T, COLUMNS> (task, shared);
  const gint period = lwt_count (task.n, 0);
  const gint from = blockIdx.y * task.pairs;

  lwt_wait_for_previous ();
  piece.each (0, piece.pairs, [&] (gint line, gint entry) {
    const gint k = lwt_modulo (piece.start + entry, period);

    for (gint kind = 0; kind < 2; kind++)
      piece.at (kind, line, entry) =
          2 * k + kind < task.n
              ? *sample_at<T, COLUMNS> (task, piece.line0 + line, 2 * k + kind)
              : 0;
  });
  __syncthreads ();
  run_steps<false> (task, piece, taps);
  piece.each (from - piece.start, min (from + task.pairs, period) - piece.start,
      [&] (gint line, gint entry) {
        for (gint kind = 0; kind < 2; kind++) {
          const gint k = piece.start + entry;
          T *out = 2 * k + kind < task.n ? entry_at<T, COLUMNS> (
                       task, piece.line0 + line, kind, k)
                                         : NULL;

          if (out)
            *out = lwt_scaled (
                piece.at (kind, line, entry), task.steps.scale[kind]);
        }
      });
}

template <typename T, bool COLUMNS>
__global__ void
__launch_bounds__ (GENERIC_THREADS)
    inverse_kernel (LWT_PARAMETER (LinesTask<T>, task))
{
  T *taps = (T *) LWT_SHARED;
  T *shared = lwt_take_taps (task.steps, taps);
  const Piece<T, COLUMNS> piece = piece_of_block<T, COLUMNS> (task, shared);
  const gint period = lwt_count (task.n, 0);
  const gint from = blockIdx.y * task.pairs;

  lwt_wait_for_previous ();
  piece.each (0, piece.pairs, [&] (gint line, gint entry) {
    const gint k = lwt_modulo (piece.start + entry, period);

    for (gint kind = 0; kind < 2; kind++) {
      const T *in = 2 * k + kind < task.n ? entry_at<T, COLUMNS> (
                        task, piece.line0 + line, kind, k)
                                          : NULL;

      piece.at (kind, line, entry) =
          in ? lwt_scaled (*in, task.steps.scale[kind]) : 0;
    }
  });
  __syncthreads ();
  run_steps<true> (task, piece, taps);
  piece.each (from - piece.start, min (from + task.pairs, period) - piece.start,
      [&] (gint line, gint entry) {
        for (gint kind = 0; kind < 2; kind++) {
          const gint position = 2 * (piece.start + entry) + kind;

          if (position < task.n)
            *sample_at<T, COLUMNS> (task, piece.line0 + line, position) =
                piece.at (kind, line, entry);
        }
      });
}

#define PARTS_THREADS 256

typedef struct {
  LwtPartsTask task;
  LwtPicture low[3];
} PartsTask;

template <typename T>
__device__ __forceinline__ T
read_at (const LwtPicture &picture, gsize x, gsize y)
{
  return ((const T *) ((const guint8 *) picture.data + y * picture.stride))[x];
}

template <typename T>
__global__ void
__launch_bounds__ (PARTS_THREADS)
    parts_kernel (LWT_PARAMETER (PartsTask, parts))
{
  const LwtPartsTask &task = parts.task;
  const guint x = blockIdx.x * PARTS_THREADS + threadIdx.x;

  lwt_wait_for_previous ();
  if (x >= task.width)
    return;
  for (guint y = blockIdx.y; y < task.height; y += gridDim.y) {
    const gsize column = x + task.pad[0], row = y + task.pad[1];
    const gsize words = (task.width + 31) / 32;
    const bool missing =
        task.missing && (task.missing[y * words + x / 32] >> (x & 31) & 1);
    T before = read_at<T> (task.picture, column, row);

    for (gint i = 0; i < 4; i++) {
      const LwtPicture &part = task.parts[SURFACE_PART_NOISE + i];
      T next = 0, value;

      if (i < 3 && parts.low[i].data != NULL)
        next = read_at<T> (parts.low[i], column, row);
      value = before - next;
      if (i == 3 && task.polynomial)
        value = (T) ((gdouble) before
                     + lwt_tail (task.polynomial, lwt_centred (x, task.width),
                         lwt_centred (y, task.height)));
      else if (i == 3)
        value = before;
      before = next;
      if (part.data)
        ((T *) ((guint8 *) part.data + y * part.stride))[x] =
            missing ? (T) NAN : value;
    }
  }
}

/* --- launches ------------------------------------------------------------------------ */

typedef struct {
  gint left, right;
} Reach;

/* How many pairs to either side an output knows over all steps. */
Reach
get_reach (const LwtWavelet *wavelet, gboolean inverse)
{
  gint64 low[2] = { 0, 0 }, high[2] = { 0, 0 };
  Reach reach;

  for (guint i = 0; i < wavelet->n_steps; i++) {
    const LwtStep *step =
        &wavelet->steps[inverse ? i : wavelet->n_steps - 1 - i];
    const gint x = step->kind == LWT_STEP_PREDICT, y = 1 - x;

    low[y] = MIN (low[y], low[x] + step->first);
    high[y] = MAX (high[y], high[x] + step->first + (gint) step->n - 1);
  }
  reach.left = (gint) MIN (-MIN (low[0], low[1]), (gint64) LWT_MAX_SIDE);
  reach.right = (gint) MIN (MAX (high[0], high[1]), (gint64) LWT_MAX_SIDE);
  return reach;
}

/* What a piece knows beyond its own: of a mirrored neighbour its neighbours. */
gint
get_halo (const LwtWavelet *wavelet)
{
  const Reach forward = get_reach (wavelet, FALSE);
  const Reach inverse = get_reach (wavelet, TRUE);

  return MAX (forward.left + forward.right, inverse.left + inverse.right) + 2;
}

gsize
get_shared_size (const LwtTransform *transform, gint pairs, gint lines)
{
  return lwt_get_taps_size (transform)
         + (gsize) 2 * pairs * lines * lwt_type_get_size (transform->type);
}

gint
get_column_lines (const LwtTransform *transform)
{
  return COLUMN_BYTES / (gint) lwt_type_get_size (transform->type);
}

template <typename T>
void
set_lines (LinesTask<T> *lines, const LwtTransform *transform,
    const LwtGenericWork *work, gboolean inverse)
{
  memset ((void *) lines, 0, sizeof *lines);
  lwt_set_steps (&lines->steps, transform, inverse, work->taps);
  lines->boundary = transform->boundary;
  lines->halo = get_halo (&transform->wavelet);
  lines->scratch = (T *) work->scratch;
  if (transform->boundary == LWT_BOUNDARY_PERIODIC) {
    lines->shift[0] = transform->wavelet.shift_low;
    lines->shift[1] = transform->wavelet.shift_high;
  }
}

/* Lines of @n samples: cut into pieces, one or some lines a thread block. */
template <typename T, bool COLUMNS, bool INVERSE>
gboolean
launch_lines (LinesTask<T> *task, const LwtTransform *transform, guint n,
    guint n_lines, guint split, cudaStream_t stream, GError **error)
{
  const gint period = lwt_count ((gint) n, 0);
  const gint side = COLUMNS ? COLUMN_PAIRS : ROW_PAIRS;
  gint shared = 0; /* pairs of a line there */
  dim3 grid;

  task->n = (gint) n;
  task->lines = (gint) n_lines;
  task->split = (gint) split;
  task->block_lines = COLUMNS ? get_column_lines (transform) : ROW_LINES;
  task->pairs =
      task->scratch || period <= side + 2 * task->halo ? period : side;
  if (!task->scratch)
    shared = task->pairs < period ? side + 2 * task->halo : period;
  grid.x = (n_lines + task->block_lines - 1) / task->block_lines;
  grid.y = (period + task->pairs - 1) / task->pairs;
  return lwt_launch (
      INVERSE ? inverse_kernel<T, COLUMNS> : forward_kernel<T, COLUMNS>,
      INVERSE ? "the generic inverse_kernel" : "the generic forward_kernel",
      grid, GENERIC_THREADS,
      get_shared_size (transform, shared, task->block_lines), stream, *task,
      error);
}

/* The halves of a picture whose rows are split and whose columns are not yet. */
template <typename T>
void
set_halves (LwtBand halves[2], LwtPicture picture, guint width)
{
  for (gint i = 0; i < 2; i++) {
    halves[i].data = (T *) picture.data + (i ? (width + 1) / 2 : 0);
    halves[i].pitch = picture.stride;
    halves[i].step = 1;
  }
}

template <typename T>
gboolean
forward (const LwtTransform *transform, const LwtLevelTask *task,
    const LwtGenericWork *work, cudaStream_t stream, GError **error)
{
  const guint width = task->width, height = task->height;
  const guint low = task->x ? (width + 1) / 2 : width;
  LinesTask<T> lines;

  set_lines (&lines, transform, work, FALSE);
  lines.picture = task->picture;
  if (task->x) {
    memcpy (lines.bands[0], task->bands[0], sizeof lines.bands[0]);
    if (task->y)
      set_halves<T> (lines.bands[0], work->temp, width);
    if (task->bands[0][1].data == NULL)
      lines.bands[0][1].data = NULL;
    if (!launch_lines<T, false, false> (
            &lines, transform, width, height, height, stream, error))
      return FALSE;
    lines.picture = work->temp;
  }
  if (!task->y)
    return TRUE;
  for (gint half = 0; half < 2; half++)
    for (gint kind = 0; kind < 2; kind++)
      lines.bands[half][kind] = task->bands[kind][half];
  return launch_lines<T, true, false> (&lines, transform, height,
      task->bands[0][1].data ? width : low, low, stream, error);
}

template <typename T>
gboolean
inverse (const LwtTransform *transform, const LwtLevelTask *task,
    const LwtGenericWork *work, cudaStream_t stream, GError **error)
{
  const guint width = task->width, height = task->height;
  const guint low = task->x ? (width + 1) / 2 : width;
  LinesTask<T> lines;

  set_lines (&lines, transform, work, TRUE);
  if (task->y) {
    lines.picture = task->x ? work->temp : task->picture;
    for (gint half = 0; half < 2; half++)
      for (gint kind = 0; kind < 2; kind++)
        lines.bands[half][kind] = task->bands[kind][half];
    if (!launch_lines<T, true, true> (&lines, transform, height,
            task->bands[0][1].data ? width : low, low, stream, error))
      return FALSE;
  }
  if (!task->x)
    return TRUE;
  lines.picture = task->picture;
  memcpy (lines.bands[0], task->bands[0], sizeof lines.bands[0]);
  if (task->y)
    set_halves<T> (lines.bands[0], work->temp, width);
  if (task->bands[0][1].data == NULL)
    lines.bands[0][1].data = NULL;
  return launch_lines<T, false, true> (
      &lines, transform, width, height, height, stream, error);
}

} // namespace

/* --- what the engine's transforms call ------------------------------------------- */

gsize
lwt_generic_get_taps_size (const LwtTransform *transform)
{
  const guint n = lwt_count_taps (&transform->wavelet);

  return n > LWT_NEAR_TAPS ? n * lwt_type_get_size (transform->type) : 0;
}

gboolean
lwt_generic_put_taps (const LwtTransform *transform, void *taps,
    cudaStream_t stream, GError **error)
{
  const gsize size = lwt_generic_get_taps_size (transform);
  gdouble list[LWT_MAX_STEPS * LWT_MAX_TAPS];

  if (size == 0)
    return TRUE;
  if (transform->type == LWT_TYPE_F32)
    lwt_list_taps (&transform->wavelet, (float *) list);
  else if (transform->type == LWT_TYPE_F64)
    lwt_list_taps (&transform->wavelet, list);
  else
    lwt_list_taps (&transform->wavelet, (gint32 *) list);
  /* the runtime keeps a copy of pageable memory before it returns */
  return CVIS_CUDA (
      cudaMemcpyAsync (taps, list, size, cudaMemcpyHostToDevice, stream),
      error);
}

gboolean
lwt_generic_reaches_far (const LwtTransform *transform)
{
  const gint halo = get_halo (&transform->wavelet);

  return MAX (get_shared_size (transform, ROW_PAIRS + 2 * halo, ROW_LINES),
             get_shared_size (transform, COLUMN_PAIRS + 2 * halo,
                 get_column_lines (transform)))
         > GENERIC_SHARED;
}

gsize
lwt_generic_get_scratch_size (
    const LwtTransform *transform, guint width, guint height)
{
  const gsize lines = MAX (get_column_lines (transform), ROW_LINES);

  return (width + lines) * (height + lines)
         * lwt_type_get_size (transform->type);
}

gboolean
lwt_generic_forward (const LwtTransform *transform, const LwtLevelTask *task,
    const LwtGenericWork *work, cudaStream_t stream, GError **error)
{
  return LWT_BY_TYPE (
      transform->type, forward, transform, task, work, stream, error);
}

gboolean
lwt_generic_inverse (const LwtTransform *transform, const LwtLevelTask *task,
    const LwtGenericWork *work, cudaStream_t stream, GError **error)
{
  return LWT_BY_TYPE (
      transform->type, inverse, transform, task, work, stream, error);
}

gboolean
lwt_generic_parts (const LwtTransform *transform, const LwtPartsTask *task,
    const LwtPicture low[3], cudaStream_t stream, GError **error)
{
  const dim3 grid ((task->width + PARTS_THREADS - 1) / PARTS_THREADS,
      MIN (task->height, 65535));
  PartsTask parts = { *task, { low[0], low[1], low[2] } };

  g_return_val_if_fail (transform->type != LWT_TYPE_I32, FALSE);
  return transform->type == LWT_TYPE_F64
             ? lwt_launch (parts_kernel<double>, "the generic parts_kernel",
                 grid, PARTS_THREADS, 0, stream, parts, error)
             : lwt_launch (parts_kernel<float>, "the generic parts_kernel",
                 grid, PARTS_THREADS, 0, stream, parts, error);
}
