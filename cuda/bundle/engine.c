/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Control of Levenberg-Marquardt, shared by the backends: Ceres's trust
 * region minimizer with its defaults. */
#include "cuda/bundle/engine.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/bundle/arithmetic.h"
#include "cuda/bundle/backend.h"
#include "cuda/bundle/frame.h"
#include "cuda/core/cancel.h"
#include "cuda/core/histogram.h"
#include "cuda/core/memory.h"

#define MIN_RELATIVE_DECREASE 1e-3
/* The first step has this times the initial radius if it is solved exactly, and is taken
 * only if its decrease is at least this part of the model's: a reconstruction that is
 * nearly adjusted needs half the steps then. */
#define FIRST_RADIUS 100
#define FIRST_RELATIVE_DECREASE 0.99
#define MIN_RADIUS 1e-32
#define MAX_RADIUS 1e16
#define MAX_INVALID 5 /* consecutive steps without a decrease of the model */
#define TRIANGLE 45
/* A pivot of a camera's block, scaled to a unit diagonal, below this means
 * that the block is rank-deficient: the square of single precision, because
 * the block is a square. */
#define DEFICIENT_PIVOT 1e-13

/* Memory of a solve besides the problem; the first two become the result. Cameras are
 * the problem's frames if it has some. */
typedef struct {
  gdouble *cameras, *points; /* in the frame */
  BundleLens *lenses;        /* nullable */
  BundlePrior *priors;       /* nullable */
  BundleSensor *sensors;     /* nullable */
  BundleFrame frame;
  CvisPool *pool;
  guint16 *constant;
  gdouble *blocks;
  gboolean shared;
} Work;

static void
work_clear (Work *work)
{
  free (work->cameras);
  free (work->points);
  free (work->lenses);
  free (work->priors);
  free (work->sensors);
  free (work->constant);
  free (work->blocks);
  cvis_pool_free (work->pool);
}

/* Sets all cameras to the mean intrinsics; those of camera 0 are the
 * unknowns. */
static void
share_intrinsics (const BundleProblem *problem, Work *work)
{
  guint16 fixed = 0;
  gdouble sums[3] = { 0 };

  for (gsize i = 0; i < problem->n_cameras; i++) {
    fixed |= work->constant[i] & BUNDLE_CAMERA_INTRINSICS;
    for (guint k = 0; k < 3; k++)
      sums[k] += work->cameras[9 * i + BUNDLE_CAMERA_FOCAL + k];
  }
  for (gsize i = 0; i < problem->n_cameras; i++) {
    work->constant[i] |= i == 0 ? fixed : BUNDLE_CAMERA_INTRINSICS;
    for (guint k = 0; k < 3; k++)
      work->cameras[9 * i + BUNDLE_CAMERA_FOCAL + k] =
          sums[k] / problem->n_cameras;
  }
  work->shared = TRUE;
}

/* Lenses replace the cameras' intrinsics, and say which cameras share them. */
static gboolean
copy_lenses (Work *work, const BundleProblem *problem,
    const BundleConfig *config, GError **error)
{
  const gsize size = problem->n_lenses * sizeof (BundleLens);

  if (problem->lenses == NULL)
    return TRUE;
  if (config->shared_intrinsics)
    return cvis_refuse (error,
        "shared-intrinsics is for cameras of BAL; here the model says which "
        "images share a camera");
  if (config->solver > BUNDLE_SOLVER_ITERATIVE
      || config->preconditioner != BUNDLE_PRECONDITIONER_SCHUR_JACOBI)
    return cvis_refuse (error,
        "camera models of COLMAP need the solver iterative and the "
        "preconditioner schur-jacobi");
  work->lenses = cvis_memory_new (size, FALSE, error);
  if (work->lenses == NULL)
    return FALSE;
  memcpy (work->lenses, problem->lenses, size);
  for (guint i = 0; config->fix_intrinsics && i < problem->n_lenses; i++)
    work->lenses[i].constant = (1 << BUNDLE_LENS_SIZE) - 1;
  return TRUE;
}

/* @problem with its frames as cameras, if it has some */
static BundleProblem
get_moving (const BundleProblem *problem)
{
  BundleProblem moving = *problem;

  if (problem->frames) {
    moving.n_cameras = problem->n_frames;
    moving.cameras = problem->frames;
    moving.camera_constant = problem->frame_constant;
  }
  return moving;
}

