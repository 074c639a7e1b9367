/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/**
 * SECTION:element-surfacecolor
 * @title: surfacecolor
 * @short_description: shows surfaces in colours
 *
 * Converts surfaces to video. Colours show the heights, between two percentiles of
 * each surface or in a fixed range; light from one side (hill shading) shows fine
 * structure; a scale bar and a height bar have units.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 surfacetestsrc ! surfacecolor map=terrain hill-shade=0.6 ! videoconvert ! autovideosink
 * ]|
 *
 * Since: 0.1
 */
#include "gstsurfacecolor.h"

#include <gst/common/gstcvispool.h>
#include <gst/common/gstcvisquery.h>
#include <gst/common/gstcvissettings.h>
#include <gst/common/gstcvistime.h>
#include <gst/cudavision/gstsurfacemeta.h>
#include <math.h>
#include <string.h>

#include "gstsurfacepainter.h"

GST_DEBUG_CATEGORY_STATIC (gst_surface_color_debug);
#define GST_CAT_DEFAULT gst_surface_color_debug

/* longest side of video that GStreamer's encoders and converters support */
#define MAX_SIDE 32768

struct _GstSurfaceColor {
  GstBaseTransform parent;

  /* guarded by the object lock */
  GstSurfacePaintSettings settings;
  gdouble meta_dx, meta_dy; /* spacing in the last meta; 0: unknown */

  /* of the streaming thread */
  gboolean is_video; /* GRAY8, GRAY16_LE */
  GstCvisSurfaceInfo info;
  GstVideoInfo grey;
  GstVideoInfo out;
  GstCaps *refused; /* (nullable): an error was posted about them */
  GstSurfacePainter *painter;
  gfloat *heights;
  gboolean warned; /* a warning about an empty range was posted */
};

#define GREY_CAPS GST_VIDEO_CAPS_MAKE ("{ GRAY8, GRAY16_LE }")

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (GST_CVIS_SURFACE_CAPS "; " GREY_CAPS));

static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE (GST_SURFACE_PAINT_FORMATS)));

static const GEnumValue map_values[] = {
  { GST_SURFACE_MAP_VIRIDIS, "Violet, green, yellow: perceptually uniform",
      "viridis" },
  { GST_SURFACE_MAP_INFERNO, "Black, red, pale yellow: perceptually uniform",
      "inferno" },
  { GST_SURFACE_MAP_GREY, "Black to white", "grey" },
  { GST_SURFACE_MAP_TERRAIN, "Water, meadow, rock, snow", "terrain" },
  { 0, NULL, NULL },
};

static const GEnumValue range_values[] = {
  { GST_SURFACE_RANGE_PERCENTILE,
      "From percentile-low to percentile-high of each surface", "percentile" },
  { GST_SURFACE_RANGE_FIXED, "From minimum to maximum", "fixed" },
  { 0, NULL, NULL },
};

#define FIELD(name) G_STRUCT_OFFSET (GstSurfacePaintSettings, name)
#define LIVE GST_CVIS_CONTROLLABLE

