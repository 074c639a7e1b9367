/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Finds dissolves and fades by the mean deviation of the samples from their block's
 * mean, in at most 16 x 16 cells of a frame; docs/design/motion.md, Transitions. */
#include "cuda/motion/transition.h"

#include <math.h>
#include <string.h>

#define SIDE 16 /* cells across and down */
#define CELLS (SIDE * SIDE)
#define KEPT 192 /* frames */

/* A frame without content has a mean deviation below FLAT levels, or, with noise, below
 * NOISE levels and about the same in all cells. */
#define FLAT 1.0
#define NOISE 8.0
#define EVEN 0.15 /* standard deviation of the logarithm */

/* Searched distances between the last frame of the old scene and the first one of the
 * new scene; a dissolve of any length in between has one that is near. */
static const guint lengths[] = { 5, 7, 10, 14, 19, 26, 36, 50, 70 };

/* Least spread of the scenes of a dissolve: an object that moves before a flat background
 * dips too when it crosses from cell to cell. */
#define SPREAD 0.12

#define EVIDENCE 0.08 /* of a dissolve: its threshold */
#define SHORTEST 3    /* distance between unmixed frames */
#define LONGEST_FADE (KEPT / 2)
#define SLOW 0.25 /* of the mean speed: a fade has ended */

typedef struct {
  guint64 number, pts;
  gdouble mean;   /* deviation of all cells */
  gdouble spread; /* 1: the same in all cells, 1 / n: in one cell only */
  gboolean flat;
  gfloat cells[CELLS];
} Frame;

/**
 * MotionTransitionDetector:
 * @n_cells: of each frame
 * @n: frames of the stream so far; frame i is frames[i % KEPT]
 * @first: the first frame that a transition may begin with
 * @content: number of frames with content in a row
 * @fade_from: the flat frame before, if a fade-in may be running
 * @evidence, @start, @end: of the best dissolve so far; 0: none
 */
struct _MotionTransitionDetector {
  guint n_cells;
  guint64 n, first, content, fade_from;
  gboolean fading;
  guint slow;
  gdouble evidence;
  guint64 start, end;
  Frame frames[KEPT];
};

MotionTransitionDetector *
motion_transition_detector_new (void)
{
  return g_new0 (MotionTransitionDetector, 1);
}

void
motion_transition_detector_free (MotionTransitionDetector *detector)
{
  g_free (detector);
}

static void
forget_frames (MotionTransitionDetector *detector)
{
  detector->n = detector->first = detector->content = 0;
  detector->fading = FALSE;
  detector->evidence = 0;
}

static const Frame *
get_frame (const MotionTransitionDetector *detector, guint64 i)
{
  return &detector->frames[i % KEPT];
}

/* --- a frame ------------------------------------------------------------------ */

static guint
cell_of_block (guint i, guint blocks)
{
  return blocks > SIDE ? i * SIDE / blocks : i;
}

static gboolean
is_flat (const Frame *frame, guint n)
{
  gdouble sum = 0, squares = 0;

  if (frame->mean >= NOISE)
    return FALSE;
  for (guint i = 0; i < n; i++) {
    const gdouble l = log2 (frame->cells[i] + 1.0);

    sum += l;
    squares += l * l;
  }
  return frame->mean < FLAT
         || (n > 1 && squares / n - sum / n * (sum / n) < EVEN * EVEN);
}

/* Returns: number of cells */
static guint
fill_frame (Frame *frame, const CvisMotionPacket *packet,
    const CvisMotionBlock *blocks, guint64 pts)
{
  const guint across = MIN (packet->columns, SIDE);
  const guint n = across * MIN (packet->rows, SIDE);
  const gdouble level = 1u << (packet->depth - 8);
  gdouble sums[CELLS] = { 0 }, samples[CELLS] = { 0 }, squares = 0;

  for (guint row = 0; row < packet->rows; row++)
    for (guint column = 0; column < packet->columns; column++) {
      const guint cell = cell_of_block (row, packet->rows) * across
                         + cell_of_block (column, packet->columns);
      const guint size = packet->block_size;

      sums[cell] += blocks[row * packet->columns + column].intra / level;
      samples[cell] += MIN (size, packet->width - column * size)
                       * MIN (size, packet->height - row * size);
    }
  frame->number = packet->frame;
  frame->pts = pts;
  frame->mean = 0;
  for (guint i = 0; i < n; i++) {
    const gdouble d = sums[i] / samples[i];

    frame->cells[i] = (gfloat) d;
    frame->mean += d / n;
    squares += d * d / n;
  }
  frame->spread = squares > 0 ? frame->mean * frame->mean / squares : 0;
  frame->flat = is_flat (frame, n);
  return n;
}

