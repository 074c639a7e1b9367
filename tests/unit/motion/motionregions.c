/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Regions with their own motion: which blocks count, joining, order, edges,
 * the limit on their number. */
#include "cuda/motion/regions.h"

#define SIZE 16
#define COLUMNS 20
#define ROWS 12

typedef struct {
  MotionConfig config;
  CvisMotionVector vectors[COLUMNS * ROWS];
  CvisMotionBlock blocks[COLUMNS * ROWS];
  MotionField field;
  guint left_out;
} Fixture;

/* Textured blocks at rest; the last column and row are half blocks. */
static void
set_up (Fixture *f)
{
  *f = (Fixture){ 0 };
  motion_config_init (&f->config);
  f->config.width = COLUMNS * SIZE - 8;
  f->config.height = ROWS * SIZE - 8;
  f->config.block_size = SIZE;
  for (guint i = 0; i < COLUMNS * ROWS; i++)
    f->blocks[i] =
        (CvisMotionBlock){ .sad = 100, .zero_sad = 5000, .intra = 9000 };
  f->field = (MotionField){ .vectors = f->vectors,
    .blocks = f->blocks,
    .distance = -1,
    .summary = { .global_zoom = 1.0 } };
}

static void
set_vector (Fixture *f, guint column, guint row, gdouble x, gdouble y)
{
  f->vectors[row * COLUMNS + column] =
      (CvisMotionVector){ (gint16) (x * 4), (gint16) (y * 4), 0 };
}

static guint
find (Fixture *f, MotionRegion *regions)
{
  MotionRegionFinder *finder = motion_region_finder_new (&f->config, NULL);
  MotionRegion again[MOTION_MAX_REGIONS];
  guint left_out;
  guint n = motion_find_regions (finder, &f->field, 2.0, regions, &left_out);

  /* a finder keeps no state between frames */
  g_assert_cmpuint (
      motion_find_regions (finder, &f->field, 2.0, again, &f->left_out), ==, n);
  g_assert_cmpuint (f->left_out, ==, left_out);
  motion_region_finder_free (finder);
  return n;
}

static void
assert_region (const MotionRegion *r, guint x, guint y, guint width,
    guint height, guint blocks)
{
  g_assert_cmpuint (r->x, ==, x);
  g_assert_cmpuint (r->y, ==, y);
  g_assert_cmpuint (r->width, ==, width);
  g_assert_cmpuint (r->height, ==, height);
  g_assert_cmpuint (r->blocks, ==, blocks);
}

static void
test_none (void)
{
  MotionRegion regions[MOTION_MAX_REGIONS];
  Fixture f;

  set_up (&f);
  set_vector (&f, 3, 3, 1.25, 1.25); /* below the threshold */
  g_assert_cmpuint (find (&f, regions), ==, 0);
}

/* regions that touch at corners; the larger comes first; clipping at the
 * edge */
static void
test_two (void)
{
  MotionRegion regions[MOTION_MAX_REGIONS];
  Fixture f;

  set_up (&f);
  set_vector (&f, 2, 2, 5, 0);
  set_vector (&f, 18, 10, 0, -2);
  set_vector (&f, 19, 11, 0, -2);
  set_vector (&f, 18, 11, 0, 3);
  g_assert_cmpuint (find (&f, regions), ==, 2);
  assert_region (&regions[0], 288, 160, 24, 24, 3);
  assert_region (&regions[1], 32, 32, 16, 16, 1);
}

/* an L and a separate block in its corner are joined */
static void
test_overlap (void)
{
  MotionRegion regions[MOTION_MAX_REGIONS];
  Fixture f;

  set_up (&f);
  for (guint i = 0; i < 5; i++) {
    set_vector (&f, 4, 4 + i, 8, 0);
    set_vector (&f, 4 + i, 8, 8, 0);
  }
  set_vector (&f, 7, 5, 8, 0);
  g_assert_cmpuint (find (&f, regions), ==, 1);
  assert_region (&regions[0], 64, 64, 80, 80, 10);
}

