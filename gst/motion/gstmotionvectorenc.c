/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/**
 * SECTION:element-motionvectorenc
 * @title: motionvectorenc
 * @short_description: writes motion vectors for other programs
 *
 * Converts the packets of cudamotionest's request pad `src_vectors`, and writes the
 * motion of each frame against one of its references: as a table (CSV) with a row
 * for each block; as the raster of vectors in the layout of hardware encoders (bin);
 * or as a Middlebury flow file (flo). Each packet gives one buffer; packets without
 * that reference give none.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=100 pattern=ball ! cudamotionest name=m ! queue ! fakesink m.src_vectors ! queue ! motionvectorenc ! filesink location=motion.csv
 * ]|
 *
 * Since: 0.1
 */
#include "gstmotionvectorenc.h"

#include <gst/base/gstadapter.h>
#include <gst/cudavision/gstmotionmeta.h>
#include "gst/common/gstcvissegment.h"
#include "gst/common/gstcvissettings.h"
#include "cuda/motion/scenelist.h"
#include "cuda/motion/text.h"

GST_DEBUG_CATEGORY_STATIC (gst_motion_vector_enc_debug);
#define GST_CAT_DEFAULT gst_motion_vector_enc_debug

typedef enum {
  FORMAT_CSV,
  FORMAT_BIN,
  FORMAT_FLO,
  FORMAT_NPY,
  FORMAT_SCENES_CSV,
  FORMAT_SCENES_JSON,
  FORMAT_QPFILE,
  FORMAT_SVT_KEY_FRAMES,
  FORMAT_ZONES,
  FORMAT_TRANSITIONS_CSV,
  FORMAT_CHAPTERS,
} GstMotionVectorEncFormat;

#define MAX_DISTANCE (CVIS_MOTION_MAX_FIELDS / 2)

typedef struct {
  GstMotionVectorEncFormat format;
  gint distance;
  gboolean dense;
} Settings;

struct _GstMotionVectorEnc {
  GstElement parent;

  GstPad *sinkpad;
  GstPad *srcpad;

  Settings settings; /* guarded by the object lock */

  /* of the streaming thread */
  Settings active;
  GstCaps *in_caps;
  gboolean renegotiate;  /* the source pad needs new caps */
  CvisMotionPacket grid; /* grid of the source pad's caps */
  GList *held;           /* events to push after the first caps */
  GstAdapter *adapter;   /* the beginning of a packet */
  gboolean discont;      /* the next buffer gets DISCONT */
  gboolean header_written;
  guint64 frames;     /* with motion against any reference */
  guint64 written;    /* those of them that were written */
  guint distances;    /* set of the distances seen, one bit each */
  guint64 npy_frames; /* in the array */
  gchar *text;        /* rows of one buffer, before they are copied out */
  gsize text_size;
  MotionSceneList *scenes; /* of the formats that list scenes */
};

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (GST_CVIS_MOTION_VECTORS_CAPS));

static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (
            "text/csv; application/x-motion-vector-raster; image/x-flo; "
            "application/x-npy; application/json; text/plain"));

static const GEnumValue format_values[] = {
  { FORMAT_CSV, "Table with a header row, then a row for each block", "csv" },
  { FORMAT_BIN, "Raster of int16 x, int16 y (quarter pixels), uint32 cost",
      "bin" },
  { FORMAT_FLO, "Middlebury flow file, float32 pixels", "flo" },
  { FORMAT_NPY, "NumPy array of float32 pixels: frames x rows x columns x 2",
      "npy" },
  { FORMAT_SCENES_CSV, "Table of scenes, at the end of the stream",
      "scenes-csv" },
  { FORMAT_SCENES_JSON,
      "Scenes in the format of Av1an, at the end of the stream",
      "scenes-json" },
  { FORMAT_QPFILE,
      "Key frames for --qpfile of x264 and x265, at the end of the "
      "stream",
      "qpfile" },
  { FORMAT_SVT_KEY_FRAMES,
      "Key frames for --force-key-frames of SVT-AV1, at the end of the stream",
      "svt-key-frames" },
  { FORMAT_ZONES,
      "A zone for each scene for --zones of x264 and x265, at the end of the "
      "stream",
      "zones" },
  { FORMAT_TRANSITIONS_CSV,
      "Table of dissolves and fades, at the end of the stream",
      "transitions-csv" },
  { FORMAT_CHAPTERS,
      "Scenes as chapters of FFmpeg metadata, at the end of the "
      "stream",
      "chapters" },
  { 0, NULL, NULL },
};