/* --- dissolves ---------------------------------------------------------------- */

/* The deviation in cell @i of a mixture with the share @a of @to. The variances of two
 * pictures add up, so that it is lower than that of either: a dip in the middle. */
static gdouble
mix_cells (const Frame *from, const Frame *to, guint i, gdouble a)
{
  return hypot ((1 - a) * from->cells[i], a * to->cells[i]);
}

/* Correlation of the logarithms of the deviation, at least 0 */
static gdouble
compare_textures (const Frame *a, const Frame *b, guint n)
{
  gdouble sum_a = 0, sum_b = 0, aa = 0, ab = 0, bb = 0;

  for (guint i = 0; i < n; i++) {
    const gdouble x = log2 (a->cells[i] + 1.0), y = log2 (b->cells[i] + 1.0);

    sum_a += x;
    sum_b += y;
    aa += x * x;
    ab += x * y;
    bb += y * y;
  }
  aa -= sum_a * sum_a / n;
  ab -= sum_a * sum_b / n;
  bb -= sum_b * sum_b / n;
  return aa > 0 && bb > 0 ? MAX (0, ab / sqrt (aa * bb)) : 0;
}

/* How much better a dissolve from frame @start to frame @end explains three frames in
 * between than a change without a dip, 0 to 1; less if both show the same texture */
static gdouble
rate_dissolve (
    const MotionTransitionDetector *detector, guint64 start, guint64 end)
{
  const Frame *from = get_frame (detector, start);
  const Frame *to = get_frame (detector, end);
  const guint64 length = end - start;
  gdouble mixed = 0, plain = 0, likeness;

  if (from->spread < SPREAD || to->spread < SPREAD)
    return 0;
  for (guint quarter = 1; quarter <= 3; quarter++) {
    const guint64 k = start + (quarter * length + 2) / 4;
    const Frame *frame = get_frame (detector, k);
    const gdouble a = (gdouble) (k - start) / (gdouble) length;
    gdouble mixed_error = 0, plain_error = 0, mixed_sum = 0, plain_sum = 0;

    for (guint i = 0; i < detector->n_cells; i++) {
      const gdouble mix = mix_cells (from, to, i, a);
      const gdouble other = sqrt ((1 - a) * from->cells[i] * from->cells[i]
                                  + a * to->cells[i] * to->cells[i]);

      mixed_error += fabs (frame->cells[i] - mix);
      plain_error += fabs (frame->cells[i] - other);
      mixed_sum += mix;
      plain_sum += other;
    }
    if (!(mixed_sum > 0))
      return 0;
    mixed += mixed_error / mixed_sum / 3;
    plain += plain_error / plain_sum / 3;
  }
  if (plain < 0.02)
    return 0;
  likeness = compare_textures (from, to, detector->n_cells);
  return (plain - mixed) / plain * MIN (1, 2 * (1 - likeness * likeness));
}

/* The share of the new scene in frame @k, 1/32 to 31/32 */
static gdouble
find_share (const MotionTransitionDetector *detector, guint64 k)
{
  const Frame *from = get_frame (detector, detector->start);
  const Frame *to = get_frame (detector, detector->end);
  const Frame *frame = get_frame (detector, k);
  gdouble best = G_MAXDOUBLE, share = 0;

  for (guint step = 1; step < 32; step++) {
    gdouble error = 0;

    for (guint i = 0; i < detector->n_cells; i++)
      error += fabs (frame->cells[i] - mix_cells (from, to, i, step / 32.0));
    if (error < best) {
      best = error;
      share = step / 32.0;
    }
  }
  return share;
}

/* Moves start and end to where a straight line through the shares has 0 and 1.
 * Returns: whether the evidence is larger there */
