/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/**
 * SECTION:element-surfacetestsrc
 * @title: surfacetestsrc
 * @short_description: simulates surfaces with known components
 *
 * Simulates surfaces: form, waviness, roughness and scratches of given heights and
 * lengths, alone or together, that move under the instrument. Optional are missing
 * points, and a rougher surface from time to time. The same settings give the same
 * surfaces.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 surfacetestsrc ! surfacecolor hill-shade=0.5 ! videoconvert ! autovideosink
 * ]|
 *
 * Since: 0.1
 */
#include "gstsurfacetestsrc.h"

#include <gst/cudavision/gstsurfacemeta.h>
#include <math.h>
#include "gst/common/gstcvissettings.h"

#include "gst/common/gstcvisquery.h"
#include "cuda/core/threadpool.h"
#include "cuda/surface/sim.h"

GST_DEBUG_CATEGORY_STATIC (gst_surface_test_src_debug);
#define GST_CAT_DEFAULT gst_surface_test_src_debug

#define DEFAULT_SIDE 512
#define DEFAULT_FPS 30

typedef struct {
  SurfaceSim sim;
  guint event_period;
  gdouble event_gain;
} Settings;

struct _GstSurfaceTestSrc {
  GstPushSrc parent;

  Settings settings; /* guarded by the object lock */

  /* of the streaming thread */
  GstCvisSurfaceInfo info;
  CvisPool *pool;
  guint64 frame;
  guint64 first_frame;     /* number of the first one with these caps */
  GstClockTime first_time; /* and its time */
  gboolean sought;         /* frame follows from the segment's position */
};

enum {
  PROP_IS_LIVE = 1,
  PROP_SETTING,
};

static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (
            "other/tensors, format = (string) static, num_tensors = (int) 1, "
            "types = (string) float32, framerate = (fraction) [ 1/2147483647, "
            "2147483647/1 ]"));

static const GFlagsValue parts_values[] = {
  { SURFACE_SIM_FORM, "A paraboloid over the field of view", "form" },
  { SURFACE_SIM_WAVINESS, "Two crossed waves", "waviness" },
  { SURFACE_SIM_ROUGHNESS, "Noise of limited band", "roughness" },
  { SURFACE_SIM_SCRATCHES, "Straight grooves", "scratches" },
  { 0, NULL, NULL },
};

#define FIELD(name) G_STRUCT_OFFSET (Settings, name)
#define LIVE GST_CVIS_CONTROLLABLE

