/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/lifting/cuda/picture.cuh"

#define PART(part) (1u << CVIS_SURFACE_PART_##part)

/* --- memory ------------------------------------------------------------------- */

extern "C" gboolean
lwt_take_picture (CvisArena *arena, LwtType type, guint width, guint height,
    const gchar *what, LwtPicture *picture, GError **error)
{
  picture->stride = (lwt_type_get_size (type) * width + 127) / 128 * 128;
  picture->data =
      cvis_arena_device (arena, picture->stride * height, what, error);
  return picture->data != NULL;
}

/* --- memory of a picture ------------------------------------------------------------------ */

/* Levels before low band @k; 0 if no axis is split (a row that is to be
 * split along y). */
static guint
get_depth (const LwtPlan *plan, const LwtChain *chain, guint k)
{
  gboolean splits = FALSE;

  for (guint i = 0; i < chain->n; i++)
    splits = splits || chain->levels[i].x || chain->levels[i].y;
  if (!splits)
    return 0;
  return k == 0 ? plan->n_noise : k == 1 ? plan->n_roughness : chain->n;
}

static gboolean
take_lows (LwtWorkspace *workspace, const LwtChain *chain, CvisArena *arena,
    GError **error)
{
  const LwtType type = workspace->plan->config.type;

  for (guint k = 0; k < 3; k++) {
    const guint depth = get_depth (workspace->plan, chain, k);
    const LwtLevel *first = &chain->levels[0];
    const LwtLevel *last = &chain->levels[MAX (depth, 1) - 1];

    if (depth == 0
        || (k > 0 && depth == get_depth (workspace->plan, chain, k - 1)))
      continue;
    if (!lwt_take_picture (arena, type, last->low_width, last->low_height,
            "a low band", &workspace->low[k], error)
        || (depth > 1
            && !lwt_take_picture (arena, type, first->low_width,
                first->low_height, "a low band", &workspace->upper[k], error)))
      return FALSE;
  }
  return TRUE;
}

static gboolean
take_pictures (LwtWorkspace *workspace, guint width, guint height,
    CvisArena *arena, GError **error)
{
  const LwtConfig *config = &workspace->plan->config;
  const gboolean denoise = config->operation == LWT_OPERATION_DENOISE;
  const gboolean cropped =
      config->operation == LWT_OPERATION_INVERSE
      && workspace->plan->pad[0] + workspace->plan->pad[1] > 0;

  if (denoise
      && !lwt_take_picture (arena, config->type, width, height, "coefficients",
          &workspace->bands, error))
    return FALSE;
  return !(denoise || cropped)
         || lwt_take_picture (arena, config->type, width, height, "a picture",
             &workspace->result, error);
}

extern "C" gboolean
lwt_workspace_init (LwtWorkspace *workspace, const LwtPlan *plan,
    const LwtChain *parts, const LwtChain *bands, guint width, guint height,
    CvisArena *arena, GError **error)
{
  gsize size = 0;

  workspace->plan = plan;
  lwt_transform_init (&workspace->transform, &plan->wavelet, plan->config.type,
      plan->config.boundary);
  if (parts->n > 0)
    size = lwt_transform_get_work_size (&workspace->transform, parts);
  if (bands->n > 0)
    size =
        MAX (size, lwt_transform_get_work_size (&workspace->transform, bands));
  workspace->work = cvis_arena_device (arena, size, "the transform", error);
  return workspace->work != NULL
         && (plan->config.operation != LWT_OPERATION_FILTER
             || take_lows (workspace, parts, arena, error))
         && take_pictures (workspace, width, height, arena, error);
}

/* --- the filter ------------------------------------------------------------------ */

static gboolean
is_wanted (const LwtPartsTask *task, CvisSurfacePart part)
{
  return task->parts[part].data != NULL;
}

/* Computes the low bands down to the last one needed and records where they
 * lie. */
static gboolean
reduce_to_lows (LwtWorkspace *workspace, const LwtChain *chain,
    const LwtPartsTask *task, guint n, LwtPicture lows[3], cudaStream_t stream,
    GError **error)
{
  LwtPicture from = task->picture;
  guint depth = 0;

  for (guint k = 0; k < n; k++) {
    const guint to = get_depth (workspace->plan, chain, k);

    if (to > depth) {
      if (!lwt_transform_reduce (&workspace->transform, chain, depth,
              to - depth, from, workspace->low[k], workspace->work, stream,
              error))
        return FALSE;
      from = workspace->low[k];
      depth = to;
    }
    lows[k] = from;
  }
  return TRUE;
}

/* Low band @k, expanded to the input of level task->levels, for the components. */
static gboolean
expand_low (LwtWorkspace *workspace, const LwtChain *chain, guint k,
    const guint depths[3], LwtPicture low, LwtPartsTask *task,
    cudaStream_t stream, GError **error)
{
  const guint depth = depths[k];
  guint own = k;

  if (k > 0 && depth == depths[k - 1] && task->low[k - 1].data != NULL) {
    task->low[k] = task->low[k - 1];
    task->at_zero[k] = task->at_zero[k - 1];
    return TRUE;
  }
  task->at_zero[k] = depth == 0;
  task->low[k] = low;
  if (depth <= task->levels)
    return TRUE;
  /* of equal chains only the first one has memory */
  while (workspace->upper[own].data == NULL)
    own--;
  task->low[k] = workspace->upper[own];
  return lwt_transform_expand (&workspace->transform, chain, task->levels,
      depth - task->levels, low, workspace->upper[own], workspace->work, stream,
      error);
}