/* Whether the text lists scenes: one buffer at the end of the stream. */
static gboolean
lists_scenes (gint format)
{
  return format >= FORMAT_SCENES_CSV;
}

#define FIELD(name) G_STRUCT_OFFSET (Settings, name)

static const GstCvisSetting settings_table[] = {
  { "format",
      "Output format: a table (csv), the raster of vectors (bin), flow files "
      "(flo), an array of NumPy (npy) or lists of scenes (scenes-csv, "
      "scenes-json, qpfile, svt-key-frames, zones, transitions-csv, chapters)",
      GST_CVIS_SETTING_ENUM, FIELD (format), FALSE, 0, 0,
      "GstMotionVectorEncFormat", format_values },
  { "distance",
      "Distance of the reference in frames: -1 the previous frame, 1 the next "
      "one; not 0",
      GST_CVIS_SETTING_INT, FIELD (distance), FALSE, -MAX_DISTANCE,
      MAX_DISTANCE },
  { "dense",
      "Write a vector for each pixel, that of its block, to flow files "
      "(format=flo), instead of one for each block",
      GST_CVIS_SETTING_BOOLEAN, FIELD (dense) },
};

static const Settings default_settings = { FORMAT_CSV, -1, TRUE };

#define gst_motion_vector_enc_parent_class parent_class
G_DEFINE_TYPE (GstMotionVectorEnc, gst_motion_vector_enc, GST_TYPE_ELEMENT);
GST_ELEMENT_REGISTER_DEFINE (motionvectorenc, "motionvectorenc", GST_RANK_NONE,
    GST_TYPE_MOTION_VECTOR_ENC);

/* --- negotiation ----------------------------------------------------------- */

/* Whether the caps have the size of the field. */
static gboolean
needs_grid (gint format)
{
  return format == FORMAT_BIN || format == FORMAT_FLO || format == FORMAT_NPY;
}

static GstCaps *
make_caps (GstMotionVectorEnc *self)
{
  const CvisMotionPacket *grid = &self->grid;

  switch (self->active.format) {
    case FORMAT_CSV:
    case FORMAT_SCENES_CSV:
    case FORMAT_TRANSITIONS_CSV:
      return gst_caps_new_empty_simple ("text/csv");
    case FORMAT_SCENES_JSON:
      return gst_caps_new_empty_simple ("application/json");
    case FORMAT_QPFILE:
    case FORMAT_SVT_KEY_FRAMES:
    case FORMAT_ZONES:
    case FORMAT_CHAPTERS:
      return gst_caps_new_empty_simple ("text/plain");
    case FORMAT_NPY:
      return gst_caps_new_empty_simple ("application/x-npy");
    case FORMAT_BIN:
      return gst_caps_new_simple ("application/x-motion-vector-raster", "width",
          G_TYPE_INT, (gint) grid->width, "height", G_TYPE_INT,
          (gint) grid->height, "block-size", G_TYPE_INT,
          (gint) grid->block_size, "columns", G_TYPE_INT, (gint) grid->columns,
          "rows", G_TYPE_INT, (gint) grid->rows, NULL);
    default:
      return gst_caps_new_simple ("image/x-flo", "width", G_TYPE_INT,
          (gint) (self->active.dense ? grid->width : grid->columns), "height",
          G_TYPE_INT, (gint) (self->active.dense ? grid->height : grid->rows),
          NULL);
  }
}

/* Pushes the events that arrived before the source pad had caps. */
static void
push_held_lists (GstMotionVectorEnc *self)
{
  GList *held = g_steal_pointer (&self->held);

  for (GList *l = held; l != NULL; l = l->next)
    gst_pad_push_event (self->srcpad, l->data);
  g_list_free (held);
}

static void
drop_held_lists (GstMotionVectorEnc *self)
{
  g_list_free_full (
      g_steal_pointer (&self->held), (GDestroyNotify) gst_event_unref);
}

