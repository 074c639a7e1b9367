/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Host side of the CUDA backend. Frames are loaded, and their motion is searched, in the
 * thread that submits; wait() has the passes of a frame computed in the order of
 * cpu/engine.c, and reads the counts that decide on its noise and its references. */
#include <string.h>

#include "cuda/core/device/arena.cuh"
#include "cuda/denoise/backend.h"
#include "cuda/denoise/cuda/passes.cuh"
#include "cuda/denoise/staging.h"

namespace {

/* A frame at its place.
 * @staged: device: components as they came, unless they are in the engine's context
 * @half: device: component 0 at half the size, for the motion
 * @counted: device: squares whose noise counts
 * @counts: device; @pinned: the same on the host
 * @motion: its vectors and blocks are device memory
 * @noise, @match_noise, @cut, @matches: as in cpu/engine.c */
struct Picture {
  DenoiseDevicePlane planes[3];
  DenoiseStaging staged;
  guint8 *half, *counted;
  DenoiseCounts *counts, *pinned;
  DenoiseMatch *matches[2];
  cudaEvent_t loaded;
  gint32 noise[3], match_noise[3];
  gboolean cut[2];
  MotionJob motion;
};

} // namespace

struct _DenoiseBackend {
  DenoiseConfig config;
  CvisContext *context;
  CvisArena arena;
  DenoiseShape shapes[3];
  guint n_components; /* that are denoised */
  gint32 cells_across, cells_down;
  gint32 half_width, half_height;
  gsize n_vectors, n_blocks, n_cells, n_squares;
  MotionEngine *motion;
  MotionConfig motion_config;
  cudaStream_t up, work;
  cudaEvent_t given;
  Picture *pictures;
  guint n_pictures;
  guint64 next; /* to be analysed */
  DenoiseTask *tasks;
  /* --- device memory of the frame that is filtered --- */
  DenoiseMatch *matches[2][DENOISE_MAX_RADIUS]; /* from distance 2 on */
  DenoiseDevicePlane mean[3], pilot, result;
  guint16 *left[3];
  gint32 *sums, *weights;
  DenoiseStaging out; /* components for memory that is not the engine's */
  /* --- with DENOISE_MODE_RECURSIVE: the result for the frame before --- */
  DenoiseDevicePlane recent[3];
  guint16 *recent_left[3];
  gint32 recent_noise[3];
};

