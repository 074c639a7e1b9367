/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "bundledata.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const BundleOracle bundle_oracles[BUNDLE_ORACLES] = {
  { "problem-16-22106-pre", 4.185659518250e6, 1.803390347877e4,
      5.225659512191e5, 1.233667809681e4, 1e-6 },
  { "problem-21-11315-pre", 4.413239314432e6, 3.037863579650e4,
      2.771703495085e5, 1.369794792334e4, 1e-6 },
  /* has other minima nearby */
  { "problem-49-7776-pre", 8.509124606808e5, 1.334424154451e4, 1.206505365395e5,
      7.648025720553e3, 1e-4 },
};

static gdouble
next_number (gchar **at)
{
  gchar *end;
  gdouble value = g_ascii_strtod (*at, &end);

  g_assert_true (end != *at);
  *at = end;
  return value;
}

static BundleProblem *
parse_bal (gchar *text)
{
  gchar *at = text;
  guint cameras = (guint) next_number (&at), points = (guint) next_number (&at);
  gsize n = (gsize) next_number (&at);
  BundleProblem *p = bundle_problem_new (cameras, points, n, NULL);

  g_assert_nonnull (p);
  for (gsize i = 0; i < n; i++) {
    p->camera_of[i] = (guint32) next_number (&at);
    p->point_of[i] = (guint32) next_number (&at);
    p->observed[2 * i] = next_number (&at);
    p->observed[2 * i + 1] = next_number (&at);
  }
  for (gsize i = 0; i < (gsize) cameras * BUNDLE_CAMERA_SIZE; i++)
    p->cameras[i] = next_number (&at);
  for (gsize i = 0; i < (gsize) points * 3; i++)
    p->points[i] = next_number (&at);
  return p;
}

BundleProblem *
bundle_data_load (const gchar *name, const gchar **why)
{
  const gchar *root = g_getenv ("CUDAVISION_TEST_DATA");
  g_autofree gchar *file = g_strconcat (name, ".txt.bz2", NULL);
  g_autofree gchar *path = NULL, *text = NULL;
  gint status = 0;

  if (root == NULL) {
    *why = "CUDAVISION_TEST_DATA is not set";
    return NULL;
  }
  path = g_build_filename (root, "bundle", file, NULL);
  if (!g_file_test (path, G_FILE_TEST_EXISTS)) {
    *why = "CUDAVISION_TEST_DATA has no such problem in bundle/";
    return NULL;
  }
  if (!g_spawn_sync (NULL,
          (gchar *[]){ (gchar *) "bzip2", (gchar *) "-dc", path, NULL }, NULL,
          G_SPAWN_SEARCH_PATH, NULL, NULL, &text, NULL, &status, NULL)
      || !g_spawn_check_wait_status (status, NULL)) {
    *why = "bzip2 is not installed or failed";
    return NULL;
  }
  return parse_bal (text);
}

static gdouble
make_noise (GRand *rand, gdouble size)
{
  return g_rand_double_range (rand, -size, size);
}

BundleProblem *
bundle_data_ring (guint n_cameras, guint n_points, guint32 seed)
{
  BundleProblem *p = bundle_problem_new (
      n_cameras, n_points, (gsize) n_cameras * n_points, NULL);
  GRand *rand = g_rand_new_with_seed (seed);

  g_assert_nonnull (p);
  for (gsize i = 0; i < (gsize) n_points * 3; i++)
    p->points[i] = make_noise (rand, 1);
  for (guint i = 0; i < n_cameras; i++) {
    gdouble *c = p->cameras + BUNDLE_CAMERA_SIZE * i;

    /* rotated about y by the angle, with the cloud at distance 5, along -z */
    c[1] = 2 * G_PI * i / n_cameras;
    c[5] = -5;
    c[6] = 500;
    c[7] = -0.05;
    c[8] = 0.01;
  }
  for (gsize i = 0; i < p->n_observations; i++) {
    guint camera = (guint) (i % n_cameras), point = (guint) (i / n_cameras);

    p->camera_of[i] = camera;
    p->point_of[i] = point;
    bundle_project (p->cameras + BUNDLE_CAMERA_SIZE * camera,
        p->points + 3 * point, p->observed + 2 * i);
    p->observed[2 * i] += make_noise (rand, 0.5);
    p->observed[2 * i + 1] += make_noise (rand, 0.5);
  }
  for (gsize i = 0; i < (gsize) n_points * 3; i++)
    p->points[i] += make_noise (rand, 0.05);
  for (guint i = 0; i < n_cameras; i++) {
    gdouble *c = p->cameras + BUNDLE_CAMERA_SIZE * i;

    for (guint k = 0; k < 6; k++)
      c[k] += make_noise (rand, 0.02);
    c[6] += make_noise (rand, 5);
  }
  g_rand_free (rand);
  return p;
}

