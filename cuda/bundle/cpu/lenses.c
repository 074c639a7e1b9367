/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Sums of a lens run over its images in their order, those of a camera over its images
 * and their segments, so they do not depend on the number of threads. */
#include "cuda/bundle/cpu/factor.h"
#include "cuda/bundle/cpu/priors.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/core/cancel.h"
#include "cuda/bundle/lens/observation.h"
#include "cuda/core/memory.h"

void
bundle_lenses_free (BundleCpuLenses *lenses)
{
  if (lenses == NULL)
    return;
  free (lenses->now);
  free (lenses->next);
  free (lenses->sensors);
  free (lenses->next_sensors);
  free (lenses->lens);
  free (lenses->image);
  free (lenses->group);
  free (lenses->first_image);
  free (lenses->first_of);
  free (lenses->of_lens);
  free (lenses->rows_of);
  free (lenses->rows);
  bundle_schur_free (lenses->schur);
  bundle_factor_free (lenses->factor);
  free (lenses->arrows);
  free (lenses->poses);
  free (lenses->inverses);
  free (lenses->right);
  g_free (lenses);
}

/* The images of each camera, in the order of the slots */
static void
list_images (BundleBackend *b)
{
  BundleCpuLenses *l = b->lenses;
  guint segment = 0;

  for (guint i = 0; i < l->n_images; i++) {
    const guint32 camera = bundle_cpu_image_at (b, i);

    while (segment < b->n_segments && b->segments[segment].image < i)
      segment++;
    l->image[i] = (BundleCpuImage){ b->problem->lens_of[camera], segment };
    l->first_image[bundle_cpu_pose_of (b, camera) + 1]++;
  }
  l->image[l->n_images].segment = b->n_segments;
  for (guint c = 0; c < b->n_cameras; c++)
    l->first_image[c + 1] += l->first_image[c];
}

static void
list_columns (const BundleProblem *problem, guint i, BundleCpuLens *lens)
{
  const BundleLens *from = &problem->lenses[i];
  const BundleSensor *sensor = problem->sensors ? &problem->sensors[i] : NULL;

  for (guint k = 0; k < bundle_lens_size (from->model); k++)
    if (!(from->constant >> k & 1))
      lens->parameter[lens->n++] = (guint8) k;
  for (guint k = 0; sensor && k < BUNDLE_POSE; k++) {
    lens->placed |= !sensor->constant || sensor->pose[k] != 0;
    if (!sensor->constant)
      lens->parameter[lens->n++] = (guint8) (BUNDLE_LENS_SIZE + k);
  }
}

/* The columns behind the elements of the cameras: those of the lenses that share cameras
 * together, in the order of the first ones. @room: n lenses */
static void
make_groups (BundleBackend *b, guint32 *room)
{
  BundleCpuLenses *l = b->lenses;
  gsize inverse = 0;

  l->n_groups = bundle_problem_group_lenses (b->problem, room);
  for (guint i = 0; i < l->n; i++) {
    l->lens[i].group = room[i];
    l->group[room[i]].n += l->lens[i].n;
  }
  for (guint i = 0; i < l->n_groups; i++) {
    const guint n = l->group[i].n;

    l->group[i].first = b->n_vector;
    l->group[i].inverse = inverse;
    b->n_vector += n;
    inverse += (gsize) n * n;
    room[i] = 0;
  }
  for (guint i = 0; i < l->n; i++) {
    BundleCpuLens *lens = &l->lens[i];

    lens->first = l->group[lens->group].first + room[lens->group];
    room[lens->group] += lens->n;
  }
}

/* Lists the images of each lens. */
static void
list_images_of_lenses (BundleCpuLenses *l)
{
  for (guint i = 0; i < l->n_images; i++)
    l->first_of[l->image[i].lens + 1]++;
  for (guint i = 0; i < l->n; i++)
    l->first_of[i + 1] += l->first_of[i];
  for (guint i = 0; i < l->n_images; i++)
    l->of_lens[l->first_of[l->image[i].lens]++] = i;
  memmove (l->first_of + 1, l->first_of, l->n * sizeof *l->first_of);
  l->first_of[0] = 0;
}

