/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Lifting engines in a CvisFleet: jobs are independent of each other. */
#pragma once

#include "cuda/core/fleet/fleet.h"
#include "cuda/lifting/engine.h"

G_BEGIN_DECLS

/* Of LwtEngine and LwtJob. All engines of a fleet have the same config. */
extern const CvisFleetOps lwt_fleet_ops;

G_END_DECLS
