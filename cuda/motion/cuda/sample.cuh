/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Interpolated samples (ITU-T H.264, 8.4.2.2.1). */
#pragma once

#include "cuda/motion/cuda/warp.cuh"

/* Half sample between @p and its right neighbour (step 1) or the one below
 * (step: the pitch), before rounding. */
template <typename Sample>
static __device__ __forceinline__ gint32
motion_taps (const Sample *p, gint32 step)
{
  return motion_tap6 (
      p[-2 * step], p[-step], p[0], p[step], p[2 * step], p[3 * step]);
}

template <typename Sample>
static __device__ __forceinline__ gint32
motion_half (const Sample *p, gint32 step)
{
  return motion_clamp (
      (motion_taps (p, step) + 16) >> 5, 0, sizeof (Sample) == 1 ? 255 : 1023);
}

/* Half sample between four. */
template <typename Sample>
static __device__ __forceinline__ gint32
motion_middle (const Sample *p, gint32 pitch)
{
  gint32 rows[6];

#pragma unroll
  for (gint32 i = 0; i < 6; i++)
    rows[i] = motion_taps (p + (i - 2) * pitch, 1);
  return motion_clamp (
      (motion_tap6 (rows[0], rows[1], rows[2], rows[3], rows[4], rows[5]) + 512)
          >> 10,
      0, sizeof (Sample) == 1 ? 255 : 1023);
}

/* The sample @x, @y quarter pixels (0..3) right of and below @p. Quarter
 * samples are means of two of the nearest whole and half samples. */
template <typename Sample>
static __device__ __forceinline__ gint32
motion_between (const Sample *p, gint32 pitch, gint32 x, gint32 y)
{
  gint32 a, b;

  if (x == 0 && y == 0)
    return p[0];
  if (y == 0)
    b = motion_half (p, 1);
  else if (x == 0)
    b = motion_half (p, pitch);
  else if (x == 2 || y == 2)
    b = motion_middle (p, pitch);
  else
    b = motion_half (p + (x == 3), pitch);
  if ((x & 1) == 0 && (y & 1) == 0)
    return b;
  if (y == 0)
    a = p[x == 3];
  else if (x == 0)
    a = p[y == 3 ? pitch : 0];
  else if (y == 2)
    a = motion_half (p + (x == 3), pitch);
  else
    a = motion_half (p + (y == 3 ? pitch : 0), 1);
  return (a + b + 1) >> 1;
}
