/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Host side of the CUDA backend: memory and the order of the launches.
 *
 * For a small problem, an iteration of Levenberg-Marquardt is three CUDA graphs:
 * the step, whose conjugate gradients are one kernel; its acceptance; the next
 * linearisation. For a large problem, the conjugate gradients are queued in graphs
 * of GROUP iterations. After each graph the host checks whether the device has
 * stopped, by a copy to pinned memory. It waits nowhere else within a step. */
#include <string.h>

#include "cuda/bundle/backend.h"
#include "cuda/bundle/cuda/engine.cuh"
#include "cuda/core/cancel.h"

namespace {
const guint GROUP = 8; /* even, because the two direction vectors alternate */
}

struct _BundleBackend {
  CvisContext *context;
  CvisArena arena;
  cudaStream_t stream;
  BundleDevice device;
  guint pcg_blocks; /* of the kernel of all iterations; 0: a large problem */
  cudaGraphExec_t group; /* graph of GROUP iterations, for a large problem */
  cudaGraphExec_t step;  /* for a small problem */
  cudaGraphExec_t accept, linearize;
  const BundleProblem *problem;
  gsize peak;
  gboolean linearized; /* the column scales are computed */
  double *results;     /* pinned */
  BundlePcg *pcg;
};

namespace {

template <typename T>
gboolean
copy (BundleBackend *b, T *to, const T *from, gsize n, cudaMemcpyKind kind,
    GError **error)
{
  return CVIS_CUDA (
      cudaMemcpyAsync (to, from, n * sizeof (T), kind, b->stream), error);
}

template <typename T>
gboolean
clear (BundleBackend *b, T *memory, gsize n, GError **error)
{
  return CVIS_CUDA (
      cudaMemsetAsync (memory, 0, n * sizeof (T), b->stream), error);
}

gboolean
wait_for_stream (BundleBackend *b, GError **error)
{
  return CVIS_CUDA (cudaStreamSynchronize (b->stream), error);
}

/* --- memory -------------------------------------------------------------------------- */

gboolean
take_cameras (BundleBackend *b, GError **error)
{
  BundleDevice *d = &b->device;
  CvisArena *arena = &b->arena;
  const gsize n = d->n_cameras;
  double **nines[] = { &d->parameters, &d->candidate, &d->camera_scale, &d->b,
    &d->x, &d->r, &d->q, &d->z, &d->p[0], &d->p[1] };
  struct {
    double **to;
    gsize n;
  } others[] = {
    { &d->blocks, n * BUNDLE_N_LINEAR },
    { &d->schur_blocks, d->reduced ? n * BUNDLE_N_BLOCK : 0 },
    { &d->shared_blocks, 2 * BUNDLE_N_SHARED },
    { &d->system, 81 * n },
    { &d->inverse, d->n_clusters > 0 ? 0 : 81 * n },
    { &d->partial, (gsize) d->n_segments * BUNDLE_N_LINEAR },
    { &d->camera_dots, BUNDLE_N_DOTS * (gsize) d->camera_blocks },
    { &d->shared_sums, 3 * (gsize) d->camera_blocks },
    { &d->slice_sums, 2 * (gsize) d->n_slices },
    { &d->segment_sums, 2 * (gsize) d->n_segments },
    { &d->camera_sums, 2 * n },
    { &d->column_sums, 2 * BUNDLE_COLUMN_BLOCKS },
    { &d->results, BUNDLE_N_RESULTS },
  };

  for (guint i = 0; i < G_N_ELEMENTS (nines); i++)
    if (!cvis_arena_take (arena, nines[i], 9 * n, "cameras", error))
      return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (!cvis_arena_take (
            arena, others[i].to, others[i].n, "sums and blocks", error))
      return FALSE;
  return cvis_arena_take (
             arena, &d->camera_constant, n, "constant parameters", error)
         && cvis_arena_take (arena, &d->records, n, "cameras", error)
         && cvis_arena_take (arena, &d->candidates, n, "cameras", error)
         && cvis_arena_take (arena, &d->poses, n, "cameras", error)
         && cvis_arena_take (arena, &d->pcg, 1, "state", error);
}

gboolean
take_points (BundleBackend *b, GError **error)
{
  BundleDevice *d = &b->device;
  CvisArena *arena = &b->arena;
  const gsize n = d->n_points;

  if (b->problem->point_constant
      && !(cvis_arena_take (arena, &d->point_constant, b->problem->n_points,
               "constant points", error)
           && copy (b, d->point_constant,
               (const guint8 *) b->problem->point_constant,
               b->problem->n_points, cudaMemcpyHostToDevice, error)))
    return FALSE;
  if (d->robust
      && !(
          cvis_arena_take (arena, &d->slot_weight, d->n_slots, "weights", error)
          && cvis_arena_take (
              arena, &d->view_weight, d->n_views, "weights", error)))
    return FALSE;
  return cvis_arena_take (arena, &d->v, 6 * n, "blocks of points", error)
         && cvis_arena_take (
             arena, &d->v_inverse, 6 * n, "blocks of points", error)
         && cvis_arena_take (
             arena, &d->v_gradient, 3 * n, "gradients of points", error)
         && cvis_arena_take (arena, &d->v_scale, n, "scales of points", error);
}

/* --- launches ----------------------------------------------------------------- */

/* Copies the results to the host. */
cudaError_t
queue_results (BundleBackend *b)
{
  const cudaError_t code = cudaMemcpyAsync (b->results, b->device.results,
      BUNDLE_N_RESULTS * sizeof (double), cudaMemcpyDeviceToHost, b->stream);

  return code != cudaSuccess
             ? code
             : cudaMemcpyAsync (b->pcg, b->device.pcg, sizeof *b->pcg,
                 cudaMemcpyDeviceToHost, b->stream);
}

/* The damped system for the radius in b->pcg, and the first direction. */
cudaError_t
queue_start (BundleBackend *b)
{
  cudaError_t code = cudaMemcpyAsync (
      b->device.pcg, b->pcg, sizeof *b->pcg, cudaMemcpyHostToDevice, b->stream);

  if (code == cudaSuccess)
    code = bundle_cuda_damp (&b->device, b->stream);
  if (code == cudaSuccess)
    code = bundle_cuda_pcg_start (&b->device, b->stream);
  return code;
}

cudaError_t
queue_group (BundleBackend *b)
{
  cudaError_t code = cudaSuccess;

  for (guint i = 0; i < GROUP && code == cudaSuccess; i++)
    code = bundle_cuda_pcg_iterate (&b->device, i % 2, b->stream);
  return code;
}

/* The candidate, its cost and the results. */
cudaError_t
queue_finish (BundleBackend *b)
{
  cudaError_t code = bundle_cuda_pcg_finish (&b->device, b->stream);

  if (code == cudaSuccess)
    code = bundle_cuda_prepare_cameras (&b->device, TRUE, b->stream);
  if (code == cudaSuccess)
    code = bundle_cuda_evaluate (&b->device, b->stream);
  return code == cudaSuccess ? queue_results (b) : code;
}

cudaError_t
queue_step (BundleBackend *b)
{
  cudaError_t code = queue_start (b);

  if (code == cudaSuccess)
    code =
        bundle_cuda_pcg_iterate_to_stop (&b->device, b->pcg_blocks, b->stream);
  return code == cudaSuccess ? queue_finish (b) : code;
}

cudaError_t
queue_accept (BundleBackend *b)
{
  return bundle_cuda_accept (&b->device, b->stream);
}

cudaError_t
queue_linearize (BundleBackend *b)
{
  const cudaError_t code =
      bundle_cuda_linearise (&b->device, !b->linearized, b->stream);

  return code == cudaSuccess ? queue_results (b) : code;
}

/* Launches a graph of the work that @queue queues; captures it at the first
 * call. */
gboolean
launch (BundleBackend *b, cudaGraphExec_t *exec,
    cudaError_t (*queue) (BundleBackend *), GError **error)
{
  cudaGraph_t graph = NULL;
  cudaError_t queued;
  gboolean ok;

  if (*exec == NULL) {
    if (!CVIS_CUDA (cudaStreamBeginCapture (
                        b->stream, cudaStreamCaptureModeThreadLocal),
            error))
      return FALSE;
    queued = queue (b);
    ok =
        CVIS_CUDA (cudaStreamEndCapture (b->stream, &graph), error)
        && CVIS_CUDA (queued, error)
        && CVIS_CUDA (cudaGraphInstantiate (exec, graph, NULL, NULL, 0), error);
    if (graph != NULL)
      cudaGraphDestroy (graph);
    if (!ok)
      return FALSE;
  }
  return CVIS_CUDA (cudaGraphLaunch (*exec, b->stream), error);
}

gboolean
backend_init (BundleBackend *b, const BundleStart *start,
    const BundleConfig *config, GError **error)
{
  BundleDevice *d = &b->device;
  gsize n;

  if (!cvis_arena_stream (&b->arena, &b->stream, error)
      || !bundle_cuda_order (d, &b->arena, start->problem, config->threads,
          b->stream, &b->peak, error))
    return FALSE;
  if (config->preconditioner == BUNDLE_PRECONDITIONER_CLUSTER
      && !bundle_cuda_cluster (d, &b->arena, start->problem, error))
    return FALSE;
  d->shared = start->shared;
  d->robust = config->loss != BUNDLE_LOSS_NONE;
  d->reduced = config->preconditioner != BUNDLE_PRECONDITIONER_JACOBI;
  d->loss = config->loss;
  d->loss_scale = config->loss_scale;
  d->eta = config->eta;
  d->max_pcg = config->max_pcg_iterations;
  d->camera_blocks = MIN (BUNDLE_CAMERA_BLOCKS, (d->n_cameras + 7) / 8);
  n = d->n_cameras;
  if (!take_cameras (b, error) || !take_points (b, error)
      || !cvis_arena_pin (
          &b->arena, &b->results, BUNDLE_N_RESULTS, "results", error)
      || !cvis_arena_pin (&b->arena, &b->pcg, 1, "state", error)
      || !copy (b, d->parameters, (const double *) start->problem->cameras,
          9 * n, cudaMemcpyHostToDevice, error)
      || !copy (b, d->camera_constant, (const guint16 *) start->camera_constant,
          n, cudaMemcpyHostToDevice, error))
    return FALSE;
  /* the host reads the results before all of them are computed */
  if (!clear (b, d->results, BUNDLE_N_RESULTS, error)
      || !clear (b, d->shared_blocks, 2 * BUNDLE_N_SHARED, error)
      || !clear (b, d->pcg, 1, error))
    return FALSE;
  /* only the shared intrinsics of camera 0 are written */
  for (guint i = 0; i < G_N_ELEMENTS (d->p); i++)
    if (!clear (b, d->p[i], 9 * n, error))
      return FALSE;
  b->peak = MAX (b->peak, b->arena.size);
  return CVIS_CUDA (bundle_cuda_prepare_cameras (d, FALSE, b->stream), error)
         && CVIS_CUDA (bundle_cuda_pcg_fit (d, &b->pcg_blocks), error)
         && wait_for_stream (b, error);
}

void
backend_destroy (BundleBackend *b)
{
  if (b == NULL)
    return;
  if (cvis_context_push (b->context, NULL)) {
    if (b->stream != NULL)
      cudaStreamSynchronize (b->stream);
    for (cudaGraphExec_t graph : { b->group, b->step, b->accept, b->linearize })
      if (graph != NULL)
        cudaGraphExecDestroy (graph);
    cvis_arena_clear (&b->arena);
    cvis_context_pop (b->context);
  }
  cvis_context_unref (b->context);
  g_free (b);
}

BundleBackend *
backend_create (const BundleStart *start, const BundleConfig *config,
    CvisContext *context, GError **error)
{
  BundleBackend *b = g_new0 (BundleBackend, 1);

  b->context = cvis_context_ref (context);
  b->problem = start->problem;
  if (!cvis_in_context (context, error,
          [&] { return backend_init (b, start, config, error); })) {
    backend_destroy (b);
    return NULL;
  }
  return b;
}

/* --- an iteration of Levenberg-Marquardt --------------------------------------------------- */

gboolean
backend_linearize (
    BundleBackend *b, gdouble *cost, gdouble *gradient, GError **error)
{
  const gboolean ok = cvis_in_context (b->context, error, [&] {
    return (b->linearized ? launch (b, &b->linearize, queue_linearize, error)
                          : CVIS_CUDA (queue_linearize (b), error))
           && wait_for_stream (b, error);
  });

  b->linearized = TRUE;
  if (ok) {
    *cost = b->results[BUNDLE_RESULT_STATE_COST];
    *gradient = MAX (b->results[BUNDLE_RESULT_POINT_GRADIENT],
        b->results[BUNDLE_RESULT_CAMERA_GRADIENT]);
  }
  return ok;
}

/* The step of a large problem, in graphs of GROUP iterations. */
gboolean
solve_in_groups (BundleBackend *b, BundleProgress progress, gpointer user_data,
    gboolean *cancelled, GError **error)
{
  if (!CVIS_CUDA (queue_start (b), error))
    return FALSE;
  do {
    if (!launch (b, &b->group, queue_group, error)
        || !copy (b, b->pcg, (const BundlePcg *) b->device.pcg, 1,
            cudaMemcpyDeviceToHost, error)
        || !wait_for_stream (b, error))
      return FALSE;
    *cancelled =
        cvis_cancelled () || (progress != NULL && !progress (NULL, user_data));
  } while (!b->pcg->done && !*cancelled);
  return *cancelled
         || (CVIS_CUDA (queue_finish (b), error) && wait_for_stream (b, error));
}

gboolean
solve_step (BundleBackend *b, gdouble radius, BundleProgress progress,
    gpointer user_data, BundleStep *step, GError **error)
{
  *b->pcg = {};
  b->pcg->radius = radius;
  if (b->pcg_blocks == 0) {
    if (!solve_in_groups (b, progress, user_data, &step->cancelled, error))
      return FALSE;
  } else {
    if (!launch (b, &b->step, queue_step, error) || !wait_for_stream (b, error))
      return FALSE;
    step->cancelled =
        cvis_cancelled () || (progress != NULL && !progress (NULL, user_data));
  }
  if (step->cancelled)
    return TRUE;
  step->pcg_iterations = b->pcg->iterations;
  step->model_decrease = b->results[BUNDLE_RESULT_MODEL];
  step->cost = b->results[BUNDLE_RESULT_COST];
  step->step_norm = sqrt (b->results[BUNDLE_RESULT_POINT_STEP]
                          + b->results[BUNDLE_RESULT_CAMERA_STEP]);
  step->state_norm = sqrt (b->results[BUNDLE_RESULT_POINT_NORM]
                           + b->results[BUNDLE_RESULT_CAMERA_NORM]);
  return TRUE;
}

gboolean
backend_step (BundleBackend *b, gdouble radius, BundleProgress progress,
    gpointer user_data, BundleStep *step, GError **error)
{
  *step = {};
  return cvis_in_context (b->context, error,
      [&] { return solve_step (b, radius, progress, user_data, step, error); });
}

/* Best effort: an error is reported by the next call. */
void
backend_accept (BundleBackend *b)
{
  cvis_in_context (b->context, NULL,
      [&] { return launch (b, &b->accept, queue_accept, NULL); });
}

/* Reads all points, in the problem's order, by way of temporary device
 * memory. Points that no camera sees are not on the device. */
gboolean
read_points (
    BundleBackend *b, CvisArena *arena, gdouble *points, GError **error)
{
  const gsize n = 3 * (gsize) b->problem->n_points;
  double *all;
  const gboolean ok =
      cvis_arena_take (arena, &all, n, "points", error)
      && (b->device.n_points == b->problem->n_points
          || copy (b, all, (const double *) b->problem->points, n,
              cudaMemcpyHostToDevice, error))
      && CVIS_CUDA (bundle_cuda_read_points (&b->device, all, b->stream), error)
      && copy (
          b, points, (const double *) all, n, cudaMemcpyDeviceToHost, error)
      && wait_for_stream (b, error);

  b->peak = MAX (b->peak, b->arena.size + arena->size);
  return ok;
}

/* Reads the blocks of the last linearisation to @linear and the column
 * scales to @scale. */
void
scale_blocks (const BundleDevice *d, const double *linear, const double *scale,
    const double *shared, gdouble *blocks)
{
  for (gsize c = 0; c < d->n_cameras; c++)
    for (int i = 0, e = 0; i < 9; i++)
      for (int j = i; j < 9; j++, e++) {
        const double own = d->shared && c == 0 && i >= 6
                               ? shared[e - 39]
                               : linear[c * BUNDLE_N_LINEAR + e];

        blocks[c * BUNDLE_N_BLOCK + e] =
            own * scale[9 * c + i] * scale[9 * c + j];
      }
}

gboolean
read_state (BundleBackend *b, gdouble *cameras, gdouble *points,
    gdouble *blocks, GError **error)
{
  const BundleDevice *d = &b->device;
  const gsize n = d->n_cameras;
  CvisArena arena = {};
  g_autofree double *linear = g_try_new (double, n *BUNDLE_N_LINEAR);
  g_autofree double *scale = g_try_new (double, 9 * n);
  double shared[BUNDLE_N_SHARED];
  gboolean ok;

  if (linear == NULL || scale == NULL) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "no memory for the normal equations of %u cameras", d->n_cameras);
    return FALSE;
  }
  ok = read_points (b, &arena, points, error);
  cvis_arena_clear (&arena);
  if (!ok
      || !copy (b, cameras, (const double *) d->parameters, 9 * n,
          cudaMemcpyDeviceToHost, error)
      || !copy (b, linear, (const double *) d->blocks, n * BUNDLE_N_LINEAR,
          cudaMemcpyDeviceToHost, error)
      || !copy (b, scale, (const double *) d->camera_scale, 9 * n,
          cudaMemcpyDeviceToHost, error)
      || !copy (b, shared, (const double *) d->shared_blocks, BUNDLE_N_SHARED,
          cudaMemcpyDeviceToHost, error)
      || !wait_for_stream (b, error))
    return FALSE;
  scale_blocks (d, linear, scale, shared, blocks);
  return TRUE;
}

gboolean
backend_read (BundleBackend *b, gdouble *cameras, gdouble *points,
    gdouble *blocks, GError **error)
{
  return cvis_in_context (b->context, error,
      [&] { return read_state (b, cameras, points, blocks, error); });
}

gsize
backend_get_bytes (BundleBackend *b)
{
  return b->peak;
}

} // namespace

extern "C" const BundleBackendOps bundle_backend_cuda = {
  "cuda",
  backend_create,
  backend_destroy,
  backend_linearize,
  backend_step,
  backend_accept,
  backend_read,
  NULL, /* lenses */
  backend_get_bytes,
};
