/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* cudalwtfilter, the source pad's task: waits for the engine, describes the
 * components and pushes them and events in the order in which they came. */
#include "gstcudalwtfilter-private.h"

#include "gst/common/gstcvistime.h"
#include "gstlwtmissing.h"
#include "gstlwtoverflow.h"

#define GST_CAT_DEFAULT gst_cuda_lwt_filter_debug

/* --- parameters ---------------------------------------------------------------- */

static GstStructure *
new_report (GstCudaLwtFilter *self, const GstLwtFrame *frame,
    CvisSurfacePart part, const gchar *name)
{
  const GstClockTime pts = GST_BUFFER_PTS (frame->buffer);

  return gst_structure_new (name, "output", G_TYPE_STRING,
      gst_cvis_surface_part_name (part), "frame", G_TYPE_UINT64,
      frame->item.number, "pts", G_TYPE_UINT64, pts, "running-time",
      G_TYPE_UINT64, gst_cvis_running_time (&self->filter.segment, pts),
      "missing", G_TYPE_UINT64, frame->job.missing, NULL);
}

static void
post (GstCudaLwtFilter *self, GstStructure *structure)
{
  gst_element_post_message (GST_ELEMENT (self),
      gst_message_new_element (GST_OBJECT (self), structure));
}

static void
post_parameters (
    GstCudaLwtFilter *self, const GstLwtFrame *frame, guint64 interval)
{
  const guint64 now = cvis_monotonic_ns ();

  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++) {
    GstStructure *s;

    if (!gst_lwt_frame_has_parameters (
            frame, &self->config, (CvisSurfacePart) i)
        || (self->posted[i] != 0 && now - self->posted[i] < interval))
      continue;
    self->posted[i] = now;
    s = new_report (
        self, frame, (CvisSurfacePart) i, "cudalwtfilter-parameters");
    gst_lwt_parameters_to_structure (&frame->job.parameters[i], s);
    post (self, s);
  }
}

/* Whether Sa is outside its limits. TRUE if every point is missing, because Sa is
 * then unknown. */
static gboolean
check_limits (GstCudaLwtFilter *self, const GstLwtFrame *frame, gdouble lower,
    gdouble upper)
{
  const CvisSurfaceParameters *p = &frame->job.parameters[self->part];
  GstStructure *s;

  if (!gst_lwt_frame_has_parameters (frame, &self->config, self->part)
      || (lower <= 0.0 && upper >= G_MAXDOUBLE)
      || (p->n > 0 && p->sa >= lower && p->sa <= upper))
    return FALSE;
  s = new_report (self, frame, self->part, "cudalwtfilter-limit");
  gst_structure_set (s, "n", G_TYPE_UINT64, p->n, "sa", G_TYPE_DOUBLE, p->sa,
      "sa-lower-limit", G_TYPE_DOUBLE, lower, "sa-upper-limit", G_TYPE_DOUBLE,
      upper, NULL);
  post (self, s);
  return TRUE;
}

static void
count (GstCudaLwtFilter *self, const GstLwtFrame *frame, gboolean outside)
{
  GstLwtStats *stats = &self->stats;

  g_mutex_lock (&self->filter.stats_lock);
  stats->missing += frame->job.missing;
  stats->outside += outside;
  stats->threshold = frame->job.threshold;
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++) {
    if (!gst_lwt_frame_has_parameters (
            frame, &self->config, (CvisSurfacePart) i))
      continue;
    stats->known |= 1u << i;
    stats->parameters[i] = frame->job.parameters[i];
  }
  g_mutex_unlock (&self->filter.stats_lock);
}

/* Posts the messages about a frame. Returns: whether Sa is out of its limits */
static gboolean
report (GstCudaLwtFilter *self, GstLwtFrame *frame)
{
  gdouble lower, upper;
  guint64 interval;
  gboolean all, outside;

  GST_OBJECT_LOCK (self);
  all = self->settings.parameters;
  lower = self->settings.sa_lower_limit;
  upper = self->settings.sa_upper_limit;
  interval = self->settings.message_interval;
  GST_OBJECT_UNLOCK (self);
  outside = check_limits (self, frame, lower, upper);
  count (self, frame, outside);
  if (all && interval > 0)
    post_parameters (self, frame, interval);
  return outside;
}

