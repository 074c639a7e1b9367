/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Runs chunks of work on a fleet of devices under a policy (cuda/core/fleet/balancer.h), for
 * bench_balance. How a device computes a chunk is a function, so that posed devices on the
 * CPU and real ones run under the same loop. */
#pragma once

#include <stdio.h>

#include "cuda/core/fleet/balancer.h"

G_BEGIN_DECLS

#define BENCH_FLEET_MAX 16 /* devices */

typedef struct {
  const gchar *source; /* what the devices are, for the CSV */
  guint n_devices;
  CvisDeviceTraits traits[BENCH_FLEET_MAX];
  guint slowdown[BENCH_FLEET_MAX]; /* k: how often a device repeats its work */

  /* Computes a chunk and returns when it is complete. Each device calls it on a thread
   * of its own, one chunk after the other.
   * Returns: FALSE with an error that names the device */
  gboolean (*compute) (
      gpointer user_data, guint device, guint chunk, GError **error);
  /* (nullable): the fraction of the device memory in use, 0..1; on the same thread */
  gdouble (*get_memory_used) (gpointer user_data, guint device);
  gpointer user_data;
} BenchFleet;

typedef struct {
  gdouble seconds; /* from the first submission to the last chunk */
  guint chunks[BENCH_FLEET_MAX]; /* computed by each device */
  gdouble busy[BENCH_FLEET_MAX]; /* seconds in compute () */
} BenchFleetResult;

/* Computes @n_chunks under the policy of @balancer, with up to @depth in flight on a device.
 * @csv: (nullable): gets a line for each chunk, see bench_fleet_write_header()
 * @run: a number for the CSV
 * Returns: FALSE with the first error of compute () */
gboolean bench_fleet_run (const BenchFleet *fleet, CvisBalancer *balancer,
    guint n_chunks, guint depth, FILE *csv, guint run, BenchFleetResult *result,
    GError **error);

/* The columns that scripts/train-balancer reads. */
void bench_fleet_write_header (FILE *csv);

G_END_DECLS
