/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Clouds as PLY */
#include "fuzz.h"
#include "cuda/bundle/formats/cloud.h"

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  GError *error = NULL;
  BundleCloud *cloud = bundle_cloud_read ((const gchar *) bytes, size, &error);
  gfloat low[3], high[3];

  if (cloud) {
    GBytes *written = bundle_cloud_write (cloud, &error);

    g_assert_no_error (error);
    bundle_cloud_box (cloud->positions, cloud->n_vertices, 0.9, low, high);
    g_bytes_unref (written);
    bundle_cloud_free (cloud);
  } else {
    g_assert (error->domain == CVIS_ERROR && *error->message);
    g_assert (g_utf8_validate (error->message, -1, NULL));
    g_error_free (error);
  }
  return 0;
}
