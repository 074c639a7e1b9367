/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Device memory and kernels of the bundle adjustment.
 *
 * Points are sorted by number of observations, the most first, then by their
 * first two cameras. 32 consecutive points form a slice. A warp handles a
 * slice, one point for each lane; a point with many observations is a slice
 * of its own, and the lanes share its observations. The observations of a
 * slice lie in slots: slot + 32 j + lane is number j of the lane's point, or
 * of the lane's share.
 *
 * A second copy of the observations, called views, is sorted by camera, then
 * by point. A camera's views are cut into segments of at most
 * BUNDLE_SEGMENT, and a warp handles a segment. The segments' sums are added
 * in a second step, in the order of the segments.
 *
 * Vectors of cameras have 9 elements for each camera. Shared intrinsics are
 * the last three elements of camera 0: products read them for all cameras
 * and add to them. */
#pragma once

#include "cuda/bundle/arithmetic.h"
#include "cuda/bundle/cluster.h"
#include "cuda/core/device/arena.cuh"

#define BUNDLE_SEGMENT 256
#define BUNDLE_LONG 64 /* longest point that shares a slice with others */
#define BUNDLE_NONE 0xffffffffu /* camera of an empty slot */
#define BUNDLE_CAMERA_BLOCKS                                                   \
  512 /* blocks of kernels over vectors of cameras, at most */
#define BUNDLE_COLUMN_BLOCKS 64
/* largest number of slices and of segments of a small problem, whose iterations
 * are one kernel */
#define BUNDLE_SMALL 8192
#define BUNDLE_N_BLOCK 45  /* elements of a symmetric 9 x 9 block */
#define BUNDLE_N_LINEAR 54 /* the same, and a gradient */
#define BUNDLE_N_SHARED                                                        \
  9 /* the intrinsics' 3 x 3 block and gradient, summed over all cameras */
#define BUNDLE_CLUSTER_PAIRS (BUNDLE_CLUSTER * (BUNDLE_CLUSTER + 1) / 2)

struct BundleSlice {
  guint32 slot;
  guint32 width; /* slots for each lane */
  guint32 point;
  guint32 n; /* number of points; 0: one point shared by all lanes */
};

struct BundleSegment {
  guint32 camera;
  guint32 begin, end; /* range of views */
};

/* A camera, as kernels whose threads have the same one read it.
 * @x: its part of the step */
struct alignas (16) BundleRecord {
  double r[9], t[3], focal, k1, k2;
  double x[9];
};

/* The same in fewer bytes, for threads with different cameras: loads of
 * whole records saturate the L1 cache.
 * @x: its part of the vector to multiply
 * @turn: the rotation as modified Rodrigues parameters, axis times the
 *   tangent of a quarter of the angle; |turn| <= 1 */
struct alignas (16) BundlePose {
  double turn[3], t[3], focal, k1, k2;
  double x[9];
};

/* A point. @y: its part of the vector to multiply; after the last product,
 * its step */
struct alignas (16) BundlePoint {
  double x[3];
  double y[3];
};

/* State of the conjugate gradients.
 * @rho: r . z, by parity of the iteration */
struct BundlePcg {
  double rho[2];
  double model; /* quadratic model after the last iteration */
  double radius;
  guint32 iterations;
  guint32 done;
};

/* Columns of camera_dots: sums of each block. */
enum {
  BUNDLE_DOT_PQ,
  BUNDLE_DOT_RZ,
  BUNDLE_DOT_MODEL, /* x . (b + r) */
  BUNDLE_N_DOTS,
};

enum {
  BUNDLE_RESULT_COST,  /* cost of the candidate */
  BUNDLE_RESULT_MODEL, /* decrease of the cost predicted by the linear model */
  BUNDLE_RESULT_POINT_STEP, /* |step|^2 */
  BUNDLE_RESULT_POINT_NORM, /* |x|^2 */
  BUNDLE_RESULT_CAMERA_STEP,
  BUNDLE_RESULT_CAMERA_NORM,
  BUNDLE_RESULT_STATE_COST,
  BUNDLE_RESULT_POINT_GRADIENT, /* largest absolute value */
  BUNDLE_RESULT_CAMERA_GRADIENT,
  BUNDLE_N_RESULTS,
};

/* All device memory, the first parameter of each kernel. n_points counts the
 * points that are observed. */
