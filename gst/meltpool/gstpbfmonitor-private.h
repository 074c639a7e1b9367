/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The insides of cudapbfmonitor, for its three files:
 * gstcudapbfmonitor.c  the element: properties, states, pads, negotiation
 * gstpbfinput.c        the upstream thread: frames into batches
 * gstpbfoutput.c       the thread of the source pad: results out of batches */
#pragma once

#include <gst/base/gstqueuearray.h>
#include <gst/video/video.h>

#include "gst/common/gstcvbackend.h"
#include "gst/common/gstcvqueue.h"
#include "gst/common/gstcvsides.h"
#include "gst/common/gstcvworker.h"
#include "gstcudapbfmonitor.h"
#include "gstpbfbatch.h"
#include "gstpbfsettings.h"
#include "gstpbfstats.h"

G_BEGIN_DECLS

#define GST_PBF_MONITOR_MIN_SIDE PBF_ROI_SIDE
#define GST_PBF_MONITOR_MAX_SIDE 16384

struct _GstCudaPbfMonitor {
  GstElement parent;

  GstPad *sinkpad, *srcpad;

  /* --- under the object lock --- */
  GstPbfSettings settings;
  GstCvBackend backend;
  GstClockTime frame_duration; /* 0: unknown */
  guint batch_size;            /* 0 before the caps */
  GstClockTime processing;     /* reported for a batch in the engine */

  /* --- set in READY to PAUSED, before any thread runs --- */
  GstPbfSettings active;
  CvisContext *context; /* NULL: on the CPU */
  PbfModel *model;      /* NULL: none */
  PbfTrack *track;      /* of the upstream thread, like the fields below */
  GstCvQueue *queue;
  GstCvWorker *worker;
  GstCvSides *sides; /* the result pad, the only one */

  /* --- by the upstream thread, while the other is idle --- */
  GstVideoInfo layout;
  PbfEngine *engine; /* NULL before the caps */
  GstBufferPool *records_pool;
  gboolean streaming; /* a stream has begun: the next one starts anew */
  GstCaps *refused;   /* with an error, which is not posted again for them */

  /* --- under the fill lock --- */
  GMutex fill_lock;
  GstPbfBatch *filling; /* NULL: none is taken */
  gboolean gap;         /* the next frame comes after a gap */
  guint gap_frames;     /* frames that the gap stands for */
  gboolean first;       /* the next frame is the first after a start or flush */

  /* --- of the source pad's thread --- */
  GstQueueArray
      *pending;        /* of GstPbfItem: not all of their results are there */
  GstBufferList *held; /* records that wait for the frames they belong to */
  GstFlowReturn src_flow, result_flow;
  gboolean records_left; /* a push of records has come back */
  GstSegment segment;

  GMutex stats_lock;
  GstPbfStats stats;
};

GST_DEBUG_CATEGORY_EXTERN (gst_cuda_pbf_monitor_debug);

/* --- gstpbfinput.c --------------------------------------------------------- */

GstFlowReturn gst_pbf_input_chain (
    GstPad *pad, GstObject *parent, GstBuffer *buffer);
GstFlowReturn gst_pbf_input_chain_list (
    GstPad *pad, GstObject *parent, GstBufferList *list);

/* Submits what has been collected, although the batch is not full. */
GstFlowReturn gst_pbf_input_flush_partial (GstCudaPbfMonitor *self);
/* See GstCvWorkerFuncs.deadline: the same if it is due by its time. */
GstFlowReturn gst_pbf_input_flush_due (GstElement *element);
/* And waits until everything has left downstream. */
GstFlowReturn gst_pbf_input_drain (GstCudaPbfMonitor *self);
/* Notes a GAP event. */
void gst_pbf_input_note_gap (GstCudaPbfMonitor *self, GstEvent *event);

/* --- gstpbfoutput.c -------------------------------------------------------- */

/* See GstCvSidesCaps: of the result pad. */
GstCaps *gst_pbf_output_get_result_caps (
    GstElement *element, guint kind, GstPad *pad);
/* See GstCvWorkerFuncs. */
GstFlowReturn gst_pbf_output_complete (GstElement *element, gpointer item);
void gst_pbf_output_event (GstElement *element, GstEvent *event);
/* Drops all that is collected, in flight or waiting to be pushed. No thread may
 * be running. */
void gst_pbf_output_discard (GstCudaPbfMonitor *self);

/* Posts the engine's @error and takes it. */
void gst_pbf_monitor_engine_failed (GstCudaPbfMonitor *self, GError *error);

G_END_DECLS
