/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Conversion of grey samples of more than 8 bits: every instruction set
 * compared with the definition, sample by sample. */
#include <string.h>

#include "cuda/meltpool/cpu/cpu.h"

#define MAX_WIDTH 300
#define POISON 0xa5

static guint
sample_at (PbfGreyLayout layout, const guint8 *row, guint x)
{
  const guint8 *word = row + x / 3 * 4;
  guint bits = 10 * (x % 3), sample = 0;

  if (layout == PBF_GREY_16_LE)
    return row[2 * x] | row[2 * x + 1] << 8;
  if (layout == PBF_GREY_16_BE)
    return row[2 * x] << 8 | row[2 * x + 1];
  for (guint b = 0; b < 10; b++)
    sample |= (word[(bits + b) / 8] >> (bits + b) % 8 & 1u) << b;
  return sample;
}

static void
check_row (const PbfCpuKernels *table, PbfGreyLayout layout, guint shift,
    const guint8 *row, guint width)
{
  guint8 out[MAX_WIDTH + 1];

  memset (out, POISON, sizeof out);
  table->grey_row (layout, shift, row, width, out);
  for (guint x = 0; x < width; x++) {
    guint expected = MIN (sample_at (layout, row, x) >> shift, 255);

    if (out[x] != expected)
      g_error ("%s, layout %d, shift %u, sample %u of %u: %u, not %u",
          table->name, layout, shift, x, width, out[x], expected);
  }
  g_assert_cmphex (out[width], ==, POISON);
}

/* Rows of exact size, at any address. */
static void
test_rows (gconstpointer data)
{
  const PbfCpuKernels *table = data;

  for (guint width = 1; width < MAX_WIDTH; width += 1 + width / 20) {
    for (guint layout = PBF_GREY_16_LE; layout <= PBF_GREY_10_LE32; layout++) {
      gsize bytes = pbf_grey_row_bytes (layout, width);

      for (guint shift = 0; shift < 16; shift++) {
        guint offset = shift % 5;
        guint8 *memory = g_malloc (offset + bytes);

        for (gsize i = 0; i < offset + bytes; i++)
          memory[i] = (guint8) g_test_rand_int ();
        check_row (table, layout, shift, memory + offset, width);
        g_free (memory);
      }
    }
  }
}

static void
test_picture (void)
{
  /* three rows of two samples with gaps of four bytes, which are not read */
  guint8 from[3 * 8], to[6];

  memset (from, POISON, sizeof from);
  for (guint y = 0; y < 3; y++) {
    guint16 row[2] = { GUINT16_TO_LE (1000 * y), GUINT16_TO_LE (65535) };

    memcpy (from + 8 * y, row, 4);
  }
  pbf_grey_to_8 (PBF_GREY_16_LE, 4, from, 8, 2, 3, to);
  g_assert_cmpmem (to, 6, ((guint8[]){ 0, 255, 62, 255, 125, 255 }), 6);
  g_assert_cmpuint (pbf_grey_row_bytes (PBF_GREY_16_BE, 7), ==, 14);
  g_assert_cmpuint (pbf_grey_row_bytes (PBF_GREY_10_LE32, 6), ==, 8);
  g_assert_cmpuint (pbf_grey_row_bytes (PBF_GREY_10_LE32, 7), ==, 12);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pbfgrey/picture", test_picture);
  g_test_add_data_func ("/pbfgrey/generic", &pbf_cpu_generic, test_rows);
#if defined(__x86_64__)
  if (cvis_cpu_level () >= CVIS_CPU_V3)
    g_test_add_data_func ("/pbfgrey/v3", &pbf_cpu_v3, test_rows);
  if (cvis_cpu_level () >= CVIS_CPU_V4)
    g_test_add_data_func ("/pbfgrey/v4", &pbf_cpu_v4, test_rows);
#endif
  return g_test_run ();
}
