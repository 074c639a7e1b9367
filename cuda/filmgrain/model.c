/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Parameters of AV1's film grain from the sums of the grain: the autoregressive model by
 * its normal equations (Yule-Walker), then the strength by level. Called by statistics.c.
 *
 * A decoder filters white noise of a standard deviation of 32 levels with the model and
 * multiplies it by the scaling function. measure_gain() does the same to learn how
 * strong the filtered noise is, with the coefficients as they are rounded. */
#include <math.h>
#include <string.h>

#include "cuda/filmgrain/statistics.h"

#define UNKNOWNS (FILM_GRAIN_NEIGHBOURS + 1)
/* of the decoder's white noise, 8-bit levels */
#define WHITE 32.0
/* Decoders clip the filtered noise to -128..127: at 3 standard deviations */
#define STRONGEST 42.0
/* side of the filtered noise, samples of luma */
#define SIDE 256
/* A stronger amplification is that of an unstable model. */
#define MAX_GAIN 10.0

/* --- the model -------------------------------------------------------------- */

/* Mean of the grain: a denoiser may change the brightness a little, which is no grain. */
static gdouble
get_mean (const FilmGrainSums *sums)
{
  gdouble sum = 0, n = 0;

  for (guint i = 0; i < FILM_GRAIN_POINTS; i++) {
    sum += (gdouble) sums->grain[i];
    n += (gdouble) sums->samples[i];
  }
  return sum / n;
}

/* Covariance of two samples at a distance */
static gdouble
get_covariance (const FilmGrainSums *sums, gint dy, gint dx)
{
  const gint sign = dy < 0 || (dy == 0 && dx < 0) ? -1 : 1;
  const guint row = (guint) (sign * dy);
  const guint column = (guint) (sign * dx + FILM_GRAIN_REACH);

  return (gdouble) sums->products[row][column]
             / (gdouble) sums->pairs[row][column]
         - get_mean (sums) * get_mean (sums);
}

/* Covariance of the luma's sum of @area samples at a sample of chroma with the chroma at
 * neighbour @i */
static gdouble
get_luma_covariance (
    const FilmGrainSums *sums, const FilmGrainSums *luma, gdouble area, guint i)
{
  return (gdouble) sums->luma_products[i] / (gdouble) sums->luma_pairs[i]
         - area * get_mean (luma) * get_mean (sums);
}

static gdouble
get_luma_variance (
    const FilmGrainSums *sums, const FilmGrainSums *luma, gdouble area)
{
  return (gdouble) sums->luma_squares
             / (gdouble) sums->luma_pairs[FILM_GRAIN_NEIGHBOURS]
         - area * area * get_mean (luma) * get_mean (luma);
}

/* Solves the symmetric system @a x = @b of @n unknowns by Cholesky's factorisation, in
 * place. Returns: FALSE if it is not positive definite */
static gboolean
solve_normal_equations (gdouble a[UNKNOWNS][UNKNOWNS], gdouble *b, guint n)
{
  for (guint i = 0; i < n; i++) {
    for (guint k = 0; k < i; k++) {
      for (guint m = 0; m < k; m++)
        a[i][k] -= a[i][m] * a[k][m];
      a[i][k] /= a[k][k];
      a[i][i] -= a[i][k] * a[i][k];
      b[i] -= a[i][k] * b[k];
    }
    if (!(a[i][i] > 0))
      return FALSE;
    a[i][i] = sqrt (a[i][i]);
    b[i] /= a[i][i];
  }
  for (guint i = n; i-- > 0;) {
    for (guint k = i + 1; k < n; k++)
      b[i] -= a[k][i] * b[k];
    b[i] /= a[i][i];
  }
  return TRUE;
}

/**
 * Model: of a component with a variance of 1
 * @coefficients: of the neighbours, then of the luma with a variance of 1
 * @innovation: variance of what they do not explain
 */
typedef struct {
  gdouble coefficients[UNKNOWNS];
  gdouble innovation;
} Model;

