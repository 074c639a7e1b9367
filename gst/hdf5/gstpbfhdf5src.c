/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/**
 * SECTION:element-pbfhdf5src
 * @title: pbfhdf5src
 * @short_description: reads melt-pool frames from HDF5 files
 *
 * Reads the frames of HDF5 files in the layout of the data set RAISE-LPBF, with
 * layer, scan line, laser power and scan speed as machine signals
 * (#GstCvisPbfSignalMeta).
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 pbfhdf5src location=C027.hdf5 ! cudapbfmonitor ! fakesink
 * ]|
 *
 * Since: 0.1
 */
#include "gstpbfhdf5src.h"

#include <gst/cudavision/gstpbfmeta.h>
#include <gst/video/video.h>
#include <string.h>
#include "gst/common/gstcvissegment.h"
#include "gst/common/gstcvissettings.h"
#include "cuda/records/machinesignal.h"
#include "cuda/camera/raise.h"

GST_DEBUG_CATEGORY_STATIC (gst_pbf_hdf5_src_debug);
#define GST_CAT_DEFAULT gst_pbf_hdf5_src_debug

#define FRAMES_PER_SECOND 20000 /* of the data set's camera */

typedef struct {
  gchar *location;
  gchar *group;
} Settings;

struct _GstPbfHdf5Src {
  GstPushSrc parent;

  Settings settings;

  const gchar *location; /* of the settings when it started */
  PbfRaise *raise;
  PbfRaiseFrame frame; /* the next one, if has_frame */
  gboolean has_frame;
  guint width, height; /* of it; guarded by the object lock */
  GstVideoInfo info;   /* negotiated */
  guint64 n;           /* frames so far */
  GstClockTime time;   /* of the next frame */
  guint64 frames;      /* in the file; G_MAXUINT64: unknown */
  gboolean sought;     /* n is to be set from the segment's position */
};

static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (
            "video/x-raw, format = (string) GRAY8, width = (int) [ 1, 4096 ], "
            "height = (int) [ 1, 4096 ], framerate = (fraction) [ 1/1, max ]"));

static const Settings defaults = { (gchar *) "", (gchar *) "" };

#define OFFSET(field) G_STRUCT_OFFSET (Settings, field)

static const GstCvisSetting settings_table[] = {
  { "location", "HDF5 file to read from", GST_CVIS_SETTING_STRING,
      OFFSET (location) },
  { "group",
      "Object, layer or object/layer to read; empty: all, in the natural order "
      "of their names",
      GST_CVIS_SETTING_STRING, OFFSET (group) },
};

#define gst_pbf_hdf5_src_parent_class parent_class
G_DEFINE_FINAL_TYPE (GstPbfHdf5Src, gst_pbf_hdf5_src, GST_TYPE_PUSH_SRC)
GST_ELEMENT_REGISTER_DEFINE (
    pbfhdf5src, "pbfhdf5src", GST_RANK_NONE, GST_TYPE_PBF_HDF5_SRC);

/* --- frames ---------------------------------------------------------------- */

static void
post_warning (GstPbfHdf5Src *self, gboolean at_end)
{
  gchar *text = pbf_raise_take_warning (self->raise, at_end);

  if (text != NULL)
    GST_ELEMENT_WARNING (self, STREAM, DECODE,
        ("Not all of \"%s\" can be used: %s.", self->location, text), (NULL));
  g_free (text);
}

/* Returns: GST_FLOW_OK with has_frame set, GST_FLOW_EOS or GST_FLOW_ERROR */
static GstFlowReturn
read_frame (GstPbfHdf5Src *self)
{
  GError *error = NULL;

  if (self->has_frame)
    return GST_FLOW_OK;
  self->has_frame = pbf_raise_next (self->raise, &self->frame, &error);
  if (error != NULL) {
    GST_ELEMENT_ERROR (self, STREAM, DECODE,
        ("Cannot read \"%s\": %s. Check the file, for example with h5dump -H.",
            self->location, error->message),
        (NULL));
    g_error_free (error);
    return GST_FLOW_ERROR;
  }
  if (!self->has_frame)
    return GST_FLOW_EOS;
  GST_OBJECT_LOCK (self);
  self->width = self->frame.width;
  self->height = self->frame.height;
  GST_OBJECT_UNLOCK (self);
  return GST_FLOW_OK;
}

