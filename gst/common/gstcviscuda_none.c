/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Builds without libgstcuda: caps with memory:CUDAMemory are never offered, so
 * only the first function and those that every element calls are reached. */
#include "gstcviscuda.h"

gboolean
gst_cvis_cuda_available (const gchar **why_not)
{
  if (why_not)
    *why_not = "this build is without gstreamer-cuda-1.0";
  return FALSE;
}

GstCvisCuda *
gst_cvis_cuda_new (void)
{
  return NULL;
}

void
gst_cvis_cuda_free (GstCvisCuda *cuda)
{
}

void
gst_cvis_cuda_set_context (
    GstCvisCuda *cuda, GstElement *element, GstContext *context, gint device_id)
{
}

gboolean
gst_cvis_cuda_query_context (
    GstCvisCuda *cuda, GstElement *element, GstQuery *query)
{
  return FALSE;
}

gboolean
gst_cvis_cuda_start (GstCvisCuda *cuda, GstElement *element, gint device_id)
{
  g_return_val_if_reached (FALSE);
}

void
gst_cvis_cuda_stop (GstCvisCuda *cuda)
{
}

CvisContext *
gst_cvis_cuda_follow (
    GstCvisCuda *cuda, GstBuffer *buffer, gint device_id, GError **error)
{
  g_return_val_if_reached (NULL);
}

GstBufferPool *
gst_cvis_cuda_pool_new (GstCvisCuda *cuda, GstCaps *caps, GstQuery *allocation,
    GstBuffer *like, GError **error)
{
  g_return_val_if_reached (NULL);
}

gboolean
gst_cvis_cuda_frame_map (GstVideoFrame *frame, const GstVideoInfo *info,
    GstBuffer *buffer, GstMapFlags flags)
{
  g_return_val_if_reached (FALSE);
}

gpointer
gst_cvis_cuda_stream (GstBuffer *buffer)
{
  return NULL;
}

gboolean
gst_cvis_cuda_order (GstBuffer *input, gpointer stream)
{
  return FALSE;
}

void
gst_cvis_cuda_done (GstBuffer *output, gboolean pending)
{
}
