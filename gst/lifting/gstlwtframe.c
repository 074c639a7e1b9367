/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstlwtframe.h"

#include <string.h>

#include "gst/common/gstcvispool.h"

GstLwtFrame *
gst_lwt_frame_new (void)
{
  return g_new0 (GstLwtFrame, 1);
}

void
gst_lwt_frame_free (GstLwtFrame *frame)
{
  gst_lwt_frame_clear (frame);
  g_free (frame->staging);
  g_free (frame);
}

void
gst_lwt_frame_unmap (GstLwtFrame *frame)
{
  if (frame->picture_mapped)
    gst_video_frame_unmap (&frame->picture);
  if (frame->mapped)
    gst_buffer_unmap (frame->buffer, &frame->map);
  frame->picture_mapped = frame->mapped = FALSE;
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++) {
    if (frame->job.parts[i].data != NULL)
      gst_buffer_unmap (frame->parts[i], &frame->part_maps[i]);
    frame->job.parts[i].data = NULL;
  }
}

void
gst_lwt_frame_clear (gpointer data)
{
  GstLwtFrame *frame = data;

  gst_lwt_frame_unmap (frame);
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    gst_clear_buffer (&frame->parts[i]);
  gst_clear_buffer (&frame->mask);
  gst_clear_buffer (&frame->buffer);
  memset (&frame->job, 0, sizeof (frame->job));
}

/* --- input ------------------------------------------------------------------- */

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

