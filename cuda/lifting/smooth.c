/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The tables of low-pass filters along a line, computed in FP64 before the
 * first surface. */
#include "cuda/lifting/smooth.h"

#include <math.h>

#define SQUARE(x) ((x) * (x))

/* Rounds to the type of the arithmetic. */
static gdouble
round_to (gdouble value, LwtType type)
{
  return type == LWT_TYPE_F32 ? (gdouble) (gfloat) value : value;
}

/* --- Gaussian ------------------------------------------------------------- */

/* Samples per standard deviation that a coarse line has at least: below, the
 * images of coarse sampling would exceed 5e-7. */
#define COARSEST 2.0

/* Standard deviation of the weights exp (-pi (x / (a cutoff))^2), a = sqrt
 * (ln 2 / pi). */
static gdouble
get_deviation (gdouble cutoff)
{
  return cutoff * sqrt (log (2.0) / 2.0) / G_PI;
}

/* Weights of a Gaussian at -reach..reach with the sum @sum. */
static gdouble *
make_gaussian (gdouble deviation, gint reach, gdouble sum, LwtType type)
{
  gdouble *weights = g_new (gdouble, 2 * (gsize) reach + 1), all = 0.0;

  for (gint k = -reach; k <= reach; k++)
    all += weights[reach + k] =
        deviation > 0.0 ? exp (-0.5 * SQUARE (k / deviation)) : k == 0;
  for (gint k = 0; k <= 2 * reach; k++)
    weights[k] = round_to (weights[k] * (sum / all), type);
  return weights;
}

static gint
get_weights_reach (gdouble deviation)
{
  return (gint) ceil (LWT_SMOOTH_REACH * deviation);
}

/* The weights that spread a coarse sample over the fine ones, by phase. */
static gdouble *
make_far (const LwtSmoothLine *line, gdouble deviation, LwtType type)
{
  const gint stride = (gint) line->stride, margin = (gint) line->margin;
  gdouble *weights = make_gaussian (deviation, line->reach, line->stride, type);
  gdouble *far = g_new0 (gdouble, (2 * line->margin + 1) * line->period);

  for (gint t = -margin; t <= margin; t++)
    for (gint p = 0; p < (gint) line->period; p++) {
      const gint k = t * stride - p % stride;

      if (ABS (k) <= line->reach)
        far[(t + margin) * (gint) line->period + p] = weights[line->reach + k];
    }
  g_free (weights);
  return far;
}

/* Sum over the @n values @x, 0 beyond, around @at. */
static gdouble
convolve (const gdouble *weights, gint reach, const gdouble *x, gint n, gint at)
{
  gdouble sum = 0.0;

  for (gint k = MAX (-reach, -at); k <= MIN (reach, n - 1 - at); k++)
    sum += weights[reach + k] * x[at + k];
  return sum;
}

/* Applies K to a line of ones. */
static void
smooth_ones (const LwtSmoothLine *line, gdouble *result)
{
  const gint n = (gint) line->n, coarse = (gint) line->coarse;
  const gint margin = (gint) line->margin, stride = (gint) line->stride;
  gdouble *ones = g_new (gdouble, n);
  gdouble *a = g_new (gdouble, MAX (coarse, 1));
  gdouble *b = g_new (gdouble, MAX (coarse, 1));

  for (gint i = 0; i < n; i++)
    ones[i] = 1.0;
  for (gint i = 0; i < n && stride == 1; i++)
    result[i] = convolve (line->near, line->reach, ones, n, i);
  for (gint j = 0; j < coarse && stride > 1; j++)
    a[j] = convolve (line->near, line->reach, ones, n, (j - margin) * stride);
  for (gint j = 0; j < coarse && stride > 1; j++)
    b[j] = convolve (line->middle, line->middle_reach, a, coarse, j);
  for (gint i = 0; i < n && stride > 1; i++) {
    result[i] = 0.0;
    for (gint t = 0; t <= 2 * margin; t++)
      result[i] +=
          line->far[t * (gint) line->period + i % stride] * b[i / stride + t];
  }
  g_free (ones);
  g_free (a);
  g_free (b);
}

