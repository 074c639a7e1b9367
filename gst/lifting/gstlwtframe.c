/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstcudalwtfilter-private.h"

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

/* --- output ----------------------------------------------------------------------- */

/* Whether samples are heights of the whole surface, and not deviations from it */
static gboolean
has_full_height (CvisSurfacePart part)
{
  return part == CVIS_SURFACE_PART_MEASURED || part == CVIS_SURFACE_PART_FORM
         || part == CVIS_SURFACE_PART_BANDS;
}

static LwtGrey
grey_for (const GstCudaLwtFilter *self, const GstLwtFrame *frame,
    const GstLwtOut *out)
{
  const GstLwtSurface *surface = &self->surface;
  const GstLwtSettings *settings = &self->wanted;
  const gboolean from_grey =
      surface->sample == LWT_SAMPLE_U8 || surface->sample == LWT_SAMPLE_U16;
  const gboolean deep =
      GST_VIDEO_INFO_FORMAT (&out->picture) == GST_VIDEO_FORMAT_GRAY16_LE;
  LwtGrey grey = { .bits = deep ? 16 : 8, .scale = 1.0 };

  if (self->config.type == LWT_TYPE_I32)
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

/* Copies what the filter is from @from. */
static void
copy_description (GstCvisSurfaceMeta *to, const GstCvisSurfaceMeta *from)
{
  memcpy (to->wavelet, from->wavelet, sizeof (to->wavelet));
  memcpy (to->boundary, from->boundary, sizeof (to->boundary));
  memcpy (to->levels, from->levels, sizeof (to->levels));
  memcpy (to->lambda_s, from->lambda_s, sizeof (to->lambda_s));
  memcpy (to->lambda_c, from->lambda_c, sizeof (to->lambda_c));
  memcpy (to->lambda_f, from->lambda_f, sizeof (to->lambda_f));
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
fill_meta (const GstCudaLwtFilter *self, GstLwtFrame *frame,
    GstCvisSurfaceMeta *meta, CvisSurfacePart part)
{
  const GstLwtSurface *surface = &self->surface;
  const LwtConfig *config = &self->config;
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
  copy_description (meta, &self->description);
  meta->has_parameters = gst_lwt_frame_has_parameters (frame, config, part);
  if (meta->has_parameters)
    meta->parameters = job->parameters[part];
}

/* Describes the input samples of a buffer without GstCvisSurfaceMeta. */
static void
describe_samples (GstCvisSurfaceMeta *meta, const GstCudaLwtFilter *self)
{
  const GstLwtSurface *surface = &self->surface;

  meta->part = self->wanted.operation == LWT_OPERATION_INVERSE
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
gst_lwt_frame_pass (const GstCudaLwtFilter *self, GstLwtFrame *frame)
{
  GstBuffer *buffer =
      gst_buffer_make_writable (g_steal_pointer (&frame->buffer));

  GST_BUFFER_FLAG_UNSET (buffer, GST_BUFFER_FLAG_MARKER);
  if (gst_cvis_buffer_get_surface_meta (buffer) == NULL)
    describe_samples (gst_cvis_buffer_add_surface_meta (buffer), self);
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    if (gst_lwt_frame_has_parameters (
            frame, &self->config, (CvisSurfacePart) i))
      fill_meta (self, frame, gst_cvis_buffer_add_surface_meta (buffer),
          (CvisSurfacePart) i);
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
make_picture (const GstCudaLwtFilter *self, GstLwtFrame *frame,
    const GstLwtOut *out, GstBufferPool *pool)
{
  const LwtConfig *config = &self->config;
  const LwtGrey grey = grey_for (self, frame, out);
  GstBuffer *buffer;
  GstCvisSurfaceMeta *meta;
  GstMapInfo from;
  gboolean ok;

  if (gst_buffer_pool_acquire_buffer (pool, &buffer, NULL) != GST_FLOW_OK)
    return NULL;
  copy_metadata (buffer, frame, TRUE);
  meta = gst_cvis_buffer_add_surface_meta (buffer);
  fill_meta (self, frame, meta, out->part);
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
gst_lwt_frame_make (const GstCudaLwtFilter *self, GstLwtFrame *frame,
    const GstLwtOut *out, GstBufferPool *pool)
{
  GstBuffer *part = frame->parts[out->part];

  if (out->video)
    return make_picture (self, frame, out, pool);
  /* two pads may give the same component */
  if (gst_cvis_buffer_get_surface_meta (part) == NULL) {
    copy_metadata (part, frame, FALSE);
    fill_meta (self, frame, gst_cvis_buffer_add_surface_meta (part), out->part);
  }
  return gst_buffer_ref (part);
}
