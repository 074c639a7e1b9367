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
 * gstlwtdenoise.c     video in colour on its way
 * gstlwtvideo.c       its planes through engines
 * gstlwtstats.c       what is counted */
#pragma once

#include "gst/common/gstcvfilter.h"
#include "gstcudalwtfilter.h"
#include "gstlwtframe.h"
#include "gstlwtstats.h"

G_BEGIN_DECLS

#define GST_LWT_GREY_CAPS                                                      \
  "video/x-raw, format = (string) { GRAY8, GRAY16_LE }, "                      \
  "width = (int) [ 1, 1048576 ], height = (int) [ 1, 1048576 ]"
/* tensors and grey pictures */
#define GST_LWT_SURFACE_CAPS GST_SURFACE_CAPS "; " GST_LWT_GREY_CAPS

/* request pads: src_roughness and so on */
#define GST_LWT_SIDES 5

/**
 * GstLwtWanted: the requested results of a surface
 * @parts: that leave
 * @parameters: parts whose parameters are computed, whether they leave or not
 * @sides: request pads that give some part: 1 << kind
 */
typedef struct {
  LwtParts parts, parameters;
  guint sides;
} GstLwtWanted;

struct _GstCudaLwtFilter {
  GstCvFilter filter;

  /* --- under the object lock --- */
  GstLwtSettings settings;
  gdouble cutoffs[3][2]; /* s, c, f; x, y; metres, 0: not used */

  /* --- set in READY to PAUSED, before any thread runs --- */
  GstLwtSettings wanted;
  SurfacePart part; /* of the source pad */
  gboolean passes;  /* the source pad gives what comes in, and its parameters */

  /* --- by the upstream thread, while the other is idle --- */
  GstLwtLayout layout; /* what caps say */
  GstCaps *caps;       /* these */
  LwtWavelet *wavelet;
  gchar *wavelet_text;   /* that it was made of */
  GstLwtSurface surface; /* that the engine was made for */
  LwtConfig config;      /* of the engine */
  LwtEngine *engine;
  GstLwtOut out;                         /* of the source pad */
  GstBufferPool *pools[SURFACE_N_PARTS]; /* by part; NULL: not needed yet */
  /* video in colour, instead of surface and engine */
  GstLwtVideo *video;
  GstBufferPool *video_pool;
  GstLwtFrame *video_frames[8]; /* owned by the queue, or in flight */
  guint n_video_frames;
  gchar *kernels;    /* that were announced last */
  gboolean announce; /* what the engine does was not posted since the caps */

  /* --- of the upstream thread --- */
  guint64 number; /* of the next frame, in the stream */

  /* --- of the source pad's thread --- */
  GstLwtOut side_outs[GST_LWT_SIDES];
  gboolean overflowed;      /* and said so, since the caps */
  gboolean offset_remarked; /* likewise, where one leaves */
  gboolean refused_side; /* with an error: nothing of it is taken behind it */
  GstBufferPool *picture_pools[GST_LWT_SIDES + 1]; /* the last: of the source */
  guint64 posted[SURFACE_N_PARTS];                 /* monotonic ns; 0: never */

  /* --- under the filter's stats lock --- */
  GstLwtStats stats;
};

GST_DEBUG_CATEGORY_EXTERN (gst_cuda_lwt_filter_debug);

/* The part of a request pad. */
SurfacePart gst_lwt_side_part (guint kind);

/* --- gstlwtnegotiate.c ----------------------------------------------------- */

/* See GstCvFilterClass. */
GstFlowReturn gst_lwt_negotiate (GstCvFilter *filter, GstCaps *caps);
GstCaps *gst_lwt_get_caps (
    GstCvFilter *filter, GstPad *pad, GstPad *other, GstCaps *filter_caps);
gboolean gst_lwt_accept_caps (GstCvFilter *filter, GstCaps *caps);
gboolean gst_lwt_propose_allocation (GstCvFilter *filter, GstQuery *query);
/* Caps that @pad can give of @part of @surface, computed in @type or, if @other,
 * another float: the first that downstream accepts. Posts an error if it accepts
 * none.
 * Returns: FALSE then
 * @type: (inout): what is to be computed in */
