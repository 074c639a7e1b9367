/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/meltpool/fleet.h"

static gboolean
check_batch (gpointer engine, gconstpointer batch, GError **error)
{
  return pbf_engine_check (engine, batch, error);
}

static gboolean
submit_batch (gpointer engine, gpointer batch, GError **error)
{
  return pbf_engine_submit (engine, batch, error);
}

static gboolean
wait_batch (gpointer engine, gpointer *batch, GError **error)
{
  PbfBatch *done;
  const gboolean ok = pbf_engine_wait (engine, &done, error);

  *batch = done;
  return ok;
}

static void
free_meltpool (gpointer engine)
{
  pbf_engine_free (engine);
}

static const CvisFleetOps pbf_fleet_ops = { .check = check_batch,
  .submit = submit_batch,
  .wait = wait_batch,
  .free = free_meltpool };

void
pbf_fleet_init (CvisFleetConfig *fleet, const PbfConfig *config)
{
  *fleet = (CvisFleetConfig){
    .ops = &pbf_fleet_ops, .what = "batches", .depth = config->depth
  };
}
