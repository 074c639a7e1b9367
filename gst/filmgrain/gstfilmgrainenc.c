/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/**
 * SECTION:element-filmgrainenc
 * @title: filmgrainenc
 * @short_description: writes the grain that a denoiser removed for AV1 encoders
 *
 * Compares a video with the same video after a denoiser, and writes the difference as a
 * table of film-grain parameters of AV1: the encoder does not spend bits on the grain, and
 * the decoder adds it again. The table is one buffer at the end of the stream.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=50 ! tee name=t ! queue max-size-bytes=0 ! cudadenoise ! g.sink_denoised t. ! queue max-size-bytes=0 ! g.sink filmgrainenc name=g ! filesink location=grain.tbl
 * ]|
 *
 * Since: 0.2
 */
#include "gstfilmgrainenc.h"

#include <gst/video/video.h>
#include <string.h>

#include "cuda/filmgrain/filmgrain.h"
#include "gst/common/gstcvissettings.h"
#include "gst/common/gstcvistime.h"

GST_DEBUG_CATEGORY_STATIC (gst_film_grain_enc_debug);
#define GST_CAT_DEFAULT gst_film_grain_enc_debug

#define CAPS                                                                   \
  GST_VIDEO_CAPS_MAKE ("{ I420, NV12, Y42B, Y444, GRAY8, I420_10LE, "          \
                       "P010_10LE, I422_10LE, Y444_10LE }")

/* Level at which messages give the strength */
#define MIDDLE 128

typedef struct {
  guint interval;
} Settings;

struct _GstFilmGrainEnc {
  GstAggregator parent;

  GstAggregatorPad *source, *denoised;

  Settings settings; /* guarded by the object lock */

  /* of the streaming thread */
  Settings active;
  GstVideoInfo infos[2]; /* of source and denoised */
  GstVideoInfo info;     /* of the entry's frames */
  FilmGrain *grain;
  GString *table;
  GstClockTime base;  /* running time of the first frame */
  GstClockTime start; /* of the entry, from the first frame */
  guint frames;       /* of the entry */
  guint64 unpaired;
};

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (CAPS));

static GstStaticPadTemplate denoised_template = GST_STATIC_PAD_TEMPLATE (
    "sink_denoised", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (CAPS));

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS ("text/plain"));

static const GstCvisSetting settings_table[] = {
  { "interval",
      "Number of frames of each entry of the table; 0: one entry for the whole "
      "stream",
      GST_CVIS_SETTING_UINT, G_STRUCT_OFFSET (Settings, interval), FALSE, 0,
      G_MAXINT },
};

static const Settings default_settings = { 0 };

#define gst_film_grain_enc_parent_class parent_class
G_DEFINE_TYPE (GstFilmGrainEnc, gst_film_grain_enc, GST_TYPE_AGGREGATOR);
GST_ELEMENT_REGISTER_DEFINE (
    filmgrainenc, "filmgrainenc", GST_RANK_NONE, GST_TYPE_FILM_GRAIN_ENC);

/* --- entries of the table ---------------------------------------------------- */

static void
post_entry (GstFilmGrainEnc *self, const FilmGrainParameters *parameters)
{
  static const gchar *const names[] = { "luma", "cb", "cr" };
  GstStructure *s = gst_structure_new ("filmgrainenc-entry", "start",
      G_TYPE_UINT64, self->start, "frames", G_TYPE_UINT, self->frames, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    gst_structure_set (s, names[i], G_TYPE_DOUBLE,
        film_grain_get_strength (parameters, i, MIDDLE,
            GST_VIDEO_FORMAT_INFO_W_SUB (self->info.finfo, 1),
            GST_VIDEO_FORMAT_INFO_H_SUB (self->info.finfo, 1)),
        NULL);
  GST_DEBUG_OBJECT (self, "%" GST_PTR_FORMAT, s);
  gst_element_post_message (
      GST_ELEMENT (self), gst_message_new_element (GST_OBJECT (self), s));
}

/* Ends the entry, if it has frames, at @end: ns from the first frame, or none. */
static void
end_entry (GstFilmGrainEnc *self, GstClockTime end)
{
  FilmGrainParameters parameters;

  if (self->frames == 0)
    return;
  film_grain_take (self->grain, &parameters);
  film_grain_append_entry (self->table, &parameters,
      (gint64) (self->start / 100),
      GST_CLOCK_TIME_IS_VALID (end) ? (gint64) (end / 100) : G_MAXINT64);
  post_entry (self, &parameters);
  self->frames = 0;
}

/* --- frames ------------------------------------------------------------------ */

static gboolean
check_formats (GstFilmGrainEnc *self)
{
  const GstVideoInfo *a = &self->infos[0], *b = &self->infos[1];

  if (a->finfo == b->finfo && a->width == b->width && a->height == b->height)
    return TRUE;
  GST_ELEMENT_ERROR (self, STREAM, FORMAT,
      ("Cannot compare the videos: sink has %s, %dx%d, sink_denoised has %s, "
       "%dx%d. Put a videoconvert before the tee.",
          gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (a)), a->width,
          a->height, gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (b)),
          b->width, b->height),
      (NULL));
  return FALSE;
}