#define NEW_LENSES(to, n)                                                      \
  ((*(to) = cvis_memory_new (                                                  \
        MAX ((gsize) (n), 1) * sizeof **(to), TRUE, error))                    \
      != NULL)

static gboolean
copy_sensors (BundleCpuLenses *l, const BundleProblem *problem, GError **error)
{
  if (problem->sensors == NULL)
    return TRUE;
  if (!NEW_LENSES (&l->sensors, l->n) || !NEW_LENSES (&l->next_sensors, l->n))
    return FALSE;
  memcpy (l->sensors, problem->sensors, l->n * sizeof *l->sensors);
  memcpy (l->next_sensors, problem->sensors, l->n * sizeof *l->sensors);
  return TRUE;
}

gboolean
bundle_lenses_new (BundleBackend *b, GError **error)
{
  const BundleProblem *problem = b->problem;
  BundleCpuLenses *l = b->lenses = g_new0 (BundleCpuLenses, 1);
  gsize n_rows = 0, n_inverses = 0, n_right = 0, size;
  guint32 *room = NULL;

  l->n = problem->n_lenses;
  l->n_images = problem->n_cameras;
  if (!NEW_LENSES (&l->now, l->n) || !NEW_LENSES (&l->next, l->n)
      || !copy_sensors (l, problem, error) || !NEW_LENSES (&l->lens, l->n)
      || !NEW_LENSES (&l->image, (gsize) l->n_images + 1)
      || !NEW_LENSES (&l->group, l->n)
      || !NEW_LENSES (&l->first_image, (gsize) b->n_cameras + 1)
      || !NEW_LENSES (&l->first_of, (gsize) l->n + 1)
      || !NEW_LENSES (&l->of_lens, l->n_images)
      || !NEW_LENSES (&l->rows_of, b->n_segments)
      || !NEW_LENSES (&l->poses, b->n_cameras) || !NEW_LENSES (&room, l->n))
    return FALSE;
  memcpy (l->now, problem->lenses, l->n * sizeof *l->now);
  memcpy (l->next, problem->lenses, l->n * sizeof *l->next);
  for (guint i = 0; i < l->n; i++) {
    list_columns (problem, i, &l->lens[i]);
    l->columns = MAX (l->columns, l->lens[i].n);
  }
  list_images (b);
  make_groups (b, room);
  free (room);
  list_images_of_lenses (l);
  for (guint i = 0; i < b->n_segments; i++) {
    const BundleSegment *s = &b->segments[i];

    l->rows_of[i] = n_rows;
    n_rows += (gsize) s->n
              * BUNDLE_LENS_ROWS (bundle_lenses_of_image (l, s->image)->n);
  }
  for (guint i = 0; i < l->n_groups; i++) {
    n_inverses += (gsize) l->group[i].n * l->group[i].n;
    n_right = MAX (n_right, l->group[i].n);
  }
  size = BUNDLE_POSE + (gsize) l->columns;
  b->n_sums = (guint) MAX (size * (size + 1) / 2, BUNDLE_SUM_COST + 1);
  return NEW_LENSES (&l->inverses, n_inverses)
         && NEW_LENSES (&l->right, n_right)
         && NEW_LENSES (&l->arrows, l->n_images * bundle_lenses_arrow_size (l))
         && (l->rows = cvis_memory_new (n_rows * sizeof *l->rows, FALSE, error))
                != NULL;
}

/* Adds @part of each image, its elements from @at on, to the columns of its lens in
 * @x. */
static void
add_to_lenses (BundleBackend *b, guint at, gdouble sign, gdouble *x)
{
  const BundleCpuLenses *l = b->lenses;

  for (guint i = 0; i < l->n; i++) {
    const BundleCpuLens *lens = &l->lens[i];

    for (guint k = l->first_of[i]; k < l->first_of[i + 1]; k++)
      for (guint e = 0; e < lens->n; e++)
        x[lens->first + e] +=
            sign * bundle_lenses_arrow (l, l->of_lens[k]).sum[at + e];
  }
}

