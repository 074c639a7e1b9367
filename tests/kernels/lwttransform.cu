/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Lifting transforms on the device against their plain C reference
 * implementation, to the bit. The structures of wavelets are those that
 * kernels are specialised for, and random ones; the weights are random, what
 * is computed does not depend on their making sense. */
#include "harness.h"
#include "cuda/lifting/arithmetic.h"
#include "cuda/lifting/cuda/transform.cuh"
#include "lwtreference.h"

#include <stdlib.h>
#include <string.h>

/* --- wavelets ------------------------------------------------------------- */

#define STRUCTURES 7

/* kind (P, U), first, n; repeated */
static const gchar *const structures[STRUCTURES] = {
  "P 0 1 U 0 1",
  "P 0 2 U -1 2",
  "P 0 2 U -1 2 P 0 2 U -1 2",
  "U -1 1 P 0 2 U 0 1",
  "U -1 1 P 0 2 U 0 2 P -2 2 U 2 1",
  "U -1 1 P 0 2 U -1 2 P 0 2 U 0 2 P -2 2 U 2 2 P -4 2 U 4 2 P -6 2 U 6 1",
  "P 0 1 U -1 2 P 0 2 U 0 1",
};

static gdouble
random_real (Harness *h, gdouble most)
{
  return most * (gdouble) harness_range (h, -1000000, 1000000) / 1e6;
}

static void
random_weights (Harness *h, LwtStep *step)
{
  step->shift = (guint) harness_range (h, 0, 5);
  for (guint i = 0; i < step->n; i++) {
    step->c[i] = random_real (h, 1.0);
    step->num[i] = (gint32) harness_range (h, -20, 20);
  }
}

/* Structure @index; higher indices give a random one, then one with a long
 * reach, then one with the maximum number of weights. */
static void
make_wavelet (Harness *h, guint index, LwtWavelet *wavelet)
{
  memset (wavelet, 0, sizeof *wavelet);
  if (index < STRUCTURES) {
    gchar **words = g_strsplit (structures[index], " ", -1);

    for (gchar **w = words; *w; w += 3) {
      LwtStep *step = &wavelet->steps[wavelet->n_steps++];

      step->kind = **w == 'P' ? LWT_STEP_PREDICT : LWT_STEP_UPDATE;
      step->first = atoi (w[1]);
      step->n = (guint) atoi (w[2]);
    }
    g_strfreev (words);
  } else {
    const gboolean far = index == STRUCTURES + 1;
    const gboolean many = index == STRUCTURES + 2;

    wavelet->n_steps = many ? LWT_MAX_STEPS : (guint) harness_range (h, 1, 6);
    for (guint i = 0; i < wavelet->n_steps; i++) {
      LwtStep *step = &wavelet->steps[i];

      step->kind = (LwtStepKind) harness_range (h, 0, 1);
      step->first = (gint) harness_range (h, far ? -300 : -5, far ? 300 : 5);
      step->n = many ? LWT_MAX_TAPS : (guint) harness_range (h, 1, 6);
    }
  }
  for (guint i = 0; i < wavelet->n_steps; i++)
    random_weights (h, &wavelet->steps[i]);
  if (index == STRUCTURES + 2)
    for (guint i = 0; i < wavelet->n_steps; i++)
      for (guint k = 0; k < LWT_MAX_TAPS; k++)
        wavelet->steps[i].c[k] /= LWT_MAX_TAPS;
  wavelet->scale_low = 0.5 + fabs (random_real (h, 1.0));
  wavelet->scale_high = -0.5 - fabs (random_real (h, 1.0));
  wavelet->shift_low =
      harness_range (h, 0, 1) ? (gint) harness_range (h, -7, 7) : 0;
  wavelet->shift_high = harness_range (h, 0, 1) ? -wavelet->shift_low : 0;
}

/* --- pictures ------------------------------------------------------------- */

typedef struct {
  LwtType type;
  guint width, height;
  gsize size; /* of a sample */
  gsize stride;
} Shape;

