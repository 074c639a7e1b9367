/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The optimisation steps of the paper (see cuda/bundle/engine.h) for bundle
 * adjustment on a GPU, reimplemented one by one, with this library's engine
 * as the last step. The paper's steps are: the naive layout, with the block
 * of each observation contiguous and a thread for each observation that adds
 * by atomics; the element layout; a thread block for each camera; no
 * atomics, with a thread for each point and an index of its observations; W
 * stored instead of J; the Schur complement.
 *
 * The problem is K shuffled copies of problem 16 (346: 29 million
 * observations, as many as the paper's largest). A row is the first
 * iteration of Levenberg-Marquardt: blocks of the normal equations, then 40
 * conjugate gradient iterations with block Jacobi, in FP64. The predictions
 * were written before the first measurement, for an H200. |x| after 10
 * iterations is compared between the steps; "same bits" compares x of two
 * runs.
 *
 *   bench_bundle_ladder [COPIES] [whole]
 * whole: also solves whole problems with the engine, with the paper's limits of
 * iterations and with the library's own stop. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bundledata.h"
#include "cuda/bundle/cuda/engine.cuh"
#include "cuda/core/histogram.h"

namespace {

const int THREADS = 256;
const int ITERATIONS = 40;
const int PAPER = 100;  /* the paper's limit of iterations */
const int CHECKED = 10; /* iterations after which |x| is compared */
const int PARTS = 1024; /* partial sums of a sum */
const double RADIUS = 1e4;

enum Sums { ATOMIC, GATHER };

struct Step {
  const char *name;
  gboolean block; /* layout; else element */
  Sums cameras, points;
  gboolean explicit_w, schur;
  gdouble predicted; /* ms an iteration */
};

const Step steps[] = {
  /* 11 GB of J at 4.3 TB/s, 350 million atomics of 8 bytes at 60 a ns */
  { "naive: block layout, a thread an observation, atomics", TRUE, ATOMIC,
      ATOMIC, FALSE, FALSE, 9 },
  { "element layout", FALSE, ATOMIC, ATOMIC, FALSE, FALSE, 8.5 },
  /* a quarter of the atomics remains */
  { "a block of threads a camera", FALSE, GATHER, ATOMIC, FALSE, FALSE, 4.5 },
  /* points gather J: 32 bytes are moved for 8 used */
  { "a thread a point, no atomics", FALSE, GATHER, GATHER, FALSE, FALSE, 7 },
  { "W stored", FALSE, GATHER, GATHER, TRUE, FALSE, 8 },
  { "Schur complement, J stored", FALSE, GATHER, GATHER, FALSE, TRUE, 7 },
  { "Schur complement, W stored", FALSE, GATHER, GATHER, TRUE, TRUE, 8 },
};

/* the engine: Schur complement, J computed again, ms an iteration */
const gdouble PREDICTED = 1.1;

/* Observations, in the problem's order or by cameras. */
struct Data {
  guint32 n_cameras, n_points;
  gsize n;
  guint32 *camera_of, *point_of;
  double2 *observed;
  guint32 *camera_first;             /* n_cameras + 1 */
  guint32 *point_first, *point_list; /* n_points + 1: of a point */
  double *points;
  BundleConstants *constants;
  double *stored;                /* J: 24, or W: 27 of an observation */
  double *u, *v, *gradient;      /* 45 a camera, 6 a point, 9 and 3 */
  double *u_damped, *u_inverse;  /* 81 a camera */
  double *v_damped, *v_inverse;  /* 6 a point */
  double *b, *x, *r, *z, *p, *q; /* 9 a camera, then 3 a point */
  double *t;                     /* 3 a point */
  double *parts, *scalars;
  unsigned long long *checksum;
};

enum { RHO, LAST_RHO, PQ, RR, BB, XX, N_SCALARS };

/* --- the blocks ----------------------------------------------------------- */

__device__ void
get_derivatives (
    const Data &d, gsize i, double jc[18], double jp[6], double r[2])
{
  const double *x = &d.points[3 * (gsize) d.point_of[i]];
  const BundleConstants c = d.constants[d.camera_of[i]];
  const BundleImage image = bundle_image (&c, x[0], x[1], x[2]);

  bundle_residual (&c, &image, d.observed[i].x, d.observed[i].y, &r[0], &r[1]);
  bundle_derivatives (&c, &image, jc, jp);
}

template <int N, bool BLOCK>
__device__ double &
stored_element (const Data &d, gsize i, int e)
{
  return d.stored[BLOCK ? i * N + e : e * d.n + i];
}

/* U and the gradient of an observation. */
__device__ void
get_camera_sums (const double jc[18], const double r[2], double sums[54])
{
  for (int a = 0, e = 0; a < 9; a++) {
    for (int c = a; c < 9; c++, e++)
      sums[e] += jc[a] * jc[c] + jc[9 + a] * jc[9 + c];
    sums[45 + a] += jc[a] * r[0] + jc[9 + a] * r[1];
  }
}

__device__ void
get_point_sums (const double jp[6], const double r[2], double sums[9])
{
  for (int a = 0, e = 0; a < 3; a++) {
    for (int c = a; c < 3; c++, e++)
      sums[e] += jp[a] * jp[c] + jp[3 + a] * jp[3 + c];
    sums[6 + a] += jp[a] * r[0] + jp[3 + a] * r[1];
  }
}

/* J or W of each observation; U, V and the gradient by atomics. */
template <bool W, bool BLOCK>
__global__ void
linearise (Data d, bool add_cameras, bool add_points)
{
  const gsize i = blockIdx.x * (gsize) THREADS + threadIdx.x;
  double jc[18], jp[6], r[2];

  if (i >= d.n)
    return;
  get_derivatives (d, i, jc, jp, r);
  if (W) {
    for (int a = 0; a < 9; a++)
      for (int c = 0; c < 3; c++)
        stored_element<27, BLOCK> (d, i, 3 * a + c) =
            jc[a] * jp[c] + jc[9 + a] * jp[3 + c];
  } else {
    for (int e = 0; e < 24; e++)
      stored_element<24, BLOCK> (d, i, e) = e < 18 ? jc[e] : jp[e - 18];
  }
  if (add_cameras) {
    const gsize c = d.camera_of[i];
    double sums[54] = {};

    get_camera_sums (jc, r, sums);
    for (int e = 0; e < 54; e++)
      atomicAdd (
          e < 45 ? &d.u[45 * c + e] : &d.gradient[9 * c + e - 45], sums[e]);
  }
  if (add_points) {
    const gsize p = d.point_of[i];
    double sums[9] = {};

    get_point_sums (jp, r, sums);
    for (int e = 0; e < 9; e++)
      atomicAdd (e < 6 ? &d.v[6 * p + e]
                       : &d.gradient[9 * (gsize) d.n_cameras + 3 * p + e - 6],
          sums[e]);
  }
}

/* A block of threads a camera. */
__global__ void
__launch_bounds__ (THREADS) gather_cameras (Data d)
{
  const gsize c = blockIdx.x;
  double sums[54] = {};

  for (gsize i = d.camera_first[c] + threadIdx.x; i < d.camera_first[c + 1];
       i += THREADS) {
    double jc[18], jp[6], r[2];

    get_derivatives (d, i, jc, jp, r);
    get_camera_sums (jc, r, sums);
  }
  bundle_block_sum (sums);
  if (threadIdx.x == 0)
    for (int e = 0; e < 54; e++)
      *(e < 45 ? &d.u[45 * c + e] : &d.gradient[9 * c + e - 45]) = sums[e];
}

/* A thread a point. */
__global__ void
gather_points (Data d)
{
  const gsize p = blockIdx.x * (gsize) THREADS + threadIdx.x;
  double sums[9] = {};

  if (p >= d.n_points)
    return;
  for (gsize k = d.point_first[p]; k < d.point_first[p + 1]; k++) {
    double jc[18], jp[6], r[2];

    get_derivatives (d, d.point_list[k], jc, jp, r);
    get_point_sums (jp, r, sums);
  }
  for (int e = 0; e < 9; e++)
    *(e < 6 ? &d.v[6 * p + e]
            : &d.gradient[9 * (gsize) d.n_cameras + 3 * p + e - 6]) = sums[e];
}

/* Damped blocks and their inverses, b = -g. A thread a camera. */
__global__ void
damp_cameras (Data d)
{
  const gsize c = blockIdx.x * (gsize) 64 + threadIdx.x;
  double a[9][9], inverse[9][9] = {};

  if (c >= d.n_cameras)
    return;
  for (int i = 0, e = 0; i < 9; i++)
    for (int j = i; j < 9; j++, e++) {
      double value = d.u[45 * c + e];

      if (i == j)
        value += bundle_damping (value, bundle_column_scale (value), RADIUS);
      a[i][j] = a[j][i] = value;
      d.u_damped[81 * c + 9 * i + j] = d.u_damped[81 * c + 9 * j + i] = value;
    }
  for (int k = 0; k < 9; k++) { /* Gauss and Jordan */
    const double pivot = 1 / a[k][k];

    inverse[k][k] = 1;
    for (int j = 0; j < 9; j++) {
      a[k][j] *= pivot;
      inverse[k][j] *= pivot;
    }
    for (int i = 0; i < 9; i++) {
      const double factor = a[i][k];

      for (int j = 0; i != k && j < 9; j++) {
        a[i][j] -= factor * a[k][j];
        inverse[i][j] -= factor * inverse[k][j];
      }
    }
  }
  for (int e = 0; e < 81; e++)
    d.u_inverse[81 * c + e] = inverse[e / 9][e % 9];
  for (int k = 0; k < 9; k++)
    d.b[9 * c + k] = -d.gradient[9 * c + k];
}

/* The same, and t = V^-1 g for the Schur complement's b. A thread a point. */
__global__ void
damp_points (Data d)
{
  const gsize p = blockIdx.x * (gsize) THREADS + threadIdx.x;
  const int diagonal[3] = { 0, 3, 5 };

  if (p >= d.n_points)
    return;
  const double *g = &d.gradient[9 * (gsize) d.n_cameras + 3 * p];
  double *v = &d.v_damped[6 * p];

  for (int e = 0; e < 6; e++)
    v[e] = d.v[6 * p + e];
  for (int i = 0; i < 3; i++) {
    double &value = v[diagonal[i]];

    value += bundle_damping (value, bundle_column_scale (value), RADIUS);
    d.b[9 * (gsize) d.n_cameras + 3 * p + i] = -g[i];
  }
  bundle_invert_3 (v, &d.v_inverse[6 * p]);
  bundle_multiply_3 (&d.v_inverse[6 * p], g[0], g[1], g[2], &d.t[3 * p]);
}

/* --- products ------------------------------------------------------------- */

/* sums += W y of an observation. */
template <bool W, bool BLOCK>
__device__ void
to_camera (const Data &d, gsize i, const double y[3], double sums[9])
{
  double s[2] = {};

  for (int k = 0; !W && k < 3; k++) {
    s[0] += stored_element<24, BLOCK> (d, i, 18 + k) * y[k];
    s[1] += stored_element<24, BLOCK> (d, i, 21 + k) * y[k];
  }
  for (int a = 0; a < 9; a++) {
    if (W)
      for (int k = 0; k < 3; k++)
        sums[a] += stored_element<27, BLOCK> (d, i, 3 * a + k) * y[k];
    else
      sums[a] += stored_element<24, BLOCK> (d, i, a) * s[0]
                 + stored_element<24, BLOCK> (d, i, 9 + a) * s[1];
  }
}

/* sums += W^T x of an observation. */
template <bool W, bool BLOCK>
__device__ void
to_point (const Data &d, gsize i, const double x[9], double sums[3])
{
  double s[2] = {};

  for (int a = 0; !W && a < 9; a++) {
    s[0] += stored_element<24, BLOCK> (d, i, a) * x[a];
    s[1] += stored_element<24, BLOCK> (d, i, 9 + a) * x[a];
  }
  for (int k = 0; k < 3; k++) {
    if (W)
      for (int a = 0; a < 9; a++)
        sums[k] += stored_element<27, BLOCK> (d, i, 3 * a + k) * x[a];
    else
      sums[k] += stored_element<24, BLOCK> (d, i, 18 + k) * s[0]
                 + stored_element<24, BLOCK> (d, i, 21 + k) * s[1];
  }
}

/* @to += factor W y, a thread an observation. */
template <bool W, bool BLOCK>
__global__ void
add_to_cameras (Data d, const double *y, double factor, double *to)
{
  const gsize i = blockIdx.x * (gsize) THREADS + threadIdx.x;
  double sums[9] = {};

  if (i >= d.n)
    return;
  to_camera<W, BLOCK> (d, i, &y[3 * (gsize) d.point_of[i]], sums);
  for (int a = 0; a < 9; a++)
    atomicAdd (&to[9 * (gsize) d.camera_of[i] + a], factor * sums[a]);
}

template <bool W, bool BLOCK>
__global__ void
add_to_points (Data d, const double *x, double *to)
{
  const gsize i = blockIdx.x * (gsize) THREADS + threadIdx.x;
  double sums[3] = {};

  if (i >= d.n)
    return;
  to_point<W, BLOCK> (d, i, &x[9 * (gsize) d.camera_of[i]], sums);
  for (int k = 0; k < 3; k++)
    atomicAdd (&to[3 * (gsize) d.point_of[i] + k], sums[k]);
}

/* The same, a block of threads a camera. */
template <bool W>
__global__ void
__launch_bounds__ (THREADS)
    gather_to_cameras (Data d, const double *y, double factor, double *to)
{
  const gsize c = blockIdx.x;
  double sums[9] = {};

  for (gsize i = d.camera_first[c] + threadIdx.x; i < d.camera_first[c + 1];
       i += THREADS)
    to_camera<W, false> (d, i, &y[3 * (gsize) d.point_of[i]], sums);
  bundle_block_sum (sums);
  if (threadIdx.x == 0)
    for (int a = 0; a < 9; a++)
      to[9 * c + a] += factor * sums[a];
}

/* A thread a point. */
template <bool W>
__global__ void
gather_to_points (Data d, const double *x, double *to)
{
  const gsize p = blockIdx.x * (gsize) THREADS + threadIdx.x;
  double sums[3] = {};

  if (p >= d.n_points)
    return;
  for (gsize k = d.point_first[p]; k < d.point_first[p + 1]; k++) {
    const gsize i = d.point_list[k];

    to_point<W, false> (d, i, &x[9 * (gsize) d.camera_of[i]], sums);
  }
  for (int k = 0; k < 3; k++)
    to[3 * p + k] += sums[k];
}

/* @to = the damped blocks, or their inverses, times @from. A thread an element of
 * a camera, then a thread a point. */
__global__ void
multiply_blocks (
    Data d, const double *u, const double *v, const double *from, double *to)
{
  const gsize i = blockIdx.x * (gsize) THREADS + threadIdx.x;
  const gsize n = 9 * (gsize) d.n_cameras;

  if (i < n) {
    double sum = 0;

    for (int k = 0; k < 9; k++)
      sum += u[9 * i + k] * from[i / 9 * 9 + k];
    to[i] = sum;
  } else if (v != NULL && i - n < d.n_points) {
    const double *y = &from[n + 3 * (i - n)];

    bundle_multiply_3 (&v[6 * (i - n)], y[0], y[1], y[2], &to[n + 3 * (i - n)]);
  }
}

/* t = V^-1 t */
__global__ void
eliminate_points (Data d)
{
  const gsize p = blockIdx.x * (gsize) THREADS + threadIdx.x;

  if (p < d.n_points) {
    double *t = &d.t[3 * p];

    bundle_multiply_3 (&d.v_inverse[6 * p], t[0], t[1], t[2], t);
  }
}

/* --- vectors -------------------------------------------------------------- */

__global__ void
__launch_bounds__ (THREADS)
    dot_parts (const double *a, const double *b, gsize n, double *parts)
{
  double sum[1] = {};

  for (gsize i = blockIdx.x * (gsize) THREADS + threadIdx.x; i < n;
       i += PARTS * (gsize) THREADS)
    sum[0] += a[i] * b[i];
  bundle_block_sum (sum);
  if (threadIdx.x == 0)
    parts[blockIdx.x] = sum[0];
}

__global__ void
__launch_bounds__ (PARTS) dot_total (const double *parts, double *to)
{
  double sum[1] = { parts[threadIdx.x] };

  bundle_block_sum (sum);
  if (threadIdx.x == 0)
    *to = sum[0];
}

/* x += alpha p, r -= alpha q; the last r . z is kept. */
__global__ void
step_vectors (Data d, gsize n)
{
  const gsize i = blockIdx.x * (gsize) THREADS + threadIdx.x;
  const double alpha = d.scalars[RHO] / d.scalars[PQ];

  if (i < n) {
    d.x[i] += alpha * d.p[i];
    d.r[i] -= alpha * d.q[i];
  }
  if (i == 0)
    d.scalars[LAST_RHO] = d.scalars[RHO];
}

/* p = z + beta p */
__global__ void
turn_vectors (Data d, gsize n)
{
  const gsize i = blockIdx.x * (gsize) THREADS + threadIdx.x;

  if (i < n)
    d.p[i] = d.z[i] + d.scalars[RHO] / d.scalars[LAST_RHO] * d.p[i];
}

__global__ void
add_bits (const double *x, gsize n, unsigned long long *sum)
{
  unsigned long long own = 0;

  for (gsize i = blockIdx.x * (gsize) THREADS + threadIdx.x; i < n;
       i += PARTS * (gsize) THREADS)
    own += (unsigned long long) __double_as_longlong (x[i]) * (2 * i + 1);
  atomicAdd (sum, own);
}

/* --- a step of the ladder ------------------------------------------------- */

guint
blocks_for (gsize n, guint threads = THREADS)
{
  return (guint) ((n + threads - 1) / threads);
}

gsize
count_unknowns (const Data &d, const Step *step)
{
  return 9 * (gsize) d.n_cameras + (step->schur ? 0 : 3 * (gsize) d.n_points);
}

void
dot (const Data &d, const double *a, const double *b, gsize n, int scalar)
{
  dot_parts<<<PARTS, THREADS>>> (a, b, n, d.parts);
  dot_total<<<1, PARTS>>> (d.parts, &d.scalars[scalar]);
}

template <bool W, bool BLOCK>
void
launch_linearise (const Data &d, const Step *step)
{
  const gsize n = 9 * (gsize) d.n_cameras + 3 * (gsize) d.n_points;

  cudaMemsetAsync (d.u, 0, 45 * (gsize) d.n_cameras * 8);
  cudaMemsetAsync (d.v, 0, 6 * (gsize) d.n_points * 8);
  cudaMemsetAsync (d.gradient, 0, n * 8);
  linearise<W, BLOCK><<<blocks_for (d.n), THREADS>>> (
      d, step->cameras == ATOMIC, step->points == ATOMIC);
  if (step->cameras == GATHER)
    gather_cameras<<<d.n_cameras, THREADS>>> (d);
  if (step->points == GATHER)
    gather_points<<<blocks_for (d.n_points), THREADS>>> (d);
  damp_cameras<<<blocks_for (d.n_cameras, 64), 64>>> (d);
  damp_points<<<blocks_for (d.n_points), THREADS>>> (d);
}

template <bool W, bool BLOCK>
void
launch_to_cameras (
    const Data &d, const Step *step, const double *y, double factor, double *to)
{
  if (step->cameras == ATOMIC)
    add_to_cameras<W, BLOCK><<<blocks_for (d.n), THREADS>>> (d, y, factor, to);
  else
    gather_to_cameras<W><<<d.n_cameras, THREADS>>> (d, y, factor, to);
}

template <bool W, bool BLOCK>
void
launch_to_points (const Data &d, const Step *step, const double *x, double *to)
{
  if (step->points == ATOMIC)
    add_to_points<W, BLOCK><<<blocks_for (d.n), THREADS>>> (d, x, to);
  else
    gather_to_points<W><<<blocks_for (d.n_points), THREADS>>> (d, x, to);
}

/* q = A p */
template <bool W, bool BLOCK>
void
launch_product (const Data &d, const Step *step)
{
  const gsize cameras = 9 * (gsize) d.n_cameras;
  const guint blocks = blocks_for (cameras + (step->schur ? 0 : d.n_points));

  multiply_blocks<<<blocks, THREADS>>> (
      d, d.u_damped, step->schur ? NULL : d.v_damped, d.p, d.q);
  if (step->schur) {
    cudaMemsetAsync (d.t, 0, 3 * (gsize) d.n_points * 8);
    launch_to_points<W, BLOCK> (d, step, d.p, d.t);
    eliminate_points<<<blocks_for (d.n_points), THREADS>>> (d);
    launch_to_cameras<W, BLOCK> (d, step, d.t, -1, d.q);
  } else {
    launch_to_points<W, BLOCK> (d, step, d.p, d.q + cameras);
    launch_to_cameras<W, BLOCK> (d, step, d.p + cameras, 1, d.q);
  }
}

/* z = M^-1 r, and r . z */
void
launch_preconditioner (const Data &d, const Step *step)
{
  const gsize n = 9 * (gsize) d.n_cameras + (step->schur ? 0 : d.n_points);

  multiply_blocks<<<blocks_for (n), THREADS>>> (
      d, d.u_inverse, step->schur ? NULL : d.v_inverse, d.r, d.z);
  dot (d, d.r, d.z, count_unknowns (d, step), RHO);
}

template <bool W, bool BLOCK>
void
launch_solve (const Data &d, const Step *step, int iterations)
{
  const gsize n = count_unknowns (d, step);

  cudaMemsetAsync (d.x, 0, n * 8);
  cudaMemcpyAsync (d.r, d.b, n * 8, cudaMemcpyDeviceToDevice);
  if (step->schur) {
    /* t = V^-1 g once more: products overwrite it */
    damp_points<<<blocks_for (d.n_points), THREADS>>> (d);
    launch_to_cameras<W, BLOCK> (d, step, d.t, 1, d.r);
  }
  dot (d, d.r, d.r, n, BB);
  launch_preconditioner (d, step);
  cudaMemcpyAsync (d.p, d.z, n * 8, cudaMemcpyDeviceToDevice);
  for (int i = 0; i < iterations; i++) {
    launch_product<W, BLOCK> (d, step);
    dot (d, d.p, d.q, n, PQ);
    step_vectors<<<blocks_for (n), THREADS>>> (d, n);
    launch_preconditioner (d, step);
    turn_vectors<<<blocks_for (n), THREADS>>> (d, n);
  }
  dot (d, d.r, d.r, n, RR);
  dot (d, d.x, d.x, n, XX);
  cudaMemsetAsync (d.checksum, 0, sizeof *d.checksum);
  add_bits<<<PARTS, THREADS>>> (d.x, n, d.checksum);
}

typedef struct {
  gdouble linearise_ms, iteration_ms;
  gdouble residual, norm; /* |r| / |b| at the end; |x| after CHECKED */
  gboolean same_bits;
} Row;

gboolean
read_row (const Data &d, double scalars[N_SCALARS],
    unsigned long long *checksum, GError **error)
{
  return CVIS_CUDA (cudaMemcpy (scalars, d.scalars, N_SCALARS * sizeof *scalars,
                        cudaMemcpyDeviceToHost),
             error)
         && CVIS_CUDA (cudaMemcpy (checksum, d.checksum, sizeof *checksum,
                           cudaMemcpyDeviceToHost),
             error);
}

template <bool W, bool BLOCK>
gboolean
measure (const Data &d, const Step *step, Row *row, GError **error)
{
  cudaEvent_t events[3];
  double scalars[N_SCALARS];
  unsigned long long checksums[2] = {};
  float ms[2] = {};
  gboolean ok = TRUE;

  for (int run = 0; ok && run < 2; run++) {
    launch_linearise<W, BLOCK> (d, step);
    launch_solve<W, BLOCK> (d, step, CHECKED);
    ok = read_row (d, scalars, &checksums[run], error);
  }
  row->norm = sqrt (scalars[XX]);
  row->same_bits = checksums[0] == checksums[1];
  for (int k = 0; k < 3; k++)
    ok = ok && CVIS_CUDA (cudaEventCreate (&events[k]), error);
  if (!ok)
    return FALSE;
  cudaEventRecord (events[0]);
  launch_linearise<W, BLOCK> (d, step);
  cudaEventRecord (events[1]);
  launch_solve<W, BLOCK> (d, step, ITERATIONS);
  cudaEventRecord (events[2]);
  ok = read_row (d, scalars, &checksums[0], error);
  for (int k = 0; ok && k < 2; k++)
    ok = CVIS_CUDA (
        cudaEventElapsedTime (&ms[k], events[k], events[k + 1]), error);
  for (int k = 0; k < 3; k++)
    cudaEventDestroy (events[k]);
  row->linearise_ms = ms[0];
  row->iteration_ms = ms[1] / ITERATIONS;
  row->residual = sqrt (scalars[RR] / scalars[BB]);
  return ok;
}

/* --- memory --------------------------------------------------------------- */

template <typename T>
gboolean
upload (CvisArena *arena, T **to, const T *from, gsize n, GError **error)
{
  return cvis_arena_take (arena, to, n, "the ladder", error)
         && CVIS_CUDA (
             cudaMemcpy (*to, from, n * sizeof (T), cudaMemcpyHostToDevice),
             error);
}

/* Where the observations of each of @of begin. */
guint32 *
count_first (const guint32 *of, gsize n, guint32 n_of)
{
  guint32 *first = g_new0 (guint32, (gsize) n_of + 1);

  for (gsize i = 0; i < n; i++)
    first[of[i] + 1]++;
  for (gsize k = 0; k < n_of; k++)
    first[k + 1] += first[k];
  return first;
}

/* The observations' numbers, by @of. */
guint32 *
sort_by (const guint32 *of, gsize n, const guint32 *first, guint32 n_of)
{
  guint32 *at = (guint32 *) g_memdup2 (first, n_of * sizeof *at);
  guint32 *order = g_new (guint32, n);

  for (gsize i = 0; i < n; i++)
    order[at[of[i]]++] = (guint32) i;
  g_free (at);
  return order;
}

/* @by_camera: the observations are put into the order of the cameras. */
gboolean
load_problem (Data *d, CvisArena *arena, const BundleProblem *problem,
    gboolean by_camera, GError **error)
{
  const gsize n = d->n = problem->n_observations;
  const guint32 n_cameras = d->n_cameras = problem->n_cameras;
  const guint32 n_points = d->n_points = problem->n_points;
  const gsize unknowns = 9 * (gsize) n_cameras + 3 * (gsize) n_points;
  g_autofree guint32 *first = count_first (problem->camera_of, n, n_cameras);
  g_autofree guint32 *order = sort_by (problem->camera_of, n, first, n_cameras);
  g_autofree guint32 *cameras = g_new (guint32, n),
                     *points = g_new (guint32, n);
  g_autofree double2 *observed = g_new (double2, n);
  g_autofree BundleConstants *constants = g_new (BundleConstants, n_cameras);
  double **vectors[] = { &d->gradient, &d->b, &d->x, &d->r, &d->z, &d->p,
    &d->q };

  for (gsize i = 0; i < n; i++) {
    const gsize from = by_camera ? order[i] : i;

    cameras[i] = problem->camera_of[from];
    points[i] = problem->point_of[from];
    observed[i] = ((const double2 *) problem->observed)[from];
  }
  g_autofree guint32 *point_first = count_first (points, n, n_points);
  g_autofree guint32 *list = sort_by (points, n, point_first, n_points);

  for (gsize c = 0; c < n_cameras; c++)
    bundle_constants (problem->cameras + 9 * c, &constants[c]);
  for (guint k = 0; k < G_N_ELEMENTS (vectors); k++)
    if (!cvis_arena_take (arena, vectors[k], unknowns, "vectors", error))
      return FALSE;
  return upload (arena, &d->camera_of, cameras, n, error)
         && upload (arena, &d->point_of, points, n, error)
         && upload (arena, &d->observed, observed, n, error)
         && upload (arena, &d->camera_first, first, n_cameras + 1, error)
         && upload (arena, &d->point_first, point_first, n_points + 1, error)
         && upload (arena, &d->point_list, list, n, error)
         && upload (arena, &d->points, (const double *) problem->points,
             3 * (gsize) n_points, error)
         && upload (arena, &d->constants, constants, n_cameras, error)
         && cvis_arena_take (arena, &d->stored, 27 * n, "J or W", error)
         && cvis_arena_take (arena, &d->u, 45 * (gsize) n_cameras, "U", error)
         && cvis_arena_take (
             arena, &d->u_damped, 81 * (gsize) n_cameras, "U", error)
         && cvis_arena_take (
             arena, &d->u_inverse, 81 * (gsize) n_cameras, "U", error)
         && cvis_arena_take (arena, &d->v, 6 * (gsize) n_points, "V", error)
         && cvis_arena_take (
             arena, &d->v_damped, 6 * (gsize) n_points, "V", error)
         && cvis_arena_take (
             arena, &d->v_inverse, 6 * (gsize) n_points, "V", error)
         && cvis_arena_take (arena, &d->t, 3 * (gsize) n_points, "t", error)
         && cvis_arena_take (arena, &d->parts, PARTS, "sums", error)
         && cvis_arena_take (arena, &d->scalars, N_SCALARS, "sums", error)
         && cvis_arena_take (arena, &d->checksum, 1, "sums", error);
}

/* --- rows ----------------------------------------------------------------- */

void
print_row (const char *name, gdouble predicted, const Row *row, gdouble naive)
{
  printf ("| %s | %.1f | %.3f | %.1f", name, predicted, row->iteration_ms,
      naive / row->iteration_ms);
  if (row->linearise_ms > 0)
    printf (" | %.1f | %.2e", row->linearise_ms, row->residual);
  else
    printf (" | - | -");
  printf (" | %s |\n", row->same_bits ? "yes" : "no");
  fflush (stdout);
}

/* @norms: |x| without and with the Schur complement, 0: not yet
 * @naive: ms of the first step's iteration */
gboolean
climb (CvisArena *arena, const BundleProblem *problem, gdouble *naive,
    GError **error)
{
  gdouble norms[2] = { 0 };
  Data d = {};

  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    const Step *step = &steps[i];
    const gboolean by_camera = step->cameras == GATHER;
    Row row;

    if (i == 0 || by_camera != (steps[i - 1].cameras == GATHER)) {
      cvis_arena_clear (arena);
      *arena = {};
      if (!load_problem (&d, arena, problem, by_camera, error))
        return FALSE;
    }
    if (!(step->explicit_w ? measure<true, false> (d, step, &row, error)
            : step->block  ? measure<false, true> (d, step, &row, error)
                           : measure<false, false> (d, step, &row, error)))
      return FALSE;
    if (i == 0)
      *naive = row.iteration_ms;
    print_row (step->name, step->predicted, &row, *naive);
    if (norms[step->schur] == 0)
      norms[step->schur] = row.norm;
    if (!(fabs (row.norm - norms[step->schur]) <= 1e-6 * row.norm)) {
      printf ("WRONG: %s: |x| is %.12g, must be %.12g\n", step->name, row.norm,
          norms[step->schur]);
      exit (1);
    }
  }
  cvis_arena_clear (arena);
  *arena = {};
  return TRUE;
}

typedef struct {
  guint64 mark; /* when a group of iterations began; 0: not yet */
  gdouble seconds;
  guint groups;
} Times;

/* Groups after the first of a step are nothing but conjugate gradients. */
gboolean
take_times (const BundleIteration *iteration, gpointer user_data)
{
  Times *times = (Times *) user_data;
  const guint64 now = cvis_monotonic_ns ();

  if (iteration == NULL && times->mark > 0) {
    times->seconds += (gdouble) (now - times->mark) * 1e-9;
    times->groups++;
  }
  times->mark = iteration == NULL ? now : 0;
  return TRUE;
}

/* Block Jacobi, with up to @iterations of conjugate gradients a step */
void
set_paper (BundleConfig *config, guint iterations)
{
  bundle_config_init (config);
  config->solver = BUNDLE_SOLVER_ITERATIVE;
  config->preconditioner = BUNDLE_PRECONDITIONER_JACOBI;
  config->eta = 1e-12;
  config->max_pcg_iterations = iterations;
}

/* @copies: of the solved problem, two */
gboolean
solve (const BundleProblem *problem, const BundleConfig *config,
    CvisContext *context, Times *times, BundleProblem **solved,
    BundleSummary *summary, GError **error)
{
  *solved = bundle_problem_copy (problem, error);
  memset (times, 0, sizeof *times);
  if (*solved == NULL
      || !bundle_solve (
          *solved, config, context, take_times, times, summary, error))
    return FALSE;
  bundle_summary_clear (summary);
  return TRUE;
}

gboolean
measure_ours (const BundleProblem *problem, CvisContext *context, gdouble naive,
    GError **error)
{
  g_autoptr (BundleProblem) first = NULL;
  g_autoptr (BundleProblem) second = NULL;
  BundleConfig config;
  BundleSummary summary;
  Times times;
  Row row = {};

  set_paper (&config, ITERATIONS);
  config.max_iterations = 1;
  if (!solve (problem, &config, context, &times, &first, &summary, error)
      || !solve (problem, &config, context, &times, &second, &summary, error))
    return FALSE;
  row.iteration_ms = 1e3 * times.seconds * (times.groups + 1)
                     / (times.groups * (gdouble) summary.pcg_iterations);
  row.same_bits =
      memcmp (first->cameras, second->cameras, 72 * (gsize) first->n_cameras)
          == 0
      && memcmp (first->points, second->points, 24 * (gsize) first->n_points)
             == 0;
  print_row (
      "ours, Schur complement, J computed again", PREDICTED, &row, naive);
  return TRUE;
}

gboolean
solve_whole (const BundleProblem *problem, CvisContext *context, GError **error)
{
  printf ("\n| whole problem | LM | PCG | final cost | seconds | GiB |\n"
          "|---|---|---|---|---|---|\n");
  for (int best = 0; best < 2; best++) {
    g_autoptr (BundleProblem) solved = NULL;
    BundleConfig config;
    BundleSummary summary;
    Times times;

    if (best)
      bundle_config_init (&config);
    else
      set_paper (&config, PAPER);
    if (!solve (problem, &config, context, &times, &solved, &summary, error))
      return FALSE;
    printf ("| %s | %u | %u | %.11e | %.3f | %.2f |\n",
        best ? "schur-jacobi, eta" : "jacobi, 50 x 100", summary.iterations,
        summary.pcg_iterations, summary.final_cost, summary.seconds,
        (gdouble) summary.device_bytes / (1 << 30));
    fflush (stdout);
  }
  return TRUE;
}

gboolean
run_ladder (const BundleProblem *problem, CvisContext *context, gboolean whole,
    GError **error)
{
  CvisArena arena = {};
  gdouble naive = 0;
  gboolean ok;

  printf ("%u cameras, %u points, %" G_GSIZE_FORMAT " observations\n",
      problem->n_cameras, problem->n_points, problem->n_observations);
  printf ("| step | predicted, ms | PCG iteration, ms | speedup | blocks, ms |"
          " residual | same bits |\n|---|---|---|---|---|---|---|\n");
  ok = cvis_in_context (
      context, error, [&] { return climb (&arena, problem, &naive, error); });
  return ok && measure_ours (problem, context, naive, error)
         && (!whole || solve_whole (problem, context, error));
}

} // namespace

int
main (int argc, char **argv)
{
  const int copies = argc > 1 ? atoi (argv[1]) : 346;
  g_autoptr (GError) error = NULL;
  const gchar *why = NULL;
  g_autoptr (BundleProblem) one =
      bundle_data_load ("problem-16-22106-pre", &why);
  CvisContext *context = cvis_context_new (-1, &error);

  if (one == NULL || context == NULL) {
    fprintf (stderr, "%s\n", one == NULL ? why : error->message);
    return 77;
  }
  g_autoptr (BundleProblem) many = bundle_data_repeat (one, MAX (copies, 1), 1);

  if (!run_ladder (
          many, context, argc > 2 && g_str_equal (argv[2], "whole"), &error)) {
    fprintf (stderr, "%s\n", error->message);
    return 1;
  }
  cvis_context_unref (context);
  return 0;
}