static const GstCvisSetting settings_table[] = {
  { "map", "Colour map", GST_CVIS_SETTING_ENUM, FIELD (map), LIVE, 0, 0,
      "GstSurfaceColorMap", map_values },
  { "range", "Range of heights that the colours span", GST_CVIS_SETTING_ENUM,
      FIELD (range), LIVE, 0, 0, "GstSurfaceColorRange", range_values },
  { "percentile-low",
      "Percentile of the heights shown in the first colour, percent",
      GST_CVIS_SETTING_DOUBLE, FIELD (low), LIVE, 0, 100 },
  { "percentile-high",
      "Percentile of the heights shown in the last colour, percent",
      GST_CVIS_SETTING_DOUBLE, FIELD (high), LIVE, 0, 100 },
  { "minimum", "Height in metres shown in the first colour (range=fixed)",
      GST_CVIS_SETTING_DOUBLE, FIELD (minimum), LIVE, -G_MAXDOUBLE,
      G_MAXDOUBLE },
  { "maximum", "Height in metres shown in the last colour (range=fixed)",
      GST_CVIS_SETTING_DOUBLE, FIELD (maximum), LIVE, -G_MAXDOUBLE,
      G_MAXDOUBLE },
  { "nan-color", "Colour of points that are missing, 0xRRGGBB",
      GST_CVIS_SETTING_UINT, FIELD (missing), LIVE, 0, 0xffffff },
  { "hill-shade", "Weight of light and shadow in the brightness, 0 to 1",
      GST_CVIS_SETTING_DOUBLE, FIELD (shade), LIVE, 0, 1 },
  { "azimuth",
      "Direction of the light of hill-shade, degrees clockwise from the upper "
      "edge",
      GST_CVIS_SETTING_DOUBLE, FIELD (azimuth), LIVE, 0, 360 },
  { "altitude", "Elevation of the light of hill-shade, degrees",
      GST_CVIS_SETTING_DOUBLE, FIELD (altitude), LIVE, 0, 90 },
  { "scale-bar",
      "Draw a scale bar and a height bar in pictures of at least 96x96 pixels",
      GST_CVIS_SETTING_BOOLEAN, FIELD (bars), LIVE },
};

static const GstSurfacePaintSettings default_settings = {
  .map = GST_SURFACE_MAP_VIRIDIS,
  .range = GST_SURFACE_RANGE_PERCENTILE,
  .low = 0.5,
  .high = 99.5,
  .minimum = -1e-6,
  .maximum = 1e-6,
  .missing = 0x808080,
  .shade = 0.0,
  .azimuth = 315.0,
  .altitude = 45.0,
  .bars = TRUE,
};

