/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The lifting engine on the CPU: milliseconds of a forward and an inverse
 * transform of float32 by wavelet, size and threads, and of a filter with
 * roughness, waviness and form, or with roughness alone, without areal
 * parameters, with those of heights (filter-sa), and also with those of
 * slopes (filter-sdr), compared with a copy of the same number of bytes in
 * the same number of threads. The variants alternate. Prints best and median
 * over rounds, the minimum processor time of all threads (less sensitive to
 * other load), and the medians of the ratios to the copy and to the filter
 * of the same round.
 *
 *   bench_lifting_cpu [--wavelet=NAME] [--size=N] [--threads=N] [--levels=N]
 *     [--rounds=N] [--way=NAME] [--components=1|3]
 *
 * CUDAVISION_CPU=generic|v3|v4 chooses the instruction set. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cuda/core/histogram.h"
#include "cuda/lifting/cpu/cpu.h"

static gchar *only_wavelet, *only_way;
static gint only_size, only_threads = -1, levels = 4, rounds = 9;
static gint components = 3;

#define COPY_ROWS 16 /* rows that a thread takes at a time */
#define COPY 0
#define FILTER 3
#define N_WAYS 6

/* --- a surface ------------------------------------------------------------ */

typedef struct {
  guint size;
  gsize bytes;
  gfloat *from, *to, *parts[3];
} Surface;

static gfloat *
new_picture (gsize bytes)
{
  gfloat *picture = cvis_memory_new (bytes, TRUE, NULL);

  if (picture == NULL)
    g_error ("no memory for a surface");
  return picture;
}

static void
surface_init (Surface *surface, guint size)
{
  surface->size = size;
  surface->bytes = sizeof (gfloat) * size * size;
  surface->from = new_picture (surface->bytes);
  surface->to = new_picture (surface->bytes);
  for (guint i = 0; i < 3; i++)
    surface->parts[i] = new_picture (surface->bytes);
  for (guint y = 0; y < size; y++)
    for (guint x = 0; x < size; x++) {
      const guint32 noise = (x * 0x9e3779b1u ^ y * 0x85ebca77u) * 0x2c1b3c6du;

      surface->from[(gsize) y * size + x] =
          (gfloat) (1e-6 * sin (0.01 * x) + 3e-7 * cos (0.02 * y)
                    + 1e-16 * (gdouble) (noise >> 8));
    }
}

static void
surface_clear (Surface *surface)
{
  free (surface->from);
  free (surface->to);
  for (guint i = 0; i < 3; i++)
    free (surface->parts[i]);
}

/* --- variants ------------------------------------------------------------ */

typedef struct {
  const gchar *name;
  LwtOperation operation;
  gboolean measured;
  gdouble spacing;
  LwtEngine *engine; /* %NULL: a copy */
  LwtJob job;
  gdouble *ms, *work; /* elapsed and processor time */
} Way;

typedef struct {
  const Surface *surface;
  CvisPool *pool;
} Copy;

static void
copy_rows (guint first, guint count, gpointer user_data)
{
  const Surface *surface = ((const Copy *) user_data)->surface;
  const gsize at = (gsize) first * surface->size;

  memcpy (surface->to + at, surface->from + at,
      sizeof (gfloat) * surface->size * count);
}