static Shape
make_shape (Harness *h, LwtType type, guint width, guint height)
{
  Shape shape = { type, width, height, lwt_type_get_size (type), 0 };

  shape.stride = (width * shape.size + 15) / 16 * 16
                 + 16 * (gsize) harness_range (h, 0, 2);
  return shape;
}

static gpointer
random_samples (Harness *h, const Shape *shape)
{
  const gsize n = (gsize) shape->width * shape->height;
  guint8 *result = (guint8 *) harness_host (h, n * shape->size);

  for (gsize i = 0; i < n; i++)
    switch (shape->type) {
      case LWT_TYPE_F32:
        ((gfloat *) result)[i] = (gfloat) random_real (h, 1.0);
        break;
      case LWT_TYPE_F64:
        ((gdouble *) result)[i] = random_real (h, 1.0);
        break;
      case LWT_TYPE_I32:
        ((gint32 *) result)[i] = (gint32) harness_random (h);
        break;
    }
  return result;
}

static gpointer
no_samples (Harness *h, const Shape *shape)
{
  return harness_host (h, shape->size * shape->width * shape->height);
}

static LwtPicture
upload (Harness *h, const Shape *shape, gconstpointer samples)
{
  guint8 *rows = (guint8 *) harness_host (h, shape->stride * shape->height);
  LwtPicture picture;

  for (guint y = 0; y < shape->height; y++)
    memcpy (rows + y * shape->stride,
        (const guint8 *) samples + y * shape->width * shape->size,
        shape->width * shape->size);
  picture.data = harness_upload (h, rows, shape->stride * shape->height);
  picture.stride = shape->stride;
  return picture;
}

static LwtPicture
make_picture (Harness *h, const Shape *shape)
{
  LwtPicture picture = { harness_device (h, shape->stride * shape->height),
    shape->stride };

  return picture;
}

/* Compares; the padding of the rows must be unchanged. */
static void
compare (Harness *h, const gchar *what, const Shape *shape,
    gconstpointer expected, LwtPicture got)
{
  static const HarnessType types[] = { HARNESS_F32, HARNESS_F64, HARNESS_I32 };
  const gsize bytes = shape->width * shape->size;
  const guint8 *rows = (const guint8 *) harness_download (
      h, got.data, shape->stride * shape->height);

  for (guint y = 0; y < shape->height; y++) {
    const guint8 *row = rows + y * shape->stride;
    gchar *label = g_strdup_printf ("%s row %u", what, y);

    harness_equal (h, label, types[shape->type],
        (const guint8 *) expected + y * bytes, row, shape->width);
    g_free (label);
    for (gsize i = bytes; i < shape->stride; i++)
      if (row[i] != rows[bytes] || row[i] != row[bytes]) {
        harness_fail (h, "%s row %u: written behind its end", what, y);
        break;
      }
  }
}

/* --- cases ---------------------------------------------------------------- */

typedef struct {
  LwtWavelet wavelet;
  LwtTransform transform;
  LwtChain chain;
  LwtBoundary boundary;
  LwtLayout layout;
  Shape shape;
  gpointer work;
} Case;

static void
prepare (Harness *h, Case *c, guint structure, LwtType type, guint width,
    guint height, guint levels_x, guint levels_y)
{
  static const gchar *const boundaries[] = { "symmetric", "periodic", "clamp",
    "zero" };

  make_wavelet (h, structure, &c->wavelet);
  c->boundary = (LwtBoundary) harness_range (h, 0, LWT_BOUNDARY_ZERO);
  c->layout = (LwtLayout) harness_range (h, 0, 1);
  harness_case (h, "structure %u, type %d, %ux%u, levels %u %u, %s, layout %d",
      structure, (int) type, width, height, levels_x, levels_y,
      boundaries[c->boundary], (int) c->layout);
  c->shape = make_shape (h, type, width, height);
  lwt_chain_init (&c->chain);
  lwt_chain_append (&c->chain, width, height, levels_x, levels_y);
  lwt_transform_init (&c->transform, &c->wavelet, type, c->boundary);
  c->work = harness_device (
      h, MAX (lwt_transform_get_work_size (&c->transform, &c->chain), 16));
}

