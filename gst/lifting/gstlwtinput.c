/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* cudalwtfilter, the upstream thread: surfaces and events into the engine and
 * the queue, in the order in which they came. */
#include "gstcudalwtfilter-private.h"

#include <string.h>

#include "gst/common/gstcvispool.h"

#define GST_CAT_DEFAULT gst_cuda_lwt_filter_debug

/* --- the input ------------------------------------------------------------------ */

static gboolean reject_buffer (GError **error, const gchar *format, ...)
    G_GNUC_PRINTF (2, 3);

static gboolean
reject_buffer (GError **error, const gchar *format, ...)
{
  va_list args;

  va_start (args, format);
  *error = g_error_new_valist (CVIS_ERROR, CVIS_ERROR_FORMAT, format, args);
  va_end (args);
  return FALSE;
}

static gboolean
check_surface_size (
    GstBuffer *buffer, const GstLwtLayout *layout, GError **error)
{
  const gsize size = gst_buffer_get_size (buffer);

  /* the size for a GstVideoMeta is checked when the buffer is mapped */
  if (size >= layout->size
      || (layout->video && gst_buffer_get_video_meta (buffer) != NULL))
    return TRUE;
  return reject_buffer (error,
      "%" G_GSIZE_FORMAT " bytes expected for %ux%u samples, "
      "%" G_GSIZE_FORMAT " found",
      layout->size, layout->width, layout->height, size);
}

static gboolean
map_tensor (GstLwtFrame *frame, const GstLwtLayout *layout, GError **error)
{
  frame->mapped = gst_buffer_map (frame->buffer, &frame->map, GST_MAP_READ);
  if (!frame->mapped)
    return reject_buffer (error, "its buffer cannot be mapped for reading");
  frame->job.data = frame->map.data;
  frame->job.stride = layout->width * lwt_sample_get_size (layout->sample);
  return TRUE;
}

/* Whether the size of the buffer's GstVideoMeta is at least that of the caps. */
static gboolean
check_video_meta (GstBuffer *buffer, const GstLwtLayout *layout, GError **error)
{
  const GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);
  const GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta (buffer);
  const GstVideoFormat format = GST_VIDEO_INFO_FORMAT (&layout->picture);
  guint64 width = layout->width, height = layout->height;

  if (meta == NULL)
    return TRUE;
  if (crop != NULL) {
    width += crop->x;
    height += crop->y;
  }
  if (meta->format == format && meta->width >= width && meta->height >= height)
    return TRUE;
  return reject_buffer (error,
      "its GstVideoMeta has %s %ux%u, the caps have %s %ux%u",
      gst_video_format_to_string (meta->format), meta->width, meta->height,
      gst_video_format_to_string (format), layout->width, layout->height);
}

/* Whether all rows lie in the mapped memory. */
static gboolean
check_rows (GstLwtFrame *frame, const GstLwtLayout *layout, GError **error)
{
  const GstMapInfo *map = &frame->picture.map[0];
  const LwtJob *job = &frame->job;
  const gsize row = layout->width * lwt_sample_get_size (layout->sample);
  const gsize offset = (gsize) ((const guint8 *) job->data - map->data);
  const gsize need = offset + job->stride * (layout->height - 1) + row;

  if (job->stride >= row && need <= map->size)
    return TRUE;
  return reject_buffer (error,
      "%" G_GSIZE_FORMAT " bytes expected for %ux%u pixels (stride "
      "%" G_GSIZE_FORMAT ", offset %" G_GSIZE_FORMAT "), %" G_GSIZE_FORMAT
      " found",
      need, layout->width, layout->height, job->stride, offset, map->size);
}

static gboolean
map_picture (GstLwtFrame *frame, const GstLwtLayout *layout, GError **error)
{
  const GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta (frame->buffer);
  const guint8 *data;

  if (!check_video_meta (frame->buffer, layout, error))
    return FALSE;
  frame->picture_mapped =
      gst_video_frame_map (&frame->picture, &layout->picture, frame->buffer,
          (GstMapFlags) (GST_MAP_READ | GST_VIDEO_FRAME_MAP_FLAG_NO_REF));
  if (!frame->picture_mapped)
    return reject_buffer (error, "its buffer cannot be mapped for reading");
  if (GST_VIDEO_FRAME_PLANE_STRIDE (&frame->picture, 0) < 0)
    return reject_buffer (error, "its rows are upside down");
  data = GST_VIDEO_FRAME_PLANE_DATA (&frame->picture, 0);
  frame->job.stride = (gsize) GST_VIDEO_FRAME_PLANE_STRIDE (&frame->picture, 0);
  if (crop != NULL && gst_buffer_get_video_meta (frame->buffer) != NULL)
    data += crop->y * frame->job.stride
            + crop->x * lwt_sample_get_size (layout->sample);
  frame->job.data = data;
  return check_rows (frame, layout, error);
}