/* --- a frame leaves -------------------------------------------------------------- */

/* Warns once for these caps of heights beyond the range of grey levels. Noise around
 * black and white, which denoise limits to the range, does not count. */
static void
remark_on_clipping (
    GstCudaLwtFilter *self, const GstLwtFrame *frame, const GstLwtOut *out)
{
  if (self->clip_remarked || !out->video || frame->clipped == 0
      || self->config.operation == LWT_OPERATION_DENOISE)
    return;
  self->clip_remarked = TRUE;
  GST_ELEMENT_WARNING (self, STREAM, FORMAT,
      ("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
       " points of the %s of surface %" G_GUINT64_FORMAT
       " are beyond the range of %s and were clipped. Use GRAY16_LE%s or "
       "tensors.",
          frame->clipped, (guint64) self->config.width * self->config.height,
          gst_cvis_surface_part_name (out->part), frame->item.number,
          gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (&out->picture)),
          self->layout.video ? "" : ", a larger z-scale"),
      (NULL));
}

static GstBuffer *
make (GstCudaLwtFilter *self, GstLwtFrame *frame, guint index, GstLwtOut *out)
{
  GstBufferPool *pool =
      out->video ? gst_lwt_get_picture_pool (self, index, out) : NULL;
  GstBuffer *buffer = NULL;

  if (!out->video || pool != NULL)
    buffer = gst_lwt_frame_make (self, frame, out, pool);
  if (buffer == NULL)
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("No memory for a picture of the %s. Use smaller surfaces.",
            gst_cvis_surface_part_name (out->part)),
        (NULL));
  else
    remark_on_clipping (self, frame, out);
  return buffer;
}

/* Warns once for these caps of heights that overflow. */
static void
remark_on_overflow (GstCudaLwtFilter *self, const GstLwtFrame *frame)
{
  const gboolean wide = self->config.type == LWT_TYPE_F64;
  CvisSurfacePart part;

  if (self->overflowed
      || !gst_lwt_frame_find_overflow (frame, &self->config, &part))
    return;
  self->overflowed = TRUE;
  GST_ELEMENT_WARNING (self, STREAM, FORMAT,
      ("The heights of surface %" G_GUINT64_FORMAT
       " are too large for %s: points of its %s are not finite",
          frame->item.number, wide ? "float64" : "float32",
          gst_cvis_surface_part_name (part)),
      ("each level may double the heights in its low band; %s",
          wide ? "heights are in metres: check z-scale"
               : "precision=float64 has a larger range"));
}

/* Warns once for these caps of missing points. */
static void
remark_on_missing (GstCudaLwtFilter *self, const GstLwtFrame *frame)
{
  const guint64 n = (guint64) self->config.width * self->config.height;

  if (self->missing_remarked || frame->job.missing == 0
      || self->config.operation == LWT_OPERATION_INVERSE)
    return;
  self->missing_remarked = TRUE;
  GST_ELEMENT_WARNING (self, STREAM, FORMAT,
      ("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
       " points (%.3g %%) of surface %" G_GUINT64_FORMAT " are missing. %s.",
          frame->job.missing, n,
          100.0 * (gdouble) frame->job.missing / (gdouble) n,
          frame->item.number,
          frame->job.missing == n ? "Nothing is left to filter"
          : self->config.operation == LWT_OPERATION_FORWARD
              ? "They are filled from their neighbours for the transform, and "
                "coefficients contain them"
          : gst_lwt_settings_is_smoothing (&self->wanted)
              ? "They are left out, and missing in the output"
              : "They are filled from their neighbours for the transform, and "
                "missing in the output"),
      ("stats has the number of missing points of all surfaces"));
}

