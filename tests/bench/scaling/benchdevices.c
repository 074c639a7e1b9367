/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "benchdevices.h"

#include <cuda_runtime_api.h>

#include "cuda/lifting/engine.h"

#define PART(part) (1u << CVIS_SURFACE_PART_##part)

/* An engine and the memory of its surface */
typedef struct {
  BenchDevices *devices;
  CvisContext *context;
  gint id;
  LwtEngine *engine;
  LwtJob job;
  const guint *slowdown; /* NULL: 1 */
} Lane;

struct _BenchDevices {
  CvisDevices *devices;
  LwtConfig config;
  LwtWavelet *wavelet;
  guint n_lanes;
  Lane lanes[BENCH_FLEET_MAX];
  BenchFleet *fleet;
  CvisDeviceInfo info; /* of the first device */

  Lane other;
  GThread *other_thread;
  gint stop;
};

static gpointer
allocate (gsize size, GError **error)
{
  gpointer memory = NULL;
  cudaError_t code = cudaMalloc (&memory, size);

  if (code == cudaSuccess)
    code = cudaMemset (memory, 0, size);
  if (code == cudaSuccess)
    return memory;
  g_set_error (
      error, CVIS_ERROR, CVIS_ERROR_CUDA, "%s", cudaGetErrorString (code));
  return NULL;
}

static gboolean
fill_job (Lane *lane, GError **error)
{
  const LwtConfig *config = &lane->devices->config;
  const gsize stride = config->width * sizeof (gfloat);
  const gsize size = stride * config->height;

  lane->job.data = allocate (size, error);
  lane->job.stride = stride;
  lane->job.on_device = TRUE;
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS && lane->job.data != NULL; i++) {
    if (!(config->parts & (1u << i)))
      continue;
    lane->job.parts[i] = (LwtPlane){
      .data = allocate (size, error), .stride = stride, .on_device = TRUE
    };
    if (lane->job.parts[i].data == NULL)
      return FALSE;
  }
  return lane->job.data != NULL;
}

static gboolean
open_lane (Lane *lane, const CvisDevice *device, GError **error)
{
  gboolean ok;

  lane->context = device->context;
  lane->id = device->id;
  lane->engine =
      lwt_engine_new (&lane->devices->config, device->context, error);
  ok = lane->engine != NULL && cvis_context_push (lane->context, error);
  if (ok) {
    ok = fill_job (lane, error);
    cvis_context_pop (lane->context);
  }
  if (!ok)
    g_prefix_error (error, "%s: ", device->name);
  return ok;
}

static void
close_lane (Lane *lane)
{
  lwt_engine_free (lane->engine);
  if (lane->context != NULL && cvis_context_push (lane->context, NULL)) {
    cudaFree ((gpointer) lane->job.data);
    for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
      cudaFree (lane->job.parts[i].data);
    cvis_context_pop (lane->context);
  }
  *lane = (Lane){ .devices = lane->devices };
}

static gboolean
open_lanes (BenchDevices *devices, GError **error)
{
  const guint n = devices->devices->n;

  if (n < 2 || n > BENCH_FLEET_MAX)
    return cvis_refuse (
        error, "%u devices, must be 2 to %d", n, BENCH_FLEET_MAX);
  for (guint i = 0; i < n; i++) {
    devices->lanes[i].devices = devices;
    devices->n_lanes = i + 1;
    if (!open_lane (&devices->lanes[i], &devices->devices->devices[i], error))
      return FALSE;
  }
  return TRUE;
}

BenchDevices *
bench_devices_new (const gchar *ids, guint side, GError **error)
{
  BenchDevices *devices = g_new0 (BenchDevices, 1);

  devices->devices = cvis_devices_new (ids, -1, error);
  devices->wavelet = lwt_wavelet_new ("9/7", NULL);
  lwt_config_init (&devices->config);
  devices->config.width = devices->config.height = side;
  devices->config.wavelet = devices->wavelet;
  devices->config.levels[0] = devices->config.levels[1] = 4;
  devices->config.parts = PART (ROUGHNESS) | PART (WAVINESS) | PART (FORM);
  devices->config.depth_in_flight = 1;
  devices->other.devices = devices;
  if (devices->devices != NULL && open_lanes (devices, error))
    return devices;
  bench_devices_free (devices);
  return NULL;
}

void
bench_devices_free (BenchDevices *devices)
{
  for (guint i = 0; i < devices->n_lanes; i++)
    close_lane (&devices->lanes[i]);
  lwt_wavelet_free (devices->wavelet);
  cvis_devices_free (devices->devices);
  g_free (devices);
}

/* --- chunks ----------------------------------------------------------------- */

static gboolean
compute_once (Lane *lane, GError **error)
{
  LwtJob *done;

  return lwt_engine_submit (lane->engine, &lane->job, error)
         && lwt_engine_wait (lane->engine, &done, error);
}

static gboolean
compute (gpointer user_data, guint device, guint chunk, GError **error)
{
  BenchDevices *devices = user_data;
  const guint n = devices->fleet->slowdown[device];
  Lane *lane = &devices->lanes[device];

  (void) chunk;
  for (guint i = 0; i < n; i++)
    if (!compute_once (lane, error)) {
      g_prefix_error (error, "device %d: ", lane->id);
      return FALSE;
    }
  return TRUE;
}

static gdouble
get_memory_used (gpointer user_data, guint device)
{
  const BenchDevices *devices = user_data;
  CvisDeviceUse use;

  if (!cvis_device_use (devices->lanes[device].id, &use, NULL))
    return 0.0;
  return 1.0 - (gdouble) use.free / (gdouble) use.total;
}

void
bench_devices_init_fleet (BenchDevices *devices, BenchFleet *fleet)
{
  cvis_device_info (devices->lanes[0].id, &devices->info, NULL);
  *fleet = (BenchFleet){ .source = devices->info.name,
    .n_devices = devices->n_lanes,
    .compute = compute,
    .get_memory_used = get_memory_used,
    .user_data = devices };
  for (guint i = 0; i < fleet->n_devices; i++) {
    cvis_device_traits (devices->lanes[i].id, &fleet->traits[i]);
    fleet->slowdown[i] = 1;
  }
  devices->fleet = fleet;
}

/* --- other work ---------------------------------------------------------------- */

static gpointer
compute_others (gpointer user_data)
{
  BenchDevices *devices = user_data;

  while (!g_atomic_int_get (&devices->stop))
    if (!compute_once (&devices->other, NULL))
      break;
  return NULL;
}

gboolean
bench_devices_start_other (BenchDevices *devices, GError **error)
{
  if (!open_lane (&devices->other, &devices->devices->devices[0], error)) {
    close_lane (&devices->other);
    return FALSE;
  }
  g_atomic_int_set (&devices->stop, FALSE);
  devices->other_thread = g_thread_new ("other", compute_others, devices);
  return TRUE;
}

void
bench_devices_stop_other (BenchDevices *devices)
{
  g_atomic_int_set (&devices->stop, TRUE);
  g_thread_join (devices->other_thread);
  close_lane (&devices->other);
}
