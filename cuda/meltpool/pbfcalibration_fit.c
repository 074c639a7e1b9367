/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A homography from pairs of points. R. Hartley, A. Zisserman, Multiple View
 * Geometry in Computer Vision, 2nd edition: normalised DLT (algorithm 4.2),
 * RANSAC (4.4 to 4.6), refinement of the reprojection error (4.2.3, A6). */
#include "pbfcalibration.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ROUNDS 2000  /* of RANSAC */
#define CONFIDENCE 0.999 /* of having drawn four inliers once */
#define SEED G_GUINT64_CONSTANT (0x9e3779b97f4a7c15)

/* In normalised coordinates, whose median distance from the origin is sqrt (2):
 * three points of a sample whose triangle has less than this area count as
 * collinear, and so do all points whose spread across their line is less than
 * this share of that along it. */
#define FLAT_SAMPLE 1e-3
#define FLAT_POINTS 1e-5

/* The design matrix of points in general position has one singular value near
 * zero, the solution's; the share of the largest that the next one must reach,
 * squared, for the solution to be the only one. */
#define SECOND_EIGENVALUE 1e-12

typedef gdouble Point[2];

/* What is fitted: points scaled so that both sides are about 1. */
typedef struct {
  Point *from, *to;
  guint n;
  gdouble tolerance; /* in the units of @to */
  gboolean *inlier;
  guint n_inliers;
  guint64 random;
} Fit;

typedef struct {
  gdouble x, y, scale;
} Scaling;

/* splitmix64: the same draws on every machine. */
static guint
draw (Fit *fit, guint below)
{
  guint64 z = fit->random += SEED;

  z = (z ^ z >> 30) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  z ^= z >> 31;
  return (z >> 32) * below >> 32;
}

/* --- linear algebra -------------------------------------------------------- */

/* One rotation that makes @a[p][q] zero; @v collects the rotations. */
static void
jacobi_rotate (gdouble a[9][9], gdouble v[9][9], guint p, guint q)
{
  gdouble theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
  gdouble t = copysign (1, theta) / (fabs (theta) + hypot (theta, 1));
  gdouble c = 1 / sqrt (t * t + 1), s = t * c;

  for (guint k = 0; k < 9; k++) {
    gdouble kp = a[k][p], kq = a[k][q];
    a[k][p] = c * kp - s * kq;
    a[k][q] = s * kp + c * kq;
  }
  for (guint k = 0; k < 9; k++) {
    gdouble pk = a[p][k], qk = a[q][k];
    a[p][k] = c * pk - s * qk;
    a[q][k] = s * pk + c * qk;
  }
  for (guint k = 0; k < 9; k++) {
    gdouble kp = v[k][p], kq = v[k][q];
    v[k][p] = c * kp - s * kq;
    v[k][q] = s * kp + c * kq;
  }
}

/* Eigenvector of the smallest eigenvalue of the symmetric, positive matrix @a
 * (destroyed). Returns: FALSE if the second smallest is as good as zero, too. */
static gboolean
smallest_eigenvector (gdouble a[9][9], gdouble vector[9])
{
  gdouble v[9][9] = { { 0 } }, largest = 0, second = G_MAXDOUBLE;
  guint smallest = 0;

  for (guint i = 0; i < 9; i++)
    v[i][i] = 1;
  for (guint sweep = 0; sweep < 30; sweep++) {
    gdouble off = 0, trace = 0;

    for (guint i = 0; i < 9; i++) {
      trace += a[i][i];
      for (guint j = i + 1; j < 9; j++)
        off += fabs (a[i][j]);
    }
    if (off <= 1e-18 * trace)
      break;
    for (guint p = 0; p < 9; p++)
      for (guint q = p + 1; q < 9; q++)
        if (a[p][q] != 0)
          jacobi_rotate (a, v, p, q);
  }
  for (guint i = 0; i < 9; i++) {
    largest = MAX (largest, a[i][i]);
    if (a[i][i] < a[smallest][smallest])
      smallest = i;
  }
  for (guint i = 0; i < 9; i++) {
    vector[i] = v[i][smallest];
    if (i != smallest)
      second = MIN (second, a[i][i]);
  }
  return second > SECOND_EIGENVALUE * largest;
}

/* Solves m * x = b for the symmetric, positive definite @m by Cholesky's
 * method. Returns: FALSE if it is not definite. */
