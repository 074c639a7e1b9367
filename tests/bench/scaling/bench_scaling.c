/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* One float32 surface over 1, 2, 4, .. devices, transform and inverse: the time of a surface,
 * the ratio to the first device, and a checksum of the result, which has to be the same in
 * all lines of a case.
 *
 *   bench_scaling [--devices=LIST] [--sides=LIST] [--wavelets=LIST] [--levels=N]
 *                 [--rounds=N] [--frames=N] [--memory=MIB] [--no-host] [--no-resident]
 *
 *   whole      from and to pinned memory, the surface in one piece on the first device
 *   host       the same in row blocks: lwt_engine_new_over() with the first n devices
 *   first      the same from and to the memory of the first device, CUDA only
 *   resident   one row block on each of the first n devices, coefficients stay there too;
 *              halo rows are copied from the other devices for each surface (peer access is
 *              enabled). Time of a surface in a continuous stream; three are in flight on each
 *              device, each with its own memory and stream
 *
 * --devices: as cuda-device-ids. --memory: device memory to use on each device, MiB; then
 * only the lines whole and host. With the build's option test-hooks and
 * CUDAVISION_POSED_DEVICES the CPU poses as devices. Medians over rounds. Surfaces of
 * 49152 x 49152 samples with 2 GiB of each device:
 *
 *   bench_scaling --sides=49152 --memory=2048 --rounds=3 --frames=1 */
#ifdef CVIS_CUDA_RUNTIME
#include <cuda_runtime_api.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/core/histogram.h"
#include "cuda/core/memory.h"
#include "cuda/lifting/rowblocks.h"

#define DEPTH 3

/* 1, 2, 4, ... @all, 0 */
static guint
get_next_count (guint n, guint all)
{
  return n == all ? 0 : MIN (2 * n, all);
}
#define SAMPLE sizeof (gfloat)

static gchar *ids = "all", *sides = "10240,12288,16384", *names = "9/7,db2";
static gint levels = 4, rounds = 5, frames = 8, memory_mib;
static gboolean no_host, no_resident;

static GOptionEntry entries[] = {
  { "devices", 0, 0, G_OPTION_ARG_STRING, &ids, "devices to use", "LIST" },
  { "sides", 0, 0, G_OPTION_ARG_STRING, &sides, "sides of surfaces, samples",
      "LIST" },
  { "wavelets", 0, 0, G_OPTION_ARG_STRING, &names, "names of wavelets",
      "LIST" },
  { "levels", 0, 0, G_OPTION_ARG_INT, &levels, "levels", "N" },
  { "rounds", 0, 0, G_OPTION_ARG_INT, &rounds, "repetitions of each line",
      "N" },
  { "frames", 0, 0, G_OPTION_ARG_INT, &frames, "surfaces of a round", "N" },
  { "memory", 0, 0, G_OPTION_ARG_INT, &memory_mib,
      "device memory to use on each device", "MIB" },
  { "no-host", 0, 0, G_OPTION_ARG_NONE, &no_host,
      "without the lines whole and host", NULL },
  { "no-resident", 0, 0, G_OPTION_ARG_NONE, &no_resident,
      "without the lines resident", NULL },
  { NULL },
};

static CvisDevices *devices;

static void
give_up (const GError *error)
{
  fprintf (stderr, "bench_scaling: %s\n", error->message);
  exit (1);
}

/* --- memory ------------------------------------------------------------------ */

static gpointer
alloc_pinned (gsize size)
{
  CvisContext *context = devices->devices[0].context;
  GError *error = NULL;
  gpointer memory = context != NULL ? cvis_pinned_alloc (context, size, &error)
                                    : cvis_memory_new (size, FALSE, &error);

  if (memory == NULL)
    give_up (error);
  return memory;
}

static void
free_pinned (gpointer memory)
{
  if (devices->devices[0].context != NULL)
    cvis_pinned_free (devices->devices[0].context, memory);
  else
    free (memory);
}

static void
enter (const CvisDevice *device)
{
  GError *error = NULL;

  if (device->context != NULL && !cvis_context_push (device->context, &error))
    give_up (error);
}

static void
leave (const CvisDevice *device)
{
  if (device->context != NULL)
    cvis_context_pop (device->context);
}

