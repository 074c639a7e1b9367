/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Starts and bytes of crops, compared with literal implementations of the
 * definitions: a search over all starts, and pixel-by-pixel copies. */
#include "cuda/crop/roicrop.h"

#include <math.h>
#include <string.h>

/* The start rule of the specification, by search. */
static guint
brute_start (gdouble position, guint size, guint frame, guint align)
{
  gdouble wanted = floor (position) - floor (size / 2.0);
  guint start, best = 0;

  for (start = 0; start + size <= frame; start++)
    if (fabs (start - wanted) < fabs (best - wanted))
      best = start;
  while (best % align != 0)
    best--;
  return best;
}

static void
test_start (void)
{
  static const guint sizes[] = { 1, 2, 7, 39, 40, 96 };
  static const guint frames[] = { 96, 97, 640 };
  guint s, f, align;
  gint e;

  for (f = 0; f < G_N_ELEMENTS (frames); f++)
    for (s = 0; s < G_N_ELEMENTS (sizes); s++)
      for (align = 1; align <= 64; align *= 2)
        for (e = -80 * 256; e < 800 * 256; e += 61)
          g_assert_cmpuint (
              cvis_crop_start (e, sizes[s], frames[f], align, NULL), ==,
              brute_start (e / 256.0, sizes[s], frames[f], align));
}

static void
test_start_far (void)
{
  gboolean clamped = FALSE;

  g_assert_cmpuint (cvis_crop_start (G_MAXINT32, 40, 96, 1, &clamped), ==, 56);
  g_assert_true (clamped);
  clamped = FALSE;
  g_assert_cmpuint (cvis_crop_start (G_MININT32, 40, 96, 1, &clamped), ==, 0);
  g_assert_true (clamped);
  /* the whole frame, and alignment without clamping */
  g_assert_cmpuint (cvis_crop_start (48 << 8, 96, 96, 1, &clamped), ==, 0);
  g_assert_false (clamped);
  g_assert_cmpuint (cvis_crop_start (53 << 8, 40, 96, 16, &clamped), ==, 32);
  g_assert_false (clamped);
}

static void
test_q8 (void)
{
  g_assert_cmpint (cvis_crop_q8 (48.5), ==, 48 * 256 + 128);
  g_assert_cmpint (cvis_crop_q8 (-0.5), ==, -128);
  g_assert_cmpint (cvis_crop_q8 (47.9999), ==, 48 * 256);
  g_assert_cmpint (cvis_crop_q8 (1e300), ==, G_MAXINT32);
  g_assert_cmpint (cvis_crop_q8 (-INFINITY), ==, G_MININT32);
  g_assert_cmpint (cvis_crop_q8 (NAN), ==, 0);
}

/* --- planes ---------------------------------------------------------------- */

typedef struct {
  const gchar *name;
  CvisCropLayout layout;
} Format;

static const Format formats[] = {
  { "GRAY8", { 1, { 1 }, { 0 }, { 0 } } },
  { "GRAY16_LE", { 1, { 2 }, { 0 }, { 0 } } },
  { "NV12", { 2, { 1, 2 }, { 0, 1 }, { 0, 1 } } },
  { "P010_10LE", { 2, { 2, 4 }, { 0, 1 }, { 0, 1 } } },
  { "I420", { 3, { 1, 1, 1 }, { 0, 1, 1 }, { 0, 1, 1 } } },
  { "BGRx", { 1, { 4 }, { 0 }, { 0 } } },
};

#define GUARD 64
#define POISON 0xa5

static guint
up (guint pixels, guint shift)
{
  return (pixels + (1u << shift) - 1) >> shift;
}

/* Copies one plane of a random frame and compares it byte by byte; bytes
 * outside the destination rectangle must be unchanged. */
