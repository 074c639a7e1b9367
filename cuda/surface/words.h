/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Reads a text file of any length window by window, with memory for one
 * window. */
#pragma once

#include "cuda/surface/bytes.h"

G_BEGIN_DECLS

/**
 * SurfaceWords:
 * @at, @end: the rest of the window. It ends after a complete word: after a
 *   line, otherwise after a blank or ';', otherwise after ','; or with the
 *   text
 */
typedef struct {
  const gchar *at, *end;

  /* private */
  const SurfaceSource *source;
  gchar *buffer;  /* (nullable): of a file */
  gsize n_buffer; /* bytes in the buffer */
  guint64 next;   /* byte position after the window, or after the buffer */
} SurfaceWords;

/* Starts at byte @first of @source with an empty window. */
void surface_words_init (
    SurfaceWords *words, const SurfaceSource *source, guint64 first);
void surface_words_clear (SurfaceWords *words);
/* Loads the next window after the last one is used up. Returns: FALSE at the
 * end of the text, and with @error */
gboolean surface_words_more (SurfaceWords *words, GError **error);
/* Byte position in the text of words->at */
guint64 surface_words_tell (const SurfaceWords *words);

G_END_DECLS