#ifdef CVIS_CUDA_RUNTIME
static void
must (cudaError_t code, const gchar *what)
{
  if (code == cudaSuccess)
    return;
  fprintf (stderr, "bench_scaling: %s: %s\n", what, cudaGetErrorString (code));
  exit (1);
}
#define MUST(call) must ((call), #call)
#endif

static gpointer
alloc_on (const CvisDevice *device, gsize size)
{
  GError *error = NULL;
  gpointer memory = NULL;

#ifdef CVIS_CUDA_RUNTIME
  if (device->context != NULL) {
    MUST (cudaMalloc (&memory, size));
    return memory;
  }
#endif
  memory = cvis_memory_new (size, FALSE, &error);
  if (memory == NULL)
    give_up (error);
  return memory;
}

static void
free_on (const CvisDevice *device, gpointer memory)
{
#ifdef CVIS_CUDA_RUNTIME
  if (device->context != NULL) {
    cudaFree (memory);
    return;
  }
#endif
  free (memory);
}

/* Copies rows between any memory, ordered on @stream of @device. */
static void
copy_rows (const CvisDevice *device, gpointer to, gsize to_stride,
    gconstpointer from, gsize from_stride, gsize bytes, guint n,
    gpointer stream)
{
#ifdef CVIS_CUDA_RUNTIME
  if (device->context != NULL) {
    MUST (cudaMemcpy2DAsync (to, to_stride, from, from_stride, bytes, n,
        cudaMemcpyDefault, (cudaStream_t) stream));
    return;
  }
#endif
  cvis_memory_copy_rows (to, to_stride, from, from_stride, bytes, n);
}

/* --- a case --------------------------------------------------------------------- */

typedef struct {
  const gchar *name;
  guint side;
  LwtConfig config;
  CvisSurfacePart part; /* the result */
  const gfloat *in;     /* pinned */
  gfloat *out;
  gpointer device_in, device_out; /* of the first device, for its lines */
  gdouble first; /* time of the first line with one device, seconds */
} Case;

/* Not cryptographic: four lanes, so that 10 GB take seconds. */
static guint64
sum_result (const Case *c)
{
  const gsize n = (gsize) c->side * c->side;
  guint64 lanes[4] = { 1, 2, 3, 4 };

  for (gsize i = 0; i < n; i++) {
    guint32 bits;

    memcpy (&bits, &c->out[i], sizeof bits);
    lanes[i % 4] = (lanes[i % 4] ^ bits) * G_GUINT64_CONSTANT (0x100000001b3);
  }
  return lanes[0] ^ lanes[1] << 1 ^ lanes[2] << 2 ^ lanes[3] << 3;
}

static int
compare_times (const void *a, const void *b)
{
  const gdouble x = *(const gdouble *) a, y = *(const gdouble *) b;

  return (x > y) - (x < y);
}

static void
print_line (Case *c, const gchar *mode, guint n, guint blocks, gdouble *times)
{
  gdouble time;

  qsort (times, (gsize) rounds, sizeof *times, compare_times);
  time = times[rounds / 2];
  if (c->first == 0.0)
    c->first = time;
  printf ("%-8s %-7s %5u  %-8s %2u devices %4u blocks %10.3f ms  %5.2f  "
          "%016" G_GINT64_MODIFIER "x\n",
      c->name,
      c->config.operation == LWT_OPERATION_FORWARD ? "forward" : "inverse",
      c->side, mode, n, blocks, time * 1e3, c->first / time, sum_result (c));
  fflush (stdout);
}

/* --- from and to host memory ------------------------------------------------------ */

static void
run_one (LwtEngine *engine, LwtJob *job)
{
  GError *error = NULL;
  LwtJob *done;

  if (!lwt_engine_submit (engine, job, &error)
      || !lwt_engine_wait (engine, &done, &error))
    give_up (error);
}

/* Copies all of a picture to or from the first device and waits. */
static void
move_whole (const Case *c, gpointer to, gconstpointer from)
{
  const gsize row = c->side * SAMPLE;

  enter (&devices->devices[0]);
  copy_rows (&devices->devices[0], to, row, from, row, row, c->side, NULL);
#ifdef CVIS_CUDA_RUNTIME
  MUST (cudaDeviceSynchronize ());
#endif
  leave (&devices->devices[0]);
}