/* Begins with frames of another format. */
static void
follow_format (GstFilmGrainEnc *self, GstClockTime time)
{
  const GstVideoInfo *info = &self->infos[0];

  if (self->grain != NULL && info->finfo == self->info.finfo
      && info->width == self->info.width && info->height == self->info.height)
    return;
  end_entry (self, time);
  film_grain_free (self->grain);
  self->info = *info;
  self->grain = film_grain_new (&(FilmGrainFormat){
      .width = (guint) info->width,
      .height = (guint) info->height,
      .depth = (guint) GST_VIDEO_INFO_COMP_DEPTH (info, 0),
      .shift = GST_VIDEO_FORMAT_INFO_SHIFT (info->finfo, 0),
      .planes = GST_VIDEO_INFO_N_COMPONENTS (info),
      .sub_x = GST_VIDEO_FORMAT_INFO_W_SUB (info->finfo, 1),
      .sub_y = GST_VIDEO_FORMAT_INFO_H_SUB (info->finfo, 1),
  });
}

/* GStreamer's offset of the second chroma component of P010 is wrong. */
static void
fill_planes (GstVideoFrame *frame, FilmGrainPlane planes[3])
{
  for (guint i = 0; i < GST_VIDEO_FRAME_N_COMPONENTS (frame); i++) {
    const gint step = GST_VIDEO_FRAME_COMP_PSTRIDE (frame, i);
    const gint bytes = GST_VIDEO_FRAME_COMP_DEPTH (frame, i) > 8 ? 2 : 1;
    const guint8 *data = GST_VIDEO_FRAME_PLANE_DATA (
        frame, GST_VIDEO_FRAME_COMP_PLANE (frame, i));

    planes[i] = (FilmGrainPlane){ data + (step > bytes && i == 2 ? bytes : 0),
      GST_VIDEO_FRAME_COMP_STRIDE (frame, i), step };
  }
}

static gboolean
map_frames (
    GstFilmGrainEnc *self, GstBuffer *buffers[2], GstVideoFrame frames[2])
{
  for (guint i = 0; i < 2; i++)
    if (!gst_video_frame_map (
            &frames[i], &self->infos[i], buffers[i], GST_MAP_READ)) {
      if (i == 1)
        gst_video_frame_unmap (&frames[0]);
      GST_ELEMENT_ERROR (self, STREAM, FORMAT,
          ("Cannot read a frame of %s: the buffer has fewer bytes than its "
           "caps "
           "need. Check the element before filmgrainenc.",
              i == 0 ? "sink" : "sink_denoised"),
          ("%" GST_PTR_FORMAT, buffers[i]));
      return FALSE;
    }
  return TRUE;
}

/* @time: ns from the first frame */
static gboolean
add_grain_pair (GstFilmGrainEnc *self, GstBuffer *buffers[2], GstClockTime time)
{
  FilmGrainPlane planes[2][3] = { 0 };
  GstVideoFrame frames[2];

  if (!check_formats (self))
    return FALSE;
  follow_format (self, time);
  if (!map_frames (self, buffers, frames))
    return FALSE;
  if (self->active.interval > 0 && self->frames == self->active.interval)
    end_entry (self, time);
  if (self->frames++ == 0)
    self->start = time;
  for (guint i = 0; i < 2; i++)
    fill_planes (&frames[i], planes[i]);
  film_grain_add (self->grain, planes[0], planes[1]);
  for (guint i = 0; i < 2; i++)
    gst_video_frame_unmap (&frames[i]);
  return TRUE;
}

