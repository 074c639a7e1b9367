/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Device time of the lifting transforms for float pictures in device memory:
 * medians in microseconds; the time of the minimum traffic (the picture once
 * in, once out) at the copy rate measured in the same run, and its share;
 * compared with PDWT 0.7.1, the fastest open implementation found, on the
 * same kind of GPU.
 *
 *   bench_lifting_kernels [TEXT]     only wavelets whose names contain TEXT
 *   bench_lifting_kernels --names [NAME...]   a line for each wavelet by name
 *   bench_lifting_kernels --as=TYPE,BOUNDARY,LAYOUT,SIDE [NAME...]   the same for
 *     another type, boundary and layout (numbers of LwtType, LwtBoundary and
 *     LwtLayout) and size
 *
 * Calls run in a graph, each with pictures of its own, which together exceed
 * the cache. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/core/device/cuda.cuh"
#include "cuda/lifting/cuda/transform.cuh"

namespace {

#define LEVELS 4
#define MAX_SETS 8
#define ROUNDS 15
#define WARM_UP 50000 /* microseconds */

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

void
must_work (gboolean ok, GError **error)
{
  if (ok)
    return;
  fprintf (stderr, "%s\n", (*error)->message);
  exit (1);
}

/* Configuration of bench_names() */
LwtType names_type = LWT_TYPE_F32;
LwtBoundary names_boundary = LWT_BOUNDARY_SYMMETRIC;
LwtLayout names_layout = LWT_LAYOUT_MALLAT;
guint names_side = 4096;

/* --- timing --------------------------------------------------------------- */

/* Waits until kernels for the wavelet are compiled. */
void
init_transform (LwtTransform *transform, const LwtWavelet *wavelet)
{
  static CvisContext *context;
  GError *error = NULL;

  if (context == NULL) {
    context = cvis_context_new (0, &error);
    must_work (context != NULL && cvis_context_push (context, &error), &error);
  }
  lwt_transform_init (transform, wavelet, names_type, names_boundary);
  lwt_transform_specialise (transform, context);
  must_work (lwt_transform_wait (transform, &error), &error);
}

typedef void (*Call) (guint set, cudaStream_t stream, void *user_data);

int
compare (const void *a, const void *b)
{
  const float x = *(const float *) a, y = *(const float *) b;

  return (x > y) - (x < y);
}

/* Median time of a call, microseconds: @calls of them in a graph, cycling
 * through the sets. */
double
measure (Call call, guint sets, guint calls, void *user_data)
{
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaEvent_t start, stop;
  float ms[ROUNDS];
  gint64 warm;

  MUST (cudaStreamCreateWithFlags (&stream, cudaStreamNonBlocking));
  MUST (cudaEventCreate (&start));
  MUST (cudaEventCreate (&stop));
  MUST (cudaStreamBeginCapture (stream, cudaStreamCaptureModeThreadLocal));
  for (guint i = 0; i < calls; i++)
    call (i % sets, stream, user_data);
  MUST (cudaStreamEndCapture (stream, &graph));
  MUST (cudaGraphInstantiate (&exec, graph, NULL, NULL, 0));
  /* the first milliseconds are slower */
  warm = g_get_monotonic_time () + WARM_UP;
  do {
    MUST (cudaGraphLaunch (exec, stream));
    MUST (cudaStreamSynchronize (stream));
  } while (g_get_monotonic_time () < warm);
  for (guint i = 0; i < ROUNDS; i++) {
    MUST (cudaEventRecord (start, stream));
    MUST (cudaGraphLaunch (exec, stream));
    MUST (cudaEventRecord (stop, stream));
    MUST (cudaEventSynchronize (stop));
    MUST (cudaEventElapsedTime (&ms[i], start, stop));
  }
  MUST (cudaGraphExecDestroy (exec));
  MUST (cudaGraphDestroy (graph));
  MUST (cudaEventDestroy (start));
  MUST (cudaEventDestroy (stop));
  MUST (cudaStreamDestroy (stream));
  qsort (ms, ROUNDS, sizeof ms[0], compare);
  return ms[ROUNDS / 2] * 1e3 / calls;
}

/* --- pictures ------------------------------------------------------------- */

guint32
hash (guint32 x)
{
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

__global__ void
noise_kernel (float *to, size_t n, guint32 seed)
{
  for (size_t i = blockIdx.x * (size_t) blockDim.x + threadIdx.x; i < n;
       i += (size_t) gridDim.x * blockDim.x) {
    guint32 x = (guint32) i * 2654435761u + seed;

    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    to[i] = (float) (x ^ x >> 16) * (1.0f / 4294967296.0f) - 0.5f;
  }
}

LwtPicture
make_picture (guint width, guint height, guint32 seed)
{
  const gsize size = lwt_type_get_size (names_type);
  LwtPicture picture = { NULL, (width * size + 127) / 128 * 128 };

  MUST (cudaMalloc (&picture.data, picture.stride * height));
  noise_kernel<<<1024, 256>>> ((float *) picture.data,
      picture.stride * height / sizeof (float), hash (seed));
  MUST (cudaDeviceSynchronize ());
  return picture;
}

/* --- the copy ------------------------------------------------------------- */

typedef struct {
  void *from[MAX_SETS], *to[MAX_SETS];
  size_t bytes;
} Copy;

__global__ void
copy_kernel (const uint4 *in, uint4 *out, size_t n)
{
  for (size_t i = blockIdx.x * (size_t) blockDim.x + threadIdx.x; i < n;
       i += (size_t) gridDim.x * blockDim.x)
    out[i] = in[i];
}

void
copy_call (guint set, cudaStream_t stream, void *user_data)
{
  const Copy *copy = (const Copy *) user_data;
  const size_t n = copy->bytes / sizeof (uint4);

  copy_kernel<<<(unsigned) MIN ((n + 511) / 512, 1u << 20), 512, 0, stream>>> (
      (const uint4 *) copy->from[set], (uint4 *) copy->to[set], n);
}

/* Bytes read and written a second. */
double
measure_copy (size_t bytes, guint sets)
{
  Copy copy;
  double us;

  copy.bytes = bytes;
  for (guint i = 0; i < sets; i++) {
    MUST (cudaMalloc (&copy.from[i], bytes));
    MUST (cudaMalloc (&copy.to[i], bytes));
    noise_kernel<<<1024, 256>>> ((float *) copy.from[i], bytes / 4, i);
  }
  MUST (cudaDeviceSynchronize ());
  us = measure (copy_call, sets, 2 * sets, &copy);
  printf ("copy of %zu MiB: %.1f us, %.2f TB/s\n", bytes >> 20, us,
      2.0 * bytes / us / 1e6);
  for (guint i = 0; i < sets; i++) {
    MUST (cudaFree (copy.from[i]));
    MUST (cudaFree (copy.to[i]));
  }
  return 2.0 * bytes / us * 1e6;
}

/* --- all bands ------------------------------------------------------------ */

typedef struct {
  LwtTransform transform;
  LwtChain chain;
  LwtPicture picture[MAX_SETS], bands[MAX_SETS];
  void *work;
} Bands;

void
forward_call (guint set, cudaStream_t stream, void *user_data)
{
  Bands *b = (Bands *) user_data;
  GError *error = NULL;

  must_work (lwt_transform_forward (&b->transform, &b->chain, names_layout,
                 b->picture[set], b->bands[set], b->work, stream, &error),
      &error);
}

void
inverse_call (guint set, cudaStream_t stream, void *user_data)
{
  Bands *b = (Bands *) user_data;
  GError *error = NULL;

  must_work (lwt_transform_inverse (&b->transform, &b->chain, names_layout,
                 b->bands[set], b->picture[set], b->work, stream, &error),
      &error);
}

/* Largest difference of samples after forward and inverse. */
double
reconstruction_error (Bands *b, guint side)
{
  const gsize n = (gsize) side * side;
  float *before = g_new (float, n), *after = g_new (float, n);
  double worst = 0;

  MUST (cudaMemcpy (
      before, b->picture[0].data, n * sizeof (float), cudaMemcpyDeviceToHost));
  forward_call (0, 0, b);
  MUST (cudaMemset (b->picture[0].data, 0xff, n * sizeof (float)));
  inverse_call (0, 0, b);
  MUST (cudaMemcpy (
      after, b->picture[0].data, n * sizeof (float), cudaMemcpyDeviceToHost));
  for (gsize i = 0; i < n; i++) {
    const double difference = fabs ((double) after[i] - before[i]);

    worst = difference <= worst ? worst : difference;
  }
  g_free (before);
  g_free (after);
  return worst;
}

void
init_bands (
    Bands *b, const LwtWavelet *wavelet, guint side, guint levels, guint sets)
{
  lwt_chain_init (&b->chain);
  lwt_chain_append (&b->chain, side, side, levels, levels);
  init_transform (&b->transform, wavelet);
  for (guint i = 0; i < sets; i++) {
    b->picture[i] = make_picture (side, side, i);
    b->bands[i] = make_picture (side, side, i + MAX_SETS);
  }
  MUST (cudaMalloc (
      &b->work, lwt_transform_get_work_size (&b->transform, &b->chain)));
}

void
clear_bands (Bands *b, guint sets)
{
  for (guint i = 0; i < sets; i++) {
    MUST (cudaFree (b->picture[i].data));
    MUST (cudaFree (b->bands[i].data));
  }
  MUST (cudaFree (b->work));
  lwt_transform_clear (&b->transform);
}

void
bench_bands (const LwtWavelet *wavelet, guint size, double rate)
{
  const guint side = 4096u << size, sets = size == 0 ? 4 : 2;
  const double floor = 2.0 * side * side * sizeof (float) / rate * 1e6;
  double forward, inverse;
  Bands b;

  init_bands (&b, wavelet, side, LEVELS, sets);
  printf ("%-5s %5u^2 ", wavelet->name, side);
  if (size == 0)
    printf ("error %.1e ", reconstruction_error (&b, side));
  forward = measure (forward_call, sets, 8, &b);
  inverse = measure (inverse_call, sets, 8, &b);
  printf ("forward %.1f us (%.0f %%), inverse %.1f us (%.0f %%); floor %.1f",
      forward, 100 * floor / forward, inverse, 100 * floor / inverse, floor);
  printf ("\n");
  fflush (stdout);
  clear_bands (&b, sets);
}

/* A line of the table of all wavelets: four levels */
void
bench_name (const LwtWavelet *wavelet, double rate)
{
  const guint side = names_side, sets = 4;
  const double floor =
      2.0 * side * side * lwt_type_get_size (names_type) / rate * 1e6;
  double forward, inverse;
  guint weights = 0;
  Bands b;

  for (guint i = 0; i < wavelet->n_steps; i++)
    weights += wavelet->steps[i].n;
  init_bands (&b, wavelet, side, LEVELS, sets);
  forward = measure (forward_call, sets, 8, &b);
  inverse = measure (inverse_call, sets, 8, &b);
  printf ("%-8s %5u %9.1f %9.1f %8.0f %8.0f\n", wavelet->name, weights, forward,
      inverse, 100 * floor / forward, 100 * floor / inverse);
  fflush (stdout);
  clear_bands (&b, sets);
}

void
bench_names (const char *const *names, double rate)
{
  printf ("%-8s %5s %9s %9s %8s %8s\n", "wavelet", "taps", "forward", "inverse",
      "% copy", "% copy");
  for (guint i = 0; names[i] != NULL; i++) {
    GError *error = NULL;
    LwtWavelet *wavelet = lwt_wavelet_new (names[i], &error);

    must_work (wavelet != NULL, &error);
    bench_name (wavelet, rate);
    lwt_wavelet_free (wavelet);
  }
}

/* All possible levels of small pictures, whose time is launches and latency */
void
bench_small (const LwtWavelet *wavelet)
{
  static const guint sides[] = { 16, 32, 45, 64, 128, 512 };
  const guint sets = 4;

  printf ("%-5s all levels,", wavelet->name);
  for (guint i = 0; i < G_N_ELEMENTS (sides); i++) {
    Bands b;

    init_bands (&b, wavelet, sides[i], g_bit_storage (sides[i] - 1), sets);
    printf (" %u^2: %.1f / %.1f us%s", sides[i],
        measure (forward_call, sets, 8, &b),
        measure (inverse_call, sets, 8, &b),
        i + 1 < G_N_ELEMENTS (sides) ? "," : "\n");
    clear_bands (&b, sets);
  }
  fflush (stdout);
}

/* --- the filter ----------------------------------------------------------- */

#define ROUGHNESS_LEVELS 3
#define FORM_LEVELS 6
#define FILTER_STEPS 5

/* Roughness, waviness and form */
typedef struct {
  LwtTransform transform;
  LwtChain chain;
  LwtPicture x[MAX_SETS], parts[MAX_SETS][3];
  LwtPicture low[2];   /* A_c, A_f */
  LwtPicture upper[2]; /* both expanded for the components */
  void *work;
  gint only; /* a single step; -1: all */
} Filter;

gboolean
filter_step (
    Filter *f, guint step, guint set, cudaStream_t stream, GError **error)
{
  static const guint depth[3] = { 0, ROUGHNESS_LEVELS, FORM_LEVELS };
  const LwtTransform *t = &f->transform;
  LwtPartsTask task;

  memset (&task, 0, sizeof task);
  task.picture = task.low[0] = f->x[set];
  task.at_zero[0] = TRUE;
  task.low[1] = f->upper[0];
  task.low[2] = f->upper[1];
  task.width = f->chain.levels[0].width;
  task.height = f->chain.levels[0].height;
  for (guint i = 0; i < 3; i++)
    task.parts[CVIS_SURFACE_PART_ROUGHNESS + i] = f->parts[set][i];
  task.levels = lwt_transform_get_parts_levels (t, &f->chain, &task, depth);

  switch (step) {
    case 0:
      return lwt_transform_reduce (t, &f->chain, 0, ROUGHNESS_LEVELS, f->x[set],
          f->low[0], f->work, stream, error);
    case 1:
      return lwt_transform_reduce (t, &f->chain, ROUGHNESS_LEVELS,
          FORM_LEVELS - ROUGHNESS_LEVELS, f->low[0], f->low[1], f->work, stream,
          error);
    case 2:
      return lwt_transform_expand (t, &f->chain, task.levels,
          ROUGHNESS_LEVELS - task.levels, f->low[0], f->upper[0], f->work,
          stream, error);
    case 3:
      return lwt_transform_expand (t, &f->chain, task.levels,
          FORM_LEVELS - task.levels, f->low[1], f->upper[1], f->work, stream,
          error);
    default:
      return lwt_transform_parts (t, &f->chain, &task, f->work, stream, error);
  }
}

void
filter_call (guint set, cudaStream_t stream, void *user_data)
{
  Filter *f = (Filter *) user_data;
  GError *error = NULL;

  for (guint i = 0; i < FILTER_STEPS; i++)
    if (f->only < 0 || f->only == (gint) i)
      must_work (filter_step (f, i, set, stream, &error), &error);
}

void
bench_filter (const LwtWavelet *wavelet, double rate)
{
  static const char *const names[FILTER_STEPS] = { "reduce to A_c",
    "reduce to A_f", "expand A_c", "expand A_f", "parts" };
  const guint side = 4096, sets = 3;
  Filter f;
  double us, floor;

  lwt_chain_init (&f.chain);
  lwt_chain_append (&f.chain, side, side, ROUGHNESS_LEVELS, ROUGHNESS_LEVELS);
  lwt_chain_append (&f.chain, side, side, FORM_LEVELS - ROUGHNESS_LEVELS,
      FORM_LEVELS - ROUGHNESS_LEVELS);
  init_transform (&f.transform, wavelet);
  for (guint i = 0; i < sets; i++) {
    f.x[i] = make_picture (side, side, i);
    for (guint p = 0; p < 3; p++)
      f.parts[i][p] = make_picture (side, side, p);
  }
  for (guint i = 0; i < 2; i++) {
    f.low[i] =
        make_picture (side >> ROUGHNESS_LEVELS, side >> ROUGHNESS_LEVELS, i);
    f.upper[i] = make_picture (side / 2, side / 2, i);
  }
  /* x in twice, three components out; at level 1 one low band out and two in */
  floor = (5 + 3.0 / 4) * side * side * sizeof (float) / rate * 1e6;
  MUST (cudaMalloc (
      &f.work, lwt_transform_get_work_size (&f.transform, &f.chain)));
  f.only = -1;
  us = measure (filter_call, sets, 6, &f);
  printf ("%-5s %5u^2 filter, %u and %u levels: %.1f us (%.0f %%); floor %.1f;",
      wavelet->name, side, ROUGHNESS_LEVELS, FORM_LEVELS, us, 100 * floor / us,
      floor);
  for (f.only = 0; f.only < FILTER_STEPS; f.only++)
    printf (" %s %.1f", names[f.only], measure (filter_call, sets, 6, &f));
  printf ("\n");
  fflush (stdout);
  for (guint i = 0; i < sets; i++) {
    MUST (cudaFree (f.x[i].data));
    for (guint p = 0; p < 3; p++)
      MUST (cudaFree (f.parts[i][p].data));
  }
  for (guint i = 0; i < 2; i++) {
    MUST (cudaFree (f.low[i].data));
    MUST (cudaFree (f.upper[i].data));
  }
  MUST (cudaFree (f.work));
  lwt_transform_clear (&f.transform);
}

} // namespace

int
main (int argc, char **argv)
{
  static const char *const wavelets[] = { "haar", "5/3", "9/7", "db2", "db4",
    "db10", "sym8" };
  cudaDeviceProp device;
  GError *error = NULL;
  double small, large;

  if (cvis_device_count (&error) < 1) {
    printf ("skipped: %s\n", error->message);
    g_error_free (error);
    return 77;
  }
  MUST (cudaGetDeviceProperties (&device, 0));
  printf ("%s, %d multiprocessors\n", device.name, device.multiProcessorCount);
  small = measure_copy ((size_t) 64 << 20, 4);
  if (argc > 1 && strcmp (argv[1], "--names") == 0) {
    bench_names (argc > 2 ? argv + 2 : lwt_wavelet_names (), small);
    return 0;
  }
  if (argc > 1
      && sscanf (argv[1], "--as=%d,%d,%d,%u", (int *) &names_type,
             (int *) &names_boundary, (int *) &names_layout, &names_side)
             == 4) {
    bench_names (argc > 2 ? argv + 2 : lwt_wavelet_names (), small);
    return 0;
  }
  large = measure_copy ((size_t) 1 << 30, 2);
  for (guint i = 0; i < G_N_ELEMENTS (wavelets); i++) {
    LwtWavelet *wavelet;
    const gboolean table = strchr ("hd9", wavelets[i][0]) != NULL
                           && strcmp (wavelets[i], "db4") != 0;

    if (argc > 1 && strstr (wavelets[i], argv[1]) == NULL)
      continue;
    wavelet = lwt_wavelet_new (wavelets[i], &error);
    must_work (wavelet != NULL, &error);
    for (guint size = 0; size < (table ? 3 : 1); size++)
      bench_bands (wavelet, size, size == 0 ? small : large);
    bench_filter (wavelet, small);
    bench_small (wavelet);
    lwt_wavelet_free (wavelet);
  }
  return 0;
}
