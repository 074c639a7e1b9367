/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Fleets of melt-pool engines on the CPU, with one window, against the reference
 * implementation, to the bit: random settings, streams and sizes of batches, devices
 * that fail. */
#include "cuda/meltpool/fleet.h"

#include <string.h>

#include "pbfstream.h"

#define N_FRAMES 150
#define MAX_BATCH 40

typedef struct {
  PbfConfig config;
  PbfModel *model;
  PbfWindow *window;
  CvisFleetConfig fleet; /* of the engines themselves */
  gint faults;           /* atomic */
} Run;

/* --- engines that fail ------------------------------------------------------------ */

typedef struct {
  Run *run;
  PbfEngine *engine;
  guint fail_at; /* batch that fails, counted from 1; 0: none */
  guint batches;
} Device;

static gboolean
check_device (gpointer user_data, gconstpointer batch, GError **error)
{
  Device *device = user_data;

  return device->run->fleet.ops->check (device->engine, batch, error);
}

static gboolean
submit_device (gpointer user_data, gpointer batch, GError **error)
{
  Device *device = user_data;

  return device->run->fleet.ops->submit (device->engine, batch, error);
}

static gboolean
wait_device (gpointer user_data, gpointer *batch, GError **error)
{
  Device *device = user_data;

  if (!device->run->fleet.ops->wait (device->engine, batch, error))
    return FALSE;
  if (++device->batches != device->fail_at)
    return TRUE;
  memset (((PbfBatch *) *batch)->results, 0x5a, sizeof (CvisPbfResult));
  g_atomic_int_inc (&device->run->faults);
  g_set_error_literal (error, CVIS_ERROR, CVIS_ERROR_CUDA, "a fault");
  return FALSE;
}

static void
free_device (gpointer user_data)
{
  Device *device = user_data;

  device->run->fleet.ops->free (device->engine);
  g_free (device);
}

static const CvisFleetOps ops = { .check = check_device,
  .submit = submit_device,
  .wait = wait_device,
  .free = free_device };

static gpointer
new_device (Run *run, guint fail_at)
{
  Device *device = g_new0 (Device, 1);
  GError *error = NULL;

  device->run = run;
  device->fail_at = fail_at;
  device->engine = pbf_engine_new (&run->config, run->model, NULL, &error);
  g_assert_no_error (error);
  return device;
}

static gpointer
replace_device (gpointer run, GError **error)
{
  return new_device (run, 0);
}

/* --- tests ------------------------------------------------------------------------ */

static void
finish_batch (gpointer batch, gpointer user_data)
{
  Run *run = user_data;

  pbf_window_apply (run->window, batch);
}

static void
wait_batch (CvisFleet *fleet, const PbfBatch *expected)
{
  GError *error = NULL;
  gpointer batch;

  g_assert_true (cvis_fleet_wait (fleet, &batch, &error));
  g_assert_no_error (error);
  g_assert_true (batch == expected);
}

/* Monitors @stream by @n devices. Returns: number of faults */
static guint
monitor_stream (PbfStream *stream, const PbfConfig *config, PbfModel *model,
    PbfRandom *random, guint n, gboolean faulty)
{
  Run run = { .config = *config, .model = model };
  CvisFleetDevice devices[3] = { { NULL } };
  CvisFleetConfig fleet_config;
  PbfBatch batches[N_FRAMES];
  guint n_batches = 0, waited = 0;
  CvisFleet *fleet;

  run.config.independent = TRUE;
  run.config.max_batch = MAX_BATCH;
  run.window = pbf_window_new (&run.config, model);
  pbf_fleet_init (&run.fleet, &run.config);
  fleet_config = run.fleet;
  fleet_config.ops = &ops;
  fleet_config.finish = finish_batch;
  fleet_config.replace = replace_device;
  fleet_config.user_data = &run;
  for (guint i = 0; i < n; i++)
    devices[i].engine =
        new_device (&run, faulty ? pbf_random_below (random, 6) : 0);
  fleet = cvis_fleet_new (&fleet_config, devices, n);

  pbf_stream_poison (stream);
  for (guint i = 0; i < N_FRAMES; n_batches++) {
    const guint most = pbf_random_below (random, 8) ? 12 : MAX_BATCH;
    PbfBatch *batch = &batches[n_batches];

    pbf_stream_batch (stream, i, 1 + pbf_random_below (random, most), batch);
    i += batch->n;
    if (n_batches - waited == cvis_fleet_get_size (fleet))
      wait_batch (fleet, &batches[waited++]);
    g_assert_true (cvis_fleet_submit (fleet, batch, NULL));
  }
  while (waited < n_batches)
    wait_batch (fleet, &batches[waited++]);
  pbf_stream_compare (stream, N_FRAMES);
  cvis_fleet_free (fleet);
  pbf_window_free (run.window);
  return (guint) g_atomic_int_get (&run.faults);
}

static guint
monitor_random (PbfRandom *random, guint round, gboolean faulty)
{
  PbfConfig config;
  PbfModel *model = round % 3 == 2 ? NULL
                                   : pbf_random_model (random,
                                       1 + pbf_random_below (random, 100),
                                       1 + pbf_random_below (random, 8));
  PbfStream *stream;
  guint faults = 0;

  pbf_random_config (random, round, &config);
  config.threads = 1 + round % 2;
  stream = pbf_stream_new (random, &config, model, N_FRAMES);
  for (guint n = 1; n <= 3; n++)
    faults += monitor_stream (stream, &config, model, random, n, faulty);
  pbf_stream_free (stream);
  if (model)
    pbf_model_unref (model);
  return faults;
}

static void
test_equal (void)
{
  PbfRandom random = { 33 };

  for (guint round = 0; round < 60; round++)
    monitor_random (&random, round, FALSE);
}

static void
test_lost (void)
{
  PbfRandom random = { 34 };
  guint faults = 0;

  for (guint round = 0; faults < 60; round++)
    faults += monitor_random (&random, round, TRUE);
  g_test_message ("%u faults", faults);
}

/* A window that was reset begins like a new one. */
static void
test_reset (void)
{
  PbfRandom random = { 35 };
  PbfConfig config;
  PbfStream *stream;
  PbfWindow *window;
  PbfEngine *engine;
  PbfBatch batch, *done;

  pbf_random_config (&random, 0, &config);
  config.independent = TRUE;
  config.max_batch = N_FRAMES;
  stream = pbf_stream_new (&random, &config, NULL, N_FRAMES);
  window = pbf_window_new (&config, NULL);
  engine = pbf_engine_new (&config, NULL, NULL, NULL);
  for (guint i = 0; i < 2; i++) {
    pbf_stream_poison (stream);
    pbf_stream_batch (stream, 0, N_FRAMES, &batch);
    g_assert_true (pbf_engine_submit (engine, &batch, NULL));
    g_assert_true (pbf_engine_wait (engine, &done, NULL));
    pbf_window_reset (window);
    pbf_window_apply (window, done);
    pbf_stream_compare (stream, N_FRAMES);
  }
  pbf_engine_free (engine);
  pbf_window_free (window);
  pbf_window_free (NULL);
  pbf_stream_free (stream);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pbffleet/equal", test_equal);
  g_test_add_func ("/pbffleet/lost", test_lost);
  g_test_add_func ("/pbffleet/reset", test_reset);
  return g_test_run ();
}
