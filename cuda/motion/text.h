/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Motion fields in the formats of other programs: rows of a CSV table, and
 * the flow files of the Middlebury benchmark. No function allocates or keeps
 * state; all may be called from any thread. */
#pragma once

#include "cuda/records/motionrecord.h"

G_BEGIN_DECLS

/* Largest size in bytes of the header row and of a row of numbers. */
#define MOTION_CSV_ROW_MAX 160

/* Writes the header row to @to, without a terminating NUL. Returns: its end */
gchar *motion_csv_header (gchar *to);

/* Writes a row for each block in raster order: frame number, left and upper
 * edge of the block in pixels, vector in quarter pixels, the measures of
 * CvisMotionBlock, the sum of its flags without the confidence, the confidence,
 * -1 for none. @to has room for columns * rows *
 * %MOTION_CSV_ROW_MAX bytes. Returns: the end of the text */
gchar *motion_csv_rows (gchar *to, const CvisMotionPacket *packet,
    const CvisMotionVector *vectors, const CvisMotionBlock *blocks);

/* Size in bytes of a Middlebury .flo file: "PIEH", width and height as
 * int32, then a raster of pairs of float32, the vector (x, y) in pixels; all
 * little endian. @dense: one pair for each pixel; otherwise one for each
 * block */
gsize motion_flo_size (const CvisMotionPacket *packet, gboolean dense);

/* Writes motion_flo_size() bytes to @to. */
void motion_flo_write (guint8 *to, const CvisMotionPacket *packet,
    const CvisMotionVector *vectors, gboolean dense);

/* Bytes of the header of an NPY file, whatever the number of frames */
#define MOTION_NPY_HEADER 128

/* Writes the header of an array of float32, frames x rows x columns x 2, little
 * endian, rows first: %MOTION_NPY_HEADER bytes. @grid: columns and rows are used */
void motion_npy_header (
    guint8 *to, const CvisMotionPacket *grid, guint64 frames);

/* Bytes of a frame of the array */
gsize motion_npy_size (const CvisMotionPacket *packet);
/* Writes the vectors (x, y) of a frame in pixels. */
void motion_npy_write (guint8 *to, const CvisMotionPacket *packet,
    const CvisMotionVector *vectors);

G_END_DECLS
