/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Sorts points and observations: three stable sorts on the device. The host
 * builds the lists of slices and segments. */
#include "cuda/bundle/cuda/engine.cuh"
#include "cuda/core/device/bounce.cuh"

namespace {

typedef unsigned long long Key;

const int THREADS = 256;
const int WARPS = THREADS / 32;
const int ROUNDS = 16; /* keys for each lane */
const guint TILE = THREADS * ROUNDS;
const int DIGITS = 256;
const gsize LARGE = 64u << 20; /* bytes that bounce buffers copy in less time */
const gsize BOUNCE = 2u << 20;

guint
blocks_for (gsize n, guint each)
{
  return (guint) ((n + each - 1) / each);
}

/* Number of bits of the numbers below @n. */
guint
bits_of (guint32 n)
{
  return n > 1 ? g_bit_storage (n - 1) : 1;
}

/* --- prefix sums --------------------------------------------------------- */

const guint SCAN_EACH = 8;
const guint SCAN_TILE = 1024 * SCAN_EACH;

/* Replaces each of @n counts by the sum of the counts before it in its tile;
 * scan_add() adds the tiles before. */
__global__ void
scan_tiles (guint32 *counts, gsize n, guint32 *totals)
{
  __shared__ guint32 sums[1024];
  const gsize first = blockIdx.x * (gsize) SCAN_TILE + threadIdx.x * SCAN_EACH;
  guint32 own[SCAN_EACH], sum = 0;

  for (guint i = 0; i < SCAN_EACH; i++) {
    own[i] = sum;
    sum += first + i < n ? counts[first + i] : 0;
  }
  sums[threadIdx.x] = sum;
  __syncthreads ();
  for (guint step = 1; step < 1024; step *= 2) {
    const guint32 before = threadIdx.x >= step ? sums[threadIdx.x - step] : 0;

    __syncthreads ();
    sums[threadIdx.x] += before;
    __syncthreads ();
  }
  for (guint i = 0; i < SCAN_EACH; i++)
    if (first + i < n)
      counts[first + i] = own[i] + sums[threadIdx.x] - sum;
  if (threadIdx.x == 1023)
    totals[blockIdx.x] = sums[1023];
}

__global__ void
scan_totals (guint32 *totals, guint32 n)
{
  guint32 sum = 0;

  for (guint32 i = 0; i < n; i++) {
    const guint32 own = totals[i];

    totals[i] = sum;
    sum += own;
  }
}

__global__ void
scan_add (guint32 *counts, gsize n, const guint32 *totals)
{
  const gsize first = blockIdx.x * (gsize) SCAN_TILE + threadIdx.x * SCAN_EACH;

  for (guint i = 0; i < SCAN_EACH; i++)
    if (first + i < n)
      counts[first + i] += totals[blockIdx.x];
}

/* --- stable sort by digits of 8 bits ---------------------------------------------------- */

__device__ __forceinline__ guint
digit_of (Key key, guint shift)
{
  return (guint) (key >> shift) & (DIGITS - 1);
}

/* counts[digit][tile] */
__global__ void
__launch_bounds__ (THREADS)
    count_digits (const Key *keys, gsize n, guint shift, guint32 *counts)
{
  __shared__ guint32 digits[DIGITS];
  const gsize first = blockIdx.x * (gsize) TILE;

  digits[threadIdx.x] = 0;
  __syncthreads ();
  for (gsize i = first + threadIdx.x; i < MIN (n, first + TILE); i += THREADS)
    atomicAdd (&digits[digit_of (keys[i], shift)], 1u);
  __syncthreads ();
  counts[threadIdx.x * (gsize) gridDim.x + blockIdx.x] = digits[threadIdx.x];
}

/* Each warp moves its share of a tile, 32 keys at a time, behind the keys of
 * the same digit in earlier warps and tiles. */
__global__ void
__launch_bounds__ (THREADS)
    place_keys (const Key *keys, const guint32 *values, Key *keys_out,
        guint32 *values_out, gsize n, guint shift, const guint32 *before)
{
  __shared__ guint32 next[WARPS][DIGITS];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const gsize first = blockIdx.x * (gsize) TILE + warp * (32 * ROUNDS) + lane;

  for (int w = 0; w < WARPS; w++)
    next[w][threadIdx.x] = 0;
  __syncthreads ();
  for (int round = 0; round < ROUNDS; round++) {
    const gsize i = first + 32 * round;

    if (i < n)
      atomicAdd (&next[warp][digit_of (keys[i], shift)], 1u);
  }
  __syncthreads ();
  guint32 sum = before[threadIdx.x * (gsize) gridDim.x + blockIdx.x];
  for (int w = 0; w < WARPS; w++) {
    const guint32 own = next[w][threadIdx.x];

    next[w][threadIdx.x] = sum;
    sum += own;
  }
  __syncthreads ();
  for (int round = 0; round < ROUNDS; round++) {
    const gsize i = first + 32 * round;
    const Key key = i < n ? keys[i] : 0;
    /* keys past the end get a digit of their own */
    const guint digit = i < n ? digit_of (key, shift) : DIGITS;
    const guint same = __match_any_sync (0xffffffffu, digit);
    const guint rank = __popc (same & ((1u << lane) - 1));
    guint32 place = 0;

    if (i < n)
      place = next[warp][digit] + rank;
    __syncwarp ();
    if (i < n && rank == 0)
      next[warp][digit] += __popc (same);
    __syncwarp ();
    if (i < n) {
      keys_out[place] = key;
      values_out[place] = values[i];
    }
  }
}

struct Sort {
  Key *keys[2];
  guint32 *values[2];
  guint32 *counts, *totals;
};

void
swap_pairs (Sort *sort)
{
  Key *keys = sort->keys[0];
  guint32 *values = sort->values[0];

  sort->keys[0] = sort->keys[1];
  sort->values[0] = sort->values[1];
  sort->keys[1] = keys;
  sort->values[1] = values;
}

/* Sorts the @n pairs in keys[0], values[0] by the lower @bits. The result is
 * in keys[0], values[0]. */
void
sort_pairs (Sort *sort, gsize n, guint bits, cudaStream_t stream)
{
  const guint tiles = blocks_for (n, TILE);
  const gsize n_counts = (gsize) tiles * DIGITS;
  const guint scans = blocks_for (n_counts, SCAN_TILE);

  for (guint shift = 0; shift < bits; shift += 8) {
    count_digits<<<tiles, THREADS, 0, stream>>> (
        sort->keys[0], n, shift, sort->counts);
    scan_tiles<<<scans, 1024, 0, stream>>> (
        sort->counts, n_counts, sort->totals);
    scan_totals<<<1, 1, 0, stream>>> (sort->totals, scans);
    scan_add<<<scans, 1024, 0, stream>>> (sort->counts, n_counts, sort->totals);
    place_keys<<<tiles, THREADS, 0, stream>>> (sort->keys[0], sort->values[0],
        sort->keys[1], sort->values[1], n, shift, sort->counts);
    swap_pairs (sort);
  }
}

/* --- keys ---------------------------------------------------------------------------- */

/* Sort by point, then by camera. */
__global__ void
make_point_keys (const guint32 *point_of, const guint32 *camera_of, gsize n,
    guint camera_bits, Key *keys, guint32 *values)
{
  const gsize i = blockIdx.x * (gsize) blockDim.x + threadIdx.x;

  if (i < n) {
    keys[i] = (Key) point_of[i] << camera_bits | camera_of[i];
    values[i] = (guint32) i;
  }
}

/* First and last index of the keys with the same upper part. */
__global__ void
find_ranges (
    const Key *keys, gsize n, guint shift, guint32 *begin, guint32 *end)
{
  const gsize i = blockIdx.x * (gsize) blockDim.x + threadIdx.x;

  if (i >= n)
    return;
  const guint32 own = (guint32) (keys[i] >> shift);

  if (i == 0 || (guint32) (keys[i - 1] >> shift) != own)
    begin[own] = (guint32) i;
  if (i == n - 1 || (guint32) (keys[i + 1] >> shift) != own)
    end[own] = (guint32) i + 1;
}

/* Sorts points by number of observations, the most first, then by their
 * first two cameras. */
__global__ void
make_order_keys (const Key *sorted, const guint32 *begin, const guint32 *end,
    guint32 n, guint camera_bits, Key *keys, guint32 *values)
{
  const guint32 p = blockIdx.x * blockDim.x + threadIdx.x;

  if (p >= n)
    return;
  const guint32 length = end[p] - begin[p];
  const Key mask = ((Key) 1 << camera_bits) - 1;
  const guint shift = camera_bits > 24 ? camera_bits - 24 : 0;
  Key key = 4095 - MIN (length, 4095);

  for (guint i = 0; i < 2; i++)
    key = key << 24 | (i < length ? (sorted[begin[p] + i] & mask) >> shift : 0);
  keys[p] = key;
  values[p] = p;
}

__global__ void
take_order (const guint32 *order, const guint32 *begin, const guint32 *end,
    guint32 n, const double *coordinates, guint32 *lengths, BundlePoint *points)
{
  const guint32 i = blockIdx.x * blockDim.x + threadIdx.x;

  if (i >= n)
    return;
  const guint32 p = order[i];

  lengths[i] = end[p] - begin[p];
  for (int k = 0; k < 3; k++) {
    points[i].x[k] = coordinates[3 * (gsize) p + k];
    points[i].y[k] = 0;
  }
}

/* Fills the slots and makes the keys of the views. One warp a slice. */
__global__ void
fill_slots (BundleDevice d, const Key *sorted, const guint32 *source,
    const guint32 *begin, const guint32 *end, const double2 *observed,
    guint camera_bits, guint point_bits, Key *keys, guint32 *values)
{
  const guint32 number = blockIdx.x * WARPS + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;

  if (number >= d.n_slices)
    return;
  const BundleSlice slice = d.slices[number];
  const guint32 p = slice.point + (slice.n > 0 ? lane : 0);
  guint32 first = 0, length = 0;

  if (slice.n == 0 || lane < (int) slice.n) {
    first = begin[d.order[p]];
    length = end[d.order[p]] - first;
  }
  for (guint32 j = 0; j < slice.width; j++) {
    const guint32 slot = slice.slot + 32 * j + lane;
    const guint32 k = slice.n > 0 ? j : 32 * j + lane;

    d.slot_camera[slot] = BUNDLE_NONE;
    if (k < length) {
      const Key key = sorted[first + k];
      const guint32 camera = (guint32) (key & (((Key) 1 << camera_bits) - 1));

      d.slot_camera[slot] = camera;
      d.slot_observed[slot] = observed[source[first + k]];
      keys[first + k] = (Key) camera << point_bits | p;
      values[first + k] = source[first + k];
    }
  }
}

__global__ void
fill_views (BundleDevice d, const Key *sorted, const guint32 *source,
    const double2 *observed, guint point_bits)
{
  const gsize i = blockIdx.x * (gsize) blockDim.x + threadIdx.x;

  if (i < d.n_views) {
    d.view_point[i] = (guint32) (sorted[i] & (((Key) 1 << point_bits) - 1));
    d.view_observed[i] = observed[source[i]];
  }
}

/* --- lists, on the host ---------------------------------------------------------------- */

/* @lengths: observations of each point in sorted order. Returns: FALSE if
 *   there are 2^32 slots or more */
gboolean
list_slices (BundleDevice *d, const guint32 *lengths, GArray *slices)
{
  guint64 slot = 0;

  for (guint32 p = 0; p < d->n_points;) {
    const gboolean is_long = lengths[p] > BUNDLE_LONG;
    BundleSlice slice = { (guint32) slot, lengths[p], p, 0 };

    if (is_long)
      slice.width = (lengths[p] + 31) / 32;
    else
      slice.n = MIN (32, d->n_points - p);
    g_array_append_val (slices, slice);
    p += is_long ? 1 : slice.n;
    slot += 32 * (guint64) slice.width;
  }
  d->n_slices = slices->len;
  d->n_slots = (guint32) slot;
  return slot < BUNDLE_NONE;
}

void
list_segments (BundleDevice *d, const guint32 *begin, const guint32 *end,
    GArray *segments, guint32 *first)
{
  for (guint32 c = 0; c < d->n_cameras; c++) {
    first[c] = segments->len;
    for (guint32 i = begin[c]; i < end[c]; i += BUNDLE_SEGMENT) {
      const BundleSegment segment = { c, i, MIN (end[c], i + BUNDLE_SEGMENT) };

      g_array_append_val (segments, segment);
    }
  }
  first[d->n_cameras] = d->n_segments = segments->len;
}

/* --- all of it ---------------------------------------------------------------------------- */

/* Temporary memory. */
struct Scratch {
  CvisArena arena;
  CvisBounce *bounce; /* of a large problem */
  Sort observations, points;
  guint32 *camera_of, *point_of;
  double2 *observed;
  double *coordinates;
  guint32 *lengths;
  guint32 *begin, *end; /* of a point: range of observations */
  guint32 *camera_begin, *camera_end;
};

gboolean
take_pairs (CvisArena *arena, Sort *sort, gsize n, GError **error)
{
  for (guint i = 0; i < 2; i++)
    if (!cvis_arena_take (arena, &sort->keys[i], n, "keys", error)
        || !cvis_arena_take (arena, &sort->values[i], n, "indices", error))
      return FALSE;
  return TRUE;
}

gboolean
scratch_init (Scratch *s, const BundleProblem *problem, GError **error)
{
  const gsize n = problem->n_observations, n_points = problem->n_points;
  const gsize n_cameras = problem->n_cameras;
  const gsize n_counts = (gsize) blocks_for (MAX (n, n_points), TILE) * DIGITS;
  CvisArena *arena = &s->arena;
  Sort *sort = &s->observations;

  if (!take_pairs (arena, sort, n, error)
      || !take_pairs (arena, &s->points, n_points, error)
      || !cvis_arena_take (
          arena, &sort->counts, n_counts, "counts of digits", error)
      || !cvis_arena_take (arena, &sort->totals,
          blocks_for (n_counts, SCAN_TILE), "sums", error))
    return FALSE;
  s->points.counts = sort->counts;
  s->points.totals = sort->totals;
  return cvis_arena_take (arena, &s->camera_of, n, "camera numbers", error)
         && cvis_arena_take (arena, &s->point_of, n, "point numbers", error)
         && cvis_arena_take (arena, &s->observed, n, "observations", error)
         && cvis_arena_take (
             arena, &s->coordinates, 3 * n_points, "points", error)
         && cvis_arena_take (arena, &s->lengths, n_points, "points", error)
         && cvis_arena_take (arena, &s->begin, n_points, "points", error)
         && cvis_arena_take (arena, &s->end, n_points, "points", error)
         && cvis_arena_take (
             arena, &s->camera_begin, n_cameras, "cameras", error)
         && cvis_arena_take (
             arena, &s->camera_end, n_cameras, "cameras", error);
}

template <typename T>
gboolean
copy (T *to, const T *from, gsize n, cudaMemcpyKind kind, cudaStream_t stream,
    GError **error)
{
  return CVIS_CUDA (
      cudaMemcpyAsync (to, from, n * sizeof (T), kind, stream), error);
}

template <typename T>
gboolean
clear (T *memory, gsize n, cudaStream_t stream, GError **error)
{
  return CVIS_CUDA (cudaMemsetAsync (memory, 0, n * sizeof (T), stream), error);
}

/* Copies @n elements of the problem to the device. */
template <typename T>
gboolean
upload (Scratch *s, T *to, const T *from, gsize n, cudaStream_t stream,
    GError **error)
{
  const CvisRows rows = { (void *) from, sizeof (T), to, sizeof (T), sizeof (T),
    (guint) n, FALSE, TRUE };

  return s->bounce != NULL
             ? cvis_bounce_up (s->bounce, &rows, stream, error)
             : copy (to, from, n, cudaMemcpyHostToDevice, stream, error);
}

/* Host memory for @n numbers, or %NULL with an error. */
guint32 *
take_host (gsize n, GError **error)
{
  guint32 *memory = g_try_new (guint32, n);

  if (memory == NULL)
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "no host memory to sort the observations: %" G_GSIZE_FORMAT " bytes",
        n * sizeof *memory);
  return memory;
}

