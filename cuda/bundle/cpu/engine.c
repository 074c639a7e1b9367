/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Memory, and the order of the observations. */
#include "cuda/bundle/cpu/lenses.h"
#include "cuda/bundle/cpu/priors.h"
#include "cuda/bundle/cpu/schur.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/core/cancel.h"
#include "cuda/core/memory.h"

static const BundleCpuKernels *
choose_kernels (void)
{
  return CVIS_CPU_CHOOSE (bundle_cpu);
}

static const BundleCpuKernels *
choose_lens_kernels (void)
{
  return CVIS_CPU_CHOOSE (bundle_lens);
}

static void
bundle_cpu_destroy (BundleBackend *b)
{
  if (b == NULL)
    return;
  bundle_cluster_free (b->cluster);
  bundle_direct_free (b->direct);
  bundle_lenses_free (b->lenses);
  bundle_priors_free (b->priors);
  if (b->pool)
    cvis_pool_free (b->pool);
  free (b->camera_constant);
  free (b->image_at);
  free (b->point_at);
  free (b->point_constant);
  free (b->segments);
  free (b->camera_first);
  free (b->slot_point);
  free (b->observed_x);
  free (b->observed_y);
  free (b->point_first);
  free (b->point_slot);
  free (b->cameras);
  free (b->new_cameras);
  free (b->points);
  free (b->new_points);
  free (b->constants);
  free (b->new_constants);
  free (b->weight);
  free (b->residual_x);
  free (b->residual_y);
  free (b->derivatives);
  free (b->derivative_of);
  free (b->u);
  free (b->v);
  free (b->diagonal);
  free (b->gradient_c);
  free (b->gradient_p);
  free (b->scale_c);
  free (b->scale_p);
  free (b->damping_c);
  free (b->damping_p);
  free (b->inverse_v);
  free (b->schur);
  free (b->inverse_u);
  free (b->b);
  free (b->x);
  free (b->r);
  free (b->z);
  free (b->p);
  free (b->q);
  free (b->forward);
  free (b->point);
  free (b->partial);
  free (b->chunk);
  g_free (b);
}

#define CLEARED (2 << 20) /* bytes that a thread clears at a time */

typedef struct {
  guint8 *memory;
  gsize size;
} Room;

static void
clear_parts (guint first, guint count, gpointer user_data)
{
  const Room *room = user_data;
  const gsize start = (gsize) first * CLEARED;

  memset (room->memory + start, 0,
      MIN ((gsize) count * CLEARED, room->size - start));
}

/* Zeroed by all threads: most of the time is spent on page faults. */
static gpointer
new_cleared (BundleBackend *b, gsize size, GError **error)
{
  Room room = { cvis_memory_new (size, FALSE, error), size };

  if (room.memory)
    cvis_pool_run (b->pool, (guint) ((size + CLEARED - 1) / CLEARED), 1,
        clear_parts, &room);
  if (room.memory && cvis_cancelled ()) {
    g_clear_pointer (&room.memory, free);
    cvis_refuse_cancelled (error);
  }
  return room.memory;
}

/* @to is a pointer to a pointer. */
#define NEW(to, n)                                                             \
  ((*(to) = new_cleared (b, (gsize) (n) * sizeof **(to), error)) != NULL)
/* For memory that is written before it is read */
#define NEW_UNSET(to, n)                                                       \
  ((*(to) = cvis_memory_new ((gsize) (n) * sizeof **(to), FALSE, error))       \
      != NULL)

/* Counting sort: first[i]..first[i + 1] are the indices of @i. */
static void
sum_counts (guint32 *first, guint n)
{
  guint32 sum = 0;

  for (guint i = 0; i <= n; i++) {
    guint32 count = first[i];

    first[i] = sum;
    sum += count;
  }
}

static gsize
point_at (const BundleBackend *b, gsize point)
{
  return b->point_at ? b->point_at[point] : point;
}

/* Sorts points by the first of their cameras, so that the slots of a camera read points
 * near each other. The files of COLMAP have them in any order. */
static gboolean
order_points (BundleBackend *b, GError **error)
{
  const BundleProblem *problem = b->problem;
  guint32 *first = NULL;

  if (!NEW_UNSET (&b->point_at, b->n_points)
      || !NEW (&first, (gsize) b->n_cameras + 2))
    return FALSE;
  memset (b->point_at, 0xff, b->n_points * sizeof *b->point_at);
  for (gsize i = 0; i < problem->n_observations && !cvis_cancelled_at (i); i++)
    b->point_at[problem->point_of[i]] = MIN (b->point_at[problem->point_of[i]],
        bundle_cpu_pose_of (b, problem->camera_of[i]));
  for (gsize i = 0; i < b->n_points; i++) {
    b->point_at[i] = MIN (b->point_at[i], b->n_cameras);
    first[b->point_at[i]]++;
  }
  sum_counts (first, b->n_cameras + 1);
  for (gsize i = 0; i < b->n_points; i++)
    b->point_at[i] = first[b->point_at[i]]++;
  free (first);
  return !cvis_cancelled () || cvis_refuse_cancelled (error);
}

