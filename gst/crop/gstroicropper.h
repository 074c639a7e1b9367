/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Crops buffers: in system memory by the CPU, in memory:CUDAMemory on the device.
 * Handles pools, maps and streams; the caller chooses the rectangle. */
#pragma once

#include <gst/common/gstcviscuda.h>
#include <gst/common/gstcvispool.h>
#include "gstcropmetas.h"

G_BEGIN_DECLS

typedef struct _GstRoiCropper GstRoiCropper;

/* @element: posts the errors; outlives the cropper. One thread at a time. */
GstRoiCropper *gst_roi_cropper_new (GstElement *element);
void gst_roi_cropper_free (GstRoiCropper *cropper);
/* Releases pool, device and stream. */
void gst_roi_cropper_stop (GstRoiCropper *cropper);

/* Sets the input.
 * @cuda: (nullable): for memory:CUDAMemory, on @device_id (-1: any) */
void gst_roi_cropper_set_input (GstRoiCropper *cropper, const GstVideoInfo *in,
    GstCvisCuda *cuda, gint device_id);
/* Sets the output: the same format in the crop's size, for which a pool is made. */
void gst_roi_cropper_set_output (
    GstRoiCropper *cropper, const GstVideoInfo *out);

const GstVideoInfo *gst_roi_cropper_get_input (const GstRoiCropper *cropper);
const GstVideoInfo *gst_roi_cropper_get_output (const GstRoiCropper *cropper);
/* Steps of columns and rows that keep chroma samples whole and the fields of
 * interlaced frames in order. */
void gst_roi_cropper_get_steps (
    const GstRoiCropper *cropper, guint *step_x, guint *step_y);

/* --- a run of frames: begin, crop each, finish -----------------------------
 * These functions post an error when they fail. */

/* Chooses the pool, by an ALLOCATION query to the peer of @src, and the device
 * context, that of the memory of @first. */
gboolean gst_roi_cropper_begin (
    GstRoiCropper *cropper, GstPad *src, GstBuffer *first);

/* @share: let the crop be a view of @in's memory, if that is system memory and
 *   downstream supports GstVideoMeta
 * @out: (out): the crop, with timestamps and flags of @in and only the metas of its
 *   memory; its pixels are valid after gst_roi_cropper_finish()
 * @copied: (out): FALSE for a view */
GstFlowReturn gst_roi_cropper_crop (GstRoiCropper *cropper, GstBuffer *in,
    const GstCropGeometry *crop, gboolean share, GstBuffer **out,
    gboolean *copied);

/* Completes the @n frames since begin, which are still referenced. */
gboolean gst_roi_cropper_finish (
    GstRoiCropper *cropper, GstBuffer **in, GstBuffer **out, guint n);

G_END_DECLS