extern "C" gboolean
lwt_workspace_filter (LwtWorkspace *workspace, const LwtChain *chain,
    LwtPartsTask *task, LwtLowBand *low, cudaStream_t stream, GError **error)
{
  const gboolean needed[3] = { is_wanted (task, CVIS_SURFACE_PART_NOISE)
                                   || is_wanted (
                                       task, CVIS_SURFACE_PART_ROUGHNESS),
    is_wanted (task, CVIS_SURFACE_PART_ROUGHNESS)
        || is_wanted (task, CVIS_SURFACE_PART_WAVINESS),
    is_wanted (task, CVIS_SURFACE_PART_WAVINESS)
        || is_wanted (task, CVIS_SURFACE_PART_FORM) };
  const guint n = needed[2] ? 3 : needed[1] ? 2 : needed[0] ? 1 : 0;
  guint depths[3], depth;
  LwtPicture lows[3];

  if (n == 0)
    return TRUE;
  for (guint k = 0; k < 3; k++)
    depths[k] = get_depth (workspace->plan, chain, k);
  depth = depths[n - 1];
  task->levels = lwt_transform_get_parts_levels (
      &workspace->transform, chain, task, depths);
  if (!reduce_to_lows (workspace, chain, task, n, lows, stream, error))
    return FALSE;
  *low = { lows[n - 1], workspace->plan->width, workspace->plan->height, 1, 1 };
  if (depth > 0) {
    low->width = chain->levels[depth - 1].low_width;
    low->height = chain->levels[depth - 1].low_height;
  }
  for (guint k = 0; k < n; k++)
    if (needed[k]
        && !expand_low (
            workspace, chain, k, depths, lows[k], task, stream, error))
      return FALSE;
  return lwt_transform_parts (
      &workspace->transform, chain, task, workspace->work, stream, error);
}

/* --- coefficients ------------------------------------------------------------------ */

/* If no level splits, the coefficients are the picture. */
extern "C" gboolean
lwt_workspace_copy (const LwtWorkspace *workspace, LwtPicture from,
    LwtPicture to, guint width, guint height, cudaStream_t stream,
    GError **error)
{
  return CVIS_CUDA (
      cudaMemcpy2DAsync (to.data, to.stride, from.data, from.stride,
          width * lwt_type_get_size (workspace->plan->config.type), height,
          cudaMemcpyDeviceToDevice, stream),
      error);
}

extern "C" gboolean
lwt_workspace_forward (LwtWorkspace *workspace, const LwtChain *chain,
    LwtLayout layout, LwtPicture picture, LwtPicture bands, LwtLowBand *low,
    cudaStream_t stream, GError **error)
{
  const LwtLevel *last = &chain->levels[MAX (chain->n, 1) - 1];

  *low = { bands, workspace->plan->width, workspace->plan->height, 1, 1 };
  for (guint i = 0; i < chain->n && layout == LWT_LAYOUT_INTERLEAVED; i++) {
    low->step_x <<= chain->levels[i].x ? 1 : 0;
    low->step_y <<= chain->levels[i].y ? 1 : 0;
  }
  if (chain->n == 0)
    return lwt_workspace_copy (
        workspace, picture, bands, low->width, low->height, stream, error);
  low->width = last->low_width;
  low->height = last->low_height;
  return lwt_transform_forward (&workspace->transform, chain, layout, picture,
      bands, workspace->work, stream, error);
}

extern "C" gboolean
lwt_workspace_inverse (LwtWorkspace *workspace, const LwtChain *chain,
    LwtPicture bands, LwtPicture picture, cudaStream_t stream, GError **error)
{
  if (chain->n == 0)
    return lwt_workspace_copy (workspace, bands, picture,
        workspace->plan->width, workspace->plan->height, stream, error);
  return lwt_transform_inverse (&workspace->transform, chain,
      workspace->plan->config.layout, bands, picture, workspace->work, stream,
      error);
}

extern "C" gboolean
lwt_workspace_shrink (LwtWorkspace *workspace, const LwtChain *chain,
    const LwtFindings *findings, LwtPicture bands, LwtPicture picture,
    gpointer work, cudaStream_t stream, GError **error)
{
  const LwtConfig *config = &workspace->plan->config;
  const LwtLevel *first = &chain->levels[0];
  const LwtLevel *last = &chain->levels[chain->n - 1];

  return CVIS_CUDA (lwt_launch_shrink (config->type, config->shrink, bands,
                        first->width, first->height, last->low_width,
                        last->low_height, config->threshold, findings, stream),
             error)
         && lwt_transform_inverse (&workspace->transform, chain,
             LWT_LAYOUT_MALLAT, bands, picture, work, stream, error);
}
