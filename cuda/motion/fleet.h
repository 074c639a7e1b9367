/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Motion engines in a CvisFleet: a device searches chunks of consecutive frames and loads
 * the frames before and after a chunk as references.
 *
 *   config.chunk = 8;                            // frames
 *   engine = motion_engine_new (&config, ...);   // for each device
 *   motion_fleet_init (&fleet_config, &config);
 *   fleet_config.finish = my_finish;             // calls motion_finish()
 *   fleet = cvis_fleet_new (&fleet_config, devices, n);
 */
#pragma once

#include "cuda/core/fleet/devices.h"
#include "cuda/motion/finish.h"

G_BEGIN_DECLS

/* Sets @fleet to zero, then the functions of MotionEngine and MotionJob, depth, chunk
 * and neighbours. All engines have the settings of @config, with a chunk. A job's luma
 * must stay valid until release(), its results only until it is returned. */
void motion_fleet_init (CvisFleetConfig *fleet, const MotionConfig *config);

/* MotionOver: a fleet with the interface of MotionEngine, for motion_engine_new_over(). It
 * copies the luma of each frame, as a device may load it after the frame was returned. */
typedef struct _MotionOver MotionOver;

MotionOver *motion_over_new (const MotionConfig *config,
    const CvisDevices *devices, const CvisFleetOwner *owner, GError **error);
void motion_over_free (MotionOver *over);
CvisFleet *motion_over_get_fleet (MotionOver *over);
/* @job: checked */
gboolean motion_over_submit (MotionOver *over, MotionJob *job, GError **error);
gboolean motion_over_wait (MotionOver *over, MotionJob **job, GError **error);
void motion_over_end (MotionOver *over);

G_END_DECLS
