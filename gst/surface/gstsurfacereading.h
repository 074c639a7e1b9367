/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Reads files into buffers, for surfacesrc and surfacedec. */
#pragma once

#include "gst/common/gstcvissettings.h"
#include <gst/cudavision/gstsurfacemeta.h>
#include <gst/gst.h>
#include "cuda/surface/file.h"

G_BEGIN_DECLS

/* Whether the mean of the heights is subtracted and put into the meta's offset */
typedef enum {
  GST_SURFACE_OFFSET_KEEP,
  GST_SURFACE_OFFSET_REMOVE,
  GST_SURFACE_OFFSET_AUTO, /* where downstream proposes GstCvisSurfaceMeta */
} GstSurfaceOffset;

typedef enum {
  GST_SURFACE_UNIT_AUTO, /* metres, with a warning */
  GST_SURFACE_UNIT_M,
  GST_SURFACE_UNIT_MM,
  GST_SURFACE_UNIT_UM,
  GST_SURFACE_UNIT_NM,
} GstSurfaceUnit;

/**
 * GstSurfaceReading: properties, guarded by the element's object lock
 * @remove_offset: a #GstSurfaceOffset
 * @precision: a #GstCvisSurfaceType, float32 or float64
 * @max_size: most bytes of samples that a surface may have
 * @dx, @dy: spacing in metres used if the file does not specify it; 0: unknown
 * @strict: refuse files that are damaged although they can be read
 * @height_unit: a #GstSurfaceUnit: of lengths to which the file gives no unit
 */
typedef struct {
  gint remove_offset;
  gint precision;
  guint64 max_size;
  gdouble dx, dy;
  gboolean strict;
  gint height_unit;
} GstSurfaceReading;

#define GST_SURFACE_N_READING 7
extern const GstCvisSetting gst_surface_reading[GST_SURFACE_N_READING];
extern const GstSurfaceReading gst_surface_reading_defaults;

/* Sets @info for the buffers of @image, without frame rate. */
void gst_surface_reading_describe (const GstSurfaceReading *reading,
    const SurfaceImage *image, GstCvisSurfaceInfo *info);
/* Opens the file @name or, if that is %NULL, @bytes, unless its samples have more
 * than max_size bytes. Returns: %NULL with @error */
SurfaceReader *gst_surface_reading_open (const GstSurfaceReading *reading,
    const gchar *name, GBytes *bytes, GError **error);
gboolean gst_surface_reading_same (
    const GstCvisSurfaceInfo *a, const GstCvisSurfaceInfo *b);

/**
 * GstSurfaceBuffers: state of reading, of the streaming thread
 * @threads: threads that read a file
 * @pool: (nullable): %NULL: none yet, or no memory for it
 * @asked: downstream was queried for its pool and metas
 * @keeps_meta: downstream has proposed #GstCvisSurfaceMeta
 * @warned: a warning about the precision of float32 was posted
 * @noted: (nullable): the last warning about what was skipped or guessed,
 *   without digits
 */
typedef struct {
  CvisPool *threads;
  GstBufferPool *pool;
  gboolean asked, keeps_meta, warned;
  gchar *noted;
} GstSurfaceBuffers;

void gst_surface_buffers_start (GstSurfaceBuffers *buffers);
void gst_surface_buffers_stop (GstSurfaceBuffers *buffers);
/* Sets the unit of @reader, and posts warnings of @element: about damage that
 * leaves the file readable (with @strict this is @error), and one about what is
 * skipped and guessed, which is not repeated for the next file. @name: (nullable):
 * of the file */
gboolean gst_surface_reading_check (const GstSurfaceReading *reading,
    SurfaceReader *reader, GstSurfaceBuffers *buffers, GstElement *element,
    const gchar *name, GError **error);
/* Called when caps or downstream have changed: queries downstream again. */
void gst_surface_buffers_renew (GstSurfaceBuffers *buffers);

/* Reads the samples. @pad: the pad that the buffer will be pushed on
 * Returns: (transfer full): a buffer with its meta; %NULL with @error */
GstBuffer *gst_surface_reading_make (const GstSurfaceReading *reading,
    SurfaceReader *reader, const GstCvisSurfaceInfo *info,
    GstSurfaceBuffers *buffers, GstPad *pad, GError **error);
/* Returns: (transfer full) (nullable): title and date of the file */
GstTagList *gst_surface_reading_tags (const SurfaceImage *image);

G_END_DECLS
