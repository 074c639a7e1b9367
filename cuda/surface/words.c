/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/surface/words.h"

#include <string.h>

#define WINDOW (1 << 20)

void
surface_words_init (
    SurfaceWords *words, const SurfaceSource *source, guint64 first)
{
  *words = (SurfaceWords){ .source = source, .next = first };
}

void
surface_words_clear (SurfaceWords *words)
{
  g_free (words->buffer);
  *words = (SurfaceWords){ 0 };
}

guint64
surface_words_tell (const SurfaceWords *words)
{
  const gchar *behind =
      words->buffer ? words->buffer + words->n_buffer : words->end;

  return words->next - (guint64) (behind - words->at);
}

/* End of the last complete word of @text */
static const gchar *
find_end (const gchar *text, gsize n)
{
  static const gchar *const separators[] = { "\r\n", " \t;", "," };

  for (guint i = 0; i < G_N_ELEMENTS (separators); i++)
    for (gsize k = n; k > 0; k--)
      if (text[k - 1] && strchr (separators[i], text[k - 1]))
        return text + k;
  return NULL;
}

/* The rest of the last window's last word begins the next window. */
static gboolean
fill_buffer (SurfaceWords *words, GError **error)
{
  const gsize kept =
      words->buffer ? (gsize) (words->buffer + words->n_buffer - words->end)
                    : 0;
  const gsize n = MIN (words->source->size - words->next, WINDOW - kept);

  if (!words->buffer)
    words->buffer = g_malloc (WINDOW);
  else
    memmove (words->buffer, words->end, kept);
  if (!surface_source_read (
          words->source, words->next, n, words->buffer + kept, error))
    return FALSE;
  words->next += n;
  words->n_buffer = kept + n;
  words->at = words->buffer;
  words->end = words->next < words->source->size
                   ? find_end (words->buffer, words->n_buffer)
                   : words->buffer + words->n_buffer;
  if (words->end)
    return TRUE;
  words->end = words->at;
  return surface_error (error,
      "has a word of more than %d bytes at byte %" G_GUINT64_FORMAT, WINDOW,
      words->next - words->n_buffer);
}

gboolean
surface_words_more (SurfaceWords *words, GError **error)
{
  const SurfaceSource *source = words->source;

  if (!source->data)
    return words->next < source->size && fill_buffer (words, error);
  words->at = (const gchar *) source->data + words->next;
  words->end = (const gchar *) source->data + source->size;
  words->next = source->size;
  return words->at < words->end;
}
