/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The cluster preconditioner: the inverse of the Schur complement's diagonal
 * block of each cluster of cameras. */
#include "cuda/bundle/cluster.h"
#include "cuda/bundle/cpu/cpu.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/core/cancel.h"
#include "cuda/core/memory.h"

#define SIDE BUNDLE_CLUSTER_SIDE

struct _BundleCluster {
  BundleClusters clusters;
  gsize *first_point; /* clusters.n + 1: into points */
  guint32 *points;    /* points with two observations in a cluster */
  guint32 *slot_camera;
  gdouble *inverse; /* SIDE * SIDE each */
  const gdouble *r; /* operands of apply */
  gdouble *z;
};

void
bundle_cluster_free (BundleCluster *cluster)
{
  if (cluster == NULL)
    return;
  bundle_clusters_clear (&cluster->clusters);
  free (cluster->first_point);
  free (cluster->slot_camera);
  free (cluster->points);
  free (cluster->inverse);
  g_free (cluster);
}

/* --- points -------------------------------------------------------------- */

/* Lists the points that a cluster observes at least twice. @last: for each
 * point 1 + the last cluster that observed it, times 2, + 1 if it is listed */
static gsize
list_points (const BundleBackend *b, BundleCluster *cluster, guint32 number,
    guint64 *last, gsize n)
{
  const BundleMembers *members = &cluster->clusters.members[number];
  guint64 once = 2 * ((guint64) number + 1);

  for (guint m = 0; m < members->n; m++) {
    guint32 camera = members->cameras[m];

    for (guint s = b->camera_first[camera]; s < b->camera_first[camera + 1];
         s++)
      for (guint i = 0; i < b->segments[s].n_real; i++) {
        guint32 point = b->slot_point[b->segments[s].first + i];

        if (last[point] < once) {
          last[point] = once;
        } else if (last[point] == once) {
          last[point]++;
          cluster->points[n++] = point;
        }
      }
  }
  return n;
}

#define NEW(to, n)                                                             \
  ((*(to) = cvis_memory_new ((gsize) (n) * sizeof **(to), TRUE, error)) != NULL)

BundleCluster *
bundle_cluster_new (BundleBackend *b, GError **error)
{
  BundleCluster *cluster = g_new0 (BundleCluster, 1);
  const BundleClusters *clusters = &cluster->clusters;
  guint64 *last = NULL;
  gboolean done;

  done = bundle_clusters_init (&cluster->clusters, b->problem, error)
         && NEW (&cluster->first_point, (gsize) clusters->n + 1)
         && NEW (&cluster->slot_camera, b->n_slots)
         && NEW (&cluster->points, b->n_slots) && NEW (&last, b->n_points)
         && NEW (&cluster->inverse, (gsize) clusters->n * SIDE * SIDE);
  if (done) {
    for (guint i = 0; i < b->n_segments; i++)
      for (guint k = 0; k < b->segments[i].n; k++)
        cluster->slot_camera[b->segments[i].first + k] = b->segments[i].camera;
    for (guint i = 0; i < clusters->n && !cvis_cancelled (); i++)
      cluster->first_point[i + 1] =
          list_points (b, cluster, i, last, cluster->first_point[i]);
    done = !cvis_cancelled () || cvis_refuse_cancelled (error);
  }
  free (last);
  if (done)
    return cluster;
  bundle_cluster_free (cluster);
  return NULL;
}

/* --- blocks -------------------------------------------------------------- */

/* Derivatives of one observation, weighted: 2 rows of 9, 2 of 3 */
static void
get_derivatives (
    const BundleBackend *b, gsize slot, guint32 camera, gdouble jac[24])
{
  const gdouble *x = b->points + BUNDLE_POINT * (gsize) b->slot_point[slot];
  const BundleConstants *c = &b->constants[camera];
  const BundleImage image = bundle_image (c, x[0], x[1], x[2]);

  bundle_derivatives (c, &image, jac, jac + 18);
  for (guint e = 0; e < 24; e++)
    jac[e] *= b->weight[slot];
}

/* Subtracts Ja^T (Pa V^-1 Pb^T) Jb in the rows of @i and the columns of @j */
static void
subtract_pair (const gdouble inverse[6], const gdouble ja[24],
    const gdouble jb[24], gdouble *a, guint i, guint j)
{
  gdouble v[2][3], e[2][2], g[2][9];

  for (guint k = 0; k < 2; k++)
    bundle_multiply_3 (
        inverse, jb[18 + 3 * k], jb[19 + 3 * k], jb[20 + 3 * k], v[k]);
  for (guint k = 0; k < 2; k++)
    for (guint l = 0; l < 2; l++)
      e[k][l] = ja[18 + 3 * k] * v[l][0] + ja[19 + 3 * k] * v[l][1]
                + ja[20 + 3 * k] * v[l][2];
  for (guint k = 0; k < 2; k++)
    for (guint c = 0; c < 9; c++)
      g[k][c] = e[k][0] * jb[c] + e[k][1] * jb[9 + c];
  for (guint r = 0; r < 9; r++)
    for (guint c = 0; c < 9; c++)
      a[(9 * i + r) * SIDE + 9 * j + c] -=
          ja[r] * g[0][c] + ja[9 + r] * g[1][c];
}

