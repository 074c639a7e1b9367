/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Reading and writing of reconstructions in memory: bytes of text a second, the
 * best of some runs; beside it strtod() over the numbers of the same text and
 * memcpy() of it, in one thread.
 *
 *   bench_bundle_formats FILE [MIB [THREADS]]
 *
 * FILE: BAL. Its cameras and points are copied until the text has about MIB
 * (256). Whether reading what was written gives the same bits is checked. */
#include "cuda/bundle/formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS 5

static BundleProblem *
copy_problem (const BundleProblem *p, guint n)
{
  GError *error = NULL;
  BundleProblem *all = bundle_problem_new (
      p->n_cameras * n, p->n_points * n, p->n_observations * n, &error);

  g_assert_no_error (error);
  for (gsize c = 0; c < n; c++) {
    memcpy (all->cameras + c * p->n_cameras * BUNDLE_CAMERA_SIZE, p->cameras,
        sizeof (gdouble) * BUNDLE_CAMERA_SIZE * p->n_cameras);
    memcpy (all->points + c * p->n_points * 3, p->points,
        sizeof (gdouble) * 3 * p->n_points);
    memcpy (all->observed + c * p->n_observations * 2, p->observed,
        sizeof (gdouble) * 2 * p->n_observations);
    for (gsize i = 0; i < p->n_observations; i++) {
      const gsize to = c * p->n_observations + i;

      all->camera_of[to] = (guint32) (c * p->n_cameras + p->camera_of[i]);
      all->point_of[to] = (guint32) (c * p->n_points + p->point_of[i]);
    }
  }
  return all;
}

/* Observations as the published files have them, all else with 17 digits */
static GBytes *
print_problem (const BundleProblem *p)
{
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "%u %u %" G_GSIZE_FORMAT "\n", p->n_cameras,
      p->n_points, p->n_observations);
  for (gsize i = 0; i < p->n_observations; i++)
    g_string_append_printf (text, "%u %u     %.6e %.6e\n", p->camera_of[i],
        p->point_of[i], p->observed[2 * i], p->observed[2 * i + 1]);
  for (gsize i = 0; i < (gsize) p->n_cameras * BUNDLE_CAMERA_SIZE; i++)
    g_string_append_printf (text, "%.16e\n", p->cameras[i]);
  for (gsize i = 0; i < (gsize) p->n_points * 3; i++)
    g_string_append_printf (text, "%.16e\n", p->points[i]);
  return g_string_free_to_bytes (text);
}

static gdouble
time_strtod (const gchar *text)
{
  const gint64 start = g_get_monotonic_time ();
  gdouble sum = 0;
  gchar *end;

  for (;; text = end) {
    sum += strtod (text, &end);
    if (end == text)
      break;
  }
  return (gdouble) (g_get_monotonic_time () - start) + (sum == 1) * 1e-9;
}

static gdouble
time_memcpy (gchar *to, const gchar *text, gsize size)
{
  const gint64 start = g_get_monotonic_time ();

  memcpy (to, text, size);
  return (gdouble) (g_get_monotonic_time () - start);
}

static void
print_row (const gchar *name, gsize size, gdouble microseconds)
{
  printf ("%-24s %8.1f ms %8.3f GB/s\n", name, microseconds / 1e3,
      (gdouble) size / microseconds / 1e3);
}

int
main (int argc, char **argv)
{
  const gsize wanted = (gsize) (argc > 2 ? atoi (argv[2]) : 256) << 20;
  const guint threads = argc > 3 ? (guint) atoi (argv[3]) : 0;
  gdouble best[4] = { 1e18, 1e18, 1e18, 1e18 };
  GError *error = NULL;
  BundleProblem *one, *all, *read = NULL;
  GBytes *bytes, *written = NULL;
  const gchar *data;
  gchar *file, *copy;
  gsize size;

  if (argc < 2 || !g_file_get_contents (argv[1], &file, &size, &error)) {
    fprintf (stderr, "%s\n", error ? error->message : "a BAL file is needed");
    return 2;
  }
  one = bundle_read (file, size, BUNDLE_FORMAT_BAL, 0, &error);
  g_assert_no_error (error);
  all = copy_problem (one, (guint) (wanted / size + 1));
  bytes = print_problem (all);
  data = g_bytes_get_data (bytes, &size);
  copy = g_malloc0 (size + 1);
  for (guint run = 0; run < RUNS; run++) {
    gint64 start = g_get_monotonic_time ();

    g_clear_pointer (&read, bundle_problem_free);
    g_clear_pointer (&written, g_bytes_unref);
    read = bundle_read (data, size, BUNDLE_FORMAT_BAL, threads, &error);
    g_assert_no_error (error);
    best[0] = MIN (best[0], (gdouble) (g_get_monotonic_time () - start));
    start = g_get_monotonic_time ();
    written = bundle_write (read, BUNDLE_FORMAT_BAL, NULL, threads, &error);
    g_assert_no_error (error);
    best[1] = MIN (best[1], (gdouble) (g_get_monotonic_time () - start));
    best[3] = MIN (best[3], time_memcpy (copy, data, size));
    if (run == 0) /* it takes long */
      best[2] = time_strtod (copy);
  }
  printf ("%u cameras, %u points, %" G_GSIZE_FORMAT " observations, %.1f MB\n",
      all->n_cameras, all->n_points, all->n_observations, (gdouble) size / 1e6);
  print_row ("read", size, best[0]);
  print_row ("write", g_bytes_get_size (written), best[1]);
  print_row ("strtod, one thread", size, best[2]);
  print_row ("memcpy, one thread", size, best[3]);
  bundle_problem_free (read);
  data = g_bytes_get_data (written, &size);
  read = bundle_read (data, size, BUNDLE_FORMAT_BAL, threads, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (read->points, 24 * (gsize) read->n_points, all->points,
      24 * (gsize) all->n_points);
  g_assert_cmpmem (read->observed, 16 * read->n_observations, all->observed,
      16 * all->n_observations);
  return 0;
}