static gboolean
copy_constant_points (BundleBackend *b, GError **error)
{
  const guint8 *constant = b->problem->point_constant;

  if (constant == NULL)
    return TRUE;
  if (!NEW_UNSET (&b->point_constant, b->n_points))
    return FALSE;
  for (gsize i = 0; i < b->n_points; i++)
    b->point_constant[point_at (b, i)] = constant[i];
  return TRUE;
}

/* Sorts the problem's cameras by frame. */
static gboolean
order_images (BundleBackend *b, GError **error)
{
  const BundleProblem *problem = b->problem;
  guint32 *first = NULL;

  if (problem->frames == NULL)
    return TRUE;
  if (!NEW_UNSET (&b->image_at, problem->n_cameras)
      || !NEW (&first, (gsize) b->n_cameras + 1))
    return FALSE;
  for (guint i = 0; i < problem->n_cameras; i++)
    first[problem->frame_of[i]]++;
  sum_counts (first, b->n_cameras);
  for (guint i = 0; i < problem->n_cameras; i++)
    b->image_at[first[problem->frame_of[i]]++] = i;
  free (first);
  return TRUE;
}

/* Builds the segments; @next: slot of the first observation of each of the problem's
 * cameras */
static gboolean
make_segments (BundleBackend *b, guint32 *next, GError **error)
{
  const BundleProblem *problem = b->problem;
  gsize slots = 0;
  guint n = 0;

  for (gsize i = 0; i < problem->n_observations && !cvis_cancelled_at (i); i++)
    next[problem->camera_of[i]]++;
  if (cvis_cancelled ())
    return cvis_refuse_cancelled (error);
  for (guint i = 0; i < problem->n_cameras; i++) {
    const guint count = (next[i] + BUNDLE_SEGMENT - 1) / BUNDLE_SEGMENT;

    b->camera_first[bundle_cpu_pose_of (b, i) + 1] += count;
    n += count;
    slots += (next[i] + (gsize) BUNDLE_LANES - 1) / BUNDLE_LANES * BUNDLE_LANES;
  }
  for (guint i = 0; i < b->n_cameras; i++)
    b->camera_first[i + 1] += b->camera_first[i];
  b->n_segments = n;
  b->n_slots = slots;
  if (slots > G_MAXUINT32)
    return cvis_refuse (error,
        "%" G_GSIZE_FORMAT " observations are too many for the CPU backend",
        problem->n_observations);
  if (!NEW (&b->segments, n))
    return FALSE;
  slots = n = 0;
  for (guint i = 0; i < problem->n_cameras; i++) {
    const guint32 camera = bundle_cpu_image_at (b, i);
    const guint32 pose = bundle_cpu_pose_of (b, camera);
    guint32 left = next[camera];

    next[camera] = (guint32) slots;
    while (left > 0) {
      guint32 count = MIN (left, BUNDLE_SEGMENT);
      guint32 filled = (count + BUNDLE_LANES - 1) / BUNDLE_LANES * BUNDLE_LANES;

      b->segments[n++] = (BundleSegment){ slots, filled, count, pose, i };
      slots += filled;
      left -= count;
    }
  }
  return TRUE;
}

/* first[i] was raised to the end of @i. */
static void
restore_first (guint32 *first, guint n)
{
  memmove (first + 1, first, n * sizeof *first);
  first[0] = 0;
}

/* Sets point_first; lists the observations by point in @order where points are sorted, so
 * that the slots of a camera read points, and the points' slots of other cameras, in
 * ascending order. */
static void
order_observations (BundleBackend *b, guint32 *order)
{
  const BundleProblem *problem = b->problem;

  for (gsize i = 0; i < problem->n_observations && !cvis_cancelled_at (i); i++)
    b->point_first[point_at (b, problem->point_of[i])]++;
  sum_counts (b->point_first, b->n_points);
  if (order == NULL || cvis_cancelled ())
    return;
  for (gsize i = 0; i < problem->n_observations && !cvis_cancelled_at (i); i++)
    order[b->point_first[point_at (b, problem->point_of[i])]++] = (guint32) i;
  restore_first (b->point_first, b->n_points);
}

/* @order: (nullable): room for the observations
 * Returns: FALSE if cancelled: what is half filled may not be used as indices. */
