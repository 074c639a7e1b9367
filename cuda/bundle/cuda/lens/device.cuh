/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Device memory and kernels of the CUDA backend for cameras with lenses
 * (cuda/bundle/lens). Private.
 *
 * Points, slices, slots, views and segments are those of engine.cuh. A warp handles a
 * segment, so its lanes have one camera and one model; a kernel over segments is compiled
 * for each model and launched for the segments of that model. It writes products for the
 * points to the slots of its views, which a warp of a slice adds.
 *
 * A vector has 6 elements for each pose, that of a camera, and then BUNDLE_LENS_SIZE for
 * each lens; those of constant parameters are 0. Sums of a lens run over chunks of segments
 * or cameras of that lens, then over the chunks: each sum has one order.
 *
 * With rigs the poses are those of frames, the cameras are sorted by frame, and a lens has
 * six elements more, for the pose of its sensor (R, t). A step x of frame and sensor is the
 * step A x_frame + x_sensor of the camera, A = [R 0; [t]x R R]. The kernels over segments
 * have the cameras' steps and do not know rigs; those of rigs.cu go from a vector to that
 * of the cameras and, with the transpose, from sums of cameras to those of frames and
 * lenses, which the other kernels add like sums of segments. */
#pragma once

#include "cuda/bundle/cuda/columns.cuh"
#include "cuda/bundle/cuda/engine.cuh"
#include "cuda/bundle/lens/observation.h"
#include "cuda/bundle/prior.h"

#define LENS_POSE 6
#define LENS_UNKNOWNS (LENS_POSE + BUNDLE_LENS_SIZE)
#define LENS_PLACED                                                            \
  (BUNDLE_LENS_SIZE + LENS_POSE) /* columns of a lens in a rig */
#define LENS_CHUNK 64            /* rows of a chunk, at most */
#define LENS_PRODUCT 4           /* doubles between the products of two slots */
#define LENS_NORMAL 9 /* the same for the blocks and gradients of points */

/* Numbers of a segment after its linearisation: gradient and squares of the columns of the
 * pose, then of the lens */
#define LENS_LINEAR (2 * LENS_UNKNOWNS)
/* Elements of the upper triangle of @n rows; of 18 rows */
#define LENS_PACKED(n) ((n) * ((n) + 1) / 2)
#define LENS_TRIANGLE LENS_PACKED (LENS_UNKNOWNS)

/* @begin, @end: rows of a list, of one lens */
struct LensChunk {
  guint32 begin, end;
};

/* Rows that are added for each lens. Those of a lens are together in @list.
 * @of_lens: n_lenses + 1: first chunk of each */
struct LensRows {
  guint32 n_chunks;
  guint32 *list;
  LensChunk *chunks;
  guint32 *of_lens;
};

/* @constant: bits of the columns, those of the sensor last */
struct LensInfo {
  guint8 n_focal, size;
  guint32 constant;
};

/* Lenses that share frames. @inverse: of their block, in lens_inverse */
struct LensGroup {
  guint32 first, n;
  gsize inverse;
};

/* Block of lenses @row >= @column of group @group, and its chunks of pairs of cameras */
struct LensBlock {
  guint32 group, row, column, begin, end;
};

/* Columns of dots: sums of each block. */
enum {
  LENS_DOT_PQ,
  LENS_DOT_RZ,
  LENS_DOT_MODEL, /* x . (b + r) */
  LENS_N_DOTS,
};

enum {
  LENS_RESULT_COST, /* of the candidate */
  LENS_RESULT_MODEL,
  LENS_RESULT_POINT_STEP, /* squares of step and state */
  LENS_RESULT_POINT_NORM,
  LENS_RESULT_CAMERA_STEP,
  LENS_RESULT_CAMERA_NORM,
  LENS_RESULT_LENS_STEP,
  LENS_RESULT_LENS_NORM,
  LENS_RESULT_STATE_COST,
  LENS_RESULT_POINT_GRADIENT, /* largest absolute values */
  LENS_RESULT_CAMERA_GRADIENT,
  LENS_RESULT_LENS_GRADIENT,
  LENS_RESULT_PRIOR_COST, /* of the candidate */
  LENS_RESULT_PRIOR_MODEL,
  LENS_RESULT_PRIOR_STATE_COST, /* and the decrease of the model, unused */
  LENS_RESULT_PRIOR_UNUSED,
  LENS_N_RESULTS,
};

/* Of a camera: R A R^T and gradient, for the translation of its step */
struct LensPrior {
  double block[9], gradient[3];
};