static const GstCvisSetting settings_table[] = {
  { "parts", "Components that the surface is the sum of",
      GST_CVIS_SETTING_FLAGS, FIELD (sim.parts), TRUE, 0, 0,
      "GstSurfaceTestSrcParts", NULL, parts_values },
  { "seed", "Seed of roughness, scratches and missing points",
      GST_CVIS_SETTING_UINT, FIELD (sim.seed), TRUE, 0, G_MAXUINT },
  { "dx", "Sample spacing along x in metres", GST_CVIS_SETTING_DOUBLE,
      FIELD (sim.dx), FALSE, 1e-12, 1 },
  { "dy", "Sample spacing along y in metres", GST_CVIS_SETTING_DOUBLE,
      FIELD (sim.dy), FALSE, 1e-12, 1 },
  { "offset", "Offset in metres added to every height", GST_CVIS_SETTING_DOUBLE,
      FIELD (sim.offset), LIVE, -1, 1 },
  { "form-height", "Height of the form's centre over its corners, metres",
      GST_CVIS_SETTING_DOUBLE, FIELD (sim.form), LIVE, -1, 1 },
  { "waviness",
      "Amplitude in metres of the waviness; the crossing wave has half of it",
      GST_CVIS_SETTING_DOUBLE, FIELD (sim.waviness), LIVE, 0, 1 },
  { "waviness-length", "Wavelength of the waviness in metres",
      GST_CVIS_SETTING_DOUBLE, FIELD (sim.waviness_length), LIVE, 1e-9, 1 },
  { "roughness", "Standard deviation (Sq) in metres of the roughness",
      GST_CVIS_SETTING_DOUBLE, FIELD (sim.roughness), LIVE, 0, 1 },
  { "roughness-length",
      "Wavelength in metres of the shortest waves of the roughness; the "
      "longest is four times this",
      GST_CVIS_SETTING_DOUBLE, FIELD (sim.roughness_length), LIVE, 1e-9, 1 },
  { "scratches", "Mean number of scratches in a square of 512 samples",
      GST_CVIS_SETTING_DOUBLE, FIELD (sim.scratches), LIVE, 0, 64 },
  { "scratch-depth", "Depth in metres of the deepest scratch",
      GST_CVIS_SETTING_DOUBLE, FIELD (sim.scratch_depth), LIVE, 0, 1 },
  { "scratch-width", "Width in metres of scratches at half their depth",
      GST_CVIS_SETTING_DOUBLE, FIELD (sim.scratch_width), LIVE, 1e-9, 1 },
  { "missing", "Approximate fraction of missing points, 0 to 1",
      GST_CVIS_SETTING_DOUBLE, FIELD (sim.missing), LIVE, 0, 1 },
  { "event-period",
      "Every event-period-th surface is rougher, by the factor event-gain; 0: "
      "none",
      GST_CVIS_SETTING_UINT, FIELD (event_period), TRUE, 0, G_MAXUINT },
  { "event-gain", "Factor by which every event-period-th surface is rougher",
      GST_CVIS_SETTING_DOUBLE, FIELD (event_gain), LIVE, 0, 1000 },
  { "velocity-x", "Motion of all but the form, metres per surface",
      GST_CVIS_SETTING_DOUBLE, FIELD (sim.velocity[0]), LIVE, -1, 1 },
  { "velocity-y", "Motion of all but the form, metres per surface",
      GST_CVIS_SETTING_DOUBLE, FIELD (sim.velocity[1]), LIVE, -1, 1 },
};

#define gst_surface_test_src_parent_class parent_class
G_DEFINE_FINAL_TYPE (GstSurfaceTestSrc, gst_surface_test_src, GST_TYPE_PUSH_SRC)
GST_ELEMENT_REGISTER_DEFINE (
    surfacetestsrc, "surfacetestsrc", GST_RANK_NONE, GST_TYPE_SURFACE_TEST_SRC);

/* --- negotiation ------------------------------------------------------------- */

static GstCaps *
gst_surface_test_src_fixate (GstBaseSrc *base, GstCaps *caps)
{
  GstStructure *structure;

  caps = gst_caps_make_writable (gst_caps_truncate (caps));
  structure = gst_caps_get_structure (caps, 0);
  gst_structure_fixate_field_nearest_fraction (
      structure, "framerate", DEFAULT_FPS, 1);
  if (!gst_structure_has_field (structure, "dimensions")) {
    gchar *text = g_strdup_printf ("%d:%d:1:1", DEFAULT_SIDE, DEFAULT_SIDE);

    gst_structure_set (structure, "dimensions", G_TYPE_STRING, text, NULL);
    g_free (text);
  }
  GST_OBJECT_LOCK (base);
  gst_structure_set (structure, "surface-dx", G_TYPE_DOUBLE,
      GST_SURFACE_TEST_SRC (base)->settings.sim.dx, "surface-dy", G_TYPE_DOUBLE,
      GST_SURFACE_TEST_SRC (base)->settings.sim.dy, NULL);
  GST_OBJECT_UNLOCK (base);
  return GST_BASE_SRC_CLASS (parent_class)->fixate (base, caps);
}

static GstClockTime
get_simulated_time (GstSurfaceTestSrc *self, guint64 frame)
{
  return self->first_time
         + gst_util_uint64_scale (frame - self->first_frame,
             (guint64) self->info.fps_d * GST_SECOND,
             (guint64) self->info.fps_n);
}