/* @n: devices that share the surface; 0: whole on the first one. From and to host
 * memory, unless the case has memory of the first device */
static void
measure_shared (Case *c, guint n)
{
  const gboolean on_device = c->device_in != NULL;
  const CvisFleetOwner owner = { .balance = CVIS_BALANCE_QUEUE };
  gdouble *times = g_new (gdouble, rounds);
  CvisDevices some = *devices;
  LwtConfig config = c->config;
  GError *error = NULL;
  LwtEngine *engine;
  LwtJob job = { .data = c->in,
    .stride = c->side * SAMPLE,
    .pinned = devices->devices[0].context != NULL && !on_device,
    .on_device = on_device };

  some.n = MAX (n, 1);
  config.device_memory = (guint64) memory_mib << 20;
  config.split_samples = 1;
  job.parts[c->part] = (LwtPlane){ .data = c->out,
    .stride = job.stride,
    .pinned = job.pinned,
    .on_device = on_device };
  if (on_device) {
    job.data = c->device_in;
    job.parts[c->part].data = c->device_out;
  }
  engine = n > 0 ? lwt_engine_new_over (&config, &some, &owner, &error)
                 : lwt_engine_new (&config, some.devices[0].context, &error);
  if (engine == NULL)
    give_up (error);
  run_one (engine, &job);
  memset (c->out, 0, (gsize) c->side * c->side * SAMPLE);
  if (on_device)
    move_whole (c, c->device_out, c->out);
  for (gint round = 0; round < rounds; round++) {
    const guint64 begin = cvis_monotonic_ns ();

    for (gint i = 0; i < frames; i++)
      run_one (engine, &job);
    times[round] =
        (gdouble) (cvis_monotonic_ns () - begin) * 1e-9 / (gdouble) frames;
  }
  if (on_device)
    move_whole (c, c->out, c->device_out);
  print_line (c,
      n == 0      ? "whole"
      : on_device ? "first"
                  : "host",
      some.n, lwt_engine_count_blocks (engine), times);
  lwt_engine_free (engine);
  g_free (times);
}

/* --- a row block in the memory of each device ----------------------------------------- */

/* A halo's rectangle of a block: rows of another device */
typedef struct {
  gpointer to;
  gconstpointer from;
  gsize bytes;
  guint n;
} Halo;

/* A surface in flight */
typedef struct {
  guint8 *in, *out; /* pictures of the block's height */
  gpointer stream;
  GArray *halos;
  LwtJob job;
} Slot;

typedef struct {
  const CvisDevice *device;
  LwtRowBlock rows;
  LwtEngine *engine;
  guint n_own, n_all, n_out;
  LwtRect own[LWT_MAX_RUNS], all[LWT_MAX_RUNS], to[LWT_MAX_RUNS];
  Slot slots[DEPTH];
} Part;

typedef struct {
  Case *c;
  LwtPlan plan;
  LwtRowBlocks blocks;
  gsize stride;
  guint n;
  Part *parts;
} Resident;

static guint8 *
find_sample (const Resident *r, guint8 *picture, guint row, guint column)
{
  return picture + row * r->stride + column * SAMPLE;
}

/* The halo of @part that @other has: wherever the input of one and the own rows of the
 * other meet in the whole picture. */
static void
add_halos (const Resident *r, Part *part, const Part *other)
{
  for (guint i = 0; i < part->n_all; i++)
    for (guint k = 0; k < other->n_own; k++) {
      const LwtRect *a = &part->all[i], *b = &other->own[k];
      const guint row = MAX (a->whole, b->whole);
      const guint end = MIN (a->whole + a->n, b->whole + b->n);
      const guint column = MAX (a->column, b->column);
      const guint right = MIN (a->column + a->width, b->column + b->width);
      Halo halo;

      if (row >= end || column >= right)
        continue;
      for (guint s = 0; s < DEPTH; s++) {
        halo = (Halo){ find_sample (r, part->slots[s].in,
                           row - a->whole + a->own, column),
          find_sample (r, other->slots[s].in, row - b->whole + b->own, column),
          (right - column) * SAMPLE, end - row };
        g_array_append_val (part->slots[s].halos, halo);
      }
    }
}

