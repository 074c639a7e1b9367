/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Frames over CUDA devices through CvisFleet, as the elements compute them, with the input
 * of each device in its own memory: 1, 2, 4, ... n devices, medians of five runs, the ratio
 * to one device, how long the thread that submits was busy, and a checksum of all results,
 * which must be the same in each row. Then the limit of what passes through the host's
 * memory: copies between pinned memory and 1, 2, 4, ... devices at once.
 *
 *   bench_devices [--devices=LIST] [--balance=queue|equal|fuzzy] [--only=TEXT]
 *
 * --only: works whose name contains TEXT */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/bench/meltpool/benchring.h"
#include "cuda/core/histogram.h"
#include "cuda/denoise/fleet.h"
#include "cuda/lifting/fleet.h"
#include "cuda/meltpool/fleet.h"
#include "cuda/motion/fleet.h"
#include "cuda/records/machinesignal.h"
#include "pbfframes.h"

#define MAX_DEVICES 16
#define RUNS 5
#define DEPTH 3
#define N_INPUTS 4  /* different ones on each device */
#define N_OUTPUTS 9 /* on each device; more than are in flight there */
#define N_HASHED 60 /* items of the run for the checksum */
#define BATCH 16384
#define PART(part) (1u << CVIS_SURFACE_PART_##part)

typedef struct _Work Work;

/* A device: an engine and the inputs in its memory */
typedef struct {
  const Work *work;
  guint index;
  CvisContext *context;
  gpointer engine;
  gpointer inputs[N_INPUTS];
  gpointer outputs[N_OUTPUTS][CVIS_SURFACE_N_PARTS];
  guint64 submitted;
} Lane;

typedef union {
  LwtJob surface;
  MotionJob frame;
  DenoiseJob video;
  PbfBatch batch;
} Job;

/* A frame or batch. Each device has a job of its own for it, and one more if it loads it
 * for others. */
typedef struct {
  guint number;
  gboolean hashed;
  guint32 hash; /* of the results */
  Job jobs[MAX_DEVICES], loads[MAX_DEVICES];
  gpointer results; /* pinned */
} Item;

/* What is computed. @units: frames of an item; @by_devices: n_items for each device, of
 * which @n_hashed, of all devices, are for the checksum; @output_sizes: of the parts on a
 * device */
struct _Work {
  const gchar *name;
  guint n_items, units, n_hashed, runs;
  gboolean by_devices;
  gsize output_sizes[CVIS_SURFACE_N_PARTS];
  gboolean pinned; /* the inputs lie in pinned host memory */
  gsize input_size, result_size;
  gpointer (*open) (CvisContext *context, GError **error);
  void (*fill) (guint8 *input, guint number);
  void (*set_fleet) (CvisFleetConfig *fleet);
  void (*prepare) (Lane *lane, Item *item, Job *job);
  void (*hash) (Lane *lane, Item *item);
};

static CvisDevices *devices;
static CvisBalance balance;

static void
check (gboolean ok, GError **error)
{
  if (ok)
    return;
  fprintf (
      stderr, "bench_devices: %s\n", *error ? (*error)->message : "failed");
  exit (*error && (*error)->code == CVIS_ERROR_NO_DEVICE ? 77 : 1);
}

static void
must (cudaError_t code)
{
  if (code == cudaSuccess)
    return;
  fprintf (stderr, "bench_devices: %s\n", cudaGetErrorString (code));
  exit (1);
}

static gpointer
allocate_pinned (gsize size)
{
  GError *error = NULL;
  gpointer memory =
      cvis_pinned_alloc (devices->devices[0].context, size, &error);

  check (memory != NULL, &error);
  return memory;
}

/* --- surfaces ----------------------------------------------------------------- */

static LwtConfig surface_config;

static gpointer
open_surfaces (CvisContext *context, GError **error)
{
  return lwt_engine_new (&surface_config, context, error);
}

