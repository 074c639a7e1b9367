/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The CPU backend of the lifting engine: its transforms and its arithmetic,
 * compiled once for each instruction set.
 *
 * A level is computed in tiles: a strip of columns by a block of rows. The
 * rows of a tile are lifted one after the other, in a line buffer that stays
 * in the L1 cache, and put into a ring of rows, where the columns are lifted
 * step by step as rows arrive. So each sample is read from memory once and
 * written once. A tile recomputes the samples of its halo. */
#pragma once

#include "cuda/core/memory.h"
#include "cuda/core/threadpool.h"
#include "cuda/lifting/backend.h"
#include "cuda/lifting/arithmetic.h"
#include "cuda/lifting/noise.h"
#include "cuda/lifting/smooth.h"

G_BEGIN_DECLS

/* Elements before and after a row of a thread's work memory that may be
 * accessed without being used */
#define LWT_CPU_SLACK 64

/* Elements of the widest vector; segments of rows begin at multiples of it. */
#define LWT_CPU_ALIGN 16

/* --- steps -------------------------------------------------------------------- */

/* A step in one direction; its weights are negative in the inverse. */
typedef struct {
  gint odd; /* the kind that it changes: 1 for a predict */
  gint first;
  guint n;
  gfloat c_f32[LWT_MAX_TAPS];
  gdouble c_f64[LWT_MAX_TAPS];
  gint32 c_i32[LWT_MAX_TAPS];
  guint shift;
} LwtCpuStep;

/* Transform of a line, in one direction. */
typedef struct {
  gboolean inverse;
  LwtBoundary boundary; /* padded ones are symmetric here */
  guint n_steps;
  LwtCpuStep steps[LWT_MAX_STEPS];
  /* Number of pairs of alternating two-neighbour steps, which are computed
   * in registers; 0: the wavelet has other steps */
  guint stages;
  /* of the low and the high band */
  gfloat scale_f32[2];
  gdouble scale_f64[2];
  gint turn[2]; /* entry k of a band is sample (k + turn) mod n of its kind */
} LwtCpuLift;

void lwt_cpu_lift_init (LwtCpuLift *lift, const LwtWavelet *wavelet,
    LwtBoundary boundary, gboolean inverse);

/* --- segments of a line -------------------------------------------------- */

/* Marks a neighbour beyond the edge that is +0 */
#define LWT_CPU_ZERO G_MININT

/* Neighbours of a sample; some follow from the boundary */
typedef struct {
  gint target;
  gint source[LWT_MAX_TAPS];
} LwtCpuEdge;

/* A step in a segment of a line.
 * @first, @end: samples that it changes: those from @plain to @plain_end
 *   have all neighbours inside the line, the others are in @edges, in order
 * @high: end of the neighbours of samples that reach beyond the beginning
 * @low: first neighbour of samples that reach beyond the end: later steps
 *   must not change it before
 * @source_end: end of all neighbours */
typedef struct {
  gint first, end;
  gint plain, plain_end;
  guint n_edges;
  LwtCpuEdge *edges;
  gint low, high, source_end;
} LwtCpuRange;

/* A segment of a line, in pairs of samples (2k, 2k + 1): @begin to @end are
 * the output, @first to @last the input. With a periodic boundary, pairs
 * beyond the line stand for those a period away. A line that is not split
 * has even samples only.
 * @ranges: of the first @n_steps steps; the others are undefined */
typedef struct {
  gint n;        /* samples of the line */
  gint count[2]; /* number of even and odd samples */
  gint period;   /* pairs; 0: the boundary is not periodic */
  gint begin, end;
  gint first, last;
  gint turn[2];
  guint n_steps; /* 0 where the line is not split */
  guint rows;    /* pairs kept at once if they arrive in order */
  LwtCpuRange ranges[LWT_MAX_STEPS];
} LwtCpuPiece;

/* A segment of a row. If the wavelet has stages, the vectors from @begin to
 * @plain_end are computed in registers, ignoring the edge; then the wrong
 * ones among them, and the rest, are computed as segments of their own.
 * @n_edges: 0 with @plain_end == begin: everything is one segment */
typedef struct {
  LwtCpuPiece all;
  gint plain_end;
  guint n_edges;
  LwtCpuPiece edges[2];
} LwtCpuColumns;

/* @begin: a multiple of LWT_CPU_ALIGN */
void lwt_cpu_columns_init (LwtCpuColumns *columns, const LwtCpuLift *lift,
    gint n, gboolean split, gint begin, gint end, gboolean high);
