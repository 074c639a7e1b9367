/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* GstCvisFilter: abstract base class of the elements that compute. It has one sink
 * pad, one source pad and any number of request source pads, and everything that
 * such elements have in common: threads, queue, states, flushing, draining,
 * events, queries, latency, and the properties "backend", "active-backend",
 * "cuda-device-id" and "stats", and the action signal "reset-stats". A subclass submits frames to its engine and pushes
 * the results.
 *
 * A frame in flight is an item: a struct of the subclass with everything needed
 * for it. The number of items is fixed: when all are in flight, the element waits
 * for a spare one (gst_cvis_queue_take()).
 *
 *   upstream's thread            the source pad's task
 *   submit(): take an item,      complete(): wait for the engine, give the item
 *   submit it to the engine, ──► back, push the frame
 *   queue it                     src_event(): push the event
 *
 * Events wait in the same queue, so that they keep their place among the frames.
 *
 * Threads, and the locks that each of them holds:
 * - upstream's thread: the stream lock of the sink pad. It may wait for the task:
 *   gst_cvis_queue_take(), gst_cvis_queue_wait_idle().
 * - the source pad's task: the stream lock of the source pad. It waits for
 *   upstream's thread only in gst_cvis_queue_pop(). It may wait for room in the
 *   queue of a request pad, which that pad's own task makes.
 * - FLUSH_START comes from any thread, with no lock; FLUSH_STOP with the stream
 *   lock of the sink pad; RECONFIGURE from any thread, with any lock of
 *   downstream's; activation from the thread that changes states, with none.
 *
 * Rules:
 * 1. "The flow is OK and the task runs" is one step, under a lock of its own, and
 *    only while the source pad is active: a thread that starts the task again
 *    (RECONFIGURE, FLUSH_STOP) cannot start it on a pad that has been shut down
 *    in the meantime. Nothing waits under this lock; inside it only the queue's
 *    lock and the object lock of the source pad are taken.
 * 2. The task ends itself in this order: it pauses, and then changes the flow. A
 *    thread that finds the flow changed may start the task again at once.
 * 3. A thread that stops the task first changes the flow, that of the request pads
 *    too, which ends every wait of both threads, and then waits for the task, with
 *    no object lock held. FLUSH_START only changes the flow: no lock keeps the
 *    element from being stopped and started meanwhile, so that it could wait for
 *    a task that has been started again. FLUSH_STOP waits: state changes wait for
 *    its stream lock.
 * 4. Frames in flight are discarded only while neither the task nor upstream's
 *    thread runs: by FLUSH_STOP, which ensures both, and after both pads have been
 *    deactivated (PAUSED to READY).
 * 5. A thread uses its own data without a lock. Upstream's thread may use those of
 *    the task while the task is idle: after gst_cvis_queue_wait_idle(), until it
 *    pushes the next item, event or mark. */
#pragma once

#include "gst/common/gstcvisbackend.h"
#include "gst/common/gstcviscuda.h"
#include "gstcvislatency.h"
#include "gstcvisqueue.h"
#include "gst/common/gstcvissettings.h"

G_BEGIN_DECLS

#define GST_TYPE_CVIS_FILTER (gst_cvis_filter_get_type ())
#define GST_CVIS_FILTER(obj)                                                   \
  (G_TYPE_CHECK_INSTANCE_CAST ((obj), GST_TYPE_CVIS_FILTER, GstCvisFilter))
#define GST_CVIS_FILTER_CLASS(klass)                                           \
  (G_TYPE_CHECK_CLASS_CAST ((klass), GST_TYPE_CVIS_FILTER, GstCvisFilterClass))
#define GST_CVIS_FILTER_GET_CLASS(obj)                                         \
  (G_TYPE_INSTANCE_GET_CLASS ((obj), GST_TYPE_CVIS_FILTER, GstCvisFilterClass))

/* Id of the first setting of a subclass. */
#define GST_CVIS_FILTER_PROP_SETTING 100

typedef struct _GstCvisFilter GstCvisFilter;
typedef struct _GstCvisFilterClass GstCvisFilterClass;
typedef struct _GstCvisFilterPrivate GstCvisFilterPrivate;

/**
 * GstCvisFilter:
 * @sinkpad, @srcpad: made of the class's templates "sink" and "src"
 * @backend: under the object lock
 * @context: the CUDA context to compute in; %NULL: the CPU, or not chosen yet. Of
 *   upstream's thread
 * @cuda: for frames in memory:CUDAMemory; %NULL if the class does not set
 *   @cuda_memory
 * @queue: between the two threads, with the spare items
 * @latency: latency by the frames in flight, the default of @get_latency
 * @negotiated: the last caps were accepted; of upstream's thread
 * @segment: segment of the output; of the source pad's task
 * @stats_lock: guards the data that @get_stats reads
 */
