/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The ladder of the paper's experiment 5 (Y. Xu et al., Signal Processing 165, 2019) with
 * posed devices: threads that wait as long as a device would compute a chunk. Rows: the
 * slow device alone, a fast one alone, equal division, the older balancer of five inputs
 * (both networks start without measurements in each run), the eight-input balancer, the
 * queue. Beside each time stands that of the ideal split: the least time in which these
 * devices, with the mean times of chunks that were measured in the same row, compute that
 * many whole chunks.
 *
 *   bench_balance [--chunks=N] [--chunk-us=N] [--depth=N] [--rounds=N] [--spin]
 *                 [--devices=LIST] [--side=N] [--csv=FILE]
 *
 * --devices: CUDA devices ("all", "0,1") instead of threads, with surfaces of --side
 * squared in their memory as chunks (benchdevices.h). Device 0 is the slow one: it computes
 * each chunk k times, or does other work besides.
 *
 * The rows alternate; medians over rounds. --chunk-us: of the fast device. --spin: the
 * threads compute instead of sleeping, which needs a processor for each device. --csv: a
 * line for each chunk, for scripts/train-balancer. */
#include <math.h>
#include <stdlib.h>

#include "balancer5.h"
#ifdef CVIS_CUDA_RUNTIME
#include "benchdevices.h"
#endif
#include "benchfleet.h"
#include "tests/bench/meltpool/benchring.h"
#include "cuda/core/histogram.h"

static gint n_chunks = 240, chunk_us = 2000, depth = 2, rounds = 3;
static gboolean spin;
static gchar *csv_path;
#ifdef CVIS_CUDA_RUNTIME
static gchar *device_ids;
static gint side = 8192;
#endif

static GOptionEntry entries[] = {
  { "chunks", 0, 0, G_OPTION_ARG_INT, &n_chunks, "chunks of a run", "N" },
  { "chunk-us", 0, 0, G_OPTION_ARG_INT, &chunk_us,
      "time of a chunk on the fast device, microseconds", "N" },
  { "depth", 0, 0, G_OPTION_ARG_INT, &depth, "chunks in flight on a device",
      "N" },
  { "rounds", 0, 0, G_OPTION_ARG_INT, &rounds, "repetitions of each row", "N" },
  { "spin", 0, 0, G_OPTION_ARG_NONE, &spin, "compute instead of sleeping",
      NULL },
#ifdef CVIS_CUDA_RUNTIME
  { "devices", 0, 0, G_OPTION_ARG_STRING, &device_ids, "CUDA devices", "LIST" },
  { "side", 0, 0, G_OPTION_ARG_INT, &side, "side of their surfaces", "N" },
#endif
  { "csv", 0, 0, G_OPTION_ARG_FILENAME, &csv_path, "times of all chunks",
      "FILE" },
  { NULL },
};

/* --- posed devices -------------------------------------------------------- */

/* Device 0 is the slow one. */
typedef struct {
  const gchar *name;
  guint n_devices, ratio;
  gboolean posed; /* the ratio is a repetition that the traits do not show */
  CvisDeviceTraits slow, fast;
} Case;

/* Table 3 of the paper; rates and bytes that it does not print are the vendor's. */
#define GTX_750_TI                                                             \
  {                                                                            \
    1.39e12, 2e9, 5, 86.4e9, 1.085e9                                           \
  }
#define GTX_1080                                                               \
  {                                                                            \
    8.87e12, 8e9, 20, 320e9, 1.733e9                                           \
  }

static const Case cases[] = {
  { "1 : 1", 2, 1, TRUE, GTX_1080, GTX_1080 },
  { "2 : 1", 2, 2, TRUE, GTX_1080, GTX_1080 },
  { "4 : 1", 2, 4, TRUE, GTX_1080, GTX_1080 },
  { "6 : 1, one slow and three fast", 4, 6, FALSE, GTX_750_TI, GTX_1080 },
};

typedef struct {
  guint ratio;
} Posed;

static gboolean
compute_posed (gpointer user_data, guint device, guint chunk, GError **error)
{
  const Posed *posed = user_data;
  guint64 us = (guint64) chunk_us * (device == 0 ? posed->ratio : 1);
  guint64 end = cvis_monotonic_ns () + us * 1000;

  (void) chunk;
  (void) error;
  if (!spin)
    g_usleep (us);
  while (spin && cvis_monotonic_ns () < end)
    ;
  return TRUE;
}