static void
init_gaussian (LwtSmoothLine *line, LwtType type)
{
  const gdouble deviation = get_deviation (line->cutoff);
  gdouble outer = deviation, share;

  line->stride = 1;
  while (deviation >= 2.0 * COARSEST * line->stride && line->stride < 1u << 14)
    line->stride *= 2;
  if (line->stride < 4)
    line->stride = 1;
  if (line->stride > 1) {
    /* the least s1 with images below 5e-7: s1^2 (S - s1^2) / S = 0.735 in coarse
     * samples, S the variance of K */
    share = SQUARE (deviation / line->stride);
    share = 0.5 * (share - sqrt (SQUARE (share) - 4.0 * 0.735 * share));
    outer = sqrt (share) * line->stride;
  }
  line->reach = get_weights_reach (outer);
  line->near = make_gaussian (outer, line->reach, 1.0, type);
  line->inverse = g_new (gdouble, line->n);
  if (line->stride > 1) {
    const gdouble middle =
        sqrt (SQUARE (deviation) - 2.0 * SQUARE (outer)) / line->stride;

    line->period = MAX (line->stride, LWT_SMOOTH_PERIOD);
    line->margin = ((guint) line->reach + line->stride - 1) / line->stride;
    line->coarse = (line->n - 1) / line->stride + 1 + 2 * line->margin;
    line->middle_reach = get_weights_reach (middle);
    line->middle = make_gaussian (middle, line->middle_reach, 1.0, type);
    line->far = make_far (line, outer, type);
  }
  smooth_ones (line, line->inverse);
  for (guint i = 0; i < line->n; i++)
    line->inverse[i] = round_to (1.0 / line->inverse[i], type);
}

/* Moments 0..4 of the weights of the points from @first to @last around a
 * sample, in standard deviations. */
static void
add_moments (const LwtSmoothLine *line, gint first, gint last, gdouble unit,
    gdouble moments[5])
{
  for (gint k = 0; k < 5; k++)
    moments[k] = 0.0;
  for (gint t = first; t <= last; t++) {
    gdouble term = line->near[line->reach + t];

    for (gint k = 0; k < 5; k++, term *= t / unit)
      moments[k] += term;
  }
}

static void
init_moments (LwtSmoothLine *line)
{
  const gdouble deviation = get_deviation (line->cutoff);
  const gint n = (gint) line->n;
  gdouble m[5], b[3];

  line->stride = 1;
  line->reach = get_weights_reach (deviation);
  line->near = make_gaussian (deviation, line->reach, 1.0, LWT_TYPE_F64);
  add_moments (line, -line->reach, line->reach, deviation, m);
  line->variance = m[2] / m[0];
  line->unit = 1.0 / deviation;
  for (guint k = 0; k < 3; k++)
    line->moment[k] = g_new (gdouble, n);
  for (gint i = 0; i < n; i++) {
    add_moments (line, MAX (-line->reach, -i), MIN (line->reach, n - 1 - i),
        deviation, m);
    lwt_smooth_fit (m, line->variance, b);
    line->moment[0][i] = b[0];
    line->moment[1][i] = b[1] / deviation;
    line->moment[2][i] = b[2] / SQUARE (deviation);
  }
}

/* --- wavelet -------------------------------------------------------------- */

/* A step on the samples of one kind of a periodic line of @n. */
static void
lift_step (const LwtStep *step, gdouble sign, gdouble *x, gint n)
{
  const gint odd = step->kind == LWT_STEP_PREDICT, half = n / 2;

  for (gint k = 0; k < half; k++) {
    gdouble sum = 0.0;

    for (gint i = 0; i < (gint) step->n; i++) {
      const gint j = ((k + step->first + i) % half + half) % half;

      sum += step->c[i] * x[2 * j + 1 - odd];
    }
    x[2 * k + odd] += sign * sum;
  }
}