gboolean gst_lwt_choose_out (GstCudaLwtFilter *self, GstPad *pad,
    SurfacePart part, const LwtConfig *config, const GstLwtSurface *surface,
    gboolean other, GstLwtOut *out, LwtType *type);
void gst_lwt_out_clear (GstLwtOut *out);
/* See GstCvFilterClass. */
GstCaps *gst_lwt_side_get_caps (GstCvFilter *filter, guint kind, GstPad *pad);

/* Returns: (transfer full): caps of video in colour */
GstCaps *gst_lwt_video_caps (void);

/* --- gstlwtsetup.c ---------------------------------------------------------- */

/* The wavelet of @text. Returns: FALSE after posting an error. */
gboolean gst_lwt_set_wavelet (GstCudaLwtFilter *self, const gchar *text);
/* The results of @surface that are requested by now. */
GstLwtWanted gst_lwt_get_wanted (
    GstCudaLwtFilter *self, const GstLwtSurface *surface);
/* A new engine for @surface that gives what is @wanted. Nothing is in flight.
 * Returns: FALSE after posting an error */
gboolean gst_lwt_setup (GstCudaLwtFilter *self, const GstLwtSurface *surface,
    const GstLwtWanted *wanted);
/* Tells the source pad, in its turn, what it gives. */
GstFlowReturn gst_lwt_push_caps (GstCudaLwtFilter *self);
/* Frees what gst_lwt_setup() made. */
void gst_lwt_free_engine (GstCudaLwtFilter *self);
/* The pool for @part, or %NULL without memory. */
GstBufferPool *gst_lwt_get_pool (GstCudaLwtFilter *self, SurfacePart part);
/* The same for the pictures of @out; @index: kind of the request pad, GST_LWT_SIDES:
 * the source pad */
GstBufferPool *gst_lwt_get_picture_pool (
    GstCudaLwtFilter *self, guint index, const GstLwtOut *out);
void gst_lwt_free_picture_pool (GstCudaLwtFilter *self, guint index);

/* Posts what the engine of self->config does, once for new caps. */
void gst_lwt_announce (GstCudaLwtFilter *self);
/* Posts which CUDA kernels are used, if they are others than before. Of
 * upstream's thread. */
void gst_lwt_announce_kernels (GstCudaLwtFilter *self);

/* --- gstlwtdenoise.c --------------------------------------------------------- */

/* Chooses and pushes the caps that leave. Not OK after posting an error. */
GstFlowReturn gst_lwt_denoise_negotiate (GstCudaLwtFilter *self);
/* Engines and a pool for frames like @buffer. */
GstFlowReturn gst_lwt_denoise_prepare (
    GstCudaLwtFilter *self, GstBuffer *buffer);
/* Takes @buffer into @frame. On failure @frame may be in_flight: it stays with
 * the engines until the discard then. */
GstFlowReturn gst_lwt_denoise_submit (GstCudaLwtFilter *self,
    GstLwtFrame *frame, GstBuffer *buffer, GError **error);
/* Of the source pad's thread: the first frame in flight is done. */
gboolean gst_lwt_denoise_wait (
    GstCudaLwtFilter *self, GstLwtFrame *frame, GError **error);
/* The buffer to push. */
GstBuffer *gst_lwt_denoise_take (GstCudaLwtFilter *self, GstLwtFrame *frame);
void gst_lwt_denoise_discard (GstCudaLwtFilter *self);
void gst_lwt_denoise_free (GstCudaLwtFilter *self);

/* --- gstlwtinput.c ---------------------------------------------------------- */

/* See GstCvFilterClass. */
GstFlowReturn gst_lwt_input_submit (GstCvFilter *filter, GstMiniObject *object);
/* Posts @error, once what came before has left, and takes it. */
GstFlowReturn gst_lwt_input_refuse (GstCudaLwtFilter *self, GError *error);

/* --- gstlwtoutput.c ---------------------------------------------------------- */

/* See GstCvFilterClass. */
GstFlowReturn gst_lwt_output_complete (GstCvFilter *filter, gpointer item);
void gst_lwt_output_flush (GstCvFilter *filter);
/* Posts the engine's @error and takes it. */
void gst_lwt_engine_failed (GstCudaLwtFilter *self, GError *error);

G_END_DECLS
