/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The alignment is that of B. K. P. Horn, Closed-form solution of absolute orientation
 * using unit quaternions (JOSA A 4, 1987), section 4, with the scale of S. Umeyama (PAMI
 * 13, 1991), equation 42. */
#include "cuda/bundle/colmap/priors.h"

#include <math.h>
#include <string.h>

#include "cuda/bundle/arithmetic.h"
#include "cuda/bundle/colmap/names.h"
#include "cuda/bundle/colmap/parts.h"
#include "cuda/bundle/turn.h"

#define LARGEST 1e100
#define SWEEPS 50
/* A second extent of the positions, relative to the first, below which they lie on a
 * line; both are squares */
#define LINE 1e-8

/* --- reading ------------------------------------------------------------------------- */

static gboolean
are_finite (const gdouble *values, guint n)
{
  for (guint i = 0; i < n; i++)
    if (!(fabs (values[i]) <= LARGEST))
      return FALSE;
  return TRUE;
}

/* Whether the leading minors are positive */
static gboolean
is_positive (const gdouble c[6])
{
  const gdouble second = c[0] * c[3] - c[1] * c[1];
  const gdouble third = c[0] * (c[3] * c[5] - c[4] * c[4])
                        - c[1] * (c[1] * c[5] - c[4] * c[2])
                        + c[2] * (c[1] * c[4] - c[3] * c[2]);

  return c[0] > 0 && second > 0 && third > 0 && third < G_MAXDOUBLE;
}

gboolean
bundle_model_add_prior (BundleModel *model, guint image,
    const gdouble position[3], const gdouble *covariance, gdouble deviation,
    GError **error)
{
  const gdouble square = deviation * deviation;
  const gdouble own[6] = { square, 0, 0, square, 0, square };
  const gdouble *all = covariance ? covariance : own;
  BundleModelPrior prior = { .image = image };
  const guint32 id = model->images[image].id;

  if (!are_finite (position, 3) || !are_finite (all, 6))
    return cvis_refuse (
        error, "a number of the prior of image %u is not finite", id);
  if (!is_positive (all))
    return cvis_refuse (error,
        "the covariance of the prior of image %u is not positive definite", id);
  if (model->priors == NULL)
    model->priors = g_array_new (FALSE, FALSE, sizeof prior);
  for (guint i = 0; i < model->priors->len; i++)
    if (g_array_index (model->priors, BundleModelPrior, i).image == image)
      return cvis_refuse (error, "image %u has two priors", id);
  memcpy (prior.position, position, sizeof prior.position);
  bundle_invert_3 (all, prior.information);
  g_array_append_val (model->priors, prior);
  return TRUE;
}

static gboolean
scan_prior (BundleScanner *s, BundleModel *model, const BundleModelNames *names,
    gdouble deviation, GError **error)
{
  gdouble position[3], deviations[3] = { deviation, deviation, deviation };
  const gchar *at = s->at;
  g_autoptr (GError) fault = NULL;
  guint image;

  if (!bundle_model_names_scan (names, s, &image, error)
      || !bundle_scan_numbers (s, "X Y Z", position, 3, error)
      || (bundle_scan_more (s)
          && !bundle_scan_numbers (s, "SX SY SZ", deviations, 3, error)))
    return FALSE;
  if (bundle_scan_more (s))
    return bundle_scan_fault (
        s, s->at, "end of the line", error, "text follows");
  return bundle_model_add_prior (model, image, position,
             (const gdouble[]){ deviations[0] * deviations[0], 0, 0,
                 deviations[1] * deviations[1], 0,
                 deviations[2] * deviations[2] },
             0, &fault)
         || bundle_scan_fault (s, at, "prior", error, "%s", fault->message);
}

gboolean
bundle_model_read_priors (BundleModel *model, const gchar *data, gsize size,
    gdouble deviation, GError **error)
{
  BundleScanner s = bundle_scan_new ("", data, size, TRUE);
  BundleModelNames *names = bundle_model_names_new (model);
  gboolean ok = TRUE;

  for (; ok && bundle_scan_line (&s); bundle_scan_skip_line (&s))
    ok = scan_prior (&s, model, names, deviation, error);
  bundle_model_names_free (names);
  return ok;
}

/* --- alignment ------------------------------------------------------------------------ */

