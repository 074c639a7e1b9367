/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Operations on a picture in device memory: a whole one or a row block. */
#pragma once

#include "cuda/core/device/arena.cuh"
#include "cuda/lifting/cuda/engine.cuh"

G_BEGIN_DECLS

/* Allocates a picture with rows of a multiple of 128 bytes. */
gboolean lwt_take_picture (CvisArena *arena, LwtType type, guint width,
    guint height, const gchar *what, LwtPicture *picture, GError **error);

/**
 * LwtWorkspace: memory and transform for one picture at a time
 * @low: [k] the low band of chain k of the filter
 * @upper: [k] @low[k] expanded for the components
 * @bands: coefficients, for denoise
 * @result: output of denoise, and of an inverse that is cropped
 */
typedef struct {
  const LwtPlan *plan;
  LwtTransform transform;
  LwtPicture low[3], upper[3];
  LwtPicture bands, result;
  gpointer work;
} LwtWorkspace;

/* @parts, @bands: chains of the largest picture. */
gboolean lwt_workspace_init (LwtWorkspace *workspace, const LwtPlan *plan,
    const LwtChain *parts, const LwtChain *bands, guint width, guint height,
    CvisArena *arena, GError **error);

/* Copies @width x @height samples. */
gboolean lwt_workspace_copy (const LwtWorkspace *workspace, LwtPicture from,
    LwtPicture to, guint width, guint height, cudaStream_t stream,
    GError **error);

/* The deepest low band computed */
typedef struct {
  LwtPicture picture;
  guint width, height;
  guint step_x, step_y; /* distance between samples, in columns and rows */
} LwtLowBand;

/* Computes the components that @task asks for. The caller sets its picture,
 * pad, missing, polynomial and parts. */
gboolean lwt_workspace_filter (LwtWorkspace *workspace, const LwtChain *chain,
    LwtPartsTask *task, LwtLowBand *low, cudaStream_t stream, GError **error);
/* Computes all bands of @picture. */
gboolean lwt_workspace_forward (LwtWorkspace *workspace, const LwtChain *chain,
    LwtLayout layout, LwtPicture picture, LwtPicture bands, LwtLowBand *low,
    cudaStream_t stream, GError **error);
gboolean lwt_workspace_inverse (LwtWorkspace *workspace, const LwtChain *chain,
    LwtPicture bands, LwtPicture picture, cudaStream_t stream, GError **error);
/* Rotation of spin @k along x (bits 0 and 2) and y (bits 1 and 3). */
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

/* Shrinks the coefficients in @bands, in Mallat's layout, and computes the
 * inverse to @picture. @work: work memory of the transform, from the
 * workspace or separate. */
gboolean lwt_workspace_shrink (LwtWorkspace *workspace, const LwtChain *chain,
    const LwtFindings *findings, LwtPicture bands, LwtPicture picture,
    gpointer work, cudaStream_t stream, GError **error);

G_END_DECLS