/* Moves the rows of @rects between the whole picture on the host and the block's, and
 * waits. */
static void
move_rects (const Resident *r, const Part *part, const LwtRect *rects, guint n,
    gfloat *whole, guint8 *own, gboolean down)
{
  const gsize stride = r->c->side * SAMPLE;

  for (guint i = 0; i < n; i++) {
    guint8 *host =
        (guint8 *) whole + rects[i].whole * stride + rects[i].column * SAMPLE;
    guint8 *there = find_sample (r, own, rects[i].own, rects[i].column);

    copy_rows (part->device, down ? host : there, down ? stride : r->stride,
        down ? there : host, down ? r->stride : stride, rects[i].width * SAMPLE,
        rects[i].n, NULL);
  }
#ifdef CVIS_CUDA_RUNTIME
  if (part->device->context != NULL)
    MUST (cudaDeviceSynchronize ());
#endif
}

static void
init_slot (const Resident *r, const Part *part, Slot *slot)
{
  const gsize size = r->stride * part->rows.height;
  const gboolean on_device = part->device->context != NULL;

  slot->halos = g_array_new (FALSE, FALSE, sizeof (Halo));
  slot->in = alloc_on (part->device, size);
  slot->out = alloc_on (part->device, size);
#ifdef CVIS_CUDA_RUNTIME
  if (on_device)
    MUST (cudaStreamCreateWithFlags (
        (cudaStream_t *) &slot->stream, cudaStreamNonBlocking));
#endif
  move_rects (
      r, part, part->own, part->n_own, (gfloat *) r->c->in, slot->in, FALSE);
  slot->job = (LwtJob){ .data = slot->in,
    .stride = r->stride,
    .on_device = on_device,
    .stream = slot->stream };
  slot->job.parts[r->c->part] = (LwtPlane){
    .data = slot->out, .stride = r->stride, .on_device = on_device
  };
}

static void
init_part (Resident *r, guint i)
{
  const gboolean inverse = r->c->config.operation == LWT_OPERATION_INVERSE;
  Part *part = &r->parts[i];
  LwtConfig config = r->c->config;
  GError *error = NULL;

  part->device = &devices->devices[i];
  part->rows = (LwtRowBlock){ 0, r->c->side, 0, r->c->side };
  if (r->n > 1)
    lwt_row_blocks_get (&r->blocks, i, &part->rows);
  part->n_own = lwt_row_blocks_get_runs (
      &r->blocks, &part->rows, inverse, FALSE, part->own);
  part->n_all = lwt_row_blocks_get_runs (
      &r->blocks, &part->rows, inverse, TRUE, part->all);
  part->n_out = lwt_row_blocks_get_runs (
      &r->blocks, &part->rows, !inverse, FALSE, part->to);
  config.height = part->rows.height;
  part->engine = lwt_engine_new (&config, part->device->context, &error);
  if (part->engine == NULL)
    give_up (error);
  enter (part->device);
  for (guint k = 0; k < DEPTH; k++)
    init_slot (r, part, &part->slots[k]);
  leave (part->device);
}

static void
clear_part (Part *part)
{
  lwt_engine_free (part->engine);
  enter (part->device);
  for (guint k = 0; k < DEPTH; k++) {
    Slot *slot = &part->slots[k];

    free_on (part->device, slot->in);
    free_on (part->device, slot->out);
#ifdef CVIS_CUDA_RUNTIME
    if (part->device->context != NULL)
      cudaStreamDestroy ((cudaStream_t) slot->stream);
#endif
    g_array_unref (slot->halos);
  }
  leave (part->device);
}

static void
await_part (Part *part)
{
  GError *error = NULL;
  LwtJob *done;

  if (!lwt_engine_wait (part->engine, &done, &error))
    give_up (error);
}

