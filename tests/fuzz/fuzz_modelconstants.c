/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Constants of a COLMAP model as text */
#include "fuzz.h"
#include "cuda/bundle/colmap/names.h"

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  static gchar one[] = "a.jpg", two[] = "my photo";
  BundleModelCamera cameras[] = { { .id = 3, .model = BUNDLE_LENS_OPENCV },
    { .id = 4, .model = BUNDLE_LENS_SIMPLE_PINHOLE } };
  BundleModelImage images[] = { { .id = 7, .name = one },
    { .id = 8, .name = two } };
  BundleModelPoint points[] = { { .id = 9 }, { .id = 5 } };
  BundleModel model = { .n_cameras = 2,
    .n_images = 2,
    .n_points = 2,
    .cameras = cameras,
    .images = images,
    .points = points };
  GError *error = NULL;

  if (bundle_model_read_constants (
          &model, (const gchar *) bytes, size, &error)) {
    g_assert_cmpuint (cameras[0].constant, <, 1 << 8);
    g_assert_cmpuint (cameras[1].constant, <, 1 << 3);
    g_assert_cmpuint (images[0].constant | images[1].constant, <, 1 << 6);
  } else {
    g_assert (error->domain == CVIS_ERROR && *error->message);
    g_assert (g_utf8_validate (error->message, -1, NULL));
    g_error_free (error);
  }
  return 0;
}
