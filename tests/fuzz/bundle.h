/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Checks that a reader's result is consistent and can be written. */
#pragma once

#include "cuda/bundle/formats.h"

#include <string.h>

static void
fuzz_bundle_written (const BundleProblem *problem)
{
  GError *error = NULL;
  BundleProblem *read;
  gsize size;
  const gchar *data;

  for (gint format = BUNDLE_FORMAT_BAL; format <= BUNDLE_FORMAT_TUM; format++) {
    GBytes *bytes = bundle_write (problem, format, NULL, 1, &error);

    g_assert_no_error (error);
    if (format == BUNDLE_FORMAT_BAL) {
      data = g_bytes_get_data (bytes, &size);
      read = bundle_read (data, size, format, 1, &error);
      /* BAL allows one observation of a point by each camera */
      if (read)
        g_assert_cmpmem (read->points, 24 * (gsize) read->n_points,
            problem->points, 24 * (gsize) problem->n_points);
      else
        g_assert_nonnull (strstr (error->message, "a second time"));
      g_clear_error (&error);
      g_clear_pointer (&read, bundle_problem_free);
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

  bundle_format_detect ((const gchar *) bytes, size, &found);
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
