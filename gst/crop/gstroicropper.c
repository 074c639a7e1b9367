/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstroicropper.h"

#include "cuda/crop/roicrop.h"

struct _GstRoiCropper {
  GstElement *element;
  GstVideoInfo in, out;
  CvisCropLayout layout;
  guint step_x, step_y;
  GstCvisCuda *cuda; /* NULL for system memory */
  gint device_id;

  GstBufferPool *pool;
  gboolean video_meta; /* downstream supports GstVideoMeta */
  CvisCrop *crop;
  CvisContext *context; /* of the crop, which owns it */
  GArray *planes;       /* on the device: collected, to be copied together */
};

GstRoiCropper *
gst_roi_cropper_new (GstElement *element)
{
  GstRoiCropper *cropper = g_new0 (GstRoiCropper, 1);

  cropper->element = element;
  gst_video_info_init (&cropper->in);
  gst_video_info_init (&cropper->out);
  cropper->planes = g_array_new (FALSE, FALSE, sizeof (CvisCropPlane));
  return cropper;
}

void
gst_roi_cropper_stop (GstRoiCropper *cropper)
{
  gst_cvis_pool_clear (&cropper->pool);
  g_clear_pointer (&cropper->crop, cvis_crop_free);
}

void
gst_roi_cropper_free (GstRoiCropper *cropper)
{
  gst_roi_cropper_stop (cropper);
  g_array_unref (cropper->planes);
  g_free (cropper);
}

static CvisCropLayout
layout_of (const GstVideoFormatInfo *format)
{
  CvisCropLayout layout = { .n_planes =
                                GST_VIDEO_FORMAT_INFO_N_PLANES (format) };
  guint c, p;

  for (c = GST_VIDEO_FORMAT_INFO_N_COMPONENTS (format); c-- > 0;) {
    p = GST_VIDEO_FORMAT_INFO_PLANE (format, c);
    layout.sample_bytes[p] = GST_VIDEO_FORMAT_INFO_PSTRIDE (format, c);
    layout.x_shift[p] = GST_VIDEO_FORMAT_INFO_W_SUB (format, c);
    layout.y_shift[p] = GST_VIDEO_FORMAT_INFO_H_SUB (format, c);
  }
  return layout;
}

void
gst_roi_cropper_set_input (GstRoiCropper *cropper, const GstVideoInfo *in,
    GstCvisCuda *cuda, gint device_id)
{
  gst_roi_cropper_stop (cropper);
  cropper->in = *in;
  cropper->cuda = cuda;
  cropper->device_id = device_id;
  cropper->layout = layout_of (in->finfo);
  cvis_crop_layout_steps (&cropper->layout, &cropper->step_x, &cropper->step_y);
  if (GST_VIDEO_INFO_IS_INTERLACED (in))
    cropper->step_y *= 2;
}

void
gst_roi_cropper_set_output (GstRoiCropper *cropper, const GstVideoInfo *out)
{
  gst_cvis_pool_clear (&cropper->pool);
  cropper->out = *out;
}

const GstVideoInfo *
gst_roi_cropper_get_input (const GstRoiCropper *cropper)
{
  return &cropper->in;
}

const GstVideoInfo *
gst_roi_cropper_get_output (const GstRoiCropper *cropper)
{
  return &cropper->out;
}

void
gst_roi_cropper_get_steps (
    const GstRoiCropper *cropper, guint *step_x, guint *step_y)
{
  *step_x = cropper->step_x;
  *step_y = cropper->step_y;
}

/* --- output buffers -------------------------------------------------------- */

/* A pool of video frames in system memory: downstream's if it has no limit (a
 * limited one would block in the middle of a long buffer list), else a new one. */
