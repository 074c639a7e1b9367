/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Takes the place of libnvidia-ml.so.1 in unit-cvisdeviceuse: two devices with fixed
 * numbers. */
#include <glib.h>
#include <string.h>

#define EXPORT __attribute__ ((visibility ("default")))

typedef struct {
  const gchar *pci_bus_id;
  unsigned long long memory[3]; /* total, free, used */
  unsigned busy;
} Device;

static Device devices[] = {
  { "0000:01:00.0", { 4ull << 30, 3ull << 30, 1ull << 30 }, 25 },
  { "0000:02:00.0", { 4ull << 30, 1ull << 30, 3ull << 30 }, 0 },
};

int nvmlInit_v2 (void);
const char *nvmlErrorString (int code);
int nvmlDeviceGetHandleByPciBusId_v2 (const char *pci_bus_id, Device **device);
int nvmlDeviceGetMemoryInfo (Device *device, unsigned long long *memory);
int nvmlDeviceGetUtilizationRates (Device *device, unsigned *utilization);

EXPORT int
nvmlInit_v2 (void)
{
  return 0;
}

EXPORT const char *
nvmlErrorString (int code)
{
  return code == 6 ? "Not Found" : "another error";
}

EXPORT int
nvmlDeviceGetHandleByPciBusId_v2 (const char *pci_bus_id, Device **device)
{
  for (guint i = 0; i < G_N_ELEMENTS (devices); i++)
    if (strcmp (devices[i].pci_bus_id, pci_bus_id) == 0) {
      *device = &devices[i];
      return 0;
    }
  return 6;
}

EXPORT int
nvmlDeviceGetMemoryInfo (Device *device, unsigned long long *memory)
{
  memcpy (memory, device->memory, sizeof device->memory);
  return 0;
}

EXPORT int
nvmlDeviceGetUtilizationRates (Device *device, unsigned *utilization)
{
  utilization[0] = utilization[1] = device->busy;
  return device == &devices[0] ? 0 : 3;
}