static gboolean
refine_dissolve (MotionTransitionDetector *detector)
{
  const gdouble last = (gdouble) (detector->n - 1);
  const gdouble first = MAX ((gdouble) detector->first, last - KEPT + 1);
  gdouble n = 0, sum_k = 0, sum_a = 0, aa = 0, ak = 0, slope, zero, evidence;
  guint64 start, end;

  for (guint64 k = detector->start + 1; k < detector->end; k++) {
    const gdouble a = find_share (detector, k);
    const gdouble x = (gdouble) (k - detector->start);

    if (a < 0.12 || a > 0.88)
      continue;
    n++;
    sum_k += x;
    sum_a += a;
    aa += a * a;
    ak += a * x;
  }
  if (n < 2 || !(aa - sum_a * sum_a / n > 0))
    return FALSE;
  slope = (ak - sum_a * sum_k / n) / (aa - sum_a * sum_a / n);
  zero = (gdouble) detector->start + (sum_k - slope * sum_a) / n;
  start = (guint64) lrint (CLAMP (zero, first, last - SHORTEST));
  end =
      (guint64) lrint (CLAMP (zero + slope, (gdouble) start + SHORTEST, last));
  evidence = rate_dissolve (detector, start, end);
  if (evidence <= detector->evidence)
    return FALSE;
  detector->evidence = evidence;
  detector->start = start;
  detector->end = end;
  return TRUE;
}

/* @start, @end: the first mixed frame, and the first one after them */
static void
fill_transition (MotionTransitionDetector *detector, MotionTransitionKind kind,
    guint64 start, guint64 end, MotionTransition *found)
{
  const Frame *first = get_frame (detector, start);
  const Frame *after = get_frame (detector, end);

  *found = (MotionTransition){ kind, first->number, after->number, first->pts,
    after->pts };
  detector->first = end;
}

/* The best dissolve so far, if there is one */
static gboolean
take_dissolve (MotionTransitionDetector *detector, MotionTransition *found)
{
  if (detector->evidence == 0)
    return FALSE;
  if (refine_dissolve (detector))
    refine_dissolve (detector);
  fill_transition (
      detector, MOTION_DISSOLVE, detector->start + 1, detector->end, found);
  detector->evidence = 0;
  return TRUE;
}

/* Looks for dissolves that end with the last frame, and takes the best one when it is
 * sure that no better one follows. */
static gboolean
search_dissolve (MotionTransitionDetector *detector, MotionTransition *found)
{
  const guint64 last = detector->n - 1;

  for (guint i = 0; i < G_N_ELEMENTS (lengths); i++) {
    gdouble evidence;

    if (lengths[i] >= detector->content || last < detector->first + lengths[i])
      break;
    evidence = rate_dissolve (detector, last - lengths[i], last);
    if (evidence < EVIDENCE || evidence <= detector->evidence)
      continue;
    detector->evidence = evidence;
    detector->start = last - lengths[i];
    detector->end = last;
  }
  return detector->evidence > 0
         && last - detector->end
                >= MAX (4, (detector->end - detector->start) / 3)
         && take_dissolve (detector, found);
}

/* --- fades -------------------------------------------------------------------- */

/* Where the deviation crosses the share @part on the way from the plateau @from to the
 * flat frame @flat, in frames */
static gdouble
find_crossing (const MotionTransitionDetector *detector, guint64 from,
    guint64 flat, gdouble part)
{
  const gdouble floor = get_frame (detector, flat)->mean;
  const gdouble level =
      floor + part * (get_frame (detector, from)->mean - floor);
  const gint step = from < flat ? 1 : -1;
  guint64 k = from;
  gdouble above, below;

  while (k + step != flat && get_frame (detector, k + step)->mean > level)
    k += step;
  above = get_frame (detector, k)->mean;
  below = get_frame (detector, k + step)->mean;
  return (gdouble) k
         + (above > below ? step * (above - level) / (above - below) : 0);
}

/* A fade is a line: its ends follow from where three quarters and a quarter of the
 * deviation are left. */
static gboolean
take_fade (MotionTransitionDetector *detector, guint64 plateau, guint64 flat,
    MotionTransition *found)
{
  const gdouble high = find_crossing (detector, plateau, flat, 0.75);
  const gdouble low = find_crossing (detector, plateau, flat, 0.25);
  const gdouble half = (low - high) / 2;
  const gdouble last = (gdouble) (detector->n - 1);
  gdouble start = plateau < flat ? high - half : low + half;
  gdouble end = plateau < flat ? low + half : high - half;

  if (end - start < SHORTEST)
    return FALSE;
  start = CLAMP (floor (start) + 1, (gdouble) detector->first, last);
  end = CLAMP (ceil (end - 1e-6), start + 1, last);
  if (end > last)
    return FALSE;
  fill_transition (detector, plateau < flat ? MOTION_FADE_OUT : MOTION_FADE_IN,
      (guint64) start, (guint64) end, found);
  return TRUE;
}

