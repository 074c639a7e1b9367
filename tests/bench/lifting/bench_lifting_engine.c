/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The lifting engine as a whole: surfaces that stay on the device, surfaces
 * from and to host memory, and the CPU backend. "steady": time for each
 * surface with three in flight; "alone": from submit to wait with one.
 * Medians of nine runs.
 *
 *   bench_lifting_engine [--no-cpu] [--no-large] [--only=TEXT]
 *
 * --only: lines that contain TEXT
 *
 * The bus limit is measured in the same run: copies of the same size in both
 * directions at once. */
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/core/histogram.h"
#include "cuda/lifting/backend.h"

#define DEPTH 3
#define RUNS 9
#define PART(part) (1u << CVIS_SURFACE_PART_##part)

typedef enum { ON_DEVICE, PINNED, PAGEABLE } Place;

static CvisContext *context;
static const gchar *only;

static void
must (cudaError_t code, const char *what)
{
  if (code == cudaSuccess)
    return;
  fprintf (stderr, "%s: %s (%s)\n", what, cudaGetErrorName (code),
      cudaGetErrorString (code));
  exit (1);
}
#define MUST(call) must ((call), #call)

static void
give_up (GError *error)
{
  fprintf (stderr, "%s\n", error->message);
  exit (1);
}

static int
compare (const void *a, const void *b)
{
  const gdouble x = *(const gdouble *) a, y = *(const gdouble *) b;

  return (x > y) - (x < y);
}

static gdouble
median (gdouble times[RUNS])
{
  qsort (times, RUNS, sizeof times[0], compare);
  return times[RUNS / 2];
}

/* --- surfaces ------------------------------------------------------------- */

static gpointer
allocate (Place place, gsize size)
{
  gpointer memory = NULL;
  GError *error = NULL;

  if (place == ON_DEVICE)
    MUST (cudaMalloc (&memory, size));
  else if (place == PINNED)
    memory = cvis_pinned_alloc (context, size, &error);
  else
    memory = g_malloc (size);
  if (memory == NULL)
    give_up (error);
  if (place != ON_DEVICE)
    memset (memory, 1, size);
  return memory;
}

static void
release (Place place, gpointer memory)
{
  if (place == ON_DEVICE)
    cudaFree (memory);
  else if (place == PINNED)
    cvis_pinned_free (context, memory);
  else
    g_free (memory);
}

/* Waves, scratches and grain in micrometres; @missing of 1000 points are
 * missing. */
static gfloat *
make_surface (guint side, guint missing)
{
  gfloat *z = g_new (gfloat, (gsize) side * side);
  guint32 state = 1;

  for (guint y = 0; y < side; y++) {
    const gfloat wave = sinf ((gfloat) y * 0.003f);

    for (guint x = 0; x < side; x++) {
      state = state * 1664525u + 1013904223u;
      z[(gsize) y * side + x] =
          (state >> 8) % 1000 < missing
              ? NAN
              : 3.0f * wave + 0.5f * (gfloat) ((x / 7 + y / 5) % 9) * 0.1f
                    + (gfloat) (state >> 16) * 1e-5f;
    }
  }
  return z;
}

typedef struct {
  LwtConfig config;
  Place place;
  guint missing;     /* of 1000 points */
  guint frames;      /* of a run */
  gboolean measured; /* components are measured but not stored */
} Setting;

static void
make_jobs (const Setting *setting, LwtJob jobs[DEPTH])
{
  const gsize side = setting->config.width, row = side * sizeof (gfloat);
  gfloat *z = make_surface ((guint) side, setting->missing);

  memset (jobs, 0, DEPTH * sizeof *jobs);
  for (guint k = 0; k < DEPTH; k++) {
    gpointer data = allocate (setting->place, row * side);

    if (setting->place == ON_DEVICE)
      MUST (cudaMemcpy (data, z, row * side, cudaMemcpyHostToDevice));
    else
      memcpy (data, z, row * side);
    jobs[k].data = data;
    jobs[k].stride = row;
    jobs[k].pinned = setting->place == PINNED;
    jobs[k].on_device = setting->place == ON_DEVICE;
    jobs[k].measured = setting->measured ? setting->config.parameters : 0;
    for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
      if (!setting->measured && (setting->config.parts & (1u << i)))
        jobs[k].parts[i] = (LwtPlane){ allocate (setting->place, row * side),
          row, setting->place == PINNED, setting->place == ON_DEVICE };
  }
  g_free (z);
}

