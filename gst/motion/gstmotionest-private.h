/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The insides of cudamotionest, for its files:
 * gstcudamotionest.c    the element: properties, states, pads
 * gstmotionnegotiate.c  caps, the engine for them, queries
 * gstmotioninput.c      the upstream thread: frames and events into the engine
 * gstmotionoutput.c     the thread of the source pad: results out of it
 * gstmotionsides.c      the request pads */
#pragma once

#include <gst/base/gstqueuearray.h>
#include <gst/video/video.h>

#include "gst/common/gstcvbackend.h"
#include "gst/common/gstcvcuda.h"
#include "gst/common/gstcvlatency.h"
#include "gst/common/gstcvqueue.h"
#include "gst/common/gstcvsides.h"
#include "gst/common/gstcvworker.h"
#include "gstcudamotionest.h"
#include "gstmotionframe.h"
#include "gstmotionsettings.h"
#include "gstmotionstats.h"
#include "motionregions.h"
#include "motionsummary.h"

G_BEGIN_DECLS

#define GST_MOTION_EST_MAX_SIDE 16384

/* no grey on a device: libgstcuda knows none */
#define GST_MOTION_EST_FORMATS                                                 \
  "{ GRAY8, I420, NV12, Y42B, Y444, P010_10LE, I420_10LE }"
#define GST_MOTION_EST_CUDA_FORMATS                                            \
  "{ I420, NV12, Y42B, Y444, P010_10LE, I420_10LE }"

typedef enum {
  GST_MOTION_SIDE_VECTORS,
  GST_MOTION_SIDE_PREDICTION,
  GST_MOTION_SIDE_RESIDUAL,
} GstMotionSideKind;
#define GST_MOTION_SIDES 3

/* What waits to be pushed: one of the two is set. */
typedef struct {
  GstMotionFrame *frame; /* the engine's */
  GstEvent *event;
} GstMotionHeld;

/* Frames whose times are remembered: more than can be in flight, with the
 * references before and after them. */
#define GST_MOTION_TIMES 32

struct _GstCudaMotionEst {
  GstElement parent;

  GstPad *sinkpad, *srcpad;

  /* --- under the object lock --- */
  GstMotionSettings settings;
  GstCvBackend backend;

  GstCvLatency latency;
  GstCvSides *sides;
  GstCvQueue *queue;
  GstCvWorker *worker;
  GstCvCuda *cuda;

  /* --- set in READY to PAUSED, before any thread runs --- */
  MotionConfig wanted; /* without size and depth */

  /* --- by the upstream thread, while the other is idle --- */
  MotionConfig config; /* of the engine */
  MotionEngine *engine;
  CvisContext *context; /* NULL: on the CPU, or not decided yet */
  MotionRegionFinder *regions;
  GstVideoInfo layout;  /* of the frames */
  GstVideoInfo picture; /* of prediction and residual */
  gboolean negotiated;  /* the layout is that of the caps */
  gboolean decided;     /* on the backend for system memory */
  gboolean on_device;   /* frames are memory:CUDAMemory */
  GstBufferPool *packets;
  GstBufferPool *pictures[GST_MOTION_SIDES]; /* NULL: not asked for yet */
  GstCaps *refused; /* with an error, which is not posted again for them */

  /* --- of the upstream thread --- */
  gboolean streaming; /* a stream has begun: the next one starts anew */
  GstSegment in_segment;
  guint64 number; /* of the next frame, in the stream */
  guint64 serial; /* of the next frame, since the engine was made */
  /* of frames, by serial; written before the frame is submitted */
  GstClockTime times[GST_MOTION_TIMES];

  /* --- of the source pad's thread --- */
  GstQueueArray *held; /* of GstMotionHeld, in order */
  guint n_held;        /* frames among them */
  GstSegment segment;
  MotionSceneDetector detector;
  guint key_units;

  GMutex stats_lock;
  GstMotionStats stats;
};

GST_DEBUG_CATEGORY_EXTERN (gst_cuda_motion_est_debug);

/* --- gstmotionnegotiate.c -------------------------------------------------- */

/* Adopts @caps; where frames of theirs cannot be compared with those before,
 * these leave first. Returns: FALSE after posting an error, or when flushing. */
gboolean gst_motion_negotiate (GstCudaMotionEst *self, GstCaps *caps);
/* A new engine for the layout, in @context. Nothing is in flight. */
gboolean gst_motion_setup_engine (GstCudaMotionEst *self, CvisContext *context);
/* Frees what gst_motion_setup_engine() made. */
void gst_motion_free_engine (GstCudaMotionEst *self);
/* The pool for prediction or residual, or %NULL without memory. */
GstBufferPool *gst_motion_get_picture_pool (
    GstCudaMotionEst *self, GstMotionSideKind kind);

gboolean gst_motion_sink_query (
    GstPad *pad, GstObject *parent, GstQuery *query);
gboolean gst_motion_src_query (GstPad *pad, GstObject *parent, GstQuery *query);

/* --- gstmotioninput.c ------------------------------------------------------ */

GstFlowReturn gst_motion_input_chain (
    GstPad *pad, GstObject *parent, GstBuffer *buffer);
/* See GstCvWorkerFuncs. */
gboolean gst_motion_input_event (GstElement *element, GstEvent *event);
void gst_motion_input_flush (GstElement *element);
/* Ends the sequence of frames that are compared, and waits until all of them
 * have left. */
GstFlowReturn gst_motion_input_end (GstCudaMotionEst *self);

/* --- gstmotionoutput.c ----------------------------------------------------- */

/* See GstCvWorkerFuncs. */
GstFlowReturn gst_motion_output_complete (GstElement *element, gpointer item);
GstFlowReturn gst_motion_output_mark (GstElement *element);
void gst_motion_output_event (GstElement *element, GstEvent *event);
/* Drops all that is in flight or waits to be pushed. No thread may run. */
void gst_motion_output_discard (GstCudaMotionEst *self);
/* Posts the engine's @error and takes it. */
void gst_motion_engine_failed (GstCudaMotionEst *self, GError *error);

/* --- gstmotionsides.c ------------------------------------------------------ */

void gst_motion_sides_add_templates (GstElementClass *klass);
GstPad *gst_motion_sides_request (
    GstCudaMotionEst *self, GstPadTemplate *template);
/* See GstCvSidesCaps. */
GstCaps *gst_motion_side_get_caps (
    GstElement *element, guint kind, GstPad *pad);

G_END_DECLS
