/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/crop/calibrationfit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES 100
#define MAX_LAG_PX 8
#define LAG_STEP_PX 0.5
#define MAX_MEAN_DIRECTION 0.8
#define N_HOMOGRAPHY 8
#define N_UNKNOWNS 9 /* with the lag */
#define MAX_ROUNDS 10
#define MAX_STEPS 30
/* of the residuals in step 1, at most; evenly spread */
#define MAX_MEDIAN_PAIRS 2000
#define MEDIAN_SIGMAS 1.1774 /* sqrt (2 ln 2) */
#define LIMIT_SIGMAS 3.03    /* sqrt (-2 ln 0.01) */
#define MIN_LIMIT_PX 0.25
#define MAX_RELATIVE_MEDIAN 0.25
#define MIN_SPREAD_PX 2
#define MAX_CORNER_ERROR_PX 1
/* for exact pairs: never less than what a pixel's rounding leaves */
#define MIN_SIGMA_PX 0.05
/* of a step, after scaling, below which equations are singular */
#define SINGULAR_PIVOT 1e-9

/* Shift and scale to centroid 0 and root mean square 1 an axis */
typedef struct {
  gdouble x, y, scale;
} Frame;

typedef struct {
  const PbfPositionPair *pairs;
  guint n;
  Frame plate, picture;
  guint n_unknowns;   /* 8, or 9 with the lag */
  gdouble lag;        /* in the scale of the plate's frame */
  gdouble *residuals; /* of all pairs, pixels */
  gboolean *used;
} Fit;

/* --- linear equations ------------------------------------------------------- */

/* Solves the @n x @n equations with @m right-hand sides, in rows of @n + @m, in place
 * (Gaussian elimination with row pivoting after scaling rows). */
static gboolean
solve_equations (gdouble *a, guint n, guint m)
{
  const guint width = n + m;

  for (guint r = 0; r < n; r++) {
    gdouble largest = 0;

    for (guint c = 0; c < n; c++)
      largest = MAX (largest, fabs (a[r * width + c]));
    if (!(largest > 0) || !isfinite (largest))
      return FALSE;
    for (guint c = 0; c < width; c++)
      a[r * width + c] /= largest;
  }
  for (guint k = 0; k < n; k++) {
    guint pivot = k;

    for (guint r = k + 1; r < n; r++)
      if (fabs (a[r * width + k]) > fabs (a[pivot * width + k]))
        pivot = r;
    if (!(fabs (a[pivot * width + k]) > SINGULAR_PIVOT))
      return FALSE;
    for (guint c = 0; c < width; c++) {
      const gdouble t = a[k * width + c];

      a[k * width + c] = a[pivot * width + c];
      a[pivot * width + c] = t;
    }
    for (guint r = 0; r < n; r++) {
      const gdouble f = a[r * width + k] / a[k * width + k];

      for (guint c = k; r != k && c < width; c++)
        a[r * width + c] -= f * a[k * width + c];
    }
  }
  for (guint r = 0; r < n; r++)
    for (guint c = n; c < width; c++)
      a[r * width + c] /= a[r * width + r];
  return TRUE;
}

/* --- homographies between the two frames ------------------------------------ */

static void
to_frame (const Frame *frame, gdouble *x, gdouble *y)
{
  *x = (*x - frame->x) / frame->scale;
  *y = (*y - frame->y) / frame->scale;
}

static void
get_pair (
    const Fit *fit, guint i, gdouble *x, gdouble *y, gdouble *u, gdouble *v)
{
  *x = fit->pairs[i].x_um;
  *y = fit->pairs[i].y_um;
  *u = fit->pairs[i].x_px;
  *v = fit->pairs[i].y_px;
  to_frame (&fit->plate, x, y);
  to_frame (&fit->picture, u, v);
  *x -= fit->lag * fit->pairs[i].x_direction;
  *y -= fit->lag * fit->pairs[i].y_direction;
}

/* @h: (out): eight numbers, the ninth is 1. Returns: FALSE if three of the pairs are on
 * a line */
static gboolean
solve_sample (const Fit *fit, const guint sample[4], gdouble h[8])
{
  gdouble a[8 * 9];

  for (guint i = 0; i < 4; i++) {
    gdouble x, y, u, v;

    get_pair (fit, sample[i], &x, &y, &u, &v);
    memcpy (a + 18 * i,
        (const gdouble[]){ x, y, 1, 0, 0, 0, -u * x, -u * y, u, 0, 0, 0, x, y,
            1, -v * x, -v * y, v },
        18 * sizeof *a);
  }
  if (!solve_equations (a, 8, 1))
    return FALSE;
  for (guint i = 0; i < 8; i++)
    h[i] = a[9 * i + 8];
  return TRUE;
}

