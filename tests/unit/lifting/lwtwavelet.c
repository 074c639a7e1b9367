/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Wavelets as lifting steps: all names, properties of their steps,
 * reconstruction, and refused descriptions with their messages.
 * tests/oracle/wavelets.py compares coefficients with PyWavelets. */
#include <math.h>
#include <string.h>

#include "lwtreference.h"
#include "cuda/wavelet/wavelet.h"

#define MAX_SIDE 40
#define LONG_SIDE 333

static LwtWavelet *
get (const gchar *description)
{
  GError *error = NULL;
  LwtWavelet *wavelet = lwt_wavelet_new (description, &error);

  g_assert_no_error (error);
  g_assert_nonnull (wavelet);
  return wavelet;
}

static void
assert_refused (const gchar *description, const gchar *words)
{
  GError *error = NULL;

  g_assert_null (lwt_wavelet_new (description, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
  if (!strstr (error->message, words))
    g_error ("\"%s\" is refused by \"%s\", which does not say \"%s\"",
        description, error->message, words);
  g_error_free (error);
}

/* All named wavelets, cached */
static LwtWavelet **all;

static guint
count_names (void)
{
  guint n = 0;

  while (lwt_wavelet_names ()[n])
    n++;
  return n;
}

static void
load_all (void)
{
  all = g_new0 (LwtWavelet *, count_names () + 1);
  for (guint i = 0; i < count_names (); i++)
    all[i] = get (lwt_wavelet_names ()[i]);
}

static void
free_all (void)
{
  for (guint i = 0; all[i]; i++)
    lwt_wavelet_free (all[i]);
  g_free (all);
}

/* --- transforms of a line ------------------------------------------------------------ */

static void
forward (const LwtWavelet *wavelet, LwtBoundary boundary, LwtType type, guint n,
    guint levels, gconstpointer line, gpointer bands)
{
  LwtChain chain;

  lwt_chain_init (&chain);
  lwt_chain_append (&chain, n, 1, levels, 0);
  lwt_reference_forward (
      wavelet, boundary, type, &chain, LWT_LAYOUT_MALLAT, line, bands);
}

static void
inverse (const LwtWavelet *wavelet, LwtBoundary boundary, LwtType type, guint n,
    guint levels, gconstpointer bands, gpointer line)
{
  LwtChain chain;

  lwt_chain_init (&chain);
  lwt_chain_append (&chain, n, 1, levels, 0);
  lwt_reference_inverse (
      wavelet, boundary, type, &chain, LWT_LAYOUT_MALLAT, bands, line);
}

/* --- named wavelets ------------------------------------------------------ */

static void
assert_steps (const LwtWavelet *w)
{
  g_assert_cmpuint (w->n_steps, >=, 2);
  g_assert_cmpuint (w->n_steps, <=, 21);
  for (guint i = 0; i < w->n_steps; i++) {
    const LwtStep *step = w->steps + i;

    g_assert_cmpuint (step->n, >=, 1);
    g_assert_cmpuint (step->n, <=, 9);
    g_assert_cmpint (step->first, >=, -14);
    g_assert_cmpint (step->first, <=, 14);
    if (i > 0)
      g_assert_cmpint (step->kind, !=, w->steps[i - 1].kind);
    for (guint j = 0; j < step->n; j++)
      g_assert_cmpfloat (fabs (step->c[j]), <=, 8.0);
  }
}

static void
test_names (void)
{
  g_assert_cmpuint (count_names (), ==, 80);
  for (guint i = 0; all[i]; i++) {
    const LwtWavelet *w = all[i];

    g_assert_cmpstr (w->name, ==, lwt_wavelet_names ()[i]);
    assert_steps (w);
    g_assert_cmpfloat (w->noise_gain, >=, 1.0);
    g_assert_cmpfloat (w->noise_gain, <=, 5.4);
    g_assert_cmpfloat (w->residual, <=, 1e-15);
    /* a delay of one band is an advance of the other */
    g_assert_cmpint (w->shift_low, ==, -w->shift_high);
    g_assert_cmpint (ABS (w->shift_low), <=, 7);
    g_assert_cmpfloat_with_epsilon (
        fabs (w->scale_low * w->scale_high), 1.0, 1e-14);
  }
}

/* FNV-1a, of 64 bits */
static void
add_to_hash (guint64 *hash, gconstpointer bytes, gsize n)
{
  for (gsize i = 0; i < n; i++) {
    *hash ^= ((const guint8 *) bytes)[i];
    *hash *= G_GUINT64_CONSTANT (0x100000001b3);
  }
}

/* Kernels are compiled for these steps, and results are promised to the bit. */
static void
test_same_everywhere (void)
{
  guint64 hash = G_GUINT64_CONSTANT (0xcbf29ce484222325);

  for (guint i = 0; all[i]; i++) {
    for (guint s = 0; s < all[i]->n_steps; s++) {
      const LwtStep *step = all[i]->steps + s;
      const gint32 head[] = { step->kind, step->first, (gint32) step->n };

      add_to_hash (&hash, head, sizeof (head));
      add_to_hash (&hash, step->c, step->n * sizeof (step->c[0]));
    }
    add_to_hash (&hash, &all[i]->scale_low, sizeof (gdouble));
    add_to_hash (&hash, &all[i]->scale_high, sizeof (gdouble));
  }
  if (G_BYTE_ORDER == G_LITTLE_ENDIAN)
    g_assert_cmphex (hash, ==, G_GUINT64_CONSTANT (0x76b491ee1899649e));
}

/* A second factorisation gives the same steps */
static void
test_same_again (void)
{
  LwtWavelet *first = get ("db20"), *second = get ("db20");

  g_assert_cmpmem (first, sizeof (*first), second, sizeof (*second));
  lwt_wavelet_free (first);
  lwt_wavelet_free (second);
}

static void
test_lengths (void)
{
  static const struct {
    const gchar *name;
    guint length;
  } known[] = { { "haar", 2 }, { "5/3", 5 }, { "9/7", 9 }, { "cdf7/5", 7 },
    { "dd9/7", 9 }, { "dd13/7", 13 }, { "db4", 8 }, { "db20", 40 },
    { "sym13", 26 }, { "coif5", 30 }, { "bior1.3", 6 }, { "bior5.5", 11 },
    { "rbio6.8", 17 } };

  for (guint i = 0; i < G_N_ELEMENTS (known); i++) {
    LwtWavelet *w = get (known[i].name);

    g_assert_cmpuint (w->length, ==, known[i].length);
    lwt_wavelet_free (w);
  }
}

static void
test_aliases (void)
{
  static const gchar *const same[][2] = { { "haar", "db1" },
    { "haar", "bior1.1" }, { "haar", "rbio1.1" }, { "db2", "sym2" },
    { "db3", "sym3" }, { "5/3", "bior2.2" }, { "9/7", "bior4.4" } };

  for (guint i = 0; i < G_N_ELEMENTS (same); i++) {
    LwtWavelet *a = get (same[i][0]), *b = get (same[i][1]);

    g_assert_cmpstr (b->name, ==, same[i][1]);
    memset (a->name, 0, sizeof (a->name));
    memset (b->name, 0, sizeof (b->name));
    g_assert_cmpmem (a, sizeof (*a), b, sizeof (*b));
    lwt_wavelet_free (a);
    lwt_wavelet_free (b);
  }
}

/* Integers: dyadic weights as in the literature */
static void
test_reversible (void)
{
  static const gchar *const names[] = { "haar", "5/3", "cdf7/5", "dd9/7",
    "dd13/7" };
  LwtWavelet *w = get ("dd13/7");

  g_assert_cmpint (w->steps[0].num[0], ==, 1);
  g_assert_cmpint (w->steps[0].num[1], ==, -9);
  g_assert_cmpuint (w->steps[0].shift, ==, 4);
  g_assert_cmpint (w->steps[1].num[0], ==, -1);
  g_assert_cmpint (w->steps[1].num[1], ==, 9);
  g_assert_cmpuint (w->steps[1].shift, ==, 5);
  lwt_wavelet_free (w);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    w = get (names[i]);
    g_assert_true (w->reversible);
    for (guint s = 0; s < w->n_steps; s++)
      for (guint j = 0; j < w->steps[s].n; j++)
        g_assert_cmpfloat (
            ldexp (w->steps[s].num[j], -(gint) w->steps[s].shift), ==,
            w->steps[s].c[j]);
    lwt_wavelet_free (w);
  }
  w = get ("9/7");
  g_assert_false (w->reversible);
  g_assert_cmpint (w->steps[0].num[0], ==, 0);
  lwt_wavelet_free (w);
}

/* --- errors in the paper ------------------------------------------------- */

/* The details of a constant 1 are 0, and its low band is sqrt (2). */
static void
assert_constant (const LwtWavelet *wavelet, gdouble tolerance)
{
  gdouble line[16], bands[16];

  for (guint i = 0; i < 16; i++)
    line[i] = 1.0;
  forward (wavelet, LWT_BOUNDARY_PERIODIC, LWT_TYPE_F64, 16, 1, line, bands);
  for (guint i = 0; i < 8; i++) {
    g_assert_cmpfloat_with_epsilon (bands[i], G_SQRT2, tolerance);
    g_assert_cmpfloat_with_epsilon (bands[8 + i], 0.0, tolerance);
  }
}

static gdouble
detail_of_constant (const gchar *steps)
{
  LwtWavelet *wavelet = get (steps);
  gdouble line[16], bands[16];

  for (guint i = 0; i < 16; i++)
    line[i] = 1.0;
  forward (wavelet, LWT_BOUNDARY_PERIODIC, LWT_TYPE_F64, 16, 1, line, bands);
  lwt_wavelet_free (wavelet);
  return bands[8];
}

static void
test_constants (void)
{
  for (guint i = 0; all[i]; i++)
    assert_constant (all[i], 1e-13);
}

/* 1: alpha is negative: with the printed sign a constant has large details. */
static void
test_alpha (void)
{
  LwtWavelet *w = get ("9/7");

  g_assert_cmpfloat (w->steps[0].c[0], ==, -1.5861343420599236);
  g_assert_cmpfloat (
      fabs (detail_of_constant ("steps: P@0 1.586134342 1.586134342;"
                                "U@-1 -0.052980118 -0.052980118;"
                                "P@0 0.882911075 0.882911075;"
                                "U@-1 0.443506852 0.443506852")),
      >, 1.0);
  lwt_wavelet_free (w);
}

/* 2: gamma: the printed digits leak 2e-4 of the mean into the details. */
static void
test_gamma (void)
{
  LwtWavelet *w = get ("9/7");
  const gdouble leak = detail_of_constant (
      "steps: P@0 -1.586134342059924 -1.586134342059924;"
      "U@-1 -0.052980118572961 -0.052980118572961;"
      "P@0 0.8828110755 0.8828110755; U@-1 0.443506852043971 "
      "0.443506852043971");

  g_assert_cmpfloat_with_epsilon (w->steps[2].c[0], 0.882911075530934, 1e-15);
  g_assert_cmpfloat (fabs (leak), >, 1e-4);
  lwt_wavelet_free (w);
}

/* 3: K: one scale for all wavelets, that of filters whose low pass sums to
 * sqrt (2). */
static void
test_scale (void)
{
  LwtWavelet *haar = get ("haar"), *cdf97 = get ("9/7");

  g_assert_cmpfloat (haar->scale_low, ==, G_SQRT2);
  g_assert_cmpfloat_with_epsilon (haar->scale_high, -1.0 / G_SQRT2, 1e-15);
  g_assert_cmpfloat (cdf97->scale_low, ==, 1.1496043988602412);
  g_assert_cmpfloat_with_epsilon (
      cdf97->scale_high, -1.0 / 1.1496043988602412, 1e-15);
  lwt_wavelet_free (haar);
  lwt_wavelet_free (cdf97);
}

/* --- reconstruction -------------------------------------------------------------------- */

static gdouble
noise (guint i)
{
  guint32 z = (i + 1) * 2654435761u;

  z ^= z >> 15;
  z *= 2246822519u;
  z ^= z >> 13;
  return z / 2147483648.0 - 1.0;
}

static void
assert_reconstructs (const LwtWavelet *wavelet, LwtBoundary boundary, guint n,
    guint levels, gdouble tolerance, gdouble tolerance32)
{
  gdouble line[LONG_SIDE], bands[LONG_SIDE], back[LONG_SIDE];
  gfloat line32[LONG_SIDE], bands32[LONG_SIDE], back32[LONG_SIDE];

  for (guint i = 0; i < n; i++)
    line[i] = line32[i] = (gfloat) noise (i);
  forward (wavelet, boundary, LWT_TYPE_F64, n, levels, line, bands);
  inverse (wavelet, boundary, LWT_TYPE_F64, n, levels, bands, back);
  forward (wavelet, boundary, LWT_TYPE_F32, n, levels, line32, bands32);
  inverse (wavelet, boundary, LWT_TYPE_F32, n, levels, bands32, back32);
  for (guint i = 0; i < n; i++) {
    const gdouble off = fabs (back[i] - line[i]);
    const gdouble off32 = fabs ((gdouble) back32[i] - line[i]);

    if (!(off <= tolerance) || !(off32 <= tolerance32))
      g_error ("%s, boundary %d, %u samples: %u is off by %g, %g",
          wavelet->name, boundary, n, i, off, off32);
  }
}

static void
test_reconstruction (void)
{
  for (guint i = 0; all[i]; i++)
    for (guint b = LWT_BOUNDARY_SYMMETRIC; b <= LWT_BOUNDARY_ZERO; b++)
      for (guint n = 1; n <= MAX_SIDE; n++)
        assert_reconstructs (all[i], b, n, 1, 1e-12, 1e-5);
}

static void
run (LwtConfig *config, gdouble *from, guint from_width, CvisSurfacePart part,
    gdouble *to, guint to_width)
{
  LwtJob job = { .data = from, .stride = from_width * sizeof (gdouble) };
  GError *error = NULL;
  LwtEngine *engine;
  LwtJob *done;

  config->parts = 1u << part;
  job.parts[part] =
      (LwtPlane){ .data = to, .stride = to_width * sizeof (gdouble) };
  engine = lwt_engine_new_on (&lwt_backend_reference, config, NULL, &error);
  g_assert_no_error (error);
  lwt_engine_submit (engine, &job, &error);
  g_assert_no_error (error);
  lwt_engine_wait (engine, &done, &error);
  g_assert_no_error (error);
  lwt_engine_free (engine);
}

static void
assert_padded_reconstructs (
    const LwtWavelet *wavelet, LwtBoundary boundary, guint n)
{
  gdouble line[MAX_SIDE], back[MAX_SIDE], *bands;
  LwtConfig config;
  guint width, height;

  lwt_config_init (&config);
  config.width = n;
  config.height = 1;
  config.wavelet = wavelet;
  config.boundary = boundary;
  config.type = LWT_TYPE_F64;
  config.sample = LWT_SAMPLE_F64;
  for (guint i = 0; i < 2; i++) {
    config.levels[i] = i == 0 ? 2 : 0;
    config.levels_roughness[i] = config.levels_noise[i] = 0;
  }
  lwt_config_get_bands_size (&config, &width, &height);
  bands = g_new (gdouble, width * height);
  for (guint i = 0; i < n; i++)
    line[i] = noise (i);
  config.operation = LWT_OPERATION_FORWARD;
  run (&config, line, n, CVIS_SURFACE_PART_BANDS, bands, width);
  config.operation = LWT_OPERATION_INVERSE;
  run (&config, bands, width, CVIS_SURFACE_PART_MEASURED, back, n);
  for (guint i = 0; i < n; i++)
    if (!(fabs (back[i] - line[i]) <= 1e-10))
      g_error ("%s, boundary %d, %u samples: %u is off by %g", wavelet->name,
          boundary, n, i, fabs (back[i] - line[i]));
  g_free (bands);
}

static void
test_padded_reconstruction (void)
{
  for (guint i = 0; all[i]; i++)
    for (guint b = LWT_BOUNDARY_PAD_SYMMETRIC; b <= LWT_BOUNDARY_PAD_SMOOTH;
         b++)
      for (guint n = 1; n <= MAX_SIDE; n += 3)
        assert_padded_reconstructs (all[i], b, n);
}

/* Integers are reconstructed exactly. */
static void
test_integers (void)
{
  guint reversible = 0;

  for (guint i = 0; all[i]; i++) {
    reversible += all[i]->reversible;
    for (guint b = LWT_BOUNDARY_SYMMETRIC;
         all[i]->reversible && b <= LWT_BOUNDARY_ZERO; b++)
      for (guint n = 1; n <= MAX_SIDE; n++) {
        gint32 line[MAX_SIDE], bands[MAX_SIDE], back[MAX_SIDE];

        for (guint k = 0; k < n; k++)
          line[k] = (gint32) (noise (k) * 1e6);
        forward (all[i], b, LWT_TYPE_I32, n, 3, line, bands);
        inverse (all[i], b, LWT_TYPE_I32, n, 3, bands, back);
        g_assert_cmpmem (line, 4 * n, back, 4 * n);
      }
  }
  g_assert_cmpuint (reversible, ==, 20);
}

/* The edges cost at most four digits over six levels */
static void
test_edges (void)
{
  for (guint i = 0; all[i]; i++)
    for (guint b = LWT_BOUNDARY_SYMMETRIC; b <= LWT_BOUNDARY_ZERO; b++)
      for (guint n = LONG_SIDE - 13; n <= LONG_SIDE; n++)
        assert_reconstructs (all[i], b, n, 6, 1e-11, 1e-3);
}

/* --- steps as text ------------------------------------------------------- */

static void
test_steps (void)
{
  LwtWavelet *w = get (" steps: P@0 -0.5 -1/2; U@-1 0.25,+25e-2;K 1.5 -0.5;\n");

  g_assert_cmpstr (
      w->name, ==, "steps: P@0 -0.5 -1/2; U@-1 0.25,+25e-2;K 1.5 -0.5;");
  g_assert_cmpuint (w->n_steps, ==, 2);
  g_assert_cmpint (w->steps[0].kind, ==, LWT_STEP_PREDICT);
  g_assert_cmpint (w->steps[1].kind, ==, LWT_STEP_UPDATE);
  g_assert_cmpint (w->steps[0].first, ==, 0);
  g_assert_cmpint (w->steps[1].first, ==, -1);
  g_assert_cmpuint (w->steps[1].n, ==, 2);
  g_assert_cmpfloat (w->steps[0].c[1], ==, -0.5);
  g_assert_cmpfloat (w->steps[1].c[1], ==, 0.25);
  g_assert_cmpfloat (w->scale_low, ==, 1.5);
  g_assert_cmpfloat (w->scale_high, ==, -0.5);
  g_assert_cmpint (w->shift_low, ==, 0);
  g_assert_true (w->reversible);
  g_assert_cmpint (w->steps[1].num[0], ==, 1);
  g_assert_cmpuint (w->steps[1].shift, ==, 2);
  g_assert_cmpuint (w->length, ==, 5);
  g_assert_cmpfloat (w->residual, ==, 0.0);
  lwt_wavelet_free (w);

  w = get ("steps: U@-3 1/3");
  g_assert_false (w->reversible);
  g_assert_cmpfloat (w->steps[0].c[0], ==, 1.0 / 3.0);
  g_assert_cmpfloat (w->scale_low, ==, 1.0);
  g_assert_cmpfloat (w->scale_high, ==, 1.0);
  lwt_wavelet_free (w);
}

static void
test_bad_steps (void)
{
  GString *many = g_string_new ("steps:");

  assert_refused ("steps:", "at character 7 (its end): P (predict)");
  assert_refused ("steps: K 1 1", "a step, P or U, is missing");
  assert_refused ("steps: Q@0 1", "at character 8, \"Q@0 1\": P (predict)");
  assert_refused ("steps: P 1", "\"@\" and the index");
  assert_refused ("steps: P@", "at character 10 (its end): a number");
  assert_refused ("steps: P@0.5 1", "integer from -256 to 256");
  assert_refused ("steps: P@257 1", "at character 10, \"257 1\": the first");
  assert_refused ("steps: P@0", "a number is expected");
  assert_refused ("steps: P@0 1; ; U@0 1", "P (predict)");
  assert_refused ("steps: P@0 1x", "at character 13, \"x\": a number");
  assert_refused ("steps: P@0 nan", "a number is expected");
  assert_refused ("steps: P@0 -inf", "a number is expected");
  assert_refused ("steps: P@0 0x10", "a number is expected");
  assert_refused ("steps: P@0 1e999", "out of range");
  assert_refused ("steps: P@0 1/0", "weights must be from -1e+06 to 1e+06");
  assert_refused ("steps: P@0 0/0", "weights must be from");
  assert_refused ("steps: P@0 2e6", "weights must be from");
  assert_refused ("steps: P@0 1; K 1", "two scales");
  assert_refused ("steps: P@0 1; K 1 0", "two scales");
  assert_refused ("steps: P@0 1; K 1 1 1", "more than 2 numbers");
  assert_refused ("steps: P@0 1; K 1 1; U@0 1", "nothing may follow K");
  assert_refused ("steps: P@0 1e5; U@0 1e5", "amplify noise");
  for (guint i = 0; i < LWT_MAX_STEPS + 1; i++)
    g_string_append (many, i ? ";P@0 1" : "P@0 1");
  assert_refused (many->str, "more than 32 steps");
  g_string_assign (many, "steps: P@0");
  for (guint i = 0; i < LWT_MAX_TAPS + 1; i++)
    g_string_append (many, " 1");
  assert_refused (many->str, "more than 32 numbers");
  g_string_assign (many, "steps:");
  for (guint i = 0; i < LWT_MAX_STEPS; i++)
    g_string_append_printf (many, "%s%c@%d 1e-3", i ? ";" : "", "PU"[i % 2],
        i / 2 % 2 ? 256 : -256);
  assert_refused (many->str, "reach too far");
  g_string_free (many, TRUE);
}

/* --- unknown names -------------------------------------------------------------------- */

static void
test_unknown_names (void)
{
  assert_refused ("", "unknown wavelet \"\". Use haar");
  assert_refused ("DB4", "did you mean \"db4\"?");
  assert_refused ("Haar", "did you mean \"haar\"?");
  assert_refused ("bior44", "did you mean \"bior4.4\"?");
  assert_refused ("cdf75", "did you mean \"cdf7/5\"?");
  assert_refused ("db21", "did you mean \"db");
  /* nothing is near */
  assert_refused ("abc", "unknown wavelet \"abc\". Use haar");
  assert_refused ("daub4", "unknown wavelet \"daub4\". Use haar");
  assert_refused ("9", "unknown wavelet \"9\". Use haar");
  assert_refused ("dmey", "do not reconstruct");
  assert_refused ("daubechies with four moments", "Use haar, db1 to db20");
  assert_refused ("\xff\xfe steps", "unknown wavelet");
}

/* --- banks ---------------------------------------------------------------------------------- */

static void
test_bank (void)
{
  LwtWavelet *named = get ("db2");
  LwtWavelet *w = get ("bank: LO -0.12940952255126034 0.22414386804201339 "
                       "0.83651630373780772 0.48296291314453410");

  g_assert_cmpuint (w->n_steps, ==, named->n_steps);
  for (guint i = 0; i < w->n_steps; i++) {
    g_assert_cmpint (w->steps[i].first, ==, named->steps[i].first);
    for (guint j = 0; j < w->steps[i].n; j++)
      g_assert_cmpfloat_with_epsilon (
          w->steps[i].c[j], named->steps[i].c[j], 1e-14);
  }
  g_assert_cmpfloat_with_epsilon (w->scale_low, named->scale_low, 1e-14);
  g_assert_cmpuint (w->length, ==, 4);
  g_assert_cmpfloat (w->residual, <=, 1e-14);
  g_assert_cmpuint (strlen (w->name), ==, sizeof (w->name) - 1);
  lwt_wavelet_free (w);
  lwt_wavelet_free (named);

  w = get ("bank: LO 0 -1/8 1/4 3/4 1/4 -1/8; HI 0 1/2 -1 1/2 0 0;"
           "RLO 0 1/2 1 1/2 0 0; RHI 0 1/8 1/4 -3/4 1/4 1/8");
  g_assert_cmpuint (w->n_steps, ==, 2);
  g_assert_true (w->reversible);
  g_assert_cmpfloat (w->scale_low, ==, 1.0);
  g_assert_cmpfloat (w->scale_high, ==, -1.0);
  lwt_wavelet_free (w);
}

static void
test_bad_banks (void)
{
  GString *many = g_string_new ("bank: LO");
  gdouble taps[4] = { 0.5, 0.5, 0.5, NAN };
  GError *error = NULL;

  assert_refused ("bank:", "LO, HI, RLO or RHI is expected");
  assert_refused ("bank: LA 1", "at character 7, \"LA 1\": LO");
  assert_refused ("bank: LO", "a number is expected");
  assert_refused (
      "bank: LO 1 1; LO 1 1", "at character 15, \"LO 1 1\": LO occurs twice");
  assert_refused ("bank: LO 1 1; HI 1 -1", "no RLO");
  assert_refused ("bank: HI 1 1", "no LO");
  assert_refused (
      "bank: LO 1 1; HI 1 -1 0; RLO 1 1; RHI 1 1", "LO has 2 taps, HI 3");
  assert_refused ("bank: LO 1 2 1", "an even number of taps from 2 to 128");
  assert_refused ("bank: LO 0.5 0.5", "do not reconstruct");
  assert_refused ("bank: LO 0 0", "do not reconstruct");
  assert_refused ("bank: LO 1e-200 1e-200", "do not reconstruct");
  /* a pure delay by an odd number of samples */
  assert_refused ("bank: LO 0 -1 0 0", "at most 32 lifting steps");
  for (guint i = 0; i < LWT_MAX_FILTER + 1; i++)
    g_string_append (many, " 1");
  assert_refused (many->str, "more than 128 numbers");
  g_string_free (many, TRUE);

  g_assert_null (
      lwt_wavelet_new_from_bank ("x", taps, taps, taps, taps, 4, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
  g_assert_nonnull (strstr (
      error->message, "tap 3 of the decomposition low pass filter is nan"));
  g_clear_error (&error);
}

int
main (int argc, char **argv)
{
  gint status;

  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/lwtwavelet/names", test_names);
  g_test_add_func ("/lwtwavelet/same-everywhere", test_same_everywhere);
  g_test_add_func ("/lwtwavelet/same-again", test_same_again);
  g_test_add_func ("/lwtwavelet/lengths", test_lengths);
  g_test_add_func ("/lwtwavelet/aliases", test_aliases);
  g_test_add_func ("/lwtwavelet/reversible", test_reversible);
  g_test_add_func ("/lwtwavelet/constants", test_constants);
  g_test_add_func ("/lwtwavelet/paper/alpha", test_alpha);
  g_test_add_func ("/lwtwavelet/paper/gamma", test_gamma);
  g_test_add_func ("/lwtwavelet/paper/scale", test_scale);
  g_test_add_func ("/lwtwavelet/reconstruction", test_reconstruction);
  g_test_add_func (
      "/lwtwavelet/reconstruction/padded", test_padded_reconstruction);
  g_test_add_func ("/lwtwavelet/integers", test_integers);
  g_test_add_func ("/lwtwavelet/edges", test_edges);
  g_test_add_func ("/lwtwavelet/steps", test_steps);
  g_test_add_func ("/lwtwavelet/steps/bad", test_bad_steps);
  g_test_add_func ("/lwtwavelet/unknown-names", test_unknown_names);
  g_test_add_func ("/lwtwavelet/bank", test_bank);
  g_test_add_func ("/lwtwavelet/bank/bad", test_bad_banks);
  load_all ();
  status = g_test_run ();
  free_all ();
  return status;
}
