/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Operations on a picture on the device: a whole one or a block of its rows. */
#pragma once

#include "cuda/core/arena.cuh"
#include "cuda/lifting/cuda/engine.cuh"

G_BEGIN_DECLS

/* A picture with rows of a multiple of 128 bytes. */
gboolean lwt_take_picture (CvisArena *arena, LwtType type, guint width,
    guint height, const gchar *what, LwtPicture *picture, GError **error);

/**
 * LwtWorkspace: memory and transform for one picture at a time
 * @low: [k] the low band of chain k of the filter; @upper: what it is expanded to,
 *   as level 1 of the chain splits
 * @bands: of denoise; @result: of denoise and of an inverse that is cropped
 */
typedef struct {
  const LwtPlan *plan;
  LwtTransform transform;
  LwtPicture low[3], upper[3];
  LwtPicture bands, result;
  gpointer work;
} LwtWorkspace;

/* @parts, @bands: the chains of the largest picture. */
gboolean lwt_workspace_init (LwtWorkspace *workspace, const LwtPlan *plan,
    const LwtChain *parts, const LwtChain *bands, guint width, guint height,
    CvisArena *arena, GError **error);

/* @width x @height samples. */
gboolean lwt_workspace_copy (const LwtWorkspace *workspace, LwtPicture from,
    LwtPicture to, guint width, guint height, cudaStream_t stream,
    GError **error);

/* A low band: the deepest that was computed */
typedef struct {
  LwtPicture picture;
  guint width, height;
  guint step_x, step_y; /* from sample to sample */
} LwtLowBand;

/* The components that @task, with picture, pad, missing, polynomial and parts set,
 * asks for. */
gboolean lwt_workspace_filter (LwtWorkspace *workspace, const LwtChain *chain,
    LwtPartsTask *task, LwtLowBand *low, cudaStream_t stream, GError **error);
/* All bands of @picture. */
gboolean lwt_workspace_forward (LwtWorkspace *workspace, const LwtChain *chain,
    LwtLayout layout, LwtPicture picture, LwtPicture bands, LwtLowBand *low,
    cudaStream_t stream, GError **error);
gboolean lwt_workspace_inverse (LwtWorkspace *workspace, const LwtChain *chain,
    LwtPicture bands, LwtPicture picture, cudaStream_t stream, GError **error);
/* By how much spin @k is rotated. */
static inline guint
lwt_spin_x (guint k)
{
  return (k & 1) | (k >> 1 & 2);
}

static inline guint
lwt_spin_y (guint k)
{
  return (k >> 1 & 1) | (k >> 2 & 2);
}

/* Shrinks the coefficients in @bands, in Mallat's layout, and goes back to @picture;
 * @work: memory of the transform, that of the workspace or other. */
gboolean lwt_workspace_shrink (LwtWorkspace *workspace, const LwtChain *chain,
    const LwtFindings *findings, LwtPicture bands, LwtPicture picture,
    gpointer work, cudaStream_t stream, GError **error);

G_END_DECLS
