/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Scaling of the melt-pool engine's CPU backend with threads: frames a
 * second for the whole chain (96x96 frames, 40x40 ROI, window 20, network
 * 40-164-2), batches of 256, 1,024 and 4,096 frames, and 1, 2, 4, 8 and 16
 * threads, up to the number of processors:
 *
 *   copies     several engines of one thread each, with frames of their own: the
 *              machine's own limit
 *   in flight  one engine, three batches in flight, as in cudapbfmonitor
 *   singly     one engine, each batch submitted when the one before is complete
 *
 * The variants alternate; medians over rounds. "of linear": relative to that
 * multiple of the engine with one thread; "of copies": relative to the same
 * number of copies in the same rounds.
 *
 *   bench_meltpool_threads [rounds] [most threads] */
#include <stdio.h>
#include <stdlib.h>

#include "benchring.h"
#include "cuda/core/histogram.h"
#include "pbfframes.h"
#include "pbfreference.h"

#define MAX_THREADS 16
#define DEPTH 3
#define FRAMES 16384 /* at least, of a measurement with one thread */

enum { COPIES, IN_FLIGHT, SINGLY, N_WAYS };

static const gchar *const way_names[] = { "copies", "in flight", "singly" };

typedef struct {
  PbfEngine *engine;
  PbfBatch batches[DEPTH];
  BenchRing *rings[DEPTH];
  guint depth;     /* batches in flight */
  guint n;         /* batches to compute */
  GThread *thread; /* of a copy */
} Line;

static void
line_init (Line *line, const BenchRing *ring, PbfModel *model, guint threads,
    guint depth)
{
  GError *error = NULL;
  PbfConfig config;

  pbf_config_init (&config);
  config.threads = threads;
  config.max_batch = ring->n;
  config.depth = MAX (depth, 2);
  line->depth = depth;
  line->engine = pbf_engine_new (&config, model, NULL, &error);
  if (line->engine == NULL)
    g_error ("%s", error->message);
  for (guint k = 0; k < depth; k++) {
    BenchRing *own = bench_ring_copy (ring);

    line->rings[k] = own;
    line->batches[k] = (PbfBatch){ .n = own->n,
      .frames = own->frames,
      .strides = own->strides,
      .infos = own->infos,
      .results = own->results };
  }
}

static void
line_clear (Line *line)
{
  pbf_engine_free (line->engine);
  for (guint k = 0; k < line->depth; k++)
    bench_ring_free (line->rings[k]);
}

static gpointer
line_run (gpointer data)
{
  Line *line = data;
  GError *error = NULL;
  PbfBatch *done;

  for (guint b = 0; b < line->n + line->depth - 1; b++) {
    if (b < line->n
        && !pbf_engine_submit (
            line->engine, &line->batches[b % line->depth], &error))
      g_error ("%s", error->message);
    if (b + 1 >= line->depth && !pbf_engine_wait (line->engine, &done, &error))
      g_error ("%s", error->message);
  }
  return NULL;
}

/* Nanoseconds a frame, for all lines together. */
static gdouble
time_lines (Line *lines, guint n_lines, guint batches)
{
  guint64 start = cvis_monotonic_ns ();

  for (guint i = 0; i < n_lines; i++)
    lines[i].n = batches;
  for (guint i = 1; i < n_lines; i++)
    lines[i].thread = g_thread_new ("copy", line_run, &lines[i]);
  line_run (&lines[0]);
  for (guint i = 1; i < n_lines; i++)
    g_thread_join (lines[i].thread);
  return (gdouble) (cvis_monotonic_ns () - start)
         / ((gdouble) n_lines * batches * lines[0].rings[0]->n);
}

/* The three variants with one number of threads. */
typedef struct {
  guint threads;
  Line lines[N_WAYS][MAX_THREADS];
  gdouble *ns[N_WAYS];
} Case;

static guint
case_n_lines (const Case *c, guint way)
{
  return way == COPIES ? c->threads : 1;
}

static void
case_init (Case *c, const BenchRing *ring, PbfModel *model, guint threads,
    guint rounds)
{
  c->threads = threads;
  for (guint way = 0; way < N_WAYS; way++) {
    c->ns[way] = g_new (gdouble, rounds);
    for (guint i = 0; i < case_n_lines (c, way); i++)
      line_init (&c->lines[way][i], ring, model, way == COPIES ? 1 : threads,
          way == SINGLY ? 1 : DEPTH);
  }
}

static void
case_clear (Case *c)
{
  for (guint way = 0; way < N_WAYS; way++) {
    for (guint i = 0; i < case_n_lines (c, way); i++)
      line_clear (&c->lines[way][i]);
    g_free (c->ns[way]);
  }
}

static void
case_round (Case *c, guint round, guint batch)
{
  guint batches = MAX (FRAMES / batch, 2 * DEPTH);

  for (guint way = 0; way < N_WAYS; way++)
    c->ns[way][round] = time_lines (c->lines[way], case_n_lines (c, way),
        way == COPIES ? batches : batches * c->threads);
}

static void
measure (guint batch, PbfModel *model, guint most, guint rounds)
{
  BenchRing *ring = bench_ring_new (batch);
  gdouble one[N_WAYS] = { 0 };
  Case *cases = g_new0 (Case, 5);
  guint n = 0;

  for (guint threads = 1; threads <= most; threads *= 2)
    case_init (&cases[n++], ring, model, threads, rounds);
  for (guint i = 0; i < n; i++)
    case_round (&cases[i], 0, batch); /* warm-up, overwritten later */
  for (guint round = 0; round < rounds; round++)
    for (guint i = 0; i < n; i++)
      case_round (&cases[i], round, batch);
  for (guint i = 0; i < n; i++) {
    gdouble ns[N_WAYS];

    for (guint way = 0; way < N_WAYS; way++) {
      ns[way] = bench_median (cases[i].ns[way], rounds);
      if (i == 0)
        one[way] = ns[way];
      printf ("%6u %8u  %-10s %9.1f %9.3f %10.2f %10.2f\n", batch,
          cases[i].threads, way_names[way], ns[way], 1e3 / ns[way],
          one[way] / ns[way] / cases[i].threads, ns[COPIES] / ns[way]);
    }
    case_clear (&cases[i]);
  }
  g_free (cases);
  bench_ring_free (ring);
}

int
main (int argc, char **argv)
{
  static const guint batches[] = { 256, 1024, 4096 };
  guint rounds = argc > 1 ? (guint) atoi (argv[1]) : 11;
  guint most = argc > 2 ? (guint) atoi (argv[2]) : g_get_num_processors ();
  PbfRandom random = { 2 };
  PbfModel *model = pbf_random_model (&random, 164, 2);

  rounds = MAX (rounds, 1);
  most = CLAMP (most, 1, MAX_THREADS);
  printf ("melt-pool engine, CPU, 96x96 frames, 40x40 ROI, window 20, network "
          "40-164-2; %u processors, median of %u rounds\n%6s %8s  %-10s %9s "
          "%9s %10s %10s\n",
      g_get_num_processors (), rounds, "batch", "threads", "way", "ns/frame",
      "M/s", "of linear", "of copies");
  for (guint i = 0; i < G_N_ELEMENTS (batches); i++)
    measure (batches[i], model, most, rounds);
  pbf_model_unref (model);
  return 0;
}