static gboolean
gst_surface_test_src_set_caps (GstBaseSrc *base, GstCaps *caps)
{
  GstSurfaceTestSrc *self = GST_SURFACE_TEST_SRC (base);
  GError *error = NULL;
  GstCvisSurfaceInfo info;

  if (!gst_cvis_surface_info_from_caps (&info, caps, &error)) {
    GST_ELEMENT_ERROR (self, CORE, NEGOTIATION,
        ("Unsupported caps: %s. \"gst-inspect-1.0 surfacetestsrc\" lists the "
         "supported caps.",
            error->message),
        ("%" GST_PTR_FORMAT, caps));
    g_clear_error (&error);
    return FALSE;
  }
  if (gst_cvis_surface_info_get_size (&info) > G_MAXUINT) {
    GST_ELEMENT_ERROR (self, CORE, NEGOTIATION,
        ("Unsupported caps: surfaces of %ux%u points have %" G_GSIZE_FORMAT
         " bytes, and a buffer less than 4 GiB. Use fewer points.",
            info.width, info.height, gst_cvis_surface_info_get_size (&info)),
        (NULL));
    return FALSE;
  }
  if (info.fps_n > 0 && self->info.fps_n > 0 && !self->sought) {
    self->first_time = get_simulated_time (self, self->frame);
    self->first_frame = self->frame;
  }
  GST_OBJECT_LOCK (self);
  self->info = info;
  GST_OBJECT_UNLOCK (self);
  gst_base_src_set_blocksize (
      base, (guint) gst_cvis_surface_info_get_size (&info));
  if (gst_base_src_is_live (base))
    gst_element_post_message (
        GST_ELEMENT (self), gst_message_new_latency (GST_OBJECT (self)));
  return TRUE;
}

/* The latency of a live source is known with the caps. */
static gboolean
gst_surface_test_src_query (GstBaseSrc *base, GstQuery *query)
{
  GstSurfaceTestSrc *self = GST_SURFACE_TEST_SRC (base);
  gint fps_n, fps_d;

  if (GST_QUERY_TYPE (query) != GST_QUERY_LATENCY)
    return GST_BASE_SRC_CLASS (parent_class)->query (base, query);
  GST_OBJECT_LOCK (self);
  fps_n = self->info.fps_n;
  fps_d = self->info.fps_d;
  GST_OBJECT_UNLOCK (self);
  if (fps_n == 0)
    return FALSE;
  /* no upper limit: surfaces wait in the source while downstream blocks */
  gst_query_set_latency (query, gst_base_src_is_live (base),
      gst_util_uint64_scale_int (GST_SECOND, fps_d, fps_n),
      GST_CLOCK_TIME_NONE);
  return TRUE;
}

/* --- seeks -------------------------------------------------------------------- */

static gboolean
gst_surface_test_src_is_seekable (GstBaseSrc *base)
{
  return TRUE;
}

/* The target of the seek is computed when the caps are known. */
static gboolean
gst_surface_test_src_do_seek (GstBaseSrc *base, GstSegment *segment)
{
  GST_SURFACE_TEST_SRC (base)->sought = TRUE;
  return TRUE;
}

/* The surface that is shown at @time */
static guint64
find_simulated_surface (GstSurfaceTestSrc *self, GstClockTime time)
{
  const guint64 frame = gst_util_uint64_scale (time, (guint64) self->info.fps_n,
      (guint64) self->info.fps_d * GST_SECOND);

  /* times of surfaces are rounded down, too */
  return get_simulated_time (self, frame + 1) <= time ? frame + 1 : frame;
}

/* Goes to the surface that is shown at the segment's position or, backwards, after
 * the last one that is shown before it. */
static void
go_to_simulated_surface (GstSurfaceTestSrc *self)
{
  const GstSegment *segment = &GST_BASE_SRC (self)->segment;
  const GstClockTime time = segment->position;

  self->sought = FALSE;
  self->first_frame = self->first_time = 0;
  if (segment->rate > 0.0)
    self->frame = find_simulated_surface (self, time);
  else
    self->frame = time > 0 ? find_simulated_surface (self, time - 1) + 1 : 0;
}

/* --- surfaces ----------------------------------------------------------------- */

typedef struct {
  SurfaceSim sim;
  guint64 frame;
  gdouble gain;
  gfloat *data;
  gint missing; /* atomic */
} Picture;

static void
render_rows (guint first, guint count, gpointer user_data)
{
  Picture *picture = user_data;
  const gsize width = picture->sim.width;
  gfloat *rows = picture->data + first * width;
  gint missing = 0;

  surface_sim_render (&picture->sim, picture->frame, picture->gain, first,
      count, rows, width * sizeof (gfloat));
  if (picture->sim.missing > 0.0)
    for (gsize i = 0; i < count * width; i++)
      missing += isnan (rows[i]) != 0;
  g_atomic_int_add (&picture->missing, missing);
}

