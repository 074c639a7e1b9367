/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/wavelet/private.h"

/* Largest reconstruction error of an accepted bank. */
#define MAX_DISTORTION 1e-9

/* --- named ones ------------------------------------------------------------------------ */

/* The analysis bank */
static void
make_rows (const LwtDd *dec_low, const LwtDd *dec_high, guint length,
    LwtRow *low, LwtRow *high)
{
  lwt_row_from_filter (low, dec_low, length);
  lwt_row_from_filter (high, dec_high, length);
}

static void
complete (LwtWavelet *wavelet, const LwtRow *low, const LwtRow *high)
{
  wavelet->length = lwt_steps_length (low, high);
  lwt_steps_set_reversible (wavelet);
}

/* rbioM.N is biorM.N with the roles of analysis and synthesis exchanged. */
static void
exchange (LwtBank *bank)
{
  for (guint i = 0; i < bank->length; i++) {
    const guint j = bank->length - 1 - i;
    const LwtDd low = bank->dec_low[i];

    bank->dec_low[i] = bank->rec_low[j];
    bank->rec_low[j] = low;
  }
}

static gboolean
find_bank (const gchar *name, LwtBank *bank)
{
  gchar other[16];

  if (!g_str_has_prefix (name, "rbio"))
    return lwt_bank_find (name, bank);
  g_snprintf (other, sizeof (other), "bior%s", name + strlen ("rbio"));
  if (!lwt_bank_find (other, bank))
    return FALSE;
  exchange (bank);
  return TRUE;
}

static gboolean
set_from_bank (LwtWavelet *wavelet, const gchar *name, GError **error)
{
  /* error of the tables' 80 bits in a term that is zero */
  const gdouble rough = 1e-20;
  LwtBank bank;
  LwtDd dec_high[LWT_MAX_FILTER];
  LwtRow low, high;
  gboolean found = find_bank (name, &bank);

  g_assert (found); /* every name has steps or a bank */
  for (guint i = 0; i < bank.length; i++)
    dec_high[i] = i & 1 ? bank.rec_low[i] : lwt_dd_negate (bank.rec_low[i]);
  make_rows (bank.dec_low, dec_high, bank.length, &low, &high);
  if (!lwt_factorise (wavelet, &low, &high, rough, error))
    return FALSE;
  complete (wavelet, &low, &high);
  return TRUE;
}

static void
complete_classic (LwtWavelet *wavelet)
{
  LwtRow low, high;

  lwt_steps_multiply (wavelet, &low, &high);
  wavelet->noise_gain = lwt_steps_noise_gain (wavelet);
  complete (wavelet, &low, &high);
}

static LwtWavelet *
new_from_name (const gchar *asked, GError **error)
{
  const gchar *name = lwt_name_resolve (asked, error);
  LwtWavelet *wavelet;

  if (!name)
    return NULL;
  wavelet = g_new0 (LwtWavelet, 1);
  if (lwt_classic_find (name, wavelet)) {
    complete_classic (wavelet);
  } else if (!set_from_bank (wavelet, name, error)) {
    g_free (wavelet);
    return NULL;
  }
  g_strlcpy (wavelet->name, asked, sizeof (wavelet->name));
  return wavelet;
}

LwtWavelet *
lwt_wavelet_new (const gchar *description, GError **error)
{
  LwtWavelet *wavelet;
  gchar *text;

  g_return_val_if_fail (description != NULL, NULL);
  text = g_strstrip (g_strdup (description));
  if (g_str_has_prefix (text, "steps:"))
    wavelet = lwt_text_parse_steps (text, error);
  else if (g_str_has_prefix (text, "bank:"))
    wavelet = lwt_text_parse_bank (text, error);
  else
    wavelet = new_from_name (text, error);
  g_free (text);
  return wavelet;
}

/* --- given banks -------------------------------------------------------------------------- */

