/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/bundle/formats/scanner.h"

#include <math.h>
#include <string.h>
#include "cuda/core/cancel.h"
#include "cuda/core/decimal.h"
#include "cuda/core/digits.h"

#define SHOWN 24      /* bytes of a wrong field shown */
#define LARGEST 1e100 /* its square, and sums of products, are finite */

static gboolean
is_blank (gchar c)
{
  return c >= 0 && c <= ' ';
}

BundleScanner
bundle_scan_new (
    const gchar *name, const gchar *data, gsize size, gboolean by_line)
{
  const gchar *at;

  if (size == 0)
    data = ""; /* it may be NULL */
  at = size >= 3 && memcmp (data, "\xef\xbb\xbf", 3) == 0 ? data + 3 : data;
  return (BundleScanner){ name, at, at, data + size, by_line };
}

gboolean
bundle_scan_fault (const BundleScanner *s, const gchar *at, const gchar *field,
    GError **error, const gchar *format, ...)
{
  gsize line = 1;
  gchar *text;
  va_list args;

  for (const gchar *c = s->start;
       c < at && !cvis_cancelled_at ((gsize) (at - c)); c++)
    line += *c == '\n';
  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
      "%sline %" G_GSIZE_FORMAT ", %s: %s", s->name, line, field, text);
  g_free (text);
  return FALSE;
}

/* The field at s->at, as printable text. */
static gchar *
show_field (const BundleScanner *s)
{
  gsize n = 0;
  gchar *text, *shown;

  while (s->at + n < s->end && n < SHOWN && !is_blank (s->at[n]))
    n++;
  text = g_strndup (s->at, n);
  shown = g_strescape (text, NULL);
  g_free (text);
  return shown;
}

static gboolean
reject_token (const BundleScanner *s, const gchar *field, const gchar *why,
    GError **error)
{
  gchar *shown = show_field (s);

  bundle_scan_fault (s, s->at, field, error, "\"%s\" %s", shown, why);
  g_free (shown);
  return FALSE;
}

gboolean
bundle_scan_skip_blanks (BundleScanner *s)
{
  if (s->calls++ % 64 == 0 && cvis_cancelled ())
    s->end = s->at;
  while (s->at < s->end && is_blank (*s->at) && !(s->by_line && *s->at == '\n'))
    s->at++;
  return s->at < s->end && !is_blank (*s->at);
}

void
bundle_scan_skip_line (BundleScanner *s)
{
  const gchar *end = memchr (s->at, '\n', (gsize) (s->end - s->at));

  s->at = end ? end + 1 : s->end;
}

gboolean
bundle_scan_line (BundleScanner *s)
{
  if (cvis_cancelled ())
    s->end = s->at;
  for (; s->at < s->end; bundle_scan_skip_line (s)) {
    while (s->at < s->end && is_blank (*s->at))
      s->at++;
    if (s->at < s->end && *s->at != '#')
      return TRUE;
  }
  return FALSE;
}

static inline gboolean
require_field (BundleScanner *s, const gchar *field, GError **error)
{
  if (G_LIKELY (bundle_scan_more (s)))
    return TRUE;
  return bundle_scan_fault (s, s->at, field, error,
      s->at < s->end ? "the line ends before it" : "the text ends before it");
}

/* Reads the @n bytes at s->at as text. */
static gboolean
scan_text (
    BundleScanner *s, gsize n, const gchar *field, gchar **text, GError **error)
{
  if (!g_utf8_validate (s->at, (gssize) n, NULL))
    return reject_token (s, field, "is not UTF-8", error);
  *text = g_strndup (s->at, n);
  s->at += n;
  return TRUE;
}

gboolean
bundle_scan_word (
    BundleScanner *s, const gchar *field, gchar **word, GError **error)
{
  gsize n = 0;

  if (!require_field (s, field, error))
    return FALSE;
  while (s->at + n < s->end && !is_blank (s->at[n]))
    n++;
  return scan_text (s, n, field, word, error);
}

gboolean
bundle_scan_rest (
    BundleScanner *s, const gchar *field, gchar **rest, GError **error)
{
  const gchar *end;

  if (!require_field (s, field, error))
    return FALSE;
  end = memchr (s->at, '\n', (gsize) (s->end - s->at));
  if (!end)
    end = s->end;
  while (is_blank (end[-1]))
    end--;
  return scan_text (s, (gsize) (end - s->at), field, rest, error);
}

gboolean
bundle_scan_number (
    BundleScanner *s, const gchar *field, gdouble *value, GError **error)
{
  const gchar *end;

  if (!require_field (s, field, error))
    return FALSE;
  end = cvis_decimal_read (s->at, s->end, '.', value);
  if (end == s->at || (end < s->end && !is_blank (*end)))
    return reject_token (s, field, "is not a number", error);
  if (!isfinite (*value))
    return reject_token (s, field, "is not a finite number", error);
  if (fabs (*value) > LARGEST)
    return reject_token (s, field, "is larger than 1e100", error);
  s->at = end;
  return TRUE;
}

gboolean
bundle_scan_numbers (BundleScanner *s, const gchar *field, gdouble *values,
    guint n, GError **error)
{
  for (guint i = 0; i < n; i++)
    if (!bundle_scan_number (s, field, &values[i], error))
      return FALSE;
  return TRUE;
}

gboolean
bundle_scan_integer (BundleScanner *s, const gchar *field, guint64 low,
    guint64 high, guint64 *value, GError **error)
{
  const gchar *at;
  guint64 bytes, n = 0;

  if (!require_field (s, field, error))
    return FALSE;
  at = s->at;
  if (s->end - at > 8) { /* up to eight digits at once */
    at += cvis_digits_find (at, &bytes);
    n = cvis_digits_join (bytes);
  }
  for (; at < s->end && g_ascii_isdigit (*at); at++)
    n = n > G_MAXUINT64 / 20 ? G_MAXUINT64 : n * 10 + (guint64) (*at - '0');
  if (at == s->at || (at < s->end && !is_blank (*at)))
    return reject_token (s, field, "is not an integer >= 0", error);
  if (n < low || n > high) {
    gchar *shown = show_field (s);

    bundle_scan_fault (s, s->at, field, error,
        "%s is outside %" G_GUINT64_FORMAT "..%" G_GUINT64_FORMAT, shown, low,
        high);
    g_free (shown);
    return FALSE;
  }
  s->at = at;
  *value = n;
  return TRUE;
}

gboolean
bundle_scan_bits (BundleScanner *s, const gchar *field,
    const BundleScanBits *known, guint n, const gchar *names, guint16 *bits,
    GError **error)
{
  do {
    g_autofree gchar *name = NULL;
    const gchar *at;
    guint i = 0;

    bundle_scan_more (s);
    at = s->at;
    if (!bundle_scan_word (s, field, &name, error))
      return FALSE;
    while (i < n && strcmp (name, known[i].name) != 0)
      i++;
    if (i == n)
      return bundle_scan_fault (s, at, field, error, "they must be %s", names);
    *bits = (guint16) (*bits | known[i].bits);
  } while (bundle_scan_more (s));
  return TRUE;
}
