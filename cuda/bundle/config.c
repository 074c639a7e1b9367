/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/bundle/engine.h"

void
bundle_config_init (BundleConfig *config)
{
  *config = (BundleConfig){
    .max_iterations = 50,
    .max_pcg_iterations = 500,
    .eta = 0.1,
    .function_tolerance = 1e-6,
    .parameter_tolerance = 1e-8,
    .gradient_tolerance = 1e-10,
    .preconditioner = BUNDLE_PRECONDITIONER_SCHUR_JACOBI,
    .loss = BUNDLE_LOSS_NONE,
    .loss_scale = 1,
    .initial_radius = 1e4,
  };
}

const gchar *
bundle_stop_name (BundleStop stop)
{
  static const gchar *const names[] = { "function-tolerance",
    "parameter-tolerance", "gradient-tolerance", "max-iterations", "radius",
    "cancelled" };

  return names[stop];
}

gboolean
bundle_config_check (const BundleConfig *config, GError **error)
{
  if (config->shared_intrinsics && !config->fix_intrinsics
      && config->solver == BUNDLE_SOLVER_DIRECT_POINTS)
    return cvis_refuse (
        error, "cameras with shared intrinsics cannot be eliminated");
  return cvis_check_range (
             "solver", config->solver, 0, BUNDLE_SOLVER_DIRECT_POINTS, error)
         && cvis_check_range (
             "max-iterations", config->max_iterations, 0, 10000, error)
         && cvis_check_range (
             "max-pcg-iterations", config->max_pcg_iterations, 1, 10000, error)
         && cvis_check_range ("eta", config->eta, 1e-16, 1, error)
         && cvis_check_range (
             "function-tolerance", config->function_tolerance, 0, 1, error)
         && cvis_check_range (
             "parameter-tolerance", config->parameter_tolerance, 0, 1, error)
         && cvis_check_range ("gradient-tolerance", config->gradient_tolerance,
             0, G_MAXDOUBLE, error)
         && cvis_check_range ("preconditioner", config->preconditioner, 0,
             BUNDLE_PRECONDITIONER_CLUSTER, error)
         && cvis_check_range (
             "loss", config->loss, 0, BUNDLE_LOSS_SOFT_L1, error)
         && cvis_check_range (
             "loss-scale", config->loss_scale, 1e-150, 1e150, error)
         && cvis_check_range (
             "initial-radius", config->initial_radius, 1e-30, 1e16, error)
         && cvis_check_range ("threads", config->threads, 0, 4096, error);
}
