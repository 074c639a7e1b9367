/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The interface of the bundle adjustment's backends. Private to the library.
 *
 * engine.c has the control of Levenberg-Marquardt: which steps are taken, the
 * radius, the stops. A backend holds the state (cameras, points), its
 * linearisation and a candidate, and solves for steps; two numbers-only
 * exchanges with the host an iteration. */
#pragma once

#include "cuda/bundle/engine.h"

G_BEGIN_DECLS

typedef struct _BundleBackend BundleBackend;

/**
 * BundleStart: where a backend starts. All of it stays valid until create()
 * has returned, and @problem until destroy().
 * @problem: observations and points; not to be changed
 * @cameras: to be used instead of those of @problem
 * @camera_constant: n_cameras masks of BUNDLE_CAMERA_ALL with the settings
 *   (fix_intrinsics, fix_first_camera) worked in; used instead of @problem's
 * @shared: the intrinsics of camera 0 are those of all cameras. They are
 *   constant in @camera_constant for the others, and equal at the start: sums
 *   over observations of all cameras go to camera 0's unknowns, its steps are
 *   applied to all.
 */
typedef struct {
  const BundleProblem *problem;
  const gdouble *cameras;
  const guint16 *camera_constant;
  gboolean shared;
} BundleStart;

/**
 * BundleStep: a step that was solved for
 * @pcg_iterations: taken
 * @model_decrease: by how much the linearised problem's cost falls
 * @cost: of the candidate; may be infinite or not a number
 * @step_norm: of the step in all unknowns
 * @state_norm: of the state
 * @cancelled: @progress said so; the rest is not set
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
  /* Residuals, derivatives and their sums at the state; the first call also
   * sets the column scales.
   * @gradient: greatest absolute value of an element */
  gboolean (*linearize) (
      BundleBackend *backend, gdouble *cost, gdouble *gradient, GError **error);
  /* The candidate: state + step for this radius. @progress (nullable) is called
   * with %NULL between groups of conjugate gradient iterations. */
  gboolean (*step) (BundleBackend *backend, gdouble radius,
      BundleProgress progress, gpointer user_data, BundleStep *step,
      GError **error);
  /* The candidate becomes the state. */
  void (*accept) (BundleBackend *backend);
  /* The state, and the cameras' blocks of the normal equations of the last
   * linearisation, times the column scales on both sides.
   * @blocks: n_cameras * 45: rows of the upper triangle; those of constant
   *   parameters are not looked at. With shared intrinsics those of camera 0
   *   are sums. */
  gboolean (*read) (BundleBackend *backend, gdouble *cameras, gdouble *points,
      gdouble *blocks, GError **error);
  /* Greatest device memory in use so far; 0 on the CPU. */
  gsize (*get_bytes) (BundleBackend *backend);
} BundleBackendOps;

extern const BundleBackendOps bundle_backend_cpu;
extern const BundleBackendOps
    bundle_backend_cuda; /* only where CUDA is built */

G_END_DECLS
