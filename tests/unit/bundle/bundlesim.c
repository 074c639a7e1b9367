/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Simulated reconstructions: ground truth, noise, outliers, loops, copies, camera models of
 * COLMAP. */
#include "cuda/bundle/sim.h"
#include "cuda/bundle/colmap/adjust.h"
#include "cuda/bundle/colmap/archive.h"
#include "cuda/bundle/formats/formats.h"
#include "cuda/core/cancel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lensscenes.h"

static BundleProblem *
make (BundleScene scene, guint cameras, guint points, gdouble noise,
    gdouble outliers, gdouble start_error)
{
  GError *error = NULL;
  BundleProblem *p;
  BundleSim sim;

  bundle_sim_init (&sim);
  sim.scene = scene;
  sim.cameras = cameras;
  sim.points = points;
  sim.noise = noise;
  sim.outliers = outliers;
  sim.start_error = start_error;
  sim.seed = 5;
  p = bundle_sim_make (&sim, &error);
  g_assert_no_error (error);
  g_assert_true (bundle_problem_check (p, &error));
  return p;
}

/* |r|^2 of observation @i */
static gdouble
square_error (const BundleProblem *p, gsize i)
{
  gdouble image[2];

  bundle_project (p->cameras + (gsize) p->camera_of[i] * BUNDLE_CAMERA_SIZE,
      p->points + 3 * (gsize) p->point_of[i], image);
  image[0] -= p->observed[2 * i];
  image[1] -= p->observed[2 * i + 1];
  return image[0] * image[0] + image[1] * image[1];
}

/* Without noise everything is exact; noise and start error have the
 * configured size; an outlier changes only its observation. */
static void
test_truth (void)
{
  for (gint scene = 0; scene <= BUNDLE_SCENE_TURNTABLE; scene++) {
    g_autoptr (BundleProblem) truth = make (scene, 60, 4000, 0, 0, 0);
    g_autoptr (BundleProblem) noisy = make (scene, 60, 4000, 0.5, 0, 0);
    g_autoptr (BundleProblem) wild = make (scene, 60, 4000, 0, 0.1, 0);
    g_autoptr (BundleProblem) start = make (scene, 60, 4000, 0.5, 0, 1);
    const gsize n = truth->n_observations;
    gdouble noise = 0, error = 0;
    gsize outliers = 0;

    g_assert_cmpmem (
        start->observed, 16 * n, noisy->observed, 16 * noisy->n_observations);
    for (gsize i = 0; i < n; i++) {
      g_assert_cmpfloat (square_error (truth, i), <, 1e-18);
      noise += square_error (noisy, i);
      error += square_error (start, i);
      outliers +=
          memcmp (truth->observed + 2 * i, wild->observed + 2 * i, 16) != 0;
    }
    g_assert_cmpfloat (sqrt (noise / (2 * (gdouble) n)), >, 0.48);
    g_assert_cmpfloat (sqrt (noise / (2 * (gdouble) n)), <, 0.52);
    g_assert_cmpfloat (sqrt (error / (2 * (gdouble) n)), >, 2);
    g_assert_cmpfloat ((gdouble) outliers / (gdouble) n, >, 0.08);
    g_assert_cmpfloat ((gdouble) outliers / (gdouble) n, <, 0.12);
  }
}

/* Several cameras and both laps see each point; every camera sees some
 * points. */
static void
test_tracks (void)
{
  for (gint scene = 0; scene <= BUNDLE_SCENE_TURNTABLE; scene++) {
    g_autoptr (BundleProblem) p = make (scene, 300, 20000, 0, 0, 0);
    const gdouble mean = (gdouble) p->n_observations / 20000;
    guint seen[300] = { 0 }, both = 0, fewest = G_MAXUINT;
    guint8 *laps = calloc (p->n_points, 1);

    for (gsize i = 0; i < p->n_observations; i++) {
      seen[p->camera_of[i]]++;
      laps[p->point_of[i]] |= p->camera_of[i] < 150 ? 1 : 2;
      g_assert_cmpfloat (fabs (p->observed[2 * i]), <, 800);
      if (i > 0)
        g_assert_true (p->point_of[i - 1] < p->point_of[i]
                       || p->camera_of[i - 1] < p->camera_of[i]);
    }
    for (guint i = 0; i < p->n_points; i++)
      both += laps[i] == 3;
    for (guint i = 0; i < 300; i++)
      fewest = MIN (fewest, seen[i]);
    free (laps);
    g_test_message (
        "scene %d: %.1f views a point, %u of 20000 in both laps, at "
        "least %u points a camera",
        scene, mean, both, fewest);
    g_assert_cmpfloat (mean, >, 4);
    g_assert_cmpfloat (mean, <, 25);
    g_assert_cmpuint (both, >, 10000);
    g_assert_cmpuint (fewest, >, 10);
  }
}

