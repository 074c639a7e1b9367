/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The CPU backend of the motion search, to the bit: against the reference
 * implementation on frames that the reference implementation can do, and
 * full against full-brute on large and odd ones. Run once for each
 * instruction set: CUDAVISION_CPU says which. */
#include <string.h>

#include "cuda/motion/cpu/cpu.h"
#include "motionstream.h"

#define ROUNDS 32

static MotionEngine *
new_engine (const MotionConfig *config)
{
  GError *error = NULL;
  MotionEngine *engine =
      motion_engine_new_on (&motion_backend_cpu, config, NULL, &error);

  g_assert_no_error (error);
  return engine;
}

/* --- the reference implementation ----------------------------------------- */

static void
run (MotionStream *stream, guint threads, GRand *random)
{
  MotionEngine *engine;

  stream->config.threads = threads;
  engine = new_engine (&stream->config);
  motion_stream_run (stream, engine, random);
  motion_engine_free (engine);
}

static void
test_reference (void)
{
  GRand *random = g_rand_new_with_seed (g_test_rand_int ());
  guint rounds = g_test_slow () ? 20 * ROUNDS : ROUNDS;

  for (guint round = 0; round < rounds; round++) {
    MotionConfig config;
    MotionStream *stream;

    motion_random_config (random, round, &config);
    stream = motion_stream_new (random, &config, 6);
    run (stream, 1 + round % 3, random);
    if (config.method < MOTION_METHOD_STEP) {
      stream->config.method = MOTION_METHOD_FULL_BRUTE - config.method;
      run (stream, 1, NULL);
    }
    motion_stream_free (stream);
  }
  g_rand_free (random);
}

/* The regularised field, with one thread and with several. */
static void
test_field (void)
{
  GRand *random = g_rand_new_with_seed (g_test_rand_int ());
  guint rounds = g_test_slow () ? 20 * ROUNDS : ROUNDS;

  for (guint round = 0; round < rounds; round++) {
    MotionConfig config;
    MotionStream *stream;

    motion_random_config (random, round, &config);
    config.method = MOTION_METHOD_FIELD;
    stream = motion_stream_new (random, &config, 6);
    run (stream, 1, random);
    run (stream, 2 + round % 3, NULL);
    motion_stream_free (stream);
  }
  g_rand_free (random);
}

/* --- full against full-brute ---------------------------------------------- */

/* The n-th picture of a synthetic scene: smooth or rough, moving, some with
 * extreme sample values. */
static void
draw (guint8 *luma, const MotionConfig *config, guint n, guint kind)
{
  for (guint y = 0; y < config->height; y++) {
    for (guint x = 0; x < config->width; x++) {
      guint u = x + 5 * n, v = y + 3 * n;
      guint32 noise = (u * 0x9e3779b1u ^ v * 0x85ebca77u) * 0x2c1b3c6du >> 16;
      guint value;

      if (kind == 0)
        value = ((u / 7) * (v / 5) * 13 + u + v) * 4 + (noise & 15);
      else if (kind == 1)
        value = (noise ^ n * 771) & 1023; /* no two frames are alike */
      else if (kind == 2)
        value = n & 1 ? 1023 : 0; /* the largest possible sums */
      else
        value = 512;
      if (config->depth == 8)
        luma[(gsize) y * config->width + x] = (guint8) (value >> 2);
      else
        ((guint16 *) (gpointer) luma)[(gsize) y * config->width + x] =
            (guint16) (value & 1023);
    }
  }
}

typedef struct {
  CvisMotionVector *vectors;
  CvisMotionBlock *blocks;
  gsize n;
} Result;

