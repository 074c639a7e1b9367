/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Launches the tile kernels of a transform level by level: kernels compiled
 * with the project if the wavelet's structure matches, otherwise kernels
 * compiled at run time for the wavelet, type and boundary (cuda/core/jit/jit.h). */
#include "cuda/core/jit/jit.h"
#include "cuda/lifting/cuda/device.cuh"
#include "cuda/lifting/cuda/launch.cuh"
#include "cuda/lifting/cuda/steps.cuh"
#include "cuda/lifting/cuda/tileplan.h"

#include <string.h>

extern "C" const CvisJitHeader lwt_tile_headers[4];

struct _LwtTiles {
  CvisJit *jit; /* NULL: precompiled, or the tiles do not support the steps */
  gboolean ready, failed, precompiled;
  gboolean planned[LWT_TILE_KERNELS];
  LwtTilePlan plans[LWT_TILE_KERNELS];
  gconstpointer functions[LWT_TILE_KERNELS];
  LwtType type;
  gdouble weights[2][LWT_TILE_MAX_TAPS + 2]; /* of its type; [1]: inverse */
  gint shifts[2][LWT_TILE_MAX_STEPS];
  gint entry_shift[2];
  gint multiprocessors, n_weights;
};

namespace {

gint
divide_up (gint n, gint by)
{
  return (n + by - 1) / by;
}

/* Levels with fewer tiles for each multiprocessor use small tiles (half as many in
 * the inverse of less than 8 weights). */
#define LARGE_TILES 8

/* Sliding window: most thread blocks of a multiprocessor, forward and inverse; least rows of
 * the second level in a segment; time of an iteration besides the warps, in units of what
 * each warp of the multiprocessor adds (H200) */
#define WINDOW_BLOCKS_FORWARD 3
#define WINDOW_BLOCKS_INVERSE 4
#define WINDOW_ROWS 2
#define WINDOW_LATENCY 9

/* Kernel parameter: LwtTileParameters of tile.cuh */
typedef struct {
  LwtTileTask task;
  gdouble weights[LWT_TILE_MAX_TAPS + 2];
} Parameters;

/* Weights in the order of the steps with the signs of the direction, then scales */
template <typename T>
void
set_weights (LwtTiles *tiles, const LwtWavelet *wavelet)
{
  const gdouble scale[2] = { wavelet->scale_low, wavelet->scale_high };

  for (guint inverse = 0; inverse < 2; inverse++) {
    T *const weights = (T *) tiles->weights[inverse];
    guint n = 0;

    for (guint i = 0; i < wavelet->n_steps; i++) {
      const LwtStep *step =
          &wavelet->steps[inverse ? wavelet->n_steps - 1 - i : i];

      tiles->shifts[inverse][i] = (gint) step->shift;
      for (guint k = 0; k < step->n; k++) {
        const T weight = lwt_get_tap<T> (step, k);

        weights[n++] = inverse && !lwt_is_integer<T> ? -weight : weight;
      }
    }
    tiles->n_weights = (gint) n;
    for (guint i = 0; i < 2; i++)
      weights[LWT_TILE_MAX_TAPS + i] =
          lwt_is_integer<T> ? (T) 1 : (T) (inverse ? 1.0 / scale[i] : scale[i]);
  }
}

/* FALSE: the tiles do not support the wavelet. */
gboolean
plan_kernels (LwtTiles *tiles, const LwtTransform *transform)
{
  gboolean any = FALSE;

  for (guint i = 0; i < LWT_TILE_KERNELS; i++) {
    tiles->planned[i] = lwt_tile_plan_init (&tiles->plans[i], (LwtTileKernel) i,
        &transform->wavelet, transform->type, transform->boundary);
    any = any || tiles->planned[i];
  }
  return any;
}

/* The precompiled kernel @i with these constants, if the device can run it */
gconstpointer
find_precompiled (const LwtTiles *tiles, guint i)
{
  const gsize shared = lwt_tile_plan_get_shared (&tiles->plans[i], tiles->type);
  const LwtPrecompiled *kernel = lwt_precompiled;

  while (kernel->plan != NULL
         && (kernel->kernel != (int) i
             || memcmp (kernel->plan, &tiles->plans[i], sizeof *kernel->plan)
                    != 0))
    kernel++;
  if (kernel->plan != NULL
      && cudaFuncSetAttribute (kernel->function,
             cudaFuncAttributeMaxDynamicSharedMemorySize, (int) shared)
             == cudaSuccess)
    return kernel->function;
  cudaGetLastError ();
  return NULL;
}

gboolean
take_precompiled (LwtTiles *tiles)
{
  gboolean all = tiles->type == LWT_TYPE_F32;

  for (guint i = 0; i < LWT_TILE_KERNELS && all; i++)
    if (tiles->planned[i]) {
      tiles->functions[i] = find_precompiled (tiles, i);
      all = tiles->functions[i] != NULL;
    }
  return all;
}

void
start_compilation (LwtTiles *tiles, CvisContext *context)
{
  static const gchar *const options[] = { "-std=c++17", "-fmad=false", NULL };
  GString *source =
      g_string_new ("#include \"cuda/lifting/cuda/window.cuh\"\n");

  for (guint i = 0; i < LWT_TILE_KERNELS; i++)
    if (tiles->planned[i])
      lwt_tile_plan_print (
          &tiles->plans[i], tiles->type, lwt_tile_kernel_names[i], source);
  tiles->jit = cvis_jit_new (context, "lifting", source->str, lwt_tile_headers,
      G_N_ELEMENTS (lwt_tile_headers), options);
  g_string_free (source, TRUE);
}

void
set_bands (LwtTileBand to[2][2], const LwtBand from[2][2])
{
  for (gint i = 0; i < 4; i++)
    to[i / 2][i % 2] = { from[i / 2][i % 2].data,
      (guint) from[i / 2][i % 2].pitch, (guint) from[i / 2][i % 2].step };
}

/* Sets up the parameters of a level. FALSE: the kernel does not support it. */
gboolean
make_task (const LwtTiles *tiles, const LwtLevelTask *level, guint kernel,
    LwtTileTask *task)
{
  const LwtTilePlan *plan = &tiles->plans[kernel];

  if (!tiles->planned[kernel]
      || !lwt_tile_axis_init (
          &task->axis[0], plan, 0, (gint) level->width, tiles->entry_shift)
      || !lwt_tile_axis_init (
          &task->axis[1], plan, 1, (gint) level->height, tiles->entry_shift))
    return FALSE;
  task->picture = { level->picture.data, (guint) level->picture.stride, 1 };
  set_bands (task->bands, level->bands);
  return TRUE;
}

/* The kernel of a level: large tiles if the level has enough of them.
 * LWT_TILE_KERNELS: no kernel fits. */
guint
choose_kernel (const LwtTiles *tiles, const LwtLevelTask *level,
    gboolean inverse, LwtTileTask *task)
{
  const guint large = inverse ? LWT_TILE_INVERSE : LWT_TILE_FORWARD;
  const gint share = inverse && tiles->n_weights < 8 ? 2 : 1;

  if (make_task (tiles, level, large, task)
      && task->axis[0].tiles * task->axis[1].tiles
             >= LARGE_TILES / share * tiles->multiprocessors)
    return large;
  return make_task (tiles, level, large + 1, task) ? large + 1
         : make_task (tiles, level, large, task)   ? large
                                                   : LWT_TILE_KERNELS;
}

/* Loads the kernels once they are compiled. */
gboolean
load_functions (LwtTiles *tiles, GError **error)
{
  for (guint i = 0; i < LWT_TILE_KERNELS; i++)
    if (tiles->planned[i]
        && (tiles->functions[i] = cvis_jit_get_function (
                tiles->jit, lwt_tile_kernel_names[i], error))
               == NULL)
      return FALSE;
  tiles->ready = TRUE;
  return TRUE;
}

} // namespace

