/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Boundaries: the neighbours of a lifting step beyond the edge of a line.
 * For host and device; definitions in docs/design/lifting.md. */
#pragma once

#include <glib.h>

#ifdef __CUDACC__
#define LWT_INLINE static __host__ __device__ __forceinline__
#else
#define LWT_INLINE static inline
#endif

/* Samples beyond the edge */
typedef enum {
  LWT_BOUNDARY_SYMMETRIC,     /* mirrored at the last sample (whole-sample) */
  LWT_BOUNDARY_PERIODIC,      /* repeated */
  LWT_BOUNDARY_CLAMP,         /* the last sample of the same parity */
  LWT_BOUNDARY_ZERO,          /* zero */
  LWT_BOUNDARY_PAD_SYMMETRIC, /* padded by half-sample symmetry */
  LWT_BOUNDARY_PAD_SMOOTH,    /* padded by linear extrapolation */
} LwtBoundary;

/* Index of neighbour @j of kind @odd (0: even samples, 1: odd ones) in a
 * line of @n >= 2 samples; -1: it is +0. Padded boundaries are treated as
 * symmetric. */
LWT_INLINE gint
lwt_neighbour (LwtBoundary boundary, gint j, gint odd, gint n)
{
  const gint count = (n + 1 - odd) / 2;

  if (j >= 0 && j < count)
    return j;
  switch (boundary) {
    case LWT_BOUNDARY_PERIODIC: {
      const gint period = (n + 1) / 2;

      j %= period;
      if (j < 0)
        j += period;
      return j < count ? j : count - 1;
    }
    case LWT_BOUNDARY_CLAMP:
      return j < 0 ? 0 : count - 1;
    case LWT_BOUNDARY_ZERO:
      return -1;
    default: {
      const gint period = 2 * (n - 1);
      gint position = (2 * j + odd) % period;

      if (position < 0)
        position += period;
      if (position >= n)
        position = period - position;
      return position / 2;
    }
  }
}