/* Warns once for these caps that downstream may lose an offset. Request pads are
 * not queried: their branches may block. */
static void
remark_on_offset (GstCudaLwtFilter *self, GstBuffer *buffer)
{
  GstPad *pad = self->filter.srcpad;
  const GstCvisSurfaceMeta *meta = gst_cvis_buffer_get_surface_meta (buffer);
  GstQuery *query;

  if (self->offset_remarked || self->out.video || meta == NULL
      || meta->offset == 0.0)
    return;
  self->offset_remarked = TRUE;
  query = gst_query_new_allocation (self->out.caps, FALSE);
  if ((!gst_pad_peer_query (pad, query)
          || !gst_query_find_allocation_meta (
              query, GST_CVIS_SURFACE_META_API_TYPE, NULL))
      && !GST_PAD_IS_FLUSHING (pad))
    GST_ELEMENT_WARNING (self, STREAM, FORMAT,
        ("Heights of the %s are samples + %g m. Only GstCvisSurfaceMeta holds "
         "this "
         "offset, and downstream of pad src does not propose it: use elements "
         "that keep this meta, or output=roughness, which has no offset.",
            gst_cvis_surface_part_name (meta->part), meta->offset),
        (NULL));
  gst_query_unref (query);
}

/* The buffer for request pad @kind; none if the pad has gone.
 * Returns: FALSE after posting an error */
static gboolean
make_request (
    GstCudaLwtFilter *self, GstLwtFrame *frame, guint kind, GstBuffer **buffer)
{
  const GstFlowReturn flow =
      gst_cvis_filter_start_request_pad (&self->filter, kind);

  if (flow != GST_FLOW_OK)
    return flow == GST_FLOW_NOT_LINKED;
  *buffer = make (self, frame, kind, &self->side_outs[kind]);
  return *buffer != NULL;
}

/* Returns: FALSE after posting an error */
static gboolean
take_result (
    GstCudaLwtFilter *self, GstLwtFrame *frame, GstCvisLeaving *leaving)
{
  gboolean outside;

  gst_lwt_frame_unmap (frame);
  outside = report (self, frame);
  for (guint i = 0; i < GST_LWT_SIDES; i++)
    if ((frame->sides & (1u << i)) != 0
        && !make_request (self, frame, i, &leaving->requests[i]))
      return FALSE;
  if (!self->passes && frame->parts[self->part] == NULL)
    return TRUE;
  leaving->source = self->passes
                        ? gst_lwt_frame_pass (self, frame)
                        : make (self, frame, GST_LWT_SIDES, &self->out);
  if (leaving->source == NULL)
    return FALSE;
  if (outside)
    GST_BUFFER_FLAG_SET (leaving->source, GST_BUFFER_FLAG_MARKER);
  remark_on_offset (self, leaving->source);
  return TRUE;
}

GstFlowReturn
gst_lwt_output_complete (GstCvisFilter *filter, gpointer item)
{
  GstCudaLwtFilter *self = GST_CUDA_LWT_FILTER (filter);
  GstLwtFrame *frame = item;
  GstCvisLeaving leaving = { NULL };
  GError *error = NULL;
  LwtJob *job;

  if (!lwt_engine_wait (self->engine, &job, &error))
    return gst_cvis_filter_fail (filter, frame, NULL, error);
  remark_on_overflow (self, frame);
  remark_on_missing (self, frame);
  if (!gst_lwt_frame_carry_missing (frame, &self->config, &error)
      || !take_result (self, frame, &leaving))
    return gst_cvis_filter_fail (filter, frame, &leaving, error);
  gst_lwt_frame_clear (frame);
  return gst_cvis_filter_deliver (filter, frame, &leaving);
}

void
gst_lwt_output_drain (GstCvisFilter *filter)
{
  GstCudaLwtFilter *self = GST_CUDA_LWT_FILTER (filter);
  LwtJob *job;

  if (self->engine != NULL)
    do
      lwt_engine_wait (self->engine, &job, NULL);
    while (job != NULL);
}