/* @luma: (nullable): sums of the luma, for chroma */
static gboolean
fit_model (const FilmGrainSums *sums, const FilmGrainSums *luma, gdouble area,
    Model *model)
{
  const guint n = FILM_GRAIN_NEIGHBOURS + (luma != NULL);
  const gdouble variance = get_covariance (sums, 0, 0);
  gdouble a[UNKNOWNS][UNKNOWNS], b[UNKNOWNS] = { 0 }, right[UNKNOWNS];

  for (guint i = 0; i < FILM_GRAIN_NEIGHBOURS; i++) {
    const gint y = film_grain_row (i), x = film_grain_column (i);

    for (guint k = 0; k <= i; k++)
      a[i][k] = get_covariance (
                    sums, y - film_grain_row (k), x - film_grain_column (k))
                / variance;
    a[i][i] += 1e-6;
    b[i] = get_covariance (sums, y, x) / variance;
  }
  if (luma != NULL) {
    const gdouble scale = area * sqrt (variance * get_covariance (luma, 0, 0));
    const guint last = FILM_GRAIN_NEIGHBOURS;

    for (guint k = 0; k <= last; k++)
      a[last][k] = get_luma_covariance (sums, luma, area, k) / scale;
    b[last] = a[last][last];
    a[last][last] = get_luma_variance (sums, luma, area)
                        / (area * area * get_covariance (luma, 0, 0))
                    + 1e-6;
  }
  memcpy (right, b, sizeof right);
  if (!solve_normal_equations (a, b, n))
    return FALSE;
  memcpy (model->coefficients, b, sizeof b);
  model->innovation = 1.0;
  for (guint i = 0; i < n; i++)
    model->innovation -= b[i] * right[i];
  return model->innovation > 0;
}

/* --- the decoder's grain ---------------------------------------------------- */

/* Gaussian numbers, the same in every call */
typedef struct {
  guint64 state;
} Noise;

static gdouble
next_uniform (Noise *noise)
{
  noise->state ^= noise->state << 13;
  noise->state ^= noise->state >> 7;
  noise->state ^= noise->state << 17;
  return ((gdouble) (noise->state >> 11) + 0.5) / 9007199254740992.0;
}

static gdouble
next_gaussian (Noise *noise)
{
  const gdouble u = next_uniform (noise), v = next_uniform (noise);

  return sqrt (-2 * log (u)) * cos (2 * G_PI * v);
}

/* Filters white noise of variance 1 in place. @luma: (nullable): the mean of the luma's
 * grain at each sample */
static void
filter_noise (gdouble *samples, guint width, guint height, const gint8 *ar,
    guint ar_shift, const gdouble *luma)
{
  const gdouble unit = 1.0 / (1u << ar_shift);

  for (guint y = FILM_GRAIN_LAG; y < height; y++)
    for (guint x = FILM_GRAIN_LAG; x + FILM_GRAIN_LAG < width; x++) {
      gdouble *at = samples + (gsize) y * width + x;

      for (guint i = 0; i < FILM_GRAIN_NEIGHBOURS; i++)
        *at += ar[i] * unit
               * at[(gssize) film_grain_row (i) * (gssize) width
                    + film_grain_column (i)];
      if (luma != NULL)
        *at += ar[FILM_GRAIN_NEIGHBOURS] * unit * luma[(gsize) y * width + x];
    }
}

static gdouble
find_deviation (const gdouble *samples, guint width, guint height)
{
  const guint edge = 4 * FILM_GRAIN_LAG;
  gdouble squares = 0, n = 0;

  for (guint y = edge; y + edge < height; y++)
    for (guint x = edge; x + edge < width; x++) {
      squares +=
          samples[(gsize) y * width + x] * samples[(gsize) y * width + x];
      n++;
    }
  return sqrt (squares / n);
}

static gdouble *
make_noise (guint width, guint height, guint64 seed)
{
  Noise noise = { seed };
  gdouble *samples = g_new (gdouble, (gsize) width * height);

  for (gsize i = 0; i < (gsize) width * height; i++)
    samples[i] = next_gaussian (&noise);
  return samples;
}

