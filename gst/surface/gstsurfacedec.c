/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/**
 * SECTION:element-surfacedec
 * @title: surfacedec
 * @short_description: decodes surface files
 *
 * Decodes the bytes of surface files from any source. All bytes up to the end of the
 * stream are one file; if buffers have timestamps or the caps a frame rate, as from
 * multifilesrc, each buffer is one. surfacesrc opens and reads files itself.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 filesrc location=land.x3p ! surfacedec ! surfacecolor ! pngenc ! filesink location=land.png
 * ]|
 *
 * Since: 0.1
 */
#include "gstsurfacedec.h"

#include <gst/base/gstadapter.h>
#include <gst/cudavision/gstsurfacemeta.h>
#include "gst/common/gstcvispool.h"
#include "gstsurfacereading.h"
#include "gstsurfacetypes.h"

GST_DEBUG_CATEGORY_STATIC (gst_surface_dec_debug);
#define GST_CAT_DEFAULT gst_surface_dec_debug

struct _GstSurfaceDec {
  GstElement parent;

  GstPad *sinkpad;
  GstPad *srcpad;

  GstSurfaceReading reading; /* guarded by the object lock */

  /* of the streaming thread */
  GstAdapter *adapter; /* a file that has not ended */
  gboolean begun;      /* its first bytes were checked */
  gboolean refused;    /* they are not those of a surface */
  GstSegment segment;  /* of the sink */
  guint32 seqnum;      /* of that segment */
  gint fps_n, fps_d;   /* of the sink's caps */
  gboolean rate_known;
  GstCvisSurfaceInfo info; /* of the source pad's caps; width 0: none yet */
  gboolean segment_sent;
  GList *held; /* events to push after the first caps */
  guint64 surfaces;
  GstSurfaceBuffers buffers;
};

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_SURFACE_FILE_CAPS));

static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (
            "other/tensors, format = (string) static, num_tensors = (int) 1, "
            "types = (string) { float32, float64 }, framerate = (fraction) [ "
            "0/1, max ]"));

#define gst_surface_dec_parent_class parent_class
G_DEFINE_FINAL_TYPE (GstSurfaceDec, gst_surface_dec, GST_TYPE_ELEMENT)
GST_ELEMENT_REGISTER_DEFINE (
    surfacedec, "surfacedec", GST_RANK_MARGINAL, GST_TYPE_SURFACE_DEC);

/* --- negotiation ---------------------------------------------------------------- */

/* Whether each buffer is a file. */
static gboolean
is_packetised (GstSurfaceDec *self)
{
  return self->rate_known || self->segment.format == GST_FORMAT_TIME;
}

static void
send_segment (GstSurfaceDec *self)
{
  GstSegment segment = self->segment;
  GstEvent *event;

  if (self->segment_sent)
    return;
  if (segment.format != GST_FORMAT_TIME)
    gst_segment_init (&segment, GST_FORMAT_TIME);
  event = gst_event_new_segment (&segment);
  if (self->seqnum != GST_SEQNUM_INVALID)
    gst_event_set_seqnum (event, self->seqnum);
  self->segment_sent = gst_pad_push_event (self->srcpad, event);
}

/* Pushes the events that arrived before the source pad had caps. */
static void
push_bytes (GstSurfaceDec *self)
{
  GList *held = g_steal_pointer (&self->held);

  for (GList *l = held; l != NULL; l = l->next)
    gst_pad_push_event (self->srcpad, l->data);
  g_list_free (held);
}

static void
drop_held_bytes (GstSurfaceDec *self)
{
  g_list_free_full (
      g_steal_pointer (&self->held), (GDestroyNotify) gst_event_unref);
}

