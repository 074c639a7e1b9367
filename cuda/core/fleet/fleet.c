/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Jobs are numbered in the order of submission. Consecutive jobs form a chunk when a
 * device has room for it; a chunk begins only when all jobs that it needs are there, so
 * that no device waits for the caller. Two threads serve a device: the feeder submits
 * the jobs of its chunks to the engine, the waiter completes them.
 *
 * A lost device: both threads leave the engine, the last one frees it, so that nothing
 * writes to its jobs any more, and puts its incomplete jobs back as chunks that come
 * before all new ones. */
#include "cuda/core/fleet/fleet.h"

#define NEVER G_MAXUINT64

typedef enum {
  JOB_OPEN,
  JOB_DONE,
  JOB_FAILED,
} JobState;

typedef struct {
  gpointer job;
  JobState state;
  GError *error;
} Entry;

/* The jobs first..end-1, and those that their device loads: from..first-1 and
 * end..to-1. In a device's list, first is the oldest incomplete job. */
typedef struct {
  guint64 first, end;
  guint64 from, to;
  guint n; /* jobs in the beginning */
} Chunk;

typedef struct {
  CvisFleet *fleet;
  guint index;
  gchar *name;
  gpointer engine;
  GThread *feeder, *waiter;
  GCond work;
#ifdef CVIS_TEST_HOOKS
  guint slowness, fail_at;
#endif

  /* protected by the fleet's lock */
  GQueue given; /* chunks that the feeder has not begun */
  GQueue begun; /* chunks with incomplete jobs */
  guint64 submitted, started, completed; /* jobs in the engine, counted */
  guint threads;                         /* inside the engine */
  gboolean lost, announced;
  GError *error; /* why it was lost */
  guint64 chunks, jobs;
  gint64 busy_us, busy_since, reported_us;
  gdouble memory_used; /* 0..1 */
} Device;

struct _CvisFleet {
  CvisFleetConfig config;
  CvisBalancer *balancer; /* NULL: none of its own */
  gint64 started;         /* us */
  guint room;             /* chunks of a device */
  guint size;
  guint n;         /* devices from the beginning */
  Device *devices; /* n + 1: the last for the engine of replace() */

  GMutex lock; /* protects the members below and the devices' */
  GCond completed;
  gboolean stop;
  guint n_alive, n_started;
  GError *error;   /* all devices are lost */
  gboolean failed; /* a job was returned with this error */
  /* job i is entries[i % n_entries]; held <= returned <= taken <= submitted */
  Entry *entries;
  guint n_entries;
  guint64 held;      /* the oldest job whose input may be needed */
  guint64 returned;  /* the oldest job in flight */
  guint64 taken;     /* the first job that has not been in a chunk */
  guint64 submitted; /* the number of the next job */
  gboolean waiting;  /* for the oldest job */
  GArray *ends;      /* numbers at which streams begin, from that of held on */
  GQueue redo;       /* chunks of lost devices, sorted */
};

/* --- the order of jobs ------------------------------------------------------ */

static Entry *
get_entry (CvisFleet *fleet, guint64 number)
{
  return &fleet->entries[number % fleet->n_entries];
}

/* The first job of the stream of job @number. */
static guint64
find_stream_first (CvisFleet *fleet, guint64 number)
{
  guint64 first = 0;

  for (guint i = 0; i < fleet->ends->len; i++)
    if (g_array_index (fleet->ends, guint64, i) <= number)
      first = g_array_index (fleet->ends, guint64, i);
  return first;
}

/* The number after the last job of the stream of job @number; NEVER if the stream
 * continues. */
static guint64
find_stream_end (CvisFleet *fleet, guint64 number)
{
  for (guint i = 0; i < fleet->ends->len; i++)
    if (g_array_index (fleet->ends, guint64, i) > number)
      return g_array_index (fleet->ends, guint64, i);
  return NEVER;
}

/* The end of the jobs from @number on whose later neighbours are there. */
static guint64
find_complete_end (CvisFleet *fleet, guint64 number)
{
  const guint64 end = find_stream_end (fleet, number);

  if (end != NEVER)
    return end;
  return MAX (fleet->submitted, fleet->config.after) - fleet->config.after;
}