static void
way_open (Way *way, Surface *surface, const LwtWavelet *wavelet, guint threads)
{
  const gsize stride = sizeof (gfloat) * surface->size;
  GError *error = NULL;
  LwtConfig config;

  lwt_config_init (&config);
  config.width = config.height = surface->size;
  config.operation = way->operation;
  config.wavelet = wavelet;
  config.threads = threads;
  config.levels[0] = config.levels[1] = (guint) levels;
  way->job.data = surface->from;
  way->job.stride = stride;
  if (way->operation == LWT_OPERATION_FILTER) {
    config.levels[0] = config.levels[1] = 6;
    config.parts = 0;
    for (gint i = 0; i < components; i++) {
      config.parts |= 1u << (CVIS_SURFACE_PART_ROUGHNESS + i);
      way->job.parts[CVIS_SURFACE_PART_ROUGHNESS + i] =
          (LwtPlane){ .data = surface->parts[i], .stride = stride };
    }
    config.parameters = way->measured ? config.parts : 0;
    config.dx = config.dy = way->spacing;
  } else {
    const CvisSurfacePart part = way->operation == LWT_OPERATION_FORWARD
                                     ? CVIS_SURFACE_PART_BANDS
                                     : CVIS_SURFACE_PART_MEASURED;

    config.parts = 1u << part;
    way->job.parts[part] = (LwtPlane){ .data = surface->to, .stride = stride };
  }
  way->engine = lwt_engine_new_on (&lwt_backend_cpu, &config, NULL, &error);
  if (way->engine == NULL)
    g_error ("%s", error->message);
}

/* Processor time of the program so far, milliseconds. */
static gdouble
processor_ms (void)
{
  struct timespec t;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &t);
  return (gdouble) t.tv_sec * 1e3 + (gdouble) t.tv_nsec / 1e6;
}

static void
way_run (Way *way, Copy *copy, guint round)
{
  const gdouble begin = processor_ms ();
  const guint64 start = cvis_monotonic_ns ();
  LwtJob *done;

  if (way->engine == NULL)
    cvis_pool_run (copy->pool, copy->surface->size, COPY_ROWS, copy_rows, copy);
  else if (!lwt_engine_submit (way->engine, &way->job, NULL)
           || !lwt_engine_wait (way->engine, &done, NULL))
    g_error ("%s: no result", way->name);
  way->ms[round] = (gdouble) (cvis_monotonic_ns () - start) / 1e6;
  way->work[round] = processor_ms () - begin;
}

static gboolean
is_wanted (const Way *way)
{
  return only_way == NULL || strcmp (way->name, "copy") == 0
         || g_str_has_prefix (way->name, only_way);
}

/* --- figures -------------------------------------------------------------- */

static int
compare_doubles (const void *a, const void *b)
{
  const gdouble l = *(const gdouble *) a, r = *(const gdouble *) b;

  return (l > r) - (l < r);
}

static gdouble
median_of (const gdouble *values)
{
  gdouble sorted[1000];

  memcpy (sorted, values, (gsize) rounds * sizeof *sorted);
  qsort (sorted, (gsize) rounds, sizeof *sorted, compare_doubles);
  return sorted[rounds / 2];
}

static gdouble
best_of (const gdouble *values)
{
  gdouble best = values[0];

  for (gint i = 1; i < rounds; i++)
    best = MIN (best, values[i]);
  return best;
}

/* Median over rounds */
static gdouble
get_ratio (const Way *way, const Way *to)
{
  gdouble ratios[1000];

  for (gint r = 0; r < rounds; r++)
    ratios[r] = way->ms[r] / to->ms[r];
  return median_of (ratios);
}

static void
print (const gchar *wavelet, guint size, guint threads, const Way *ways)
{
  for (guint i = 0; i < N_WAYS; i++) {
    if (!is_wanted (&ways[i]))
      continue;
    printf ("%-6s %6u %7u  %-10s %9.2f %9.2f %9.2f %9.2f", wavelet, size,
        threads, ways[i].name, best_of (ways[i].ms), median_of (ways[i].ms),
        best_of (ways[i].work), get_ratio (&ways[i], &ways[COPY]));
    if (i > FILTER && is_wanted (&ways[FILTER]))
      printf (" %9.2f", get_ratio (&ways[i], &ways[FILTER]));
    printf ("\n");
  }
  fflush (stdout);
}

