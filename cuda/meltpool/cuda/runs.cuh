/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Connected components of any rectangle of pixels by one block: runs of every row,
 * united with those of the row above by union-find, added up by integer atomics, the
 * largest sixteen picked by the block. All threads call all functions. */
#pragma once

#include "cuda/meltpool/cuda/engine.cuh"
#include "cuda/meltpool/cuda/union.cuh"
#include "cuda/meltpool/cuda/warp.cuh"

#define THREADS PBF_RUNS_THREADS

namespace {

struct Run {
  guint16 y, first, last, padding;
};

struct Component {
  unsigned long long sx, sy;
  guint32 area;
  guint32 mark; /* zero at first, for the caller */
};

/* A block's part of the scratch memory. */
struct Scratch {
  Component *components; /* by the number of their first run */
  Run *runs;
  guint32 *parents;
  guint32 *row_start; /* number of each row's first run, and one past the end */
};

/* The pixels to label: in device or shared memory. */
struct Rectangle {
  const guint8 *pixels;
  guint stride;
  gint width, height;
};

#define NO_COMPONENT 0xffffffffu

__host__ __device__ gsize
max_runs (gint width, gint height)
{
  return (gsize) height * ((width + 1) / 2);
}

__host__ gsize
scratch_size (gint width, gint height)
{
  gsize size = max_runs (width, height)
                   * (sizeof (Component) + sizeof (Run) + sizeof (guint32))
               + ((gsize) height + 1) * sizeof (guint32);

  return (size + 255) & ~(gsize) 255;
}

__device__ Scratch
lay_out (gint width, gint height, guint8 *memory)
{
  gsize n = max_runs (width, height);
  Scratch s;

  s.components = (Component *) memory;
  s.runs = (Run *) (s.components + n);
  s.parents = (guint32 *) (s.runs + n);
  s.row_start = s.parents + n;
  return s;
}

/* Goes through row @y; stores its runs from number @number on, if @runs. */
__device__ guint32
scan_row (const Rectangle &r, gint threshold, gint y, Run *runs)
{
  const guint8 *row = r.pixels + (gsize) y * r.stride;
  guint32 n = 0;

  for (gint x = 0; x < r.width; x++) {
    gint first = x;

    if (row[x] < threshold)
      continue;
    while (x + 1 < r.width && row[x + 1] >= threshold)
      x++;
    if (runs)
      runs[n] = Run{ (guint16) y, (guint16) first, (guint16) x, 0 };
    n++;
  }
  return n;
}

/* Sums of the threads before each, and of all. */
__device__ guint32
block_sum_before (guint32 v, guint32 *total)
{
  __shared__ guint32 of_warp[THREADS / 32];
  guint32 before = pbf_warp_sum_before (v), warp = threadIdx.x / 32;

  __syncthreads ();
  if (pbf_lane () == 31)
    of_warp[warp] = before + v;
  __syncthreads ();
  *total = 0;
  for (guint w = 0; w < THREADS / 32; w++) {
    if (w < warp)
      before += of_warp[w];
    *total += of_warp[w];
  }
  return before;
}

__device__ guint64
block_max (guint64 v)
{
  __shared__ guint64 of_warp[THREADS / 32];

  for (int d = 16; d > 0; d /= 2) {
    guint64 other = __shfl_xor_sync (PBF_ALL_LANES, v, d);
    v = other > v ? other : v;
  }
  __syncthreads ();
  if (pbf_lane () == 0)
    of_warp[threadIdx.x / 32] = v;
  __syncthreads ();
  for (guint w = 0; w < THREADS / 32; w++)
    v = of_warp[w] > v ? of_warp[w] : v;
  return v;
}

__device__ void
unite_rows (const Scratch &s, gint y, gint diagonal)
{
  guint32 a = s.row_start[y - 1], b = s.row_start[y];
  guint32 a_end = b, b_end = s.row_start[y + 1];

  while (a < a_end && b < b_end) {
    if (s.runs[a].first <= s.runs[b].last + diagonal
        && s.runs[b].first <= s.runs[a].last + diagonal)
      pbf_unite (s.parents, a, b);
    if (s.runs[a].last < s.runs[b].last)
      a++;
    else
      b++;
  }
}

/* Labels @r: runs and their trees; components are numbered by their first runs, the
 * roots, and zero. Returns the number of runs. */
__device__ guint32
find_runs (const PbfParams &p, const Rectangle &r, const Scratch &s)
{
  guint32 n = 0;

  for (gint base = 0; base < r.height; base += THREADS) {
    gint y = base + threadIdx.x;
    guint32 total, mine = y < r.height ? scan_row (r, p.threshold, y, NULL) : 0;
    guint32 start = n + block_sum_before (mine, &total);

    if (y < r.height) {
      s.row_start[y] = start;
      scan_row (r, p.threshold, y, s.runs + start);
    }
    n += total;
  }
  if (threadIdx.x == 0)
    s.row_start[r.height] = n;
  for (guint32 i = threadIdx.x; i < n; i += THREADS) {
    s.parents[i] = i;
    s.components[i] = Component{ 0, 0, 0, 0 };
  }
  __syncthreads ();
  for (gint y = 1 + threadIdx.x; y < r.height; y += THREADS)
    unite_rows (s, y, p.connectivity == 8);
  __syncthreads ();
  return n;
}

/* Adds the runs to their components. */
__device__ void
add_runs (const Scratch &s, guint32 n)
{
  for (guint32 i = threadIdx.x; i < n; i += THREADS) {
    Run run = s.runs[i];
    Component *c = &s.components[pbf_find (s.parents, i)];
    unsigned long long count = run.last - run.first + 1;

    atomicAdd (&c->area, (guint32) count);
    atomicAdd (&c->sx, count * run.first + count * (count - 1) / 2);
    atomicAdd (&c->sy, count * run.y);
  }
  __syncthreads ();
}

/* Number of the component of pixel (x, y); NO_COMPONENT for background. */
__device__ guint32
component_at (const Scratch &s, gint x, gint y)
{
  for (guint32 i = s.row_start[y]; i < s.row_start[y + 1]; i++)
    if (s.runs[i].first <= x && x <= s.runs[i].last)
      return pbf_find (s.parents, i);
  return NO_COMPONENT;
}

/* All components but number @pool; sums of their pixels are relative to (first_x,
 * first_y). */
__device__ void
list_spatters (const PbfParams &p, const Scratch &s, guint32 n, guint32 pool,
    gint32 first_x, gint32 first_y, CvisPbfResult *result)
{
  unsigned long long area = 0;
  guint32 count = 0, total;

  for (guint32 i = threadIdx.x; i < n; i += THREADS) {
    Component *c = &s.components[i];

    if (i == pool || c->area < p.min_area)
      c->area = 0;
    area += c->area;
    count += c->area > 0;
  }
  block_sum_before (count, &total);
  count = total;
  block_sum_before ((guint32) (area & 0xffff), &total);
  guint32 area_low = total;
  block_sum_before ((guint32) (area >> 16), &total);
  area = ((unsigned long long) total << 16) + area_low;

  guint32 listed = min (count, (guint32) CVIS_PBF_MAX_SPATTERS);
  for (guint32 k = 0; k < listed; k++) {
    guint64 best = 0;

    for (guint32 i = threadIdx.x; i < n; i += THREADS) {
      guint64 key = (guint64) s.components[i].area << 32 | (0xffffffffu - i);
      best = s.components[i].area && key > best ? key : best;
    }
    best = block_max (best);
    if (threadIdx.x == 0) {
      Component *c = &s.components[0xffffffffu - (guint32) best];

      pbf_describe_spatter (&result->spatters[k], c->area, c->sx, c->sy,
          first_x, first_y, result->e_x_q8, result->e_y_q8);
      c->area = 0;
    }
    __syncthreads ();
  }
  if (threadIdx.x == 0) {
    result->raw[CVIS_PBF_SPATTER_AREA] =
        (gint32) min (area, (unsigned long long) PBF_AREA_MAX);
    result->raw[CVIS_PBF_SPATTER_COUNT] = min (count, (guint32) PBF_AREA_MAX);
    result->features[CVIS_PBF_SPATTER_AREA] =
        (gfloat) result->raw[CVIS_PBF_SPATTER_AREA];
    result->features[CVIS_PBF_SPATTER_COUNT] =
        (gfloat) result->raw[CVIS_PBF_SPATTER_COUNT];
    result->n_spatters = listed;
    if (count > CVIS_PBF_MAX_SPATTERS)
      result->flags |= CVIS_PBF_RESULT_SPATTERS_CUT;
  }
}

} // namespace
