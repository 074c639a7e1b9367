/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Gain of lifting steps at the edges.
 *
 * Far from an edge all factorisations of a bank are equivalent. At an edge
 * each step mirrors its own neighbours, so the results differ: some
 * factorisations produce outliers, thousands of times the signal after a few
 * levels, and lose as many digits. The gain is found from the matrices of an
 * even and of an odd number of samples, transformed over a few levels, and
 * back. */
#include "cuda/wavelet/private.h"

#include "cuda/wavelet/boundary.h"

#define MAX_N 65
/* Row length, rounded up for vector loads; the rest is 0. */
#define WIDTH 68
#define LEVELS 3

/* A row for each sample: its weights of the inputs */
typedef struct {
  guint n;
  gdouble rows[MAX_N][WIDTH];
} Matrix;

static void
set_unit (Matrix *matrix, guint n)
{
  memset (matrix->rows, 0, sizeof (matrix->rows));
  matrix->n = n;
  for (guint i = 0; i < n; i++)
    matrix->rows[i][i] = 1.0;
}

static void
add_row (gdouble *restrict to, const gdouble *restrict from, gdouble weight)
{
  for (guint i = 0; i < WIDTH; i++)
    to[i] += weight * from[i];
}

/* Transforms the rows of a level, every @stride-th */
static void
apply_step (Matrix *matrix, guint stride, const LwtStep *step, gdouble sign)
{
  const gint to = step->kind == LWT_STEP_PREDICT ? 1 : 0, from = 1 - to;
  const gint n = (gint) ((matrix->n + stride - 1) / stride);

  for (gint k = 0; 2 * k + to < n; k++)
    for (gint i = 0; i < (gint) step->n; i++) {
      const gint j =
          lwt_neighbour (LWT_BOUNDARY_SYMMETRIC, k + step->first + i, from, n);

      add_row (matrix->rows[(guint) (2 * k + to) * stride],
          matrix->rows[(guint) (2 * j + from) * stride], sign * step->c[i]);
    }
}

static void
scale_rows (Matrix *matrix, guint stride, gdouble even, gdouble odd)
{
  for (guint i = 0; i * stride < matrix->n; i++)
    for (guint j = 0; j < WIDTH; j++)
      matrix->rows[i * stride][j] *= i & 1 ? odd : even;
}

/* The largest norm of a row, squared */
static gdouble
max_row (const Matrix *matrix)
{
  gdouble max = 0.0;

  for (guint i = 0; i < matrix->n; i++) {
    gdouble sum = 0.0;

    for (guint j = 0; j < WIDTH; j++)
      sum += matrix->rows[i][j] * matrix->rows[i][j];
    max = MAX (max, sum);
  }
  return max;
}

static void
forward (Matrix *matrix, const LwtWavelet *wavelet)
{
  for (guint level = 0; level < LEVELS; level++) {
    for (guint i = 0; i < wavelet->n_steps; i++)
      apply_step (matrix, 1u << level, wavelet->steps + i, 1.0);
    scale_rows (matrix, 1u << level, wavelet->scale_low, wavelet->scale_high);
  }
}

static void
inverse (Matrix *matrix, const LwtWavelet *wavelet)
{
  for (guint level = LEVELS; level-- > 0;) {
    scale_rows (matrix, 1u << level, 1.0 / wavelet->scale_low,
        1.0 / wavelet->scale_high);
    for (guint i = wavelet->n_steps; i-- > 0;)
      apply_step (matrix, 1u << level, wavelet->steps + i, -1.0);
  }
}

gdouble
lwt_steps_edge_gain (const LwtWavelet *wavelet)
{
  Matrix *matrix = g_new (Matrix, 1);
  gdouble max = 0.0;

  for (guint n = MAX_N - 1; n <= MAX_N; n++) {
    set_unit (matrix, n);
    forward (matrix, wavelet);
    max = MAX (max, max_row (matrix));
    set_unit (matrix, n);
    inverse (matrix, wavelet);
    max = MAX (max, max_row (matrix));
  }
  g_free (matrix);
  return sqrt (max);
}