/* A device's thread: the surfaces of a round. */
static gpointer
run_part (gpointer user_data)
{
  Part *part = user_data;
  GError *error = NULL;

  enter (part->device);
  for (gint i = 0; i < frames; i++) {
    Slot *slot = &part->slots[i % DEPTH];

    if (i >= DEPTH)
      await_part (part);
    for (guint k = 0; k < slot->halos->len; k++) {
      const Halo *halo = &g_array_index (slot->halos, Halo, k);

      copy_rows (part->device, halo->to, slot->job.stride, halo->from,
          slot->job.stride, halo->bytes, halo->n, slot->stream);
    }
    if (!lwt_engine_submit (part->engine, &slot->job, &error))
      give_up (error);
  }
  for (gint i = 0; i < MIN (frames, DEPTH); i++)
    await_part (part);
  leave (part->device);
  return NULL;
}

/* Returns: seconds of a surface */
static gdouble
run_round (const Resident *r)
{
  GThread *threads[CVIS_FLEET_MAX_DEVICES];
  const guint64 begin = cvis_monotonic_ns ();

  for (guint i = 0; i < r->n; i++)
    threads[i] = g_thread_new ("part", run_part, &r->parts[i]);
  for (guint i = 0; i < r->n; i++)
    g_thread_join (threads[i]);
  return (gdouble) (cvis_monotonic_ns () - begin) * 1e-9 / (gdouble) frames;
}

static void
measure_resident (Case *c, guint n)
{
  gdouble *times = g_new (gdouble, rounds);
  Resident r = { .c = c, .n = n };
  GError *error = NULL;

  if (!lwt_plan_init (&r.plan, &c->config, &error)
      || !lwt_row_blocks_init (&r.blocks, &r.plan, &error))
    give_up (error);
  r.stride = (c->side * SAMPLE + 127) / 128 * 128;
  if (n > 1 && (!lwt_row_blocks_cut_even (&r.blocks, n) || r.blocks.n != n)) {
    printf ("%-8s %5u rows are too few for %u devices\n", c->name, c->side, n);
    g_free (times);
    return;
  }
  r.parts = g_new0 (Part, n);
  for (guint i = 0; i < n; i++)
    init_part (&r, i);
  for (guint i = 0; i < n; i++)
    for (guint k = 0; k < n; k++)
      if (k != i)
        add_halos (&r, &r.parts[i], &r.parts[k]);
  run_round (&r);
  for (gint round = 0; round < rounds; round++)
    times[round] = run_round (&r);
  memset (c->out, 0, (gsize) c->side * c->side * SAMPLE);
  for (guint i = 0; i < n; i++) {
    Part *part = &r.parts[i];

    enter (part->device);
    move_rects (
        &r, part, part->to, part->n_out, c->out, part->slots[0].out, TRUE);
    leave (part->device);
  }
  print_line (c, "resident", n, n, times);
  for (guint i = 0; i < n; i++)
    clear_part (&r.parts[i]);
  g_free (r.parts);
  g_free (times);
}

/* --- all cases ---------------------------------------------------------------------- */

static void
fill_surface (gfloat *z, guint side)
{
  guint32 state = 1;

  for (guint y = 0; y < side; y++)
    for (guint x = 0; x < side; x++) {
      state = state * 1664525u + 1013904223u;
      z[(gsize) y * side + x] =
          (gfloat) ((x / 7 + y / 5) % 9) + (gfloat) (state >> 16) * 1e-5f;
    }
}

static void
measure_all_shared (Case *c)
{
  c->first = 0.0;
  measure_shared (c, 0);
  for (guint n = 1; n != 0; n = get_next_count (n, devices->n))
    measure_shared (c, n);
}

static void
measure_on_first (Case *c)
{
  const gsize size = (gsize) c->side * c->side * SAMPLE;
  const CvisDevice *device = &devices->devices[0];

  enter (device);
  c->device_in = alloc_on (device, size);
  c->device_out = alloc_on (device, size);
  leave (device);
  move_whole (c, c->device_in, c->in);
  measure_all_shared (c);
  enter (device);
  free_on (device, c->device_in);
  free_on (device, c->device_out);
  leave (device);
  c->device_in = c->device_out = NULL;
}

static void
measure_case (Case *c)
{
  if (!no_host)
    measure_all_shared (c);
  if (!no_host && memory_mib == 0 && devices->devices[0].context != NULL)
    measure_on_first (c);
  if (no_resident || memory_mib > 0)
    return;
  c->first = 0.0;
  for (guint n = 1; n != 0; n = get_next_count (n, devices->n))
    measure_resident (c, n);
}

