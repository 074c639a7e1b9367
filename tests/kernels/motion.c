/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The motion kernels against the plain C reference implementation, to the
 * bit: settings at random, frames of every kind, all ways for a frame to
 * reach the device, several frames in flight; and on larger frames each
 * method against the CPU backend. */
#include <string.h>

#include "harness.h"
#include "cuda/motion/backend.h"
#include "motionstream.h"

typedef enum { PAGEABLE, PINNED, ON_DEVICE, N_PLACES } Place;

static const gchar *const place_names[] = { "pageable", "pinned", "device" };

/* Places the frames in other memory. */
static void
place_frames (Harness *h, MotionStream *stream, Place place)
{
  for (guint i = 0; i < stream->n; i++) {
    MotionJob *job = &stream->jobs[i];
    const guint8 *luma = stream->made[i].luma;
    gsize size = motion_stream_plane_size (&stream->config, job->stride);

    *job = stream->made[i];
    job->pinned = place == PINNED;
    job->on_device = place == ON_DEVICE;
    job->stream = place == ON_DEVICE ? harness_stream (h) : NULL;
    if (place == PINNED)
      job->luma = memcpy (harness_pinned (h, size), luma, size);
    if (place == ON_DEVICE)
      job->luma = harness_upload (h, luma, size);
  }
}

/* Places vectors and blocks in pinned memory. */
static void
pin_results (Harness *h, MotionStream *stream)
{
  gsize n = 1
            + (gsize) motion_config_get_columns (&stream->config)
                  * motion_config_get_rows (&stream->config);

  for (guint i = 0; i < stream->n; i++) {
    MotionJob *job = &stream->jobs[i];

    job->results_pinned = TRUE;
    for (guint f = 0; f < motion_config_get_n_fields (&stream->config); f++) {
      job->fields[f].vectors =
          harness_pinned (h, n * sizeof (CvisMotionVector));
      job->fields[f].blocks = harness_pinned (h, n * sizeof (CvisMotionBlock));
    }
  }
}

static void
run_stream (Harness *h, MotionStream *stream, GRand *random)
{
  GError *error = NULL;
  MotionEngine *engine =
      motion_engine_new (&stream->config, harness_context (h), &error);

  if (engine == NULL) {
    harness_fail (h, "%s", error->message);
    g_clear_error (&error);
    return;
  }
  motion_stream_run (stream, engine, random);
  motion_stream_run (stream, engine, NULL);
  motion_engine_free (engine);
}

/* The full search as chosen by the engine, which is brute force for small
 * frames, and with elimination tried in every block. */
static void
run_full (Harness *h, MotionStream *stream, GRand *random)
{
  run_stream (h, stream, random);
  stream->config.eliminate_all = TRUE;
  run_stream (h, stream, random);
  stream->config.eliminate_all = FALSE;
  stream->config.method = MOTION_METHOD_FULL_BRUTE;
  run_stream (h, stream, random);
  stream->config.method = MOTION_METHOD_FULL;
}

static void
check_against_reference (Harness *h)
{
  for (guint round = 0; round < 160; round++) {
    GRand *random = g_rand_new_with_seed ((guint32) harness_random (h));
    MotionConfig config;
    MotionStream *stream;
    Place place = (Place) (round % N_PLACES);

    motion_random_config (random, round, &config);
    stream = motion_stream_new (random, &config, 6);
    harness_case (
        h, "round %u, method %d, %s", round, config.method, place_names[place]);
    place_frames (h, stream, place);
    if (round & 1)
      pin_results (h, stream);
    if (config.method == MOTION_METHOD_FULL)
      run_full (h, stream, random);
    else
      run_stream (h, stream, random);
    motion_stream_free (stream);
    g_rand_free (random);
  }
}

/* The regularised field with settings at random. */
static void
check_field (Harness *h)
{
  for (guint round = 0; round < 120; round++) {
    GRand *random = g_rand_new_with_seed ((guint32) harness_random (h));
    MotionConfig config;
    MotionStream *stream;

    motion_random_config (random, round, &config);
    config.method = MOTION_METHOD_FIELD;
    stream = motion_stream_new (random, &config, 4);
    harness_case (h, "round %u, %ux%u, block-size %u, range %u", round,
        config.width, config.height, config.block_size, config.range);
    place_frames (h, stream, (Place) (round % N_PLACES));
    run_stream (h, stream, random);
    motion_stream_free (stream);
    g_rand_free (random);
  }
}

