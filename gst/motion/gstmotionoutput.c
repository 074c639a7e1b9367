/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* cudamotionest, the source pad's task: waits for the engine, attaches the results
 * to the frames and pushes frames, packets, pictures and events in the order in
 * which they came. */
#include "gstmotionest-private.h"

#include "gst/common/gstcvistime.h"

#define GST_CAT_DEFAULT gst_cuda_motion_est_debug

/* --- buffers of results ---------------------------------------------------- */

/* Fills in the packet's header. Returns: it; flags can be added */
static CvisMotionPacket *
fill_packet (GstMotionFrame *frame, const MotionConfig *config)
{
  CvisMotionPacket *packet = (CvisMotionPacket *) frame->packet_map.data;
  const MotionJob *job = &frame->job;
  guint columns = motion_config_get_columns (config);
  guint rows = motion_config_get_rows (config);

  *packet = (CvisMotionPacket){
    .magic = { 'M', 'O', 'T', 'V' },
    .version = CVIS_MOTION_PACKET_VERSION,
    .size = gst_cvis_motion_packet_get_size (columns, rows, job->n_fields),
    .frame = frame->item.number,
    .pts = GST_BUFFER_PTS (frame->buffer),
    .width = config->width,
    .height = config->height,
    .depth = config->depth,
    .block_size = config->block_size,
    .columns = columns,
    .rows = rows,
    .flags = job->flags,
    .n_fields = job->n_fields,
  };
  for (guint i = 0; i < job->n_fields; i++)
    *gst_motion_frame_get_field (frame, i) = (CvisMotionPacketField){
      .distance = job->fields[i].distance,
      .reference_time = G_MININT64,
      .summary = job->fields[i].summary,
    };
  return packet;
}

/* Copies the timestamps of the frame, and its number as offset. */
static void
copy_times (GstBuffer *to, const GstMotionFrame *frame)
{
  GST_BUFFER_PTS (to) = GST_BUFFER_PTS (frame->buffer);
  GST_BUFFER_DTS (to) = GST_CLOCK_TIME_NONE;
  GST_BUFFER_DURATION (to) = GST_BUFFER_DURATION (frame->buffer);
  GST_BUFFER_OFFSET (to) = frame->item.number;
  GST_BUFFER_OFFSET_END (to) = frame->item.number + 1;
  if (GST_BUFFER_IS_DISCONT (frame->buffer))
    GST_BUFFER_FLAG_SET (to, GST_BUFFER_FLAG_DISCONT);
}

/* Returns: (transfer full): the packet, with its size and timestamps set */
static GstBuffer *
steal_packet (GstMotionFrame *frame, const MotionConfig *config)
{
  GstBuffer *packet = g_steal_pointer (&frame->packet);
  gsize size =
      gst_cvis_motion_packet_get_size (motion_config_get_columns (config),
          motion_config_get_rows (config), frame->job.n_fields);

  gst_buffer_unmap (packet, &frame->packet_map);
  gst_buffer_set_size (packet, (gssize) size);
  copy_times (packet, frame);
  return packet;
}

/* Returns: (transfer full) (nullable): the prediction or the residual, with timestamps */
static GstBuffer *
steal_picture (GstMotionFrame *frame, GstMotionPicture *picture)
{
  GstBuffer *buffer = g_steal_pointer (&picture->buffer);

  if (buffer == NULL)
    return NULL;
  gst_buffer_unmap (buffer, &picture->map);
  copy_times (buffer, frame);
  return buffer;
}

/* --- results --------------------------------------------------------------- */

/* Sets how much later, or earlier, each field's reference is shown. */
static void
set_reference_times (GstCudaMotionEst *self, GstMotionFrame *frame)
{
  GstClockTime pts = GST_BUFFER_PTS (frame->buffer);

  for (guint i = 0; i < frame->job.n_fields; i++) {
    CvisMotionPacketField *field = gst_motion_frame_get_field (frame, i);
    guint64 serial = frame->serial + (guint64) (gint64) field->distance;
    GstClockTime reference = self->times[serial % GST_MOTION_TIMES];

    if (GST_CLOCK_TIME_IS_VALID (pts) && GST_CLOCK_TIME_IS_VALID (reference))
      field->reference_time = (gint64) (reference - pts);
  }
}