static void
measure_wavelet (const gchar *name, guint side)
{
  const gsize size = (gsize) side * side * SAMPLE;
  GError *error = NULL;
  LwtWavelet *wavelet = lwt_wavelet_new (name, &error);
  gfloat *surface, *bands;
  Case c = { .name = name, .side = side };

  if (wavelet == NULL)
    give_up (error);
  surface = alloc_pinned (size);
  bands = alloc_pinned (size);
  fill_surface (surface, side);
  lwt_config_init (&c.config);
  c.config.wavelet = wavelet;
  c.config.width = c.config.height = side;
  c.config.levels[0] = c.config.levels[1] = (guint) levels;
  c.config.depth_in_flight = DEPTH;
  c.config.operation = LWT_OPERATION_FORWARD;
  c.part = CVIS_SURFACE_PART_BANDS;
  c.config.parts = 1u << c.part;
  c.in = surface;
  c.out = bands;
  measure_case (&c);
  c.config.operation = LWT_OPERATION_INVERSE;
  c.part = CVIS_SURFACE_PART_MEASURED;
  c.config.parts = 1u << c.part;
  c.in = bands;
  c.out = surface;
  measure_case (&c);
  free_pinned (surface);
  free_pinned (bands);
  lwt_wavelet_free (wavelet);
}

#ifdef CVIS_CUDA_RUNTIME
/* Without it, copies from device to device go through the host. */
static void
enable_peers (void)
{
  for (guint i = 0; i < devices->n; i++) {
    enter (&devices->devices[i]);
    for (guint k = 0; k < devices->n; k++) {
      const cudaError_t code =
          k == i ? cudaSuccess
                 : cudaDeviceEnablePeerAccess (devices->devices[k].id, 0);

      if (code != cudaSuccess && code != cudaErrorPeerAccessAlreadyEnabled)
        printf ("%s does not reach %s: %s\n", devices->devices[i].name,
            devices->devices[k].name, cudaGetErrorString (code));
      (void) cudaGetLastError ();
    }
    leave (&devices->devices[i]);
  }
}
#endif

static void
print_devices (void)
{
  for (guint i = 0; i < devices->n; i++) {
    const CvisDevice *device = &devices->devices[i];
    CvisDeviceInfo info = { .name = "posed by the CPU" };

    if (device->context != NULL)
      cvis_device_info (device->id, &info, NULL);
    printf ("%s: %s\n", device->name, info.name);
  }
  printf ("%d levels, float32, medians of %d rounds of %d surfaces\n"
          "wavelet  direction side  mode, devices, row blocks, time of a "
          "surface, ratio to the first line of the mode, checksum\n",
      levels, rounds, frames);
}

int
main (int argc, char **argv)
{
  GOptionContext *options = g_option_context_new (NULL);
  gchar **wavelets, **numbers;
  GError *error = NULL;

  g_option_context_add_main_entries (options, entries, NULL);
  if (!g_option_context_parse (options, &argc, &argv, &error))
    give_up (error);
  g_option_context_free (options);
  devices = cvis_devices_new (ids, -1, &error);
  if (devices == NULL
      && g_error_matches (error, CVIS_ERROR, CVIS_ERROR_NO_DEVICE)) {
    printf ("skipped: %s\n", error->message);
    return 77;
  }
  if (devices == NULL)
    give_up (error);
  rounds = MAX (rounds, 1);
  frames = MAX (frames, 1);
  print_devices ();
#ifdef CVIS_CUDA_RUNTIME
  if (devices->n > 1 && devices->devices[0].context != NULL)
    enable_peers ();
#endif
  wavelets = g_strsplit (names, ",", -1);
  numbers = g_strsplit (sides, ",", -1);
  for (guint k = 0; numbers[k] != NULL; k++)
    for (guint i = 0; wavelets[i] != NULL; i++)
      measure_wavelet (wavelets[i], (guint) atoi (numbers[k]));
  g_strfreev (wavelets);
  g_strfreev (numbers);
  cvis_devices_free (devices);
  return 0;
}
