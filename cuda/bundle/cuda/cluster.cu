/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The cluster preconditioner: the inverse of the Schur complement's diagonal
 * block of each cluster of cameras.
 *
 * The block of two cameras of a cluster is a sum over pairs of views, one of
 * each camera, of the same point. The host lists all pairs once, by cluster,
 * then by the cameras' positions in it. */
#include <stdlib.h>

#include "cuda/bundle/cuda/engine.cuh"
#include "cuda/core/cancel.h"
#include "cuda/core/memory.h"

namespace {

const int SIDE = BUNDLE_CLUSTER_SIDE;
const int THREADS = 128;
const int WARPS = THREADS / 32;

/* --- pairs, on the host ----------------------------------------------------------- */

struct HostLists {
  guint32 *view_point, *camera_segments; /* copies of the device's arrays */
  BundleSegment *segments;
  guint32
      *before;   /* of a view: previous view of the same point in the cluster */
  guint8 *place; /* of a view: position of its camera in the cluster */
  guint32 *last; /* of a point: its last view */
  guint32 *seen; /* of a point: 1 + the last cluster that saw it */
  gsize *first;  /* n_clusters * BUNDLE_CLUSTER_PAIRS + 1 indices into pairs */
  uint2 *pairs;
};

void
lists_clear (HostLists *l)
{
  free (l->view_point);
  free (l->camera_segments);
  free (l->segments);
  free (l->before);
  free (l->place);
  free (l->last);
  free (l->seen);
  free (l->first);
  free (l->pairs);
}

template <typename T>
gboolean
take_host (T **to, gsize n, GError **error)
{
  *to = (T *) cvis_memory_new (MAX (n, 1) * sizeof (T), TRUE, error);
  return *to != NULL;
}

template <typename T>
gboolean
read_device (T **to, const T *from, gsize n, GError **error)
{
  return take_host (to, n, error)
         && CVIS_CUDA (
             cudaMemcpy (*to, from, n * sizeof (T), cudaMemcpyDeviceToHost),
             error);
}

/* Writes the pairs of cluster @number, camera positions i >= j, to at[i (i +
 * 1) / 2 + j]++; with @pairs NULL only counts them. */
void
list_pairs (HostLists *l, const BundleMembers *members, guint32 number,
    gsize *at, uint2 *pairs)
{
  for (guint32 i = 0; i < members->n; i++) {
    const guint32 *segment = &l->camera_segments[members->cameras[i]];

    for (guint32 s = segment[0]; s < segment[1]; s++)
      for (guint32 v = l->segments[s].begin; v < l->segments[s].end; v++) {
        const guint32 p = l->view_point[v];

        l->before[v] = l->seen[p] == number + 1 ? l->last[p] : BUNDLE_NONE;
        l->place[v] = (guint8) i;
        l->seen[p] = number + 1;
        l->last[p] = v;
        for (guint32 o = l->before[v]; o != BUNDLE_NONE; o = l->before[o]) {
          const gsize k = at[i * (i + 1) / 2 + l->place[o]]++;

          if (pairs != NULL)
            pairs[k] = make_uint2 (v, o);
        }
      }
  }
}

/* Counts the pairs, turns counts into start indices, and lists the pairs. */
gboolean
fill_pairs (HostLists *l, const BundleClusters *clusters, guint32 n_points,
    GError **error)
{
  const gsize n = (gsize) clusters->n * BUNDLE_CLUSTER_PAIRS;
  gsize *first = l->first, total = 0;

  for (guint32 c = 0; c < clusters->n && !cvis_cancelled (); c++)
    list_pairs (l, &clusters->members[c], c,
        &first[(gsize) c * BUNDLE_CLUSTER_PAIRS], NULL);
  for (gsize k = 0; k < n; k++) {
    const gsize own = first[k];

    first[k] = total;
    total += own;
  }
  if (!take_host (&l->pairs, total, error))
    return FALSE;
  memset (l->seen, 0, n_points * sizeof *l->seen);
  for (guint32 c = 0; c < clusters->n && !cvis_cancelled (); c++)
    list_pairs (l, &clusters->members[c], c,
        &first[(gsize) c * BUNDLE_CLUSTER_PAIRS], l->pairs);
  /* each index has advanced to the start of the next list */
  memmove (first + 1, first, n * sizeof *first);
  first[0] = 0;
  return !cvis_cancelled () || cvis_refuse_cancelled (error);
}

gboolean
make_lists (HostLists *l, const BundleDevice *d, const BundleClusters *clusters,
    GError **error)
{
  const gsize n = (gsize) clusters->n * BUNDLE_CLUSTER_PAIRS;

  return read_device (&l->view_point, d->view_point, d->n_views, error)
         && read_device (&l->camera_segments, d->camera_segments,
             (gsize) d->n_cameras + 1, error)
         && read_device (&l->segments, d->segments, d->n_segments, error)
         && take_host (&l->before, d->n_views, error)
         && take_host (&l->place, d->n_views, error)
         && take_host (&l->last, d->n_points, error)
         && take_host (&l->seen, d->n_points, error)
         && take_host (&l->first, n + 1, error)
         && fill_pairs (l, clusters, d->n_points, error);
}

template <typename T>
gboolean
write_device (CvisArena *arena, T **to, const T *from, gsize n, GError **error)
{
  return cvis_arena_take (arena, to, n, "clusters of cameras", error)
         && CVIS_CUDA (
             cudaMemcpy (*to, from, n * sizeof (T), cudaMemcpyHostToDevice),
             error);
}

/* --- the blocks --------------------------------------------------------------------- */

/* Derivatives of a view by its camera and its point. */
__device__ __forceinline__ void
load_derivatives (const BundleDevice &d, guint32 view, guint32 camera,
    double jc[18], double jp[6])
{
  const BundlePoint point = bundle_load_point (&d.points[d.view_point[view]]);
  const BundleConstants c = bundle_load_camera (&d.records[camera]);
  const BundleImage image =
      bundle_image (&c, point.x[0], point.x[1], point.x[2]);
  bundle_derivatives (&c, &image, jc, jp);
}

/* Adds -Jc^T (Jp Z Jp^T) Jc over all pairs of two cameras of a cluster. One
 * block for two cameras: each lane computes the factors of a pair, then the
 * lanes sum elements. */
__global__ void
__launch_bounds__ (THREADS) add_pairs (BundleDevice d)
{
  const int N = 81;
  __shared__ double factors[WARPS][32][37]; /* Jc of one view, g of the other */
  __shared__ double totals[WARPS][N];
  const guint32 cluster = blockIdx.x / BUNDLE_CLUSTER_PAIRS;
  const int pair_of_places = blockIdx.x % BUNDLE_CLUSTER_PAIRS;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const gsize begin = d.pair_first[blockIdx.x];
  const gsize end = d.pair_first[blockIdx.x + 1];
  int i = 0;
  double sums[3] = {};

  if (begin == end)
    return;
  while ((i + 1) * (i + 2) / 2 <= pair_of_places)
    i++;
  const int j = pair_of_places - i * (i + 1) / 2;
  const BundleMembers *members = &d.members[cluster];

  for (gsize first = begin + 32 * warp; first < end; first += THREADS) {
    const int n = (int) MIN (32, end - first);

    if (lane < n) {
      const uint2 pair = d.pairs[first + lane];
      const double *z = &d.v_inverse[6 * (gsize) d.view_point[pair.x]];
      double *own = factors[warp][lane];
      double ja[18], pa[6], jb[18], pb[6], zp[6], weight = -1;

      load_derivatives (d, pair.x, members->cameras[i], ja, pa);
      load_derivatives (d, pair.y, members->cameras[j], jb, pb);
      if (d.robust)
        weight *= d.view_weight[pair.x] * d.view_weight[pair.y];
      bundle_multiply_3 (z, pb[0], pb[1], pb[2], zp);
      bundle_multiply_3 (z, pb[3], pb[4], pb[5], zp + 3);
      for (int e = 0; e < 18; e++)
        own[e] = ja[e];
      for (int k = 0; k < 2; k++) {
        const double *p = pa + 3 * k;
        const double e0 = weight * (p[0] * zp[0] + p[1] * zp[1] + p[2] * zp[2]);
        const double e1 = weight * (p[0] * zp[3] + p[1] * zp[4] + p[2] * zp[5]);

        for (int c = 0; c < 9; c++)
          own[18 + 9 * k + c] = e0 * jb[c] + e1 * jb[9 + c];
      }
    }
    __syncwarp ();
    for (int k = 0; k < n; k++) {
      const double *own = factors[warp][k];

      for (int m = 0; m < 3; m++) {
        const int e = MIN (lane + 32 * m, N - 1);

        sums[m] +=
            own[e / 9] * own[18 + e % 9] + own[9 + e / 9] * own[27 + e % 9];
      }
    }
    __syncwarp ();
  }
  for (int m = 0; m < 3; m++)
    if (lane + 32 * m < N)
      totals[warp][lane + 32 * m] = sums[m];
  __syncthreads ();
  double *block = &d.cluster_blocks[(gsize) cluster * SIDE * SIDE];

  for (int e = threadIdx.x; e < N; e += THREADS) {
    const int row = e / 9, column = e % 9;
    double sum = 0;

    for (int w = 0; w < WARPS; w++)
      sum += totals[w][e];
    /* a camera that observes the point twice: the pair and its transpose */
    for (int w = 0; i == j && w < WARPS; w++)
      sum += totals[w][9 * column + row];
    if (row >= column || i != j)
      block[(9 * i + row) * SIDE + 9 * j + column] += sum;
  }
}

/* Whether the block keeps element (@i, @j). Constant parameters, and
 * products of shared intrinsics with other parameters, are zero. */
__device__ __forceinline__ gboolean
is_kept (const BundleDevice &d, const BundleMembers *members, int i, int j)
{
  const gboolean same = i / 9 == j / 9 && i % 9 >= BUNDLE_CAMERA_FOCAL
                        && j % 9 >= BUNDLE_CAMERA_FOCAL;
  const gboolean alone =
      d.shared
      && (i % 9 >= BUNDLE_CAMERA_FOCAL || j % 9 >= BUNDLE_CAMERA_FOCAL);
  const guint constant = d.camera_constant[members->cameras[i / 9]] >> i % 9
                         | d.camera_constant[members->cameras[j / 9]] >> j % 9;

  return !(constant & 1) && (!alone || same);
}

/* Inverts each cluster's block, given by its lower triangle: L D L^T below
 * the diagonal, the inverse of L transposed above it, then L^-T D^-1 L^-1.
 * Rows whose pivot is rounding noise are left out. One block a cluster. */
__global__ void
__launch_bounds__ (THREADS) invert_clusters (BundleDevice d)
{
  __shared__ double a[SIDE][SIDE + 1];
  __shared__ double diagonal[SIDE], pivots[SIDE], column[SIDE];
  const BundleMembers *members = &d.members[blockIdx.x];
  double *block = &d.cluster_blocks[(gsize) blockIdx.x * SIDE * SIDE];
  const int n = 9 * (int) members->n;
  const int t = threadIdx.x;

  for (int e = t; e < n * n; e += THREADS) {
    const int i = e / n, j = e % n;

    if (j <= i)
      a[i][j] = is_kept (d, members, i, j) ? block[i * SIDE + j] : 0;
  }
  __syncthreads ();
  if (t < n)
    diagonal[t] = a[t][t];
  __syncthreads ();
  for (int j = 0; j < n; j++) {
    const double pivot = a[j][j];
    const gboolean kept = pivot > BUNDLE_PIVOT * diagonal[j];
    const int m = n - j - 1;

    if (t < m)
      column[j + 1 + t] = kept ? a[j + 1 + t][j] / pivot : 0;
    if (t == 0)
      pivots[j] = kept ? 1 / pivot : 0;
    __syncthreads ();
    for (int e = t; e < m * m; e += THREADS) {
      const int i = j + 1 + e / m, k = j + 1 + e % m;

      if (k <= i)
        a[i][k] -= column[i] * column[k] * (kept ? pivot : 0);
    }
    if (t < m)
      a[j + 1 + t][j] = column[j + 1 + t];
    __syncthreads ();
  }
  if (t < n)
    for (int i = t + 1; i < n; i++) {
      double sum = -a[i][t];

      for (int k = t + 1; k < i; k++)
        sum -= a[i][k] * a[t][k];
      a[t][i] = sum;
    }
  __syncthreads ();
  for (int e = t; e < n * n; e += THREADS) {
    const int i = e / n, j = e % n;

    if (j < i)
      continue;
    double sum = (i == j ? 1 : a[i][j]) * pivots[j];

    for (int k = j + 1; k < n; k++)
      sum += a[i][k] * a[j][k] * pivots[k];
    block[i * SIDE + j] = block[j * SIDE + i] = sum;
  }
}

} // namespace

