/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The CUDA backend of the bundle adjustment for cameras with lenses, run on the CPU,
 * against the CPU backend: every linearisation and step of the cases of lensscenes.h,
 * within rounding.
 *
 *   emulation-bundlelens [FIRST [LAST]] */
#include <cuda_runtime.h>
#include <glib.h>

#include "cuda/core/device/device.h"

#define cvis_context_ref(context) (context)
#define cvis_context_unref(context)
#define cvis_context_push(context, error) TRUE
#define cvis_context_pop(context)
#define cvis_context_get_handle(context) ((gpointer) (context))
#define BUNDLE_START(kernel, grid, threads, stream, ...)                       \
  emulation::start (grid, threads, [&] { kernel (__VA_ARGS__); })
#define __CUDACC__
#include "cuda/core/device/arena.cuh"
#include "cuda/bundle/cuda/lens/engine.cu"
#include "cuda/bundle/cuda/lens/normal.cu"
#include "cuda/bundle/cuda/lens/pcg.cu"
#include "cuda/bundle/cuda/lens/rigs.cu"
#include "cuda/bundle/cuda/lens/views.cu"
extern "C" {
#include "lensscenes.h"
}

/* --- memory and order ------------------------------------------------------------------- */

void *
cvis_arena_device (CvisArena *arena, gsize size, const gchar *, GError **)
{
  void *memory = aligned_alloc (256, (size + 255) / 256 * 256);

  memset (memory, 0xa5, size);
  if (arena->items == NULL)
    arena->items = g_array_new (FALSE, FALSE, sizeof memory);
  g_array_append_val (arena->items, memory);
  return memory;
}

void *
cvis_arena_pinned (
    CvisArena *arena, gsize size, const gchar *what, GError **error)
{
  return cvis_arena_device (arena, size, what, error);
}

gboolean
cvis_arena_stream (CvisArena *, cudaStream_t *, GError **)
{
  return TRUE;
}

void
cvis_arena_clear (CvisArena *arena)
{
  for (guint i = 0; arena->items != NULL && i < arena->items->len; i++)
    free (g_array_index (arena->items, void *, i));
  if (arena->items != NULL)
    g_array_unref (arena->items);
}

namespace {

/* The problem that is ordered */
const BundleProblem *ordered;
guint32 *n_of_point;

template <typename T>
T *
take (CvisArena *arena, gsize n)
{
  T *to;

  cvis_arena_take (arena, &to, MAX (n, 1), "", NULL);
  return to;
}

int
compare_points (const void *a, const void *b)
{
  const guint32 p = *(const guint32 *) a, q = *(const guint32 *) b;

  if (n_of_point[p] != n_of_point[q])
    return n_of_point[p] > n_of_point[q] ? -1 : 1;
  return p < q ? -1 : p > q;
}

int
compare_cameras (const void *a, const void *b)
{
  const guint32 i = *(const guint32 *) a, k = *(const guint32 *) b;
  const guint32 c = ordered->camera_of[i], e = ordered->camera_of[k];

  return c != e ? (c < e ? -1 : 1) : i < k ? -1 : i > k;
}

} // namespace