gboolean
gst_lwt_frame_check_size (
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

gboolean
gst_lwt_frame_map (GstLwtFrame *frame, GstBuffer *buffer,
    const GstLwtLayout *layout, const GstLwtSurface *surface,
    const GstLwtSettings *settings, CvisContext *context, GError **error)
{
  LwtJob *job = &frame->job;
  const gsize size = lwt_sample_get_size (layout->sample);
  GstMemory *memory;

  frame->buffer = buffer;
  note_meta (
      frame, gst_cvis_buffer_get_surface_meta (buffer), layout, settings);
  if (!(layout->video ? map_picture (frame, layout, error)
                      : map_tensor (frame, layout, error)))
    return FALSE;
  memory = layout->video ? frame->picture.map[0].memory : frame->map.memory;
  job->pinned = gst_cvis_memory_is_pinned (memory, context);
  if ((surface->masked || GPOINTER_TO_SIZE (job->data) % size != 0
          || job->stride % size != 0)
      && !stage (frame, layout, surface->masked, error))
    return FALSE;
  frame->item.staged = context != NULL && !job->pinned;
  return TRUE;
}

/* --- buffers of components ------------------------------------------------------ */

GstFlowReturn
gst_lwt_frame_acquire (GstLwtFrame *frame, CvisSurfacePart part,
    GstBufferPool *pool, guint width, LwtType type, CvisContext *context)
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

/* --- output ----------------------------------------------------------------------- */

/* Whether samples are heights of the whole surface, and not deviations from it */
static gboolean
has_full_height (CvisSurfacePart part)
{
  return part == CVIS_SURFACE_PART_MEASURED || part == CVIS_SURFACE_PART_FORM
         || part == CVIS_SURFACE_PART_BANDS;
}

static LwtGrey
grey_for (const GstLwtFrame *frame, const GstLwtOut *out,
    const GstLwtSettings *settings, const GstLwtSurface *surface,
    const LwtConfig *config)
{
  const gboolean from_grey =
      surface->sample == LWT_SAMPLE_U8 || surface->sample == LWT_SAMPLE_U16;
  const gboolean deep =
      GST_VIDEO_INFO_FORMAT (&out->picture) == GST_VIDEO_FORMAT_GRAY16_LE;
  LwtGrey grey = { .bits = deep ? 16 : 8, .scale = 1.0 };

  if (config->type == LWT_TYPE_I32)
    return grey;
  grey.scale = from_grey ? surface->z_scale : settings->z_scale;
  if (has_full_height (out->part))
    grey.zero =
        (from_grey ? frame->offset + surface->z_offset : settings->z_offset)
        - (frame->offset + frame->job.offset);
  else
    grey.middle = deep ? 32768.0 : 128.0;
  return grey;
}

static void
describe_filter (GstCvisSurfaceMeta *meta, const GstLwtSettings *settings,
    const GstLwtSurface *surface, const LwtConfig *config)
{
  const gchar *wavelet = gst_lwt_surface_get_wavelet (surface, settings);
  const gdouble spacing[2] = { surface->dx, surface->dy };

  if (config->operation == LWT_OPERATION_INVERSE)
    return;
  g_strlcpy (meta->wavelet,
      strlen (wavelet) < sizeof (meta->wavelet) ? wavelet : GST_LWT_UNNAMED,
      sizeof (meta->wavelet));
  g_strlcpy (meta->boundary, gst_lwt_boundary_name (config->boundary),
      sizeof (meta->boundary));
  for (guint axis = 0; axis < 2; axis++) {
    meta->levels[axis] = config->levels[axis];
    if (config->operation != LWT_OPERATION_FILTER)
      continue;
    gst_lwt_get_cutoffs (config, axis, spacing[axis], &meta->lambda_s[axis],
        &meta->lambda_c[axis], &meta->lambda_f[axis]);
  }
}

gboolean
gst_lwt_frame_has_parameters (
    const GstLwtFrame *frame, const LwtConfig *config, CvisSurfacePart part)
{
  const LwtParts bit = 1u << part;

  return (config->parameters & bit) != 0
         && (frame->parts[part] != NULL || (frame->job.measured & bit) != 0);
}

static void
fill_meta (GstLwtFrame *frame, GstCvisSurfaceMeta *meta, CvisSurfacePart part,
    const GstLwtSettings *settings, const GstLwtSurface *surface,
    const LwtConfig *config)
{
  const LwtJob *job = &frame->job;
  const gboolean inverse = config->operation == LWT_OPERATION_INVERSE;

  meta->part = part;
  meta->dx = surface->dx;
  meta->dy = surface->dy;
  meta->width = config->width;
  meta->height = config->height;
  meta->interleaved = part == CVIS_SURFACE_PART_BANDS
                      && config->layout == LWT_LAYOUT_INTERLEAVED;
  if (has_full_height (part))
    meta->offset = frame->offset + job->offset;
  memcpy (meta->polynomial, inverse ? frame->polynomial : job->polynomial,
      sizeof (meta->polynomial));
  meta->missing = job->missing;
  if (config->type == LWT_TYPE_I32) {
    meta->z_scale = surface->z_scale;
    meta->missing = frame->missing;
  }
  if (frame->mask != NULL
      && (config->type == LWT_TYPE_I32
          || (part == CVIS_SURFACE_PART_BANDS && job->missing > 0)))
    meta->mask = gst_buffer_ref (frame->mask);
  describe_filter (meta, settings, surface, config);
  meta->has_parameters = gst_lwt_frame_has_parameters (frame, config, part);
  if (meta->has_parameters)
    meta->parameters = job->parameters[part];
}

/* Describes the input samples of a buffer without GstCvisSurfaceMeta. */
static void
describe_samples (GstCvisSurfaceMeta *meta, const GstLwtSettings *settings,
    const GstLwtSurface *surface)
{
  meta->part = settings->operation == LWT_OPERATION_INVERSE
                   ? CVIS_SURFACE_PART_BANDS
                   : CVIS_SURFACE_PART_MEASURED;
  meta->dx = surface->dx;
  meta->dy = surface->dy;
  meta->width = surface->whole[0];
  meta->height = surface->whole[1];
  meta->z_scale = surface->z_scale;
  meta->offset = surface->z_offset;
}

GstBuffer *
gst_lwt_frame_pass (GstLwtFrame *frame, const GstLwtSettings *settings,
    const GstLwtSurface *surface, const LwtConfig *config)
{
  GstBuffer *buffer =
      gst_buffer_make_writable (g_steal_pointer (&frame->buffer));

  GST_BUFFER_FLAG_UNSET (buffer, GST_BUFFER_FLAG_MARKER);
  if (gst_cvis_buffer_get_surface_meta (buffer) == NULL)
    describe_samples (
        gst_cvis_buffer_add_surface_meta (buffer), settings, surface);
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    if (gst_lwt_frame_has_parameters (frame, config, (CvisSurfacePart) i))
      fill_meta (frame, gst_cvis_buffer_add_surface_meta (buffer),
          (CvisSurfacePart) i, settings, surface, config);
  return buffer;
}

static gboolean
copy_untagged (GstBuffer *from, GstMeta **meta, gpointer to)
{
  const GstMetaInfo *info = (*meta)->info;
  const gchar *const *tags = gst_meta_api_type_get_tags (info->api);
  GstMetaTransformCopy copy = { FALSE, 0, (gsize) -1 };

  if (info->transform_func != NULL && (tags == NULL || tags[0] == NULL))
    info->transform_func (to, *meta, from, _gst_meta_transform_copy, &copy);
  return TRUE;
}

/* Copies times, flags, and metas that are not about samples. */
static void
copy_metadata (GstBuffer *to, GstLwtFrame *frame, gboolean video)
{
  gst_buffer_copy_into (to, frame->buffer,
      GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0, (gsize) -1);
  GST_BUFFER_FLAG_UNSET (to, GST_BUFFER_FLAG_MARKER);
  if (!video)
    GST_BUFFER_FLAG_UNSET (to, ~((guint) GST_BUFFER_FLAG_LAST - 1));
  gst_buffer_foreach_meta (frame->buffer, copy_untagged, to);
}

/* --- grey pictures --------------------------------------------------------------- */

static GstBuffer *
new_mask (GstCvisSurfaceMeta *meta, gsize size, GstMapInfo *map)
{
  meta->mask = gst_buffer_new_allocate (gst_cvis_allocator (), size, NULL);
  if (meta->mask != NULL && !gst_buffer_map (meta->mask, map, GST_MAP_WRITE))
    gst_clear_buffer (&meta->mask);
  return meta->mask;
}

/* Converts a component to grey. @from: the component, mapped */
static gboolean
paint (const GstMapInfo *from, GstBuffer *to, const GstLwtOut *out,
    const LwtGrey *grey, const LwtConfig *config, GstCvisSurfaceMeta *meta,
    guint64 *clipped)
{
  const gsize stride = config->width * lwt_type_get_size (config->type);
  const gboolean holes = meta->missing > 0 && meta->mask == NULL;
  GstMapInfo map, mask = { 0 };

  if (!gst_buffer_map (to, &map, GST_MAP_WRITE))
    return FALSE;
  if (holes
      && new_mask (meta, (gsize) config->width * config->height, &mask)
             == NULL) {
    gst_buffer_unmap (to, &map);
    return FALSE;
  }
  *clipped = lwt_grey_from_heights (grey, from->data, stride, config->type,
      config->width, config->height, map.data,
      (gsize) GST_VIDEO_INFO_PLANE_STRIDE (&out->picture, 0), mask.data);
  if (holes)
    gst_buffer_unmap (meta->mask, &mask);
  gst_buffer_unmap (to, &map);
  return TRUE;
}

static GstBuffer *
make_picture (GstLwtFrame *frame, const GstLwtOut *out, GstBufferPool *pool,
    const GstLwtSettings *settings, const GstLwtSurface *surface,
    const LwtConfig *config)
{
  const LwtGrey grey = grey_for (frame, out, settings, surface, config);
  GstBuffer *buffer;
  GstCvisSurfaceMeta *meta;
  GstMapInfo from;
  gboolean ok;

  if (gst_buffer_pool_acquire_buffer (pool, &buffer, NULL) != GST_FLOW_OK)
    return NULL;
  copy_metadata (buffer, frame, TRUE);
  meta = gst_cvis_buffer_add_surface_meta (buffer);
  fill_meta (frame, meta, out->part, settings, surface, config);
  if (config->type != LWT_TYPE_I32) {
    meta->z_scale = grey.scale;
    meta->offset = has_full_height (out->part)
                       ? grey.zero + frame->offset + frame->job.offset
                       : -grey.middle * grey.scale;
  }
  ok = gst_buffer_map (frame->parts[out->part], &from, GST_MAP_READ);
  if (ok) {
    ok = paint (&from, buffer, out, &grey, config, meta, &frame->clipped);
    gst_buffer_unmap (frame->parts[out->part], &from);
  }
  if (!ok)
    gst_clear_buffer (&buffer);
  return buffer;
}

GstBuffer *
gst_lwt_frame_make (GstLwtFrame *frame, const GstLwtOut *out,
    GstBufferPool *pool, const GstLwtSettings *settings,
    const GstLwtSurface *surface, const LwtConfig *config)
{
  GstBuffer *part = frame->parts[out->part];

  if (out->video)
    return make_picture (frame, out, pool, settings, surface, config);
  /* two pads may give the same component */
  if (gst_cvis_buffer_get_surface_meta (part) == NULL) {
    copy_metadata (part, frame, FALSE);
    fill_meta (frame, gst_cvis_buffer_add_surface_meta (part), out->part,
        settings, surface, config);
  }
  return gst_buffer_ref (part);
}
