/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/**
 * SECTION:element-cudaroicrop
 * @title: cudaroicrop
 * @short_description: crops every frame around a moving position
 *
 * Crops a rectangle of fixed size out of every frame, around a position that may
 * change with each frame: that of the laser by the machine's signals, the properties
 * #GstCudaRoiCrop:x and #GstCudaRoiCrop:y (which a #GstController can drive), or one
 * that an element upstream found. The rectangle is always inside the frame. Buffer
 * lists stay buffer lists.
 *
 * #GstCvisFrameCropMeta has the position of the crop. With 40 x 40 pixels and the
 * default calibration the crop is the region of interest that cudapbfmonitor would
 * use itself.
 *
 * Frames in system memory are always cropped by the CPU: the transfer of a frame to
 * the GPU takes longer than the copy of its part. Frames in memory:CUDAMemory are
 * cropped on the GPU and stay in their producer's context.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 pbftestsrc num-buffers=20000 ! cudaroicrop ! cudapbfmonitor ! fakesink
 * ]|
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=100 ! video/x-raw,width=1280,height=720 ! cudaroicrop position-source=property x=900 y=200 width=320 height=240 ! videoconvert ! autovideosink
 * ]|
 *
 * Since: 0.1
 */
#include "gstcudaroicrop.h"

#include <gst/common/gstcvisbackend.h>
#include <gst/common/gstcviscuda.h>
#include <gst/common/gstcvisquery.h>
#include <gst/common/gstcvissettings.h>
#include <gst/common/gstcvistime.h>
#include "gstcropmetas.h"
#include "gstroicropper.h"
#include "gstroiposition.h"
#include "cuda/crop/roicrop.h"

GST_DEBUG_CATEGORY_STATIC (gst_cuda_roi_crop_debug);
#define GST_CAT_DEFAULT gst_cuda_roi_crop_debug

#if GST_CHECK_VERSION(1, 26, 0)
#define GREY_FORMATS "GRAY8, GRAY16_LE, GRAY16_BE, GRAY10_LE16"
#else
#define GREY_FORMATS "GRAY8, GRAY16_LE, GRAY16_BE"
#endif
#define FORMATS                                                                \
  "{ " GREY_FORMATS ", NV12, P010_10LE, I420, RGBx, BGRx, RGBA, BGRA }"
/* no grey: libgstcuda does not support it */
#define CUDA_FORMATS "{ NV12, P010_10LE, I420, RGBx, BGRx, RGBA, BGRA }"

#define MAX_SIZE 32767

typedef struct {
  guint width, height;
  GstRoiPositionSource source;
  gdouble x, y;
  gchar *calibration;
  guint signal_delay_us;
  guint roi_align;
  gboolean zero_copy;
} Settings;

typedef struct {
  guint64 frames, lists, clamped, no_position, corrupt, copies;
} Stats;

struct _GstCudaRoiCrop {
  GstElement parent;

  GstPad *sink, *src;

  /* guarded by the object lock */
  GstCvisBackend backend;
  Settings settings;
  Stats stats, reset_stats; /* those at the last "reset-stats" */
  gboolean resized;         /* width or height changed since negotiated */

  /* of the streaming thread */
  GstSegment segment;
  GstRoiPosition position;
  GstRoiCropper *cropper;
  GstCaps *refused; /* an error was posted for them, once */
  gboolean negotiated;
  gint64 doubt_begin; /* monotonic us of the first run with a doubt; 0: none */
  gboolean warned_of_doubts;

  GstCvisCuda *cuda;
};

enum {
  PROP_STATS = 1,
  PROP_BACKEND, /* and the two after it */
  PROP_SETTING = PROP_BACKEND + 3,
};

#define FIELD(name) G_STRUCT_OFFSET (Settings, name)

static const GEnumValue align_values[] = {
  { 1, "Any column", "1" },
  { 2, "Multiples of 2 pixels", "2" },
  { 4, "Multiples of 4 pixels", "4" },
  { 8, "Multiples of 8 pixels", "8" },
  { 16, "Multiples of 16 pixels", "16" },
  { 32, "Multiples of 32 pixels", "32" },
  { 0, NULL, NULL },
};