void lwt_cpu_columns_clear (LwtCpuColumns *columns);

/* Progress of the steps in a segment whose pairs arrive in order. */
typedef struct {
  gint done[LWT_MAX_STEPS];
  gint ready[2]; /* end of the samples of a kind with all steps done */
  gint kept;     /* the first pair that a step still needs */
} LwtCpuProgress;

/* @low, @high: bands wanted as output. */
void lwt_cpu_piece_init (LwtCpuPiece *piece, const LwtCpuLift *lift, gint n,
    gboolean split, gint begin, gint end, gboolean low, gboolean high);
void lwt_cpu_piece_clear (LwtCpuPiece *piece);

void lwt_cpu_progress_init (
    LwtCpuProgress *progress, const LwtCpuLift *lift, const LwtCpuPiece *piece);
/* Advances all steps as far as pairs up to @loaded allow, in the order of
 * the steps. */
void lwt_cpu_progress_go_on (LwtCpuProgress *progress, const LwtCpuLift *lift,
    const LwtCpuPiece *piece, gint loaded);

/* --- a level ------------------------------------------------------------------- */

/* A picture, or a band in it. */
typedef struct {
  gpointer data; /* %NULL: absent */
  gsize stride;  /* bytes from row to row */
  gsize step;    /* elements from column to column */
  gboolean cold; /* not read again soon: written with non-temporal stores */
} LwtCpuPlane;

/* A level in one direction, in tiles. @low_only: forward: only the low band
 * is written; inverse: the others are +0 */
typedef struct {
  const LwtCpuLift *lift;
  LwtLevel level;
  gboolean low_only;
  guint n_columns, n_rows;
  LwtCpuColumns *columns; /* segments of rows */
  LwtCpuPiece *rows;      /* segments of columns */
} LwtCpuPass;

/* A level and its memory.
 * @whole: the input, or the inverse's output; its @step is 1
 * @band: [high along y][high along x]
 * @strange: (nullable): forward: set if a sample of whole is, or may be, not
 *   finite */
typedef struct {
  const LwtCpuPass *pass;
  LwtCpuPlane whole;
  LwtCpuPlane band[2][2];
  gint *strange; /* atomic */
} LwtCpuTask;

/* Work memory of a thread: rows of @pitch bytes, and rows of doubles */
typedef struct {
  gsize pitch;
  gpointer line[2];
  gpointer zeros;
  gpointer ring;
  gdouble *wide[4];
  gpointer memory;
} LwtCpuScratch;

/* --- arithmetic ------------------------------------------------------------------- */

/* A tile of a level. */
typedef void (*LwtCpuTileFunc) (
    const LwtCpuTask *task, LwtCpuScratch *scratch, guint column, guint row);

typedef struct {
  gsize size; /* of an element */
  LwtCpuTileFunc forward, inverse;
} LwtCpuLifter;

/* Rows of @n floats or doubles. @missing: one bit a sample, the lowest first */
typedef struct {
  /* (T) (z - P); @polynomial %NULL: (T) z */
  void (*round_row) (const gdouble *z, guint n, const gdouble *polynomial,
      gdouble v, gpointer to);
  void (*widen_row) (gconstpointer row, guint n, gdouble *to);
  /* (T) ((FP64) row + (P - p0)) */
  void (*tail_row) (
      gpointer row, guint n, const gdouble *polynomial, gdouble v);
  void (*blank_row) (gpointer row, guint n, const guint32 *missing);
  /* a - b; %NULL @b: a */
  void (*subtract_row) (gconstpointer a, gconstpointer b, guint n, gpointer to);
  /* See lwt_store_factor(). @wide: stores guint16, otherwise guint8 */
  void (*store_row) (gconstpointer row, guint n, gdouble factor, guint max,
      guint shift, gboolean wide, gpointer to);
  void (*add_row) (gconstpointer a, gconstpointer b, guint n, gpointer to);
  void (*scale_row) (gpointer row, guint n, gdouble scale);
  void (*shrink_row) (
      gpointer row, guint n, LwtShrink shrink, gdouble threshold);
  /* Histogram of magnitudes, whose bit patterns sort like the values: counts
   * bits @shift to @shift + 15 of those whose higher bits are @prefix. */
  void (*count_row) (
      gconstpointer row, guint n, guint shift, guint64 prefix, guint32 *counts);
  gdouble (*from_magnitude) (guint64 bits);
  /* Means of up to four samples that are not missing, of two rows of @n or
   * of one (@rows[1] %NULL). */
  void (*mean_row) (const gconstpointer rows[2],
      const guint32 *const missing[2], guint n, gpointer to,
      guint32 *to_missing);
  /* Fills missing samples from two rows of parents: their own and the
   * neighbour's. */
  void (*fill_row) (gpointer row, guint n, const guint32 *missing,
      gconstpointer own, gconstpointer other);
  /* Adds @pad samples on each side. @to: may be @row */
  void (*pad_row) (
      gconstpointer row, guint n, guint pad, gboolean smooth, gpointer to);
  /* fma (i, plus - minus, edge) */
  void (*extend_row) (gconstpointer edge, gconstpointer plus,
      gconstpointer minus, guint n, gint i, gpointer to);
} LwtCpuFloats;

