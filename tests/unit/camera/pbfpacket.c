/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The camera link: packets as bytes, and frames from packets that are lost,
 * repeated, reordered, damaged or invalid. */
#include "cuda/camera/packet.h"

#include <string.h>

#define W 20
#define H 48
#define FRAGMENT 320 /* bytes; three in each frame */
#define STRIDE 24

/* --- frames with contents derived from their counter --------------------- */

static guint8
pixel (guint32 counter, guint32 i)
{
  return (counter * 2654435761u >> 24) + i * 7 + (i >> 8);
}


static GByteArray *
make_packet (guint32 counter, guint32 stream, guint fragment, guint width,
    guint height, guint fragment_size)
{
  PbfPacket packet = { .frame_counter = counter,
    .stream = stream,
    .width = width,
    .height = height,
    .offset = fragment * fragment_size,
    .fragment_size = fragment_size,
    .duration_ns = 50000,
    .t_ns = (guint64) counter * 50000 };
  guint8 *frame = g_malloc (width * height), bytes[64];
  GByteArray *out = g_byte_array_new ();
  CvisPbfSignal signal = { 0 };

  signal.frame_counter = counter;
  pbf_signal_seal (&signal);
  pbf_signal_write (&signal, bytes);
  if (fragment == 0)
    packet.signal = bytes;
  for (guint i = 0; i < width * height; i++)
    frame[i] = pixel (counter, i);
  g_byte_array_set_size (out, pbf_packet_bytes (&packet));
  pbf_packet_write (&packet, frame, width, out->data);
  g_free (frame);
  return out;
}

static GByteArray *
plain_packet (guint32 counter, guint fragment)
{
  return make_packet (counter, 1, fragment, W, H, FRAGMENT);
}

/* --- a receiver ------------------------------------------------------------ */

typedef struct {
  PbfAssembler *assembler;
  guint width, height;
  GArray *got;   /* counters in the order of arrival */
  GArray *heads; /* of PbfFrameHead */
  guint open, most_open;
  gboolean full;
} Receiver;

static guint8 *
open_frame (gpointer user, gpointer *frame, gsize *stride)
{
  Receiver *r = user;

  if (r->full)
    return NULL;
  r->open++;
  r->most_open = MAX (r->most_open, r->open);
  *stride = r->width + STRIDE - W;
  *frame = g_malloc0 (*stride * r->height);
  return *frame;
}

static void
frame_done (gpointer user, gpointer frame, const PbfFrameHead *head)
{
  Receiver *r = user;
  guint8 *pixels = frame;
  CvisPbfSignal signal;

  for (guint y = 0; y < r->height; y++)
    for (guint x = 0; x < r->width; x++)
      g_assert_cmpuint (pixels[y * (r->width + STRIDE - W) + x], ==,
          pixel (head->frame_counter, y * r->width + x));
  g_assert_nonnull (head->signal);
  pbf_packet_read_signal (head->signal, &signal);
  g_assert_true (pbf_signal_is_intact (&signal));
  g_assert_cmpuint (signal.frame_counter, ==, head->frame_counter);
  g_assert_cmpuint (head->t_ns, ==, (guint64) head->frame_counter * 50000);
  g_assert_cmpuint (head->duration_ns, ==, 50000);
  g_array_append_val (r->got, head->frame_counter);
  g_array_append_val (r->heads, *head);
  g_free (frame);
  r->open--;
}

static void
drop_frame (gpointer user, gpointer frame)
{
  Receiver *r = user;

  g_free (frame);
  r->open--;
}

static void
begin (Receiver *r, guint window)
{
  static const PbfFrameFuncs funcs = { open_frame, frame_done, drop_frame };

  memset (r, 0, sizeof *r);
  r->assembler = pbf_assembler_new (window, &funcs, r);
  r->got = g_array_new (FALSE, FALSE, sizeof (guint32));
  r->heads = g_array_new (FALSE, FALSE, sizeof (PbfFrameHead));
}

