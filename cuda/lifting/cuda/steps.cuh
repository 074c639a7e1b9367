/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The steps of any wavelet as kernel parameters, and one step on a sample. */
#pragma once

#include <string.h>

#include "cuda/lifting/cuda/device.cuh"
#include "cuda/lifting/cuda/sample.cuh"

/* A step. @tap: index of its first weight in the list of all */
typedef struct {
  gint16 kind, n;
  gint16 tap;
  gint16 shift;
  gint32 first;
} LwtStepHead;

/* All steps. @far_taps: the weights in device memory; NULL: they are in
 * @taps */
template <typename T> struct LwtSteps {
  gint n, n_taps;
  LwtStepHead heads[LWT_MAX_STEPS];
  const T *far_taps;
  T taps[LWT_PARAMETER_TAPS];
  T scale[2];
};

/* --- one step on a sample ------------------------------------------------ */

/* @x after a step; @at (i) returns neighbour i. */
template <bool INVERSE, typename T, typename At>
static __device__ __forceinline__ T
lwt_lift (T x, const LwtStepHead &head, const T *taps, At at)
{
  for (gint i = 0; i < head.n; i++)
    x = lwt_fma (INVERSE ? -taps[i] : taps[i], at (i), x);
  return x;
}

template <bool INVERSE, typename At>
static __device__ __forceinline__ gint32
lwt_lift (gint32 x, const LwtStepHead &head, const gint32 *taps, At at)
{
  guint32 sum = head.shift > 0 ? 1u << (head.shift - 1) : 0;
  guint32 change;

  for (gint i = 0; i < head.n; i++)
    sum += (guint32) taps[i] * (guint32) at (i);
  change = (guint32) ((gint32) sum >> head.shift);
  return (gint32) (INVERSE ? (guint32) x - change : (guint32) x + change);
}

/* Copies the weights to shared memory, by all threads. Returns: the memory
 * behind them */
template <typename T>
static __device__ __forceinline__ T *
lwt_take_taps (const LwtSteps<T> &steps, T *shared)
{
  for (gint i = threadIdx.x; i < steps.n_taps; i += blockDim.x)
    shared[i] = steps.far_taps ? steps.far_taps[i] : steps.taps[i];
  return shared + (steps.n_taps + 3) / 4 * 4;
}

/* --- host: parameters ---------------------------------------------------- */

static inline guint
lwt_count_taps (const LwtWavelet *wavelet)
{
  guint n = 0;

  for (guint i = 0; i < wavelet->n_steps; i++)
    n += wavelet->steps[i].n;
  return n;
}

template <typename T>
static inline T
lwt_get_tap (const LwtStep *step, guint i)
{
  return lwt_is_integer<T> ? (T) step->num[i] : (T) step->c[i];
}

/* Bytes of the weights in shared memory */
static inline gsize
lwt_get_taps_size (const LwtTransform *transform)
{
  return (lwt_count_taps (&transform->wavelet) + 3) / 4 * 4
         * lwt_type_get_size (transform->type);
}

template <typename T>
static inline guint
lwt_list_taps (const LwtWavelet *wavelet, T *taps)
{
  guint n = 0;

  for (guint i = 0; i < wavelet->n_steps; i++)
    for (guint k = 0; k < wavelet->steps[i].n; k++)
      taps[n++] = lwt_get_tap<T> (&wavelet->steps[i], k);
  return n;
}

template <typename T>
static inline void
lwt_set_steps (LwtSteps<T> *steps, const LwtTransform *transform,
    gboolean inverse, const void *far_taps)
{
  const LwtWavelet *wavelet = &transform->wavelet;
  const gdouble scale[2] = { wavelet->scale_low, wavelet->scale_high };

  steps->n = (gint) wavelet->n_steps;
  steps->n_taps = 0;
  for (guint i = 0; i < wavelet->n_steps; i++) {
    const LwtStep *step = &wavelet->steps[i];
    LwtStepHead *head = &steps->heads[i];

    head->kind = (gint16) step->kind;
    head->n = (gint16) step->n;
    head->tap = (gint16) steps->n_taps;
    head->shift = (gint16) step->shift;
    head->first = step->first;
    steps->n_taps += (gint) step->n;
  }
  steps->far_taps = (const T *) far_taps;
  if (far_taps == NULL)
    lwt_list_taps (wavelet, steps->taps);
  for (gint i = 0; i < 2; i++)
    steps->scale[i] =
        lwt_is_integer<T> ? (T) 1 : (T) (inverse ? 1.0 / scale[i] : scale[i]);
}