static const MotionField *
find_backward (const MotionJob *job)
{
  for (guint i = 0; i < job->n_fields; i++)
    if (job->fields[i].distance == -1)
      return &job->fields[i];
  return NULL;
}

static gboolean
is_scene_cut (GstCudaMotionEst *self, const MotionJob *job, gdouble threshold)
{
  self->detector.threshold = threshold;
  return motion_scene_detect (
      &self->detector, &self->config, find_backward (job));
}

/* --- scene cuts ------------------------------------------------------------ */

static void
post_scene_cut (
    GstCudaMotionEst *self, const GstMotionFrame *frame, gboolean key_unit)
{
  const MotionField *field = find_backward (&frame->job);
  GstClockTime pts = GST_BUFFER_PTS (frame->buffer);

  gst_element_post_message (GST_ELEMENT (self),
      gst_message_new_element (GST_OBJECT (self),
          gst_structure_new ("cudamotionest-scene-cut", "frame", G_TYPE_UINT64,
              frame->item.number, "pts", G_TYPE_UINT64, pts, "stream-time",
              G_TYPE_UINT64, gst_cvis_stream_time (&self->filter.segment, pts),
              "running-time", G_TYPE_UINT64,
              gst_cvis_running_time (&self->filter.segment, pts), "scene-score",
              G_TYPE_DOUBLE, field->summary.scene_score, "novelty",
              G_TYPE_DOUBLE, self->detector.previous, "key-unit",
              G_TYPE_BOOLEAN, key_unit, NULL)));
}

/* Posts a dissolve or fade that has become known. @frame: the last one; a first one of a
 * sequence has no field */
static void
post_transition (GstCudaMotionEst *self, const GstMotionFrame *frame,
    const CvisMotionPacket *packet)
{
  const MotionField *field = find_backward (&frame->job);
  MotionTransition transition;

  if (!motion_transition_detector_add (self->transitions, packet,
          field != NULL ? field->blocks : NULL, packet->pts, &transition)
      || field == NULL)
    return;
  gst_element_post_message (GST_ELEMENT (self),
      gst_message_new_element (GST_OBJECT (self),
          gst_structure_new ("cudamotionest-transition", "kind", G_TYPE_STRING,
              motion_transition_kind_get_name (transition.kind), "start-frame",
              G_TYPE_UINT64, transition.start, "end-frame", G_TYPE_UINT64,
              transition.end, "start-pts", G_TYPE_UINT64, transition.start_pts,
              "end-pts", G_TYPE_UINT64, transition.end_pts, NULL)));
}

static void
push_key_unit (GstCudaMotionEst *self, GstClockTime pts)
{
  gst_pad_push_event (self->filter.srcpad,
      gst_video_event_new_downstream_force_key_unit (pts,
          gst_cvis_stream_time (&self->filter.segment, pts),
          gst_cvis_running_time (&self->filter.segment, pts), TRUE,
          self->key_units++));
}

/* --- regions of interest --------------------------------------------------- */

/* Offsets that the encoders of gstreamer-vaapi take, in each direction */
#define VAAPI_MAX_DELTA_QP 10

/* Warns once of regions that are not attached, @left_out of @n more, and once of
 * an offset that the encoder will limit. */
static void
warn_of_rois (GstCudaMotionEst *self, const GstMotionSettings *settings,
    guint n, guint left_out)
{
  if (left_out > 0 && !self->warned_of_regions) {
    self->warned_of_regions = TRUE;
    GST_ELEMENT_WARNING (self, STREAM, FAILED,
        ("A frame has %u moving regions: the largest %u are attached. "
         "Set roi-min-motion higher or use larger blocks. Further frames "
         "like this are not reported.",
            n + left_out, n),
        ("roi-min-motion=%g", settings->roi_min_motion));
  }
  if (settings->roi == GST_MOTION_ROI_VAAPI
      && ABS (settings->roi_delta_qp) > VAAPI_MAX_DELTA_QP
      && !self->warned_of_delta_qp) {
    self->warned_of_delta_qp = TRUE;
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("roi-delta-qp is %d, but the encoders for roi=vaapi take -%d to %d "
         "and will limit it. Set it in this range.",
            settings->roi_delta_qp, VAAPI_MAX_DELTA_QP, VAAPI_MAX_DELTA_QP),
        (NULL));
  }
}

/* Adds the parameters that encoders read: each kind looks for a structure with a
 * name of its own. */