static void
report (Harness *h, gboolean ok, GError **error)
{
  if (!ok)
    harness_fail (h, "%s", (*error)->message);
  g_clear_error (error);
}

/* Forward, compared with the reference implementation's bands; inverse of
 * those. */
static void
compare_bands (Harness *h, Case *c)
{
  const gpointer in = random_samples (h, &c->shape);
  const gpointer bands = no_samples (h, &c->shape);
  const gpointer back = no_samples (h, &c->shape);
  const LwtPicture d_in = upload (h, &c->shape, in);
  const LwtPicture d_bands = make_picture (h, &c->shape);
  const LwtPicture d_back = make_picture (h, &c->shape);
  const LwtType type = c->shape.type;
  GError *error = NULL;

  lwt_reference_forward (
      &c->wavelet, c->boundary, type, &c->chain, c->layout, in, bands);
  lwt_reference_inverse (
      &c->wavelet, c->boundary, type, &c->chain, c->layout, bands, back);
  report (h,
      lwt_transform_forward (&c->transform, &c->chain, c->layout, d_in, d_bands,
          c->work, harness_stream (h), &error),
      &error);
  compare (h, "bands", &c->shape, bands, d_bands);
  compare (h, "the picture itself", &c->shape, in, d_in);
  error = NULL;
  report (h,
      lwt_transform_inverse (&c->transform, &c->chain, c->layout, d_bands,
          d_back, c->work, harness_stream (h), &error),
      &error);
  compare (h, "back", &c->shape, back, d_back);
  compare (h, "the bands themselves", &c->shape, bands, d_bands);
}

/* Levels @first .. @first + @n - 1, down and up again. */
static void
compare_low (Harness *h, Case *c, guint first, guint n)
{
  const LwtLevel *from = &c->chain.levels[first];
  const LwtLevel *to = &c->chain.levels[first + n - 1];
  const Shape large = make_shape (h, c->shape.type, from->width, from->height);
  const Shape small =
      make_shape (h, c->shape.type, to->low_width, to->low_height);
  const gpointer in = random_samples (h, &large);
  const gpointer low = no_samples (h, &small), back = no_samples (h, &large);
  const LwtPicture d_in = upload (h, &large, in);
  const LwtPicture d_low = make_picture (h, &small);
  const LwtPicture d_back = make_picture (h, &large);
  GError *error = NULL;

  lwt_reference_reduce (
      &c->wavelet, c->boundary, c->shape.type, &c->chain, first, n, in, low);
  lwt_reference_expand (
      &c->wavelet, c->boundary, c->shape.type, &c->chain, first, n, low, back);
  report (h,
      lwt_transform_reduce (&c->transform, &c->chain, first, n, d_in, d_low,
          c->work, harness_stream (h), &error),
      &error);
  compare (h, "low", &small, low, d_low);
  error = NULL;
  report (h,
      lwt_transform_expand (&c->transform, &c->chain, first, n, d_low, d_back,
          c->work, harness_stream (h), &error),
      &error);
  compare (h, "expanded", &large, back, d_back);
}

/* --- bands and low bands -------------------------------------------------- */

static void
check_sizes (
    Harness *h, LwtType type, guint structures_to, guint rounds, guint max_side)
{
  Case *c = g_new (Case, 1);

  for (guint i = 0; i < rounds; i++) {
    const guint width = harness_size (h, max_side);
    const guint height = harness_size (h, max_side);
    const guint levels_x = (guint) harness_range (h, 0, 6);
    const guint levels_y =
        harness_range (h, 0, 2) ? levels_x : (guint) harness_range (h, 0, 6);

    if (levels_x + levels_y == 0)
      continue;
    prepare (h, c, i % structures_to, type, width, height, levels_x, levels_y);
    compare_bands (h, c);
    if (i % 2) {
      const guint first = (guint) harness_range (h, 0, c->chain.n - 1);

      compare_low (
          h, c, first, (guint) harness_range (h, 1, c->chain.n - first));
    }
  }
  g_free (c);
}

