/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* cuda/core/device/stage.h and what needs one, for builds without CUDA, which have no stage. */
#include "cuda/core/plane.h"

CvisStage *
cvis_stage_new (CvisContext *context, GError **error)
{
  cvis_device_count (error);
  return NULL;
}

void
cvis_stage_free (CvisStage *stage)
{
}

CvisContext *
cvis_stage_get_context (CvisStage *stage)
{
  return NULL;
}

gpointer
cvis_stage_get_stream (CvisStage *stage)
{
  return NULL;
}

gboolean
cvis_stage_upload (CvisStage *stage, guint n, const gconstpointer *pieces,
    const gsize *sizes, gpointer *addresses, GError **error)
{
  cvis_device_count (error);
  return FALSE;
}

guint64 *
cvis_stage_begin (CvisStage *stage, guint n_sums, GError **error)
{
  cvis_device_count (error);
  return NULL;
}

const guint64 *
cvis_stage_end (CvisStage *stage, GError **error)
{
  cvis_device_count (error);
  return NULL;
}

gboolean
cvis_plane_sum_cuda (
    const CvisPlane *plane, CvisStage *stage, guint64 *sum, GError **error)
{
  cvis_device_count (error);
  return FALSE;
}

gboolean
cvis_plane_count_missing_cuda (
    const CvisPlane *plane, CvisStage *stage, guint64 *n, GError **error)
{
  cvis_device_count (error);
  return FALSE;
}
