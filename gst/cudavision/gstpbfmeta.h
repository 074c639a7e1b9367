/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "cudavision-prelude.h"
#include "pbfrecord.h"

G_BEGIN_DECLS

/* Caps of packed results: buffers hold whole CvisPbfResult records, one for each frame,
 * frames without a melt pool included. */
#define GST_CVIS_PBF_RESULT_MEDIA_TYPE "application/x-pbf-result"
#define GST_CVIS_PBF_RESULT_CAPS                                               \
  GST_CVIS_PBF_RESULT_MEDIA_TYPE ", spec = (string) " CVIS_PBF_FEATURE_SPEC

/* --- GstCvisPbfSignalMeta ------------------------------------------------------ */

#define GST_CVIS_PBF_SIGNAL_META_API_TYPE                                      \
  (gst_cvis_pbf_signal_meta_api_get_type ())
#define GST_CVIS_PBF_SIGNAL_META_INFO (gst_cvis_pbf_signal_meta_get_info ())

typedef struct _GstCvisPbfSignalMeta GstCvisPbfSignalMeta;

/**
 * GstCvisPbfSignalMeta:
 * @meta: parent
 * @signal: the machine's record of this frame, as received (it may be corrupt)
 *
 * No tags: it is kept when the picture changes.
 */
struct _GstCvisPbfSignalMeta {
  GstMeta meta;

  CvisPbfSignal signal;
};

GST_CUDAVISION_API
GType gst_cvis_pbf_signal_meta_api_get_type (void);

GST_CUDAVISION_API
const GstMetaInfo *gst_cvis_pbf_signal_meta_get_info (void);

/**
 * gst_cvis_buffer_add_pbf_signal_meta:
 * @buffer: a writable buffer
 * @signal: the record, which is copied unchecked
 *
 * Returns: (transfer none) (nullable): the meta; %NULL if it cannot be added
 */
GST_CUDAVISION_API
GstCvisPbfSignalMeta *gst_cvis_buffer_add_pbf_signal_meta (
    GstBuffer *buffer, const CvisPbfSignal *signal);

/**
 * gst_cvis_buffer_get_pbf_signal_meta:
 * @buffer: a buffer
 *
 * Returns: (transfer none) (nullable): the meta of @buffer, valid as long as the
 *   buffer has it; %NULL if there is none
 */
GST_CUDAVISION_API
GstCvisPbfSignalMeta *gst_cvis_buffer_get_pbf_signal_meta (GstBuffer *buffer);

/* --- GstCvisPbfTruthMeta ------------------------------------------------------- */

#define GST_CVIS_PBF_TRUTH_META_API_TYPE                                       \
  (gst_cvis_pbf_truth_meta_api_get_type ())
#define GST_CVIS_PBF_TRUTH_META_INFO (gst_cvis_pbf_truth_meta_get_info ())

#define GST_CVIS_PBF_TRUTH_MAX_SPATTERS 32

typedef enum {
  GST_CVIS_PBF_REGIME_NOMINAL,
  GST_CVIS_PBF_REGIME_KEYHOLE,
  GST_CVIS_PBF_REGIME_LACK_OF_FUSION,
  GST_CVIS_PBF_REGIME_SPATTER,
  GST_CVIS_PBF_REGIME_DRIFT,
  GST_CVIS_PBF_REGIME_MIXED,
  GST_CVIS_PBF_REGIME_BUILD,
} GstCvisPbfRegime;

typedef struct _GstCvisPbfTruthMeta GstCvisPbfTruthMeta;

/**
 * GstCvisPbfTruthMeta:
 * @meta: parent
 * @regime: regime of the process (never MIXED or BUILD)
 * @laser_on: whether the frame shows a pool
 * @pool_x, @pool_y: position of the laser spot, pixels, centres at +0.5
 * @pool_area: pixels of the pool at the threshold of 100, before noise
 * @n_spatters: number of spatters in the frame
 * @spatter_x, @spatter_y: their centres, pixels, the first
 *   %GST_CVIS_PBF_TRUTH_MAX_SPATTERS of them
 * @spatter_area: their pixels at the threshold of 100, before noise
 * @severity: of the defect at this frame, 0..1; 0 if the regime is nominal
 * @drift: size of the drift, 0..1; 0 in other regimes
 *
 * Ground truth of a simulated frame. Pixel coordinates: tagged video, size and
 * orientation; lost when the buffer is scaled.
 */
struct _GstCvisPbfTruthMeta {
  GstMeta meta;

