/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* CRC-32C, with the processor's instruction if it has one, otherwise with
 * eight tables, 8 bytes a step. The instruction handles 8 bytes with a
 * latency of 3 cycles, so three blocks are computed at a time. Appending
 * zero bytes changes a CRC linearly, so tables of the effect of one block of
 * zeros combine the three CRCs. */
#include "cuda/records/machinesignal.h"

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
#define BLOCK 432 /* bytes, so that packets for an MTU of 1500 have three */

static guint32 zeros[4][256]; /* CRC byte after BLOCK zero bytes */

static void
fill_zeros (void)
{
  static const guint8 block[BLOCK];

  for (guint t = 0; t < 4; t++)
    for (guint32 i = 0; i < 256; i++)
      zeros[t][i] = crc_by_tables (i << 8 * t, block, BLOCK);
}

static guint32
skip_block (guint32 crc)
{
  return zeros[0][crc & 0xff] ^ zeros[1][crc >> 8 & 0xff]
         ^ zeros[2][crc >> 16 & 0xff] ^ zeros[3][crc >> 24];
}

static inline guint64
load_word (const guint8 *p)
{
  guint64 word;

  memcpy (&word, p, sizeof word);
  return word;
}

__attribute__ ((target ("sse4.2"))) static guint32
crc_by_instruction (guint32 crc, const guint8 *p, gsize size)
{
  guint64 a = crc;

  for (; size >= 3 * BLOCK; p += 3 * BLOCK, size -= 3 * BLOCK) {
    guint64 b = 0, c = 0;

    for (guint i = 0; i < BLOCK; i += 8) {
      a = __builtin_ia32_crc32di (a, load_word (p + i));
      b = __builtin_ia32_crc32di (b, load_word (p + BLOCK + i));
      c = __builtin_ia32_crc32di (c, load_word (p + 2 * BLOCK + i));
    }
    a = skip_block (skip_block ((guint32) a) ^ (guint32) b) ^ c;
  }
  for (; size >= 8; p += 8, size -= 8)
    a = __builtin_ia32_crc32di (a, load_word (p));
  crc = (guint32) a;
  while (size--)
    crc = __builtin_ia32_crc32qi (crc, *p++);
  return crc;
}
#endif

static void
prepare_tables (void)
{
  static gsize ready;

  if (g_once_init_enter (&ready)) {
    fill_tables ();
#if defined(__x86_64__)
    fill_zeros ();
#endif
    g_once_init_leave (&ready, 1);
  }
}

guint32
pbf_crc32c_portable (gconstpointer bytes, gsize size)
{
  prepare_tables ();
  return ~crc_by_tables (0xffffffffu, bytes, size);
}

guint32
pbf_crc32c (gconstpointer bytes, gsize size)
{
#if defined(__x86_64__)
  if (__builtin_cpu_supports ("sse4.2")) {
    prepare_tables ();
    return ~crc_by_instruction (0xffffffffu, bytes, size);
  }
#endif
  return pbf_crc32c_portable (bytes, size);
}