/* --- normal equations ------------------------------------------------------------ */

static void
sum_normal (guint first, guint count, gpointer data)
{
  BundleBackend *b = data;
  const BundleCpuLenses *l = b->lenses;

  for (guint c = first; c < first + count; c++) {
    gdouble *gradient = b->gradient_c + 9 * (gsize) c;
    gdouble *diagonal = b->diagonal + 9 * (gsize) c;

    memset (gradient, 0, 9 * sizeof *gradient);
    memset (diagonal, 0, 9 * sizeof *diagonal);
    for (guint32 i = l->first_image[c]; i < l->first_image[c + 1]; i++) {
      gdouble *sum = bundle_lenses_arrow (l, i).sum;
      gdouble all[2 * BUNDLE_STEP];

      bundle_lenses_sum_image (
          b, i, BUNDLE_LENS_GRADIENT, 2 * BUNDLE_STEP, all);
      for (guint k = 0; k < 9; k++) {
        gradient[k] += all[k];
        diagonal[k] += all[BUNDLE_STEP + k];
      }
      memcpy (sum, all + 9, l->columns * sizeof *sum);
      memcpy (
          sum + l->columns, all + BUNDLE_STEP + 9, l->columns * sizeof *sum);
    }
  }
}

void
bundle_lenses_sum_normal (BundleBackend *b)
{
  const gsize first = 9 * (gsize) b->n_cameras;
  const gsize bytes = (b->n_vector - first) * sizeof (gdouble);

  bundle_cpu_for_cameras (b, sum_normal);
  memset (b->gradient_c + first, 0, bytes);
  memset (b->diagonal + first, 0, bytes);
  add_to_lenses (b, 0, 1, b->gradient_c);
  add_to_lenses (b, b->lenses->columns, 1, b->diagonal);
}

/* --- products --------------------------------------------------------------------- */

/* The matrix takes about as long as this many products. */
#define FEW_PRODUCTS 12

/* Without the memory they are not used. */
static void
make_schur (BundleBackend *b)
{
  BundleCpuLenses *l = b->lenses;

  l->tried = TRUE;
  if (!bundle_schur_new (b, &l->schur, NULL))
    g_clear_pointer (&l->schur, bundle_schur_free);
  else if (l->schur && b->config.solver == BUNDLE_SOLVER_AUTO
           && !bundle_factor_new (b, &l->factor, NULL))
    g_clear_pointer (&l->factor, bundle_factor_free);
}

gboolean
bundle_lenses_have_factor (BundleBackend *b)
{
  BundleCpuLenses *l = b->lenses;

  if (!l->tried && b->config.solver == BUNDLE_SOLVER_AUTO)
    make_schur (b);
  return l->factor != NULL;
}

gboolean
bundle_lenses_prepare (BundleBackend *b, guint iteration)
{
  BundleCpuLenses *l = b->lenses;
  const gboolean due =
      iteration >= (l->last > 2 * FEW_PRODUCTS ? 0 : FEW_PRODUCTS);
  gboolean factor;

  if (iteration == 0)
    l->ready = FALSE;
  factor = bundle_lenses_have_factor (b);
  if (!l->tried && due)
    make_schur (b);
  if (l->schur == NULL || l->ready || !(factor || due))
    return FALSE;
  bundle_schur_update (b, l->schur);
  l->ready = TRUE;
  if (factor)
    bundle_factor_solve (b, l->factor);
  return factor;
}

/* @sum: of the images of camera @c; sets the parts of their lenses */
static void
sum_products (const BundleBackend *b, guint c, gdouble sum[9])
{
  const BundleCpuLenses *l = b->lenses;

  memset (sum, 0, 9 * sizeof *sum);
  for (guint32 i = l->first_image[c]; i < l->first_image[c + 1]; i++) {
    gdouble all[BUNDLE_STEP];

    bundle_lenses_sum_image (b, i, 0, BUNDLE_STEP, all);
    for (guint k = 0; k < 9; k++)
      sum[k] += all[k];
    memcpy (bundle_lenses_arrow (l, i).sum, all + 9, l->columns * sizeof *all);
  }
}