/* Priors and sensors in the frame */
static gboolean
enter_others (Work *work, const BundleProblem *problem, GError **error)
{
  if (problem->priors) {
    work->priors = cvis_memory_new (
        problem->n_priors * sizeof *work->priors, FALSE, error);
    if (work->priors == NULL)
      return FALSE;
    bundle_frame_enter_priors (&work->frame, problem, work->priors);
  }
  if (problem->sensors) {
    work->sensors = cvis_memory_new (
        problem->n_lenses * sizeof *work->sensors, FALSE, error);
    if (work->sensors == NULL)
      return FALSE;
    bundle_frame_enter_sensors (&work->frame, problem, work->sensors);
  }
  return TRUE;
}

/* @work: zeros; work_clear() is needed in any case */
static gboolean
work_init (Work *work, BundleProblem *problem, const BundleConfig *config,
    GError **error)
{
  const BundleProblem moving = get_moving (problem);
  gsize n = moving.n_cameras;

  if (problem->frames)
    bundle_problem_place_cameras (problem);
  work->pool = cvis_pool_new (config->threads);
  if (!bundle_frame_init (&work->frame, problem, work->pool, error))
    return FALSE;
  work->cameras = cvis_memory_new (n * 9 * sizeof (gdouble), FALSE, error);
  if (work->cameras)
    work->points = cvis_memory_new (
        (gsize) problem->n_points * 3 * sizeof (gdouble), FALSE, error);
  if (work->points)
    work->constant = cvis_memory_new (n * sizeof (guint16), TRUE, error);
  if (work->constant)
    work->blocks =
        cvis_memory_new (n * TRIANGLE * sizeof (gdouble), FALSE, error);
  if (work->blocks == NULL || !copy_lenses (work, problem, config, error))
    return FALSE;
  bundle_frame_enter (
      &work->frame, &moving, work->pool, work->cameras, work->points);
  if (cvis_cancelled ())
    return cvis_refuse_cancelled (error);
  if (!enter_others (work, problem, error))
    return FALSE;
  for (gsize i = 0; i < n; i++) {
    if (moving.camera_constant)
      work->constant[i] = moving.camera_constant[i] & BUNDLE_CAMERA_ALL;
    if (config->fix_intrinsics || problem->lenses)
      work->constant[i] |= BUNDLE_CAMERA_INTRINSICS;
  }
  if (config->fix_first_camera)
    work->constant[0] |= BUNDLE_CAMERA_ALL & ~BUNDLE_CAMERA_INTRINSICS;
  if (config->shared_intrinsics && !config->fix_intrinsics)
    share_intrinsics (problem, work);
  return TRUE;
}

/* --- rank-deficient cameras ------------------------------------------------------ */

/* Whether a Cholesky factorisation with pivoting of the rows of @block that
 * are not @constant finds a pivot that is rounding noise. */
static gboolean
is_deficient (const gdouble block[TRIANGLE], guint16 constant)
{
  gdouble a[9][9];
  guint rows[9], n = 0;

  for (guint i = 0; i < 9; i++)
    if (!(constant >> i & 1))
      rows[n++] = i;
  for (guint i = 0; i < n; i++)
    for (guint j = 0; j < n; j++) {
      guint r = MIN (rows[i], rows[j]), c = MAX (rows[i], rows[j]);

      a[i][j] = block[r * (17 - r) / 2 + c];
    }
  for (guint i = 0; i < n; i++)
    if (!(a[i][i] > 0))
      return TRUE;
  for (guint i = 0; i < n; i++)
    for (guint j = 0; j < n; j++)
      if (i != j)
        a[i][j] /= sqrt (a[i][i]) * sqrt (a[j][j]);
  for (guint i = 0; i < n; i++)
    a[i][i] = 1;
  for (guint k = 0; k < n; k++) {
    guint best = k;

    for (guint i = k + 1; i < n; i++)
      if (a[i][i] > a[best][best])
        best = i;
    if (!(a[best][best] > DEFICIENT_PIVOT))
      return TRUE;
    for (guint j = 0; j < n; j++) {
      gdouble t = a[k][j];

      a[k][j] = a[best][j];
      a[best][j] = t;
    }
    for (guint i = 0; i < n; i++) {
      gdouble t = a[i][k];

      a[i][k] = a[i][best];
      a[i][best] = t;
    }
    for (guint i = k + 1; i < n; i++)
      for (guint j = k + 1; j < n; j++)
        a[i][j] -= a[i][k] * a[k][j] / a[k][k];
  }
  return FALSE;
}

