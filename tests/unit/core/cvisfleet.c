/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The fleet with engines that only add numbers: order, neighbours of jobs, loss of
 * devices, errors of the caller. */
#include "cuda/core/fleet/fleet.h"

#include <string.h>

#define MAX_JOBS 128
#define POISON 0xdeadbeefu

/* The result of a job is made from its value and its neighbours' in the stream. */
typedef struct {
  guint32 value;
  guint64 result;
  gboolean invalid; /* the check refuses it */
  gboolean hidden;  /* the check accepts it, the engine refuses it */
  gboolean returned, released;
} Job;

typedef enum {
  FAULT_NONE,
  FAULT_SUBMIT,
  FAULT_WAIT,
  FAULT_NO_JOB, /* wait returns nothing */
  FAULT_LOAD,
  N_FAULTS
} Fault;

typedef struct {
  guint32 value;
  Job *job; /* NULL: only loaded */
} Frame;

typedef struct {
  guint before, after;
  Fault fault;
  guint fault_at; /* call that fails */
  guint calls[N_FAULTS];
  guint sleep_us;
  gint completed;   /* atomic: jobs */
  const gint *gate; /* atomic: waits until it has the value gate_at */
  gint gate_at;
  gint *faults; /* atomic: number of faults so far */

  GMutex lock;
  GArray *frames; /* since the engine was made; a value of 0 ends a stream */
  guint oldest;   /* index of the oldest incomplete frame */
} Engine;

/* --- the engine ------------------------------------------------------------------ */

static gboolean
has_fault (Engine *engine, Fault fault)
{
  if (fault != engine->fault || engine->calls[fault]++ != engine->fault_at)
    return FALSE;
  g_atomic_int_inc (engine->faults);
  return TRUE;
}

static gboolean
set_fault (GError **error)
{
  g_set_error_literal (error, CVIS_ERROR, CVIS_ERROR_CUDA, "a fault");
  return FALSE;
}

static void
append_frame (Engine *engine, guint32 value, Job *job)
{
  Frame frame = { value, job };

  g_mutex_lock (&engine->lock);
  g_array_append_val (engine->frames, frame);
  g_mutex_unlock (&engine->lock);
}

static gboolean
check (gpointer engine, gconstpointer job, GError **error)
{
  return !((const Job *) job)->invalid || cvis_refuse (error, "invalid value");
}

static gboolean
submit (gpointer engine, gpointer job, GError **error)
{
  if (has_fault (engine, FAULT_SUBMIT))
    return set_fault (error);
  if (((Job *) job)->hidden)
    return cvis_refuse (error, "hidden fault of the value");
  append_frame (engine, ((Job *) job)->value, job);
  return TRUE;
}

static gboolean
load (gpointer engine, gpointer job, GError **error)
{
  if (has_fault (engine, FAULT_LOAD))
    return set_fault (error);
  append_frame (engine, ((Job *) job)->value, NULL);
  return TRUE;
}

static void
end (gpointer engine)
{
  append_frame (engine, 0, NULL);
}

static guint64
mix (guint64 sum, gint distance, guint32 value)
{
  return sum * 31 + (guint64) (distance + 100) * value;
}

static Frame *
frame_at (Engine *engine, guint i)
{
  return &g_array_index (engine->frames, Frame, i);
}

/* Returns: FALSE if later frames are missing */
static gboolean
compute (Engine *engine, guint i, guint64 *result)
{
  *result = 0;
  for (guint k = engine->before; k > 0; k--) {
    gboolean there = i >= k;

    for (guint d = 1; there && d <= k; d++)
      there = frame_at (engine, i - d)->value != 0;
    if (there)
      *result = mix (*result, -(gint) k, frame_at (engine, i - k)->value);
  }
  *result = mix (*result, 0, frame_at (engine, i)->value);
  for (guint k = 1; k <= engine->after; k++) {
    if (i + k >= engine->frames->len)
      return FALSE;
    if (frame_at (engine, i + k)->value == 0)
      break;
    *result = mix (*result, (gint) k, frame_at (engine, i + k)->value);
  }
  return TRUE;
}