static void
check_float (Harness *h)
{
  check_sizes (h, LWT_TYPE_F32, STRUCTURES, 160, 400);
}

/* Sides that can be halved seven times, so that intermediate low bands have
 * to be in memory of their own. */
static void
check_float_deep (Harness *h)
{
  Case *c = g_new (Case, 1);

  for (guint i = 0; i < 30; i++) {
    const guint width = 128 * (1 + harness_size (h, 4));
    const guint height = 128 * (1 + harness_size (h, 4));
    const guint levels = (guint) harness_range (h, 1, 7);
    guint first;

    prepare (h, c, i % STRUCTURES, LWT_TYPE_F32, width, height, levels, levels);
    compare_bands (h, c);
    first = (guint) harness_range (h, 0, c->chain.n - 1);
    compare_low (h, c, first, (guint) harness_range (h, 1, c->chain.n - first));
  }
  g_free (c);
}

static void
check_float_wide (Harness *h)
{
  check_sizes (h, LWT_TYPE_F32, STRUCTURES, 16, 1500);
}

static void
check_float_any (Harness *h)
{
  check_sizes (h, LWT_TYPE_F32, STRUCTURES + 3, 66, 300);
}

static void
check_double (Harness *h)
{
  check_sizes (h, LWT_TYPE_F64, STRUCTURES + 3, 66, 300);
}

static void
check_integers (Harness *h)
{
  check_sizes (h, LWT_TYPE_I32, STRUCTURES + 3, 66, 300);
}

/* Levels down to one sample. */
static void
check_small (Harness *h)
{
  check_sizes (h, LWT_TYPE_F32, STRUCTURES + 3, 180, 64);
  check_sizes (h, LWT_TYPE_F64, STRUCTURES + 3, 60, 64);
  check_sizes (h, LWT_TYPE_I32, STRUCTURES + 3, 60, 64);
}

/* Periodic lines of odd length, in one segment and in several. */
static void
check_odd_periods (Harness *h)
{
  Case *c = g_new (Case, 1);

  for (guint i = 0; i < 90; i++) {
    const LwtType type = i % 3 == 0   ? LWT_TYPE_F32
                         : i % 3 == 1 ? LWT_TYPE_F64
                                      : LWT_TYPE_I32;

    prepare (h, c, i % (STRUCTURES + 2), type,
        2 * (guint) harness_range (h, 20, 300) + 1,
        2 * (guint) harness_range (h, 20, 300) + 1, 2, 2);
    c->boundary = LWT_BOUNDARY_PERIODIC;
    lwt_transform_init (&c->transform, &c->wavelet, type, c->boundary);
    compare_bands (h, c);
  }
  g_free (c);
}

/* All small sizes of all structures and boundaries. */
static void
check_tiny (Harness *h)
{
  Case *c = g_new (Case, 1);

  for (guint structure = 0; structure < STRUCTURES; structure++)
    for (guint width = 1; width < 12; width++)
      for (guint height = 1; height < 12; height += 1 + structure % 2) {
        prepare (h, c, structure, LWT_TYPE_F32, width, height, 2, 2);
        compare_bands (h, c);
        compare_low (h, c, 0, 2);
      }
  g_free (c);
}

/* --- components ---------------------------------------------------------- */

typedef struct {
  gfloat *x, *s[3], *parts[CVIS_SURFACE_N_PARTS];
  guint32 *missing;
  gdouble polynomial[LWT_TERMS];
  LwtPartsTask task;
} Parts;

