/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/core/backend.h"

#include <string.h>

gboolean
cvis_backend_choose (CvisBackend wanted, gint device_id, CvisBackend *active,
    CvisContext **context, gchar **why_not, GError **error)
{
  GError *failure = NULL;

  *active = CVIS_BACKEND_CPU;
  *context = NULL;
  if (why_not)
    *why_not = NULL;
  if (wanted == CVIS_BACKEND_CPU)
    return TRUE;

  *context = cvis_context_new (device_id, &failure);
  if (*context != NULL) {
    *active = CVIS_BACKEND_CUDA;
    return TRUE;
  }
  if (wanted == CVIS_BACKEND_CUDA) {
    g_propagate_error (error, failure);
    return FALSE;
  }
  if (why_not)
    *why_not = g_strdup (failure->message);
  g_error_free (failure);
  return TRUE;
}

static gpointer
detect_cpu_level (gpointer unused)
{
  const gchar *limit = g_getenv ("CUDAVISION_CPU");
  CvisCpuLevel level = CVIS_CPU_GENERIC;

#if defined(__x86_64__)
  __builtin_cpu_init ();
  if (__builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma")
      && __builtin_cpu_supports ("bmi2"))
    level = CVIS_CPU_V3;
  if (level == CVIS_CPU_V3 && __builtin_cpu_supports ("avx512f")
      && __builtin_cpu_supports ("avx512bw")
      && __builtin_cpu_supports ("avx512cd")
      && __builtin_cpu_supports ("avx512dq")
      && __builtin_cpu_supports ("avx512vl"))
    level = CVIS_CPU_V4;
#endif
  if (limit != NULL && strcmp (limit, "generic") == 0)
    level = CVIS_CPU_GENERIC;
  else if (limit != NULL && strcmp (limit, "v3") == 0)
    level = MIN (level, CVIS_CPU_V3);
  return GINT_TO_POINTER (level);
}

CvisCpuLevel
cvis_cpu_level (void)
{
  static GOnce once = G_ONCE_INIT;

  return GPOINTER_TO_INT (g_once (&once, detect_cpu_level, NULL));
}