static gdouble *
make_luma_means (const gdouble *luma, guint sub_x, guint sub_y)
{
  const guint width = SIDE >> sub_x, height = SIDE >> sub_y;
  gdouble *means = g_new0 (gdouble, (gsize) width * height);

  for (guint y = 0; y < SIDE; y++)
    for (guint x = 0; x < SIDE; x++)
      means[(gsize) (y >> sub_y) * width + (x >> sub_x)] +=
          luma[(gsize) y * SIDE + x] / (1u << sub_x << sub_y);
  return means;
}

/* Standard deviation of white noise of variance 1 after the filter of @component */
static gdouble
measure_gain (
    const FilmGrainParameters *p, guint component, guint sub_x, guint sub_y)
{
  const guint width = SIDE >> sub_x, height = SIDE >> sub_y;
  gdouble *luma = make_noise (SIDE, SIDE, 7391);
  gdouble *chroma, *means, gain;

  filter_noise (luma, SIDE, SIDE, p->components[0].ar, p->ar_shift, NULL);
  if (component == 0) {
    gain = find_deviation (luma, SIDE, SIDE);
    g_free (luma);
    return gain;
  }
  means = make_luma_means (luma, sub_x, sub_y);
  chroma = make_noise (width, height, 49671 + component);
  filter_noise (
      chroma, width, height, p->components[component].ar, p->ar_shift, means);
  gain = find_deviation (chroma, width, height);
  g_free (luma);
  g_free (means);
  g_free (chroma);
  return gain;
}

gdouble
film_grain_get_strength (const FilmGrainParameters *p, guint component,
    guint level, guint sub_x, guint sub_y)
{
  const FilmGrainComponent *c = &p->components[component];
  gdouble scaling;
  guint i = 0;

  if (c->points == 0)
    return 0;
  while (i < c->points && c->level[i] <= level)
    i++;
  if (i == 0 || i == c->points)
    scaling = c->scaling[i == 0 ? 0 : i - 1];
  else
    scaling = c->scaling[i - 1]
              + (c->scaling[i] - c->scaling[i - 1])
                    * (gdouble) (level - c->level[i - 1])
                    / (c->level[i] - c->level[i - 1]);
  return scaling * measure_gain (p, component, sub_x, sub_y) * WHITE
         / (1u << p->grain_shift) / (1u << p->scaling_shift);
}

/* --- parameters ------------------------------------------------------------- */

/* Whether the component has grain at all */
static gboolean
has_grain (const FilmGrainSums *sums)
{
  return sums->pairs[0][FILM_GRAIN_REACH] > 0
         && get_covariance (sums, 0, 0) > 0;
}

static void
round_coefficients (
    const Model *model, gdouble luma_factor, guint ar_shift, gint8 *ar)
{
  for (guint i = 0; i < UNKNOWNS; i++) {
    const gdouble c = model->coefficients[i]
                      * (i == FILM_GRAIN_NEIGHBOURS ? luma_factor : 1.0);

    ar[i] = (gint8) CLAMP (lrint (c * (1 << ar_shift)), -128, 127);
  }
}

/* The finest unit in which all coefficients fit */
static guint
choose_ar_shift (const Model *models, const gdouble *luma_factors, guint n)
{
  gdouble largest = 0;
  guint shift = 9;

  for (guint m = 0; m < n; m++)
    for (guint i = 0; i < UNKNOWNS; i++)
      largest = MAX (
          largest, fabs (models[m].coefficients[i])
                       * (i == FILM_GRAIN_NEIGHBOURS ? luma_factors[m] : 1.0));
  while (shift > 6 && largest * (1 << shift) > 127)
    shift--;
  return shift;
}

/* Fills in the models' coefficients and the gains of their filters.
 * Returns: FALSE if one of them is not stable */
