/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "pbfstream.h"

#include <string.h>

#include "pbfreference.h"

#define POISON 0xa5

void
pbf_random_config (PbfRandom *random, guint round, PbfConfig *config)
{
  static const guint sides[] = { 40, 41, 43, 64, 96, 97, 128, 130, 211 };

  pbf_config_init (config);
  config->window_reset = round % 4;
  config->labelling = round % 3;
  if (round < 4)
    return;
  if (round % 2)
    config->roi_size = 32 + 8 * pbf_random_below (random, 13);
  config->width = sides[pbf_random_below (random, G_N_ELEMENTS (sides))];
  config->height = sides[pbf_random_below (random, G_N_ELEMENTS (sides))];
  config->width = MAX (config->width, config->roi_size);
  config->height = MAX (config->height, config->roi_size);
  config->threshold = 1 + pbf_random_below (random, 255);
  config->connectivity = pbf_random_below (random, 2) ? 8 : 4;
  config->search_radius = 10.0 * pbf_random_unit (random);
  config->roi_align = 1u << pbf_random_below (random, 6);
  config->spatter_scope = pbf_random_below (random, 2);
  config->min_spatter_area = 1 + pbf_random_below (random, 5);
  config->polar_outer = 57.0 * pbf_random_unit (random);
  config->polar_inner = config->polar_outer * pbf_random_unit (random);
  config->analyse_empty = pbf_random_below (random, 2);
  config->window = 1 + pbf_random_below (random, round % 2 ? 5 : 300);
  config->max_gap = pbf_random_below (random, 12);
  config->activation = pbf_random_below (random, 4);
  if (config->activation == PBF_ACTIVATION_AUTO)
    config->activation = PBF_ACTIVATION_SOFTMAX_UNKNOWN;
}

PbfStream *
pbf_stream_new (
    PbfRandom *random, const PbfConfig *config, PbfModel *model, guint n)
{
  PbfStream *stream = g_new0 (PbfStream, 1);
  guint stride = config->width + pbf_random_below (random, 3) * 5;
  gsize size = (gsize) stride * config->height;
  PbfReference *ref = pbf_reference_new (config, model);

  stream->n = n;
  stream->pixels = g_malloc (size * n);
  stream->frames = g_new (const guint8 *, n);
  stream->strides = g_new (guint, n);
  stream->infos = g_new (PbfFrameInfo, n);
  stream->expected = g_new (CvisPbfResult, n);
  stream->results = g_new (CvisPbfResult, n + 1);
  for (guint i = 0; i < n; i++) {
    guint8 *frame = stream->pixels + i * size;

    pbf_frame_fill (random, pbf_random_below (random, 4 * PBF_FRAME_KINDS),
        frame, config->width, config->height, stride);
    stream->frames[i] = frame;
    stream->strides[i] = stride;
    pbf_frame_info (
        random, i, config->width, config->height, &stream->infos[i]);
    pbf_reference_frame (
        ref, frame, stride, &stream->infos[i], &stream->expected[i]);
  }
  pbf_reference_free (ref);
  pbf_stream_poison (stream);
  return stream;
}

void
pbf_stream_free (PbfStream *stream)
{
  g_free (stream->pixels);
  g_free (stream->frames);
  g_free (stream->strides);
  g_free (stream->infos);
  g_free (stream->expected);
  g_free (stream->results);
  g_free (stream);
}

void
pbf_stream_poison (PbfStream *stream)
{
  memset (stream->results, POISON, (stream->n + 1) * sizeof (CvisPbfResult));
}

void
pbf_stream_batch (PbfStream *stream, guint first, guint n, PbfBatch *batch)
{
  memset (batch, 0, sizeof *batch);
  batch->n = MIN (n, stream->n - first);
  batch->frames = stream->frames + first;
  batch->strides = stream->strides + first;
  batch->infos = stream->infos + first;
  batch->results = stream->results + first;
}

void
pbf_stream_compare (const PbfStream *stream, guint n)
{
  const guint8 *guard = (const guint8 *) &stream->results[stream->n];

  for (guint i = 0; i < n; i++) {
    const guint32 *got = (const guint32 *) &stream->results[i];
    const guint32 *want = (const guint32 *) &stream->expected[i];

    if (memcmp (got, want, sizeof (CvisPbfResult)) == 0)
      continue;
    for (guint k = 0; k < sizeof (CvisPbfResult) / 4; k++)
      if (got[k] != want[k])
        g_printerr ("frame %u, byte %u of the record: 0x%08x, not 0x%08x\n", i,
            4 * k, got[k], want[k]);
    g_error ("frame %u of %u differs from the ref's", i, n);
  }
  for (guint k = 0; k < sizeof (CvisPbfResult); k++)
    if (guard[k] != POISON)
      g_error ("byte %u after the results was written", k);
}