static gboolean
solve_8 (gdouble m[8][8], gdouble b[8])
{
  for (guint i = 0; i < 8; i++)
    for (guint j = 0; j <= i; j++) {
      gdouble sum = m[i][j];

      for (guint k = 0; k < j; k++)
        sum -= m[i][k] * m[j][k];
      if (i > j)
        m[i][j] = sum / m[j][j];
      else if (sum > 0)
        m[i][i] = sqrt (sum);
      else
        return FALSE;
    }
  for (guint i = 0; i < 8; i++) {
    for (guint k = 0; k < i; k++)
      b[i] -= m[i][k] * b[k];
    b[i] /= m[i][i];
  }
  for (guint i = 8; i-- > 0;) {
    for (guint k = i + 1; k < 8; k++)
      b[i] -= m[k][i] * b[k];
    b[i] /= m[i][i];
  }
  return TRUE;
}

static void
multiply (const gdouble a[9], const gdouble b[9], gdouble out[9])
{
  for (guint r = 0; r < 3; r++)
    for (guint c = 0; c < 3; c++)
      out[3 * r + c] =
          a[3 * r] * b[c] + a[3 * r + 1] * b[3 + c] + a[3 * r + 2] * b[6 + c];
}

/* --- points ---------------------------------------------------------------- */

static gint
compare_doubles (gconstpointer a, gconstpointer b)
{
  gdouble x = *(const gdouble *) a, y = *(const gdouble *) b;

  return (x > y) - (x < y);
}

static gdouble
median (gdouble *values, guint n)
{
  qsort (values, n, sizeof *values, compare_doubles);
  return values[n / 2];
}

/* Moves the median to the origin and scales the median distance from it to
 * sqrt (2): as Hartley's normalisation with means, but outliers do not matter.
 * Returns: FALSE if most points are one. */
static gboolean
normalise (const Point *points, guint n, Point *out, Scaling *s)
{
  gdouble *values = g_new (gdouble, n), distance;

  for (guint i = 0; i < n; i++)
    values[i] = points[i][0];
  s->x = median (values, n);
  for (guint i = 0; i < n; i++)
    values[i] = points[i][1];
  s->y = median (values, n);
  for (guint i = 0; i < n; i++)
    values[i] = hypot (points[i][0] - s->x, points[i][1] - s->y);
  distance = median (values, n);
  g_free (values);
  if (!(distance > 1e-12 * (fabs (s->x) + fabs (s->y))) || !isfinite (distance))
    return FALSE;

  s->scale = G_SQRT2 / distance;
  for (guint i = 0; i < n; i++) {
    out[i][0] = (points[i][0] - s->x) * s->scale;
    out[i][1] = (points[i][1] - s->y) * s->scale;
  }
  return TRUE;
}

/* Whether the inliers among @points lie on one line. */
static gboolean
is_flat (const Fit *fit, const Point *points)
{
  gdouble x = 0, y = 0, xx = 0, xy = 0, yy = 0, half, root;

  for (guint i = 0; i < fit->n; i++)
    if (fit->inlier[i]) {
      x += points[i][0] / fit->n_inliers;
      y += points[i][1] / fit->n_inliers;
    }
  for (guint i = 0; i < fit->n; i++)
    if (fit->inlier[i]) {
      xx += (points[i][0] - x) * (points[i][0] - x);
      xy += (points[i][0] - x) * (points[i][1] - y);
      yy += (points[i][1] - y) * (points[i][1] - y);
    }
  half = (xx + yy) / 2;
  root = hypot ((xx - yy) / 2, xy);
  return half - root <= FLAT_POINTS * FLAT_POINTS * (half + root);
}

static gboolean
is_flat_sample (const Point *points, const guint sample[4])
{
  for (guint skip = 0; skip < 4; skip++) {
    const gdouble *a = points[sample[(skip + 1) % 4]];
    const gdouble *b = points[sample[(skip + 2) % 4]];
    const gdouble *c = points[sample[(skip + 3) % 4]];
    gdouble area =
        (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);

    if (fabs (area) < FLAT_SAMPLE)
      return TRUE;
  }
  return FALSE;
}

/* Squared distance from where @h maps point @i to where it belongs. */
static gdouble
squared_error (const Fit *fit, const gdouble h[9], guint i)
{
  gdouble x = fit->from[i][0], y = fit->from[i][1];
  gdouble w = h[6] * x + h[7] * y + h[8];
  gdouble u = (h[0] * x + h[1] * y + h[2]) / w - fit->to[i][0];
  gdouble v = (h[3] * x + h[4] * y + h[5]) / w - fit->to[i][1];
  gdouble e = u * u + v * v;

  return isfinite (e) ? e : G_MAXDOUBLE;
}

