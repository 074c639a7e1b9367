/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Private parts of cudalwtfilter, for its files. Each calls only those below it:
 * gstcudalwtfilter.c  the element: states, pads
 * gstlwtnegotiate.c   caps and queries
 * gstlwtinput.c       the upstream thread: surfaces and events into the engine
 * gstlwtoutput.c      the source pad's task: components out of the engine
 * gstlwtsetup.c       the engine for input and requested components
 * gstlwtoutcaps.c     the caps that the pads give
 * gstlwtmissing.c     missing points of a transform's results
 * gstlwtoverflow.c    heights that are too large
 * gstlwtframe.c       a surface in flight, and the buffers made of it
 * gstlwtsurface.c     the input surfaces
 * gstlwtsettings.c    the properties of the computation
 * gstlwtstats.c       counters */
#pragma once

#include "gst/common/filter/gstcvisfilter.h"
#include "gstcudalwtfilter.h"
#include "gstlwtframe.h"
#include "gstlwtstats.h"

G_BEGIN_DECLS

#define GST_LWT_GREY_CAPS                                                      \
  "video/x-raw, format = (string) { GRAY8, GRAY16_LE }, "                      \
  "width = (int) [ 1, 1048576 ], height = (int) [ 1, 1048576 ]"
/* tensors and grey pictures */
#define GST_LWT_SURFACE_CAPS GST_CVIS_SURFACE_CAPS "; " GST_LWT_GREY_CAPS

/* request pads: src_roughness and so on */
#define GST_LWT_SIDES 5

/**
 * GstLwtWanted: the requested results of a surface
 * @parts: components that leave
 * @parameters: components whose parameters are computed, whether they leave or not
 * @sides: request pads in use: 1 << kind
 */
typedef struct {
  LwtParts parts, parameters;
  guint sides;
} GstLwtWanted;

struct _GstCudaLwtFilter {
  GstCvisFilter filter;

  /* --- under the object lock --- */
  GstLwtSettings settings;

  /* --- set in READY to PAUSED, before any thread runs --- */
  GstLwtSettings wanted;
  CvisSurfacePart part; /* of the source pad */
  gboolean passes;      /* the source pad gives the input, with parameters */

  /* --- set by the upstream thread while the task is idle --- */
  GstLwtLayout layout; /* of the caps */
  GstCaps *caps;
  LwtWavelet *wavelet;
  gchar *wavelet_text;            /* the text of wavelet */
  GstLwtSurface surface;          /* the engine was made for it */
  LwtConfig config;               /* of the engine */
  GstCvisSurfaceMeta description; /* the filter, for the metas */
  LwtEngine *engine;
  GstLwtOut out; /* of the source pad */
  GstBufferPool
      *pools[CVIS_SURFACE_N_PARTS]; /* by part; NULL: not needed yet */
  gboolean announce; /* a message about the engine is due since the caps */

  /* --- of the upstream thread --- */
  GstLwtWanted next; /* requested results of the surface that is submitted */
  gboolean started;  /* an engine was made since the start */
  guint ignored;     /* request pads with a warning: 1 << kind */

  /* --- of the source pad's thread --- */
  GstLwtOut side_outs[GST_LWT_SIDES];
  gboolean overflowed; /* the warning was posted since the caps */
  gboolean clip_remarked, missing_remarked; /* so were these */
  gboolean offset_remarked; /* so was the warning about an offset */
  GstBufferPool *picture_pools[GST_LWT_SIDES + 1]; /* last: the source pad's */
  guint64 posted[CVIS_SURFACE_N_PARTS];            /* monotonic ns; 0: never */

  /* --- under the filter's stats lock --- */
  GstLwtStats stats;
};

GST_DEBUG_CATEGORY_EXTERN (gst_cuda_lwt_filter_debug);

/* --- gstlwtnegotiate.c ----------------------------------------------------- */

/* See GstCvisFilterClass. */
GstFlowReturn gst_lwt_negotiate (GstCvisFilter *filter, GstCaps *caps);
GstCaps *gst_lwt_get_caps (
    GstCvisFilter *filter, GstPad *pad, GstPad *other, GstCaps *filter_caps);