static gboolean
check_taps (const gdouble *const filters[4], guint length, GError **error)
{
  static const gchar *const names[] = { "decomposition low pass",
    "decomposition high pass", "reconstruction low pass",
    "reconstruction high pass" };

  if (length < 2 || length > LWT_MAX_FILTER || length % 2) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
        "wavelet: filters must have an even number of taps from 2 to %d (with "
        "a zero added to a shorter one), not %u",
        LWT_MAX_FILTER, length);
    return FALSE;
  }
  for (guint f = 0; f < 4; f++)
    for (guint i = 0; i < length; i++)
      if (!(fabs (filters[f][i]) <= 1e6)) {
        g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
            "wavelet: tap %u of the %s filter is %g; taps must be from "
            "-1e6 to 1e6",
            i, names[f], filters[f][i]);
        return FALSE;
      }
  return TRUE;
}

/* Response of the two channels, analysed and synthesised, to an impulse,
 * @lag samples later; @alias: to its mirrored spectrum */
static gdouble
response (
    const gdouble *const filters[4], guint length, guint lag, gboolean alias)
{
  gdouble sum = 0.0;

  for (guint i = 0; i < length; i++) {
    if (i > lag || lag - i >= length)
      continue;
    for (guint band = 0; band < 2; band++) {
      const gdouble product = filters[band][i] * filters[2 + band][lag - i];

      sum += alias && i & 1 ? -product : product;
    }
  }
  return sum / 2.0;
}

/* Largest deviation from a delay of length - 1 samples */
static gdouble
distortion (const gdouble *const filters[4], guint length)
{
  gdouble worst = 0.0;

  for (guint lag = 0; lag <= 2 * (length - 1); lag++) {
    const gdouble ideal = lag == length - 1 ? 1.0 : 0.0;

    worst = MAX (worst, fabs (response (filters, length, lag, FALSE) - ideal));
    worst = MAX (worst, fabs (response (filters, length, lag, TRUE)));
  }
  return worst;
}

/* Numbers of unknown precision: rounding errors cannot be told from small
 * terms. */
static gboolean
factorise_rough (
    LwtWavelet *wavelet, const LwtRow *low, const LwtRow *high, GError **error)
{
  static const gdouble roughs[] = { 1e-13, 1e-11, 1e-9 };

  for (guint i = 0; i < G_N_ELEMENTS (roughs); i++) {
    g_clear_error (error);
    if (lwt_factorise (wavelet, low, high, roughs[i], error))
      return TRUE;
  }
  return FALSE;
}

LwtWavelet *
lwt_wavelet_new_from_bank (const gchar *name, const gdouble *dec_low,
    const gdouble *dec_high, const gdouble *rec_low, const gdouble *rec_high,
    guint length, GError **error)
{
  const gdouble *const filters[] = { dec_low, dec_high, rec_low, rec_high };
  LwtDd taps[2][LWT_MAX_FILTER];
  LwtRow low, high;
  LwtWavelet *wavelet;
  gdouble off;

  if (!check_taps (filters, length, error))
    return NULL;
  off = distortion (filters, length);
  if (!(off <= MAX_DISTORTION)) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
        "wavelet: these filters do not reconstruct: the error is "
        "%.2g of the signal, more than %g",
        off, MAX_DISTORTION);
    return NULL;
  }
  for (guint i = 0; i < length; i++) {
    taps[0][i] = (LwtDd){ dec_low[i], 0.0 };
    taps[1][i] = (LwtDd){ dec_high[i], 0.0 };
  }
  make_rows (taps[0], taps[1], length, &low, &high);
  wavelet = g_new0 (LwtWavelet, 1);
  if (!factorise_rough (wavelet, &low, &high, error)) {
    g_prefix_error (error, "wavelet: ");
    g_free (wavelet);
    return NULL;
  }
  complete (wavelet, &low, &high);
  g_strlcpy (wavelet->name, name, sizeof (wavelet->name));
  return wavelet;
}

/* --- the rest -------------------------------------------------------------------------------- */

void
lwt_wavelet_free (LwtWavelet *wavelet)
{
  g_free (wavelet);
}
