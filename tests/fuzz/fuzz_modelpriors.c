/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Positions of the images of a COLMAP model as text */
#include "fuzz.h"
#include "cuda/bundle/colmap/priors.h"

#include <math.h>

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  static gchar name[] = "a.jpg", blank[] = "my photo";
  BundleModelImage images[] = { { .id = 1, .name = name, .q = { 1 } },
    { .id = 2, .name = blank, .q = { 1 }, .t = { 1, 0, 0 } },
    { .id = 3, .name = name, .q = { 0, 2 }, .t = { 1, 4, 0 } } };
  BundleModel model = { .n_images = 3, .images = images };
  GError *error = NULL;

  if (bundle_model_read_priors (&model, (const gchar *) bytes, size, 1, &error)
      && bundle_model_align (&model, &error)) {
    g_assert_cmpuint (model.priors->len, ==, 3);
    g_assert_true (isfinite (bundle_model_prior_rms (&model)));
  } else {
    g_assert (error->domain == CVIS_ERROR && *error->message);
    g_assert (g_utf8_validate (error->message, -1, NULL));
    g_error_free (error);
  }
  g_clear_pointer (&model.priors, g_array_unref);
  return 0;
}