/* Counts the frames in a row at which the deviation grows slowly from the flat frame @flat
 * to frame @k, by less than a quarter of the mean speed. */
static guint
count_slow (const MotionTransitionDetector *detector, guint64 flat, guint64 k,
    guint slow)
{
  const gboolean forwards = k > flat;
  const gdouble mean = get_frame (detector, k)->mean;
  const gdouble rise = mean - get_frame (detector, flat)->mean;
  const gdouble step =
      mean - get_frame (detector, forwards ? k - 1 : k + 1)->mean;
  const gdouble distance = (gdouble) (forwards ? k - flat : flat - k);

  return step < SLOW * rise / distance ? slow + 1 : 0;
}

/* The last frame is flat: was there a fade before it? */
static gboolean
search_fade_out (MotionTransitionDetector *detector, MotionTransition *found)
{
  const guint64 flat = detector->n - 1;
  const guint64 most = MIN (MIN (detector->content, LONGEST_FADE),
      flat - MIN (flat, detector->first));
  guint64 k = flat;
  guint slow = 0;

  while (slow < 2 && flat - k < most) {
    k--;
    slow = count_slow (detector, flat, k, slow);
  }
  return most >= SHORTEST && take_fade (detector, k + slow, flat, found);
}

/* A flat frame stood before: is the fade-in over? */
static gboolean
search_fade_in (MotionTransitionDetector *detector, gboolean at_end,
    MotionTransition *found)
{
  const guint64 last = detector->n - 1;

  if (!at_end)
    detector->slow =
        count_slow (detector, detector->fade_from, last, detector->slow);
  if (detector->slow < 2 && !at_end
      && last - detector->fade_from < LONGEST_FADE)
    return FALSE;
  detector->fading = FALSE;
  detector->first = last;
  if (last - detector->slow <= detector->fade_from)
    return FALSE;
  detector->first = detector->fade_from + 1;
  if (take_fade (detector, last - detector->slow, detector->fade_from, found))
    return TRUE;
  detector->first = last;
  return FALSE;
}

/* --- the detector --------------------------------------------------------------- */

gboolean
motion_transition_detector_add (MotionTransitionDetector *detector,
    const CvisMotionPacket *packet, const CvisMotionBlock *blocks, guint64 pts,
    MotionTransition *found)
{
  Frame *frame = &detector->frames[detector->n % KEPT];
  gboolean ok;
  guint n;

  if (blocks == NULL)
    return motion_transition_detector_end (detector, found);
  n = fill_frame (frame, packet, blocks, pts);
  if (detector->n > 0 && n != detector->n_cells) {
    Frame copy = *frame;

    forget_frames (detector);
    detector->frames[0] = copy;
    frame = &detector->frames[0];
  }
  detector->n_cells = n;
  detector->n++;
  if (frame->flat) {
    ok = detector->content > 0 && !detector->fading
         && search_fade_out (detector, found);
    detector->evidence = 0;
    detector->content = detector->slow = 0;
    detector->fading = TRUE;
    detector->fade_from = detector->first = detector->n - 1;
    return ok;
  }
  detector->content++;
  if (detector->fading)
    return search_fade_in (detector, FALSE, found);
  if (packet->flags & CVIS_MOTION_FRAME_SCENE_CUT) {
    ok = take_dissolve (detector, found);
    detector->first = detector->n - 1;
    return ok;
  }
  return search_dissolve (detector, found);
}

gboolean
motion_transition_detector_end (
    MotionTransitionDetector *detector, MotionTransition *found)
{
  gboolean ok = FALSE;

  if (detector->n > 0)
    ok = detector->fading && detector->content > 0
             ? search_fade_in (detector, TRUE, found)
             : take_dissolve (detector, found);
  forget_frames (detector);
  return ok;
}

const gchar *
motion_transition_kind_get_name (MotionTransitionKind kind)
{
  static const gchar *const names[] = { "dissolve", "fade-out", "fade-in" };

  return names[kind];
}
