/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Sums and missing points of planes: the device gives those of the CPU, for planes that
 * are uploaded one after the other through one stage. */
#include "harness.h"

#include "cuda/core/plane.h"

typedef gboolean (*PlaneFunction) (
    const CvisPlane *plane, CvisStage *stage, guint64 *value, GError **error);

/* Both backends have to give the same value. */
static void
check_plane (
    Harness *h, CvisStage *stage, CvisPlane plane, PlaneFunction function)
{
  gconstpointer pieces[1] = { plane.data };
  const gsize size = plane.stride * plane.height;
  guint64 expected = 0, value = 0;
  gpointer address;

  g_assert_true (function (&plane, NULL, &expected, NULL));
  g_assert_true (cvis_stage_upload (stage, 1, pieces, &size, &address, NULL));
  plane.data = address;
  g_assert_true (function (&plane, stage, &value, NULL));
  harness_equal (h, "value", HARNESS_I64, &expected, &value, 1);
}

static CvisStage *
make_stage (Harness *h)
{
  GError *error = NULL;
  CvisStage *stage = cvis_stage_new (harness_context (h), &error);

  g_assert_no_error (error);
  return stage;
}

static void
check_sum (Harness *h)
{
  CvisStage *stage = make_stage (h);

  for (guint i = 0; i < 80; i++) {
    CvisPlane plane = harness_plane (h, 3000, 700, 1 + i % 2);

    plane.shift = i % 4 == 3 ? 6 : 0;
    check_plane (h, stage, plane, cvis_plane_sum);
  }
  cvis_stage_free (stage);
}

/* Of random floats one in 256 has the exponent of those that are no number. */
static void
check_missing (Harness *h)
{
  CvisStage *stage = make_stage (h);

  for (guint i = 0; i < 40; i++)
    check_plane (h, stage, harness_plane (h, 1000, 700, 4 + i % 2 * 4),
        cvis_plane_count_missing);
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
