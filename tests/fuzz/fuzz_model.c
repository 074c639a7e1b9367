/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Network files: a complete network, or an error. */
#include "fuzz.h"
#include "cuda/meltpool/model.h"

#include <math.h>

static void
check_array (const gfloat *values, guint n)
{
  for (guint i = 0; i < n; i++)
    g_assert (isfinite (values[i]));
}

static void
check_model (const PbfModel *m)
{
  g_assert (m->hidden >= 1 && m->hidden <= PBF_MAX_HIDDEN);
  g_assert (m->hidden_padded >= m->hidden && m->hidden_padded % 32 == 0);
  g_assert (m->outputs >= 1 && m->outputs <= CVIS_PBF_MAX_OUTPUTS);
  g_assert (m->threshold == -1 || (m->threshold >= 1 && m->threshold <= 255));
  g_assert (m->window == -1 || (m->window >= 1 && m->window <= 1024));
  check_array (m->mean, CVIS_PBF_N_FEATURES);
  check_array (m->inv_std, CVIS_PBF_N_FEATURES);
  for (guint i = 0; i < CVIS_PBF_N_FEATURES; i++)
    g_assert (m->inv_std[i] > 0);
  check_array (m->w1t, CVIS_PBF_N_FEATURES * m->hidden_padded);
  check_array (m->b1, m->hidden_padded);
  check_array (m->w2, m->outputs * m->hidden_padded);
  check_array (m->b2, m->outputs);
  g_assert (g_strv_length (m->names) == m->outputs);
}

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  GError *error = NULL;
  PbfModel *model = pbf_model_parse (bytes, size, &error);

  g_assert ((model == NULL) == (error != NULL));
  if (model) {
    check_model (model);
    pbf_model_unref (model);
  } else {
    g_assert (error->domain == CVIS_ERROR && error->code == CVIS_ERROR_FORMAT);
    g_assert (*error->message && g_utf8_validate (error->message, -1, NULL));
    g_error_free (error);
  }
  return 0;
}
