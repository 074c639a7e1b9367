/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* CRC-32C: by the processor's own instruction where it has one (8 bytes every
 * 3 cycles), else by eight tables, 8 bytes a step. */
#include "cuda/camera/machinesignal.h"

#include <string.h>

#define POLYNOMIAL 0x82f63b78u

static guint32 tables[8][256];

static void
fill_tables (void)
{
  for (guint i = 0; i < 256; i++) {
    guint32 crc = i;
    for (guint bit = 0; bit < 8; bit++)
      crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
    tables[0][i] = crc;
  }
  for (guint t = 1; t < 8; t++)
    for (guint i = 0; i < 256; i++)
      tables[t][i] = tables[t - 1][i] >> 8 ^ tables[0][tables[t - 1][i] & 0xff];
}

static guint32
crc_by_tables (guint32 crc, const guint8 *p, gsize size)
{
  for (; size >= 8; p += 8, size -= 8) {
    guint32 a, b;

    memcpy (&a, p, 4);
    memcpy (&b, p + 4, 4);
    a = GUINT32_FROM_LE (a) ^ crc;
    b = GUINT32_FROM_LE (b);
    crc = tables[7][a & 0xff] ^ tables[6][a >> 8 & 0xff]
          ^ tables[5][a >> 16 & 0xff] ^ tables[4][a >> 24] ^ tables[3][b & 0xff]
          ^ tables[2][b >> 8 & 0xff] ^ tables[1][b >> 16 & 0xff]
          ^ tables[0][b >> 24];
  }
  while (size--)
    crc = crc >> 8 ^ tables[0][(crc ^ *p++) & 0xff];
  return crc;
}

#if defined(__x86_64__)
__attribute__ ((target ("sse4.2"))) static guint32
crc_by_instruction (guint32 crc, const guint8 *p, gsize size)
{
  guint64 wide = crc;

  for (; size >= 8; p += 8, size -= 8) {
    guint64 word;
    memcpy (&word, p, 8);
    wide = __builtin_ia32_crc32di (wide, word);
  }
  crc = wide;
  if (size >= 4) {
    guint32 word;
    memcpy (&word, p, 4);
    crc = __builtin_ia32_crc32si (crc, word);
    p += 4;
    size -= 4;
  }
  while (size--)
    crc = __builtin_ia32_crc32qi (crc, *p++);
  return crc;
}
#endif

guint32
pbf_crc32c_portable (gconstpointer bytes, gsize size)
{
  static gsize ready;

  if (g_once_init_enter (&ready)) {
    fill_tables ();
    g_once_init_leave (&ready, 1);
  }
  return ~crc_by_tables (0xffffffffu, bytes, size);
}

guint32
pbf_crc32c (gconstpointer bytes, gsize size)
{
#if defined(__x86_64__)
  if (__builtin_cpu_supports ("sse4.2"))
    return ~crc_by_instruction (0xffffffffu, bytes, size);
#endif
  return pbf_crc32c_portable (bytes, size);
}