guint
lwt_smooth_get_taps (const LwtWavelet *wavelet, gdouble tap[LWT_SMOOTH_TAPS])
{
  const gint n = 8 * LWT_MAX_FILTER, middle = n / 2, most = LWT_SMOOTH_TAPS;
  gdouble *x = g_new (gdouble, n), sum = 0.0;
  guint n_taps = 0;

  for (gint k = 0; k < most; k++)
    tap[k] = 0.0;
  /* the average over both shifts of the line */
  for (gint shift = 0; shift < 2; shift++) {
    for (gint i = 0; i < n; i++)
      x[i] = i == middle + shift;
    for (guint i = 0; i < wavelet->n_steps; i++)
      lift_step (&wavelet->steps[i], 1.0, x, n);
    for (gint k = 0; k < n / 2; k++)
      x[2 * k + 1] = 0.0;
    for (guint i = wavelet->n_steps; i > 0; i--)
      lift_step (&wavelet->steps[i - 1], -1.0, x, n);
    for (gint k = 0; k < most; k++)
      tap[k] +=
          0.25
          * (x[middle + shift + 2 * k + 1] + x[middle + shift - 2 * k - 1]);
  }
  for (gint k = 0; k < most; k++) {
    if (fabs (tap[k]) < 1e-9)
      tap[k] = 0.0;
    else
      n_taps = (guint) k + 1;
    sum += tap[k];
  }
  for (gint k = 0; k < most && sum != 0.0; k++)
    tap[k] *= 0.25 / sum;
  g_free (x);
  return n_taps;
}

/* Response of level @l of the cascade at @w radians per sample. */
static gdouble
respond_to (const LwtSmoothLine *line, guint l, gdouble w)
{
  gdouble sum = 0.5;

  for (guint k = 0; k < line->n_taps; k++)
    sum += 2.0 * line->tap[k] * cos (ldexp ((2.0 * k + 1.0) * w, (gint) l));
  return sum;
}

/* Rounds the taps so that they still add up to 1/4 exactly: a constant passes
 * as it is. */
static void
round_taps (LwtSmoothLine *line, LwtType type)
{
  const gdouble unit = ldexp (1.0, type == LWT_TYPE_F32 ? -25 : -54);
  gdouble rest = 0.25;

  for (guint k = 1; k < line->n_taps; k++) {
    line->tap[k] = rint (line->tap[k] / unit) * unit;
    rest -= line->tap[k];
  }
  line->tap[0] = rest;
}

static void
init_cascade (LwtSmoothLine *line, const LwtWavelet *wavelet, LwtType type)
{
  const gdouble w = 2.0 * G_PI / line->cutoff;
  gdouble response = 1.0, level;

  /* a wavelet without steps has no low-pass of its own: averages */
  line->n_taps = MAX (lwt_smooth_get_taps (wavelet, line->tap), 1);
  if (line->tap[0] == 0.0 && line->n_taps == 1)
    line->tap[0] = 0.25;
  /* level by level until less than half of the amplitude passes */
  do {
    level = respond_to (line, line->levels, w);
    line->blend = (0.5 / response - level) / (1.0 - level);
    response *= level;
    line->levels++;
  } while (response > 0.5 && line->levels < 30);
  line->blend = round_to (CLAMP (line->blend, 0.0, 1.0), type);
  round_taps (line, type);
}

/* --- spline --------------------------------------------------------------- */

/* Rows of D1' D1 and D2' D2 for sample @i: elements of columns i, i - 1, i - 2. */
static void
get_spline_row (const LwtSmoothLine *line, gint i, gdouble row[3])
{
  const gint n = (gint) line->n;
  /* second differences that contain i as left, middle and right sample */
  const gint left = i + 2 < n, middle = i > 0 && i + 1 < n, right = i > 1;

  row[0] = line->tension * ((i > 0) + (i + 1 < n))
           + line->bending * (left + 4 * middle + right);
  row[1] = i < 1
               ? 0.0
               : -line->tension - 2.0 * line->bending * ((i + 1 < n) + (i > 1));
  row[2] = i < 2 ? 0.0 : line->bending;
}

