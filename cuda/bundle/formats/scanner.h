/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Parses words and numbers of a text file, with errors that name line and
 * field. */
#pragma once

#include "cuda/bundle/problem.h"

G_BEGIN_DECLS

/**
 * BundleScanner:
 * @name: prefix in errors, such as "images.txt "; may be ""
 * @start, @end: of the text
 * @at: current position
 * @by_line: fields are searched on the current line only
 * @calls: of bundle_scan_skip_blanks(), which looks at the flag of cancellation now and then
 */
typedef struct {
  const gchar *name;
  const gchar *start, *at, *end;
  gboolean by_line;
  guint calls;
} BundleScanner;

/* Sets CVIS_ERROR_FORMAT about @field, which is at @at. Returns: FALSE */
gboolean bundle_scan_fault (const BundleScanner *s, const gchar *at,
    const gchar *field, GError **error, const gchar *format, ...)
    G_GNUC_PRINTF (5, 6);

/* A scanner of @data, without a byte order mark of UTF-8 at its start */
BundleScanner bundle_scan_new (
    const gchar *name, const gchar *data, gsize size, gboolean by_line);

/* Moves to the next field. The text ends here if the calling thread is cancelled
 * (cuda/core/cancel.h). Returns: FALSE at the end of the text, or with by_line of
 * the line */
gboolean bundle_scan_skip_blanks (BundleScanner *s);
static inline gboolean
bundle_scan_more (BundleScanner *s)
{
  /* one blank, mostly */
  if (s->end - s->at > 1 && *s->at == ' ' && (guchar) s->at[1] > ' '
      && s->calls % 64 != 0) {
    s->at++;
    s->calls++;
    return TRUE;
  }
  return (s->at < s->end && (guchar) *s->at > ' ')
         || bundle_scan_skip_blanks (s);
}
/* Moves to the start of the next line that is neither empty nor a comment
 * (#). */
gboolean bundle_scan_line (BundleScanner *s);
void bundle_scan_skip_line (BundleScanner *s);

/* Each of these reads a field. Returns: FALSE with @error */
gboolean bundle_scan_word (
    BundleScanner *s, const gchar *field, gchar **word, GError **error);
/* The rest of the line, which may contain blanks */
gboolean bundle_scan_rest (
    BundleScanner *s, const gchar *field, gchar **rest, GError **error);
/* A finite number of magnitude <= 1e100 */
gboolean bundle_scan_number (
    BundleScanner *s, const gchar *field, gdouble *value, GError **error);
gboolean bundle_scan_numbers (BundleScanner *s, const gchar *field,
    gdouble *values, guint n, GError **error);
/* An integer in @low..@high */
gboolean bundle_scan_integer (BundleScanner *s, const gchar *field, guint64 low,
    guint64 high, guint64 *value, GError **error);

/* @name: of some bits */
typedef struct {
  const gchar *name;
  guint16 bits;
} BundleScanBits;

/* Reads the words to the end of the line, at least one: names of the @n @known bits, which
 * are added to @bits. @names: the names, for an error */
gboolean bundle_scan_bits (BundleScanner *s, const gchar *field,
    const BundleScanBits *known, guint n, const gchar *names, guint16 *bits,
    GError **error);

G_END_DECLS