/* --- larger frames, against the CPU backend ------------------------------- */

#define LARGE_FRAMES 4

/* A scene that moves by whole and half pixels, a cut to noise, a repeated
 * frame. */
static void
draw_large (Harness *h, const MotionConfig *config, guint frame, guint8 *luma)
{
  for (guint y = 0; y < config->height; y++)
    for (guint x = 0; x < config->width; x++) {
      guint u = x + 5 * frame, v = y + 3 * frame;

      luma[(gsize) y * config->width + x] =
          frame == 2 ? (guint8) harness_random (h)
                     : (guint8) (128 + (u * v % 61) + ((u / 9) ^ (v / 7)) % 67);
    }
  if (frame == 3 && config->height > 2 * 17)
    memmove (luma + (gsize) config->width * 17, luma,
        (gsize) config->width * (config->height / 2));
}

static gboolean
run_large (Harness *h, const MotionConfig *config, CvisContext *context,
    guint8 *const *frames, MotionJob *jobs)
{
  GError *error = NULL;
  MotionEngine *engine = motion_engine_new (config, context, &error);
  MotionJob *done;
  gboolean ok = engine != NULL;

  for (guint i = 0; i < LARGE_FRAMES && ok; i++) {
    jobs[i].luma = frames[i];
    jobs[i].stride = config->width;
    ok = motion_engine_submit (engine, &jobs[i], &error)
         && motion_engine_wait (engine, &done, &error);
  }
  motion_engine_free (engine);
  if (!ok)
    harness_fail (h, "%s", error->message);
  g_clear_error (&error);
  return ok;
}

static void
make_jobs (Harness *h, const MotionConfig *config, MotionJob *jobs)
{
  gsize n = (gsize) motion_config_get_columns (config)
            * motion_config_get_rows (config);

  memset (jobs, 0, LARGE_FRAMES * sizeof *jobs);
  for (guint i = 0; i < LARGE_FRAMES; i++)
    for (guint f = 0; f < motion_config_get_n_fields (config); f++) {
      jobs[i].fields[f].vectors =
          harness_host (h, n * sizeof (CvisMotionVector));
      jobs[i].fields[f].blocks = harness_host (h, n * sizeof (CvisMotionBlock));
    }
}

static void
compare_large (
    Harness *h, const MotionConfig *config, MotionJob *cpu, MotionJob *cuda)
{
  gsize n = (gsize) motion_config_get_columns (config)
            * motion_config_get_rows (config);

  for (guint i = 1; i < LARGE_FRAMES; i++) {
    harness_equal (h, "vectors", HARNESS_U8, cpu[i].fields[0].vectors,
        cuda[i].fields[0].vectors, n * sizeof (CvisMotionVector));
    harness_equal (h, "blocks", HARNESS_U8, cpu[i].fields[0].blocks,
        cuda[i].fields[0].blocks, n * sizeof (CvisMotionBlock));
    harness_equal (h, "flags", HARNESS_U8, &cpu[i].flags, &cuda[i].flags,
        sizeof cpu[i].flags);
  }
}

static void
compare_backends (Harness *h, const MotionConfig *config, guint8 *const *frames)
{
  MotionConfig eliminate = *config;
  MotionJob cpu[LARGE_FRAMES], cuda[LARGE_FRAMES];

  make_jobs (h, config, cpu);
  make_jobs (h, config, cuda);
  if (!run_large (h, config, NULL, frames, cpu))
    return;
  if (run_large (h, config, harness_context (h), frames, cuda))
    compare_large (h, config, cpu, cuda);
  if (config->method != MOTION_METHOD_FULL)
    return;
  /* with elimination where the engine would not use it, in noise too */
  eliminate.eliminate_all = TRUE;
  if (run_large (h, &eliminate, harness_context (h), frames, cuda))
    compare_large (h, config, cpu, cuda);
}

static const guint large_sizes[][2] = { { 1920, 1080 }, { 641, 363 },
  { 4096, 16 }, { 24, 2160 } };