/* Sets the source pad's caps; the frame rate is that of the sink's. */
static gboolean
negotiate_text (GstMotionVectorEnc *self)
{
  const GValue *framerate = gst_structure_get_value (
      gst_caps_get_structure (self->in_caps, 0), "framerate");
  GstCaps *caps = make_caps (self);
  gboolean ok;

  if (framerate != NULL)
    gst_caps_set_value (caps, "framerate", framerate);
  ok = gst_pad_push_event (self->srcpad, gst_event_new_caps (caps));
  gst_caps_unref (caps);
  self->renegotiate = !ok;
  if (ok)
    push_held_lists (self);
  return ok;
}

static gboolean
follow_grid (GstMotionVectorEnc *self, const CvisMotionPacket *packet)
{
  if (self->active.format == FORMAT_NPY && self->npy_frames > 0
      && (packet->columns != self->grid.columns
          || packet->rows != self->grid.rows)) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Cannot write one array: the field changes from %ux%u to %ux%u blocks "
         "at frame %" G_GUINT64_FORMAT ". Use format=csv.",
            self->grid.columns, self->grid.rows, packet->columns, packet->rows,
            packet->frame),
        (NULL));
    return FALSE;
  }
  if (packet->width != self->grid.width || packet->height != self->grid.height
      || packet->block_size != self->grid.block_size)
    self->renegotiate |= needs_grid (self->active.format);
  self->grid = *packet;
  return !self->renegotiate || negotiate_text (self);
}

/* --- formats --------------------------------------------------------------- */

/* Motion of a frame against the chosen reference */
typedef struct {
  const CvisMotionPacket *packet;
  const CvisMotionVector *vectors; /* NULL: no such reference */
  const CvisMotionBlock *blocks;
} Frame;

static void
find_field (
    GstMotionVectorEnc *self, const CvisMotionPacket *packet, Frame *frame)
{
  *frame = (Frame){ packet, NULL, NULL };
  for (guint i = 0; i < packet->n_fields; i++) {
    const CvisMotionVector *vectors;
    const CvisMotionBlock *blocks;
    gint distance =
        gst_cvis_motion_packet_get_field (packet, i, &vectors, &blocks)
            ->distance;

    self->distances |= 1u << (distance + MAX_DISTANCE);
    if (distance == self->active.distance) {
      frame->vectors = vectors;
      frame->blocks = blocks;
    }
  }
  self->frames += packet->n_fields > 0;
  self->written += frame->vectors != NULL;
}

static gchar *
ensure_text (GstMotionVectorEnc *self, gsize size)
{
  if (self->text_size < size) {
    g_free (self->text);
    self->text = g_malloc (size);
    self->text_size = size;
  }
  return self->text;
}

static GstBuffer *
write_csv (GstMotionVectorEnc *self, const Frame *frame)
{
  gsize rows = frame->vectors != NULL
                   ? (gsize) frame->packet->columns * frame->packet->rows
                   : 0;
  gchar *to = ensure_text (self, (rows + 1) * MOTION_CSV_ROW_MAX);

  if (!self->header_written)
    to = motion_csv_header (to);
  self->header_written = TRUE;
  if (rows > 0)
    to = motion_csv_rows (to, frame->packet, frame->vectors, frame->blocks);
  return to > self->text ? gst_buffer_new_memdup (self->text, to - self->text)
                         : NULL;
}

static GstBuffer *
write_bin (const Frame *frame)
{
  return gst_buffer_new_memdup (frame->vectors,
      sizeof (CvisMotionVector) * frame->packet->columns * frame->packet->rows);
}

static GstBuffer *
write_flo (GstMotionVectorEnc *self, const Frame *frame)
{
  gsize size = motion_flo_size (frame->packet, self->active.dense);
  guint8 *bytes = g_malloc (size);

  motion_flo_write (bytes, frame->packet, frame->vectors, self->active.dense);
  return gst_buffer_new_wrapped (bytes, size);
}

/* The header of the array for the frames written so far. Its size is always the same,
 * so that the number of frames is filled in at the end of the stream. */
static GstBuffer *
make_npy_header (GstMotionVectorEnc *self)
{
  guint8 *bytes = g_malloc (MOTION_NPY_HEADER);

  motion_npy_header (bytes, &self->grid, self->npy_frames);
  return gst_buffer_new_wrapped (bytes, MOTION_NPY_HEADER);
}

