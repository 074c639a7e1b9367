/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A surface in flight in the lifting engine, with its components, and the buffers that are
 * made of it. */
#pragma once

#include "gst/common/filter/gstcvisfilter.h"
#include "gstlwtsurface.h"
#include "cuda/lifting/grey.h"

G_BEGIN_DECLS

/**
 * GstLwtFrame:
 * @item: of the base class
 * @job: the engine's part
 * @buffer: the input surface, owned
 * @picture, @map: its mapping: one of the two is used
 * @staging: copy that the engine reads if samples have to be changed or moved; kept
 *   for the next frame
 * @mask: (nullable): mask of the input, or of the coefficients of floats, owned
 * @offset, @polynomial: of the input's meta: what was subtracted before
 * @missing: missing points by the meta, if the engine does not count them
 * @sides: request pads that get some of it: 1 << kind
 * @clipped: points of the last picture beyond the range of grey
 */
typedef struct {
  GstCvisItem item;
  LwtJob job;
  GstBuffer *buffer;
  GstVideoFrame picture;
  GstMapInfo map;
  gboolean picture_mapped, mapped;
  gpointer staging;
  gsize staging_size;
  GstBuffer *parts[CVIS_SURFACE_N_PARTS];
  GstMapInfo part_maps[CVIS_SURFACE_N_PARTS];
  GstBuffer *mask;
  gdouble offset;
  gdouble polynomial[6];
  guint64 missing;
  guint sides;
  guint64 clipped;
} GstLwtFrame;

/**
 * GstLwtOut: the output of a pad
 * @part: component of the surface
 * @caps: of the pad, owned
 * @video: grey pictures, of @picture; else tensors
 */
typedef struct {
  CvisSurfacePart part;
  GstCaps *caps;
  gboolean video;
  GstVideoInfo picture;
} GstLwtOut;

GstLwtFrame *gst_lwt_frame_new (void);
void gst_lwt_frame_free (GstLwtFrame *frame);
/* Releases everything that @frame holds, except the staging. */
void gst_lwt_frame_clear (gpointer frame);

/* Unmaps the input, once the components are complete. */
void gst_lwt_frame_unmap (GstLwtFrame *frame);

/* Whether the engine of @config computed parameters of @part. */
gboolean gst_lwt_frame_has_parameters (
    const GstLwtFrame *frame, const LwtConfig *config, CvisSurfacePart part);

G_END_DECLS