static void
init_spline (LwtSmoothLine *line, gdouble tension)
{
  const gdouble square = 1.0 / SQUARE (2.0 * sin (G_PI / line->cutoff));
  const guint n = line->n;
  gdouble d1 = 0.0, d2 = 0.0, l1 = 0.0;

  line->tension = tension * square;
  line->bending = (1.0 - tension) * square * square;
  line->pivot = g_new (gdouble, n);
  line->lower[0] = g_new (gdouble, n);
  line->lower[1] = g_new (gdouble, n);
  for (guint i = 0; i < n; i++) {
    gdouble row[3], pivot;

    get_spline_row (line, (gint) i, row);
    line->lower[1][i] = i > 1 ? row[2] / d2 : 0.0;
    line->lower[0][i] =
        i > 0 ? (row[1] - line->lower[1][i] * d2 * l1) / d1 : 0.0;
    pivot = 1.0 + row[0] - line->lower[0][i] * line->lower[0][i] * d1
            - line->lower[1][i] * line->lower[1][i] * d2;
    line->pivot[i] = 1.0 / pivot;
    l1 = line->lower[0][i];
    d2 = d1;
    d1 = pivot;
  }
}

/* --- a line --------------------------------------------------------------- */

void
lwt_smooth_line_init (
    LwtSmoothLine *line, const LwtConfig *config, guint which, guint axis)
{
  *line = (LwtSmoothLine){ .n = axis == 0 ? config->width : config->height,
    .cutoff = config->cutoffs[which][axis] };
  if (line->n < 2)
    line->cutoff = 0.0;
  if (line->cutoff == 0.0) {
    line->stride = 1;
    line->near = make_gaussian (0.0, 0, 1.0, config->type);
    line->inverse = g_new (gdouble, line->n);
    for (guint i = 0; i < line->n; i++)
      line->inverse[i] = 1.0;
    return;
  }
  if (config->filter == LWT_FILTER_WAVELET)
    init_cascade (line, config->wavelet, config->type);
  else if (config->filter == LWT_FILTER_SPLINE)
    init_spline (line, config->tension);
  else if (config->filter == LWT_FILTER_GAUSSIAN && config->order == 2)
    init_moments (line);
  else
    init_gaussian (line, config->type);
}

void
lwt_smooth_line_clear (LwtSmoothLine *line)
{
  g_free (line->near);
  g_free (line->middle);
  g_free (line->far);
  g_free (line->inverse);
  for (guint k = 0; k < 3; k++)
    g_free (line->moment[k]);
  g_free (line->pivot);
  g_free (line->lower[0]);
  g_free (line->lower[1]);
}

gdouble
lwt_smooth_line_get_transmission (
    const LwtSmoothLine *line, LwtFilter filter, gdouble wavelength)
{
  const gdouble w = 2.0 * G_PI / wavelength;
  gdouble sum = 0.0, response = 1.0;
  gint reach;

  if (line->cutoff == 0.0)
    return 1.0;
  if (filter == LWT_FILTER_WAVELET) {
    for (guint l = 0; l < line->levels; l++) {
      const gdouble level = respond_to (line, l, w);

      response *=
          l + 1 < line->levels ? level : level + line->blend * (1.0 - level);
    }
    return response;
  }
  if (filter == LWT_FILTER_SPLINE) {
    const gdouble s = SQUARE (2.0 * sin (0.5 * w));

    return 1.0 / (1.0 + s * (line->tension + s * line->bending));
  }
  reach = get_weights_reach (get_deviation (line->cutoff));
  for (gint k = -reach; k <= reach; k++) {
    const gdouble weight =
        exp (-0.5 * SQUARE (k / get_deviation (line->cutoff)));

    sum += weight;
    response += weight * cos (k * w);
  }
  return (response - 1.0) / sum;
}
