/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Transforms level by level: places each level's bands in the result or in
 * work memory and chooses the kernels. */
#include "cuda/lifting/cuda/device.cuh"

#include <string.h>

namespace {

/* The levels of a chain that split an axis. */
typedef struct {
  guint n;
  const LwtLevel *levels[LWT_MAX_CHAIN];
} Active;

/* Layout of the work memory, in byte offsets. */
typedef struct {
  gsize taps, scratch, temp;
  gsize low[2];   /* low bands of even and of odd levels */
  gsize whole[3]; /* for components: low bands as large as the picture; [0]: for
                     interleaved coefficients: Mallat's layout */
  gsize size;
} Cut;

/* Direction of a transform, and what it computes */
typedef enum {
  FORWARD,
  INVERSE,
  REDUCE, /* forward, low bands only */
  EXPAND, /* inverse with high bands of +0 */
} Way;

typedef struct {
  const LwtTransform *transform;
  Way way;
  Active active;
  LwtPicture picture;
  LwtPicture bands; /* Mallat's layout; for REDUCE and EXPAND the low band */
  LwtPicture interleaved; /* no data: not wanted */
  guint8 *work;
  Cut cut;
  cudaStream_t stream;
} Run;

void
list_active (Active *active, const LwtChain *chain, guint first, guint n)
{
  active->n = 0;
  for (guint i = first; i < first + n; i++)
    if (chain->levels[i].x || chain->levels[i].y)
      active->levels[active->n++] = &chain->levels[i];
}

gsize
reserve_work (Cut *cut, gsize size)
{
  const gsize at = cut->size;

  cut->size += (size + 255) & ~(gsize) 255;
  return at;
}

gsize
picture_size (const LwtTransform *transform, guint width, guint height)
{
  return lwt_row_pitch (width, lwt_type_get_size (transform->type)) * height;
}

/* Work memory for a chain; enough for any sub-range of its levels. */
void
cut_work (Cut *cut, const LwtTransform *transform, const LwtChain *chain)
{
  Active active;

  memset (cut, 0, sizeof *cut);
  list_active (&active, chain, 0, chain->n);
  if (active.n == 0)
    return;
  cut->taps = reserve_work (cut, lwt_generic_get_taps_size (transform));
  for (guint i = 0; i < MIN (active.n, 2); i++)
    cut->low[i] =
        reserve_work (cut, picture_size (transform, active.levels[i]->low_width,
                               active.levels[i]->low_height));
  /* the first level is the largest */
  cut->temp =
      reserve_work (cut, picture_size (transform, active.levels[0]->width,
                             active.levels[0]->height));
  if (lwt_generic_reaches_far (transform))
    cut->scratch = reserve_work (
        cut, lwt_generic_get_scratch_size (
                 transform, active.levels[0]->width, active.levels[0]->height));
  for (guint i = 0; i < 3; i++)
    cut->whole[i] =
        reserve_work (cut, picture_size (transform, chain->levels[0].width,
                               chain->levels[0].height));
}

LwtPicture
picture_at (const Run *run, gsize offset, guint width)
{
  LwtPicture picture = { run->work + offset,
    lwt_row_pitch (width, lwt_type_get_size (run->transform->type)) };

  return picture;
}

/* --- bands ------------------------------------------------------------------------ */

void
set_band (LwtBand *band, LwtPicture picture)
{
  band->data = picture.data;
  band->pitch = picture.stride;
  band->step = 1;
}

/* Places the bands of level @i. Interleaved, rows that are high along y at the
 * first level are already where they belong (lwt_interleave()). */
void
place_bands (const Run *run, guint i, LwtBand bands[2][2])
{
  const LwtLevel *level = run->active.levels[i];
  const gsize size = lwt_type_get_size (run->transform->type);

  for (guint y = 0; y < 1u + level->y; y++)
    for (guint x = 0; x < 1u + level->x; x++) {
      LwtPicture at = run->bands;
      guint column = x * level->low_width, row = y * level->low_height;
      guint step = 1;

      if (run->interleaved.data && i == 0 && y == 1) {
        at = run->interleaved;
        column = x, row = 1, step = 2;
      }
      bands[y][x].data = (guint8 *) at.data + row * at.stride + column * size;
      bands[y][x].pitch = step * at.stride;
      bands[y][x].step = level->x ? step : 1;
    }
}

/* Describes level @i of the run and places its bands; connect_levels() adds
 * the intermediate pictures. */
void
place_level (const Run *run, guint i, LwtLevelTask *task)
{
  const LwtLevel *level = run->active.levels[i];
  const gboolean all = run->way == FORWARD || run->way == INVERSE;

  memset (task, 0, sizeof *task);
  task->x = level->x;
  task->y = level->y;
  task->width = level->width;
  task->height = level->height;
  if (all)
    place_bands (run, i, task->bands);
  else if (i + 1 == run->active.n)
    set_band (&task->bands[0][0], run->bands);
}

/* Finds the levels that run in one launch with the next one, @two. The first
 * level reads the run's picture. Each next launch's picture is in work memory, in
 * two places used in turn, so that no launch overwrites its input. */
void
connect_levels (const Run *run, LwtLevelTask *tasks, gboolean *two)
{
  const LwtTiles *tiles = run->transform->tiles;
  const gboolean inverse = run->way == INVERSE || run->way == EXPAND;
  const gboolean can = lwt_tiles_are_ready (run->transform->tiles);
  LwtPicture picture = run->picture;
  guint launch = 0;

  for (guint i = 0; i < run->active.n; i++) {
    tasks[i].picture = picture;
    two[i] = can && i + 1 < run->active.n
             && lwt_tiles_fit_two_levels (tiles, &tasks[i], inverse);
    if (two[i])
      two[++i] = FALSE;
    if (i + 1 == run->active.n)
      break;
    picture = picture_at (run, run->cut.low[launch++ & 1], tasks[i + 1].width);
    set_band (&tasks[i].bands[0][0], picture);
  }
}

/* Runs a level with tile kernels if they fit, otherwise with generic ones. */
gboolean
run_level (const Run *run, const LwtLevelTask *task, GError **error)
{
  const gboolean forward = run->way == FORWARD || run->way == REDUCE;
  LwtGenericWork work = { NULL };

  if (lwt_tiles_are_ready (run->transform->tiles)
      && lwt_tiles_fit (run->transform->tiles, task, !forward))
    return lwt_tiles_run (
        run->transform->tiles, task, !forward, run->stream, error);
  if (lwt_generic_get_taps_size (run->transform) > 0)
    work.taps = run->work + run->cut.taps;
  work.temp = picture_at (run, run->cut.temp, task->width);
  if (lwt_generic_reaches_far (run->transform))
    work.scratch = run->work + run->cut.scratch;
  return lwt_generic_run (
      run->transform, task, !forward, &work, run->stream, error);
}

/* Runs all levels in order. Without levels the picture is copied to the low
 * band. */
gboolean
run_levels (const Run *run, guint width, guint height, GError **error)
{
  const gboolean forward = run->way == FORWARD || run->way == REDUCE;
  const LwtPicture in = forward ? run->picture : run->bands;
  const LwtPicture out = forward ? run->bands : run->picture;
  LwtLevelTask tasks[LWT_MAX_CHAIN];
  gboolean two[LWT_MAX_CHAIN];
  const guint n = run->active.n;
  const auto interleave = [&] {
    return !run->interleaved.data
           || lwt_interleave (run->transform->type, run->active.levels, n,
               run->bands, run->interleaved, !forward, run->stream, error);
  };

  if (n == 0)
    return CVIS_CUDA (
        cudaMemcpy2DAsync (out.data, out.stride, in.data, in.stride,
            width * lwt_type_get_size (run->transform->type), height,
            cudaMemcpyDeviceToDevice, run->stream),
        error);
  if (!lwt_generic_put_taps (
          run->transform, run->work + run->cut.taps, run->stream, error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    place_level (run, i, &tasks[i]);
  connect_levels (run, tasks, two);
  if (!forward && !interleave ())
    return FALSE;
  for (guint k = 0, i; k < n; k += 1 + two[i]) {
    i = forward ? k : n - 1 - k;
    /* a pair is kept with its first level */
    if (!forward && i > 0 && two[i - 1])
      i--;
    if (!(two[i] ? lwt_tiles_run_two_levels (
              run->transform->tiles, &tasks[i], !forward, run->stream, error)
                 : run_level (run, &tasks[i], error)))
      return FALSE;
  }
  return !forward || interleave ();
}

gboolean
run_chain (const LwtTransform *transform, Way way, const LwtChain *chain,
    guint first, guint n, LwtLayout layout, LwtPicture picture,
    LwtPicture bands, void *work, cudaStream_t stream, GError **error)
{
  Run run;

  run.transform = transform;
  run.way = way;
  run.picture = picture;
  run.bands = bands;
  run.work = (guint8 *) work;
  run.stream = stream;
  cut_work (&run.cut, transform, chain);
  list_active (&run.active, chain, first, n);
  run.interleaved.data = NULL;
  if (layout == LWT_LAYOUT_INTERLEAVED && run.active.n > 0) {
    run.interleaved = bands;
    run.bands =
        picture_at (&run, run.cut.whole[0], run.active.levels[0]->width);
  }
  return run_levels (&run, n > 0 ? chain->levels[first].width : 0,
      n > 0 ? chain->levels[first].height : 0, error);
}

/* Which low bands the wanted components need. */
gboolean
needs_low (const LwtPartsTask *task, guint i)
{
  return task->parts[CVIS_SURFACE_PART_NOISE + i].data != NULL
         || task->parts[CVIS_SURFACE_PART_NOISE + i + 1].data != NULL;
}

} // namespace

/* --- entry points -------------------------------------------------------- */

void
lwt_transform_init (LwtTransform *transform, const LwtWavelet *wavelet,
    LwtType type, LwtBoundary boundary)
{
  transform->type = type;
  transform->boundary = boundary == LWT_BOUNDARY_PAD_SYMMETRIC
                                || boundary == LWT_BOUNDARY_PAD_SMOOTH
                            ? LWT_BOUNDARY_SYMMETRIC
                            : boundary;
  transform->wavelet = *wavelet;
  transform->tiles = NULL;
}

void
lwt_transform_specialise (LwtTransform *transform, CvisContext *context)
{
  const gchar *mode = g_getenv ("CUDAVISION_JIT");

  transform->tiles =
      lwt_tiles_new (transform, g_strcmp0 (mode, "off") == 0 ? NULL : context);
  if (g_strcmp0 (mode, "wait") == 0)
    lwt_tiles_wait (transform->tiles, NULL);
}

gboolean
lwt_transform_wait (LwtTransform *transform, GError **error)
{
  return transform->tiles == NULL || lwt_tiles_wait (transform->tiles, error);
}

const gchar *
lwt_transform_describe (const LwtTransform *transform)
{
  return lwt_tiles_describe (transform->tiles);
}

void
lwt_transform_clear (LwtTransform *transform)
{
  lwt_tiles_free (transform->tiles);
  transform->tiles = NULL;
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

gsize
lwt_transform_get_work_size (
    const LwtTransform *transform, const LwtChain *chain)
{
  Cut cut;

  cut_work (&cut, transform, chain);
  return cut.size;
}

gboolean
lwt_transform_forward (const LwtTransform *transform, const LwtChain *chain,
    LwtLayout layout, LwtPicture picture, LwtPicture bands, void *work,
    cudaStream_t stream, GError **error)
{
  return run_chain (transform, FORWARD, chain, 0, chain->n, layout, picture,
      bands, work, stream, error);
}

gboolean
lwt_transform_inverse (const LwtTransform *transform, const LwtChain *chain,
    LwtLayout layout, LwtPicture bands, LwtPicture picture, void *work,
    cudaStream_t stream, GError **error)
{
  return run_chain (transform, INVERSE, chain, 0, chain->n, layout, picture,
      bands, work, stream, error);
}

gboolean
lwt_transform_reduce (const LwtTransform *transform, const LwtChain *chain,
    guint first, guint n, LwtPicture picture, LwtPicture low, void *work,
    cudaStream_t stream, GError **error)
{
  return run_chain (transform, REDUCE, chain, first, n, LWT_LAYOUT_MALLAT,
      picture, low, work, stream, error);
}

gboolean
lwt_transform_expand (const LwtTransform *transform, const LwtChain *chain,
    guint first, guint n, LwtPicture low, LwtPicture picture, void *work,
    cudaStream_t stream, GError **error)
{
  return run_chain (transform, EXPAND, chain, first, n, LWT_LAYOUT_MALLAT,
      picture, low, work, stream, error);
}

static guint
fit_parts (const LwtTransform *transform, const LwtChain *chain,
    const LwtPartsTask *task)
{
  LwtLevelTask levels[2] = {};

  for (guint i = 0; i < MIN (chain->n, 2); i++)
    levels[i] = { chain->levels[i].x, chain->levels[i].y,
      chain->levels[i].width, chain->levels[i].height, task->picture };
  return lwt_tiles_are_ready (transform->tiles)
             ? lwt_tiles_fit_parts (transform->tiles, levels, task)
             : 0;
}

guint
lwt_transform_get_parts_levels (const LwtTransform *transform,
    const LwtChain *chain, const LwtPartsTask *task, const guint depth[3])
{
  gboolean two = fit_parts (transform, chain, task) == 2;

  for (guint i = 0; i < 3; i++)
    two =
        two && (!needs_low (task, i) || (i > 0 ? depth[i] > 1 : depth[i] == 0));
  return two ? 2 : 1;
}

gboolean
lwt_transform_parts (const LwtTransform *transform, const LwtChain *chain,
    const LwtPartsTask *task, void *work, cudaStream_t stream, GError **error)
{
  LwtPicture low[3] = { { NULL } };
  gboolean expands = FALSE;
  Cut cut;

  for (guint i = 0; i < 3; i++)
    expands = expands || (needs_low (task, i) && !task->at_zero[i]);
  if (expands && fit_parts (transform, chain, task) >= task->levels) {
    const LwtLevel *first = &chain->levels[0];
    const LwtLevelTask level = { first->x, first->y, first->width,
      first->height, task->picture };

    return lwt_tiles_run_parts (transform->tiles, &level, task, stream, error);
  }
  cut_work (&cut, transform, chain);
  for (guint i = 0; i < 3; i++) {
    if (!needs_low (task, i))
      continue;
    low[i] = task->low[i];
    if (task->at_zero[i] || !(chain->levels[0].x || chain->levels[0].y))
      continue;
    low[i].data = (guint8 *) work + cut.whole[i];
    low[i].stride = lwt_row_pitch (
        chain->levels[0].width, lwt_type_get_size (transform->type));
    if (!lwt_transform_expand (transform, chain, 0, task->levels, task->low[i],
            low[i], work, stream, error))
      return FALSE;
  }
  return lwt_generic_parts (transform, task, low, stream, error);
}
