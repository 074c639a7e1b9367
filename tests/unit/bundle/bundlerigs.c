/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The solver with rigs of several sensors: derivatives against complex steps, recovered
 * poses of sensors, constant parameters, frames without some sensors, priors of positions,
 * and both ways to solve for a step. */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/bundle/cpu/lenses.h"
#include "lensscenes.h"

static BundleSummary
solve_rig (BundleProblem *problem, const BundleConfig *config)
{
  GError *error = NULL;
  BundleSummary summary;

  bundle_solve (problem, config, NULL, NULL, NULL, &summary, &error);
  g_assert_no_error (error);
  return summary;
}

static void
init_rig_config (BundleConfig *config, BundleSolver solver)
{
  bundle_config_init (config);
  config->max_iterations = 100;
  config->function_tolerance = 1e-12;
  config->parameter_tolerance = 0;
  config->eta = 1e-6;
  config->max_pcg_iterations = 2000;
  config->solver = solver;
  config->threads = 1;
}

/* @n lenses of OPENCV whose principal points are constant */
static void
make_rig_lenses (BundleLens *lenses, guint n)
{
  for (guint i = 0; i < n; i++) {
    lenses[i] = bundle_lens_example (BUNDLE_LENS_OPENCV);
    lenses[i].constant = 0xc;
    lenses[i].parameters[1] += 10 * i;
  }
}

/* --- derivatives ------------------------------------------------------------------- */

typedef double complex Complex;

/* y = x after the step @v: turned by the first three, which are small, and moved */
static void
step_complex (const Complex v[6], const Complex x[3], Complex y[3])
{
  for (guint i = 0; i < 3; i++) {
    const guint j = (i + 1) % 3, k = (i + 2) % 3;

    y[i] = x[i] + v[j] * x[k] - v[k] * x[j] + v[3 + i];
  }
}

static void
place_complex (const gdouble *pose, const Complex x[3], Complex y[3])
{
  BundleConstants c;

  bundle_constants (pose, &c);
  for (guint i = 0; i < 3; i++)
    y[i] = c.r[3 * i] * x[0] + c.r[3 * i + 1] * x[1] + c.r[3 * i + 2] * x[2]
           + c.t[i];
}

/* The image of a pinhole camera. @v: steps of frame, sensor and point */
static void
see_complex (
    const BundleProblem *p, gsize i, const Complex v[15], Complex image[2])
{
  const guint32 camera = p->camera_of[i], lens = p->lens_of[camera];
  const gdouble *f = p->lenses[lens].parameters;
  Complex x[3], y[3], z[3];

  for (guint k = 0; k < 3; k++)
    x[k] = p->points[3 * (gsize) p->point_of[i] + k] + v[12 + k];
  place_complex (p->frames + 9 * (gsize) p->frame_of[camera], x, y);
  step_complex (v, y, z);
  place_complex (p->sensors[lens].pose, z, y);
  step_complex (v + 6, y, z);
  image[0] = f[2] - f[0] * z[0] / z[2];
  image[1] = f[3] + f[1] * z[1] / z[2];
}

static void
check_number (gdouble value, gdouble expected, gdouble scale)
{
  if (!(fabs (value - expected) <= 1e-12 * scale))
    g_error ("derivative %.15g, expected %.15g", value, expected);
}