/* As engine.cuh describes it */
gboolean
bundle_cuda_order (BundleDevice *d, CvisArena *arena,
    const BundleProblem *problem, guint, cudaStream_t, gsize *peak, GError **)
{
  const guint32 n = (guint32) problem->n_observations, np = problem->n_points;
  g_autofree guint32 *sorted = g_new (guint32, n); /* by camera */
  g_autofree guint32 *at = g_new (guint32, np), *slot_of = g_new (guint32, np);
  g_autofree guint32 *apart = g_new (guint32, np), *seen = g_new0 (guint32, np);
  g_autofree guint32 *counts = g_new0 (guint32, np);
  guint32 n_slots = 0;

  ordered = problem;
  n_of_point = counts;
  d->n_cameras = problem->n_cameras;
  d->n_views = n;
  for (guint32 i = 0; i < n; i++) {
    sorted[i] = i;
    counts[problem->point_of[i]]++;
  }
  d->order = take<guint32> (arena, np);
  d->points = take<BundlePoint> (arena, np);
  for (guint32 p = 0; p < np; p++)
    d->order[p] = p;
  qsort (d->order, np, sizeof *d->order, compare_points);
  while (d->n_points < np && counts[d->order[d->n_points]] > 0)
    d->n_points++;
  for (guint32 p = 0; p < d->n_points; p++)
    at[d->order[p]] = p;
  d->slices = take<BundleSlice> (arena, d->n_points);
  for (guint32 p = 0; p < d->n_points;) {
    const guint32 length = counts[d->order[p]];
    const bool is_long = length > BUNDLE_LONG;
    const BundleSlice slice = { n_slots, is_long ? (length + 31) / 32 : length,
      p, is_long ? 0 : MIN (32, d->n_points - p) };
    const guint32 last = p + (is_long ? 1 : slice.n);

    for (; p < last; p++) {
      slot_of[p] = n_slots + (p - slice.point);
      apart[p] = is_long ? 1 : 32;
      memcpy (d->points[p].x, problem->points + 3 * (gsize) d->order[p], 24);
    }
    n_slots += 32 * slice.width;
    d->slices[d->n_slices++] = slice;
  }
  d->n_slots = n_slots;
  d->slot_camera = take<guint32> (arena, n_slots);
  memset (d->slot_camera, 0xff, n_slots * sizeof *d->slot_camera);
  qsort (sorted, n, sizeof *sorted, compare_cameras);
  for (guint32 i = 0; i < n; i++) {
    const guint32 p = at[problem->point_of[sorted[i]]];

    d->slot_camera[slot_of[p] + apart[p] * seen[p]++] =
        problem->camera_of[sorted[i]];
  }
  /* views by camera, then by the new numbers of points; stable */
  d->view_point = take<guint32> (arena, n);
  d->view_observed = take<double2> (arena, n);
  for (guint32 i = 1; i < n; i++)
    for (guint32 k = i;
         k > 0
         && problem->camera_of[sorted[k - 1]] == problem->camera_of[sorted[k]]
         && at[problem->point_of[sorted[k - 1]]]
                > at[problem->point_of[sorted[k]]];
         k--) {
      const guint32 swap = sorted[k];

      sorted[k] = sorted[k - 1];
      sorted[k - 1] = swap;
    }
  for (guint32 i = 0; i < n; i++) {
    d->view_point[i] = at[problem->point_of[sorted[i]]];
    d->view_observed[i] = double2{ problem->observed[2 * sorted[i]],
      problem->observed[2 * sorted[i] + 1] };
  }
  d->segments = take<BundleSegment> (arena, n);
  d->camera_segments = take<guint32> (arena, d->n_cameras + 1);
  for (guint32 c = 0, i = 0; c <= d->n_cameras; c++) {
    d->camera_segments[c] = d->n_segments;
    while (i < n && problem->camera_of[sorted[i]] == c) {
      const guint32 begin = i;

      while (i < n && i < begin + BUNDLE_SEGMENT
             && problem->camera_of[sorted[i]] == c)
        i++;
      d->segments[d->n_segments++] = BundleSegment{ c, begin, i };
    }
  }
  *peak = 0;
  return TRUE;
}

cudaError_t
bundle_cuda_read_points (const BundleDevice *d, double *all, cudaStream_t)
{
  for (guint32 p = 0; p < d->n_points; p++)
    memcpy (all + 3 * (gsize) d->order[p], d->points[p].x, 24);
  return cudaSuccess;
}

/* --- comparison ---------------------------------------------------------------------------- */

