/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A transforms.json, alone and of a COLMAP model with three images */
#include "fuzz.h"
#include "cuda/bundle/colmap/transforms.h"

#include <json-glib/json-glib.h>
#include <math.h>

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  static gchar one[] = "a.jpg", two[] = "b/a.jpg", three[] = "c.jpg";
  BundleModelCamera camera = { .id = 1,
    .model = BUNDLE_LENS_OPENCV,
    .width = 640,
    .height = 480,
    .parameters = { 500, 510, 320, 240, 0.1 } };
  BundleModelImage images[] = { { .id = 1, .name = one, .q = { 1 } },
    { .id = 2, .name = two, .q = { 1 }, .t = { 1, 0, 0 } },
    { .id = 3, .name = three, .q = { 0, 2 }, .t = { 1, 4, 0 } } };
  BundleModel model = {
    .n_images = 3, .n_cameras = 1, .images = images, .cameras = &camera
  };
  GError *error = NULL;
  BundleTransforms *transforms =
      bundle_transforms_new (&model, (const gchar *) bytes, size, &error);
  g_autofree gchar *text = NULL, *note = NULL;
  BundleCloud *cloud = bundle_transforms_cloud (
      (const gchar *) bytes, size, "/dev/null", &note, NULL);

  if (cloud)
    bundle_cloud_free (cloud);

  if (transforms) {
    bundle_transforms_take_poses (transforms, &model);
    for (guint i = 0; i < 3; i++)
      g_assert_true (isfinite (images[i].q[0]) && isfinite (images[i].t[0]));
    text = bundle_transforms_format (transforms, &model, &error);
    bundle_transforms_free (transforms);
  }
  if (text == NULL) {
    g_assert (
        (error->domain == CVIS_ERROR || error->domain == JSON_PARSER_ERROR)
        && *error->message);
    g_assert (g_utf8_validate (error->message, -1, NULL));
    g_error_free (error);
  }
  return 0;
}