static const GstCvisSetting settings_table[] = {
  { "width", "Columns of the crop, pixels; a change renegotiates",
      GST_CVIS_SETTING_UINT, FIELD (width), TRUE, 1, MAX_SIZE },
  { "height", "Rows of the crop, pixels; a change renegotiates",
      GST_CVIS_SETTING_UINT, FIELD (height), TRUE, 1, MAX_SIZE },
  { "position-source", "Source of the crop position", GST_CVIS_SETTING_ENUM,
      FIELD (source), TRUE, 0, 0, "GstRoiPositionSource",
      gst_roi_position_source_values },
  { "x",
      "Position of the crop's centre, pixels from the left edge (pixel centres "
      "at +0.5); negative: the centre of the frame; used with "
      "position-source=property",
      GST_CVIS_SETTING_DOUBLE, FIELD (x), GST_CVIS_CONTROLLABLE, -1, 65535 },
  { "y",
      "Position of the crop's centre, pixels from the top edge (pixel centres "
      "at +0.5); negative: the centre of the frame; used with "
      "position-source=property",
      GST_CVIS_SETTING_DOUBLE, FIELD (y), GST_CVIS_CONTROLLABLE, -1, 65535 },
  { "calibration",
      "Homography from the machine's micrometres to pixels of the whole frame: "
      "nine numbers, row by row",
      GST_CVIS_SETTING_STRING, FIELD (calibration) },
  { "signal-delay",
      "Time from machine signals to their effect in a frame, microseconds",
      GST_CVIS_SETTING_UINT, FIELD (signal_delay_us), FALSE, 0, 1000000 },
  { "roi-align", "Alignment of the crop's left column, pixels",
      GST_CVIS_SETTING_ENUM, FIELD (roi_align), TRUE, 0, 0, "GstRoiCropAlign",
      align_values },
  { "zero-copy",
      "Let crops in system memory share the frame's memory, without a copy, if "
      "downstream supports GstVideoMeta",
      GST_CVIS_SETTING_BOOLEAN, FIELD (zero_copy), TRUE },
};

static const Settings default_settings = {
  .width = CVIS_PBF_ROI_SIDE,
  .height = CVIS_PBF_ROI_SIDE,
  .source = GST_ROI_POSITION_SIGNALS,
  .x = -1.0,
  .y = -1.0,
  .calibration = (gchar *) PBF_CALIBRATION_DEFAULT,
  .roi_align = 1,
};

#define gst_cuda_roi_crop_parent_class parent_class
G_DEFINE_FINAL_TYPE_WITH_CODE (GstCudaRoiCrop, gst_cuda_roi_crop,
    GST_TYPE_ELEMENT,
    GST_DEBUG_CATEGORY_INIT (
        gst_cuda_roi_crop_debug, "cudaroicrop", 0, "moving crop"));
GST_ELEMENT_REGISTER_DEFINE (
    cudaroicrop, "cudaroicrop", GST_RANK_NONE, GST_TYPE_CUDA_ROI_CROP);

/* --- properties ------------------------------------------------------------ */

static GstStructure *
stats_structure (GstCudaRoiCrop *self)
{
  Stats s, before;

  GST_OBJECT_LOCK (self);
  s = self->stats;
  before = self->reset_stats;
  GST_OBJECT_UNLOCK (self);
  return gst_structure_new ("cudaroicrop-stats", "frames", G_TYPE_UINT64,
      s.frames - before.frames, "lists", G_TYPE_UINT64, s.lists - before.lists,
      "clamped", G_TYPE_UINT64, s.clamped - before.clamped, "no-position",
      G_TYPE_UINT64, s.no_position - before.no_position, "corrupt-signals",
      G_TYPE_UINT64, s.corrupt - before.corrupt, "copies", G_TYPE_UINT64,
      s.copies - before.copies, NULL);
}

static void
gst_cuda_roi_crop_reset_stats (GstCudaRoiCrop *self)
{
  GST_OBJECT_LOCK (self);
  self->reset_stats = self->stats;
  GST_OBJECT_UNLOCK (self);
}

static void
gst_cuda_roi_crop_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstCudaRoiCrop *self = GST_CUDA_ROI_CROP (object);

  if (gst_cvis_backend_get_property (&self->backend, object, value, pspec))
    return;
  if (id == PROP_STATS)
    g_value_take_boxed (value, stats_structure (self));
  else
    gst_cvis_settings_get_property (object, id, value, pspec);
}

static void
gst_cuda_roi_crop_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstCudaRoiCrop *self = GST_CUDA_ROI_CROP (object);

  if (id < PROP_SETTING) {
    gst_cvis_warn_if_late (object, pspec);
    gst_cvis_backend_set_property (&self->backend, object, value, pspec);
    return;
  }
  gst_cvis_settings_set_property (object, id, value, pspec);
  if (g_str_equal (pspec->name, "width")
      || g_str_equal (pspec->name, "height")) {
    GST_OBJECT_LOCK (self);
    self->resized = TRUE;
    GST_OBJECT_UNLOCK (self);
  }
}

/* --- negotiation ----------------------------------------------------------- */

