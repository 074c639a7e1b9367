/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Problems and settings of bundle adjustment: copies, refused values. */
#include "cuda/bundle/engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static BundleProblem *
make_problem (void)
{
  GError *error = NULL;
  BundleProblem *p = bundle_problem_new (2, 3, 4, &error);

  g_assert_no_error (error);
  for (guint i = 0; i < 18; i++)
    p->cameras[i] = i;
  for (guint i = 0; i < 9; i++)
    p->points[i] = -(gdouble) i;
  for (guint i = 0; i < 4; i++) {
    p->camera_of[i] = i % 2;
    p->point_of[i] = i % 3;
    p->observed[2 * i] = i;
  }
  return p;
}

static void
test_copy (void)
{
  g_autoptr (BundleProblem) p = make_problem ();
  g_autoptr (BundleProblem) copy = NULL;
  GError *error = NULL;

  p->camera_constant = calloc (2, sizeof *p->camera_constant);
  p->camera_constant[1] = BUNDLE_CAMERA_INTRINSICS;
  p->point_constant = calloc (3, 1);
  p->point_constant[2] = 1;
  p->colours = calloc (9, 1);
  p->colours[8] = 200;
  p->views = calloc (2, sizeof *p->views);
  p->views[1].name = g_strdup ("b.jpg");
  p->views[1].width = 640;
  copy = bundle_problem_copy (p, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (p->cameras, 18 * 8, copy->cameras, 18 * 8);
  g_assert_cmpmem (p->points, 9 * 8, copy->points, 9 * 8);
  g_assert_cmpmem (p->camera_of, 16, copy->camera_of, 16);
  g_assert_cmpmem (p->point_of, 16, copy->point_of, 16);
  g_assert_cmpmem (p->observed, 64, copy->observed, 64);
  g_assert_cmpuint (copy->camera_constant[1], ==, BUNDLE_CAMERA_INTRINSICS);
  g_assert_cmpuint (copy->point_constant[2], ==, 1);
  g_assert_cmpuint (copy->colours[8], ==, 200);
  g_assert_null (copy->views[0].name);
  g_assert_cmpstr (copy->views[1].name, ==, "b.jpg");
  g_assert_true (copy->views[1].name != p->views[1].name);
  g_assert_cmpuint (copy->views[1].width, ==, 640);
}

static void
assert_refused (const BundleProblem *p, const gchar *text)
{
  GError *error = NULL;

  g_assert_false (bundle_problem_check (p, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
  g_assert_cmpstr (error->message, ==, text);
  g_clear_error (&error);
}

static void
test_check (void)
{
  g_autoptr (BundleProblem) p = make_problem ();
  GError *error = NULL;

  g_assert_true (bundle_problem_check (p, &error));
  g_assert_no_error (error);
  p->cameras[10] = NAN;
  assert_refused (p, "number 1 of camera 1 is not a number, must be finite");
  p->cameras[10] = 0;
  p->points[8] = -INFINITY;
  assert_refused (p, "number 2 of point 2 is infinite, must be finite");
  p->points[8] = 0;
  p->observed[7] = INFINITY;
  assert_refused (p, "number 1 of observation 3 is infinite, must be finite");
  p->observed[7] = 0;
  p->camera_of[2] = 2;
  assert_refused (p, "observation 2 is of camera 2, must be 0 to 1");
  p->camera_of[2] = 0;
  p->point_of[0] = G_MAXUINT32;
  assert_refused (p, "observation 0 is of point 4294967295, must be 0 to 2");
}

static void
test_sizes (void)
{
  static const gsize sizes[][3] = { { 0, 1, 1 }, { 1, 0, 1 }, { 1, 1, 0 },
    { 1u << 31, 1, 1 }, { 1, 1u << 31, 1 }, { 1, 1, (gsize) 1 << 32 } };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    GError *error = NULL;

    g_assert_null (bundle_problem_new (
        (guint) sizes[i][0], (guint) sizes[i][1], sizes[i][2], &error));
    g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
    g_clear_error (&error);
  }
}

static void
assert_config_refused (const BundleConfig *config, const gchar *field)
{
  GError *error = NULL;

  g_assert_false (bundle_config_check (config, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, field));
  g_clear_error (&error);
}

static void
test_config (void)
{
  BundleConfig good, config;
  GError *error = NULL;

  bundle_config_init (&good);
  g_assert_true (bundle_config_check (&good, &error));
  g_assert_no_error (error);
#define REFUSE(field, value, name)                                             \
  config = good;                                                               \
  config.field = value;                                                        \
  assert_config_refused (&config, name)
  REFUSE (max_iterations, 10001, "max-iterations");
  REFUSE (max_pcg_iterations, 0, "max-pcg-iterations");
  REFUSE (eta, 0, "eta");
  REFUSE (eta, NAN, "eta");
  REFUSE (function_tolerance, NAN, "function-tolerance");
  REFUSE (parameter_tolerance, -1, "parameter-tolerance");
  REFUSE (gradient_tolerance, -1, "gradient-tolerance");
  REFUSE (loss, 5, "loss");
  REFUSE (loss_scale, 0, "loss-scale");
  REFUSE (initial_radius, 0, "initial-radius");
  REFUSE (threads, 5000, "threads");
  REFUSE (preconditioner, 3, "preconditioner");
#undef REFUSE
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/bundle/problem/copy", test_copy);
  g_test_add_func ("/bundle/problem/check", test_check);
  g_test_add_func ("/bundle/problem/sizes", test_sizes);
  g_test_add_func ("/bundle/config", test_config);
  return g_test_run ();
}