static void
expected_parts (Harness *h, Case *c, Parts *p, const Shape *shape)
{
  const LwtPartsTask *task = &p->task;

  for (guint i = 0; i < 4; i++)
    p->parts[CVIS_SURFACE_PART_NOISE + i] = (gfloat *) no_samples (h, shape);
  for (guint y = 0; y < shape->height; y++)
    for (guint x = 0; x < shape->width; x++) {
      const gsize at = (gsize) y * shape->width + x;
      const gsize in =
          (gsize) (y + task->pad[1]) * c->shape.width + x + task->pad[0];
      const gfloat values[4] = { p->x[in] - p->s[0][in],
        p->s[0][in] - p->s[1][in], p->s[1][in] - p->s[2][in],
        (gfloat) ((gdouble) p->s[2][in]
                  + lwt_tail (p->polynomial, lwt_centred (x, shape->width),
                      lwt_centred (y, shape->height))) };
      const gboolean missing =
          p->missing
          && p->missing[(gsize) y * ((shape->width + 31) / 32) + x / 32]
                     >> (x & 31)
                 & 1;

      for (guint i = 0; i < 4; i++)
        p->parts[CVIS_SURFACE_PART_NOISE + i][at] = missing ? NAN : values[i];
    }
}

/* The low bands: of random samples, expanded by the reference
 * implementation, or as large as x. */
static void
make_lows (Harness *h, Case *c, Parts *p)
{
  const LwtLevel *levels = c->chain.levels;
  const guint n_zero = (guint) harness_range (h, 0, 3);
  guint depth[3];

  for (guint i = 0; i < 3; i++)
    depth[i] = i < n_zero ? 0 : MIN (2, c->chain.n);
  p->task.levels = lwt_transform_get_parts_levels (
      &c->transform, &c->chain, &p->task, depth);
  for (guint i = 0; i < 3; i++) {
    const gboolean zero = p->task.at_zero[i] = i < n_zero;
    const LwtLevel *last = &levels[p->task.levels - 1];
    const Shape low =
        make_shape (h, LWT_TYPE_F32, zero ? levels->width : last->low_width,
            zero ? levels->height : last->low_height);
    gpointer samples;

    samples = random_samples (h, &low);
    p->s[i] = (gfloat *) samples;
    p->task.low[i] = upload (h, &low, samples);
    if (zero)
      continue;
    p->s[i] = (gfloat *) no_samples (h, &c->shape);
    lwt_reference_expand (&c->wavelet, c->boundary, LWT_TYPE_F32, &c->chain, 0,
        p->task.levels, samples, p->s[i]);
  }
}

static void
compare_parts (Harness *h, Case *c)
{
  static const gchar *const names[] = { "noise", "roughness", "waviness",
    "form" };
  const guint wanted = (guint) harness_range (h, 1, 15);
  LwtPicture got[4];
  GError *error = NULL;
  Parts p = {};
  Shape shape;

  p.task.pad[0] =
      (guint) harness_range (h, 0, MIN (c->shape.width - 1, 20)) & ~1u;
  p.task.pad[1] =
      (guint) harness_range (h, 0, MIN (c->shape.height - 1, 20)) & ~1u;
  p.task.width = c->shape.width - p.task.pad[0] / 2 * 2;
  p.task.height = c->shape.height - p.task.pad[1] / 2 * 2;
  shape = make_shape (h, LWT_TYPE_F32, p.task.width, p.task.height);
  p.x = (gfloat *) random_samples (h, &c->shape);
  p.task.picture = upload (h, &c->shape, p.x);
  for (guint i = 0; i < 4; i++)
    if (wanted & (1u << i))
      got[i] = p.task.parts[CVIS_SURFACE_PART_NOISE + i] =
          make_picture (h, &shape);
  make_lows (h, c, &p);
  if (harness_range (h, 0, 1)) {
    const gsize bytes = (gsize) (shape.width + 31) / 32 * 4 * shape.height;

    p.missing = (guint32 *) harness_host (h, bytes);
    harness_fill (h, p.missing, bytes);
    p.task.missing = (const guint32 *) harness_upload (h, p.missing, bytes);
  }
  if (harness_range (h, 0, 1)) {
    for (guint i = 0; i < LWT_TERMS; i++)
      p.polynomial[i] = random_real (h, 1.0);
    p.task.polynomial =
        (const gdouble *) harness_upload (h, p.polynomial, sizeof p.polynomial);
  }
  expected_parts (h, c, &p, &shape);
  report (h,
      lwt_transform_parts (&c->transform, &c->chain, &p.task, c->work,
          harness_stream (h), &error),
      &error);
  for (guint i = 0; i < 4; i++)
    if (wanted & (1u << i))
      compare (
          h, names[i], &shape, p.parts[CVIS_SURFACE_PART_NOISE + i], got[i]);
}

