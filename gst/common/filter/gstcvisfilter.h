/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* GstCvisFilter: abstract base class of the elements that compute. It has one sink
 * pad, one source pad and any number of request source pads, and everything that
 * such elements have in common: threads, queue, states, flushing, draining, events,
 * queries, latency, errors; the properties "backend", "active-backend", "cuda-device-id"
 * and "stats"; the action signal "reset-stats". A subclass has what is its own: from caps
 * to an engine (set_caps(), prepare()), from a frame to a job of the engine (begin()),
 * from a job to the buffers that leave (complete()).
 *
 * A frame in flight is an item: a struct of the subclass with everything needed
 * for it, whose first member is a GstCvisItem. The number of items is fixed: when all
 * are in flight, the element waits for a spare one (gst_cvis_queue_take()).
 *
 *   upstream's thread            the source pad's task
 *   submit(): take an item,      complete(): wait for the engine, take the result,
 *   begin() it in the engine, ─► give the item back, push the buffers
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
#include "gstcvisrate.h"
#include "gst/common/gstcvissettings.h"
#include "cuda/core/fleet/devices.h"

G_BEGIN_DECLS

#define GST_TYPE_CVIS_FILTER (gst_cvis_filter_get_type ())
#define GST_CVIS_FILTER(obj)                                                   \
  (G_TYPE_CHECK_INSTANCE_CAST ((obj), GST_TYPE_CVIS_FILTER, GstCvisFilter))
#define GST_CVIS_FILTER_CLASS(klass)                                           \
  (G_TYPE_CHECK_CLASS_CAST ((klass), GST_TYPE_CVIS_FILTER, GstCvisFilterClass))
#define GST_CVIS_FILTER_GET_CLASS(obj)                                         \
  (G_TYPE_INSTANCE_GET_CLASS ((obj), GST_TYPE_CVIS_FILTER, GstCvisFilterClass))

/* Ids of the properties about devices, and of the first setting of a subclass. */
#define GST_CVIS_FILTER_PROP_DEVICES 90
#define GST_CVIS_FILTER_PROP_SETTING 100

typedef struct _GstCvisFilter GstCvisFilter;
typedef struct _GstCvisFilterClass GstCvisFilterClass;
typedef struct _GstCvisFilterPrivate GstCvisFilterPrivate;

/* For @prepare: the frame passes as it is. */
#define GST_CVIS_FLOW_PASS GST_FLOW_CUSTOM_SUCCESS

/* Request pads of a class, at most */
#define GST_CVIS_MAX_REQUEST_PADS 8

/**
 * GstCvisItem: the first member of every item
 * @arrival: cvis_monotonic_ns() when the frame arrived
 * @number: of the frame, in the stream
 * @busy: the engine has it, or may have it; until the item is given back
 * @staged: the frame was copied once more, as it is not in pinned memory
 */
typedef struct {
  guint64 arrival, number;
  gboolean busy, staged;
} GstCvisItem;

/**
 * GstCvisLeaving: the buffers that leave for a frame, owned
 * @source: (nullable): on the source pad; without it the flow is NOT_LINKED
 * @requests: (nullable contents): on the request pads, by kind
 */
typedef struct {
  GstBuffer *source;
  GstBuffer *requests[GST_CVIS_MAX_REQUEST_PADS];
} GstCvisLeaving;

/**
 * GstCvisWords: how errors call the work of a class; those with a default are for video
 * @engine: "motion": of the "motion engine"
 * @verb: "search"
 * @one, @many: default "a frame", "frames"
 * @unit: of sizes, default "pixels"
 * @metas: metas that describe the memory of a frame, default "GstVideoMeta"
 */
typedef struct {
  const gchar *engine, *verb, *one, *many, *unit, *metas;
} GstCvisWords;

/**
 * GstCvisFilter:
 * @sinkpad, @srcpad: made of the class's templates "sink" and "src"
 * @backend: under the object lock
 * @context: the CUDA context to compute in; %NULL: the CPU, or not chosen yet. Of
 *   upstream's thread
 * @devices: several devices to compute on, if the user listed them; %NULL: one, that of
 *   @context. Of upstream's thread
 * @cuda: for frames in memory:CUDAMemory; %NULL if the class does not set
 *   @cuda_memory
 * @queue: between the two threads, with the spare items
 * @latency: latency by the frames in flight, the default of @get_latency
 * @negotiated: the last caps were accepted; of upstream's thread
 * @number: of the next frame, in the stream; of upstream's thread
 * @segment: segment of the output; of the source pad's task
 * @stats_lock: guards what follows, and the data that @add_stats reads
 * @rate: of the frames that left with a result
 * @staged: those of them that were copied once more
 */
struct _GstCvisFilter {
  GstElement parent;