static GstClockTime
get_pad_time (GstAggregatorPad *pad, GstBuffer *buffer)
{
  return gst_cvis_running_time (&pad->segment, GST_BUFFER_PTS (buffer));
}

/* Adds the two frames if they are of the same time, else drops the earlier one. Frames
 * without times are compared in their order. */
static gboolean
compare_frames (GstFilmGrainEnc *self, GstBuffer *buffers[2])
{
  const GstClockTime a = get_pad_time (self->source, buffers[0]);
  const GstClockTime b = get_pad_time (self->denoised, buffers[1]);
  const gboolean timed =
      GST_CLOCK_TIME_IS_VALID (a) && GST_CLOCK_TIME_IS_VALID (b);
  gboolean ok = TRUE;

  GST_LOG_OBJECT (self, "frames of %" GST_TIME_FORMAT " and %" GST_TIME_FORMAT,
      GST_TIME_ARGS (a), GST_TIME_ARGS (b));
  if (!timed || a == b) {
    if (!GST_CLOCK_TIME_IS_VALID (self->base))
      self->base = timed ? a : 0;
    ok = add_grain_pair (
        self, buffers, timed && a > self->base ? a - self->base : 0);
  } else {
    self->unpaired++;
  }
  if (!timed || a <= b)
    gst_aggregator_pad_drop_buffer (self->source);
  if (!timed || b <= a)
    gst_aggregator_pad_drop_buffer (self->denoised);
  return ok;
}

static GstFlowReturn
finish_table (GstFilmGrainEnc *self)
{
  GstBuffer *buffer;

  end_entry (self, GST_CLOCK_TIME_NONE);
  if (self->unpaired > 0)
    GST_ELEMENT_WARNING (self, STREAM, FAILED,
        ("%" G_GUINT64_FORMAT " frames of one video have no frame of the same "
         "time in the other: they are left out. Connect both pads to one tee.",
            self->unpaired),
        (NULL));
  buffer = gst_buffer_new_memdup (self->table->str, self->table->len);
  GST_BUFFER_PTS (buffer) = 0;
  g_string_assign (self->table, FILM_GRAIN_TABLE_HEADER);
  gst_aggregator_finish_buffer (GST_AGGREGATOR (self), buffer);
  return GST_FLOW_EOS;
}

static GstFlowReturn
gst_film_grain_enc_aggregate (GstAggregator *aggregator, gboolean timeout)
{
  GstFilmGrainEnc *self = GST_FILM_GRAIN_ENC (aggregator);
  GstAggregatorPad *pads[2] = { self->source, self->denoised };
  GstBuffer *buffers[2] = { gst_aggregator_pad_peek_buffer (pads[0]),
    gst_aggregator_pad_peek_buffer (pads[1]) };
  GstFlowReturn flow = GST_AGGREGATOR_FLOW_NEED_DATA;

  if (buffers[0] != NULL && buffers[1] != NULL) {
    flow = compare_frames (self, buffers) ? GST_FLOW_OK : GST_FLOW_ERROR;
  } else {
    for (guint i = 0; i < 2; i++)
      if (buffers[i] == NULL && gst_aggregator_pad_is_eos (pads[i])) {
        self->unpaired += buffers[1 - i] != NULL;
        flow =
            buffers[1 - i] == NULL && !gst_aggregator_pad_is_eos (pads[1 - i])
                ? GST_AGGREGATOR_FLOW_NEED_DATA
                : GST_FLOW_EOS;
      }
    for (guint i = 0; i < 2 && flow == GST_FLOW_EOS; i++)
      if (buffers[i] != NULL) {
        gst_aggregator_pad_drop_buffer (pads[i]);
        flow = GST_FLOW_OK;
      }
    if (flow == GST_FLOW_EOS)
      flow = finish_table (self);
  }
  for (guint i = 0; i < 2; i++)
    gst_clear_buffer (&buffers[i]);
  return flow;
}

/* --- events and states -------------------------------------------------------- */