static void
check_parts (Harness *h)
{
  Case *c = g_new (Case, 1);

  for (guint i = 0; i < 120; i++) {
    const guint width = harness_size (h, 400), height = harness_size (h, 400);

    prepare (h, c, i % (STRUCTURES + 1), LWT_TYPE_F32, width, height,
        i % 10 == 9 ? 0 : 2, 2);
    compare_parts (h, c);
  }
  g_free (c);
}

/* --- kernels compiled at run time ----------------------------------------- */

/* A picture with some levels, forward and inverse, and only the low bands */
static void
compare_tiles (Harness *h, Case *c, guint width, guint height)
{
  static const gchar *const boundaries[] = { "symmetric", "periodic", "clamp",
    "zero" };
  const guint levels = (guint) harness_range (h, 1, 4);
  guint first;

  c->layout = (LwtLayout) harness_range (h, 0, 1);
  harness_case (h, "%s, type %d, %ux%u, levels %u, %s, layout %d",
      c->wavelet.name, (int) c->shape.type, width, height, levels,
      boundaries[c->boundary], (int) c->layout);
  c->shape = make_shape (h, c->shape.type, width, height);
  lwt_chain_init (&c->chain);
  lwt_chain_append (&c->chain, width, height, levels, levels);
  c->work = harness_device (
      h, MAX (lwt_transform_get_work_size (&c->transform, &c->chain), 16));
  compare_bands (h, c);
  first = (guint) harness_range (h, 0, c->chain.n - 1);
  compare_low (h, c, first, (guint) harness_range (h, 1, c->chain.n - first));
  if (c->shape.type == LWT_TYPE_F32)
    compare_parts (h, c);
}

/* Groups of the named wavelets, and how many of a group get other types and
 * boundaries in a run */
#define NAME_GROUPS 8
#define OTHERS 2

/* Test "tiles-names-G" uses the named wavelets G, G + NAME_GROUPS, ..:
 * float, symmetric; then some of them with a random type and boundary. */
static void
check_names (Harness *h)
{
  const gchar *const *names = lwt_wavelet_names ();
  const guint group = (guint) atoi (harness_test (h) + strlen ("tiles-names-"));
  const guint all = g_strv_length ((gchar **) names);
  const guint in_group = (all - group + NAME_GROUPS - 1) / NAME_GROUPS;
  const guint n = in_group + OTHERS;
  Case *cases = g_new0 (Case, n);

  /* they are compiled in the meantime */
  for (guint i = 0; i < n; i++) {
    const gboolean plain = i < in_group;
    const guint k =
        plain ? i : (guint) harness_range (h, 0, (gint64) in_group - 1);
    LwtWavelet *wavelet =
        lwt_wavelet_new (names[group + NAME_GROUPS * k], NULL);
    Case *c = &cases[i];

    c->wavelet = *wavelet;
    c->shape.type = plain ? LWT_TYPE_F32
                    : wavelet->reversible
                        ? (LwtType) harness_range (h, 0, LWT_TYPE_I32)
                        : (LwtType) harness_range (h, 0, LWT_TYPE_F64);
    c->boundary = plain ? LWT_BOUNDARY_SYMMETRIC
                        : (LwtBoundary) harness_range (h, 0, LWT_BOUNDARY_ZERO);
    lwt_wavelet_free (wavelet);
    lwt_transform_init (&c->transform, &c->wavelet, c->shape.type, c->boundary);
    lwt_transform_specialise (&c->transform, harness_context (h));
  }
  for (guint i = 0; i < n; i++) {
    Case *c = &cases[i];
    GError *error = NULL;

    harness_case (h, "%s", c->wavelet.name);
    report (h, lwt_transform_wait (&c->transform, &error), &error);
    for (guint k = 0; k < 4; k++)
      compare_tiles (h, c, (guint) harness_range (h, 66, k < 3 ? 500 : 1500),
          (guint) harness_range (h, 66, k < 3 ? 500 : 1200));
    compare_tiles (h, c, 2 * (guint) harness_range (h, 33, 300),
        2 * (guint) harness_range (h, 33, 300));
    /* sides that two levels at once ask for */
    for (guint k = 0; k < 3; k++)
      compare_tiles (h, c, 4 * (guint) harness_range (h, 32, 200),
          4 * (guint) harness_range (h, 32, 200));
    lwt_transform_clear (&c->transform);
  }
  g_free (cases);
}

