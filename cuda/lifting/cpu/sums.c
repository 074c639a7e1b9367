/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Conversion of samples, and sums over rows in FP64, for one instruction
 * set: loops over 32 lanes that the compiler vectorises. These sums are
 * never -0, so adding +0 does not change them: missing points are added as
 * 0. */
#include <string.h>

#include "cuda/lifting/cpu/cpu.h"

/* --- samples -------------------------------------------------------------------- */

#define READ(type)                                                             \
  for (guint x = 0; x < n; x++)                                                \
  to[x] = ((const type *) row)[x]

static void
read_doubles (gconstpointer row, guint n, LwtSample sample, gdouble *to)
{
  switch (sample) {
    case LWT_SAMPLE_F32:
      READ (gfloat);
      break;
    case LWT_SAMPLE_F64:
      READ (gdouble);
      break;
    case LWT_SAMPLE_I32:
      READ (gint32);
      break;
    case LWT_SAMPLE_U8:
      READ (guint8);
      break;
    case LWT_SAMPLE_U16:
      for (guint x = 0; x < n; x++)
        to[x] = GUINT16_FROM_LE (((const guint16 *) row)[x]);
      break;
  }
}

static void
read_integers (gconstpointer row, guint n, LwtSample sample, gint32 *to)
{
  if (sample == LWT_SAMPLE_I32)
    memcpy (to, row, n * sizeof *to);
  else if (sample == LWT_SAMPLE_U8)
    READ (guint8);
  else
    for (guint x = 0; x < n; x++)
      to[x] = GUINT16_FROM_LE (((const guint16 *) row)[x]);
}

static void
find_missing (const gdouble *z, guint n, guint32 *missing)
{
  for (guint i = 0; i < (n + 31) / 32; i++) {
    const guint count = MIN (n - 32 * i, 32);
    guint32 word = 0;

    for (guint j = 0; j < count; j++)
      word |= (guint32) (z[32 * i + j] - z[32 * i + j] != 0.0) << j;
    missing[i] = word;
  }
}

static guint
read_row (gconstpointer row, guint n, LwtSample sample, gdouble z_scale,
    gdouble z_offset, gdouble *z, guint32 *missing)
{
  guint count = 0;

  read_doubles (row, n, sample, z);
  find_missing (z, n, missing);
  for (guint x = 0; x < n; x++)
    z[x] = z[x] * z_scale + z_offset;
  for (guint i = 0; i < (n + 31) / 32; i++)
    for (guint32 word = missing[i]; word != 0; word &= word - 1) {
      z[32 * i + (guint) __builtin_ctz (word)] = 0.0;
      count++;
    }
  return count;
}

/* --- lanes ----------------------------------------------------------------------- */

/* 1 or 0 for each sample of a word of bits. */
static inline void
spread (guint32 missing, gdouble there[LWT_LANES])
{
  for (guint l = 0; l < LWT_LANES; l++)
    there[l] = missing >> l & 1 ? 0.0 : 1.0;
}

/* Bits of the 32 samples from @x on; those past the end are set. */
static inline guint32
get_missing (const guint32 *missing, guint x, guint n)
{
  const guint32 behind = n - x < 32 ? 0xffffffffu << (n - x) : 0;

  return missing[x / 32] | behind;
}

/* 32 samples from @x on, 0 past the end. */
static inline const gdouble *
get_lanes (const gdouble *z, guint x, guint n, gdouble rest[LWT_LANES])
{
  if (n - x >= LWT_LANES)
    return z + x;
  memset (rest, 0, LWT_LANES * sizeof *rest);
  memcpy (rest, z + x, (n - x) * sizeof *rest);
  return rest;
}

/* --- the F-operation ----------------------------------------------------------------- */

