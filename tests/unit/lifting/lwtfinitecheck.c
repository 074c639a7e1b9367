/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* lwt_low_band_sees_all(), compared with the low bands that the reference
 * implementation computes for lines with one sample that is not finite. */
#include <math.h>

#include "lwtreference.h"
#include "cuda/lifting/finitecheck.h"

/* Whether the low band of a line of @n zeros with @value in place @at has a
 * value that is not finite. */
static gboolean
is_seen (const LwtWavelet *wavelet, LwtBoundary boundary, const LwtChain *chain,
    guint n, guint at, gfloat value)
{
  const guint lows = chain->levels[chain->n - 1].low_width;
  gfloat *line = g_new0 (gfloat, n), *low = g_new (gfloat, lows);
  gboolean seen = FALSE;

  line[at] = value;
  lwt_reference_reduce (
      wavelet, boundary, LWT_TYPE_F32, chain, 0, chain->n, line, low);
  for (guint i = 0; i < lows; i++)
    seen = seen || !isfinite (low[i]);
  g_free (line);
  g_free (low);
  return seen;
}

/* @exact: all weights pass a value on, so that with one level the function
 *   has to return %FALSE for each line that hides a value */
static void
check_wavelet (const gchar *description, gboolean exact)
{
  LwtWavelet *wavelet = lwt_wavelet_new (description, NULL);

  g_assert_nonnull (wavelet);
  for (guint round = 0; round < 4 * 2 * 30; round++) {
    const LwtBoundary boundary = (LwtBoundary) (round % 4);
    const guint n = 2 + round / 8, levels = 1 + round / 4 % 2;
    gboolean all = TRUE;
    LwtChain chain;

    lwt_chain_init (&chain);
    lwt_chain_append (&chain, n, 1, levels, 0);
    for (guint at = 0; at < n; at++)
      all = all && is_seen (wavelet, boundary, &chain, n, at, NAN)
            && is_seen (wavelet, boundary, &chain, n, at, INFINITY);
    /* with several levels %FALSE may be wrong: the function requires each level
     * to pass on all of its samples */
    if (lwt_low_band_sees_all (wavelet, boundary, n, levels))
      g_assert_true (all);
    else if (levels == 1 && exact)
      g_assert_false (all);
  }
  lwt_wavelet_free (wavelet);
}

static void
test_short (void)
{
  check_wavelet ("haar", TRUE);
  check_wavelet ("db2", TRUE);
  check_wavelet ("db7", TRUE);
  check_wavelet ("9/7", TRUE);
  check_wavelet ("bior3.3", TRUE);
  check_wavelet ("coif2", TRUE);
  check_wavelet ("steps: P@0 -0.5; U@-1 0.25; K 1.25 0.75", TRUE);
  check_wavelet ("steps: P@-1 -0.5 0.125 -0.25; K 2 1", TRUE);
  check_wavelet ("steps: P@0 -0.5 -0.5; U@-1 0.25 0 0.25; K 1 1", FALSE);
}

/* The function tests a shorter line in place of these. */
static void
test_long (void)
{
  LwtWavelet *usual = lwt_wavelet_new ("9/7", NULL);
  LwtWavelet *blind = lwt_wavelet_new ("steps: P@0 -1; K 1 1", NULL);
  LwtWavelet *edge =
      lwt_wavelet_new ("steps: P@0 -0.5; U@-1 0.25; K 1 1", NULL);

  for (guint n = (1 << 20) - 1; n <= 1 << 20; n++) {
    g_assert_true (
        lwt_low_band_sees_all (usual, LWT_BOUNDARY_SYMMETRIC, n, 16));
    g_assert_false (
        lwt_low_band_sees_all (blind, LWT_BOUNDARY_SYMMETRIC, n, 1));
  }
  /* the last odd sample of an even number of samples reaches nobody */
  g_assert_false (
      lwt_low_band_sees_all (edge, LWT_BOUNDARY_SYMMETRIC, 1 << 20, 1));
  g_assert_true (
      lwt_low_band_sees_all (edge, LWT_BOUNDARY_SYMMETRIC, (1 << 20) - 1, 1));
  lwt_wavelet_free (usual);
  lwt_wavelet_free (blind);
  lwt_wavelet_free (edge);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/lwtfinitecheck/short", test_short);
  g_test_add_func ("/lwtfinitecheck/long", test_long);
  return g_test_run ();
}