static GstBufferPool *
system_pool_new (GstRoiCropper *cropper, GstCaps *caps, GstQuery *query)
{
  GstBufferPool *pool = NULL;
  GstAllocator *allocator = NULL;
  GstAllocationParams params;
  guint size = 0, min = 0, max = 0;
  GstStructure *config;

  gst_allocation_params_init (&params);
  if (gst_query_get_n_allocation_params (query) > 0)
    gst_query_parse_nth_allocation_param (query, 0, &allocator, &params);
  if (gst_query_get_n_allocation_pools (query) > 0)
    gst_query_parse_nth_allocation_pool (query, 0, &pool, &size, &min, &max);
  if (max != 0)
    gst_clear_object (&pool);
  if (pool == NULL) {
    pool = gst_video_buffer_pool_new ();
    size = 0;
    min = 0;
  }
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_set_params (config, caps,
      MAX (size, (guint) GST_VIDEO_INFO_SIZE (&cropper->out)), min, 0);
  gst_buffer_pool_config_set_allocator (config, allocator, &params);
  if (cropper->video_meta)
    gst_buffer_pool_config_add_option (
        config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  gst_clear_object (&allocator);
  if (gst_buffer_pool_set_config (pool, config)
      && gst_buffer_pool_set_active (pool, TRUE))
    return pool;
  gst_object_unref (pool);
  GST_ELEMENT_ERROR (cropper->element, RESOURCE, SETTINGS,
      ("Cannot set up a buffer pool for crops. Use a smaller width and height, "
       "or free memory."),
      ("caps %" GST_PTR_FORMAT, caps));
  return NULL;
}

static GstBufferPool *
device_pool_new (
    GstRoiCropper *cropper, GstCaps *caps, GstQuery *query, GstBuffer *like)
{
  GError *error = NULL;
  GstBufferPool *pool =
      gst_cvis_cuda_pool_new (cropper->cuda, caps, query, like, &error);

  if (pool == NULL) {
    GST_ELEMENT_ERROR (cropper->element, RESOURCE, NO_SPACE_LEFT,
        ("%s", error->message), (NULL));
    g_error_free (error);
  }
  return pool;
}

static gboolean
ensure_pool (GstRoiCropper *cropper, GstPad *src, GstBuffer *like)
{
  GstCaps *caps;
  GstQuery *query;

  if (cropper->pool != NULL)
    return TRUE;
  caps = gst_pad_get_current_caps (src);
  if (caps == NULL)
    return FALSE;
  query = gst_query_new_allocation (caps, TRUE);
  if (!gst_pad_peer_query (src, query))
    GST_DEBUG_OBJECT (src, "downstream answers no ALLOCATION query");
  cropper->video_meta =
      gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  cropper->pool = cropper->cuda != NULL
                      ? device_pool_new (cropper, caps, query, like)
                      : system_pool_new (cropper, caps, query);
  gst_query_unref (query);
  gst_caps_unref (caps);
  return cropper->pool != NULL;
}

/* On a device everything is in the context of the frames; those of one run,
 * which are cropped together, share it. */
static gboolean
ensure_crop (GstRoiCropper *cropper, GstBuffer *buffer, gboolean first)
{
  CvisContext *context = NULL;
  GError *error = NULL;

  if (cropper->cuda != NULL) {
    context = gst_cvis_cuda_follow (
        cropper->cuda, buffer, cropper->device_id, &error);
    if (error == NULL && !first && context != cropper->context)
      g_set_error (&error, CVIS_ERROR, CVIS_ERROR_INVALID,
          "the frames of one buffer list are in different CUDA contexts");
    if (context != cropper->context)
      gst_roi_cropper_stop (cropper);
  }
  if (error == NULL && cropper->crop == NULL) {
    cropper->crop = cvis_crop_new (context, &error);
    cropper->context = context;
  }
  if (error == NULL)
    return TRUE;
  GST_ELEMENT_ERROR (
      cropper->element, RESOURCE, FAILED, ("%s", error->message), (NULL));
  g_error_free (error);
  return FALSE;
}

gboolean
gst_roi_cropper_begin (GstRoiCropper *cropper, GstPad *src, GstBuffer *first)
{
  g_array_set_size (cropper->planes, 0);
  return ensure_crop (cropper, first, TRUE)
         && ensure_pool (cropper, src, first);
}

/* --- one frame ------------------------------------------------------------- */

/* The rectangle in the stored frame, which may be larger than its visible part: that
 * begins where a GstVideoCropMeta says. */
static gboolean
stored_rect (GstBuffer *in, const GstVideoFrame *frame,
    const GstCropGeometry *crop, CvisCropRect *rect)
{
  GstVideoCropMeta *visible = gst_buffer_get_video_crop_meta (in);
  guint left = visible ? visible->x : 0, top = visible ? visible->y : 0;

  rect->x = left + crop->x;
  rect->y = top + crop->y;
  rect->width = crop->width;
  rect->height = crop->height;
  return (guint64) left + crop->frame_width
             <= (guint) GST_VIDEO_FRAME_WIDTH (frame)
         && (guint64) top + crop->frame_height
                <= (guint) GST_VIDEO_FRAME_HEIGHT (frame);
}

/* A frame without a GstVideoMeta has one mapping for all planes. */
static const GstMapInfo *
plane_map (const GstVideoFrame *frame, guint plane)
{
  return &frame->map[frame->meta != NULL ? plane : 0];
}

/* Describes all planes of the crop in @planes.
 * @out: (nullable): the output frame
 * Returns: FALSE if @in has fewer bytes than its metas need */
static gboolean
describe_planes (const GstRoiCropper *cropper, const GstVideoFrame *in,
    const CvisCropRect *rect, const GstVideoFrame *out, CvisCropPlane *planes)
{
  guint p;

  for (p = 0; p < cropper->layout.n_planes; p++) {
    const GstMapInfo *map = plane_map (in, p);

    cvis_crop_plane_init (&planes[p], &cropper->layout, p, rect,
        GST_VIDEO_FRAME_PLANE_DATA (in, p),
        GST_VIDEO_FRAME_PLANE_STRIDE (in, p),
        out ? GST_VIDEO_FRAME_PLANE_DATA (out, p) : NULL,
        out ? GST_VIDEO_FRAME_PLANE_STRIDE (out, p) : 0);
    if (!cvis_crop_plane_fits (&planes[p], map->data, map->size))
      return FALSE;
  }
  return TRUE;
}

static gboolean
map_frame (const GstRoiCropper *cropper, GstVideoFrame *frame,
    const GstVideoInfo *info, GstBuffer *buffer, GstMapFlags flags)
{
  GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);

  if (meta != NULL && meta->format != GST_VIDEO_INFO_FORMAT (info))
    return FALSE;
  flags = (GstMapFlags) (flags | GST_VIDEO_FRAME_MAP_FLAG_NO_REF);
  if (cropper->cuda != NULL)
    return gst_cvis_cuda_frame_map (frame, info, buffer, flags);
  return gst_video_frame_map (frame, info, buffer, flags);
}