static gboolean
is_on_device (const GstCapsFeatures *features)
{
  return features != NULL
         && gst_caps_features_contains (features, GST_CVIS_CUDA_MEMORY_FEATURE);
}

/* Caps with the memory of the backend first; both stay, so that with another
 * neighbour our own error is posted and not only not-negotiated. */
static GstCaps *
prefer_memory (GstCaps *caps, gboolean device_first)
{
  GstCaps *sorted = gst_caps_new_empty ();
  guint round, i;

  for (round = 0; round < 2; round++)
    for (i = 0; i < gst_caps_get_size (caps); i++) {
      GstCapsFeatures *features = gst_caps_get_features (caps, i);

      if (is_on_device (features)
          == (round == 0 ? device_first : !device_first))
        gst_caps_append_structure_full (sorted,
            gst_structure_copy (gst_caps_get_structure (caps, i)),
            gst_caps_features_copy (features));
    }
  gst_caps_unref (caps);
  return sorted;
}

/* The other pad's caps with another size: any size for the sink pad, that of the crop
 * for the source pad. */
static GstCaps *
get_caps (GstCudaRoiCrop *self, GstPad *pad, GstCaps *filter)
{
  GstCaps *template = gst_pad_get_pad_template_caps (pad), *caps, *result;
  CvisBackend wanted;
  guint width, height, i;

  GST_OBJECT_LOCK (self);
  wanted = self->backend.wanted;
  width = self->settings.width;
  height = self->settings.height;
  GST_OBJECT_UNLOCK (self);

  caps = gst_caps_make_writable (gst_pad_peer_query_caps (
      pad == self->sink ? self->src : self->sink, NULL));
  for (i = 0; i < gst_caps_get_size (caps); i++)
    gst_structure_remove_fields (
        gst_caps_get_structure (caps, i), "width", "height", NULL);
  result = gst_caps_intersect_full (caps, template, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref (caps);
  gst_caps_unref (template);
  result = gst_caps_make_writable (result);
  if (pad == self->src)
    gst_caps_set_simple (result, "width", G_TYPE_INT, (gint) width, "height",
        G_TYPE_INT, (gint) height, NULL);
  if (wanted != CVIS_BACKEND_AUTO)
    result = prefer_memory (result, wanted == CVIS_BACKEND_CUDA);
  return gst_cvis_caps_filter (result, filter);
}

static gboolean
check_backend (GstCudaRoiCrop *self, gboolean on_device)
{
  CvisBackend wanted;

  GST_OBJECT_LOCK (self);
  wanted = self->backend.wanted;
  GST_OBJECT_UNLOCK (self);

  if (wanted == CVIS_BACKEND_CUDA && !on_device) {
    GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE,
        ("Cannot crop frames in system memory with backend=cuda. Put "
         "cudaupload before cudaroicrop, or use backend=auto."),
        ("backend=cuda"));
    return FALSE;
  }
  if (wanted == CVIS_BACKEND_CPU && on_device) {
    GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE,
        ("Cannot crop frames in " GST_CVIS_CUDA_MEMORY_FEATURE
         " with backend=cpu. Put cudadownload before cudaroicrop, or use "
         "backend=auto."),
        ("backend=cpu"));
    return FALSE;
  }
  return TRUE;
}

static gboolean
send_caps (GstCudaRoiCrop *self, GstCaps *caps)
{
  GstCaps *current = gst_pad_get_current_caps (self->src);
  gboolean known = current != NULL && gst_caps_is_equal (current, caps);

  gst_clear_caps (&current);
  return known || gst_pad_set_caps (self->src, caps);
}

static gboolean
is_resized (GstCudaRoiCrop *self)
{
  gboolean resized;

  GST_OBJECT_LOCK (self);
  resized = self->resized;
  GST_OBJECT_UNLOCK (self);
  return resized;
}

/* Whether an error about @caps was posted: upstream sends refused caps again with
 * each push. */
static gboolean
is_refused (GstCudaRoiCrop *self, GstCaps *caps)
{
  return self->refused != NULL && gst_caps_is_equal (self->refused, caps)
         && !is_resized (self);
}

/* Remembers @caps, about which an error was posted. */
static gboolean
refuse_crop_caps (GstCudaRoiCrop *self, GstCaps *caps)
{
  gst_caps_replace (&self->refused, caps);
  return FALSE;
}

/* Pushes caps of the crop's size; the pool is chosen with the first frame, by its
 * memory. */