struct _GstCvisFilter {
  GstElement parent;

  GstPad *sinkpad, *srcpad;
  GstCvisBackend backend;
  CvisContext *context;
  GstCvisCuda *cuda;
  GstCvisQueue *queue;
  GstCvisLatency latency;
  gboolean negotiated;
  GstSegment segment;
  GMutex stats_lock;

  GstCvisFilterPrivate *priv;
};

/**
 * GstCvisFilterClass: a subclass sets at least those marked (required).
 * @free_item: (required): frees an item
 * @own_caps: the subclass pushes the source pad's caps into the queue; else those
 *   of the sink pad are passed on
 * @cuda_memory: frames may lie in memory:CUDAMemory: the element shares CUDA
 *   contexts with the pipeline
 * @takes_lists: @submit accepts buffer lists; else their buffers come singly
 *
 * States:
 * @start: READY to PAUSED, before any thread runs: copies the settings, and
 *   chooses the backend (gst_cvis_filter_start_backend()) unless that waits for the
 *   caps. Returns FALSE after posting an error; @stop is called then too.
 * @stop: PAUSED to READY, after @flush: frees what @start and @set_caps made
 *
 * Upstream's thread:
 * @set_caps: (required): adopts caps; drains first (gst_cvis_filter_drain()) if they
 *   change what frames in flight need. Returns GST_FLOW_NOT_NEGOTIATED after
 *   posting an error: the same caps are then refused without another error.
 * @sink_event: called before a serialized event other than CAPS is queued. A flow
 *   other than OK refuses the event.
 * @submit: (required): takes a buffer (or list): takes an item, submits it to the
 *   engine and pushes it into the queue
 * @finish: submits frames that wait for later ones, as none come for now. Called
 *   by gst_cvis_filter_drain().
 *
 * The source pad's task:
 * @complete: (required): completes the next item of the queue. It stays in flight
 *   until it is given back to the queue. Any flow other than OK ends the task.
 * @pass: takes the next frame of the queue that passes as it is. Default: pushes it
 * @mark: called at a mark in the queue
 * @deadline: called when the deadline of the queue has passed
 * @src_event: takes the next event of the queue. Default:
 *   gst_cvis_filter_push_event()
 * @get_request_caps: the caps of the request pad of @kind; %NULL if they are not
 *   known
 *
 * While no thread runs:
 * @flush: (required): drops everything in flight, gives the items back to the queue, and
 *   forgets the state of the stream; for FLUSH_STOP and before @stop. There may be
 *   no engine.
 *
 * Any thread (the base class also answers CONTEXT and LATENCY queries; serialized
 * queries wait for the frames before them):
 * @get_caps: possible caps of @pad, given those of @other. Default: the same
 * @accept_caps: whether @caps are accepted. Default: those that the sink pad's
 *   template and downstream accept
 * @propose_allocation: answers an ALLOCATION query. Default: FALSE
 * @get_latency: the latency that the element adds. Default: that of @latency
 * @get_stats: (required): (transfer full): the property "stats", to which the
 *   base class adds "late-frames"; called with @stats_lock held
 * @reset_stats: (required): for the action signal "reset-stats"; called with
 *   @stats_lock held
 */
struct _GstCvisFilterClass {
  GstElementClass parent_class;

  GDestroyNotify free_item;
  gboolean own_caps;
  gboolean cuda_memory;
  gboolean takes_lists;

  gboolean (*start) (GstCvisFilter *filter);
  void (*stop) (GstCvisFilter *filter);

  GstFlowReturn (*set_caps) (GstCvisFilter *filter, GstCaps *caps);
  GstFlowReturn (*sink_event) (GstCvisFilter *filter, GstEvent *event);
  GstFlowReturn (*submit) (GstCvisFilter *filter, GstMiniObject *object);
  GstFlowReturn (*finish) (GstCvisFilter *filter);

  GstFlowReturn (*complete) (GstCvisFilter *filter, gpointer item);
  GstFlowReturn (*pass) (GstCvisFilter *filter, GstMiniObject *frame);
  GstFlowReturn (*mark) (GstCvisFilter *filter);
  GstFlowReturn (*deadline) (GstCvisFilter *filter);
  void (*src_event) (GstCvisFilter *filter, GstEvent *event);
  GstCaps *(*get_request_caps) (GstCvisFilter *filter, guint kind, GstPad *pad);