static gboolean
wait (gpointer user_data, gpointer *job, GError **error)
{
  Engine *engine = user_data;
  guint64 result = 0;
  Job *oldest = NULL;

  *job = NULL;
  g_mutex_lock (&engine->lock);
  while (engine->oldest < engine->frames->len
         && frame_at (engine, engine->oldest)->job == NULL)
    engine->oldest++;
  if (engine->oldest < engine->frames->len) {
    oldest = frame_at (engine, engine->oldest)->job;
    /* the fleet does not wait for a job that needs later ones */
    g_assert_true (compute (engine, engine->oldest, &result));
  }
  g_mutex_unlock (&engine->lock);
  g_assert_nonnull (oldest);
  while (engine->gate && g_atomic_int_get (engine->gate) < engine->gate_at)
    g_usleep (100);
  if (engine->sleep_us > 0)
    g_usleep (engine->sleep_us);
  if (has_fault (engine, FAULT_NO_JOB))
    return TRUE;
  *job = oldest;
  oldest->result = POISON;
  if (has_fault (engine, FAULT_WAIT))
    return set_fault (error);
  oldest->result = result;
  g_mutex_lock (&engine->lock);
  frame_at (engine, engine->oldest++)->job = NULL;
  g_mutex_unlock (&engine->lock);
  g_atomic_int_inc (&engine->completed);
  return TRUE;
}

/* The engine owns its jobs until here. */
static void
free_engine (gpointer user_data)
{
  Engine *engine = user_data;

  for (guint i = 0; i < engine->frames->len; i++)
    if (frame_at (engine, i)->job != NULL)
      frame_at (engine, i)->job->result = POISON;
  g_array_free (engine->frames, TRUE);
  g_mutex_clear (&engine->lock);
  g_free (engine);
}

static const CvisFleetOps ops = { check, submit, load, end, wait, free_engine };

static Engine *
new_engine (const CvisFleetConfig *config, gint *faults)
{
  Engine *engine = g_new0 (Engine, 1);

  engine->before = config->before;
  engine->after = config->after;
  engine->faults = faults;
  engine->frames = g_array_new (FALSE, FALSE, sizeof (Frame));
  g_mutex_init (&engine->lock);
  return engine;
}

/* --- a run ------------------------------------------------------------------------- */

typedef struct {
  CvisFleetConfig config;
  CvisFleet *fleet;
  Engine *engines[8]; /* not valid after a loss */
  guint n;
  Job jobs[MAX_JOBS];
  gboolean last[MAX_JOBS]; /* a stream ends after the job */
  guint n_jobs, n_submitted, n_returned, n_finished, n_released, n_lost;
  gint faults;
} Run;

static void
finish (gpointer job, gpointer user_data)
{
  Run *run = user_data;

  while (
      run->jobs[run->n_finished].invalid || run->jobs[run->n_finished].hidden)
    run->n_finished++;
  g_assert_true (job == &run->jobs[run->n_finished++]);
}

/* The input is poisoned: a later use would show in a result. */
static void
release (gpointer user_job, gpointer user_data)
{
  Run *run = user_data;
  Job *job = user_job;

  while (run->jobs[run->n_released].invalid)
    run->n_released++;
  g_assert_true (job == &run->jobs[run->n_released++]);
  g_assert_true (job->returned && !job->released);
  job->released = TRUE;
  job->value = POISON;
}

static void
lose (guint device, const GError *error, gpointer user_data)
{
  Run *run = user_data;

  g_assert_nonnull (error);
  g_assert_nonnull (strstr (error->message, "device "));
  run->n_lost++;
}

static gpointer
replace (gpointer user_data, GError **error)
{
  Run *run = user_data;

  return new_engine (&run->config, &run->faults);
}

static Run *
new_run (guint n, guint n_jobs)
{
  Run *run = g_new0 (Run, 1);

  run->n = n;
  run->n_jobs = n_jobs;
  for (guint i = 0; i < n_jobs; i++)
    run->jobs[i].value = 1 + (guint32) g_test_rand_int_range (0, 1 << 20);
  run->config = (CvisFleetConfig){ .ops = &ops,
    .what = "numbers",
    .depth = 2,
    .lose = lose,
    .finish = finish,
    .release = release,
    .user_data = run };
  return run;
}

