/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A job in row blocks. The CPU backend's functions do everything before and after the
 * transforms. SETS sets of device memory rotate: one block is uploaded while another
 * is transformed and a third one is downloaded. */
#include "cuda/lifting/cuda/rowblocks.cuh"

#include <stdlib.h>
#include <string.h>

#include "cuda/lifting/rowblocks.h"
#include "cuda/lifting/cpu/cpu.h"

namespace {

const guint SETS = 3;

/* Operation on the row blocks of a pass */
typedef enum { PARTS, FORWARD, INVERSE, SHRINK, COUNT } Action;

/* Device memory of a row block, and the block that uses it */
struct Set {
  LwtPicture in, out; /* as high as the largest row block with its halo */
  LwtPicture parts[CVIS_SURFACE_N_PARTS]; /* filter: output rows */
  cudaEvent_t there, computed, done;
  LwtRowBlock block;
};

/* One pass over all row blocks.
 * @from: pictures or coefficients, as wide as the padded picture
 * @to: PARTS: by CvisSurfacePart, cropped. Otherwise [0], as wide as the padded
 *   picture, or for INVERSE cropped */
struct Pass {
  Action action;
  LwtPlane from;
  LwtPlane to[CVIS_SURFACE_N_PARTS];
  guint radix; /* for COUNT: pass of the threshold search */
};

} // namespace

struct _LwtOutOfCore {
  const LwtPlan *plan;
  LwtPlan own; /* plan of the current row block */
  LwtRowBlocks blocks;
  LwtStreams streams;
  CvisArena arena;
  LwtWorkspace workspace;
  Set sets[SETS];
  LwtFindings *findings;
  gpointer select;
  LwtFinestAxis finest[2]; /* of the whole surface */
  guint8 *cells;
  gsize size; /* bytes of a sample as computed */
  /* host memory */
  LwtCpuThreads threads;
  LwtCpuSurface surface;
  gboolean has_surface;
  gpointer samples; /* input of jobs on the device */
  guint8 *host_cells;
  gpointer rotated; /* denoise: a rotated picture; also integers to transform */
  gpointer spin, sum; /* denoise */
  gpointer results
      [CVIS_SURFACE_N_PARTS]; /* components whose destination is the device */
};

namespace {

/* --- memory ------------------------------------------------------------------- */

gboolean
is_whole_wide (const LwtOutOfCore *b, guint part)
{
  return part == CVIS_SURFACE_PART_BANDS
         || b->plan->config.operation != LWT_OPERATION_FILTER;
}

gboolean
take_set (
    LwtOutOfCore *b, Set *s, guint height, CvisArena *arena, GError **error)
{
  const LwtConfig *config = &b->plan->config;

  if (!lwt_take_picture (arena, config->type, b->plan->width, height,
          "a row block", &s->in, error))
    return FALSE;
  if (config->operation != LWT_OPERATION_FILTER
      || (config->parts & (1u << CVIS_SURFACE_PART_BANDS)))
    if (!lwt_take_picture (arena, config->type, b->plan->width, height,
            "a row block", &s->out, error))
      return FALSE;
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    if ((config->parts & (1u << i)) && !is_whole_wide (b, i)
        && !lwt_take_picture (arena, config->type, config->width,
            b->blocks.rows, "a part", &s->parts[i], error))
      return FALSE;
  return TRUE;
}

void
set_height (LwtOutOfCore *b, guint height)
{
  b->own.height = height;
  lwt_row_blocks_chain (&b->plan->bands, height, &b->own.bands);
  lwt_row_blocks_chain (&b->plan->parts, height, &b->own.parts);
}

gboolean
take_all (LwtOutOfCore *b, CvisArena *arena, GError **error)
{
  const guint height = lwt_row_blocks_get_height (&b->blocks);

  set_height (b, height);
  for (guint i = 0; i < SETS; i++)
    if (!take_set (b, &b->sets[i], height, arena, error))
      return FALSE;
  b->select =
      cvis_arena_device (arena, lwt_select_get_size (), "a histogram", error);
  return b->select != NULL
         && (b->plan->config.operation != LWT_OPERATION_DENOISE
             || cvis_arena_take (arena, &b->cells,
                 lwt_finest_count_cells (b->finest), "cells", error))
         && cvis_arena_take (
             arena, &b->findings, 1, "the results of a row block", error)
         && lwt_workspace_init (&b->workspace, &b->own, &b->own.parts,
             &b->own.bands, b->plan->width, height, arena, error);
}

/* Bytes of device memory with row blocks of @rows */
gsize
count_all (LwtOutOfCore *b, guint rows)
{
  CvisArena arena = { TRUE };

  lwt_row_blocks_cut (&b->blocks, rows);
  take_all (b, &arena, NULL);
  memset (&b->workspace, 0, sizeof b->workspace);
  memset (b->sets, 0, sizeof b->sets);
  return arena.size;
}

/* Finds the largest row blocks that fit. */
gboolean
choose_rows (LwtOutOfCore *b, gsize whole, gsize limit, GError **error)
{
  const guint grid = b->blocks.grid;
  const gsize least = count_all (b, grid);
  guint fits = 1, most = (b->plan->height - 1) / grid + 1;

  if (least > limit) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "surfaces of %ux%u with %u in flight need %" G_GSIZE_FORMAT
        " bytes of device memory, or in row blocks of %u rows %" G_GSIZE_FORMAT
        "; %" G_GSIZE_FORMAT " are available",
        b->plan->config.width, b->plan->config.height,
        b->plan->config.depth_in_flight, whole, grid, least, limit);
    return FALSE;
  }
  while (fits < most) {
    const guint middle = (fits + most + 1) / 2;

    if (count_all (b, middle * grid) <= limit)
      fits = middle;
    else
      most = middle - 1;
  }
  lwt_row_blocks_cut (&b->blocks, fits * grid);
  return TRUE;
}