  void (*flush) (GstCvisFilter *filter);

  GstCaps *(*get_caps) (
      GstCvisFilter *filter, GstPad *pad, GstPad *other, GstCaps *filter_caps);
  gboolean (*accept_caps) (GstCvisFilter *filter, GstCaps *caps);
  gboolean (*propose_allocation) (GstCvisFilter *filter, GstQuery *query);
  GstClockTime (*get_latency) (GstCvisFilter *filter);
  GstStructure *(*get_stats) (GstCvisFilter *filter);
  void (*reset_stats) (GstCvisFilter *filter);

  /*< private >*/
  GstStaticPadTemplate *request_pads;
  guint n_request_pads;
};

GType gst_cvis_filter_get_type (void);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstCvisFilter, gst_object_unref)

/* --- for a subclass's class_init ------------------------------------------- */

/* Installs @n properties that are fields of a struct at @offset of the instance;
 * @defaults has their defaults; finalize frees their strings. They are read and written
 * under the object lock. A class that sets set_property or get_property does so before,
 * and chains up. */
void gst_cvis_filter_class_install_settings (GstCvisFilterClass *klass,
    const GstCvisSetting *table, guint n, gsize offset, gconstpointer defaults);
/* Adds @n templates of request pads, kinds 0 to @n - 1, with one pad each. */
void gst_cvis_filter_class_add_request_pads (
    GstCvisFilterClass *klass, GstStaticPadTemplate *templates, guint n);

/* For @accept_caps: those of the template that downstream accepts, and video of any
 * other kind too, for @set_caps to post an error that says what is wrong: if refused
 * here, upstream would report not-negotiated alone. */
gboolean gst_cvis_filter_accept_video (GstCvisFilter *filter, GstCaps *caps);

/* --- for the thread that starts, or upstream's ------------------------------ */

/* Chooses the backend and sets the filter's @context.
 * Returns: FALSE after posting an error */
gboolean gst_cvis_filter_start_backend (GstCvisFilter *filter);

/* Posts "ELEMENT-kernels" with the field kernels, which CUDA kernels are used, if they
 * are not those of the message before.
 * @kernels: (nullable): none are known yet */
void gst_cvis_filter_announce_kernels (
    GstCvisFilter *filter, const gchar *kernels);

/* Waits until all frames and events that arrived have left. Returns: the queue's
 * flow */
GstFlowReturn gst_cvis_filter_drain (GstCvisFilter *filter);

/* --- request pads ----------------------------------------------------------- */

/* The pad of @kind with a reference, or %NULL; for any thread. */
GstPad *gst_cvis_filter_ref_request_pad (GstCvisFilter *filter, guint kind);
gboolean gst_cvis_filter_has_request_pad (GstCvisFilter *filter, guint kind);
/* Has CAPS pushed on the request pads before their next buffer. */
void gst_cvis_filter_renegotiate_request_pads (GstCvisFilter *filter);

/* --- for the source pad's task ------------------------------------------------ */

/* Pushes the events that the request pad of @kind needs before a buffer:
 * STREAM_START, CAPS, SEGMENT.
 * Returns: FALSE if no buffer can be pushed: there is no such pad, or no caps */
gboolean gst_cvis_filter_start_request_pad (GstCvisFilter *filter, guint kind);
/* Takes @object, a buffer or a list: puts it into the pad's queue, waiting for
 * room there; the pad's own task pushes it. */
void gst_cvis_filter_push_request (
    GstCvisFilter *filter, guint kind, GstMiniObject *object);
/* Takes @object (nullable) and pushes it on the source pad. */
void gst_cvis_filter_push (GstCvisFilter *filter, GstMiniObject *object);
/* The same, and returns the flow. */
GstFlowReturn gst_cvis_filter_pass (
    GstCvisFilter *filter, GstMiniObject *frame);
/* Flow of the buffers pushed so far, as far as it is known, for @complete to
 * return: a pad that is not linked, or at EOS, does not stop the others. When all
 * are at EOS, the frames that follow are dropped. */
GstFlowReturn gst_cvis_filter_get_flow (GstCvisFilter *filter);
/* Takes @event and pushes it on the source pad, and on the request pads if it
 * concerns their streams too. */
void gst_cvis_filter_push_event (GstCvisFilter *filter, GstEvent *event);

G_END_DECLS
