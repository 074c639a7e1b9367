/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* GstCvFilter: abstract base class of the elements that compute. It has one sink
 * pad, one source pad and any number of request source pads, and everything that
 * such elements have in common: threads, queue, states, flushing, draining,
 * events, queries, latency, and the properties "backend", "active-backend",
 * "cuda-device-id" and "stats". A subclass says what a frame is, submits it to
 * its engine and pushes the result.
 *
 * A frame on its way is an item: a struct of the subclass with all that is needed
 * for it. Their number is fixed, so that the element waits for a spare one
 * (gst_cv_queue_take()) when so many are in flight.
 *
 *   upstream's thread            the source pad's task
 *   submit(): take an item,      complete(): wait for the engine, give the item
 *   submit it to the engine, ──► back, push the frame
 *   queue it                     src_event(): push the event
 *
 * Events wait in the same queue, so that they keep their place among the frames.
 *
 * Threads, and what each of them holds:
 * - upstream's has the stream lock of the sink pad. It may wait for the other:
 *   gst_cv_queue_take(), gst_cv_queue_wait_idle().
 * - the source pad's task has the stream lock of the source pad, and waits for
 *   upstream's thread only in gst_cv_queue_pop(). It may wait for room in the
 *   queue of a request pad, which that pad's own task makes.
 * - FLUSH_START comes from any thread, with no lock; FLUSH_STOP with the stream
 *   lock of the sink pad; RECONFIGURE from any thread, with any lock of
 *   downstream's; activation from the thread that changes states, with none.
 *
 * Rules:
 * 1. "The flow is OK and the task runs" is one step, under a lock of its own, and
 *    only while the source pad is active: who wants the task again, for
 *    RECONFIGURE or FLUSH_STOP, cannot start it on a pad that has been shut down
 *    in the meantime. Nothing waits under this lock; inside it only the queue's
 *    lock and the object lock of the source pad are taken.
 * 2. The task ends itself in this order: it pauses, and then the flow changes.
 *    Who finds the flow changed may start it again at once.
 * 3. Who stops the task changes the flow first, that of the request pads too,
 *    which ends every wait of both threads, and then waits for the task; never
 *    with an object lock. FLUSH_START leaves it at the flow: with no lock to keep
 *    the element from being stopped and started meanwhile, it might wait for a
 *    task that has every reason to run. FLUSH_STOP waits; no state change passes
 *    it.
 * 4. Frames in flight are discarded only while the task does not run and
 *    upstream's thread is not at work: by FLUSH_STOP, which has made sure of
 *    both, and after both pads have been deactivated (PAUSED to READY).
 * 5. A thread's own data needs no lock there; the other may touch it while
 *    that one is idle: upstream's after gst_cv_queue_wait_idle(), until it pushes
 *    the next item, event or mark. */
#pragma once

#include "gstcvbackend.h"
#include "gstcvcuda.h"
#include "gstcvlatency.h"
#include "gstcvqueue.h"
#include "gstcvsettings.h"

G_BEGIN_DECLS

#define GST_TYPE_CV_FILTER (gst_cv_filter_get_type ())
#define GST_CV_FILTER(obj)                                                     \
  (G_TYPE_CHECK_INSTANCE_CAST ((obj), GST_TYPE_CV_FILTER, GstCvFilter))
#define GST_CV_FILTER_CLASS(klass)                                             \
  (G_TYPE_CHECK_CLASS_CAST ((klass), GST_TYPE_CV_FILTER, GstCvFilterClass))
#define GST_CV_FILTER_GET_CLASS(obj)                                           \
  (G_TYPE_INSTANCE_GET_CLASS ((obj), GST_TYPE_CV_FILTER, GstCvFilterClass))

/* Id of the first setting of a subclass; its other properties have ids from
 * GST_CV_FILTER_PROP_OTHER on. */
#define GST_CV_FILTER_PROP_SETTING 100
#define GST_CV_FILTER_PROP_OTHER 1000

typedef struct _GstCvFilter GstCvFilter;
typedef struct _GstCvFilterClass GstCvFilterClass;
typedef struct _GstCvFilterPrivate GstCvFilterPrivate;

