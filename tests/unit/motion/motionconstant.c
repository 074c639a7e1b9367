/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Clips with constant parts (bars, inset, ticker, logo) have the cuts and the
 * global motion of the moving part alone. */
#include "cuda/motion/summary.h"

#include <math.h>
#include <string.h>

#define WIDTH 640
#define HEIGHT 360
#define FRAMES 10
#define CUT 6

typedef struct {
  const gchar *name;
  guint x, y, width, height; /* of the moving part, or of the constant one */
  gboolean inverted;         /* the rectangle is constant, the rest moves */
  gboolean textured;         /* the constant part */
} Layout;

static guint32
mix (guint32 x)
{
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

/* A smooth texture of scene @scene; bilinear between random nodes. */
static guint8
get_texture (guint scene, guint x, guint y)
{
  guint column = x / 8, row = y / 8, fx = x % 8, fy = y % 8;
  guint n[4];

  for (guint i = 0; i < 4; i++)
    n[i] = mix (scene * 1000003 + (row + i / 2) * 1009 + column + i % 2) >> 24;
  return (guint8) (((8 - fy) * ((8 - fx) * n[0] + fx * n[1])
                       + fy * ((8 - fx) * n[2] + fx * n[3]))
                   / 64);
}

static void
draw_frame (const Layout *layout, guint noise, guint i, guint8 *to)
{
  for (guint y = 0; y < HEIGHT; y++)
    for (guint x = 0; x < WIDTH; x++) {
      gboolean inside =
          x - layout->x < layout->width && y - layout->y < layout->height;
      gint value = inside != layout->inverted
                       ? get_texture (i < CUT ? 1 : 2, x + 3 * i, y + i)
                   : layout->textured ? get_texture (3, 2 * x, 2 * y)
                                      : 16;

      /* sum of two uniform numbers */
      if (noise > 0) {
        guint32 random = mix ((i * HEIGHT + y) * WIDTH + x);

        value +=
            (gint) (random % (2 * noise + 1) + (random >> 16) % (2 * noise + 1))
            - 2 * (gint) noise;
      }
      to[y * WIDTH + x] = (guint8) CLAMP (value, 0, 255);
    }
}

static void
check_clip (const Layout *layout, guint noise)
{
  MotionSceneDetector detector = { .threshold = MOTION_SCENE_THRESHOLD };
  guint8 *luma = g_malloc (WIDTH * HEIGHT);
  MotionConfig config;
  MotionEngine *engine;
  MotionJob job = { .luma = luma, .stride = WIDTH }, *done;
  guint n;

  motion_config_init (&config);
  config.width = WIDTH;
  config.height = HEIGHT;
  config.method = MOTION_METHOD_ZONAL;
  config.block_size = 32;
  n = motion_config_get_columns (&config) * motion_config_get_rows (&config);
  job.fields[0].vectors = g_new (MotionVector, n);
  job.fields[0].blocks = g_new (MotionBlock, n);
  engine = motion_engine_new (&config, NULL, NULL);
  g_assert_nonnull (engine);
  for (guint i = 0; i < FRAMES; i++) {
    const MotionSummary *s = &job.fields[0].summary;

    draw_frame (layout, noise, i, luma);
    g_assert_true (motion_engine_submit (engine, &job, NULL));
    g_assert_true (motion_engine_wait (engine, &done, NULL));
    g_assert_true (done == &job);
    g_assert_cmpint (
        motion_scene_detect (&detector, &config, i > 0 ? &job.fields[0] : NULL),
        ==, layout->width > 0 && i == CUT);
    if (i == 0)
      continue;
    g_test_message ("%s %u, frame %u: novelty %.3f, global %.2f %.2f, %.3f",
        layout->name, noise, i, detector.previous, s->global_x, s->global_y,
        s->global_share);
    g_assert_true (isfinite (s->scene_score) && isfinite (s->global_share));
    if (layout->width == 0) {
      g_assert_cmpfloat (s->global_share, ==, 1.0);
      g_assert_cmpuint (s->static_blocks, ==, n);
    } else if (i != CUT) {
      g_assert_cmpfloat_with_epsilon (s->global_x, 3.0, 0.1);
      g_assert_cmpfloat_with_epsilon (s->global_y, 1.0, 0.1);
      g_assert_cmpfloat (s->global_share, >, 0.85);
    }
  }
  motion_engine_free (engine);
  g_free (job.fields[0].vectors);
  g_free (job.fields[0].blocks);
  g_free (luma);
}

static void
test_layout (gconstpointer layout)
{
  check_clip (layout, 0);
  if (((const Layout *) layout)->width > 0)
    check_clip (layout, 2); /* sigma 2 */
}

int
main (int argc, char **argv)
{
  static const Layout layouts[] = {
    { "whole", 0, 0, WIDTH, HEIGHT, FALSE, FALSE },
    { "letterbox", 0, 46, 640, 268, FALSE, FALSE },
    { "thin-bars", 0, 7, 640, 346, FALSE, FALSE },
    { "pillarbox", 80, 0, 480, 360, FALSE, FALSE },
    { "9-16", 219, 0, 202, 360, FALSE, FALSE },
    { "inset", 160, 90, 320, 180, FALSE, TRUE },
    { "ticker", 0, 324, 640, 36, TRUE, TRUE },
    { "ticker-above-edge", 0, 280, 640, 36, TRUE, TRUE },
    { "logo", 400, 20, 200, 115, TRUE, TRUE },
    { "small-logo", 560, 20, 60, 40, TRUE, TRUE },
    { "still", 0, 0, 0, 0, FALSE, TRUE },
  };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (layouts); i++) {
    gchar *path = g_strdup_printf ("/motionconstant/%s", layouts[i].name);

    g_test_add_data_func (path, &layouts[i], test_layout);
    g_free (path);
  }
  return g_test_run ();
}