LwtTiles *
lwt_tiles_new (const LwtTransform *transform, CvisContext *context)
{
  LwtTiles *tiles = g_new0 (LwtTiles, 1);

  tiles->type = transform->type;
  tiles->multiprocessors = lwt_get_multiprocessors ();
  if (transform->boundary == LWT_BOUNDARY_PERIODIC) {
    tiles->entry_shift[0] = transform->wavelet.shift_low;
    tiles->entry_shift[1] = transform->wavelet.shift_high;
  }
  if (!plan_kernels (tiles, transform))
    return tiles;
  LWT_BY_TYPE (tiles->type, set_weights, tiles, &transform->wavelet);
  tiles->precompiled = tiles->ready = take_precompiled (tiles);
  if (!tiles->precompiled && context != NULL)
    start_compilation (tiles, context);
  return tiles;
}

void
lwt_tiles_free (LwtTiles *tiles)
{
  if (tiles == NULL)
    return;
  cvis_jit_free (tiles->jit);
  g_free (tiles);
}

gboolean
lwt_tiles_wait (LwtTiles *tiles, GError **error)
{
  return tiles->jit == NULL || tiles->ready
         || (cvis_jit_wait (tiles->jit, error)
             && cvis_jit_poll (tiles->jit) == CVIS_JIT_READY
             && load_functions (tiles, error));
}