static void
randomise (Run *run)
{
  CvisFleetConfig *config = &run->config;

  config->depth = (guint) g_test_rand_int_range (1, 4);
  config->chunk = (guint) g_test_rand_int_range (0, 6);
  config->before = (guint) g_test_rand_int_range (0, 4);
  config->after = (guint) g_test_rand_int_range (0, 4);
  if (g_test_rand_bit ())
    config->size = (guint) g_test_rand_int_range (1, 40);
  for (guint i = 0; i < run->n_jobs; i++)
    run->last[i] = g_test_rand_int_range (0, 12) == 0;
}

static void
start (Run *run)
{
  CvisFleetDevice devices[8] = { { NULL } };

  for (guint i = 0; i < run->n; i++) {
    run->engines[i] = new_engine (&run->config, &run->faults);
    devices[i].engine = run->engines[i];
  }
  run->fleet = cvis_fleet_new (&run->config, devices, run->n);
}

/* The result by the definition, from all jobs that were submitted. */
static guint64
expect (const Run *run, const guint32 *values, guint i)
{
  guint64 sum = 0;
  GArray *line = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint here = 0;

  for (guint k = 0; k < run->n_jobs; k++) {
    if (run->jobs[k].invalid) {
      if (run->last[k] && k < i)
        g_array_set_size (line, 0);
      if (run->last[k] && k > i)
        break;
      continue;
    }
    if (k == i)
      here = line->len;
    g_array_append_val (line, values[k]);
    if (run->last[k] && k < i)
      g_array_set_size (line, 0);
    if (run->last[k] && k >= i)
      break;
  }
  for (guint k = run->config.before; k > 0; k--)
    if (here >= k)
      sum = mix (sum, -(gint) k, g_array_index (line, guint32, here - k));
  sum = mix (sum, 0, g_array_index (line, guint32, here));
  for (guint k = 1; k <= run->config.after && here + k < line->len; k++)
    sum = mix (sum, (gint) k, g_array_index (line, guint32, here + k));
  g_array_free (line, TRUE);
  return sum;
}

static void
submit_next (Run *run)
{
  const guint i = run->n_submitted++;
  GError *error = NULL;
  const gboolean ok = cvis_fleet_submit (run->fleet, &run->jobs[i], &error);

  g_assert_true (ok == !run->jobs[i].invalid);
  if (!ok)
    g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
  g_clear_error (&error);
  if (run->last[i])
    cvis_fleet_end (run->fleet);
}

/* Returns: FALSE if no job came */
static gboolean
wait_next (Run *run)
{
  GError *error = NULL;
  gpointer job;
  const gboolean ok = cvis_fleet_wait (run->fleet, &job, &error);

  if (job == NULL) {
    g_assert_no_error (error);
    return FALSE;
  }
  while (run->jobs[run->n_returned].invalid)
    run->n_returned++;
  g_assert_true (job == &run->jobs[run->n_returned]);
  g_assert_true (ok == !run->jobs[run->n_returned].hidden);
  g_clear_error (&error);
  run->jobs[run->n_returned++].returned = TRUE;
  return TRUE;
}

static guint
count_valid (const Run *run)
{
  guint n = 0;

  for (guint i = 0; i < run->n_submitted; i++)
    n += !run->jobs[i].invalid;
  return n;
}

static guint
count_returned (const Run *run)
{
  guint n = 0;

  for (guint i = 0; i < run->n_jobs; i++)
    n += run->jobs[i].returned;
  return n;
}

/* All jobs by one thread, with random waits in between. */
static void
go (Run *run)
{
  guint32 values[MAX_JOBS];
  const guint size = cvis_fleet_get_size (run->fleet);

  for (guint i = 0; i < run->n_jobs; i++)
    values[i] = run->jobs[i].value;
  while (run->n_submitted < run->n_jobs)
    if (count_valid (run) - count_returned (run) == size
        || g_test_rand_int_range (0, 3) == 0)
      wait_next (run);
    else
      submit_next (run);
  cvis_fleet_end (run->fleet);
  while (wait_next (run))
    ;
  for (guint i = 0; i < run->n_jobs; i++) {
    g_assert_true (run->jobs[i].returned == !run->jobs[i].invalid);
    g_assert_true (run->jobs[i].released == !run->jobs[i].invalid);
    if (!run->jobs[i].invalid && !run->jobs[i].hidden)
      g_assert_cmphex (run->jobs[i].result, ==, expect (run, values, i));
  }
}

