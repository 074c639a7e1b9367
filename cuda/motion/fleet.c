/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/motion/fleet.h"

static gboolean
check_frame (gpointer engine, gconstpointer job, GError **error)
{
  return motion_engine_check (engine, job, error);
}

static gboolean
submit_frame (gpointer engine, gpointer job, GError **error)
{
  return motion_engine_submit (engine, job, error);
}

static gboolean
load_frame (gpointer engine, gpointer job, GError **error)
{
  return motion_engine_load (engine, job, error);
}

static void
end_frames (gpointer engine)
{
  motion_engine_end (engine);
}

static gboolean
wait_frame (gpointer engine, gpointer *job, GError **error)
{
  MotionJob *done;
  const gboolean ok = motion_engine_wait (engine, &done, error);

  *job = done;
  return ok;
}

static void
free_motion (gpointer engine)
{
  motion_engine_free (engine);
}

static const CvisFleetOps motion_fleet_ops = { .check = check_frame,
  .submit = submit_frame,
  .load = load_frame,
  .end = end_frames,
  .wait = wait_frame,
  .free = free_motion };

void
motion_fleet_init (CvisFleetConfig *fleet, const MotionConfig *config)
{
  *fleet = (CvisFleetConfig){ .ops = &motion_fleet_ops,
    .what = "frames",
    .depth = config->depth_in_flight,
    .chunk = config->chunk,
    .before = config->references,
    .after = config->bidirectional ? config->references : 0 };
}
