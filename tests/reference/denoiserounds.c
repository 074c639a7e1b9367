/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "denoiserounds.h"

#include <string.h>

#include "cuda/denoise/arithmetic.h"

/* --- frames -------------------------------------------------------------------------- */

#define MAX_FRAMES 24
#define RUNS 3

/* @in, @out: the components, one after the other, @size bytes */
typedef struct {
  DenoiseJob job;
  guint8 *in, *out;
  gsize size;
  gboolean released;
} Frame;

/* A stream that ends before frame @end and begins again. Each run has its frames. */
typedef struct {
  DenoiseConfig config;
  guint number, n, end;
  gsize size; /* of a frame */
  Frame frames[RUNS][MAX_FRAMES];
} Round;

static gsize
get_size (const DenoiseConfig *config, guint c)
{
  const DenoiseShape shape = denoise_shape (config, c);

  return (gsize) shape.width * (gsize) shape.height
         * (config->depth == 8 ? 1 : 2);
}

static void
set_planes (const DenoiseConfig *config, gboolean interleaved, guint8 *memory,
    DenoisePlane planes[3])
{
  const gsize bytes = config->depth == 8 ? 1 : 2;

  for (guint c = 0; c < config->n_components; c++) {
    const DenoiseShape shape = denoise_shape (config, c);
    const guint step = interleaved && c > 0 ? 2 : 1;

    planes[c] =
        (DenoisePlane){ memory, (gsize) shape.width * step * bytes, step };
    if (!(interleaved && c > 0))
      memory += get_size (config, c);
  }
  if (interleaved)
    planes[2].data += bytes;
}

/* A texture that moves, under noise; another one after frame @cut */
static guint32
make_sample (const DenoiseConfig *config, GRand *rand, gint noise, gint x,
    gint y, gint number, gint cut)
{
  const gint t = number < cut ? number : number + 57;
  const gint wave = (x + t) * 3 % 41 + (y - t / 2) * 5 % 37;
  gint value = 400 + 4 * wave + (((x + t) / 9 + y / 7) % 2) * 150
               + (number < cut ? 0 : 200)
               + g_rand_int_range (rand, -noise, noise + 1);

  value = CLAMP (value, 0, 1023);
  return config->depth == 8    ? (guint32) value >> 2
         : config->depth == 10 ? (guint32) value
                               : (guint32) value << 6 | (guint32) (x & 63);
}

static void
fill_frame (const DenoiseConfig *config, GRand *rand, gint noise, gint number,
    gint cut, Frame *frame)
{
  for (guint c = 0; c < config->n_components; c++) {
    const DenoiseShape shape = denoise_shape (config, c);
    const DenoisePlane *p = &frame->job.in[c];

    for (gint y = 0; y < shape.height; y++)
      for (gint x = 0; x < shape.width; x++) {
        const guint32 sample =
            make_sample (config, rand, noise, x, y, number, cut)
            << frame->job.shift;
        guint8 *row = p->data + (gsize) y * p->stride;

        if (config->depth == 8)
          row[(gsize) x * p->step] = (guint8) sample;
        else
          ((guint16 *) (gpointer) row)[(gsize) x * p->step] = (guint16) sample;
      }
  }
}

static void
run_engine (const DenoiseBackendOps *ops, CvisContext *context,
    const Round *round, Frame *frames)
{
  GError *error = NULL;
  DenoiseEngine *engine =
      denoise_engine_new_on (ops, &round->config, context, &error);
  DenoiseJob *job;
  guint done = 0;

  g_assert_no_error (error);
  for (guint i = 0; i < round->n; i++) {
    if (i == round->end)
      denoise_engine_end (engine);
    do {
      denoise_engine_wait (engine, &job, &error);
      g_assert_no_error (error);
      done += job != NULL;
    } while (job != NULL);
    denoise_engine_submit (engine, &frames[i].job, &error);
    g_assert_no_error (error);
  }
  denoise_engine_end (engine);
  for (; done < round->n; done++) {
    denoise_engine_wait (engine, &job, &error);
    g_assert_no_error (error);
  }
  denoise_engine_free (engine);
}

/* Waits for frames from @done on until fewer than @most of @submitted are in flight. */
static void
wait_for_room (DenoiseEngine *engine, const Frame *frames, guint *done,
    guint submitted, guint most)
{
  GError *error = NULL;
  DenoiseJob *job;

  while (*done + most <= submitted) {
    denoise_engine_wait (engine, &job, &error);
    g_assert_no_error (error);
    if (job == NULL)
      break;
    g_assert_true (job == &frames[(*done)++].job);
  }
}

