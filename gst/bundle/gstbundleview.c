/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/**
 * SECTION:element-bundleview
 * @title: bundleview
 * @short_description: shows reconstructions as video
 *
 * Collects a reconstruction up to the end of the stream and shows its points and
 * cameras from a viewpoint that moves on a circle around them.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 filesrc location=problem.txt ! bundleview ! videoconvert ! autovideosink
 * ]|
 *
 * Since: 0.1
 */
#include "gstbundleview.h"

#include <gst/video/video.h>
#include "cuda/bundle/colmap/archive.h"
#include "cuda/bundle/colmap/transforms.h"
#include "cuda/bundle/engine.h"
#include "cuda/bundle/formats/formats.h"
#include "cuda/core/cancel.h"
#include "gst/common/gstcvispool.h"
#include "gst/common/gstcvissettings.h"
#include "gstbundlefile.h"
#include "gstbundlepainter.h"
#include "gstbundletypes.h"

GST_DEBUG_CATEGORY_STATIC (gst_bundle_view_debug);
#define GST_CAT_DEFAULT gst_bundle_view_debug

#define DEFAULT_WIDTH 960
#define DEFAULT_HEIGHT 720
#define DEFAULT_FPS 25

/**
 * Settings:
 * @period: time of a turn, ns
 * @turns: turns until the end of the stream; 0: no end
 */
typedef struct {
  GstBundleViewpoint view;
  guint64 period;
  guint turns;
} Settings;

struct _GstBundleView {
  GstElement parent;

  GstPad *sinkpad, *srcpad;
  Settings settings; /* guarded by the object lock */

  gint cancel;  /* atomic: reading */
  gint seeking; /* atomic: seeks are possible: frames are being pushed */
  gint end;     /* atomic: the application asked for the end of the stream */

  /* of the sink's streaming thread until EOS, then of the source's task */
  GstBundleFile file;
  gchar *folder;    /* (nullable): of the file that is the stream */
  gboolean is_part; /* of a COLMAP model, whose folder is read instead */
  gboolean failed;
  GstBundlePainter *painter; /* NULL before the first frame */
  GstVideoInfo info;
  GstSegment segment;
  gboolean segment_pushed;
  guint32 seqnum; /* of the seek; GST_SEQNUM_INVALID: none */
  gint64 frame;   /* the next one; -1: before the first, at a negative rate */
};

static const GEnumValue up_values[] = {
  { GST_BUNDLE_UP_AUTO, "Mean of the cameras", "auto" },
  { GST_BUNDLE_UP_X, "Along x", "x" },
  { GST_BUNDLE_UP_Y, "Along y", "y" },
  { GST_BUNDLE_UP_Z, "Along z", "z" },
  { GST_BUNDLE_UP_MINUS_X, "Against x", "-x" },
  { GST_BUNDLE_UP_MINUS_Y, "Against y", "-y" },
  { GST_BUNDLE_UP_MINUS_Z, "Against z", "-z" },
  { 0, NULL, NULL },
};

#define OWN(field) G_STRUCT_OFFSET (Settings, field)

static const GstCvisSetting settings_table[] = {
  { "up", "Direction that is up in the picture", GST_CVIS_SETTING_ENUM,
      OWN (view.up), TRUE, 0, 0, "GstBundleViewUp", up_values },
  { "azimuth", "Direction of the first view around the axis up, degrees",
      GST_CVIS_SETTING_DOUBLE, OWN (view.azimuth), TRUE, -360, 360 },
  { "elevation", "Angle of the view above the scene, degrees",
      GST_CVIS_SETTING_DOUBLE, OWN (view.elevation), TRUE, -89, 89 },
  { "zoom", "Factor of the size of the scene in the picture",
      GST_CVIS_SETTING_DOUBLE, OWN (view.zoom), TRUE, 0.01, 100 },
  { "point-size", "Side of the square that shows a point, pixels",
      GST_CVIS_SETTING_UINT, OWN (view.point_size), TRUE, 1, 32 },
  { "labels", "Show axes, a scale bar and the numbers of points and cameras",
      GST_CVIS_SETTING_BOOLEAN, OWN (view.labels), TRUE, 0, 1 },
  { "period", "Time of a turn around the scene, nanoseconds",
      GST_CVIS_SETTING_TIME, OWN (period), TRUE, 0, 0 },
  { "turns", "Number of turns until the end of the stream; 0: no end",
      GST_CVIS_SETTING_UINT, OWN (turns), TRUE, 0, 1e6 },
};

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (GST_BUNDLE_VIEW_CAPS "; " GST_BUNDLE_RAW_CAPS));
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE ("{ BGRx, RGB }")));