static GstBuffer *
write_npy (GstMotionVectorEnc *self, const Frame *frame)
{
  const gsize size = motion_npy_size (frame->packet);
  guint8 *bytes = g_malloc (size);
  GstBuffer *out;

  motion_npy_write (bytes, frame->packet, frame->vectors);
  out = gst_buffer_new_wrapped (bytes, size);
  if (self->npy_frames++ == 0)
    out = gst_buffer_append (make_npy_header (self), out);
  return out;
}

/* Returns: %NULL if there is nothing to write for the frame */
static GstBuffer *
write_frame (GstMotionVectorEnc *self, const Frame *frame)
{
  if (self->active.format == FORMAT_CSV)
    return write_csv (self, frame);
  if (frame->vectors == NULL || lists_scenes (self->active.format))
    return NULL;
  switch (self->active.format) {
    case FORMAT_BIN:
      return write_bin (frame);
    case FORMAT_NPY:
      return write_npy (self, frame);
    default:
      return write_flo (self, frame);
  }
}

/* --- streaming ------------------------------------------------------------- */

/* A gap event advances downstream's time when nothing is pushed. */
static void
push_gap (GstMotionVectorEnc *self, GstBuffer *buffer)
{
  if (GST_BUFFER_PTS_IS_VALID (buffer))
    gst_pad_push_event (
        self->srcpad, gst_event_new_gap (GST_BUFFER_PTS (buffer),
                          GST_BUFFER_DURATION (buffer)));
}

/* The time of frame @number by the frame rate of the caps; none without one */
static GstClockTime
time_of_frame (GstMotionVectorEnc *self, guint64 number)
{
  gint n, d;

  if (!gst_structure_get_fraction (
          gst_caps_get_structure (self->in_caps, 0), "framerate", &n, &d)
      || n <= 0)
    return GST_CLOCK_TIME_NONE;
  return gst_util_uint64_scale (number, GST_SECOND * d, n);
}

/* The stream time of @pts, which players show and other programs count from. Frames
 * of MP4 begin at a composition offset instead. */
static GstClockTime
to_stream_time (GstMotionVectorEnc *self, GstClockTime pts)
{
  GstEvent *event =
      gst_pad_get_sticky_event (self->sinkpad, GST_EVENT_SEGMENT, 0);
  const GstSegment *segment;
  GstClockTime time = pts;

  if (event == NULL)
    return pts;
  gst_event_parse_segment (event, &segment);
  if (segment->format == GST_FORMAT_TIME
      && gst_segment_to_stream_time_full (segment, GST_FORMAT_TIME, pts, &time)
             < 0)
    time = 0;
  gst_event_unref (event);
  return time;
}

static void
add_to_scenes (
    GstMotionVectorEnc *self, GstBuffer *buffer, const CvisMotionPacket *packet)
{
  GstClockTime pts =
      GST_BUFFER_PTS_IS_VALID (buffer) ? GST_BUFFER_PTS (buffer) : packet->pts;
  GstClockTime duration = GST_BUFFER_DURATION (buffer);
  const CvisMotionVector *vectors;
  const CvisMotionBlock *blocks = NULL;

  if (packet->n_fields > 0)
    gst_cvis_motion_packet_get_field (packet, 0, &vectors, &blocks);
  if (!GST_CLOCK_TIME_IS_VALID (pts))
    pts = time_of_frame (self, packet->frame);
  else
    pts = to_stream_time (self, pts);
  if (!GST_CLOCK_TIME_IS_VALID (duration))
    duration = time_of_frame (self, 1);
  if (self->scenes == NULL)
    self->scenes = motion_scene_list_new ();
  motion_scene_list_add (self->scenes, packet, blocks, pts, duration);
  self->written++; /* every frame counts, with motion or without */
}

