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
  BundleProblem problem; /* with frames, cameras and lenses in another order */
  guint32 *lens_at;      /* of each lens: its number in the original */
  guint32 *pose_cameras; /* (nullable): as on the device */
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
  const BundleProblem *problem = &b->problem;
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
  d->rows_of = d->segments_of;
  d->pose_rows = d->camera_segments;
  return ok;
}

/* Parameters and properties of the lenses */
gboolean
put_lenses (LensBackend *b, GError **error)
{
  const BundleProblem *problem = &b->problem;
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
    info[i].constant = lens->constant | beyond;
    if (!problem->sensors || problem->sensors[i].constant)
      info[i].constant |= 0x3fu << BUNDLE_LENS_SIZE;
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
  const BundleProblem *problem = &b->problem;
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

/* --- rigs --------------------------------------------------------------------------- */

/* Sorts cameras by frame and lenses by group. @group: (out): of each lens */
gboolean
arrange_rigs (
    LensBackend *b, const BundleProblem *from, guint32 *group, GError **error)
{
  BundleProblem *to = &b->problem;
  const guint32 n = from->n_cameras, n_lenses = from->n_lenses;
  const guint n_groups = bundle_problem_group_lenses (from, group);
  g_autofree guint32 *number = g_new (guint32, n);
  g_autofree guint32 *lens = g_new (guint32, n_lenses);
  g_autofree guint32 *next = g_new0 (guint32, (gsize) from->n_frames + 1);
  g_autofree guint32 *first = g_new0 (guint32, (gsize) n_groups + 1);
  g_autofree guint32 *group_of =
      (guint32 *) g_memdup2 (group, n_lenses * sizeof *group);

  b->pose_cameras = g_new0 (guint32, (gsize) from->n_frames + 1);
  to->camera_of = g_try_new (guint32, from->n_observations);
  to->lens_of = g_new (guint32, n);
  to->frame_of = g_new (guint32, n);
  to->lenses = g_new (BundleLens, n_lenses);
  to->sensors = g_new (BundleSensor, n_lenses);
  to->priors = g_new (BundlePrior, from->n_priors);
  if (to->camera_of == NULL) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "no host memory to sort the observations: %" G_GSIZE_FORMAT " bytes",
        from->n_observations * sizeof *to->camera_of);
    return FALSE;
  }
  for (guint32 i = 0; i < n; i++)
    b->pose_cameras[from->frame_of[i] + 1]++;
  for (guint32 i = 0; i < n_lenses; i++)
    first[group_of[i] + 1]++;
  for (guint32 i = 0; i < from->n_frames; i++)
    next[i + 1] = b->pose_cameras[i + 1] += b->pose_cameras[i];
  for (guint i = 0; i < n_groups; i++)
    first[i + 1] += first[i];
  for (guint32 i = 0; i < n_lenses; i++) {
    const guint32 at = lens[i] = first[group_of[i]]++;

    group[at] = group_of[i];
    b->lens_at[at] = i;
    to->lenses[at] = from->lenses[i];
    to->sensors[at] = from->sensors[i];
  }
  for (guint32 i = 0; i < n; i++) {
    const guint32 at = number[i] = next[from->frame_of[i]]++;

    to->frame_of[at] = from->frame_of[i];
    to->lens_of[at] = lens[from->lens_of[i]];
  }
  for (gsize i = 0; i < from->n_observations; i++)
    to->camera_of[i] = number[from->camera_of[i]];
  for (guint32 i = 0; i < from->n_priors; i++) {
    to->priors[i] = from->priors[i];
    to->priors[i].camera = number[from->priors[i].camera];
  }
  return TRUE;
}

/* Number of the block of the cameras' lenses, which has them in this order, or G_MAXSIZE.
 * @first: of each lens: that of its row in its group */
gsize
find_lens_block (const LensBackend *b, const gsize *first,
    const LensGroup *group_of, guint32 row, guint32 column)
{
  const guint32 one = b->problem.lens_of[row];
  const guint32 other = b->problem.lens_of[column];

  return row == column || one < other
             ? G_MAXSIZE
             : first[one] + other - group_of[one].first;
}

