/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The structures of wavelets that kernels are compiled for: which samples each
 * step changes, and by which neighbours. Weights are parameters. */
#pragma once

#include "cuda/lifting/cuda/transform.cuh"

#define LWT_MAX_SHAPE_STEPS 4
#define LWT_MAX_SHAPE_TAPS 8

/* --- structures ---------------------------------------------------------------- */

/* A step as a number: the kind it changes (0: even samples), first, n. */
#define LWT_P(first, n) ((1 << 16) + ((first) + 64) * 256 + (n))
#define LWT_U(first, n) (((first) + 64) * 256 + (n))

template <int... CODES> struct LwtStructure {
  static constexpr int n = sizeof...(CODES);

  __host__ __device__ static constexpr int
  code (int i)
  {
    const int codes[] = { CODES... };

    return codes[i];
  }
};

using LwtHaar = LwtStructure<LWT_P (0, 1), LWT_U (0, 1)>;
using LwtCdf53 = LwtStructure<LWT_P (0, 2), LWT_U (-1, 2)>;
using LwtCdf97 =
    LwtStructure<LWT_P (0, 2), LWT_U (-1, 2), LWT_P (0, 2), LWT_U (-1, 2)>;
using LwtDb2 = LwtStructure<LWT_U (-1, 1), LWT_P (0, 2), LWT_U (0, 1)>;
/* Calls RUN<structure> for the number that lwt_shape_find() gave; 0 has none. */
#define LWT_BY_SHAPE(number, RUN, ...)                                         \
  ((number) == 1      ? RUN<LwtHaar> (__VA_ARGS__)                             \
      : (number) == 2 ? RUN<LwtCdf53> (__VA_ARGS__)                            \
      : (number) == 3 ? RUN<LwtCdf97> (__VA_ARGS__)                            \
                      : RUN<LwtDb2> (__VA_ARGS__))

/* The number of the wavelet's structure, 0: none of them. */
gint lwt_shape_find (const LwtWavelet *wavelet);

/* Its weights in the order that steps are run in, with their signs, and scales. */
void lwt_set_weights (
    gfloat *taps, gfloat scale[2], const LwtWavelet *wavelet, gboolean inverse);

/* --- the order of steps ------------------------------------------------------------ */

/* Steps as they are run, forward or backward; weights lie in this order. */
template <class Shape, bool INVERSE> struct LwtOrder {
  static constexpr int n = Shape::n;

  __host__ __device__ static constexpr int
  code (int i)
  {
    return Shape::code (INVERSE ? n - 1 - i : i);
  }
  __host__ __device__ static constexpr int
  odd (int i)
  {
    return code (i) >> 16;
  }
  __host__ __device__ static constexpr int
  first (int i)
  {
    return (code (i) & 0xffff) / 256 - 64;
  }
  __host__ __device__ static constexpr int
  taps (int i)
  {
    return code (i) & 255;
  }
  /* Number of the first of its weights */
  __host__ __device__ static constexpr int
  tap (int i)
  {
    int sum = 0;

    for (int k = 0; k < i; k++)
      sum += taps (k);
    return sum;
  }
};

/* How many pairs to the left and right an output depends on. */
struct LwtReach {
  int left, right;
};

template <class Order>
__host__ __device__ constexpr LwtReach
lwt_reach ()
{
  int low[2] = { 0, 0 }, high[2] = { 0, 0 };

  for (int i = Order::n - 1; i >= 0; i--) {
    const int x = Order::odd (i), y = 1 - x;
    const int to_low = low[x] + Order::first (i);
    const int to_high = high[x] + Order::first (i) + Order::taps (i) - 1;

    low[y] = to_low < low[y] ? to_low : low[y];
    high[y] = to_high > high[y] ? to_high : high[y];
  }
  return { low[0] < low[1] ? -low[0] : -low[1],
    high[0] > high[1] ? high[0] : high[1] };
}

/* --- sliding ----------------------------------------------------------------------- */

/* Rows come in pair by pair. When pair t is there, step i runs for k = t -
 * delay[i]: in place, in the rows that are kept; all it needs is there, and none
 * of it has been changed by a later step.
 * @out: a row of the kind is done when pair k + out has come
 * @rows: of the kind that are kept, with the newest */
struct LwtDelays {
  int delay[LWT_MAX_SHAPE_STEPS];
  int out[2];
  int rows[2];
};

template <class Order>
__host__ __device__ constexpr LwtDelays
lwt_delays ()
{
  LwtDelays d = {};
  int read[2] = { 0, 0 }; /* not to be changed before */

  d.rows[0] = d.rows[1] = 1;
  for (int i = 0; i < Order::n; i++) {
    const int x = Order::odd (i), y = 1 - x;
    const int there = d.out[y] + Order::first (i) + Order::taps (i) - 1;
    int delay = d.out[x];

    delay = there > delay ? there : delay;
    delay = read[x] > delay ? read[x] : delay;
    d.delay[i] = delay;
    d.out[x] = delay;
    const int oldest = delay - Order::first (i);
    read[y] = oldest > read[y] ? oldest : read[y];
    d.rows[x] = delay + 1 > d.rows[x] ? delay + 1 : d.rows[x];
    d.rows[y] = oldest + 1 > d.rows[y] ? oldest + 1 : d.rows[y];
  }
  return d;
}

template <class Order> struct LwtMarch {
  __host__ __device__ static constexpr int
  delay (int i)
  {
    return lwt_delays<Order> ().delay[i];
  }
  static constexpr int low_out = lwt_delays<Order> ().out[0];
  static constexpr int high_out = lwt_delays<Order> ().out[1];
  static constexpr int out = low_out > high_out ? low_out : high_out;
  static constexpr int low_rows = lwt_delays<Order> ().rows[0];
  static constexpr int high_rows = lwt_delays<Order> ().rows[1];
  static constexpr int left = lwt_reach<Order> ().left;
  static constexpr int right = lwt_reach<Order> ().right;
  /* pairs beyond an edge's own that its mirrored neighbours may ask for */
  static constexpr int slack = left + right + 2;
};
