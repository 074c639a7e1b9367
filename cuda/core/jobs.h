/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* CvisJobs: the jobs that an engine has in flight, in order. One thread submits, another
 * waits; each job has a slot, a number by which the backend knows its memory. One queue
 * belongs to one engine, and so to one device. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _CvisJobs CvisJobs;

/* @size: maximum number of jobs in flight; also the number of slots */
CvisJobs *cvis_jobs_new (guint size);
/* @jobs: (nullable) */
void cvis_jobs_free (CvisJobs *jobs);

/* The slot of the next job; for the thread that submits.
 * @what: what a job is, in the plural, for the error
 * Returns: FALSE with CVIS_ERROR_INVALID if the maximum number of jobs is in flight */
gboolean cvis_jobs_find_slot (
    CvisJobs *jobs, const gchar *what, guint *slot, GError **error);
/* Puts @job into that slot. */
void cvis_jobs_push (CvisJobs *jobs, gpointer job);
/* The job that was pushed @age jobs before the last, which has the age 0; for the thread
 * that submits. It is in flight. */
gpointer cvis_jobs_get_recent (CvisJobs *jobs, guint age);

/* The oldest job; for the thread that waits.
 * Returns: (nullable): %NULL if none is in flight */
gpointer cvis_jobs_peek (CvisJobs *jobs, guint *slot);
/* Ends that job. */
void cvis_jobs_pop (CvisJobs *jobs);

G_END_DECLS
