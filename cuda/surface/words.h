/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A text file of any length, window by window: memory for one. */
#pragma once

#include "cuda/surface/bytes.h"

G_BEGIN_DECLS

/**
 * SurfaceWords:
 * @at, @end: what is left of the window. It ends where a word ends: behind a line,
 *   else a blank or ';', else a ','; or with the text
 */
typedef struct {
  const gchar *at, *end;

  /* private */
  const SurfaceSource *source;
  gchar *buffer;  /* (nullable): of a file */
  gsize n_buffer; /* bytes in it */
  guint64 next;   /* byte of the text behind the window, or the buffer */
} SurfaceWords;

/* From byte @first of @source on; the window is empty. */
void surface_words_init (
    SurfaceWords *words, const SurfaceSource *source, guint64 first);
void surface_words_clear (SurfaceWords *words);
/* The next window, when the last one is used up.
 * Returns: FALSE at the end of the text, and with @error */
gboolean surface_words_more (SurfaceWords *words, GError **error);
/* The byte of the text that is at words->at */
guint64 surface_words_tell (const SurfaceWords *words);

G_END_DECLS
