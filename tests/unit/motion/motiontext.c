/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* CSV tables and flow files, compared with the C library's output, for grids
 * with whole and partial blocks; nothing is written beyond the promised
 * size. */
#include "cuda/motion/text.h"

#include <stdlib.h>
#include <string.h>

#define GUARD 16

typedef struct {
  CvisMotionPacket packet;
  CvisMotionVector *vectors;
  CvisMotionBlock *blocks;
} Field;

static guint32
any_word (GRand *rand)
{
  return g_rand_int (rand) >> g_rand_int_range (rand, 0, 32);
}

static void
make_field (Field *field, guint width, guint height, guint block_size)
{
  GRand *rand = g_rand_new_with_seed (width * 131 + height);
  guint columns = (width + block_size - 1) / block_size;
  guint rows = (height + block_size - 1) / block_size;
  guint n = columns * rows;

  field->packet = (CvisMotionPacket){ .frame = G_MAXUINT64 - width,
    .width = width,
    .height = height,
    .block_size = block_size,
    .columns = columns,
    .rows = rows };
  field->vectors = g_new (CvisMotionVector, n);
  field->blocks = g_new (CvisMotionBlock, n);
  for (guint i = 0; i < n; i++) {
    field->vectors[i] = (CvisMotionVector){ (gint16) any_word (rand),
      (gint16) any_word (rand), any_word (rand) };
    field->blocks[i] = (CvisMotionBlock){ any_word (rand), any_word (rand),
      any_word (rand), any_word (rand), any_word (rand), any_word (rand) };
  }
  /* the longest possible row */
  field->vectors[n - 1] = (CvisMotionVector){ G_MININT16, G_MININT16, 0 };
  memset (&field->blocks[n - 1], 0xff, sizeof (CvisMotionBlock));
  g_rand_free (rand);
}

static void
clear_field (Field *field)
{
  g_free (field->vectors);
  g_free (field->blocks);
}

static const guint sizes[][3] = { { 1, 1, 8 }, { 64, 64, 64 }, { 65, 63, 32 },
  { 100, 37, 8 }, { 416, 240, 16 }, { 16384, 9, 64 } };

static void
test_csv (void)
{
  gchar header[MOTION_CSV_ROW_MAX];

  *motion_csv_header (header) = '\0';
  g_assert_cmpstr (header, ==,
      "frame,block_x,block_y,mv_x_qpel,mv_y_qpel,sad,zero_sad,second_sad,"
      "intra,flags,confidence\n");
  for (guint s = 0; s < G_N_ELEMENTS (sizes); s++) {
    GString *expected = g_string_new (NULL);
    Field field;
    gchar *text, *end;
    guint n;

    make_field (&field, sizes[s][0], sizes[s][1], sizes[s][2]);
    n = field.packet.columns * field.packet.rows;
    for (guint i = 0; i < n; i++) {
      const CvisMotionVector *v = &field.vectors[i];
      const CvisMotionBlock *b = &field.blocks[i];

      g_string_append_printf (expected,
          "%" G_GUINT64_FORMAT ",%u,%u,%d,%d,%u,%u,%u,%u,%u,%d\n",
          field.packet.frame, i % field.packet.columns * sizes[s][2],
          i / field.packet.columns * sizes[s][2], v->x, v->y, b->sad,
          b->zero_sad, b->second, b->intra, b->flags & 0xffffff,
          cvis_motion_block_get_confidence (b));
    }
    text = g_malloc (n * MOTION_CSV_ROW_MAX + 1);
    end = motion_csv_rows (text, &field.packet, field.vectors, field.blocks);
    g_assert_cmpuint (end - text, ==, expected->len);
    *end = '\0';
    g_assert_cmpstr (text, ==, expected->str);
    g_free (text);
    g_string_free (expected, TRUE);
    clear_field (&field);
  }
}

static gfloat
float_at (const guint8 *bytes, gsize index)
{
  guint32 word;
  gfloat value;

  memcpy (&word, bytes + 12 + 4 * index, sizeof (word));
  word = GUINT32_FROM_LE (word);
  memcpy (&value, &word, sizeof (value));
  return value;
}

static guint32
word_at (const guint8 *bytes, gsize at)
{
  return bytes[at] | bytes[at + 1] << 8 | bytes[at + 2] << 16
         | (guint32) bytes[at + 3] << 24;
}

static void
check_flo (const Field *field, gboolean dense)
{
  const CvisMotionPacket *packet = &field->packet;
  guint width = dense ? packet->width : packet->columns;
  guint height = dense ? packet->height : packet->rows;
  guint spread = dense ? packet->block_size : 1;
  gsize size = motion_flo_size (packet, dense);
  guint8 *bytes = g_malloc (size + GUARD);

  g_assert_cmpuint (size, ==, 12 + 8 * (gsize) width * height);
  memset (bytes, 0xa5, size + GUARD);
  motion_flo_write (bytes, packet, field->vectors, dense);
  for (guint i = 0; i < GUARD; i++)
    g_assert_cmpuint (bytes[size + i], ==, 0xa5);
  /* the benchmark's signature of flow files: 202021.25 */
  g_assert_cmpuint (word_at (bytes, 0), ==, 0x48454950);
  g_assert_cmpuint (word_at (bytes, 4), ==, width);
  g_assert_cmpuint (word_at (bytes, 8), ==, height);
  for (guint y = 0; y < height; y++) {
    for (guint x = 0; x < width; x++) {
      const CvisMotionVector *v =
          &field->vectors[y / spread * packet->columns + x / spread];
      gsize at = 2 * ((gsize) y * width + x);

      g_assert_true (float_at (bytes, at) == v->x * 0.25f);
      g_assert_true (float_at (bytes, at + 1) == v->y * 0.25f);
    }
  }
  g_free (bytes);
}

static void
test_flo (void)
{
  for (guint s = 0; s < G_N_ELEMENTS (sizes); s++) {
    Field field;

    make_field (&field, sizes[s][0], sizes[s][1], sizes[s][2]);
    check_flo (&field, FALSE);
    check_flo (&field, TRUE);
    clear_field (&field);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/motiontext/csv", test_csv);
  g_test_add_func ("/motiontext/flo", test_flo);
  return g_test_run ();
}
