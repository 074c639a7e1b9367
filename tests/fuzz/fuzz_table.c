/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Tables of features, as `cudavision train` reads them. */
#include "fuzz.h"

#include "cuda/meltpool/train/table.h"

#include <math.h>

static gboolean
check_row (const CvisPbfResult *result, gpointer data, GError **error)
{
  for (guint f = 0; f < CVIS_PBF_N_FEATURES; f++)
    g_assert (isfinite (result->features[f]));
  return TRUE;
}

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  GError *error = NULL;

  if (!pbf_read_table (
          "table.csv", (const gchar *) bytes, size, check_row, NULL, &error)) {
    g_assert (error->domain == CVIS_ERROR && error->code == CVIS_ERROR_FORMAT);
    g_assert (*error->message != '\0');
    g_error_free (error);
  }
  return 0;
}
