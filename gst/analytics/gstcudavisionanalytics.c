/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/**
 * SECTION:element-cudavisionanalytics
 * @title: cudavisionanalytics
 * @short_description: adds GStreamer's analytics metas
 *
 * Adds the results of cudapbfmonitor and cudamotionest to each frame as
 * GstAnalyticsRelationMeta and GstTensorMeta, for elements and applications that
 * support only GStreamer's own metas.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 pbftestsrc ! cudapbfmonitor ! cudavisionanalytics ! videoconvert ! objectdetectionoverlay ! videoconvert ! autovideosink
 * ]|
 *
 * Since: 0.1
 */
#include "gstcudavisionanalytics.h"

#include <gst/analytics/analytics.h>
#include <gst/cudavision/gstmotionmeta.h>
#include <gst/cudavision/gstpbfmeta.h>
#include <gst/video/video.h>
#include <math.h>

GST_DEBUG_CATEGORY_STATIC (gst_cudavision_analytics_debug);
#define GST_CAT_DEFAULT gst_cudavision_analytics_debug

#define HAVE_TENSORS GST_CHECK_VERSION (1, 26, 0)
#define MAX_TENSORS (2 + CVIS_MOTION_MAX_FIELDS)

struct _GstCudavisionAnalytics {
  GstBaseTransform parent;

  /* guarded by the object lock */
  gboolean objects;
  gboolean tensors;

  /* of the streaming thread: the track of the melt pool */
  gboolean pool_there;
  guint64 pool_track;
  GstClockTime pool_first_seen;
};

enum {
  PROP_0,
  PROP_OBJECTS,
  PROP_TENSORS,
};

#define CAPS "video/x-raw(ANY)"

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (CAPS));

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (CAPS));

#define gst_cudavision_analytics_parent_class parent_class
G_DEFINE_TYPE (
    GstCudavisionAnalytics, gst_cudavision_analytics, GST_TYPE_BASE_TRANSFORM);
GST_ELEMENT_REGISTER_DEFINE (cudavisionanalytics, "cudavisionanalytics",
    GST_RANK_NONE, GST_TYPE_CUDAVISION_ANALYTICS);

/* --- objects --------------------------------------------------------------- */

/* Returns: *@relations, which is added to @buffer if it is %NULL */
static GstAnalyticsRelationMeta *
get_relations (GstBuffer *buffer, GstAnalyticsRelationMeta **relations)
{
  if (*relations == NULL)
    *relations = gst_buffer_get_analytics_relation_meta (buffer);
  if (*relations == NULL)
    *relations = gst_buffer_add_analytics_relation_meta (buffer);
  return *relations;
}

/* A rectangle of the analysed frame in pixels of this buffer */
static void
add_object (GstAnalyticsRelationMeta *relations, const GstCvisPbfMeta *meta,
    const gchar *type, gdouble x, gdouble y, gdouble width, gdouble height,
    GstAnalyticsODMtd *object)
{
  const gdouble left = x * meta->scale_x + meta->offset_x;
  const gdouble top = y * meta->scale_y + meta->offset_y;
  const gint from_x = (gint) floor (left), from_y = (gint) floor (top);

  gst_analytics_relation_meta_add_od_mtd (relations,
      g_quark_from_static_string (type), from_x, from_y,
      (gint) ceil (left + width * meta->scale_x) - from_x,
      (gint) ceil (top + height * meta->scale_y) - from_y, 1.0f, object);
}

/* The melt pool, with a track that ends at the first frame without a pool */
static void
add_pool (GstCudavisionAnalytics *self, GstBuffer *buffer,
    GstAnalyticsRelationMeta *relations, const GstCvisPbfMeta *meta)
{
  const CvisPbfResult *result = meta->result;
  GstAnalyticsODMtd pool;
  GstAnalyticsTrackingMtd track;

  if (!self->pool_there) {
    self->pool_track++;
    self->pool_first_seen = GST_BUFFER_PTS (buffer);
  }
  add_object (relations, meta, "melt-pool", result->bbox_x, result->bbox_y,
      result->bbox_width, result->bbox_height, &pool);
  if (!gst_analytics_relation_meta_add_tracking_mtd (
          relations, self->pool_track, self->pool_first_seen, &track))
    return;
  gst_analytics_tracking_mtd_update_last_seen (&track, GST_BUFFER_PTS (buffer));
  gst_analytics_relation_meta_set_relation (
      relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, pool.id, track.id);
  gst_analytics_relation_meta_set_relation (
      relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, track.id, pool.id);
}