/* The stored rows of slot @k of a segment against complex steps of observation @i */
static void
check_rows (const BundleBackend *b, const BundleProblem *p,
    const BundleSegment *s, guint k, gsize i)
{
  const BundleCpuLenses *l = b->lenses;
  const BundleCpuLens *lens = bundle_lenses_of_image (l, s->image);
  const gdouble *rows =
      l->rows + l->rows_of[s - b->segments]
      + k / BUNDLE_LANES * BUNDLE_LANES * BUNDLE_LENS_ROWS (lens->n)
      + k % BUNDLE_LANES;
  const BundleConstants *c = &b->constants[s->camera];

  for (guint row = 0; row < 2; row++) {
    const gdouble a[3] = { rows[3 * row * BUNDLE_LANES],
      rows[(3 * row + 1) * BUNDLE_LANES], rows[(3 * row + 2) * BUNDLE_LANES] };
    const gdouble q[3] = { rows[6 * BUNDLE_LANES], rows[7 * BUNDLE_LANES],
      rows[8 * BUNDLE_LANES] };
    gdouble j[15], expected[15], scale = 0;

    for (guint e = 0; e < 3; e++) {
      j[e] = q[(e + 1) % 3] * a[(e + 2) % 3] - q[(e + 2) % 3] * a[(e + 1) % 3];
      j[3 + e] = a[e];
      j[12 + e] = a[0] * c->r[e] + a[1] * c->r[3 + e] + a[2] * c->r[6 + e];
    }
    for (guint e = 0; e < 6; e++)
      j[6 + e] = 0;
    for (guint e = 0; e < lens->n; e++)
      if (lens->parameter[e] >= BUNDLE_LENS_SIZE)
        j[6 + lens->parameter[e] - BUNDLE_LENS_SIZE] =
            rows[(9 + row * lens->n + e) * BUNDLE_LANES];
    for (guint e = 0; e < 15; e++) {
      Complex v[15] = { 0 }, image[2];

      v[e] = 1e-30 * I;
      see_complex (p, i, v, image);
      expected[e] = cimag (image[row]) / 1e-30;
      if (p->sensors[p->lens_of[p->camera_of[i]]].constant && e / 6 == 1)
        expected[e] = 0;
      scale = fmax (scale, fabs (expected[e]));
    }
    for (guint e = 0; e < 15; e++)
      check_number (j[e], expected[e], scale);
  }
}

static void
test_rig_derivatives (void)
{
  BundleLens lenses[3];
  g_autoptr (BundleProblem) p = NULL;
  g_autofree guint16 *constant = NULL;
  const BundleBackendOps *ops = &bundle_backend_cpu;
  BundleBackend *b;
  BundleConfig config;
  BundleStart start = { .solver = BUNDLE_SOLVER_ITERATIVE };
  gdouble cost, gradient;
  guint n_checked = 0;

  for (guint i = 0; i < 3; i++)
    lenses[i] = bundle_lens_example (BUNDLE_LENS_PINHOLE);
  p = bundle_lens_rig (lenses, 3, 9, 200, TRUE);
  p->sensors[2].constant = TRUE;
  bundle_lens_disturb (p);
  init_rig_config (&config, BUNDLE_SOLVER_ITERATIVE);
  constant = g_new0 (guint16, p->n_frames);
  start.problem = p;
  start.camera_constant = constant;
  b = ops->create (&start, &config, NULL, NULL);
  g_assert_true (ops->linearize (b, &cost, &gradient, NULL));
  g_assert_cmpfloat (fabs (cost - bundle_lens_cost (p)), <, 1e-9 * cost);
  for (guint s = 0; s < b->n_segments; s++) {
    const BundleSegment *segment = &b->segments[s];
    const guint32 camera = b->image_at[segment->image];

    g_assert_cmpuint (p->frame_of[camera], ==, segment->camera);
    for (guint k = 0; k < segment->n_real; k++, n_checked++) {
      const guint32 point = b->slot_point[segment->first + k];
      gsize i = 0;

      while (p->camera_of[i] != camera || b->point_at[p->point_of[i]] != point)
        i++;
      check_rows (b, p, segment, k, i);
    }
  }
  g_assert_cmpuint (n_checked, ==, p->n_observations);
  ops->destroy (b);
}

/* --- solutions ---------------------------------------------------------------------- */

/* The relative poses are those of the truth, up to @scale of the scene. */
static void
check_sensors (
    const BundleProblem *p, const BundleProblem *truth, gdouble scale)
{
  for (guint s = 1; s < p->n_lenses; s++)
    for (guint k = 0; k < 6; k++) {
      const gdouble expected = truth->sensors[s].pose[k]
                               * (k < BUNDLE_CAMERA_TRANSLATION ? 1 : scale);

      if (!(fabs (p->sensors[s].pose[k] - expected) < 1e-6))
        g_error ("number %u of sensor %u is %.9g, expected %.9g", k, s,
            p->sensors[s].pose[k], expected);
    }
}

/* Distance of the first two points over that in the truth */
static gdouble
measure_scale (const BundleProblem *p, const BundleProblem *truth)
{
  gdouble d[2] = { 0 };

  for (guint k = 0; k < 3; k++) {
    d[0] += pow (p->points[k] - p->points[3 + k], 2);
    d[1] += pow (truth->points[k] - truth->points[3 + k], 2);
  }
  return sqrt (d[0] / d[1]);
}

typedef struct {
  guint sensors, frames;
  gboolean gaps;
  BundleSolver solver;
} RigCase;

