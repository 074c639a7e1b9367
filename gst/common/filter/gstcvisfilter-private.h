/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Private parts of GstCvisFilter, for its files:
 * gstcvisfilter.c         the class: properties, states, queries
 * gstcvisfilterdevices.c  several devices
 * gstcvisfilterthreads.c  the source pad's task, events, activation, flushing
 * gstcvisfilterinput.c    frames come in: from the sink pad into the queue; errors
 * gstcvisfilteroutput.c   frames leave: items are given back, buffers pushed
 * gstcvisfilterlate.c     frames that leave late
 * gstcvisfilterpads.c     the request pads */
#pragma once

#include "gstcvisfilter.h"
#include "gstcvisrequestpad.h"

G_BEGIN_DECLS

/* How much later frames leave than the time at which sinks are to show them. */
typedef struct {
  /* under the object lock */
  gboolean live;           /* whether upstream is, by its last answer */
  GstClockTime answered;   /* latency of the last answer to a LATENCY query */
  GstClockTime configured; /* latency of the last LATENCY event */
  GstClockTime extra;      /* added to the class's latency */

  /* of the source pad's task; counted since @begin */
  GstClockTime begin;
  guint64 frames, late;
  GstClockTime least; /* least lateness of those that were late */
  gboolean behind;    /* most were late when last judged */

  guint64 total; /* of late frames; under the stats lock */
} GstCvisLateness;

struct _GstCvisFilterPrivate {
  /* see rule 1 */
  GMutex lock;
  gboolean active; /* whether the source pad is */

  /* of upstream's thread */
  gboolean streaming; /* a stream has begun; it is drained before the next */
  GstCaps *refused;   /* an error was posted for them, once */
  gchar *kernels;     /* in the last message */
  GPtrArray *items;   /* all of them; set while none is in flight */

  /* of the source pad's task */
  GstFlowReturn src_flow;
  gboolean
      request_refused; /* an error about caps of a request pad was posted */

  GstCvisLateness lateness;

  CvisFleet *fleet; /* under the stats lock */
  guint64
      lost_devices; /* with a warning: 1 << index; of the source pad's task */

  /* under the object lock */
  gchar *device_ids;
  CvisBalance balance;
  GstPad **request_pads; /* by kind; NULL: not requested */
  GstEvent *eos;         /* pushed, and no stream has begun since */
};

GST_DEBUG_CATEGORY_EXTERN (gst_cvis_filter_debug);

/* --- gstcvisfilterdevices.c ---------------------------------------------------- */

/* Sets @devices and @context if the user listed devices that this machine has.
 * Returns: FALSE after posting an error */
gboolean gst_cvis_filter_start_devices (GstCvisFilter *filter);
void gst_cvis_filter_stop_devices (GstCvisFilter *filter);
/* The device that the user named, also as the only one of a list; -1: none */
gint gst_cvis_filter_get_device_id (GstCvisFilter *filter);
/* Returns: FALSE if @pspec is none of the properties about devices. */
gboolean gst_cvis_filter_set_device_property (
    GstCvisFilter *filter, const GValue *value, GParamSpec *pspec);
gboolean gst_cvis_filter_get_device_property (
    GstCvisFilter *filter, GValue *value, GParamSpec *pspec);
/* Adds "devices" to @stats; call with the stats lock held. */
void gst_cvis_filter_add_device_stats (
    GstCvisFilter *filter, GstStructure *stats);

/* --- gstcvisfilterthreads.c ---------------------------------------------------- */

/* Sets the functions of the two pads. */
void gst_cvis_filter_setup_pads (GstCvisFilter *filter);
/* The event function of source pads. Drops QOS: upstream would skip frames, and
 * every frame counts. */
gboolean gst_cvis_filter_src_event (
    GstPad *pad, GstObject *parent, GstEvent *event);
/* Drops all that is in flight or waits to be pushed; see rule 4. */
void gst_cvis_filter_discard (GstCvisFilter *filter);

/* --- gstcvisfilterinput.c ------------------------------------------------------ */

/* The chain functions of the sink pad. */
GstFlowReturn gst_cvis_filter_sink_chain (
    GstPad *pad, GstObject *parent, GstBuffer *buffer);
GstFlowReturn gst_cvis_filter_sink_chain_list (
    GstPad *pad, GstObject *parent, GstBufferList *list);
/* The default of @submit. */
GstFlowReturn gst_cvis_filter_submit_frame (
    GstCvisFilter *filter, GstMiniObject *buffer);
/* For logs: @object, or the first buffer of this list. Returns: (transfer none)
 * (nullable): %NULL for an empty list */
GstBuffer *gst_cvis_filter_get_first_buffer (GstMiniObject *object);
/* Logs at TRACE how long @what took. Returns: the time, or 0 if nobody reads it */
guint64 gst_cvis_filter_begin_trace (void);
void gst_cvis_filter_end_trace (
    GstCvisFilter *filter, const gchar *what, guint64 begin);

/* --- gstcvisfilteroutput.c ----------------------------------------------------- */

/* Gives all items back, while neither the task nor upstream's thread runs. */
void gst_cvis_filter_release_all (GstCvisFilter *filter);

/* --- gstcvisfilterlate.c ------------------------------------------------------- */

/* @object, a buffer or a list, is about to be pushed on the source pad. */
void gst_cvis_filter_note_leaving (
    GstCvisFilter *filter, GstMiniObject *object);

/* --- gstcvisfilterpads.c ------------------------------------------------------- */

/* The events @lacks are pushed on each request pad before its next buffer. */
void gst_cvis_filter_note_lacks (GstCvisFilter *filter, GstCvisLacks lacks);
/* Pushes @event on all request pads at once, past their queues. */
void gst_cvis_filter_push_now (GstCvisFilter *filter, GstEvent *event);
/* Ends all waits for room. @event: (nullable) (transfer none): a FLUSH_START */
void gst_cvis_filter_flush_request_pads (
    GstCvisFilter *filter, GstEvent *event);
/* Empties their queues and restarts them. @event: (nullable) (transfer
 * none): a FLUSH_STOP */
void gst_cvis_filter_unflush_request_pads (
    GstCvisFilter *filter, GstEvent *event);

/* A request pad that is linked after EOS gets EOS too: if EOS has passed, the
 * first function makes the source pad's task call the second. */
void gst_cvis_filter_ask_for_eos (GstCvisFilter *filter);
void gst_cvis_filter_repeat_eos (GstCvisFilter *filter);
/* @eos: (nullable) (transfer none) */
void gst_cvis_filter_note_eos (GstCvisFilter *filter, GstEvent *eos);

GstPad *gst_cvis_filter_request_new_pad (GstElement *element,
    GstPadTemplate *template, const gchar *name, const GstCaps *caps);
void gst_cvis_filter_release_pad (GstElement *element, GstPad *pad);
void gst_cvis_filter_pad_removed (GstElement *element, GstPad *pad);

G_END_DECLS