/* Of the inliers. */
static gdouble
sum_of_squares (const Fit *fit, const gdouble h[9])
{
  gdouble sum = 0;

  for (guint i = 0; i < fit->n; i++)
    if (fit->inlier[i])
      sum += squared_error (fit, h, i);
  return sum;
}

/* --- fits ------------------------------------------------------------------ */

/* The matrix that maps the projective basis (1,0,0), (0,1,0), (0,0,1), (1,1,1)
 * to four points of which no three are collinear: their coordinates as columns,
 * each times its share in the fourth. */
static void
basis_to_points (const Point *points, const guint sample[4], gdouble m[9])
{
  const gdouble *d = points[sample[3]];

  for (guint i = 0; i < 3; i++) {
    const gdouble *p = points[sample[i]];
    const gdouble *q = points[sample[(i + 1) % 3]];
    const gdouble *r = points[sample[(i + 2) % 3]];
    gdouble share =
        (q[0] - d[0]) * (r[1] - d[1]) - (q[1] - d[1]) * (r[0] - d[0]);

    m[i] = share * p[0];
    m[3 + i] = share * p[1];
    m[6 + i] = share;
  }
}

/* The inverse, times the determinant. */
static void
adjugate (const gdouble m[9], gdouble out[9])
{
  for (guint r = 0; r < 3; r++)
    for (guint c = 0; c < 3; c++) {
      const gdouble *a = m + 3 * ((c + 1) % 3), *b = m + 3 * ((c + 2) % 3);
      guint i = (r + 1) % 3, j = (r + 2) % 3;

      out[3 * r + c] = a[i] * b[j] - a[j] * b[i];
    }
}

/* The homography that maps four points exactly. */
static void
fit_sample (const Fit *fit, const guint sample[4], gdouble h[9])
{
  gdouble from[9], to[9], back[9];

  basis_to_points (fit->from, sample, from);
  basis_to_points (fit->to, sample, to);
  adjugate (from, back);
  multiply (to, back, h);
}

/* Adds the two equations of a pair to the normal matrix of the DLT. */
static void
dlt_add (gdouble m[9][9], const gdouble from[2], const gdouble to[2])
{
  gdouble x = from[0], y = from[1], u = to[0], v = to[1];
  gdouble rows[2][9] = {
    { x, y, 1, 0, 0, 0, -u * x, -u * y, -u },
    { 0, 0, 0, x, y, 1, -v * x, -v * y, -v },
  };

  for (guint r = 0; r < 2; r++)
    for (guint i = 0; i < 9; i++)
      for (guint j = 0; j < 9; j++)
        m[i][j] += rows[r][i] * rows[r][j];
}

static gboolean
dlt_inliers (const Fit *fit, gdouble h[9])
{
  gdouble m[9][9] = { { 0 } };

  for (guint i = 0; i < fit->n; i++)
    if (fit->inlier[i])
      dlt_add (m, fit->from[i], fit->to[i]);
  return smallest_eigenvector (m, h);
}

/* Adds a pair's share to the normal equations of the reprojection error, all
 * nine entries of @h taken as unknowns. */
static void
gauss_newton_add (const Fit *fit, const gdouble h[9], guint i,
    gdouble jtj[9][9], gdouble jtr[9])
{
  gdouble x = fit->from[i][0], y = fit->from[i][1];
  gdouble w = h[6] * x + h[7] * y + h[8];
  gdouble u = (h[0] * x + h[1] * y + h[2]) / w;
  gdouble v = (h[3] * x + h[4] * y + h[5]) / w;
  gdouble residual[2] = { u - fit->to[i][0], v - fit->to[i][1] };
  gdouble a = x / w, b = y / w, c = 1 / w;
  gdouble j[2][9] = {
    { a, b, c, 0, 0, 0, -u * a, -u * b, -u * c },
    { 0, 0, 0, a, b, c, -v * a, -v * b, -v * c },
  };

  for (guint r = 0; r < 2; r++)
    for (guint k = 0; k < 9; k++) {
      jtr[k] += j[r][k] * residual[r];
      for (guint l = 0; l < 9; l++)
        jtj[k][l] += j[r][k] * j[r][l];
    }
}

/* One step; the largest entry of @h stays, as the scale of @h is free.
 * Returns: FALSE if there is no better @h to be had. */