static void
add_rois (GstCudaMotionEst *self, GstMotionFrame *frame,
    const GstMotionSettings *settings)
{
  const gchar *name =
      settings->roi == GST_MOTION_ROI_MSDK ? "roi/msdk" : "roi/vaapi";
  const MotionField *field = find_backward (&frame->job);
  const guint s = self->config.sampling;
  MotionRegion regions[MOTION_MAX_REGIONS];
  guint n, left_out;

  if (field == NULL || settings->roi == GST_MOTION_ROI_NONE)
    return;
  n = motion_find_regions (
      self->regions, field, settings->roi_min_motion, regions, &left_out);
  warn_of_rois (self, settings, n, left_out);
  for (guint i = 0; i < n; i++) {
    GstVideoRegionOfInterestMeta *meta =
        gst_buffer_add_video_region_of_interest_meta (frame->buffer, "motion",
            s * regions[i].x, s * regions[i].y, s * regions[i].width,
            s * regions[i].height);

    meta->id = (gint) i;
    gst_video_region_of_interest_meta_add_param (
        meta, gst_structure_new (
                  name, "delta-qp", G_TYPE_INT, settings->roi_delta_qp, NULL));
  }
}

/* --- a frame leaves -------------------------------------------------------- */

static void
post_recent (GstCudaMotionEst *self, guint64 interval)
{
  GstStructure *s;

  if (interval == 0)
    return;
  g_mutex_lock (&self->filter.stats_lock);
  s = gst_motion_stats_take_recent (
      &self->stats, interval, &self->filter.segment);
  g_mutex_unlock (&self->filter.stats_lock);
  if (s != NULL)
    gst_element_post_message (
        GST_ELEMENT (self), gst_message_new_element (GST_OBJECT (self), s));
}

/* Takes the results out of @frame, which is complete. */
static void
take_results (
    GstCudaMotionEst *self, GstMotionFrame *frame, GstCvisLeaving *leaving)
{
  CvisMotionPacket *packet = fill_packet (frame, &self->config);
  GstMotionSettings settings;
  gboolean key_unit = FALSE;

  GST_OBJECT_LOCK (self);
  settings = self->settings;
  GST_OBJECT_UNLOCK (self);
  gst_motion_frame_unmap (frame);
  set_reference_times (self, frame);
  add_rois (self, frame, &settings);
  if (is_scene_cut (self, &frame->job, settings.scene_threshold)) {
    packet->flags |= CVIS_MOTION_FRAME_SCENE_CUT;
    key_unit = settings.force_key_units;
    post_scene_cut (self, frame, key_unit);
  }
  if (settings.scene_threshold > 0)
    post_transition (self, frame, packet);
  g_mutex_lock (&self->filter.stats_lock);
  gst_motion_stats_add (&self->stats, &self->config, frame, packet, key_unit,
      cvis_monotonic_ns ());
  g_mutex_unlock (&self->filter.stats_lock);
  post_recent (self, settings.message_interval);

  leaving->requests[GST_MOTION_SIDE_PREDICTION] =
      steal_picture (frame, &frame->prediction);
  leaving->requests[GST_MOTION_SIDE_RESIDUAL] =
      steal_picture (frame, &frame->residual);
  leaving->requests[GST_MOTION_SIDE_VECTORS] =
      steal_packet (frame, &self->config);
  leaving->source = g_steal_pointer (&frame->buffer);
  if (key_unit && !gst_cvis_queue_has_ended (self->filter.queue))
    push_key_unit (self, GST_BUFFER_PTS (leaving->source));
  if (self->config.sampling == 1) /* else it describes another picture */
    gst_cvis_buffer_add_motion_vector_metas (
        leaving->source, leaving->requests[GST_MOTION_SIDE_VECTORS]);
}

static GstFlowReturn
deliver (GstCudaMotionEst *self, GstMotionFrame *frame)
{
  GstCvisLeaving leaving = { NULL };

  take_results (self, frame, &leaving);
  gst_motion_frame_clear (frame);
  return gst_cvis_filter_deliver (&self->filter, frame, &leaving);
}

static GstFlowReturn
push_skipped (GstCudaMotionEst *self, GstMiniObject *frame)
{
  g_mutex_lock (&self->filter.stats_lock);
  gst_motion_stats_add_skipped (&self->stats);
  g_mutex_unlock (&self->filter.stats_lock);
  return gst_cvis_filter_push (&self->filter, frame);
}

