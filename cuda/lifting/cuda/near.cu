/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Which levels near kernels do, and how a pass is cut into strips and segments. */
#include "cuda/lifting/cuda/near.cuh"

#include <string.h>

namespace {

/* Rows of pairs of the last level in a segment: small pictures that would have
 * less than LEAST, which is mostly overlap, get one thread block for each
 * multiprocessor; MOST keeps large ones in step. */
#define LWT_NEAR_LEAST 6
#define LWT_NEAR_MOST 128

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

/* @n things shared among @among, rounded up */
gint
share (gint64 n, gint among)
{
  return (gint) ((n + among - 1) / among);
}

bool
shape_is_near (const LwtTransform *transform)
{
  const LwtWavelet *wavelet = &transform->wavelet;

  return transform->kernels > 0 && transform->boundary != LWT_BOUNDARY_ZERO
         && (transform->boundary != LWT_BOUNDARY_PERIODIC
             || (wavelet->shift_low == 0 && wavelet->shift_high == 0));
}

/* Whether the level's rows can be halved, and those of high bands written, by the
 * pairs of a lane. */
bool
level_is_near (const LwtLevelTask *level, gint lane_pairs)
{
  const gsize bytes = (gsize) lane_pairs * sizeof (gfloat);

  if (!level->x || !level->y || level->width % (2 * lane_pairs) != 0
      || level->height % 2 != 0)
    return false;
  for (guint i = 0; i < 4; i++) {
    const LwtBand *band = &level->bands[i / 2][i % 2];

    if (band->data
        && (band->step != 1 || ((gsize) band->data | band->pitch) % bytes != 0))
      return false;
  }
  return true;
}

void
cut_strips (LwtNearTask *task, LwtReach reach, guint depth)
{
  const gint pairs = task->levels[0].pairs[0];
  const gint unit = LWT_NEAR_K << (depth - 1); /* what all levels' pairs fit */
  const gint left =
      (lwt_near_halo (reach.left, depth) + unit - 1) / unit * unit;
  const gint right = lwt_near_halo (reach.right, depth);

  task->halo = left;
  task->useful = (LWT_NEAR_STRIP - left - right) / unit * unit;
  if (pairs + (task->periodic ? left + right : 0) <= LWT_NEAR_STRIP)
    task->useful = pairs;
  task->strips = (pairs + task->useful - 1) / task->useful;
}

/* Rows of pairs of the last level that a segment has in common with the one above
 * it, if those of all segments fit half of the L2 cache. */
gint
get_again (const LwtNearTask *task, gint rows, LwtReach reach, guint depth)
{
  const gint pairs =
      lwt_near_halo (reach.left, depth) + lwt_near_halo (reach.right, depth);
  const gint64 row = 2 * task->levels[0].pairs[0] * (gint64) sizeof (gfloat);
  int device = 0, cache = 0;

  if (cudaGetDevice (&device) != cudaSuccess
      || cudaDeviceGetAttribute (&cache, cudaDevAttrL2CacheSize, device)
             != cudaSuccess)
    return 0;
  return share (rows, task->segment) * 2 * pairs * row <= cache / 2
             ? share (pairs, 1 << (depth - 1))
             : 0;
}

/* Rows of pairs of a segment that make @each warps for a multiprocessor. */
gint
get_segment (const LwtNearTask *task, gint rows, gint each)
{
  return share (
      (gint64) rows * task->strips, each * lwt_get_multiprocessors ());
}

/* All but the segments */
void
init_task (LwtNearTask *task, const LwtTransform *transform,
    const LwtLevelTask *levels, guint depth, gboolean inverse, LwtReach reach)
{
  memset ((void *) task, 0, sizeof *task);
  lwt_set_weights (task->taps, task->scale, &transform->wavelet, inverse);
  task->periodic = transform->boundary == LWT_BOUNDARY_PERIODIC;
  task->picture = levels[0].picture;
  for (guint i = 0; i < depth; i++) {
    task->levels[i].pairs[0] = (gint) levels[i].width / 2;
    task->levels[i].pairs[1] = (gint) levels[i].height / 2;
    memcpy (task->levels[i].bands, levels[i].bands, sizeof levels[i].bands);
  }
  cut_strips (task, reach, depth);
}

} // namespace

gint
lwt_shape_find (const LwtWavelet *wavelet)
{
  return has_shape<LwtHaar> (wavelet)    ? 1
         : has_shape<LwtCdf53> (wavelet) ? 2
         : has_shape<LwtCdf97> (wavelet) ? 3
         : has_shape<LwtDb2> (wavelet)   ? 4
                                         : 0;
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

guint
lwt_near_depth (
    const LwtTransform *transform, const LwtLevelTask *levels, guint n)
{
  guint depth = 0;

  if (!shape_is_near (transform))
    return 0;
  while (depth < MIN (n, LWT_NEAR_DEPTH)
         && level_is_near (&levels[depth], MAX (LWT_NEAR_K >> depth, 1)))
    depth++;
  return depth;
}

guint
lwt_near_cut (LwtNearTask *task, const LwtTransform *transform,
    const LwtLevelTask *levels, guint depth, gboolean inverse, LwtReach reach,
    gint each)
{
  gint rows, blocks;

  init_task (task, transform, levels, depth, inverse, reach);
  rows = task->levels[depth - 1].pairs[1];
  task->segment = get_segment (task, rows, LWT_NEAR_WARPS);
  task->segment =
      MAX (get_segment (task, rows, each), MIN (task->segment, LWT_NEAR_LEAST));
  task->segment = MIN (task->segment, LWT_NEAR_MOST);
  task->again = get_again (task, rows, reach, depth);
  blocks = share (
      (gint64) share (rows, task->segment) * task->strips, LWT_NEAR_WARPS);
  task->small = blocks <= lwt_get_multiprocessors ();
  return (guint) blocks;
}

guint
lwt_near_cut_pieces (LwtNearTask *task, const LwtTransform *transform,
    const LwtLevelTask *levels, guint depth, LwtReach reach, gint length,
    gint each)
{
  gint rows, blocks;

  init_task (task, transform, levels, depth, FALSE, reach);
  rows = task->levels[depth - 1].pairs[1];
  blocks = share (rows, length) * task->strips;
  task->segment = length;
  task->small = blocks <= lwt_get_multiprocessors ();
  /* haar's segments do not overlap: few short ones are done sooner */
  if (rows < length || blocks > each * lwt_get_multiprocessors ()
      || (task->small && reach.left + reach.right == 0))
    return 0;
  return (guint) blocks;
}
