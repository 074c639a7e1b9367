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
  return CVIS_CPU_CHOOSE (surface_kernels);
}

const SurfacePalette *
surface_palette (void)
{
  return CVIS_CPU_CHOOSE (surface_palette);
}