static GstFlowReturn
copy_pixels (GstPbfHdf5Src *self, GstBuffer *buffer)
{
  GstVideoFrame frame;

  if (!gst_video_frame_map (&frame, &self->info, buffer, GST_MAP_WRITE)) {
    GST_ELEMENT_ERROR (self, RESOURCE, WRITE, (NULL),
        ("Cannot write a frame: a buffer of the negotiated pool cannot be "
         "mapped, or is too small for %dx%d pixels. Put \"identity "
         "drop-allocation=true\" after pbfhdf5src.",
            self->info.width, self->info.height));
    return GST_FLOW_ERROR;
  }
  for (guint y = 0; y < self->frame.height; y++)
    memcpy ((guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0)
                + y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0),
        self->frame.pixels + y * self->frame.width, self->frame.width);
  gst_video_frame_unmap (&frame);
  return GST_FLOW_OK;
}

static GstClockTime
get_layer_time (GstPbfHdf5Src *self, guint64 frame)
{
  return gst_util_uint64_scale (
      frame, GST_SECOND * self->info.fps_d, self->info.fps_n);
}

/* The frame that is exposed at @time. */
static guint64
find_layer_frame (GstPbfHdf5Src *self, GstClockTime time)
{
  guint64 frame = gst_util_uint64_scale (
      time, self->info.fps_n, GST_SECOND * self->info.fps_d);

  /* times of frames are rounded down, too */
  return get_layer_time (self, frame + 1) <= time ? frame + 1 : frame;
}

/* Goes to the frame that is exposed at the segment's position. */
static GstFlowReturn
go_to_layer_frame (GstPbfHdf5Src *self)
{
  guint64 frame =
      find_layer_frame (self, GST_BASE_SRC (self)->segment.position);
  GError *error = NULL;

  self->sought = FALSE;
  if (frame == self->n && self->has_frame)
    return GST_FLOW_OK;
  self->has_frame = FALSE;
  if (!pbf_raise_seek (self->raise, frame, &error)) {
    GST_ELEMENT_ERROR (self, STREAM, DECODE,
        ("Cannot read \"%s\": %s. Check the file, for example with h5dump -H.",
            self->location, error->message),
        (NULL));
    g_error_free (error);
    return GST_FLOW_ERROR;
  }
  self->n = frame;
  self->time = get_layer_time (self, frame);
  return GST_FLOW_OK;
}

static void
stamp_layer_frame (GstPbfHdf5Src *self, GstBuffer *buffer)
{
  GstClockTime end = get_layer_time (self, self->n + 1);
  CvisPbfSignal *signal = &self->frame.signal;

  signal->t_ns = self->time;
  pbf_signal_seal (signal);
  gst_cvis_buffer_add_pbf_signal_meta (buffer, signal);
  GST_BUFFER_PTS (buffer) = self->time;
  GST_BUFFER_DURATION (buffer) = end - self->time;
  GST_BUFFER_OFFSET (buffer) = self->n;
  GST_BUFFER_OFFSET_END (buffer) = ++self->n;
  self->time = end;
}

static GstFlowReturn
gst_pbf_hdf5_src_create (GstPushSrc *push, GstBuffer **buffer)
{
  GstPbfHdf5Src *self = GST_PBF_HDF5_SRC (push);
  GstBaseSrc *base = GST_BASE_SRC (push);
  GstFlowReturn ret = self->sought ? go_to_layer_frame (self) : GST_FLOW_OK;

  if (ret == GST_FLOW_OK)
    ret = read_frame (self);
  if (ret == GST_FLOW_EOS)
    post_warning (self, TRUE);
  if (ret != GST_FLOW_OK)
    return ret;
  if ((self->info.width != (gint) self->frame.width
          || self->info.height != (gint) self->frame.height)
      && !gst_base_src_negotiate (base))
    return GST_FLOW_NOT_NEGOTIATED;
  ret = GST_BASE_SRC_CLASS (parent_class)
            ->alloc (base, -1, GST_VIDEO_INFO_SIZE (&self->info), buffer);
  if (ret != GST_FLOW_OK)
    return ret;
  ret = copy_pixels (self, *buffer);
  if (ret != GST_FLOW_OK) {
    gst_clear_buffer (buffer);
    return ret;
  }
  stamp_layer_frame (self, *buffer);
  self->has_frame = FALSE;
  return GST_FLOW_OK;
}

/* --- negotiation ----------------------------------------------------------- */

