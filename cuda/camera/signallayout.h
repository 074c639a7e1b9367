/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Machine signals in a user-defined vector of 16 int32 words instead of the
 * 64-byte record (docs/design/signals.md). */
#pragma once

#include "cuda/records/machinesignal.h"

G_BEGIN_DECLS

#define PBF_LAYOUT_FIELDS 14

/**
 * PbfSignalLayout: filled by pbf_signal_layout_parse()
 * @word: of each field, 0..15; -1: not in the vector
 * @bit: of that word, 0..31, for flags; -1: set if the word is not 0
 * @big_endian: byte order of the words
 */
typedef struct {
  gint8 word[PBF_LAYOUT_FIELDS];
  gint8 bit[PBF_LAYOUT_FIELDS];
  gboolean big_endian;
} PbfSignalLayout;

/* Parses items FIELD=WORD or FLAG=WORD.BIT, and "big-endian", separated by
 * commas. Returns: FALSE with CVIS_ERROR_INVALID naming the wrong field */
gboolean pbf_signal_layout_parse (
    const gchar *text, PbfSignalLayout *layout, GError **error);

/* Converts a vector of 64 bytes to a sealed record.
 * @signal: (inout): in: frame_counter and t_ns for vectors without them,
 *   width, height; out: the record */
void pbf_signal_layout_read (const PbfSignalLayout *layout,
    const guint8 vector[64], CvisPbfSignal *signal);

G_END_DECLS
