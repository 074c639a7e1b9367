/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/lifting/backend.h"

LwtEngine *
lwt_engine_new (const LwtConfig *config, CvisContext *context, GError **error)
{
  const LwtBackendOps *ops = &lwt_backend_cpu;

#ifdef HAVE_CUDA
  if (context != NULL)
    ops = &lwt_backend_cuda;
#endif
  return lwt_engine_new_on (ops, config, context, error);
}
