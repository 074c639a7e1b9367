/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Tar and zip archives of COLMAP models, and their clouds */
#include "fuzz.h"
#include "cuda/bundle/colmap/archive.h"

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  GError *error = NULL;
  BundleModel *model;
  BundleCloud *cloud = NULL;

  bundle_model_is_archive ((const gchar *) bytes, size);
  model = bundle_model_read_archive ((const gchar *) bytes, size, &error);
  if (model)
    cloud = bundle_model_cloud (model, &error);
  if (cloud) {
    bundle_cloud_free (cloud);
  } else {
    g_assert (error->domain == CVIS_ERROR && *error->message);
    g_assert (g_utf8_validate (error->message, -1, NULL));
    g_error_free (error);
  }
  bundle_model_free (model);
  return 0;
}
