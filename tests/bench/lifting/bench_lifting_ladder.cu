/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The optimisation steps of the paper (see cuda/wavelet/wavelet.h) for a
 * wavelet transform on a GPU, reimplemented one by one, with this library's
 * transform as the last steps: the effect of each step on the GPU in use.
 * 4096 x 4096 floats, four levels forward, as in the paper's Table 1 and
 * Figs. 21 to 24; its total was 193 ms of kernels, 213 ms with copies, on a
 * GTX 1080. Its Table 4 has six levels of db2 and 9/7 at 4096 x 4096 and at
 * 12288 x 12288; the latter took 750 to 830 ms on four GPUs.
 *
 *   scheme rc             rows, then columns: a thread block for each line, in
 *                         shared memory, a barrier after each lifting step
 *   scheme rc-lb          the same rows; columns by strips of 32 columns with a
 *                         window that slides down
 *   scheme lbb-classic    strips with a sliding window, rows and columns in one
 *                         pass over memory, a barrier for each step
 *   scheme lbb-improved   a predict and an update in one step (Eq. 16): half the
 *                         barriers
 *
 * then, for lbb-improved, the block size, coefficients in global memory
 * instead of constant memory, pictures and bands stored as FP16, which the
 * paper rejects for its error; with copies from pageable and from pinned
 * memory, and streams that overlap them; and the library's transform. Bands
 * are compared with the plain C reference implementation.
 *
 *   bench_lifting_ladder [SIDE [LEVELS]]     default: 4096 4 */
#include <cuda_fp16.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/core/device/cuda.cuh"
#include "cuda/core/histogram.h"
#include "cuda/lifting/cuda/transform.cuh"
#include "lwtreference.h"

