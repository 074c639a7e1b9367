/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The table of the paper (see cuda/motion/engine.h) for real clips, in
 * Markdown: for full search, step search and zonal search on every backend
 * the residue, the time for each frame including copies to and from the
 * device, the prediction loss (residue divided by that of the full search),
 * the speed-up and the normalised gain (speed-up / prediction loss) against
 * four baselines on the same machine:
 *
 *   scalar      plain C, -O2 without vector instructions, one thread
 *   SIMD        the CPU backend, every candidate, one thread
 *   pruned      the CPU backend with elimination, one thread
 *   pruned, all the same with all threads
 *
 * Blocks of 32, range 64 half-open (16,384 candidates), border padded. All
 * methods alternate in rounds (--rounds of them at 1080 rows, more on
 * smaller frames); the minimum time of each frame counts. The scalar search
 * runs once, for frame 1, in processor time of its thread.
 *
 *   bench_motion_table [--rounds=N] [--frames=N] [--no-scalar] [--csv=FILE]
 *                      [CLIP.y4m...]
 *
 * Default clips: those of scripts/fetch-clips. --csv: a line for each
 * measurement: clip, width, height, method, backend, threads, ms, residue. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "motionrunner.h"
#include "motionscalar.h"

typedef struct {
  const gchar *name;
  MotionMethod method;
  MotionGranularity granularity;
} Method;

static const Method methods[] = {
  { "FSBM, every candidate", MOTION_METHOD_FULL_BRUTE, 0 },
  { "FSBM, pruned", MOTION_METHOD_FULL, 0 },
  { "SS 3x3", MOTION_METHOD_STEP, MOTION_GRANULARITY_1 },
  { "SS 7x7", MOTION_METHOD_STEP, MOTION_GRANULARITY_2 },
  { "SS 13x13", MOTION_METHOD_STEP, MOTION_GRANULARITY_PAPER_13 },
  { "SS 15x15", MOTION_METHOD_STEP, MOTION_GRANULARITY_3 },
  { "TZS", MOTION_METHOD_ZONAL, 0 },
};
#define N_METHODS G_N_ELEMENTS (methods)

typedef enum { CPU_ONE, CPU_ALL, CUDA } Where;
#define N_WHERES 3

/* Baselines, milliseconds a frame; 0: not measured. */
typedef struct {
  gdouble scalar, simd, pruned, pruned_all;
} Baselines;

static gint rounds = 5, max_frames = 100;
static gboolean no_scalar;
static gchar *csv_path;
static gchar **paths;
static FILE *csv;

static GOptionEntry entries[] = {
  { "rounds", 0, 0, G_OPTION_ARG_INT, &rounds, "passes over each clip", "N" },
  { "frames", 0, 0, G_OPTION_ARG_INT, &max_frames, "frames of each clip", "N" },
  { "no-scalar", 0, 0, G_OPTION_ARG_NONE, &no_scalar,
      "skip the scalar baseline", NULL },
  { "csv", 0, 0, G_OPTION_ARG_FILENAME, &csv_path, "measurements", "FILE" },
  { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &paths, NULL,
      "CLIP.y4m" },
  { NULL },
};

static void
set_config (MotionConfig *config, const MotionClip *clip, guint m, Where where)
{
  motion_config_init (config);
  config->width = clip->width;
  config->height = clip->height;
  config->depth = clip->depth;
  config->block_size = 32;
  config->range = 64;
  config->tie = MOTION_TIE_RASTER; /* as in the scalar baseline */
  config->method = methods[m].method;
  config->granularity = methods[m].granularity;
  config->threads = where == CPU_ONE ? 1 : 0;
  config->depth_in_flight = 1;
}

/* The samples that are searched: the upper 8 bits. */
static guint8 *
eight_bits (const MotionClip *clip, guint frame)
{
  gsize n = (gsize) clip->width * clip->height;
  const guint16 *deep = (const guint16 *) clip->luma[frame];
  guint8 *plane = g_malloc (n);

  if (clip->depth == 8)
    memcpy (plane, clip->luma[frame], n);
  else
    for (gsize i = 0; i < n; i++)
      plane[i] = (guint8) (GUINT16_FROM_LE (deep[i]) >> 2);
  return plane;
}

static gdouble
processor_ms (void)
{
  struct timespec now;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
  return (gdouble) now.tv_sec * 1e3 + (gdouble) now.tv_nsec * 1e-6;
}

/* Milliseconds of the plain search of frame 1 in frame 0; @field has the
 * engine's vectors. */
