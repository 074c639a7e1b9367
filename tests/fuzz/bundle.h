/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Checks that a reader's result is consistent and can be written. */
#pragma once

#include "cuda/bundle/formats/formats.h"

#include <string.h>

/* Every reader accepts what its writer wrote, and the writer accepts all but numbers
 * that are too large for the format. */
static void
fuzz_bundle_written (const BundleProblem *problem)
{
  for (BundleFormat format = BUNDLE_FORMAT_BAL; format <= BUNDLE_FORMAT_TUM;
       format++) {
    GError *error = NULL;
    GBytes *bytes = bundle_write (problem, format, NULL, 1, &error);
    BundleProblem *read;
    gsize size;
    const gchar *data;

    if (!bytes) {
      g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
      g_assert_nonnull (strstr (error->message, "hold up to 1e+99"));
      g_error_free (error);
      continue;
    }
    g_assert_no_error (error);
    if (format <= BUNDLE_FORMAT_COLMAP) {
      data = g_bytes_get_data (bytes, &size);
      read = bundle_read (data, size, format, 1, &error);
      g_assert_no_error (error);
      g_assert_cmpmem (read->points, 24 * (gsize) read->n_points,
          problem->points, 24 * (gsize) problem->n_points);
      bundle_problem_free (read);
    }
    g_bytes_unref (bytes);
  }
}

static int
fuzz_bundle (const uint8_t *bytes, size_t size, BundleFormat format)
{
  GError *error = NULL;
  BundleProblem *problem;
  BundleFormat found;

  if (bundle_format_detect ((const gchar *) bytes, size, &found))
    bundle_format_is_certain ((const gchar *) bytes, size, found);
  else
    g_assert (*bundle_format_hint ((const gchar *) bytes, size));
  problem = bundle_read ((const gchar *) bytes, size, format, 1, &error);
  if (problem) {
    g_assert_true (bundle_problem_check (problem, &error));
    fuzz_bundle_written (problem);
    bundle_problem_free (problem);
  } else {
    g_assert (error->domain == CVIS_ERROR && *error->message);
    g_assert (g_utf8_validate (error->message, -1, NULL));
    g_error_free (error);
  }
  return 0;
}
