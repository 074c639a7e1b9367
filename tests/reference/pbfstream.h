/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A stream of random frames with the reference implementation's results, to
 * compare a backend with. */
#pragma once

#include "pbfframes.h"

typedef struct {
  guint n;
  guint8 *pixels;
  const guint8 **frames;
  guint *strides;
  PbfFrameInfo *infos;
  CvisPbfResult *expected; /* the reference implementation's */
  CvisPbfResult *results;  /* n, and a guard record that must not be written */
} PbfStream;

/* Random settings; in the first four rounds the defaults except for
 * labelling and window reset. */
void pbf_random_config (PbfRandom *random, guint round, PbfConfig *config);

PbfStream *pbf_stream_new (
    PbfRandom *random, const PbfConfig *config, PbfModel *model, guint n);
void pbf_stream_free (PbfStream *stream);

/* Fills the results with a pattern. */
void pbf_stream_poison (PbfStream *stream);
/* The batch of @n frames (fewer at the end) from @first. */
void pbf_stream_batch (
    PbfStream *stream, guint first, guint n, PbfBatch *batch);
/* Aborts, naming frame and field, unless the first @n results equal the
 * reference implementation's to the bit and the guard record is untouched. */
void pbf_stream_compare (const PbfStream *stream, guint n);
