/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* CvisFleet: several engines, one for each device, with the interface of a single
 * engine: a job is submitted, and the oldest job is waited for. Jobs leave in the order
 * in which they were submitted, with the bits of a single device.
 *
 * A device gets its next jobs when it has room, and two threads for each device submit
 * to its engine and wait for it. A device whose engine fails is lost: its jobs are
 * computed by the other devices. */
#pragma once

#include "cuda/core/fleet/balancer.h"
#include "cuda/core/error.h"

G_BEGIN_DECLS

#define CVIS_FLEET_MAX_DEVICES 64

typedef struct _CvisFleet CvisFleet;

/**
 * CvisFleetOps: the functions of an engine
 * @check: (nullable): reports an error of the caller's data and changes nothing; may run
 *   at the same time as the other functions
 * @submit: takes the next job. CVIS_ERROR_INVALID and CVIS_ERROR_FORMAT are errors of
 *   this job; after any other error the device is lost
 * @load: (nullable): reads the input of a job that others need and does not compute it;
 *   complete when the jobs that need it are. At most two chunks then have jobs in the
 *   engine
 * @end: (nullable): the next job is not the successor of the one before; jobs that wait
 *   for later ones are started
 * @wait: completes the oldest job and returns it; errors as in @submit
 * @free: waits for jobs in flight and frees the engine. Afterwards no job is accessed
 *
 * One thread calls @submit, @load and @end, another one @wait.
 */
typedef struct {
  gboolean (*check) (gpointer engine, gconstpointer job, GError **error);
  gboolean (*submit) (gpointer engine, gpointer job, GError **error);
  gboolean (*load) (gpointer engine, gpointer job, GError **error);
  void (*end) (gpointer engine);
  gboolean (*wait) (gpointer engine, gpointer *job, GError **error);
  void (*free) (gpointer engine);
} CvisFleetOps;

/**
 * CvisFleetDevice: a device of a new fleet
 * @engine: belongs to the fleet
 * @name: for errors, such as "device 1"; copied
 * @slowness: with the build's option test-hooks: multiplies the time of each job; 0 and
 *   1: no effect
 * @fail_at: with the build's option test-hooks: the device is lost when its job of this
 *   number, counted from 1, is complete; 0: never
 */
typedef struct {
  gpointer engine;
  const gchar *name;
#ifdef CVIS_TEST_HOOKS
  guint slowness;
  guint fail_at;
#endif
} CvisFleetDevice;

/**
 * CvisFleetConfig: the rest is zero
 * @ops: of all engines
 * @what: what a job is, in the plural, for errors
 * @depth: jobs in flight in an engine, not counting those that wait for later jobs, >= 1
 * @size: maximum number of jobs in flight in the fleet; 0: twice as many as the devices
 *   take. A slow device holds the oldest job while the others continue, so a fleet of
 *   unlike devices needs more
 * @chunk: consecutive jobs that a device takes at once; 0: 1
 * @before, @after: neighbours of a job in its stream that its device loads too
 * @balance: which device gets the next chunk, if there is no @choose
 * @traits: (nullable): of the devices, for CVIS_BALANCE_FUZZY
 * @choose: (nullable): the device for the next chunk, or -1: none now; called with a lock
 *   held. @in_flight: chunks of each device, @depth for those that have no room. %NULL:
 *   the device with room that has the fewest
 * @measure: (nullable): called with a lock held when a device has completed a chunk of
 *   @jobs jobs, with the device's busy time since the last call and what
 *   @get_memory_used returned last
 * @balancer: the first argument of @choose and @measure
 * @get_memory_used: (nullable): the fraction of the device memory in use, 0..1; called
 *   when a job of the device is complete, in a thread of the device
 * @replace: (nullable): makes an engine on the CPU when the last device is lost; called
 *   at most once, in any thread
 * @lose: (nullable): called once for each lost device, by the thread that waits
 * @finish: (nullable): called for each successful job before it is returned, in order,
 *   by the thread that waits
 * @release: (nullable): with @before: called for each job that was returned when its
 *   input is no longer needed, in order, by the thread that waits
 * @free_user_data: (nullable): called when the fleet has been freed
 */
typedef struct {
  const CvisFleetOps *ops;
  const gchar *what;
  guint depth;
  guint size;
  guint chunk, before, after;
  CvisBalance balance;
  const CvisDeviceTraits *traits;
  gint (*choose) (gpointer balancer, const guint *in_flight, guint depth);
  void (*measure) (gpointer balancer, guint device, guint jobs, guint64 busy_ns,
      gdouble memory_used);
  gpointer balancer;
  gdouble (*get_memory_used) (guint device, gpointer user_data);
  gpointer (*replace) (gpointer user_data, GError **error);
  void (*lose) (guint device, const GError *error, gpointer user_data);
  void (*finish) (gpointer job, gpointer user_data);
  void (*release) (gpointer job, gpointer user_data);
  gpointer user_data;
  void (*free_user_data) (gpointer user_data);
} CvisFleetConfig;

/* @n: 1..CVIS_FLEET_MAX_DEVICES */
CvisFleet *cvis_fleet_new (
    const CvisFleetConfig *config, const CvisFleetDevice *devices, guint n);
/* Waits for jobs that have begun and frees the fleet with its engines. The other jobs
 * are dropped. @fleet: (nullable) */
void cvis_fleet_free (CvisFleet *fleet);
/* Maximum number of jobs in flight */
guint cvis_fleet_get_size (CvisFleet *fleet);

/* Submits the next job and returns at once. On FALSE the caller keeps the job and the
 * stream continues without it: it is invalid, the maximum number of jobs is in flight
 * (CVIS_ERROR_INVALID), or all devices are lost. submit and end may run in one thread
 * while wait runs in another. */
gboolean cvis_fleet_submit (CvisFleet *fleet, gpointer job, GError **error);
/* Ends the stream: jobs do not wait for later ones, and the next job is the first of a
 * new stream. */
void cvis_fleet_end (CvisFleet *fleet);
/* Completes the oldest job in flight and returns it in @job: %NULL if there is none or it
 * needs later jobs. On FALSE the job is returned too, but its results are not valid. If
 * all devices are lost, this is so for the first incomplete job and all later ones. */
gboolean cvis_fleet_wait (CvisFleet *fleet, gpointer *job, GError **error);

/**
 * CvisFleetStats: of a device
 * @name: valid until the fleet is freed
 * @chunks: that the device took
 * @jobs: computed, not counting those of its chunks that others had to compute
 * @share: of the jobs that all devices computed, 0..1
 * @busy_ns: time with at least one job in the engine, nanoseconds
 * @busy: that as a fraction of the time since the fleet was made, 0..1
 * @estimate: fraction of the jobs that the balancer intends for it, 0..1
 */
typedef struct {
  const gchar *name;
  guint64 chunks, jobs;
  gdouble share;
  guint64 busy_ns;
  gdouble busy, estimate;
  gboolean lost;
} CvisFleetStats;

/* Statistics of all devices at the same time, for any thread.
 * @stats: room for CVIS_FLEET_MAX_DEVICES + 1 devices
 * Returns: number of devices; the last one may be the engine of replace() */
guint cvis_fleet_get_stats (CvisFleet *fleet, CvisFleetStats *stats);

G_END_DECLS
