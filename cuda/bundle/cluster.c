/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/bundle/cluster.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/core/cancel.h"
#include "cuda/core/memory.h"

#define NONE G_MAXUINT32

#define NEW(to, n)                                                             \
  ((*(to) = cvis_memory_new ((gsize) (n) * sizeof **(to), TRUE, error)) != NULL)

/* For each camera its points, or for each point its cameras. */
typedef struct {
  gsize *first; /* n + 1 */
  guint32 *others;
} Lists;

static void
lists_clear (Lists *lists)
{
  free (lists->first);
  free (lists->others);
}

static gboolean
lists_init (Lists *lists, const guint32 *of, const guint32 *other, guint32 n,
    gsize n_observations, GError **error)
{
  if (!NEW (&lists->first, (gsize) n + 2)
      || !NEW (&lists->others, MAX (n_observations, 1)))
    return FALSE;
  /* first[k + 2] counts; then first[k + 1] is the begin of k, then its end */
  for (gsize i = 0; i < n_observations && !cvis_cancelled_at (i); i++)
    lists->first[of[i] + 2]++;
  for (gsize k = 0; k < n; k++)
    lists->first[k + 2] += lists->first[k + 1];
  for (gsize i = 0; i < n_observations && !cvis_cancelled_at (i); i++)
    lists->others[lists->first[of[i] + 1]++] = other[i];
  return !cvis_cancelled () || cvis_refuse_cancelled (error);
}

static void
add_member (BundleClusters *clusters, guint32 camera)
{
  BundleMembers *members = &clusters->members[clusters->n - 1];

  clusters->cluster_of[camera] = clusters->n - 1;
  clusters->place[camera] = members->n;
  members->cameras[members->n++] = camera;
}

/* @shared: n_cameras zeros, also on return; @seen: memory for n_cameras */
static void
grow_cluster (BundleClusters *clusters, const Lists *points,
    const Lists *cameras, guint32 seed, guint32 *shared, guint32 *seen)
{
  guint n_seen = 0;

  clusters->n++;
  add_member (clusters, seed);
  for (gsize i = points->first[seed]; i < points->first[seed + 1]; i++) {
    guint32 point = points->others[i];

    for (gsize k = cameras->first[point]; k < cameras->first[point + 1]; k++) {
      guint32 other = cameras->others[k];

      if (clusters->cluster_of[other] == NONE && shared[other]++ == 0)
        seen[n_seen++] = other;
    }
  }
  while (clusters->members[clusters->n - 1].n < BUNDLE_CLUSTER) {
    guint32 best = NONE;

    for (guint i = 0; i < n_seen; i++)
      if (shared[seen[i]] > 0
          && (best == NONE || shared[seen[i]] > shared[best]
              || (shared[seen[i]] == shared[best] && seen[i] < best)))
        best = seen[i];
    if (best == NONE)
      break;
    shared[best] = 0;
    add_member (clusters, best);
  }
  for (guint i = 0; i < n_seen; i++)
    shared[seen[i]] = 0;
}

gboolean
bundle_clusters_init (
    BundleClusters *clusters, const BundleProblem *problem, GError **error)
{
  guint32 n = problem->n_cameras, *shared = NULL, *seen = NULL;
  Lists points = { 0 }, cameras = { 0 }; /* of a camera, of a point */
  gboolean done;

  memset (clusters, 0, sizeof *clusters);
  done = NEW (&clusters->members, n) && NEW (&clusters->cluster_of, n)
         && NEW (&clusters->place, n) && NEW (&shared, n) && NEW (&seen, n)
         && lists_init (&points, problem->camera_of, problem->point_of, n,
             problem->n_observations, error)
         && lists_init (&cameras, problem->point_of, problem->camera_of,
             problem->n_points, problem->n_observations, error);
  if (done) {
    for (guint32 i = 0; i < n; i++)
      clusters->cluster_of[i] = NONE;
    for (guint32 i = 0; i < n && !cvis_cancelled (); i++)
      if (clusters->cluster_of[i] == NONE)
        grow_cluster (clusters, &points, &cameras, i, shared, seen);
    done = !cvis_cancelled () || cvis_refuse_cancelled (error);
  }
  free (shared);
  free (seen);
  lists_clear (&points);
  lists_clear (&cameras);
  if (!done)
    bundle_clusters_clear (clusters);
  return done;
}

void
bundle_clusters_clear (BundleClusters *clusters)
{
  free (clusters->members);
  free (clusters->cluster_of);
  free (clusters->place);
  memset (clusters, 0, sizeof *clusters);
}
