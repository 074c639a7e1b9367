/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The tile kernels of the lifting transforms, run on the CPU, against the
 * reference implementation, to the bit: a level, and components, of random pictures
 * for all wavelets by name and random ones, all types, boundaries and layouts.
 *
 *   emulation-lifting [ROUNDS [WAVELET]] */
#include "emulate.h"

#define LWT_TILE_EMULATED
#include "cuda/lifting/cuda/window.cuh"
#include "cuda/lifting/cuda/tileplan.h"
#include "cuda/wavelet/wavelet.h"
extern "C" {
#include "lwtreference.h"
}

#include <stdio.h>

namespace {

/* The plan of the running kernel; a compile-time constant on the device. */
template <typename T> struct Emulated {
  static LwtTilePlan plan;
};
template <typename T> LwtTilePlan Emulated<T>::plan;

template <typename T> struct Launch {
  LwtTileParameters<T> parameters;
  T *shared;
};

/* Runs KERNEL, a function of tile.cuh or window.cuh. */
template <typename T, void (*KERNEL) (const LwtTileParameters<T> &, T *)>
void
run (void *data)
{
  Launch<T> *launch = (Launch<T> *) data;

  KERNEL (launch->parameters, launch->shared);
}

float
weight_of (const LwtStep *step, guint i, bool inverse, float)
{
  return inverse ? -(float) step->c[i] : (float) step->c[i];
}

double
weight_of (const LwtStep *step, guint i, bool inverse, double)
{
  return inverse ? -step->c[i] : step->c[i];
}

int
weight_of (const LwtStep *step, guint i, bool inverse, int)
{
  return step->num[i];
}

template <typename T>
void
set_weights (Launch<T> *launch, const LwtWavelet *wavelet, bool inverse)
{
  const double scale[2] = { wavelet->scale_low, wavelet->scale_high };
  guint n = 0;

  for (guint i = 0; i < wavelet->n_steps; i++) {
    const LwtStep *step =
        &wavelet->steps[inverse ? wavelet->n_steps - 1 - i : i];

    launch->parameters.task.shift[i] = (int) step->shift;
    for (guint k = 0; k < step->n; k++)
      launch->parameters.weights[n++] = weight_of (step, k, inverse, T (0));
  }
  for (gint i = 0; i < 2; i++)
    launch->parameters.weights[LWT_TILE_MAX_TAPS + i] =
        (T) 1 / 2 == 0 ? (T) 1 : (T) (inverse ? 1.0 / scale[i] : scale[i]);
}

struct Case {
  LwtWavelet wavelet;
  LwtType type;
  LwtBoundary boundary;
  LwtLayout layout;
  bool small, low, parts;
  gint width, height;
};

/* A picture of the case's samples with rows of a multiple of 16 bytes */
struct Picture {
  guint8 *data;
  gsize stride;
};

Picture
make_picture (gint width, gint height, gsize size)
{
  Picture picture = { NULL, (width * size + 15) / 16 * 16 };

  picture.data = (guint8 *) aligned_alloc (16, picture.stride * height);
  memset (picture.data, 0xa5, picture.stride * height);
  return picture;
}

/* Bands of one level in a picture, or only the low band */
void
place_bands (LwtTileTask *task, const Case *c, Picture picture, gsize size)
{
  const bool woven = c->layout == LWT_LAYOUT_INTERLEAVED && !c->low;

  for (gint y = 0; y < 2; y++)
    for (gint x = 0; x < 2; x++) {
      LwtTileBand *band = &task->bands[y][x];
      const gsize left = x ? (woven ? 1 : (c->width + 1) / 2) : 0;
      const gsize top = y ? (woven ? 1 : (c->height + 1) / 2) : 0;

      if (c->low && (x || y))
        continue;
      band->data = picture.data + top * picture.stride + left * size;
      band->pitch = picture.stride * (woven ? 2 : 1);
      band->step = woven ? 2 : 1;
    }
}

guint64 seed = 1;

guint
random_below (guint n)
{
  seed = seed * 6364136223846793005ull + 1442695040888963407ull;
  return (guint) ((seed >> 33) % n);
}

void
fill (Picture picture, gint width, gint height, LwtType type)
{
  for (gint y = 0; y < height; y++)
    for (gint x = 0; x < width; x++) {
      guint8 *row = picture.data + y * picture.stride;
      const double value = random_below (2000001) / 1e6 - 1.0;

      if (type == LWT_TYPE_F32)
        ((float *) row)[x] = (float) value;
      else if (type == LWT_TYPE_F64)
        ((double *) row)[x] = value;
      else
        ((gint32 *) row)[x] = (gint32) random_below (1u << 31) * 2;
    }
}

void
pack (guint8 *to, Picture from, gint width, gint height, gsize size)
{
  for (gint y = 0; y < height; y++)
    memcpy (to + y * width * size, from.data + y * from.stride, width * size);
}

bool
is_same (Picture got, const guint8 *expected, gint width, gint height,
    gsize size, const char *what)
{
  for (gint y = 0; y < height; y++)
    for (gint x = 0; x < width; x++)
      if (memcmp (got.data + y * got.stride + x * size,
              expected + (y * width + x) * size, size)) {
        printf ("  %s differs at %d, %d\n", what, x, y);
        return false;
      }
  for (gint y = 0; y < height; y++)
    for (gsize i = width * size; i < got.stride; i++)
      if (got.data[y * got.stride + i] != 0xa5) {
        printf ("  %s: written after row %d\n", what, y);
        return false;
      }
  return true;
}

/* Random samples, also in row order */
template <typename T>
Picture
make_random_picture (gint width, gint height, LwtType type, T **samples)
{
  Picture picture = make_picture (width, height, sizeof (T));

  fill (picture, width, height, type);
  *samples = g_new (T, (gsize) width * height);
  pack ((guint8 *) *samples, picture, width, height, sizeof (T));
  return picture;
}

/* Runs the kernel of a direction. Returns: FALSE if it does not support the
 * case */
template <typename T>
bool
run_tiles (const Case *c, bool inverse, Picture picture, Picture bands)
{
  const gint shift[2] = { c->wavelet.shift_low, c->wavelet.shift_high };
  Launch<T> *launch;
  LwtTileTask *task;
  gsize shared;

  if (!lwt_tile_plan_init (&Emulated<T>::plan,
          (LwtTileKernel) (2 * inverse + c->small), &c->wavelet, c->type,
          c->boundary))
    return false;
  launch = g_new0 (Launch<T>, 1);
  task = &launch->parameters.task;
  if (!lwt_tile_axis_init (
          &task->axis[0], &Emulated<T>::plan, 0, c->width, shift)
      || !lwt_tile_axis_init (
          &task->axis[1], &Emulated<T>::plan, 1, c->height, shift)) {
    g_free (launch);
    return false;
  }
  set_weights (launch, &c->wavelet, inverse);
  task->picture.data = picture.data;
  task->picture.pitch = picture.stride;
  task->picture.step = 1;
  place_bands (task, c, bands, sizeof (T));
  shared = lwt_tile_plan_get_shared (&Emulated<T>::plan, c->type);
  launch->shared = (T *) aligned_alloc (128, (shared + 127) / 128 * 128);
  emulation::launch (task->axis[0].tiles * task->axis[1].tiles,
      Emulated<T>::plan.threads, launch->shared, shared,
      inverse ? run<T, lwt_tile_inverse<T, Emulated<T>>> : run<T, lwt_tile_forward<T, Emulated<T>>>, launch);
  free (launch->shared);
  g_free (launch);
  return true;
}

/* --- two levels at once ----------------------------------------------------------- */

/* Cuts the case's picture into strips and segments of random height. */
bool
cut_window (const Case *c, LwtTileTask *task, const LwtTilePlan *plan)
{
  task->segment = 1 + (gint) random_below (20);
  task->axis[0].n = c->width;
  task->axis[1].n = c->height;
  task->axis[0].tiles =
      (c->width / 2 + plan->lines[0].run - 1) / plan->lines[0].run;
  task->axis[1].tiles = (c->height / 4 + task->segment - 1) / task->segment;
  return true;
}

/* 0: passed, 1: failed, 2: not a case of the kernel */
template <typename T>
int
check_two_levels (const Case *c, bool inverse)
{
  const gint width = c->low ? c->width / 4 : c->width;
  const gint height = c->low ? c->height / 4 : c->height;
  const LwtTilePlan *plan = &Emulated<T>::plan;
  Launch<T> *launch = g_new0 (Launch<T>, 1);
  LwtTileTask *task = &launch->parameters.task;
  Picture picture, bands;
  T *in, *expected = g_new (T, c->width * c->height);
  LwtChain chain;
  int result = 2;

  if (inverse) {
    picture = make_picture (c->width, c->height, sizeof (T));
    bands = make_random_picture (width, height, c->type, &in);
  } else {
    picture = make_random_picture (c->width, c->height, c->type, &in);
    bands = make_picture (width, height, sizeof (T));
  }
  lwt_chain_init (&chain);
  lwt_chain_append (&chain, c->width, c->height, 2, 2);
  if (lwt_tile_plan_init (&Emulated<T>::plan,
          (LwtTileKernel) (LWT_TILE_TWO_LEVELS + inverse), &c->wavelet, c->type,
          c->boundary)) {
    const gsize shared = lwt_tile_plan_get_shared (plan, c->type);

    set_weights (launch, &c->wavelet, inverse);
    task->picture = { picture.data, (guint) picture.stride, 1 };
    cut_window (c, task, plan);
    for (gint i = c->low ? 4 : 0; i < 4; i++)
      task->bands[i / 2][i % 2] = {
        bands.data + (i / 2 * (c->height / 2)) * bands.stride
            + i % 2 * (c->width / 2) * sizeof (T),
        (guint) bands.stride, 1
      };
    for (gint i = 0; i < (c->low ? 1 : 4); i++)
      task->second[i / 2][i % 2] = {
        bands.data + (i / 2 * (c->height / 4)) * bands.stride
            + i % 2 * (c->width / 4) * sizeof (T),
        (guint) bands.stride, 1
      };
    launch->shared = (T *) aligned_alloc (128, shared);
    emulation::launch ((task->axis[0].tiles * task->axis[1].tiles + 3) / 4,
        plan->threads, launch->shared, shared,
        inverse ? run<T, lwt_window_inverse<T, Emulated<T>>> : run<T, lwt_window_forward<T, Emulated<T>>>, launch);
    free (launch->shared);
    if (inverse && c->low)
      lwt_reference_expand (
          &c->wavelet, c->boundary, c->type, &chain, 0, 2, in, expected);
    else if (inverse)
      lwt_reference_inverse (&c->wavelet, c->boundary, c->type, &chain,
          LWT_LAYOUT_MALLAT, in, expected);
    else if (c->low)
      lwt_reference_reduce (
          &c->wavelet, c->boundary, c->type, &chain, 0, 2, in, expected);
    else
      lwt_reference_forward (&c->wavelet, c->boundary, c->type, &chain,
          LWT_LAYOUT_MALLAT, in, expected);
    result = inverse ? !is_same (picture, (guint8 *) expected, c->width,
                           c->height, sizeof (T), "two levels, inverse")
                     : !is_same (bands, (guint8 *) expected, width, height,
                           sizeof (T), "two levels");
  }
  g_free (launch);
  g_free (in);
  g_free (expected);
  free (picture.data);
  free (bands.data);
  return result;
}

/* --- components --------------------------------------------------------------------- */

/* Components of random samples: three low bands, as large as the picture or
 * to be expanded, and the results */
template <typename T> struct Parts {
  Picture x, low[3], parts[4];
  T *samples, *whole[3], *expected[4];
  guint32 *missing;
  gdouble polynomial[LWT_TERMS];
  LwtTileParts task;
};

/* @levels: between low bands and the picture; with two only the first may be as large
 * as the picture, and there is no noise. */
template <typename T>
void
make_parts (const Case *c, gint levels, Parts<T> *p)
{
  const gint n_zero = levels == 2 ? 1 : (gint) random_below (4);
  const gint wanted = levels == 2 ? 2 * (1 + random_below (7))
                                  : 1 + random_below (15);
  const gsize n = (gsize) c->width * c->height;
  LwtChain chain;

  lwt_chain_init (&chain);
  lwt_chain_append (&chain, c->width, c->height, levels, levels);
  p->x = make_random_picture (c->width, c->height, c->type, &p->samples);
  for (gint i = 0; i < 3; i++) {
    const bool zero = i < n_zero;
    T *low;

    p->low[i] = make_random_picture (
        zero ? c->width : (gint) chain.levels[levels - 1].low_width,
        zero ? c->height : (gint) chain.levels[levels - 1].low_height, c->type,
        &low);
    p->whole[i] = low;
    if (!zero) {
      p->whole[i] = g_new (T, n);
      lwt_reference_expand (
          &c->wavelet, c->boundary, c->type, &chain, 0, levels, low, p->whole[i]);
      g_free (low);
    }
    if ((wanted >> i & 3) == 0)
      continue;
    p->task.at_zero[i] = zero;
    p->task.low[i] = { p->low[i].data, (guint) p->low[i].stride, 1 };
  }
  for (gint axis = 0; axis < 2; axis++) {
    const gint side = axis ? c->height : c->width;

    p->task.pad[axis] = 2 * (gint) random_below (MIN (11, (guint) side / 4));
    p->task.size[axis] = side - p->task.pad[axis];
  }
  for (gint i = 0; i < 4; i++) {
    p->parts[i] = make_picture (p->task.size[0], p->task.size[1], sizeof (T));
    if (wanted >> i & 1)
      p->task.parts[i] = { p->parts[i].data, (guint) p->parts[i].stride, 1 };
  }
  p->missing = g_new0 (guint32, (gsize) (c->width + 31) / 32 * c->height);
  if (random_below (2)) {
    for (gsize i = 0; i < (gsize) (c->width + 31) / 32 * c->height; i++)
      p->missing[i] = random_below (1u << 31) & random_below (1u << 31);
    p->task.missing = p->missing;
  }
  if (random_below (2)) {
    for (gint i = 0; i < LWT_TERMS; i++)
      p->polynomial[i] = random_below (2000001) / 1e6 - 1.0;
    p->task.polynomial = p->polynomial;
  }
  p->task.plain = p->task.missing == NULL
                  && (p->task.pad[0] | p->task.size[0]) % 4 == 0;
}

template <typename T>
void
expect_parts (const Case *c, Parts<T> *p)
{
  const gint width = p->task.size[0], height = p->task.size[1];

  for (gint i = 0; i < 4; i++)
    p->expected[i] = g_new (T, (gsize) width * height);
  for (gint y = 0; y < height; y++)
    for (gint x = 0; x < width; x++) {
      const gsize at = (gsize) y * width + x;
      const gsize in =
          (gsize) (y + p->task.pad[1]) * c->width + x + p->task.pad[0];
      const bool missing =
          p->missing[(gsize) y * ((width + 31) / 32) + x / 32] >> x % 32 & 1;
      T form = p->whole[2][in];

      if (p->task.polynomial)
        form = (T) ((gdouble) form
                    + lwt_tail (p->polynomial, lwt_centred (x, width),
                        lwt_centred (y, height)));
      p->expected[0][at] = p->samples[in] - p->whole[0][in];
      p->expected[1][at] = p->whole[0][in] - p->whole[1][in];
      p->expected[2][at] = p->whole[1][in] - p->whole[2][in];
      p->expected[3][at] = form;
      for (gint i = 0; i < 4 && missing; i++)
        p->expected[i][at] = (T) NAN;
    }
}

/* 0: passed, 1: failed, 2: not supported by the kernel */
template <typename T>
int
check_parts (const Case *c, bool two)
{
  static const char *const names[] = { "noise", "roughness", "waviness",
    "form" };
  const gint shift[2] = { c->wavelet.shift_low, c->wavelet.shift_high };
  const LwtTilePlan *plan = &Emulated<T>::plan;
  Launch<T> *launch = g_new0 (Launch<T>, 1);
  LwtTileTask *task = &launch->parameters.task;
  Parts<T> p = {};
  int result = 2;

  if (lwt_tile_plan_init (&Emulated<T>::plan,
          two ? LWT_TILE_TWO_LEVELS_PARTS : LWT_TILE_PARTS, &c->wavelet, c->type,
          c->boundary)
      && (two
              ? cut_window (c, task, plan)
              : lwt_tile_axis_init (&task->axis[0], plan, 0, c->width, shift)
                    && lwt_tile_axis_init (
                        &task->axis[1], plan, 1, c->height, shift))) {
    const gsize shared = lwt_tile_plan_get_shared (plan, c->type);
    const gint tiles = task->axis[0].tiles * task->axis[1].tiles;

    make_parts (c, 1 + two, &p);
    expect_parts (c, &p);
    set_weights (launch, &c->wavelet, true);
    task->picture = { p.x.data, (guint) p.x.stride, 1 };
    task->parts = p.task;
    launch->shared = (T *) aligned_alloc (128, (shared + 127) / 128 * 128);
    void (*kernel) (void *) = run<T, lwt_tile_parts<T, Emulated<T>>>;

    if constexpr (sizeof (T) == 4)
      if (two)
        kernel = run<T, lwt_window_parts<T, Emulated<T>>>;
    emulation::launch (two ? (tiles + 3) / 4 : tiles, plan->threads,
        launch->shared, shared, kernel, launch);
    result = 0;
    for (gint i = 0; i < 4; i++)
      if (p.task.parts[i].data
          && !is_same (p.parts[i], (const guint8 *) p.expected[i],
              p.task.size[0], p.task.size[1], sizeof (T), names[i]))
        result = 1;
    for (gint i = 0; i < 4; i++) {
      free (p.parts[i].data);
      g_free (p.expected[i]);
    }
    for (gint i = 0; i < 3; i++) {
      free (p.low[i].data);
      g_free (p.whole[i]);
    }
    free (p.x.data);
    g_free (p.samples);
    g_free (p.missing);
    free (launch->shared);
  }
  g_free (launch);
  return result;
}

/* --- levels ------------------------------------------------------------------------- */

/* 0: passed, 1: failed, 2: not supported by the kernels */
template <typename T>
int
check (const Case *c)
{
  const gint low_width = (c->width + 1) / 2, low_height = (c->height + 1) / 2;
  const gint bands_width = c->low ? low_width : c->width;
  const gint bands_height = c->low ? low_height : c->height;
  Picture picture = make_picture (c->width, c->height, sizeof (T));
  Picture back = make_picture (c->width, c->height, sizeof (T));
  Picture bands = make_picture (bands_width, bands_height, sizeof (T));
  guint8 *in = g_new (guint8, c->width * c->height * sizeof (T));
  guint8 *out = g_new (guint8, c->width * c->height * sizeof (T));
  guint8 *low = g_new (guint8, c->width * c->height * sizeof (T));
  LwtChain chain;
  int result = 2;

  lwt_chain_init (&chain);
  lwt_chain_append (&chain, c->width, c->height, 1, 1);
  fill (picture, c->width, c->height, c->type);
  pack (in, picture, c->width, c->height, sizeof (T));
  if (run_tiles<T> (c, false, picture, bands)) {
    if (c->low)
      lwt_reference_reduce (
          &c->wavelet, c->boundary, c->type, &chain, 0, 1, in, out);
    else
      lwt_reference_forward (
          &c->wavelet, c->boundary, c->type, &chain, c->layout, in, out);
    result =
        !is_same (bands, out, bands_width, bands_height, sizeof (T), "bands");
  }
  fill (bands, bands_width, bands_height, c->type);
  pack (low, bands, bands_width, bands_height, sizeof (T));
  if (run_tiles<T> (c, true, back, bands)) {
    if (c->low)
      lwt_reference_expand (
          &c->wavelet, c->boundary, c->type, &chain, 0, 1, low, out);
    else
      lwt_reference_inverse (
          &c->wavelet, c->boundary, c->type, &chain, c->layout, low, out);
    result = (result == 1)
             | !is_same (back, out, c->width, c->height, sizeof (T), "picture");
  } else if (result == 0) {
    result = 2;
  }
  g_free (in);
  g_free (out);
  g_free (low);
  free (picture.data);
  free (back.data);
  free (bands.data);
  return result;
}

int
check_case (const Case *c, const char *name)
{
  static const char *const boundaries[] = { "symmetric", "periodic", "clamp",
    "zero" };
  const int result = c->parts                  ? c->type == LWT_TYPE_F32
                                                     ? check_parts<float> (c, false)
                                                     : check_parts<double> (c, false)
                                      : c->type == LWT_TYPE_F32 ? check<float> (c)
                     : c->type == LWT_TYPE_F64 ? check<double> (c)
                                               : check<int> (c);

  if (result == 1)
    printf ("not ok: %s, type %d, %dx%d, %s, layout %d%s%s\n", name,
        (int) c->type, c->width, c->height, boundaries[c->boundary],
        (int) c->layout, c->small ? ", small" : "", c->low ? ", low" : "");
  if (result == 1 && c->parts)
    printf ("  components\n");
  return result;
}

void
make_random (LwtWavelet *wavelet)
{
  memset (wavelet, 0, sizeof *wavelet);
  wavelet->n_steps = 1 + random_below (7);
  for (guint i = 0; i < wavelet->n_steps; i++) {
    LwtStep *step = &wavelet->steps[i];

    step->kind = random_below (2) ? LWT_STEP_PREDICT : LWT_STEP_UPDATE;
    step->first = (gint) random_below (13) - 6;
    step->n = 1 + random_below (5);
    step->shift = random_below (5);
    for (guint k = 0; k < step->n; k++) {
      step->c[k] = random_below (2000001) / 1e6 - 1.0;
      step->num[k] = (gint) random_below (41) - 20;
    }
  }
  wavelet->scale_low = 0.7;
  wavelet->scale_high = -1.3;
  wavelet->shift_low = (gint) random_below (9) - 4;
  wavelet->shift_high = -wavelet->shift_low;
}

} // namespace