/* Copies the crop of @frame to @out; copies on the device are only collected. The
 * pointers stay valid as long as the buffers. */
static gboolean
copy_crop (GstRoiCropper *cropper, GstBuffer *in, const GstVideoFrame *frame,
    const CvisCropRect *rect, GstBuffer *out)
{
  CvisCropPlane planes[CVIS_CROP_MAX_PLANES];
  guint n = cropper->layout.n_planes;
  GstVideoFrame target;
  gboolean ok;

  if (!map_frame (cropper, &target, &cropper->out, out, GST_MAP_WRITE))
    return FALSE;
  ok = describe_planes (cropper, frame, rect, &target, planes);
  if (ok && cropper->cuda != NULL)
    g_array_append_vals (cropper->planes, planes, n);
  else if (ok)
    cvis_crop_copy (cropper->crop, planes, n, NULL, NULL);
  gst_video_frame_unmap (&target);
  return ok
         && gst_buffer_copy_into (out, in,
             GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
}

static GstFlowReturn
acquire (GstRoiCropper *cropper, GstBuffer **out)
{
  GstFlowReturn flow =
      gst_buffer_pool_acquire_buffer (cropper->pool, out, NULL);

  if (flow != GST_FLOW_OK && flow != GST_FLOW_FLUSHING)
    GST_ELEMENT_ERROR (cropper->element, RESOURCE, NO_SPACE_LEFT,
        ("No memory for a crop of %dx%d %s. Use a smaller width and height.",
            GST_VIDEO_INFO_WIDTH (&cropper->out),
            GST_VIDEO_INFO_HEIGHT (&cropper->out),
            GST_VIDEO_INFO_NAME (&cropper->out)),
        (NULL));
  return flow;
}

/* The crop of @frame as a view of @in's own memory. */
static GstBuffer *
share_crop (GstRoiCropper *cropper, GstBuffer *in, const GstVideoFrame *frame,
    const CvisCropRect *rect)
{
  CvisCropPlane planes[CVIS_CROP_MAX_PLANES];
  gsize offset[GST_VIDEO_MAX_PLANES] = { 0 };
  gint stride[GST_VIDEO_MAX_PLANES] = { 0 };
  guint n = cropper->layout.n_planes, p;
  GstBuffer *out;

  if (!describe_planes (cropper, frame, rect, NULL, planes))
    return NULL;
  for (p = 0; p < n; p++) {
    offset[p] = GST_VIDEO_FRAME_PLANE_OFFSET (frame, p)
                + (planes[p].src
                    - (const guint8 *) GST_VIDEO_FRAME_PLANE_DATA (frame, p));
    stride[p] = GST_VIDEO_FRAME_PLANE_STRIDE (frame, p);
  }
  out = gst_buffer_new ();
  gst_buffer_copy_into (out, in,
      GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS
          | GST_BUFFER_COPY_MEMORY,
      0, -1);
  gst_buffer_add_video_meta_full (out, GST_VIDEO_FRAME_FLAG_NONE,
      GST_VIDEO_INFO_FORMAT (&cropper->out), rect->width, rect->height, n,
      offset, stride);
  /* the frame returns to its pool after the last reference to the crop */
  gst_buffer_add_parent_buffer_meta (out, in);
  return out;
}

static void
post_bad_frame (GstRoiCropper *cropper, GstBuffer *in)
{
  const GstVideoInfo *info = &cropper->in;

  GST_ELEMENT_ERROR (cropper->element, STREAM, FAILED,
      ("Cannot crop a frame: a buffer of %" G_GSIZE_FORMAT
       " bytes is not the %dx%d %s frame of its caps and metas. Check the "
       "caps.",
          gst_buffer_get_size (in), GST_VIDEO_INFO_WIDTH (info),
          GST_VIDEO_INFO_HEIGHT (info), GST_VIDEO_INFO_NAME (info)),
      ("%" GST_PTR_FORMAT, in));
}

GstFlowReturn
gst_roi_cropper_crop (GstRoiCropper *cropper, GstBuffer *in,
    const GstCropGeometry *crop, gboolean share, GstBuffer **out,
    gboolean *copied)
{
  GstFlowReturn flow;
  GstVideoFrame frame;
  CvisCropRect rect;
  gboolean ok = FALSE;

  *out = NULL;
  *copied = !(share && cropper->video_meta && cropper->cuda == NULL);
  if (!ensure_crop (cropper, in, FALSE))
    return GST_FLOW_ERROR;
  if (*copied && (flow = acquire (cropper, out)) != GST_FLOW_OK)
    return flow;
  if (map_frame (cropper, &frame, &cropper->in, in, GST_MAP_READ)) {
    ok = stored_rect (in, &frame, crop, &rect);
    if (ok && *copied)
      ok = copy_crop (cropper, in, &frame, &rect, *out);
    else if (ok)
      ok = (*out = share_crop (cropper, in, &frame, &rect)) != NULL;
    gst_video_frame_unmap (&frame);
  }
  if (ok)
    return GST_FLOW_OK;
  gst_clear_buffer (out);
  post_bad_frame (cropper, in);
  return GST_FLOW_ERROR;
}

/* Makes the collected copies: one launch for many planes, and one wait at most. */
gboolean
gst_roi_cropper_finish (
    GstRoiCropper *cropper, GstBuffer **in, GstBuffer **out, guint n)
{
  gpointer stream;
  gboolean ordered = TRUE, ok;
  GError *error = NULL;
  guint i;

  if (cropper->cuda == NULL)
    return TRUE;
  stream = gst_cvis_cuda_stream (out[0]);
  for (i = 0; i < n; i++)
    ordered = gst_cvis_cuda_order (in[i], stream) && ordered;
  ok = cvis_crop_copy (cropper->crop, (CvisCropPlane *) cropper->planes->data,
      cropper->planes->len, stream, &error);
  /* after a failure too: some copies may be in flight */
  if (!ok || !ordered)
    ok = cvis_crop_wait (cropper->crop, stream, ok ? &error : NULL) && ok;
  for (i = 0; i < n; i++)
    gst_cvis_cuda_done (out[i], ordered);
  if (!ok) {
    GST_ELEMENT_ERROR (
        cropper->element, RESOURCE, FAILED, ("%s", error->message), (NULL));
    g_error_free (error);
  }
  return ok;
}