const gchar *
lwt_tiles_describe (LwtTiles *tiles)
{
  return tiles == NULL || tiles->jit == NULL ? "precompiled kernels"
                                             : cvis_jit_describe (tiles->jit);
}

gboolean
lwt_tiles_are_ready (LwtTiles *tiles)
{
  if (tiles == NULL || tiles->failed)
    return FALSE;
  if (!tiles->ready && tiles->jit != NULL
      && cvis_jit_poll (tiles->jit) == CVIS_JIT_READY)
    tiles->failed = !load_functions (tiles, NULL);
  return tiles->ready;
}

gboolean
lwt_tiles_fit (
    const LwtTiles *tiles, const LwtLevelTask *level, gboolean inverse)
{
  LwtTileTask task;

  return level->x && level->y
         && choose_kernel (tiles, level, inverse, &task) < LWT_TILE_KERNELS;
}

namespace {

gboolean
launch_tiles (const LwtTiles *tiles, guint kernel, const LwtTileTask *task,
    cudaStream_t stream, GError **error)
{
  const LwtTilePlan *plan = &tiles->plans[kernel];
  const gsize shared = lwt_tile_plan_get_shared (plan, tiles->type);
  const gint n = task->axis[0].tiles * task->axis[1].tiles;
  const gint blocks = plan->two ? divide_up (n, plan->threads / 32) : n;
  const guint grid[3] = { (guint) blocks, 1, 1 };
  const guint block[3] = { (guint) plan->threads, 1, 1 };
  Parameters parameters;
  void *arguments[] = { &parameters };

  parameters.task = *task;
  parameters.task.multiprocessors = tiles->multiprocessors;
  memcpy (parameters.task.shift, tiles->shifts[plan->inverse],
      sizeof parameters.task.shift);
  memcpy (parameters.weights, tiles->weights[plan->inverse],
      sizeof parameters.weights);
  return tiles->precompiled
             ? lwt_launch_kernel (tiles->functions[kernel],
                 lwt_tile_kernel_names[kernel], dim3 (grid[0]), block[0],
                 shared, stream, arguments, error)
             : cvis_jit_launch ((gpointer) tiles->functions[kernel], grid,
                 block, shared, stream, TRUE, arguments, error);
}

LwtTileBand
make_band (LwtPicture picture)
{
  return { picture.data, (guint) picture.stride, 1 };
}

} // namespace

gboolean
lwt_tiles_run (const LwtTiles *tiles, const LwtLevelTask *level,
    gboolean inverse, cudaStream_t stream, GError **error)
{
  LwtTileTask task = {};
  const guint kernel = choose_kernel (tiles, level, inverse, &task);

  return launch_tiles (tiles, kernel, &task, stream, error);
}

/* Cuts a picture into the segments of a window, for the number of thread blocks of a
 * multiprocessor that takes the least time: more warps lengthen an iteration, fewer
 * warps have longer segments. */
static void
cut_window (const LwtTiles *tiles, const LwtLevelTask *level, guint kernel,
    LwtTileTask *task)
{
  const LwtTilePlan *plan = &tiles->plans[kernel];
  const gint most =
      plan->inverse ? WINDOW_BLOCKS_INVERSE : WINDOW_BLOCKS_FORWARD;
  const gint rows = (gint) level->height / 4;
  const gint strips = divide_up ((gint) level->width / 2, plan->lines[0].run);
  const gint delay = -plan->lines[1].out[0];
  const gint overlap =
      plan->lead + (plan->inverse ? divide_up (3 * delay, 2) : delay);
  gint64 least = G_MAXINT64;

  task->axis[0].n = (gint) level->width;
  task->axis[1].n = (gint) level->height;
  task->axis[0].tiles = strips;
  for (gint blocks = 1; blocks <= most; blocks++) {
    const gint warps = blocks * plan->threads / 32;
    const gint segment = MAX (
        divide_up (rows * strips, warps * tiles->multiprocessors), WINDOW_ROWS);
    const gint64 time = (gint64) (segment + overlap) * (WINDOW_LATENCY + warps);

    if (time < least) {
      least = time;
      task->segment = segment;
    }
  }
  task->axis[1].tiles = divide_up (rows, task->segment);
}

