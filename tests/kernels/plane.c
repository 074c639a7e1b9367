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

/* Random bits in a plane of @plane's size and samples: both backends have to give the same
 * value. */
static void
check_plane (Harness *h, CvisStage *stage, CvisPlane plane, guint padding,
    PlaneFunction function)
{
  const gsize stride = (gsize) (plane.width + padding) * plane.sample_size;
  const gsize size = stride * plane.height;
  guint64 expected = 0, value = 0;
  gconstpointer pieces[1];
  gpointer address;

  harness_case (
      h, "%ux%u, %u bytes", plane.width, plane.height, plane.sample_size);
  pieces[0] = plane.data = harness_host (h, size);
  plane.stride = stride;
  harness_fill (h, (gpointer) plane.data, size);
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

  for (guint i = 0; i < 80; i++)
    check_plane (h, stage,
        (CvisPlane){ .width = harness_size (h, 3000),
            .height = harness_size (h, 700),
            .sample_size = 1 + i % 2,
            .shift = i % 4 == 3 ? 6 : 0 },
        i % 7, cvis_plane_sum);
  cvis_stage_free (stage);
}

/* Of random floats one in 256 has the exponent of those that are no number. */
static void
check_missing (Harness *h)
{
  CvisStage *stage = make_stage (h);

  for (guint i = 0; i < 40; i++)
    check_plane (h, stage,
        (CvisPlane){ .width = harness_size (h, 1000),
            .height = harness_size (h, 700),
            .sample_size = 4 + i % 2 * 4 },
        i % 7, cvis_plane_count_missing);
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