static gboolean
is_event (guint period, guint64 frame)
{
  return period > 0 && frame % period == period - 1;
}

/* Sets controlled properties to their values at the surface's time. */
static void
sync_values (GstSurfaceTestSrc *self, guint64 frame)
{
  const GstClockTime time =
      gst_segment_to_stream_time (&GST_BASE_SRC (self)->segment,
          GST_FORMAT_TIME, get_simulated_time (self, frame));

  if (GST_CLOCK_TIME_IS_VALID (time))
    gst_object_sync_values (GST_OBJECT (self), time);
}

/* Backwards, the next surface is the one before self->frame. */
static GstFlowReturn
gst_surface_test_src_fill (GstPushSrc *push, GstBuffer *buffer)
{
  GstSurfaceTestSrc *self = GST_SURFACE_TEST_SRC (push);
  const gsize size = gst_cvis_surface_info_get_size (&self->info);
  const gboolean back = GST_BASE_SRC (push)->segment.rate < 0.0;
  Picture picture = { .gain = 1.0 };
  GstCvisSurfaceMeta *meta;
  GstMapInfo map;

  if (self->sought)
    go_to_simulated_surface (self);
  if (back && self->frame == 0)
    return GST_FLOW_EOS;
  picture.frame = back ? self->frame - 1 : self->frame;

  if (gst_buffer_get_size (buffer) < size
      || !gst_buffer_map (buffer, &map, GST_MAP_WRITE)) {
    GST_ELEMENT_ERROR (self, RESOURCE, WRITE,
        ("Cannot write a surface: a buffer of the negotiated pool cannot hold "
         "%ux%u points. Put \"identity drop-allocation=true\" after "
         "surfacetestsrc.",
            self->info.width, self->info.height),
        ("%" GST_PTR_FORMAT, buffer));
    return GST_FLOW_ERROR;
  }
  sync_values (self, picture.frame);
  GST_OBJECT_LOCK (self);
  picture.sim = self->settings.sim;
  if (is_event (self->settings.event_period, picture.frame))
    picture.gain = self->settings.event_gain;
  GST_OBJECT_UNLOCK (self);
  picture.sim.width = self->info.width;
  picture.sim.height = self->info.height;
  picture.sim.dx = self->info.dx;
  picture.sim.dy = self->info.dy;
  picture.data = (gfloat *) map.data;
  cvis_pool_run (self->pool, self->info.height, 32, render_rows, &picture);
  gst_buffer_unmap (buffer, &map);

  meta = gst_cvis_buffer_add_surface_meta (buffer);
  meta->part = CVIS_SURFACE_PART_MEASURED;
  meta->dx = picture.sim.dx;
  meta->dy = picture.sim.dy;
  meta->missing = (guint64) picture.missing;
  meta->width = self->info.width;
  meta->height = self->info.height;
  GST_BUFFER_PTS (buffer) = get_simulated_time (self, picture.frame);
  GST_BUFFER_DURATION (buffer) =
      get_simulated_time (self, picture.frame + 1) - GST_BUFFER_PTS (buffer);
  GST_BUFFER_OFFSET (buffer) = picture.frame;
  GST_BUFFER_OFFSET_END (buffer) = picture.frame + 1;
  self->frame = back ? picture.frame : picture.frame + 1;
  return GST_FLOW_OK;
}

static gboolean
gst_surface_test_src_decide_allocation (GstBaseSrc *base, GstQuery *query)
{
  gst_cvis_query_use_allocator (query);
  return GST_BASE_SRC_CLASS (parent_class)->decide_allocation (base, query);
}

static GstFlowReturn
gst_surface_test_src_alloc (
    GstBaseSrc *base, guint64 offset, guint size, GstBuffer **buffer)
{
  const GstSurfaceTestSrc *self = GST_SURFACE_TEST_SRC (base);
  GstFlowReturn ret =
      GST_BASE_SRC_CLASS (parent_class)->alloc (base, offset, size, buffer);

  if (ret == GST_FLOW_ERROR)
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("No memory for a surface of %ux%u points. Use fewer points.",
            self->info.width, self->info.height),
        (NULL));
  return ret;
}