static GstFlowReturn
encode (
    GstMotionVectorEnc *self, GstBuffer *buffer, const CvisMotionPacket *packet)
{
  Frame frame;
  GstBuffer *out;

  if (!follow_grid (self, packet))
    return GST_PAD_IS_FLUSHING (self->srcpad) ? GST_FLOW_FLUSHING
                                              : GST_FLOW_NOT_NEGOTIATED;
  find_field (self, packet, &frame);
  if (lists_scenes (self->active.format))
    add_to_scenes (self, buffer, packet);
  out = write_frame (self, &frame);
  if (out == NULL) {
    push_gap (self, buffer);
    return GST_FLOW_OK;
  }
  gst_buffer_copy_into (
      out, buffer, GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
  if (!GST_BUFFER_PTS_IS_VALID (out))
    GST_BUFFER_PTS (out) = packet->pts;
  if (self->discont)
    GST_BUFFER_FLAG_SET (out, GST_BUFFER_FLAG_DISCONT);
  self->discont = FALSE;
  return gst_pad_push (self->srcpad, out);
}

/* Copies the bytes if their address is not aligned for the structs. */
static GstFlowReturn
check_and_encode (
    GstMotionVectorEnc *self, GstBuffer *buffer, const GstMapInfo *map)
{
  gpointer aligned = (guintptr) map->data % G_ALIGNOF (CvisMotionPacket)
                         ? g_memdup2 (map->data, map->size)
                         : NULL;
  gpointer packet = aligned ? aligned : map->data;
  GstFlowReturn ret = GST_FLOW_ERROR;
  GError *error = NULL;

  if (gst_cvis_motion_packet_check (packet, map->size, &error)) {
    ret = encode (self, buffer, packet);
  } else {
    GST_ELEMENT_ERROR (self, STREAM, DECODE,
        ("Cannot read motion vectors: a buffer of %" G_GSIZE_FORMAT
         " bytes is no packet: %s. Check that cudamotionest made the stream.",
            map->size, error->message),
        ("%" GST_PTR_FORMAT, buffer));
    g_error_free (error);
  }
  g_free (aligned);
  return ret;
}

/* Takes @buffer, which holds one packet. */
static GstFlowReturn
encode_buffer (GstMotionVectorEnc *self, GstBuffer *buffer)
{
  GstFlowReturn ret = GST_FLOW_ERROR;
  GstMapInfo map;

  if (!gst_buffer_map (buffer, &map, GST_MAP_READ)) {
    GST_ELEMENT_ERROR (self, RESOURCE, READ,
        ("Cannot read motion vectors: a buffer cannot be mapped. Check the "
         "element before motionvectorenc."),
        ("%" GST_PTR_FORMAT, buffer));
  } else {
    ret = check_and_encode (self, buffer, &map);
    gst_buffer_unmap (buffer, &map);
  }
  gst_buffer_unref (buffer);
  return ret;
}

/* Size in bytes of the first packet in the adapter; 0 if not known yet. Bytes that
 * are no packet are taken whole, for the error message. */
static gsize
get_packet_size (GstMotionVectorEnc *self)
{
  gsize available = gst_adapter_available (self->adapter);
  CvisMotionPacket head;

  if (available < sizeof head.magic)
    return 0;
  gst_adapter_copy (self->adapter, &head, 0, MIN (available, sizeof head));
  if (memcmp (head.magic, CVIS_MOTION_PACKET_MAGIC, sizeof head.magic) != 0)
    return available;
  if (available < sizeof head)
    return 0;
  return head.version - 1 < CVIS_MOTION_PACKET_VERSION
                 && head.size >= sizeof head
             ? (gsize) head.size
             : available;
}

static GstFlowReturn
gst_motion_vector_enc_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  GstMotionVectorEnc *self = GST_MOTION_VECTOR_ENC (parent);
  GstFlowReturn ret = GST_FLOW_OK;
  gsize size;

  if (self->in_caps == NULL) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Cannot write motion vectors: they came without "
         "caps, " GST_CVIS_MOTION_VECTORS_MEDIA_TYPE
         " is expected. Put a capsfilter before motionvectorenc."),
        (NULL));
    gst_buffer_unref (buffer);
    return GST_FLOW_NOT_NEGOTIATED;
  }
  gst_adapter_push (self->adapter, buffer);
  while (ret == GST_FLOW_OK && (size = get_packet_size (self)) > 0
         && size <= gst_adapter_available (self->adapter))
    ret = encode_buffer (self, gst_adapter_take_buffer (self->adapter, size));
  return ret;
}

/* --- events ----------------------------------------------------------------
 * The source pad's caps need the grid, which the first packet has; events that
 * follow caps wait for it. A table has the same caps for any grid. */