/* Makes the copy that the engine reads: floats with NaN where the mask has 0, or
 * samples whose alignment or stride the engine does not support. */
static gboolean
stage (GstLwtFrame *frame, const GstLwtLayout *layout, gboolean masked,
    GError **error)
{
  LwtJob *job = &frame->job;
  const LwtSample sample =
      masked ? lwt_sample_with_mask (layout->sample) : layout->sample;
  const gsize row = layout->width * lwt_sample_get_size (sample);
  const gsize size = row * layout->height;
  GstMapInfo map = { 0 };

  if (frame->staging_size < size) {
    g_free (frame->staging);
    frame->staging_size = 0;
    frame->staging = g_try_malloc (size);
    if (frame->staging == NULL) {
      g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
          "no memory for a copy of %" G_GSIZE_FORMAT " bytes", size);
      return FALSE;
    }
    frame->staging_size = size;
  }
  if (masked && frame->mask != NULL
      && !gst_buffer_map (frame->mask, &map, GST_MAP_READ))
    return reject_buffer (
        error, "the mask of its GstCvisSurfaceMeta cannot be mapped");
  lwt_samples_copy (job->data, job->stride, layout->sample, layout->width,
      layout->height, masked, map.data, frame->staging);
  if (map.data != NULL)
    gst_buffer_unmap (frame->mask, &map);
  job->data = frame->staging;
  job->stride = row;
  job->pinned = FALSE;
  return TRUE;
}

/* Integers that are transformed unchanged keep the height of level 0. */
static void
note_meta (GstLwtFrame *frame, const GstCvisSurfaceMeta *meta,
    const GstLwtLayout *layout, const GstLwtSettings *settings)
{
  const gboolean floats =
      layout->sample == LWT_SAMPLE_F32 || layout->sample == LWT_SAMPLE_F64;

  frame->offset = !floats && gst_lwt_settings_is_plain (settings)
                      ? settings->z_offset
                      : 0.0;
  frame->missing = 0;
  memset (frame->polynomial, 0, sizeof (frame->polynomial));
  if (meta == NULL)
    return;
  frame->offset = meta->offset;
  frame->missing = meta->missing;
  memcpy (frame->polynomial, meta->polynomial, sizeof (frame->polynomial));
  if (meta->mask != NULL)
    frame->mask = gst_buffer_ref (meta->mask);
}

/* Takes @buffer, maps it and sets the job's input. Returns: FALSE with CVIS_ERROR_FORMAT
 * if @buffer does not fit the caps, or CVIS_ERROR_MEMORY; @buffer is taken nevertheless */
static gboolean
map_surface (GstCudaLwtFilter *self, GstLwtFrame *frame, GstBuffer *buffer,
    GError **error)
{
  const GstLwtLayout *layout = &self->layout;
  const gboolean masked = self->surface.masked;
  CvisContext *context = self->filter.context;
  LwtJob *job = &frame->job;
  const gsize size = lwt_sample_get_size (layout->sample);
  GstMemory *memory;

  frame->buffer = buffer;
  note_meta (
      frame, gst_cvis_buffer_get_surface_meta (buffer), layout, &self->wanted);
  if (!(layout->video ? map_picture (frame, layout, error)
                      : map_tensor (frame, layout, error)))
    return FALSE;
  memory = layout->video ? frame->picture.map[0].memory : frame->map.memory;
  job->pinned = gst_cvis_memory_is_pinned (memory, context);
  if ((masked || GPOINTER_TO_SIZE (job->data) % size != 0
          || job->stride % size != 0)
      && !stage (frame, layout, masked, error))
    return FALSE;
  frame->item.staged = context != NULL && !job->pinned;
  return TRUE;
}

/* --- buffers of components ------------------------------------------------------ */

