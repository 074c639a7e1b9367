/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The distortions of the camera models with their derivatives, inline. A model is one
 * function of bundle_warp(), composed of the parts before it, and one line of
 * bundle_lens_info[]. The derivatives are derived in docs/design/bundle.md. */
#pragma once

#include "cuda/bundle/arithmetic.h"
#include "cuda/bundle/lens/lens.h"

G_BEGIN_DECLS

#define BUNDLE_LENS_EXTRA 8

/**
 * BundleWarp: a distorted position
 * @x, @y: for a focal length of 1
 * @xu..@yv: derivatives by u and v
 * @ex, @ey: derivatives by the extra parameters
 */
typedef struct {
  gdouble x, y;
  gdouble xu, xv, yu, yv;
  gdouble ex[BUNDLE_LENS_EXTRA], ey[BUNDLE_LENS_EXTRA];
} BundleWarp;

/* --- parts ------------------------------------------------------------------- */

/* (u, v) times a factor @d of s = u^2 + v^2; @by_s: its derivative */
BUNDLE_FN void
bundle_warp_scale (
    gdouble u, gdouble v, gdouble d, gdouble by_s, BundleWarp *warp)
{
  warp->x = d * u;
  warp->y = d * v;
  warp->xu = d + 2 * by_s * u * u;
  warp->xv = warp->yu = 2 * by_s * u * v;
  warp->yv = d + 2 * by_s * v * v;
}

/* (u, v) (1 + k0 s + k1 s^2 + ...); k_i is extra parameter @place[i] */
BUNDLE_FN void
bundle_warp_radial (const gdouble *extra, const int *place, int n, gdouble u,
    gdouble v, BundleWarp *warp)
{
  gdouble s = u * u + v * v, d = 0, by_s = 0, power = 1;

  for (int i = n - 1; i >= 0; i--) {
    by_s = by_s * s + (i + 1) * extra[place[i]];
    d = (d + extra[place[i]]) * s;
  }
  bundle_warp_scale (u, v, 1 + d, by_s, warp);
  for (int i = 0; i < n; i++) {
    power *= s;
    warp->ex[place[i]] = power * u;
    warp->ey[place[i]] = power * v;
  }
}

/* Adds tangential distortion; p1 and p2 are extra parameters @at and @at + 1 */
BUNDLE_FN void
bundle_warp_add_tangential (
    const gdouble *extra, int at, gdouble u, gdouble v, BundleWarp *warp)
{
  gdouble p1 = extra[at], p2 = extra[at + 1];
  gdouble s = u * u + v * v, uv = 2 * u * v;
  gdouble su = s + 2 * u * u, sv = s + 2 * v * v;

  warp->x += p1 * uv + p2 * su;
  warp->y += p2 * uv + p1 * sv;
  warp->xu += 2 * p1 * v + 6 * p2 * u;
  warp->xv += 2 * p1 * u + 2 * p2 * v;
  warp->yu += 2 * p2 * v + 2 * p1 * u;
  warp->yv += 2 * p2 * u + 6 * p1 * v;
  warp->ex[at] = uv;
  warp->ex[at + 1] = su;
  warp->ey[at] = sv;
  warp->ey[at + 1] = uv;
}

/* Adds (sx s, sy s); sx and sy are extra parameters @at and @at + 1 */
BUNDLE_FN void
bundle_warp_add_prism (
    const gdouble *extra, int at, gdouble u, gdouble v, BundleWarp *warp)
{
  gdouble s = u * u + v * v;

  warp->x += extra[at] * s;
  warp->y += extra[at + 1] * s;
  warp->xu += 2 * extra[at] * u;
  warp->xv += 2 * extra[at] * v;
  warp->yu += 2 * extra[at + 1] * u;
  warp->yv += 2 * extra[at + 1] * v;
  warp->ex[at] = warp->ey[at + 1] = s;
  warp->ex[at + 1] = warp->ey[at] = 0;
}

/* atan(r) for r >= 0, to 2 units in the last place: S. L. Moshier, Cephes, atan.c. Without
 * branches or calls, so that loops over observations use vectors. */
BUNDLE_FN gdouble
bundle_atan (gdouble r)
{
  /* 1 or 0; conditions would be branches */
  const gdouble far = r > 2.414213562373095, most = r > 0.66;
  const gdouble middle = most - far, little = 1 - most;
  const gdouble top = little * r + middle * (r - 1) - far;
  const gdouble bottom = little + middle * (r + 1) + far * r;
  const gdouble start = middle * 0.7853981633974483 + far * 1.5707963267948966;
  const gdouble rest =
      middle * 3.061616997868383e-17 + far * 6.123233995736766e-17;
  const gdouble x = top / bottom, z = x * x;
  const gdouble p =
      (((-8.750608600031904122785e-1 * z - 1.615753718733365076637e1) * z
           - 7.500855792314704667340e1)
              * z
          - 1.228866684490136173410e2)
          * z
      - 6.485021904942025371773e1;
  const gdouble q =
      ((((z + 2.485846490142306297962e1) * z + 1.650270098316988542046e2) * z
           + 4.328810604912902668951e2)
              * z
          + 4.853903996359136964868e2)
          * z
      + 1.945506571482613964425e2;

  return start + (x * (z * p / q) + x + rest);
}