/* A table without rows has a header row too. */
static void
push_missing_header (GstMotionVectorEnc *self)
{
  gchar header[MOTION_CSV_ROW_MAX];

  if (self->in_caps == NULL || self->header_written
      || self->active.format != FORMAT_CSV)
    return;
  self->header_written = TRUE;
  gst_cvis_push_missing_segment (self->srcpad);
  gst_pad_push (self->srcpad,
      gst_buffer_new_memdup (header, motion_csv_header (header) - header));
}

/* Fills in the number of frames: sinks such as filesink seek to the beginning. */
static void
finish_npy (GstMotionVectorEnc *self)
{
  GstSegment segment;
  GstBuffer *header;

  if (self->active.format != FORMAT_NPY || self->npy_frames == 0)
    return;
  gst_segment_init (&segment, GST_FORMAT_BYTES);
  if (!gst_pad_push_event (self->srcpad, gst_event_new_segment (&segment)))
    return;
  header = make_npy_header (self);
  GST_BUFFER_OFFSET (header) = 0;
  gst_pad_push (self->srcpad, header);
}

static void
push_scenes (GstMotionVectorEnc *self)
{
  static const MotionScenesFormat formats[] = {
    [FORMAT_SCENES_CSV] = MOTION_SCENES_CSV,
    [FORMAT_SCENES_JSON] = MOTION_SCENES_JSON,
    [FORMAT_QPFILE] = MOTION_SCENES_QPFILE,
    [FORMAT_SVT_KEY_FRAMES] = MOTION_SCENES_SVT_KEY_FRAMES,
    [FORMAT_ZONES] = MOTION_SCENES_ZONES,
    [FORMAT_TRANSITIONS_CSV] = MOTION_SCENES_TRANSITIONS,
    [FORMAT_CHAPTERS] = MOTION_SCENES_CHAPTERS,
  };
  gchar *text;

  if (self->in_caps == NULL || !lists_scenes (self->active.format))
    return;
  if (self->scenes == NULL)
    self->scenes = motion_scene_list_new ();
  motion_scene_list_end (self->scenes);
  text = motion_scene_list_format (self->scenes, formats[self->active.format]);
  gst_cvis_push_missing_segment (self->srcpad);
  gst_pad_push (self->srcpad, gst_buffer_new_wrapped (text, strlen (text)));
}

/* Warns if nothing was written. */
static void
warn_of_nothing (GstMotionVectorEnc *self)
{
  GString *seen;

  if (self->frames == 0 || self->written > 0)
    return;
  seen = g_string_new (NULL);
  for (gint i = 0; i <= 2 * MAX_DISTANCE; i++)
    if (self->distances & 1u << i)
      g_string_append_printf (
          seen, "%s%d", seen->len ? ", " : "", i - MAX_DISTANCE);
  GST_ELEMENT_WARNING (self, STREAM, FAILED,
      ("None of %" G_GUINT64_FORMAT " frames has motion of distance %d: the "
       "stream has %s. Set the property distance.",
          self->frames, self->active.distance, seen->str),
      (NULL));
  g_string_free (seen, TRUE);
  self->frames = 0;
}

/* Warns if the stream ends within a packet. */
static void
refuse_rest (GstMotionVectorEnc *self)
{
  gsize rest = gst_adapter_available (self->adapter);

  if (rest == 0)
    return;
  gst_adapter_clear (self->adapter);
  GST_ELEMENT_ERROR (self, STREAM, DECODE,
      ("Cannot read motion vectors: the stream ends %" G_GSIZE_FORMAT
       " bytes after the beginning of a packet. Check the element before "
       "motionvectorenc.",
          rest),
      (NULL));
}

/* Holds @event until the caps are pushed; of several gaps in a row the last. */
static void
hold (GstMotionVectorEnc *self, GstEvent *event)
{
  GList *last = g_list_last (self->held);

  if (last != NULL && GST_EVENT_TYPE (event) == GST_EVENT_GAP
      && GST_EVENT_TYPE (last->data) == GST_EVENT_GAP) {
    gst_event_unref (last->data);
    last->data = event;
  } else {
    self->held = g_list_append (self->held, event);
  }
}