/* The residual of pair @i in pixels; infinite behind the horizon */
static gdouble
measure_residual (const Fit *fit, const gdouble h[8], guint i)
{
  gdouble x, y, u, v, w;

  get_pair (fit, i, &x, &y, &u, &v);
  w = h[6] * x + h[7] * y + 1;
  if (!(w > 0))
    return INFINITY;
  return fit->picture.scale
         * hypot ((h[0] * x + h[1] * y + h[2]) / w - u,
             (h[3] * x + h[4] * y + h[5]) / w - v);
}

static gint
compare_residuals (gconstpointer a, gconstpointer b)
{
  const gdouble x = *(const gdouble *) a, y = *(const gdouble *) b;

  return (x > y) - (x < y);
}

static gdouble
sort_residuals (gdouble *residuals, guint n)
{
  qsort (residuals, n, sizeof *residuals, compare_residuals);
  return n > 0 ? residuals[n / 2] : 0;
}

/* --- step 1 ------------------------------------------------------------------ */

static guint
choose_pair (guint64 *state, guint n)
{
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (guint) ((*state >> 33) % n);
}

/* Whether the directions can tell a lag from a shift */
static gboolean
has_directions (const Fit *fit)
{
  gdouble x = 0, y = 0;
  guint known = 0;

  for (guint i = 0; i < fit->n; i++) {
    const PbfPositionPair *pair = &fit->pairs[i];

    x += pair->x_direction;
    y += pair->y_direction;
    known += pair->x_direction != 0 || pair->y_direction != 0;
  }
  return 2 * known >= fit->n && hypot (x, y) <= MAX_MEAN_DIRECTION * known;
}

/* The best homography of SAMPLES ones at the present lag, if it is better than @least */
static gboolean
try_samples (
    const Fit *fit, gdouble *residuals, gdouble best[8], gdouble *least)
{
  const guint step = (fit->n + MAX_MEDIAN_PAIRS - 1) / MAX_MEDIAN_PAIRS;
  gboolean better = FALSE;
  guint64 state = 1;

  for (guint k = 0; k < SAMPLES; k++) {
    guint sample[4], m = 0;
    gdouble h[8], median;

    for (guint i = 0; i < 4; i++)
      sample[i] = choose_pair (&state, fit->n);
    if (!solve_sample (fit, sample, h))
      continue;
    for (guint i = 0; i < fit->n; i += step)
      residuals[m++] = measure_residual (fit, h, i);
    median = sort_residuals (residuals, m);
    if (median < *least) {
      *least = median;
      memcpy (best, h, 8 * sizeof *h);
      better = TRUE;
    }
  }
  return better;
}

/* Also sets the lag. Returns: FALSE if no sample determines a homography */
static gboolean
find_least_median (Fit *fit, gdouble best[8], gdouble *least)
{
  gdouble *residuals = g_new (gdouble, MAX_MEDIAN_PAIRS);
  const gint steps =
      fit->n_unknowns > N_HOMOGRAPHY ? (gint) (MAX_LAG_PX / LAG_STEP_PX) : 0;
  gdouble lag = 0;

  *least = INFINITY;
  for (gint k = -steps; k <= steps; k++) {
    fit->lag = k * LAG_STEP_PX / fit->picture.scale;
    if (try_samples (fit, residuals, best, least))
      lag = fit->lag;
  }
  fit->lag = lag;
  g_free (residuals);
  return isfinite (*least);
}

/* --- steps 2 and 3 ------------------------------------------------------------- */

/* Derivatives of the two coordinates by the eight numbers, and by the lag of pair
 * @pair (nullable) */
static void
differentiate (const gdouble h[8], gdouble x, gdouble y,
    const PbfPositionPair *pair, gdouble ju[N_UNKNOWNS], gdouble jv[N_UNKNOWNS],
    gdouble *u, gdouble *v)
{
  const gdouble w = 1 / (h[6] * x + h[7] * y + 1);
  const gdouble dx = pair != NULL ? pair->x_direction : 0;
  const gdouble dy = pair != NULL ? pair->y_direction : 0;

  *u = (h[0] * x + h[1] * y + h[2]) * w;
  *v = (h[3] * x + h[4] * y + h[5]) * w;
  memcpy (ju,
      (const gdouble[]){ x * w, y * w, w, 0, 0, 0, -*u * x * w, -*u * y * w,
          -((h[0] - *u * h[6]) * dx + (h[1] - *u * h[7]) * dy) * w },
      N_UNKNOWNS * sizeof *ju);
  memcpy (jv,
      (const gdouble[]){ 0, 0, 0, x * w, y * w, w, -*v * x * w, -*v * y * w,
          -((h[3] - *v * h[6]) * dx + (h[4] - *v * h[7]) * dy) * w },
      N_UNKNOWNS * sizeof *jv);
}