/* Lists the groups, and the blocks of two lenses with their pairs of cameras, in the order
 * of the frames. @group: of each lens; @blocks, @chunks: empty. Returns: the pairs;
 * g_free() */
uint2 *
list_pairs (LensBackend *b, const guint32 *group, GArray *groups,
    GArray *blocks, GArray *chunks, gsize *n_pairs)
{
  const guint32 n_lenses = b->device.n_lenses;
  g_autofree gsize *first = g_new (gsize, n_lenses);
  g_autofree LensGroup *group_of = g_new (LensGroup, n_lenses);
  g_autofree gsize *next = NULL;
  gsize inverse = 0, n = 0;
  uint2 *pairs = NULL;

  for (guint32 i = 0; i < n_lenses; i++)
    if (i == 0 || group[i] != group[i - 1]) {
      LensGroup of = { i, 1, inverse };

      while (i + of.n < n_lenses && group[i + of.n] == group[i])
        of.n++;
      for (guint32 row = 0; row < of.n; row++) {
        first[i + row] = blocks->len;
        group_of[i + row] = of;
        for (guint32 column = 0; column <= row; column++) {
          const LensBlock block = { groups->len, i + row, i + column, 0, 0 };

          g_array_append_val (blocks, block);
        }
      }
      inverse += LENS_PLACED * (gsize) of.n * LENS_PLACED * of.n;
      g_array_append_val (groups, of);
    }
  next = g_new0 (gsize, (gsize) blocks->len + 1);
  for (guint fill = 0; fill < 2; fill++) {
    if (fill)
      pairs = g_new (uint2, n);
    for (guint32 p = 0; p < b->problem.n_frames; p++)
      for (guint32 i = b->pose_cameras[p]; i < b->pose_cameras[p + 1]; i++)
        for (guint32 k = b->pose_cameras[p]; k < b->pose_cameras[p + 1]; k++) {
          const gsize at = find_lens_block (b, first, group_of, i, k);

          if (at != G_MAXSIZE && fill)
            pairs[next[at]++] = uint2{ i, k };
          else if (at != G_MAXSIZE)
            next[at + 1]++;
        }
    for (guint i = 0; !fill && i < blocks->len; i++)
      next[i + 1] += next[i];
    n = next[blocks->len];
  }
  for (guint i = 0; i < blocks->len; i++) {
    LensBlock *block = &g_array_index (blocks, LensBlock, i);

    block->begin = chunks->len;
    for (gsize at = i > 0 ? next[i - 1] : 0; at < next[i]; at += LENS_CHUNK) {
      const LensChunk chunk = { (guint32) at,
        (guint32) MIN (next[i], at + LENS_CHUNK) };

      g_array_append_val (chunks, chunk);
    }
    block->end = chunks->len;
  }
  *n_pairs = n;
  return pairs;
}

/* @group: of each lens */
gboolean
put_rigs (LensBackend *b, const guint32 *group, GError **error)
{
  BundleLensDevice *d = &b->device;
  const gsize n_poses = d->n_poses, n_lenses = d->n_lenses;
  g_autoptr (GArray) groups = g_array_new (FALSE, FALSE, sizeof (LensGroup));
  g_autoptr (GArray) blocks = g_array_new (FALSE, FALSE, sizeof (LensBlock));
  g_autoptr (GArray) chunks = g_array_new (FALSE, FALSE, sizeof (LensChunk));
  g_autofree double *sensors = g_new (double, 9 * n_lenses);
  gsize n_pairs;
  g_autofree uint2 *pairs =
      list_pairs (b, group, groups, blocks, chunks, &n_pairs);

  for (gsize i = 0; i < n_lenses; i++)
    memcpy (sensors + 9 * i, b->problem.sensors[i].pose, 9 * sizeof *sensors);
  d->n_groups = groups->len;
  d->n_blocks = blocks->len;
  d->n_pair_chunks = chunks->len;
  d->rows_of = d->cameras_of;
  return upload (b, &d->pose_cameras, (const guint32 *) b->pose_cameras,
             n_poses + 1, "frames", error)
         && upload (b, &d->pose_of, (const guint32 *) b->problem.frame_of,
             d->n_cameras, "frames", error)
         && upload (b, &d->sensors, (const double *) sensors, 9 * n_lenses,
             "sensors", error)
         && upload (b, &d->new_sensors, (const double *) sensors, 9 * n_lenses,
             "sensors", error)
         && upload (b, &d->groups, (const LensGroup *) groups->data,
             groups->len, "groups of lenses", error)
         && upload (b, &d->blocks_of, (const LensBlock *) blocks->data,
             blocks->len, "groups of lenses", error)
         && (n_pairs == 0
             || (upload (b, &d->pairs, (const uint2 *) pairs, n_pairs,
                     "pairs of cameras", error)
                 && upload (b, &d->pair_chunks,
                     (const LensChunk *) chunks->data, chunks->len,
                     "pairs of cameras", error)))
         && wait_for_lenses (b, error)
         && (d->pose_rows = d->pose_cameras) != NULL;
}