/* atan(sqrt(s)) / sqrt(s) - 1 and its derivative by s, below 0.03, where the derivative
 * would lose digits otherwise */
BUNDLE_FN void
bundle_arc_series (gdouble s, gdouble *arc, gdouble *by_s)
{
  gdouble a = 0, b = 0;

  /* spelled out: a loop here keeps compilers from using vectors in the loop around it */
#define TERM(i, sign)                                                          \
  b = b * s + sign (i) / (2 * (i) + 1.);                                       \
  a = (a sign 1 / (2 * (i) + 1.)) * s
  TERM (11, -);
  TERM (10, +);
  TERM (9, -);
  TERM (8, +);
  TERM (7, -);
  TERM (6, +);
  TERM (5, -);
  TERM (4, +);
  TERM (3, -);
  TERM (2, +);
  TERM (1, -);
#undef TERM
  *arc = a;
  *by_s = b;
}

/* atan(r) / r for s = r^2, and its derivative by s. Without branches on the CPU, as above;
 * devices take 20 % longer for an iteration so. */
BUNDLE_FN void
bundle_arc (gdouble s, gdouble *arc, gdouble *by_s)
{
#ifdef __CUDA_ARCH__
  if (s < 0.03) {
    bundle_arc_series (s, arc, by_s);
    *arc += 1;
  } else {
    const gdouble r = sqrt (s);

    *arc = atan (r) / r;
    *by_s = (1 / (1 + s) - *arc) / (2 * s);
  }
#else
  const gdouble near = s < 0.03; /* 1 or 0 */
  const gdouble r = sqrt (near + (1 - near) * s), far = bundle_atan (r) / r;
  gdouble a, b;

  bundle_arc_series (near * s, &a, &b);
  *arc = near * (1 + a) + (1 - near) * far;
  *by_s = near * b + (1 - near) * (1 / (1 + s) - far) / (2 * (near + s));
#endif
}

/* @at: (u, v) on the equidistant picture: (u, v) atan(r) / r */
BUNDLE_FN void
bundle_warp_fisheye (gdouble u, gdouble v, BundleWarp *at)
{
  gdouble arc, by_s;

  bundle_arc (u * u + v * v, &arc, &by_s);
  bundle_warp_scale (u, v, arc, by_s, at);
}

/* Turns @warp's derivatives by the position @at into those by u and v. */
BUNDLE_FN void
bundle_warp_chain (const BundleWarp *at, BundleWarp *warp)
{
  gdouble xa = warp->xu, xb = warp->xv, ya = warp->yu, yb = warp->yv;

  warp->xu = xa * at->xu + xb * at->yu;
  warp->xv = xa * at->xv + xb * at->yv;
  warp->yu = ya * at->xu + yb * at->yu;
  warp->yv = ya * at->xv + yb * at->yv;
}

/* --- models ------------------------------------------------------------------ */

/* k1 .. k_@n */
BUNDLE_FN void
bundle_warp_polynomial (
    const gdouble *extra, int n, gdouble u, gdouble v, BundleWarp *warp)
{
  const int place[4] = { 0, 1, 2, 3 };

  bundle_warp_radial (extra, place, n, u, v, warp);
}

/* k1, k2, p1, p2 */
BUNDLE_FN void
bundle_warp_opencv (
    const gdouble *extra, gdouble u, gdouble v, BundleWarp *warp)
{
  bundle_warp_polynomial (extra, 2, u, v, warp);
  bundle_warp_add_tangential (extra, 2, u, v, warp);
}

/* k1, k2, p1, p2, k3, k4, k5, k6: the radial factor is (1 + k1 s + k2 s^2 + k3 s^3) /
 * (1 + k4 s + k5 s^2 + k6 s^3) */
