/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Host side of the CUDA backend for cameras with lenses: memory and the order of the
 * launches. The conjugate gradients are queued in groups of iterations, a CUDA graph;
 * after each group the host reads whether the device has stopped. It waits nowhere else
 * within a step. */
#include <string.h>

#include "cuda/bundle/backend.h"
#include "cuda/bundle/cuda/lens/device.cuh"
#include "cuda/core/cancel.h"

namespace {

const guint LENS_GROUP = 8; /* even, because of the parity of the iterations */

struct LensBackend {
  CvisContext *context;
  CvisArena arena;
  cudaStream_t stream;
  BundleLensDevice device;
#ifndef MOTION_EMULATED
  cudaGraphExec_t group; /* of LENS_GROUP iterations */
#endif
  const BundleProblem *problem;
  gsize peak;
  gboolean linearized; /* the column scales are computed */
  double *results;     /* pinned */
  BundlePcg *pcg;
};

LensBackend *
get_lens_backend (const BundleBackend *backend)
{
  return (LensBackend *) backend;
}

template <typename T>
gboolean
copy_lens (LensBackend *b, T *to, const T *from, gsize n, cudaMemcpyKind kind,
    GError **error)
{
  return CVIS_CUDA (
      cudaMemcpyAsync (to, from, n * sizeof (T), kind, b->stream), error);
}

gboolean
wait_for_lenses (LensBackend *b, GError **error)
{
  return CVIS_CUDA (cudaStreamSynchronize (b->stream), error);
}

/* Takes device memory for @n elements and copies them. */
template <typename T>
gboolean
upload (LensBackend *b, T **to, const T *from, gsize n, const gchar *what,
    GError **error)
{
  return cvis_arena_take (&b->arena, to, n, what, error)
         && copy_lens (b, *to, from, n, cudaMemcpyHostToDevice, error);
}

/* --- lists ------------------------------------------------------------------------ */

/* Rows of each lens in a list, on the host. @begin, @end: of each lens in the list */
struct RowLists {
  GArray *list, *chunks, *of_lens;
  guint32 *begin, *end;
};

void
rows_init (RowLists *lists, guint32 n_lenses)
{
  lists->list = g_array_new (FALSE, FALSE, sizeof (guint32));
  lists->chunks = g_array_new (FALSE, FALSE, sizeof (LensChunk));
  lists->of_lens = g_array_new (FALSE, FALSE, sizeof (guint32));
  lists->begin = g_new0 (guint32, n_lenses);
  lists->end = g_new0 (guint32, n_lenses);
}

void
rows_clear (RowLists *lists)
{
  g_array_unref (lists->list);
  g_array_unref (lists->chunks);
  g_array_unref (lists->of_lens);
  g_free (lists->begin);
  g_free (lists->end);
}

/* Cuts the rows of each lens into chunks, and uploads the lists. Waits, so that they can
 * be freed. */
gboolean
put_rows (LensBackend *b, RowLists *lists, LensRows *rows, GError **error)
{
  guint32 n = 0;

  for (guint32 lens = 0; lens < b->device.n_lenses; lens++) {
    g_array_append_val (lists->of_lens, n);
    for (guint32 i = lists->begin[lens]; i < lists->end[lens];
         i += LENS_CHUNK, n++) {
      const LensChunk chunk = { i, MIN (lists->end[lens], i + LENS_CHUNK) };

      g_array_append_val (lists->chunks, chunk);
    }
  }
  g_array_append_val (lists->of_lens, n);
  rows->n_chunks = n;
  return upload (b, &rows->list, (const guint32 *) lists->list->data,
             lists->list->len, "lists of lenses", error)
         && upload (b, &rows->chunks, (const LensChunk *) lists->chunks->data,
             n, "lists of lenses", error)
         && upload (b, &rows->of_lens, (const guint32 *) lists->of_lens->data,
             lists->of_lens->len, "lists of lenses", error)
         && wait_for_lenses (b, error);
}

/* Lists cameras and segments of each lens, the lenses sorted by model. @first: first
 * segment of each camera; @cameras, @segments: empty */
void
fill_rows (
    LensBackend *b, const guint32 *first, RowLists *cameras, RowLists *segments)
{
  const BundleProblem *problem = b->problem;
  BundleLensDevice *d = &b->device;
  g_autofree guint32 *head = g_new (guint32, d->n_lenses); /* first camera */
  g_autofree guint32 *next = g_new (guint32, d->n_cameras);

  memset (head, 0xff, d->n_lenses * sizeof *head);
  for (guint32 c = d->n_cameras; c-- > 0;) {
    next[c] = head[problem->lens_of[c]];
    head[problem->lens_of[c]] = c;
  }
  for (guint m = 0; m < BUNDLE_N_LENS_MODELS; m++) {
    d->model_first[m] = segments->list->len;
    for (guint32 lens = 0; lens < d->n_lenses; lens++) {
      if ((guint) problem->lenses[lens].model != m)
        continue;
      cameras->begin[lens] = cameras->list->len;
      segments->begin[lens] = segments->list->len;
      for (guint32 c = head[lens]; c != BUNDLE_NONE; c = next[c]) {
        g_array_append_val (cameras->list, c);
        for (guint32 s = first[c]; s < first[c + 1]; s++)
          g_array_append_val (segments->list, s);
      }
      cameras->end[lens] = cameras->list->len;
      segments->end[lens] = segments->list->len;
    }
  }
  d->model_first[BUNDLE_N_LENS_MODELS] = segments->list->len;
}

gboolean
list_rows (LensBackend *b, GError **error)
{
  BundleLensDevice *d = &b->device;
  g_autofree guint32 *first = g_new (guint32, (gsize) d->n_cameras + 1);
  RowLists cameras, segments;
  gboolean ok;

  if (!copy_lens (b, first, (const guint32 *) d->camera_segments,
          (gsize) d->n_cameras + 1, cudaMemcpyDeviceToHost, error)
      || !wait_for_lenses (b, error))
    return FALSE;
  rows_init (&cameras, d->n_lenses);
  rows_init (&segments, d->n_lenses);
  fill_rows (b, first, &cameras, &segments);
  ok = put_rows (b, &cameras, &d->cameras_of, error)
       && put_rows (b, &segments, &d->segments_of, error);
  rows_clear (&cameras);
  rows_clear (&segments);
  return ok;
}

/* Parameters and properties of the lenses */
gboolean
put_lenses (LensBackend *b, GError **error)
{
  const BundleProblem *problem = b->problem;
  BundleLensDevice *d = &b->device;
  g_autofree LensInfo *info = g_new (LensInfo, d->n_lenses);
  g_autofree double *parameters =
      g_new0 (double, BUNDLE_LENS_SIZE *(gsize) d->n_lenses);

  for (guint32 i = 0; i < d->n_lenses; i++) {
    const BundleLens *lens = &problem->lenses[i];
    const guint size = bundle_lens_size (lens->model);
    const guint beyond = ~0u << size & ((1u << BUNDLE_LENS_SIZE) - 1);

    info[i].n_focal = (guint8) bundle_lens_info[lens->model].n_focal;
    info[i].size = (guint8) size;
    info[i].constant = (guint16) (lens->constant | beyond);
    memcpy (parameters + BUNDLE_LENS_SIZE * (gsize) i, lens->parameters,
        size * sizeof *parameters);
  }
  return upload (
             b, &d->info, (const LensInfo *) info, d->n_lenses, "lenses", error)
         && upload (b, &d->lenses, (const double *) parameters,
             BUNDLE_LENS_SIZE * (gsize) d->n_lenses, "lenses", error)
         && upload (b, &d->lens_of, (const guint32 *) problem->lens_of,
             d->n_cameras, "lenses", error)
         && wait_for_lenses (b, error);
}

/* The priors by camera, those of a camera in their order */
gboolean
put_priors (LensBackend *b, GError **error)
{
  const BundleProblem *problem = b->problem;
  BundleLensDevice *d = &b->device;
  const gsize n = (gsize) d->n_cameras + 1;
  g_autofree guint32 *first = g_new0 (guint32, n + 1);
  g_autofree BundlePrior *sorted = g_new (BundlePrior, problem->n_priors);

  for (guint32 i = 0; i < problem->n_priors; i++)
    first[problem->priors[i].camera + 2]++;
  for (gsize c = 2; c <= n; c++)
    first[c] += first[c - 1];
  for (guint32 i = 0; i < problem->n_priors; i++)
    sorted[first[problem->priors[i].camera + 1]++] = problem->priors[i];
  return upload (b, &d->priors, (const BundlePrior *) sorted, problem->n_priors,
             "priors", error)
         && upload (
             b, &d->prior_first, (const guint32 *) first, n, "priors", error)
         && cvis_arena_take (
             &b->arena, &d->prior_of, d->n_cameras, "priors", error)
         && cvis_arena_take (&b->arena, &d->prior_sums,
             2 * (gsize) d->n_cameras, "priors", error)
         && wait_for_lenses (b, error);
}

/* --- memory ------------------------------------------------------------------------- */

gboolean
take_lens_memory (LensBackend *b, GError **error)
{
  BundleLensDevice *d = &b->device;
  CvisArena *arena = &b->arena;
  const gsize n = d->n_cameras, n_points = d->n_points;
  const gsize lenses = BUNDLE_LENS_SIZE * (gsize) d->n_lenses;
  const gsize blocks = d->camera_blocks + (gsize) d->lens_blocks;
  struct {
    double **to;
    gsize n;
  } arrays[] = {
    { &d->candidate, 9 * n },
    { &d->new_lenses, lenses },
    { &d->b, d->n_vector },
    { &d->x, d->n_vector },
    { &d->r, d->n_vector },
    { &d->q, d->n_vector },
    { &d->u, d->n_vector },
    { &d->direction, d->n_vector },
    { &d->gradient, d->n_vector },
    { &d->diagonal, d->n_vector },
    { &d->scale, d->n_vector },
    { &d->damping, d->n_vector },
    { &d->products, LENS_NORMAL * (gsize) d->n_slots },
    { &d->slot_weight, 0 },
    { &d->view_weight, d->robust ? d->n_views : 0 },
    { &d->partial, LENS_TRIANGLE * (gsize) d->n_segments },
    { &d->triangles, LENS_TRIANGLE * n },
    { &d->parts, LENS_PART * n },
    { &d->contributions, BUNDLE_LENS_SIZE * n },
    { &d->lens_inverse, BUNDLE_LENS_SIZE * lenses },
    { &d->chunk_sums,
        MAX (LENS_PART * (gsize) d->cameras_of.n_chunks,
            2 * BUNDLE_LENS_SIZE * (gsize) d->segments_of.n_chunks) },
    { &d->v, 6 * n_points },
    { &d->v_inverse, 6 * n_points },
    { &d->v_gradient, 3 * n_points },
    { &d->v_scale, n_points },
    { &d->dots, LENS_N_DOTS * blocks },
    { &d->slice_sums, 2 * (gsize) d->n_slices },
    { &d->segment_sums, 2 * (gsize) d->n_segments },
    { &d->camera_sums, 2 * n },
    { &d->lens_sums, 2 * (gsize) d->n_lenses },
    { &d->column_sums, 2 * BUNDLE_COLUMN_BLOCKS },
    { &d->results, LENS_N_RESULTS },
  };

  for (guint i = 0; i < G_N_ELEMENTS (arrays); i++)
    if (!cvis_arena_take (arena, arrays[i].to, MAX (arrays[i].n, 1),
            "normal equations and vectors", error)
        || !CVIS_CUDA (cudaMemsetAsync (*arrays[i].to, 0,
                           arrays[i].n * sizeof (double), b->stream),
            error))
      return FALSE;
  return cvis_arena_take (
             arena, &d->view_slot, d->n_views, "observations", error)
         && cvis_arena_take (arena, &d->constants, n, "cameras", error)
         && cvis_arena_take (arena, &d->new_constants, n, "cameras", error)
         && cvis_arena_take (arena, &d->arrows, n, "preconditioner", error)
         && cvis_arena_take (arena, &d->pcg, 1, "state", error)
         && cvis_arena_pin (
             arena, &b->results, LENS_N_RESULTS, "results", error)
         && cvis_arena_pin (arena, &b->pcg, 1, "state", error);
}

gboolean
lens_init (LensBackend *b, const BundleStart *start, const BundleConfig *config,
    GError **error)
{
  BundleLensDevice *d = &b->device;
  const BundleProblem *problem = b->problem;
  const gsize n = problem->n_cameras;

  d->n_lenses = problem->n_lenses;
  d->robust = config->loss != BUNDLE_LOSS_NONE;
  d->loss = config->loss;
  d->loss_scale = config->loss_scale;
  d->eta = config->eta;
  d->max_pcg = config->max_pcg_iterations;
  d->n_vector = LENS_POSE * n + BUNDLE_LENS_SIZE * (gsize) d->n_lenses;
  if (!cvis_arena_stream (&b->arena, &b->stream, error)
      || !bundle_cuda_order (d, &b->arena, problem, b->stream, &b->peak, error))
    return FALSE;
  d->camera_blocks = MIN (BUNDLE_CAMERA_BLOCKS, (d->n_cameras + 7) / 8);
  d->lens_blocks = MIN (BUNDLE_CAMERA_BLOCKS / 2, d->n_lenses);
  if (!list_rows (b, error) || !put_lenses (b, error)
      || !upload (b, &d->parameters, (const double *) problem->cameras, 9 * n,
          "cameras", error)
      || !upload (
          b, &d->camera_constant, start->camera_constant, n, "cameras", error)
      || (problem->point_constant
          && !upload (b, &d->point_constant,
              (const guint8 *) problem->point_constant, problem->n_points,
              "constant points", error))
      || (problem->n_priors > 0 && !put_priors (b, error))
      || !take_lens_memory (b, error))
    return FALSE;
  b->peak = MAX (b->peak, b->arena.size);
  return CVIS_CUDA (bundle_lens_find_slots (d, b->stream), error)
         && CVIS_CUDA (bundle_lens_prepare_cameras (d, FALSE, b->stream), error)
         && wait_for_lenses (b, error);
}

void
lens_destroy (BundleBackend *backend)
{
  LensBackend *b = get_lens_backend (backend);

  if (b == NULL)
    return;
  if (cvis_context_push (b->context, NULL)) {
    if (b->stream != NULL)
      cudaStreamSynchronize (b->stream);
#ifndef MOTION_EMULATED
    if (b->group != NULL)
      cudaGraphExecDestroy (b->group);
#endif
    cvis_arena_clear (&b->arena);
    cvis_context_pop (b->context);
  }
  cvis_context_unref (b->context);
  g_free (b);
}

BundleBackend *
lens_create (const BundleStart *start, const BundleConfig *config,
    CvisContext *context, GError **error)
{
  LensBackend *b = g_new0 (LensBackend, 1);

  b->context = cvis_context_ref (context);
  b->problem = start->problem;
  if (!cvis_in_context (context, error,
          [&] { return lens_init (b, start, config, error); })) {
    lens_destroy ((BundleBackend *) b);
    return NULL;
  }
  return (BundleBackend *) b;
}

/* --- an iteration of Levenberg-Marquardt --------------------------------------------- */

gboolean
read_results (LensBackend *b, GError **error)
{
  return copy_lens (b, b->results, (const double *) b->device.results,
             LENS_N_RESULTS, cudaMemcpyDeviceToHost, error)
         && wait_for_lenses (b, error);
}

gboolean
lens_linearize (
    BundleBackend *backend, gdouble *cost, gdouble *gradient, GError **error)
{
  LensBackend *b = get_lens_backend (backend);
  const gboolean ok = cvis_in_context (b->context, error, [&] {
    return CVIS_CUDA (
               bundle_lens_linearise (&b->device, !b->linearized, b->stream),
               error)
           && read_results (b, error);
  });

  b->linearized = TRUE;
  if (ok) {
    *cost = b->results[LENS_RESULT_STATE_COST]
            + b->results[LENS_RESULT_PRIOR_STATE_COST];
    *gradient = MAX (b->results[LENS_RESULT_POINT_GRADIENT],
        MAX (b->results[LENS_RESULT_CAMERA_GRADIENT],
            b->results[LENS_RESULT_LENS_GRADIENT]));
  }
  return ok;
}

cudaError_t
queue_lens_group (LensBackend *b)
{
  cudaError_t code = cudaSuccess;

  for (guint i = 0; i < LENS_GROUP && code == cudaSuccess; i++)
    code = bundle_lens_pcg_iterate (&b->device, i % 2, b->stream);
  return code;
}

/* Launches a group of iterations; captures their graph at the first call. */
gboolean
launch_lens_group (LensBackend *b, GError **error)
{
#ifdef MOTION_EMULATED
  return CVIS_CUDA (queue_lens_group (b), error);
#else
  cudaGraph_t graph = NULL;
  cudaError_t queued;
  gboolean ok;

  if (b->group == NULL) {
    if (!CVIS_CUDA (cudaStreamBeginCapture (
                        b->stream, cudaStreamCaptureModeThreadLocal),
            error))
      return FALSE;
    queued = queue_lens_group (b);
    ok = CVIS_CUDA (cudaStreamEndCapture (b->stream, &graph), error)
         && CVIS_CUDA (queued, error)
         && CVIS_CUDA (cudaGraphInstantiate (&b->group, graph, 0), error);
    if (graph != NULL)
      cudaGraphDestroy (graph);
    if (!ok)
      return FALSE;
  }
  return CVIS_CUDA (cudaGraphLaunch (b->group, b->stream), error);
#endif
}

gboolean
lens_solve_step (LensBackend *b, gdouble radius, BundleProgress progress,
    gpointer user_data, BundleStep *step, GError **error)
{
  const BundleLensDevice *d = &b->device;

  *b->pcg = {};
  b->pcg->radius = radius;
  if (!copy_lens (b, d->pcg, (const BundlePcg *) b->pcg, 1,
          cudaMemcpyHostToDevice, error)
      || !CVIS_CUDA (bundle_lens_damp (d, b->stream), error)
      || !CVIS_CUDA (bundle_lens_pcg_start (d, b->stream), error))
    return FALSE;
  do {
    if (!launch_lens_group (b, error)
        || !copy_lens (b, b->pcg, (const BundlePcg *) d->pcg, 1,
            cudaMemcpyDeviceToHost, error)
        || !wait_for_lenses (b, error))
      return FALSE;
    step->cancelled =
        cvis_cancelled () || (progress != NULL && !progress (NULL, user_data));
  } while (!b->pcg->done && !step->cancelled);
  if (step->cancelled)
    return TRUE;
  if (!CVIS_CUDA (bundle_lens_evaluate (d, b->stream), error)
      || !read_results (b, error))
    return FALSE;
  step->pcg_iterations = b->pcg->iterations;
  step->model_decrease =
      b->results[LENS_RESULT_MODEL] + b->results[LENS_RESULT_PRIOR_MODEL];
  step->cost =
      b->results[LENS_RESULT_COST] + b->results[LENS_RESULT_PRIOR_COST];
  step->step_norm = sqrt (b->results[LENS_RESULT_POINT_STEP]
                          + b->results[LENS_RESULT_CAMERA_STEP]
                          + b->results[LENS_RESULT_LENS_STEP]);
  step->state_norm = sqrt (b->results[LENS_RESULT_POINT_NORM]
                           + b->results[LENS_RESULT_CAMERA_NORM]
                           + b->results[LENS_RESULT_LENS_NORM]);
  return TRUE;
}

gboolean
lens_step (BundleBackend *backend, gdouble radius, BundleProgress progress,
    gpointer user_data, BundleStep *step, GError **error)
{
  LensBackend *b = get_lens_backend (backend);

  *step = {};
  return cvis_in_context (b->context, error, [&] {
    return lens_solve_step (b, radius, progress, user_data, step, error);
  });
}

/* Best effort: an error is reported by the next call. */
void
lens_accept (BundleBackend *backend)
{
  LensBackend *b = get_lens_backend (backend);

  cvis_in_context (b->context, NULL, [&] {
    return CVIS_CUDA (bundle_lens_accept (&b->device, b->stream), NULL);
  });
}

/* --- results -------------------------------------------------------------------------- */

/* All points, in the problem's order, by way of temporary device memory */
gboolean
read_lens_points (
    LensBackend *b, CvisArena *arena, gdouble *points, GError **error)
{
  const gsize n = 3 * (gsize) b->problem->n_points;
  double *all;
  const gboolean ok =
      cvis_arena_take (arena, &all, n, "points", error)
      && copy_lens (b, all, (const double *) b->problem->points, n,
          cudaMemcpyHostToDevice, error)
      && CVIS_CUDA (bundle_cuda_read_points (&b->device, all, b->stream), error)
      && copy_lens (
          b, points, (const double *) all, n, cudaMemcpyDeviceToHost, error)
      && wait_for_lenses (b, error);

  b->peak = MAX (b->peak, b->arena.size + arena->size);
  return ok;
}

gboolean
read_lens_state (LensBackend *b, gdouble *cameras, gdouble *points,
    gdouble *blocks, GError **error)
{
  const BundleLensDevice *d = &b->device;
  const gsize n = d->n_cameras;
  CvisArena arena = {};
  g_autofree double *triangles = g_try_new (double, LENS_TRIANGLE *n);
  g_autofree double *scale = g_try_new (double, LENS_POSE *n);
  gboolean ok;

  if (triangles == NULL || scale == NULL) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "no memory for the normal equations of %u cameras", d->n_cameras);
    return FALSE;
  }
  ok = read_lens_points (b, &arena, points, error);
  cvis_arena_clear (&arena);
  if (!ok || !CVIS_CUDA (bundle_lens_sum_triangles (d, TRUE, b->stream), error)
      || !CVIS_CUDA (bundle_lens_add_triangles (d, b->stream), error)
      || !copy_lens (b, cameras, (const double *) d->parameters, 9 * n,
          cudaMemcpyDeviceToHost, error)
      || !copy_lens (b, triangles, (const double *) d->triangles,
          LENS_TRIANGLE * n, cudaMemcpyDeviceToHost, error)
      || !copy_lens (b, scale, (const double *) d->scale, LENS_POSE * n,
          cudaMemcpyDeviceToHost, error)
      || !wait_for_lenses (b, error))
    return FALSE;
  memset (blocks, 0, BUNDLE_N_BLOCK * n * sizeof *blocks);
  for (gsize c = 0; c < n; c++)
    for (int i = 0; i < LENS_POSE; i++)
      for (int j = i; j < LENS_POSE; j++)
        blocks[BUNDLE_N_BLOCK * c + bundle_lens_packed (9, i, j)] =
            triangles[LENS_TRIANGLE * c
                      + bundle_lens_packed (LENS_UNKNOWNS, i, j)]
            * scale[LENS_POSE * c + i] * scale[LENS_POSE * c + j];
  return TRUE;
}