static void
test_rig_recovery (gconstpointer user_data)
{
  const RigCase *test = user_data;
  BundleLens lenses[8];
  g_autoptr (BundleProblem) truth = NULL, p = NULL;
  BundleConfig config;
  BundleSummary summary;

  make_rig_lenses (lenses, test->sensors);
  truth = bundle_lens_rig (
      lenses, test->sensors, test->frames, 15 * test->frames, test->gaps);
  g_assert_cmpfloat (bundle_lens_cost (truth), <, 1e-12);
  p = bundle_problem_copy (truth, NULL);
  bundle_lens_disturb (p);
  init_rig_config (&config, test->solver);
  summary = solve_rig (p, &config);
  g_test_message ("%u steps, %u conjugate gradients, cost %g to %g",
      summary.iterations, summary.pcg_iterations, summary.initial_cost,
      summary.final_cost);
  g_assert_cmpint (
      summary.pcg_iterations == 0, ==, test->solver == BUNDLE_SOLVER_AUTO);
  g_assert_cmpfloat (summary.final_cost, <, 1e-12 * summary.initial_cost);
  g_assert_cmpuint (summary.n_deficient, ==, 0);
  check_sensors (p, truth, measure_scale (p, truth));
  for (guint k = 0; k < 9; k++)
    g_assert_cmpfloat (p->sensors[0].pose[k], ==, 0);
  bundle_summary_clear (&summary);
}

/* A constant sensor, which determines the scale, and a constant frame keep their bits,
 * also with noise; so do constant sensors and frames alone. */
static void
test_rig_constants (void)
{
  BundleLens lenses[3];
  g_autoptr (BundleProblem) truth = NULL, p = NULL;
  BundleConfig config;
  BundleSummary summary;

  make_rig_lenses (lenses, 3);
  truth = bundle_lens_rig (lenses, 3, 20, 800, TRUE);
  truth->sensors[2].constant = TRUE;
  truth->frame_constant[4] = 0x3f;
  p = bundle_problem_copy (truth, NULL);
  bundle_lens_disturb (p);
  init_rig_config (&config, BUNDLE_SOLVER_AUTO);
  summary = solve_rig (p, &config);
  g_assert_cmpfloat (summary.final_cost, <, 1e-12 * summary.initial_cost);
  check_sensors (p, truth, 1);
  g_assert_cmpmem (p->sensors[2].pose, 72, truth->sensors[2].pose, 72);
  g_assert_cmpmem (p->frames + 36, 72, truth->frames + 36, 72);
  bundle_summary_clear (&summary);

  for (gsize i = 0; i < 2 * p->n_observations; i++)
    p->observed[i] += sin (7. * (gdouble) i);
  for (guint all = 0; all < 2; all++) { /* frames, then sensors */
    g_autoptr (BundleProblem) q = bundle_problem_copy (p, NULL);

    for (guint i = 0; !all && i < p->n_frames; i++)
      q->frame_constant[i] = 0x3f;
    for (guint i = 0; all && i < 3; i++)
      q->sensors[i].constant = TRUE;
    summary = solve_rig (q, &config);
    g_assert_cmpfloat (summary.final_cost, <, summary.initial_cost);
    g_assert_cmpint (
        memcmp (p->sensors[1].pose, q->sensors[1].pose, 72) == 0, ==, all);
    g_assert_cmpint (
        memcmp (p->frames, q->frames, 72 * (gsize) p->n_frames) == 0, ==, !all);
    bundle_summary_clear (&summary);
  }
}

/* With noise and a loss: any number of threads gives the same bits, the factorisation and
 * conjugate gradients the same cost, and the cameras are the products of both poses. */