void
bundle_model_image_position (const BundleModelImage *image, gdouble position[3])
{
  gdouble inverse[4];

  bundle_turn_invert (image->q, inverse);
  bundle_turn_vector (inverse, image->t, position);
  for (guint k = 0; k < 3; k++)
    position[k] = -position[k];
}

gdouble
bundle_model_prior_rms (const BundleModel *model)
{
  const guint n = model->priors ? model->priors->len : 0;
  gdouble sum = 0;

  for (guint i = 0; i < n; i++) {
    const BundleModelPrior *prior =
        &g_array_index (model->priors, BundleModelPrior, i);
    gdouble position[3];

    bundle_model_image_position (&model->images[prior->image], position);
    for (guint k = 0; k < 3; k++)
      sum += (position[k] - prior->position[k])
             * (position[k] - prior->position[k]);
  }
  return sqrt (sum / MAX (n, 1));
}

/* Eigenvalues to the diagonal of the symmetric @a, and eigenvectors to the columns of
 * @v, by Jacobi rotations; both n x n */
static void
diagonalise (gdouble *a, gdouble *v, guint n)
{
  for (guint i = 0; i < n * n; i++)
    v[i] = i % (n + 1) == 0;
  for (guint sweep = 0; sweep < SWEEPS; sweep++)
    for (guint p = 0; p < n; p++)
      for (guint q = p + 1; q < n; q++) {
        gdouble theta, t, c, s;

        if (a[p * n + q] == 0)
          continue;
        theta = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
        t = copysign (1, theta) / (fabs (theta) + sqrt (theta * theta + 1));
        c = 1 / sqrt (t * t + 1);
        s = t * c;
        for (guint k = 0; k < n; k++) {
          const gdouble x = a[k * n + p], y = a[k * n + q];

          a[k * n + p] = c * x - s * y;
          a[k * n + q] = s * x + c * y;
        }
        for (guint k = 0; k < n; k++) {
          const gdouble x = a[p * n + k], y = a[q * n + k];
          const gdouble vx = v[k * n + p], vy = v[k * n + q];

          a[p * n + k] = c * x - s * y;
          a[q * n + k] = s * x + c * y;
          v[k * n + p] = c * vx - s * vy;
          v[k * n + q] = s * vx + c * vy;
        }
      }
}

/* Sums over pairs of positions, relative to the means */
typedef struct {
  gdouble from[3], to[3]; /* means */
  gdouble cross[9];       /* sums of x y^T */
  gdouble spread[9];      /* of y y^T */
  gdouble square;         /* of |x|^2 */
} Moments;

static Moments
sum_moments (const gdouble *from, const gdouble *to, guint n)
{
  Moments m = { { 0 } };

  for (guint i = 0; i < 3 * n; i++) {
    m.from[i % 3] += from[i] / n;
    m.to[i % 3] += to[i] / n;
  }
  for (guint i = 0; i < n; i++) {
    gdouble x[3], y[3];

    for (guint k = 0; k < 3; k++) {
      x[k] = from[3 * i + k] - m.from[k];
      y[k] = to[3 * i + k] - m.to[k];
      m.square += x[k] * x[k];
    }
    for (guint k = 0; k < 9; k++) {
      m.cross[k] += x[k / 3] * y[k % 3];
      m.spread[k] += y[k / 3] * y[k % 3];
    }
  }
  return m;
}

static gboolean
are_on_a_line (const Moments *m)
{
  gdouble a[9], v[9], largest, least, sum;

  memcpy (a, m->spread, sizeof a);
  diagonalise (a, v, 3);
  sum = a[0] + a[4] + a[8];
  largest = MAX (MAX (a[0], a[4]), a[8]);
  least = MIN (MIN (a[0], a[4]), a[8]);
  return !(sum - largest - least > LINE * largest) || !(m->square > 0);
}

