/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Cuts a rectangle of fixed size out of frames around a moving position: its
 * start, the bytes that it covers in each plane, and copies on the CPU or
 * within the memory of a CUDA device.
 *
 * The position is fixed point with 8 fractional bits (Q8) in pixels of the
 * frame, with pixel centres at +0.5. This is the convention of the engine: a
 * crop of 40 x 40 pixels equals the region of interest that the engine
 * chooses in the whole frame (cuda/meltpool/engine.h). */
#pragma once

#include "cuda/core/device/device.h"

G_BEGIN_DECLS

#define CVIS_CROP_MAX_PLANES 4

/* --- position ------------------------------------------------------------ */

/* floor (@px * 256 + 0.5), clamped to 32 bits; 0 for NaN. */
gint32 cvis_crop_q8 (gdouble px);

/**
 * cvis_crop_start:
 * @position_q8: of the crop's middle, Q8 pixels; anywhere, also outside
 * @size: of the crop, 1..@frame pixels
 * @frame: of the frame, pixels
 * @align: the start is a multiple of it, pixels; >= 1
 * @clamped: (out) (optional): the frame's edge moved the crop
 *
 * Along one axis: floor (position) - size / 2, held within 0..frame - size,
 * then rounded down to a multiple of @align. Rounding down never leaves the
 * frame, so it comes last.
 */
guint cvis_crop_start (gint32 position_q8, guint size, guint frame, guint align,
    gboolean *clamped);

/* --- bytes --------------------------------------------------------------- */

/**
 * CvisCropLayout: memory layout of a pixel format
 * @n_planes: 1..%CVIS_CROP_MAX_PLANES
 * @sample_bytes: of each plane, bytes from one sample (all components of the
 *   plane) to the next
 * @x_shift: of each plane: 2^x_shift pixels share a sample along x
 * @y_shift: of each plane: 2^y_shift pixels share a sample along y
 */
typedef struct {
  guint n_planes;
  guint sample_bytes[CVIS_CROP_MAX_PLANES];
  guint x_shift[CVIS_CROP_MAX_PLANES];
  guint y_shift[CVIS_CROP_MAX_PLANES];
} CvisCropLayout;

/**
 * CvisCropRect: a rectangle of a frame, pixels
 */
typedef struct {
  guint x, y, width, height;
} CvisCropRect;

/* Granularity of the start so that no sample is split: the coarsest plane's
 * sample in pixels (2 x 2 for NV12 and I420, 1 x 1 without subsampled
 * planes). */
void cvis_crop_layout_steps (
    const CvisCropLayout *layout, guint *step_x, guint *step_y);

/**
 * CvisCropPlane: a rectangle of one plane to copy
 * @src: its first byte
 * @src_stride: bytes from row to row; negative for bottom-up pictures
 * @dst, @dst_stride: destination; bytes from row to row
 * @row_bytes: bytes of a row
 * @rows: rows
 */
typedef struct {
  const guint8 *src;
  gssize src_stride;
  guint8 *dst;
  gssize dst_stride;
  guint row_bytes;
  guint rows;
} CvisCropPlane;

/* Describes plane @plane of the crop @rect: from a plane that starts at @src
 * to one that starts at @dst. Sizes round up to whole samples, starts down. */
void cvis_crop_plane_init (CvisCropPlane *crop, const CvisCropLayout *layout,
    guint plane, const CvisCropRect *rect, gconstpointer src, gssize src_stride,
    gpointer dst, gssize dst_stride);

/* Whether @crop's source lies within the @size bytes at @memory; checks
 * strides from outside before they are used. */
gboolean cvis_crop_plane_fits (
    const CvisCropPlane *crop, gconstpointer memory, gsize size);

/* --- copying --------------------------------------------------------------- */

/**
 * CvisCrop: copies planes, all in host memory (CPU) or all in memory of one
 * device (CUDA). One thread at a time.
 */
typedef struct _CvisCrop CvisCrop;

/* @context: (nullable): referenced; %NULL for the CPU. */
CvisCrop *cvis_crop_new (CvisContext *context, GError **error);
/* Waits for copies on its own stream. */
void cvis_crop_free (CvisCrop *crop);

/**
 * cvis_crop_copy:
 * @planes: need not outlive the call
 * @stream: (nullable): the CUstream to work on, %NULL for the crop's own;
 *   ignored by the CPU
 *
 * The CPU has copied when it returns. CUDA copies in the order of @stream:
 * source and destination stay allocated until that is done (see
 * cvis_crop_wait()). A few planes of many frames are one launch.
 */
gboolean cvis_crop_copy (CvisCrop *crop, const CvisCropPlane *planes, guint n,
    gpointer stream, GError **error);

/* Waits until all work queued on @stream (%NULL: the crop's own) is
 * complete. Returns: FALSE with CVIS_ERROR_CUDA if some of it failed */
gboolean cvis_crop_wait (CvisCrop *crop, gpointer stream, GError **error);

/* --- the two backends ------------------------------------------------------ */

/* Functions of a backend; @state belongs to it. */
typedef struct {
  const gchar *name;
  gpointer (*open) (CvisContext *context, GError **error);
  void (*close) (gpointer state);
  gboolean (*copy) (gpointer state, const CvisCropPlane *planes, guint n,
      gpointer stream, GError **error);
  gboolean (*wait) (gpointer state, gpointer stream, GError **error);
} CvisCropBackend;

extern const CvisCropBackend cvis_crop_backend_cpu;
/* Only in builds with CUDA. */
extern const CvisCropBackend cvis_crop_backend_cuda;

G_END_DECLS
