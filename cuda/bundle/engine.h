/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The bundle adjustment engine: cameras and points that minimise the
 * reprojection error, on the CPU or on a CUDA device. Every run of a backend
 * gives the same bits, with any number of threads.
 *
 * Source: P. R. Kommera, S. S. Muknahallipatna, J. E. McInroy, Optimized CUDA
 * Implementation to Improve the Performance of Bundle Adjustment Algorithm
 * on GPUs (J. Software Engineering and Applications 17, 2024). The control of Levenberg-Marquardt's
 * radius and the stopping test of the conjugate gradients are those of the
 * Ceres Solver. The definitions are in docs/design/bundle.md. */
#pragma once

#include "cuda/bundle/problem.h"
#include "cuda/core/backend.h"

G_BEGIN_DECLS

typedef enum {
  BUNDLE_LOSS_NONE, /* rho(s) = s, s = |r|^2 */
  BUNDLE_LOSS_HUBER,
  BUNDLE_LOSS_CAUCHY,
  BUNDLE_LOSS_TUKEY,
  BUNDLE_LOSS_SOFT_L1,
} BundleLoss;

typedef enum {
  BUNDLE_PRECONDITIONER_JACOBI,       /* blocks of U */
  BUNDLE_PRECONDITIONER_SCHUR_JACOBI, /* diagonal blocks of the Schur complement */
  BUNDLE_PRECONDITIONER_CLUSTER,      /* its blocks of clusters of cameras */
} BundlePreconditioner;

/* How a step is computed */
typedef enum {
  BUNDLE_SOLVER_AUTO,      /* chosen by the sizes of the problem */
  BUNDLE_SOLVER_ITERATIVE, /* conjugate gradients on the Schur complement */
  BUNDLE_SOLVER_DIRECT_CAMERAS, /* points are eliminated, the cameras' dense system
                                   is factorised */
  BUNDLE_SOLVER_DIRECT_POINTS, /* cameras are eliminated; not with
                                   shared_intrinsics */
} BundleSolver;

/**
 * BundleConfig: set up with bundle_config_init(), then changed
 * @max_iterations: of Levenberg-Marquardt, 0..10000; 0 only computes the
 *   cost
 * @max_pcg_iterations: conjugate gradient iterations in each of these,
 *   1..10000 (500)
 * @eta: the conjugate gradients stop when the quadratic model gains less
 *   than this share of its mean gain for each iteration, 1e-16..1
 * @function_tolerance, @parameter_tolerance, @gradient_tolerance: stop when
 *   the relative change of the cost, the relative step, or the largest
 *   element of the gradient is below
 * @solver: auto chooses a direct one for small problems if @preconditioner is the
 *   default. A direct one computes on the CPU with any backend; settings of the
 *   conjugate gradients have no effect then. With lenses the CPU backend factorises the
 *   sparse Schur complement where that takes less time
 * @loss_scale: of the robust loss, pixels, above 0
 * @fix_intrinsics: focal length, k1, k2 are constant
 * @shared_intrinsics: all cameras have the same intrinsics; the start is the
 *   mean. Intrinsics that are constant for one camera are constant for all.
 *   No effect with @fix_intrinsics
 * @fix_first_camera: rotation and translation of camera 0 are constant
 * @initial_radius: of the trust region (1e4). The first step has 100 times as much if it
 *   has lenses and is factorised
 * @threads: of the CPU backend; 0: one per processor
 */
typedef struct {
  guint max_iterations;
  guint max_pcg_iterations;
  gdouble eta;
  gdouble function_tolerance;
  gdouble parameter_tolerance;
  gdouble gradient_tolerance;
  BundleSolver solver;
  BundlePreconditioner preconditioner;
  BundleLoss loss;
  gdouble loss_scale;
  gboolean fix_intrinsics;
  gboolean shared_intrinsics;
  gboolean fix_first_camera;
  gdouble initial_radius;
  guint threads;
} BundleConfig;

void bundle_config_init (BundleConfig *config);
/* Returns: FALSE with CVIS_ERROR_INVALID naming the first field out of range. */
gboolean bundle_config_check (const BundleConfig *config, GError **error);

/**
 * BundleIteration: one step of Levenberg-Marquardt
 * @number: 0 is the start, without a step
 * @accepted: whether the step was accepted
 * @cost: after it: 1/2 sum of |r|^2, or of rho(|r|^2)
 * @rho: decrease of the cost divided by that of the model
 * @radius: of the trust region, after the step
 * @gradient: largest absolute value of an element by a camera's parameters, or
 *   length by a point; in the frame of the engine
 * @pcg_iterations: of this step
 * @seconds: since the start
 */
