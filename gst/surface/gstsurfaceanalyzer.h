/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* GstSurfaceAnalyzer: abstract base class of elements that compute one result for each
 * surface, as GstCvisAnalyzer, its parent, does for frames of video. Surfaces are in
 * system memory; for a stage they are uploaded. */
#pragma once

#include "gst/common/filter/gstcvisanalyzer.h"
#include "gst/cudavision/cudavision.h"

G_BEGIN_DECLS

#define GST_TYPE_SURFACE_ANALYZER (gst_surface_analyzer_get_type ())
#define GST_SURFACE_ANALYZER(obj)                                              \
  (G_TYPE_CHECK_INSTANCE_CAST (                                                \
      (obj), GST_TYPE_SURFACE_ANALYZER, GstSurfaceAnalyzer))
#define GST_SURFACE_ANALYZER_CLASS(klass)                                      \
  (G_TYPE_CHECK_CLASS_CAST (                                                   \
      (klass), GST_TYPE_SURFACE_ANALYZER, GstSurfaceAnalyzerClass))
#define GST_SURFACE_ANALYZER_GET_CLASS(obj)                                    \
  (G_TYPE_INSTANCE_GET_CLASS (                                                 \
      (obj), GST_TYPE_SURFACE_ANALYZER, GstSurfaceAnalyzerClass))

typedef struct _GstSurfaceAnalyzer GstSurfaceAnalyzer;
typedef struct _GstSurfaceAnalyzerClass GstSurfaceAnalyzerClass;

/**
 * GstSurfaceView: a mapped surface
 * @data: rows of samples without padding, in system memory if there is no stage, else on
 *   the stage's device
 * @info: of the caps
 * @meta: (nullable): spacing and scale of the samples, their missing points
 */
typedef struct {
  gconstpointer data;
  GstCvisSurfaceInfo info;
  const GstCvisSurfaceMeta *meta;
} GstSurfaceView;

/**
 * GstSurfaceAnalyzer:
 * @info: of the caps; of upstream's thread, while the task is idle
 */
struct _GstSurfaceAnalyzer {
  GstCvisAnalyzer analyzer;

  GstCvisSurfaceInfo info;
};

/**
 * GstSurfaceAnalyzerClass:
 * @compute: (required): adds the fields of the result of @surface to @result; as that of
 *   GstCvisAnalyzerClass
 */
struct _GstSurfaceAnalyzerClass {
  GstCvisAnalyzerClass parent_class;

  gboolean (*compute) (GstSurfaceAnalyzer *analyzer,
      const GstSurfaceView *surface, CvisStage *stage, GstStructure *result,
      GError **error);
};

GType gst_surface_analyzer_get_type (void);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstSurfaceAnalyzer, gst_object_unref)

/* For class_init: the pads and the meta. */
void gst_surface_analyzer_class_install (GstSurfaceAnalyzerClass *klass);

G_END_DECLS