static void
find_deficient (
    const BundleProblem *problem, const Work *work, BundleSummary *summary)
{
  GArray *found = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint32 i = 0; i < problem->n_cameras; i++) {
    const gsize at = problem->frames ? problem->frame_of[i] : i;

    if (is_deficient (work->blocks + TRIANGLE * at, work->constant[at]))
      g_array_append_val (found, i);
  }
  summary->n_deficient = found->len;
  summary->deficient =
      (guint32 *) g_array_free (found, summary->n_deficient == 0);
}

/* --- Levenberg-Marquardt ------------------------------------------------------------ */

typedef struct {
  const BundleBackendOps *ops;
  BundleBackend *backend;
  const BundleConfig *config;
  BundleProgress progress;
  gpointer user_data;
  guint64 begin;
} Solve;

static gdouble
get_seconds (const Solve *solve)
{
  return (gdouble) (cvis_monotonic_ns () - solve->begin) * 1e-9;
}

/* Returns: FALSE to cancel */
static gboolean
report (const Solve *solve, BundleIteration *iteration)
{
  iteration->seconds = get_seconds (solve);
  return solve->progress == NULL
         || solve->progress (iteration, solve->user_data);
}

/* Returns: FALSE with an error */
static gboolean
minimize (const Solve *solve, BundleSummary *summary, GError **error)
{
  const BundleConfig *config = solve->config;
  const BundleBackendOps *ops = solve->ops;
  BundleIteration it = { .accepted = TRUE, .radius = config->initial_radius };
  gdouble shrink = 2, least = MIN_RELATIVE_DECREASE;
  guint n_invalid = 0;

  if (!ops->linearize (solve->backend, &it.cost, &it.gradient, error))
    return FALSE;
  summary->stop = BUNDLE_STOP_CANCELLED;
  if (cvis_cancelled ())
    return TRUE;
  if (!isfinite (it.cost) || !isfinite (it.gradient))
    return cvis_refuse (error,
        "the cost at the start is not finite: numbers of the cameras or "
        "observations are too large");
  summary->initial_cost = summary->final_cost = it.cost;
  if (!report (solve, &it))
    return TRUE;
  if (it.gradient <= config->gradient_tolerance) {
    summary->stop = BUNDLE_STOP_GRADIENT;
    return TRUE;
  }
  if (ops->is_exact && ops->is_exact (solve->backend)) {
    it.radius = MIN (it.radius * FIRST_RADIUS, MAX_RADIUS);
    least = FIRST_RELATIVE_DECREASE;
  }
  for (;;) {
    BundleStep step;
    gdouble decrease;

    if (it.number >= config->max_iterations) {
      summary->stop = BUNDLE_STOP_ITERATIONS;
      return TRUE;
    }
    if (it.radius <= MIN_RADIUS || n_invalid >= MAX_INVALID) {
      summary->stop = BUNDLE_STOP_RADIUS;
      return TRUE;
    }
    if (!ops->step (solve->backend, it.radius, solve->progress,
            solve->user_data, &step, error))
      return FALSE;
    if (step.cancelled) {
      summary->stop = BUNDLE_STOP_CANCELLED;
      return TRUE;
    }
    it.number++;
    it.pcg_iterations = step.pcg_iterations;
    summary->iterations++;
    summary->pcg_iterations += step.pcg_iterations;
    decrease = isfinite (step.cost) ? it.cost - step.cost : -G_MAXDOUBLE;
    it.accepted = FALSE;
    it.rho = 0;
    if (!(step.model_decrease > 0)) {
      n_invalid++;
    } else {
      gboolean small = step.step_norm
                       <= config->parameter_tolerance
                              * (step.state_norm + config->parameter_tolerance);
      gboolean converged =
          fabs (decrease) <= config->function_tolerance * it.cost;

      n_invalid = 0;
      it.rho = decrease / step.model_decrease;
      it.accepted = it.rho > least;
      if (small || converged) {
        /* Ceres drops this step; here a lower cost is kept */
        it.accepted = decrease > 0;
        if (it.accepted) {
          ops->accept (solve->backend);
          summary->final_cost = it.cost = step.cost;
        }
        summary->stop = small ? BUNDLE_STOP_PARAMETER : BUNDLE_STOP_FUNCTION;
        report (solve, &it);
        return TRUE;
      }
    }
    if (it.accepted) {
      gdouble r = 2 * it.rho - 1;

      ops->accept (solve->backend);
      it.radius = MIN (it.radius / MAX (1. / 3, 1 - r * r * r), MAX_RADIUS);
      shrink = 2;
      summary->final_cost = step.cost;
      if (!ops->linearize (solve->backend, &it.cost, &it.gradient, error))
        return FALSE;
    } else if (least != MIN_RELATIVE_DECREASE) {
      it.radius = config->initial_radius;
    } else {
      it.radius /= shrink;
      shrink *= 2;
    }
    least = MIN_RELATIVE_DECREASE;
    if (cvis_cancelled () || !report (solve, &it)) {
      summary->stop = BUNDLE_STOP_CANCELLED;
      return TRUE;
    }
    if (it.accepted && it.gradient <= config->gradient_tolerance) {
      summary->stop = BUNDLE_STOP_GRADIENT;
      return TRUE;
    }
  }
}

