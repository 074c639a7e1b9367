/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The melt-pool kernels against the plain C reference implementation, to the
 * bit: frames of every kind, settings at random, all ways for a batch to
 * reach the device, several batches in flight. */
#include <string.h>

#include "harness.h"
#include "pbfstream.h"

#define DEPTH 3

/* Memory of the frames. */
typedef enum {
  PAGEABLE,  /* staged by the engine */
  PINNED,    /* copied from their memory */
  MAPPED,    /* read by the kernels in place */
  ON_DEVICE, /* already on the device */
  N_PLACES,
} Place;

static const gchar *const place_names[] = { "pageable", "pinned", "mapped",
  "device" };

/* The stream's frames in other memory. */
typedef struct {
  const guint8 **frames;
  guint *strides;
  CvisPbfResult *results; /* pinned */
} Placed;

/* Frames on the device and mapped frames are word-aligned with strides of
 * whole words; others have any alignment. */
static Placed
place_frames (
    Harness *h, const PbfStream *stream, const PbfConfig *config, Place place)
{
  guint stride =
      place == PAGEABLE || place == PINNED
          ? stream->strides[0]
          : (config->width + 3 + 4 * (guint) harness_range (h, 0, 3)) & ~3u;
  /* sometimes a gap between frames, sometimes a large one */
  gsize gap = place == PINNED ? (gsize) harness_range (h, 0, 2) * 60 : 0;
  gsize size = ((gsize) stride * config->height + gap + 3) & ~(gsize) 3;
  guint8 *pixels = harness_pinned (h, size * stream->n);
  Placed placed = { harness_host (h, stream->n * sizeof (guint8 *)),
    harness_host (h, stream->n * sizeof (guint)),
    harness_pinned (h, (stream->n + 1) * sizeof (CvisPbfResult)) };
  const guint8 *base = pixels;

  for (guint i = 0; i < stream->n; i++)
    for (guint y = 0; y < config->height; y++)
      memcpy (pixels + i * size + (gsize) y * stride,
          stream->frames[i] + (gsize) y * stream->strides[i], config->width);
  if (place == ON_DEVICE)
    base = harness_upload (h, pixels, size * stream->n);
  for (guint i = 0; i < stream->n; i++) {
    placed.frames[i] = place == PAGEABLE ? stream->frames[i] : base + i * size;
    placed.strides[i] = stride;
  }
  return placed;
}

static void
run_stream (Harness *h, PbfStream *stream, const PbfConfig *config,
    PbfModel *model, guint batch_size, Place place)
{
  PbfConfig c = *config;
  Placed placed = place_frames (h, stream, config, place);
  PbfBatch batches[DEPTH], *done;
  PbfEngine *engine;
  GError *error = NULL;
  guint submitted = 0, slot = 0;
  gboolean results_pinned = harness_range (h, 0, 1), ok = TRUE;

  c.depth = DEPTH;
  c.max_batch = batch_size;
  c.mode = harness_range (h, 0, 1) ? PBF_MODE_GRAPH : PBF_MODE_BATCH;
  c.transfer = place == MAPPED ? PBF_TRANSFER_MAP : PBF_TRANSFER_COPY;
  engine = pbf_engine_new (&c, model, harness_context (h), &error);
  if (engine == NULL) {
    harness_fail (h, "%s", error->message);
    g_clear_error (&error);
    return;
  }
  for (guint waited = 0; waited < stream->n && ok;) {
    if (submitted < stream->n && slot < DEPTH) {
      PbfBatch *batch = &batches[submitted / batch_size % DEPTH];

      pbf_stream_batch (stream, submitted, batch_size, batch);
      batch->frames = placed.frames + submitted;
      batch->strides = placed.strides + submitted;
      batch->pinned = place == PINNED || place == MAPPED;
      batch->on_device = place == ON_DEVICE;
      batch->results_pinned = results_pinned;
      if (results_pinned)
        batch->results = placed.results + submitted;
      ok = pbf_engine_submit (engine, batch, &error);
      submitted += batch->n;
      slot++;
    } else {
      ok = pbf_engine_wait (engine, &done, &error);
      if (done != NULL)
        waited += done->n;
      slot--;
    }
  }
  pbf_engine_free (engine);
  if (!ok) {
    harness_fail (h, "%s", error->message);
    g_clear_error (&error);
    return;
  }
  harness_equal (h, "records", HARNESS_U8, stream->expected,
      results_pinned ? placed.results : stream->results,
      stream->n * sizeof (CvisPbfResult));
}

