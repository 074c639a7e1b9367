/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Melt-pool engines in a CvisFleet: devices compute batches, the caller's thread
 * completes them.
 *
 *   config.independent = TRUE;
 *   engine = pbf_engine_new (&config, model, ...);   // for each device
 *   window = pbf_window_new (&config, model);
 *   pbf_fleet_init (&fleet_config, &config);
 *   fleet_config.finish = my_finish;                 // calls pbf_window_apply()
 *   fleet = cvis_fleet_new (&fleet_config, devices, n);
 */
#pragma once

#include "cuda/core/fleet/fleet.h"
#include "cuda/meltpool/window.h"

G_BEGIN_DECLS

/* Sets @fleet to zero, then the functions of PbfEngine and PbfBatch and the depth. All
 * engines have the settings of @config, with independent. */
void pbf_fleet_init (CvisFleetConfig *fleet, const PbfConfig *config);

G_END_DECLS