#define gst_surface_color_parent_class parent_class
G_DEFINE_FINAL_TYPE (
    GstSurfaceColor, gst_surface_color, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE (
    surfacecolor, "surfacecolor", GST_RANK_NONE, GST_TYPE_SURFACE_COLOR);

/* --- caps ------------------------------------------------------------------------ */

static gboolean
is_video (const GstStructure *s)
{
  return gst_structure_has_name (s, "video/x-raw");
}

/* Width and height of a surface's caps. Returns: FALSE if they are not fixed */
static gboolean
get_picture_size (GstStructure *s, gint *width, gint *height)
{
  GstCvisSurfaceInfo info;
  GstCaps *caps;
  gboolean ok;

  if (is_video (s))
    return gst_structure_get_int (s, "width", width)
           && gst_structure_get_int (s, "height", height);
  caps = gst_caps_new_full (gst_structure_copy (s), NULL);
  ok = gst_caps_is_fixed (caps)
       && gst_cvis_surface_info_from_caps (&info, caps, NULL)
       && info.width <= MAX_SIDE && info.height <= MAX_SIDE;
  gst_caps_unref (caps);
  if (ok) {
    *width = (gint) info.width;
    *height = (gint) info.height;
  }
  return ok;
}

/* Approximates @ratio, from 1/100 to 100, by a fraction with small terms (continued
 * fractions), as displays multiply them. Returns: FALSE if it is out of range */
static gboolean
approximate (gdouble ratio, gint *n, gint *d)
{
  gint64 p[2] = { 0, 1 }, q[2] = { 1, 0 };
  gdouble rest = ratio < 1.0 ? 1.0 / ratio : ratio;

  if (!(rest <= 100.0))
    return FALSE;
  while (rest < 1e4) {
    const gint64 whole = (gint64) (rest + 1e-9);
    const gint64 above = whole * p[1] + p[0], below = whole * q[1] + q[0];

    if (MAX (above, below) > 1000)
      break;
    p[0] = p[1];
    q[0] = q[1];
    p[1] = above;
    q[1] = below;
    rest = 1.0 / MAX (rest - (gdouble) whole, 1e-9);
  }
  *n = (gint) (ratio < 1.0 ? q[1] : p[1]);
  *d = (gint) (ratio < 1.0 ? p[1] : q[1]);
  return TRUE;
}

/* The pixel aspect ratio for points of @s: by the spacing of the last meta, else of
 * the caps. Returns: FALSE if the spacing is unknown or the ratio out of range */
static gboolean
get_aspect (GstSurfaceColor *self, const GstStructure *s, gint *n, gint *d)
{
  gdouble dx, dy;

  GST_OBJECT_LOCK (self);
  dx = self->meta_dx;
  dy = self->meta_dy;
  GST_OBJECT_UNLOCK (self);
  if (dx <= 0.0 || dy <= 0.0) {
    if (is_video (s))
      return gst_structure_get_fraction (s, "pixel-aspect-ratio", n, d);
    if (!gst_structure_get_double (s, "surface-dx", &dx)
        || !gst_structure_get_double (s, "surface-dy", &dy))
      return FALSE;
  }
  return dx > 0.0 && dy > 0.0 && approximate (dx / dy, n, d);
}

/* If the next element accepts only square pixels, points are shown square.
 */
static void
set_aspect (GstStructure *video, gint n, gint d)
{
  const gint ratios[2][2] = { { n, d }, { 1, 1 } };
  GValue list = G_VALUE_INIT, ratio = G_VALUE_INIT;

  if (n == d)
    return;
  g_value_init (&list, GST_TYPE_LIST);
  g_value_init (&ratio, GST_TYPE_FRACTION);
  for (guint i = 0; i < 2; i++) {
    gst_value_set_fraction (&ratio, ratios[i][0], ratios[i][1]);
    gst_value_list_append_value (&list, &ratio);
  }
  gst_structure_take_value (video, "pixel-aspect-ratio", &list);
  g_value_unset (&ratio);
}

static void
copy_field (GstStructure *to, const GstStructure *from, const gchar *name)
{
  const GValue *value = gst_structure_get_value (from, name);

  if (value != NULL)
    gst_structure_set_value (to, name, value);
}

/* Caps of the video of surfaces of @s. */
static GstCaps *
video_of (GstSurfaceColor *self, GstStructure *s)
{
  GstCaps *caps = gst_static_pad_template_get_caps (&src_template);
  GstStructure *video;
  gint width, height, n, d;

  caps = gst_caps_make_writable (caps);
  video = gst_caps_get_structure (caps, 0);
  if (get_picture_size (s, &width, &height))
    gst_structure_set (
        video, "width", G_TYPE_INT, width, "height", G_TYPE_INT, height, NULL);
  else if (is_video (s)) {
    copy_field (video, s, "width");
    copy_field (video, s, "height");
  }
  copy_field (video, s, "framerate");
  if (get_aspect (self, s, &n, &d))
    set_aspect (video, n, d);
  return caps;
}

/* Caps of the surfaces whose video is @s. */
static GstCaps *
surfaces_of (GstStructure *s)
{
  GstCaps *caps = gst_static_pad_template_get_caps (&sink_template);
  gint width, height;

  caps = gst_caps_make_writable (caps);
  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    GstStructure *surface = gst_caps_get_structure (caps, i);

    copy_field (surface, s, "framerate");
    if (is_video (surface)) {
      copy_field (surface, s, "width");
      copy_field (surface, s, "height");
    } else if (gst_structure_get_int (s, "width", &width)
               && gst_structure_get_int (s, "height", &height)) {
      GValue list = G_VALUE_INIT, text = G_VALUE_INIT;
      gchar *full = g_strdup_printf ("%d:%d:1:1", width, height);
      gchar *brief = g_strdup_printf ("%d:%d", width, height);

      g_value_init (&list, GST_TYPE_LIST);
      g_value_init (&text, G_TYPE_STRING);
      g_value_take_string (&text, full);
      gst_value_list_append_value (&list, &text);
      g_value_take_string (&text, brief);
      gst_value_list_append_value (&list, &text);
      gst_structure_take_value (surface, "dimensions", &list);
      g_value_unset (&text);
    }
  }
  return caps;
}

