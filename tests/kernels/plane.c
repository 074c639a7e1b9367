/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Sums and missing points of planes: the device gives those of the CPU, for planes that
 * are uploaded one after the other through one stage. */
#include "harness.h"

#include "cuda/core/plane.h"

static void
check_sum (Harness *h)
{
  GError *error = NULL;
  CvisStage *stage = cvis_stage_new (harness_context (h), &error);

  g_assert_no_error (error);
  for (guint i = 0; i < 80; i++) {
    const guint width = harness_size (h, 3000);
    const guint height = harness_size (h, 700);
    CvisPlane plane = { .width = width, .height = height };
    guint64 expected = 0, sum = 0;
    gconstpointer pieces[1];
    gpointer address;
    gsize size;

    plane.sample_size = 1 + i % 2;
    plane.shift = i % 4 == 3 ? 6 : 0;
    plane.stride = (gsize) (width + i % 7) * plane.sample_size;
    size = plane.stride * height;
    harness_case (h, "%ux%u, %u bytes", width, height, plane.sample_size);
    plane.data = pieces[0] = harness_host (h, size);
    harness_fill (h, (gpointer) plane.data, size);
    g_assert_true (cvis_plane_sum (&plane, NULL, &expected, NULL));
    g_assert_true (cvis_stage_upload (stage, 1, pieces, &size, &address, NULL));
    plane.data = address;
    g_assert_true (cvis_plane_sum (&plane, stage, &sum, NULL));
    harness_equal (h, "sum", HARNESS_I64, &expected, &sum, 1);
  }
  cvis_stage_free (stage);
}

/* Random bits: of the floats, one in 256 has the exponent of those that are no number. */
static void
check_missing (Harness *h)
{
  GError *error = NULL;
  CvisStage *stage = cvis_stage_new (harness_context (h), &error);

  g_assert_no_error (error);
  for (guint i = 0; i < 40; i++) {
    const guint width = harness_size (h, 1000);
    const guint height = harness_size (h, 700);
    CvisPlane plane = {
      .width = width, .height = height, .sample_size = 4 + i % 2 * 4
    };
    guint64 expected = 0, n = 0;
    gconstpointer pieces[1];
    gpointer address;
    gsize size;

    plane.stride = (gsize) (width + i % 7) * plane.sample_size;
    size = plane.stride * height;
    harness_case (h, "%ux%u, %u bytes", width, height, plane.sample_size);
    plane.data = pieces[0] = harness_host (h, size);
    harness_fill (h, (gpointer) plane.data, size);
    g_assert_true (cvis_plane_count_missing (&plane, NULL, &expected, NULL));
    g_assert_true (cvis_stage_upload (stage, 1, pieces, &size, &address, NULL));
    plane.data = address;
    g_assert_true (cvis_plane_count_missing (&plane, stage, &n, NULL));
    harness_equal (h, "missing", HARNESS_I64, &expected, &n, 1);
  }
  cvis_stage_free (stage);
}

int
main (int argc, char **argv)
{
  static const HarnessTest tests[] = {
    { "sum", check_sum },
    { "missing", check_missing },
    { NULL },
  };

  return harness_main (argc, argv, tests);
}
