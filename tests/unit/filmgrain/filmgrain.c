/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Grain of known strength and correlation is found again: the parameters, put through a
 * decoder's integer arithmetic (AV1 specification, 7.18.3), give grain of the strength at
 * each level within 6 % and of the correlation within 0.04. Texture that a denoiser
 * removed, frames without grain, tiny frames, and the text of a table. */
#include "cuda/filmgrain/filmgrain.h"

#include <math.h>
#include <string.h>

#define WIDTH 640
#define HEIGHT 416
#define FRAMES 6
#define EDGE 8

/* Gaussian numbers by the central limit, of deviation 1 */
static gdouble
draw (GRand *rand)
{
  gdouble sum = -6;

  for (guint i = 0; i < 12; i++)
    sum += g_rand_double (rand);
  return sum;
}

/* Noise of deviation about 1 that depends on the samples to the left (@left) and above
 * (@up), and on @luma (nullable, twice as wide and high) by @share */
static gdouble *
make_grain (GRand *rand, guint width, guint height, gdouble left, gdouble up,
    const gdouble *luma, gdouble share)
{
  gdouble *grain = g_new0 (gdouble, (gsize) width * height);
  const gdouble scale = sqrt ((1 - left * left) * (1 - up * up));

  for (guint y = 0; y < height; y++)
    for (guint x = 0; x < width; x++) {
      gdouble *at = grain + (gsize) y * width + x;

      *at = scale * draw (rand);
      if (x > 0)
        *at += left * at[-1];
      if (y > 0)
        *at += up * at[-(gssize) width];
      if (x > 0 && y > 0)
        *at -= left * up * at[-(gssize) width - 1];
    }
  for (guint y = 0; luma != NULL && y < height; y++)
    for (guint x = 0; x < width; x++) {
      const gdouble *from = luma + (gsize) 2 * y * 2 * width + 2 * x;

      grain[(gsize) y * width + x] +=
          share * (from[0] + from[1] + from[2 * width] + from[2 * width + 1])
          / 4;
    }
  return grain;
}

/* --- frames -------------------------------------------------------------------- */

typedef struct {
  guint depth, shift, planes;
  gdouble base,
      slope;        /* strength of the luma in levels: base + slope * level */
  gdouble left, up; /* of the luma's grain */
  gdouble chroma;   /* strength */
  gdouble share;    /* of the luma in the chroma */
  gboolean texture; /* in a third of the picture, which is removed too */
  gdouble darker;   /* levels that the denoiser takes away */
} Clip;

typedef struct {
  guint8 *bytes[2][3];
  FilmGrainPlane planes[2][3];
} Pair;

static void
put_sample (const Clip *clip, Pair *pair, guint which, guint plane, guint i,
    gdouble level)
{
  const gint most = (1 << clip->depth) - 1;
  const gint value =
      CLAMP ((gint) lrint (level * (1 << (clip->depth - 8))), 0, most);

  if (clip->depth == 8)
    pair->bytes[which][plane][i] = (guint8) value;
  else
    ((guint16 *) (gpointer) pair->bytes[which][plane])[i] =
        (guint16) (value << clip->shift);
}

static gdouble
luma_at (const Clip *clip, guint x, guint y)
{
  const gdouble ramp = 24 + 208.0 * y / HEIGHT;

  if (clip->texture && x > WIDTH * 2 / 3)
    return ramp + 20 * (((x / 3) ^ (y / 3)) & 1) - 10;
  return ramp;
}

static Pair *
make_pair (const Clip *clip, GRand *rand)
{
  Pair *pair = g_new0 (Pair, 1);
  gdouble *luma =
      make_grain (rand, WIDTH, HEIGHT, clip->left, clip->up, NULL, 0);

  for (guint p = 0; p < clip->planes; p++) {
    const guint sub = p > 0, width = WIDTH >> sub, height = HEIGHT >> sub;
    const guint bytes = clip->depth > 8 ? 2 : 1;
    gdouble *grain =
        p == 0 ? luma
               : make_grain (rand, width, height, 0, 0, luma, clip->share);

    for (guint i = 0; i < 2; i++) {
      pair->bytes[i][p] = g_malloc ((gsize) width * height * bytes);
      pair->planes[i][p] = (FilmGrainPlane){ pair->bytes[i][p],
        (gint) (width * bytes), (gint) bytes };
    }
    for (guint y = 0; y < height; y++)
      for (guint x = 0; x < width; x++) {
        const guint i = y * width + x;
        const gdouble level = luma_at (clip, x << sub, y << sub);
        const gdouble clean = p > 0 ? 128 : level;
        const gdouble strength =
            p > 0 ? clip->chroma : clip->base + clip->slope * level;
        gdouble lost = 0;

        if (p == 0 && clip->texture && x > WIDTH * 2 / 3)
          lost = 6 * ((x + y) & 1);
        put_sample (clip, pair, 0, p, i, clean + lost + strength * grain[i]);
        put_sample (clip, pair, 1, p, i, clean - clip->darker);
      }
    if (p > 0)
      g_free (grain);
  }
  g_free (luma);
  return pair;
}