static gboolean
choose_model (const FilmGrainFormat *format, const FilmGrainSums sums[3],
    FilmGrainParameters *p, gdouble gains[3])
{
  const gdouble area = 1u << format->sub_x << format->sub_y;
  const gboolean with_luma = has_grain (&sums[0]);
  Model models[3] = { 0 };
  gdouble factors[3] = { 0 };

  for (guint i = 0; i < format->planes; i++) {
    if (!has_grain (&sums[i]))
      continue;
    if (!fit_model (
            &sums[i], i > 0 && with_luma ? &sums[0] : NULL, area, &models[i]))
      return FALSE;
    /* the decoder's innovation has a variance of 1, its luma more */
    factors[i] = with_luma && i > 0
                     ? sqrt (models[0].innovation / models[i].innovation)
                     : 0;
  }
  p->ar_shift = choose_ar_shift (models, factors, format->planes);
  for (guint i = 0; i < format->planes; i++)
    round_coefficients (
        &models[i], factors[i], p->ar_shift, p->components[i].ar);
  for (guint i = 0; i < format->planes; i++) {
    gains[i] = measure_gain (p, i, format->sub_x, format->sub_y);
    if (!(gains[i] < MAX_GAIN))
      return FALSE;
  }
  return TRUE;
}

/* Strength of the grain at the points, in 8-bit levels; @c gets their levels. The source,
 * the denoised picture and the decoder's output are rounded, which adds a variance of
 * 1/12 each; the source's own rounding is grain. */
static void
find_strengths (const FilmGrainSums *sums, guint depth, FilmGrainComponent *c,
    gdouble strengths[FILM_GRAIN_POINTS])
{
  const gdouble unit = 1u << (depth - 8);
  gint64 all = 0;

  for (guint i = 0; i < FILM_GRAIN_POINTS; i++)
    all += sums->samples[i];
  c->points = 0;
  for (guint i = 0; i < FILM_GRAIN_POINTS; i++) {
    const gdouble n = (gdouble) sums->samples[i];

    if (sums->samples[i] == 0 || sums->samples[i] < all / 1000)
      continue;
    c->level[c->points] = (guint8) lrint ((gdouble) sums->level[i] / n);
    strengths[c->points++] =
        sqrt (MAX (0,
            (gdouble) sums->squares[i] / n
                - (gdouble) sums->grain[i] / n * ((gdouble) sums->grain[i] / n)
                - 2.0 / 12))
        / unit;
  }
}

static void
set_scaling (FilmGrainComponent *c, const gdouble *strengths, gdouble factor)
{
  guint largest = 0;

  for (guint i = 0; i < c->points; i++) {
    c->scaling[i] = (guint8) CLAMP (lrint (strengths[i] * factor), 0, 255);
    largest = MAX (largest, c->scaling[i]);
  }
  if (largest == 0)
    c->points = 0;
}

void
film_grain_solve (const FilmGrainFormat *format, const FilmGrainSums sums[3],
    FilmGrainParameters *p)
{
  gdouble gains[3] = { 1, 1, 1 }, strengths[3][FILM_GRAIN_POINTS];
  gdouble gain = 0, largest = 0;

  memset (p, 0, sizeof *p);
  if (!choose_model (format, sums, p, gains)) {
    memset (p, 0, sizeof *p); /* white noise */
    p->ar_shift = 9;
    gains[0] = gains[1] = gains[2] = 1;
  }
  for (guint i = 0; i < format->planes; i++)
    gain = MAX (gain, gains[i]);
  while (
      p->grain_shift < 3 && gain * WHITE / (1u << p->grain_shift) > STRONGEST)
    p->grain_shift++;
  for (guint i = 0; i < format->planes; i++) {
    gains[i] *= WHITE / (1u << p->grain_shift);
    find_strengths (&sums[i], format->depth, &p->components[i], strengths[i]);
    for (guint k = 0; k < p->components[i].points; k++)
      largest = MAX (largest, strengths[i][k] / gains[i]);
  }
  p->scaling_shift = 11;
  while (p->scaling_shift > 8 && largest * (1u << p->scaling_shift) > 255)
    p->scaling_shift--;
  for (guint i = 0; i < format->planes; i++)
    set_scaling (
        &p->components[i], strengths[i], (1u << p->scaling_shift) / gains[i]);
}
