/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Transforms of pictures on the device, ordered on a stream; float, double and
 * gint32 by LwtType. The definitions are in docs/design/lifting.md.
 * Pictures are device memory; strides are bytes, multiples of 16, and so are
 * addresses. Nothing here allocates, synchronises or looks at the data. */
#pragma once

#include <cuda_runtime.h>

#include "cuda/lifting/backend.h"

G_BEGIN_DECLS

typedef struct _LwtTiles LwtTiles;

/**
 * LwtTransform: a wavelet on the device. One thread at a time uses it
 * @tiles: (nullable): kernels compiled for it at run time
 */
typedef struct {
  LwtType type;
  LwtBoundary boundary; /* padded ones are symmetric here */
  LwtWavelet wavelet;
  LwtTiles *tiles;
} LwtTransform;

void lwt_transform_init (LwtTransform *transform, const LwtWavelet *wavelet,
    LwtType type, LwtBoundary boundary);
/* Takes the precompiled kernels of the wavelet's structure, or, where there are none,
 * starts to compile kernels for the wavelet, type and boundary, and returns; they
 * are used as soon as they are ready, to the same bits. Nothing is compiled if the
 * environment variable CUDAVISION_JIT is `off`; if it is `wait`, this returns when
 * they are ready. */
void lwt_transform_specialise (LwtTransform *transform, CvisContext *context);
/* Waits until they are ready. */
gboolean lwt_transform_wait (LwtTransform *transform, GError **error);
/* Description for messages: "NVRTC 13.0, cached". Valid until the next call. */
const gchar *lwt_transform_describe (const LwtTransform *transform);
/* Nothing may be in flight. */
void lwt_transform_clear (LwtTransform *transform);

typedef struct {
  void *data;
  gsize stride;
} LwtPicture;

/* Bytes of scratch memory that any of these needs for @chain. */
gsize lwt_transform_get_work_size (
    const LwtTransform *transform, const LwtChain *chain);

/* All bands of @picture, which is not changed, to @bands in @layout. */
gboolean lwt_transform_forward (const LwtTransform *transform,
    const LwtChain *chain, LwtLayout layout, LwtPicture picture,
    LwtPicture bands, void *work, cudaStream_t stream, GError **error);
/* And back; @bands is not changed. */
gboolean lwt_transform_inverse (const LwtTransform *transform,
    const LwtChain *chain, LwtLayout layout, LwtPicture bands,
    LwtPicture picture, void *work, cudaStream_t stream, GError **error);

/* Only the low band of levels @first .. @first + @n - 1 of @chain, of @picture
 * (which is what level @first splits), to @low. @n: 1.. */
gboolean lwt_transform_reduce (const LwtTransform *transform,
    const LwtChain *chain, guint first, guint n, LwtPicture picture,
    LwtPicture low, void *work, cudaStream_t stream, GError **error);
/* Low-only synthesis back from @low to what level @first split. */
gboolean lwt_transform_expand (const LwtTransform *transform,
    const LwtChain *chain, guint first, guint n, LwtPicture low,
    LwtPicture picture, void *work, cudaStream_t stream, GError **error);

/**
 * LwtPartsTask: the parts of a picture out of low bands, in one pass over memory
 * @picture: x, as large as what level 0 of the chain splits
 * @low: [0] what lies below the noise, [1] below the roughness, [2] the form's:
 *   each as what level 1 of the chain splits (already expanded so far), or, with
 *   @at_zero, as what level 0 splits (a chain of no levels: x itself may be given)
 * @missing: (nullable): a bit a sample of the parts, row by row from a new word
 *   of 32, the lowest bit first: where it is set, all parts are NaN
 * @polynomial: (nullable): P's six coefficients, on the device: P - p[0] is
 *   added to the form
 * @parts: NOISE, ROUGHNESS, WAVINESS, FORM by SurfacePart: where they go;
 *   cropped: sample (x, y) of a part is (x + pad[0], y + pad[1]) of the picture;
 *   %NULL data: not wanted
 */
typedef struct {
  LwtPicture picture;
  LwtPicture low[3];
  gboolean at_zero[3];
  const guint32 *missing;
  const gdouble *polynomial;
  guint pad[2];
  guint width, height; /* of the parts and of what the polynomial is of */
  LwtPicture parts[SURFACE_N_PARTS];
} LwtPartsTask;

gboolean lwt_transform_parts (const LwtTransform *transform,
    const LwtChain *chain, const LwtPartsTask *task, void *work,
    cudaStream_t stream, GError **error);

G_END_DECLS