static gboolean
gst_film_grain_enc_sink_event (
    GstAggregator *aggregator, GstAggregatorPad *pad, GstEvent *event)
{
  GstFilmGrainEnc *self = GST_FILM_GRAIN_ENC (aggregator);

  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS) {
    GstVideoInfo *info = &self->infos[pad == self->denoised];
    GstCaps *caps;

    gst_event_parse_caps (event, &caps);
    if (!gst_video_info_from_caps (info, caps)) {
      GST_ELEMENT_ERROR (self, STREAM, FORMAT,
          ("Cannot compare the videos: %s has invalid caps. Put a videoconvert "
           "before the tee.",
              GST_PAD_NAME (pad)),
          ("%" GST_PTR_FORMAT, caps));
      gst_event_unref (event);
      return FALSE;
    }
  }
  return GST_AGGREGATOR_CLASS (parent_class)
      ->sink_event (aggregator, pad, event);
}

static void
forget_grain (GstFilmGrainEnc *self)
{
  g_clear_pointer (&self->grain, film_grain_free);
  g_string_assign (self->table, FILM_GRAIN_TABLE_HEADER);
  self->base = GST_CLOCK_TIME_NONE;
  self->frames = 0;
  self->unpaired = 0;
}

static gboolean
gst_film_grain_enc_start (GstAggregator *aggregator)
{
  GstFilmGrainEnc *self = GST_FILM_GRAIN_ENC (aggregator);

  GST_OBJECT_LOCK (self);
  self->active = self->settings;
  GST_OBJECT_UNLOCK (self);
  forget_grain (self);
  return TRUE;
}

static gboolean
gst_film_grain_enc_stop (GstAggregator *aggregator)
{
  forget_grain (GST_FILM_GRAIN_ENC (aggregator));
  return TRUE;
}

static GstFlowReturn
gst_film_grain_enc_flush (GstAggregator *aggregator)
{
  forget_grain (GST_FILM_GRAIN_ENC (aggregator));
  return GST_FLOW_OK;
}

static void
gst_film_grain_enc_finalize (GObject *object)
{
  GstFilmGrainEnc *self = GST_FILM_GRAIN_ENC (object);

  film_grain_free (self->grain);
  g_string_free (self->table, TRUE);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_film_grain_enc_class_init (GstFilmGrainEncClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstAggregatorClass *aggregator_class = GST_AGGREGATOR_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_film_grain_enc_debug, "filmgrainenc", 0,
      "film grain for AV1 encoders");

  object_class->finalize = gst_film_grain_enc_finalize;
  gst_cvis_settings_bind (object_class, 1, settings_table,
      G_N_ELEMENTS (settings_table),
      G_STRUCT_OFFSET (GstFilmGrainEnc, settings), &default_settings);
  aggregator_class->aggregate = gst_film_grain_enc_aggregate;
  aggregator_class->sink_event = gst_film_grain_enc_sink_event;
  aggregator_class->start = gst_film_grain_enc_start;
  aggregator_class->stop = gst_film_grain_enc_stop;
  aggregator_class->flush = gst_film_grain_enc_flush;

  gst_element_class_set_static_metadata (element_class,
      "Film grain for AV1 encoders", "Analyzer/Video",
      "Writes the grain that a denoiser removed as a film-grain table of AV1",
      "the gst-cudavision authors");
  gst_element_class_add_static_pad_template_with_gtype (
      element_class, &sink_template, GST_TYPE_AGGREGATOR_PAD);
  gst_element_class_add_static_pad_template_with_gtype (
      element_class, &denoised_template, GST_TYPE_AGGREGATOR_PAD);
  gst_element_class_add_static_pad_template_with_gtype (
      element_class, &src_template, GST_TYPE_AGGREGATOR_PAD);
}

static GstAggregatorPad *
add_sink_pad (GstFilmGrainEnc *self, const gchar *name)
{
  GstPadTemplate *template =
      gst_element_class_get_pad_template (GST_ELEMENT_GET_CLASS (self), name);
  GstAggregatorPad *pad = g_object_new (GST_TYPE_AGGREGATOR_PAD, "name", name,
      "direction", GST_PAD_SINK, "template", template, NULL);

  gst_element_add_pad (GST_ELEMENT (self), GST_PAD (pad));
  return pad;
}

static void
gst_film_grain_enc_init (GstFilmGrainEnc *self)
{
  gst_cvis_settings_init (self);
  self->table = g_string_new (FILM_GRAIN_TABLE_HEADER);
  self->base = GST_CLOCK_TIME_NONE;
  self->source = add_sink_pad (self, "sink");
  self->denoised = add_sink_pad (self, "sink_denoised");
}