static gboolean
negotiate_crop (GstCudaRoiCrop *self, GstCaps *in_caps)
{
  const GstVideoInfo *in = gst_roi_cropper_get_input (self->cropper);
  gint width, height;
  GstVideoInfo out;
  GstCaps *caps;

  self->negotiated = FALSE;
  gst_clear_caps (&self->refused);
  GST_OBJECT_LOCK (self);
  width = (gint) self->settings.width;
  height = (gint) self->settings.height;
  self->resized = FALSE;
  GST_OBJECT_UNLOCK (self);

  if (width > GST_VIDEO_INFO_WIDTH (in)
      || height > GST_VIDEO_INFO_HEIGHT (in)) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Invalid settings: the crop of %dx%d is larger than the frames of "
         "%dx%d. Use a smaller width and height.",
            width, height, GST_VIDEO_INFO_WIDTH (in),
            GST_VIDEO_INFO_HEIGHT (in)),
        (NULL));
    return refuse_crop_caps (self, in_caps);
  }
  caps = gst_caps_copy (in_caps);
  gst_caps_set_simple (
      caps, "width", G_TYPE_INT, width, "height", G_TYPE_INT, height, NULL);
  /* clears a RECONFIGURE, which this negotiation has handled */
  gst_pad_check_reconfigure (self->src);
  self->negotiated =
      gst_video_info_from_caps (&out, caps) && send_caps (self, caps);
  if (self->negotiated)
    gst_roi_cropper_set_output (self->cropper, &out);
  gst_caps_unref (caps);
  return self->negotiated;
}

static gboolean
set_crop_caps (GstCudaRoiCrop *self, GstCaps *caps)
{
  gboolean on_device = is_on_device (gst_caps_get_features (caps, 0));
  GstVideoInfo in;
  gint device_id;

  self->negotiated = FALSE;
  if (is_refused (self, caps))
    return FALSE;
  if (!gst_video_info_from_caps (&in, caps)) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Unsupported caps: not a raw video format. Put a decoder or "
         "videoconvert before cudaroicrop."),
        ("%" GST_PTR_FORMAT, caps));
    return refuse_crop_caps (self, caps);
  }
  if (!check_backend (self, on_device))
    return refuse_crop_caps (self, caps);
  GST_OBJECT_LOCK (self);
  device_id = self->backend.device_id;
  self->backend.active = on_device ? CVIS_BACKEND_CUDA : CVIS_BACKEND_CPU;
  GST_OBJECT_UNLOCK (self);
  if (on_device
      && !gst_cvis_cuda_start (self->cuda, GST_ELEMENT (self), device_id))
    return refuse_crop_caps (self, caps);
  gst_roi_cropper_set_input (
      self->cropper, &in, on_device ? self->cuda : NULL, device_id);
  return negotiate_crop (self, caps);
}

static gboolean
renegotiate (GstCudaRoiCrop *self)
{
  GstCaps *caps = gst_pad_get_current_caps (self->sink);
  gboolean ok =
      caps != NULL && !is_refused (self, caps) && negotiate_crop (self, caps);

  gst_clear_caps (&caps);
  return ok;
}

/* --- one frame ------------------------------------------------------------- */

/* Settings of the crop, read once for each list. */
typedef struct {
  Settings settings; /* without the calibration */
  Stats stats;
  gboolean controlled;
} Run;

static Run
run_begin (GstCudaRoiCrop *self)
{
  Run run = { 0 };

  GST_OBJECT_LOCK (self);
  run.settings = self->settings;
  GST_OBJECT_UNLOCK (self);
  run.settings.calibration = NULL;
  run.controlled = gst_object_has_active_control_bindings (GST_OBJECT (self));
  return run;
}

static void
run_end (GstCudaRoiCrop *self, const Run *run)
{
  GST_OBJECT_LOCK (self);
  self->stats.frames += run->stats.frames;
  self->stats.lists += run->stats.lists;
  self->stats.clamped += run->stats.clamped;
  self->stats.copies += run->stats.copies;
  self->stats.no_position = self->position.missing;
  self->stats.corrupt = gst_roi_position_get_corrupt (&self->position);
  GST_OBJECT_UNLOCK (self);
}

static void
sync_controlled (GstCudaRoiCrop *self, Run *run, GstBuffer *buffer)
{
  GstClockTime time = GST_BUFFER_PTS (buffer);

  if (!run->controlled)
    return;
  time = gst_cvis_stream_time (&self->segment, time);
  if (!GST_CLOCK_TIME_IS_VALID (time))
    return;
  gst_object_sync_values (GST_OBJECT (self), time);
  GST_OBJECT_LOCK (self);
  run->settings.x = self->settings.x;
  run->settings.y = self->settings.y;
  GST_OBJECT_UNLOCK (self);
}

