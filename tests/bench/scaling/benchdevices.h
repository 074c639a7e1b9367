/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* CUDA devices for bench_fleet_run(). A chunk is a surface in the device's memory, split
 * into roughness, waviness and form (9/7, 4 levels), k times: so a device is exactly k
 * times as slow as it is. */
#pragma once

#include "benchfleet.h"

G_BEGIN_DECLS

typedef struct _BenchDevices BenchDevices;

/* @ids: "all" or a list of numbers, of at least two devices. @side: of the surfaces, samples
 * Returns: %NULL with the error that names the device */
BenchDevices *bench_devices_new (const gchar *ids, guint side, GError **error);
void bench_devices_free (BenchDevices *devices);
/* Sets up @fleet, whose slowdowns are 1 at first. Both live equally long. */
void bench_devices_init_fleet (BenchDevices *devices, BenchFleet *fleet);
/* Lets other work run on device 0 until it is stopped: surfaces of an engine of its own,
 * one after the other. */
gboolean bench_devices_start_other (BenchDevices *devices, GError **error);
void bench_devices_stop_other (BenchDevices *devices);

G_END_DECLS