/**
 * GstCvFilter:
 * @sinkpad, @srcpad: made of the class's templates "sink" and "src"
 * @backend: under the object lock
 * @context: what is computed in; %NULL: on the CPU, or not decided yet. It
 *   belongs to upstream's thread
 * @cuda: of frames in memory:CUDAMemory; %NULL if the class has not @cuda_memory
 * @queue: between the two threads, with the spare items
 * @latency: by default "latency" items at the frames' distance; see
 *   @get_latency
 * @negotiated: the last caps were accepted; of upstream's thread
 * @segment: of what leaves; of the source pad's task
 * @stats_lock: for what @get_stats reads
 */
struct _GstCvFilter {
  GstElement parent;

  GstPad *sinkpad, *srcpad;
  GstCvBackend backend;
  CvisContext *context;
  GstCvCuda *cuda;
  GstCvQueue *queue;
  GstCvLatency latency;
  gboolean negotiated;
  GstSegment segment;
  GMutex stats_lock;

  GstCvFilterPrivate *priv;
};

/**
 * GstCvFilterClass: those marked (required) have to be there.
 * @free_item: (required): frees an item
 * @own_caps: the source pad's caps are pushed by the subclass, into the queue;
 *   else those of the sink pad are passed on
 * @cuda_memory: frames may lie in memory:CUDAMemory: the element shares CUDA
 *   contexts with the pipeline
 * @takes_lists: @submit takes buffer lists too; else they come as single buffers
 *
 * States:
 * @start: READY to PAUSED, before any thread runs: takes over the settings, and
 *   decides on the backend (gst_cv_filter_start_backend()) if it is not left to
 *   the caps. Returns FALSE after posting an error; @stop is called then too.
 * @stop: PAUSED to READY, after @flush: frees what @start and @set_caps made
 *
 * Upstream's thread:
 * @set_caps: (required): adopts caps, once what was before has left where that
 *   matters (gst_cv_filter_drain()). Returns GST_FLOW_NOT_NEGOTIATED after
 *   posting an error: the same caps are then refused without another one.
 * @sink_event: before a serialized event other than CAPS is queued. Returns
 *   another flow than OK if it cannot be.
 * @submit: (required): takes a buffer (or list): takes an item, submits it to the
 *   engine and pushes it into the queue
 * @finish: has completed what waits for frames to come, as there are none for
 *   now. Called by gst_cv_filter_drain().
 *
 * The source pad's task:
 * @complete: (required): an item of the queue is next. It stays in flight until
 *   it is given back to the queue. Any other flow than OK ends the task.
 * @mark: a mark of the queue is next
 * @deadline: the deadline of the queue has passed
 * @src_event: takes an event in its turn. Default: gst_cv_filter_push_event()
 * @get_request_caps: the caps of the request pad of @kind; %NULL if they cannot
 *   be known
 *
 * No thread at work:
 * @flush: forgets all that is in flight, giving the items back to the queue, and
 *   what is known of the stream; for FLUSH_STOP and before @stop. There may be no
 *   engine.
 *
 * Any thread; CONTEXT and LATENCY queries, too, are answered by the base class, and
 * serialized ones wait for the frames before them:
 * @get_caps: what can be at @pad, given what can be at @other. Default: the same
 * @accept_caps: whether to let @caps in. Default: what the sink pad's template
 *   has and downstream takes
 * @propose_allocation: answers an ALLOCATION query. Default: FALSE
 * @get_latency: what the element adds. Default: that of @latency
 * @get_stats: (required): (transfer full): the property "stats", to which the
 *   base class adds "late-frames"; called with @stats_lock held
 */
struct _GstCvFilterClass {
  GstElementClass parent_class;

  GDestroyNotify free_item;
  gboolean own_caps;
  gboolean cuda_memory;
  gboolean takes_lists;

  gboolean (*start) (GstCvFilter *filter);
  void (*stop) (GstCvFilter *filter);

  GstFlowReturn (*set_caps) (GstCvFilter *filter, GstCaps *caps);
  GstFlowReturn (*sink_event) (GstCvFilter *filter, GstEvent *event);
  GstFlowReturn (*submit) (GstCvFilter *filter, GstMiniObject *object);
  GstFlowReturn (*finish) (GstCvFilter *filter);