#define gst_bundle_view_parent_class parent_class
G_DEFINE_FINAL_TYPE (GstBundleView, gst_bundle_view, GST_TYPE_ELEMENT)
GST_ELEMENT_REGISTER_DEFINE (
    bundleview, "bundleview", GST_RANK_NONE, GST_TYPE_BUNDLE_VIEW);

/* --- the cloud ------------------------------------------------------------------ */

/* Of a COLMAP model */
static BundleCloud *
read_model_cloud (
    GstBundleView *self, const GstBundleFile *file, GError **error)
{
  g_autoptr (BundleModel) model =
      self->is_part ? bundle_model_read (self->folder, error)
                    : bundle_model_read_archive (file->data, file->size, error);

  return model ? bundle_model_cloud (model, error) : NULL;
}

static BundleCloud *
read_transforms_cloud (
    GstBundleView *self, const GstBundleFile *file, GError **error)
{
  g_autofree gchar *note = NULL;
  BundleCloud *cloud = bundle_transforms_cloud (
      file->data, file->size, self->folder, &note, error);

  if (cloud && note)
    GST_ELEMENT_WARNING (self, STREAM, DECODE, ("%s", note), (NULL));
  return cloud;
}

static BundleCloud *
read_cloud (GstBundleView *self, const GstBundleFile *file, GError **error)
{
  g_autoptr (BundleProblem) problem = NULL;
  g_autofree gdouble *errors = NULL;
  BundleFormat format;

  if (self->is_part || bundle_model_is_archive (file->data, file->size))
    return read_model_cloud (self, file, error);
  if (bundle_format_is_transforms (file->data, file->size))
    return read_transforms_cloud (self, file, error);
  if (!bundle_format_detect (file->data, file->size, &format))
    return bundle_cloud_read (file->data, file->size, error);
  problem = bundle_read (file->data, file->size, format, 0, error);
  if (problem == NULL)
    return NULL;
  gst_bundle_warn_of_notes (GST_ELEMENT (self), problem);
  if (problem->colours == NULL)
    errors = g_try_new (gdouble, problem->n_points);
  if (errors != NULL)
    bundle_reprojection_errors (problem, 0, NULL, errors);
  return cvis_cancelled () ? (cvis_refuse_cancelled (error), NULL)
                           : bundle_cloud_new (problem, errors, error);
}

static gboolean
check_start (GstBundleView *self)
{
  BundleFormat format;

  g_free (self->folder);
  self->folder = gst_bundle_file_find_folder (self->sinkpad, &self->is_part);
  if (self->is_part)
    GST_DEBUG_OBJECT (self, "reading the folder %s", self->folder);
  if (self->is_part
      || bundle_format_detect (self->file.data, self->file.size, &format)
      || gst_bundle_is_ply (self->file.data, self->file.size)
      || bundle_model_is_archive (self->file.data, self->file.size)
      || bundle_format_is_transforms (self->file.data, self->file.size))
    return TRUE;
  GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE,
      ("Cannot show the reconstruction: %s.",
          bundle_format_hint (self->file.data, self->file.size)),
      (NULL));
  self->failed = TRUE;
  return FALSE;
}

/* --- negotiation -------------------------------------------------------------------- */

static gboolean
refuse_caps (GstBundleView *self, GstCaps *caps)
{
  if (!GST_PAD_IS_FLUSHING (self->srcpad))
    GST_ELEMENT_ERROR (self, CORE, NEGOTIATION,
        ("Downstream does not accept the picture. Put videoconvert after "
         "bundleview."),
        ("%" GST_PTR_FORMAT, caps));
  return FALSE;
}

