/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* bench_bundle_ceres THREADS RUNS [PROBLEM...]: the problems of bench_bundle by the
 * Ceres Solver, ITERATIVE_SCHUR with SCHUR_JACOBI and CLUSTER_JACOBI, and
 * SPARSE_SCHUR. With RUNS below 0: the cost against time, as bench_bundle --history
 * prints it. */
#include <ceres/ceres.h>
#include <ceres/rotation.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "bundledata.h"

struct Reprojection {
  double x, y;

  template <typename T>
  bool
  operator() (const T *camera, const T *point, T *residual) const
  {
    T p[3];

    ceres::AngleAxisRotatePoint (camera, point, p);
    for (int i = 0; i < 3; i++)
      p[i] += camera[3 + i];
    T u = -p[0] / p[2], v = -p[1] / p[2], n = u * u + v * v;
    T scale = camera[6] * (1. + n * (camera[7] + n * camera[8]));
    residual[0] = scale * u - x;
    residual[1] = scale * v - y;
    return true;
  }
};

static void
run_ceres (const BundleProblem *data, const char *problem_name,
    const char *name, ceres::LinearSolverType linear, ceres::PreconditionerType preconditioner,
    int threads, int runs)
{
  ceres::Solver::Summary best;

  for (int run = 0; run < std::abs (runs); run++) {
    g_autoptr (BundleProblem) copy = bundle_problem_copy (data, NULL);
    ceres::Problem problem;
    ceres::Solver::Options options;
    ceres::Solver::Summary summary;

    for (gsize i = 0; i < copy->n_observations; i++)
      problem.AddResidualBlock (
          new ceres::AutoDiffCostFunction<Reprojection, 2, 9, 3> (
              new Reprojection{
                  copy->observed[2 * i], copy->observed[2 * i + 1] }),
          nullptr, copy->cameras + 9 * (gsize) copy->camera_of[i],
          copy->points + 3 * (gsize) copy->point_of[i]);
    options.linear_solver_type = linear;
    options.preconditioner_type = preconditioner;
    options.num_threads = threads;
    options.max_num_iterations = 50;
    options.logging_type = ceres::SILENT;
    ceres::Solve (options, &problem, &summary);
    if (run == 0 || summary.total_time_in_seconds < best.total_time_in_seconds)
      best = summary;
  }
  if (runs < 0) {
    std::vector<double> seconds, costs;

    for (const auto &iteration : best.iterations) {
      seconds.push_back (iteration.cumulative_time_in_seconds);
      costs.push_back (iteration.cost);
    }
    bundle_data_print_history (
        problem_name, name, seconds.data (), costs.data (), costs.size ());
    return;
  }
  int pcg = 0;
  for (const auto &iteration : best.iterations)
    pcg += linear == ceres::ITERATIVE_SCHUR ? iteration.linear_solver_iterations
                                            : 0;
  std::printf ("%-29s %18.11e %18.11e %4zu %6d %9.4f\n", name,
      best.initial_cost, best.final_cost, best.iterations.size () - 1, pcg,
      best.total_time_in_seconds);
}

int
main (int argc, char **argv)
{
  int threads = argc > 1 ? std::atoi (argv[1]) : 2;
  int runs = argc > 2 ? std::atoi (argv[2]) : 5;
  std::vector<const char *> names (argv + (argc > 3 ? 3 : argc), argv + argc);

  if (names.empty ())
    names = { "problem-16-22106-pre", "problem-21-11315-pre",
      "problem-49-7776-pre" };
  for (const char *name : names) {
    const char *why = nullptr;
    g_autoptr (BundleProblem) problem = bundle_data_load (name, &why);

    if (problem == nullptr) {
      std::printf ("%s: skipped: %s\n", name, why);
      continue;
    }
    if (runs > 0)
      std::printf (
          "%s, Ceres %s, %d threads\n", name, CERES_VERSION_STRING, threads);
    run_ceres (problem, name, "Ceres ITERATIVE SCHUR_JACOBI", ceres::ITERATIVE_SCHUR,
        ceres::SCHUR_JACOBI, threads, runs);
    run_ceres (problem, name, "Ceres ITERATIVE CLUSTER", ceres::ITERATIVE_SCHUR,
        ceres::CLUSTER_JACOBI, threads, runs);
    run_ceres (problem, name, "Ceres SPARSE_SCHUR", ceres::SPARSE_SCHUR,
        ceres::JACOBI, threads, runs);
  }
  return 0;
}
