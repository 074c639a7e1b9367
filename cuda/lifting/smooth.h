/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Low-pass filters along a line, as tables that both backends use: Gaussian,
 * spline and undecimated wavelet. Definitions: docs/design/filters.md. Private
 * to the library and its tests. */
#pragma once

#include "cuda/lifting/engine.h"

G_BEGIN_DECLS

/* The weights of a Gaussian end 5.3 standard deviations from its middle: all
 * of it but 1.2e-7. */
#define LWT_SMOOTH_REACH 5.3
/* Half-band filters have at most so many weights on one side. */
#define LWT_SMOOTH_TAPS LWT_MAX_FILTER
/* Distances from the curve, as multiples of their median, beyond which a point
 * does not count: Tukey's biweight with c = 3 standard deviations of noise. */
#define LWT_SMOOTH_TUKEY 4.4478
/* Iterations of the robust filter after the first Gaussian one. */
#define LWT_SMOOTH_ITERATIONS 10
/* The wavelet filter raises the weight of a point where the weights of all
 * points that are there add up to less. */
#define LWT_SMOOTH_LEAST_WEIGHT 0.25

/**
 * LwtSmoothLine: a low-pass filter of lines of @n samples. Tables are rounded
 * to the type of the arithmetic
 * @cutoff: wavelength in samples whose amplitude is halved; 0: the line is
 *   not changed
 *
 * Gaussian, order 0: K x = C B A x, divided by K of a line of ones.
 * A: sample j of the coarse line, j from -@margin to @coarse - @margin - 1, is
 *   the sum over k of near[k] x[j @stride + k - @reach]
 * B: the sum over k of middle[k] of coarse sample j + k - @middle_reach
 * C: sample b @stride + p is the sum over t of
 *   far[t * @period + p] of coarse sample b + t - @margin
 * Samples beyond the ends are 0. With @stride 1 there is A only.
 * @far: [2 @margin + 1][@period], which repeats after @stride; @period: at
 *   least LWT_SMOOTH_PERIOD
 * @inverse: [n] the reciprocals of K of ones
 *
 * Gaussian, order 2: sample i is the sum over t, |t| <= @reach, of near[@reach
 *   + t] (moment[0][i] + t (moment[1][i] + t moment[2][i])) x[i + t]
 * @variance: the second moment of all weights, in squares of 1 / @unit
 * @unit: the reciprocal of the standard deviation
 *
 * Wavelet: level l is y[i] = x[i] / 2 + the sum of tap[k] (x[i - d] + x[i +
 *   d]), d = (2 k + 1) 2^l, of the line mirrored at its first and last sample;
 *   the last one is y + @blend (x - y)
 *
 * Spline: (1 + @tension D1' D1 + @bending D2' D2) s = x with the first and
 *   second differences D1, D2; the left side is L D L' with
 * @pivot: [n] 1 / D; @lower: [2][n] the elements of L in columns i - 1, i - 2
 */
typedef struct {
  guint n;
  gdouble cutoff;

  guint stride, period;
  gint reach, middle_reach;
  guint margin, coarse;
  gdouble *near, *middle, *far;
  gdouble *inverse;

  gdouble variance, unit;
  gdouble *moment[3];

  guint levels, n_taps;
  gdouble tap[LWT_SMOOTH_TAPS];
  gdouble blend;

  gdouble tension, bending;
  gdouble *pivot, *lower[2];
} LwtSmoothLine;

#define LWT_SMOOTH_PERIOD 16

/* Computes the tables of @config's filter for the cut-off of @which (0 noise,
 * 1 roughness, 2 form) along @axis. */
void lwt_smooth_line_init (
    LwtSmoothLine *line, const LwtConfig *config, guint which, guint axis);
void lwt_smooth_line_clear (LwtSmoothLine *line);

/* The polynomial b0 + b1 u + b2 u^2 that gives weights with the moments 0 to 4
 * @m the moments 1, 0 and @variance. Of degree 0 where there are too few points; whole
 * lines have 2 and their ends 0.08 for d2 / m[0]^3. */
static inline void
lwt_smooth_fit (const gdouble m[5], gdouble variance, gdouble b[3])
{
  const gdouble d1 = m[2] * m[0] - m[1] * m[1];
  const gdouble a = m[2] * m[4] - m[3] * m[3], c = m[1] * m[4] - m[2] * m[3];
  const gdouble e = m[1] * m[3] - m[2] * m[2];
  const gdouble d2 = m[0] * a - m[1] * c + m[2] * e;

  b[0] = 1.0 / m[0];
  b[1] = b[2] = 0.0;
  if (d1 > 1e-3 * m[0] * m[0] && d2 > 1e-4 * m[0] * m[0] * m[0]) {
    b[0] = (a + variance * e) / d2;
    b[1] = -(c + variance * (m[0] * m[3] - m[1] * m[2])) / d2;
    b[2] = (e + variance * d1) / d2;
  }
}

#ifdef __CUDACC__
#define LWT_SMOOTH_ANYWHERE static inline __host__ __device__
#else
#define LWT_SMOOTH_ANYWHERE static inline
#endif

/* The sample of a line of @n, 2 or more, that is mirrored to @i. */
LWT_SMOOTH_ANYWHERE gint64
lwt_smooth_mirror (gint64 i, gint64 n)
{
  while (i < 0 || i >= n)
    i = i < 0 ? -i : 2 * (n - 1) - i;
  return i;
}

/* Amplitude with which the filter passes a wave of @wavelength samples, far
 * from ends and missing points: of the linear filter for robust-gaussian. */
gdouble lwt_smooth_line_get_transmission (
    const LwtSmoothLine *line, LwtFilter filter, gdouble wavelength);

/* The half-band filter of an undecimated level of @wavelet: its analysis and
 * synthesis low-pass in turn, with a sum of 1: 1/2 in the middle, 0 at even and
 * tap[k] at odd distances 2 k + 1. Returns: number of taps */
guint lwt_smooth_get_taps (
    const LwtWavelet *wavelet, gdouble tap[LWT_SMOOTH_TAPS]);

G_END_DECLS
