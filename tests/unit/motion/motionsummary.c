/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Summaries of synthetic fields: sums, histogram, and the recovered global
 * motion. */
#include "cuda/motion/summary.h"

#include <math.h>

#define WIDTH 700
#define HEIGHT 400
#define COLUMNS 44
#define ROWS 25
#define N (COLUMNS * ROWS)

static CvisMotionVector vectors[N];
static CvisMotionBlock blocks[N];

static MotionField
get_field (MotionConfig *config)
{
  motion_config_init (config);
  config->width = WIDTH;
  config->height = HEIGHT;
  config->block_size = 16;
  g_assert_cmpuint (motion_config_get_columns (config), ==, COLUMNS);
  g_assert_cmpuint (motion_config_get_rows (config), ==, ROWS);
  return (MotionField){ .vectors = vectors, .blocks = blocks, .distance = -1 };
}

static void
fill (guint sad, guint intra)
{
  for (guint i = 0; i < N; i++) {
    vectors[i] = (CvisMotionVector){ 0 };
    blocks[i] = (CvisMotionBlock){ .sad = sad, .intra = intra };
  }
}

static void
test_sums (void)
{
  static const gint lengths[] = { 0, 1, 2, 3, 4, 7, 8, 15, 511, 512, 1023, 1024,
    2047, 32767 };
  static const guint32 bins[CVIS_MOTION_HISTOGRAM_BINS] = { N - 13, 1, 2, 2, 2,
    0, 0, 0, 0, 1, 2, 3 };
  MotionConfig config;
  MotionField field = get_field (&config);
  const CvisMotionSummary *s = &field.summary;

  fill (10, 40);
  for (guint i = 0; i < G_N_ELEMENTS (lengths); i++) {
    vectors[i].x = (gint16) (i % 2 ? lengths[i] : lengths[i] / 2);
    vectors[i].y = (gint16) (i % 2 ? 0 : -lengths[i]);
  }
  blocks[0].zero_sad = 5;
  blocks[N - 1].zero_sad = G_MAXUINT32;
  blocks[1].flags = CVIS_MOTION_BLOCK_STATIC | CVIS_MOTION_BLOCK_PARTIAL;
  blocks[2].flags = CVIS_MOTION_BLOCK_INTRA_LIKE;
  blocks[2].sad = 1000;
  blocks[3].sse = 2800;
  motion_summarise (&config, &field);
  g_assert_cmpuint (s->residue, ==, 10 * (N - 1) + 1000);
  g_assert_cmpuint (s->zero_residue, ==, G_GUINT64_CONSTANT (4294967300));
  g_assert_cmpuint (s->intra, ==, 40 * N);
  g_assert_cmpuint (s->sse, ==, 2800);
  g_assert_cmpuint (s->static_blocks, ==, 1);
  g_assert_cmpuint (s->intra_blocks, ==, 1);
  for (guint k = 0; k < CVIS_MOTION_HISTOGRAM_BINS; k++)
    g_assert_cmpuint (s->histogram[k], ==, bins[k]);
  g_assert_cmpfloat_with_epsilon (s->psnr, 68.1308, 1e-4);
  g_assert_cmpfloat_with_epsilon (
      s->scene_score, (10.0 * (N - 1) + 40) / (40 * N), 1e-12);
  config.depth = 10;
  motion_summarise (&config, &field);
  g_assert_cmpfloat_with_epsilon (s->psnr, 80.1975, 1e-4);
}

static void
test_nothing (void)
{
  MotionConfig config;
  MotionField field = get_field (&config);
  const CvisMotionSummary *s = &field.summary;

  fill (0, 0);
  motion_summarise (&config, &field);
  g_assert_true (isinf (s->psnr) && s->psnr > 0);
  g_assert_cmpfloat (s->scene_score, ==, 0.0);
  g_assert_cmpfloat (s->global_zoom, ==, 1.0);
  g_assert_cmpfloat (s->global_share, ==, 1.0); /* all blocks are at rest */

  for (guint i = 0; i < N; i++) {
    vectors[i] = (CvisMotionVector){ .x = (gint16) i, .y = 9 };
    blocks[i].flags = CVIS_MOTION_BLOCK_INTRA_LIKE;
  }
  motion_summarise (&config, &field);
  g_assert_cmpfloat (s->global_x, ==, 0.0);
  g_assert_cmpfloat (s->global_y, ==, 0.0);
  g_assert_cmpfloat (s->global_zoom, ==, 1.0);
  g_assert_cmpfloat (s->global_rotation, ==, 0.0);
  g_assert_cmpfloat (s->global_share, ==, 0.0);

  /* one moving block gives a translation, but no zoom */
  blocks[7].flags = 0;
  motion_summarise (&config, &field);
  g_assert_cmpfloat (s->global_x, ==, 1.75);
  g_assert_cmpfloat (s->global_y, ==, 2.25);
  g_assert_cmpfloat (s->global_zoom, ==, 1.0);
  g_assert_cmpfloat_with_epsilon (s->global_share, 1.0 / N, 1e-12);
}

/* Vectors of a similarity; a share of the blocks is random, a share belongs
 * to an object with its own motion, and flat blocks have arbitrary vectors. */