/* Structures are not simplified: that would merge frame rates 5/1 and [ 0/1, max ]
 * into a list, which GStreamer does not accept as a subset of the range. */

static GstCaps *
gst_surface_color_transform_caps (GstBaseTransform *base,
    GstPadDirection direction, GstCaps *caps, GstCaps *filter)
{
  GstCaps *result = gst_caps_new_empty ();

  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    GstStructure *s = gst_caps_get_structure (caps, i);

    result = gst_caps_merge (result,
        direction == GST_PAD_SINK ? video_of (GST_SURFACE_COLOR (base), s)
                                  : surfaces_of (s));
  }
  return gst_cvis_caps_filter (result, filter);
}

static gboolean
set_surface (GstSurfaceColor *self, GstCaps *caps)
{
  GError *error = NULL;

  self->is_video = is_video (gst_caps_get_structure (caps, 0));
  if (self->is_video) {
    if (!gst_video_info_from_caps (&self->grey, caps)) {
      GST_ELEMENT_ERROR (self, STREAM, FORMAT,
          ("Unsupported caps: not grey video. Put videoconvert before "
           "surfacecolor."),
          ("%" GST_PTR_FORMAT, caps));
      return FALSE;
    }
    self->info = (GstCvisSurfaceInfo){ .width = (guint) self->grey.width,
      .height = (guint) self->grey.height };
    return TRUE;
  }
  if (gst_cvis_surface_info_from_caps (&self->info, caps, &error))
    return TRUE;
  GST_ELEMENT_ERROR (self, STREAM, FORMAT,
      ("Unsupported caps: %s. \"gst-inspect-1.0 surfacecolor\" lists the "
       "supported caps.",
          error->message),
      ("%" GST_PTR_FORMAT, caps));
  g_clear_error (&error);
  return FALSE;
}

/* Posts an error about surfaces too large for video; fixate() gave their video any
 * size. */
static gboolean
check_size (GstSurfaceColor *self)
{
  const GstCvisSurfaceInfo *info = &self->info;

  if (info->width > MAX_SIDE || info->height > MAX_SIDE) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Cannot show a surface of %ux%u points: a side of video has at most "
         "%d. Use a smaller part of it.",
            info->width, info->height, MAX_SIDE),
        (NULL));
    return FALSE;
  }
  if (GST_VIDEO_INFO_SIZE (&self->out) > G_MAXINT) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Cannot show a surface of %ux%u points: its video has %" G_GSIZE_FORMAT
         " bytes, more than %d. Use a smaller part of it.",
            info->width, info->height, GST_VIDEO_INFO_SIZE (&self->out),
            G_MAXINT),
        (NULL));
    return FALSE;
  }
  return (guint) self->out.width == info->width
         && (guint) self->out.height == info->height;
}

static gboolean
take_caps (GstSurfaceColor *self, GstCaps *in_caps, GstCaps *out_caps)
{
  if (!set_surface (self, in_caps)
      || !gst_video_info_from_caps (&self->out, out_caps) || !check_size (self))
    return FALSE;
  g_free (self->heights);
  self->heights =
      g_try_new (gfloat, (gsize) self->info.width * self->info.height);
  if (self->heights == NULL) {
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("No memory for the heights of %ux%u points. Use a smaller surface.",
            self->info.width, self->info.height),
        (NULL));
    return FALSE;
  }
  return TRUE;
}