static gboolean
fill_slots (BundleBackend *b, guint32 *next, guint32 *order)
{
  const BundleProblem *problem = b->problem;

  order_observations (b, order);
  if (cvis_cancelled ())
    return FALSE;
  for (gsize k = 0; k < problem->n_observations; k++) {
    const gsize i = order ? order[k] : k;
    guint32 slot;

    if (cvis_cancelled_at (k))
      return FALSE;
    slot = next[problem->camera_of[i]]++;
    b->slot_point[slot] = (guint32) point_at (b, problem->point_of[i]);
    b->observed_x[slot] = problem->observed[2 * i];
    b->observed_y[slot] = problem->observed[2 * i + 1];
  }
  for (guint i = 0; i < b->n_segments; i++) {
    const BundleSegment *s = &b->segments[i];
    gsize last = s->first + s->n_real - 1;

    for (gsize slot = last + 1; slot < s->first + s->n; slot++) {
      b->slot_point[slot] = b->slot_point[last];
      b->observed_x[slot] = b->observed_x[last];
      b->observed_y[slot] = b->observed_y[last];
    }
  }
  for (guint i = 0; i < b->n_segments && !cvis_cancelled_at (i << 8); i++)
    for (guint k = 0; k < b->segments[i].n_real; k++) {
      gsize slot = b->segments[i].first + k;

      b->point_slot[b->point_first[b->slot_point[slot]]++] = (guint32) slot;
    }
  restore_first (b->point_first, b->n_points);
  return !cvis_cancelled ();
}

static gboolean
make_index (BundleBackend *b, GError **error)
{
  guint32 *next = NULL, *order = NULL;
  gboolean done;

  done = order_images (b, error)
         && (b->problem->lenses == NULL || order_points (b, error))
         && copy_constant_points (b, error)
         && NEW (&next, b->problem->n_cameras)
         && NEW (&b->camera_first, (gsize) b->n_cameras + 1)
         && make_segments (b, next, error)
         && NEW_UNSET (&b->slot_point, b->n_slots)
         && NEW_UNSET (&b->observed_x, b->n_slots)
         && NEW_UNSET (&b->observed_y, b->n_slots)
         && NEW (&b->point_first, (gsize) b->n_points + 1)
         && NEW_UNSET (&b->point_slot, b->problem->n_observations)
         && (b->point_at == NULL
             || NEW_UNSET (&order, b->problem->n_observations));
  done = done && fill_slots (b, next, order);
  free (next);
  free (order);
  return done;
}

static gboolean
make_memory (BundleBackend *b, GError **error)
{
  gsize cameras = b->n_cameras, points = b->n_points;
  gsize p4 = points * BUNDLE_POINT, forward;

  b->n_vector = cameras * 9;
  b->n_sums = BUNDLE_SUMS;
  if (b->problem->lenses && !bundle_lenses_new (b, error))
    return FALSE;
  if (b->problem->priors && !bundle_priors_new (b, error))
    return FALSE;
  forward = 9;
  if (b->lenses)
    forward = MAX (3 * BUNDLE_SCHUR_PASS,
        bundle_schur_width (
            BUNDLE_POSE + (bundle_schur_has_own (b) ? b->lenses->columns : 0)));
  return NEW (&b->cameras, cameras * 9) && NEW (&b->new_cameras, cameras * 9)
         && NEW (&b->points, p4) && NEW (&b->new_points, p4)
         && NEW (&b->constants, cameras) && NEW (&b->new_constants, cameras)
         && NEW_UNSET (&b->weight, b->n_slots)
         && NEW_UNSET (&b->residual_x, b->n_slots)
         && NEW_UNSET (&b->residual_y, b->n_slots)
         && NEW (&b->u, cameras * BUNDLE_TRIANGLE) && NEW (&b->v, points * 6)
         && NEW (&b->diagonal, b->n_vector) && NEW (&b->gradient_c, b->n_vector)
         && NEW (&b->gradient_p, p4) && NEW (&b->scale_c, b->n_vector)
         && NEW (&b->scale_p, points) && NEW (&b->damping_c, b->n_vector)
         && NEW (&b->damping_p, points) && NEW (&b->inverse_v, points * 6)
         && NEW (&b->schur, cameras * BUNDLE_TRIANGLE)
         && NEW (&b->inverse_u, cameras * BUNDLE_TRIANGLE)
         && NEW (&b->b, b->n_vector) && NEW (&b->x, b->n_vector)
         && NEW (&b->r, b->n_vector) && NEW (&b->z, b->n_vector)
         && NEW (&b->p, b->n_vector) && NEW (&b->q, b->n_vector)
         && NEW_UNSET (&b->forward, b->n_slots * forward) && NEW (&b->point, p4)
         && NEW (&b->partial, (gsize) b->n_segments * b->n_sums)
         && NEW (&b->chunk, bundle_cpu_n_chunks (b) * BUNDLE_CHUNK_SUMS)
         && (b->config.preconditioner != BUNDLE_PRECONDITIONER_CLUSTER
             || (b->cluster = bundle_cluster_new (b, error)) != NULL);
}