static void
free_pair (Pair *pair)
{
  for (guint i = 0; i < 2; i++)
    for (guint p = 0; p < 3; p++)
      g_free (pair->bytes[i][p]);
  g_free (pair);
}

static void
find_parameters (const Clip *clip, FilmGrainParameters *parameters)
{
  const FilmGrainFormat format = { WIDTH, HEIGHT, clip->depth, clip->shift,
    clip->planes, 1, 1 };
  FilmGrain *grain = film_grain_new (&format);
  GRand *rand = g_rand_new_with_seed (7);

  for (guint i = 0; i < FRAMES; i++) {
    Pair *pair = make_pair (clip, rand);

    film_grain_add (grain, pair->planes[0], pair->planes[1]);
    free_pair (pair);
  }
  film_grain_take (grain, parameters);
  film_grain_free (grain);
  g_rand_free (rand);
}

/* --- a decoder ------------------------------------------------------------------- */

static gint
round2 (gint value, guint shift)
{
  return shift == 0 ? value : (value + (1 << (shift - 1))) >> shift;
}

/* The grain of 8-bit video: white noise of 12 bits, filtered */
static gint *
decode_grain (const FilmGrainParameters *p, guint component, const gint *luma,
    GRand *rand)
{
  const FilmGrainComponent *c = &p->components[component];
  const guint width = WIDTH >> (component > 0);
  const guint height = HEIGHT >> (component > 0);
  gint *grain = g_new (gint, width * height);

  for (guint i = 0; i < width * height; i++)
    grain[i] =
        round2 ((gint) lrint (512 * draw (rand)), 12 - 8 + p->grain_shift);
  for (guint y = 3; y < height; y++)
    for (guint x = 3; x + 3 < width; x++) {
      gint *at = grain + y * width + x;
      gint sum = 0;
      guint i = 0;

      for (gint dy = -3; dy <= 0; dy++)
        for (gint dx = -3; dx <= 3 && (dy < 0 || dx < 0); dx++)
          sum += c->ar[i++] * at[dy * (gint) width + dx];
      if (luma != NULL) {
        const gint *from = luma + 2 * y * WIDTH + 2 * x;

        sum += c->ar[i]
               * round2 (from[0] + from[1] + from[WIDTH] + from[WIDTH + 1], 2);
      }
      *at = CLAMP (*at + round2 (sum, p->ar_shift), -128, 127);
    }
  return grain;
}

static gdouble
correlate_grain (
    const gint *grain, guint width, guint height, guint dx, guint dy)
{
  gdouble sum = 0, n = 0;

  for (guint y = EDGE; y + dy + EDGE < height; y++)
    for (guint x = EDGE; x + dx + EDGE < width; x++) {
      sum += (gdouble) grain[y * width + x] * grain[(y + dy) * width + x + dx];
      n++;
    }
  return sum / n;
}

static gdouble
scaling_at (const FilmGrainComponent *c, guint level)
{
  guint i = 1;

  g_assert_cmpuint (c->points, >, 0);
  if (level <= c->level[0])
    return c->scaling[0];
  while (i < c->points && c->level[i] < level)
    i++;
  if (i == c->points)
    return c->scaling[i - 1];
  return c->scaling[i - 1]
         + (gdouble) (c->scaling[i] - c->scaling[i - 1])
               * (level - c->level[i - 1]) / (c->level[i] - c->level[i - 1]);
}

static void
assert_near (gdouble found, gdouble wanted, gdouble tolerance)
{
  if (fabs (found - wanted) > tolerance)
    g_error ("%g is not %g within %g", found, wanted, tolerance);
}

/* --- tests ----------------------------------------------------------------------- */

static const Clip clips[] = {
  { 8, 0, 3, 4, 0, 0, 0, 2, 0, FALSE },
  { 8, 0, 3, 2, 0.02, 0.4, 0.3, 3, 0.5, FALSE, 2 },
  { 8, 0, 3, 6, -0.015, 0.7, 0.6, 2.5, 0, FALSE },
  { 10, 0, 3, 1, 0.005, 0.5, 0.5, 1, 0.3, FALSE },
  { 10, 6, 3, 3, 0, -0.3, 0.4, 1.5, 0, FALSE },
  { 8, 0, 1, 3, 0.01, 0.4, 0.4, 0, 0, TRUE },
};