static gboolean
gst_surface_color_set_caps (
    GstBaseTransform *base, GstCaps *in_caps, GstCaps *out_caps)
{
  GstSurfaceColor *self = GST_SURFACE_COLOR (base);

  /* upstream sends refused caps again with each push: the error is posted once */
  if (self->refused != NULL && gst_caps_is_equal (self->refused, in_caps))
    return FALSE;
  gst_clear_caps (&self->refused);
  if (take_caps (self, in_caps, out_caps))
    return TRUE;
  self->refused = gst_caps_ref (in_caps);
  return FALSE;
}

static gboolean
gst_surface_color_transform_size (GstBaseTransform *base,
    GstPadDirection direction, GstCaps *caps, gsize size, GstCaps *other_caps,
    gsize *other_size)
{
  GstVideoInfo video;
  GstCvisSurfaceInfo surface;

  if (gst_video_info_from_caps (&video, other_caps))
    *other_size = video.size;
  else if (gst_cvis_surface_info_from_caps (&surface, other_caps, NULL))
    *other_size = gst_cvis_surface_info_get_size (&surface);
  else
    return FALSE;
  return TRUE;
}

/* Proposes GstCvisSurfaceMeta: colours do not need the offset in the samples. */
static gboolean
gst_surface_color_propose_allocation (
    GstBaseTransform *base, GstQuery *decided, GstQuery *query)
{
  if (!GST_BASE_TRANSFORM_CLASS (parent_class)
           ->propose_allocation (base, decided, query))
    return FALSE;
  if (!gst_query_find_allocation_meta (
          query, GST_CVIS_SURFACE_META_API_TYPE, NULL))
    gst_query_add_allocation_meta (query, GST_CVIS_SURFACE_META_API_TYPE, NULL);
  return TRUE;
}

/* Uses a pool whose buffers come back, with pages that are in memory already. */
static gboolean
gst_surface_color_decide_allocation (GstBaseTransform *base, GstQuery *query)
{
  GstBufferPool *pool;
  GstVideoInfo info;
  GstCaps *caps;

  gst_query_parse_allocation (query, &caps, NULL);
  if (gst_query_get_n_allocation_pools (query) == 0 && caps != NULL
      && gst_video_info_from_caps (&info, caps)) {
    pool = gst_cvis_pool_new (NULL);
    gst_query_add_allocation_pool (query, pool, (guint) info.size, 0, 0);
    gst_object_unref (pool);
  }
  gst_cvis_query_use_allocator (query);
  return GST_BASE_TRANSFORM_CLASS (parent_class)
      ->decide_allocation (base, query);
}

static GstFlowReturn
gst_surface_color_prepare_output_buffer (
    GstBaseTransform *base, GstBuffer *in, GstBuffer **out)
{
  const GstSurfaceColor *self = GST_SURFACE_COLOR (base);
  GstFlowReturn ret = GST_BASE_TRANSFORM_CLASS (parent_class)
                          ->prepare_output_buffer (base, in, out);

  if (ret == GST_FLOW_ERROR)
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("No memory for a picture of %dx%d pixels. Use a smaller surface.",
            self->out.width, self->out.height),
        (NULL));
  return ret;
}

/* --- the spacing of samples --------------------------------------------------------- */

/* Returns: whether the spacing has changed */
static gboolean
note_spacing (GstSurfaceColor *self, gdouble dx, gdouble dy)
{
  gboolean news;

  GST_OBJECT_LOCK (self);
  news = dx != self->meta_dx || dy != self->meta_dy;
  self->meta_dx = dx;
  self->meta_dy = dy;
  GST_OBJECT_UNLOCK (self);
  return news;
}

/* The spacing of new caps counts until a meta comes. */
static gboolean
gst_surface_color_sink_event (GstBaseTransform *base, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS)
    note_spacing (GST_SURFACE_COLOR (base), 0.0, 0.0);
  return GST_BASE_TRANSFORM_CLASS (parent_class)->sink_event (base, event);
}

/* Negotiates again, before the surface is shown, if the spacing in its meta differs
 * from the last one's. */