static void
fleet_init (BenchFleet *fleet, const Case *c, Posed *posed)
{
  *fleet = (BenchFleet){ .source = "threads",
    .n_devices = c->n_devices,
    .compute = compute_posed,
    .user_data = posed };
  posed->ratio = c->ratio;
  for (guint d = 0; d < c->n_devices; d++) {
    fleet->traits[d] = d == 0 ? c->slow : c->fast;
    fleet->slowdown[d] = d == 0 && c->posed ? c->ratio : 1;
  }
}

/* --- the ladder ----------------------------------------------------------- */

typedef enum { SLOW, FAST, EQUAL, FIVE, EIGHT, QUEUE, N_ROWS } Row;
static const gchar *const row_names[N_ROWS] = { "slow device alone",
  "fast device alone", "equal", "five inputs", "eight inputs (fuzzy)",
  "queue" };

static CvisBalancer *
make_balancer (const BenchFleet *fleet, guint row)
{
  CvisBalancer *balancer;

  if (row == FIVE)
    return cvis_balancer_new_with_network (
        fleet->n_devices, fleet->traits, &bench_balancer5);
  balancer = cvis_balancer_new (row == EQUAL   ? CVIS_BALANCE_EQUAL
                                : row == EIGHT ? CVIS_BALANCE_FUZZY
                                               : CVIS_BALANCE_QUEUE,
      fleet->n_devices, fleet->traits);
  for (guint d = 0; d < fleet->n_devices; d++)
    if ((row == SLOW && d != 0) || (row == FAST && d != 1))
      cvis_balancer_lose (balancer, d);
  return balancer;
}

/* Seconds of the ideal split of whole chunks: each one to the device that completes it
 * first, with the mean time of a chunk on each device of these results. */
static gdouble
compute_ideal (const BenchFleetResult *result, guint n_devices)
{
  gdouble ready[BENCH_FLEET_MAX] = { 0 }, end = 0;

  for (gint i = 0; i < n_chunks; i++) {
    gint first = -1;
    gdouble time = 0;

    for (guint d = 0; d < n_devices; d++) {
      gdouble t;

      if (result->chunks[d] == 0)
        continue;
      t = ready[d] + result->busy[d] / result->chunks[d];
      if (first < 0 || t < time) {
        first = (gint) d;
        time = t;
      }
    }
    ready[first] = time;
    end = MAX (end, time);
  }
  return end;
}

typedef struct {
  gdouble *seconds, *ideal,
      *share; /* of each round; share of the slow device */
} Series;

static void
print_case (const gchar *name, Series *series)
{
  gdouble equal = bench_median (series[EQUAL].seconds, (guint) rounds);

  for (guint row = 0; row < N_ROWS; row++) {
    gdouble seconds = bench_median (series[row].seconds, (guint) rounds);
    gdouble ideal = bench_median (series[row].ideal, (guint) rounds);

    printf ("| %s | %s | %.1f | %.1f | %.1f | %.2f | %.1f |\n", name,
        row_names[row], seconds * 1e3, ideal * 1e3, ideal / seconds * 100,
        equal / seconds,
        bench_median (series[row].share, (guint) rounds) * 100);
  }
  fflush (stdout);
}

static gboolean
measure_case (
    const gchar *name, BenchFleet *fleet, FILE *csv, guint *run, GError **error)
{
  Series series[N_ROWS];
  gboolean ok = TRUE;

  for (guint row = 0; row < N_ROWS; row++) {
    series[row].seconds = g_new0 (gdouble, rounds);
    series[row].ideal = g_new0 (gdouble, rounds);
    series[row].share = g_new0 (gdouble, rounds);
  }
  for (guint round = 0; ok && round < (guint) rounds; round++)
    for (guint row = 0; ok && row < N_ROWS; row++) {
      CvisBalancer *balancer = make_balancer (fleet, row);
      BenchFleetResult result;

      ok = bench_fleet_run (fleet, balancer, (guint) n_chunks, (guint) depth,
          row >= EQUAL ? csv : NULL, (*run)++, &result, error);
      if (ok) {
        series[row].seconds[round] = result.seconds;
        series[row].ideal[round] = compute_ideal (&result, fleet->n_devices);
        series[row].share[round] = (gdouble) result.chunks[0] / n_chunks;
      }
      cvis_balancer_free (balancer);
    }
  if (ok)
    print_case (name, series);
  for (guint row = 0; row < N_ROWS; row++) {
    g_free (series[row].seconds);
    g_free (series[row].ideal);
    g_free (series[row].share);
  }
  return ok;
}