static Chunk *
new_chunk (CvisFleet *fleet, guint64 first, guint64 end)
{
  const CvisFleetConfig *config = &fleet->config;
  const guint64 stream_first = find_stream_first (fleet, first);
  Chunk *chunk = g_new (Chunk, 1);

  *chunk = (Chunk){ .first = first, .end = end, .n = (guint) (end - first) };
  chunk->from =
      MAX (MAX (first, config->before) - config->before, stream_first);
  chunk->to = MIN (end + config->after, find_stream_end (fleet, first));
  return chunk;
}

/* The end of the next chunk of jobs that no device has had; fleet->taken if there is none
 * now. A chunk is shorter than usual at the end of a stream, and if the caller waits for
 * its first job. */
static guint64
find_next_end (CvisFleet *fleet)
{
  const guint64 first = fleet->taken;
  const guint64 full = first + fleet->config.chunk;
  guint64 end;

  if (first == fleet->submitted)
    return first;
  end = MIN (full, find_complete_end (fleet, first));
  if (end < full && find_stream_end (fleet, first) == NEVER
      && !(fleet->waiting && fleet->returned == first))
    return first;
  return MAX (first, end);
}

static gboolean
has_chunk (CvisFleet *fleet)
{
  return !g_queue_is_empty (&fleet->redo)
         || find_next_end (fleet) > fleet->taken;
}

static Chunk *
take_chunk (CvisFleet *fleet)
{
  Chunk *chunk = g_queue_pop_head (&fleet->redo);

  if (chunk == NULL) {
    chunk = new_chunk (fleet, fleet->taken, find_next_end (fleet));
    fleet->taken = chunk->end;
  }
  return chunk;
}

static gint
compare_chunks (gconstpointer a, gconstpointer b, gpointer unused)
{
  const Chunk *one = a, *other = b;

  return (one->first > other->first) - (one->first < other->first);
}

static void
return_chunk (CvisFleet *fleet, Chunk *chunk)
{
  g_queue_insert_sorted (&fleet->redo, chunk, compare_chunks, NULL);
}

/* --- the choice of the device ------------------------------------------------- */

static gint
choose_least (const guint *in_flight, guint n, guint depth)
{
  gint least = -1;

  for (guint i = 0; i < n; i++)
    if (in_flight[i] < depth && (least < 0 || in_flight[i] < in_flight[least]))
      least = (gint) i;
  return least;
}

static Device *
choose_device (CvisFleet *fleet)
{
  const CvisFleetConfig *config = &fleet->config;
  guint in_flight[CVIS_FLEET_MAX_DEVICES + 1], total = 0;
  gint least, chosen;

  for (guint i = 0; i < fleet->n_started; i++) {
    const Device *device = &fleet->devices[i];

    in_flight[i] = fleet->room;
    if (device->lost)
      continue;
    in_flight[i] = device->given.length + device->begun.length;
    total += in_flight[i];
  }
  least = choose_least (in_flight, fleet->n_started, fleet->room);
  if (least < 0 || config->choose == NULL || fleet->n_started > fleet->n)
    return least < 0 ? NULL : &fleet->devices[least];
  chosen = config->choose (config->balancer, in_flight, fleet->room);
  /* somebody has to take the oldest job */
  if (chosen < 0)
    return total > 0 ? NULL : &fleet->devices[least];
  g_return_val_if_fail (
      (guint) chosen < fleet->n && in_flight[chosen] < fleet->room, NULL);
  return &fleet->devices[chosen];
}

/* Gives chunks to devices with room. */
static void
dispatch (CvisFleet *fleet)
{
  Device *device;

  while (has_chunk (fleet) && (device = choose_device (fleet)) != NULL) {
    g_queue_push_tail (&device->given, take_chunk (fleet));
    g_cond_broadcast (&device->work);
  }
}

/* --- results -------------------------------------------------------------------- */

static gboolean
is_error_of_job (const GError *error)
{
  return error != NULL
         && (g_error_matches (error, CVIS_ERROR, CVIS_ERROR_INVALID)
             || g_error_matches (error, CVIS_ERROR, CVIS_ERROR_FORMAT));
}

