/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The inner loops of the Schur complement (schur.h), compiled for each instruction set
 * (BUNDLE_CPU_LEVEL). */
#include "cuda/bundle/cpu/schur.h"
#include "cuda/bundle/cpu/segment.h"

#include <string.h>

#define VECTORS (BUNDLE_SCHUR_LANES / BUNDLE_LANES)

/* V^-1 times a slot's three rows of W^T, in @vectors each; @from: bundle_schur_width() */
INLINE void
multiply_inverse (const gdouble inverse[6], const gdouble *from, guint d,
    guint vectors, V8 y[3][VECTORS])
{
  const guint n = d - BUNDLE_POSE;
  gdouble w[3][BUNDLE_SCHUR_LANES] __attribute__ ((aligned (64)));

  for (guint k = 0; k < 3; k++) {
    const gdouble *q = from, *g = from + 3 + 3 * k, *l = from + 12 + n * k;

    w[k][0] = q[1] * g[2] - q[2] * g[1];
    w[k][1] = q[2] * g[0] - q[0] * g[2];
    w[k][2] = q[0] * g[1] - q[1] * g[0];
    for (guint i = 0; i < 3; i++)
      w[k][3 + i] = g[i];
    for (guint i = 0; i < n; i++)
      w[k][BUNDLE_POSE + i] = l[i];
    for (guint i = d; i < BUNDLE_LANES * vectors; i++)
      w[k][i] = 0;
  }
  for (guint v = 0; v < vectors; v++) {
    const V8 a = load (w[0] + BUNDLE_LANES * v);
    const V8 b = load (w[1] + BUNDLE_LANES * v);
    const V8 c = load (w[2] + BUNDLE_LANES * v);

    y[0][v] = inverse[0] * a + inverse[1] * b + inverse[2] * c;
    y[1][v] = inverse[1] * a + inverse[3] * b + inverse[4] * c;
    y[2][v] = inverse[2] * a + inverse[4] * b + inverse[5] * c;
  }
}

/* Subtracts the products of @y and each of the @n columns of @w, three rows. */
INLINE void
subtract_columns (
    gdouble *to, V8 y[3][VECTORS], guint vectors, const gdouble *w, guint n)
{
  for (guint k = 0; k < n; k++)
    for (guint v = 0; v < vectors; v++, to += BUNDLE_LANES)
      *(V8 *) to =
          load (to)
          - (w[k] * y[0][v] + w[n + k] * y[1][v] + w[2 * n + k] * y[2][v]);
}

/* Subtracts @y times the slot's rows of W^T, @from. */
INLINE void
subtract_slot (
    gdouble *to, V8 y[3][VECTORS], guint vectors, const gdouble *from, guint d)
{
  const gdouble *q = from, *g = from + 3;
  const gsize lanes = vectors * BUNDLE_LANES;

  for (guint v = 0; v < vectors; v++) {
    gdouble *at = to + BUNDLE_LANES * v;
    V8 z[3], columns[BUNDLE_POSE];

    for (guint i = 0; i < 3; i++)
      z[i] = g[i] * y[0][v] + g[3 + i] * y[1][v] + g[6 + i] * y[2][v];
    columns[0] = q[1] * z[2] - q[2] * z[1];
    columns[1] = q[2] * z[0] - q[0] * z[2];
    columns[2] = q[0] * z[1] - q[1] * z[0];
    for (guint i = 0; i < 3; i++)
      columns[3 + i] = z[i];
    for (guint i = 0; i < BUNDLE_POSE; i++, at += lanes)
      *(V8 *) at = load (at) - columns[i];
  }
  subtract_columns (
      to + BUNDLE_POSE * lanes, y, vectors, from + 12, d - BUNDLE_POSE);
}

/* @d and @vectors are constant after inlining. */
INLINE void
subtract_slots_of (BundleBackend *b, guint camera, guint d, guint vectors)
{
  BundleCpuSchur *s = b->lenses->schur;
  const gsize own = bundle_schur_first_slot (b, camera);
  const guint32 *pair = s->pair + s->pair_first[camera];
  const gsize lanes = BUNDLE_LANES * vectors, w = bundle_schur_width (d);
  gdouble *row = s->c + camera * lanes * s->k;

  for (guint i = b->camera_first[camera]; i < b->camera_first[camera + 1]; i++)
    for (guint n = 0; n < b->segments[i].n_real; n++) {
      const gsize slot = b->segments[i].first + n;
      const gsize point = b->slot_point[slot];
      V8 y[3][VECTORS];

      multiply_inverse (
          b->inverse_v + 6 * point, b->forward + slot * w, d, vectors, y);
      for (guint32 k = b->point_first[point]; k < b->point_first[point + 1];
           k++)
        if (b->point_slot[k] >= own)
          subtract_slot (s->blocks + d * lanes * *pair++, y, vectors,
              b->forward + b->point_slot[k] * w, d);
      for (gsize e = s->entry_first[point]; e < s->entry_first[point + 1];
           e++) {
        const guint32 lens = s->entry_lens[e];

        subtract_columns (row + s->place[lens] * lanes, y, vectors,
            s->entry + e * s->lens_w, b->lenses->lens[lens].n);
      }
    }
}

static void
subtract_slots (BundleBackend *b, guint camera)
{
  const BundleCpuSchur *s = b->lenses->schur;

  switch (s->d) {
#define CASE(d)                                                                \
  case d:                                                                      \
    subtract_slots_of (b, camera, d, (d + BUNDLE_LANES - 1) / BUNDLE_LANES);   \
    break
    CASE (BUNDLE_POSE);
    CASE (BUNDLE_POSE + 1);
    CASE (BUNDLE_POSE + 2);
    CASE (BUNDLE_POSE + 3);
    CASE (BUNDLE_POSE + 6);
#undef CASE
    default:
      subtract_slots_of (b, camera, s->d, s->lanes / BUNDLE_LANES);
  }
}