static void
fill_heights (guint8 *input, guint number)
{
  gfloat *z = (gfloat *) input;
  const guint n = surface_config.width * surface_config.height;
  guint32 state = number + 1;

  for (guint i = 0; i < n; i++) {
    state = state * 1664525u + 1013904223u;
    z[i] = (gfloat) (i / 4096 % 512) * 1e-8f + (gfloat) (state >> 16) * 1e-11f;
  }
}

static void
fill_luma (guint8 *input, guint number)
{
  const guint width = 1920, height = 1080;
  guint32 state = number + 1;

  for (guint y = 0; y < height; y++)
    for (guint x = 0; x < width; x++) {
      const guint u = x + 3 * number, v = y + number;

      state = state * 1664525u + 1013904223u;
      input[y * width + x] =
          (guint8) (60 + (u / 9 * 37 + v / 7 * 59) % 130 + (state >> 29));
    }
}

static void
prepare_surface (Lane *lane, Item *item, Job *to)
{
  LwtJob *job = &to->surface;
  const gpointer *outputs = lane->outputs[lane->submitted++ % N_OUTPUTS];

  *job = (LwtJob){ .data = lane->inputs[item->number % N_INPUTS],
    .stride =
        surface_config.width * lwt_sample_get_size (surface_config.sample),
    .on_device = TRUE };
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    if (surface_config.parts & (1u << i))
      job->parts[i] = (LwtPlane){ .data = outputs[i],
        .stride =
            surface_config.width
            * lwt_config_get_part_size (&surface_config, (CvisSurfacePart) i),
        .on_device = TRUE };
}

static void
hash_surface (Lane *lane, Item *item)
{
  const LwtJob *job = &item->jobs[lane->index].surface;

  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++) {
    const gsize size = job->parts[i].stride * surface_config.height;
    gpointer copy;

    if (job->parts[i].data == NULL)
      continue;
    copy = g_malloc (size);
    must (cudaMemcpy (copy, job->parts[i].data, size, cudaMemcpyDeviceToHost));
    item->hash = item->hash * 31 + pbf_crc32c (copy, size);
    g_free (copy);
  }
}

static void
set_surface_fleet (CvisFleetConfig *fleet)
{
  *fleet = (CvisFleetConfig){ .ops = &lwt_fleet_ops, .what = "surfaces" };
}

/* --- motion ------------------------------------------------------------------- */

static MotionConfig motion_config;

static gpointer
open_motion (CvisContext *context, GError **error)
{
  return motion_engine_new (&motion_config, context, error);
}

static void
prepare_frame (Lane *lane, Item *item, Job *to)
{
  MotionJob *job = &to->frame;
  const gsize n = (gsize) motion_config_get_columns (&motion_config)
                  * motion_config_get_rows (&motion_config);

  *job = (MotionJob){ .luma = lane->inputs[item->number % N_INPUTS],
    .stride = motion_config.width,
    .on_device = TRUE,
    .results_pinned = TRUE };
  job->fields[0].vectors = item->results;
  job->fields[0].blocks = (CvisMotionBlock *) (job->fields[0].vectors + n);
}

static void
hash_frame (Lane *lane, Item *item)
{
  const gsize size = lane->work->result_size;

  if (item->jobs[lane->index].frame.n_fields > 0)
    item->hash = pbf_crc32c (item->results, size);
}

static void
set_motion_fleet (CvisFleetConfig *fleet)
{
  motion_fleet_init (fleet, &motion_config);
}

/* --- video --------------------------------------------------------------------- */

static DenoiseConfig video_config;

static gpointer
open_video (CvisContext *context, GError **error)
{
  return denoise_engine_new (&video_config, context, error);
}

static void
fill_video (guint8 *input, guint number)
{
  guint32 state = number + 1;

  for (guint y = 0; y < 1080 * 3 / 2; y++)
    for (guint x = 0; x < 1920; x++) {
      const guint at = x + 3 * number;

      state = state * 1664525u + 1013904223u;
      input[y * 1920 + x] =
          (guint8) (60 + (at * 5 % 67) + (y * 3 % 59) + (state >> 27));
    }
}