  GstPad *sinkpad, *srcpad;
  GstCvisBackend backend;
  CvisContext *context;
  CvisDevices *devices;
  GstCvisCuda *cuda;
  GstCvisQueue *queue;
  GstCvisLatency latency;
  gboolean negotiated;
  guint64 number;
  GstSegment segment;
  GMutex stats_lock;
  GstCvisRate rate;
  guint64 staged;

  GstCvisFilterPrivate *priv;
};

/**
 * GstCvisFilterClass: a subclass sets at least those marked (required).
 * @words: engine and verb are required
 * @free_item: (required): frees an item
 * @clear_item: (required): releases what an item holds of a frame
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
 * @prepare: makes sure of an engine for @buffer. With GST_CVIS_FLOW_PASS the buffer
 *   passes as it is; any other flow than OK refuses it
 * @begin: takes @buffer into @item and submits that to the engine; sets @busy as soon
 *   as the engine may have it. Any flow other than OK refuses the buffer, with @error
 *   unless one was posted. Needed unless @submit is set
 * @submit: takes a buffer (or list). Default: @prepare, @begin and the queue
 * @finish: submits frames that wait for later ones, as none come for now. Called
 *   by gst_cvis_filter_drain().
 *
 * The source pad's task:
 * @complete: (required): waits for the engine to complete the next item of the queue,
 *   takes the result out of it and calls gst_cvis_filter_deliver(), or
 *   gst_cvis_filter_fail(). Any flow other than OK ends the task.
 * @pass: takes the next frame of the queue that passes as it is. Default: pushes it
 * @mark: called at a mark in the queue
 * @deadline: called when the deadline of the queue has passed
 * @src_event: takes the next event of the queue. Default:
 *   gst_cvis_filter_push_event(). Any flow other than OK ends the task
 * @get_request_caps: the caps of the request pad of @kind. Returns: GST_FLOW_NOT_LINKED
 *   if they are not known yet, GST_FLOW_NOT_NEGOTIATED after posting an error
 *
 * While no thread runs:
 * @drain: waits until the engine has no item, for FLUSH_STOP and before @stop. There
 *   may be no engine. The base class then gives the items back.
 * @flush: after @drain: forgets the state of the stream
 *
 * Any thread (the base class also answers CONTEXT and LATENCY queries; serialized
 * queries wait for the frames before them):
 * @get_caps: possible caps of @pad, given those of @other. Default: the same
 * @accept_caps: whether @caps are accepted. Default: those that the sink pad's
 *   template and downstream accept
 * @propose_allocation: answers an ALLOCATION query. Default: FALSE
 * @get_latency: the latency that the element adds. Default: that of @latency
 * @add_stats: adds fields to the property "stats", which has the counts, the rate and
 *   the latencies of the base class; called with @stats_lock held
 * @reset_stats: for the start and the action signal "reset-stats"; called with
 *   @stats_lock held
 */
struct _GstCvisFilterClass {
  GstElementClass parent_class;

  GstCvisWords words;
  GDestroyNotify free_item;
  void (*clear_item) (gpointer item);
  gboolean own_caps;
  gboolean cuda_memory;
  gboolean takes_lists;

  gboolean (*start) (GstCvisFilter *filter);
  void (*stop) (GstCvisFilter *filter);

  GstFlowReturn (*set_caps) (GstCvisFilter *filter, GstCaps *caps);
  GstFlowReturn (*sink_event) (GstCvisFilter *filter, GstEvent *event);
  GstFlowReturn (*prepare) (GstCvisFilter *filter, GstBuffer *buffer);
  GstFlowReturn (*begin) (
      GstCvisFilter *filter, gpointer item, GstBuffer *buffer, GError **error);
  GstFlowReturn (*submit) (GstCvisFilter *filter, GstMiniObject *object);
  GstFlowReturn (*finish) (GstCvisFilter *filter);

  GstFlowReturn (*complete) (GstCvisFilter *filter, gpointer item);
  GstFlowReturn (*pass) (GstCvisFilter *filter, GstMiniObject *frame);
  GstFlowReturn (*mark) (GstCvisFilter *filter);
  GstFlowReturn (*deadline) (GstCvisFilter *filter);
  GstFlowReturn (*src_event) (GstCvisFilter *filter, GstEvent *event);
  GstFlowReturn (*get_request_caps) (
      GstCvisFilter *filter, guint kind, GstPad *pad, GstCaps **caps);

  void (*drain) (GstCvisFilter *filter);
  void (*flush) (GstCvisFilter *filter);

