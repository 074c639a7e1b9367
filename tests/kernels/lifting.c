/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The lifting engine on the device against the plain C reference
 * implementation, to the bit: settings and surfaces at random, all ways for
 * them to come and go, several in flight, missing points from one surface to
 * the next, and devices too small for a surface in one piece. */
#include <math.h>
#include <string.h>

#include "harness.h"
#include "lwtrandom.h"
#include "lwtreference.h"

#define N_JOBS 6

typedef enum { PAGEABLE, PINNED, ON_DEVICE, N_PLACES } Place;

/* Rows in host or device memory. */
typedef struct {
  Place place;
  guint width, height;
  gsize bytes, stride; /* of a sample; of a row */
  guint step;          /* samples from column to column */
  guint8 *host;        /* memory that the test accesses */
  gpointer data;       /* memory that the engine accesses */
} Rows;

typedef struct {
  LwtJob job;
  guint8 *packed; /* the samples without gaps */
  Rows in, parts[CVIS_SURFACE_N_PARTS];
} Run;

static gpointer
place_memory (Harness *h, Place place, gsize size)
{
  return place == PAGEABLE ? harness_host (h, size)
         : place == PINNED ? harness_pinned (h, size)
                           : harness_device (h, size);
}

/* Rows with no gap, a small gap, or a gap to the next 128 bytes. */
static void
make_rows (Harness *h, Place place, guint width, guint height, gsize bytes,
    guint step, Rows *rows)
{
  gsize size;

  *rows = (Rows){ place, width, height, bytes, bytes * width * step, step, NULL,
    NULL };
  switch (harness_range (h, 0, 3)) {
    case 0:
      rows->stride += bytes * (gsize) harness_range (h, 1, 9);
      break;
    case 1:
      rows->stride = (rows->stride + 127) / 128 * 128;
      break;
    default:
      break;
  }
  size = rows->stride * height;
  rows->data = place_memory (h, place, size);
  rows->host = place == ON_DEVICE ? harness_host (h, size) : rows->data;
}

/* Interleaved samples like chroma: for integers on the device. */
static guint
draw_step (Harness *h, const LwtConfig *config, Place place)
{
  return config->store_bits > 0 && place == ON_DEVICE
             ? (guint) harness_range (h, 1, 2)
             : 1;
}

/* Copies the @packed rows of @in to the job's memory. */
static void
spread (const guint8 *packed, Rows *rows)
{
  for (guint y = 0; y < rows->height; y++)
    for (guint x = 0; x < rows->width; x++)
      memcpy (rows->host + y * rows->stride + x * rows->step * rows->bytes,
          packed + (y * rows->width + x) * rows->bytes, rows->bytes);
}

static void
make_run (Harness *h, GRand *random, const LwtConfig *config, Run *run)
{
  guint width, height;
  Place place;

  memset (run, 0, sizeof *run);
  lwt_random_size (config, &width, &height);
  place = (Place) harness_range (h, 0, N_PLACES - 1);
  make_rows (h, place, width, height, lwt_sample_get_size (config->sample),
      draw_step (h, config, place), &run->in);
  run->packed = harness_host (h, width * run->in.bytes * height);
  lwt_random_surface (random, config, run->packed, width * run->in.bytes);
  spread (run->packed, &run->in);
  run->job.step = run->in.step;
  run->job.data = run->in.data;
  run->job.stride = run->in.stride;
  run->job.pinned = run->in.place == PINNED;
  run->job.on_device = run->in.place == ON_DEVICE;
  run->job.stream = harness_stream (h);
  if (run->job.on_device)
    HARNESS_CUDA (
        h, cudaMemcpyAsync (run->in.data, run->in.host, run->in.stride * height,
               cudaMemcpyHostToDevice, harness_stream (h)));
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++) {
    LwtPlane *plane = &run->job.parts[i];

    /* sometimes one of several components is not wanted */
    if ((config->parts & (1u << i)) == 0
        || (config->operation != LWT_OPERATION_INVERSE
            && harness_range (h, 0, 7) == 0)) {
      if (harness_range (h, 0, 1) == 0)
        run->job.measured |= config->parameters & (1u << i);
      continue;
    }
    lwt_config_get_bands_size (config, &width, &height);
    place = (Place) harness_range (h, 0, N_PLACES - 1);
    make_rows (h, place, i == CVIS_SURFACE_PART_BANDS ? width : config->width,
        i == CVIS_SURFACE_PART_BANDS ? height : config->height,
        lwt_config_get_part_size (config, (CvisSurfacePart) i),
        i == CVIS_SURFACE_PART_MEASURED ? draw_step (h, config, place) : 1,
        &run->parts[i]);
    *plane = (LwtPlane){ run->parts[i].data, run->parts[i].stride,
      place == PINNED, place == ON_DEVICE, run->parts[i].step };
  }
}

