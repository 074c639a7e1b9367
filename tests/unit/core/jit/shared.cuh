/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

extern __shared__ float dynamic_shared[];

/* griddepcontrol.wait, for programmatic dependent launch */
static __device__ void
wait_for_previous (void)
{
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
