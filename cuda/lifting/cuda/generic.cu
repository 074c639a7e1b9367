/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Lifting for any wavelet, type, boundary and size: rows, then columns, each
 * in one pass over memory. A thread block reads a segment of some lines,
 * with its halo, into shared memory, runs all steps there and writes its own
 * samples. If the halo of a wavelet is too wide for that, the same code runs
 * on whole lines in work memory.
 * A lane lifts a line, which is a row or a column, in runs of GENERIC_RUN
 * adjacent pairs. Within a run, the offsets of samples and neighbours are
 * compile-time constants; next to an edge of the picture the entries are
 * lifted one by one and each neighbour is looked up. */
#include "cuda/lifting/cuda/device.cuh"
#include "cuda/lifting/cuda/launch.cuh"
#include "cuda/lifting/cuda/steps.cuh"

#include <string.h>

namespace {

#define GENERIC_THREADS 256
#define GENERIC_SHARED (48 * 1024)
#define GENERIC_RUN 8 /* pairs that a lane lifts together */

/* Pairs that a thread loads or stores before it uses the first one */
#define GENERIC_TOGETHER 4

/* Bounds on the pairs of a segment without its halo; as many as fit are used */
#define GENERIC_LEAST_PAIRS 32
#define GENERIC_PAIRS 96

/* Lines of a segment, one L2 cache line wide if the lines are columns. The
 * pitch from entry to entry is odd, so that rows are free of bank conflicts
 * as well. */
#define GENERIC_LINES(size) (128 / (gint) (size))
#define GENERIC_PITCH(size) (GENERIC_LINES (size) + 1)

/* Reach of an output over all steps, in pairs to each side; @step: reach of
 * one step, the larger side; @edge: reach next to an edge, where an output
 * depends on the neighbours of its mirrored neighbours too */
typedef struct {
  gint left, right;
  gint step;
  gint edge;
} GenericReach;

/* Lines along an axis. @from, @to: even and odd samples of a picture, or low and
 * high entries of bands. Lines from @split on belong to the other half. A segment
 * may start before the line (periodic). */
template <typename T> struct LinesTask {
  LwtSteps<T> steps;
  LwtBoundary boundary;
  gint n;     /* samples of a line */
  gint lines; /* number of lines */
  gint split;
  gint pairs; /* of a thread block */
  GenericReach reach;
  gint shift[2];
  LwtBand from[2][2], to[2][2]; /* [half][kind] */
  T *scratch; /* work memory for whole lines; NULL: shared memory */
};

/* --- a thread block's segment -------------------------------------------- */

/* A segment of some lines.
 * @samples: [kind][entry][line]
 * @start, @pairs: pairs in memory; entry 0 is pair @start. @from, @to: pairs
 *   to write
 * @lines: number of lines; @line0: the first one
 * @room: entries of a kind in memory; @runs: upper limit of the runs
 * @first, @counts: pairs @first .. @counts[kind] - 1 are found at their own
 *   position, without the boundary rule */
template <typename T> struct Piece {
  static constexpr gint LINES = GENERIC_LINES (sizeof (T));
  static constexpr gint PITCH = GENERIC_PITCH (sizeof (T));

  T *samples;
  gint start, pairs;
  gint from, to;
  gint lines, line0;
  gint room, runs;
  gint first, counts[2];
  bool whole;

  __device__ __forceinline__ T &
  at (gint kind, gint line, gint entry) const
  {
    return samples[(kind * room + entry) * PITCH + line];
  }

  /* Calls f (line) for the thread's lines. ALONG: adjacent threads have
   * adjacent entries of a line, otherwise the same entry of adjacent lines. */
  template <bool ALONG, typename F>
  __device__ __forceinline__ void
  each_line (F f) const
  {
    for (gint line = ALONG ? threadIdx.x / 32 : threadIdx.x % LINES;
         line < lines; line += ALONG ? GENERIC_THREADS / 32 : LINES)
      f (line);
  }

  /* Calls get (entry, pair of values) and then put (entry, pair) for the
   * thread's entries @begin .. @end - 1 of a line, GENERIC_TOGETHER at a
   * time. */
  template <bool ALONG, typename Get, typename Put>
  __device__ __forceinline__ void
  each_entry (gint begin, gint end, Get get, Put put) const
  {
    const gint side = ALONG ? 32 : GENERIC_THREADS / LINES;
    const gint first = ALONG ? threadIdx.x % 32 : threadIdx.x / LINES;

    for (gint entry = begin + first; entry < end;
         entry += GENERIC_TOGETHER * side) {
      T pairs[GENERIC_TOGETHER][2];

#pragma unroll
      for (gint i = 0; i < GENERIC_TOGETHER; i++)
        if (entry + i * side < end)
          get (entry + i * side, pairs[i]);
#pragma unroll
      for (gint i = 0; i < GENERIC_TOGETHER; i++)
        if (entry + i * side < end)
          put (entry + i * side, pairs[i]);
    }
  }
};

/* Sets the pairs that a thread block reads: its own @from .. @to - 1 of
 * @period and their halo. A periodic line has no ends, but an odd one lacks
 * a sample, and the sample before it is used instead. */
template <typename T>
__device__ __forceinline__ void
generic_set_extent (const LinesTask<T> &task, Piece<T> *piece, gint period)
{
  const bool ends = piece->whole || task.boundary != LWT_BOUNDARY_PERIODIC;
  const bool lacks = !ends && task.n % 2 != 0;
  const bool first = ends && piece->from <= task.reach.left;
  const bool last = ends && piece->to + task.reach.right >= period;
  gint end = piece->to + (first || lacks ? task.reach.edge : task.reach.right);

  piece->start =
      piece->from - (last || lacks ? task.reach.edge : task.reach.left);
  if (ends) {
    piece->start = max (piece->start, 0);
    end = min (end, period);
  }
  piece->pairs = end - piece->start;
}

/* Range in which neighbours are found at their own position. */
template <typename T>
__device__ __forceinline__ void
generic_set_plain (const LinesTask<T> &task, Piece<T> *piece)
{
  const bool endless = !piece->whole && task.n % 2 == 0
                       && task.boundary == LWT_BOUNDARY_PERIODIC;

  piece->first = endless ? -LWT_MAX_SIDE : 0;
  piece->counts[0] = endless ? 2 * LWT_MAX_SIDE : lwt_count (task.n, 0);
  piece->counts[1] = endless ? 2 * LWT_MAX_SIDE : lwt_count (task.n, 1);
}

template <typename T>
__device__ __forceinline__ Piece<T>
piece_of_block (const LinesTask<T> &task, T *shared)
{
  Piece<T> piece;
  const gint period = lwt_count (task.n, 0);

  piece.whole = task.pairs >= period;
  piece.from = blockIdx.y * task.pairs;
  piece.to = min (piece.from + task.pairs, period);
  generic_set_extent (task, &piece, period);
  generic_set_plain (task, &piece);
  piece.line0 = blockIdx.x * Piece<T>::LINES;
  piece.lines = min (Piece<T>::LINES, task.lines - piece.line0);
  piece.room = piece.runs = piece.pairs;
  piece.samples = shared;
  if (task.scratch) {
    piece.samples =
        task.scratch + (gsize) blockIdx.x * Piece<T>::PITCH * 2 * period;
  } else if (!piece.whole) {
    /* runs may go beyond the segment; those results are not used */
    piece.runs = (piece.pairs + GENERIC_RUN - 1) / GENERIC_RUN * GENERIC_RUN;
    piece.room = piece.runs + 2 * task.reach.step;
    piece.samples += task.reach.step * Piece<T>::PITCH;
  }
  return piece;
}

/* --- steps ------------------------------------------------------------------------- */

/* Neighbour @j of kind @odd, or +0. */
template <typename T>
__device__ __forceinline__ T
generic_neighbour (const LinesTask<T> &task, const Piece<T> &piece, gint line,
    gint j, gint odd)
{
  j = piece.whole ? lwt_neighbour (task.boundary, j, odd, task.n)
                  : lwt_piece_neighbour (task.boundary, j, odd, task.n);
  if (j < 0 && (piece.whole || task.boundary != LWT_BOUNDARY_PERIODIC))
    return 0;
  /* clamped; results beyond the segment are not used */
  return piece.at (odd, line, min (max (j - piece.start, 0), piece.pairs - 1));
}

/* One step on GENERIC_RUN samples, PITCH apart, whose first neighbours begin
 * at @from; for floats, then for integers */
template <bool INVERSE, gint PITCH, typename T>
__device__ __forceinline__ void
generic_lift_run (T *x, const T *from, const LwtStepHead &head, const T *taps)
{
  T values[GENERIC_RUN];

#pragma unroll
  for (gint i = 0; i < GENERIC_RUN; i++)
    values[i] = x[i * PITCH];
  for (gint tap = 0; tap < head.n; tap++) {
    const T weight = INVERSE ? -taps[tap] : taps[tap];

#pragma unroll
    for (gint i = 0; i < GENERIC_RUN; i++)
      values[i] = lwt_fma (weight, from[(tap + i) * PITCH], values[i]);
  }
#pragma unroll
  for (gint i = 0; i < GENERIC_RUN; i++)
    x[i * PITCH] = values[i];
}

template <bool INVERSE, gint PITCH>
__device__ __forceinline__ void
generic_lift_run (
    gint32 *x, const gint32 *from, const LwtStepHead &head, const gint32 *taps)
{
#pragma unroll
  for (gint i = 0; i < GENERIC_RUN; i++)
    x[i * PITCH] = lwt_lift<INVERSE> (x[i * PITCH], head, taps,
        [&] (gint tap) { return from[(tap + i) * PITCH]; });
}

/* One step on an entry whose neighbours follow the boundary rule */
template <bool INVERSE, typename T>
__device__ __forceinline__ void
generic_lift_one (const LinesTask<T> &task, const Piece<T> &piece, gint line,
    gint entry, const LwtStepHead &head, const T *taps)
{
  const gint odd = head.kind == LWT_STEP_PREDICT;
  const gint j = piece.start + entry + head.first;
  T &x = piece.at (odd, line, entry);

  x = lwt_lift<INVERSE> (x, head, taps, [&] (gint tap) {
    return generic_neighbour (task, piece, line, j + tap, 1 - odd);
  });
}

/* One step: threads with the same line take turns over the runs, then over
 * the single entries before and after them. */
template <bool INVERSE, typename T>
__device__ __forceinline__ void
generic_run_step (const LinesTask<T> &task, const Piece<T> &piece,
    const LwtStepHead &head, const T *taps)
{
  constexpr gint LINES = Piece<T>::LINES, GROUPS = GENERIC_THREADS / LINES;
  const gint line = threadIdx.x % LINES, group = threadIdx.x / LINES;
  const gint odd = head.kind == LWT_STEP_PREDICT;
  const gint count = odd ? piece.counts[0] : piece.counts[1];
  const gint j = piece.start + head.first;
  const gint before = min (max (piece.first - j, 0), piece.pairs);
  const gint plain = min (count - head.n + 1 - j, piece.runs) - before;
  const gint in_runs = max (plain, 0) / GENERIC_RUN * GENERIC_RUN;
  const gint behind = max (piece.pairs - before - in_runs, 0);

  for (gint i = group * GENERIC_RUN; i < in_runs; i += GROUPS * GENERIC_RUN)
    generic_lift_run<INVERSE, Piece<T>::PITCH> (
        &piece.at (odd, line, before + i),
        &piece.at (1 - odd, line, before + i + head.first), head, taps);
  for (gint i = group; i < before + behind; i += GROUPS)
    generic_lift_one<INVERSE> (
        task, piece, line, i < before ? i : i + in_runs, head, taps);
}

template <bool INVERSE, typename T>
__device__ __forceinline__ void
generic_run_steps (
    const LinesTask<T> &task, const Piece<T> &piece, const T *taps)
{
  for (gint i = 0; i < task.steps.n; i++) {
    const LwtStepHead head =
        task.steps.heads[INVERSE ? task.steps.n - 1 - i : i];

    generic_run_step<INVERSE> (task, piece, head, taps + head.tap);
    __syncthreads ();
  }
}

/* --- kernels ------------------------------------------------------------------------ */

/* Samples or entries of one kind of a line. @step: bytes from one to the next;
 * %NULL data: absent */
typedef struct {
  guint8 *data;
  gsize step;
} Strided;

template <typename T>
__device__ __forceinline__ T *
generic_at (const Strided &line, gint i)
{
  return (T *) (line.data + i * line.step);
}

template <typename T, bool COLUMNS>
__device__ __forceinline__ Strided
generic_get_line (
    const LinesTask<T> &task, const LwtBand bands[2][2], gint line, gint kind)
{
  const gint half = line >= task.split;
  const LwtBand &band = bands[half][kind];
  const gsize step = band.step * sizeof (T);
  Strided entries = { (guint8 *) band.data, COLUMNS ? band.pitch : step };

  if (entries.data)
    entries.data +=
        (line - (half ? task.split : 0)) * (COLUMNS ? step : band.pitch);
  return entries;
}

/* Index in its band of sample @k of @kind. */
template <typename T>
__device__ __forceinline__ gint
entry_of (const LinesTask<T> &task, gint kind, gint k)
{
  return task.shift[kind] == 0
             ? k
             : lwt_entry (k, task.shift[kind], lwt_count (task.n, kind));
}

/* Pair of the line at entry @entry of the segment. */
template <typename T>
__device__ __forceinline__ gint
pair_of (const Piece<T> &piece, gint entry, gint period)
{
  const gint k = piece.start + entry;

  return k >= 0 && k < period ? k : lwt_modulo (k, period);
}

/* Reads a segment, or writes its outputs. ENTRIES: of bands, which are shifted and
 * scaled; entries of absent bands read as +0. */
template <typename T, bool COLUMNS, bool ENTRIES, bool WRITE>
__device__ __forceinline__ void
generic_move (const LinesTask<T> &task, const Piece<T> &piece)
{
  const gint period = lwt_count (task.n, 0);
  const gint begin = WRITE ? piece.from - piece.start : 0;
  const gint end = WRITE ? piece.to - piece.start : piece.pairs;

  piece.template each_line<!COLUMNS> ([&] (gint line) {
    const Strided lines[2] = { generic_get_line<T, COLUMNS> (task,
                                   WRITE ? task.to : task.from,
                                   piece.line0 + line, 0),
      generic_get_line<T, COLUMNS> (
          task, WRITE ? task.to : task.from, piece.line0 + line, 1) };
    const auto find = [&] (gint entry, gint kind) -> T * {
      const gint k = pair_of (piece, entry, period);

      return lines[kind].data && k < lwt_count (task.n, kind) ? generic_at<T> (
                 lines[kind], ENTRIES ? entry_of (task, kind, k) : k)
                                                              : NULL;
    };

    piece.template each_entry<!COLUMNS> (
        begin, end,
        [&] (gint entry, T x[2]) {
#pragma unroll
          for (gint kind = 0; kind < 2; kind++) {
            const T *const from =
                WRITE ? &piece.at (kind, line, entry) : find (entry, kind);

            x[kind] = from ? *from : T (0);
          }
        },
        [&] (gint entry, const T x[2]) {
#pragma unroll
          for (gint kind = 0; kind < 2; kind++) {
            T *const to =
                WRITE ? find (entry, kind) : &piece.at (kind, line, entry);

            if (to)
              *to = ENTRIES && lines[kind].data
                        ? x[kind] * task.steps.scale[kind]
                        : x[kind];
          }
        });
  });
}

template <typename T, bool COLUMNS, bool INVERSE>
__global__ void
__launch_bounds__ (GENERIC_THREADS)
    generic_kernel (LWT_PARAMETER (LinesTask<T>, task))
{
  T *taps = (T *) LWT_SHARED;
  T *shared = lwt_take_taps (task.steps, taps);
  const Piece<T> piece = piece_of_block (task, shared);

  lwt_wait_for_previous ();
  generic_move<T, COLUMNS, INVERSE, false> (task, piece);
  __syncthreads ();
  generic_run_steps<INVERSE> (task, piece, taps);
  generic_move<T, COLUMNS, !INVERSE, true> (task, piece);
}

#define COMPONENTS_THREADS 256

typedef struct {
  LwtPartsTask task;
  LwtPicture low[3];
} ComponentsTask;

template <typename T>
__global__ void
__launch_bounds__ (COMPONENTS_THREADS)
    components_kernel (LWT_PARAMETER (ComponentsTask, parts))
{
  const LwtPartsTask &task = parts.task;
  const guint x = blockIdx.x * COMPONENTS_THREADS + threadIdx.x;

  lwt_wait_for_previous ();
  if (x >= task.width)
    return;
  for (guint y = blockIdx.y; y < task.height; y += gridDim.y) {
    const gsize column = x + task.pad[0], row = y + task.pad[1];
    const bool missing =
        task.missing
        && lwt_is_missing (task.missing, lwt_words (task.width), x, y);
    T before = lwt_row<T> (task.picture.data, task.picture.stride, row)[column];

    for (gint i = 0; i < 4; i++) {
      const LwtPicture &part = task.parts[CVIS_SURFACE_PART_NOISE + i];
      T next = 0, value;

      if (i < 3 && parts.low[i].data != NULL)
        next = lwt_row<T> (parts.low[i].data, parts.low[i].stride, row)[column];
      value = before - next;
      if (i == 3 && task.polynomial)
        value = (T) ((gdouble) before
                     + lwt_tail (task.polynomial, lwt_centred (x, task.width),
                         lwt_centred (y, task.height)));
      else if (i == 3)
        value = before;
      before = next;
      if (part.data)
        lwt_row<T> (part.data, part.stride, y)[x] = missing ? (T) NAN : value;
    }
  }
}

/* --- launches ------------------------------------------------------------------------ */

GenericReach
generic_get_reach (const LwtWavelet *wavelet, gboolean inverse)
{
  gint64 low[2] = { 0, 0 }, high[2] = { 0, 0 };
  GenericReach reach = { 0, 0, 0, 0 };

  for (guint i = 0; i < wavelet->n_steps; i++) {
    const LwtStep *step =
        &wavelet->steps[inverse ? i : wavelet->n_steps - 1 - i];
    const gint x = step->kind == LWT_STEP_PREDICT, y = 1 - x;

    low[y] = MIN (low[y], low[x] + step->first);
    high[y] = MAX (high[y], high[x] + step->first + (gint) step->n - 1);
    reach.step = MAX (reach.step, -step->first);
    reach.step = MAX (reach.step, step->first + (gint) step->n - 1);
  }
  reach.left = (gint) MIN (-MIN (low[0], low[1]), (gint64) LWT_MAX_SIDE);
  reach.right = (gint) MIN (MAX (high[0], high[1]), (gint64) LWT_MAX_SIDE);
  reach.edge = reach.left + reach.right + 2;
  return reach;
}

/* Upper bound of the entries of a kind for @pairs in shared memory */
gint
generic_get_room (const GenericReach *reach, gint pairs)
{
  return pairs + 2 * reach->edge + GENERIC_RUN - 1 + 2 * reach->step;
}

/* Bytes of shared memory for @room entries of a kind */
gsize
get_shared_size (const LwtTransform *transform, gint room)
{
  const gsize size = lwt_type_get_size (transform->type);

  return lwt_get_taps_size (transform)
         + (gsize) 2 * room * GENERIC_PITCH (size) * size;
}

/* Pairs of a segment that fit into shared memory; 0: none fit. */
gint
generic_get_pairs (const LwtTransform *transform, const GenericReach *reach)
{
  for (gint pairs = GENERIC_PAIRS; pairs >= GENERIC_LEAST_PAIRS;
       pairs -= GENERIC_RUN)
    if (get_shared_size (transform, generic_get_room (reach, pairs))
        <= GENERIC_SHARED)
      return pairs;
  return 0;
}

template <typename T>
void
generic_set_lines (LinesTask<T> *lines, const LwtTransform *transform,
    const LwtGenericWork *work, gboolean inverse)
{
  memset ((void *) lines, 0, sizeof *lines);
  lwt_set_steps (&lines->steps, transform, inverse, work->taps);
  lines->boundary = transform->boundary;
  lines->reach = generic_get_reach (&transform->wavelet, inverse);
  lines->scratch = (T *) work->scratch;
  if (transform->boundary == LWT_BOUNDARY_PERIODIC) {
    lines->shift[0] = transform->wavelet.shift_low;
    lines->shift[1] = transform->wavelet.shift_high;
  }
}

/* Lifts lines of @n samples, a thread block for each segment of
 * GENERIC_LINES lines. */
template <typename T, bool COLUMNS>
gboolean
generic_launch_lines (LinesTask<T> *task, const LwtTransform *transform,
    gboolean inverse, guint n, guint n_lines, guint split, cudaStream_t stream,
    GError **error)
{
  const gint lines = GENERIC_LINES (sizeof (T));
  const gint period = lwt_count ((gint) n, 0);
  gint room = 0;
  dim3 grid;

  task->n = (gint) n;
  task->lines = (gint) n_lines;
  task->split = (gint) split;
  task->pairs = period;
  if (!task->scratch) {
    const gint pairs = generic_get_pairs (transform, &task->reach);

    room = generic_get_room (&task->reach, pairs);
    if (period > room)
      task->pairs = pairs;
    room = MIN (room, period + 2 * task->reach.step);
  }
  grid.x = (n_lines + lines - 1) / lines;
  grid.y = (period + task->pairs - 1) / task->pairs;
  return lwt_launch (inverse ? generic_kernel<T, COLUMNS, true>
                             : generic_kernel<T, COLUMNS, false>,
      "the generic_kernel", grid, GENERIC_THREADS,
      get_shared_size (transform, room), stream, *task, error);
}

/* Even and odd samples of a picture's rows or columns */
template <typename T, bool COLUMNS>
void
generic_set_samples (LwtBand kinds[2][2], LwtPicture picture, guint split)
{
  const gsize row = COLUMNS ? picture.stride : sizeof (T);
  const gsize line = COLUMNS ? sizeof (T) : picture.stride;

  for (gint half = 0; half < 2; half++)
    for (gint kind = 0; kind < 2; kind++)
      kinds[half][kind] = { (guint8 *) picture.data + kind * row
                                + half * split * line,
        COLUMNS ? 2 * picture.stride : picture.stride, COLUMNS ? 1u : 2u };
}

/* A level: its rows, between the picture and its bands or, if columns are split too,
 * halves in work memory; its columns, between the halves, or the picture if rows are
 * not split, and the bands. */
template <typename T>
gboolean
generic_run_level (const LwtTransform *transform, const LwtLevelTask *task,
    gboolean inverse, const LwtGenericWork *work, cudaStream_t stream,
    GError **error)
{
  const guint width = task->width, height = task->height;
  const guint low = task->x ? (width + 1) / 2 : width;
  const gboolean high = task->bands[0][1].data != NULL;
  LinesTask<T> lines;
  LwtBand (*const samples)[2] = inverse ? lines.to : lines.from;
  LwtBand (*const bands)[2] = inverse ? lines.from : lines.to;
  const auto run_rows = [&] {
    generic_set_samples<T, false> (samples, task->picture, height);
    memcpy (bands[0], task->bands[0], sizeof bands[0]);
    for (guint i = 0; i < 2 && task->y; i++)
      bands[0][i] = { (T *) work->temp.data + i * low, work->temp.stride, 1 };
    if (!high)
      bands[0][1].data = NULL;
    return generic_launch_lines<T, false> (
        &lines, transform, inverse, width, height, height, stream, error);
  };
  const auto run_columns = [&] {
    generic_set_samples<T, true> (
        samples, task->x ? work->temp : task->picture, low);
    for (gint i = 0; i < 4; i++)
      bands[i / 2][i % 2] = task->bands[i % 2][i / 2];
    return generic_launch_lines<T, true> (&lines, transform, inverse, height,
        high ? width : low, low, stream, error);
  };

  generic_set_lines (&lines, transform, work, inverse);
  return (!inverse || !task->y || run_columns ()) && (!task->x || run_rows ())
         && (inverse || !task->y || run_columns ());
}

} // namespace

