/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/meltpool/train/frames.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "cuda/camera/recording.h"
#include "cuda/core/cancel.h"

#define BATCH 64

struct _PbfAnalyser {
  PbfConfig config;
  PbfTrack *track;
  PbfEngine *engine;
  PbfResultFunc func;
  gpointer data;
  guint8 *pixels; /* [BATCH][height][width] */
  const guint8 *frames[BATCH];
  guint strides[BATCH];
  PbfFrameInfo infos[BATCH];
  CvisPbfResult *results;
  guint n;
  guint64 index;
};

PbfAnalyser *
pbf_analyser_new (guint width, guint height, guint threshold, guint window,
    guint threads, const gchar *calibration, PbfResultFunc func, gpointer data,
    GError **error)
{
  PbfTrackConfig track = { .source = PBF_POSITION_SOURCE_SIGNALS };
  PbfAnalyser *self;

  if (!pbf_calibration_parse (
          calibration != NULL ? calibration : PBF_CALIBRATION_DEFAULT,
          &track.calibration, error))
    return NULL;
  self = g_new0 (PbfAnalyser, 1);
  pbf_config_init (&self->config);
  self->config.width = width;
  self->config.height = height;
  self->config.threshold = threshold;
  self->config.window = window;
  self->config.threads = threads;
  self->config.max_batch = BATCH;
  self->config.depth = 2;
  self->func = func;
  self->data = data;
  self->engine = pbf_engine_new (&self->config, NULL, NULL, error);
  if (self->engine == NULL) {
    g_free (self);
    return NULL;
  }
  self->track = pbf_track_new (&track);
  self->pixels = g_malloc ((gsize) BATCH * width * height);
  self->results = g_new (CvisPbfResult, BATCH);
  for (guint i = 0; i < BATCH; i++) {
    self->frames[i] = self->pixels + (gsize) i * width * height;
    self->strides[i] = width;
  }
  return self;
}

void
pbf_analyser_free (PbfAnalyser *self)
{
  if (self == NULL)
    return;
  pbf_engine_free (self->engine);
  pbf_track_free (self->track);
  g_free (self->pixels);
  g_free (self->results);
  g_free (self);
}

gboolean
pbf_analyser_flush (PbfAnalyser *self, GError **error)
{
  PbfBatch batch = { .n = self->n,
    .frames = self->frames,
    .strides = self->strides,
    .infos = self->infos,
    .results = self->results },
           *done;

  self->n = 0;
  if (batch.n == 0)
    return TRUE;
  if (!pbf_engine_submit (self->engine, &batch, error)
      || !pbf_engine_wait (self->engine, &done, error))
    return FALSE;
  for (guint i = 0; i < batch.n; i++)
    if (!self->func (&self->results[i], self->data, error))
      return FALSE;
  return TRUE;
}

gboolean
pbf_analyser_push (PbfAnalyser *self, const guint8 *pixels, gsize stride,
    const CvisPbfSignal *signal, guint64 t_ns, GError **error)
{
  guint8 *to = (guint8 *) self->frames[self->n];
  PbfFrameInfo *info = &self->infos[self->n];

  for (guint y = 0; y < self->config.height; y++)
    memcpy (to + (gsize) y * self->config.width, pixels + y * stride,
        self->config.width);
  pbf_track_frame (self->track, signal, t_ns, 0, 0, info);
  info->frame_index = self->index++;
  self->n++;
  return self->n < BATCH || pbf_analyser_flush (self, error);
}

gboolean
pbf_analyser_end (PbfAnalyser *self, GError **error)
{
  const gboolean ok = pbf_analyser_flush (self, error);

  pbf_engine_reset (self->engine);
  pbf_track_reset (self->track);
  self->index = 0;
  return ok;
}

/* --- recordings ------------------------------------------------------------ */

typedef struct {
  guint threshold, window, threads;
  const gchar *calibration;
  PbfResultFunc func;
  gpointer data;
  PbfAnalyser *analyser;
} Replay;

static gboolean
replay_head (Replay *self, const PbfRecordingHead *head, GError **error)
{
  if (self->analyser != NULL
      && (head->width != self->analyser->config.width
          || head->height != self->analyser->config.height))
    return cvis_refuse (error,
        "the frames change their size from %ux%u to %ux%u; record each size in "
        "a "
        "file of its own",
        self->analyser->config.width, self->analyser->config.height,
        head->width, head->height);
  if (self->analyser == NULL)
    self->analyser = pbf_analyser_new (head->width, head->height,
        self->threshold, self->window, self->threads, self->calibration,
        self->func, self->data, error);
  return self->analyser != NULL;
}

static gboolean
replay_frame (Replay *self, const PbfPacket *packet, GError **error)
{
  CvisPbfSignal signal;

  if (packet->signal != NULL)
    pbf_packet_read_signal (packet->signal, &signal);
  return pbf_analyser_push (self->analyser, packet->pixels, packet->width,
      packet->signal != NULL ? &signal : NULL, packet->t_ns, error);
}

static gboolean
replay_pieces (Replay *self, PbfRecording *recording, GError **error)
{
  PbfRecordingHead head;
  PbfPacket packet;

  for (;;) {
    GError *fault = NULL;
    gboolean ok = TRUE;

    switch (pbf_recording_next (recording, &head, &packet, &fault)) {
      case PBF_PIECE_HEAD:
        ok = replay_head (self, &head, error);
        break;
      case PBF_PIECE_FRAME:
        ok = replay_frame (self, &packet, error);
        break;
      case PBF_PIECE_DAMAGE:
        g_clear_error (&fault);
        break;
      case PBF_PIECE_ERROR:
        g_propagate_error (error, fault);
        return FALSE;
      default:
        return pbf_analyser_end (self->analyser, error);
    }
    if (ok && cvis_cancelled ())
      return cvis_refuse_cancelled (error);
    if (!ok)
      return FALSE;
  }
}

gboolean
pbf_analyse_recording (const gchar *filename, guint threshold, guint window,
    guint threads, const gchar *calibration, PbfResultFunc func, gpointer data,
    GError **error)
{
  Replay self = { threshold, window, threads, calibration, func, data };
  const gint fd = g_open (filename, O_RDONLY | O_CLOEXEC, 0);
  PbfRecording *recording = NULL;
  gboolean ok = FALSE;

  if (fd < 0)
    cvis_refuse (error, "%s", g_strerror (errno));
  else
    recording = pbf_recording_new (fd, error);
  if (recording != NULL)
    ok = replay_pieces (&self, recording, error);
  if (!ok)
    g_prefix_error (error, "%s: ", filename);
  pbf_analyser_free (self.analyser);
  if (recording != NULL)
    pbf_recording_free (recording);
  if (fd >= 0)
    close (fd);
  return ok;
}
