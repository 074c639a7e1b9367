/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Denoising engines in a CvisFleet: a device denoises chunks of consecutive frames and
 * loads the frames before and after a chunk as their neighbours.
 *
 *   config.chunk = denoise_config_get_chunk (&config, FALSE);
 *   engine = denoise_engine_new (&config, ...);  // for each device
 *   denoise_fleet_init (&fleet_config, &config);
 *   fleet = cvis_fleet_new (&fleet_config, devices, n);
 */
#pragma once

#include "cuda/core/fleet/devices.h"
#include "cuda/denoise/engine.h"

G_BEGIN_DECLS

/* Sets @fleet to zero, then the functions of DenoiseEngine and DenoiseJob, depth, chunk
 * and neighbours. All engines have the settings of @config, with a chunk. The input of a
 * job must stay valid until release(), its output until it is returned. */
void denoise_fleet_init (CvisFleetConfig *fleet, const DenoiseConfig *config);

/* DenoiseOver: a fleet with the interface of DenoiseEngine, for
 * denoise_engine_new_over(). */
typedef struct _DenoiseOver DenoiseOver;

DenoiseOver *denoise_over_new (const DenoiseConfig *config,
    const CvisDevices *devices, const CvisFleetOwner *owner, GError **error);
void denoise_over_free (DenoiseOver *over);
CvisFleet *denoise_over_get_fleet (DenoiseOver *over);
gboolean denoise_over_submit (
    DenoiseOver *over, DenoiseJob *job, GError **error);
gboolean denoise_over_wait (
    DenoiseOver *over, DenoiseJob **job, GError **error);
void denoise_over_end (DenoiseOver *over);

G_END_DECLS
