/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/bundle/cpu/cpu.h"

void
bundle_cpu_invert (gdouble *a, guint n, guint stride)
{
  bundle_invert (a, n, stride);
}

void
bundle_cpu_invert_block (
    BundleBackend *b, guint camera, const gdouble block[BUNDLE_TRIANGLE])
{
  guint16 constant = b->camera_constant[camera];
  gdouble a[81], *to = b->inverse_u + (gsize) camera * BUNDLE_TRIANGLE;

  for (guint i = 0; i < 9; i++)
    for (guint j = i; j < 9; j++) {
      gboolean zero = (constant >> i & 1) || (constant >> j & 1);

      /* shared intrinsics form a block of their own */
      if (b->shared && i < BUNDLE_CAMERA_FOCAL && j >= BUNDLE_CAMERA_FOCAL)
        zero = TRUE;
      a[9 * i + j] = a[9 * j + i] = zero ? 0 : block[bundle_cpu_at (i, j)];
    }
  bundle_cpu_invert (a, 9, 9);
  for (guint i = 0; i < 9; i++)
    for (guint j = i; j < 9; j++)
      to[bundle_cpu_at (i, j)] = a[9 * i + j];
}