static gboolean
negotiate_tensors (GstSurfaceDec *self, const GstCvisSurfaceInfo *info)
{
  GstCaps *caps = gst_cvis_surface_info_to_caps (info);
  gboolean ok = TRUE;

  if (!gst_pad_has_current_caps (self->srcpad)
      || !gst_surface_reading_same (info, &self->info)) {
    /* after a flush in between, the pad may have the caps nevertheless */
    self->info = (GstCvisSurfaceInfo){ 0 };
    gst_surface_buffers_renew (&self->buffers);
    ok = gst_pad_peer_query_accept_caps (self->srcpad, caps)
         && gst_pad_push_event (self->srcpad, gst_event_new_caps (caps));
    if (ok)
      self->info = *info;
    else if (!GST_PAD_IS_FLUSHING (self->srcpad))
      GST_ELEMENT_ERROR (self, CORE, NEGOTIATION,
          ("Downstream does not accept the surface. Put cudalwtfilter, "
           "surfacecolor or surfacesink after surfacedec."),
          ("%" GST_PTR_FORMAT, caps));
  }
  gst_caps_unref (caps);
  if (ok) {
    send_segment (self);
    push_bytes (self);
  }
  return ok;
}

/* --- files ------------------------------------------------------------------------- */

/* Takes @error. */
static void
post_read_error (GstSurfaceDec *self, GError *error)
{
  if (g_error_matches (error, CVIS_ERROR, CVIS_ERROR_MEMORY))
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("Cannot read the surface: %s. Check the property max-size and the "
         "free memory.",
            error->message),
        (NULL));
  else
    GST_ELEMENT_ERROR (self, STREAM, DECODE,
        ("Cannot read the stream as a surface: %s. Check that it is complete "
         "and of a supported format.",
            error->message),
        (NULL));
  g_error_free (error);
}

static GstFlowReturn
push_surface (GstSurfaceDec *self, SurfaceReader *reader,
    const GstSurfaceReading *reading, GstBuffer *like)
{
  const SurfaceImage *about = surface_reader_get_about (reader);
  GError *error = NULL;
  GstCvisSurfaceInfo info;
  GstTagList *tags;
  GstBuffer *out;

  if (!gst_surface_reading_check (
          reading, reader, &self->buffers, GST_ELEMENT (self), NULL, &error)) {
    post_read_error (self, error);
    return GST_FLOW_ERROR;
  }
  gst_surface_reading_describe (reading, about, &info);
  info.fps_n = self->fps_n;
  info.fps_d = self->fps_d;
  if (gst_pad_check_reconfigure (self->srcpad))
    gst_surface_buffers_renew (&self->buffers);
  if (!negotiate_tensors (self, &info))
    return GST_PAD_IS_FLUSHING (self->srcpad) ? GST_FLOW_FLUSHING
                                              : GST_FLOW_NOT_NEGOTIATED;
  tags = gst_surface_reading_tags (about);
  if (tags != NULL)
    gst_pad_push_event (self->srcpad, gst_event_new_tag (tags));
  out = gst_surface_reading_make (
      reading, reader, &info, &self->buffers, self->srcpad, &error);
  if (out == NULL) {
    post_read_error (self, error);
    return GST_FLOW_ERROR;
  }
  if (like != NULL)
    gst_buffer_copy_into (
        out, like, GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
  else
    GST_BUFFER_PTS (out) = 0;
  GST_BUFFER_OFFSET (out) = self->surfaces;
  GST_BUFFER_OFFSET_END (out) = ++self->surfaces;
  return gst_pad_push (self->srcpad, out);
}

/* @file: (transfer none): a whole file in one buffer
 * @like: (nullable): buffer with the surface's timestamps */
static GstFlowReturn
decode (GstSurfaceDec *self, GstBuffer *file, GstBuffer *like)
{
  GstFlowReturn ret = GST_FLOW_ERROR;
  GstSurfaceReading reading;
  SurfaceReader *reader;
  GError *error = NULL;
  GstMapInfo map;
  GBytes *bytes;

  if (!gst_buffer_map (file, &map, GST_MAP_READ)) {
    GST_ELEMENT_ERROR (self, RESOURCE, READ,
        ("Cannot read a file: its buffer cannot be mapped. Check the element "
         "before surfacedec."),
        ("%" GST_PTR_FORMAT, file));
    return GST_FLOW_ERROR;
  }
  bytes = g_bytes_new_static (map.data, map.size);
  GST_OBJECT_LOCK (self);
  reading = self->reading;
  GST_OBJECT_UNLOCK (self);
  reader = gst_surface_reading_open (&reading, NULL, bytes, &error);
  if (reader != NULL) {
    ret = push_surface (self, reader, &reading, like);
    surface_reader_free (reader);
  } else {
    post_read_error (self, error);
  }
  g_bytes_unref (bytes);
  gst_buffer_unmap (file, &map);
  return ret;
}

/* Collects bytes, unless the first ones are not those of a surface. */
static GstFlowReturn
gather (GstSurfaceDec *self, GstBuffer *buffer)
{
  guint8 start[SURFACE_FILE_START];
  GError *error = NULL;

  if (self->refused) {
    gst_buffer_unref (buffer);
    return GST_FLOW_ERROR;
  }
  gst_adapter_push (self->adapter, buffer);
  if (self->begun || gst_adapter_available (self->adapter) < sizeof (start))
    return GST_FLOW_OK;
  self->begun = TRUE;
  gst_adapter_copy (self->adapter, start, 0, sizeof (start));
  if (surface_file_check_start (start, sizeof (start), &error))
    return GST_FLOW_OK;
  post_read_error (self, error);
  gst_adapter_clear (self->adapter);
  self->refused = TRUE;
  return GST_FLOW_ERROR;
}

static GstFlowReturn
gst_surface_dec_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  GstSurfaceDec *self = GST_SURFACE_DEC (parent);
  GstFlowReturn ret;

  if (!is_packetised (self))
    return gather (self, buffer);
  ret = decode (self, buffer, buffer);
  gst_buffer_unref (buffer);
  return ret;
}

