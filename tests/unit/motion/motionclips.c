/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Real clips (scripts/fetch-clips): full search with and without elimination
 * give the same vector, cost, SAD, second best and measures for every block,
 * with both border modes and tie orders; on the first small clip also the
 * reference implementation's.
 *
 *   unit-motionclips cpu|cuda */
#include <stdio.h>
#include <string.h>

#include "motionrunner.h"
#include "motionreference.h"

typedef struct {
  guint block_size;
  MotionTie tie;
  guint lambda;
  MotionSubpel subpel;
} Setting;

/* The first setting on all clips, the others on frames of at most 480
 * columns. */
static const Setting settings[] = {
  { 32, MOTION_TIE_RASTER, 0, MOTION_SUBPEL_NONE },
  { 16, MOTION_TIE_SHORT, 4, MOTION_SUBPEL_QUARTER },
  { 8, MOTION_TIE_SHORT, 0, MOTION_SUBPEL_NONE },
  { 64, MOTION_TIE_RASTER, 1, MOTION_SUBPEL_HALF },
};

static CvisContext *context; /* NULL: the CPU */

static MotionRunner *
run (const MotionConfig *config, CvisContext *where, const MotionClip *clip)
{
  GError *error = NULL;
  MotionRunner *runner = motion_runner_new (config, where, clip, &error);

  g_assert_no_error (error);
  motion_runner_round (runner, &error);
  g_assert_no_error (error);
  return runner;
}

static void
expect_equal (const gchar *what, const MotionRunner *a, const MotionRunner *b)
{
  gchar *why;

  if (!motion_runner_equal (a, b, &why))
    g_error ("%s: %s", what, why);
}

static void
compare (MotionConfig *config, const MotionClip *clip)
{
  MotionRunner *brute, *pruned;

  config->method = MOTION_METHOD_FULL_BRUTE;
  brute = run (config, NULL, clip);
  config->method = MOTION_METHOD_FULL;
  config->eliminate_all = TRUE; /* of small clips too */
  pruned = run (config, context, clip);
  expect_equal ("elimination", brute, pruned);
  motion_runner_free (pruned);
  if (context) {
    config->method = MOTION_METHOD_FULL_BRUTE;
    pruned = run (config, context, clip);
    expect_equal ("every candidate on the device", brute, pruned);
    motion_runner_free (pruned);
  }
  motion_runner_free (brute);
}

/* Frame 1 in frame 0: what the engine finds is what the reference
 * implementation finds, within a window that the reference implementation is
 * quickly done with. */
static void
compare_reference (MotionConfig *config, const MotionClip *clip)
{
  MotionJob jobs[2] = { { .luma = clip->luma[0], .stride = clip->stride },
    { .luma = clip->luma[1], .stride = clip->stride } };
  MotionPicture *reference = motion_picture_new (config, &jobs[0]);
  MotionPicture *current = motion_picture_new (config, &jobs[1]);
  guint n =
      motion_config_get_columns (config) * motion_config_get_rows (config);
  CvisMotionVector *vectors = g_new (CvisMotionVector, n);
  CvisMotionBlock *blocks = g_new (CvisMotionBlock, n);
  MotionRunner *runner;
  const MotionField *field;

  config->range = 12;
  config->method = MOTION_METHOD_FULL;
  runner = run (config, context, clip);
  field = motion_runner_get_field (runner, 1);
  motion_reference_search (config, current, reference, NULL, vectors, blocks);
  g_assert_cmpmem (
      vectors, n * sizeof *vectors, field->vectors, n * sizeof *vectors);
  g_assert_cmpmem (
      blocks, n * sizeof *blocks, field->blocks, n * sizeof *blocks);
  motion_runner_free (runner);
  motion_picture_free (current);
  motion_picture_free (reference);
  g_free (vectors);
  g_free (blocks);
}

static void
test_clip (gconstpointer path)
{
  GError *error = NULL;
  MotionClip *clip = motion_clip_load (path, 4, &error);
  gboolean small;

  g_assert_no_error (error);
  g_assert_cmpuint (clip->n, ==, 4);
  small = clip->width <= 480;
  if (clip->height > 600) {
    /* brute force takes a second for each frame */
    motion_clip_free (clip);
    clip = motion_clip_load (path, 2, &error);
    g_assert_no_error (error);
  }
  for (guint s = 0; s < (small ? G_N_ELEMENTS (settings) : 1); s++)
    for (guint border = 0; border < 2; border++) {
      MotionConfig config;

      motion_config_init (&config);
      config.width = clip->width;
      config.height = clip->height;
      config.depth = clip->depth;
      config.range = 64;
      config.block_size = settings[s].block_size;
      config.tie = settings[s].tie;
      config.lambda = settings[s].lambda;
      config.subpel = settings[s].subpel;
      config.border = border ? MOTION_BORDER_INSIDE : MOTION_BORDER_PAD;
      compare (&config, clip);
      if (s == 0 && clip->width < 400)
        compare_reference (&config, clip);
    }
  motion_clip_free (clip);
}

int
main (int argc, char **argv)
{
  gchar **clips;
  GError *error = NULL;
  int code;

  g_test_init (&argc, &argv, NULL);
  if (argc != 2 || (strcmp (argv[1], "cpu") && strcmp (argv[1], "cuda"))) {
    fprintf (stderr, "usage: unit-motionclips cpu|cuda\n");
    return 2;
  }
  clips = motion_clips_list ();
  if (clips[0] == NULL) {
    printf ("skipped: no clips; scripts/fetch-clips downloads them\n");
    g_strfreev (clips);
    return 77;
  }
  if (!strcmp (argv[1], "cuda") && !(context = cvis_context_new (-1, &error))) {
    printf ("skipped: %s\n", error->message);
    g_error_free (error);
    g_strfreev (clips);
    return 77;
  }
  for (guint i = 0; clips[i]; i++) {
    gchar *base = g_path_get_basename (clips[i]);
    gchar *name = g_strdup_printf ("/motion/clips/%s", base);

    g_test_add_data_func (name, clips[i], test_clip);
    g_free (name);
    g_free (base);
  }
  code = g_test_run ();
  g_strfreev (clips);
  if (context)
    cvis_context_unref (context);
  return code;
}