/* Pushes what arrived between this frame, which was pushed with @flow, and the next. */
static GstFlowReturn
push_held_objects (GstCudaMotionEst *self, GstFlowReturn flow)
{
  GstFlowReturn pushed;
  GstMotionHeld *head;

  while ((head = gst_queue_array_peek_head_struct (self->held)) != NULL
         && head->object != NULL) {
    GstMiniObject *object = head->object;

    gst_queue_array_pop_head_struct (self->held);
    pushed = GST_IS_EVENT (object) ? gst_cvis_filter_push_event (
                 &self->filter, GST_EVENT_CAST (object))
                                   : push_skipped (self, object);
    flow = flow == GST_FLOW_OK ? pushed : flow;
  }
  return flow;
}

/* Completes frames, in order, until none is ready or being computed. */
static GstFlowReturn
complete_frames (GstCudaMotionEst *self)
{
  GstFlowReturn flow = GST_FLOW_OK;

  while (flow == GST_FLOW_OK && self->n_held > 0) {
    GError *error = NULL;
    MotionJob *job;
    const gboolean ok = motion_engine_wait (self->engine, &job, &error);

    if (job == NULL)
      break;
    gst_queue_array_pop_head_struct (self->held);
    self->n_held--;
    if (!ok)
      return gst_cvis_filter_fail (
          &self->filter, gst_motion_frame_of_job (job), NULL, error);
    flow = deliver (self, gst_motion_frame_of_job (job));
    flow = push_held_objects (self, flow);
  }
  return flow;
}

/* --- entries of the queue -------------------------------------------------- */

GstFlowReturn
gst_motion_output_event (GstCvisFilter *filter, GstEvent *event)
{
  GstCudaMotionEst *self = GST_CUDA_MOTION_EST (filter);

  /* EOS overtakes frames only after an error: they will not leave */
  if (self->n_held == 0 || GST_EVENT_TYPE (event) == GST_EVENT_EOS)
    return gst_cvis_filter_push_event (filter, event);
  gst_queue_array_push_tail_struct (
      self->held, &(GstMotionHeld){ .object = GST_MINI_OBJECT_CAST (event) });
  return GST_FLOW_OK;
}

GstFlowReturn
gst_motion_output_pass (GstCvisFilter *filter, GstMiniObject *frame)
{
  GstCudaMotionEst *self = GST_CUDA_MOTION_EST (filter);

  if (self->n_held == 0)
    return push_skipped (self, frame);
  gst_queue_array_push_tail_struct (
      self->held, &(GstMotionHeld){ .object = frame });
  return GST_FLOW_OK;
}

GstFlowReturn
gst_motion_output_complete (GstCvisFilter *filter, gpointer item)
{
  GstCudaMotionEst *self = GST_CUDA_MOTION_EST (filter);

  gst_queue_array_push_tail_struct (
      self->held, &(GstMotionHeld){ .frame = item });
  self->n_held++;
  return complete_frames (self);
}

/* Frames that waited for later ones are complete without them. */
GstFlowReturn
gst_motion_output_mark (GstCvisFilter *filter)
{
  const GstFlowReturn flow = complete_frames (GST_CUDA_MOTION_EST (filter));

  return flow == GST_FLOW_OK ? gst_cvis_filter_get_flow (filter) : flow;
}

static void
discard_held (GstCudaMotionEst *self)
{
  GstMotionHeld *held;

  while ((held = gst_queue_array_pop_head_struct (self->held)) != NULL)
    if (held->object != NULL)
      gst_cvis_queue_drop (held->object, self->filter.srcpad);
  self->n_held = 0;
}

void
gst_motion_output_drain (GstCvisFilter *filter)
{
  GstCudaMotionEst *self = GST_CUDA_MOTION_EST (filter);
  MotionJob *job;

  if (self->engine == NULL)
    return;
  motion_engine_end (self->engine);
  do
    motion_engine_wait (self->engine, &job, NULL);
  while (job != NULL);
}

void
gst_motion_output_flush (GstCvisFilter *filter)
{
  GstCudaMotionEst *self = GST_CUDA_MOTION_EST (filter);

  discard_held (self);
  gst_segment_init (&self->in_segment, GST_FORMAT_UNDEFINED);
  self->skip = 0;
}