int
main (int argc, char **argv)
{
  const char *const *names = lwt_wavelet_names ();
  const guint rounds = argc > 1 ? (guint) atoi (argv[1]) : 4;
  guint counts[3] = { 0, 0, 0 };

  for (guint round = 0; round < rounds; round++)
    for (guint i = 0; names[i] != NULL; i++) {
      LwtWavelet *wavelet = lwt_wavelet_new (names[i], NULL);
      Case c;
      int result;

      if (argc > 2 && strcmp (names[i], argv[2])) {
        lwt_wavelet_free (wavelet);
        continue;
      }
      c.wavelet = *wavelet;
      if (random_below (8) == 0)
        make_random (&c.wavelet);
      c.type = (LwtType) random_below (wavelet->reversible ? 3 : 2);
      c.boundary = (LwtBoundary) random_below (4);
      c.layout = (LwtLayout) random_below (2);
      c.small = random_below (3) != 0;
      c.low = random_below (3) == 0;
      c.width = 60 + (gint) random_below (c.small ? 200 : 400);
      c.height = 60 + (gint) random_below (c.small ? 200 : 400);
      if (c.boundary == LWT_BOUNDARY_PERIODIC) {
        c.width &= ~1;
        c.height &= ~1;
      }
      c.parts = false;
      result = check_case (&c, names[i]);
      counts[result]++;
      c.parts = c.type != LWT_TYPE_I32 && random_below (2);
      if (c.parts)
        counts[check_case (&c, names[i])]++;
      if (c.type != LWT_TYPE_F64) {
        c.width = 128 + 4 * (gint) random_below (50);
        c.height = 4 * (1 + (gint) random_below (30));
        for (int inverse = 0; inverse < 2; inverse++) {
          result = c.type == LWT_TYPE_F32
                       ? check_two_levels<float> (&c, inverse)
                       : check_two_levels<int> (&c, inverse);
          if (result == 1)
            printf ("not ok: %s, two levels, type %d, %dx%d, boundary %d%s\n",
                names[i], (int) c.type, c.width, c.height, (int) c.boundary,
                c.low ? ", low" : "");
          counts[result]++;
        }
        if (c.type == LWT_TYPE_F32) {
          result = check_parts<float> (&c, true);
          if (result == 1)
            printf ("not ok: %s, two levels, components, %dx%d, boundary %d\n",
                names[i], c.width, c.height, (int) c.boundary);
          counts[result]++;
        }
      }
      lwt_wavelet_free (wavelet);
    }
  printf ("%u passed, %u failed, %u not supported by these kernels\n",
      counts[0], counts[1], counts[2]);
  return counts[1] > 0;
}