static void
moments_row (
    const gdouble *z, const guint32 *missing, guint n, LwtRowMoments *row)
{
  gdouble sums[8][LWT_LANES] = { { 0.0 } };

  for (guint x = 0; x < n; x += LWT_LANES) {
    gdouble there[LWT_LANES], rest[LWT_LANES];
    const gdouble *lanes = get_lanes (z, x, n, rest);

    spread (get_missing (missing, x, n), there);
    for (guint l = 0; l < LWT_LANES; l++) {
      const gdouble u = lwt_centred (x + l, n), u2 = u * u;

      sums[0][l] += there[l];
      sums[1][l] += there[l] * u;
      sums[2][l] += there[l] * u2;
      sums[3][l] += there[l] * (u2 * u);
      sums[4][l] += there[l] * (u2 * u2);
      sums[5][l] += lanes[l];
      sums[6][l] += lanes[l] * u;
      sums[7][l] += lanes[l] * u2;
    }
  }
  for (guint i = 0; i < 5; i++)
    row->m[i] = lwt_sum_lanes (sums[i]);
  for (guint i = 0; i < 3; i++)
    row->t[i] = lwt_sum_lanes (sums[5 + i]);
}

/* --- parameters ------------------------------------------------------------------------ */

/* Samples from @x on, in groups of 32, that are all there */
static guint
count_whole (const guint32 *missing, guint x, guint n)
{
  guint end = x;

  while (n - end >= LWT_LANES && missing[end / 32] == 0)
    end += LWT_LANES;
  return end - x;
}

static void
add_whole_heights (const gdouble *restrict z, guint n,
    gdouble sum[restrict LWT_LANES], gdouble min[restrict LWT_LANES],
    gdouble max[restrict LWT_LANES])
{
  for (const gdouble *end = z + n; z < end; z += LWT_LANES)
    for (guint l = 0; l < LWT_LANES; l++) {
      sum[l] += z[l];
      min[l] = min[l] < z[l] ? min[l] : z[l];
      max[l] = max[l] > z[l] ? max[l] : z[l];
    }
}

static void
add_heights (const gdouble *lanes, const gdouble *there, gdouble sum[LWT_LANES],
    gdouble min[LWT_LANES], gdouble max[LWT_LANES])
{
  for (guint l = 0; l < LWT_LANES; l++) {
    const gboolean is = there[l] != 0.0;

    sum[l] += is ? lanes[l] : 0.0;
    min[l] = is && !(min[l] < lanes[l]) ? lanes[l] : min[l];
    max[l] = is && !(max[l] > lanes[l]) ? lanes[l] : max[l];
  }
}

static void
heights_row (const gdouble *z, const guint32 *missing, guint n, LwtHeights *row)
{
  gdouble sum[LWT_LANES] = { 0.0 }, min[LWT_LANES], max[LWT_LANES];
  gdouble there[LWT_LANES], rest[LWT_LANES];

  for (guint l = 0; l < LWT_LANES; l++) {
    min[l] = INFINITY;
    max[l] = -INFINITY;
  }
  *row = (LwtHeights){ .min = INFINITY, .max = -INFINITY };
  for (guint x = 0, whole; x < n; x += MAX (whole, LWT_LANES)) {
    const guint32 bits = get_missing (missing, x, n);

    if ((whole = count_whole (missing, x, n)) > 0) {
      add_whole_heights (z + x, whole, sum, min, max);
      row->n += whole;
      continue;
    }
    row->n += 32 - (guint) __builtin_popcount (bits);
    spread (bits, there);
    add_heights (get_lanes (z, x, n, rest), there, sum, min, max);
  }
  for (guint l = 0; l < LWT_LANES; l++) {
    row->min = MIN (row->min, min[l]);
    row->max = MAX (row->max, max[l]);
  }
  row->sum = lwt_sum_lanes (sum);
}

static void
add_whole_shape (const gdouble *restrict z, guint n, gdouble mean,
    gdouble sums[restrict 4][LWT_LANES])
{
  for (const gdouble *end = z + n; z < end; z += LWT_LANES)
    for (guint l = 0; l < LWT_LANES; l++) {
      const gdouble h = z[l] - mean, h2 = h * h;

      sums[0][l] += fabs (h);
      sums[1][l] += h2;
      sums[2][l] += h2 * h;
      sums[3][l] += h2 * h2;
    }
}

