/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The interface of the bundle adjustment's backends. Private to the library.
 *
 * engine.c controls Levenberg-Marquardt: acceptance of steps, radius,
 * stopping. A backend holds the state (cameras, points), its linearisation
 * and a candidate, and solves for steps; only scalars are exchanged with the
 * host, twice in each iteration. */
#pragma once

#include "cuda/bundle/engine.h"
#include "cuda/core/threadpool.h"

G_BEGIN_DECLS

typedef struct _BundleBackend BundleBackend;

/**
 * BundleStart: initial state for a backend. All of it stays valid until
 * create() has returned, and @problem until destroy()
 * @problem: in the frame of frame.h; read-only
 * @camera_constant: n_cameras masks of BUNDLE_CAMERA_ALL that include the
 *   settings fix_intrinsics and fix_first_camera; used instead of @problem's. Of each
 *   frame if @problem has frames, which then are what "cameras" are below
 * @shared: the intrinsics of camera 0 are those of all cameras.
 *   @camera_constant marks them as constant for the other cameras, and they
 *   are equal at the start: sums over the observations of all cameras go to
 *   camera 0's unknowns, whose steps apply to all
 * @solver: the CUDA backends have BUNDLE_SOLVER_ITERATIVE only
 */
typedef struct {
  const BundleProblem *problem;
  const guint16 *camera_constant;
  gboolean shared;
  BundleSolver solver;
} BundleStart;

/**
 * BundleStep: result of solving for a step
 * @pcg_iterations: number of conjugate gradient iterations; 0: direct
 * @model_decrease: decrease of the cost predicted by the linearised problem
 * @cost: of the candidate; may be infinite or NaN
 * @step_norm, @state_norm: of the step and of the state in all unknowns, as
 *   bundle_add_squares() measures cameras
 * @cancelled: @progress cancelled; the other fields are not set
 */
typedef struct {
  guint pcg_iterations;
  gdouble model_decrease;
  gdouble cost;
  gdouble step_norm;
  gdouble state_norm;
  gboolean cancelled;
} BundleStep;

typedef struct {
  const gchar *name;
  BundleBackend *(*create) (const BundleStart *start,
      const BundleConfig *config, CvisContext *context, GError **error);
  void (*destroy) (BundleBackend *backend); /* nullable */
  /* Computes residuals, derivatives and their sums at the state; the first
   * call also sets the column scales.
   * @gradient: as in BundleIteration */
  gboolean (*linearize) (
      BundleBackend *backend, gdouble *cost, gdouble *gradient, GError **error);
  /* Computes the candidate: state + step for this radius. @progress
   * (nullable) is called with %NULL between groups of conjugate gradient
   * iterations. */
  gboolean (*step) (BundleBackend *backend, gdouble radius,
      BundleProgress progress, gpointer user_data, BundleStep *step,
      GError **error);
  /* Makes the candidate the state. */
  void (*accept) (BundleBackend *backend);
  /* Reads the state, and the cameras' blocks of the normal equations of the
   * last linearisation (CUDA, with lenses: of the state, with its weights), multiplied
   * by the column scales on both sides.
   * @blocks: n_cameras * 45: rows of the upper triangle; elements of
   *   constant parameters are undefined. With shared intrinsics those of
   *   camera 0 are sums. */
  gboolean (*read) (BundleBackend *backend, gdouble *cameras, gdouble *points,
      gdouble *blocks, GError **error);
  /* Sets the parameters of the lenses and the poses of the sensors (nullable) to the
   * state; %NULL: the backend has cameras of BAL only. */
  gboolean (*read_lenses) (BundleBackend *backend, BundleLens *lenses,
      BundleSensor *sensors, GError **error);
  /* Largest amount of device memory used so far, bytes; 0 on the CPU. */
  gsize (*get_bytes) (BundleBackend *backend);
  /* nullable: whether steps solve the damped equations of lenses exactly */
  gboolean (*is_exact) (BundleBackend *backend);
} BundleBackendOps;

/* direct.c: chooses start->solver from the other fields; not AUTO. */
BundleSolver bundle_choose_solver (
    const BundleStart *start, const BundleConfig *config);

/* errors.c: sets n_behind, first_behind and n_rejected. */
void bundle_count_doubtful (const BundleProblem *problem,
    const BundleConfig *config, CvisPool *pool, BundleSummary *summary);

extern const BundleBackendOps bundle_backend_cpu;
/* Only where CUDA is built: for cameras of BAL, and for those with lenses */
extern const BundleBackendOps bundle_backend_cuda, bundle_backend_cuda_lenses;

G_END_DECLS