static gboolean
negotiate_video (GstBundleView *self)
{
  GstCaps *caps = gst_pad_get_allowed_caps (self->srcpad);
  GstStructure *s;
  gboolean ok;

  if (caps == NULL)
    caps = gst_pad_get_pad_template_caps (self->srcpad);
  if (gst_caps_is_empty (caps)) {
    gst_caps_unref (caps);
    return refuse_caps (self, NULL);
  }
  caps = gst_caps_make_writable (gst_caps_truncate (caps));
  s = gst_caps_get_structure (caps, 0);
  gst_structure_fixate_field_nearest_int (s, "width", DEFAULT_WIDTH);
  gst_structure_fixate_field_nearest_int (s, "height", DEFAULT_HEIGHT);
  gst_structure_fixate_field_nearest_fraction (s, "framerate", DEFAULT_FPS, 1);
  if (gst_structure_has_field (s, "pixel-aspect-ratio"))
    gst_structure_fixate_field_nearest_fraction (s, "pixel-aspect-ratio", 1, 1);
  else
    gst_structure_set (s, "pixel-aspect-ratio", GST_TYPE_FRACTION, 1, 1, NULL);
  caps = gst_caps_fixate (caps);
  ok = gst_video_info_from_caps (&self->info, caps)
       && GST_VIDEO_INFO_FPS_N (&self->info) > 0
       && GST_VIDEO_INFO_SIZE (&self->info) < G_MAXINT
       && gst_pad_push_event (self->srcpad, gst_event_new_caps (caps));
  if (!ok)
    refuse_caps (self, caps);
  gst_caps_unref (caps);
  return ok;
}

/* --- frames ---------------------------------------------------------------------------- */

/* Makes the painter for the first frame. Returns: FALSE after posting an error */
static gboolean
prepare_view (GstBundleView *self)
{
  GError *error = NULL;
  BundleCloud *cloud = read_cloud (self, &self->file, &error);

  gst_bundle_file_clear (&self->file);
  if (cloud == NULL) {
    if (!g_error_matches (error, CVIS_ERROR, CVIS_ERROR_CANCELLED))
      GST_ELEMENT_ERROR (self, STREAM, DECODE,
          ("Cannot show the reconstruction: %s. Check the format and the size "
           "of "
           "the input.",
              error->message),
          (NULL));
    g_error_free (error);
    return FALSE;
  }
  if (!negotiate_video (self)) {
    bundle_cloud_free (cloud);
    return FALSE;
  }
  self->painter =
      gst_bundle_painter_new (cloud, (guint) GST_VIDEO_INFO_WIDTH (&self->info),
          (guint) GST_VIDEO_INFO_HEIGHT (&self->info));
  if (self->painter == NULL)
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("No memory for a picture of %dx%d pixels. Use a smaller one.",
            GST_VIDEO_INFO_WIDTH (&self->info),
            GST_VIDEO_INFO_HEIGHT (&self->info)),
        (NULL));
  g_atomic_int_set (&self->seeking, self->painter != NULL);
  return self->painter != NULL;
}

static void
copy_view_row (const guint32 *from, guint8 *to, guint n, gboolean rgb)
{
  const guint step = rgb ? 3 : 4;

  for (guint x = 0; x < n; x++, to += step) {
    to[rgb ? 0 : 2] = (guint8) (from[x] >> 16);
    to[1] = (guint8) (from[x] >> 8);
    to[rgb ? 2 : 0] = (guint8) from[x];
    if (!rgb)
      to[3] = 255;
  }
}