/* Normal equations of the pairs used: n_unknowns rows of as many numbers, in rows of
 * @width. Their right-hand sides follow if @right. */
static void
add_equations (
    const Fit *fit, const gdouble h[8], gdouble *a, guint width, gboolean right)
{
  const guint m = fit->n_unknowns;

  for (guint i = 0; i < fit->n; i++) {
    gdouble x, y, u, v, ju[N_UNKNOWNS], jv[N_UNKNOWNS], pu, pv;

    if (!fit->used[i])
      continue;
    get_pair (fit, i, &x, &y, &u, &v);
    differentiate (h, x, y, &fit->pairs[i], ju, jv, &pu, &pv);
    for (guint r = 0; r < m; r++) {
      for (guint c = 0; c < m; c++)
        a[r * width + c] += ju[r] * ju[c] + jv[r] * jv[c];
      if (right)
        a[r * width + m] += ju[r] * (u - pu) + jv[r] * (v - pv);
    }
  }
}

/* Gauss-Newton. Returns: FALSE if the equations are singular */
static gboolean
refine_homography (Fit *fit, gdouble h[8])
{
  const guint m = fit->n_unknowns, width = m + 1;

  for (guint step = 0; step < MAX_STEPS; step++) {
    gdouble a[N_UNKNOWNS * (N_UNKNOWNS + 1)] = { 0 }, change = 0;

    add_equations (fit, h, a, width, TRUE);
    if (!solve_equations (a, m, 1))
      return FALSE;
    for (guint i = 0; i < m; i++) {
      *(i < N_HOMOGRAPHY ? &h[i] : &fit->lag) += a[width * i + m];
      change = MAX (change, fabs (a[width * i + m]));
    }
    if (change < 1e-12)
      break;
  }
  return TRUE;
}

/* Step 2, with the median of pairs that are used or, at first, of all.
 * Returns: whether the pairs used have changed */
static gboolean
choose_pairs (
    Fit *fit, const gdouble h[8], gdouble median, gdouble *limit, guint *n_used)
{
  gboolean changed = FALSE;

  *limit = MAX (LIMIT_SIGMAS * median / MEDIAN_SIGMAS, MIN_LIMIT_PX);
  *n_used = 0;
  for (guint i = 0; i < fit->n; i++) {
    const gboolean used = measure_residual (fit, h, i) <= *limit;

    changed |= used != fit->used[i];
    fit->used[i] = used;
    *n_used += used;
  }
  return changed;
}

static gdouble
median_of_all (const Fit *fit, const gdouble h[8])
{
  gdouble *residuals = g_new (gdouble, fit->n), median;

  for (guint i = 0; i < fit->n; i++)
    residuals[i] = measure_residual (fit, h, i);
  median = sort_residuals (residuals, fit->n);
  g_free (residuals);
  return median;
}

/* --- whether it is determined ---------------------------------------------------- */

/* The standard deviation across the narrowest direction of the pairs used, or of all if
 * @all, on the plate; in pixels at the mean scale */
static gdouble
measure_spread (const Fit *fit, gboolean all)
{
  gdouble sx = 0, sy = 0, xx = 0, xy = 0, yy = 0, n = 0;

  for (guint i = 0; i < fit->n; i++) {
    gdouble x, y, u, v;

    if (!all && !fit->used[i])
      continue;
    get_pair (fit, i, &x, &y, &u, &v);
    sx += x;
    sy += y;
    xx += x * x;
    xy += x * y;
    yy += y * y;
    n++;
  }
  xx = xx / n - sx / n * sx / n;
  xy = xy / n - sx / n * sy / n;
  yy = yy / n - sy / n * sy / n;
  return fit->picture.scale
         * sqrt (MAX ((xx + yy) / 2 - hypot ((xx - yy) / 2, xy), 0));
}

/* The largest standard error in the corners of the bounding box; infinite if the
 * equations are singular */
