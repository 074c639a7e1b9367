/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* How a level is cut up for wavelets whose steps drift apart. */
#include "lwtfar_cuda.cuh"

#include <string.h>

namespace {

/* What a turn of a multiprocessor's thread blocks takes, in units of no matter,
 * when it has so many */
const gint costs[LWT_FAR_BLOCKS + 1] = { 0, 150, 195 };

/* A segment of the first or last strip takes as long as others that have so many
 * turns more; all of a thread block at an edge as long as so many turns. */
#define SIDE_TURNS 2
#define EDGE_TURNS 3

/* Forward, strips that go down side by side read from the same pages of memory:
 * segments of so many turns and more are as long at the sides as elsewhere, and
 * none has more turns than that. */
#define IN_STEP_TURNS 10
#define MOST_TURNS 24

gint
round_up (gint n, gint to)
{
  return (n + to - 1) / to * to;
}

void
set_steps (LwtFarTask *task, const LwtWavelet *wavelet, gboolean inverse)
{
  lwt_set_weights (task->taps, task->scale, wavelet, inverse);
  for (guint i = 0; i < wavelet->n_steps; i++) {
    const LwtStep *step =
        &wavelet->steps[inverse ? wavelet->n_steps - 1 - i : i];

    for (guint k = 0; k < step->n; k++) {
      task->neighbour[task->n_taps] = (gint8) (step->first + (gint) k);
      if (step->kind == LWT_STEP_UPDATE)
        task->odd |= 1u << task->n_taps;
      task->n_taps++;
    }
  }
}

/* An axis of @n samples with pieces at its ends, which give what does not lie
 * between samples @low of a kind and those @high from the last whole pair. */
LwtFarAxis
make_axis (LwtBoundary boundary, gint n, const gint low[2], const gint high[2])
{
  LwtFarAxis axis = {};

  axis.n = n;
  axis.pairs = lwt_count (n, 0);
  for (gint kind = 0; kind < 2; kind++)
    axis.from[kind] = lwt_count (n, kind);
  if (boundary == LWT_BOUNDARY_PERIODIC)
    return axis;
  axis.pieces = axis.pairs > LWT_FAR_PIECE ? 2 : 1;
  axis.start[1] = axis.pairs - LWT_FAR_PIECE;
  for (gint kind = 0; kind < 2; kind++) {
    axis.to[kind] = axis.pieces == 1 ? lwt_count (n, kind) : low[kind];
    if (axis.pieces > 1)
      axis.from[kind] = n / 2 - high[kind];
  }
  return axis;
}

/* Along x: what a window that goes beyond the picture gives is wrong. */
void
set_x (LwtFarTask *task, gint width, const LwtFarFacts *facts)
{
  gint low[2], high[2];

  for (gint kind = 0; kind < 2; kind++) {
    const gint *l = facts->windows.low[kind], *h = facts->windows.high[kind];

    low[kind] = -MIN (l[0], l[1]);
    high[kind] = MAX (h[0], h[1]);
  }
  task->x = make_axis (task->boundary, width, low, high);
}

/* Along y: times at which whole pairs come, and what is right then. */
void
set_y (LwtFarTask *task, gint height, const LwtFarFacts *facts)
{
  const LwtFlow *flow = &facts->flow;
  gint low[2], high[2];

  task->from = MAX (flow->in[0], flow->in[1]) + flow->warm;
  task->to = height / 2 + MIN (flow->in[0], flow->in[1]);
  for (gint kind = 0; kind < 2; kind++) {
    low[kind] = task->from - flow->out[kind];
    high[kind] = height / 2 - (task->to - flow->out[kind]);
  }
  task->y = make_axis (task->boundary, height, low, high);
  if (task->y.pieces == 0) {
    task->from = 0;
    task->to = task->y.pairs;
  } else if (task->y.pieces == 1) {
    task->from = task->to = 0;
  }
}

/* Whether what the strip before the last one gives depends on no column beyond
 * the picture. */
gboolean
fits (const LwtFarTask *task, const LwtFarFacts *facts)
{
  const gint end = task->first + (task->strips - 2) * task->useful + facts->from
                   + task->useful;

  for (gint kind = 0; kind < 2; kind++)
    if (end + (facts->inverse ? 0 : facts->offset[kind]) > task->x.from[kind])
      return FALSE;
  return TRUE;
}

/* Strips, from the leftmost that gives, or has, all that belongs to pair 0, to
 * one that does so with the last pair. A lane's first pair is a multiple of its
 * pairs, so that its samples are moved by 16 bytes. */
void
cut_strips (LwtFarTask *task, const LwtFarFacts *facts)
{
  const gint low = MIN (facts->offset[0], facts->offset[1]);
  const gint high = MAX (facts->offset[0], facts->offset[1]);
  const gboolean ends = task->x.pieces > 0;
  const gint spare = ends ? LWT_FAR_STRIP : facts->to;
  gint last;

  task->first = -round_up (MAX (high, 0) + (ends ? 0 : facts->from), LWT_FAR_K);
  /* the last one may begin so that it has the last pair just so */
  last = MAX (round_up (task->x.pairs - spare - low, LWT_FAR_K), task->first);
  task->useful = (facts->to - facts->from) / LWT_FAR_K * LWT_FAR_K + LWT_FAR_K;
  do {
    task->useful -= LWT_FAR_K;
    task->strips = 1 + (last - task->first + task->useful - 1) / task->useful;
  } while (task->strips > 1 && ends && !fits (task, facts));
  task->last = MIN (task->first + (task->strips - 1) * task->useful, last);
}

/* Pairs of rows that so many turns give, of @rows. */
gint
get_segment (gint turns, const LwtFarFacts *facts, gint rows)
{
  return CLAMP (turns * LWT_FAR_PAIRS - facts->flow.warm, 1, rows);
}

/* Segments of so many turns, those of the first and last strip of less. Returns:
 * thread blocks */
gint
set_segments (LwtFarTask *task, const LwtFarFacts *facts, gint turns)
{
  const gint rows = task->to - task->from, ends = MIN (task->strips, 2);
  const gboolean in_step = !facts->inverse && turns >= IN_STEP_TURNS;

  task->segment[0] = get_segment (turns, facts, rows);
  task->segment[1] =
      get_segment (in_step ? turns : turns - SIDE_TURNS, facts, rows);
  for (gint i = 0; i < 2; i++)
    task->segments[i] = (rows + task->segment[i] - 1) / task->segment[i];
  return ends * task->segments[1] + (task->strips - ends) * task->segments[0];
}

/* Segments of so many whole turns that the multiprocessors, each with a few
 * thread blocks at a time, are done soonest; of equal ones the longest. @edges:
 * thread blocks at edges, which come last, several in the time of a segment.
 * Returns: thread blocks */
gint
cut_segments (LwtFarTask *task, const LwtFarFacts *facts, gint edges)
{
  const gint rows = task->to - task->from, warm = facts->flow.warm;
  const gint whole = (rows + warm + LWT_FAR_PAIRS - 1) / LWT_FAR_PAIRS;
  const gint most = facts->inverse ? whole : MIN (whole, MOST_TURNS);
  const gint least = warm / LWT_FAR_PAIRS + 1 + SIDE_TURNS;
  const gint processors = lwt_get_multiprocessors ();
  gint64 least_cost = G_MAXINT64;
  gint best = least;

  if (rows == 0) /* all of it is edge */
    return edges;
  for (gint turns = least; turns <= most; turns++) {
    const gint together = MAX (turns / EDGE_TURNS, 1);
    const gint blocks =
        set_segments (task, facts, turns) + (edges + together - 1) / together;
    const gint each = (blocks + processors - 1) / processors;
    const gint64 cost = (gint64) turns
                        * (each / LWT_FAR_BLOCKS * costs[LWT_FAR_BLOCKS]
                            + costs[each % LWT_FAR_BLOCKS]);

    if (cost <= least_cost) {
      least_cost = cost;
      best = turns;
    }
  }
  return edges + set_segments (task, facts, best);
}

} // namespace

guint
lwt_far_cut (LwtFarTask *task, const LwtTransform *transform,
    const LwtLevelTask *level, const LwtFarFacts *facts, gint edge_blocks)
{
  gint edges, blocks;

  memset ((void *) task, 0, sizeof *task);
  task->boundary = transform->boundary;
  task->picture = level->picture;
  memcpy (task->bands, level->bands, sizeof task->bands);
  if (task->boundary == LWT_BOUNDARY_PERIODIC) {
    task->shift[0] = transform->wavelet.shift_low;
    task->shift[1] = transform->wavelet.shift_high;
  }
  set_steps (task, &transform->wavelet, facts->inverse);
  set_x (task, (gint) level->width, facts);
  set_y (task, (gint) level->height, facts);
  cut_strips (task, facts);
  edges = task->y.pieces * task->strips * edge_blocks;
  blocks = cut_segments (task, facts, edges);
  task->small = blocks <= lwt_get_multiprocessors ();
  return (guint) blocks;
}