static GstCropGeometry
place (GstCudaRoiCrop *self, Run *run, GstBuffer *in)
{
  const GstVideoInfo *in_info = gst_roi_cropper_get_input (self->cropper);
  const GstVideoInfo *out_info = gst_roi_cropper_get_output (self->cropper);
  GstRoiPositionRequest request = {
    .source = run->settings.source,
    .x = run->settings.x,
    .y = run->settings.y,
    .width = GST_VIDEO_INFO_WIDTH (in_info),
    .height = GST_VIDEO_INFO_HEIGHT (in_info),
  };
  GstCropGeometry crop = {
    .width = GST_VIDEO_INFO_WIDTH (out_info),
    .height = GST_VIDEO_INFO_HEIGHT (out_info),
    .frame_width = request.width,
    .frame_height = request.height,
  };
  gboolean clamped_x, clamped_y;
  guint step_x, step_y;

  gst_roi_cropper_get_steps (self->cropper, &step_x, &step_y);
  gst_roi_position_find (
      &self->position, in, &request, &crop.position_x_q8, &crop.position_y_q8);
  crop.x = cvis_crop_start (crop.position_x_q8, crop.width, crop.frame_width,
      MAX (step_x, run->settings.roi_align), &clamped_x);
  crop.y = cvis_crop_start (
      crop.position_y_q8, crop.height, crop.frame_height, step_y, &clamped_y);
  run->stats.clamped += clamped_x || clamped_y;
  return crop;
}

/* On success @out is the crop of @in. */
static GstFlowReturn
crop_frame (GstCudaRoiCrop *self, Run *run, GstBuffer *in, GstBuffer **out)
{
  GstCropGeometry crop;
  gboolean copied = TRUE;
  GstFlowReturn flow;

  sync_controlled (self, run, in);
  crop = place (self, run, in);
  flow = gst_roi_cropper_crop (
      self->cropper, in, &crop, run->settings.zero_copy, out, &copied);
  if (flow != GST_FLOW_OK)
    return flow;
  gst_crop_metas (in, *out, &crop);
  run->stats.frames++;
  run->stats.copies += copied;
  return GST_FLOW_OK;
}

/* --- runs of frames -------------------------------------------------------- */

/* Why downstream or the frames do not allow crops of @width x @height; %NULL: they
 * do. */
static const gchar *
why_no_size (GstCudaRoiCrop *self, gint width, gint height)
{
  const GstVideoInfo *in = gst_roi_cropper_get_input (self->cropper);
  GstCaps *caps, *possible;
  gboolean ok;

  if (width > GST_VIDEO_INFO_WIDTH (in) || height > GST_VIDEO_INFO_HEIGHT (in))
    return "the frames are smaller";
  caps = gst_pad_get_current_caps (self->src);
  if (caps == NULL)
    return NULL;
  caps = gst_caps_make_writable (caps);
  gst_caps_set_simple (
      caps, "width", G_TYPE_INT, width, "height", G_TYPE_INT, height, NULL);
  possible = gst_pad_peer_query_caps (self->src, caps);
  ok = !gst_caps_is_empty (possible)
       && gst_pad_peer_query_accept_caps (self->src, caps);
  gst_caps_unref (possible);
  gst_caps_unref (caps);
  return ok ? NULL : "downstream does not accept it";
}

/* Keeps the size in use, with a warning, if that set while frames flow is not
 * possible: the stream goes on. */
static void
check_new_size (GstCudaRoiCrop *self)
{
  const GstVideoInfo *out = gst_roi_cropper_get_output (self->cropper);
  gint width, height;
  const gchar *why;

  GST_OBJECT_LOCK (self);
  width = (gint) self->settings.width;
  height = (gint) self->settings.height;
  GST_OBJECT_UNLOCK (self);
  why = why_no_size (self, width, height);
  if (why == NULL)
    return;
  GST_OBJECT_LOCK (self);
  if (width == (gint) self->settings.width
      && height == (gint) self->settings.height) {
    self->settings.width = (guint) GST_VIDEO_INFO_WIDTH (out);
    self->settings.height = (guint) GST_VIDEO_INFO_HEIGHT (out);
    self->resized = FALSE;
  }
  GST_OBJECT_UNLOCK (self);
  GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS,
      ("The crop keeps %dx%d pixels: %dx%d is not possible, as %s. Set another "
       "width and height.",
          GST_VIDEO_INFO_WIDTH (out), GST_VIDEO_INFO_HEIGHT (out), width,
          height, why),
      (NULL));
}