static void
make_field (GRand *random, gdouble zoom, gdouble rotation, gdouble tx,
    gdouble ty, gdouble noise, guint object, gboolean flat)
{
  gdouble a = zoom * cos (rotation) - 1, b = zoom * sin (rotation);

  fill (100, 3000);
  for (guint i = 0; i < N; i++) {
    guint column = i % COLUMNS, row = i / COLUMNS;
    gdouble x = column * 16 + MIN (16, WIDTH - column * 16) / 2.0 - WIDTH / 2.0;
    gdouble y = row * 16 + 8 - HEIGHT / 2.0;
    gdouble vx = a * x - b * y + tx, vy = b * x + a * y + ty;

    if (column < object && row < object) {
      vx += 14;
      vy -= 9;
    }
    if (flat && row < 8)
      blocks[i].intra = 20;
    if (g_rand_double (random) < noise || (flat && row < 8)) {
      vx = g_rand_double_range (random, -64, 64);
      vy = g_rand_double_range (random, -64, 64);
    }
    vectors[i].x = (gint16) floor (4 * vx + 0.5);
    vectors[i].y = (gint16) floor (4 * vy + 0.5);
  }
}

static void
test_global (void)
{
  static const struct {
    gdouble zoom, rotation, x, y, noise;
    guint object;
    gboolean flat;
    gdouble share; /* minimum */
  } cases[] = {
    { 1.0, 0.0, 0.0, 0.0, 0.0, 0, FALSE, 1.0 },
    { 1.0, 0.0, 13.25, -7.5, 0.3, 0, FALSE, 0.67 },
    { 1.0, 0.0, -63.0, 40.25, 0.1, 18, FALSE, 0.6 },
    { 1.03, 0.0, 0.0, 0.0, 0.0, 0, FALSE, 0.99 },
    { 0.95, 0.0, 4.0, -3.5, 0.2, 12, FALSE, 0.65 },
    { 1.0, 0.03, 0.0, 2.0, 0.2, 0, FALSE, 0.75 },
    { 0.98, -0.02, -5.5, 9.0, 0.2, 15, FALSE, 0.6 },
    { 1.01, 0.01, 8.0, 8.0, 0.1, 0, TRUE, 0.6 },
  };
  GRand *random = g_rand_new_with_seed (3);
  MotionConfig config;
  MotionField field = get_field (&config);
  const CvisMotionSummary *s = &field.summary;

  for (guint k = 0; k < G_N_ELEMENTS (cases); k++) {
    make_field (random, cases[k].zoom, cases[k].rotation, cases[k].x,
        cases[k].y, cases[k].noise, cases[k].object, cases[k].flat);
    motion_summarise (&config, &field);
    g_test_message ("%u: %f %f, zoom %f, rotation %f, share %f", k, s->global_x,
        s->global_y, s->global_zoom, s->global_rotation, s->global_share);
    g_assert_cmpfloat_with_epsilon (s->global_x, cases[k].x, 0.05);
    g_assert_cmpfloat_with_epsilon (s->global_y, cases[k].y, 0.05);
    g_assert_cmpfloat_with_epsilon (s->global_zoom, cases[k].zoom, 0.0005);
    g_assert_cmpfloat_with_epsilon (
        s->global_rotation, cases[k].rotation, 0.0005);
    g_assert_cmpfloat (s->global_share, >=, cases[k].share);
  }
  g_rand_free (random);
}

/* Two thirds of the blocks have another motion in common: it is the global one, unless
 * their confidence is low. */
static void
test_confidence (void)
{
  MotionConfig config;
  MotionField field = get_field (&config);
  const CvisMotionSummary *s = &field.summary;

  fill (100, 3000);
  for (guint i = 0; i < N; i++)
    vectors[i] = i % 3 ? (CvisMotionVector){ .x = 80 }
                       : (CvisMotionVector){ .x = -12, .y = 20 };
  motion_summarise (&config, &field);
  g_assert_cmpfloat_with_epsilon (s->global_x, 20, 0.05);
  for (guint i = 0; i < N; i++)
    blocks[i].flags = CVIS_MOTION_BLOCK_RATED
                      | (i % 3 ? 127u : 128u)
                            << CVIS_MOTION_BLOCK_CONFIDENCE_SHIFT;
  motion_summarise (&config, &field);
  g_assert_cmpfloat_with_epsilon (s->global_x, -3, 0.05);
  g_assert_cmpfloat_with_epsilon (s->global_y, 5, 0.05);
}

/* Vectors at the limits of 16 bits. */
static void
test_extremes (void)
{
  MotionConfig config;
  MotionField field = get_field (&config);

  fill (1, 3000);
  for (guint i = 0; i < N; i++)
    vectors[i] = (CvisMotionVector){ .x = i % 2 ? G_MAXINT16 : G_MININT16,
      .y = i % 3 ? G_MININT16 : G_MAXINT16 };
  motion_summarise (&config, &field);
  g_assert_true (isfinite (field.summary.global_x));
  g_assert_true (isfinite (field.summary.global_zoom));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/motionsummary/sums", test_sums);
  g_test_add_func ("/motionsummary/nothing", test_nothing);
  g_test_add_func ("/motionsummary/global", test_global);
  g_test_add_func ("/motionsummary/confidence", test_confidence);
  g_test_add_func ("/motionsummary/extremes", test_extremes);
  return g_test_run ();
}