/* The components of an NV12 frame */
static void
set_components (guint8 *frame, DenoisePlane planes[3])
{
  const gsize luma = 1920 * 1080;

  planes[0] = (DenoisePlane){ frame, 1920, 1 };
  planes[1] = (DenoisePlane){ frame + luma, 1920, 2 };
  planes[2] = (DenoisePlane){ frame + luma + 1, 1920, 2 };
}

static void
prepare_video (Lane *lane, Item *item, Job *to)
{
  DenoiseJob *job = &to->video;

  *job = (DenoiseJob){ .on_device = TRUE };
  set_components (lane->inputs[item->number % N_INPUTS], job->in);
  /* a frame that is only loaded has no output */
  if (to == &item->jobs[lane->index])
    set_components (lane->outputs[lane->submitted++ % N_OUTPUTS][0], job->out);
}

static void
hash_video (Lane *lane, Item *item)
{
  const gsize size = lane->work->input_size;
  gpointer copy = g_malloc (size);

  must (cudaMemcpy (copy, item->jobs[lane->index].video.out[0].data, size,
      cudaMemcpyDeviceToHost));
  item->hash = pbf_crc32c (copy, size);
  g_free (copy);
}

static void
set_video_fleet (CvisFleetConfig *fleet)
{
  denoise_fleet_init (fleet, &video_config);
}

/* --- melt pools ---------------------------------------------------------------- */

static PbfConfig pbf_config;
static BenchRing *ring;
static PbfModel *model;
static PbfWindow *window;

static gpointer
open_meltpool (CvisContext *context, GError **error)
{
  return pbf_engine_new (&pbf_config, model, context, error);
}

static void
fill_frames (guint8 *input, guint number)
{
  const gsize size = (gsize) pbf_config.width * pbf_config.height;

  for (guint i = 0; i < BATCH; i++)
    memcpy (input + i * size, ring->frames[(i + number * 997) % ring->n], size);
}

static void
prepare_batch (Lane *lane, Item *item, Job *to)
{
  PbfBatch *batch = &to->batch;
  const gsize size = (gsize) pbf_config.width * pbf_config.height;
  guint8 *input = lane->inputs[item->number % N_INPUTS];

  if (batch->frames == NULL)
    batch->frames = g_new (const guint8 *, BATCH);
  for (guint i = 0; i < BATCH; i++)
    batch->frames[i] = input + i * size;
  batch->n = BATCH;
  batch->strides = ring->strides;
  batch->pinned = lane->work->pinned;
  batch->on_device = !lane->work->pinned;
  batch->infos = ring->infos;
  batch->results = item->results;
  batch->results_pinned = TRUE;
}

static void
hash_batch (Lane *lane, Item *item)
{
  item->hash = pbf_crc32c (item->results, lane->work->result_size);
}

/* Devices that are not the one that computed the batch have other jobs for it. */
static void
finish_batch (gpointer job, gpointer user_data)
{
  Item *item = job;
  PbfBatch batch = {
    .n = BATCH, .infos = ring->infos, .results = item->results
  };

  (void) user_data;
  pbf_window_apply (window, &batch);
}

static void
set_meltpool_fleet (CvisFleetConfig *fleet)
{
  pbf_fleet_init (fleet, &pbf_config);
  fleet->finish = finish_batch;
}

/* --- a device as an engine of the fleet ------------------------------------------ */

static const CvisFleetOps *inner;

static gboolean
submit_item (gpointer engine, gpointer item, GError **error)
{
  Lane *lane = engine;
  Job *job = &((Item *) item)->jobs[lane->index];

  lane->work->prepare (lane, item, job);
  return inner->submit (lane->engine, job, error);
}

