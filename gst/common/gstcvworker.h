/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The two threads of an element that computes behind a queue: upstream's, which
 * puts frames and events into it, and the task of the source pad, which takes
 * them out, completes and pushes them. What all such elements have in common is
 * here: both pads' activation, flushing, the task, its end and its new start.
 *
 * Threads, and what each of them holds:
 * - upstream's has the stream lock of the sink pad. It may wait for the other:
 *   gst_cv_queue_take(), gst_cv_queue_wait_idle().
 * - the task has the stream lock of the source pad, and never waits for
 *   upstream's but in gst_cv_queue_pop().
 * - FLUSH_START comes from any thread, with no lock; FLUSH_STOP with the stream
 *   lock of the sink pad; RECONFIGURE from any thread, with any lock of
 *   downstream's; activation from the thread that changes states, with none.
 *
 * Rules:
 * 1. "The flow is OK and the task runs" is one step, under the worker's own
 *    lock, and only while the source pad is active: who wants the task again,
 *    for RECONFIGURE or FLUSH_STOP, cannot start it on a pad that has been shut
 *    down in the meantime. Nothing waits under this lock; inside it only the
 *    queue's lock and the object lock of the source pad are taken.
 * 2. The task ends itself in this order: it pauses, and then the flow changes.
 *    Who finds the flow changed may start it again at once.
 * 3. Who stops the task changes the flow first, which ends every wait of both
 *    threads, and then waits for the task; never with the worker's or an object
 *    lock. FLUSH_START leaves it at the flow: with no lock to keep the element
 *    from being stopped and started meanwhile, it might wait for a task that has
 *    every reason to run. FLUSH_STOP waits; no state change passes it.
 * 4. What is in flight is discarded only while the task does not run and
 *    upstream's thread is not at work: by FLUSH_STOP, which has made sure of
 *    both, and after both pads have been deactivated (PAUSED to READY).
 * 5. What belongs to a thread needs no lock there; the other may touch it while
 *    that one is idle: upstream's after gst_cv_queue_wait_idle(), until it
 *    pushes the next item, event or mark. */
#pragma once

#include "gstcvqueue.h"

G_BEGIN_DECLS

typedef struct _GstCvWorker GstCvWorker;

/**
 * GstCvWorkerFuncs: the element's own part
 * @complete: of the task: an item of the queue. It stays in flight until it is
 *   given back to the queue. Any other flow than OK ends the task.
 * @mark: of the task: a mark of the queue; %NULL if none is pushed
 * @deadline: of the task: the deadline of the queue; %NULL if none is set
 * @push_event: of the task: takes an event in its turn, and pushes it
 * @push_now: pushes an event, which stays the caller's, out of turn on the source
 *   pads beside the first; of any thread
 * @serialized_event: of upstream's thread: takes an event that has to stay in
 *   order with the frames; see gst_cv_worker_queue_event(). FLUSH_STOP is none.
 * @flush: forgets all that is in flight and what is known of the stream; see
 *   rule 4
 */
typedef struct {
  GstFlowReturn (*complete) (GstElement *element, gpointer item);
  GstFlowReturn (*mark) (GstElement *element);
  GstFlowReturn (*deadline) (GstElement *element);
  void (*push_event) (GstElement *element, GstEvent *event);
  void (*push_now) (GstElement *element, GstEvent *event);
  gboolean (*serialized_event) (GstElement *element, GstEvent *event);
  void (*flush) (GstElement *element);
} GstCvWorkerFuncs;

/* For @element, which calls this in its init, has made the pads but not added
 * them yet, and keeps them, @queue and @funcs until it frees the worker. Sets
 * the pads' functions for activation and events, and their element private. */
GstCvWorker *gst_cv_worker_new (GstElement *element, GstPad *sinkpad,
    GstPad *srcpad, GstCvQueue *queue, const GstCvWorkerFuncs *funcs);
/* For the element's finalize: its pads are gone. */
void gst_cv_worker_free (GstCvWorker *worker);

/* The event function of every source pad; those beside the first have the same
 * element private. Drops QOS: upstream would skip frames, of which every one
 * counts. */
gboolean gst_cv_worker_src_event (
    GstPad *pad, GstObject *parent, GstEvent *event);

/* For upstream's thread: takes @event into the queue, if @flow, what came of
 * preparing for it, is OK. Where upstream would never hear of the failure, as
 * it is through (EOS), the error is posted.
 * Returns: FALSE if it is not in the queue */
gboolean gst_cv_worker_queue_event (
    GstCvWorker *worker, GstEvent *event, GstFlowReturn flow);

G_END_DECLS