static GstFlowReturn
prepare_crop (GstCudaRoiCrop *self, GstBuffer *first)
{
  if (self->negotiated && is_resized (self))
    check_new_size (self);
  if (gst_pad_check_reconfigure (self->src) || is_resized (self)) {
    if (!renegotiate (self)) {
      gst_pad_mark_reconfigure (self->src);
      return GST_PAD_IS_FLUSHING (self->src) ? GST_FLOW_FLUSHING
                                             : GST_FLOW_NOT_NEGOTIATED;
    }
  }
  if (!self->negotiated)
    return GST_FLOW_NOT_NEGOTIATED;
  return gst_roi_cropper_begin (self->cropper, self->src, first)
             ? GST_FLOW_OK
             : GST_FLOW_ERROR;
}

/* Warns once of crops that are not where they were to be: one second after the first
 * of them, or at the end of the stream. */
static void
warn_of_doubts (GstCudaRoiCrop *self, gboolean end)
{
  const Stats *s = &self->stats; /* only this thread writes them */

  if (self->warned_of_doubts || s->no_position + s->clamped + s->corrupt == 0)
    return;
  if (self->doubt_begin == 0)
    self->doubt_begin = g_get_monotonic_time ();
  if (!end && g_get_monotonic_time () - self->doubt_begin < G_USEC_PER_SEC)
    return;
  self->warned_of_doubts = TRUE;
  GST_ELEMENT_WARNING (self, STREAM, FAILED,
      ("Crops are not centred on their position. Of the first "
       "%" G_GUINT64_FORMAT " frames %" G_GUINT64_FORMAT
       " had no position (the last one or the "
       "frame's centre is used), %" G_GUINT64_FORMAT
       " had corrupt signals, and the edge of the frame moved "
       "%" G_GUINT64_FORMAT " crops. Check position-source and calibration.",
          s->frames, s->no_position, s->corrupt, s->clamped),
      ("the property stats has these counts"));
}

/* Crops @n frames into @out, which stays empty on an error. */
static GstFlowReturn
crop_frames (GstCudaRoiCrop *self, GstBuffer **in, GstBuffer **out, guint n,
    gboolean is_list)
{
  Run run = run_begin (self);
  GstFlowReturn flow;
  guint i;

  flow = prepare_crop (self, in[0]);
  if (flow != GST_FLOW_OK)
    return flow;
  run.stats.lists = is_list;
  for (i = 0; i < n && flow == GST_FLOW_OK; i++)
    flow = crop_frame (self, &run, in[i], &out[i]);
  if (flow == GST_FLOW_OK
      && !gst_roi_cropper_finish (self->cropper, in, out, n))
    flow = GST_FLOW_ERROR;
  run_end (self, &run);
  warn_of_doubts (self, FALSE);
  if (flow != GST_FLOW_OK)
    while (i-- > 0)
      gst_clear_buffer (&out[i]);
  return flow;
}

static GstFlowReturn
gst_cuda_roi_crop_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  GstCudaRoiCrop *self = GST_CUDA_ROI_CROP (parent);
  GstBuffer *out = NULL;
  GstFlowReturn flow = crop_frames (self, &buffer, &out, 1, FALSE);

  gst_buffer_unref (buffer);
  return flow == GST_FLOW_OK ? gst_pad_push (self->src, out) : flow;
}

static GstFlowReturn
gst_cuda_roi_crop_chain_list (
    GstPad *pad, GstObject *parent, GstBufferList *list)
{
  GstCudaRoiCrop *self = GST_CUDA_ROI_CROP (parent);
  guint n = gst_buffer_list_length (list), i;
  GstBufferList *crops;
  GstBuffer **in, **out;
  GstFlowReturn flow;

  if (n == 0) {
    gst_buffer_list_unref (list);
    return GST_FLOW_OK;
  }
  in = g_new (GstBuffer *, n);
  out = g_new0 (GstBuffer *, n);
  for (i = 0; i < n; i++)
    in[i] = gst_buffer_list_get (list, i);
  flow = crop_frames (self, in, out, n, TRUE);
  gst_buffer_list_unref (list);
  if (flow == GST_FLOW_OK) {
    crops = gst_buffer_list_new_sized (n);
    for (i = 0; i < n; i++)
      gst_buffer_list_add (crops, out[i]);
    flow = gst_pad_push_list (self->src, crops);
  }
  g_free (in);
  g_free (out);
  return flow;
}

/* --- events and queries ---------------------------------------------------- */