static void
multiply_poses (guint first, guint count, gpointer data)
{
  BundleBackend *b = data;

  for (guint c = first; c < first + count; c++) {
    const gsize at = 9 * (gsize) c;
    gdouble sum[9];

    sum_products (b, c, sum);
    for (guint i = 0; i < 9; i++)
      b->out[at + i] = b->damping_c[at + i] * b->in[at + i] - sum[i];
    bundle_priors_multiply (b, c);
  }
}

void
bundle_lenses_multiply (BundleBackend *b)
{
  bundle_cpu_for_cameras (b, multiply_poses);
  for (gsize i = 9 * (gsize) b->n_cameras; i < b->n_vector; i++)
    b->out[i] = b->damping_c[i] * b->in[i];
  add_to_lenses (b, 0, -1, b->out);
}

static void
add_pose_sides (guint first, guint count, gpointer data)
{
  BundleBackend *b = data;

  for (guint c = first; c < first + count; c++) {
    const guint16 constant = b->camera_constant[c];
    gdouble sum[9];

    sum_products (b, c, sum);
    for (guint i = 0; i < 9; i++)
      b->b[9 * (gsize) c + i] += constant >> i & 1 ? 0 : sum[i];
  }
}

void
bundle_lenses_add_right_side (BundleBackend *b)
{
  bundle_cpu_for_cameras (b, add_pose_sides);
  add_to_lenses (b, 0, 1, b->b);
}

/* --- preconditioner ----------------------------------------------------------------
 *
 * The blocks of the Schur complement of one camera and the lenses of its images,
 * [B W; W^T L] with L summed over the images of each lens. They form an arrow for each
 * group of lenses, which is inverted exactly: T = L - sum of W^T B^-1 W. */

void
bundle_lenses_sum_triangle (
    const BundleBackend *b, guint32 image, gdouble *triangle)
{
  const guint size = BUNDLE_POSE + bundle_lenses_of_image (b->lenses, image)->n;

  bundle_lenses_sum_image (b, image, 0, size * (size + 1) / 2, triangle);
  bundle_priors_add_triangle (b, image, triangle);
}

/* The part of image @i in its lens's block and B: sets coupling and sum, adds to
 * @inverse, 6 x 6 */
static void
take_triangle (const BundleBackend *b, guint c, guint32 i, gdouble *inverse)
{
  const BundleCpuArrow arrow = bundle_lenses_arrow (b->lenses, i);
  const guint n = bundle_lenses_of_image (b->lenses, i)->n;
  const guint size = BUNDLE_POSE + n;
  const guint16 constant = b->camera_constant[c];
  gdouble triangle[BUNDLE_LENS_SUMS];

  bundle_lenses_sum_triangle (b, i, triangle);
  for (guint r = 0, at = 0; r < size; r++)
    for (guint k = r; k < size; k++, at++) {
      const gboolean fixed = (r < BUNDLE_POSE && (constant >> r & 1))
                             || (k < BUNDLE_POSE && (constant >> k & 1));
      const gdouble value = fixed ? 0 : triangle[at];

      if (k < BUNDLE_POSE)
        inverse[BUNDLE_POSE * r + k] += value;
      else if (r < BUNDLE_POSE)
        arrow.coupling[n * r + k - BUNDLE_POSE] = value;
      else
        arrow.sum[n * (r - BUNDLE_POSE) + k - BUNDLE_POSE] = value;
    }
}

