/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Heights as grey, and grey with a mask as heights. */
#include "cuda/lifting/grey.h"

#include <math.h>
#include <string.h>

/* rounded, clamped, and converted back to within half a level */
static void
test_levels (void)
{
  static const struct {
    gdouble z;
    guint low, high; /* levels of 8 and 16 bits */
  } cases[] = {
    { 0.0, 128, 128 },
    { 1.0e-6, 130, 130 },
    { 1.2e-6, 130, 130 },
    { 1.3e-6, 131, 131 },
    { -63.9e-6, 0, 0 },
    { -1.0, 0, 0 },
    { 63.5e-6, 255, 255 },
    { 63.9e-6, 255, 256 },
    { 1.0, 255, 65535 },
    { INFINITY, 255, 65535 },
    { -INFINITY, 0, 0 },
    { NAN, 0, 0 },
  };
  LwtGrey grey = { .bits = 8, .zero = 0.0, .scale = 0.5e-6, .middle = 128.0 };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const gdouble f64 = cases[i].z;
    const gfloat f32 = (gfloat) f64;
    guint8 low[2], mask[2];
    guint16 high;

    grey.bits = 8;
    lwt_grey_from_heights (&grey, &f64, 8, LWT_TYPE_F64, 1, 1, low, 1, mask);
    lwt_grey_from_heights (
        &grey, &f32, 4, LWT_TYPE_F32, 1, 1, low + 1, 1, mask + 1);
    g_assert_cmpuint (low[0], ==, cases[i].low);
    g_assert_cmpuint (low[1], ==, cases[i].low);
    g_assert_cmpuint (mask[0], ==, isnan (f64) ? 0 : 255);
    g_assert_cmpuint (mask[1], ==, isnan (f64) ? 0 : 255);
    grey.bits = 16;
    lwt_grey_from_heights (&grey, &f64, 8, LWT_TYPE_F64, 1, 1, &high, 2, NULL);
    g_assert_cmpuint (high, ==, cases[i].high);
  }
}

/* a zero point and a negative scale */
static void
test_zero (void)
{
  const LwtGrey grey = { .bits = 16, .zero = 2.0, .scale = -0.25 };
  const gdouble z[] = { 2.0, 1.0, 3.0, -1e9 };
  guint16 to[4];

  g_assert_cmpuint (
      lwt_grey_from_heights (&grey, z, 32, LWT_TYPE_F64, 4, 1, to, 8, NULL), ==,
      2);
  g_assert_cmpuint (to[0], ==, 0);
  g_assert_cmpuint (to[1], ==, 4);
  g_assert_cmpuint (to[2], ==, 0);
  g_assert_cmpuint (to[3], ==, 65535);
}

/* all levels as integers; gaps between rows are preserved */
static void
test_integers (void)
{
  const LwtGrey grey = { .bits = 16, .scale = 1.0 };
  gint32 z[3][300];
  guint16 to[3][310];
  guint8 mask[3][290];

  memset (to, 0xee, sizeof (to));
  for (guint i = 0; i < 900; i++)
    z[i / 300][i % 300] = (gint32) i * 100 - 1000;
  lwt_grey_from_heights (&grey, z, sizeof (z[0]), LWT_TYPE_I32, 290, 3, to,
      sizeof (to[0]), mask[0]);
  for (guint y = 0; y < 3; y++)
    for (guint x = 0; x < 310; x++)
      g_assert_cmpint (
          to[y][x], ==, x < 290 ? CLAMP (z[y][x], 0, 65535) : 0xeeee);
  for (guint i = 0; i < sizeof (mask); i++)
    g_assert_cmpuint (mask[i / 290][i % 290], ==, 255);
}

static gdouble
get (LwtSample sample, gconstpointer data, guint i)
{
  switch (sample) {
    case LWT_SAMPLE_F32:
      return ((const gfloat *) data)[i];
    case LWT_SAMPLE_F64:
      return ((const gdouble *) data)[i];
    case LWT_SAMPLE_I32:
      return ((const gint32 *) data)[i];
    case LWT_SAMPLE_U8:
      return ((const guint8 *) data)[i];
    default:
      return ((const guint16 *) data)[i];
  }
}

/* every type, at odd addresses, unchanged and as floats with missing points */
static void
test_samples (void)
{
  static const LwtSample floats[] = { LWT_SAMPLE_F32, LWT_SAMPLE_F64,
    LWT_SAMPLE_F64, LWT_SAMPLE_F32, LWT_SAMPLE_F32 };
  enum { W = 37, H = 3, STRIDE = W * 8 + 5 };
  guint8 from[STRIDE * H + 1], mask[W * H];
  gdouble sound[W], to[W * H];

  for (LwtSample sample = 0; sample <= LWT_SAMPLE_U16; sample++) {
    const gsize size = lwt_sample_get_size (sample);

    g_assert_cmpint (lwt_sample_with_mask (sample), ==, floats[sample]);
    for (guint x = 0; x < W; x++) {
      const gfloat f32 = 1.5f * x;
      const gdouble f64 = 0.1 * x;
      const gint32 i32 = (gint32) x * 50000001;
      const guint16 u16 = (guint16) (x * 1771);
      const guint8 u8 = (guint8) (x * 7);
      const void *const values[] = { &f32, &f64, &i32, &u8, &u16 };

      memcpy ((guint8 *) sound + x * size, values[sample], size);
    }
    for (guint y = 0; y < H; y++)
      memcpy (from + 1 + y * STRIDE, sound, W * size);
    for (guint i = 0; i < W * H; i++)
      mask[i] = i % 5 == 2 ? 0 : (guint8) i | 1;

    lwt_samples_copy (from + 1, STRIDE, sample, W, H, FALSE, NULL, to);
    for (guint y = 0; y < H; y++)
      g_assert_cmpmem ((guint8 *) to + y * W * size, W * size, sound, W * size);
    for (guint masked = 0; masked < 2; masked++) {
      lwt_samples_copy (
          from + 1, STRIDE, sample, W, H, TRUE, masked ? mask : NULL, to);
      for (guint i = 0; i < W * H; i++) {
        const gdouble z = get (floats[sample], to, i);

        if (masked && i % 5 == 2)
          g_assert_true (isnan (z));
        else
          g_assert_cmpfloat (z, ==, get (sample, sound, i % W));
      }
    }
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/lwtgrey/levels", test_levels);
  g_test_add_func ("/lwtgrey/zero", test_zero);
  g_test_add_func ("/lwtgrey/integers", test_integers);
  g_test_add_func ("/lwtgrey/samples", test_samples);
  return g_test_run ();
}