/* Whether windows can take the picture of a level. */
static gboolean
fits_window (const LwtTiles *tiles, const LwtLevelTask *level, guint kernel)
{
  return tiles->planned[kernel] && level->x && level->y && level->width % 4 == 0
         && level->height % 4 == 0 && level->width >= 128
         && level->height >= 128;
}

gboolean
lwt_tiles_fit_two_levels (
    const LwtTiles *tiles, const LwtLevelTask *levels, gboolean inverse)
{
  gboolean result =
      fits_window (tiles, &levels[0], LWT_TILE_TWO_LEVELS + inverse)
      && levels[1].x && levels[1].y;

  /* lanes move two entries of the first level at once, one of the second */
  for (gint i = 0; i < 8; i++) {
    const LwtLevelTask *level = &levels[i / 4];
    const LwtBand *band = &level->bands[i / 2 % 2][i % 2];
    const gsize bytes = i < 4 ? 8 : 4;

    result = result
             && (band->data == NULL
                 || (band->step == 1
                     && ((gsize) band->data | band->pitch) % bytes == 0));
  }
  return result;
}

gboolean
lwt_tiles_run_two_levels (const LwtTiles *tiles, const LwtLevelTask *levels,
    gboolean inverse, cudaStream_t stream, GError **error)
{
  const guint kernel = LWT_TILE_TWO_LEVELS + inverse;
  LwtTileTask task = {};

  cut_window (tiles, &levels[0], kernel, &task);
  task.picture = make_band (levels[0].picture);
  set_bands (task.bands, levels[0].bands);
  set_bands (task.second, levels[1].bands);
  return launch_tiles (tiles, kernel, &task, stream, error);
}

guint
lwt_tiles_fit_parts (const LwtTiles *tiles, const LwtLevelTask *levels,
    const LwtPartsTask *parts)
{
  const gboolean two =
      fits_window (tiles, &levels[0], LWT_TILE_TWO_LEVELS_PARTS) && levels[1].x
      && levels[1].y && parts->parts[CVIS_SURFACE_PART_NOISE].data == NULL;
  LwtTileTask task;

  return two ? 2
         : levels[0].x && levels[0].y
                 && make_task (tiles, &levels[0], LWT_TILE_PARTS, &task)
             ? 1
             : 0;
}

gboolean
lwt_tiles_run_parts (const LwtTiles *tiles, const LwtLevelTask *level,
    const LwtPartsTask *parts, cudaStream_t stream, GError **error)
{
  const guint kernel =
      parts->levels == 2 ? LWT_TILE_TWO_LEVELS_PARTS : LWT_TILE_PARTS;
  LwtTileTask task = {};

  if (parts->levels == 2)
    cut_window (tiles, level, kernel, &task);
  else
    make_task (tiles, level, kernel, &task);
  task.parts.plain =
      parts->missing == NULL && (parts->pad[0] | parts->width) % 4 == 0;
  for (gint i = 0; i < 3; i++) {
    if (!parts->parts[CVIS_SURFACE_PART_NOISE + i].data
        && !parts->parts[CVIS_SURFACE_PART_NOISE + i + 1].data)
      continue;
    task.parts.low[i] = make_band (parts->low[i]);
    task.parts.at_zero[i] = parts->at_zero[i];
  }
  for (gint i = 0; i < 4; i++) {
    const LwtPicture *part = &parts->parts[CVIS_SURFACE_PART_NOISE + i];

    task.parts.parts[i] = make_band (*part);
    task.parts.plain &= ((gsize) part->data | part->stride) % 16 == 0;
  }
  task.parts.missing = parts->missing;
  task.parts.polynomial = parts->polynomial;
  task.parts.pad[0] = (gint) parts->pad[0];
  task.parts.pad[1] = (gint) parts->pad[1];
  task.parts.size[0] = (gint) parts->width;
  task.parts.size[1] = (gint) parts->height;
  return launch_tiles (tiles, kernel, &task, stream, error);
}