static void
test_rig_solvers (void)
{
  BundleLens lenses[3];
  g_autoptr (BundleProblem) start = NULL;
  gdouble costs[2];

  make_rig_lenses (lenses, 3);
  lenses[1] = bundle_lens_example (BUNDLE_LENS_SIMPLE_RADIAL_FISHEYE);
  start = bundle_lens_rig (lenses, 3, 15, 900, TRUE);
  bundle_lens_disturb (start);
  for (gsize i = 0; i < 2 * start->n_observations; i++)
    start->observed[i] += sin (7. * (gdouble) i);
  for (BundleSolver solver = BUNDLE_SOLVER_AUTO;
       solver <= BUNDLE_SOLVER_ITERATIVE; solver++) {
    g_autoptr (BundleProblem) first = NULL;

    for (guint threads = 1; threads <= 3; threads++) {
      BundleProblem *p = bundle_problem_copy (start, NULL);
      BundleConfig config;
      BundleSummary summary;

      init_rig_config (&config, solver);
      config.loss = BUNDLE_LOSS_CAUCHY;
      config.threads = threads;
      summary = solve_rig (p, &config);
      bundle_summary_clear (&summary);
      costs[solver] = summary.final_cost;
      if (first == NULL) {
        first = p;
        continue;
      }
      g_assert_cmpmem (p->cameras, 72 * (gsize) p->n_cameras, first->cameras,
          72 * (gsize) p->n_cameras);
      g_assert_cmpmem (p->frames, 72 * (gsize) p->n_frames, first->frames,
          72 * (gsize) p->n_frames);
      g_assert_cmpmem (p->points, 24 * (gsize) p->n_points, first->points,
          24 * (gsize) p->n_points);
      g_assert_cmpmem (p->lenses, sizeof lenses, first->lenses, sizeof lenses);
      g_assert_cmpmem (p->sensors, 3 * sizeof *p->sensors, first->sensors,
          3 * sizeof *p->sensors);
      bundle_problem_place_cameras (first);
      g_assert_cmpmem (p->cameras, 72 * (gsize) p->n_cameras, first->cameras,
          72 * (gsize) p->n_cameras);
      bundle_problem_free (p);
    }
  }
  g_assert_cmpfloat (fabs (costs[0] - costs[1]), <, 1e-9 * costs[0]);
}

/* Frames of one image with the reference are cameras without frames, to the bit. */
static void
test_rig_alone (void)
{
  const BundleLens lens = bundle_lens_example (BUNDLE_LENS_OPENCV);
  g_autoptr (BundleProblem) p = bundle_lens_true (&lens, 1);

  for (BundleSolver solver = BUNDLE_SOLVER_AUTO;
       solver <= BUNDLE_SOLVER_ITERATIVE; solver++) {
    g_autoptr (BundleProblem) plain = bundle_problem_copy (p, NULL);
    g_autoptr (BundleProblem) framed = bundle_problem_copy (p, NULL);
    BundleSummary one, other;
    BundleConfig config;

    framed->n_frames = p->n_cameras;
    framed->frames = calloc (p->n_cameras, 72);
    framed->frame_constant = calloc (p->n_cameras, sizeof (guint16));
    framed->frame_of = calloc (p->n_cameras, sizeof (guint32));
    framed->sensors = calloc (1, sizeof *framed->sensors);
    framed->sensors[0].constant = TRUE;
    memcpy (framed->frames, p->cameras, 72 * (gsize) p->n_cameras);
    for (guint i = 0; i < p->n_cameras; i++)
      framed->frame_of[i] = i;
    init_rig_config (&config, solver);
    config.max_iterations = 10;
    one = solve_rig (plain, &config);
    other = solve_rig (framed, &config);
    g_assert_cmpfloat (one.final_cost, ==, other.final_cost);
    g_assert_cmpmem (plain->points, 24 * (gsize) p->n_points, framed->points,
        24 * (gsize) p->n_points);
    bundle_summary_clear (&one);
    bundle_summary_clear (&other);
  }
}

/* --- priors -------------------------------------------------------------------------- */

static gdouble
cost_with_priors (BundleProblem *p)
{
  bundle_problem_place_cameras (p);
  return bundle_lens_cost (p) + bundle_lens_prior_cost (p);
}

/* The slope of the cost by a number of a pose is small beside the curvature. */
static void
check_minimum (BundleProblem *p, gdouble *number)
{
  const gdouble h = 1e-4, start = *number, middle = cost_with_priors (p);
  gdouble up, down;

  *number = start + h;
  up = cost_with_priors (p) - middle;
  *number = start - h;
  down = cost_with_priors (p) - middle;
  *number = start;
  if (!(fabs (up - down) < 0.02 * (up + down)))
    g_error ("slope %g, curvature %g", up - down, up + down);
}

/* Priors of images by all sensors: costs are those of the formula, the solution is a
 * minimum of it by frames and sensors, with both solvers. */