static gdouble
time_scalar (const MotionClip *clip, const MotionField *field)
{
  MotionConfig config;
  CvisMotionVector *vectors;
  guint8 *current = eight_bits (clip, 1), *reference = eight_bits (clip, 0);
  guint n;
  gdouble start, ms;

  set_config (&config, clip, 0, CPU_ONE);
  n = motion_config_get_columns (&config) * motion_config_get_rows (&config);
  vectors = g_new0 (CvisMotionVector, n);
  start = processor_ms ();
  motion_scalar_full (&config, current, reference, vectors);
  ms = processor_ms () - start;
  for (guint i = 0; i < n; i++)
    if (vectors[i].x != field->vectors[i].x
        || vectors[i].y != field->vectors[i].y) {
      printf ("WRONG: %s, block %u: scalar (%d,%d), engine (%d,%d)\n",
          clip->name, i, vectors[i].x, vectors[i].y, field->vectors[i].x,
          field->vectors[i].y);
      break;
    }
  g_free (vectors);
  g_free (current);
  g_free (reference);
  return ms;
}

/* --- measuring a clip ----------------------------------------------------- */

typedef struct {
  const MotionClip *clip;
  CvisContext *context;
  MotionRunner *runner[N_WHERES][N_METHODS];
  gdouble scalar;
} Table;

static gboolean
measure (Table *table, GError **error)
{
  guint pixels = table->clip->width * table->clip->height;
  guint n = (guint) rounds * CLAMP (1920 * 1080 / pixels, 1, 20);

  for (guint w = 0; w < N_WHERES; w++)
    for (guint m = 0; m < N_METHODS; m++) {
      CvisContext *context = w == CUDA ? table->context : NULL;
      MotionConfig config;

      if (w == CUDA && context == NULL)
        continue;
      set_config (&config, table->clip, m, (Where) w);
      table->runner[w][m] =
          motion_runner_new (&config, context, table->clip, error);
      if (table->runner[w][m] == NULL)
        return FALSE;
    }
  for (guint r = 0; r < n; r++)
    for (guint w = 0; w < N_WHERES; w++)
      for (guint m = 0; m < N_METHODS; m++)
        if (table->runner[w][m]
            && !motion_runner_round (table->runner[w][m], error))
          return FALSE;
  if (!no_scalar)
    table->scalar = time_scalar (
        table->clip, motion_runner_get_field (table->runner[CPU_ONE][0], 1));
  return TRUE;
}

/* Every backend must find the same vectors, and the pruned search the same
 * as the unpruned one. */
static void
check (const Table *table)
{
  gchar *why;

  for (guint w = 0; w < N_WHERES; w++)
    for (guint m = 0; m < N_METHODS; m++) {
      const MotionRunner *expected =
          table->runner[CPU_ONE]
                       [methods[m].method == MOTION_METHOD_FULL ? 0 : m];

      if (table->runner[w][m]
          && !motion_runner_equal (expected, table->runner[w][m], &why)) {
        printf ("WRONG: %s: %s\n", methods[m].name, why);
        g_free (why);
      }
    }
}

/* --- printing ------------------------------------------------------------- */

static const gchar *
where_name (guint where)
{
  static gchar all[32];

  if (where == CUDA)
    return "CUDA";
  if (where == CPU_ONE)
    return "CPU, 1 thread";
  g_snprintf (all, sizeof all, "CPU, %u threads", g_get_num_processors ());
  return all;
}

static void
print_number (gdouble value)
{
  if (value >= 1000)
    printf ("%'.0f", value);
  else if (value >= 100)
    printf ("%.0f", value);
  else if (value >= 10)
    printf ("%.1f", value);
  else
    printf ("%.2f", value);
}

/* "speed-up / normalised gain" against a baseline. */
static void
print_gain (gdouble baseline, gdouble ms, gdouble loss)
{
  printf (" | ");
  if (baseline == 0) {
    printf ("-");
    return;
  }
  print_number (baseline / ms);
  printf (" / ");
  print_number (baseline / ms / loss);
}