static gboolean
gst_cuda_roi_crop_sink_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstCudaRoiCrop *self = GST_CUDA_ROI_CROP (parent);

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_CAPS: {
      GstCaps *caps;
      gboolean ok;

      gst_event_parse_caps (event, &caps);
      ok = set_crop_caps (self, caps);
      gst_event_unref (event);
      return ok;
    }
    case GST_EVENT_SEGMENT:
      gst_event_copy_segment (event, &self->segment);
      break;
    case GST_EVENT_EOS:
      warn_of_doubts (self, TRUE);
      break;
    case GST_EVENT_STREAM_START:
      gst_roi_position_reset (&self->position);
      break;
    case GST_EVENT_FLUSH_STOP:
      gst_segment_init (&self->segment, GST_FORMAT_UNDEFINED);
      gst_roi_position_reset (&self->position);
      break;
    default:
      break;
  }
  return gst_pad_event_default (pad, parent, event);
}

/* Frames may have any strides and a GstVideoCropMeta; their size differs from that
 * of the crops, so that downstream is not queried. */
static gboolean
answer_allocation (GstQuery *query)
{
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  gst_query_add_allocation_meta (query, GST_VIDEO_CROP_META_API_TYPE, NULL);
  return TRUE;
}

static gboolean
gst_cuda_roi_crop_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  GstCudaRoiCrop *self = GST_CUDA_ROI_CROP (parent);

  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_CAPS: {
      GstCaps *filter, *caps;

      gst_query_parse_caps (query, &filter);
      caps = get_caps (self, pad, filter);
      gst_query_set_caps_result (query, caps);
      gst_caps_unref (caps);
      return TRUE;
    }
    case GST_QUERY_ALLOCATION:
      return pad == self->sink && answer_allocation (query);
    case GST_QUERY_CONTEXT:
      if (gst_cvis_cuda_query_context (self->cuda, GST_ELEMENT (self), query))
        return TRUE;
      break;
    default:
      break;
  }
  return gst_pad_query_default (pad, parent, query);
}

/* --- states ---------------------------------------------------------------- */

/* With backend=cuda a device has to be there; the context is that of the frames. */
static gboolean
check_device (GstCudaRoiCrop *self)
{
  CvisContext *context = NULL;
  const gchar *why_not;
  CvisBackend wanted;

  GST_OBJECT_LOCK (self);
  wanted = self->backend.wanted;
  GST_OBJECT_UNLOCK (self);
  if (wanted != CVIS_BACKEND_CUDA)
    return TRUE;
  if (!gst_cvis_backend_start (&self->backend, GST_ELEMENT (self), &context))
    return FALSE;
  cvis_context_unref (context);
  gst_cvis_backend_stop (&self->backend, GST_ELEMENT (self));
  if (gst_cvis_cuda_available (&why_not))
    return TRUE;
  GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND,
      ("backend=cuda needs " GST_CVIS_CUDA_MEMORY_FEATURE
       ": %s. Use backend=auto or backend=cpu.",
          why_not),
      (NULL));
  return FALSE;
}

static gboolean
start_cropping (GstCudaRoiCrop *self)
{
  GError *error = NULL;
  gchar *calibration;
  guint delay;
  gboolean ok = TRUE;

  if (!check_device (self))
    return FALSE;
  GST_OBJECT_LOCK (self);
  calibration = g_strdup (self->settings.calibration);
  delay = self->settings.signal_delay_us;
  self->stats = self->reset_stats = (Stats){ 0 };
  GST_OBJECT_UNLOCK (self);
  self->doubt_begin = 0;
  self->warned_of_doubts = FALSE;
  if (!gst_roi_position_start (&self->position,
          *calibration ? calibration : PBF_CALIBRATION_DEFAULT, delay,
          &error)) {
    ok = FALSE;
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS,
        ("Invalid settings: calibration=\"%s\": %s. \"gst-inspect-1.0 "
         "cudaroicrop\" describes the property.",
            calibration, error->message),
        (NULL));
    g_error_free (error);
  }
  g_free (calibration);
  gst_segment_init (&self->segment, GST_FORMAT_UNDEFINED);
  return ok;
}

static void
stop_cropping (GstCudaRoiCrop *self)
{
  gst_roi_cropper_stop (self->cropper);
  gst_roi_position_stop (&self->position);
  gst_clear_caps (&self->refused);
  self->negotiated = FALSE;
  gst_cvis_backend_stop (&self->backend, GST_ELEMENT (self));
}

static GstStateChangeReturn
gst_cuda_roi_crop_change_state (GstElement *element, GstStateChange transition)
{
  GstCudaRoiCrop *self = GST_CUDA_ROI_CROP (element);
  GstStateChangeReturn ret;

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED && !start_cropping (self))
    return GST_STATE_CHANGE_FAILURE;
  ret = GST_ELEMENT_CLASS (parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY
      || (transition == GST_STATE_CHANGE_READY_TO_PAUSED
          && ret == GST_STATE_CHANGE_FAILURE))
    stop_cropping (self);
  if (transition == GST_STATE_CHANGE_READY_TO_NULL && self->cuda != NULL)
    gst_cvis_cuda_stop (self->cuda);
  return ret;
}