static GstFlowReturn
gst_surface_color_submit_input_buffer (
    GstBaseTransform *base, gboolean is_discont, GstBuffer *buffer)
{
  const GstCvisSurfaceMeta *meta = gst_cvis_buffer_get_surface_meta (buffer);
  const gboolean known = meta != NULL && meta->dx > 0.0 && meta->dy > 0.0;

  if (note_spacing (GST_SURFACE_COLOR (base), known ? meta->dx : 0.0,
          known ? meta->dy : 0.0))
    gst_base_transform_reconfigure_src (base);
  return GST_BASE_TRANSFORM_CLASS (parent_class)
      ->submit_input_buffer (base, is_discont, buffer);
}

/* --- surfaces --------------------------------------------------------------------- */

/* Samples may lie at any address. */
static gdouble
sample_at (const GstSurfaceColor *self, const guint8 *row, guint x)
{
  gfloat single;
  gdouble twice;
  gint32 integer;

  if (self->is_video)
    return self->grey.finfo->bits == 8 ? row[x]
                                       : GST_READ_UINT16_LE (row + 2 * x);
  switch (self->info.type) {
    case GST_CVIS_SURFACE_TYPE_FLOAT32:
      memcpy (&single, row + sizeof (single) * x, sizeof (single));
      return single;
    case GST_CVIS_SURFACE_TYPE_FLOAT64:
      memcpy (&twice, row + sizeof (twice) * x, sizeof (twice));
      return twice;
    default:
      memcpy (&integer, row + sizeof (integer) * x, sizeof (integer));
      return integer;
  }
}

/* Heights without the meta's offset, which a picture does not need. */
static void
read_heights (GstSurfaceColor *self, const guint8 *data, gsize stride,
    const GstCvisSurfaceMeta *meta)
{
  const gdouble scale = meta != NULL ? meta->z_scale : 1.0;

  for (guint y = 0; y < self->info.height; y++)
    for (guint x = 0; x < self->info.width; x++)
      self->heights[(gsize) y * self->info.width + x] =
          (gfloat) (scale * sample_at (self, data + y * stride, x));
}

/* Returns: FALSE after posting an error. */
static gboolean
remove_masked (GstSurfaceColor *self, GstBuffer *mask)
{
  const gsize n = (gsize) self->info.width * self->info.height;
  GstMapInfo map;

  if (gst_buffer_get_size (mask) < n
      || !gst_buffer_map (mask, &map, GST_MAP_READ)) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Cannot show a surface: its mask of %" G_GSIZE_FORMAT
         " bytes does not fit %ux%u points. Check the element that attached "
         "the GstCvisSurfaceMeta.",
            gst_buffer_get_size (mask), self->info.width, self->info.height),
        ("%" GST_PTR_FORMAT, mask));
    return FALSE;
  }
  for (gsize i = 0; i < n; i++)
    if (map.data[i] == 0)
      self->heights[i] = NAN;
  gst_buffer_unmap (mask, &map);
  return TRUE;
}

/* Whether the mask fits the samples: coefficients are not at their points' places. */
static gboolean
is_masked (const GstCvisSurfaceMeta *meta)
{
  return meta != NULL && meta->mask != NULL
         && meta->part != CVIS_SURFACE_PART_BANDS;
}

/* Whether the samples can be painted without a conversion. */
static gboolean
is_float_array (const GstSurfaceColor *self, const GstMapInfo *map,
    const GstCvisSurfaceMeta *meta)
{
  return self->info.type == GST_CVIS_SURFACE_TYPE_FLOAT32
         && (guintptr) map->data % sizeof (gfloat) == 0
         && (meta == NULL || meta->z_scale == 1.0) && !is_masked (meta);
}

/* @mapped: (out): the buffer's memory where @z lies in it, to be unmapped; else its
 *   memory is %NULL
 * Returns: FALSE after posting an error. */