/* B^-1 of camera @c, from the sums of its images */
static void
invert_pose (const BundleBackend *b, guint c, gdouble *inverse)
{
  for (guint i = 0; i < BUNDLE_POSE; i++)
    for (guint j = i; j < BUNDLE_POSE; j++) {
      const gboolean fixed =
          (b->camera_constant[c] >> i & 1) || (b->camera_constant[c] >> j & 1);
      gdouble *value = &inverse[BUNDLE_POSE * i + j];

      *value += fixed ? 0 : bundle_priors_at (b, c, i, j);
      if (i == j && !fixed)
        *value += b->damping_c[9 * (gsize) c + i];
      inverse[BUNDLE_POSE * j + i] = *value;
    }
  bundle_cpu_invert (inverse, BUNDLE_POSE, BUNDLE_POSE);
}

static void
invert_poses (guint first, guint count, gpointer data)
{
  BundleBackend *b = data;
  const BundleCpuLenses *l = b->lenses;

  for (guint c = first; c < first + count; c++) {
    gdouble *inverse = l->poses[c];

    memset (inverse, 0, sizeof l->poses[c]);
    for (guint32 i = l->first_image[c]; i < l->first_image[c + 1]; i++)
      take_triangle (b, c, i, inverse);
    invert_pose (b, c, inverse);
    for (guint32 i = l->first_image[c]; i < l->first_image[c + 1]; i++) {
      const BundleCpuArrow arrow = bundle_lenses_arrow (l, i);
      const guint n = bundle_lenses_of_image (l, i)->n;

      for (guint r = 0; r < BUNDLE_POSE; r++)
        for (guint j = 0; j < n; j++) {
          gdouble sum = 0;

          for (guint k = 0; k < BUNDLE_POSE; k++)
            sum += inverse[BUNDLE_POSE * r + k] * arrow.coupling[n * k + j];
          arrow.solved[n * r + j] = sum;
        }
      for (guint r = 0; r < n; r++)
        for (guint j = r; j < n; j++)
          for (guint k = 0; k < BUNDLE_POSE; k++)
            arrow.sum[n * r + j] -=
                arrow.coupling[n * k + r] * arrow.solved[n * k + j];
    }
  }
}

/* Subtracts W^T B^-1 W of two images of a camera from the block of their lenses' group,
 * above and below its diagonal. */
static void
subtract_image_pair (const BundleCpuLenses *l, guint32 one, guint32 other)
{
  const BundleCpuLens *x = bundle_lenses_of_image (l, one);
  const BundleCpuLens *y = bundle_lenses_of_image (l, other);
  const BundleCpuArrow a = bundle_lenses_arrow (l, one);
  const BundleCpuArrow c = bundle_lenses_arrow (l, other);
  const BundleCpuGroup *group = &l->group[x->group];
  gdouble *to = l->inverses + group->inverse;

  for (guint i = 0; i < x->n; i++)
    for (guint j = 0; j < y->n; j++) {
      const gsize row = x->first - group->first + i;
      const gsize column = y->first - group->first + j;
      gdouble sum = 0;

      for (guint k = 0; k < BUNDLE_POSE; k++)
        sum += a.coupling[x->n * k + i] * c.solved[y->n * k + j];
      to[row * group->n + column] -= sum;
      to[column * group->n + row] -= sum;
    }
}

/* Adds the parts of the images of a lens, and the damping, to the block of its group,
 * above and below its diagonal. */
static void
add_lens_block (const BundleBackend *b, guint number)
{
  const BundleCpuLenses *l = b->lenses;
  const BundleCpuLens *lens = &l->lens[number];
  const BundleCpuGroup *group = &l->group[lens->group];
  gdouble *to = l->inverses + group->inverse
                + (lens->first - group->first) * (group->n + 1);

  for (guint k = l->first_of[number]; k < l->first_of[number + 1]; k++) {
    const gdouble *sum = bundle_lenses_arrow (l, l->of_lens[k]).sum;

    for (guint r = 0; r < lens->n; r++)
      for (guint c = r; c < lens->n; c++)
        to[group->n * r + c] += sum[lens->n * r + c];
  }
  for (guint r = 0; r < lens->n; r++) {
    to[group->n * r + r] += b->damping_c[lens->first + r];
    for (guint c = 0; c < r; c++)
      to[group->n * r + c] = to[group->n * c + r];
  }
}

