/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The denoiser's CUDA backend against the CPU backend, to the bit; --bench: frames per
 * second of 1920x1080 NV12 in device memory, one thread, as
 * many frames in flight as the engine takes. */
#include <string.h>

#include "harness.h"
#include "denoiserounds.h"

#define WIDTH 1920
#define HEIGHT 1080
#define RING 8

static void
check_rounds (Harness *h)
{
  harness_case (h, "rounds");
  denoise_rounds_run (&denoise_backend_cuda, harness_context (h), NULL, 40,
      (guint32) harness_seed (h));
}

/* A moving texture with noise */
static void
fill_frame (guint8 *frame, guint number)
{
  guint32 state = number + 1;

  for (guint y = 0; y < HEIGHT * 3 / 2; y++)
    for (guint x = 0; x < WIDTH; x++) {
      const guint at = x + 3 * number;

      state = state * 1664525u + 1013904223u;
      frame[y * WIDTH + x] =
          (guint8) (60 + (at * 5 % 67) + (y * 3 % 59) + (state >> 27));
    }
}

static void
set_planes (guint8 *memory, DenoisePlane planes[3])
{
  planes[0] = (DenoisePlane){ memory, WIDTH, 1 };
  planes[1] = (DenoisePlane){ memory + WIDTH * HEIGHT, WIDTH, 2 };
  planes[2] = (DenoisePlane){ memory + WIDTH * HEIGHT + 1, WIDTH, 2 };
}

static void
measure_mode (
    Harness *h, const gchar *name, DenoiseMode mode, guint radius, guint frames)
{
  const gsize size = (gsize) WIDTH * HEIGHT * 3 / 2;
  DenoiseJob jobs[2 * RING];
  DenoiseConfig config;
  DenoiseEngine *engine;
  DenoiseJob *done;
  guint8 *frame = harness_host (h, size);
  gint64 start = 0;
  guint depth;

  denoise_config_init (&config);
  config.width = WIDTH;
  config.height = HEIGHT;
  config.n_components = 3;
  config.sub_x = config.sub_y = 1;
  config.mode = mode;
  config.radius = radius;
  engine = denoise_engine_new (&config, harness_context (h), NULL);
  g_assert_nonnull (engine);
  depth = denoise_engine_get_depth (engine);
  memset (jobs, 0, sizeof jobs);
  for (guint i = 0; i < 2 * RING; i++) {
    fill_frame (frame, i);
    set_planes (harness_upload (h, frame, size), jobs[i].in);
    set_planes (harness_device (h, size), jobs[i].out);
    jobs[i].on_device = TRUE;
    jobs[i].stream = harness_stream (h);
  }
  HARNESS_CUDA (h, cudaDeviceSynchronize ());
  for (guint i = 0; i < frames + 20; i++) {
    if (i == 20)
      start = g_get_monotonic_time ();
    if ((i >= depth && !denoise_engine_wait (engine, &done, NULL))
        || !denoise_engine_submit (engine, &jobs[i % (2 * RING)], NULL))
      harness_fail (h, "frame %u", i);
  }
  g_print ("%-28s %8.0f frames/s\n", name,
      frames * 1e6 / (gdouble) (g_get_monotonic_time () - start));
  denoise_engine_free (engine);
}

static void
bench_modes (Harness *h)
{
  harness_case (h, "1920x1080 NV12");
  measure_mode (h, "spatial", DENOISE_MODE_SPATIAL, 1, 300);
  measure_mode (h, "recursive", DENOISE_MODE_RECURSIVE, 1, 300);
  measure_mode (h, "temporal, radius 1", DENOISE_MODE_TEMPORAL, 1, 300);
  measure_mode (h, "temporal, radius 2", DENOISE_MODE_TEMPORAL, 2, 300);
  measure_mode (h, "both, radius 1", DENOISE_MODE_BOTH, 1, 300);
  measure_mode (h, "both, radius 2", DENOISE_MODE_BOTH, 2, 300);
}

int
main (int argc, char **argv)
{
  static const HarnessTest tests[] = {
    { "denoise-rounds", check_rounds, bench_modes },
    { NULL, NULL, NULL },
  };

  return harness_main (argc, argv, tests);
}