/* A live source waits until the time of the surface. */
static void
gst_surface_test_src_get_times (
    GstBaseSrc *base, GstBuffer *buffer, GstClockTime *start, GstClockTime *end)
{
  const gboolean live = gst_base_src_is_live (base);

  *start = live ? GST_BUFFER_PTS (buffer) : GST_CLOCK_TIME_NONE;
  *end = live ? *start + GST_BUFFER_DURATION (buffer) : GST_CLOCK_TIME_NONE;
}

static gboolean
gst_surface_test_src_start (GstBaseSrc *base)
{
  GstSurfaceTestSrc *self = GST_SURFACE_TEST_SRC (base);

  self->pool = cvis_pool_new (0);
  self->frame = self->first_frame = 0;
  self->first_time = 0;
  GST_OBJECT_LOCK (self);
  self->info = (GstCvisSurfaceInfo){ 0 };
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static gboolean
gst_surface_test_src_stop (GstBaseSrc *base)
{
  g_clear_pointer (&GST_SURFACE_TEST_SRC (base)->pool, cvis_pool_free);
  return TRUE;
}

/* --- object ----------------------------------------------------------------------- */

static void
gst_surface_test_src_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  if (id != PROP_IS_LIVE) {
    gst_cvis_settings_set_property (object, id, value, pspec);
    return;
  }
  gst_cvis_warn_if_late (object, pspec);
  gst_base_src_set_live (GST_BASE_SRC (object), g_value_get_boolean (value));
}

static void
gst_surface_test_src_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  if (id == PROP_IS_LIVE)
    g_value_set_boolean (value, gst_base_src_is_live (GST_BASE_SRC (object)));
  else
    gst_cvis_settings_get_property (object, id, value, pspec);
}

static void
init_settings (Settings *settings)
{
  *settings = (Settings){ .event_gain = 3.0 };
  surface_sim_init (&settings->sim);
}

static void
gst_surface_test_src_class_init (GstSurfaceTestSrcClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSrcClass *base_class = GST_BASE_SRC_CLASS (klass);
  Settings defaults;

  GST_DEBUG_CATEGORY_INIT (
      gst_surface_test_src_debug, "surfacetestsrc", 0, "simulated surfaces");

  init_settings (&defaults);
  gst_cvis_settings_bind (object_class, PROP_SETTING, settings_table,
      G_N_ELEMENTS (settings_table),
      G_STRUCT_OFFSET (GstSurfaceTestSrc, settings), &defaults);
  object_class->set_property = gst_surface_test_src_set_property;
  object_class->get_property = gst_surface_test_src_get_property;
  g_object_class_install_property (object_class, PROP_IS_LIVE,
      g_param_spec_boolean ("is-live", "is-live",
          "Push each surface at its timestamp, as an instrument does", FALSE,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
              | GST_PARAM_MUTABLE_READY));
  base_class->fixate = gst_surface_test_src_fixate;
  base_class->set_caps = gst_surface_test_src_set_caps;
  base_class->query = gst_surface_test_src_query;
  base_class->is_seekable = gst_surface_test_src_is_seekable;
  base_class->do_seek = gst_surface_test_src_do_seek;
  base_class->decide_allocation = gst_surface_test_src_decide_allocation;
  base_class->alloc = gst_surface_test_src_alloc;
  base_class->get_times = gst_surface_test_src_get_times;
  base_class->start = gst_surface_test_src_start;
  base_class->stop = gst_surface_test_src_stop;
  GST_PUSH_SRC_CLASS (klass)->fill = gst_surface_test_src_fill;

  gst_element_class_set_static_metadata (element_class, "Surface test source",
      "Source",
      "Simulates surfaces with known form, waviness, roughness and scratches",
      "the gst-cudavision authors");
  gst_element_class_add_static_pad_template (element_class, &src_template);
}

static void
gst_surface_test_src_init (GstSurfaceTestSrc *self)
{
  init_settings (&self->settings);
  gst_base_src_set_format (GST_BASE_SRC (self), GST_FORMAT_TIME);
}