static void
test_settings (void)
{
  g_autoptr (BundleProblem) a = make (BUNDLE_SCENE_STREET, 2, 1, 0, 0, 0);
  g_autoptr (BundleProblem) b = make (BUNDLE_SCENE_CITY, 33, 500, 1, 0.1, 1);
  g_autoptr (BundleProblem) c = make (BUNDLE_SCENE_CITY, 33, 500, 1, 0.1, 1);
  GError *error = NULL;
  BundleSim sim;

  g_assert_cmpuint (a->n_observations, ==, 2);
  g_assert_cmpuint (b->n_observations, ==, c->n_observations);
  g_assert_cmpmem (
      b->observed, 16 * b->n_observations, c->observed, 16 * c->n_observations);
  g_assert_cmpmem (b->cameras, 72 * 33, c->cameras, 72 * 33);
  bundle_sim_init (&sim);
  sim.cameras = 1;
  g_assert_null (bundle_sim_make (&sim, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
  g_clear_error (&error);
}

/* --- camera models of COLMAP -------------------------------------------------------- */

/* As a file of COLMAP and back. */
static BundleProblem *
write_and_read (const BundleProblem *p)
{
  const BundleModelSettings settings = {
    .keep_behind = TRUE, .free_gauge = TRUE, .min_track = 2
  };
  GError *error = NULL;
  GBytes *bytes = bundle_write (p, BUNDLE_FORMAT_COLMAP, NULL, 1, &error);
  g_autoptr (BundleModel) model = NULL;
  BundleModelMap map;
  BundleProblem *again;

  g_assert_no_error (error);
  model = bundle_model_read_tar (
      g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), &error);
  g_bytes_unref (bytes);
  g_assert_no_error (error);
  g_assert_cmpuint (model->n_cameras, ==, p->n_lenses);
  g_assert_cmpuint (model->cameras[0].width, ==, 1600);
  again = bundle_model_problem (model, &settings, &map, &error);
  g_assert_no_error (error);
  bundle_model_map_clear (&map);
  return again;
}

/* The truth has no error, and a file of COLMAP holds all of it; noise has its size. */
static void
test_lenses (void)
{
  for (guint m = 0; m < BUNDLE_N_LENS_MODELS; m++)
    for (guint n = 0; n < 2; n++) {
      g_autoptr (BundleProblem) truth = NULL, start = NULL, again = NULL;
      GError *error = NULL;
      gdouble cost;
      BundleSim sim;

      bundle_sim_init (&sim);
      sim.lens = m;
      sim.lenses = n;
      sim.scene = m % (BUNDLE_SCENE_TURNTABLE + 1);
      sim.cameras = 40;
      sim.points = 2000;
      sim.noise = sim.start_error = 0;
      truth = bundle_sim_make (&sim, &error);
      g_assert_no_error (error);
      g_assert_true (bundle_problem_check (truth, &error));
      g_assert_cmpuint (truth->n_lenses, ==, n ? 1 : 40);
      g_assert_cmpuint (truth->lens_of[7], ==, n ? 0 : 7);
      g_assert_cmpfloat (
          bundle_lens_cost (truth), <, 1e-18 * (gdouble) truth->n_observations);
      for (gsize i = 0; i < truth->n_observations; i++) {
        g_assert_cmpfloat (fabs (truth->observed[2 * i] - 800), <, 800);
        g_assert_cmpfloat (fabs (truth->observed[2 * i + 1] - 600), <, 600);
      }
      sim.noise = 0.5;
      sim.start_error = 1;
      start = bundle_sim_make (&sim, &error);
      g_assert_no_error (error);
      cost = bundle_lens_cost (start);
      g_assert_cmpfloat (cost, >, 4 * (gdouble) start->n_observations);
      again = write_and_read (start);
      g_assert_cmpuint (again->n_observations, ==, start->n_observations);
      g_assert_cmpfloat (
          fabs (bundle_lens_cost (again) - cost), <, 1e-9 * cost);
      g_assert_null (bundle_write (start, BUNDLE_FORMAT_NVM, NULL, 1, &error));
      g_clear_error (&error);
      g_assert_null (bundle_sim_copy (start, 2, 1, &error));
      g_clear_error (&error);
      sim.lenses = 41;
      g_assert_null (bundle_sim_make (&sim, &error));
      g_assert_nonnull (strstr (error->message, "intrinsics is 41"));
      g_clear_error (&error);
    }
}

static gint
compare_doubles (gconstpointer a, gconstpointer b)
{
  const gdouble x = *(const gdouble *) a, y = *(const gdouble *) b;

  return (x > y) - (x < y);
}

/* Every residual occurs k times, although cameras and points are renumbered. */
static void
test_copies (void)
{
  g_autoptr (BundleProblem) p = make (BUNDLE_SCENE_STREET, 20, 300, 1, 0, 1);
  g_autoptr (BundleProblem) copies = bundle_sim_copy (p, 3, 7, NULL);
  const gsize n = p->n_observations;
  gdouble *one = g_new (gdouble, n), *all = g_new (gdouble, 3 * n);
  gboolean moved = FALSE;

  g_assert_true (bundle_problem_check (copies, NULL));
  g_assert_cmpuint (copies->n_cameras, ==, 60);
  g_assert_cmpuint (copies->n_points, ==, 900);
  g_assert_cmpuint (copies->n_observations, ==, 3 * n);
  for (gsize i = 0; i < n; i++)
    one[i] = square_error (p, i);
  for (gsize i = 0; i < 3 * n; i++)
    all[i] = square_error (copies, i);
  qsort (one, n, sizeof (gdouble), compare_doubles);
  qsort (all, 3 * n, sizeof (gdouble), compare_doubles);
  for (gsize i = 0; i < 3 * n; i++)
    g_assert_cmpfloat (all[i], ==, one[i / 3]);
  for (gsize i = 1; i < 3 * n; i++)
    g_assert_true (copies->point_of[i - 1] < copies->point_of[i]
                   || (copies->point_of[i - 1] == copies->point_of[i]
                       && copies->camera_of[i - 1] < copies->camera_of[i]));
  for (guint i = 0; i < 20; i++)
    moved |= memcmp (p->cameras + 9 * i, copies->cameras + 9 * i, 72) != 0;
  g_assert_true (moved);
  g_free (one);
  g_free (all);
}

static gpointer
set_later (gpointer data)
{
  g_usleep (100000);
  g_atomic_int_set ((gint *) data, TRUE);
  return NULL;
}

/* Soon after the flag is set, simulating and copying end with that error. */
static void
test_cancelled (void)
{
  g_autoptr (BundleProblem) p = make (BUNDLE_SCENE_CITY, 20, 900, 0, 0, 0);
  GError *error = NULL;
  BundleSim sim;

  bundle_sim_init (&sim);
  sim.cameras = 20000;
  sim.points = 4000000; /* 20 s */
  for (guint i = 0; i < 3; i++) {
    gint flag = i == 0;
    GThread *thread = g_thread_new ("cancel", set_later, &flag);
    const gint64 start = g_get_monotonic_time ();

    cvis_cancel_watch (&flag);
    if (i < 2)
      g_assert_null (bundle_sim_make (&sim, &error));
    else
      g_assert_null (bundle_sim_copy (p, 4000, 1, &error));
    cvis_cancel_watch (NULL);
    g_assert_error (error, CVIS_ERROR, CVIS_ERROR_CANCELLED);
    g_clear_error (&error);
    g_assert_cmpint (g_get_monotonic_time () - start, <, 5 * G_USEC_PER_SEC);
    g_thread_join (thread);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/bundlesim/truth", test_truth);
  g_test_add_func ("/bundlesim/tracks", test_tracks);
  g_test_add_func ("/bundlesim/settings", test_settings);
  g_test_add_func ("/bundlesim/lenses", test_lenses);
  g_test_add_func ("/bundlesim/copies", test_copies);
  g_test_add_func ("/bundlesim/cancelled", test_cancelled);
  return g_test_run ();
}