static GstBuffer *
make_view_frame (GstBundleView *self, const GstBundleViewpoint *view)
{
  const guint width = (guint) GST_VIDEO_INFO_WIDTH (&self->info);
  const gsize stride = (gsize) GST_VIDEO_INFO_PLANE_STRIDE (&self->info, 0);
  const guint32 *pixels = gst_bundle_painter_paint (self->painter, view);
  GstBuffer *buffer = gst_buffer_new_allocate (
      gst_cvis_allocator (), GST_VIDEO_INFO_SIZE (&self->info), NULL);
  GstMapInfo map;

  if (buffer == NULL || !gst_buffer_map (buffer, &map, GST_MAP_WRITE)) {
    gst_clear_buffer (&buffer);
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("No memory for a picture of %" G_GSIZE_FORMAT
         " bytes. Use a smaller one.",
            GST_VIDEO_INFO_SIZE (&self->info)),
        (NULL));
    return NULL;
  }
  for (gint y = 0; y < GST_VIDEO_INFO_HEIGHT (&self->info); y++)
    copy_view_row (pixels + (gsize) y * width, map.data + (gsize) y * stride,
        width, GST_VIDEO_INFO_FORMAT (&self->info) == GST_VIDEO_FORMAT_RGB);
  gst_buffer_unmap (buffer, &map);
  return buffer;
}

static GstClockTime
get_view_time (const GstBundleView *self, gint64 frame)
{
  return gst_util_uint64_scale ((guint64) frame,
      (guint64) GST_VIDEO_INFO_FPS_D (&self->info) * GST_SECOND,
      (guint64) GST_VIDEO_INFO_FPS_N (&self->info));
}

/* The frame that is shown at @time */
static gint64
find_view_frame (const GstBundleView *self, GstClockTime time)
{
  const gint64 frame = (gint64) gst_util_uint64_scale (time,
      (guint64) GST_VIDEO_INFO_FPS_N (&self->info),
      (guint64) GST_VIDEO_INFO_FPS_D (&self->info) * GST_SECOND);

  return get_view_time (self, frame + 1) <= time ? frame + 1 : frame;
}

static Settings
copy_view_settings (GstBundleView *self)
{
  Settings settings;

  GST_OBJECT_LOCK (self);
  settings = self->settings;
  GST_OBJECT_UNLOCK (self);
  settings.period = MAX (settings.period, 1);
  return settings;
}

/* Time of all turns; GST_CLOCK_TIME_NONE: no end */
static GstClockTime
get_duration (const Settings *settings)
{
  return settings->turns > 0
                 && settings->period < GST_CLOCK_TIME_NONE / settings->turns
             ? settings->turns * settings->period
             : GST_CLOCK_TIME_NONE;
}

/* Whether the next frame is behind the end of the segment or of the turns */
static gboolean
is_over (GstBundleView *self, const Settings *settings)
{
  const GstClockTime duration = get_duration (settings);

  if (g_atomic_int_get (&self->end) || self->frame < 0)
    return TRUE;
  if (self->segment.rate < 0)
    return get_view_time (self, self->frame + 1) <= self->segment.start;
  return get_view_time (self, self->frame)
         >= MIN (duration, self->segment.stop);
}

static GstEvent *
with_seqnum (GstBundleView *self, GstEvent *event)
{
  if (self->seqnum != GST_SEQNUM_INVALID)
    gst_event_set_seqnum (event, self->seqnum);
  return event;
}

/* Pushes the end of the stream, or of the segment if the seek asked for that. */
static void
push_end (GstBundleView *self)
{
  const gint64 position =
      (gint64) (self->segment.rate < 0 ? self->segment.start
                                       : self->segment.stop);

  if (!g_atomic_int_get (&self->end)
      && (self->segment.flags & GST_SEGMENT_FLAG_SEGMENT)) {
    gst_element_post_message (
        GST_ELEMENT (self), gst_message_new_segment_done (
                                GST_OBJECT (self), GST_FORMAT_TIME, position));
    gst_pad_push_event (self->srcpad,
        with_seqnum (
            self, gst_event_new_segment_done (GST_FORMAT_TIME, position)));
  } else {
    gst_pad_push_event (self->srcpad, with_seqnum (self, gst_event_new_eos ()));
  }
}