/* unreliable vectors */
static void
test_uncertain (void)
{
  MotionRegion regions[MOTION_MAX_REGIONS];
  Fixture f;

  set_up (&f);
  set_vector (&f, 1, 1, 9, 9);
  f.blocks[COLUMNS + 1].flags = CVIS_MOTION_BLOCK_INTRA_LIKE;
  set_vector (&f, 5, 5, 9, 9);
  f.blocks[5 * COLUMNS + 5].zero_sad = 100 + SIZE * SIZE;
  g_assert_cmpuint (find (&f, regions), ==, 0);
  f.blocks[5 * COLUMNS + 5].zero_sad++;
  g_assert_cmpuint (find (&f, regions), ==, 1);
}

/* a confidence decides alone, except in constant parts */
static void
test_confidence (void)
{
  MotionRegion regions[MOTION_MAX_REGIONS];
  CvisMotionBlock *block;
  Fixture f;

  set_up (&f);
  set_vector (&f, 5, 5, 9, 9);
  block = &f.blocks[5 * COLUMNS + 5];
  *block = (CvisMotionBlock){ .sad = 900, .zero_sad = 900, .intra = 10 };
  for (guint confidence = 127; confidence <= 128; confidence++) {
    block->flags = CVIS_MOTION_BLOCK_RATED | CVIS_MOTION_BLOCK_INTRA_LIKE
                   | confidence << CVIS_MOTION_BLOCK_CONFIDENCE_SHIFT;
    g_assert_cmpuint (find (&f, regions), ==, confidence == 128);
  }
  block->flags |= CVIS_MOTION_BLOCK_CONSTANT;
  g_assert_cmpuint (find (&f, regions), ==, 0);
}

/* a camera that pans, zooms and rotates: blocks that follow it are still,
 * blocks fixed on the screen are a region, unless they are flat */
static void
test_global (void)
{
  MotionRegion regions[MOTION_MAX_REGIONS];
  Fixture f;

  set_up (&f);
  f.field.summary.global_x = 6.0;
  f.field.summary.global_y = -4.0;
  for (guint i = 0; i < COLUMNS * ROWS; i++)
    set_vector (&f, i % COLUMNS, i / COLUMNS, 6.0, -4.0);
  set_vector (&f, 10, 6, 0, 0);
  set_vector (&f, 3, 3, 0, 0);
  f.blocks[3 * COLUMNS + 3].intra = SIZE * SIZE;
  g_assert_cmpuint (find (&f, regions), ==, 1);
  assert_region (&regions[0], 160, 96, 16, 16, 1);

  /* zoomed by 10 %: the outer blocks' vectors differ from the global motion */
  f.field.summary.global_zoom = 1.1;
  g_assert_cmpuint (find (&f, regions), ==, 1);
  g_assert_cmpuint (regions[0].blocks, >, COLUMNS * ROWS / 2);
}

/* isolated blocks all over the frame: up to the limit, in raster order */
static void
test_many (void)
{
  MotionRegion regions[MOTION_MAX_REGIONS];
  Fixture f;

  set_up (&f);
  for (guint row = 0; row < ROWS; row += 2)
    for (guint column = 0; column < COLUMNS; column += 2)
      set_vector (&f, column, row, -3, 3);
  g_assert_cmpuint (find (&f, regions), ==, MOTION_MAX_REGIONS);
  g_assert_cmpuint (f.left_out, ==,
      (COLUMNS + 1) / 2 * ((ROWS + 1) / 2) - MOTION_MAX_REGIONS);
  assert_region (&regions[0], 0, 0, 16, 16, 1);
  assert_region (&regions[1], 32, 0, 16, 16, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/motionregions/none", test_none);
  g_test_add_func ("/motionregions/two", test_two);
  g_test_add_func ("/motionregions/overlap", test_overlap);
  g_test_add_func ("/motionregions/uncertain", test_uncertain);
  g_test_add_func ("/motionregions/confidence", test_confidence);
  g_test_add_func ("/motionregions/global", test_global);
  g_test_add_func ("/motionregions/many", test_many);
  return g_test_run ();
}