static void
free_jobs (const Setting *setting, LwtJob jobs[DEPTH])
{
  for (guint k = 0; k < DEPTH; k++) {
    release (setting->place, (gpointer) jobs[k].data);
    for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
      release (setting->place, jobs[k].parts[i].data);
  }
}

/* --- runs ----------------------------------------------------------------- */

static void
submit (LwtEngine *engine, LwtJob *job)
{
  GError *error = NULL;

  if (!lwt_engine_submit (engine, job, &error))
    give_up (error);
}

static void
await (LwtEngine *engine)
{
  GError *error = NULL;
  LwtJob *job;

  if (!lwt_engine_wait (engine, &job, &error))
    give_up (error);
}

/* Seconds for each surface. */
static gdouble
run_steady (LwtEngine *engine, LwtJob *jobs, guint frames)
{
  gint64 start;

  for (guint i = 0; i < DEPTH; i++)
    submit (engine, &jobs[i]);
  start = cvis_monotonic_ns ();
  for (guint i = 0; i < frames; i++) {
    await (engine);
    submit (engine, &jobs[i % DEPTH]);
  }
  start = cvis_monotonic_ns () - start;
  for (guint i = 0; i < DEPTH; i++)
    await (engine);
  return (gdouble) start * 1e-9 / frames;
}

static gdouble
run_alone (LwtEngine *engine, LwtJob *jobs, guint frames)
{
  gint64 start = cvis_monotonic_ns ();

  for (guint i = 0; i < frames; i++) {
    submit (engine, &jobs[i % DEPTH]);
    await (engine);
  }
  return (gdouble) (cvis_monotonic_ns () - start) * 1e-9 / frames;
}

/* Prints a line; @limit: seconds, 0: none. */
static void
measure (const gchar *label, const Setting *setting,
    const LwtBackendOps *backend, gdouble limit)
{
  GError *error = NULL;
  gdouble steady[RUNS], alone[RUNS], time;
  LwtJob jobs[DEPTH];
  LwtEngine *engine;

  if (only != NULL && strstr (label, only) == NULL)
    return;
  engine = lwt_engine_new_on (backend, &setting->config, context, &error);
  if (engine == NULL) {
    printf ("%-44s %s\n", label, error->message);
    g_error_free (error);
    return;
  }
  make_jobs (setting, jobs);
  run_alone (engine, jobs, 2);
  for (guint i = 0; i < RUNS; i++) {
    steady[i] = run_steady (engine, jobs, setting->frames);
    alone[i] = run_alone (engine, jobs, MAX (setting->frames / 4, 1));
  }
  time = median (steady);
  printf ("%-44s %10.1f us steady %10.1f us alone", label, time * 1e6,
      median (alone) * 1e6);
  if (limit > 0.0)
    printf ("  %5.1f %% of the bus's limit %.1f us", 100.0 * limit / time,
        limit * 1e6);
  printf ("\n");
  fflush (stdout);
  lwt_engine_free (engine);
  free_jobs (setting, jobs);
}

static void
set_up (Setting *setting, guint side, Place place, LwtParts parts)
{
  *setting = (Setting){ .place = place, .frames = 40 };
  lwt_config_init (&setting->config);
  setting->config.wavelet = lwt_wavelet_new ("9/7", NULL);
  setting->config.width = setting->config.height = side;
  setting->config.parts = parts;
  setting->config.depth_in_flight = DEPTH;
}

static void
clear (Setting *setting)
{
  lwt_wavelet_free ((LwtWavelet *) setting->config.wavelet);
}

/* --- the bus -------------------------------------------------------------- */

