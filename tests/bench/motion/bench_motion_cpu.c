/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The motion engine on the CPU, milliseconds a frame: full search with and
 * without elimination, step and zonal search, one thread and all, compared
 * with a scalar loop. The variants alternate frame by frame; best and median
 * over rounds. Also the number of candidates left after each level of the
 * elimination.
 *
 *   bench_motion_cpu [--rounds=N] [--frames=N] [--block=N] [--range=N]
 *     [--only=NAME] [CLIP...]
 *
 * CLIP: a y4m file of 8 or 10 bits, or WIDTHxHEIGHT:moving, :noise or :cut
 * for synthetic frames. CUDAVISION_CPU=generic|v3|v4 chooses the instruction
 * set. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cuda/motion/backend.h"
#include "cuda/motion/cpu/cpu.h"
#include "motionscalar.h"

static gchar *only;
static gint rounds = 5, max_frames = 5, block_size = 32, range = 64;

/* Compiled for counting; see cuda/motion/cpu/full.c. */
extern const MotionCpuKernels motion_cpu_count;
guint64 motion_cpu_counts[2 + MOTION_CPU_LEVELS];

/* --- clips ---------------------------------------------------------------- */

typedef struct {
  gchar *name;
  guint width, height, depth;
  guint n;
  guint8 **luma;
} Clip;

static gsize
luma_size (const Clip *clip)
{
  return (gsize) clip->width * clip->height * (clip->depth > 8 ? 2 : 1);
}

static guint8 *
add_frame (Clip *clip)
{
  clip->luma[clip->n] = g_malloc (luma_size (clip));
  return clip->luma[clip->n++];
}

/* Samples of both chroma planes for a luma plane of @w x @h. */
static gsize
chroma_samples (const gchar *header, gsize w, gsize h)
{
  const gchar *c = strstr (header, " C");

  if (c && strncmp (c, " Cmono", 6) == 0)
    return 0;
  if (c && strncmp (c, " C444", 5) == 0)
    return 2 * w * h;
  if (c && strncmp (c, " C422", 5) == 0)
    return 2 * ((w + 1) / 2) * h;
  return 2 * ((w + 1) / 2) * ((h + 1) / 2);
}

static void
read_y4m (Clip *clip, const gchar *path)
{
  gchar header[512];
  gsize chroma;
  FILE *file = fopen (path, "rb");

  if (!file || !fgets (header, sizeof header, file)
      || sscanf (header, "YUV4MPEG2 W%u H%u", &clip->width, &clip->height) != 2)
    g_error ("%s: not a readable y4m file", path);
  clip->depth = strstr (header, "p10") ? 10 : 8;
  chroma = chroma_samples (header, clip->width, clip->height)
           * (clip->depth > 8 ? 2 : 1);
  while ((gint) clip->n < max_frames && fgets (header, sizeof header, file)) {
    if (fread (add_frame (clip), 1, luma_size (clip), file) != luma_size (clip)
        || fseek (file, (long) chroma, SEEK_CUR) != 0)
      g_error ("%s ends within a frame", path);
  }
  fclose (file);
}

/* Smooth and rough regions that move by (5, 3) pixels a frame. */
static guint8
world_at (guint x, guint y)
{
  guint32 h = (x / 3 * 0x9e3779b1u ^ y / 3 * 0x85ebca77u) * 0x2c1b3c6du;

  return (guint8) (64 + (x / 16 * 37 + y / 24 * 53) % 96 + (h >> 27));
}

static void
make_clip (Clip *clip, const gchar *kind)
{
  GRand *random = g_rand_new_with_seed (1);

  clip->depth = 8;
  while ((gint) clip->n < max_frames) {
    guint frame = clip->n;
    guint far = strcmp (kind, "cut") == 0 ? 10000 * frame : frame;
    guint8 *luma = add_frame (clip);

    for (guint y = 0; y < clip->height; y++)
      for (guint x = 0; x < clip->width; x++)
        *luma++ = strcmp (kind, "noise") == 0
                      ? (guint8) g_rand_int (random)
                      : world_at (x + 5 * far, y + 3 * far);
  }
  g_rand_free (random);
}

