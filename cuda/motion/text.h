/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Fields of motion as bytes that other programs read: rows of a table, and the
 * flow files of the Middlebury benchmark. Nothing here allocates or knows of
 * state; all functions may be called from any thread. */
#pragma once

#include "cuda/records/motionrecord.h"

G_BEGIN_DECLS

/* Bytes of the row of names, and of a row of numbers, at most. */
#define MOTION_CSV_ROW_MAX 160

/* Writes the row of names at @to, without a terminating NUL. Returns: its end
 */
gchar *motion_csv_header (gchar *to);

/* Writes a row for each block, raster order: number of the frame, left and
 * upper edge of the block in pixels, vector in quarter pixels, measures of the
 * block as MotionBlock has them, sum of its flags. @to has room for columns *
 * rows * %MOTION_CSV_ROW_MAX bytes. Returns: the end of what was written */
gchar *motion_csv_rows (gchar *to, const MotionPacket *packet,
    const MotionVector *vectors, const MotionBlock *blocks);

/* Middlebury's .flo: "PIEH", width and height as int32, then a raster of pairs
 * of float32, (x, y) of the vector in pixels; all little endian.
 * @dense: a pair for each pixel, that of its block; else one for each block */
gsize motion_flo_size (const MotionPacket *packet, gboolean dense);

/* Writes motion_flo_size() bytes at @to. */
void motion_flo_write (guint8 *to, const MotionPacket *packet,
    const MotionVector *vectors, gboolean dense);

G_END_DECLS
