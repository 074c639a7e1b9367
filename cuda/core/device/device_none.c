/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* cuda/core/device/device.h for builds without CUDA. */
#include "cuda/core/device/device.h"

static void
no_cuda (GError **error)
{
  g_set_error_literal (error, CVIS_ERROR, CVIS_ERROR_NO_DEVICE,
      "this build has no CUDA backend (it was compiled without nvcc)");
}

gint
cvis_device_count (GError **error)
{
  no_cuda (error);
  return 0;
}

gboolean
cvis_device_info (gint device_id, CvisDeviceInfo *info, GError **error)
{
  no_cuda (error);
  return FALSE;
}

gboolean
cvis_device_use (gint device_id, CvisDeviceUse *use, GError **error)
{
  no_cuda (error);
  return FALSE;
}

gboolean
cvis_device_traits (gint device_id, CvisDeviceTraits *traits)
{
  return FALSE;
}

gboolean
cvis_context_check_code (CvisContext *context, GError **error)
{
  no_cuda (error);
  return FALSE;
}

void
cvis_cuda_versions (gint *driver, gint *runtime)
{
  *driver = *runtime = 0;
}

CvisContext *
cvis_context_new (gint device_id, GError **error)
{
  no_cuda (error);
  return NULL;
}

CvisContext *
cvis_context_new_wrapped (gpointer cu_context, gint device_id, gpointer owner,
    GDestroyNotify release_owner, GError **error)
{
  no_cuda (error);
  return NULL;
}

CvisContext *
cvis_context_ref (CvisContext *context)
{
  return context;
}

void
cvis_context_unref (CvisContext *context)
{
}

gint
cvis_context_get_device_id (CvisContext *context)
{
  return -1;
}

gpointer
cvis_context_get_handle (CvisContext *context)
{
  return NULL;
}

gboolean
cvis_context_push (CvisContext *context, GError **error)
{
  no_cuda (error);
  return FALSE;
}

void
cvis_context_pop (CvisContext *context)
{
}

gpointer
cvis_pinned_alloc (CvisContext *context, gsize size, GError **error)
{
  no_cuda (error);
  return NULL;
}

void
cvis_pinned_free (CvisContext *context, gpointer memory)
{
}

gpointer
cvis_device_alloc (CvisContext *context, gsize size, GError **error)
{
  no_cuda (error);
  return NULL;
}

void
cvis_device_free (CvisContext *context, gpointer memory)
{
}

gboolean
cvis_device_copy_rows (const CvisDeviceRows *to, const CvisDeviceRows *from,
    gsize bytes, gsize n, gpointer stream, GError **error)
{
  no_cuda (error);
  return FALSE;
}