namespace {

Picture *
get_picture (DenoiseBackend *b, guint64 number)
{
  return &b->pictures[number % b->n_pictures];
}

gboolean
is_windowed (const DenoiseBackend *b)
{
  return denoise_config_get_after (&b->config) > 0;
}

/* --- memory -------------------------------------------------------------------- */

gboolean
take_plane (DenoiseBackend *b, DenoiseDevicePlane *plane,
    const DenoiseShape *shape, guint n, GError **error)
{
  const gsize stride =
      ((gsize) shape->width + 2 * DENOISE_BORDER + 31) / 32 * 32;
  const gsize size = stride * ((gsize) shape->height + 2 * DENOISE_BORDER) + 64;
  guint16 *memory;

  if (!cvis_arena_take (
          &b->arena, &memory, size * n, "planes of samples", error))
    return FALSE;
  plane->samples = memory + DENOISE_BORDER * stride + DENOISE_BORDER;
  plane->stride = (gint32) stride;
  plane->apart = (gint32) size;
  return CVIS_CUDA (
      cudaMemsetAsync (memory, 0, size * n * sizeof *memory, b->work), error);
}

gboolean
take_staging (DenoiseBackend *b, DenoiseStaging *staging, GError **error)
{
  for (guint c = 0; c < b->config.n_components; c++) {
    staging->pitch[c] = denoise_staging_get_pitch (&b->config, c);
    if (!cvis_arena_take (&b->arena, &staging->components[c],
            denoise_staging_get_size (&b->config, c), "a frame", error))
      return FALSE;
  }
  return TRUE;
}

gboolean
take_motion (DenoiseBackend *b, Picture *p, GError **error)
{
  CvisArena *arena = &b->arena;

  if (!cvis_arena_take (arena, &p->half,
          (gsize) b->half_width * (gsize) b->half_height, "half frames", error))
    return FALSE;
  for (guint d = 0; d < motion_config_get_n_fields (&b->motion_config); d++)
    if (!cvis_arena_take (arena, &p->matches[d], b->n_blocks, "matches", error)
        || !cvis_arena_take (
            arena, &p->motion.fields[d].vectors, b->n_vectors, "vectors", error)
        || !cvis_arena_take (
            arena, &p->motion.fields[d].blocks, b->n_vectors, "blocks", error))
      return FALSE;
  return TRUE;
}

gboolean
take_picture (DenoiseBackend *b, Picture *p, GError **error)
{
  CvisArena *arena = &b->arena;

  for (guint c = 0; c < b->n_components; c++)
    if (!take_plane (
            b, &p->planes[c], &b->shapes[c], is_windowed (b) ? 4 : 1, error))
      return FALSE;
  return take_staging (b, &p->staged, error)
         && cvis_arena_take (
             arena, &p->counted, b->n_squares + 1, "squares", error)
         && cvis_arena_take (arena, &p->counts, 1, "counts", error)
         && cvis_arena_pin (arena, &p->pinned, 1, "counts", error)
         && cvis_arena_event (arena, &p->loaded, error)
         && (b->motion == NULL || take_motion (b, p, error));
}

gboolean
take_scratch (DenoiseBackend *b, GError **error)
{
  const gboolean recursive = b->config.mode == DENOISE_MODE_RECURSIVE;
  CvisArena *arena = &b->arena;
  gsize n;

  for (guint c = 0; c < b->n_components; c++)
    if (!take_plane (b, &b->mean[c], &b->shapes[c], 1, error)
        || !cvis_arena_take (arena, &b->left[c], b->n_cells, "cells", error)
        || (recursive
            && !(take_plane (b, &b->recent[c], &b->shapes[c], 4, error)
                 && cvis_arena_take (
                     arena, &b->recent_left[c], b->n_cells, "cells", error))))
      return FALSE;
  if (!take_staging (b, &b->out, error))
    return FALSE;
  for (guint d = 0; d < 2; d++)
    for (guint i = 2; i <= denoise_config_get_after (&b->config); i++)
      if (!cvis_arena_take (
              arena, &b->matches[d][i - 1], b->n_blocks, "matches", error))
        return FALSE;
  if (!take_plane (b, &b->pilot, &b->shapes[0], 1, error)
      || !take_plane (b, &b->result, &b->shapes[0], 1, error))
    return FALSE;
  n = (gsize) b->pilot.stride * ((gsize) b->shapes[0].height + DENOISE_PATCH);
  return cvis_arena_take (arena, &b->sums, n, "sums", error)
         && cvis_arena_take (arena, &b->weights, n, "weights", error);
}

gboolean
make_motion (DenoiseBackend *b, GError **error)
{
  MotionConfig *motion = &b->motion_config;

  denoise_config_get_motion (&b->config, motion);
  b->n_vectors = (gsize) motion_config_get_columns (motion)
                 * motion_config_get_rows (motion);
  b->motion = motion_engine_new (motion, b->context, error);
  return b->motion != NULL;
}

gboolean
init_backend (DenoiseBackend *b, GError **error)
{
  if (!cvis_arena_stream (&b->arena, &b->up, error)
      || !cvis_arena_stream (&b->arena, &b->work, error)
      || !cvis_arena_event (&b->arena, &b->given, error)
      || !take_scratch (b, error))
    return FALSE;
  for (guint i = 0; i < b->n_pictures; i++)
    if (!take_picture (b, &b->pictures[i], error))
      return FALSE;
  return CVIS_CUDA (cudaStreamSynchronize (b->work), error);
}

void
cuda_destroy (DenoiseBackend *b)
{
  MotionJob *job;

  if (b->motion != NULL) {
    motion_engine_end (b->motion);
    do
      motion_engine_wait (b->motion, &job, NULL);
    while (job != NULL);
    motion_engine_free (b->motion);
  }
  cvis_in_context (b->context, NULL, [&] {
    cvis_arena_clear (&b->arena);
    return TRUE;
  });
  cvis_context_unref (b->context);
  g_free (b->pictures);
  g_free (b->tasks);
  g_free (b);
}

DenoiseBackend *
cuda_create (const DenoiseConfig *config, CvisContext *context, GError **error)
{
  DenoiseBackend *b = g_new0 (DenoiseBackend, 1);

  b->config = *config;
  b->context = cvis_context_ref (context);
  b->n_components = config->luma_only ? 1 : config->n_components;
  for (guint c = 0; c < 3; c++)
    b->shapes[c] = denoise_shape (config, c);
  b->cells_across = denoise_cells (config->width);
  b->cells_down = denoise_cells (config->height);
  b->n_cells = (gsize) b->cells_across * (gsize) b->cells_down;
  b->n_blocks = ((gsize) b->cells_across + 1) * ((gsize) b->cells_down + 1);
  b->n_squares = (gsize) (config->width / DENOISE_SQUARE)
                 * (config->height / DENOISE_SQUARE);
  b->half_width = ((gint32) config->width + 1) / 2;
  b->half_height = ((gint32) config->height + 1) / 2;
  b->tasks = g_new0 (DenoiseTask, denoise_config_get_n_slots (config));
  b->n_pictures = denoise_config_get_n_pictures (config);
  b->pictures = g_new0 (Picture, b->n_pictures);
  if ((config->mode == DENOISE_MODE_SPATIAL || make_motion (b, error))
      && cvis_in_context (
          b->context, error, [&] { return init_backend (b, error); }))
    return b;
  cuda_destroy (b);
  return NULL;
}

/* --- a frame arrives --------------------------------------------------------------- */

/* Whether the frame is in the memory of the engine's context, which it uses as it is */
gboolean
is_here (const DenoiseBackend *b, const DenoiseJob *job)
{
  return job->on_device
         && (job->context == NULL
             || cvis_context_get_handle (job->context)
                    == cvis_context_get_handle (b->context));
}

/* Copies the components of a frame between the host and @staging. */
gboolean
copy_components (DenoiseBackend *b, const DenoisePlane host[3],
    const DenoiseStaging *staging, gboolean to_device, cudaStream_t stream,
    GError **error)
{
  for (guint c = 0; c < b->config.n_components; c++) {
    DenoiseStagingRows rows;
    cudaError_t code;

    if (!denoise_staging_get_rows (staging, &b->config, host, c, &rows))
      continue;
    code = to_device ? cudaMemcpy2DAsync (rows.staged, rows.pitch, rows.data,
               rows.stride, rows.bytes, rows.n, cudaMemcpyHostToDevice, stream)
                     : cudaMemcpy2DAsync (rows.data, rows.stride, rows.staged,
                         rows.pitch, rows.bytes, rows.n, cudaMemcpyDeviceToHost,
                         stream);
    if (!CVIS_CUDA (code, error))
      return FALSE;
  }
  return TRUE;
}

DenoisePlane
get_input (
    const DenoiseBackend *b, const Picture *p, const DenoiseJob *job, guint c)
{
  return is_here (b, job) ? job->in[c]
                          : denoise_staging_get_plane (&p->staged, job->in, c);
}

gboolean
load_components (
    DenoiseBackend *b, Picture *p, const DenoiseJob *job, GError **error)
{
  for (guint c = 0; c < b->n_components; c++) {
    const DenoiseLoad load = {
      .in = get_input (b, p, job, c),
      .depth = (gint32) b->config.depth,
      .shift = (gint32) job->shift,
      .width = b->shapes[c].width,
      .height = b->shapes[c].height,
      .plane = p->planes[c],
      .halves = is_windowed (b),
      .half = c == 0 ? p->half : NULL,
      .half_width = b->half_width,
      .half_height = b->half_height,
      .counts = p->counts->noise[c],
      .counted = c == 0 ? p->counted : NULL,
    };

    if (!CVIS_CUDA (denoise_launch_load (&load, b->up), error))
      return FALSE;
  }
  return TRUE;
}

/* Brings the components where the device reads them. */
gboolean
take_components (
    DenoiseBackend *b, Picture *p, const DenoiseJob *job, GError **error)
{
  cudaStream_t given =
      job->stream ? (cudaStream_t) job->stream : cudaStreamLegacy;

  if (is_here (b, job))
    return cvis_stream_follow (b->up, b->given, given, error);
  if (!job->on_device)
    return copy_components (b, job->in, &p->staged, TRUE, b->up, error);
  /* nothing reads the former frame any more */
  return CVIS_CUDA (cudaEventSynchronize (p->loaded), error)
         && denoise_staging_copy_in (
             &p->staged, &b->config, b->context, job, error);
}

/* Loads the frame; its counts are there, and its memory is read, when @p->loaded is. */
gboolean
load_picture (
    DenoiseBackend *b, Picture *p, const DenoiseJob *job, GError **error)
{
  return take_components (b, p, job, error)
         && CVIS_CUDA (
             cudaMemsetAsync (p->counts, 0, sizeof *p->counts, b->up), error)
         && load_components (b, p, job, error)
         && CVIS_CUDA (cudaMemcpyAsync (p->pinned, p->counts, sizeof *p->pinned,
                           cudaMemcpyDeviceToHost, b->up),
             error)
         && CVIS_CUDA (cudaEventRecord (p->loaded, b->up), error);
}

gboolean
cuda_load (DenoiseBackend *b, guint64 number, DenoiseJob *job, GError **error)
{
  return cvis_in_context (b->context, error, [&] {
    const gboolean ok = load_picture (b, get_picture (b, number), job, error);

    /* nothing may read a frame that the caller takes back */
    if (!ok)
      cudaStreamSynchronize (b->up);
    return ok;
  });
}

gboolean
cuda_follow (
    DenoiseBackend *b, guint64 number, gboolean as_reference, GError **error)
{
  Picture *p = get_picture (b, number);

  if (b->motion == NULL)
    return TRUE;
  p->motion.luma = p->half;
  p->motion.stride = (gsize) b->half_width;
  p->motion.on_device = b->context != NULL;
  p->motion.stream = b->up;
  p->motion.results_pinned = TRUE;
  return as_reference ? motion_engine_load (b->motion, &p->motion, error)
                      : motion_engine_submit (b->motion, &p->motion, error);
}

void
cuda_end (DenoiseBackend *b)
{
  if (b->motion != NULL)
    motion_engine_end (b->motion);
}

/* Waits for a frame's counts. */
gboolean
find_picture_noise (DenoiseBackend *b, Picture *p, GError **error)
{
  if (!CVIS_CUDA (cudaEventSynchronize (p->loaded), error)
      || !CVIS_CUDA (cudaStreamWaitEvent (b->work, p->loaded, 0), error))
    return FALSE;
  for (guint c = 0; c < b->n_components; c++)
    p->noise[c] = denoise_noise_of_counts (p->pinned->noise[c], TRUE);
  return TRUE;
}

/* --- a frame and its neighbours ------------------------------------------------------ */

gint
find_field (const Picture *p, guint direction)
{
  for (guint i = 0; i < p->motion.n_fields; i++)
    if (p->motion.fields[i].distance == (direction == 0 ? -1 : 1))
      return (gint) i;
  return -1;
}

void
describe_search (const DenoiseBackend *b, const Picture *p,
    const DenoiseDevicePlane *reference, const Picture *motion, guint field,
    const DenoiseMatch *from, DenoiseMatch *into, DenoiseDeviceSearch *s)
{
  memset (s, 0, sizeof *s);
  for (guint c = 0; c < b->n_components; c++) {
    s->shapes[c] = b->shapes[c];
    s->current[c] = p->planes[c];
    s->reference[c] = reference[c];
  }
  s->vectors = motion->motion.fields[field].vectors;
  s->blocks = motion->motion.fields[field].blocks;
  s->columns = (gint32) motion_config_get_columns (&b->motion_config);
  s->rows = (gint32) motion_config_get_rows (&b->motion_config);
  s->from = from;
  s->blocks_across = b->cells_across + 1;
  s->blocks_down = b->cells_down + 1;
  s->noise = p->noise[0];
  s->n_components = (gint32) b->n_components;
  s->into = into;
}

/* Finds the blocks of frame @p in its neighbour @direction, in @reference, and adds to
 * its counts. @left: (nullable): of the reference */
gboolean
search_neighbour (DenoiseBackend *b, Picture *p,
    const DenoiseDevicePlane *reference, const guint16 *left, guint direction,
    guint field, GError **error)
{
  DenoiseDeviceSearch s;

  describe_search (b, p, reference, p, field, NULL, p->matches[direction], &s);
  return CVIS_CUDA (denoise_launch_search (&s, b->work), error)
         && CVIS_CUDA (denoise_launch_measure (
                           &s, p->counted, left, direction, p->counts, b->work),
             error);
}

/* Waits for the counts of the matches. */
gboolean
read_counts (DenoiseBackend *b, Picture *p, GError **error)
{
  if (!CVIS_CUDA (cudaMemcpyAsync (p->pinned, p->counts, sizeof *p->pinned,
                      cudaMemcpyDeviceToHost, b->work),
          error)
      || !CVIS_CUDA (cudaStreamSynchronize (b->work), error))
    return FALSE;
  for (guint d = 0; d < 2; d++)
    p->cut[d] = denoise_is_cut (p->pinned->n[d], p->pinned->bad[d]);
  for (guint c = 0; c < b->n_components; c++) {
    guint32 n = 0;

    for (gint32 i = 0; i < DENOISE_BINS; i++)
      n += p->pinned->match[c][i];
    p->match_noise[c] =
        n > 0 ? denoise_noise_of_counts (p->pinned->match[c], FALSE) : -1;
  }
  return TRUE;
}

gboolean
analyse_picture (DenoiseBackend *b, guint64 number, GError **error)
{
  Picture *p = get_picture (b, number);

  if (!find_picture_noise (b, p, error))
    return FALSE;
  for (guint d = 0; d < 2; d++) {
    Picture *other = get_picture (b, d == 0 ? number - 1 : number + 1);
    const gint field = find_field (p, d);

    if (field >= 0
        && (!find_picture_noise (b, other, error)
            || !search_neighbour (
                b, p, other->planes, NULL, d, (guint) field, error)))
      return FALSE;
  }
  return read_counts (b, p, error);
}

/* Has the motion of all frames from @first up to @last, and with a window their
 * neighbours. */
gboolean
analyse_until (DenoiseBackend *b, guint64 first, guint64 last, GError **error)
{
  b->next = MAX (b->next, first);
  for (; b->next <= last; b->next++) {
    MotionJob *job;

    if (!motion_engine_wait (b->motion, &job, error)
        || (is_windowed (b) && !analyse_picture (b, b->next, error))) {
      b->next++;
      return FALSE;
    }
  }
  return TRUE;
}

/* --- the mean over time --------------------------------------------------------------- */

/* A frame that the mean takes samples of; see DenoiseCpuReference */
struct Reference {
  const DenoiseDevicePlane *planes;
  const DenoiseMatch *matches;
  guint16 *const *left;
};

void
override_noise (const DenoiseConfig *config, gint32 noise[3])
{
  if (config->sigma > 0)
    for (guint c = 0; c < 3; c++)
      noise[c] = (gint32) (config->sigma * 16.0 + 0.5);
}

gboolean
average_picture (DenoiseBackend *b, const Picture *p,
    const Reference *references, guint n, const gint32 noise[3], GError **error)
{
  for (guint c = 0; c < b->n_components; c++) {
    DenoiseDeviceMean mean;

    memset (&mean, 0, sizeof mean);
    mean.shape = b->shapes[c];
    mean.current = p->planes[c];
    mean.n_references = (gint32) n;
    mean.component = (gint32) c;
    mean.cells_across = b->cells_across;
    mean.cells_down = b->cells_down;
    mean.into = b->mean[c];
    mean.left = b->left[c];
    for (guint i = 0; i < 3; i++) {
      mean.noise[i] = denoise_config_scale_noise (&b->config, noise[i]);
      mean.steady_noise[i] =
          denoise_config_scale_steady_noise (&b->config, noise[i]);
    }
    for (guint i = 0; i < n; i++)
      mean.references[i] = DenoiseDeviceReference{ references[i].planes[c],
        references[i].matches,
        references[i].left != NULL ? references[i].left[c] : NULL };
    if (!CVIS_CUDA (denoise_launch_mean (&mean, b->work), error))
      return FALSE;
  }
  return TRUE;
}

/* Frames before or after frame @number, of at most @n, that show the same scene */
guint
count_references (DenoiseBackend *b, guint64 number, guint direction, guint n)
{
  for (guint i = 0; i < n; i++)
    if (get_picture (b, direction == 0 ? number - i : number + i)
            ->cut[direction])
      return i;
  return n;
}

/* As in cpu/engine.c */
void
find_noise (DenoiseBackend *b, guint64 number, guint before, guint after,
    gint32 noise[3])
{
  const gint64 radius = b->config.radius;

  for (guint c = 0; c < b->n_components; c++) {
    gint32 sum = 0, n = 0, match_sum = 0, matches = 0;

    for (gint64 i = -(gint64) before; i <= (gint64) after; i++) {
      const Picture *p = get_picture (b, number + (guint64) i);

      sum += p->noise[c];
      n++;
      if ((i == 0 || (i > -radius && i < radius)) && p->match_noise[c] >= 0) {
        match_sum += p->match_noise[c];
        matches++;
      }
    }
    noise[c] = (sum + n / 2) / n;
    if (matches > 0)
      noise[c] = MIN (noise[c], (match_sum + matches / 2) / matches);
  }
}

/* The mean of the frames within the radius */
gboolean
average_window (
    DenoiseBackend *b, const DenoiseTask *task, gint32 noise[3], GError **error)
{
  const guint64 number = task->number;
  Picture *p = get_picture (b, number);
  const guint counts[2] = { count_references (b, number, 0, task->before),
    count_references (b, number, 1, task->after) };
  Reference references[DENOISE_MAX_REFERENCES];
  guint n = 0;

  find_noise (b, number, counts[0], counts[1], noise);
  override_noise (&b->config, noise);
  for (guint d = 0; d < 2; d++) {
    const DenoiseMatch *from = p->matches[d];

    for (guint i = 1; i <= counts[d]; i++) {
      const guint64 at = d == 0 ? number - i : number + i;
      const Picture *other = get_picture (b, at);

      if (i > 1) {
        const Picture *chain = get_picture (b, d == 0 ? at + 1 : at - 1);
        DenoiseDeviceSearch s;

        describe_search (b, p, other->planes, chain,
            (guint) find_field (chain, d), from, b->matches[d][i - 1], &s);
        if (!CVIS_CUDA (denoise_launch_search (&s, b->work), error))
          return FALSE;
        from = b->matches[d][i - 1];
      }
      references[n++] = Reference{ other->planes, from, NULL };
    }
  }
  task->job->starts_scene = counts[0] == 0;
  return average_picture (b, p, references, n, noise, error);
}

/* Keeps the mean as the reference for the next frame. */
gboolean
keep_recent (DenoiseBackend *b, GError **error)
{
  for (guint c = 0; c < b->n_components; c++)
    if (!CVIS_CUDA (denoise_launch_keep (&b->mean[c], &b->recent[c],
                        b->shapes[c].width, b->shapes[c].height, b->work),
            error)
        || !CVIS_CUDA (cudaMemcpyAsync (b->recent_left[c], b->left[c],
                           b->n_cells * sizeof (guint16),
                           cudaMemcpyDeviceToDevice, b->work),
            error))
      return FALSE;
  return TRUE;
}

/* The mean with the result for the frame before */
gboolean
average_recursively (
    DenoiseBackend *b, const DenoiseTask *task, gint32 noise[3], GError **error)
{
  Picture *p = get_picture (b, task->number);
  const gint field = find_field (p, 0);
  const Reference reference = { b->recent, p->matches[0], b->recent_left };
  gboolean linked = task->before > 0 && field >= 0;

  if (!find_picture_noise (b, p, error))
    return FALSE;
  if (linked) {
    if (!search_neighbour (
            b, p, b->recent, b->recent_left[0], 0, (guint) field, error)
        || !read_counts (b, p, error))
      return FALSE;
    linked = !p->cut[0];
  }
  for (guint c = 0; c < b->n_components; c++) {
    noise[c] =
        linked ? (3 * b->recent_noise[c] + p->noise[c] + 2) / 4 : p->noise[c];
    b->recent_noise[c] = noise[c];
  }
  override_noise (&b->config, noise);
  task->job->starts_scene = !linked;
  return average_picture (b, p, &reference, linked, noise, error)
         && keep_recent (b, error);
}

/* --- a frame leaves ---------------------------------------------------------------------- */

/* Filters component @c of @from into the result. */
gboolean
filter_spatially (DenoiseBackend *b, guint c, const DenoiseDevicePlane *from,
    const guint16 *left, gint32 noise, GError **error)
{
  const DenoiseShape *shape = &b->shapes[c];
  const gboolean grouped = c == 0 && b->config.mode != DENOISE_MODE_RECURSIVE;
  const DenoiseDeviceSpatial s = {
    .width = MAX (shape->width, DENOISE_PATCH),
    .height = MAX (shape->height, DENOISE_PATCH),
    .cell_x = shape->cell_x,
    .cell_y = shape->cell_y,
    .cells_across = b->cells_across,
    .cells_down = b->cells_down,
    .left = left,
    .noise = (gfloat) noise,
    .from = *from,
    .pilot = b->pilot,
    .sums = b->sums,
    .weights = b->weights,
    .stride = b->pilot.stride,
  };

  return CVIS_CUDA (denoise_launch_shrink (
                        &s, grouped ? &b->pilot : &b->result, b->work),
             error)
         && (!grouped
             || CVIS_CUDA (
                 denoise_launch_group (&s, &b->result, b->work), error));
}

/* @from: (nullable): %NULL: the samples are copied */
gboolean
store_component (DenoiseBackend *b, const Picture *p, const DenoiseJob *job,
    guint c, const DenoiseDevicePlane *from, GError **error)
{
  DenoiseStore store;

  memset (&store, 0, sizeof store);
  store.in = get_input (b, p, job, c);
  store.out = is_here (b, job)
                  ? job->out[c]
                  : denoise_staging_get_plane (&b->out, job->out, c);
  store.depth = (gint32) b->config.depth;
  store.shift = (gint32) job->shift;
  store.width = b->shapes[c].width;
  store.height = b->shapes[c].height;
  store.removed = denoise_removed (&b->config, job);
  if (from != NULL)
    store.from = *from;
  return CVIS_CUDA (denoise_launch_store (&store, b->work), error);
}

gboolean
cuda_filter (
    DenoiseBackend *b, guint slot, const DenoiseTask *task, GError **error)
{
  b->tasks[slot] = *task;
  return TRUE;
}

/* Has the noise of @task's frame, and unless it is filtered alone its mean. */
gboolean
average (
    DenoiseBackend *b, const DenoiseTask *task, gint32 noise[3], GError **error)
{
  const DenoiseConfig *config = &b->config;
  Picture *p = get_picture (b, task->number);

  switch (config->mode) {
    case DENOISE_MODE_SPATIAL:
      if (!find_picture_noise (b, p, error))
        return FALSE;
      memcpy (noise, p->noise, sizeof p->noise);
      override_noise (config, noise);
      task->job->starts_scene = FALSE;
      return TRUE;
    case DENOISE_MODE_RECURSIVE:
      return analyse_until (b, task->first, task->number, error)
             && average_recursively (b, task, noise, error);
    default:
      return analyse_until (b, task->first,
                 task->number + MIN (task->after, config->radius - 1), error)
             && average_window (b, task, noise, error);
  }
}

gboolean
finish_component (DenoiseBackend *b, const DenoiseTask *task, guint c,
    gint32 noise, GError **error)
{
  const DenoiseConfig *config = &b->config;
  const gboolean alone = config->mode == DENOISE_MODE_SPATIAL;
  const Picture *p = get_picture (b, task->number);
  const gboolean denoised = c < b->n_components;
  const gint32 assumed = denoise_config_scale_noise (config, noise);
  const DenoiseDevicePlane *from =
      denoised ? (alone ? &p->planes[c] : &b->mean[c]) : NULL;

  task->job->sigma[c] = denoised ? noise / 16.0 : 0;
  if (denoised && config->mode != DENOISE_MODE_TEMPORAL
      && (alone || config->preset == DENOISE_PRESET_NONE) && assumed > 0) {
    if (!filter_spatially (
            b, c, from, alone ? NULL : b->left[c], assumed, error))
      return FALSE;
    from = &b->result;
  }
  return store_component (b, p, task->job, c, from, error);
}

gboolean
wait_in_context (DenoiseBackend *b, const DenoiseTask *task, GError **error)
{
  const DenoiseJob *job = task->job;
  gint32 noise[3] = { 0 };

  if (!average (b, task, noise, error))
    return FALSE;
  for (guint c = 0; c < b->config.n_components; c++)
    if (!finish_component (b, task, c, noise[c], error))
      return FALSE;
  if (job->on_device && !is_here (b, job))
    return denoise_staging_copy_out (
        &b->out, &b->config, b->context, b->work, job, error);
  return (job->on_device
             || copy_components (b, job->out, &b->out, FALSE, b->work, error))
         && CVIS_CUDA (cudaStreamSynchronize (b->work), error);
}

gboolean
cuda_wait (DenoiseBackend *b, guint slot, GError **error)
{
  return cvis_in_context (b->context, error, [&] {
    const gboolean ok = wait_in_context (b, &b->tasks[slot], error);

    /* nothing may use a frame that the caller takes back */
    if (!ok)
      cudaStreamSynchronize (b->work);
    return ok;
  });
}

} // namespace

extern "C" const DenoiseBackendOps denoise_backend_cuda = { "cuda", cuda_create,
  cuda_destroy, cuda_load, cuda_follow, cuda_end, cuda_filter, cuda_wait };
