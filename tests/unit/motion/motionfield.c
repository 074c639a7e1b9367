/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The regularised field on rendered frames with known motion: few vectors are wrong,
 * the noise level is right, and static blocks are recognised under noise.
 * tests/bench/motion/motion_truth.py does the same on pictures. */
#include <math.h>

#include "cuda/motion/backend.h"

#define WIDTH 320
#define HEIGHT 240
#define SIZE 16

/**
 * Scene: a texture that moves from the reference to the frame
 * @x, @y: true vector of the background, pixels
 * @contrast: of the texture, levels; 0: a wall with uneven light
 * @sigma: noise, levels
 * @light: of the frame, relative to the reference
 * @bar: rows of black at the top and bottom
 * @object_x, @object_y: vector of a disc in the middle; both 0: no disc
 * @most: largest share of blocks that may be off by more than 3 pixels
 */
typedef struct {
  const gchar *name;
  gdouble x, y, contrast, sigma, light;
  gint bar;
  gdouble object_x, object_y;
  gdouble most;
} Scene;

static const Scene scenes[] = {
  { "translation", 3.25, -1.75, 60, 0, 1, 0, 0, 0, 0.0 },
  { "far", 23, -9, 60, 0, 1, 0, 0, 0, 0.0 },
  { "noise-5", 3.25, -1.75, 60, 5, 1, 0, 0, 0, 0.01 },
  { "noise-15", 3.25, -1.75, 60, 15, 1, 0, 0, 0, 0.01 },
  { "dark", 3.25, -1.75, 8, 1, 1, 0, 0, 0, 0.01 },
  { "still-5", 0, 0, 60, 5, 1, 0, 0, 0, 0.01 },
  { "wall-2", 0, 0, 0, 2, 1, 0, 0, 0, 0.01 },
  { "fade", 4.25, 2, 60, 0, 0.9, 0, 0, 0, 0.03 },
  { "bars", 5.25, -2, 60, 0, 1, 40, 0, 0, 0.01 },
  { "bars-44", 5.25, -2, 60, 0, 1, 44, 0, 0, 0.01 },
  { "object", 2.5, 1, 60, 0, 1, 0, -9.5, 4.25, 0.01 },
};

/* --- frames ------------------------------------------------------------------ */

static gdouble
lattice (gint x, gint y)
{
  guint32 h = (guint32) x * 0x9e3779b1u ^ (guint32) y * 0x85ebca77u;

  h = (h ^ h >> 15) * 0x2c1b3c6du;
  h = (h ^ h >> 12) * 0x297a2d39u;
  return ((h ^ h >> 15) & 0xffff) / 65535.0;
}

/* Smooth noise, 0 to 1, with cells of 4, 16 and 64 pixels. */
static gdouble
texture (gdouble x, gdouble y)
{
  gdouble sum = 0;

  for (gint cell = 4; cell <= 64; cell *= 4) {
    gdouble u = x / cell + 1000, v = y / cell + 1000;
    gint i = (gint) u, j = (gint) v;

    u -= i;
    v -= j;
    u = u * u * (3 - 2 * u);
    v = v * v * (3 - 2 * v);
    sum += (1 - v) * ((1 - u) * lattice (i, j) + u * lattice (i + 1, j))
           + v * ((1 - u) * lattice (i, j + 1) + u * lattice (i + 1, j + 1));
  }
  return sum / 3;
}

/* Whether (@x, @y) of the reference lies in the disc, grown by @more pixels. */
static gboolean
is_object (const Scene *scene, gdouble x, gdouble y, gdouble more)
{
  return (scene->object_x != 0 || scene->object_y != 0)
         && hypot (x - WIDTH / 2.0, y - HEIGHT / 2.0) < 60 + more;
}

static gdouble
gaussian (GRand *random)
{
  gdouble u = g_rand_double_range (random, 1e-9, 1);

  return sqrt (-2 * log (u)) * cos (2 * G_PI * g_rand_double (random));
}

/* @moved: the frame, else its reference */
static guint8 *
draw (const Scene *scene, gboolean moved, GRand *random)
{
  guint8 *luma = g_malloc (WIDTH * HEIGHT), *p = luma;

  for (gint y = 0; y < HEIGHT; y++) {
    for (gint x = 0; x < WIDTH; x++) {
      gdouble u = x + moved * scene->x, v = y + moved * scene->y, value;
      gdouble ox = x + moved * scene->object_x;
      gdouble oy = y + moved * scene->object_y;

      value = scene->contrast > 0 ? 40 + scene->contrast * 2 * texture (u, v)
                                  : 120 + u / 16 + v / 24;
      if (is_object (scene, ox, oy, 0))
        value = 60 + scene->contrast * 2 * texture (ox + 5000, oy);
      value *= moved ? scene->light : 1;
      if (y < scene->bar || y >= HEIGHT - scene->bar)
        value = 16;
      if (scene->sigma > 0)
        value += scene->sigma * gaussian (random);
      *p++ = (guint8) CLAMP (value + 0.5, 0, 255);
    }
  }
  return luma;
}