static gboolean
take_surface (GstSurfaceColor *self, GstBuffer *buffer, GstMapInfo *mapped,
    const gfloat **z)
{
  const GstCvisSurfaceMeta *meta = gst_cvis_buffer_get_surface_meta (buffer);
  GstVideoFrame frame;
  GstMapInfo map;

  mapped->memory = NULL;
  *z = self->heights;

  if (self->is_video) {
    if (!gst_video_frame_map (&frame, &self->grey, buffer, GST_MAP_READ))
      goto too_small;
    read_heights (self, GST_VIDEO_FRAME_PLANE_DATA (&frame, 0),
        (gsize) GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0), meta);
    gst_video_frame_unmap (&frame);
  } else {
    const gsize size = gst_cvis_surface_info_get_size (&self->info);

    if (!gst_buffer_map (buffer, &map, GST_MAP_READ))
      goto too_small;
    if (map.size < size) {
      gst_buffer_unmap (buffer, &map);
      goto too_small;
    }
    if (is_float_array (self, &map, meta)) {
      *z = (const gfloat *) map.data;
      *mapped = map;
      return TRUE;
    }
    read_heights (self, map.data, size / self->info.height, meta);
    gst_buffer_unmap (buffer, &map);
  }
  return !is_masked (meta) || remove_masked (self, meta->mask);

too_small:
  GST_ELEMENT_ERROR (self, STREAM, FORMAT,
      ("Cannot show a surface: a buffer of %" G_GSIZE_FORMAT
       " bytes does not hold %ux%u points. Check the caps.",
          gst_buffer_get_size (buffer), self->info.width, self->info.height),
      ("%" GST_PTR_FORMAT, buffer));
  return FALSE;
}

/* Sets controlled properties to their values at the surface's time. */
static void
gst_surface_color_before_transform (GstBaseTransform *base, GstBuffer *buffer)
{
  const GstClockTime time =
      gst_cvis_stream_time (&base->segment, GST_BUFFER_PTS (buffer));

  if (GST_CLOCK_TIME_IS_VALID (time))
    gst_object_sync_values (GST_OBJECT (base), time);
}

/* Warns of an empty range, for which all points get one colour; again after there
 * was a range in between. */
static void
warn_of_range (GstSurfaceColor *self, const GstSurfacePaintSettings *settings)
{
  const gboolean fixed = settings->range == GST_SURFACE_RANGE_FIXED;
  const gdouble low = fixed ? settings->minimum : settings->low;
  const gdouble high = fixed ? settings->maximum : settings->high;
  const gboolean bad = !(low < high);

  if (bad && !self->warned)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("The range of colours is empty: %s is %g, %s is %g. All points get "
         "the middle colour. Set another range.",
            fixed ? "minimum" : "percentile-low", low,
            fixed ? "maximum" : "percentile-high", high),
        (NULL));
  self->warned = bad;
}

