/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Priors of the positions of cameras with lenses (prior.h). */
#include "cuda/bundle/cpu/priors.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/bundle/prior.h"
#include "cuda/core/memory.h"

void
bundle_priors_free (BundleCpuPriors *priors)
{
  if (priors == NULL)
    return;
  free (priors->image_of);
  free (priors->block);
  free (priors->gradient);
  free (priors->by);
  g_free (priors);
}

#define NEW_PRIORS(to, n)                                                      \
  ((*(to) = cvis_memory_new ((gsize) (n) * sizeof **(to), TRUE, error)) != NULL)

gboolean
bundle_priors_new (BundleBackend *b, GError **error)
{
  BundleCpuPriors *p = b->priors = g_new0 (BundleCpuPriors, 1);
  const guint n_images = b->lenses->n_images;
  guint32 *image_of = NULL; /* of the problem's cameras */

  p->n = b->problem->n_priors;
  p->list = b->problem->priors;
  if (!NEW_PRIORS (&p->image_of, p->n) || !NEW_PRIORS (&p->block, n_images)
      || !NEW_PRIORS (&p->gradient, n_images)
      || (b->problem->frames && !NEW_PRIORS (&p->by, n_images))
      || !NEW_PRIORS (&image_of, n_images))
    return FALSE;
  for (guint32 i = 0; i < n_images; i++)
    image_of[bundle_cpu_image_at (b, i)] = i;
  for (guint i = 0; i < p->n; i++)
    p->image_of[i] = image_of[p->list[i].camera];
  free (image_of);
  return TRUE;
}

/* --- the step of an image ---------------------------------------------------------- */

static gboolean
is_placed (const BundleBackend *b, guint32 image)
{
  return bundle_lenses_of_image (b->lenses, image)->placed;
}

/* First column of the translation of the image's sensor in all vectors; 0: it is constant,
 * or the reference */
static gsize
find_sensor_columns (const BundleBackend *b, guint32 image)
{
  const BundleCpuLens *lens = bundle_lenses_of_image (b->lenses, image);

  return lens->placed && lens->n > 0
                 && lens->parameter[lens->n - 1] >= BUNDLE_LENS_SIZE
             ? lens->first + lens->n - 3
             : 0;
}

/* Translation of the step of the image's camera in the step @x */
static void
get_image_step (
    const BundleBackend *b, guint32 image, const gdouble *x, gdouble v[3])
{
  const gdouble *pose = x + 9 * (gsize) bundle_lenses_camera_of (b, image);
  const gsize sensor = find_sensor_columns (b, image);

  for (guint k = 0; k < 3; k++) {
    if (!is_placed (b, image)) {
      v[k] = pose[BUNDLE_CAMERA_TRANSLATION + k];
      continue;
    }
    v[k] = sensor > 0 ? x[sensor + k] : 0;
    for (guint e = 0; e < BUNDLE_POSE; e++)
      v[k] += b->priors->by[image][BUNDLE_POSE * k + e] * pose[e];
  }
}

/* Adds what @y of the image's camera is for its pose. */
static void
add_to_pose (const BundleBackend *b, guint32 image, const gdouble y[3],
    gdouble pose[BUNDLE_POSE])
{
  for (guint k = 0; k < 3; k++)
    if (is_placed (b, image))
      for (guint e = 0; e < BUNDLE_POSE; e++)
        pose[e] += b->priors->by[image][BUNDLE_POSE * k + e] * y[k];
    else
      pose[BUNDLE_CAMERA_TRANSLATION + k] += y[k];
}

/* Where the image's camera is. @by: (nullable) (out): 3 x 6 */
static void
place_image (const BundleBackend *b, guint32 image,
    const BundleConstants *constants, const BundleSensor *sensors,
    BundleConstants *c, gdouble *by)
{
  const BundleConstants *rig = &constants[bundle_lenses_camera_of (b, image)];
  BundleConstants sensor;
  gdouble all[36];

  *c = *rig;
  if (!is_placed (b, image))
    return;
  bundle_constants (sensors[b->lenses->image[image].lens].pose, &sensor);
  bundle_place_sensor (&sensor, rig, c);
  bundle_sensor_step (&sensor, all);
  if (by)
    memcpy (by, all + 3 * BUNDLE_POSE, 3 * BUNDLE_POSE * sizeof *by);
}

/* --- normal equations ---------------------------------------------------------------- */

/* The diagonal of J^T block J for the 3 x 6 J */
static void
add_diagonal (const gdouble block[9], const gdouble *by, gdouble *diagonal)
{
  for (guint e = 0; e < BUNDLE_POSE; e++)
    for (guint k = 0; k < 9; k++)
      diagonal[e] += by[BUNDLE_POSE * (k / 3) + e] * block[k]
                     * by[BUNDLE_POSE * (k % 3) + e];
}