static gboolean
gauss_newton_step (const Fit *fit, gdouble h[9], gdouble *error)
{
  gdouble jtj[9][9] = { { 0 } }, jtr[9] = { 0 }, m[8][8], step[8];
  guint fixed = 0;

  for (guint k = 1; k < 9; k++)
    if (fabs (h[k]) > fabs (h[fixed]))
      fixed = k;
  for (guint i = 0; i < fit->n; i++)
    if (fit->inlier[i])
      gauss_newton_add (fit, h, i, jtj, jtr);
  for (guint k = 0; k < 8; k++) {
    step[k] = jtr[k + (k >= fixed)];
    for (guint l = 0; l < 8; l++)
      m[k][l] = jtj[k + (k >= fixed)][l + (l >= fixed)];
  }
  if (!solve_8 (m, step))
    return FALSE;

  for (gdouble length = 1; length > 1e-3; length /= 2) {
    gdouble moved[9], e;

    memcpy (moved, h, sizeof moved);
    for (guint k = 0; k < 8; k++)
      moved[k + (k >= fixed)] -= length * step[k];
    e = sum_of_squares (fit, moved);
    if (e < *error) {
      gboolean worth_more = e < *error * (1 - 1e-12);
      memcpy (h, moved, sizeof moved);
      *error = e;
      return worth_more;
    }
  }
  return FALSE;
}

static void
refine (const Fit *fit, gdouble h[9])
{
  gdouble error = sum_of_squares (fit, h);

  for (guint i = 0; i < 20; i++)
    if (!gauss_newton_step (fit, h, &error))
      break;
}

/* --- RANSAC ---------------------------------------------------------------- */

static gdouble
tolerance_squared (const Fit *fit)
{
  return fit->tolerance * fit->tolerance;
}

static guint
count_inliers (const Fit *fit, const gdouble h[9])
{
  guint n = 0;

  for (guint i = 0; i < fit->n; i++)
    n += squared_error (fit, h, i) <= tolerance_squared (fit);
  return n;
}

/* Returns: whether some point changed sides. */
static gboolean
mark_inliers (Fit *fit, const gdouble h[9])
{
  gboolean changed = FALSE;

  fit->n_inliers = 0;
  for (guint i = 0; i < fit->n; i++) {
    gboolean is = squared_error (fit, h, i) <= tolerance_squared (fit);
    changed |= is != fit->inlier[i];
    fit->inlier[i] = is;
    fit->n_inliers += is;
  }
  return changed;
}

static void
draw_sample (Fit *fit, guint sample[4])
{
  for (guint i = 0; i < 4; i++) {
    gboolean again;

    do {
      again = FALSE;
      sample[i] = draw (fit, fit->n);
      for (guint j = 0; j < i; j++)
        again |= sample[j] == sample[i];
    } while (again);
  }
}

/* Draws after which four inliers have come up once, if so many are inliers. */
static guint
rounds_needed (const Fit *fit, guint inliers)
{
  gdouble all = pow ((gdouble) inliers / fit->n, 4);
  gdouble rounds;

  if (all >= 1)
    return 1;
  rounds = ceil (log (1 - CONFIDENCE) / log1p (-all));
  return rounds < MAX_ROUNDS ? rounds : MAX_ROUNDS;
}

/* Returns: FALSE if no four points were drawn that determine a homography. */
static gboolean
ransac (Fit *fit, gdouble best[9])
{
  guint most = 0, needed = MAX_ROUNDS;

  for (guint round = 0; round < needed; round++) {
    guint sample[4], inliers;
    gdouble h[9];

    draw_sample (fit, sample);
    if (is_flat_sample (fit->from, sample) || is_flat_sample (fit->to, sample))
      continue;
    fit_sample (fit, sample, h);
    inliers = count_inliers (fit, h);
    if (inliers > most) {
      most = inliers;
      memcpy (best, h, 9 * sizeof *h);
      needed = MAX (round + 1, rounds_needed (fit, inliers));
    }
  }
  return most > 0;
}

/* --- all of it ------------------------------------------------------------- */

G_GNUC_PRINTF (2, 3)
static gboolean
refuse (GError **error, const gchar *format, ...)
{
  gchar *what;
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (
      error, CVIS_ERROR, CVIS_ERROR_INVALID, "calibration fit: %s", what);
  g_free (what);
  return FALSE;
}

