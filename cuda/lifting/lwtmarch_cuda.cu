/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Which structure a wavelet has, and how a level is cut up for marching. */
#include "lwtmarch_cuda.cuh"

#include <string.h>

namespace {

/* Warps of a launch for each multiprocessor, a few times what one holds: those at
 * the sides take longer, and so they end with the others. Segments are not
 * shorter or longer (pairs of rows) for that */
#ifndef LWT_WARPS_EACH
#define LWT_WARPS_EACH 64
#endif
#ifndef LWT_SEGMENT_MIN
#define LWT_SEGMENT_MIN 4
#endif
#ifndef LWT_SEGMENT_MAX
#define LWT_SEGMENT_MAX 128
#endif

template <class Shape>
gboolean
has_shape (const LwtWavelet *wavelet)
{
  if (wavelet->n_steps != (guint) Shape::n)
    return FALSE;
  for (gint i = 0; i < Shape::n; i++) {
    const LwtStep *step = &wavelet->steps[i];
    const gint code = step->kind == LWT_STEP_PREDICT
                          ? LWT_P (step->first, (gint) step->n)
                          : LWT_U (step->first, (gint) step->n);

    if (code != Shape::code (i))
      return FALSE;
  }
  return TRUE;
}

gint
round_up (gint n, gint to)
{
  return (n + to - 1) / to * to;
}

/* How much further to the left an output of an axis of @pairs depends: with an
 * odd period the high sample that it lacks is the one before it, whenever steps
 * come to it. */
gint
get_more (LwtBoundary boundary, gint n, LwtReach reach)
{
  const gint pairs = lwt_count (n, 0);

  return boundary == LWT_BOUNDARY_PERIODIC && (n & 1)
             ? 1 + reach.left / MAX (pairs - 1, 1)
             : 0;
}

void
cut_strips (LwtMarchTask *task, LwtReach reach)
{
  const gint pairs = lwt_count (task->width, 0);
  const gint right = round_up (reach.right, LWT_K);

  task->halo = round_up (
      reach.left + get_more (task->boundary, task->width, reach), LWT_K);
  task->useful = (LWT_STRIP - task->halo - right) / 8 * 8;
  if (pairs + task->halo + right <= LWT_STRIP)
    task->useful = round_up (pairs, LWT_K);
  task->strips = (pairs + task->useful - 1) / task->useful;
}

/* Outputs @from .. @to - 1, made of pairs @start .. @end - 1. */
void
add_edge (LwtMarchTask *task, gint from, gint to, gint start, gint end)
{
  const gint pairs = lwt_count (task->height, 0);

  if (from >= to)
    return;
  if (task->boundary != LWT_BOUNDARY_PERIODIC) {
    start = MAX (start, 0);
    end = MIN (end, pairs);
  }
  task->edge_from[task->edges] = from;
  task->edge_to[task->edges] = to;
  task->edge_start[task->edges] = start;
  task->edge_pairs[task->edges] = end - start;
  task->edges++;
}

/* Rows of pairs: a segment's know only pairs that are whole and in the picture,
 * or in its repetition; an edge's those that they and, mirrored, their
 * neighbours beyond it depend on. */
void
cut_rows (LwtMarchTask *task, LwtReach reach, gint out)
{
  const gint pairs = lwt_count (task->height, 0);
  const gint left = reach.left + get_more (task->boundary, task->height, reach);
  const gint right = reach.right + 1;

  task->edges = 0;
  task->from = 0;
  task->to = pairs;
  if (task->boundary == LWT_BOUNDARY_PERIODIC && task->height % 2 == 0)
    return;
  task->from = reach.left;
  task->to = task->height / 2 - out;
  if (task->to <= task->from) {
    task->from = task->to = 0;
    add_edge (task, 0, pairs, -left, pairs + right);
    return;
  }
  add_edge (task, 0, task->from, -left, task->from + right);
  add_edge (task, task->to, pairs, MIN (task->to, pairs - 1 - right) - left,
      pairs + right);
}

/* Whether two entries of a row of all bands along y lie side by side where eight
 * bytes may be moved. */
bool
is_vector (const LwtMarchTask *task, gint kind)
{
  bool result = task->shift[kind] == 0;

  for (gint odd = 0; odd < 2; odd++) {
    const LwtBand *band = &task->bands[odd][kind];

    if (band->data)
      result = result && band->step == 1
               && ((gsize) band->data | band->pitch) % 8 == 0;
  }
  return result;
}

} // namespace