static gboolean
load_item (gpointer engine, gpointer item, GError **error)
{
  Lane *lane = engine;
  Job *job = &((Item *) item)->loads[lane->index];

  lane->work->prepare (lane, item, job);
  return inner->load (lane->engine, job, error);
}

static void
end_items (gpointer engine)
{
  inner->end (((Lane *) engine)->engine);
}

static gboolean
wait_item (gpointer engine, gpointer *job, GError **error)
{
  Lane *lane = engine;
  gpointer done;
  Item *item;

  *job = NULL;
  if (!inner->wait (lane->engine, &done, error) || done == NULL)
    return FALSE;
  item = (Item *) ((guint8 *) done - lane->index * sizeof item->jobs[0]
                   - G_STRUCT_OFFSET (Item, jobs));
  *job = item;
  if (item->hashed && cvis_context_push (lane->context, error)) {
    lane->work->hash (lane, item);
    cvis_context_pop (lane->context);
  }
  return TRUE;
}

static void
free_nothing (gpointer engine)
{
  (void) engine;
}

/* --- runs ------------------------------------------------------------------------ */

static void
open_lane (Lane *lane, const Work *work, guint index)
{
  GError *error = NULL;
  gpointer input = g_malloc (work->input_size);

  *lane = (Lane){
    .work = work, .index = index, .context = devices->devices[index].context
  };
  lane->engine = work->open (lane->context, &error);
  check (lane->engine != NULL, &error);
  check (cvis_context_push (lane->context, &error), &error);
  for (guint i = 0; i < N_INPUTS; i++) {
    work->fill (input, i);
    if (work->pinned)
      lane->inputs[i] =
          cvis_pinned_alloc (lane->context, work->input_size, &error);
    else
      must (cudaMalloc (&lane->inputs[i], work->input_size));
    check (lane->inputs[i] != NULL, &error);
    must (cudaMemcpy (
        lane->inputs[i], input, work->input_size, cudaMemcpyDefault));
  }
  for (guint i = 0; i < N_OUTPUTS; i++)
    for (guint k = 0; k < CVIS_SURFACE_N_PARTS; k++)
      if (work->output_sizes[k] > 0)
        must (cudaMalloc (&lane->outputs[i][k], work->output_sizes[k]));
  cvis_context_pop (lane->context);
  g_free (input);
}

static void
close_lane (Lane *lane)
{
  inner->free (lane->engine);
  if (!cvis_context_push (lane->context, NULL))
    return;
  for (guint i = 0; i < N_INPUTS; i++) {
    if (lane->work->pinned)
      cvis_pinned_free (lane->context, lane->inputs[i]);
    else
      cudaFree (lane->inputs[i]);
  }
  for (guint i = 0; i < N_OUTPUTS; i++)
    for (guint k = 0; k < CVIS_SURFACE_N_PARTS; k++)
      cudaFree (lane->outputs[i][k]);
  cvis_context_pop (lane->context);
}

static void
take_item (CvisFleet *fleet, guint32 *hash)
{
  GError *error = NULL;
  gpointer job;

  check (cvis_fleet_wait (fleet, &job, &error), &error);
  *hash = *hash * 31 + ((Item *) job)->hash;
}

/* Seconds of the calling thread on a processor */
static gdouble
get_thread_time (void)
{
  struct timespec t;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &t);
  return (gdouble) t.tv_sec + (gdouble) t.tv_nsec * 1e-9;
}

/* Seconds for @n items. @items: as many as may be in flight, with room for more; @hash:
 * (nullable); @busy: the calling thread's processor time, seconds */
