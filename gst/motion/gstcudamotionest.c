/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/**
 * SECTION:element-cudamotionest
 * @title: cudamotionest
 * @short_description: estimates the motion of video, a vector for each block
 *
 * Finds the position of each block of a frame in the previous frame, or in several
 * frames before and after it. The full search is exact and skips only candidates
 * that cannot be the best; step search and zonal search are approximate. The CPU
 * and a CUDA device give the same bits.
 *
 * Frames pass unchanged and carry the vectors as #GstCvisMotionVectorMeta, one for each
 * reference. The request pads give the results as streams of their own: packets of
 * vectors (src_vectors), the luma that the vectors predict (src_prediction), and the
 * difference from it (src_residual). No frame is dropped; the first one leaves
 * without vectors.
 *
 * An element message reports the first frame of each scene; with
 * #GstCudaMotionEst:force-key-units an encoder downstream begins a group of pictures
 * there. With #GstCudaMotionEst:roi encoders that support regions of interest spend
 * more bits on moving regions.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 videotestsrc pattern=ball num-buffers=100 ! cudamotionest ! fakesink
 * ]|
 * |[
 * gst-launch-1.0 filesrc location=clip.mp4 ! decodebin ! cudamotionest force-key-units=true ! videoconvert ! x264enc ! matroskamux ! filesink location=clip.mkv
 * ]|
 *
 * Since: 0.1
 */
#include "gstmotionest-private.h"

GST_DEBUG_CATEGORY (gst_cuda_motion_est_debug);
#define GST_CAT_DEFAULT gst_cuda_motion_est_debug

#define gst_cuda_motion_est_parent_class parent_class
G_DEFINE_FINAL_TYPE (
    GstCudaMotionEst, gst_cuda_motion_est, GST_TYPE_CVIS_FILTER);
GST_ELEMENT_REGISTER_DEFINE (
    cudamotionest, "cudamotionest", GST_RANK_NONE, GST_TYPE_CUDA_MOTION_EST);

/* --- start and stop -------------------------------------------------------- */

static void
gst_cuda_motion_est_stop (GstCvisFilter *filter)
{
  GstCudaMotionEst *self = GST_CUDA_MOTION_EST (filter);

  gst_motion_free_engine (self);
  g_clear_pointer (&self->frames, cvis_context_unref);
  self->decided = FALSE;
}

/* With backend=cuda a device has to be there; else the caps decide on the backend. */
static gboolean
gst_cuda_motion_est_start (GstCvisFilter *filter)
{
  GstCudaMotionEst *self = GST_CUDA_MOTION_EST (filter);
  CvisBackend wanted;

  GST_OBJECT_LOCK (self);
  self->wanted = self->settings.config;
  self->interval = self->settings.interval;
  self->search_size = self->settings.search_size;
  wanted = filter->backend.wanted;
  GST_OBJECT_UNLOCK (self);
  self->key_units = 0;
  self->warned_of_regions = self->warned_of_delta_qp = FALSE;
  self->on_device = FALSE;
  if (wanted == CVIS_BACKEND_CUDA)
    self->decided = gst_cvis_filter_start_backend (filter);
  return wanted != CVIS_BACKEND_CUDA || self->decided;
}

/* --- object ---------------------------------------------------------------- */

static void
gst_cuda_motion_est_add_stats (GstCvisFilter *filter, GstStructure *stats)
{
  gst_motion_stats_add_total (
      &GST_CUDA_MOTION_EST (filter)->stats, &filter->rate, stats);
}

static void
gst_cuda_motion_est_reset_stats (GstCvisFilter *filter)
{
  gst_motion_stats_init (&GST_CUDA_MOTION_EST (filter)->stats);
}

static void
gst_cuda_motion_est_finalize (GObject *object)
{
  GstCudaMotionEst *self = GST_CUDA_MOTION_EST (object);

  gst_queue_array_free (self->held);
  motion_transition_detector_free (self->transitions);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_cuda_motion_est_class_init (GstCudaMotionEstClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstCvisFilterClass *filter_class = GST_CVIS_FILTER_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (
      gst_cuda_motion_est_debug, "cudamotionest", 0, "motion estimation");
  object_class->finalize = gst_cuda_motion_est_finalize;
  filter_class->words.engine = "motion";
  filter_class->words.verb = "search";
  filter_class->free_item = (GDestroyNotify) gst_motion_frame_free;
  filter_class->clear_item = gst_motion_frame_clear;
  filter_class->cuda_memory = TRUE;
  filter_class->start = gst_cuda_motion_est_start;
  filter_class->stop = gst_cuda_motion_est_stop;
  filter_class->set_caps = gst_motion_negotiate;
  filter_class->sink_event = gst_motion_input_event;
  filter_class->prepare = gst_motion_input_prepare;
  filter_class->begin = gst_motion_input_begin;
  filter_class->finish = gst_motion_input_finish;
  filter_class->complete = gst_motion_output_complete;
  filter_class->pass = gst_motion_output_pass;
  filter_class->mark = gst_motion_output_mark;
  filter_class->src_event = gst_motion_output_event;
  filter_class->drain = gst_motion_output_drain;
  filter_class->flush = gst_motion_output_flush;
  filter_class->accept_caps = gst_cvis_filter_accept_video;
  filter_class->propose_allocation = gst_motion_propose_allocation;
  filter_class->add_stats = gst_cuda_motion_est_add_stats;
  filter_class->reset_stats = gst_cuda_motion_est_reset_stats;
  gst_motion_settings_install (
      filter_class, G_STRUCT_OFFSET (GstCudaMotionEst, settings));
  gst_cvis_filter_class_install_devices (filter_class);

  gst_cvis_filter_class_add_video_pads (
      filter_class, &gst_motion_est_kind, FALSE);
  gst_motion_sides_install (filter_class);
  gst_element_class_set_static_metadata (element_class, "Motion estimation",
      "Filter/Analyzer/Video/Hardware",
      "Estimates the motion of video block by block on the CPU or with CUDA, "
      "and finds scene cuts",
      "the gst-cudavision authors");
}

static void
gst_cuda_motion_est_init (GstCudaMotionEst *self)
{
  gst_motion_stats_init (&self->stats);
  gst_motion_settings_init (&self->settings);
  self->transitions = motion_transition_detector_new ();
  self->held =
      gst_queue_array_new_for_struct (sizeof (GstMotionHeld), GST_MOTION_TIMES);
}
