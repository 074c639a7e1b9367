/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Computes which positions each step has to change for the outputs of a run,
 * and the sizes of the tiles. */
#include "cuda/lifting/cuda/tileplan.h"

#include <string.h>

/* Tiles of 32 pairs along y instead of 64 are used up to this overlap in
 * pairs. */
#define MOST_OVERLAP 12

/* Registers of a thread besides its run's samples; bytes of shared memory of
 * a multiprocessor (compute capability 9.0; others hold fewer thread blocks) */
#define SPARE_REGISTERS 14
#define SHARED (228 * 1024)

/* Threads of a multiprocessor: large tiles would spill registers with more;
 * compute capability 7.5 is the limit for small tiles */
#define MAX_THREADS 640
#define MAX_THREADS_SMALL 1024

/* Largest distance between the outputs of the two kinds, in pairs */
#define MAX_DRIFT 24

const gchar *const lwt_tile_kernel_names[LWT_TILE_KERNELS] = { "forward",
  "forward_small", "inverse", "inverse_small", "parts", "two_levels",
  "two_levels_inverse", "two_levels_parts" };

static gint
round_up_tile (gint n, gint to)
{
  return (n + to - 1) / to * to;
}

/* Extends the range by positions from .. to - 1. */
static void
widen (gint range[2], gint from, gint to)
{
  range[0] = MIN (range[0], from);
  range[1] = MAX (range[1], to);
}

/* Sets the range that each step changes, from the last step to the first,
 * and @in, the inputs they need, including the sources of neighbours beyond
 * an end. */
static void
find_ranges (LwtTileLine *line, const LwtTilePlan *plan)
{
  line->end = line->run + MIN (line->out[0], line->out[1]);
  for (gint kind = 0; kind < 2; kind++) {
    line->in[kind][0] = line->out[kind];
    line->in[kind][1] = line->out[kind] + line->run;
  }
  for (gint i = plan->n_steps - 1; i >= 0; i--) {
    LwtTileStep *step = &line->steps[i];
    gint *need = line->in[1 - step->odd];

    step->from = line->in[step->odd][0];
    step->to = line->in[step->odd][1];
    widen (
        need, step->from + step->first, step->to + step->first + step->n - 1);
    if (plan->boundary == LWT_BOUNDARY_PERIODIC
        || plan->boundary == LWT_BOUNDARY_ZERO)
      continue;
    for (gint edge = LWT_TILE_LEFT; edge <= LWT_TILE_RIGHT_ODD; edge++)
      for (gint v = lwt_tile_beyond_from (*step, edge, line->end);
           v < lwt_tile_beyond_to (*step, edge, line->end); v++) {
        const gint source =
            lwt_tile_source (plan->boundary, edge, v, 1 - step->odd, line->end);

        widen (need, source, source + 1);
      }
  }
}

static gint
round_down (gint n, gint to)
{
  return n >= 0 ? n / to * to : -round_up_tile (-n, to);
}

/* Pairs that a run needs besides its own. Inputs come in whole chunks;
 * forward, of both kinds. */
static gint
find_inputs (LwtTileLine *line, const LwtTilePlan *plan, gint chunk)
{
  find_ranges (line, plan);
  if (plan->inverse) {
    for (gint kind = 0; kind < 2; kind++) {
      line->in[kind][0] = round_down (line->in[kind][0], chunk);
      line->in[kind][1] =
          line->in[kind][0]
          + round_up_tile (line->in[kind][1] - line->in[kind][0], chunk);
    }
  } else {
    const gint pairs = MAX (chunk / 2, 1);

    widen (line->in[0], line->in[1][0], line->in[1][1]);
    line->in[0][0] = round_down (line->in[0][0], pairs);
    line->in[0][1] =
        line->in[0][0] + round_up_tile (line->in[0][1] - line->in[0][0], pairs);
    memcpy (line->in[1], line->in[0], sizeof line->in[1]);
  }
  return MAX (line->in[0][1] - line->in[0][0], line->in[1][1] - line->in[1][0])
         - line->run;
}

/* Whether only the first run of a tile depends on its left end and only the
 * last run on its right end. For runs of 16 and more outputs, inputs that
 * only fill chunks do not count; shorter runs would recompute most
 * neighbours. */