static gdouble
run (CvisFleet *fleet, Item *items, guint n_items, guint n, guint32 *hash,
    gdouble *busy)
{
  const guint size = cvis_fleet_get_size (fleet);
  const gdouble cpu_begin = get_thread_time ();
  const guint64 begin = cvis_monotonic_ns ();
  guint32 sum = 0;
  guint done = 0;
  GError *error = NULL;

  if (window != NULL)
    pbf_window_reset (window);
  for (guint i = 0; i < n; i++) {
    Item *item = &items[i % n_items];

    if (i - done == size) {
      take_item (fleet, &sum);
      done++;
    }
    item->number = i;
    item->hashed = hash != NULL;
    item->hash = 0;
    check (cvis_fleet_submit (fleet, item, &error), &error);
  }
  cvis_fleet_end (fleet);
  for (; done < n; done++)
    take_item (fleet, &sum);
  if (hash != NULL)
    *hash = sum;
  *busy = get_thread_time () - cpu_begin;
  return (gdouble) (cvis_monotonic_ns () - begin) * 1e-9;
}

static guint
get_n_items (const Work *work, guint n)
{
  return work->by_devices ? n * work->n_items : work->n_items;
}

/* Seconds for all items on the first @n devices, their checksum, and the processor time of
 * the thread that submits them. */
static gdouble
measure_on (const Work *work, guint n, guint32 *hash, gdouble *busy)
{
  CvisDeviceTraits traits[MAX_DEVICES];
  CvisFleetDevice members[MAX_DEVICES];
  Lane lanes[MAX_DEVICES];
  CvisFleetConfig config;
  CvisFleetOps ops = { .submit = submit_item,
    .end = end_items,
    .wait = wait_item,
    .free = free_nothing };
  gdouble seconds[RUNS], busies[RUNS];
  const guint runs = work->runs > 0 ? work->runs : RUNS;
  CvisFleet *fleet;
  guint n_items;
  Item *items;

  work->set_fleet (&config);
  inner = config.ops;
  if (inner->load != NULL)
    ops.load = load_item;
  if (inner->end == NULL)
    ops.end = NULL;
  config.ops = &ops;
  if (config.depth == 0)
    config.depth = DEPTH;
  config.balance = balance;
  config.traits = traits;
  for (guint i = 0; i < n; i++) {
    open_lane (&lanes[i], work, i);
    members[i] = cvis_device_with_engine (&devices->devices[i], &lanes[i]);
    cvis_device_traits (devices->devices[i].id, &traits[i]);
  }
  fleet = cvis_fleet_new (&config, members, n);
  /* a loaded frame is needed after it was returned */
  n_items = 2 * cvis_fleet_get_size (fleet) + 2 * config.chunk;
  items = g_new0 (Item, n_items);
  for (guint i = 0; i < n_items && work->result_size > 0; i++)
    items[i].results = allocate_pinned (work->result_size);
  run (fleet, items, n_items, work->n_hashed, hash, busy);
  for (guint i = 0; i < runs; i++)
    seconds[i] =
        run (fleet, items, n_items, get_n_items (work, n), NULL, &busies[i]);
  cvis_fleet_free (fleet);
  for (guint i = 0; i < n_items; i++) {
    cvis_pinned_free (devices->devices[0].context, items[i].results);
    for (guint k = 0; k < n && work->hash == hash_batch; k++)
      g_free (items[i].jobs[k].batch.frames);
  }
  g_free (items);
  for (guint i = 0; i < n; i++)
    close_lane (&lanes[i]);
  *busy = bench_median (busies, runs);
  return bench_median (seconds, runs);
}

/* 1, 2, 4, ... @all, 0 */
static guint
get_next_count (guint n, guint all)
{
  return n == all ? 0 : MIN (2 * n, all);
}

static void
measure (const Work *work)
{
  const guint all = MIN (devices->n, MAX_DEVICES);
  gdouble alone = 0.0;

  for (guint n = 1; n != 0; n = get_next_count (n, all)) {
    guint32 hash;
    gdouble busy;
    const gdouble seconds = measure_on (work, n, &hash, &busy);
    const gdouble frame = seconds / get_n_items (work, n) / work->units;

    if (n == 1)
      alone = frame;
    printf ("| %s | %u | %.2f | %.0f | %.3f | %.0f | %08x |\n", work->name, n,
        frame * 1e6, 1.0 / frame, alone / frame, 100.0 * busy / seconds, hash);
    fflush (stdout);
  }
}