/* Host memory; untouched pages are never committed. */
gboolean
take_host (gpointer *memory, gsize size, GError **error)
{
  *memory = cvis_memory_new (size, FALSE, error);
  return *memory != NULL;
}

gboolean
take_host_memory (LwtOutOfCore *b, GError **error)
{
  const LwtConfig *config = &b->plan->config;
  const gsize picture = b->size * b->plan->width * b->plan->height;
  const gsize samples =
      lwt_sample_get_size (config->sample) * config->width * config->height;

  lwt_cpu_threads_init (&b->threads, config->threads);
  if (!lwt_cpu_threads_alloc (&b->threads, 64, 1, b->plan->width, error)
      || !take_host (&b->samples, MAX (picture, samples), error))
    return FALSE;
  if (config->type != LWT_TYPE_I32) {
    b->has_surface = TRUE;
    if (!lwt_cpu_surface_init (&b->surface, b->plan, &b->threads, error))
      return FALSE;
  }
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    if ((config->parts & (1u << i))
        && !take_host (&b->results[i], picture, error))
      return FALSE;
  if (config->type == LWT_TYPE_I32 && !take_host (&b->rotated, picture, error))
    return FALSE;
  return config->operation != LWT_OPERATION_DENOISE
         || ((b->host_cells = (guint8 *) cvis_memory_new (
                  lwt_finest_count_cells (b->finest), FALSE, error))
             && take_host (&b->rotated, picture, error)
             && take_host (&b->spin, picture, error)
             && take_host (&b->sum, picture, error));
}

gboolean
init_blocks (LwtOutOfCore *b, gsize whole, gsize limit, GError **error)
{
  if (!lwt_row_blocks_init (&b->blocks, b->plan, error)
      || !choose_rows (b, whole, limit, error))
    return FALSE;
  if (!take_all (b, &b->arena, error) || !take_host_memory (b, error))
    return FALSE;
  for (guint i = 0; i < SETS; i++)
    if (!cvis_arena_event (&b->arena, &b->sets[i].there, error)
        || !cvis_arena_event (&b->arena, &b->sets[i].computed, error)
        || !cvis_arena_event (&b->arena, &b->sets[i].done, error))
      return FALSE;
  return CVIS_CUDA (
      cudaMemsetAsync (b->select, 0, lwt_select_get_size (), b->streams.work),
      error);
}

/* --- one row block ------------------------------------------------------- */

/* A run of rows shared by a block's picture @own and by @plane. */
CvisRows
get_rows (const LwtOutOfCore *b, LwtPicture own, const LwtRect *run,
    const LwtPlane *plane)
{
  return CvisRows{ (guint8 *) plane->data + run->whole * plane->stride
                       + run->column * b->size,
    plane->stride,
    (guint8 *) own.data + run->own * own.stride + run->own_column * b->size,
    own.stride, run->width * b->size, run->n, plane->pinned,
    run->column == 0 && run->width == b->plan->width };
}

