/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Union-find by many threads at once: the root of each tree is its smallest
 * index. */
#pragma once

#include <cuda_runtime.h>
#include <glib.h>

static __device__ __forceinline__ guint32
pbf_find (volatile guint32 *parents, guint32 i)
{
  guint32 parent = parents[i];

  while (parent != i) {
    i = parent;
    parent = parents[i];
  }
  return i;
}

/* Joins two trees while other threads join trees: sets the larger root's
 * parent to the smaller root, unless another thread has changed it; then
 * joins with its new parent. */
static __device__ __forceinline__ void
pbf_unite (guint32 *parents, guint32 a, guint32 b)
{
  for (;;) {
    a = pbf_find (parents, a);
    b = pbf_find (parents, b);
    if (a == b)
      return;
    guint32 larger = max (a, b), smaller = min (a, b);
    guint32 old = atomicMin (&parents[larger], smaller);
    if (old == larger)
      return;
    a = old;
    b = smaller;
  }
}