static gdouble
measure_corner_error (const Fit *fit, const gdouble h[8], gdouble sigma_px)
{
  const guint m = fit->n_unknowns, width = 2 * m;
  gdouble a[2 * N_UNKNOWNS * N_UNKNOWNS] = { 0 }, largest = 0;
  gdouble low[2] = { INFINITY, INFINITY }, high[2] = { -INFINITY, -INFINITY };

  add_equations (fit, h, a, width, FALSE);
  for (guint i = 0; i < m; i++)
    a[width * i + m + i] = 1;
  if (!solve_equations (a, m, m))
    return INFINITY;
  for (guint i = 0; i < fit->n; i++) {
    gdouble x, y, u, v;

    if (!fit->used[i])
      continue;
    get_pair (fit, i, &x, &y, &u, &v);
    low[0] = MIN (low[0], x);
    high[0] = MAX (high[0], x);
    low[1] = MIN (low[1], y);
    high[1] = MAX (high[1], y);
  }
  for (guint k = 0; k < 4; k++) {
    gdouble ju[N_UNKNOWNS], jv[N_UNKNOWNS], u, v, variance = 0;

    differentiate (h, k & 1 ? high[0] : low[0], k & 2 ? high[1] : low[1], NULL,
        ju, jv, &u, &v);
    for (guint r = 0; r < m; r++)
      for (guint c = 0; c < m; c++)
        variance += a[width * r + m + c] * (ju[r] * ju[c] + jv[r] * jv[c]);
    largest = MAX (largest, sigma_px * sqrt (MAX (variance, 0)));
  }
  return largest;
}

/* --- the fit --------------------------------------------------------------------- */

static Frame
find_frame (const gdouble *values, guint n)
{
  const guint stride = sizeof (PbfPositionPair) / sizeof (gdouble);
  Frame frame = { 0, 0, 0 };

  for (guint i = 0; i < n; i++) {
    frame.x += values[stride * i] / n;
    frame.y += values[stride * i + 1] / n;
  }
  for (guint i = 0; i < n; i++)
    frame.scale += pow (values[stride * i] - frame.x, 2) / n
                   + pow (values[stride * i + 1] - frame.y, 2) / n;
  frame.scale = frame.scale > 0 ? sqrt (frame.scale / 2) : 1;
  return frame;
}

/* From micrometres to pixels, with the last number 1 if it is not near 0 */
static PbfCalibration
make_calibration (const Fit *fit, const gdouble h[8])
{
  const Frame *p = &fit->plate, *q = &fit->picture;
  const gdouble m[9] = { h[0], h[1], h[2], h[3], h[4], h[5], h[6], h[7], 1 };
  PbfCalibration calibration;
  gdouble a[9], *c = calibration.h;

  for (guint r = 0; r < 3; r++) {
    a[3 * r] = m[3 * r] / p->scale;
    a[3 * r + 1] = m[3 * r + 1] / p->scale;
    a[3 * r + 2] = m[3 * r + 2] - a[3 * r] * p->x - a[3 * r + 1] * p->y;
  }
  for (guint i = 0; i < 3; i++) {
    c[i] = q->scale * a[i] + q->x * a[6 + i];
    c[3 + i] = q->scale * a[3 + i] + q->y * a[6 + i];
    c[6 + i] = a[6 + i];
  }
  if (fabs (c[8]) > 1e-6)
    for (guint i = 0; i < 9; i++)
      c[i] = i == 8 ? 1 : c[i] / c[8];
  return calibration;
}

static void
describe_residuals (const Fit *fit, PbfCalibrationFit *result)
{
  gdouble *used = g_new (gdouble, MAX (result->used, 1)), squares = 0;
  guint m = 0;

  for (guint i = 0; i < fit->n; i++) {
    if (!fit->used[i])
      continue;
    used[m++] = fit->residuals[i];
    squares += fit->residuals[i] * fit->residuals[i];
  }
  result->median_px = sort_residuals (used, m);
  result->largest_px = m > 0 ? used[m - 1] : 0;
  result->rms_px = sqrt (squares / MAX (m, 1));
  g_free (used);
}

static gboolean
check_spread (const Fit *fit, gboolean all, GError **error)
{
  const gdouble spread = measure_spread (fit, all);

  if (spread >= MIN_SPREAD_PX)
    return TRUE;
  return cvis_refuse (error,
      "the positions do not determine a calibration: they are nearly on a line "
      "(%.2g pixels across it, at least %d are needed). Record a whole layer",
      spread, MIN_SPREAD_PX);
}