static void
end_run (Run *run)
{
  cvis_fleet_free (run->fleet);
  g_free (run);
}

/* --- tests -------------------------------------------------------------------------- */

/* Any number of devices, chunks and neighbours give the same results. */
static void
test_order (void)
{
  for (guint round = 0; round < 100; round++) {
    Run *run = new_run (1 + round % 4, 60);

    randomise (run);
    start (run);
    go (run);
    g_assert_cmpuint (run->n_lost, ==, 0);
    end_run (run);
  }
}

static gpointer
wait_all (gpointer user_data)
{
  Run *run = user_data;

  for (guint n = 0; n < run->n_jobs;)
    if (wait_next (run))
      n++;
    else
      g_usleep (10);
  return NULL;
}

/* One thread submits, another one waits. */
static void
test_threads (void)
{
  for (guint round = 0; round < 30; round++) {
    Run *run = new_run (1 + round % 4, 100);
    GError *error = NULL;
    GThread *waiter;

    randomise (run);
    start (run);
    waiter = g_thread_new ("wait", wait_all, run);
    for (guint i = 0; i < run->n_jobs; i++) {
      while (!cvis_fleet_submit (run->fleet, &run->jobs[i], &error)) {
        g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
        g_clear_error (&error);
        cvis_fleet_end (run->fleet); /* of size 1, with later neighbours */
        g_usleep (10);
      }
      if (run->last[i])
        cvis_fleet_end (run->fleet);
    }
    cvis_fleet_end (run->fleet);
    g_thread_join (waiter);
    end_run (run);
  }
}

/* While a device computes its first jobs, another one computes the rest. */
static void
test_unlike (void)
{
  CvisFleetStats stats[CVIS_FLEET_MAX_DEVICES + 1];
  Run *run = new_run (2, 60);

  run->config.size = 20;
  start (run);
  run->engines[0]->sleep_us = 1000;
  run->engines[0]->gate = &run->engines[1]->completed;
  run->engines[0]->gate_at = 18;
  while (run->n_submitted < 20)
    submit_next (run);
  go (run);
  g_assert_cmpuint (cvis_fleet_get_stats (run->fleet, stats), ==, 2);
  g_assert_cmpuint (stats[0].jobs + stats[1].jobs, ==, 60);
  g_assert_cmpuint (stats[0].chunks + stats[1].chunks, ==, 60);
  g_assert_cmpuint (stats[1].jobs, >=, 18);
  g_assert_cmpfloat_with_epsilon (stats[0].share + stats[1].share, 1, 1e-9);
  g_assert_cmpuint (stats[0].busy_ns, >=, stats[0].jobs * 1000000);
  g_assert_cmpstr (stats[1].name, ==, "device 1");
  g_assert_false (stats[0].lost || stats[1].lost);
  end_run (run);
}

/* Faults at random places: nothing is lost, nothing comes twice. */
static void
test_faults (void)
{
  guint faults = 0, lost = 0, by_kind[N_FAULTS] = { 0 };

  for (guint round = 0; faults < 400 && round < 4000; round++) {
    Run *run = new_run (2 + round % 3, 60);

    randomise (run);
    run->config.replace = replace;
    start (run);
    for (guint i = 0; i < run->n; i++) {
      run->engines[i]->fault = (Fault) g_test_rand_int_range (0, N_FAULTS);
      run->engines[i]->fault_at = (guint) g_test_rand_int_range (0, 25);
      by_kind[run->engines[i]->fault]++;
    }
    go (run);
    g_assert_cmpuint (run->n_lost, ==, (guint) run->faults);
    faults += (guint) run->faults;
    lost += run->n_lost == run->n;
    end_run (run);
  }
  g_assert_cmpuint (faults, >=, 400);
  g_assert_cmpuint (lost, >, 0);
  g_test_message ("%u faults, %u times all devices", faults, lost);
}