/* All pairs of the cluster's observations of a point, into the lower
 * triangle of @a. */
static void
subtract_point (const BundleBackend *b, guint32 number, guint32 point,
    gdouble (*jac)[24], guint32 *places, gdouble *a)
{
  const BundleCluster *cluster = b->cluster;
  const gdouble *inverse = b->inverse_v + 6 * (gsize) point;
  guint n = 0;

  for (guint32 k = b->point_first[point]; k < b->point_first[point + 1]; k++) {
    guint32 slot = b->point_slot[k];
    guint32 camera = cluster->slot_camera[slot];

    if (cluster->clusters.cluster_of[camera] != number)
      continue;
    get_derivatives (b, slot, camera, jac[n]);
    places[n] = cluster->clusters.place[camera];
    for (guint m = 0; m < n; m++) {
      if (places[m] <= places[n])
        subtract_pair (inverse, jac[n], jac[m], a, places[n], places[m]);
      if (places[m] >= places[n])
        subtract_pair (inverse, jac[m], jac[n], a, places[m], places[n]);
    }
    n++;
  }
}

/* Zeroes constant parameters, and products of shared intrinsics with other
 * parameters. */
static void
mask_cluster (const BundleBackend *b, const BundleMembers *members, gdouble *a)
{
  for (guint i = 0; i < 9 * members->n; i++) {
    guint32 camera = members->cameras[i / 9];
    gboolean constant = b->camera_constant[camera] >> i % 9 & 1;
    gboolean alone = b->shared && i % 9 >= BUNDLE_CAMERA_FOCAL;

    for (guint j = 0; j < 9 * members->n; j++) {
      gboolean same = i / 9 == j / 9 && j % 9 >= BUNDLE_CAMERA_FOCAL;

      if (constant || (alone && !same))
        a[i * SIDE + j] = a[j * SIDE + i] = 0;
    }
  }
}

static void
update_clusters (guint first, guint count, gpointer data)
{
  BundleBackend *b = data;
  const BundleCluster *cluster = b->cluster;

  for (guint c = first; c < first + count; c++) {
    const BundleMembers *members = &cluster->clusters.members[c];
    gdouble *a = cluster->inverse + (gsize) c * SIDE * SIDE;
    gsize begin = cluster->first_point[c], end = cluster->first_point[c + 1];
    gsize longest = 1;
    gdouble (*jac)[24];
    guint32 *places;

    memset (a, 0, SIDE * SIDE * sizeof *a);
    for (guint m = 0; m < members->n; m++)
      for (guint i = 0; i < 9; i++)
        for (guint j = 0; j <= i; j++)
          a[(9 * m + i) * SIDE + 9 * m + j] =
              b->schur[(gsize) members->cameras[m] * BUNDLE_TRIANGLE
                       + bundle_cpu_at (j, i)];
    for (gsize k = begin; k < end; k++) {
      guint32 point = cluster->points[k];

      longest =
          MAX (longest, b->point_first[point + 1] - b->point_first[point]);
    }
    jac = g_malloc_n (longest, sizeof *jac);
    places = g_new (guint32, longest);
    for (gsize k = begin; k < end; k++)
      subtract_point (b, c, cluster->points[k], jac, places, a);
    g_free (jac);
    g_free (places);
    mask_cluster (b, members, a);
    bundle_cpu_invert (a, 9 * members->n, SIDE);
  }
}

void
bundle_cluster_update (BundleBackend *b)
{
  cvis_pool_run (b->pool, b->cluster->clusters.n, 1, update_clusters, b);
}

static void
apply_clusters (guint first, guint count, gpointer data)
{
  BundleBackend *b = data;
  const BundleCluster *cluster = b->cluster;

  for (guint c = first; c < first + count; c++) {
    const BundleMembers *members = &cluster->clusters.members[c];
    const gdouble *a = cluster->inverse + (gsize) c * SIDE * SIDE;
    const guint n =
        MIN (members->n, BUNDLE_CLUSTER); /* lets gcc see the bound */
    gdouble r[SIDE];

    for (guint m = 0; m < n; m++)
      memcpy (r + 9 * m, cluster->r + 9 * (gsize) members->cameras[m],
          9 * sizeof *r);
    for (guint i = 0; i < 9 * n; i++) {
      gdouble sum = 0;

      for (guint j = 0; j < 9 * n; j++)
        sum += a[i * SIDE + j] * r[j];
      cluster->z[9 * (gsize) members->cameras[i / 9] + i % 9] = sum;
    }
  }
}

void
bundle_cluster_apply (BundleBackend *b, const gdouble *r, gdouble *z)
{
  b->cluster->r = r;
  b->cluster->z = z;
  cvis_pool_run (b->pool, b->cluster->clusters.n, 2, apply_clusters, b);
}
