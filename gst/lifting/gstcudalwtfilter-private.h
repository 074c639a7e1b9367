/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The insides of cudalwtfilter, for its files:
 * gstcudalwtfilter.c  the element: properties, states, pads
 * gstlwtsettings.c    the properties that say what is computed
 * gstlwtsurface.c     what comes in
 * gstlwtnegotiate.c   caps and queries
 * gstlwtsetup.c       the engine for what comes in and is asked for
 * gstlwtinput.c       the upstream thread: surfaces and events into the engine
 * gstlwtframe.c       a surface on its way
 * gstlwtoutput.c      the thread of the source pad: parts out of it
 * gstlwtoverflow.c    heights that are too large
 * gstlwtstats.c       what is counted */
#pragma once

#include "gst/common/gstcvbackend.h"
#include "gst/common/gstcvlatency.h"
#include "gst/common/gstcvqueue.h"
#include "gst/common/gstcvsides.h"
#include "gst/common/gstcvworker.h"
#include "gstcudalwtfilter.h"
#include "gstlwtframe.h"
#include "gstlwtstats.h"

G_BEGIN_DECLS

/* request pads: src_roughness and so on */
#define GST_LWT_SIDES 5

struct _GstCudaLwtFilter {
  GstElement parent;

  GstPad *sinkpad, *srcpad;

  /* --- under the object lock --- */
  GstLwtSettings settings;
  GstCvBackend backend;
  gdouble cutoffs[3][2]; /* s, c, f; x, y; metres, 0: not used */

  GstCvLatency latency;
  GstCvSides *sides;
  GstCvQueue *queue;
  GstCvWorker *worker;

  /* --- set in READY to PAUSED, before any thread runs --- */
  GstLwtSettings wanted;
  SurfacePart part; /* of the source pad */
  CvisContext *context;

  /* --- by the upstream thread, while the other is idle --- */
  GstLwtLayout layout; /* what caps say */
  gboolean negotiated; /* the layout is that of the caps */
  GstCaps *refused;    /* with an error, which is not posted again for them */
  LwtWavelet *wavelet;
  gchar *wavelet_text;   /* that it was made of */
  GstLwtSurface surface; /* that the engine was made for */
  LwtConfig config;      /* of the engine */
  LwtEngine *engine;
  GstLwtOut out;                         /* of the source pad */
  GstBufferPool *pools[SURFACE_N_PARTS]; /* by part; NULL: not needed yet */
  gboolean announce; /* what the engine does was not posted since the caps */

  /* --- of the upstream thread --- */
  guint64 number; /* of the next frame, in the stream */

  /* --- of the source pad's thread --- */
  GstSegment segment;
  GstLwtOut side_outs[GST_LWT_SIDES];
  gboolean overflowed;   /* and said so, since the caps */
  gboolean refused_side; /* with an error: nothing of it is taken behind it */
  GstBufferPool *picture_pools[GST_LWT_SIDES + 1]; /* the last: of the source */
  guint64 posted[SURFACE_N_PARTS];                 /* monotonic ns; 0: never */

  GMutex stats_lock;
  GstLwtStats stats;
};

GST_DEBUG_CATEGORY_EXTERN (gst_cuda_lwt_filter_debug);

/* The part of a request pad. */
SurfacePart gst_lwt_side_part (guint kind);

/* --- gstlwtnegotiate.c ----------------------------------------------------- */

/* Adopts @caps once those before have left. Returns: FALSE after posting an
 * error, or when flushing. */
gboolean gst_lwt_negotiate (GstCudaLwtFilter *self, GstCaps *caps);
/* What @pad can give of @part of @surface, computed in @type or, if @other,
 * another float: the first that downstream takes. Posts an error if it takes
 * none.
 * Returns: FALSE then
 * @type: (inout): what is to be computed in */
gboolean gst_lwt_choose_out (GstCudaLwtFilter *self, GstPad *pad,
    SurfacePart part, const LwtConfig *config, const GstLwtSurface *surface,
    gboolean other, GstLwtOut *out, LwtType *type);
void gst_lwt_out_clear (GstLwtOut *out);
/* See GstCvSidesCaps. */
GstCaps *gst_lwt_side_get_caps (GstElement *element, guint kind, GstPad *pad);

gboolean gst_lwt_sink_query (GstPad *pad, GstObject *parent, GstQuery *query);
gboolean gst_lwt_src_query (GstPad *pad, GstObject *parent, GstQuery *query);

/* --- gstlwtsetup.c ---------------------------------------------------------- */

/* The wavelet of @text. Returns: FALSE after posting an error. */
gboolean gst_lwt_set_wavelet (GstCudaLwtFilter *self, const gchar *text);
/* Parts that leave, and those whose parameters are computed.
 * Returns: request pads that give some: 1 << kind */
guint gst_lwt_get_wanted (
    GstCudaLwtFilter *self, LwtParts *parts, LwtParts *parameters);
/* A new engine for @surface that gives @parts. Nothing is in flight.
 * Returns: FALSE after posting an error */
gboolean gst_lwt_setup (GstCudaLwtFilter *self, const GstLwtSurface *surface,
    LwtParts parts, LwtParts parameters);
/* Tells the source pad, in its turn, what it gives. */
GstFlowReturn gst_lwt_push_caps (GstCudaLwtFilter *self);
/* Frees what gst_lwt_setup() made. */
void gst_lwt_free_engine (GstCudaLwtFilter *self);
/* The pool for @part, or %NULL without memory. */
GstBufferPool *gst_lwt_get_pool (GstCudaLwtFilter *self, SurfacePart part);
/* That for the pictures of @out; @index: kind of the request pad, GST_LWT_SIDES:
 * the source pad */
GstBufferPool *gst_lwt_get_picture_pool (
    GstCudaLwtFilter *self, guint index, const GstLwtOut *out);
void gst_lwt_free_picture_pool (GstCudaLwtFilter *self, guint index);

/* --- gstlwtinput.c ---------------------------------------------------------- */

GstFlowReturn gst_lwt_input_chain (
    GstPad *pad, GstObject *parent, GstBuffer *buffer);
/* See GstCvWorkerFuncs. */
gboolean gst_lwt_input_event (GstElement *element, GstEvent *event);
void gst_lwt_input_flush (GstElement *element);

/* --- gstlwtoutput.c ---------------------------------------------------------- */

/* See GstCvWorkerFuncs. */
GstFlowReturn gst_lwt_output_complete (GstElement *element, gpointer item);
void gst_lwt_output_event (GstElement *element, GstEvent *event);
/* Drops all that is in flight or waits to be pushed. No thread may run. */
void gst_lwt_output_discard (GstCudaLwtFilter *self);
/* Posts the engine's @error and takes it. */
void gst_lwt_engine_failed (GstCudaLwtFilter *self, GError *error);

G_END_DECLS