static Clip *
clip_open (const gchar *name)
{
  Clip *clip = g_new0 (Clip, 1);
  gchar kind[16];

  clip->name = g_path_get_basename (name);
  clip->luma = g_new0 (guint8 *, max_frames);
  if (sscanf (name, "%ux%u:%15s", &clip->width, &clip->height, kind) == 3)
    make_clip (clip, kind);
  else
    read_y4m (clip, name);
  if (clip->n < 2)
    g_error ("%s has less than two frames", name);
  return clip;
}

static void
clip_free (Clip *clip)
{
  for (guint i = 0; i < clip->n; i++)
    g_free (clip->luma[i]);
  g_free (clip->luma);
  g_free (clip->name);
  g_free (clip);
}

static void
clip_config (const Clip *clip, MotionConfig *config)
{
  motion_config_init (config);
  config->width = clip->width;
  config->height = clip->height;
  config->depth = clip->depth;
  config->block_size = (guint) block_size;
  config->range = (guint) range;
  config->tie = MOTION_TIE_RASTER; /* as in the paper */
}

/* --- variants ------------------------------------------------------------ */

typedef struct {
  const gchar *name;
  MotionMethod method;
  MotionGranularity granularity;
  MotionSubpel subpel;
  guint threads;
  MotionEngine *engine;
  MotionJob job;
  GArray *times; /* ms a frame, for each pass over the clip */
  GArray *work;  /* the same as processor time of all threads */
  guint64 residue;
} Way;

static void
way_open (Way *way, const Clip *clip)
{
  MotionConfig config;
  GError *error = NULL;
  gsize blocks;

  clip_config (clip, &config);
  config.method = way->method;
  config.granularity = way->granularity;
  config.subpel = way->subpel;
  config.threads = way->threads;
  way->engine =
      motion_engine_new_on (&motion_backend_cpu, &config, NULL, &error);
  if (way->engine == NULL)
    g_error ("%s", error->message);
  blocks = (gsize) motion_config_get_columns (&config)
           * motion_config_get_rows (&config);
  way->job.fields[0].vectors = g_new (CvisMotionVector, blocks);
  way->job.fields[0].blocks = g_new (CvisMotionBlock, blocks);
  way->times = g_array_new (FALSE, FALSE, sizeof (gdouble));
  way->work = g_array_new (FALSE, FALSE, sizeof (gdouble));
}

static void
way_close (Way *way)
{
  motion_engine_free (way->engine);
  g_free (way->job.fields[0].vectors);
  g_free (way->job.fields[0].blocks);
  g_array_free (way->times, TRUE);
  g_array_free (way->work, TRUE);
}

