/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The denoising engine in chunks and over several devices, which CPU engines pose, against
 * one that gets the whole stream: to the bit, also if devices are lost. */
#include <string.h>

#include "cuda/core/error.h"
#include "cuda/denoise/engine.h"
#include "denoiserounds.h"

static void
test_chunks (void)
{
  denoise_rounds_run (&denoise_backend_cpu, NULL, NULL, 40, 33);
}

#ifdef CVIS_TEST_HOOKS
static guint
run_posed (const gchar *posed, const gchar *faults, guint rounds, guint32 seed)
{
  CvisDevices *devices;
  guint lost;

  g_setenv ("CUDAVISION_POSED_DEVICES", posed, TRUE);
  g_setenv ("CUDAVISION_FAULTS", faults, TRUE);
  devices = cvis_devices_new ("all", -1, NULL);
  g_assert_nonnull (devices);
  lost = denoise_rounds_run_over (devices, rounds, seed);
  cvis_devices_free (devices);
  return lost;
}

static void
test_equal (void)
{
  g_assert_cmpuint (run_posed ("1", "", 6, 1), ==, 0);
  g_assert_cmpuint (run_posed ("2", "", 12, 2), ==, 0);
  g_assert_cmpuint (run_posed ("3:1:1", "", 12, 3), ==, 0);
}

/* One, some and all devices are lost; then the CPU goes on. */
static void
test_lost (void)
{
  GRand *random = g_rand_new_with_seed (34);
  guint lost = 0;

  for (guint round = 0; round < 30; round++) {
    gchar *faults =
        g_strdup_printf ("0:%d,1:%d,2:%d", g_rand_int_range (random, 1, 12),
            g_rand_int_range (random, 1, 12), g_rand_int_range (random, 1, 40));

    lost += run_posed (round % 2 ? "3" : "2:1:1", faults, 1, round);
    g_free (faults);
  }
  g_test_message ("%u devices lost", lost);
  g_assert_cmpuint (lost, >, 30);
  g_rand_free (random);
}
#endif

static void
test_sequential (void)
{
  GError *error = NULL;
  DenoiseConfig config;

  denoise_config_init (&config);
  config.width = config.height = 64;
  config.chunk = 4;
  g_assert_true (denoise_config_check (&config, &error));
  config.mode = DENOISE_MODE_RECURSIVE;
  g_assert_false (denoise_config_check (&config, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, "chunks"));
  g_clear_error (&error);
  config.mode = DENOISE_MODE_BOTH;
  config.chunk = DENOISE_MAX_CHUNK + 1;
  g_assert_false (denoise_config_check (&config, &error));
  g_clear_error (&error);
  for (config.radius = 1; config.radius <= DENOISE_MAX_RADIUS; config.radius++)
    for (gint live = 0; live < 2; live++) {
      config.chunk = denoise_config_get_chunk (&config, live);
      g_assert_true (denoise_config_check (&config, &error));
      g_assert_cmpuint (config.chunk, >, 2 * config.radius);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/denoisefleet/chunks", test_chunks);
#ifdef CVIS_TEST_HOOKS
  g_test_add_func ("/denoisefleet/equal", test_equal);
  g_test_add_func ("/denoisefleet/lost", test_lost);
#endif
  g_test_add_func ("/denoisefleet/sequential", test_sequential);
  return g_test_run ();
}