static void
end (Receiver *r)
{
  pbf_assembler_free (r->assembler);
  g_assert_cmpuint (r->open, ==, 0);
  g_array_unref (r->got);
  g_array_unref (r->heads);
}

static PbfAdd
receive_bytes (Receiver *r, const guint8 *bytes, gsize size)
{
  PbfPacket packet;
  PbfAdd added;

  if (!pbf_assembler_parse (r->assembler, bytes, size, &packet))
    return PBF_ADD_OK;
  added = pbf_assembler_add (r->assembler, &packet);
  if (added == PBF_ADD_NEW_SIZE) {
    pbf_assembler_set_size (r->assembler, packet.width, packet.height);
    r->width = packet.width;
    r->height = packet.height;
    added = pbf_assembler_add (r->assembler, &packet);
  }
  g_assert_cmpint (added, !=, PBF_ADD_NEW_SIZE);
  return added;
}

static PbfAdd
receive (Receiver *r, GByteArray *bytes)
{
  PbfAdd added = receive_bytes (r, bytes->data, bytes->len);

  g_byte_array_unref (bytes);
  return added;
}

static void
receive_frame (Receiver *r, guint32 counter)
{
  for (guint i = 0; i < 3; i++)
    g_assert_cmpint (receive (r, plain_packet (counter, i)), ==, PBF_ADD_OK);
}

static const PbfLinkCounts *
counts (Receiver *r)
{
  return pbf_assembler_get_counts (r->assembler);
}

static void
check_got (Receiver *r, const guint32 *wanted, guint n)
{
  g_assert_cmpuint (r->got->len, ==, n);
  for (guint i = 0; i < n; i++)
    g_assert_cmpuint (g_array_index (r->got, guint32, i), ==, wanted[i]);
}

#define CHECK_GOT(r, ...)                                                      \
  G_STMT_START                                                                 \
  {                                                                            \
    const guint32 wanted_[] = { __VA_ARGS__ };                                 \
    check_got (r, wanted_, G_N_ELEMENTS (wanted_));                            \
  }                                                                            \
  G_STMT_END

/* --- one packet ------------------------------------------------------------ */

static void
test_bytes (void)
{
  const guint8 pixels[] = { 1, 2, 3, 99, 4, 5, 6, 99 };
  const guint8 header[48] = { 'P', 'B', 'F', 'P', 1, 0, 0, 0, 58, 0, 0, 0, 4, 3,
    2, 1, 3, 0, 2, 0, 0, 0, 0, 0, 6, 0, 0, 0, 8, 7, 6, 5, 0x88, 0x77, 0x66,
    0x55, 0x44, 0x33, 0x22, 0x11, 0x50, 0xc3, 0, 0, 0, 0, 0, 0 };
  PbfPacket packet = { .frame_counter = 0x01020304,
    .stream = 0x05060708,
    .width = 3,
    .height = 2,
    .fragment_size = 6,
    .duration_ns = 50000,
    .t_ns = G_GUINT64_CONSTANT (0x1122334455667788) };
  PbfPacket back;
  guint8 bytes[58];
  guint32 crc;

  g_assert_cmpuint (pbf_packet_bytes (&packet), ==, 58);
  pbf_packet_write (&packet, pixels, 4, bytes);
  g_assert_cmpmem (bytes, 48, header, 48);
  g_assert_cmpmem (bytes + 48, 6, ((guint8[]){ 1, 2, 3, 4, 5, 6 }), 6);
  memcpy (&crc, bytes + 54, 4);
  g_assert_cmphex (GUINT32_FROM_LE (crc), ==, pbf_crc32c (bytes, 54));
  g_assert_cmpint (pbf_packet_parse (bytes, 58, &back), ==, PBF_PACKET_OK);
  g_assert_true (back.pixels == bytes + 48 && back.signal == NULL);
  g_assert_cmphex (back.frame_counter, ==, packet.frame_counter);
  g_assert_cmphex (back.stream, ==, packet.stream);
  g_assert_cmpuint (back.width, ==, 3);
  g_assert_cmpuint (back.height, ==, 2);
  g_assert_cmpuint (back.offset, ==, 0);
  g_assert_cmpuint (back.fragment_size, ==, 6);
  g_assert_cmpuint (back.duration_ns, ==, 50000);
  g_assert_cmphex (back.t_ns, ==, packet.t_ns);
}