static GstFlowReturn
gst_surface_color_transform (
    GstBaseTransform *base, GstBuffer *in, GstBuffer *out)
{
  GstSurfaceColor *self = GST_SURFACE_COLOR (base);
  const GstCvisSurfaceMeta *meta = gst_cvis_buffer_get_surface_meta (in);
  GstSurfaceHeights heights = { .width = self->info.width,
    .height = self->info.height,
    .dx = self->info.dx,
    .dy = self->info.dy };
  GstSurfacePaintSettings settings;
  GstVideoFrame frame;
  cairo_status_t status;
  GstMapInfo mapped;
  gdouble from, to;

  if (!take_surface (self, in, &mapped, &heights.z))
    return GST_FLOW_ERROR;
  if (meta != NULL && meta->dx > 0.0 && meta->dy > 0.0) {
    heights.dx = meta->dx;
    heights.dy = meta->dy;
  }
  GST_OBJECT_LOCK (self);
  settings = self->settings;
  GST_OBJECT_UNLOCK (self);
  warn_of_range (self, &settings);
  if (!gst_video_frame_map (&frame, &self->out, out, GST_MAP_WRITE)) {
    if (mapped.memory != NULL)
      gst_buffer_unmap (in, &mapped);
    GST_ELEMENT_ERROR (self, RESOURCE, WRITE,
        ("Cannot write the picture: a buffer of the negotiated pool cannot be "
         "mapped. Put \"identity drop-allocation=true\" after surfacecolor."),
        ("%" GST_PTR_FORMAT, out));
    return GST_FLOW_ERROR;
  }
  status = gst_surface_painter_paint (
      self->painter, &frame, &heights, &settings, &from, &to);
  gst_video_frame_unmap (&frame);
  if (mapped.memory != NULL)
    gst_buffer_unmap (in, &mapped);
  GST_LOG_OBJECT (self, "heights from %g to %g m", from, to);
  if (status == CAIRO_STATUS_SUCCESS)
    return GST_FLOW_OK;
  GST_ELEMENT_ERROR (self, LIBRARY, FAILED,
      ("Cannot draw on a picture: cairo reports: %s. Set scale-bar=false, or "
       "free memory.",
          cairo_status_to_string (status)),
      (NULL));
  return GST_FLOW_ERROR;
}

/* Keeps metas about the content of the picture. */
static gboolean
gst_surface_color_transform_meta (
    GstBaseTransform *base, GstBuffer *out, GstMeta *meta, GstBuffer *in)
{
  return meta->info->api == GST_CVIS_SURFACE_META_API_TYPE
         || GST_BASE_TRANSFORM_CLASS (parent_class)
                ->transform_meta (base, out, meta, in);
}

/* --- object ------------------------------------------------------------------------ */

static gboolean
gst_surface_color_start (GstBaseTransform *base)
{
  GstSurfaceColor *self = GST_SURFACE_COLOR (base);

  self->painter = gst_surface_painter_new ();
  self->warned = FALSE;
  note_spacing (self, 0.0, 0.0);
  return TRUE;
}

static gboolean
gst_surface_color_stop (GstBaseTransform *base)
{
  GstSurfaceColor *self = GST_SURFACE_COLOR (base);

  g_clear_pointer (&self->painter, gst_surface_painter_free);
  g_clear_pointer (&self->heights, g_free);
  gst_clear_caps (&self->refused);
  return TRUE;
}

static void
gst_surface_color_class_init (GstSurfaceColorClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *base_class = GST_BASE_TRANSFORM_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (
      gst_surface_color_debug, "surfacecolor", 0, "surfaces in colours");

  gst_cvis_settings_bind (G_OBJECT_CLASS (klass), 1, settings_table,
      G_N_ELEMENTS (settings_table),
      G_STRUCT_OFFSET (GstSurfaceColor, settings), &default_settings);
  base_class->transform_caps = gst_surface_color_transform_caps;
  base_class->sink_event = gst_surface_color_sink_event;
  base_class->submit_input_buffer = gst_surface_color_submit_input_buffer;
  base_class->transform_size = gst_surface_color_transform_size;
  base_class->set_caps = gst_surface_color_set_caps;
  base_class->propose_allocation = gst_surface_color_propose_allocation;
  base_class->decide_allocation = gst_surface_color_decide_allocation;
  base_class->prepare_output_buffer = gst_surface_color_prepare_output_buffer;
  base_class->before_transform = gst_surface_color_before_transform;
  base_class->transform = gst_surface_color_transform;
  base_class->transform_meta = gst_surface_color_transform_meta;
  base_class->start = gst_surface_color_start;
  base_class->stop = gst_surface_color_stop;

  gst_element_class_set_static_metadata (element_class, "Surface colouring",
      "Filter/Converter/Video", "Shows surfaces in colours",
      "the gst-cudavision authors");
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
}

static void
gst_surface_color_init (GstSurfaceColor *self)
{
  gst_cvis_settings_init (self);
}