gboolean
is_mallat (const LwtOutOfCore *b)
{
  return b->plan->config.layout == LWT_LAYOUT_MALLAT;
}

gboolean
send_up (LwtOutOfCore *b, Set *s, const Pass *pass, GError **error)
{
  LwtRect runs[LWT_MAX_RUNS];
  const guint n = lwt_row_blocks_get_runs (&b->blocks, &s->block,
      pass->action == INVERSE && is_mallat (b), TRUE, runs);

  for (guint i = 0; i < n; i++) {
    const CvisRows rows = get_rows (b, s->in, &runs[i], &pass->from);

    if (!cvis_bounce_up (b->streams.in, &rows, b->streams.up, error))
      return FALSE;
  }
  return cvis_stream_follow (b->streams.work, s->there, b->streams.up, error);
}

gboolean
compute_parts (LwtOutOfCore *b, Set *s, const Pass *pass, GError **error)
{
  const LwtRect run = lwt_row_blocks_get_cropped (&b->blocks, &s->block);
  LwtPartsTask task;
  LwtLowBand low;

  if (run.n > 0) {
    memset (&task, 0, sizeof task);
    task.picture = s->in;
    task.pad[0] = b->plan->pad[0];
    task.pad[1] = run.own;
    task.width = b->plan->config.width;
    task.height = run.n;
    for (guint i = CVIS_SURFACE_PART_NOISE; i <= CVIS_SURFACE_PART_FORM; i++)
      if (pass->to[i].data != NULL)
        task.parts[i] = s->parts[i];
    if (!lwt_workspace_filter (
            &b->workspace, &b->own.parts, &task, &low, b->streams.work, error))
      return FALSE;
  }
  return pass->to[CVIS_SURFACE_PART_BANDS].data == NULL
         || lwt_workspace_forward (&b->workspace, &b->own.bands,
             b->plan->config.layout, s->in, s->out, &low, b->streams.work,
             error);
}

/* Counts the finest band of the output rows, for the threshold. */
gboolean
compute_count (LwtOutOfCore *b, Set *s, const Pass *pass, GError **error)
{
  const LwtLevel *level = &b->own.bands.levels[0];
  const guint end = s->block.first + s->block.n;
  LwtChain first = b->own.bands;
  guint row = (guint) ((gint) s->block.first - s->block.top);
  LwtCountTask count;
  LwtLowBand low;

  memset (&count, 0, sizeof count);
  count.type = b->plan->config.type;
  count.first = s->block.first;
  count.n = s->block.n;
  memcpy (count.axes, b->finest, sizeof count.axes);
  count.cells = b->cells;
  count.findings = b->findings;
  first.n = 1;
  if (level->y) {
    row = level->low_height + row / 2;
    count.first = s->block.first / 2;
    count.n = end / 2 - count.first;
  }
  count.samples = b->workspace.bands;
  count.samples.data = (guint8 *) count.samples.data
                       + row * count.samples.stride
                       + b->finest[0].first * b->size;
  return lwt_workspace_forward (&b->workspace, &first, LWT_LAYOUT_MALLAT, s->in,
             b->workspace.bands, &low, b->streams.work, error)
         && (count.n == 0
             || CVIS_CUDA (lwt_launch_count (
                               &count, pass->radix, b->select, b->streams.work),
                 error));
}

gboolean
compute_block (LwtOutOfCore *b, Set *s, const Pass *pass, GError **error)
{
  cudaStream_t stream = b->streams.work;
  LwtLowBand low;

  set_height (b, s->block.height);
  switch (pass->action) {
    case PARTS:
      return compute_parts (b, s, pass, error);
    case FORWARD:
      return lwt_workspace_forward (&b->workspace, &b->own.bands,
          b->plan->config.layout, s->in, s->out, &low, stream, error);
    case INVERSE:
      return lwt_workspace_inverse (
          &b->workspace, &b->own.bands, s->in, s->out, stream, error);
    case SHRINK:
      return lwt_workspace_forward (&b->workspace, &b->own.bands,
                 LWT_LAYOUT_MALLAT, s->in, b->workspace.bands, &low, stream,
                 error)
             && lwt_workspace_shrink (&b->workspace, &b->own.bands, b->findings,
                 b->workspace.bands, s->out, b->workspace.work, stream, error);
    default:
      return compute_count (b, s, pass, error);
  }
}