static void
test_damage (void)
{
  GByteArray *bytes = plain_packet (7, 0);
  PbfPacket packet;

  g_assert_cmpint (
      pbf_packet_parse (bytes->data, bytes->len, &packet), ==, PBF_PACKET_OK);
  for (guint i = 0; i < bytes->len; i++) {
    bytes->data[i] ^= 1 << i % 8;
    g_assert_cmpint (pbf_packet_parse (bytes->data, bytes->len, &packet), ==,
        i < 4 ? PBF_PACKET_RUBBISH : PBF_PACKET_CORRUPT);
    bytes->data[i] ^= 1 << i % 8;
  }
  for (guint n = 0; n < bytes->len; n++)
    g_assert_cmpint (
        pbf_packet_parse (bytes->data, n, &packet), !=, PBF_PACKET_OK);
  g_byte_array_unref (bytes);
}

static void
test_fields (void)
{
  /* each change alone makes a packet invalid, with a correct CRC */
  static const struct {
    guint at, size;
    guint32 value;
  } wrong[] = { { 4, 2, 2 }, { 6, 2, 3 }, { 6, 2, 0 }, { 8, 4, 435 },
    { 8, 4, 0xffffffff }, { 16, 2, 0 }, { 16, 2, 4097 }, { 18, 2, 0 },
    { 18, 2, 0xffff }, { 20, 4, 1 }, { 20, 4, FRAGMENT }, { 20, 4, W * H },
    { 20, 4, 0xffffffff }, { 24, 4, 0 }, { 24, 4, 255 }, { 24, 4, W * H + 1 },
    { 24, 4, 0xffffffff }, { 44, 4, 1 } };
  GByteArray *bytes = plain_packet (7, 0);
  PbfPacket packet;

  g_assert_cmpuint (bytes->len, ==, 48 + 64 + FRAGMENT + 4);
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    guint8 *copy = g_memdup2 (bytes->data, bytes->len);
    guint32 le = GUINT32_TO_LE (wrong[i].value);

    memcpy (copy + wrong[i].at, &le, wrong[i].size);
    le = GUINT32_TO_LE (pbf_crc32c (copy, bytes->len - 4));
    memcpy (copy + bytes->len - 4, &le, 4);
    g_assert_cmpint (
        pbf_packet_parse (copy, bytes->len, &packet), ==, PBF_PACKET_RUBBISH);
    g_free (copy);
  }
  g_byte_array_unref (bytes);
}

static void
test_split (void)
{
  g_assert_cmpuint (pbf_packet_split (96, 96, 65000), ==, 9216);
  g_assert_cmpuint (pbf_packet_split (96, 96, 9216), ==, 9216);
  g_assert_cmpuint (pbf_packet_split (96, 96, 9215), ==, 4608);
  g_assert_cmpuint (pbf_packet_split (96, 96, 1348), ==, 1317);
  g_assert_cmpuint (pbf_packet_split (10, 10, 1), ==, 100);
  g_assert_cmpuint (pbf_packet_split (4096, 4096, 1), ==, 256);
  for (guint most = 256; most < 1500; most++) {
    PbfPacket p = { .width = 96, .height = 96 };

    p.fragment_size = pbf_packet_split (96, 96, most);
    g_assert_cmpuint (p.fragment_size, <=, most);
    p.offset = (9216 - 1) / p.fragment_size * p.fragment_size;
    g_assert_cmpuint (pbf_packet_fragment_bytes (&p), >, 0);
  }
}

/* --- a link ---------------------------------------------------------------- */