/* Seconds to copy @size bytes up and, if @both, @size bytes down at once. */
static gdouble
measure_bus (gsize size, gboolean both)
{
  gpointer host[2] = { allocate (PINNED, size), allocate (PINNED, size) };
  gpointer device[2] = { allocate (ON_DEVICE, size),
    allocate (ON_DEVICE, size) };
  const guint copies = 20;
  cudaStream_t streams[2];
  gdouble times[RUNS];

  for (guint i = 0; i < 2; i++)
    MUST (cudaStreamCreateWithFlags (&streams[i], cudaStreamNonBlocking));
  for (guint run = 0; run < RUNS; run++) {
    const gint64 start = cvis_monotonic_ns ();

    for (guint i = 0; i < copies; i++) {
      MUST (cudaMemcpyAsync (
          device[0], host[0], size, cudaMemcpyHostToDevice, streams[0]));
      if (both)
        MUST (cudaMemcpyAsync (
            host[1], device[1], size, cudaMemcpyDeviceToHost, streams[1]));
    }
    MUST (cudaDeviceSynchronize ());
    times[run] = (gdouble) (cvis_monotonic_ns () - start) * 1e-9 / copies;
  }
  for (guint i = 0; i < 2; i++) {
    MUST (cudaStreamDestroy (streams[i]));
    release (PINNED, host[i]);
    release (ON_DEVICE, device[i]);
  }
  return median (times);
}

/* --- measurements -------------------------------------------------------- */

static const LwtParts rwf = PART (ROUGHNESS) | PART (WAVINESS) | PART (FORM);

/* Seconds to copy @n surfaces of 4096x4096 floats on the device, or on the host. */
static gdouble
measure_copy (guint n, gboolean on_device)
{
  const gsize size = (gsize) 4096 * 4096 * sizeof (gfloat);
  const Place place = on_device ? ON_DEVICE : PAGEABLE;
  gpointer from = allocate (place, size), to = allocate (place, size);
  gdouble times[RUNS];

  for (guint run = 0; run < RUNS; run++) {
    const gint64 start = cvis_monotonic_ns ();

    for (guint i = 0; i < n * 10; i++) {
      if (on_device)
        MUST (cudaMemcpyAsync (to, from, size, cudaMemcpyDeviceToDevice, NULL));
      else
        memcpy (to, from, size);
    }
    if (on_device)
      MUST (cudaDeviceSynchronize ());
    times[run] = (gdouble) (cvis_monotonic_ns () - start) * 1e-9 / 20.0;
  }
  release (place, from);
  release (place, to);
  return median (times); /* a copy reads and writes: two surfaces */
}

/* Filters with cut-offs of any length; the copy of the surfaces that have to be read and
 * written is printed before. */