void
bundle_lenses_make_preconditioner (BundleBackend *b)
{
  const BundleCpuLenses *l = b->lenses;

  bundle_cpu_for_cameras (b, invert_poses);
  for (guint i = 0; i < l->n_groups; i++)
    memset (l->inverses + l->group[i].inverse, 0,
        (gsize) l->group[i].n * l->group[i].n * sizeof *l->inverses);
  for (guint i = 0; i < l->n; i++)
    add_lens_block (b, i);
  for (guint c = 0; c < b->n_cameras; c++)
    for (guint32 i = l->first_image[c]; i < l->first_image[c + 1]; i++)
      for (guint32 k = l->first_image[c]; k < i; k++)
        subtract_image_pair (l, k, i);
  for (guint i = 0; i < l->n_groups; i++)
    bundle_cpu_invert (
        l->inverses + l->group[i].inverse, l->group[i].n, l->group[i].n);
}

/* z = B^-1 r of the poses; the images' parts of W^T z */
static void
precondition_poses (guint first, guint count, gpointer data)
{
  BundleBackend *b = data;
  const BundleCpuLenses *l = b->lenses;

  for (guint c = first; c < first + count; c++) {
    const gdouble *r = b->in + 9 * (gsize) c, *inverse = l->poses[c];
    gdouble *z = b->out + 9 * (gsize) c;

    for (guint i = 0; i < 9; i++)
      z[i] = 0;
    for (guint i = 0; i < BUNDLE_POSE; i++)
      for (guint k = 0; k < BUNDLE_POSE; k++)
        z[i] += inverse[BUNDLE_POSE * i + k] * r[k];
    for (guint32 i = l->first_image[c]; i < l->first_image[c + 1]; i++) {
      const BundleCpuArrow arrow = bundle_lenses_arrow (l, i);
      const guint n = bundle_lenses_of_image (l, i)->n;

      for (guint j = 0; j < n; j++) {
        arrow.sum[j] = 0;
        for (guint k = 0; k < BUNDLE_POSE; k++)
          arrow.sum[j] += arrow.coupling[n * k + j] * z[k];
      }
    }
  }
}

/* z -= B^-1 W times the lenses' */
static void
correct_poses (guint first, guint count, gpointer data)
{
  BundleBackend *b = data;
  const BundleCpuLenses *l = b->lenses;

  for (guint c = first; c < first + count; c++)
    for (guint32 i = l->first_image[c]; i < l->first_image[c + 1]; i++) {
      const BundleCpuLens *lens = bundle_lenses_of_image (l, i);
      const gdouble *solved = bundle_lenses_arrow (l, i).solved;

      for (guint r = 0; r < BUNDLE_POSE; r++)
        for (guint j = 0; j < lens->n; j++)
          b->out[9 * (gsize) c + r] -=
              solved[lens->n * r + j] * b->out[lens->first + j];
    }
}

void
bundle_lenses_precondition (BundleBackend *b, const gdouble *r, gdouble *z)
{
  const BundleCpuLenses *l = b->lenses;
  gdouble *right = l->right;

  b->in = r;
  b->out = z;
  bundle_cpu_for_cameras (b, precondition_poses);
  for (gsize i = 9 * (gsize) b->n_cameras; i < b->n_vector; i++)
    z[i] = r[i];
  add_to_lenses (b, 0, -1, z);
  for (guint i = 0; i < l->n_groups; i++) {
    const guint n = l->group[i].n;
    const gdouble *inverse = l->inverses + l->group[i].inverse;
    gdouble *to = z + l->group[i].first;

    memcpy (right, to, n * sizeof *right);
    for (guint e = 0; e < n; e++) {
      to[e] = 0;
      for (guint k = 0; k < n; k++)
        to[e] += inverse[n * e + k] * right[k];
    }
  }
  bundle_cpu_for_cameras (b, correct_poses);
}

/* --- steps --------------------------------------------------------------------------- */