INLINE void
add_row (gdouble *restrict to, const gdouble *restrict from, guint n)
{
  for (guint e = 0; e < n; e++)
    to[e] += from[e];
}

static void
add_entries (BundleBackend *b, gsize first, gsize end)
{
  const BundleCpuLenses *l = b->lenses;
  BundleCpuSchur *s = l->schur;
  const gsize width = 3 * s->pass;

  for (gsize p = first; p < end; p++) {
    const gsize from = s->entry_first[p], stop = s->entry_first[p + 1];

    if (s->pass_first == 0)
      memset (s->entry + from * s->lens_w, 0,
          (stop - from) * s->lens_w * sizeof *s->entry);
    for (guint32 k = b->point_first[p]; k < b->point_first[p + 1]; k++) {
      const gsize slot = b->point_slot[k], entry = s->entry_of[slot];
      const gdouble *w = b->forward + slot * width;
      guint n, columns;
      gdouble *sum;

      if (entry == BUNDLE_SCHUR_NONE)
        continue;
      sum = s->entry + entry * s->lens_w + s->pass_first;
      n = l->lens[s->entry_lens[entry]].n;
      columns = n > s->pass_first ? MIN (s->pass, n - s->pass_first) : 0;
      if (columns == n) /* the rows follow each other */
        add_row (sum, w, 3 * n);
      else
        for (guint r = 0; r < 3; r++)
          add_row (sum + n * r, w + columns * r, columns);
    }
  }
}

/* The columns of all lenses of a point, in the places of L, with zeros between them
 * @used: a bit for each vector that has columns */
typedef struct {
  gdouble row[3][BUNDLE_SCHUR_COLUMNS] __attribute__ ((aligned (64)));
  guint used;
} Spread;

/* @spread: of the point before, or zeros */
INLINE void
spread_columns (const BundleBackend *b, gsize point, Spread *spread)
{
  const BundleCpuSchur *s = b->lenses->schur;

  for (; spread->used != 0; spread->used &= spread->used - 1)
    for (guint k = 0; k < 3; k++)
      *(V8 *) (spread->row[k]
               + BUNDLE_LANES * (guint) __builtin_ctz (spread->used)) =
          (V8){ 0 };
  for (gsize e = s->entry_first[point]; e < s->entry_first[point + 1]; e++) {
    const guint n = b->lenses->lens[s->entry_lens[e]].n;
    const guint place = s->place[s->entry_lens[e]];

    for (guint k = 0; k < 3; k++)
      for (guint i = 0; i < n; i++)
        spread->row[k][place + i] = s->entry[e * s->lens_w + k * n + i];
    for (guint v = place / BUNDLE_LANES; v * BUNDLE_LANES < place + n; v++)
      spread->used |= 1u << v;
  }
}

/* Subtracts the products of column @i and those from its vector on. */
INLINE void
subtract_row (gdouble *to, const Spread *spread, guint i, const gdouble v[6])
{
  gdouble z[3];

  bundle_multiply_3 (
      v, spread->row[0][i], spread->row[1][i], spread->row[2][i], z);
  for (guint left = spread->used >> i / BUNDLE_LANES << i / BUNDLE_LANES;
       left != 0; left &= left - 1) {
    const guint at = BUNDLE_LANES * (guint) __builtin_ctz (left);

    *(V8 *) (to + at) =
        load (to + at)
        - (z[0] * load (spread->row[0] + at) + z[1] * load (spread->row[1] + at)
            + z[2] * load (spread->row[2] + at));
  }
}

static void
sum_points (BundleBackend *b, gsize first, gsize end, gdouble *to)
{
  const BundleCpuSchur *s = b->lenses->schur;
  Spread spread = { 0 };

  memset (to, 0, (gsize) s->k * s->k_lanes * sizeof *to);
  for (gsize p = first; p < end; p++) {
    spread_columns (b, p, &spread);
    for (gsize e = s->entry_first[p]; e < s->entry_first[p + 1]; e++) {
      const guint place = s->place[s->entry_lens[e]];

      for (guint i = place; i < place + b->lenses->lens[s->entry_lens[e]].n;
           i++)
        subtract_row (
            to + (gsize) i * s->k_lanes, &spread, i, b->inverse_v + 6 * p);
    }
  }
}

static void
multiply_row (const BundleBackend *b, guint camera, gdouble *out)
{
  const BundleCpuSchur *s = b->lenses->schur;
  const gdouble *row = s->c + (gsize) camera * s->lanes * s->k;
  const gsize size = s->d * s->lanes;

  for (guint lane = 0; lane < s->lanes; lane += BUNDLE_LANES) {
    V8 sum = { 0 };

    for (gsize i = s->row[camera]; i < s->row[camera + 1]; i++) {
      const gdouble *block = s->blocks + size * i + lane;
      const gdouble *x = s->x + s->d * (gsize) s->column[i];

      for (guint k = 0; k < s->d; k++)
        sum += load (block + s->lanes * k) * x[k];
    }
    for (guint k = 0; k < s->k; k++)
      sum += load (row + lane + s->lanes * k) * b->in[s->at[k]];
    *(V8 *) (out + lane) = sum;
  }
}

#define JOIN(a, b) a##b
#define SCHUR_TABLE(level) JOIN (bundle_schur_, level)

const BundleSchurKernels SCHUR_TABLE (BUNDLE_CPU_LEVEL) = {
  subtract_slots,
  add_entries,
  sum_points,
  multiply_row,
};
