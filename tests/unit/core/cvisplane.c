/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/core/plane.h"

#include <math.h>

/* Sums of random planes: padding between rows does not count, samples of 2 bytes are
 * shifted one by one. */
static void
test_sum (void)
{
  for (guint round = 0; round < 200; round++) {
    const guint width = (guint) g_test_rand_int_range (1, 70);
    const guint height = (guint) g_test_rand_int_range (1, 40);
    CvisPlane plane = {
      .width = width, .height = height, .sample_size = 1 + round % 2
    };
    guint64 expected = 0, sum;
    guint8 *data;

    plane.shift = plane.sample_size == 2 ? round % 3 * 3 : 0;
    plane.stride = (gsize) (width + round % 5) * plane.sample_size;
    data = g_malloc (plane.stride * height);
    for (gsize i = 0; i < plane.stride * height; i++)
      data[i] = (guint8) g_test_rand_int ();
    plane.data = data;
    for (guint y = 0; y < height; y++)
      for (guint x = 0; x < width; x++) {
        const guint8 *at = data + y * plane.stride + x * plane.sample_size;
        guint value = plane.sample_size == 1 ? at[0] : at[0] | at[1] << 8;

        expected += value >> plane.shift;
      }
    g_assert_true (cvis_plane_sum (&plane, NULL, &sum, NULL));
    g_assert_cmpuint (sum, ==, expected);
    g_free (data);
  }
}

/* Infinities and padding between rows do not count; integers have no missing points. */
static void
test_count_missing (void)
{
  for (guint round = 0; round < 200; round++) {
    const guint width = (guint) g_test_rand_int_range (1, 70);
    const guint height = (guint) g_test_rand_int_range (1, 40);
    const guint size = 4 + round % 2 * 4, columns = width + round % 5;
    CvisPlane plane = { .width = width, .height = height, .sample_size = size };
    guint64 expected = 0, n;
    guint8 *data = g_malloc ((gsize) columns * height * size);

    for (gsize i = 0; i < (gsize) columns * height; i++) {
      const gint kind = g_test_rand_int_range (0, 4);
      const gdouble value = kind == 0 ? NAN : kind == 1 ? -INFINITY : 1e-6;

      expected += i % columns < width && kind == 0;
      if (size == 4)
        ((gfloat *) (gpointer) data)[i] = (gfloat) value;
      else
        ((gdouble *) (gpointer) data)[i] = value;
    }
    plane.data = data;
    plane.stride = (gsize) columns * size;
    g_assert_true (cvis_plane_count_missing (&plane, NULL, &n, NULL));
    g_assert_cmpuint (n, ==, expected);
    plane.sample_size = 2;
    g_assert_true (cvis_plane_count_missing (&plane, NULL, &n, NULL));
    g_assert_cmpuint (n, ==, 0);
    g_free (data);
  }
}

/* Without CUDA in the build, or without a device, there is no stage, and a reason. */
static void
test_no_device (void)
{
  GError *error = NULL;
  CvisContext *context = cvis_context_new (-1, &error);

  if (context != NULL) {
    cvis_context_unref (context);
    g_test_skip ("there is a device");
    return;
  }
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_NO_DEVICE);
  g_error_free (error);
  cvis_stage_free (NULL);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/plane/sum", test_sum);
  g_test_add_func ("/plane/count-missing", test_count_missing);
  g_test_add_func ("/plane/no-device", test_no_device);
  return g_test_run ();
}