/* Steps of poses as those of cameras */
static void
move_sensor (const BundleBackend *b, guint number, gdouble sums[2])
{
  const BundleCpuLenses *l = b->lenses;
  const BundleCpuLens *lens = &l->lens[number];
  const gdouble *pose = l->sensors[number].pose;
  gdouble step[BUNDLE_CAMERA_SIZE] = { 0 };

  if (l->sensors[number].constant)
    return;
  memcpy (step, b->x + lens->first + lens->n - BUNDLE_POSE,
      BUNDLE_POSE * sizeof *step);
  bundle_move_camera (pose, step, l->next_sensors[number].pose);
  bundle_add_squares (pose, step, BUNDLE_POSE, sums);
}

void
bundle_lenses_move (BundleBackend *b, gdouble sums[2])
{
  BundleCpuLenses *l = b->lenses;

  for (guint i = 0; i < l->n; i++) {
    const BundleCpuLens *lens = &l->lens[i];
    const int n_focal = (int) bundle_lens_info[l->now[i].model].n_focal;

    for (guint e = 0; e < lens->n && lens->parameter[e] < BUNDLE_LENS_SIZE;
         e++) {
      const int p = lens->parameter[e];
      const gdouble unit = bundle_lens_unit (n_focal, l->now[i].parameters, p);
      const gdouble step = b->x[lens->first + e] / unit;
      const gdouble state = l->now[i].parameters[p] / unit;

      l->next[i].parameters[p] =
          l->now[i].parameters[p] + b->x[lens->first + e];
      sums[0] += step * step;
      sums[1] += state * state;
    }
  }
  for (guint i = 0; l->sensors && i < l->n; i++)
    move_sensor (b, i, sums);
  l->eval = l->next;
  l->eval_sensors = l->next_sensors;
}

void
bundle_lenses_accept (BundleCpuLenses *lenses)
{
  BundleLens *now = lenses->now;
  BundleSensor *sensors = lenses->sensors;

  lenses->now = lenses->next;
  lenses->next = now;
  lenses->sensors = lenses->next_sensors;
  lenses->next_sensors = sensors;
}

static void
triangle_segments (guint first, guint count, gpointer data)
{
  BundleBackend *b = data;

  for (guint i = first; i < first + count; i++)
    b->kernels->schur (b, &b->segments[i], b->partial + (gsize) i * b->n_sums);
}

void
bundle_lenses_sum_blocks (BundleBackend *b)
{
  const BundleCpuLenses *l = b->lenses;

  b->lenses->alone = TRUE;
  bundle_cpu_for_segments (b, triangle_segments);
  b->lenses->alone = FALSE;
  for (guint c = 0; c < b->n_cameras; c++) {
    gdouble *u = b->u + BUNDLE_TRIANGLE * (gsize) c;

    for (guint i = 0; i < BUNDLE_POSE; i++)
      for (guint j = i; j < BUNDLE_POSE; j++)
        u[bundle_cpu_at (i, j)] = bundle_priors_at (b, c, i, j);
    for (guint32 k = l->first_image[c]; k < l->first_image[c + 1]; k++) {
      const guint size = BUNDLE_POSE + bundle_lenses_of_image (l, k)->n;
      gdouble triangle[BUNDLE_LENS_SUMS];

      bundle_lenses_sum_triangle (b, k, triangle);
      for (guint i = 0, at = 0; i < BUNDLE_POSE; i++)
        for (guint j = i; j < size; j++, at++)
          if (j < BUNDLE_POSE)
            u[bundle_cpu_at (i, j)] += triangle[at];
    }
  }
}

gboolean
bundle_lenses_read (
    BundleBackend *b, BundleLens *lenses, BundleSensor *sensors, GError **error)
{
  const BundleCpuLenses *l = b->lenses;

  for (guint i = 0; i < l->n; i++)
    memcpy (lenses[i].parameters, l->now[i].parameters,
        sizeof lenses[i].parameters);
  if (sensors)
    memcpy (sensors, l->sensors, l->n * sizeof *sensors);
  return TRUE;
}