static void
check_plane (CvisCrop *crop, const CvisCropLayout *layout, guint p, guint width,
    guint height, const CvisCropRect *rect, gboolean bottom_up, GRand *rand)
{
  guint bytes = layout->sample_bytes[p];
  guint xs = layout->x_shift[p], ys = layout->y_shift[p];
  gsize stride = up (width, xs) * bytes + g_rand_int_range (rand, 0, 9);
  gsize rows = up (height, ys), size = stride * rows;
  guint out_row = up (rect->width, xs) * bytes,
        out_rows = up (rect->height, ys);
  gsize out_stride = out_row + g_rand_int_range (rand, 0, 9);
  gsize out_size = out_stride * out_rows;
  guint8 *frame = g_malloc (size), *out = g_malloc (out_size + 2 * GUARD);
  guint8 *origin = bottom_up ? frame + (rows - 1) * stride : frame;
  gssize step = bottom_up ? -(gssize) stride : (gssize) stride;
  CvisCropPlane plane;
  gsize i, x, y;

  for (i = 0; i < size; i++)
    frame[i] = g_rand_int (rand);
  memset (out, POISON, out_size + 2 * GUARD);

  cvis_crop_plane_init (
      &plane, layout, p, rect, origin, step, out + GUARD, out_stride);
  g_assert_cmpuint (plane.row_bytes, ==, out_row);
  g_assert_cmpuint (plane.rows, ==, out_rows);
  g_assert_true (cvis_crop_plane_fits (&plane, frame, size));
  g_assert_true (cvis_crop_copy (crop, &plane, 1, NULL, NULL));

  for (i = 0; i < GUARD; i++)
    g_assert_true (out[i] == POISON && out[GUARD + out_size + i] == POISON);
  for (y = 0; y < out_rows; y++)
    for (x = 0; x < out_stride; x++) {
      guint8 got = out[GUARD + y * out_stride + x];
      gsize from_x = (rect->x >> xs) * bytes + x;
      gsize from_y = (rect->y >> ys) + y;

      if (x >= out_row)
        g_assert_cmphex (got, ==, POISON);
      else
        g_assert_cmphex (
            got, ==, origin[(gssize) from_y * step + (gssize) from_x]);
    }
  g_free (frame);
  g_free (out);
}

static void
test_planes (void)
{
  GRand *rand = g_rand_new_with_seed (20);
  CvisCrop *crop = cvis_crop_new (NULL, NULL);
  guint f, round, p, step_x, step_y;

  for (f = 0; f < G_N_ELEMENTS (formats); f++) {
    const CvisCropLayout *layout = &formats[f].layout;

    cvis_crop_layout_steps (layout, &step_x, &step_y);
    for (round = 0; round < 60; round++) {
      guint width = g_rand_int_range (rand, 1, 130);
      guint height = g_rand_int_range (rand, 1, 70);
      CvisCropRect rect;

      rect.width = g_rand_int_range (rand, 1, width + 1);
      rect.height = g_rand_int_range (rand, 1, height + 1);
      rect.x = cvis_crop_start (g_rand_int_range (rand, 0, width << 8),
          rect.width, width, step_x, NULL);
      rect.y = cvis_crop_start (g_rand_int_range (rand, 0, height << 8),
          rect.height, height, step_y, NULL);
      for (p = 0; p < layout->n_planes; p++)
        check_plane (
            crop, layout, p, width, height, &rect, round % 4 == 3, rand);
    }
  }
  g_assert_true (cvis_crop_wait (crop, NULL, NULL));
  cvis_crop_free (crop);
  g_rand_free (rand);
}

static void
test_steps (void)
{
  guint step_x, step_y;

  cvis_crop_layout_steps (&formats[0].layout, &step_x, &step_y);
  g_assert_true (step_x == 1 && step_y == 1);
  cvis_crop_layout_steps (&formats[2].layout, &step_x, &step_y);
  g_assert_true (step_x == 2 && step_y == 2);
}

/* Rows that begin before the memory or end after it are detected. */
static void
test_fits (void)
{
  guint8 memory[100] = { 0 }, out[100] = { 0 };
  CvisCropPlane plane = { memory, 10, out, 10, 10, 10 };

  g_assert_true (cvis_crop_plane_fits (&plane, memory, 100));
  g_assert_false (cvis_crop_plane_fits (&plane, memory, 99));
  plane.src = memory + 1;
  g_assert_false (cvis_crop_plane_fits (&plane, memory, 100));
  plane.src = memory + 90;
  plane.src_stride = -10;
  g_assert_true (cvis_crop_plane_fits (&plane, memory, 100));
  plane.src_stride = -11;
  g_assert_false (cvis_crop_plane_fits (&plane, memory, 100));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/roicrop/start", test_start);
  g_test_add_func ("/roicrop/start-far", test_start_far);
  g_test_add_func ("/roicrop/q8", test_q8);
  g_test_add_func ("/roicrop/planes", test_planes);
  g_test_add_func ("/roicrop/steps", test_steps);
  g_test_add_func ("/roicrop/fits", test_fits);
  return g_test_run ();
}