namespace {

struct Solver {
  const BundleBackendOps *ops;
  BundleBackend *backend;
  gdouble *cameras, *points, *blocks;
  BundleLens *lenses;
  BundleSensor *sensors; /* nullable */
};

guint
count_poses (const BundleProblem *p)
{
  return p->frames ? p->n_frames : p->n_cameras;
}

const gchar *case_name;

void
assert_near (
    const gchar *what, guint iteration, gdouble a, gdouble b, gdouble relative)
{
  if (!(fabs (a - b) <= relative * fabs (b)))
    g_error ("%s, %s after %u steps: %.15g, expected %.15g within %g", case_name,
        what, iteration, a, b, relative);
}

void
solver_init (Solver *s, const BundleBackendOps *ops, const BundleStart *start,
    const BundleConfig *config)
{
  const BundleProblem *p = start->problem;

  s->ops = ops;
  s->backend = ops->create (start, config, NULL, NULL);
  s->cameras = g_new (gdouble, 9 * (gsize) count_poses (p));
  s->points = g_new (gdouble, 3 * (gsize) p->n_points);
  s->blocks = g_new (gdouble, 45 * (gsize) count_poses (p));
  s->lenses = (BundleLens *) g_memdup2 (
      p->lenses, p->n_lenses * sizeof *p->lenses);
  s->sensors = (BundleSensor *) g_memdup2 (
      p->sensors, p->sensors ? p->n_lenses * sizeof *p->sensors : 0);
  g_assert_nonnull (s->backend);
}

void
solver_read (Solver *s)
{
  g_assert_true (
      s->ops->read (s->backend, s->cameras, s->points, s->blocks, NULL));
  g_assert_true (
      s->ops->read_lenses (s->backend, s->lenses, s->sensors, NULL));
}

void
solver_clear (Solver *s)
{
  s->ops->destroy (s->backend);
  g_free (s->cameras);
  g_free (s->points);
  g_free (s->blocks);
  g_free (s->lenses);
  g_free (s->sensors);
}

/* Constant sensors keep their bits. */
void
compare_sensors (const BundleProblem *p, const Solver *cpu, const Solver *cuda)
{
  for (guint i = 0; p->sensors && i < p->n_lenses; i++)
    for (guint k = 0; k < 6; k++)
      if (p->sensors[i].constant)
        g_assert_true (cuda->sensors[i].pose[k] == p->sensors[i].pose[k]);
      else if (!(fabs (cuda->sensors[i].pose[k] - cpu->sensors[i].pose[k])
                 < 1e-7))
        g_error ("%s, number %u of sensor %u: %.15g, expected %.15g", case_name,
            k, i, cuda->sensors[i].pose[k], cpu->sensors[i].pose[k]);
}

/* Both take the same steps. */
guint
compare_solvers (const BundleProblem *p, Solver *cpu, Solver *cuda)
{
  gdouble radius = 1e4, cost[2], gradient[2];
  guint n = 0;

  for (guint i = 0; i < 4; i++) {
    BundleStep step[2];

    g_assert_true (
        cpu->ops->linearize (cpu->backend, &cost[0], &gradient[0], NULL));
    g_assert_true (
        cuda->ops->linearize (cuda->backend, &cost[1], &gradient[1], NULL));
    assert_near ("cost", i, cost[1], cost[0], 1e-9);
    assert_near ("gradient", i, gradient[1], gradient[0], 1e-6);
    cpu->ops->step (cpu->backend, radius, NULL, NULL, &step[0], NULL);
    cuda->ops->step (cuda->backend, radius, NULL, NULL, &step[1], NULL);
    g_assert_cmpuint (step[0].pcg_iterations, ==, step[1].pcg_iterations);
    assert_near ("candidate", i, step[1].cost, step[0].cost, 1e-8);
    assert_near (
        "model", i, step[1].model_decrease, step[0].model_decrease, 1e-6);
    assert_near ("step", i, step[1].step_norm, step[0].step_norm, 1e-6);
    assert_near ("state", i, step[1].state_norm, step[0].state_norm, 1e-9);
    n += step[0].pcg_iterations;
    if (step[0].cost < cost[0]) {
      cpu->ops->accept (cpu->backend);
      cuda->ops->accept (cuda->backend);
    } else {
      radius /= 4;
    }
  }
  g_assert_true (
      cpu->ops->linearize (cpu->backend, &cost[0], &gradient[0], NULL));
  g_assert_true (
      cuda->ops->linearize (cuda->backend, &cost[1], &gradient[1], NULL));
  solver_read (cpu);
  solver_read (cuda);
  compare_sensors (p, cpu, cuda);
  for (gsize c = 0; c < count_poses (p); c++)
    for (guint k = 0; k < 6; k++)
      assert_near ("block", 4, cuda->blocks[45 * c + (17 - k) * k / 2 + k],
          cpu->blocks[45 * c + (17 - k) * k / 2 + k], 1e-6);
  for (guint i = 0; i < p->n_lenses; i++)
    assert_near ("focal length", 4, cuda->lenses[i].parameters[0],
        cpu->lenses[i].parameters[0], 1e-7);
  return n;
}

/* Returns: FALSE after the last case */
gboolean
run_case (guint number)
{
  BundleConfig config;
  g_autoptr (BundleProblem) p = bundle_lens_case (number, &config, &case_name);
  g_autofree guint16 *constant = NULL;
  Solver cpu, cuda;
  BundleStart start = {};

  if (p == NULL)
    return FALSE;
  constant = g_new (guint16, count_poses (p));
  for (guint i = 0; i < count_poses (p); i++)
    constant[i] = (p->frames            ? p->frame_constant[i]
                   : p->camera_constant ? p->camera_constant[i]
                                        : 0)
                  | BUNDLE_CAMERA_INTRINSICS;
  start.problem = p;
  start.camera_constant = constant;
  start.solver = BUNDLE_SOLVER_ITERATIVE;
  config.threads = 1;
  config.eta = 0.1;
  solver_init (&cpu, &bundle_backend_cpu, &start, &config);
  solver_init (&cuda, &bundle_backend_cuda_lenses, &start, &config);
  g_print ("%s: %u conjugate gradient iterations agree\n", case_name,
      compare_solvers (p, &cpu, &cuda));
  solver_clear (&cpu);
  solver_clear (&cuda);
  return TRUE;
}

} // namespace

int
main (int argc, char **argv)
{
  const guint first = argc > 1 ? (guint) atoi (argv[1]) : 0;
  const guint last = argc > 2 ? (guint) atoi (argv[2]) : G_MAXUINT;

  for (guint i = first; i <= last && run_case (i); i++)
    continue;
  return 0;
}