  GstCvisPbfRegime regime;
  gboolean laser_on;
  gfloat pool_x;
  gfloat pool_y;
  guint pool_area;
  guint n_spatters;
  gfloat spatter_x[GST_CVIS_PBF_TRUTH_MAX_SPATTERS];
  gfloat spatter_y[GST_CVIS_PBF_TRUTH_MAX_SPATTERS];
  guint16 spatter_area[GST_CVIS_PBF_TRUTH_MAX_SPATTERS];
  gfloat severity;
  gfloat drift;
};

GST_CUDAVISION_API
GType gst_cvis_pbf_truth_meta_api_get_type (void);

GST_CUDAVISION_API
const GstMetaInfo *gst_cvis_pbf_truth_meta_get_info (void);

/**
 * gst_cvis_buffer_add_pbf_truth_meta:
 * @buffer: a writable buffer
 *
 * Adds a meta of zeros, to be filled in.
 *
 * Returns: (transfer none) (nullable): the meta; %NULL if it cannot be added
 */
GST_CUDAVISION_API
GstCvisPbfTruthMeta *gst_cvis_buffer_add_pbf_truth_meta (GstBuffer *buffer);

/**
 * gst_cvis_buffer_get_pbf_truth_meta:
 * @buffer: a buffer
 *
 * Returns: (transfer none) (nullable): the meta of @buffer, valid as long as the
 *   buffer has it; %NULL if there is none
 */
GST_CUDAVISION_API
GstCvisPbfTruthMeta *gst_cvis_buffer_get_pbf_truth_meta (GstBuffer *buffer);

/* --- GstCvisPbfMeta ------------------------------------------------------------ */

#define GST_CVIS_PBF_META_API_TYPE (gst_cvis_pbf_meta_api_get_type ())
#define GST_CVIS_PBF_META_INFO (gst_cvis_pbf_meta_get_info ())

typedef struct _GstCvisPbfMeta GstCvisPbfMeta;

/**
 * GstCvisPbfMeta:
 * @meta: parent
 * @result: the record; valid as long as the meta exists
 * @records: the buffer that holds @result (one for many frames), referenced
 * @latency: from the frame's arrival in the element to the result's, ns
 * @offset_x, @offset_y, @scale_x, @scale_y: a point (x, y) of the analysed
 *   frame is (x * scale_x + offset_x, y * scale_y + offset_y) of this buffer:
 *   0 and 1 until the picture is scaled
 *
 * The 40 features, raw integers, network outputs, flags and signals of a frame.
 * Tagged video, size and orientation; kept by copies, and by scaling that keeps the
 * displayed shape of the picture.
 */
struct _GstCvisPbfMeta {
  GstMeta meta;

  const CvisPbfResult *result;
  GstBuffer *records;
  GstClockTime latency;
  gdouble offset_x;
  gdouble offset_y;
  gdouble scale_x;
  gdouble scale_y;
};

GST_CUDAVISION_API
GType gst_cvis_pbf_meta_api_get_type (void);

GST_CUDAVISION_API
const GstMetaInfo *gst_cvis_pbf_meta_get_info (void);

/**
 * gst_cvis_buffer_add_pbf_meta: (skip)
 * @buffer: a writable buffer
 * @records: (transfer none): the buffer with @result, in a memory whose address
 *   stays the same when it is not mapped; referenced
 * @result: the record
 * @latency: from the frame's arrival in the element to the result's, ns
 *
 * Returns: (transfer none) (nullable): the meta; %NULL if it cannot be added
 */
GST_CUDAVISION_API
GstCvisPbfMeta *gst_cvis_buffer_add_pbf_meta (GstBuffer *buffer,
    GstBuffer *records, const CvisPbfResult *result, GstClockTime latency);

/**
 * gst_cvis_buffer_get_pbf_meta:
 * @buffer: a buffer
 *
 * Returns: (transfer none) (nullable): the meta of @buffer, valid as long as the
 *   buffer has it; %NULL if there is none
 */
GST_CUDAVISION_API
GstCvisPbfMeta *gst_cvis_buffer_get_pbf_meta (GstBuffer *buffer);

/**
 * gst_cvis_pbf_meta_get_result_bytes:
 * @meta: a meta
 *
 * The record for programs that cannot read a #CvisPbfResult in place. The bytes stay
 * valid when the buffer is freed.
 *
 * Returns: (transfer full): the bytes of the #CvisPbfResult, not copied
 */
GST_CUDAVISION_API
GBytes *gst_cvis_pbf_meta_get_result_bytes (const GstCvisPbfMeta *meta);

G_END_DECLS