  GstFlowReturn (*complete) (GstCvFilter *filter, gpointer item);
  GstFlowReturn (*mark) (GstCvFilter *filter);
  GstFlowReturn (*deadline) (GstCvFilter *filter);
  void (*src_event) (GstCvFilter *filter, GstEvent *event);
  GstCaps *(*get_request_caps) (GstCvFilter *filter, guint kind, GstPad *pad);

  void (*flush) (GstCvFilter *filter);

  GstCaps *(*get_caps) (
      GstCvFilter *filter, GstPad *pad, GstPad *other, GstCaps *filter_caps);
  gboolean (*accept_caps) (GstCvFilter *filter, GstCaps *caps);
  gboolean (*propose_allocation) (GstCvFilter *filter, GstQuery *query);
  GstClockTime (*get_latency) (GstCvFilter *filter);
  GstStructure *(*get_stats) (GstCvFilter *filter);

  /*< private >*/
  const GstCvSetting *settings;
  guint n_settings;
  gsize settings_offset;
  GstStaticPadTemplate *request_pads;
  guint n_request_pads;
};

GType gst_cv_filter_get_type (void);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstCvFilter, gst_object_unref)

/* --- for a subclass's class_init ------------------------------------------- */

/* Installs @n properties that are fields of a struct at @offset of the instance,
 * whose defaults are those of @defaults. They are read and written under the
 * object lock. A class that sets set_property or get_property does so before,
 * and chains up. */
void gst_cv_filter_class_install_settings (GstCvFilterClass *klass,
    const GstCvSetting *table, guint n, gsize offset, gconstpointer defaults);
/* Adds @n templates of request pads, one pad each: kinds 0 to @n - 1. They are
 * called src_NAME; one called NAME can be requested instead. */
void gst_cv_filter_class_add_request_pads (
    GstCvFilterClass *klass, GstStaticPadTemplate *templates, guint n);

/* --- for the thread that starts, or upstream's ------------------------------ */

/* Decides on the backend; @context is that of the filter from now on.
 * Returns: FALSE after posting an error */
gboolean gst_cv_filter_start_backend (GstCvFilter *filter);

/* Waits until all that has come has left. Returns: the queue's flow */
GstFlowReturn gst_cv_filter_drain (GstCvFilter *filter);

/* --- request pads ----------------------------------------------------------- */

/* The pad of @kind with a reference, or %NULL; for any thread. */
GstPad *gst_cv_filter_ref_request_pad (GstCvFilter *filter, guint kind);
gboolean gst_cv_filter_has_request_pad (GstCvFilter *filter, guint kind);
/* They have to be told their caps before their next buffer. */
void gst_cv_filter_renegotiate_request_pads (GstCvFilter *filter);

/* --- for the source pad's task ------------------------------------------------ */

/* Pushes what the request pad of @kind lacks before a buffer: STREAM_START, CAPS,
 * SEGMENT.
 * Returns: FALSE if it cannot have one: there is no such pad, or no caps */
gboolean gst_cv_filter_start_request_pad (GstCvFilter *filter, guint kind);
/* Takes @object, a buffer or a list: puts it into the pad's queue, waiting for
 * room there; the pad's own task pushes it. */
void gst_cv_filter_push_request (
    GstCvFilter *filter, guint kind, GstMiniObject *object);
/* Takes @object and pushes it on the source pad; %NULL: nothing for that pad. */
void gst_cv_filter_push (GstCvFilter *filter, GstMiniObject *object);
/* Flow of the buffers pushed so far, as far as it is known, for @complete
 * to return: a pad that is not linked, or has seen enough, does not hold up the
 * others. When all have seen enough, the frames that follow are dropped. */
GstFlowReturn gst_cv_filter_get_flow (GstCvFilter *filter);
/* Takes @event and pushes it on the source pad, and on the request pads where it
 * is about their streams too. */
void gst_cv_filter_push_event (GstCvFilter *filter, GstEvent *event);

G_END_DECLS