/* --- the works ------------------------------------------------------------------- */

/* The filters, and DENOISE: with the decimated wavelet */
#define DENOISE 100

static void
measure_surfaces (const gchar *name, guint filter)
{
  const gboolean denoise = filter == DENOISE;
  Work work = { .name = name,
    .n_items = denoise ? 4000 : 1000,
    .units = 1,
    .n_hashed = N_HASHED,
    .open = open_surfaces,
    .fill = denoise ? fill_luma : fill_heights,
    .set_fleet = set_surface_fleet,
    .prepare = prepare_surface,
    .hash = hash_surface };
  LwtWavelet *wavelet = lwt_wavelet_new ("9/7", NULL);

  lwt_config_init (&surface_config);
  surface_config.wavelet = wavelet;
  surface_config.width = denoise ? 1920 : 4096;
  surface_config.height = denoise ? 1080 : 4096;
  surface_config.levels[0] = surface_config.levels[1] = 4;
  surface_config.filter =
      denoise ? LWT_FILTER_WAVELET_DECIMATED : (LwtFilter) filter;
  /* waviness of one cut-off: all that is longer */
  surface_config.parts = PART (ROUGHNESS) | PART (FORM);
  if (filter != LWT_FILTER_GAUSSIAN)
    surface_config.parts |= PART (WAVINESS);
  for (guint axis = 0; axis < 2; axis++) {
    surface_config.cutoffs[1][axis] = filter == LWT_FILTER_GAUSSIAN ? 256 : 16;
    surface_config.cutoffs[2][axis] = filter == LWT_FILTER_GAUSSIAN ? 256 : 128;
  }
  surface_config.depth_in_flight = DEPTH;
  if (denoise) {
    surface_config.operation = LWT_OPERATION_DENOISE;
    surface_config.sample = LWT_SAMPLE_U8;
    surface_config.store_bits = 8;
    surface_config.parts = PART (MEASURED);
  }
  work.input_size = (gsize) surface_config.width * surface_config.height
                    * lwt_sample_get_size (surface_config.sample);
  for (guint k = 0; k < CVIS_SURFACE_N_PARTS; k++)
    if (surface_config.parts & (1u << k))
      work.output_sizes[k] =
          (gsize) surface_config.width * surface_config.height
          * lwt_config_get_part_size (&surface_config, (CvisSurfacePart) k);
  measure (&work);
  lwt_wavelet_free (wavelet);
}

/* Chunks are long, so that each device computes 20 of them. */
static void
measure_video (const gchar *name, guint radius)
{
  Work work = { .name = name,
    .units = 1,
    .n_hashed = 240,
    .runs = 3,
    .by_devices = TRUE,
    .input_size = 1920 * 1080 * 3 / 2,
    .open = open_video,
    .fill = fill_video,
    .set_fleet = set_video_fleet,
    .prepare = prepare_video,
    .hash = hash_video };

  denoise_config_init (&video_config);
  video_config.width = 1920;
  video_config.height = 1080;
  video_config.n_components = 3;
  video_config.sub_x = video_config.sub_y = 1;
  video_config.radius = radius;
  video_config.chunk = denoise_config_get_chunk (&video_config, FALSE);
  work.n_items = 20 * video_config.chunk;
  work.output_sizes[0] = work.input_size;
  measure (&work);
}