/* Takes all bytes as one buffer. Returns: %NULL after posting an error */
static GstBuffer *
take_file (GstSurfaceDec *self, gsize size)
{
  GstBuffer *file;
  GstMapInfo map;

  if (gst_adapter_available_fast (self->adapter) == size)
    return gst_adapter_take_buffer (self->adapter, size);
  file = gst_buffer_new_allocate (gst_cvis_allocator (), size, NULL);
  if (file == NULL || !gst_buffer_map (file, &map, GST_MAP_WRITE)) {
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("No memory for a file of %" G_GSIZE_FORMAT
         " bytes. Use a smaller file.",
            size),
        (NULL));
    gst_clear_buffer (&file);
  } else {
    gst_adapter_copy (self->adapter, map.data, 0, size);
    gst_buffer_unmap (file, &map);
  }
  gst_adapter_clear (self->adapter);
  return file;
}

/* Decodes the collected bytes at EOS; errors are posted, as upstream gets none. */
static void
finish_file (GstSurfaceDec *self)
{
  gsize size = gst_adapter_available (self->adapter);
  GstFlowReturn ret;
  GstBuffer *file;

  if (size > 0) {
    file = take_file (self, size);
    ret = file != NULL ? decode (self, file, NULL) : GST_FLOW_ERROR;
    gst_clear_buffer (&file);
    if (ret == GST_FLOW_NOT_LINKED)
      GST_ELEMENT_FLOW_ERROR (self, ret);
  } else if (self->surfaces == 0 && !self->refused && !is_packetised (self)) {
    GST_ELEMENT_ERROR (self, STREAM, DECODE,
        ("Cannot read a surface: the stream ended before the first byte of a "
         "file. Check the element before surfacedec."),
        (NULL));
  }
  self->begun = self->refused = FALSE;
}

/* --- events ---------------------------------------------------------------------------- */

static void
take_caps (GstSurfaceDec *self, GstCaps *caps)
{
  const GstStructure *s = gst_caps_get_structure (caps, 0);

  self->rate_known =
      gst_structure_get_fraction (s, "framerate", &self->fps_n, &self->fps_d);
  if (!self->rate_known || self->fps_n < 0) {
    self->fps_n = 0;
    self->fps_d = 1;
  }
}