/* Sorts the observations by point, then the points; sets order, points,
 * n_points. */
gboolean
order_points (BundleDevice *d, CvisArena *arena, Scratch *s,
    const BundleProblem *problem, guint32 *lengths, cudaStream_t stream,
    GError **error)
{
  const gsize n = problem->n_observations;
  const guint32 n_points = problem->n_points;
  const guint camera_bits = bits_of (problem->n_cameras);
  const guint blocks = blocks_for (n_points, THREADS);

  if (!cvis_arena_take (arena, &d->order, n_points, "points", error)
      || !cvis_arena_take (arena, &d->points, n_points, "points", error)
      || !upload (s, s->point_of, problem->point_of, n, stream, error)
      || !upload (s, s->camera_of, problem->camera_of, n, stream, error)
      || !upload (
          s, s->observed, (const double2 *) problem->observed, n, stream, error)
      || !upload (s, (double3 *) s->coordinates,
          (const double3 *) problem->points, n_points, stream, error)
      || !clear (s->begin, n_points, stream, error)
      || !clear (s->end, n_points, stream, error))
    return FALSE;
  make_point_keys<<<blocks_for (n, THREADS), THREADS, 0, stream>>> (s->point_of,
      s->camera_of, n, camera_bits, s->observations.keys[0],
      s->observations.values[0]);
  sort_pairs (&s->observations, n, bits_of (n_points) + camera_bits, stream);
  find_ranges<<<blocks_for (n, THREADS), THREADS, 0, stream>>> (
      s->observations.keys[0], n, camera_bits, s->begin, s->end);
  make_order_keys<<<blocks, THREADS, 0, stream>>> (s->observations.keys[0],
      s->begin, s->end, n_points, camera_bits, s->points.keys[0],
      s->points.values[0]);
  sort_pairs (&s->points, n_points, 64, stream);
  if (!copy (d->order, (const guint32 *) s->points.values[0], n_points,
          cudaMemcpyDeviceToDevice, stream, error))
    return FALSE;
  take_order<<<blocks, THREADS, 0, stream>>> (d->order, s->begin, s->end,
      n_points, s->coordinates, s->lengths, d->points);
  if (!CVIS_LAUNCHED ("the order of the points", error)
      || !copy (lengths, (const guint32 *) s->lengths, n_points,
          cudaMemcpyDeviceToHost, stream, error)
      || !CVIS_CUDA (cudaStreamSynchronize (stream), error))
    return FALSE;
  d->n_points = n_points;
  while (d->n_points > 0 && lengths[d->n_points - 1] == 0)
    d->n_points--;
  return TRUE;
}

