/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Device memory and kernels of the bundle adjustment.
 *
 * Points are put into an order of their own: by number of observations, the
 * most first, then by their first two cameras. 32 points that follow each other
 * are a slice, and a warp does a slice, a point a lane; a point with many
 * observations is a slice alone, and the lanes share its observations. The
 * observations of a slice lie in slots: slot + 32 j + lane is number j of the
 * lane's point, or of the lane's share.
 *
 * The same observations lie a second time by cameras, then by points, called
 * views. A camera's views are cut into segments of at most
 * BUNDLE_SEGMENT, and a warp does a segment. Its sums are added in a
 * second step, in the order of the segments.
 *
 * Vectors of cameras have 9 elements for each camera. Shared intrinsics are camera
 * 0's last three: products read those for all cameras, and add to them. */
#pragma once

#include "cuda/bundle/arithmetic.h"
#include "cuda/bundle/cluster.h"
#include "cuda/core/arena.cuh"

#define BUNDLE_SEGMENT 256
#define BUNDLE_LONG 64 /* points with more observations are a slice alone */
#define BUNDLE_NONE 0xffffffffu /* camera of a slot that is empty */
#define BUNDLE_CAMERA_BLOCKS                                                   \
  512 /* of kernels over vectors of cameras, at most */
#define BUNDLE_POINT_BLOCKS 1024  /* of points */
#define BUNDLE_VECTOR_THREADS 256 /* of these kernels */
#define BUNDLE_COLUMN_BLOCKS 64
#define BUNDLE_N_BLOCK 45  /* elements of a symmetric 9 x 9 block */
#define BUNDLE_N_LINEAR 54 /* the same and a gradient */
#define BUNDLE_N_SHARED                                                        \
  9 /* sums of the intrinsics' 3 x 3 blocks and gradients */
#define BUNDLE_CLUSTER_PAIRS (BUNDLE_CLUSTER * (BUNDLE_CLUSTER + 1) / 2)

struct BundleSlice {
  guint32 slot;
  guint32 width; /* slots of a lane */
  guint32 point;
  guint32 n; /* points, or 0: one point that all lanes share */
};

struct BundleSegment {
  guint32 camera;
  guint32 begin, end; /* views */
};

/* A camera as the products read it.
 * @x: the vector to be multiplied, its rotation already by L where the Jacobian
 *   is not stored */
struct alignas (16) BundleRecord {
  double r[9], t[3], focal, k1, k2;
  double x[9];
};

/* The same in fewer bytes, for threads whose cameras differ: the loads of whole
 * records fill the L1 cache's pipeline.
 * @turn: the rotation as modified Rodrigues parameters, its axis times the tangent
 *   of a quarter of its angle; |turn| <= 1 */
struct alignas (16) BundlePose {
  double turn[3], t[3], focal, k1, k2;
  double x[9];
};

/* @y: the point's part of the vector to be multiplied; at last its step */
struct alignas (16) BundlePoint {
  double x[3];
  double y[3];
};

/* State of the conjugate gradients.
 * @rho: r . z, by parity of the iteration */
struct BundlePcg {
  double rho[2];
  double model; /* quadratic model after the last iteration */
  double norm;  /* |b|^2 */
  double radius;
  guint32 iterations;
  guint32 done;
};

/* Columns of camera_dots and point_dots. */
enum {
  BUNDLE_DOT_PQ,
  BUNDLE_DOT_RZ,
  BUNDLE_DOT_MODEL, /* x . (b + r) */
  BUNDLE_DOT_RR,
  BUNDLE_N_DOTS,
};