static void
measure_motion (const gchar *name, guint method)
{
  Work work = { .name = name,
    .n_items = 1000,
    .units = 1,
    .n_hashed = N_HASHED,
    .input_size = 1920 * 1080,
    .open = open_motion,
    .fill = fill_luma,
    .set_fleet = set_motion_fleet,
    .prepare = prepare_frame,
    .hash = hash_frame };

  motion_config_init (&motion_config);
  motion_config.width = 1920;
  motion_config.height = 1080;
  motion_config.method = (MotionMethod) method;
  if (method == MOTION_METHOD_FIELD)
    motion_config.subpel = MOTION_SUBPEL_QUARTER;
  motion_config.block_size = 16;
  motion_config.depth_in_flight = DEPTH;
  motion_config.chunk = MOTION_CHUNK;
  work.result_size = (gsize) motion_config_get_columns (&motion_config)
                     * motion_config_get_rows (&motion_config)
                     * (sizeof (CvisMotionVector) + sizeof (CvisMotionBlock));
  measure (&work);
}

static void
measure_meltpool (const gchar *name, guint pinned)
{
  Work work = { .name = name,
    .n_items = 200,
    .by_devices = TRUE,
    .units = BATCH,
    .n_hashed = N_HASHED,
    .pinned = pinned,
    .result_size = BATCH * sizeof (CvisPbfResult),
    .open = open_meltpool,
    .fill = fill_frames,
    .set_fleet = set_meltpool_fleet,
    .prepare = prepare_batch,
    .hash = hash_batch };
  PbfRandom random = { 2 };

  model = pbf_random_model (&random, 164, 2);
  pbf_config_init (&pbf_config);
  pbf_config.max_batch = BATCH;
  pbf_config.depth = DEPTH;
  pbf_config.threads = 0;
  window = pbf_window_new (&pbf_config, model);
  pbf_config.independent = TRUE;
  work.input_size = (gsize) BATCH * pbf_config.width * pbf_config.height;
  ring = bench_ring_new (BATCH);
  measure (&work);
  bench_ring_free (ring);
  g_clear_pointer (&window, pbf_window_free);
  pbf_model_unref (model);
}

/* --- copies ------------------------------------------------------------------------ */

#define COPY_SIZE (64u << 20)
#define N_COPIES 100

/* What a device copies at once */
typedef struct {
  CvisContext *context;
  gpointer memory[2], pinned[2];
  cudaStream_t streams[2];
} Copier;

static void
open_copier (Copier *copier, CvisContext *context)
{
  GError *error = NULL;

  copier->context = context;
  check (cvis_context_push (context, &error), &error);
  for (guint i = 0; i < 2; i++) {
    must (cudaMalloc (&copier->memory[i], COPY_SIZE));
    copier->pinned[i] = allocate_pinned (COPY_SIZE);
    memset (copier->pinned[i], 1, COPY_SIZE);
    must (
        cudaStreamCreateWithFlags (&copier->streams[i], cudaStreamNonBlocking));
  }
  cvis_context_pop (context);
}

static void
close_copier (Copier *copier)
{
  if (!cvis_context_push (copier->context, NULL))
    return;
  for (guint i = 0; i < 2; i++) {
    cudaFree (copier->memory[i]);
    cvis_pinned_free (devices->devices[0].context, copier->pinned[i]);
    cudaStreamDestroy (copier->streams[i]);
  }
  cvis_context_pop (copier->context);
}

/* GB/s of @n devices together. @ways: bit 0 to the devices, bit 1 from them */
static gdouble
copy_at_once (Copier *copiers, guint n, guint ways)
{
  GError *error = NULL;
  const guint64 begin = cvis_monotonic_ns ();
  guint64 bytes = 0;

  for (guint i = 0; i < n; i++) {
    Copier *c = &copiers[i];

    check (cvis_context_push (c->context, &error), &error);
    for (guint k = 0; k < 2 * N_COPIES; k++) {
      const guint way = k % 2;

      if ((ways >> way & 1) == 0)
        continue;
      must (cudaMemcpyAsync (way ? c->pinned[1] : c->memory[0],
          way ? c->memory[1] : c->pinned[0], COPY_SIZE, cudaMemcpyDefault,
          c->streams[way]));
      bytes += COPY_SIZE;
    }
    cvis_context_pop (c->context);
  }
  for (guint i = 0; i < n; i++) {
    check (cvis_context_push (copiers[i].context, &error), &error);
    must (cudaDeviceSynchronize ());
    cvis_context_pop (copiers[i].context);
  }
  return (gdouble) bytes / (gdouble) (cvis_monotonic_ns () - begin);
}

