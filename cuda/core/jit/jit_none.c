/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* cuda/core/jit/jit.h for builds without CUDA. No context exists there, so there
 * is no state. */
#include "cuda/core/jit/jit.h"

static const gchar reason[] =
    "this build has no CUDA backend (it was compiled without nvcc)";

struct _CvisJit {
  gint unused;
};
static CvisJit none;

static void
set_reason (GError **error)
{
  g_set_error_literal (error, CVIS_ERROR, CVIS_ERROR_NO_DEVICE, reason);
}

CvisJit *
cvis_jit_new (CvisContext *context, const gchar *name, const gchar *source,
    const CvisJitHeader *headers, guint n_headers, const gchar *const *options)
{
  return &none;
}

CvisJitState
cvis_jit_poll (CvisJit *jit)
{
  return CVIS_JIT_FAILED;
}

gboolean
cvis_jit_wait (CvisJit *jit, GError **error)
{
  set_reason (error);
  return FALSE;
}

gpointer
cvis_jit_get_function (CvisJit *jit, const gchar *symbol, GError **error)
{
  set_reason (error);
  return NULL;
}

gboolean
cvis_jit_launch (gpointer function, const guint grid[3], const guint block[3],
    gsize shared, gpointer stream, gboolean programmatic, gpointer *parameters,
    GError **error)
{
  set_reason (error);
  return FALSE;
}

const gchar *
cvis_jit_describe (CvisJit *jit)
{
  return reason;
}

void
cvis_jit_free (CvisJit *jit)
{
}