static void
add_shape (const gdouble *lanes, const gdouble *there, gdouble mean,
    gdouble sums[4][LWT_LANES])
{
  for (guint l = 0; l < LWT_LANES; l++) {
    const gdouble h = there[l] != 0.0 ? lanes[l] - mean : 0.0, h2 = h * h;

    sums[0][l] += fabs (h);
    sums[1][l] += h2;
    sums[2][l] += h2 * h;
    sums[3][l] += h2 * h2;
  }
}

/* --- slopes ----------------------------------------------------------------------------- */

#define CELLS 256 /* at a time: their slopes stay in the L1 cache */

/* Half of squared slopes of the edges of cells: along x in the row and the one below,
 * along y */
typedef struct {
  gfloat along_x[2][CELLS], along_y[CELLS + 1];
} Slopes;

static void
square_slopes (const gdouble *from, const gdouble *to, guint n, gfloat by,
    gfloat *restrict half)
{
  for (guint i = 0; i < n; i++)
    half[i] = lwt_half_square (from[i], to[i], by);
}

/* @rows: samples of @n cells, and one more */
static void
find_slopes (const gdouble *const rows[2], guint n, gfloat by_x, gfloat by_y,
    Slopes *slopes)
{
  for (guint i = 0; i < 2; i++)
    square_slopes (rows[i], rows[i] + 1, n, by_x, slopes->along_x[i]);
  square_slopes (rows[0], rows[1], n + 1, by_y, slopes->along_y);
}

/* 32 cells from @x on */
static inline void
compute_cells (const Slopes *slopes, guint x, gfloat gradient[LWT_LANES],
    gfloat area[LWT_LANES])
{
  const gfloat *x0 = slopes->along_x[0] + x, *x1 = slopes->along_x[1] + x;
  const gfloat *y = slopes->along_y + x;

  for (guint l = 0; l < LWT_LANES; l++)
    area[l] = lwt_cell (x0[l], x1[l], y[l], y[l + 1], &gradient[l]);
}

static void
add_whole_cells (const Slopes *restrict slopes, guint n,
    gdouble gradients[restrict LWT_LANES], gdouble areas[restrict LWT_LANES])
{
  gfloat gradient[LWT_LANES], area[LWT_LANES];

  for (guint x = 0; x < n; x += LWT_LANES) {
    compute_cells (slopes, x, gradient, area);
    for (guint l = 0; l < LWT_LANES; l++) {
      gradients[l] += gradient[l];
      areas[l] += area[l];
    }
  }
}

static void
add_cells (const Slopes *slopes, const gdouble *there,
    gdouble gradients[LWT_LANES], gdouble areas[LWT_LANES])
{
  gfloat gradient[LWT_LANES], area[LWT_LANES];

  compute_cells (slopes, 0, gradient, area);
  for (guint l = 0; l < LWT_LANES; l++) {
    gradients[l] += there[l] != 0.0 ? gradient[l] : 0.0f;
    areas[l] += there[l] != 0.0 ? area[l] : 0.0f;
  }
}

/* Bits of the cells whose upper left corners are the 32 samples from @x on: set if a
 * corner is missing */
static guint32
get_missing_cells (const guint32 *const missing[2], guint x, guint n)
{
  guint32 bits = 0;

  for (guint i = 0; i < 2; i++) {
    const guint32 own = get_missing (missing[i], x, n);
    const guint32 next =
        x + 32 < n ? get_missing (missing[i], x + 32, n) : 0xffffffff;

    bits |= own | own >> 1 | next << 31;
  }
  return bits;
}

/* Cells from @x on, at most CELLS, in groups of 32, that have all corners */
static guint
count_whole_cells (const guint32 *const missing[2], guint x, guint n)
{
  guint end = x;

  while (end < n && end < x + CELLS && get_missing_cells (missing, end, n) == 0)
    end += LWT_LANES;
  return end - x;
}