struct BundleDevice {
  guint32 n_cameras, n_points, n_slices, n_segments;
  guint32 n_slots, n_views;
  guint32 camera_blocks; /* of the kernels over vectors of cameras */
  gboolean shared, robust;
  gboolean reduced; /* preconditioner: blocks of the Schur complement */
  BundleLoss loss;
  double loss_scale;
  double eta;
  guint32 max_pcg;
  /* observations */
  BundleSlice *slices;
  guint32 *slot_camera;
  double2 *slot_observed;
  double *slot_weight; /* rho'; only if robust */
  BundleSegment *segments;
  guint32 *camera_segments; /* n_cameras + 1 */
  guint32 *view_point;
  double2 *view_observed;
  double *view_weight;
  /* cameras */
  guint16 *camera_constant;
  double *parameters, *candidate; /* 9 for each camera */
  BundleRecord *records, *candidates;
  BundlePose *poses; /* of records */
  double *camera_scale;
  double *blocks; /* BUNDLE_N_LINEAR for each camera: of J^T J, gradient */
  double *schur_blocks;  /* BUNDLE_N_BLOCK for each camera */
  double *shared_blocks; /* BUNDLE_N_SHARED of blocks, then of schur_blocks */
  double *system, *inverse; /* 81 each: damped block, preconditioner */
  double *partial;          /* of segments: BUNDLE_N_LINEAR each, or 9 */
  double *b, *x, *r, *q, *z, *p[2];
  /* clusters of cameras; n_clusters 0: each camera has its own
   * preconditioner */
  guint32 n_clusters;
  BundleMembers *members;
  guint32 *cluster_of, *place; /* of a camera: cluster, position in it */
  double *cluster_blocks; /* BUNDLE_CLUSTER_SIDE squared for each cluster */
  gsize *pair_first;      /* BUNDLE_CLUSTER_PAIRS of a cluster: into pairs */
  uint2 *pairs;           /* two views of the same point */
  /* points */
  guint32 *order;         /* indices of the points in the problem */
  guint8 *point_constant; /* in the problem's order */
  BundlePoint *points;
  double *v, *v_inverse; /* 6 for each point: of J^T J, of its damped inverse */
  double *v_gradient;    /* 3 for each point */
  double *v_scale;       /* of a point */
  /* sums */
  double *camera_dots;  /* camera_blocks x BUNDLE_N_DOTS */
  double *shared_sums;  /* camera_blocks x 3 */
  double *slice_sums;   /* n_slices x 2 */
  double *segment_sums; /* n_segments x 2 */
  double *camera_sums;  /* n_cameras x 2 */
  double *column_sums;  /* BUNDLE_COLUMN_BLOCKS x 2 */
  double *results;
  BundlePcg *pcg;
};

/* order.cu: sorts the problem into slots and views; takes memory from
 * @arena.
 * @threads: that copy a large problem
 * @peak: largest amount of device memory in use meanwhile, in bytes */
gboolean bundle_cuda_order (BundleDevice *device, CvisArena *arena,
    const BundleProblem *problem, guint threads, cudaStream_t stream,
    gsize *peak, GError **error);

/* cluster.cu: the clusters and their pairs of views; call after
 * bundle_cuda_order(). */
gboolean bundle_cuda_cluster (BundleDevice *device, CvisArena *arena,
    const BundleProblem *problem, GError **error);
/* Zeroes the cluster blocks, before the diagonal blocks are written. */
cudaError_t bundle_cuda_clear_clusters (
    const BundleDevice *device, cudaStream_t stream);
/* Adds the off-diagonal blocks and inverts. */
cudaError_t bundle_cuda_invert_clusters (
    const BundleDevice *device, cudaStream_t stream);

/* linear.cu */
/* Computes records and poses from parameters, or, if @candidate, candidates from
 * candidate. */
cudaError_t bundle_cuda_prepare_cameras (
    const BundleDevice *device, gboolean candidate, cudaStream_t stream);
/* Writes the candidate's cost, the model's decrease and the norms to
 * results. */
cudaError_t bundle_cuda_evaluate (
    const BundleDevice *device, cudaStream_t stream);
/* Computes the blocks of J^T J, the gradient and the weights; if @first,
 * also the column scales. */
cudaError_t bundle_cuda_linearise (
    const BundleDevice *device, gboolean first, cudaStream_t stream);
/* Computes damped blocks, preconditioner, and Z b of the points, for pcg's
 * radius. */
cudaError_t bundle_cuda_damp (const BundleDevice *device, cudaStream_t stream);
/* Makes the candidate the state. */
cudaError_t bundle_cuda_accept (
    const BundleDevice *device, cudaStream_t stream);
