/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/lifting/backend.h"

static const LwtBackendOps *
choose_ops (CvisContext *context)
{
#ifdef HAVE_CUDA
  if (context != NULL)
    return &lwt_backend_cuda;
#endif
  return &lwt_backend_cpu;
}

LwtEngine *
lwt_engine_new (const LwtConfig *config, CvisContext *context, GError **error)
{
  return lwt_engine_new_on (choose_ops (context), config, context, error);
}

gboolean
lwt_backend_get_memory (const LwtPlan *plan, CvisContext *context,
    gsize *needed, gsize *limit, GError **error)
{
  return choose_ops (context)->get_memory (plan, context, needed, limit, error);
}
