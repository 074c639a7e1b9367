/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "pbfjsoncheck.h"

#include <string.h>

typedef struct {
  const gchar *text, *p, *end;
  guint depth;
  guint values;
  GHashTable *names[PBF_JSON_MAX_DEPTH + 1]; /* NULL for arrays */
} Scan;

static gboolean
fail (const Scan *scan, const gchar *what, GError **error)
{
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
      "JSON, byte %" G_GSIZE_FORMAT ": %s", (gsize) (scan->p - scan->text),
      what);
  return FALSE;
}

/* Reads \uXXXX, with scan->p at the 'u'. Halves of surrogate pairs stay as
 * they are: names need only be told apart. */
static gboolean
scan_unicode (Scan *scan, GString *out, GError **error)
{
  guint32 code = 0;

  for (guint i = 1; i <= 4; i++) {
    gint digit =
        scan->end - scan->p > i ? g_ascii_xdigit_value (scan->p[i]) : -1;
    if (digit < 0)
      return fail (scan, "\\u wants four hexadecimal digits", error);
    code = code << 4 | digit;
  }
  if (code == 0)
    return fail (scan, "\\u0000 in a string", error);
  g_string_append_unichar (out, code);
  scan->p += 4;
  return TRUE;
}

static gboolean
scan_escape (Scan *scan, GString *out, GError **error)
{
  static const gchar codes[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
  const gchar *code;

  if (++scan->p == scan->end)
    return fail (scan, "ends within a string", error);
  if (*scan->p == 'u')
    return scan_unicode (scan, out, error);
  code = strchr (codes, *scan->p);
  if (!code)
    return fail (scan, "unknown escape in a string", error);
  g_string_append_c (out, meanings[code - codes]);
  return TRUE;
}

/* From the opening quote to behind the closing one. */
static gboolean
scan_string (Scan *scan, GString *out, GError **error)
{
  g_string_truncate (out, 0);
  for (scan->p++; scan->p < scan->end && *scan->p != '"'; scan->p++) {
    if ((guchar) *scan->p < 0x20)
      return fail (scan, "control character in a string", error);
    if (*scan->p != '\\')
      g_string_append_c (out, *scan->p);
    else if (!scan_escape (scan, out, error))
      return FALSE;
  }
  if (scan->p == scan->end)
    return fail (scan, "ends within a string", error);
  scan->p++;
  return TRUE;
}

static gboolean
is_json_space (gchar c)
{
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* @name is a member's if a colon follows. */
static gboolean
note_name (Scan *scan, const GString *name, GError **error)
{
  const gchar *q = scan->p;
  gchar *shown;

  while (q < scan->end && is_json_space (*q))
    q++;
  if (q == scan->end || *q != ':' || !scan->names[scan->depth])
    return TRUE;
  if (g_hash_table_add (
          scan->names[scan->depth], g_strndup (name->str, name->len)))
    return TRUE;
  shown = g_strescape (name->str, NULL);
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
      "JSON: the name \"%.200s\" stands twice in one object", shown);
  g_free (shown);
  return FALSE;
}

static gboolean
scan_open (Scan *scan, GError **error)
{
  if (scan->depth == PBF_JSON_MAX_DEPTH) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
        "JSON, byte %" G_GSIZE_FORMAT ": nested deeper than %d",
        (gsize) (scan->p - scan->text), PBF_JSON_MAX_DEPTH);
    return FALSE;
  }
  if (*scan->p++ == '{')
    scan->names[scan->depth + 1] =
        g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  scan->depth++;
  return TRUE;
}

static gboolean
scan_close (Scan *scan, GError **error)
{
  gboolean is_object = scan->names[scan->depth] != NULL;

  if ((*scan->p == '}') != is_object)
    return fail (scan, "the wrong bracket closes", error);
  g_clear_pointer (&scan->names[scan->depth], g_hash_table_unref);
  scan->depth--;
  scan->p++;
  return TRUE;
}

static gboolean
scan_token (Scan *scan, GString *string, GError **error)
{
  /* besides brackets and strings: separators, and what numbers, true, false
   * and null are made of */
  static const gchar others[] = ",: \t\n\r0123456789+-.eEtrufalsn";

  switch (*scan->p) {
    case '"':
      return scan_string (scan, string, error)
             && note_name (scan, string, error);
    case '{':
    case '[':
      return scan_open (scan, error);
    case '}':
    case ']':
      return scan_close (scan, error);
    case ',':
      if (++scan->values > PBF_JSON_MAX_VALUES)
        return fail (scan, "more than a million values", error);
      break;
    default:
      if (!*scan->p || !strchr (others, *scan->p))
        return fail (scan, "this character has no place here", error);
  }
  scan->p++;
  return TRUE;
}

static gboolean
scan_document (Scan *scan, GString *string, GError **error)
{
  while (scan->p < scan->end && is_json_space (*scan->p))
    scan->p++;
  if (scan->p == scan->end || *scan->p != '{')
    return fail (scan, "no object begins here", error);
  do {
    if (!scan_token (scan, string, error))
      return FALSE;
  } while (scan->depth && scan->p < scan->end);
  if (scan->depth)
    return fail (scan, "ends within an object", error);
  while (scan->p < scan->end && is_json_space (*scan->p))
    scan->p++;
  if (scan->p < scan->end)
    return fail (scan, "something follows the object", error);
  return TRUE;
}

gboolean
pbf_json_check (const gchar *text, gsize size, GError **error)
{
  Scan scan = { .text = text, .p = text, .end = text + size };
  GString *string;
  gboolean ok;

  if (!g_utf8_validate_len (text, size, &scan.p))
    return fail (&scan, "is not UTF-8 text", error);
  scan.p = text;
  string = g_string_new (NULL);
  ok = scan_document (&scan, string, error);
  g_string_free (string, TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (scan.names); i++)
    g_clear_pointer (&scan.names[i], g_hash_table_unref);
  return ok;
}
