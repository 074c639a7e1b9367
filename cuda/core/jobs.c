/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/core/jobs.h"

#include "cuda/core/error.h"

struct _CvisJobs {
  guint size;

  GMutex lock; /* protects the members below */
  guint first, n;
  gpointer slots[];
};

CvisJobs *
cvis_jobs_new (guint size)
{
  CvisJobs *jobs = g_malloc0 (sizeof (CvisJobs) + size * sizeof (gpointer));

  jobs->size = size;
  g_mutex_init (&jobs->lock);
  return jobs;
}

void
cvis_jobs_free (CvisJobs *jobs)
{
  if (jobs == NULL)
    return;
  g_mutex_clear (&jobs->lock);
  g_free (jobs);
}

gboolean
cvis_jobs_find_slot (
    CvisJobs *jobs, const gchar *what, guint *slot, GError **error)
{
  gboolean full;

  g_mutex_lock (&jobs->lock);
  full = jobs->n == jobs->size;
  *slot = (jobs->first + jobs->n) % jobs->size;
  g_mutex_unlock (&jobs->lock);
  return !full
         || cvis_refuse (error,
             "%u %s are in flight, the maximum: wait for one of them first",
             jobs->size, what);
}

void
cvis_jobs_push (CvisJobs *jobs, gpointer job)
{
  g_mutex_lock (&jobs->lock);
  jobs->slots[(jobs->first + jobs->n) % jobs->size] = job;
  jobs->n++;
  g_mutex_unlock (&jobs->lock);
}

gpointer
cvis_jobs_get_recent (CvisJobs *jobs, guint age)
{
  gpointer job;

  g_mutex_lock (&jobs->lock);
  job = jobs->slots[(jobs->first + jobs->n - 1 - age) % jobs->size];
  g_mutex_unlock (&jobs->lock);
  return job;
}

gpointer
cvis_jobs_peek (CvisJobs *jobs, guint *slot)
{
  gpointer job;

  g_mutex_lock (&jobs->lock);
  *slot = jobs->first;
  job = jobs->n > 0 ? jobs->slots[jobs->first] : NULL;
  g_mutex_unlock (&jobs->lock);
  return job;
}

void
cvis_jobs_pop (CvisJobs *jobs)
{
  g_mutex_lock (&jobs->lock);
  jobs->first = (jobs->first + 1) % jobs->size;
  jobs->n--;
  g_mutex_unlock (&jobs->lock);
}