/* Downloads the rows that are pinned (@pinned) or those that are not. */
gboolean
move_rows (
    LwtOutOfCore *b, const CvisRows *rows, gboolean pinned, GError **error)
{
  return rows->n == 0 || rows->pinned != pinned
         || cvis_bounce_down (b->streams.out, rows, b->streams.down, error);
}

gboolean
move_coefficients (LwtOutOfCore *b, const Set *s, const LwtPlane *to,
    gboolean mallat, gboolean pinned, GError **error)
{
  LwtRect runs[LWT_MAX_RUNS];
  const guint n =
      lwt_row_blocks_get_runs (&b->blocks, &s->block, mallat, FALSE, runs);

  for (guint i = 0; i < n; i++) {
    const CvisRows rows = get_rows (b, s->out, &runs[i], to);

    if (!move_rows (b, &rows, pinned, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
move_parts (LwtOutOfCore *b, const Set *s, const Pass *pass, gboolean pinned,
    GError **error)
{
  LwtRect run = lwt_row_blocks_get_cropped (&b->blocks, &s->block);

  run.own = run.own_column = 0;
  for (guint i = CVIS_SURFACE_PART_NOISE; i <= CVIS_SURFACE_PART_FORM; i++) {
    const CvisRows rows = get_rows (b, s->parts[i], &run, &pass->to[i]);

    if (pass->to[i].data != NULL && !move_rows (b, &rows, pinned, error))
      return FALSE;
  }
  return pass->to[CVIS_SURFACE_PART_BANDS].data == NULL
         || move_coefficients (b, s, &pass->to[CVIS_SURFACE_PART_BANDS],
             is_mallat (b), pinned, error);
}

gboolean
move_down (LwtOutOfCore *b, const Set *s, const Pass *pass, gboolean pinned,
    GError **error)
{
  const LwtRect run = lwt_row_blocks_get_cropped (&b->blocks, &s->block);
  const CvisRows rows = get_rows (b, s->out, &run, &pass->to[0]);

  switch (pass->action) {
    case PARTS:
      return move_parts (b, s, pass, pinned, error);
    case FORWARD:
      return move_coefficients (
          b, s, &pass->to[0], is_mallat (b), pinned, error);
    case INVERSE:
      return move_rows (b, &rows, pinned, error);
    case SHRINK:
      return move_coefficients (b, s, &pass->to[0], FALSE, pinned, error);
    default:
      return TRUE;
  }
}

gboolean
start_block (LwtOutOfCore *b, Set *s, const Pass *pass, GError **error)
{
  return send_up (b, s, pass, error) && compute_block (b, s, pass, error)
         && cvis_stream_follow (
             b->streams.down, s->computed, b->streams.work, error)
         && move_down (b, s, pass, TRUE, error)
         && CVIS_CUDA (cudaEventRecord (s->done, b->streams.down), error);
}

gboolean
finish_block (LwtOutOfCore *b, Set *s, const Pass *pass, GError **error)
{
  return CVIS_CUDA (cudaEventSynchronize (s->done), error)
         && move_down (b, s, pass, FALSE, error);
}

/* Runs a pass: one block is uploaded while another is transformed and a
 * third one is downloaded. */
gboolean
run_pass (LwtOutOfCore *b, const Pass *pass, GError **error)
{
  for (guint i = 0; i < b->blocks.n + SETS; i++) {
    Set *s = &b->sets[i % SETS];

    if (i >= SETS && !finish_block (b, s, pass, error))
      return FALSE;
    if (i >= b->blocks.n)
      continue;
    lwt_row_blocks_get (&b->blocks, i, &s->block);
    if (!start_block (b, s, pass, error))
      return FALSE;
  }
  return TRUE;
}

/* --- input --------------------------------------------------------------- */

/* The job's samples in host memory. */
gboolean
get_samples (
    LwtOutOfCore *b, const LwtJob *job, LwtPlane *samples, GError **error)
{
  const LwtConfig *config = &b->plan->config;
  const gboolean inverse = config->operation == LWT_OPERATION_INVERSE;
  const gsize bytes = lwt_sample_get_size (config->sample)
                      * (inverse ? b->plan->width : config->width);
  const CvisRows rows = { b->samples, bytes, (gpointer) job->data, job->stride,
    bytes, inverse ? b->plan->height : config->height, FALSE, FALSE };

  *samples = LwtPlane{ (gpointer) job->data, job->stride, job->pinned, FALSE };
  if (!job->on_device)
    return TRUE;
  *samples = LwtPlane{ b->samples, bytes, FALSE, FALSE };
  return CVIS_CUDA (
             cudaStreamSynchronize (
                 job->stream ? (cudaStream_t) job->stream : cudaStreamLegacy),
             error)
         && cvis_bounce_down (b->streams.out, &rows, b->streams.down, error);
}

/* Prepares the input of the transform. */
gboolean
prepare_input (LwtOutOfCore *b, LwtJob *job, LwtPlane *picture, GError **error)
{
  const LwtConfig *config = &b->plan->config;
  const LwtCpuPlane integers = { b->rotated, b->size * b->plan->width, 1 };
  LwtJob copy = *job;
  LwtPlane samples;

  if (!get_samples (b, job, &samples, error))
    return FALSE;
  *picture = samples;
  copy.data = samples.data;
  copy.stride = samples.stride;
  if (config->operation == LWT_OPERATION_INVERSE)
    return TRUE;
  if (config->type == LWT_TYPE_I32) {
    if (config->sample != LWT_SAMPLE_I32
        || b->plan->pad[0] + b->plan->pad[1] > 0) {
      *picture = LwtPlane{ b->rotated, integers.stride, FALSE, FALSE };
      lwt_cpu_load_integers (&b->threads, b->plan, &copy, &integers);
    }
    return TRUE;
  }
  lwt_cpu_surface_load (&b->surface, &copy);
  job->missing = copy.missing;
  job->offset = copy.offset;
  memcpy (job->polynomial, copy.polynomial, sizeof job->polynomial);
  *picture = LwtPlane{ b->surface.x.data, b->surface.x.stride, FALSE, FALSE };
  return TRUE;
}

/* --- output -------------------------------------------------------------- */

/* Host memory in which a component is assembled; %NULL data: neither wanted
 * nor measured. */
LwtPlane
get_result (const LwtOutOfCore *b, const LwtJob *job, guint part)
{
  const LwtPlane *plane = &job->parts[part];
  const guint width =
      part == CVIS_SURFACE_PART_BANDS ? b->plan->width : b->plan->config.width;

  if (!lwt_job_makes (job, part) || (plane->data && !plane->on_device))
    return *plane;
  return LwtPlane{ b->results[part], width * b->size, FALSE, FALSE };
}

gboolean
copy_to_device (LwtOutOfCore *b, const LwtJob *job, guint part, GError **error)
{
  const LwtPlane *plane = &job->parts[part];
  const LwtPlane result = get_result (b, job, part);
  const gboolean bands = part == CVIS_SURFACE_PART_BANDS;
  const CvisRows rows = { result.data, result.stride, plane->data,
    plane->stride, result.stride,
    bands ? b->plan->height : b->plan->config.height, FALSE, FALSE };

  return plane->data == NULL || !plane->on_device
         || (cvis_bounce_up (b->streams.in, &rows, b->streams.up, error)
             && CVIS_CUDA (cudaStreamSynchronize (b->streams.up), error));
}

/* Completes a component whose rows are on the host. */
void
finish_part (LwtOutOfCore *b, LwtJob *job, guint part, const LwtCpuPlane *first,
    const LwtCpuPlane *second)
{
  const LwtPlane result = get_result (b, job, part);

  if (b->has_surface)
    lwt_cpu_surface_finish (
        &b->surface, job, (CvisSurfacePart) part, &result, first, second);
}

/* --- denoise --------------------------------------------------------------------------- */

struct Spin {
  LwtOutOfCore *b;
  LwtPlane x;
  guint sx, sy, number;
};

void
rotate_rows (
    guint first, guint count, LwtCpuScratch *scratch, gpointer user_data)
{
  const Spin *spin = (const Spin *) user_data;
  const LwtPlan *plan = spin->b->plan;
  const gsize row = spin->b->size * plan->width;
  const gsize left = spin->sx % plan->width * spin->b->size;

  for (guint y = first; y < first + count; y++) {
    const guint8 *from = (const guint8 *) spin->x.data
                         + (y + spin->sy) % plan->height * spin->x.stride;
    guint8 *to = (guint8 *) spin->b->rotated + y * row;

    memcpy (to, from + left, row - left);
    memcpy (to + row - left, from, left);
  }
}

/* Rotates a spin back and adds it to the sum. */
void
add_rows (guint first, guint count, LwtCpuScratch *scratch, gpointer user_data)
{
  const Spin *spin = (const Spin *) user_data;
  const LwtOutOfCore *b = spin->b;
  const LwtPlan *plan = b->plan;
  const guint sx = spin->sx % plan->width, rest = plan->width - sx;
  const gsize row = b->size * plan->width, left = sx * b->size;

  for (guint y = first; y < first + count; y++) {
    const guint8 *from = (const guint8 *) b->spin + y * row;
    guint8 *to =
        (guint8 *) b->sum + (gsize) ((y + spin->sy) % plan->height) * row;

    b->surface.floats->add_row (to + left, from, rest, to + left);
    b->surface.floats->add_row (to, from + rest * b->size, sx, to);
    if (spin->number + 1 == plan->config.spins)
      b->surface.floats->scale_row (to, plan->width, 1.0 / plan->config.spins);
  }
}

/* Finds the cells that have noise and copies them, and the number of their
 * samples, to the device. */
gboolean
upload_cells (LwtOutOfCore *b, const LwtJob *job, GError **error)
{
  LwtCellCounts counts = { 0, 0 };
  LwtJob loaded = *job;

  if (job->on_device) {
    loaded.data = b->samples;
    loaded.stride =
        lwt_sample_get_size (b->plan->config.sample) * b->plan->config.width;
  }
  counts.noise =
      lwt_cpu_find_cells (&b->surface, &loaded, b->finest, b->host_cells);
  return CVIS_CUDA (cudaMemcpyAsync (b->cells, b->host_cells,
                        lwt_finest_count_cells (b->finest),
                        cudaMemcpyHostToDevice, b->streams.work),
             error)
         && CVIS_CUDA (
             cudaMemcpyAsync (&b->findings->cells, &counts, sizeof counts,
                 cudaMemcpyHostToDevice, b->streams.work),
             error);
}

/* Finds the universal threshold; writes it to the findings and to @job. */
gboolean
find_threshold (LwtOutOfCore *b, LwtJob *job, const LwtPlane *x, GError **error)
{
  const LwtConfig *config = &b->plan->config;
  const LwtLevel *level = &b->plan->bands.levels[0];
  LwtFindings findings;
  Pass pass = { COUNT, *x };

  if (!CVIS_CUDA (cudaMemsetAsync (
                      b->findings, 0, sizeof *b->findings, b->streams.work),
          error))
    return FALSE;
  job->threshold = config->threshold;
  if (config->threshold > 0.0 || (!level->x && !level->y))
    return TRUE;
  if (!upload_cells (b, job, error))
    return FALSE;
  for (; pass.radix < lwt_select_get_passes (config->type); pass.radix++)
    if (!run_pass (b, &pass, error)
        || !CVIS_CUDA (
            lwt_launch_pick (config->type, pass.radix, config->threshold_scale,
                b->select, b->findings, b->streams.work),
            error))
      return FALSE;
  if (!CVIS_CUDA (cudaMemcpyAsync (&findings, b->findings, sizeof findings,
                      cudaMemcpyDeviceToHost, b->streams.work),
          error)
      || !CVIS_CUDA (cudaStreamSynchronize (b->streams.work), error))
    return FALSE;
  job->threshold = findings.threshold;
  return TRUE;
}

gboolean
run_spin (LwtOutOfCore *b, const LwtPlane *x, guint number, GError **error)
{
  const LwtPlan *plan = b->plan;
  const gsize row = b->size * plan->width;
  Spin spin = { b, *x, lwt_spin_x (number), lwt_spin_y (number), number };
  Pass pass = { SHRINK, *x };

  if (number > 0) {
    lwt_cpu_rows_run (
        &b->threads, plan->height, plan->width, rotate_rows, &spin);
    pass.from = LwtPlane{ b->rotated, row, FALSE, FALSE };
  }
  pass.to[0] = LwtPlane{ number > 0 ? b->spin : b->sum, row, FALSE, FALSE };
  if (!run_pass (b, &pass, error))
    return FALSE;
  if (number > 0)
    lwt_cpu_rows_run (&b->threads, plan->height, plan->width, add_rows, &spin);
  return TRUE;
}

gboolean
denoise_surface (
    LwtOutOfCore *b, LwtJob *job, const LwtPlane *x, GError **error)
{
  const LwtCpuPlane picture = { x->data, x->stride, 1 };
  const LwtCpuPlane sum = { b->sum, b->size * b->plan->width, 1 };

  if (!find_threshold (b, job, x, error))
    return FALSE;
  for (guint i = 0; i < b->plan->config.spins; i++)
    if (!run_spin (b, x, i, error))
      return FALSE;
  finish_part (b, job, CVIS_SURFACE_PART_NOISE, &picture, &sum);
  finish_part (b, job, CVIS_SURFACE_PART_MEASURED, &sum, NULL);
  return TRUE;
}

/* --- filter, forward, inverse -------------------------------------------- */

gboolean
transform_surface (
    LwtOutOfCore *b, LwtJob *job, const LwtPlane *x, GError **error)
{
  const LwtOperation operation = b->plan->config.operation;
  Pass pass = { PARTS, *x };

  if (operation == LWT_OPERATION_FILTER) {
    for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
      pass.to[i] = get_result (b, job, i);
  } else {
    const gboolean inverse = operation == LWT_OPERATION_INVERSE;

    pass.action = inverse ? INVERSE : FORWARD;
    pass.to[0] = get_result (
        b, job, inverse ? CVIS_SURFACE_PART_MEASURED : CVIS_SURFACE_PART_BANDS);
    if (pass.to[0].data == NULL)
      return TRUE;
  }
  if (!run_pass (b, &pass, error))
    return FALSE;
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    finish_part (b, job, i, NULL, NULL);
  return TRUE;
}

} // namespace

extern "C" LwtOutOfCore *
lwt_out_of_core_new (const LwtPlan *plan, CvisContext *context,
    const LwtStreams *streams, gsize whole, gsize limit, GError **error)
{
  LwtOutOfCore *b;

  if (plan->config.store_bits > 0 || lwt_config_is_smoothing (&plan->config)) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "no device memory for %s of %ux%u, which needs %" G_GSIZE_FORMAT
        " bytes, and there are no row blocks",
        plan->config.store_bits > 0 ? "a picture" : "a filter of surfaces",
        plan->config.width, plan->config.height, whole);
    return NULL;
  }
  b = g_new0 (LwtOutOfCore, 1);
  b->plan = plan;
  b->own = *plan;
  b->own.pad[0] = b->own.pad[1] = 0;
  b->own.config.spins = 1;
  b->streams = *streams;
  b->size = lwt_type_get_size (plan->config.type);
  lwt_finest_init (b->finest, plan);
  if (init_blocks (b, whole, limit, error)) {
    lwt_transform_specialise (&b->workspace.transform, context);
    return b;
  }
  lwt_out_of_core_free (b);
  return NULL;
}

extern "C" void
lwt_out_of_core_free (LwtOutOfCore *b)
{
  if (b == NULL)
    return;
  cvis_arena_clear (&b->arena);
  lwt_transform_clear (&b->workspace.transform);
  if (b->has_surface)
    lwt_cpu_surface_clear (&b->surface);
  if (b->threads.pool != NULL)
    lwt_cpu_threads_clear (&b->threads);
  free (b->samples);
  free (b->host_cells);
  free (b->rotated);
  free (b->spin);
  free (b->sum);
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    free (b->results[i]);
  g_free (b);
}

extern "C" gboolean
lwt_out_of_core_run (LwtOutOfCore *b, LwtJob *job, GError **error)
{
  LwtPlane x;

  if (!prepare_input (b, job, &x, error)
      || !(b->plan->config.operation == LWT_OPERATION_DENOISE
               ? denoise_surface (b, job, &x, error)
               : transform_surface (b, job, &x, error)))
    return FALSE;
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    if (!copy_to_device (b, job, i, error))
      return FALSE;
  return TRUE;
}
