/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/core/histogram.h"

#include <string.h>
#include <time.h>

/* Values 0..15 have a bucket each; above, the top four bits choose it. */
static guint
bucket_of (guint64 ns)
{
  guint octave;

  if (ns < 16)
    return (guint) ns;
  octave = 63 - (guint) __builtin_clzll (ns);
  return MIN (16 + (octave - 4) * 8 + (guint) ((ns >> (octave - 3)) & 7),
      CVIS_HISTOGRAM_BUCKETS - 1);
}

static guint64
upper_edge (guint bucket)
{
  guint octave;

  if (bucket < 16)
    return bucket;
  octave = (bucket - 16) / 8 + 4;
  return ((guint64) (8 + (bucket - 16) % 8 + 1) << (octave - 3)) - 1;
}

void
cvis_histogram_clear (CvisHistogram *histogram)
{
  memset (histogram, 0, sizeof *histogram);
}

void
cvis_histogram_add (CvisHistogram *histogram, guint64 ns, guint64 times)
{
  histogram->bucket[bucket_of (ns)] += times;
  histogram->count += times;
  histogram->max = MAX (histogram->max, ns);
}

guint64
cvis_histogram_percentile (const CvisHistogram *histogram, gdouble fraction)
{
  guint64 below = 0, wanted;

  if (histogram->count == 0)
    return 0;
  wanted = (guint64) (fraction * (gdouble) histogram->count + 0.5);
  wanted = CLAMP (wanted, 1, histogram->count);
  for (guint i = 0; i < CVIS_HISTOGRAM_BUCKETS; i++) {
    below += histogram->bucket[i];
    if (below >= wanted)
      return MIN (upper_edge (i), histogram->max);
  }
  return histogram->max;
}

guint64
cvis_monotonic_ns (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return (guint64) now.tv_sec * 1000000000u + (guint64) now.tv_nsec;
}