/* --- memory ------------------------------------------------------------------------- */

/* Elements of the blocks of all groups of lenses */
gsize
count_inverses (const LensBackend *b, const guint32 *group)
{
  const gsize size = b->device.columns;
  gsize n = 0, sum = 0;

  for (guint32 i = 0; i < b->device.n_lenses; i++) {
    n = group && i > 0 && group[i] == group[i - 1] ? n + 1 : 1;
    sum += (2 * n - 1) * size * size; /* n^2 - (n - 1)^2 */
  }
  return sum;
}

/* @group: (nullable): of each lens */
gboolean
take_lens_memory (LensBackend *b, const guint32 *group, GError **error)
{
  BundleLensDevice *d = &b->device;
  CvisArena *arena = &b->arena;
  const gboolean rigs = group != NULL;
  const gsize n = d->n_cameras, n_poses = d->n_poses, n_points = d->n_points;
  const gsize lenses = BUNDLE_LENS_SIZE * (gsize) d->n_lenses;
  const gsize blocks = d->camera_blocks + (gsize) d->lens_blocks;
  const gsize columns = d->columns, inverses = count_inverses (b, group);
  struct {
    double **to;
    gsize n;
  } arrays[] = {
    { &d->candidate, 9 * n_poses },
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
    { &d->inverses, LENS_POSE * LENS_POSE * n_poses },
    { &d->couplings, LENS_POSE * columns * n },
    { &d->solved, LENS_POSE * columns * n },
    { &d->parts, LENS_PACKED (columns) * n },
    { &d->contributions, columns * n },
    { &d->lens_inverse, inverses },
    { &d->chunk_sums, MAX (LENS_PACKED (columns) * d->cameras_of.n_chunks,
                          2 * columns * d->rows_of.n_chunks) },
    { &d->v, 6 * n_points },
    { &d->v_inverse, 6 * n_points },
    { &d->v_gradient, 3 * n_points },
    { &d->v_scale, n_points },
    { &d->dots, LENS_N_DOTS * blocks },
    { &d->slice_sums, 2 * (gsize) d->n_slices },
    { &d->segment_sums, 2 * (gsize) d->n_segments },
    { &d->camera_sums, 2 * n_poses },
    { &d->lens_sums, 2 * (gsize) d->n_lenses },
    { &d->column_sums, 2 * BUNDLE_COLUMN_BLOCKS },
    { &d->results, LENS_N_RESULTS },
    { &d->rows, rigs ? 2 * d->row_size * n : 0 },
    { &d->folded, rigs ? LENS_PACKED (LENS_POSE + columns) * n : 0 },
    { &d->steps, rigs ? 36 * (gsize) d->n_lenses : 0 },
    { &d->expanded, rigs ? LENS_POSE * n + lenses : 0 },
    { &d->pair_sums, columns * columns * d->n_pair_chunks },
    { &d->right, rigs ? columns * d->n_lenses : 0 },
    { &d->scratch, rigs ? inverses : 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (arrays); i++)
    if (!cvis_arena_take (arena, arrays[i].to, MAX (arrays[i].n, 1),
            "normal equations and vectors", error)
        || !CVIS_CUDA (cudaMemsetAsync (*arrays[i].to, 0,
                           arrays[i].n * sizeof (double), b->stream),
            error))
      return FALSE;
  if (!rigs) {
    d->rows = d->partial;
    d->folded = d->triangles;
  }
  return cvis_arena_take (
             arena, &d->view_slot, d->n_views, "observations", error)
         && cvis_arena_take (arena, &d->constants, n, "cameras", error)
         && cvis_arena_take (arena, &d->new_constants, n, "cameras", error)
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
  const BundleProblem *problem = &b->problem;
  const gboolean rigs = problem->frames != NULL;
  g_autofree guint32 *group = rigs ? g_new (guint32, problem->n_lenses) : NULL;

  d->n_lenses = problem->n_lenses;
  d->robust = config->loss != BUNDLE_LOSS_NONE;
  d->loss = config->loss;
  d->loss_scale = config->loss_scale;
  d->eta = config->eta;
  d->max_pcg = config->max_pcg_iterations;
  d->n_poses = rigs ? problem->n_frames : problem->n_cameras;
  d->columns = rigs ? LENS_PLACED : BUNDLE_LENS_SIZE;
  d->row_size = LENS_POSE + d->columns;
  d->n_vector =
      LENS_POSE * (gsize) d->n_poses + d->columns * (gsize) d->n_lenses;
  for (guint32 i = 0; i < d->n_lenses; i++)
    b->lens_at[i] = i;
  if (rigs && !arrange_rigs (b, start->problem, group, error))
    return FALSE;
  if (!cvis_arena_stream (&b->arena, &b->stream, error)
      || !bundle_cuda_order (
          d, &b->arena, problem, config->threads, b->stream, &b->peak, error))
    return FALSE;
  if (rigs)
    g_clear_pointer (&b->problem.camera_of, g_free);
  d->camera_blocks = MIN (BUNDLE_CAMERA_BLOCKS, (d->n_poses + 7) / 8);
  d->lens_blocks = MIN (BUNDLE_CAMERA_BLOCKS / 2, d->n_lenses);
  if (!list_rows (b, error) || (rigs && !put_rigs (b, group, error))
      || !put_lenses (b, error)
      || !upload (b, &d->parameters,
          (const double *) (rigs ? problem->frames : problem->cameras),
          9 * (gsize) d->n_poses, "cameras", error)
      || !upload (b, &d->camera_constant, start->camera_constant, d->n_poses,
          "cameras", error)
      || (problem->point_constant
          && !upload (b, &d->point_constant,
              (const guint8 *) problem->point_constant, problem->n_points,
              "constant points", error))
      || (problem->n_priors > 0 && !put_priors (b, error))
      || !take_lens_memory (b, group, error))
    return FALSE;
  b->peak = MAX (b->peak, b->arena.size);
  return CVIS_CUDA (bundle_lens_find_slots (d, b->stream), error)
         && CVIS_CUDA (bundle_lens_prepare_cameras (d, FALSE, b->stream), error)
         && wait_for_lenses (b, error);
}

/* Frees what arrange_rigs() made. */
void
clear_rigs (LensBackend *b)
{
  if (b->pose_cameras == NULL)
    return;
  g_free (b->pose_cameras);
  g_free (b->problem.camera_of);
  g_free (b->problem.lens_of);
  g_free (b->problem.frame_of);
  g_free (b->problem.lenses);
  g_free (b->problem.sensors);
  g_free (b->problem.priors);
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
  clear_rigs (b);
  g_free (b->lens_at);
  g_free (b);
}

BundleBackend *
lens_create (const BundleStart *start, const BundleConfig *config,
    CvisContext *context, GError **error)
{
  LensBackend *b = g_new0 (LensBackend, 1);

  b->context = cvis_context_ref (context);
  b->problem = *start->problem;
  b->lens_at = g_new (guint32, b->problem.n_lenses);
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
         && CVIS_CUDA (
             cudaGraphInstantiate (&b->group, graph, NULL, NULL, 0), error);
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

/* All points, in the problem's order, by way of temporary device memory. Points that no
 * camera sees are not on the device. */
gboolean
read_lens_points (
    LensBackend *b, CvisArena *arena, gdouble *points, GError **error)
{
  const gsize n = 3 * (gsize) b->problem.n_points;
  double *all;
  const gboolean ok =
      cvis_arena_take (arena, &all, n, "points", error)
      && (b->device.n_points == b->problem.n_points
          || copy_lens (b, all, (const double *) b->problem.points, n,
              cudaMemcpyHostToDevice, error))
      && CVIS_CUDA (bundle_cuda_read_points (&b->device, all, b->stream), error)
      && copy_lens (
          b, points, (const double *) all, n, cudaMemcpyDeviceToHost, error)
      && wait_for_lenses (b, error);

  b->peak = MAX (b->peak, b->arena.size + arena->size);
  return ok;
}

/* The blocks of the poses from @triangles of their cameras */
void
scale_blocks (const LensBackend *b, const double *triangles,
    const double *scale, gdouble *blocks)
{
  const gsize n_poses = b->device.n_poses;
  const int size = (int) (LENS_POSE + b->device.columns);

  memset (blocks, 0, BUNDLE_N_BLOCK * n_poses * sizeof *blocks);
  for (gsize p = 0; p < n_poses; p++) {
    const gsize begin = b->pose_cameras ? b->pose_cameras[p] : p;
    const gsize end = b->pose_cameras ? b->pose_cameras[p + 1] : p + 1;

    for (int i = 0; i < LENS_POSE; i++)
      for (int j = i; j < LENS_POSE; j++) {
        double sum = 0;

        for (gsize c = begin; c < end; c++)
          sum += triangles[LENS_PACKED (size) * c
                           + bundle_lens_packed (size, i, j)];
        blocks[BUNDLE_N_BLOCK * p + bundle_lens_packed (9, i, j)] =
            sum * scale[LENS_POSE * p + i] * scale[LENS_POSE * p + j];
      }
  }
}

gboolean
read_lens_state (LensBackend *b, gdouble *cameras, gdouble *points,
    gdouble *blocks, GError **error)
{
  const BundleLensDevice *d = &b->device;
  const gsize n_poses = d->n_poses;
  const gsize n = LENS_PACKED (LENS_POSE + d->columns) * (gsize) d->n_cameras;
  CvisArena arena = {};
  g_autofree double *triangles = g_try_new (double, n);
  g_autofree double *scale = g_try_new (double, LENS_POSE *n_poses);
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
      || !copy_lens (b, cameras, (const double *) d->parameters, 9 * n_poses,
          cudaMemcpyDeviceToHost, error)
      || !copy_lens (b, triangles, (const double *) d->folded, n,
          cudaMemcpyDeviceToHost, error)
      || !copy_lens (b, scale, (const double *) d->scale, LENS_POSE * n_poses,
          cudaMemcpyDeviceToHost, error)
      || !wait_for_lenses (b, error))
    return FALSE;
  scale_blocks (b, triangles, scale, blocks);
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
  const BundleLensDevice *d = &b->device;
  const gsize n = d->n_lenses;
  g_autofree double *parameters = g_new (double, BUNDLE_LENS_SIZE *n);
  g_autofree double *poses = g_new (double, 9 * n);
  const gboolean ok = cvis_in_context (b->context, error, [&] {
    return copy_lens (b, parameters, (const double *) d->lenses,
               BUNDLE_LENS_SIZE * n, cudaMemcpyDeviceToHost, error)
           && (d->sensors == NULL
               || copy_lens (b, poses, (const double *) d->sensors, 9 * n,
                   cudaMemcpyDeviceToHost, error))
           && wait_for_lenses (b, error);
  });

  for (gsize i = 0; ok && i < n; i++) {
    BundleLens *lens = &lenses[b->lens_at[i]];

    memcpy (lens->parameters, parameters + BUNDLE_LENS_SIZE * i,
        bundle_lens_size (lens->model) * sizeof *parameters);
    if (sensors != NULL)
      memcpy (sensors[b->lens_at[i]].pose, poses + 9 * i, 9 * sizeof *poses);
  }
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