/* The fields of the second and third of three frames. */
static Result
search (MotionConfig config, MotionMethod method, guint kind)
{
  gsize bytes = config.depth > 8 ? 2 : 1;
  gsize n = (gsize) motion_config_get_columns (&config)
            * motion_config_get_rows (&config);
  guint8 *luma = g_malloc (bytes * config.width * config.height);
  Result result = { g_new0 (CvisMotionVector, 3 * n),
    g_new0 (CvisMotionBlock, 3 * n), 3 * n };
  GError *error = NULL;
  MotionEngine *engine;

  config.method = method;
  engine = new_engine (&config);
  for (guint i = 0; i < 3; i++) {
    MotionJob job = { .luma = luma, .stride = bytes * config.width }, *got;

    job.fields[0].vectors = result.vectors + i * n;
    job.fields[0].blocks = result.blocks + i * n;
    draw (luma, &config, i, kind);
    motion_engine_submit (engine, &job, &error);
    g_assert_no_error (error);
    motion_engine_wait (engine, &got, &error);
    g_assert_no_error (error);
    g_assert_true (got == &job);
  }
  motion_engine_free (engine);
  g_free (luma);
  return result;
}

static void
compare_full (const MotionConfig *config, guint kind)
{
  Result brute = search (*config, MOTION_METHOD_FULL_BRUTE, kind);
  Result full = search (*config, MOTION_METHOD_FULL, kind);

  if (memcmp (full.vectors, brute.vectors, full.n * sizeof (CvisMotionVector))
          != 0
      || memcmp (full.blocks, brute.blocks, full.n * sizeof (CvisMotionBlock))
             != 0)
    g_error ("%ux%u, kind %u, block %u, range %u, border %d, window %d, tie %d,"
             " lambda %u, depth %u: full is not full-brute",
        config->width, config->height, kind, config->block_size, config->range,
        config->border, config->window, config->tie, config->lambda,
        config->depth);
  g_free (brute.vectors);
  g_free (brute.blocks);
  g_free (full.vectors);
  g_free (full.blocks);
}

static void
test_full (void)
{
  static const guint sizes[][2] = { { 1, 1 }, { 7, 300 }, { 301, 5 },
    { 320, 180 }, { 253, 131 } };

  for (guint round = 0; round < 40; round++) {
    MotionConfig config;
    guint i = round % 5;

    motion_config_init (&config);
    config.width = sizes[i][0];
    config.height = sizes[i][1];
    config.block_size = 8u << round % 4;
    config.range = round % 3 == 0 ? 64 : round % 3 == 1 ? 13 : 128;
    config.range = MIN (config.range, config.width > 250 ? 64 : 128);
    config.border = round / 4 & 1;
    config.window = round / 3 & 1;
    config.tie = round / 2 & 1;
    config.lambda = round % 7 == 3 ? 255 : round % 7 == 5 ? 4 : 0;
    config.depth = round % 11 < 7 ? 8 : 10;
    config.threads = 2;
    compare_full (&config, round / 5 % 4);
  }
}

/* --- sizes at the limits -------------------------------------------------- */

static void
test_large (void)
{
  MotionConfig config;

  motion_config_init (&config);
  config.threads = 2;
  config.range = 2;
  config.block_size = 64;
  config.width = 16384;
  config.height = 3;
  compare_full (&config, 0);
  config.width = 2;
  config.height = 16384;
  compare_full (&config, 0);
  config.depth = 10; /* largest sums: 64 x 64 differences of 1023 */
  config.width = config.height = 128;
  config.subpel = MOTION_SUBPEL_QUARTER;
  compare_full (&config, 2);
}

static void
test_level (void)
{
  const gchar *wanted = g_getenv ("CUDAVISION_CPU");
  const gchar *name = motion_cpu_kernels ()->name;

  if (wanted != NULL && strcmp (wanted, name) != 0)
    g_test_skip ("this processor does not support the instruction set");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/motioncpu/level", test_level);
  g_test_add_func ("/motioncpu/reference", test_reference);
  g_test_add_func ("/motioncpu/field", test_field);
  g_test_add_func ("/motioncpu/full", test_full);
  g_test_add_func ("/motioncpu/large", test_large);
  return g_test_run ();
}