/* Acquires a buffer for @part from @pool, rows of @width samples of @type. */
static GstFlowReturn
acquire_part (GstLwtFrame *frame, CvisSurfacePart part, GstBufferPool *pool,
    guint width, LwtType type, CvisContext *context)
{
  GstMapInfo *map = &frame->part_maps[part];
  GstFlowReturn flow =
      gst_buffer_pool_acquire_buffer (pool, &frame->parts[part], NULL);

  if (flow != GST_FLOW_OK)
    return flow;
  if (!gst_buffer_map (frame->parts[part], map, GST_MAP_WRITE)) {
    gst_clear_buffer (&frame->parts[part]);
    return GST_FLOW_ERROR;
  }
  frame->job.parts[part] = (LwtPlane){
    .data = map->data,
    .stride = width * lwt_type_get_size (type),
    .pinned = gst_cvis_memory_is_pinned (map->memory, context),
  };
  return GST_FLOW_OK;
}

static GstFlowReturn
acquire_parts (GstCudaLwtFilter *self, GstLwtFrame *frame, LwtParts parts)
{
  const LwtConfig *config = &self->config;

  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++) {
    GstBufferPool *pool;
    guint width = config->width, height;
    GstFlowReturn flow = GST_FLOW_ERROR;

    if ((parts & (1u << i)) == 0)
      continue;
    if (i == CVIS_SURFACE_PART_BANDS)
      lwt_config_get_bands_size (config, &width, &height);
    pool = gst_lwt_get_pool (self, (CvisSurfacePart) i);
    if (pool != NULL)
      flow = acquire_part (frame, (CvisSurfacePart) i, pool, width,
          config->type, self->filter.context);
    if (flow == GST_FLOW_ERROR)
      GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
          ("No memory for the %s of a surface of %ux%u samples. Use smaller "
           "surfaces or fewer frames-in-flight.",
              gst_cvis_surface_part_name ((CvisSurfacePart) i), config->width,
              config->height),
          ("a buffer has to be smaller than 4 GiB"));
    if (flow != GST_FLOW_OK)
      return flow;
  }
  return GST_FLOW_OK;
}

/* --- from the sink pad into the engine ------------------------------------------ */

/* Makes sure of an engine that fits the surface and gives the requested results. */
GstFlowReturn
gst_lwt_input_prepare (GstCvisFilter *filter, GstBuffer *buffer)
{
  GstCudaLwtFilter *self = GST_CUDA_LWT_FILTER (filter);
  GstLwtWanted *wanted = &self->next;
  GError *error = NULL;
  GstLwtSurface surface;
  GstFlowReturn flow;
  gboolean same = !gst_pad_check_reconfigure (filter->srcpad);

  if (!check_surface_size (buffer, &self->layout, &error)
      || !gst_lwt_surface_init (&surface, &self->layout,
          gst_cvis_buffer_get_surface_meta (buffer), &self->wanted, &error))
    return gst_cvis_filter_reject_frame (filter, error);
  if (self->engine != NULL && self->surface.masked
      && !gst_lwt_settings_is_plain (&self->wanted))
    surface.masked = TRUE; /* no new engine if only some surfaces have a mask */
  same = same && self->engine != NULL
         && gst_lwt_surface_equal (&surface, &self->surface);
  *wanted = gst_lwt_get_wanted (self, &surface);
  if (self->engine != NULL && self->config.type == LWT_TYPE_I32)
    wanted->parameters = 0;
  if (same && (wanted->parts & ~self->config.parts) == 0
      && (wanted->parameters & ~self->config.parameters) == 0)
    return GST_FLOW_OK;
  flow = gst_cvis_queue_wait_idle (filter->queue);
  if (flow == GST_FLOW_OK && !gst_lwt_setup (self, &surface, wanted)) {
    flow = gst_cvis_queue_get_flow (filter->queue);
    if (flow == GST_FLOW_OK)
      flow = GST_FLOW_ERROR;
  }
  /* integers have no parameters; the engine's type is known only now */
  wanted->parameters &= self->config.parameters;
  return flow;
}

GstFlowReturn
gst_lwt_input_begin (
    GstCvisFilter *filter, gpointer item, GstBuffer *buffer, GError **error)
{
  GstCudaLwtFilter *self = GST_CUDA_LWT_FILTER (filter);
  GstLwtFrame *frame = item;
  GstFlowReturn flow;

  if (!map_surface (self, frame, buffer, error))
    return GST_FLOW_ERROR;
  frame->sides = self->next.sides;
  frame->job.measured = self->next.parameters & ~self->next.parts;
  flow = acquire_parts (self, frame, self->next.parts);
  if (flow != GST_FLOW_OK)
    return flow;
  if (!lwt_engine_submit (self->engine, &frame->job, error))
    return GST_FLOW_ERROR;
  frame->item.busy = TRUE;
  gst_cvis_filter_announce_kernels (filter, lwt_engine_describe (self->engine));
  return GST_FLOW_OK;
}