static void
count_busy (Device *device)
{
  const gboolean busy = device->submitted > device->completed;
  const gint64 now = g_get_monotonic_time ();

  if (device->busy_since > 0)
    device->busy_us += now - device->busy_since;
  device->busy_since = busy ? now : 0;
}

static void
report_chunk (Device *device, const Chunk *chunk)
{
  const CvisFleetConfig *config = &device->fleet->config;

  count_busy (device);
  if (config->measure && device->index < device->fleet->n)
    config->measure (config->balancer, device->index, chunk->n,
        (guint64) (device->busy_us - device->reported_us) * 1000,
        device->memory_used);
  device->reported_us = device->busy_us;
}

/* Ends the device's chunks whose jobs are all complete. */
static void
end_chunks (Device *device)
{
  CvisFleet *fleet = device->fleet;
  Chunk *chunk;

  while ((chunk = g_queue_peek_head (&device->begun)) != NULL) {
    while (chunk->first < chunk->end
           && get_entry (fleet, chunk->first)->state != JOB_OPEN)
      chunk->first++;
    if (chunk->first < chunk->end)
      break;
    report_chunk (device, chunk);
    g_free (g_queue_pop_head (&device->begun));
    g_cond_broadcast (&device->work);
  }
}

static void
complete_job (Device *device, guint64 number, GError *error)
{
  Entry *entry = get_entry (device->fleet, number);

  entry->state = error ? JOB_FAILED : JOB_DONE;
  entry->error = error;
  device->jobs++;
  end_chunks (device);
  dispatch (device->fleet);
  g_cond_broadcast (&device->fleet->completed);
}

/* --- loss of a device ----------------------------------------------------------- */

/* Takes @error. */
static void
lose_device (Device *device, GError *error)
{
  if (device->lost) {
    g_clear_error (&error);
  } else {
    device->lost = TRUE;
    if (device->fleet->balancer != NULL && device->index < device->fleet->n)
      cvis_balancer_lose (device->fleet->balancer, device->index);
    if (error == NULL)
      error = g_error_new_literal (
          CVIS_ERROR, CVIS_ERROR_CUDA, "the engine returned no job");
    g_prefix_error (&error, "%s: ", device->name);
    device->error = error;
  }
  g_cond_broadcast (&device->work);
}

static void start_device (CvisFleet *fleet, gpointer engine, const gchar *name);

/* Replaces the last device, or lets all jobs fail. */
static void
replace_last (CvisFleet *fleet, const GError *why)
{
  gpointer engine = NULL;
  GError *error = NULL;

  if (fleet->config.replace != NULL && fleet->n_started == fleet->n
      && !fleet->stop) {
    g_mutex_unlock (&fleet->lock);
    engine = fleet->config.replace (fleet->config.user_data, &error);
    g_mutex_lock (&fleet->lock);
  }
  if (engine != NULL)
    start_device (fleet, engine, "CPU");
  else
    fleet->error = error ? error : g_error_copy (why);
}

/* Called by the last thread that leaves a lost device, with the lock. */
static void
clear_device (Device *device)
{
  CvisFleet *fleet = device->fleet;
  gpointer engine = g_steal_pointer (&device->engine);
  Chunk *chunk;

  g_mutex_unlock (&fleet->lock);
  fleet->config.ops->free (engine);
  g_mutex_lock (&fleet->lock);
  device->submitted = device->completed;
  count_busy (device);
  while ((chunk = g_queue_pop_head (&device->begun)) != NULL
         || (chunk = g_queue_pop_head (&device->given)) != NULL) {
    return_chunk (fleet, new_chunk (fleet, chunk->first, chunk->end));
    g_free (chunk);
  }
  if (--fleet->n_alive == 0)
    replace_last (fleet, device->error);
  dispatch (fleet);
  g_cond_broadcast (&fleet->completed);
}

static void
leave_device (Device *device)
{
  if (--device->threads == 0 && device->lost)
    clear_device (device);
}

/* --- the feeder ------------------------------------------------------------------- */

static gboolean
must_leave (Device *device)
{
  return device->lost || device->fleet->stop;
}

/* An engine has memory for the loaded jobs of two chunks. */
static gboolean
can_begin (Device *device)
{
  return !g_queue_is_empty (&device->given)
         && (device->fleet->config.ops->load == NULL
             || device->begun.length < 2);
}