/* --- comparison ----------------------------------------------------------- */

static gboolean
is_nan (LwtType type, gconstpointer sample)
{
  return type == LWT_TYPE_F32   ? isnan (*(const gfloat *) sample)
         : type == LWT_TYPE_F64 ? isnan (*(const gdouble *) sample)
                                : FALSE;
}

/* Compares bits; all NaNs count as equal. */
static void
compare_rows (Harness *h, const gchar *what, LwtType type, const Rows *rows,
    const guint8 *expected)
{
  static const HarnessType types[] = { HARNESS_F32, HARNESS_F64, HARNESS_I32 };

  for (guint y = 0; y < rows->height; y++)
    for (guint x = 0; x < rows->width; x++) {
      const guint8 *got =
          rows->host + y * rows->stride + x * rows->step * rows->bytes;
      const guint8 *want =
          expected + ((gsize) y * rows->width + x) * rows->bytes;
      gchar *name;

      if (memcmp (got, want, rows->bytes) == 0
          || (rows->bytes >= 4 && is_nan (type, got) && is_nan (type, want)))
        continue;
      name = g_strdup_printf ("%s at (%u, %u)", what, x, y);
      if (rows->bytes >= 4)
        harness_equal (h, name, types[type], want, got, 1);
      else
        harness_fail (h, "%s: %u, not %u", name, got[0], want[0]);
      g_free (name);
      return;
    }
}

/* Checks that the padding of the rows is unchanged. */
static void
check_gaps (Harness *h, const Rows *rows)
{
  const gsize row = rows->width * rows->step * rows->bytes;

  for (guint y = 0; y < rows->height; y++)
    for (gsize i = 0; i < rows->stride; i++)
      if ((i >= row || i / rows->bytes % rows->step > 0)
          && rows->host[y * rows->stride + i] != 0xa7) {
        harness_fail (h, "behind row %u, byte %" G_GSIZE_FORMAT " was written",
            y, i - row);
        return;
      }
}

static void
compare_numbers (Harness *h, const LwtJob *expected, const LwtJob *got)
{
  harness_equal (
      h, "missing", HARNESS_I64, &expected->missing, &got->missing, 1);
  harness_equal (h, "offset", HARNESS_F64, &expected->offset, &got->offset, 1);
  harness_equal (h, "polynomial", HARNESS_F64, expected->polynomial,
      got->polynomial, G_N_ELEMENTS (got->polynomial));
  harness_equal (
      h, "threshold", HARNESS_F64, &expected->threshold, &got->threshold, 1);
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    harness_equal (h, "parameters", HARNESS_F64, &expected->parameters[i],
        &got->parameters[i], sizeof (CvisSurfaceParameters) / sizeof (gdouble));
}

static gboolean
submit_and_wait (
    Harness *h, const LwtBackendOps *ops, const LwtConfig *config, LwtJob *job)
{
  GError *error = NULL;
  LwtEngine *engine = lwt_engine_new_on (ops, config, NULL, &error);
  LwtJob *done;
  gboolean ok = engine != NULL && lwt_engine_submit (engine, job, &error)
                && lwt_engine_wait (engine, &done, &error);

  lwt_engine_free (engine);
  if (!ok)
    harness_fail (h, "%s", error->message);
  g_clear_error (&error);
  return ok;
}