typedef struct {
  guint number;
  gboolean accepted;
  gdouble cost;
  gdouble rho;
  gdouble radius;
  gdouble gradient;
  guint pcg_iterations;
  gdouble seconds;
} BundleIteration;

typedef enum {
  BUNDLE_STOP_FUNCTION,   /* function_tolerance reached */
  BUNDLE_STOP_PARAMETER,  /* parameter_tolerance reached */
  BUNDLE_STOP_GRADIENT,   /* gradient_tolerance reached */
  BUNDLE_STOP_ITERATIONS, /* max_iterations done */
  BUNDLE_STOP_RADIUS,     /* no step of any length lowers the cost */
  BUNDLE_STOP_CANCELLED,
} BundleStop;

/* "function-tolerance" and so on */
const gchar *bundle_stop_name (BundleStop stop);

/**
 * BundleSummary: the result of a solve, with the counts that are reported to users; these
 * are 0 after a cancellation
 * @initial_cost, @final_cost: as in BundleIteration
 * @iterations: of Levenberg-Marquardt, including rejected ones
 * @pcg_iterations: total; 0 with a direct solver
 * @solver: the one that was used
 * @n_deficient: number of cameras whose 9 x 9 block, with frames that of their frame, is
 *   rank-deficient at the solution; they stay in the problem
 * @deficient: (nullable) (array length=n_deficient): indices of these
 *   cameras; g_free()
 * @n_behind: number of observations whose point lies behind the camera at the
 *   solution: P.z has the sign of the focal length
 * @first_behind: the first of them: index of the observation
 * @n_rejected: number of observations whose reprojection error at the solution is
 *   above @loss_scale, so that a robust loss reduces their weight (tukey: to 0); 0
 *   without a loss
 * @seconds: time of the solver
 * @device_bytes: largest amount of device memory in use; 0 on the CPU
 */
typedef struct {
  gdouble initial_cost;
  gdouble final_cost;
  guint iterations;
  guint pcg_iterations;
  BundleSolver solver;
  BundleStop stop;
  guint n_deficient;
  guint32 *deficient;
  gsize n_behind, first_behind;
  gsize n_rejected;
  gdouble seconds;
  gsize device_bytes;
} BundleSummary;

void bundle_summary_clear (BundleSummary *summary);

/* Called in the solving thread after each iteration and, with %NULL, between
 * conjugate gradient iterations (on a CUDA device, between groups of them).
 * Returns: FALSE to cancel */
typedef gboolean (*BundleProgress) (
    const BundleIteration *iteration, gpointer user_data);

/* Adjusts @problem in place. The steps, the tolerances and the final cost do not
 * depend on the position, rotation and scale of the scene: the engine works in a
 * frame of its own (frame.h). It is cancelled by @progress or by the flag that the
 * calling thread watches (cuda/core/cancel.h); then @problem has the best state so
 * far.
 * @context: (nullable): of a CUDA device; %NULL: the CPU
 * @progress: (nullable)
 * @summary: (out): free with bundle_summary_clear()
 * Returns: FALSE with CVIS_ERROR_INVALID (settings, problem), _MEMORY or
 * _CUDA; @problem is then unchanged. An observation whose point lies in the plane
 * of the camera is an error that names observation, point and camera */
gboolean bundle_solve (BundleProblem *problem, const BundleConfig *config,
    CvisContext *context, BundleProgress progress, gpointer user_data,
    BundleSummary *summary, GError **error);

/* Reprojection errors in pixels; the same bits with any number of threads. After a
 * cancellation the rest is not set.
 * @threads: 0: one per processor
 * @of_observations: (nullable): n_observations lengths |r|
 * @of_points: (nullable): n_points means of them; 0 for unobserved points */
void bundle_reprojection_errors (const BundleProblem *problem, guint threads,
    gdouble *of_observations, gdouble *of_points);

/* Covariances of the cameras at the state of @problem, in its units: the diagonal
 * 9 x 9 blocks of the inverse of the Schur complement, times sigma0^2, the a
 * posteriori variance of unit weight: sum of rho'(|r|^2) |r|^2, divided by twice the
 * number of observations minus the number of unknowns. Divide by it for the
 * covariances of observations with a standard deviation of 1 pixel.
 * @covariances: n_cameras * 81; zeros for parameters that are constant
 * Returns: FALSE with CVIS_ERROR_INVALID where the problem is too large for a
 *   dense factorisation (more than 2000 cameras) or has no unique solution,
 *   CVIS_ERROR_MEMORY or CVIS_ERROR_CANCELLED */
gboolean bundle_covariances (const BundleProblem *problem,
    const BundleConfig *config, gdouble *covariances, GError **error);

G_END_DECLS
