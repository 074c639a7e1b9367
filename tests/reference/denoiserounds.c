/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "denoiserounds.h"

#include <string.h>

#include "cuda/denoise/arithmetic.h"

/* --- frames -------------------------------------------------------------------------- */

/* @memory: of the components, one after the other */
typedef struct {
  DenoiseJob job;
  guint8 *in, *out;
} Frame;

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
    const DenoiseConfig *config, Frame *frames, guint n, guint end)
{
  GError *error = NULL;
  DenoiseEngine *engine = denoise_engine_new_on (ops, config, context, &error);
  DenoiseJob *job;
  guint done = 0;

  g_assert_no_error (error);
  for (guint i = 0; i < n; i++) {
    if (i == end)
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
  for (; done < n; done++) {
    denoise_engine_wait (engine, &job, &error);
    g_assert_no_error (error);
  }
  denoise_engine_free (engine);
}

static void
compare (const DenoiseConfig *config, const Frame *a, const Frame *b,
    gsize size, guint i, guint round)
{
  for (guint c = 0; c < config->n_components; c++)
    if (a->job.sigma[c] != b->job.sigma[c])
      g_error ("round %u, frame %u: sigma of component %u is %g, not %g", round,
          i, c, b->job.sigma[c], a->job.sigma[c]);
  g_assert_cmpint (a->job.starts_scene, ==, b->job.starts_scene);
  for (gsize k = 0; k < size; k++)
    if (a->out[k] != b->out[k])
      g_error ("round %u, frame %u (mode %d, %ux%u, depth %u, %u components, "
               "radius %u): byte %zu of %zu is %u, not %u",
          round, i, config->mode, config->width, config->height, config->depth,
          config->n_components, config->radius, k, size, b->out[k], a->out[k]);
}

static void
test_round (const DenoiseBackendOps *ops, CvisContext *context, GRand *rand,
    guint round)
{
  static const guint depths[] = { 8, 8, 10, 16 };
  const guint n = (guint) g_rand_int_range (rand, 2, 7);
  const gboolean interleaved = g_rand_boolean (rand);
  const gint noise = g_rand_int_range (rand, 0, 60),
             cut = g_rand_int_range (rand, 1, 9);
  const guint end = (guint) g_rand_int_range (rand, 1, 12);
  DenoiseConfig config;
  Frame frames[2][8];
  gsize size = 0;
  guint shift = 0;

  denoise_config_init (&config);
  config.width = (guint) g_rand_int_range (rand, 1, 90);
  config.height = (guint) g_rand_int_range (rand, 1, 70);
  config.depth = depths[g_rand_int_range (rand, 0, 4)];
  config.n_components = g_rand_boolean (rand) ? 3 : 1;
  config.sub_x = (guint) g_rand_int_range (rand, 0, 2);
  config.sub_y = config.sub_x * (guint) g_rand_int_range (rand, 0, 2);
  config.mode = g_rand_int_range (rand, 0, 4);
  config.radius = (guint) g_rand_int_range (rand, 1, 4);
  config.keep_grain = g_rand_boolean (rand) ? 0.3 : 0.0;
  config.luma_only = g_rand_int_range (rand, 0, 4) == 0;
  config.sigma = g_rand_int_range (rand, 0, 3) == 0 ? 7.5 : 0.0;
  config.preset = g_rand_int_range (rand, 0, 4) == 0 ? DENOISE_PRESET_ENCODER
                                                     : DENOISE_PRESET_NONE;
  if (config.depth == 10 && g_rand_boolean (rand))
    shift = 6;
  for (guint c = 0; c < config.n_components; c++)
    size += get_size (&config, c);
  for (guint i = 0; i < n; i++)
    for (guint b = 0; b < 2; b++) {
      Frame *f = &frames[b][i];

      memset (&f->job, 0, sizeof f->job);
      f->in = g_malloc0 (size);
      f->out = g_malloc0 (size);
      f->job.shift = shift;
      set_planes (
          &config, interleaved && config.n_components == 3, f->in, f->job.in);
      set_planes (
          &config, interleaved && config.n_components == 3, f->out, f->job.out);
      if (b == 0)
        fill_frame (&config, rand, noise, (gint) i, cut, f);
      else
        memcpy (f->in, frames[0][i].in, size);
    }
  run_engine (&denoise_backend_cpu, NULL, &config, frames[0], n, end);
  run_engine (ops, context, &config, frames[1], n, end);
  for (guint i = 0; i < n; i++) {
    compare (&config, &frames[0][i], &frames[1][i], size, i, round);
    for (guint b = 0; b < 2; b++) {
      g_free (frames[b][i].in);
      g_free (frames[b][i].out);
    }
  }
}

void
denoise_rounds_run (const DenoiseBackendOps *ops, CvisContext *context,
    guint rounds, guint32 seed)
{
  GRand *rand = g_rand_new_with_seed (seed);

  for (guint i = 0; i < rounds; i++)
    test_round (ops, context, rand, i);
  g_rand_free (rand);
}