static void
compare_run (Harness *h, const LwtConfig *config, Run *run)
{
  static const gchar *const names[] = { "measured", "noise", "roughness",
    "waviness", "form", "bands" };
  LwtJob expected = { .data = run->packed,
    .stride = run->in.width * run->in.bytes,
    .measured = run->job.measured };

  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++) {
    const Rows *rows = &run->parts[i];

    if (rows->data == NULL)
      continue;
    expected.parts[i].stride = rows->width * rows->bytes;
    expected.parts[i].data = g_malloc (expected.parts[i].stride * rows->height);
    if (rows->place == ON_DEVICE)
      HARNESS_CUDA (
          h, cudaMemcpy (rows->host, rows->data, rows->stride * rows->height,
                 cudaMemcpyDeviceToHost));
  }
  if (submit_and_wait (h,
          lwt_config_is_smoothing (config) ? &lwt_backend_cpu
                                           : &lwt_backend_reference,
          config, &expected)) {
    compare_numbers (h, &expected, &run->job);
    for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
      if (run->parts[i].data != NULL) {
        compare_rows (
            h, names[i], config->type, &run->parts[i], expected.parts[i].data);
        check_gaps (h, &run->parts[i]);
      }
  }
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    g_free (expected.parts[i].data);
}

/* --- runs ----------------------------------------------------------------- */

/* Submits all surfaces, as many in flight as allowed, with waits at random. */
static gboolean
run_all (GRand *random, const LwtConfig *config, LwtEngine *engine, Run *runs,
    guint n, GError **error)
{
  guint submitted = 0, waited = 0;
  LwtJob *job;

  while (waited < n) {
    const guint in_flight = submitted - waited;
    const gboolean room = submitted < n && in_flight < config->depth_in_flight;

    if (room && (in_flight == 0 || g_rand_int_range (random, 0, 3) > 0)) {
      if (!lwt_engine_submit (engine, &runs[submitted].job, error))
        return FALSE;
      submitted++;
    } else {
      if (!lwt_engine_wait (engine, &job, error))
        return FALSE;
      g_assert_true (job == &runs[waited].job);
      waited++;
    }
  }
  return TRUE;
}

typedef enum {
  WHOLE,
  MAY_NOT_FIT,
  SPLIT, /* over the device, twice */
} Mode;

static LwtEngine *
new_engine (Harness *h, const LwtConfig *config, Mode mode, GError **error)
{
  static const CvisFleetOwner owner = { .balance = CVIS_BALANCE_QUEUE };
  static CvisDevices devices;

  if (mode != SPLIT)
    return lwt_engine_new_on (
        &lwt_backend_cuda, config, harness_context (h), error);
  devices.n = 2;
  for (guint i = 0; i < devices.n; i++)
    devices.devices[i] =
        (CvisDevice){ .name = "a device", .context = harness_context (h) };
  return lwt_engine_new_over (config, &devices, &owner, error);
}

/* Row blocks of a surface in device memory are refused if the host has work to do. */
static gboolean
may_refuse (Mode mode, const Run *runs, guint n)
{
  gboolean on_device = FALSE;

  for (guint i = 0; i < n; i++) {
    on_device |= runs[i].job.on_device;
    for (guint k = 0; k < CVIS_SURFACE_N_PARTS; k++)
      on_device |= runs[i].job.parts[k].on_device;
  }
  return mode == SPLIT && on_device;
}