BUNDLE_FN void
bundle_warp_full_opencv (
    const gdouble *extra, gdouble u, gdouble v, BundleWarp *warp)
{
  const int place[6] = { 0, 1, 4, 5, 6, 7 };
  gdouble s = u * u + v * v, power = 1;
  gdouble top = 1 + s * (extra[0] + s * (extra[1] + s * extra[4]));
  gdouble bottom = 1 + s * (extra[5] + s * (extra[6] + s * extra[7]));
  gdouble d = top / bottom;
  gdouble top_s = extra[0] + s * (2 * extra[1] + s * 3 * extra[4]);
  gdouble bottom_s = extra[5] + s * (2 * extra[6] + s * 3 * extra[7]);

  bundle_warp_scale (u, v, d, (top_s - d * bottom_s) / bottom, warp);
  for (int i = 0; i < 3; i++) {
    power *= s;
    warp->ex[place[i]] = power * u / bottom;
    warp->ey[place[i]] = power * v / bottom;
    warp->ex[place[3 + i]] = -d * warp->ex[place[i]];
    warp->ey[place[3 + i]] = -d * warp->ey[place[i]];
  }
  bundle_warp_add_tangential (extra, 2, u, v, warp);
}

/* omega: (u, v) atan(2 r tan(omega / 2)) / (r omega) */
BUNDLE_FN void
bundle_warp_fov (const gdouble *extra, gdouble u, gdouble v, BundleWarp *warp)
{
  gdouble omega = extra[0], square = omega * omega, s = u * u + v * v;
  gdouble t = 2 * tan (omega / 2), by_omega = 1 + t * t / 4;
  gdouble ratio, ratio_by, arc, arc_by, by;

  if (square < 0.01) { /* t / omega and its derivative */
    ratio = bundle_series (square, 1, 1. / 12, 1. / 120, 17. / 20160,
        31. / 362880, 691. / 79833600);
    ratio_by = omega
               * bundle_series (square, 1. / 6, 1. / 30, 17. / 3360,
                   31. / 45360, 691. / 7983360, 0);
  } else {
    ratio = t / omega;
    ratio_by = (by_omega - ratio) / omega;
  }
  bundle_arc (s * t * t, &arc, &arc_by);
  bundle_warp_scale (u, v, ratio * arc, ratio * arc_by * t * t, warp);
  by = ratio_by * arc + ratio * arc_by * 2 * s * t * by_omega;
  warp->ex[0] = by * u;
  warp->ey[0] = by * v;
}

/* k1 .. k_@n, on the equidistant picture */
BUNDLE_FN void
bundle_warp_fisheye_polynomial (
    const gdouble *extra, int n, gdouble u, gdouble v, BundleWarp *warp)
{
  BundleWarp at;

  bundle_warp_fisheye (u, v, &at);
  bundle_warp_polynomial (extra, n, at.x, at.y, warp);
  bundle_warp_chain (&at, warp);
}

/* k1, k2, p1, p2, k3, k4, sx1, sy1, on the equidistant picture */
BUNDLE_FN void
bundle_warp_thin_prism (
    const gdouble *extra, gdouble u, gdouble v, BundleWarp *warp)
{
  const int place[4] = { 0, 1, 4, 5 };
  BundleWarp at;

  bundle_warp_fisheye (u, v, &at);
  bundle_warp_radial (extra, place, 4, at.x, at.y, warp);
  bundle_warp_add_tangential (extra, 2, at.x, at.y, warp);
  bundle_warp_add_prism (extra, 6, at.x, at.y, warp);
  bundle_warp_chain (&at, warp);
}

BUNDLE_FN void
bundle_warp (BundleLensModel model, const gdouble *extra, gdouble u, gdouble v,
    BundleWarp *warp)
{
  switch (model) {
    case BUNDLE_LENS_SIMPLE_RADIAL:
      bundle_warp_polynomial (extra, 1, u, v, warp);
      break;
    case BUNDLE_LENS_RADIAL:
      bundle_warp_polynomial (extra, 2, u, v, warp);
      break;
    case BUNDLE_LENS_OPENCV:
      bundle_warp_opencv (extra, u, v, warp);
      break;
    case BUNDLE_LENS_OPENCV_FISHEYE:
      bundle_warp_fisheye_polynomial (extra, 4, u, v, warp);
      break;
    case BUNDLE_LENS_FULL_OPENCV:
      bundle_warp_full_opencv (extra, u, v, warp);
      break;
    case BUNDLE_LENS_FOV:
      bundle_warp_fov (extra, u, v, warp);
      break;
    case BUNDLE_LENS_SIMPLE_RADIAL_FISHEYE:
      bundle_warp_fisheye_polynomial (extra, 1, u, v, warp);
      break;
    case BUNDLE_LENS_RADIAL_FISHEYE:
      bundle_warp_fisheye_polynomial (extra, 2, u, v, warp);
      break;
    case BUNDLE_LENS_THIN_PRISM_FISHEYE:
      bundle_warp_thin_prism (extra, u, v, warp);
      break;
    default: /* pinholes */
      bundle_warp_scale (u, v, 1, 0, warp);
  }
}

G_END_DECLS
