/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Constants of an adjustment as text */
#include "fuzz.h"
#include "cuda/bundle/formats/constants.h"

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  GError *error = NULL;
  BundleProblem *problem = bundle_problem_new (3, 5, 1, &error);

  g_assert_no_error (error);
  if (bundle_constants_read (problem, (const gchar *) bytes, size, &error)) {
    for (guint i = 0; i < 3; i++)
      g_assert_cmpuint (problem->camera_constant[i], <=, BUNDLE_CAMERA_ALL);
  } else {
    g_assert (error->domain == CVIS_ERROR && *error->message);
    g_assert (g_utf8_validate (error->message, -1, NULL));
    g_error_free (error);
  }
  bundle_problem_free (problem);
  return 0;
}
