/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Wavelets as text: "steps: .." and "bank: ..". */
#include "cuda/wavelet/private.h"

/* Largest magnitude of weights and scales; its inverse is the smallest
 * scale. */
#define MAX_WEIGHT 1e6
/* Largest noise gain of given steps; more is useless in any precision. */
#define MAX_GIVEN_GAIN 1e6

typedef struct {
  const gchar *text;
  const gchar *at;
} Reader;

static void reject_text (const Reader *reader, GError **error,
    const gchar *format, ...) G_GNUC_PRINTF (3, 4);

/* Reports the position, counted from 1, and a few characters of the text
 * there. */
static void
reject_text (const Reader *reader, GError **error, const gchar *format, ...)
{
  va_list arguments;
  gchar *words, *shown = NULL;

  va_start (arguments, format);
  words = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  if (*reader->at)
    shown = g_utf8_make_valid (reader->at, (gssize) strnlen (reader->at, 12));
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
      "wavelet, at character %" G_GSIZE_FORMAT "%s%s%s: %s",
      (gsize) (reader->at - reader->text) + 1, shown ? ", \"" : " (its end)",
      shown ? shown : "", shown ? "\"" : "", words);
  g_free (shown);
  g_free (words);
}

/* --- words and numbers -------------------------------------------------------------- */

static void
skip_space (Reader *reader)
{
  while (g_ascii_isspace (*reader->at) || *reader->at == ',')
    reader->at++;
}

static gboolean
take (Reader *reader, gchar letter)
{
  skip_space (reader);
  if (*reader->at != letter)
    return FALSE;
  reader->at++;
  return TRUE;
}

/* Whether the section ends here */
static gboolean
at_end (Reader *reader)
{
  skip_space (reader);
  return *reader->at == '\0' || *reader->at == ';';
}

static gboolean
read_number (Reader *reader, gdouble *value, GError **error)
{
  const gchar *digit = reader->at;
  gchar *end;

  skip_space (reader);
  digit = reader->at + (*reader->at == '-' || *reader->at == '+');
  /* refuses nan, inf and hexadecimal */
  if (!(g_ascii_isdigit (*digit) || *digit == '.')
      || (digit[0] == '0' && (digit[1] == 'x' || digit[1] == 'X'))) {
    reject_text (reader, error, "a number is expected");
    return FALSE;
  }
  *value = g_ascii_strtod (reader->at, &end);
  if (end == reader->at || !isfinite (*value)) {
    reject_text (reader, error, "the number is out of range");
    return FALSE;
  }
  reader->at = end;
  return TRUE;
}

/* Reads a number or a quotient of two */
static gboolean
read_weight (Reader *reader, gdouble *value, GError **error)
{
  Reader start;
  gdouble below;

  skip_space (reader);
  start = *reader;
  if (!read_number (reader, value, error))
    return FALSE;
  if (*reader->at == '/') {
    reader->at++;
    if (!read_number (reader, &below, error))
      return FALSE;
    *value /= below;
  }
  if (fabs (*value) <= MAX_WEIGHT)
    return TRUE;
  reject_text (
      &start, error, "weights must be from %g to %g", -MAX_WEIGHT, MAX_WEIGHT);
  return FALSE;
}

/* Reads numbers up to the end of the section */
static gboolean
read_weights (
    Reader *reader, gdouble *values, guint most, guint *n, GError **error)
{
  *n = 0;
  while (!at_end (reader)) {
    if (*n == most) {
      reject_text (reader, error, "there are more than %u numbers", most);
      return FALSE;
    }
    if (!read_weight (reader, values + (*n)++, error))
      return FALSE;
  }
  if (*n > 0)
    return TRUE;
  reject_text (reader, error, "a number is expected");
  return FALSE;
}

/* --- steps ------------------------------------------------------------------------------ */

static gboolean
read_first (Reader *reader, gint *first, GError **error)
{
  Reader start;
  gdouble value;

  if (!take (reader, '@')) {
    reject_text (reader, error,
        "\"@\" and the index of the first neighbour are expected");
    return FALSE;
  }
  start = *reader;
  if (!read_number (reader, &value, error))
    return FALSE;
  if (value != floor (value) || fabs (value) > LWT_MAX_FIRST) {
    reject_text (&start, error,
        "the first neighbour must be an integer from %d to %d", -LWT_MAX_FIRST,
        LWT_MAX_FIRST);
    return FALSE;
  }
  *first = (gint) value;
  return TRUE;
}