/* Processor time of the program so far, milliseconds. */
static gdouble
processor_ms (void)
{
  struct timespec t;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

/* One pass over the clip; the first frame, which is not searched, does not
 * count. */
static void
way_run (Way *way, const Clip *clip)
{
  gdouble sum = 0, work = 0;

  way->residue = 0;
  for (guint i = 0; i < clip->n; i++) {
    gint64 start = g_get_monotonic_time ();
    gdouble begin = processor_ms ();
    MotionJob *got;

    way->job.luma = clip->luma[i];
    way->job.stride = luma_size (clip) / clip->height;
    if (!motion_engine_submit (way->engine, &way->job, NULL)
        || !motion_engine_wait (way->engine, &got, NULL) || got != &way->job)
      g_error ("%s: no result", way->name);
    if (i == 0)
      continue;
    sum += (gdouble) (g_get_monotonic_time () - start) / 1000.0;
    work += processor_ms () - begin;
    way->residue += way->job.fields[0].summary.residue;
  }
  motion_engine_end (way->engine);
  sum /= clip->n - 1;
  work /= clip->n - 1;
  g_array_append_val (way->times, sum);
  g_array_append_val (way->work, work);
}

static gint
compare_times (gconstpointer a, gconstpointer b)
{
  gdouble d = *(const gdouble *) a - *(const gdouble *) b;

  return d < 0 ? -1 : d > 0;
}

static gdouble
quantile_of (GArray *times, gdouble quantile)
{
  g_array_sort (times, compare_times);
  return g_array_index (times, gdouble, (guint) (quantile * (times->len - 1)));
}

/* --- the scalar baseline -------------------------------------------------- */

#define STRIP_ROWS 2 /* rows of blocks timed with the scalar loop */

/* Milliseconds for the second frame, extrapolated from the middle rows of
 * blocks. */
static gdouble
time_scalar (const Clip *clip)
{
  MotionConfig config;
  CvisMotionVector *vectors;
  gsize first;
  gint64 start;
  guint rows;

  clip_config (clip, &config);
  rows = motion_config_get_rows (&config);
  config.height = MIN (STRIP_ROWS * config.block_size, clip->height);
  first = (clip->height - config.height) / 2 * (gsize) clip->width;
  vectors = g_new (CvisMotionVector,
      motion_config_get_columns (&config) * motion_config_get_rows (&config));
  start = g_get_monotonic_time ();
  motion_scalar_full (
      &config, clip->luma[1] + first, clip->luma[0] + first, vectors);
  start = g_get_monotonic_time () - start;
  g_free (vectors);
  return (gdouble) start / 1000.0 * rows / motion_config_get_rows (&config);
}

/* --- counting ------------------------------------------------------------- */

static void
count (const Clip *clip)
{
  MotionConfig config;
  MotionCpuParams params;
  MotionCpuPicture pictures[2];
  MotionCpuScratch *scratch;
  CvisMotionVector *vectors, *priors;
  CvisMotionBlock *blocks;
  gsize n;

  clip_config (clip, &config);
  motion_cpu_params_init (&params, &config, 1);
  scratch = motion_cpu_scratch_new (&params, NULL);
  if (scratch == NULL)
    g_error ("no memory");
  n = (gsize) params.columns * (gsize) params.rows;
  vectors = g_new (CvisMotionVector, n);
  priors = g_new (CvisMotionVector, n);
  blocks = g_new (CvisMotionBlock, n);
  for (guint i = 0; i < 2; i++)
    if (!motion_cpu_picture_init (&params, &pictures[i], NULL))
      g_error ("no memory");
  memset (motion_cpu_counts, 0, sizeof motion_cpu_counts);
  for (guint i = 0; i < clip->n; i++) {
    MotionCpuPicture *now = &pictures[i % 2];
    MotionJob job = { .luma = clip->luma[i],
      .stride = luma_size (clip) / clip->height,
      .n_fields = 1 };
    MotionCpuFrame frame = { .job = &job, .current = now };

    motion_cpu_picture_load (&params, now, &job);
    job.fields[0].vectors = vectors;
    job.fields[0].blocks = blocks;
    frame.references[0] = &pictures[(i + 1) % 2];
    frame.priors[0] = i > 1 ? priors : NULL;
    for (gint t = 0; i > 0 && t < params.tiles_across * params.tiles_down; t++)
      motion_cpu_count.search (&params, scratch, &frame, t);
    memcpy (priors, vectors, n * sizeof *priors);
  }
  printf ("  a block:");
  for (guint i = 1; i < 2 + params.n_levels; i++)
    printf (" %s%.1f", i == 1 ? "candidates " : " -> ",
        (gdouble) motion_cpu_counts[i]
            / (gdouble) MAX (motion_cpu_counts[0], 1));
  printf (" after squares of");
  for (guint i = 0; i < params.n_levels; i++)
    printf (" %u", params.levels[i].size);
  printf ("\n");
  for (guint i = 0; i < 2; i++)
    motion_cpu_picture_clear (&pictures[i]);
  motion_cpu_params_clear (&params);
  motion_cpu_scratch_free (scratch);
  g_free (vectors);
  g_free (priors);
  g_free (blocks);
}

/* --- main ----------------------------------------------------------------- */

static gboolean
is_wanted (const gchar *name)
{
  return only == NULL || g_str_has_prefix (name, only);
}

static void
bench (const Clip *clip)
{
  Way ways[] = {
    { "full-brute, 1 thread", MOTION_METHOD_FULL_BRUTE, 0, 0, 1 },
    { "full-brute, all threads", MOTION_METHOD_FULL_BRUTE, 0, 0, 0 },
    { "full, 1 thread", MOTION_METHOD_FULL, 0, 0, 1 },
    { "full, all threads", MOTION_METHOD_FULL, 0, 0, 0 },
    { "full, quarter pixels, 1 thread", MOTION_METHOD_FULL, 0,
        MOTION_SUBPEL_QUARTER, 1 },
    { "step 3x3, 1 thread", MOTION_METHOD_STEP, MOTION_GRANULARITY_1, 0, 1 },
    { "step 7x7, 1 thread", MOTION_METHOD_STEP, MOTION_GRANULARITY_2, 0, 1 },
    { "step 13x13, 1 thread", MOTION_METHOD_STEP, MOTION_GRANULARITY_PAPER_13,
        0, 1 },
    { "step 15x15, 1 thread", MOTION_METHOD_STEP, MOTION_GRANULARITY_3, 0, 1 },
    { "zonal, 1 thread", MOTION_METHOD_ZONAL, 0, 0, 1 },
    { "zonal, all threads", MOTION_METHOD_ZONAL, 0, 0, 0 },
  };
  const gchar *scalar_name = "scalar -O2, full-brute, 1 thread";
  gdouble scalar = 0, brute;

  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    way_open (&ways[i], clip);
  for (gint round = 0; round < rounds; round++)
    for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
      if (is_wanted (ways[i].name))
        way_run (&ways[i], clip);
  for (gint round = 0;
       clip->depth == 8 && is_wanted (scalar_name) && round < MIN (rounds, 3);
       round++) {
    gdouble t = time_scalar (clip);

    scalar = scalar == 0 ? t : MIN (scalar, t);
  }
  printf ("%s: %ux%u, %u bits, %u frames, block %d, range %d, %s\n", clip->name,
      clip->width, clip->height, clip->depth, clip->n, block_size, range,
      motion_cpu_kernels ()->name);
  printf ("  %-32s %9s %9s %9s %9s %9s\n", "", "best ms", "median ms", "cpu ms",
      "of brute", "residue");
  brute = ways[0].work->len > 0 ? quantile_of (ways[0].work, 0) : 0;
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++) {
    gdouble work;

    if (!is_wanted (ways[i].name))
      continue;
    work = quantile_of (ways[i].work, 0);
    printf ("  %-32s %9.2f %9.2f %9.2f %8.1fx %9.3f\n", ways[i].name,
        quantile_of (ways[i].times, 0), quantile_of (ways[i].times, 0.5), work,
        brute / work,
        (gdouble) ways[i].residue / (gdouble) MAX (ways[0].residue, 1));
  }
  if (scalar > 0)
    printf ("  %-32s %9.0f  (from %u rows of blocks)\n", scalar_name, scalar,
        STRIP_ROWS);
  count (clip);
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    way_close (&ways[i]);
}

int
main (int argc, char **argv)
{
  const GOptionEntry entries[] = {
    { "rounds", 0, 0, G_OPTION_ARG_INT, &rounds, "Passes over each clip", "N" },
    { "frames", 0, 0, G_OPTION_ARG_INT, &max_frames, "Frames of each clip",
        "N" },
    { "block", 0, 0, G_OPTION_ARG_INT, &block_size, "Size of blocks", "N" },
    { "range", 0, 0, G_OPTION_ARG_INT, &range, "Range of the search", "N" },
    { "only", 0, 0, G_OPTION_ARG_STRING, &only,
        "Only variants whose names begin with NAME", "NAME" },
    { NULL },
  };
  GOptionContext *context = g_option_context_new ("[CLIP...]");
  GError *error = NULL;

  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error)) {
    fprintf (stderr, "%s\n", error->message);
    return 1;
  }
  g_option_context_free (context);
  for (gint i = 1; i < argc || i == 1; i++) {
    Clip *clip = clip_open (i < argc ? argv[i] : "1920x1080:moving");

    bench (clip);
    clip_free (clip);
  }
  return 0;
}