enum {
  BUNDLE_RESULT_COST,       /* at the candidate */
  BUNDLE_RESULT_MODEL,      /* decrease that the model promises */
  BUNDLE_RESULT_POINT_STEP, /* |step|^2 */
  BUNDLE_RESULT_POINT_NORM, /* |x|^2 */
  BUNDLE_RESULT_CAMERA_STEP,
  BUNDLE_RESULT_CAMERA_NORM,
  BUNDLE_RESULT_STATE_COST,
  BUNDLE_RESULT_POINT_GRADIENT, /* greatest absolute value */
  BUNDLE_RESULT_CAMERA_GRADIENT,
  BUNDLE_N_RESULTS,
};

/* All of it, a kernel's first parameter. n_points are those that are seen. */
struct BundleDevice {
  guint32 n_cameras, n_points, n_slices, n_segments;
  guint32 n_slots, n_views;
  guint32 camera_blocks, point_blocks; /* of kernels over vectors */
  gboolean schur, shared, robust;
  gboolean reduced; /* the preconditioner is of the Schur complement's blocks */
  BundleLoss loss;
  double loss_scale;
  double eta, tolerance;
  guint32 max_pcg;
  /* observations */
  BundleSlice *slices;
  guint32 *slot_camera;
  double2 *slot_observed;
  double *slot_weight; /* rho'; where robust */
  BundleSegment *segments;
  guint32 *camera_segments; /* n_cameras + 1 */
  guint32 *view_point;
  double2 *view_observed;
  double *view_weight;
  /* cameras */
  guint16 *camera_constant;
  double *parameters, *candidate; /* 9 each */
  BundleRecord *records, *candidates;
  BundlePose *poses;      /* of records */
  double *left_jacobians; /* L, 9 each */
  double *camera_scale;
  double *blocks;        /* BUNDLE_N_LINEAR each: of J^T J, and the gradient */
  double *schur_blocks;  /* BUNDLE_N_BLOCK each */
  double *shared_blocks; /* BUNDLE_N_SHARED, and as many of schur_blocks */
  double *system, *inverse; /* 81 each: damped blocks, preconditioner */
  double *partial;          /* of segments: BUNDLE_N_LINEAR each */
  double *b, *x, *r, *q, *z, *p[2];
  /* clusters of cameras; 0: each camera has a preconditioner of its own */
  guint32 n_clusters;
  BundleMembers *members;
  guint32 *cluster_of, *place; /* of a camera */
  double *cluster_blocks;      /* BUNDLE_CLUSTER_SIDE squared each */
  gsize *pair_first; /* BUNDLE_CLUSTER_PAIRS of a cluster: into pairs */
  uint2 *pairs;      /* of views of the same point */
  /* points */
  guint32 *order;         /* their numbers in the problem */
  guint8 *point_constant; /* in the problem's order */
  BundlePoint *points;
  double *v, *v_inverse; /* 6 each: blocks of J^T J, inverses of the damped */
  double *v_gradient, *v_scale;
  double *px, *pr, *pq; /* 3 each; full system */
  /* sums */
  double *camera_dots;  /* camera_blocks x BUNDLE_N_DOTS */
  double *shared_sums;  /* camera_blocks x 3 */
  double *point_dots;   /* point_blocks x BUNDLE_N_DOTS */
  double *slice_sums;   /* n_slices x 2 */
  double *segment_sums; /* n_segments x 2 */
  double *camera_sums;  /* n_cameras x 2 */
  double *column_sums;  /* BUNDLE_COLUMN_BLOCKS x 2 */
  double *results;
  BundlePcg *pcg;
  /* stored Jacobian or W, by slots and by views */
  void *slot_stored, *view_stored;
};

/* How products get at J or W. */
typedef struct {
  BundleWStorage w_storage;
  BundleLayout layout;
  BundlePrecision precision;
} BundleProducts;

/* order.cu: builds slots and views of the problem, and takes their memory from
 * @arena.
 * @peak: greatest device memory in use meanwhile */
gboolean bundle_cuda_order (BundleDevice *device, CvisArena *arena,
    const BundleProblem *problem, cudaStream_t stream, gsize *peak,
    GError **error);

