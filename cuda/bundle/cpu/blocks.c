/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/bundle/cpu/cpu.h"

/* a = L D L^T in the lower triangle; the inverse of L replaces L, D^-1 the
 * diagonal. Then a^-1 = L^-T D^-1 L^-1. */
void
bundle_cpu_invert (gdouble *a, guint n, guint stride)
{
#define A(i, j) a[(gsize) (i) *stride + (j)]
  for (guint j = 0; j < n; j++) {
    gdouble diagonal = A (j, j), pivot = diagonal;

    for (guint k = 0; k < j; k++)
      pivot -= A (j, k) * A (j, k) * A (k, k);
    for (guint i = j + 1; i < n; i++) {
      gdouble sum = A (i, j);

      for (guint k = 0; k < j; k++)
        sum -= A (i, k) * A (j, k) * A (k, k);
      A (i, j) = sum;
    }
    pivot = pivot > BUNDLE_PIVOT * diagonal ? pivot : 0;
    for (guint i = j + 1; i < n; i++)
      A (i, j) = pivot > 0 ? A (i, j) / pivot : 0;
    /* keeps D while rows below need it */
    A (j, j) = pivot;
  }
  /* L^-1 */
  for (guint j = 0; j < n; j++)
    for (guint i = j + 1; i < n; i++) {
      gdouble sum = -A (i, j);

      for (guint k = j + 1; k < i; k++)
        sum -= A (i, k) * A (k, j);
      A (i, j) = sum;
    }
  for (guint j = 0; j < n; j++)
    A (j, j) = A (j, j) > 0 ? 1 / A (j, j) : 0;
  /* row i of the product needs only rows i.. of the factors */
  for (guint i = 0; i < n; i++)
    for (guint j = i; j < n; j++) {
      gdouble sum = (i == j ? 1 : A (j, i)) * A (j, j);

      for (guint k = j + 1; k < n; k++)
        sum += A (k, i) * A (k, j) * A (k, k);
      A (i, j) = sum;
    }
  for (guint i = 0; i < n; i++)
    for (guint j = 0; j < i; j++)
      A (i, j) = A (j, i);
#undef A
}

void
bundle_cpu_invert_block (
    BundleBackend *b, guint camera, const gdouble block[BUNDLE_TRIANGLE])
{
  guint16 constant = b->camera_constant[camera];
  gdouble a[81], *to = b->inverse_u + (gsize) camera * BUNDLE_TRIANGLE;

  for (guint i = 0; i < 9; i++)
    for (guint j = i; j < 9; j++) {
      gboolean zero = (constant >> i & 1) || (constant >> j & 1);

      /* shared intrinsics form a block of their own */
      if (b->shared && i < BUNDLE_CAMERA_FOCAL && j >= BUNDLE_CAMERA_FOCAL)
        zero = TRUE;
      a[9 * i + j] = a[9 * j + i] = zero ? 0 : block[bundle_cpu_at (i, j)];
    }
  bundle_cpu_invert (a, 9, 9);
  for (guint i = 0; i < 9; i++)
    for (guint j = i; j < 9; j++)
      to[bundle_cpu_at (i, j)] = a[9 * i + j];
}
