/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Stores a lane's N samples of a row of the components: those inside the picture
 * are written, NaN where points are missing. */
#pragma once

#include "cuda/lifting/cuda/device.cuh"

/* Of LwtPartsTask; @by_four: parts' columns of a lane, where they are there, may
 * be moved by four */
typedef struct {
  const guint32 *missing;
  const gdouble *polynomial;
  gint pad[2];
  gint width, height;
  bool by_four;
} LwtCrop;

/* Adds what the F-operation took off but for the mean. A call, as its divisions
 * are long and there are many places that would hold them. */
static __device__ __noinline__ float4
lwt_parts_with_tail (float4 form, const gdouble *polynomial, gint column,
    gint y, gint width, gint height)
{
  const gdouble v = lwt_centred ((guint) y, (guint) height);
  float values[4] = { form.x, form.y, form.z, form.w };

#pragma unroll
  for (gint i = 0; i < 4; i++)
    values[i] =
        (float) ((gdouble) values[i]
                 + lwt_tail (polynomial,
                     lwt_centred ((guint) (column + i), (guint) width), v));
  return make_float4 (values[0], values[1], values[2], values[3]);
}

template <int N>
static __device__ __forceinline__ void
lwt_parts_add_tail (float form[N], const LwtCrop &crop, gint column, gint y)
{
#pragma unroll
  for (gint i = 0; i < N; i += 4) {
    const float4 sum = lwt_parts_with_tail (
        make_float4 (form[i], form[i + 1], form[i + 2], form[i + 3]),
        crop.polynomial, column + i, y, crop.width, crop.height);

    form[i] = sum.x;
    form[i + 1] = sum.y;
    form[i + 2] = sum.z;
    form[i + 3] = sum.w;
  }
}

/* Whether all of the lane's are theirs, and may be moved by four */
template <int N>
static __device__ __forceinline__ bool
lwt_parts_are_whole (const LwtCrop &crop, gint column)
{
  return crop.by_four && column >= 0 && column + N <= crop.width;
}

/* Bits of what is missing */
template <int N>
static __device__ __forceinline__ guint32
lwt_parts_missing (const LwtCrop &crop, gint column, bool whole, gint y)
{
  const guint32 *words = crop.missing + (gsize) y * ((crop.width + 31) / 32);
  guint32 bits = 0;

  if (crop.missing == NULL)
    return 0;
  if (whole)
    return words[column / 32] >> (column & 31);
#pragma unroll
  for (gint i = 0; i < N; i++)
    if (column + i >= 0 && column + i < crop.width)
      bits |= (words[(column + i) / 32] >> ((column + i) & 31) & 1) << i;
  return bits;
}

template <int N>
static __device__ __forceinline__ void
lwt_parts_write (const LwtCrop &crop, const LwtPicture &part, gint column,
    bool whole, gint y, const float values[N], guint32 missing)
{
  float *row =
      (float *) ((guint8 *) part.data + (gsize) y * part.stride) + column;
  float v[N];

#pragma unroll
  for (gint c = 0; c < N; c++)
    v[c] = missing >> c & 1 ? NAN : values[c];
  if (whole) {
#pragma unroll
    for (gint c = 0; c < N; c += 4)
      __stcs ((float4 *) (row + c),
          make_float4 (v[c], v[c + 1], v[c + 2], v[c + 3]));
  } else {
#pragma unroll
    for (gint c = 0; c < N; c++)
      if (column + c >= 0 && column + c < crop.width)
        row[c] = v[c];
  }
}

static inline LwtCrop
lwt_parts_crop (const LwtPartsTask *task)
{
  LwtCrop crop;

  crop.missing = task->missing;
  crop.polynomial = task->polynomial;
  crop.width = (gint) task->width;
  crop.height = (gint) task->height;
  for (gint i = 0; i < 2; i++)
    crop.pad[i] = (gint) task->pad[i];
  crop.by_four = task->pad[0] % 4 == 0;
  for (gint i = 0; i < 4; i++) {
    const LwtPicture *part = &task->parts[SURFACE_PART_NOISE + i];

    if (part->data && ((gsize) part->data | part->stride) % 16 != 0)
      crop.by_four = false;
  }
  return crop;
}