/* The same in chunks of random length, between the frames that they need */
static void
run_chunks (const DenoiseBackendOps *ops, CvisContext *context,
    const Round *round, Frame *frames, GRand *rand)
{
  DenoiseConfig config = round->config;
  GError *error = NULL;
  DenoiseEngine *engine;
  guint done = 0, former = 0;

  config.chunk = (guint) g_rand_int_range (rand, 1, 6);
  engine = denoise_engine_new_on (ops, &config, context, &error);
  g_assert_no_error (error);
  for (guint first = 0; first < round->n;) {
    const guint begin = first >= round->end ? round->end : 0;
    const guint end =
        first < round->end ? MIN (round->end, round->n) : round->n;
    const guint length =
        (guint) g_rand_int_range (rand, 1, (gint) config.chunk + 1);
    const guint last = MIN (first + length, end);
    const guint from = MAX (first, begin + denoise_config_get_before (&config))
                       - denoise_config_get_before (&config);
    const guint to = MIN (last + denoise_config_get_after (&config), end);

    /* two chunks have frames in flight */
    wait_for_room (engine, frames, &done, former, 1);
    former = first;
    for (guint i = from; i < to; i++) {
      if (i < first || i >= last) {
        denoise_engine_load (engine, &frames[i].job, &error);
      } else {
        wait_for_room (engine, frames, &done, i,
            (guint) g_rand_int_range (
                rand, 1, (gint) denoise_engine_get_depth (engine) + 1));
        denoise_engine_submit (engine, &frames[i].job, &error);
      }
      g_assert_no_error (error);
    }
    denoise_engine_end (engine);
    first = last;
  }
  wait_for_room (engine, frames, &done, round->n, 1);
  g_assert_cmpuint (done, ==, round->n);
  denoise_engine_free (engine);
}

static void
compare (const Round *round, const Frame *a, const Frame *b, guint i)
{
  const DenoiseConfig *config = &round->config;

  for (guint c = 0; c < config->n_components; c++)
    if (a->job.sigma[c] != b->job.sigma[c])
      g_error ("round %u, frame %u: sigma of component %u is %g, not %g",
          round->number, i, c, b->job.sigma[c], a->job.sigma[c]);
  g_assert_cmpint (a->job.starts_scene, ==, b->job.starts_scene);
  for (gsize k = 0; k < round->size; k++)
    if (a->out[k] != b->out[k])
      g_error ("round %u, frame %u (mode %d, %ux%u, depth %u, %u components, "
               "radius %u): byte %zu of %zu is %u, not %u",
          round->number, i, config->mode, config->width, config->height,
          config->depth, config->n_components, config->radius, k, round->size,
          b->out[k], a->out[k]);
}

/* --- rounds --------------------------------------------------------------------------- */

/* @most: frames */
static void
make_round (Round *round, GRand *rand, guint number, gint most)
{
  static const guint depths[] = { 8, 8, 10, 16 };
  const gint noise = g_rand_int_range (rand, 0, 60),
             cut = g_rand_int_range (rand, 1, most + 2);
  const gboolean interleaved = g_rand_boolean (rand);
  DenoiseConfig *config = &round->config;
  guint shift = 0;

  *round = (Round){ .number = number };
  round->n = (guint) g_rand_int_range (rand, 2, most + 1);
  round->end = (guint) g_rand_int_range (rand, 1, 2 * most);
  denoise_config_init (config);
  config->width = (guint) g_rand_int_range (rand, 1, 90);
  config->height = (guint) g_rand_int_range (rand, 1, 70);
  config->depth = depths[g_rand_int_range (rand, 0, 4)];
  config->n_components = g_rand_boolean (rand) ? 3 : 1;
  config->sub_x = (guint) g_rand_int_range (rand, 0, 2);
  config->sub_y = config->sub_x * (guint) g_rand_int_range (rand, 0, 2);
  config->mode = g_rand_int_range (rand, 0, 4);
  config->radius = (guint) g_rand_int_range (rand, 1, 4);
  config->keep_grain = g_rand_boolean (rand) ? 0.3 : 0.0;
  config->luma_only = g_rand_int_range (rand, 0, 4) == 0;
  config->sigma = g_rand_int_range (rand, 0, 3) == 0 ? 7.5 : 0.0;
  config->preset = g_rand_int_range (rand, 0, 4) == 0 ? DENOISE_PRESET_ENCODER
                                                      : DENOISE_PRESET_NONE;
  if (config->depth == 10 && g_rand_boolean (rand))
    shift = 6;
  for (guint c = 0; c < config->n_components; c++)
    round->size += get_size (config, c);
  for (guint i = 0; i < round->n; i++)
    for (guint b = 0; b < RUNS; b++) {
      Frame *f = &round->frames[b][i];

      f->in = g_malloc0 (round->size);
      f->out = g_malloc0 (round->size);
      f->job.shift = shift;
      f->job.key_frame = b == 0 ? g_rand_int_range (rand, 0, 4) == 0
                                : round->frames[0][i].job.key_frame;
      set_planes (
          config, interleaved && config->n_components == 3, f->in, f->job.in);
      set_planes (
          config, interleaved && config->n_components == 3, f->out, f->job.out);
      if (b == 0)
        fill_frame (config, rand, noise, (gint) i, cut, f);
      else
        memcpy (f->in, round->frames[0][i].in, round->size);
    }
}

