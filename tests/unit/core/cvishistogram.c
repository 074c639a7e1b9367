/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/core/histogram.h"

#include <math.h>
#include <stdlib.h>

#define SAMPLES 5000

static int
compare (const void *a, const void *b)
{
  guint64 x = *(const guint64 *) a, y = *(const guint64 *) b;

  return (x > y) - (x < y);
}

/* Percentiles of log-uniform durations compared with the sorted samples:
 * never below, and at most one bucket above. */
static void
test_percentiles (void)
{
  static const gdouble fractions[] = { 0, 0.001, 0.1, 0.5, 0.9, 0.99, 0.999,
    1 };
  static guint64 samples[SAMPLES];
  static CvisHistogram histogram;

  for (guint round = 0; round < 20; round++) {
    guint n = (guint) g_test_rand_int_range (1, SAMPLES + 1);
    gdouble octaves = g_test_rand_double_range (1, 43);

    cvis_histogram_clear (&histogram);
    for (guint i = 0; i < n; i++) {
      samples[i] =
          (guint64) exp2 (g_test_rand_double_range (0, octaves)) - (i & 1);
      cvis_histogram_add (&histogram, samples[i], 1);
    }
    qsort (samples, n, sizeof samples[0], compare);
    for (guint k = 0; k < G_N_ELEMENTS (fractions); k++) {
      guint64 rank = (guint64) (fractions[k] * n + 0.5);
      guint64 exact = samples[CLAMP (rank, 1, n) - 1];
      guint64 got = cvis_histogram_percentile (&histogram, fractions[k]);

      g_assert_cmpuint (got, >=, exact);
      g_assert_cmpfloat ((gdouble) got, <=, (gdouble) exact * 1.125);
    }
    g_assert_cmpuint (histogram.max, ==, samples[n - 1]);
    g_assert_cmpuint (histogram.count, ==, n);
  }
}

static void
test_edges (void)
{
  static CvisHistogram histogram;

  cvis_histogram_clear (&histogram);
  g_assert_cmpuint (cvis_histogram_percentile (&histogram, 0.5), ==, 0);
  cvis_histogram_add (&histogram, G_MAXUINT64, 3);
  g_assert_cmpuint (cvis_histogram_percentile (&histogram, 1), >, 0);
  g_assert_cmpuint (histogram.max, ==, G_MAXUINT64);
  cvis_histogram_clear (&histogram);
  cvis_histogram_add (&histogram, 0, 1);
  cvis_histogram_add (&histogram, 1000, 99);
  g_assert_cmpuint (cvis_histogram_percentile (&histogram, 0.01), ==, 0);
  g_assert_cmpuint (cvis_histogram_percentile (&histogram, 0.02), ==, 1000);
}

static void
test_clock (void)
{
  guint64 last = cvis_monotonic_ns ();

  for (guint i = 0; i < 1000; i++) {
    guint64 now = cvis_monotonic_ns ();
    g_assert_cmpuint (now, >=, last);
    last = now;
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/histogram/percentiles", test_percentiles);
  g_test_add_func ("/histogram/edges", test_edges);
  g_test_add_func ("/histogram/clock", test_clock);
  return g_test_run ();
}
