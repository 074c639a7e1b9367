/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Private parts of cudapbfmonitor, for its files:
 * gstcudapbfmonitor.c  the element: properties, states, pads, negotiation
 * gstpbfinput.c        the upstream thread: frames into batches
 * gstpbfoutput.c       the source pad's task: results out of batches
 * gstpbflearn.c        the machine's baseline: collected by the task, loaded by the
 *                      upstream thread */
#pragma once

#include <gst/base/gstqueuearray.h>
#include <gst/video/video.h>

#include "gst/common/filter/gstcvisfilter.h"
#include "gstcudapbfmonitor.h"
#include "gstpbfbatch.h"
#include "gst/camera/gstpbfresultlink.h"
#include "gstpbfnames.h"
#include "gstpbfsettings.h"
#include "gstpbfstats.h"

G_BEGIN_DECLS

#define GST_PBF_MONITOR_MIN_SIDE CVIS_PBF_ROI_SIDE
#define GST_PBF_MONITOR_MAX_SIDE 16384

/* the request pad "src_result", the only one */
#define GST_PBF_RESULT_PAD 0

struct _GstCudaPbfMonitor {
  GstCvisFilter filter;

  /* --- under the object lock --- */
  GstPbfSettings settings;
  GstClockTime frame_duration; /* 0: unknown */
  guint batch_size;            /* 0 before the caps */
  GstClockTime processing;     /* reported for a batch in the engine */

  /* --- set in READY to PAUSED, before any thread runs --- */
  GstPbfSettings active;
  PbfModel *model;       /* NULL: none */
  PbfBaseline *baseline; /* of the source pad's thread, while one is learned */
  PbfModel *learned;     /* atomic: for the upstream thread to load */
  PbfVote *vote;         /* of the source pad's thread */
  GstPbfResultLink *result_link; /* NULL: none; of the source pad's thread */
  PbfTrack *track; /* of the upstream thread, like the fields below */

  /* --- set by the upstream thread while the task is idle --- */
  GstVideoInfo layout;
  PbfEngine *engine; /* NULL before the caps */
  GstPbfBatching batching;
  GstClockTime
      held_time; /* most stream time held at a variable rate; 0: no limit */
  GstClockTime held_from; /* PTS of the first frame since it held none */
  GstBufferPool *records_pool;
  GstPbfGrey grey;
  GstBufferPool *grey_pool; /* NULL: the frames have 8 bits */

  /* --- under the fill lock --- */
  GMutex fill_lock;
  GstPbfBatch *filling; /* the batch that collects frames; NULL: none */
  gboolean gap;         /* the next frame comes after a gap */
  guint gap_frames;     /* frames that the gap stands for */
  gboolean first;       /* the next frame is the first after a start or flush */

  /* --- of the source pad's thread --- */
  GstQueueArray
      *pending;        /* of GstPbfItem: those without all of their results */
  GstBufferList *held; /* records that wait for the frames they belong to */
  guint slow_pushes;   /* batches in a row that took longer than max-latency */
  gpointer
      affinity; /* of the thread before it was bound to poll-core; NULL: not bound */

  /* --- under the filter's stats lock --- */
  GstPbfStats stats;
  PbfMode mode; /* of the engine */
  gboolean warned_of_edge, warned_of_doubts;

  /* --- of the source pad's thread, for an engine --- */
  gboolean warned_of_stall;
};

GST_DEBUG_CATEGORY_EXTERN (gst_cuda_pbf_monitor_debug);

/* --- gstpbfinput.c --------------------------------------------------------- */

/* See GstCvisFilterClass. */
GstFlowReturn gst_pbf_input_submit (
    GstCvisFilter *filter, GstMiniObject *object);
GstFlowReturn gst_pbf_input_flush_due (GstCvisFilter *filter);
/* Submits the batch that collects frames, although it is not full. */
GstFlowReturn gst_pbf_input_flush_partial (GstCvisFilter *filter);
/* Notes a GAP event. */
void gst_pbf_input_note_gap (GstCudaPbfMonitor *self, GstEvent *event);
/* Adds an empty result meta to @buffer. */
GstCvisPbfMeta *gst_pbf_input_add_meta (GstBuffer *buffer);

/* --- gstpbfoutput.c -------------------------------------------------------- */

/* See GstCvisFilterClass. */
GstFlowReturn gst_pbf_output_get_result_caps (
    GstCvisFilter *filter, guint kind, GstPad *pad, GstCaps **caps);
GstFlowReturn gst_pbf_output_src_event (GstCvisFilter *filter, GstEvent *event);
GstFlowReturn gst_pbf_output_complete (GstCvisFilter *filter, gpointer item);
/* Adds the mode in use, and the event at which latencies end, to @stats; call with
 * the stats lock held. */
void gst_pbf_output_add_way (GstCudaPbfMonitor *self, GstStructure *stats);
void gst_pbf_output_drain (GstCvisFilter *filter);
/* Drops the frames that are collected or wait to be pushed, while no thread runs. */
void gst_pbf_output_discard (GstCudaPbfMonitor *self);

/* --- gstpbflearn.c --------------------------------------------------------- */

/* Begins to learn a baseline if the settings ask for one. Returns: FALSE after posting an
 * error */
gboolean gst_pbf_learn_start (GstCudaPbfMonitor *self);
void gst_pbf_learn_stop (GstCudaPbfMonitor *self);
/* Whether the baseline is not complete: the network is not used until then. */
gboolean gst_pbf_learn_is_open (GstCudaPbfMonitor *self);
/* For the source pad's task: adds @n records. Returns: whether the baseline is complete
 * with them: gst_pbf_learn_finish() follows once they have left. */
gboolean gst_pbf_learn_add (
    GstCudaPbfMonitor *self, const CvisPbfResult *results, guint n);
/* Stores the baseline. Returns: FALSE after posting an error */
gboolean gst_pbf_learn_finish (GstCudaPbfMonitor *self);
/* Posts an error if the stream ends before the baseline is complete. */
void gst_pbf_learn_end (GstCudaPbfMonitor *self);

/* --- gstcudapbfmonitor.c ---------------------------------------------------- */

/* For the upstream thread: loads the network with the baseline that was learned. */
GstFlowReturn gst_pbf_monitor_load_learned (GstCudaPbfMonitor *self);

G_END_DECLS