gdouble
bundle_priors_linearize (BundleBackend *b)
{
  BundleCpuPriors *p = b->priors;
  const guint n_images = b->lenses->n_images;
  gdouble cost = 0;

  memset (p->block, 0, n_images * sizeof *p->block);
  memset (p->gradient, 0, n_images * sizeof *p->gradient);
  for (guint i = 0; i < p->n; i++) {
    const guint32 image = p->image_of[i];
    const gsize at = 9 * (gsize) bundle_lenses_camera_of (b, image);
    const gsize sensor = find_sensor_columns (b, image);
    gdouble block[9] = { 0 }, gradient[3] = { 0 };
    BundleConstants c;

    place_image (b, image, b->constants, b->lenses->sensors, &c,
        p->by ? p->by[image] : NULL);
    cost += bundle_prior_linearize (&p->list[i], &c, block, gradient);
    for (guint k = 0; k < 9; k++)
      p->block[image][k] += block[k];
    for (guint k = 0; k < 3; k++) {
      p->gradient[image][k] += gradient[k];
      if (!is_placed (b, image))
        b->diagonal[at + BUNDLE_CAMERA_TRANSLATION + k] += block[4 * k];
      if (sensor > 0) {
        b->gradient_c[sensor + k] += gradient[k];
        b->diagonal[sensor + k] += block[4 * k];
      }
    }
    add_to_pose (b, image, gradient, b->gradient_c + at);
    if (is_placed (b, image))
      add_diagonal (block, p->by[image], b->diagonal + at);
  }
  return cost;
}

gdouble
bundle_priors_cost (const BundleBackend *b)
{
  const BundleCpuPriors *p = b->priors;
  gdouble cost = 0, weighted[3];

  for (guint i = 0; i < p->n; i++) {
    BundleConstants c;

    place_image (b, p->image_of[i], b->eval_constants, b->lenses->eval_sensors,
        &c, NULL);
    cost += bundle_prior_cost (&p->list[i], &c, weighted);
  }
  return cost;
}

static void
multiply_block (const gdouble block[9], const gdouble v[3], gdouble y[3])
{
  for (guint i = 0; i < 9; i++)
    y[i / 3] += block[i] * v[i % 3];
}

gdouble
bundle_priors_model (const BundleBackend *b, const gdouble *x)
{
  const BundleCpuPriors *p = b->priors;
  gdouble decrease = 0;

  for (guint32 i = 0; i < b->lenses->n_images; i++) {
    gdouble v[3], product[3] = { 0 };

    get_image_step (b, i, x, v);
    multiply_block (p->block[i], v, product);
    for (guint k = 0; k < 3; k++)
      decrease -= v[k] * (p->gradient[i][k] + product[k] / 2);
  }
  return decrease;
}

void
bundle_priors_multiply (BundleBackend *b, guint camera)
{
  const BundleCpuLenses *l = b->lenses;
  gdouble *out = b->out + 9 * (gsize) camera;

  for (guint32 i = l->first_image[camera];
       b->priors && i < l->first_image[camera + 1]; i++) {
    gdouble v[3], product[3] = { 0 };

    get_image_step (b, i, b->in, v);
    if (!is_placed (b, i)) {
      multiply_block (b->priors->block[i], v, out + BUNDLE_CAMERA_TRANSLATION);
      continue;
    }
    multiply_block (b->priors->block[i], v, product);
    add_to_pose (b, i, product, out);
    for (guint k = 0; find_sensor_columns (b, i) > 0 && k < 3; k++)
      bundle_lenses_arrow (l, i)
          .sum[bundle_lenses_of_image (l, i)->n - 3 + k] -= product[k];
  }
}

void
bundle_priors_add_triangle (
    const BundleBackend *b, guint32 image, gdouble *triangle)
{
  const BundleCpuLens *lens = bundle_lenses_of_image (b->lenses, image);
  const guint size = BUNDLE_POSE + lens->n;
  gdouble j[BUNDLE_LENS_UNKNOWNS][3] = { 0 };

  if (!b->priors || !lens->placed)
    return;
  for (guint k = 0; k < 3; k++) {
    for (guint e = 0; e < BUNDLE_POSE; e++)
      j[e][k] = b->priors->by[image][BUNDLE_POSE * k + e];
    if (find_sensor_columns (b, image) > 0)
      j[size - 3 + k][k] = 1;
  }
  for (guint r = 0, at = 0; r < size; r++) {
    gdouble product[3] = { 0 };

    multiply_block (b->priors->block[image], j[r], product);
    for (guint c = r; c < size; c++, at++)
      for (guint k = 0; k < 3; k++)
        triangle[at] += product[k] * j[c][k];
  }
}

gdouble
bundle_priors_at (const BundleBackend *b, guint camera, guint i, guint j)
{
  const BundleCpuLenses *l = b->lenses;
  gdouble sum = 0;

  if (!b->priors || i < BUNDLE_CAMERA_TRANSLATION
      || j < BUNDLE_CAMERA_TRANSLATION || i >= BUNDLE_CAMERA_FOCAL
      || j >= BUNDLE_CAMERA_FOCAL)
    return 0;
  for (guint32 k = l->first_image[camera]; k < l->first_image[camera + 1]; k++)
    if (!is_placed (b, k))
      sum += b->priors->block[k][3 * (i - BUNDLE_CAMERA_TRANSLATION) + j
                                 - BUNDLE_CAMERA_TRANSLATION];
  return sum;
}
