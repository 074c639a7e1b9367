/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Transforms in row blocks give the bits of the whole: by the reference
 * implementation, for wavelets that reach near and far, all boundaries and
 * layouts. */
#include <string.h>

#include "cuda/lifting/rowblocks.h"
#include "lwtreference.h"

#define WIDTH 5

typedef struct {
  LwtConfig config;
  LwtPlan plan;
  LwtRowBlocks blocks;
  guint rows;    /* rows of a block in grids */
  gboolean even; /* all of the same height: one block more than @rows */
  gfloat *samples, *coefficients, *back, *smooth; /* whole picture */
} Case;

static void
copy_runs (const LwtRect *runs, guint n, const gfloat *whole, gfloat *own)
{
  for (guint i = 0; i < n; i++)
    for (guint y = 0; y < runs[i].n; y++)
      memcpy (own + (runs[i].own + y) * WIDTH + runs[i].column,
          whole + (runs[i].whole + y) * WIDTH + runs[i].column,
          runs[i].width * sizeof *own);
}

/* The output equals the whole picture's, and no row occurs twice. */
static void
compare_runs (const LwtRect *runs, guint n, const gfloat *whole,
    const gfloat *own, guint *seen)
{
  for (guint i = 0; i < n; i++)
    for (guint y = 0; y < runs[i].n; y++) {
      const guint at = (runs[i].whole + y) * WIDTH + runs[i].column;

      g_assert_cmpmem (own + (runs[i].own + y) * WIDTH + runs[i].column,
          runs[i].width * sizeof *own, whole + at, runs[i].width * sizeof *own);
      for (guint x = 0; x < runs[i].width; x++)
        g_assert_cmpuint (seen[at + x]++, ==, 0);
    }
}

static void
check_forward (
    const Case *c, const LwtRowBlock *block, const LwtChain *chain, guint *seen)
{
  gfloat *in = g_new (gfloat, block->height * WIDTH);
  gfloat *out = g_new (gfloat, block->height * WIDTH);
  LwtRect runs[LWT_MAX_RUNS];
  guint n;

  n = lwt_row_blocks_get_runs (&c->blocks, block, FALSE, TRUE, runs);
  copy_runs (runs, n, c->samples, in);
  lwt_reference_forward (&c->plan.wavelet, c->config.boundary, LWT_TYPE_F32,
      chain, c->config.layout, in, out);
  n = lwt_row_blocks_get_runs (
      &c->blocks, block, c->config.layout == LWT_LAYOUT_MALLAT, FALSE, runs);
  compare_runs (runs, n, c->coefficients, out, seen);
  g_free (in);
  g_free (out);
}

static void
check_inverse (
    const Case *c, const LwtRowBlock *block, const LwtChain *chain, guint *seen)
{
  gfloat *in = g_new (gfloat, block->height * WIDTH);
  gfloat *out = g_new (gfloat, block->height * WIDTH);
  LwtRect runs[LWT_MAX_RUNS];
  guint n;

  n = lwt_row_blocks_get_runs (
      &c->blocks, block, c->config.layout == LWT_LAYOUT_MALLAT, TRUE, runs);
  copy_runs (runs, n, c->coefficients, in);
  lwt_reference_inverse (&c->plan.wavelet, c->config.boundary, LWT_TYPE_F32,
      chain, c->config.layout, in, out);
  n = lwt_row_blocks_get_runs (&c->blocks, block, FALSE, FALSE, runs);
  compare_runs (runs, n, c->back, out, seen);
  g_free (in);
  g_free (out);
}

/* The low band, and its synthesis. */
static void
check_smooth (
    const Case *c, const LwtRowBlock *block, const LwtChain *chain, guint *seen)
{
  gfloat *in = g_new (gfloat, block->height * WIDTH);
  gfloat *low = g_new (gfloat, block->height * WIDTH);
  LwtRect runs[LWT_MAX_RUNS];
  guint n;

  n = lwt_row_blocks_get_runs (&c->blocks, block, FALSE, TRUE, runs);
  copy_runs (runs, n, c->samples, in);
  lwt_reference_reduce (&c->plan.wavelet, c->config.boundary, LWT_TYPE_F32,
      chain, 0, chain->n, in, low);
  lwt_reference_expand (&c->plan.wavelet, c->config.boundary, LWT_TYPE_F32,
      chain, 0, chain->n, low, in);
  n = lwt_row_blocks_get_runs (&c->blocks, block, FALSE, FALSE, runs);
  compare_runs (runs, n, c->smooth, in, seen);
  g_free (in);
  g_free (low);
}