/* cluster.cu: the clusters and the pairs of their views, after the order. */
gboolean bundle_cuda_cluster (BundleDevice *device, CvisArena *arena,
    const BundleProblem *problem, GError **error);
/* Zeros, before the diagonal blocks are written. */
cudaError_t bundle_cuda_clear_clusters (
    const BundleDevice *device, cudaStream_t stream);
/* The other blocks, and the inverses. */
cudaError_t bundle_cuda_invert_clusters (
    const BundleDevice *device, cudaStream_t stream);
/* z = M^-1 r, and the sums of r . z */
void bundle_cuda_precondition (const BundleDevice *device, cudaStream_t stream);

/* linear.cu */
/* From parameters to records and L; @candidate: from candidate to candidates */
cudaError_t bundle_cuda_prepare_cameras (
    const BundleDevice *device, gboolean candidate, cudaStream_t stream);
/* Cost at the candidate, decrease of the model, norms: to results */
cudaError_t bundle_cuda_evaluate (
    const BundleDevice *device, cudaStream_t stream);
/* Blocks of J^T J, gradient, weights; @first: the scales too */
cudaError_t bundle_cuda_linearise (
    const BundleDevice *device, gboolean first, cudaStream_t stream);
/* Damped blocks, preconditioner, and Z b of the points */
cudaError_t bundle_cuda_damp (
    const BundleDevice *device, double radius, cudaStream_t stream);
/* The candidate becomes the state */
cudaError_t bundle_cuda_accept (
    const BundleDevice *device, cudaStream_t stream);
/* The points that are seen, to their places among @all in device memory */
cudaError_t bundle_cuda_read_points (
    const BundleDevice *device, double *all, cudaStream_t stream);

/* pcg.cu */
/* Bytes of an observation that is stored */
gsize bundle_cuda_stored_size (const BundleProducts *products);
cudaError_t bundle_cuda_store (const BundleDevice *device,
    const BundleProducts *products, cudaStream_t stream);
/* Right side and start */
cudaError_t bundle_cuda_pcg_start (const BundleDevice *device,
    const BundleProducts *products, double radius, cudaStream_t stream);
/* One iteration; @parity: 0 for the first, then in turn */
cudaError_t bundle_cuda_pcg_iterate (const BundleDevice *device,
    const BundleProducts *products, guint parity, cudaStream_t stream);
/* The points' step, and the candidate of the cameras */
cudaError_t bundle_cuda_pcg_finish (const BundleDevice *device,
    const BundleProducts *products, cudaStream_t stream);

#ifdef __CUDACC__

/* Sums @n values over a warp: all lanes get them, added in a fixed order. */
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

/* Sums @n values over a block of up to 1024 threads: thread 0 gets them. */
template <int N>
static __device__ __forceinline__ void
bundle_block_sum (double (&values)[N])
{
  __shared__ double warps[32][N];

  bundle_warp_sum (values);
  __syncthreads (); /* of the call before */
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

static __device__ __forceinline__ void
bundle_load_left (const BundleDevice &d, guint32 camera, BundleConstants *c)
{
  for (int i = 0; i < 9; i++)
    c->l[i] = d.left_jacobians[9 * (gsize) camera + i];
}

/* A pose by loads of 16 bytes. */
static __device__ __forceinline__ BundlePose
bundle_load_pose (const BundlePose *pose)
{
  BundlePose copy;

#pragma unroll
  for (int i = 0; i < (int) (sizeof copy / 16); i++)
    ((double2 *) &copy)[i] = ((const double2 *) pose)[i];
  return copy;
}

/* The constants but for L. */
static __device__ __forceinline__ BundleConstants
bundle_unpack_pose (const BundlePose *pose)
{
  const double *s = pose->turn;
  const double k = 1 / (1 + s[0] * s[0] + s[1] * s[1] + s[2] * s[2]);
  /* the quaternion: 2 k - 1 and 2 k s; x: twice its vector */
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
