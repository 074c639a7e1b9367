/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Buffers in, buffers that hold a rectangle of them out: in system memory by
 * the CPU, in memory:CUDAMemory on the device. Knows pools, maps and streams;
 * where the rectangle lies others decide. */
#pragma once

#include <gst/common/gstcvcuda.h>
#include "gstcropmetas.h"

G_BEGIN_DECLS

typedef struct _GstRoiCropper GstRoiCropper;

/* @element: posts the errors; outlives the cropper. One thread at a time. */
GstRoiCropper *gst_roi_cropper_new (GstElement *element);
void gst_roi_cropper_free (GstRoiCropper *cropper);
/* Lets go of pool, device and stream. */
void gst_roi_cropper_stop (GstRoiCropper *cropper);

/* Sets the input.
 * @cuda: (nullable): for memory:CUDAMemory, on @device_id (-1: any) */
void gst_roi_cropper_set_input (GstRoiCropper *cropper, const GstVideoInfo *in,
    GstCvCuda *cuda, gint device_id);
/* Sets the output: the same format in the crop's size. A new pool is made for it. */
void gst_roi_cropper_set_output (
    GstRoiCropper *cropper, const GstVideoInfo *out);

const GstVideoInfo *gst_roi_cropper_get_input (const GstRoiCropper *cropper);
const GstVideoInfo *gst_roi_cropper_get_output (const GstRoiCropper *cropper);
/* Columns and rows have to be multiples of it, so that no chroma sample is
 * cut and the fields of interlaced frames keep their order. */
void gst_roi_cropper_get_steps (
    const GstRoiCropper *cropper, guint *step_x, guint *step_y);

/* --- a run of frames: begin, crop each, finish -----------------------------
 * What fails has posted an error. */

/* Sees to the pool, out of an ALLOCATION query to the peer of @src, and to the
 * device context, out of the memory of @first. */
gboolean gst_roi_cropper_begin (
    GstRoiCropper *cropper, GstPad *src, GstBuffer *first);

/* @share: let the crop be a view of @in's memory, where that is system memory
 *   and downstream reads GstVideoMeta
 * @out: (out): timestamps and flags of @in, no metas but those of the memory;
 *   its pixels are there after gst_roi_cropper_finish()
 * @copied: (out): FALSE for a view */
GstFlowReturn gst_roi_cropper_crop (GstRoiCropper *cropper, GstBuffer *in,
    const GstCropGeometry *crop, gboolean share, GstBuffer **out,
    gboolean *copied);

/* Of the @n frames since begin, which are still referenced. */
gboolean gst_roi_cropper_finish (
    GstRoiCropper *cropper, GstBuffer **in, GstBuffer **out, guint n);

G_END_DECLS