static void
measure_filters (gboolean on_device)
{
  static const struct {
    const gchar *name;
    LwtFilter filter;
    LwtParts parts;
    guint order;
    gdouble cutoffs[2];   /* samples */
    guint side;           /* 0: 4096 */
    const gchar *wavelet; /* NULL: 9/7 */
    guint missing;        /* of 1000 points */
  } filters[] = {
    { "gaussian, R+W, 256 samples", LWT_FILTER_GAUSSIAN,
        PART (ROUGHNESS) | PART (WAVINESS), 0, { 256, 256 } },
    { "gaussian, R+W, 1024 samples", LWT_FILTER_GAUSSIAN,
        PART (ROUGHNESS) | PART (WAVINESS), 0, { 1024, 1024 } },
    { "gaussian, R+W+F, 16 and 128 samples", LWT_FILTER_GAUSSIAN,
        PART (ROUGHNESS) | PART (WAVINESS) | PART (FORM), 0, { 16, 128 } },
    { "wavelet, R+W+F, 16 and 128 samples", LWT_FILTER_WAVELET,
        PART (ROUGHNESS) | PART (WAVINESS) | PART (FORM), 0, { 16, 128 } },
    { "wavelet, the same, 5 % of the points missing", LWT_FILTER_WAVELET,
        PART (ROUGHNESS) | PART (WAVINESS) | PART (FORM), 0, { 16, 128 }, 0,
        NULL, 50 },
    { "wavelet, the same of 1024x1024", LWT_FILTER_WAVELET,
        PART (ROUGHNESS) | PART (WAVINESS) | PART (FORM), 0, { 16, 128 },
        1024 },
    { "wavelet, the same of 512x512", LWT_FILTER_WAVELET,
        PART (ROUGHNESS) | PART (WAVINESS) | PART (FORM), 0, { 16, 128 }, 512 },
    { "wavelet, R+W, 5 samples", LWT_FILTER_WAVELET,
        PART (ROUGHNESS) | PART (WAVINESS), 0, { 5, 5 } },
    { "wavelet, R+W, 1024 samples", LWT_FILTER_WAVELET,
        PART (ROUGHNESS) | PART (WAVINESS), 0, { 1024, 1024 } },
    { "wavelet haar, R+W, 128 samples", LWT_FILTER_WAVELET,
        PART (ROUGHNESS) | PART (WAVINESS), 0, { 128, 128 }, 0, "haar" },
    { "wavelet db8, R+W, 128 samples", LWT_FILTER_WAVELET,
        PART (ROUGHNESS) | PART (WAVINESS), 0, { 128, 128 }, 0, "db8" },
    { "gaussian order 2, R+W, 256 samples", LWT_FILTER_GAUSSIAN,
        PART (ROUGHNESS) | PART (WAVINESS), 2, { 256, 256 } },
    { "spline, R+W, 256 samples", LWT_FILTER_SPLINE,
        PART (ROUGHNESS) | PART (WAVINESS), 0, { 256, 256 } },
    { "robust-gaussian, R+W, 256 samples", LWT_FILTER_ROBUST_GAUSSIAN,
        PART (ROUGHNESS) | PART (WAVINESS), 0, { 256, 256 } },
  };
  const gdouble copy = measure_copy (1, on_device);

  printf ("filters: copy of 3 surfaces %.1f us, of 4 %.1f us\n", 3e6 * copy,
      4e6 * copy);
  for (guint i = 0; i < G_N_ELEMENTS (filters); i++) {
    gchar *label = g_strdup_printf (
        "%s, filter %s", on_device ? "device" : "CPU backend", filters[i].name);
    Setting s;

    set_up (&s, filters[i].side > 0 ? filters[i].side : 4096,
        on_device ? ON_DEVICE : PAGEABLE, filters[i].parts);
    s.frames = on_device ? 40 : 1;
    if (filters[i].wavelet != NULL) {
      lwt_wavelet_free ((LwtWavelet *) s.config.wavelet);
      s.config.wavelet = lwt_wavelet_new (filters[i].wavelet, NULL);
    }
    s.config.filter = filters[i].filter;
    s.config.order = filters[i].order;
    s.missing = filters[i].missing;
    for (guint axis = 0; axis < 2; axis++) {
      s.config.cutoffs[1][axis] = filters[i].cutoffs[0];
      s.config.cutoffs[2][axis] = filters[i].cutoffs[1];
    }
    /* waviness of one cut-off: all that is longer */
    if (filters[i].cutoffs[0] == filters[i].cutoffs[1])
      s.config.parts = PART (ROUGHNESS) | PART (FORM);
    if (!on_device || lwt_filter_has_cuda (filters[i].filter, filters[i].order))
      measure (
          label, &s, on_device ? &lwt_backend_cuda : &lwt_backend_cpu, 0.0);
    clear (&s);
    g_free (label);
  }
}

static void
measure_on_device (void)
{
  static const gchar *const operations[] = { "none", "offset", "level", "plane",
    "poly2" };
  Setting s;

  for (guint i = 0; i < G_N_ELEMENTS (operations); i++) {
    gchar *label =
        g_strdup_printf ("device, R+W+F, f-operation %s", operations[i]);

    set_up (&s, 4096, ON_DEVICE, rwf);
    s.config.f_operation = (LwtFOperation) i;
    measure (label, &s, &lwt_backend_cuda, 0.0);
    clear (&s);
    g_free (label);
  }
  set_up (&s, 4096, ON_DEVICE, rwf);
  s.missing = 50;
  measure (
      "device, R+W+F, 5 % of the points missing", &s, &lwt_backend_cuda, 0.0);
  s.config.f_operation = LWT_F_PLANE;
  measure ("device, R+W+F, plane, 5 % missing", &s, &lwt_backend_cuda, 0.0);
  s.config.f_operation = LWT_F_NONE;
  s.missing = 0;
  s.config.parameters = rwf;
  measure ("device, R+W+F, parameters of all", &s, &lwt_backend_cuda, 0.0);
  s.config.parameters = 0;
  s.config.parts = PART (ROUGHNESS);
  measure ("device, R", &s, &lwt_backend_cuda, 0.0);
  clear (&s);
}