/* Copies the observed points to their positions in @all, device memory. */
cudaError_t bundle_cuda_read_points (
    const BundleDevice *device, double *all, cudaStream_t stream);

/* pcg.cu */
/* Right-hand side and first direction; pcg is zero except for its radius. */
cudaError_t bundle_cuda_pcg_start (
    const BundleDevice *device, cudaStream_t stream);
/* One iteration; @parity: 0 for the first, then 1, 0, .. */
cudaError_t bundle_cuda_pcg_iterate (
    const BundleDevice *device, guint parity, cudaStream_t stream);
/* @blocks: grid of the kernel of all iterations; 0 for a large problem, for
 * which a kernel for each part of an iteration is faster. */
cudaError_t bundle_cuda_pcg_fit (const BundleDevice *device, guint *blocks);
/* All iterations in one kernel. */
cudaError_t bundle_cuda_pcg_iterate_to_stop (
    const BundleDevice *device, guint blocks, cudaStream_t stream);
/* Computes the points' step and the cameras' candidate. */
cudaError_t bundle_cuda_pcg_finish (
    const BundleDevice *device, cudaStream_t stream);

#ifdef __CUDACC__

/* Sums @n values over a warp, in a fixed order; all lanes get the sums. */
template <int N>
static __device__ __forceinline__ void
bundle_warp_sum (double (&values)[N])
{
#pragma unroll
  for (int e = 0; e < N; e++)
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2)
      values[e] += __shfl_xor_sync (0xffffffffu, values[e], lane);
}

/* Sums @n values over a block of up to 1024 threads; thread 0 gets the sums. */
template <int N>
static __device__ __forceinline__ void
bundle_block_sum (double (&values)[N])
{
  __shared__ double warps[32][N];

  bundle_warp_sum (values);
  __syncthreads (); /* protects the shared memory of the previous call */
  if (threadIdx.x % 32 == 0)
    for (int e = 0; e < N; e++)
      warps[threadIdx.x / 32][e] = values[e];
  __syncthreads ();
  if (threadIdx.x == 0)
    for (int warp = 1; warp < (int) (blockDim.x / 32); warp++)
      for (int e = 0; e < N; e++)
        values[e] += warps[warp][e];
}

static __device__ __forceinline__ BundleConstants
bundle_load_camera (const BundleRecord *record)
{
  BundleConstants c;

  for (int i = 0; i < 9; i++)
    c.r[i] = record->r[i];
  for (int i = 0; i < 3; i++)
    c.t[i] = record->t[i];
  c.focal = record->focal;
  c.k1 = record->k1;
  c.k2 = record->k2;
  return c;
}

/* Loads a pose, 16 bytes at a time. */
static __device__ __forceinline__ BundlePose
bundle_load_pose (const BundlePose *pose)
{
  BundlePose copy;

#pragma unroll
  for (int i = 0; i < (int) (sizeof copy / 16); i++)
    ((double2 *) &copy)[i] = ((const double2 *) pose)[i];
  return copy;
}

static __device__ __forceinline__ BundleConstants
bundle_unpack_pose (const BundlePose *pose)
{
  const double *s = pose->turn;
  const double k = 1 / (1 + s[0] * s[0] + s[1] * s[1] + s[2] * s[2]);
  /* the quaternion is 2 k - 1 and 2 k s; x: twice its vector part */
  const double w = 2 * k - 1;
  const double x = 4 * k * s[0], y = 4 * k * s[1], z = 4 * k * s[2];
  const double hx = 0.5 * x, hy = 0.5 * y, hz = 0.5 * z;
  BundleConstants c;

  c.r[0] = 1 - (y * hy + z * hz);
  c.r[1] = x * hy - w * z;
  c.r[2] = x * hz + w * y;
  c.r[3] = x * hy + w * z;
  c.r[4] = 1 - (x * hx + z * hz);
  c.r[5] = y * hz - w * x;
  c.r[6] = x * hz - w * y;
  c.r[7] = y * hz + w * x;
  c.r[8] = 1 - (x * hx + y * hy);
  for (int i = 0; i < 3; i++)
    c.t[i] = pose->t[i];
  c.focal = pose->focal;
  c.k1 = pose->k1;
  c.k2 = pose->k2;
  return c;
}

static __device__ __forceinline__ BundlePoint
bundle_load_point (const BundlePoint *point)
{
  BundlePoint copy;

#pragma unroll
  for (int i = 0; i < (int) (sizeof copy / 16); i++)
    ((double2 *) &copy)[i] = ((const double2 *) point)[i];
  return copy;
}

#endif
