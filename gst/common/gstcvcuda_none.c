/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Builds without libgstcuda: caps with memory:CUDAMemory are never offered, so
 * only the first function and those that every element calls are reached. */
#include "gstcvcuda.h"

gboolean
gst_cv_cuda_available (const gchar **why_not)
{
  if (why_not)
    *why_not = "this build is without gstreamer-cuda-1.0";
  return FALSE;
}

GstCvCuda *
gst_cv_cuda_new (void)
{
  return NULL;
}

void
gst_cv_cuda_free (GstCvCuda *cuda)
{
}

void
gst_cv_cuda_set_context (
    GstCvCuda *cuda, GstElement *element, GstContext *context, gint device_id)
{
}

gboolean
gst_cv_cuda_query_context (
    GstCvCuda *cuda, GstElement *element, GstQuery *query)
{
  return FALSE;
}

gboolean
gst_cv_cuda_start (GstCvCuda *cuda, GstElement *element, gint device_id)
{
  g_return_val_if_reached (FALSE);
}

void
gst_cv_cuda_stop (GstCvCuda *cuda)
{
}

CvisContext *
gst_cv_cuda_follow (
    GstCvCuda *cuda, GstBuffer *buffer, gint device_id, GError **error)
{
  g_return_val_if_reached (NULL);
}

GstBufferPool *
gst_cv_cuda_pool_new (GstCvCuda *cuda, GstCaps *caps, GstQuery *allocation,
    GstBuffer *like, GError **error)
{
  g_return_val_if_reached (NULL);
}

gboolean
gst_cv_cuda_frame_map (GstVideoFrame *frame, const GstVideoInfo *info,
    GstBuffer *buffer, GstMapFlags flags)
{
  g_return_val_if_reached (FALSE);
}

gpointer
gst_cv_cuda_stream (GstBuffer *buffer)
{
  return NULL;
}

gboolean
gst_cv_cuda_order (GstBuffer *input, gpointer stream)
{
  return FALSE;
}

void
gst_cv_cuda_done (GstBuffer *output, gboolean pending)
{
}