static void
make_whole (Case *c)
{
  const gsize n = WIDTH * (gsize) c->plan.height;
  gfloat *low = g_new (gfloat, n);

  c->samples = g_new (gfloat, n);
  c->coefficients = g_new (gfloat, n);
  c->back = g_new (gfloat, n);
  c->smooth = g_new (gfloat, n);
  for (gsize i = 0; i < n; i++)
    c->samples[i] = (gfloat) g_test_rand_double_range (-1.0, 1.0);
  lwt_reference_forward (&c->plan.wavelet, c->config.boundary, LWT_TYPE_F32,
      &c->plan.bands, c->config.layout, c->samples, c->coefficients);
  lwt_reference_inverse (&c->plan.wavelet, c->config.boundary, LWT_TYPE_F32,
      &c->plan.bands, c->config.layout, c->coefficients, c->back);
  lwt_reference_reduce (&c->plan.wavelet, c->config.boundary, LWT_TYPE_F32,
      &c->plan.bands, 0, c->plan.bands.n, c->samples, low);
  lwt_reference_expand (&c->plan.wavelet, c->config.boundary, LWT_TYPE_F32,
      &c->plan.bands, 0, c->plan.bands.n, low, c->smooth);
  g_free (low);
}

static void
check_blocks (Case *c)
{
  static void (*const checks[]) (const Case *, const LwtRowBlock *,
      const LwtChain *,
      guint *) = { check_smooth, check_forward, check_inverse };

  make_whole (c);
  for (guint kind = 0; kind < G_N_ELEMENTS (checks); kind++) {
    guint *seen = g_new0 (guint, WIDTH * (gsize) c->plan.height);

    /* both directions together need twice the halo */
    c->plan.config.operation = (LwtOperation) kind;
    g_assert_true (lwt_row_blocks_init (&c->blocks, &c->plan, NULL));
    if (!c->even || !lwt_row_blocks_cut_even (&c->blocks, c->rows + 1))
      lwt_row_blocks_cut (&c->blocks, c->rows * c->blocks.grid);
    else
      g_assert_cmpuint (c->blocks.n, >=, 2);
    for (guint i = 0; i < c->blocks.n; i++) {
      LwtRowBlock block;
      LwtChain chain;

      lwt_row_blocks_get (&c->blocks, i, &block);
      g_assert_cmpuint (
          block.height, <=, lwt_row_blocks_get_height (&c->blocks));
      if (c->blocks.height > 0)
        g_assert_cmpuint (block.height, ==, c->blocks.height);
      lwt_row_blocks_chain (&c->plan.bands, block.height, &chain);
      checks[kind](c, &block, &chain, seen);
    }
    for (guint i = 0; i < WIDTH * c->plan.height; i++)
      g_assert_cmpuint (seen[i], ==, 1);
    g_free (seen);
  }
  g_free (c->samples);
  g_free (c->coefficients);
  g_free (c->back);
  g_free (c->smooth);
}

static void
check_wavelet (const gchar *name, guint levels_x, guint levels_y)
{
  LwtWavelet *wavelet = lwt_wavelet_new (name, NULL);

  for (guint round = 0; round < 32; round++) {
    Case c = { .rows = 1 + round % 3, .even = round >= 16 };

    lwt_config_init (&c.config);
    c.config.wavelet = wavelet;
    c.config.boundary = (LwtBoundary) (round % 4);
    c.config.layout = (LwtLayout) (round / 4 % 2);
    c.config.width = WIDTH;
    c.config.height = c.config.boundary == LWT_BOUNDARY_PERIODIC
                          ? 1024
                          : (guint) g_test_rand_int_range (2 << levels_y, 900);
    c.config.levels[0] = levels_x;
    c.config.levels[1] = levels_y;
    c.config.levels_roughness[0] = c.config.levels_roughness[1] = 0;
    g_assert_true (lwt_plan_init (&c.plan, &c.config, NULL));
    if (lwt_row_blocks_init (&c.blocks, &c.plan, NULL))
      check_blocks (&c);
  }
  lwt_wavelet_free (wavelet);
}

static void
test_same_bits (void)
{
  check_wavelet ("haar", 1, 1);
  check_wavelet ("haar", 0, 5);
  check_wavelet ("5/3", 2, 3);
  check_wavelet ("9/7", 3, 4);
  check_wavelet ("db2", 1, 3);
  check_wavelet ("db5", 3, 2);
  check_wavelet ("db10", 2, 3);
  check_wavelet ("dd13/7", 2, 3);
  check_wavelet ("rbio3.3", 0, 2);
  check_wavelet ("coif3", 1, 2);
  check_wavelet ("9/7", 2, 0);
}

/* Heights that are no multiple of 2^levels are refused. */
static void
test_periodic (void)
{
  LwtWavelet *wavelet = lwt_wavelet_new ("9/7", NULL);
  GError *error = NULL;
  LwtConfig config;
  LwtRowBlocks blocks;
  LwtPlan plan;

  lwt_config_init (&config);
  config.wavelet = wavelet;
  config.boundary = LWT_BOUNDARY_PERIODIC;
  config.width = 10;
  config.height = 6400 + 32;
  g_assert_true (lwt_plan_init (&plan, &config, NULL));
  g_assert_false (lwt_row_blocks_init (&blocks, &plan, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, "6432"));
  g_clear_error (&error);
  config.height = 6400;
  g_assert_true (lwt_plan_init (&plan, &config, NULL));
  g_assert_true (lwt_row_blocks_init (&blocks, &plan, NULL));
  lwt_wavelet_free (wavelet);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/lwtrowblocks/same-bits", test_same_bits);
  g_test_add_func ("/lwtrowblocks/periodic", test_periodic);
  return g_test_run ();
}
