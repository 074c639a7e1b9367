/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Compiled once for each instruction set with PBF_TRAIN as the table's name. Vectors hold
 * hidden units; none is added to another across lanes, except in the outputs, whose sums
 * have PBF_TRAIN_LANES lanes in all of them. */
#include "cuda/meltpool/train/kernels.h"

#include <math.h>
#include <string.h>

#if defined(__AVX512F__)
#define VECTOR 16
#elif defined(__AVX2__)
#define VECTOR 8
#else
#define VECTOR 4
#endif

#define N_FEATURES CVIS_PBF_N_FEATURES
#define LANES PBF_TRAIN_LANES

typedef gfloat Vector __attribute__ ((vector_size (4 * VECTOR), aligned (4)));

static inline Vector
load (const gfloat *from)
{
  return *(const Vector *) from;
}

static inline void
store (gfloat *to, Vector value)
{
  *(Vector *) to = value;
}

static inline Vector
fill (gfloat value)
{
  return value - (Vector){ 0 };
}

/* @value where @of is above 0, else 0 */
static inline Vector
where_positive (Vector of, Vector value)
{
  typedef gint32 Mask __attribute__ ((vector_size (4 * VECTOR)));
  const Vector zero = { 0 };

  return (Vector) ((Mask) value & (Mask) (of > zero));
}

/* Hidden units of four rows at a time: a unit's sum starts with its bias and adds inputs
 * from the first to the last. */
static void
hidden_rows (const PbfTrainShape *shape, const gfloat *weights,
    PbfTrainRows *rows, guint first)
{
  const gfloat (*x)[N_FEATURES] =
      (const gfloat (*)[N_FEATURES]) & rows->x[first];
  gfloat *to = rows->hidden + (gsize) first * shape->padded;

  for (guint j = 0; j < shape->padded; j += VECTOR) {
    const Vector bias = load (weights + shape->b1 + j);
    Vector sums[4] = { bias, bias, bias, bias };

    for (guint i = 0; i < N_FEATURES; i++) {
      const Vector w = load (weights + i * shape->padded + j);

      sums[0] += w * x[0][i];
      sums[1] += w * x[1][i];
      sums[2] += w * x[2][i];
      sums[3] += w * x[3][i];
    }
    for (guint r = 0; r < 4; r++)
      store (to + r * shape->padded + j, where_positive (sums[r], sums[r]));
  }
}

static gfloat
sum_products (const gfloat *a, const gfloat *b, guint n)
{
  Vector sums[LANES / VECTOR] = { { 0 } };
  gfloat lanes[LANES];

  for (guint j = 0; j < n; j += LANES)
    for (guint v = 0; v < LANES / VECTOR; v++)
      sums[v] += load (a + j + v * VECTOR) * load (b + j + v * VECTOR);
  memcpy (lanes, sums, sizeof lanes);
  for (guint half = LANES / 2; half > 0; half /= 2)
    for (guint i = 0; i < half; i++)
      lanes[i] += lanes[i + half];
  return lanes[0];
}

static void
forward (const PbfTrainShape *shape, const gfloat *weights, PbfTrainRows *rows)
{
  for (guint r = 0; r < rows->n; r += 4)
    hidden_rows (shape, weights, rows, r);
  for (guint r = 0; r < rows->n; r++)
    for (guint o = 0; o < shape->outputs; o++)
      rows->logits[r][o] =
          sum_products (rows->hidden + (gsize) r * shape->padded,
              weights + shape->w2 + o * shape->padded, shape->padded)
          + weights[shape->b2 + o];
}

/* Gradient of the outputs' weights, and of the hidden units in rows->back. */
static void
outputs_backward (const PbfTrainShape *shape, const gfloat *weights,
    PbfTrainRows *rows, gfloat *gradient)
{
  gfloat deltas[PBF_TRAIN_ROWS][CVIS_PBF_MAX_OUTPUTS];
  const guint padded = shape->padded;

  for (guint r = 0; r < rows->n; r++) {
    pbf_train_softmax (rows->logits[r], shape->outputs, deltas[r]);
    deltas[r][rows->labels[r]] -= 1;
    for (guint o = 0; o < shape->outputs; o++) {
      deltas[r][o] *= rows->weights[r];
      gradient[shape->b2 + o] += deltas[r][o];
    }
  }
  for (guint j = 0; j < padded; j += VECTOR) {
    for (guint o = 0; o < shape->outputs; o++) {
      Vector sum = load (gradient + shape->w2 + o * padded + j);

      for (guint r = 0; r < rows->n; r++)
        sum += load (rows->hidden + r * padded + j) * deltas[r][o];
      store (gradient + shape->w2 + o * padded + j, sum);
    }
    for (guint r = 0; r < rows->n; r++) {
      Vector sum = { 0 };

      for (guint o = 0; o < shape->outputs; o++)
        sum += load (weights + shape->w2 + o * padded + j) * deltas[r][o];
      store (rows->back + r * padded + j,
          where_positive (load (rows->hidden + r * padded + j), sum));
    }
  }
}

static void
backward (const PbfTrainShape *shape, const gfloat *weights, PbfTrainRows *rows,
    gfloat *gradient)
{
  const guint padded = shape->padded;

  memset (gradient, 0, shape->n * sizeof *gradient);
  outputs_backward (shape, weights, rows, gradient);
  for (guint j = 0; j < padded; j += VECTOR) {
    Vector bias = { 0 };

    for (guint r = 0; r < rows->n; r++)
      bias += load (rows->back + r * padded + j);
    store (gradient + shape->b1 + j, bias);
    for (guint i = 0; i < N_FEATURES; i += 8) {
      Vector sums[8] = { { 0 } };

      for (guint r = 0; r < rows->n; r++) {
        const Vector back = load (rows->back + r * padded + j);
        const gfloat *x = &rows->x[r][i];

        sums[0] += back * x[0];
        sums[1] += back * x[1];
        sums[2] += back * x[2];
        sums[3] += back * x[3];
        sums[4] += back * x[4];
        sums[5] += back * x[5];
        sums[6] += back * x[6];
        sums[7] += back * x[7];
      }
      for (guint k = 0; k < 8; k++)
        store (gradient + (i + k) * padded + j, sums[k]);
    }
  }
}

static void
step (const PbfTrainShape *shape, const PbfAdam *adam, gfloat *gradient,
    guint n_parts, gfloat *first, gfloat *second, gfloat *weights)
{
  const Vector beta1 = fill (adam->beta1), beta2 = fill (adam->beta2);

  for (guint k = 0; k < shape->n; k += VECTOR) {
    Vector sum = load (gradient + k), m, v, root;

    for (guint p = 1; p < n_parts; p++)
      sum += load (gradient + (gsize) p * shape->n + k);
    m = beta1 * load (first + k) + (1 - beta1) * sum;
    v = beta2 * load (second + k) + (1 - beta2) * (sum * sum);
    store (first + k, m);
    store (second + k, v);
    for (guint l = 0; l < VECTOR; l++)
      root[l] = sqrtf (v[l]);
    store (weights + k,
        load (weights + k) - adam->rate * m / (root + adam->epsilon));
  }
}

const PbfTrainKernels PBF_TRAIN = { forward, backward, step };
