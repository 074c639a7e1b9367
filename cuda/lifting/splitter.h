/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* LwtSplitter: surfaces in row blocks (cuda/lifting/rowblocks.h) that several devices
 * share, with the bits of one device. lwt_engine_new_over() makes one for surfaces that
 * are large, or too large for a device.
 *
 * Each device has an engine for pictures as high as a row block, and a CvisFleet deals the
 * blocks. The engines do the transforms. The host does everything that needs all rows:
 * F-operations, missing points, padding, conversions and parameters. */
#pragma once

#include "cuda/core/fleet/devices.h"
#include "cuda/lifting/backend.h"

G_BEGIN_DECLS

typedef struct _LwtSplitter LwtSplitter;

/* Makes the splitter of surfaces of @plan, which outlives it, as @devices do.
 * @splitter: (out): %NULL if surfaces go whole to one device
 * Returns: FALSE with @error and the device in the text */
gboolean lwt_splitter_new (LwtSplitter **splitter, const LwtPlan *plan,
    const CvisDevices *devices, const CvisFleetOwner *owner, GError **error);
/* Waits for row blocks in flight. */
void lwt_splitter_free (LwtSplitter *splitter);
/* The fleet; its jobs are row blocks. */
CvisFleet *lwt_splitter_get_fleet (LwtSplitter *splitter);
/* Row blocks of a surface */
guint lwt_splitter_count_blocks (const LwtSplitter *splitter);

/* As those of an engine. @job: was checked */
gboolean lwt_splitter_submit (
    LwtSplitter *splitter, LwtJob *job, GError **error);
gboolean lwt_splitter_wait (
    LwtSplitter *splitter, LwtJob **job, GError **error);

G_END_DECLS
