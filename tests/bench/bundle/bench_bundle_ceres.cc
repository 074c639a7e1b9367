/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* bench_bundle_ceres THREADS RUNS [PROBLEM...]: the problems of bench_bundle by the
 * Ceres Solver, ITERATIVE_SCHUR with SCHUR_JACOBI and CLUSTER_JACOBI, and
 * SPARSE_SCHUR. With RUNS below 0: the cost against time, as bench_bundle --history
 * prints it. A PROBLEM opencv:IMAGES:OBSERVATIONS is that of bench_bundle_lenses. */
#include <ceres/ceres.h>
#include <ceres/rotation.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "bundledata.h"
#include "lensscenes.h"

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

/* A camera of COLMAP's model OPENCV, whose lens is a parameter block of its own */
struct Opencv {
  double x, y;

  template <typename T>
  bool
  operator() (
      const T *camera, const T *lens, const T *point, T *residual) const
  {
    T p[3];

    ceres::AngleAxisRotatePoint (camera, point, p);
    for (int i = 0; i < 3; i++)
      p[i] += camera[3 + i];
    const T u = -p[0] / p[2], v = p[1] / p[2];
    const T uu = u * u, vv = v * v, uv = u * v, n = uu + vv;
    const T radial = lens[4] * n + lens[5] * n * n;

    residual[0] = lens[0]
                      * (u + u * radial + 2. * lens[6] * uv
                          + lens[7] * (n + 2. * uu))
                  + lens[2] - x;
    residual[1] = lens[1]
                      * (v + v * radial + 2. * lens[7] * uv
                          + lens[6] * (n + 2. * vv))
                  + lens[3] - y;
    return true;
  }
};

/* Adds observation @i to @problem. The points are eliminated first. */
static void
add_residual (ceres::Problem &problem, ceres::ParameterBlockOrdering &order,
    BundleProblem *data, gsize i)
{
  double *camera = data->cameras + 9 * (gsize) data->camera_of[i];
  double *point = data->points + 3 * (gsize) data->point_of[i];
  const double x = data->observed[2 * i], y = data->observed[2 * i + 1];

  order.AddElementToGroup (point, 0);
  order.AddElementToGroup (camera, 1);
  if (data->lenses == nullptr) {
    problem.AddResidualBlock (
        new ceres::AutoDiffCostFunction<Reprojection, 2, 9, 3> (
            new Reprojection{ x, y }),
        nullptr, camera, point);
    return;
  }
  double *lens = data->lenses[data->lens_of[data->camera_of[i]]].parameters;

  order.AddElementToGroup (lens, 1);
  problem.AddResidualBlock (new ceres::AutoDiffCostFunction<Opencv, 2, 6, 8, 3> (
                                new Opencv{ x, y }),
      nullptr, camera, lens, point);
}

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

    auto order = std::make_shared<ceres::ParameterBlockOrdering> ();

    for (gsize i = 0; i < copy->n_observations; i++)
      add_residual (problem, *order, copy, i);
    if (copy->lenses) { /* until the cost is within 1e-6 of the lowest */
      options.linear_solver_ordering = order;
      options.function_tolerance = 1e-8;
      options.max_solver_time_in_seconds = 250;
    }
    options.linear_solver_type = linear;
    options.preconditioner_type = preconditioner;
    options.num_threads = threads;
    options.max_num_iterations = 50;
    options.logging_type = ceres::SILENT;
    ceres::Solve (options, &problem, &summary);
    if (run == 0 || summary.total_time_in_seconds < best.total_time_in_seconds)
      best = summary;
  }
  if (data->lenses)
    for (const auto &iteration : best.iterations)
      std::printf ("history %s %.6f %.15e\n", name,
          iteration.cumulative_time_in_seconds, iteration.cost);
  else if (runs < 0) {
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
    g_autoptr (BundleProblem) problem =
        g_str_has_prefix (name, "opencv:") ? bundle_lens_simulate (name) : NULL;

    if (problem == nullptr)
      problem = bundle_data_load (name, &why);
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