static void
print_head (const gchar *devices)
{
  printf (
      "%s. %d chunks, %d in flight on a device; median of %d rounds.\n\n"
      "| devices | policy | time (ms) | ideal split (ms) | ideal / time (%%) "
      "| speed-up over equal division | chunks on the slow device (%%) "
      "|\n|---|---|---|---|---|---|---|\n",
      devices, n_chunks, depth, rounds);
}

static gboolean
run_threads (FILE *csv, GError **error)
{
  gchar *head = g_strdup_printf ("Threads that %s, %.1f ms for a chunk on the "
                                 "fast device",
      spin ? "compute" : "sleep", chunk_us * 1e-3);
  guint run = 0;
  gboolean ok = TRUE;

  print_head (head);
  g_free (head);
  for (guint i = 0; ok && i < G_N_ELEMENTS (cases); i++) {
    BenchFleet fleet;
    Posed posed;

    fleet_init (&fleet, &cases[i], &posed);
    ok = measure_case (cases[i].name, &fleet, csv, &run, error);
  }
  return ok;
}

#ifdef CVIS_CUDA_RUNTIME
static gboolean
run_devices (FILE *csv, GError **error)
{
  BenchDevices *devices = bench_devices_new (device_ids, (guint) side, error);
  gchar *head;
  BenchFleet fleet;
  guint run = 0;
  gboolean ok = TRUE;

  if (devices == NULL)
    return FALSE;
  bench_devices_init_fleet (devices, &fleet);
  head = g_strdup_printf (
      "%u CUDA devices, surfaces of %d x %d", fleet.n_devices, side, side);
  print_head (head);
  g_free (head);
  for (guint k = 1; ok && k <= 4; k *= 2) {
    gchar *name = g_strdup_printf ("%u : 1", k);

    fleet.slowdown[0] = k;
    ok = measure_case (name, &fleet, csv, &run, error);
    g_free (name);
  }
  fleet.slowdown[0] = 1;
  ok = ok && bench_devices_start_other (devices, error);
  if (ok) {
    ok = measure_case ("other work on device 0", &fleet, csv, &run, error);
    bench_devices_stop_other (devices);
  }
  bench_devices_free (devices);
  return ok;
}
#endif

static gboolean
run_all (FILE *csv, GError **error)
{
#ifdef CVIS_CUDA_RUNTIME
  if (device_ids != NULL)
    return run_devices (csv, error);
#endif
  return run_threads (csv, error);
}

static int
run_ladder (void)
{
  GError *error = NULL;
  FILE *csv = NULL;
  gboolean ok;

  if (csv_path != NULL && (csv = fopen (csv_path, "w")) == NULL) {
    fprintf (stderr, "bench_balance: cannot write %s\n", csv_path);
    return 1;
  }
  if (csv != NULL)
    bench_fleet_write_header (csv);
  ok = run_all (csv, &error);
  if (!ok) {
    fprintf (stderr, "bench_balance: %s\n", error->message);
    g_error_free (error);
  }
  if (csv != NULL)
    fclose (csv);
  return !ok;
}

int
main (int argc, char **argv)
{
  GOptionContext *options = g_option_context_new (NULL);
  GError *error = NULL;
  gboolean ok;

  g_option_context_add_main_entries (options, entries, NULL);
  ok = g_option_context_parse (options, &argc, &argv, &error);
  g_option_context_free (options);
  if (!ok || n_chunks < 1 || chunk_us < 1 || depth < 1 || rounds < 1) {
    fprintf (stderr, "bench_balance: %s\n",
        error != NULL ? error->message : "a number is less than 1");
    return 2;
  }
  return run_ladder ();
}