static gboolean
check_corners (const Fit *fit, const gdouble h[8], PbfCalibrationFit *result,
    GError **error)
{
  const gdouble sigma = sqrt (0.5 * result->rms_px * result->rms_px
                              * result->used / (result->used - 4.5));

  result->corner_error_px =
      measure_corner_error (fit, h, MAX (sigma, MIN_SIGMA_PX));
  if (result->corner_error_px <= MAX_CORNER_ERROR_PX)
    return TRUE;
  return cvis_refuse (error,
      "the positions do not determine a calibration: its standard error in a "
      "corner of them is %.3g pixels, at most %d is accepted. Record positions "
      "that cover an area, such as a whole layer",
      result->corner_error_px, MAX_CORNER_ERROR_PX);
}

static gboolean
fit_pairs (Fit *fit, PbfCalibrationFit *result, GError **error)
{
  gdouble h[8], median;

  if (!check_spread (fit, TRUE, error))
    return FALSE;
  if (!find_least_median (fit, h, &median))
    return cvis_refuse (error, "the positions do not determine a calibration: "
                               "they are on a line or in "
                               "few points. Record a whole layer");
  for (guint round = 0; round < MAX_ROUNDS; round++) {
    if (!choose_pairs (fit, h, median, &result->limit_px, &result->used)
        && round > 0)
      break;
    if (median > MAX_RELATIVE_MEDIAN * fit->picture.scale)
      return cvis_refuse (error,
          "positions of laser and melt pool do not belong together: the median "
          "residual is %.3g pixels, more than a quarter of the positions' "
          "standard "
          "deviation of %.3g pixels. Check that signals and frames belong "
          "together "
          "(signal delay), and that the melt pool is found (threshold)",
          median, fit->picture.scale);
    if (result->used < PBF_FIT_MIN_PAIRS)
      return cvis_refuse (error,
          "only %u of %u positions agree with one calibration, at least %d are "
          "needed. Record more frames with the laser on",
          result->used, fit->n, PBF_FIT_MIN_PAIRS);
    if (!refine_homography (fit, h))
      return cvis_refuse (error,
          "the positions do not determine a calibration: its equations are "
          "singular. Record positions that cover an area, such as a whole "
          "layer");
    median = median_of_all (fit, h);
  }
  for (guint i = 0; i < fit->n; i++)
    fit->residuals[i] = measure_residual (fit, h, i);
  describe_residuals (fit, result);
  result->calibration = make_calibration (fit, h);
  result->lag_um = fit->lag * fit->plate.scale;
  result->lag_known = fit->n_unknowns > N_HOMOGRAPHY;
  return check_spread (fit, FALSE, error)
         && check_corners (fit, h, result, error);
}

gboolean
pbf_calibration_fit (const PbfPositionPair *pairs, guint n,
    PbfCalibrationFit *result, gdouble *residuals, GError **error)
{
  Fit fit = { .pairs = pairs, .n = n, .residuals = residuals };
  gboolean ok;

  *result = (PbfCalibrationFit){ 0 };
  if (n < PBF_FIT_MIN_PAIRS)
    return cvis_refuse (error,
        "%u positions are too few for a calibration, at least %u are needed. "
        "Record more frames with the laser on",
        n, PBF_FIT_MIN_PAIRS);
  for (guint i = 0; i < n; i++)
    if (!isfinite (pairs[i].x_um) || !isfinite (pairs[i].y_um)
        || !isfinite (pairs[i].x_px) || !isfinite (pairs[i].y_px)
        || !isfinite (pairs[i].x_direction) || !isfinite (pairs[i].y_direction))
      return cvis_refuse (error, "position %u of %u is not finite", i + 1, n);
  fit.plate = find_frame (&pairs->x_um, n);
  fit.picture = find_frame (&pairs->x_px, n);
  fit.n_unknowns = has_directions (&fit) ? N_UNKNOWNS : N_HOMOGRAPHY;
  fit.used = g_new0 (gboolean, n);
  ok = fit_pairs (&fit, result, error);
  g_free (fit.used);
  return ok;
}

gchar *
pbf_calibration_format (const PbfCalibration *calibration)
{
  GString *text = g_string_new (NULL);
  gchar number[G_ASCII_DTOSTR_BUF_SIZE];

  for (guint i = 0; i < 9; i++) {
    gdouble back;

    /* the shortest of 15 to 17 digits that reads back */
    for (guint digits = 15; digits <= 17; digits++) {
      gchar format[8];

      g_snprintf (format, sizeof format, "%%.%ug", digits);
      g_ascii_formatd (number, sizeof number, format, calibration->h[i]);
      back = g_ascii_strtod (number, NULL);
      if (back == calibration->h[i])
        break;
    }
    g_string_append_printf (text, "%s%s", i > 0 ? "," : "", number);
  }
  return g_string_free (text, FALSE);
}