static void
bench (Surface *surface, const gchar *name, guint threads)
{
  Way ways[N_WAYS] = { { .name = "copy" },
    { .name = "forward", .operation = LWT_OPERATION_FORWARD },
    { .name = "inverse", .operation = LWT_OPERATION_INVERSE },
    { .name = "filter", .operation = LWT_OPERATION_FILTER },
    { "filter-sa", LWT_OPERATION_FILTER, TRUE, 0.0 },
    { "filter-sdr", LWT_OPERATION_FILTER, TRUE, 1e-6 } };
  Copy copy = { surface, cvis_pool_new (threads) };
  GError *error = NULL;
  LwtWavelet *wavelet = lwt_wavelet_new (name, &error);

  if (wavelet == NULL)
    g_error ("%s", error->message);
  for (guint i = 0; i < N_WAYS; i++) {
    if (!is_wanted (&ways[i]))
      continue;
    if (i > 0)
      way_open (&ways[i], surface, wavelet, threads);
    ways[i].ms = g_new (gdouble, rounds);
    ways[i].work = g_new (gdouble, rounds);
    way_run (&ways[i], &copy, 0);
  }
  for (gint r = 0; r < rounds; r++)
    for (guint i = 0; i < N_WAYS; i++)
      if (is_wanted (&ways[i]))
        way_run (&ways[i], &copy, (guint) r);
  print (name, surface->size, threads, ways);
  for (guint i = 0; i < N_WAYS; i++) {
    lwt_engine_free (ways[i].engine);
    g_free (ways[i].ms);
    g_free (ways[i].work);
  }
  cvis_pool_free (copy.pool);
  lwt_wavelet_free (wavelet);
}

int
main (int argc, char **argv)
{
  const GOptionEntry entries[] = {
    { "wavelet", 0, 0, G_OPTION_ARG_STRING, &only_wavelet, "Only this wavelet",
        "NAME" },
    { "size", 0, 0, G_OPTION_ARG_INT, &only_size, "Only surfaces of this size",
        "N" },
    { "threads", 0, 0, G_OPTION_ARG_INT, &only_threads,
        "Only this number of threads", "N" },
    { "levels", 0, 0, G_OPTION_ARG_INT, &levels,
        "Levels of forward and inverse", "N" },
    { "way", 0, 0, G_OPTION_ARG_STRING, &only_way,
        "Only the copy and variants whose names begin so", "NAME" },
    { "components", 0, 0, G_OPTION_ARG_INT, &components,
        "Of the filter: 1: roughness, 3: also waviness and form", "N" },
    { "rounds", 0, 0, G_OPTION_ARG_INT, &rounds, "Rounds, up to 1000", "N" },
    { NULL },
  };
  static const gchar *const wavelets[] = { "haar", "db2", "9/7", "db10" };
  static const guint sizes[] = { 1024, 2048, 4096, 8192 };
  const guint processors = g_get_num_processors ();
  const guint threads[] = { 1, 2, processors };
  GOptionContext *context = g_option_context_new (NULL);
  GError *error = NULL;

  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error)) {
    fprintf (stderr, "%s\n", error->message);
    return 1;
  }
  g_option_context_free (context);
  rounds = CLAMP (rounds, 1, 1000);
  components = CLAMP (components, 1, 3);
  printf (
      "float32, %d levels (filter: 6), %s\n", levels, lwt_cpu_kernels ()->name);
  printf ("%-6s %6s %7s  %-10s %9s %9s %9s %9s %9s\n", "", "size", "threads",
      "", "best ms", "median ms", "cpu ms", "of copy", "of filter");
  for (guint s = 0; s < G_N_ELEMENTS (sizes); s++) {
    Surface surface;

    if (only_size > 0 && s > 0)
      break;
    surface_init (&surface, only_size > 0 ? (guint) only_size : sizes[s]);
    for (guint w = 0; w < G_N_ELEMENTS (wavelets); w++)
      for (guint t = 0; t < G_N_ELEMENTS (threads); t++)
        if ((only_wavelet == NULL || strcmp (only_wavelet, wavelets[w]) == 0)
            && (only_threads < 0 || threads[t] == (guint) only_threads)
            && (t < 2 || processors > 2))
          bench (&surface, wavelets[w], threads[t]);
    surface_clear (&surface);
  }
  return 0;
}
