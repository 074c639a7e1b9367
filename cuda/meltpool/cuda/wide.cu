/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Spatial features for regions of interest of any size except 40 x 40, one
 * block a frame. Shared memory holds the ROI with a pitch of one word more
 * than its width, so that threads that read a column of rows have no bank
 * conflicts. Components are labelled by runs; polar sums and gradients take
 * one pixel a thread. Integers are added in any order; the few
 * floating-point results are computed from the complete sums, as on the CPU. */
#include "cuda/meltpool/cuda/begin.cuh"
#include "cuda/meltpool/cuda/gradient.cuh"
#include "cuda/meltpool/cuda/runs.cuh"

namespace {

/* Sums over a block. */
struct Sums {
  guint32 n, sx, sy, sxx, syy, sxy; /* as PbfMoments */
  guint32 intensity, saturated, top;
  gint32 left, right, lower; /* of the bounding box */
  guint32 polar[6];
  unsigned long long all[5], to_left[5]; /* of pbf_hog_unfold() */
};

__device__ __forceinline__ void
add_to (guint32 *sum, guint32 v)
{
  v = pbf_warp_sum (v);
  if (pbf_lane () == 0)
    atomicAdd (sum, v);
}

/* Pixels of columns first..last of row @y with centres in the search disc. */
__device__ guint32
overlap_with_disc (
    const PbfParams &p, gint y, gint first, gint last, gint32 ex, gint32 ey)
{
  gint32 half = pbf_disc_half (y, ey, p.radius2);
  gint from = max (pbf_column_beyond (ex, -half - 1), first);
  gint end = min (pbf_column_beyond (ex, half), last + 1);

  return max (end - from, 0);
}

/* Index of the melt pool's component. */
__device__ guint32
find_pool (
    const PbfParams &p, const Scratch &s, guint32 runs, gint32 ex, gint32 ey)
{
  guint32 pool = component_at (s, min (max (ex >> 8, 0), p.side - 1),
      min (max (ey >> 8, 0), p.side - 1));
  guint64 nearest = 0, largest = 0;

  if (pool != NO_COMPONENT || runs == 0)
    return pool;
  for (guint32 i = threadIdx.x; i < runs; i += THREADS)
    atomicAdd (&s.components[pbf_find (s.parents, i)].mark,
        overlap_with_disc (
            p, s.runs[i].y, s.runs[i].first, s.runs[i].last, ex, ey));
  __syncthreads ();
  for (guint32 i = threadIdx.x; i < runs; i += THREADS) {
    guint64 overlap = s.components[i].mark, area = s.components[i].area;

    nearest = max (nearest, overlap << 32 | (0xffffffffu - i));
    largest = max (largest, area << 32 | (0xffffffffu - i));
  }
  nearest = block_max (nearest);
  largest = block_max (largest);
  return 0xffffffffu - (guint32) (nearest >> 32 ? nearest : largest);
}

__device__ void
measure_pool (const Rectangle &r, const Scratch &s, guint32 runs, guint32 pool,
    Sums *sums, CvisPbfResult *result)
{
  PbfMoments m = { 0, 0, 0, 0, 0, 0 };
  guint32 intensity = 0, saturated = 0, top = 0;

  for (guint32 i = threadIdx.x; i < runs; i += THREADS) {
    Run run = s.runs[i];
    gint y = run.y, a = run.first, n = run.last - a + 1;
    gint triangle = n * (n - 1) / 2, sx = n * a + triangle;

    if (pbf_find (s.parents, i) != pool)
      continue;
    m.n += n;
    m.sx += sx;
    m.sy += n * y;
    m.sxx += n * a * a + 2 * a * triangle + triangle * (2 * n - 1) / 3;
    m.syy += n * y * y;
    m.sxy += sx * y;
    for (gint x = a; x <= run.last; x++) {
      guint32 value = r.pixels[y * r.stride + x];

      intensity += value;
      saturated += value == 255;
      top = max (top, value);
    }
    atomicMin (&sums->left, a);
    atomicMax (&sums->right, (gint32) run.last);
    atomicMax (&sums->lower, y);
  }
  __syncwarp ();
  add_to (&sums->n, m.n);
  add_to (&sums->sx, m.sx);
  add_to (&sums->sy, m.sy);
  add_to (&sums->sxx, m.sxx);
  add_to (&sums->syy, m.syy);
  add_to (&sums->sxy, m.sxy);
  add_to (&sums->intensity, intensity);
  add_to (&sums->saturated, saturated);
  atomicMax (&sums->top, top);
  __syncthreads ();
  if (threadIdx.x != 0)
    return;
  if (sums->n == 0) {
    result->flags |= CVIS_PBF_RESULT_NO_POOL;
    return;
  }
  m = PbfMoments{ (gint32) sums->n, (gint32) sums->sx, (gint32) sums->sy,
    (gint32) sums->sxx, (gint32) sums->syy, (gint32) sums->sxy };
  result->raw[CVIS_PBF_MP_AREA] = m.n;
  result->raw[CVIS_PBF_MP_RATIO] = pbf_ratio_q16 (&m);
  result->raw[CVIS_PBF_MP_MEAN] = pbf_mean_q8 (sums->intensity, m.n);
  result->max_intensity = (guint16) sums->top;
  result->saturated = (guint16) sums->saturated;
  result->orientation_deg = pbf_orientation_deg (&m);
  result->centroid_x_q8 = pbf_centroid_q8 (m.sx, m.n, result->roi_x);
  result->centroid_y_q8 = pbf_centroid_q8 (m.sy, m.n, result->roi_y);
  /* the pool's index is that of its first run */
  result->bbox_x = (guint16) (result->roi_x + sums->left);
  result->bbox_y = (guint16) (result->roi_y + s.runs[pool].y);
  result->bbox_width = (guint16) (sums->right - sums->left + 1);
  result->bbox_height = (guint16) (sums->lower - s.runs[pool].y + 1);
  if (pbf_box_at_edge (result, r.width))
    result->flags |= CVIS_PBF_RESULT_POOL_AT_EDGE;
}

__device__ void
measure_polar (
    const PbfParams &p, const Rectangle &r, gint32 ex, gint32 ey, Sums *sums)
{
  guint32 mine[6] = { 0, 0, 0, 0, 0, 0 };

  for (gint i = threadIdx.x; i < r.width * r.height; i += THREADS) {
    gint x = i % r.width, y = i / r.width;
    gint32 dx = 256 * x + 128 - ex, dy = 256 * y + 128 - ey;
    guint64 r2 = (gint64) dx * dx + (gint64) dy * dy;

    if (r2 < p.inner2 || r2 > p.outer2)
      continue;
    gint sector = pbf_sector (dx, dy);
#pragma unroll
    for (gint k = 0; k < 6; k++)
      mine[k] += k == sector ? r.pixels[y * r.stride + x] : 0;
  }
  __syncwarp ();
#pragma unroll
  for (gint k = 0; k < 6; k++)
    add_to (&sums->polar[k], mine[k]);
}

__device__ void
measure_hog (const Rectangle &r, Sums *sums)
{
  guint32 all[5] = { 0, 0, 0, 0, 0 }, to_left[5] = { 0, 0, 0, 0, 0 };

  for (gint i = threadIdx.x; i < r.width * r.height; i += THREADS) {
    gint x = i % r.width, y = i / r.width;
    const guint8 *row = r.pixels + y * r.stride;
    const guint8 *up = r.pixels + max (y - 1, 0) * r.stride;
    const guint8 *down = r.pixels + min (y + 1, r.height - 1) * r.stride;

    pbf_add_gradient (row[min (x + 1, r.width - 1)] - row[max (x - 1, 0)],
        down[x] - up[x], all, to_left);
  }
  __syncwarp ();
#pragma unroll
  for (gint k = 0; k < 5; k++) {
    guint64 a = pbf_warp_sum_wide (all[k]), l = pbf_warp_sum_wide (to_left[k]);

    if (pbf_lane () == 0) {
      atomicAdd (&sums->all[k], (unsigned long long) a);
      atomicAdd (&sums->to_left[k], (unsigned long long) l);
    }
  }
}

/* Measures the ROI of @result; @roi, @sums and @result are in shared memory. */
__device__ void
measure_roi (const PbfParams &p, const PbfDeviceFrame &f, const Scratch &s,
    guint8 *roi, Sums *sums, CvisPbfResult *result, gint32 *pool_pixel)
{
  gint side = p.side, pitch = side + 4;
  gint32 ex =
      pbf_clamp_reach ((gint64) result->e_x_q8 - 256 * result->roi_x, side);
  gint32 ey =
      pbf_clamp_reach ((gint64) result->e_y_q8 - 256 * result->roi_y, side);
  Rectangle r = { roi, (guint) pitch, side, side };

  for (gint i = threadIdx.x; i < side * side; i += THREADS)
    roi[i / side * pitch + i % side] =
        f.frame[(gsize) (result->roi_y + i / side) * f.stride + result->roi_x
                + i % side];
  if (threadIdx.x == 0) {
    memset (sums, 0, sizeof *sums);
    sums->left = side;
  }
  __syncthreads ();

  guint32 runs = find_runs (p, r, s);
  add_runs (s, runs);
  guint32 pool = find_pool (p, s, runs, ex, ey);
  measure_pool (r, s, runs, pool, sums, result);
  if (!pool_pixel)
    list_spatters (p, s, runs, pool, result->roi_x, result->roi_y, result);
  else if (threadIdx.x == 0)
    *pool_pixel = pool == NO_COMPONENT
                      ? -1
                      : (result->roi_y + s.runs[pool].y) * p.width
                            + result->roi_x + s.runs[pool].first;
  measure_polar (p, r, ex, ey, sums);
  measure_hog (r, sums);
  __syncthreads ();
  if (threadIdx.x == 0) {
    gint64 all[5], to_left[5], bins[9];

    for (gint k = 0; k < 5; k++) {
      all[k] = sums->all[k];
      to_left[k] = sums->to_left[k];
    }
    pbf_hog_unfold (all, to_left, bins);
    pbf_hog_normalise (bins, &result->raw[CVIS_PBF_HOG_0]);
    for (gint k = 0; k < 6; k++)
      result->raw[CVIS_PBF_POLAR_0 + k] = sums->polar[k];
    for (guint k = 0; k < CVIS_PBF_N_SPATIAL; k++)
      result->features[k] = (gfloat) result->raw[k] / pbf_scale (k);
  }
}

__global__ void
__launch_bounds__ (THREADS) wide_kernel (const PbfParams p,
    const PbfDeviceFrame *frames, guint n, CvisPbfResult *results,
    guint8 *entered, gint32 *pool_pixels, guint8 *scratch, gsize size)
{
  extern __shared__ guint8 roi[];
  __shared__ alignas (16) CvisPbfResult result;
  __shared__ Sums sums;
  __shared__ guint entry;
  Scratch s = lay_out (p.side, p.side, scratch + blockIdx.x * size);

  for (guint i = blockIdx.x; i < n; i += gridDim.x) {
    const PbfDeviceFrame &f = frames[i];

    if (threadIdx.x < 32) {
      guint decided = pbf_begin_frame (p, f, p.side, &result);

      if (threadIdx.x == 0)
        entry = decided;
    }
    __syncthreads ();
    if (entry != PBF_EMPTY)
      measure_roi (
          p, f, s, roi, &sums, &result, pool_pixels ? pool_pixels + i : NULL);
    __syncthreads ();
    for (guint k = threadIdx.x; k < sizeof (CvisPbfResult) / 16; k += THREADS)
      ((uint4 *) &results[i])[k] = ((uint4 *) &result)[k];
    if (threadIdx.x == 0)
      entered[i] = entry == PBF_ENTER;
    __syncthreads ();
  }
}

} // namespace

gsize
pbf_wide_scratch_size (const PbfParams *params)
{
  return scratch_size (params->side, params->side);
}

cudaError_t
pbf_launch_wide (const PbfParams *params, const PbfDeviceFrame *frames, guint n,
    CvisPbfResult *results, guint8 *entered, gint32 *pool_pixels,
    guint8 *scratch, guint blocks, cudaStream_t stream)
{
  gsize shared = (gsize) params->side * (params->side + 4);

  wide_kernel<<<MIN (blocks, n), THREADS, shared, stream>>> (*params, frames, n,
      results, entered, pool_pixels, scratch, pbf_wide_scratch_size (params));
  return cudaGetLastError ();
}