/**
 * BundleLensDevice: all device memory, the first parameter of each kernel. Of the base,
 * blocks, vectors and records of cameras are not used.
 * @columns: of a lens: BUNDLE_LENS_SIZE, or with rigs LENS_PLACED
 * @model_first: segments of each model in segments_of.list
 * @lens_blocks: of kernels over vectors of lenses; those for poses are camera_blocks
 * @rows: sums that are added for poses and lenses: those of segments, or with rigs of
 *   cameras, @row_size apart, in the linearisation twice that; @pose_rows: n_poses + 1:
 *   first row of each pose; @rows_of: those of each lens
 * @pose_cameras: (nullable): n_poses + 1: first camera of each frame. Only with rigs;
 *   @pose_of: of each camera its frame
 * @view_slot: of each view
 * @products: of each slot
 * @triangles: of each camera: the blocks of the Schur complement; @folded: the same of its
 *   pose and the columns of its lens
 * @inverses: of each pose: B^-1, 6 x 6; @couplings, @solved: of each camera: W and B^-1 W,
 *   6 x columns; @parts: of each camera: its part of the lens's block, packed
 * @contributions: of each camera: its part of a vector of its lens
 * @sensors, @new_sensors: of each lens, 9; @steps: A of each lens
 * @expanded: steps of the cameras, and those of the lenses without sensors
 * @pairs: two cameras of a frame; @pair_chunks: of pairs with the same lenses; @pair_sums:
 *   of each chunk, columns x columns
 * @right: right-hand sides of the lenses; @scratch: as large as lens_inverse
 * @priors: (nullable): sorted by camera; @prior_first: n_cameras + 1; @prior_sums: cost and
 *   decrease of the model of each camera
 * @u: B^-1 r of the poses and T^-1 r of the lenses, as docs/design/bundle.md has them
 */
struct BundleLensDevice : BundleDevice {
  guint32 n_poses, n_lenses, columns, lens_blocks;
  guint32 model_first[BUNDLE_N_LENS_MODELS + 1];
  LensRows segments_of, cameras_of, rows_of;
  double *rows;
  guint32 row_size, *pose_rows;
  LensInfo *info;
  guint32 *lens_of;
  double *lenses, *new_lenses; /* BUNDLE_LENS_SIZE for each */
  BundleConstants *constants, *new_constants;
  guint32 *view_slot;
  double *products;
  gsize n_vector;
  double *gradient, *diagonal, *scale, *damping, *u, *direction;
  double *triangles, *folded, *parts, *contributions, *lens_inverse;
  double *inverses, *couplings, *solved, *chunk_sums;
  double *dots;      /* LENS_N_DOTS for each block */
  double *lens_sums; /* n_lenses x 2 */
  BundlePrior *priors;
  guint32 *prior_first;
  LensPrior *prior_of; /* of each camera */
  double *prior_sums;
  /* rigs */
  guint32 *pose_cameras, *pose_of;
  double *sensors, *new_sensors, *steps, *expanded;
  guint32 n_groups, n_blocks, n_pair_chunks;
  LensGroup *groups;
  LensBlock *blocks_of;
  uint2 *pairs;
  LensChunk *pair_chunks;
  double *pair_sums, *right, *scratch;
};

/* views.cu: loops over the segments */
/* Sets view_slot. */
cudaError_t bundle_lens_find_slots (
    const BundleLensDevice *device, cudaStream_t stream);
/* partial: LENS_LINEAR; products: LENS_NORMAL; segment_sums: cost; the weights */
cudaError_t bundle_lens_linearise_views (
    const BundleLensDevice *device, cudaStream_t stream);
/* products: Jp^T Jc x; with @unless_done not after the conjugate gradients' stop */
cudaError_t bundle_lens_multiply_forward (const BundleLensDevice *device,
    const double *x, gboolean unless_done, cudaStream_t stream);
/* partial, LENS_UNKNOWNS: Jc^T (Jp y - Jc x), y: of the points; @x: (nullable): 0 */
cudaError_t bundle_lens_multiply_backward (
    const BundleLensDevice *device, const double *x, cudaStream_t stream);
/* partial: upper triangles of Jc^T (I - Jp V^-1 Jp^T) Jc, or, @alone, of Jc^T Jc */
cudaError_t bundle_lens_sum_triangles (
    const BundleLensDevice *device, gboolean alone, cudaStream_t stream);
/* segment_sums: cost of the candidate and decrease of the model by the step @x */
cudaError_t bundle_lens_evaluate_views (
    const BundleLensDevice *device, const double *x, cudaStream_t stream);

/* normal.cu */
cudaError_t bundle_lens_prepare_cameras (
    const BundleLensDevice *device, gboolean candidate, cudaStream_t stream);
cudaError_t bundle_lens_linearise (
    const BundleLensDevice *device, gboolean first, cudaStream_t stream);
/* For pcg's radius: damping, V^-1, y = V^-1 g of the points, the preconditioner */
cudaError_t bundle_lens_damp (
    const BundleLensDevice *device, cudaStream_t stream);
/* Candidates of points, cameras and lenses for the solution x, and the results. */
cudaError_t bundle_lens_evaluate (
    const BundleLensDevice *device, cudaStream_t stream);
cudaError_t bundle_lens_accept (
    const BundleLensDevice *device, cudaStream_t stream);
/* triangles and folded: of each camera, from partial */
cudaError_t bundle_lens_add_triangles (
    const BundleLensDevice *device, cudaStream_t stream);

/* rigs.cu; without rigs these do nothing */
/* Constants of the cameras, and A of the sensors. */
cudaError_t bundle_lens_place_cameras (
    const BundleLensDevice *device, gboolean candidate, cudaStream_t stream);