gboolean
lens_read (BundleBackend *backend, gdouble *cameras, gdouble *points,
    gdouble *blocks, GError **error)
{
  LensBackend *b = get_lens_backend (backend);

  return cvis_in_context (b->context, error,
      [&] { return read_lens_state (b, cameras, points, blocks, error); });
}

gboolean
lens_read_lenses (BundleBackend *backend, BundleLens *lenses,
    BundleSensor *sensors, GError **error)
{
  LensBackend *b = get_lens_backend (backend);
  const gsize n = BUNDLE_LENS_SIZE * (gsize) b->device.n_lenses;
  g_autofree double *parameters = g_new (double, n);
  const gboolean ok = cvis_in_context (b->context, error, [&] {
    return copy_lens (b, parameters, (const double *) b->device.lenses, n,
               cudaMemcpyDeviceToHost, error)
           && wait_for_lenses (b, error);
  });

  for (guint32 i = 0; ok && i < b->device.n_lenses; i++)
    memcpy (lenses[i].parameters, parameters + BUNDLE_LENS_SIZE * (gsize) i,
        bundle_lens_size (lenses[i].model) * sizeof *parameters);
  return ok;
}

gsize
lens_get_bytes (BundleBackend *backend)
{
  return get_lens_backend (backend)->peak;
}

} // namespace

extern "C" const BundleBackendOps bundle_backend_cuda_lenses = {
  "cuda",
  lens_create,
  lens_destroy,
  lens_linearize,
  lens_step,
  lens_accept,
  lens_read,
  lens_read_lenses,
  lens_get_bytes,
};