static gboolean
ends_are_apart (const LwtTileLine *rounded, const LwtTilePlan *plan)
{
  LwtTileLine exact = *rounded;
  const LwtTileLine *line = &exact;
  gboolean result = TRUE;

  if (line->run >= 16)
    find_ranges (&exact, plan);

  for (gint kind = 0; kind < 2 && line->runs > 1; kind++)
    result = result && line->run + line->in[kind][0] >= 0
             && line->in[kind][1] <= line->run + line->end - 1;
  return result;
}

/* A run of @run outputs. Forward, the outputs of one kind may be offset
 * against the other kind to minimise the inputs. Returns: pairs besides its
 * own */
static gint
plan_run (LwtTileLine *line, const LwtTilePlan *plan, gint run, gint chunk)
{
  gint best = 0, least;

  line->run = run;
  line->out[0] = line->out[1] = 0;
  least = find_inputs (line, plan, chunk);
  if (!ends_are_apart (line, plan))
    least = G_MAXINT;
  for (gint drift = -MAX_DRIFT; !plan->inverse && drift <= MAX_DRIFT; drift++) {
    gint beside;

    line->out[0] = MIN (-drift, 0);
    line->out[1] = MIN (drift, 0);
    beside = find_inputs (line, plan, chunk);
    if (!ends_are_apart (line, plan))
      continue;
    if (beside < least || (beside == least && ABS (drift) < ABS (best))) {
      least = beside;
      best = drift;
    }
  }
  line->out[0] = MIN (-best, 0);
  line->out[1] = MIN (best, 0);
  return find_inputs (line, plan, chunk);
}

/* Runs of the second axis, as long as the tile's @room pairs allow. */
static gboolean
plan_second (LwtTileLine *line, const LwtTilePlan *plan, gint room, gint runs,
    gint grain, gint chunk)
{
  for (; runs > 0; runs /= 2)
    for (gint run = room / runs / grain * grain; run > 0; run -= grain) {
      gint beside;

      line->runs = runs;
      beside = plan_run (line, plan, run, chunk);
      if (beside + runs * run <= room) {
        if (run * runs >= room / 4 && ends_are_apart (line, plan))
          return TRUE;
        break;
      }
    }
  return FALSE;
}

gint
lwt_tile_get_inputs (const LwtTileLine *line, gint kind)
{
  return (line->runs - 1) * line->run + line->in[kind][1] - line->in[kind][0];
}

gsize
lwt_tile_plan_get_shared (const LwtTilePlan *plan, LwtType type)
{
  const LwtTileLine *x = &plan->lines[0], *y = &plan->lines[1];
  gsize samples = (gsize) plan->rows * plan->pitch;

  if (plan->parts && !plan->two)
    samples += (gsize) (2 * x->run * x->runs) * (2 * y->run * y->runs);
  return samples * lwt_type_get_size (type);
}

/* The sliding window of two levels (cuda/lifting/cuda/window.cuh). Along y, step i
 * changes the pair that came `delay` turns ago: by then its neighbours are there and done,
 * and no earlier step needs it unchanged. FALSE: a step looks further than the next
 * pair. */
static gboolean
plan_window (LwtTilePlan *plan)
{
  LwtTileLine *x = &plan->lines[0], *y = &plan->lines[1];
  LwtTilePlan inner = *plan;
  gint delay[2] = { 0, 0 }, read[2] = { 0, 0 }, left, right;

  for (gint i = 0; i < plan->n_steps; i++) {
    LwtTileStep *step = &y->steps[i];
    const gint odd = step->odd, last = step->first + step->n - 1;

    if (step->first < odd - 1 || last > odd)
      return FALSE;
    /* at an end a step reads its own pair, too */
    delay[odd] =
        MAX (MAX (delay[odd], read[odd]), delay[1 - odd] + MAX (last, 0));
    read[1 - odd] = MAX (read[1 - odd], delay[odd] - MIN (step->first, 0));
    step->from = -delay[odd];
    step->to = step->from + 1;
  }
  for (gint odd = 0; odd < 2; odd++) {
    y->out[odd] = -MAX (delay[0], delay[1]);
    /* beyond an end, too, a pair has a place */
    y->in[odd][0] = y->out[odd] - 1;
    y->in[odd][1] = 1;
  }
  /* the outermost pair stands for the one beyond it: ends need nothing more */
  inner.boundary = LWT_BOUNDARY_PERIODIC;
  x->run = x->runs = 1;
  find_ranges (x, &inner);
  left = -MIN (x->in[0][0], x->in[1][0]);
  right = MAX (x->in[0][1], x->in[1][1]) - 1;
  /* a level needs its own neighbours and those of the level behind it twice */
  x->in[0][0] = x->in[1][0] = -round_up_tile (3 * left, 4);
  x->run = round_down (64 - 3 * right + x->in[0][0], 4);
  plan->lead =
      plan->inverse ? left + (left + 1) / 2 : left + (left - y->out[0] + 1) / 2;
  plan->threads = 128;
  plan->blocks = 3;
  plan->rows = plan->threads / 32 * (4 + plan->parts) * LWT_WINDOW_TURNS;
  plan->pitch = 128;
  return x->run >= 32;
}