static gboolean
read_step (
    Reader *reader, LwtWavelet *wavelet, LwtStepKind kind, GError **error)
{
  LwtStep *step = wavelet->steps + wavelet->n_steps;

  if (wavelet->n_steps == LWT_MAX_STEPS) {
    reject_text (reader, error, "there are more than %d steps", LWT_MAX_STEPS);
    return FALSE;
  }
  wavelet->n_steps++;
  step->kind = kind;
  return read_first (reader, &step->first, error)
         && read_weights (reader, step->c, LWT_MAX_TAPS, &step->n, error);
}

static gboolean
read_scales (Reader *reader, LwtWavelet *wavelet, GError **error)
{
  const Reader start = *reader;
  gdouble scales[2] = { 1.0, 1.0 };
  guint n;

  if (!read_weights (reader, scales, 2, &n, error))
    return FALSE;
  for (guint i = 0; i < 2; i++)
    if (n != 2 || fabs (scales[i]) < 1.0 / MAX_WEIGHT) {
      reject_text (&start, error, "K needs two scales, %g to %g in magnitude",
          1.0 / MAX_WEIGHT, MAX_WEIGHT);
      return FALSE;
    }
  wavelet->scale_low = scales[0];
  wavelet->scale_high = scales[1];
  return TRUE;
}

/* Reads a section between semicolons; K is the last one. */
static gboolean
read_part (
    Reader *reader, LwtWavelet *wavelet, gboolean *scaled, GError **error)
{
  if (*scaled) {
    reject_text (reader, error, "nothing may follow K");
    return FALSE;
  }
  if (take (reader, 'P'))
    return read_step (reader, wavelet, LWT_STEP_PREDICT, error);
  if (take (reader, 'U'))
    return read_step (reader, wavelet, LWT_STEP_UPDATE, error);
  *scaled = take (reader, 'K');
  if (*scaled)
    return read_scales (reader, wavelet, error);
  reject_text (
      reader, error, "P (predict), U (update) or K (scales) is expected");
  return FALSE;
}

static gboolean
read_parts (Reader *reader, LwtWavelet *wavelet, GError **error)
{
  gboolean scaled = FALSE;

  wavelet->scale_low = wavelet->scale_high = 1.0;
  do {
    if (at_end (reader) && *reader->at == '\0' && wavelet->n_steps > 0)
      return TRUE; /* trailing semicolon */
    if (!read_part (reader, wavelet, &scaled, error))
      return FALSE;
  } while (take (reader, ';'));
  if (wavelet->n_steps > 0)
    return TRUE;
  reject_text (reader, error, "a step, P or U, is missing");
  return FALSE;
}

static gboolean
complete_steps (LwtWavelet *wavelet, GError **error)
{
  LwtRow low, high;

  if (!lwt_steps_multiply (wavelet, &low, &high)) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
        "wavelet: the steps reach too far: their filters have more "
        "than %d taps",
        2 * LWT_MAX_TERMS);
    return FALSE;
  }
  wavelet->length = lwt_steps_length (&low, &high);
  wavelet->noise_gain = lwt_steps_noise_gain (wavelet);
  if (wavelet->noise_gain <= MAX_GIVEN_GAIN)
    return TRUE;
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
      "wavelet: the steps amplify noise more than %g times", MAX_GIVEN_GAIN);
  return FALSE;
}

/* The name is the text, truncated if necessary. */
static void
set_name (LwtWavelet *wavelet, const gchar *text)
{
  gchar *valid = g_utf8_make_valid (text, -1);
  gsize n = MIN (strlen (valid), sizeof (wavelet->name) - 1);

  while (n > 0 && ((guchar) valid[n] & 0xc0) == 0x80)
    n--;
  memcpy (wavelet->name, valid, n);
  g_free (valid);
}

