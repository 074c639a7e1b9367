/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Fleets of motion engines on the CPU against the reference implementation, to the bit:
 * random settings, streams and chunks, devices that fail. Frames are overwritten when
 * the fleet releases them. */
#include "cuda/motion/fleet.h"

#include <string.h>

#include "motionstream.h"

#define N_FRAMES 14
#define POISON 0x5a

typedef struct {
  MotionStream *stream;
  MotionConstant *constant;
  CvisFleetConfig fleet; /* of the engines themselves */
  gsize sizes[N_FRAMES]; /* of luma, bytes */
  guint8 *frames[N_FRAMES];
  guint released;
  gint faults; /* atomic */
} Run;

/* --- engines that fail ------------------------------------------------------------ */

typedef struct {
  Run *run;
  MotionEngine *engine;
  guint fail_at; /* job that fails, counted from 1; 0: none */
  guint jobs;
} Device;

static gboolean
check_device (gpointer user_data, gconstpointer job, GError **error)
{
  Device *device = user_data;

  return device->run->fleet.ops->check (device->engine, job, error);
}

static gboolean
submit_device (gpointer user_data, gpointer job, GError **error)
{
  Device *device = user_data;

  return device->run->fleet.ops->submit (device->engine, job, error);
}

static gboolean
load_device (gpointer user_data, gpointer job, GError **error)
{
  Device *device = user_data;

  return device->run->fleet.ops->load (device->engine, job, error);
}

static void
end_device (gpointer user_data)
{
  Device *device = user_data;

  device->run->fleet.ops->end (device->engine);
}

static gboolean
wait_device (gpointer user_data, gpointer *job, GError **error)
{
  Device *device = user_data;

  if (!device->run->fleet.ops->wait (device->engine, job, error))
    return FALSE;
  if (++device->jobs != device->fail_at)
    return TRUE;
  ((MotionJob *) *job)->fields[0].vectors[0].x ^= 1;
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

static const CvisFleetOps ops = { check_device, submit_device, load_device,
  end_device, wait_device, free_device };

static gpointer
new_device (Run *run, guint fail_at)
{
  Device *device = g_new0 (Device, 1);
  GError *error = NULL;

  device->run = run;
  device->fail_at = fail_at;
  device->engine = motion_engine_new (&run->stream->config, NULL, &error);
  g_assert_no_error (error);
  return device;
}

static gpointer
replace_device (gpointer run, GError **error)
{
  return new_device (run, 0);
}

/* --- runs ------------------------------------------------------------------------- */

static void
finish_frame (gpointer job, gpointer user_data)
{
  Run *run = user_data;

  motion_finish (&run->stream->config, run->constant, job);
}

static void
release_frame (gpointer job, gpointer user_data)
{
  Run *run = user_data;
  const guint i = run->released++;

  g_assert_true (job == &run->stream->jobs[i]);
  memset (run->frames[i], POISON, run->sizes[i]);
}

/* Settings whose frames can be computed in chunks */
static MotionStream *
new_stream (GRand *random, guint round)
{
  MotionConfig config;
  MotionStream *stream;

  motion_random_config (random, round, &config);
  config.lambda = 0;
  if (config.method == MOTION_METHOD_ZONAL)
    config.method = MOTION_METHOD_FIELD;
  config.references = (guint) g_rand_int_range (random, 1, 5);
  config.bidirectional = g_rand_boolean (random);
  config.depth_in_flight = (guint) g_rand_int_range (random, 1, 4);
  stream = motion_stream_new (random, &config, N_FRAMES);
  stream->config.chunk = (guint) g_rand_int_range (random, 1, 7);
  return stream;
}

/* Searches @stream by @n devices. Returns: number of faults */
static guint
search_stream (MotionStream *stream, GRand *random, guint n, gboolean faulty)
{
  Run run = { .stream = stream };
  CvisFleetDevice devices[3] = { { NULL } };
  CvisFleetConfig config;
  const guint8 *luma[N_FRAMES];
  CvisFleet *fleet;

  for (guint i = 0; i < N_FRAMES; i++) {
    luma[i] = stream->jobs[i].luma;
    run.sizes[i] =
        motion_stream_plane_size (&stream->config, stream->jobs[i].stride);
    run.frames[i] = g_memdup2 (luma[i], run.sizes[i]);
    stream->jobs[i].luma = run.frames[i];
  }
  run.constant = motion_constant_new (&stream->config, NULL);
  motion_fleet_init (&run.fleet, &stream->config);
  config = run.fleet;
  config.ops = &ops;
  config.finish = finish_frame;
  config.release = release_frame;
  config.replace = replace_device;
  config.user_data = &run;
  for (guint i = 0; i < n; i++)
    devices[i].engine = new_device (
        &run, faulty ? (guint) g_rand_int_range (random, 0, N_FRAMES) : 0);
  fleet = cvis_fleet_new (&config, devices, n);
  motion_stream_run_fleet (stream, fleet, random);
  g_assert_cmpuint (run.released, ==, N_FRAMES);
  cvis_fleet_free (fleet);
  motion_constant_free (run.constant);
  for (guint i = 0; i < N_FRAMES; i++) {
    stream->jobs[i].luma = luma[i];
    g_free (run.frames[i]);
  }
  return (guint) g_atomic_int_get (&run.faults);
}

/* --- tests ------------------------------------------------------------------------ */

static void
test_equal (void)
{
  GRand *random = g_rand_new_with_seed (33);

  for (guint round = 0; round < 20; round++) {
    MotionStream *stream = new_stream (random, round);

    for (guint n = 1; n <= 3; n++)
      search_stream (stream, random, n, FALSE);
    motion_stream_free (stream);
  }
  g_rand_free (random);
}

static void
test_lost (void)
{
  GRand *random = g_rand_new_with_seed (34);
  guint faults = 0;

  for (guint round = 0; faults < 100; round++) {
    MotionStream *stream = new_stream (random, round);

    for (guint i = 0; i < 3; i++)
      faults += search_stream (stream, random, 3, TRUE);
    motion_stream_free (stream);
  }
  g_test_message ("%u faults", faults);
  g_rand_free (random);
}

static void
test_sequential (void)
{
  MotionConfig config;
  GError *error = NULL;

  motion_config_init (&config);
  config.width = config.height = 64;
  g_assert_false (motion_config_needs_prior (&config));
  config.chunk = 4;
  g_assert_true (motion_config_check (&config, &error));
  for (guint i = 0; i < 2; i++) {
    config.method = i ? MOTION_METHOD_ZONAL : MOTION_METHOD_FULL;
    config.lambda = i ? 0 : 1;
    g_assert_true (motion_config_needs_prior (&config));
    g_assert_false (motion_config_check (&config, &error));
    g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
    g_assert_nonnull (strstr (error->message, "chunks"));
    g_clear_error (&error);
  }
  config.method = MOTION_METHOD_FIELD; /* lambda has no effect */
  config.lambda = 1;
  g_assert_true (motion_config_check (&config, &error));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/motionfleet/equal", test_equal);
  g_test_add_func ("/motionfleet/lost", test_lost);
  g_test_add_func ("/motionfleet/sequential", test_sequential);
  return g_test_run ();
}