/* Builds the slices and their slots. */
gboolean
fill_points (BundleDevice *d, CvisArena *arena, Scratch *s,
    const BundleProblem *problem, const guint32 *lengths, cudaStream_t stream,
    GError **error)
{
  g_autoptr (GArray) slices = g_array_new (FALSE, FALSE, sizeof (BundleSlice));

  if (!list_slices (d, lengths, slices)) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "%" G_GSIZE_FORMAT " observations need too many slots: the CUDA backend"
        " supports 2^32. Use the CPU backend",
        problem->n_observations);
    return FALSE;
  }
  if (!cvis_arena_take (arena, &d->slices, d->n_slices, "slices", error)
      || !cvis_arena_take (
          arena, &d->slot_camera, d->n_slots, "camera numbers", error)
      || !cvis_arena_take (
          arena, &d->slot_observed, d->n_slots, "observations", error)
      || !copy (d->slices, (const BundleSlice *) slices->data, d->n_slices,
          cudaMemcpyHostToDevice, stream, error))
    return FALSE;
  fill_slots<<<blocks_for (d->n_slices, WARPS), THREADS, 0, stream>>> (*d,
      s->observations.keys[0], s->observations.values[0], s->begin, s->end,
      s->observed, bits_of (problem->n_cameras), bits_of (problem->n_points),
      s->observations.keys[1], s->observations.values[1]);
  swap_pairs (&s->observations);
  return CVIS_LAUNCHED ("the order of the observations", error)
         && CVIS_CUDA (cudaStreamSynchronize (stream), error);
}

