/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Chooses the loops over samples for this processor. */
#include "cuda/core/backend.h"
#include "cuda/surface/heights.h"
#include "cuda/surface/palette.h"

const SurfaceKernels *
surface_kernels (void)
{
#if defined(__x86_64__)
  switch (cvis_cpu_level ()) {
    case CVIS_CPU_V4:
      return &surface_kernels_v4;
    case CVIS_CPU_V3:
      return &surface_kernels_v3;
    default:
      break;
  }
#endif
  return &surface_kernels_generic;
}

const SurfacePalette *
surface_palette (void)
{
#if defined(__x86_64__)
  switch (cvis_cpu_level ()) {
    case CVIS_CPU_V4:
      return &surface_palette_v4;
    case CVIS_CPU_V3:
      return &surface_palette_v3;
    default:
      break;
  }
#endif
  return &surface_palette_generic;
}