static GstCaps *
gst_pbf_hdf5_src_get_caps (GstBaseSrc *base, GstCaps *filter)
{
  GstPbfHdf5Src *self = GST_PBF_HDF5_SRC (base);
  GstCaps *caps = gst_pad_get_pad_template_caps (base->srcpad), *both;

  GST_OBJECT_LOCK (self);
  if (self->width > 0) {
    caps = gst_caps_make_writable (caps);
    gst_caps_set_simple (caps, "width", G_TYPE_INT, self->width, "height",
        G_TYPE_INT, self->height, NULL);
  }
  GST_OBJECT_UNLOCK (self);
  if (filter == NULL)
    return caps;
  both = gst_caps_intersect_full (filter, caps, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref (caps);
  return both;
}

static GstCaps *
gst_pbf_hdf5_src_fixate (GstBaseSrc *base, GstCaps *caps)
{
  caps = gst_caps_make_writable (gst_caps_truncate (caps));
  gst_structure_fixate_field_nearest_fraction (
      gst_caps_get_structure (caps, 0), "framerate", FRAMES_PER_SECOND, 1);
  return GST_BASE_SRC_CLASS (parent_class)->fixate (base, caps);
}

static gboolean
gst_pbf_hdf5_src_negotiate (GstBaseSrc *base)
{
  GstPbfHdf5Src *self = GST_PBF_HDF5_SRC (base);

  if (GST_BASE_SRC_CLASS (parent_class)->negotiate (base))
    return TRUE;
  if (!GST_PAD_IS_FLUSHING (base->srcpad))
    GST_ELEMENT_ERROR (self, CORE, NEGOTIATION,
        ("Unsupported caps: \"%s\" holds GRAY8 of %ux%u pixels, which "
         "downstream does not accept. Put videoconvert, videoscale or "
         "videocrop after pbfhdf5src.",
            self->location, self->width, self->height),
        (NULL));
  return FALSE;
}

static gboolean
gst_pbf_hdf5_src_set_caps (GstBaseSrc *base, GstCaps *caps)
{
  GstPbfHdf5Src *self = GST_PBF_HDF5_SRC (base);
  GstVideoInfo info;

  if (!gst_video_info_from_caps (&info, caps))
    return FALSE;
  GST_OBJECT_LOCK (self);
  self->info = info;
  base->segment.duration = self->frames == G_MAXUINT64
                               ? GST_CLOCK_TIME_NONE
                               : get_layer_time (self, self->frames);
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

/* --- seeks ----------------------------------------------------------------- */

static gboolean
gst_pbf_hdf5_src_is_seekable (GstBaseSrc *base)
{
  return TRUE;
}

/* Refuses a seek backwards before the flush: after a failed do_seek() the base class
 * would go on without a segment. */
static gboolean
gst_pbf_hdf5_src_event (GstBaseSrc *base, GstEvent *event)
{
  if (gst_cvis_event_seeks_backwards (event))
    return FALSE;
  return GST_BASE_SRC_CLASS (gst_pbf_hdf5_src_parent_class)
      ->event (base, event);
}

/* Only notes the seek: the frame at a time is known with the caps. */
static gboolean
gst_pbf_hdf5_src_do_seek (GstBaseSrc *base, GstSegment *segment)
{
  if (segment->rate < 0)
    return FALSE;
  GST_PBF_HDF5_SRC (base)->sought = TRUE;
  return TRUE;
}

/* Converts between time and numbers of frames. */
static gboolean
convert_position (GstPbfHdf5Src *self, GstQuery *query)
{
  GstFormat from, to;
  gint64 value;
  gboolean ok;

  gst_query_parse_convert (query, &from, &value, &to, NULL);
  GST_OBJECT_LOCK (self);
  ok = self->info.fps_n > 0 && value >= 0;
  if (ok && from == GST_FORMAT_DEFAULT && to == GST_FORMAT_TIME)
    value = (gint64) get_layer_time (self, (guint64) value);
  else if (ok && from == GST_FORMAT_TIME && to == GST_FORMAT_DEFAULT)
    value = (gint64) find_layer_frame (self, (GstClockTime) value);
  else
    ok = ok && from == to;
  GST_OBJECT_UNLOCK (self);
  if (ok)
    gst_query_set_convert (query, from, value, to, value);
  return ok;
}

static gboolean
gst_pbf_hdf5_src_query (GstBaseSrc *base, GstQuery *query)
{
  if (GST_QUERY_TYPE (query) == GST_QUERY_CONVERT)
    return convert_position (GST_PBF_HDF5_SRC (base), query);
  return GST_BASE_SRC_CLASS (parent_class)->query (base, query);
}

/* --- life ------------------------------------------------------------------ */

/* Counts the frames for the duration, up to what num-buffers lets through. */
static void
count_layer_frames (GstPbfHdf5Src *self)
{
  gint wanted = GST_BASE_SRC (self)->num_buffers;
  GError *error = NULL;

  if (!pbf_raise_count (self->raise, &self->frames, &error)) {
    GST_INFO_OBJECT (self, "the duration is unknown: %s", error->message);
    g_error_free (error);
    self->frames = G_MAXUINT64;
  } else if (wanted >= 0) {
    self->frames = MIN (self->frames, (guint64) wanted);
  }
}

static gboolean
open_location (GstPbfHdf5Src *self)
{
  GError *error = NULL;
  GstFlowReturn ret;

  self->location =
      gst_cvis_settings_get_string (self, &self->settings.location);
  self->has_frame = self->sought = FALSE;
  self->n = 0;
  self->time = 0;
  gst_video_info_init (&self->info);
  if (*self->location == '\0') {
    GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND,
        ("No file name to read from. Set location."), (NULL));
    return FALSE;
  }
  self->raise = pbf_raise_new (self->location,
      gst_cvis_settings_get_string (self, &self->settings.group), &error);
  if (self->raise == NULL) {
    GST_ELEMENT_ERROR (self, RESOURCE, OPEN_READ,
        ("Cannot read \"%s\": %s. Check location and group.", self->location,
            error->message),
        (NULL));
    g_error_free (error);
    return FALSE;
  }
  post_warning (self, FALSE);
  ret = read_frame (self);
  if (ret == GST_FLOW_EOS)
    GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE,
        ("Cannot read \"%s\": it has no frames. Check location and group.",
            self->location),
        (NULL));
  if (ret == GST_FLOW_OK)
    count_layer_frames (self);
  return ret == GST_FLOW_OK;
}