static void
measure_copies (void)
{
  const guint all = MIN (devices->n, MAX_DEVICES);
  Copier copiers[MAX_DEVICES];

  printf ("\n| pinned memory, devices | to (GB/s) | from (GB/s) | both ways "
          "(GB/s) |\n|---|---|---|---|\n");
  for (guint i = 0; i < all; i++)
    open_copier (&copiers[i], devices->devices[i].context);
  for (guint n = 1; n != 0; n = get_next_count (n, all)) {
    copy_at_once (copiers, n, 3);
    printf ("| %u |", n);
    for (guint ways = 1; ways <= 3; ways++)
      printf (" %.0f |", copy_at_once (copiers, n, ways));
    printf ("\n");
  }
  for (guint i = 0; i < all; i++)
    close_copier (&copiers[i]);
}

int
main (int argc, char **argv)
{
  const gchar *ids = "all", *policy = "queue", *only = "";
  GOptionEntry entries[] = {
    { "devices", 0, 0, G_OPTION_ARG_STRING, &ids, "CUDA devices", "LIST" },
    { "balance", 0, 0, G_OPTION_ARG_STRING, &policy, "policy", "NAME" },
    { "only", 0, 0, G_OPTION_ARG_STRING, &only, "works with this name",
        "TEXT" },
    { NULL },
  };
  static const struct {
    const gchar *name;
    void (*measure) (const gchar *name, guint value);
    guint value;
  } works[] = {
    { "R + W + F, decimated, 4096x4096", measure_surfaces,
        LWT_FILTER_WAVELET_DECIMATED },
    { "R + W + F, wavelet, 4096x4096", measure_surfaces, LWT_FILTER_WAVELET },
    { "R + W, gaussian, 4096x4096", measure_surfaces, LWT_FILTER_GAUSSIAN },
    { "denoise wavelets, 1920x1080", measure_surfaces, DENOISE },
    { "denoise, 1920x1080, radius 2", measure_video, 2 },
    { "denoise, 1920x1080, radius 1", measure_video, 1 },
    { "motion field, 1920x1080", measure_motion, MOTION_METHOD_FIELD },
    { "motion full, 1920x1080", measure_motion, MOTION_METHOD_FULL },
    { "melt pools, in device memory", measure_meltpool, FALSE },
    { "melt pools, pinned", measure_meltpool, TRUE },
  };
  static const gchar *const policies[] = { "queue", "equal", "fuzzy" };
  GOptionContext *options = g_option_context_new (NULL);
  GError *error = NULL;

  g_option_context_add_main_entries (options, entries, NULL);
  check (g_option_context_parse (options, &argc, &argv, &error), &error);
  g_option_context_free (options);
  while (balance < G_N_ELEMENTS (policies)
         && strcmp (policy, policies[balance]) != 0)
    balance++;
  if (balance == G_N_ELEMENTS (policies)) {
    fprintf (stderr, "bench_devices: no policy \"%s\"\n", policy);
    return 2;
  }
  devices = cvis_devices_new (ids, -1, &error);
  check (devices != NULL, &error);
  printf (
      "| work | devices | us a frame | frames/s | ratio | submitter busy (%%) "
      "| checksum |\n|---|---|---|---|---|---|---|\n");
  for (guint i = 0; i < G_N_ELEMENTS (works); i++)
    if (strstr (works[i].name, only) != NULL)
      works[i].measure (works[i].name, works[i].value);
  if (strstr ("copies", only) != NULL)
    measure_copies ();
  cvis_devices_free (devices);
  return 0;
}