/* Lines in a strip, side by side */
#define LWT_CPU_STRIP 16

/* The tables of a low-pass filter in the type of the arithmetic.
 * @near: padded with zeros to @n_near weights
 * @pad: samples before and after a row for narrow_row() and cascade_row() */
typedef struct {
  const LwtSmoothLine *line;
  gconstpointer near, middle, far, inverse, tap;
  guint n_near;
  guint pad;
} LwtCpuSmoothLine;

/* Low-pass filters, see cuda/lifting/smooth.h. Rows of floats or doubles */
typedef struct {
  /* Sum of @n rows, @pitch samples apart, with their weights. */
  void (*combine_rows) (gconstpointer weights, guint n, gconstpointer from,
      gsize pitch, guint width, gpointer to);
  /* A and B of the Gaussian filter along a row that is padded with zeros; @to:
   * a coarse row. @work: a row */
  void (*narrow_row) (const LwtCpuSmoothLine *line, gconstpointer padded,
      gpointer work, gpointer to);
  /* C along a coarse row. @work: a row; @to: has room for another vector */
  void (*widen_row) (const LwtCpuSmoothLine *line, gconstpointer row,
      gpointer work, gpointer to);
  /* The wavelet's levels along a row with room for padding. @work: another
   * such row. Returns: the samples of the result, in one of both */
  gpointer (*cascade_row) (
      const LwtCpuSmoothLine *line, gpointer padded, gpointer work);
  /* @weights: %NULL: 0 for missing points, 1 for others. @to: products */
  void (*weigh_row) (gconstpointer from, gconstpointer weights,
      const guint32 *missing, guint n, gpointer to, gpointer to_weights);
  /* row * inverse * factor */
  void (*normalise_row) (
      gpointer row, guint n, gconstpointer inverse, gdouble factor);
  /* row / by, 0 where @by is 0 */
  void (*divide_row) (gpointer row, guint n, gconstpointer by);
  /* The same with at least LWT_SMOOTH_LEAST_WEIGHT: where @by is less, the
   * point itself, @own, gets the rest. */
  void (*settle_row) (
      gpointer row, guint n, gconstpointer by, gconstpointer own);
  /* |from - smooth|, infinite for @missing (nullable) points */
  void (*deviate_row) (gconstpointer from, gconstpointer smooth,
      const guint32 *missing, guint n, gpointer to);
  /* (1 - (row / scale)^2)^2, 0 beyond scale */
  void (*judge_row) (gpointer row, guint n, gdouble scale);
  /* A strip of @n samples of @lanes lines: samples are @along elements apart
   * in a line, lines @across. */
  void (*gather_strip) (gconstpointer from, gsize along, gsize across, guint n,
      guint lanes, gpointer to);
  void (*scatter_strip) (gconstpointer from, gsize along, gsize across, guint n,
      guint lanes, gpointer to);
  /* Filters a strip. @weight: (nullable): 1, and 0 for missing points; not
   * used by wavelets. Uses @strip and @work. Returns: the strip with the result */
  gpointer (*smooth_strip) (const LwtCpuSmoothLine *line, LwtFilter filter,
      gpointer strip, gconstpointer weight, gpointer work);
} LwtCpuSmooths;