static void
gst_cuda_roi_crop_set_context (GstElement *element, GstContext *context)
{
  GstCudaRoiCrop *self = GST_CUDA_ROI_CROP (element);
  gint device_id;

  GST_OBJECT_LOCK (self);
  device_id = self->backend.device_id;
  GST_OBJECT_UNLOCK (self);
  gst_cvis_cuda_set_context (self->cuda, element, context, device_id);
  GST_ELEMENT_CLASS (parent_class)->set_context (element, context);
}

/* --- class ----------------------------------------------------------------- */

static void
gst_cuda_roi_crop_finalize (GObject *object)
{
  GstCudaRoiCrop *self = GST_CUDA_ROI_CROP (object);

  gst_cvis_cuda_free (self->cuda);
  gst_roi_cropper_free (self->cropper);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_cuda_roi_crop_init (GstCudaRoiCrop *self)
{
  GstElementClass *klass = GST_ELEMENT_GET_CLASS (self);

  gst_cvis_backend_init (&self->backend);
  gst_cvis_settings_init (self);
  self->cropper = gst_roi_cropper_new (GST_ELEMENT (self));
  self->cuda = gst_cvis_cuda_new ();

  self->sink = gst_pad_new_from_template (
      gst_element_class_get_pad_template (klass, "sink"), "sink");
  gst_pad_set_chain_function (self->sink, gst_cuda_roi_crop_chain);
  gst_pad_set_chain_list_function (self->sink, gst_cuda_roi_crop_chain_list);
  gst_pad_set_event_function (self->sink, gst_cuda_roi_crop_sink_event);
  gst_pad_set_query_function (self->sink, gst_cuda_roi_crop_query);
  gst_element_add_pad (GST_ELEMENT (self), self->sink);

  self->src = gst_pad_new_from_template (
      gst_element_class_get_pad_template (klass, "src"), "src");
  gst_pad_set_query_function (self->src, gst_cuda_roi_crop_query);
  gst_element_add_pad (GST_ELEMENT (self), self->src);
}

static void
add_pad_templates (GstElementClass *klass)
{
  GstCaps *caps = gst_caps_from_string (GST_VIDEO_CAPS_MAKE (FORMATS));

  if (gst_cvis_cuda_available (NULL))
    gst_caps_append (
        caps, gst_caps_from_string (GST_VIDEO_CAPS_MAKE_WITH_FEATURES (
                  GST_CVIS_CUDA_MEMORY_FEATURE, CUDA_FORMATS)));
  gst_element_class_add_pad_template (
      klass, gst_pad_template_new ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_element_class_add_pad_template (
      klass, gst_pad_template_new ("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  gst_caps_unref (caps);
}

static void
gst_cuda_roi_crop_class_init (GstCudaRoiCropClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  object_class->finalize = gst_cuda_roi_crop_finalize;
  gst_cvis_settings_bind (object_class, PROP_SETTING, settings_table,
      G_N_ELEMENTS (settings_table), G_STRUCT_OFFSET (GstCudaRoiCrop, settings),
      &default_settings);
  object_class->set_property = gst_cuda_roi_crop_set_property;
  object_class->get_property = gst_cuda_roi_crop_get_property;
  element_class->change_state = gst_cuda_roi_crop_change_state;
  element_class->set_context = gst_cuda_roi_crop_set_context;

  g_object_class_install_property (object_class, PROP_STATS,
      g_param_spec_boxed ("stats", "stats",
          "Counts since READY: frames, lists, clamped, no-position, "
          "corrupt-signals, copies",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  /**
   * GstCudaRoiCrop::reset-stats:
   *
   * Sets the counts of #GstCudaRoiCrop:stats to 0, for windows of any length.
   */
  g_signal_new_class_handler ("reset-stats", G_TYPE_FROM_CLASS (klass),
      G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION,
      G_CALLBACK (gst_cuda_roi_crop_reset_stats), NULL, NULL, NULL, G_TYPE_NONE,
      0);
  gst_cvis_backend_install_properties (object_class, PROP_BACKEND);
  add_pad_templates (element_class);
  gst_element_class_set_static_metadata (element_class, "Moving crop",
      "Filter/Effect/Video",
      "Crops each frame around a position that moves from frame to frame",
      "the gst-cudavision authors");
  gst_type_mark_as_plugin_api (GST_TYPE_CVIS_BACKEND, 0);
}