/* --- the field ------------------------------------------------------------------- */

#define COLUMNS (WIDTH / SIZE)
#define ROWS (HEIGHT / SIZE)

static void
search (const Scene *scene, CvisMotionVector *vectors, CvisMotionBlock *blocks,
    guint32 *flags)
{
  GRand *random = g_rand_new_with_seed (7);
  MotionConfig config;
  MotionEngine *engine;
  MotionJob *done;

  motion_config_init (&config);
  config.width = WIDTH;
  config.height = HEIGHT;
  config.method = MOTION_METHOD_FIELD;
  config.block_size = SIZE;
  config.subpel = MOTION_SUBPEL_QUARTER;
  engine = motion_engine_new (&config, NULL, NULL);
  g_assert_nonnull (engine);
  for (guint i = 0; i < 2; i++) {
    guint8 *luma = draw (scene, i == 1, random);
    MotionJob job = { .luma = luma, .stride = WIDTH };

    job.fields[0].vectors = vectors;
    job.fields[0].blocks = blocks;
    g_assert_true (motion_engine_submit (engine, &job, NULL));
    g_assert_true (motion_engine_wait (engine, &done, NULL));
    *flags = job.flags;
    g_free (luma);
  }
  motion_engine_free (engine);
  g_rand_free (random);
}

/* The true vector in the middle of a block. Returns: FALSE for blocks that do not
 * count: beyond the reference, or crossed by an edge */
static gboolean
get_truth (const Scene *scene, gint column, gint row, gdouble *x, gdouble *y)
{
  gint left = column * SIZE, top = row * SIZE, bar = scene->bar;
  gdouble middle_x = left + SIZE / 2, middle_y = top + SIZE / 2;
  gdouble ox = middle_x + scene->object_x, oy = middle_y + scene->object_y;
  gboolean inside = is_object (scene, ox, oy, -SIZE);
  gboolean still = middle_y < bar || middle_y > HEIGHT - bar;

  *x = still ? 0 : inside ? scene->object_x : scene->x;
  *y = still ? 0 : inside ? scene->object_y : scene->y;
  if (!inside
      && (is_object (scene, ox, oy, SIZE)
          || is_object (scene, middle_x + scene->x, middle_y + scene->y, SIZE)))
    return FALSE;
  if (!still && (top + *y < bar || top + SIZE + *y > HEIGHT - bar))
    return FALSE;
  return left + *x >= 0 && left + SIZE + *x <= WIDTH && top + *y >= 0
         && top + SIZE + *y <= HEIGHT;
}

static void
test_scene (gconstpointer data)
{
  const Scene *scene = data;
  CvisMotionVector vectors[COLUMNS * ROWS];
  CvisMotionBlock blocks[COLUMNS * ROWS];
  guint wrong = 0, n = 0, still = 0;
  CvisMotionPacket packet = { .magic = "" };

  search (scene, vectors, blocks, &packet.flags);
  for (gint i = 0; i < COLUMNS * ROWS; i++) {
    gdouble x, y;

    g_assert_cmpint (cvis_motion_block_get_confidence (&blocks[i]), >=, 0);
    still += (blocks[i].flags & CVIS_MOTION_BLOCK_STATIC) != 0;
    if (!get_truth (scene, i % COLUMNS, i / COLUMNS, &x, &y))
      continue;
    n++;
    wrong += hypot (vectors[i].x / 4.0 - x, vectors[i].y / 4.0 - y) > 3;
  }
  g_test_message ("%s: %u of %u wrong, noise %.2f, %u static", scene->name,
      wrong, n, cvis_motion_packet_get_noise (&packet), still);
  g_assert_cmpuint (n, >, COLUMNS * ROWS / 2);
  g_assert_cmpfloat (wrong, <=, scene->most * n);
  if (scene->sigma > 0)
    g_assert_cmpfloat (
        fabs (cvis_motion_packet_get_noise (&packet) - scene->sigma), <=,
        0.1 + 0.15 * scene->sigma);
  if (scene->x == 0 && scene->y == 0)
    g_assert_cmpuint (still, >=, COLUMNS * ROWS * 2 / 3);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (scenes); i++) {
    gchar *path = g_strdup_printf ("/motionfield/%s", scenes[i].name);

    g_test_add_data_func (path, &scenes[i], test_scene);
    g_free (path);
  }
  return g_test_run ();
}