static gboolean
gst_surface_dec_sink_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstSurfaceDec *self = GST_SURFACE_DEC (parent);
  GstCaps *caps;

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_CAPS:
      gst_event_parse_caps (event, &caps);
      take_caps (self, caps);
      gst_event_unref (event);
      return TRUE;
    case GST_EVENT_SEGMENT:
      gst_event_copy_segment (event, &self->segment);
      self->seqnum = gst_event_get_seqnum (event);
      self->segment_sent = FALSE;
      gst_event_unref (event);
      if (gst_pad_has_current_caps (self->srcpad))
        send_segment (self);
      return TRUE;
    case GST_EVENT_FLUSH_STOP:
      gst_adapter_clear (self->adapter);
      self->begun = self->refused = FALSE;
      gst_segment_init (&self->segment, GST_FORMAT_UNDEFINED);
      drop_held_bytes (self);
      self->surfaces = 0;
      break;
    case GST_EVENT_EOS:
      finish_file (self);
      push_bytes (self);
      break;
    default:
      if (GST_EVENT_TYPE (event) > GST_EVENT_CAPS
          && GST_EVENT_IS_SERIALIZED (event)
          && !gst_pad_has_current_caps (self->srcpad)) {
        self->held = g_list_append (self->held, event);
        return TRUE;
      }
  }
  return gst_pad_event_default (pad, parent, event);
}

/* --- object ------------------------------------------------------------------------------- */

static void
drop_bytes (GstSurfaceDec *self)
{
  gst_adapter_clear (self->adapter);
  self->begun = self->refused = FALSE;
  drop_held_bytes (self);
  gst_segment_init (&self->segment, GST_FORMAT_UNDEFINED);
  self->info = (GstCvisSurfaceInfo){ 0 };
  self->seqnum = GST_SEQNUM_INVALID;
  self->rate_known = self->segment_sent = FALSE;
  self->fps_n = 0;
  self->fps_d = 1;
  self->surfaces = 0;
}

static GstStateChangeReturn
gst_surface_dec_change_state (GstElement *element, GstStateChange transition)
{
  GstSurfaceDec *self = GST_SURFACE_DEC (element);
  GstStateChangeReturn ret;

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED)
    gst_surface_buffers_start (&self->buffers);
  ret = GST_ELEMENT_CLASS (parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY
      || (transition == GST_STATE_CHANGE_READY_TO_PAUSED
          && ret == GST_STATE_CHANGE_FAILURE)) {
    drop_bytes (self);
    gst_surface_buffers_stop (&self->buffers);
  }
  return ret;
}

static void
gst_surface_dec_finalize (GObject *object)
{
  GstSurfaceDec *self = GST_SURFACE_DEC (object);

  drop_held_bytes (self);
  g_object_unref (self->adapter);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_surface_dec_class_init (GstSurfaceDecClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (
      gst_surface_dec_debug, "surfacedec", 0, "surfaces from bytes of files");

  object_class->finalize = gst_surface_dec_finalize;
  gst_cvis_settings_bind (object_class, 1, gst_surface_reading,
      GST_SURFACE_N_READING, G_STRUCT_OFFSET (GstSurfaceDec, reading),
      &gst_surface_reading_defaults);

  element_class->change_state = gst_surface_dec_change_state;
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class,
      "Decoder of surface files", "Codec/Decoder/Image",
      "Reads X3P, SDF, SUR, GSF, TIFF, NPY, NPZ, AL3D, BCRF, PLU, OPD, "
      "MetroPro and text files of surfaces",
      "the gst-cudavision authors");
}

static void
gst_surface_dec_init (GstSurfaceDec *self)
{
  self->sinkpad = gst_pad_new_from_static_template (&sink_template, "sink");
  gst_pad_set_chain_function (self->sinkpad, gst_surface_dec_chain);
  gst_pad_set_event_function (self->sinkpad, gst_surface_dec_sink_event);
  /* image/tiff of the template needs no frame rate */
  GST_PAD_SET_ACCEPT_INTERSECT (self->sinkpad);
  gst_element_add_pad (GST_ELEMENT (self), self->sinkpad);
  self->srcpad = gst_pad_new_from_static_template (&src_template, "src");
  gst_pad_use_fixed_caps (self->srcpad);
  gst_element_add_pad (GST_ELEMENT (self), self->srcpad);
  self->adapter = gst_adapter_new ();
  gst_cvis_settings_init (self);
  drop_bytes (self);
}
