/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/core/fleet/deviceuse.h"

#include <dlfcn.h>

/* Devices whose free memory differs by less than this share of the largest are alike. */
#define ALIKE 0.05

/* --- the library -------------------------------------------------------------- */

/* NVML's binary interface; its header is not needed. */
typedef struct NvmlDevice NvmlDevice;
typedef struct {
  unsigned long long total, free, used; /* bytes */
} NvmlMemory;
typedef struct {
  unsigned gpu, memory; /* percent */
} NvmlUtilization;

typedef struct {
  int (*init) (void);
  const char *(*error_string) (int code);
  int (*find) (const char *pci_bus_id, NvmlDevice **device);
  int (*memory) (NvmlDevice *device, NvmlMemory *memory);
  int (*utilization) (NvmlDevice *device, NvmlUtilization *utilization);
  gchar *error; /* why NVML is not available */
} Nvml;

static gpointer
load_nvml (gpointer unused)
{
  static Nvml nvml;
  void *library = dlopen ("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
  int code;

  if (library == NULL) {
    nvml.error = g_strdup ("libnvidia-ml.so.1 is not installed");
    return &nvml;
  }
  *(void **) &nvml.init = dlsym (library, "nvmlInit_v2");
  *(void **) &nvml.error_string = dlsym (library, "nvmlErrorString");
  *(void **) &nvml.find = dlsym (library, "nvmlDeviceGetHandleByPciBusId_v2");
  *(void **) &nvml.memory = dlsym (library, "nvmlDeviceGetMemoryInfo");
  *(void **) &nvml.utilization =
      dlsym (library, "nvmlDeviceGetUtilizationRates");
  if (!nvml.init || !nvml.error_string || !nvml.find || !nvml.memory
      || !nvml.utilization) {
    nvml.error = g_strdup ("libnvidia-ml.so.1 is too old");
    return &nvml;
  }
  code = nvml.init ();
  if (code != 0)
    nvml.error =
        g_strdup_printf ("NVML does not start: %s", nvml.error_string (code));
  return &nvml;
}

gboolean
cvis_device_use_read (
    const gchar *pci_bus_id, CvisDeviceUse *use, GError **error)
{
  static GOnce once = G_ONCE_INIT;
  const Nvml *nvml = g_once (&once, load_nvml, NULL);
  NvmlDevice *device = NULL;
  NvmlMemory memory = { 0 };
  NvmlUtilization utilization = { 0 };
  int code;

  *use = (CvisDeviceUse){ 0 };
  if (nvml->error != NULL) {
    g_set_error_literal (error, CVIS_ERROR, CVIS_ERROR_NO_DEVICE, nvml->error);
    return FALSE;
  }
  code = nvml->find (pci_bus_id, &device);
  if (code == 0)
    code = nvml->memory (device, &memory);
  if (code != 0) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_NO_DEVICE,
        "NVML cannot read the device %s: %s", pci_bus_id,
        nvml->error_string (code));
    return FALSE;
  }
  /* not on all devices */
  if (nvml->utilization (device, &utilization) == 0)
    use->busy = MIN (utilization.gpu, 100) / 100.0;
  use->free = memory.free;
  use->total = memory.total;
  use->known = TRUE;
  return TRUE;
}

/* --- the choice ------------------------------------------------------------------ */

/* The largest free memory of the devices that are not marked. */
static guint64
find_most_free (const CvisDeviceUse *uses, guint n, const gboolean *marks)
{
  guint64 most = 0;

  for (guint i = 0; i < n; i++)
    if (!marks[i] && uses[i].known)
      most = MAX (most, uses[i].free);
  return most;
}

/* The best of the devices that are not marked. */
static guint
find_best (const CvisDeviceUse *uses, guint n, const gboolean *marks)
{
  const gdouble least = (1 - ALIKE) * (gdouble) find_most_free (uses, n, marks);
  guint best = n, first = n;

  for (guint i = 0; i < n; i++) {
    if (marks[i])
      continue;
    first = MIN (first, i);
    if (uses[i].known && (gdouble) uses[i].free >= least
        && (best == n || uses[i].busy < uses[best].busy))
      best = i;
  }
  return best < n ? best : first;
}

void
cvis_device_use_sort (const CvisDeviceUse *uses, guint n, guint *order)
{
  gboolean *marks = g_new0 (gboolean, n);

  for (guint i = 0; i < n; i++) {
    order[i] = find_best (uses, n, marks);
    marks[order[i]] = TRUE;
  }
  g_free (marks);
}