gint
lwt_shape_find (const LwtWavelet *wavelet)
{
  return has_shape<LwtHaar> (wavelet)    ? 1
         : has_shape<LwtCdf53> (wavelet) ? 2
         : has_shape<LwtCdf97> (wavelet) ? 3
         : has_shape<LwtDb2> (wavelet)   ? 4
         : has_shape<LwtDb4> (wavelet)   ? 5
         : has_shape<LwtDb10> (wavelet)  ? 6
                                         : 0;
}

gint
lwt_get_multiprocessors (void)
{
  int device = 0, n = 0;

  if (cudaGetDevice (&device) != cudaSuccess
      || cudaDeviceGetAttribute (&n, cudaDevAttrMultiProcessorCount, device)
             != cudaSuccess)
    n = 0;
  return MAX (n, 1);
}

void
lwt_set_weights (
    gfloat *taps, gfloat scale[2], const LwtWavelet *wavelet, gboolean inverse)
{
  const gdouble scales[2] = { wavelet->scale_low, wavelet->scale_high };
  guint n = 0;

  for (guint i = 0; i < wavelet->n_steps; i++) {
    const LwtStep *step =
        &wavelet->steps[inverse ? wavelet->n_steps - 1 - i : i];

    for (guint k = 0; k < step->n; k++)
      taps[n++] = inverse ? -(gfloat) step->c[k] : (gfloat) step->c[k];
  }
  for (gint i = 0; i < 2; i++)
    scale[i] = (gfloat) (inverse ? 1.0 / scales[i] : scales[i]);
}

LwtMarchLaunch
lwt_march_cut (LwtMarchTask *task, const LwtTransform *transform,
    const LwtLevelTask *level, gboolean inverse, LwtReach reach, gint out,
    gint ring, gint row)
{
  const gint most = LWT_WARPS_EACH * lwt_get_multiprocessors ();
  gint rows, segments;
  LwtMarchLaunch launch;

  memset ((void *) task, 0, sizeof *task);
  lwt_set_weights (task->taps, task->scale, &transform->wavelet, inverse);
  task->boundary = transform->boundary;
  task->width = (gint) level->width;
  task->height = (gint) level->height;
  task->picture = level->picture;
  memcpy (task->bands, level->bands, sizeof task->bands);
  if (task->boundary == LWT_BOUNDARY_PERIODIC) {
    task->shift[0] = transform->wavelet.shift_low;
    task->shift[1] = transform->wavelet.shift_high;
  }
  for (gint kind = 0; kind < 2; kind++)
    task->vector[kind] = is_vector (task, kind);
  cut_strips (task, reach);
  cut_rows (task, reach, out);

  rows = task->to - task->from;
  task->segment =
      CLAMP ((gint) (((gint64) rows * task->strips + most - 1) / most),
          LWT_SEGMENT_MIN, LWT_SEGMENT_MAX);
  segments = (rows + task->segment - 1) / task->segment;
  launch.blocks =
      (guint) (task->edges * task->strips
               + (segments * task->strips + LWT_WARPS - 1) / LWT_WARPS);
  launch.shared = (gsize) (segments > 0 ? LWT_WARPS * ring : 0);
  for (gint i = 0; i < task->edges; i++)
    launch.shared = MAX (launch.shared, (gsize) 2 * task->edge_pairs[i] * row);
  launch.shared *= sizeof (gfloat);
  return launch;
}
