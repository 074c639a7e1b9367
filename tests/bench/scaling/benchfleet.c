/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "benchfleet.h"

#include "cuda/core/histogram.h"

typedef struct Run Run;

typedef struct {
  Run *run;
  guint index;
  GThread *thread;
  GQueue chunks; /* submitted, without the one that is computed */
  guint done;
  guint64 busy_ns;
} Device;

typedef struct {
  guint device;
  guint64 begin, end;
  gdouble memory_used;
} Chunk;

struct Run {
  const BenchFleet *fleet;
  CvisBalancer *balancer;

  GMutex lock; /* protects the balancer and the members below and of Device */
  GCond changed;
  guint in_flight[BENCH_FLEET_MAX];
  Device devices[BENCH_FLEET_MAX];
  Chunk *chunks;
  gboolean stop;
  GError *error;
};

/* Computes chunks until the run stops. */
static gpointer
device_thread (gpointer user_data)
{
  Device *device = user_data;
  Run *run = device->run;
  const BenchFleet *fleet = run->fleet;

  g_mutex_lock (&run->lock);
  while (!run->stop) {
    guint index;
    Chunk chunk = { .device = device->index };
    GError *error = NULL;

    if (g_queue_is_empty (&device->chunks)) {
      g_cond_wait (&run->changed, &run->lock);
      continue;
    }
    index = GPOINTER_TO_UINT (g_queue_pop_head (&device->chunks));
    g_mutex_unlock (&run->lock);
    chunk.begin = cvis_monotonic_ns ();
    fleet->compute (fleet->user_data, device->index, index, &error);
    chunk.end = cvis_monotonic_ns ();
    if (fleet->get_memory_used != NULL)
      chunk.memory_used =
          fleet->get_memory_used (fleet->user_data, device->index);
    g_mutex_lock (&run->lock);
    if (error != NULL && run->error == NULL)
      run->error = g_steal_pointer (&error);
    g_clear_error (&error);
    run->chunks[index] = chunk;
    device->done++;
    device->busy_ns += chunk.end - chunk.begin;
    run->in_flight[device->index]--;
    cvis_balancer_finished (run->balancer, device->index, chunk.begin,
        chunk.end, chunk.memory_used);
    g_cond_broadcast (&run->changed);
  }
  g_mutex_unlock (&run->lock);
  return NULL;
}

/* With the lock. */
static void
submit_chunks (Run *run, guint n_chunks, guint depth)
{
  for (guint chunk = 0; chunk < n_chunks && run->error == NULL;) {
    gint d = cvis_balancer_choose (run->balancer, run->in_flight, depth);

    if (d < 0) {
      g_cond_wait (&run->changed, &run->lock);
      continue;
    }
    run->in_flight[d]++;
    g_queue_push_tail (&run->devices[d].chunks, GUINT_TO_POINTER (chunk++));
    g_cond_broadcast (&run->changed);
  }
  for (guint d = 0; d < run->fleet->n_devices; d++)
    while (run->in_flight[d] > 0)
      g_cond_wait (&run->changed, &run->lock);
}

static void
write_chunks (const Run *run, guint n_chunks, FILE *csv, guint number)
{
  const BenchFleet *fleet = run->fleet;

  for (guint i = 0; i < n_chunks; i++) {
    const Chunk *chunk = &run->chunks[i];
    const CvisDeviceTraits *traits = &fleet->traits[chunk->device];

    fprintf (csv, "%s,%u,%u,%g,%g,%g,%g,%g,%u,", fleet->source, number,
        chunk->device, traits->flops, traits->memory, traits->multiprocessors,
        traits->memory_rate, traits->boost_clock,
        fleet->slowdown[chunk->device]);
    fprintf (csv, "%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT ",%.4f\n",
        chunk->begin, chunk->end, chunk->memory_used);
  }
}

void
bench_fleet_write_header (FILE *csv)
{
  fprintf (csv, "source,run,device,flops,memory,multiprocessors,memory_rate,"
                "boost_clock,slowdown,begin_ns,end_ns,memory_used\n");
}

gboolean
bench_fleet_run (const BenchFleet *fleet, CvisBalancer *balancer,
    guint n_chunks, guint depth, FILE *csv, guint number,
    BenchFleetResult *result, GError **error)
{
  Run run = { .fleet = fleet, .balancer = balancer };
  guint64 start;

  g_mutex_init (&run.lock);
  g_cond_init (&run.changed);
  run.chunks = g_new0 (Chunk, n_chunks);
  for (guint d = 0; d < fleet->n_devices; d++) {
    run.devices[d] = (Device){ .run = &run, .index = d };
    g_queue_init (&run.devices[d].chunks);
    run.devices[d].thread =
        g_thread_new ("device", device_thread, &run.devices[d]);
  }
  start = cvis_monotonic_ns ();
  g_mutex_lock (&run.lock);
  submit_chunks (&run, n_chunks, depth);
  result->seconds = (gdouble) (cvis_monotonic_ns () - start) * 1e-9;
  run.stop = TRUE;
  g_cond_broadcast (&run.changed);
  g_mutex_unlock (&run.lock);
  for (guint d = 0; d < fleet->n_devices; d++) {
    g_thread_join (run.devices[d].thread);
    g_queue_clear (&run.devices[d].chunks);
    result->chunks[d] = run.devices[d].done;
    result->busy[d] = (gdouble) run.devices[d].busy_ns * 1e-9;
  }
  if (csv != NULL && run.error == NULL)
    write_chunks (&run, n_chunks, csv, number);
  g_free (run.chunks);
  g_cond_clear (&run.changed);
  g_mutex_clear (&run.lock);
  if (run.error != NULL)
    g_propagate_error (error, run.error);
  return run.error == NULL;
}