static GstFlowReturn
push_view_frame (GstBundleView *self)
{
  Settings settings = copy_view_settings (self);
  GstClockTime time;
  GstBuffer *buffer;

  if (self->painter == NULL && !prepare_view (self))
    return g_atomic_int_get (&self->cancel) ? GST_FLOW_FLUSHING
                                            : GST_FLOW_ERROR;
  if (!self->segment_pushed) {
    self->segment_pushed = TRUE;
    gst_pad_push_event (self->srcpad,
        with_seqnum (self, gst_event_new_segment (&self->segment)));
  }
  if (is_over (self, &settings))
    return GST_FLOW_EOS;
  time = get_view_time (self, self->frame);
  settings.view.azimuth +=
      360 * (gdouble) (time % settings.period) / (gdouble) settings.period;
  buffer = make_view_frame (self, &settings.view);
  if (buffer == NULL)
    return GST_FLOW_ERROR;
  GST_BUFFER_PTS (buffer) = time;
  GST_BUFFER_DURATION (buffer) = get_view_time (self, self->frame + 1) - time;
  GST_BUFFER_OFFSET (buffer) = (guint64) self->frame;
  GST_BUFFER_OFFSET_END (buffer) = (guint64) self->frame + 1;
  self->frame += self->segment.rate < 0 ? -1 : 1;
  return gst_pad_push (self->srcpad, buffer);
}

/* The source pad's task: pushes a frame each time. */
static void
run_view (gpointer user_data)
{
  GstBundleView *self = user_data;
  GstFlowReturn ret;

  cvis_cancel_watch (&self->cancel);
  ret = push_view_frame (self);
  cvis_cancel_watch (NULL);
  if (ret == GST_FLOW_OK)
    return;
  if (ret == GST_FLOW_NOT_LINKED)
    GST_ELEMENT_FLOW_ERROR (self, ret);
  if (ret != GST_FLOW_FLUSHING)
    push_end (self);
  gst_pad_pause_task (self->srcpad);
}

/* --- seeks ----------------------------------------------------------------------------------- */

/* Takes over a seek, while the task stands still. Returns: whether it is possible */
static gboolean
start_segment (GstBundleView *self, GstEvent *event)
{
  const Settings settings = copy_view_settings (self);
  GstSegment segment = self->segment;
  GstSeekFlags flags;
  GstSeekType start_type, stop_type;
  GstFormat format;
  gint64 start, stop;
  gdouble rate;

  gst_event_parse_seek (
      event, &rate, &format, &flags, &start_type, &start, &stop_type, &stop);
  segment.duration = get_duration (&settings);
  if (!gst_segment_do_seek (&segment, rate, format, flags, start_type,
          (guint64) start, stop_type, (guint64) stop, NULL))
    return FALSE;
  if (!GST_CLOCK_TIME_IS_VALID (segment.stop))
    segment.stop = segment.duration;
  if (rate < 0 && !GST_CLOCK_TIME_IS_VALID (segment.stop))
    return FALSE; /* of an endless view there is no last frame */
  if (rate < 0)
    segment.position = segment.stop;
  self->segment = segment;
  self->segment_pushed = FALSE;
  self->seqnum = gst_event_get_seqnum (event);
  g_atomic_int_set (&self->end, FALSE);
  if (rate > 0)
    self->frame = find_view_frame (self, segment.position);
  else
    self->frame = segment.position > 0
                      ? find_view_frame (self, segment.position - 1)
                      : -1;
  return TRUE;
}

static gboolean
seek_view (GstBundleView *self, GstEvent *event)
{
  GstSeekFlags flags;
  GstFormat format;
  gboolean ok;

  gst_event_parse_seek (event, NULL, &format, &flags, NULL, NULL, NULL, NULL);
  if (format != GST_FORMAT_TIME || !g_atomic_int_get (&self->seeking))
    return FALSE;
  if (flags & GST_SEEK_FLAG_FLUSH) {
    GstEvent *flush = gst_event_new_flush_start ();

    gst_event_set_seqnum (flush, gst_event_get_seqnum (event));
    gst_pad_push_event (self->srcpad, flush);
  } else {
    gst_pad_pause_task (self->srcpad);
  }
  GST_PAD_STREAM_LOCK (self->srcpad);
  ok = start_segment (self, event);
  if (flags & GST_SEEK_FLAG_FLUSH) {
    GstEvent *flush = gst_event_new_flush_stop (TRUE);

    gst_event_set_seqnum (flush, gst_event_get_seqnum (event));
    gst_pad_push_event (self->srcpad, flush);
    self->segment_pushed = FALSE; /* the flush removed it */
  }
  /* no more if the input was flushed, or the state is READY */
  if (g_atomic_int_get (&self->seeking))
    gst_pad_start_task (self->srcpad, run_view, self, NULL);
  GST_PAD_STREAM_UNLOCK (self->srcpad);
  return ok;
}