static void
check_engine (Harness *h)
{
  static const guint batch_sizes[] = { 1, 2, 7, 31, 32, 1000 };

  for (guint round = 0; round < 24; round++) {
    PbfRandom random = { harness_random (h) };
    guint n = round < 4 ? 1500 : 300;
    PbfConfig config;
    PbfModel *model = round % 3 == 2 ? NULL
                                     : pbf_random_model (&random,
                                         1 + pbf_random_below (&random, 512),
                                         1 + pbf_random_below (&random, 8));
    PbfStream *stream;

    pbf_random_config (&random, round, &config);
    stream = pbf_stream_new (&random, &config, model, n);
    for (guint k = 0; k < G_N_ELEMENTS (batch_sizes); k++) {
      Place place = (Place) ((round + k) % N_PLACES);

      harness_case (h,
          "round %u: %ux%u, threshold %u, %u-connected, window %u, "
          "labelling %d, scope %d, batches of %u, %s",
          round, config.width, config.height, config.threshold,
          config.connectivity, config.window, config.labelling,
          config.spatter_scope, batch_sizes[k], place_names[place]);
      run_stream (h, stream, &config, model, batch_sizes[k], place);
    }
    pbf_stream_free (stream);
    if (model)
      pbf_model_unref (model);
  }
}

/* Regions of all sizes, with positions from the brightest spot; few frames,
 * for compute-sanitizer too. */
static void
check_roi_sizes (Harness *h)
{
  static const guint sizes[] = { 32, 40, 48, 64, 96, 128 };

  for (guint k = 0; k < 2 * G_N_ELEMENTS (sizes); k++) {
    PbfRandom random = { harness_random (h) };
    PbfConfig config;
    PbfStream *stream;

    pbf_random_config (&random, 4 + k, &config);
    config.roi_size = sizes[k / 2];
    config.width = config.roi_size + pbf_random_below (&random, 60);
    config.height = config.roi_size + pbf_random_below (&random, 60);
    config.spatter_scope = k % 2;
    stream = pbf_stream_new (&random, &config, NULL, 60);
    for (guint place = 0; place < N_PLACES; place++) {
      harness_case (h,
          "ROI of %u, %ux%u, threshold %u, %u-connected, scope %d, %s",
          config.roi_size, config.width, config.height, config.threshold,
          config.connectivity, config.spatter_scope, place_names[place]);
      run_stream (h, stream, &config, NULL, 7 + 20 * place, (Place) place);
    }
    pbf_stream_free (stream);
  }
}

/* A reset starts a new stream; two engines share a context. */
static void
check_reset (Harness *h)
{
  PbfRandom random = { harness_random (h) };
  PbfConfig config;
  PbfStream *stream;
  PbfEngine *engines[2];
  PbfBatch batch, *done;
  GError *error = NULL;

  pbf_config_init (&config);
  harness_case (h, "two engines, three streams each");
  stream = pbf_stream_new (&random, &config, NULL, config.max_batch);
  for (guint e = 0; e < 2; e++)
    engines[e] = pbf_engine_new (&config, NULL, harness_context (h), &error);
  for (guint pass = 0; pass < 6 && error == NULL; pass++) {
    pbf_stream_batch (stream, 0, config.max_batch, &batch);
    pbf_stream_poison (stream);
    if (pbf_engine_submit (engines[pass % 2], &batch, &error)
        && pbf_engine_wait (engines[pass % 2], &done, &error))
      harness_equal (h, "records", HARNESS_U8, stream->expected,
          stream->results, stream->n * sizeof (CvisPbfResult));
    pbf_engine_reset (engines[pass % 2]);
  }
  if (error != NULL)
    harness_fail (h, "%s", error->message);
  g_clear_error (&error);
  for (guint e = 0; e < 2; e++)
    pbf_engine_free (engines[e]);
  pbf_stream_free (stream);
}

int
main (int argc, char **argv)
{
  static const HarnessTest tests[] = {
    { "pbfengine", check_engine, NULL },
    { "pbfengine-roi", check_roi_sizes, NULL },
    { "pbfengine-reset", check_reset, NULL },
    { NULL, NULL, NULL },
  };

  return harness_main (argc, argv, tests);
}
