/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Reads and writes reconstructions in memory: minimum over some runs of
 * elapsed time and of processor time. Files are written in parts that are
 * dropped, and in one piece. For comparison: memcpy() of the text with the same
 * number of threads, and strtod() of its numbers in one thread.
 *
 *   bench_bundle_formats FILE [MIB [THREADS]]
 *
 * FILE: a BAL file. Its cameras and points are repeated until the text has
 * about MIB (256) MiB. The program checks that written files read back with
 * the same bits. */
#include "cuda/bundle/formats/formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cuda/core/threadpool.h"

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

/* Observations formatted like the published files, everything else with 17
 * digits */
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

/* Elapsed and processor time, seconds */
typedef struct {
  gdouble wall, processor;
} Times;

static Times
read_times (void)
{
  struct timespec t;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &t);
  return (Times){ (gdouble) g_get_monotonic_time () / 1e6,
    (gdouble) t.tv_sec + (gdouble) t.tv_nsec / 1e9 };
}

static void
keep_least (Times *least, Times start)
{
  const Times now = read_times ();

  if (least->wall == 0 || now.wall - start.wall < least->wall)
    least->wall = now.wall - start.wall;
  if (least->processor == 0
      || now.processor - start.processor < least->processor)
    least->processor = now.processor - start.processor;
}

static gdouble
sum_numbers (const gchar *text)
{
  gdouble sum = 0;
  gchar *end;

  for (;; text = end) {
    sum += strtod (text, &end);
    if (end == text)
      return sum;
  }
}

#define COPIED (1 << 20)

typedef struct {
  gchar *to;
  const gchar *from;
  gsize size;
} Copy;

static void
copy_part (guint first, guint count, gpointer user_data)
{
  const Copy *copy = user_data;
  const gsize start = (gsize) first * COPIED;

  memcpy (copy->to + start, copy->from + start,
      MIN ((gsize) count * COPIED, copy->size - start));
}

static gboolean
drop_part (GBytes *part, gpointer user_data)
{
  *(gsize *) user_data += g_bytes_get_size (part);
  g_bytes_unref (part);
  return TRUE;
}

static void
print_row (const gchar *name, gsize size, Times least)
{
  printf ("%-20s %9.1f %9.3f %9.1f %9.3f\n", name, least.wall * 1e3,
      (gdouble) size / least.wall / 1e9, least.processor * 1e3,
      (gdouble) size / least.processor / 1e9);
}

int
main (int argc, char **argv)
{
  const gsize wanted = (gsize) (argc > 2 ? atoi (argv[2]) : 256) << 20;
  const guint threads = argc > 3 ? (guint) atoi (argv[3]) : 0;
  Times least[5] = { { 0 } }, start;
  GError *error = NULL;
  BundleProblem *one, *all, *again, *read = NULL;
  GBytes *bytes, *written = NULL;
  CvisPool *pool;
  gchar *file;
  gsize size, parts;
  Copy copy;

  if (argc < 2 || !g_file_get_contents (argv[1], &file, &size, &error)) {
    fprintf (stderr, "%s\n",
        error ? error->message
              : "usage: bench_bundle_formats FILE [MIB [THREADS]], FILE in BAL "
                "format");
    return 2;
  }
  one = bundle_read (file, size, BUNDLE_FORMAT_BAL, 0, &error);
  g_assert_no_error (error);
  all = copy_problem (one, (guint) (wanted / size + 1));
  bytes = print_problem (all);
  copy.from = g_bytes_get_data (bytes, &copy.size);
  copy.to = g_malloc0 (copy.size + 1);
  pool = cvis_pool_new (threads);
  for (guint run = 0; run < RUNS; run++) {
    g_clear_pointer (&read, bundle_problem_free);
    g_clear_pointer (&written, g_bytes_unref);
    start = read_times ();
    read =
        bundle_read (copy.from, copy.size, BUNDLE_FORMAT_BAL, threads, &error);
    g_assert_no_error (error);
    keep_least (&least[0], start);
    start = read_times ();
    parts = 0;
    bundle_write_parts (
        read, BUNDLE_FORMAT_BAL, NULL, threads, drop_part, &parts, &error);
    g_assert_no_error (error);
    keep_least (&least[4], start);
    start = read_times ();
    written = bundle_write (read, BUNDLE_FORMAT_BAL, NULL, threads, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (parts, ==, g_bytes_get_size (written));
    keep_least (&least[1], start);
    start = read_times ();
    cvis_pool_run (
        pool, (guint) ((copy.size + COPIED - 1) / COPIED), 1, copy_part, &copy);
    keep_least (&least[2], start);
  }
  start = read_times ();
  if (sum_numbers (copy.to) != 0) /* keeps the loop from being removed */
    keep_least (&least[3], start);
  printf ("%u cameras, %u points, %" G_GSIZE_FORMAT
          " observations, %.1f MB, %u threads\n",
      all->n_cameras, all->n_points, all->n_observations,
      (gdouble) copy.size / 1e6, cvis_pool_get_threads (pool));
  cvis_pool_free (pool);
  printf ("%-20s %9s %9s %9s %9s\n", "", "ms", "GB/s", "CPU ms", "GB/CPU s");
  print_row ("read", copy.size, least[0]);
  print_row ("write", parts, least[4]);
  print_row ("write, one piece", parts, least[1]);
  print_row ("memcpy", copy.size, least[2]);
  print_row ("strtod, one thread", copy.size, least[3]);
  copy.from = g_bytes_get_data (written, &size);
  again = bundle_read (copy.from, size, BUNDLE_FORMAT_BAL, threads, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (again->points, 24 * (gsize) again->n_points, read->points,
      24 * (gsize) read->n_points);
  g_assert_cmpmem (again->observed, 16 * again->n_observations, read->observed,
      16 * read->n_observations);
  return 0;
}