static void
test_clip (gconstpointer data)
{
  const Clip *clip = data;
  FilmGrainParameters p;
  GRand *rand = g_rand_new_with_seed (11);
  gint *luma, *chroma;
  gdouble variance;

  find_parameters (clip, &p);
  luma = decode_grain (&p, 0, NULL, rand);
  variance = correlate_grain (luma, WIDTH, HEIGHT, 0, 0);
  for (guint level = 40; level <= 216; level += 16) {
    const gdouble wanted = clip->base + clip->slope * level;
    const gdouble found = scaling_at (&p.components[0], level) * sqrt (variance)
                          / (1u << p.scaling_shift);

    assert_near (found / wanted, 1, 0.06);
    assert_near (film_grain_get_strength (&p, 0, level, 1, 1) / found, 1, 0.03);
  }
  for (guint dy = 0; dy <= 2; dy++)
    for (guint dx = 0; dx <= 2; dx++)
      assert_near (correlate_grain (luma, WIDTH, HEIGHT, dx, dy) / variance,
          pow (clip->left, dx) * pow (clip->up, dy), 0.04);
  for (guint i = 1; i < clip->planes; i++) {
    chroma = decode_grain (&p, i, luma, rand);
    variance = correlate_grain (chroma, WIDTH / 2, HEIGHT / 2, 0, 0);
    /* the mean of four samples of the luma has this variance */
    assert_near (scaling_at (&p.components[i], 128) * sqrt (variance)
                     / (1u << p.scaling_shift) / clip->chroma,
        sqrt (1
              + clip->share * clip->share * (1 + clip->left) * (1 + clip->up)
                    / 4),
        0.06);
    g_free (chroma);
  }
  g_free (luma);
  g_rand_free (rand);
}

static void
test_no_grain (void)
{
  const Clip clip = { 8, 0, 3, 0, 0, 0, 0, 0, 0, FALSE };
  FilmGrainParameters p;

  find_parameters (&clip, &p);
  for (guint i = 0; i < 3; i++) {
    g_assert_cmpuint (p.components[i].points, ==, 0);
    g_assert_cmpfloat (film_grain_get_strength (&p, i, 128, 1, 1), ==, 0);
  }
}

/* Luma that stays as it was, with grain in the chroma alone, and the reverse */
static void
test_one_component (void)
{
  const Clip chroma = { 8, 0, 3, 0, 0, 0, 0, 3, 0, FALSE };
  const Clip luma = { 8, 0, 3, 3, 0, 0, 0, 0, 0, FALSE };
  FilmGrainParameters p;

  find_parameters (&chroma, &p);
  g_assert_cmpuint (p.components[0].points, ==, 0);
  assert_near (film_grain_get_strength (&p, 1, 128, 1, 1), 3, 0.2);
  find_parameters (&luma, &p);
  assert_near (film_grain_get_strength (&p, 0, 128, 1, 1), 3, 0.2);
  g_assert_cmpuint (p.components[1].points, ==, 0);
}

/* Frames without a whole block have no grain that is known. */
static void
test_tiny (void)
{
  static const guint sizes[][2] = { { 1, 1 }, { 31, 200 }, { 200, 31 } };
  guint8 bytes[31 * 200];
  const FilmGrainPlane plane = { bytes, 200, 1 },
                       planes[3] = { plane, plane, plane };

  memset (bytes, 100, sizeof bytes);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    const FilmGrainFormat format = { MIN (sizes[i][0], 31),
      MIN (sizes[i][1], 31), 8, 0, 3, 1, 1 };
    FilmGrain *grain = film_grain_new (&format);
    FilmGrainParameters p;

    film_grain_add (grain, planes, planes);
    film_grain_take (grain, &p);
    g_assert_cmpuint (p.components[0].points, ==, 0);
    film_grain_free (grain);
  }
}

static void
test_table (void)
{
  FilmGrainParameters p = { 7, 1, 10,
    { { 2, { 20, 200 }, { 40, 60 }, { 0 } } } };
  GString *table = g_string_new (FILM_GRAIN_TABLE_HEADER);

  for (gint i = 0; i < FILM_GRAIN_NEIGHBOURS; i++)
    p.components[0].ar[i] = (gint8) (i - 12);
  p.components[1].ar[FILM_GRAIN_NEIGHBOURS] = 5;
  film_grain_append_entry (table, &p, 0, 400000);
  film_grain_append_entry (table, &p, 400000, G_MAXINT64);
#define BODY                                                                   \
  "\tp 3 7 1 10 0 1 128 192 256 128 192 256\n"                                 \
  "\tsY 2  20 40 200 60\n"                                                     \
  "\tsCb 0 \n"                                                                 \
  "\tsCr 0 \n"                                                                 \
  "\tcY -12 -11 -10 -9 -8 -7 -6 -5 -4 -3 -2 -1 0 1 2 3 4 5 6 7 8 9 10 11\n"    \
  "\tcCb 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 5\n"                  \
  "\tcCr 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
  g_assert_cmpstr (table->str, ==,
      "filmgrn1\n"
      "E 0 400000 1 7391 1\n" BODY
      "E 400000 9223372036854775807 1 7391 1\n" BODY);
  g_string_free (table, TRUE);
}

gint
main (gint argc, gchar **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (clips); i++) {
    gchar *path = g_strdup_printf ("/filmgrain/clip-%u", i);

    g_test_add_data_func (path, &clips[i], test_clip);
    g_free (path);
  }
  g_test_add_func ("/filmgrain/no-grain", test_no_grain);
  g_test_add_func ("/filmgrain/one-component", test_one_component);
  g_test_add_func ("/filmgrain/tiny", test_tiny);
  g_test_add_func ("/filmgrain/table", test_table);
  return g_test_run ();
}