static void
compare_scene (Harness *h, const MotionConfig *config)
{
  guint8 *frames[LARGE_FRAMES];

  harness_case (h, "%ux%u, method %d, block-size %u, subpel %d", config->width,
      config->height, config->method, config->block_size, config->subpel);
  for (guint i = 0; i < LARGE_FRAMES; i++) {
    frames[i] = harness_host (h, (gsize) config->width * config->height);
    draw_large (h, config, i, frames[i]);
  }
  compare_backends (h, config, frames);
}

static void
check_large (Harness *h)
{
  static const guint blocks[] = { 32, 16, 64, 8 };

  for (guint round = 0; round < 16; round++) {
    MotionConfig config;

    motion_config_init (&config);
    config.method = round % 4;
    config.block_size = blocks[round / 4];
    config.width = large_sizes[(round + round / 4) % 4][0];
    config.height = large_sizes[(round + round / 4) % 4][1];
    config.window = round / 8;
    config.tie = round / 4 % 2;
    compare_scene (h, &config);
  }
}

static void
check_large_field (Harness *h)
{
  for (guint round = 0; round < 16; round++) {
    MotionConfig config;

    motion_config_init (&config);
    config.method = MOTION_METHOD_FIELD;
    config.block_size = 8u << round % 4;
    config.width = large_sizes[round / 4][0];
    config.height = large_sizes[round / 4][1];
    config.subpel = 2 - round % 3;
    compare_scene (h, &config);
  }
}

/* Frames of noise just large enough for a tile of whole blocks
 * (cuda/tile.cuh) and partial ones beside it: several of them need the
 * raster of the zonal search, and the step search goes by columns. Small
 * enough for tools that slow it down a hundredfold. */
static void
check_tiles (Harness *h)
{
  static const guint blocks[] = { 32, 16, 8, 64 };
  static const guint ranges[] = { 64, 128, 24 };

  for (guint round = 0; round < 13; round++) {
    MotionConfig config;
    guint8 *frames[LARGE_FRAMES];
    guint size = blocks[round % 4];

    motion_config_init (&config);
    config.method = round < 12 ? MOTION_METHOD_ZONAL : MOTION_METHOD_STEP;
    config.block_size = size;
    config.range = ranges[round / 4 % 3];
    config.width = (size == 64 ? 2 : 4) * size + 5;
    config.height = (size == 64 ? 1 : 2) * size + 3;
    harness_case (h, "%ux%u, method %d, block-size %u, range %u", config.width,
        config.height, config.method, size, config.range);
    for (guint i = 0; i < LARGE_FRAMES; i++) {
      frames[i] = harness_host (h, (gsize) config.width * config.height);
      harness_fill (h, frames[i], (gsize) config.width * config.height);
    }
    compare_backends (h, &config, frames);
  }
}

/* Several engines share a context; a range and a block size that need all of
 * the shared memory. */
static void
check_engines (Harness *h)
{
  GRand *random = g_rand_new_with_seed ((guint32) harness_random (h));
  MotionConfig config;
  MotionStream *streams[3];

  harness_case (h, "three engines in turns");
  for (guint i = 0; i < 3; i++) {
    motion_random_config (random, i, &config);
    config.block_size = 64;
    config.range = 128;
    config.window = MOTION_WINDOW_INCLUSIVE;
    config.width = 40;
    config.height = 24;
    streams[i] = motion_stream_new (random, &config, 3);
  }
  for (guint turn = 0; turn < 6; turn++)
    if (streams[turn % 3]->config.method == MOTION_METHOD_FULL)
      run_full (h, streams[turn % 3], random);
    else
      run_stream (h, streams[turn % 3], random);
  for (guint i = 0; i < 3; i++)
    motion_stream_free (streams[i]);
  g_rand_free (random);
}

int
main (int argc, char **argv)
{
  static const HarnessTest tests[] = {
    { "motion-reference", check_against_reference, NULL },
    { "motion-field", check_field, NULL },
    { "motion-large", check_large, NULL },
    { "motion-large-field", check_large_field, NULL },
    { "motion-tiles", check_tiles, NULL },
    { "motion-engines", check_engines, NULL },
    { NULL, NULL, NULL },
  };

  return harness_main (argc, argv, tests);
}