/* --- entry points -------------------------------------------------------- */

gsize
lwt_generic_get_taps_size (const LwtTransform *transform)
{
  const guint n = lwt_count_taps (&transform->wavelet);

  return n > LWT_PARAMETER_TAPS ? n * lwt_type_get_size (transform->type) : 0;
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
  /* the runtime copies pageable memory before it returns */
  return CVIS_CUDA (
      cudaMemcpyAsync (taps, list, size, cudaMemcpyHostToDevice, stream),
      error);
}

gboolean
lwt_generic_reaches_far (const LwtTransform *transform)
{
  for (gint inverse = 0; inverse < 2; inverse++) {
    const GenericReach reach = generic_get_reach (&transform->wavelet, inverse);

    if (generic_get_pairs (transform, &reach) == 0)
      return TRUE;
  }
  return FALSE;
}

gsize
lwt_generic_get_scratch_size (
    const LwtTransform *transform, guint width, guint height)
{
  const gsize size = lwt_type_get_size (transform->type);
  const gsize lines = GENERIC_LINES (size), pitch = GENERIC_PITCH (size);

  /* all rows or all columns, in whole pairs */
  return MAX ((height + lines - 1) / lines * (width + 1),
             (width + lines - 1) / lines * (height + 1))
         * pitch * size;
}

gboolean
lwt_generic_run (const LwtTransform *transform, const LwtLevelTask *task,
    gboolean inverse, const LwtGenericWork *work, cudaStream_t stream,
    GError **error)
{
  return LWT_BY_TYPE (transform->type, generic_run_level, transform, task,
      inverse, work, stream, error);
}

gboolean
lwt_generic_parts (const LwtTransform *transform, const LwtPartsTask *task,
    const LwtPicture low[3], cudaStream_t stream, GError **error)
{
  const dim3 grid ((task->width + COMPONENTS_THREADS - 1) / COMPONENTS_THREADS,
      MIN (task->height, 65535));
  ComponentsTask parts = { *task, { low[0], low[1], low[2] } };

  g_return_val_if_fail (transform->type != LWT_TYPE_I32, FALSE);
  return transform->type == LWT_TYPE_F64
             ? lwt_launch (components_kernel<double>,
                 "the generic components_kernel", grid, COMPONENTS_THREADS, 0,
                 stream, parts, error)
             : lwt_launch (components_kernel<float>,
                 "the generic components_kernel", grid, COMPONENTS_THREADS, 0,
                 stream, parts, error);
}
