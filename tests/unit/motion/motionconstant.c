/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Clips with constant parts (bars, inset, ticker, logo) have the cuts and the
 * global motion of the moving part alone. */
#include "cuda/motion/constant.h"
#include "cuda/motion/regions.h"
#include "cuda/motion/summary.h"

#include <math.h>
#include <string.h>

#define WIDTH 640
#define HEIGHT 360
#define FRAMES 10
#define CUT 6

typedef struct {
  const gchar *name;
  guint x, y, width, height; /* of the moving part, or of the constant one */
  gboolean inverted;         /* the rectangle is constant, the rest moves */
  gboolean textured;         /* the constant part */
} Layout;

static guint32
mix (guint32 x)
{
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

/* A smooth texture of scene @scene; bilinear between random nodes. */
static guint8
get_texture (guint scene, guint x, guint y)
{
  guint column = x / 8, row = y / 8, fx = x % 8, fy = y % 8;
  guint n[4];

  for (guint i = 0; i < 4; i++)
    n[i] = mix (scene * 1000003 + (row + i / 2) * 1009 + column + i % 2) >> 24;
  return (guint8) (((8 - fy) * ((8 - fx) * n[0] + fx * n[1])
                       + fy * ((8 - fx) * n[2] + fx * n[3]))
                   / 64);
}

static void
draw_frame (const Layout *layout, guint noise, guint i, guint8 *to)
{
  for (guint y = 0; y < HEIGHT; y++)
    for (guint x = 0; x < WIDTH; x++) {
      gboolean inside =
          x - layout->x < layout->width && y - layout->y < layout->height;
      gint value = inside != layout->inverted
                       ? get_texture (i < CUT ? 1 : 2, x + 3 * i, y + i)
                   : layout->textured ? get_texture (3, 2 * x, 2 * y)
                                      : 16;

      /* sum of two uniform numbers */
      if (noise > 0) {
        guint32 random = mix ((i * HEIGHT + y) * WIDTH + x);

        value +=
            (gint) (random % (2 * noise + 1) + (random >> 16) % (2 * noise + 1))
            - 2 * (gint) noise;
      }
      to[y * WIDTH + x] = (guint8) CLAMP (value, 0, 255);
    }
}

static void
check_clip (const Layout *layout, guint noise)
{
  MotionSceneDetector detector = { .threshold = MOTION_SCENE_THRESHOLD };
  guint8 *luma = g_malloc (WIDTH * HEIGHT);
  MotionConfig config;
  MotionEngine *engine;
  MotionJob job = { .luma = luma, .stride = WIDTH }, *done;
  guint n;

  motion_config_init (&config);
  config.width = WIDTH;
  config.height = HEIGHT;
  config.method = MOTION_METHOD_ZONAL;
  config.block_size = 32;
  n = motion_config_get_columns (&config) * motion_config_get_rows (&config);
  job.fields[0].vectors = g_new (CvisMotionVector, n);
  job.fields[0].blocks = g_new (CvisMotionBlock, n);
  engine = motion_engine_new (&config, NULL, NULL);
  g_assert_nonnull (engine);
  for (guint i = 0; i < FRAMES; i++) {
    const CvisMotionSummary *s = &job.fields[0].summary;

    draw_frame (layout, noise, i, luma);
    g_assert_true (motion_engine_submit (engine, &job, NULL));
    g_assert_true (motion_engine_wait (engine, &done, NULL));
    g_assert_true (done == &job);
    g_assert_cmpint (
        motion_scene_detect (&detector, &config, i > 0 ? &job.fields[0] : NULL),
        ==, layout->width > 0 && i == CUT);
    if (i == 0)
      continue;
    g_test_message ("%s %u, frame %u: novelty %.3f, global %.2f %.2f, %.3f",
        layout->name, noise, i, detector.previous, s->global_x, s->global_y,
        s->global_share);
    g_assert_true (isfinite (s->scene_score) && isfinite (s->global_share));
    if (layout->width == 0) {
      g_assert_cmpfloat (s->global_share, ==, 1.0);
      g_assert_cmpuint (s->static_blocks, ==, n);
    } else if (i != CUT) {
      g_assert_cmpfloat_with_epsilon (s->global_x, 3.0, 0.1);
      g_assert_cmpfloat_with_epsilon (s->global_y, 1.0, 0.1);
      g_assert_cmpfloat (s->global_share, >, 0.85);
    }
  }
  motion_engine_free (engine);
  g_free (job.fields[0].vectors);
  g_free (job.fields[0].blocks);
  g_free (luma);
}

static void
test_layout (gconstpointer layout)
{
  check_clip (layout, 0);
  if (((const Layout *) layout)->width > 0)
    check_clip (layout, 2); /* sigma 2 */
}

/* --- equal to the cropped clip ---------------------------------------------- */

#define COLUMNS 12
#define ROWS 10

/* Numbers of blocks that are constant at each edge */
typedef struct {
  const gchar *name;
  guint block_size;
  guint left, right, top, bottom;
  gboolean textured;
  guint dx, dy; /* the picture lies this many pixels further right and down */
  gboolean no_object;
} Bars;

/* A picture that pans, with an object that moves against it, and noise. */
static guint8
get_picture (const Bars *bars, guint x, guint y, guint i)
{
  guint size = bars->block_size;
  guint ox = x + 5 * i - 3 * size, oy = y - 2 * i - 2 * size;
  guint scene = i < CUT ? 1 : 2;
  gint noise = (gint) (mix ((i * 4096 + y) * 4096 + x) % 5) - 2;
  gint value = !bars->no_object && ox < 3 * size && oy < 2 * size
                   ? get_texture (scene + 5, ox, oy)
                   : get_texture (scene, x + 3 * i, y + i);

  return (guint8) CLAMP (value + noise, 0, 255);
}

/* Frame @i of @columns x @rows blocks, of which @bars are constant. */
static void
draw_blocks (const Bars *bars, guint columns, guint rows, guint i, guint8 *to)
{
  guint size = bars->block_size;
  guint left = bars->left * size + bars->dx;
  guint top = bars->top * size + bars->dy;
  guint right = (columns - bars->right) * size + bars->dx;
  guint bottom = (rows - bars->bottom) * size + bars->dy;

  for (guint y = 0; y < rows * size; y++)
    for (guint x = 0; x < columns * size; x++)
      *to++ = x >= left && x < right && y >= top && y < bottom
                  ? get_picture (bars, x - left, y - top, i)
              : bars->textured ? get_texture (3, 2 * x, 2 * y)
                               : 16;
}

/* A clip of a number of blocks, frame by frame. */
typedef struct {
  MotionConfig config;
  MotionEngine *engine;
  MotionRegionFinder *finder;
  MotionSceneDetector detector;
  MotionJob job;
  MotionRegion regions[MOTION_MAX_REGIONS];
  guint columns, rows, n_regions;
  gboolean cut;
} Clip;

static void
clip_init (Clip *clip, guint size, guint columns, guint rows)
{
  *clip = (Clip){ .columns = columns, .rows = rows };
  motion_config_init (&clip->config);
  clip->config.width = columns * size;
  clip->config.height = rows * size;
  clip->config.block_size = size;
  clip->config.range = MIN (size, 16); /* does not leave the block beside */
  clip->engine = motion_engine_new (&clip->config, NULL, NULL);
  g_assert_nonnull (clip->engine);
  clip->finder = motion_region_finder_new (&clip->config, NULL);
  clip->detector.threshold = MOTION_SCENE_THRESHOLD;
  clip->job.luma = g_malloc (clip->config.width * clip->config.height);
  clip->job.stride = clip->config.width;
  clip->job.fields[0].vectors = g_new (CvisMotionVector, columns * rows);
  clip->job.fields[0].blocks = g_new (CvisMotionBlock, columns * rows);
}

static void
clip_clear (Clip *clip)
{
  motion_engine_free (clip->engine);
  motion_region_finder_free (clip->finder);
  g_free ((gpointer) clip->job.luma);
  g_free (clip->job.fields[0].vectors);
  g_free (clip->job.fields[0].blocks);
}

static void
clip_search (Clip *clip, const Bars *bars, guint i)
{
  MotionJob *done;

  draw_blocks (bars, clip->columns, clip->rows, i, (guint8 *) clip->job.luma);
  g_assert_true (motion_engine_submit (clip->engine, &clip->job, NULL));
  g_assert_true (motion_engine_wait (clip->engine, &done, NULL));
}

static void
clip_judge (Clip *clip, guint i)
{
  const MotionField *field = i > 0 ? &clip->job.fields[0] : NULL;

  clip->cut = motion_scene_detect (&clip->detector, &clip->config, field);
  if (field != NULL)
    clip->n_regions =
        motion_find_regions (clip->finder, field, 2.0, clip->regions, NULL);
}

/* The bars and the blocks beside them are marked, in the cropped clip none.
 * Marks the same blocks there. */
static void
check_marks (const Bars *bars, Clip *whole, Clip *cropped)
{
  for (guint i = 0; i < whole->columns * whole->rows; i++) {
    guint x = i % whole->columns, y = i / whole->columns;
    guint cx = x - bars->left, cy = y - bars->top;
    gboolean used =
        (bars->left == 0 || x > bars->left)
        && (bars->right == 0 || x + bars->right + 1 < whole->columns)
        && (bars->top == 0 || y > bars->top)
        && (bars->bottom == 0 || y + bars->bottom + 1 < whole->rows);

    g_assert_cmpint (
        !(whole->job.fields[0].blocks[i].flags & CVIS_MOTION_BLOCK_CONSTANT),
        ==, used);
    if (cx < cropped->columns && cy < cropped->rows) {
      CvisMotionBlock *block =
          &cropped->job.fields[0].blocks[cy * cropped->columns + cx];

      g_assert_cmpint (block->flags & CVIS_MOTION_BLOCK_CONSTANT, ==, 0);
      block->flags |= used ? 0 : CVIS_MOTION_BLOCK_CONSTANT;
    }
  }
  motion_summarise (&cropped->config, &cropped->job.fields[0]);
}

/* The summary of both is the same to the bit, except that the global motion of
 * a frame's middle is that of another place if the bars differ. */
static void
check_summaries (const Bars *bars, const Clip *whole, const Clip *cropped)
{
  const CvisMotionSummary *a = &whole->job.fields[0].summary;
  const CvisMotionSummary *b = &cropped->job.fields[0].summary;

  g_assert_true (isfinite (a->psnr) && a->residue > 0);
  if (bars->left == bars->right && bars->top == bars->bottom) {
    g_assert_cmpmem (a, sizeof *a, b, sizeof *b);
    return;
  }
  g_assert_cmpmem (a, G_STRUCT_OFFSET (CvisMotionSummary, global_x), b,
      G_STRUCT_OFFSET (CvisMotionSummary, global_x));
  g_assert_cmpfloat_with_epsilon (a->global_zoom, b->global_zoom, 1e-3);
  g_assert_cmpfloat_with_epsilon (a->global_x, b->global_x, 0.1);
  g_assert_cmpfloat_with_epsilon (a->global_y, b->global_y, 0.1);
}

static void
check_regions (const Bars *bars, const Clip *whole, const Clip *cropped)
{
  g_assert_cmpuint (whole->n_regions, ==, cropped->n_regions);
  for (guint i = 0; i < whole->n_regions; i++) {
    MotionRegion region = cropped->regions[i];

    region.x += bars->left * bars->block_size;
    region.y += bars->top * bars->block_size;
    g_assert_cmpmem (&region, sizeof region, &whole->regions[i], sizeof region);
  }
}

static void
test_equal_to_cropped (gconstpointer data)
{
  static const Bars none = { 0 };
  const Bars *bars = data;
  Bars no_bars = none;
  Clip whole, cropped;
  guint regions = 0;

  no_bars.block_size = bars->block_size;
  clip_init (&whole, bars->block_size, COLUMNS + bars->left + bars->right,
      ROWS + bars->top + bars->bottom);
  clip_init (&cropped, bars->block_size, COLUMNS, ROWS);
  for (guint i = 0; i < FRAMES; i++) {
    clip_search (&whole, bars, i);
    clip_search (&cropped, &no_bars, i);
    if (i > 0)
      check_marks (bars, &whole, &cropped);
    clip_judge (&whole, i);
    clip_judge (&cropped, i);
    g_assert_cmpint (whole.cut, ==, i == CUT);
    g_assert_cmpint (cropped.cut, ==, i == CUT);
    if (i == 0)
      continue;
    check_summaries (bars, &whole, &cropped);
    check_regions (bars, &whole, &cropped);
    g_assert_cmpfloat (whole.detector.previous, ==, cropped.detector.previous);
    regions += whole.n_regions;
  }
  g_assert_cmpuint (regions, >=, FRAMES / 2);
  clip_clear (&whole);
  clip_clear (&cropped);
}

/* No used block is crossed by the edge of the picture. */
static void
check_inside (const Bars *bars, const Clip *clip)
{
  guint size = bars->block_size;
  guint left = bars->left * size + bars->dx;
  guint top = bars->top * size + bars->dy;

  for (guint i = 0; i < clip->columns * clip->rows; i++) {
    guint x = i % clip->columns * size, y = i / clip->columns * size;

    if (clip->job.fields[0].blocks[i].flags & CVIS_MOTION_BLOCK_CONSTANT)
      continue;
    g_assert_cmpuint (x, >=, left);
    g_assert_cmpuint (y, >=, top);
    g_assert_cmpuint (x + size, <=, left + COLUMNS * size);
    g_assert_cmpuint (y + size, <=, top + ROWS * size);
  }
}

/* What enters at the picture's edges is not in the used blocks either. */
static void
leave_out_rim (Clip *cropped)
{
  for (guint i = 0; i < cropped->columns * cropped->rows; i++) {
    guint x = i % cropped->columns, y = i / cropped->columns;

    if (x == 0 || x == cropped->columns - 1 || y == 0 || y == cropped->rows - 1)
      cropped->job.fields[0].blocks[i].flags |= CVIS_MOTION_BLOCK_CONSTANT;
  }
  motion_summarise (&cropped->config, &cropped->job.fields[0]);
}

static void
check_near (const Clip *whole, const Clip *cropped)
{
  const CvisMotionSummary *a = &whole->job.fields[0].summary;
  const CvisMotionSummary *b = &cropped->job.fields[0].summary;
  guint64 samples_a, samples_b;
  gdouble blocks_a =
      motion_count_used (&whole->config, &whole->job.fields[0], &samples_a);
  gdouble blocks_b =
      motion_count_used (&cropped->config, &cropped->job.fields[0], &samples_b);
  gdouble residue_a = (gdouble) a->residue / samples_a;
  gdouble residue_b = (gdouble) b->residue / samples_b;

  g_test_message ("psnr %.2f %.2f residue %.2f %.2f score %.2f %.2f", a->psnr,
      b->psnr, residue_a, residue_b, a->scene_score, b->scene_score);
  g_assert_cmpfloat_with_epsilon (a->psnr, b->psnr, 0.5);
  g_assert_cmpfloat_with_epsilon (residue_a, residue_b, residue_b / 20);
  g_assert_cmpfloat_with_epsilon (a->scene_score, b->scene_score, 0.01);
  g_assert_cmpfloat_with_epsilon (
      a->static_blocks / blocks_a, b->static_blocks / blocks_b, 0.02);
  for (guint i = 0; i < CVIS_MOTION_HISTOGRAM_BINS; i++)
    g_assert_cmpfloat_with_epsilon (
        a->histogram[i] / blocks_a, b->histogram[i] / blocks_b, 0.02);
}

static void
test_near_cropped (gconstpointer data)
{
  const Bars *bars = data;
  Bars no_bars = { .block_size = bars->block_size, .no_object = TRUE };
  Clip whole, cropped;

  clip_init (&whole, bars->block_size, COLUMNS + bars->left + bars->right,
      ROWS + bars->top + bars->bottom);
  clip_init (&cropped, bars->block_size, COLUMNS, ROWS);
  for (guint i = 0; i < FRAMES; i++) {
    clip_search (&whole, bars, i);
    clip_search (&cropped, &no_bars, i);
    clip_judge (&whole, i);
    clip_judge (&cropped, i);
    g_assert_cmpint (whole.cut, ==, i == CUT);
    g_assert_cmpint (cropped.cut, ==, i == CUT);
    if (i == 0)
      continue;
    check_inside (bars, &whole);
    leave_out_rim (&cropped);
    if (i != CUT) {
      check_near (&whole, &cropped);
      g_assert_cmpfloat_with_epsilon (whole.job.fields[0].summary.global_x,
          cropped.job.fields[0].summary.global_x, 0.1);
      g_assert_cmpfloat_with_epsilon (whole.job.fields[0].summary.global_y,
          cropped.job.fields[0].summary.global_y, 0.1);
    }
  }
  clip_clear (&whole);
  clip_clear (&cropped);
}

int
main (int argc, char **argv)
{
  static const Layout layouts[] = {
    { "whole", 0, 0, WIDTH, HEIGHT, FALSE, FALSE },
    { "letterbox", 0, 46, 640, 268, FALSE, FALSE },
    { "thin-bars", 0, 7, 640, 346, FALSE, FALSE },
    { "pillarbox", 80, 0, 480, 360, FALSE, FALSE },
    { "9-16", 219, 0, 202, 360, FALSE, FALSE },
    { "inset", 160, 90, 320, 180, FALSE, TRUE },
    { "ticker", 0, 324, 640, 36, TRUE, TRUE },
    { "ticker-above-edge", 0, 280, 640, 36, TRUE, TRUE },
    { "logo", 400, 20, 200, 115, TRUE, TRUE },
    { "small-logo", 560, 20, 60, 40, TRUE, TRUE },
    { "still", 0, 0, 0, 0, FALSE, TRUE },
  };
  static const Bars bars[] = {
    { "letterbox-16", 16, 0, 0, 2, 2, FALSE },
    { "letterbox-32", 32, 0, 0, 2, 2, FALSE },
    { "letterbox-64", 64, 0, 0, 1, 1, FALSE },
    { "pillarbox-32", 32, 2, 2, 0, 0, FALSE },
    { "pillarbox-64", 64, 1, 1, 0, 0, FALSE },
    { "windowbox-32", 32, 2, 2, 2, 2, FALSE },
    { "inset-16", 16, 2, 2, 3, 3, TRUE },
    { "inset-32", 32, 2, 2, 1, 1, TRUE },
    { "inset-64", 64, 1, 1, 1, 1, TRUE },
    { "ticker-32", 32, 0, 0, 0, 2, TRUE },
  };
  static const Bars shifted[] = {
    { "windowbox-16", 16, 2, 2, 3, 3, FALSE, 3, 5, TRUE },
    { "windowbox-32", 32, 2, 2, 2, 2, FALSE, 13, 9, TRUE },
    { "windowbox-64", 64, 2, 2, 2, 2, FALSE, 20, 30, TRUE },
    { "inset-32", 32, 2, 2, 2, 2, TRUE, 7, 21, TRUE },
  };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (layouts); i++) {
    gchar *path = g_strdup_printf ("/motionconstant/%s", layouts[i].name);

    g_test_add_data_func (path, &layouts[i], test_layout);
    g_free (path);
  }
  for (guint i = 0; i < G_N_ELEMENTS (bars); i++) {
    gchar *path = g_strdup_printf ("/motionconstant/cropped/%s", bars[i].name);

    g_test_add_data_func (path, &bars[i], test_equal_to_cropped);
    g_free (path);
  }
  for (guint i = 0; i < G_N_ELEMENTS (shifted); i++) {
    gchar *path = g_strdup_printf ("/motionconstant/near/%s", shifted[i].name);

    g_test_add_data_func (path, &shifted[i], test_near_cropped);
    g_free (path);
  }
  return g_test_run ();
}
