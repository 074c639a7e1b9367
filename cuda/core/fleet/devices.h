/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The devices of a fleet, from the list of numbers that a user gives.
 *
 * With the build's option test-hooks the environment variable CUDAVISION_POSED_DEVICES
 * lets CPU engines stand for devices: "3" for three devices, "3:1:1" for three devices,
 * the first three times as slow as the others. CUDAVISION_FAULTS, such as "0:5,2:1",
 * lets device 0 be lost with its fifth job and device 2 with its first. */
#pragma once

#include "cuda/core/device/device.h"
#include "cuda/core/fleet/fleet.h"

G_BEGIN_DECLS

/**
 * CvisDevice:
 * @id: number of the device
 * @name: "device 1", for errors
 * @context: (nullable): %NULL for a posed device, whose engine computes on the CPU
 */
typedef struct {
  gint id;
  gchar name[24];
  CvisContext *context;
#ifdef CVIS_TEST_HOOKS
  guint slowness;
  guint fail_at;
#endif
} CvisDevice;

typedef struct {
  guint n; /* >= 1 */
  CvisDevice devices[CVIS_FLEET_MAX_DEVICES];
} CvisDevices;

/* Reads a list of numbers: "0,1,3", or "all".
 * @count: number of devices of this machine, >= 1
 * @ids: (out): room for CVIS_FLEET_MAX_DEVICES numbers
 * Returns: how many; 0 with CVIS_ERROR_INVALID or _NO_DEVICE naming the number that is
 * malformed, twice in the list, or of no device */
guint cvis_devices_parse (
    const gchar *text, guint count, gint *ids, GError **error);

/* Makes the contexts of the devices @ids; without @ids (%NULL or empty) of the device
 * @device_id, -1: any. Returns: %NULL with CVIS_ERROR_INVALID, _NO_DEVICE or _CUDA and
 * the device in the text, also if this build has no code for its architecture */
CvisDevices *cvis_devices_new (
    const gchar *ids, gint device_id, GError **error);
/* Removes the devices whose bits, 1 << index, are in @which; all may be removed. No
 * fleet has them. */
void cvis_devices_remove (CvisDevices *devices, guint64 which);
/* @devices: (nullable) */
void cvis_devices_free (CvisDevices *devices);

/**
 * CvisFleetOwner: what the owner of a fleet wants
 * @fall_back: if the last device is lost, the CPU computes
 * @lose: (nullable): called once for each lost device, by the thread that waits.
 *   @left: whether another device, or the CPU, goes on
 */
typedef struct {
  CvisBalance balance;
  gboolean fall_back;
  void (*lose) (const CvisDevice *device, const GError *error, gboolean left,
      gpointer user_data);
  gpointer user_data;
} CvisFleetOwner;

/* Makes an engine in @context, %NULL: on the CPU. */
typedef gpointer (*CvisMakeEngine) (
    CvisContext *context, gpointer user_data, GError **error);

/* Makes an engine for each of @devices, which outlive the fleet, and the fleet of them.
 * @config: without balance, traits, replace and lose, which @owner gives; its functions
 *   get its user_data, as @make does
 * Returns: %NULL with the error of @make and the device in the text */
CvisFleet *cvis_devices_make_fleet (const CvisDevices *devices,
    const CvisFleetOwner *owner, const CvisFleetConfig *config,
    CvisMakeEngine make, GError **error);

/* Whether CPU engines stand for devices. */
gboolean cvis_devices_posed (void);
/* @device with its engine, for cvis_fleet_new(); valid as long as @device. */
CvisFleetDevice cvis_device_with_engine (
    const CvisDevice *device, gpointer engine);

G_END_DECLS