static void
test_in_order (void)
{
  Receiver r;

  begin (&r, 8);
  for (guint32 i = 0xfffffffe; i != 3; i++)
    receive_frame (&r, i);
  CHECK_GOT (&r, 0xfffffffe, 0xffffffff, 0, 1, 2);
  g_assert_cmpuint (r.most_open, ==, 1);
  for (guint i = 0; i < 5; i++) {
    PbfFrameHead *head = &g_array_index (r.heads, PbfFrameHead, i);
    g_assert_cmpuint (head->number, ==, i);
    g_assert_cmpuint (head->lost_before, ==, 0);
  }
  g_assert_cmpuint (counts (&r)->frames, ==, 5);
  g_assert_cmpuint (counts (&r)->packets, ==, 15);
  g_assert_cmpuint (counts (&r)->lost + counts (&r)->late, ==, 0);
  end (&r);
}

static void
test_loss (void)
{
  Receiver r;

  begin (&r, 4);
  receive_frame (&r, 10);
  receive (&r, plain_packet (11, 0)); /* the other fragments are lost */
  receive_frame (&r, 13);             /* 12 is lost entirely */
  CHECK_GOT (&r, 10);
  receive_frame (&r, 14);
  CHECK_GOT (&r, 10);
  receive_frame (&r, 15); /* the fourth frame after 11 */
  CHECK_GOT (&r, 10);
  receive_frame (&r, 16); /* the fourth frame after 12 */
  CHECK_GOT (&r, 10, 13, 14, 15, 16);
  g_assert_cmpuint (counts (&r)->lost, ==, 2);
  g_assert_cmpuint (counts (&r)->incomplete, ==, 1);
  g_assert_cmpuint (
      g_array_index (r.heads, PbfFrameHead, 1).lost_before, ==, 2);
  g_assert_cmpuint (g_array_index (r.heads, PbfFrameHead, 1).number, ==, 3);
  receive_frame (&r, 11);
  CHECK_GOT (&r, 10, 13, 14, 15, 16);
  g_assert_cmpuint (counts (&r)->late, ==, 3);
  g_assert_cmpuint (counts (&r)->duplicate, ==, 0);

  /* a jump is a loss, however large */
  receive_frame (&r, 1000017);
  g_assert_cmpuint (counts (&r)->lost, ==, 2 + 1000000 - 3);
  pbf_assembler_pause (r.assembler);
  g_assert_cmpuint (counts (&r)->lost, ==, 2 + 1000000);
  CHECK_GOT (&r, 10, 13, 14, 15, 16, 1000017);
  end (&r);
}

static void
test_duplicates (void)
{
  Receiver r;

  begin (&r, 4);
  for (guint32 i = 0; i < 100; i++) {
    receive_frame (&r, i);
    receive_frame (&r, i);
    if (i == 50)
      for (guint32 k = 0; k < 50; k++) /* repeated many times */
        receive_frame (&r, k);
  }
  receive (&r, plain_packet (101, 1));
  receive (&r, plain_packet (101, 1)); /* of a frame that is still open */
  g_assert_cmpuint (r.got->len, ==, 100);
  g_assert_cmpuint (counts (&r)->duplicate, ==, 300 + 150 + 1);
  g_assert_cmpuint (counts (&r)->late, ==, 0);
  g_assert_cmpuint (counts (&r)->lost, ==, 0);
  end (&r);
}

static void
test_reordering (void)
{
  static const guint order[] = { 2, 0, 1 };
  Receiver r;

  begin (&r, 4);
  receive_frame (&r, 0);
  for (guint i = 0; i < 3; i++)
    for (guint32 f = 4; f > 0; f--)
      receive (&r, plain_packet (f, order[i]));
  CHECK_GOT (&r, 0, 1, 2, 3, 4);
  g_assert_cmpuint (r.most_open, ==, 4);
  g_assert_cmpuint (counts (&r)->lost + counts (&r)->late, ==, 0);
  end (&r);
}

static void
test_start_within_a_frame (void)
{
  Receiver r;

  begin (&r, 4);
  receive (&r, plain_packet (5, 1));
  receive (&r, plain_packet (5, 2));
  receive_frame (&r, 6);
  CHECK_GOT (&r, 6);
  g_assert_cmpuint (counts (&r)->lost, ==, 0);
  g_assert_cmpuint (counts (&r)->late, ==, 2);
  end (&r);
}

