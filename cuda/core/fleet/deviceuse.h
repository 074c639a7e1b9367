/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Free memory and use of NVIDIA devices, read through NVML, which is loaded at run time
 * and makes no context. cvis_context_new() chooses a device by them. */
#pragma once

#include "cuda/core/error.h"

G_BEGIN_DECLS

/**
 * CvisDeviceUse:
 * @known: whether the rest was read
 * @free: bytes of free device memory
 * @total: bytes of device memory
 * @busy: share of the last second or less in which a kernel ran, 0..1; 0 if the device
 *   does not report it
 */
typedef struct {
  gboolean known;
  guint64 free, total;
  gdouble busy;
} CvisDeviceUse;

/* Reads the use of the device at @pci_bus_id ("0000:3b:00.0"). For any thread.
 * Returns: FALSE with CVIS_ERROR_NO_DEVICE if NVML is not there or does not know the
 * device */
gboolean cvis_device_use_read (
    const gchar *pci_bus_id, CvisDeviceUse *use, GError **error);

/* Sorts the numbers 0..@n-1 of devices: the one with most free memory first. Devices
 * within 5 % of that compare by their use, then by their number. Unknown devices are
 * last.
 * @order: (out): room for @n numbers */
void cvis_device_use_sort (const CvisDeviceUse *uses, guint n, guint *order);

G_END_DECLS
