/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Union-find by many threads at once: each tree's root is its smallest
 * number. */
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

/* Joins two trees while others are joined: the larger root is hung below the
 * smaller, unless somebody hung it elsewhere meanwhile; then its new parent is
 * joined. */
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