static void
run_case (
    Harness *h, GRand *random, const LwtConfig *config, guint n, Mode mode)
{
  GError *error = NULL;
  Run runs[N_JOBS];
  LwtEngine *engine = new_engine (h, config, mode, &error);

  if (engine == NULL) {
    if (mode == WHOLE
        || (error->code != CVIS_ERROR_MEMORY
            && error->code != CVIS_ERROR_INVALID))
      harness_fail (h, "%s", error->message);
    g_clear_error (&error);
    return;
  }
  for (guint i = 0; i < n; i++)
    make_run (h, random, config, &runs[i]);
  if (mode == SPLIT)
    HARNESS_CUDA (h, cudaDeviceSynchronize ());
  if (!run_all (random, config, engine, runs, n, &error)) {
    if (error->code != CVIS_ERROR_INVALID || !may_refuse (mode, runs, n))
      harness_fail (h, "%s", error->message);
    g_clear_error (&error);
  } else {
    for (guint i = 0; i < n; i++)
      compare_run (h, config, &runs[i]);
  }
  lwt_engine_free (engine);
}

static void
name_case (Harness *h, guint round, const LwtConfig *config)
{
  harness_case (h,
      "round %u: %s, operation %d, %ux%u, levels %u,%u roughness %u,%u noise "
      "%u,%u, boundary %d, type %d, sample %d, layout %d, f-operation %d, "
      "parts 0x%x, spins %u",
      round, config->wavelet->name, config->operation, config->width,
      config->height, config->levels[0], config->levels[1],
      config->levels_roughness[0], config->levels_roughness[1],
      config->levels_noise[0], config->levels_noise[1], config->boundary,
      config->type, config->sample, config->layout, config->f_operation,
      config->parts, config->spins);
}

/* lwt_random_config(). With CUDAVISION_JIT=wait each structure of steps,
 * type and boundary is compiled, so all tests of a run share two wavelets,
 * chosen by the seed; the first supports integers. */
static void
draw_config (
    Harness *h, GRand *random, guint round, guint max_side, LwtConfig *config)
{
  static const gchar *const usual[2][4] = {
    { "haar", "5/3", "cdf7/5", "dd13/7" }, { "db2", "9/7", "db4", "sym4" }
  };
  const guint64 seed = harness_seed (h);
  const gboolean few = g_strcmp0 (g_getenv ("CUDAVISION_JIT"), "wait") == 0;

  lwt_random_config (random, round, max_side, config);
  while (few && strcmp (config->wavelet->name, usual[0][seed % 4]) != 0
         && strcmp (config->wavelet->name, usual[1][seed / 4 % 4]) != 0) {
    lwt_wavelet_free ((LwtWavelet *) config->wavelet);
    lwt_random_config (random, round, max_side, config);
  }
}

static void
check_against_reference (Harness *h)
{
  for (guint round = 0; round < 216; round++) {
    GRand *random = g_rand_new_with_seed ((guint32) harness_random (h));
    LwtConfig config;

    draw_config (h, random, round, round % 9 == 0 ? 500 : 150, &config);
    name_case (h, round, &config);
    run_case (h, random, &config, round % 9 == 0 ? 2 : N_JOBS, WHOLE);
    lwt_wavelet_free ((LwtWavelet *) config.wavelet);
    g_rand_free (random);
  }
}

static void
check_blocks_of (Harness *h, Mode mode)
{
  for (guint round = 0; round < 96; round++) {
    GRand *random = g_rand_new_with_seed ((guint32) harness_random (h));
    LwtConfig config;

    draw_config (h, random, round, 100, &config);
    config.height = MIN (64 * (guint) harness_range (h, 1, 16), 700);
    config.levels[1] = MIN (config.levels[1], 3);
    config.levels_roughness[1] = MIN (config.levels_roughness[1], 2);
    config.levels_noise[1] = MIN (config.levels_noise[1], 1);
    config.spins = MIN (config.spins, 2);
    config.device_memory = (guint64) harness_range (h, 100, 1000) << 10;
    config.split_samples = 1;
    if (lwt_config_check (&config, NULL)) {
      name_case (h, round, &config);
      run_case (h, random, &config, 2, mode);
    }
    lwt_wavelet_free ((LwtWavelet *) config.wavelet);
    g_rand_free (random);
  }
}