gboolean
lwt_tile_plan_init (LwtTilePlan *plan, LwtTileKernel kernel,
    const LwtWavelet *wavelet, LwtType type, LwtBoundary boundary)
{
  const gboolean inverse =
      kernel >= LWT_TILE_INVERSE && kernel != LWT_TILE_TWO_LEVELS;
  const gboolean small =
      kernel != LWT_TILE_FORWARD && kernel != LWT_TILE_INVERSE;
  const gint size = (gint) lwt_type_get_size (type), chunk = 16 / size;
  const gint first = inverse ? 1 : 0, second = 1 - first;
  LwtTileLine *lines = plan->lines;
  guint taps = 0;
  gint registers, beside, room, run = small || size == 8 ? 16 : 32;
  gboolean low;

  memset (plan, 0, sizeof *plan);
  plan->inverse = inverse;
  plan->boundary = boundary;
  plan->n_steps = (gint) wavelet->n_steps;
  plan->parts = kernel == LWT_TILE_PARTS || kernel == LWT_TILE_TWO_LEVELS_PARTS;
  plan->two = kernel >= LWT_TILE_TWO_LEVELS;
  if (wavelet->n_steps > LWT_TILE_MAX_STEPS
      || (plan->parts && type == LWT_TYPE_I32))
    return FALSE;
  for (guint i = 0; i < wavelet->n_steps; i++) {
    const LwtStep *step =
        &wavelet->steps[inverse ? wavelet->n_steps - 1 - i : i];
    const LwtTileStep copy = { step->kind == LWT_STEP_PREDICT, step->first,
      (gint) step->n, (gint) taps, 0, 0 };

    if (ABS (step->first) > LWT_TILE_MAX_INPUTS)
      return FALSE;
    lines[0].steps[i] = lines[1].steps[i] = copy;
    taps += step->n;
  }
  if (taps > LWT_TILE_MAX_TAPS)
    return FALSE;
  if (plan->two)
    return size == 4 && boundary != LWT_BOUNDARY_PERIODIC && plan_window (plan);
  lines[first].runs = 2;
  beside = plan_run (&lines[first], plan, run, inverse ? 1 : chunk);
  if (beside > 26) {
    run = 16;
    plan_run (&lines[first], plan, run, inverse ? 1 : chunk);
  }
  if (!small && !ends_are_apart (&lines[first], plan)) {
    run = 32;
    lines[first].runs = 1;
    plan_run (&lines[first], plan, run, inverse ? 1 : chunk);
  }
  /* more tiles with fewer rows are faster if they do not overlap too much */
  low = size == 4 && beside <= MOST_OVERLAP;
  room = small || (!inverse && low) ? 32 : 64;
  if (inverse && low && !small) {
    lines[first].runs = 1;
    /* five thread blocks fit a multiprocessor */
    plan_run (&lines[first], plan, beside < MOST_OVERLAP ? run : run - 1, 1);
  }
  if (!ends_are_apart (&lines[first], plan)
      || !plan_second (&lines[second], plan, room, room / run,
          inverse ? chunk : 1, inverse ? chunk : 1))
    return FALSE;
  for (gint axis = 0; axis < 2; axis++)
    for (gint kind = 0; kind < 2; kind++)
      if (lines[axis].in[kind][1] - lines[axis].in[kind][0]
          > LWT_TILE_MAX_INPUTS)
        return FALSE;
  plan->threads = 2 * room * lines[first].runs;
  registers = plan->parts ? 24 : 0;
  for (gint axis = 0; axis < 2; axis++)
    registers =
        MAX (registers, (lines[axis].in[0][1] - lines[axis].in[0][0]
                            + lines[axis].in[1][1] - lines[axis].in[1][0])
                            * size / 4);
  if (inverse) {
    plan->half = room;
    plan->half_rows = MAX (
        lwt_tile_get_inputs (&lines[1], 0), lwt_tile_get_inputs (&lines[1], 1));
    plan->rows = 2 * plan->half_rows;
    plan->pitch = 2 * room;
  } else {
    plan->half = lines[0].run * lines[0].runs;
    plan->rows = 2 * lwt_tile_get_inputs (&lines[1], 0);
    plan->pitch = 2 * lwt_tile_get_inputs (&lines[0], 0);
  }
  /* an odd number of chunks: no bank conflicts along rows or columns */
  plan->pitch = (round_up_tile (plan->pitch, chunk) / chunk | 1) * chunk;
  /* a few spilled registers cost less than an occupancy below 16 warps */
  plan->blocks =
      MIN (MAX (65536 / (plan->threads * (registers + SPARE_REGISTERS)),
               size <= 4 ? 512 / plan->threads : 1),
          (gint) (SHARED / (lwt_tile_plan_get_shared (plan, type) + 1024)));
  plan->blocks = CLAMP (plan->blocks, 1,
      (small && !plan->parts ? MAX_THREADS_SMALL : MAX_THREADS)
          / plan->threads);
  return TRUE;
}