/* Records have the centre and the area of a spatter: a square of that area */
static void
add_spatters (GstAnalyticsRelationMeta *relations, const GstCvisPbfMeta *meta)
{
  for (guint i = 0; i < meta->result->n_spatters; i++) {
    const CvisPbfSpatter *spatter = &meta->result->spatters[i];
    const gdouble side = sqrt (spatter->area);
    GstAnalyticsODMtd object;

    add_object (relations, meta, "spatter", spatter->x_q8 / 256.0 - side / 2,
        spatter->y_q8 / 256.0 - side / 2, side, side, &object);
  }
}

/* The moving regions of cudamotionest's property roi */
static void
add_regions (GstBuffer *buffer, GstAnalyticsRelationMeta **relations)
{
  gpointer state = NULL;
  GstMeta *meta;

  while ((meta = gst_buffer_iterate_meta_filtered (
              buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    const GstVideoRegionOfInterestMeta *region =
        (const GstVideoRegionOfInterestMeta *) meta;
    GstAnalyticsODMtd object;

    if (region->roi_type == g_quark_from_static_string ("motion"))
      gst_analytics_relation_meta_add_od_mtd (get_relations (buffer, relations),
          g_quark_from_static_string ("moving-region"), (gint) region->x,
          (gint) region->y, (gint) region->w, (gint) region->h, 1.0f, &object);
  }
}

static void
add_objects (GstCudavisionAnalytics *self, GstBuffer *buffer)
{
  const GstCvisPbfMeta *meta = gst_cvis_buffer_get_pbf_meta (buffer);
  const gboolean pool = meta != NULL && meta->result->bbox_width > 0;
  GstAnalyticsRelationMeta *relations = NULL;

  if (pool)
    add_pool (self, buffer, get_relations (buffer, &relations), meta);
  self->pool_there = pool;
  if (meta != NULL && meta->result->n_spatters > 0)
    add_spatters (get_relations (buffer, &relations), meta);
  add_regions (buffer, &relations);
}

/* --- tensors --------------------------------------------------------------- */

#if HAVE_TENSORS
/* A tensor of float32 in row-major order; takes @values. */
static GstTensor *
make_tensor (const gchar *id, gfloat *values, gsize n_dims, gsize *dims)
{
  gsize size = sizeof *values;

  for (gsize i = 0; i < n_dims; i++)
    size *= dims[i];
  return gst_tensor_new_simple (g_quark_from_static_string (id),
      GST_TENSOR_DATA_TYPE_FLOAT32, gst_buffer_new_wrapped (values, size),
      GST_TENSOR_DIM_ORDER_ROW_MAJOR, n_dims, dims);
}

static GstTensor *
make_line_tensor (const gchar *id, const gfloat *values, gsize n)
{
  return make_tensor (id, g_memdup2 (values, n * sizeof *values), 1, &n);
}

/* Vectors in pixels of this buffer */
static GstTensor *
make_vector_tensor (const GstCvisMotionVectorMeta *meta)
{
  const gsize columns = meta->packet->columns, rows = meta->packet->rows;
  gsize dims[] = { rows, columns, 2 };
  gfloat *values = g_new (gfloat, columns * rows * 2);

  for (gsize i = 0; i < columns * rows; i++) {
    values[2 * i] = (gfloat) (meta->vectors[i].x / 4.0 * meta->scale_x);
    values[2 * i + 1] = (gfloat) (meta->vectors[i].y / 4.0 * meta->scale_y);
  }
  return make_tensor ("motion-vectors", values, G_N_ELEMENTS (dims), dims);
}

static void
add_tensors (GstBuffer *buffer)
{
  const GstCvisPbfMeta *pbf = gst_cvis_buffer_get_pbf_meta (buffer);
  GstTensor *tensors[MAX_TENSORS], **owned;
  guint n = 0;
  gpointer state = NULL;
  GstMeta *meta;

  if (pbf != NULL) {
    const CvisPbfResult *result = pbf->result;

    tensors[n++] = make_line_tensor (
        CVIS_PBF_FEATURE_SPEC, result->features, CVIS_PBF_N_FEATURES);
    if (result->n_outputs > 0)
      tensors[n++] =
          make_line_tensor ("pbf-outputs", result->outputs, result->n_outputs);
  }
  while (n < MAX_TENSORS
         && (meta = gst_buffer_iterate_meta_filtered (
                 buffer, &state, GST_CVIS_MOTION_VECTOR_META_API_TYPE)))
    tensors[n++] = make_vector_tensor ((const GstCvisMotionVectorMeta *) meta);
  if (n == 0)
    return;
  owned = g_memdup2 (tensors, n * sizeof *tensors);
  gst_tensor_meta_set (gst_buffer_add_tensor_meta (buffer), n, owned);
}
#endif

/* --- GstBaseTransform ------------------------------------------------------ */

static GstFlowReturn
gst_cudavision_analytics_transform_ip (
    GstBaseTransform *transform, GstBuffer *buffer)
{
  GstCudavisionAnalytics *self = GST_CUDAVISION_ANALYTICS (transform);
  gboolean objects;
  gboolean tensors G_GNUC_UNUSED; /* before GStreamer 1.26 */

  GST_OBJECT_LOCK (self);
  objects = self->objects;
  tensors = self->tensors;
  GST_OBJECT_UNLOCK (self);
  if (objects)
    add_objects (self, buffer);
#if HAVE_TENSORS
  if (tensors)
    add_tensors (buffer);
#endif
  return GST_FLOW_OK;
}

static gboolean
gst_cudavision_analytics_start (GstBaseTransform *transform)
{
  GstCudavisionAnalytics *self = GST_CUDAVISION_ANALYTICS (transform);

  self->pool_there = FALSE;
  self->pool_track = 0;
  return TRUE;
}

static void
gst_cudavision_analytics_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstCudavisionAnalytics *self = GST_CUDAVISION_ANALYTICS (object);

  GST_OBJECT_LOCK (self);
  if (id == PROP_OBJECTS)
    self->objects = g_value_get_boolean (value);
  else if (id == PROP_TENSORS)
    self->tensors = g_value_get_boolean (value);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_cudavision_analytics_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstCudavisionAnalytics *self = GST_CUDAVISION_ANALYTICS (object);

  GST_OBJECT_LOCK (self);
  if (id == PROP_OBJECTS)
    g_value_set_boolean (value, self->objects);
  else if (id == PROP_TENSORS)
    g_value_set_boolean (value, self->tensors);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_cudavision_analytics_class_init (GstCudavisionAnalyticsClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *transform_class = GST_BASE_TRANSFORM_CLASS (klass);
  const GParamFlags flags =
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING;

  object_class->set_property = gst_cudavision_analytics_set_property;
  object_class->get_property = gst_cudavision_analytics_get_property;
  transform_class->start = gst_cudavision_analytics_start;
  transform_class->transform_ip = gst_cudavision_analytics_transform_ip;

  g_object_class_install_property (object_class, PROP_OBJECTS,
      g_param_spec_boolean ("objects", "Objects",
          "Add melt pool, spatters and moving regions as "
          "GstAnalyticsRelationMeta",
          TRUE, flags));
  g_object_class_install_property (object_class, PROP_TENSORS,
      g_param_spec_boolean ("tensors", "Tensors",
          "Add features, outputs of the network and motion vectors as "
          "GstTensorMeta (GStreamer 1.26 and newer)",
          TRUE, flags));

  gst_element_class_set_static_metadata (element_class, "Analytics metas",
      "Filter/Analyzer/Video",
      "Adds GStreamer's analytics metas for the results of cudapbfmonitor and "
      "cudamotionest",
      "the gst-cudavision authors");
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  GST_DEBUG_CATEGORY_INIT (gst_cudavision_analytics_debug,
      "cudavisionanalytics", 0, "analytics metas");
}

static void
gst_cudavision_analytics_init (GstCudavisionAnalytics *self)
{
  self->objects = self->tensors = TRUE;
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
}