/* Waits for the device's next chunk. Returns: FALSE to leave */
static gboolean
begin_chunk (Device *device, Chunk *chunk)
{
  while (!must_leave (device) && !can_begin (device))
    g_cond_wait (&device->work, &device->fleet->lock);
  if (must_leave (device))
    return FALSE;
  *chunk = *(Chunk *) g_queue_peek_head (&device->given);
  g_queue_push_tail (&device->begun, g_queue_pop_head (&device->given));
  device->chunks++;
  return TRUE;
}

static void
load_job (Device *device, guint64 number)
{
  CvisFleet *fleet = device->fleet;
  gpointer job = get_entry (fleet, number)->job;
  GError *error = NULL;
  gboolean ok;

  g_mutex_unlock (&fleet->lock);
  ok = fleet->config.ops->load (device->engine, job, &error);
  g_mutex_lock (&fleet->lock);
  if (!ok)
    lose_device (device, error);
}

static void
submit_job (Device *device, guint64 number)
{
  CvisFleet *fleet = device->fleet;
  const CvisFleetConfig *config = &fleet->config;
  Entry *entry = get_entry (fleet, number);
  GError *error = NULL;
  gboolean ok;

  while (
      !must_leave (device)
      && device->submitted - device->completed >= config->depth + config->after)
    g_cond_wait (&device->work, &fleet->lock);
  if (must_leave (device) || entry->state != JOB_OPEN)
    return;
  g_mutex_unlock (&fleet->lock);
  ok = config->ops->submit (device->engine, entry->job, &error);
  g_mutex_lock (&fleet->lock);
  if (ok) {
    device->submitted++;
    count_busy (device);
  } else if (is_error_of_job (error)) {
    complete_job (device, number, error);
  } else {
    lose_device (device, error);
  }
}

/* Notes that the engine has started all jobs except the last @pending ones. */
static void
start_jobs (Device *device, guint64 pending)
{
  if (device->submitted >= device->started + pending)
    device->started = device->submitted - pending;
  g_cond_broadcast (&device->work);
}

/* Submits the jobs of @chunk between those that are loaded. A job starts when its later
 * neighbours have followed it. */
static void
feed_chunk (Device *device, const Chunk *chunk)
{
  const CvisFleetConfig *config = &device->fleet->config;

  for (guint64 i = chunk->from; i < chunk->to && !must_leave (device); i++) {
    if (i < chunk->first || i >= chunk->end)
      load_job (device, i);
    else
      submit_job (device, i);
    if (i >= chunk->first)
      start_jobs (
          device, config->after - (MAX (i + 1, chunk->end) - chunk->end));
  }
  if (must_leave (device) || config->ops->end == NULL)
    return;
  g_mutex_unlock (&device->fleet->lock);
  config->ops->end (device->engine);
  g_mutex_lock (&device->fleet->lock);
  start_jobs (device, 0);
}

static gpointer
run_feeder (gpointer user_data)
{
  Device *device = user_data;
  Chunk chunk;

  g_mutex_lock (&device->fleet->lock);
  while (begin_chunk (device, &chunk))
    feed_chunk (device, &chunk);
  leave_device (device);
  g_mutex_unlock (&device->fleet->lock);
  return NULL;
}

/* --- the waiter ------------------------------------------------------------------- */

/* Waits for the engine's oldest job; without the lock. */
static gboolean
wait_engine (Device *device, gpointer *job, GError **error)
{
  const CvisFleetOps *ops = device->fleet->config.ops;
#ifdef CVIS_TEST_HOOKS
  const gint64 begin = g_get_monotonic_time ();
#endif

  if (!ops->wait (device->engine, job, error))
    return FALSE;
#ifdef CVIS_TEST_HOOKS
  if (device->slowness > 1)
    g_usleep (
        (gulong) (g_get_monotonic_time () - begin) * (device->slowness - 1));
  if (device->fail_at > 0 && device->completed + 1 == device->fail_at) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_CUDA,
        "a test lets job %u of the device fail", device->fail_at);
    return FALSE;
  }
#endif
  return TRUE;
}