/* FP64 for all types */
typedef struct {
  /* Converts samples to metres; samples that are not finite become 0 and set
   * their bits. Returns: their number */
  guint (*read_row) (gconstpointer row, guint n, LwtSample sample,
      gdouble z_scale, gdouble z_offset, gdouble *z, guint32 *missing);
  void (*read_integers) (
      gconstpointer row, guint n, LwtSample sample, gint32 *to);
  /* Sets the bits of the samples that are not finite. */
  void (*find_missing) (const gdouble *z, guint n, guint32 *missing);
  void (*moments_row) (
      const gdouble *z, const guint32 *missing, guint n, LwtRowMoments *row);
  void (*heights_row) (
      const gdouble *z, const guint32 *missing, guint n, LwtHeights *row);
  /* @rows, @missing: a row and the one below, %NULL if there is none */
  void (*shape_row) (const gdouble *const rows[2],
      const guint32 *const missing[2], guint n, gdouble dx, gdouble dy,
      gdouble mean, LwtShape *row);
} LwtCpuSums;

typedef struct {
  const gchar *name;
  const LwtCpuLifter *lifters[3]; /* by LwtType */
  const LwtCpuFloats *floats[2];
  const LwtCpuSmooths *smooths[2];
  const LwtCpuSums *sums;
} LwtCpuKernels;

extern const LwtCpuKernels lwt_cpu_generic;
extern const LwtCpuKernels lwt_cpu_v3;
extern const LwtCpuKernels lwt_cpu_v4;

/* The functions for this processor (cvis_cpu_level()). */
const LwtCpuKernels *lwt_cpu_kernels (void);

/* --- memory ------------------------------------------------------------------------ */

/* Allocates a picture of rows of @width elements of @size bytes. */
gboolean lwt_cpu_plane_alloc (
    LwtCpuPlane *plane, guint width, guint height, gsize size, GError **error);
/* The part of the picture from (@x, @y) on; elements have @size bytes. */
LwtCpuPlane lwt_cpu_plane_at (
    const LwtCpuPlane *plane, gsize size, guint x, guint y);
gpointer lwt_cpu_plane_row (const LwtCpuPlane *plane, guint y);

/* --- chains of levels ---------------------------------------------------------------- */

typedef struct _LwtCpuTransform LwtCpuTransform;

/* Threads and their work memory. */
typedef struct {
  CvisPool *pool;
  const LwtCpuKernels *kernels;
  guint n_threads;
  GMutex lock;
  LwtCpuScratch *scratch; /* free entries */
  guint n_scratch;
} LwtCpuThreads;

typedef void (*LwtCpuRowsFunc) (
    guint first, guint count, LwtCpuScratch *scratch, gpointer user_data);

void lwt_cpu_threads_init (LwtCpuThreads *threads, guint n);
void lwt_cpu_threads_clear (LwtCpuThreads *threads);
/* Allocates for each thread line buffers and a ring of @rows rows of @pitch
 * bytes, and rows of @wide doubles. */
gboolean lwt_cpu_threads_alloc (LwtCpuThreads *threads, gsize pitch, gsize rows,
    gsize wide, GError **error);
/* Runs @func over 0..@items-1. */
void lwt_cpu_threads_run (LwtCpuThreads *threads, guint items, guint grain,
    LwtCpuRowsFunc func, gpointer user_data);

/* Levels @first to @first + @n - 1 of @chain in one direction. @low_only:
 * only the low band. @width, @height: of the picture if there are no levels */
LwtCpuTransform *lwt_cpu_transform_new (const LwtWavelet *wavelet, LwtType type,
    LwtBoundary boundary, gboolean inverse, gboolean low_only, LwtLayout layout,
    const LwtChain *chain, guint first, guint n, guint width, guint height,
    guint threads, GError **error);
void lwt_cpu_transform_free (LwtCpuTransform *transform);
/* Sizes of the threads' work memory. */
void lwt_cpu_transform_get_scratch (
    const LwtCpuTransform *transform, gsize *pitch, gsize *rows);
/* @from and @to: picture and bands, or the low band, or in the inverse the
 *   other way round. @strange: see LwtCpuTask */
void lwt_cpu_transform_run (const LwtCpuTransform *transform,
    LwtCpuThreads *threads, const LwtCpuPlane *from, const LwtCpuPlane *to,
    gint *strange);

/* --- surfaces ------------------------------------------------------------------------ */

/* Prepares a surface for its transform and measures components; floats or
 * doubles. */
