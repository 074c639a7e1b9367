/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/motion/text.h"

#include <string.h>

#include "cuda/core/text.h"

#define CSV_HEADER                                                             \
  "frame,block_x,block_y,mv_x_qpel,mv_y_qpel,sad,zero_sad,second_sad,intra,"   \
  "flags,confidence\n"

/* frame; two of block_size * columns; two int16; five uint32; the confidence; ten commas
 * and a line feed */
G_STATIC_ASSERT (
    CVIS_TEXT_MAX + 2 * 10 + 2 * 6 + 5 * 10 + 3 + 11 <= MOTION_CSV_ROW_MAX);
G_STATIC_ASSERT (sizeof (CSV_HEADER) <= MOTION_CSV_ROW_MAX);

/* --- tables ---------------------------------------------------------------- */

gchar *
motion_csv_header (gchar *to)
{
  memcpy (to, CSV_HEADER, sizeof (CSV_HEADER) - 1);
  return to + sizeof (CSV_HEADER) - 1;
}

/* Writes @value and the separator after it. */
static gchar *
write_uint (gchar *to, guint32 value)
{
  to = cvis_text_uint (to, value);
  *to++ = ',';
  return to;
}

static gchar *
write_int (gchar *to, gint32 value)
{
  to = cvis_text_int (to, value);
  *to++ = ',';
  return to;
}

gchar *
motion_csv_rows (gchar *to, const CvisMotionPacket *packet,
    const CvisMotionVector *vectors, const CvisMotionBlock *blocks)
{
  gchar frame[CVIS_TEXT_MAX];
  gsize n = cvis_text_uint (frame, packet->frame) - frame;

  for (guint row = 0; row < packet->rows; row++) {
    for (guint column = 0; column < packet->columns; column++) {
      memcpy (to, frame, n);
      to += n;
      *to++ = ',';
      to = write_uint (to, column * packet->block_size);
      to = write_uint (to, row * packet->block_size);
      to = write_int (to, vectors->x);
      to = write_int (to, vectors->y);
      to = write_uint (to, blocks->sad);
      to = write_uint (to, blocks->zero_sad);
      to = write_uint (to, blocks->second);
      to = write_uint (to, blocks->intra);
      to = write_uint (
          to, blocks->flags & ((1u << CVIS_MOTION_BLOCK_CONFIDENCE_SHIFT) - 1));
      to = cvis_text_int (to, cvis_motion_block_get_confidence (blocks));
      *to++ = '\n';
      vectors++;
      blocks++;
    }
  }
  return to;
}

/* --- flow files ------------------------------------------------------------ */

#define FLO_HEAD 12
#define FLO_PAIR (2 * sizeof (gfloat))

static guint8 *
write_word (guint8 *to, guint32 word)
{
  word = GUINT32_TO_LE (word);
  memcpy (to, &word, sizeof (word));
  return to + sizeof (word);
}

static guint8 *
write_pixels (guint8 *to, gint16 quarters)
{
  gfloat value = quarters / 4.0f;
  guint32 word;

  memcpy (&word, &value, sizeof (word));
  return write_word (to, word);
}

/* Writes a row of the raster: each vector @spread times, @width pairs in
 * all. */
static guint8 *
write_row (
    guint8 *to, const CvisMotionVector *vectors, guint width, guint spread)
{
  for (guint x = 0; x < width; vectors++) {
    guint end = MIN (x + spread, width);

    to = write_pixels (write_pixels (to, vectors->x), vectors->y);
    for (x++; x < end; x++, to += FLO_PAIR)
      memcpy (to, to - FLO_PAIR, FLO_PAIR);
  }
  return to;
}

gsize
motion_flo_size (const CvisMotionPacket *packet, gboolean dense)
{
  gsize n = dense ? (gsize) packet->width * packet->height
                  : (gsize) packet->columns * packet->rows;

  return FLO_HEAD + n * FLO_PAIR;
}

void
motion_flo_write (guint8 *to, const CvisMotionPacket *packet,
    const CvisMotionVector *vectors, gboolean dense)
{
  guint spread = dense ? packet->block_size : 1;
  guint width = dense ? packet->width : packet->columns;
  guint height = dense ? packet->height : packet->rows;
  gsize stride = width * FLO_PAIR;

  memcpy (to, "PIEH", 4);
  to = write_word (write_word (to + 4, width), height);
  for (guint y = 0; y < height; vectors += packet->columns) {
    guint end = MIN (y + spread, height);

    to = write_row (to, vectors, width, spread);
    for (y++; y < end; y++, to += stride)
      memcpy (to, to - stride, stride);
  }
}

/* --- NPY ------------------------------------------------------------------- */

void
motion_npy_header (guint8 *to, const CvisMotionPacket *grid, guint64 frames)
{
  gchar text[MOTION_NPY_HEADER];
  const gsize start = 10; /* magic, version, length of the text */
  gint size;

  size = g_snprintf (text, sizeof text - start,
      "{'descr': '<f4', 'fortran_order': False, 'shape': (%" G_GUINT64_FORMAT
      ", %u, %u, 2), }",
      frames, grid->rows, grid->columns);
  memset (to, ' ', MOTION_NPY_HEADER);
  memcpy (to, "\x93NUMPY\x01\x00", 8);
  to[8] = MOTION_NPY_HEADER - start;
  to[9] = 0;
  memcpy (to + start, text, size);
  to[MOTION_NPY_HEADER - 1] = '\n';
}

gsize
motion_npy_size (const CvisMotionPacket *packet)
{
  return (gsize) packet->columns * packet->rows * FLO_PAIR;
}

void
motion_npy_write (
    guint8 *to, const CvisMotionPacket *packet, const CvisMotionVector *vectors)
{
  const gsize n = (gsize) packet->columns * packet->rows;

  for (gsize i = 0; i < n; i++)
    to = write_pixels (write_pixels (to, vectors[i].x), vectors[i].y);
}