static void
wait_job (Device *device)
{
  CvisFleet *fleet = device->fleet;
  const CvisFleetConfig *config = &fleet->config;
  const Chunk *oldest;
  gpointer job = NULL;
  GError *error = NULL;
  gdouble memory_used = 0.0;
  gboolean ok;

  g_mutex_unlock (&fleet->lock);
  ok = wait_engine (device, &job, &error);
  if (config->get_memory_used != NULL && device->index < fleet->n)
    memory_used = config->get_memory_used (device->index, config->user_data);
  g_mutex_lock (&fleet->lock);
  device->memory_used = memory_used;
  oldest = g_queue_peek_head (&device->begun);
  if (job == NULL || job != get_entry (fleet, oldest->first)->job
      || (!ok && !is_error_of_job (error))) {
    lose_device (device, error);
    return;
  }
  device->completed++;
  count_busy (device);
  complete_job (device, oldest->first, error);
  g_cond_broadcast (&device->work);
}

static gpointer
run_waiter (gpointer user_data)
{
  Device *device = user_data;

  g_mutex_lock (&device->fleet->lock);
  while (!must_leave (device)) {
    if (device->completed < device->started)
      wait_job (device);
    else
      g_cond_wait (&device->work, &device->fleet->lock);
  }
  leave_device (device);
  g_mutex_unlock (&device->fleet->lock);
  return NULL;
}

/* --- making and freeing ------------------------------------------------------------ */

static void
start_device (CvisFleet *fleet, gpointer engine, const gchar *name)
{
  const guint i = fleet->n_started;
  Device *device = &fleet->devices[i];

  *device = (Device){ .fleet = fleet, .index = i, .engine = engine };
  device->name = name ? g_strdup (name) : g_strdup_printf ("device %u", i);
  g_cond_init (&device->work);
  g_queue_init (&device->given);
  g_queue_init (&device->begun);
  device->threads = 2;
  fleet->n_started++;
  fleet->n_alive++;
  device->feeder = g_thread_new ("cvis-feed", run_feeder, device);
  device->waiter = g_thread_new ("cvis-wait", run_waiter, device);
}

static gint
choose_balanced (gpointer balancer, const guint *in_flight, guint depth)
{
  return cvis_balancer_choose (balancer, in_flight, depth);
}

/* A chunk counts as the time that the device was busy with it. */
static void
measure_balanced (gpointer balancer, guint device, guint jobs, guint64 busy_ns,
    gdouble memory_used)
{
  const guint64 now = (guint64) g_get_monotonic_time () * 1000;

  cvis_balancer_finished (balancer, device, now - busy_ns, now, memory_used);
}

static void
make_balancer (CvisFleet *fleet)
{
  CvisFleetConfig *config = &fleet->config;

  if (config->choose != NULL || config->balance == CVIS_BALANCE_QUEUE)
    return;
  fleet->balancer =
      cvis_balancer_new (config->balance, fleet->n, config->traits);
  config->choose = choose_balanced;
  config->measure = measure_balanced;
  config->balancer = fleet->balancer;
}

CvisFleet *
cvis_fleet_new (
    const CvisFleetConfig *config, const CvisFleetDevice *devices, guint n)
{
  CvisFleet *fleet;
  guint chunk = MAX (config->chunk, 1);
  const guint64 begin = 0;

  g_return_val_if_fail (n >= 1 && n <= CVIS_FLEET_MAX_DEVICES, NULL);
  fleet = g_new0 (CvisFleet, 1);
  fleet->config = *config;
  fleet->config.depth = MAX (config->depth, 1);
  fleet->config.chunk = chunk;
  fleet->room = (fleet->config.depth + chunk - 1) / chunk + (chunk > 1);
  fleet->size = MAX (config->size, config->after + 1);
  if (config->size == 0)
    fleet->size = 2 * n * fleet->room * chunk + config->after;
  fleet->n_entries = fleet->size + config->before + 1;
  fleet->entries = g_new0 (Entry, fleet->n_entries);
  fleet->n = n;
  fleet->started = g_get_monotonic_time ();
  make_balancer (fleet);
  fleet->devices = g_new0 (Device, n + 1);
  fleet->ends = g_array_new (FALSE, FALSE, sizeof (guint64));
  g_array_append_val (fleet->ends, begin);
  g_mutex_init (&fleet->lock);
  g_cond_init (&fleet->completed);
  g_queue_init (&fleet->redo);

  g_mutex_lock (&fleet->lock);
  for (guint i = 0; i < n; i++) {
    start_device (fleet, devices[i].engine, devices[i].name);
#ifdef CVIS_TEST_HOOKS
    fleet->devices[i].slowness = devices[i].slowness;
    fleet->devices[i].fail_at = devices[i].fail_at;
#endif
  }
  g_mutex_unlock (&fleet->lock);
  return fleet;
}