/* Surfaces larger than the device memory that the engine may use. */
static void
check_row_blocks (Harness *h)
{
  check_blocks_of (h, MAY_NOT_FIT);
}

/* The same, and smaller ones, shared by devices. */
static void
check_splitter (Harness *h)
{
  check_blocks_of (h, SPLIT);
}

/* A surface with more rows and columns than any thread block covers. */
static void
check_large (Harness *h)
{
  static const guint sizes[][2] = { { 2048, 1037 }, { 4100, 33 }, { 7, 5000 } };

  for (guint round = 0; round < 12; round++) {
    GRand *random = g_rand_new_with_seed ((guint32) harness_random (h));
    LwtConfig config;

    draw_config (h, random, round, 100, &config);
    config.width = sizes[round % 3][0];
    config.height = sizes[round % 3][1];
    config.spins = MIN (config.spins, 2);
    if (lwt_config_check (&config, NULL)) {
      name_case (h, round, &config);
      run_case (h, random, &config, 1, WHOLE);
    }
    lwt_wavelet_free ((LwtWavelet *) config.wavelet);
    g_rand_free (random);
  }
}

/* Several engines share a context. */
static void
check_engines (Harness *h)
{
  GRand *random = g_rand_new_with_seed ((guint32) harness_random (h));

  for (guint round = 0; round < 8; round++) {
    LwtConfig config;
    LwtEngine *other;

    draw_config (h, random, round * 5, 60, &config);
    name_case (h, round, &config);
    other = lwt_engine_new_on (
        &lwt_backend_cuda, &config, harness_context (h), NULL);
    run_case (h, random, &config, 3, WHOLE);
    lwt_engine_free (other);
    lwt_wavelet_free ((LwtWavelet *) config.wavelet);
  }
  g_rand_free (random);
}

/* Filters with cut-offs of any length against the CPU backend. */
static void
check_filters (Harness *h)
{
  for (guint round = 0; round < 120; round++) {
    /* some with more rows or columns than a tile */
    static const guint sizes[][2] = { { 2048, 1037 }, { 11000, 3 },
      { 7, 5000 } };
    GRand *random = g_rand_new_with_seed ((guint32) harness_random (h));
    LwtConfig config;

    /* every fourth round filters */
    draw_config (h, random, 4 * round, round % 9 == 0 ? 500 : 150, &config);
    if (round % 7 == 5) {
      config.width = sizes[round / 7 % 3][0];
      config.height = sizes[round / 7 % 3][1];
    }
    config.filter = round % 2 == 0 ? LWT_FILTER_GAUSSIAN : LWT_FILTER_WAVELET;
    config.parts &= ~(1u << CVIS_SURFACE_PART_BANDS);
    config.parts |= 1u << CVIS_SURFACE_PART_ROUGHNESS;
    for (guint axis = 0; axis < 2; axis++) {
      const guint side = axis == 0 ? config.width : config.height;
      gdouble cutoff = 2.0;

      for (guint i = 0; i < 3; i++) {
        cutoff *= exp (g_rand_double_range (random, 0.1, 2.0));
        config.cutoffs[i][axis] = MIN (cutoff, MAX (side, 2));
      }
    }
    name_case (h, round, &config);
    run_case (h, random, &config, round % 9 == 0 ? 2 : N_JOBS, WHOLE);
    lwt_wavelet_free ((LwtWavelet *) config.wavelet);
    g_rand_free (random);
  }
}

int
main (int argc, char **argv)
{
  static const HarnessTest tests[] = {
    { "lifting-reference", check_against_reference, NULL },
    { "lifting-row-blocks", check_row_blocks, NULL },
    { "lifting-splitter", check_splitter, NULL },
    { "lifting-large", check_large, NULL },
    { "lifting-engines", check_engines, NULL },
    { "lifting-filters", check_filters, NULL },
    { NULL, NULL, NULL },
  };

  return harness_main (argc, argv, tests);
}
