/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Transforms of pictures in device memory, ordered on a stream; float,
 * double and gint32 by LwtType. Definitions: docs/design/lifting.md. Strides
 * are bytes; strides and addresses are multiples of 16. No function here
 * allocates, synchronises or reads the data on the host. */
#pragma once

#include <cuda_runtime.h>

#include "cuda/lifting/backend.h"

G_BEGIN_DECLS

typedef struct _LwtTiles LwtTiles;

/**
 * LwtTransform: a wavelet on the device; used by one thread at a time
 * @tiles: (nullable): its tile kernels
 */
typedef struct {
  LwtType type;
  LwtBoundary boundary; /* the padded boundaries are symmetric here */
  LwtWavelet wavelet;
  LwtTiles *tiles;
} LwtTransform;

void lwt_transform_init (LwtTransform *transform, const LwtWavelet *wavelet,
    LwtType type, LwtBoundary boundary);
/* Uses the precompiled kernels of the wavelet's structure. If there are
 * none, starts to compile kernels for the wavelet, type and boundary, and
 * returns; they are used once they are ready, with the same bits. With the
 * environment variable CUDAVISION_JIT=off nothing is compiled; with
 * CUDAVISION_JIT=wait the call returns when they are ready. */
void lwt_transform_specialise (LwtTransform *transform, CvisContext *context);
/* Waits until the kernels are ready. */
gboolean lwt_transform_wait (LwtTransform *transform, GError **error);
/* Description for messages: "NVRTC 13.0, cached". Valid until the next call. */
const gchar *lwt_transform_describe (const LwtTransform *transform);
/* No kernel may be in flight. */
void lwt_transform_clear (LwtTransform *transform);

typedef struct {
  void *data;
  gsize stride;
} LwtPicture;

/* Bytes of work memory for any of the calls below with @chain. */
gsize lwt_transform_get_work_size (
    const LwtTransform *transform, const LwtChain *chain);

/* Computes all bands of @picture, which is not changed, in @layout. */
gboolean lwt_transform_forward (const LwtTransform *transform,
    const LwtChain *chain, LwtLayout layout, LwtPicture picture,
    LwtPicture bands, void *work, cudaStream_t stream, GError **error);
/* The inverse; @bands is not changed. */
gboolean lwt_transform_inverse (const LwtTransform *transform,
    const LwtChain *chain, LwtLayout layout, LwtPicture bands,
    LwtPicture picture, void *work, cudaStream_t stream, GError **error);

/* Computes only the low band after levels @first .. @first + @n - 1 of
 * @chain, n >= 1. @picture is the input of level @first. */
gboolean lwt_transform_reduce (const LwtTransform *transform,
    const LwtChain *chain, guint first, guint n, LwtPicture picture,
    LwtPicture low, void *work, cudaStream_t stream, GError **error);
/* Low-only synthesis: the inverse with high bands of +0, from @low to the
 * input of level @first. */
gboolean lwt_transform_expand (const LwtTransform *transform,
    const LwtChain *chain, guint first, guint n, LwtPicture low,
    LwtPicture picture, void *work, cudaStream_t stream, GError **error);

/**
 * LwtPartsTask: components of a picture from its low bands, in one pass over
 * memory
 * @picture: x, the input of level 0 of the chain
 * @low: low bands below [0] the noise, [1] the roughness, [2] the waviness
 *   (the form), each expanded to the input of level @levels, or with @at_zero
 *   to the input of level 0 (for a chain of no levels x itself)
 * @missing: (nullable): one bit for each sample of the components; each row
 *   begins with a new 32-bit word, lowest bit first. Where it is set, all
 *   components are NaN
 * @polynomial: (nullable): P's six coefficients in device memory; P - p[0]
 *   is added to the form
 * @parts: NOISE, ROUGHNESS, WAVINESS, FORM by CvisSurfacePart: destinations,
 *   cropped: sample (x, y) of a component is sample (x + pad[0], y + pad[1])
 *   of the picture; %NULL data: not wanted
 */
typedef struct {
  LwtPicture picture;
  LwtPicture low[3];
  gboolean at_zero[3];
  guint levels; /* 1 or 2: lwt_transform_get_parts_levels() */
  const guint32 *missing;
  const gdouble *polynomial;
  guint pad[2];
  guint width, height; /* of the components and of the polynomial's domain */
  LwtPicture parts[CVIS_SURFACE_N_PARTS];
} LwtPartsTask;

/* The best @levels for @task, whose parts are set, with low bands @depth levels below the
 * picture: the level to expand deeper ones to. */
guint lwt_transform_get_parts_levels (const LwtTransform *transform,
    const LwtChain *chain, const LwtPartsTask *task, const guint depth[3]);
gboolean lwt_transform_parts (const LwtTransform *transform,
    const LwtChain *chain, const LwtPartsTask *task, void *work,
    cudaStream_t stream, GError **error);

G_END_DECLS