/* Builds the views and segments. */
gboolean
fill_cameras (BundleDevice *d, CvisArena *arena, Scratch *s,
    const BundleProblem *problem, cudaStream_t stream, GError **error)
{
  const gsize n = d->n_views;
  const guint point_bits = bits_of (problem->n_points);
  const guint camera_bits = bits_of (d->n_cameras);
  g_autofree guint32 *begin = take_host (d->n_cameras, error);
  g_autofree guint32 *end = begin ? take_host (d->n_cameras, error) : NULL;
  g_autofree guint32 *first =
      end ? take_host ((gsize) d->n_cameras + 1, error) : NULL;
  g_autoptr (GArray) segments =
      g_array_new (FALSE, FALSE, sizeof (BundleSegment));

  if (first == NULL
      || !cvis_arena_take (arena, &d->view_point, n, "point numbers", error)
      || !cvis_arena_take (arena, &d->view_observed, n, "observations", error)
      || !cvis_arena_take (arena, &d->camera_segments, (gsize) d->n_cameras + 1,
          "segments", error)
      || !clear (s->camera_begin, d->n_cameras, stream, error)
      || !clear (s->camera_end, d->n_cameras, stream, error))
    return FALSE;
  sort_pairs (&s->observations, n, point_bits + camera_bits, stream);
  find_ranges<<<blocks_for (n, THREADS), THREADS, 0, stream>>> (
      s->observations.keys[0], n, point_bits, s->camera_begin, s->camera_end);
  fill_views<<<blocks_for (n, THREADS), THREADS, 0, stream>>> (*d,
      s->observations.keys[0], s->observations.values[0], s->observed,
      point_bits);
  if (!CVIS_LAUNCHED ("the order of the views", error)
      || !copy (begin, (const guint32 *) s->camera_begin, d->n_cameras,
          cudaMemcpyDeviceToHost, stream, error)
      || !copy (end, (const guint32 *) s->camera_end, d->n_cameras,
          cudaMemcpyDeviceToHost, stream, error)
      || !CVIS_CUDA (cudaStreamSynchronize (stream), error))
    return FALSE;
  list_segments (d, begin, end, segments, first);
  return cvis_arena_take (arena, &d->segments, d->n_segments, "segments", error)
         && copy (d->segments, (const BundleSegment *) segments->data,
             d->n_segments, cudaMemcpyHostToDevice, stream, error)
         && copy (d->camera_segments, (const guint32 *) first,
             (gsize) d->n_cameras + 1, cudaMemcpyHostToDevice, stream, error)
         && CVIS_CUDA (cudaStreamSynchronize (stream), error);
}

} // namespace

gboolean
bundle_cuda_order (BundleDevice *device, CvisArena *arena,
    const BundleProblem *problem, guint threads, cudaStream_t stream,
    gsize *peak, GError **error)
{
  const gsize bytes = problem->n_observations * (2 * sizeof (guint32) + 16);
  Scratch scratch = {};
  g_autofree guint32 *lengths = take_host (problem->n_points, error);
  gboolean ok;

  device->n_cameras = problem->n_cameras;
  device->n_views = (guint32) problem->n_observations;
  ok =
      lengths != NULL && scratch_init (&scratch, problem, error)
      && (bytes < LARGE
          || (scratch.bounce = cvis_bounce_new (BOUNCE, 2, threads, error))
                 != NULL)
      && order_points (device, arena, &scratch, problem, lengths, stream, error)
      && fill_points (device, arena, &scratch, problem, lengths, stream, error)
      && fill_cameras (device, arena, &scratch, problem, stream, error);
  cudaStreamSynchronize (stream);
  *peak = arena->size + scratch.arena.size;
  cvis_bounce_free (scratch.bounce);
  cvis_arena_clear (&scratch.arena);
  return ok;
}
