/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/core/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cuda/core/error.h"

#define LINE 64 /* bytes of a cache line */
#define LARGE_PAGE (2 << 20)

gpointer
cvis_memory_new (gsize bytes, gboolean clear, GError **error)
{
  /* the rest is a large page only if it fills half of it */
  const gsize large = (bytes + LARGE_PAGE / 2) / LARGE_PAGE * LARGE_PAGE;
  const gsize all = MAX (large, (bytes + LINE - 1) / LINE * LINE);
  gpointer memory = NULL;

  if (all < bytes
      || posix_memalign (
             &memory, large > 0 ? LARGE_PAGE : LINE, MAX (all, LINE))
             != 0) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "cannot allocate %" G_GSIZE_FORMAT " bytes", bytes);
    return NULL;
  }
#if defined(MADV_HUGEPAGE)
  if (large > 0)
    madvise (memory, large, MADV_HUGEPAGE); /* best effort */
#endif
  return clear ? memset (memory, 0, all) : memory;
}

void
cvis_memory_copy_rows (gpointer to, gsize to_stride, gconstpointer from,
    gsize from_stride, gsize bytes, guint n)
{
  if (to_stride == bytes && from_stride == bytes) {
    bytes *= n;
    n = MIN (n, 1);
  }
  for (guint y = 0; y < n; y++)
    memcpy ((guint8 *) to + y * to_stride,
        (const guint8 *) from + y * from_stride, bytes);
}
