/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <string.h>

#include "cuda/bundle/backend.h"
#include "cuda/bundle/lens/observation.h"
#include "cuda/core/cancel.h"
#include "cuda/core/threadpool.h"

#define GRAIN 4096                  /* observations taken at once */
#define BLOCK ((gsize) 256 * GRAIN) /* observations summed at once */

typedef struct {
  const BundleProblem *problem;
  const BundleConstants *constants;
  gsize first; /* first observation of the block */
  guint n;
  gdouble *lengths; /* |r| of the block's observations */
} Block;

static void
measure_lengths (guint first, guint count, gpointer user_data)
{
  const Block *block = user_data;
  const BundleProblem *problem = block->problem;
  const guint end = MIN ((first + count) * GRAIN, block->n);

  for (guint k = first * GRAIN; k < end; k++) {
    const gsize i = block->first + k;
    const BundleConstants *c = &block->constants[problem->camera_of[i]];
    gdouble q[3], r[2];

    bundle_residual_of (problem, c, i, q, r);
    block->lengths[k] = sqrt (r[0] * r[0] + r[1] * r[1]);
  }
}

void
bundle_reprojection_errors (const BundleProblem *problem, guint threads,
    gdouble *of_observations, gdouble *of_points)
{
  const gsize n = problem->n_observations;
  BundleConstants *constants = g_new (BundleConstants, problem->n_cameras);
  guint32 *counts = g_new0 (guint32, problem->n_points);
  gdouble *room = of_observations ? NULL : g_new (gdouble, MIN (n, BLOCK));
  CvisPool *pool = cvis_pool_new (threads);
  Block block = { problem, constants };

  for (gsize i = 0; i < problem->n_cameras; i++)
    bundle_constants (problem->cameras + BUNDLE_CAMERA_SIZE * i, &constants[i]);
  if (of_points)
    memset (of_points, 0, problem->n_points * sizeof *of_points);
  for (; block.first < n && !cvis_cancelled (); block.first += block.n) {
    block.n = (guint) MIN (n - block.first, BLOCK);
    block.lengths = room ? room : of_observations + block.first;
    cvis_pool_run (
        pool, (block.n + GRAIN - 1) / GRAIN, 1, measure_lengths, &block);
    /* in the order of the observations, whatever the number of threads */
    for (guint k = 0; of_points && k < block.n; k++) {
      const guint32 point = problem->point_of[block.first + k];

      of_points[point] += block.lengths[k];
      counts[point]++;
    }
  }
  for (gsize i = 0; of_points && i < problem->n_points; i++)
    of_points[i] /= MAX (counts[i], 1);
  cvis_pool_free (pool);
  g_free (room);
  g_free (counts);
  g_free (constants);
}

/* --- observations to hear about ------------------------------------------------- */

/* @limit: |r|^2 above which an observation is rejected; infinite: none */
typedef struct {
  const BundleProblem *problem;
  const BundleConstants *constants;
  gdouble limit;
  gsize n_behind, first_behind, n_rejected;
  GMutex mutex; /* of these */
} Count;

static void
count_doubtful (guint first, guint count, gpointer user_data)
{
  Count *all = user_data;
  const BundleProblem *problem = all->problem;
  const gsize end =
      MIN ((gsize) (first + count) * GRAIN, problem->n_observations);
  gsize n_behind = 0, first_behind = G_MAXSIZE, n_rejected = 0;

  for (gsize i = (gsize) first * GRAIN; i < end; i++) {
    const BundleConstants *c = &all->constants[problem->camera_of[i]];
    gdouble q[3], r[2];

    if (bundle_residual_of (problem, c, i, q, r) && n_behind++ == 0)
      first_behind = i;
    n_rejected += r[0] * r[0] + r[1] * r[1] > all->limit;
  }
  g_mutex_lock (&all->mutex);
  all->n_behind += n_behind;
  all->first_behind = MIN (all->first_behind, first_behind);
  all->n_rejected += n_rejected;
  g_mutex_unlock (&all->mutex);
}

void
bundle_count_doubtful (const BundleProblem *problem, const BundleConfig *config,
    CvisPool *pool, BundleSummary *summary)
{
  BundleConstants *constants = g_new (BundleConstants, problem->n_cameras);
  Count all = { problem, constants, INFINITY, 0, G_MAXSIZE };

  if (config->loss != BUNDLE_LOSS_NONE)
    all.limit = config->loss_scale * config->loss_scale;
  for (gsize i = 0; i < problem->n_cameras; i++)
    bundle_constants (problem->cameras + BUNDLE_CAMERA_SIZE * i, &constants[i]);
  g_mutex_init (&all.mutex);
  cvis_pool_run (pool, (guint) ((problem->n_observations + GRAIN - 1) / GRAIN),
      4, count_doubtful, &all);
  g_mutex_clear (&all.mutex);
  g_free (constants);
  summary->n_behind = all.n_behind;
  summary->first_behind = all.n_behind > 0 ? all.first_behind : 0;
  summary->n_rejected = all.n_rejected;
}