static gboolean
gst_bundle_view_src_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  gboolean ok;

  if (GST_EVENT_TYPE (event) != GST_EVENT_SEEK)
    return gst_pad_event_default (pad, parent, event);
  ok = seek_view (GST_BUNDLE_VIEW (parent), event);
  gst_event_unref (event);
  return ok;
}

static gboolean
gst_bundle_view_src_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  GstBundleView *self = GST_BUNDLE_VIEW (parent);
  const Settings settings = copy_view_settings (self);
  const GstClockTime duration = get_duration (&settings);
  GstFormat format;

  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_DURATION:
      gst_query_parse_duration (query, &format, NULL);
      if (format != GST_FORMAT_TIME || !GST_CLOCK_TIME_IS_VALID (duration))
        return FALSE;
      gst_query_set_duration (query, format, (gint64) duration);
      return TRUE;
    case GST_QUERY_SEEKING:
      gst_query_parse_seeking (query, &format, NULL, NULL, NULL);
      if (format != GST_FORMAT_TIME)
        return FALSE;
      gst_query_set_seeking (query, format,
          g_atomic_int_get (&self->seeking) != 0, 0, (gint64) duration);
      return TRUE;
    case GST_QUERY_POSITION: /* sinks answer it */
    case GST_QUERY_SEGMENT:
      return FALSE;
    default:
      return gst_pad_query_default (pad, parent, query);
  }
}

/* The sources of a pipeline get an EOS event of the application, as gst-launch-1.0 -e
 * sends it. The EOS of the file has passed already, so this element counts as a
 * source. */
static gboolean
gst_bundle_view_send_event (GstElement *element, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) != GST_EVENT_EOS)
    return GST_ELEMENT_CLASS (parent_class)->send_event (element, event);
  g_atomic_int_set (&GST_BUNDLE_VIEW (element)->end, TRUE);
  gst_event_unref (event);
  return TRUE;
}

/* --- input --------------------------------------------------------------------------------- */

static void
forget_model (GstBundleView *self)
{
  gst_bundle_file_clear (&self->file);
  g_clear_pointer (&self->folder, g_free);
  g_clear_pointer (&self->painter, gst_bundle_painter_free);
  self->failed = FALSE;
  gst_segment_init (&self->segment, GST_FORMAT_TIME);
  self->segment_pushed = FALSE;
  self->seqnum = GST_SEQNUM_INVALID;
  self->frame = 0;
  g_atomic_int_set (&self->end, FALSE);
}

/* Stops the task, wherever it is. */
static void
stop_view (GstBundleView *self)
{
  g_atomic_int_set (&self->cancel, TRUE);
  g_atomic_int_set (&self->seeking, FALSE);
  gst_pad_stop_task (self->srcpad);
}

static GstFlowReturn
gst_bundle_view_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  GstBundleView *self = GST_BUNDLE_VIEW (parent);
  const gboolean begun = self->file.size >= GST_BUNDLE_FILE_START;

  if (!self->failed
      && !gst_bundle_file_append (&self->file, GST_ELEMENT (self), buffer))
    self->failed = TRUE;
  gst_buffer_unref (buffer);
  if (!self->failed && !begun && self->file.size >= GST_BUNDLE_FILE_START)
    check_start (self);
  return self->failed ? GST_FLOW_ERROR : GST_FLOW_OK;
}

