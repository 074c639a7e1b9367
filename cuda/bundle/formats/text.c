/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/bundle/formats/text.h"

#include <string.h>
#include "cuda/core/cancel.h"
#include "cuda/core/text.h"

#define FIRST_SIZE 4096

gchar *
bundle_text_reserve (BundleText *text, gsize n)
{
  if (text->allocated - text->n < n && !text->failed) {
    const gsize size = MAX (text->allocated * 2, text->n + n + FIRST_SIZE);
    gchar *data = g_try_realloc (text->data, size);

    text->failed = data == NULL;
    if (data) {
      text->data = data;
      text->allocated = size;
    }
  }
  return text->failed || !text->data ? NULL : text->data + text->n;
}

void
bundle_text_bytes (BundleText *text, gconstpointer bytes, gsize n)
{
  gchar *to = bundle_text_reserve (text, n);

  if (!to || !n)
    return;
  memcpy (to, bytes, n);
  text->n += n;
}

void
bundle_text_string (BundleText *text, const gchar *string)
{
  bundle_text_bytes (text, string, strlen (string));
}

void
bundle_text_integer (BundleText *text, gchar before, guint64 value)
{
  gchar *to = bundle_text_reserve (text, 1 + CVIS_TEXT_MAX);

  if (!to)
    return;
  if (before)
    *to++ = before;
  text->n = (gsize) (cvis_text_uint (to, value) - text->data);
}

void
bundle_text_number (BundleText *text, gchar before, gdouble value)
{
  gchar *to = bundle_text_reserve (text, 1 + CVIS_DECIMAL_MAX);

  if (!to)
    return;
  if (before)
    *to++ = before;
  text->n = (gsize) (cvis_decimal_write (to, value) - text->data);
}

void
bundle_text_numbers (
    BundleText *text, gchar before, const gdouble *values, guint n)
{
  for (guint i = 0; i < n; i++)
    bundle_text_number (text, before, values[i]);
}

GBytes *
bundle_text_finish (BundleText *text, GError **error)
{
  GBytes *bytes = NULL;

  if (text->failed) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "Not enough memory for a file of more than %" G_GSIZE_FORMAT " bytes",
        text->n);
    g_free (text->data);
  } else {
    bytes = g_bytes_new_take (text->data, text->n);
  }
  *text = (BundleText){ 0 };
  return bytes;
}