namespace {

const int MAX_LEVELS = 6;
const int ROUNDS = 15;
/* Lifting steps of two weights; a missing one is 0. */
const int MAX_STEPS = 4;

/* A step in positions of the undivided line: sample p of its parity changes
 * by c0 x[p + at] + c1 x[p + at + 2]. */
struct Step {
  int odd;
  int at;
  float c0, c1;
};

struct Steps {
  int n;
  Step step[MAX_STEPS];
  float low, high;
};

__constant__ Steps constant_steps;

void
must (cudaError_t code, const char *what)
{
  if (code == cudaSuccess)
    return;
  fprintf (stderr, "%s: %s (%s)\n", what, cudaGetErrorName (code),
      cudaGetErrorString (code));
  exit (1);
}
#define MUST(call) must ((call), #call)

/* --- kernels -------------------------------------------------------------- */

/* Maps a position at most one length outside a picture into it. */
__device__ int
mirror (int p, int n)
{
  p = abs (p);
  return p < n ? p : abs (2 * (n - 1) - p);
}

/* Input of a level, and destination of its bands, stored as float or __half:
 * all of them in @out, except the low one, which goes to @low if another level follows. */
template <typename T> struct Level {
  const T *in;
  T *out, *low;
  int width, height;
  int in_pitch, out_pitch;
};

template <typename T>
__device__ void
store (const Level<T> &level, int x, int y, float value)
{
  const int low_width = (level.width + 1) / 2;

  if (level.low && x < low_width && y < (level.height + 1) / 2)
    level.low[(size_t) y * low_width + x] = (T) value;
  else
    level.out[(size_t) y * level.out_pitch + x] = (T) value;
}

/* rc: rows; one thread block for each row. */
__global__ void
rows (Level<float> level, const Steps *given)
{
  extern __shared__ float line[];
  const Steps &steps = given ? *given : constant_steps;
  const int n = level.width, y = blockIdx.x;

  for (int x = threadIdx.x; x < n; x += blockDim.x)
    line[x] = level.in[(size_t) y * level.in_pitch + x];
  __syncthreads ();
  for (int i = 0; i < steps.n; i++) {
    const Step &s = steps.step[i];

    for (int p = 2 * threadIdx.x + s.odd; p < n; p += 2 * blockDim.x)
      line[p] = fmaf (s.c1, line[mirror (p + s.at + 2, n)],
          fmaf (s.c0, line[mirror (p + s.at, n)], line[p]));
    __syncthreads ();
  }
  for (int x = threadIdx.x; x < n; x += blockDim.x)
    level
        .out[(size_t) y * level.out_pitch + x / 2 + (x % 2 ? (n + 1) / 2 : 0)] =
        line[x] * (x % 2 ? steps.high : steps.low);
}

/* rc: columns; adjacent threads read samples one row apart. */
__global__ void
columns (Level<float> level, const Steps *given)
{
  extern __shared__ float line[];
  const Steps &steps = given ? *given : constant_steps;
  const int n = level.height, x = blockIdx.x;

  for (int y = threadIdx.x; y < n; y += blockDim.x)
    line[y] = level.in[(size_t) y * level.in_pitch + x];
  __syncthreads ();
  for (int i = 0; i < steps.n; i++) {
    const Step &s = steps.step[i];

    for (int p = 2 * threadIdx.x + s.odd; p < n; p += 2 * blockDim.x)
      line[p] = fmaf (s.c1, line[mirror (p + s.at + 2, n)],
          fmaf (s.c0, line[mirror (p + s.at, n)], line[p]));
    __syncthreads ();
  }
  for (int y = threadIdx.x; y < n; y += blockDim.x)
    store (level, x, y / 2 + (y % 2 ? (n + 1) / 2 : 0),
        line[y] * (y % 2 ? steps.high : steps.low));
}

/* Halo of a tile in samples: at most three for each step, which is enough
 * for four steps of alternating kind. */
const int HALO = 8;

/* A tile in shared memory, and its position in a picture. */
struct Tile {
  float *data;
  int x0, y0; /* of its first sample */
  int width, height;
};

/* The lines of a tile in one direction: sample p of the picture's line is at
 * (p - origin) * step. */
struct Line {
  float *data;
  int origin, step;
  int n;     /* samples of the tile's line */
  int whole; /* of the picture's */
};

__device__ float &
at (const Line &line, int p)
{
  return line.data[(mirror (p, line.whole) - line.origin) * line.step];
}

/* Whether the tile contains all neighbours of a step from position p on. */
__device__ bool
reaches (const Line &line, const Step &s, int p)
{
  const int a = mirror (p + s.at, line.whole) - line.origin;
  const int b = mirror (p + s.at + 2, line.whole) - line.origin;

  return min (a, b) >= 0 && max (a, b) < line.n;
}

__device__ bool
holds (const Line &line, int p)
{
  return p >= max (line.origin, 0)
         && p < min (line.origin + line.n, line.whole);
}

__device__ float
lifted (const Line &line, const Step &s, int p)
{
  return fmaf (s.c1, at (line, p + s.at + 2),
      fmaf (s.c0, at (line, p + s.at), at (line, p)));
}

/* A predict and an update of its neighbour in one (Eq. 16): each thread
 * computes the two predicts that its update needs. */
struct Pair {
  float predicted, updated;
  bool predict, update;
};

__device__ Pair
lift_pair (const Line &line, const Step &s, const Step &u, int p, int q)
{
  Pair pair = {};

  pair.predict = holds (line, p) && reaches (line, s, p);
  if (pair.predict)
    pair.predicted = lifted (line, s, p);
  pair.update = holds (line, q) && reaches (line, u, q);
  for (int j = 0; j < 2 && pair.update; j++)
    pair.update = reaches (line, s, mirror (q + u.at + 2 * j, line.whole));
  if (pair.update)
    pair.updated =
        fmaf (u.c1, lifted (line, s, mirror (q + u.at + 2, line.whole)),
            fmaf (u.c0, lifted (line, s, mirror (q + u.at, line.whole)),
                at (line, q)));
  return pair;
}

/* All steps along the rows, or the columns, of a tile; as many whole lines
 * at a time as there are threads for. */
template <bool along_x, bool paired>
__device__ void
lift_tile (const Tile &tile, const Steps &steps, int whole)
{
  const int lines = along_x ? tile.height : tile.width;
  const int n = along_x ? tile.width : tile.height;
  const int half = n / 2, together = blockDim.x / half;
  /* adjacent threads: along a line, or in adjacent columns */
  const int mine = along_x ? threadIdx.x / half : threadIdx.x % together;
  const int k = along_x ? threadIdx.x % half : threadIdx.x / together;
  Line line = { NULL, along_x ? tile.x0 : tile.y0, along_x ? 1 : tile.width, n,
    whole };

  for (int i = 0; i < steps.n; i++) {
    const Step s = steps.step[i];
    const bool pair = paired && i + 1 < steps.n;
    const Step u = steps.step[pair ? ++i : i];
    /* tiles begin at even positions */
    const int p = line.origin + 2 * k + s.odd, q = line.origin + 2 * k + u.odd;

    for (int first = 0; first < lines; first += together) {
      const bool works = mine < together && k < half && first + mine < lines;
      Pair result = {};

      line.data = tile.data + (first + mine) * (along_x ? tile.width : 1);
      if (works && pair)
        result = lift_pair (line, s, u, p, q);
      if (works && !pair && holds (line, p) && reaches (line, s, p))
        at (line, p) = lifted (line, s, p);
      if (pair) {
        __syncthreads ();
        if (result.predict)
          at (line, p) = result.predicted;
        if (result.update)
          at (line, q) = result.updated;
      }
    }
    __syncthreads ();
  }
}

template <typename T>
__device__ void
put (const Level<T> &level, const Steps &steps, int x, int y, float value,
    bool along_x)
{
  if (along_x) {
    value *= x % 2 ? steps.high : steps.low;
    x = x / 2 + (x % 2 ? (level.width + 1) / 2 : 0);
  }
  store (level, x, y / 2 + (y % 2 ? (level.height + 1) / 2 : 0),
      value * (y % 2 ? steps.high : steps.low));
}

/* Strips of @width columns; each thread block goes down @segment rows by
 * tiles of @rows rows with HALO samples more on each side. Both directions
 * in one pass, or only the columns. */
template <bool both, bool paired, typename T>
__global__ void
strips (
    Level<T> level, const Steps *given, int width, int tile_rows, int segment)
{
  extern __shared__ float memory[];
  const Steps &steps = given ? *given : constant_steps;
  const int halo_x = both ? HALO : 0;
  const int end = min ((int) (blockIdx.y + 1) * segment, level.height);
  Tile tile = { memory, (int) blockIdx.x * width - halo_x, 0,
    width + 2 * halo_x, tile_rows + 2 * HALO };

  for (int y = blockIdx.y * segment; y < end; y += tile_rows) {
    tile.y0 = y - HALO;
    for (int k = threadIdx.x; k < tile.width * tile.height; k += blockDim.x) {
      const int x = tile.x0 + k % tile.width, row = tile.y0 + k / tile.width;

      tile.data[k] =
          (float) level.in[(size_t) mirror (row, level.height) * level.in_pitch
                           + mirror (x, level.width)];
    }
    __syncthreads ();
    if (both)
      lift_tile<true, paired> (tile, steps, level.width);
    lift_tile<false, paired> (tile, steps, level.height);
    for (int k = threadIdx.x; k < width * tile_rows; k += blockDim.x) {
      const int x = tile.x0 + halo_x + k % width, row = y + k / width;

      if (x < level.width && row < end)
        put (level, steps, x, row,
            tile.data[(k / width + HALO) * tile.width + k % width + halo_x],
            both);
    }
    __syncthreads ();
  }
}

/* --- schemes -------------------------------------------------------------- */

enum Scheme { RC, RC_LB, LBB_CLASSIC, LBB_IMPROVED };

struct Setting {
  Scheme scheme;
  int width, tile_rows; /* of strips */
  bool global;          /* coefficients in global memory */
  bool half;            /* lbb-improved: pictures and bands of FP16 */
};

struct Device {
  float *bands;   /* of all levels */
  float *between; /* after the rows only */
  float *low[2];  /* of even and of odd levels */
  Steps *steps;   /* in global memory */
  cudaStream_t stream;
  int side, levels;
};

void
allow_shared (const void *kernel)
{
  MUST (cudaFuncSetAttribute (
      kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 96 * 1024));
}

void
run_strips (const Device &device, const Setting &setting, Level<float> level,
    const Steps *steps, dim3 grid, size_t shared, int segment)
{
  switch (setting.scheme) {
    case RC:
      columns<<<level.width, 256, level.width * sizeof (float),
          device.stream>>> (level, steps);
      break;
    case RC_LB:
      strips<false, false><<<grid, 256, shared, device.stream>>> (
          level, steps, setting.width, setting.tile_rows, segment);
      break;
    case LBB_CLASSIC:
      strips<true, false><<<grid, 256, shared, device.stream>>> (
          level, steps, setting.width, setting.tile_rows, segment);
      break;
    case LBB_IMPROVED:
      strips<true, true><<<grid, 256, shared, device.stream>>> (
          level, steps, setting.width, setting.tile_rows, segment);
      break;
  }
}

void
run_strips (const Device &device, const Setting &setting, Level<__half> level,
    const Steps *steps, dim3 grid, size_t shared, int segment)
{
  strips<true, true><<<grid, 256, shared, device.stream>>> (
      level, steps, setting.width, setting.tile_rows, segment);
}

void
run_rows (const Device &device, Level<float> *level, const Steps *steps)
{
  Level<float> first = *level;

  first.out = device.between;
  rows<<<level->width, 256, level->width * sizeof (float), device.stream>>> (
      first, steps);
  level->in = device.between;
  level->in_pitch = level->out_pitch;
}

void
run_rows (const Device &, Level<__half> *, const Steps *)
{
}

template <typename T>
void
run_level (const Device &device, const Setting &setting, Level<T> level)
{
  const Steps *steps = setting.global ? device.steps : NULL;
  const bool both = setting.scheme >= LBB_CLASSIC;
  const int n = level.width, segment = 512;
  const int halo = both ? 2 * HALO : 0;
  const size_t shared =
      sizeof (float) * (setting.width + halo) * (setting.tile_rows + 2 * HALO);
  const dim3 grid (
      (n + setting.width - 1) / setting.width, (n + segment - 1) / segment);

  if (!both)
    run_rows (device, &level, steps);
  run_strips (device, setting, level, steps, grid, shared, segment);
  MUST (cudaGetLastError ());
}

template <typename T>
void
run_levels (const Device &device, const Setting &setting, const T *picture)
{
  Level<T> level = { picture, (T *) device.bands, NULL, 0, 0, device.side,
    device.side };

  for (int i = 0, n = device.side; i < device.levels; i++, n /= 2) {
    level.width = level.height = n;
    level.low = i + 1 < device.levels ? (T *) device.low[i % 2] : NULL;
    run_level (device, setting, level);
    level.in = level.low;
    level.in_pitch = n / 2;
  }
}

/* @picture: of FP16 if the setting says so */
void
run_scheme (const Device &device, const Setting &setting, const void *picture)
{
  if (setting.half)
    run_levels (device, setting, (const __half *) picture);
  else
    run_levels (device, setting, (const float *) picture);
}

template <typename From, typename To>
__global__ void
convert (const From *from, To *to, size_t n)
{
  const size_t i = (size_t) blockIdx.x * blockDim.x + threadIdx.x;

  if (i < n)
    to[i] = (To) (float) from[i];
}

/* --- the figures ---------------------------------------------------------- */

int
compare_floats (const void *a, const void *b)
{
  const float l = *(const float *) a, r = *(const float *) b;

  return (l > r) - (l < r);
}

float
median (float *values, int n)
{
  qsort (values, n, sizeof (float), compare_floats);
  return values[n / 2];
}

template <typename Work>
float
time_device (const Device &device, Work work)
{
  cudaEvent_t from, to;
  float times[ROUNDS];

  MUST (cudaEventCreate (&from));
  MUST (cudaEventCreate (&to));
  work ();
  for (int i = 0; i < ROUNDS; i++) {
    MUST (cudaEventRecord (from, device.stream));
    work ();
    MUST (cudaEventRecord (to, device.stream));
    MUST (cudaEventSynchronize (to));
    MUST (cudaEventElapsedTime (&times[i], from, to));
  }
  MUST (cudaEventDestroy (from));
  MUST (cudaEventDestroy (to));
  return median (times, ROUNDS);
}

/* --- wavelets ------------------------------------------------------------- */

/* The library's steps with positions instead of indices. */
Steps
steps_of (const LwtWavelet *wavelet)
{
  Steps steps = {};

  steps.n = (int) wavelet->n_steps;
  for (int i = 0; i < steps.n; i++) {
    const LwtStep &from = wavelet->steps[i];
    Step &to = steps.step[i];

    to.odd = from.kind == LWT_STEP_PREDICT;
    to.at = 2 * from.first + (to.odd ? -1 : 1);
    to.c0 = (float) from.c[0];
    to.c1 = from.n > 1 ? (float) from.c[1] : 0.0f;
  }
  steps.low = (float) wavelet->scale_low;
  steps.high = (float) wavelet->scale_high;
  return steps;
}

bool
fits (const LwtWavelet *wavelet)
{
  if (wavelet->n_steps > (guint) MAX_STEPS)
    return false;
  for (guint i = 0; i < wavelet->n_steps; i++)
    if (wavelet->steps[i].n > 2 || abs (2 * wavelet->steps[i].first + 1) > 3)
      return false;
  return true;
}

/* Largest difference from @want, relative to its largest entry. */
double
deviation (const float *want, const float *device, float *host, size_t n)
{
  double worst = 0.0, greatest = 0.0;

  MUST (cudaMemcpy (host, device, n * sizeof (float), cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < n; i++) {
    worst = fmax (worst, fabs ((double) host[i] - want[i]));
    greatest = fmax (greatest, fabs ((double) want[i]));
  }
  return worst / greatest;
}

/* --- with copies ---------------------------------------------------------- */

const int FRAMES = 12;

void
allocate (Device &device)
{
  const size_t bytes = sizeof (float) * device.side * device.side;

  MUST (cudaMalloc (&device.bands, bytes));
  MUST (cudaMalloc (&device.between, bytes));
  MUST (cudaMalloc (&device.low[0], bytes / 4));
  MUST (cudaMalloc (&device.low[1], bytes / 16));
  MUST (cudaStreamCreateWithFlags (&device.stream, cudaStreamNonBlocking));
}

void
release (Device &device)
{
  cudaFree (device.bands);
  cudaFree (device.between);
  cudaFree (device.low[0]);
  cudaFree (device.low[1]);
  cudaStreamDestroy (device.stream);
}

/* Milliseconds for each frame from host memory to host memory, @lanes frames
 * in flight. */
float
time_frames (int side, int levels, const Setting &setting, const float *in,
    float *out, int lanes)
{
  const size_t bytes = sizeof (float) * side * side;
  Device device[4] = {};
  float *picture[4];
  float best = 0.0f;

  for (int i = 0; i < lanes; i++) {
    device[i].side = side;
    device[i].levels = levels;
    allocate (device[i]);
    MUST (cudaMalloc (&picture[i], bytes));
  }
  for (int round = 0; round < 3; round++) {
    const guint64 from = cvis_monotonic_ns ();

    for (int frame = 0; frame < FRAMES; frame++) {
      const Device &d = device[frame % lanes];

      MUST (cudaMemcpyAsync (
          picture[frame % lanes], in, bytes, cudaMemcpyHostToDevice, d.stream));
      run_scheme (d, setting, picture[frame % lanes]);
      MUST (cudaMemcpyAsync (
          out, d.bands, bytes, cudaMemcpyDeviceToHost, d.stream));
    }
    MUST (cudaDeviceSynchronize ());
    const float ms = (float) (cvis_monotonic_ns () - from) * 1e-6f;

    best = round == 0 ? ms : fminf (best, ms);
  }
  for (int i = 0; i < lanes; i++) {
    release (device[i]);
    cudaFree (picture[i]);
  }
  return best / FRAMES;
}

/* --- the ladder ----------------------------------------------------------- */

const struct {
  const char *name;
  Setting setting;
} rungs[] = {
  { "rc", { RC, 32, 32, false } },
  { "rc-lb", { RC_LB, 32, 32, false } },
  { "lbb-classic", { LBB_CLASSIC, 32, 32, false } },
  { "lbb-improved", { LBB_IMPROVED, 32, 32, false } },
  { "lbb-improved, blocks of 64 x 16", { LBB_IMPROVED, 64, 16, false } },
  { "lbb-improved, blocks of 64 x 32", { LBB_IMPROVED, 64, 32, false } },
  { "lbb-improved, blocks of 64 x 64", { LBB_IMPROVED, 64, 64, false } },
  { "lbb-improved, blocks of 128 x 32", { LBB_IMPROVED, 128, 32, false } },
  { "lbb-improved, coefficients in global memory",
      { LBB_IMPROVED, 64, 32, true } },
  { "lbb-improved, blocks of 64 x 32, FP16 storage",
      { LBB_IMPROVED, 64, 32, false, true } },
};

struct Ladder {
  Device device;
  LwtWavelet *wavelet;
  LwtTransform transform;
  LwtChain chain;
  size_t n;
  float *host, *pinned; /* a picture, followed by room for bands */
  float *want;
  float *picture;
  __half *half_picture;
  void *work;
};

void
climb_kernels (Ladder &ladder)
{
  Device &device = ladder.device;
  const gsize stride = device.side * sizeof (float);

  printf ("  %-46s %10s %12s\n", "kernels", "ms", "deviation");
  for (const auto &rung : rungs) {
    const bool half = rung.setting.half;
    const void *picture = half ? (void *) ladder.half_picture : ladder.picture;
    const float ms = time_device (
        device, [&] { run_scheme (device, rung.setting, picture); });

    if (half)
      convert<<<(unsigned) ((ladder.n + 255) / 256), 256, 0, device.stream>>> (
          (const __half *) device.bands, device.between, ladder.n);
    MUST (cudaStreamSynchronize (device.stream));
    printf ("  %-46s %10.3f %12.1e\n", rung.name, ms,
        deviation (ladder.want, half ? device.between : device.bands,
            ladder.host + ladder.n, ladder.n));
  }
  const float ours = time_device (device, [&] {
    GError *error = NULL;

    if (!lwt_transform_forward (&ladder.transform, &ladder.chain,
            LWT_LAYOUT_MALLAT, LwtPicture{ ladder.picture, stride },
            LwtPicture{ device.bands, stride }, ladder.work, device.stream,
            &error))
      g_error ("%s", error->message);
  });
  printf ("  %-46s %10.3f %12.1e\n", "the library's", ours,
      deviation (ladder.want, device.bands, ladder.host + ladder.n, ladder.n));
}

void
climb_copies (const Ladder &ladder)
{
  const Setting setting = { LBB_IMPROVED, 64, 32, false };
  const int side = ladder.device.side, levels = ladder.device.levels;

  printf ("  %-46s %10s\n", "lbb-improved 64 x 32, with copies", "ms a frame");
  printf ("  %-46s %10.3f\n", "pageable memory, one stream",
      time_frames (
          side, levels, setting, ladder.host, ladder.host + ladder.n, 1));
  for (int lanes = 1; lanes <= 4; lanes *= 2)
    printf ("  pinned memory, streams: %-22d %10.3f\n", lanes,
        time_frames (side, levels, setting, ladder.pinned,
            ladder.pinned + ladder.n, lanes));
}

void
climb (const char *name, int side, int levels)
{
  const size_t bytes = sizeof (float) * side * side;
  GError *error = NULL;
  Ladder ladder = {};
  Device &device = ladder.device;
  Steps steps;

  ladder.wavelet = lwt_wavelet_new (name, &error);
  if (ladder.wavelet == NULL || !fits (ladder.wavelet)) {
    printf ("%s: %s\n", name,
        error ? error->message : "steps that this benchmark does not support");
    g_clear_error (&error);
    lwt_wavelet_free (ladder.wavelet);
    return;
  }
  ladder.n = (size_t) side * side;
  device.side = side;
  device.levels = levels;
  allocate (device);
  lwt_chain_init (&ladder.chain);
  lwt_chain_append (&ladder.chain, side, side, (guint) levels, (guint) levels);
  lwt_transform_init (
      &ladder.transform, ladder.wavelet, LWT_TYPE_F32, LWT_BOUNDARY_SYMMETRIC);
  lwt_transform_specialise (&ladder.transform, NULL); /* the precompiled ones */
  steps = steps_of (ladder.wavelet);
  MUST (cudaMemcpyToSymbol (constant_steps, &steps, sizeof (steps)));
  MUST (cudaMalloc (&device.steps, sizeof (steps)));
  MUST (cudaMemcpy (
      device.steps, &steps, sizeof (steps), cudaMemcpyHostToDevice));
  MUST (cudaMalloc (&ladder.picture, bytes));
  MUST (cudaMalloc (&ladder.half_picture, bytes / 2));
  MUST (cudaMalloc (&ladder.work,
      lwt_transform_get_work_size (&ladder.transform, &ladder.chain)));
  MUST (cudaMallocHost (&ladder.pinned, 2 * bytes));
  ladder.host = g_new (float, 2 * ladder.n);
  ladder.want = g_new (float, ladder.n);
  for (size_t i = 0; i < ladder.n; i++)
    ladder.host[i] = ladder.pinned[i] =
        sinf ((float) (i % side) * 0.01f) + (float) (rand () % 1000) * 1e-3f;
  lwt_reference_forward (ladder.wavelet, LWT_BOUNDARY_SYMMETRIC, LWT_TYPE_F32,
      &ladder.chain, LWT_LAYOUT_MALLAT, ladder.host, ladder.want);
  MUST (
      cudaMemcpy (ladder.picture, ladder.host, bytes, cudaMemcpyHostToDevice));
  convert<<<(unsigned) ((ladder.n + 255) / 256), 256>>> (
      ladder.picture, ladder.half_picture, ladder.n);
  MUST (cudaDeviceSynchronize ());

  printf ("%s, %d x %d, %d levels\n", name, side, side, levels);
  climb_kernels (ladder);
  climb_copies (ladder);

  release (device);
  cudaFree (device.steps);
  cudaFree (ladder.picture);
  cudaFree (ladder.half_picture);
  cudaFree (ladder.work);
  cudaFreeHost (ladder.pinned);
  g_free (ladder.host);
  g_free (ladder.want);
  lwt_transform_clear (&ladder.transform);
  lwt_wavelet_free (ladder.wavelet);
}

} /* namespace */

int
main (int argc, char **argv)
{
  const int side = argc > 1 ? atoi (argv[1]) : 4096;
  const int levels = argc > 2 ? atoi (argv[2]) : 4;

  if (argc > 3 || levels < 1 || levels > MAX_LEVELS || side < 64 || side > 16384
      || side % (1 << levels) != 0) {
    fprintf (stderr,
        "usage: bench_lifting_ladder [SIDE [LEVELS]]: 1 to %d levels, SIDE a "
        "multiple of 2^LEVELS from 64 to 16384\n",
        MAX_LEVELS);
    return 2;
  }
  allow_shared ((const void *) rows);
  allow_shared ((const void *) columns);
  allow_shared ((const void *) strips<false, false, float>);
  allow_shared ((const void *) strips<true, false, float>);
  allow_shared ((const void *) strips<true, true, float>);
  allow_shared ((const void *) strips<true, true, __half>);
  climb ("haar", side, levels);
  climb ("db2", side, levels);
  climb ("9/7", side, levels);
  return 0;
}
