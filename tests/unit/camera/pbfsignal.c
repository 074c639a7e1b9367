/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The record of machine signals: CRC, bytes, damaged records. */
#include "cuda/camera/packet.h"

#include <string.h>

static CvisPbfSignal
sample (void)
{
  CvisPbfSignal s = {
    .frame_counter = 0x01020304,
    .flags = CVIS_PBF_SIGNAL_LASER_ON | CVIS_PBF_SIGNAL_POSITION_VALID,
    .x_um = -123456,
    .y_um = 654321,
    .layer = 7,
    .vector_id = 99,
    .t_ns = G_GUINT64_CONSTANT (0x1122334455667788),
    .width = 96,
    .height = 64,
    .power_mW = 200000,
    .speed_um_s = 1000000,
    .user0 = -1,
    .user1 = 42,
  };

  pbf_signal_seal (&s);
  return s;
}

static void
test_crc_vectors (void)
{
  guint8 zeros[32] = { 0 }, ones[32], rising[32];

  memset (ones, 0xff, sizeof ones);
  for (guint i = 0; i < 32; i++)
    rising[i] = i;
  /* the check value of the polynomial, and those of RFC 3720, B.4 */
  g_assert_cmphex (pbf_crc32c ("123456789", 9), ==, 0xe3069283);
  g_assert_cmphex (pbf_crc32c (zeros, 32), ==, 0x8a9136aa);
  g_assert_cmphex (pbf_crc32c (ones, 32), ==, 0x62a8ab43);
  g_assert_cmphex (pbf_crc32c (rising, 32), ==, 0x46dd794e);
  g_assert_cmphex (pbf_crc32c ("", 0), ==, 0);
}

/* Including sizes around the three blocks computed in parallel. */
static void
test_crc_both_ways (void)
{
  guint8 bytes[4000];

  for (guint i = 0; i < sizeof bytes; i++)
    bytes[i] = g_test_rand_int ();
  for (guint start = 0; start < 16; start++)
    for (guint size = 0; size + start <= sizeof bytes;
         size += size < 200 ? 1 : 13)
      g_assert_cmphex (pbf_crc32c (bytes + start, size), ==,
          pbf_crc32c_portable (bytes + start, size));
}

static void
test_round_trip (void)
{
  CvisPbfSignal s = sample (), back;
  guint8 bytes[65];

  pbf_signal_write (&s, bytes + 1); /* any alignment */
  pbf_packet_read_signal (bytes + 1, &back);
  g_assert_cmpmem (&s, sizeof s, &back, sizeof back);
  g_assert_true (pbf_signal_is_intact (&back));
}

/* The bytes of the specification, written by hand. */
static void
test_layout (void)
{
  static const guint8 head[44] = { 'P', 'B', 'F', '1', 64, 0, 1, 0, 4, 3, 2, 1,
    9, 0, 0, 0, 0xc0, 0x1d, 0xfe, 0xff, 0xf1, 0xfb, 0x09, 0x00, 7, 0, 0, 0, 99,
    0, 0, 0, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 96, 0, 64, 0 };
  CvisPbfSignal s = sample ();
  guint8 bytes[64];

  pbf_signal_write (&s, bytes);
  g_assert_cmpmem (bytes, sizeof head, head, sizeof head);
  g_assert_cmphex (
      bytes[60] | bytes[61] << 8 | bytes[62] << 16 | (guint32) bytes[63] << 24,
      ==, pbf_crc32c (bytes, 60));
}

static void
test_damaged (void)
{
  CvisPbfSignal s = sample ();
  guint8 bytes[64];

  pbf_signal_write (&s, bytes);
  for (guint i = 0; i < 64; i++) {
    bytes[i] ^= 0x10;
    pbf_packet_read_signal (bytes, &s);
    g_assert_false (pbf_signal_is_intact (&s));
    bytes[i] ^= 0x10;
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pbfsignal/crc-vectors", test_crc_vectors);
  g_test_add_func ("/pbfsignal/crc-both-ways", test_crc_both_ways);
  g_test_add_func ("/pbfsignal/round-trip", test_round_trip);
  g_test_add_func ("/pbfsignal/layout", test_layout);
  g_test_add_func ("/pbfsignal/damaged", test_damaged);
  return g_test_run ();
}