static void
stop_device (Device *device)
{
  g_thread_join (device->feeder);
  g_thread_join (device->waiter);
  if (device->engine != NULL)
    device->fleet->config.ops->free (device->engine);
  g_queue_clear_full (&device->given, g_free);
  g_queue_clear_full (&device->begun, g_free);
  g_cond_clear (&device->work);
  g_clear_error (&device->error);
  g_free (device->name);
}

void
cvis_fleet_free (CvisFleet *fleet)
{
  if (fleet == NULL)
    return;
  g_mutex_lock (&fleet->lock);
  fleet->stop = TRUE;
  for (guint i = 0; i < fleet->n_started; i++)
    g_cond_broadcast (&fleet->devices[i].work);
  g_mutex_unlock (&fleet->lock);
  for (guint i = 0; i < fleet->n; i++)
    stop_device (&fleet->devices[i]);
  /* that a thread of the last one has started */
  if (fleet->n_started > fleet->n)
    stop_device (&fleet->devices[fleet->n]);
  for (guint i = 0; i < fleet->n_entries; i++)
    g_clear_error (&fleet->entries[i].error);
  g_queue_clear_full (&fleet->redo, g_free);
  g_array_free (fleet->ends, TRUE);
  g_clear_error (&fleet->error);
  g_cond_clear (&fleet->completed);
  g_mutex_clear (&fleet->lock);
  cvis_balancer_free (fleet->balancer);
  if (fleet->config.free_user_data != NULL)
    fleet->config.free_user_data (fleet->config.user_data);
  g_free (fleet->devices);
  g_free (fleet->entries);
  g_free (fleet);
}

guint
cvis_fleet_get_size (CvisFleet *fleet)
{
  return fleet->size;
}

/* --- the interface of an engine ---------------------------------------------------- */

/* Checks @job by any engine: all have the same settings. */
static gboolean
check_submission (CvisFleet *fleet, gconstpointer job, GError **error)
{
  const CvisFleetOps *ops = fleet->config.ops;

  if (fleet->error != NULL) {
    g_propagate_error (error, g_error_copy (fleet->error));
    return FALSE;
  }
  if (fleet->submitted - fleet->returned == fleet->size)
    return cvis_refuse (error,
        "%u %s are in flight, the maximum: wait for one of them first",
        fleet->size, fleet->config.what);
  for (guint i = 0; ops->check && i < fleet->n_started; i++)
    if (fleet->devices[i].engine != NULL)
      return ops->check (fleet->devices[i].engine, job, error);
  return TRUE;
}

gboolean
cvis_fleet_submit (CvisFleet *fleet, gpointer job, GError **error)
{
  gboolean ok;

  g_mutex_lock (&fleet->lock);
  ok = check_submission (fleet, job, error);
  if (ok) {
    *get_entry (fleet, fleet->submitted) = (Entry){ .job = job };
    fleet->submitted++;
    dispatch (fleet);
  }
  g_mutex_unlock (&fleet->lock);
  return ok;
}

void
cvis_fleet_end (CvisFleet *fleet)
{
  GArray *ends = fleet->ends;

  g_mutex_lock (&fleet->lock);
  if (g_array_index (ends, guint64, ends->len - 1) != fleet->submitted)
    g_array_append_val (ends, fleet->submitted);
  dispatch (fleet);
  g_mutex_unlock (&fleet->lock);
}

/* Lists the devices that were lost since the last call. */
static guint
list_lost (CvisFleet *fleet, Device **lost)
{
  guint n = 0;

  for (guint i = 0; i < fleet->n_started; i++) {
    Device *device = &fleet->devices[i];

    if (!device->lost || device->announced)
      continue;
    device->announced = TRUE;
    lost[n++] = device;
  }
  return n;
}