gboolean
lwt_tile_axis_init (LwtTileAxis *axis, const LwtTilePlan *plan, gint which,
    gint n, const gint shift[2])
{
  const LwtTileLine *line = &plan->lines[which];
  const gint size = line->run * line->runs, pairs = (n + 1) / 2;
  const gint low = MIN (line->out[0], line->out[1]);
  const gint left = -MIN (line->in[0][0], line->in[1][0]);
  const gint right = MAX (line->in[0][1], line->in[1][1]) + size - line->run;

  axis->n = n;
  axis->shift[0] = axis->shift[1] = 0;
  if (plan->boundary == LWT_BOUNDARY_PERIODIC) {
    axis->tiles = (pairs + size - 1) / size;
    axis->last = axis->right = pairs - size;
    memcpy (axis->shift, shift, sizeof axis->shift);
    return n % 2 == 0
           && pairs >= left + right + MAX (ABS (shift[0]), ABS (shift[1]));
  }
  axis->tiles = (pairs - low + size - 1) / size;
  axis->last = n / 2 - right;
  axis->right = pairs - (size - line->run) - line->end;
  /* each tile except the first has all its inputs to the left, each except
   * the last all to the right; the last but one ends where the last one
   * begins */
  return axis->tiles > 1 && size >= left && axis->last >= 0
         && (axis->tiles == 2 || axis->last >= left) && axis->right >= left
         && axis->last + size >= axis->right;
}

void
lwt_tile_plan_print (
    const LwtTilePlan *plan, LwtType type, const gchar *name, GString *text)
{
  static const gchar *const types[] = { "float", "double", "int" };
  const gchar *function = plan->parts     ? "parts"
                          : plan->inverse ? "inverse"
                                          : "forward";
  const gint *const numbers = (const gint *) plan; /* it has only such fields */

  g_string_append_printf (
      text, "struct plan_of_%s { static constexpr LwtTilePlan plan = {", name);
  for (gsize i = 0; i < sizeof *plan / sizeof (gint); i++)
    g_string_append_printf (text, "%d,", numbers[i]);
  g_string_append (text, "}; };\n");
  g_string_append_printf (text,
      "extern \"C\" __global__ void __launch_bounds__ (%d, %d)\n"
      "%s (const __grid_constant__ LwtTileParameters<%s> parameters)\n"
      "{ lwt_%s_%s<%s, plan_of_%s> (parameters, (%s *) lwt_tile_shared); }\n",
      plan->threads, plan->blocks, name, types[type],
      plan->two ? "window" : "tile", function, types[type], name, types[type]);
}
