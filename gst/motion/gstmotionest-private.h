/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Private parts of cudamotionest, for its files:
 * gstcudamotionest.c    the element: properties, states, pads
 * gstmotionnegotiate.c  caps, the engine for them, queries
 * gstmotioninput.c      the upstream thread: frames and events into the engine
 * gstmotionoutput.c     the thread of the source pad: results out of it
 * gstmotionsides.c      the request pads */
#pragma once

#include <gst/base/gstqueuearray.h>
#include <gst/video/video.h>

#include "gst/common/filter/gstcvisfilter.h"
#include "gst/common/filter/gstcvisvideo.h"
#include "gstcudamotionest.h"
#include "gstmotionframe.h"
#include "gstmotionsettings.h"
#include "gstmotionstats.h"
#include "cuda/motion/regions.h"
#include "cuda/motion/summary.h"
#include "cuda/motion/transition.h"

G_BEGIN_DECLS

typedef enum {
  GST_MOTION_SIDE_VECTORS,
  GST_MOTION_SIDE_PREDICTION,
  GST_MOTION_SIDE_RESIDUAL,
} GstMotionSideKind;
#define GST_MOTION_SIDES 3

/* An entry that waits until the frames before it have left: one of the two is set. */
typedef struct {
  GstMotionFrame *frame; /* the engine's */
  GstMiniObject *object; /* an event, or a frame that is not searched */
} GstMotionHeld;

/* Frames whose timestamps are stored: more than can be in flight, with their
 * references. */
#define GST_MOTION_TIMES 4096

struct _GstCudaMotionEst {
  GstCvisFilter filter;

  /* --- under the object lock --- */
  GstMotionSettings settings;

  /* --- set in READY to PAUSED, before any thread runs --- */
  MotionConfig wanted; /* without size and depth */
  guint interval, search_size;

  /* --- set by the upstream thread while the task is idle --- */
  MotionConfig config; /* of the engine */
  MotionEngine *engine;
  MotionRegionFinder *regions;
  GstVideoInfo layout;  /* of the frames */
  GstVideoInfo picture; /* of prediction and residual */
  gboolean decided;     /* the backend for system memory was chosen */
  gboolean on_device;   /* frames are memory:CUDAMemory */
  CvisContext *frames;  /* their context; %NULL before the first */
  GstBufferPool *packets;
  GstBufferPool *pictures[GST_MOTION_SIDES]; /* NULL: not used yet */

  /* --- of the upstream thread --- */
  GstSegment in_segment;
  guint64 serial; /* of the next frame, since the engine was made */
  guint skip;     /* frames until the next one that is searched */
  /* timestamps, by serial; written before the frame is submitted */
  GstClockTime times[GST_MOTION_TIMES];

  /* --- of the source pad's thread --- */
  GstQueueArray *held; /* of GstMotionHeld, in order */
  guint n_held;        /* frames among them */
  MotionSceneDetector detector;
  MotionTransitionDetector *transitions;
  guint key_units;
  gboolean warned_of_regions, warned_of_delta_qp;

  /* --- under the filter's stats lock --- */
  GstMotionStats stats;
};

GST_DEBUG_CATEGORY_EXTERN (gst_cuda_motion_est_debug);

/* --- gstmotionnegotiate.c -------------------------------------------------- */

extern const GstCvisVideoKind gst_motion_est_kind;

/* See GstCvisFilterClass. If frames of @caps cannot be compared with earlier ones,
 * those are pushed first. */
GstFlowReturn gst_motion_negotiate (GstCvisFilter *filter, GstCaps *caps);
gboolean gst_motion_propose_allocation (GstCvisFilter *filter, GstQuery *query);
/* Makes an engine for the layout, in @context, while nothing is in flight. */
gboolean gst_motion_setup_engine (GstCudaMotionEst *self, CvisContext *context);
/* The same for frames on a device, in @context. */
gboolean gst_motion_setup_frames (GstCudaMotionEst *self, CvisContext *context);
/* Frees what gst_motion_setup_engine() made. */
void gst_motion_free_engine (GstCudaMotionEst *self);
/* The pool for prediction or residual, or %NULL without memory. */
GstBufferPool *gst_motion_get_picture_pool (
    GstCudaMotionEst *self, GstMotionSideKind kind);

/* --- gstmotioninput.c ------------------------------------------------------ */

/* See GstCvisFilterClass. */
GstFlowReturn gst_motion_input_prepare (
    GstCvisFilter *filter, GstBuffer *buffer);
GstFlowReturn gst_motion_input_begin (
    GstCvisFilter *filter, gpointer item, GstBuffer *buffer, GError **error);
GstFlowReturn gst_motion_input_event (GstCvisFilter *filter, GstEvent *event);
GstFlowReturn gst_motion_input_finish (GstCvisFilter *filter);

/* --- gstmotionoutput.c ----------------------------------------------------- */

/* See GstCvisFilterClass. */
GstFlowReturn gst_motion_output_complete (GstCvisFilter *filter, gpointer item);
GstFlowReturn gst_motion_output_pass (
    GstCvisFilter *filter, GstMiniObject *frame);
GstFlowReturn gst_motion_output_mark (GstCvisFilter *filter);
GstFlowReturn gst_motion_output_event (GstCvisFilter *filter, GstEvent *event);
void gst_motion_output_drain (GstCvisFilter *filter);
void gst_motion_output_flush (GstCvisFilter *filter);

/* --- gstmotionsides.c ------------------------------------------------------ */

/* The request pads, of GstMotionSideKind. */
void gst_motion_sides_install (GstCvisFilterClass *klass);

G_END_DECLS