/* expanded, for the vector @x. Returns it, or without rigs @x */
const double *bundle_lens_expand (const BundleLensDevice *device,
    const double *x, gboolean unless_done, cudaStream_t stream);
/* rows: gradients and squares, from partial, which is overwritten */
cudaError_t bundle_lens_fold_linear (
    const BundleLensDevice *device, cudaStream_t stream);
/* rows, from partial; @start: without the product of the priors */
cudaError_t bundle_lens_fold_products (
    const BundleLensDevice *device, gboolean start, cudaStream_t stream);
/* folded, from triangles */
cudaError_t bundle_lens_fold_triangles (
    const BundleLensDevice *device, cudaStream_t stream);
/* lens_inverse, from chunk_sums of the parts, damping and couplings */
cudaError_t bundle_lens_invert_groups (
    const BundleLensDevice *device, cudaStream_t stream);
/* u of the lenses, from chunk_sums of the contributions; with its dot */
cudaError_t bundle_lens_precondition_groups (
    const BundleLensDevice *device, cudaStream_t stream);

/* pcg.cu */
/* Right-hand side and first direction; pcg is zero except for its radius. */
cudaError_t bundle_lens_pcg_start (
    const BundleLensDevice *device, cudaStream_t stream);
/* @parity: 0 for the first iteration, then 1, 0, .. */
cudaError_t bundle_lens_pcg_iterate (
    const BundleLensDevice *device, guint parity, cudaStream_t stream);

#ifdef __CUDACC__

/* Launches @kernel for the columns of the lenses, a constant in the kernel. */
#define LENS_START(kernel, grid, threads, stream, d, ...)                      \
  do {                                                                         \
    if ((d).columns == BUNDLE_LENS_SIZE)                                       \
      BUNDLE_START (                                                           \
          kernel<BUNDLE_LENS_SIZE>, grid, threads, stream, d, ##__VA_ARGS__);  \
    else                                                                       \
      BUNDLE_START (                                                           \
          kernel<LENS_PLACED>, grid, threads, stream, d, ##__VA_ARGS__);       \
  } while (0)

/* Index of element @i, @j of a symmetric matrix of @n rows */
static __host__ __device__ __forceinline__ int
bundle_lens_packed (int n, int i, int j)
{
  const int low = i < j ? i : j, high = i < j ? j : i;

  return low * n - low * (low - 1) / 2 + high - low;
}

/* The columns of a lens in a vector of steps of cameras */
static __device__ __forceinline__ const double *
bundle_lens_columns (
    const BundleLensDevice &d, const double *vector, guint32 lens)
{
  return vector + LENS_POSE * (gsize) d.n_cameras
         + BUNDLE_LENS_SIZE * (gsize) lens;
}

/* Where the columns of a lens begin in the other vectors. @C: their number */
template <int C>
static __device__ __forceinline__ gsize
bundle_lens_first (const BundleLensDevice &d, guint32 lens)
{
  return LENS_POSE * (gsize) d.n_poses + C * (gsize) lens;
}

/* The first camera of a pose, itself, or with rigs that of a frame, and their number */
template <int C>
static __device__ __forceinline__ guint32
bundle_lens_cameras (const BundleLensDevice &d, guint32 pose, guint32 *n)
{
  *n = C == BUNDLE_LENS_SIZE ? 1
                             : d.pose_cameras[pose + 1] - d.pose_cameras[pose];
  return C == BUNDLE_LENS_SIZE ? pose : d.pose_cameras[pose];
}

/* Adds up to 16 columns of rows @begin..@end-1 of @list (nullable: all rows), which are
 * @stride apart, by one warp or more (@warp of @n_warps). Returns: the sum of column
 * lane % 16 < @n of this warp's rows */
static __device__ __forceinline__ double
bundle_lens_add_rows (const double *rows, gsize stride, int n,
    const guint32 *list, guint32 begin, guint32 end, guint32 warp,
    guint32 n_warps)
{
  const guint32 lane = threadIdx.x % 32, column = lane % 16;
  double sum = 0;

  if ((int) column < n) {
#pragma unroll 8
    for (guint32 i = begin + 2 * warp + lane / 16; i < end; i += 2 * n_warps)
      sum += rows[stride * (list ? list[i] : i) + column];
  }
  return sum + __shfl_xor_sync (0xffffffffu, sum, 16);
}

/* The same by a block, of all of them; threads below @n get the sums. */
static __device__ __forceinline__ double
bundle_lens_add_rows_by_block (
    const double *rows, gsize stride, int n, guint32 begin, guint32 end)
{
  __shared__ double sums[32][16];
  const guint32 warp = threadIdx.x / 32, n_warps = blockDim.x / 32;
  double sum =
      bundle_lens_add_rows (rows, stride, n, NULL, begin, end, warp, n_warps);

  __syncthreads (); /* protects the shared memory of the previous call */
  if (threadIdx.x % 32 < 16)
    sums[warp][threadIdx.x % 16] = sum;
  __syncthreads ();
  sum = 0;
  if ((int) threadIdx.x < n)
    for (guint32 i = 0; i < n_warps; i++)
      sum += sums[i][threadIdx.x];
  return sum;
}

#endif