/* Releases the jobs that were returned and that no job in flight needs; with the lock,
 * which it gives back in between. */
static void
release_jobs (CvisFleet *fleet)
{
  const CvisFleetConfig *config = &fleet->config;
  GArray *ends = fleet->ends;

  for (;;) {
    const guint64 r = fleet->returned;
    const guint64 needed = MAX (
        MAX (r, config->before) - config->before, find_stream_first (fleet, r));
    gpointer job;

    if (fleet->held >= needed)
      break;
    job = get_entry (fleet, fleet->held++)->job;
    if (config->release == NULL)
      continue;
    g_mutex_unlock (&fleet->lock);
    config->release (job, config->user_data);
    g_mutex_lock (&fleet->lock);
  }
  while (ends->len > 1 && g_array_index (ends, guint64, 1) <= fleet->held)
    g_array_remove_index (ends, 0);
}

/* Waits for the oldest job; with the lock.
 * Returns: (nullable): %NULL if there is none or it needs later jobs */
static Entry *
wait_oldest (CvisFleet *fleet)
{
  Entry *entry = get_entry (fleet, fleet->returned);

  if (fleet->returned == fleet->submitted
      || fleet->returned >= find_complete_end (fleet, fleet->returned))
    return NULL;
  fleet->waiting = TRUE;
  dispatch (fleet);
  while (entry->state == JOB_OPEN && fleet->error == NULL)
    g_cond_wait (&fleet->completed, &fleet->lock);
  fleet->waiting = FALSE;
  /* after a job that nobody could compute, the caller gets no more results */
  if (entry->state == JOB_OPEN)
    fleet->failed = TRUE;
  if (fleet->failed) {
    g_clear_error (&entry->error);
    entry->error = g_error_copy (fleet->error);
    entry->state = JOB_FAILED;
  }
  return entry;
}

gboolean
cvis_fleet_wait (CvisFleet *fleet, gpointer *job, GError **error)
{
  const CvisFleetConfig *config = &fleet->config;
  Device *lost[CVIS_FLEET_MAX_DEVICES + 1];
  guint n_lost;
  Entry *entry;
  gboolean ok = TRUE;

  *job = NULL;
  g_mutex_lock (&fleet->lock);
  release_jobs (fleet);
  entry = wait_oldest (fleet);
  if (entry != NULL) {
    *job = entry->job;
    ok = entry->state == JOB_DONE;
    if (!ok)
      g_propagate_error (error, g_steal_pointer (&entry->error));
    fleet->returned++;
  }
  n_lost = list_lost (fleet, lost);
  g_mutex_unlock (&fleet->lock);

  for (guint i = 0; config->lose && i < n_lost; i++)
    config->lose (lost[i]->index, lost[i]->error, config->user_data);
  if (entry != NULL && ok && config->finish)
    config->finish (*job, config->user_data);
  return ok;
}

guint
cvis_fleet_get_stats (CvisFleet *fleet, CvisFleetStats *stats)
{
  const gint64 now = g_get_monotonic_time ();
  guint64 total = 0;
  guint n;

  g_mutex_lock (&fleet->lock);
  n = fleet->n_started;
  for (guint i = 0; i < n; i++)
    total += fleet->devices[i].jobs;
  for (guint i = 0; i < n; i++) {
    Device *device = &fleet->devices[i];

    count_busy (device);
    stats[i] = (CvisFleetStats){
      .name = device->name,
      .chunks = device->chunks,
      .jobs = device->jobs,
      .share = (gdouble) device->jobs / (gdouble) MAX (total, 1),
      .busy_ns = (guint64) device->busy_us * 1000,
      .busy = (gdouble) device->busy_us
              / (gdouble) MAX (MAX (now - fleet->started, device->busy_us), 1),
      .lost = device->lost,
    };
    stats[i].estimate = stats[i].share;
    if (fleet->balancer != NULL && i < fleet->n)
      stats[i].estimate = cvis_balancer_get_estimate (fleet->balancer, i);
  }
  g_mutex_unlock (&fleet->lock);
  return n;
}