typedef struct {
  const LwtPlan *plan;
  LwtCpuThreads *threads;
  const LwtCpuFloats *floats;
  gsize size;
  LwtCpuPlane x; /* padded */
  gsize words;   /* words of bits in a row */
  guint32 *missing;
  guint *n_missing;       /* in each row */
  LwtRowMoments *moments; /* of each row */
  /* of each row of the components that are measured */
  LwtHeights *heights[CVIS_SURFACE_N_PARTS];
  LwtShape *shapes[CVIS_SURFACE_N_PARTS];
  /* pyramid of means of up to four samples, without the surface itself */
  guint n_means;
  LwtCpuPlane means[21];
  guint32 *means_missing[21];
} LwtCpuSurface;

gboolean lwt_cpu_surface_init (LwtCpuSurface *surface, const LwtPlan *plan,
    LwtCpuThreads *threads, GError **error);
void lwt_cpu_surface_clear (LwtCpuSurface *surface);
/* Converts @job's samples to x; sets the job's missing, offset and
 * polynomial. */
void lwt_cpu_surface_load (LwtCpuSurface *surface, LwtJob *job);
/* Computes row @y of a component. Returns: its address, @to or elsewhere */
typedef gconstpointer (*LwtCpuMakeRow) (
    gconstpointer user_data, CvisSurfacePart part, guint y, gpointer to);
/* First pass of the parameters, over the finished row @y of a component that
 * is at @row. Overwrites @scratch's first row of doubles. */
void lwt_cpu_surface_note_row (LwtCpuSurface *surface, CvisSurfacePart part,
    guint y, gconstpointer row, LwtCpuScratch *scratch);
/* Parameters of complete components of @job, or without a plane of the rows
 * that @make_row returns. @noted: their rows have been noted */
void lwt_cpu_surface_measure (LwtCpuSurface *surface, LwtJob *job,
    LwtParts parts, gboolean noted, LwtCpuMakeRow make_row,
    gconstpointer user_data);
/* Completes the rows of a component in host memory, whose transforms another backend has
 * computed, and measures it: sets them to @first - @second, adds P - p0 and sets missing
 * points to NaN, as needed.
 * @result: its memory; %NULL data: nothing is done
 * @first, @second: (nullable): padded pictures; %NULL @first: the rows are there
 * @job: was loaded, unless its operation is inverse; gets the parameters */
void lwt_cpu_surface_finish (LwtCpuSurface *surface, LwtJob *job,
    CvisSurfacePart part, const LwtPlane *result, const LwtCpuPlane *first,
    const LwtCpuPlane *second);
/* Finds the cells that have noise, LWT_CELL_NOISE; all others become
 * LWT_CELL_CONSTANT. @job: was loaded; @cells: lwt_finest_count_cells().
 * Returns: number of samples in cells that have noise */
guint64 lwt_cpu_find_cells (LwtCpuSurface *surface, const LwtJob *job,
    const LwtFinestAxis axes[2], guint8 *cells);
/* Converts @job's integers to @to, padded symmetrically. */
void lwt_cpu_load_integers (LwtCpuThreads *threads, const LwtPlan *plan,
    const LwtJob *job, const LwtCpuPlane *to);
/* --- low-pass filters ---------------------------------------------------------------- */

/* The filters other than wavelet-decimated. */
typedef struct _LwtCpuSmoother LwtCpuSmoother;

LwtCpuSmoother *lwt_cpu_smoother_new (
    const LwtPlan *plan, LwtCpuThreads *threads, GError **error);
void lwt_cpu_smoother_free (LwtCpuSmoother *smoother);
/* Sizes of the threads' work memory. */
void lwt_cpu_smoother_get_scratch (
    const LwtCpuSmoother *smoother, gsize *pitch, gsize *rows);
/* Low-pass of @x for the cut-off @which: 0 noise, 1 roughness, 2 form. Results for
 * missing points are undefined.
 * @surface: has the bits of @missing points, which are finite in @x */
void lwt_cpu_smoother_run (LwtCpuSmoother *smoother, guint which,
    const LwtCpuSurface *surface, guint64 missing, const LwtCpuPlane *x,
    const LwtCpuPlane *to);

/* Entries of a histogram of 16 bits */
#define LWT_CPU_COUNTS 65536
/* Value of the digit of the sample with rank @rank, of the sum of @n histograms;
 * @rank becomes the rank among the samples with this digit. */
guint lwt_cpu_select_digit (const guint32 *counts, guint n, guint64 *rank);

/* Runs @func on @n rows of @width samples. */
void lwt_cpu_rows_run (LwtCpuThreads *threads, guint n, guint width,
    LwtCpuRowsFunc func, gpointer user_data);

G_END_DECLS