/* Sides where two levels at once begin to be possible, and stop being so; precompiled
 * wavelets */
static void
check_two_levels (Harness *h)
{
  static const gchar *const names[] = { "haar", "5/3", "9/7", "db2" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    LwtWavelet *wavelet = lwt_wavelet_new (names[i], NULL);
    Case *c = g_new0 (Case, 1);

    c->wavelet = *wavelet;
    c->shape.type = LWT_TYPE_F32;
    c->boundary = LWT_BOUNDARY_SYMMETRIC;
    lwt_wavelet_free (wavelet);
    lwt_transform_init (&c->transform, &c->wavelet, c->shape.type, c->boundary);
    lwt_transform_specialise (&c->transform, harness_context (h));
    for (guint k = 0; k < 6; k++)
      compare_tiles (h, c, 124 + (guint) harness_range (h, 0, 8),
          124 + (guint) harness_range (h, 0, 8));
    for (guint k = 0; k < 3; k++)
      compare_tiles (h, c, 4 * (guint) harness_range (h, 32, 160),
          4 * (guint) harness_range (h, 32, 300));
    lwt_transform_clear (&c->transform);
    g_free (c);
  }
}

/* Random wavelets */
static void
check_tiles_random (Harness *h)
{
  Case *cases = g_new0 (Case, 16);

  for (guint i = 0; i < 16; i++) {
    Case *c = &cases[i];

    prepare (h, c, i % 2 ? STRUCTURES : i / 2 % STRUCTURES, (LwtType) (i % 3),
        66, 66, 1, 1);
    g_strlcpy (c->wavelet.name, "random", sizeof c->wavelet.name);
    lwt_transform_specialise (&c->transform, harness_context (h));
  }
  for (guint i = 0; i < 16; i++) {
    Case *c = &cases[i];
    GError *error = NULL;

    harness_case (h, "random %u", i);
    report (h, lwt_transform_wait (&c->transform, &error), &error);
    for (guint k = 0; k < 4; k++)
      compare_tiles (h, c, (guint) harness_range (h, 66, 400),
          (guint) harness_range (h, 66, 400));
    lwt_transform_clear (&c->transform);
  }
  g_free (cases);
}

int
main (int argc, char **argv)
{
  static const HarnessTest tests[] = {
    { "tiny", check_tiny, NULL },
    { "small", check_small, NULL },
    { "float", check_float, NULL },
    { "float-deep", check_float_deep, NULL },
    { "float-wide", check_float_wide, NULL },
    { "float-any-wavelet", check_float_any, NULL },
    { "odd-periods", check_odd_periods, NULL },
    { "double", check_double, NULL },
    { "integers", check_integers, NULL },
    { "parts", check_parts, NULL },
    { "two-levels", check_two_levels, NULL },
    { "tiles-random", check_tiles_random, NULL },
    { "tiles-names-0", check_names, NULL },
    { "tiles-names-1", check_names, NULL },
    { "tiles-names-2", check_names, NULL },
    { "tiles-names-3", check_names, NULL },
    { "tiles-names-4", check_names, NULL },
    { "tiles-names-5", check_names, NULL },
    { "tiles-names-6", check_names, NULL },
    { "tiles-names-7", check_names, NULL },
    { NULL, NULL, NULL },
  };

  return harness_main (argc, argv, tests);
}