static gboolean
gst_motion_vector_enc_sink_event (
    GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstMotionVectorEnc *self = GST_MOTION_VECTOR_ENC (parent);
  GstCaps *caps;

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_CAPS:
      gst_event_parse_caps (event, &caps);
      gst_caps_replace (&self->in_caps, caps);
      self->renegotiate = TRUE;
      gst_event_unref (event);
      return needs_grid (self->active.format) || negotiate_text (self);
    case GST_EVENT_FLUSH_STOP:
      drop_held_lists (self);
      gst_adapter_clear (self->adapter);
      self->discont = TRUE;
      break;
    case GST_EVENT_EOS:
      refuse_rest (self);
      push_missing_header (self);
      push_scenes (self);
      finish_npy (self);
      push_held_lists (self);
      warn_of_nothing (self);
      break;
    default:
      if (GST_EVENT_TYPE (event) > GST_EVENT_CAPS
          && (GST_EVENT_IS_STICKY (event)
              || GST_EVENT_TYPE (event) == GST_EVENT_GAP)
          && !gst_pad_has_current_caps (self->srcpad)) {
        hold (self, event);
        return TRUE;
      }
  }
  return gst_pad_event_default (pad, parent, event);
}

/* --- object ---------------------------------------------------------------- */

/* Resets the state of a run. */
static gboolean
take_settings (GstMotionVectorEnc *self)
{
  GST_OBJECT_LOCK (self);
  self->active = self->settings;
  GST_OBJECT_UNLOCK (self);
  if (self->active.distance != 0)
    return TRUE;
  GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS,
      ("Invalid settings: distance is 0. Use -1 for the previous frame or 1 "
       "for the next one."),
      ("distance=0"));
  return FALSE;
}

static void
forget_stream (GstMotionVectorEnc *self)
{
  drop_held_lists (self);
  gst_clear_caps (&self->in_caps);
  gst_adapter_clear (self->adapter);
  self->renegotiate = self->header_written = FALSE;
  self->discont = TRUE;
  self->grid = (CvisMotionPacket){ 0 };
  self->frames = self->written = self->npy_frames = 0;
  self->distances = 0;
  g_clear_pointer (&self->text, g_free);
  self->text_size = 0;
  g_clear_pointer (&self->scenes, motion_scene_list_free);
}

static GstStateChangeReturn
gst_motion_vector_enc_change_state (
    GstElement *element, GstStateChange transition)
{
  GstMotionVectorEnc *self = GST_MOTION_VECTOR_ENC (element);
  GstStateChangeReturn ret;

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED && !take_settings (self))
    return GST_STATE_CHANGE_FAILURE;
  ret = GST_ELEMENT_CLASS (parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    forget_stream (self);
  return ret;
}

static void
gst_motion_vector_enc_finalize (GObject *object)
{
  forget_stream (GST_MOTION_VECTOR_ENC (object));
  g_object_unref (GST_MOTION_VECTOR_ENC (object)->adapter);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_motion_vector_enc_class_init (GstMotionVectorEncClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_motion_vector_enc_debug, "motionvectorenc", 0,
      "motion vectors for other programs");

  object_class->finalize = gst_motion_vector_enc_finalize;
  element_class->change_state = gst_motion_vector_enc_change_state;
  gst_cvis_settings_bind (object_class, 1, settings_table,
      G_N_ELEMENTS (settings_table),
      G_STRUCT_OFFSET (GstMotionVectorEnc, settings), &default_settings);

  gst_element_class_set_static_metadata (element_class,
      "Motion vectors as tables and files", "Codec/Encoder/Metadata",
      "Writes the packets of cudamotionest as CSV, raw vectors or flow files",
      "the gst-cudavision authors");
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
}

static void
gst_motion_vector_enc_init (GstMotionVectorEnc *self)
{
  gst_cvis_settings_init (self);
  self->adapter = gst_adapter_new ();
  self->discont = TRUE;

  self->sinkpad = gst_pad_new_from_static_template (&sink_template, "sink");
  gst_pad_set_chain_function (self->sinkpad, gst_motion_vector_enc_chain);
  gst_pad_set_event_function (self->sinkpad, gst_motion_vector_enc_sink_event);
  gst_element_add_pad (GST_ELEMENT (self), self->sinkpad);

  self->srcpad = gst_pad_new_from_static_template (&src_template, "src");
  gst_pad_use_fixed_caps (self->srcpad);
  gst_element_add_pad (GST_ELEMENT (self), self->srcpad);
}
