/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The regularised field on a stream of known motion: several references, both
 * directions, 10 bits, repeated frames, another scene, frames smaller than a block. */
#include <math.h>

#include "cuda/motion/backend.h"

#define WIDTH 320
#define HEIGHT 240
#define SIZE 16
#define COLUMNS (WIDTH / SIZE)
#define N (COLUMNS * (HEIGHT / SIZE))
#define FRAMES 8
#define STEP_X 4 /* pixels from a frame to the next one, to the left and down */
#define STEP_Y -3

/**
 * Stream:
 * @scene, @moved: of each frame: which texture, and how many steps it has moved
 * @references, @both, @depth: of the search
 */
typedef struct {
  guint scene[FRAMES], moved[FRAMES];
  guint references;
  gboolean both;
  guint depth;
} Stream;

typedef struct {
  MotionJob jobs[FRAMES];
  CvisMotionVector vectors[FRAMES][CVIS_MOTION_MAX_FIELDS][N];
  CvisMotionBlock blocks[FRAMES][CVIS_MOTION_MAX_FIELDS][N];
  guint8 *luma[FRAMES];
} Result;

/* --- frames ------------------------------------------------------------------ */

static guint
hash (guint seed, guint x, guint y)
{
  guint32 h = (seed * 0x165667b1u) ^ (x * 0x9e3779b1u) ^ (y * 0x85ebca77u);

  h = (h ^ h >> 15) * 0x2c1b3c6du;
  h = (h ^ h >> 12) * 0x297a2d39u;
  return (h ^ h >> 15) & 0xff;
}

/* Cells of 8 pixels, interpolated: 0 to 255 x 64 */
static guint
smooth (guint seed, guint x, guint y)
{
  guint u = x % 8, v = y % 8, i = x / 8, j = y / 8;

  return (hash (seed, i, j) * (8 - u) + hash (seed, i + 1, j) * u) * (8 - v)
         + (hash (seed, i, j + 1) * (8 - u) + hash (seed, i + 1, j + 1) * u)
               * v;
}

static guint8 *
draw (guint scene, guint moved, guint depth)
{
  guint8 *luma = g_malloc (WIDTH * HEIGHT * (depth > 8 ? 2 : 1));

  for (guint y = 0; y < HEIGHT; y++)
    for (guint x = 0; x < WIDTH; x++) {
      guint value = smooth (scene, 1000 + x + STEP_X * moved,
          (guint) (1000 + y + STEP_Y * (gint) moved));

      if (depth > 8)
        ((guint16 *) (gpointer) luma)[y * WIDTH + x] = (guint16) (value >> 4);
      else
        luma[y * WIDTH + x] = (guint8) (value >> 6);
    }
  return luma;
}

/* --- the search ---------------------------------------------------------------- */

static Result *
search (const Stream *stream)
{
  Result *result = g_new0 (Result, 1);
  MotionConfig config;
  MotionEngine *engine;
  MotionJob *done;
  guint n_done = 0;

  motion_config_init (&config);
  config.width = WIDTH;
  config.height = HEIGHT;
  config.depth = stream->depth;
  config.method = MOTION_METHOD_FIELD;
  config.block_size = SIZE;
  config.subpel = MOTION_SUBPEL_QUARTER;
  config.references = stream->references;
  config.bidirectional = stream->both;
  engine = motion_engine_new (&config, NULL, NULL);
  g_assert_nonnull (engine);
  for (guint i = 0; i < FRAMES; i++) {
    MotionJob *job = &result->jobs[i];

    result->luma[i] = draw (stream->scene[i], stream->moved[i], stream->depth);
    job->luma = result->luma[i];
    job->stride = WIDTH * (stream->depth > 8 ? 2 : 1);
    for (guint k = 0; k < CVIS_MOTION_MAX_FIELDS; k++) {
      job->fields[k].vectors = result->vectors[i][k];
      job->fields[k].blocks = result->blocks[i][k];
    }
    g_assert_true (motion_engine_submit (engine, job, NULL));
    while (motion_engine_wait (engine, &done, NULL) && done != NULL)
      n_done++;
  }
  motion_engine_end (engine);
  while (motion_engine_wait (engine, &done, NULL) && done != NULL)
    n_done++;
  g_assert_cmpuint (n_done, ==, FRAMES);
  motion_engine_free (engine);
  return result;
}

static void
result_free (Result *result)
{
  for (guint i = 0; i < FRAMES; i++)
    g_free (result->luma[i]);
  g_free (result);
}

/* Share of the vectors within a pixel of (@x, @y), and the mean confidence; without the
 * blocks at the frame's edges. */
static gdouble
get_share (const MotionField *field, gdouble x, gdouble y, gdouble *confidence)
{
  guint right = 0, n = 0;

  *confidence = 0;
  for (guint i = 0; i < N; i++) {
    const guint column = i % COLUMNS, row = i / COLUMNS;

    if (column < 2 || column >= COLUMNS - 2 || row < 2
        || row >= HEIGHT / SIZE - 2)
      continue;
    n++;
    right +=
        hypot (field->vectors[i].x / 4.0 - x, field->vectors[i].y / 4.0 - y)
        <= 1;
    *confidence += cvis_motion_block_get_confidence (&field->blocks[i]) / 256.0;
  }
  *confidence /= n;
  return (gdouble) right / n;
}

/* --- tests ----------------------------------------------------------------------- */

