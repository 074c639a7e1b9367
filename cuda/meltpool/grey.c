/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/meltpool/grey.h"

#include "cuda/meltpool/cpu/cpu.h"

gsize
pbf_grey_row_bytes (PbfGreyLayout layout, guint width)
{
  return layout == PBF_GREY_10_LE32 ? ((gsize) width + 2) / 3 * 4
                                    : (gsize) width * 2;
}

void
pbf_grey_to_8 (PbfGreyLayout layout, guint shift, const guint8 *from,
    gsize from_stride, guint width, guint height, guint8 *to)
{
  const PbfCpuKernels *kernels = pbf_cpu_kernels ();

  for (guint y = 0; y < height; y++)
    kernels->grey_row (
        layout, shift, from + y * from_stride, width, to + (gsize) y * width);
}
