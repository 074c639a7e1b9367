/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The pixels and the outline of the melt pool, on small pictures. */
#include "cuda/meltpool/outline.h"

#include <string.h>

#define W 12
#define H 8

/* '#' is bright; the stride is 16, with bright bytes after each row that
 * must not be read */
static void
picture (const gchar *const rows[H], guint8 pixels[H * 16])
{
  gint x, y;

  memset (pixels, 255, H * 16);
  for (y = 0; y < H; y++) {
    for (x = 0; x < W; x++)
      pixels[y * 16 + x] = rows[y][x] == '#' ? 100 : 99;
  }
}

static const gchar *const two_pools[H] = {
  "............",
  ".####.......",
  ".#..#...##..",
  ".####...##..",
  ".....#......",
  "..........#.",
  "............",
  "#..........#",
};

static void
assert_mask (const guint8 *mask, const gchar *const rows[H])
{
  gint x, y;

  for (y = 0; y < H; y++) {
    for (x = 0; x < W; x++)
      g_assert_cmpint (mask[y * W + x], ==, rows[y][x] == '#');
  }
}

static void
test_find (void)
{
  static const gchar *const ring[H] = { "............", ".####.......",
    ".#..#.......", ".####.......", "............", "............",
    "............", "............" };
  static const gchar *const ring_and_corner[H] = { "............",
    ".####.......", ".#..#.......", ".####.......", ".....#......",
    "............", "............", "............" };
  static const gchar *const square[H] = { "............", "............",
    "........##..", "........##..", "............", "............",
    "............", "............" };
  const PbfBox area = { 0, 0, W, H };
  guint8 pixels[H * 16], mask[W * H];

  picture (two_pools, pixels);
  g_assert_cmpuint (pbf_outline_find (pixels, 16, &area, 100, 4,
                        &(PbfBox){ 1, 1, 4, 3 }, mask),
      ==, 10);
  assert_mask (mask, ring);
  g_assert_cmpuint (pbf_outline_find (pixels, 16, &area, 100, 8,
                        &(PbfBox){ 1, 1, 5, 4 }, mask),
      ==, 11);
  assert_mask (mask, ring_and_corner);
  /* not equal to this box, but the nearest */
  g_assert_cmpuint (pbf_outline_find (pixels, 16, &area, 100, 4,
                        &(PbfBox){ 7, 1, 4, 3 }, mask),
      ==, 4);
  assert_mask (mask, square);
  g_assert_cmpuint (pbf_outline_find (pixels, 16, &area, 101, 4,
                        &(PbfBox){ 7, 1, 4, 3 }, mask),
      ==, 0);
}

static void
test_area (void)
{
  const PbfBox area = { 8, 2, 4, 6 };
  guint8 pixels[H * 16], mask[4 * 6];

  picture (two_pools, pixels);
  g_assert_cmpuint (pbf_outline_find (pixels, 16, &area, 100, 4,
                        &(PbfBox){ 11, 7, 1, 1 }, mask),
      ==, 1);
  g_assert_cmpint (mask[5 * 4 + 3], ==, 1);
  g_assert_cmpint (mask[0], ==, 0);
}

static void
test_edges (void)
{
  /* outline of the ring: 4 outer segments and 4 of its hole, which stay
   * separate where they are on different lines */
  const PbfBox area = { 0, 0, W, H };
  guint8 pixels[H * 16], mask[W * H];
  GArray *edges = g_array_new (FALSE, FALSE, sizeof (PbfEdge));
  guint i, length = 0;

  picture (two_pools, pixels);
  pbf_outline_find (pixels, 16, &area, 100, 4, &(PbfBox){ 1, 1, 4, 3 }, mask);
  pbf_outline_edges (mask, W, H, edges);
  g_assert_cmpuint (edges->len, ==, 8);
  for (i = 0; i < edges->len; i++) {
    const PbfEdge *e = &g_array_index (edges, PbfEdge, i);

    g_assert_true ((e->x0 == e->x1) != (e->y0 == e->y1));
    length += e->x1 - e->x0 + e->y1 - e->y0;
  }
  g_assert_cmpuint (length, ==, 2 * (4 + 3) + 2 * (2 + 1));

  /* a melt pool that fills its area has the area's border */
  g_array_set_size (edges, 0);
  memset (mask, 1, sizeof (mask));
  pbf_outline_edges (mask, W, H, edges);
  g_assert_cmpuint (edges->len, ==, 4);
  g_array_set_size (edges, 0);
  memset (mask, 0, sizeof (mask));
  pbf_outline_edges (mask, W, H, edges);
  g_assert_cmpuint (edges->len, ==, 0);
  g_array_unref (edges);
}

/* Sizes and masks compared with a simple iterative labelling */
static void
test_random (void)
{
  GRand *rand = g_rand_new_with_seed (11);
  guint round;

  for (round = 0; round < 300; round++) {
    gint w = g_rand_int_range (rand, 1, 20), h = g_rand_int_range (rand, 1, 20);
    guint connectivity = round % 2 ? 8 : 4;
    g_autofree guint8 *pixels = g_malloc (w * h);
    g_autofree guint8 *mask = g_malloc (w * h);
    g_autofree guint8 *grown = g_malloc0 (w * h);
    gint i, seed = -1;
    guint size, count = 0;
    gboolean changed = TRUE;

    for (i = 0; i < w * h; i++)
      pixels[i] = g_rand_int_range (rand, 0, 256);
    size = pbf_outline_find (pixels, w, &(PbfBox){ 0, 0, w, h }, 128,
        connectivity, &(PbfBox){ w / 2, h / 2, 1, 1 }, mask);
    for (i = 0; i < w * h && seed < 0; i++) {
      if (mask[i])
        seed = i;
    }
    g_assert_cmpint (seed < 0, ==, size == 0);
    if (seed < 0)
      continue;
    grown[seed] = 1;
    while (changed) {
      changed = FALSE;
      for (i = 0; i < w * h; i++) {
        gint dx, dy;

        for (dy = -1; dy <= 1 && !grown[i] && pixels[i] >= 128; dy++) {
          for (dx = -1; dx <= 1; dx++) {
            gint x = i % w + dx, y = i / w + dy;

            if ((connectivity == 4 && dx && dy) || x < 0 || x >= w || y < 0
                || y >= h || !grown[y * w + x])
              continue;
            grown[i] = 1;
            changed = TRUE;
            break;
          }
        }
      }
    }
    for (i = 0; i < w * h; i++)
      count += grown[i];
    g_assert_cmpmem (mask, w * h, grown, w * h);
    g_assert_cmpuint (size, ==, count);
  }
  g_rand_free (rand);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pbfoutline/find", test_find);
  g_test_add_func ("/pbfoutline/area", test_area);
  g_test_add_func ("/pbfoutline/edges", test_edges);
  g_test_add_func ("/pbfoutline/random", test_random);
  return g_test_run ();
}