/* 0..@n-1 in random order */
static guint32 *
make_order (GRand *rand, guint n)
{
  guint32 *order = g_new (guint32, n);

  for (guint32 i = 0; i < n; i++) {
    guint32 j = (guint32) g_rand_int_range (rand, 0, (gint32) i + 1);

    order[i] = order[j];
    order[j] = i;
  }
  return order;
}

BundleProblem *
bundle_data_repeat (const BundleProblem *problem, guint copies, guint32 seed)
{
  guint cameras = problem->n_cameras, points = problem->n_points;
  gsize n = problem->n_observations;
  BundleProblem *p =
      bundle_problem_new (cameras * copies, points * copies, n * copies, NULL);
  GRand *rand = g_rand_new_with_seed (seed);
  guint32 *camera_order = make_order (rand, cameras * copies);
  guint32 *point_order = make_order (rand, points * copies);

  g_assert_nonnull (p);
  for (guint k = 0; k < copies; k++) {
    for (guint i = 0; i < cameras; i++)
      memcpy (p->cameras
                  + BUNDLE_CAMERA_SIZE * (gsize) camera_order[k * cameras + i],
          problem->cameras + BUNDLE_CAMERA_SIZE * (gsize) i,
          BUNDLE_CAMERA_SIZE * sizeof *p->cameras);
    for (guint i = 0; i < points; i++)
      memcpy (p->points + 3 * (gsize) point_order[k * points + i],
          problem->points + 3 * (gsize) i, 3 * sizeof *p->points);
    for (gsize i = 0; i < n; i++) {
      gsize to = k * n + i;

      p->camera_of[to] = camera_order[k * cameras + problem->camera_of[i]];
      p->point_of[to] = point_order[k * points + problem->point_of[i]];
      memcpy (p->observed + 2 * to, problem->observed + 2 * i,
          2 * sizeof *p->observed);
    }
  }
  g_free (camera_order);
  g_free (point_order);
  g_rand_free (rand);
  return p;
}

gdouble
bundle_data_cost (const BundleProblem *problem)
{
  gdouble sum = 0;

  for (gsize i = 0; i < problem->n_observations; i++) {
    const gdouble *c =
        problem->cameras + BUNDLE_CAMERA_SIZE * (gsize) problem->camera_of[i];
    const gdouble *x = problem->points + 3 * (gsize) problem->point_of[i];
    gdouble angle = sqrt (c[0] * c[0] + c[1] * c[1] + c[2] * c[2]);
    gdouble u[3] = { 0 }, q[3], along, n;

    for (guint k = 0; angle > 0 && k < 3; k++)
      u[k] = c[k] / angle;
    along = (u[0] * x[0] + u[1] * x[1] + u[2] * x[2]) * (1 - cos (angle));
    for (guint k = 0; k < 3; k++) {
      guint l = (k + 1) % 3, m = (k + 2) % 3;

      q[k] = x[k] * cos (angle) + (u[l] * x[m] - u[m] * x[l]) * sin (angle)
             + u[k] * along + c[3 + k];
    }
    n = (q[0] * q[0] + q[1] * q[1]) / (q[2] * q[2]);
    for (guint k = 0; k < 2; k++) {
      gdouble image = -c[6] * (1 + c[7] * n + c[8] * n * n) * q[k] / q[2];
      gdouble r = image - problem->observed[2 * i + k];

      sum += 0.5 * r * r;
    }
  }
  return sum;
}

void
bundle_data_print_history (const gchar *problem, const gchar *series,
    const gdouble *seconds, const gdouble *costs, gsize n)
{
  for (guint i = 0; i < BUNDLE_ORACLES; i++) {
    const gdouble deep = bundle_oracles[i].deep;
    gdouble lowest = G_MAXDOUBLE;

    if (!g_str_equal (problem, bundle_oracles[i].name))
      continue;
    for (gsize k = 0; k < n; k++) {
      lowest = MIN (lowest, costs[k]); /* rejected steps do not count */
      g_print ("cost-%.2s,%s,%.5f,%.3g\n", problem + strlen ("problem-"),
          series, seconds[k], lowest / deep - 1);
    }
  }
}
