/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* GstCvisAnalyzer: abstract base class of elements that compute one result for each frame
 * of video (of surfaces: GstSurfaceAnalyzer, gst/surface). A subclass gives the video that
 * it takes and one function. All else is here and in GstCvisFilter: both backends, frames
 * in system and in CUDA memory, threads, flushing, statistics.
 * docs/tutorials/new-element.md makes one.
 *
 * Frames pass unchanged, with a custom meta of the name of the type and "Meta", such as
 * GstCudaLumaMeanMeta: gst_buffer_get_custom_meta() has the result. The element message
 * ELEMENT-result has it too, with the frame's number and times, at most every
 * message-interval. */
#pragma once

#include "cuda/core/plane.h"
#include "gstcvisfilter.h"
#include "gstcvisvideo.h"

G_BEGIN_DECLS

#define GST_TYPE_CVIS_ANALYZER (gst_cvis_analyzer_get_type ())
#define GST_CVIS_ANALYZER(obj)                                                 \
  (G_TYPE_CHECK_INSTANCE_CAST ((obj), GST_TYPE_CVIS_ANALYZER, GstCvisAnalyzer))
#define GST_CVIS_ANALYZER_CLASS(klass)                                         \
  (G_TYPE_CHECK_CLASS_CAST (                                                   \
      (klass), GST_TYPE_CVIS_ANALYZER, GstCvisAnalyzerClass))
#define GST_CVIS_ANALYZER_GET_CLASS(obj)                                       \
  (G_TYPE_INSTANCE_GET_CLASS (                                                 \
      (obj), GST_TYPE_CVIS_ANALYZER, GstCvisAnalyzerClass))

typedef struct _GstCvisAnalyzer GstCvisAnalyzer;
typedef struct _GstCvisAnalyzerClass GstCvisAnalyzerClass;
typedef struct _GstCvisAnalyzerPrivate GstCvisAnalyzerPrivate;

struct _GstCvisAnalyzer {
  GstCvisFilter filter;

  GstCvisAnalyzerPrivate *priv;
};

/**
 * GstCvisAnalyzerClass:
 * @compute: (required for video): adds the fields of the result of @frame to @result. Its planes
 *   are in system memory if @stage is %NULL, else on the device of @stage, where they are
 *   read until cvis_stage_end(). Of the source pad's task. Returns: FALSE with @error,
 *   which ends the stream
 * @compute_buffer: the same for any medium. Default: maps video, uploads it if there is
 *   a @stage, and calls @compute
 */
struct _GstCvisAnalyzerClass {
  GstCvisFilterClass parent_class;

  gboolean (*compute) (GstCvisAnalyzer *analyzer, const GstVideoFrame *frame,
      CvisStage *stage, GstStructure *result, GError **error);
  gboolean (*compute_buffer) (GstCvisAnalyzer *analyzer, GstBuffer *buffer,
      CvisStage *stage, GstStructure *result, GError **error);

  /*< private >*/
  const GstCvisVideoKind *kind;
  const GstMetaInfo *meta;
};

GType gst_cvis_analyzer_get_type (void);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstCvisAnalyzer, gst_object_unref)

/* For class_init: the pads and the meta.
 * @kind: (nullable): static; %NULL: the class has pads and set_caps() of its own */
void gst_cvis_analyzer_class_install (
    GstCvisAnalyzerClass *klass, const GstCvisVideoKind *kind);

/* The samples of @component of @frame, for the functions of cuda/: 0 is the luma. */
CvisPlane gst_cvis_frame_plane (const GstVideoFrame *frame, guint component);

G_END_DECLS