static void
close_location (GstPbfHdf5Src *self)
{
  if (self->raise != NULL)
    post_warning (self, TRUE);
  g_clear_pointer (&self->raise, pbf_raise_free);
  GST_OBJECT_LOCK (self);
  self->width = self->height = 0;
  GST_OBJECT_UNLOCK (self);
}

/* Opens the file before the base class starts, which would add an error of its own
 * to that of start(). */
static GstStateChangeReturn
gst_pbf_hdf5_src_change_state (GstElement *element, GstStateChange change)
{
  GstPbfHdf5Src *self = GST_PBF_HDF5_SRC (element);
  GstStateChangeReturn ret;

  if (change == GST_STATE_CHANGE_READY_TO_PAUSED && !open_location (self)) {
    close_location (self);
    return GST_STATE_CHANGE_FAILURE;
  }
  ret = GST_ELEMENT_CLASS (parent_class)->change_state (element, change);
  if (change == GST_STATE_CHANGE_PAUSED_TO_READY
      || ret == GST_STATE_CHANGE_FAILURE)
    close_location (self);
  return ret;
}

/* --- object ---------------------------------------------------------------- */

static void
gst_pbf_hdf5_src_class_init (GstPbfHdf5SrcClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSrcClass *base_class = GST_BASE_SRC_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (
      gst_pbf_hdf5_src_debug, "pbfhdf5src", 0, "reader of HDF5 files");

  gst_cvis_settings_bind (G_OBJECT_CLASS (klass), 1, settings_table,
      G_N_ELEMENTS (settings_table), G_STRUCT_OFFSET (GstPbfHdf5Src, settings),
      &defaults);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class,
      "HDF5 reader of melt-pool frames", "Source/File",
      "Reads grey frames and machine signals in the layout of RAISE-LPBF",
      "the gst-cudavision authors");

  element_class->change_state = gst_pbf_hdf5_src_change_state;
  base_class->is_seekable = gst_pbf_hdf5_src_is_seekable;
  base_class->event = gst_pbf_hdf5_src_event;
  base_class->do_seek = gst_pbf_hdf5_src_do_seek;
  base_class->query = gst_pbf_hdf5_src_query;
  base_class->get_caps = gst_pbf_hdf5_src_get_caps;
  base_class->fixate = gst_pbf_hdf5_src_fixate;
  base_class->negotiate = gst_pbf_hdf5_src_negotiate;
  base_class->set_caps = gst_pbf_hdf5_src_set_caps;
  GST_PUSH_SRC_CLASS (klass)->create = gst_pbf_hdf5_src_create;
}

static void
gst_pbf_hdf5_src_init (GstPbfHdf5Src *self)
{
  gst_base_src_set_format (GST_BASE_SRC (self), GST_FORMAT_TIME);
  gst_cvis_settings_init (self);
  gst_video_info_init (&self->info);
}
