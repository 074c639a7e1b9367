/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/surface/sim.h"

#include <math.h>
#include <string.h>

static gfloat *
render (const SurfaceSim *sim, guint64 frame, gdouble gain)
{
  gfloat *data = g_new (gfloat, sim->width * sim->height);

  surface_sim_render (
      sim, frame, gain, 0, sim->height, data, sim->width * sizeof (gfloat));
  return data;
}

static gdouble
deviation (const gfloat *data, guint n)
{
  gdouble sum = 0.0, square = 0.0;

  for (guint i = 0; i < n; i++) {
    sum += (gdouble) data[i];
    square += (gdouble) data[i] * (gdouble) data[i];
  }
  return sqrt (square / n - sum / n * (sum / n));
}

/* The surface is the sum of its components, for any division into rows. */
static void
test_parts (void)
{
  SurfaceSim sim;
  gfloat *all, *part[4], rows[3][300];

  surface_sim_init (&sim);
  sim.width = 300;
  sim.height = 200;
  all = render (&sim, 7, 1.0);
  for (guint i = 0; i < 4; i++) {
    sim.parts = 1u << i;
    part[i] = render (&sim, 7, 1.0);
    g_assert_cmpfloat (deviation (part[i], 300 * 200), >, 0.0);
  }
  for (guint i = 0; i < 300 * 200; i++)
    g_assert_cmpfloat_with_epsilon (
        (gdouble) part[0][i] + part[1][i] + part[2][i] + part[3][i], all[i],
        1e-12);
  sim.parts = SURFACE_SIM_ALL;
  surface_sim_render (&sim, 7, 1.0, 100, 3, rows[0], sizeof (rows[0]));
  g_assert_cmpmem (rows, sizeof (rows), all + 100 * 300, sizeof (rows));
  g_free (all);
  for (guint i = 0; i < 4; i++)
    g_free (part[i]);
}

static void
test_roughness (void)
{
  SurfaceSim sim;
  gfloat *one, *two;

  surface_sim_init (&sim);
  sim.width = sim.height = 1024;
  sim.parts = SURFACE_SIM_ROUGHNESS;
  one = render (&sim, 0, 1.0);
  two = render (&sim, 0, 2.0);
  g_assert_cmpfloat_with_epsilon (
      deviation (one, 1024 * 1024) / sim.roughness, 1.0, 0.02);
  g_assert_cmpfloat_with_epsilon (
      deviation (two, 1024 * 1024) / sim.roughness, 2.0, 0.04);
  g_free (one);
  g_free (two);
}

/* Motion by whole samples: the same heights reappear shifted. */
static void
test_moves (void)
{
  SurfaceSim sim;
  gfloat *before, *after;

  surface_sim_init (&sim);
  sim.width = 200;
  sim.height = 150;
  sim.parts &= ~(guint) SURFACE_SIM_FORM;
  sim.velocity[0] = 3 * sim.dx;
  sim.velocity[1] = -2 * sim.dy;
  before = render (&sim, 4, 1.0);
  after = render (&sim, 5, 1.0);
  for (guint y = 2; y < 150; y++)
    for (guint x = 0; x + 3 < 200; x++)
      g_assert_cmpfloat_with_epsilon (
          before[(y - 2) * 200 + x + 3], after[y * 200 + x], 1e-12);
  g_free (before);
  g_free (after);
}

static void
test_missing (void)
{
  const gdouble shares[] = { 0.02, 0.1, 0.5, 0.9, 1.0 };
  SurfaceSim sim;

  surface_sim_init (&sim);
  sim.width = sim.height = 1000;
  for (guint i = 0; i < G_N_ELEMENTS (shares); i++) {
    gfloat *data;
    guint n = 0;

    sim.missing = shares[i];
    data = render (&sim, 0, 1.0);
    for (guint j = 0; j < 1000 * 1000; j++)
      n += isnan (data[j]) != 0;
    g_assert_cmpfloat_with_epsilon (n / 1e6, shares[i], 0.02);
    g_free (data);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/surfacesim/parts", test_parts);
  g_test_add_func ("/surfacesim/roughness", test_roughness);
  g_test_add_func ("/surfacesim/moves", test_moves);
  g_test_add_func ("/surfacesim/missing", test_missing);
  return g_test_run ();
}
