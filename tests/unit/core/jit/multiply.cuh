/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "tests/unit/core/jit/shared.cuh"

static __device__ float
multiply_and_add (float value)
{
  return FACTOR * value + 1.0f;
}