static void
clear_round (Round *round)
{
  for (guint i = 0; i < round->n; i++)
    for (guint b = 0; b < RUNS; b++) {
      g_free (round->frames[b][i].in);
      g_free (round->frames[b][i].out);
    }
}

static void
test_round (const DenoiseBackendOps *ops, CvisContext *context,
    CvisContext *frames, GRand *rand, guint number)
{
  Round round;
  gboolean chunks;

  make_round (&round, rand, number, 7);
  for (guint i = 0; i < round.n; i++)
    for (guint b = 1; b < RUNS; b++) {
      round.frames[b][i].job.on_device = frames != NULL;
      round.frames[b][i].job.context = frames;
    }
  chunks = round.config.mode != DENOISE_MODE_RECURSIVE;
  run_engine (&denoise_backend_cpu, NULL, &round, round.frames[0]);
  if (ops != &denoise_backend_cpu)
    run_engine (ops, context, &round, round.frames[1]);
  if (chunks)
    run_chunks (ops, context, &round, round.frames[2], rand);
  for (guint i = 0; i < round.n; i++) {
    if (ops != &denoise_backend_cpu)
      compare (&round, &round.frames[0][i], &round.frames[1][i], i);
    if (chunks)
      compare (&round, &round.frames[0][i], &round.frames[2][i], i);
  }
  clear_round (&round);
}

void
denoise_rounds_run (const DenoiseBackendOps *ops, CvisContext *context,
    CvisContext *frames, guint rounds, guint32 seed)
{
  GRand *rand = g_rand_new_with_seed (seed);

  for (guint i = 0; i < rounds; i++)
    test_round (ops, context, frames, rand, i);
  g_rand_free (rand);
}

/* --- several devices ------------------------------------------------------------------ */

/* Nothing reads the input of a frame that was released. */
static void
poison_input (gpointer frame)
{
  Frame *f = frame;

  memset (f->in, 0x5a, f->size);
  f->released = TRUE;
}

static void
count_lost (
    const CvisDevice *device, const GError *error, gboolean left, gpointer n)
{
  ++*(guint *) n;
}

/* Returns: devices that were lost */
static guint
run_over (
    const Round *round, Frame *frames, const CvisDevices *devices, GRand *rand)
{
  guint lost = 0, done = 0;
  const CvisFleetOwner owner = { .balance = g_rand_int_range (rand, 0, 3),
    .fall_back = TRUE,
    .lose = count_lost,
    .user_data = &lost };
  DenoiseConfig config = round->config;
  GError *error = NULL;
  DenoiseEngine *engine;
  DenoiseJob *job;

  config.chunk = (guint) g_rand_int_range (rand, 0, 6);
  engine = denoise_engine_new_over (&config, devices, &owner, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < round->n; i++) {
    const guint most = (guint) g_rand_int_range (
        rand, 1, (gint) denoise_engine_get_depth (engine) + 1);

    if (i == round->end)
      denoise_engine_end (engine);
    frames[i].size = round->size;
    frames[i].job.release = poison_input;
    frames[i].job.input = &frames[i];
    wait_for_room (engine, frames, &done, i, most);
    denoise_engine_submit (engine, &frames[i].job, &error);
    g_assert_no_error (error);
  }
  denoise_engine_end (engine);
  wait_for_room (engine, frames, &done, round->n, 1);
  g_assert_cmpuint (done, ==, round->n);
  if (g_rand_boolean (rand)) {
    g_assert_true (denoise_engine_wait (engine, &job, NULL));
    g_assert_null (job);
    g_assert_true (frames[done - 1].released);
  }
  denoise_engine_free (engine);
  for (guint i = 0; i < round->n; i++)
    g_assert_true (frames[i].released);
  return lost;
}

guint
denoise_rounds_run_over (const CvisDevices *devices, guint rounds, guint32 seed)
{
  GRand *rand = g_rand_new_with_seed (seed);
  guint lost = 0;

  for (guint number = 0; number < rounds; number++) {
    Round round;

    make_round (&round, rand, number, MAX_FRAMES);
    if (round.config.mode == DENOISE_MODE_RECURSIVE)
      round.config.mode = DENOISE_MODE_BOTH;
    run_engine (&denoise_backend_cpu, NULL, &round, round.frames[0]);
    lost += run_over (&round, round.frames[1], devices, rand);
    for (guint i = 0; i < round.n; i++)
      compare (&round, &round.frames[0][i], &round.frames[1][i], i);
    clear_round (&round);
  }
  g_rand_free (rand);
  return lost;
}