static gboolean
gst_bundle_view_sink_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstBundleView *self = GST_BUNDLE_VIEW (parent);
  gboolean ok;

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_STREAM_START:
      return gst_pad_event_default (pad, parent, event);
    case GST_EVENT_FLUSH_START:
      ok = gst_pad_event_default (pad, parent, event);
      stop_view (self);
      return ok;
    case GST_EVENT_FLUSH_STOP:
      /* an EOS that was handled during the flush may have started it again */
      stop_view (self);
      forget_model (self);
      g_atomic_int_set (&self->cancel, FALSE);
      return gst_pad_event_default (pad, parent, event);
    case GST_EVENT_EOS:
      if (!self->failed && self->file.size == 0) {
        GST_ELEMENT_ERROR (self, STREAM, DECODE,
            ("Cannot show the reconstruction: the stream ended before its "
             "first byte. Check the element before bundleview."),
            (NULL));
        self->failed = TRUE;
      }
      if (self->failed || !check_start (self))
        return gst_pad_event_default (pad, parent, event);
      gst_pad_start_task (self->srcpad, run_view, self, NULL);
      break;
    default:
      /* caps, segment and tags of the file are not those of the video */
      if (!GST_EVENT_IS_SERIALIZED (event))
        return gst_pad_event_default (pad, parent, event);
  }
  gst_event_unref (event);
  return TRUE;
}

static GstStateChangeReturn
gst_bundle_view_change_state (GstElement *element, GstStateChange transition)
{
  GstBundleView *self = GST_BUNDLE_VIEW (element);
  GstStateChangeReturn ret;

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED)
    g_atomic_int_set (&self->cancel, FALSE);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) {
    g_atomic_int_set (&self->cancel, TRUE);
    g_atomic_int_set (&self->seeking, FALSE);
  }
  ret = GST_ELEMENT_CLASS (parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) {
    stop_view (self);
    forget_model (self);
  }
  return ret;
}

/* --- object ---------------------------------------------------------------------------------- */

static void
gst_bundle_view_finalize (GObject *object)
{
  forget_model (GST_BUNDLE_VIEW (object));
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static const Settings default_settings = {
  .view = { .up = GST_BUNDLE_UP_AUTO,
      .elevation = 25,
      .zoom = 1,
      .point_size = 2,
      .labels = TRUE },
  .period = 10 * GST_SECOND,
  .turns = 1,
};

static void
gst_bundle_view_class_init (GstBundleViewClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  object_class->finalize = gst_bundle_view_finalize;
  element_class->change_state = gst_bundle_view_change_state;
  element_class->send_event = gst_bundle_view_send_event;
  gst_cvis_settings_bind (object_class, 1, settings_table,
      G_N_ELEMENTS (settings_table), G_STRUCT_OFFSET (GstBundleView, settings),
      &default_settings);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Reconstruction view",
      "Converter/Video", "Shows points and cameras of reconstructions as video",
      "the gst-cudavision authors");
  GST_DEBUG_CATEGORY_INIT (
      gst_bundle_view_debug, "bundleview", 0, "reconstructions as video");
}

static void
gst_bundle_view_init (GstBundleView *self)
{
  gst_cvis_settings_init (self);
  GST_OBJECT_FLAG_SET (self, GST_ELEMENT_FLAG_SOURCE);
  gst_segment_init (&self->segment, GST_FORMAT_TIME);
  self->sinkpad = gst_pad_new_from_static_template (&sink_template, "sink");
  gst_pad_set_chain_function (self->sinkpad, gst_bundle_view_chain);
  gst_pad_set_event_function (self->sinkpad, gst_bundle_view_sink_event);
  gst_element_add_pad (GST_ELEMENT (self), self->sinkpad);
  self->srcpad = gst_bundle_file_new_src_pad (&src_template);
  gst_pad_set_event_function (self->srcpad, gst_bundle_view_src_event);
  gst_pad_set_query_function (self->srcpad, gst_bundle_view_src_query);
  gst_element_add_pad (GST_ELEMENT (self), self->srcpad);
}
