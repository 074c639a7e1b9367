/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "benchring.h"

#include <stdlib.h>
#include <string.h>

#include "pbfframes.h"
#include "pbfreference.h"

#define SIDE 96

static BenchRing *
ring_alloc (guint n)
{
  BenchRing *ring = g_new0 (BenchRing, 1);
  void *results = NULL;

  ring->n = n;
  ring->pixels = g_malloc ((gsize) n * SIDE * SIDE);
  ring->frames = g_new0 (const guint8 *, n);
  ring->strides = g_new0 (guint, n);
  ring->infos = g_new0 (PbfFrameInfo, n);
  if (posix_memalign (&results, 64, n * sizeof *ring->results) != 0)
    g_error ("out of memory");
  ring->results = memset (results, 0, n * sizeof *ring->results);
  for (guint i = 0; i < n; i++) {
    ring->frames[i] = ring->pixels + (gsize) i * SIDE * SIDE;
    ring->strides[i] = SIDE;
  }
  return ring;
}

/* Gives the frame a position near its brightest spot. */
static void
place (BenchRing *ring, guint i, PbfReference *ref)
{
  PbfFrameInfo info = { .entry = PBF_ENTER,
    .position = PBF_POSITION_BRIGHTEST };

  pbf_reference_frame (ref, ring->frames[i], SIDE, &info, &ring->results[i]);
  ring->infos[i].entry = PBF_ENTER;
  ring->infos[i].position = PBF_POSITION_GIVEN;
  ring->infos[i].e_x_q8 = ring->results[i].e_x_q8 + i % 256;
  ring->infos[i].e_y_q8 = ring->results[i].e_y_q8 + i * 7 % 256;
}

BenchRing *
bench_ring_new (guint n)
{
  PbfRandom random = { 1 };
  BenchRing *ring = ring_alloc (n);
  PbfConfig config;
  PbfReference *ref;

  pbf_config_init (&config);
  ref = pbf_reference_new (&config, NULL);
  for (guint i = 0; i < n; i++) {
    /* a melt pool, sometimes spatters, noise below 25 */
    pbf_frame_fill (
        &random, i % 4 ? 9 : 7, (guint8 *) ring->frames[i], SIDE, SIDE, SIDE);
    place (ring, i, ref);
  }
  pbf_reference_free (ref);
  return ring;
}

BenchRing *
bench_ring_copy (const BenchRing *ring)
{
  BenchRing *copy = ring_alloc (ring->n);

  memcpy (copy->pixels, ring->pixels, (gsize) ring->n * SIDE * SIDE);
  memcpy (copy->infos, ring->infos, ring->n * sizeof *ring->infos);
  return copy;
}

void
bench_ring_free (BenchRing *ring)
{
  free (ring->results);
  g_free (ring->infos);
  g_free (ring->strides);
  g_free (ring->frames);
  g_free (ring->pixels);
  g_free (ring);
}

static int
by_value (const void *a, const void *b)
{
  gdouble d = *(const gdouble *) a - *(const gdouble *) b;

  return d < 0 ? -1 : d > 0;
}

gdouble
bench_median (gdouble *values, guint n)
{
  qsort (values, n, sizeof *values, by_value);
  return values[n / 2];
}