static void
test_rig_priors (void)
{
  BundleLens lenses[3];
  g_autoptr (BundleProblem) start = NULL;
  gdouble costs[2];

  make_rig_lenses (lenses, 3);
  start = bundle_lens_rig (lenses, 3, 15, 600, TRUE);
  start->sensors[2].constant = TRUE;
  start->frame_constant[3] = 0x38;
  bundle_lens_add_priors (start, 30);
  bundle_lens_disturb (start);
  for (gsize i = 0; i < 2 * start->n_observations; i++)
    start->observed[i] += sin (7. * (gdouble) i);
  for (BundleSolver solver = BUNDLE_SOLVER_AUTO;
       solver <= BUNDLE_SOLVER_ITERATIVE; solver++) {
    g_autoptr (BundleProblem) p = bundle_problem_copy (start, NULL);
    g_autoptr (BundleProblem) other = bundle_problem_copy (start, NULL);
    const gdouble cost = cost_with_priors (p);
    BundleConfig config;
    BundleSummary summary;

    init_rig_config (&config, solver);
    summary = solve_rig (p, &config);
    g_assert_cmpint (
        summary.pcg_iterations == 0, ==, solver == BUNDLE_SOLVER_AUTO);
    g_assert_cmpfloat (fabs (summary.initial_cost - cost), <, 1e-9 * cost);
    costs[solver] = cost_with_priors (p);
    g_assert_cmpfloat (
        fabs (summary.final_cost - costs[solver]), <, 1e-9 * costs[solver]);
    for (guint f = 0; f < p->n_frames; f++)
      for (guint k = 0; k < 6; k++)
        if (f != 3)
          check_minimum (p, p->frames + 9 * (gsize) f + k);
    for (guint k = 0; k < 6; k++)
      check_minimum (p, p->sensors[1].pose + k);
    bundle_summary_clear (&summary);
    config.threads = 3;
    summary = solve_rig (other, &config);
    bundle_problem_place_cameras (p);
    g_assert_cmpmem (p->cameras, 72 * (gsize) p->n_cameras, other->cameras,
        72 * (gsize) p->n_cameras);
    bundle_summary_clear (&summary);
  }
  g_assert_cmpfloat (fabs (costs[0] - costs[1]), <, 1e-9 * costs[0]);
}

/* --- refusals ------------------------------------------------------------------------ */

static void
check_refused_rig (BundleProblem *p, const gchar *words)
{
  GError *error = NULL;
  BundleConfig config;
  BundleSummary summary;

  bundle_config_init (&config);
  g_assert_false (
      bundle_solve (p, &config, NULL, NULL, NULL, &summary, &error));
  if (!strstr (error->message, words))
    g_error ("\"%s\" is not in \"%s\"", words, error->message);
  g_error_free (error);
}

static void
test_rig_refused (void)
{
  BundleLens lenses[2];
  g_autoptr (BundleProblem) p = NULL;

  make_rig_lenses (lenses, 2);
  p = bundle_lens_rig (lenses, 2, 8, 100, FALSE);
  p->frame_of[3] = 8;
  check_refused_rig (p, "camera 3 has frame 8, must be 0 to 7");
  p->frame_of[3] = 0;
  p->sensors[1].pose[2] = NAN;
  check_refused_rig (p, "a number of the pose of sensor 1 is not finite");
  p->sensors[1].pose[2] = 0;
  p->frames[10] = INFINITY;
  check_refused_rig (p, "number 1 of frame 1 is infinite");
  p->frames[10] = 0;
  bundle_lens_add_priors (p, 2);
  p->priors[1].camera = 16;
  check_refused_rig (p, "prior 1 is of camera 16, must be 0 to 15");
}

int
main (int argc, char **argv)
{
  static const RigCase cases[] = {
    { 2, 15, FALSE, BUNDLE_SOLVER_AUTO },
    { 2, 50, TRUE, BUNDLE_SOLVER_AUTO },
    { 3, 30, FALSE, BUNDLE_SOLVER_AUTO },
    { 3, 50, TRUE, BUNDLE_SOLVER_AUTO },
    { 3, 30, TRUE, BUNDLE_SOLVER_ITERATIVE },
  };

  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/bundlerigs/derivatives", test_rig_derivatives);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *path = g_strdup_printf ("/bundlerigs/recovery/%u", i);

    g_test_add_data_func (path, &cases[i], test_rig_recovery);
  }
  g_test_add_func ("/bundlerigs/constants", test_rig_constants);
  g_test_add_func ("/bundlerigs/solvers", test_rig_solvers);
  g_test_add_func ("/bundlerigs/alone", test_rig_alone);
  g_test_add_func ("/bundlerigs/priors", test_rig_priors);
  g_test_add_func ("/bundlerigs/refused", test_rig_refused);
  return g_test_run ();
}