static void
measure_operations (void)
{
  Setting s;

  set_up (&s, 4096, ON_DEVICE, PART (BANDS));
  s.config.operation = LWT_OPERATION_FORWARD;
  measure ("device, forward", &s, &lwt_backend_cuda, 0.0);
  s.config.operation = LWT_OPERATION_INVERSE;
  s.config.parts = PART (MEASURED);
  measure ("device, inverse", &s, &lwt_backend_cuda, 0.0);
  s.config.operation = LWT_OPERATION_DENOISE;
  measure ("device, denoise, threshold found", &s, &lwt_backend_cuda, 0.0);
  s.config.threshold = 1.0;
  measure ("device, denoise, threshold given", &s, &lwt_backend_cuda, 0.0);
  s.config.spins = 4;
  measure ("device, denoise, 4 spins", &s, &lwt_backend_cuda, 0.0);
  clear (&s);
}

/* --- video ---------------------------------------------------------------- */

/* 1080p NV12 that stays on the device, denoised as in cudalwtfilter: the
 * luma only, or all planes; chroma is copied, or denoised by an engine of
 * its own. */
static void
measure_video (const gchar *label, gboolean chroma, guint spins,
    LwtShrink shrink, gdouble scale)
{
  const guint width = 1920, height = 1080, frames = 300;
  const gsize stride = 2048, size = stride * height * 3 / 2;
  LwtEngine *engines[2] = { NULL };
  LwtJob jobs[DEPTH][3];
  guint8 *memory[2 * DEPTH], *noise = g_malloc (size);
  LwtWavelet *wavelet = lwt_wavelet_new ("9/7", NULL);
  gdouble times[RUNS];
  GError *error = NULL;

  if (only != NULL && strstr (label, only) == NULL)
    return;
  for (gsize i = 0; i < size; i++)
    noise[i] = (guint8) (100 + (i / 97 + i / stride / 31) % 5 * 20
                         + g_random_int () % 16);
  for (guint i = 0; i < 2 * DEPTH; i++) {
    memory[i] = allocate (ON_DEVICE, size);
    MUST (cudaMemcpy (memory[i], noise, size, cudaMemcpyHostToDevice));
  }
  for (guint c = 0; c < (chroma ? 2 : 1); c++) {
    LwtConfig config;

    lwt_config_init (&config);
    config.operation = LWT_OPERATION_DENOISE;
    config.wavelet = wavelet;
    config.width = width >> c;
    config.height = height >> c;
    config.sample = LWT_SAMPLE_U8;
    config.store_bits = 8;
    config.levels[0] = config.levels[1] = 4;
    config.parts = PART (MEASURED);
    config.spins = spins;
    config.shrink = shrink;
    config.threshold_scale = scale;
    config.depth_in_flight = DEPTH * (c + 1);
    engines[c] =
        lwt_engine_new_on (&lwt_backend_cuda, &config, context, &error);
    if (engines[c] == NULL)
      give_up (error);
  }
  memset (jobs, 0, sizeof jobs);
  for (guint k = 0; k < DEPTH; k++)
    for (guint c = 0; c < (chroma ? 3 : 1); c++) {
      const gsize offset = c == 0 ? 0 : stride * height + c - 1;
      LwtJob *job = &jobs[k][c];

      job->data = memory[2 * k] + offset;
      job->stride = stride;
      job->step = c == 0 ? 1 : 2;
      job->on_device = TRUE;
      job->parts[CVIS_SURFACE_PART_MEASURED] =
          (LwtPlane){ memory[2 * k + 1] + offset, stride, FALSE, TRUE,
            c == 0 ? 1 : 2 };
      if (!chroma) {
        job->n_copies = 1;
        job->copies[0] = (LwtCopy){ memory[2 * k] + stride * height,
          memory[2 * k + 1] + stride * height, stride, stride, width,
          height / 2 };
      }
    }
  for (guint run = 0; run < RUNS; run++) {
    const gint64 start = cvis_monotonic_ns ();

    for (guint i = 0; i < frames + DEPTH - 1; i++) {
      for (guint c = 0; i < frames && c < (chroma ? 3 : 1); c++)
        submit (engines[c > 0], &jobs[i % DEPTH][c]);
      for (guint c = 0; i >= DEPTH - 1 && c < (chroma ? 3 : 1); c++)
        await (engines[c > 0]);
    }
    times[run] = (gdouble) (cvis_monotonic_ns () - start) * 1e-9 / frames;
  }
  printf ("%-44s %10.1f us a frame, %.0f frames/s\n", label,
      median (times) * 1e6, 1.0 / median (times));
  fflush (stdout);
  for (guint c = 0; c < 2; c++)
    lwt_engine_free (engines[c]);
  for (guint i = 0; i < 2 * DEPTH; i++)
    release (ON_DEVICE, memory[i]);
  lwt_wavelet_free (wavelet);
  g_free (noise);
}