static BundleBackend *
bundle_cpu_create (const BundleStart *start, const BundleConfig *config,
    CvisContext *context, GError **error)
{
  const BundleProblem *problem = start->problem;
  BundleBackend *b = g_new0 (BundleBackend, 1);

  b->config = *config;
  b->problem = problem;
  b->shared = start->shared;
  b->n_cameras = problem->frames ? problem->n_frames : problem->n_cameras;
  b->n_points = problem->n_points;
  b->kernels = problem->lenses ? choose_lens_kernels () : choose_kernels ();
  b->pool = cvis_pool_new (config->threads);
  if (!NEW (&b->camera_constant, b->n_cameras) || !make_index (b, error)
      || !make_memory (b, error) || cvis_cancelled ()) {
    bundle_cpu_destroy (b);
    return NULL;
  }
  memcpy (b->camera_constant, start->camera_constant,
      b->n_cameras * sizeof *b->camera_constant);
  if (start->solver != BUNDLE_SOLVER_ITERATIVE
      && bundle_direct_new (b, start->solver, error) == NULL) {
    bundle_cpu_destroy (b);
    return NULL;
  }
  memcpy (b->cameras, problem->frames ? problem->frames : problem->cameras,
      (gsize) b->n_cameras * 9 * sizeof *b->cameras);
  for (guint i = 0; i < b->n_cameras; i++)
    bundle_constants (b->cameras + 9 * (gsize) i, &b->constants[i]);
  for (gsize i = 0; i < b->n_points; i++)
    memcpy (b->points + BUNDLE_POINT * point_at (b, i), problem->points + 3 * i,
        3 * sizeof *b->points);
  return b;
}

static void
cpu_accept (BundleBackend *b)
{
  gdouble *cameras = b->cameras, *points = b->points;
  BundleConstants *constants = b->constants;

  b->cameras = b->new_cameras;
  b->new_cameras = cameras;
  b->points = b->new_points;
  b->new_points = points;
  b->constants = b->new_constants;
  b->new_constants = constants;
  if (b->lenses)
    bundle_lenses_accept (b->lenses);
}

static gboolean
cpu_read (BundleBackend *b, gdouble *cameras, gdouble *points, gdouble *blocks,
    GError **error)
{
  memcpy (cameras, b->cameras, (gsize) b->n_cameras * 9 * sizeof *cameras);
  for (gsize i = 0; i < b->n_points; i++)
    memcpy (points + 3 * i, b->points + BUNDLE_POINT * point_at (b, i),
        3 * sizeof *points);
  if (b->lenses)
    bundle_lenses_sum_blocks (b);
  for (gsize c = 0; c < b->n_cameras; c++) {
    const gdouble *scale = b->scale_c + 9 * c;
    const gdouble *from = b->u + BUNDLE_TRIANGLE * c;
    gdouble *to = blocks + BUNDLE_TRIANGLE * c;

    for (guint i = 0, at = 0; i < 9; i++)
      for (guint j = i; j < 9; j++, at++)
        to[at] = from[at] * scale[i] * scale[j];
  }
  /* sets the intrinsics of all cameras */
  for (gsize c = 1; b->shared && c < b->n_cameras; c++)
    for (guint i = BUNDLE_CAMERA_FOCAL; i < 9; i++)
      for (guint j = i; j < 9; j++)
        blocks[bundle_cpu_at (i, j)] +=
            b->u[BUNDLE_TRIANGLE * c + bundle_cpu_at (i, j)] * b->scale_c[i]
            * b->scale_c[j];
  return TRUE;
}

static gsize
cpu_get_bytes (BundleBackend *b)
{
  return 0;
}

static gboolean
cpu_is_exact (BundleBackend *b)
{
  return b->lenses && bundle_lenses_have_factor (b);
}

const BundleBackendOps bundle_backend_cpu = {
  .name = "CPU",
  .create = bundle_cpu_create,
  .destroy = bundle_cpu_destroy,
  .linearize = bundle_cpu_linearize,
  .step = bundle_cpu_step,
  .accept = cpu_accept,
  .read = cpu_read,
  .read_lenses = bundle_lenses_read,
  .get_bytes = cpu_get_bytes,
  .is_exact = cpu_is_exact,
};