static void
test_silence (void)
{
  Receiver r;

  begin (&r, 8);
  receive_frame (&r, 0);
  receive (&r, plain_packet (1, 0));
  receive_frame (&r, 2);
  pbf_assembler_pause (r.assembler);
  CHECK_GOT (&r, 0, 2);
  pbf_assembler_pause (r.assembler); /* still silent */
  g_assert_cmpuint (counts (&r)->lost, ==, 1);
  receive_frame (&r, 4); /* same stream; 3 is lost */
  receive_frame (&r, 2); /* no restart: the silence is over */
  pbf_assembler_pause (r.assembler);
  CHECK_GOT (&r, 0, 2, 4);
  g_assert_cmpuint (counts (&r)->lost, ==, 2);
  g_assert_cmpuint (counts (&r)->duplicate, ==, 3);

  receive_frame (&r, 0); /* the camera was restarted */
  receive_frame (&r, 1);
  CHECK_GOT (&r, 0, 2, 4, 0, 1);
  g_assert_cmpuint (counts (&r)->restarts, ==, 1);
  g_assert_cmpuint (counts (&r)->lost, ==, 2);
  g_assert_cmpuint (g_array_index (r.heads, PbfFrameHead, 4).number, ==, 6);
  end (&r);
}

static void
receive_of_stream (Receiver *r, guint32 counter, guint32 stream)
{
  for (guint i = 0; i < 3; i++)
    receive (r, make_packet (counter, stream, i, W, H, FRAGMENT));
}

static void
test_another_stream (void)
{
  Receiver r;

  begin (&r, 8);
  receive_of_stream (&r, 7, 1);
  receive_of_stream (&r, 3, 2);
  receive_of_stream (&r, 8, 1); /* the previous sender, ignored */
  receive_of_stream (&r, 4, 2);
  CHECK_GOT (&r, 7, 3, 4);
  g_assert_cmpuint (counts (&r)->restarts, ==, 1);
  g_assert_cmpuint (counts (&r)->late, ==, 3);
  pbf_assembler_pause (r.assembler);
  receive_of_stream (&r, 9, 1); /* this stream remains */
  CHECK_GOT (&r, 7, 3, 4, 9);
  end (&r);
}

static void
test_new_size (void)
{
  Receiver r;

  begin (&r, 8);
  receive_frame (&r, 0);
  receive (&r, plain_packet (1, 2));
  receive (&r, make_packet (2, 1, 0, 5, 6, 30));
  CHECK_GOT (&r, 0, 2);
  g_assert_cmpuint (counts (&r)->lost, ==, 1);
  receive (&r, make_packet (1, 1, 0, 5, 6, 30)); /* late */
  CHECK_GOT (&r, 0, 2);
  /* one frame with two fragment sizes */
  receive_frame (&r, 3);
  receive (&r, plain_packet (4, 0));
  receive (&r, make_packet (4, 1, 1, W, H, 480));
  g_assert_cmpuint (counts (&r)->rubbish, ==, 1);
  end (&r);
}

static void
test_no_memory (void)
{
  Receiver r;

  begin (&r, 8);
  receive_frame (&r, 0);
  r.full = TRUE;
  g_assert_cmpint (receive (&r, plain_packet (1, 0)), ==, PBF_ADD_NO_MEMORY);
  r.full = FALSE;
  receive_frame (&r, 1);
  CHECK_GOT (&r, 0, 1);
  end (&r);
}