/* Every field of every frame is right, and says so. */
static void
test_references (gconstpointer data)
{
  const Stream *stream = data;
  Result *result = search (stream);

  for (gint i = 0; i < FRAMES; i++) {
    const MotionJob *job = &result->jobs[i];
    gint before = MIN (i, (gint) stream->references);
    gint after =
        stream->both ? MIN (FRAMES - 1 - i, (gint) stream->references) : 0;

    g_assert_cmpint (job->n_fields, ==, before + after);
    g_assert_true (!(job->flags & CVIS_MOTION_FRAME_FIRST) == (i > 0));
    for (guint k = 0; k < job->n_fields; k++) {
      const MotionField *field = &job->fields[k];
      gint there = i + field->distance;
      gint steps = (gint) stream->moved[i] - (gint) stream->moved[there];
      gdouble confidence, share;

      share = get_share (field, STEP_X * steps, STEP_Y * steps, &confidence);
      g_test_message ("frame %d, distance %d: %.3f right, confidence %.2f", i,
          field->distance, share, confidence);
      g_assert_cmpfloat (share, >, 0.99);
      g_assert_cmpfloat (confidence, >, 0.8);
      g_assert_true (job->flags & CVIS_MOTION_FRAME_NOISE);
    }
  }
  result_free (result);
}

/* No vector of a cut is trusted; the frame after it is as good as any. A repeated frame
 * is marked, and its blocks are at rest. */
static void
test_cut (gconstpointer data)
{
  const Stream *stream = data;
  Result *result = search (stream);

  for (guint i = 1; i < FRAMES; i++) {
    const MotionJob *job = &result->jobs[i];
    gint steps = (gint) stream->moved[i] - (gint) stream->moved[i - 1];
    gboolean cut = stream->scene[i] != stream->scene[i - 1];
    gdouble confidence, share;

    share = get_share (
        &job->fields[0], STEP_X * steps, STEP_Y * steps, &confidence);
    g_test_message (
        "frame %u: %.3f right, confidence %.2f", i, share, confidence);
    g_assert_true (
        !(job->flags & CVIS_MOTION_FRAME_DUPLICATE) == (cut || steps != 0));
    if (cut) {
      g_assert_cmpfloat (confidence, <, 0.2);
      continue;
    }
    g_assert_cmpfloat (share, >, 0.99);
    g_assert_cmpfloat (confidence, >, 0.8);
  }
  result_free (result);
}

/* Frames smaller than a block have one partial block. */
static void
test_small (void)
{
  static const guint sizes[][2] = { { 1, 1 }, { 5, 3 }, { 15, 15 }, { 2, 40 } };

  for (guint s = 0; s < G_N_ELEMENTS (sizes); s++) {
    CvisMotionVector vectors[3];
    CvisMotionBlock blocks[3];
    MotionConfig config;
    MotionEngine *engine;
    guint8 *luma = draw (1, 0, 8);

    motion_config_init (&config);
    config.width = sizes[s][0];
    config.height = sizes[s][1];
    config.method = MOTION_METHOD_FIELD;
    config.block_size = SIZE;
    config.subpel = MOTION_SUBPEL_QUARTER;
    engine = motion_engine_new (&config, NULL, NULL);
    for (guint i = 0; i < 3; i++) {
      MotionJob job = { .luma = luma + i / 2, .stride = WIDTH }, *done;

      job.fields[0].vectors = vectors;
      job.fields[0].blocks = blocks;
      g_assert_true (motion_engine_submit (engine, &job, NULL));
      g_assert_true (motion_engine_wait (engine, &done, NULL));
      g_assert_true (done == &job);
      g_assert_cmpuint (job.n_fields, ==, i > 0);
      if (i == 0)
        continue;
      g_assert_true (blocks[0].flags & CVIS_MOTION_BLOCK_PARTIAL);
      g_assert_true (blocks[0].flags & CVIS_MOTION_BLOCK_RATED);
      if (i == 1) { /* a repeated frame */
        g_assert_cmpint (vectors[0].x, ==, 0);
        g_assert_cmpint (vectors[0].y, ==, 0);
        g_assert_true (job.flags & CVIS_MOTION_FRAME_DUPLICATE);
      }
    }
    motion_engine_free (engine);
    g_free (luma);
  }
}

#define SCENE                                                                  \
  {                                                                            \
    1, 1, 1, 1, 1, 1, 1, 1                                                     \
  }
#define EVEN                                                                   \
  {                                                                            \
    0, 1, 2, 3, 4, 5, 6, 7                                                     \
  }

int
main (int argc, char **argv)
{
  static const Stream streams[] = {
    { SCENE, EVEN, 1, FALSE, 8 },
    { SCENE, EVEN, 3, FALSE, 8 },
    { SCENE, EVEN, 2, TRUE, 8 },
    { SCENE, EVEN, 1, TRUE, 10 },
    { SCENE, { 0, 1, 1, 2, 5, 4, 4, 6 }, 2, TRUE, 10 },
  };
  static const Stream cuts[] = {
    { { 1, 1, 1, 2, 2, 2, 3, 3 }, { 0, 1, 1, 2, 3, 3, 4, 5 }, 1, FALSE, 8 },
    { { 1, 1, 1, 2, 2, 2, 3, 3 }, { 0, 1, 1, 2, 3, 3, 4, 5 }, 1, FALSE, 10 },
  };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (streams); i++) {
    gchar *path = g_strdup_printf ("/motionfieldstream/references/%u", i);

    g_test_add_data_func (path, &streams[i], test_references);
    g_free (path);
  }
  for (guint i = 0; i < G_N_ELEMENTS (cuts); i++) {
    gchar *path = g_strdup_printf ("/motionfieldstream/cut/%u", i);

    g_test_add_data_func (path, &cuts[i], test_cut);
    g_free (path);
  }
  g_test_add_func ("/motionfieldstream/small", test_small);
  return g_test_run ();
}