static void
measure_end_to_end (gboolean large)
{
  const gsize size = (gsize) 4096 * 4096 * 4;
  const gdouble bus = measure_bus (size, TRUE);
  Setting s;

  set_up (&s, 4096, PINNED, PART (ROUGHNESS));
  measure ("pinned, R", &s, &lwt_backend_cuda, bus);
  s.config.f_operation = LWT_F_PLANE;
  measure ("pinned, R, plane", &s, &lwt_backend_cuda, bus);
  s.config.f_operation = LWT_F_NONE;
  s.config.parts = rwf;
  measure ("pinned, R+W+F", &s, &lwt_backend_cuda, 3.0 * bus);
  s.config.parameters = rwf;
  measure ("pinned, R+W+F with parameters", &s, &lwt_backend_cuda, 3.0 * bus);
  s.measured = TRUE;
  measure ("pinned, parameters of R+W+F alone", &s, &lwt_backend_cuda,
      measure_bus (size, FALSE));
  s.measured = FALSE;
  s.config.parameters = 0;
  s.config.parts = PART (ROUGHNESS);
  s.place = PAGEABLE;
  s.frames = 20;
  measure ("pageable, R", &s, &lwt_backend_cuda, bus);
  s.place = PINNED;
  s.config.device_memory = 256u << 20;
  measure ("pinned, R, in row blocks, 256 MiB", &s, &lwt_backend_cuda, bus);
  clear (&s);
  if (!large)
    return;
  set_up (&s, 12288, PINNED, PART (ROUGHNESS));
  s.frames = 6;
  measure ("pinned, R, 12288x12288", &s, &lwt_backend_cuda, 9.0 * bus);
  clear (&s);
}

static void
measure_cpu (void)
{
  Setting s;

  set_up (&s, 4096, PAGEABLE, rwf);
  s.frames = 1;
  measure ("CPU backend, R+W+F", &s, &lwt_backend_cpu, 0.0);
  s.config.parameters = rwf;
  measure ("CPU backend, R+W+F with parameters", &s, &lwt_backend_cpu, 0.0);
  s.measured = TRUE;
  measure ("CPU backend, parameters of R+W+F alone", &s, &lwt_backend_cpu, 0.0);
  s.measured = FALSE;
  s.config.parameters = 0;
  s.config.parts = PART (ROUGHNESS);
  measure ("CPU backend, R", &s, &lwt_backend_cpu, 0.0);
  clear (&s);
  measure_filters (FALSE);
}

int
main (int argc, char **argv)
{
  gboolean cpu = TRUE, large = TRUE;
  GError *error = NULL;
  CvisDeviceInfo info;

  for (int i = 1; i < argc; i++) {
    cpu = cpu && strcmp (argv[i], "--no-cpu") != 0;
    large = large && strcmp (argv[i], "--no-large") != 0;
    if (g_str_has_prefix (argv[i], "--only="))
      only = argv[i] + strlen ("--only=");
  }
  if (cpu) {
    printf ("%u processors; 4096x4096 float32, 9/7, 6 levels, roughness 3\n",
        g_get_num_processors ());
    measure_cpu ();
  }
  context = cvis_context_new (-1, &error);
  if (context == NULL) {
    printf ("no device: %s\n", error->message);
    g_error_free (error);
    return 0;
  }
  if (!cvis_context_push (context, &error)
      || !cvis_device_info (
          cvis_context_get_device_id (context), &info, &error))
    give_up (error);
  printf ("%s; 4096x4096 float32, 9/7, 6 levels, roughness 3\n", info.name);
  measure_on_device ();
  measure_filters (TRUE);
  measure_operations ();
  measure_video (
      "device, 1080p NV12, luma, 1 spin", FALSE, 1, LWT_SHRINK_HARD, 0.6);
  measure_video (
      "device, 1080p NV12, luma, 4 spins", FALSE, 4, LWT_SHRINK_HARD, 0.6);
  measure_video (
      "device, 1080p NV12, all, 4 spins", TRUE, 4, LWT_SHRINK_HARD, 0.6);
  measure_end_to_end (large);
  cvis_context_pop (context);
  cvis_context_unref (context);
  return 0;
}