  GstCaps *(*get_caps) (
      GstCvisFilter *filter, GstPad *pad, GstPad *other, GstCaps *filter_caps);
  gboolean (*accept_caps) (GstCvisFilter *filter, GstCaps *caps);
  gboolean (*propose_allocation) (GstCvisFilter *filter, GstQuery *query);
  GstClockTime (*get_latency) (GstCvisFilter *filter);
  void (*add_stats) (GstCvisFilter *filter, GstStructure *stats);
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
/* Installs "cuda-device-ids" and "balance": the class computes on several devices if the
 * filter has @devices. */
void gst_cvis_filter_class_install_devices (GstCvisFilterClass *klass);
/* Adds @n templates of request pads, kinds 0 to @n - 1, with one pad each. */
void gst_cvis_filter_class_add_request_pads (
    GstCvisFilterClass *klass, GstStaticPadTemplate *templates, guint n);

/* For @accept_caps: those of the template that downstream accepts, and video of any
 * other kind too, for @set_caps to post an error that says what is wrong: if refused
 * here, upstream would report not-negotiated alone. */
gboolean gst_cvis_filter_accept_video (GstCvisFilter *filter, GstCaps *caps);

/* --- items -------------------------------------------------------------------- */

/* Adds a spare item, for as long as gst_cvis_filter_free_items() is not called. */
void gst_cvis_filter_add_item (GstCvisFilter *filter, gpointer item);
/* Frees all items, while none is in flight. */
void gst_cvis_filter_free_items (GstCvisFilter *filter);
/* Gives back an item that has been cleared. */
void gst_cvis_filter_give_back (GstCvisFilter *filter, gpointer item);
/* Clears an item and gives it back. */
void gst_cvis_filter_release (GstCvisFilter *filter, gpointer item);

/* For the source pad's task: counts @item, whose frame is complete, gives it back and
 * pushes the buffers of @leaving, which it takes. The item has been cleared. */
GstFlowReturn gst_cvis_filter_deliver (
    GstCvisFilter *filter, gpointer item, GstCvisLeaving *leaving);
/* For the source pad's task: the engine failed with @error, which is posted, or, with
 * %NULL, an error was posted already. Gives @item back, drops the buffers of @leaving
 * (nullable) and returns GST_FLOW_ERROR. */
GstFlowReturn gst_cvis_filter_fail (GstCvisFilter *filter, gpointer item,
    GstCvisLeaving *leaving, GError *error);

/* Errors; all take @error. A frame cannot be used: */
void gst_cvis_filter_post_frame_error (GstCvisFilter *filter, GError *error);
/* For upstream's thread: the same, once the frames before it have left. */
GstFlowReturn gst_cvis_filter_reject_frame (
    GstCvisFilter *filter, GError *error);
/* The engine failed: */
void gst_cvis_filter_post_failure (GstCvisFilter *filter, GError *error);
/* No engine could be made for frames of @width x @height: */
void gst_cvis_filter_post_setup_error (
    GstCvisFilter *filter, guint width, guint height, GError *error);

/* --- for the thread that starts, or upstream's ------------------------------ */

/* Chooses the backend and sets the filter's @context.
 * Returns: FALSE after posting an error */
gboolean gst_cvis_filter_start_backend (GstCvisFilter *filter);

/* The devices for a new engine, once the former one is freed: those that the user listed
 * and that were not lost. If all were, @context becomes %NULL: the CPU.
 * Returns: (nullable): %NULL: one device or the CPU, that of @context */
const CvisDevices *gst_cvis_filter_get_devices (GstCvisFilter *filter);
/* The policy for an engine over @devices, and the warning about a lost device. */
CvisFleetOwner gst_cvis_filter_get_fleet_owner (GstCvisFilter *filter);
/* The fleet that the property "stats" describes, for the thread that makes and frees it.
 * @fleet: (nullable): set %NULL before it is freed */
void gst_cvis_filter_set_fleet (GstCvisFilter *filter, CvisFleet *fleet);

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
 * Returns: GST_FLOW_NOT_LINKED if no buffer can be pushed: there is no such pad, or no
 *   caps; GST_FLOW_NOT_NEGOTIATED after posting an error */
GstFlowReturn gst_cvis_filter_start_request_pad (
    GstCvisFilter *filter, guint kind);
/* Takes @object, a buffer or a list: puts it into the pad's queue, waiting for
 * room there; the pad's own task pushes it. */
void gst_cvis_filter_push_request (
    GstCvisFilter *filter, guint kind, GstMiniObject *object);
/* Takes @object (nullable) and pushes it on the source pad. Returns: the flow of
 * gst_cvis_filter_get_flow() */
GstFlowReturn gst_cvis_filter_push (
    GstCvisFilter *filter, GstMiniObject *object);
/* Flow of the buffers pushed so far, as far as it is known, for @complete to
 * return: a pad that is not linked, or at EOS, does not stop the others. When all
 * are at EOS, the frames that follow are dropped. */
GstFlowReturn gst_cvis_filter_get_flow (GstCvisFilter *filter);
/* Takes @event and pushes it on the source pad, and on the request pads if it
 * concerns their streams too. Returns: GST_FLOW_ERROR after posting an error about the
 * caps of a request pad */
GstFlowReturn gst_cvis_filter_push_event (
    GstCvisFilter *filter, GstEvent *event);

G_END_DECLS
