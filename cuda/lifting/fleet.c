/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/lifting/fleet.h"

static gboolean
check_surface (gpointer engine, gconstpointer job, GError **error)
{
  return lwt_engine_check (engine, job, error);
}

static gboolean
submit_surface (gpointer engine, gpointer job, GError **error)
{
  return lwt_engine_submit (engine, job, error);
}

static gboolean
wait_surface (gpointer engine, gpointer *job, GError **error)
{
  LwtJob *done;
  const gboolean ok = lwt_engine_wait (engine, &done, error);

  *job = done;
  return ok;
}

static void
free_lifting (gpointer engine)
{
  lwt_engine_free (engine);
}

const CvisFleetOps lwt_fleet_ops = { .check = check_surface,
  .submit = submit_surface,
  .wait = wait_surface,
  .free = free_lifting };