LwtWavelet *
lwt_text_parse_steps (const gchar *text, GError **error)
{
  Reader reader = { text, text + strlen ("steps:") };
  LwtWavelet *wavelet = g_new0 (LwtWavelet, 1);

  if (read_parts (&reader, wavelet, error) && complete_steps (wavelet, error)) {
    set_name (wavelet, text);
    lwt_steps_set_reversible (wavelet);
    return wavelet;
  }
  g_free (wavelet);
  return NULL;
}

/* --- banks -------------------------------------------------------------------------------- */

enum { LO, HI, RLO, RHI, N_FILTERS };

static const gchar *const filter_names[] = { "LO", "HI", "RLO", "RHI" };

typedef struct {
  gdouble taps[N_FILTERS][LWT_MAX_FILTER];
  guint n[N_FILTERS];
} Filters;

/* Returns: the filter's index; N_FILTERS: none */
static guint
read_filter_name (Reader *reader)
{
  skip_space (reader);
  for (guint i = 0; i < N_FILTERS; i++) {
    const gsize length = strlen (filter_names[i]);

    if (strncmp (reader->at, filter_names[i], length) == 0
        && !g_ascii_isalnum (reader->at[length])) {
      reader->at += length;
      return i;
    }
  }
  return N_FILTERS;
}

static gboolean
read_filter (Reader *reader, Filters *filters, GError **error)
{
  const Reader start = *reader;
  const guint i = read_filter_name (reader);

  if (i == N_FILTERS) {
    reject_text (reader, error, "LO, HI, RLO or RHI is expected");
    return FALSE;
  }
  if (filters->n[i] > 0) {
    reject_text (&start, error, "%s occurs twice", filter_names[i]);
    return FALSE;
  }
  return read_weights (
      reader, filters->taps[i], LWT_MAX_FILTER, filters->n + i, error);
}

static gboolean
read_filters (Reader *reader, Filters *filters, GError **error)
{
  do {
    if (at_end (reader) && *reader->at == '\0' && filters->n[LO] > 0)
      break; /* trailing semicolon */
    if (!read_filter (reader, filters, error))
      return FALSE;
  } while (take (reader, ';'));
  return TRUE;
}

/* Derives the other filters of an orthogonal bank from LO. */
static void
add_orthogonal (Filters *filters)
{
  const guint n = filters->n[LO];

  for (guint i = 0; i < n; i++) {
    const gdouble turned = filters->taps[LO][n - 1 - i];

    filters->taps[RLO][i] = turned;
    filters->taps[HI][i] = i & 1 ? turned : -turned;
    filters->taps[RHI][i] =
        i & 1 ? -filters->taps[LO][i] : filters->taps[LO][i];
  }
  filters->n[HI] = filters->n[RLO] = filters->n[RHI] = n;
}

static gboolean
check_filters (Filters *filters, GError **error)
{
  if (filters->n[LO] && !filters->n[HI] && !filters->n[RLO] && !filters->n[RHI])
    add_orthogonal (filters);
  for (guint i = 0; i < N_FILTERS; i++) {
    if (filters->n[i] == 0) {
      g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
          "wavelet: the bank has no %s; it takes LO, HI, RLO and RHI, or LO "
          "alone if it is orthogonal",
          filter_names[i]);
      return FALSE;
    }
    if (filters->n[i] != filters->n[LO]) {
      g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
          "wavelet: the bank's filters must have the same length, with zeros "
          "added to shorter ones: LO has %u taps, %s %u",
          filters->n[LO], filter_names[i], filters->n[i]);
      return FALSE;
    }
  }
  return TRUE;
}

LwtWavelet *
lwt_text_parse_bank (const gchar *text, GError **error)
{
  Reader reader = { text, text + strlen ("bank:") };
  Filters *filters = g_new0 (Filters, 1);
  LwtWavelet *wavelet = NULL;

  if (read_filters (&reader, filters, error) && check_filters (filters, error))
    wavelet =
        lwt_wavelet_new_from_bank ("bank", filters->taps[LO], filters->taps[HI],
            filters->taps[RLO], filters->taps[RHI], filters->n[LO], error);
  if (wavelet) {
    memset (wavelet->name, 0, sizeof (wavelet->name));
    set_name (wavelet, text);
  }
  g_free (filters);
  return wavelet;
}