/* Without a replacement each job that is not complete fails with the same error. */
static void
test_all_lost (void)
{
  Run *run = new_run (3, 60);
  GError *error = NULL;
  gpointer job;
  guint done = 0, failed = 0;

  run->config.size = 40;
  run->config.release = NULL;
  start (run);
  for (guint i = 0; i < 3; i++) {
    run->engines[i]->fault = FAULT_WAIT;
    run->engines[i]->fault_at = 3;
  }
  while (run->n_submitted < 40
         && cvis_fleet_submit (run->fleet, &run->jobs[run->n_submitted], NULL))
    run->n_submitted++;
  for (guint i = 0; i < run->n_submitted; i++) {
    if (cvis_fleet_wait (run->fleet, &job, &error)) {
      g_assert_cmpuint (failed, ==, 0);
      done++;
    } else {
      g_assert_error (error, CVIS_ERROR, CVIS_ERROR_CUDA);
      g_assert_nonnull (strstr (error->message, ": a fault"));
      failed++;
    }
    g_clear_error (&error);
    g_assert_true (job == &run->jobs[i]);
  }
  g_assert_cmpuint (done, <=, 9);
  g_assert_cmpuint (done + failed, ==, run->n_submitted);
  g_assert_cmpuint (run->n_lost, ==, 3);
  g_assert_true (cvis_fleet_wait (run->fleet, &job, NULL));
  g_assert_null (job);
  g_assert_false (cvis_fleet_submit (run->fleet, &run->jobs[59], &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_CUDA);
  g_error_free (error);
  end_run (run);
}

/* The engine of replace() computes the rest. */
static void
test_replaced (void)
{
  CvisFleetStats stats[CVIS_FLEET_MAX_DEVICES + 1];
  Run *run = new_run (2, 60);

  run->config.replace = replace;
  start (run);
  for (guint i = 0; i < 2; i++)
    run->engines[i]->fault = FAULT_WAIT;
  go (run);
  g_assert_cmpuint (run->n_lost, ==, 2);
  g_assert_cmpuint (cvis_fleet_get_stats (run->fleet, stats), ==, 3);
  g_assert_true (stats[0].lost && stats[1].lost && !stats[2].lost);
  g_assert_cmpuint (stats[2].jobs, ==, 60);
  g_assert_cmpstr (stats[2].name, ==, "CPU");
  end_run (run);
}

/* An error of the caller's data belongs to its job. */
static void
test_invalid (void)
{
  Run *run = new_run (2, 60);

  for (guint i = 0; i < 60; i += 7)
    run->jobs[i].invalid = TRUE;
  run->jobs[10].hidden = run->jobs[11].hidden = run->jobs[59].hidden = TRUE;
  start (run);
  go (run);
  g_assert_cmpuint (run->n_lost, ==, 0);
  end_run (run);
}

static void
test_full (void)
{
  Run *run = new_run (2, 60);
  GError *error = NULL;
  gpointer job;

  run->config.release = NULL;
  start (run);
  g_assert_cmpuint (cvis_fleet_get_size (run->fleet), ==, 8);
  for (guint i = 0; i < 8; i++)
    g_assert_true (cvis_fleet_submit (run->fleet, &run->jobs[i], NULL));
  g_assert_false (cvis_fleet_submit (run->fleet, &run->jobs[8], &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
  g_assert_cmpstr (error->message, ==,
      "8 numbers are in flight, the maximum: wait for one of them first");
  g_error_free (error);
  g_assert_true (cvis_fleet_wait (run->fleet, &job, NULL));
  g_assert_true (cvis_fleet_submit (run->fleet, &run->jobs[8], NULL));
  end_run (run);
}

/* Jobs in flight at the end, on devices that work and on devices that fail. */
static void
test_free (void)
{
  for (guint round = 0; round < 100; round++) {
    Run *run = new_run (1 + round % 3, 20);

    randomise (run);
    run->config.size = 20;
    if (round % 2)
      run->config.replace = replace;
    start (run);
    for (guint i = 0; i < run->n; i++) {
      run->engines[i]->sleep_us = round % 5 * 20;
      run->engines[i]->fault = round % 4 ? FAULT_NONE : FAULT_WAIT;
      run->engines[i]->fault_at = i;
    }
    for (guint i = 0; i < round % 20; i++)
      cvis_fleet_submit (run->fleet, &run->jobs[i], NULL);
    if (round % 7 == 0)
      g_usleep (200);
    end_run (run);
  }
  cvis_fleet_free (NULL);
}

typedef struct {
  guint calls, chunks;
} Balancer;

/* Refuses every second time, then takes the last device with room. */
static gint
choose (gpointer user_data, const guint *in_flight, guint depth)
{
  Balancer *balancer = user_data;

  if (balancer->calls++ % 2)
    return -1;
  for (gint i = 2; i >= 0; i--)
    if (in_flight[i] < depth)
      return i;
  g_assert_not_reached ();
}

static void
measure (gpointer user_data, guint device, guint jobs, guint64 busy_ns,
    gdouble memory_used)
{
  Balancer *balancer = user_data;

  g_assert_cmpuint (device, <, 3);
  g_assert_cmpuint (jobs, >=, 1);
  g_assert_cmpfloat (memory_used, ==, 0.25 * (device + 1));
  balancer->chunks++;
}

static gdouble
get_memory_used (guint device, gpointer user_data)
{
  (void) user_data;
  return 0.25 * (device + 1);
}

static void
test_balancer (void)
{
  for (guint round = 0; round < 20; round++) {
    Balancer balancer = { 0 };
    Run *run = new_run (3, 60);

    randomise (run);
    run->config.choose = choose;
    run->config.measure = measure;
    run->config.get_memory_used = get_memory_used;
    run->config.balancer = &balancer;
    run->config.replace = replace;
    start (run);
    if (round % 2) {
      run->engines[2]->fault = FAULT_WAIT;
      run->engines[2]->fault_at = 5;
    }
    go (run);
    g_assert_cmpuint (run->n_lost, ==, round % 2);
    g_assert_cmpuint (balancer.calls, >, 0);
    g_assert_cmpuint (balancer.chunks, >=, 60 / 5 - 1);
    end_run (run);
  }
}

#ifdef CVIS_TEST_HOOKS
/* The settings of posed devices. */
static void
test_hooks (void)
{
  CvisFleetStats stats[CVIS_FLEET_MAX_DEVICES + 1];
  Run *run = new_run (2, 60);
  CvisFleetDevice devices[2] = { { NULL } };

  run->config.replace = replace;
  run->config.size = 30;
  for (guint i = 0; i < 2; i++) {
    Engine *engine = new_engine (&run->config, &run->faults);

    engine->sleep_us = 1000;
    devices[i] = (CvisFleetDevice){ .engine = engine,
      .name = i ? "device 5" : "device 3",
      .slowness = i ? 1 : 6,
      .fail_at = i ? 12 : 0 };
  }
  run->fleet = cvis_fleet_new (&run->config, devices, 2);
  go (run);
  cvis_fleet_get_stats (run->fleet, stats);
  g_assert_cmpstr (stats[1].name, ==, "device 5");
  g_assert_true (stats[1].lost && !stats[0].lost);
  g_assert_cmpuint (stats[1].jobs, ==, 11);
  g_assert_cmpuint (stats[0].busy_ns, >=, 49 * 6000000);
  g_assert_cmpuint (run->n_lost, ==, 1);
  end_run (run);
}
#endif

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fleet/order", test_order);
  g_test_add_func ("/fleet/threads", test_threads);
  g_test_add_func ("/fleet/unlike", test_unlike);
  g_test_add_func ("/fleet/faults", test_faults);
  g_test_add_func ("/fleet/all-lost", test_all_lost);
  g_test_add_func ("/fleet/replaced", test_replaced);
  g_test_add_func ("/fleet/invalid", test_invalid);
  g_test_add_func ("/fleet/full", test_full);
  g_test_add_func ("/fleet/free", test_free);
  g_test_add_func ("/fleet/balancer", test_balancer);
#ifdef CVIS_TEST_HOOKS
  g_test_add_func ("/fleet/hooks", test_hooks);
#endif
  return g_test_run ();
}