static void
print_row (const Table *table, const Baselines *base, guint w, guint m)
{
  const MotionRunner *runner = table->runner[w][m];
  guint64 residue = motion_runner_get_residue (runner);
  guint64 exact = motion_runner_get_residue (table->runner[CPU_ONE][0]);
  gdouble loss = exact ? (gdouble) residue / (gdouble) exact : 1;
  gdouble ms = motion_runner_get_ms (runner);

  printf ("| %s | %s | %" G_GUINT64_FORMAT " | ", methods[m].name,
      where_name (w), residue / (table->clip->n - 1));
  print_number (ms);
  printf (" | %.3f", loss);
  print_gain (base->scalar, ms, loss);
  print_gain (base->simd, ms, loss);
  print_gain (base->pruned, ms, loss);
  print_gain (base->pruned_all, ms, loss);
  printf (" |\n");
  if (csv)
    fprintf (csv, "%s,%u,%u,%s,%s,%u,%.4f,%" G_GUINT64_FORMAT "\n",
        table->clip->name, table->clip->width, table->clip->height,
        m == 0   ? "brute"
        : m == 1 ? "pruned"
                 : methods[m].name,
        w == CUDA ? "cuda" : "cpu", w == CPU_ALL ? g_get_num_processors () : 1,
        ms, residue);
}

static void
print_table (const Table *table)
{
  Baselines base = { table->scalar,
    motion_runner_get_ms (table->runner[CPU_ONE][0]),
    motion_runner_get_ms (table->runner[CPU_ONE][1]),
    motion_runner_get_ms (table->runner[CPU_ALL][1]) };

  printf ("\n**%s**, %ux%u, %u bits, %u frames; scalar ", table->clip->name,
      table->clip->width, table->clip->height, table->clip->depth,
      table->clip->n - 1);
  if (base.scalar > 0)
    print_number (base.scalar);
  else
    printf ("not measured,");
  printf (" ms\n\n| method | on | residue a frame | ms a frame | prediction "
          "loss | against scalar | against SIMD | against pruned | against "
          "pruned, %u threads |\n|---|---|---|---|---|---|---|---|---|\n",
      g_get_num_processors ());
  for (guint m = 0; m < N_METHODS; m++)
    for (guint w = 0; w < N_WHERES; w++)
      if (table->runner[w][m])
        print_row (table, &base, w, m);
  fflush (stdout);
}

static gboolean
do_clip (const gchar *path, CvisContext *context, GError **error)
{
  MotionClip *clip = motion_clip_load (path, (guint) max_frames, error);
  Table table = { .clip = clip, .context = context };
  gboolean ok;

  if (clip == NULL)
    return FALSE;
  if (clip->n < 2) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
        "%s has %u frame, two are needed", path, clip->n);
    motion_clip_free (clip);
    return FALSE;
  }
  ok = measure (&table, error);
  if (ok) {
    check (&table);
    print_table (&table);
  }
  for (guint w = 0; w < N_WHERES; w++)
    for (guint m = 0; m < N_METHODS; m++)
      g_clear_pointer (&table.runner[w][m], motion_runner_free);
  motion_clip_free (clip);
  return ok;
}

static int
do_clips (gchar **clips, CvisContext *context)
{
  GError *error = NULL;

  if (csv_path && !(csv = fopen (csv_path, "w"))) {
    fprintf (stderr, "bench_motion_table: cannot write %s\n", csv_path);
    return 1;
  }
  if (csv)
    fprintf (csv, "clip,width,height,method,backend,threads,ms,residue\n");
  printf ("Speed-up / normalised gain against each baseline. Blocks of 32, "
          "range 64, border padded; least of %d rounds at 1080 rows, more "
          "below.\n",
      rounds);
  for (guint i = 0; clips[i]; i++)
    if (!do_clip (clips[i], context, &error)) {
      fprintf (stderr, "bench_motion_table: %s\n", error->message);
      return 1;
    }
  if (csv)
    fclose (csv);
  return 0;
}

int
main (int argc, char **argv)
{
  GOptionContext *options = g_option_context_new ("[CLIP.y4m...]");
  GError *error = NULL;
  CvisContext *context;
  gchar **clips;
  int code = 2;

  g_option_context_add_main_entries (options, entries, NULL);
  if (!g_option_context_parse (options, &argc, &argv, &error) || rounds < 1
      || max_frames < 2) {
    fprintf (stderr, "bench_motion_table: %s\n",
        error ? error->message : "at least 1 round and 2 frames");
    g_option_context_free (options);
    return code;
  }
  g_option_context_free (options);
  clips = paths ? g_strdupv (paths) : motion_clips_list ();
  if (clips[0] == NULL) {
    fprintf (stderr, "bench_motion_table: no clips: run scripts/fetch-clips "
                     "and set CUDAVISION_CLIPS to its folder\n");
    g_strfreev (clips);
    return 77;
  }
  context = cvis_context_new (-1, NULL);
  code = do_clips (clips, context);
  g_strfreev (clips);
  if (context)
    cvis_context_unref (context);
  return code;
}