/* Replaces the numbers of @problem by the result. */
static void
leave_frame (BundleProblem *problem, Work *work)
{
  const BundleProblem moving = get_moving (problem);
  gdouble **cameras = problem->frames ? &problem->frames : &problem->cameras;
  gdouble *points = problem->points, *start = *cameras;

  bundle_frame_leave (&work->frame, &moving, work->cameras, work->points);
  *cameras = work->cameras;
  problem->points = work->points;
  work->cameras = start;
  work->points = points;
  if (problem->frames) {
    bundle_frame_leave_sensors (&work->frame, problem, work->sensors);
    memcpy (problem->sensors, work->sensors,
        problem->n_lenses * sizeof *work->sensors);
    bundle_problem_place_cameras (problem);
  }
}

gboolean
bundle_solve (BundleProblem *problem, const BundleConfig *config,
    CvisContext *context, BundleProgress progress, gpointer user_data,
    BundleSummary *summary, GError **error)
{
  const BundleBackendOps *ops = &bundle_backend_cpu;
  Solve solve = { ops, NULL, config, progress, user_data,
    cvis_monotonic_ns () };
  BundleProblem scaled = *problem;
  BundleStart start = { .problem = &scaled };
  Work work = { 0 };
  gboolean done;

  memset (summary, 0, sizeof *summary);
  if (!bundle_config_check (config, error)
      || !bundle_problem_check_state (problem, error))
    return FALSE;
  if (work_init (&work, problem, config, error)) {
    *(scaled.frames ? &scaled.frames : &scaled.cameras) = work.cameras;
    scaled.points = work.points;
    scaled.lenses = work.lenses;
    scaled.priors = work.priors;
    scaled.sensors = work.sensors;
    start.camera_constant = work.constant;
    start.shared = work.shared;
    start.solver = bundle_choose_solver (&start, config);
#ifdef HAVE_CUDA
    if (context != NULL && start.solver == BUNDLE_SOLVER_ITERATIVE)
      solve.ops = ops =
          work.lenses ? &bundle_backend_cuda_lenses : &bundle_backend_cuda;
#endif
    solve.backend = ops->create (&start, config, context, error);
  }
  done = solve.backend != NULL && minimize (&solve, summary, error)
         && ops->read (
             solve.backend, work.cameras, work.points, work.blocks, error)
         && (!work.lenses
             || ops->read_lenses (
                 solve.backend, problem->lenses, work.sensors, error));
  if (done) {
    leave_frame (problem, &work);
    summary->solver = start.solver;
    if (summary->stop != BUNDLE_STOP_CANCELLED) {
      find_deficient (problem, &work, summary);
      bundle_count_doubtful (problem, config, work.pool, summary);
    }
    summary->device_bytes = ops->get_bytes (solve.backend);
  } else {
    memset (summary, 0, sizeof *summary);
    done = cvis_cancelled ();
    if (done) {
      g_clear_error (error);
      summary->stop = BUNDLE_STOP_CANCELLED;
    }
  }
  ops->destroy (solve.backend);
  work_clear (&work);
  if (done)
    summary->seconds = get_seconds (&solve);
  return done;
}

void
bundle_summary_clear (BundleSummary *summary)
{
  g_clear_pointer (&summary->deficient, g_free);
}
