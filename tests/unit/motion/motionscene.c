/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The scene detector on synthetic fields; tests/oracle/scenes.py uses real
 * clips. */
#include "cuda/motion/summary.h"

#define COLUMNS 40 /* more than the detector's map has cells */
#define ROWS 20
#define N (COLUMNS * ROWS)
#define SAMPLES 256 /* samples of a block */

typedef struct {
  MotionConfig config;
  MotionSceneDetector detector;
  CvisMotionVector vectors[N];
  CvisMotionBlock blocks[N];
  MotionField field;
} Fixture;

static void
set_up (Fixture *f, gconstpointer depth)
{
  motion_config_init (&f->config);
  f->config.block_size = 16;
  f->config.width = 16 * COLUMNS - 3;
  f->config.height = 16 * ROWS - 5;
  f->config.depth = GPOINTER_TO_UINT (depth);
  f->detector = (MotionSceneDetector){ .threshold = MOTION_SCENE_THRESHOLD };
  f->field = (MotionField){
    .vectors = f->vectors,
    .blocks = f->blocks,
    .distance = -1,
  };
}

static void
tear_down (Fixture *f, gconstpointer depth)
{
}

static guint32
mix (guint32 x)
{
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

/* A frame of scene @scene, whose blocks deviate by about @contrast levels;
 * motion does not explain @score of it. */
static gboolean
detect (Fixture *f, guint scene, gdouble contrast, gdouble score)
{
  gdouble level = 1 << (f->config.depth - 8);

  for (guint i = 0; i < N; i++) {
    guint x = i % COLUMNS / 4, y = i / COLUMNS / 4;
    guint rough = mix (scene * 1000 + y * 10 + x) >> 28;

    f->blocks[i] = (CvisMotionBlock){ 0 };
    f->blocks[i].intra =
        (guint32) (SAMPLES * level * contrast * (0.2 + rough / 8.0));
    f->blocks[i].sad = (guint32) (f->blocks[i].intra * score);
  }
  motion_summarise (&f->config, &f->field);
  return motion_scene_detect (&f->detector, &f->config, &f->field);
}

static void
begin (Fixture *f)
{
  g_assert_false (motion_scene_detect (&f->detector, &f->config, NULL));
}

static void
test_cut (Fixture *f, gconstpointer depth)
{
  begin (f);
  for (guint i = 0; i < 5; i++)
    g_assert_false (detect (f, 1, 20, 0.2));
  g_assert_true (detect (f, 2, 20, 0.8));
  for (guint i = 0; i < 5; i++)
    g_assert_false (detect (f, 2, 20, 0.2));
  /* a scene of two frames */
  g_assert_true (detect (f, 3, 20, 0.9));
  g_assert_false (detect (f, 3, 20, 0.3));
  g_assert_true (detect (f, 4, 20, 0.9));
  /* a scene of a single frame: the return is no cut */
  g_assert_false (detect (f, 5, 20, 0.9));
  /* motion within the search range is no cut */
  g_assert_false (detect (f, 6, 20, 0.3));
}

static void
test_light (Fixture *f, gconstpointer depth)
{
  begin (f);
  for (guint i = 0; i < 3; i++)
    g_assert_false (detect (f, 1, 20, 0.1));
  g_assert_false (detect (f, 1, 28, 0.95)); /* a flash */
  g_assert_false (detect (f, 1, 20, 0.95));
  g_assert_false (detect (f, 1, 20, 0.1));
  for (gdouble contrast = 20; contrast > 0.1; contrast *= 0.7)
    g_assert_false (detect (f, 1, contrast, 0.9)); /* a fade */
  for (gdouble contrast = 0.1; contrast < 20; contrast *= 1.5)
    g_assert_false (detect (f, 1, contrast, 0.9)); /* and back */
  g_assert_false (detect (f, 1, 0, 1)); /* black, the same, another */
  g_assert_false (detect (f, 1, 20, 1));
  g_assert_false (detect (f, 1, 0, 1));
  g_assert_true (detect (f, 2, 20, 1));
}

/* A frame of nothing but weak noise, whose blocks deviate by about @sigma. */
static gboolean
detect_noise (Fixture *f, gdouble sigma)
{
  gdouble level = 1 << (f->config.depth - 8);

  for (guint i = 0; i < N; i++) {
    f->blocks[i] = (CvisMotionBlock){ 0 };
    f->blocks[i].intra =
        (guint32) (SAMPLES * level * sigma * (0.95 + mix (i) % 16 / 160.0));
    f->blocks[i].sad = f->blocks[i].intra;
  }
  motion_summarise (&f->config, &f->field);
  return motion_scene_detect (&f->detector, &f->config, &f->field);
}

/* Black and white frames with noise have no content: a fade through them has
 * one cut, when another scene begins, and a flash none. */
static void
test_noisy_black (Fixture *f, gconstpointer depth)
{
  for (gdouble sigma = 0.5; sigma < 2.8; sigma += 0.4) {
    begin (f);
    for (guint i = 0; i < 3; i++)
      g_assert_false (detect (f, 1, 20, 0.1));
    for (guint i = 0; i < 3; i++)
      g_assert_false (detect_noise (f, sigma));
    g_assert_false (detect (f, 1, 20, 0.95));
    g_assert_false (detect (f, 1, 20, 0.1));
    g_assert_false (detect_noise (f, sigma));
    g_assert_true (detect (f, 2, 20, 0.95));
    g_assert_false (detect (f, 2, 20, 0.1));
  }
}

/* Noise, or motion beyond the range: every frame is new */
static void
test_lasting (Fixture *f, gconstpointer depth)
{
  begin (f);
  for (guint i = 0; i < 20; i++)
    g_assert_false (detect (f, i, 40, 0.85 + i % 4 * 0.05));
  begin (f);
  for (guint i = 0; i < 3; i++)
    g_assert_false (detect (f, 1, 20, 0.1));
  g_assert_true (detect (f, 2, 20, 0.9));
  for (guint i = 3; i < 20; i++)
    g_assert_false (detect (f, i, 20, 0.9));
}

static void
test_threshold (Fixture *f, gconstpointer depth)
{
  static const gdouble thresholds[] = { 0.0, 0.05, 0.3, 0.85, 1.0 };
  static const gboolean found[] = { FALSE, TRUE, TRUE, FALSE, FALSE };

  for (guint i = 0; i < G_N_ELEMENTS (thresholds); i++) {
    f->detector.threshold = thresholds[i];
    begin (f);
    g_assert_cmpfloat (f->detector.threshold, ==, thresholds[i]);
    for (guint k = 0; k < 3; k++)
      g_assert_false (detect (f, 1, 20, 0.1));
    g_assert_cmpint (detect (f, 2, 20, 0.8), ==, found[i]);
  }
}

/* The second frame of a stream has nothing to be compared with. */
static void
test_new_stream (Fixture *f, gconstpointer depth)
{
  for (guint i = 1; i < 4; i++) {
    begin (f);
    g_assert_false (detect (f, i, 20, 1.0));
    g_assert_false (detect (f, i, 20, 0.1));
  }
}

int
main (int argc, char **argv)
{
  static const struct {
    const gchar *name;
    void (*test) (Fixture *, gconstpointer);
  } tests[] = {
    { "cut", test_cut },
    { "light", test_light },
    { "noisy-black", test_noisy_black },
    { "lasting", test_lasting },
    { "threshold", test_threshold },
    { "new-stream", test_new_stream },
  };

  g_test_init (&argc, &argv, NULL);
  for (guint depth = 8; depth <= 10; depth += 2) {
    for (guint i = 0; i < G_N_ELEMENTS (tests); i++) {
      gchar *path =
          g_strdup_printf ("/motionscene/%u/%s", depth, tests[i].name);

      g_test_add (path, Fixture, GUINT_TO_POINTER (depth), set_up,
          tests[i].test, tear_down);
      g_free (path);
    }
  }
  return g_test_run ();
}