gboolean
bundle_cuda_cluster (BundleDevice *device, CvisArena *arena,
    const BundleProblem *problem, GError **error)
{
  BundleClusters clusters;
  HostLists lists = {};
  gboolean ok;

  if (!bundle_clusters_init (&clusters, problem, error))
    return FALSE;
  const gsize n = (gsize) clusters.n * BUNDLE_CLUSTER_PAIRS;

  ok = make_lists (&lists, device, &clusters, error)
       && write_device (
           arena, &device->members, clusters.members, clusters.n, error)
       && write_device (arena, &device->cluster_of, clusters.cluster_of,
           device->n_cameras, error)
       && write_device (
           arena, &device->place, clusters.place, device->n_cameras, error)
       && write_device (arena, &device->pair_first, lists.first, n + 1, error)
       && write_device (
           arena, &device->pairs, lists.pairs, lists.first[n], error)
       && cvis_arena_take (arena, &device->cluster_blocks,
           (gsize) clusters.n * SIDE * SIDE, "the cluster preconditioner",
           error);
  if (ok)
    device->n_clusters = clusters.n;
  lists_clear (&lists);
  bundle_clusters_clear (&clusters);
  return ok;
}

cudaError_t
bundle_cuda_clear_clusters (const BundleDevice *device, cudaStream_t stream)
{
  return cudaMemsetAsync (device->cluster_blocks, 0,
      (gsize) device->n_clusters * SIDE * SIDE * sizeof (double), stream);
}

cudaError_t
bundle_cuda_invert_clusters (const BundleDevice *device, cudaStream_t stream)
{
  const BundleDevice &d = *device;

  add_pairs<<<d.n_clusters * BUNDLE_CLUSTER_PAIRS, THREADS, 0, stream>>> (d);
  invert_clusters<<<d.n_clusters, THREADS, 0, stream>>> (d);
  return cudaGetLastError ();
}
