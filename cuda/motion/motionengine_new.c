/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "motionbackend.h"

MotionEngine *
motion_engine_new (
    const MotionConfig *config, CvisContext *context, GError **error)
{
  const MotionBackendOps *ops = &motion_backend_cpu;

#ifdef HAVE_CUDA
  if (context != NULL)
    ops = &motion_backend_cuda;
#endif
  return motion_engine_new_on (ops, config, context, error);
}