gboolean gst_lwt_accept_caps (GstCvisFilter *filter, GstCaps *caps);
gboolean gst_lwt_propose_allocation (GstCvisFilter *filter, GstQuery *query);
/* See GstCvisFilterClass. */
GstFlowReturn gst_lwt_side_get_caps (
    GstCvisFilter *filter, guint kind, GstPad *pad, GstCaps **caps);

/* --- gstlwtsetup.c ---------------------------------------------------------- */

/* The wavelet of @text. Returns: FALSE after posting an error. */
gboolean gst_lwt_set_wavelet (GstCudaLwtFilter *self, const gchar *text);
/* The results of @surface that are currently requested. */
GstLwtWanted gst_lwt_get_wanted (
    GstCudaLwtFilter *self, const GstLwtSurface *surface);
/* Makes an engine for @surface that gives @wanted, while nothing is in flight.
 * Returns: FALSE after posting an error */
gboolean gst_lwt_setup (GstCudaLwtFilter *self, const GstLwtSurface *surface,
    const GstLwtWanted *wanted);
/* Frees what gst_lwt_setup() made. */
void gst_lwt_free_engine (GstCudaLwtFilter *self);
/* The pool for @part, or %NULL without memory. */
GstBufferPool *gst_lwt_get_pool (GstCudaLwtFilter *self, CvisSurfacePart part);
/* The same for the pictures of @out; @index: kind of the request pad, or
 * GST_LWT_SIDES for the source pad */
GstBufferPool *gst_lwt_get_picture_pool (
    GstCudaLwtFilter *self, guint index, const GstLwtOut *out);
void gst_lwt_free_picture_pool (GstCudaLwtFilter *self, guint index);

/* --- gstlwtoutcaps.c -------------------------------------------------------- */

/* The component of a request pad. */
CvisSurfacePart gst_lwt_side_part (guint kind);
/* Chooses the caps of @pad for @part of @surface, computed in @type or, if @other,
 * in the other float type: the first that downstream accepts.
 * @type: (inout): type of the arithmetic
 * Returns: FALSE after posting an error, if downstream accepts none */
gboolean gst_lwt_choose_out (GstCudaLwtFilter *self, GstPad *pad,
    CvisSurfacePart part, const LwtConfig *config, const GstLwtSurface *surface,
    gboolean other, GstLwtOut *out, LwtType *type);
void gst_lwt_out_clear (GstLwtOut *out);
/* Queues the caps of the source pad. */
GstFlowReturn gst_lwt_push_caps (GstCudaLwtFilter *self);

/* --- gstlwtframe.c ---------------------------------------------------------- */

/* Takes the input surface out of @frame, whose job is done, and adds a
 * GstCvisSurfaceMeta for each component with parameters, after the one that describes
 * its samples. */
GstBuffer *gst_lwt_frame_pass (
    const GstCudaLwtFilter *self, GstLwtFrame *frame);
/* The buffer for the pad of @out: for tensors a reference to the component's; a picture
 * is of @pool, and frame->clipped becomes the number of its points that were clipped.
 * Returns: (transfer full) (nullable): %NULL without memory */
GstBuffer *gst_lwt_frame_make (const GstCudaLwtFilter *self, GstLwtFrame *frame,
    const GstLwtOut *out, GstBufferPool *pool);

/* --- gstlwtinput.c ---------------------------------------------------------- */

/* See GstCvisFilterClass. */
GstFlowReturn gst_lwt_input_prepare (GstCvisFilter *filter, GstBuffer *buffer);
GstFlowReturn gst_lwt_input_begin (
    GstCvisFilter *filter, gpointer item, GstBuffer *buffer, GError **error);

/* --- gstlwtoutput.c ---------------------------------------------------------- */

/* See GstCvisFilterClass. */
GstFlowReturn gst_lwt_output_complete (GstCvisFilter *filter, gpointer item);
void gst_lwt_output_drain (GstCvisFilter *filter);

G_END_DECLS