static BundleAlignment
find_alignment (const Moments *m)
{
  const gdouble *s = m->cross;
  gdouble a[16] = { s[0] + s[4] + s[8], s[5] - s[7], s[6] - s[2], s[1] - s[3],
    0, s[0] - s[4] - s[8], s[1] + s[3], s[6] + s[2], 0, 0, s[4] - s[0] - s[8],
    s[5] + s[7], 0, 0, 0, s[8] - s[0] - s[4] };
  gdouble v[16], turned[3], product = 0;
  BundleAlignment found;
  guint best = 0;

  for (guint i = 0; i < 4; i++)
    for (guint j = 0; j < i; j++)
      a[4 * i + j] = a[4 * j + i];
  diagonalise (a, v, 4);
  for (guint i = 1; i < 4; i++)
    if (a[5 * i] > a[5 * best])
      best = i;
  for (guint i = 0; i < 4; i++)
    found.q[i] = v[4 * i + best];
  for (guint k = 0; k < 3; k++) { /* trace of R times the sum of x y^T */
    bundle_turn_vector (
        found.q, (const gdouble[]){ s[k], s[3 + k], s[6 + k] }, turned);
    product += turned[k];
  }
  found.scale = product / m->square;
  bundle_turn_vector (found.q, m->from, turned);
  for (guint k = 0; k < 3; k++)
    found.t[k] = m->to[k] - found.scale * turned[k];
  return found;
}

gboolean
bundle_align_positions (const gdouble *from, const gdouble *to, guint n,
    BundleAlignment *found, GError **error)
{
  Moments moments;

  if (n < 3)
    return cvis_refuse (
        error, "%u images of the model have a position, 3 are needed", n);
  moments = sum_moments (from, to, n);
  if (are_on_a_line (&moments))
    return cvis_refuse (error,
        "the positions of %u images lie on a line, so that they do not "
        "determine a rotation",
        n);
  *found = find_alignment (&moments);
  return (found->scale > 0 && isfinite (found->scale))
         || cvis_refuse (error,
             "the positions do not fit the model: the best scale is %g",
             found->scale);
}

/* @q, @t: of an image or a frame, world to camera */
static void
align_pose (const BundleAlignment *by, gdouble q[4], gdouble t[3])
{
  gdouble inverse[4], moved[4], turned[3];

  bundle_turn_invert (by->q, inverse);
  bundle_turn_multiply (q, inverse, moved);
  bundle_turn_normalise (moved);
  bundle_turn_vector (moved, by->t, turned);
  memcpy (q, moved, sizeof moved);
  for (guint k = 0; k < 3; k++)
    t[k] = by->scale * t[k] - turned[k];
}

static void
move_model (BundleModel *model, const BundleAlignment *by)
{
  gdouble turned[3];

  for (guint i = 0; i < model->n_images; i++) {
    BundleModelImage *image = &model->images[i];

    align_pose (by, image->q, image->t);
    image->moved = TRUE;
  }
  for (guint i = 0; model->rig && i < model->frame_list->len; i++) {
    BundleModelPlace *frame =
        &g_array_index (model->frame_list, BundleModelPlace, i);

    if (!bundle_model_is_place (frame))
      continue;
    align_pose (by, frame->q, frame->t);
    frame->moved = TRUE;
  }
  for (guint i = 0; model->rig && i < model->sensor_list->len; i++) {
    BundleModelPlace *sensor =
        &g_array_index (model->sensor_list, BundleModelPlace, i);

    for (guint k = 0; k < 3; k++)
      sensor->t[k] *= by->scale;
    sensor->moved = TRUE;
  }
  for (gsize i = 0; i < model->n_points; i++) {
    gdouble *x = model->points[i].x;

    bundle_turn_vector (by->q, x, turned);
    for (guint k = 0; k < 3; k++)
      x[k] = by->scale * turned[k] + by->t[k];
  }
}

gboolean
bundle_model_align (BundleModel *model, GError **error)
{
  const guint n = model->priors ? model->priors->len : 0;
  g_autofree gdouble *from = g_new (gdouble, 3 * (gsize) n + 1);
  g_autofree gdouble *to = g_new (gdouble, 3 * (gsize) n + 1);
  BundleAlignment alignment;

  if (model->rig)
    bundle_model_correct_images (model);
  for (guint i = 0; i < n; i++) {
    const BundleModelPrior *prior =
        &g_array_index (model->priors, BundleModelPrior, i);

    bundle_model_image_position (&model->images[prior->image], from + 3 * i);
    memcpy (to + 3 * i, prior->position, sizeof prior->position);
  }
  if (!bundle_align_positions (from, to, n, &alignment, error))
    return FALSE;
  move_model (model, &alignment);
  return TRUE;
}