static gboolean
check_points (const gdouble (*um)[2], const gdouble (*px)[2], guint n,
    gdouble tolerance_px, GError **error)
{
  if (n < 4)
    return refuse (error, "%u pairs of points, at least 4 are needed", n);
  if (!(tolerance_px > 0) || !isfinite (tolerance_px))
    return refuse (error, "tolerance is %g px, must be above 0", tolerance_px);
  for (guint i = 0; i < n; i++)
    if (!isfinite (um[i][0]) || !isfinite (um[i][1]) || !isfinite (px[i][0])
        || !isfinite (px[i][1]))
      return refuse (error, "pair %u is not finite", i);
  return TRUE;
}

/* Four points are fitted exactly whatever they are, so that more must agree
 * where there are more; and a homography that fits fewer than half is chance. */
static gboolean
check_inliers (const Fit *fit, GError **error)
{
  guint least = fit->n == 4 ? 4 : MAX (5, fit->n / 2 + 1);

  if (fit->n_inliers < least)
    return refuse (error,
        "only %u of %u pairs agree within the tolerance, at least %u must",
        fit->n_inliers, fit->n, least);
  if (is_flat (fit, fit->from))
    return refuse (error, "the points on the plate lie on one line");
  if (is_flat (fit, fit->to))
    return refuse (error, "the points in the frame lie on one line");
  return TRUE;
}

static gboolean
fit_normalised (Fit *fit, gdouble h[9], GError **error)
{
  if (!ransac (fit, h))
    return refuse (error, "the points lie on one line, or all but a few do:"
                          " there are no four of which no three do");

  mark_inliers (fit, h);
  for (guint round = 0; round < 10; round++) {
    if (!check_inliers (fit, error))
      return FALSE;
    if (!dlt_inliers (fit, h))
      return refuse (error, "the points do not determine a homography: all but"
                            " a few lie on one line");
    refine (fit, h);
    if (!mark_inliers (fit, h))
      break;
  }
  return check_inliers (fit, error);
}

/* From normalised coordinates back to micrometres and pixels. */
static void
denormalise (
    const gdouble h[9], const Scaling *um, const Scaling *px, gdouble out[9])
{
  gdouble from[9] = { um->scale, 0, -um->scale * um->x, 0, um->scale,
    -um->scale * um->y, 0, 0, 1 };
  gdouble to[9] = { 1 / px->scale, 0, px->x, 0, 1 / px->scale, px->y, 0, 0, 1 };
  gdouble half[9], largest = 0, scale;

  multiply (h, from, half);
  multiply (to, half, out);
  for (guint i = 0; i < 9; i++)
    largest = MAX (largest, fabs (out[i]));
  /* the last entry is 1 unless the plate's origin lies near the horizon */
  scale = fabs (out[8]) > 1e-9 * largest ? out[8] : largest;
  for (guint i = 0; i < 9; i++)
    out[i] /= scale;
}

static gboolean
is_usable (const PbfCalibration *calibration)
{
  for (guint i = 0; i < 9; i++)
    if (!isfinite (calibration->h[i]))
      return FALSE;
  return !pbf_calibration_is_singular (calibration);
}

gboolean
pbf_calibration_fit (const gdouble (*um)[2], const gdouble (*px)[2], guint n,
    gdouble tolerance_px, PbfCalibration *calibration, gdouble *residual_px,
    guint *n_inliers, GError **error)
{
  Fit fit = { .n = n, .random = SEED };
  PbfCalibration fitted;
  Scaling from, to;
  gdouble h[9];
  gboolean ok;

  if (!check_points (um, px, n, tolerance_px, error))
    return FALSE;
  fit.from = g_new (Point, n);
  fit.to = g_new (Point, n);
  fit.inlier = g_new0 (gboolean, n);
  if (!normalise (um, n, fit.from, &from))
    ok = refuse (error, "most points on the plate are the same");
  else if (!normalise (px, n, fit.to, &to))
    ok = refuse (error, "most points in the frame are the same");
  else {
    fit.tolerance = tolerance_px * to.scale;
    ok = fit_normalised (&fit, h, error);
  }
  if (ok) {
    denormalise (h, &from, &to, fitted.h);
    if (!is_usable (&fitted))
      ok = refuse (error, "the best homography is singular");
  }
  if (ok) {
    *calibration = fitted;
    if (residual_px)
      *residual_px = sqrt (sum_of_squares (&fit, h) / fit.n_inliers) / to.scale;
    if (n_inliers)
      *n_inliers = fit.n_inliers;
  }
  g_free (fit.inlier);
  g_free (fit.to);
  g_free (fit.from);
  return ok;
}
