/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The polynomial P of the F-operation (docs/design/lifting.md, "Filter").
 * Also included by NVRTC, which has no other headers. */
#pragma once

#ifdef __CUDACC__
#define LWT_POLYNOMIAL static inline __host__ __device__
#else
#define LWT_POLYNOMIAL static inline
#endif

/* Terms of P: 1, u, v, u^2, u v, v^2 */
#define LWT_TERMS 6

/* u of column @i of @n, v of a row */
LWT_POLYNOMIAL double
lwt_centred (unsigned i, unsigned n)
{
  return (2.0 * i + 1.0 - n) / n;
}

/* P - p[0] */
LWT_POLYNOMIAL double
lwt_tail (const double p[LWT_TERMS], double u, double v)
{
  return (p[1] * u + p[2] * v) + (p[3] * (u * u) + p[4] * (u * v))
         + p[5] * (v * v);
}