static void
test_rubbish (void)
{
  GRand *rand = g_rand_new_with_seed (1);
  guint8 bytes[2000];
  Receiver r;

  begin (&r, 8);
  for (guint32 i = 0; i < 20000; i++) {
    gsize n = g_rand_int_range (rand, 0, sizeof bytes);
    for (gsize k = 0; k < n; k += 61)
      bytes[k] = g_rand_int (rand);
    if (n > 4 && i % 2)
      memcpy (bytes, "PBFP", 4);
    receive_bytes (&r, bytes, n);
    if (i % 1000 == 0)
      receive_frame (&r, i / 1000);
  }
  g_assert_cmpuint (r.got->len, ==, 20);
  g_assert_cmpuint (r.most_open, ==, 1);
  g_assert_cmpuint (counts (&r)->rubbish + counts (&r)->crc_errors, ==, 20000);
  g_rand_free (rand);
  end (&r);
}

/* Everything at once: packets are lost, repeated, damaged and delayed. */
static void
test_bad_network (gconstpointer seed)
{
  enum { FRAMES = 3000, DELAY = 6 };
  GRand *rand = g_rand_new_with_seed (GPOINTER_TO_UINT (seed));
  GByteArray *line[DELAY] = { NULL };
  guint damaged = 0, last = 0;
  Receiver r;

  begin (&r, 8);
  receive_frame (&r, 0);
  for (guint32 i = 3; i < FRAMES * 3; i++) {
    gboolean repeated = g_rand_int (rand) % 50 == 0;

    for (gint copy = 0; copy <= repeated; copy++) {
      GByteArray **place = &line[g_rand_int (rand) % DELAY];

      if (*place != NULL)
        receive (&r, *place);
      *place = plain_packet (i / 3, i % 3);
      if (g_rand_int (rand) % 100 == 0) {
        (*place)->data[g_rand_int_range (rand, 4, (*place)->len)] ^= 16;
        damaged++;
      } else if (g_rand_int (rand) % 100 == 0) {
        g_clear_pointer (place, g_byte_array_unref);
      }
    }
  }
  for (guint i = 0; i < DELAY; i++)
    if (line[i] != NULL)
      receive (&r, line[i]);
  pbf_assembler_pause (r.assembler);

  for (guint i = 1; i < r.got->len; i++)
    g_assert_cmpuint (g_array_index (r.got, guint32, i - 1), <,
        g_array_index (r.got, guint32, i));
  last = g_array_index (r.heads, PbfFrameHead, r.heads->len - 1).number;
  g_assert_cmpuint (counts (&r)->crc_errors, ==, damaged);
  g_assert_cmpuint (counts (&r)->frames, ==, r.got->len);
  g_assert_cmpuint (counts (&r)->frames + counts (&r)->lost, >=, last + 1);
  g_assert_cmpuint (counts (&r)->frames + counts (&r)->lost, <=, FRAMES);
  g_assert_cmpuint (counts (&r)->frames, >, FRAMES * 8 / 10);
  g_assert_cmpuint (counts (&r)->lost, >, 0);
  g_assert_cmpuint (counts (&r)->duplicate, >, 0);
  g_assert_cmpuint (r.most_open, <=, 8);
  g_rand_free (rand);
  end (&r);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/packet/bytes", test_bytes);
  g_test_add_func ("/packet/damage", test_damage);
  g_test_add_func ("/packet/fields", test_fields);
  g_test_add_func ("/packet/split", test_split);
  g_test_add_func ("/link/in-order", test_in_order);
  g_test_add_func ("/link/loss", test_loss);
  g_test_add_func ("/link/duplicates", test_duplicates);
  g_test_add_func ("/link/reordering", test_reordering);
  g_test_add_func ("/link/start-within-a-frame", test_start_within_a_frame);
  g_test_add_func ("/link/silence", test_silence);
  g_test_add_func ("/link/another-stream", test_another_stream);
  g_test_add_func ("/link/new-size", test_new_size);
  g_test_add_func ("/link/no-memory", test_no_memory);
  g_test_add_func ("/link/rubbish", test_rubbish);
  for (guint seed = 1; seed <= 4; seed++) {
    gchar *path = g_strdup_printf ("/link/bad-network/%u", seed);
    g_test_add_data_func (path, GUINT_TO_POINTER (seed), test_bad_network);
    g_free (path);
  }
  return g_test_run ();
}