static void
cells_row (const gdouble *const rows[2], const guint32 *const missing[2],
    guint n, gfloat by_x, gfloat by_y, LwtShape *row)
{
  gdouble gradients[LWT_LANES] = { 0.0 }, areas[LWT_LANES] = { 0.0 };
  gdouble there[LWT_LANES], rest[2][LWT_LANES + 1];
  Slopes slopes;

  for (guint x = 0, whole; x < n; x += MAX (whole, LWT_LANES)) {
    const gdouble *const corners[2] = { rows[0] + x, rows[1] + x };
    const gdouble *const copies[2] = { rest[0], rest[1] };
    guint32 bits;

    if ((whole = count_whole_cells (missing, x, n)) > 0) {
      find_slopes (corners, whole, by_x, by_y, &slopes);
      add_whole_cells (&slopes, whole, gradients, areas);
      row->cells += whole;
      continue;
    }
    bits = get_missing_cells (missing, x, n);
    row->cells += 32 - (guint) __builtin_popcount (bits);
    spread (bits, there);
    memset (rest, 0, sizeof rest);
    for (guint i = 0; i < 2; i++)
      memcpy (
          rest[i], rows[i] + x, MIN (n - x, LWT_LANES + 1) * sizeof (gdouble));
    find_slopes (copies, LWT_LANES, by_x, by_y, &slopes);
    add_cells (&slopes, there, gradients, areas);
  }
  row->gradient = lwt_sum_lanes (gradients);
  row->area = lwt_sum_lanes (areas);
}

static void
shape_row (const gdouble *const rows[2], const guint32 *const missing[2],
    guint n, gdouble dx, gdouble dy, gdouble mean, LwtShape *row)
{
  gdouble sums[4][LWT_LANES] = { { 0.0 } };
  gdouble there[LWT_LANES], rest[LWT_LANES];

  *row = (LwtShape){ 0 };
  for (guint x = 0, whole; x < n; x += MAX (whole, LWT_LANES)) {
    if ((whole = count_whole (missing[0], x, n)) > 0) {
      add_whole_shape (rows[0] + x, whole, mean, sums);
      continue;
    }
    spread (get_missing (missing[0], x, n), there);
    add_shape (get_lanes (rows[0], x, n, rest), there, mean, sums);
  }
  row->h1 = lwt_sum_lanes (sums[0]);
  row->h2 = lwt_sum_lanes (sums[1]);
  row->h3 = lwt_sum_lanes (sums[2]);
  row->h4 = lwt_sum_lanes (sums[3]);
  if (rows[1] != NULL)
    cells_row (rows, missing, n, (gfloat) (1.0 / dx), (gfloat) (1.0 / dy), row);
}

/* --- the table of an instruction set ----------------------------------------------------- */

static const LwtCpuSums sums = { read_row, read_integers, find_missing,
  moments_row, heights_row, shape_row };

#define NAME2(level) #level
#define NAME(level) NAME2 (level)
#define OF2(name, type, level) lwt_cpu_##name##_##type##_##level
#define OF(name, type, level) OF2 (name, type, level)

extern const LwtCpuLifter OF (lifter, f32, LWT_CPU_LEVEL);
extern const LwtCpuLifter OF (lifter, f64, LWT_CPU_LEVEL);
extern const LwtCpuLifter OF (lifter, i32, LWT_CPU_LEVEL);
extern const LwtCpuFloats OF (floats, f32, LWT_CPU_LEVEL);
extern const LwtCpuFloats OF (floats, f64, LWT_CPU_LEVEL);
extern const LwtCpuSmooths OF (smooths, f32, LWT_CPU_LEVEL);
extern const LwtCpuSmooths OF (smooths, f64, LWT_CPU_LEVEL);

#define LWT_CPU_TABLE EXPAND2_TABLE (LWT_CPU_LEVEL)
#define EXPAND2_TABLE(level) TABLE (level)
#define TABLE(level) lwt_cpu_##level

const LwtCpuKernels LWT_CPU_TABLE = {
  NAME (LWT_CPU_LEVEL),
  { &OF (lifter, f32, LWT_CPU_LEVEL), &OF (lifter, f64, LWT_CPU_LEVEL),
      &OF (lifter, i32, LWT_CPU_LEVEL) },
  { &OF (floats, f32, LWT_CPU_LEVEL), &OF (floats, f64, LWT_CPU_LEVEL) },
  { &OF (smooths, f32, LWT_CPU_LEVEL), &OF (smooths, f64, LWT_CPU_LEVEL) },
  &sums,
};
