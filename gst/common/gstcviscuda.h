/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* memory:CUDAMemory: the only place that uses libgstcuda, whose API is unstable
 * and whose ABI changed between 1.22 and 1.24 under one name. Builds without it
 * have the same functions, which report that it is missing.
 *
 * An element keeps one GstCvisCuda. Its context is the one that the pipeline shares,
 * and is replaced by that of the memory that arrives: neighbours with another
 * context would copy through system memory. CUDA memory has no GRAY8. */
#pragma once

#include <gst/video/video.h>
#include "cuda/core/device/device.h"

G_BEGIN_DECLS

#define GST_CVIS_CUDA_MEMORY_FEATURE "memory:CUDAMemory"

typedef struct _GstCvisCuda GstCvisCuda;

/* Whether this build and the running GStreamer support memory:CUDAMemory.
 * Makes no CUDA call: for class_init.
 * @why_not: (out) (optional): static text if they do not */
gboolean gst_cvis_cuda_available (const gchar **why_not);

GstCvisCuda *gst_cvis_cuda_new (void);
void gst_cvis_cuda_free (GstCvisCuda *cuda);

/* For GstElementClass.set_context, before chaining up. May be entered from
 * within gst_cvis_cuda_start(). */
void gst_cvis_cuda_set_context (GstCvisCuda *cuda, GstElement *element,
    GstContext *context, gint device_id);
/* Answers GST_QUERY_CONTEXT. Returns: FALSE if the query is not for us. */
gboolean gst_cvis_cuda_query_context (
    GstCvisCuda *cuda, GstElement *element, GstQuery *query);

/* Finds the pipeline's context on @device_id (-1: any), or makes one. Called when
 * caps with memory:CUDAMemory arrive.
 * Returns: FALSE after posting GST_ELEMENT_ERROR (RESOURCE, NOT_FOUND). */
gboolean gst_cvis_cuda_start (
    GstCvisCuda *cuda, GstElement *element, gint device_id);
/* Releases the context. */
void gst_cvis_cuda_stop (GstCvisCuda *cuda);

/* Changes to the context of @buffer's memory if that is another one.
 * Returns: (transfer none): the context to compute in, in which the caller makes its
 * objects again if it is another one, or %NULL with CVIS_ERROR_INVALID if @buffer is
 * not in CUDA memory, or on another device than @device_id */
CvisContext *gst_cvis_cuda_follow (
    GstCvisCuda *cuda, GstBuffer *buffer, gint device_id, GError **error);

/* An active pool of CUDA buffers of @caps in the context, without an upper
 * limit: downstream's from the @allocation query if it fits, else a new one. Its
 * buffers are on downstream's stream, else on that of @like.
 * Returns: %NULL with CVIS_ERROR_MEMORY if the device is out of memory */
GstBufferPool *gst_cvis_cuda_pool_new (GstCvisCuda *cuda, GstCaps *caps,
    GstQuery *allocation, GstBuffer *like, GError **error);

/* gst_video_frame_map() for device pointers. */
gboolean gst_cvis_cuda_frame_map (GstVideoFrame *frame,
    const GstVideoInfo *info, GstBuffer *buffer, GstMapFlags flags);

/* --- order of work on the device -------------------------------------------
 * stream = gst_cvis_cuda_stream (output);
 * ordered = gst_cvis_cuda_order (input, stream);
 * ... enqueue on stream ...
 * if (!ordered)
 *   ... wait for stream ...
 * gst_cvis_cuda_done (output, ordered); */

/* The CUstream of @buffer; %NULL without one (always in GStreamer 1.22). */
gpointer gst_cvis_cuda_stream (GstBuffer *buffer);
/* Orders work that is enqueued on @stream from now on after the work that fills
 * @input.
 * Returns: TRUE if later users of @input are ordered after that work too; else
 * wait for the work before @input is released. */
gboolean gst_cvis_cuda_order (GstBuffer *input, gpointer stream);
/* Notes in @output whether the work that fills it may still be @pending. */
void gst_cvis_cuda_done (GstBuffer *output, gboolean pending);

G_END_DECLS
